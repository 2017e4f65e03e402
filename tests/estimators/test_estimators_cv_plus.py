"""CV+, refitting, both rates and probabilities: what the controller offers beyond one threshold."""

from __future__ import annotations

import json
import re
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import ratekeeper as rk
from ratekeeper import ErrorRateController
from ratekeeper.control._cv_plus import at_most, cv_plus_bound
from ratekeeper.exceptions import InterpolationWarning, PositiveLabelWarning, RefitWarning


@pytest.fixture
def data():
    return make_classification(403, 5, class_sep=1.5, random_state=0)


def cv_plus(model=None, **options):
    model = GaussianNB() if model is None else model
    return ErrorRateController(model, **{"strategy": "cv+", "random_state": 0, **options})


def counted_by_hand(clf, new, label, group=None):
    """Return the CV+ p-value of one object, by its definition."""
    count, n = 0, 0
    for model, fold in zip(clf.estimators_, clf.test_._folds, strict=True):  # noqa: SLF001
        scores = np.concatenate(fold[label]) if group is None else fold[label][group]
        mine = model.predict_proba(new)[0, 1]
        count += int(np.sum(scores <= mine if label else scores >= mine))
        n += scores.size
    return (1 + count) / (n + 1)


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_p_values_are_those_of_the_definition(data, control):
    """Each fold's rows are compared with what the model of that fold says about the object."""
    X, y = data
    clf = cv_plus(control=control, alpha=0.1).fit(X, y)
    new = np.random.default_rng(1).normal(size=(40, 5))
    p = clf.p_values(new)
    for i in range(40):
        assert p.p0[i] == counted_by_hand(clf, new[i : i + 1], 0)
        assert p.p1[i] == counted_by_hand(clf, new[i : i + 1], 1)
    positive = p.p1 > 0.1 if control == "fnr" else p.p0 <= 0.1
    assert positive.any()
    assert not positive.all()
    np.testing.assert_array_equal(clf.predict(new) == 1, positive)
    np.testing.assert_array_equal(clf.decision_function(new) > 0, positive)
    np.testing.assert_array_equal(clf.decide(new).p_values.p1, p.p1)


def test_every_fold_is_scored_by_the_model_that_has_not_seen_it(data):
    """The kept scores of a fold are those of its model, and folds hold equally many of a class."""
    X, y = data
    clf = cv_plus(cv=4).fit(X, y)
    sizes = clf.test_.sizes
    assert sizes.shape == (4, 2, 1)
    assert (sizes == sizes[:1]).all()
    assert sizes[:, 1].sum() == y.sum() // 4 * 4
    everything = np.sort(np.concatenate([m.predict_proba(X)[:, 1] for m in clf.estimators_]))
    for fold, label in product(range(4), (0, 1)):
        own = clf.estimators_[fold].predict_proba(X[y == label])[:, 1]
        kept = clf.test_._folds[fold][label][0]  # noqa: SLF001
        assert np.isin(kept, own).all()
        assert np.isin(kept, everything).all()


def test_groups_are_judged_apart(data):
    """With groups each class in each group has its own ranks, and its own bound."""
    X, y = data
    groups = np.where(np.arange(y.size) % 3, "many", "few")
    clf = cv_plus(alpha=0.1).fit(X, y, groups=groups)
    assert (clf.test_.sizes == clf.test_.sizes[:1]).all()
    new = np.random.default_rng(1).normal(size=(30, 5))
    for place, name in enumerate(["few", "many"]):
        p = clf.p_values(new, groups=[name] * 30).p1
        expected = [counted_by_hand(clf, new[i : i + 1], 1, place) for i in range(30)]
        np.testing.assert_array_equal(p, expected)
    few, many = clf.test_.cells
    assert (few.group, many.group) == ("few", "many")
    assert few.bound > many.bound
    assert clf.test_.bound("fnr") == few.bound
    assert "in each group" in clf.guarantee.promise
    with pytest.raises(rk.InputError, match=r"'few', 'many'.*Pass groups"):
        clf.predict(X)


def test_thin_groups_of_cv_plus(data):
    """A group with too few rows is refused by name, or pooled without a promise."""
    X, y = data
    groups = np.where(np.arange(y.size) < 20, "few", "many")
    with pytest.raises(rk.TooFewScoresError, match="in group 'few'; there are"):
        cv_plus().fit(X, y, groups=groups)
    clf = cv_plus(thin_groups="pool").fit(X, y, groups=groups)
    few, many = clf.test_.cells
    assert few.bound is None
    assert many.bound > 0.1
    assert clf.test_.bound("fnr") is None
    assert "that is not pooled" in clf.guarantee.promise
    new = np.random.default_rng(1).normal(size=(30, 5))
    p = clf.p_values(new, groups=["few"] * 30).p1
    np.testing.assert_array_equal(p, [counted_by_hand(clf, new[i : i + 1], 1) for i in range(30)])


def test_bound():
    """The bound is never above that of the paper, and close to 2 alpha for many rows."""
    for alpha, folds, size in product((0.01, 0.05, 0.1, 0.3), (2, 5, 10, 20), (1, 2, 5, 20, 100)):
        n = folds * size
        papers = 2 * alpha + min(
            2 * (1 - 1 / folds) / (n / folds + 1), (1 - folds / n) / (folds + 1)
        )
        assert cv_plus_bound(alpha, [size] * folds, folds_alike=True) <= papers + 1e-12
        unequal = [size + 1, *[size] * (folds - 2), size - 1]
        total = 2 * alpha + 2 * (folds - 1) / (n + folds)
        if size > 1:
            assert cv_plus_bound(alpha, unequal) <= total + 1e-12
    assert cv_plus_bound(0.05, [10_000] * 5) == pytest.approx(0.1, abs=0.001)
    assert cv_plus_bound(0.05, [1] * 199, folds_alike=True) == pytest.approx(0.095)  # jackknife+
    assert cv_plus_bound(0.01, [5] * 5) == 0.0  # too few for any rejection


def test_bound_of_leaving_one_out_and_of_unequal_folds(data):
    """Folds of one row each have the bound of the jackknife+; unequal ones only the general one."""
    X, y = data[0][:60], data[1][:60]
    n = int(y.sum())
    one = cv_plus(alpha=0.1, cv=LeaveOneOut()).fit(X, y)
    assert one.test_.cells[0].folds == n
    assert one.test_.bound("fnr") == cv_plus_bound(0.1, [1] * n, folds_alike=True)
    assert one.test_.bound("fnr") < 0.2
    folds = StratifiedKFold(9).split(X, y)
    clf = cv_plus(alpha=0.1, cv=list(folds)).fit(X, y)
    sizes = clf.test_.sizes[:, 1, 0].tolist()
    assert len(set(sizes)) > 1
    assert clf.test_.bound("fnr") == cv_plus_bound(0.1, sizes)


def test_certificate_of_cv_plus(data):
    """It has the bound, the rows and the folds, and never promises alpha."""
    X, y = data
    clf = cv_plus(alpha=0.05).fit(X, y)
    facts = json.loads(json.dumps(clf.certificate_.to_dict()))
    (cell,) = facts["cells"]
    assert cell["alpha"] == 0.05
    assert 0.1 < cell["bound"] < 0.14
    assert (cell["folds"], facts["folds"], cell["n"]) == (5, 5, facts["n"]["positive"])
    assert facts["guarantee"]["kind"] == "marginal"
    text = " ".join(str(clf.certificate_).split())
    printed = float(re.search(r"at most ([\d.]+)%, where 5% was asked for", text)[1])
    assert 0 <= printed - 100 * cell["bound"] < 0.01  # rounded up, never down
    assert "alpha itself is not guaranteed" in text
    assert "an estimate without an interval" in text
    assert "at most 5%" not in text


def test_other_error_estimate_is_near_the_truth(data):
    """The estimate of the other error is near what new objects show."""
    X, y = make_classification(4000, 5, class_sep=1.0, random_state=1)
    clf = cv_plus(alpha=0.05).fit(X[:2000], y[:2000])
    (cell,) = clf.test_.cells
    found = clf.test_.evaluate(clf._scores(X[2000:]), y[2000:])  # noqa: SLF001 - as decide does
    assert found.promised == cell.bound
    assert cell.other_error == pytest.approx(found.other.rate, abs=0.08)
    assert found.verdict in ("kept", "in line")


def test_no_threshold_and_no_single_model(data):
    """What CV+ does not have is refused with the reason."""
    clf = cv_plus().fit(*data)
    with pytest.raises(rk.InputError, match="CV\\+ test has no threshold"):
        _ = clf.threshold_
    assert not hasattr(clf, "estimator_")
    assert len(clf.estimators_) == 5
    assert clf.n_features_in_ == 5
    with pytest.raises(rk.InputError, match="needs 5 scores for each object"):
        clf.test_.decide([0.1, 0.2])
    with pytest.raises(rk.InputError, match="cannot save a CVPlusTest"):
        rk.save(clf.test_, "nowhere.rk")
    with pytest.raises(rk.InputError, match="A test by CV\\+"):
        rk.plots.ErrorCurveDisplay.from_estimator(clf, *data)


def test_cv_plus_in_a_search(data):
    """It can be searched and cross-validated like any classifier; a seed repeats it."""
    X, y = data
    grid = {"alpha": [0.05, 0.1], "cv": [3, 5], "estimator__var_smoothing": [1e-9, 1e-3]}
    search = GridSearchCV(cv_plus(), grid, cv=3, error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert cross_val_score(cv_plus(), X, y, scoring="roc_auc").min() > 0.9
    clf = cv_plus().fit(X, y)
    np.testing.assert_array_equal(clone(clf).fit(X, y).p_values(X).p1, clf.p_values(X).p1)
    assert repr(clf.test_).startswith("CVPlusTest with 5 folds\n  FNR: 5% was asked for")


# Both rates


@pytest.mark.parametrize("strategy", ["split", "cv+", "cross-fit"])
def test_both_rates(data, strategy):
    """Both rates are kept, undecided objects have the label asked for, or None."""
    X, y = data
    options = {"strategy": strategy, "random_state": 0, "control": "both", "alpha": (0.02, 0.03)}
    options["method"] = rk.Conformal()
    clf = ErrorRateController(GaussianNB(), undecided=-1, **options).fit(X, y)
    p, labels = clf.p_values(X), clf.decide(X).labels
    may_be_positive, may_be_negative = p.p1 > 0.02, p.p0 > 0.03
    np.testing.assert_array_equal(labels == 1, may_be_positive & ~may_be_negative)
    np.testing.assert_array_equal(labels == 0, may_be_negative & ~may_be_positive)
    found = clf.predict(X)
    assert found.dtype == y.dtype
    np.testing.assert_array_equal(found == -1, may_be_positive == may_be_negative)
    assert (found == -1).any()
    assert not hasattr(clf, "decision_function")
    assert clf.score(X, y) == np.mean(found == y)
    assert hasattr(clf.fit(X, y), "certificate_")
    assert str(clf.certificate_)
    plain = clone(clf).set_params(undecided=None).fit(X, y)
    with pytest.raises(rk.InputError, match=r"undecided=-1, or use decide"):
        plain.predict(X)
    assert None in plain.decide(X).labels.tolist()


@pytest.mark.parametrize("strategy", ["split", "cross-fit"])
def test_both_rates_where_thresholds_cross(data, strategy):
    """Objects that neither class explains are decided by one threshold between the two."""
    X, y = data
    options = {"strategy": strategy, "random_state": 0, "control": "both", "alpha": (0.02, 0.1)}
    options |= {"method": rk.Conformal(), "undecided": -1}
    clf = ErrorRateController(GaussianNB(), **options).fit(X, y)
    p = clf.p_values(X)
    assert ((p.p1 <= 0.02) & (p.p0 <= 0.1)).any()
    (middle,) = clf.test_.crossed
    assert clf.test_.fpr.threshold < middle <= clf.test_.fnr.threshold
    beyond = clf.estimator_.predict_proba(X)[:, 1] >= middle
    np.testing.assert_array_equal(clf.predict(X), beyond)
    np.testing.assert_array_equal(clf.decide(X).labels, beyond.astype(int))


def test_one_alpha_for_both_rates_and_words(data):
    """One level serves both rates, and the label for undecided objects may be longer."""
    X, y = data
    words = np.where(y, "yes", "no")
    model = FrozenEstimator(GaussianNB().fit(X[:200], words[:200]))
    clf = ErrorRateController(
        model, control="both", alpha=0.02, undecided="undecided", method=rk.Conformal()
    )
    clf.fit(X[200:], words[200:])
    assert (clf.test_.fnr.alpha, clf.test_.fpr.alpha) == (0.02, 0.02)
    assert set(clf.predict(X)) == {"yes", "no", "undecided"}
    with pytest.raises(rk.InputError, match="undecided='undecided', or use decide"):
        clf.set_params(undecided=None).predict(X)


# Probabilities, labels and models that are trained already


def test_probabilities_are_the_models(data):
    """Probabilities are those of the model, averaged over folds, and only where it has some."""
    X, y = data
    clf = ErrorRateController(GaussianNB(), random_state=0).fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), clf.estimator_.predict_proba(X))
    plus = cv_plus().fit(X, y)
    mean = sum(model.predict_proba(X) for model in plus.estimators_) / 5
    np.testing.assert_allclose(plus.predict_proba(X), mean)
    assert not hasattr(ErrorRateController(LinearSVC()), "predict_proba")


def test_words_are_warned_of_once(data):
    """Labels in words without a positive label give one warning, at the user's line."""
    X, y = data
    words = np.where(y, "sick", "fine")
    with pytest.warns(PositiveLabelWarning) as caught:
        ErrorRateController(GaussianNB()).fit(X, words)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_trained_model_that_is_not_frozen_is_warned_of(data):
    """A trained model is trained again only with a warning that names FrozenEstimator."""
    X, y = data
    trained = make_pipeline(StandardScaler(), GaussianNB()).fit(X, y)
    with pytest.warns(RefitWarning, match="FrozenEstimator") as caught:
        clf = ErrorRateController(trained).fit(X, y)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(clf).fit(X, y)
        cross_val_score(clf, X, y, error_score="raise")
        GridSearchCV(clf, {"alpha": [0.1, 0.2]}, error_score="raise").fit(X, y)
        ErrorRateController(FrozenEstimator(trained)).fit(X, y)
        clf = ErrorRateController(make_pipeline(StandardScaler(), GaussianNB()))
        clf.fit(X, y).fit(X, y)


# Interpolation


def hard_problem(n, d, seed):
    rng = np.random.default_rng(seed)
    y = np.tile([0, 1], n // 2)
    X = rng.normal(size=(n, d))
    X[:, :5] += 0.6 * y[:, None]
    return X, y


def warns_of_interpolation(model, n, d, seed, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        options = {"alpha": 0.1, "method": rk.Conformal(), "random_state": 0, **options}
        ErrorRateController(model, **options).fit(*hard_problem(n, d, seed))
    return any(issubclass(warning.category, InterpolationWarning) for warning in caught)


@pytest.mark.parametrize(("n", "d"), [(60, 40), (100, 60)])
def test_interpolating_cross_fits_are_warned_of(n, d):
    """Near interpolation almost every cross-fit warns; a split and CV+ need not."""
    model = LogisticRegression(C=1e6, max_iter=5000)
    found = [warns_of_interpolation(model, n, d, i, strategy="cross-fit") for i in range(10)]
    assert sum(found) >= 8
    for strategy in ("split", "cv+"):
        assert not warns_of_interpolation(model, n, d, 0, strategy=strategy)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("model", "n", "d"),
    [
        (LogisticRegression(), 60, 40),
        (LogisticRegression(), 200, 5),
        (GaussianNB(), 60, 40),
        (RandomForestClassifier(20, random_state=0), 60, 10),
        (DummyClassifier(), 60, 5),
    ],
    ids=repr,
)
def test_other_cross_fits_are_not(model, n, d):
    """Models whose cross-fits keep near alpha are not warned of, nor forests, which interpolate."""
    assert not any(
        warns_of_interpolation(model, n, d, seed, strategy="cross-fit") for seed in range(5)
    )


# The page


def test_the_bounds_of_the_page_are_right():
    """The table of bounds of docs/guides/estimator.md is what the function says."""
    page = (Path(__file__).parents[2] / "docs" / "guides" / "estimator.md").read_text(
        encoding="utf-8"
    )
    table = page.split("| K = 20 |")[1].split("\n\n")[0]
    rows = re.findall(r"\| ([\d,]+) \| (\d)% \| ([\d.]+)% \| ([\d.]+)% \| ([\d.]+)% \|", table)
    assert len(rows) == 4
    for n, alpha, *bounds in rows:
        for folds, bound in zip((5, 10, 20), bounds, strict=True):
            sizes = [int(n.replace(",", "")) // folds] * folds
            found = 100 * cv_plus_bound(int(alpha) / 100, sizes, folds_alike=True)
            assert f"{found:.1f}" == bound


def test_bounds_are_rounded_up():
    """What is printed must be proven, too."""
    assert (at_most(0.1), at_most(0.10001), at_most(0.13025)) == ("10.00%", "10.01%", "13.03%")


class Watched(GaussianNB):
    """Remembers the row numbers, in the first column, that it was trained on."""

    seen = []  # noqa: RUF012 - shared by all clones

    def fit(self, X, y):
        """Train, and remember."""
        self.seen.append(X[:, 0].copy())
        return super().fit(X, y)


def test_folds_are_alike_only_if_both_classes_are():
    """Equal positives and unequal negatives leave the general bound; training rows are shuffled."""
    y = np.repeat([0, 1], 100)
    X = np.column_stack([np.arange(200.0), np.random.default_rng(0).normal(size=200) + y])
    negatives = np.repeat(np.arange(20), [4, 6, *[5] * 18])
    fold = np.r_[negatives, np.repeat(np.arange(20), 5)]
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(20)]
    Watched.seen.clear()
    clf = cv_plus(Watched(), cv=splits, random_state=0).fit(X, y)
    assert clf.test_.bound("fnr") == cv_plus_bound(0.05, [5] * 20)
    assert clf.test_.bound("fnr") > cv_plus_bound(0.05, [5] * 20, folds_alike=True)
    assert len(Watched.seen) == 20
    assert all((np.diff(rows) < 0).any() for rows in Watched.seen)


def test_nothing_is_certified_where_all_groups_are_pooled():
    """Too few rows in every group: no bound, and no certificate of one."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 100)
    X, groups = rng.normal(size=(200, 2)) + y[:, None], np.arange(200) // 20
    clf = cv_plus(GaussianNB(), thin_groups="pool", random_state=0).fit(X, y, groups=groups)
    text = " ".join(str(clf.certificate_).split())
    assert text.startswith("NO PROMISE FNR <= 5%")
    assert clf.test_.bound("fnr") is None
    assert "at most 0.00%" not in text
    assert "near alpha or below" not in text
    assert clf.test_.guarantee.kind == "none"


def test_a_rate_without_a_bound_is_not_certified_beside_one_that_has_it():
    """Positives are too few in every group, negatives are not: only the FPR has a bound."""
    rng = np.random.default_rng(0)
    y = np.r_[np.tile([0, 0, 0, 0, 1], 60)]
    X, groups = rng.normal(size=(300, 2)) + y[:, None], np.repeat(np.arange(6), 50)
    clf = cv_plus(GaussianNB(), control="both", thin_groups="pool", random_state=0)
    text = " ".join(str(clf.fit(X, y, groups=groups).certificate_).split())
    assert clf.test_.bound("fnr") is None
    assert clf.test_.bound("fpr") is not None
    head = text.partition("Promise")[0]
    assert "FPR <=" in head
    assert "FNR" not in head
    assert "the FNR in each group" not in text
