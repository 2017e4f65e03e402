"""What true rates a number of calibration scores gives, and the least that will do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._numerics._realised_rate import RealisedRate
from ratekeeper._reading._parameters import check_count, null_class_of
from ratekeeper._wording._formatting import exact_percent
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Conformal, HighProbability
from ratekeeper.methods._rank import critical_rank
from ratekeeper.planning._promise import Plan, plan
from ratekeeper.plots import _look as look
from ratekeeper.plots._display import Display
from ratekeeper.plots._subject import rule_of_one_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.methods._rank import RankMethod
    from ratekeeper.plots._subject import Subject

_POINTS = 300


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


@dataclass(eq=False, repr=False)
class SampleSizeDisplay(Display):
    """Expected true rate and its 90% interval against the number of calibration scores.

    For the promise on average (`Conformal`) and for the one that holds with probability 1 - delta
    (`HighProbability`). Make it with `from_plan`, or of a test with `from_calibration` or
    `from_estimator`: its control, alpha and number of scores are taken.

    Options
    -------
    delta : float, optional
        Chance that the stricter promise fails; that of the test's method, or else 0.05.
    sizes : array-like of int, optional
        Numbers of scores; by default some hundred up to 50 times the least.
    **kwargs
        Style of the lines of average rates, as in `matplotlib.axes.Axes.plot`.

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
    lines_, bands_, smallest_lines_ : lists of artists, one for each curve
    alpha_line_, n_line_ : artists
        Set by `plot`.

    Notes
    -----
    **Guarantee.** The numbers are exact for independent, continuous scores; ties only make true
    rates smaller. They are about the controlled error alone.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> from ratekeeper.plots import SampleSizeDisplay
    >>> display = SampleSizeDisplay.from_plan(rk.plan("fnr", alpha=0.05, delta=0.05), draw=False)
    >>> display
    SampleSizeDisplay of FNR <= 5%, 9 to 2,950 scores; .plot() draws it
    >>> [curve.smallest_n for curve in display.curves]
    [19, 59]
    """

    sizes: NDArray[np.intp]
    curves: tuple[SizeCurve, ...]
    control: str
    alpha: float
    n: int | None = None

    @property
    def _content(self) -> str:
        limit = f"{self.control.upper()} <= {exact_percent(self.alpha)}"
        return f"{limit}, {self.sizes[0]:,} to {self.sizes[-1]:,} scores"

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
        sizes, ax, draw, **kwargs
            As described in `ratekeeper.plots` and by the class.
        """
        if not isinstance(plan, Plan):
            raise InputError(
                parameter="plan", value=plan, need='a plan, such as rk.plan("fnr", alpha=0.05)'
            )
        if plan.control == "alerts":
            need = 'a plan for FNR or FPR, such as rk.plan("fnr", alpha=0.05)'
            raise InputError(parameter="plan", value=plan.control, need=need)
        return cls._of_plan(plan, sizes, None).drawn(ax=ax, draw=draw, **kwargs)

    @classmethod
    def _of(
        cls,
        subject: Subject,
        *,
        delta: float | None = None,
        sizes: ArrayLike | None = None,
        **drawing: Any,  # noqa: ANN401 - as in `Display.drawn`
    ) -> Self:
        test = rule_of_one_rate(subject)
        if subject.is_new:
            found = "Sample sizes do not depend on new objects."
            raise InputError(found, parameter="scores", remedy="Leave them out.")
        if delta is None:
            delta = getattr(test.method, "delta", 0.05)
        # A thin group may have none at all, and then no number to mark.
        n = subject.cells[test.null_class].size or None
        planned = plan(test.control, test.alpha, delta=delta, n=n)
        return cls._of_plan(planned, sizes, subject.group).drawn(**drawing)

    @classmethod
    def _of_plan(cls, plan: Plan, sizes: ArrayLike | None, group: object) -> Self:
        methods: list[RankMethod] = [Conformal()]
        if plan.delta is not None:
            methods.append(HighProbability(plan.delta))
        numbers = _sizes(plan) if sizes is None else _read_sizes(sizes)
        curves = tuple(_curve(method, plan.alpha, numbers) for method in methods)
        return cls(numbers, curves, plan.control, plan.alpha, plan.n, group=group)

    def _draw(self, ax: Axes, **kwargs: object) -> None:
        from matplotlib.ticker import LogLocator

        name, who = self.control.upper(), look.SIDES[null_class_of(self.control)]
        self.lines_: list[Line2D] = []
        self.bands_: list[PolyCollection] = []
        looks = zip(look.COLOURS[::-1], look.LINES[::-1], strict=True)
        for curve, (colour, dashes) in zip(self.curves, looks, strict=False):
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
            text = f"{curve.method!r}: average, and 90% of sets"
            style = look.styled(kwargs, "line", color=colour, linestyle=dashes, label=text)
            self.lines_ += ax.plot(self.sizes, curve.mean, **style)
        limit = f"alpha = {exact_percent(self.alpha)}"
        self.alpha_line_ = look.ruled(ax, "y", self.alpha, limit, "--")
        self.smallest_lines_: list[Line2D] = []
        for curve, line in zip(self.curves, self.lines_, strict=True):
            text = f"needs {curve.smallest_n:,} {who}s or more"
            least = look.ruled(ax, "x", curve.smallest_n, text)
            least.set_color(line.get_color())
            self.smallest_lines_.append(least)
        self.n_line_ = None
        if self.n is not None:
            self.n_line_ = look.ruled(ax, "x", self.n, f"at hand: {self.n:,}", "-")
        ax.set_xscale("log")
        ax.set_ylim(0, self._top())
        ax.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_minor_formatter("")
        look.as_percent(ax.yaxis)
        title = f"What a number of calibration {who}s gives"
        self.finish(title, f"calibration {who}s", f"true {name}")

    def _top(self) -> float:
        highs = np.concatenate([curve.high for curve in self.curves])
        most = float(np.nanmax(highs)) if np.isfinite(highs).any() else self.alpha
        return min(1.0, max(1.08 * most, 1.5 * self.alpha))


def _curve(method: RankMethod, alpha: float, sizes: NDArray[np.intp]) -> SizeCurve:
    rows = np.full((sizes.size, 3), np.nan)
    for i, n in enumerate(sizes.tolist()):
        k = critical_rank(method, n, alpha)
        if 1 <= k <= n:
            rate = RealisedRate(k, n)
            rows[i] = rate.mean, *rate.interval
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
        need = "a list of whole numbers, such as [50, 100]"
        raise InputError(parameter="sizes", value=sizes, need=need)
    return np.unique([check_count(n, "sizes", least=1) for n in given.tolist()]).astype(np.intp)
