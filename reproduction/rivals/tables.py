"""The tables of the study: everything, system by system, our own promises, the Gaussian optimum."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from scipy import stats

import ratekeeper as rk
from ratekeeper._numerics._rates import clopper_pearson
from ratekeeper._numerics._realised_rate import RealisedRate
from ratekeeper.comparison import SYSTEMS, Summary
from ratekeeper.comparison._result import names_of
from ratekeeper.methods._rank import critical_rank
from reproduction.rivals.data import DATA
from reproduction.rivals.gaussian import equally_shifted
from reproduction.rivals.protocol import DELTA, GAUSSIAN, load
from reproduction.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ratekeeper.comparison import Trial
    from reproduction.rivals.protocol import Protocol
    from reproduction.rivals.study import Cell

OURS = "conformal"
METHODS = {
    "conformal": rk.Conformal(),
    "high-probability": rk.HighProbability(DELTA),
    "paper-plain": rk.methods.Empirical(),
}


def everything(cells: Sequence[Cell]) -> Table:
    """Return one row for each data set, rate, level and system."""
    names = names_of(Summary, ())
    rows = [
        (cell.data, cell.control, f"{cell.alpha:g}", *(_plain(getattr(row, n)) for n in names))
        for cell in cells
        for row in cell.rows
    ]
    return Table("everything", ("data", "control", "alpha", *names), rows)


def _plain(value: object) -> str | int | float | None:
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - NaN: there is no result
        return None
    return value  # type: ignore[return-value]


def sets_table(protocol: Protocol, seed: int) -> Table:
    """Return what each data set is."""
    rows = []
    for name in protocol.data:
        X, y = load(name, seed)
        if name == GAUSSIAN:
            positive, source = "the shifted class", "drawn; the optimum is known"
        else:
            data = DATA[name]()
            positive, source = data.positive, data.source
        rows.append((name, len(y), int(y.sum()), X.shape[1], positive, source))
    columns = ("data", "rows", "positives", "columns", "positive means", "source")
    return Table("data", columns, rows)


def by_system(cells: Sequence[Cell], name: str = "by_system") -> Table:
    """Return one row per system, over all cells.

    Ratios to alpha are comparable over levels; the price is the other error less that of our
    conformal test in the same cell, in points of a percent. A cell is exceeded if its p-value,
    adjusted for all systems in it, contradicts the promise.
    """
    columns = (
        "system",
        "family",
        "promise",
        "cells",
        "refused",
        "error / alpha",
        "cells broken",
        "above %",
        "clearly above %",
        "price",
        "exceeded",
    )
    return Table(name, columns, [_system(system, cells) for system in SYSTEMS], decimals=2)


def _system(system: str, cells: Sequence[Cell]) -> tuple[str | int | float | None, ...]:
    found = [(cell, row) for cell in cells for row in cell.rows if row.system == system]
    done = [(cell, row) for cell, row in found if row.repeats]
    family = SYSTEMS[system]
    promise = found[0][1].promise + "*" * bool(found[0][1].assumption) if found else ""
    if not done:
        return (system, family, promise, 0, len(found), *[None] * 6)
    repeats = sum(row.repeats for _, row in done)
    prices = [100 * (row.other - ours.other) for cell, row in done if (ours := _ours(cell))]
    return (
        system,
        family,
        promise,
        len(done),
        len(found) - len(done),
        mean(row.target / cell.alpha for cell, row in done),
        sum(row.target_low > cell.alpha for cell, row in done),
        100 * sum(row.above * row.repeats for _, row in done) / repeats,
        100 * sum(row.clearly_above * row.repeats for _, row in done) / repeats,
        mean(prices) if prices else None,
        sum(row.verdict == "exceeded" for _, row in done),
    )


def _ours(cell: Cell) -> Summary | None:
    row = next((row for row in cell.rows if row.system == OURS), None)
    return row if row is not None and row.repeats else None


def promises(cells: Sequence[Cell]) -> Table:
    """Return how often our tests, the paper's and a tuned threshold were above alpha.

    Beside it how often they should be: given the data, which held-out objects calibrate and
    which test is chance alone, so the number of errors among the test objects follows a
    beta-binomial distribution, whatever the scores (ties make errors rarer). The last column is
    the probability that the true rate is above alpha, as infinitely many test objects would show.
    """
    rows = []
    for system in (*METHODS, "tuned-threshold"):
        trials = [
            (cell, trial)
            for cell in cells
            for trial in cell.trials
            if trial.system == system and trial.refusal is None
        ]
        for alpha in sorted({cell.alpha for cell, _ in trials}):
            part = [(cell, trial) for cell, trial in trials if cell.alpha == alpha]
            rows.append((system, f"{alpha:g}", *_promise(system, part)))
        if trials:
            rows.append((system, "all", *_promise(system, trials)))
    columns = ("system", "alpha", "cells", "splits", "mean error %", "expected error %")
    more = ("above %", "expected above %", "p-value", "clearly above %", "true rate above %")
    return Table("promises", (*columns, *more), rows, decimals=2)


def _promise(system: str, trials: Sequence[tuple[Cell, Trial]]) -> tuple[int | float | None, ...]:
    n_cells = len({(cell.data, cell.control, cell.alpha) for cell, _ in trials})
    error = 100 * mean(trial.target.rate for _, trial in trials)
    above = [trial.target.rate > cell.alpha for cell, trial in trials]
    clearly = [
        float(clopper_pearson(trial.target_errors, trial.target_n, 0.9)[0]) > cell.alpha
        for cell, trial in trials
    ]
    seen = 100 * mean(above), 100 * mean(clearly)
    if system not in METHODS:
        return n_cells, len(trials), error, None, seen[0], None, None, seen[1], None
    laws = [law_of(system, cell.alpha, trial) for cell, trial in trials]
    both = list(zip(laws, trials, strict=True))
    expected = [law.above(trial.target_n, cell.alpha) for law, (cell, trial) in both]
    true = 100 * mean(law.exceeds(cell.alpha) for law, (cell, _) in both)
    wanted = 100 * mean(law.mean for law in laws)
    p = float(stats.poisson_binom(expected).sf(sum(above) - 1))
    wish = 100 * mean(expected)
    return n_cells, len(trials), error, wanted, seen[0], wish, p, seen[1], true


class Law(RealisedRate):
    """The distribution of a true rate, and of the errors that a finite test set shows."""

    def above(self, n: int, alpha: float) -> float:
        """Return the chance that more than alpha of n test objects are errors."""
        return float(stats.betabinom(n, self.k, self.n + 1 - self.k).sf(int(alpha * n)))


def law_of(system: str, alpha: float, trial: Trial) -> Law:
    """Return the distribution of the true rate of one of our tests, as it was in this trial."""
    n = trial.null_scores or 0
    return Law(critical_rank(METHODS[system], n, alpha), n)


def gaussian(cells: Sequence[Cell]) -> Table:
    """Return what each system paid where the optimum is known.

    The excess is the other error less the least that any rule with the same controlled error can
    have: what is lost by the score and by the threshold's scatter, whether alpha is kept or not.
    """
    problem = equally_shifted()
    rows = []
    for cell in cells:
        if cell.data != GAUSSIAN:
            continue
        for row in cell.rows:
            if row.repeats:
                least = problem.optimal_other_error(min(max(row.target, 1e-9), 1 - 1e-9))
                at_alpha = problem.optimal_other_error(cell.alpha)
                cost = (100 * row.target, 100 * row.other, 100 * at_alpha)
                excess = 100 * (row.other - least)
                where = (cell.control, f"{cell.alpha:g}", row.system, row.promise)
                rows.append((*where, *cost, excess, 100 * row.abstained))
    columns = ("control", "alpha", "system", "promise", "error %", "other %")
    return Table("gaussian", (*columns, "optimum %", "excess %", "abstained %"), rows, decimals=1)


def speed(rows: Sequence[Summary]) -> Table:
    """Return what each system takes to learn and to judge, the quickest first."""
    done = [row for row in rows if row.repeats]
    done.sort(key=lambda row: row.fit_seconds + row.seconds_per_1000)
    columns = ("system", "fit, s", "1,000 objects, s", "rows trained on")
    table = [
        (row.system, row.fit_seconds, row.seconds_per_1000, int(row.training_rows)) for row in done
    ]
    return Table("speed", columns, table, decimals=3)
