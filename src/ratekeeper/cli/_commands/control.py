"""``ratekeeper control``: from a calibration to a test that keeps an error rate."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import click

from ratekeeper.cli import _alerts, _contents, _options, _settings
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._outputs import Written, check_output
from ratekeeper.cli._printing import print_json
from ratekeeper.cli._promise import make_test, promise_options, refuse_contradicted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ratekeeper.calibration._calibration import Calibration

_EPILOG = """\b
Examples:
  ratekeeper control cal.rk --fnr 1% -o test.rk
  ratekeeper control cal.rk --sensitivity 99% -o test.rk
  ratekeeper control cal.rk --fpr 0.1% --method high-probability \\
      --delta 0.05 -o test.rk
  ratekeeper control cal.rk --fnr 5% --fpr 5% -o test.rk
  ratekeeper control cal.rk --fnr 1% --tolerance 1e-6 -o test.rk
  ratekeeper control cal.rk --precision 90% -o test.rk
  ratekeeper control cal.rk --alerts 2% -o test.rk
  ratekeeper control cal.rk --fnr 5% --wrong-positives 9/200 -o test.rk
  ratekeeper control monday.rk tuesday.rk --fnr 1% -o test.rk
"""


@click.command("control", epilog=_EPILOG)
@click.argument("calibrations", metavar="CAL.RK...", type=_options.PATH, nargs=-1, required=True)
@promise_options
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Fix the draws of a random method, for tests and replays.  [default: drawn]",
)
@_alerts.prevalence_option("also prints how many alerts there are, and how many of them are false")
@_options.output("File to write the test to.")
@_options.as_json()
@_settings.command_option
def command(calibrations: tuple[str, ...], output: str, **given: Any) -> None:  # noqa: ANN401
    """Make the test that keeps an error rate, or another promise.

    CAL.RK is what calibrate wrote; several are merged first, exactly as if their rows had been in
    one file. Samples cannot be merged, and no calibration may be given twice. With both --fnr and
    --fpr the test keeps both, and abstains where it must. --sensitivity 95% is --fnr 5%, and
    --specificity 95% is --fpr 5%. --precision, --npv, --wrong and --alerts
    are promises about all objects as they come, for which the calibration must be a random sample
    of them. The test is written to OUT with its
    calibration and its certificate, which is printed. If the scores contradict a distribution
    that was fitted to them, nothing is promised, and the command ends with code 4.
    """
    from ratekeeper.storage._files import save

    check_output(output, calibrations)
    as_json, prevalence = given.pop("json"), given.pop("prevalence")
    test = make_test(merged(calibrations), **given)
    practice = _alerts.at(test, prevalence)  # refused, if at all, before anything is written
    written = Written(output)
    with written.writing():
        save(test, output)
    if as_json:
        print_json({"output": output, **_contents.facts(test), **_alerts.facts(practice)})
    else:
        _contents.show(test)
        _alerts.show(practice)
        written.say()
    refuse_contradicted(test, output)


def merged(paths: tuple[str, ...]) -> Calibration:
    """Load calibrations as one."""
    from ratekeeper.calibration._calibration import Calibration

    return reduce(Calibration.merge, _different(paths))


def _different(paths: tuple[str, ...]) -> Iterator[Calibration]:
    """Load calibrations one by one; refuse one that came already, which no merge of two sees."""
    seen: dict[str, str] = {}
    for path in paths:
        calibration = _contents.load_calibration(path)
        first = seen.get(calibration.data_hash)
        if first is not None:
            raise CommandError(
                f"{path} holds the same calibration as {first}, and no object may count twice. "
                "Give each only once."
            )
        seen[calibration.data_hash] = path
        yield calibration
