"""``ratekeeper plan``: how many held-out objects a promise needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper._cli import options, settings
from ratekeeper._cli.printing import echo, print_json
from ratekeeper._cli.promise import WHICH_RATE
from ratekeeper._cli.refusals import Refusal

if TYPE_CHECKING:
    from ratekeeper._planning import Plan
    from ratekeeper._rates import RealisedRate

_WIDTH = 79
_EPILOG = """\b
Examples:
  ratekeeper plan --fnr 1%
  ratekeeper plan --fnr 1% --delta 0.05 --n 500
  ratekeeper plan --fpr 0.1% --delta 0.05 --excess 0.05%
"""


@click.command("plan", epilog=_EPILOG)
@click.option(
    "--fnr", type=options.RATE, metavar="ALPHA", help="Plan for this share of missed positives."
)
@click.option(
    "--fpr", type=options.RATE, metavar="ALPHA", help="Plan for this share of false alarms."
)
@click.option(
    "--delta",
    type=options.RATE,
    default=0.05,
    show_default=True,
    help="Chance that a high-probability promise may fail.",
)
@click.option("--n", type=click.IntRange(min=1), help="Also say what this many scores would give.")
@click.option(
    "--excess",
    type=options.RATE,
    help="With --delta: also say how many scores keep the true rate of the conformal method "
    "below alpha + excess.",
)
@options.as_json()
@settings.command_option
def command(fnr: float | None, fpr: float | None, json: bool, **given: Any) -> None:  # noqa: ANN401, FBT001
    """Say how many held-out objects a promise needs.

    --fnr needs held-out positives, --fpr held-out negatives. The numbers are exact. Writes
    nothing.
    """
    from ratekeeper._planning import plan

    asked = [(control, alpha) for control, alpha in (("fnr", fnr), ("fpr", fpr)) if alpha]
    if not asked:
        raise Refusal(WHICH_RATE)
    plans = [plan(control, alpha, **given) for control, alpha in asked]
    if json:
        print_json({one.control: _facts(one) for one in plans})
    else:
        echo(*(line for one in plans for line in _wrapped(one)))


def _wrapped(plan: Plan) -> list[str]:
    from textwrap import wrap

    lines = str(plan).splitlines()
    indents = [" " * (len(line) - len(line.lstrip()) + 2) for line in lines]
    return [
        part
        for line, indent in zip(lines, indents, strict=True)
        for part in wrap(line, _WIDTH, subsequent_indent=indent)
    ]


def _facts(plan: Plan) -> dict[str, Any]:
    return {
        "alpha": plan.alpha,
        "delta": plan.delta,
        "excess": plan.excess,
        "least_n": {
            "conformal": plan.n_marginal,
            "high-probability": plan.n_high_probability,
            "excess": plan.n_excess,
        },
        "n": plan.n,
        "realised_rate": {
            "conformal": _true_rate(plan.realised_marginal, plan.alpha),
            "high-probability": _true_rate(plan.realised_high_probability, plan.alpha),
        },
    }


def _true_rate(rate: RealisedRate | None, alpha: float) -> dict[str, Any] | None:
    if rate is None:
        return None
    low, high = rate.interval
    return {
        "distribution": f"Beta({rate.k}, {rate.n + 1 - rate.k})",
        "mean": rate.mean,
        "low": low,
        "high": high,
        "probability_above_alpha": rate.exceeds(alpha),
    }
