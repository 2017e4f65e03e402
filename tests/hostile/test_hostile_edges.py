"""What strangers may put into options, names, folders and samples."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper._rates import beta_binomial_tail, clopper_pearson

HUGE = (2**63, 2**64, 10**30, 10**400, 10**5000, 1e300, float("inf"), np.int64(2**62))


def some_calibration():
    y = np.repeat([0, 1], 300)
    return rk.calibrate(np.random.default_rng(0).normal(2.0 * y), y)


def true_rate(k, n):
    rate = rk.RealisedRate(k, n)
    return rate.mean, *rate.interval, rate.exceeds(0.05)


def test_huge_numbers_are_refused_or_right():
    """A number beyond all counts gets one clear error in Python, never a crash, NaN or a bomb."""
    cal = some_calibration()
    X, y = np.random.default_rng(1).normal(size=(60, 2)), np.tile([0, 1], 30)
    systems = ["conformal"]
    refused = {
        "n": lambda h: rk.plan("fnr", 0.05, n=h),
        "alpha": lambda h: rk.plan("fnr", h),
        "delta": lambda h: rk.plan("fnr", 0.05, delta=h),
        "excess": lambda h: rk.plan("fnr", 0.05, excess=h),
        "control": lambda h: cal.control("fnr", h),
        "size": rk.Resampled,
        "replicates": rk.Bootstrap,
        "confidence": lambda h: rk.Bootstrap(confidence=h),
        "errors": lambda h: clopper_pearson(1, h),
        "m": lambda h: beta_binomial_tail(1, h, 1, 2),
        "half": lambda h: true_rate(h // 2 if h < float("inf") else h, h),
        "repeats": lambda h: rk.compare(X, y, control="fnr", alpha=0.3, repeats=h),
        "n_jobs": lambda h: rk.compare(X, y, control="fnr", alpha=0.3, n_jobs=h, systems=systems),
        "bins": lambda h: rk.plots.ScoreDensityDisplay.from_calibration(cal, bins=h, draw=False),
    }
    failures = []
    for name, call in refused.items():
        for huge in HUGE:
            try:
                call(huge)
                found = "taken"
            except rk.exceptions.InputError as error:
                found = str(error) if len(str(error)) > 400 else None
            except Exception as error:  # noqa: BLE001 - shown below
                found = repr(error)
            if found:
                failures.append(f"{name}: {found[:200]}")
    assert not failures, "\n".join(failures)


def test_seeds_have_128_bits_or_are_refused():
    """Seeds as NumPy advises to draw them work, whole floats too; larger ones are refused."""
    cal = some_calibration()
    for make in (rk.Smoothed, lambda s: rk.Resampled(20, s), lambda s: rk.Bootstrap(50, s)):
        for seed in (7.0, 2**63, 10**30, 2**128):
            p = cal.p_values([0.0, 1.0], method=make(seed)).p1
            assert np.isfinite(p).all()
        for seed in (-1, 2**129, 10**400, 1e300, 0.5):
            with pytest.raises(rk.exceptions.InputError, match="random_state"):
                make(seed)


def test_a_plan_for_a_trillion_scores_keeps_its_digits():
    """At the largest n that is taken, the chance to be above alpha is still that of the promise."""
    for alpha in (0.5, 0.05, 0.001, 1e-6):
        plan = rk.plan("fnr", alpha, n=10**12)
        above = plan.realised_high_probability.exceeds(alpha)
        assert 0.0499 < above <= 0.05
        assert "nan" not in str(plan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tiny = rk.plan("fnr", 1e-12, delta=5e-324, excess=1e-15, n=10**12)
    assert tiny.n_excess > 10**18
