"""What a test means in practice, for people and for machines: the option and its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper._wording._sentences import say
from ratekeeper.cli._options import RATE
from ratekeeper.cli._printing import echo, print_paragraph, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ratekeeper._numerics._rates import Rate
    from ratekeeper.control._alerts import Alerts
    from ratekeeper.control._evaluation import Evaluation, JointEvaluation
    from ratekeeper.control._test import Test

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
    Evaluated = Evaluation | JointEvaluation

_MOST_GROUPS = 40  # in a table


def prevalence_option(what: str) -> Decorator:
    """Take how common positives are where the test will work."""
    text = f"Share of positives among the objects that the test will meet, such as 2%: {what}."
    return click.option("--prevalence", type=RATE, metavar="SHARE", help=text)


def at(test: Test, prevalence: float | None) -> Alerts | None:
    """Return the alerts at a stated prevalence, or refuse to; nothing if none is stated."""
    return None if prevalence is None else test.alerts(prevalence)


def facts(found: Alerts | None) -> dict[str, Any]:
    """Return alerts as plain values; nothing if there are none."""
    return {} if found is None else {"alerts": found.to_dict()}


def show(found: Alerts | None) -> None:
    """Print alerts; nothing if there are none."""
    if found is None:
        return
    from ratekeeper.control._alerts import HEAD

    echo("")
    if found.groups:
        shown = dict(list(found.groups.items())[:_MOST_GROUPS])
        named = [*((str(name), one) for name, one in shown.items()), ("all groups", found)]
        # Two tables, so that with all intervals they fit a terminal.
        for title, *heads in (
            (say("alerts.table"), "alerts", "false"),
            ("", "missed", "precision"),
        ):
            columns = [HEAD.index(head) for head in heads]
            rows = [[name, *(one.row()[i] for i in columns)] for name, one in named]
            print_table(title, ["group", *heads], rows)
        if len(shown) < len(found.groups):
            gaps = {"shown": len(shown), "n": f"{len(found.groups):,}"}
            print_paragraph(say("alerts.groups.shown.json", **gaps))
    print_paragraph(found.summary)
    print_paragraph(found.ground)


def counted_facts(found: Evaluated) -> dict[str, Any]:
    """Return what was counted of the alerts on labelled rows as plain values."""
    from ratekeeper.control._alerts import counted

    return {name: _plain(rate) for name, rate in counted(found).items()}


def _plain(rate: Rate) -> dict[str, Any]:
    values: dict[str, Any] = rate.to_dict()
    return {"count": values.pop("errors"), **values}


def show_counted(parts: Mapping[str, Evaluated]) -> None:
    """Print alerts, precision and NPV as they were counted, by name."""
    from ratekeeper.control._alerts import PER, count_text, counted, estimate_of, share_text

    rows = []
    for name, part in parts.items():
        found = {key: estimate_of(rate) for key, rate in counted(part).items()}
        alerts = found["alerts"].times(PER).written(count_text)
        shares = [found[key].written(share_text) for key in ("precision", "npv")]
        rows.append([name, alerts, *shares])
    print_table(say("alerts.counted"), ["group", "alerts per 1,000", "precision", "NPV"], rows)
