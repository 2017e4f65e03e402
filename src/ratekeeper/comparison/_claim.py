"""A file for one run alone: a second run is refused while the first one lives."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

from ratekeeper._system._atomic_files import SAFELY, followed
from ratekeeper._system._locks import holder, lock
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from types import TracebackType


class Claim:
    """A journal that is locked from when it is there until the end of the ``with``.

    The lock ends with the process, however that ends. File systems without locks have none.

    Parameters
    ----------
    path : path-like
        The file. It is made when `open` is called, not before.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name, Claim(Path(name, "trials.jsonl")) as claim:
    ...     claim.open().write(b"mine")
    4
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._file: BinaryIO | None = None

    def __fspath__(self) -> str:
        return str(self.path)

    def __enter__(self) -> Self:
        if os.path.exists(self.path):  # noqa: PTH110 - never raises; if in use, that is known early
            self.open()
        return self

    def open(self) -> BinaryIO:
        """Return the file, open for reading and writing, after others are locked out."""
        if self._file is None:
            try:
                file = _opened(followed(self.path))
            except (OSError, ValueError) as error:  # such as a character that names cannot have
                why = error.found if isinstance(error, InputError) else None
                why = str(why or getattr(error, "strerror", None) or error).rstrip(".")
                raise InputError(
                    f"{self.path} cannot be used: {why}.",
                    parameter="checkpoint",
                    value=self.path,
                    remedy="Use a file, in a folder that exists and can be written to.",
                ) from error
            if not lock(file.fileno()):
                file.close()
                raise InputError(
                    f"{self.path} is in use by another comparison{holder(self.path)}.",
                    parameter="checkpoint",
                    value=self.path,
                    remedy=(
                        "Wait until that one has ended, or use another ",
                        Parameter("checkpoint"),
                        ".",
                    ),
                )
            self._file = file
        return self._file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _opened(path: Path) -> BinaryIO:
    """Open a file, which is made if needed; a pipe could wait forever, and a device is no file."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is not a file")
    how = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | SAFELY
    file = os.fdopen(os.open(path, how, 0o666), "r+b")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # exchanged since it was looked at
        file.close()
        raise OSError(errno.EINVAL, "it is not a file")
    return file
