"""Writing a folder of results whole or not at all."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os


def write(folder: str | os.PathLike[str], files: dict[str, bytes]) -> None:
    """Write the files beside their place, then move them there.

    An interrupted or failing run leaves the folder as it was: nothing is moved before everything
    is written. Other files of the folder are left alone.

    Parameters
    ----------
    folder : path-like
        Where to; it is made if needed.
    files : dict of str to bytes
        Contents by file name. Files of these names are replaced, each in one step.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as name:
    ...     write(name, {"a.txt": b"one"})
    ...     Path(name, "a.txt").read_text()
    'one'
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    # Within the folder, so that moving is renaming and never copying.
    with tempfile.TemporaryDirectory(dir=target, prefix=".unfinished-") as name:
        beside = Path(name)
        for file, content in files.items():
            (beside / file).write_bytes(content)
        for file in files:
            (beside / file).replace(target / file)
