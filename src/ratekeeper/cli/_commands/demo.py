"""``ratekeeper demo``: the main job on real data."""

from __future__ import annotations

import click

from ratekeeper.cli import _options, _settings
from ratekeeper.cli._printing import console, echo

_WIDTH = 100  # of rules and running text in a file or a pipe
_EPILOG = """\b
Examples:
  ratekeeper demo
  ratekeeper demo --export demo
"""


@click.command("demo", epilog=_EPILOG)
@click.option(
    "--export",
    metavar="FOLDER",
    type=_options.PATH,
    help="Instead of running, write the data of the demo as files for the other commands.",
)
@_settings.command_option
def command(export: str | None) -> None:
    """Run the main job on real data, or export them to try yourself.

    Calibrates on people of 2015 and keeps a promise in 2016 to 2018. Writes nothing, unless
    --export names a folder.
    """
    from ratekeeper.cli import _demo as demo

    if export is not None:
        echo(*demo.export(export).split("\n"))
        return
    demo.run(console(unseen_width=_WIDTH))
