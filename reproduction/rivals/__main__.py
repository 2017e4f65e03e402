"""Compare all systems on real data: ``python -m reproduction.rivals [--quick] [--output DIR]``.

Writes every table as CSV, pictures as SVG, and one page, ``index.html`` and ``README.md``, that
reads them for a user. What is finished is kept in a work folder, so that a stopped run goes on.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ratekeeper._system._atomic_files import write
from reproduction.rivals.protocol import FULL, QUICK
from reproduction.rivals.report import files
from reproduction.rivals.study import run, timed

if TYPE_CHECKING:
    from collections.abc import Sequence

SEED = 2020
RESULTS = Path(__file__).parent / "results"
WORK = Path(tempfile.gettempdir()) / "ratekeeper-rivals"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run it as the command line says."""
    from rich.console import Console

    parser = argparse.ArgumentParser(prog="python -m reproduction.rivals", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few and small, to see that it runs")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="DIR", help="where to")
    parser.add_argument("--work", type=Path, metavar="DIR", help="folder of finished trials")
    parser.add_argument("--seed", type=int, default=SEED, help="other random numbers")
    options = parser.parse_args(arguments)
    if options.quick and options.output == RESULTS:
        parser.error("--quick needs --output DIR: its numbers must not replace the real ones.")
    console = Console(stderr=True)
    start = time.perf_counter()
    protocol = QUICK if options.quick else FULL
    work = options.work or WORK / ("quick" if options.quick else "full")
    cells = run(protocol, options.seed, work, console.print)
    console.print(f"times on {protocol.timed_on}")
    written = files(cells, timed(protocol, options.seed), protocol, options.seed)
    write(options.output, written)
    seconds = time.perf_counter() - start
    console.print(f"{len(written)} files in {options.output}, after {seconds:.0f} s.")


if __name__ == "__main__":
    main()
