"""Two Gaussian classes of one covariance: the problem whose best answer is known.

By the lemma of Neyman and Pearson the best test of one class against the other compares the
likelihood ratio, here a linear function of x, with a threshold. All errors of linear rules are
values of the normal distribution function, so no test set is needed, and no system can do better
than the optimum but by breaking its promise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class Errors(NamedTuple):
    """The true error rates of a rule."""

    fnr: float
    fpr: float


class LinearRule(NamedTuple):
    """Call x positive when ``weights @ x > threshold``."""

    weights: Array
    threshold: float


@dataclass(frozen=True, eq=False)
class GaussianProblem:
    """Objects of class 0 and 1 are normal, with two means and one covariance.

    Attributes
    ----------
    mean0, mean1 : array of shape (d,)
    covariance : array of shape (d, d)

    Examples
    --------
    >>> problem = GaussianProblem(np.zeros(1), np.array([2.0]), np.eye(1))
    >>> problem.errors(np.array([1.0]), 1.0)
    Errors(fnr=0.15865..., fpr=0.15865...)
    >>> problem.optimal_other_error(0.05)
    0.36123...
    """

    mean0: Array
    mean1: Array
    covariance: Array

    @property
    def distance(self) -> float:
        """The distance of Mahalanobis between the means."""
        shift = self.mean1 - self.mean0
        return float(np.sqrt(shift @ np.linalg.solve(self.covariance, shift)))

    def sample(self, rng: np.random.Generator, n0: int, n1: int) -> tuple[Array, NDArray[np.int64]]:
        """Draw n0 objects of class 0, then n1 of class 1; return them with their classes."""
        y = np.repeat([0, 1], [n0, n1])
        root = np.linalg.cholesky(self.covariance)
        noise = rng.standard_normal((n0 + n1, len(self.mean0)))
        return np.where(y[:, None] == 1, self.mean1, self.mean0) + noise @ root.T, y

    def errors(self, weights: Array, threshold: float) -> Errors:
        """Return the true error rates of the rule "positive when weights @ x > threshold"."""
        from scipy.special import ndtr

        weights = np.asarray(weights, dtype=float)
        sd = np.sqrt(weights @ self.covariance @ weights)
        if sd == 0:  # x is ignored: everything is positive, or nothing
            return Errors(float(threshold >= 0), float(threshold < 0))
        fnr = ndtr((threshold - weights @ self.mean1) / sd)
        fpr = ndtr((weights @ self.mean0 - threshold) / sd)
        return Errors(float(fnr), float(fpr))

    def optimal_other_error(self, alpha: float) -> float:
        """Return the least other error rate of all rules that keep one rate at alpha.

        The covariance is common, so it is the same whether FNR or FPR is kept.
        """
        from scipy.special import ndtr, ndtri

        return float(ndtr(-ndtri(alpha) - self.distance))

    def optimal_rule(self, control: str, alpha: float) -> LinearRule:
        """Return the rule that reaches it; `control` is "fnr" or "fpr"."""
        from scipy.special import ndtri

        if control not in {"fnr", "fpr"}:
            raise ValueError(f'control is {control!r}; it must be "fnr" or "fpr".')
        shift = self.mean1 - self.mean0
        weights = np.linalg.solve(self.covariance, shift).astype(np.float64)
        # The alpha quantile of weights @ x in class 1, or the 1 - alpha quantile in class 0.
        reach = self.distance * ndtri(alpha)
        quantile = {"fnr": weights @ self.mean1 + reach, "fpr": weights @ self.mean0 - reach}
        return LinearRule(weights, float(quantile[control]))


def equally_shifted(
    d: int = 5, *, distance: float = 2.5, correlation: float = 0.5
) -> GaussianProblem:
    """Return a problem in which every coordinate is shifted by the same amount.

    Coordinates i and j correlate by ``correlation ** abs(i - j)``, so the best direction is not the
    shift: a system has to learn the covariance. At distance 2.5, keeping one rate at 5% costs at
    least 19.6% of the other.

    Examples
    --------
    >>> equally_shifted().optimal_other_error(0.05)
    0.19623...
    """
    places = np.arange(d)
    covariance = correlation ** np.abs(places[:, None] - places).astype(float)
    ones = np.ones(d)
    unit = ones / np.sqrt(ones @ np.linalg.solve(covariance, ones))
    return GaussianProblem(np.zeros(d), distance * unit, covariance)
