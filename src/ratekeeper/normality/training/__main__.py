"""The command: ``python -m ratekeeper.normality.training``."""

from __future__ import annotations

from pathlib import Path

import click

from ratekeeper.normality._model import save_tests
from ratekeeper.normality.training._pipeline import FULL, QUICK, train

_SEED = 20_261_115


@click.command()
@click.option("--seed", default=_SEED, show_default=True, help="Decides everything random.")
@click.option("--quick", is_flag=True, help="A tiny run of all steps, for a look.")
@click.option("--workers", type=int, help="Processes that simulate. Default: one for each core.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="File to write, such as neural.npz.",
)
def main(seed: int, quick: bool, workers: int | None, output: Path) -> None:  # noqa: FBT001
    """Retrain the neural tests of normality and simulate their tables."""
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    with Progress(
        *Progress.get_default_columns(), TimeElapsedColumn(), console=Console(stderr=True)
    ) as bar:
        stages = {}

        def report(stage: str, share: float) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(stage, total=1.0)
            bar.update(stages[stage], completed=share)

        tests = train(QUICK if quick else FULL, seed=seed, workers=workers, report=report)
    output.parent.mkdir(parents=True, exist_ok=True)
    save_tests(output, tests)
    click.echo(f"Wrote {len(tests)} networks with their tables to {output}.")


if __name__ == "__main__":
    main()
