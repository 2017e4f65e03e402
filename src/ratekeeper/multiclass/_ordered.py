"""Classes in order of severity: an object is called the most severe class that it may be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._rates import Rate
from ratekeeper._reading._columns import read_groups
from ratekeeper._wording._formatting import (
    exact_percent,
    format_value,
    listed_with_count,
    plain_value,
)
from ratekeeper.control._evaluation import Promise
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.multiclass._certificate import ClassCell
from ratekeeper.multiclass._columns import place_in, read_columns, read_levels
from ratekeeper.multiclass._evaluation import evaluate
from ratekeeper.multiclass._test import (
    certificate,
    check_enough,
    promises,
    rank_method,
    read_labelled,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.methods import Guarantee
    from ratekeeper.methods._rank import RankMethod, RankNull
    from ratekeeper.multiclass._calibration import MulticlassCalibration
    from ratekeeper.multiclass._certificate import MulticlassCertificate
    from ratekeeper.multiclass._evaluation import MulticlassEvaluation


@dataclass(frozen=True, eq=False, repr=False)
class OrderedTest:
    """A finished test of classes in order: few objects are called less severe than they are.

    From the most severe class on, an object is called the first class whose score reaches the
    threshold of the class, and the last class if none does.

    Attributes
    ----------
    calibration : MulticlassCalibration
        The scores it stands on.
    order : tuple
        The classes, the most severe first.
    alphas : tuple of float
        For each class but the last, the largest share of its objects that are called less severe.
    method : Method
        How thresholds are made, and so which kind of promise it is.

    Notes
    -----
    **Guarantee.** That of the method, for each class but the last: of its new objects, at most the
    share alpha is called something less severe. Proof. Thresholds are found from the most severe
    class on. Of the objects of a class, calibrated or new, those that are called something more
    severe already get the score infinity for their own class, all others keep theirs. The earlier
    thresholds depend on objects of other classes alone, so that given these the new scores are as
    exchangeable, or independent, as before, and the rank method does the rest: an object of the
    class is called less severe exactly if its new score lies below the threshold. This spends
    nothing on objects that more severe classes caught. It does not cover the share that is called
    too severe, which is the price, nor objects of a class that the calibration does not have.

    The problem is the hierarchical Neyman-Pearson classification of Wang, Xia, Li and Tong (2024);
    their thresholds split the data of each class and bound two shares apart, which this does not
    need.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.choice(["mild", "none", "severe"], 900)
    >>> places = np.unique(labels, return_inverse=True)[1]
    >>> cal = rk.multiclass.calibrate(rng.normal(2 * np.eye(3)[places]), labels)
    >>> test = cal.control_ordered({"severe": 0.05, "mild": 0.1}, order=["severe", "mild", "none"])
    >>> test
    OrderedTest: 'severe' > 'mild' > 'none', HighProbability(delta=0.05)
      'severe' if its score is >= 0.337..., at most 5% of 'severe' are called less
      'mild' if its score is >= 0.798..., at most 10% of 'mild' are called less
      'none' otherwise
    >>> test.decide([[0.0, 2.0, 0.1], [0.5, 1.0, 1.9]])
    array(['none', 'severe'], dtype='<U6')
    """

    calibration: MulticlassCalibration
    order: tuple[Any, ...]
    alphas: tuple[float, ...]
    method: RankMethod
    _places: tuple[int, ...]
    _nulls: tuple[RankNull, ...]
    _limits: NDArray[np.float64]

    @property
    def thresholds(self) -> dict[Any, float]:
        """For each class but the last, the lowest score with which it is called."""
        return dict(zip(self.order, self._limits.tolist(), strict=False))

    @property
    def guarantee(self) -> Guarantee:
        """What is promised to each class but the last: that of the method."""
        return self.method.guarantee

    def decide(self, scores: ArrayLike) -> NDArray[Any]:
        """Return what each object is called, as a label.

        Parameters
        ----------
        scores : array-like of shape (n_objects, n_classes)
            As at calibration, from the same model.
        """
        columns = read_columns(scores, self.calibration.classes, self.calibration.dtype)
        places = np.array(self._places)[self._called(columns)]
        return np.asarray(self.calibration.classes[places])

    def _called(self, columns: Floats) -> NDArray[np.intp]:
        """Return the place in the order of what each object is called."""
        return called(columns, self._places, self._limits)

    def evaluate(self, scores: ArrayLike, labels: ArrayLike) -> MulticlassEvaluation:
        """Count errors on new objects with known labels; as in `MulticlassTest.evaluate`."""
        columns, truth = read_labelled(self.calibration, scores, labels)
        rank = np.argsort(self._places)  # the place in the order of each class
        found = self._called(columns)
        own = rank[truth]
        given = [*promises(self.method, self._nulls, self.alphas), Promise(None)]
        return evaluate(_array(self), given, own, found > own, found, "")

    @property
    def certificate(self) -> MulticlassCertificate:
        """What is promised to each class, on what data, and what it costs."""
        cells = []
        for i, label in enumerate(self.order):
            part = self.calibration.rows[self._places[i]]
            # The thresholds of more severe classes do not depend on these objects.
            over = Rate(int((self._called(part) < i).sum()), part.shape[1])
            is_last = i == len(self.order) - 1
            cell = ClassCell(label, None, part.shape[1], None, None, None, over)
            if not is_last:
                cell = replace(
                    cell,
                    alpha=self.alphas[i],
                    threshold=float(self._limits[i]),
                    realised=self._nulls[i].realised(self.alphas[i]),
                )
            cells.append(cell)
        return certificate(self.calibration, self.method, cells, ordered=True)

    def __repr__(self) -> str:
        lines = [
            f"  {format_value(label)} if its score is >= {t!r}, at most {exact_percent(alpha)} of "
            f"{format_value(label)} are called less"
            for (label, t), alpha in zip(self.thresholds.items(), self.alphas, strict=True)
        ]
        head = f"OrderedTest: {' > '.join(map(format_value, self.order))}, {self.method!r}"
        return "\n".join([head, *lines, f"  {format_value(self.order[-1])} otherwise"])

    def _repr_html_(self) -> str:
        return self.certificate._repr_html_()

    def __reduce__(self) -> tuple[Any, ...]:
        alpha = dict(zip(self.order, self.alphas, strict=False))
        return build_ordered, (self.calibration, alpha, self.order, self.method)


def _array(test: OrderedTest) -> NDArray[Any]:
    return np.asarray(test.calibration.classes[list(test._places)])  # noqa: SLF001 - of this module


def called(columns: Floats, places: Sequence[int], limits: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the place in the order of the first class whose score reaches its limit.

    Examples
    --------
    >>> called(np.array([[0.0, 1.0], [1.0, 1.0]]), [1, 0], np.array([0.5]))
    array([0, 0])
    >>> called(np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1], np.array([0.5]))
    array([1, 0])
    """
    found = np.full(columns.shape[1], limits.size, dtype=np.intp)
    for i in reversed(range(limits.size)):
        found[columns[places[i]] >= limits[i : i + 1]] = i
    return found


def build_ordered(
    calibration: MulticlassCalibration, alpha: object, order: Sequence[Any], method: object
) -> OrderedTest:
    """Find the thresholds from the most severe class on, or refuse."""
    how = rank_method(method)
    names = calibration.classes.tolist()
    given = [plain_value(label) for label in order]
    if sorted(map(repr, given)) != sorted(map(repr, names)):
        raise InputError(
            (Parameter("order", given), " does not name every class exactly once."),
            parameter="order",
            value=given,
            need=f"an order of {listed_with_count(names)}, the most severe first",
        )
    index, found = read_groups(given, len(given), name="order")
    places = tuple(place_in(index, found, calibration.classes).tolist())
    controlled = calibration.classes[list(places[:-1])]
    alphas = read_levels(_without_last(alpha, given[-1]), controlled)
    check_enough(calibration, controlled.tolist(), alphas, how)
    nulls: list[RankNull] = []
    limits = np.zeros(0)
    for i, level in enumerate(alphas):
        part = calibration.rows[places[i]]
        own = part[places[i]].copy()
        own[called(part, places, limits) < i] = np.inf
        own.sort()
        nulls.append(how.against(own + 0.0, "low"))
        limits = np.append(limits, nulls[-1].kth(np.array([nulls[-1].rank(level)])))
    return OrderedTest(calibration, tuple(given), alphas, how, places, tuple(nulls), limits)


def _without_last(alpha: object, last: object) -> object:
    """Leave out the level of the last class, where somebody gave one: nothing is less severe."""
    if not isinstance(alpha, dict) or last not in alpha:
        return alpha
    raise InputError(
        f"{format_value(last)} is the last class: nothing is less severe, so it has no level.",
        parameter="alpha",
        value=alpha[last],
        remedy="Leave its level out.",
    )
