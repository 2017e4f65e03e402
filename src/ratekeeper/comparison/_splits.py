"""Which rows train and which test, split by split: drawn at random, by groups, or as given."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import format_value, objects
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Rows = NDArray[np.intp]

_DRAWS = 100  # of groups, until both sides have both classes


@dataclass(frozen=True, eq=False)
class RandomSplits:
    """Splits drawn at random within each class; whole groups where there are any.

    Given the data, splits are independent of each other. Each follows from the seed and its own
    number, so more of them change none.

    Parameters
    ----------
    is_positive : ndarray of bool
        The class of each row.
    test_size, train_size : float
        Shares of each class, or of the groups, that test and that are given at most.
    seed : int
        Seed.
    groups : ndarray of int, optional
        The group of each row. No group is on both sides.
    number : int, default=20
        How many splits are asked for.
    """

    is_positive: Mask
    test_size: float
    train_size: float
    seed: int
    groups: NDArray[np.intp] | None = None
    number: int = 20
    independent = True

    def split(self, repeat: int) -> tuple[Rows, Rows]:
        """Return the rows that train and those that test."""
        rng = np.random.default_rng([self.seed, repeat])
        if self.groups is not None:
            return self._whole_groups(rng, self.groups)
        places = (np.flatnonzero(self.is_positive), np.flatnonzero(~self.is_positive))
        return self._parts(rng, places)

    def _parts(self, rng: np.random.Generator, strata: Iterable[Rows]) -> tuple[Rows, Rows]:
        train, test = [], []
        for places in strata:
            mixed = rng.permutation(places)
            n_test = share(self.test_size, places.size)
            n_train = min(share(self.train_size, places.size, least=1), places.size - n_test)
            test.append(mixed[:n_test])
            train.append(mixed[n_test : n_test + n_train])
        return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))

    def _whole_groups(
        self, rng: np.random.Generator, groups: NDArray[np.intp]
    ) -> tuple[Rows, Rows]:
        """Split groups with the class that fewer have apart from the others, then take all rows."""
        n = int(groups.max()) + 1
        has = [np.bincount(groups[mask], minlength=n) > 0 for mask in (self.is_positive, self._not)]
        rare = min(has, key=np.count_nonzero)
        strata = [places for places in (np.flatnonzero(rare), np.flatnonzero(~rare)) if places.size]
        for _ in range(_DRAWS):
            parts = self._parts(rng, strata)
            train, test = (np.flatnonzero(np.isin(groups, part)) for part in parts)
            if all(np.unique(self.is_positive[rows]).size > 1 for rows in (train, test)):
                return train, test
        counts = [int(np.count_nonzero(mask)) for mask in has]
        raise InputError(
            f"Positives are in {counts[0]:,} group(s) and negatives in {counts[1]:,}, and both are "
            f"needed on either side of a split; {_DRAWS} random splits of the groups had not.",
            parameter="groups",
            remedy=("Use more groups, or pass ", Parameter("splits"), " of your own."),
        )

    @property
    def _not(self) -> Mask:
        return ~self.is_positive

    def tested(self, repeat: int, is_null: Mask) -> tuple[int, int]:
        """Return how many objects of the null class, and of the other one, test."""
        if self.groups is not None:
            return _counts(self.split(repeat)[1], is_null)
        sizes = [share(self.test_size, int(np.count_nonzero(mask))) for mask in (is_null, ~is_null)]
        return sizes[0], sizes[1]

    @property
    def about(self) -> dict[str, Any]:
        """What trials must have in common to be counted together."""
        return {"train_size": self.train_size, "test_size": self.test_size}


@dataclass(frozen=True, eq=False)
class GivenSplits:
    """Splits as the user gives them; nothing is known about how they were made.

    Parameters
    ----------
    pairs : tuple of (ndarray, ndarray)
        Rows that train and rows that test.
    seed : int
        Seed of the systems.
    """

    pairs: tuple[tuple[Rows, Rows], ...]
    seed: int
    independent = False

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.pairs)

    def split(self, repeat: int) -> tuple[Rows, Rows]:
        """Return the rows that train and those that test."""
        return self.pairs[repeat]

    def tested(self, repeat: int, is_null: Mask) -> tuple[int, int]:
        """Return how many objects of the null class, and of the other one, test."""
        if repeat >= len(self.pairs):
            return 0, 0
        return _counts(self.pairs[repeat][1], is_null)

    @property
    def about(self) -> dict[str, Any]:
        """What trials must have in common to be counted together."""
        parts = [part for pair in self.pairs for part in (np.array([-1]), *pair)]
        return {"splits": digest(np.concatenate(parts))}


Splits = RandomSplits | GivenSplits


def share(size: float, n: int, least: int = 1) -> int:
    """Return that share of n, but leave at least one on either side; of a single one, none."""
    return min(max(round(size * n), least), max(n - 1, 0))


def digest(values: NDArray[Any]) -> str:
    """Return a short text that differs for other numbers."""
    return hashlib.sha256(np.ascontiguousarray(values).data).hexdigest()[:16]


def _counts(rows: Rows, is_null: Mask) -> tuple[int, int]:
    null = int(np.count_nonzero(is_null[rows]))
    return null, rows.size - null


def read_splits(
    splits: Any,  # noqa: ANN401 - pairs, or a splitter
    X: Any,  # noqa: ANN401 - an array or a frame
    is_positive: Mask,
    groups: NDArray[np.intp] | None,
    seed: int,
) -> GivenSplits:
    """Return checked splits, from pairs of rows or from a splitter of scikit-learn.

    Examples
    --------
    >>> y = np.array([True, False] * 4)
    >>> pairs = [(range(4), range(4, 8)), (range(4, 8), range(4))]
    >>> read_splits(pairs, None, y, None, 0).split(1)
    (array([4, 5, 6, 7]), array([0, 1, 2, 3]))
    """
    if hasattr(splits, "split") and not isinstance(splits, str):
        try:
            splits = list(splits.split(X, is_positive.astype(np.intp), groups))
        except ValueError as error:
            raise InputError(
                f"splits={format_value(splits)} cannot split these rows: {error}",
                parameter="splits",
                value=splits,
            ) from error
    try:
        pairs = [(train, test) for train, test in splits]
    except (TypeError, ValueError) as error:
        raise InputError(
            parameter="splits",
            value=splits,
            need="pairs of rows that train and rows that test, or a splitter of scikit-learn",
        ) from error
    if not pairs:
        raise InputError(parameter="splits", value=splits, need="at least one pair")
    checked = []
    for number, pair in enumerate(pairs):
        train, test = (
            _rows(part, f"splits[{number}][{side}]", is_positive) for side, part in enumerate(pair)
        )
        _refuse_shared(train, test, number, groups)
        checked.append((train, test))
    return GivenSplits(tuple(checked), seed)


def _rows(part: Any, name: str, is_positive: Mask) -> Rows:  # noqa: ANN401 - indices or a mask
    rows = np.asarray(part)
    if rows.dtype == np.bool_ and rows.shape == is_positive.shape:
        rows = np.flatnonzero(rows)
    n = is_positive.size
    right = rows.ndim == 1 and rows.dtype.kind in "iu"
    if not right or not rows.size or rows.min() < 0 or rows.max() >= n:
        raise InputError(
            f"{name} is {format_value(part)}, and must be whole numbers from 0 to {n - 1:,}, the "
            f"places of {objects(n)}, or one boolean for each of them.",
            parameter="splits",
            value=part,
        )
    rows = np.sort(rows).astype(np.intp)
    if np.any(rows[1:] == rows[:-1]):
        twice = int(rows[1:][rows[1:] == rows[:-1]][0])
        raise InputError(
            f"{name} has row {twice:,} twice.",
            parameter="splits",
            value=part,
            remedy="Name each row once.",
        )
    if np.unique(is_positive[rows]).size < 2:  # noqa: PLR2004 - both classes
        only = "positive" if is_positive[rows[0]] else "negative"
        raise InputError(
            f"{name} has {only} rows alone, and objects of both classes are needed to train and to "
            "test.",
            parameter="splits",
            value=part,
            remedy="Stratify the splits, for example with StratifiedKFold(shuffle=True).",
        )
    return rows


def _refuse_shared(train: Rows, test: Rows, number: int, groups: NDArray[np.intp] | None) -> None:
    """Refuse rows, or groups, on both sides."""
    both = np.intersect1d(train, test)
    what = "row"
    if groups is not None and not both.size:
        both, what = np.intersect1d(groups[train], groups[test]), "group number"
    if both.size:
        raise InputError(
            f"splits[{number}] has {what} {int(both[0]):,} on both sides, the first of "
            f"{both.size:,} such.",
            parameter="splits",
            value=number,
            remedy="Nothing that trains may test"
            + (", for example with StratifiedGroupKFold." if what != "row" else "."),
        )


def counter(splits: Splits, is_null: Mask) -> Any:  # noqa: ANN401 - a function of the split
    """Return a function that says how many objects of either class a split tests on."""
    return lru_cache(maxsize=10_000)(lambda repeat: splits.tested(repeat, is_null))
