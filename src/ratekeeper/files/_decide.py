"""Decide on the rows of a block: what classifying and evaluating share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._random_keys import TieNumbers, wants_keys
from ratekeeper._numerics._ranks import order_of
from ratekeeper._reading._columns import in_precision, read_new_scores
from ratekeeper._wording._formatting import format_value, listed
from ratekeeper.calibration._cells import count_outside, is_outside, warn_if_outside
from ratekeeper.calibration._overlaps import CALIBRATED, CalibrationObjects
from ratekeeper.calibration._weights import as_numbers
from ratekeeper.control._test import Test, continuing, decide_read
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.files._clusters import Newcomers, cluster_hashes
from ratekeeper.files._csv_blocks import TextBlock
from ratekeeper.files._labels import TrueLabels
from ratekeeper.files._row_blocks import MISSING
from ratekeeper.files._valid_rows import (
    Inspector,
    Kinds,
    audit_codes,
    check_columns,
    known_codes,
    read_keys,
)
from ratekeeper.files._weights import weights_of
from ratekeeper.methods._tolerant import covers_rounding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._draws import Draw
    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._clusters import Hashes
    from ratekeeper.calibration._provenance import Provenance
    from ratekeeper.control._decisions import Decisions
    from ratekeeper.files._row_blocks import Names, Numbers, RowBlock
    from ratekeeper.files._sinks import Columns


@dataclass(frozen=True, eq=False)
class DecidedRows:
    """The decisions on a block.

    Attributes
    ----------
    decisions : Decisions
        On the valid rows, in the order of `rows`.
    rows : ndarray of int or None
        Which row each decision is about; None if they are all rows in order.
    index : ndarray of int or None
        Position of the group of each of these rows.
    truth : ndarray of bool
        Whether each is positive; empty where labels were not asked for.
    values : ndarray
        The scores of these rows, in the precision of the calibration.
    valid : ndarray of bool or None
        Which rows of the block are valid, None if all are.
    scores : Numbers
        Of all rows.
    by : tuple of ndarray of int
        Code of the value of each of these rows in each column of an audit, -1 if it is missing.
    clusters : ndarray of uint64 or None
        The clusters of these rows, where they were asked for.
    ids : list of str or None
        The ids of these rows, where they were asked for.
    """

    decisions: Decisions
    rows: NDArray[np.intp] | None
    index: NDArray[np.intp] | None
    truth: NDArray[np.bool_]
    values: Floats
    valid: NDArray[np.bool_] | None
    scores: Numbers
    by: tuple[NDArray[np.intp], ...] = ()
    clusters: Hashes | None = None
    ids: list[str] | None = None

    @property
    def kept(self) -> None:
        """Nothing to tell: all rows are written."""
        return

    def columns(self, n: int) -> Columns:
        """Return p-values and codes of labels (-1 for none) of n rows, and which are blank."""
        pair = self.decisions.p_values
        codes = self.decisions.positive.astype(np.int8)
        if self.decisions.can_abstain:
            codes[self.decisions.abstained | self.decisions.neither] = -1
        return self.spread(n, pair.p0, pair.p1, codes=codes)

    def spread(self, n: int, *numbers: NDArray[np.float64], codes: NDArray[np.int8]) -> Columns:
        """Return numbers and codes of the rows that were decided on in the places of n rows."""
        if self.rows is None:
            return numbers, codes, None
        every = np.full(n, -1, dtype=np.int8)
        every[self.rows] = codes
        # Zeros, since what stands under a gap is written too, into Arrow and Feather files.
        places = tuple(np.zeros(n) for _ in numbers)
        for values, place in zip(numbers, places, strict=True):
            place[self.rows] = values
        return places, every, None if self.valid is None else ~self.valid


class Judge:
    """A test that goes over a stream of blocks.

    Columns that are not named are those of the calibration.
    """

    def __init__(  # noqa: PLR0913 - one for each column
        self,
        test: Test,
        *,
        score: str | None,
        group: str | None,
        on_invalid: str,
        label: str | None = None,
        key: str | None = None,
        labelled: bool = False,
        positive_label: object = None,
        cluster: str | None = None,
        weight: str | None = None,
        by: Sequence[str] = (),
        exclude_calibration: bool = False,
    ) -> None:
        given: object = test
        if not isinstance(given, Test):
            found, remedy = f"A {type(given).__name__} cannot decide.", "Make a test of it first"
            raise InputError(found, parameter="test", remedy=f"{remedy}, with control.")
        self._calibration = test.calibration
        self.tolerance = test.tolerance
        known = test.calibration.provenance
        self.score = score or named_column("score", known)
        self.label = (label or named_column("label", known)) if labelled else None
        if test.calibration.groups is not None:
            group = group or named_column("group", known)
        elif group is not None and not labelled:
            raise InputError(
                (Parameter("group", group), " was given, but the test has no groups."),
                parameter="group",
                value=group,
                remedy=("Calibrate with ", Parameter("group"), ", or leave it out here."),
            )
        self.group = group
        self.cluster = cluster
        if labelled and test.calibration.clusters is not None:
            self.cluster = cluster or named_column("cluster", known)
        self.weight = weight
        if test.calibration.weights is not None:
            self.weight = weight or named_column("weight", known)
        elif weight is not None:
            raise InputError(
                (Parameter("weight", weight), " was given, but the calibration has no weights."),
                parameter="weight",
                value=weight,
                remedy=("Calibrate with ", Parameter("weight"), ", or leave it out here."),
            )
        self._known = CalibrationObjects(test.calibration) if exclude_calibration else None
        self._newcomers = Newcomers(test.calibration)
        methods = [part.method for part in test.parts]
        self.key = key if wants_keys(methods, given=key is not None, parameter="key") else None
        self.identity: str | None = None  # the column of ids, for those who need them
        self._test = continuing(test)
        self.inspector = Inspector(on_invalid)
        self._audit = None
        if group is not None and test.calibration.groups is None:
            self._audit = Kinds(group, labels=False)
        self._by = [Kinds(column, labels=False) for column in by]
        self._truths = None
        if self.label is not None:
            self._truths = TrueLabels(test.calibration, self.label, positive_label)
        self._warned = False
        self.n_decided = 0
        self.n_outside = 0  # of the calibration's range
        # Where p-values are wanted and nothing is drawn at random, row by row.
        self._sorts = not labelled and all(one.method.decides_by_threshold for one in test.parts)

    @property
    def columns(self) -> list[str]:
        """The columns it needs."""
        own = [name for name in self._wanted.values() if name is not None]
        return [*own, *(one.column for one in self._by if one.column not in own)]

    @property
    def _wanted(self) -> dict[str, str | None]:
        roles = ("score", "label", "group", "cluster", "weight", "key")
        return {role: getattr(self, role) for role in roles}

    def check(self, name: str, columns: Sequence[str]) -> None:
        """Raise unless a file has these columns."""
        check_columns(name, columns, self._wanted)
        check_columns(name, columns, {"id": self.identity})
        for one in self._by:  # which may well be the test's own groups
            check_columns(name, columns, {**self._wanted, "group": None, "by": one.column})

    def judge(self, name: str, block: RowBlock) -> DecidedRows:
        """Decide on the rows of a block; invalid ones are refused or counted."""
        numbers = block.numbers(self.score)
        found = [("score", self.score, numbers.problems)]
        index, truth = None, np.empty(0, dtype=np.intp)
        if self.label is not None and self._truths is not None:
            truth, problems = self._truths.codes(name, block)
            found.append(("label", self.label, problems))
        if self._audit is not None:
            index, problems = self._audit.codes(name, block)
            found.append(("group", self._audit.column, problems))
        if self.group is not None and self._calibration.groups is not None:
            groups = self._calibration.groups.tolist()
            index, problems = known_codes(block, self.group, groups, labels=False)
            found.append(("group", self.group, problems))
        clusters = None
        if self.cluster is not None:
            clusters, problems = cluster_hashes(block, self.cluster)
            found.append(("cluster", self.cluster, problems))
        weights = self._weights(block, found)
        by = []
        for one in self._by:
            codes, problems = audit_codes(name, block, one)
            by.append(codes)
            found.append(("group", one.column, problems))
        keys = self._told("key", name, block, found)
        ids = self._told("id", name, block, found)
        valid = self.inspector.valid(name, block, found, self._note())
        values, rows = self._fit(numbers.values, block), None
        if self._known is None:
            self._newcomers.check(name, block, self.cluster, clusters)
        else:
            valid = self._without(self._known.are_among(values, truth == 1, clusters), valid)
        if valid is not None:
            rows = np.flatnonzero(valid)
            values = values[rows]
        if self._sorts:
            # In ascending order nothing that is counted has to sort again.
            order = order_of(values)
            values = values[order]
            rows = order if rows is None else rows[order]
        if rows is not None:
            index = None if index is None else index[rows]
            truth = truth[rows] if truth.size else truth
            clusters = None if clusters is None else clusters[rows]
            by = [codes[rows] for codes in by]
        self.n_decided += values.size
        known = None if self.label is None else truth == 1
        self.n_outside += count_outside(self._calibration, values, known, self.tolerance)
        numbered = _numbered(self._test.calibration.draw, keys, weights, rows)
        decisions = decide_read(self._test, values, None if self._audit else index, numbered)
        return DecidedRows(
            decisions,
            rows,
            index,
            truth == 1,
            values,
            valid,
            numbers,
            tuple(by),
            clusters,
            None if ids is None else texts_of(ids, rows),
        )

    def _without(
        self, known: NDArray[np.bool_], valid: NDArray[np.bool_] | None
    ) -> NDArray[np.bool_]:
        """Return which valid rows did not calibrate, and count the others among the skipped."""
        found = np.ones(known.size, dtype=bool) if valid is None else valid
        if n := int(np.count_nonzero(found & known)):
            skipped = self.inspector.skipped
            skipped[CALIBRATED] = skipped.get(CALIBRATED, 0) + n
        return found & ~known

    def _weights(
        self, block: RowBlock, found: list[tuple[str, str, NDArray[np.uint8] | None]]
    ) -> NDArray[np.float64] | None:
        """Return the weights of the rows, where they have such, and add what is wrong with them."""
        if self.weight is None:
            return None
        weights, problems = weights_of(block, self.weight)
        found.append(("weight", self.weight, problems))
        return weights

    def _told(self, role: str, name: str, block: RowBlock, found: list[Any]) -> Names | None:
        """Return the keys or ids of a block, where they are asked for; note what is missing."""
        column = self.key if role == "key" else self.identity
        if column is None:
            return None
        names, problems = keys_of(name, block, column, role)
        found.append((role, column, problems))
        return names

    @property
    def audited(self) -> list[Any] | None:
        """The groups met so far, of a test that has none itself."""
        return None if self._audit is None else self._audit.found()

    def audit_values(self) -> list[list[Any]]:
        """Return the values that the codes of each column of an audit stand for."""
        return [one.found() for one in self._by]

    def refuse_unseen_positive(self, name: str) -> None:
        """Raise after the last block if the positive label was never met; see `TrueLabels`."""
        if self._truths is not None:
            self._truths.refuse_unseen(name)

    def warn_if_outside(self) -> bool:
        """Warn, after the last block, if too many scores were outside the calibration's range."""
        warn_if_outside(self._calibration, self.n_outside, self.n_decided, stacklevel=3)
        return is_outside(self._calibration, self.n_outside, self.n_decided)

    def _fit(self, values: Floats, block: RowBlock) -> Floats:
        """Bring scores to the precision of the calibration, where they have none of their own."""
        dtype = self._calibration.dtype
        if isinstance(block, TextBlock):
            return in_precision(values, dtype)
        if values.dtype != dtype and not self._warned:
            rounded = covers_rounding(self.tolerance, self._calibration.extent)
            read_new_scores(values[:1], dtype, any_precision=rounded)  # which warns
            self._warned = True
        return values

    def _note(self) -> str:
        classes = self._calibration.classes.tolist()
        groups = None if self._calibration.groups is None else self._calibration.groups.tolist()
        text = (
            f"The calibration knows the labels {format_value(classes[0])} and "
            f"{format_value(classes[1])}"
        )
        if groups is not None:
            text += f" and the groups {listed(groups, most=8)}"
        return f" {text}."


def texts_of(ids: Names, rows: NDArray[np.intp] | None) -> list[str]:
    """Return the ids of some rows as texts."""
    texts = [str(value).strip() for value in ids.values]
    codes = ids.codes if rows is None else ids.codes[rows]
    return [texts[code] for code in codes.tolist()]


def keys_of(
    name: str, block: RowBlock, column: str, role: str = "key"
) -> tuple[Names, NDArray[np.uint8] | None]:
    """Return the keys of rows, and which are missing."""
    keys = read_keys(name, block, column, role)
    missing = np.where(keys.codes < 0, np.uint8(MISSING), np.uint8(0))
    return keys, missing if missing.any() else None


def _numbered(
    draw: Draw,
    keys: Names | None,
    weights: NDArray[np.float64] | None,
    rows: NDArray[np.intp] | None,
) -> TieNumbers | None:
    """Return what breaks the ties of some rows, or their weights, where that is needed."""
    if weights is not None:
        return as_numbers(weights if rows is None else weights[rows])
    return None if keys is None else TieNumbers(partial(_numbers, draw, keys, rows))


def _numbers(draw: Draw, keys: Names, rows: NDArray[np.intp] | None) -> NDArray[np.float64]:
    """Return the numbers of the keys of some rows; each key is hashed once."""
    codes = keys.codes if rows is None else keys.codes[rows]
    return draw.of_keys(keys.values)[codes]


def named_column(role: str, known: Provenance | None) -> str:
    """Return the column that the calibration knows for a role, or ask for it."""
    column: str | None = getattr(known, role, None)
    if column is not None:
        return column
    raise InputError(
        f"Which column has the {role}s? The calibration knows none, since it was made from arrays, "
        f"or without {role}s, or merged from files in which it has different names.",
        parameter=role,
        need="the name of a column",
        remedy=("Name the column of ", f"{role}s with ", Parameter(role), "."),
    )
