"""One look for every display: colours, styles, lines across the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D

# From the palette of Okabe and Ito, which colour-blind people can tell apart. Line styles and
# hatches say the same again, for print in grey.
BLUE, VERMILLION = "#0072B2", "#D55E00"
INK, FAINT = "#333333", "#8a8a8a"
# Of the negative and the positive class.
COLOURS, LINES, HATCHES = (BLUE, VERMILLION), ((0, (4, 1.5)), "-"), (r"\\\\", "////")
SIDES = "negative", "positive"


def styled(
    given: Mapping[str, object], kind: Literal["line", "outline"], **defaults: object
) -> dict[str, Any]:
    """Return the defaults with what the user gave put over them, by any of matplotlib's names.

    Examples
    --------
    >>> styled({"lw": 3}, "line", color="black")
    {'linewidth': 3, 'color': 'black'}
    """
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

    artist = Line2D if kind == "line" else StepPatch
    return {"linewidth": 1.8, **defaults, **normalize_kwargs(dict(given), artist)}


def outline(
    given: Mapping[str, object], label: int, text: str, **defaults: object
) -> dict[str, Any]:
    """Return the style of the histogram of one class."""
    look = {"color": COLOURS[label], "linestyle": LINES[label], "label": text}
    return styled(given, "outline", **look, **defaults)


def shading(label: int) -> dict[str, Any]:
    """Return the style of an area of errors of one class."""
    face, edge = (COLOURS[label], 0.3), (COLOURS[label], 0.9)
    return {"facecolor": face, "edgecolor": edge, "hatch": HATCHES[label], "linewidth": 0}


def ruled(
    ax: Axes, axis: Literal["x", "y"], value: float, label: str | None, linestyle: str = ":"
) -> Line2D:
    """Draw a line across the axes at a value of one of them."""
    line = ax.axvline if axis == "x" else ax.axhline
    return line(value, color=INK, linestyle=linestyle, linewidth=1.3, label=label)


def as_percent(*axes: Axis) -> None:
    """Write the ticks of axes of rates in percent."""
    from matplotlib.ticker import FuncFormatter

    for axis in axes:
        axis.set_major_formatter(FuncFormatter(lambda rate, _: f"{round(100 * rate, 10):g}%"))


def plain(text: str) -> str:
    r"""Keep matplotlib from reading the dollars in a user's word as mathematics.

    Examples
    --------
    >>> print(plain("'$5'"))
    '\$5'
    """
    return text.replace("$", r"\$")
