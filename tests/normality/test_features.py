"""What tests see of a sample: standardised values, shared statistics, and every feature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import each
from scipy import special

from ratekeeper.normality import CLASSICAL, _features as module
from ratekeeper.normality._features import ODD, features
from ratekeeper.normality._samples import standardise_sorted
from ratekeeper.normality._statistics import evaluate

SIZES = (*range(5, 31), 100, 1_000, 10_000)
# Single precision, and sums of it over a sample.
ROUNDING = {"rtol": 2e-4, "atol": 2e-5}


def _standard(seed, rows, n, draw="normal"):
    rng = np.random.default_rng([seed, n])
    return standardise_sorted(getattr(rng, draw)(size=(rows, n)))


def _extreme_samples(n):
    """Return samples as far from normal as they come, and some of extreme scales."""
    rng = np.random.default_rng(n)
    outlier = rng.normal(size=n)
    outlier[0] = 1e12
    lonely = np.zeros(n)
    lonely[-1] = 1.0
    halves = np.repeat([0.0, 1.0], [n // 2, n - n // 2])
    ordinary = rng.normal(size=n)
    return {
        "one huge outlier": outlier,
        "one value apart": lonely,
        "one value apart, below": -lonely,
        "two points": halves,
        "two points, far from 0": 1e8 + halves,
        "many ties": rng.integers(0, 3, n).astype(float) + lonely,
        "both ends": np.r_[-1e6, 1e6, np.zeros(n - 2)],
        "tiny": 1e-300 * ordinary,
        "huge": 1e300 * ordinary,
        "all orders of magnitude": 10.0 ** np.linspace(-150, 150, n),
        "equally spaced": np.arange(n, dtype=float),
    }


@each("n", SIZES)
def test_features_are_finite(n):
    """Every feature of every sample is a number, also of the strangest samples."""
    samples = _extreme_samples(n)
    found = features(standardise_sorted(np.stack(list(samples.values()))))
    assert found.shape == (len(samples), ODD.size)
    assert found.dtype == np.float64
    for name, row in zip(samples, found, strict=True):
        assert np.isfinite(row).all(), name
    assert np.isfinite(features(_standard(1, 20, n, "standard_cauchy"))).all()
    assert np.abs(found).max() < 1e14


@each("n", [5, 6, 9, 30, 100, 1_000, 10_000])
@each("draw", ["normal", "standard_exponential", "standard_cauchy"])
def test_reversing_the_sign_flips_the_odd_features(n, draw):
    """The features of -x are those of x, but for the sign of the odd ones."""
    z = _standard(2, 20, n, draw)
    straight, reversed_ = features(z), features(-z[:, ::-1])
    scale = np.abs(straight).max(axis=0)  # of each feature, since differences may cancel
    off = np.abs(reversed_ - np.where(ODD, -straight, straight))
    assert (off <= 1e-5 * np.maximum(scale, 1)).all()


def test_odd_features_are_0_for_symmetric_samples():
    """A sample that is its own mirror image has no odd features; its even ones are not all 0."""
    half = np.random.default_rng(3).exponential(size=(10, 20))
    found = features(standardise_sorted(np.hstack([half, -half])))
    np.testing.assert_allclose(found[:, ODD], 0, atol=1e-5)
    assert (np.abs(found[:, ~ODD]).max(axis=0) > 1e-3).all()


@pytest.mark.parametrize("n", [5, 37, 300, 3_000])
def test_a_row_does_not_depend_on_the_others(n, monkeypatch):
    """Alone, in another order, in a larger batch or in other blocks a row has its features."""
    z = _standard(4, 40, n, "standard_exponential")
    found = features(z)
    alone = np.vstack([features(row[None]) for row in z])
    np.testing.assert_array_equal(alone, found)
    np.testing.assert_array_equal(features(z[::-1].copy())[::-1], found)
    strange = np.stack(list(_extreme_samples(n).values()))
    mixed = features(np.vstack([standardise_sorted(strange), z]))
    np.testing.assert_array_equal(mixed[len(strange) :], found)
    for block in (1, 7 * n, 1 << 20):
        monkeypatch.setattr(module, "_BLOCK", block)
        np.testing.assert_array_equal(features(z), found)


def test_samples_are_not_changed():
    """Features are read off; the samples stay as they are, and no rows give no rows."""
    z = _standard(5, 3, 20)
    before = z.copy()
    features(z)
    np.testing.assert_array_equal(z, before)
    assert features(z[:0]).shape == (0, ODD.size)


# The definitions once more, in plain Python and double precision.

N = 37
VALUES = _standard(6, 1, N, "standard_exponential")[0].tolist()
MIRROR = [-value for value in reversed(VALUES)]
EVEN_LINEAR, ODD_LINEAR = 14, 14
MEANS, TAILS = slice(28, 37), slice(37, 43)


def _found(values=VALUES):
    return features(np.array([values]))[0]


def _blom(rank):
    return special.ndtri((rank - 0.375) / (N + 0.25))


def _sorted_features(values):
    """Return the sums by rank, even ones first."""
    ranked = list(enumerate(values, start=1))
    norm = math.sqrt(sum(_blom(rank) ** 2 for rank, _ in ranked))
    even, odd = [sum(_blom(rank) / norm * z for rank, z in ranked)], []
    for order in range(2, 8):  # Legendre polynomials, as in L-moments 3 to 8
        total = sum(special.eval_legendre(order, (2 * rank - 1) / N - 1) * z for rank, z in ranked)
        (even if order % 2 else odd).append(total / N)
    for order in range(2, 6):
        total = sum(special.eval_hermitenorm(order, _blom(rank)) * z for rank, z in ranked)
        (even if order % 2 else odd).append(total / N)
    for j in range(3):
        even.append(values[-1 - j] - values[j])
        odd.append(values[-1 - j] + values[j])
    for deviate in (0.4, 0.8, 1.2, 1.6, 2.0):
        above, below = _quantile(values, deviate), _quantile(values, -deviate)
        even.append(above - below)
        odd.append(above + below)
    odd.append(_quantile(values, 0.0))
    return even, odd


def _quantile(values, deviate):
    """Return the sample quantile of R's type 8, at the normal probability of a deviate."""
    place = special.ndtr(deviate) * (N + 1 / 3) + 1 / 3  # a rank
    place = min(max(place, 1), N)
    below = min(int(place), N - 1)
    share = place - below
    return (1 - share) * values[below - 1] + share * values[below]


def test_the_layout_of_the_features():
    """Sums by rank, means, tails: the definitions below cover every feature."""
    assert ODD.size == 43
    assert ODD.tolist() == (
        [False] * EVEN_LINEAR
        + [True] * ODD_LINEAR
        + [False] * 5
        + [True] * 4
        + [False, False, True, True, False, True]
    )


@pytest.mark.parametrize("values", [VALUES, MIRROR], ids=["sample", "mirror"])
def test_sums_by_rank(values):
    """Shapiro-Francia's sum, L-moments, Hermite sums, extremes and quantiles are as defined."""
    even, odd = _sorted_features(values)
    assert (len(even), len(odd)) == (EVEN_LINEAR, ODD_LINEAR)
    np.testing.assert_allclose(_found(values)[: len(even) + len(odd)], even + odd, rtol=1e-9)


def test_quantiles_are_type_8():
    """Quantiles are those of `numpy.quantile` with the median-unbiased method."""
    for deviate in (-2.0, -1.2, -0.4, 0.0, 0.8, 1.6):
        expected = np.quantile(VALUES, special.ndtr(deviate), method="median_unbiased")
        assert _quantile(VALUES, deviate) == pytest.approx(expected, rel=1e-9)


def _mean(function):
    return sum(function(z) for z in VALUES) / N


def test_means_of_functions():
    """Moments, a logarithm and the characteristic function."""
    even = [abs, lambda z: z**4, lambda z: math.log(1 + z * z)]
    even += [lambda z: math.cos(0.8 * z), lambda z: math.cos(0.8 * z) ** 2]
    odd = [lambda z: z**3, lambda z: z * abs(z)]
    odd += [lambda z: math.sin(0.8 * z), lambda z: math.sin(1.6 * z) / 2]
    np.testing.assert_allclose(_found()[MEANS], [*map(_mean, even + odd)], **ROUNDING)


def _log_odds(z):
    return 1.5976 * z + 0.07056 * z**3


def test_log_odds_are_those_of_the_normal():
    """The cubic gives the normal distribution function to 0.00014."""
    z = np.linspace(-8, 8, 2_001)
    assert np.abs(special.expit(_log_odds(z)) - special.ndtr(z)).max() < 1.5e-4


def test_sums_of_tail_probabilities():
    """As in Anderson-Darling and Zhang, with the cubic in the place of the log odds."""
    log_f = [-math.log1p(math.exp(-_log_odds(z))) for z in VALUES]
    log_s = [-math.log1p(math.exp(_log_odds(z))) for z in VALUES]
    ranks = range(1, N + 1)
    position = [(rank - 0.5) / N for rank in ranks]
    low, high = [], []
    for weight in (
        [(2 * rank - 1) / N**2 for rank in ranks],
        [1 / (N - rank + 0.5) / math.log(N + 1) for rank in ranks],
    ):
        low.append(sum(w * value for w, value in zip(weight, log_f, strict=True)))
        high.append(sum(w * value for w, value in zip(weight[::-1], log_s, strict=True)))
    odds = [
        (above - below - math.log((N - 0.5) / (rank - 0.75) - 1)) ** 2
        for rank, below, above in zip(ranks, log_f, log_s, strict=True)
    ]
    slope = [2 * middle - 1 for middle in position]
    expected = [
        high[0] + low[0],
        high[1] + low[1],
        high[0] - low[0],
        high[1] - low[1],
        sum(odds) / N,
        sum(a * b for a, b in zip(odds, slope, strict=True)) / N,
    ]
    np.testing.assert_allclose(_found()[TAILS], expected, **ROUNDING)


# Samples, standardised once for all statistics

LAWS = ["normal", "uniform", "exponential", "standard_cauchy"]
STATISTICS = [test.function for test in CLASSICAL.values()]


def _rows_of(law, n, rows=3):
    rng = np.random.default_rng([n, LAWS.index(law)])
    return 3 + 2 * getattr(rng, law)(size=(rows, n))


@pytest.mark.parametrize("n", [5, 30, 100, 3000])
def test_a_row_is_the_same_in_any_company(n):
    """A sample's statistics are, to the last bit, those it has alone."""
    wanted = [test.function for test in CLASSICAL.values() if test.smallest <= n]
    samples = np.vstack([_rows_of(law, n) for law in LAWS])
    together = evaluate(samples, wanted)
    alone = [evaluate(row[None], wanted)[:, 0] for row in samples]
    assert (together == np.transpose(alone)).all()


@each("statistic", STATISTICS)
def test_sharing_changes_nothing(statistic):
    """A statistic computed with others is the one computed from the samples alone."""
    samples = _rows_of("exponential", 20)
    together = evaluate(samples, STATISTICS)[STATISTICS.index(statistic)]
    assert (together == statistic(standardise_sorted(samples))).all()


@each("scale", [1e-310, 1e-200, 1e-3, 7.0, 1e150, 1e307])
@each("law", ["normal", "exponential"])
def test_standardising_knows_no_scale(law, scale):
    """Scales whose squares would vanish or overflow are taken out without harm."""
    x = _rows_of(law, 50)
    rounding = 1e-12 if scale > 1e-300 else 1e-10  # the smallest numbers have fewer digits
    assert standardise_sorted(x * scale) == pytest.approx(standardise_sorted(x), abs=rounding)
    assert standardise_sorted(-x) == pytest.approx(-standardise_sorted(x)[:, ::-1], abs=1e-12)


def test_standardised_samples_are_standard():
    """Rows are ascending, with mean 0 and variance 1, far from 0 too; the input is left alone."""
    x = 1e9 + _rows_of("normal", 1000)
    before = x.copy()
    z = standardise_sorted(x)
    assert (x == before).all()
    assert (np.diff(z) >= 0).all()
    assert z.mean(axis=1) == pytest.approx(0.0, abs=1e-12)
    assert z.std(axis=1, ddof=1) == pytest.approx(1.0, abs=1e-12)
