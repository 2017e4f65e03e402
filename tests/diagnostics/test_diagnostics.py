"""The facts behind the promises, checked against theory and against other libraries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import each
from scipy import stats

import ratekeeper as rk
from ratekeeper import diagnostics
from ratekeeper.control import Rate


def _sample(decimals=12, size=400):
    """Return scores and labels; few decimals make ties."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, size)
    return rng.normal(2 * labels).round(decimals), labels


# The estimate m / n


@pytest.mark.parametrize("n", [1, 10, 1000])
def test_variance_is_that_of_a_binomial_share(n):
    """The variance of m / n is p (1 - p) / n, and never above 1 / (4 n)."""
    p = np.linspace(0, 1, 101)
    found = diagnostics.estimator_variance(p, n)
    np.testing.assert_allclose(found.variance, stats.binom(n, p).var() / n**2, atol=1e-17)
    assert found.variance.max() == pytest.approx(found.bound)
    assert (found.variance <= found.bound).all()
    assert float(diagnostics.estimator_variance(0.05, n).variance) == pytest.approx(0.0475 / n)


def test_p_value_interval_is_exact():
    """The interval of a p-value is the exact binomial one of its count."""
    low, high = diagnostics.p_value_interval([0, 3, 100], 100, confidence=0.9)
    for i, count in enumerate([0, 3, 100]):
        assert (low[i], high[i]) == Rate(count, 100, confidence=0.9).interval
        exact = stats.binomtest(count, 100).proportion_ci(0.9, "exact")
        assert (low[i], high[i]) == pytest.approx((exact.low, exact.high))


def test_band_holds_for_all_objects_at_once():
    """Over calibration sets, m / n leaves its band anywhere with probability at most delta."""
    n, delta, sets = 50, 0.2, 4000
    ranked = np.sort(np.random.default_rng(1).random((sets, n)), axis=1)
    steps = np.arange(n) / n
    farthest = np.maximum(ranked - steps, steps + 1 / n - ranked).max(axis=1)
    failures = int((farthest > diagnostics.dkw_band(n, delta)).sum())
    assert failures <= stats.binom.isf(1e-7, sets, delta)


@each("delta", [0.001, 0.05, 0.5])
@each("width", [0.3, 0.05, 0.0123, 0.001])
def test_sample_size_inverts_the_band(width, delta):
    """The sample size is the smallest whose band is narrow enough."""
    n = diagnostics.dkw_sample_size(width, delta)
    assert diagnostics.dkw_band(n, delta) <= width
    assert n == 1 or diagnostics.dkw_band(n - 1, delta) > width
    assert diagnostics.dkw_band(n, delta) == math.sqrt(math.log(2 / delta) / (2 * n))


# Uniformity


def test_distances_are_those_of_kolmogorov_and_smirnov():
    """Both distances are the largest steps between the shares and the diagonal."""
    p = np.random.default_rng(2).random(200) ** 1.2
    found = diagnostics.uniformity(p)
    ranked, i = np.sort(p), np.arange(1, 201)
    above, below = (i / 200 - ranked).max(), (ranked - (i - 1) / 200).max()
    assert found.excess == pytest.approx(above)
    assert found.distance == pytest.approx(max(above, below))
    assert found.n == 200


@pytest.mark.parametrize("null_class", [0, 1])
def test_true_p_values_are_uniform(null_class):
    """Theorem 1: the true p-values of objects of class c are uniform."""
    scores = np.random.default_rng(3).normal(2 * null_class, 1, 5000)
    law = stats.norm(2 * null_class, 1)
    found = diagnostics.uniformity(law.cdf(scores) if null_class else law.sf(scores))
    assert found.p_value > 1e-7
    assert found.p_excess > 1e-7


def test_small_p_values_are_an_excess():
    """Too many small p-values are found in the one direction, too few in neither."""
    p = np.random.default_rng(4).random(2000)
    assert diagnostics.uniformity(p**2).p_excess < 1e-9
    assert diagnostics.uniformity(np.sqrt(p)).p_excess > 0.9
    assert diagnostics.uniformity(np.sqrt(p)).p_value < 1e-9


def test_discrete_p_values_are_on_the_safe_side():
    """For discrete p-values of a valid method, a small p_excess is no more frequent than said."""
    rng = np.random.default_rng(5)
    samples = rng.integers(1, 21, size=(600, 200)) / 20
    alarms = sum(diagnostics.uniformity(p).p_excess < 0.05 for p in samples)
    assert alarms <= stats.binom.isf(1e-7, 600, 0.05)


def test_one_calibration_set_is_not_uniform():
    """Given one small calibration set, rank p-values of very many objects are not uniform."""
    rng = np.random.default_rng(6)
    labels = np.repeat([0, 1], 20)
    cal = rk.calibrate(rng.normal(3 * labels), labels)
    assert diagnostics.uniformity(cal.p_values(rng.normal(3, 1, 20_000)).p1).p_value < 1e-6


# Realised rates against alpha

METHODS = [
    rk.Conformal(),
    rk.methods.Empirical(),
    rk.HighProbability(0.1),
    rk.Simultaneous(0.1),
    rk.methods.Smoothed(random_state=3),
    rk.methods.Resampled(size=40, random_state=3),
    rk.methods.Bootstrap(replicates=50),
    rk.methods.Parametric("norm"),
    rk.methods.Kernel(),
]
ALPHAS = [0.2, 0.001, 0.05, 0.1, 0.5]


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ContradictedFitWarning")
@each("method", METHODS)
@each("control", ["fnr", "fpr"])
@each("higher", [True, False])
@each("decimals", [12, 0])
def test_table_agrees_with_each_test(method, control, higher, decimals):
    """Every row is what the test at that alpha would count; impossible rows are those refused."""
    scores, labels = _sample(decimals, size=700)
    scores = scores if higher else -scores
    cal = rk.calibrate(scores[:200], labels[:200], higher_is_positive=higher)
    table = diagnostics.rate_against_alpha(
        cal, scores[200:], labels[200:], ALPHAS, control=control, method=method
    )
    for i, alpha in enumerate(ALPHAS):
        if not table.possible[i]:
            with pytest.raises(rk.TooFewScoresError):
                cal.control(control, alpha, method=method)
            assert (table.compared[i], table.errors[i]) == ("impossible", 0)
            assert np.isnan([table.rate[i], table.low[i], table.high[i]]).all()
            continue
        found = cal.control(control, alpha, method=method).evaluate(scores[200:], labels[200:])
        assert (table.errors[i], table.n[i]) == (found.target.errors, found.target.n)
        assert (table.low[i], table.high[i]) == found.target.interval
        assert table.rate[i] == found.target.rate
        low, high = found.target.interval
        where = "below" if high <= alpha else "above" if low > alpha else "around"
        assert table.compared[i] == where


def test_table_in_groups():
    """With groups, errors are counted over all of them, and one thin group makes an alpha fail."""
    scores, labels = _sample(size=900)
    groups = np.where(np.arange(900) % 10 < 2, "few", "many")
    cal = rk.calibrate(scores[:500], labels[:500], groups=groups[:500])
    n_few = cal.n(1, "few")
    table = diagnostics.rate_against_alpha(
        cal,
        scores[500:],
        labels[500:],
        [0.9 / (n_few + 1), 1 / (n_few + 1), 0.2],
        control="fnr",
        groups=groups[500:],
        confidence=0.8,
    )
    assert table.possible.tolist() == [False, True, True]
    found = cal.control("fnr", 0.2, method=rk.Conformal()).evaluate(
        scores[500:], labels[500:], groups[500:]
    )
    assert table.errors[2] == found.target.errors
    interval = Rate(found.target.errors, found.target.n, confidence=0.8).interval
    assert (table.low[2], table.high[2]) == interval


def test_table_keeps_the_promise():
    """Averaged over calibration sets, the realised rate of the default is at most alpha."""
    rng, alphas = np.random.default_rng(7), np.array([0.05, 0.1, 0.3])
    sets, n = 4000, 39
    labels = np.arange(2 * n + 2) % 2
    errors = np.zeros(3, dtype=int)
    for scores in rng.normal(3 * labels, size=(sets, 2 * n + 2)):
        cal = rk.calibrate(scores[:-2], labels[:-2])
        table = diagnostics.rate_against_alpha(cal, scores[-2:], [0, 1], alphas, control="fnr")
        errors += table.errors
    # One new positive for each set, and alpha (n + 1) is whole, so the rate is alpha exactly.
    assert (errors <= stats.binom.isf(1e-7, sets, alphas)).all()
    assert (errors >= stats.binom.ppf(1e-7, sets, alphas)).all()


def test_table_takes_the_labels_of_the_calibration():
    """Labels are read as at calibration, whichever is positive, and foreign ones are refused."""
    scores, labels = _sample()
    words = np.array(["ham", "spam"])[labels]
    cal = rk.calibrate(scores, words, positive_label="spam")
    table = diagnostics.rate_against_alpha(cal, scores, words, [0.1], control="fpr")
    assert table.n[0] == (labels == 0).sum()
    with pytest.raises(rk.InputError, match="Write labels as at calibration"):
        diagnostics.rate_against_alpha(
            cal, scores, np.array(["eggs", "spam"])[labels], [0.1], control="fpr"
        )


# What is refused


@each(
    ("call", "message"),
    [
        (lambda: diagnostics.estimator_variance(1.5, 10), "such as 1.5. Pass p-values, not scores"),
        (lambda: diagnostics.estimator_variance("x", 10), "p='x' must be one or more numbers"),
        (lambda: diagnostics.estimator_variance(0.5, 0), "n=0 must be a whole number from 1 up"),
        (lambda: diagnostics.dkw_band(10, 0), "delta=0 is not a rate"),
        (lambda: diagnostics.dkw_band(2.5, 0.1), "n=2.5 must be a whole number"),
        (lambda: diagnostics.dkw_sample_size(0, 0.1), "width=0 is not a rate"),
        (lambda: diagnostics.p_value_interval(0.1, 10), "pass counts, not rates"),
        (lambda: diagnostics.uniformity([]), "p_values is empty"),
        (lambda: diagnostics.uniformity([0.5, np.nan]), "1 of 2 values outside [0, 1]"),
        (lambda: diagnostics.uniformity(["a"]), "p_values is text"),
        (lambda: diagnostics.uniformity(0.5), "p_values is a single value"),
        (lambda: diagnostics.fnr_fpr_curve([1, 2], [0, 0]), "labels has one class only"),
        (lambda: diagnostics.fnr_fpr_curve([1, 2, 3], [0, 1]), "labels has 2 values for 3 scores"),
        (lambda: diagnostics.fnr_fpr_curve([1, np.nan], [0, 1]), "1 NaN value, at position 1"),
        (
            lambda: diagnostics.concave_hull_gap([1, 2], [0, 1], higher_is_positive="no"),
            "higher_is_positive='no' must be True or False",
        ),
        (lambda: diagnostics.reversed_score([1, 2], ["a", "b"]), "which one is positive?"),
        (lambda: diagnostics.equal_accuracy_line(90, 0.5), "Write 90% as accuracy=0.9"),
        (lambda: diagnostics.equal_accuracy_line(0.9, 1), "weight_positive=1 is not a rate"),
        (lambda: diagnostics.fnr_fpr_curve([1, 2], [0, 1]).accuracy(0), "weight_positive=0 is not"),
        (
            lambda: diagnostics.concave_hull_gap([1, 2], [0, 1]).other_error_at("tpr", 0.1),
            "control='tpr' must be",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    """What cannot be used is refused with the value, the need and the remedy."""
    with pytest.raises(rk.InputError) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alphas": 0.1}, "alphas=0.1 must be a list of rates"),
        ({"alphas": []}, "alphas=[] must be a list of rates"),
        ({"alphas": [0.1, 5]}, "alpha=5.0 is not a rate"),
        ({"control": "both"}, "control='both' must be"),
        ({"method": "confromal"}, "must be a method object"),
        ({"groups": ["a"] * 400}, "the calibration has no groups"),
        ({"labels": [0, 1]}, "labels has 2 values for 400 scores"),
        ({"scores": np.full(400, np.nan)}, "400 NaN values"),
        ({"confidence": 95}, "confidence=95 is not a rate"),
    ],
)
def test_bad_tables_are_refused(change, message):
    """A table that cannot be made is refused with the value, the need and the remedy."""
    scores, labels = _sample()
    arguments = {"scores": scores, "labels": labels, "alphas": [0.1], "control": "fnr", **change}
    with pytest.raises(rk.InputError) as caught:
        diagnostics.rate_against_alpha(rk.calibrate(scores, labels), **arguments)
    assert message in str(caught.value)
