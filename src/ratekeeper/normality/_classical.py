"""The classical tests of normality under one interface, with p-values of one kind.

Textbook p-values of these tests are approximations of very different quality: at n = 10 the usual
Jarque-Bera test at 5% rejects 1% of normal samples. Here every test reads its p-values off the
same kind of table, simulated for its sample size, so that sizes agree and powers can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.exceptions import InputError
from ratekeeper.normality import _statistics as statistics
from ratekeeper.normality._bhep import bhep
from ratekeeper.normality._samples import read_samples
from ratekeeper.normality._statistics import K2_SMALLEST
from ratekeeper.normality._tables import SMALLEST, NullTables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Tail

    Array = NDArray[np.float64]


def _zero(_n: int) -> float:
    return 0.0


def _one(_n: int) -> float:
    return 1.0


@dataclass(frozen=True)
class ClassicalTest:
    """One classical test of normality; `CLASSICAL` holds them all.

    Attributes
    ----------
    name : str
        Short name, the key in `CLASSICAL`.
    title : str
        Name in words.
    function : callable
        The statistic of sorted standardised samples; see `ratekeeper.normality._statistics`.
    tail : {"low", "high"}
        Which values of the statistic are evidence against normality.
    ideal : callable
        Gives, for n, the value of the statistic that agrees with normality best.
    smallest : int
        Smallest sample size for which the statistic is defined.

    Notes
    -----
    **Guarantee.** For a sample of n independent values of one normal distribution,
    ``P(p <= alpha) = alpha`` up to the Monte Carlo error of the shipped tables and, for n above
    100 that is not tabulated, a smaller error of interpolation. Tables hold 199,999 simulated
    samples for n up to 100, 99,999 up to 1,000 and 39,999 above, so that the standard error of a
    size of 5% is 0.05, 0.07 and 0.11 percentage points. No p-value is below 1 in 200,000, 100,000
    and 40,000. It does not cover dependent values, and values rounded so coarsely that many are
    equal: those are not normal.

    Examples
    --------
    >>> test = CLASSICAL["sw"]
    >>> test.title, test.tail
    ('Shapiro-Wilk', 'low')
    >>> test.statistic([[1, 2, 3, 4, 9], [1, 2, 3, 4, 5]]).round(4)
    array([0.867 , 0.9868])
    """

    name: str
    title: str
    function: Callable[..., Array]
    tail: Tail
    ideal: Callable[[int], float] = _zero
    smallest: int = SMALLEST

    def statistic(self, samples: ArrayLike, axis: int = -1) -> Array:
        """Return the statistic of each sample.

        Parameters
        ----------
        samples : array_like
            One sample, or many of one size.
        axis : int, default=-1
            The axis along which the values of a sample lie.

        Returns
        -------
        ndarray
            Of the shape of `samples` without `axis`; for one sample a single number.
        """
        return _evaluate(read_samples(samples, axis), [self])[self.name]

    def p_values(self, samples: ArrayLike, axis: int = -1) -> Array:
        """Return the p-value of each sample; see `statistic` and the guarantee of the class.

        Examples
        --------
        >>> CLASSICAL["ad"].p_values([[1.0, 2.0, 3.0, 4.0, 9.0]]).round(2)
        array([0.24])
        """
        return classical_p_values(samples, [self.name], axis)[self.name]

    def log_distance(self, statistic: Array, n: int) -> Array:
        """Return the logarithm of the distance from the ideal, the score that is tabulated.

        Its quantiles change with n almost along straight lines in log n, which those of the
        statistic itself do not.

        Examples
        --------
        >>> CLASSICAL["sw"].log_distance(np.array([1 - np.exp(-2)]), 10)
        array([-2.])
        """
        distance = statistic - self.ideal(n)
        # Rounding may carry a statistic past its ideal.
        distance = np.maximum(-distance if self.tail == "low" else distance, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(distance))

    @property
    def tables(self) -> NullTables:
        """The distribution of the tabulated score under normality, for every n."""
        return _tables()[self.name]


@dataclass(frozen=True)
class ClassicalResult:
    """What a classical test says of one sample.

    Attributes
    ----------
    statistic, pvalue : float
        The statistic and its p-value.
    n : int
        Sample size.
    """

    statistic: float
    pvalue: float
    n: int


_ALL = (
    ClassicalTest("sw", "Shapiro-Wilk", statistics.shapiro_wilk, "low", _one),
    ClassicalTest("sf", "Shapiro-Francia", statistics.shapiro_francia, "low", _one),
    ClassicalTest("ad", "Anderson-Darling", statistics.anderson_darling, "high"),
    ClassicalTest("lf", "Lilliefors", statistics.lilliefors, "high"),
    ClassicalTest("jb", "Jarque-Bera", statistics.jarque_bera, "high"),
    ClassicalTest("k2", "D'Agostino K2", statistics.dagostino_k2, "high", smallest=K2_SMALLEST),
    ClassicalTest("za", "Zhang ZA", statistics.zhang_a, "high", statistics.zhang_a_floor),
    ClassicalTest("zc", "Zhang ZC", statistics.zhang_c, "high"),
    ClassicalTest("bhep", "BHEP", bhep, "high"),
)
CLASSICAL: dict[str, ClassicalTest] = {test.name: test for test in _ALL}


def classical_test(sample: ArrayLike, name: str) -> ClassicalResult:
    """Test whether one sample comes from a normal distribution.

    Parameters
    ----------
    sample : array_like of shape (n,)
        From 5 to 10,000 values.
    name : str
        A key of `CLASSICAL`: "sw", "sf", "ad", "lf", "jb", "k2", "za", "zc" or "bhep".

    Returns
    -------
    ClassicalResult

    Notes
    -----
    For the guarantee see `ClassicalTest`.

    Examples
    --------
    >>> result = classical_test([1.2, 0.3, -0.5, 2.2, 0.9, 1.4, 11.0], "sw")
    >>> round(result.statistic, 4), result.pvalue < 0.01, result.n
    (0.667, True, 7)
    """
    test = _named(name)
    values = read_samples(sample)
    if values.ndim != 1:
        raise InputError(
            f"The sample has shape {values.shape}: classical_test takes one sample, one value "
            "after the other.",
            parameter="sample",
            value=sample,
            remedy=f"For many, call CLASSICAL[{name!r}].p_values.",
        )
    n = values.size
    statistic = _evaluate(values, [test])[name]
    return ClassicalResult(float(statistic), float(_p_values(test, statistic, n)), n)


def classical_p_values(
    samples: ArrayLike, names: str | Iterable[str] | None = None, axis: int = -1
) -> dict[str, Array]:
    """Return the p-values of several classical tests, which share their common work.

    Parameters
    ----------
    samples : array_like
        One sample, or many of one size.
    names : str or iterable of str, optional
        Keys of `CLASSICAL`; all that are defined for this sample size, if not given.
    axis : int, default=-1
        The axis along which the values of a sample lie.

    Returns
    -------
    dict of str to ndarray
        Each of the shape of `samples` without `axis`.

    Notes
    -----
    For the guarantee of each test see `ClassicalTest`. Nothing is adjusted for testing several
    times: the smallest of several p-values is not a p-value.

    Examples
    --------
    >>> found = classical_p_values([1.2, 0.3, -0.5, 2.2, 0.9, 1.4, 11.0], ["sw", "lf"])
    >>> {name: bool(p < 0.05) for name, p in found.items()}
    {'sw': True, 'lf': True}
    """
    array = read_samples(samples, axis)
    n = array.shape[-1]
    if isinstance(names, str):
        names = [names]
    if names is None:
        tests = [test for test in _ALL if test.smallest <= n]
    else:
        tests = [_named(name) for name in names]
    found = _evaluate(array, tests)
    return {test.name: _p_values(test, found[test.name], n) for test in tests}


def _evaluate(samples: Array, tests: list[ClassicalTest]) -> dict[str, Array]:
    rows = samples.reshape(-1, samples.shape[-1])
    found = statistics.evaluate(rows, [test.function for test in tests])
    return {
        test.name: values.reshape(samples.shape[:-1])[()]
        for test, values in zip(tests, found, strict=True)
    }


def _p_values(test: ClassicalTest, statistic: Array, n: int) -> Array:
    scores = test.log_distance(np.ravel(statistic), n)
    return test.tables.null(n).p_values(scores).reshape(np.shape(statistic))[()]


def _named(name: object) -> ClassicalTest:
    test = CLASSICAL.get(name) if isinstance(name, str) else None
    if test is None:
        known = ", ".join(map(repr, CLASSICAL))
        raise InputError(
            parameter="name", value=name, need=f"a classical test of normality, one of {known}"
        )
    return test


@lru_cache(maxsize=1)
def _tables() -> dict[str, NullTables]:
    with (
        files("ratekeeper.normality").joinpath("data", "classical.npz").open("rb") as stream,
        np.load(stream, allow_pickle=False) as arrays,
    ):
        sizes, levels = arrays["sizes"], arrays["levels"]
        return {
            test.name: NullTables(sizes[sizes >= test.smallest], levels, arrays[test.name], "high")
            for test in _ALL
        }
