"""Run the experiment: ``python -m reproduction [--quick] [--output DIR] [--seed N]``.

Writes every table as CSV, every figure as PNG, and one page, ``index.html`` and ``README.md``,
that says what was done and what was found.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratekeeper._system._atomic_files import write
from reproduction import figures
from reproduction.as_published import as_published
from reproduction.leak_free import leak_free, scale_table
from reproduction.page import as_html, as_markdown
from reproduction.power import power
from reproduction.protocol import FULL, QUICK
from reproduction.report import Results, compose
from reproduction.study import Study
from reproduction.trainings import trainings
from reproduction.valid.results import valid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reproduction.study import Watch

SEED = 2020
RESULTS = Path(__file__).parent / "results"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run it as the command line says."""
    from rich.console import Console
    from rich.progress import Progress

    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sets, to see that it runs")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="DIR", help="where to")
    parser.add_argument("--seed", type=int, default=SEED, help="other random numbers")
    options = parser.parse_args(arguments)
    if options.quick and options.output == RESULTS:
        parser.error("--quick needs --output DIR: its numbers must not replace the real ones.")
    console = Console(stderr=True)
    start = time.perf_counter()
    with Progress(console=console) as progress:

        def watch(items: Iterable[Any], title: str) -> Iterable[Any]:
            return progress.track(items, description=title)

        files = run(options.seed, watch, quick=options.quick)
    write(options.output, files)
    seconds = time.perf_counter() - start
    console.print(f"{len(files)} files in {options.output}, after {seconds:.0f} s.")


def run(seed: int, watch: Watch, *, quick: bool) -> dict[str, bytes]:
    """Return every file of the results, by name."""
    study = Study(QUICK if quick else FULL, seed, watch)
    raw_power, fair_power = power(study, watch)
    results = Results(
        seed=seed,
        quick=quick,
        published=as_published(study),
        trainings=trainings(study, watch),
        fair=leak_free(study, watch),
        scale=scale_table(study, watch),
        power=raw_power,
        fair_power=fair_power,
        valid=valid(study, watch),
    )
    tables = {table.name: table for table in results.tables()}
    images = {
        "figure_1a_densities.png": figures.densities(results.published.densities),
        "figure_1bc_control.png": figures.control(results.published.control),
        "figure_1de_by_size.png": figures.by_size(results.published.by_size),
        "figure_2_power.png": figures.power(raw_power),
        "leak_free_power.png": figures.fair_power(fair_power),
        "valid_power.png": figures.valid_power(tables["valid_power"]),
        "valid_held_out.png": figures.held_out(tables["valid_held_out"]),
    }
    blocks = compose(study, results)
    files = {f"{name}.csv": table.csv().encode() for name, table in tables.items()}
    files |= images
    files["README.md"] = as_markdown(blocks).encode()
    files["index.html"] = as_html(blocks, images).encode()
    return files


if __name__ == "__main__":
    main()
