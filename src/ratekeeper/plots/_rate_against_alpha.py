"""The rate that tests deliver at every alpha, beside the rate they were asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from ratekeeper._reading._columns import read_labels
from ratekeeper._reading._parameters import check_choice, check_control, null_class_of
from ratekeeper._wording._formatting import exact_percent
from ratekeeper.calibration._cells import no_such_class
from ratekeeper.diagnostics import RateTable, rate_against_alpha
from ratekeeper.diagnostics._rate_against_alpha import rates_of_p_values
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.plots import _look as look
from ratekeeper.plots._count_bands import rate_band
from ratekeeper.plots._display import Display
from ratekeeper.plots._p_value_counts import read_p_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.calibration._p_values import PValues
    from ratekeeper.control._test import Test
    from ratekeeper.methods import Method
    from ratekeeper.plots._subject import Subject

_MOST = 0.2
_STEPS = 100


@dataclass(eq=False, repr=False)
class RateAgainstAlphaDisplay(Display):
    """The counted rate of tests at many alphas, with the band it stays in without drift.

    Make it with `from_estimator`, `from_predictions` or `from_calibration`, of labelled new
    objects.

    Options
    -------
    control : {"fnr", "fpr"}, optional
        Which rate; required unless the source is a test of one rate.
    method : Method, optional
        By default that of the test, or else `Conformal`.
    alphas : array-like of shape (n_alphas,), optional
        Nominal rates; by default 100 of them up to 20%, or twice the test's alpha.
    confidence : float, default=0.95
        Of the grey band, and of the interval around the counted rate at each alpha.
    band : {"simultaneous", "pointwise"}, default="simultaneous"
        Whether the grey band holds at all alphas at once, or at each alpha alone.
    **kwargs
        Style of the line, as in `matplotlib.axes.Axes.plot`.

    Attributes
    ----------
    table : RateTable
        One row for each alpha; see `diagnostics.rate_against_alpha`. NaN where a test is
        impossible with so few calibration scores.
    control : {"fnr", "fpr"}
        The rate that the tests keep.
    confidence : float
        Of the grey band and of the intervals.
    band : {"simultaneous", "pointwise"}
        Kind of the grey band.
    expected_low, expected_high : ndarray or None
        The grey band: between them the counted rate lies without drift and ties. None where the
        calibration is not known and for methods that do not go by ranks.
    false_alarm : float or None
        How often, without drift, the counted rate is above the grey band at one alpha or more: at
        most so often (simultaneous), up to about so often (pointwise).
    cross_fitted : bool
        Whether the scores were cross-fitted: the grey band is then that of held-out scores.
    alpha : float or None
        That of the test shown, which is marked.
    line_, band_, expected_, diagonal_, mark_ : artists
        Set by `plot`; None for what there is not.

    Notes
    -----
    **Guarantee.** If the new objects of the null class are exchangeable with its calibration
    objects, the counted rate is nowhere above the simultaneous grey band with probability at least
    `confidence`, over calibration sets and new objects together, whatever is tied; and nowhere
    outside it, if no scores of the population are tied. So a rate above it is evidence of drift,
    with a false alarm probability of at most 1 - confidence, by default 5%. A rate below it is
    not: ties lower rates, and a calibration set need not show them. The pointwise band promises
    this at one alpha chosen in advance alone: without drift the rate is above it somewhere far more
    often, as a rule in 5% to 20% of cases with the default alphas; `false_alarm` says how often.

    The narrow interval around the line is the exact one of the test's true rate at each alpha
    alone, given this calibration set. Where it lies above the diagonal, the rate of this test is
    above alpha with that confidence at that alpha; with a promise on average that is so for up to
    about half of all calibration sets, without any drift.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.plots import RateAgainstAlphaDisplay
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 3000)
    >>> scores = rng.normal(2 * labels)
    >>> cal = rk.calibrate(scores[:1000], labels[:1000])
    >>> new = {"scores": scores[1000:], "labels": labels[1000:]}
    >>> display = RateAgainstAlphaDisplay.from_calibration(cal, control="fnr", **new, draw=False)
    >>> display
    RateAgainstAlphaDisplay of FNR, 1,028 objects, 100 levels; .plot() draws it
    >>> bool(display.above.any())
    False
    """

    table: RateTable
    control: str
    confidence: float
    band: str = "simultaneous"
    expected_low: NDArray[np.float64] | None = None
    expected_high: NDArray[np.float64] | None = None
    false_alarm: float | None = None
    cross_fitted: bool = False
    alpha: float | None = None

    @property
    def above(self) -> NDArray[np.bool_]:
        """At which alphas the counted rate is above the grey band, which is evidence of drift."""
        if self.expected_high is None:
            return np.zeros(self.table.alpha.size, dtype=bool)
        return np.asarray(self.table.rate > self.expected_high)

    @property
    def _content(self) -> str:
        n = int(self.table.n[0])
        return f"{self.control.upper()}, {n:,} objects, {self.table.alpha.size:,} levels"

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
        """Show the rates that p-values from anywhere deliver, without a grey band.

        Parameters
        ----------
        labels : array-like of shape (n_objects,)
            Truth first, as in scikit-learn.
        p_values : PValues, or a pair (p0, p1) of array-likes
            Both p-values of each object.
        control : {"fnr", "fpr"}
            Which rate: that of p1 among positives, or of p0 among negatives.
        alphas, positive_label, confidence, ax, draw, **kwargs
            As described in `ratekeeper.plots` and by the class.
        """
        is_positive, _ = read_labels(labels, positive_label)
        null_class = null_class_of(control)
        pair = read_p_values(p_values, is_positive.size)
        p = pair[null_class][is_positive == bool(null_class)]
        table = rates_of_p_values(p, _alphas(None) if alphas is None else alphas, confidence)
        return cls(table, control, confidence).drawn(ax=ax, draw=draw, **kwargs)

    @classmethod
    def _of(
        cls,
        subject: Subject,
        *,
        control: str | None = None,
        method: Method | None = None,
        alphas: ArrayLike | None = None,
        confidence: float = 0.95,
        band: Literal["simultaneous", "pointwise"] = "simultaneous",
        **drawing: Any,  # noqa: ANN401 - as in `Display.drawn`
    ) -> Self:
        check_choice(band, "band", ("simultaneous", "pointwise"))
        calibration, method = subject.judged_by(method)
        control, alpha = _control_and_alpha(subject.test, control)
        null_class = null_class_of(control)
        if not any(scores.size for scores in calibration.cells[null_class]):
            found = no_such_class(calibration, null_class)
            raise InputError(found, parameter="control", value=control, remedy="Add some of them.")
        # Tests in one group see nothing but its scores.
        cells = [calibration.cells[c][subject.index or 0] for c in (0, 1)]
        table = rate_against_alpha(
            replace(calibration, cells=((cells[0],), (cells[1],)), groups=None),
            subject.scores,
            subject.classes[subject.is_positive.astype(np.intp)],
            _alphas(alpha) if alphas is None else alphas,
            control=control,
            method=method,
            confidence=confidence,
        )
        behind, new = cells[null_class], subject.cells[null_class]
        expected = rate_band(
            method, behind.size, new.size, table.alpha, confidence=confidence, kind=band
        )
        display = cls(
            table=table,
            control=control,
            confidence=confidence,
            band=band,
            expected_low=expected.low if expected else None,
            expected_high=expected.high if expected else None,
            false_alarm=expected.false_alarm if expected else None,
            cross_fitted=calibration.origin == "cross-fitted",
            alpha=alpha,
            group=subject.group,
        )
        return display.drawn(**drawing)

    def _draw(self, ax: Axes, **kwargs: object) -> None:
        order = np.argsort(self.table.alpha, kind="stable")
        alpha, table = self.table.alpha[order], self.table
        null_class, most = null_class_of(self.control), float(alpha.max(initial=0.01))
        colour, rate = look.COLOURS[null_class], self.control.upper()
        text = f"counted {rate} of {int(table.n[0]):,} {look.SIDES[null_class]}s"
        style = look.styled(kwargs, "line", color=colour, label=text)
        (self.line_,) = ax.plot(alpha, table.rate[order], **style)
        share = exact_percent(self.confidence)
        self.band_ = ax.fill_between(
            alpha,
            table.low[order],
            table.high[order],
            facecolor=(colour, 0.3),
            edgecolor=(colour, 0.8),
            linewidth=0.6,
            label=f"{share} interval of the true rate at each alpha",
        )
        self.expected_ = None
        if self.expected_low is not None and self.expected_high is not None:
            where = "all alphas at once" if self.band == "simultaneous" else "each alpha alone"
            self.expected_ = ax.fill_between(
                alpha,
                self.expected_low[order],
                self.expected_high[order],
                color=look.FAINT,
                alpha=0.25,
                linewidth=0,
                label=f"{share} band without drift, {where}",
            )
        diagonal = [0, most]
        (self.diagonal_,) = ax.plot(
            diagonal, diagonal, "--", color=look.INK, label=f"{rate} = alpha"
        )
        self.mark_ = None
        if self.alpha is not None:
            text = f"alpha of this test, {exact_percent(self.alpha)}"
            self.mark_ = look.ruled(ax, "x", self.alpha, text)
        ax.set(xlim=(0, most), ylim=(0, None))
        look.as_percent(ax.xaxis, ax.yaxis)
        title = f"Rate asked for, and rate delivered: {rate}"
        self.finish(title, "alpha", f"{rate} on these objects", self._notes())

    def _notes(self) -> list[str]:
        notes = _impossible(self.table)
        if self.false_alarm is None or not self.table.possible.any():
            return notes
        share = f"{100 * self.false_alarm:.3g}% of cases"
        if self.band == "pointwise":
            notes.append(
                f"without drift the rate is above the grey band somewhere in up to {share}"
            )
        elif self.above.any():
            notes.append(f"above the grey band: evidence of drift (false alarm in at most {share})")
        else:
            notes.append("nowhere above the grey band: no evidence of drift")
        if self.expected_low is not None and (self.table.rate < self.expected_low).any():
            notes.append("below the grey band is no evidence: ties lower rates")
        if self.cross_fitted:
            notes.append("scores are cross-fitted: the grey band is that of held-out ones")
        return notes


def _control_and_alpha(test: Test | None, control: str | None) -> tuple[str, float | None]:
    """Return which rate is shown, and the alpha of the test that keeps it if there is one."""
    if control is not None:
        control = check_control(control)
    kept: dict[str, float] = (
        {} if test is None else {rule.control: rule.alpha for rule in test.parts}
    )
    if control is None:
        if len(kept) != 1:
            need = '"fnr" or "fpr" unless a test of one rate is shown'
            raise InputError(parameter="control", value=None, need=need)
        (control,) = kept
    if kept and control not in kept:
        raise InputError(
            (Parameter("control", control), f", but the test keeps the {'/'.join(kept).upper()}."),
            parameter="control",
            value=control,
            remedy="Pass its calibration to look at the other rate.",
        )
    return control, kept.get(control)


def _alphas(alpha: float | None) -> NDArray[np.float64]:
    most = max(_MOST, min(2 * (alpha or 0.0), 0.99))
    levels = most * np.arange(1, _STEPS + 1) / _STEPS
    return levels if alpha is None else np.union1d(levels, [alpha])


def _impossible(table: RateTable) -> list[str]:
    if table.possible.all():
        return []
    if not table.possible.any():
        return ["no test at these alphas is possible with so few calibration scores"]
    most = float(table.alpha[~table.possible].max())
    return [f"at {100 * most:.6g}% and below there are too few calibration scores for a test"]
