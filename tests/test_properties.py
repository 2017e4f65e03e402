"""Truths about the core that hold for any scores, found false by search or not at all."""

from __future__ import annotations

import warnings
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ratekeeper as rk
from ratekeeper.exceptions import ReversedScoreWarning, TooFewScoresError

# Few distinct values make ties common; infinities, signed zeros and neighbours are there too.
AWKWARD = (0.0, 0.5, 1.0, -1.0, -0.0, 0.1, 1e-300, np.nextafter(0.5, 1), -np.inf, np.inf)
METHODS = (
    rk.methods.Empirical(),
    rk.Conformal(),
    rk.HighProbability(0.1),
    rk.Simultaneous(0.2),
    rk.methods.Bootstrap(20),
)
# One draw of bytes makes a whole column: value by value, drawing would take several times longer
# than what is tested.
TABLE = np.concatenate([np.tile(AWKWARD, 16), np.linspace(-1, 1, 96)])
ORDINARY = slice(16 * len(AWKWARD), None)


@st.composite
def columns(draw, dtype, *, most=40):
    """Scores of one type: awkward values, and ordinary ones at some scale."""
    table = TABLE.copy()
    table[ORDINARY] *= draw(st.floats(0.01, 10))
    return table.astype(dtype)[list(draw(st.binary(min_size=1, max_size=most)))]


def picks(draw, choices, size):
    """Draw one of the choices for each object."""
    drawn = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), np.uint8)
    return np.asarray(choices)[drawn % len(choices)]


@st.composite
def calibrations(draw, *, grouped=False, dtype=None):
    """Scores, labels, groups and direction of a possible calibration."""
    dtype = draw(st.sampled_from((np.float32, np.float64))) if dtype is None else dtype
    scores = np.concatenate([draw(columns(dtype)), draw(columns(dtype))])
    labels = picks(draw, [0, 1], scores.size)
    labels[0], labels[-1] = 0, 1
    groups = picks(draw, ["a", "b", "c"], scores.size) if grouped else None
    return scores, labels, groups, draw(st.booleans())


def make(parts):
    scores, labels, groups, higher = parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReversedScoreWarning)
        return rk.calibrate(
            scores, labels, groups=groups, higher_is_positive=higher, duplicates="keep"
        )


@given(calibrations(dtype=np.float64), columns(np.float64), st.sampled_from(METHODS))
def test_p_values_are_monotone_and_in_range(parts, new, method):
    """p1 rises with evidence for the positive class, p0 falls, and both lie in [0, 1]."""
    cal = make(parts)
    ordered = np.sort(new) if cal.higher_is_positive else np.sort(new)[::-1]
    pv = cal.p_values(ordered, method=method)
    assert (np.diff(pv.p1) >= 0).all()
    assert (np.diff(pv.p0) <= 0).all()
    for p in (pv.p0, pv.p1):
        assert (p >= 0).all()
        assert (p <= 1).all()


@given(calibrations(dtype=np.float64), columns(np.float64), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(parts, new, random):
    """Shuffled calibration rows give the same calibration; shuffled objects their own p-values."""
    scores, labels, _, higher = parts
    order = np.array(random.sample(range(scores.size), scores.size))
    cal = make(parts)
    assert make((scores[order], labels[order], None, higher)) == cal
    there = np.array(random.sample(range(new.size), new.size))
    np.testing.assert_array_equal(cal.p_values(new[there]).p1, cal.p_values(new).p1[there])


def is_rounded_copy(one, other):
    """Say whether one has the scores of the other in single precision, class by class."""
    if one[0].dtype == other[0].dtype:
        return False
    pair = [
        [np.sort(s[y == label].astype(np.float32)) for label in (0, 1)] for s, y, *_ in (one, other)
    ]
    return all(map(np.array_equal, *pair))


@given(calibrations(grouped=True), calibrations(grouped=True))
def test_merging_is_calibrating_together(one, two):
    """Merging gives exactly what calibrating the concatenation gives, groups and types included.

    The same objects are not merged with themselves, where scores tell objects apart.
    """
    two = (*two[:3], one[3])
    together = tuple(np.concatenate([a, b]) for a, b in zip(one[:3], two[:3], strict=True))
    first, second = make(one), make(two)
    is_same = first == second or is_rounded_copy(one, two)
    if is_same and np.unique(one[0]).size >= min(20, one[0].size):
        with pytest.raises(rk.InputError, match="the same objects"):
            first.merge(second)
        return
    merged = first.merge(second, duplicates="keep")
    assert merged == make((*together, one[3]))
    assert merged.dtype == together[0].dtype


@given(calibrations(), st.data(), st.sampled_from(METHODS), st.sampled_from(("fnr", "fpr")))
def test_threshold_and_p_value_agree_for_every_score(parts, data, method, control):
    """Comparing the score with the threshold is comparing p with alpha, to the last bit."""
    cal = make(parts)
    alpha = data.draw(
        st.one_of(st.sampled_from((0.05, 0.1, 0.2, 0.25, 0.5)), st.floats(0.01, 0.99))
    )
    try:
        test = cal.control(control, alpha, method=method)
    except TooFewScoresError:
        return
    new = data.draw(columns(cal.dtype.type))
    edges = np.concatenate([*cal.cells[0], *cal.cells[1]])
    new = np.concatenate([new, edges, np.nextafter(edges, cal.dtype.type(-np.inf))])
    p = getattr(cal.p_values(new, method=method), "p1" if control == "fnr" else "p0")
    decisions = test.decide(new)
    np.testing.assert_array_equal(decisions.positive, (p <= alpha) == (control == "fpr"))
    np.testing.assert_array_equal(test.decide(new).p_values.p1, test.p_values(new).p1)


@given(calibrations(dtype=np.float32), columns(np.float64), st.sampled_from(("fnr", "fpr")))
def test_threshold_and_p_value_agree_across_precisions(parts, new, control):
    """float64 scores against a float32 calibration are compared in float64 by both rules."""
    cal = make(parts)
    edges = np.concatenate([*cal.cells[0], *cal.cells[1]]).astype(np.float64)
    new = np.concatenate([new, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
    try:
        test = cal.control(control, 0.3, method=rk.Conformal())
    except TooFewScoresError:
        return
    with pytest.warns(rk.exceptions.RatekeeperWarning):
        p = getattr(cal.p_values(new), "p1" if control == "fnr" else "p0")
    with pytest.warns(rk.exceptions.RatekeeperWarning):
        positive = test.decide(new).positive
    np.testing.assert_array_equal(positive, (p <= 0.3) == (control == "fpr"))


@given(calibrations(grouped=True), st.data())
def test_grouped_is_each_group_alone(parts, data):
    """With groups, every object gets the p-values of a calibration on its group alone."""
    scores, labels, groups, higher = parts
    cal = make(parts)
    new = data.draw(columns(cal.dtype.type))
    of = picks(data.draw, np.unique(groups), new.size)
    pv = cal.p_values(new, groups=of)
    for name in np.unique(of):
        inside = groups == name
        if np.unique(labels[inside]).size < 2:
            continue
        alone = make((scores[inside], labels[inside], None, higher)).p_values(new[of == name])
        np.testing.assert_array_equal(pv.p0[of == name], alone.p0)
        np.testing.assert_array_equal(pv.p1[of == name], alone.p1)


@given(calibrations(dtype=np.float64), columns(np.float64))
def test_direction_is_only_a_sign(parts, new):
    """Negated scores with the direction turned give the same p-values."""
    scores, labels, _, higher = parts
    here = make(parts).p_values(new)
    there = make((-scores, labels, None, not higher)).p_values(-new)
    np.testing.assert_array_equal(here.p0, there.p0)
    np.testing.assert_array_equal(here.p1, there.p1)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return the place of one file, for which nobody waits until it is on the disk."""
    with mock.patch("os.fsync"):
        yield tmp_path_factory.mktemp("saved") / "test.rk"


def there_and_back(stored, path):
    """Save, load and remove: a file that takes the place of another goes to the disk at once."""
    rk.save(stored, path)
    try:
        return rk.load(path)
    finally:
        path.unlink()


@given(calibrations(grouped=True), st.sampled_from(METHODS), st.sampled_from(("fnr", "fpr")))
def test_a_saved_test_comes_back_the_same(path, parts, method, control):
    """Saving and loading changes neither the calibration nor any threshold."""
    cal = make(parts)
    assert there_and_back(cal, path) == cal
    try:
        test = cal.control(control, 0.4, method=method, thin_groups="pool")
    except TooFewScoresError:
        return
    loaded = there_and_back(test, path)
    assert loaded.thresholds == test.thresholds
    assert loaded.certificate.to_dict() == test.certificate.to_dict()
