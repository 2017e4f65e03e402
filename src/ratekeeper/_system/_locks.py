"""One run at a time: a lock beside a file that several runs read, change and write."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ratekeeper._system._atomic_files import SAFELY, flock, followed, is_device
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_TRIES = 100
_HELD = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}
_FAR = 2**31 - 2  # Windows locks bytes, which nobody else can read: one that no journal reaches


@contextmanager
def exclusive(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let no other run in here with the same file, until this one is through.

    The lock is a file ``.NAME.lock`` beside it. It ends with the process, however that ends; a file
    that a killed run leaves behind locks nobody out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder, exclusive(pathlib.Path(folder, "state.rk")):
    ...     [file.name for file in pathlib.Path(folder).iterdir()]
    ['.state.rk.lock']
    """
    target = followed(path)
    if is_device(target) or target.is_dir():  # nothing is made beside a device
        raise InputError(f"{path} is no file.", value=path, remedy="Name a file.")
    place = target.with_name(f".{target.name}.lock")
    number = _locked(place, path)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows does not remove what is open
            place.unlink()
        os.close(number)


def _locked(place: Path, path: str | os.PathLike[str]) -> int:
    for _ in range(_TRIES):
        try:
            number = os.open(place, os.O_CREAT | os.O_RDWR | SAFELY, 0o666)
        except OSError as error:
            raise InputError(
                f"{path} cannot be locked: {error.strerror or error}.",
                value=path,
                remedy="Take a folder that is there and can be written to.",
            ) from error
        if not lock(number):
            os.close(number)
            raise InputError(
                f"Another run is using {path}{holder(place)}.",
                value=path,
                remedy="Wait until it has ended, and run this again.",
            )
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(number), place.lstat()):
                return number
        os.close(number)  # the run before has just removed it
    raise InputError(f"{path} cannot be locked.", value=path, remedy="Run this again.")


def lock(number: int) -> bool:
    """Lock an open file without waiting, and return whether nobody else has done so."""
    refused = flock(number) if sys.platform != "win32" else _lock_byte(number)
    return refused is None or refused.errno not in _HELD  # some file systems have no locks at all


def _lock_byte(number: int) -> OSError | None:
    """Do what `flock` does, on Windows."""
    import msvcrt

    try:
        os.lseek(number, _FAR, os.SEEK_SET)
        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        os.lseek(number, 0, os.SEEK_SET)
    except OSError as error:
        return error
    return None


def holder(path: Path) -> str:
    """Say which process has locked a file, where the system tells."""
    try:
        about = path.stat()
        device = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}"
        for line in Path("/proc/locks").read_text().splitlines():
            _, kind, _, _, process, place, *_ = line.split()
            if (kind, place) == ("FLOCK", f"{device}:{about.st_ino}") and int(process) > 0:
                return f" (process {process})"
    except (AttributeError, OSError, ValueError):  # another system, or another form
        pass
    return ""
