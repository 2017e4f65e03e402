"""Calibration objects among others: evaluated with new ones, merged, or added once more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper._numerics._repeats import multiplicities
from ratekeeper.calibration._overlaps import NewObjects, overlap
from ratekeeper.calibration._windows import append, refuse_shared, shared
from ratekeeper.datasets import load_employment
from ratekeeper.exceptions import CopiedRowsWarning
from ratekeeper.files import evaluate_file


def draw(n, seed, gap=3.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    return rng.normal(gap * labels), labels


def dated(n, seed, first=0):
    """Return a calibration of objects seen one after the other, and its columns."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    columns = {"scores": rng.normal(2 * labels), "labels": labels, "times": first + np.arange(n)}
    return rk.calibrate(**columns), columns


def mixed(old, new, n, seed=9):
    """Return new rows and n of the old ones, in random order."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(old[0].size, n, replace=False)
    both = [np.r_[fresh, known[chosen]] for known, fresh in zip(old, new, strict=True)]
    order = rng.permutation(both[0].size)
    return both[0][order], both[1][order]


def written(path, scores, labels):
    rows = [
        f"{score!r},{label}" for score, label in zip(scores.tolist(), labels.tolist(), strict=True)
    ]
    path.write_text("\n".join(["risk,ill", *rows]) + "\n")
    return path


@pytest.mark.parametrize(("size", "fresh", "known"), [(2000, 2000, 2000), (1000, 4950, 50)])
def test_calibration_rows_among_new_ones_are_refused(tmp_path, size, fresh, known):
    """Half of the rows passed as "kept"; so did one in a hundred."""
    old, new = draw(size, 0), draw(fresh, 1)
    test = rk.calibrate(*old).control("fnr", 0.05)
    both = mixed(old, new, known)
    words = f"{known:,} of {fresh + known:,} scores are those of calibration objects"
    with pytest.raises(rk.InputError, match=words) as error:
        test.evaluate(*both)
    assert f"{known:,} are of one evaluated and one calibration object" in str(error.value)
    assert "exclude_calibration=True" in str(error.value)
    path = written(tmp_path / "new.csv", *both)
    with pytest.raises(rk.InputError, match=words):
        evaluate_file(test, path, score="risk", label="ill")
    expected = test.evaluate(*new).tally
    assert test.evaluate(*both, exclude_calibration=True).tally == expected
    found = evaluate_file(test, path, score="risk", label="ill", exclude_calibration=True)
    assert found.overall.tally == expected
    assert found.skipped == {"a calibration object": known}
    assert found.rows == fresh + known


def test_a_few_rows_that_all_calibrated_are_refused():
    """Of a small file the calibration's own ties explain even less."""
    old = draw(1000, 0)
    with pytest.raises(rk.InputError, match="12 of 12 scores"):
        rk.calibrate(*old).control("fnr", 0.1).evaluate(old[0][:12], old[1][:12])


def test_rows_in_single_precision_are_recognised():
    """Scores that were stored as float32 since."""
    old, new = draw(1000, 0), draw(1000, 1)
    both = mixed(old, new, 200)
    test = rk.calibrate(*old).control("fnr", 0.1, tolerance=1e-5)
    single = both[0].astype(np.float32)
    with pytest.raises(rk.InputError, match="200 of 1,200 scores"):
        test.evaluate(single, both[1])


@pytest.mark.parametrize(
    "coarse",
    [
        lambda s: s.round(3),
        lambda s: s.round(2),
        lambda s: s.round(1),
        lambda s: np.clip(s, 0.5, 1.5),
        lambda s: s > 1,
        np.zeros_like,
    ],
)
def test_fresh_rows_of_coarse_scores_are_not_refused(coarse):
    """Rounded, saturated, binary and constant scores match by chance; nor can they be left out."""
    for n, m in ((2000, 2000), (300, 5000), (20_000, 200)):
        old, new = draw(n, 0), draw(m, 1)
        cal = rk.calibrate(coarse(old[0]).astype(float), old[1])
        test = cal.control("fnr", 0.3)
        assert test.evaluate(coarse(new[0]).astype(float), new[1]).target.n
        with pytest.raises(rk.InputError, match="not practically unique"):
            test.evaluate(coarse(new[0]).astype(float), new[1], exclude_calibration=True)


def test_fresh_people_with_equal_scores_are_not_refused():
    """The census of later years has a third of its scores in common; copies are still seen."""
    people = load_employment()
    old, *later = (people.in_year(year) for year in (2015, 2016, 2018))
    test = rk.calibrate(old.score, old.employed).control("fnr", 0.05)
    for new in later:
        assert test.evaluate(new.score, new.employed).target.n
        assert test.evaluate(new.score[:500], new.employed[:500]).target.n
        known = np.asarray(old.score), np.asarray(old.employed)
        rows = np.random.default_rng(1).choice(60_000, 2000, replace=False)
        fresh = np.asarray(new.score)[rows], np.asarray(new.employed)[rows]
        with pytest.raises(rk.InputError, match="more than chance explains"):
            test.evaluate(*mixed(known, fresh, 2000))


def test_forests_and_neighbours_are_not_refused():
    """Models of few values, on new rows of the same population and of one that has moved."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(6000, 2)), rng.integers(0, 4, (6000, 3))]
    X[4000:, 2:] = rng.integers(0, 2, (2000, 3))  # the population moved
    y = (X.sum(axis=1) + rng.normal(size=6000) > 4).astype(int)
    for model in (
        RandomForestClassifier(50, max_depth=8, random_state=0),
        HistGradientBoostingClassifier(max_iter=20, random_state=0),
        KNeighborsClassifier(15),
    ):
        scores = model.fit(X[:1000], y[:1000]).predict_proba(X)[:, 1]
        test = rk.calibrate(scores[1000:3000], y[1000:3000]).control("fnr", 0.2)
        for new in (slice(3000, 4000), slice(4000, 6000)):
            assert test.evaluate(scores[new], y[new]).target.n


def test_rows_of_clusters_are_left_out_by_id(tmp_path):
    """Whatever their scores; without that they are refused by name."""
    scores, labels = draw(2000, 0)
    ids = np.arange(2000) // 4
    old = slice(0, 1000)
    cal = rk.calibrate(scores[old].round(1), labels[old], clusters=ids[old])
    test = cal.control("fnr", 0.2)
    with pytest.raises(rk.InputError, match="rows of the cluster"):
        test.evaluate(scores[500:], labels[500:], clusters=ids[500:])
    found = test.evaluate(
        scores[500:].round(1), labels[500:], clusters=ids[500:], exclude_calibration=True
    )
    fresh = test.evaluate(scores[1000:].round(1), labels[1000:], clusters=ids[1000:])
    assert found.tally == fresh.tally
    path = tmp_path / "new.csv"
    lines = zip(scores[500:].round(1).tolist(), labels[500:], ids[500:], strict=True)
    path.write_text("\n".join(["s,y,who", *(f"{s},{y},{who}" for s, y, who in lines)]) + "\n")
    columns = {"score": "s", "label": "y", "cluster": "who"}
    left = evaluate_file(test, path, **columns, exclude_calibration=True)
    assert left.skipped == {"a calibration object": 500}
    assert left.overall.tally.n == fresh.tally.n


def test_a_long_stream_is_remembered_in_part():
    """Of more distinct scores than are kept a random part is looked at, every object of it."""
    old, new = draw(20_000, 0), draw(60_000, 1)
    for known, is_chance in ((0, True), (4000, False)):
        both = mixed(old, new, known)
        objects = NewObjects(most=5000)
        for part in np.array_split(np.arange(both[0].size), 7):
            objects.add(both[0][part], both[1][part] == 1)
        found = objects.against(rk.calibrate(*old))
        assert found.is_chance == is_chance
        assert found.n < 10_000
    whole = NewObjects()
    for part in np.array_split(np.arange(both[0].size), 7):
        whole.add(both[0][part], both[1][part] == 1)
    assert whole.against(rk.calibrate(*old)).matched == 4000


def test_counts_of_common_scores_are_those_of_a_plain_loop():
    """By how often both sets together have a score."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        one, two = (np.sort(rng.integers(0, 30, n).astype(float)) for n in rng.integers(1, 60, 2))
        values, counts = np.unique(two, return_counts=True)
        found = overlap(one, multiplicities(one), values, counts)
        pairs = [((one == v).sum(), (two == v).sum()) for v in np.union1d(one, two)]
        for i, k in enumerate(range(2, 7)):
            of_k = [pair for pair in pairs if sum(pair) == k]
            assert found.first[i] == sum(b == 0 for _, b in of_k)
            assert found.second[i] == sum(a == 0 for a, _ in of_k)
            assert found.common[i] == sum(a > 0 and b > 0 for a, b in of_k)
        assert found.matched == sum(min(pair) for pair in pairs)


def test_near_copies_are_not_merged():
    """A float32 copy with its original, of any size; a part of the rows; other rows are."""
    for n in (30, 500):
        old = draw(n, 0)
        cal = rk.calibrate(*old)
        with pytest.raises(rk.InputError, match=r"same objects|more than chance explains"):
            cal.merge(rk.calibrate(old[0].astype(np.float32), old[1]))
        with pytest.raises(rk.InputError, match=r"same objects|more than chance explains"):
            rk.calibrate(old[0].astype(np.float32), old[1]).merge(cal)
    new = draw(500, 1)
    cal.merge(rk.calibrate(*new))
    part = mixed(old, new, 100)
    for scores in (part[0], part[0].astype(np.float32)):
        with pytest.raises(rk.InputError, match="100 of the 600 objects"):
            cal.merge(rk.calibrate(scores, part[1]))
    assert cal.merge(rk.calibrate(*part), duplicates="keep").n(1) == (old[1].sum() + part[1].sum())
    with pytest.raises(rk.InputError, match='"refuse" or "keep"'):
        cal.merge(rk.calibrate(*new), duplicates="drop")
    coarse = rk.calibrate(old[0].round(1), old[1])
    coarse.merge(rk.calibrate(new[0].round(1), new[1]))


def test_single_rows_that_are_there_already_are_left_out():
    """Two rows were added although one of them was there."""
    scores, labels = draw(500, 0)
    stored = rk.calibrate(scores, labels, times=np.arange(500))
    two = rk.calibrate(np.r_[scores[0], 0.123], np.r_[labels[0], 1], times=[0, 500])
    found = append(stored, two)
    assert found.to_dict() == {"rows": 2, "added": 1, "already": 1, "before": 0}
    assert found.calibration.n(0) + found.calibration.n(1) == 501
    assert append(stored, two, "keep").added == 2
    with pytest.warns(CopiedRowsWarning, match="1 of the 2 objects"):
        stored.merge(two)
    single = rk.calibrate(scores.astype(np.float32), labels, times=np.arange(500))
    with pytest.raises(rk.InputError, match="same objects"):
        stored.merge(single)
    most = rk.calibrate(scores[1:].astype(np.float32), labels[1:], times=np.arange(1, 500))
    with pytest.raises(rk.InputError, match="499 of the 499 objects"):
        stored.merge(most)
    half = rk.calibrate(
        np.r_[scores[:100], draw(50, 1)[0]],
        np.r_[labels[:100], draw(50, 1)[1]],
        times=np.r_[:100, 600:650],
    )
    with pytest.raises(rk.InputError, match="100 of the 150 objects"):
        append(stored, half)
    assert append(stored, half, "drop").to_dict()["added"] == 50


def test_what_is_added_counts_once():
    """Objects that are there are not added again, whatever the window has left out since."""
    stored, columns = dated(300, seed=1)
    new, later = dated(300, seed=2, first=300)
    once = append(stored, new)
    assert (once.rows, once.added, once.already, once.before) == (300, 300, 0, 0)
    kept = once.calibration.window(last=200)
    again = append(kept, new)
    assert again.calibration is kept
    assert again.to_dict() == {"rows": 300, "added": 0, "already": 200, "before": 100}
    old = append(kept, stored)
    assert (old.calibration, old.added, old.before) == (kept, 0, 300)
    late = rk.calibrate([0.123, 2.34, 0.5], [0, 1, 1], times=[450, 450, 10])
    found = append(kept, late)
    assert (found.added, found.before) == (2, 1)
    assert found.calibration.timing == replace(stored.timing, start=400)
    assert "before 400 were left out" in found.calibration.remarks[0]
    half = {name: np.concatenate([column[150:], later[name]]) for name, column in columns.items()}
    with pytest.raises(rk.InputError, match=r"150 of the 450 objects .* there already"):
        append(stored, rk.calibrate(**half))
    with pytest.raises(rk.InputError, match="150 of the 450"):
        stored.merge(rk.calibrate(**half))
    with pytest.raises(rk.InputError, match="Without times"):
        append(rk.calibrate(columns["scores"], columns["labels"]), new)


def test_scores_of_few_values_repeat_as_a_matter_of_course():
    """Equal scores at equal times are not refused where the stored objects have as many."""
    rng = np.random.default_rng(0)
    make = lambda n: rk.calibrate(  # noqa: E731
        rng.integers(0, 5, n) / 5, np.arange(n) % 2, times=np.full(n, 2015), groups=["a"] * n
    )
    one, two = make(500), make(400)
    found = shared(one, two)
    assert found.overlap.matched > 300
    assert not found.is_unique
    refuse_shared(one, two)
    assert append(one, two).added == 400
    assert append(one, one).already == 500
