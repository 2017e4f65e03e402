"""Standard streams on which a full disk and a reader that went away are always seen."""

from __future__ import annotations

import io
import os
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ratekeeper._system._atomic_files import WRITER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from _typeshed import ReadableBuffer

STANDARD_OUTPUT = "standard output"
CLOSED = "Standard output is closed. Give it a file: ... > FILE."


class _Output(io.FileIO):
    """Standard output that says its name where it fails."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write as much as the system takes."""
        try:
            return super().write(data)
        except OSError as error:
            error.filename = STANDARD_OUTPUT
            raise


class _Closed(_Output):
    """Standard output that was closed from the start, so that every write fails."""


@contextmanager
def guarded() -> Iterator[None]:
    """See that there are streams, that any name prints, and that no failed write goes unseen.

    With PYTHONUNBUFFERED=1 text goes to the system without a buffer, and what the system does not
    take at once, as on a disk that is just full, is lost without a word. A buffer tries again, and
    then the failure shows. What is printed to a standard output that was closed from the start is
    such a failure, too; a command that prints nothing there does its work.
    """
    before = sys.stdout
    _open_closed()
    if before is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_Closed(1, "w", closefd=False)), "utf-8")
    elif isinstance(before, io.TextIOWrapper):
        if before.errors == "strict":
            before.reconfigure(errors="backslashreplace")
        sys.stdout = _buffered(before) or before
    try:
        yield
    except SystemExit as end:
        if any(thread.name == WRITER for thread in threading.enumerate()):
            # It was given up, waiting for a reader that has stalled, and holds the stream: even
            # to forget that would wait for it.
            sys.stderr.flush()
            os._exit(end.code if isinstance(end.code, int) else 1)
        raise
    finally:
        if sys.stdout is not before:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
        sys.stdout = before


def _open_closed() -> None:
    """See that no file that is opened later gets the number of a standard stream.

    Whoever writes to that stream, as libraries do, would write into that file.
    """
    # Standard output is opened for reading only, so that no write to it succeeds. Linux opens
    # /dev/stdout anew, for writing: then it is a disk that is always full.
    output = "/dev/full" if os.path.exists("/dev/full") else os.devnull  # noqa: PTH110 - a device
    places = ((os.devnull, os.O_RDONLY), (output, os.O_RDONLY), (os.devnull, os.O_WRONLY))
    for number, (place, how) in enumerate(places):
        try:
            os.fstat(number)
        except OSError:  # closed by whoever started us
            opened = os.open(place, how)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def is_closed() -> bool:
    """Return whether nothing can be printed, since whoever started us closed standard output."""
    return isinstance(getattr(getattr(sys.stdout, "buffer", None), "raw", None), _Closed)


def forget(stream: TextIO) -> None:
    """Let what is still in the buffer go nowhere, so that the interpreter ends in silence."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _buffered(stream: io.TextIOWrapper) -> io.TextIOWrapper | None:
    """Return a buffered stream to the same file; None if it is none, as in tests, or a console."""
    under = stream.buffer
    raw = under if isinstance(under, io.RawIOBase) else getattr(under, "raw", None)
    if type(raw) is not io.FileIO:
        return None
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(raw.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering or raw.isatty(),
    )
