"""What stands still in the page: promise, conditions and price, the ground, the glossary."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ratekeeper._wording._formatting import exact_percent
from ratekeeper._wording._html import text
from ratekeeper._wording._sentences import say
from ratekeeper._wording._sentences.certificate import TITLES
from ratekeeper.control._certificate import Certificate
from ratekeeper.control._error_rate import score_text
from ratekeeper.report._page_data import MOST_GROUPS
from ratekeeper.report._words import (
    about,
    bullets,
    class_text,
    code,
    in_few_digits,
    out_of,
    paragraphs,
    said,
    sentence,
)

if TYPE_CHECKING:
    from ratekeeper._numerics._rates import Rate
    from ratekeeper.control._certificate import JointCertificate
    from ratekeeper.control._test import Test

_WORDS = (
    *("classes", "fnr", "fpr", "alpha", "delta", "calibration", "threshold", "rank"),
    *("p_value", "kinds", "exchangeable", "true_rate"),
)
INSPECT, EVALUATE = code("ratekeeper inspect --json"), code("ratekeeper evaluate --json")


def heading(test: Test) -> str:
    """Return the heading of a page that was given none.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100))
    >>> heading(cal.control("fnr", alpha=0.05))
    'Missed positives: at most 5%'
    """
    parts = [
        say(
            "page.heading" if one.promised else "page.heading.none",
            what=say(f"page.what.{one.control}"),
            alpha=exact_percent(one.alpha),
        )
        for one in (part.certificate for part in test.parts)
    ]
    return sentence(", ".join(parts))


def certificate_html(test: Test, checked: str = "") -> str:
    """Return the first section of the page: promise, what was counted, conditions and price."""
    parts = [part.certificate for part in test.parts]
    statements = test.certificate.statements
    found = {topic: [s.text for s in statements if s.topic == topic] for topic in TITLES}
    provenance = parts[0].provenance
    skipped = found["file"] if provenance is not None and provenance.n_skipped else []
    blocks = {
        "needs": [*found["needs"], *parts[0].assumptions],
        "not_covered": [*found["not_covered"], *skipped, said("page.drift")],
        "price": [*_price(test.certificate), *found["price"]],  # type: ignore[arg-type]  # of a rate
        "rule": [in_few_digits(rule, _thresholds(test)) for rule in found["rule"]]
        or [said("page.rule.groups")],
        "both": found["both"],
        "groups": found["groups"],
        "fit": found["fit"],
        "tolerance": found["tolerance"],
    }
    doubtful = {
        "groups": any(one.pooled_groups for one in parts),
        "fit": any(one.contradicted for one in parts),
    }
    shown = "".join(
        f'<div class="block{" warning" * doubtful.get(topic, False)}">'
        f"<h3>{TITLES[topic]}</h3>{bullets(texts)}</div>"
        for topic, texts in blocks.items()
        if texts
    )
    n = len(parts[0].cells)
    whole = f"<pre>{escape(str(test.certificate))}</pre>"
    return (
        f'<div class="promises">{"".join(_promise(one, len(parts)) for one in parts)}</div>'
        f"{checked}{paragraphs([said('page.rates')], 'small')}"
        f"{paragraphs([*found['remark'], *_left_out(n), *_of_clusters(test)], 'warning')}"
        f'<div class="blocks">{shown}</div>'
        f'<details class="full"><summary>{said("page.full")}</summary>{whole}</details>'
    )


def _thresholds(test: Test) -> list[tuple[str, bool]]:
    """Return the thresholds of the first cell, and whether fewer are rejected above than below."""
    higher = test.calibration.higher_is_positive
    limits = [(part.certificate.cells[0].threshold, part.control) for part in test.parts]
    limits += [(middle, "fpr") for middle in getattr(test, "crossed", ())]
    return [
        (score_text(test.calibration, limit), (control == "fpr") == higher)
        for limit, control in limits
        if limit is not None
    ]


def _promise(facts: Certificate, n_parts: int) -> str:
    """Return what is promised about one rate, in plain words and as the certificate says it."""
    truth, called = _classes(facts)
    grouped = facts.cells[0].group is not None
    key, where, unlucky = "page.headline", "", "page.headline.unlucky"
    if not facts.promised:
        key = "page.headline.none"
    elif facts.guarantee.kind == "marginal":
        key = "page.headline.marginal"
    if grouped:
        unlucky = "page.headline.unlucky.groups"
        where = say(
            "page.headline.groups.pooled" if facts.pooled_groups else "page.headline.groups"
        )
    if n_parts > 1:
        called = say("page.headline.or_neither", called=called)
    count, base = out_of(facts.alpha)
    headline = said(key, base=base, count=count, truth=truth, called=called, where=where)
    (promise,) = (s for s in facts.statements if s.topic == "promise")
    title = promise.title if facts.promised else say("title.promise.none")
    about_it = [f"{title}. {promise.text}"]
    if facts.promised and facts.delta is not None:
        count, base = out_of(facts.delta, base=100)
        about_it.insert(0, said(unlucky, count=count, base=base))
    return (
        f'<div class="promise" data-promised="{str(facts.promised).lower()}"><p class="tag">'
        f"<span>{facts.rate} ≤ {exact_percent(facts.alpha)}</span> "
        f"{said(f'page.what.{facts.control}')} {code(facts.method)}</p>"
        f"{paragraphs([headline], 'headline')}{paragraphs(about_it)}</div>"
    )


def _classes(facts: Certificate) -> list[str]:
    """Return the class whose error is controlled, and the one it is mistaken for."""
    positive, negative = (class_text(facts, positive=side) for side in (True, False))
    return [positive, negative] if facts.control == "fnr" else [negative, positive]


def _price(certificate: Certificate | JointCertificate) -> list[str]:
    if isinstance(certificate, Certificate):
        called, truth = _classes(certificate)
        random = any(cell.threshold is None for cell in certificate.cells)
        return [
            _out_of_many("page.price", certificate.other_error, truth=truth, called=called),
            *([said("page.price.random")] if random else []),
        ]
    return [
        _out_of_many(
            "page.price.undecided",
            certificate.undecided[name],
            truth=class_text(certificate.fnr, positive=name == "positive"),
        )
        for name in ("positive", "negative")
    ]


def _out_of_many(key: str, rate: Rate, **classes: str) -> str:
    if not rate.n:
        return said("page.price.unknown", truth=classes["truth"])
    count, base = about(rate.rate)
    return said(key, count=count, base=base, **classes)


def _left_out(n: int) -> list[str]:
    if n <= MOST_GROUPS:
        return []
    numbers = {"hidden": f"{n - MOST_GROUPS:,}", "n": f"{n:,}", "shown": MOST_GROUPS}
    return [said("page.groups.left_out", **numbers, inspect=INSPECT, evaluate=EVALUATE)]


def _of_clusters(test: Test) -> list[str]:
    if test.calibration.clusters is None:
        return []
    n = sum(scores.size for cells in test.calibration.cells for scores in cells)
    return [say("clusters.page", n=f"{n:,}")]


def ground_html(test: Test) -> str:
    """Return what the promise stands on: classes, data, version, rows left out."""
    first, calibration = test.parts[0].certificate, test.calibration
    told = {s.title: s.text for s in first.statements if s.topic in ("data", "file")}
    source = calibration.provenance
    names = {} if source is None else vars(source)
    columns = {what: names.get(what) for what in ("score", "label", "group", "cluster")}
    facts = {
        "Positive class": class_text(first, positive=True),
        "Negative class": class_text(first, positive=False),
        "Scores": said(f"page.direction.{'high' if first.higher_is_positive else 'low'}"),
        "Groups": "none" if calibration.groups is None else f"{len(calibration.groups):,}",
        **told,
        **({TITLES["file"]: said("page.file.none")} if source is None else {}),
        "Columns": ", ".join(f"{what}: {name}" for what, name in columns.items() if name),
        "Data (SHA-256)": code(first.data_hash),
    }
    rows = (f"<dt>{name}</dt><dd>{text(fact)}</dd>" for name, fact in facts.items() if fact)
    return f'<dl class="facts">{"".join(rows)}</dl>'


def glossary_html() -> str:
    """Return the words and their meanings, as the content of a section.

    Examples
    --------
    >>> "<strong>threshold</strong>: the score at which" in glossary_html()
    True
    """
    return bullets(said(f"page.word.{word}") for word in _WORDS)
