"""P-values of each class under its own label, which should be uniform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._reading._columns import read_labels
from ratekeeper._wording._formatting import exact_percent
from ratekeeper.calibration._cells import null_of, tail_of
from ratekeeper.exceptions import InputError
from ratekeeper.methods._tolerant import with_tolerance
from ratekeeper.plots import _look as look
from ratekeeper.plots._display import Display
from ratekeeper.plots._p_value_counts import (
    PValueHistogram,
    count_p_values,
    even_edges,
    read_p_values,
)
from ratekeeper.plots._subject import class_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import StepPatch
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.calibration._p_values import PValues
    from ratekeeper.methods import Method
    from ratekeeper.plots._subject import Subject

_BINS = 20


@dataclass(eq=False, repr=False)
class PValueHistogramDisplay(Display):
    """Histograms of p0 among negatives and p1 among positives, beside the uniform distribution.

    If the promise holds, both are flat, or lower at the left end. Make it with `from_estimator`,
    `from_predictions` or `from_calibration`, of objects that were not calibrated on: those have
    uniform p-values whatever happens.

    Options
    -------
    method : Method, optional
        How p-values are made; by default that of the test, or else `Conformal`.
    bins : int, default=20
        Number of bins.
    confidence : float, default=0.95
        Of the band, in each bin.
    **kwargs
        Style of the histograms, as in `matplotlib.axes.Axes.stairs`.

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
    cross_fitted : bool
        Whether the scores were cross-fitted: the bands are then those of held-out scores.
    uniform_line_, histograms_, bands_ : artists
        Set by `plot`.

    Notes
    -----
    **Guarantee.** Of the band, for each bin alone: where a calibration and a rank method are
    known, the count of new, exchangeable objects with continuous scores lies inside with at least
    the chosen confidence, over calibration sets and objects (the distribution of the count is
    beta-binomial; with more than 20,000 objects its quantiles are rounded outwards). So the band
    allows for the calibration set, and for the steps of rank p-values. From p-values alone, and
    for methods without ranks, it is binomial: it takes p-values as independent and uniform, which
    leaves out the calibration set and is too narrow if that is not much larger than the set of new
    objects. Even if all is well, about one in 20 bins is expected outside its 95% band. Tied scores
    make small p-values rarer.

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
    >>> display
    PValueHistogramDisplay of 1,000 objects in 5 bins; .plot() draws it
    >>> display.histograms[1].counts
    array([103, 131,  73,  85, 114])
    """

    edges: NDArray[np.float64]
    histograms: dict[int, PValueHistogram]
    names: tuple[str, str]
    confidence: float
    cross_fitted: bool = False

    @property
    def _content(self) -> str:
        total = sum(one.n for one in self.histograms.values())
        return f"{total:,} objects in {self.edges.size - 1:,} bins"

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
        """Show p-values from anywhere, with a binomial band.

        Parameters
        ----------
        labels : array-like of shape (n_objects,)
            Truth first, as in scikit-learn.
        p_values : PValues, or a pair (p0, p1) of array-likes
            Both p-values of each object.
        positive_label, bins, confidence, ax, draw, **kwargs
            As described in `ratekeeper.plots` and by the class.
        """
        is_positive, classes = read_labels(labels, positive_label)
        pair = read_p_values(p_values, is_positive.size)
        edges = even_edges(bins)
        found = {
            label: count_p_values(pair[label][is_positive == bool(label)], edges, confidence)
            for label in (0, 1)
        }
        display = cls(edges, found, class_names(classes), confidence)
        return display.drawn(ax=ax, draw=draw, **kwargs)

    @classmethod
    def _of(
        cls,
        subject: Subject,
        *,
        method: Method | None = None,
        bins: int = _BINS,
        confidence: float = 0.95,
        **drawing: Any,  # noqa: ANN401 - as in `Display.drawn`
    ) -> Self:
        calibration, judge = subject.judged_by(method)
        edges, found = even_edges(bins), {}
        tolerance = 0.0 if method or subject.test is None else subject.test.tolerance
        for label, cell in enumerate(subject.cells):
            exact = null_of(calibration, label, subject.index or 0, judge)
            null = with_tolerance(exact, tail_of(calibration, label), tolerance)
            if cell.size and method is None and subject.is_pooled(label):
                # As the test judges them: by the scores of all groups, so no distribution is known.
                found[label] = count_p_values(subject.p_values(label), edges, confidence)
            elif cell.size and null is not None:
                # With a tolerance p-values are on the safe side, so no distribution is known.
                known = () if tolerance else (null.n, judge)
                found[label] = count_p_values(null.p_values(cell), edges, confidence, *known)
        if not found:
            raise InputError(
                "No class has both calibration scores and new objects, so there is no p-value to "
                "show.",
                parameter="labels",
                remedy="Add labelled objects.",
            )
        crossed = calibration.origin == "cross-fitted"
        display = cls(edges, found, subject.names, confidence, crossed, group=subject.group)
        return display.drawn(**drawing)

    def _draw(self, ax: Axes, **kwargs: object) -> None:
        self.histograms_: dict[int, StepPatch] = {}
        self.bands_: dict[int, StepPatch] = {}
        top, band = 1.5, f"{exact_percent(self.confidence)} band of each bin"
        for label, one in self.histograms.items():
            # As densities, so that uniform is 1 for both classes.
            counts, low, high = np.stack([one.counts, one.low, one.high]) / (
                one.n * np.diff(self.edges)
            )
            style = look.outline(kwargs, label, self._found(label), baseline=None)
            self.histograms_[label] = ax.stairs(counts, self.edges, **style)
            self.bands_[label] = ax.stairs(
                high,
                self.edges,
                baseline=low,
                fill=True,
                facecolor=(look.COLOURS[label], 0.16),
                label=f"{band} ({one.law}), {look.SIDES[label]}s",
            )
            top = max(top, float(counts.max()), float(high.max()))
        self.uniform_line_ = look.ruled(ax, "y", 1, "uniform")
        ax.set(xlim=(0, 1), ylim=(0, 1.06 * top))
        title = "P-values of each class under its own label"
        self.finish(title, "p-value", "density", self._notes())

    def _found(self, label: int) -> str:
        one, check = self.histograms[label], self.histograms[label].uniformity
        return (
            f"p{label} of {one.n:,} {look.plain(self.names[label])}: {check.distance:.3f} from "
            f"uniform, excess of small p-values {check.excess:.3f} (p = {check.p_excess:.2g})"
        )

    def _notes(self) -> list[str]:
        # With so many objects the check finds how far off this one calibration set is, too.
        sizes = [(one.n, one.n_calibration or np.inf) for one in self.histograms.values()]
        notes = []
        if any(2 * n >= behind for n, behind in sizes):
            notes += [
                "the p of the excess leaves out the luck of the calibration set:",
                "with so many new objects a small p is to be expected",
            ]
        if self.cross_fitted:
            notes.append("scores are cross-fitted: the bands are those of held-out ones")
        return notes
