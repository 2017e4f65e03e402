"""Which rows train and test: random within classes or groups, or as the user says."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from cases import each
from seen_rows import splits_of
from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold

import ratekeeper as rk

Y = np.tile([0, 1, 0], 100)
X = np.random.default_rng(0).normal(1.3 * Y)[:, None]
GROUPS = np.arange(300) // 6


def run(**options):
    known = {"control": "fnr", "alpha": 0.2, "systems": ["conformal", "plain"], "n_jobs": 1}
    return rk.compare(X, Y, **known | options)


class Remembering:
    """It remembers which rows trained, and with which groups."""

    seen: ClassVar = []

    def fit(self, X, y, groups=None):  # noqa: ARG002 - whatever they are
        """Keep rows and groups."""
        self.seen.append((X[:, 0], groups))

    def predict(self, X):
        """Say no."""
        return np.zeros(len(X), int)


def test_own_pairs_and_splitters_give_the_same():
    """A splitter is asked for its pairs, masks are rows, and each pair is a split."""
    splitter = StratifiedKFold(4, shuffle=True, random_state=1)
    pairs = list(splitter.split(X, Y))
    masks = [(~np.isin(np.arange(300), test), np.isin(np.arange(300), test)) for _, test in pairs]
    results = [run(splits=splits) for splits in (splitter, pairs, masks)]
    facts = [[(t.target_errors, t.other_errors) for t in r.trials] for r in results]
    assert facts[0] == facts[1] == facts[2]
    assert [row.repeats for row in results[0].rows] == [4, 4]
    assert {trial.target_n for trial in results[0].trials} == {25}
    Remembering.seen.clear()
    run(splits=pairs, systems={"mine": Remembering()})
    for (train, _), (rows, _) in zip(pairs, Remembering.seen, strict=True):
        np.testing.assert_array_equal(rows, X[np.sort(train), 0])


def test_test_sets_may_differ_in_size(tmp_path):
    """Each trial is counted on its own test set, also after resuming."""
    pairs = [(np.arange(200), np.arange(200, 300)), (np.arange(90, 300), np.arange(90))]
    path = tmp_path / "trials.jsonl"
    first = run(splits=pairs, checkpoint=path)
    assert [t.target_n + t.other_n for t in first.trials[:2]] == [100, 90]
    assert run(splits=pairs, checkpoint=path).trials == first.trials
    with pytest.raises(rk.InputError, match="splits is"):
        run(splits=pairs[::-1], checkpoint=path)


@each(
    ("options", "message"),
    [
        ({"splits": 3}, "pairs of rows that train"),
        ({"splits": []}, "at least one pair"),
        ({"splits": [range(4)]}, "pairs of rows"),
        ({"splits": [([0, 1], [2, 300])]}, r"splits\[0\]\[1\] is .*from 0 to 299"),
        ({"splits": [([0, 1], [-1, 4])]}, "from 0 to 299"),
        ({"splits": [([0.5, 1.5], [3, 4])]}, "whole numbers"),
        ({"splits": [([0, 1, 1], [3, 4])]}, r"splits\[0\]\[0\] has row 1 twice"),
        ({"splits": [([0, 1], [1, 3])]}, "row 1 on both sides"),
        ({"splits": [([0, 1], [3, 5])]}, "has negative rows alone.*StratifiedKFold"),
        ({"splits": [([0, 1], [4, 9])], "groups": GROUPS}, "group number 0 on both sides"),
        ({"splits": KFold(400)}, "cannot split these rows: Cannot have number of splits"),
        ({"splits": KFold(3), "repeats": 3}, "repeats=3 is about random splits"),
        ({"splits": KFold(3), "test_size": 0.3}, "test_size=0.3 is about random splits"),
        ({"groups": [1, 2]}, "groups"),
        ({"groups": Y}, r"Positives are in 1 group\(s\) and negatives in 1"),
    ],
)
def test_bad_splits(options, message):
    """Splits that would count something else than they seem to are refused."""
    with pytest.raises(rk.InputError, match=message):
        run(**options)


def test_groups_stay_whole():
    """No group is on both sides; both sides have both classes; own systems are told the groups."""
    rng = np.random.default_rng(2)
    for seed in range(20):
        groups = rng.integers(0, 25, 200)
        is_positive = rng.random(200) < (groups % 5 == 0) * 0.8 + 0.02
        options = {"test_size": 0.3, "random_state": seed, "groups": groups}
        splits = splits_of(is_positive, 3, **options)
        assert len(splits) == 3
        for train, test in splits:
            assert not np.intersect1d(groups[train], groups[test]).size
            assert train.size + test.size == 200
            assert all(np.unique(is_positive[rows]).size == 2 for rows in (train, test))
            has = np.unique(groups).size
            assert np.unique(groups[test]).size == pytest.approx(0.3 * has, abs=1.01)
    Remembering.seen.clear()
    names = pd.Series([f"patient {i}" for i in GROUPS])
    run(groups=names, systems={"mine": Remembering()}, repeats=2)
    for rows, told in Remembering.seen:
        assert len(rows) == len(told)
        assert np.unique(told).size == 35  # of 50, 15 test


def test_groups_of_a_splitter_and_of_our_tests():
    """A splitter by groups is given them, and our own tests hold out whole clusters."""
    splits = StratifiedGroupKFold(5)
    result = run(splits=splits, groups=GROUPS, systems=["conformal", "conformal-cross-fit"])
    assert [row.repeats for row in result.rows] == [5, 5]
    # One row of each of 20 held-out clusters, of 40 that are given.
    random = run(groups=GROUPS, repeats=2, systems=["conformal"])
    assert {t.null_scores for t in random.trials} <= set(range(30, 42))


def test_half_of_the_training_rows():
    """`train_size` limits what a system is given, in rows or in groups."""
    few = run(train_size=0.25, repeats=1)
    assert (few.n_given, few.n_test) == (75, 90)
    grouped = run(train_size=0.25, repeats=1, groups=GROUPS)
    assert grouped.n_given == pytest.approx(75, abs=6)
