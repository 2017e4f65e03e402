"""The stated power of the neural tests: a spoilt network or a sentence that is not true fails.

Both tests judge the same samples at 5%, each with Monte Carlo critical values. The bounds lie five
or six standard errors of the paired difference from what the study in `reproduction/` and the guide
say.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from reproduction.training import NEARLY_NORMAL, draw_group
from scipy import stats

from ratekeeper.normality import CLASSICAL, normality_test

LEVEL, ROWS = 0.05, 10_000
GROUPS, SIZES = ("G1", "G2", "G3", "G4"), (10, 20, 50, 100)


def _lead(samples, alternative):
    """Return the power less that of Shapiro-Wilk, and its standard error."""
    ours = normality_test(samples, axis=1, alternative=alternative).pvalue <= LEVEL
    difference = ours.astype(float) - (CLASSICAL["sw"].p_values(samples) <= LEVEL)
    return difference.mean(), difference.std() / np.sqrt(len(samples))


def test_omnibus_power_on_the_groups():
    """On average 1.3 points above Shapiro-Wilk, in no cell more than one point below."""
    rng = np.random.default_rng(1)
    found = [_lead(draw_group(rng, g, ROWS, n), "omnibus") for g in GROUPS for n in SIZES]
    leads, errors = np.array(found).T
    assert leads.mean() > 0.013 - 5 * np.sqrt((errors**2).sum()) / len(leads)
    assert (leads > -0.01 - 5 * errors).all()


@pytest.mark.parametrize(
    ("alternative", "group", "n", "aim"),
    [("heavy", "G1", 50, 0.08), ("skewed", "G2", 50, 0.04), ("light", "G4", 20, 0.14)],
)
def test_directed_power_on_its_own_kind(alternative, group, n, aim):
    """A declared direction finds its own kind clearly more often than Shapiro-Wilk."""
    lead, error = _lead(draw_group(np.random.default_rng(2), group, ROWS, n), alternative)
    assert lead > aim - 5 * error


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", NEARLY_NORMAL)
def test_power_near_the_normal_at_large_n(name):
    """At n = 1,000 the omnibus test is not clearly below Shapiro-Wilk."""
    samples = NEARLY_NORMAL[name](np.random.default_rng(3), 2_000, 1_000)
    lead, error = _lead(samples, "omnibus")
    assert lead > -0.02 - 5 * error


GUIDE = Path(__file__).parents[2] / "docs" / "understand" / "normality.md"
# Shifted share and distance, n, then power: omnibus, skewed, light, Shapiro-Wilk, and the lead.
MIXTURES = re.findall(
    r"^\| (\d+)% \| ([\d.]+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| (.+) \|$",
    GUIDE.read_text(encoding="utf-8"),
    re.MULTILINE,
)


def _mixture(rng, share, shift, rows, n):
    return rng.standard_normal((rows, n)) + shift * (rng.random((rows, n)) < share)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("row", MIXTURES, ids=lambda row: "-".join(row[:3]))
def test_power_on_location_mixtures_is_as_the_guide_says(row):
    """Every number of the guide's table agrees with a new simulation.

    Given that the guide counted k of 10,000, a new count of 2,000 is beta-binomial. Each of 96
    one-sided bounds is broken with probability 1e-9.
    """
    share, shift, n, *stated, lead = map(float, row)
    assert lead == pytest.approx(stated[0] - stated[3], abs=0.0011)
    x = _mixture(np.random.default_rng([4, int(n), int(share)]), share / 100, shift, 2_000, int(n))
    p = [normality_test(x, axis=1, alternative=a).pvalue for a in ("omnibus", "skewed", "light")]
    for power, found in zip(stated, [*p, CLASSICAL["sw"].p_values(x)], strict=True):
        k, count = round(10_000 * power), np.count_nonzero(found <= LEVEL)
        known = stats.betabinom(2_000, k + 1, 10_001 - k)
        assert known.cdf(count) > 1e-9
        assert known.sf(count - 1) > 1e-9


@pytest.mark.thorough_rows
@pytest.mark.parametrize("share", [0.2, 0.3])
@pytest.mark.parametrize("shift", [2.5, 3.0])
@pytest.mark.parametrize("n", [20, 50, 100])
def test_the_loss_on_location_mixtures_is_the_one_that_is_stated(share, shift, n):
    """Guide and docstring say how many points the omnibus test loses to Shapiro-Wilk."""
    said = re.compile(r"loses (\d+) to (\d+) points at n from 20 to 100")
    guide, docstring = map(said.search, (GUIDE.read_text(encoding="utf-8"), normality_test.__doc__))
    assert guide.groups() == docstring.groups()
    least, most = (int(points) / 100 for points in guide.groups())
    samples = _mixture(np.random.default_rng([5, n]), share, shift, ROWS, n)
    lead, error = _lead(samples, "omnibus")
    assert -most - 6 * error < lead < -least + 6 * error
