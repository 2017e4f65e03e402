"""Run the notebooks of the site in a Jupyter kernel, and compare or store what they show.

python docs/notebooks.py start     # says where a notebook shows something else
python docs/notebooks.py --write   # stores what all of them show now

Each runs in an empty folder. Text and HTML must be as stored; numbers may differ in their last
digits, and the version of the package may be another. Of a picture only its kind is compared.
What is stored and still true stays as it is, byte for byte.
"""

from __future__ import annotations

import argparse
import copy
import math
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().with_suffix("")
NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
VERSION = re.compile(r"(ratekeeper )\d+\.\d+\S*?(?=\.?(?:[\s<]|$))")
PLACE = re.compile(r"(?<![\w./<])/(?:home|root|tmp|usr|var|work|Users)/|site-packages|\bat 0x")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
LARGEST = 200_000  # bytes of a notebook
SECONDS = 120  # of one cell, on a busy machine


def names() -> list[str]:
    """Return the names of all notebooks."""
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def execute(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a copy whose outputs are those of a new kernel in an empty folder."""
    fresh = copy.deepcopy(notebook)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
            os.environ[name] = str(place / name)
        for name in ("COLUMNS", "MPLBACKEND"):  # the kernel's own, as in Jupyter
            os.environ.pop(name, None)
        work = place / "work"
        work.mkdir()
        NotebookClient(
            fresh,
            timeout=SECONDS,
            kernel_name="python3",
            record_timing=False,
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": str(work)}},
        ).execute()
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs = whole_streams(cell.outputs)
    return fresh


def whole_streams(outputs: list[Any]) -> list[Any]:
    """Return outputs with what follows on a stream joined: a kernel cuts it by the clock.

    The option of nbclient that joins streams would also join across a picture between them.

    Examples
    --------
    >>> cut = [{"output_type": "stream", "name": "stdout", "text": text} for text in "ab"]
    >>> [output["text"] for output in whole_streams(cut)]
    ['ab']
    """
    whole: list[Any] = []
    for output in outputs:
        before = whole[-1] if whole else {}
        if "name" in output and output["name"] == before.get("name"):
            before["text"] += output["text"]
        else:
            whole.append(output)
    return whole


def plain(output: dict[str, Any]) -> dict[str, Any]:
    """Return an output without what is about the machine, or only its kind for a picture."""
    shown = {"name": output.get("name"), "text": output.get("text")}
    for kind, content in output.get("data", {}).items():
        shown[kind] = None if kind.startswith("image/") else content
    if any(kind.startswith("image/") for kind in shown):
        shown.pop("text/plain", None)  # "<Figure size ...>", which depends on the screen
    return {kind: content for kind, content in shown.items() if content is not None} | {
        "output": output["output_type"],
        "kinds": " ".join(sorted(output.get("data", {}))),
    }


def alike(stored: str, shown: str) -> bool:
    """Return whether two texts are equal but for versions and last digits of numbers.

    Examples
    --------
    >>> alike("p 0.123456789", "p 0.123456788"), alike("n 12", "n 13")
    (True, False)
    """
    left, right = (NUMBER.split(VERSION.sub(r"\1X", text)) for text in (stored, shown))
    if len(left) != len(right) or left[::2] != right[::2]:
        return False
    return all(
        math.isclose(float(one), float(other), rel_tol=1e-6)
        for one, other in zip(left[1::2], right[1::2], strict=True)
    )


def same(stored: list[Any], shown: list[Any]) -> bool:
    """Return whether the stored outputs of a cell are what it shows."""
    if len(stored) != len(shown):
        return False
    for old, new in zip(map(plain, stored), map(plain, shown), strict=True):
        if old.keys() != new.keys() or not all(alike(old[kind], new[kind]) for kind in old):
            return False
    return True


def faults(notebook: nbformat.NotebookNode) -> list[str]:
    """Return what must not be in a notebook, such as a place on a machine."""
    wrong = []
    if notebook.metadata != METADATA:
        wrong.append(f"metadata must be {METADATA}, and are {notebook.metadata}")
    for number, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), start=1):
        texts = [str(text) for one in cell.outputs for text in plain(one).values()]
        if cell.execution_count != number:
            wrong.append(f"cell {cell.id} has number {cell.execution_count}, not {number}")
        if any(one.get("name") == "stderr" or one.output_type == "error" for one in cell.outputs):
            wrong.append(f"cell {cell.id} warns: {texts}")
        if any(PLACE.search(text) for text in texts):
            wrong.append(f"cell {cell.id} names a place of a machine: {texts}")
        pictures = any("image/" in plain(one)["kinds"] for one in cell.outputs)
        if pictures and not cell.metadata.get("alt"):
            wrong.append(f'cell {cell.id} draws a picture without {{"alt": "..."}} in its metadata')
        if set(cell.metadata) - {"alt"}:
            wrong.append(f"cell {cell.id} has metadata {cell.metadata}")
    return wrong


def check(name: str, *, write: bool) -> list[str]:
    """Run a notebook; return what is wrong with it, and store what it shows now if asked."""
    path = FOLDER / f"{name}.ipynb"
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    fresh = execute(notebook)
    wrong, number = [], 0
    for cell, run in zip(notebook.cells, fresh.cells, strict=True):
        if cell.cell_type != "code":
            continue
        number += 1
        if not same(cell.outputs, run.outputs):
            wrong.append(f"cell {cell.id} shows\n{run.outputs}\nand stored is\n{cell.outputs}")
            for output in run.outputs:
                output.pop("execution_count", None)
            cell.outputs = run.outputs
        if write:
            cell.execution_count = number
        for output in cell.outputs:
            if write and output.output_type == "execute_result":
                output.execution_count = number
    if write:
        notebook.metadata = nbformat.from_dict(METADATA)
        wrong = []
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")
    wrong += faults(notebook)
    size = path.stat().st_size
    return wrong if size <= LARGEST else [*wrong, f"{size:,} bytes are more than {LARGEST:,}"]


def main() -> int:
    """Run the notebooks that are named; return whether any is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="such as start; all without a name")
    parser.add_argument("--write", action="store_true", help="store what is shown now")
    asked = parser.parse_args()
    failed = False
    for name in asked.names or names():
        wrong = check(name, write=asked.write)
        failed |= bool(wrong)
        print(f"{name}: {'' if wrong else 'as stored'}", *wrong, sep="\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
