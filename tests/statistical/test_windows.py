"""What windows and added objects promise, while the population stays and while it moves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk

SURE = 1e-7
ALPHA = 0.1
DELTA = 0.1


def at_most(count, runs, rate):
    """Assert that so many of the runs are no sign of a rate above this one."""
    assert stats.binom.sf(count - 1, runs, rate) > SURE, f"{count} of {runs}, not {rate:.1%}"


def mean_at_most(rates, limit):
    """Assert that the mean of independent rates is no sign of an expectation above the limit."""
    z = (rates.mean() - limit) / (rates.std(ddof=1) / np.sqrt(rates.size))
    assert stats.norm.sf(z) > SURE, f"{rates.mean():.4f}, not {limit:.4f}"


def test_windows_of_a_population_that_stays():
    """Each window of each night keeps the promise of each method, and needs no more than that."""
    rng, runs, n = np.random.default_rng(1), 700, 360
    nights = (200, 280, 360)
    rates = np.empty((runs, len(nights), 2, 2))
    for run in range(runs):
        labels = rng.random(n) < 0.5
        scores = rng.random(n) - ~labels  # those of positives are uniform, so FNR = threshold
        times = np.arange(n) // 3  # three at a time
        for night, seen in enumerate(nights):
            so_far = slice(0, seen)
            cal = rk.calibrate(scores[so_far], labels[so_far], times=times[so_far])
            since = cal.window(since=int(times[seen - 120]))
            for i, window in enumerate((cal.window(last=119), since)):
                for j, method in enumerate((rk.Conformal(), rk.HighProbability(DELTA))):
                    rates[run, night, i, j] = window.control("fnr", ALPHA, method=method).threshold
    for night in range(len(nights)):
        for i in (0, 1):
            mean_at_most(rates[:, night, i, 0], ALPHA)
            at_most(np.count_nonzero(rates[:, night, i, 1] > ALPHA), runs, DELTA)
    failing = (rates[:, :, 0, 1] > ALPHA).mean(axis=1)  # of the tests of a run, which are dependent
    mean_at_most(failing, DELTA)
    # A test of 60 positives can come close: the sentence is not true for want of power.
    assert rates[..., 0].mean() > 0.8 * ALPHA
    assert (rates[..., 1] > ALPHA).mean() > 0.02


POPULATIONS = {
    "a step": lambda t: 0.35 * (t < 0.5),
    "a slope": lambda t: 0.6 * (1 - t),
    "two sites": lambda t: 0.95 * (np.arange(t.size) % 10 > 0),
}


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", POPULATIONS)
def test_windows_of_a_population_that_moves(name):
    """The limits that are stated hold for every form; without them, all history breaks alpha.

    Scores of positives are uniform on (shift, shift + 1), and fall as time goes by.
    """
    rng, runs, n, last = np.random.default_rng(2), 1500, 240, 120
    shift = POPULATIONS[name](np.arange(n) / n)
    new = 0.0
    found = {"all": [], "last": []}
    for _ in range(runs):
        scores = rng.random(n) + shift
        cal = rk.calibrate(scores, one_class="positive", times=np.arange(n))
        for form, kept in (("all", cal), ("last", cal.window(last=last))):
            found[form].append(
                [
                    kept.control("fnr", ALPHA, method=method).threshold
                    for method in (rk.Conformal(), rk.HighProbability(DELTA))
                ]
            )
    grid = np.linspace(-0.5, 2.5, 3001)
    for form, shifts in (("all", shift), ("last", shift[-last:])):
        conformal, high = np.array(found[form]).T
        distance = np.minimum(1.0, np.abs(shifts - new))  # in total variation
        mean_at_most(np.clip(conformal - new, 0, 1), ALPHA + 2 * distance.sum() / (shifts.size + 1))
        average = np.clip(high[:, None] - shifts, 0, 1).mean(axis=1)
        at_most(np.count_nonzero(average > ALPHA), runs, DELTA)
        gap = (np.clip(grid - new, 0, 1) - np.clip(grid[:, None] - shifts, 0, 1).mean(axis=1)).max()
        at_most(np.count_nonzero(np.clip(high - new, 0, 1) > ALPHA + gap), runs, DELTA)
        assert gap <= distance.mean() + 1e-9
    rates = {form: np.clip(np.array(pairs) - new, 0, 1) for form, pairs in found.items()}
    if name == "a step":  # the window has the new population only
        mean_at_most(rates["last"][:, 0], ALPHA)
        at_most(np.count_nonzero(rates["last"][:, 1] > ALPHA), runs, DELTA)
    assert (rates["all"][:, 1] > ALPHA).mean() > 0.9
    assert rates["all"][:, 0].mean() > 1.5 * ALPHA


def test_labels_of_flagged_objects_only():
    """Recalibrating on them breaks the promise; on those that an audit chooses it is kept."""
    rng, runs, n, nights = np.random.default_rng(3), 150, 800, 5
    audit = rk.Audit(0.5)
    method = rk.HighProbability(DELTA)
    rates = {"flagged": [], "audit": []}
    for run in range(runs):
        for plan, found in rates.items():
            labels = np.tile([0, 1], n // 2)
            cal = rk.calibrate(rng.normal(labels), labels, times=np.arange(n))
            for night in range(1, nights):
                test = cal.control("fnr", ALPHA, method=method)
                scores = rng.normal(labels)
                ids = [f"{run}-{night}-{i}" for i in range(n)]
                known = audit.chooses(ids) if plan == "audit" else test.decide(scores).labels == 1
                fresh = rk.calibrate(
                    scores[known], labels[known], times=n * night + np.flatnonzero(known)
                )
                cal = cal.merge(fresh).window(last=n // 2)
            found.append(stats.norm.cdf(cal.control("fnr", ALPHA, method=method).threshold - 1))
    at_most(np.count_nonzero(np.array(rates["audit"]) > ALPHA), runs, DELTA)
    assert np.mean(rates["flagged"]) > 2 * ALPHA
    assert min(rates["flagged"]) > ALPHA
