"""The scores of the two classes, the threshold between them, and the two errors it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper._wording._formatting import exact_percent, percent
from ratekeeper.plots import _look as look
from ratekeeper.plots._display import ScoreDisplay
from ratekeeper.plots._score_bins import MOST_BINS, score_counts, score_edges, score_span
from ratekeeper.plots._subject import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Rate
    from ratekeeper.plots._subject import Subject

    Counts = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(eq=False, repr=False)
class ScoreDensityDisplay(ScoreDisplay):
    """Densities of the scores of both classes, with the threshold and the two error areas.

    Each histogram has the area 1, and the shaded part of it is the error rate, exactly: a
    threshold is an edge of the bins, and objects are shaded by the decision on each.

    Make it with `from_estimator`, `from_predictions` or `from_calibration`.

    Options
    -------
    bins : int, default=40
        About how many bins.
    score_range : pair of float, optional
        What part of the scores to draw; all finite ones by default.
    **kwargs
        Style of the two outlines, as in `matplotlib.axes.Axes.stairs`.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins, alike for both classes. Scores outside are counted in the outer bins.
    counts : tuple of two ndarrays of int
        Objects in each bin, negatives first.
    wrong : tuple of two ndarrays of int, or None
        Those of them that the test decides wrongly; None without a test.
    rates : dict of Rate
        The counted ``"fnr"`` and ``"fpr"``; empty without a test. With a test of both rates,
        objects that it rejects for both classes are errors, and abstentions are not.
    promised : dict of float
        The limits that the test keeps.
    thresholds : dict of float
        The finite thresholds by the error they limit; one for both errors, or one each. Of a test
        of both rates whose thresholds cross, the one that decides, as "both".
    names : tuple of two str
        What the two classes are called.
    higher_is_positive : bool
        Whether high scores indicate the positive class.
    n_outside : int
        Scores beyond the edges, such as infinite ones, which are drawn at the edges.
    notes : tuple of str
        What a reader of the picture has to know.
    histograms_, areas_, threshold_lines_ : lists of artists
        Set by `plot`.

    Notes
    -----
    On the calibration itself the controlled error is counted on the very scores that set the
    threshold, so it is not an estimate of the true rate: `RealisedRateDisplay` shows the
    distribution of that. The other error is an estimate.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.plots import ScoreDensityDisplay
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 1000)
    >>> cal = rk.calibrate(rng.normal(2 * labels), labels)
    >>> test = cal.control("fnr", alpha=0.05, method=rk.Conformal())
    >>> display = ScoreDensityDisplay.from_calibration(test, draw=False)
    >>> display
    ScoreDensityDisplay of 1,000 scores in 41 bins; .plot() draws it
    >>> display.rates["fpr"] == test.other_error
    True
    """

    edges: NDArray[np.float64]
    counts: Counts
    wrong: Counts | None
    rates: dict[str, Rate]
    promised: dict[str, float]
    thresholds: dict[str, float]
    names: tuple[str, str]
    higher_is_positive: bool
    n_outside: int
    notes: tuple[str, ...] = ()

    @property
    def densities(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Heights of the two histograms, each of area 1; of area 0 for a class without objects."""
        return self._heights(self.counts[0], 0), self._heights(self.counts[1], 1)

    @property
    def between(self) -> str:
        """What a test of both rates does between its two thresholds."""
        return "here the test abstains"

    @property
    def _content(self) -> str:
        total = sum(int(counts.sum()) for counts in self.counts)
        return f"{total:,} scores in {self.edges.size - 1:,} bins"

    @classmethod
    def _of(
        cls,
        subject: Subject,
        *,
        bins: int = 40,
        score_range: tuple[float, float] | None = None,
        **drawing: Any,  # noqa: ANN401 - as in `Display.drawn`
    ) -> Self:
        low, high = score_span(subject.scores, score_range)
        found = subject.thresholds
        thresholds = {name: t for name, t in found.items() if t is not None and np.isfinite(t)}
        cuts = [_cut(subject, name, t) for name, t in thresholds.items()]
        n_bins = check_count(bins, "bins", most=MOST_BINS)
        edges = score_edges(low, high, n_bins, [c for c in cuts if low < c < high])
        wrong, cells = subject.wrong(), subject.cells
        n_outside = sum(int(np.count_nonzero((c < edges[0]) | (c > edges[-1]))) for c in cells)
        display = cls(
            edges=edges,
            counts=_counts(cells, edges),
            wrong=wrong and _counts((cells[0][wrong[0]], cells[1][wrong[1]]), edges),
            rates=counted(wrong),
            promised=subject.promised,
            thresholds=thresholds,
            names=subject.names,
            higher_is_positive=subject.higher_is_positive,
            n_outside=n_outside,
            notes=_notes(subject, found, n_outside),
            group=subject.group,
        )
        return display.drawn(**drawing)

    def _draw(self, ax: Axes, **kwargs: object) -> None:
        self.histograms_: list[StepPatch] = []
        self.areas_: list[StepPatch] = []
        self.threshold_lines_: list[Line2D] = []
        for label, density in enumerate(self.densities):
            text = f"{look.plain(self.names[label])}: {self.counts[label].sum():,} scores"
            style = look.outline(kwargs, label, text)
            self.histograms_.append(ax.stairs(density, self.edges, **style))
            if self.wrong is not None:
                heights = self._heights(self.wrong[label], label)
                area = {"fill": True, "label": self._error(label), **look.shading(label)}
                self.areas_.append(ax.stairs(heights, self.edges, **area))
        top = max(1e-9, *(float(density.max()) for density in self.densities))
        ax.set(xlim=(self.edges[0], self.edges[-1]), ylim=(0, 1.12 * top))
        self._draw_thresholds(ax)
        self.finish("Scores of both classes", "score", "density, each class by itself", self.notes)

    def _error(self, label: int) -> str:
        name = "fnr" if label else "fpr"
        rate = self.rates[name]
        value = percent(rate.rate) if rate.n else "unknown"
        limit = f" (limit {exact_percent(self.promised[name])})" if name in self.promised else ""
        return f"{name.upper()} {value}: {rate.errors:,} of {rate.n:,}{limit}"

    def _draw_thresholds(self, ax: Axes) -> None:
        if len(self.thresholds) > 1:
            ends = sorted(self.thresholds.values())
            ax.axvspan(*ends, color=look.FAINT, alpha=0.15, linewidth=0, label=self.between)
        middle = (self.edges[0] + self.edges[-1]) / 2
        for line, (name, threshold) in enumerate(self.thresholds.items()):
            self.threshold_lines_.append(look.ruled(ax, "x", threshold, None, "-"))
            what = f"{name.upper()} threshold" if len(self.thresholds) > 1 else "threshold"
            to_left = threshold > middle
            ax.annotate(
                f"{what} {threshold:.6g}",
                (threshold, 1),
                xycoords=("data", "axes fraction"),
                xytext=(-4 if to_left else 4, -2 - 14 * line),
                textcoords="offset points",
                ha="right" if to_left else "left",
                va="top",
                color=look.INK,
                annotation_clip=True,
            )

    def _heights(self, counts: NDArray[np.intp], label: int) -> NDArray[np.float64]:
        total = max(int(self.counts[label].sum()), 1)
        return np.asarray(counts / total / np.diff(self.edges))


def _counts(cells: tuple[Floats, Floats], edges: NDArray[np.float64]) -> Counts:
    return score_counts(cells[0], edges), score_counts(cells[1], edges)


def _cut(subject: Subject, control: str, threshold: float) -> float:
    """Return the number with scores below it on one side of the rule, all others on the other."""
    # Objects at the threshold itself stay in the null class. Where that is the lower side, the
    # cut lies just above it.
    limits_misses = control == "both" or subject.rules[control].control == "fnr"
    null_is_low = limits_misses != subject.higher_is_positive
    if not null_is_low:
        return threshold
    kind = subject.scores.dtype.type
    with np.errstate(all="ignore"):  # next to the largest number is infinity: no cut
        return float(np.nextafter(kind(threshold), kind(np.inf)))


def _notes(subject: Subject, found: dict[str, float | None], n_outside: int) -> tuple[str, ...]:
    notes = []
    if n_outside:
        scores = "1 score lies" if n_outside == 1 else f"{n_outside:,} scores lie"
        notes.append(f"{scores} outside or at infinity, drawn in the outermost bins")
    for name, threshold in found.items():
        if threshold is None:
            notes.append(f"{name.upper()}: decided at random, so there is no threshold")
        elif not np.isfinite(threshold):
            notes.append(f"the {name.upper()} threshold is {threshold}")
    return (*notes, *subject.caveat)
