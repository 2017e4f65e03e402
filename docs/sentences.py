"""Make docs/sentences.md: every sentence that ratekeeper prints about a promise, with an example.

python docs/sentences.py
"""

from __future__ import annotations

import string
from pathlib import Path

from ratekeeper import methods
from ratekeeper._sentences import SECTIONS, say

PAGE = Path(__file__).with_suffix(".md")

# One example for each gap; a gap means the same in every sentence.
GAPS = {
    "about": "; to_dict has all",
    "above": "4.12%",
    "abstained_0": "12.00%",
    "abstained_1": "9.00%",
    "advice": "The highest precision that could be is 88%.",
    "aim": "precision >= 90%",
    "alarm": "3",
    "alarms": "3.14%",
    "alerts": "66",
    "alpha": "5%",
    "among": " from 1% to 5%",
    "amount": "0.94",
    "at": "0.4754",
    "auc": "0.504",
    "base": "1,000",
    "below": "score < 0.12",
    "best": "88%",
    "beyond": ">",
    "between": " (55 to 79)",
    "bound": "10.75%",
    "bounds": "FNR <= 10.75%",
    "both": "FNR <= 1% and FPR <= 1%",
    "budget": "5%",
    "called": "negative",
    "certified": "FNR ≤ 5% with Conformal()",
    "clusters": "70",
    "clusters_negative": "70",
    "clusters_positive": "30",
    "cells": "34",
    "chance": "0.0167",
    "columns": "site, year",
    "condition": "score >= 0.31",
    "count": "50",
    "cost": "0.83",
    "counted": "4.74% (3.06% to 6.98%)",
    "delta": "0.05",
    "difference": (
        "In the closest mixture of the calibrated classes 44.78% of the scores are at or below "
        "0.4754; of the new scores 45.33% are"
    ),
    "each": ", in each group",
    "end": "highest",
    "error": "2%",
    "errors": "12",
    "estimate": "31.98%",
    "evidence": "p = 0.00019",
    "evaluate": "ratekeeper evaluate --json",
    "everybody": "2.94",
    "exceeded": "; exceeded but not shown: 12",
    "expected": "95%",
    "extreme": "17",
    "fdr": "10%",
    "false_share": "74%",
    "false": "49 (40 to 60)",
    "fitted": "44.78%",
    "fnr": "score >= 0.31",
    "folds": "5",
    "found": "3 in group “north”",
    "fpr": "score > 0.72",
    "heading": "Wrong alerts: at most 10%",
    "group": "'north'",
    "groups": "200",
    "hash": "5f1d2a90c3b47e68",
    "held": "640",
    "hidden": "800",
    "high": "6.66%",
    "highest": "0.998",
    "how": " and all combinations",
    "in_group": " in group 'north'",
    "inspect": "ratekeeper inspect --json",
    "k": "23",
    "kind": "high probability",
    "known": "positive",
    "label": "'ill'",
    "least": "1,000",
    "left": "negative (0)",
    "level": "90%",
    "limits": ", and its FNR at most 5%",
    "low": "3.48%",
    "lowest": "0.002",
    "mean": "4.95%",
    "method": "HighProbability(delta=0.05)",
    "miss": "100",
    "misses": "41.17%",
    "missed": "3.1 (2.0 to 4.4)",
    "more": "406",
    "most": "0.25",
    "n": "1,000",
    "n_negative": "700",
    "n_positive": "300",
    "n_rows": "590",
    "names": "'west', 'east'",
    "need": "at least 59",
    "needed": "At least 62 calibration objects labelled positive are needed.",
    "negative": "'well'",
    "neither_0": "0.00%",
    "neither_1": "0.00%",
    "number": "0.148669",
    "no_decision": ", with 12.00% undecided",
    "nobody": "2",
    "npv": "99.68% (99.53% to 99.79%)",
    "objects": "positives",
    "observed": "45.33%",
    "other": "FPR",
    "others": "; the promise holds in the other groups",
    "outside": "981",
    "own": "5",
    "p": "p1",
    "p_value": "0.018",
    "part": "20%",
    "positive": "'ill'",
    "positives": "20",
    "precision": "26% (21% to 31%)",
    "power": "90%",
    "prevalence": "2%",
    "price": "40%",
    "promise": "precision >= 90%",
    "promised": "5%",
    "quantity": "the precision of a threshold",
    "rate": "FNR",
    "rates": "FNR of everybody 7.00% (6.10% to 8.00%), promised 5%",
    "reasons": "score is NaN: 2",
    "repeated": "640",
    "repeats": "150",
    "rest": "negatives",
    "right": "positive (1)",
    "rows": "1,000 rows read, 2 of them skipped (score is NaN: 2)",
    "selected": "153",
    "sets": "calibration sets",
    "share": "the share of positives ('ill') that are called negative",
    "shown": "200",
    "side": "negative",
    "sign": ">=",
    "state": "certified",
    "tail": "low",
    "target": "4.74%",
    "test": "FNR ≤ 10% with Conformal()",
    "text": "FNR 4.00% (2.00% to 7.00%), promised 5%: in line",
    "threshold": "0.31",
    "thresholds": "0.31",
    "total": "295",
    "truth": "positive (1)",
    "type": "float64",
    "typed": "“many”",
    "undecided": "12.00%",
    "undecided_0": "12.00% (9.10% to 15.40%)",
    "undecided_1": "9.00% (6.60% to 12.00%)",
    "verdict": "in line",
    "verdicts": "1 exceeded, 4 in line",
    "version": "0.1.0",
    "wanted": "641",
    "what": "missed positives",
    "where": " in group “north”",
    "which": "called positive",
    "whom": "everybody",
    "word": "precision",
    "wrong": "of the objects labelled positive, 1.5% to 9.6% truly are negative",
    "worse": "10%",
}
HEADINGS = {
    "certificate": "Certificates, and the cards and report that show them",
    "verdict": "Verdicts of an evaluation",
    "evaluation": "Evaluations",
    "title": "Titles of the paragraphs",
    "page": "The report's page",
    "clusters": "Tests on rows that come in clusters",
    "rate": "Names of shares",
    "cost": "The cheapest threshold",
    "aim": "Precision, NPV, wrong decisions, alerts",
    "one_class": "Calibrations of one class, or without labels",
    "selection": "Choosing from a batch",
    "shift": "New scores without labels",
    "audit": "Audits by group",
    "ties": "Ties that are broken at random",
    "noise": "Error rates despite wrong labels",
    "alerts": "Alerts per 1,000 objects",
    "plan": "Plans",
}
METHODS = {
    "parametric": {"distribution": "norm"},
    "resampled": {"size": 30},
}


def gaps(template: str) -> list[str]:
    """Return the names of the gaps of a template."""
    return [name for _, name, _, _ in string.Formatter().parse(template) if name]


def rendered() -> dict[str, dict[str, str]]:
    """Return every sentence with its gaps filled, by section and name."""
    return {
        section: {
            key: say(f"{section}.{key}", **{name: GAPS[name] for name in gaps(template)})
            for key, template in templates.items()
        }
        for section, templates in SECTIONS.items()
    }


def page() -> str:
    """Return the page."""
    lines = [
        "# Every sentence",
        "",
        "All that certificates, evaluations, cards, the report and the command line say about a",
        "promise, each once, with an example in its gaps. Made by `python docs/sentences.py` from",
        "`src/ratekeeper/_sentences` and `src/ratekeeper/methods`; a test keeps it current.",
        "",
        "## What the methods promise",
        "",
    ]
    made = [kind(**METHODS.get(name, {})) for name, kind in methods.METHODS.items()]
    for method in [*made, methods.HighProbability(randomised=True)]:
        said = method.guarantee
        lines += [
            f"**{method!r}** ({said.kind})",
            "",
            f"- {said.promise}",
            f"- It needs: {said.condition}",
            f"- Not covered: {said.not_covered}",
            "",
        ]
    for section, sentences in rendered().items():
        lines += [f"## {HEADINGS[section]}", ""]
        lines += [f"- `{key}`: {text.strip()}" for key, text in sentences.items()]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
