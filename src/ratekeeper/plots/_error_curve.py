"""Both errors at every threshold, and where the test stands among them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from ratekeeper._formatting import exact_percent, percent
from ratekeeper._validation import check_probability
from ratekeeper.diagnostics import AccuracyLine, ErrorCurve, equal_accuracy_line, fnr_fpr_curve
from ratekeeper.exceptions import InputError
from ratekeeper.plots._display import (
    BLUE,
    FAINT,
    INK,
    VERMILLION,
    Display,
    as_percent,
    finish,
    styled,
)
from ratekeeper.plots._subject import (
    counted,
    in_words,
    of_calibration,
    of_new,
    of_predictions,
    read_estimator,
    scores_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._rates import Rate
    from ratekeeper.plots._subject import Source, Subject

_FINEST = 1500  # points to a side that a picture can show


@dataclass(eq=False)
class ErrorCurveDisplay(Display):
    """The FNR-FPR curve over all thresholds, lines of equal accuracy, and the test's own point.

    The ROC curve upside down: FNR in place of TPR, so better is nearer to the corner at 0. Make
    it with `from_estimator`, `from_predictions` or `from_calibration`.

    Attributes
    ----------
    curve : ErrorCurve
        Counted errors at every threshold; see `diagnostics.fnr_fpr_curve`.
    lines : tuple of AccuracyLine
        Lines on which the accuracy is the same: those asked for, or else that of the best
        threshold and that of the test.
    point : dict of Rate
        ``"fnr"`` and ``"fpr"`` of the test on these objects; empty without a test.
    promised : dict of float
        The limit that the test keeps.
    weight_positive : float
        Share of positives in the population, on which accuracy depends.
    notes : tuple of str
        What a reader of the picture has to know.
    group : object
        The group, None without groups.
    line_, accuracy_lines_, point_, limits_ : artists
        There after `plot`; `point_` is None without a test.

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
    >>> test = rk.calibrate(rng.normal(2 * labels), labels).control("fnr", alpha=0.05)
    >>> display = ErrorCurveDisplay.from_calibration(test, draw=False)
    >>> display.point["fpr"] == test.other_error
    True
    """

    curve: ErrorCurve
    lines: tuple[AccuracyLine, ...]
    point: dict[str, Rate]
    promised: dict[str, float]
    weight_positive: float
    notes: tuple[str, ...] = ()
    group: object = None
    line_: Line2D = field(init=False, repr=False)
    accuracy_lines_: list[Line2D] = field(init=False, repr=False)
    point_: Line2D | None = field(init=False, repr=False)
    limits_: list[Line2D] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        clf: object,
        X: object,  # noqa: N803 - scikit-learn's name
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        group: object = None,
        weight_positive: float | None = None,
        accuracies: Sequence[float] | None = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the errors of a fitted controller on labelled objects.

        Parameters
        ----------
        clf : ErrorRateController
            Fitted.
        X, y
            Objects and labels, neither trained on nor calibrated on.
        groups, group
            Groups of the objects, needed exactly if there were groups in `fit`, and the one to
            show.
        weight_positive : float, optional
            Share of positives in the population; by default that among the objects.
        accuracies : sequence of float, optional
            Which lines of equal accuracy to draw; by default that of the best threshold and that
            of the test. An empty list draws none.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        draw : bool, default=True
            False for the numbers alone, which need no matplotlib.
        **kwargs
            Style of the curve, as in `matplotlib.axes.Axes.plot`.
        """
        subject = of_new(read_estimator(clf), scores_of(clf, X), y, groups, group)
        return cls._of(subject, weight_positive, accuracies).drawn(ax, kwargs, draw=draw)

    @classmethod
    def from_predictions(  # noqa: PLR0913 - all but two by name
        cls,
        labels: ArrayLike,
        scores: ArrayLike,
        *,
        test: Source | None = None,
        groups: ArrayLike | None = None,
        group: object = None,
        positive_label: object = None,
        higher_is_positive: bool = True,
        weight_positive: float | None = None,
        accuracies: Sequence[float] | None = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the curve of labels and scores, and where a test stands on it.

        Parameters
        ----------
        labels, scores : array-like of shape (n_objects,)
            Truth first, as in scikit-learn.
        test : ErrorRateTest or AbstainingTest, optional
            What decides.
        positive_label, higher_is_positive
            As in `calibrate`; a test knows them.
        groups, group, weight_positive, accuracies, ax, draw, **kwargs
            As in `from_estimator`.
        """
        subject = of_predictions(
            labels, scores, test, groups, group, positive_label, higher_is_positive
        )
        return cls._of(subject, weight_positive, accuracies).drawn(ax, kwargs, draw=draw)

    @classmethod
    def from_calibration(
        cls,
        source: Source,
        *,
        group: object = None,
        weight_positive: float | None = None,
        accuracies: Sequence[float] | None = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the curve of a calibration, or of the one behind a test.

        Parameters
        ----------
        source : Calibration, ErrorRateTest or AbstainingTest
            What to show.
        group, weight_positive, accuracies, ax, draw, **kwargs
            As in `from_estimator`.
        """
        subject = of_calibration(source, group)
        return cls._of(subject, weight_positive, accuracies).drawn(ax, kwargs, draw=draw)

    @classmethod
    def _of(
        cls, subject: Subject, weight: float | None, accuracies: Sequence[float] | None
    ) -> Self:
        n1 = int(subject.is_positive.sum())
        n0 = subject.is_positive.size - n1
        if not n0 or not n1:
            missing = subject.names[0 if not n0 else 1]
            raise InputError(f"None of the {n0 + n1:,} objects is {missing}: both are needed.")
        curve = fnr_fpr_curve(
            subject.scores,
            subject.is_positive,
            higher_is_positive=subject.higher_is_positive,
        )
        point, notes = counted(subject.wrong()), subject.caveat
        if len(subject.promised) > 1:
            notes += ("the test can abstain, which is no error: so it can be below the curve",)
        w1 = subject.share_positive
        if weight is not None:
            w1 = check_probability(weight, "weight_positive")
        if accuracies is None:
            mine = _accuracy(point, w1) if len(subject.promised) == 1 else None
            best = weight if subject.stands_for == (1.0, 1.0) else w1
            accuracies = [float(curve.accuracy(best).max()), *([mine] if mine else [])]
        lines = tuple(equal_accuracy_line(accuracy, w1) for accuracy in accuracies)
        return cls(curve, lines, point, subject.promised, w1, notes, subject.group)

    @property
    def accuracy(self) -> float | None:
        """The share of right decisions; None without a test, and for one that can abstain."""
        return _accuracy(self.point, self.weight_positive) if len(self.promised) == 1 else None

    def plot(self, ax: Axes | None = None, **kwargs: object) -> Self:
        """Draw it; `**kwargs` style the curve."""
        ax = self.take(ax)
        from matplotlib.lines import Line2D

        n1, n0 = self.curve.n_positive, self.curve.n_negative
        style = styled(
            kwargs,
            Line2D,
            color=BLUE,
            linewidth=1.8,
            label=f"every threshold, on {n1:,} positives and {n0:,} negatives",
        )
        (self.line_,) = ax.plot(*_thinned(self.curve.fpr, self.curve.fnr), **style)
        self.accuracy_lines_ = self._draw_lines(ax)
        self.limits_ = self._draw_limits(ax)
        self.point_ = None
        if self.point:
            fnr, fpr = self.point["fnr"], self.point["fpr"]
            (self.point_,) = ax.plot(
                fpr.rate,
                fnr.rate,
                "o",
                color=VERMILLION,
                markersize=9,
                markeredgecolor="white",
                zorder=4,
                label=f"this test: FNR {percent(fnr.rate)}, FPR {percent(fpr.rate)}",
            )
        ax.set(xlim=(0, 1), ylim=(0, 1))
        for axis in (ax.xaxis, ax.yaxis):
            as_percent(axis)
        finish(
            ax,
            title="The two errors" + in_words(self.group),
            x="FPR: negatives called positive",
            y="FNR: positives called negative",
            notes=self.notes,
        )
        return self

    def _draw_lines(self, ax: Axes) -> list[Line2D]:
        drawn = []
        for i, line in enumerate(self.lines):
            # Clipped to the square of rates: the ends are where it enters and leaves.
            ends = np.clip((np.array([1.0, 0.0]) - line.intercept) / line.slope, 0.0, 1.0)
            style = ((0, (6, 2)), (0, (2, 2)), (0, (6, 2, 2, 2)), (0, (1, 3)))[i % 4]
            whose = ""
            if self.accuracy is not None and np.isclose(line.accuracy, self.accuracy, atol=1e-12):
                whose = ", this test"
            elif np.isclose(line.accuracy, self._best, atol=1e-12):
                whose = ", the best threshold on these objects"
            label = f"accuracy {percent(line.accuracy)}{whose}"
            drawn += ax.plot(
                ends, line(ends), color=FAINT, linestyle=style, linewidth=1.2, label=label
            )
        return drawn

    @property
    def _best(self) -> float:
        return float(self.curve.accuracy(self.weight_positive).max())

    def _draw_limits(self, ax: Axes) -> list[Line2D]:
        drawn = []
        for name, alpha in self.promised.items():
            line = ax.axhline if name == "fnr" else ax.axvline
            text = f"limit: {name.upper()} at most {exact_percent(alpha)}"
            drawn.append(line(alpha, color=INK, linestyle=":", linewidth=1.2, label=text))
        return drawn


def _accuracy(point: dict[str, Rate], weight_positive: float) -> float:
    fnr, fpr = point["fnr"].rate, point["fpr"].rate
    return 1.0 - weight_positive * fnr - (1.0 - weight_positive) * fpr


def _thinned(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leave out points that no eye could tell from their neighbours."""
    places = np.rint(np.column_stack([x, y]) * _FINEST)
    moved = (np.diff(places, axis=0) != 0).any(axis=1)
    keep = np.r_[True, moved]
    keep[:-1] |= moved  # both ends of each move, so that steps stay square
    keep[-1] = True
    return x[keep], y[keep]
