"""How commands end: one message and an exit code, never a traceback.

====  ======================================================================================
code  meaning
====  ======================================================================================
0     done
2     bad usage or input, or an output that cannot be written
3     the promise is impossible with these scores
4     ``evaluate`` found a promise broken (``--check``), not shown to be kept (``--require``) or
      counted on too few objects (``--min-n``), or it could not be counted; or scores outside the
      range of the calibration, of which nothing is promised; ``control`` and
      ``calibrate`` made a test whose fit the scores contradict; ``monitor`` has an alarm, or
      ``shift`` found one
70    a bug in ratekeeper
130   stopped by Ctrl-C (143: by a request to end)
141   the reader of standard output went away, as ``| head`` does
====  ======================================================================================
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import click

from ratekeeper._wording._formatting import escape_controls, format_value as written
from ratekeeper.cli import _streams
from ratekeeper.cli._printing import echo
from ratekeeper.exceptions import (
    NOTHING,
    RatekeeperError,
    RatekeeperWarning,
    TooFewScoresError,
    UnattainableError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ratekeeper.exceptions import Parameter

REFUSED = 2
IMPOSSIBLE = 3
EXCEEDED = 4
BUG = 70
INTERRUPTED = 130
TERMINATED = 143
NO_READER = 141
TRACEBACK = "RATEKEEPER_TRACEBACK"
COMMAND = "ratekeeper.command"
"""Where the context keeps the command that runs."""
_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())  # of newer click: help, in lines
# Parameters of the library whose options have other names; the rest are called alike.
_OPTIONS = {
    "checkpoint": "output",
    "decided_at": "time",
    "groups": "group",
    "higher_is_positive": "lower_is_positive",
    "n_jobs": "jobs",
    "positive_label": "positive",
    "random_state": "seed",
    "source_format": "format",
    "target": "output",
    "target_format": "to",
    "times": "time",
    "weights": "weight",
}


class CommandError(click.ClickException):
    """A message, in one line of plain text, and an exit code instead of a traceback."""

    def __init__(self, message: str, exit_code: int = REFUSED) -> None:
        super().__init__(escape_controls(message))
        self.exit_code = exit_code  # type: ignore[misc]  # click has it in the class


class CheckFailedError(CommandError):
    """A promise is broken, or could not be checked, and that was asked for."""

    def __init__(self, message: str) -> None:
        super().__init__(message, EXCEEDED)


class ContradictedFitError(CommandError):
    """A test was made and written, but promises nothing: the scores contradict its fit."""

    def __init__(self, message: str) -> None:
        super().__init__(message, EXCEEDED)


@contextmanager
def reported() -> Iterator[None]:
    """Turn whatever goes wrong within into a message and an exit code."""
    with _warning_lines(), _ending_when_asked():
        try:
            yield
            sys.stdout.flush()  # here, so that a full disk or a gone reader is still noticed
        except click.ClickException as error:
            if not isinstance(error, _HELP):  # one of click's own may name what was typed
                error.message = escape_controls(error.message)  # type: ignore[misc]  # final in new click
            raise
        except (click.exceptions.Exit, click.Abort, SystemExit):
            raise
        except BaseException as error:  # whatever it is, no traceback
            if os.environ.get(TRACEBACK, "") not in ("", "0"):
                raise
            _refuse(error)


@contextmanager
def reported_outside() -> Iterator[None]:
    """End with a code where even a message cannot be printed, or a script for the shell."""
    try:
        yield
    except OSError as error:
        if os.environ.get(TRACEBACK, "") not in ("", "0"):
            raise
        gone = isinstance(error, BrokenPipeError)
        _streams.forget(sys.stdout)
        try:
            if not gone:
                echo(f"Error: {_os_message(error)}", err=True)
        except OSError:  # nobody will hear of it
            _streams.forget(sys.stderr)
        sys.exit(NO_READER if gone else REFUSED)
    except (LookupError, ValueError) as error:  # of variables that a shell sets for completions
        if os.environ.get(TRACEBACK, "") not in ("", "0"):
            raise
        found = f"{type(error).__name__}: {error}"
        echo(f"Error: The shell asks for completions in an unknown way ({found}).", err=True)
        sys.exit(REFUSED)


def spelled(parameter: Parameter) -> str:
    """Write a parameter of the library as the option of the command that runs.

    Examples
    --------
    >>> from ratekeeper.exceptions import Parameter
    >>> from ratekeeper.cli._commands.calibrate import command
    >>> with click.Context(command):
    ...     print(spelled(Parameter("thin_groups", "pool")), spelled(Parameter("score")))
    ...     print(spelled(Parameter("higher_is_positive", False)))
    ...     print(spelled(Parameter("bandwidth", 0.3)), spelled(Parameter("labels")))
    --thin-groups pool --score
    --lower-is-positive
    --parameter bandwidth=0.3 labels
    """
    name, value = parameter.name, parameter.value
    if name == "method" and hasattr(value, "name"):  # a method of the library
        return f"--method {value.name}"
    options = _options()
    option = options.get(name) or options.get(_OPTIONS.get(name, name))
    if name == "higher_is_positive" and value is not NOTHING:
        value = not value
    text = ""
    if value is not NOTHING and value is not None:
        text = shlex.quote(value) if isinstance(value, str) else written(value)
    if option is None and text and "parameter" in options and name in _method_parameters():
        return f"--parameter {name}={text}"
    if option is None:
        return f"{name.replace('_', ' ')} {text}".rstrip()
    if isinstance(value, bool):
        return option if value else f"no {option}"
    return f"{option} {text}".rstrip()


def _options() -> dict[str, str]:
    """Return the options of the command that runs, by the names of their parameters."""
    context = click.get_current_context(silent=True)
    if context is None:
        return {}
    command: click.Command | None = context.meta.get(COMMAND) or context.command
    if isinstance(command, click.Group) and context.invoked_subcommand is not None:
        command = command.get_command(context, context.invoked_subcommand)
    options = () if command is None else command.params
    return {one.name: max(one.opts, key=len) for one in options if isinstance(one, click.Option)}


def _method_parameters() -> set[str]:
    """Return the names of all parameters of methods, which one option takes."""
    from dataclasses import fields

    from ratekeeper.methods import METHODS

    return {field.name for kind in METHODS.values() for field in fields(kind)}  # type: ignore[arg-type]


def _refuse(error: BaseException) -> NoReturn:
    match error:
        case TooFewScoresError() | UnattainableError():
            raise CommandError(error.worded(spelled), IMPOSSIBLE) from error
        case RatekeeperError():
            raise CommandError(error.worded(spelled)) from error
        case BrokenPipeError():
            _streams.forget(sys.stdout)
            raise click.exceptions.Exit(NO_READER) from error
        case KeyboardInterrupt():
            echo("", "Stopped.", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from error
        case MemoryError():
            raise CommandError(
                "There is not enough memory for this. Close other programs, take a larger "
                "machine, or with calibrate keep fewer scores: --sample 1000000."
            ) from error
        case UnicodeEncodeError():  # bytes of the command line that are no letters
            found = written(error.object[error.start : error.end])
            raise CommandError(
                f"A name or text has what is no letter and cannot be written, {found}. Write all "
                "options in UTF-8."
            ) from error
        case OSError():
            _streams.forget(sys.stdout)
            raise CommandError(_os_message(error)) from error
    text = " ".join(str(error).split())
    raise CommandError(
        f"This is a bug in ratekeeper: {type(error).__name__}: {text}. Run again with "
        f"{TRACEBACK}=1 and report what it prints.",
        BUG,
    ) from error


def _os_message(error: OSError) -> str:
    what = error.strerror or str(error) or type(error).__name__
    if error.filename == _streams.STANDARD_OUTPUT and _streams.is_closed():
        return _streams.CLOSED
    if error.filename == _streams.STANDARD_OUTPUT:
        return f"Standard output cannot be written: {what}. Write to a disk with room."
    where = "" if error.filename is None else f" ({error.filename})"
    return (
        f"The system refuses{where}: {what}. Check the path, your right to use it and the room on "
        "the disk."
    )


@contextmanager
def _warning_lines() -> Iterator[None]:
    """Print ratekeeper's warnings as lines on standard error, each once."""
    seen: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        ours = message if isinstance(message, RatekeeperWarning) else None
        text = " ".join((ours.worded(spelled) if ours else str(message)).split())
        if text not in seen:
            seen.add(text)
            echo(f"Warning: {text}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", RatekeeperWarning)
        warnings.showwarning = show
        yield


@contextmanager
def _ending_when_asked() -> Iterator[None]:
    """Let Ctrl-C and a request to end unwind the program, so that unfinished files are removed."""

    def end(number: int, frame: object) -> NoReturn:
        del number, frame
        sys.exit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    signal.signal(signal.SIGTERM, end)
    if before[signal.SIGINT] is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
