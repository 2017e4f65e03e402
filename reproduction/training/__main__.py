"""The command: ``python -m reproduction.training``."""

from __future__ import annotations

from pathlib import Path

import click

from reproduction.training._classical_tables import simulate_tables
from reproduction.training._pipeline import FULL, QUICK, train
from reproduction.training._storage import save_arrays, save_tests

_SEED = 20_261_115


@click.command()
@click.option("--seed", default=_SEED, show_default=True, help="Seed for all random choices.")
@click.option("--quick", is_flag=True, help="Make a tiny run of all steps, for a look.")
@click.option(
    "--workers", type=int, help="Number of processes that simulate. Default: one per core."
)
@click.option(
    "--classical",
    is_flag=True,
    help="Simulate the tables of the classical tests instead (some ten minutes).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="File to write, such as neural.npz.",
)
def main(seed: int, quick: bool, workers: int | None, classical: bool, output: Path) -> None:  # noqa: FBT001
    """Retrain the neural tests of normality and simulate their tables."""
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    output.parent.mkdir(parents=True, exist_ok=True)
    with Progress(
        *Progress.get_default_columns(), TimeElapsedColumn(), console=Console(stderr=True)
    ) as bar:
        stages = {}

        def report(stage: str, share: float) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(stage, total=1.0)
            bar.update(stages[stage], completed=share)

        if classical:
            save_arrays(output, simulate_tables(report=report))
            made = "the tables of the classical tests"
        else:
            tests = train(QUICK if quick else FULL, seed=seed, workers=workers, report=report)
            save_tests(output, tests)
            made = f"{len(tests)} networks with their tables"
    click.echo(f"Wrote {made} to {output}.")


if __name__ == "__main__":
    main()
