"""Verdicts: what a promise allows, and p-values that are valid, against other ways to them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.naive_bayes import GaussianNB

import ratekeeper as rk
from ratekeeper.comparison._summary import summarise
from ratekeeper.comparison._trial import Trial
from ratekeeper.comparison._verdict import (
    Promise,
    count_tail,
    judged,
    least_above,
    least_clearly_above,
    mean_p_value,
)


def trials(errors, n=100, rank=None, scores=None):
    return [
        Trial("a", "", i, target_errors=int(e), target_n=n, other_n=1, null_scores=scores)
        if rank is None
        else Trial(
            *("a", "", i),
            target_errors=int(e),
            target_n=n,
            other_n=1,
            null_scores=scores,
            threshold_rank=rank,
        )
        for i, e in enumerate(errors)
    ]


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.07, 0.1, 1 / 3])
def test_least_counts(alpha):
    """The least counts above, and clearly above, are those that counting finds."""
    sizes = np.array([1, 2, 3, 7, 10, 29, 30, 100, 299, 300, 1000])
    for n, least, clearly in zip(
        sizes, least_above(sizes, alpha), least_clearly_above(sizes, alpha), strict=True
    ):
        counts = np.arange(n + 1)
        shown = np.flatnonzero(counts / n > alpha)
        assert least == (shown[0] if shown.size else n + 1)
        # The exact lower limit of 95% for each count; none is above 0 without an error.
        limits = np.nan_to_num(stats.beta.ppf(0.05, counts, n - counts + 1))
        shown = np.flatnonzero(limits > alpha)
        assert clearly == (shown[0] if shown.size else n + 1)


def test_the_law_of_a_rank_is_the_share_above_by_simulation():
    """With any scores, a random split of them is above as often as the beta-binomial tail says."""
    rng = np.random.default_rng(0)
    n, tests, k, alpha, draws = 40, 30, 3, 0.1, 4000
    pool = np.sort(rng.standard_cauchy(n + tests))
    above = 0
    for _ in range(draws):
        mixed = rng.permutation(pool)
        threshold = np.sort(mixed[:n])[k - 1]  # the k-th smallest; smaller ones are errors
        above += np.mean(mixed[n:] < threshold) > alpha
    expected = Promise("marginal", alpha).allowed(trials([0], tests, k, n))
    assert expected == pytest.approx(stats.betabinom(tests, k, n + 1 - k).sf(3))
    law = stats.binom(draws, expected)
    assert law.ppf(5e-7) <= above <= law.ppf(1 - 5e-7)


def test_what_other_promises_allow():
    """High probability: delta, and chance at alpha. Marginal: what Markov's inequality leaves."""
    many = trials([0, 0], n=60)
    allowed = Promise("high probability", 0.1, delta=0.2).allowed(many)
    assert allowed == pytest.approx(0.2 + 0.8 * stats.binom(60, 0.1).sf(6))
    assert Promise("simultaneous", 0.1, delta=0.2).allowed(many) == allowed
    assert Promise("marginal", 0.1).allowed(many) == pytest.approx(6 / 7)
    assert Promise("none", 0.1).allowed(many) is None
    assert Promise("marginal", 0.1, grouped=True).allowed(many) is None
    # Simulated: a system at the worst that the promise allows is above just so often.
    rng = np.random.default_rng(1)
    rates = np.where(rng.random(20_000) < 0.2, 1.0, 0.1)
    above = np.count_nonzero(rng.binomial(60, rates) / 60 > 0.1)
    law = stats.binom(20_000, allowed)
    assert law.ppf(5e-7) <= above <= law.ppf(1 - 5e-7)


def test_count_tails():
    """Equal chances are binomial, others as SciPy's Poisson binomial and brute force have them."""
    assert count_tail(4, [0.3] * 9) == pytest.approx(stats.binom(9, 0.3).sf(3))
    chances = [0.1, 0.5, 0.9, 0.2]
    brute = sum(
        math.prod(p if i >> j & 1 else 1 - p for j, p in enumerate(chances))
        for i in range(16)
        if i.bit_count() >= 3
    )
    assert count_tail(3, chances) == pytest.approx(brute)
    assert count_tail(5, chances) == 0


def test_p_values():
    """They are those of the counts that the promise is about."""
    ranked = trials([20, 20, 0], 100, rank=10, scores=99)
    chance = stats.betabinom(100, 10, 90).sf(10)
    expected = stats.binom(3, chance).sf(1)
    assert Promise("marginal", 0.1).p_value(ranked) == pytest.approx(expected)
    dependent = Promise("marginal", 0.1, independent=False)
    assert dependent.p_value(ranked) == pytest.approx(min(3 * chance / 2, 1))
    clearly = trials([30, 30, 30, 0], 100)
    tail = stats.binom(100, 0.1).sf(15)
    assert tail <= 0.05 < stats.binom(100, 0.1).sf(14)
    certain = Promise("high probability", 0.1, delta=0.01)
    chance = 0.01 + 0.99 * tail
    assert certain.p_value(clearly) == pytest.approx(stats.binom(4, chance).sf(2))
    assert dependent.p_value(clearly) == pytest.approx(0.1 / 0.225)
    assert dependent.p_value(trials([0], 100)) == 1
    for kind in ("none", "asymptotic"):
        assert Promise(kind, 0.1).p_value(clearly) is None
    assert Promise("marginal", 0.1, grouped=True).p_value(clearly) is None


@pytest.mark.parametrize("kind", ["all or nothing", "rare", "just", "scattered"])
def test_the_test_of_a_mean_is_valid(kind):
    """Whatever the distribution with mean alpha, p is at most 5% in 5% of cases at most."""
    rng = np.random.default_rng(2)
    alpha, splits, runs = 0.1, 12, 4000
    shape = (runs, splits)
    rates = {
        "all or nothing": lambda: (rng.random(shape) < alpha) * 1.0,
        "rare": lambda: (rng.random(shape) < 0.5) * 2 * alpha,
        "just": lambda: np.where(rng.random(shape) < 0.02, 0.0, alpha / 0.98),
        "scattered": lambda: rng.binomial(50, rng.beta(10, 90, shape)) / 50,
    }[kind]()
    small = sum(mean_p_value(row, alpha) <= 0.05 for row in rates)
    assert small <= stats.binom(runs, 0.05).ppf(1 - 1e-6)
    assert mean_p_value([0.2] * splits, alpha) < 0.05  # and it sees twice the rate
    assert mean_p_value([0.3, 0.2], alpha) == pytest.approx(mean_p_value([0.2, 0.3], alpha))


def test_the_most_frequent_reason_is_told():
    """Of several refusals the note tells the one that came most often."""
    reasons = ["odd", "needs 9, has 8", "needs 9, has 8", None]
    found = [Trial("a", "", i, reason, None, 0, 9, 0, 9) for i, reason in enumerate(reasons)]
    row = summarise(found, system="a", family="f", guarantee=None, alpha=0.05)
    assert row.note == "refused in 3 of 4: needs 9, has 8"


def test_summary_of_known_counts():
    """Means, shares and times are those of the trials; the interval holds the mean."""
    found = [
        Trial("a", "", i, None, None, errors, 100, 30, 60, 16, 50, None, 0.5, 0.32)
        for i, errors in enumerate([5, 6, 20])
    ]
    row = summarise(found, system="a", family="f", guarantee=None, alpha=0.05)
    assert row.target == pytest.approx(31 / 300)
    assert row.target_low < row.target < row.target_high
    assert (row.above, row.clearly_above) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert row.other == 0.5
    assert row.abstained == pytest.approx(0.1)
    assert (row.fit_seconds, row.training_rows) == (0.5, 50)
    assert row.seconds_per_1000 == pytest.approx(2.0)
    nothing = [replace(trial, target_errors=0) for trial in found]
    row = summarise(nothing, system="a", family="f", guarantee=None, alpha=0.05)
    assert row.target_low == 0 < row.target_high  # no error in 300 is not the rate 0


def row(errors, kind, **options):
    guarantee = None if kind is None else rk.methods.Guarantee(kind, "", "", "")
    found = trials(errors, **options)
    return summarise(found, system="a", family="f", guarantee=guarantee, alpha=0.1)


def test_holm_over_systems_by_hand():
    """Adjusted p-values are Holm's over systems that promise; verdicts follow them."""
    rows = [row([13] * 9, "marginal"), row([40] * 5, "marginal"), row([50] * 5, None)]
    rows.append(row([0] * 5, "high probability"))
    small, middle, large = sorted(r.p_value for r in rows if r.promise != "none")
    by_hand = {small: 3 * small, middle: max(3 * small, 2 * middle)}
    by_hand[large] = max(by_hand[middle], large)
    found = judged(rows)
    for before, after in zip(rows, found, strict=True):
        if before.promise == "none":
            assert after.p_adjusted is None
        else:
            assert after.p_adjusted == pytest.approx(min(by_hand[before.p_value], 1))
    assert [r.verdict for r in found] == ["in line", "exceeded", "no promise", "in line"]


def test_verdicts_of_a_comparison():
    """Ours are in line; a system that promises what it does not keep is exceeded."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [150, 400])
    X = rng.standard_t(3, size=(550, 2)) + y[:, None]

    class Boasting(GaussianNB):
        guarantee = "high probability"
        delta = 0.1

    systems = {"boasting": Boasting(), "conformal": "conformal", "plain": "plain"}
    systems |= {"high": "high-probability"}
    asked = {"control": "fnr", "alpha": 0.02, "n_jobs": 1, "repeats": 12}
    result = rk.compare(X, y, **asked, systems=systems)
    boasting, conformal, plain, high = result.rows
    assert (boasting.verdict, conformal.verdict, plain.verdict) == (
        "exceeded",
        "in line",
        "no promise",
    )
    n = result.trials[0].target_n
    assert boasting.above_allowed == pytest.approx(
        0.1 + 0.9 * stats.binom(n, 0.02).sf(int(0.02 * n))
    )
    rank = next(t.threshold_rank for t in result.trials if t.system == "conformal")
    assert rank == int(0.02 * 141)  # of 140 held-out scores
    assert high.repeats == 0
    assert high.verdict == "unknown"
    assert f"{boasting.p_adjusted:.3f}"[1:] in repr(result)
    grouped = rk.compare(X, y, **asked, systems=systems, groups=np.arange(550) // 2)
    assert {r.verdict for r in grouped.rows} == {"unknown", "no promise"}
