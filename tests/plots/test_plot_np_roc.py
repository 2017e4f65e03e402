from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import ratekeeper as rk
from ratekeeper.baselines import NPROCThreshold, np_roc
from ratekeeper.exceptions import InputError
from ratekeeper.plots import NPROCDisplay


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_the_picture_shows_the_bounds(people, control):
    """Edges and mark are the bounds at each threshold, whose binomial tails are delta."""
    scores, labels, _ = people
    display = NPROCDisplay.from_predictions(labels, scores, control=control, alpha=0.1, delta=0.2)
    null = labels == (control == "fnr")
    sign = 1 if control == "fpr" else -1
    upper, lower = display.lines_
    threshold = sign * display.band.threshold[display.place]
    x, y = display.point_.get_data()
    n, m = null.sum(), (~null).sum()
    above = np.sum(sign * scores[null] > threshold)
    kept = np.sum(sign * scores[~null] <= threshold)
    assert binom.cdf(above, n, x[0]) == pytest.approx(0.2, rel=1e-6)
    assert binom.cdf(kept, m, y[0]) == pytest.approx(0.2, rel=1e-6)
    assert x[0] <= 0.1
    band = display.band
    for line, bounds in ((upper, band.type_ii_upper), (lower, band.type_ii_lower)):
        drawn = list(zip(*line.get_data(), strict=True))
        known = list(zip(band.type_i_upper, bounds, strict=True))
        assert set(drawn) <= set(known)  # of 1,500 thresholds an eye cannot tell all apart
        assert (drawn[0], drawn[-1]) == (known[0], known[-1])
        assert known[display.place] in drawn
        assert 250 <= len(drawn) <= 251
    assert display.alpha_line_.get_xdata()[0] == 0.1
    assert "20%" in upper.get_label()


def test_ways_to_make_it_agree(halves, fitted):
    """A band, predictions, a calibration and a controller show the same numbers."""
    cal, _, _ = halves
    scores = np.concatenate([cal.cells[0][0], cal.cells[1][0]])
    labels = np.repeat([0, 1], [cal.cells[0][0].size, cal.cells[1][0].size])
    band = np_roc(scores, labels, control="fpr")
    test = cal.control("fpr", 0.07, method=rk.Conformal())
    displays = [
        NPROCDisplay.from_band(band, alpha=0.07, draw=False),
        NPROCDisplay.from_predictions(labels, scores, control="fpr", alpha=0.07, draw=False),
        NPROCDisplay.from_calibration(test, draw=False),
        NPROCDisplay.from_calibration(cal, control="fpr", alpha=0.07, draw=False),
    ]
    for display in displays:
        assert (display.alpha, display.place) == (0.07, band.place(0.07))
        np.testing.assert_array_equal(display.band.threshold, band.threshold)
        np.testing.assert_array_equal(display.band.type_ii_upper, band.type_ii_upper)
    clf, X, y = fitted
    shown = NPROCDisplay.from_estimator(clf, X, y, draw=False)
    assert (shown.band.control, shown.alpha) == ("fpr", 0.1)
    system = NPROCThreshold(random_state=0).fit(X, y)
    own = NPROCDisplay.from_band(system.band_, alpha=0.05, draw=False)
    assert own.band.type_ii_upper[own.place] == system.other_error_[1]


def test_low_scores_may_be_positive(people):
    """With scores the other way round only the thresholds change their sign."""
    scores, labels, _ = people
    one = NPROCDisplay.from_predictions(labels, scores, alpha=0.05, draw=False)
    two = NPROCDisplay.from_predictions(
        labels, -scores, alpha=0.05, higher_is_positive=False, draw=False
    )
    np.testing.assert_array_equal(one.band.threshold, -two.band.threshold)
    np.testing.assert_array_equal(one.band.type_i_upper, two.band.type_i_upper)
    assert one.place == two.place


def test_without_a_level_nothing_is_marked(people):
    """A band alone has edges, no line and no point; and one line says what it is."""
    scores, labels, _ = people
    display = NPROCDisplay.from_predictions(labels, scores, color="black")
    assert display.alpha_line_ is None
    assert display.point_ is None
    assert {line.get_color() for line in display.lines_} == {"black"}
    n = int(labels.sum())
    assert repr(display) == (f"NPROCDisplay of FNR at {n:,} thresholds, delta 5%; .plot() draws it")
    display.figure_.canvas.draw()


def test_the_display_refuses_what_it_cannot_show(people):
    """Other results, odd levels, too few objects and one class are errors in words."""
    scores, labels, _ = people
    with pytest.raises(InputError, match="np_roc returns"):
        NPROCDisplay.from_band(scores)
    with pytest.raises(InputError, match="alpha=5 "):
        NPROCDisplay.from_predictions(labels, scores, alpha=5)
    with pytest.raises(InputError, match="control='both'"):
        NPROCDisplay.from_predictions(labels, scores, control="both")
    with pytest.raises(rk.TooFewScoresError, match="at least 59 scores"):
        NPROCDisplay.from_predictions(labels[:60], scores[:60], alpha=0.05)
    test = rk.calibrate(scores, labels).control("fnr", 0.1, method=rk.Conformal())
    with pytest.raises(InputError, match="both classes are needed"):
        NPROCDisplay.from_predictions([1, 1, 1], [1.0, 2.0, 3.0], test=test)
