"""Joining the parts of the page into one file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ratekeeper._system._atomic_files import atomic_file
from ratekeeper._version import __version__
from ratekeeper._wording._formatting import format_value
from ratekeeper._wording._html import text
from ratekeeper._wording._sentences import SECTIONS
from ratekeeper.calibration._cells import refuse_counts, refuse_weights
from ratekeeper.control._risk_control import RiskControlTest
from ratekeeper.control._test import Test
from ratekeeper.exceptions import InputError
from ratekeeper.files import FileEvaluation
from ratekeeper.report._evaluation import checked_html, evaluation_html, evaluation_rows
from ratekeeper.report._group_audit import audit_facts, audit_html, payers_html
from ratekeeper.report._page_data import page_facts
from ratekeeper.report._practice import first_alerts, practice_facts, practice_html
from ratekeeper.report._risk_control_page import aimed_contents, aimed_heading
from ratekeeper.report._sections import certificate_html, glossary_html, ground_html, heading
from ratekeeper.report._words import said

if TYPE_CHECKING:
    import os


_SCRIPTS = (
    "special.js",
    "ranks.js",
    "numbers.js",
    "model.js",
    "charts.js",
    "state.js",
    "controls.js",
    "alerts.js",
    "words.js",
    "pictures.js",
    "audits.js",
    "tables.js",
    "page.js",
)
_STANDING = ("page.noscript", "page.judge", "page.p_value", "page.sideways", "page.footer")
_PLACE = re.compile(r"<!-- ([a-z_.]+) -->")
_COMMENT = re.compile(r"^ */\*.*?\*/\n", re.MULTILINE | re.DOTALL)  # lines for maintainers alone


def build(
    test: Test,
    *,
    evaluation: FileEvaluation | None = None,
    title: str | None = None,
    prevalence: float | str | None = None,
) -> str:
    """Make the report of a test: one page of HTML that opens offline and recomputes itself.

    Parameters
    ----------
    test : ErrorRateTest or AbstainingTest
        The finished test.
    evaluation : Evaluation, JointEvaluation or FileEvaluation, optional
        Errors counted on labelled new objects, to be shown beside the promise.
    title : str, optional
        Heading of the page.
    prevalence : float or str, optional
        Share of positives at which the page first says what an alert means, such as "2%". By
        default that of the calibration objects.

    Returns
    -------
    str
        HTML text, which refers to nothing outside itself.

    Notes
    -----
    **Guarantee.** The page shows the certificate of the test as it stands. Its controls show what
    other levels and methods would give; the page says whenever it does not show the certified
    test, and that a level chosen after looking is only covered by `Simultaneous`. All scores are
    in the page if there is room, else exact counts at some of them: what is then shown is never
    less strict than the exact rank. Of more than 200 groups it shows the largest, and says how
    many it leaves out.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100))
    >>> page = build(cal.control("fnr", alpha=0.05), title="Screening")
    >>> page[:15], "<h1>Screening</h1>" in page
    ('<!doctype html>', True)
    """
    if not isinstance(test, Test):
        raise InputError(
            f"A report is made of a test, not of {format_value(test)}.",
            parameter="test",
            value=test,
            remedy='Make one with calibration.control("fnr", alpha=0.05).',
        )
    refuse_weights(test.calibration, "A page that computes its own thresholds")
    refuse_counts(test.calibration, "A page that computes its own thresholds")
    if title is not None and not isinstance(title, str):
        raise InputError(parameter="title", value=title, need="text")
    if evaluation is not None and not hasattr(evaluation, "overall"):  # of arrays
        evaluation = FileEvaluation(overall=evaluation)  # type: ignore[arg-type]
    if isinstance(test, RiskControlTest):
        contents = {
            "title": text(title or aimed_heading(test)),
            "style": _part("page.css"),
            "version": __version__,
            "page.footer": said("page.footer"),
            **aimed_contents(test, evaluation, prevalence),
        }
        return _PLACE.sub(lambda place: contents[place[1]], _part("aimed.html"))
    script = "\n".join(_COMMENT.sub("", _part(name)) for name in _SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rows, audit, checked, evaluated = None, None, "", ""
    if evaluation is not None:
        rows = evaluation_rows(test, evaluation)
        audit = evaluation.by_group
        checked = checked_html(evaluation) + payers_html(audit)
        evaluated = evaluation_html(test, evaluation, rows) + audit_html(audit)
    alerts = first_alerts(test, prevalence)
    facts = {
        **page_facts(test),
        "alerts": practice_facts(test, alerts),
        "evaluation": rows,
        "audit": audit_facts(audit),
        "sentences": _sentences_in(script),
    }
    contents = {
        "policy": (
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
            f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        ),
        "title": text(title or heading(test)),
        "style": _part("page.css"),
        "certificate": certificate_html(test, checked),
        "alerts": practice_html(alerts),
        "evaluation": evaluated,
        "ground": ground_html(test),
        "glossary": glossary_html(),
        "version": __version__,
        "facts": _json(facts),
        "script": script,
        **{key: said(key, where="") for key in _STANDING},
    }
    # In one pass, so that nothing in a user's words is taken for a place to fill.
    return _PLACE.sub(lambda place: contents[place[1]], _part("page.html"))


def write(
    test: Test,
    path: str | os.PathLike[str],
    *,
    evaluation: FileEvaluation | None = None,
    title: str | None = None,
    prevalence: float | str | None = None,
) -> None:
    """Write the report of a test to a file, whole or not at all; see `build`.

    Examples
    --------
    >>> import tempfile, numpy as np, ratekeeper as rk
    >>> from pathlib import Path
    >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(cal.control("fnr", alpha=0.05), Path(folder, "report.html"))
    ...     Path(folder, "report.html").stat().st_size < 300_000
    True
    """
    page = build(test, evaluation=evaluation, title=title, prevalence=prevalence)
    with atomic_file(path) as temporary:
        # As bytes: the script's hash must not depend on the line ends of a system.
        temporary.write_bytes(page.encode("utf-8", "replace"))


def _part(name: str) -> str:
    text = (files(__package__) / "parts" / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n").rstrip("\n")


def _sentences_in(script: str) -> dict[str, str]:
    """Return the sentences that a script names, by their keys.

    The scripts get them as data, and fill the gaps.
    """
    return {
        f"{section}.{name}": words
        for section, sentences in SECTIONS.items()
        for name, words in sentences.items()
        if f'"{section}.{name}"' in script
    }


def _json(value: dict[str, Any]) -> str:
    """Write JSON that may stand inside a script element, whatever words it holds."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII only
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
