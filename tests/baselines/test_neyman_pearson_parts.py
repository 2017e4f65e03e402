"""What Neyman-Pearson classifiers are made of, each part against an independent truth."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq, linprog, minimize
from scipy.special import ndtr
from scipy.stats import beta, binom, gaussian_kde, ks_2samp, nct, norm
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KernelDensity
from sklearn.svm import SVC, LinearSVC

import ratekeeper as rk
from ratekeeper.baselines import PlugInNP, TwoCostSVM
from ratekeeper.baselines._densities import (
    Kernels,
    Normals,
    fit_kernels,
    log_ratio,
    spread_of,
)
from ratekeeper.baselines._modern.conformal_risk import risk_controlling_threshold
from ratekeeper.baselines._modern.learn_then_test import p_values
from ratekeeper.baselines._modern.tuned_threshold import constrained_score
from ratekeeper.baselines._neyman_pearson.convex_aggregation import kappa, simplex_weights
from ratekeeper.baselines._neyman_pearson.convex_splitting import onto_both, onto_l1_ball, project
from ratekeeper.baselines._neyman_pearson.normal_scores import normality_p_value, tolerance_factor
from ratekeeper.baselines._neyman_pearson.normal_tolerance import log_odds
from ratekeeper.baselines._neyman_pearson.np_lda import eigenvalue_inflation
from ratekeeper.baselines._neyman_pearson.np_selection import best_threshold
from ratekeeper.baselines._neyman_pearson.nsn2 import KolmogorovSmirnov, paper_rank
from ratekeeper.baselines._neyman_pearson.order_statistic import exact_rank
from ratekeeper.baselines._neyman_pearson.plug_in import vc_margin
from ratekeeper.baselines._neyman_pearson.surrogates import LOSSES
from ratekeeper.baselines._neyman_pearson.two_cost_svm import (
    best,
    descend,
    grid_axes,
    search_grid,
    smoothed,
    train_machine,
)
from ratekeeper.baselines._splitting import deal_folds

RARE = 1e-7  # chance that a correct build fails a simulation, on either side

MIXING = np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.2, -0.3, 0.7]])

COVARIANCE = MIXING @ MIXING.T

SHIFT = np.array([1.0, 0.5, 0.0])


def gaussians(rng, n_null, n_other):
    """Return two normal classes with one covariance; the null class, label 0, stands at 0."""
    X = rng.normal(size=(n_null + n_other, 3)) @ MIXING.T
    X[n_null:] += SHIFT
    return X, np.repeat([0, 1], [n_null, n_other])


def assert_as_often(count, trials, probability):
    """Check a count of independent events of a known probability."""
    assert binom.cdf(count, trials, probability) > RARE, (count, trials, probability)
    assert binom.sf(count - 1, trials, probability) > RARE, (count, trials, probability)


# Normal scores


def factor_by_integration(n, alpha, delta):
    """Solve E[Phi(sqrt(n) (z - k S))] = delta by a sum over the law of the logarithm of S."""
    freedom, z = n - 1, norm.isf(alpha)
    spread = 1 / np.sqrt(2 * freedom)
    x = np.linspace(-40 / freedom - 12 * spread, 12 * spread, 4001)
    weights = np.exp(freedom * (x - np.expm1(2 * x) / 2))
    weights /= weights.sum()

    def excess(k):
        return weights @ ndtr(np.sqrt(n) * (z - k * np.exp(x))) - delta

    return brentq(excess, z - 100, z + 10_000, xtol=1e-13, rtol=1e-13)


@pytest.mark.parametrize(("alpha", "delta"), [(0.05, 0.05), (0.001, 0.01), (0.4, 0.5), (0.6, 0.9)])
def test_factor_is_exact_for_few_and_for_many(alpha, delta):
    """The factor solves the equation that defines it, for two scores and for a million."""
    for n in (2, 3, 10, 40, 1000, 10**6):
        factor = tolerance_factor(n, alpha, delta)
        assert factor == pytest.approx(factor_by_integration(n, alpha, delta), rel=1e-8)
        assert nct.cdf(factor * np.sqrt(n), n - 1, norm.isf(alpha) * np.sqrt(n)) == pytest.approx(
            1 - delta, abs=1e-8
        )


def test_factor_is_that_of_the_tables():
    """At 95% and 95% the factors are those printed in tables of tolerance limits."""
    printed = {3: 7.656, 5: 4.203, 10: 2.911, 20: 2.396, 30: 2.220, 50: 2.065, 100: 1.927}
    for n, factor in printed.items():
        assert tolerance_factor(n, 0.05, 0.05) == pytest.approx(factor, abs=6e-4)


@pytest.mark.parametrize("n", [2, 10, 40])
def test_limit_is_violated_exactly_as_often_as_promised(n):
    """Mean plus factor times spread of n normal scores leaves more than alpha above in delta."""
    scores = np.random.default_rng(n).normal(size=(50_000, n))
    limits = scores.mean(axis=1) + tolerance_factor(n, 0.05, 0.05) * scores.std(axis=1, ddof=1)
    assert_as_often(np.count_nonzero(norm.sf(limits) > 0.05), 50_000, 0.05)


def test_scores_are_decision_function_or_log_odds():
    """Margins are used as they are and turned to the other class; probabilities become odds."""
    X, y = gaussians(np.random.default_rng(1), 50, 50)
    svm = LinearSVC().fit(X, y)
    np.testing.assert_array_equal(log_odds(svm, X, 1), svm.decision_function(X))
    np.testing.assert_array_equal(log_odds(svm, X, 0), -svm.decision_function(X))
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    p = forest.predict_proba(X)[:, 1]
    scores = log_odds(forest, X, 1)
    assert np.isfinite(scores).all()
    inside = (p > 0) & (p < 1)
    np.testing.assert_allclose(scores[inside], np.log(p[inside] / (1 - p[inside])))


def test_normality_check_of_few_and_of_many():
    """Two scores cannot be checked, and six thousand are checked without any other warning."""
    assert np.isnan(normality_p_value(np.array([0.0, 1.0])))
    assert normality_p_value(np.random.default_rng(0).normal(size=6001)) > 0.01


def test_eigenvalue_bound_rarely_fails():
    """The smallest eigenvalue of a Wishart matrix is below the bound in a few percent at most."""
    rng = np.random.default_rng(8)
    for d, freedom in ((1, 100), (3, 100), (10, 200)):
        rows = rng.normal(size=(1000, freedom, d))
        smallest = np.linalg.eigvalsh(np.swapaxes(rows, 1, 2) @ rows / freedom)[:, 0]
        assert np.mean(smallest < 1 / eigenvalue_inflation(d, freedom)) < 0.05


def test_void_bound_names_the_rows_it_needs():
    """The refusal of the paper's bound names the smallest number of rows with which it exists."""
    for d in (1, 3, 10):
        with pytest.raises(rk.InputError) as refusal:
            eigenvalue_inflation(d, d + 1)
        needed = int(str(refusal.value).split("at least ")[1].split(" ")[0].replace(",", ""))
        assert eigenvalue_inflation(d, needed - 2) > 1
        with pytest.raises(rk.InputError):
            eigenvalue_inflation(d, needed - 3)


# Densities


def test_kernel_density_is_that_of_scipy_and_scikit_learn():
    """Log densities are those of gaussian_kde in one column and of KernelDensity in three."""
    rng = np.random.default_rng(10)
    X, new = rng.normal(size=(200, 3)) * [1.0, 3.0, 0.1], rng.normal(size=(50, 3)) * [1, 3, 0.1]
    one = fit_kernels(X[:, :1], "scott")
    np.testing.assert_allclose(one.log_density(new[:, :1]), gaussian_kde(X[:, 0]).logpdf(new[:, 0]))
    three = fit_kernels(X, 0.3)
    scale = X.std(axis=0, ddof=1)
    expected = KernelDensity(bandwidth=0.3).fit(X / scale).score_samples(new / scale)
    np.testing.assert_allclose(three.log_density(new), expected - np.log(scale).sum(), rtol=1e-6)
    np.testing.assert_allclose(three.widths, 0.3 * scale)


def test_density_does_not_depend_on_blocks(monkeypatch):
    """Working in blocks changes neither densities nor the cross-validated width."""
    X = np.random.default_rng(11).normal(size=(50, 2))
    whole, chosen = fit_kernels(X, "scott").log_density(X), fit_kernels(X, "cv").widths
    monkeypatch.setattr("ratekeeper.baselines._blocks._NUMBERS", 170)
    np.testing.assert_array_equal(fit_kernels(X, "scott").log_density(X), whole)
    np.testing.assert_array_equal(fit_kernels(X, "cv").widths, chosen)


@pytest.mark.parametrize("heaps", [0.0, 5.0])
def test_cross_validated_width_has_the_largest_leave_one_out_likelihood(heaps):
    """The chosen width wins when every row is scored by a density of the others, one by one."""
    rng = np.random.default_rng(12)
    # For two narrow heaps Scott's rule is far too wide; for one it is about right.
    X = np.concatenate([rng.normal(-heaps, 0.1, (30, 1)), rng.normal(heaps, 0.1, (30, 1))])
    scott = spread_of(X) * 60 ** (-1 / 5)

    def likelihood(widths):
        others = [Kernels(np.delete(X, row, axis=0), widths) for row in range(60)]
        return sum(other.log_density(X[[row]])[0] for row, other in enumerate(others))

    tried = [scott * multiple for multiple in np.geomspace(0.25, 2, 7)]
    best = max(tried, key=likelihood)
    np.testing.assert_allclose(fit_kernels(X, "cv").widths, best)
    assert best == pytest.approx(tried[0]) if heaps else best > 0.4 * scott


def test_ratio_is_finite_and_neutral_far_out():
    """Where neither class has ever been seen the ratio is 1, even at the end of the numbers."""
    rng = np.random.default_rng(13)
    null, other = (
        fit_kernels(rng.normal(size=(50, 2)), 0.5),
        fit_kernels(rng.normal(size=(9, 2)), 2),
    )
    far = np.array([[1e4, 0.0], [-1e160, 1.0], [1.7e308, -1.7e308]])
    np.testing.assert_array_equal(log_ratio(other, null, far), 0.0)
    near = rng.normal(size=(100, 2))
    np.testing.assert_allclose(
        log_ratio(other, null, near), other.log_density(near) - null.log_density(near)
    )
    laws = Normals(np.zeros(1), np.ones(1)), Normals(np.ones(1), 3 * np.ones(1))
    assert np.isfinite(log_ratio(*laws, np.array([[1.7e308], [-1e155], [1e9]]))).all()


def test_constant_columns_have_a_spread():
    """A column that is constant in a class borrows its spread, also where rounding makes noise."""
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    np.testing.assert_allclose(spread_of(X, np.array([3.0, 5.0])), [3.0, np.sqrt(14 / 3)])
    np.testing.assert_array_equal(spread_of(X[:1], np.array([3.0, 5.0])), [3.0, 5.0])
    np.testing.assert_array_equal(spread_of(X[:1]), [1.0, 1.0])


def test_tiny_numbers_are_no_nan():
    """Numbers whose squares round to 0 have no spread, and give neither NaN nor a warning."""
    np.testing.assert_array_equal(spread_of(np.array([[0.0], [1e-300]]), 3.0), [3.0])


@pytest.mark.parametrize("decimals", [0, 8])
def test_distances_are_those_of_scipy(decimals):
    """Distances in all columns are the statistics of ks_2samp, with ties and without."""
    rng = np.random.default_rng(21)
    X = rng.normal(size=(57, 40)).round(decimals) + np.linspace(0, 1, 40).round(decimals)
    is_null = rng.random(57) < 0.3
    expected = [ks_2samp(column[is_null], column[~is_null]).statistic for column in X.T]
    np.testing.assert_allclose(KolmogorovSmirnov(X).between(is_null), expected, atol=1e-15)


# Ranks and margins


def test_margin_needs_fifty_two_thousand_rows():
    """The margin is the inverse of 2 S exp(-n t^2 / 8) = delta, and void up to n = 51,969."""
    for n, delta in ((100, 0.5), (51_970, 0.05)):
        t = vc_margin(n, delta)
        assert 2 * (2 * np.e * n) * np.exp(-n * t**2 / 8) == pytest.approx(delta)
    assert vc_margin(51_969, 0.05) > 0.05 >= vc_margin(51_970, 0.05)
    X, y = gaussians(np.random.default_rng(15), 200, 100)
    with pytest.raises(rk.TooFewScoresError, match="order-statistic") as refusal:
        PlugInNP(control="fpr", threshold="vc").fit(X, y)
    assert (refusal.value.available, refusal.value.needed) == (100, 51_970)


def test_exact_rank_is_the_last_that_keeps_the_promise():
    """One score less extreme would break the promise, for every n of a grid."""
    for n in (59, 60, 93, 200, 1000):
        rank = exact_rank(n, 0.05, 0.05)
        assert binom.sf(n - rank, n, 0.95) <= 0.05 < binom.sf(n - rank - 1, n, 0.95)
    with pytest.raises(rk.TooFewScoresError, match="at least 59"):
        exact_rank(58, 0.05, 0.05)


def test_paper_rank_is_chebyshev_and_keeps_the_promise():
    """Chebyshev holds at the paper's rank, fails beyond it, and the exact tail is below delta."""
    for alpha, delta, smallest in ((0.05, 0.05, 108), (0.01, 0.05, 546), (0.1, 0.1, 40)):
        n = np.arange(1, 3000)
        rank = np.array([paper_rank(size, alpha, delta) for size in n])
        usable = rank >= 1
        assert n[usable][0] == smallest
        assert usable[n >= smallest].all()
        assert (binom.sf(n - rank, n, 1 - alpha)[usable] <= delta).all()

        def chebyshev(rank, n=n, alpha=alpha):
            law = beta(rank, n + 1 - rank)  # of the rate above the rank-th largest score
            gap = np.maximum(alpha - law.mean(), 1e-9)
            return law.var() / gap**2

        assert (chebyshev(np.maximum(rank, 1))[usable] <= delta * (1 + 1e-9)).all()
        more = usable & (rank + 1 <= n)
        assert (chebyshev(np.minimum(np.maximum(rank, 0) + 1, n))[more] > delta).all()


# Thresholds


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.3, 0.9])
def test_smaller_p_value_is_the_binomial_tail(alpha):
    """Hoeffding's p-value is never below the binomial tail, so the smaller of both is the tail."""
    for n in (1, 2, 10, 59, 300, 2000):
        m = np.arange(n + 1)
        rate = np.minimum(m / n, alpha)
        with np.errstate(divide="ignore", invalid="ignore"):
            zero = np.where(rate > 0, rate * np.log(rate / alpha), 0)
        kl = zero + (1 - rate) * np.log((1 - rate) / (1 - alpha))
        scores = np.arange(float(n))
        tail = p_values(scores, n - 1.0 - m, alpha)  # m scores are strictly above
        np.testing.assert_allclose(tail, binom.cdf(m, n, alpha), rtol=1e-9, atol=1e-200)
        assert (tail <= np.exp(-n * kl) * (1 + 1e-9)).all()


@pytest.mark.parametrize("decimals", [9, 1, 0])
def test_conformal_risk_is_conformal(decimals):
    """The threshold is that of the conformal p-value, bit for bit, ties or not."""
    rng = np.random.default_rng(5)
    levels = [0.001, 0.01, 0.05, 0.1, 0.15, 0.29, 0.3, 0.5, 0.7, 0.9, 1 / 3, 2 / 7]
    for n in [*range(1, 60), 99, 199, 999, 1000]:
        scores = np.sort(rng.normal(size=n).round(decimals))
        null = rk.Conformal().against(scores, "high")
        for alpha in levels:
            assert risk_controlling_threshold(scores, alpha) == null.threshold(alpha)
    assert risk_controlling_threshold(np.zeros(18), 0.05) == np.inf
    assert risk_controlling_threshold(np.zeros(19), 0.05) == 0


def test_constrained_score_orders_decisions():
    """Every decision that keeps the constraint scores above every one that does not."""
    truth = np.array([0, 0, 0, 0, 1, 1, 1])
    decisions = [np.array(bits) for bits in itertools.product([0, 1], repeat=7)]
    kept = [d for d in decisions if d[:4].sum() <= 1]
    failed = [d for d in decisions if d[:4].sum() > 1]
    scores = [constrained_score(truth, d, 0.25) for d in kept]
    assert min(scores) > max(constrained_score(truth, d, 0.25) for d in failed)
    assert scores == [np.mean(d[4:]) for d in kept]


def measured(scores, null, cut, alpha, weight):
    """Return the measure of one threshold, counted plainly."""
    rejected = scores > cut
    return weight * max(np.mean(rejected[null]) - alpha, 0) + np.mean(~rejected[~null])


@pytest.mark.parametrize("weight", [None, 0.7, 3.0])
def test_best_threshold_by_brute_force(weight):
    """No threshold at all has a smaller measure, with ties and with classes of any size."""
    rng = np.random.default_rng(0)
    for n, m in ((5, 9), (30, 30), (100, 13)):
        scores = np.concatenate([rng.normal(size=n), rng.normal(1, size=m)]).round(1)
        null = np.arange(n + m) < n
        measure, threshold = best_threshold(scores[null], scores[~null], 0.1, weight)
        price = weight or 10
        everywhere = [-np.inf, *np.unique(scores), np.inf]
        best = min(measured(scores, null, cut, 0.1, price) for cut in everywhere)
        assert measure == pytest.approx(best, abs=1e-12)
        assert measured(scores, null, threshold, 0.1, price) == pytest.approx(best, abs=1e-12)


# Votes


@pytest.mark.parametrize("votes", [2, 3])
def test_simplex_weights_by_brute_force(votes):
    """No weights on a fine grid of the simplex keep the constraint with a smaller risk."""
    rng = np.random.default_rng(13)
    ticks = np.indices([201] * (votes - 1)).reshape(votes - 1, -1).T
    ticks = ticks[ticks.sum(axis=1) <= 200]
    grid = np.column_stack([ticks, 200 - ticks.sum(axis=1)]) / 200
    for allowed in (0.05, 0.3, 1.0, 1.9):
        null, other = rng.uniform(0, 2, size=(2, votes))
        null[0] = allowed * rng.uniform()
        weights = simplex_weights(null, other, allowed)
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1, abs=1e-14)
        assert weights @ null <= allowed + 1e-14
        best = np.min((grid @ other)[grid @ null <= allowed + 1e-14])
        assert best - 0.03 <= weights @ other <= best + 1e-12


def test_simplex_weights_by_linear_programming():
    """For many votes a linear program finds the same risk."""
    rng = np.random.default_rng(14)
    for _ in range(50):
        null, other = rng.uniform(0, 2, size=(2, 13))
        null[-1], other[-1], allowed = 0, 2, rng.uniform(0, 0.4)
        found = linprog(other, A_ub=[null], b_ub=[allowed], A_eq=np.ones((1, 13)), b_eq=[1])
        weights = simplex_weights(null, other, allowed)
        assert weights @ other == pytest.approx(found.fun, abs=1e-8)
        assert weights @ null <= allowed + 1e-14


def test_kappa_by_hand():
    """It is the root of twice the logarithm of the votes over delta."""
    assert kappa(5, 0.5) == math.sqrt(2 * math.log(10))


def test_kappa_covers_all_votes():
    """Of 13 unrelated votes, any deviates by kappa / sqrt(n) in at most delta of all samples."""
    rng, trials, n = np.random.default_rng(17), 4000, 50
    risks = 2 * rng.binomial(n, 0.5, size=(trials, 13)) / n  # true risk 1
    failed = np.any(risks + kappa(13, 0.05) / math.sqrt(n) < 1, axis=1)
    assert binom.ppf(5e-7, trials, 0.001) <= failed.sum() <= binom.isf(5e-7, trials, 0.05)


# Losses and projections


PHI = {
    "logistic": lambda z: np.log2(1 + np.exp(z)),
    "squared-hinge": lambda z: np.maximum(1 + z, 0) ** 2,
}


@pytest.mark.parametrize("loss", PHI)
def test_losses_bound_the_error_and_know_their_slopes(loss):
    """A loss is at least 1 for errors, its slope is its derivative, and its bend the steepest."""
    margins = np.linspace(-6, 6, 241)
    value, slope, bend = LOSSES[loss]
    np.testing.assert_allclose(value(margins), PHI[loss](margins), atol=1e-12)
    assert (value(margins) >= (margins >= 0)).all()
    numeric = (value(margins + 1e-6) - value(margins - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope(margins), numeric, atol=1e-6)
    bends = np.diff(slope(margins)) / np.diff(margins)
    assert bend * 0.99 < bends.max() <= bend * (1 + 1e-9)
    assert np.isfinite(value(np.array([-1e40, 1e40]))).all()


def test_projection_onto_two_half_spaces():
    """SLSQP finds the same nearest point of the two half-spaces."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        point, at, cut = rng.normal(size=(3, 4))
        ways = [(point - at, at), (at - cut, cut)]
        constraints = [
            {"type": "ineq", "fun": lambda u, way=way, foot=foot: -(u - foot) @ way}
            for way, foot in ways
        ]
        found = minimize(
            lambda u, point=point: (u - point) @ (u - point),
            point,
            constraints=constraints,
            options={"ftol": 1e-14, "maxiter": 300},
        )
        np.testing.assert_allclose(onto_both(point, at, cut), found.x, atol=1e-4)


def test_projection_onto_the_l1_ball():
    """No point of the ball is nearer: the way there makes no acute angle with any corner."""
    rng = np.random.default_rng(4)
    for _ in range(100):
        vector = rng.normal(size=6) * 3
        radius = rng.uniform(0.1, 20)
        near = onto_l1_ball(vector, radius)
        assert np.abs(near).sum() <= radius + 1e-12
        corners = radius * np.vstack([np.eye(6), -np.eye(6)])
        assert ((corners - near) @ (vector - near)).max() <= 1e-9


def test_outer_approximation_projects():
    """Cuts from outside lead to the nearest point of a disc and a half-plane."""

    def disc(x):
        value, slope = x @ x - 1, 2 * x  # one tangent cut, not the projection itself
        return x - max(value, 0) / (slope @ slope) * slope

    def half(x):
        return np.array([max(x[0], 0.6), x[1]])

    for point, nearest, error in (
        ([2.0, 1.0], np.array([2, 1]) / 5**0.5, 1e-6),
        ([-2.0, -0.3], [0.6, -0.3], 1e-6),
        ([0.7, 0.1], [0.7, 0.1], 0),
        ([-1.0, 3.0], [0.6, 0.8], 0.1),  # a corner of both, which cuts approach slowly
    ):
        np.testing.assert_allclose(
            project(np.array(point), [disc, half], 1e-9), nearest, atol=error
        )


# Two-cost machines


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [12, 8])
    return rng.normal(size=(20, 2)) + y[:, None], y


def two_nu(K, y, nu0, nu1):
    """Return the margins of the 2nu-SVM in units of rho, by SLSQP on its dual problem."""
    sign, is_other = np.where(y == 1, 1, -1), y == 1
    n1, n0 = is_other.sum(), (~is_other).sum()
    Q = K * np.outer(sign, sign)
    cap = np.where(is_other, 1 / (nu1 * n1), 1 / (nu0 * n0))
    found = minimize(
        lambda a: a @ Q @ a / 2,
        np.where(is_other, 1 / n1, 1 / n0),
        jac=lambda a: Q @ a,
        bounds=[(0, top) for top in cap],
        constraints=[
            {"type": "eq", "fun": lambda a: a[is_other].sum() - 1},
            {"type": "eq", "fun": lambda a: a[~is_other].sum() - 1},
        ],
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    assert found.success
    sums = K @ (found.x * sign)
    free = (found.x > 1e-5 * cap) & (found.x < (1 - 1e-5) * cap)
    high, low = sums[free & is_other].mean(), sums[free & ~is_other].mean()
    return (sums - (high + low) / 2) / ((high - low) / 2)


@pytest.mark.parametrize(("nu_null", "nu_other"), [(0.3, 0.6), (0.8, 0.2)])
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_the_2nu_machine_solves_its_dual(data, nu_null, nu_other, control):
    """Its margins are those of the dual problem, and nu bounds the margin errors of each class."""
    X, y = data
    is_null = y == (control == "fnr")
    setting = {"nu_null": nu_null, "nu_other": nu_other, "gamma": 0.5}
    margins = train_machine(X, is_null, setting, "rbf").decision_function(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    K = np.exp(-0.5 * ((Z[:, None] - Z) ** 2).sum(axis=-1))
    np.testing.assert_allclose(
        margins, two_nu(K, (~is_null).astype(int), nu_null, nu_other), atol=0.04
    )
    assert np.mean(margins[is_null] > -1 + 4e-2) <= nu_null
    assert np.mean(margins[~is_null] < 1 - 4e-2) <= nu_other


def test_the_2c_machine_has_two_costs(data):
    """It is the plain machine with a cost for each class."""
    X, y = data
    setting = {"C": 3.0, "null_share": 0.8, "gamma": 0.5}
    margins = train_machine(X, y == 1, setting, "rbf").decision_function(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    plain = SVC(C=1.0, gamma=0.5, class_weight={0: 3 * 0.2, 1: 3 * 0.8}).fit(Z, y)
    np.testing.assert_allclose(margins, -plain.decision_function(Z), atol=1e-3)


def test_both_formulations_reach_one_machine(data):
    """A 2C-SVM is a 2nu-SVM whose nu are the means of its dual coefficients over their bounds."""
    X, y = data
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    C, share = 10.0, 0.6
    is_null = y == 0
    one = train_machine(X, is_null, {"C": C, "null_share": share, "gamma": 0.5}, "rbf")
    dual = np.zeros(len(y))
    dual[one[-1].support_] = np.abs(one[-1].dual_coef_[0])
    setting = {
        "nu_null": float((dual[is_null] / (C * share)).mean()),
        "nu_other": float((dual[~is_null] / (C * (1 - share))).mean()),
        "gamma": 0.5,
    }
    two = train_machine(X, is_null, setting, "rbf")
    np.testing.assert_allclose(two[-1].decision_function(Z), one.decision_function(X), atol=0.02)


def test_smoothing_by_hand():
    """Along each axis a place counts twice, its neighbours once, and beyond the edge nothing."""
    rng = np.random.default_rng(1)
    errors = rng.random((4, 5, 2))
    expected = np.empty_like(errors)
    for i, j in np.ndindex(4, 5):
        total = weights = 0
        for a, b in itertools.product((-1, 0, 1), repeat=2):
            if 0 <= i + a < 4 and 0 <= j + b < 5:
                weight = (2 - abs(a)) * (2 - abs(b))
                total, weights = total + weight * errors[i + a, j + b], weights + weight
        expected[i, j] = total / weights
    np.testing.assert_allclose(smoothed(smoothed(errors, 0), 1), expected, atol=1e-12)


def test_best_by_brute_force():
    """Of those that keep alpha the least other error, else the least controlled one."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        errors = rng.integers(0, 8, size=(12, 2)) / 40
        kept = errors[errors[:, 0] <= 0.05]
        null, other = errors[best(errors, 0.05)]
        if len(kept):
            assert null <= 0.05
            assert other == kept[:, 1].min()
        else:
            assert null == errors[:, 0].min()


def test_descent_ends_where_no_line_is_better():
    """On a separable pair of errors it finds what the whole grid has, with fewer trials."""
    tried = set()

    def count(place):
        tried.add(place)
        i, j, k = place
        return abs(i - 4) / 20, abs(j - 1) / 10 + abs(k - 2) / 10

    for smooth in (False, True):
        assert search_grid(count, (6, 6, 3), 0.02, smooth=smooth) == (4, 1, 2)
        tried.clear()
        assert descend(count, (6, 6, 3), 0.02, smooth=smooth) == (4, 1, 2)
        assert len(tried) < 6 * 6 * 3 / 2


@pytest.mark.thorough_rows
@pytest.mark.parametrize("formulation", ["2nu", "2C"])
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_the_grid_is_cross_validated(formulation, control):
    """Errors are those of refits without each fold, and the best setting is taken."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) + 1.5 * y[:, None]
    clf = TwoCostSVM(
        formulation=formulation,
        control=control,
        alpha=0.1,
        search="grid",
        smooth=False,
        levels=3,
        widths=1,
        folds=4,
        random_state=5,
    ).fit(X, y)
    is_null = y == (control == "fnr")
    fold = deal_folds(is_null, 4, np.random.RandomState(5))
    assert clf.errors_.shape == (3, 3, 1, 2)
    axes = list(grid_axes(formulation, "rbf", 3, 1, 2).items())
    for place in np.ndindex(3, 3, 1):
        setting = {name: values[i] for (name, values), i in zip(axes, place, strict=True)}
        wrong = np.empty(80)
        for part in range(4):
            out = fold == part
            model = train_machine(X[~out], is_null[~out], setting, "rbf")
            wrong[out] = (model.decision_function(X[out]) > 0) == is_null[out]
        expected = wrong[is_null].mean(), wrong[~is_null].mean()
        np.testing.assert_allclose(clf.errors_[place], expected, atol=1e-12)
        if setting == clf.setting_:
            assert expected[0] <= 0.1
            kept = clf.errors_[clf.errors_[..., 0] <= 0.1]
            assert expected[1] == pytest.approx(kept[:, 1].min(), abs=1e-12)
    assert clf.setting_["gamma"] == 0.5
