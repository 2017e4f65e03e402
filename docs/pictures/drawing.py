"""How the pictures of the guides look, and the one function that writes them.

The same program draws the same bytes: no date is written, and the names of parts are seeded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes

    import ratekeeper as rk

FOLDER = Path(__file__).parent
STYLE = {
    "svg.hashsalt": "ratekeeper",
    "svg.fonttype": "none",
    "path.simplify": True,
    "font.size": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
SIZE = (6.8, 4.2)
BLUE, ORANGE, GREY = "#1f5fa8", "#c7560c", "#8a8a8a"
PERCENT = FuncFormatter(lambda share, _: f"{100 * share:g}%")
NUMBER = FuncFormatter(lambda n, _: f"{n:,.0f}")


def limit(ax: Axes, alpha: float, text: str, *, across: bool = True, at: float = 0.99) -> None:
    """Draw the limit that is promised, with its name."""
    if across:
        ax.axhline(alpha, color="black", linewidth=1.2, linestyle="--")
        place = ax.get_yaxis_transform()
        ax.text(at, alpha, text, transform=place, va="bottom", ha="right" if at > 0.5 else "left")
    else:
        ax.axvline(alpha, color="black", linewidth=1.2, linestyle="--")
        ax.text(alpha, at, f" {text}", transform=ax.get_xaxis_transform(), va="top")


def dots(
    ax: Axes,
    x: Sequence[float],
    rates: Sequence[rk.control.Rate],
    colour: str,
    mark: str,
    name: str,
) -> None:
    """Draw counted rates with their intervals."""
    value = np.array([one.rate for one in rates])
    ends = np.array([one.interval for one in rates])
    reach = [value - ends[:, 0], ends[:, 1] - value]
    ax.errorbar(x, value, yerr=reach, fmt=mark, color=colour, capsize=4, label=name)


def write(
    pictures: Mapping[str, Callable[[Axes], None]],
    only: str | None = None,
    *,
    sizes: Mapping[str, tuple[float, float]] | None = None,
    folder: Path = FOLDER,
) -> None:
    """Write pictures as SVG.

    Parameters
    ----------
    pictures : mapping of str to callable
        What draws each picture, by name.
    only : str, optional
        Name of the one picture to write; without it, all are written.
    sizes : mapping of str to (float, float), optional
        Width and height in inches of the pictures that are not of the usual size.
    folder : Path
        Where the pictures are written: beside this file, if nothing else is said.
    """
    if only not in (None, *pictures):
        raise SystemExit(f"There is no picture {only!r} here, but: {', '.join(pictures)}.")
    with mpl.rc_context(STYLE):
        for name in pictures if only is None else [only]:
            figure = Figure(figsize=(sizes or {}).get(name, SIZE), layout="constrained")
            pictures[name](figure.subplots())
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
