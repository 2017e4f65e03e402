"""The classical tests of normality: their sizes, their symmetries, and what they refuse."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
from cases import each
from scipy import stats
from statsmodels.stats import diagnostic

from ratekeeper.exceptions import InputError
from ratekeeper.normality import CLASSICAL, classical_p_values, classical_test

NAN = float("nan")
GOOD = [0.3, -1.2, 0.8, 2.1, -0.4, 0.1, 1.5, -0.9]
# Up to n = 100 every size has a table, and then ten of each power of 10.
SIZES = [*range(5, 101), *(round(10 ** (2 + k / 10)) for k in range(1, 21))]
TABLES = files("ratekeeper.normality").joinpath("data", "classical.npz")

each_test = pytest.mark.parametrize("test", CLASSICAL.values(), ids=CLASSICAL)


def _normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("n", [5, 10, 37, 100, 150, 1000])
def test_sizes_are_nominal(n):
    """Every test rejects normal samples at the rate alpha, at tabulated sizes and between them.

    Of a threshold, which is an order statistic of the simulated scores, the size follows a Beta
    distribution, so that the number of rejections is beta-binomial. Each of 318 one-sided bounds is
    broken with probability 2e-9.
    """
    count, draws = 4_000 if n == 1000 else 20_000, 199_999 if n <= 100 else 99_999
    found = classical_p_values(_normal([n, 5], count, n))
    assert list(found) == [name for name, test in CLASSICAL.items() if test.smallest <= n]
    for alpha in (0.01, 0.05, 0.1):
        k = round(alpha * (draws + 1))
        law = stats.betabinom(count, k, draws + 1 - k)
        for name, p in found.items():
            rejected = np.count_nonzero(p <= alpha)
            assert law.cdf(rejected) > 2e-9, (name, alpha)
            assert law.sf(rejected - 1) > 2e-9, (name, alpha)


def _reference_p_values(x):
    return {
        "sw": stats.shapiro(x).pvalue,
        "ad": diagnostic.normal_ad(x)[1],
        "lf": diagnostic.lilliefors(x, dist="norm", pvalmethod="table")[1],
    }


@pytest.mark.parametrize("n", [20, 100, 400])  # sizes in the reference's own Lilliefors table
def test_p_values_are_near_approximate_ones(n):
    """Where good approximations of the p-value are known, the tables agree with them."""
    for sample in _normal([n, 7], 20, n):
        for name, expected in _reference_p_values(sample).items():
            assert CLASSICAL[name].p_values(sample) == pytest.approx(expected, abs=0.04), name


@each_test
@each("n", [8, 60, 700])
def test_p_values_fall_as_evidence_grows(test, n):
    """The nearer the statistic is to its ideal, the larger the p-value; both ends are reached."""
    rng = np.random.default_rng(n)
    samples = np.vstack([rng.normal(size=(50, n)), rng.standard_exponential(size=(50, n)) ** 3])
    order = np.argsort(test.statistic(samples))
    p = test.p_values(samples)[order if test.tail == "low" else order[::-1]]
    assert (np.diff(p) >= 0).all()
    assert 0 < p[0] < 0.1
    assert p[-1] > 0.5


@each_test
def test_the_ideal_has_p_value_one(test):
    """The ideal statistic has the p-value 1, also if rounding carries it past the ideal."""
    ideal = test.ideal(20)
    past = ideal + (1e-16 if test.tail == "low" else -1e-16)
    scores = test.log_distance(np.array([ideal, past]), 20)
    assert test.tables.null(20).p_values(scores).tolist() == [1.0, 1.0]


@each_test
@each(("shift", "scale"), [(0, 0.01), (0, 100), (-40, 3), (1e6, 1), (0, -1)])
@each("n", [8, 50, 300])
def test_units_do_not_matter(test, n, shift, scale):
    """A change of origin, of scale or of sign leaves the p-value as it is."""
    samples = _normal([n, 11], 4, n)
    expected = test.p_values(samples)
    assert test.p_values(shift + scale * samples) == pytest.approx(expected, rel=1e-6)


@each_test
def test_samples_may_lie_along_any_axis(test):
    """One sample gives a number, a batch an array of the shape that is left."""
    samples = _normal(13, 2, 3, 30)
    statistic, p = test.statistic(samples), test.p_values(samples)
    assert statistic.shape == p.shape == (2, 3)
    assert (test.statistic(np.moveaxis(samples, -1, 0), axis=0) == statistic).all()
    assert (test.p_values(np.moveaxis(samples, -1, 1), axis=1) == p).all()
    alone = test.p_values(samples[1, 2].tolist())
    assert np.ndim(alone) == 0
    assert alone == p[1, 2]
    assert test.p_values(samples[:0]).shape == (0, 3)


def test_tests_share_their_work():
    """P-values of several tests at once are those of each alone."""
    samples = _normal(17, 5, 25)
    together = classical_p_values(samples)
    assert list(together) == list(CLASSICAL)
    for name, p in together.items():
        assert (p == CLASSICAL[name].p_values(samples)).all()
    assert list(classical_p_values(samples, "za")) == ["za"]
    assert list(classical_p_values(samples, ["zc", "sw"])) == ["zc", "sw"]
    assert "k2" not in classical_p_values(samples[:, :7])


@each_test
def test_the_result_of_one_test(test):
    """`classical_test` says the statistic, the p-value and the sample size."""
    result = classical_test(GOOD, test.name)
    assert (result.statistic, result.pvalue) == (test.statistic(GOOD), test.p_values(GOOD))
    assert result.n == 8
    assert type(result.statistic) is type(result.pvalue) is float


def test_whole_numbers_and_single_precision_are_samples():
    """Numbers of any real kind are read."""
    whole = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    expected = classical_test(whole.tolist(), "sw")
    for dtype in (np.uint8, np.int64, np.float16, np.float32, np.longdouble, object):
        assert classical_test(whole.astype(dtype), "sw") == expected


# What is wrong, and what the refusal must say.
BAD = {
    "NaN": ([*GOOD, NAN], ["1 value", "nan at position 8 of the sample", "finite", "drop"]),
    "infinite": ([[*GOOD, np.inf, -np.inf]] * 2, ["4 values", "inf at position 8 of sample 0"]),
    "missing": ([*GOOD, None], ["nan at position 8", "drop"]),
    "masked": (np.ma.masked_greater(GOOD, 2), ["nan at position 3", "drop"]),
    "constant": ([7.5] * 9, ["All 9 values of the sample are 7.5", "variance is 0", "vary"]),
    "one constant": ([GOOD, [0.1] * 8], ["of sample 1 are 0.1", "leave this sample out"]),
    "constant in a cube": (np.ones((2, 3, 9)), ["of sample (0, 0) are 1.0"]),
    "too small": (GOOD[:4], ["n = 4 is too small", "at least 5", "Collect more"]),
    "empty": ([], ["n = 0 is too small"]),
    "too large": (np.arange(10_001.0), ["n = 10,001", "10,000", "subsample"]),
    "text": (["a"] * 9, ["values", "sample of numbers", "Convert to float"]),
    "complex": (np.array(GOOD) * 1j, ["complex128 values", "Convert to float"]),
    "booleans": ([True, False] * 4, ["bool values", "Convert to float"]),
    "ragged": ([GOOD, GOOD[:5]], ["cannot be read as numbers", "sample of numbers"]),
    "an object": (object(), ["cannot be read as numbers", "sample of numbers"]),
    "a number": (0.5, ["a single value, 0.5", "sample of numbers"]),
}


@each(("samples", "words"), BAD.values())
def test_bad_samples_are_refused(samples, words):
    """Every refusal says the value, the need and the remedy."""
    for judge in (CLASSICAL["sw"].statistic, CLASSICAL["bhep"].p_values, classical_p_values):
        with pytest.raises(InputError) as error:
            judge(samples)
        assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("judge", [CLASSICAL["k2"].p_values, lambda x: classical_test(x, "k2")])
def test_k2_needs_eight_values(judge):
    """K2 is refused below n = 8, with another test as the remedy."""
    with pytest.raises(InputError, match=r"n = 7: .* at least 8 values.* such as 'sw'"):
        judge(GOOD[:7])


def test_bad_arguments_are_refused():
    """Unknown tests, axes that do not exist and tables of samples are named."""
    with pytest.raises(InputError, match=r"name='ks' must be a classical test.* 'sw', .* 'bhep'"):
        classical_test(GOOD, "ks")
    with pytest.raises(InputError, match=r"name=\['sw'\] must be a classical test"):
        classical_p_values(GOOD, [["sw"]])
    with pytest.raises(InputError, match=r"axis=1 does not exist .* from -1 to 0"):
        CLASSICAL["sw"].p_values(GOOD, axis=1)
    with pytest.raises(InputError, match=r"shape \(2, 8\).*CLASSICAL\['ad'\]\.p_values"):
        classical_test([GOOD, GOOD], "ad")


def test_the_tables_are_small_and_whole():
    """The file is below 600 kB, loads without pickle, and holds the levels that people use."""
    assert len(TABLES.read_bytes()) < 600_000
    with TABLES.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        assert arrays["sizes"].tolist() == SIZES
        usual = {0.001, 0.0025, 0.005, 0.01, 0.02, 0.025, 0.05, 0.1, 0.2, 0.25, 0.5}
        assert usual <= set(arrays["levels"].tolist())
        for name, test in CLASSICAL.items():
            kept = arrays[name]
            assert kept.dtype == np.float32
            assert len(kept) == np.count_nonzero(arrays["sizes"] >= test.smallest)
            # Most extreme first; infinities where fewer samples cannot show a level.
            assert (kept[:, :-1] >= kept[:, 1:]).all()
            assert np.isfinite(kept[arrays["sizes"][-len(kept) :] <= 100]).all()
