from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.exceptions import CopiedRowsWarning, ReversedScoreWarning


def example(n=50, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    return rng.normal(2 * labels), labels


def test_scores_are_sorted_by_class():
    """Each class holds its own scores in ascending order, and is counted by the user's label."""
    scores, labels = example()
    cal = rk.calibrate(scores, labels)
    for label in (0, 1):
        np.testing.assert_array_equal(cal.cells[label][0], np.sort(scores[labels == label]))
        assert cal.n(label) == np.sum(labels == label)
    words = rk.calibrate(scores, np.where(labels == 1, "bad", "good"), positive_label="bad")
    assert words.n("bad") == cal.n(1)
    with pytest.raises(rk.InputError, match="'good' and 'bad'"):
        words.n("worse")


def test_a_calibration_cannot_be_changed():
    """Neither its arrays nor its attributes can be written, and it shares no memory with input."""
    scores, labels = example()
    cal = rk.calibrate(scores, labels)
    before = cal.data_hash
    for array in (cal.cells[0][0], cal.cells[1][0], cal.classes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(AttributeError):
        cal.groups = None
    scores[:] = 0.0
    assert rk.calibrate(*example()).data_hash == before
    assert cal == rk.calibrate(*example())


def test_equal_data_have_one_hash_and_others_another():
    """The hash ignores row order and signs of zero, and sees every other change."""
    scores, labels = example()
    cal = rk.calibrate(scores, labels)
    order = np.random.default_rng(1).permutation(labels.size)
    assert rk.calibrate(scores[order], labels[order]).data_hash == cal.data_hash
    assert len({cal, rk.calibrate(scores[order], labels[order])}) == 1
    changed = scores.copy()
    changed[7] = np.nextafter(changed[7], np.inf)
    assert rk.calibrate(changed, labels) != cal
    assert rk.calibrate(scores.astype(np.float32), labels) != cal
    assert rk.calibrate(scores, labels == 1) != cal
    assert rk.calibrate(scores, labels, groups=np.zeros(50, int)) != cal
    zero, minus = np.array([0.0, 1.0]), np.array([-0.0, 1.0])
    assert rk.calibrate(zero, [0, 1]) == rk.calibrate(minus, [0, 1])
    assert cal != "something else"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_type_is_kept(dtype):
    """float32 stays float32, float64 stays float64, with and without groups."""
    scores, labels = example()
    for groups in (None, labels):
        cal = rk.calibrate(scores.astype(dtype), labels, groups=groups)
        assert cal.dtype == dtype
        assert all(cell.dtype == dtype for cells in cal.cells for cell in cells)


def test_merging_many_shards_is_calibrating_all():
    """Shards merged in any order give the calibration of all rows, groups new to one included."""
    rng = np.random.default_rng(0)
    labels = np.tile([0, 1], 300)
    scores = rng.normal(labels).round(2)
    groups = np.repeat(["north", "south", "a longer name"], 200)
    whole = rk.calibrate(scores, labels, groups=groups)
    shards = [
        rk.calibrate(scores[i : i + 100], labels[i : i + 100], groups=groups[i : i + 100])
        for i in range(0, 600, 100)
    ]
    merged = shards[3]
    for i in (1, 5, 0, 2, 4):
        merged = merged.merge(shards[i])
    assert merged == whole
    assert merged.n(1, "south") == 100


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": [False, True]}, "labels"),
        ({"higher_is_positive": False}, "higher_is_positive"),
        ({"groups": ["a", "b"]}, "groups"),
    ],
)
def test_unlike_calibrations_do_not_merge(changes, words):
    """Other labels, another direction or groups on one side only are refused."""
    one = rk.calibrate([0.1, 0.9], [0, 1])
    arguments = {"labels": [0, 1], **changes}
    other = rk.calibrate([0.1, 0.9], **arguments)
    with pytest.raises(rk.InputError, match=words):
        one.merge(other)
    with pytest.raises(rk.InputError, match="must be a Calibration"):
        one.merge([0.1, 0.9])
    grouped = rk.calibrate([0.1, 0.9], [0, 1], groups=["a", "b"])
    with pytest.raises(rk.InputError, match="kind of groups"):
        grouped.merge(rk.calibrate([0.1, 0.9], [0, 1], groups=[1, 2]))


def test_pooling_forgets_the_groups():
    """The pooled calibration is the one made without groups."""
    scores, labels = example()
    groups = np.arange(50) % 3
    assert rk.calibrate(scores, labels, groups=groups).pooled() == rk.calibrate(scores, labels)
    plain = rk.calibrate(scores, labels)
    assert plain.pooled() is plain


@pytest.mark.thorough
def test_many_groups_are_split_right():
    """More groups than a small integer holds are kept apart."""
    n = 80_000
    groups = np.arange(n) // 2
    scores, labels = np.arange(n, dtype=float), np.tile([0, 1], n // 2)
    cal = rk.calibrate(scores, labels, groups=groups)
    assert cal.cells[1][12_345].tolist() == [24_691.0]
    assert cal.n(0, 39_999) == 1


def test_reversed_scores_warn_and_say_what_to_do():
    """Scores that point the wrong way beyond doubt give a warning with the remedy."""
    scores, labels = example(200)
    with pytest.warns(ReversedScoreWarning, match="higher_is_positive=False"):
        rk.calibrate(-scores, labels)
    with pytest.warns(ReversedScoreWarning, match="higher_is_positive=True"):
        rk.calibrate(scores, labels, higher_is_positive=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rk.calibrate(-scores, labels, higher_is_positive=False)
        rk.calibrate(np.random.default_rng(0).normal(size=200), labels)  # useless, not reversed
        rk.calibrate([0.9, 0.1], [0, 1])  # reversed, but two objects prove nothing


def test_the_warning_points_at_the_users_line():
    """The reversed-score warning names the caller's file, not ours."""
    scores, labels = example(200)
    with pytest.warns(ReversedScoreWarning) as caught:
        rk.calibrate(-scores, labels)
    assert caught[0].filename == __file__


def test_copies_and_pickles_are_equal():
    """A calibration survives copy, deepcopy and pickle."""
    cal = rk.calibrate(*example(), groups=np.arange(50) % 2)
    for other in (copy.copy(cal), copy.deepcopy(cal), pickle.loads(pickle.dumps(cal))):  # noqa: S301
        assert other == cal
        assert not other.cells[0][0].flags.writeable
        assert other.p_values([0.5], groups=[1]).p1 == cal.p_values([0.5], groups=[1]).p1


def test_the_repr_names_sizes_labels_and_groups():
    """A session shows how many scores of which label there are."""
    cal = rk.calibrate([0.1, 0.9, 0.8], ["no", "yes", "yes"], groups=[1, 2, 2])
    assert repr(cal) == (
        "Calibration of 3 float64 scores: 1 negative ('no'), 2 positive ('yes'), in groups 1, 2"
    )
    low = rk.calibrate([0.9, 0.1], [0, 1], higher_is_positive=False)
    assert repr(low).endswith("low scores are positive")
    many = rk.calibrate(np.arange(40.0), np.tile([0, 1], 20), groups=np.arange(40) % 20)
    assert "(20 in all)" in repr(many)


@pytest.mark.parametrize("n_groups", [3, 8, 9, 200])
def test_objects_meet_their_own_group_however_many_there_are(n_groups):
    """With many groups the objects are found by sorting: no number changes."""
    rng = np.random.default_rng(n_groups)
    groups, labels = np.arange(40 * n_groups) % n_groups, rng.integers(0, 2, 40 * n_groups)
    calibration = rk.calibrate(rng.normal(labels), labels, groups=groups)
    new, theirs = rng.normal(size=500), rng.integers(0, n_groups, 500)
    found = calibration.p_values(new, groups=theirs)
    for i in rng.integers(0, 500, 40):
        for label, p in ((0, found.p0), (1, found.p1)):
            null = calibration.cells[label][theirs[i]]
            extreme = null <= new[i] if label else null >= new[i]
            assert p[i] == (extreme.sum() + 1) / (null.size + 1)


def two_normals(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    return rng.normal(labels), labels


def test_copies_of_rows_are_remarked_on():
    """Appended rows, or all of them twice, would make promises look possible that are not."""
    scores, labels = two_normals()
    for copies in (300, 2000):
        appended = np.r_[scores, scores[:copies]], np.r_[labels, labels[:copies]]
        with pytest.warns(CopiedRowsWarning, match="exact repeats") as caught:
            cal = rk.calibrate(*appended)
        assert caught[0].filename == __file__
        (remark,) = cal.remarks
        assert f"{copies:,} of {2000 + copies:,} scores are exact repeats" in remark
        test = cal.control("fnr", 0.05)
        assert remark in test.certificate.remarks
        assert "exact repeats" in str(test.certificate).replace("\n  ", " ")


def test_scores_that_repeat_by_nature_get_no_remark():
    """Few digits, or a model of discrete features, repeat scores as a matter of course."""
    scores, labels = two_normals()
    assert rk.calibrate(scores, labels).remarks == ()
    assert rk.calibrate(scores.round(2), labels).remarks == ()
    short = np.arange(1000) / 100
    twice = np.r_[short, short[:100]], np.r_[np.arange(1000), np.arange(100)] % 2
    assert not any("repeats" in remark for remark in rk.calibrate(*twice).remarks)
    features = np.random.default_rng(1).poisson(2.0, (2000, 3))
    discrete = features @ [0.1, 0.317, 0.0413] + labels
    assert rk.calibrate(discrete / 3, labels).remarks == ()


def test_a_score_without_information_is_remarked_on():
    """An id column decides nothing; a weak score, or too few objects to tell, get no remark."""
    _, labels = two_normals()
    (remark,) = rk.calibrate(np.arange(2000.0), labels).remarks
    assert "does not separate the classes" in remark
    weak = np.random.default_rng(2).normal(0.5 * labels)
    assert rk.calibrate(weak, labels).remarks == ()
    assert rk.calibrate(np.arange(20.0), np.arange(20) % 2).remarks == ()
