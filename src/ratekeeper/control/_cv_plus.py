"""CV+: every row trains and calibrates, and a bound on the error is proven all the same.

Each fold's model scores the rows of its fold, which it has not seen. Plain cross-fitting then
deploys yet another model, trained on all rows, and compares its scores with theirs: no bound is
known for that. CV+ keeps the models of the folds. A new object is scored by each of them, and
compared with the rows of that fold only, so that every comparison is fair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._ranks import count_as_extreme, sorted_parts
from ratekeeper._reading._columns import read_new_labels, read_scores, refuse_nan, same_length
from ratekeeper._reading._parameters import check_choice, check_probability
from ratekeeper._version import __version__
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, format_value, percent, plain_value
from ratekeeper._wording._sentences import say, state
from ratekeeper.calibration._cells import group_index, tail_of
from ratekeeper.calibration._p_values import PValues
from ratekeeper.control._certificate import Stated, data_statement
from ratekeeper.control._decisions import Decisions
from ratekeeper.control._evaluation import Promise, count, evaluate
from ratekeeper.control._promised_rate import right_share
from ratekeeper.exceptions import InputError, NoThresholdError, Parameter, TooFewScoresError
from ratekeeper.methods import Conformal, Guarantee
from ratekeeper.methods._rank import critical_rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Control, Share
    from ratekeeper._wording._sentences import Statement
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._evaluation import Evaluation, JointEvaluation

    Index = NDArray[np.intp]
    ByFold = tuple[Floats, ...]

_CONTROLS: dict[int, Control] = {1: "fnr", 0: "fpr"}  # the rate, by the class it is about
_SHOWN = 8  # groups


def cv_plus_bound(alpha: float, sizes: Sequence[int], *, folds_alike: bool = False) -> float:
    """Return the error rate that CV+ is proven not to exceed on average.

    Parameters
    ----------
    alpha : float
        The level that p-values are compared with.
    sizes : sequence of int
        How many rows of the class (in the group) each fold holds.
    folds_alike : bool, default=False
        Whether all folds that hold rows of the class hold equally many rows of every class (and
        group), which gives a second bound; the smaller one counts.

    Notes
    -----
    Let n be the number of rows of the class, K the number of folds that hold some, and
    k = floor(alpha (n + 1)): an object is rejected if fewer than k rows, over all folds, have a
    score at least as extreme as the one that the model of their fold gives the object.

    **Any folds**: ``2 (k + K - 1) / (n + K)``. In fold j, with m_j rows of the class, the object
    and these rows are exchangeable given the model, which has seen none of them. So
    ``p_j = (1 + count_j) / (m_j + 1)`` is a p-value. Rejection means that the mean of the p_j, with
    weights ``m_j + 1``, is at most ``t = (k + K - 1) / (n + K)``. However p-values depend on each
    other, their mean is at most t with probability at most 2t: the indicator of that event is at
    most ``max(0, 2 - mean / t)``, which by convexity is at most the mean of
    ``max(0, 2 - p_j / t)``, and each of these has an expectation of at most 2t. Only the class's
    own rows must be exchangeable with the object.

    **Folds alike**, with m rows of the class each: ``(2k + m - 2) / (n + m)``. Imagine one more
    fold, drawn like the others, with the object in it, and for every two folds the model trained
    without both. Any two rows of the class in different folds are compared by the model that has
    seen neither; for the object and a row that is the model which exists. Call a row strange if
    fewer than k rows of other folds are at least as extreme as it. Of two rows, one at least is
    not strictly more extreme than the other; so if s rows are strange, s (s - m) / 2 pairs of
    them or more share at most s (k - 1) defeats, and ``s <= 2k - 2 + m``. Folds that are alike
    can be exchanged, with the rows of both classes, without changing any distribution. So the
    object is strange with the same probability as every other row, which is E(s) / (n + m). This
    needs rows that are drawn independently within either class, and training that does not depend
    on their order; `ErrorRateController` shuffles the rows before each training.

    They are at most ``2 alpha + 2 (1 - 1/K) / (n/K + 1)`` and ``2 alpha + (1 - K/n) / (K + 1)``,
    the smaller of which is the bound of Theorem 4 in Barber, Candes, Ramdas and Tibshirani (2021),
    Predictive inference with the jackknife+, Annals of Statistics 49.

    Examples
    --------
    >>> round(cv_plus_bound(0.05, [200] * 5, folds_alike=True), 4)
    0.1075
    """
    held = [size for size in sizes if size]
    n, folds = sum(held), len(held)
    if not n:
        return 0.0  # without rows every p-value is 1
    k = critical_rank(Conformal(), n, alpha)
    bound = 2 * (k + folds - 1) / (n + folds)
    if folds_alike:
        bound = min(bound, (2 * k + held[0] - 2) / (n + held[0]))
    return min(bound, 1.0) if k else 0.0


@dataclass(frozen=True)
class CVPlusCell:
    """What is promised about one rate, for everybody or in one group.

    Attributes
    ----------
    control : {"fnr", "fpr"}
        The rate.
    group : object
        The group, None for everybody.
    alpha : float
        The level asked for.
    bound : float or None
        What the rate is proven not to exceed on average; None for a pooled group, to which
        nothing is promised.
    n : int
        Number of rows of the null class that calibrate here.
    folds : int
        Number of folds that hold some of them.
    other_error : float
        An estimate of the other error, NaN without objects. It has no interval that is known to
        be valid: the rows of the other class are judged by the model of their fold against the
        rows of all folds, which is how plain cross-fitting would judge them.
    """

    control: Control
    group: object
    alpha: float
    bound: float | None
    n: int
    folds: int
    other_error: float


@dataclass(frozen=True, repr=False)
class CVPlusCertificate(Stated):
    """What a CV+ test promises, on what data, and at what estimated cost in the other error.

    Attributes
    ----------
    guarantee : Guarantee
        The promise in words, with the bound in numbers.
    cells : tuple of CVPlusCell
        The promise in numbers, for each controlled rate and group.
    positive_label, negative_label : object
        The user's labels.
    n : dict
        Number of rows of either class that calibrate.
    folds : int
        Number of models that score each new object.
    score_type, data_hash, version : str
        Number type and hash of the out-of-fold scores, and the version of ratekeeper.
    """

    guarantee: Guarantee
    cells: tuple[CVPlusCell, ...]
    positive_label: object
    negative_label: object
    n: dict[str, int]
    folds: int
    score_type: str
    data_hash: str
    version: str

    @property
    def headline(self) -> str:
        """What is promised, in a line: the largest bound of each rate."""
        proven = _largest_bounds(self.cells)
        if not proven:
            cell = self.cells[0]
            alpha = exact_percent(cell.alpha)
            right = right_share(cell.control, cell.alpha)
            rate = cell.control.upper()
            return say("certificate.headline.none", rate=rate, alpha=alpha, right=right)
        bounds = " and ".join(f"{name.upper()} <= {at_most(b)}" for name, b in proven.items())
        return say("certificate.headline.cv_plus", bounds=bounds, folds=self.folds)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything that it says, paragraph by paragraph."""
        assumed = ("folds.cv_plus", "same_class", "independent", "same_code")
        return (
            state(
                "promise",
                self.guarantee.promise,
                title="promise.none" if self.guarantee.kind == "none" else None,
                kind=self.guarantee.kind,
            ),
            state("needs", self.guarantee.condition),
            state("not_covered", self.guarantee.not_covered),
            *map(_cell_statement, self.cells),
            state("assumed", " ".join(say(f"certificate.{name}") for name in assumed)),
            data_statement(self),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values that JSON can write."""
        return {
            **vars(self),
            "guarantee": vars(self.guarantee),
            "cells": [vars(cell) for cell in self.cells],
        }

    def _cell_html(self) -> list[markup.Html]:
        return [markup.note(in_words(cell)) for cell in self.cells]


def at_most(bound: float) -> str:
    """Write a bound, rounded up: what is printed must be proven, too."""
    return percent(math.ceil(bound * 1e4 - 1e-9) / 1e4)


def _cell_statement(cell: CVPlusCell) -> Statement:
    if cell.group is None:
        return state("controlled", in_words(cell))
    return state("group", in_words(cell), group=format_value(cell.group), n=f"{cell.n:,}")


def in_words(cell: CVPlusCell) -> str:
    """Say what is promised about one rate, and what the other is estimated to be."""
    unknown = math.isnan(cell.other_error)
    key = "cv_plus.cell.none" if cell.bound is None else "cv_plus.cell"
    return say(
        f"certificate.{key}",
        rate=cell.control.upper(),
        alpha=exact_percent(cell.alpha),
        bound=at_most(cell.bound or 1.0),
        n=f"{cell.n:,}",
        folds=cell.folds,
        other="FPR" if cell.control == "fnr" else "FNR",
        estimate="unknown" if unknown else f"about {percent(cell.other_error)}",
    )


@dataclass(frozen=True, eq=False)
class CVPlusTest:
    """A test on the scores of all fold models: every row trains and calibrates, and a bound holds.

    Made by ``ErrorRateController(strategy="cv+")``. Scores are arrays of shape
    (n_objects, n_folds): column j holds the scores by the model that has not seen fold j.

    Attributes
    ----------
    calibration : Calibration
        The out-of-fold scores of all rows together; its origin is "cross-fitted".
    alphas : dict
        The level asked for, by rate: "fnr", "fpr" or both.
    thin_groups : {"refuse", "pool"}
        What was done with groups that have too few rows for their alpha.

    Notes
    -----
    **Guarantee.** Marginal, with a level of its own: on average over training sets and new
    objects, the rate is at most `bound`, which is above 2 alpha (see `cv_plus_bound`).
    Alpha itself is not guaranteed, though in practice the rate is near it or below.
    The promise holds in every group that is not pooled.
    """

    calibration: Calibration
    alphas: dict[Control, float]
    thin_groups: str
    _folds: tuple[tuple[ByFold, ByFold], ...]  # scores[fold][class][group], ascending

    @property
    def n_folds(self) -> int:
        """Number of models that score each new object."""
        return len(self._folds)

    @property
    def parts(self) -> tuple[CVPlusTest, ...]:
        """Present for API consistency: the test itself."""
        return (self,)

    @property
    def threshold(self) -> float:
        """There is none: each fold has scores of its own, and only p-values join them."""
        raise NoThresholdError(
            "A CV+ test has no threshold: an object has one score for each fold, and is judged by "
            "the sum of their ranks.",
            remedy="Use decide or p_values.",
        )

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """How many rows there are, by fold, class and group."""
        return np.array([[[len(s) for s in cells] for cells in fold] for fold in self._folds])

    def pooled(self, null_class: int) -> list[bool]:
        """Say, group by group, whether the class has too few rows and is judged by all rows."""
        alpha = self.alphas.get(_CONTROLS[null_class])
        if alpha is None:
            return [False] * self.sizes.shape[2]
        totals = self.sizes[:, null_class].sum(axis=0).tolist()
        return [not Conformal().can_promise(n, alpha) for n in totals]

    @cached_property
    def cells(self) -> tuple[CVPlusCell, ...]:
        """What is promised, rate by rate and group by group."""
        groups = self.calibration.groups
        cells = []
        for control, alpha in self.alphas.items():
            null = 1 if control == "fnr" else 0
            for group, pooled in enumerate(self.pooled(null)):
                sizes = self.sizes[:, null, group]
                rows = self.sizes[sizes > 0].reshape(-1, 2 * self.sizes.shape[2])
                alike = bool((rows == rows[:1]).all())
                cells.append(
                    CVPlusCell(
                        control=control,
                        group=None if groups is None else plain_value(groups[group]),
                        alpha=alpha,
                        bound=None
                        if pooled
                        else cv_plus_bound(alpha, sizes.tolist(), folds_alike=alike),
                        n=int(sizes.sum()),
                        folds=int((sizes > 0).sum()),
                        other_error=self._other_error(null, group, alpha, pooled=pooled),
                    )
                )
        return tuple(cells)

    def bound(self, control: Control) -> float | None:
        """Return what a rate is proven not to exceed, in any group; None if one has no promise."""
        bounds = [cell.bound for cell in self.cells if cell.control == control]
        known = [bound for bound in bounds if bound is not None]
        return max(known) if len(known) == len(bounds) else None

    @property
    def guarantee(self) -> Guarantee:
        """The promise in words, with the bound in numbers: the largest one where there are groups.

        Nothing is promised to pooled groups.
        """
        return cv_plus_guarantee(self.cells)

    @property
    def certificate(self) -> CVPlusCertificate:
        """What is promised, on what data, at what estimated cost in the other error."""
        negative, positive = map(plain_value, self.calibration.classes)
        return CVPlusCertificate(
            guarantee=self.guarantee,
            cells=self.cells,
            positive_label=positive,
            negative_label=negative,
            n={
                "negative": self.calibration.n(negative),
                "positive": self.calibration.n(positive),
            },
            folds=self.n_folds,
            score_type=str(self.calibration.dtype),
            data_hash=self.calibration.data_hash,
            version=__version__,
        )

    def decide(self, scores: ArrayLike, groups: ArrayLike | None = None) -> Decisions:
        """Decide on new objects.

        Parameters
        ----------
        scores : array-like of shape (n_objects, n_folds)
            The scores of each object by the model of each fold.
        groups : array-like of shape (n_objects,), optional
            Their groups, required if and only if there were groups in the calibration.
        """
        p = self.p_values(scores, groups)
        possible = {
            control: (p.p1 if control == "fnr" else p.p0) > alpha
            for control, alpha in self.alphas.items()
        }
        if "fpr" not in possible:
            possible["fpr"] = ~possible["fnr"]
        may_be_negative = possible["fpr"]
        may_be_positive = possible.get("fnr", ~may_be_negative)
        return Decisions(
            positive=may_be_positive & ~may_be_negative,
            abstained=may_be_positive & may_be_negative,
            neither=~(may_be_positive | may_be_negative),
            classes=self.calibration.classes,
            can_abstain=len(self.alphas) > 1,
            _p_values=lambda: p,
        )

    def p_values(self, scores: ArrayLike, groups: ArrayLike | None = None) -> PValues:
        """Return both p-values of each object; parameters as in `decide`."""
        columns = self._read(scores)
        index = group_index(self.calibration, groups, columns[0].size)
        if index is None:
            index = np.zeros(columns[0].size, dtype=np.intp)
        return PValues(*(self._p_values(null, columns, index) for null in (0, 1)))

    def evaluate(
        self, scores: ArrayLike, labels: ArrayLike, groups: ArrayLike | None = None
    ) -> Evaluation | JointEvaluation:
        """Count both errors on labelled new objects, and compare them with the proven bound.

        Parameters
        ----------
        scores, groups
            As in `decide`.
        labels : array-like of shape (n_objects,)
            True labels of objects that were not given to `fit`.
        """
        decisions = self.decide(scores, groups)
        truth = read_new_labels(labels, self.calibration.classes)
        same_length("labels", truth.size, len(decisions))
        index = group_index(self.calibration, groups, truth.size)
        names = None if self.calibration.groups is None else self.calibration.groups.tolist()
        promises: dict[Share, list[Promise]] = {
            control: [Promise(cell.bound) for cell in self.cells if cell.control == control]
            for control in self.alphas
        }
        return evaluate(promises, count(decisions, truth, index, len(names or [0])), names)

    def __repr__(self) -> str:
        head = f"CVPlusTest with {self.n_folds} folds"
        lines = [f"  {in_words(cell)}" for cell in self.cells[:_SHOWN]]
        more = len(self.cells) - len(lines)
        return "\n".join([head, *lines, *([f"  ... and {more:,} more groups"] if more > 0 else [])])

    def _read(self, scores: ArrayLike) -> list[Floats]:
        array = np.asarray(scores)
        if array.ndim != 2 or array.shape[1] != self.n_folds:  # noqa: PLR2004 - objects and folds
            raise InputError(
                f"scores has shape {array.shape}, but a CV+ test needs {self.n_folds} scores for "
                "each object, one by the model of each fold.",
                parameter="scores",
                remedy="Use decide(X) of the controller, which scores with all its models.",
            )
        columns = [read_scores(column) for column in array.T]
        for column in columns:
            refuse_nan(column)
        return columns

    def _p_values(self, null: int, columns: list[Floats], index: Index) -> NDArray[np.float64]:
        p = np.ones(index.size)
        for group, pooled in enumerate(self.pooled(null)):
            members = np.flatnonzero(index == group)
            counts = np.zeros(members.size, dtype=np.intp)
            n = 0
            for column, fold in zip(columns, self._folds, strict=True):
                for cell in fold[null] if pooled else fold[null][group : group + 1]:
                    counts += count_as_extreme(
                        cell, column[members], tail_of(self.calibration, null)
                    )
                    n += cell.size
            p[members] = Conformal().p_of_count(counts, n)
        return p

    def _other_error(self, null: int, group: int, alpha: float, *, pooled: bool) -> float:
        ours = (self.calibration.pooled() if pooled else self.calibration).cells[null]
        others = self.calibration.cells[1 - null][group]
        if not others.size:
            return math.nan
        cell = ours[0 if pooled else group]
        counts = count_as_extreme(cell, others, tail_of(self.calibration, null))
        return float(np.mean(Conformal().p_of_count(counts, cell.size) > alpha))


def _largest_bounds(cells: Sequence[CVPlusCell]) -> dict[Control, float]:
    """Return the largest proven bound of each rate; none for a rate without any."""
    found: dict[Control, float] = {}
    for cell in cells:
        if cell.bound is not None:
            found[cell.control] = max(cell.bound, found.get(cell.control, 0.0))
    return found


def cv_plus_guarantee(cells: Sequence[CVPlusCell] = ()) -> Guarantee:
    """Say what CV+ promises: in numbers once the rows are known, before that in general."""
    proven = _largest_bounds(cells)
    if cells and not proven:
        promise = (
            "Nothing is proven, for lack of rows: the rate in such groups can be far above alpha."
        )
    else:
        where = " in each group" if any(cell.group is not None for cell in cells) else ""
        where += " that is not pooled" if any(cell.bound is None for cell in cells) else ""
        asked = {cell.control: exact_percent(cell.alpha) for cell in cells}
        bounds = " and ".join(
            f"the {name.upper()}{where} is at most {at_most(b)}, where {asked[name]} was asked for"
            for name, b in proven.items()
        )
        promise = (
            "On average over training sets and new objects, "
            + (bounds or "the rate is at most a bound above 2 alpha, which the fit will tell")
            + ". In practice it is near alpha or below, but alpha itself is not guaranteed."
        )
    return Guarantee(
        kind="none" if cells and not proven else "marginal",
        promise=promise,
        condition=(
            "rows drawn independently from the population of the new objects, and folds that do "
            "not depend on their features."
        ),
        not_covered="the rate of these very models, which varies around its average.",
    )


def build_cv_plus_test(
    calibration: Calibration,
    scores: Floats,
    is_positive: NDArray[np.bool_],
    folds: Index,
    groups: ArrayLike | None,
    *,
    alphas: dict[Control, float],
    thin_groups: str,
) -> CVPlusTest:
    """Build the test from the out-of-fold scores of all rows, or refuse if there are too few.

    Parameters
    ----------
    calibration : Calibration
        Of these very scores.
    scores, is_positive, folds, groups : ndarray of shape (n_rows,)
        The score of each row, whether it is positive, the number of its fold, and its group.
    alphas : dict
        The level asked for, by rate.
    thin_groups : {"refuse", "pool"}
        What to do with groups that have too few rows.
    """
    check_choice(thin_groups, "thin_groups", ("refuse", "pool"))
    for alpha in alphas.values():
        check_probability(alpha, "alpha")
    index = group_index(calibration, groups, scores.size)
    group = np.zeros(scores.size, dtype=np.intp) if index is None else index
    n_groups = len(calibration.cells[0])
    by_fold = []
    for fold in range(int(folds.max()) + 1):
        mine = folds == fold
        masks = [
            mine & (is_positive == bool(label)) & (group == g)
            for label in (0, 1)
            for g in range(n_groups)
        ]
        cells = sorted_parts(scores, masks)
        by_fold.append((cells[:n_groups], cells[n_groups:]))
    test = CVPlusTest(calibration, alphas, thin_groups, tuple(by_fold))
    for control, alpha in alphas.items():
        _refuse_too_few(test, control, alpha)
    return test


def _refuse_too_few(test: CVPlusTest, control: Control, alpha: float) -> None:
    null = 1 if control == "fnr" else 0
    needed = Conformal().smallest_n(alpha)
    totals = test.sizes[:, null].sum(axis=0)
    groups = test.calibration.groups
    pool = groups is not None and test.thin_groups == "pool"
    if (totals.sum() if pool else totals.min()) >= needed:
        return
    label = plain_value(test.calibration.classes[null])
    where = ""
    if groups is not None and not pool:
        where = f" in group {plain_value(groups[int(totals.argmin())])!r}"
    available = int(totals.sum() if pool else totals.min())
    raise TooFewScoresError(
        f"CV+ with {control.upper()} <= {alpha:g} needs at least {needed:,} rows of the class "
        f"{label!r} that calibrate{where}; there are {available:,}. Folds hold equally many rows "
        "of it; what is left over only trains.",
        available=available,
        needed=needed,
        remedy=(
            "Add rows, or raise alpha",
            *((", or pass ", Parameter("thin_groups", "pool")) if groups is not None else ()),
            ".",
        ),
    )
