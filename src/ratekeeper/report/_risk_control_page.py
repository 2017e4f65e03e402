"""The page about a test of an aim, which stands still: its promise has no other levels to try."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._wording._formatting import exact_percent, percent
from ratekeeper._wording._sentences.certificate import TITLES
from ratekeeper.control._error_rate import score_text
from ratekeeper.report._practice import first_alerts, practice_html
from ratekeeper.report._words import bullets, code, in_few_digits, paragraphs, said

if TYPE_CHECKING:
    from ratekeeper.control._risk_control import RiskControlTest
    from ratekeeper.files import FileEvaluation

_TOPICS = ("rule", "certified", "true_share", "price", "needs", "not_covered", "assumed", "groups")
_POINTS = 200  # of the curve
_WIDTH, _HEIGHT, _MARGIN = 640, 300, 44


def aimed_contents(
    test: RiskControlTest, evaluation: FileEvaluation | None, prevalence: float | str | None
) -> dict[str, str]:
    """Return what fills the places of the template."""
    practice = practice_html(first_alerts(test, prevalence))
    facts = test.certificate
    found = {topic: [s.text for s in facts.statements if s.topic == topic] for topic in TITLES}
    limits = [(one.limits.positive, one.limits.negative) for one in test.chosen]
    every = [limit for pair in limits for limit in pair if limit is not None]
    exact = [(score_text(test.calibration, limit), True) for limit in every]
    found["rule"] = [in_few_digits(rule, exact) for rule in found["rule"]]
    blocks = "".join(
        f'<div class="block"><h3>{TITLES[topic]}</h3>{bullets(found[topic])}</div>'
        for topic in _TOPICS
        if found[topic]
    )
    promised = str(facts.promised).lower()
    certificate = (
        f'<div class="promises"><div class="promise" data-promised="{promised}"><p class="tag">'
        f"<span>{escape(test.aim.headline)}</span> {code(test.aim.share)}</p>"
        f"{paragraphs(found['promise'], 'headline')}</div></div>"
        f"{paragraphs(found['remark'], 'warning')}"
        f'<div class="blocks">{blocks}</div>'
        f'<details class="full"><summary>{said("page.full")}</summary>'
        f"<pre>{escape(str(facts))}</pre></details>"
    )
    evaluated = "" if evaluation is None else evaluation.overall._repr_html_()
    return {
        "certificate": certificate,
        "picture": _picture(test),
        "alerts": f'<section id="alerts"><h2>What an alert means</h2>{practice}</section>'
        if practice
        else "",
        "evaluation": f'<section id="evaluation">{evaluated}</section>' if evaluated else "",
        "ground": paragraphs([*found["data"], *found["file"]]),
    }


def _picture(test: RiskControlTest) -> str:
    """Draw, threshold by threshold, how many objects are called so and how many of them rightly."""
    facts = test.certificate
    if test.aim.share not in ("fdr", "for", "alert_share") or len(facts.cells) > 1:
        return ""
    if not test.calibration.labelled:  # nobody knows what is right
        return ""
    called = "negative" if test.aim.share == "for" else "positive"
    shares, right = _curve(test, called)
    counted = facts.cells[0].counted
    pair = counted.negative if called == "negative" else counted.positive
    n, n_right = sum(pair), pair[0] if called == "negative" else pair[1]
    if not n:
        return ""
    at = n / sum(counted.n), n_right / n
    line = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in zip(shares, right, strict=True))
    level = (1.0 - test.aim.alpha) if test.aim.share != "alert_share" else None
    marks = "".join(
        f'<text x="{_x(tick):.0f}" y="{_HEIGHT - _MARGIN + 18}" text-anchor="middle">{tick:.0%}'
        f'</text><text x="{_MARGIN - 8}" y="{_y(tick) + 4:.0f}" text-anchor="end">{tick:.0%}</text>'
        for tick in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    limit = (
        f'<line x1="{_x(0)}" x2="{_x(1)}" y1="{_y(level):.1f}" y2="{_y(level):.1f}" '
        'stroke="currentColor" stroke-dasharray="5 4"/>'
        if level is not None
        else f'<line y1="{_y(0)}" y2="{_y(1)}" x1="{_x(test.aim.alpha):.1f}" '
        f'x2="{_x(test.aim.alpha):.1f}" stroke="currentColor" stroke-dasharray="5 4"/>'
    )
    about = said("page.aimed.picture", called=called, share=percent(at[0]), right=percent(at[1]))
    return (
        f'<figure class="chart wide"><figcaption><p>{about}</p></figcaption>'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(about)}" '
        'font-size="12" fill="currentColor">'
        f'<path d="M{_x(0)},{_y(1)} V{_y(0)} H{_x(1)}" fill="none" stroke="currentColor"/>{marks}'
        f'{limit}<polyline points="{line}" fill="none" stroke="#0072b2" stroke-width="2"/>'
        f'<circle cx="{_x(at[0]):.1f}" cy="{_y(at[1]):.1f}" r="5" fill="#d55e00"/></svg></figure>'
    )


def _curve(test: RiskControlTest, called: str) -> tuple[list[float], list[float]]:
    """Return shares of all calibration objects called so, and of those the share that is right."""
    negative, positive = (cells[0] for cells in test.calibration.pooled().cells)
    scores = np.concatenate([negative, positive])
    is_right = np.arange(scores.size) >= negative.size
    from_above = test.calibration.higher_is_positive
    if called == "negative":
        is_right, from_above = ~is_right, not from_above
    order = np.argsort(-scores if from_above else scores, kind="stable")
    hits = np.cumsum(is_right[order])
    places = np.unique(np.linspace(0, scores.size - 1, _POINTS).astype(np.intp))
    return ((places + 1) / scores.size).tolist(), (hits[places] / (places + 1)).tolist()


def _x(share: float) -> float:
    return _MARGIN + share * (_WIDTH - 2 * _MARGIN)


def _y(share: float) -> float:
    return _HEIGHT - _MARGIN - share * (_HEIGHT - 2 * _MARGIN)


def aimed_heading(test: RiskControlTest) -> str:
    """Return the title of the page."""
    limit = exact_percent(test.aim.alpha)
    heading = said(f"page.aimed.heading.{test.aim.share}", alpha=limit)
    promised = test.certificate.promised
    return heading if promised else said("page.aimed.heading.none", heading=heading)
