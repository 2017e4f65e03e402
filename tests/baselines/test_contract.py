"""What every rival system owes: scikit-learn's contract, one set of words, and clear refusals."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from cases import check_with_scikit_learn, each
from sklearn.base import ClassifierMixin, clone
from sklearn.naive_bayes import GaussianNB

import ratekeeper as rk
from ratekeeper import baselines

# Some of scikit-learn's checks fit ten rows, some ten columns: hence promises that so few rows can
# keep, and leave to estimate a density in so many dimensions.
EASY = {"alpha": 0.4, "delta": 0.5, "max_features": 10}
# Systems that train many classifiers do so with one that trains in no time, and fewer times: it is
# the same code. Examples of the docstrings run them as they are.
QUICK = {
    "ConvexAggregation": {"estimators": [GaussianNB()]},
    "CostThresholding": {"estimator": GaussianNB(), "folds": 3},
    "CostWeighting": {"estimator": GaussianNB()},
    "Costing": {"estimator": GaussianNB(), "samples": 2},
    "CrossValidatedRefit": {"estimator": GaussianNB()},
    "ICET": {"population": 2, "generations": 1},
    "MetaCost": {"estimator": GaussianNB(), "bags": 3},
    "MultiplierSearch": {"estimator": GaussianNB(), "steps": 3},
    "NPSelection": {"estimators": [GaussianNB()]},
    "TwoCostSVM": {"kernel": "linear", "levels": 3, "folds": 2},
}
CLASSES = [getattr(baselines, name) for name in baselines.__all__]
SYSTEMS = [item for item in CLASSES if isinstance(item, type) and issubclass(item, ClassifierMixin)]
PARAMETERS = {item: inspect.signature(item).parameters for item in SYSTEMS}


def easy(system, **options):
    """Return a system that keeps a promise on very few rows, and is quick."""
    known = {name: value for name, value in EASY.items() if name in PARAMETERS[system]}
    if "random_state" in PARAMETERS[system]:
        known["random_state"] = 0
    return system(**known | QUICK.get(system.__name__, {}) | options)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    return rng.normal(size=(300, 3)) + 1.5 * y[:, None], y


# The checks fit words such as "one" and "two", of which the last is taken as positive on purpose.
@pytest.mark.thorough_rows
@pytest.mark.filterwarnings("ignore:.*do not look normal:ratekeeper.exceptions.RatekeeperWarning")
@pytest.mark.filterwarnings("ignore:The labels are:ratekeeper.exceptions.RatekeeperWarning")
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.__name__)
def test_scikit_learn_checks(system):
    """Every system is a scikit-learn classifier."""
    check_with_scikit_learn(easy(system))


@each("system", SYSTEMS)
def test_same_words(system):
    """Constructors share their words, describe all of them, and the guarantee is in words."""
    names = list(PARAMETERS[system])
    assert {"control", "alpha", "positive_label"} <= set(names)
    assert PARAMETERS[system]["control"].default == "fnr"
    assert PARAMETERS[system]["alpha"].default == 0.05
    for name, parameter in PARAMETERS[system].items():
        assert name == "estimator" or parameter.kind is parameter.KEYWORD_ONLY
        assert f"\n{name} : " in system.__doc__.partition("Attributes\n")[0]
    guarantee = system().guarantee
    assert guarantee.kind in ("marginal", "high probability", "asymptotic", "none")
    assert len(str(guarantee)) > 60
    assert guarantee.promise.endswith(".")
    assert guarantee.condition.endswith(".")
    assert guarantee.not_covered.endswith(".")


@each("system", SYSTEMS)
@each("control", ["fnr", "fpr"])
@pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.PositiveLabelWarning")  # on purpose
def test_labels_and_direction(system, control, data):
    """Labels of any kind work, either may be positive, and swapping both words changes nothing."""
    X, y = data
    names = np.array(["healthy", "ill"])[y]
    one = easy(system, control=control, positive_label="ill").fit(X, names)
    assert one.classes_.tolist() == ["healthy", "ill"]
    assert set(one.predict(X[::10])) <= {"healthy", "ill"}
    other = "fpr" if control == "fnr" else "fnr"
    two = easy(system, control=other, positive_label="healthy").fit(X, names)
    np.testing.assert_array_equal(one.predict(X[::10]), two.predict(X[::10]))
    assert one.null_label_ == two.null_label_ == ("ill" if control == "fnr" else "healthy")
    assert 0 < one.n_training_ <= len(y)


@each("system", SYSTEMS)
def test_learns(system, data):
    """It tells two well separated classes apart better than at random."""
    X, y = data
    clf = clone(easy(system)).set_params(alpha=0.1).fit(X, y)
    assert np.mean(clf.predict(X[::4]) == y[::4]) > 0.6


@pytest.mark.parametrize("system", [item for item in SYSTEMS if hasattr(item, "p_values")])
def test_p_values_decide(system, data):
    """Where a system has p-values, its decision is a p-value compared with alpha."""
    X, y = data
    for control in ("fnr", "fpr"):
        clf = easy(system, control=control).set_params(alpha=0.1).fit(X, y)
        p = clf.p_values(X[::10])
        assert isinstance(p, rk.PValues)
        assert min(p.p0.min(), p.p1.min()) >= 0
        assert max(p.p0.max(), p.p1.max()) <= 1
        expected = p.p1 > 0.1 if control == "fnr" else p.p0 <= 0.1
        np.testing.assert_array_equal(clf.predict(X[::10]) == 1, expected)


# Bad input: value, need, remedy


@each("system", SYSTEMS)
def test_refusals(system, data):
    """NaN, infinities, vast numbers, one class, text and odd parameters are refused in words."""
    X, y = data
    bad = X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(
        rk.InputError, match=r"NaN in row 7, column 1, the first of 1 values.*fill them in"
    ):
        easy(system).fit(bad, y)
    frame = pd.DataFrame(bad, columns=["age", "dose", "size"])
    with pytest.raises(rk.InputError, match=r"row 7, column 'dose'"):
        easy(system).fit(frame, y)
    bad[7, 1] = -np.inf
    with pytest.raises(rk.InputError, match=r"inf or -inf in row 7"):
        easy(system).fit(bad, y)
    bad[7, 1] = -1e300
    with pytest.raises(rk.InputError, match=r"-1e\+300 in row 7, column 1, .*another unit"):
        easy(system).fit(bad, y)
    with pytest.raises(rk.InputError, match=r"1 class\(es\)"):
        easy(system).fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="Only binary classification"):
        easy(system).fit(X, np.arange(len(y)) % 3)
    for text in (
        pd.DataFrame(X, columns=list("abc")).assign(job="nurse"),
        pl.DataFrame(X, schema=list("abc")).with_columns(job=pl.lit("nurse")),
    ):
        with pytest.raises(rk.InputError, match=r"'job' .*not numbers|not numbers.*'job'"):
            easy(system).fit(text, y)
    with pytest.raises(rk.InputError, match="alpha=5 "):
        easy(system).set_params(alpha=5).fit(X, y)
    with pytest.raises(rk.InputError, match="control='both'"):
        easy(system).set_params(control="both").fit(X, y)
    if "delta" in PARAMETERS[system]:
        with pytest.raises(rk.InputError, match="delta=0 "):
            easy(system).set_params(delta=0).fit(X, y)
    with pytest.raises(rk.InputError, match="'maybe'"):
        easy(system).set_params(positive_label="maybe").fit(X, y)
    clf = easy(system).fit(X, y)
    with pytest.raises(rk.InputError, match="NaN in row 0"):
        clf.predict(np.full((2, 3), np.nan))
    with pytest.raises(rk.InputError, match=r"1e\+300 in row 1, column 2"):
        clf.predict([[0, 0, 0], [0, 0, 1e300]])
    assert np.isfinite(clf.decision_function([[1e38, -1e38, 1e38], [-1e38, -1e38, 1e38]])).all()
    with pytest.raises(ValueError, match="2 features"):
        clf.predict(X[:, :2])
