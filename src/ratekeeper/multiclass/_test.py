"""The test of several classes: which of them cannot be ruled out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._ranks import count_as_extreme
from ratekeeper._numerics._rates import Rate
from ratekeeper._reading._columns import read_groups
from ratekeeper._system._threads import on_all_cores
from ratekeeper._version import __version__
from ratekeeper._wording._formatting import exact_percent, format_value
from ratekeeper.control._evaluation import Promise
from ratekeeper.exceptions import InputError, Parameter, TooFewScoresError
from ratekeeper.methods import Conformal, HighProbability, check_method
from ratekeeper.methods._rank import RankMethod
from ratekeeper.multiclass._certificate import ClassCell, MulticlassCertificate
from ratekeeper.multiclass._columns import place_in, read_columns, read_levels
from ratekeeper.multiclass._evaluation import MulticlassEvaluation, evaluate
from ratekeeper.multiclass._label_sets import LabelSets, forced_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.methods import Guarantee
    from ratekeeper.methods._rank import RankNull
    from ratekeeper.multiclass._calibration import MulticlassCalibration

_BLOCK = 1 << 15  # objects; below what is itself shared out among the cores


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassTest:
    """A finished test of several classes: it gives label sets, and says what it promises.

    Attributes
    ----------
    calibration : MulticlassCalibration
        The scores it stands on.
    alphas : tuple of float
        For each class the largest share of its objects whose set does not have it.
    method : Method
        How p-values are made, and so which kind of promise it is.

    Notes
    -----
    **Guarantee.** That of the method, for each class: of its new objects, at most the share alpha
    has a label set without the class. It does not cover objects of a class that the calibration
    does not have, drift, nor a label forced on a set of several. That two classes keep their
    promises at once is not said by either: with ``HighProbability(delta)`` all of K classes do
    with probability at least 1 - K delta.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, 600)
    >>> cal = rk.multiclass.calibrate(rng.normal(2 * np.eye(3)[labels]), labels)
    >>> test = cal.control(0.1)
    >>> test
    MulticlassTest: 3 classes, HighProbability(delta=0.05)
      0: in the set if its score is >= 0.527..., at most 10% of 0 are not
      1: in the set if its score is >= 0.284..., at most 10% of 1 are not
      2: in the set if its score is >= 0.313..., at most 10% of 2 are not
    """

    calibration: MulticlassCalibration
    alphas: tuple[float, ...]
    method: RankMethod
    _nulls: tuple[RankNull, ...]

    @property
    def thresholds(self) -> dict[Any, float]:
        """For each class the lowest score with which it is in the set."""
        return dict(zip(self.calibration.classes.tolist(), self._limits.tolist(), strict=True))

    @cached_property
    def _limits(self) -> NDArray[np.float64]:
        pairs = zip(self._nulls, self.alphas, strict=True)
        return np.array([null.threshold(alpha) for null, alpha in pairs], dtype=np.float64)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each class, when, and what is not: that of the method."""
        return self.method.guarantee

    def decide(self, scores: ArrayLike) -> LabelSets:
        """Return the classes of each object that cannot be ruled out.

        Parameters
        ----------
        scores : array-like of shape (n_objects, n_classes)
            As at calibration, from the same model.

        Returns
        -------
        LabelSets
        """
        columns = read_columns(scores, self.calibration.classes, self.calibration.dtype)
        return self._sets(columns)

    def _sets(self, columns: Floats) -> LabelSets:
        return LabelSets(
            included=(columns >= self._limits[:, None]).T,
            classes=self.calibration.classes,
            alphas=self.alphas,
            _scores=columns,
            _p_values=partial(judge_columns, self._nulls, columns),
        )

    def evaluate(self, scores: ArrayLike, labels: ArrayLike) -> MulticlassEvaluation:
        """Count errors on new objects with known labels, and compare them with the promises.

        Parameters
        ----------
        scores : array-like of shape (n_objects, n_classes)
        labels : array-like of shape (n_objects,)
            The true classes. Not those of the calibration objects.

        Returns
        -------
        MulticlassEvaluation
            Its verdicts call any promise exceeded with probability at most 5%, over all classes
            together, if nothing has changed since calibration.
        """
        columns, truth = read_labelled(self.calibration, scores, labels)
        sets = self._sets(columns)
        own = sets.included[np.arange(truth.size), truth]
        places = forced_places(sets.p_values.T, columns, self.alphas)
        return evaluate(self.calibration.classes, self._promises, truth, ~own, places, sets.summary)

    @property
    def _promises(self) -> list[Promise]:
        return promises(self.method, self._nulls, self.alphas)

    @cached_property
    def certificate(self) -> MulticlassCertificate:
        """What is promised to each class, on what data, and what it costs."""
        cells = []
        for c, (label, part) in enumerate(
            zip(self.calibration.classes.tolist(), self.calibration.rows, strict=True)
        ):
            # Thresholds of the other classes do not depend on these objects.
            others = (part >= self._limits[:, None]).sum() - (part[c] >= self._limits[c]).sum()
            wrong = self._forced(c)[np.arange(self.calibration.classes.size) != c].sum()
            cells.append(
                ClassCell(
                    label=label,
                    alpha=self.alphas[c],
                    n=part.shape[1],
                    threshold=float(self._limits[c]),
                    realised=self._nulls[c].realised(self.alphas[c]),
                    others=float(others) / part.shape[1],
                    wrong=Rate(int(wrong), part.shape[1]),
                )
            )
        return certificate(self.calibration, self.method, cells, ordered=False)

    def _forced(self, c: int) -> NDArray[np.intp]:
        """Count which labels are forced on the objects of a class, each against the others."""
        part = self.calibration.rows[c]
        p_values = judge_columns(self._nulls, part).T
        n = part.shape[1]
        counts = count_as_extreme(self.calibration.own[c], part[c], "low")
        p_values[c] = self.method.p_of_count(counts - 1, n - 1) if n > 1 else 1.0
        places = forced_places(p_values, part, self.alphas)
        return np.bincount(places, minlength=self.calibration.classes.size)

    @cached_property
    def forced_confusion(self) -> NDArray[np.intp]:
        """For each true class (rows) how often each label was forced on its calibration objects.

        Each object is ranked among the others of its class, without itself.
        """
        return np.stack([self._forced(c) for c in range(self.calibration.classes.size)])

    def __repr__(self) -> str:
        lines = [
            f"  {format_value(label)}: in the set if its score is >= {t!r}, at most "
            f"{exact_percent(alpha)} of {format_value(label)} are not"
            for (label, t), alpha in zip(self.thresholds.items(), self.alphas, strict=True)
        ]
        head = f"MulticlassTest: {len(lines)} classes, {self.method!r}"
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        return self.certificate._repr_html_()

    def __reduce__(self) -> tuple[Any, ...]:
        alpha = dict(zip(self.calibration.classes.tolist(), self.alphas, strict=True))
        return build_test, (self.calibration, alpha, self.method)


def build_test(calibration: MulticlassCalibration, alpha: object, method: object) -> MulticlassTest:
    """Build the test, or refuse if a promise is impossible with these scores."""
    how = rank_method(method)
    alphas = read_levels(alpha, calibration.classes)
    check_enough(calibration, calibration.classes.tolist(), alphas, how)
    return MulticlassTest(calibration, alphas, how, calibration.nulls(how))


def rank_method(method: object) -> RankMethod:
    """Return a method whose p-value is a function of the count alone, or refuse it.

    Examples
    --------
    >>> rank_method("conformal")
    Conformal()
    """
    found = check_method(method)
    if isinstance(found, RankMethod) and found.keys == "unused":
        return found
    raise InputError(
        (Parameter("method", found), " is not for several classes: ranks alone decide there."),
        parameter="method",
        value=found,
        need="a method of ranks without random numbers",
        remedy="Take Conformal(), HighProbability(delta) or Simultaneous(delta).",
    )


def judge_columns(nulls: Sequence[RankNull], columns: Floats) -> NDArray[np.float64]:
    """Return the p-value of each column's scores under its null, one row for each object.

    Block by block on all cores: a block of scores lies side by side in a cache, whereas those of
    one class are strewn over the user's table.
    """
    found = np.empty(columns.shape)
    readers = [null.reader(columns.shape[1]) for null in nulls]

    def work(start: int) -> None:
        block = slice(start, start + _BLOCK)
        for place, read, column in zip(found, readers, columns[:, block].copy(), strict=True):
            place[block] = read(column)

    on_all_cores(work, range(0, columns.shape[1], _BLOCK))
    return found.T


def check_enough(
    calibration: MulticlassCalibration,
    names: Sequence[Any],
    alphas: Sequence[float],
    method: RankMethod,
) -> None:
    """Refuse levels that are out of reach of a class's number of objects."""
    for name, alpha in zip(names, alphas, strict=True):
        n = calibration.n(name)
        if method.can_promise(n, alpha):
            continue
        needed, weaker = method.smallest_n(alpha), Conformal()
        remedy: list[Any] = ["Add objects of this class, or raise its ", Parameter("alpha"), "."]
        if isinstance(method, HighProbability) and weaker.can_promise(n, alpha):
            remedy += [
                " ",
                Parameter("method", weaker),
                f" needs {weaker.smallest_n(alpha):,}: it keeps the rate on average over ",
                "calibration sets, not for this very test.",
            ]
        raise TooFewScoresError(
            f"A level of {alpha:g} for class {format_value(name)} with {method!r} needs at least "
            f"{needed:,} calibration objects of the class; got {n:,}.",
            available=n,
            needed=needed,
            remedy=tuple(remedy),
        )


def read_labelled(
    calibration: MulticlassCalibration, scores: ArrayLike, labels: ArrayLike
) -> tuple[Floats, NDArray[np.intp]]:
    """Return the scores of new objects by class, and the places of their true classes."""
    columns = read_columns(scores, calibration.classes, calibration.dtype)
    index, found = read_groups(labels, columns.shape[1], name="labels")
    return columns, place_in(index, found, calibration.classes)


def promises(
    method: RankMethod, nulls: Sequence[RankNull], alphas: Sequence[float]
) -> list[Promise]:
    """Return what counted errors are compared with, class by class."""
    if method.guarantee.kind in ("asymptotic", "none"):
        return [Promise(None)] * len(nulls)
    return [
        Promise(alpha, null.rank(alpha), null.n) for null, alpha in zip(nulls, alphas, strict=True)
    ]


def certificate(
    calibration: MulticlassCalibration,
    method: RankMethod,
    cells: Sequence[ClassCell],
    *,
    ordered: bool,
) -> MulticlassCertificate:
    """Put the facts together."""
    return MulticlassCertificate(
        cells=tuple(cells),
        ordered=ordered,
        method=repr(method),
        delta=getattr(method, "delta", None),
        guarantee=method.guarantee,
        score_type=str(calibration.dtype),
        data_hash=calibration.data_hash,
        version=__version__,
    )
