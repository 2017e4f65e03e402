"""Neyman-Pearson classifiers with densities and normal laws."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from known_truth import held_out_rows
from scipy.stats import beta, binom, gaussian_kde, nct, norm, t as student
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk
from ratekeeper.baselines import NPLDA, NSN2, NormalTolerance, PlugInNP

RARE = 1e-7  # chance that a correct build fails a simulation, on either side

MIXING = np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.2, -0.3, 0.7]])
COVARIANCE = MIXING @ MIXING.T
SHIFT = np.array([1.0, 0.5, 0.0])


def gaussians(rng, n_null, n_other):
    """Return two normal classes with one covariance; the null class, label 0, stands at 0."""
    X = rng.normal(size=(n_null + n_other, 3)) @ MIXING.T
    X[n_null:] += SHIFT
    return X, np.repeat([0, 1], [n_null, n_other])


def held_out_of(y, seed, size=0.5):
    """Return the rows of label 0 that a system with this seed trains on, and holds out."""
    return held_out_rows(np.asarray(y) == 0, seed, size)


def assert_as_often(count, trials, probability):
    """Check a count of independent events of a known probability."""
    assert binom.cdf(count, trials, probability) > RARE, (count, trials, probability)
    assert binom.sf(count - 1, trials, probability) > RARE, (count, trials, probability)


def assert_at_most_as_often(count, trials, probability):
    """Check a count of independent events of at most this probability."""
    assert binom.sf(count - 1, trials, probability) > RARE, (count, trials, probability)


def tolerance_factor(n):
    """Return how many deviations above the mean the limit of n scores lies, at 5% and 5%."""
    return nct.ppf(0.95, n - 1, norm.isf(0.05) * np.sqrt(n)) / np.sqrt(n)


# The normal tolerance limit


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    "system", [partial(NormalTolerance, LinearDiscriminantAnalysis()), NPLDA], ids=["any", "NPLDA"]
)
@pytest.mark.parametrize("n", [10, 20, 40])
def test_violations_on_normal_data(system, n):
    """On normal data the true rate, by the normal law itself, exceeds alpha in a share delta."""
    rng, trials, violations = np.random.default_rng(n), 250, 0
    for seed in range(trials):
        X, y = gaussians(rng, 2 * n, 60)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", rk.exceptions.RatekeeperWarning
            )  # 1% of normal scores get one
            clf = system(control="fpr", random_state=seed).fit(X, y)
        # Both decide by a linear function of x: read it off at the origin and the unit vectors.
        at_zero = clf.decision_function(np.zeros((1, 3)))[0]
        slope = clf.decision_function(np.eye(3)) - at_zero
        violations += norm.sf(-at_zero / np.sqrt(slope @ COVARIANCE @ slope)) > 0.05
    assert_as_often(violations, trials, 0.05)


@pytest.mark.parametrize("control", ["fpr", "fnr"])
def test_tolerance_threshold_is_mean_plus_factor_times_spread(control):
    """The threshold is the tolerance limit of the held-out log-odds, and decides strictly."""
    X, y = gaussians(np.random.default_rng(0), 30, 40)
    positive = {"fpr": 1, "fnr": 0}[control]
    clf = NormalTolerance(control=control, positive_label=positive, random_state=3).fit(X, y)
    rows, held_out = held_out_of(y, 3)
    rows = np.concatenate([rows, np.flatnonzero(y == 1)])
    model = clf.model_
    np.testing.assert_allclose(clf.n_training_, rows.size)
    odds = np.log(model.predict_proba(X)[:, 1] / model.predict_proba(X)[:, 0])
    limit = odds[held_out].mean() + tolerance_factor(15) * odds[held_out].std(ddof=1)
    assert clf.threshold_ == pytest.approx(limit)
    np.testing.assert_array_equal(clf.predict(X) == 1, odds > limit)


@pytest.mark.parametrize("system", [NormalTolerance, NPLDA])
def test_scores_that_are_not_normal_lead_to_a_warning(system):
    """A heavy tail in the null class gives a small p-value and a warning that says what to do."""
    X, y = gaussians(np.random.default_rng(2), 200, 200)
    calm = system(control="fpr", random_state=0).fit(X, y)
    assert calm.normality_p_value_ > 0.01
    with pytest.warns(rk.exceptions.RatekeeperWarning, match=r"not look normal.*use Umbrella"):
        wild = system(control="fpr", random_state=0).fit(np.sinh(2 * X), y)
    assert wild.normality_p_value_ < 0.01
    assert "normal" in wild.guarantee.condition


@pytest.mark.parametrize("system", [NormalTolerance, NPLDA])
def test_normal_refusals(system):
    """One held-out row and equal held-out scores are refused, with what is needed."""
    X, y = gaussians(np.random.default_rng(3), 12, 20)
    with pytest.raises(rk.TooFewScoresError, match=r"at least 2 held-out rows.*there are 1"):
        system(control="fpr", calibration_size=0.01).fit(X, y)
    rows, held_out = held_out_of(y, 0)
    X[held_out] = X[rows[0]]
    with pytest.raises(rk.InputError, match=r"All 6 held-out scores .* Use Umbrella"):
        system(control="fpr", random_state=0).fit(X, y)


# Linear discriminant analysis


def test_discriminant_is_the_textbook_one():
    """It is scikit-learn's LDA on the training rows, with a tolerance limit on the others."""
    X, y = gaussians(np.random.default_rng(4), 60, 80)
    X *= [1e-4, 1.0, 1e6]
    clf = NPLDA(control="fpr", random_state=5).fit(X, y)
    rows = np.concatenate([held_out_of(y, 5)[0], np.flatnonzero(y == 1)])
    null, other = X[rows][y[rows] == 0], X[rows][y[rows] == 1]
    pooled = (np.cov(null.T) * (len(null) - 1) + np.cov(other.T) * (len(other) - 1)) / (
        len(rows) - 2
    )
    np.testing.assert_allclose(
        clf.coef_, np.linalg.solve(pooled, other.mean(axis=0) - null.mean(axis=0)), rtol=1e-6
    )
    textbook = LinearDiscriminantAnalysis().fit(X[rows], y[rows]).coef_[0]
    np.testing.assert_allclose(
        clf.coef_ / np.linalg.norm(clf.coef_), textbook / np.linalg.norm(textbook), rtol=1e-6
    )
    values = X[held_out_of(y, 5)[1]] @ clf.coef_
    limit = values.mean() + tolerance_factor(30) * values.std(ddof=1)
    assert clf.threshold_ == pytest.approx(limit)


@pytest.mark.parametrize("control", ["fpr", "fnr"])
def test_other_error_nears_the_oracle(control):
    """With many rows both errors are those of the best possible test, Phi(z - distance)."""
    X, y = gaussians(np.random.default_rng(5), 60_000, 60_000)
    positive = {"fpr": 1, "fnr": 0}[control]
    clf = NPLDA(control=control, positive_label=positive, random_state=0).fit(X, y)
    spread = np.sqrt(clf.coef_ @ COVARIANCE @ clf.coef_)
    oracle = norm.cdf(norm.isf(0.05) - np.sqrt(SHIFT @ np.linalg.solve(COVARIANCE, SHIFT)))
    assert norm.sf(clf.threshold_ / spread) == pytest.approx(0.05, abs=0.004)
    assert norm.sf(clf.threshold_ / spread) < 0.05
    missed = norm.cdf((clf.threshold_ - clf.coef_ @ SHIFT) / spread)
    assert missed == pytest.approx(oracle, abs=0.02)


def test_paper_threshold_by_hand():
    """The paper's form is mean + t sd / sqrt(n) + K z, here worked out another way."""
    X, y = gaussians(np.random.default_rng(6), 80, 90)
    clf = NPLDA(control="fpr", threshold="paper", random_state=7).fit(X, y)
    rows, held_out = held_out_of(y, 7)
    null, other = X[rows], X[y == 1]
    freedom = len(null) + len(other) - 2
    pooled = (np.cov(null.T) * (len(null) - 1) + np.cov(other.T) * (len(other) - 1)) / freedom
    scale = np.sqrt(np.diag(pooled))
    correlation = pooled / np.outer(scale, scale)
    a = np.linalg.inv(correlation) @ ((other.mean(axis=0) - null.mean(axis=0)) / scale)
    lowest = (1 - np.sqrt(3 / freedom)) ** 2 - freedom**0.001 / (np.sqrt(freedom) * 3 ** (1 / 6))
    bound = np.sqrt(np.linalg.eigvalsh(correlation).max() * a @ a / lowest)
    w = X[held_out] / scale @ a
    limit = w.mean() + student.ppf(0.95, 39) * w.std(ddof=1) / np.sqrt(40) + bound * norm.isf(0.05)
    assert clf.threshold_ == pytest.approx(limit, rel=0.01)  # scales differ by a degree of freedom
    assert clf.guarantee.kind == "asymptotic"


@pytest.mark.parametrize("n", [10, 40])
def test_paper_threshold_keeps_the_rate(n):
    """On normal data the paper's threshold is violated in at most a share delta, here in none."""
    rng, violations = np.random.default_rng(n), 0
    for seed in range(100):
        X, y = gaussians(rng, 2 * n, 100)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rk.exceptions.RatekeeperWarning)
            clf = NPLDA(control="fpr", threshold="paper", random_state=seed).fit(X, y)
        spread = np.sqrt(clf.coef_ @ COVARIANCE @ clf.coef_)
        violations += norm.sf(clf.threshold_ / spread) > 0.05
    assert_at_most_as_often(violations, 100, 0.05)


def test_lda_refusals():
    """Too many columns, columns that follow from others and a bound that is void are refused."""
    rng = np.random.default_rng(9)
    y = np.repeat([0, 1], 10)
    with pytest.raises(rk.InputError, match=r"30 columns.*15 training rows.*at most 12.*NSN2"):
        NPLDA(control="fpr").fit(rng.normal(size=(20, 30)), y)
    X = rng.normal(size=(20, 13))
    with pytest.raises(rk.InputError, match=r"13 columns"):
        NPLDA(control="fpr").fit(X, y)
    NPLDA(control="fpr", random_state=0).fit(X[:, :12], y)
    with pytest.raises(rk.InputError, match=r"15 training rows and 4 columns.*rows are needed"):
        NPLDA(control="fpr", threshold="paper").fit(X[:, :4], y)
    X, y = gaussians(rng, 50, 50)
    for column in (X[:, 0] + X[:, 1], np.ones(100)):
        with pytest.raises(rk.InputError, match=r"Some of the 4 columns.*Drop such columns"):
            NPLDA(control="fpr").fit(np.column_stack([X, column]), y)
    with pytest.raises(rk.InputError, match=r"threshold='exact'"):
        NPLDA(threshold="exact").fit(X, y)


# The plug-in classifier


@pytest.mark.thorough
def test_plug_in_score_is_the_true_log_ratio():
    """For two normal classes the score is the true log ratio, up to the width of the kernels."""
    rng = np.random.default_rng(14)
    X = np.concatenate([rng.normal(0, 1, (30_000, 1)), rng.normal(1, 1, (15_000, 1))])
    clf = PlugInNP(control="fpr", alpha=0.1, random_state=0).fit(
        X, np.repeat([0, 1], [30_000, 15_000])
    )
    x = np.linspace(-1.0, 2.0, 31)
    score = clf.decision_function(x[:, None]) + clf.threshold_
    np.testing.assert_allclose(score, x - 0.5, atol=0.2)
    # The oracle's threshold is at the 90% quantile of the null class.
    assert clf.threshold_ == pytest.approx(norm.isf(0.1) - 0.5, abs=0.1)


def test_margin_threshold_is_the_smallest_allowed():
    """With "vc" the held-out rate is at most alpha less the margin, and one score more is not."""
    rng = np.random.default_rng(16)
    X, y = rng.normal(size=(1400, 1)), np.repeat([0, 1], [1200, 200])
    X[y == 1] += 2
    clf = PlugInNP(control="fpr", alpha=0.4, delta=0.5, threshold="vc", random_state=4).fit(X, y)
    evidence = clf.decision_function(X[held_out_of(y, 4)[1]])
    allowed = 0.4 - np.sqrt(8 * np.log(2 * (2 * np.e * 600) / 0.5) / 600)
    assert np.mean(evidence > 0) <= allowed < np.mean(evidence >= 0)
    exact = clf.set_params(threshold="order-statistic").fit(X, y).decision_function(X)
    assert np.mean(exact[y == 0] > 0) > allowed


def violation_of_rank(rank, n, alpha):
    """Return the chance that the rate above the rank-th largest of n scores exceeds alpha."""
    return beta.sf(alpha, rank, n + 1 - rank)


@pytest.mark.thorough
@pytest.mark.parametrize("system", [PlugInNP, NSN2])
def test_violations_of_density_classifiers(system):
    """The true rate, by the normal law, exceeds alpha exactly as often as the rank says."""
    rng, trials, violations = np.random.default_rng(17), 500, 0
    edges = np.linspace(-6, 6, 1201)
    x, mass = (edges[1:] + edges[:-1]) / 2, np.diff(norm.cdf(edges))
    for seed in range(trials):
        X, y = rng.normal(size=(120, 1)), np.repeat([0, 1], [80, 40])
        X[y == 1] += 1
        clf = system(control="fpr", alpha=0.2, delta=0.2, random_state=seed).fit(X, y)
        violations += mass @ (clf.predict(x[:, None]) == 1) > 0.2
    rank = max(k for k in range(1, 41) if violation_of_rank(k, 40, 0.2) <= 0.2)
    assert_as_often(violations, trials, violation_of_rank(rank, 40, 0.2))


def test_plug_in_refusals():
    """Many columns, odd widths and odd words are refused with what would do."""
    X, y = gaussians(np.random.default_rng(18), 200, 100)
    wide = np.hstack([X, X])
    with pytest.raises(rk.InputError, match=r"6 columns.*max_features=5.*NSN2"):
        PlugInNP().fit(wide, y)
    PlugInNP(alpha=0.2, max_features=6).fit(wide, y)
    for options, message in (
        ({"bandwidth": "silverman"}, "bandwidth='silverman'"),
        ({"bandwidth": 0}, "bandwidth=0 must be a positive number"),
        ({"bandwidth": True}, "bandwidth=True"),
        ({"threshold": "best"}, "threshold='best'"),
        ({"max_features": 0}, "max_features=0"),
        ({"calibration_size": 1}, "calibration_size=1 "),
    ):
        with pytest.raises(rk.InputError, match=message):
            PlugInNP(**options).fit(X, y)


@pytest.mark.parametrize("bandwidth", ["cv", 0.3])
def test_plug_in_with_other_widths(bandwidth):
    """Any width keeps the held-out rate, and rows far from all others decide nothing."""
    X, y = gaussians(np.random.default_rng(19), 200, 100)
    clf = PlugInNP(control="fpr", alpha=0.1, bandwidth=bandwidth, random_state=0).fit(X, y)
    assert np.mean(clf.decision_function(X[held_out_of(y, 0)[1]]) > 0) <= 0.1
    assert clf.decision_function([[1e9, 0.0, -1e9]])[0] == -clf.threshold_


# NSN2


def test_paper_threshold_takes_that_rank():
    """The threshold is the held-out score of the paper's rank, and 107 rows are refused."""
    X, y = gaussians(np.random.default_rng(20), 216, 80)
    clf = NSN2(control="fpr", threshold="paper", random_state=1).fit(X, y)
    assert np.count_nonzero(clf.decision_function(X[held_out_of(y, 1)[1]]) >= 0) == 1
    with pytest.raises(rk.TooFewScoresError, match="order-statistic") as refusal:
        NSN2(control="fpr", threshold="paper").fit(X[2:], y[2:])
    assert (refusal.value.available, refusal.value.needed) == (107, 108)


def test_screening_keeps_what_informs():
    """Columns that tell the classes apart are kept, and of 300 of noise almost none."""
    rng = np.random.default_rng(22)
    X, y = rng.normal(size=(500, 304)), np.repeat([0, 1], [300, 200])
    X[y == 1, :3] += 1.5
    X[y == 1, 3] *= 8  # the same mean: only the spread tells
    clf = NSN2(control="fpr", random_state=0).fit(X, y)
    assert set(range(4)) <= set(clf.features_.tolist())
    assert clf.features_.size <= 6
    np.testing.assert_array_equal(clf.features_, np.flatnonzero(clf.distances_ > clf.cutoff_))
    assert NSN2(control="fpr", screening=None).fit(X, y).features_.size == 304
    fixed = NSN2(control="fpr", screening=0.3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(fixed.features_, np.flatnonzero(fixed.distances_ >= 0.3))
    none = NSN2(control="fpr", screening=0.99, random_state=0).fit(X, y)
    np.testing.assert_array_equal(none.features_, [np.argmax(none.distances_)])


def test_noise_passes_screening_in_one_of_twenty():
    """If both classes have one law, any column passes in at most 5% of data sets."""
    rng, trials, passed = np.random.default_rng(23), 300, 0
    y = np.repeat([0, 1], [40, 20])
    for seed in range(trials):
        X = rng.normal(size=(60, 6))
        clf = NSN2(control="fpr", alpha=0.4, delta=0.4, random_state=seed).fit(X, y)
        farther = np.flatnonzero(clf.distances_ > clf.cutoff_)
        passed += farther.size > 0
        kept = farther if farther.size else [np.argmax(clf.distances_)]
        np.testing.assert_array_equal(clf.features_, kept)
    assert_at_most_as_often(passed, trials, 0.05)


def test_gaussian_marginals_are_naive_bayes():
    """With normal laws and all columns the score is the naive Bayes log ratio."""
    X, y = gaussians(np.random.default_rng(24), 200, 100)
    clf = NSN2(control="fpr", marginals="gaussian", screening=None, random_state=2).fit(X, y)
    null, other = X[held_out_of(y, 2)[0]], X[y == 1]
    expected = sum(
        norm.logpdf(X[:, j], other[:, j].mean(), other[:, j].std(ddof=1))
        - norm.logpdf(X[:, j], null[:, j].mean(), null[:, j].std(ddof=1))
        for j in range(3)
    )
    np.testing.assert_allclose(clf.decision_function(X) + clf.threshold_, expected, atol=1e-10)
    assert len(clf.densities_) == 3


def test_kernel_marginals_add_up():
    """With kernels the score is the sum of log ratios of gaussian_kde, column by column."""
    rng = np.random.default_rng(25)
    X, y = rng.normal(size=(300, 2)), np.repeat([0, 1], [200, 100])
    X[y == 1] += [1.0, -1.0]
    clf = NSN2(control="fpr", screening=None, random_state=2).fit(X, y)
    null, other = X[held_out_of(y, 2)[0]], X[y == 1]
    inside = X[(np.abs(X) < 2).all(axis=1)]
    expected = sum(
        gaussian_kde(other[:, j]).logpdf(inside[:, j])
        - gaussian_kde(null[:, j]).logpdf(inside[:, j])
        for j in range(2)
    )
    np.testing.assert_allclose(clf.decision_function(inside) + clf.threshold_, expected)


def test_nsn2_refusals():
    """Odd words and numbers are refused, and the guarantee names delta."""
    X, y = gaussians(np.random.default_rng(26), 200, 100)
    for options, message in (
        ({"screening": "lasso"}, "screening='lasso'"),
        ({"screening": 2}, "screening=2 "),
        ({"marginals": "t"}, "marginals='t'"),
        ({"threshold": "vc"}, "threshold='vc'"),
        ({"bandwidth": -1.0}, "bandwidth=-1"),
    ):
        with pytest.raises(rk.InputError, match=message):
            NSN2(**options).fit(X, y)
    assert "0.07" in NSN2(delta=0.07).guarantee.promise
    with pytest.raises(rk.TooFewScoresError, match="at least 59"):
        NSN2(control="fpr").fit(X[100:], y[100:])


def test_any_classifier_may_score():
    """Another classifier scores as well, and one without scores is refused."""
    X, y = gaussians(np.random.default_rng(27), 100, 100)
    clf = NormalTolerance(LogisticRegression(C=0.1), control="fpr", random_state=0).fit(X, y)
    assert isinstance(clf.model_, LogisticRegression)
    with pytest.raises(rk.InputError, match="must be a classifier"):
        NormalTolerance(np.std).fit(X, y)


@pytest.mark.parametrize("constant", [0.0, 0.1])
def test_lda_refuses_constant_columns(constant):
    """A column that is constant in both classes is refused, also if its mean is rounded."""
    X = np.random.default_rng(14).normal(size=(300, 2))
    y = np.repeat([0, 1], 150)
    with pytest.raises(rk.InputError, match="constant within the classes"):
        NPLDA(random_state=0).fit(np.column_stack([X, np.full(300, constant)]), y)
    with pytest.raises(rk.InputError, match="constant within the classes"):
        NPLDA(random_state=0).fit(np.column_stack([X, constant + y]), y)
