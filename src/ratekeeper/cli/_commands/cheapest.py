"""``ratekeeper cheapest``: from a calibration to the test whose errors cost least."""

from __future__ import annotations

from typing import Any

import click

from ratekeeper.cli import _contents, _options, _settings
from ratekeeper.cli._commands.control import merged
from ratekeeper.cli._outputs import Written, check_output
from ratekeeper.cli._printing import echo, print_json
from ratekeeper.cli._rates import rate_options

_EPILOG = """\b
Examples:
  ratekeeper cheapest cal.rk --cost-fn 100 --cost-fp 3 -o test.rk
  ratekeeper cheapest cal.rk --cost-fn 100 --cost-fp 3 --prevalence 2% \\
      --fnr 5% -o test.rk
"""


@click.command("cheapest", epilog=_EPILOG)
@click.argument("calibrations", metavar="CAL.RK...", type=_options.PATH, nargs=-1, required=True)
@click.option(
    "--cost-fn", type=float, required=True, metavar="COST", help="Cost of a missed positive."
)
@click.option("--cost-fp", type=float, required=True, metavar="COST", help="Cost of a false alarm.")
@click.option(
    "--prevalence",
    type=_options.RATE,
    metavar="SHARE",
    help="Share of positives among new objects. By default that of the calibration, which must "
    "then be a random sample of the population.",
)
@click.option(
    "--delta",
    type=_options.RATE,
    default=0.05,
    show_default=True,
    help="Chance that the promise fails.",
)
@rate_options(
    "Also miss at most this share of positives.",
    "Also call at most this share of negatives positive.",
)
@_options.output("File to write the test to.")
@_options.as_json()
@_settings.command_option
def command(calibrations: tuple[str, ...], output: str, json: bool, **given: Any) -> None:  # noqa: ANN401, FBT001
    """Make the test whose errors cost least.

    CAL.RK is what calibrate wrote; several are merged first. The cost is per object, and what is
    promised about it allows for the search over all thresholds. The test is written to OUT as
    control writes one; inspect prints its certificate.
    """
    from ratekeeper.storage._files import save

    check_output(output, calibrations)
    found = merged(calibrations).cheapest(**given)
    written = Written(output)
    with written.writing():
        save(found.test, output)
    if json:
        print_json({"output": output, "cheapest": found.to_dict(), **_contents.facts(found.test)})
    else:
        echo(*str(found).split("\n"))
        written.say()
