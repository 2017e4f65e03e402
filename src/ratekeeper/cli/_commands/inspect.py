"""``ratekeeper inspect``: what a .rk file promises or holds."""

from __future__ import annotations

import click

from ratekeeper.cli import _alerts, _contents, _options, _settings, _states
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._printing import print_json

_EPILOG = """\b
Examples:
  ratekeeper inspect test.rk
  ratekeeper inspect cal.rk --json
  ratekeeper inspect test.rk --prevalence 2%
"""


@click.command("inspect", epilog=_EPILOG)
@_options.stored_argument("stored", "FILE.RK")
@_alerts.prevalence_option("says how many alerts there are, and how many of them are false")
@_options.as_json()
@_settings.command_option
def command(stored: str, prevalence: float | None, json: bool) -> None:  # noqa: FBT001 - click's
    """Print the certificate of a test, or what a calibration holds.

    Of a test: what is promised, on what data, and at what price in the other error. Of a
    calibration: scores by class and group, the least rates they can promise, how well they
    separate the classes, and rows that were skipped. Of a state of monitor or of classify
    --adaptive: what it has seen. Writes nothing.
    """
    try:
        found = _contents.load_stored(
            stored, "FILE.RK is what calibrate or control wrote; this command shows no rows."
        )
    except _contents.HoldsStateError:
        if prevalence is not None:
            raise CommandError(
                "--prevalence is about the alerts of a test, not of a state."
            ) from None
        _states.show_state(stored, as_json=json)
        return
    test = _contents.test_in(found)
    if prevalence is not None and test is None:
        raise CommandError(
            f"--prevalence is about the alerts of a test, and {stored} holds a calibration. Make a "
            f"test of it: ratekeeper control {stored} --fnr 0.01 -o test.rk"
        )
    practice = None if test is None else _alerts.at(test, prevalence)
    if json:
        print_json({**_contents.facts(found), **_alerts.facts(practice)})
        return
    _contents.show(found)
    _alerts.show(practice)
