from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

import ratekeeper as rk
from ratekeeper.diagnostics import rate_against_alpha, uniformity
from ratekeeper.exceptions import InputError
from ratekeeper.plots import PValueHistogramDisplay, RateAgainstAlphaDisplay

METHODS = [
    rk.Conformal(),
    rk.HighProbability(0.1),
    rk.methods.Empirical(),
    rk.methods.Smoothed(0),
    rk.methods.Kernel(),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_bins_count_what_tests_reject(halves, method):
    """The counts up to an edge are the errors of the test with alpha at that edge."""
    cal, scores, labels = halves
    display = PValueHistogramDisplay.from_calibration(
        cal, scores=scores, labels=labels, method=method, draw=False
    )
    for label in (0, 1):
        # All of one class are judged, together, since random draws depend on it.
        mine = scores[labels == label]
        p = getattr(cal.p_values(mine, method=method), f"p{label}")
        expected = [np.count_nonzero(p <= edge) for edge in display.edges[1:]]
        one = display.histograms[label]
        assert one.counts.cumsum().tolist() == expected
        assert one.counts.sum() == one.n == mine.size
        assert one.uniformity == uniformity(p)


def band_beyond(n, a, b):
    """Return the 95% band of how many of n new scores are beyond the a-th of a + b - 1."""
    old = np.arange(a + b - 1.0)
    cal = rk.calibrate(np.r_[old, old], np.repeat([0, 1], old.size))
    display = RateAgainstAlphaDisplay.from_calibration(
        cal,
        scores=np.zeros(n),
        labels=np.ones(n, dtype=int),
        control="fnr",
        method=rk.Conformal(),
        alphas=[a / (a + b)],
        band="pointwise",
        confidence=0.95,
        draw=False,
    )
    return float(display.expected_low[0] * n), float(display.expected_high[0] * n)


@pytest.mark.parametrize(("n", "a", "b"), [(50, 3, 40), (1, 1, 1), (2000, 50, 951), (30, 30, 1)])
def test_the_band_is_that_of_the_beta_binomial_distribution(n, a, b):
    """The limits are the quantiles that scipy gives."""
    law = stats.betabinom(n, a, b)
    assert band_beyond(n, a, b) == pytest.approx((law.ppf(0.025), law.ppf(0.975)), abs=1e-9)


def test_the_band_of_very_many_objects_is_interpolated():
    """Of millions of new objects the count follows the Beta distribution of the calibration."""
    low, high = band_beyond(3_000_000, 50, 951)
    limits = 3_000_000 * stats.beta(50, 951).ppf([0.025, 0.975])
    np.testing.assert_allclose([low, high], limits, rtol=1e-3)


def test_the_band_knows_the_steps_of_ranks():
    """With 9 calibration scores and 20 bins, half of the bins can hold no p-value."""
    rng = np.random.default_rng(0)
    cal = rk.calibrate(rng.normal(size=18), np.repeat([0, 1], 9))
    new, labels = rng.normal(size=400), np.repeat([0, 1], 200)
    display = PValueHistogramDisplay.from_calibration(cal, scores=new, labels=labels)
    one = display.histograms[1]
    assert one.n_calibration == 9
    # p = 0.1, 0.2, ..., 1.0, and a bin has its upper edge.
    assert one.high[::2].tolist() == [0.0] * 10
    assert (one.high[1::2] > 0).all()
    assert (one.counts[::2] == 0).all()


@pytest.mark.parametrize(
    ("method", "steps"), [(rk.Conformal(), [10] * 10), (rk.methods.Empirical(), [10] * 10)]
)
def test_the_band_of_each_bin_counts_its_ranks(method, steps):
    """A bin with j of the 100 gaps between 99 scores has the distribution of j and 100 - j."""
    rng = np.random.default_rng(0)
    cal = rk.calibrate(rng.normal(size=198), np.repeat([0, 1], 99))
    display = PValueHistogramDisplay.from_calibration(
        cal,
        scores=rng.normal(size=8000),
        labels=np.repeat([0, 1], 4000),
        method=method,
        bins=10,
        draw=False,
    )
    for one in display.histograms.values():
        limits = [stats.betabinom(4000, j, 100 - j).ppf([0.025, 0.975]) for j in steps]
        np.testing.assert_array_equal(np.column_stack([one.low, one.high]), limits)


def test_the_band_covers_over_calibration_sets():
    """Over calibration sets and objects the count of each bin lies in the 90% band that often."""
    rng = np.random.default_rng(3)
    inside = []
    for _ in range(150):
        cal = rk.calibrate(rng.normal(size=198), np.repeat([0, 1], 99))
        display = PValueHistogramDisplay.from_calibration(
            cal,
            scores=rng.normal(size=400),
            labels=np.repeat([0, 1], 200),
            bins=10,
            confidence=0.9,
            draw=False,
        )
        inside += [(h.low <= h.counts) & (h.counts <= h.high) for h in display.histograms.values()]
    assert 0.89 < np.mean(inside) < 0.95


def test_p_values_from_anywhere_have_a_binomial_band(halves):
    """P-values alone are counted alike, beside the binomial distribution."""
    cal, scores, labels = halves
    p = cal.p_values(scores)
    one = PValueHistogramDisplay.from_predictions(labels, p, draw=False)
    two = PValueHistogramDisplay.from_predictions(labels, (p.p0, p.p1.tolist()), draw=False)
    three = PValueHistogramDisplay.from_calibration(cal, scores=scores, labels=labels, draw=False)
    for label in (0, 1):
        n = int((labels == label).sum())
        for other in (two, three):
            np.testing.assert_array_equal(
                one.histograms[label].counts, other.histograms[label].counts
            )
        assert one.histograms[label].low.tolist() == stats.binom.ppf([0.025] * 20, n, 0.05).tolist()
        assert one.histograms[label].high[0] == stats.binom.ppf(0.975, n, 0.05)
        assert one.histograms[label].law == "binomial"
        assert three.histograms[label].law == "beta-binomial"
        assert (three.histograms[label].high > one.histograms[label].high).all()


def test_the_test_decides_which_p_values(halves, fitted):
    """A test brings its own method, and an estimator its test."""
    cal, scores, labels = halves
    strict = cal.control("fnr", 0.1, method=rk.HighProbability(0.1))
    kwargs = {"scores": scores, "labels": labels, "draw": False}
    one = PValueHistogramDisplay.from_calibration(strict, **kwargs)
    two = PValueHistogramDisplay.from_calibration(cal, method=rk.HighProbability(0.1), **kwargs)
    assert one.histograms[1].counts.tolist() == two.histograms[1].counts.tolist()
    both = PValueHistogramDisplay.from_calibration(
        cal.control_both(0.1, 0.1, method=rk.Conformal()), **kwargs
    )
    plain = PValueHistogramDisplay.from_calibration(cal, **kwargs)
    assert both.histograms[0].counts.tolist() == plain.histograms[0].counts.tolist()
    clf, X, y = fitted
    three = PValueHistogramDisplay.from_estimator(clf, X, y, draw=False)
    p = clf.p_values(X)
    assert three.histograms[0].uniformity == uniformity(p.p0[y == 0])
    rates = RateAgainstAlphaDisplay.from_estimator(clf, X, y, alphas=[0.1], draw=False)
    assert rates.table.errors[0] == np.count_nonzero(clf.predict(X[y == 0]) == 1)
    assert (rates.control, rates.alpha) == ("fpr", 0.1)


def test_a_thin_group_is_judged_as_the_test_does(people):
    """A pooled group shows the p-values of the test, and claims no distribution for them."""
    scores, labels, _ = people
    groups = np.where(np.arange(3000) % 100 == 0, "few", "many")
    cal = rk.calibrate(scores[:1000], labels[:1000], groups=groups[:1000])
    test = cal.control("fnr", 0.05, thin_groups="pool", method=rk.Conformal())
    mine = (groups == "few") & (np.arange(3000) >= 1000)
    display = PValueHistogramDisplay.from_calibration(
        test, scores=scores[mine], labels=labels[mine], groups=groups[mine], group="few", draw=False
    )
    p = test.p_values(scores[mine], groups[mine])
    one = display.histograms[1]
    assert one.uniformity == uniformity(p.p1[labels[mine] == 1])
    assert one.n_calibration is None
    assert display.histograms[0].n_calibration == cal.n(0, "few")


def test_rates_are_those_of_the_diagnostics(halves):
    """Table and pointwise band are those of the library, at every alpha."""
    cal, scores, labels = halves
    test = cal.control("fnr", 0.05, method=rk.Conformal())
    new = {"scores": scores, "labels": labels}
    display = RateAgainstAlphaDisplay.from_calibration(test, band="pointwise", **new)
    table = rate_against_alpha(cal, scores, labels, display.table.alpha, control="fnr")
    for name in ("rate", "low", "high", "errors", "compared"):
        np.testing.assert_array_equal(getattr(display.table, name), getattr(table, name))
    at = np.flatnonzero(display.table.alpha == 0.05)[0]
    law = test.certificate.cells[0].realised
    n = display.table.n[0]
    found = stats.betabinom(n, law.k, law.n + 1 - law.k).ppf([0.025, 0.975]) / n
    assert [display.expected_low[at], display.expected_high[at]] == found.tolist()
    assert display.table.errors[at] == test.evaluate(scores, labels).target.errors
    assert display.mark_.get_xdata()[0] == 0.05


def test_rates_from_p_values_agree(halves):
    """P-values alone give the same rates wherever a test is possible."""
    cal, scores, labels = halves
    alphas = [0.01, 0.2, 0.05]
    for control in ("fnr", "fpr"):
        one = RateAgainstAlphaDisplay.from_predictions(
            labels, cal.p_values(scores), control=control, alphas=alphas, draw=False
        )
        two = RateAgainstAlphaDisplay.from_calibration(
            cal, scores=scores, labels=labels, control=control, alphas=alphas, draw=False
        )
        for name in ("alpha", "rate", "low", "high", "n", "compared"):
            np.testing.assert_array_equal(getattr(one.table, name), getattr(two.table, name))
        assert one.expected_low is None
        drawn = one.plot().line_.get_xydata()
        assert drawn[:, 0].tolist() == sorted(alphas)
        assert drawn[:, 1].tolist() == sorted(one.table.rate)


def test_rates_of_one_group(people):
    """One group is counted with its own calibration scores alone."""
    scores, labels, groups = people
    cal = rk.calibrate(scores[:1000], labels[:1000], groups=groups[:1000])
    test = cal.control("fpr", 0.05, method=rk.Conformal())
    display = RateAgainstAlphaDisplay.from_calibration(
        test, scores=scores[1000:], labels=labels[1000:], groups=groups[1000:], group="south"
    )
    mine = (groups == "south") & (np.arange(3000) >= 1000)
    found = test.evaluate(scores[mine], labels[mine], groups[mine])
    at = np.flatnonzero(display.table.alpha == 0.05)[0]
    assert (display.table.errors[at], display.table.n[at]) == (found.target.errors, found.target.n)
    assert "group 'south'" in display.ax_.get_title("left")


@pytest.mark.parametrize(
    "method", [rk.Conformal(), rk.methods.Empirical(), rk.HighProbability(0.1)]
)
def test_a_group_without_scores_of_the_class_has_no_rates(people, method):
    """A group that has no calibration scores of the null class is shown, with a note alone."""
    scores, labels, groups = people
    kept = (groups == "north") | (labels == 0)
    cal = rk.calibrate(scores[kept], labels[kept], groups=groups[kept])
    test = cal.control("fnr", 0.1, method=method, thin_groups="pool")
    new = {"scores": scores, "labels": labels, "groups": groups}
    display = RateAgainstAlphaDisplay.from_calibration(test, group="south", **new)
    assert "no test at these alphas is possible" in display.ax_.get_xlabel()
    assert not display.above.any()
    assert np.isnan(display.expected_low).all()


def test_impossible_alphas_are_told():
    """Where no test is possible nothing is drawn, and a note says so."""
    cal = rk.calibrate(np.r_[np.arange(30), np.arange(30) + 5], np.repeat([0, 1], 30))
    new = {"scores": np.arange(40.0) + 0.5, "labels": np.repeat([0, 1], 20)}
    display = RateAgainstAlphaDisplay.from_calibration(cal, control="fnr", **new)
    assert "too few calibration scores" in display.ax_.get_xlabel()
    few = RateAgainstAlphaDisplay.from_calibration(cal, control="fnr", alphas=[0.01, 0.1], **new)
    assert "at 1% and below there are too few" in few.ax_.get_xlabel()
    assert (
        cal.control("fnr", 0.05, method=rk.Conformal()).threshold is not None
    )  # so "below 10%" would be false
    assert np.isnan(display.expected_low[~display.table.possible]).all()
    tiny = RateAgainstAlphaDisplay.from_calibration(cal, control="fnr", alphas=[0.001], **new)
    assert "no test at these alphas" in tiny.ax_.get_xlabel()


def test_a_rate_below_the_band_is_no_evidence():
    """Ties lower rates, and those of an atom that was seen once cannot be told from none."""
    cal = rk.calibrate(np.r_[np.arange(100.0) - 200, np.arange(100.0)], np.repeat([0, 1], 100))
    new = {"scores": np.r_[-150.0, np.full(500, 50.0)], "labels": np.r_[0, np.ones(500, int)]}
    display = RateAgainstAlphaDisplay.from_calibration(cal, control="fnr", **new)
    assert (display.table.rate < display.expected_low)[display.table.possible].any()
    assert not display.above.any()
    told = display.ax_.get_xlabel()
    assert "no evidence of drift" in told
    assert "below the grey band is no evidence: ties lower rates" in told


def test_a_simultaneous_band_is_wider_and_says_what_leaving_it_means(halves):
    """Only above the band of all alphas at once is called evidence, with its false alarms."""
    cal, scores, labels = halves
    new = {"control": "fnr", "labels": labels}
    make = RateAgainstAlphaDisplay.from_calibration
    wide = make(cal, scores=scores, **new)
    narrow = make(cal, scores=scores, band="pointwise", **new)
    assert (wide.band, wide.false_alarm) == ("simultaneous", pytest.approx(0.05))
    possible = wide.table.possible
    assert (wide.expected_low <= narrow.expected_low)[possible].all()
    assert (wide.expected_high >= narrow.expected_high)[possible].all()
    assert not wide.above.any()
    assert "no evidence of drift" in wide.ax_.get_xlabel()
    assert narrow.false_alarm > 0.1
    share = f"somewhere in up to {100 * narrow.false_alarm:.3g}% of cases"
    assert share in narrow.ax_.get_xlabel()
    assert "evidence" not in narrow.ax_.get_xlabel()
    drifted = make(cal, scores=scores - 0.3, **new)
    assert drifted.above.any()
    assert "evidence of drift (false alarm in at most 5% of cases)" in drifted.ax_.get_xlabel()
    one = make(cal, scores=scores, alphas=[0.05], draw=False, **new)
    alone = make(cal, scores=scores, alphas=[0.05], band="pointwise", draw=False, **new)
    assert one.expected_high == alone.expected_high
    unranked = make(cal, scores=scores, method=rk.methods.Kernel(), **new)
    assert unranked.expected_ is None
    assert "drift" not in unranked.ax_.get_xlabel()
    with pytest.raises(InputError, match="band='both'"):
        make(cal, scores=scores, band="both", **new)


def test_cross_fitted_bands_are_called_so(fitted):
    """Where other models scored the calibration, bands over calibration sets are labelled so."""
    clf, X, y = fitted
    crossed = rk.ErrorRateController(
        clone(clf.estimator_.estimator), alpha=0.1, method=rk.Conformal(), strategy="cross-fit"
    ).fit(X, y)
    for kind in (PValueHistogramDisplay, RateAgainstAlphaDisplay):
        assert "cross-fitted" in kind.from_estimator(crossed, X, y).ax_.get_xlabel()
        assert "cross-fitted" not in kind.from_estimator(clf, X, y).ax_.get_xlabel()


def test_many_new_objects_get_a_warning_beside_the_check(halves):
    """Where the check would find the luck of the calibration set, the picture says so."""
    cal, scores, labels = halves
    many = PValueHistogramDisplay.from_calibration(cal, scores=scores, labels=labels)
    assert "luck of the calibration set" in many.ax_.get_xlabel()
    few = PValueHistogramDisplay.from_calibration(cal, scores=scores[:200], labels=labels[:200])
    assert "luck" not in few.ax_.get_xlabel()
    texts = [text.get_text() for text in few.ax_.get_legend().get_texts()]
    check = few.histograms[1].uniformity
    assert any(f"{check.distance:.3f} from uniform" in text for text in texts)
    assert any(f"(p = {check.p_excess:.2g})" in text for text in texts)


def test_what_cannot_be_shown_is_refused(halves):
    """Scores in place of p-values, missing choices and missing classes are errors."""
    cal, scores, labels = halves
    new = {"scores": scores, "labels": labels}
    with pytest.raises(InputError, match=r"p0 has .* outside 0 to 1"):
        PValueHistogramDisplay.from_predictions(labels, (scores, scores))
    with pytest.raises(InputError, match=r"pair \(p0, p1\)"):
        PValueHistogramDisplay.from_predictions(labels, scores)
    with pytest.raises(InputError, match="for 1 scores"):
        PValueHistogramDisplay.from_predictions(labels, ([0.5], [0.5]))
    with pytest.raises(InputError, match='control=None must be "fnr" or "fpr"'):
        RateAgainstAlphaDisplay.from_calibration(cal, **new)
    with pytest.raises(InputError, match="a test of one rate"):
        RateAgainstAlphaDisplay.from_calibration(
            cal.control_both(0.1, 0.1, method=rk.Conformal()), **new
        )
    with pytest.raises(InputError, match="the test keeps the FNR"):
        RateAgainstAlphaDisplay.from_calibration(
            cal.control("fnr", 0.1, method=rk.Conformal()), control="fpr", **new
        )
    with pytest.raises(InputError, match="control='tpr'"):
        RateAgainstAlphaDisplay.from_calibration(cal, control="tpr", **new)
    with pytest.raises(InputError, match="method='confromal'"):
        PValueHistogramDisplay.from_calibration(cal, method="confromal", **new)
    with pytest.raises(InputError, match="confidence=95"):
        PValueHistogramDisplay.from_calibration(cal, confidence=95, **new)
    with pytest.raises(InputError, match="None of the 2 objects is 1"):
        RateAgainstAlphaDisplay.from_calibration(cal, control="fnr", scores=[1, 2], labels=[0, 0])
    for bad in (0.05, [], [[0.05]], [5]):
        with pytest.raises(InputError, match="alpha"):
            RateAgainstAlphaDisplay.from_predictions(
                labels, cal.p_values(scores), control="fnr", alphas=bad
            )
    pair = cal.control_both(0.1, 0.2, method=rk.Conformal())
    shown = RateAgainstAlphaDisplay.from_calibration(pair, control="fpr", draw=False, **new)
    assert shown.alpha == 0.2
