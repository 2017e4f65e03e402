"""Scores whose order is broken: another order is learnt on one part, and tested on the other.

A threshold is the best rule only if the likelihood ratio rises with the score. Where it does not,
a rule that follows the ratio has a smaller other error at the same level. The ratio is not known,
so it is learnt: a random part of the objects draws up blocks of scores and their order. Given that
part, what it learnt is one fixed map from scores to new scores, and the other objects are
independent draws as before. So every method keeps its promise on their new scores, exactly, as if
they were the model's own.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ratekeeper._numerics._auc import separation
from ratekeeper._numerics._likelihood_ratio import SHAPES, fitted, two_parts
from ratekeeper._numerics._random_keys import numbers_of_keys
from ratekeeper._reading._parameters import check_choice, check_probability
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import format_value
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._cells import count_outside, draw_remarks, read_new, warn_if_outside
from ratekeeper.calibration._two_classes import two_classes
from ratekeeper.control._error_rate import aim, build_test, score_text
from ratekeeper.control._promised_rate import promised_rate
from ratekeeper.control._test import decide_read
from ratekeeper.control._useless import warn_if_useless
from ratekeeper.exceptions import InputError, Parameter, ScoreRangeWarning
from ratekeeper.methods import HighProbability, check_method

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._draws import Draw
    from ratekeeper._numerics._likelihood_ratio import Blocks, Shape
    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Rate
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.calibration._p_values import PValues
    from ratekeeper.control._certificate import Certificate
    from ratekeeper.control._decisions import Decisions
    from ratekeeper.control._error_rate import ErrorRateTest
    from ratekeeper.control._evaluation import Evaluation
    from ratekeeper.methods import Method

_LARGEST = 1e300  # so that no infinity is divided by another


class Interval(NamedTuple):
    """Neighbouring scores that lead to one decision."""

    low: float
    has_low: bool
    high: float
    has_high: bool


@dataclass(frozen=True, eq=False, repr=False)
class Reordering:
    """An order of scores, and the objects that were not used to learn it; made by `reorder`.

    Attributes
    ----------
    shape : {"hull", "rising", "falling", "valley", "peak"}
        How the likelihood ratio changes as the score grows.
    n_learnt : int
        How many objects it was learnt on.
    held_out : Calibration
        The other objects, with the scores of the model.
    calibration : Calibration
        The same objects with their new scores, of which high ones indicate the positive class.

    Notes
    -----
    **Guarantee.** What is made of `calibration` keeps its promise, as any calibration does, for
    objects whose scores went through `transform`. The choice of the order costs objects, not level.
    It is no guarantee that the other error becomes smaller: on a score whose order is right it
    becomes larger, for lack of the objects that were spent.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 2000)
    >>> scores = rng.normal(0, 1 + 3 * labels)  # positives are at both ends
    >>> cal = rk.calibrate(scores, labels, random_state=0)
    >>> order = rk.reorder(cal)
    >>> order
    Reordering of 2,000 scores: valley, both ends indicate the positive class
      learnt on 1,000 objects, area under the ROC curve on the other 1,000: 0.854 (was 0.486)
    >>> order.control("fpr", 0.05).decide([-6.0, 0.0, 6.0]).labels
    array([1, 0, 1])
    """

    shape: str
    n_learnt: int
    held_out: Calibration
    calibration: Calibration
    _blocks: Blocks
    _knots: Floats

    def transform(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return the new scores, of which high ones indicate the positive class; NaN stays NaN."""
        values, _ = read_new(self.held_out, scores, None)
        return _new_scores(self._blocks, self._knots, values, steps=self.shape == "hull")

    def control(
        self,
        control: str,
        level: float | str | None = None,
        *,
        alpha: float | str | None = None,
        method: Method | str | None = None,
    ) -> ReorderedTest:
        """Make the test that keeps one error rate at or below alpha, in this order of the scores.

        Parameters
        ----------
        control, level, alpha
            As in `Calibration.control`.
        method : Method or str, optional
            A method that decides by rank. By default HighProbability(), and for the hull
            ``HighProbability(randomised=True)``: within a block keys decide.

        Returns
        -------
        ReorderedTest
        """
        if method is None:
            method = HighProbability(randomised=self.shape == "hull")
        method = check_method(method)
        promised = promised_rate(control, level, alpha)
        test = build_test(self.calibration, *promised, method, "refuse")
        warn_if_useless(test)
        return ReorderedTest(self, test, _pieces(self, test))

    def __repr__(self) -> str:
        left = sum(cells[0].size for cells in self.held_out.cells)
        return (
            f"Reordering of {self.n_learnt + left:,} scores: {self.shape}, "
            f"{say(f'order.{self.shape}')}\n  learnt on {self.n_learnt:,} objects, area under the "
            f"ROC curve on the other {left:,}: {self.calibration.auc:.3f} "
            f"(was {self.held_out.auc:.3f})"
        )

    def _repr_html_(self) -> str:
        head, *rest = repr(self).splitlines()
        return markup.card(head, [markup.note(line.strip()) for line in rest])


@dataclass(frozen=True, eq=False, repr=False)
class ReorderedTest:
    """A test of one error rate whose positive scores need not be the highest.

    Attributes
    ----------
    order : Reordering
        The order it decides by.
    test : ErrorRateTest
        The test of the new scores.
    intervals : tuple of Interval
        Scores that are called positive whatever the key.

    Notes
    -----
    **Guarantee.** That of the method, for new objects drawn like the calibration objects of their
    class: see `certificate`. Which order was learnt does not matter to it. It stands on the objects
    that did not learn, so there are fewer of them. To keep it in a file, save the calibration, and
    reorder after loading: the same draw gives the same order and the same test.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 2000)
    >>> cal = rk.calibrate(rng.normal(0, 1 + 3 * labels), labels, random_state=0)
    >>> rk.reorder(cal).control("fpr", 0.05)
    ReorderedTest: FPR <= 5%, HighProbability(delta=0.05)
      positive (1) if score < -2.136..., or score > 2.125..., else negative (0)
    """

    order: Reordering
    test: ErrorRateTest
    intervals: tuple[Interval, ...]

    @property
    def alpha(self) -> float:
        """The rate that is promised."""
        return self.test.alpha

    @property
    def other_error(self) -> Rate:
        """The other error, counted on the objects of the other class that did not learn."""
        return self.test.other_error

    @property
    def condition(self) -> str:
        """When an object is called positive, in the scores of the model."""
        said = [_interval_text(self.order.held_out, one) for one in self.intervals]
        boundary = self.test.boundaries[None]
        if boundary is not None and np.isfinite(boundary[0]):
            at = int(np.flatnonzero(self.order._blocks.order == boundary[0])[0])  # noqa: SLF001
            piece = _interval_text(self.order.held_out, _whole(self.order._blocks, at))  # noqa: SLF001
            sign = ">=" if self.test.control == "fnr" else ">"
            said.append(say("order.number", piece=piece, sign=sign, number=repr(boundary[1])))
        return say("order.or").join(said) or say("order.never")

    @cached_property
    def certificate(self) -> Certificate:
        """What is promised, on what data, at what cost in the other error."""
        base, held_out = self.test.certificate, self.order.held_out
        drawn = draw_remarks(held_out, rests=True)  # who learnt
        (cell,) = base.cells
        left = sum(cells[0].size for cells in held_out.cells)
        said = say(
            "order.learnt",
            order=say(f"order.{self.order.shape}"),
            learnt=f"{self.order.n_learnt:,}",
            testing=f"{left:,}",
        )
        return replace(
            base,
            cells=(replace(cell, condition=self.condition, threshold=None),),
            higher_is_positive=held_out.higher_is_positive,
            score_type=str(held_out.dtype),
            data_hash=held_out.data_hash,
            remarks=(said, *(one for one in base.remarks if one not in drawn), *drawn),
            least=None,  # it would speak of another order
        )

    def decide(self, scores: ArrayLike, *, keys: ArrayLike | None = None) -> Decisions:
        """Decide on new objects by the scores of the model; keys as in `ErrorRateTest.decide`."""
        new = self.order.transform(scores)
        numbers = numbers_of_keys(
            [self.test.method], self.test.calibration.draw, scores, keys, new.size
        )
        decisions = decide_read(self.test, new, None, numbers)  # which refuses NaN
        self._look_at(scores)
        return decisions

    def p_values(self, scores: ArrayLike, *, keys: ArrayLike | None = None) -> PValues:
        """Return the p-values that the test compares with alpha; parameters as in `decide`."""
        return self.decide(scores, keys=keys).p_values

    def evaluate(
        self, scores: ArrayLike, labels: ArrayLike, *, keys: ArrayLike | None = None
    ) -> Evaluation:
        """Count both errors on labelled new objects, as `ErrorRateTest.evaluate` does."""
        with warnings.catch_warnings():  # about the range of the new scores, which nobody knows
            warnings.simplefilter("ignore", ScoreRangeWarning)
            found = self.test.evaluate(self.order.transform(scores), labels, keys=keys)
        self._look_at(scores)
        return found

    def _look_at(self, scores: ArrayLike) -> None:
        """Warn if too many scores lie outside the range of the calibration."""
        held_out = self.order.held_out
        values, _ = read_new(held_out, scores, None)
        warn_if_outside(held_out, count_outside(held_out, values), values.size, stacklevel=3)

    def __repr__(self) -> str:
        negative, positive = map(format_value, self.order.held_out.classes)
        rule = say(
            "certificate.rule", positive=positive, condition=self.condition, negative=negative
        )
        return f"ReorderedTest: {aim(self.test)}, {self.test.method!r}\n  {rule}"

    def _repr_html_(self) -> str:
        return self.certificate._repr_html_()


def reorder(calibration: Calibration, shape: str = "best", *, learn: float = 0.5) -> Reordering:
    """Learn in which order scores indicate the positive class, on a random part of the objects.

    Parameters
    ----------
    calibration : Calibration
        Held-out scores of both classes, without groups, clusters, weights or counts.
    shape : {"best", "hull", "rising", "falling", "valley", "peak"}, default="best"
        How the likelihood ratio of positive against negative changes as the score grows. "valley":
        it falls, then rises, so that both ends indicate the positive class; "peak": the middle
        does. "hull" keeps the order of the scores and chooses at random, by keys, within the
        blocks in which the ratio does not follow it: the rule of the ROC curve's concave hull.
        "best" is the one of the other four that separates best among the objects that learn;
        the order as it is, unless another one is better by more than a standard error.
    learn : float, default=0.5
        Share of the objects of each class to learn from.

    Returns
    -------
    Reordering
        Its `control` makes the test.

    Notes
    -----
    **Guarantee.** Tests on the objects that did not learn keep the promise of their method,
    whatever the order, if the calibration objects of each class are independent draws. Which
    objects learn is up to the draw of the calibration, independent of the scores, and the promise
    is over that draw, too: with one of eight fixed seeds that were tried, it failed in 16% of sets
    where 2.4% are due. Nothing is promised about the other error.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(1)
    >>> labels = rng.integers(0, 2, 2000)
    >>> scores = np.where(labels, rng.normal(0, 1, 2000), rng.normal(0, 3, 2000))
    >>> cal = rk.calibrate(scores, labels, random_state=0)
    >>> rk.reorder(cal).shape
    'peak'
    """
    check_choice(shape, "shape", ("best", "hull", *SHAPES))
    learn = check_probability(learn, "learn")
    classes = two_classes(calibration, "Reordering")
    own: Shape = "rising" if calibration.higher_is_positive else "falling"
    draw = calibration.draw
    parts = [
        two_parts(scores, learn, draw.numbers(scores.size, "reorder", i))
        for i, scores in enumerate(classes)
    ]
    learnt, others = zip(*parts, strict=True)
    if shape == "best":
        shape = _best(learnt, own, draw)
    blocks = fitted(learnt[0], learnt[1], own if shape == "hull" else shape)  # type: ignore[arg-type]
    knots = np.unique(np.concatenate(learnt))
    knots = knots[np.isfinite(knots)]
    held_out = replace(
        calibration,
        cells=((others[0],), (others[1],)),
        times=None,
        timing=None,
        provenance=None,
        draw=draw.child("reordered"),
    )
    new = [np.sort(_new_scores(blocks, knots, one, steps=shape == "hull")) for one in others]
    return Reordering(
        shape=shape,
        n_learnt=learnt[0].size + learnt[1].size,
        held_out=held_out,
        calibration=replace(held_out, cells=((new[0],), (new[1],)), higher_is_positive=True),
        _blocks=blocks,
        _knots=knots,
    )


def _best(learnt: tuple[Floats, Floats], own: Shape, draw: Draw) -> Shape:
    """Return the shape that separates best the half of the objects that it was not fitted to."""
    halves = [
        two_parts(one, 0.5, draw.numbers(one.size, "best shape", i)) for i, one in enumerate(learnt)
    ]
    others: list[Shape] = [one for one in SHAPES if one != own]
    found: dict[Shape, float] = {}
    for shape in (own, *others):
        total = 0.0
        for a, b in ((0, 1), (1, 0)):
            blocks = fitted(halves[0][a], halves[1][a], shape)
            knots = np.unique(np.concatenate([halves[0][a], halves[1][a]]))
            new = (_new_scores(blocks, knots[np.isfinite(knots)], one[b]) for one in halves)
            total += separation(*map(np.sort, new), thin_to=None).auc
        found[shape] = total / 2.0
    n0, n1 = (one.size for one in learnt)
    error = ((n0 + n1 + 1) / (12 * n0 * n1)) ** 0.5
    best = max(others, key=found.__getitem__)
    return best if found[best] > found[own] + error else own


def _new_scores(
    blocks: Blocks, knots: Floats, scores: Floats, *, steps: bool = False
) -> NDArray[np.float64]:
    """Return the rank of each score's block, and within it the place of the score.

    The place lies in (0, 1) and follows the direction of the block; with `steps` there is none.
    """
    rank = blocks.order[blocks.place(scores)].astype(np.float64)
    if steps:
        return np.where(np.isnan(scores), np.nan, rank)
    place = _place(knots, scores.astype(np.float64))
    return rank + np.where(blocks.rises[blocks.place(scores)], place, 1.0 - place)


def _place(knots: Floats, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map scores to [0, 1], strictly rising but for rounding, evenly over the knots.

    Examples
    --------
    >>> _place(np.array([1.0, 2.0, 4.0]), np.array([-np.inf, 1.0, 3.0, 7.0, np.inf]))
    array([0.   , 0.25 , 0.625, 0.875, 1.   ])
    """
    if not knots.size:
        knots = np.zeros(1)
    first, last = float(knots[0]), float(knots[-1])
    inside = np.interp(scores, knots, np.arange(1.0, knots.size + 1.0))
    with np.errstate(over="ignore"):
        scale = min((last - first) or 1.0, _LARGEST)
        above = 1.0 - 1.0 / (1.0 + np.maximum(scores - last, 0.0) / scale)
        below = 1.0 - 1.0 / (1.0 + np.maximum(first - scores, 0.0) / scale)
    place: NDArray[np.float64] = (inside + above - below) / (knots.size + 1.0)
    return place


def _whole(blocks: Blocks, i: int) -> Interval:
    low = float(blocks.edges[i - 1]) if i else -np.inf
    high = float(blocks.edges[i]) if i < len(blocks) - 1 else np.inf
    return Interval(low, True, high, has_high=high == np.inf)  # noqa: FBT003 - a pair


def _pieces(order: Reordering, test: ErrorRateTest) -> tuple[Interval, ...]:
    """Return the scores that a test of the new scores calls positive, as intervals."""
    blocks, takes_equal = order._blocks, test.control == "fnr"  # noqa: SLF001
    boundary = test.boundaries[None]
    limit = boundary[0] if boundary is not None else test.thresholds[None]
    if limit is None:
        raise _not_ranked(test.method)
    cut = None
    if np.isfinite(limit) and boundary is None:
        raw = order.held_out.cells[test.null_class][0]
        at = raw[order.transform(raw) == limit]
        if not at.size:
            raise _not_ranked(test.method)
        block = int(blocks.place(at[:1])[0])
        rises = bool(blocks.rises[block])
        end = float(at[0] if rises == takes_equal else at[-1])
        low, has_low, high, has_high = _whole(blocks, block)
        cut = (
            block,
            (
                Interval(end, takes_equal, high, has_high)
                if rises
                else Interval(low, has_low, end, takes_equal)
            ),
        )
    rank = limit if cut is None else float(blocks.order[cut[0]])
    found: list[Interval] = []
    for i in range(len(blocks)):
        if cut is not None and i == cut[0]:
            one = cut[1]
        elif blocks.order[i] > rank:
            one = _whole(blocks, i)
        else:
            continue
        if found and found[-1].high == one.low and found[-1].has_high != one.has_low:
            one = Interval(*found.pop()[:2], one.high, one.has_high)
        found.append(one)
    return tuple(found)


def _not_ranked(method: Method) -> InputError:
    return InputError(
        f"{method!r} does not decide by the rank of a score, and new scores are ranks.",
        parameter="method",
        value=method,
        remedy=("Choose a rank method, such as ", Parameter("method", HighProbability()), "."),
    )


def _interval_text(calibration: Calibration, one: Interval) -> str:
    start, end = (score_text(calibration, limit) for limit in (one.low, one.high))
    start_sign, end_sign = (("<", "<=")[has] for has in (one.has_low, one.has_high))
    if one.low == -np.inf and one.has_low:
        if one.high == np.inf:
            return say("order.always")
        return say("order.below", end_sign=end_sign, to_score=end)
    if one.high == np.inf and one.has_high:
        return say("order.above", start_sign=(">", ">=")[one.has_low], from_score=start)
    signs = {"start_sign": start_sign, "end_sign": end_sign}
    return say("order.between", from_score=start, to_score=end, **signs)
