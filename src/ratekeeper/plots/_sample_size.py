"""What true rates a number of calibration scores gives, and the least that will do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from ratekeeper._formatting import exact_percent, plain_value, show
from ratekeeper._planning import Plan, plan
from ratekeeper._rates import RealisedRate
from ratekeeper._validation import check_count, null_class_of
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Conformal, HighProbability
from ratekeeper.methods._rank import critical_rank
from ratekeeper.plots._display import (
    BLUE,
    INK,
    VERMILLION,
    Display,
    as_percent,
    finish,
    side,
    styled,
)
from ratekeeper.plots._subject import group_place, in_words, read_estimator, read_test

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._control import ErrorRateTest
    from ratekeeper.methods._rank import RankMethod

_POINTS = 300
_LOOKS = ((VERMILLION, "-"), (BLUE, (0, (4, 1.5))))


@dataclass(frozen=True, eq=False)
class SizeCurve:
    """The true rate that one method gives with each number of scores.

    Attributes
    ----------
    method : RankMethod
        The kind of promise.
    smallest_n : int
        The least number of scores with which it can be made.
    mean, low, high : ndarray of float
        Average of the true rate over calibration sets, and the limits it lies between in 90% of
        them; NaN where the promise is impossible.
    """

    method: RankMethod
    smallest_n: int
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(eq=False)
class SampleSizeDisplay(Display):
    """Expected true rate and its 90% interval against the number of calibration scores.

    For the promise on average (`Conformal`) and for the one that holds with probability 1 - delta
    (`HighProbability`). Make it with `from_plan`, `from_calibration` or `from_estimator`.

    Attributes
    ----------
    sizes : ndarray of int
        Numbers of calibration scores of the class whose error is controlled.
    curves : tuple of SizeCurve
        One for each method.
    control : {"fnr", "fpr"}
        Which rate: "fnr" counts positives, "fpr" negatives.
    alpha : float
        The limit.
    n : int or None
        The number at hand, which is marked.
    group : object
        The group, None without groups.
    lines_, bands_, smallest_lines_ : lists of artists, one for each curve
    alpha_line_, n_line_ : artists
        There after `plot`.

    Notes
    -----
    **Guarantee.** The numbers are exact for independent, continuous scores; ties only make true
    rates smaller. They speak of the controlled error alone.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> from ratekeeper.plots import SampleSizeDisplay
    >>> display = SampleSizeDisplay.from_plan(rk.plan("fnr", alpha=0.05, delta=0.05), draw=False)
    >>> [curve.smallest_n for curve in display.curves]
    [19, 59]
    """

    sizes: NDArray[np.intp]
    curves: tuple[SizeCurve, ...]
    control: str
    alpha: float
    n: int | None = None
    group: object = None
    lines_: list[Line2D] = field(init=False, repr=False)
    bands_: list[PolyCollection] = field(init=False, repr=False)
    smallest_lines_: list[Line2D] = field(init=False, repr=False)
    alpha_line_: Line2D = field(init=False, repr=False)
    n_line_: Line2D | None = field(init=False, repr=False)

    @classmethod
    def from_plan(
        cls,
        plan: Plan,
        *,
        sizes: ArrayLike | None = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show what a plan means at every sample size.

        Parameters
        ----------
        plan : Plan
            From `ratekeeper.plan`. Without delta there is no curve of `HighProbability`; its n is
            marked.
        sizes : array-like of int, optional
            Numbers of scores; by default some hundred up to 50 times the least.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        draw : bool, default=True
            False for the numbers alone, which need no matplotlib.
        **kwargs
            Style of the lines of average rates, as in `matplotlib.axes.Axes.plot`.
        """
        if not isinstance(plan, Plan):
            raise InputError(
                f'A plan such as rk.plan("fnr", alpha=0.05) is needed, not {show(plan)}.'
            )
        return cls._of(plan, sizes, None).drawn(ax, kwargs, draw=draw)

    @classmethod
    def from_calibration(
        cls,
        test: ErrorRateTest,
        *,
        delta: float | None = None,
        group: object = None,
        sizes: ArrayLike | None = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show what more or fewer calibration scores would do for a test.

        Parameters
        ----------
        test : ErrorRateTest
            Its control, alpha and number of scores are taken.
        delta : float, optional
            Chance that the stricter promise fails; that of the test's method, or else 0.05.
        group : object, optional
            The group, if there are groups.
        sizes, ax, draw, **kwargs
            As in `from_plan`.
        """
        test = read_test(test)
        index = group_place(test.calibration, group)
        n = test.calibration.cells[test.null_class][index or 0].size
        if delta is None:
            delta = getattr(test.method, "delta", 0.05)
        # A thin group may have none at all, and then no number to mark.
        found = plan(test.control, test.alpha, delta=delta, n=n or None)
        return cls._of(found, sizes, plain_value(group)).drawn(ax, kwargs, draw=draw)

    @classmethod
    def from_estimator(
        cls,
        clf: object,
        *,
        delta: float | None = None,
        group: object = None,
        sizes: ArrayLike | None = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show what more or fewer rows would do for a fitted controller.

        Parameters
        ----------
        clf : ErrorRateController
            Fitted.
        delta, group, sizes, ax, draw, **kwargs
            As in `from_calibration`.
        """
        return cls.from_calibration(
            read_estimator(clf), delta=delta, group=group, sizes=sizes, ax=ax, draw=draw, **kwargs
        )

    @classmethod
    def _of(cls, plan: Plan, sizes: ArrayLike | None, group: object) -> Self:
        methods: list[RankMethod] = [Conformal()]
        if plan.delta is not None:
            methods.append(HighProbability(plan.delta))
        numbers = _sizes(plan) if sizes is None else _read_sizes(sizes)
        curves = tuple(_curve(method, plan.alpha, numbers) for method in methods)
        return cls(numbers, curves, plan.control, plan.alpha, plan.n, group)

    def plot(self, ax: Axes | None = None, **kwargs: object) -> Self:
        """Draw it; `**kwargs` style the lines of average rates."""
        ax = self.take(ax)
        from matplotlib.ticker import LogLocator

        name, who = self.control.upper(), side(null_class_of(self.control))
        self.lines_, self.bands_, self.smallest_lines_ = [], [], []
        self._draw_curves(ax, kwargs)
        self.alpha_line_ = ax.axhline(
            self.alpha, color=INK, linestyle="--", label=f"alpha = {exact_percent(self.alpha)}"
        )
        for curve, line in zip(self.curves, self.lines_, strict=True):
            least = ax.axvline(
                curve.smallest_n,
                color=line.get_color(),
                linestyle=":",
                label=f"needs {curve.smallest_n:,} {who}s or more",
            )
            self.smallest_lines_.append(least)
        self.n_line_ = None
        if self.n is not None:
            text = f"at hand: {self.n:,}"
            self.n_line_ = ax.axvline(self.n, color=INK, linewidth=1.3, label=text)
        ax.set_xscale("log")
        ax.set_ylim(0, self._top())
        ax.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_minor_formatter("")
        as_percent(ax.yaxis)
        finish(
            ax,
            title=f"What a number of calibration {who}s gives{in_words(self.group)}",
            x=f"calibration {who}s",
            y=f"true {name}",
        )
        return self

    def _draw_curves(self, ax: Axes, kwargs: Mapping[str, object]) -> None:
        from matplotlib.lines import Line2D

        for curve, (colour, dashes) in zip(self.curves, _LOOKS, strict=False):
            band = ax.fill_between(
                self.sizes,
                curve.low,
                curve.high,
                facecolor=(colour, 0.16),
                edgecolor=(colour, 0.8),
                linewidth=0.6,
                linestyle=dashes,
            )
            self.bands_.append(band)
            style = styled(
                kwargs,
                Line2D,
                color=colour,
                linestyle=dashes,
                linewidth=1.8,
                label=f"{curve.method!r}: average, and 90% of sets",
            )
            self.lines_ += ax.plot(self.sizes, curve.mean, **style)

    def _top(self) -> float:
        highs = np.concatenate([curve.high for curve in self.curves])
        most = float(np.nanmax(highs)) if np.isfinite(highs).any() else self.alpha
        return min(1.0, max(1.08 * most, 1.5 * self.alpha))


def _curve(method: RankMethod, alpha: float, sizes: NDArray[np.intp]) -> SizeCurve:
    rows = np.full((sizes.size, 3), np.nan)
    for i, n in enumerate(sizes.tolist()):
        k = critical_rank(method, n, alpha)
        if 1 <= k <= n:
            law = RealisedRate(k, n)
            rows[i] = law.mean, *law.interval
    return SizeCurve(method, method.smallest_n(alpha), rows[:, 0], rows[:, 1], rows[:, 2])


def _sizes(plan: Plan) -> NDArray[np.intp]:
    least = max(1, plan.n_marginal // 2)
    most = max(50 * (plan.n_high_probability or plan.n_marginal), 2 * (plan.n or 0))
    numbers = np.geomspace(least, most, _POINTS)
    special = [plan.n_marginal, plan.n_high_probability, plan.n]
    # With the least among them, so that each line begins where its promise does.
    return np.unique(np.r_[np.rint(numbers), [n for n in special if n]]).astype(np.intp)


def _read_sizes(sizes: ArrayLike) -> NDArray[np.intp]:
    given = np.asarray(sizes)
    if given.ndim != 1 or not given.size:
        raise InputError(f"sizes={show(sizes)} must be a list of whole numbers, such as [50, 100].")
    return np.unique([check_count(n, "sizes", least=1) for n in given.tolist()]).astype(np.intp)
