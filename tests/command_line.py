"""The program ``ratekeeper``, run in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from ratekeeper.cli import main as program

if TYPE_CHECKING:
    from collections.abc import Mapping

    import click
    from click.testing import Result

COMMANDS = tuple(program.list_commands(None))


def run(
    *arguments: Any, env: Mapping[str, str | None] | None = None, stdin: str | bytes | None = None
) -> Result:
    """Run a line of arguments; standard output and standard error come apart."""
    try:
        runner = CliRunner(mix_stderr=False)
    except TypeError:  # newer versions of click never mix them
        runner = CliRunner()
    line = [str(argument) for argument in arguments]
    return runner.invoke(program, line, env=env, input=stdin, prog_name="ratekeeper")


def command(name: str) -> click.Command:
    """Return a command, which knows its options."""
    return program.get_command(None, name)


def choices(name: str, option: str) -> tuple[str, ...]:
    """Return what an option of a command may be."""
    return tuple(option_of(name, option).type.choices)


def option_of(name: str, option: str) -> click.Parameter:
    """Return an option of a command."""
    return next(one for one in command(name).params if one.name == option)
