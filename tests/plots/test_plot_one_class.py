"""Displays of calibrations that know one class draw what is known, and refuse the rest."""

from __future__ import annotations

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.plots import (
    ErrorCurveDisplay,
    PValueHistogramDisplay,
    RateAgainstAlphaDisplay,
    RealisedRateDisplay,
    ScoreDensityDisplay,
)

RNG = np.random.default_rng(0)
ONE = rk.calibrate(RNG.normal(size=300), one_class="negative")
TEST = ONE.control("fpr", 0.05)
LABELS = RNG.integers(0, 2, 400)
NEW = {"scores": RNG.normal(3 * LABELS), "labels": LABELS}


def test_what_is_known_is_drawn():
    """Scores, p-values and rates of the known class are shown."""
    display = ScoreDensityDisplay.from_calibration(TEST)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any(text.startswith("FNR unknown") for text in texts)
    assert list(PValueHistogramDisplay.from_calibration(TEST, **NEW).histograms) == [0]
    assert RealisedRateDisplay.from_calibration(TEST, **NEW).law.n == 300
    shown = RateAgainstAlphaDisplay.from_calibration(TEST, **NEW)
    assert shown.table.possible.any()


def test_what_is_unknown_is_refused():
    """A curve of both errors needs both classes, and the other rate objects of its class."""
    with pytest.raises(rk.InputError, match="None of the 300 objects is positive"):
        ErrorCurveDisplay.from_calibration(TEST)
    assert ErrorCurveDisplay.from_calibration(TEST, **NEW).point["fnr"].n == LABELS.sum()
    with pytest.raises(rk.InputError, match="no positives"):
        RateAgainstAlphaDisplay.from_calibration(ONE, control="fnr", **NEW)
    unlabelled = rk.calibrate(NEW["scores"])
    for display in (ScoreDensityDisplay, ErrorCurveDisplay, PValueHistogramDisplay):
        with pytest.raises(rk.InputError, match="no labels"):
            display.from_calibration(unlabelled, **NEW)
