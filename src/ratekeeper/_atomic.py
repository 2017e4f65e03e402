"""Writing files and folders whole or not at all.

What is being written has another name, ``.NAME.*.unfinished`` beside its place, and is renamed when
it is complete. A run that is killed leaves such a file behind; the next one to the same place
removes it.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_END = ".unfinished"
WRITER = "ratekeeper writer"  # name of threads that write, and may wait for a slow reader


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a place to write to; what was written there takes the place of `path` at the end.

    Parameters
    ----------
    path : path-like
        The file to write. If the body of the ``with`` raises, or the program is killed, a file
        that is there stays as it was. It keeps its mode, and a file that may not be written is
        not replaced. A link is written through. A device or a pipe, such as /dev/null, is written
        to as it is.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     with whole_file(Path(name, "a.txt")) as unfinished:
    ...         _ = unfinished.write_text("one")
    ...     [file.name for file in Path(name).iterdir()]
    ['a.txt']
    """
    if is_device(Path(path)):  # to replace it would harm the whole system
        yield Path(path)
        return
    _refuse_open_file(Path(path))
    with _unfinished(path, lambda place, target: place.touch(_mode(target))) as (place, target):
        yield place
        _sync(place, os.O_RDWR)
        if target.is_file():
            shutil.copymode(target, place)
        place.replace(target)


def refuse_inputs(output: str | os.PathLike[str], inputs: Iterable[str]) -> None:
    """Raise if an output is one of the inputs, or would become a part of one.

    Parameters
    ----------
    output : path-like
        What is to be written.
    inputs : iterable of str
        What is read: files and folders. What does not exist is left to whoever opens it.

    Examples
    --------
    >>> refuse_inputs("out.csv", ["in.csv"])
    """
    target = Path(os.path.realpath(output))
    for name in inputs:
        source = Path(os.path.realpath(name))
        if not source.exists() or is_device(source):
            continue
        if target == source or (target.exists() and target.samefile(source)):
            found = f"The output {output} is the input {name}, which stays as it is."
            raise InputError(found, value=output, remedy="Name another.")
        if source.is_dir() and target.is_relative_to(source):
            found = f"The output {output} lies in the input folder {name}, of which it would "
            raise InputError(f"{found}become a part.", value=output, remedy="Write somewhere else.")


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
    with _unfinished(path, lambda place, _: place.mkdir()) as (place, target):
        yield place
        for file in place.rglob("*"):
            if file.is_file():
                _sync(file, os.O_RDWR)
        place.replace(target)  # fails if the folder holds anything


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
    with _unfinished(target / "files", lambda place, _: place.mkdir()) as (place, _):
        for file, content in files.items():
            (place / file).write_bytes(content)
            _sync(place / file, os.O_RDWR)
        for file in files:
            (place / file).replace(target / file)
        place.rmdir()


@contextmanager
def _unfinished(
    path: str | os.PathLike[str], make: Callable[[Path, Path], None]
) -> Iterator[tuple[Path, Path]]:
    """Make a place beside the target, and leave nothing there if the work fails.

    The place has a lock that ends with the process, however that ends.
    """
    target = Path(os.path.realpath(path))
    _remove_leftovers(target)
    place = target.with_name(f"{_start(target)}{secrets.token_hex(6)}{_END}")
    lock = None
    try:
        while lock is None:
            make(place, target)
            # Before it is locked, another run may take it for a leftover: then it is made again.
            with suppress(FileNotFoundError):
                lock = _lock(place, wait=True)
        yield place, target
        with suppress(OSError):  # where the system can, the new name survives a loss of power, too
            _sync(target.parent, os.O_RDONLY)
    except BaseException:
        _remove(place)
        raise
    finally:
        _unlock(lock)


def _remove_leftovers(target: Path) -> None:
    """Remove what killed runs left behind; what a living run works on is locked and stays."""
    with suppress(OSError):  # no such folder, or one that cannot be listed
        for path in target.parent.iterdir():
            rest = path.name.removeprefix(_start(target))
            if rest != path.name and re.fullmatch(r"[0-9a-f]{12}\.unfinished", rest):
                with suppress(OSError):
                    lock = _lock(path, wait=False)
                    try:
                        _remove(path)
                    finally:
                        _unlock(lock)


def _start(target: Path) -> str:
    """Begin the name of what is unfinished, short enough for file systems, which count bytes."""
    return f".{os.fsdecode(os.fsencode(target.name)[:200])}."


def _mode(target: Path) -> int:
    """Return how the unfinished file may be read: never by more people than the target."""
    if not target.is_file():
        return 0o666  # less what the user's umask takes away
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return stat.S_IMODE(target.stat().st_mode)


def _refuse_open_file(path: Path) -> None:
    """Raise if the path names a file that this or another program has open, as /dev/stdout does.

    To replace it would take away what stands in it, and what others go on writing.
    """
    if path.is_file() and path.absolute().parts[1:2] in (("dev",), ("proc",)):
        raise InputError(
            f"{path} leads to a file that is open already.",
            value=path,
            remedy="Name the file itself, or use - for standard output where that is possible.",
        )


def is_device(path: Path) -> bool:
    """Return whether a path is neither file nor folder, such as /dev/null: then it is written to.

    Examples
    --------
    >>> is_device(Path("no-such-file"))
    False
    """
    return path.exists() and not path.is_file() and not path.is_dir()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _lock(path: Path, *, wait: bool) -> int:
    """Lock a file or folder. If another has done so: wait, or raise."""
    if sys.platform == "win32":  # no such locks: leftovers may be removed under a living run
        return -1
    import fcntl

    lock = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError) if wait else nullcontext():  # some file systems have no locks
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        # Meanwhile it may have been removed, or removed and made again by another.
        if not os.path.samestat(os.fstat(lock), path.stat()):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    except OSError:
        os.close(lock)
        raise
    return lock


def _unlock(lock: int | None) -> None:
    if lock is not None and lock >= 0:
        os.close(lock)


def _sync(path: Path, how: int) -> None:
    """Wait until a file or folder is on the disk."""
    number = os.open(path, how)
    try:
        os.fsync(number)
    finally:
        os.close(number)
