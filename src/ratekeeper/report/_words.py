"""Sentences as HTML, and rates as so many out of a thousand."""

from __future__ import annotations

import math
import re
from html import escape
from typing import TYPE_CHECKING

from ratekeeper._wording._formatting import escape_controls
from ratekeeper._wording._html import Html, text
from ratekeeper._wording._sentences.page import PAGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ratekeeper.control._certificate import Certificate

_STRONG = re.compile(r"\*\*(.+?)\*\*")
_DIGITS = 6


def said(key: str, **facts: object) -> Html:
    """Return a sentence of the page as HTML; what is not HTML already is escaped.

    Examples
    --------
    >>> said("page.impossible.least", n="<b>")
    'at least &lt;b&gt;'
    >>> said("page.evaluated.left_out", hidden=2, n=5, verdicts="", evaluate="").split("</")[0]
    '<strong>2 of 5 groups are not shown here.'
    """
    template = escape(PAGE[key.removeprefix("page.")], quote=False)
    ready = {name: text(fact) for name, fact in facts.items()}
    return Html(_STRONG.sub(r"<strong>\1</strong>", template).format(**ready))


def code(words: str) -> Html:
    """Write what can be typed."""
    return Html(f"<code>{text(words)}</code>")


def paragraphs(texts: Iterable[str], kind: str = "") -> str:
    """Write each text as a paragraph, of a class of the style sheet if one is named."""
    begin = f'<p class="{kind}">' if kind else "<p>"
    return "".join(f"{begin}{text(one)}</p>" for one in texts)


def bullets(texts: Iterable[str]) -> str:
    """Write a list of texts, each with a capital at its beginning; one alone as a paragraph."""
    first, *others = map(sentence, texts)
    if not others:
        return paragraphs([first])
    return f"<ul>{''.join(f'<li>{text(one)}</li>' for one in (first, *others))}</ul>"


def sentence(words: str) -> str:
    """Begin with a capital.

    Examples
    --------
    >>> sentence("false alarms")
    'False alarms'
    """
    return type(words)(words[:1].upper() + words[1:])


def in_few_digits(rule: str, exact: Iterable[tuple[str, bool]]) -> str:
    r"""Return a rule with its scores in six digits, marked where that is not all of them.

    Each is given as it stands in the rule, and with whether it may be rounded up or only down. The
    full certificate, which every page has, keeps all digits.

    Examples
    --------
    >>> in_few_digits("score > 0.10863728302913776", [("0.10863728302913776", True)])
    'score > ≈\xa00.108638'
    """
    from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

    for written, upwards in exact:
        score = Decimal(written)
        if score.is_finite() and len(score.normalize().as_tuple().digits) > _DIGITS:
            rounding = ROUND_CEILING if upwards else ROUND_FLOOR
            short = float(Context(prec=_DIGITS, rounding=rounding).plus(score))
            found = rf"(?<![\d.]){re.escape(written)}(?!\d)"
            rule = re.sub(found, f"≈\N{NO-BREAK SPACE}{short!r}", rule)
    return rule


def out_of(rate: float, base: int = 1000) -> tuple[str, str]:
    """Write a promised rate as so many out of so many; never fewer than promised.

    Examples
    --------
    >>> out_of(0.05), out_of(0.0125), out_of(1 / 3)
    (('50', '1,000'), ('125', '10,000'), ('333.4', '1,000'))
    """
    while rate * base < 1:
        base *= 10
    for finer in (base, 10 * base, 100 * base):
        count = rate * finer
        if abs(count - round(count)) <= 1e-9 * count:
            return f"{round(count):,}", f"{finer:,}"
    return f"{math.ceil(10 * rate * base) / 10:,g}", f"{base:,}"


def about(rate: float) -> tuple[str, str]:
    """Write a counted rate as so many out of a thousand, or of more if it is tiny.

    Examples
    --------
    >>> about(0.1122), about(0.0004), about(0.0)
    (('112', '1,000'), ('4', '10,000'), ('0', '1,000'))
    """
    base = 1000
    while 0 < rate * base < 1:
        base *= 10
    count = rate * base
    few = 0 < count < 10  # noqa: PLR2004 - two digits
    return f"{count:.2g}" if few else f"{count:,.0f}", f"{base:,}"


def class_text(certificate: Certificate, *, positive: bool) -> str:
    """Write a class in a sentence: its word if it has one, else what the number stands for.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100))
    >>> class_text(cal.control("fnr", alpha=0.05).certificate, positive=True)
    'positive (1)'
    """
    value = certificate.positive_label if positive else certificate.negative_label
    if isinstance(value, str) and not value.lstrip("+-").isdigit():
        return f"“{escape_controls(value)}”"
    column = certificate.provenance and certificate.provenance.label
    name = f"{escape_controls(column)} = {value}" if column else str(value)
    return f"{'positive' if positive else 'negative'} ({name})"
