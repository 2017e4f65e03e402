"""What every display shares: how it is made, numbers first, a drawing if asked for, one look."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from ratekeeper._wording._formatting import format_value
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.plots import _look as look
from ratekeeper.plots._subject import read_estimator, subject_of, subject_of_arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from ratekeeper.exceptions import Words
    from ratekeeper.plots._subject import Source, Subject

_SIZE = (7.2, 4.5)
_HINT = "; .plot() draws it"
_LONGEST = 99 - len(_HINT)  # of the rest of a repr
_AXES = (
    "the Axes of a matplotlib figure, such as the second value of plt.subplots(), or None for a "
    "new figure"
)


@dataclass(eq=False, repr=False)
class Display(ABC):
    """A picture and the numbers in it.

    Attributes
    ----------
    group : object
        The group that is shown; None without groups.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn. Set by `plot`, as are all attributes whose names end in ``_``.
    """

    group: object = field(default=None, kw_only=True)

    @classmethod
    def from_calibration(
        cls,
        source: Source,
        *,
        scores: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        group: object = None,
        ax: Axes | None = None,
        draw: bool = True,
        **options: Any,  # noqa: ANN401 - each display has its own
    ) -> Self:
        """Show a calibration or a test: by itself, or on labelled new objects.

        The parameters are described in `ratekeeper.plots`, the options by the class.
        """
        subject = subject_of(source, scores, labels, groups, group)
        return cls._of(subject, ax=ax, draw=draw, **options)

    @classmethod
    def from_estimator(
        cls,
        clf: object,
        X: object = None,  # noqa: N803 - scikit-learn's name
        y: ArrayLike | None = None,
        **options: Any,  # noqa: ANN401 - those of `from_calibration`
    ) -> Self:
        """Show the test of a fitted controller: by itself, or on labelled new objects.

        Parameters
        ----------
        clf : ErrorRateController
            Fitted.
        X, y : optional
            Objects and labels, neither trained on nor calibrated on.
        **options
            All others of `from_calibration`.
        """
        test = read_estimator(clf)
        from ratekeeper.estimators._controller import scores_of

        scores = None if X is None else scores_of(clf, X)  # type: ignore[arg-type]
        return cls.from_calibration(test, scores=scores, labels=y, **options)

    @classmethod
    @abstractmethod
    def _of(cls, subject: Subject, **options: Any) -> Self:  # noqa: ANN401 - each has its own
        """Compute the numbers and draw them if asked to."""

    @property
    @abstractmethod
    def _content(self) -> str:
        """What is shown, in a few words."""

    @abstractmethod
    def _draw(self, ax: Axes, **kwargs: Any) -> None:  # noqa: ANN401 - each has its own
        """Draw the numbers; `**kwargs` style the main lines."""

    def __repr__(self) -> str:
        text = f"{type(self).__name__} of {self._content}{self.of_group}"
        return (text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...") + _HINT

    @property
    def of_group(self) -> str:
        """The name of the group as an apposition, if there is one."""
        return "" if self.group is None else f", group {format_value(self.group)}"

    def drawn(self, *, ax: Axes | None, draw: object, **kwargs: object) -> Self:
        """Draw if asked to: the last step of every way to make a display."""
        if not isinstance(draw, bool):
            raise InputError(parameter="draw", value=draw, need="True or False")
        if draw:
            return self.plot(ax=ax, **kwargs)
        if ax is not None or kwargs:
            first = "ax" if ax is not None else next(iter(kwargs))
            no_use: Words = (
                *(Parameter("draw", value=False), " makes no picture, so "),
                *(Parameter(first), " has no use."),
            )
            raise InputError(no_use, parameter=first, remedy="Leave it out.")
        return self

    def plot(self, ax: Axes | None = None, **kwargs: Any) -> Self:  # noqa: ANN401 - of matplotlib
        """Draw the numbers.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **kwargs
            Style of the main lines.
        """
        try:
            from matplotlib.axes import Axes
        except ImportError as error:
            raise MissingMatplotlibError(type(self).__name__) from error

        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=_SIZE, layout="constrained")[1]
        if not isinstance(ax, Axes):
            raise InputError(parameter="ax", value=ax, need=_AXES)
        self.ax_: Axes = ax
        self.figure_: Figure = ax.figure  # type: ignore[assignment]  # or a part of one
        ax.spines[["top", "right"]].set_visible(False)
        self._draw(ax, **kwargs)
        return self

    def finish(self, title: str, x: str, y: str, notes: Sequence[str] = ()) -> None:
        """Write title, legend and names of the axes, and below them what a reader has to know."""
        from matplotlib.font_manager import FontProperties

        handles, labels = self.ax_.get_legend_handles_labels()
        # Above the axes the legend hides nothing; the title makes room for its rows.
        size = FontProperties(size="small").get_size_in_points()
        columns = _columns(self.ax_, labels, size)
        pad = 8 + math.ceil(len(handles) / columns) * 1.45 * size
        self.ax_.set_title(title + look.plain(self.of_group), loc="left", color=look.INK, pad=pad)
        if handles:
            self.ax_.legend(
                loc="lower left",
                bbox_to_anchor=(0, 1),
                ncols=columns,
                fontsize="small",
                frameon=False,
                borderaxespad=0.2,
                borderpad=0.2,
                labelspacing=0.35,
                handlelength=2.6,
            )
        self.ax_.set(xlabel="\n".join([x, *notes]), ylabel=y)


class ScoreDisplay(Display):
    """A display of scores and labels, which needs no calibration."""

    @classmethod
    def from_predictions(
        cls,
        labels: ArrayLike,
        scores: ArrayLike,
        *,
        test: Source | None = None,
        groups: ArrayLike | None = None,
        group: object = None,
        positive_label: object = None,
        higher_is_positive: bool = True,
        ax: Axes | None = None,
        draw: bool = True,
        **options: Any,  # noqa: ANN401 - each display has its own
    ) -> Self:
        """Show labels and scores, truth first as in scikit-learn, and what a test does with them.

        The parameters are described in `ratekeeper.plots`, the options by the class. A test knows
        `positive_label` and `higher_is_positive`; `groups` and `group` need one.
        """
        if test is not None:
            if positive_label is not None or higher_is_positive is not True:
                given = "higher_is_positive" if positive_label is None else "positive_label"
                known = "The test knows which label is positive and which scores indicate it."
                omit = ("Leave out ", Parameter(given), ".")
                raise InputError(known, parameter=given, remedy=omit)
            subject = subject_of(test, scores, labels, groups, group)
        else:
            if groups is not None or group is not None:
                given = "group" if groups is None else "groups"
                raise InputError(
                    (Parameter(given), " chooses among the thresholds of a test: there is none."),
                    parameter=given,
                    remedy=("Pass ", Parameter("test"), ", or the rows of one group only."),
                )
            subject = subject_of_arrays(labels, scores, positive_label, higher_is_positive)
        return cls._of(subject, ax=ax, draw=draw, **options)


class MissingMatplotlibError(InputError, ImportError):
    """A picture was asked for, and matplotlib is not installed."""

    def __init__(self, name: str) -> None:
        install = "Run pip install matplotlib. The numbers do not need it: pass "
        super().__init__(
            f"{name} draws with matplotlib, which is not installed.",
            remedy=(install, Parameter("draw", value=False), "."),
        )


def _columns(ax: Axes, labels: list[str], size: float) -> int:
    """Return whether the legend has room for two columns, or for one.

    A letter is about 0.55 times as wide as the type is high, and a sign with its margins 36 points.
    """
    half = math.ceil(len(labels) / 2)
    parts = [part for part in (labels[:half], labels[half:]) if part]
    needed = sum(0.55 * size * max(map(len, part)) + 36 for part in parts)
    # The axes, in points, with the margins that a layout leaves them at least.
    room = 1.16 * ax.get_position().width * 72 * ax.figure.bbox.width / ax.figure.dpi
    return 2 if len(parts) > 1 and needed <= room else 1
