"""Make sentences.md: every sentence that ratekeeper prints about a promise, with an example.

python docs/reference/sentences.py
"""

from __future__ import annotations

import string
from pathlib import Path

from sentence_examples import EXAMPLES, GAPS

from ratekeeper import methods
from ratekeeper._wording._sentences import SECTIONS, say

PAGE = Path(__file__).with_suffix(".md")
BREAK = "\\\n  "  # a line break of Markdown, within a bullet
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
    "draws": "Random numbers that a promise rests on",
    "noise": "Error rates despite wrong labels",
    "alerts": "Alerts per 1,000 objects",
    "plan": "Plans",
    "monitor": "Monitors",
    "monitor_plan": "Plans for a monitor",
    "windows": "Windows of time, and rows that are added",
    "weights": "Weighted calibration objects",
    "tolerance": "Scores that may come out differently where they decide",
    "adaptive": "Tests whose level moves with the labels",
    "counted": "Scores that are known by counts",
    "order": "Scores in a learnt order",
    "multiclass": "Several classes",
    "evidence": "What the schools of testing say of a score",
}
METHODS = {
    "parametric": {"distribution": "norm"},
    "resampled": {"size": 30},
}


def gaps(template: str) -> list[str]:
    """Return the names of the gaps of a template."""
    return [name for _, name, _, _ in string.Formatter().parse(template) if name]


def fillers(section: str, key: str) -> dict[str, str]:
    """Return an example for each gap of a sentence."""
    own = [EXAMPLES.get(name, {}) for name in (section, f"{section}.{key}")]
    found = {**GAPS, **own[0], **own[1]}
    return {name: found[name] for name in gaps(SECTIONS[section][key])}


def rendered() -> dict[str, dict[str, str]]:
    """Return every sentence with its gaps filled, by section and name."""
    return {
        section: {key: say(f"{section}.{key}", **fillers(section, key)) for key in templates}
        for section, templates in SECTIONS.items()
    }


def page() -> str:
    """Return the page."""
    lines = [
        "# Every sentence",
        "",
        "All that certificates, evaluations, cards, the report and the command line say about a",
        "promise, each once, with an example in its gaps. Made by",
        "`python docs/reference/sentences.py` from `src/ratekeeper/_wording/_sentences` and",
        "`src/ratekeeper/methods`; a test keeps it current.",
        "",
        "Most examples are of one imaginary test: FNR <= 5% by `HighProbability(delta=0.05)`, from",
        "the scores of 200 objects that are ill (positive) and 800 that are well (negative).",
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
        for key, text in sentences.items():
            shown = text.strip().replace("\n", BREAK)
            lines.append(f"- `{key}`: {shown}")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
