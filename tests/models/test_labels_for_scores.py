"""Labels that a model gives in place of scores are found out, and right models are not refused."""

from math import comb

import numpy as np
import pytest
from scipy.stats import binom

import ratekeeper as rk
from ratekeeper.mlflow._labels import chance, gives_only_labels, refuse_labels

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 300)
SCORES = np.clip(RNG.normal(0.3 + 0.4 * Y, 0.2), 0.001, 0.999)
CALIBRATION = rk.calibrate(SCORES, Y)
FOREST = rk.calibrate(np.round(SCORES, 1), Y)  # a tenth of which are 0 or 1


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.array([1]), "int64 values (1), but calibration scores are fractions"),
        (np.array([0, 1], np.uint8), "uint8 values (0, 1)"),
        (np.array([True]), "bool values (True)"),
        (np.array(["no", "yes"]), "text or objects ('no', 'yes')"),
        (np.array(["no", "yes"], object), "text or objects ('no', 'yes')"),
        (np.array([0.0, 1.0, 1.0, 0.0]), "0.0 and 1.0 and nothing else, as 0 of the 600"),
    ],
)
def test_labels_are_refused_by_type_and_by_value(values, words):
    """Whole numbers, booleans and text are told in one row, labels as fractions in a few."""
    with pytest.raises(rk.InputError) as refused:
        refuse_labels(values, CALIBRATION)
    assert words in str(refused.value)
    assert "predict_proba" in str(refused.value)


@pytest.mark.parametrize(
    ("values", "calibration"),
    [
        pytest.param([0.0], CALIBRATION, id="one row may be exactly 0"),
        pytest.param([0.0, 1.0], CALIBRATION, id="and two may be"),
        pytest.param([1.0] * 500, CALIBRATION, id="rows sorted by score"),
        pytest.param([0.0, 1.0, 0.5] * 50, CALIBRATION, id="one is neither"),
        pytest.param([0.0, 1.0, 1.0], FOREST, id="a forest that is often sure"),
        pytest.param([], CALIBRATION, id="nothing"),
    ],
)
def test_right_models_are_not_refused(values, calibration):
    """Scores of exactly 0 and 1 are nothing odd by themselves."""
    refuse_labels(np.array(values, dtype=float), calibration)


def test_whole_numbers_are_scores_where_they_are_calibrated():
    """Points of a score card are whole numbers; only its labels would be refused."""
    points = rk.calibrate(np.round(600 + 100 * SCORES).astype(int), Y)
    refuse_labels(np.array([612, 655]), points)
    with pytest.raises(rk.InputError, match="and nothing else"):
        refuse_labels(np.array([0, 1, 1, 0]), points)


def test_labels_are_scores_where_they_are_calibrated():
    """Whoever calibrates a model without scores gets what they asked for."""
    hard = rk.calibrate((SCORES > 0.5).astype(int), Y)
    assert gives_only_labels(hard)
    assert not gives_only_labels(CALIBRATION)
    refuse_labels(np.array([0, 1] * 100), hard)


def test_labels_of_other_numbers_are_known():
    """The calibration's own labels count as labels, beside 0 and 1."""
    calibration = rk.calibrate(SCORES, np.where(Y, 2, 1), positive_label=2)
    for pair in ((1.0, 2.0), (0.0, 1.0)):
        with pytest.raises(rk.InputError, match=f"{pair[0]} and {pair[1]} and nothing else"):
            refuse_labels(np.array(pair * 3), calibration)
    refuse_labels(np.array([0.0, 2.0] * 3), calibration)


def test_rows_that_are_not_drawn_alike_are_not_judged_by_chance():
    """Of clusters and weights the chance is not known, so only the type tells."""
    for options in ({"clusters": np.arange(600) // 2}, {"weights": np.ones(600)}):
        calibration = rk.calibrate(SCORES, Y, **options)
        refuse_labels(np.array([0.0, 1.0] * 50), calibration)
        with pytest.raises(rk.InputError, match="int64"):
            refuse_labels(np.array([0, 1]), calibration)


@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_the_chance_is_that_of_the_likeliest_mix(k):
    """It is the largest over all ways in which the classes share the new objects."""
    counts = [(1, 7), (3, 9)]

    def one(m, n, j):
        return comb(m + j, j) / comb(n + j, j)

    wanted = max(one(*counts[0], j) * one(*counts[1], k - j) for j in range(k + 1))
    assert chance(counts, k) == pytest.approx(wanted, rel=1e-9)


def test_a_right_model_is_refused_as_rarely_as_stated():
    """All new scores are labels, with a chance of at most a, in at most a share a of the cases."""
    rng, n, k, level, repeats = np.random.default_rng(1), (25, 15), 3, 0.05, 40_000
    known = {
        (m0, m1): chance([(m0, n[0]), (m1, n[1])], k) <= level
        for m0 in range(n[0] + 1)
        for m1 in range(n[1] + 1)
    }
    most = int(binom.isf(1e-7, repeats, level))
    for shares in ((0.1, 0.3), (0.3, 0.3), (0.5, 0.1), (0.5, 0.6)):
        for new in ((3, 0), (2, 1), (0, 3)):
            own = zip(*(rng.binomial(n[i], shares[i], repeats) for i in (0, 1)), strict=True)
            rare = np.array([known[pair] for pair in own])
            all_labels = rng.random(repeats) < shares[0] ** new[0] * shares[1] ** new[1]
            assert (rare & all_labels).sum() <= most
