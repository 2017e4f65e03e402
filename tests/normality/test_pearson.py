"""The Pearson system: right moments, right laws, right types."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import integrate, stats

from ratekeeper.exceptions import InputError
from ratekeeper.normality._pearson import pearson, pearson_grid, pearson_type, sample_pearson

LAWS = {
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


def _moments(law):
    mean, variance, skewness, excess = (float(value) for value in law.stats("mvsk"))
    return mean, variance**0.5, skewness, excess + 3


def _row(seed, skewness, kurtosis, n):
    return sample_pearson(np.random.default_rng(seed), skewness, kurtosis, n)[0]


@pytest.mark.parametrize("name", LAWS)
def test_a_type_with_a_classical_law_is_drawn_from_it(name):
    """Rows with the moments of a classical law follow that law, and mirrored its mirror."""
    law = LAWS[name]
    mean, sd, skewness, kurtosis = _moments(law)
    assert pearson_type(skewness, kurtosis).tolist() == [name]
    for sign in (1, -1):
        values = sign * _row(3, sign * skewness, kurtosis, 50_000)
        assert stats.kstest(mean + sd * values, law.cdf).pvalue > 1e-6


@pytest.mark.parametrize("name", LAWS)
def test_cdf_of_a_classical_law_is_the_closed_form(name):
    """The distribution function is SciPy's, far into both tails, beyond the support, mirrored."""
    law = LAWS[name]
    mean, sd, skewness, kurtosis = _moments(law)
    x = np.concatenate([law.ppf([1e-12, 1e-6, 0.1, 0.5, 0.9, 1 - 1e-6]), [mean - 9 * sd, mean]])
    ours = pearson(mean, sd, skewness, kurtosis)
    np.testing.assert_allclose(ours.cdf(x), law.cdf(x), rtol=1e-6, atol=1e-15)
    mirrored = pearson(-mean, sd, -skewness, kurtosis)
    np.testing.assert_allclose(mirrored.cdf(-x), law.sf(x), rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize(("skewness", "kurtosis"), TYPE_IV)
def test_samples_have_the_moments_of_type_iv(skewness, kurtosis):
    """The first four moments are those asked for, within six standard errors."""
    assert pearson_type(skewness, kurtosis).tolist() == ["IV"]
    values = _row(5, skewness, kurtosis, 500_000)
    for power, expected in enumerate([0, 1, skewness, kurtosis], start=1):
        powers = values**power
        error = powers.std() / powers.size**0.5
        assert abs(powers.mean() - expected) < 6 * error


@pytest.mark.parametrize(("skewness", "kurtosis"), [*TYPE_IV, (3.0, 40.0), (-1.0, 4.9704)])
def test_type_iv_is_uniform_in_its_cdf(skewness, kurtosis):
    """Type IV samples put through their distribution function are uniform."""
    made = pearson(20, 3, skewness, kurtosis)
    assert made.type == "IV"
    values = made.sample(np.random.default_rng(7), 50_000)
    assert stats.kstest(made.cdf(values), "uniform").pvalue > 1e-6


@pytest.mark.parametrize(("skewness", "kurtosis"), [*TYPE_IV[:5], (3.0, 40.0)])
def test_cdf_of_type_iv_is_the_integral_of_its_density(skewness, kurtosis):
    """The distribution function is the integral of Pearson's own form of the density."""
    b1 = skewness**2
    r = 6 * (kurtosis - b1 - 1) / (2 * kurtosis - 3 * b1 - 6)
    root = np.sqrt(16 * (r - 1) - b1 * (r - 2) ** 2)
    loc, scale, nu = -(r - 2) * skewness / 4, root / 4, -r * (r - 2) * skewness / root

    def density(x):
        z = (x - loc) / scale
        return np.exp(-(r / 2 + 1) * np.log1p(z * z) - nu * np.arctan(z))

    points = np.array([-6.0, -2.0, -0.3, 0.0, 0.7, 3.0, 12.0])
    whole = integrate.quad(density, -np.inf, 0)[0] + integrate.quad(density, 0, np.inf)[0]
    below = [integrate.quad(density, -np.inf, x)[0] / whole for x in points]
    found = pearson(skewness=skewness, kurtosis=kurtosis).cdf(points)
    np.testing.assert_allclose(found, below, atol=1e-8)


def test_types_meet_without_a_jump():
    """Just beside the lines of type III and type V the law is that of the line."""
    x = np.linspace(-2, 6, 33)
    for law in (LAWS["III"], LAWS["V"]):
        *_, skewness, kurtosis = _moments(law)
        on_line = pearson(skewness=skewness, kurtosis=kurtosis)
        for factor in (1 - 1e-6, 1 + 1e-6):
            beside = pearson(skewness=skewness, kurtosis=kurtosis * factor)
            assert beside.type != on_line.type
            np.testing.assert_allclose(beside.cdf(x), on_line.cdf(x), atol=1e-5)


def test_rows_keep_their_own_moments():
    """In a batch of all types every row has its own skewness, whatever its neighbours."""
    grid = np.array([_moments(law)[2:] for law in LAWS.values()] + TYPE_IV[:4])
    moments = np.concatenate([grid, grid * [-1, 1]])
    values = sample_pearson(np.random.default_rng(11), moments[:, 0], moments[:, 1], 100_000)
    cubes = values**3
    errors = cubes.std(axis=1) / cubes.shape[1] ** 0.5
    assert np.all(np.abs(cubes.mean(axis=1) - moments[:, 0]) < 6 * errors)


def test_location_and_scale_are_mean_and_standard_deviation():
    """The second argument is the standard deviation, not the variance."""
    values = pearson(50, 4, 0.5, 3.2).sample(np.random.default_rng(13), (100, 1000))
    assert values.shape == (100, 1000)
    assert abs(values.mean() - 50) < 6 * 4 / 1e5**0.5
    assert abs(values.std() - 4) < 0.1


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
    """A kurtosis that no such law has is refused with the bound and what to do."""
    with pytest.raises(InputError, match=r"above skewness\*\*2 \+ 1 .* Raise the kurtosis"):
        pearson(skewness=skewness, kurtosis=kurtosis)
    with pytest.raises(InputError, match="kurtosis"):
        sample_pearson(np.random.default_rng(0), [0, skewness], [3, kurtosis], 5)


@pytest.mark.parametrize("sd", [0, -1, np.nan, np.inf])
def test_impossible_scales_are_refused(sd):
    """A standard deviation is positive and finite."""
    with pytest.raises(InputError, match=r"sd is .* must be positive and finite"):
        pearson(0, sd)


def test_other_bad_input_is_refused():
    """A mean must be finite, shapes must agree, a sample has at least one value."""
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="mean is nan"):
        pearson(np.nan)
    with pytest.raises(InputError, match="same length"):
        sample_pearson(rng, [0, 1], [3], 5)
    with pytest.raises(InputError, match="at least 1 value"):
        sample_pearson(rng, [0], [3], 0)
