"""Writing files and folders whole or not at all.

What is being written has another name, ``.NAME.*.unfinished`` beside its place, and is renamed when
it is complete. A run that is killed leaves such a file behind; the next one to the same place
removes it.

Others may write in the same folder, as in /tmp, and be unfriendly. So names are not to be guessed
and nothing is made where something is; a lock is never waited for; and only files and folders of
one's own, never links, are removed or given another mode.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_END = ".unfinished"
_TRIES = 100
_MOST_LINKS = 40  # as many as Linux follows
# Only of what is there itself, at once, and never as the terminal of this process.
SAFELY = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY"))
WRITER = "ratekeeper writer"  # name of threads that write, and may wait for a slow reader


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a place to write to; what was written there takes the place of `path` at the end.

    Parameters
    ----------
    path : path-like
        The file to write. If the body of the ``with`` raises, or the program is killed, a file
        that is there stays as it was. It keeps its mode, and a file that may not be written is
        not replaced. A link is written through. A device or a pipe, such as /dev/null, is written
        to as it is. Links and pipes that other users made where everybody may write are refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     with atomic_file(Path(name, "a.txt")) as unfinished:
    ...         _ = unfinished.write_text("one")
    ...     [file.name for file in Path(name).iterdir()]
    ['a.txt']
    """
    target = followed(path)
    if is_device(Path(path)):  # to replace it would harm the whole system
        yield Path(path)
        return
    _refuse_open_file(Path(path))
    with _unfinished(target, lambda place: _new_file(place, target)) as (place, lock):
        yield place
        _sync(place, os.O_RDWR)
        _refuse_exchanged(place, lock)
        _keep_mode(place, lock, target)
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
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty folder to write to, which becomes `path` at the end.

    Parameters
    ----------
    path : path-like
        The folder to make. It must not be there, or be empty: nothing is ever replaced.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     with atomic_folder(Path(name, "out")) as unfinished:
    ...         _ = (unfinished / "a.txt").write_text("one")
    ...     [file.name for file in Path(name, "out").iterdir()]
    ['a.txt']
    """
    target = followed(path)
    with _unfinished(target, _new_folder) as (place, lock):
        yield place
        for file in place.rglob("*"):
            if file.is_file():
                _sync(file, os.O_RDWR)
        _refuse_exchanged(place, lock)
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
    target = followed(folder)
    target.mkdir(parents=True, exist_ok=True)
    # Within the folder, so that moving is renaming and never copying.
    with _unfinished(target / "files", _new_folder) as (place, lock):
        for file, content in files.items():
            (place / file).write_bytes(content)
            _sync(place / file, os.O_RDWR)
        _refuse_exchanged(place, lock)
        for file in files:
            (place / file).replace(target / file)
        place.rmdir()


@contextmanager
def _unfinished(target: Path, make: Callable[[Path], int]) -> Iterator[tuple[Path, int]]:
    """Make a place beside the target, and leave nothing there if the work fails.

    The place has a lock that ends with the process, however that ends.
    """
    _remove_leftovers(target)
    place, lock = _made(target, make)
    try:
        yield place, lock
        with suppress(OSError):  # where the system can, the new name survives a loss of power, too
            _sync(f"{target.parent}/.", os.O_RDONLY)
    except BaseException:
        _remove(place)
        raise
    finally:
        _close(lock)


def _made(target: Path, make: Callable[[Path], int]) -> tuple[Path, int]:
    for _ in range(_TRIES):
        place, lock = target.with_name(f"{_start(target)}{secrets.token_hex(6)}{_END}"), -1
        try:
            lock = make(place)
            if _locked(lock, place):
                return place, lock
        except BaseException:
            _close(lock)
            _remove(place)
            raise
        # Another run has just taken it for a leftover.
        _close(lock)
        _remove(place)
    raise InputError(
        f"Other programs do not let {target} be written: they lock whatever is new beside it.",
        value=target,
        remedy="Write in a folder where nobody else may.",
    )


def _new_file(place: Path, target: Path) -> int:
    """Make a file that was not there, to be read by no more people than the target; open it."""
    _refuse_read_only(target)
    number = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY | SAFELY, 0o666)
    if sys.platform == "win32":  # which cannot rename what is open
        os.close(number)
        return -1
    if os.path.lexists(target):
        os.fchmod(number, 0o600)
    return number


def _new_folder(place: Path) -> int:
    """Make a folder that was not there, and open it."""
    place.mkdir()
    return -1 if sys.platform == "win32" else os.open(place, os.O_RDONLY | SAFELY)


def _remove_leftovers(target: Path) -> None:
    """Remove what killed runs left behind; what a living run works on is locked and stays."""
    with suppress(OSError):  # no such folder, or one that cannot be listed
        for path in target.parent.iterdir():
            rest = path.name.removeprefix(_start(target))
            if rest != path.name and re.fullmatch(r"[0-9a-f]{12}\.unfinished", rest):
                with suppress(OSError):
                    _remove_leftover(path)


def _remove_leftover(path: Path) -> None:
    if sys.platform == "win32":  # no locks, but what is open cannot be removed
        _remove(path)
        return
    if not _is_own(path.lstat()):
        return
    lock = os.open(path, os.O_RDONLY | SAFELY)
    try:
        if _is_own(os.fstat(lock)) and _locked(lock, path, surely=True):
            _remove(path)
    finally:
        os.close(lock)


def _is_own(found: os.stat_result) -> bool:
    """Return whether this user made it, as a file or a folder and not as anything else."""
    is_plain = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return is_plain and found.st_uid == os.geteuid()


def followed(path: str | os.PathLike[str]) -> Path:
    """Return where a path leads if it is a link, and raise if somebody else may have set a trap.

    Only the last part is followed here: for the others the system itself keeps users from being
    led astray by links in shared folders, which it cannot do for a path that was resolved.

    Examples
    --------
    >>> followed("a.txt") == Path.cwd() / "a.txt"
    True
    """
    try:
        os.fsencode(path)
        if "\0" in os.fspath(path):
            raise ValueError  # noqa: TRY301 - as the system would say
    except ValueError:
        raise InputError(f"{os.fspath(path)!r} is no path.", value=path) from None
    if sys.platform == "win32":
        return Path(os.path.realpath(path))
    target = Path.cwd() / path
    for _ in range(_MOST_LINKS):
        _refuse_planted(target)
        if not target.is_symlink():
            return target if target.name != ".." else Path(os.path.realpath(target))
        target = target.parent / target.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _refuse_planted(path: Path) -> None:
    """Raise if others made a link or a pipe there, in a folder where everybody may."""
    try:
        found, folder = path.lstat(), path.parent.stat()
    except OSError:  # there is nothing
        return
    is_plain = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    if is_plain or not folder.st_mode & stat.S_IWOTH:
        return
    if found.st_uid not in (os.geteuid(), folder.st_uid):
        what = "link" if stat.S_ISLNK(found.st_mode) else "pipe or device"
        raise InputError(
            f"{path} is a {what} that another user made in a folder where everybody may write.",
            value=path,
            remedy="It could lead anywhere: name another file.",
        )


def _start(target: Path) -> str:
    """Begin the name of what is unfinished, short enough for file systems, which count bytes."""
    return f".{os.fsdecode(os.fsencode(target.name)[:200])}."


def _refuse_read_only(target: Path) -> None:
    if target.is_file() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))


def _keep_mode(place: Path, lock: int, target: Path) -> None:
    """Let those use the new file who might use the one whose place it takes, and nobody else."""
    try:
        earlier = target.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(earlier.st_mode):
        return
    mode = earlier.st_mode & 0o777  # nothing runs as its owner who did not say so
    if sys.platform == "win32":
        place.chmod(mode)
        return
    own = os.fstat(lock)
    if earlier.st_uid != own.st_uid:
        mode &= 0o755  # others decided who may write
    if earlier.st_gid != own.st_gid:
        try:
            os.fchown(lock, -1, earlier.st_gid)
        except OSError:  # then to those who are in the group now no more than to all
            mode &= 0o707 | (mode & 0o007) << 3
    os.fchmod(lock, mode)


def _refuse_exchanged(place: Path, lock: int) -> None:
    """Raise if the name stands for something else now: others may write in the folder."""
    if lock >= 0 and not os.path.samestat(os.fstat(lock), place.lstat()):
        raise InputError(
            f"{place} was exchanged by another program while it was written.",
            value=place,
            remedy="Write in a folder where nobody else may.",
        )


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
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _locked(lock: int, path: Path, *, surely: bool = False) -> bool:
    """Lock what is open, and return whether it is locked and still has its name.

    Some file systems have no locks: there, only what must not be taken surely is taken.
    """
    if sys.platform == "win32":
        return True
    refused = flock(lock)
    if isinstance(refused, BlockingIOError) or (refused and surely):
        return False
    try:
        return os.path.samestat(os.fstat(lock), path.lstat())
    except FileNotFoundError:
        return False


def flock(number: int) -> OSError | None:
    """Lock an open file without waiting, where there are locks; return why it could not be."""
    import fcntl

    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)  # type: ignore[attr-defined,unused-ignore]
    except OSError as error:
        return error
    return None


def _close(lock: int) -> None:
    if lock >= 0:
        os.close(lock)


def _sync(path: str | Path, how: int) -> None:
    """Wait until a file or folder is on the disk."""
    number = os.open(path, how | SAFELY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
