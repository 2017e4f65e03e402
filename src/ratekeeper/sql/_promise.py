"""What a query says about itself in comments: the promise, on what data, and when it gives NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ratekeeper._wording._formatting import format_value, listed
from ratekeeper.control._both_rates import AbstainingTest
from ratekeeper.control._certificate import Certificate
from ratekeeper.control._risk_control import RiskControlTest

if TYPE_CHECKING:
    from ratekeeper.control._risk_control import RiskControlCertificate
    from ratekeeper.control._test import Test
    from ratekeeper.sql._dialects import Dialect

_SHOWN = 10  # groups


def facts_of(test: Test) -> list[str]:
    """Say what is promised, on what data, and to whom nothing is."""
    stated = (
        [test.certificate]
        if isinstance(test, RiskControlTest)
        else [part.certificate for part in test.parts]
    )
    sentences = [line for one in stated for line in _promise(one)]
    facts = stated[0]
    if unlabelled := facts.n.get("unlabelled"):
        sample = f"{unlabelled:,} scores without labels"
    else:
        sample = (
            f"{_number(facts.n['negative'])} negative ({format_value(facts.negative_label)}) and "
            f"{_number(facts.n['positive'])} positive ({format_value(facts.positive_label)}) scores"
        )
    sentences.append(
        f"Calibrated on {sample}, {facts.score_type}, data {facts.data_hash[:16]}. New scores must "
        f"come from the same model and {_as_calibrated(test, facts.score_type)}."
    )
    return sentences


def caveats_of(test: Test, dialect: Dialect, *, decided: bool = True) -> list[str]:
    """Say when a decision is NULL, and where the database may see things differently."""
    # Where the two thresholds of a cell cross, one between them decides everything.
    abstains = isinstance(test, AbstainingTest) and None in test.crossed
    if isinstance(test, RiskControlTest):
        abstains = any(one.negative is not None for one in test.limits.values())
    undecided = "the test abstains, " if abstains and decided else ""
    unknown = "the group is unknown, " if groups_of(test) else ""
    is_null = "the score is missing or NaN."
    if not dialect.infinite:
        is_null = (
            "the score is missing, NaN, infinite or text: BETWEEN sees to that, since some "
            "databases put NaN above all numbers, and the plus, since SQLite compares text as text."
        )
    sentences = [f"NULL where {undecided}{unknown}{is_null}"]
    if _alike(groups_of(test)):
        sentences.append(
            "Some groups differ in case or in spaces at the end only: use a collation that tells "
            "them apart."
        )
    if not all(one.method.decides_by_threshold for one in test.parts):
        sentences.append(
            "The threshold is that of a fitted distribution: scores within rounding of it may be "
            "decided otherwise than by the library."
        )
    return sentences


def groups_of(test: Test) -> list[Any]:
    """Return the groups of a test; none if it has no groups."""
    groups = test.calibration.groups
    return [] if groups is None else groups.tolist()


def _as_calibrated(test: Test, score_type: str) -> str:
    if test.tolerance:
        return f"differ by at most {test.tolerance!r} from what the code there would give"
    return f"be {score_type}, not rounded"


def _number(n: int) -> str:
    return f"{n:,}" if n else "no"


def _promise(facts: Certificate | RiskControlCertificate) -> list[str]:
    method = f", {facts.method}" if isinstance(facts, Certificate) else ""
    sentences = [
        f"{facts.headline}{method}, ratekeeper {facts.version}.",
        *(str(one) for one in facts.statements if one.topic == "promise"),
    ]
    if isinstance(facts, Certificate) and facts.pooled_groups:
        names = listed(facts.pooled_groups, most=_SHOWN)
        sentences.append(f"Nothing is promised within groups with too few scores: {names}.")
    return sentences


def _alike(groups: list[Any]) -> bool:
    """Say whether databases that compare text loosely would take some groups for the same."""
    loose = {str(group).casefold().rstrip() for group in groups}
    return len(loose) < len(groups)
