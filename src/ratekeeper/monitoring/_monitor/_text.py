"""What a monitor has found, in words and as plain values."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, extremes, format_value, listed, percent
from ratekeeper._wording._sentences import say
from ratekeeper.monitoring._monitor._scores import FIRST
from ratekeeper.monitoring._monitor._times import moment_text, span_text
from ratekeeper.monitoring._shift import p_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ratekeeper.monitoring._monitor._panel import Alarm, Verdict
    from ratekeeper.monitoring._monitor._readout import RatePicture, Readout

_WIDTH = 79
_SHOWN = {"most": 8, "each": 2}  # groups
_PREFIX = {"limit_broken": "limit", "unlike_calibration": "like", "changed": "change"}
VERDICTS: tuple[Verdict, ...] = ("limit_broken", "unlike_calibration", "changed")


class Report(NamedTuple):
    """The same for people and for programs."""

    text: str
    facts: dict[str, Any]


def lines(monitor: Readout) -> Report:
    """Say what was counted, how old that is, the verdicts by name, and what is not covered."""
    refused = _refused(monitor)
    return Report(_text(monitor, refused), _facts(monitor, refused))


def _refused(monitor: Readout) -> str | None:
    _ = monitor.n_decisions  # which counts
    return monitor.refused


def promise_text(monitor: Readout) -> str:
    """Write what the test promises, in a few words."""
    aim = getattr(monitor.test, "aim", None)
    if aim is not None:
        return str(aim.headline)
    parts = monitor.test.parts
    return " and ".join(f"{p.control.upper()} <= {exact_percent(p.alpha)}" for p in parts)


def _text(monitor: Readout, refused: str | None) -> str:
    verdict = say("monitor.refused")
    if refused is None:
        named = [one for one in monitor.alarms if one.verdict == monitor.pages]
        verdict = say("monitor.warned" if monitor.warnings else "monitor.quiet")
        if named:
            title = say(f"monitor.title.{monitor.pages}").lower()
            verdict = f"{say('monitor.title.alarm')}, {title}"
    head = say("monitor.headline", aim=promise_text(monitor), verdict=verdict)
    parts = [head]
    for title, text in statements(monitor, refused):
        start = f"{title}: {text}" if title else text
        parts += textwrap.wrap(start, _WIDTH, subsequent_indent="  ")
    return "\n".join(parts)


def statements(monitor: Readout, refused: str | None) -> Iterator[tuple[str, str]]:
    """Yield titles and texts, paragraph by paragraph."""
    if refused is not None:
        yield "", refused
        yield say("monitor.title.age"), _age(monitor)
        yield from _scores(monitor)
        return
    yield say("monitor.title.counted"), " ".join(_counted(monitor))
    for group in _groups(monitor):
        yield "", group
    yield say("monitor.title.age"), _age(monitor)
    for verdict in VERDICTS:
        pages = verdict == monitor.pages
        title = say(f"monitor.title.{verdict}")
        if verdict != "unlike_calibration" or monitor.reason is None:
            title = say("monitor.pages" if pages else "monitor.warns", verdict=title)
        yield title, _verdict(monitor, verdict)
    yield from _scores(monitor)
    if monitor.groups is not None:
        if monitor.limit_broken:
            yield say("monitor.title.groups"), _which_groups(monitor)
        if missing := _unpromised(monitor):
            yield "", say("monitor.unpromised", names=listed(missing))
    yield "", say("monitor.not_covered")


def _counted(monitor: Readout) -> Iterator[str]:
    labels = monitor.labels
    for one in monitor.rates:
        if one.rate is None:
            yield say("monitor.counted.none")
            continue
        low, high = one.interval
        key = "monitor.counted" if isinstance(labels, str) else "monitor.counted.audited"
        yield say(key, delta=f"{monitor.delta:g}", **_numbers(one), **_ends(low, high))
        if monitor.n_unlabelled and one.best is not None and one.worst is not None:
            yield say(
                "monitor.missing",
                missing=f"{monitor.n_unlabelled:,}",
                n=f"{monitor.n_decisions:,}",
                rate=say(f"rate.{one.share}"),
                best=percent(one.best),
                worst=percent(one.worst),
            )
    if not isinstance(labels, str):
        yield say("monitor.audited", part=exact_percent(labels.rate))


def _numbers(one: RatePicture) -> dict[str, str]:
    counted = "unknown" if one.rate is None else percent(one.rate)
    numbers = {"errors": f"{one.errors:,}", "n": f"{one.n:,}"}
    return {**numbers, "rate": say(f"rate.{one.share}"), "counted": counted}


def _ends(low: float, high: float) -> dict[str, str]:
    return {"low": percent(low), "high": percent(high)}


def shown_groups(monitor: Readout) -> list[int]:
    """Return the positions of the groups to show: of many, those with extreme evidence."""
    if monitor.groups is None:
        return []
    e_values = monitor.e_values
    first = e_values if "limit_broken" in e_values else next(iter(e_values.values()))
    found = first["limit_broken"]
    return extremes([found.get(g, np.nan) for g in monitor.groups], **_SHOWN)


def _groups(monitor: Readout) -> Iterator[str]:
    shown = shown_groups(monitor)
    for one in monitor.by_group(shown):
        ends = _ends(*one.interval)
        yield say("monitor.counted.group", group=format_value(one.group), **_numbers(one), **ends)
    if monitor.groups is not None and len(shown) < len(monitor.groups):
        yield say("monitor.groups.more", more=f"{len(monitor.groups) - len(shown):,}")


def _age(monitor: Readout) -> str:
    ledger, until = monitor._ledger, monitor._panel.last  # noqa: SLF001 - ours
    if ledger.now is None:
        return say("monitor.counted.none")
    text = []
    if until is not None:
        now = moment_text(monitor.clock, ledger.now)
        text.append(say("monitor.age", until=moment_text(monitor.clock, until), now=now))
    if (first := monitor.waiting_for) is not None:
        text.append(_waiting(monitor, *first))
    return " ".join(text) or say("monitor.counted.none")


def _waiting(monitor: Readout, first: str, since: str) -> str:
    n = monitor.waiting
    if monitor.matures_after is None:
        key = "monitor.waiting.label.one" if n == 1 else "monitor.waiting.label"
        return say(key, waiting=f"{n:,}", id=format_value(first), since=since)
    key = "monitor.waiting.one" if n == 1 else "monitor.waiting"
    return say(key, waiting=f"{n:,}", since=since)


def which_text(monitor: Readout, alarm: Alarm) -> str:
    """Write on which decision a verdict was reached."""
    where = ""
    if alarm.group is not None:
        where = say("monitor.which.group", group=format_value(alarm.group))
    return say(
        "monitor.which",
        id=format_value(alarm.id),
        when=monitor.when(alarm.decided_at),
        outcome=f"{alarm.outcome:,}",
        where=where,
    )


def warning_text(monitor: Readout, alarm: Alarm) -> str:
    """Write a verdict as a warning."""
    return say(f"monitor.warning.{alarm.verdict}", decision=which_text(monitor, alarm))


def _verdict(monitor: Readout, verdict: Verdict) -> str:
    """Say whether a verdict was reached, and how often that happens by chance."""
    name, first = _PREFIX[verdict], monitor._panel.alarm(verdict)  # noqa: SLF001 - ours
    rates = " or ".join(say(f"rate.{one.share}") for one in monitor._panel.rates)  # noqa: SLF001
    facts = {
        "delta": f"{monitor.delta:g}",
        "rate": rates,
        "run_length": f"{monitor.run_length:,.0f}",
    }
    if verdict == "unlike_calibration" and monitor.reason is not None:
        return say("monitor.like.none", reason=monitor.reason)
    if first is None:
        evidence = monitor._panel.log_e(verdict) if verdict != "changed" else None  # noqa: SLF001
        if evidence is not None:
            facts |= {"evidence": _evidence(evidence), "goal": f"{1 / monitor.delta:.4g}"}
        text = say(f"monitor.{name}.no", **facts)
    else:
        shown = which_text(monitor, monitor._dated(first))  # noqa: SLF001
        facts |= {
            "decision": shown,
            "lasted": f"{first.risen_for or 1:,}",
        }
        text = say(f"monitor.{name}.yes", **facts)
    if verdict == "limit_broken":
        return f"{text} {_about_promise(monitor)}".rstrip()
    if verdict == "unlike_calibration":
        return " ".join([text, *_about_ranks(monitor)])
    return text


def _scores(monitor: Readout) -> Iterator[tuple[str, str]]:
    """Say whether scores were shown to be no mixture of the classes, where there were any."""
    if not monitor.n_scores:
        return
    title = say("monitor.title.scores")
    if monitor.shifted is None:
        yield title, say("monitor.scores.none", why=monitor.shifted_reason)
        return
    if monitor.shifted:
        yield title, say("monitor.scores.yes", delta=f"{monitor.delta:g}", **shown_facts(monitor))
        return
    n, following = monitor.n_scores, monitor._scores.next  # noqa: SLF001 - ours
    facts = {"n": f"{n:,}", "asked": f"{following // 2:,}", "following": f"{following:,}"}
    yield title, say("monitor.scores.no" if n >= FIRST else "monitor.scores.few", **facts)


def shown_facts(monitor: Readout) -> dict[str, str]:
    """Return what showed that scores are no mixture, for a sentence."""
    shown = monitor._scores.shown  # noqa: SLF001 - ours
    assert shown is not None  # noqa: S101 - who asks has looked
    where = (
        "" if shown.group is None else say("shift.warning.group", group=format_value(shown.group))
    )
    return {"n": f"{shown.n:,}", "strength": p_text(shown.p), "in_group": where}


def _evidence(log_e: float) -> str:
    return f"{np.exp(min(log_e, 700.0)):.3g}"


def _about_promise(monitor: Readout) -> str:
    kind, delta = monitor.kind, monitor.method_delta
    if kind in ("high probability", "simultaneous") and delta is not None:
        return say("monitor.limit.calibrated", chance=f"{delta:g}")
    return say("monitor.limit.marginal") if kind in ("marginal", "asymptotic") else ""


def _about_ranks(monitor: Readout) -> Iterator[str]:
    yield say("monitor.like.more")
    if any(not part.method.fixed_alpha for part in monitor.test.parts):
        yield say("monitor.like.fixed")


def _which_groups(monitor: Readout) -> str:
    if not monitor.groups_broken:
        return say("monitor.groups.none")
    part = exact_percent(monitor.delta)
    return say("monitor.groups", names=listed(monitor.groups_broken, most=20), part=part)


def _unpromised(monitor: Readout) -> list[Any]:
    rate = monitor._panel.rates[0]  # noqa: SLF001
    names = monitor.groups or []
    return [name for name, cell in zip(names, rate.cells, strict=False) if cell is None]


def _facts(monitor: Readout, refused: str | None) -> dict[str, Any]:
    ledger, panel, first = monitor._ledger, monitor._panel, monitor.waiting_for  # noqa: SLF001
    labels = monitor.labels
    span = monitor.matures_after

    def written(moment: Any) -> str | None:  # noqa: ANN401 - a moment or None
        return None if moment is None else moment_text(monitor.clock, moment)

    about = {
        "promise": promise_text(monitor),
        "refused": refused,
        "delta": monitor.delta,
        "run_length": monitor.run_length,
        "matures_after": None if span is None else span_text(monitor.span_clock, span),
        "audit": None if isinstance(labels, str) else labels.rate,
        "decisions": monitor.n_decisions,
        "outcomes": monitor.n_outcomes,
        "unlabelled": monitor.n_unlabelled,
        "counted_until": written(panel.last),
        "now": written(ledger.now),
        "waiting": monitor.waiting,
        "waiting_for": None if first is None else {"id": first[0], "decided_at": first[1]},
        "scores": monitor.n_scores,
        "shifted": monitor.shifted,
        "shifted_reason": monitor.shifted_reason,
    }
    if refused is not None:
        return about
    e_values: dict[str, float | None] = {
        verdict: panel.log_e(verdict) for verdict in VERDICTS if verdict != "changed"
    }
    verdicts = {
        verdict: {
            "reached": getattr(monitor, verdict),
            "page_worthy": verdict == monitor.pages,
            "e_value": None
            if e_values.get(verdict) is None
            else float(np.exp(min(e_values[verdict] or 0.0, 700.0))),
            "text": _verdict(monitor, verdict),
        }
        for verdict in VERDICTS
    }
    return {
        **about,
        "alarm": monitor.alarm,
        "warnings": monitor.warnings,
        "verdicts": verdicts,
        "alarms": [
            {**one._asdict(), "decided_at": monitor.when(one.decided_at)} for one in monitor.alarms
        ],
        "rates": [one._asdict() for one in [*monitor.rates, *monitor.by_group()]],
        "groups_broken": monitor.groups_broken,
    }


def card(monitor: Readout) -> str:
    """Return the same for a notebook."""
    refused = _refused(monitor)
    title = f"Monitor: {promise_text(monitor)}".replace("<=", "≤")
    if refused is not None:
        return markup.card(title, [markup.note(refused)])
    pictures = [*monitor.rates, *monitor.by_group(shown_groups(monitor))]
    rows = [
        [
            "everybody" if one.group is None else format_value(one.group),
            say(f"rate.{one.share}"),
            exact_percent(one.alpha),
            f"{one.n:,}",
            f"{one.errors:,}",
            "" if one.rate is None else percent(one.rate),
            " to ".join(map(percent, one.interval)),
        ]
        for one in pictures
    ]
    head = ("group", "rate", "limit", "outcomes", "errors", "counted", "at all times")
    facts = [(say(f"monitor.title.{verdict}"), _verdict(monitor, verdict)) for verdict in VERDICTS]
    facts += [*_scores(monitor), (say("monitor.title.age"), _age(monitor))]
    verdict = "exceeded" if monitor.alarm else "in line"
    word = say("monitor.title.alarm") if monitor.alarm else say("monitor.quiet")
    state = markup.Html(str(markup.verdict(verdict)).replace(verdict, word))
    parts = [state, markup.table(head, rows, numbers=range(2, 7)), markup.facts(facts)]
    return markup.card(title, [*parts, markup.note(say("monitor.not_covered"))])
