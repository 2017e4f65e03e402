"""``ratekeeper plan``: how many held-out objects a promise needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper.cli import _contents, _options, _settings
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._printing import echo, print_json
from ratekeeper.cli._promise import PROMISES, WHICH_RATE
from ratekeeper.cli._rates import rate_options

if TYPE_CHECKING:
    from ratekeeper.planning._text import PlanText

_EPILOG = """\b
Examples:
  ratekeeper plan --fnr 1%
  ratekeeper plan --fnr 1% --delta 0.05 --n 500
  ratekeeper plan --sensitivity 99%
  ratekeeper plan --fpr 0.1% --delta 0.05 --excess 0.05%
  ratekeeper plan --fnr 5% --groups 5
  ratekeeper plan --fnr 5% --rows-per-cluster 10
  ratekeeper plan --precision 90% --expected 95% --share 20%
  ratekeeper plan --alerts 2%

\b
How many labels does an audit need to find a group with 10%?
  ratekeeper plan --fnr 5% --worse 10% --groups 10

\b
How long does a monitor take to find an FNR of 10%, with a tenth audited?
  ratekeeper plan --fnr 5% --becomes 10% --audit 10%

\b
How many more labels until at most 40% of the negatives are false alarms?
  ratekeeper plan --fnr 5% --price 40% --calibration cal.rk
"""
_LEVELS = {
    "precision": "Plan for this share of positives among those called positive.",
    "npv": "Plan for this share of negatives among those called negative.",
    "wrong": "Plan for this share of wrong decisions among those made.",
    "alerts": "Plan for this share of alerts among all objects; needs no labels.",
}


def _levels(function: Any) -> Any:  # noqa: ANN401 - a command
    for name, text in reversed(_LEVELS.items()):
        function = click.option(f"--{name}", type=_options.RATE, metavar="SHARE", help=text)(
            function
        )
    return rate_options(
        "Plan for this share of missed positives.", "Plan for this share of false alarms."
    )(function)


@click.command("plan", epilog=_EPILOG)
@_levels
@click.option(
    "--delta",
    type=_options.RATE,
    help="Chance that a high-probability promise may fail.  [default: 0.05]",
)
@click.option("--n", type=click.IntRange(min=1), help="Also say what this many scores would give.")
@click.option(
    "--excess",
    type=_options.RATE,
    help="With --delta: also say how many scores keep the true rate of the conformal method "
    "below alpha + excess.",
)
@click.option(
    "--groups",
    type=click.IntRange(min=1),
    help="Number of groups that get a promise of their own, or are audited.",
)
@click.option(
    "--rows-per-cluster",
    type=click.FloatRange(min=1),
    metavar="ROWS",
    help="Rows come in clusters of this size, such as patients: count clusters.",
)
@click.option(
    "--expected",
    type=_options.RATE,
    metavar="SHARE",
    help="With --precision, --npv or --wrong: what that share is in truth.",
)
@click.option(
    "--share",
    type=_options.RATE,
    help="With the same: the expected share of objects that are called positive (--precision), "
    "called negative (--npv) or decided (--wrong).",
)
@click.option(
    "--power",
    type=_options.RATE,
    help="Probability to certify such a share, or to find such a group.  [default: 0.9]",
)
@click.option(
    "--worse",
    type=_options.RATE,
    metavar="RATE",
    help="Plan an audit of --fnr or --fpr instead: the true rate of a group that is to be found.",
)
@click.option(
    "--becomes",
    type=_options.RATE,
    metavar="RATE",
    help="Plan a monitor of --fnr or --fpr instead: the true rate that is to be found.",
)
@click.option(
    "--audit",
    type=_options.RATE,
    metavar="SHARE",
    help="With --becomes: the share of the objects not flagged that is audited.",
)
@click.option(
    "--per-week",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="With --becomes and --prevalence: objects decided per week.",
)
@click.option(
    "--prevalence",
    type=_options.RATE,
    metavar="SHARE",
    help="With --becomes and --per-week: the share of positives.",
)
@click.option(
    "--within",
    type=click.FloatRange(min=0, min_open=True),
    metavar="WEEKS",
    help="With --becomes and --per-week: find the least audit that alarms in this time.",
)
@click.option(
    "--price",
    type=_options.RATE,
    metavar="RATE",
    help="With --calibration: how many more labels until the other error falls to this rate?",
)
@click.option(
    "--calibration", metavar="CAL.RK", type=_options.PATH, help="What calibrate wrote, for --price."
)
@click.option(
    "--method",
    type=click.Choice(["high-probability", "conformal"]),
    help="With --price: the kind of promise.  [default: high-probability]",
)
@click.option("--group", help="With --price: the group, if the calibration has groups.")
@_options.as_json()
@_settings.command_option
def command(json: bool, **given: Any) -> None:  # noqa: ANN401, FBT001
    """Say how many held-out objects a promise needs.

    --fnr and --sensitivity need held-out positives, --fpr and --specificity held-out negatives,
    --alerts any objects. The numbers are exact, but for those of --price, which are estimates.
    Writes nothing.
    """
    levels = {name: given.pop(name) for name in PROMISES}
    asked = {name: level for name, level in levels.items() if level is not None}
    if not asked:
        raise CommandError(WHICH_RATE)
    given = {name: value for name, value in given.items() if value is not None}
    plans = {name: _planned(name, level, **given) for name, level in asked.items()}
    if json:
        print_json({name: one.to_dict() for name, one in plans.items()})
    else:
        echo(*(line for one in plans.values() for line in one.wrapped()))


def _planned(control: str, level: float, **given: Any) -> PlanText:  # noqa: ANN401
    if "price" in given or "calibration" in given:
        return _priced(control, level, **given)
    only_priced = {"method", "group"} & set(given)
    if only_priced:
        raise CommandError(f"--{min(only_priced)} goes with --price and --calibration.")
    if "becomes" in given:
        return _monitored(control, level, **given)
    only_monitored = {"audit", "per_week", "prevalence", "within"} & set(given)
    if only_monitored:
        name = min(only_monitored).replace("_", "-")
        raise CommandError(f"--{name} goes with --becomes.")
    if "worse" not in given:
        from ratekeeper.planning._promise import plan

        return plan(control, level, **given)
    from ratekeeper.planning._audit import plan_audit

    _refuse_others(given, {"worse", "groups", "power"}, "--worse")
    if "groups" not in given:
        raise CommandError("--worse plans an audit. Pass --groups, the number of groups.")
    return plan_audit(control, level, **given)


def _monitored(control: str, level: float, **given: Any) -> PlanText:  # noqa: ANN401
    from ratekeeper.planning._monitor import plan_monitor

    about = {"becomes", "audit", "per_week", "prevalence", "within"}
    _refuse_others(given, {*about, "delta", "power"}, "--becomes")
    return plan_monitor(control, level, **given)


def _priced(
    control: str,
    level: float,
    *,
    price: float | None = None,
    calibration: str | None = None,
    method: str | None = None,
    group: str | None = None,
    **others: Any,  # noqa: ANN401
) -> PlanText:
    from ratekeeper.methods import Conformal, HighProbability

    if price is None or calibration is None:
        raise CommandError("--price and --calibration go together: pass both.")
    is_average = method == "conformal"
    _refuse_others(others, set() if is_average else {"delta"}, "--price")
    found = _contents.load_calibration(calibration)
    names = [] if found.groups is None else found.groups.tolist()
    named: Any = next((name for name in names if str(name) == group), group)
    kind = Conformal() if is_average else HighProbability(**others)
    return found.labels_for_price(control, level, price=price, method=kind, group=named)


def _refuse_others(given: dict[str, Any], known: set[str], option: str) -> None:
    for name in given:
        if name not in known:
            raise CommandError(f"--{name.replace('_', '-')} means nothing here, with {option}.")
