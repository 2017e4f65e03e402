"""The course of a watched rate, and of the evidence against its promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from ratekeeper._numerics._sequential import intervals
from ratekeeper._wording._formatting import exact_percent
from ratekeeper._wording._sentences import say
from ratekeeper.exceptions import InputError
from ratekeeper.monitoring._monitor import Monitor
from ratekeeper.monitoring._monitor._trace import COLUMNS
from ratekeeper.plots import _look as look
from ratekeeper.plots._display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ratekeeper._numerics._rates import Share
    from ratekeeper.monitoring._monitor._panel import Alarm
    from ratekeeper.plots._subject import Subject

_TITLES = {"limit_broken": "limit broken", "unlike_calibration": "not like the calibration"}


@dataclass(eq=False, repr=False)
class MonitorDisplay(Display):
    """The rate over outcomes with its limits at all times, and the evidence below an alarm line.

    Make it with `from_monitor`. Of a long course at most 511 points are kept, evenly spaced.

    Options
    -------
    share : str, optional
        The rate to show, required for a test of both rates.
    **kwargs
        Style of the line of the rate, as in `matplotlib.axes.Axes.plot`.

    Attributes
    ----------
    share, alpha, delta
        The rate, its limit, and the probability of a false alarm.
    outcomes : ndarray of int
        Numbers of outcomes of this rate.
    rate, low, high : ndarray
        The rate after each, with missing labels as is kindest to the test, and limits of the mean
        rate that hold at all times together, but for a chance delta, with any missing labels; with
        an audit, if the rate is constant.
    evidence : dict of str to ndarray
        For each verdict the e-value after each.
    alarms : list of Alarm
        When verdicts were reached; their outcomes are of all rates together.
    audited : bool
        Whether labels are those of alerts and of a random audit.
    line_, band_, evidence_ : artists
        Set by `plot`.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.plots import MonitorDisplay
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 2000)
    >>> test = rk.calibrate(rng.normal(2 * labels), labels).control("fnr", alpha=0.05)
    >>> monitor = rk.Monitor(test)
    >>> ids = np.arange(500)
    >>> _ = monitor.record(ids, ids, test.decide(rng.normal(size=500)))
    >>> _ = monitor.update(ids, np.ones(500, int))
    >>> MonitorDisplay.from_monitor(monitor, draw=False)
    MonitorDisplay of the FNR of 500 outcomes, limit 5%; .plot() draws it
    """

    share: Share
    alpha: float
    delta: float
    outcomes: NDArray[np.int64]
    rate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    evidence: dict[str, NDArray[np.float64]]
    alarms: list[Alarm]
    audited: bool = False

    @classmethod
    def from_monitor(
        cls,
        monitor: Monitor,
        *,
        share: Share | None = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the course of a monitor.

        Parameters
        ----------
        monitor : Monitor
            With outcomes that are counted.
        share : str, optional
            The rate to show, required for a test of both rates.
        ax, draw, **kwargs
            As described in `ratekeeper.plots` and by the class. The evidence is drawn below the
            rate, in the same axes, on a scale of its own at the right.
        """
        if not isinstance(monitor, Monitor):
            raise InputError(parameter="monitor", value=monitor, need="a Monitor")
        alarms = monitor.alarms  # which counts, and refuses what cannot be said
        rates = {rate.share: rate for rate in monitor.watched}
        if share is None and len(rates) > 1:
            need = " or ".join(f'"{name}"' for name in rates)
            raise InputError(parameter="share", value=share, need=need)
        chosen = rates.get(share) if share is not None else next(iter(rates.values()))
        if chosen is None:
            need = " or ".join(f'"{name}"' for name in rates)
            raise InputError(parameter="share", value=share, need=need)
        course = dict(zip(COLUMNS, chosen.trace.rows.T, strict=True))
        counts = chosen.trace.rows[:, 1:5].astype(np.int64)
        low = intervals(counts[:, 0], counts[:, 1], monitor.delta)[0].tolist()
        high = intervals(counts[:, 2], counts[:, 3], monitor.delta)[1].tolist()
        among = np.array(
            [chosen.among_all(x) for x in (course["errors"] / course["counted"]).tolist()]
        )
        evidence = {
            name: np.exp(course[column])
            for name, column in zip(_TITLES, COLUMNS[-2:], strict=True)
            if not np.isnan(course[column]).any()
        }
        return cls(
            chosen.share,
            chosen.alpha,
            monitor.delta,
            course["outcomes"].astype(np.int64),
            among,
            np.array([chosen.among_all(x) for x in low]),
            np.array([chosen.among_all(x) for x in high]),
            evidence,
            alarms,
            audited=not isinstance(monitor.labels, str),
        ).drawn(ax=ax, draw=draw, **kwargs)

    @classmethod
    def _of(cls, subject: Subject, **options: Any) -> NoReturn:  # noqa: ANN401
        del subject, options
        found = "The course of a rate is that of a monitor."
        raise InputError(found, remedy="Use MonitorDisplay.from_monitor(monitor).")

    @property
    def _content(self) -> str:
        n = int(self.outcomes[-1]) if self.outcomes.size else 0
        name = say(f"rate.{self.share}")
        return f"the {name} of {n:,} outcomes, limit {exact_percent(self.alpha)}"

    def _draw(self, ax: Axes, **kwargs: object) -> None:
        name = say(f"rate.{self.share}")
        constant = " if the rate is constant" if self.audited else ""
        self.band_ = ax.fill_between(
            self.outcomes,
            self.low,
            self.high,
            facecolor=(look.BLUE, 0.16),
            edgecolor=(look.BLUE, 0.8),
            linewidth=0.6,
            label=f"limits at all times{constant}, but for {self.delta:g}",
        )
        style = look.styled(kwargs, "line", color=look.BLUE, label=f"{name} so far")
        (self.line_,) = ax.plot(self.outcomes, self.rate, **style)
        look.ruled(ax, "y", self.alpha, f"limit {exact_percent(self.alpha)}", "--")
        top = max(4 * self.alpha, 1.3 * float(self.rate[self.rate.size // 10 :].max(initial=0.0)))
        ax.set_ylim(0, min(1.0, top))
        look.as_percent(ax.yaxis)
        right = ax.twinx()
        right.set_yscale("log")
        right.set_ylabel("evidence (e-value)")
        right.spines[["top"]].set_visible(False)
        self.evidence_ = []
        for (verdict, values), dashes in zip(self.evidence.items(), ("-", ":"), strict=False):
            (line,) = right.plot(
                self.outcomes,
                np.maximum(values, 1e-6),
                color=look.VERMILLION,
                linestyle=dashes,
                linewidth=1.2,
                alpha=0.8,
            )
            ax.plot(
                [],
                [],
                color=look.VERMILLION,
                linestyle=dashes,
                label=f"evidence: {_TITLES[verdict]}",
            )
            self.evidence_.append(line)
        right.axhline(1.0 / self.delta, color=look.VERMILLION, linewidth=0.8)
        ax.plot([], [], color=look.VERMILLION, linewidth=0.8, label=f"alarm at {1 / self.delta:g}")
        self.finish(f"{name} at work", "outcomes, in the order of their decisions", name)
