"""What both errors may be at every threshold: the NP-ROC band, and its place at alpha."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._reading._parameters import check_control, check_probability
from ratekeeper._wording._formatting import exact_percent, percent
from ratekeeper.exceptions import InputError
from ratekeeper.plots import _look as look
from ratekeeper.plots._display import ScoreDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ratekeeper.baselines import NPROC
    from ratekeeper.plots._subject import Subject

_FINEST = 250  # steps that a picture can show
_NAMES = {"fnr": "FNR", "fpr": "FPR"}


@dataclass(eq=False, repr=False)
class NPROCDisplay(ScoreDisplay):
    """The NP-ROC band: bounds of the other error over the upper bound of the controlled one.

    Make it with `from_band`, of what `baselines.np_roc` returns, or with `from_predictions`,
    `from_calibration` or `from_estimator`. Errors are drawn, not powers, so better is nearer to
    the corner at 0.

    Options
    -------
    control : {"fnr", "fpr"}
        Which error is of type I; that of the test if there is one, else "fnr".
    delta : float, default=0.05
        Probability that one bound fails.
    alpha : float, optional
        Level at which the threshold is marked; that of the test if there is one.
    **kwargs
        Style of the two edges, as in `matplotlib.axes.Axes.plot`.

    Attributes
    ----------
    band : NPROC
        The bounds and their thresholds; see `baselines.np_roc`.
    alpha : float or None
        The level that is marked.
    place : int or None
        Place of the band at alpha.
    lines_, fill_, alpha_line_, point_ : artists
        Set by `plot`: the lower and the upper edge, what lies between them, and the mark at alpha
        with its line; the last two are None without alpha.

    Notes
    -----
    **Guarantee.** Each bound fails with probability at most delta over held-out objects, at one
    threshold that was fixed in advance; and the controlled error at the mark is above alpha with
    probability at most delta, for one alpha fixed in advance. The band does not hold at all
    thresholds at once. Objects that trained the classifier void all of it.

    Examples
    --------
    >>> import numpy as np
    >>> from ratekeeper.plots import NPROCDisplay
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 1000)
    >>> scores = rng.normal(2 * labels)
    >>> display = NPROCDisplay.from_predictions(labels, scores, alpha=0.05, draw=False)
    >>> display
    NPROCDisplay of FNR at 537 thresholds, delta 5%, alpha 5%; .plot() draws it
    >>> round(float(display.band.type_ii_upper[display.place]), 3)
    0.368
    """

    band: NPROC
    alpha: float | None = None
    place: int | None = None

    @property
    def _content(self) -> str:
        level = "" if self.alpha is None else f", alpha {exact_percent(self.alpha)}"
        thresholds = f"{_NAMES[self.band.control]} at {self.band.threshold.size:,} thresholds"
        return f"{thresholds}, delta {exact_percent(self.band.delta)}{level}"

    @classmethod
    def from_band(
        cls,
        band: NPROC,
        *,
        alpha: float | None = None,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show a band, such as `baselines.np_roc` returns and `NPROCThreshold` has as ``band_``.

        Parameters
        ----------
        band : NPROC
            From `baselines.np_roc`.
        alpha, ax, draw, **kwargs
            As described in `ratekeeper.plots` and by the class.
        """
        from ratekeeper.baselines import NPROC  # loads scikit-learn, which other displays do not

        if not isinstance(band, NPROC):
            raise InputError(parameter="band", value=band, need="what baselines.np_roc returns")
        return cls._of_band(band, alpha, None).drawn(ax=ax, draw=draw, **kwargs)

    @classmethod
    def _of(
        cls,
        subject: Subject,
        *,
        control: str | None = None,
        delta: float = 0.05,
        alpha: float | None = None,
        **drawing: Any,  # noqa: ANN401 - as in `Display.drawn`
    ) -> Self:
        from ratekeeper.baselines import np_roc

        promised = subject.promised
        if control is None:
            control = next(iter(promised)) if len(promised) == 1 else "fnr"
        control = check_control(control)
        alpha = promised.get(control) if alpha is None else alpha
        for name, cell in zip(subject.names, subject.cells, strict=True):
            if not cell.size:
                raise InputError(
                    f"None of the {subject.scores.size:,} objects is {name}.",
                    parameter="labels",
                    remedy="Add labelled objects: both classes are needed.",
                )
        sign = 1 if subject.higher_is_positive else -1
        found = np_roc(
            sign * subject.scores.astype(np.float64),
            subject.is_positive.astype(int),
            control=control,
            delta=delta,
        )
        if sign < 0:
            found = replace(found, threshold=-found.threshold)
        return cls._of_band(found, alpha, subject.group).drawn(**drawing)

    @classmethod
    def _of_band(cls, band: NPROC, alpha: float | None, group: object) -> Self:
        level = None if alpha is None else check_probability(alpha, "alpha")
        place = None if level is None else band.place(level)
        return cls(band, level, place, group=group)

    def _draw(self, ax: Axes, **kwargs: object) -> None:
        type_i, lower, upper = (bounds[self._drawn_places()] for bounds in _bounds(self.band))
        own = _NAMES[self.band.control]
        other = _NAMES["fpr" if self.band.control == "fnr" else "fnr"]
        delta = exact_percent(self.band.delta)
        self.fill_ = ax.fill_between(
            type_i, lower, upper, step="pre", facecolor=(look.BLUE, 0.16), linewidth=0
        )
        edges = (("upper bound", upper, "-"), ("lower bound", lower, look.LINES[0]))
        self.lines_ = []
        for text, values, dashes in edges:
            label = f"{text} of {other}, fails with at most {delta}"
            style = look.styled(kwargs, "line", color=look.BLUE, linestyle=dashes, label=label)
            self.lines_ += ax.step(type_i, values, where="pre", **style)
        self.alpha_line_ = self.point_ = None
        if self.alpha is not None and self.place is not None:
            text, worst = (
                f"alpha = {exact_percent(self.alpha)}",
                self.band.type_ii_upper[self.place],
            )
            self.alpha_line_ = look.ruled(ax, "x", self.alpha, text)
            (self.point_,) = ax.plot(
                self.band.type_i_upper[self.place],
                worst,
                "o",
                color=look.VERMILLION,
                markersize=9,
                markeredgecolor="white",
                zorder=4,
                label=f"threshold for it: {other} at most {percent(worst)}",
            )
        ax.set(xlim=(0, 1), ylim=(0, 1))
        look.as_percent(ax.xaxis, ax.yaxis)
        notes = ("each bound is for one threshold fixed in advance",)
        below = f"upper bound of {own}, fails with at most {delta}"
        self.finish("NP-ROC band", below, other, notes)

    def _drawn_places(self) -> NDArray[np.intp]:
        """Return the places that are drawn: no more than an eye can tell apart, and the mark's."""
        last = self.band.threshold.size - 1
        places = np.rint(np.linspace(0, last, min(last + 1, _FINEST))).astype(np.intp)
        return np.union1d(places, [last if self.place is None else self.place])


def _bounds(band: NPROC) -> tuple[Any, Any, Any]:
    return band.type_i_upper, band.type_ii_lower, band.type_ii_upper
