"""Writing files and folders whole or not at all.

What is being written has another name, ``.NAME.*.unfinished`` beside its place, and is renamed when
it is complete. A run that is killed leaves such a file behind; the next one to the same place
removes it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_END = ".unfinished"


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a place to write to; what was written there takes the place of `path` at the end.

    Parameters
    ----------
    path : path-like
        The file to write. If the body of the ``with`` raises, or the program is killed, a file
        that is there stays as it was. Who may read and write it stays, too. A link is written
        through. A device or a pipe, such as /dev/null, is written to as it is.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     with whole_file(Path(name, "a.txt")) as unfinished:
    ...         _ = unfinished.write_text("one")
    ...     [file.name for file in Path(name).iterdir()]
    ['a.txt']
    """
    if _is_device(Path(path)):  # to replace it would harm the whole system
        yield Path(path)
        return
    with _unfinished(path) as (unfinished, target), _made(unfinished, unfinished.touch):
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        if target.is_file():
            shutil.copymode(target, unfinished)
        unfinished.replace(target)
    _keep(target.parent)


@contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty folder to write to, which becomes `path` at the end.

    Parameters
    ----------
    path : path-like
        The folder to make. It must not be there, or be empty: nothing is ever replaced.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     with whole_folder(Path(name, "out")) as unfinished:
    ...         _ = (unfinished / "a.txt").write_text("one")
    ...     [file.name for file in Path(name, "out").iterdir()]
    ['a.txt']
    """
    with _unfinished(path) as (unfinished, target), _made(unfinished, unfinished.mkdir):
        yield unfinished
        for file in unfinished.rglob("*"):
            if file.is_file():
                with file.open("rb+") as stream:
                    os.fsync(stream.fileno())
        unfinished.replace(target)  # fails if the folder holds anything
    _keep(target.parent)


def write(folder: str | os.PathLike[str], files: dict[str, bytes]) -> None:
    """Write several files beside their place, then move them there.

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
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     write(name, {"a.txt": b"one"})
    ...     Path(name, "a.txt").read_text()
    'one'
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    # Within the folder, so that moving is renaming and never copying.
    with _unfinished(target / "files") as (beside, _):
        with _made(beside, beside.mkdir):
            for file, content in files.items():
                (beside / file).write_bytes(content)
            for file in files:
                (beside / file).replace(target / file)
        beside.rmdir()


@contextmanager
def _unfinished(path: str | os.PathLike[str]) -> Iterator[tuple[Path, Path]]:
    """Name a place beside the target, and leave nothing there if the work fails."""
    target = Path(os.path.realpath(path))
    _remove_leftovers(target)
    unfinished = target.with_name(f"{_start(target)}{secrets.token_hex(6)}{_END}")
    try:
        yield unfinished, target
    except BaseException:
        _remove(unfinished)
        raise


def _remove_leftovers(target: Path) -> None:
    """Remove what killed runs left behind; what a living run works on is locked and stays."""
    with suppress(OSError):  # no such folder, or one that cannot be listed
        for path in target.parent.iterdir():
            if path.name.startswith(_start(target)) and path.name.endswith(_END):
                with suppress(OSError):
                    lock = _lock(path, wait=False)
                    try:
                        _remove(path)
                    finally:
                        _unlock(lock)


def _start(target: Path) -> str:
    """Begin the name of what is unfinished, short enough for file systems, which count bytes."""
    return f".{os.fsdecode(os.fsencode(target.name)[:200])}."


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _made(path: Path, make: Callable[[], None]) -> Iterator[None]:
    """Make a file or folder, and hold a lock on it that ends with the process, however it ends."""
    lock = None
    while lock is None:
        make()
        # Before it is locked, another run may take it for a leftover: then it is made again.
        with suppress(FileNotFoundError):
            lock = _lock(path, wait=True)
    try:
        yield
    finally:
        _unlock(lock)


def _lock(path: Path, *, wait: bool) -> int:
    """Lock a file or folder. If another has done so: wait, or raise."""
    if sys.platform == "win32":  # no such locks: leftovers may be removed under a living run
        return -1
    import fcntl

    lock = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError) if wait else nullcontext():  # some file systems have no locks
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        path.stat()  # raises if it was removed meanwhile
    except OSError:
        os.close(lock)
        raise
    return lock


def _unlock(lock: int) -> None:
    if lock >= 0:
        os.close(lock)


def _keep(folder: Path) -> None:
    """Make the new name itself survive a loss of power, where the system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
