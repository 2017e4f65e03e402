"""``import ratekeeper`` against ``import numpy``, each in a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.timing import Row, race

if TYPE_CHECKING:
    from collections.abc import Iterator


def run(*, quick: bool) -> Iterator[Row]:
    """Yield the time of a whole interpreter that imports one of them."""
    # An installed package has its bytecode written, whatever this shell says.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def importing(name: str) -> None:
        command = [sys.executable, "-c", f"import {name}"]
        subprocess.run(command, check=True, env=environment)  # noqa: S603

    seconds = race(
        lambda: importing("ratekeeper"), lambda: importing("numpy"), repeats=3 if quick else 15
    )
    yield Row("import ratekeeper", *seconds, "import numpy", "at least 0.77")
