"""Decisions, p-values and evaluations of frames are those of arrays, row for row."""

from __future__ import annotations

import numpy as np
import pytest
from frame_kinds import make, rows

import ratekeeper as rk
from ratekeeper.exceptions import InputError

KINDS = ["pandas", "polars", "polars lazy", "pyarrow", "duckdb"]
LAZY = {"polars lazy", "duckdb"}


def some(seed, *, digits=1, groups=False, higher=True, labels=(0, 1)):
    """Return a calibration with ties, and new scores with their truths and groups."""
    rng = np.random.default_rng(seed)
    truth = rng.random(600) < 0.5
    scores = rng.normal(truth if higher else ~truth).round(digits)
    names = np.array(["north", "south"])[rng.integers(0, 2, 600)]
    words = np.array(labels)[truth.astype(int)]
    held = slice(0, 400)
    cal = rk.calibrate(
        scores[held],
        words[held],
        groups=names[held] if groups else None,
        positive_label=labels[1],
        higher_is_positive=higher,
    )
    new = slice(400, 600)
    return cal, scores[new], words[new], names[new]


def several_tests(cal):
    yield cal.control("fnr", 0.1)
    yield cal.control("fpr", 0.2, method=rk.Conformal())
    yield cal.control_both(0.1, 0.1)
    yield cal.control_both(0.45, 0.45)  # whose thresholds cross
    if cal.groups is None:
        yield cal.control_alerts(0.2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("grouped", [False, True])
def test_decisions_in_a_frame_are_those_of_arrays(kind, grouped):
    """For tests of one and of both rates, ties and both directions, each row is decided alike."""
    for seed, higher in ((0, True), (1, False)):
        cal, scores, _, groups = some(seed, groups=grouped, higher=higher)
        frame = make(kind, {"id": np.arange(scores.size), "s": scores, "g": groups})
        for test in several_tests(cal):
            given = {"group": "g"} if grouped else {}
            found = rows(test.decide_frame(frame, score="s", **given))
            known = test.decide(scores, groups if grouped else None)
            order = np.argsort(found["id"])
            undecided = known.abstained | known.neither
            expected = np.where(undecided, None, known.positive.astype(int)).tolist()
            assert [found["decision"][i] for i in order] == expected
            assert [found["s"][i] for i in order] == scores.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_p_values_in_a_frame_are_exact_in_memory_and_never_too_small_elsewhere(kind):
    """In memory they are the library's; lazily they exceed them by the stated ratio at most."""
    # With two digits many scores are those at which the steps begin.
    cal, scores, _, groups = some(3, digits=2, groups=True, labels=("no", "yes"))
    test = cal.control("fnr", 0.1)
    frame = make(kind, {"id": np.arange(scores.size), "s": scores, "g": groups})
    found = rows(test.decide_frame(frame, score="s", group="g", p_values=True, steps=60))
    order = np.argsort(found["id"])
    known = test.p_values(scores, groups=groups)
    excess = test.p_value_excess(60)
    assert 0 < excess < 0.5
    for name, exact in (("p0", known.p0), ("p1", known.p1)):
        p = np.array(found[name])[order]
        assert (p >= exact).all()
        assert (p <= exact * (1 + (excess if kind in LAZY else 0)) + 1e-15).all()
        assert kind in LAZY or (p == exact).all()
    decided = np.array(found["decision"])[order]
    assert ((np.array(found["p1"])[order] > 0.1) == (decided == "yes")).all()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_a_score_or_of_an_unknown_group_have_no_decision(kind):
    """NaN, a missing score and a strange group give null, never a class; infinities are scores."""
    cal, *_ = some(4, groups=True)
    test = cal.control("fnr", 0.1)
    scores = [None, np.nan, -np.inf, np.inf, 0.0]
    groups = ["north", "north", "north", "south", "west"]
    frame = make(kind, {"id": range(5), "s": scores, "g": groups})
    found = rows(test.decide_frame(frame, score="s", group="g", p_values=True))
    order = np.argsort(found["id"])
    assert [found["decision"][i] for i in order] == [None, None, 0, 1, None]
    for name in ("p0", "p1"):
        assert [found[name][i] is None for i in order] == [True, True, False, False, True]


@pytest.mark.thorough_rows
@pytest.mark.parametrize("kind", KINDS)
def test_an_evaluation_of_a_frame_is_that_of_arrays(kind):
    """Counts, intervals and verdicts are the same, by group and as an audit."""
    cal, scores, truth, groups = some(5)
    frame = make(kind, {"s": scores, "y": truth, "g": groups})
    for test in several_tests(cal):
        assert str(test.evaluate_frame(frame, score="s", label="y")) == str(
            test.evaluate(scores, truth)
        )
        audit = test.evaluate_frame(frame, score="s", label="y", group="g")
        assert str(audit) == str(test.evaluate(scores, truth, groups=groups))
    grouped, scores, truth, groups = some(6, groups=True)
    frame = make(kind, {"s": scores, "y": truth, "g": groups})
    test = grouped.control("fnr", 0.1)
    known = test.evaluate(scores, truth, groups=groups)
    assert str(test.evaluate_frame(frame, score="s", label="y", group="g")) == str(known)


@pytest.mark.parametrize("kind", ["pandas", "duckdb"])
def test_float32_columns_are_compared_as_numbers(kind):
    """A threshold is not rounded to the type of a column."""
    rng = np.random.default_rng(7)
    scores = rng.random(400)
    test = rk.calibrate(scores, scores + rng.normal(0, 0.3, 400) > 0.5).control("fnr", 0.1)
    near = np.float32(test.threshold)
    new = np.array([np.nextafter(near, np.float32(0)), near, np.nextafter(near, np.float32(1))])
    frame = make(kind, {"s": new})
    found = rows(test.decide_frame(frame, score="s"))["decision"]
    assert found == (new.astype(np.float64) >= test.threshold).tolist()


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda test, _: test.decide_frame([0.1], score="s"), "is no frame"),
        (lambda test, frame: test.decide_frame(frame, score="risk"), "has no column 'risk'"),
        (lambda test, frame: test.decide_frame(frame, score="g"), "real numbers are needed"),
        (lambda test, frame: test.decide_frame(frame, score="s", group="g"), "has no groups"),
        (lambda test, frame: test.decide_frame(frame, score="s", decision="y"), "already"),
        (lambda test, frame: test.decide_frame(frame, score="s", p_values="all"), '"exact"'),
        (
            lambda test, frame: test.decide_frame(frame.lazy(), score="s", p_values="exact"),
            "batch by batch",
        ),
        (lambda test, frame: test.evaluate_frame(frame, score="s", label="h"), "missing in 1 of 2"),
        (lambda test, frame: test.evaluate_frame(frame, score="n", label="y"), "missing or NaN"),
        (lambda test, frame: test.evaluate_frame(frame, score="s", label="g"), "labels"),
    ],
)
def test_frames_that_cannot_be_used_are_refused(work, message):
    """The error names the column and what to do."""
    columns = {"s": [0.1, 0.2], "n": [None, 0.2], "y": [0, 1], "h": [None, 1], "g": ["a", "b"]}
    cal, *_ = some(8)
    with pytest.raises(InputError, match=message):
        work(cal.control("fnr", 0.1), make("polars", columns))


def test_what_a_score_alone_does_not_decide_is_refused():
    """Random methods have no comparison to write into a frame."""
    cal, *_ = some(9)
    frame = make("polars", {"s": [0.1]})
    for method in (rk.methods.Smoothed(0), rk.HighProbability(randomised=True)):
        test = cal.control("fnr", 0.1, method=method)
        with pytest.raises(InputError, match=r"no (threshold|comparison of the score) decides"):
            test.decide_frame(frame, score="s")


def test_scores_of_another_scale_are_noticed():
    """An evaluation of a frame warns as that of arrays does, and finds nothing in line."""
    cal, scores, truth, _ = some(10)
    frame = make("duckdb", {"s": 100 * scores, "y": truth})
    test = cal.control("fnr", 0.1)
    with pytest.warns(rk.exceptions.ScoreRangeWarning, match="outside"):
        found = test.evaluate_frame(frame, score="s", label="y")
    assert "in line" not in str(found)


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_of_each_cluster_is_counted(kind):
    """The row with the least draw in each cluster and class counts, and the certificate says so."""
    rng = np.random.default_rng(11)
    n = 3000
    cluster = rng.integers(0, 800, n)
    truth = rng.random(n) < 0.5
    scores, draw = rng.normal(truth), rng.permutation(n)
    columns = {"s": scores, "y": truth.astype(int), "who": cluster, "id": draw}
    cal = rk.calibrate_frame(
        make(kind, columns), score="s", label="y", cluster="who", draw="id", counted=True
    )
    order = np.argsort(draw)
    _, first = np.unique(np.column_stack([cluster, truth])[order], axis=0, return_index=True)
    chosen = order[first]
    own = rk.calibrate(scores[chosen], truth[chosen].astype(int))
    one, two = (c.control("fnr", 0.05) for c in (cal, own))
    assert one.threshold == two.threshold
    assert cal.provenance.rows == n
    assert "One row of each cluster was drawn" in str(one.certificate).replace("\n  ", " ")
    with pytest.raises(InputError, match="draw"):
        rk.calibrate_frame(make(kind, columns), score="s", label="y", cluster="who", counted=True)
    with pytest.raises(InputError, match="same value in several rows"):
        rk.calibrate_frame(
            make(kind, columns | {"id": draw // 2000}),
            score="s",
            label="y",
            cluster="who",
            draw="id",
            counted=True,
        )
    known = rk.calibrate_frame(make(kind, columns), score="s", label="y", cluster="who")
    assert known.clusters is not None
