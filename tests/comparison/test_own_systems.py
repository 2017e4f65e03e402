"""Systems, metrics and names of the user's own, beside those that are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from seen_rows import splits_of
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], [200, 160])
    return rng.normal(size=(360, 2)) + 1.2 * y[:, None], np.array(["no", "yes"])[y]


def run(data, **options):
    X, y = data
    known = {"control": "fnr", "alpha": 0.1, "repeats": 2, "n_jobs": 1}
    return rk.compare(X, y, **known | options)


class Mine:
    """It says yes above a cut in the first column, and abstains near it: no scikit-learn at all."""

    guarantee = "high-probability"

    def __init__(self, band=0.0, random_state=None):
        self.band, self.random_state = band, random_state

    def fit(self, X, y):  # noqa: ARG002 - as the protocol has it
        """Learn a cut; nothing is returned."""
        self.cut = float(np.median(X[:, 0]))
        self.drawn = np.random.default_rng(self.random_state).random()

    def predict(self, X):
        """Return labels, and None in the band."""
        found = np.where(X[:, 0] > self.cut, "yes", "no").astype(object)
        found[np.abs(X[:, 0] - self.cut) < self.band] = None
        return found


@dataclass
class Found:
    """What decide may return."""

    positive: np.ndarray
    abstained: np.ndarray


class Deciding(Mine):
    """It decides in place of predicting."""

    guarantee = None
    predict = None

    def decide(self, X):
        """Return booleans."""
        return Found(X[:, 0] > self.cut, np.abs(X[:, 0] - self.cut) < self.band)


class Undecided(Mine):
    """It has a word of its own for abstentions."""

    undecided = "?"

    def predict(self, X):
        """Return labels, and the word in the band."""
        found = super().predict(X)
        return np.array(["?" if label is None else label for label in found])


class Watching:
    """It remembers what it was given."""

    seen: ClassVar = []

    def fit(self, X, y):  # noqa: ARG002 - whatever they are
        """Keep the rows."""
        self.seen.append(X)

    def predict(self, X):
        """Say no."""
        return ["no"] * len(X)


def test_own_systems_stand_beside_named_ones(data):
    """Objects without any base class are run, and names stand for systems of ours."""
    systems = {"mine": Mine(band=0.3), "conformal": "conformal", "again": "conformal"}
    mine, conformal, again = run(data, systems=systems).rows
    assert (mine.family, mine.promise) == ("given", "high probability")
    assert (conformal.family, again.family) == ("ratekeeper", "ratekeeper")
    alone = run(data, systems=["conformal"]).rows[0]
    assert conformal.target == alone.target
    X, y = data
    ((_, test),) = splits_of(y == "yes", 1)
    result = run(data, systems=systems, repeats=1)
    cut = float(np.median(np.delete(X[:, 0], test)))
    near = np.abs(X[test, 0] - cut) < 0.3
    missed = (y[test] == "yes") & (X[test, 0] <= cut) & ~near
    assert result.trials[0].abstained == near.sum()
    assert result.trials[0].target_errors == missed.sum()


def test_abstentions_may_be_said_in_three_ways(data):
    """None, a word named by `undecided`, and `decide` count alike."""
    systems = {"none": Mine(0.4), "word": Undecided(0.4), "decides": Deciding(0.4)}
    trials = run(data, systems=systems, repeats=1).trials
    facts = [(t.target_errors, t.other_errors, t.abstained) for t in trials]
    assert facts[0] == facts[1] == facts[2]
    assert facts[0][2] > 0


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_reach_own_systems_unchanged(data, make):
    """Own systems get rows of the frame as it came; ours get numbers, if they are asked for."""
    X, y = data
    columns = {"a": X[:, 0], "day": [f"day {i}" for i in range(len(y))]}  # too many levels for us
    frame = make(columns)
    Watching.seen.clear()
    result = run((frame, y), systems={"mine": Watching()}, repeats=1)
    (seen,) = Watching.seen
    assert type(seen) is type(frame)
    assert result.n_features == 2
    ((train, _),) = splits_of(y == "yes", 1)
    assert [*map(str, seen["day"])] == [columns["day"][row] for row in train]
    with pytest.raises(rk.InputError, match="360 different values"):
        run((frame, y), systems={"mine": Watching(), "plain": "plain"})


def test_classes_and_functions_are_told_what_is_asked(data):
    """A factory is called with those of the options that it takes."""
    told = {}

    def make(alpha, control, positive_label):
        told.update(alpha=alpha, control=control, positive_label=positive_label)
        return Mine()

    run(data, systems={"made": make, "class": Mine}, repeats=1)
    assert told == {"alpha": 0.1, "control": "fnr", "positive_label": "yes"}


def broken(**methods):
    """Return an object of a class with these attributes."""
    return type("Broken", (Mine,), methods)()


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (object(), r"systems\['me'\]=.* has no fit and no predict or decide. Pass an object with"),
        (broken(fit=None), "has no fit. Pass an object with"),
        (broken(guarantee="for life"), r"guarantee is 'for life'. Say what is promised by one of"),
        (broken(guarantee=3), "guarantee is 3"),
        (broken(__deepcopy__=lambda _, __: 1 / 0), "cannot be cloned: division by zero.*copy"),
        (lambda size: Mine(band=size), "cannot be called: TypeError.*needs a default"),
        (lambda: 3, "has no fit"),
    ],
)
def test_what_does_not_follow_the_protocol_is_refused(data, system, message):
    """An object that cannot be a system is refused before anything is trained, with the way out."""
    with pytest.raises(rk.InputError, match=message):
        run(data, systems={"me": system})


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"decide": lambda _, X: X}, "has no boolean array named positive"),
        (
            {"decide": lambda _, X: Found(np.ones(len(X)), None)},
            "positive of type float64 and shape (108,) for 108 objects",
        ),
        ({"predict": lambda _, X: ["maybe"] * len(X)}, "predict gave 'maybe'"),
        ({"threshold_rank_": (9, 3)}, "needs 1 <= k <= n"),
    ],
)
def test_wrong_answers_become_notes(data, change, note):
    """What a system answers wrongly is a note that says what is needed, never a rate."""
    row = run(data, systems={"me": broken(**change)}, repeats=1).rows[0]
    assert row.repeats == 0
    assert note in row.note


def test_random_parts_of_any_object_are_seeded(data):
    """A `random_state` of None is set, so that a seed fixes everything."""

    class Noisy(Mine):
        def predict(self, X):
            rng = np.random.default_rng(self.random_state)
            return np.where(rng.random(len(X)) > 0.5, "yes", "no")

    one, two = (run(data, systems={"noisy": Noisy()}).trials for _ in range(2))
    assert [t.target_errors for t in one] == [t.target_errors for t in two]
    assert one[0].target_errors != one[1].target_errors


def test_own_metrics(data):
    """A metric gets true and predicted labels, and its mean stands in every table."""
    X, y = data
    weights = np.arange(len(y), dtype=float)

    def weighted(y_true, y_pred, rows):
        return weights[rows][y_true != y_pred].sum()

    def share(y_true, y_pred):
        assert len(y_true) == len(y_pred)
        return np.mean([label is None for label in y_pred])

    def failing(y_true, y_pred):
        raise ValueError("no. Really")

    metrics = {"weighted": weighted, "share": share, "failing": failing}
    result = run(data, systems={"mine": Mine(0.4), "plain": "plain"}, metrics=metrics)
    mine, plain = result.rows
    assert dict(mine.metrics)["share"] == pytest.approx(mine.abstained)
    assert dict(plain.metrics)["share"] == 0
    assert np.isnan(dict(plain.metrics)["failing"])
    assert "failing failed: ValueError: no." in plain.note
    model = LogisticRegression(max_iter=1000)
    expected = []
    for train, test in splits_of(y == "yes", 2):
        scale = X[train].mean(axis=0), X[train].std(axis=0)
        model.fit((X[train] - scale[0]) / scale[1], y[train])
        predicted = model.predict((X[test] - scale[0]) / scale[1])
        expected.append(weights[test][predicted != y[test]].sum())
    assert dict(plain.metrics)["weighted"] == pytest.approx(np.mean(expected))
    assert result.csv().splitlines()[0].endswith("weighted,share,failing")
    assert result.trials_csv().splitlines()[0].endswith("weighted,share,failing")
    assert result.to_dict()["share"] == [mine.abstained, 0]
    assert "| weighted |" in result.markdown()


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ([len], "a dict of names"),
        ({"x": 3}, r"metrics\['x'\]=3 is no function"),
        ({"target": len}, "is a column of the table"),
        ({3: len}, "metrics has the key 3"),
    ],
)
def test_bad_metrics(data, metrics, message):
    """What is no metric is refused."""
    with pytest.raises(rk.InputError, match=message):
        run(data, metrics=metrics, systems="plain")
