"""What an audit says about groups, simulated: its intervals and its verdict "above".

Bounds come from the binomial distribution: a correct build passes with probability above 1 - 1e-6.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk

RARE = 1e-7
RUNS = 200
SITES, YEARS = 4, 3


def shifts(rng, size):
    """Draw the group of each object, by two columns, and how much harder each group is."""
    site, year = rng.integers(0, SITES, size), rng.integers(0, YEARS, size)
    return site, year, 0.3 * site - 0.2 * year


def true_rates(test, site, year):
    """Return FNR, FPR, precision and undecided share of a test in one combination of groups."""
    hard = 0.3 * site - 0.2 * year
    share = 0.3 + 0.1 * year
    limits = [part.threshold for part in test.parts]
    if len(limits) == 1:
        fnr, alarm = stats.norm.cdf(limits[0], 2 - hard), stats.norm.sf(limits[0])
        found, undecided = share * (1 - fnr), 0.0
    else:
        low, high = limits
        assert low < high
        fnr, alarm = stats.norm.cdf(low, 2 - hard), stats.norm.sf(high)
        found = share * stats.norm.sf(high, 2 - hard)
        undecided = share * (stats.norm.cdf(high, 2 - hard) - fnr) + (1 - share) * (
            stats.norm.cdf(high) - stats.norm.cdf(low)
        )
    return np.array([fnr, alarm, found, found + (1 - share) * alarm, share, undecided])


def pooled(parts):
    """Return the rates of a union of equally likely combinations of groups."""
    parts = np.array(parts)
    share = parts[:, 4]
    fnr = np.average(parts[:, 0], weights=share)
    fpr = np.average(parts[:, 1], weights=1 - share)
    undecided = parts[:, 5].mean()
    precision = parts[:, 2].sum() / parts[:, 3].sum()
    return {"fnr": fnr, "fpr": fpr, "precision": precision, "undecided": undecided}


@pytest.mark.thorough_rows
@pytest.mark.parametrize("both", [False, True])
def test_all_intervals_hold_together(both):
    """Every true rate of every row lies in its interval, in at least 95% of audits."""
    rng = np.random.default_rng([5, both])
    labels = np.repeat([0, 1], 500)
    cal = rk.calibrate(rng.normal(2.0 * labels), labels)
    test = cal.control_both(0.05, 0.05) if both else cal.control("fnr", 0.1)
    cells = {(s, y): true_rates(test, s, y) for s in range(SITES) for y in range(YEARS)}
    truths = {
        **{(("site",), (s,)): [cells[s, y] for y in range(YEARS)] for s in range(SITES)},
        **{(("year",), (y,)): [cells[s, y] for s in range(SITES)] for y in range(YEARS)},
        **{(("site", "year"), key): [one] for key, one in cells.items()},
    }
    truths = {key: pooled(parts) for key, parts in truths.items()}
    missed = np.zeros(RUNS, dtype=bool)
    for run in range(RUNS):
        site, year, hard = shifts(rng, 1500)
        labels = (rng.random(1500) < 0.3 + 0.1 * year).astype(int)
        scores = rng.normal((2 - hard) * labels)
        columns = {"site": site, "year": year}
        audit = test.evaluate(scores, labels, by=columns, crossed=True).by_group
        assert len(audit) == len(truths)
        for row in audit.rows:
            for name, rate in row.rates.items():
                low, high = rate.interval
                missed[run] |= not low <= truths[row.columns, row.groups][name] <= high
    assert missed.sum() <= stats.binom.isf(RARE, RUNS, 0.05)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("fixed", "both"), [(True, True), (False, False)])
def test_above_is_rarely_said_where_it_is_not_so(fixed, both):
    """At a true rate at or below the level, any "above" in at most 5% of audits.

    With the threshold fixed, all groups have the level for a true rate. With the calibration drawn
    anew each time, only groups in which this very test is not above count.
    """
    rng, runs, alpha = np.random.default_rng([6, fixed, both]), 400, 0.1
    labels = np.repeat([0, 1], 60)
    site, truth = np.arange(3000) % 10, np.arange(3000) // 10 % 2
    is_false, n_true = np.zeros(runs, dtype=bool), 0
    cal = rk.calibrate(rng.normal(4.0 * labels), labels)
    for run in range(runs):
        if not fixed:
            cal = rk.calibrate(rng.normal(4.0 * labels), labels)
        method = rk.Conformal()
        if both:
            test = cal.control_both(alpha, alpha, method=method)
            limits = {"fnr": test.crossed[0], "fpr": test.crossed[0]}
        else:
            test = cal.control("fnr", alpha, method=method)
            limits = {"fnr": test.threshold}
        scores = rng.normal(4.0 * truth)
        # So that all true rates equal alpha: where the class lies relative to the threshold.
        if fixed:
            middle = limits["fnr"]
            scores = rng.normal(size=3000)
            scores += np.where(truth == 1, 1, -1) * stats.norm.isf(alpha) + middle
            rates = dict.fromkeys(limits, alpha)
        else:
            rates = {"fnr": stats.norm.cdf(limits["fnr"], 4.0)}
            rates |= {"fpr": stats.norm.sf(limits["fpr"])} if both else {}
        found = test.evaluate(scores, truth, by=site).by_group
        for row in found.above:
            for name, word in row.verdicts.items():
                if word == "above":
                    is_false[run] |= rates[name] <= alpha
                    n_true += rates[name] > alpha
    assert is_false.sum() <= stats.binom.isf(RARE, runs, 0.05)
    assert is_false.any() if fixed else n_true  # the audit is not deaf


def test_above_is_said_of_a_group_that_pays():
    """A group whose true rate is three times the level is nearly always found."""
    rng, found = np.random.default_rng(7), 0
    labels = np.repeat([0, 1], 500)
    test = rk.calibrate(rng.normal(2.0 * labels), labels).control("fnr", 0.1)
    shift = test.threshold - stats.norm.ppf(0.3)
    for _ in range(50):
        site, truth = np.arange(4000) % 10, np.arange(4000) // 10 % 2
        centre = np.where(truth == 1, np.where(site == 3, shift, 3.0), 0.0)
        audit = test.evaluate(rng.normal(centre), truth, by=site).by_group
        found += [row.groups for row in audit.above] == [(3,)]
    assert found >= 45
