"""Calibrations that know one class, or only scores."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from cases import each
from numpy.testing import assert_array_equal

import ratekeeper as rk
from ratekeeper.diagnostics import rate_against_alpha
from ratekeeper.sql import decision_sql

RNG = np.random.default_rng(0)
NEGATIVES, POSITIVES = RNG.normal(size=300), RNG.normal(2.0, size=200)
SCORES = np.r_[NEGATIVES, POSITIVES]
LABELS = np.repeat(["ok", "fraud"], [300, 200])
BOTH = rk.calibrate(SCORES, LABELS, positive_label="fraud")


def negatives(scores=NEGATIVES, **more):
    return rk.calibrate(scores, np.full(len(scores), "ok"), positive_label="fraud", **more)


def positives(scores=POSITIVES, **more):
    return rk.calibrate(scores, np.full(len(scores), "fraud"), positive_label="fraud", **more)


@pytest.mark.parametrize("method", [rk.HighProbability(), rk.Conformal(), rk.methods.Smoothed(0)])
@pytest.mark.parametrize("higher", [True, False])
def test_the_known_error_is_controlled_as_with_both_classes(method, higher):
    """Thresholds, p-values and decisions about a class do not depend on the other class."""
    both = rk.calibrate(
        SCORES if higher else -SCORES, LABELS, positive_label="fraud", higher_is_positive=higher
    )
    sign, new = 1 if higher else -1, np.linspace(-4, 6, 50) * (1 if higher else -1)
    for control, one, known, unknown in (
        ("fpr", negatives(sign * NEGATIVES, higher_is_positive=higher), "p0", "p1"),
        ("fnr", positives(sign * POSITIVES, higher_is_positive=higher), "p1", "p0"),
    ):
        test, whole = (c.control(control, 0.05, method=method) for c in (one, both))
        assert test.thresholds == whole.thresholds
        found, expected = test.decide(new), whole.decide(new)
        assert_array_equal(found.positive, expected.positive)
        for p in (found.p_values, one.p_values(new, method=method)):
            assert_array_equal(getattr(p, known), getattr(expected.p_values, known))
            assert np.isnan(getattr(p, unknown)).all()
            assert f"{unknown} (" in repr(p)
            assert "unknown" in repr(p).splitlines()[1 + int(unknown[1])]
            assert "unknown" in p._repr_html_()


def test_what_is_unknown_is_said_as_unknown():
    """Price, data, area under the curve and cards say what no object shows."""
    one = rk.calibrate(NEGATIVES, one_class="negative")
    assert one.known == "negative"
    assert repr(one) == "Calibration of 300 float64 scores: 300 negative (0), no positive (1)"
    assert np.isnan(one.auc)
    assert one.remarks == ()
    test = one.control("fpr", 0.05)
    text = str(test.certificate).replace("\n  ", " ")
    assert "Price: FNR unknown: no calibration object is positive." in text
    assert "Calibration: 300 negative and no positive scores (float64)" in text
    assert "nan" not in text.lower()
    assert test.other_error.n == 0
    assert test.certificate.to_dict()["other_error"]["n"] == 0
    for shown in (one, test, test.certificate, test.decide([0.1, 9.0])):
        assert "nan" not in shown._repr_html_().lower()
    assert "300 negative (0) and no positive (1)" in decision_sql(test, table="t", score="s")


def test_what_needs_the_other_class_is_refused():
    """Control of an error on a class without objects says that there are none at all."""
    one = negatives()
    with pytest.raises(rk.TooFewScoresError, match=r"no positives \('fraud'\) at all") as error:
        one.control("fnr", 0.05)
    assert (error.value.available, error.value.needed) == (0, 59)
    with pytest.raises(rk.TooFewScoresError, match="no positives"):
        one.control_both(0.05, 0.05)
    with pytest.raises(rk.TooFewScoresError, match=r"no negatives \('not fraud'\) at all"):
        positives().control_both(0.05, 0.05)
    grouped = negatives(groups=np.arange(300) % 2)
    with pytest.raises(rk.TooFewScoresError, match="no positives"):
        grouped.control("fnr", 0.05, thin_groups="pool")
    found = rate_against_alpha(one, SCORES, LABELS, [0.05], control="fnr")
    assert found.compared.tolist() == ["impossible"]


@each(
    ("labels", "more", "classes", "known"),
    [
        ([0, 0], {}, [0, 1], "negative"),
        ([1, 1], {}, [0, 1], "positive"),
        ([-1, -1], {}, [-1, 1], "negative"),
        ([False, False], {}, [False, True], "negative"),
        ([True, True], {}, [False, True], "positive"),
        ([0.0, 0.0], {}, [0.0, 1.0], "negative"),
        (["no", "no"], {}, ["no", "yes"], "negative"),
        (["Yes", "Yes"], {}, ["No", "Yes"], "positive"),
        ([0, 0], {"positive_label": 0}, [1, 0], "positive"),
        ([1, 1], {"positive_label": 0}, [1, 0], "negative"),
        ([5, 5], {"positive_label": 7}, [5, 7], "negative"),
        (["ok", "ok"], {"positive_label": "fraud"}, ["ok", "fraud"], "negative"),
        (["fraud", "fraud"], {"positive_label": "fraud"}, ["not fraud", "fraud"], "positive"),
        (["ok", "ok"], {"one_class": "negative"}, ["ok", "not ok"], "negative"),
        (["not ok"] * 2, {"one_class": "positive"}, ["ok", "not ok"], "positive"),
        (["ok"] * 2, {"one_class": "negative", "positive_label": "x"}, ["ok", "x"], "negative"),
        (None, {"one_class": "negative"}, [0, 1], "negative"),
        (None, {"one_class": "positive"}, [0, 1], "positive"),
        (None, {}, [0, 1], "none"),
    ],
)
def test_both_classes_have_names(labels, more, classes, known):
    """The other class is called as was said, as the other of a plain pair, or "not ..."."""
    one = rk.calibrate([0.1, 0.2], labels, **more)
    assert (str(one.classes.tolist()), one.known) == (str(classes), known)


@each(
    ("labels", "more", "words"),
    [
        (["ok", "ok"], {}, "every label is 'ok': is that the positive or the negative class"),
        ([7, 7], {}, "every label is 7: is that"),
        ([7, 7], {"one_class": "positive"}, "what is the other label"),
        ([7, 7], {"one_class": "negative"}, "Say positive_label"),
        ([0, 0], {"one_class": "positive"}, "every label is 0, which is negative"),
        (["ok"] * 2, {"one_class": "positive", "positive_label": "x"}, "'ok', which is negative"),
        (["ok", "ok"], {"positive_label": 1}, "positive_label=1 is not a text"),
        ([0, 0], {"positive_label": "1"}, "positive_label='1' is not a number"),
        ([0, 0], {"positive_label": float("nan")}, "is not a number"),
        (["ok", "ok"], {"positive_label": ["ok"]}, "is not a text"),
        (["ok", "ok"], {"positive_label": "x" * 300}, "up to 256"),
        (["x" * 255] * 2, {"one_class": "negative"}, "what is the other label"),
        ([0, 1], {"one_class": "negative"}, "labels has both, 0 and 1"),
        (None, {"one_class": "neither"}, 'must be "negative" or "positive"'),
        (None, {"one_class": 0}, 'must be "negative" or "positive"'),
        (None, {"positive_label": 1}, "no labels"),
        ([0, 0, 0], {}, "3 values for 2 scores"),
    ],
)
def test_what_is_ambiguous_is_refused(labels, more, words):
    """A class that cannot be told, or is told in two ways, is refused with the remedy."""
    with pytest.raises(rk.InputError, match=words):
        rk.calibrate([0.1, 0.2], labels, **more)


def test_no_scores_are_no_calibration():
    """An empty column is refused, with one class and without labels."""
    for one_class in ("negative", None):
        with pytest.raises(rk.InputError, match="scores is empty"):
            rk.calibrate([], one_class=one_class)


@pytest.mark.parametrize("groups", [None, np.arange(500) % 3, np.where(LABELS == "ok", "a", "b")])
def test_shards_of_one_class_merge_to_the_whole(groups, tmp_path):
    """Merging is exactly what calibrating all together gives, whatever the shards know."""
    about = {"positive_label": "fraud", "groups": groups}
    whole = rk.calibrate(SCORES, LABELS, **about)
    chosen = rk.calibrate(SCORES, LABELS, sampling="by class", **about)
    parts = [slice(0, 100), slice(100, 300), slice(300, 500)]
    shards = [
        rk.calibrate(
            SCORES[part],
            LABELS[part],
            positive_label="fraud",
            groups=None if groups is None else groups[part],
        )
        for part in parts
    ]
    assert [one.known for one in shards] == ["negative", "negative", "positive"]
    for one in shards:
        rk.save(one, tmp_path / "shard.rk")
        assert rk.load(tmp_path / "shard.rk") == one
    for a, b, c in ((0, 1, 2), (2, 1, 0), (0, 2, 1)):
        merged = shards[a].merge(shards[b]).merge(shards[c])
        # How many of each class there are, somebody has chosen.
        assert merged.data_hash == chosen.data_hash
        assert merged.known == "both"
        tests = [c.control("fpr", 0.1, thin_groups="pool") for c in (merged, whole)]
        assert tests[0].thresholds == tests[1].thresholds
    halves = shards[0].merge(shards[1])
    assert halves.known == "negative"
    mixed = rk.calibrate(
        SCORES[100:],
        LABELS[100:],
        positive_label="fraud",
        groups=None if groups is None else groups[100:],
    )
    assert shards[0].merge(mixed) == mixed.merge(shards[0]) == whole


def test_names_that_were_made_up_give_way():
    """A name that nobody gave is replaced by the real one; a name that was given is not."""
    ok = rk.calibrate(NEGATIVES, np.full(300, "ok"), one_class="negative")
    assert ok.merge(positives()) == positives().merge(ok) == replace(BOTH, sampling="by class")
    assert ok.merge(negatives(NEGATIVES + 1)).classes.tolist() == ["ok", "fraud"]
    assert negatives(NEGATIVES + 1).merge(ok).classes.tolist() == ["ok", "fraud"]
    minus = rk.calibrate([0.1, 0.2], [-1, -1])
    assert minus.merge(rk.calibrate([0.3], [1])).classes.tolist() == [-1, 1]
    good = rk.calibrate(NEGATIVES, np.full(300, "good"), positive_label="fraud")
    for one, other in ((good, negatives()), (good, ok)):
        with pytest.raises(rk.InputError, match="differ in labels"):
            one.merge(other)
    named = rk.calibrate(NEGATIVES, np.full(300, "ok"), positive_label="chargeback")
    with pytest.raises(rk.InputError, match=r"differ in labels: .*chargeback.*not fraud"):
        named.merge(positives())
    plain = rk.calibrate(NEGATIVES, one_class="negative")
    with pytest.raises(rk.InputError, match="differ in labels"):
        plain.merge(positives())
    assert plain.merge(rk.calibrate(POSITIVES, one_class="positive")).classes.tolist() == [0, 1]
    with pytest.raises(rk.InputError, match="same objects"):
        ok.merge(rk.calibrate(NEGATIVES, np.full(300, "ok"), one_class="negative"))


def test_made_up_names_stand_in_pairs():
    """The stand-in of a stand-in is the label itself, but for those of several pairs."""

    def stand_in(label, side):
        classes = rk.calibrate([0.1, 0.2], [label] * 2, one_class=side).classes.tolist()
        assert classes.pop(side == "positive") == label
        return classes[0]

    for label in (0, "0", "no", "FALSE", "neg", "ok", "not ok", "n"):
        assert stand_in(stand_in(label, "negative"), "positive") == label
    for label in (1, "Yes", "t", "Positive", "ok", "not ok"):
        assert stand_in(stand_in(label, "positive"), "negative") == label
    assert (stand_in(-1, "negative"), stand_in("-1", "negative")) == (1, "1")
    for side in ("negative", "positive"):
        with pytest.raises(rk.InputError, match=r"what is the other label|Say positive_label"):
            stand_in(7, side)


def test_each_group_may_have_one_class():
    """A group with the other class only has the p-value 1, as ever; the promises hold by group."""
    groups = np.where(LABELS == "ok", "a", "b")
    cal = rk.calibrate(SCORES, LABELS, positive_label="fraud", groups=groups)
    p = cal.p_values([5.0, 5.0], groups=["a", "b"])
    assert p.p1[0] == 1
    assert p.p0[1] == 1
    grouped = negatives(groups=np.arange(300) % 2)
    test = grouped.control("fpr", 0.05)
    assert len(test.thresholds) == 2
    assert np.isnan(test.p_values([0.1, 0.2], [0, 1]).p1).all()
    text = str(test.certificate).replace("\n  ", " ")
    assert text.count("FNR unknown: no calibration object is positive.") == 3


def test_evaluation_counts_both_errors():
    """Labelled new objects of both classes are counted, and only the known error is judged."""
    rng = np.random.default_rng(1)
    new, truth = np.r_[rng.normal(size=400), rng.normal(9, 1, size=100)], [0] * 400 + [1] * 100
    for test in (
        rk.calibrate(NEGATIVES, one_class="negative").control("fpr", 0.05),
        rk.calibrate(-NEGATIVES, [0] * 300, higher_is_positive=False).control("fpr", 0.05),
    ):
        sign = 1 if test.calibration.higher_is_positive else -1
        found = test.evaluate(sign * new, truth)
        assert isinstance(found, rk.Evaluation)
        assert (found.verdict, found.other.n, found.other.errors) == ("kept", 100, 0)
    with pytest.raises(rk.InputError, match="calibration objects"):
        test.evaluate(-NEGATIVES, [0] * 300)


def test_scores_of_the_unknown_class_are_no_sign_of_another_scale():
    """Anomalies lie beyond all normal scores; scores beyond the other end are a warning."""
    test = rk.calibrate(NEGATIVES, one_class="negative").control("fpr", 0.05)
    assert test.decide(np.full(1000, 50.0)).positive.all()
    with pytest.warns(rk.exceptions.ScoreRangeWarning):
        test.decide(np.full(1000, -50.0))
    odd, truth = np.r_[RNG.normal(size=400), np.full(400, -50.0)], np.repeat([0, 1], 400)
    assert test.evaluate(odd, truth).promised == 0.05  # the other class may be anywhere
    with pytest.warns(rk.exceptions.ScoreRangeWarning):
        assert test.evaluate(odd, 1 - truth).verdict == "no promise"


def test_scores_without_labels_answer_no_question_about_classes(tmp_path):
    """They are stored, merged and pooled; all else says that labels are missing."""
    one, two = rk.calibrate(NEGATIVES), rk.calibrate(POSITIVES)
    whole = rk.calibrate(SCORES)
    assert repr(one) == "Calibration of 300 float64 scores without labels"
    assert "unknown" in one._repr_html_()
    assert one.merge(two) == whole
    assert whole.known == one.merge(two).known == "none"
    assert one != rk.calibrate(NEGATIVES, one_class="negative")
    for cal, scores in ((whole, SCORES), (BOTH, SCORES), (negatives(), NEGATIVES)):
        kept = np.concatenate([cell for cells in cal.cells for cell in cells])
        assert_array_equal(np.sort(kept), np.sort(scores))
    for kept in (one, rk.calibrate(SCORES, groups=np.arange(500) % 7)):
        rk.save(kept, tmp_path / "scores.rk")
        again = rk.load(tmp_path / "scores.rk")
        assert again == kept == pickle.loads(pickle.dumps(kept))  # noqa: S301 - our own
        assert again.known == "none"
        assert again._repr_html_() == kept._repr_html_()
    for question in (
        lambda: one.n(0),
        lambda: one.p_values([0.1]),
        lambda: one.control("fpr", 0.05),
        lambda: one.control_both(0.05, 0.05),
        lambda: rate_against_alpha(one, SCORES, np.repeat([0, 1], 250), [0.1], control="fpr"),
    ):
        with pytest.raises(rk.InputError, match="no labels"):
            question()
    with pytest.raises(rk.InputError, match="whether they have labels"):
        one.merge(rk.calibrate(POSITIVES, one_class="positive"))


def test_tests_of_one_class_are_stored_and_pickled(tmp_path):
    """What is loaded decides alike, and has the same certificate."""
    for test in (negatives().control("fpr", 0.05), positives().control("fnr", 0.1)):
        rk.save(test, tmp_path / "test.rk")
        for again in (rk.load(tmp_path / "test.rk"), pickle.loads(pickle.dumps(test))):  # noqa: S301
            assert str(again.certificate) == str(test.certificate)
            assert again.thresholds == test.thresholds


def test_an_isolation_forest_keeps_its_false_alarms():
    """Trained and calibrated on benign tumours alone, it keeps its FPR and finds malignant ones."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import IsolationForest

    data = load_breast_cancer()
    benign, malignant = data.data[data.target == 1], data.data[data.target == 0]
    order = np.random.default_rng(0).permutation(len(benign))
    train, held_out, new = np.split(benign[order], [140, 250])
    forest = IsolationForest(random_state=0).fit(train)
    # Low scores are anomalous: as they are, or turned around.
    low = rk.calibrate(
        forest.score_samples(held_out), one_class="negative", higher_is_positive=False
    ).control("fpr", 0.05)
    high = rk.calibrate(-forest.score_samples(held_out), one_class="negative").control("fpr", 0.05)
    X, truth = np.r_[new, malignant], np.repeat([0, 1], [len(new), len(malignant)])
    scores = forest.score_samples(X)
    assert_array_equal(low.decide(scores).positive, high.decide(-scores).positive)
    found = low.evaluate(scores, truth)
    assert found.verdict in ("in line", "kept")
    assert (found.target.n, found.other.n) == (107, 212)
    assert found.other.rate < 0.5  # of malignant ones, none of which it has ever seen
    assert low.certificate.other_error.n == 0
