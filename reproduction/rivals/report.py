"""What the page says: the words are in ``page.md``, the numbers in them come from the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproduction.page import Image, as_html, as_markdown, parse
from reproduction.rivals.protocol import GAUSSIAN
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
        system: _over_splits([row for row in tables["promises"].rows if row[0] == system])
        for system in ("conformal", "high-probability", "paper-plain", "tuned-threshold")
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
        "quickest": f"{quick[0]} ({quick[1]:.2g} s to learn)",
        "slowest": f"{slow[0]} ({slow[2]:.2g} s for 1,000 objects)",
    }


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def _over_splits(rows: Sequence[tuple[Any, ...]]) -> dict[str, float]:
    """Return the columns of the table of promises, averaged over all splits of all levels."""
    names = ("error", "error_expected", "above", "above_expected", "p", "surely", "true")
    splits = sum(row[3] for row in rows)
    averages = {"splits": splits}
    for name, column in zip(names, range(4, 11), strict=True):
        given = [row for row in rows if row[column] is not None]
        total = sum(row[3] for row in given)
        mean = sum(row[3] * row[column] for row in given) / total if total else float("nan")
        averages[name] = mean
    return averages
