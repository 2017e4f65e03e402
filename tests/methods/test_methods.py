from __future__ import annotations

import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from cases import each
from scipy import stats

import ratekeeper as rk
from ratekeeper.methods import Method
from ratekeeper.methods._simultaneous import _limited

ALL = (
    rk.methods.Empirical(),
    rk.Conformal(),
    rk.methods.Smoothed(0),
    rk.HighProbability(),
    rk.Simultaneous(),
    rk.methods.Resampled(size=30, random_state=0),
    rk.methods.Resampled(size=30, random_state=0, plain=True),
    rk.methods.Bootstrap(replicates=200),
    rk.methods.Parametric("norm"),
    rk.methods.Kernel(),
)


def two_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return np.r_[rng.normal(-1, 1, n), rng.normal(1, 1, n)], np.repeat([0, 1], n)


@pytest.mark.parametrize("method", ALL, ids=repr)
def test_every_method_has_one_shape(method):
    """Each is frozen, comparable, names its guarantee and works through the calibration."""
    assert isinstance(method, Method)
    with pytest.raises(AttributeError):
        method.name = "other"
    assert method == replace(method)
    assert method.guarantee.promise.endswith(".")
    assert method.guarantee.kind in {"marginal", "high probability", "simultaneous", "asymptotic"}
    assert "does not cover" in str(method.guarantee)
    cal = rk.calibrate(*two_classes())
    pv = cal.p_values([-5.0, 0.0, 5.0], method=method)
    assert pv.p1[0] <= pv.p1[2]
    assert pv.p0[0] >= pv.p0[2]
    test = cal.control("fnr", 0.1, method=method)
    assert test.decide([-5.0, 5.0]).labels.tolist() == [0, 1]


@pytest.mark.parametrize("ties", [False, True])
def test_conformal_equals_crepes_to_the_last_bit(ties):
    """Conformal p-values are those of crepes 0.9.1 without smoothing."""
    with warnings.catch_warnings():  # crepes changes the filters when imported
        from crepes import ConformalClassifier
    rng = np.random.default_rng(0)
    for n in (2, 7, 50, 333, 1_000):
        labels = np.r_[0, 1, rng.integers(0, 2, n - 2)]
        scores, new = rng.normal(2 * labels), rng.normal(1, 2, 300)
        if ties:
            scores, new = scores.round(1), new.round(1)
        peer = ConformalClassifier().fit(np.where(labels == 1, -scores, scores), bins=labels)
        pv = rk.calibrate(scores, labels).p_values(new)
        for label, nonconformity, ours in ((0, new, pv.p0), (1, -new, pv.p1)):
            theirs = peer.predict_p(
                nonconformity[:, None], np.full(new.size, label), smoothing=False
            )[:, 0]
            assert ours.tobytes() == theirs.tobytes()


def umbrella(n, alpha, delta):
    """Return max{k : P(Bin(n, alpha) <= k - 1) <= delta}, 0 if there is none."""
    return int(np.sum(stats.binom.cdf(np.arange(n), n, alpha) <= delta))


@pytest.mark.thorough
@each("alpha", [0.01, 0.05, 0.1, 0.2])
@each("delta", [0.01, 0.05, 0.1, 0.2])
def test_high_probability_is_the_umbrella_order_statistic(alpha, delta):
    """For all n from 1 to 500 the rank of the threshold is that of the umbrella algorithm."""
    method = rk.HighProbability(delta)
    for n in range(1, 501):
        k = umbrella(n, alpha, delta)
        threshold = method.against(np.arange(n, dtype=float), "low").threshold(alpha)
        assert threshold == (k - 1 if k else -np.inf)
        table = method.p_of_count(np.arange(n + 1), n)
        assert np.sum(table <= alpha) == k


@pytest.mark.parametrize(
    ("alpha", "delta", "needed"), [(0.05, 0.05, 59), (0.01, 0.05, 299), (0.001, 0.05, 2995)]
)
def test_the_published_sample_sizes(alpha, delta, needed):
    """59, 299 and 2,995 scores are the least for the high-probability promise."""
    assert rk.HighProbability(delta).smallest_n(alpha) == needed
    assert rk.Conformal().smallest_n(alpha) == round(1 / alpha) - 1


def test_one_score_too_few_is_refused_with_the_need():
    """With 58 positives at alpha = delta = 0.05 there is no test, and the message says 59."""
    scores, labels = np.linspace(0, 1, 158), np.repeat([0, 1], [100, 58])
    cal = rk.calibrate(scores, labels)
    with pytest.raises(rk.TooFewScoresError, match=r"at least 59 .* got 58") as caught:
        cal.control("fnr", 0.05, method=rk.HighProbability(0.05))
    assert (caught.value.available, caught.value.needed) == (58, 59)
    enough = rk.calibrate(np.linspace(0, 1, 159), np.repeat([0, 1], [100, 59]))
    assert enough.control("fnr", 0.05, method=rk.HighProbability(0.05)).threshold is not None


@pytest.mark.parametrize("piece", [7, 1 << 18])
def test_tables_and_single_counts_have_the_same_bits(monkeypatch, piece):
    """A long batch (by table) and a short one (count by count) give identical p-values."""
    monkeypatch.setattr("ratekeeper.methods._rank._TABLE_PIECE", piece)
    scores, labels = two_classes()
    cal = rk.calibrate(scores, labels)
    new = np.random.default_rng(1).normal(0, 2, 5_000)
    for method in ALL[:2] + ALL[3:5] + ALL[7:8]:
        whole = cal.p_values(new, method=method)
        parts = [cal.p_values(part, method=method) for part in np.array_split(new, 100)]
        assert whole.p1.tobytes() == np.concatenate([part.p1 for part in parts]).tobytes()
        assert whole.p0.tobytes() == np.concatenate([part.p0 for part in parts]).tobytes()


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_the_band_level_agrees_with_simulation(n):
    """The escape probability of the exact band is delta, by Steck's formula and by samples."""
    limits = rk.Simultaneous(0.2).p_of_count(np.arange(n), n)
    runs = 200_000
    uniforms = np.sort(np.random.default_rng(n).random((runs, n)), axis=1)
    escapes = int(np.sum((uniforms > limits).any(axis=1)))
    assert stats.binomtest(escapes, runs, 0.2).pvalue > 1e-7
    steck = [
        [math.comb(j, j - i) * limits[i] ** (j - i) if j >= i else 0 for j in range(1, n + 1)]
        for i in range(n)
    ]
    assert 1 - np.linalg.det(steck) == pytest.approx(0.2, rel=1e-6)


@pytest.mark.parametrize("n", [1_001, 1_002, 5_000, 123_457])
def test_the_union_bound_spends_delta_once(n):
    """Above the exact range the shares of all limits add up to 1, and no limit comes too late."""
    m = np.arange(n + 1)
    count, share = _limited(m, n)
    assert (count >= m).all()
    assert (np.diff(count) >= 0).all()
    assert (count[0], count[-1]) == (0, n)
    limits, first = np.unique(count, return_index=True)
    assert share[first].sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(count[limits], limits)
    # Half a standard deviation, twice that where the two ends meet in the middle.
    widest = np.sqrt(np.minimum(limits, n - limits)).max()
    assert np.diff(limits).max() <= 2 + widest


@pytest.mark.thorough
def test_the_smallest_p_value_goes_on_falling_where_the_exact_level_ends():
    """One more score never makes a small alpha impossible, for deltas up to a tenth."""
    none = np.zeros(1, dtype=int)
    for delta in (0.01, 0.05, 0.1):
        method = rk.Simultaneous(delta)
        smallest = [method.p_of_count(none, n)[0] for n in (990, 999, 1_000, 1_001, 1_002, 1_100)]
        assert (np.diff(smallest) < 0).all()
    assert rk.Simultaneous(0.05).can_promise(1_001, 0.0065)
    assert not rk.Simultaneous(0.05).can_promise(1_001, 0.0063)


def test_the_band_is_between_one_alpha_and_the_dkw_band():
    """Simultaneous is stricter than HighProbability, and in the tail far better than DKW."""
    for n in (50, 300, 1_000, 5_000):
        m = np.arange(n + 1)
        band = rk.Simultaneous(0.05).p_of_count(m, n)
        single = rk.HighProbability(0.05).p_of_count(m, n)
        dkw = np.minimum(1, m / n + np.sqrt(np.log(1 / 0.05) / (2 * n)))
        assert (band >= single).all()
        assert (np.diff(band) >= 0).all()
        assert band[n // 100] < dkw[n // 100]


def test_bootstrap_mean_and_interval_follow_the_binomial_distribution():
    """A resampled count is binomial, so the mean tends to m / n and the limits to its quantiles."""
    n, m = 100, 20
    scores = np.arange(n, dtype=float)
    cal = rk.calibrate(np.r_[scores - 1000, scores], np.repeat([0, 1], n))
    pv = cal.p_values([m - 0.5], method=rk.methods.Bootstrap(replicates=20_000))
    assert pv.p1[0] == pytest.approx(m / n, abs=6 * 0.04 / np.sqrt(20_000))
    limits = stats.binom.ppf([0.025, 0.975], n, m / n) / n
    np.testing.assert_allclose(pv.interval1[0], limits, atol=0.011)
    assert rk.Conformal().against(scores, "low").remark() is None
    assert cal.p_values([0.0]).interval1 is None


def test_bootstrap_refuses_a_table_that_does_not_fit():
    """A table of more than two gigabytes is refused with the remedy."""
    cal = rk.calibrate(np.arange(2_000_000.0), np.repeat([0, 1], 1_000_000))
    with pytest.raises(rk.InputError, match="fewer replicates"):
        cal.p_values([0.5], method=rk.methods.Bootstrap(replicates=1_000))


def test_random_methods_repeat_with_a_seed_and_go_on_with_a_generator():
    """An int seed repeats a batch; a Generator draws anew; the two classes draw apart."""
    cal = rk.calibrate(*two_classes())
    new = np.zeros(50)
    for make in (rk.methods.Smoothed, lambda state: rk.methods.Resampled(30, state)):
        same = [cal.p_values(new, method=make(3)).p1 for _ in range(2)]
        np.testing.assert_array_equal(*same)
        fresh = make(np.random.default_rng(3))
        assert (cal.p_values(new, method=fresh).p1 != cal.p_values(new, method=fresh).p1).any()
    pv = cal.p_values(new, method=rk.methods.Smoothed(0))
    assert abs(np.corrcoef(pv.p0, pv.p1)[0, 1]) < 0.7
    assert np.unique(pv.p1).size == new.size


def test_a_random_test_decides_by_the_p_values_it_reports():
    """Decisions and p-values of a randomised test belong to the same draw, and no score decides."""
    cal = rk.calibrate(np.repeat([0.0, 1.0], 50), np.tile([0, 1], 50))
    test = cal.control("fnr", 0.3, method=rk.methods.Smoothed(np.random.default_rng(0)))
    decisions = test.decide(np.zeros(1_000))
    np.testing.assert_array_equal(decisions.positive, decisions.p_values.p1 > 0.3)
    assert 0 < decisions.positive.sum() < 1_000
    assert test.thresholds == {None: None}
    with pytest.raises(rk.InputError, match="no threshold decides"):
        _ = test.threshold
    assert "drawn at random" in test.certificate.cells[0].condition


def test_subsamples_are_drawn_without_replacement():
    """The resampled count follows the hypergeometric distribution, not the wider binomial one."""
    pool, size = np.arange(30.0), 20
    p = (
        rk.methods.Resampled(size, 0, plain=True)
        .against(pool, "low")
        .p_values(np.full(20_000, 14.5))
    )
    drawn = stats.hypergeom(30, 15, size)
    assert size * p.mean() == pytest.approx(drawn.mean(), abs=0.06)
    assert (size * p).var() == pytest.approx(drawn.var(), rel=0.06)


def test_a_random_test_needs_only_its_own_class():
    """Resampled for FNR decides although the other class is smaller than the subsample."""
    cal = rk.calibrate(np.r_[0.0, 0.1, np.linspace(0.2, 1, 50)], np.repeat([0, 1], [2, 50]))
    decisions = cal.control("fnr", 0.05, method=rk.methods.Resampled(21)).decide([0.05, 0.9])
    assert decisions.labels.tolist() == [0, 1]
    with pytest.raises(rk.TooFewScoresError, match="Lower size"):
        _ = decisions.p_values


@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ContradictedFitWarning")
@each("higher", [True, False])
@each("control", ["fnr", "fpr"])
@each(
    "method",
    [rk.methods.Parametric("norm"), rk.methods.Parametric("logistic"), rk.methods.Kernel()],
)
def test_fitted_thresholds_separate_exactly(method, control, higher):
    """Strictly beyond the fitted threshold p <= alpha, at it and before it p > alpha."""
    scores, labels = two_classes()
    cal = rk.calibrate(scores if higher else -scores, labels, higher_is_positive=higher)
    for alpha in (0.001, 0.05, 0.5):
        test = cal.control(control, alpha, method=method)
        t = test.threshold
        near = np.array([t, np.nextafter(t, -np.inf), np.nextafter(t, np.inf)])
        far = np.random.default_rng(0).normal(0, 3, 500)
        new = np.concatenate([near, far])
        p = getattr(test.p_values(new), "p1" if control == "fnr" else "p0")
        beyond = new < t if (control == "fnr") == higher else new > t
        np.testing.assert_array_equal(p <= alpha, beyond)
        positive = test.decide(new).positive
        np.testing.assert_array_equal(positive, beyond == (control == "fpr"))


def test_parametric_is_the_tail_of_the_fitted_distribution():
    """Parametric("norm") is the normal tail with the mean and standard deviation of the class."""
    scores, labels = two_classes()
    null = scores[labels == 1]
    cal = rk.calibrate(scores, labels)
    new = np.linspace(-6, 6, 25)
    expected = stats.norm.cdf(new, null.mean(), null.std())
    np.testing.assert_allclose(
        cal.p_values(new, method=rk.methods.Parametric("norm")).p1, expected, rtol=1e-9
    )


@pytest.mark.parametrize("bandwidth", ["scott", "silverman", 0.3])
def test_kernel_is_the_integral_of_the_density_estimate(bandwidth):
    """Kernel p-values integrate scipy's Gaussian kernel density estimate."""
    scores, labels = two_classes(100)
    null = scores[labels == 1]
    cal = rk.calibrate(scores, labels)
    rule = bandwidth if isinstance(bandwidth, str) else bandwidth / null.std(ddof=1)
    density = stats.gaussian_kde(null, rule)
    pv = cal.p_values([-1.5, 0.0, 1.0], method=rk.methods.Kernel(bandwidth))
    expected = [density.integrate_box_1d(-np.inf, x) for x in (-1.5, 0.0, 1.0)]
    np.testing.assert_allclose(pv.p1, expected, rtol=1e-9)
    other = stats.gaussian_kde(
        scores[labels == 0], rule if bandwidth != 0.3 else 0.3 / scores[labels == 0].std(ddof=1)
    )
    expected = [other.integrate_box_1d(x, np.inf) for x in (-1.5, 0.0, 1.0)]
    np.testing.assert_allclose(pv.p0, expected, rtol=1e-9)


SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "tied": lambda rng, n: rng.integers(0, 30, n) / 30,
    "heavy-tailed": lambda rng, n: rng.pareto(1.0, n),
    "two peaks": lambda rng, n: rng.normal(1_000 * rng.integers(0, 2, n)),
    "far from 0": lambda rng, n: 1e9 + rng.normal(size=n),
}


def kernel_sum(null, new, width, tail):
    sign = 1 if tail == "low" else -1
    return np.array([stats.norm.cdf(sign * (x - null) / width).mean() for x in new])


@pytest.mark.thorough
@each("tail", ["low", "high"])
@each("bandwidth", ["scott", 0.02])
@each("shape", SHAPES)
@each("n", [2_001, 30_000])
def test_the_kernel_table_agrees_with_the_sum(n, shape, bandwidth, tail):
    """Above 2,000 scores p is the sum over all of them or at most 2e-9 more, and never falls."""
    rng = np.random.default_rng(n)
    null = np.sort(SHAPES[shape](rng, n))
    new = np.concatenate(
        [rng.choice(null, 40), rng.normal(null[-1], 1.0, 20), rng.uniform(null[0], null[-1], 20)]
    )
    found = rk.methods.Kernel(bandwidth).against(null, tail)
    width = null.std(ddof=1) * n**-0.2 if bandwidth == "scott" else bandwidth
    p, exact = found.p_values(new), kernel_sum(null, new, width, tail)
    assert (p - exact > -1e-15).all()
    assert (p - exact).max() <= 2e-9
    grid = np.sort(np.concatenate([new, np.nextafter(new, np.inf), np.linspace(-3, 3, 5_000)]))
    steps = np.diff(found.p_values(grid))
    assert (steps >= 0).all() if tail == "low" else (steps <= 0).all()
    assert found.p_values(new[3:4]) == p[3]  # whatever the company


@pytest.mark.parametrize("tail", ["low", "high"])
@pytest.mark.parametrize("alpha", [0.5, 0.02, 1e-8, 1e-12, 1e-300])
def test_the_kernel_table_has_exact_thresholds_and_reaches_any_alpha(alpha, tail):
    """Strictly beyond the threshold of a table p <= alpha, nowhere else, as far out as one asks."""
    null = rk.methods.Kernel().against(np.sort(np.random.default_rng(0).normal(size=20_000)), tail)
    t = null.threshold(alpha)
    assert np.isfinite(t)
    new = t + np.arange(-1_000, 1_001) * np.spacing(t)
    np.testing.assert_array_equal(
        null.p_values(new) <= alpha, new < t if tail == "low" else new > t
    )
    assert sorted(null.p_values(np.array([-np.inf, np.inf]))) == [0.0, 1.0]


def test_a_very_narrow_kernel_is_summed():
    """Scores over more than 100,000 bandwidths have no table; they count one by one."""
    null = np.arange(2_001.0)
    p = rk.methods.Kernel(1e-3).against(null, "low").p_values(np.array([-1.0, 0.0, 7.5, 1e308]))
    np.testing.assert_allclose(p, np.array([0.0, 0.5, 8.0, 2_001.0]) / 2_001)


@pytest.mark.parametrize("n", [10, 3_000])
def test_scores_without_a_width_are_refused(n):
    """Scores so close that their standard deviation is lost get a remedy, and no other warning."""
    null = np.arange(n) * 5e-324
    with pytest.raises(rk.InputError, match="too close together for bandwidth='scott'"):
        rk.methods.Kernel().against(null, "low")
    assert rk.methods.Kernel(1e-322).against(null, "low").p_values(null).max() <= 1.0


def test_the_fit_is_checked_on_scores_it_has_not_seen():
    """A fit that repeats its own scores is no better on the others than they allow."""
    scores, labels = two_classes()
    test = rk.calibrate(scores, labels).control("fnr", 0.1, method=rk.methods.Kernel(1e-9))
    distance = re.search(r"distance (\d\.\d+)", test.certificate.cells[0].remark)
    # Two halves of 150 scores differ; one half and itself would differ by less than 1/150.
    assert float(distance[1]) > 0.02


@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ContradictedFitWarning")
def test_the_fit_is_checked_and_a_bad_one_is_called_bad():
    """A true model passes the check in the certificate; a wrong one is contradicted."""
    rng = np.random.default_rng(0)
    normal = np.r_[rng.normal(-1, 1, 2_000), rng.normal(1, 1, 2_000)]
    skewed = np.r_[rng.exponential(1, 2_000) - 4, rng.exponential(1, 2_000)]
    labels = np.repeat([0, 1], 2_000)
    for scores, words in ((normal, "not contradicted"), (skewed, "fit is contradicted")):
        test = rk.calibrate(scores, labels).control(
            "fnr", 0.01, method=rk.methods.Parametric("norm")
        )
        assert words in test.certificate.cells[0].remark
        assert words in str(test.certificate).replace("\n  ", " ")
