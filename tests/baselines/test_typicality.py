"""Typicality indices: the exact F law, and ranks of densities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

import ratekeeper as rk
from ratekeeper.baselines import DensityTypicality, GaussianTypicality

# Of normal classes one in a hundred is suspected, and others here are meant to be.
pytestmark = pytest.mark.filterwarnings("ignore:.*do not look normal")
SIGMAS = 5.0  # a right build stays inside with probability above 1 - 1e-6


def classes(rng, n, d, other=None):
    """Return n normal rows of class 1 and as many or `other` of class 0, correlated, moved."""
    mixing = np.eye(d) + 0.5
    X = rng.normal(size=(n + (other or n), d)) @ mixing
    y = np.arange(len(X)) < n
    return X + 3.0 * ~y[:, None], y.astype(int)


def put_out(clf, draw, sets, objects, seed):
    """Return the share of positives put out of their class, for each of many training sets."""
    rng = np.random.default_rng(seed)
    shares = []
    for _ in range(sets):
        X, y = draw(rng)
        new, label = draw(rng)
        new = new[label == 1][:objects]
        shares.append(np.mean(clf.fit(X, y).predict(new) == 0))
    return np.array(shares)


def test_f_law_by_hand():
    """P-values are those of the textbook formula with an explicit inverse covariance."""
    rng = np.random.default_rng(0)
    X, y = classes(rng, 20, 3, other=31)
    new = rng.normal(size=(9, 3)) * 3
    for covariance in ("pooled", "class"):
        clf = GaussianTypicality(covariance=covariance).fit(X, y)
        p = clf.p_values(new)
        for label, found in ((0, p.p0), (1, p.p1)):
            rows = X[y == label]
            n, d = rows.shape
            if covariance == "class":
                S = np.cov(rows.T)
            else:
                S = (30 * np.cov(X[y == 0].T) + 19 * np.cov(X[y == 1].T)) / 49
            gap = new - rows.mean(axis=0)
            squared = np.sum(gap @ np.linalg.inv(S) * gap, axis=1)
            if covariance == "class":
                F = stats.f.sf(n * (n - d) * squared / (d * (n**2 - 1)), d, n - d)
            else:
                F = stats.f.sf(n * (49 - d + 1) * squared / ((n + 1) * d * 49), d, 49 - d + 1)
            np.testing.assert_allclose(found, F, rtol=1e-9)
            plug_in = GaussianTypicality(covariance=covariance, reference="chi2").fit(X, y)
            p_chi2 = plug_in.p_values(new)
            np.testing.assert_allclose(
                (p_chi2.p0, p_chi2.p1)[label], stats.chi2.sf(squared, d), rtol=1e-9
            )


@pytest.mark.thorough
@pytest.mark.parametrize("covariance", ["pooled", "class"])
@pytest.mark.parametrize(("n", "d"), [(20, 3), (50, 5)])
def test_f_law_is_exact(covariance, n, d):
    """Under normal classes the F form puts out exactly alpha, on average over training sets."""
    clf = GaussianTypicality(covariance=covariance, alpha=0.05)
    shares = put_out(clf, lambda rng: classes(rng, n, d), sets=600, objects=n, seed=n + d)
    assert abs(shares.mean() - 0.05) < SIGMAS * shares.std() / np.sqrt(len(shares))
    assert shares.std() / np.sqrt(len(shares)) < 0.004


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("n", "d", "rate"), [(20, 3, 0.1230), (50, 5, 0.0979)])
def test_chi_square_puts_out_too_many(n, d, rate):
    """The plug-in rate follows from the F law: 12.3% and 9.8% where 5% is asked for."""
    limit = stats.chi2.isf(0.05, d)
    assert stats.f.sf(n * (n - d) * limit / (d * (n**2 - 1)), d, n - d) == pytest.approx(
        rate, abs=1e-4
    )
    clf = GaussianTypicality(covariance="class", reference="chi2", alpha=0.05)
    shares = put_out(clf, lambda rng: classes(rng, n, d), sets=400, objects=n, seed=n)
    assert abs(shares.mean() - rate) < SIGMAS * shares.std() / np.sqrt(len(shares))


def test_units_do_not_matter():
    """Any invertible linear map of the columns, however unequal its units, leaves p-values."""
    rng = np.random.default_rng(1)
    X, y = classes(rng, 30, 3)
    new = rng.normal(size=(5, 3))
    by = rng.normal(size=(3, 3)) * [1e-8, 1.0, 1e8]
    for covariance in ("pooled", "class"):
        clf = GaussianTypicality(covariance=covariance)
        one, two = clf.fit(X, y).p_values(new), clf.fit(X @ by, y).p_values(new @ by)
        np.testing.assert_allclose(one.p1, two.p1, rtol=1e-6)
        np.testing.assert_allclose(one.p0, two.p0, rtol=1e-6)


def test_both_sides_are_atypical():
    """An object far on the side away from the other class is put out, too, as documented."""
    X, y = classes(np.random.default_rng(2), 50, 2)  # class 1 around 0, class 0 around 3
    assert GaussianTypicality().fit(X, y).predict([[-9.0, -9.0]]) == [0]


def test_smallest_number_of_rows():
    """With nu - d + 1 = 1 it works; with one column more, it is refused with the number needed."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 10)), np.repeat([0, 1], 6)
    assert GaussianTypicality().fit(X, y).n_training_ == 12
    assert GaussianTypicality(covariance="class").fit(X[:, :5], y).null_model_.freedom == 5
    with pytest.raises(
        rk.TooFewScoresError, match=r"11 columns needs at least 13.*are 12"
    ) as found:
        GaussianTypicality().fit(rng.normal(size=(12, 11)), y)
    assert (found.value.available, found.value.needed) == (12, 13)
    with pytest.raises(rk.TooFewScoresError, match=r"7 rows of each.*are 6.*covariance='pooled'"):
        GaussianTypicality(covariance="class").fit(X[:, :6], y)


@pytest.mark.parametrize("covariance", ["pooled", "class"])
def test_singular_covariance_is_refused(covariance):
    """Constant columns and combinations of columns are refused, also far from 0."""
    rng = np.random.default_rng(4)
    X, y = classes(rng, 30, 3)
    clf = GaussianTypicality(covariance=covariance)
    bad = X.copy()
    bad[:, 1] = 0.1 + y  # varies between the classes only
    with pytest.raises(rk.InputError, match=r"Column 1 has no spread within a class.*drop"):
        clf.fit(bad, y)
    for offset in (0.0, 1e6):
        bad = np.column_stack([X, X @ [1.0, -2.0, 0.5] + offset]) + offset
        with pytest.raises(rk.InputError, match=r"4 columns is singular.*PCA"):
            clf.fit(bad, y)
    assert clf.fit(X + 1e6, y).n_training_ == 60


def test_gaussian_refuses_odd_parameters():
    """Unknown words are refused with those that are known."""
    X, y = classes(np.random.default_rng(5), 30, 2)
    with pytest.raises(rk.InputError, match=r"covariance='full' must be \"pooled\" or \"class\""):
        GaussianTypicality(covariance="full").fit(X, y)
    with pytest.raises(rk.InputError, match=r"reference=None must be \"f\" or \"chi2\""):
        GaussianTypicality(reference=None).fit(X, y)


def test_guarantees():
    """The F law is marginal, the plug-in asymptotic, held-out ranks marginal, others nothing."""
    assert GaussianTypicality().guarantee.kind == "marginal"
    assert "same covariance" in GaussianTypicality().guarantee.condition
    assert "same covariance" not in GaussianTypicality(covariance="class").guarantee.condition
    assert GaussianTypicality(reference="chi2").guarantee.kind == "asymptotic"
    assert DensityTypicality().guarantee == rk.Conformal().guarantee
    assert DensityTypicality(held_out=False).guarantee.kind == "none"


# Ranks of densities


def skewed(rng, n=59):
    """Return rows that no normal law fits."""
    X = rng.exponential(size=(2 * n, 2)) ** 2
    y = np.repeat([0, 1], n)
    return X + y[:, None], y


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    "density", [None, GaussianMixture(init_params="random_from_data", random_state=0)]
)
def test_ranks_are_valid(density):
    """Held-out ranks put out k / (n + 1) of the null class, whatever the class and the density."""
    # 29 or 30 of 59 rows are held out: k = 3 of 30 or of 31.
    clf = DensityTypicality(density=density, alpha=0.1, random_state=0)
    shares = put_out(clf, skewed, sets=80, objects=59, seed=0)
    held_out = clf.null_scores_.size
    expected = int(0.1 * (held_out + 1)) / (held_out + 1)
    assert abs(shares.mean() - expected) < SIGMAS * shares.std() / np.sqrt(len(shares))


def test_resubstitution_is_not_valid():
    """Ranks among the rows that made the density put out more than alpha."""
    clf = DensityTypicality(
        density=KernelDensity(bandwidth=0.05), alpha=0.1, held_out=False, random_state=0
    )
    shares = put_out(clf, skewed, sets=60, objects=59, seed=1)
    assert shares.mean() - SIGMAS * shares.std() / np.sqrt(len(shares)) > 0.2
    assert clf.n_training_ == 118


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_ranks_by_hand(control):
    """The p-value counts the held-out rows that are at most as dense, and the object itself."""
    X, y = skewed(np.random.default_rng(2))
    clf = DensityTypicality(control=control, alpha=0.1, random_state=0).fit(X, y)
    new = X[::7] + 0.01
    p = clf.p_values(new)
    for label, found in ((0, p.p0), (1, p.p1)):
        is_null = label == (control == "fnr")
        model = clf.null_density_ if is_null else clf.other_density_
        scores = clf.null_scores_ if is_null else clf.other_scores_
        mine = model.score_samples(new)
        count = (scores[None, :] <= mine[:, None]).sum(axis=1)
        np.testing.assert_array_equal(found, (1 + count) / (scores.size + 1))
        assert np.isin(scores, model.score_samples(X[y == label])).all()
    assert clf.n_training_ + clf.null_scores_.size + clf.other_scores_.size == len(X)


def test_no_density_is_least_typical():
    """Where a kernel of bounded reach gives no density at all, the p-value is the smallest."""
    X, y = skewed(np.random.default_rng(3))
    clf = DensityTypicality(density=KernelDensity(kernel="tophat"), alpha=0.1, random_state=0)
    clf.fit(X, y)
    ties = np.sum(clf.null_scores_ == -np.inf)
    assert clf.p_values([[1e9, 1e9]]).p1 == (1 + ties) / (clf.null_scores_.size + 1)


def test_density_refusals():
    """Too few rows, no density, odd switches and NaN densities are refused in words."""
    X, y = skewed(np.random.default_rng(4), n=30)
    with pytest.raises(rk.TooFewScoresError, match=r"alpha=0.05 needs at least 19.*are 15") as e:
        DensityTypicality().fit(X, y)
    assert (e.value.available, e.value.needed) == (15, 19)
    assert DensityTypicality(calibration_size=0.7).fit(X, y).null_scores_.size == 21
    with pytest.raises(rk.InputError, match="with fit and score_samples"):
        DensityTypicality(density="kde").fit(X, y)
    with pytest.raises(rk.InputError, match="held_out='no' must be True or False"):
        DensityTypicality(held_out="no").fit(X, y)
    with pytest.raises(rk.InputError, match="calibration_size=1 "):
        DensityTypicality(calibration_size=1).fit(X, y)

    class Broken(KernelDensity):
        def score_samples(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(rk.InputError, match="gives NaN"):
        DensityTypicality(density=Broken(), alpha=0.1).fit(X, y)


@pytest.mark.thorough
def test_the_check_of_normality_has_its_level():
    """Of normal classes at most about 1% are suspected, whatever the covariance."""
    rng = np.random.default_rng(8)
    for covariance in ("pooled", "class"):
        clf = GaussianTypicality(covariance=covariance)
        p = [clf.fit(*classes(rng, 40, 3, other=30)).normality_p_value_ for _ in range(250)]
        assert sum(value < 0.01 for value in p) <= stats.binom(250, 0.02).ppf(1 - 1e-6)
        assert min(p) < 0.2  # it is a p-value, times twelve or six
        assert max(p) <= 1


def test_classes_that_are_not_normal_are_told():
    """A skewed column of the class that matters is warned of; one of the other class is not."""
    rng = np.random.default_rng(9)
    X, y = classes(rng, 150, 3, other=150)
    skewed = X.copy()
    skewed[y == 1, 1] = rng.exponential(size=150)
    with pytest.warns(
        rk.exceptions.RatekeeperWarning, match=r"300 rows do not look normal \(Shapiro-Wilk"
    ):
        GaussianTypicality().fit(skewed, y)
    with pytest.warns(rk.exceptions.RatekeeperWarning, match="150 rows do not look normal"):
        clf = GaussianTypicality(covariance="class").fit(skewed, y)
    rows = skewed[y == 1] - skewed[y == 1].mean(axis=0)
    whitened = rows @ np.linalg.inv(np.linalg.cholesky(np.cov(rows.T))).T
    assert clf.normality_p_value_ < 0.01
    p = [stats.shapiro(column).pvalue for column in (*rows.T, *whitened.T)]
    assert clf.normality_p_value_ <= 6 * min(p[:3])  # its combinations are others than Cholesky's
    other = GaussianTypicality(control="fpr", covariance="class").fit(skewed, y)
    assert other.normality_p_value_ > 0.01
