from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cases import each

import ratekeeper as rk
from ratekeeper.exceptions import InputError
from ratekeeper.plots import ErrorCurveDisplay, ScoreDensityDisplay


def shaded(display, label):
    """Return the area that is shaded of one class."""
    heights = display.wrong[label] / display.counts[label].sum() / np.diff(display.edges)
    return float((heights * np.diff(display.edges)).sum())


@each("kind", ["continuous", "tied", "float32"])
@each("higher", [True, False])
@each("control", ["fnr", "fpr"])
def test_the_shaded_area_is_the_counted_error(people, control, higher, kind):
    """Areas are 1, shaded areas are the two error rates, and end exactly at the threshold."""
    scores, labels, _ = people
    scores = scores if higher else -scores
    scores = {"tied": scores.round(1), "float32": scores.astype("f4")}.get(kind, scores)
    cal = rk.calibrate(scores[:1000], labels[:1000], higher_is_positive=higher)
    test = cal.control(control, 0.2, method=rk.Conformal())
    display = ScoreDensityDisplay.from_predictions(
        labels[1000:], scores[1000:], test=test, draw=False
    )
    found = test.evaluate(scores[1000:], labels[1000:])
    other = "fpr" if control == "fnr" else "fnr"
    assert display.rates == {control: found.target, other: found.other}
    for label, name in enumerate(("fpr", "fnr")):
        assert display.counts[label].sum() == np.count_nonzero(labels[1000:] == label)
        assert (display.densities[label] * np.diff(display.edges)).sum() == pytest.approx(1)
        assert shaded(display, label) == pytest.approx(display.rates[name].rate)
        # A bin is wrong as a whole or right as a whole.
        mixed = (display.wrong[label] > 0) & (display.wrong[label] < display.counts[label])
        assert not mixed.any()
    assert display.thresholds == {control: test.threshold}


@pytest.mark.parametrize(
    "method", [rk.Conformal(), rk.methods.Smoothed(3), rk.methods.Parametric("norm")]
)
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_on_the_calibration_the_other_error_is_the_power(halves, control, method):
    """The picture of a test shows the other error that its certificate states."""
    test = halves[0].control(control, 0.1, method=method)
    display = ScoreDensityDisplay.from_calibration(test, draw=False)
    assert display.rates["fpr" if control == "fnr" else "fnr"] == test.other_error
    assert any("the very scores" in note for note in display.notes)
    curve = ErrorCurveDisplay.from_calibration(test, draw=False)
    assert curve.point == display.rates


@pytest.mark.parametrize("method", [rk.methods.Smoothed(3), rk.HighProbability(randomised=True)])
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_random_numbers_are_drawn_as_for_the_certificate(people, control, method):
    """Where ties are broken at random, each class gets the draws behind the certificate."""
    cal = rk.calibrate(people[0].round(), people[1])
    test = cal.control(control, 0.1, method=method)
    display = ScoreDensityDisplay.from_calibration(test, draw=False)
    assert display.rates["fpr" if control == "fnr" else "fnr"] == test.other_error


def test_a_randomised_test_has_no_line_and_says_so(halves):
    """Where chance decides, errors are shaded within the bins and no threshold is drawn."""
    test = halves[0].control("fnr", 0.1, method=rk.methods.Smoothed(0))
    display = ScoreDensityDisplay.from_calibration(test)
    assert display.thresholds == {}
    assert display.threshold_lines_ == []
    assert "decided at random" in display.ax_.get_xlabel()
    assert shaded(display, 1) == pytest.approx(display.rates["fnr"].rate)


def test_the_estimator_shows_what_its_test_shows(fitted):
    """On the rows that calibrated it, a controller gives the numbers of its test."""
    clf, X, y = fitted
    for kind in (ScoreDensityDisplay, ErrorCurveDisplay):
        one = kind.from_estimator(clf, X, y, draw=False)
        two = kind.from_calibration(clf.test_, draw=False)
        if kind is ScoreDensityDisplay:
            np.testing.assert_array_equal(one.edges, two.edges)
            np.testing.assert_array_equal(one.counts[1], two.counts[1])
            assert one.rates == two.rates
        else:
            np.testing.assert_array_equal(one.curve.threshold, two.curve.threshold)
            np.testing.assert_array_equal(one.curve.fnr, two.curve.fnr)
            assert (one.point, one.lines) == (two.point, two.lines)


def test_infinite_scores_are_kept_and_told(people):
    """Infinities and enormous scores stand in the outermost bins, with a note."""
    scores, labels, _ = people
    scores = scores.copy()
    scores[:3], scores[3:5], scores[5] = -np.inf, np.inf, 1e305
    display = ScoreDensityDisplay.from_predictions(labels, scores)
    assert display.n_outside == 6
    assert sum(counts.sum() for counts in display.counts) == 3000
    assert np.isfinite(display.edges).all()
    assert "6 scores lie outside or at infinity" in display.ax_.get_xlabel()
    display.figure_.canvas.draw()
    one = ScoreDensityDisplay.from_predictions([0, 1], [0.0, np.inf], draw=False)
    assert one.notes == ("1 score lies outside or at infinity, drawn in the outermost bins",)


@pytest.mark.thorough
@each(
    "scores",
    [
        [-np.inf, np.inf, np.inf, -np.inf],
        [1.0, 1.0, 1.0, 1.0],
        [0.0, 1e300, -1e300, 5.0],
        [0.0, 5e-324, 1e-320, 0.0],
        [1e16, 1e16 + 2, 1e16, 1e16 + 4],
        np.array([1e38, -3e38, 0, 1], dtype="f4"),
    ],
)
@each("control", ["fnr", "fpr"])
def test_odd_scores_never_crash(scores, control):
    """Any scores that a calibration takes can be drawn."""
    with np.errstate(all="raise"):
        test = rk.calibrate(scores, [0, 1, 0, 1]).control(control, 0.5, method=rk.Conformal())
        display = ScoreDensityDisplay.from_calibration(test)
        ErrorCurveDisplay.from_calibration(test)
    display.figure_.canvas.draw()
    assert (np.diff(display.edges) > 0).all()
    assert sum(counts.sum() for counts in display.counts) == 4
    assert display.rates["fpr" if control == "fnr" else "fnr"] == test.other_error
    plt.close("all")  # before the next case: matplotlib warns of more than 20


def test_an_infinite_threshold_is_told():
    """A threshold at infinity cannot be drawn, so it is written."""
    scores = np.r_[np.full(10, -np.inf), np.arange(60.0)]
    cal = rk.calibrate(scores, np.repeat([1, 0, 1], [10, 30, 30]))
    display = ScoreDensityDisplay.from_calibration(cal.control("fnr", 0.1, method=rk.Conformal()))
    assert display.thresholds == {}
    assert "the FNR threshold is -inf" in display.ax_.get_xlabel()


@pytest.mark.parametrize("alphas", [(0.05, 0.05), (0.4, 0.4)])
def test_a_test_of_both_rates_has_two_thresholds(halves, alphas):
    """Each error is shaded beyond its own threshold, and the space between is named."""
    cal, scores, labels = halves
    both = cal.control_both(*alphas, method=rk.Conformal())
    display = ScoreDensityDisplay.from_predictions(labels, scores, test=both)
    decided = both.decide(scores)
    crossed = both.crossed[0]
    apart = {"fpr": both.fpr.threshold, "fnr": both.fnr.threshold}
    assert display.thresholds == (apart if crossed is None else {"both": crossed})
    missed = (labels == 1) & ~(decided.positive | decided.abstained)
    alarms = (labels == 0) & (decided.positive | decided.neither)
    assert display.rates["fnr"].errors == missed.sum()
    assert display.rates["fpr"].errors == alarms.sum()
    assert decided.abstained.any() == (crossed is None)
    assert len(display.threshold_lines_) == (2 if crossed is None else 1)
    curve = ErrorCurveDisplay.from_predictions(labels, scores, test=both)
    assert curve.point == display.rates
    assert curve.accuracy is None
    assert "can abstain" in curve.ax_.get_xlabel()


def test_close_thresholds_make_no_sliver_of_a_bin():
    """Bins have about one width, however close two thresholds are, so none becomes a spike."""
    for gap in (1e-12, 0.01, 0.04, 0.3):
        scores = np.r_[np.linspace(0, 0.4, 8), 0.5 + gap, 0.5, np.linspace(0.9, 1, 8)]
        cal = rk.calibrate(scores, np.repeat([0, 1], 9))
        test = cal.control_both(0.1, 0.1, method=rk.Conformal())
        display = ScoreDensityDisplay.from_calibration(
            test, bins=10, score_range=(0, 1), draw=False
        )
        assert display.thresholds == {"fnr": 0.5, "fpr": 0.5 + gap}
        edges = display.edges
        widths = np.diff(edges)
        assert (widths > 0.02).all()
        assert (widths < 0.16).all()
        assert edges[0] <= 0.0
        assert edges[-1] >= 1.0
        assert 0.5 in edges


def test_one_group_is_shown_by_itself(people):
    """With groups the picture is that of one of them, with its threshold and its errors."""
    scores, labels, groups = people
    cal = rk.calibrate(scores[:1000], labels[:1000], groups=groups[:1000])
    test = cal.control("fnr", 0.05, method=rk.Conformal())
    display = ScoreDensityDisplay.from_calibration(test, group="south")
    cell = test.certificate.cells[1]
    assert display.rates["fpr"] == cell.other_error
    assert display.thresholds == {"fnr": cell.threshold}
    assert "group 'south'" in display.ax_.get_title("left")
    new = ScoreDensityDisplay.from_predictions(
        labels[1000:], scores[1000:], test=test, groups=groups[1000:], group="south", draw=False
    )
    mine = groups[1000:] == "south"
    found = test.evaluate(scores[1000:][mine], labels[1000:][mine], groups[1000:][mine])
    assert new.rates == {"fnr": found.target, "fpr": found.other}


def test_a_wrong_group_is_refused(people, halves):
    """A group that is missing, unknown or out of place is an error that says what to do."""
    scores, labels, groups = people
    cal = rk.calibrate(scores, labels, groups=groups)
    for kind in (ScoreDensityDisplay, ErrorCurveDisplay):
        with pytest.raises(
            InputError, match="group=None must be one of the groups 'north', 'south'"
        ):
            kind.from_calibration(cal)
        with pytest.raises(InputError, match="group='east' must be one of the groups"):
            kind.from_calibration(cal, group="east")
        with pytest.raises(InputError, match="group='north' must be left out: there are no groups"):
            kind.from_calibration(halves[0], group="north")
        with pytest.raises(InputError, match="Pass test, or the rows of one group"):
            kind.from_predictions(labels, scores, groups=groups)


def test_unusable_arguments_are_refused(halves, fitted):
    """Each message says what was given, what is needed and what to do."""
    cal, scores, labels = halves
    clf, X, y = fitted
    test = cal.control("fnr", 0.1, method=rk.Conformal())
    make = ScoreDensityDisplay.from_predictions
    with pytest.raises(InputError, match="bins=0"):
        make(labels, scores, bins=0)
    for bad in ((1, 0), (0, np.inf), "ab", 3, (np.nan, 1)):
        with pytest.raises(InputError, match="score_range"):
            make(labels, scores, score_range=bad)
    with pytest.raises(InputError, match="higher_is_positive=2"):
        make(labels, scores, higher_is_positive=2)
    with pytest.raises(InputError, match="The test knows which label"):
        make(labels, scores, test=test, positive_label=1)
    with pytest.raises(InputError, match="NaN"):
        make(labels, np.r_[np.nan, scores[1:]], test=test)
    with pytest.raises(InputError, match="no object"):
        make([], [], test=test)
    with pytest.raises(InputError, match="labels"):
        make(scores, labels)  # the other way round
    with pytest.raises(InputError, match="from_estimator"):
        ScoreDensityDisplay.from_calibration(clf)
    with pytest.raises(InputError, match="A fitted ErrorRateController is needed, not a Logistic"):
        ScoreDensityDisplay.from_estimator(clf.estimator_.estimator, X, y)
    with pytest.raises(InputError, match="Call fit first"):
        ScoreDensityDisplay.from_estimator(rk.ErrorRateController(clf.estimator), X, y)
    with pytest.raises(InputError, match="None of the 3 objects is negative"):
        ErrorCurveDisplay.from_predictions([1, 1, 1], [1.0, 2.0, 3.0], test=test)


def test_a_class_without_objects_is_drawn_empty(halves):
    """New objects of one class alone are shown, and the rate of the other is unknown."""
    test = halves[0].control("fnr", 0.1, method=rk.Conformal())
    display = ScoreDensityDisplay.from_predictions([1, 1, 1], [1.0, 2.0, -3.0], test=test)
    assert display.rates["fpr"].n == 0
    assert display.rates["fnr"].errors == 1
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "FPR unknown: 0 of 0" in texts


def test_a_range_keeps_all_objects(halves):
    """A narrower picture counts what is outside in its outer bins."""
    _, scores, labels = halves
    display = ScoreDensityDisplay.from_predictions(
        labels, scores, score_range=(0, 1), bins=10, draw=False
    )
    np.testing.assert_allclose(display.edges, np.linspace(0, 1, 11))
    assert display.n_outside == np.count_nonzero((scores < 0) | (scores > 1))
    assert sum(counts.sum() for counts in display.counts) == scores.size


def test_the_curve_is_that_of_the_diagnostics(halves):
    """The curve, its lines of equal accuracy and the point are those of the library."""
    cal, scores, labels = halves
    test = cal.control("fpr", 0.1, method=rk.Conformal())
    display = ErrorCurveDisplay.from_predictions(labels, scores, test=test)
    curve = rk.diagnostics.fnr_fpr_curve(scores, labels)
    np.testing.assert_array_equal(display.curve.fnr, curve.fnr)
    found = test.evaluate(scores, labels)
    assert display.point == {"fpr": found.target, "fnr": found.other}
    on_curve = (curve.fpr == found.target.rate) & (curve.fnr == found.other.rate)
    assert on_curve.any()
    right = np.mean(test.decide(scores).labels == labels)
    best, mine = display.lines
    assert mine.accuracy == pytest.approx(right)
    assert float(mine(found.target.rate)) == pytest.approx(found.other.rate)
    assert best.accuracy == curve.accuracy().max()
    assert display.point_.get_xydata()[0].tolist() == [found.target.rate, found.other.rate]


def test_the_curve_of_low_scores_is_the_same(halves):
    """Scores that are low for positives give the curve of their negatives."""
    _, scores, labels = halves
    make = ErrorCurveDisplay.from_predictions
    one = make(labels, scores, draw=False)
    two = make(labels, -scores, higher_is_positive=False, draw=False)
    np.testing.assert_array_equal(one.curve.fnr, two.curve.fnr)
    np.testing.assert_array_equal(one.curve.threshold, -two.curve.threshold)


def test_lines_of_equal_accuracy_can_be_chosen(halves):
    """Accuracies and the share of positives may be given, and no line at all."""
    _, scores, labels = halves
    make = ErrorCurveDisplay.from_predictions
    display = make(labels, scores, accuracies=[0.7, 0.8, 1.0], weight_positive=0.1)
    assert [line.weight_positive for line in display.lines] == [0.1] * 3
    for line in display.accuracy_lines_:
        x, y = line.get_xydata().T
        assert ((x >= 0) & (x <= 1) & (y >= -1e-9) & (y <= 1 + 1e-9)).all()
    assert make(labels, scores, accuracies=[]).accuracy_lines_ == []
    with pytest.raises(InputError, match=r"weight_positive=1\.5"):
        make(labels, scores, weight_positive=1.5)


def test_a_long_curve_is_drawn_with_few_points():
    """A curve of 200,000 points is thinned to what can be seen, and passes where it should."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200_000)
    display = ErrorCurveDisplay.from_predictions(labels, rng.normal(labels))
    drawn = display.line_.get_xydata()
    assert len(drawn) < 8000 < display.curve.fpr.size
    assert drawn[0].tolist() == [0, 1]
    assert drawn[-1].tolist() == [1, 0]
    shown = np.interp(display.curve.fpr, drawn[:, 0], drawn[:, 1])
    assert np.abs(shown - display.curve.fnr).max() < 2e-3


@pytest.mark.parametrize("size", [40, 3000])
def test_low_rates_have_room_and_zero_is_seen(halves, size):
    """On logarithmic axes 1% is far from the edge, and a rate of 0 is on the axes."""
    cal, scores, labels = halves
    test = cal.control("fnr", 0.01, method=rk.Conformal())
    make = ErrorCurveDisplay.from_predictions
    display = make(labels[:size], scores[:size], test=test)
    place = display.ax_.transData + display.ax_.transAxes.inverted()
    zero, low, most = place.transform([[0, 0], [0.01, 0.01], [1, 1]])
    assert (zero > 0.005).all()
    assert (low - zero > 0.1).all()
    assert most == pytest.approx([1, 1])
    drawn = display.line_.get_xydata()
    assert drawn[0].tolist() == [0, 1]
    assert drawn[-1].tolist() == [1, 0]
    flat = make(labels, scores, test=test, scale="linear")
    assert flat.ax_.get_xscale() == "linear"
    assert flat.ax_.get_xlim() == (0, 1)
    for bad in ("lin", None):
        with pytest.raises(InputError, match="scale="):
            make(labels, scores, scale=bad)


def test_straight_lines_are_bent_as_the_axes_are():
    """Between two thresholds, and on a line of equal accuracy, drawn points lie where they must."""
    display = ErrorCurveDisplay.from_predictions([0, 0, 1, 1], [1, 2, 2, 2], accuracies=[0.75])
    x, y = display.line_.get_xydata().T
    assert x.size > 50
    np.testing.assert_allclose(y[x > 0], np.interp(x[x > 0], display.curve.fpr, display.curve.fnr))
    x, y = display.accuracy_lines_[0].get_xydata().T
    assert x.size > 50
    np.testing.assert_allclose(y, display.lines[0](x), atol=1e-12)
