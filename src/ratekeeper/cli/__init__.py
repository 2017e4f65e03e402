"""The command line: one small file per command in `_commands`, which parses, calls and prints.

A command's module is imported when the command is used, and heavy libraries when its work begins,
so that ``ratekeeper --help`` answers at once. What commands share is in files named for it:
`_options`, `_promise`, `_outputs`, `_printing`, `_errors`, `_settings`, `_streams`. Imports
everything; nothing imports it. Start with `_commands/control.py`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from ratekeeper._version import __version__
from ratekeeper._wording._formatting import did_you_mean
from ratekeeper.cli import _errors, _settings, _streams

__all__: list[str] = []  # programs run commands; Python has the functions behind them

# The first sentence of each command's help, here so that the list needs no import. A command's
# module has its name.
COMMANDS = {
    "calibrate": "Read held-out scores and labels into a calibration.",
    "control": "Make the test that keeps an error rate, or another promise.",
    "cheapest": "Make the test whose errors cost least.",
    "classify": "Decide on every row of a file.",
    "learn": "Learn the labels of earlier decisions of an adaptive test.",
    "select": "Choose rows of a file so that few of them are negative.",
    "evaluate": "Count the errors of a test on labelled new rows.",
    "monitor": "Watch a test at work, night by night.",
    "shift": "Test new scores for a shift, without labels.",
    "inspect": "Print the certificate of a test, or what a calibration holds.",
    "report": "Write a page about a test that anybody can open.",
    "sql": "Print a query for a database: count, decide, evaluate.",
    "plan": "Say how many held-out objects a promise needs.",
    "normality": "Test columns of a file for normality.",
    "compare": "Compare systems on a table: who keeps the rate, and its price.",
    "demo": "Run the main job on real data, or export them to try yourself.",
}

_EPILOG = """\b
A first walk:
  ratekeeper demo --export demo
  ratekeeper calibrate demo/held-out.csv --score score --label employed \\
      -o cal.rk
  ratekeeper control cal.rk --fnr 1% -o test.rk
  ratekeeper classify test.rk demo/new.csv -o decided.csv

Exit codes: 0 done, 2 bad usage or input, 3 the promise is impossible with these scores,
4 a check failed (evaluate --check, --require, --min-n), a fit is contradicted, monitor has an
alarm, or shift found one.
"""


class _Program(click.Group):
    """Commands that are loaded when they are used, and that end with a message if they fail."""

    def main(self, *args: Any, **extra: Any) -> Any:  # noqa: ANN401 - as click has it
        """Run the program on streams that hide no failure."""
        with _streams.guarded(), _errors.reported_outside():
            return super().main(*args, **extra)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401
    ) -> click.Context:
        """Read the line; help and version, which are printed here, may fail like all else."""
        with _errors.reported():
            return super().make_context(info_name, args, parent, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of a walk, not of the alphabet."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"ratekeeper.cli._commands.{cmd_name}").command
        assert isinstance(command, click.Command)  # noqa: S101 - what the module is for
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may be meant."""
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}.{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - whatever a command returns
        """Run a command; whatever goes wrong ends in a message and an exit code."""
        with _errors.reported():
            return super().invoke(ctx)


@click.group(
    cls=_Program,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "RATEKEEPER"},
)
@click.version_option(__version__, "-V", "--version", prog_name="ratekeeper")
@_settings.program_option
def main() -> None:
    """Keep one error rate of a trained binary classifier below the level you choose.

    Files are CSV, TSV, Parquet, Arrow or Feather, folders of them, or - for standard input and
    output. Every command has its own --help, with examples.
    """
