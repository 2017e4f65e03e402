"""The certificate in plain words, for readers who never heard of p-values."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from ratekeeper._formatting import exact_percent, percent
from ratekeeper.report._facts import MOST_GROUPS, certificates_of, is_word

if TYPE_CHECKING:
    from ratekeeper._certificate import Cell, Certificate, JointCertificate
    from ratekeeper._provenance import Provenance
    from ratekeeper._rates import Rate
    from ratekeeper.report._facts import Test

_SHOWN_GROUPS = 6
_SHOWN_POOLED = 30
_NO_PROMISE = ("asymptotic", "none")
_RATES = (
    "FNR, the false negative rate: the share of positives that are missed. FPR, the false positive "
    "rate: the share of negatives that give a false alarm."
)
_UNDECIDED = " An object that is left undecided is neither missed nor a false alarm."


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


def about(rate: float, base: int) -> str:
    """Write how many out of `base` a counted rate makes.

    Examples
    --------
    >>> about(0.1122, 1000), about(0.0004, 1000), about(0.0, 1000)
    ('112', '0.4', '0')
    """
    count = rate * base
    return f"{count:,.0f}" if count >= 10 or count == 0 else f"{count:.2g}"  # noqa: PLR2004


def certificate_html(test: Test, checked: str = "") -> str:
    """Return the first section of the page: promise, what was counted, conditions and price."""
    certificates = certificates_of(test)
    joint = len(certificates) > 1
    promises = "".join(_promise(certificate, joint=joint) for certificate in certificates)
    price = _joint_price(test.certificate) if joint else _price(certificates[0])  # type: ignore[arg-type]
    first = certificates[0]
    return (
        f'<div class="promises">{promises}</div>{checked}'
        f'<p class="small">{_RATES}{_UNDECIDED if joint else ""}</p>'
        '<div class="blocks">'
        f"{_block('It holds if', _conditions(certificates))}"
        f"{_block('Not covered', _not_covered(certificates, test.calibration.provenance))}"
        f"{_block('What it costs', price)}"
        f"{_block('How it decides', _rules(certificates))}"
        "</div>"
        f"{''.join(map(_pooled, certificates))}{_left_out(first, joint=joint)}"
        '<details class="full"><summary>The full certificate</summary>'
        f"{_whole(test)}</details>"
    )


def _whole(test: Test) -> str:
    n = len(certificates_of(test)[0].cells)
    if n <= MOST_GROUPS:
        return f"<pre>{escape(str(test.certificate))}</pre>"
    return (
        f"<p>That of {n:,} groups is too long for this page. <code>ratekeeper inspect</code> "
        "prints it.</p>"
    )


def _left_out(certificate: Certificate, *, joint: bool) -> str:
    n = len(certificate.cells)
    if n <= MOST_GROUPS:
        return ""
    whose = "" if joint else " of the class whose error is controlled"
    return (
        f'<p class="warning"><strong>{n - MOST_GROUPS:,} of {n:,} groups are not shown in this '
        f"page</strong>, only the {MOST_GROUPS} with most calibration objects{whose}. "
        "The promise and its price above are about all groups. "
        "<code>ratekeeper inspect --json</code> has them all, and "
        "<code>ratekeeper evaluate --json</code> what was counted in each.</p>"
    )


def label(value: object) -> str:
    """Write a label or group as it stands, safe in HTML and kept apart from the text around it.

    Examples
    --------
    >>> label("<b>")
    '<b class="label">&lt;b&gt;</b>'
    """
    return f'<b class="label">{escape(str(value))}</b>'


def heading(certificates: list[Certificate]) -> str:
    """Return the heading of a page that was given none.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100))
    >>> heading([cal.control("fnr", alpha=0.05).certificate])
    'Missed positives: at most 5%'
    """
    whats = {"fnr": "missed positives", "fpr": "false alarms"}
    parts = [
        f"{whats[one.control]}: {'about' if one.guarantee.kind in _NO_PROMISE else 'at most'} "
        f"{exact_percent(one.alpha)}"
        for one in certificates
    ]
    return _sentence(", ".join(parts))


def class_name(certificate: Certificate, *, positive: bool) -> str:
    """Write a class: its word if it has one, else what the number stands for."""
    value = certificate.positive_label if positive else certificate.negative_label
    if is_word(value):
        return label(value)
    column = certificate.provenance and certificate.provenance.label
    shown = f"{escape(column)} = {label(value)}" if column else label(value)
    return f"{'positive' if positive else 'negative'} ({shown})"


def _sides(certificate: Certificate) -> tuple[str, str]:
    """Return the class whose error is controlled, and the one it is mistaken for."""
    positive, negative = (class_name(certificate, positive=side) for side in (True, False))
    return (positive, negative) if certificate.control == "fnr" else (negative, positive)


def _promise(certificate: Certificate, *, joint: bool) -> str:
    kind = certificate.guarantee.kind
    null, other = _sides(certificate)
    other += " or neither of the two" if joint else ""
    count, base = out_of(certificate.alpha)
    name = "FNR" if certificate.control == "fnr" else "FPR"
    rate = "missed" if certificate.control == "fnr" else "a false alarm"
    if kind in _NO_PROMISE:
        head = f"The aim: about <em>{count}</em> of {base} that truly are {null} called {other}"
    else:
        sense = "On average" if kind == "marginal" else "In the long run"
        head = (
            f"{sense}, of {base} that truly are {null} at most <em>{count}</em> are called {other}"
        )
    tag = f"{name} ≤ {exact_percent(certificate.alpha)}"
    what = "missed positives" if certificate.control == "fnr" else "false alarms"
    return (
        f'<div class="promise" data-kind="{escape(kind)}"><p class="tag"><span>{tag}</span> '
        f"{what} <code>{escape(certificate.method)}</code></p>"
        f'<p class="headline">{head}{_in_groups(certificate)}.</p>'
        f"<p>{_sense(certificate, rate)}</p></div>"
    )


def _in_groups(certificate: Certificate) -> str:
    if certificate.cells[0].group is None:
        return ""
    if certificate.pooled_groups:
        return ", in each group with enough calibration objects of its own"
    return ", in every group"


def _sense(certificate: Certificate, rate: str) -> str:
    """Say in what sense the promise holds."""
    kind, delta = certificate.guarantee.kind, certificate.delta
    unlucky = ""
    if delta is not None:
        count, base = out_of(delta, base=100)
        unlucky = f"{count} of {base} sets of calibration objects"
    texts = {
        "marginal": (
            "This holds <strong>on average</strong>: over all sets of calibration objects that "
            "might have been drawn, and over all new objects. The true rate of this very test "
            "can be below or above; its law is shown further down."
        ),
        "high probability": (
            "This holds for <strong>this very test</strong>, unless the calibration objects were "
            f"an unlucky draw, which happens to at most {unlucky}. The level was to be chosen "
            "before looking at the data."
        ),
        "simultaneous": (
            "This holds for <strong>this very test, and for every other level at the same "
            "time</strong>, also one chosen after looking, unless the calibration objects were "
            f"an unlucky draw, which happens to at most {unlucky}."
        ),
    }
    weak = (
        "<strong>This is no promise.</strong> With a finite number of calibration objects nothing "
        f"keeps the share of objects that are {rate} below this level."
    )
    text = texts.get(kind, weak)
    if certificate.origin == "cross-fitted" and kind not in _NO_PROMISE:
        text += (
            " <strong>Only approximately:</strong> the calibration objects were scored by models "
            "of folds, not by the model in use."
        )
    return text


def _block(title: str, body: str) -> str:
    return f'<div class="block"><h3>{title}</h3>{body}</div>'


def _conditions(certificates: list[Certificate]) -> str:
    first = certificates[0]
    needs = dict.fromkeys(c.guarantee.condition for c in certificates)
    items = [*(_sentence(text) for text in needs), *first.assumptions]
    return _list(items)


def _not_covered(certificates: list[Certificate], provenance: Provenance | None) -> str:
    items = list(dict.fromkeys(_sentence(c.guarantee.not_covered) for c in certificates))
    drift = "Drift: objects that come from another population than the calibration objects."
    both = "The two promises at once: each has its own chance to fail."
    if len(certificates) > 1:
        items.append(both)
    items += [text for text in dict.fromkeys(_groups_at_once(c) for c in certificates) if text]
    if provenance is not None and provenance.n_skipped:
        n, rows = provenance.n_skipped, provenance.rows
        items.append(f"Objects like the {n:,} of {rows:,} rows that were left out as invalid.")
    return _list([*items, drift])


def _groups_at_once(certificate: Certificate) -> str:
    own = len(certificate.cells) - len(certificate.pooled_groups)
    if certificate.delta is None or own < 2:  # noqa: PLR2004 - one group is no family
        return ""
    most = min(1.0, own * certificate.delta)
    return (
        "All groups at once: each promise has its own chance to fail, and that some group of the "
        f"{own:,} breaks it has probability up to {most:g}."
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _list(items: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def _price(certificate: Certificate) -> str:
    null, other = _sides(certificate)
    rate = certificate.other_error
    if rate.n == 0:
        return f"<p>Unknown: no calibration object is {other}.</p>"
    low, high = rate.interval
    base = 1000
    while rate.errors and rate.rate * base < 1:
        base *= 10
    caveat = " A randomised method: counted with one draw." if _by_lot(certificate) else ""
    return (
        f"<p>Of {base:,} that truly are {other}, about <em>{about(rate.rate, base)}</em> are "
        f"called {null}.</p><p>Counted: {rate.errors:,} of {rate.n:,} calibration objects, "
        f"{percent(rate.rate)}. With 95% confidence the true number is between "
        f"{about(low, base)} and {about(high, base)} of {base:,}.{caveat}</p>"
    )


def _by_lot(certificate: Certificate) -> bool:
    return any(cell.threshold is None for cell in certificate.cells)


def _joint_price(certificate: JointCertificate) -> str:
    lines = [
        _abstains(class_name(certificate.fnr, positive=name == "positive"), rate)
        for name, rate in sorted(certificate.undecided.items(), reverse=True)
    ]
    return "<p>It leaves undecided what it cannot decide within both promises:</p>" + "".join(lines)


def _abstains(name: str, rate: Rate) -> str:
    if rate.n == 0:
        return f"<p>Unknown for {name}: there is no calibration object of it.</p>"
    low, high = rate.interval
    return (
        f"<p>Of 1,000 that truly are {name}, about <em>{about(rate.rate, 1000)}</em> are left "
        f"undecided ({rate.errors:,} of {rate.n:,} calibration objects; between "
        f"{about(low, 1000)} and {about(high, 1000)} with 95% confidence).</p>"
    )


def _rules(certificates: list[Certificate]) -> str:
    first = certificates[0]
    if len(certificates) == 1:
        rules = [(cell, _rule(first, cell)) for cell in first.cells]
    else:
        both = zip(first.cells, certificates[1].cells, strict=True)
        rules = [(one, _joint_rule(first, one, two)) for one, two in both]
    if len(rules) == 1 and rules[0][0].group is None:
        return f"<p>{rules[0][1]}</p>"
    items = [f"<li>{label(cell.group)}: {rule}</li>" for cell, rule in rules[:_SHOWN_GROUPS]]
    left = len(rules) - _SHOWN_GROUPS
    more = f"<p>… and {left:,} more groups: see the table of groups.</p>" if left > 0 else ""
    return f"<ul>{''.join(items)}</ul>{more}"


def _rule(certificate: Certificate, cell: Cell) -> str:
    positive, negative = (class_name(certificate, positive=side) for side in (True, False))
    remark = f" {escape(cell.remark)}" if cell.remark else ""
    rule = f"{positive} if <code>{escape(cell.condition)}</code>, otherwise {negative}"
    return f"Called {rule}.{remark}"


def _joint_rule(certificate: Certificate, one: Cell, two: Cell) -> str:
    positive, negative = (class_name(certificate, positive=side) for side in (True, False))
    return (
        f"{positive} remains possible if <code>{escape(one.condition)}</code>; {negative} is ruled "
        f"out if <code>{escape(two.condition)}</code>. Undecided if both remain possible."
    )


def _pooled(certificate: Certificate) -> str:
    groups = certificate.pooled_groups
    if not groups:
        return ""
    names = ", ".join(label(group) for group in groups[:_SHOWN_POOLED])
    left = len(groups) - _SHOWN_POOLED
    names += f" and {left:,} more groups" if left > 0 else ""
    return (
        f'<p class="warning"><strong>Nothing is promised about the {certificate.control.upper()} '
        f"in:</strong> {names}. These groups have too few calibration objects of their own and get "
        "the threshold of all groups together. Their rate can be far above the level, and so "
        "nothing is promised about all groups together either; the promise holds in the other "
        "groups.</p>"
    )
