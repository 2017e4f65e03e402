"""The study of rivals: what its tables compute, and what the published ones show."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from reproduction.page import parse
from reproduction.rivals.__main__ import RESULTS, main
from reproduction.rivals.data import DATA
from reproduction.rivals.gaussian import equally_shifted
from reproduction.rivals.protocol import (
    FULL,
    GAUSSIAN,
    LEFT_OUT,
    QUICK,
    SLOW,
    SLOWEST,
    load,
)
from reproduction.rivals.report import WORDS
from reproduction.rivals.study import Cell, _joined
from reproduction.rivals.tables import by_system, everything, gaussian, law_of, promises, speed
from scipy import stats
from statsmodels.stats.multitest import multipletests

import ratekeeper as rk
from ratekeeper import baselines
from ratekeeper.comparison import SYSTEMS, Trial
from ratekeeper.comparison._summary import summarise

ROOT = Path(__file__).parents[2]


def cell(errors, *, data="somewhere", alpha=0.1, other=20, n=100, null_scores=99):
    """Return a cell of made-up counts: errors by system."""
    trials, rows = [], []
    for system, counts in errors.items():
        made = [
            Trial(system, "", i, None, None, count, n, other, 50, 0, 200, null_scores, 0.5, 0.1)
            for i, count in enumerate(counts)
        ]
        trials += made
        rows.append(
            summarise(made, system=system, family=SYSTEMS[system], guarantee=None, alpha=alpha)
        )
    return Cell(data, "fnr", alpha, tuple(rows), tuple(trials), "<svg/>")


def test_law_of_a_trial():
    """The law of errors is that of the order statistic behind the threshold."""
    trial = cell({"conformal": [10]}).trials[0]
    law = law_of("conformal", 0.1, trial)
    assert (law.k, law.n) == (10, 99)
    assert law.mean == pytest.approx(0.1)
    assert law.above(100, 0.1) == pytest.approx(stats.betabinom(100, 10, 90).sf(10))
    assert law_of("paper-plain", 0.1, trial).k == 10  # floor(0.1 * 99) + 1
    assert law_of("high-probability", 0.1, trial).k == 5


def test_promises_table():
    """Counted and expected shares stand side by side, and too many splits above get a small p."""
    table = promises([cell({"conformal": [30] * 40, "tuned-threshold": [5, 15]})])
    row, pooled, tuned, _ = table.rows
    assert pooled[1] == "all"
    assert pooled[2:] == row[2:]
    values = dict(zip(table.columns[:3], row[:3], strict=True))
    assert values == {"system": "conformal", "alpha": "0.1", "cells": 1}
    splits, error, expected, above, above_expected, p, clearly, true = row[3:]
    assert (splits, error, above, clearly) == (40, 30.0, 100.0, 100.0)
    assert expected == pytest.approx(10.0)
    assert above_expected == pytest.approx(100 * stats.betabinom(100, 10, 90).sf(10))
    assert p == pytest.approx((above_expected / 100) ** 40)
    assert true == pytest.approx(100 * stats.beta(10, 90).sf(0.1))
    assert tuned[3:7] == (2, 10.0, None, 50.0)


def test_by_system_table():
    """Ratios are to alpha, prices to our conformal test in the same cell, refusals are counted."""
    cells = [
        cell({"conformal": [10, 10], "elkan": [20, 20]}),
        cell({"conformal": [1, 1], "elkan": [4, 4]}, alpha=0.01, other=20),
    ]
    rows = {row[0]: row for row in by_system(cells).rows}
    elkan = rows["elkan"]
    assert elkan[3:5] == (2, 0)
    assert elkan[5] == pytest.approx((2 + 4) / 2)
    assert elkan[7] == 100.0
    assert elkan[9] == 0.0
    assert rows["umbrella"][3:] == (0, 0, *[None] * 6)
    assert elkan[10] == 0  # it promises nothing that could be exceeded


def test_verdicts_of_a_cell_are_of_all_its_systems():
    """Quick and slow systems are adjusted together, and everything.csv has the columns."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = rng.normal(1.5 * y)[:, None]
    asked = {"control": "fnr", "alpha": 0.1, "repeats": 3, "n_jobs": 1}
    quick = rk.compare(X, y, systems=["conformal"], **asked)
    slow = rk.compare(X, y, systems=["cv-knn"], **asked)
    joined = _joined("somewhere", [quick, slow])
    raw = [row.p_value for row in joined.rows]
    assert [row.p_adjusted for row in joined.rows] == multipletests(raw, method="holm")[1].tolist()
    table = everything([joined])
    assert {"above_allowed", "p_value", "p_adjusted", "verdict"} <= set(table.columns)
    assert "metrics" not in table.columns
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_gaussian_excess_is_zero_at_the_optimum():
    """A rule with the optimal errors has no excess, and a worse one its difference."""
    least = equally_shifted().optimal_other_error(0.05)
    other = 50 * least
    best = cell({"conformal": [5]}, data=GAUSSIAN, alpha=0.05, other=other)
    ((*_, error, counted, optimum, excess, abstained),) = gaussian([best]).rows
    assert (error, abstained) == (5.0, 0.0)
    assert counted == pytest.approx(100 * least)
    assert optimum == pytest.approx(100 * least)
    assert excess == pytest.approx(0.0, abs=1e-9)


def test_protocol():
    """Every system has its splits once, the slow ones exist, and sizes are shares that fit."""
    assert {*SLOW, *SLOWEST} <= set(SYSTEMS)
    assert set(FULL.systems(100, 0.05)) == {25, 4, 1}
    assert set(FULL.systems(100, 0.01)) == {25, 4}
    for protocol in (FULL, QUICK):
        names = [name for part in protocol.systems(10**6, 0.05).values() for name in part]
        assert sorted([*names, *LEFT_OUT, "cv-refit"]) == sorted(SYSTEMS)
    for rows in (532, 5_000, 45_222):
        tests, given = FULL.sizes(rows)
        assert 0 < tests <= 0.4
        assert tests + given <= 1 + 1e-12
        assert given * rows <= FULL.most_given + 1e-9
    assert FULL.data == (GAUSSIAN, *DATA)
    X, y = load(GAUSSIAN, 1)
    assert (len(X), int(y.sum())) == (16_000, 4_000)


def test_everything_has_a_row_for_each_system():
    """The table of everything has one row a system and cell."""
    table = everything([cell({"conformal": [3], "plain": [8]})])
    assert [row[3] for row in table.rows] == ["conformal", "plain"]
    assert speed(cell({"plain": [8]}).rows).rows == [("plain", 0.5, pytest.approx(2 / 3), 200)]


def test_quick_must_not_replace_the_results(capsys):
    """The quick form refuses to write over the published numbers."""
    with pytest.raises(SystemExit):
        main(["--quick"])
    assert "--output" in capsys.readouterr().err


# What is published


def test_the_page_of_systems_names_every_system():
    """The table of docs/understand/systems.md has all that can be compared."""
    page = (ROOT / "docs" / "understand" / "systems.md").read_text(encoding="utf-8")
    table = page[page.index("## All of them") :]
    short = {"liao-akritas-welch": "-welch", "liao-akritas-rank": "-rank"}
    for name in SYSTEMS:
        assert f"`{short.get(name, name)}`" in table
    for name in baselines.__all__:
        assert name in page or name == "NPROC"


def read(name):
    with (RESULTS / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_published_tables_are_whole():
    """Fourteen real sets and the Gaussian problem, both rates, three levels, each system then."""
    rows = read("everything.csv")
    assert {row["data"] for row in rows} == set(FULL.data)
    cells = {(row["data"], row["control"], row["alpha"]) for row in rows}
    assert len(cells) == len(FULL.data) * 2 * len(FULL.alphas)
    assert {row["system"] for row in rows} == set(SYSTEMS) - set(LEFT_OUT)


def test_published_promises_hold():
    """Ours are above alpha no more often than their law says, and the paper's more than delta."""
    rows = {(row["system"], row["alpha"]): row for row in read("promises.csv")}
    for system in ("high-probability", "conformal", "paper-plain"):
        for alpha in FULL.alphas:
            assert float(rows[system, f"{alpha:g}"]["p-value"]) > 1e-6
    for alpha in FULL.alphas:
        row = rows["high-probability", f"{alpha:g}"]
        assert float(row["true rate above %"]) <= 5.0
        assert float(row["clearly above %"]) <= 5.0
        assert float(rows["paper-plain", f"{alpha:g}"]["above %"]) > 25.0


def test_the_page_is_of_these_tables():
    """The published page shows the numbers of the published tables."""
    page = (RESULTS / "README.md").read_text(encoding="utf-8")
    for row in read("speed.csv"):
        assert f"| {row['system']} | {float(row['fit, s']):.3f} |" in page
    assert "{" not in page
    assert "quick form" not in page
    assert parse(WORDS.read_text(encoding="utf-8").split("\n\n[[")[0], {})
    assert not any(math.isnan(float(row["error / alpha"] or 0)) for row in read("by_system.csv"))
