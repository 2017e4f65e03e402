"""States of monitors and adaptive tests, as far as they tell without their test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratekeeper._wording._formatting import exact_percent, format_value
from ratekeeper._wording._sentences import say
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._printing import echo, print_json, print_paragraph

if TYPE_CHECKING:
    from ratekeeper.storage._serialize import Facts


def refuse_other_start(path: str, option: str, has: object, asked: object) -> None:
    """Raise if a state was started with another value of an option: its promise depends on it."""
    if has != asked:
        raise CommandError(
            f"{path} was started with another --{option}, and what it promises depends on it. "
            f"Leave --{option} out, or start another state."
        )


def show_state(path: str, *, as_json: bool) -> None:
    """Print whose state it is, and what it has seen."""
    from ratekeeper.storage._container import reading
    from ratekeeper.storage._states import read_state

    facts, arrays = read_state(path)
    if facts["kind"] == "monitor":
        with reading(path):
            waiting = arrays["open/codes"].size
        _show_monitor(path, facts, waiting, as_json=as_json)
        return
    from ratekeeper.monitoring._adaptive import certificate_of, load_ledger

    ledger, about = load_ledger(path)
    certificate = certificate_of(ledger, about["test"]["data_hash"])
    if as_json:
        print_json({"kind": facts["kind"], "certificate": certificate.to_dict()})
    else:
        echo(*str(certificate).split("\n"))


def _show_monitor(path: str, facts: Facts, waiting: int, *, as_json: bool) -> None:
    from ratekeeper.monitoring._monitor._times import moment_text

    alarms = [
        {**one, "decided_at": moment_text(facts["clock"] or "number", one["decided_at"])}
        for one in facts["alarms"]
    ]
    scores = facts.get("scores") or {"n": 0, "shown": None}
    if as_json:
        plain = {name: facts[name] for name in ("kind", "delta", "run_length")}
        about = {"promise": _promise(facts), "data_hash": facts["test"]["data_hash"]}
        seen = {"decisions": facts["n"], "waiting": waiting, "scores": scores["n"]}
        print_json({**plain, **about, **seen, "shift_shown": scores["shown"], "alarms": alarms})
        return
    counts = {"n": facts["n"], "waiting": waiting, "total": scores["n"]}
    echo(say("monitor.headline", aim=_promise(facts), verdict=say("monitor.state")))
    print_paragraph(
        say(
            "monitor.state.seen",
            delta=f"{facts['delta']:g}",
            **{name: f"{count:,}" for name, count in counts.items()},
        )
    )
    for one in alarms:
        where = (
            ""
            if one["group"] is None
            else say("monitor.which.group", group=format_value(one["group"]))
        )
        at = {"when": one["decided_at"], "outcome": f"{one['outcome']:,}", "where": where}
        decision = say("monitor.which", id=format_value(one["id"]), **at)
        print_paragraph(say(f"monitor.warning.{one['verdict']}", decision=decision))
    if scores["shown"] is not None:
        print_paragraph(say("monitor.state.shifted", n=f"{scores['shown']['n']:,}"))
    print_paragraph(say("monitor.state.more", path=path))


def _promise(facts: Facts) -> str:
    if facts["test"]["aim"] is not None:
        return " and ".join(say(f"rate.{one['share']}") for one in facts["rates"])
    tests = facts["test"]["tests"]
    return " and ".join(f"{t['control'].upper()} <= {exact_percent(t['alpha'])}" for t in tests)
