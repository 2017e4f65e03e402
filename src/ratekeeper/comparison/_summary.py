"""Trials of one system, summed up as one row of the table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._rates import clopper_pearson
from ratekeeper.comparison._verdict import Promise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ratekeeper.comparison._trial import Trial
    from ratekeeper.methods import Guarantee


@dataclass(frozen=True)
class Summary:
    """What one system did over all repeats; shares and rates are numbers between 0 and 1.

    Attributes
    ----------
    system, family, promise : str
        Its name, the family it belongs to, and the kind of its guarantee.
    assumption : str
        What the guarantee assumes beyond rows of one population: where that is false, so is it.
    repeats, refused : int
        Splits with a result, and splits on which it refused.
    target, target_low, target_high : float
        Mean controlled error over the repeats, with a 95% interval for the mean over all splits
        of these data; after a single repeat, for the true rate of what that split trained.
    above : float
        Share of repeats in which the error counted on the test objects is above alpha. That is
        partly chance: a true rate just below alpha is above it on about half of all test sets.
        Nor does it break a marginal promise, which is about the mean.
    clearly_above : float
        Share of repeats in which the test objects show that the true rate is above alpha: its
        one-sided exact 95% lower limit is. With a true rate of alpha that happens in at most 5%.
    above_allowed : float or None
        The largest share of repeats above alpha to be expected if the promise holds, given the
        size of the test sets: exact where the rank behind the threshold is known. None where
        nothing is promised.
    p_value, p_adjusted : float or None
        How probable such counts, or larger ones, are at most if the promise holds on random splits
        of these data; and adjusted for the number of systems (Holm). See docs/guides/comparing.md.
    verdict : str
        "exceeded" if the adjusted one is at most 5%, else "in line"; "no promise"; or "unknown",
        where rows come in groups or there is no result.
    other, abstained : float
        Mean error of the other class, and mean share without a decision.
    fit_seconds, seconds_per_1000 : float
        Median time to learn, and to judge 1,000 objects.
    training_rows : float
        Median number of rows that trained what scores.
    note : str
        Refusals and warnings.
    metrics : tuple of (str, float)
        Means of the user's own metrics, over the repeats in which they have a value.
    """

    system: str
    family: str
    promise: str
    assumption: str
    repeats: int
    refused: int
    target: float
    target_low: float
    target_high: float
    above: float
    clearly_above: float
    above_allowed: float | None
    p_value: float | None
    p_adjusted: float | None
    verdict: str
    other: float
    abstained: float
    fit_seconds: float
    seconds_per_1000: float
    training_rows: float
    note: str
    metrics: tuple[tuple[str, float], ...] = ()


def summarise(
    trials: Sequence[Trial],
    *,
    system: str,
    family: str,
    guarantee: Guarantee | None,
    alpha: float,
    **how: Any,  # noqa: ANN401 - of `Promise`
) -> Summary:
    """Return the row of one system; its p-value is not adjusted for others yet."""
    promise = Promise("none" if guarantee is None else guarantee.kind, alpha, **how)
    done = [trial for trial in trials if trial.refusal is None]
    nothing = float("nan")
    errors = np.array([trial.target_errors for trial in done], dtype=np.int64)
    n = np.array([trial.target_n for trial in done], dtype=np.int64)
    rates = errors / n
    low, high = _interval(errors, n) if done else (nothing, nothing)
    # A two-sided interval of 90% has a one-sided limit of 95%.
    clearly = clopper_pearson(errors, n, 0.9)[0] > alpha

    def mean(values: list[float]) -> float:
        return float(np.mean(values)) if values else nothing

    def middle(values: list[float]) -> float:
        return median(values) if values else nothing

    return Summary(
        system=system,
        family=family,
        promise=promise.kind,
        assumption="" if guarantee is None else guarantee.assumption,
        repeats=len(done),
        refused=len(trials) - len(done),
        target=mean(rates.tolist()),
        target_low=low,
        target_high=high,
        above=mean((rates > alpha).tolist()),
        clearly_above=mean(clearly.tolist()),
        above_allowed=promise.allowed(done),
        p_value=promise.p_value(done),
        p_adjusted=None,
        verdict="",
        other=mean([trial.other.rate for trial in done]),
        abstained=mean([trial.abstained / (trial.target_n + trial.other_n) for trial in done]),
        fit_seconds=middle([trial.fit_seconds for trial in done]),
        seconds_per_1000=middle(
            [1000 * trial.judge_seconds / (trial.target_n + trial.other_n) for trial in done]
        ),
        training_rows=middle([float(trial.training_rows) for trial in done]),
        note=_note(trials),
        metrics=_means(done),
    )


def _means(done: Sequence[Trial]) -> tuple[tuple[str, float], ...]:
    names = [name for name, _ in done[0].metrics] if done else []
    values = {name: [dict(trial.metrics)[name] for trial in done] for name in names}
    known = {name: [v for v in found if v is not None] for name, found in values.items()}
    return tuple((name, float(np.mean(v)) if v else float("nan")) for name, v in known.items())


def _interval(errors: np.ndarray, n: np.ndarray) -> tuple[float, float]:
    """Return the interval of the mean rate over splits.

    Student's interval over the repeats, but never narrower than the exact one of all counts
    taken together: when every repeat shows no error, the first would be a point. After a single
    repeat only the second is there.
    """
    low, high = (float(limit) for limit in clopper_pearson(errors.sum(), n.sum()))
    rates = errors / n
    if rates.size > 1:
        from scipy.special import stdtrit

        half = stdtrit(rates.size - 1, 0.975) * rates.std(ddof=1) / np.sqrt(rates.size)
        low, high = min(low, rates.mean() - half), max(high, rates.mean() + half)
    return max(float(low), 0.0), min(float(high), 1.0)


def _note(trials: Sequence[Trial]) -> str:
    """Say why it refused, and what it warned of; the most frequent reason stands for all."""
    parts = []
    for word, reasons in (
        ("refused", [trial.refusal for trial in trials]),
        ("warned", [trial.warning for trial in trials]),
    ):
        given = [reason for reason in reasons if reason is not None]
        if given:
            often = "" if len(given) == len(trials) else f" in {len(given)} of {len(trials)}"
            parts.append(f"{word}{often}: {Counter(given).most_common(1)[0][0]}")
    return "; ".join(parts)
