"""The Pearson system: right moments, right distributions, right types."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from reproduction.training import pearson_grid, pearson_type, sample_pearson
from scipy import stats

from ratekeeper.exceptions import InputError

CLASSICAL = {
    "normal": stats.norm(),
    "I": stats.beta(2, 5),
    "II": stats.beta(3, 3),
    "III": stats.gamma(2.5),
    "V": stats.invgamma(9),
    "VI": stats.betaprime(3, 12),
    "VII": stats.t(9),
}
# Their eighth moments are finite, so the errors of their sample kurtoses are known.
TYPE_IV = [(0.5, 3.6), (1.0, 5.3), (-0.5, 4.2), (-1.0, 5.0), (0.1, 3.4), (0.001, 3.0001)]


def _moments(known):
    mean, variance, skewness, excess = (float(value) for value in known.stats("mvsk"))
    return mean, variance**0.5, skewness, excess + 3


def _row(seed, skewness, kurtosis, n):
    return sample_pearson(np.random.default_rng(seed), skewness, kurtosis, n)[0]


@pytest.mark.parametrize("name", CLASSICAL)
def test_a_type_with_a_classical_name_is_drawn_from_it(name):
    """Rows with the moments of a classical distribution follow it, and mirrored its mirror."""
    known = CLASSICAL[name]
    mean, sd, skewness, kurtosis = _moments(known)
    assert pearson_type(skewness, kurtosis).tolist() == [name]
    for sign in (1, -1):
        values = sign * _row(3, sign * skewness, kurtosis, 50_000)
        assert stats.kstest(mean + sd * values, known.cdf).pvalue > 1e-6


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("skewness", "kurtosis"), TYPE_IV)
def test_samples_have_the_moments_of_type_iv(skewness, kurtosis):
    """The first four moments are those asked for, within six standard errors."""
    assert pearson_type(skewness, kurtosis).tolist() == ["IV"]
    values = _row(5, skewness, kurtosis, 500_000)
    for power, expected in enumerate([0, 1, skewness, kurtosis], start=1):
        powers = values**power
        error = powers.std() / powers.size**0.5
        assert abs(powers.mean() - expected) < 6 * error


def _cdf_of_type_iv(skewness, kurtosis):
    """Integrate Pearson's own form of the density, over the angle whose tangent is the value."""
    b1 = skewness**2
    r = 6 * (kurtosis - b1 - 1) / (2 * kurtosis - 3 * b1 - 6)
    root = np.sqrt(16 * (r - 1) - b1 * (r - 2) ** 2)
    loc, scale, nu = -(r - 2) * skewness / 4, root / 4, -r * (r - 2) * skewness / root
    angle = np.linspace(-np.pi / 2, np.pi / 2, 400_001)[1:-1]
    log_density = r * np.log(np.cos(angle)) - nu * angle
    below = np.cumsum(np.exp(log_density - log_density.max()))
    return lambda x: np.interp(np.arctan((x - loc) / scale), angle, below / below[-1])


@pytest.mark.parametrize(("skewness", "kurtosis"), [*TYPE_IV, (3.0, 40.0), (-1.0, 4.9704)])
def test_type_iv_follows_its_density(skewness, kurtosis):
    """Type IV samples have the distribution function that Pearson's density integrates to."""
    assert pearson_type(skewness, kurtosis).tolist() == ["IV"]
    values = _row(7, skewness, kurtosis, 50_000)
    assert stats.kstest(values, _cdf_of_type_iv(skewness, kurtosis)).pvalue > 1e-6


@pytest.mark.parametrize("factor", [1 - 1e-6, 1 + 1e-6])
@pytest.mark.parametrize("name", ["III", "V"])
def test_types_meet_without_a_jump(name, factor):
    """Just beside the lines of type III and type V samples follow the line's distribution."""
    mean, sd, skewness, kurtosis = _moments(CLASSICAL[name])
    assert pearson_type(skewness, kurtosis * factor).tolist() != [name]
    values = _row(8, skewness, kurtosis * factor, 50_000)
    assert stats.kstest(mean + sd * values, CLASSICAL[name].cdf).pvalue > 1e-6


def test_rows_keep_their_own_moments():
    """In a batch of all types every row has its own skewness, whatever its neighbours."""
    grid = np.array([_moments(known)[2:] for known in CLASSICAL.values()] + TYPE_IV[:4])
    moments = np.concatenate([grid, grid * [-1, 1]])
    values = sample_pearson(np.random.default_rng(11), moments[:, 0], moments[:, 1], 100_000)
    cubes = values**3
    errors = cubes.std(axis=1) / cubes.shape[1] ** 0.5
    assert np.all(np.abs(cubes.mean(axis=1) - moments[:, 0]) < 6 * errors)


def test_grid_is_that_of_the_published_experiment():
    """The grid has 1305 points, of the published types."""
    grid = pearson_grid()
    assert grid.shape == (1305, 2)
    assert np.unique(grid, axis=0).shape == grid.shape
    counts = Counter(pearson_type(grid[:, 0], grid[:, 1]).tolist())
    assert counts == {"IV": 660, "I": 308, "VI": 252, "VII": 74, "III": 8, "II": 3}


def test_the_whole_grid_can_be_drawn():
    """Every point of the grid gives finite values, the same again for the same seed."""
    grid = pearson_grid()
    first = sample_pearson(np.random.default_rng(17), grid[:, 0], grid[:, 1], 40)
    again = sample_pearson(np.random.default_rng(17), grid[:, 0], grid[:, 1], 40)
    assert first.shape == (1305, 40)
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("margin", [1e-12, 1e-9, 1e-3])
def test_the_edge_of_the_possible_is_finite(margin):
    """Beside the two-point border values are finite and on two points, or nearly."""
    values = _row(19, 1.0, 2 + margin, 1000)
    assert np.isfinite(values).all()
    assert values.std() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("skewness", "kurtosis"),
    [(0, 1), (0, 0), (1, 2), (-2, 4.9), (np.nan, 3), (0, np.nan), (0, np.inf), (np.inf, np.inf)],
)
def test_impossible_moments_are_refused(skewness, kurtosis):
    """A kurtosis that no such distribution has is refused with the bound and what to do."""
    for s, k in ((skewness, kurtosis), ([0, skewness], [3, kurtosis])):
        with pytest.raises(InputError, match=r"above skewness\*\*2 \+ 1 .* Raise the kurtosis"):
            sample_pearson(np.random.default_rng(0), s, k, 5)


def test_other_bad_input_is_refused():
    """Shapes must agree, and a sample has at least one value."""
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="same length"):
        sample_pearson(rng, [0, 1], [3], 5)
    with pytest.raises(InputError, match="n=0 must be a whole number"):
        sample_pearson(rng, [0], [3], 0)
