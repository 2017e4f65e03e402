"""Several classes: p-values, label sets, classes in order, and what they cost."""

import pickle

import numpy as np
import pandas as pd
import pytest
from cases import check_with_scikit_learn, each
from hypothesis import given, strategies as st
from scipy.stats import betabinom, binom, norm
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ratekeeper as rk

METHODS = [rk.Conformal(), rk.HighProbability(0.1), rk.Simultaneous(0.1)]


def clouds(seed, n, shift=2.0, n_classes=3):
    """Return scores of independent columns, each shifted for its own class, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    return rng.normal(shift * np.eye(n_classes)[labels]), labels


@given(st.integers(0, 2**32), st.integers(2, 5), st.booleans())
def test_p_values_count_the_own_class(seed, n_classes, single):
    """The p-value of a class is the share of its own scores at or below, with ties."""
    rng = np.random.default_rng(seed)
    labels = np.r_[np.arange(n_classes), rng.integers(0, n_classes, 30)]
    scores = rng.integers(0, 6, (labels.size, n_classes)).astype("f4" if single else "f8")
    new = rng.integers(-1, 7, (9, n_classes)).astype(scores.dtype)
    found = rk.multiclass.calibrate(scores, labels).p_values(new)
    for c in range(n_classes):
        own = scores[labels == c, c]
        plain = [((own <= s).sum() + 1) / (own.size + 1) for s in new[:, c]]
        assert found[:, c].tolist() == plain


@given(st.integers(0, 2**32), st.sampled_from(METHODS), st.booleans())
def test_two_classes_are_the_binary_test_to_the_last_bit(seed, method, has_ties):
    """One column for two classes gives the p-values and decisions of `calibrate`."""
    rng = np.random.default_rng(seed)
    labels = np.r_[np.repeat([0, 1], 120), rng.integers(0, 2, 60)]
    scores, new = rng.normal(labels), rng.normal(0.5, 1, 200)
    if has_ties:
        scores, new = scores.round(1), new.round(1)
    several, two = rk.multiclass.calibrate(scores, labels), rk.calibrate(scores, labels)
    expected = two.p_values(new, method=method)
    found = several.p_values(new, method=method)
    assert np.array_equal(found, np.column_stack([expected.p0, expected.p1]))
    sets = several.control({0: 0.1, 1: 0.2}, method=method).decide(new)
    keeps_negatives = two.control("fpr", 0.1, method=method).decide(new).positive
    keeps_positives = two.control("fnr", 0.2, method=method).decide(new).positive
    assert np.array_equal(sets.included, np.column_stack([~keeps_negatives, keeps_positives]))
    assert np.array_equal(sets.included, found > [0.1, 0.2])
    ordered = several.control_ordered(0.2, order=[1, 0], method=method).decide(new)
    assert np.array_equal(ordered == 1, keeps_positives)


def test_the_controller_of_two_classes_is_the_binary_one():
    """The same split, scores and thresholds as those of `ErrorRateController`."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_new, y, _ = train_test_split(X, y, stratify=y, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    both = rk.estimators.MulticlassController(model, alpha={0: 0.1, 1: 0.05}, random_state=3).fit(
        X, y
    )
    one = rk.ErrorRateController(model, alpha=0.05, random_state=3).fit(X, y)
    assert np.array_equal(both.decide(X_new).included[:, 1], one.predict(X_new) == 1)
    pv = one.p_values(X_new)
    assert np.array_equal(both.p_values(X_new), np.column_stack([pv.p0, pv.p1]))
    first = rk.estimators.MulticlassController(model, order=[1, 0], random_state=3).fit(X, y)
    assert np.array_equal(first.predict(X_new), one.predict(X_new))
    assert first.predict_proba(X_new).shape == (X_new.shape[0], 2)
    assert not hasattr(first, "decide")


def test_scikit_learn_checks():
    """It is a scikit-learn classifier."""
    check_with_scikit_learn(
        rk.estimators.MulticlassController(
            LogisticRegression(), alpha=0.4, method=rk.Conformal(), random_state=0
        ),
        {
            "check_classifiers_train": "predict goes by p-values, not by the larger probability",
            "check_classifiers_one_label_sample_weights": "weights are for the training alone",
        },
    )


def within(failures, n, rate):
    """Say whether a count is compatible with a rate of at most this, but for chance 1e-7."""
    return binom.sf(failures - 1, n, rate) > 1e-7


def test_each_class_keeps_its_level_on_average():
    """Over calibration sets and new objects, each class misses its set in at most alpha."""
    alphas, misses, n_sets = np.array([0.02, 0.1, 0.3]), np.zeros(3), 4000
    for seed in range(n_sets):
        scores, labels = clouds(seed, 250, 1.0)
        cal = rk.multiclass.calibrate(scores, labels)
        test = cal.control(dict(enumerate(alphas)), method="conformal")
        new = np.random.default_rng([seed, 1]).normal(np.eye(3))
        misses += ~test.decide(new).included.diagonal()
    for count, alpha in zip(misses, alphas, strict=True):
        assert within(count, n_sets, alpha)
        assert binom.cdf(count, n_sets, 0.8 * alpha) > 1e-7  # and does not waste it


def test_each_class_keeps_its_level_but_for_delta():
    """The true rate, known here, is above alpha in at most delta of the calibration sets."""
    n_sets, above, delta = 1500, np.zeros(3), 0.1
    for seed in range(n_sets):
        cal = rk.multiclass.calibrate(*clouds(seed, 400))
        test = cal.control(0.1, method=rk.HighProbability(delta))
        true = norm.cdf(np.array(list(test.thresholds.values())) - 2.0)
        above += true > 0.1
    assert all(within(count, n_sets, delta) for count in above)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("n_sets", [300, 1200])
def test_ordered_classes_are_rarely_called_less_severe(n_sets):
    """The true share of a class that falls through is above alpha in at most delta of the sets.

    It is spent, too: had those caught by severe classes been left out of account, the share would
    hardly ever come near alpha.
    """
    delta, alphas = 0.1, (0.05, 0.2, 0.1)
    above, shares = np.zeros(3), np.zeros(3)
    for seed in range(n_sets):
        cal = rk.multiclass.calibrate(*clouds(seed, 800, 1.5, 4))
        test = cal.control_ordered(
            dict(zip([3, 1, 0], alphas, strict=True)),
            order=[3, 1, 0, 2],
            method=rk.HighProbability(delta),
        )
        limits = list(test.thresholds.values())
        for i, label in enumerate(test.order[:-1]):
            through = [
                norm.cdf(limit - 1.5 * (other == label))
                for limit, other in zip(limits[: i + 1], test.order, strict=False)
            ]
            above[i] += np.prod(through) > alphas[i]
            shares[i] += np.prod(through) / n_sets
    assert all(within(count, n_sets, delta) for count in above)
    assert (shares > 0.6 * np.array(alphas)).all()


def test_ordered_thresholds_by_hand():
    """Objects that a severe class caught have the score infinity for their own."""
    scores, labels = clouds(5, 900, 1.0)
    cal = rk.multiclass.calibrate(scores, labels)
    order, alphas = [2, 0, 1], {2: 0.1, 0: 0.2}
    test = cal.control_ordered(alphas, order=order, method="conformal")
    first = np.sort(scores[labels == 2, 2])
    limit = first[int(0.1 * (first.size + 1)) - 1]
    mild = scores[labels == 0]
    second = np.sort(np.where(mild[:, 2] >= limit, np.inf, mild[:, 0]))
    assert test.thresholds == {2: limit, 0: second[int(0.2 * (second.size + 1)) - 1]}
    new, truth = clouds(6, 300, 1.0)
    expected = np.where(new[:, 2] >= limit, 2, np.where(new[:, 0] >= test.thresholds[0], 0, 1))
    assert np.array_equal(test.decide(new), expected)
    found = test.evaluate(new, truth)
    rank = {label: i for i, label in enumerate(order)}
    for label in (2, 0):
        mine = truth == label
        less = sum(rank[e] > rank[label] for e in expected[mine].tolist())
        assert (found.classes[label].errors.errors, found.classes[label].errors.n) == (
            less,
            mine.sum(),
        )
    assert found.classes[1].verdict == "no promise"
    assert found.confusion.sum() == 300
    over = [cell.wrong.errors for cell in test.certificate.cells]
    assert over[0] == 0
    assert over[1] == (mild[:, 2] >= limit).sum()


def test_forced_labels_are_counted_without_the_object_itself():
    """The certificate's price equals a plain loop that leaves each object out of its class."""
    scores, labels = clouds(1, 150, 1.0)
    alphas = {0: 0.1, 1: 0.2, 2: 0.2}
    test = rk.multiclass.calibrate(scores, labels).control(alphas, method="conformal")
    table = np.zeros((3, 3), dtype=int)
    for i in range(labels.size):
        others = np.arange(labels.size) != i
        cal = rk.multiclass.calibrate(scores[others], labels[others])
        ratio = cal.p_values(scores[[i]])[0] / list(alphas.values())
        full = test.calibration.p_values(scores[[i]])[0] / list(alphas.values())
        full[labels[i]] = ratio[labels[i]]
        best = np.flatnonzero(full == full.max())
        table[labels[i], best[scores[i, best].argmax()]] += 1
    assert np.array_equal(test.forced_confusion, table)
    wrong = [cell.wrong.errors for cell in test.certificate.cells]
    assert wrong == (table.sum(axis=1) - table.diagonal()).tolist()


def test_label_sets_and_forced_labels_agree():
    """A set of one label is the forced label; labels of other sets are None."""
    test = rk.multiclass.calibrate(*clouds(2, 900)).control(
        {0: 0.01, 1: 0.1, 2: 0.3}, method="conformal"
    )
    sets = test.decide(clouds(3, 2000)[0])
    single = sets.sizes == 1
    assert 0 < single.sum() < 2000
    assert sets.labels[single].tolist() == sets.forced()[single].tolist()
    assert set(sets.labels[~single].tolist()) == {None}
    assert [len(s) for s in sets.sets] == sets.sizes.tolist()
    assert np.array_equal(sets.p_values > [0.01, 0.1, 0.3], sets.included)


def test_digits_of_ten_classes():
    """On real data each of ten classes is in line with its level, and the certificate prints."""
    X, y = load_digits(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=1)
    X, X_cal, y, y_cal = train_test_split(X, y, test_size=0.6, stratify=y, random_state=1)
    frozen = FrozenEstimator(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y))
    clf = rk.estimators.MulticlassController(frozen, alpha=0.1, method="conformal").fit(
        X_cal, y_cal
    )
    found = clf.test_.evaluate(clf.estimator_.predict_proba(X_new), y_new)
    assert len(found.classes) == 10
    assert all(one.verdict in ("kept", "in line") for one in found.classes.values())
    assert found.confusion.sum() == y_new.size
    text = str(clf.certificate_)
    assert (
        "each of 10 classes stays in its label set, but for at most 10% of\n  its objects" in text
    )
    assert clf.certificate_.to_dict()["classes"][3]["n"] == clf.test_.calibration.n(3)
    assert clf.score(X_new, y_new) > 0.9
    for shown in (clf.test_, found, clf.decide(X_new)):
        assert "<table" in shown._repr_html_()


def test_a_class_that_changed_is_called_exceeded():
    """Verdicts are those of the binary evaluation, with Holm over the classes."""
    test = rk.multiclass.calibrate(*clouds(0, 3000)).control(0.05)
    scores, labels = clouds(1, 3000)
    scores[labels == 1, 1] -= 1.0
    found = test.evaluate(scores, labels)
    assert [one.verdict == "exceeded" for one in found.classes.values()] == [False, True, False]
    assert "1: " in repr(found)
    raw = []
    for c, one in enumerate(found.classes.values()):
        n = test.calibration.n(c)
        k = int((test.calibration.own[c] <= test.thresholds[c]).sum())
        x, m = one.errors.errors, one.errors.n
        raw.append(max(binom.sf(x - 1, m, 0.05), betabinom.sf(x - 1, m, k, n + 1 - k)))
    order, adjusted = np.argsort(raw), np.empty(3)
    adjusted[order] = np.minimum(np.maximum.accumulate(np.sort(raw) * [3, 2, 1]), 1.0)
    p_values = [one.p_value for one in found.classes.values()]
    assert p_values == pytest.approx(adjusted, rel=1e-6)
    assert found.to_dict()["classes"][1]["verdict"] == "exceeded"


def test_columns_of_a_frame_are_found_by_name():
    """A frame whose columns are named as the classes may have them in any order."""
    scores, labels = clouds(0, 300)
    names = np.array(["a", "b", "c"])[labels]
    frame = pd.DataFrame(scores, columns=["a", "b", "c"])
    one = rk.multiclass.calibrate(frame, names)
    two = rk.multiclass.calibrate(frame[["c", "a", "b"]], names)
    assert np.array_equal(one.p_values(scores), two.p_values(frame[["b", "c", "a"]]))
    named = rk.multiclass.calibrate(scores[:, ::-1], names, classes=["c", "b", "a"])
    assert np.array_equal(named.p_values(scores[:, ::-1]), one.p_values(scores)[:, ::-1])


@pytest.mark.parametrize("make", ["control", "control_ordered"])
def test_tests_survive_pickling(make):
    """A test comes back with the same thresholds."""
    cal = rk.multiclass.calibrate(*clouds(0, 600))
    test = cal.control(0.1) if make == "control" else cal.control_ordered(0.1, order=[2, 1, 0])
    again = pickle.loads(pickle.dumps(test))  # noqa: S301 - our own bytes
    assert again.thresholds == test.thresholds
    assert again.calibration.data_hash == cal.data_hash


@each(
    ("act", "words"),
    [
        (lambda _: rk.multiclass.calibrate([[0.1, 0.2]], [0]), "one class only"),
        (lambda _: rk.multiclass.calibrate(np.eye(3), [0, 1, 1]), "2 classes"),
        (lambda _: rk.multiclass.calibrate([0.1, 0.2, 0.3], [0, 1, 2]), "a single column"),
        (lambda _: rk.multiclass.calibrate([[1.0], [1.0, 2.0]], [0, 1]), "different lengths"),
        (lambda _: rk.multiclass.calibrate(np.eye(3), [0, 1]), "2 values for 3"),
        (lambda _: rk.multiclass.calibrate(np.eye(3), [0, 1, 1], classes=[0, 1, 2]), "class 2"),
        (lambda _: rk.multiclass.calibrate(np.eye(3), [0, 1, 2], classes=[0, 1, 1]), "twice"),
        (lambda c: c.p_values([[0.1, np.nan, 0.3]]), "NaN"),
        (lambda c: c.p_values([[0.1, 0.2, 0.3]], method=rk.methods.Smoothed()), "ranks alone"),
        (lambda c: c.p_values([[0.1, 0.2]]), "one column for each"),
        (lambda c: c.control(1.5), "alpha"),
        (lambda c: c.control({0: 0.1, 1: 0.1}), "no level for 2"),
        (lambda c: c.control({0: 0.1, 1: 0.1, 2: 0.1, 3: 0.1}), "has 3"),
        (lambda c: c.control(0.001), "needs at least 2,995"),
        (lambda c: c.control_ordered(0.1, order=[0, 1]), "every class exactly once"),
        (lambda c: c.control_ordered({0: 0.1, 1: 0.1, 2: 0.1}, order=[0, 1, 2]), "last class"),
        (lambda c: c.control(0.1).evaluate([[0.1, 0.2, 0.3]], [7]), "7, which is no class"),
        (lambda c: c.n("a"), "one of 0, 1, 2"),
        (
            lambda _: rk.estimators.MulticlassController(StandardScaler()).fit(
                np.eye(3), [0, 1, 2]
            ),
            "scores",
        ),
        (
            lambda _: rk.estimators.MulticlassController(
                FrozenEstimator(LogisticRegression().fit(np.eye(3), [0, 1, 2]))
            ).fit(np.eye(3), [0, 1, 1]),
            "knows 0, 1, 2",
        ),
    ],
)
def test_bad_input_is_refused_with_what_is_needed(act, words):
    """Errors say the value, the need and the remedy."""
    cal = rk.multiclass.calibrate(*clouds(0, 600))
    with pytest.raises(rk.InputError, match=words):
        act(cal)
