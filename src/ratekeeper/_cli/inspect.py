"""``ratekeeper inspect``: what a .rk file promises or holds."""

from __future__ import annotations

import click

from ratekeeper._cli import contents, options, settings
from ratekeeper._cli.printing import print_json

_EPILOG = """\b
Examples:
  ratekeeper inspect test.rk
  ratekeeper inspect cal.rk --json
"""


@click.command("inspect", epilog=_EPILOG)
@options.stored_argument("stored", "FILE.RK")
@options.as_json()
@settings.command_option
def command(stored: str, json: bool) -> None:  # noqa: FBT001 - click calls it by name
    """Print the certificate of a test, or what a calibration holds.

    Of a test: what is promised, on what data, and at what price in the other error. Of a
    calibration: scores by class and group, the least rates they can promise, how well they
    separate the classes, and rows that were skipped. Writes nothing.
    """
    found = contents.load_stored(
        stored, "FILE.RK is what calibrate or control wrote; this command shows no rows."
    )
    if json:
        print_json(contents.facts(found))
    else:
        contents.show(found)
