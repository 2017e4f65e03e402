"""What the page says: the words are in ``page.md``, the numbers in them come from the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reproduction.page import as_html, as_markdown, parse
from reproduction.rivals.protocol import GAUSSIAN
from reproduction.rivals.tables import by_system, everything, gaussian, promises, sets_table
from reproduction.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.rivals.protocol import Protocol
    from reproduction.rivals.study import Cell

WORDS = Path(__file__).with_name("page.md")
QUICK_FORM = "**This is the quick form: few splits of small sets, and the numbers mean nothing.**"
# The level that the page shows in pictures and for the Gaussian problem.
SHOWN = 0.05
PICTURES = ("breast-cancer", "credit-card", "adult", GAUSSIAN)


def files(cells: Sequence[Cell], protocol: Protocol, seed: int) -> dict[str, bytes]:
    """Return every file of the results, by name."""
    tables = [
        everything(cells),
        by_system(cells),
        promises(cells),
        gaussian(cells),
        sets_table(protocol, seed),
    ]
    images = {
        f"{cell.data}-{cell.control}.svg": cell.picture.encode()
        for cell in cells
        if cell.alpha == SHOWN and cell.data in PICTURES
    }
    shown = {table.name: table for table in (*tables, *_page_tables(cells, tables))}
    text = WORDS.read_text(encoding="utf-8").format_map(facts(cells, shown, protocol, seed))
    is_quick = len(protocol.data) <= 2  # noqa: PLR2004 - the Gaussian problem and one set
    text = text.replace("[[quick]]\n\n", f"{QUICK_FORM}\n\n" if is_quick else "")
    blocks = [
        block for block in parse(text, shown) if getattr(block, "file", None) in (None, *images)
    ]
    found = {f"{table.name}.csv": table.csv().encode() for table in tables}
    found |= images
    found["README.md"] = as_markdown(blocks).encode()
    found["index.html"] = as_html(blocks, images).encode()
    return found


def _page_tables(cells: Sequence[Cell], tables: Sequence[Table]) -> list[Table]:
    """Return tables that only the page has: parts of the files."""
    named = {table.name: table for table in tables}
    systems = named["by_system"]
    kept = [row for row in systems.rows if row[2] != "none"]
    free = [row for row in systems.rows if row[2] == "none"]
    optimum = named["gaussian"]
    at_level = [row[2:] for row in optimum.rows if row[:2] == ("fnr", f"{SHOWN:g}")]
    at_level.sort(key=lambda row: row[5] if isinstance(row[5], float) else 0.0)
    return [
        Table("promising", systems.columns, kept, decimals=2),
        Table("unpromising", systems.columns, free, decimals=2),
        Table("optimum", optimum.columns[2:], at_level, decimals=1),
    ]


def facts(
    cells: Sequence[Cell], shown: dict[str, Table], protocol: Protocol, seed: int
) -> dict[str, Any]:
    """Return the numbers that the words name."""
    systems = {row[0]: row for row in shown["by_system"].rows}
    columns = shown["by_system"].columns

    def of(system: str, column: str) -> Any:  # noqa: ANN401 - a number
        value = systems[system][columns.index(column)]
        return float("nan") if value is None else value

    rows = [row for row in shown["promises"].rows if row[0] == "high-probability"]
    splits = sum(int(row[3]) for row in rows)  # type: ignore[arg-type]
    fastest = sorted(
        (row for row in systems.values() if row[10] is not None),
        key=lambda row: float(row[10]) + float(row[11]),  # type: ignore[arg-type]
    )
    return {
        "seed": seed,
        "n_sets": len([name for name in protocol.data if name != GAUSSIAN]),
        "n_cells": len(cells),
        "repeats": protocol.repeats,
        "slow_repeats": protocol.slow_repeats,
        "given": protocol.most_given,
        "tests": protocol.most_tests,
        "refits": protocol.refits_up_to,
        "of": _Lookup(of),
        "hp_splits": splits,
        "hp_above": _weighted(rows, 6),
        "hp_expected": _weighted(rows, 7),
        "hp_surely": _weighted(rows, 9),
        "hp_true": _weighted(rows, 10),
        "plain_above": _weighted([r for r in shown["promises"].rows if r[0] == "paper-plain"], 6),
        "plain_true": _weighted([r for r in shown["promises"].rows if r[0] == "paper-plain"], 10),
        "tuned_above": _weighted(
            [r for r in shown["promises"].rows if r[0] == "tuned-threshold"], 6
        ),
        "tuned_surely": _weighted(
            [r for r in shown["promises"].rows if r[0] == "tuned-threshold"], 9
        ),
        "slowest": ", ".join(
            f"{row[0]} ({float(row[10]) + float(row[11]):.2g} s)" for row in fastest[:-5:-1]
        ),
    }


class _Lookup:
    """Numbers by system and column, as a format string can ask for them."""

    def __init__(self, of: Any) -> None:  # noqa: ANN401
        self._of = of

    def __getitem__(self, key: str) -> float:
        system, _, column = key.partition("|")
        return float(self._of(system, column))


def _weighted(rows: Sequence[tuple[Any, ...]], column: int) -> float:
    """Return the mean of a column over all splits."""
    splits = sum(row[3] for row in rows if row[column] is not None)
    if not splits:
        return float("nan")
    return float(sum(row[3] * row[column] for row in rows if row[column] is not None) / splits)
