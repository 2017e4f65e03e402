"""How commands end: one message and an exit code, never a traceback.

====  ======================================================================================
code  meaning
====  ======================================================================================
0     done
2     bad usage or input, or an output that cannot be written
3     the promise is impossible with this many scores
70    a bug in ratekeeper
130   stopped by Ctrl-C (143: by a request to end)
141   the reader of standard output went away, as ``| head`` does
====  ======================================================================================
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import click

from ratekeeper.cli.wording import as_options
from ratekeeper.exceptions import RatekeeperError, RatekeeperWarning, TooFewScoresError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REFUSED = 2
IMPOSSIBLE = 3
BUG = 70
INTERRUPTED = 130
TERMINATED = 143
NO_READER = 141
TRACEBACK = "RATEKEEPER_TRACEBACK"


class Refusal(click.ClickException):
    """A message instead of a traceback."""

    exit_code = REFUSED


class Impossible(Refusal):
    """The promise is impossible with this many scores."""

    exit_code = IMPOSSIBLE


class Bug(Refusal):
    """What should never be seen."""

    exit_code = BUG


@contextmanager
def reported() -> Iterator[None]:
    """Turn whatever goes wrong within into a message and an exit code."""
    _mend_standard_streams()
    with _warning_lines(), _ending_when_asked():
        try:
            yield
            sys.stdout.flush()  # here, so that a full disk or a gone reader is still noticed
        except (click.ClickException, click.exceptions.Exit, click.Abort, SystemExit):
            raise
        except BaseException as error:  # whatever it is, no traceback
            if os.environ.get(TRACEBACK, "") not in ("", "0"):
                raise
            _refuse(error)


def near(name: str, known: Iterable[str]) -> str:
    """Say which of the known names may be meant.

    Examples
    --------
    >>> near("clasify", ["classify", "control"])
    " Did you mean 'classify'?"
    >>> near("x", ["classify"])
    ''
    """
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), n=1)
    return f" Did you mean {found[0]!r}?" if found else ""


def _refuse(error: BaseException) -> NoReturn:
    match error:
        case TooFewScoresError():
            raise Impossible(as_options(str(error))) from error
        case RatekeeperError():
            raise Refusal(as_options(str(error))) from error
        case BrokenPipeError():
            _forget_standard_output()
            raise click.exceptions.Exit(NO_READER) from error
        case KeyboardInterrupt():
            click.echo("\nStopped.", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from error
        case MemoryError():
            raise Refusal(
                "There is not enough memory for this. Close other programs, take a larger "
                "machine, or with calibrate keep fewer scores: --sample 1000000."
            ) from error
        case OSError():
            _forget_standard_output()
            raise Refusal(_os_message(error)) from error
    text = " ".join(str(error).split())
    raise Bug(
        f"This is a bug in ratekeeper: {type(error).__name__}: {text}. Run again with "
        f"{TRACEBACK}=1 and report what it prints."
    ) from error


def _os_message(error: OSError) -> str:
    what = error.strerror or str(error) or type(error).__name__
    where = "" if error.filename is None else f" ({error.filename})"
    return (
        f"The system refuses{where}: {what}. Check the path, your right to use it and the room on "
        "the disk."
    )


def _mend_standard_streams() -> None:
    """See that there are streams, though closed by who started us, and that any name prints."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _forget_standard_output() -> None:
    """Let what is still in the buffer go nowhere, so that the interpreter ends in silence."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def _warning_lines() -> Iterator[None]:
    """Print ratekeeper's warnings as lines on standard error, each once."""
    seen: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: object = None,
        line: str | None = None,
    ) -> None:
        del filename, lineno, file, line
        text = " ".join(str(message).split())
        if issubclass(category, RatekeeperWarning):
            text = as_options(text)
        if text not in seen:
            seen.add(text)
            click.echo(f"Warning: {text}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", RatekeeperWarning)
        warnings.showwarning = show
        yield


@contextmanager
def _ending_when_asked() -> Iterator[None]:
    """Let a request to end (SIGTERM) unwind the program, so that unfinished files are removed."""

    def end(number: int, frame: object) -> NoReturn:
        del number, frame
        sys.exit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
