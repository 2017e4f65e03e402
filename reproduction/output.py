"""Writing a folder of results whole or not at all."""

from __future__ import annotations

import tempfile
from pathlib import Path


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files beside their place, then move them there.

    An interrupted or failing run leaves the folder as it was: nothing is moved before everything
    is written. Other files of the folder are left alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Within the folder, so that moving is renaming and never copying.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".unfinished-") as name:
        beside = Path(name)
        for file, content in files.items():
            (beside / file).write_bytes(content)
        for file in files:
            (beside / file).replace(folder / file)
