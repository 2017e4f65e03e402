"""Print a Markdown table of speed ratios: ``python -m benchmarks [--quick] [NAME ...]``."""

from __future__ import annotations

import argparse
from importlib import import_module

from benchmarks.timing import HEADER

NAMES = (
    "kernel",
    "crepes_p_values",
    "multiclass",
    "precision",
    "watching",
    "decisions",
    "groups",
    "normality",
    "cross_validated",
    "files",
    "frames",
    "imports",
)


def main() -> None:
    """Run the named benchmarks, all of them by default."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(NAMES)}")
    print(HEADER)
    for name in options.names or NAMES:
        for row in import_module(f"benchmarks.{name}").run(quick=options.quick):
            print(row.markdown(), flush=True)


if __name__ == "__main__":
    main()
