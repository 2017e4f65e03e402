"""Rates counted on labelled new objects, as rows of a table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ratekeeper._evaluation import Evaluation
    from ratekeeper._rates import Rate


def evaluation_rows(
    evaluation: Any,  # noqa: ANN401 - duck-typed
    shown: Collection[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Return the counted rates, everybody first and then the shown groups, by default all."""
    for group, found in [(None, evaluation.overall), *evaluation.groups.items()]:
        name = None if group is None else str(group)
        if name is not None and shown is not None and name not in shown:
            continue
        for part in found.parts:
            yield _rate_row(name, part.control, part.target, part)
        if len(found.parts) == 1:  # the price of a test of both rates is abstention
            other = "fpr" if found.control == "fnr" else "fnr"
            yield _rate_row(name, other, found.other, None)


def verdict_counts(evaluation: Any) -> dict[str, int]:  # noqa: ANN401 - duck-typed
    """Count the verdicts over all groups, the gravest first; empty without groups.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from ratekeeper._evaluation import Tally
    >>> bad, empty = (Tally(n, n).against("fnr", 0.1) for n in ((50, 50), (0, 0)))
    >>> verdict_counts(SimpleNamespace(groups={"a": bad, "b": empty, "c": bad}))
    {'exceeded': 2, 'unknown': 1}
    """
    found: Counter[str] = Counter(
        part.verdict for one in evaluation.groups.values() for part in one.parts
    )
    order = ("exceeded", "in line", "kept", "no promise", "unknown")
    return {word: found[word] for word in order if found[word]}


def _rate_row(
    group: str | None, control: str, rate: Rate, promise: Evaluation | None
) -> dict[str, Any]:
    low, high = rate.interval
    return {
        "group": group,
        "rate": control,
        "promised": promise and promise.promised,
        "errors": rate.errors,
        "n": rate.n,
        "value": rate.rate if rate.n else None,
        "low": low,
        "high": high,
        "verdict": promise and promise.verdict,
    }
