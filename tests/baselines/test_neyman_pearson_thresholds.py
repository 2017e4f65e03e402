from __future__ import annotations

import math

import numpy as np
import pytest
from known_truth import FirstColumn, gaussian, held_out_of_both, held_out_rows
from scipy.stats import binom, norm
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import ratekeeper as rk
from ratekeeper.baselines import (
    ConstrainedThreshold,
    ConvexAggregation,
    MultiplierSearch,
    Umbrella,
    np_roc,
)

RARE = 1e-6


def violation_rate(k, n, alpha):
    """Return the sum of Tong, Feng and Li, equation 1, term by term."""
    terms = [math.comb(n, j) * (1 - alpha) ** j * alpha ** (n - j) for j in range(k, n + 1)]
    return math.fsum(terms)


def assert_binomial(count, trials, probability, least=None):
    """Assert that a count agrees with its law, or with one from `least` to `probability`."""
    least = probability if least is None else least
    assert binom.ppf(RARE / 2, trials, least) <= count
    assert count <= binom.isf(RARE / 2, trials, probability)


# Umbrella


@pytest.mark.parametrize(("alpha", "least"), [(0.05, 59), (0.01, 299), (0.001, 2995)])
def test_umbrella_published_sizes(alpha, least):
    """The umbrella works from the published number of held-out rows on, and not with one fewer."""
    rng = np.random.default_rng(0)
    X, y = gaussian(rng, 2 * least)
    Umbrella(FirstColumn(), control="fpr", alpha=alpha, random_state=0).fit(X, y)
    need = (
        rf"alpha={alpha:g} with delta=0.05 needs at least {least:,} held-out rows of the null "
        rf"class, and there are {least - 1:,}\. Add rows, or raise alpha, delta or"
    )
    with pytest.raises(rk.TooFewScoresError, match=need) as caught:
        Umbrella(FirstColumn(), control="fpr", alpha=alpha, random_state=0).fit(X[2:], y[2:])
    assert (caught.value.available, caught.value.needed) == (least - 1, least)


@pytest.mark.parametrize(("alpha", "delta"), [(0.05, 0.05), (0.1, 0.01), (0.25, 0.5)])
def test_umbrella_order_statistic(alpha, delta):
    """The threshold is the first order statistic with a violation rate of at most delta."""
    rng = np.random.default_rng(1)
    for n in range(60, 400, 37):
        X, y = gaussian(rng, 2 * n)
        clf = Umbrella(FirstColumn(), control="fpr", alpha=alpha, delta=delta, random_state=n)
        _, held_out = held_out_rows(y == 0, seed=n)
        k = next(k for k in range(n // 2, n + 1) if violation_rate(k, n, alpha) <= delta)
        assert clf.fit(X, y).thresholds_[0] == np.sort(X[held_out, 0])[k - 1]


def test_umbrella_violations():
    """With one split the true rate exceeds alpha as often as the published bound says."""
    rng, trials, n = np.random.default_rng(2), 1200, 100
    clf = Umbrella(FirstColumn(), control="fpr", random_state=0)
    rates = [norm.sf(clf.fit(*gaussian(rng, 2 * n)).thresholds_[0]) for _ in range(trials)]
    k = next(k for k in range(n // 2, n + 1) if violation_rate(k, n, 0.05) <= 0.05)
    assert_binomial(np.sum(np.array(rates) > 0.05), trials, violation_rate(k, n, 0.05))


def test_umbrella_vote():
    """Several splits decide by strict majority, and promise nothing."""
    X, y = gaussian(np.random.default_rng(3), 150)
    new = np.linspace(0, 4, 500)[:, None]
    for splits in (3, 4):
        clf = Umbrella(control="fpr", alpha=0.2, splits=splits, random_state=0).fit(X, y)
        votes = [
            model.predict_proba(new)[:, 1] > threshold
            for model, threshold in zip(clf.models_, clf.thresholds_, strict=True)
        ]
        assert set(np.sum(votes, axis=0)) == set(range(splits + 1))  # ties too
        np.testing.assert_array_equal(clf.predict(new) == 1, np.sum(votes, axis=0) > splits / 2)
        assert clf.guarantee.kind == "none"
        assert f"vote of {splits} splits" in clf.guarantee.promise
    assert Umbrella().guarantee.kind == "high probability"


# ConstrainedThreshold


@pytest.mark.parametrize("control", ["fnr", "fpr"])
@pytest.mark.parametrize("epsilon", [0, 0.07, None])
def test_constrained_threshold_is_optimal(control, epsilon):
    """No threshold on the training scores keeps the constraint with a smaller other error."""
    rng = np.random.default_rng(4)
    for n in (7, 20, 41, 100):
        X, y = gaussian(rng, n, decimals=1)  # with ties
        clf = ConstrainedThreshold(control=control, alpha=0.1, epsilon=epsilon).fit(X, y)
        null = y == (control == "fnr")
        expected = 0.1 + (math.sqrt(math.log(40) / (2 * n)) if epsilon is None else epsilon) / 2
        assert clf.allowed_ == pytest.approx(expected, abs=1e-15)
        scores = clf.model_.predict_proba(X)[:, int(control == "fpr")]
        cuts = [-np.inf, *np.unique(scores)]
        best = min(
            np.mean(scores[~null] <= cut) for cut in cuts if np.mean(scores[null] > cut) <= expected
        )
        rejected = clf.predict(X) == clf.other_label_
        assert np.mean(rejected[null]) <= expected
        assert np.mean(~rejected[~null]) == best
        assert clf.n_training_ == 2 * n


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("epsilon", "errors"), [(0, 5), (None, 11)])
def test_constrained_threshold_exceeds(epsilon, errors):
    """Its true rate is above alpha as often as a Beta law says: in 62% and 99% of trainings."""
    rng, trials, n = np.random.default_rng(5), 600, 100
    clf = ConstrainedThreshold(FirstColumn(), control="fpr", epsilon=epsilon)
    rates = [norm.sf(clf.fit(*gaussian(rng, n)).threshold_) for _ in range(trials)]
    exact = binom.cdf(errors, n, 0.05)  # P(Beta(errors + 1, n - errors) > 0.05)
    assert exact == pytest.approx({5: 0.616, 11: 0.9957}[errors], abs=1e-4)
    assert_binomial(np.sum(np.array(rates) > 0.05), trials, exact)


def test_constrained_threshold_without_constraint():
    """A constraint from 1 up allows everything, with finite decision values."""
    X, y = gaussian(np.random.default_rng(6), 10)
    clf = ConstrainedThreshold(epsilon=2).fit(X, y)
    assert (clf.predict(X) == 0).all()
    assert np.isfinite(clf.decision_function(X)).all()


@pytest.mark.parametrize("system", [ConstrainedThreshold, MultiplierSearch])
@pytest.mark.parametrize("epsilon", [-0.1, np.nan, np.inf, "half", True])
def test_epsilon_refused(system, epsilon):
    """An epsilon that is no number from 0 up is refused with its value."""
    X, y = gaussian(np.random.default_rng(7), 10)
    with pytest.raises(rk.InputError, match=rf"epsilon={epsilon!r} must be a finite number"):
        system(epsilon=epsilon).fit(X, y)


# MultiplierSearch


@pytest.mark.parametrize("control", ["fnr", "fpr"])
@pytest.mark.parametrize("estimator", [None, LinearSVC()])
def test_multiplier_search_takes_the_best_trial(control, estimator):
    """Training keeps the constraint, with the smallest other error of all weights that do."""
    rng = np.random.default_rng(8)
    y = np.repeat([0, 1], 120)
    X = rng.normal(size=(240, 3)) + 0.8 * y[:, None]
    clf = MultiplierSearch(estimator, control=control, alpha=0.08, epsilon=0).fit(X, y)
    null = y == (control == "fnr")
    rejected = clf.predict(X) == clf.other_label_
    multipliers, null_errors, other_errors = clf.trials_.T
    kept = null_errors <= 0.08
    assert np.mean(rejected[null]) <= 0.08
    assert np.mean(~rejected[~null]) == pytest.approx(other_errors[kept].min(), abs=1e-12)
    assert 0 < np.sum(kept) < len(kept)
    # Twelve bisections of a stride of 4 leave a factor of 4^(1/4096) between the two sides.
    gap = multipliers[kept].min() / multipliers[~kept].max()
    assert gap == pytest.approx(4 ** (1 / 4096), abs=1e-9)
    np.testing.assert_array_equal(
        rejected, clf.model_.predict(X) == clf.other_label_
    )  # the border is the classifier's own


def test_multiplier_is_the_likelihood_ratio():
    """For two Gaussian classes the multiplier tends to the likelihood ratio at the quantile."""
    X, y = gaussian(np.random.default_rng(9), 20_000)
    clf = MultiplierSearch(LogisticRegression(C=1e6), control="fpr", epsilon=0).fit(X, y)
    # N(2, 1) over N(0, 1) is exp(2 x - 2).
    assert math.log(clf.multiplier_) == pytest.approx(2 * norm.isf(0.05) - 2, abs=0.15)


@pytest.mark.thorough
def test_multiplier_search_exceeds():
    """Its true rate is above alpha far more often than a promise would allow."""
    rng, trials = np.random.default_rng(10), 40
    quantiles = norm.ppf((np.arange(4000) + 0.5) / 4000)[:, None]
    clf = MultiplierSearch(control="fpr", epsilon=0, steps=6)
    rates = [np.mean(clf.fit(*gaussian(rng, 100)).predict(quantiles)) for _ in range(trials)]
    assert np.sum(np.array(rates) > 0.05) > binom.isf(RARE, trials, 0.05)


class Wavering(FirstColumn):
    """A classifier whose border does not follow the weight of the null class steadily."""

    def fit(self, X, y, sample_weight=None):
        """Set the border by the weight of the first row over that of the last."""
        ratio = sample_weight[0] / sample_weight[-1]
        borders = ((0.9, 2.0), (0.2, 1.8), (0.02, 2.5), (0.0, 0.0))
        self.border_ = next(border for least, border in borders if ratio >= least)
        return super().fit(X, y)

    def decision_function(self, X):
        """Return how far beyond the border the first column is."""
        return X[:, 0] - self.border_


def test_multiplier_search_compares_all_trials():
    """A weight tried on the way is taken if the last ones are worse."""
    X, y = gaussian(np.random.default_rng(25), 2000)
    clf = MultiplierSearch(Wavering(), control="fpr", epsilon=0).fit(X, y)
    assert clf.multiplier_ == 1 / 4
    assert clf.trials_[-1, 0] < 1 / 16
    np.testing.assert_array_equal(clf.predict(X) == 1, X[:, 0] > 1.8)


def test_multiplier_search_on_one_side():
    """Where any weight keeps the constraint, the smallest other error is found all the same."""
    X, y = gaussian(np.random.default_rng(11), 50)
    clf = MultiplierSearch(control="fpr", epsilon=1.99).fit(X, y)
    assert len(clf.trials_) == 11
    assert clf.trials_[:, 2].min() == 0
    assert np.mean(clf.predict(X[y == 1])) == 1


def test_multiplier_search_refusals():
    """Learners without weights, or deaf to them, are refused."""
    X, y = gaussian(np.random.default_rng(12), 50)
    with pytest.raises(rk.InputError, match="takes sample_weight"):
        MultiplierSearch(KNeighborsClassifier()).fit(X, y)
    with pytest.raises(rk.InputError, match=r"No weight .* 1,048,576 .* does not follow"):
        MultiplierSearch(FirstColumn(), control="fpr", epsilon=0).fit(X, y)
    with pytest.raises(rk.InputError, match="steps=-1 must be a whole number from 0 up"):
        MultiplierSearch(steps=-1).fit(X, y)


# ConvexAggregation


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_convex_aggregation_keeps_its_constraint(control):
    """The hinge risk of the held-out null rows is allowed, and bounds their rejected share."""
    rng = np.random.default_rng(15)
    y = np.repeat([0, 1], 300)
    X = rng.normal(size=(600, 2)) + 1.2 * y[:, None]
    clf = ConvexAggregation(control=control, alpha=0.1, random_state=3).fit(X, y)
    null = y == (control == "fnr")
    _, held_out = held_out_of_both(null, seed=3)
    rows = held_out[null[held_out]]
    sums = np.full(len(X), -clf.weights_[-1])  # the vote that always keeps
    pairs = zip(clf.models_, clf.cuts_, clf.weights_[:-1].reshape(3, 4), strict=True)
    for model, cuts, weights in pairs:
        scores = model.predict_proba(X)[:, int(control == "fpr")]
        sums += np.sum(np.where(scores[:, None] > cuts, 1, -1) * weights, axis=1)
    risk = np.mean(1 + sums[rows])
    assert risk <= 0.1 + 1e-12
    assert risk > 0.09  # the optimum uses up the constraint here
    rejected = clf.predict(X) == clf.other_label_
    np.testing.assert_array_equal(rejected, sums > 1e-12)  # training rows lie on thresholds
    assert 0 < np.mean(rejected[rows]) <= risk
    assert clf.allowed_ == 0.1
    assert clf.n_training_ == 300


def test_convex_aggregation_strengthened():
    """It refuses up to (kappa / alpha)^2 held-out rows, and promises from there on."""
    rng = np.random.default_rng(16)
    easy = {"alpha": 0.4, "delta": 0.5, "control": "fpr", "random_state": 0}
    clf = ConvexAggregation(estimators=[FirstColumn()], strengthen=True, **easy)
    X, y = gaussian(rng, 58)
    clf.fit(X, y)
    assert clf.allowed_ == pytest.approx(0.4 - math.sqrt(2 * math.log(10) / 29), abs=1e-12)
    assert clf.allowed_ > 0
    assert clf.guarantee.kind == "high probability"
    need = r"strengthened for 5 votes, needs at least 29 held-out .* there are 28\. .*=False"
    with pytest.raises(rk.TooFewScoresError, match=need):
        clf.fit(X[2:], y[2:])
    with pytest.raises(rk.TooFewScoresError, match="at least 4,449 held-out"):
        ConvexAggregation(strengthen=True).fit(X, y)
    assert ConvexAggregation().guarantee.kind == "none"


def test_convex_aggregation_refusals():
    """Lists without classifiers and odd switches are refused."""
    X, y = gaussian(np.random.default_rng(18), 20)
    with pytest.raises(rk.InputError, match=r"estimators=\[\] must be a list of at least one"):
        ConvexAggregation(estimators=[]).fit(X, y)
    with pytest.raises(rk.InputError, match="must be a classifier"):
        ConvexAggregation(estimators=[LogisticRegression(), "svm"]).fit(X, y)
    with pytest.raises(rk.InputError, match="strengthen='yes' must be True or False"):
        ConvexAggregation(strengthen="yes").fit(X, y)
    with pytest.raises(rk.InputError, match="cuts=0 must be a whole number"):
        ConvexAggregation(cuts=0).fit(X, y)
    with pytest.raises(rk.InputError, match=r"None of the 1 column\(s\) of X varies"):
        ConvexAggregation().fit(np.zeros((40, 1)), y)


# NP-ROC bands


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_np_roc_solves_the_tails(control):
    """Every bound is the rate at which a binomial tail is exactly delta."""
    rng, n, others, delta = np.random.default_rng(19), 70, 45, 0.1
    y = np.repeat([0, 1], [n, others] if control == "fpr" else [others, n])
    scores = rng.normal(size=y.size) + 1.5 * y
    band = np_roc(scores, y, control=control, delta=delta)
    sign = 1 if control == "fpr" else -1
    null, other = [sign * scores[y == int((control == "fpr") == flag)] for flag in (False, True)]
    k = np.arange(1, n + 1)
    np.testing.assert_array_equal(sign * band.threshold, np.sort(null))
    np.testing.assert_allclose(binom.sf(k - 1, n, 1 - band.type_i_upper), delta, rtol=1e-9)
    kept = np.array([np.sum(other <= sign * t) for t in band.threshold])
    upper, lower = band.type_ii_upper, band.type_ii_lower
    some, all_ = kept > 0, kept == others
    np.testing.assert_allclose(binom.cdf(kept[~all_], others, upper[~all_]), delta, rtol=1e-9)
    np.testing.assert_allclose(binom.sf(kept[some] - 1, others, lower[some]), delta, rtol=1e-9)
    assert (upper[all_] == 1).all()
    assert (lower[~some] == 0).all()
    assert some.any()
    assert (~some).any()


def test_np_roc_mirror_and_ties():
    """The two rates mirror each other, and equal scores share their bounds."""
    rng = np.random.default_rng(20)
    y = rng.integers(0, 2, size=300)
    scores = (rng.normal(size=300) + y).round(1)
    one, two = np_roc(scores, y, control="fpr"), np_roc(-scores, 1 - y, control="fnr")
    np.testing.assert_array_equal(one.threshold, -two.threshold)
    for name in ("type_i_upper", "type_ii_lower", "type_ii_upper"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        for value in np.unique(one.threshold):
            assert len(set(getattr(one, name)[one.threshold == value])) == 1
    kept = np.sum(scores[y == 1] <= one.threshold[:, None], axis=1)
    np.testing.assert_allclose(
        binom.cdf(kept, np.sum(y == 1), one.type_ii_upper)[kept < np.sum(y == 1)], 0.05, rtol=1e-9
    )
    names = np.array(["well", "ill"])[y]
    three = np_roc(scores, names, control="fpr", positive_label="ill")
    np.testing.assert_array_equal(one.type_i_upper, three.type_i_upper)


@pytest.mark.parametrize("decimals", [6, 1])
def test_np_roc_place_is_the_umbrella(decimals):
    """The place for alpha has the threshold of the high-probability method."""
    rng = np.random.default_rng(21)
    for n in (59, 60, 151, 400):
        X, y = gaussian(rng, n, decimals)
        scores = X[:, 0]
        for control, null, tail in (("fpr", 0, "high"), ("fnr", 1, "low")):
            band = np_roc(scores, y, control=control)
            nulls = np.sort(scores[y == null])
            expected = rk.HighProbability(0.05).against(nulls, tail).threshold(0.05)
            assert band.threshold[band.place(0.05)] == expected
            place = band.youden()
            height = 1 - band.type_ii_upper - band.type_i_upper
            assert height[place] == pytest.approx(height.max(), abs=1e-12)


def test_np_roc_covers():
    """At a fixed rank the type I bound fails in exactly delta of all samples, the others rarer."""
    rng, trials, k, delta = np.random.default_rng(22), 1500, 40, 0.1
    failed = np.zeros(3, dtype=int)
    for _ in range(trials):
        X, y = gaussian(rng, 60)
        band = np_roc(X[:, 0], y, control="fpr", delta=delta)
        threshold = band.threshold[k - 1]
        miss = norm.cdf(threshold - 2)
        failed += [
            norm.sf(threshold) > band.type_i_upper[k - 1],
            miss > band.type_ii_upper[k - 1],
            miss < band.type_ii_lower[k - 1],
        ]
    assert_binomial(failed[0], trials, delta)
    assert_binomial(failed[1], trials, delta, least=delta / 5)
    assert_binomial(failed[2], trials, delta, least=delta / 5)


def test_np_roc_place_keeps_alpha_with_ties():
    """With coarse scores the place for alpha still fails in at most delta of all samples."""
    rng, trials = np.random.default_rng(23), 1500
    failed = 0
    for _ in range(trials):
        X, y = gaussian(rng, 80, decimals=0)
        band = np_roc(X[:, 0], y, control="fpr", delta=0.1)
        # Rounded scores strictly above t come from numbers above t + 0.5.
        failed += norm.sf(band.threshold[band.place(0.1)] + 0.5) > 0.1
    assert failed <= binom.isf(RARE, trials, 0.1)


def test_np_roc_refusals():
    """Too few scores for alpha, NaN, one class and odd words are refused."""
    X, y = gaussian(np.random.default_rng(24), 58)
    scores = X[:, 0]
    with pytest.raises(rk.TooFewScoresError, match=r"at least 59 scores .* there are 58") as caught:
        np_roc(scores, y).place(0.05)
    assert (caught.value.available, caught.value.needed) == (58, 59)
    with pytest.raises(rk.InputError, match="alpha=5 "):
        np_roc(scores, y).place(5)
    with pytest.raises(rk.InputError, match="1 NaN value"):
        np_roc(np.where(np.arange(116) == 3, np.nan, scores), y)
    with pytest.raises(rk.InputError, match="one class only"):
        np_roc(scores, np.zeros(116))
    with pytest.raises(rk.InputError, match="115 values for 116 scores"):
        np_roc(scores, y[1:])
    with pytest.raises(rk.InputError, match="control='both'"):
        np_roc(scores, y, control="both")
    with pytest.raises(rk.InputError, match="delta=0 "):
        np_roc(scores, y, delta=0)
