"""P-values of each class under its own label, which should be uniform."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from ratekeeper._formatting import exact_percent
from ratekeeper._inputs import read_labels
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Conformal, check_method
from ratekeeper.plots._display import COLOURS, INK, LINES, Display, finish, plain, side, styled
from ratekeeper.plots._p_value_counts import (
    PValueHistogram,
    count_p_values,
    even_edges,
    read_p_values,
)
from ratekeeper.plots._subject import (
    class_names,
    in_words,
    of_new,
    read_estimator,
    read_source,
    scores_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._calibration import Calibration
    from ratekeeper._p_values import PValues
    from ratekeeper.methods import Method
    from ratekeeper.plots._subject import Source, Subject

_BINS = 20


@dataclass(eq=False)
class PValueHistogramDisplay(Display):
    """Histograms of p0 among negatives and p1 among positives, beside the uniform law.

    If the promise holds, both are flat, or lower at the left end. Make it with `from_estimator`,
    `from_predictions` or `from_calibration`, of objects that were not calibrated on: those have
    uniform p-values whatever happens.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins, from 0 to 1.
    histograms : dict of PValueHistogram
        By class: 0 for p0 of the negatives, 1 for p1 of the positives. A class without objects
        is left out.
    names : tuple of two str
        What the classes are called.
    confidence : float
        Of the band, in each bin.
    approximate : bool
        Whether the scores were cross-fitted, so that the bands are only approximate.
    group : object
        The group, None without groups.
    uniform_line_, histograms_, bands_ : artists
        There after `plot`.

    Notes
    -----
    **Guarantee.** Of the band, for each bin alone: where a calibration and a rank method are
    known, the count of new, exchangeable objects with continuous scores lies inside with at least
    the chosen confidence, over calibration sets and objects (the law of the count is
    beta-binomial; with more than 100,000 objects it is interpolated). So the band allows for the
    calibration set, and for the steps of rank p-values. From p-values alone, and for methods
    without ranks, it is binomial: it takes p-values as independent and uniform, which leaves out
    the calibration set and is too narrow if that is not much larger than the new objects. Among
    20 bins one outside the band is to be expected. Tied scores make small p-values rarer.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.plots import PValueHistogramDisplay
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 2000)
    >>> scores = rng.normal(2 * labels)
    >>> cal = rk.calibrate(scores[:1000], labels[:1000])
    >>> display = PValueHistogramDisplay.from_calibration(
    ...     cal, scores=scores[1000:], labels=labels[1000:], bins=5, draw=False
    ... )
    >>> display.histograms[1].counts
    array([103, 131,  73,  85, 114])
    """

    edges: NDArray[np.float64]
    histograms: dict[int, PValueHistogram]
    names: tuple[str, str]
    confidence: float
    approximate: bool = False
    group: object = None
    uniform_line_: Line2D = field(init=False, repr=False)
    histograms_: dict[int, StepPatch] = field(init=False, repr=False)
    bands_: dict[int, StepPatch] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        clf: object,
        X: object,  # noqa: N803 - scikit-learn's name
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        group: object = None,
        bins: int = _BINS,
        confidence: float = 0.95,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the p-values that a fitted controller gives labelled new objects.

        Parameters
        ----------
        clf : ErrorRateController
            Fitted.
        X, y
            Objects and labels, neither trained on nor calibrated on.
        groups, group
            Groups of the objects, needed exactly if there were groups in `fit`, and the one to
            show.
        bins : int, default=20
            Number of bins.
        confidence : float, default=0.95
            Of the band.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        draw : bool, default=True
            False for the numbers alone, which need no matplotlib.
        **kwargs
            Style of the histograms, as in `matplotlib.axes.Axes.stairs`.
        """
        test = read_estimator(clf)
        subject = of_new(test, scores_of(clf, X), y, groups, group)
        return cls._of(subject, test.calibration, None, bins, confidence).drawn(
            ax, kwargs, draw=draw
        )

    @classmethod
    def from_calibration(
        cls,
        source: Source,
        *,
        scores: ArrayLike,
        labels: ArrayLike,
        groups: ArrayLike | None = None,
        group: object = None,
        method: Method | None = None,
        bins: int = _BINS,
        confidence: float = 0.95,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the p-values that a calibration or a test gives labelled new objects.

        Parameters
        ----------
        source : Calibration, ErrorRateTest or AbstainingTest
            What the p-values stand on.
        scores, labels : array-like of shape (n_objects,)
            New objects.
        method : Method, optional
            How p-values are made; that of the test, or else `Conformal`.
        groups, group, bins, confidence, ax, draw, **kwargs
            As in `from_estimator`.
        """
        subject = of_new(source, scores, labels, groups, group)
        calibration, _ = read_source(source)
        return cls._of(subject, calibration, method, bins, confidence).drawn(ax, kwargs, draw=draw)

    @classmethod
    def from_predictions(
        cls,
        labels: ArrayLike,
        p_values: PValues | tuple[ArrayLike, ArrayLike],
        *,
        positive_label: object = None,
        bins: int = _BINS,
        confidence: float = 0.95,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show p-values from anywhere.

        Parameters
        ----------
        labels : array-like of shape (n_objects,)
            Truth first, as in scikit-learn.
        p_values : PValues, or a pair (p0, p1) of array-likes
            Both p-values of each object.
        positive_label : object, optional
            As in `calibrate`.
        bins, confidence, ax, draw, **kwargs
            As in `from_estimator`. The band is binomial.
        """
        is_positive, classes = read_labels(labels, positive_label)
        pair = read_p_values(p_values, is_positive.size)
        edges = even_edges(bins)
        found = {
            label: count_p_values(pair[label][is_positive == bool(label)], edges, confidence)
            for label in (0, 1)
        }
        return cls(edges, found, class_names(classes), confidence).drawn(ax, kwargs, draw=draw)

    @classmethod
    def _of(
        cls,
        subject: Subject,
        calibration: Calibration,
        asked: Method | None,
        bins: int,
        confidence: float,
    ) -> Self:
        method = check_method(asked or subject.method or Conformal())
        edges, found = even_edges(bins), {}
        for label, cell in enumerate(subject.cells):
            null = calibration.null(label, subject.index or 0, method)
            if cell.size and asked is None and subject.is_pooled(label):
                # As the test judges them: by the scores of all groups, so no law is known.
                found[label] = count_p_values(subject.p_values(label), edges, confidence)
            elif cell.size and null is not None:
                p = null.p_values(cell)
                found[label] = count_p_values(p, edges, confidence, null.n, method)
        if not found:
            raise InputError(
                "There is no class with both calibration scores and new objects, so there is no "
                "p-value to show. Add labelled objects."
            )
        crossed = calibration.origin == "cross-fitted"
        return cls(edges, found, subject.names, confidence, crossed, subject.group)

    def plot(self, ax: Axes | None = None, **kwargs: object) -> Self:
        """Draw it; `**kwargs` style the histograms."""
        ax = self.take(ax)
        self.histograms_, self.bands_ = {}, {}
        top = 1.5
        for label, one in self.histograms.items():
            self._draw_class(ax, label, one, kwargs)
            unit = one.n * np.diff(self.edges)
            top = max(top, float((one.counts / unit).max()), float((one.high / unit).max()))
        self.uniform_line_ = ax.axhline(1, color=INK, linewidth=1.2, linestyle=":", label="uniform")
        ax.set(xlim=(0, 1), ylim=(0, 1.06 * top))
        finish(
            ax,
            title="P-values of each class under its own label" + in_words(self.group),
            x="p-value",
            y="density",
            notes=self._notes(),
        )
        return self

    def _draw_class(
        self, ax: Axes, label: int, one: PValueHistogram, kwargs: Mapping[str, object]
    ) -> None:
        from matplotlib.patches import StepPatch

        # As densities, so that uniform is 1 for both classes.
        unit = one.n * np.diff(self.edges)
        check = one.uniformity
        style = styled(
            kwargs,
            StepPatch,
            color=COLOURS[label],
            linestyle=LINES[label],
            linewidth=1.8,
            baseline=None,
            label=(
                f"p{label} of {one.n:,} {plain(self.names[label])}: {check.distance:.3f} from "
                f"uniform, excess of small ones {check.excess:.3f} (p = {check.p_excess:.2g})"
            ),
        )
        self.histograms_[label] = ax.stairs(one.counts / unit, self.edges, **style)
        self.bands_[label] = ax.stairs(
            one.high / unit,
            self.edges,
            baseline=one.low / unit,
            fill=True,
            facecolor=(COLOURS[label], 0.16),
            label=f"{exact_percent(self.confidence)} band of each bin ({one.law}), {side(label)}s",
        )

    def _notes(self) -> list[str]:
        # With so many objects the check finds how far off this one calibration set is, too.
        sizes = [(one.n, one.n_calibration or np.inf) for one in self.histograms.values()]
        notes = []
        if any(2 * n >= behind for n, behind in sizes):
            notes += [
                "the p of the excess leaves out the luck of the calibration set:",
                "with so many new objects small ones are to be expected",
            ]
        if self.approximate:
            notes.append("scores are cross-fitted: the bands are approximate")
        return notes
