"""What every display shares: numbers first, a drawing if asked, and one look."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, Self

from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Of the palette of Okabe and Ito, which colour-blind people can tell apart. Line styles and
# hatches say the same again, for print in grey.
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
INK, FAINT = "#333333", "#8a8a8a"
# Of the negative and the positive class.
COLOURS, LINES, HATCHES = (BLUE, VERMILLION), ((0, (4, 1.5)), "-"), (r"\\\\", "////")
_SIZE = (7.2, 4.5)


class Display(ABC):
    """A picture and the numbers in it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn; there after `plot`.
    """

    ax_: Axes
    figure_: Figure

    @abstractmethod
    def plot(self, ax: Axes | None = None, **kwargs: object) -> Self:
        """Draw the numbers."""

    def drawn(self, ax: Axes | None, kwargs: Mapping[str, object], *, draw: object) -> Self:
        """Draw if asked: the last step of every way to make a display."""
        if not isinstance(draw, bool):
            raise InputError(f"draw={draw!r} must be True or False.")
        if draw:
            return self.plot(ax=ax, **kwargs)
        if ax is not None or kwargs:
            given = ", ".join([*(["ax"] if ax is not None else []), *kwargs])
            raise InputError(f"draw=False makes no picture, so {given} has no use: leave it out.")
        return self

    def take(self, ax: Axes | None) -> Axes:
        """Remember where to draw: the given axes, or those of a new figure."""
        require_matplotlib(type(self).__name__)
        from matplotlib.axes import Axes

        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=_SIZE, layout="constrained")[1]
        if not isinstance(ax, Axes):
            raise InputError(
                f"ax={ax!r} must be the Axes of a matplotlib figure, such as the second value of "
                "plt.subplots(), or None for a new figure."
            )
        self.ax_ = ax
        self.figure_ = ax.figure  # type: ignore[assignment]  # or a part of one
        ax.spines[["top", "right"]].set_visible(False)
        return ax


def require_matplotlib(name: str) -> None:
    """Raise with the install line if matplotlib is not there.

    Examples
    --------
    >>> require_matplotlib("ScoreDensityDisplay")
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingMatplotlibError(
            f"{name} draws with matplotlib, which is not installed. Install it with: "
            "pip install 'ratekeeper[plot]'. Its numbers need no matplotlib: pass draw=False."
        ) from error
    del mpl


class MissingMatplotlibError(InputError, ImportError):
    """A picture was asked for, and matplotlib is not installed."""


def styled(given: Mapping[str, object], kind: type[Artist], **defaults: object) -> dict[str, Any]:
    """Return the defaults with what the user gave put over them, by any of matplotlib's names.

    Examples
    --------
    >>> from matplotlib.lines import Line2D
    >>> styled({"lw": 3}, Line2D, linewidth=1.5, color="black")
    {'linewidth': 3, 'color': 'black'}
    """
    from matplotlib.cbook import normalize_kwargs

    return {**defaults, **normalize_kwargs(dict(given), kind)}


def finish(ax: Axes, *, title: str, x: str, y: str, notes: Sequence[str] = ()) -> None:
    """Write title, legend and names of the axes, and below them what a reader has to know."""
    from matplotlib.font_manager import FontProperties

    handles, labels = ax.get_legend_handles_labels()
    # Above the axes the legend hides nothing; the title makes room for its rows.
    size = FontProperties(size="small").get_size_in_points()
    columns = _columns(ax, labels, size)
    rows = math.ceil(len(handles) / columns)
    ax.set_title(title, loc="left", color=INK, pad=8 + rows * 1.45 * size)
    if handles:
        ax.legend(
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
    ax.set_xlabel(x)
    if notes:
        ax.set_xlabel(x + "\n" + "\n".join(notes))
    ax.set_ylabel(y)


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


def as_percent(axis: Axis) -> None:
    """Write the ticks of an axis of rates in percent."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda rate, _: f"{round(100 * rate, 10):g}%"))


def plain(text: str) -> str:
    r"""Keep matplotlib from reading the dollars in a user's word as mathematics.

    Examples
    --------
    >>> print(plain("'$5'"))
    '\$5'
    """
    return text.replace("$", r"\$")


def side(null_class: int) -> Literal["positive", "negative"]:
    """Return what the class is called.

    Examples
    --------
    >>> side(1)
    'positive'
    """
    return "positive" if null_class else "negative"
