"""Every fact in words, once, for certificates, evaluations, cards, the report and commands.

A sentence is a template with named gaps; `say` fills them. Text, HTML, JSON, the report's page and
the command line all draw from here, and ``docs/reference/sentences.md`` lists all of them. The
promises of the methods stand with the methods (`Guarantee`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ratekeeper._wording._sentences.adaptive import ADAPTIVE
from ratekeeper._wording._sentences.aims import AIM
from ratekeeper._wording._sentences.alerts import ALERTS
from ratekeeper._wording._sentences.audit import AUDIT
from ratekeeper._wording._sentences.certificate import CERTIFICATE, TITLES
from ratekeeper._wording._sentences.clusters import CLUSTERS
from ratekeeper._wording._sentences.cost import COST
from ratekeeper._wording._sentences.counted import COUNTED
from ratekeeper._wording._sentences.draws import DRAWS
from ratekeeper._wording._sentences.evaluation import EVALUATION, VERDICTS
from ratekeeper._wording._sentences.evidence import EVIDENCE
from ratekeeper._wording._sentences.monitor import MONITOR
from ratekeeper._wording._sentences.monitor_plan import MONITOR_PLAN
from ratekeeper._wording._sentences.multiclass import MULTICLASS
from ratekeeper._wording._sentences.noise import NOISE
from ratekeeper._wording._sentences.one_class import ONE_CLASS
from ratekeeper._wording._sentences.order import ORDER
from ratekeeper._wording._sentences.page import PAGE
from ratekeeper._wording._sentences.plan import PLAN
from ratekeeper._wording._sentences.rates import RATES
from ratekeeper._wording._sentences.selection import SELECTION
from ratekeeper._wording._sentences.shift import SHIFT
from ratekeeper._wording._sentences.ties import TIES
from ratekeeper._wording._sentences.tolerance import TOLERANCE
from ratekeeper._wording._sentences.weights import WEIGHTS
from ratekeeper._wording._sentences.windows import WINDOWS

if TYPE_CHECKING:
    from collections.abc import Iterable

SECTIONS = {
    "rate": RATES,
    "aim": AIM,
    "cost": COST,
    "noise": NOISE,
    "certificate": CERTIFICATE,
    "verdict": VERDICTS,
    "evaluation": EVALUATION,
    "title": TITLES,
    "page": PAGE,
    "clusters": CLUSTERS,
    "one_class": ONE_CLASS,
    "selection": SELECTION,
    "shift": SHIFT,
    "audit": AUDIT,
    "ties": TIES,
    "draws": DRAWS,
    "alerts": ALERTS,
    "plan": PLAN,
    "monitor": MONITOR,
    "monitor_plan": MONITOR_PLAN,
    "windows": WINDOWS,
    "weights": WEIGHTS,
    "tolerance": TOLERANCE,
    "adaptive": ADAPTIVE,
    "counted": COUNTED,
    "order": ORDER,
    "multiclass": MULTICLASS,
    "evidence": EVIDENCE,
}


def say(key: str, **facts: object) -> str:
    """Return the sentence of this name with its gaps filled.

    Examples
    --------
    >>> say("certificate.headline", rate="FNR", alpha="5%", right="sensitivity >= 95%")
    'CERTIFICATE  FNR <= 5% (sensitivity >= 95%)'
    """
    section, _, name = key.partition(".")
    return SECTIONS[section][name].format(**facts)


class Statement(NamedTuple):
    """A paragraph of a certificate.

    Attributes
    ----------
    topic : str
        What it is about: a name of `TITLES`.
    title : str
        Its title, for people.
    text : str
        What it says, one or more sentences.
    """

    topic: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.title}: {self.text}"


def state(topic: str, text: str, *, title: str | None = None, **facts: object) -> Statement:
    """Return a statement with the title of its topic, or the one of this name.

    Examples
    --------
    >>> print(state("price", "FPR 3%."))
    Price: FPR 3%.
    """
    return Statement(topic, say(f"title.{title or topic}", **facts), text)


def verdicts_text(verdicts: Iterable[str]) -> str:
    """Say what verdicts mean, each once; nothing if there are none.

    Examples
    --------
    >>> verdicts_text(["unknown", "unknown"])
    'unknown: there are no objects to count it on.'
    """
    found = set(verdicts)
    said = "; ".join(f"{word}: {VERDICTS[word]}" for word in VERDICTS if word in found)
    return f"{said}." if said else ""
