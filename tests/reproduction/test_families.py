"""The families of alternatives and the four published groups."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
from cases import each
from reproduction.training import (
    GROUPS,
    HELD_OUT_FAMILIES,
    TRAINING_FAMILIES,
    Family,
    _families,
    _held_out,
    draw_group,
)
from scipy import stats

from ratekeeper.exceptions import InputError

ROOT = Path(__file__).parents[2]
FAMILIES = {**TRAINING_FAMILIES, **HELD_OUT_FAMILIES}


def between(rng, rows, low, high):
    """Return a column of uniform shapes."""
    return rng.uniform(low, high, (rows, 1))


def log_between(rng, rows, low, high):
    """Return a column of shapes whose logarithms are uniform."""
    return np.exp(rng.uniform(np.log(low), np.log(high), (rows, 1)))


@pytest.mark.thorough
@each("n", [5, 37, 1000])
@each("name", FAMILIES)
def test_a_family_draws_usable_rows(name, n):
    """Rows are finite, of the right shape, not constant, and the same for the same seed."""
    draw = FAMILIES[name].draw
    values = draw(np.random.default_rng(3), 200, n)
    assert values.shape == (200, n)
    assert values.dtype == np.float64
    assert np.isfinite(values).all()
    spread = np.ptp(values, axis=1)
    assert (spread > 1e-9 * np.abs(values).max(axis=1)).all()
    np.testing.assert_array_equal(values, draw(np.random.default_rng(3), 200, n))
    assert np.unique(values, axis=0).shape == values.shape


def test_no_family_is_both_trained_on_and_held_out():
    """Every family has one name and one purpose, and both purposes have all kinds."""
    assert len(TRAINING_FAMILIES) == len(_families._ALL)  # noqa: SLF001 - no name is used twice
    assert len(HELD_OUT_FAMILIES) == len(_held_out._ALL)  # noqa: SLF001
    assert not TRAINING_FAMILIES.keys() & HELD_OUT_FAMILIES.keys()
    training, held_out = TRAINING_FAMILIES.values(), HELD_OUT_FAMILIES.values()
    assert not {one.draw for one in training} & {one.draw for one in held_out}
    for some in (training, held_out):
        assert {one.kind for one in some} == set(get_args(get_type_hints(Family)["kind"]))


def test_the_guide_counts_the_families():
    """The guide and the page of the study say how many families there are."""
    guide = " ".join(
        (ROOT / "docs" / "understand" / "normality.md").read_text(encoding="utf-8").split()
    )
    assert f"tell {len(TRAINING_FAMILIES)} families" in guide
    assert f"{len(HELD_OUT_FAMILIES)} families that no training ever saw" in guide
    assert f"the {len(HELD_OUT_FAMILIES)} held-out families" in guide
    study = (ROOT / "reproduction" / "results" / "README.md").read_text(encoding="utf-8")
    assert f"all {len(TRAINING_FAMILIES)} training families" in study


def _one(recipe, seed):
    """Return the distribution that a recipe makes of the first shapes a seed gives."""
    return recipe(np.random.default_rng(seed))


def _leaning_beta(rng, low, high, *ratio):
    first = log_between(rng, 1, low, high).item()
    return stats.beta(first, first * (log_between(rng, 1, *ratio).item() if ratio else 1))


# Families draw their shapes first, so the same seed tells which distribution a single row has.
CLOSED_FORMS = {
    "logistic": lambda _: stats.logistic(),
    "laplace": lambda _: stats.laplace(),
    "uniform": lambda _: stats.uniform(),
    "exponential": lambda _: stats.expon(),
    "exponential_power_heavy": lambda rng: stats.gennorm(log_between(rng, 1, 0.6, 1.7).item()),
    "exponential_power_light": lambda rng: stats.gennorm(log_between(rng, 1, 2.5, 20).item()),
    "tukey_heavy": lambda rng: stats.tukeylambda(between(rng, 1, -1, -0.05).item()),
    "tukey_light": lambda rng: stats.tukeylambda(between(rng, 1, 0.35, 1.5).item()),
    "truncated_both_sides": lambda rng: _truncated(between(rng, 1, 0.5, 2.5).item()),
    "hyperbolic_secant": lambda _: stats.hypsecant(),
    "inverse_gaussian": lambda rng: _inverse_gaussian(log_between(rng, 1, 0.3, 10).item()),
    "birnbaum_saunders": lambda rng: stats.fatiguelife(between(rng, 1, 0.3, 2).item()),
    "lomax": lambda rng: stats.lomax(between(rng, 1, 1, 4).item()),
    "maxwell": lambda _: stats.maxwell(),
    "raised_cosine": lambda _: stats.cosine(),
    "triangular": lambda rng: stats.triang(between(rng, 1, 0.2, 0.8).item()),
    "beta_far_leaning": lambda rng: _leaning_beta(rng, 0.4, 6.0, 2.6, 6.0),
}


def _two_normals(share, shift, spread=1.0):
    return lambda x: (1 - share) * stats.norm.cdf(x) + share * stats.norm.cdf(x, shift, spread)


def _shifted(rng, low, high):
    return _two_normals(between(rng, 1, low, high).item(), between(rng, 1, 1.8, 4.5).item())


def _signed_power(power):
    return lambda x: stats.norm.cdf(np.sign(x) * np.abs(x) ** (1 / power))


def _two_slopes(rng):
    power, ratio = log_between(rng, 1, 1.3, 6.0).item(), log_between(rng, 1, 1.2, 4.0).item()
    side = stats.gennorm(power)

    def cdf(x):
        left = 2 / (1 + ratio) * side.cdf(np.minimum(x, 0))
        return left + 2 * ratio / (1 + ratio) * (side.cdf(np.maximum(x, 0) / ratio) - 0.5)

    return cdf


# Distribution functions of those that scipy has none of. Skewed ones are drawn to either side.
WRITTEN_OUT = {
    "shifted_share[0.03-0.1]": lambda rng: _shifted(rng, 0.03, 0.1),
    "shifted_share[0.35-0.5]": lambda rng: _shifted(rng, 0.35, 0.5),
    "power_of_normal_heavy": lambda rng: _signed_power(_after(rng, 1.2, 2.2)),
    "power_of_normal_light": lambda rng: _signed_power(_after(rng, 0.4, 0.85)),
    "two_slopes": _two_slopes,
    "log_gamma": lambda rng: stats.loggamma(log_between(rng, 1, 0.8, 12.0).item()).cdf,
}


def _after(rng, low, high, drawn=20_000):
    """Return a shape that is drawn after the values."""
    rng.standard_normal((1, drawn))
    return between(rng, 1, low, high).item()


@each("seed", [5, 6])
@each("name", WRITTEN_OUT)
def test_a_family_follows_what_is_written_out(name, seed):
    """A row follows the distribution function of its shape, or the mirror image of it."""
    cdf = WRITTEN_OUT[name](np.random.default_rng(seed))
    values = FAMILIES[name].draw(np.random.default_rng(seed), 1, 20_000)[0]
    assert max(stats.kstest(side * values, cdf).pvalue for side in (1, -1)) > 1e-6


def test_random_curves_never_fall():
    """A bent normal keeps the order of the normal it was made of."""
    for seed in range(20):
        z = np.random.default_rng(seed).standard_normal((1, 500))[0]
        bent = FAMILIES["bent_normal"].draw(np.random.default_rng(seed), 1, 500)[0]
        up = np.diff(bent[np.argsort(z)])
        assert (up >= 0).all() or (up <= 0).all()


def test_uneven_quantile_functions_have_their_ends():
    """With a positive power at an end, the values stop there at minus or plus 1 over the power."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rng.random((1, 2_000))
        left, right = between(rng, 1, -0.4, 2.0).item(), between(rng, 1, -0.4, 2.0).item()
        values = FAMILIES["uneven_tukey"].draw(np.random.default_rng(seed), 1, 2_000)[0]
        if left > 0:
            assert values.min() >= -1 / left
        if right > 0:
            assert values.max() <= 1 / right


def test_what_is_cut_off_ends():
    """Both ends are within 3 of the middle; what is drawn between fills most of the range."""
    values = FAMILIES["cut_off"].draw(np.random.default_rng(1), 400, 300)
    assert np.abs(values).max() <= 3
    assert np.abs(values).max(axis=1).min() > 0.25


def test_random_scales_make_heavy_tails():
    """Normals of random variance are heavy-tailed; outliers are few, whatever n is."""
    values = FAMILIES["random_scale"].draw(np.random.default_rng(2), 300, 2_000)
    assert np.mean(stats.kurtosis(values, axis=1) > 0.1) > 0.9
    far = np.abs(FAMILIES["near_outliers"].draw(np.random.default_rng(3), 500, 1_000)) > 3.6
    # Normals alone have one in three samples.
    assert 1 < far.sum(axis=1).mean() < 3.2


def test_parts_of_mixtures_are_where_they_should_be():
    """The variance of a two-part mixture is that of its parts and of their distance."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        share, shift = between(rng, 1, 0.03, 0.5).item(), between(rng, 1, 0.5, 4.5).item()
        rng.random((1, 40_000))
        spread = log_between(rng, 1, 0.25, 4.0).item()
        values = FAMILIES["two_normals"].draw(np.random.default_rng(seed), 1, 40_000)[0]
        expected = 1 - share + share * spread**2 + share * (1 - share) * shift**2
        assert values.var() == pytest.approx(expected, rel=0.06)
        cdf = _two_normals(share, shift, spread)
        assert max(stats.kstest(side * values, cdf).pvalue for side in (1, -1)) > 1e-6


# Families that are one part of a range of shapes, which their name tells.
CUT_FORMS = {
    "student_t": lambda rng, low, high: stats.t(log_between(rng, 1, low, high).item()),
    "gamma": lambda rng, low, high: stats.gamma(log_between(rng, 1, low, high).item()),
    "lognormal": lambda rng, low, high: stats.lognorm(log_between(rng, 1, low, high).item()),
    "weibull": lambda rng, low, high: stats.weibull_min(log_between(rng, 1, low, high).item()),
    "beta": _leaning_beta,
    "beta_leaning": lambda rng, low, high: _leaning_beta(rng, low, high, 1.4, 2.6),
}
RANGES = {
    "student_t": (1.0, 30.0),
    "gamma": (0.3, 20.0),
    "lognormal": (0.1, 2.2),
    "weibull": (0.4, 4.0),
    "beta": (0.4, 12.0),
    "beta_leaning": (0.4, 6.0),
}
CUT_NAMES = [name for name in FAMILIES if "[" in name and not name.startswith("shifted_share")]
MIRRORED = [one.name for one in FAMILIES.values() if one.kind == "skewed" or "leaning" in one.name]


def _cut(name):
    """Return the family that a name is a part of, and the ends of its range."""
    whole, low, high = re.fullmatch(r"(\w+)\[([\d.]+)-([\d.]+)\]", name).groups()
    return whole, float(low), float(high)


def _truncated(end):
    return stats.truncnorm(-end, end)


def _inverse_gaussian(shape):
    return stats.invgauss(1 / shape, scale=shape)


def _follows(name, seed, known):
    values = FAMILIES[name].draw(np.random.default_rng(seed), 1, 20_000)[0]
    if known.support()[0] >= 0:  # a mirrored row has negative values only
        assert np.unique(np.sign(values)).size == 1
        values = np.abs(values)
    return stats.kstest(values, known.cdf).pvalue > 1e-6


@each("seed", [5, 6])
@each("name", CLOSED_FORMS)
def test_a_family_follows_its_distribution(name, seed):
    """A row of a family with a closed form follows that form."""
    assert _follows(name, seed, _one(CLOSED_FORMS[name], seed))


@each("seed", [5, 6])
@each("name", CUT_NAMES)
def test_a_part_of_a_range_follows_its_distribution(name, seed):
    """A row of a family that is part of a range has a shape from between the ends it names."""
    whole, low, high = _cut(name)
    assert _follows(name, seed, CUT_FORMS[whole](np.random.default_rng(seed), low, high))


def test_the_parts_make_the_whole_range():
    """Cut families touch each other from the first shape to the last, all of one kind."""
    parts = [_cut(name) for name in CUT_NAMES]
    assert {whole for whole, _, _ in parts} == set(RANGES)
    for name, (first, last) in RANGES.items():
        ends = [(low, high) for whole, low, high in parts if whole == name]
        assert ends[0][0] == first
        assert ends[-1][1] == last
        assert all(low < high for low, high in ends)
        assert all(before[1] == after[0] for before, after in pairwise(ends))
        kinds = {one.kind for one in FAMILIES.values() if one.name.startswith(f"{name}[")}
        assert len(kinds) == 1


def test_stable_rows_have_their_characteristic_function():
    """A symmetric stable row of index alpha has the characteristic function exp(-|t|**alpha)."""
    for seed in range(5):
        alpha = between(np.random.default_rng(seed), 1, 1.0, 1.95).item()
        values = FAMILIES["stable"].draw(np.random.default_rng(seed), 1, 40_000)[0]
        for t in (0.3, 1.0, 2.0):
            assert np.cos(t * values).mean() == pytest.approx(np.exp(-(t**alpha)), abs=0.025)


@each("name", MIRRORED)
def test_skewed_families_lean_both_ways(name):
    """About half the rows of a skewed family lean to the left."""
    leans = stats.skew(FAMILIES[name].draw(np.random.default_rng(7), 400, 300), axis=1)
    assert 125 < np.sum(leans < 0) < 275


@each("n", [100, 1000, 10_000])
@each("name", [name for name in FAMILIES if name.startswith("near_")])
def test_near_families_stay_hard_but_possible(name, n):
    """A test made for the departure finds a near family sometimes, however large n is."""
    values = FAMILIES[name].draw(np.random.default_rng(11), 200, n)
    made_for = stats.skewtest if name in {"near_gamma", "near_shift_contaminated"} else None
    found = (made_for or stats.kurtosistest)(values, axis=1).pvalue < 0.05
    assert 0.2 < found.mean() < 0.95


def test_the_groups_have_the_published_members():
    """The members of G1 to G4 are those of the published runs, by name and in number."""
    assert list(GROUPS) == ["G1", "G2", "G3", "G4"]
    assert [len(members) for members in GROUPS.values()] == [4, 3, 8, 5]


MEMBERS = {
    "t(1)": stats.t(1),
    "t(3)": stats.t(3),
    "logistic": stats.logistic(),
    "laplace": stats.laplace(),
    "gumbel(0, 1)": stats.gumbel_r(0, 1),
    "gumbel(0, 2)": stats.gumbel_r(0, 2),
    "gumbel(0, 1/2)": stats.gumbel_r(0, 0.5),
    "1 + exponential": stats.expon(1),
    "gamma(2)": stats.gamma(2),
    "gamma(1/2)": stats.gamma(0.5),
    "lognormal(0, 1)": stats.lognorm(1),
    "lognormal(0, 2)": stats.lognorm(2),
    "lognormal(0, 1/2)": stats.lognorm(0.5),
    "weibull(1/2)": stats.weibull_min(0.5),
    "weibull(2)": stats.weibull_min(2),
    "uniform": stats.uniform(),
    "beta(2, 2)": stats.beta(2, 2),
    "beta(1/2, 1/2)": stats.beta(0.5, 0.5),
    "beta(3, 3/2)": stats.beta(3, 1.5),
    "beta(2, 1)": stats.beta(2, 1),
}


def test_members_follow_their_distributions():
    """Every member of every group has its distribution, on its own scale."""
    members = {name: draw for group in GROUPS.values() for name, draw in group.items()}
    assert list(members) == list(MEMBERS)
    for name, draw in members.items():
        values = draw(np.random.default_rng(13), 100, 200)
        assert values.shape == (100, 200)
        assert stats.kstest(values.ravel(), MEMBERS[name].cdf).pvalue > 1e-6


def test_a_group_is_drawn_in_equal_shares():
    """Members follow each other, the first ones with one row more when rows do not divide."""
    values = draw_group(np.random.default_rng(17), "G2", 3001, 20)
    assert values.shape == (3001, 20)
    first, second, third = np.split(values, [1001, 2001])
    for part, scale in ((first, 1), (second, 2), (third, 0.5)):
        assert stats.kstest(part.ravel(), stats.gumbel_r(0, scale).cdf).pvalue > 1e-6
    assert draw_group(np.random.default_rng(17), "G3", 2, 5).shape == (2, 5)


def test_unknown_groups_are_refused():
    """A wrong name is answered with the right ones."""
    with pytest.raises(InputError, match='name=\'G5\' must be "G1", "G2", "G3" or "G4"'):
        draw_group(np.random.default_rng(0), "G5", 3, 5)
