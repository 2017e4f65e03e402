"""Precision beside MAPIE's controller, on the same scores."""

import numpy as np
import pytest
from benchmarks.precision import mapie_threshold
from mapie.risk_control import FWERFixedSequenceTesting
from scipy.special import expit, logit
from scipy.stats import binom, norm

import ratekeeper as rk

RUNS = 30
SETTINGS = {
    "holm, the default": {},
    "bonferroni": {"fwer_method": "bonferroni"},
    "fixed sequence": {"fwer_method": "fixed_sequence"},
    "three starts": {"fwer_method": FWERFixedSequenceTesting(n_starts=3)},
    "five starts": {"fwer_method": FWERFixedSequenceTesting(n_starts=5)},
}


def truth(threshold, prevalence, apart):
    """Return the share of alerts and the precision of a threshold on the probability."""
    cut = (logit(np.clip(threshold, 1e-12, 1 - 1e-12)) + apart**2 / 2 - logit(prevalence)) / apart
    right, false = prevalence * norm.sf(cut - apart), (1 - prevalence) * norm.sf(cut)
    return right + false, right / (right + false)


def ours(scores, labels, level):
    try:
        return rk.calibrate(scores, labels).control_precision(level).threshold
    except rk.exceptions.UnattainableError:
        return None


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("n", "prevalence", "apart", "level"),
    [(2000, 0.2, 2.0, 0.8), (1000, 0.5, 1.5, 0.8), (3000, 0.05, 2.5, 0.6)],
)
def test_the_promise_is_kept_with_more_alerts(n, prevalence, apart, level):
    """Ours has more alerts on average than the best of MAPIE's settings, and keeps its promise."""
    alerts, broken = {name: [] for name in ("ours", *SETTINGS)}, 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        labels = rng.random(n) < prevalence
        odds = apart * rng.normal(apart * labels) - apart**2 / 2 + logit(prevalence)
        scores = expit(odds)
        found = {"ours": ours(scores, labels, level)}
        for name, settings in SETTINGS.items():
            found[name] = mapie_threshold(scores, labels, level, **settings)
        for name, threshold in found.items():
            share, precision = (0, 1) if threshold is None else truth(threshold, prevalence, apart)
            alerts[name].append(share)
            broken += name == "ours" and precision < level
    means = {name: np.mean(shares) for name, shares in alerts.items()}
    assert broken <= binom.ppf(1 - 1e-7, RUNS, 0.05)
    assert max(means, key=means.get) == "ours", means
