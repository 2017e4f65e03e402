"""Statistics that rival systems compute in closed form or on a log scale, against plain ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc

from ratekeeper.baselines import CrossValidatedLDA, LiaoAkritas
from ratekeeper.baselines._cross_validated import lda as cross_validated_lda
from ratekeeper.baselines._proxy_tests import two_sample
from ratekeeper.baselines._proxy_tests.interpoint import Scale
from ratekeeper.baselines._proxy_tests.two_sample import TwoSamples

SIGMAS = 5.0  # a right build stays inside with probability above 1 - 1e-6


def normal(rng, n0, n1, gap=2.0, d=1):
    """Return unit normal classes whose means are `gap` apart in every column."""
    y = np.repeat([0, 1], [n0, n1])
    return rng.normal(size=(n0 + n1, d)) + gap * y[:, None], y


# Two-sample tests


def test_logarithms_do_not_round_to_zero():
    """Log tails agree with the incomplete Beta function, and go on where that is 0."""
    for a in (0.5, 1.0, 7.5, 300.0, 1e4, 1e6):
        logs = np.linspace(-190.0, -690.0, 41)
        ratio = np.expm1(np.minimum(-logs / a, 600.0))
        with np.errstate(divide="ignore"):
            direct = np.log(betainc(a, 0.5, 1.0 / (1.0 + ratio)))
        known = direct > -700.0
        found = two_sample.log_tail(ratio, a)
        np.testing.assert_allclose(found[known], direct[known], rtol=1e-9, atol=1e-9)
    # For 2 degrees of freedom the tail is 1 - t / sqrt(2 + t^2), which tends to 1 / t^2.
    one = two_sample.Moments(2, np.array(0.0), np.array(1e-320))
    far = two_sample.t_log_p_value(one, one._replace(mean=np.array(1e3)), pooled=True)
    assert np.isfinite(far)
    ratio = np.array([1e250])
    np.testing.assert_allclose(two_sample.log_tail(ratio, 1.0), -np.log(2.0 * ratio))


def test_score_is_a_likelihood_ratio():
    """For Student's t the score tends to the log likelihood ratio of two normal classes."""
    n = 200_000
    quantiles = stats.norm.ppf((np.arange(n) + 0.5) / n)
    x = np.linspace(-2, 4, 13)
    for gap, m in ((1.0, n), (2.0, n), (2.0, n // 5)):
        other = stats.norm.ppf((np.arange(m) + 0.5) / m) + gap
        zero, one = TwoSamples(quantiles, other, "t").log_p_values(x)
        np.testing.assert_allclose(zero - one, gap * (x - gap / 2), atol=2e-3)


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("test", "even", "uneven"),
    [("t", 0.159, 0.159), ("welch", 0.160, 0.113), ("rank", 0.156, 0.092)],
)
def test_rates_follow_sizes_not_alpha(test, even, uneven):
    """The FNR is what class sizes and the test make it, and alpha changes no prediction."""
    rng = np.random.default_rng(3)
    for sizes, expected in (((100, 100), even), ((300, 60), uneven)):
        shares = []
        for _ in range(200):
            X, y = normal(rng, *sizes)
            samples = TwoSamples(np.sort(X[y == 1, 0]), np.sort(X[y == 0, 0]), test)
            positive, negative = samples.log_p_values(rng.normal(size=400) + 2)
            shares.append(np.mean(negative < positive))
        error = SIGMAS * np.std(shares) / np.sqrt(len(shares))
        assert abs(np.mean(shares) - expected) < error + 0.002  # the figures are rounded
    X, y = normal(rng, 60, 60, gap=1.0)
    strict, loose = (LiaoAkritas(alpha=alpha, random_state=0).fit(X, y) for alpha in (0.001, 0.5))
    np.testing.assert_array_equal(strict.predict(X), loose.predict(X))


@pytest.mark.parametrize("n", [3, 7, 150])
def test_equal_values_keep_their_unit(n):
    """A constant column is not blown up by the rounding of its standard deviation."""
    np.testing.assert_array_equal(Scale.of(np.full((n, 1), 0.1)).deviation, [1.0])


# Linear discriminant analysis


def gaussian_ratio(z, own, other):
    residuals = np.vstack([own - own.mean(axis=0), other - other.mean(axis=0)])
    inverse = np.linalg.inv(residuals.T @ residuals / (len(residuals) - 2))
    square = lambda m: (z - m) @ inverse @ (z - m)  # noqa: E731
    return (square(own.mean(axis=0)) - square(other.mean(axis=0))) / 2


def sample(seed, sizes=(14, 11), d=2, *, discrete=False):
    """Return training rows, labels and objects, some of them copies of rows, some far out."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(sum(sizes), d)) + 1.0 * np.repeat([[0], [1]], sizes, axis=0)
    objects = np.vstack([rng.gamma(2.0, size=(5, d)) + 0.5, 40 * rng.normal(size=(2, d))])
    if discrete:
        X, objects = np.round(X), np.round(objects)
    return X, np.repeat([0, 1], sizes), np.vstack([objects, X[[0, 3, -1, -4]]])


@pytest.mark.parametrize("seed", range(5))
def test_statistic_of_lda(seed):
    """The statistics themselves are those of refitting, to twelve digits."""
    X, y, objects = sample(seed, (9, 8), 3)
    lda = CrossValidatedLDA(alpha=0.3).fit(X, y)
    white = lda._coordinates(X)  # noqa: SLF001
    mean = white[y == 1].mean(axis=0)
    parts = white[y == 1] - mean, white[y == 0].mean(axis=0) - mean
    own, other = X[y == 1], X[y == 0]
    u = lda._coordinates(objects) - mean  # noqa: SLF001
    rows, values, _ = cross_validated_lda._augmented(u, *parts)  # noqa: SLF001
    for got, value, x in zip(rows, values, objects, strict=True):
        whole = np.vstack([own, x])
        wanted = [gaussian_ratio(z, whole, other) - gaussian_ratio(x, whole, other) for z in own]
        np.testing.assert_allclose((got - value) * (len(X) - 1), wanted, rtol=1e-12, atol=1e-11)
    rows, values, _ = cross_validated_lda._replaced(u, *parts)  # noqa: SLF001
    for got, value, x in zip(rows, values, objects, strict=True):
        wanted = [
            gaussian_ratio(z, np.vstack([np.delete(own, i, axis=0), x]), other)
            for i, z in enumerate(own)
        ]
        np.testing.assert_allclose(got * (len(X) - 2), wanted, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(value * (len(X) - 2), gaussian_ratio(x, own, other), rtol=1e-11)
