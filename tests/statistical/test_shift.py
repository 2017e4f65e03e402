"""The shift test keeps its level at every prevalence, and its interval covers the prevalence."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom

import ratekeeper as rk
from ratekeeper._numerics import _mixtures as mixtures
from ratekeeper.monitoring._shift import _random_order

RARE = 1e-7  # a correct build fails one of the bounds here less often


def normal(rng, n, label):
    """Return continuous scores."""
    return rng.normal(2.0 * label, 1.0 + label, n)


def few_values(rng, n, label):
    """Return scores of five values, one of which only one class has."""
    return rng.choice(5, n, p=([0.5, 0.3, 0.15, 0.05, 0.0], [0.05, 0.15, 0.2, 0.3, 0.3])[label])


def apart(rng, n, label):
    """Return scores of classes that do not overlap: all noise is in the number of positives."""
    return label + 0.9 * rng.random(n)


def alike(rng, n, label):
    """Return scores that tell nothing about the class, and are very skewed."""
    del label
    return rng.pareto(0.5, n).round(1)


CASES = [  # scores, negatives, positives, new objects, prevalence
    (normal, 200, 200, 300, 0.01),
    (normal, 300, 30, 100, 0.99),
    (normal, 1000, 50, 20, 0.5),
    (few_values, 100, 100, 400, 0.3),
    (few_values, 12, 300, 50, 0.99),
    (apart, 60, 60, 500, 0.5),
    (apart, 300, 20, 60, 0.01),
    (alike, 8, 5, 40, 0.2),
    (alike, 150, 150, 150, 0.7),
]
RUNS = 200


@pytest.fixture(scope="module")
def results():
    """Return what is found on mixtures, with the prevalence, for every case."""
    rng = np.random.default_rng(14)
    found = []
    for draw, n_negative, n_positive, n_new, prevalence in CASES:
        for _ in range(RUNS):
            scores = np.r_[draw(rng, n_negative, 0), draw(rng, n_positive, 1)].astype(float)
            labels = np.repeat([0, 1], [n_negative, n_positive])
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", rk.exceptions.ReversedScoreWarning
                )  # of scores that are alike
                cal = rk.calibrate(scores, labels)
            positive = rng.random(n_new) < prevalence
            new = np.where(positive, draw(rng, n_new, 1), draw(rng, n_new, 0)).astype(float)
            found.append((rk.shift_test(cal, new), prevalence))
    return found


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2, 0.5])
def test_a_change_of_prevalence_alone_is_seldom_called_a_shift(results, alpha):
    """P(p <= alpha) <= alpha in every case, whatever classes, ties, sizes and prevalence."""
    p = np.array([one.p for one, _ in results]).reshape(len(CASES), RUNS)
    most = binom.isf(RARE, RUNS, alpha)
    assert (np.count_nonzero(p <= alpha, axis=1) <= most).all()
    assert np.count_nonzero(p <= alpha) <= binom.isf(RARE, p.size, alpha)


def test_the_interval_covers_the_prevalence(results):
    """The 95% interval covers the prevalence in every case; None covers nothing."""
    covers = [
        one.interval is not None and one.interval[0] <= truth <= one.interval[1]
        for one, truth in results
    ]
    missed = np.count_nonzero(~np.array(covers).reshape(len(CASES), RUNS), axis=1)
    assert (missed <= binom.isf(RARE, RUNS, 0.05)).all()
    assert missed.sum() <= binom.isf(RARE, len(covers), 0.05)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("runs", [75, 300])
def test_the_level_is_kept_where_the_test_is_sharpest(runs):
    """At one known prevalence nothing is searched, and the level is nearly used up, yet kept."""
    rng, p = np.random.default_rng(3), []
    for _ in range(runs):
        cal = rk.calibrate(rng.normal(np.repeat([0, 2], 300)), np.repeat([0, 1], 300))
        new = rng.normal(2 * (rng.random(300) < 0.5))
        p.append(rk.shift_test(cal, new, prevalence=0.5).p)
    for alpha in (0.05, 0.2):
        assert np.count_nonzero(np.array(p) <= alpha) <= binom.isf(RARE, runs, alpha)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("name", "n_new", "drifted"),
    [
        ("negatives moved", 2000, lambda s, y: s + 0.5 * (y == 0)),
        ("positives spread", 2000, lambda s, y: np.where(y, 2 + 2 * (s - 2), s)),
        ("rounded", 2000, lambda s, _: s.round()),
        ("percent", 50, lambda s, _: 100 * s),
        ("another model", 2000, lambda s, _: s - 0.7 * s**2 / 4),
    ],
)
def test_shifts_are_found(name, n_new, drifted):
    """Shifts within a class, of the scale and of the model are found, with 1,000 of each class."""
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(8):
        cal = rk.calibrate(rng.normal(np.repeat([0, 2], 1000)), np.repeat([0, 1], 1000))
        labels = (rng.random(n_new) < 0.3).astype(int)
        found += rk.shift_test(cal, drifted(rng.normal(2 * labels), labels)).shifted
    assert found >= 5, f"{name}: {found} of 8"


def test_rates_are_kept_whatever_the_prevalence():
    """A shift of prevalence alone breaks no promise: FNR and FPR stay, and no shift is found."""
    rng, runs, delta, alpha = np.random.default_rng(7), 150, 0.05, 0.1
    cal_labels = np.repeat([0, 1], 300)
    broken = {(rate, share): 0 for rate in ("fnr", "fpr") for share in (0.01, 0.5, 0.99)}
    for _ in range(runs):
        cal = rk.calibrate(rng.normal(2 * cal_labels), cal_labels)
        for rate, share in broken:
            test = cal.control(rate, alpha, method=rk.HighProbability(delta))
            labels = np.repeat([0, 1], [round(20_000 * (1 - share)), round(20_000 * share)])
            null = int(rate == "fnr")
            called = test.decide(rng.normal(2 * labels)).labels
            errors, n = np.count_nonzero(called[labels == null] != null), np.sum(labels == null)
            broken[rate, share] += binom.sf(errors - 1, n, alpha) < 1e-6  # surely above alpha
    assert max(broken.values()) <= binom.isf(RARE, runs, delta)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("n", "m"), [(3000, 4000), (40, 60)])
def test_the_two_sample_test_is_exact(n, m):
    """For two samples of one distribution the tree keeps every level, and nearly uses it up."""
    rng, runs = np.random.default_rng(9), 1000
    shares = rng.dirichlet(np.full(10, 3.0))
    levels = mixtures.tree(10)
    p = np.empty(runs)
    for i in range(runs):
        one, other = (np.cumsum(np.r_[0, rng.multinomial(k, shares)]) for k in (m, n))
        p[i] = mixtures.p_values_of_samples(one, other[np.newaxis], levels, exact=True)[0]
    for alpha in (0.01, 0.05, 0.2):
        found = np.count_nonzero(p <= alpha)
        assert found <= binom.isf(RARE, runs, alpha)
        if n > 1000:  # so that it would be seen if it were not exact
            assert found >= binom.ppf(RARE, runs, 0.6 * alpha)


def test_the_search_finds_the_largest_p_value(monkeypatch):
    """A search through every number of positives, all exact, finds nothing larger."""
    rng = np.random.default_rng(8)
    cases = []
    for i in range(25):
        sizes = [int(n) for n in 10 ** rng.uniform(0.7, 2.5, 3)]
        n_cells = int(rng.integers(3, 35))
        shares = rng.dirichlet(np.full(n_cells, rng.choice([0.2, 1, 5])), 3)
        classes = [rng.choice(n_cells, sizes[i], p=shares[i]) for i in (0, 1)]
        mixed = 0.5 * (shares[0] + shares[1])
        new = rng.multinomial(sizes[2], 0.9 * mixed + 0.1 * shares[2] if i % 2 else mixed)
        cases.append((classes, new, mixtures.p_of_mixture(classes, new)))
    for name in ("_FINE_GRID", "_ALWAYS"):
        monkeypatch.setattr(mixtures, name, 10**9)
    for name in ("_FAR", "_ROUGH_STEP"):
        monkeypatch.setattr(mixtures, name, 0.0)
    for classes, new, p in cases:
        assert mixtures.p_of_mixture(classes, new) == pytest.approx(p)


def test_each_draw_has_another_order():
    """Which ranks are drawn is up to the draw alone."""
    numbers = [
        rk.calibrate([0.0, 1.0], [0, 1], random_state=seed).draw.numbers(10, "order", 0)
        for seed in range(2000)
    ]
    first = [_random_order(one)[0] for one in numbers]
    assert np.abs(np.bincount(first, minlength=10) - 200).max() < 6 * np.sqrt(200)
