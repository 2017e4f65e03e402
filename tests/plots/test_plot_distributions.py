from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid
from sklearn.base import clone

import ratekeeper as rk
from ratekeeper.exceptions import InputError
from ratekeeper.plots import RealisedRateDisplay, SampleSizeDisplay


@pytest.mark.parametrize("method", [rk.Conformal(), rk.HighProbability(0.05), rk.Simultaneous()])
def test_the_distribution_is_that_of_the_certificate(halves, method):
    """Density, shaded part and probability belong to the Beta distribution of the test."""
    test = halves[0].control("fnr", 0.1, method=method)
    display = RealisedRateDisplay.from_calibration(test)
    assert display.law == test.certificate.cells[0].realised
    assert display.probability_above == display.law.exceeds(0.1)
    rates = np.linspace(0, 1, 200_001)
    density = display._density_at(rates)  # noqa: SLF001
    assert trapezoid(density, rates) == pytest.approx(1, abs=1e-6)
    above = rates >= 0.1
    assert trapezoid(density[above], rates[above]) == pytest.approx(
        display.probability_above, abs=1e-6
    )
    edge = display.area_.get_paths()[0].vertices[:, 0]
    assert edge.min() == 0.1
    assert display.rates[0] < display.law.quantile(0.001)
    assert display.rates[-1] > max(display.law.quantile(0.999), 0.1)


def test_the_counted_rate_is_that_of_the_evaluation(halves, fitted):
    """New objects are counted as `evaluate` counts them, and drawn with their interval."""
    cal, scores, labels = halves
    test = cal.control("fnr", 0.1, method=rk.Conformal())
    display = RealisedRateDisplay.from_calibration(test, scores=scores, labels=labels)
    assert display.counted == test.evaluate(scores, labels).target
    assert display.counted_ is not None
    clf, X, y = fitted
    one = RealisedRateDisplay.from_estimator(clf, X, y, draw=False)
    two = RealisedRateDisplay.from_calibration(clf.test_, draw=False)
    assert (one.law, one.alpha, one.control) == (two.law, two.alpha, two.control)
    wrong = clf.predict(X[y == 0]) == 1  # the FPR is controlled
    assert one.counted == rk.control.Rate(int(wrong.sum()), int((y == 0).sum()))
    assert RealisedRateDisplay.from_estimator(clf, draw=False).counted is None


def test_ties_and_cross_fits_are_told(fitted):
    """A distribution that is a bound is labelled so; that of a cross-fit is not known."""
    cal = rk.calibrate(np.repeat([0.0, 1.0], 50), np.tile([0, 1], 50))
    display = RealisedRateDisplay.from_calibration(cal.control("fnr", 0.1, method=rk.Conformal()))
    assert "ties make true rates smaller" in display.ax_.get_xlabel()
    clf, X, y = fitted
    crossed = rk.ErrorRateController(
        clone(clf.estimator_.estimator), alpha=0.1, method=rk.Conformal(), strategy="cross-fit"
    ).fit(X, y)
    with pytest.raises(rk.InputError, match="cross-fitted"):
        RealisedRateDisplay.from_estimator(crossed)


@pytest.mark.parametrize(("k", "n", "alpha"), [(1, 1, 0.5), (1, 19, 0.05), (900, 1000, 0.9)])
def test_extreme_distributions_are_drawn(k, n, alpha):
    """The smallest and the highest ranks have finite densities in the picture."""
    display = RealisedRateDisplay(rk.control.RealisedRate(k, n), alpha=alpha, control="fpr").plot()
    assert np.isfinite(display.density).all()
    display.figure_.canvas.draw()


def test_where_there_is_no_distribution_it_is_said(people, halves):
    """Methods without ranks, pooled groups and tests of both rates are refused with a remedy."""
    cal, scores, _ = halves
    make = RealisedRateDisplay.from_calibration
    with pytest.raises(InputError, match="rank method"):
        make(cal.control("fnr", 0.1, method=rk.methods.Smoothed()))
    with pytest.raises(InputError, match=r"test\.fnr or test\.fpr"):
        make(cal.control_both(0.1, 0.1, method=rk.Conformal()))
    with pytest.raises(InputError, match=r"Calibration\.control"):
        make(cal)
    with pytest.raises(InputError, match="Pass both, or neither"):
        make(cal.control("fnr", 0.1, method=rk.Conformal()), scores=scores)
    with pytest.raises(InputError, match="None of the objects is positive"):
        make(cal.control("fnr", 0.1, method=rk.Conformal()), scores=scores[:3], labels=[0, 0, 0])
    with pytest.raises(InputError, match="RealisedRate"):
        RealisedRateDisplay((5, 100), alpha=0.05, control="fnr")
    with pytest.raises(InputError, match="alpha=5"):
        RealisedRateDisplay(rk.control.RealisedRate(5, 100), alpha=5, control="fnr")
    groups = np.where(np.arange(3000) % 100 == 0, "few", "many")
    test = rk.calibrate(people[0], people[1], groups=groups).control(
        "fnr", 0.01, thin_groups="pool", method=rk.Conformal()
    )
    with pytest.raises(InputError, match="'few' has too few"):
        make(test, group="few")
    assert make(test, group="many", draw=False).group == "many"


def test_sizes_agree_with_the_plan():
    """At each n the curves are the distributions that the plan states, and begin at the least n."""
    plan = rk.plan("fpr", alpha=0.05, delta=0.1, n=150)
    display = SampleSizeDisplay.from_plan(plan)
    at = display.sizes.tolist().index(150)
    for curve, law in zip(
        display.curves, (plan.realised_marginal, plan.realised_high_probability), strict=True
    ):
        found = curve.mean[at], curve.low[at], curve.high[at]
        assert found == (law.mean, *law.interval)
        first = display.sizes[np.isfinite(curve.mean)].min()
        assert first == curve.smallest_n
    needed = [curve.smallest_n for curve in display.curves]
    assert needed == [plan.n_marginal, plan.n_high_probability]
    assert [line.get_xdata()[0] for line in display.smallest_lines_] == needed
    assert display.n_line_.get_xdata()[0] == 150
    assert display.ax_.get_xscale() == "log"


def test_sizes_of_a_test(halves, fitted, people):
    """A test and a controller bring control, alpha, delta and the number at hand."""
    test = halves[0].control("fnr", 0.1, method=rk.HighProbability(0.2))
    display = SampleSizeDisplay.from_calibration(test, sizes=[10, 100, 50], draw=False)
    assert display.n == halves[0].n(1)
    assert display.curves[1].method == rk.HighProbability(0.2)
    assert display.sizes.tolist() == [10, 50, 100]
    clf = fitted[0]
    shown = SampleSizeDisplay.from_estimator(clf, delta=0.01, draw=False)
    assert (shown.control, shown.alpha, shown.n) == ("fpr", 0.1, clf.test_.calibration.n(0))
    assert shown.curves[1].method == rk.HighProbability(0.01)
    scores, labels, groups = people
    grouped = rk.calibrate(scores, labels, groups=groups)
    one = SampleSizeDisplay.from_calibration(
        grouped.control("fnr", 0.1, method=rk.Conformal()), group="south"
    )
    assert one.n == grouped.n(1, "south")
    assert "group 'south'" in one.ax_.get_title("left")


def test_sizes_without_delta_have_one_curve():
    """Without delta only the promise on average is shown, also where it is impossible."""
    plan = rk.plan("fnr", alpha=0.05, delta=None)
    display = SampleSizeDisplay.from_plan(plan, sizes=[3, 5])
    assert len(display.curves) == len(display.lines_) == 1
    assert np.isnan(display.curves[0].mean).all()
    assert display.n_line_ is None


def test_sizes_that_are_none_are_refused():
    """Fractions, zero and things that are no plan are errors."""
    plan = rk.plan("fnr", alpha=0.05)
    for bad in ([0], [1.5], [], 7, [[1]], ["a"]):
        with pytest.raises(InputError, match="sizes"):
            SampleSizeDisplay.from_plan(plan, sizes=bad)
    with pytest.raises(InputError, match="plan='fnr' must be a plan"):
        SampleSizeDisplay.from_plan("fnr")
