"""The tables of the valid test: those that become files, and shorter ones for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproduction.standard_tests import OURS
from reproduction.tables import Table
from reproduction.training import HELD_OUT_FAMILIES
from reproduction.valid.cells import DIRECTED, RIVAL, SMALL_SIZES, mean_lead
from reproduction.valid.size import LEVELS, SIZES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.tables import Cell as Entry
    from reproduction.valid.cells import Cell
    from reproduction.valid.results import Valid
    from reproduction.valid.size import SizeCheck

LEAD, ERROR = f"{OURS} - {RIVAL}", "standard error"


def valid_files(found: Valid) -> list[Table]:
    """Return every table that becomes a file of its own, but for the targets."""
    return [
        _size(found.sizes),
        _power("valid_power", "group", found.groups),
        _power("valid_near_normal", "law", found.near),
        _power("valid_held_out", "family", found.held_out),
        _power("valid_families", "family or member", found.families),
        _power("valid_mixtures", "shifted", found.mixtures),
    ]


def valid_page_tables(found: Valid) -> list[Table]:
    """Return the tables that only the page has."""
    return [
        _size_of_ours(found.sizes),
        _size_of_directed(found.sizes),
        _held_out_families(found.held_out),
        _held_out_sizes(found.held_out),
        _lowest_of(found.families),
        _short(found.mixtures),
    ]


def _size(checks: Sequence[SizeCheck]) -> Table:
    rows: list[tuple[Entry, ...]] = [
        (one.test, one.n, f"{one.sd:g}", f"{one.level:.0%}", one.share, *one.band, one.verdict)
        for one in checks
    ]
    columns = ("test", "n", "sd", "level", "rejected", "band from", "band to", "verdict")
    return Table("valid_size", columns, rows)


def _size_of_ours(checks: Sequence[SizeCheck]) -> Table:
    rows: list[tuple[Entry, ...]] = []
    found: dict[tuple[int, float], list[SizeCheck]] = {}
    for one in checks:
        if one.test == OURS:
            found.setdefault((one.n, one.sd), []).append(one)
    for (n, sd), ours in found.items():
        rows.append((n, f"{sd:g}", *(one.share for one in ours), _verdict(ours)))
    # The bands depend on neither n nor sd, so they stand above the columns.
    bands = [one.band for one in checks[: len(LEVELS)]]
    heads = [
        f"at {level:.0%} (band {low:.4f} to {high:.4f})"
        for level, (low, high) in zip(LEVELS, bands, strict=True)
    ]
    return Table("valid_size_of_ours", ("n", "sd", *heads, "verdict"), rows, decimals=4)


def _size_of_directed(checks: Sequence[SizeCheck]) -> Table:
    level = 0.05
    directed = [one for one in checks if one.test != OURS]
    names = tuple(dict.fromkeys(one.test for one in directed))
    rows: list[tuple[Entry, ...]] = []
    for n in SIZES:
        here = [one for one in directed if one.n == n]
        shares = {one.test: one.share for one in here if one.level == level}
        rows.append((n, *(shares[name] for name in names), _verdict(here)))
    columns = ("n", *(f"{name} at {level:.0%}" for name in names), "verdict (all levels)")
    return Table("valid_size_of_directed", columns, rows, decimals=4)


def _verdict(checks: Sequence[SizeCheck]) -> str:
    """Return "inside" if all are, else where they are not."""
    out = [f"{one.test} at {one.level:.0%}" for one in checks if one.verdict == "outside"]
    return f"outside: {', '.join(out)}" if out else "inside"


def _power(name: str, what: str, cells: Sequence[Cell]) -> Table:
    tests = tuple(cells[0].rejected)
    rows: list[tuple[Entry, ...]] = []
    for cell in cells:
        best = cell.best_classical
        lead = (cell.lead(), cell.lead_error(), best, cell.lead(rival=best))
        rows.append((cell.law, cell.n, *(cell.power(test) for test in tests), *lead))
    columns = (what, "n", *tests, LEAD, ERROR, "best classical", f"{OURS} - best")
    return Table(name, columns, rows)


def _lowest_of(cells: Sequence[Cell], count: int = 12) -> Table:
    """Return the cells where ours is farthest below the rival."""
    worst = sorted(cells, key=lambda cell: cell.lead())[:count]
    rows: list[tuple[Entry, ...]] = [
        (cell.law, cell.n, cell.power(OURS), cell.power(RIVAL), cell.lead(), cell.lead_error())
        for cell in worst
    ]
    columns = ("family or member", "n", OURS, RIVAL, LEAD, ERROR)
    return Table("valid_families_lowest", columns, rows)


def _short(cells: Sequence[Cell]) -> Table:
    """Return what the page says of location mixtures."""
    rows: list[tuple[Entry, ...]] = []
    for cell in cells:
        best = cell.best_classical
        own = (cell.power(OURS), *(cell.power(test) for test in DIRECTED), cell.power(RIVAL))
        rows.append((cell.law, cell.n, *own, cell.lead(), f"{cell.power(best):.3f} ({best})"))
    columns = ("shifted", "n", OURS, *DIRECTED, RIVAL, LEAD, "best classical")
    return Table("valid_mixtures_short", columns, rows)


def _held_out_families(cells: Sequence[Cell]) -> Table:
    """Return the lead on each family, size by size."""
    rows: list[tuple[Entry, ...]] = []
    for law in dict.fromkeys(cell.law for cell in cells):
        here = [cell for cell in cells if cell.law == law]
        leads = [cell.lead() for cell in here]
        best = float(np.mean([cell.lead(rival=cell.best_classical) for cell in here]))
        rows.append((law, HELD_OUT_FAMILIES[law].kind, *leads, *mean_lead(here), best))
    sizes = (f"n = {n}" for n in SMALL_SIZES)
    columns = ("family", "kind", *sizes, "mean", ERROR, "mean lead over best classical")
    return Table("valid_held_out_families", columns, rows)


def _held_out_sizes(cells: Sequence[Cell]) -> Table:
    """Return mean and worst leads, at each size and over all."""
    rows: list[tuple[Entry, ...]] = []
    for n in (*SMALL_SIZES, None):
        here = [cell for cell in cells if n in {None, cell.n}]
        worst = min(here, key=lambda cell: cell.lead())
        over_best = [(cell.lead(rival=cell.best_classical), cell.law) for cell in here]
        lowest, law = min(over_best)
        mean = float(np.mean([lead for lead, _ in over_best]))
        left = (*mean_lead(here), worst.lead(), worst.law)
        rows.append(("all" if n is None else str(n), *left, mean, lowest, law))
    over = f"over {RIVAL}: mean", ERROR, f"over {RIVAL}: lowest", "family"
    best = "over best classical: mean", "over best classical: lowest", "its family"
    return Table("valid_held_out_sizes", ("n", *over, *best), rows, decimals=4)
