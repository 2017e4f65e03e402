"""The tests of normality that stand beside the network.

`usual_rejections` decides as the paper's standard tests did, with their usual critical values,
which for small samples are approximate. `exact_p_values` uses Monte Carlo p-values, so that every
test keeps its level and only power is compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Booleans = NDArray[np.bool_]

STANDARD = ("SW", "AD", "LF", "JB")
# Ours, by the alternative that they look for.
NETWORKS = {
    "omnibus": "rk omnibus",
    "heavy": "rk heavy",
    "skewed": "rk skewed",
    "light": "rk light",
    "pearson": "rk pearson",
}
OURS = NETWORKS["omnibus"]

# Stephens (1974), for unknown mean and variance: the values of scipy.stats.anderson in 2020,
# to be divided by 1 + 4/n - 25/n^2. Later versions of scipy have other ones.
_ANDERSON_DARLING = {0.1: 0.656, 0.05: 0.787, 0.01: 1.092}


def usual_rejections(x: Array, alphas: tuple[float, ...]) -> dict[tuple[str, float], Booleans]:
    """Return which samples each standard test rejects at its usual critical values.

    A constant sample has no statistic. As published, it passes Shapiro-Wilk, which called it
    a perfect fit, and fails the others.
    """
    from scipy.stats import shapiro

    from ratekeeper.normality import CLASSICAL

    n = x.shape[1]
    varied = ~_is_constant(x)
    clean = x[varied]
    statistic = {key: CLASSICAL[key.lower()].statistic(clean) for key in ("AD", "LF", "JB")}
    p = {
        "SW": shapiro(clean, axis=1).pvalue,
        "LF": lilliefors_p_value(statistic["LF"], n),
        # In the limit the Jarque-Bera statistic is chi-squared with 2 degrees of freedom.
        "JB": np.exp(-statistic["JB"] / 2),
    }
    found = {}
    for alpha in alphas:
        rejected = {key: p[key] < alpha for key in p}
        critical = np.round(_ANDERSON_DARLING[alpha] / (1 + 4 / n - 25 / n**2), 3)
        rejected["AD"] = statistic["AD"] > critical
        for test in STANDARD:
            found[test, alpha] = np.full(len(x), test != "SW")
            found[test, alpha][varied] = rejected[test]
    return found


def lilliefors_p_value(distance: Array, n: int) -> Array:
    """Return the p-value of Dallal and Wilkinson (1986), for n up to 100 and p up to 0.1.

    That of ``lillie.test`` in R's nortest, which the paper used. Above 0.1 the R code changes to
    another formula; at the levels used here that moves a few decisions in a thousand at n = 10,
    and none at other sizes.

    Examples
    --------
    >>> lilliefors_p_value(np.array([0.262]), 10).round(3).tolist()
    [0.05]
    """
    size = n + 2.78019
    return np.exp(
        -7.01256 * distance**2 * size
        + 2.99587 * distance * np.sqrt(size)
        - 0.122119
        + 0.974598 / np.sqrt(n)
        + 1.67997 / n
    )


def titles() -> dict[str, str]:
    """Return the short name and the title of every classical test."""
    from ratekeeper.normality import CLASSICAL

    return {key.upper(): test.title for key, test in CLASSICAL.items()}


def exact_tests() -> tuple[str, ...]:
    """Return the short names of all tests with Monte Carlo p-values, our own first."""
    return (*NETWORKS.values(), *titles())


def exact_p_values(x: Array, tests: tuple[str, ...] | None = None) -> dict[str, Array]:
    """Return the Monte Carlo p-values of normality, test by test; all of `exact_tests` by default.

    Constant samples get 0: no normal distribution gives them, and the tests refuse to judge them.
    """
    import ratekeeper as rk
    from ratekeeper.normality import classical_p_values

    varied = ~_is_constant(x)
    wanted = tests or exact_tests()
    classical = [name.lower() for name in wanted if name not in NETWORKS.values()]
    judged = {name.upper(): p for name, p in classical_p_values(x[varied], classical).items()}
    for alternative, name in NETWORKS.items():
        if name in wanted:
            result = rk.normality_test(x[varied], axis=1, alternative=alternative)
            judged[name] = result.pvalue
    found = {name: np.zeros(len(x)) for name in wanted}
    for name in wanted:
        found[name][varied] = judged[name]
    return found


def _is_constant(x: Array) -> Booleans:
    return np.ptp(x, axis=1) == 0
