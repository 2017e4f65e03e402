"""The scores of the two classes, the threshold between them, and the two errors it makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from ratekeeper._formatting import exact_percent, percent
from ratekeeper._validation import check_count
from ratekeeper.plots._display import (
    COLOURS,
    FAINT,
    HATCHES,
    INK,
    LINES,
    Display,
    finish,
    plain,
    styled,
)
from ratekeeper.plots._score_bins import score_counts, score_edges, score_span
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
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._rates import Rate
    from ratekeeper.plots._subject import Source, Subject

    Counts = tuple[NDArray[np.intp], NDArray[np.intp]]

_BINS = 40


@dataclass(eq=False)
class ScoreDensityDisplay(Display):
    """Densities of the scores of both classes, with the threshold and the two error areas.

    Each histogram has the area 1, and the shaded part of it is the error rate, exactly: a
    threshold is an edge of the bins, and objects are shaded by the decision on each.

    Make it with `from_estimator`, `from_predictions` or `from_calibration`.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins, alike for both classes. Scores outside are counted in the outer bins.
    counts : tuple of two ndarrays of int
        Objects in each bin, negatives first.
    wrong : tuple of two ndarrays of int, or None
        Those of them that the test decides wrongly; None without a test.
    rates : dict of Rate
        The counted ``"fnr"`` and ``"fpr"``; empty without a test. With a test of both rates
        objects it rejects for both classes are errors, and abstentions are none.
    promised : dict of float
        The limits that the test keeps.
    thresholds : dict of float
        The finite thresholds by the error they limit; one for both errors, or one each.
    names : tuple of two str
        What the two classes are called.
    higher_is_positive : bool
        Which end of the scores speaks for the positive class.
    n_outside : int
        Scores beyond the edges, such as infinite ones, which are drawn at the edges.
    notes : tuple of str
        What a reader of the picture has to know.
    group : object
        The group, None without groups.
    histograms_, areas_, threshold_lines_ : lists of artists
        There after `plot`.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.plots import ScoreDensityDisplay
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 1000)
    >>> test = rk.calibrate(rng.normal(2 * labels), labels).control("fnr", alpha=0.05)
    >>> display = ScoreDensityDisplay.from_calibration(test, draw=False)
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
    group: object = None
    histograms_: list[StepPatch] = field(init=False, repr=False)
    areas_: list[StepPatch] = field(init=False, repr=False)
    threshold_lines_: list[Line2D] = field(init=False, repr=False)

    @property
    def densities(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Heights of the two histograms, each of area 1; of area 0 for a class without objects."""
        return self._heights(self.counts[0], 0), self._heights(self.counts[1], 1)

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
        score_range: tuple[float, float] | None = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show a fitted controller on labelled objects.

        Parameters
        ----------
        clf : ErrorRateController
            Fitted.
        X, y
            Objects and labels, neither trained on nor calibrated on.
        groups : array-like of shape (n_objects,), optional
            Their groups, needed exactly if there were groups in `fit`; `group` says which to show.
        group : object, optional
            Which group to show.
        bins : int, default=40
            About how many bins.
        score_range : pair of float, optional
            What part of the scores to draw; all finite ones by default.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        draw : bool, default=True
            False for the numbers alone, which need no matplotlib.
        **kwargs
            Style of the two outlines, as in `matplotlib.axes.Axes.stairs`.
        """
        test = read_estimator(clf)
        subject = of_new(test, scores_of(clf, X), y, groups, group)
        return cls._of(subject, bins, score_range).drawn(ax, kwargs, draw=draw)

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
        bins: int = _BINS,
        score_range: tuple[float, float] | None = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show labels and scores, and what a test does with them if one is given.

        Parameters
        ----------
        labels, scores : array-like of shape (n_objects,)
            Truth first, as in scikit-learn.
        test : ErrorRateTest or AbstainingTest, optional
            What decides.
        positive_label, higher_is_positive
            As in `calibrate`; a test knows them.
        groups, group, bins, score_range, ax, draw, **kwargs
            As in `from_estimator`.
        """
        subject = of_predictions(
            labels, scores, test, groups, group, positive_label, higher_is_positive
        )
        return cls._of(subject, bins, score_range).drawn(ax, kwargs, draw=draw)

    @classmethod
    def from_calibration(
        cls,
        source: Source,
        *,
        group: object = None,
        bins: int = _BINS,
        score_range: tuple[float, float] | None = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the scores of a calibration, or of the one behind a test, with its threshold.

        Parameters
        ----------
        source : Calibration, ErrorRateTest or AbstainingTest
            What to show.
        group, bins, score_range, ax, draw, **kwargs
            As in `from_estimator`.

        Notes
        -----
        The controlled error is counted on the very scores that set the threshold, so it is no
        estimate of the true rate: `RealisedRateDisplay` shows the law of that. The other error is.
        """
        return cls._of(of_calibration(source, group), bins, score_range).drawn(
            ax, kwargs, draw=draw
        )

    @classmethod
    def _of(cls, subject: Subject, bins: int, score_range: tuple[float, float] | None) -> Self:
        low, high = score_span(subject.scores, score_range)
        found = {name: subject.threshold(name) for name in subject.rules}
        if subject.promised.keys() != found.keys():  # one test for both errors
            found = {name: found[name] for name in subject.promised}
        thresholds = {name: t for name, t in found.items() if t is not None and np.isfinite(t)}
        cuts = [_cut(subject, name, t) for name, t in thresholds.items()]
        edges = score_edges(
            low, high, check_count(bins, "bins"), [c for c in cuts if low < c < high]
        )
        wrong, cells = subject.wrong(), subject.cells
        n_outside = sum(int(np.count_nonzero((c < edges[0]) | (c > edges[-1]))) for c in cells)
        notes = _notes(subject, found, n_outside)
        return cls(
            edges=edges,
            counts=(score_counts(cells[0], edges), score_counts(cells[1], edges)),
            wrong=wrong
            and (
                score_counts(cells[0][wrong[0]], edges),
                score_counts(cells[1][wrong[1]], edges),
            ),
            rates=counted(wrong),
            promised=subject.promised,
            thresholds=thresholds,
            names=subject.names,
            higher_is_positive=subject.higher_is_positive,
            n_outside=n_outside,
            notes=notes,
            group=subject.group,
        )

    def plot(self, ax: Axes | None = None, **kwargs: object) -> Self:
        """Draw it; `**kwargs` style the two outlines."""
        ax = self.take(ax)
        from matplotlib.patches import StepPatch

        self.histograms_, self.areas_, self.threshold_lines_ = [], [], []
        for label, density in enumerate(self.densities):
            style = styled(
                kwargs,
                StepPatch,
                color=COLOURS[label],
                linestyle=LINES[label],
                linewidth=1.8,
                label=f"{plain(self.names[label])}: {self.counts[label].sum():,} scores",
            )
            self.histograms_.append(ax.stairs(density, self.edges, **style))
            if self.wrong is not None:
                self.areas_.append(self._shade(ax, label))
        top = max(1e-9, *(float(density.max()) for density in self.densities))
        ax.set(xlim=(self.edges[0], self.edges[-1]), ylim=(0, 1.12 * top))
        self._draw_thresholds(ax)
        title = "Scores of both classes" + in_words(self.group)
        finish(ax, title=title, x="score", y="density, each class by itself", notes=self.notes)
        return self

    def _shade(self, ax: Axes, label: int) -> StepPatch:
        assert self.wrong is not None  # noqa: S101 - for the type checker
        name = "fnr" if label else "fpr"
        rate = self.rates[name]
        value = percent(rate.rate) if rate.n else "unknown"
        text = f"{name.upper()} {value}: {rate.errors:,} of {rate.n:,}"
        if name in self.promised:
            text += f" (limit {exact_percent(self.promised[name])})"
        return ax.stairs(
            self._heights(self.wrong[label], label),
            self.edges,
            fill=True,
            facecolor=(COLOURS[label], 0.3),
            edgecolor=(COLOURS[label], 0.9),
            hatch=HATCHES[label],
            linewidth=0,
            label=text,
        )

    def _draw_thresholds(self, ax: Axes) -> None:
        if len(self.thresholds) > 1:
            ends = sorted(self.thresholds.values())
            ax.axvspan(ends[0], ends[1], color=FAINT, alpha=0.15, linewidth=0, label=self.between)
        middle = (self.edges[0] + self.edges[-1]) / 2
        for line, (name, threshold) in enumerate(self.thresholds.items()):
            self.threshold_lines_.append(ax.axvline(threshold, color=INK, linewidth=1.3))
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
                color=INK,
                annotation_clip=True,
            )

    @property
    def between(self) -> str:
        """What a test of both rates does between its two thresholds."""
        ends = self.thresholds.get("fnr", np.nan), self.thresholds.get("fpr", np.nan)
        abstains = ends[0] < ends[1] if self.higher_is_positive else ends[0] > ends[1]
        return "here the test abstains" if abstains else "here neither class is possible"

    def _heights(self, counts: NDArray[np.intp], label: int) -> NDArray[np.float64]:
        total = max(int(self.counts[label].sum()), 1)
        return np.asarray(counts / total / np.diff(self.edges))


def _cut(subject: Subject, control: str, threshold: float) -> float:
    """Return the number with scores below it on one side of the rule, all others on the other."""
    # Objects at the threshold itself stay in the null class. Where that is the lower side, the
    # cut lies just above it.
    null_is_low = (subject.rules[control].control == "fnr") != subject.higher_is_positive
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
            notes.append(f"{name.upper()}: decided by lot, so there is no threshold")
        elif not np.isfinite(threshold):
            notes.append(f"the {name.upper()} threshold is {threshold}")
    return (*notes, *subject.caveat)
