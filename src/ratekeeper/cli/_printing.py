"""Answers: tables for people, plain where nobody looks, and JSON for machines.

Names in an answer come from strangers, and no terminal may act on them: nothing but what stands
here prints, and it makes them visible.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from ratekeeper._wording._formatting import escape_controls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

_COLOURS = {
    "kept": "green",
    "in line": "green",
    "exceeded": "red",
    "unknown": "yellow",
    "no promise": "yellow",
    "within": "green",
    "above": "red",
}
_WIDEST = 10_000
_WIDTH = 79
SCHEMAS = {
    "calibrate": 1,
    "control": 1,
    "cheapest": 1,
    "classify": 1,
    "learn": 1,
    "select": 1,
    "evaluate": 1,
    "monitor": 1,
    "shift": 1,
    "inspect": 1,
    "plan": 1,
    "normality": 1,
    "compare": 1,
}
"""The version of the JSON that each command prints; docs/reference/schemas describes them.

It rises if a member is taken away, renamed or means something else, not if one is added.
"""


def echo(*lines: str, err: bool = False) -> None:
    """Print lines; no name in one of them begins another."""
    click.echo("\n".join(map(escape_controls, lines)), err=err)


def print_exactly(text: str) -> None:
    """Print what another program reads, to the last character, of which click leaves out some."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Help(click.HelpFormatter):
    """Help of a command with settings, which it shows as defaults."""

    def write(self, string: str) -> None:
        """Add a text."""
        super().write(escape_controls(string, keep="\n"))


def print_json(facts: Mapping[str, Any]) -> None:
    """Print one JSON object of the command that runs, with the name of its schema first.

    Numbers that JSON does not know are texts: "inf", "-inf", "nan".
    """
    from ratekeeper._wording._formatting import json_text

    name = str(click.get_current_context().command.name)
    schema = f"ratekeeper:{name}:{SCHEMAS[name]}"
    print_exactly(json_text({"schema": schema, **facts}))  # ASCII only


def print_table(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int = 1
) -> None:
    """Print a table that fits the terminal; the first columns, `texts` of them, are words."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    screen = console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    screen.print(Text(title, style="bold"))
    for i, heading in enumerate(headings):
        is_text = i < texts or heading == "verdict"
        table.add_column(
            Text(escape_controls(heading, keep="\n")),
            justify="left" if is_text else "right",
            overflow="fold",
            no_wrap=not is_text,
        )
    for row in rows:
        table.add_row(*(Text(escape_controls(cell), style=_COLOURS.get(cell, "")) for cell in row))
    screen.print(table)


def print_paragraph(text: str) -> None:
    """Print a text in lines that fit a terminal; nothing if it is empty."""
    import textwrap

    if text:
        echo(*textwrap.wrap(escape_controls(text), _WIDTH))


def console(unseen_width: int = _WIDEST) -> Console:
    """Return a console on standard output, on which a pipe gets whole lines without colours."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:  # else rich ends the program itself, in its own way
            raise BrokenPipeError

    unseen = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Screen(highlight=False, width=unseen_width if unseen else None)


def skipped_text(skipped: Mapping[str, int]) -> str:
    """Say how many rows were left out, and why.

    Examples
    --------
    >>> skipped_text({"score is NaN": 3, "label is missing": 1})
    'Skipped 4 rows (score is NaN: 3; label is missing: 1).'
    """
    from ratekeeper.calibration._provenance import reasons

    total = sum(skipped.values())
    return f"Skipped {rows_text(total)} ({reasons(skipped)})." if total else ""


def rows_text(count: int) -> str:
    """Write a number of rows.

    Examples
    --------
    >>> rows_text(1), rows_text(1204)
    ('1 row', '1,204 rows')
    """
    return f"{count:,} row{'' if count == 1 else 's'}"
