"""The law of the true rate of a deployed test, over calibration sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from ratekeeper._formatting import exact_percent, percent
from ratekeeper._rates import Rate, RealisedRate
from ratekeeper._validation import check_control, check_probability, null_class_of
from ratekeeper.exceptions import InputError
from ratekeeper.plots._display import (
    COLOURS,
    HATCHES,
    INK,
    Display,
    as_percent,
    finish,
    side,
    styled,
)
from ratekeeper.plots._subject import (
    counted,
    group_place,
    in_words,
    of_new,
    read_estimator,
    read_test,
    scores_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._control import ErrorRateTest

_POINTS = 400
_TAIL = 1e-5  # what the picture leaves out at each end


@dataclass(eq=False)
class RealisedRateDisplay(Display):
    """Density of the true rate over calibration sets, and how often it is above alpha.

    The true rate of a finished test is one draw from Beta(k, n + 1 - k). Make it with
    `from_calibration` or `from_estimator`, or for planning from a law:
    ``RealisedRateDisplay(RealisedRate(k=5, n=100), alpha=0.05, control="fnr").plot()``.

    Parameters
    ----------
    law : RealisedRate
        Its k and n.
    alpha : float
        The limit.
    control : {"fnr", "fpr"}
        Which rate.
    tied : bool, default=False
        Whether calibration scores are tied, which makes true rates smaller than the law says.
    approximate : bool, default=False
        Whether the scores were cross-fitted, so that the law is only approximate.
    counted : Rate, optional
        The rate counted on labelled new objects, drawn beside the law.
    group : object, optional
        The group.

    Attributes
    ----------
    line_, area_, alpha_line_, counted_ : artists
        There after `plot`; `counted_` is None without a count.

    Notes
    -----
    **Guarantee.** The law is exact for independent, continuous scores and the population of the
    calibration objects; with ties it is an upper bound. It does not say which rate this very
    test has drawn.

    Examples
    --------
    >>> from ratekeeper.plots import RealisedRateDisplay
    >>> from ratekeeper._rates import RealisedRate
    >>> display = RealisedRateDisplay(RealisedRate(k=5, n=100), alpha=0.05, control="fnr")
    >>> round(display.probability_above, 2)
    0.44
    """

    law: RealisedRate
    alpha: float
    control: str
    tied: bool = False
    approximate: bool = False
    counted: Rate | None = None
    group: object = None
    line_: Line2D = field(init=False, repr=False)
    area_: PolyCollection = field(init=False, repr=False)
    alpha_line_: Line2D = field(init=False, repr=False)
    counted_: ErrorbarContainer | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.control = check_control(self.control)
        self.alpha = check_probability(self.alpha, "alpha")
        if not isinstance(self.law, RealisedRate):
            raise InputError(
                f"law={self.law!r} must be a RealisedRate, such as RealisedRate(5, 100)."
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

    @classmethod
    def from_estimator(
        cls,
        clf: object,
        X: object = None,  # noqa: N803 - scikit-learn's name
        y: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        group: object = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the law behind a fitted controller, and what labelled objects say.

        Parameters
        ----------
        clf : ErrorRateController
            Fitted.
        X, y : optional
            Objects and labels, neither trained on nor calibrated on, to count the rate on.
        groups, group
            Groups of the objects, and the one to show, if there were groups in `fit`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        draw : bool, default=True
            False for the numbers alone, which need no matplotlib.
        **kwargs
            Style of the density, as in `matplotlib.axes.Axes.plot`.
        """
        test = read_estimator(clf)
        scores = None if X is None else scores_of(clf, X)
        return cls.from_calibration(
            test,
            scores=scores,
            labels=y,
            groups=groups,
            group=group,
            ax=ax,
            draw=draw,
            **kwargs,
        )

    @classmethod
    def from_calibration(
        cls,
        test: ErrorRateTest,
        *,
        scores: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        group: object = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the law behind a test, and what labelled new objects say.

        Parameters
        ----------
        test : ErrorRateTest
            Of a rank method; others have no such law.
        scores, labels : array-like of shape (n_objects,), optional
            New objects to count the rate on.
        groups, group, ax, draw, **kwargs
            As in `from_estimator`.
        """
        test = read_test(test)
        index = group_place(test.calibration, group)
        cell = test.certificate.cells[index or 0]
        if cell.pooled:
            raise InputError(
                f"Group {cell.group!r} has too few scores of its own and is judged by the "
                "threshold of all: nothing is known about its rate. Add calibration objects of "
                "the group."
            )
        if cell.realised is None:
            raise InputError(
                f"{test.method!r} sets no threshold at a rank, so the law of its true rate is not "
                "known. Use Conformal, HighProbability or another rank method."
            )
        display = cls(
            law=cell.realised,
            alpha=test.alpha,
            control=test.control,
            tied=cell.tied,
            approximate=test.calibration.origin == "cross-fitted",
            counted=_counted(test, scores, labels, groups, group),
            group=cell.group,
        )
        return display.drawn(ax, kwargs, draw=draw)

    def plot(self, ax: Axes | None = None, **kwargs: object) -> Self:
        """Draw it; `**kwargs` style the density."""
        ax = self.take(ax)
        from matplotlib.lines import Line2D

        law, null_class = self.law, null_class_of(self.control)
        name = self.control.upper()
        rates, density = self.rates, self.density
        style = styled(
            kwargs,
            Line2D,
            color=COLOURS[null_class],
            linewidth=1.8,
            label=f"Beta({law.k}, {law.n + 1 - law.k}): average {percent(law.mean)}",
        )
        (self.line_,) = ax.plot(rates, density, **style)
        self.area_ = self._shade(ax)
        top = 1.1 * float(density.max())
        self.alpha_line_ = ax.axvline(
            self.alpha, color=INK, linestyle="--", label=f"alpha = {exact_percent(self.alpha)}"
        )
        self.counted_ = self._draw_count(ax, 0.06 * top)
        ax.set_ylim(0, top)
        if self.counted_ is None:
            ax.set_xlim(rates[0], rates[-1])
        as_percent(ax.xaxis)
        ax.set_yticks([])
        who = f"{law.n:,} calibration {side(null_class)}s"
        finish(
            ax,
            title=f"True {name} with {who}{in_words(self.group)}",
            x=f"true {name}",
            y="density over calibration sets",
            notes=self._notes(),
        )
        return self

    def _shade(self, ax: Axes) -> PolyCollection:
        null_class = null_class_of(self.control)
        above = np.r_[self.alpha, self.rates[self.rates > self.alpha]]
        return ax.fill_between(
            above,
            self._density_at(above),
            facecolor=(COLOURS[null_class], 0.3),
            edgecolor=(COLOURS[null_class], 0.9),
            hatch=HATCHES[null_class],
            linewidth=0,
            label=f"above alpha in {percent(self.probability_above)} of calibration sets",
        )

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
            color=INK,
            capsize=4,
            label=f"counted on {rate.n:,} new objects: {rate}",
        )

    def _density_at(self, rates: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.stats import beta

        return np.asarray(beta.pdf(rates, self.law.k, self.law.n + 1 - self.law.k))

    def _notes(self) -> list[str]:
        notes = []
        if self.tied:
            notes.append("scores are tied: true rates are at most as this law says")
        if self.approximate:
            notes.append("scores are cross-fitted: the law is approximate")
        return notes


def _counted(
    test: ErrorRateTest,
    scores: ArrayLike | None,
    labels: ArrayLike | None,
    groups: ArrayLike | None,
    group: object,
) -> Rate | None:
    if scores is None and labels is None:
        return None
    if scores is None or labels is None:
        raise InputError("Objects and their labels go together: pass both, or neither.")
    rate = counted(of_new(test, scores, labels, groups, group).wrong())[test.control]
    if not rate.n:
        raise InputError(
            f"None of the objects is {side(test.null_class)}, so the {test.control.upper()} cannot "
            "be counted. Add labelled objects of that class."
        )
    return rate
