"""Processes that start safely and end with ours: fresh interpreters that answer to this one.

A process finds modules where this one does, and nowhere else: not in the current folder, which
Python adds by itself. It reads requests from one pipe and writes replies to another; when the first
one closes, it ends.
"""

from __future__ import annotations

import marshal
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import IO, TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Nothing but what is built in is imported before the path is known.
_START = """
import marshal, os, sys, _signal
_signal.signal(_signal.SIGINT, _signal.SIG_IGN)
requests = os.fdopen(os.dup(0), "rb")
sys.path[:], module, function = marshal.load(requests)
from importlib import import_module
getattr(import_module(module), function)(requests)
"""
# Precedes the replies: what is printed while a process starts stands in the same pipe.
_READY = b"\0ratekeeper is ready\n"
_PIPE = 1 << 20  # bytes, where the system lets pipes hold so many


def start(
    module: str,
    function: str,
    *,
    environment: Mapping[str, str] | None = None,
    inherited: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a process in the calling thread, with whose end the system may end it.

    Parameters
    ----------
    module, function : str
        What it runs, with the file of requests as the only argument.
    environment : dict, optional
        Variables for it that the user has not set.
    inherited : sequence of int
        Files that it shares.
    """
    path = [os.path.abspath(place) for place in map(str, sys.path)]  # noqa: PTH100
    flags = {"isolated": "-I", "ignore_environment": "-E", "no_user_site": "-s"}
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        [
            sys.executable,
            "-P",
            *(flag for name, flag in flags.items() if getattr(sys.flags, name)),
            *("-c", _START),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**(environment or {}), **os.environ},
        pass_fds=tuple(inherited),
        pipesize=_PIPE,
    )
    send(process, marshal.dumps((path, module, function)))
    return process


def send(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write to a process; if it has ended, whoever waits for its reply will know."""
    assert process.stdin is not None  # noqa: S101 - for the type checker
    with suppress(OSError):
        process.stdin.write(data)
        process.stdin.flush()


def skip_start(replies: IO[bytes]) -> None:
    """Read over what is printed while a process starts, before its first reply."""
    any(line.endswith(_READY) for line in replies)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that has nothing to finish."""
    process.kill()
    with suppress(OSError), process:
        pass


def open_replies() -> tuple[BinaryIO, int]:
    """Return, in a process that was started, where replies go.

    What it prints goes to standard error. The second is a file to which nothing is written, and
    from which nothing is read.
    """
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(nothing, 1)
    replies.write(_READY)
    _end_with_parent()
    return replies, nothing


def _end_with_parent() -> None:
    """Let Linux end this process with its parent, also in the middle of a long computation."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
