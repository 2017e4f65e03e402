"""The figures, each drawn from its table alone."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from reproduction.leak_free import FAIR, LEAKY
from reproduction.protocol import GROUPS
from reproduction.standard_tests import NETWORKS, OURS, STANDARD, titles
from reproduction.valid.cells import RIVAL, SMALL_SIZES
from reproduction.valid.tables import ERROR, LEAD

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reproduction.tables import Table

# Chosen to differ in print and for colour-blind readers (Okabe and Ito).
_COLOURS = {
    "NN_1": "#0072B2",
    "NN_0": "#56B4E9",
    "SW": "#D55E00",
    "AD": "#E69F00",
    "LF": "#009E73",
    "JB": "#CC79A7",
    LEAKY: "#999999",
    FAIR: "#0072B2",
    OURS: "#000000",
    "SF": "#F0E442",
    "K2": "#999999",
    "ZA": "#56B4E9",
    "ZC": "#0072B2",
    "BHEP": "#8C564B",
}
_NORMAL, _OTHER = "#0072B2", "#D55E00"
_DIRECTED = "#CC0000"
_SHADES = ("#BBBBBB", "#56B4E9", "#0072B2", "#000000")
# The directed network that looks for what a group has.
_MADE_FOR = {"G1": "heavy", "G2": "skewed", "G3": "skewed", "G4": "light"}
# Beyond these leads a line leaves the panel.
_SHOWN = (-0.15, 0.3)


def densities(table: Table) -> bytes:
    """Draw the densities of the score given each class."""
    figure, (axes,) = _figure(1, 1, (5.0, 3.2))
    score, other, normal = zip(*table.rows, strict=True)
    axes.plot(score, other, color=_OTHER, label="non-normal samples")
    axes.plot(score, normal, color=_NORMAL, label="normal samples")
    axes.set(xlabel="score T", ylabel="density", ylim=(0, None))
    axes.legend(frameon=False)
    return _png(figure)


def control(table: Table) -> bytes:
    """Draw the realised rate against alpha, for both tests."""
    figure, panels = _figure(1, 2, (7.5, 3.2))
    alpha, fpr, fnr = zip(*table.rows, strict=True)
    for axes, rate, name in zip(panels, (fpr, fnr), table.columns[1:], strict=True):
        axes.plot((0, 1), (0, 1), color="#999999", linestyle="--", label="rate = alpha")
        axes.plot(alpha, rate, color=_NORMAL, label=name)
        axes.set(xlabel="alpha", ylabel=name)
        axes.legend(frameon=False)
    return _png(figure)


def by_size(table: Table) -> bytes:
    """Draw the power of both tests against the sample size."""
    figure, panels = _figure(1, 2, (7.5, 3.2))
    n, tpr, old_tpr, tnr, old_tnr = zip(*table.rows, strict=True)
    for axes, new, old, name in zip(
        panels, (tpr, tnr), (old_tpr, old_tnr), (table.columns[1], table.columns[3]), strict=True
    ):
        axes.plot(n, new, color=_NORMAL, marker="o", label="this run")
        axes.plot(n, old, color="#999999", marker="x", linestyle="--", label="author's repository")
        axes.set(xlabel="n", ylabel=f"{name} at 5%", ylim=(None, 1))
        axes.legend(frameon=False, loc="lower right")
    return _png(figure)


def power(table: Table) -> bytes:
    """Draw the power on each group as published; dotted, the author's numbers."""
    figure, panels = _figure(2, 2, (8.0, 6.4))
    for axes, group in zip(panels, GROUPS, strict=True):
        for test in ("NN_1", "NN_0", *STANDARD):
            place = table.columns.index(test)
            n, new, old = _lines(table, group, place, place + 1)
            axes.plot(n, new, color=_COLOURS[test], label=test)
            axes.plot(n, old, color=_COLOURS[test], linestyle=":")
        _dress(axes, group)
    _legend_below(figure, panels[0])
    return _png(figure)


def fair_power(table: Table) -> bytes:
    """Draw the power on each group at a fair scale."""
    figure, panels = _figure(2, 2, (8.0, 6.4))
    for axes, group in zip(panels, GROUPS, strict=True):
        for test in (OURS, "SW", "AD", "LF", "JB", FAIR, LEAKY):
            n, values = _lines(table, group, table.columns.index(test))
            style = "--" if test in {FAIR, LEAKY} else "-"
            axes.plot(n, values, color=_COLOURS[test], linestyle=style, label=test)
        _dress(axes, group)
    _legend_below(figure, panels[0])
    return _png(figure)


def valid_power(table: Table) -> bytes:
    """Draw the lead over Shapiro-Wilk on each group at 5%."""
    figure, panels = _figure(2, 2, (8.0, 7.0))
    others = [test for test in titles() if test != RIVAL]
    for axes, (group, kind) in zip(panels, _MADE_FOR.items(), strict=True):
        axes.axhline(0, color="#999999", linewidth=0.8)
        n, lead, error = _lines(table, group, *map(table.columns.index, (LEAD, ERROR)))
        bars = [2 * one for one in error]
        axes.errorbar(n, lead, bars, color=_COLOURS[OURS], linewidth=2, capsize=3, label=OURS)
        name = NETWORKS[kind]
        axes.plot(n, _leads(table, group, name), "--", color=_DIRECTED, label="directed network")
        for test in others:
            values = _leads(table, group, test)
            axes.plot(n, values, color=_COLOURS[test], linewidth=1, label=test)
        axes.set(title=f"{group} (directed network: {name})", xlabel="n", xscale="log", ylim=_SHOWN)
        axes.set_ylabel(f"power at 5%, less that of {RIVAL}")
        axes.set_xticks(SMALL_SIZES, [str(size) for size in SMALL_SIZES])
        axes.minorticks_off()
    _legend_below(figure, panels[0], columns=5)
    return _png(figure)


def held_out(table: Table) -> bytes:
    """Draw the lead over Shapiro-Wilk on every held-out family, one mark for each size."""
    figure, (axes,) = _figure(1, 1, (7.0, 7.0))
    place = table.columns.index(LEAD)
    families = list(dict.fromkeys(row[0] for row in table.rows))
    axes.axvline(0, color="#999999", linewidth=0.8)
    for i, (n, colour) in enumerate(zip(SMALL_SIZES, _SHADES, strict=True)):
        leads = [row[place] for row in table.rows if row[1] == n]
        # Below each other, so that no mark hides another.
        heights = [k + 0.18 * (i - 1.5) for k in range(len(families))]
        axes.plot(leads, heights, "o", markersize=4, color=colour, label=f"n = {n}")
    axes.set_yticks(range(len(families)), [str(name).replace("_", " ") for name in families])
    axes.invert_yaxis()
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    axes.set(xlabel=f"power at 5% of {OURS}, less that of {RIVAL}")
    _legend_below(figure, axes)
    return _png(figure)


def _figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(size, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, panels


def _lines(table: Table, group: str, *places: int) -> list[tuple[float, ...]]:
    rows = [row for row in table.rows if row[0] == group]
    return [tuple(row[place] for row in rows) for place in (1, *places)]


def _leads(table: Table, group: str, test: str) -> list[float]:
    """Return the power of a test less that of Shapiro-Wilk, size by size."""
    _, power, rival = _lines(table, group, *map(table.columns.index, (test, RIVAL)))
    return [a - b for a, b in zip(power, rival, strict=True)]


def _dress(axes: Axes, group: str) -> None:
    axes.set(title=group, xlabel="n", ylabel="power at alpha = 0.1", ylim=(-0.02, 1.02))


def _legend_below(figure: Figure, axes: Axes, columns: int | None = None) -> None:
    handles, names = axes.get_legend_handles_labels()
    ncols = columns or len(names)
    figure.legend(handles, names, loc="outside lower center", ncols=ncols, frameon=False)


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    # No programme version in the file: the same numbers give the same bytes.
    figure.savefig(stream, format="png", dpi=80, metadata={"Software": None})
    return stream.getvalue()
