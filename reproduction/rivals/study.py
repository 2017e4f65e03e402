"""Run every comparison, and keep what is finished."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import ratekeeper as rk
from ratekeeper.comparison import SYSTEMS
from ratekeeper.comparison._verdict import judged
from reproduction.rivals.protocol import DELTA, LEFT_OUT, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ratekeeper.comparison import Summary, Trial
    from reproduction.rivals.protocol import Protocol


TIMED_REPEATS, TIMED_OBJECTS = 3, 500


@dataclass(frozen=True)
class Cell:
    """One data set, one rate, one level: what each system did."""

    data: str
    control: str
    alpha: float
    rows: tuple[Summary, ...]
    trials: tuple[Trial, ...]
    picture: str


def run(
    protocol: Protocol, seed: int, work: Path, say: Callable[[str], object] = print
) -> list[Cell]:
    """Return all cells; trials that `work` holds from an interrupted run are not run again."""
    work.mkdir(parents=True, exist_ok=True)
    cells = []
    for name, control, alpha in protocol.settings():
        say(f"{name}: {control.upper()} <= {alpha:g}")
        X, y = load(name, seed)
        tests, given = protocol.sizes(len(y))

        def compare(systems: list[str], repeats: int) -> rk.comparison.Comparison:
            return rk.compare(
                X,  # noqa: B023 - called before the next round
                y,  # noqa: B023
                control=control,  # noqa: B023
                alpha=alpha,  # noqa: B023
                delta=DELTA,
                systems=systems,
                repeats=repeats,
                test_size=tests,  # noqa: B023
                train_size=given,  # noqa: B023
                random_state=seed,
                checkpoint=work / f"{name}-{control}-{alpha:g}.jsonl",  # noqa: B023
            )

        systems = protocol.systems(len(y), alpha)
        parts = [compare(names, repeats) for repeats, names in systems.items()]
        cells.append(_joined(name, parts))
    return cells


def timed(protocol: Protocol, seed: int) -> tuple[Summary, ...]:
    """Return how long each system takes, measured by one process, one system after the other."""
    X, y = load(protocol.timed_on, seed)
    result = rk.compare(
        X,
        y,
        control="fnr",
        alpha=0.05,
        systems="all",
        exclude=LEFT_OUT,
        repeats=TIMED_REPEATS,
        test_size=min(TIMED_OBJECTS, protocol.most_tests) / len(y),
        train_size=min(protocol.most_given / len(y), 0.5),
        random_state=seed,
        n_jobs=1,
    )
    return result.rows


def _joined(name: str, parts: list[rk.comparison.Comparison]) -> Cell:
    order = {system: i for i, system in enumerate(SYSTEMS)}
    rows = sorted((row for part in parts for row in part.rows), key=lambda row: order[row.system])
    whole = replace(parts[0], rows=judged(rows))  # adjusted for all systems together
    trials = tuple(trial for part in parts for trial in part.trials)
    return Cell(name, whole.control, whole.alpha, whole.rows, trials, whole.picture())
