"""Calibrations of every kind that a page may be made of."""

from __future__ import annotations

import numpy as np

import ratekeeper as rk


def _drawn(n_positive, n_negative, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [n_positive, n_negative])
    return rng.normal(1.8 * labels), labels


def tiny():
    return rk.calibrate(*_drawn(9, 7))


def plain():
    return rk.calibrate(*_drawn(150, 260))


def tied():
    scores, labels = _drawn(180, 240)
    return rk.calibrate(np.round(2 * scores), labels)


def single_precision():
    scores, labels = _drawn(120, 210)
    return rk.calibrate(scores.astype(np.float32), labels)


def infinite():
    scores, labels = _drawn(130, 140)
    scores[:12], scores[12:16], scores[200:210] = -np.inf, np.inf, np.inf
    return rk.calibrate(scores, labels)


def low_is_positive():
    scores, labels = _drawn(160, 190)
    return rk.calibrate(-scores, labels, higher_is_positive=False)


def beyond_exact_levels():
    return rk.calibrate(*_drawn(1_700, 2_300))


def grouped():
    scores, labels = _drawn(260, 340)
    groups = np.random.default_rng(5).choice(["a", "b", "c"], labels.size, p=[0.5, 0.45, 0.05])
    return rk.calibrate(scores, labels, groups=groups)


def hundred_thousand():
    return rk.calibrate(*_drawn(40_000, 60_000))


def hundred_thousand_grouped():
    scores, labels = _drawn(40_000, 60_000)
    groups = np.random.default_rng(5).integers(0, 6, labels.size)
    return rk.calibrate(scores.astype(np.float32), labels, groups=groups)


SMALL = (
    tiny,
    plain,
    tied,
    single_precision,
    infinite,
    low_is_positive,
    beyond_exact_levels,
    grouped,
)
