"""What the page says: the words are in ``page.md``, the numbers in them come from the run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction import published
from reproduction.leak_free import FAIR, FAIR_LARGER, LEAKY, STALE
from reproduction.networks import networks_table
from reproduction.page import parse
from reproduction.protocol import SIZES
from reproduction.replica import QUANTILES, quantile_places
from reproduction.standard_tests import NETWORKS, OURS, STANDARD, titles
from reproduction.study import SETS
from reproduction.tables import Table
from reproduction.targets import largest_difference, targets
from reproduction.training import pearson_grid
from reproduction.trainings import LEVEL, SHOWN_SIZES, trainings_table
from reproduction.valid.facts import valid_facts
from reproduction.valid.tables import valid_files, valid_page_tables
from reproduction.valid.targets import valid_targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.as_published import AsPublished
    from reproduction.leak_free import LeakFree
    from reproduction.page import Block
    from reproduction.study import Study
    from reproduction.trainings import Training
    from reproduction.valid.results import Valid

WORDS = Path(__file__).with_name("page.md")
QUICK_FORM = "**This is the quick form: the sets are tiny, and the numbers mean nothing.**"


@dataclass(frozen=True)
class Results:
    """Everything that a run measured."""

    seed: int
    quick: bool
    published: AsPublished
    trainings: list[Training]
    fair: LeakFree
    scale: Table
    power: Table
    fair_power: Table
    valid: Valid

    def tables(self) -> list[Table]:
        """Return every table that becomes a file of its own."""
        run = self.published
        return [
            run.table_1,
            targets(run.columns, self.trainings),
            trainings_table(self.trainings),
            run.densities,
            run.control,
            run.by_size,
            self.power,
            self.fair.table,
            self.scale,
            self.fair_power,
            valid_targets(self.valid, self.fair),
            *valid_files(self.valid),
        ]


def compose(study: Study, results: Results) -> list[Block]:
    """Return the page."""
    text = WORDS.read_text(encoding="utf-8").format_map(facts(study, results))
    text = text.replace("[[quick]]\n\n", f"{QUICK_FORM}\n\n" if results.quick else "")
    tables = {table.name: table for table in results.tables()}
    for shown in (
        _sets(study),
        networks_table(),
        _leak_free_at_5(results.fair),
        *valid_page_tables(results.valid),
        # The page leaves out what only the files need.
        _without_columns(results.published.table_1, "repository"),
        _at_shown_sizes(results.power),
        _at_shown_sizes(results.fair_power),
    ):
        tables[shown.name] = shown
    return parse(text, tables)


def facts(study: Study, results: Results) -> dict[str, Any]:
    """Return the numbers that the page names, by the names that ``page.md`` uses."""
    return {
        "seed": results.seed,
        "grid": len(pearson_grid()),
        "overshot": sum(_overshot(n) for n in SIZES),
        "places": QUANTILES * len(SIZES),
        "scores_each": study.counts.calibration // len(SIZES),
        "test_size": study.counts.test,
        "trainings": study.counts.trainings,
        "titles": ", ".join(f"{name} {title}" for name, title in titles().items()),
        **_table_facts(study, results),
        **_training_facts(results.trainings),
        **_fair_facts(results),
        **valid_facts(study, results.valid),
    }


def _table_facts(study: Study, results: Results) -> dict[str, Any]:
    run = results.published
    printed_nn_1, printed_nn_0 = (published.TABLE_1[test, LEVEL] for test in ("NN_1", "NN_0"))
    share = printed_nn_1.fpr
    return {
        "nn_1": run.columns["NN_1", LEVEL],
        "jb": run.columns["JB", LEVEL],
        "printed_nn_1": printed_nn_1,
        "printed_nn_0": printed_nn_0,
        "repository_nn_0": published.REPOSITORY["NN_0", LEVEL],
        "nn_0": run.columns["NN_0", LEVEL],
        "slip_accuracy": 1 - (printed_nn_0.fnr + printed_nn_0.fpr) / 2,
        "slip_fnr": 2 * (1 - printed_nn_0.accuracy) - printed_nn_0.fpr,
        "noise": 2 * np.sqrt(2 * share * (1 - share) / study.counts.test),
        "worst_standard": max(largest_difference(run.columns, test) for test in STANDARD),
        "worst_control": _worst_control(run.control),
        "worst_power": _worst_power(results.power),
    }


def _training_facts(found: list[Training]) -> dict[str, Any]:
    saved, notebook = ([one for one in found if one.training_set == name] for name in SETS)
    by_epochs = sorted(saved, key=lambda one: one.epochs)
    half = len(saved) // 2
    return {
        "nn_1_range": _range([one.columns["NN_1", LEVEL].fpr for one in saved]),
        "nn_1_notebook": _range([one.columns["NN_1", LEVEL].fpr for one in notebook]),
        "nn_0_range": _range([one.columns["NN_0", LEVEL].fnr for one in saved]),
        "bare_range": _range([one.columns["NN", None].fnr for one in saved]),
        "epochs_range": f"{by_epochs[0].epochs} to {by_epochs[-1].epochs}",
        "early_rejects": float(np.mean([one.rejected for one in by_epochs[:half]])),
        "late_rejects": float(np.mean([one.rejected for one in by_epochs[-half:]])),
        "published_epochs": published.EPOCHS,
        "unit_mean": _percents(np.mean([one.rejected for one in saved], axis=0)),
        "unit_notebook": _percents(np.mean([one.rejected for one in notebook], axis=0)),
    }


def _fair_facts(results: Results) -> dict[str, Any]:
    found = results.fair.found
    return {
        "leaky": found[LEAKY, "fnr", LEVEL],
        "fair": found[FAIR, "fnr", LEVEL],
        "fair_larger": found[FAIR_LARGER, "fnr", LEVEL],
        "ours": found[OURS, "fnr", LEVEL],
        "pearson": found[NETWORKS["pearson"], "fnr", LEVEL],
        "sw": found["SW", "fnr", LEVEL],
        "stale": found[STALE, "fpr", LEVEL],
        "unit_rejected": _rejected(results.scale, "N(0, 1²)"),
        "wide_rejected": _rejected(results.scale, "N(0, 10²)"),
        "g4_fair": _last_power(results.fair_power, FAIR),
        "g4_sw": _last_power(results.fair_power, "SW"),
    }


def _sets(study: Study) -> Table:
    counts = study.counts
    rows = [
        ("train", "training (70% of it); kurtosis up to 20", f"{counts.train:,}"),
        ("train, notebook", "the same; kurtosis up to 40", f"{counts.train_notebook:,}"),
        ("calibration", "p-values, for each n by itself", f"{counts.calibration:,}"),
        ("test", "Table 1, figure 1", f"{counts.test:,}"),
        ("G1 to G4", "figure 2", f"{counts.group:,} non-normal ones in each group and size"),
        ("for the valid test", "the last part of this page", "stated there"),
    ]
    return Table("sets", ("set", "used for", "samples of each class"), rows)


def _leak_free_at_5(fair: LeakFree) -> Table:
    rows = []
    for name, area in fair.area.items():
        one, zero = fair.found[name, "fnr", LEVEL], fair.found[name, "fpr", LEVEL]
        left = (one.fnr, one.fpr, one.accuracy)
        rows.append((name, *left, zero.fpr, zero.fnr, zero.accuracy, area))
    left, right = ("p_1: FNR", "p_1: FPR", "p_1: A"), ("p_0: FPR", "p_0: FNR", "p_0: A")
    return Table("leak_free_at_5", ("test", *left, *right, "AUC of p_1"), rows)


def _worst_control(control: Table) -> float:
    values = np.array(control.rows, dtype=float)
    return float(np.abs(values[:, 1:] - values[:, :1]).max())


def _worst_power(power: Table) -> float:
    places = [power.columns.index(test) for test in STANDARD]
    return max(abs(row[i] - row[i + 1]) for row in power.rows for i in places)


def _rejected(scale: Table, law: str) -> str:
    place = scale.columns.index(law)
    return _percents([row[place] for row in scale.rows if row[0] == LEAKY])


def _percents(shares: Sequence[float]) -> str:
    return ", ".join(f"{share:.0%}" for share in shares)


def _last_power(power: Table, test: str) -> float:
    """Return the power of a test in the last group at the largest size."""
    return power.rows[-1][power.columns.index(test)]


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.3f} to {max(values):.3f}"


def _overshot(n: int) -> int:
    """Return at how many of the ten quantiles the published rule misses ceil(j n / 10)."""
    right = [-(-j * n // QUANTILES) - 1 for j in range(1, QUANTILES + 1)]
    return sum(a != b for a, b in zip(quantile_places(n), right, strict=True))


def _without_columns(table: Table, word: str) -> Table:
    places = [i for i, column in enumerate(table.columns) if word not in column]
    rows = [tuple(row[i] for i in places) for row in table.rows]
    return Table(table.name, tuple(table.columns[i] for i in places), rows)


def _at_shown_sizes(table: Table) -> Table:
    return Table(table.name, table.columns, [row for row in table.rows if row[1] in SHOWN_SIZES])
