"""Linear rules under a convex constraint, against an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
from known_truth import gaussian
from scipy.optimize import minimize
from scipy.stats import norm

import ratekeeper as rk
from ratekeeper.baselines import ConvexNP, ConvexSplitting

PHI = {
    "logistic": lambda z: np.log2(1 + np.exp(z)),
    "squared-hinge": lambda z: np.maximum(1 + z, 0) ** 2,
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [60, 50])
    return rng.normal(size=(110, 3)) * [1, 3, 0.1] + 0.8 * y[:, None] * [1, 1.5, 0], y


def primal(X, y, loss, alpha, *, null, penalty=0.0, radius=np.inf):
    """Return the least objective and its rule, by SLSQP on the two halves of each coefficient."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    nulls, others, d, phi = Z[y == null], Z[y != null], X.shape[1], PHI[loss]

    def rule(v):
        return v[:d] - v[d : 2 * d], v[-1]

    def objective(v):
        w, b = rule(v)
        return phi(-(others @ w + b)).mean() + penalty / 2 * w @ w

    def room(v):
        w, b = rule(v)
        return alpha - phi(nulls @ w + b).mean()

    constraints = [{"type": "ineq", "fun": room}]
    if np.isfinite(radius):
        constraints.append({"type": "ineq", "fun": lambda v: radius - v[: 2 * d].sum()})
    start = np.append(np.full(2 * d, 0.01), -4.0)
    bounds = [(0, None)] * (2 * d) + [(None, None)]
    options = {"maxiter": 1000, "ftol": 1e-13}
    found = minimize(objective, start, bounds=bounds, constraints=constraints, options=options)
    assert found.success
    return found.fun, np.append(*rule(found.x))


@pytest.mark.parametrize("loss", PHI)
@pytest.mark.parametrize(("control", "alpha"), [("fpr", 0.05), ("fnr", 0.3), ("fpr", 0.9)])
def test_convex_np_is_the_constrained_minimum(data, loss, control, alpha):
    """SLSQP on the primal problem finds the same rule."""
    X, y = data
    clf = ConvexNP(loss=loss, control=control, alpha=alpha, penalty=0.01).fit(X, y)
    null = int(control == "fnr")
    least, rule = primal(X, y, loss, alpha, null=null, penalty=0.01)
    np.testing.assert_allclose(np.append(clf.coef_, clf.intercept_), rule, atol=2e-4)
    assert clf.other_risk_ + 0.005 * clf.coef_ @ clf.coef_ == pytest.approx(least, abs=1e-6)
    assert clf.null_risk_ <= alpha
    assert np.mean(clf.predict(X[y == null]) != null) <= clf.null_risk_
    # The multiplier is the price of alpha.
    higher, _ = primal(X, y, loss, alpha + 1e-3, null=null, penalty=0.01)
    assert (least - higher) / 1e-3 == pytest.approx(clf.multiplier_, rel=0.05, abs=1e-3)


def test_convex_np_constraint_that_hardly_binds():
    """Of many rules without other loss one that is allowed is found, at next to no price."""
    y = np.repeat([0, 1], 40)
    X = np.random.default_rng(1).normal(size=(80, 1)) + 20 * y[:, None]
    clf = ConvexNP(loss="squared-hinge", control="fpr", alpha=0.05, penalty=1e-9).fit(X, y)
    assert clf.null_risk_ <= 0.05
    assert clf.other_risk_ < 1e-9
    assert 0 <= clf.multiplier_ < 1e-6
    np.testing.assert_array_equal(clf.predict(X), y)


def test_convex_np_on_the_gaussian_problem():
    """In one column it is a threshold, at a true rate that stays below alpha with many rows."""
    X, y = gaussian(np.random.default_rng(2), 2000)
    for loss in PHI:
        clf = ConvexNP(control="fpr", alpha=0.1, loss=loss, penalty=1e-6).fit(X, y)
        cut = clf.scaler_.mean_[0] - clf.intercept_ / clf.coef_[0] * clf.scaler_.scale_[0]
        new = np.array([[cut - 1e-6], [cut + 1e-6]])
        assert clf.predict(new).tolist() == [0, 1]
        assert 0.002 < norm.sf(cut) < 0.1
    assert clf.guarantee.kind == "none"


@pytest.mark.parametrize(
    ("loss", "alpha", "radius"),
    [("logistic", 0.3, 1.0), ("logistic", 0.3, 4.0), ("squared-hinge", 0.3, None)],
)
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_splitting_reaches_the_constrained_minimum(data, loss, alpha, radius, control):
    """SLSQP finds the same least loss under the limits of the null class and of the radius."""
    X, y = data
    clf = ConvexSplitting(
        loss=loss, alpha=alpha, radius=radius, control=control, steps=1500, tolerance=1e-8
    )
    clf.fit(X, y)
    null = int(control == "fnr")
    least, rule = primal(X, y, loss, alpha, null=null, radius=radius or np.inf)
    assert clf.other_risk_ == pytest.approx(least, abs=2e-4)
    np.testing.assert_allclose(np.append(clf.coef_, clf.intercept_), rule, atol=0.02)
    assert clf.null_risk_ <= alpha
    assert np.abs(clf.coef_).sum() <= (radius or np.inf) + 1e-9
    assert np.mean(clf.predict(X[y == null]) != null) <= alpha
    assert 1 < clf.n_steps_ <= 1500


def test_splitting_stops_early_and_stays_allowed(data):
    """After a single step the constraint holds all the same, and the loss is larger."""
    X, y = data
    one = ConvexSplitting(alpha=0.2, control="fpr", steps=1).fit(X, y)
    many = ConvexSplitting(alpha=0.2, control="fpr").fit(X, y)
    assert one.n_steps_ == 1
    assert one.null_risk_ <= 0.2
    assert many.other_risk_ < one.other_risk_


@pytest.mark.parametrize("system", [ConvexNP, ConvexSplitting])
def test_convex_systems_refuse(system, data):
    """Unknown losses and odd numbers are refused with their values."""
    X, y = data
    with pytest.raises(rk.InputError, match="loss='hinge'"):
        system(loss="hinge").fit(X, y)
    name = "penalty" if system is ConvexNP else "radius"
    with pytest.raises(rk.InputError, match=f"{name}=-1 must be a positive number"):
        system(**{name: -1}).fit(X, y)
