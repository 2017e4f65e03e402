"""Run one fuzz target for hours, guided by the lines that it reaches: see fuzzing.py.

python tests/fuzz/guided.py MODULE [OPTION...], with the options of libFuzzer. Needs atheris.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

if __name__ == "__main__":
    import atheris

    here = Path(__file__).parent
    sys.path[:0] = [str(here), str(here.parent)]
    with atheris.instrument_imports(include=["ratekeeper"]):
        module = importlib.import_module(sys.argv.pop(1))
    found = [value.one_input for value in vars(module).values() if hasattr(value, "one_input")]

    def one_input(data: bytes) -> None:
        """Give the bytes to all targets of the module."""
        for run in found:
            run(data)

    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
