"""What the page says: the words are in ``page.md``, the numbers in them come from the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproduction.page import Image, as_html, as_markdown, parse
from reproduction.rivals.protocol import GAUSSIAN, SLOWEST_AT
from reproduction.rivals.tables import (
    by_system,
    everything,
    gaussian,
    promises,
    sets_table,
    speed,
)
from reproduction.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ratekeeper.comparison import Summary
    from reproduction.rivals.protocol import Protocol
    from reproduction.rivals.study import Cell

WORDS = Path(__file__).with_name("page.md")
QUICK_FORM = "**This is the quick form: few splits of small sets, and the numbers mean nothing.**"
SHOWN = 0.05  # the level of the pictures and of the Gaussian table
PICTURES = (GAUSSIAN, "breast-cancer", "adult")
_KEPT = (
    "cells",
    "splits",
    "error",
    "error_expected",
    "above",
    "above_expected",
    "p",
    "clearly",
    "true",
)


def files(
    cells: Sequence[Cell], times: Sequence[Summary], protocol: Protocol, seed: int
) -> dict[str, bytes]:
    """Return every file of the results, by name."""
    tables = {
        table.name: table
        for table in (
            everything(cells),
            by_system(cells),
            promises(cells),
            gaussian(cells),
            sets_table(protocol, seed),
            speed(times),
        )
    }
    images = {
        f"{cell.data}-{cell.control}.svg": cell.picture.encode()
        for cell in cells
        if cell.alpha == SHOWN and cell.data in PICTURES
    }
    text = WORDS.read_text(encoding="utf-8").format_map(facts(cells, tables, protocol, seed))
    is_quick = len(protocol.data) <= 2  # noqa: PLR2004 - the Gaussian problem and one set
    text = text.replace("[[quick]]\n\n", f"{QUICK_FORM}\n\n" if is_quick else "")
    blocks = parse(text, tables | _page_tables(tables))
    blocks = [block for block in blocks if not isinstance(block, Image) or block.file in images]
    found = {f"{name}.csv": table.csv().encode() for name, table in tables.items()}
    found |= images
    found["README.md"] = as_markdown(blocks).encode()
    found["index.html"] = as_html(blocks, images).encode()
    return found


def _page_tables(tables: dict[str, Table]) -> dict[str, Table]:
    """Return tables that only the page has: parts of the files."""
    systems = tables["by_system"]
    columns = (systems.columns[0], *systems.columns[2:])
    rows = [(row[0], *row[2:]) for row in systems.rows]
    optimum = tables["gaussian"]
    at_level = [row[2:] for row in optimum.rows if row[:2] == ("fnr", f"{SHOWN:g}")]
    at_level.sort(key=lambda row: row[5] if isinstance(row[5], float) else 0.0)
    return {
        "promising": Table("promising", columns, [r for r in rows if r[1] != "none"], decimals=1),
        "unpromising": Table("unpromising", columns, [r for r in rows if r[1] == "none"], 1),
        "optimum": Table("optimum", optimum.columns[2:], at_level, decimals=1),
    }


def facts(
    cells: Sequence[Cell], tables: dict[str, Table], protocol: Protocol, seed: int
) -> dict[str, Any]:
    """Return the numbers that the words name."""
    kept = {
        row[0]: dict(zip(_KEPT, map(_number, row[2:]), strict=True))
        for row in tables["promises"].rows
        if row[1] == "all"
    }
    systems = {str(row[0]): row for row in tables["by_system"].rows}
    quick, slow = tables["speed"].rows[0], tables["speed"].rows[-1]
    return {
        "seed": seed,
        "n_sets": len([name for name in protocol.data if name != GAUSSIAN]),
        "n_cells": len(cells),
        "n_trials": sum(len(cell.trials) for cell in cells),
        "repeats": protocol.repeats,
        "slow_repeats": protocol.slow_repeats,
        "slowest_repeats": protocol.slowest_repeats,
        "slowest_at": SLOWEST_AT,
        "given": protocol.most_given,
        "tests": protocol.most_tests,
        "refits": protocol.refits_up_to,
        "timed_on": protocol.timed_on,
        "conformal": kept["conformal"],
        "high": kept["high-probability"],
        "plain": kept["paper-plain"],
        "tuned": kept["tuned-threshold"],
        "price": {name: _number(row[9]) for name, row in systems.items()},
        "ratio": {name: _number(row[5]) for name, row in systems.items()},
        "broken": {name: row[6] for name, row in systems.items()},
        "done": {name: row[3] for name, row in systems.items()},
        "plain_ratio": _at_one_percent(tables, "paper-plain"),
        "tuned_ratio": _at_one_percent(tables, "tuned-threshold"),
        "most_broken": _most_broken(tables["by_system"]),
        "quickest": f"{quick[0]} ({quick[1]:.2g} s to learn)",
        "slowest": f"{slow[0]} ({slow[1]:.2g} s, and {slow[2]:.2g} s for 1,000 objects)",
    }


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def _at_one_percent(tables: dict[str, Table], system: str) -> float:
    """Return the mean error at alpha = 1%, in units of alpha."""
    rows = tables["promises"].rows
    return next((_number(row[4]) for row in rows if row[:2] == (system, "0.01")), float("nan"))


def _most_broken(systems: Table) -> str:
    """Return the most cells broken by a system whose promise assumes nothing about the data."""
    sound = ("marginal", "high probability")
    rows = [row for row in systems.rows if row[2] in sound and row[3]]
    worst = max(rows, key=lambda row: _number(row[6]) / _number(row[3]))
    return f"{worst[6]} of {worst[3]}"
