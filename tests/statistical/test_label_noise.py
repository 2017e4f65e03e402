"""Error rates from calibration labels of which some are wrong, simulated against the truth.

Bounds come from the binomial distribution: a correct build passes with probability above 1 - 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk

RARE = 1e-8
ALPHA, DELTA = 0.05, 0.05
APART = 2.5  # standard deviations between the classes


def labelled_scores(rng, n, wrong, decimals=12):
    """Return ascending scores of those labelled negative and positive, of which some are not."""
    found = []
    for truth, size, share in zip((0, 1), n, wrong, strict=True):
        is_wrong = rng.random(size) < share
        found.append(np.sort(rng.normal(APART * (truth ^ is_wrong)).round(decimals)))
    return found


def true_rate(control, threshold, decimals=12):
    """Return the true error rate, where an object at the threshold stays in the null class."""
    half = 0.5 * 10.0**-decimals
    if control == "fnr":
        return stats.norm.cdf(threshold - half - APART)
    return stats.norm.sf(threshold + half)


def price(control, threshold):
    """Return the rate of the other error."""
    return stats.norm.sf(threshold) if control == "fnr" else stats.norm.cdf(threshold - APART)


# Well separated, so that it has a test for every aim.
EASY = rk.calibrate(np.linspace(0, 1, 4000), np.arange(4000) >= 2000)


def despite(control, noise):
    """Return what is to be kept although labels are wrong."""
    return EASY.control_noisy(control, ALPHA, noise, delta=DELTA).aim


def simulated(control, noise, n, wrong, runs, *, higher=True, decimals=12, seed=0):
    """Return the true rate and the price of each of many tests; `noise` may be drawn anew."""
    rng = np.random.default_rng([seed, *n])
    rates, prices = [], []
    aim = None if callable(noise) else despite(control, noise)
    for _ in range(runs):
        kept = aim or despite(control, noise(rng))
        negative, positive = labelled_scores(rng, n, wrong, decimals)
        if not higher:
            negative, positive = -negative[::-1], -positive[::-1]
        chosen = kept.choose(negative, positive, higher=higher)
        threshold = chosen.limits.positive if higher else -chosen.limits.positive
        rates.append(true_rate(control, threshold, decimals))
        prices.append(price(control, threshold))
    return np.array(rates), np.array(prices)


def audit(rng):
    """Return what is known from checking 300 labels of each class, of which 6% and 3% are wrong."""
    return rk.LabelNoise.from_audit(
        positives=(int(rng.binomial(300, 0.06)), 300), negatives=(int(rng.binomial(300, 0.03)), 300)
    )


def exactly(wrong):
    return rk.LabelNoise(wrong_negatives=(wrong[0],) * 2, wrong_positives=(wrong[1],) * 2)


# Control, what is known, numbers labelled negative and positive, shares of wrong ones, and more.
CASES = {
    "many": ("fnr", exactly((0.05, 0.1)), (600, 400), (0.05, 0.1), {}),
    "none wrong": ("fnr", exactly((0.0, 0.0)), (200, 200), (0.0, 0.0), {}),
    "few": ("fnr", exactly((0.01, 0.02)), (400, 300), (0.01, 0.02), {}),
    "many, low is positive": (
        *("fnr", exactly((0.05, 0.1)), (600, 400), (0.05, 0.1)),
        {"higher": False},
    ),
    "many, fpr": ("fpr", exactly((0.1, 0.02)), (400, 600), (0.1, 0.02), {}),
    "fpr, low is positive": (
        *("fpr", exactly((0.05, 0.1)), (300, 200), (0.05, 0.1)),
        {"higher": False},
    ),
    "tied": ("fnr", exactly((0.0, 0.05)), (300, 300), (0.0, 0.05), {"decimals": 0}),
    "within": (
        *("fnr", rk.LabelNoise(wrong_positives=(0.05, 0.2)), (400, 300), (0.3, 0.06)),
        {},
    ),
    "audited": ("fnr", audit, (600, 600), (0.03, 0.06), {}),
}


@pytest.mark.thorough_rows
@pytest.mark.parametrize("case", CASES)
def test_the_true_rate_is_kept(case):
    """But for probability delta, the true rate is at most alpha, however many labels are wrong."""
    control, noise, n, wrong, more = CASES[case]
    runs = 500
    rates, _ = simulated(control, noise, n, wrong, runs, **more)
    assert np.count_nonzero(rates > ALPHA) <= stats.binom.isf(RARE, runs, DELTA)
    assert rates.mean() > 0.15 * ALPHA  # not kept by deciding nothing


def test_known_wrong_labels_are_nearly_as_cheap_as_none():
    """At 10% wrong labels most of the price that plain control pays for them is regained."""
    n, wrong = (2000, 1000), (0.0, 0.1)
    mean = {}
    for name, noise, share in (
        ("clean", exactly((0.0, 0.0)), (0.0, 0.0)),
        ("at most", rk.LabelNoise(wrong_positives=0.1), wrong),
        ("known", exactly(wrong), wrong),
    ):
        mean[name] = simulated("fnr", noise, n, share, 100)[1].mean()
    assert mean["at most"] > 2 * mean["clean"]
    assert mean["known"] < mean["clean"] + 0.25 * (mean["at most"] - mean["clean"])


def test_a_poor_tail_breaks_plain_control_but_not_this_one():
    """If some positives score below all negatives, wrong labels hide them; stated, they cannot."""
    rng = np.random.default_rng(1)
    runs, n, wrong = 200, 4000, 0.3
    broken = {"plain": 0, "stated": 0}
    aims = {
        name: despite("fnr", rk.LabelNoise(wrong_positives=share))
        for name, share in (("plain", 0.0), ("stated", wrong))
    }
    for _ in range(runs):
        positive = np.where(rng.random(n) < 0.1, -9.0, APART) + rng.normal(size=n)
        is_wrong = rng.random(n) < wrong
        positive = np.sort(np.where(is_wrong, rng.normal(size=n), positive))
        negative = np.sort(rng.normal(size=n))
        for name, aim in aims.items():
            found = aim.choose(negative, positive, higher=True)
            t = found.limits.positive
            rate = 0.1 * stats.norm.cdf(t + 9.0) + 0.9 * stats.norm.cdf(t - APART)
            broken[name] += rate > ALPHA
    assert broken["plain"] > 0.9 * runs
    assert broken["stated"] <= stats.binom.isf(RARE, runs, DELTA)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("flips", [(0.03, 0.01), (0.1, 0.02)])
def test_flips_give_ranges_that_hold(flips):
    """The shares of wrong labels lie in the ranges, but for the stated chance."""
    rng = np.random.default_rng(2)
    a, b = flips
    share, n, runs, outside = 0.2, 3000, 400, 0
    q = (1 - a) * share + b * (1 - share)
    truth = b * (1 - share) / q, a * share / (1 - q)
    for _ in range(runs):
        noise = rk.LabelNoise.from_flips(
            positives=(a, a),
            negatives=(b, b),
            labelled_positive=(int(rng.binomial(n, q)), n),
            delta=0.1,
        )
        ranges = noise.wrong_positives, noise.wrong_negatives
        outside += any(not low <= e <= high for e, (low, high) in zip(truth, ranges, strict=True))
    assert outside <= stats.binom.isf(RARE, runs, 0.1)
