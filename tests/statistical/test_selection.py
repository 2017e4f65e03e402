"""The false-discovery rate of selections, simulated so that a test fails if it is not kept.

A share of negatives is turned into a draw: a run counts with the probability of its share, so that
counts are binomial with the FDR itself as their rate. Bounds hold with probability above 1 - 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk

RARE = 1e-8
RUNS = 2500
CLASSES = np.array([0, 1])
SHAPES = {
    "continuous": lambda x: x,
    "tied": lambda x: x.round(1),
    "very tied": lambda x: x.clip(-1, 3).round(),
}
GONE = (np.array([9.0]),)  # positives play no part


def at_most(count, runs, rate):
    return count <= stats.binom.isf(RARE, runs, rate)


def share_of_negatives(selected, negatives):
    """Return the share of negatives, which stand first, among the selected; 0 of none."""
    return selected[:negatives].sum() / max(1, selected.sum())


def drawn(method, n, negatives, positives, fdr, shape, seed, choose=None):
    """Count runs by their share of negatives among the selected, a new calibration set for each."""
    rng = np.random.default_rng(seed)
    means = np.repeat([0.0, 2.5], [negatives, positives])
    count = 0
    for _ in range(RUNS):
        null = np.sort(SHAPES[shape](rng.normal(size=n)))
        batch = SHAPES[shape](rng.normal(means))
        if choose is None:
            cal = rk.Calibration(((null,), GONE), CLASSES, None, higher_is_positive=True)
            selected = cal.select(batch, fdr, method=method(rng)).selected
        else:
            selected = choose(method(rng).against(null, "high").p_values(batch), fdr)
        count += rng.random() < share_of_negatives(selected, negatives)
    return count


def conformal(_):
    return rk.Conformal()


@pytest.mark.thorough_rows
@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ScoreRangeWarning")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "positives"), [(50, 10), (50, 0), (30, 60)])
def test_conformal_keeps_the_fdr_on_average(n, positives, shape):
    """With few calibration scores for 100 objects, the FDR is at most q times the negatives."""
    count = drawn(conformal, n, 100 - positives, positives, 0.2, shape, seed=n + positives)
    assert at_most(count, RUNS, 0.2 * (100 - positives) / 100)


@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ScoreRangeWarning")
def test_the_bound_is_met_where_levels_fit():
    """If q (n + 1) / m is whole and nothing is tied, the FDR is q times the negatives exactly."""
    count = drawn(conformal, 499, 80, 20, 0.2, "continuous", seed=1)
    low, high = stats.binom.ppf(RARE, RUNS, 0.16), stats.binom.isf(RARE, RUNS, 0.16)
    assert low <= count <= high


@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ScoreRangeWarning")
@pytest.mark.parametrize("shape", ["continuous", "very tied"])
def test_smoothed_keeps_the_fdr_on_average(shape):
    """The same with ties broken at random, where p-values use all of their level."""
    count = drawn(rk.methods.Smoothed, 50, 90, 10, 0.2, shape, seed=2)
    assert at_most(count, RUNS, 0.18)


def test_the_simulation_would_catch_what_is_refused():
    """Plain shares m/n, and p-values that are compared with q one by one, break the same bound."""
    empirical = drawn(
        lambda _: rk.methods.Empirical(),
        50,
        90,
        10,
        0.2,
        "continuous",
        3,
        lambda p, q: stats.false_discovery_control(p) <= q,
    )
    assert not at_most(empirical, RUNS, 0.18)
    one_by_one = drawn(conformal, 50, 90, 10, 0.2, "continuous", 3, lambda p, q: p <= q)
    assert not at_most(one_by_one, RUNS, 0.18)


@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ScoreRangeWarning")
def test_groups_share_one_fdr():
    """Groups of unlike scores and sizes, each judged by its own negatives, keep one FDR."""
    rng = np.random.default_rng(4)
    names = np.array(["large", "small"])
    groups = np.repeat(names[[0, 1, 0, 1]], [60, 20, 10, 10])  # 80 negatives, 20 positives
    means = np.repeat([0.0, 7.0, 2.5, 9.0], [60, 20, 10, 10])
    count = 0
    for _ in range(RUNS):
        nulls = np.sort(rng.normal(size=60)), np.sort(rng.normal(7, size=25))
        cal = rk.Calibration((nulls, GONE * 2), CLASSES, names, higher_is_positive=True)
        found = cal.select(rng.normal(means), 0.2, groups=groups)
        count += rng.random() < share_of_negatives(found.selected, 80)
    assert at_most(count, RUNS, 0.16)


def broken_sets(method, *, sets=300, batches=1200, m=20, n=499, fdr=0.2):
    """Count calibration sets whose own FDR, over many batches of negatives, is above q.

    All objects are negative, so the FDR of a set is how often it selects anything. A set with an
    FDR of at most q is counted with probability 1e-8.
    """
    rng = np.random.default_rng(5)
    most = stats.binom.isf(RARE, batches, fdr)
    levels = fdr * np.arange(1, m + 1) / m
    broken = 0
    for _ in range(sets):
        null = np.sort(rng.random(n))
        p = method.against(null, "high").p_values(rng.random(batches * m)).reshape(batches, m)
        p.sort(axis=1)
        broken += np.count_nonzero((p <= levels).any(axis=1)) > most
    return broken


def test_simultaneous_keeps_the_fdr_of_this_very_set():
    """But for chance delta a calibration set keeps the FDR over batches; `Conformal` ones do not.

    That sorted p-values meet their levels is that something is selected, as another test says.
    """
    assert at_most(broken_sets(rk.Simultaneous(0.02)), 300, 0.02)
    assert not at_most(broken_sets(rk.Conformal()), 300, 0.02)


def bands_that_fail(method, groups, *, n=80, runs=3000):
    """Count runs in which some group has a level at which negatives are rejected too often."""
    rng = np.random.default_rng(6)
    limits = method.p_of_count(np.arange(n), n)
    beyond = 1.0 - np.sort(rng.random((runs, groups, n)))[..., ::-1]  # of the k-th highest score
    return np.count_nonzero((beyond > limits).any(axis=(1, 2)))


def test_bands_of_all_groups_hold_together():
    """Delta is shared among the groups; bands that each may fail by delta would fail too often."""
    method, groups = rk.Simultaneous(0.2), 4
    names = np.arange(groups)
    nulls = tuple(np.linspace(0, 1, 80) for _ in names)
    cal = rk.Calibration((nulls, GONE * groups), CLASSES, names, higher_is_positive=True)
    found = cal.select([0.5], budget=1, groups=[2], method=method)
    own = rk.Simultaneous(0.2 / groups)
    assert found.p_values[0] == own.against(nulls[2], "high").p_values(np.array([0.5]))[0]
    assert "at most 0.2 over calibration sets" in found.guarantee.promise
    assert at_most(bands_that_fail(own, groups), 3000, 0.2)
    assert not at_most(bands_that_fail(method, groups), 3000, 0.2)


@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ScoreRangeWarning")
def test_the_alpha_of_the_best_holds_after_looking():
    """With `Simultaneous` no budget has an alpha below the true rate; with `Conformal` some do."""
    rng = np.random.default_rng(7)
    runs, wrong = 400, {rk.Simultaneous(0.1): 0, rk.Conformal(): 0}
    for _ in range(runs):
        null, batch = np.sort(rng.random(100)), rng.random(300)
        cal = rk.Calibration(((null,), GONE), CLASSES, None, higher_is_positive=True)
        for method in wrong:
            failed = False
            for budget in (3, 10, 30, 100):
                alpha = cal.select(batch, budget=budget, method=method).alpha
                limit = method.against(null, "high").threshold(alpha) if alpha < 1 else 0.0
                failed |= 1 - limit > alpha
            wrong[method] += failed
    assert at_most(wrong[rk.Simultaneous(0.1)], runs, 0.1)
    assert not at_most(wrong[rk.Conformal()], runs, 0.1)
