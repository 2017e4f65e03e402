"""The rate that tests deliver at every alpha, beside the rate they were asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from ratekeeper._abstaining import AbstainingTest
from ratekeeper._formatting import exact_percent
from ratekeeper._inputs import read_labels
from ratekeeper._ranks import has_ties
from ratekeeper._rates import RealisedRate
from ratekeeper._validation import check_control, null_class_of
from ratekeeper.diagnostics import RateTable, rate_against_alpha
from ratekeeper.diagnostics._realised import rates_of_p_values
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Conformal, check_method
from ratekeeper.methods._rank import RankMethod, critical_rank
from ratekeeper.plots._display import COLOURS, FAINT, INK, Display, as_percent, finish, side, styled
from ratekeeper.plots._p_value_counts import read_p_values
from ratekeeper.plots._subject import in_words, of_new, read_estimator, read_source, scores_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._calibration import Calibration
    from ratekeeper._control import ErrorRateTest
    from ratekeeper._p_values import PValues
    from ratekeeper.methods import Method
    from ratekeeper.plots._subject import Source, Subject, Test

_MOST = 0.2
_STEPS = 100


@dataclass(eq=False)
class RateAgainstAlphaDisplay(Display):
    """The counted rate of tests at many alphas, with exact bands, beside the diagonal.

    Where the whole band lies above the diagonal, these objects contradict the limit. Make it
    with `from_estimator`, `from_predictions` or `from_calibration`, of labelled new objects.

    Attributes
    ----------
    table : RateTable
        One row for each alpha; see `diagnostics.rate_against_alpha`. NaN where a test is
        impossible with so few calibration scores.
    control : {"fnr", "fpr"}
        The rate that the tests keep.
    expected_low, expected_high : ndarray or None
        Between them the true rate of the test lies in 90% of calibration sets: the law of the
        realised rate, for rank methods. None where ranks or the calibration are not known.
    tied : bool
        Whether calibration scores are tied, so that true rates can be lower than expected.
    approximate : bool
        Whether the scores were cross-fitted, so that the expected band is only approximate.
    alpha : float or None
        That of the test shown, which is marked.
    confidence : float
        Of the band around the counted rate, at each alpha by itself.
    group : object
        The group, None without groups.
    line_, band_, expected_, diagonal_, mark_ : artists
        There after `plot`; None for what there is not.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.plots import RateAgainstAlphaDisplay
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 3000)
    >>> scores = rng.normal(2 * labels)
    >>> test = rk.calibrate(scores[:1000], labels[:1000]).control("fnr", alpha=0.05)
    >>> display = RateAgainstAlphaDisplay.from_calibration(
    ...     test, scores=scores[1000:], labels=labels[1000:], alphas=[0.05, 0.1], draw=False
    ... )
    >>> display.table.rate.round(3)
    array([0.056, 0.097])
    """

    table: RateTable
    control: str
    confidence: float
    expected_low: NDArray[np.float64] | None = None
    expected_high: NDArray[np.float64] | None = None
    tied: bool = False
    approximate: bool = False
    alpha: float | None = None
    group: object = None
    line_: Line2D = field(init=False, repr=False)
    band_: PolyCollection = field(init=False, repr=False)
    expected_: PolyCollection | None = field(init=False, repr=False)
    diagonal_: Line2D = field(init=False, repr=False)
    mark_: Line2D | None = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        clf: object,
        X: object,  # noqa: N803 - scikit-learn's name
        y: ArrayLike,
        *,
        alphas: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        group: object = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the rates that a fitted controller would deliver at many alphas.

        Parameters
        ----------
        clf : ErrorRateController
            Fitted; its alpha is marked.
        X, y
            Objects and labels, neither trained on nor calibrated on.
        alphas : array-like of shape (n_alphas,), optional
            Nominal rates; by default 100 of them up to 20%, or twice the test's alpha.
        groups, group
            Groups of the objects, needed exactly if there were groups in `fit`, and the one to
            show.
        confidence : float, default=0.95
            Of the band.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        draw : bool, default=True
            False for the numbers alone, which need no matplotlib.
        **kwargs
            Style of the line, as in `matplotlib.axes.Axes.plot`.
        """
        test = read_estimator(clf)
        subject = of_new(test, scores_of(clf, X), y, groups, group)
        return cls._of(subject, test.calibration, test, None, None, alphas, confidence).drawn(
            ax, kwargs, draw=draw
        )

    @classmethod
    def from_calibration(  # noqa: PLR0913 - all by name
        cls,
        source: Source,
        *,
        scores: ArrayLike,
        labels: ArrayLike,
        control: str | None = None,
        method: Method | None = None,
        alphas: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        group: object = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the rates that tests on a calibration deliver on labelled new objects.

        Parameters
        ----------
        source : Calibration, ErrorRateTest or AbstainingTest
            What the tests stand on.
        scores, labels : array-like of shape (n_objects,)
            New objects.
        control : {"fnr", "fpr"}, optional
            Which rate; needed unless the source is a test of one rate.
        method : Method, optional
            That of the test, or else `Conformal`.
        alphas, groups, group, confidence, ax, draw, **kwargs
            As in `from_estimator`.
        """
        calibration, test = read_source(source)
        subject = of_new(source, scores, labels, groups, group)
        rule = _rule(test, control)
        return cls._of(subject, calibration, rule, control, method, alphas, confidence).drawn(
            ax, kwargs, draw=draw
        )

    @classmethod
    def _of(
        cls,
        subject: Subject,
        calibration: Calibration,
        rule: ErrorRateTest | None,
        control: str | None,
        method: Method | None,
        alphas: ArrayLike | None,
        confidence: float,
    ) -> Self:
        control = rule.control if rule else control
        if control is None:
            raise InputError('Which rate? Pass control="fnr" or control="fpr".')
        null_class = null_class_of(control)
        method = check_method(method or (rule.method if rule else Conformal()))
        # Tests in one group see nothing but its scores.
        cells = [calibration.cells[c][subject.index or 0] for c in (0, 1)]
        alone = replace(calibration, cells=((cells[0],), (cells[1],)), groups=None)
        alpha = rule.alpha if rule else None
        table = rate_against_alpha(
            alone,
            subject.scores,
            subject.classes[subject.is_positive.astype(np.intp)],
            _alphas(alpha) if alphas is None else alphas,
            control=control,
            method=method,
            confidence=confidence,
        )
        low, high = _expected(method, cells[null_class].size, table.alpha)
        return cls(
            table=table,
            control=control,
            confidence=confidence,
            expected_low=low,
            expected_high=high,
            tied=has_ties(cells[null_class]),
            approximate=calibration.origin == "cross-fitted",
            alpha=alpha,
            group=subject.group,
        )

    @classmethod
    def from_predictions(
        cls,
        labels: ArrayLike,
        p_values: PValues | tuple[ArrayLike, ArrayLike],
        *,
        control: str,
        alphas: ArrayLike | None = None,
        positive_label: object = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the rates that p-values from anywhere deliver.

        Parameters
        ----------
        labels : array-like of shape (n_objects,)
            Truth first, as in scikit-learn.
        p_values : PValues, or a pair (p0, p1) of array-likes
            Both p-values of each object.
        control : {"fnr", "fpr"}
            Which rate: that of p1 among positives, or of p0 among negatives.
        positive_label : object, optional
            As in `calibrate`.
        alphas, confidence, ax, draw, **kwargs
            As in `from_estimator`.
        """
        is_positive, _ = read_labels(labels, positive_label)
        null_class = null_class_of(control)
        pair = read_p_values(p_values, is_positive.size)
        p = pair[null_class][is_positive == bool(null_class)]
        table = rates_of_p_values(p, _alphas(None) if alphas is None else alphas, confidence)
        return cls(table, control, confidence).drawn(ax, kwargs, draw=draw)

    def plot(self, ax: Axes | None = None, **kwargs: object) -> Self:
        """Draw it; `**kwargs` style the line."""
        ax = self.take(ax)
        from matplotlib.lines import Line2D

        order = np.argsort(self.table.alpha, kind="stable")
        alpha, table = self.table.alpha[order], self.table
        null_class, most = null_class_of(self.control), float(alpha.max(initial=0.01))
        colour, rate = COLOURS[null_class], self.control.upper()
        n = int(table.n[0]) if table.n.size else 0
        style = styled(
            kwargs,
            Line2D,
            color=colour,
            linewidth=1.8,
            label=f"counted {rate} of {n:,} {side(null_class)}s",
        )
        (self.line_,) = ax.plot(alpha, table.rate[order], **style)
        self._draw_bands(ax, order, colour)
        (self.diagonal_,) = ax.plot(
            [0, most], [0, most], color=INK, linestyle="--", linewidth=1.2, label=f"{rate} = alpha"
        )
        self.mark_ = None
        if self.alpha is not None:
            text = f"alpha of this test, {exact_percent(self.alpha)}"
            self.mark_ = ax.axvline(self.alpha, color=INK, linestyle=":", linewidth=1.2, label=text)
        ax.set(xlim=(0, most), ylim=(0, None))
        for axis in (ax.xaxis, ax.yaxis):
            as_percent(axis)
        finish(
            ax,
            title=f"Rate asked for, and rate delivered: {rate}" + in_words(self.group),
            x="alpha",
            y=f"{rate} on these objects",
            notes=self._notes(),
        )
        return self

    def _draw_bands(self, ax: Axes, order: NDArray[np.intp], colour: str) -> None:
        self.band_ = ax.fill_between(
            self.table.alpha[order],
            self.table.low[order],
            self.table.high[order],
            facecolor=(colour, 0.3),
            edgecolor=(colour, 0.8),
            linewidth=0.6,
            label=f"its {exact_percent(self.confidence)} interval at each alpha",
        )
        self.expected_ = None
        if self.expected_low is not None and self.expected_high is not None:
            self.expected_ = ax.fill_between(
                self.table.alpha[order],
                self.expected_low[order],
                self.expected_high[order],
                color=FAINT,
                alpha=0.25,
                linewidth=0,
                label="true rate in 90% of calibration sets",
            )

    def _notes(self) -> list[str]:
        notes = _impossible(self.table)
        if self.tied and self.expected_low is not None:
            notes.append("scores are tied: true rates can be lower than the grey band says")
        if self.approximate and self.expected_low is not None:
            notes.append("scores are cross-fitted: the grey band is approximate")
        return notes


def _rule(test: Test | None, control: str | None) -> ErrorRateTest | None:
    """Return the test of one rate that is shown, if there is one."""
    if control is not None:
        control = check_control(control)
    if isinstance(test, AbstainingTest):
        if control is None:
            raise InputError('A test of both rates: pass control="fnr" or control="fpr".')
        return test.fnr if control == "fnr" else test.fpr
    if test is not None and control not in (None, test.control):
        raise InputError(
            f'control="{control}", but the test keeps the {test.control.upper()}. Pass its '
            "calibration to look at the other rate."
        )
    return test


def _alphas(alpha: float | None) -> NDArray[np.float64]:
    most = max(_MOST, min(2 * (alpha or 0.0), 0.99))
    levels = most * np.arange(1, _STEPS + 1) / _STEPS
    return levels if alpha is None else np.union1d(levels, [alpha])


def _expected(
    method: Method, n: int, alphas: NDArray[np.float64]
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Return the limits of the true rate over calibration sets; NaN where no test is possible."""
    if not isinstance(method, RankMethod):
        return None, None
    limits = np.full((alphas.size, 2), np.nan)
    for i, alpha in enumerate(alphas.tolist()):
        k = critical_rank(method, n, alpha)
        if 1 <= k <= n:
            limits[i] = RealisedRate(k, n).interval
    return limits[:, 0], limits[:, 1]


def _impossible(table: RateTable) -> list[str]:
    if table.possible.all():
        return []
    if not table.possible.any():
        return ["no test at these alphas is possible with so few calibration scores"]
    most = float(table.alpha[~table.possible].max())
    return [f"at {100 * most:.6g}% and below there are too few calibration scores for a test"]
