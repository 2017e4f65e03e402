"""The published power of the neural tests of normality, so that a spoilt network fails.

Both tests judge the same samples at 5%, each with Monte Carlo critical values. The bounds lie five
standard errors of the paired difference below what the study in `reproduction/` found.
"""

from __future__ import annotations

import numpy as np
import pytest

from ratekeeper.normality import CLASSICAL, normality_test
from ratekeeper.normality.training import NEARLY_NORMAL, draw_group

LEVEL, ROWS = 0.05, 10_000
GROUPS, SIZES = ("G1", "G2", "G3", "G4"), (10, 20, 50, 100)


def _lead(samples, alternative):
    """Return the power less that of Shapiro-Wilk, and its standard error."""
    ours = normality_test(samples, axis=1, alternative=alternative).pvalue <= LEVEL
    difference = ours.astype(float) - (CLASSICAL["sw"].p_values(samples) <= LEVEL)
    return difference.mean(), difference.std() / np.sqrt(len(samples))


def test_omnibus_power_on_the_groups():
    """On average 1.9 points above Shapiro-Wilk, in no cell more than one point below."""
    rng = np.random.default_rng(1)
    found = [_lead(draw_group(rng, g, ROWS, n), "omnibus") for g in GROUPS for n in SIZES]
    leads, errors = np.array(found).T
    assert leads.mean() > 0.019 - 5 * np.sqrt((errors**2).sum()) / len(leads)
    assert (leads > -0.01 - 5 * errors).all()


@pytest.mark.parametrize(
    ("alternative", "group", "n", "aim"),
    [("heavy", "G1", 50, 0.08), ("skewed", "G2", 50, 0.04), ("light", "G4", 20, 0.14)],
)
def test_directed_power_on_its_own_kind(alternative, group, n, aim):
    """A declared direction finds its own kind clearly more often than Shapiro-Wilk."""
    lead, error = _lead(draw_group(np.random.default_rng(2), group, ROWS, n), alternative)
    assert lead > aim - 5 * error


@pytest.mark.parametrize("name", NEARLY_NORMAL)
def test_power_near_the_normal_at_large_n(name):
    """At n = 1,000 the omnibus test is not clearly below Shapiro-Wilk."""
    samples = NEARLY_NORMAL[name](np.random.default_rng(3), 2_000, 1_000)
    lead, error = _lead(samples, "omnibus")
    assert lead > -0.02 - 5 * error
