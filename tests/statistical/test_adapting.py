"""What an adaptive test does on real and simulated streams, against the truth.

Bounds come from the binomial distribution: a correct build passes with probability above 1 - 1e-6.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk
from ratekeeper.datasets import load_employment

ALPHA = 0.05
RARE = 1e-8


def through_the_years(groups):
    """Return the adaptive test of the census after each year, people in random order by 100."""
    people, rng = load_employment(), np.random.default_rng(0)
    before = people.in_year(2015)
    cal = rk.calibrate(before.score, before.employed, groups=before.disability if groups else None)
    adaptive = rk.AdaptiveTest(cal.control("fnr", ALPHA))
    counts = [(adaptive.n, adaptive.errors)]
    for year in (2016, 2017, 2018):
        now = people.in_year(year)
        order = rng.permutation(now.score.size)
        for start in range(0, order.size, 100):
            rows = order[start : start + 100]
            ids = [f"{year}-{row}" for row in rows.tolist()]
            adaptive.decide(now.score[rows], ids, now.disability[rows] if groups else None)
            adaptive.learn(ids, now.employed[rows])
            caps, errors = adaptive.cap(), adaptive.errors
            if groups:
                assert all(errors[name] < cap for name, cap in caps.items())
            else:
                assert errors < caps
        counts.append((adaptive.n, adaptive.errors))
    return counts


def test_the_census_keeps_5_percent_every_year():
    """From 2016 to 2018 the FNR of each year is 5.0% +- 0.2%, and the cap is never touched."""
    counts = through_the_years(groups=False)
    for (n0, errors0), (n1, errors1) in itertools.pairwise(counts):
        assert (errors1 - errors0) / (n1 - n0) == pytest.approx(ALPHA, abs=0.002)


def test_the_census_keeps_5_percent_in_groups():
    """With a level for each group both keep 5.0% +- 0.2% over the years, and never touch a cap.

    The 33,000 employed without a disability do so in each year; of the 1,800 with one, 0.2% are
    fewer than four.
    """
    counts = through_the_years(groups=True)
    for group, within in ((False, 0.002), (True, 0.005)):
        rates = [
            (errors1[group] - errors0[group]) / (n1[group] - n0[group])
            for (n0, errors0), (n1, errors1) in itertools.pairwise(counts)
        ]
        assert rates == pytest.approx([ALPHA] * 3, abs=within)
        assert counts[-1][1][group] / counts[-1][0][group] == pytest.approx(ALPHA, abs=0.002)


def test_an_audit_keeps_the_cap_on_average():
    """All errors together, seen or not, stay under the cap on average, whoever chooses the scores.

    The adversary gives every positive a score that is called negative whenever that is possible.
    """
    rate, n, runs = 0.2, 100, 100
    scores = np.linspace(0, 1, 101)
    cal = rk.calibrate(np.r_[scores, scores + 0.5], np.repeat([0, 1], scores.size))
    test = cal.control("fnr", ALPHA, method=rk.methods.Empirical())
    excess, audited, missed = [], 0, 0
    for seed in range(runs):
        adaptive = rk.AdaptiveTest(test, step=0.01, labels=rk.Audit(rate, random_state=seed))
        errors = 0
        for i in range(n):
            errors += not adaptive.decide([0.0], [i]).positive[0]
            adaptive.learn([i], [1])
        assert adaptive.estimated_errors <= adaptive.cap()
        excess.append(errors - ALPHA * n)
        audited, missed = audited + adaptive.errors, missed + errors
    promised = ALPHA / 0.01 + (1 - ALPHA) / rate
    spread = stats.norm.isf(RARE) * np.std(excess) / runs**0.5
    assert np.mean(excess) <= promised + spread
    assert np.mean(excess) >= promised / 4  # so that the promise is not far from what happens
    low, high = stats.binom.ppf([RARE, 1 - RARE], missed, rate)
    assert low <= audited <= high


def test_a_stable_population_is_kept_at_alpha_from_both_sides():
    """Errors are also not far fewer than alpha: the level has nowhere to stay but near it."""
    rng = np.random.default_rng(5)
    labels = np.repeat([0, 1], 500)
    test = rk.calibrate(rng.normal(2 * labels), labels).control("fnr", ALPHA)
    adaptive = rk.AdaptiveTest(test)
    for day in range(300):
        ids = [f"{day}-{i}" for i in range(20)]
        truth = rng.integers(0, 2, 20)
        adaptive.decide(rng.normal(2 * truth), ids)
        adaptive.learn(ids, truth)
    # errors = alpha n + (start - level) / step, and the level lies between 0 and 0.15 or so
    assert adaptive.errors == pytest.approx(ALPHA * adaptive.n, abs=25)
