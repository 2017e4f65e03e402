"""With the planned number of labels, what was planned happens as often as planned."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

import ratekeeper as rk

UNLUCKY = 1e-7  # of each bound


def least(n, probability):
    """Return the count that is missed with probability UNLUCKY if it happens as often as said."""
    return stats.binom.ppf(UNLUCKY, n, probability)


def two_values(rng, n, share, right):
    """Score 1 for a share of objects of which `right` are positive, else 0."""
    flagged = rng.random(n) < share
    return flagged.astype(float), rng.random(n) < np.where(flagged, right, 0.05)


def ranked(rng, n, share, right):
    """Score objects so that the best are the surest, and `right` of this share is positive."""
    place = rng.random(n)
    return -place, rng.random(n) < np.clip(1 - 2 * (1 - right) * place / share, 0, 1)


PROMISES = {
    "precision": (rk.Calibration.control_precision, 0.8, 0.92, 0.2),
    "npv": (rk.Calibration.control_npv, 0.9, 0.97, 0.5),
    "wrong": (rk.Calibration.control_selective, 0.1, 0.05, 0.3),
}


@pytest.mark.thorough_rows
@pytest.mark.parametrize("draw", [two_values, ranked])
@pytest.mark.parametrize("control", PROMISES)
def test_planned_labels_certify(control, draw):
    """With the planned objects a promise is certified with the planned power."""
    make, level, expected, share = PROMISES[control]
    n = rk.plan(control, level, expected=expected, share=share, power=0.8).n
    rng, certified, repeats = np.random.default_rng(0), 0, 500
    for _ in range(repeats):
        if control == "wrong" and draw is two_values:
            # Half of those decided on either side, and the rest undecidable in between.
            side = rng.choice([-1.0, 0.0, 1.0], n, p=[share / 2, 1 - share, share / 2])
            scores = side
            labels = rng.random(n) < np.select([side < 0, side > 0], [expected, 1 - expected], 0.5)
        elif control == "wrong":
            side = rng.choice([-1.0, 1.0], n)
            scores, right = draw(rng, n, share, 1 - expected)
            scores = side * (2 + scores)
            labels = np.where(side > 0, right, ~right)
        else:
            scores, labels = draw(rng, n, share, expected)
        if control == "npv":
            scores, labels = -scores, ~labels
        try:
            make(rk.calibrate(scores, labels), level)
        except rk.exceptions.UnattainableError:
            continue
        certified += 1
    assert certified >= least(repeats, 0.8)


def test_planned_labels_find_a_group():
    """With the planned labels an audit calls a worse group "above", and hardly more often."""
    found = rk.planning.plan_audit("fnr", 0.05, worse=0.12, groups=4, power=0.8)
    n, groups = found.n_per_group, np.repeat(["a", "b", "c", "d"], found.n_per_group)
    grid = np.linspace(0, 1, 2001)
    test = rk.calibrate(np.r_[grid, grid], np.repeat([0, 1], grid.size)).control("fnr", 0.05)
    rng, above, repeats = np.random.default_rng(0), 0, 300
    for _ in range(repeats):
        missed = rng.random(groups.size) < np.where(groups == "c", 0.12, 0.03)
        place = rng.random(groups.size)
        scores = np.where(missed, place * test.threshold, test.threshold + place * 0.9)
        rows = test.evaluate(scores, np.ones(groups.size, int), by={"site": groups}).by_group.rows
        above += rows[2].verdicts["fnr"] == "above"
    assert above >= least(repeats, 0.8)
    # The power of the very test, with Bonferroni's level: Holm's gains nothing from the others.
    x = int(stats.binom.isf(0.05 / 4, n, 0.05)) + 1
    power = stats.binom.sf(x - 1, n, 0.12)
    assert above <= stats.binom.isf(UNLUCKY, repeats, power)


def test_intervals_of_planned_prices_cover():
    """The true price at the threshold of the limit and of the plan lies in the interval."""
    rng, repeats = np.random.default_rng(0), 400
    labels, covered, seen, planned = np.repeat([0, 1], [150, 300]), 0, 0, 0
    for _ in range(repeats):
        cal = rk.calibrate(rng.normal(2 * labels), labels)
        found = cal.labels_for_price("fnr", 0.1, price=0.3)
        true = 1 - ndtr(2 + ndtri(0.1))  # at the 10% quantile of the positives
        covered += found.limit.low <= true <= found.limit.high
        # And at another one.
        fixed = cal.labels_for_price("fnr", 0.08, price=0.9).limit
        seen += fixed.low <= 1 - ndtr(2 + ndtri(0.08)) <= fixed.high
        planned += found.n_needed is not None
    assert covered >= least(repeats, 0.95)
    assert seen >= least(repeats, 0.95)
    assert 0 < planned < repeats


def test_planned_labels_have_the_price():
    """With as many labels as a calibration says, new tests have the wanted price on average."""
    rng = np.random.default_rng(0)
    # Positives that stand exactly at the quantiles of their population, so that the plan is right.
    positive = 2 + ndtri((np.arange(150) + 1) / 151)
    labels = np.repeat([0, 1], [20_000, 150])
    cal = rk.calibrate(np.r_[rng.normal(size=20_000), positive], labels)
    found = cal.labels_for_price("fnr", 0.05, price=0.45)
    assert found.n_more > 0
    prices = []
    for _ in range(300):
        scores = rng.normal(2, 1, found.n_needed)
        test = rk.calibrate(scores, one_class="positive").control("fnr", 0.05)
        prices.append(1 - ndtr(test.threshold))
    assert np.mean(prices) == pytest.approx(found.then.rate, abs=0.03)
    assert np.mean(prices) < found.now.rate - 0.03
