"""The comparison: what it counts, that it repeats itself, and refuses in words."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cases import each
from scipy import stats
from seen_rows import splits_of
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import ratekeeper as rk

FEW = ["conformal", "high-probability", "both-rates", "paper-plain", "umbrella", "plain"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [300, 260])
    return rng.normal(size=(560, 2)) + 1.2 * y[:, None], np.array(["no", "yes"])[y]


def run(data, **options):
    X, y = data
    known = {"control": "fnr", "alpha": 0.1, "repeats": 3, "n_jobs": 1, "systems": FEW}
    return rk.compare(X, y, **known | options)


def counts(result):
    """Return everything but the times."""
    return [replace(trial, fit_seconds=0, judge_seconds=0) for trial in result.trials]


class AlwaysYes(ClassifierMixin, BaseEstimator):
    """It calls everything positive, and remembers how many rows it saw."""

    def fit(self, X, y):
        """Count the rows."""
        self.classes_, self.n_training_ = np.unique(y), len(X)
        return self

    def predict(self, X):
        """Return the last class."""
        return np.full(len(X), self.classes_[1])


class Broken(AlwaysYes):
    """It fails."""

    def fit(self, X, y):  # noqa: ARG002 - it does not get that far
        """Fail."""
        raise RuntimeError("out of order. Really.")


class Shapeless(AlwaysYes):
    """It predicts a column instead of a row of labels, which NumPy would compare all the same."""

    def predict(self, X):
        """Return a column."""
        return super().predict(X)[:, None]


class Wordless(AlwaysYes):
    """It predicts what is not a label."""

    def predict(self, X):
        """Return a code."""
        return np.ones(len(X))


class Unclonable(AlwaysYes):
    """It changes what it is given."""

    def __init__(self, size=1):
        self.size = [size]


def test_counts_are_those_of_the_test_objects(data):
    """A rule that is known makes errors that are known: none of one kind, all of the other."""
    for control, target, other in (("fnr", 0.0, 1.0), ("fpr", 1.0, 0.0)):
        result = run(data, control=control, systems={"yes": AlwaysYes()}, test_size=0.25)
        (row,) = result.rows
        assert (row.target, row.other) == (target, other)
        assert row.above == row.clearly_above == float(target > 0.1)
        assert row.training_rows == result.n_given == 420
        assert result.n_test == 140
        assert {trial.target_n for trial in result.trials} == {65 if control == "fnr" else 75}


def test_splits_are_disjoint_stratified_and_differ():
    """Test objects never train, each class is split in the same share, and repeats differ."""
    is_positive = np.arange(100) < 30
    asked = {"test_size": 0.3, "train_size": 0.5, "random_state": 7}
    (train, test), (_, other) = splits_of(is_positive, 2, **asked)
    ((_, again),) = splits_of(is_positive, 1, **asked)
    assert np.intersect1d(train, test).size == 0
    assert is_positive[test].sum() == 9
    assert is_positive[train].sum() == 15
    np.testing.assert_array_equal(test, again)
    assert not np.array_equal(test, other)


@pytest.mark.thorough
def test_same_seed_same_counts(data):
    """A seed fixes every count, with one process or two; another seed changes them."""
    few = {"systems": ["umbrella", "plain"], "repeats": 2}
    one, two = run(data, **few), run(data, **few, n_jobs=2)
    assert counts(one) == counts(two)
    assert counts(one) != counts(run(data, **few, random_state=1))


def test_a_system_does_not_depend_on_its_company(data):
    """A system's result is the same whichever others are compared."""
    alone = run(data, systems=["umbrella"])
    together = [trial for trial in counts(run(data)) if trial.system == "umbrella"]
    assert counts(alone) == together


def test_random_learners_are_seeded(data):
    """A classifier with random parts gives the same counts for the same seed."""
    tree = DecisionTreeClassifier(max_features=1, splitter="random", min_samples_leaf=9)
    assert counts(run(data, estimator=tree)) == counts(run(data, estimator=tree))


@pytest.mark.thorough
def test_other_data_do_not_mix(data, tmp_path):
    """A checkpoint of other data, another level or another program is refused and left alone."""
    X, y = data
    path = tmp_path / "trials.jsonl"
    run(data, checkpoint=path)
    before = path.read_bytes()
    for other, options in (
        ((X + 1e-9, y), {}),
        (data, {"alpha": 0.2}),
        (data, {"random_state": 5}),
    ):
        with pytest.raises(rk.InputError, match="other data or options"):
            run(other, checkpoint=path, **options)
    assert path.read_bytes() == before
    with pytest.raises(rk.InputError, match=r"\(alpha is 0.1, not 0.2\)"):
        run(data, checkpoint=path, alpha=0.2)
    path.write_text("not a journal\n")
    with pytest.raises(rk.InputError, match="another program"):
        run(data, checkpoint=path)
    assert path.read_text() == "not a journal\n"
    with pytest.raises(rk.InputError, match="cannot be used"):
        run(data, checkpoint=tmp_path / "missing" / "trials.jsonl")


def test_refusals_and_failures_become_notes(data):
    """What cannot keep its promise says what it needs, and a broken system does not end the run."""
    result = run(data, alpha=0.01, systems=["high-probability", "plain"])
    refused, plain = result.rows
    assert refused.note == "refused: needs 299, has 91"
    assert (refused.repeats, refused.refused) == (0, 3)
    assert np.isnan(refused.target)
    assert plain.repeats == 3
    broken = run(data, systems={"broken": Broken(), "yes": AlwaysYes()})
    assert broken.rows[0].note == "refused: failed: RuntimeError: out of order."
    assert broken.rows[1].repeats == 3


def test_predictions_that_are_no_labels_are_refused(data):
    """Predictions of a wrong shape or coding are a note, never a rate."""
    systems = {"shapeless": Shapeless(), "wordless": Wordless()}
    shapeless, wordless = run(data, systems=systems).rows
    assert shapeless.note == "refused: predict gave shape (168, 1) for 168 objects."
    assert wordless.note == "refused: predict gave 1.0, which is not a label."
    assert wordless.promise == "none"


@pytest.mark.thorough
def test_our_promises_hold_on_splits():
    """Marginal: the mean is at most alpha. High probability: above as often as computed.

    Given the data, the split into calibration and test objects is random, so the errors among N
    test objects of the null class are exactly beta-binomial, whatever the scores.
    """
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [200, 700])
    X = rng.standard_t(3, size=(900, 2)) + y[:, None]
    repeats = 120
    result = rk.compare(
        X,
        y,
        control="fnr",
        alpha=0.1,
        systems=["conformal", "high-probability", "conformal-risk", "umbrella", "paper-plain"],
        estimator=GaussianNB(),
        repeats=repeats,
        n_jobs=1,
    )
    assert {trial.null_scores for trial in result.trials} == {245}
    methods = (rk.Conformal(), rk.HighProbability(0.05)) * 2
    for row, method in zip(result.rows, methods, strict=False):
        n, tests = 245, 210  # half of the 490 positives given; the others
        k = method.against(np.arange(n, dtype=float), "low").rank(0.1)
        law = stats.betabinom(tests, k, n + 1 - k)
        assert {t.threshold_rank for t in result.trials if t.system == row.system} == {k}
        assert row.above_allowed == pytest.approx(law.sf(int(0.1 * tests)))
        assert row.p_value > 1e-6
        above = stats.binom(repeats, law.sf(int(0.1 * tests)))
        assert above.ppf(5e-7) <= row.above * repeats <= above.ppf(1 - 5e-7)
        assert abs(row.target - law.mean() / tests) < 5 * law.std() / tests / repeats**0.5
    assert result.rows[4].above > 0.4  # the paper's estimator: above about every other time


def test_abstentions_are_counted_and_are_no_errors(data):
    """A test of both rates abstains on some objects, and those are in neither error."""
    result = run(data, systems=["both-rates", "conformal"], alpha=0.05)
    both, one = result.rows
    assert both.abstained > 0.1
    assert one.abstained == 0
    assert both.other < one.other


def test_the_positive_label_is_settled_once(data):
    """Every system is told the positive label, so that only `compare` itself can warn of it."""
    X, y = data
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run((X, np.where(y == "no", "good", "bad")), systems=["umbrella", "conformal"])
    assert len(caught) <= 1
    assert [row.note for row in result.rows] == ["", ""]
    assert result.positive == "good"


def test_kinds_of_columns_and_labels_do_not_matter(data):
    """Lists, objects and frames with numbered columns give the counts of plain arrays."""
    X, y = data
    known = counts(run(data, systems=["conformal"]))
    whole = (y == "yes").astype(int)
    for objects, labels in (
        (X.tolist(), y.tolist()),
        (X.astype(object), y.astype(object)),
        (pd.DataFrame(X), whole.astype(object)),
        (pd.DataFrame(X.astype(object)), pd.Series(y == "yes")),
        ({0: X[:, 0].tolist(), 1: X[:, 1].astype(object)}, pd.Series(y).astype("category")),
    ):
        assert counts(run((objects, labels), systems=["conformal"])) == known


def test_columns_of_text_and_gaps(data):
    """A data frame with text and gaps is encoded, and the result says how."""
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(job=np.where(X[:, 0] > 0, "x", "z"))
    frame.loc[3, "a"] = np.nan
    result = run((frame, y), systems=["plain"])
    assert result.n_features == 3
    assert len(result.notes) == 2
    assert "1 missing number(s)" in result.markdown()


@each(
    ("options", "message"),
    [
        ({"control": "both"}, "control='both'"),
        ({"alpha": 5}, "alpha=5"),
        ({"delta": 0}, "delta=0"),
        ({"repeats": 0}, "repeats=0"),
        ({"test_size": 1.5}, "test_size=1.5"),
        ({"train_size": 0}, "train_size=0"),
        ({"random_state": -1}, "random_state=-1"),
        ({"systems": ["conformal", "magic"]}, "'magic', which is not a known name"),
        ({"systems": []}, "at least one name"),
        ({"systems": {"me": 3}}, "has no fit and no predict or decide"),
        ({"systems": {"me": Unclonable()}}, "cannot be cloned"),
        ({"systems": {3: AlwaysYes()}}, "the key 3"),
        ({"systems": 3}, "systems=3"),
        ({"systems": [["conformal"]]}, "not a known name"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"n_jobs": 1.5}, "n_jobs=1.5"),
        ({"positive_label": "maybe"}, "maybe"),
        ({"estimator": object()}, "must be a classifier"),
    ],
)
def test_bad_options(data, options, message):
    """Every option that cannot work is refused with its value before anything is trained."""
    with pytest.raises(rk.InputError, match=message):
        run(data, **options)


def test_bad_data(data):
    """Data that cannot be compared are refused in words."""
    X, y = data
    with pytest.raises(rk.InputError, match="two are needed"):
        run((X, np.zeros(len(y))))
    with pytest.raises(rk.InputError, match=r"3 class\(es\) \(0, 1, 2\)"):
        run((X, np.arange(560) % 3))
    with pytest.raises(rk.InputError, match="label 1 occurs 1 time"):
        run((X, (np.arange(560) == 7).astype(int)))
    with pytest.raises(rk.InputError, match="of type NoneType and str"):
        run((X, np.where(y == "no", None, y)))
    with pytest.raises(rk.InputError, match="560"):
        run((X[:-1], y))
    with pytest.raises(rk.InputError, match=r"shape \(560,\)"):
        run((X[:, 0], y))
    with pytest.raises(rk.InputError, match=r"inf in row 2 \(from 0\), column 'column 1'"):
        run((np.where(np.arange(1120).reshape(560, 2) == 5, np.inf, X), y))
    with pytest.raises(rk.InputError, match="560 different values"):
        run((pd.DataFrame({"id": [f"u{i}" for i in range(560)]}), y))
