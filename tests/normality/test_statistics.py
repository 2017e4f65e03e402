"""The classical statistics against other implementations and against their formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import each
from scipy import stats
from statsmodels.stats import diagnostic

from ratekeeper.exceptions import InputError
from ratekeeper.normality import CLASSICAL

SIZES = [5, 8, 20, 50, 200, 1000]
LAWS = ["normal", "uniform", "exponential", "standard_cauchy"]

each_size = each("n", SIZES)
each_law = each("law", LAWS)


def _samples(law, n, rows=3):
    rng = np.random.default_rng([n, LAWS.index(law)])
    return 3 + 2 * getattr(rng, law)(size=(rows, n))


def _agrees(name, reference, law, n, **tolerance):
    samples = _samples(law, n)
    expected = [reference(x) for x in samples]
    found = CLASSICAL[name].statistic(samples)
    assert found == pytest.approx(expected, **(tolerance or {"rel": 1e-9}))


@each_law
@each("n", [*SIZES, 6, 7, 4999])
def test_shapiro_wilk_is_that_of_scipy(n, law):
    """W is SciPy's, whose weights are in part single precision."""
    _agrees("sw", lambda x: stats.shapiro(x).statistic, law, n, abs=1e-8)


@each_law
@each_size
def test_shapiro_francia_is_a_squared_correlation(n, law):
    """W' is the squared correlation of the sorted sample with Blom's normal scores."""
    scores = stats.norm.ppf((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    _agrees("sf", lambda x: np.corrcoef(np.sort(x), scores)[0, 1] ** 2, law, n)


@each_law
@each_size
def test_anderson_darling_is_that_of_scipy(n, law):
    """A squared is SciPy's, also where the sample has far outliers."""

    def reference(x):
        return stats.anderson(x, method="interpolate").statistic

    _agrees("ad", reference, law, n)


@each("law", ["normal", "uniform"])  # 1 - Phi loses its digits in far tails
@each_size
def test_anderson_darling_is_that_of_statsmodels(n, law):
    """A squared is that of statsmodels, where that is accurate."""
    _agrees("ad", lambda x: diagnostic.normal_ad(x)[0], law, n)


@each_law
@each_size
def test_lilliefors_is_that_of_statsmodels(n, law):
    """The largest distance is that of statsmodels."""
    _agrees("lf", lambda x: diagnostic.lilliefors(x)[0], law, n)


@each_law
@each_size
def test_jarque_bera_is_that_of_scipy(n, law):
    """The statistic is SciPy's."""
    _agrees("jb", lambda x: stats.jarque_bera(x).statistic, law, n)


@pytest.mark.filterwarnings("ignore:.*kurtosistest:UserWarning")  # of older SciPy, below n = 20
@each_law
@each("n", SIZES[1:])
def test_k2_is_that_of_scipy(n, law):
    """K squared is SciPy's."""
    _agrees("k2", lambda x: stats.normaltest(x).statistic, law, n)


@pytest.mark.parametrize("n", [5, 6, 7])
def test_k2_is_refused_where_it_is_not_defined(n):
    """Below n = 8 the skewness has no such transformation, and the error says so."""
    with pytest.raises(InputError, match=f"not defined for n = {n}: .* at least 8 values"):
        CLASSICAL["k2"].statistic(_samples("normal", n))


def _zhang(x):
    """ZA and ZC term by term, as they are printed."""
    n = len(x)
    law = stats.norm(np.mean(x), np.std(x, ddof=1))
    za = zc = 0.0
    for i, value in enumerate(sorted(x), start=1):
        below, above = law.logcdf(value), law.logsf(value)
        za -= below / (n - i + 0.5) + above / (i - 0.5)
        zc += (above - below - math.log((n - 0.5) / (i - 0.75) - 1)) ** 2
    return za, zc


@each_law
@each_size
def test_zhang_statistics_are_their_formulas(n, law):
    """ZA and ZC are their printed sums."""
    samples = _samples(law, n)
    expected = np.transpose([_zhang(x) for x in samples])
    found = np.array([CLASSICAL[name].statistic(samples) for name in ("za", "zc")])
    assert found == pytest.approx(expected, rel=1e-9)


@each_law
@each_size
def test_zhang_a_has_a_floor(n, law):
    """ZA is never below its floor, and reaches it at the ideal probabilities."""
    floor = CLASSICAL["za"].ideal(n)
    assert (CLASSICAL["za"].statistic(_samples(law, n)) > floor).all()
    ideal = stats.norm.ppf((np.arange(n) + 0.5) / n)[None]
    assert CLASSICAL["za"].function(ideal)[0] == pytest.approx(floor, rel=1e-12)


def _bhep(x):
    """Sum over all pairs, as it is printed, with divisor n in the variance."""
    n, y = len(x), (x - np.mean(x)) / np.std(x)
    pairs = sum(np.exp(-((y - one) ** 2) / 2).sum() for one in y)
    return pairs / n - math.sqrt(2) * np.exp(-(y**2) / 4).sum() + n / math.sqrt(3)


@each_law
@each("n", [*SIZES, 40, 41, 100, 3000])
def test_bhep_is_its_double_sum(n, law):
    """The integral that is computed for larger samples is the double sum."""
    _agrees("bhep", _bhep, law, n, abs=1e-7)


@pytest.mark.thorough
@each("outliers", [[1e6], [1e6, -1e6], [15.0], [40.0, -40.0]])
@each("n", [41, 70, 500, 10_000])
def test_bhep_sees_far_outliers(n, outliers):
    """Samples too wide for the usual nodes are computed as accurately."""
    x = np.random.default_rng(n).normal(size=n)
    x[: len(outliers)] = outliers
    assert CLASSICAL["bhep"].statistic(x) == pytest.approx(_bhep(x), abs=1e-7)


@pytest.mark.parametrize("n", [41, 200])
def test_bhep_of_few_values_is_its_double_sum(n):
    """The slowest characteristic functions, those of two or three values, are followed too."""
    two = np.repeat([0.0, 1.0], [n // 2, n - n // 2])
    three = np.r_[-1.0, np.zeros(n - 2), 1.0]
    found = CLASSICAL["bhep"].statistic([two, three])
    assert found == pytest.approx([_bhep(two), _bhep(three)], abs=1e-7)
