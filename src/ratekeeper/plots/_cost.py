"""What errors cost at every threshold, and where the cheapest test stands."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._wording._formatting import exact_percent
from ratekeeper.control._cost import Cheapest, CostCurve, amount
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.plots import _look as look
from ratekeeper.plots._display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ratekeeper.plots._subject import Subject

_TERMS = ("cost_fn", "cost_fp", "prevalence", "delta", "fnr", "fpr")
_HIGHEST = 3.0  # times the bound of the test


@dataclass(eq=False, repr=False)
class CostDisplay(Display):
    """The expected cost per object over the threshold, its band, and the cheapest test.

    Make it with `from_cheapest`, or of a calibration without groups with `from_calibration` or
    `from_estimator`. The region where a rate that was to be kept is not shown to be is shaded.

    Options
    -------
    cost_fn, cost_fp, prevalence, delta, fnr, fpr
        As in `Calibration.cheapest`.
    **kwargs
        Style of the curve, as in `matplotlib.axes.Axes.plot`.

    Attributes
    ----------
    cheapest : Cheapest
        The cheapest test and its cost; see `Calibration.cheapest`.
    line_, band_, point_, alternatives_, refused_ : artists
        Set by `plot`; `alternatives_` has those in sight, and `refused_` is None if no rate was to
        be kept.

    Notes
    -----
    **Guarantee.** The whole true curve lies at or below the upper edge of the band except with
    probability delta over calibration sets, and at or above the lower edge likewise, so any
    threshold may be chosen by looking at it. The line itself is optimistic where it is lowest.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.plots import CostDisplay
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 1000)
    >>> cal = rk.calibrate(rng.normal(2 * labels), labels)
    >>> CostDisplay.from_cheapest(cal.cheapest(cost_fn=10, cost_fp=1), draw=False)
    CostDisplay of a miss at 10 and a false alarm at 1, at 400 thresholds; .plot() draws it
    """

    cheapest: Cheapest

    @property
    def curve(self) -> CostCurve:
        """The cost at thresholds across the scores, with its band."""
        return self.cheapest.curve

    @property
    def _content(self) -> str:
        terms = self.cheapest.terms
        costs = f"a miss at {amount(terms.cost_fn)} and a false alarm at {amount(terms.cost_fp)}"
        return f"{costs}, at {self.curve.threshold.size:,} thresholds"

    @classmethod
    def from_cheapest(
        cls, cheapest: Cheapest, *, ax: Axes | None = None, draw: bool = True, **kwargs: object
    ) -> Self:
        """Show what a search for the cheapest threshold has found.

        Parameters
        ----------
        cheapest : Cheapest
            From `Calibration.cheapest`.
        ax, draw, **kwargs
            As described in `ratekeeper.plots` and by the class.
        """
        if not isinstance(cheapest, Cheapest):
            raise InputError(
                parameter="cheapest", value=cheapest, need="what Calibration.cheapest returns"
            )
        return cls(cheapest).drawn(ax=ax, draw=draw, **kwargs)

    @classmethod
    def _of(cls, subject: Subject, **options: Any) -> Self:  # noqa: ANN401 - of both below
        if subject.is_new or subject.calibration is None:
            found = "The cheapest threshold is found on the calibration objects."
            raise InputError(found, parameter="scores", remedy="Leave new objects out.")
        costs = {name: options.pop(name) for name in _TERMS if name in options}
        if missing := [name for name in ("cost_fn", "cost_fp") if name not in costs]:
            found = "What do errors cost? There is no cheapest threshold without it."
            both = (Parameter("cost_fn", 10), " and ", Parameter("cost_fp", 1))
            raise InputError(found, parameter=missing[0], remedy=("Pass costs, as in ", *both, "."))
        return cls(subject.calibration.cheapest(**costs)).drawn(**options)

    def _draw(self, ax: Axes, **kwargs: object) -> None:
        found, terms = self.cheapest, self.cheapest.terms
        seen = np.isfinite(self.curve.threshold)
        threshold, cost, low, high = (values[seen] for values in self.curve[:4])
        self.band_ = ax.fill_between(
            threshold,
            low,
            high,
            facecolor=(look.BLUE, 0.16),
            edgecolor=(look.BLUE, 0.8),
            linewidth=0.6,
            label=f"true curve, each edge but for {terms.delta:g}",
        )
        style = look.styled(kwargs, "line", color=look.BLUE, label="counted at calibration")
        (self.line_,) = ax.plot(threshold, cost, **style)
        self.alternatives_: list[Line2D] = [
            look.ruled(ax, "y", other, f"calling {whom} positive: {amount(other)}", dashes)
            for (whom, other), dashes in zip(found.alternatives.items(), ("--", ":"), strict=True)
            if other <= self._top()
        ]
        self.refused_ = None
        if terms.limits:
            limits = " and ".join(
                f"{rate.upper()} at most {exact_percent(most)}"
                for rate, most in terms.limits.items()
            )
            self.refused_ = ax.fill_between(
                threshold,
                0.0,
                1.0,
                where=~self.curve.kept[seen],
                transform=ax.get_xaxis_transform(),
                facecolor=(look.FAINT, 0.12),
                edgecolor=(look.FAINT, 0.5),
                hatch="//",
                linewidth=0,
                zorder=0,
                label=f"not shown: {limits}",
            )
        (self.point_,) = ax.plot(
            found.threshold,
            found.cost,
            "o",
            color=look.VERMILLION,
            markersize=9,
            markeredgecolor="white",
            zorder=4,
            label=f"the test: {amount(found.cost)}, at most {amount(found.bound, ROUND_CEILING)}",
        )
        ends = threshold[[0, -1]]
        ax.set(xlim=ends if ends[0] < ends[1] else None, ylim=(0, self._top()))
        self.finish("What errors cost", "threshold on the score", "expected cost per object")

    def _top(self) -> float:
        least = min(self.cheapest.alternatives.values())
        seen = max(_HIGHEST * self.cheapest.bound, 1.2 * least)
        return min(seen, 1.05 * max(float(self.curve.high.max()), least))
