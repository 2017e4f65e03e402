"""The parts of docs/guides/warehouses.md that need a server, as they stand."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from ratekeeper.datasets import load_employment

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "warehouses.md"
TYPES = {"score": "double", "employed": "int"}


def block(heading, kind):
    """Return the only block of a kind under a heading."""
    section = PAGE.read_text(encoding="utf-8").partition(f"### {heading}\n")[2]
    section = re.split(r"^##", section, maxsplit=1, flags=re.MULTILINE)[0]
    (found,) = re.findall(rf"```{kind}\n(.*?)```", section, flags=re.DOTALL)
    return found


def tables():
    """Return the two tables that the page is about, a tenth of them."""
    people = load_employment()
    found = {}
    for table, year in (("held_out", 2015), ("later", 2016)):
        part = people.in_year(year)
        found[table] = {"score": part.score[::10], "employed": part.employed[::10].astype(int)}
    return found


def rows(path):
    """Return the rows of a file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
