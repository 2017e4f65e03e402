"""The neural tests of normality as users meet them: shapes, invariance, refusals, decisions."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from cases import each
from hypothesis import given, settings, strategies as st

from ratekeeper.exceptions import InputError
from ratekeeper.normality import ALTERNATIVES, normality_test, normality_tests

NAN = float("nan")
GOOD = [0.3, -1.2, 0.8, 2.1, -0.4, 0.1, 1.5, -0.9]
SAME = {"rtol": 0, "atol": 1e-6}  # of p-values that are equal but for rounding
DRAWS = ("normal", "uniform", "standard_exponential", "standard_cauchy")

each_alternative = pytest.mark.parametrize("alternative", ALTERNATIVES)


def _samples(seed, rows, n):
    """Return rows of several distributions."""
    rng = np.random.default_rng([seed, n])
    return np.vstack([getattr(rng, DRAWS[i % 4])(size=n) for i in range(rows)])


@each_alternative
@each("n", [5, 7, 50])
def test_the_result_has_the_shape_of_scipys(alternative, n):
    """One sample gives two floats, by name and by unpacking."""
    result = normality_test(_samples(1, 1, n)[0], alternative=alternative)
    statistic, pvalue = result
    assert (statistic, pvalue) == (result.statistic, result.pvalue)
    assert type(statistic) is type(pvalue) is type(result.p0) is type(result.ties) is float
    assert (type(result.n), result.n) == (int, n)
    assert result.alternative == alternative
    assert 0 < pvalue <= 1
    assert np.isfinite(statistic)


@each_alternative
def test_samples_may_lie_along_any_axis(alternative):
    """A batch gives arrays of the shape that is left; negative axes count from the end."""
    samples = _samples(2, 6, 20).reshape(2, 3, 20)
    expected = normality_test(samples, axis=-1, alternative=alternative)
    for array in (expected.statistic, expected.pvalue, expected.p0, expected.ties):
        assert array.shape == (2, 3)
        assert array.dtype == np.float64
    assert expected.n == 20
    for axis in range(-3, 3):
        moved = normality_test(np.moveaxis(samples, -1, axis), axis=axis, alternative=alternative)
        np.testing.assert_allclose(moved.pvalue, expected.pvalue, **SAME)
    first = normality_test(samples[0].T, alternative=alternative)  # columns, if nothing is said
    np.testing.assert_allclose(first.pvalue, expected.pvalue[0], **SAME)
    assert normality_test(samples[:, :0], axis=2).pvalue.shape == (2, 0)


@each_alternative
@each("n", [5, 9, 20, 50, 300])
def test_a_batch_gives_what_its_samples_give(alternative, n):
    """Together, one by one or in another memory layout, samples have the same p-values."""
    samples = _samples(3, 24, n)
    together = normality_test(samples, axis=1, alternative=alternative)
    alone = [normality_test(sample, alternative=alternative) for sample in samples]
    for name in ("statistic", "pvalue", "p0", "ties"):
        ours = [getattr(one, name) for one in alone]
        np.testing.assert_array_equal(getattr(together, name), ours)
    turned = normality_test(np.asfortranarray(samples), axis=1, alternative=alternative)
    np.testing.assert_array_equal(turned.pvalue, together.pvalue)


@pytest.mark.parametrize("n", [5, 20, 51, 400, 2_000])
def test_no_company_changes_a_bit(n):
    """In batches of any size and at any place in them, on one core or all, bits are the same."""
    samples = _samples(8, 260 if n < 400 else 40, n)
    alone = np.array([normality_test(sample).statistic for sample in samples])
    for size in (2, 3, 7, 8, 9, 15, 16, 17, 31, 64, 129, 260):
        for start in (0, 1, 5):
            part = samples[start : start + size]
            found = normality_test(part, axis=1).statistic
            np.testing.assert_array_equal(found, alone[start : start + size])
    many = normality_test(np.tile(samples, (2 + 140_000 // samples.size, 1)), axis=1).statistic
    np.testing.assert_array_equal(
        many.reshape(-1, len(samples)), np.tile(alone, (len(many) // len(alone), 1))
    )
    np.testing.assert_array_equal(normality_tests(list(samples)).statistic, alone)


@pytest.mark.parametrize("n", [1_000, 10_000])
def test_large_samples_do_not_depend_on_the_batch(n):
    """The sums over long samples are as stable as those over short ones."""
    samples = np.random.default_rng(n).normal(size=(12, n))
    together = normality_test(samples, axis=1)
    alone = [normality_test(sample).pvalue for sample in samples]
    np.testing.assert_array_equal(together.pvalue, alone)
    for other in (np.asfortranarray(samples), -samples, samples[:, ::-1]):
        found = normality_test(other, axis=1).pvalue
        np.testing.assert_allclose(found, together.pvalue, rtol=0, atol=1e-5)


@each_alternative
def test_samples_of_different_sizes_keep_their_order(alternative):
    """A list of samples gives what each gives alone, in order."""
    rng = np.random.default_rng(4)
    samples = [rng.normal(size=n) for n in (20, 5, 50, 20, 33, 7, 5)]
    result = normality_tests(samples, alternative=alternative)
    assert result.n.tolist() == [20, 5, 50, 20, 33, 7, 5]
    assert result.alternative == alternative
    alone = [normality_test(sample, alternative=alternative) for sample in samples]
    for name in ("pvalue", "p0", "ties"):
        expected = [getattr(one, name) for one in alone]
        np.testing.assert_allclose(getattr(result, name), expected, **SAME)
    lists = normality_tests([sample.tolist() for sample in samples], alternative=alternative)
    np.testing.assert_array_equal(lists.pvalue, result.pvalue)
    assert normality_tests([]).pvalue.shape == (0,)


@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([5, 6, 10, 17, 31, 50]),
    alternative=st.sampled_from(ALTERNATIVES),
    exponent=st.floats(-6, 6),
    shift=st.floats(-100, 100),
)
@settings(max_examples=200)
def test_units_do_not_matter(seed, n, alternative, exponent, shift):
    """A change of origin, of scale, of sign or of order leaves p as it is."""
    samples = _samples(seed, 4, n)
    samples = samples[(np.ptp(samples, axis=1) < 1e4)]  # else a shift would eat the small values
    expected = normality_test(samples, axis=1, alternative=alternative).pvalue
    order = np.random.default_rng(seed).permutation(n)
    for other in (
        10.0**exponent * (samples + shift),
        10.0**exponent * samples + shift * 10.0**exponent,
        -samples,
        -(10.0**exponent) * samples,
        samples[:, order],
    ):
        found = normality_test(other, axis=1, alternative=alternative).pvalue
        np.testing.assert_allclose(found, expected, **SAME)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("n", [6, 20])
def test_extreme_units_do_not_matter(n, scale):
    """Neither nearly vanishing nor nearly overflowing values change p."""
    samples = np.random.default_rng(n).normal(size=(8, n))
    expected = normality_test(samples, axis=1).pvalue
    np.testing.assert_allclose(normality_test(scale * samples, axis=1).pvalue, expected, **SAME)


def test_all_kinds_of_columns_are_samples():
    """Lists, tuples, integers, single precision and columns of tables are read."""
    expected = normality_test(GOOD)
    for same in (
        tuple(GOOD),
        np.array(GOOD),
        pd.Series(GOOD),
        pl.Series(GOOD),
        np.array(GOOD, object),
    ):
        assert normality_test(same).pvalue == expected.pvalue
    single = normality_test(np.array(GOOD, dtype=np.float32))
    assert single.pvalue == pytest.approx(expected.pvalue, abs=1e-5)
    whole = [3, 1, 4, 15, 9, 26, 5]
    expected = normality_test(np.array(whole, dtype=float))
    for dtype in (np.uint8, np.int16, np.int64, np.float32, np.longdouble):
        assert normality_test(np.array(whole, dtype=dtype)).pvalue == expected.pvalue
    for same in (whole, pd.Series(whole), pl.Series(whole), pd.Series(whole, dtype="Int64")):
        assert normality_test(same).pvalue == expected.pvalue


def test_columns_of_tables_are_samples():
    """A table gives one result for each column."""
    samples = _samples(5, 3, 30)
    expected = normality_test(samples, axis=1).pvalue
    columns = dict(zip("abc", samples, strict=True))
    for table in (pd.DataFrame(columns), pl.DataFrame(columns)):
        np.testing.assert_allclose(normality_test(table).pvalue, expected, **SAME)
    rows = normality_test(pd.DataFrame(columns).T, axis=1)
    np.testing.assert_allclose(rows.pvalue, expected, **SAME)


# What is wrong, and what the refusal must say.
BAD = {
    "NaN": ([*GOOD, NAN], ["1 value", "nan at position 8 of the sample", "finite", "drop"]),
    "infinite": ([*GOOD, np.inf, -np.inf], ["2 values", "inf at position 8", "finite", "drop"]),
    "missing": ([*GOOD, None], ["nan at position 8", "drop"]),
    "missing in pandas": (pd.Series([1, 2, 3, None, 5, 6], dtype="Int64"), ["position 3", "drop"]),
    "missing in polars": (pl.Series([1, 2, 3, None, 5, 6]), ["position 3", "drop"]),
    "constant": ([7.5] * 9, ["All 9 values of the sample are 7.5", "variance is 0", "vary"]),
    "too small": (GOOD[:4], ["n = 4 is too small", "at least 5", "Collect more"]),
    "empty": ([], ["n = 0 is too small", "at least 5"]),
    "too large": (np.arange(10_001.0), ["n = 10,001", "reach (10,000)", "subsample", "rng.choice"]),
    "text": (["a"] * 9, ["values", "sample of numbers", "Convert to float"]),
    "numbers as text": (["1", "2", "3", "4", "6"], ["sample of numbers", "Convert to float"]),
    "numbers as text in pandas": (pd.Series(["1", "2", "3", "4", "6"]), ["numbers"]),
    "text in pandas": (pd.Series(list("abcdef")), ["numbers"]),
    "text in polars": (pl.Series(list("abcdef")), ["numbers", "Convert to float"]),
    "one word": ("normal", ["numbers"]),
    "complex": (np.array(GOOD) * 1j, ["complex128 values", "Convert to float"]),
    "booleans": ([True, False] * 4, ["bool values", "Convert to float"]),
    "dates": (np.arange(9).astype("datetime64[D]"), ["datetime64", "Convert to float"]),
    "ragged": ([GOOD, GOOD[:5]], ["cannot be read as numbers", "sample of numbers"]),
    "a number": (0.5, ["a single value, 0.5", "sample of numbers"]),
    "nothing": (None, ["a single value", "sample of numbers"]),
    "a generator": ((x for x in GOOD), ["cannot be read as numbers", "sample of numbers"]),
}


@each(("sample", "words"), BAD.values())
def test_bad_samples_are_refused(sample, words):
    """Every refusal says the value, the need and the remedy, and in a list which sample it is."""
    with pytest.raises(InputError) as error:
        normality_test(sample)
    assert all(word in str(error.value) for word in words), error.value
    if "generator" in str(type(sample)):
        return
    with pytest.raises(InputError) as error:
        normality_tests([GOOD, sample])
    assert "Sample 1" in str(error.value)


def test_bad_members_of_a_batch_are_named():
    """In a batch the refusal says which sample is bad, by its place among the others."""
    batch = np.tile(GOOD, (2, 3, 1))
    batch[1, 2, 4] = NAN
    with pytest.raises(InputError, match=r"nan at position 4 of sample \(1, 2\)"):
        normality_test(batch, axis=2)
    batch[1, 2] = 3.0
    with pytest.raises(InputError, match=r"of sample \(1, 2\) are 3.0.*leave this sample out"):
        normality_test(batch, axis=2)
    with pytest.raises(InputError, match=r"Sample 1 has shape \(2, 8\).*normality_test with axis"):
        normality_tests([GOOD, [GOOD, GOOD]])


@pytest.mark.parametrize("axis", [1, -2, 7])
def test_axes_that_do_not_exist_are_refused(axis):
    """The refusal says the shape and the axes that there are."""
    with pytest.raises(InputError, match=rf"axis={axis} does not exist .*\(8,\).* from -1 to 0"):
        normality_test(GOOD, axis=axis)


@pytest.mark.parametrize("axis", ["0", None, 0.5, (0, 1)])
def test_an_axis_is_a_whole_number(axis):
    """What cannot be an axis is refused by name."""
    with pytest.raises(InputError, match="axis="):
        normality_test([GOOD, GOOD], axis=axis)


@pytest.mark.parametrize("alternative", ["two-sided", "Omnibus", "", None, 1, ["heavy"]])
def test_unknown_alternatives_are_refused(alternative):
    """The refusal lists the alternatives."""
    for judge in (normality_test, lambda x, **kind: normality_tests([x], **kind)):
        with pytest.raises(InputError) as error:
            judge(GOOD, alternative=alternative)
        words = ("alternative=", "must be", '"omnibus", "heavy", "skewed", "light"')
        assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("policy", ["drop", "", None, 0, ["omit"]])
def test_unknown_policies_are_refused(policy):
    """The refusal lists the policies."""
    with pytest.raises(InputError, match=r'nan_policy=.* must be "raise", "omit" or "prop'):
        normality_test(GOOD, nan_policy=policy)


def test_missing_values_can_be_left_out():
    """With "omit" a sample is what remains of it; what does not remain is refused."""
    batch = _samples(6, 4, 20)
    batch[0, 3] = batch[2, 0] = batch[2, 19] = NAN
    result = normality_test(batch, axis=1, nan_policy="omit")
    assert result.n.tolist() == [19, 20, 18, 20]
    alone = [normality_test(row[~np.isnan(row)]).pvalue for row in batch]
    np.testing.assert_allclose(result.pvalue, alone, **SAME)
    cube = normality_test(batch.T.reshape(20, 2, 2), axis=0, nan_policy="omit")
    np.testing.assert_allclose(cube.pvalue, result.pvalue.reshape(2, 2), **SAME)
    assert cube.n.tolist() == [[19, 20], [18, 20]]
    one = normality_test([*GOOD, None], nan_policy="omit")
    assert type(one.pvalue) is float
    assert (one.n, one.pvalue) == (8, normality_test(GOOD).pvalue)
    with pytest.raises(InputError, match="n = 4 is too small"):
        normality_test([*GOOD[:4], NAN, NAN], nan_policy="omit")
    with pytest.raises(InputError, match="inf at position"):
        normality_test([*GOOD, np.inf, NAN], nan_policy="omit")


def test_missing_values_can_be_passed_on():
    """With "propagate" samples with NaN have NaN, and the others what they have without them."""
    batch = _samples(7, 4, 20)
    expected = normality_test(batch, axis=1)
    batch[1, 3] = NAN
    result = normality_test(batch, axis=1, nan_policy="propagate")
    for name in ("statistic", "pvalue", "p0", "ties"):
        found, whole = getattr(result, name), getattr(expected, name)
        assert np.isnan(found).tolist() == [False, True, False, False]
        np.testing.assert_allclose(found[[0, 2, 3]], whole[[0, 2, 3]], rtol=1e-5, atol=1e-6)
    one = normality_test(batch[1], nan_policy="propagate")
    assert type(one.pvalue) is float
    assert np.isnan([one.statistic, one.pvalue, one.p0]).all()
    assert one.caution is None
    assert np.isnan(
        normality_test(np.full((3, 20), NAN), axis=1, nan_policy="propagate").pvalue
    ).all()
    for policy in ("omit", "propagate"):
        whole = normality_test(GOOD, nan_policy=policy)
        assert whole.pvalue == pytest.approx(normality_test(GOOD).pvalue, abs=1e-6)
    with pytest.raises(InputError, match="inf at position 8"):
        normality_test([*GOOD, np.inf], nan_policy="propagate")


def test_passing_on_names_the_right_sample():
    """A refusal counts all samples, those with NaN too."""
    batch = _samples(8, 3, 20)
    batch[0, 3], batch[2, 5] = NAN, np.inf
    with pytest.raises(InputError, match="inf at position 5 of sample 2"):
        normality_test(batch, axis=1, nan_policy="propagate")


def test_rounded_samples_are_flagged():
    """Many equal values are said, in `.ties`, `.caution` and the repr; few are not."""
    rng = np.random.default_rng(9)
    fine = rng.normal(size=50)
    result = normality_test(fine)
    assert result.ties == 0
    assert result.caution is None
    assert "caution" not in repr(result)
    coarse = normality_test(fine.round())
    assert coarse.ties > 0.7
    for word in ("many equal values", f"{coarse.ties:.0%}", "rounding", "noise"):
        assert word in coarse.caution
        assert word in repr(coarse)
    assert normality_test(np.r_[fine, fine[:2]][:50]).caution is None
    batch = normality_test([fine, fine.round(), fine, fine.round()], axis=1)
    assert batch.caution.startswith("2 samples have")
    assert batch.caution in " ".join(repr(batch).split())
    assert max(map(len, repr(batch).splitlines())) < 80
    assert normality_test(np.r_[1e20, np.arange(9.0)]).ties == 0  # far apart is not equal


def test_a_caution_is_about_whole_samples():
    """Samples with NaN neither hide a caution nor spoil its numbers."""
    fine = np.random.default_rng(10).normal(size=30)
    rows = [fine.round(), np.r_[NAN, fine[1:]]]
    caution = normality_test(rows, axis=1, nan_policy="propagate").caution
    assert caution.startswith("1 sample has many equal values")
    assert "nan" not in caution


@each_alternative
@each("n", [5, 12, 50])
def test_the_two_p_values_move_against_each_other(alternative, n):
    """Over samples of one size p0 never rises where p1 rises; both are in (0, 1]."""
    result = normality_test(_samples(11, 200, n), axis=1, alternative=alternative)
    order = np.argsort(result.statistic)
    p1, p0 = result.pvalue[order], result.p0[order]
    assert (np.diff(p1) <= 0).all()
    assert (np.diff(p0) >= 0).all()
    for p in (p0, p1):
        assert (p > 0).all()
        assert (p <= 1).all()
        assert np.unique(p).size > 50


def _results(alternative):
    rng = np.random.default_rng(12)
    yield normality_test(rng.normal(size=20), alternative=alternative)
    yield normality_test(rng.exponential(size=50) ** 2, alternative=alternative)
    yield normality_test(_samples(12, 60, 20), axis=1, alternative=alternative)
    yield normality_test(_samples(13, 60, 9).reshape(3, 20, 9), axis=2, alternative=alternative)
    sizes = np.tile([5, 6, 20, 50, 31], 20)
    yield normality_tests([_samples(n, 2, n)[n % 2] for n in sizes], alternative=alternative)
    yield normality_tests([rng.normal(size=n) for n in sizes], alternative=alternative)


@each_alternative
@each("alpha", [0.01, 0.05, 0.1234, 0.5])
def test_decisions_are_p_values_against_alpha(alternative, alpha):
    """One sample, a batch and a list are decided as their p-values say, for either rate."""
    for result in _results(alternative):
        pvalue, p0 = np.ravel(result.pvalue), np.ravel(result.p0)
        usual = result.decide(alpha)
        expected = np.where(pvalue <= alpha, "non-normal", "normal")
        np.testing.assert_array_equal(usual.labels, expected)
        np.testing.assert_array_equal(result.decide(alpha, "fnr").labels, expected)
        np.testing.assert_array_equal(usual.p_values.p1, pvalue)
        np.testing.assert_array_equal(usual.p_values.p0, p0)
        other = result.decide(alpha, control="fpr")
        expected = np.where(p0 <= alpha, "normal", "non-normal")
        np.testing.assert_array_equal(other.labels, expected)


def test_no_samples_give_no_decisions():
    """An empty batch is decided: there is nothing to say."""
    for result in (normality_tests([]), normality_test(np.empty((0, 20)), axis=1)):
        assert result.p0.shape == (0,)
        assert result.decide(0.05).labels.shape == (0,)


def test_impossible_decisions_are_refused():
    """Alpha must be a rate that the tables reach, and the rate one of two."""
    result = normality_test(GOOD)
    for alpha in (0, 1, -0.1, NAN, "5"):
        with pytest.raises(InputError, match="alpha="):
            result.decide(alpha)
    with pytest.raises(InputError, match="control='fdr' must be \"fnr\""):
        result.decide(0.05, "fdr")
    with pytest.raises(InputError) as error:
        result.decide(1e-9)
    assert all(word in str(error.value) for word in ("alpha=1e-09", "must be at least")), (
        error.value
    )
    missing = normality_test([*GOOD, NAN], nan_policy="propagate")
    with pytest.raises(InputError, match="NaN"):
        missing.decide(0.05)


@each_alternative
def test_the_population_is_stated(alternative):
    """Every alternative says in words what p0 is relative to."""
    population = normality_test(GOOD, alternative=alternative).population
    assert population.endswith(".")
    assert len(population.split()) > 5
    kind = {"heavy": "heavier tails", "skewed": "skewed", "light": "lighter tails"}
    assert kind.get(alternative, "") in population


def test_alternatives_look_for_different_things():
    """A directed test finds its own departure more often than those of the others."""
    rng = np.random.default_rng(14)
    departures = {
        "heavy": rng.standard_t(2, size=(400, 50)),
        "skewed": rng.exponential(size=(400, 50)),
        "light": rng.uniform(size=(400, 50)),
    }
    for own, samples in departures.items():
        power = {
            kind: np.mean(normality_test(samples, axis=1, alternative=kind).pvalue <= 0.05)
            for kind in departures
        }
        assert max(power, key=power.get) == own
        assert power[own] > 0.5


def test_departures_are_found():
    """The omnibus test finds gross departures of every kind."""
    rng = np.random.default_rng(15)
    for samples in (
        rng.standard_cauchy(size=(200, 50)),
        rng.exponential(size=(200, 50)),
        rng.beta(0.5, 0.5, size=(200, 50)),
        rng.normal(size=(200, 50)) + 6 * rng.integers(0, 2, (200, 50)),
    ):
        assert np.mean(normality_test(samples, axis=1).pvalue <= 0.05) > 0.8


def test_results_read_well_and_travel():
    """The repr says the test, the size and the p-value; a pickle gives the same result."""
    one = normality_test(GOOD, alternative="heavy")
    assert "heavy" in repr(one)
    assert "n = 8" in repr(one)
    assert f"{one.pvalue:.4g}" in repr(one)
    batch = normality_test(_samples(16, 9, 20), axis=1)
    assert "9 samples" in repr(batch)
    assert ", ..." in repr(batch)
    again = pickle.loads(pickle.dumps(batch))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again.pvalue, batch.pvalue)
    np.testing.assert_array_equal(again.p0, batch.p0)


@each_alternative
@each("n", [12, 100, 105, 10_000])
def test_the_smallest_p_value_is_said_to_be_a_bound(alternative, n):
    """It is 1 in 250,000 at every n, and is printed as a bound, alone and among others."""
    far = np.random.default_rng(0).normal(size=n)
    far[:2] = 1e9, -1e9
    if alternative == "skewed":
        far[1] = 1e9
    if alternative == "light":
        far = np.repeat([0.0, 1.0], [n // 2, n - n // 2])
    result = normality_test(far, alternative=alternative)
    assert result.smallest_pvalue == pytest.approx(1 / 250_000)
    assert (result.pvalue == result.smallest_pvalue) == ("< 4e-06" in repr(result))
    if n > 12:
        assert result.pvalue == result.smallest_pvalue
    both = normality_test([far, far], axis=1, alternative=alternative)
    assert repr(both).count("< 4e-06") == 2 * ("< 4e-06" in repr(result))
    assert "<" not in repr(normality_test(GOOD, alternative=alternative))


@pytest.mark.parametrize("samples", [None, 3, 0.5])
def test_what_is_no_list_of_samples_is_refused(samples):
    """Many samples are a sequence of samples."""
    with pytest.raises(InputError, match="samples"):
        normality_tests(samples)


def test_samples_are_not_changed():
    """The caller's array stays as it is."""
    samples = _samples(17, 3, 20)
    before = samples.copy()
    normality_test(samples, axis=1).decide(0.05)
    normality_tests(list(samples))
    np.testing.assert_array_equal(samples, before)


def test_large_batches_at_once_leave_blas_as_it_was():
    """Threads of the caller may judge batches together; BLAS has its threads back afterwards."""
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_info, threadpool_limits

    def threads():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    samples = np.random.default_rng(0).normal(size=(3_000, 60))
    with threadpool_limits(2, user_api="blas"):  # tests otherwise run with one
        before = threads()
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda _: normality_test(samples, axis=1).pvalue, range(12)))
        assert threads() == before
    assert set(before) <= {2}
    assert all(np.array_equal(p, found[0]) for p in found)
