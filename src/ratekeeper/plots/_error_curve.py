"""Both errors at every threshold, and where the test stands among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._reading._parameters import check_choice, check_probability
from ratekeeper._wording._formatting import exact_percent, percent
from ratekeeper.diagnostics import AccuracyLine, ErrorCurve, equal_accuracy_line, fnr_fpr_curve
from ratekeeper.exceptions import InputError
from ratekeeper.plots import _look as look
from ratekeeper.plots._display import ScoreDisplay
from ratekeeper.plots._subject import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

    from ratekeeper._numerics._rates import Rate
    from ratekeeper.plots._subject import Subject

_FINEST = 1500  # points to a side that a picture can show
_SHORT = 0.01  # of a side: a piece on which no bend can be seen
_DASHES = ((0, (6, 2)), (0, (2, 2)), (0, (6, 2, 2, 2)), (0, (1, 3)))


@dataclass(eq=False, repr=False)
class ErrorCurveDisplay(ScoreDisplay):
    """The FNR-FPR curve over all thresholds, lines of equal accuracy, and the test's own point.

    The ROC curve upside down: FNR in place of TPR, so better is nearer to the corner at 0. Make
    it with `from_estimator`, `from_predictions` or `from_calibration`.

    Options
    -------
    weight_positive : float, optional
        Share of positives in the population; by default that among the objects.
    accuracies : sequence of float, optional
        Which lines of equal accuracy to draw; by default that of the best threshold and that of
        the test. An empty list draws none.
    scale : {"log", "linear"}, default="log"
        Of the axes; see `plot`.
    **kwargs
        Style of the curve, as in `matplotlib.axes.Axes.plot`.

    Attributes
    ----------
    curve : ErrorCurve
        Counted errors at every threshold; see `diagnostics.fnr_fpr_curve`.
    lines : tuple of AccuracyLine
        Lines on which the accuracy is the same.
    point : dict of Rate
        ``"fnr"`` and ``"fpr"`` of the test on these objects; empty without a test.
    promised : dict of float
        The limit that the test keeps.
    weight_positive : float
        Share of positives in the population, on which accuracy depends.
    notes : tuple of str
        What a reader of the picture has to know.
    line_, accuracy_lines_, point_, limits_ : artists
        Set by `plot`; `point_` is None without a test.

    Notes
    -----
    A threshold chosen by looking at this curve has a true rate above the one seen more often
    than not. The test accounts for that.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.plots import ErrorCurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 1000)
    >>> cal = rk.calibrate(rng.normal(2 * labels), labels)
    >>> test = cal.control("fnr", alpha=0.05, method=rk.Conformal())
    >>> display = ErrorCurveDisplay.from_calibration(test, draw=False)
    >>> display
    ErrorCurveDisplay of 1,000 objects at 1,001 thresholds; .plot() draws it
    >>> display.point["fpr"] == test.other_error
    True
    """

    curve: ErrorCurve
    lines: tuple[AccuracyLine, ...]
    point: dict[str, Rate]
    promised: dict[str, float]
    weight_positive: float
    notes: tuple[str, ...] = ()

    @property
    def accuracy(self) -> float | None:
        """The share of right decisions; None without a test, and for one that can abstain."""
        return _accuracy(self.point, self.weight_positive) if len(self.promised) == 1 else None

    @property
    def _content(self) -> str:
        total = self.curve.n_positive + self.curve.n_negative
        return f"{total:,} objects at {self.curve.threshold.size:,} thresholds"

    @classmethod
    def _of(
        cls,
        subject: Subject,
        *,
        weight_positive: float | None = None,
        accuracies: Sequence[float] | None = None,
        **drawing: Any,  # noqa: ANN401 - as in `Display.drawn`
    ) -> Self:
        n0, n1 = (cell.size for cell in subject.cells)
        if not n0 or not n1:
            raise InputError(
                f"None of the {n0 + n1:,} objects is {subject.names[0 if not n0 else 1]}.",
                parameter="labels",
                remedy="Add labelled objects: both classes are needed.",
            )
        curve = fnr_fpr_curve(
            subject.scores, subject.is_positive, higher_is_positive=subject.higher_is_positive
        )
        point, notes = counted(subject.wrong()), subject.caveat
        if len(subject.promised) > 1:
            notes += ("the test can abstain, which is no error: so it can be below the curve",)
        w1 = subject.share_positive
        if weight_positive is not None:
            w1 = check_probability(weight_positive, "weight_positive")
        if accuracies is None:
            mine = _accuracy(point, w1) if len(subject.promised) == 1 else None
            best = weight_positive if subject.stands_for == (1.0, 1.0) else w1
            accuracies = [float(curve.accuracy(best).max()), *([mine] if mine else [])]
        lines = tuple(equal_accuracy_line(accuracy, w1) for accuracy in accuracies)
        display = cls(curve, lines, point, subject.promised, w1, notes, group=subject.group)
        return display.drawn(**drawing)

    def plot(self, ax: Axes | None = None, *, scale: str = "log", **kwargs: Any) -> Self:  # noqa: ANN401
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        scale : {"log", "linear"}, default="log"
            Of both axes. With "log" there is room for low rates: each power of ten has the same,
            down to 0.1%, a tenth of alpha, or the rate of one error. Below that the axes are
            linear, down to 0.
        **kwargs
            Style of the curve.
        """
        check_choice(scale, "scale", ("log", "linear"))
        return super().plot(ax, scale=scale, **kwargs)

    def _draw(self, ax: Axes, *, scale: str = "log", **kwargs: object) -> None:
        n1, n0 = self.curve.n_positive, self.curve.n_negative
        ax.set(xlim=(0, 1), ylim=(0, 1))
        if scale == "log":
            x, y = self._linear_below(n0), self._linear_below(n1)
            ax.set_xscale("symlog", linthresh=x, linscale=0.35, subs=range(2, 10))
            ax.set_yscale("symlog", linthresh=y, linscale=0.35, subs=range(2, 10))
            # With a margin, so that a curve at 0 is seen whole.
            ax.set(xlim=(-0.15 * x, 1), ylim=(-0.15 * y, 1))
        look.as_percent(ax.xaxis, ax.yaxis)
        text = f"every threshold, on {n1:,} positives and {n0:,} negatives"
        style = look.styled(kwargs, "line", color=look.BLUE, label=text)
        (self.line_,) = ax.plot(*_bent(ax, self._thinned(ax)), **style)
        self.accuracy_lines_ = self._draw_lines(ax)
        self.limits_: list[Line2D] = []
        for name, alpha in self.promised.items():
            text = f"limit: {name.upper()} at most {exact_percent(alpha)}"
            self.limits_.append(look.ruled(ax, "y" if name == "fnr" else "x", alpha, text))
        self.point_ = self._draw_point(ax) if self.point else None
        names = "FPR: negatives called positive", "FNR: positives called negative"
        self.finish("The two errors", *names, self.notes)

    def _thinned(self, ax: Axes) -> NDArray[np.float64]:
        """Leave out points that no eye could tell from their neighbours."""
        points = np.column_stack([self.curve.fpr, self.curve.fnr])
        moved = (np.diff(np.rint(_places(ax, points) * _FINEST), axis=0) != 0).any(axis=1)
        keep = np.r_[True, moved]
        keep[:-1] |= moved  # both ends of each move, so that steps stay square
        keep[-1] = True
        return points[keep]

    def _linear_below(self, n: int) -> float:
        """Return the power of ten below which low rates among n objects need no more room."""
        least = min(1e-3, *(alpha / 10 for alpha in self.promised.values()), 1.0)
        return float(10.0 ** np.floor(np.log10(min(0.01, max(1 / n, least)))))

    def _draw_point(self, ax: Axes) -> Line2D:
        fnr, fpr = self.point["fnr"], self.point["fpr"]
        (point,) = ax.plot(
            fpr.rate,
            fnr.rate,
            "o",
            color=look.VERMILLION,
            markersize=9,
            markeredgecolor="white",
            zorder=4,
            clip_on=False,
            label=f"this test: FNR {percent(fnr.rate)}, FPR {percent(fpr.rate)}",
        )
        return point

    def _draw_lines(self, ax: Axes) -> list[Line2D]:
        drawn = []
        best = float(self.curve.accuracy(self.weight_positive).max())
        for i, line in enumerate(self.lines):
            # Clipped to the square of rates: the ends are where it enters and leaves.
            ends = np.clip((np.array([1.0, 0.0]) - line.intercept) / line.slope, 0.0, 1.0)
            whose = ""
            if self.accuracy is not None and np.isclose(line.accuracy, self.accuracy, atol=1e-12):
                whose = ", this test"
            elif np.isclose(line.accuracy, best, atol=1e-12):
                whose = ", the best threshold on these objects"
            label = f"accuracy {percent(line.accuracy)}{whose}"
            points = _bent(ax, np.column_stack([ends, line(ends)]))
            style = _DASHES[i % len(_DASHES)]
            drawn += ax.plot(*points, color=look.FAINT, ls=style, lw=1.2, label=label)
        return drawn


def _accuracy(point: dict[str, Rate], weight_positive: float) -> float:
    fnr, fpr = point["fnr"].rate, point["fpr"].rate
    return 1.0 - weight_positive * fnr - (1.0 - weight_positive) * fpr


def _bent(ax: Axes, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x and y along the straight pieces between points, as the axes' scales bend them."""
    forward, back = ax.transScale.transform, ax.transScale.inverted().transform
    pieces = np.split(points, np.arange(1, len(points)))
    oblique = (np.abs(np.diff(_places(ax, points), axis=0)) > _SHORT).all(axis=1)
    for i in np.flatnonzero(oblique).tolist():
        start, way = points[i], points[i + 1] - points[i]
        even = back(np.linspace(forward(start), forward(start + way), 60))  # on each axis by itself
        shares = np.unique(np.clip((even - start) / way, 0.0, 1.0))
        pieces[i] = start + shares[:, None] * way
    return np.concatenate(pieces).T


def _places(ax: Axes, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where points are in the axes, from 0 to 1."""
    return np.asarray((ax.transScale + ax.transLimits).transform(points))
