"""The distribution of the true rate of a deployed test, over calibration sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._numerics._realised_rate import RealisedRate
from ratekeeper._reading._parameters import check_control, check_probability, null_class_of
from ratekeeper._wording._formatting import exact_percent, format_value, percent
from ratekeeper.exceptions import InputError
from ratekeeper.plots import _look as look
from ratekeeper.plots._display import Display
from ratekeeper.plots._subject import counted, rule_of_one_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from numpy.typing import NDArray

    from ratekeeper._numerics._rates import Rate
    from ratekeeper.plots._subject import Subject

_POINTS = 400
_TAIL = 1e-5  # what the picture leaves out at each end


@dataclass(eq=False, repr=False)
class RealisedRateDisplay(Display):
    """Density of the true rate over calibration sets, and how often it is above alpha.

    The true rate of a finished test is one draw from Beta(k, n + 1 - k), or less if scores of the
    population are tied. Make it with
    `from_calibration` or `from_estimator`, of a test of a rank method, and with labelled new
    objects to count the rate on, if there are any. For planning, make it from k and n:
    ``RealisedRateDisplay(RealisedRate(k=5, n=100), alpha=0.05, control="fnr").plot()``. Keywords
    style the density, as in `matplotlib.axes.Axes.plot`.

    Parameters
    ----------
    law : RealisedRate
        The distribution: its k and n.
    alpha : float
        The limit.
    control : {"fnr", "fpr"}
        Which rate.
    counted : Rate, optional
        The rate counted on labelled new objects, drawn beside the distribution.
    group : object, optional
        The group.

    Attributes
    ----------
    line_, area_, alpha_line_, counted_ : artists
        Set by `plot`; `counted_` is None without a count.

    Notes
    -----
    **Guarantee.** The distribution is exact for independent, continuous scores and the population
    of the calibration objects; with ties it is an upper bound. It does not say which rate this
    very test has drawn.

    Examples
    --------
    >>> from ratekeeper.plots import RealisedRateDisplay
    >>> from ratekeeper._numerics._realised_rate import RealisedRate
    >>> display = RealisedRateDisplay(RealisedRate(k=5, n=100), alpha=0.05, control="fnr")
    >>> display
    RealisedRateDisplay of FNR <= 5%, rank 5 of 100 scores; .plot() draws it
    >>> round(display.probability_above, 2)
    0.44
    """

    law: RealisedRate
    alpha: float
    control: str
    counted: Rate | None = None

    def __post_init__(self) -> None:
        self.control = check_control(self.control)
        self.alpha = check_probability(self.alpha, "alpha")
        if not isinstance(self.law, RealisedRate):
            raise InputError(
                parameter="law", value=self.law, need="a RealisedRate, such as RealisedRate(5, 100)"
            )

    @property
    def probability_above(self) -> float:
        """How often, over calibration sets, the true rate is above alpha."""
        return self.law.exceeds(self.alpha)

    @property
    def rates(self) -> NDArray[np.float64]:
        """Where the density is drawn: all but the last 0.001% at each end."""
        low, high = self.law.quantile(_TAIL), self.law.quantile(1 - _TAIL)
        ends = min(low, 0.9 * self.alpha), max(high, min(1.1 * self.alpha, 1.0))
        return np.linspace(*ends, _POINTS)

    @property
    def density(self) -> NDArray[np.float64]:
        """The density at `rates`."""
        return self._density_at(self.rates)

    @property
    def _content(self) -> str:
        limit = f"{self.control.upper()} <= {exact_percent(self.alpha)}"
        return f"{limit}, rank {self.law.k:,} of {self.law.n:,} scores"

    @classmethod
    def _of(cls, subject: Subject, **drawing: Any) -> Self:  # noqa: ANN401 - as in `drawn`
        test = rule_of_one_rate(subject)
        cell = subject.cell(test.control)
        if cell.pooled:
            raise InputError(
                f"Group {format_value(cell.group)} has too few scores of its own and is judged by "
                "the threshold of all groups: nothing is known about its rate.",
                parameter="group",
                value=cell.group,
                remedy="Add calibration objects of the group.",
            )
        if cell.realised is None:
            raise InputError(
                f"The distribution of the true rate is not known: {test.method!r} sets no "
                f"threshold at a rank, or the scores, {test.calibration.origin}, are not held out.",
                parameter="method",
                value=test.method,
                remedy="Use Conformal, HighProbability or another rank method, on held-out scores.",
            )
        rate = counted(subject.wrong())[test.control] if subject.is_new else None
        if rate is not None and not rate.n:
            found = (
                f"None of the objects is {look.SIDES[test.null_class]}: there is no rate to count."
            )
            raise InputError(found, parameter="labels", remedy="Add objects of that class.")
        display = cls(
            law=cell.realised,
            alpha=test.alpha,
            control=test.control,
            counted=rate,
            group=cell.group,
        )
        return display.drawn(**drawing)

    def _draw(self, ax: Axes, **kwargs: object) -> None:
        law, null_class, name = self.law, null_class_of(self.control), self.control.upper()
        rates, density = self.rates, self.density
        text = f"Beta({law.k}, {law.n + 1 - law.k}): average {percent(law.mean)}"
        style = look.styled(kwargs, "line", color=look.COLOURS[null_class], label=text)
        (self.line_,) = ax.plot(rates, density, **style)
        above = np.r_[self.alpha, rates[rates > self.alpha]]
        text = f"above alpha in {percent(self.probability_above)} of calibration sets"
        self.area_ = ax.fill_between(
            above, self._density_at(above), label=text, **look.shading(null_class)
        )
        top = 1.1 * float(density.max())
        limit = f"alpha = {exact_percent(self.alpha)}"
        self.alpha_line_ = look.ruled(ax, "x", self.alpha, limit, "--")
        self.counted_ = self._draw_count(ax, 0.06 * top)
        ax.set_ylim(0, top)
        if self.counted_ is None:
            ax.set_xlim(rates[0], rates[-1])
        look.as_percent(ax.xaxis)
        ax.set_yticks([])
        title = f"True {name} with {law.n:,} calibration {look.SIDES[null_class]}s"
        self.finish(title, f"true {name}", "density over calibration sets", self._notes())

    def _draw_count(self, ax: Axes, height: float) -> ErrorbarContainer | None:
        rate = self.counted
        if rate is None or not rate.n:
            return None
        low, high = rate.interval
        return ax.errorbar(
            rate.rate,
            height,
            xerr=[[rate.rate - low], [high - rate.rate]],
            fmt="o",
            color=look.INK,
            capsize=4,
            label=f"counted on {rate.n:,} new objects: {rate}",
        )

    def _density_at(self, rates: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.stats import beta

        return np.asarray(beta.pdf(rates, self.law.k, self.law.n + 1 - self.law.k))

    def _notes(self) -> list[str]:
        # Where ties are broken at random, or planned without, it is exact.
        known = self.law.beyond is None
        return [] if known else ["exact if no scores are tied; ties make true rates smaller"]
