"""The 2C- and 2nu-SVM: the machine against its dual problem, the search against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from known_truth import gaussian
from scipy.optimize import minimize
from scipy.stats import binom, norm
from sklearn.svm import SVC

import ratekeeper as rk
from ratekeeper.baselines import TwoCostSVM
from ratekeeper.baselines._neyman_pearson.two_cost_svm import (
    best,
    descend,
    grid_axes,
    search_grid,
    smoothed,
    train_machine,
)
from ratekeeper.baselines._splitting import deal_folds


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


def test_the_rate_is_near_alpha_and_no_promise():
    """On the Gaussian problem the border moves with alpha, and is above it too often."""
    rng, trials = np.random.default_rng(4), 12
    new = norm.ppf((np.arange(1000) + 0.5) / 1000)[:, None]
    clf = TwoCostSVM(control="fpr", kernel="linear", alpha=0.1, levels=4, folds=3, random_state=0)
    rates = [np.mean(clf.fit(*gaussian(rng, 30)).predict(new)) for _ in range(trials)]
    assert 0.03 < np.mean(rates) < 0.2
    assert np.sum(np.array(rates) > 0.1) > binom.isf(1e-3, trials, 0.05)
    assert clf.guarantee.kind == "none"


def test_a_machine_without_a_border_keeps_everything():
    """Classes that coincide leave no border, and nothing is rejected."""
    X, y = np.ones((20, 2)), np.repeat([0, 1], 10)
    clf = TwoCostSVM(control="fpr", levels=2, widths=1, random_state=0).fit(X, y)
    assert set(clf.predict(X).tolist()) == {0}


def test_two_cost_svm_refuses():
    """Odd words and numbers are refused with their values."""
    X, y = gaussian(np.random.default_rng(6), 20)
    with pytest.raises(rk.InputError, match="formulation='C'"):
        TwoCostSVM(formulation="C").fit(X, y)
    with pytest.raises(rk.InputError, match="levels=0 must be a whole number"):
        TwoCostSVM(levels=0).fit(X, y)
    with pytest.raises(rk.InputError, match="folds=1 must be a whole number from 2 up"):
        TwoCostSVM(folds=1).fit(X, y)
    with pytest.raises(rk.InputError, match="smooth='no' must be True or False"):
        TwoCostSVM(smooth="no").fit(X, y)
