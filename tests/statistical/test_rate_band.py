"""The bands of `RateAgainstAlphaDisplay`, simulated without drift and with it.

Bounds come from the binomial distribution: a correct build passes with probability above 1 - 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk
from ratekeeper.plots import RateAgainstAlphaDisplay

RARE = 1e-7
# Calibration scores, new objects, decimals of the scores, and alphas (None for the default ones).
CASES = {
    "small": (30, 100, 12, np.arange(1, 100) / 100),
    "large": (600, 400, 12, None),
    "many new": (200, 3000, 12, None),
    "tied": (300, 300, 1, None),
    "very tied": (300, 300, 0, None),
}


def share_outside(case, band, runs, *, shift=0.0, method=rk.Conformal()):  # noqa: B008 - frozen
    """Return in how many runs the counted rate is outside the band at one alpha or more."""
    n, m, decimals, alphas = CASES[case]
    rng = np.random.default_rng([n, m])
    found = 0
    for _ in range(runs):
        # Only the positives count; a few negatives are needed for a calibration.
        scores = rng.normal(size=n + m).round(decimals)
        cal = rk.calibrate(np.r_[np.arange(-9.0, -4), scores[:n]], np.repeat([0, 1], [5, n]))
        display = RateAgainstAlphaDisplay.from_calibration(
            cal,
            control="fnr",
            method=method,
            scores=scores[n:] - shift,
            labels=np.ones(m, dtype=int),
            alphas=alphas,
            band=band,
            draw=False,
        )
        found += bool(display.above.any())
    return found, display.false_alarm


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("case", "method"),
    [*((case, rk.Conformal()) for case in CASES), ("large", rk.HighProbability(0.1))],
)
def test_without_drift_the_simultaneous_band_is_rarely_left(case, method):
    """At all alphas together the counted rate is outside in at most 5% of cases."""
    runs = 400
    found, promised = share_outside(case, "simultaneous", runs, method=method)
    assert promised == pytest.approx(0.05)
    assert found <= stats.binom.isf(RARE, runs, 0.05)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("case", ["small", "large", "many new"])
def test_without_drift_the_pointwise_band_is_often_left(case):
    """A band that holds at each alpha alone is passed somewhere in more than 10% of cases."""
    runs = 400
    found, estimate = share_outside(case, "pointwise", runs)
    assert estimate > 0.1
    # As often as the display says, whose own estimate is of 10,000 runs.
    low, high = estimate - 0.03, estimate + 0.03
    assert stats.binom.ppf(RARE, runs, low) <= found <= stats.binom.isf(RARE, runs, high)


@pytest.mark.parametrize("case", ["large", "tied"])
def test_with_drift_the_simultaneous_band_is_left(case):
    """Positives whose scores have fallen by half a standard deviation are noticed."""
    found, _ = share_outside(case, "simultaneous", 60, shift=0.5)
    assert found > 30
