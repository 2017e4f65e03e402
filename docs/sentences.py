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
    "earlier_column": "'score'",
    "column": "'risk'",
    "about": "; to_dict has all",
    "above": "4.12%",
    "abstained_0": "12.00%",
    "abstained_1": "9.00%",
    "added": "450",
    "already": "500",
    "advice": "The highest precision that could be is 88%.",
    "aim": "precision >= 90%",
    "alarm": "3",
    "alarms": "3.14%",
    "alerts": "66",
    "alpha": "5%",
    "among": " from 1% to 5%",
    "amount": "0.94",
    "audit": "10%",
    "at": "0.4754",
    "auc": "0.504",
    "base": "1,000",
    "becomes": "10%",
    "before": "50",
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
    "cleared": "3",
    "clusters": "70",
    "clusters_negative": "70",
    "clusters_positive": "30",
    "cap": "162",
    "cells": "34",
    "chance": "0.0167",
    "columns": "site, year",
    "condition": "score >= 0.31",
    "count": "50",
    "cost": "0.83",
    "counted": "4.74% (3.06% to 6.98%)",
    "delay": "120",
    "decision": "decision 'p992' of 2016-01-06, outcome 509",
    "delta": "0.05",
    "down": "0.00475",
    "difference": (
        "In the closest mixture of the calibrated classes, 44.78% of the scores are at or below "
        "0.4754; of the new scores, 45.33% are"
    ),
    "each": ", in each group",
    "effective_0": "412.3",
    "effective_1": "187.9",
    "each_waiting": "0.95",
    "end": "highest",
    "error": "2%",
    "errors": "12",
    "estimate": "31.98%",
    "strength": "p = 0.00019",
    "new_share": "45.33%",
    "evaluate": "ratekeeper evaluate --json",
    "everybody": "2.94",
    "exact": "10.95",
    "evidence": "3.71",
    "exceeded": "; exceeded but not shown: 12",
    "expected": "95%",
    "extra": "11",
    "extreme": "17",
    "fdr": "10%",
    "fixed": "10",
    "false_share": "74%",
    "false": "49 (40 to 60)",
    "first": "2024-01-01",
    "flagged": "118",
    "fitted": "44.78%",
    "fnr": "score >= 0.31",
    "folds": "5",
    "found": "3 in group “north”",
    "fpr": "score > 0.72",
    "heading": "Wrong alerts: at most 10%",
    "goal": "20",
    "group": "'north'",
    "groups": "200",
    "hash": "5f1d2a90c3b47e68",
    "held": "640",
    "hidden": "800",
    "high": "6.66%",
    "highest": "0.998",
    "how": " and all combinations",
    "id": "'p992'",
    "in_group": " in group 'north'",
    "inspect": "ratekeeper inspect --json",
    "k": "23",
    "kept": "326",
    "kind": "high probability",
    "known": "positive",
    "label": "'ill'",
    "last": "2024-06-30",
    "lasted": "91",
    "least": "1,000",
    "left": "negative (0)",
    "level": "90%",
    "level_now": "0.0412",
    "limit": "0.3",
    "limits": ", and its FNR at most 5%",
    "low": "3.48%",
    "lowest": "0.002",
    "mean": "4.95%",
    "method": "HighProbability(delta=0.05)",
    "miss": "100",
    "missing": "212",
    "misses": "41.17%",
    "missed": "3.1 (2.0 to 4.4)",
    "more": "406",
    "most": "0.25",
    "n": "1,000",
    "n_cleared": "400",
    "n_flagged": "120",
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
    "newest": "900",
    "no_decision": ", with 12.00% undecided",
    "nobody": "2",
    "now": "2016-01-31",
    "npv": "99.68% (99.53% to 99.79%)",
    "objects": "positives",
    "observed": " (4.92%)",
    "open": "250",
    "other": "FPR",
    "others": "; the promise holds in the other groups",
    "outcome": "509",
    "outside": "981",
    "own": "5",
    "p": "p1",
    "p_value": "0.018",
    "path": "cal.rk",
    "part": "20%",
    "positive": "'ill'",
    "positives": "20",
    "precision": "26% (21% to 31%)",
    "power": "90%",
    "prevalence": "2%",
    "price": "40%",
    "product": "0.6",
    "promise": "precision >= 90%",
    "promised": "5%",
    "quantity": "the precision of a threshold",
    "rate": "FNR",
    "rates": "FNR of everybody 7.00% (6.10% to 8.00%), promised 5%",
    "reason": "the threshold is not a rank among the calibration scores",
    "reasons": "score is NaN: 2",
    "repeated": "640",
    "repeats": "150",
    "rest": "negatives",
    "right": "positive (1)",
    "read": "500",
    "rows": "1,000 rows read, 2 of them skipped (score is NaN: 2)",
    "run_length": "10,000",
    "selected": "153",
    "sets": "calibration sets",
    "share": "the share of positives ('ill') that are called negative",
    "shown": "200",
    "side": "negative",
    "sign": ">=",
    "since": "2024-01-01",
    "start": "0.05",
    "state": "certified",
    "step": "0.005",
    "tail": "low",
    "target": "4.74%",
    "test": "FNR ≤ 10% with Conformal()",
    "text": "FNR 4.00% (2.00% to 7.00%), promised 5%: in line",
    "threshold": "0.31",
    "thresholds": "0.31",
    "too_late": "190",
    "total": "295",
    "truth": "positive (1)",
    "type": "float64",
    "typed": "“many”",
    "unaudited": "40",
    "undecided": "12.00%",
    "undecided_0": "12.00% (9.10% to 15.40%)",
    "undecided_1": "9.00% (6.60% to 12.00%)",
    "up": "0.00025",
    "unknown": "12",
    "until": "2016-01-06",
    "verdict": "in line",
    "verdicts": "1 exceeded, 4 in line",
    "version": "0.1.0",
    "weeks": "3.3",
    "waiting": "1,204",
    "wanted": "641",
    "weight": "20",
    "what": "missed positives",
    "when": "2016-01-06",
    "where": " in group “north”",
    "which": "called positive",
    "which_way": "more",
    "whom": "everybody",
    "word": "precision",
    "wrong": "of the objects labelled positive, 1.5% to 9.6% truly are negative",
    "worse": "10%",
    "worst": "9.80%",
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
    "monitor": "Monitors",
    "monitor_plan": "Plans for a monitor",
    "windows": "Windows of time, and rows that are added",
    "weights": "Weighted calibration objects",
    "adaptive": "Tests whose level moves with the labels",
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
