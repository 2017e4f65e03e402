from __future__ import annotations

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.exceptions import InputError
from ratekeeper.plots import CostDisplay

COSTS = {"cost_fn": 10.0, "cost_fp": 1.0}


def test_the_picture_shows_the_numbers(halves):
    """Line, band, point and shaded region are those of the cheapest test."""
    cal, _, _ = halves
    found = cal.cheapest(**COSTS, fnr=0.2)
    display = CostDisplay.from_cheapest(found)
    assert np.array_equal(display.line_.get_ydata(), found.curve.cost)
    assert display.point_.get_data() == ([found.threshold], [found.cost])
    assert display.point_.get_label() == f"the test: {found.cost:.3g}, at most " + (
        str(found.headline.split("at most ")[1].split(" per")[0])
    )
    assert "FNR at most 20%" in display.refused_.get_label()
    assert CostDisplay.from_cheapest(cal.cheapest(**COSTS)).refused_ is None
    same = CostDisplay.from_calibration(cal, **COSTS, fnr=0.2, draw=False)
    assert same.cheapest.threshold == found.threshold


def test_infinite_scores_and_one_value_are_drawn():
    """Scores without an extent, or without an end, make a picture all the same."""
    labels = np.tile([0, 1, 1], 60)
    for scores in (np.where(labels, np.inf, 0.0), np.ones(180)):
        cal = rk.calibrate(scores, labels)
        CostDisplay.from_cheapest(cal.cheapest(**COSTS)).figure_.canvas.draw()


def test_the_display_refuses_what_it_cannot_show(halves, people):
    """New objects, other results and groups are errors that say what to pass."""
    cal, scores, labels = halves
    with pytest.raises(InputError, match="Leave new objects out"):
        CostDisplay.from_calibration(cal, scores=scores, labels=labels, **COSTS)
    with pytest.raises(InputError, match=r"Calibration\.cheapest"):
        CostDisplay.from_cheapest(cal)
    with pytest.raises(InputError, match=r"What do errors cost.*cost_fn=10"):
        CostDisplay.from_calibration(cal)
    grouped = rk.calibrate(people[0], people[1], groups=people[2])
    with pytest.raises(InputError, match="has groups"):
        CostDisplay.from_calibration(grouped, group="north", **COSTS)


def test_a_controller_brings_its_calibration(fitted):
    """`from_estimator` finds the cheapest threshold on the objects that calibrated."""
    clf, _, _ = fitted
    display = CostDisplay.from_estimator(clf, **COSTS, draw=False)
    assert display.cheapest.test.calibration == clf.test_.calibration
