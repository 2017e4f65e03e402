"""Weights: new objects of another population than the calibration objects, in a known way."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight

import ratekeeper as rk
from ratekeeper import plots, report, sql


def shifted(n=600, shift=0.0, seed=0):
    """Return scores, labels and weights of objects whose feature lies higher by a shift."""
    rng = np.random.default_rng(seed)
    x = rng.normal(shift, 1, n)
    labels = rng.random(n) < 1 / (1 + np.exp(-x))
    return x + labels + rng.normal(size=n), labels, np.exp(0.5 * x)


@pytest.fixture
def cal():
    scores, labels, weights = shifted()
    return rk.calibrate(scores, labels, weights=weights)


@pytest.fixture
def test(cal):
    return cal.control("fnr", 0.1, method="conformal")


def effective_n(weights):
    """Return Kish's effective sample size."""
    return weights.sum() ** 2 / (weights**2).sum()


def by_hand(scores, weights, new, own, *, low):
    """Return weighted p-values term by term."""
    beyond = scores[None, :] <= new[:, None] if low else scores[None, :] >= new[:, None]
    return ((beyond * weights).sum(axis=1) + own) / (weights.sum() + own)


def test_p_values_are_weighted_shares(cal):
    """A p-value is the weight of all that is as extreme, the object included, over all weight."""
    scores, labels, weights = shifted()
    new, _, own = shifted(50, 0.5, seed=1)
    p = cal.p_values(new, weights=own)
    for found, label, low in ((p.p1, True, True), (p.p0, False, False)):
        mine = labels == label
        expected = by_hand(scores[mine], weights[mine], new, own, low=low)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_only_ratios_matter(test, cal):
    """A factor for all weights, old and new, changes nothing; nor does equal weight for all."""
    scores, labels, weights = shifted()
    new, _, own = shifted(200, 0.5, seed=1)
    scaled = rk.calibrate(scores, labels, weights=8 * weights)
    np.testing.assert_allclose(
        scaled.p_values(new, weights=8 * own).p1, cal.p_values(new, weights=own).p1, rtol=1e-12
    )
    plain = rk.calibrate(scores, labels).p_values(new)
    equal = rk.calibrate(scores, labels, weights=np.full(600, 4.0)).p_values(new, weights=4)
    np.testing.assert_array_equal(equal.p0, plain.p0)


def test_whole_numbers_are_repeats():
    """Whole-number weights and a new weight of 1 give the very p-values of repeated rows."""
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=80).round(1), np.arange(80) % 2
    counts = rng.integers(0, 4, 80)
    new = np.linspace(-2, 2, 41)
    weighted = rk.calibrate(scores, labels, weights=counts)
    repeated = rk.calibrate(np.repeat(scores, counts), np.repeat(labels, counts))
    for one, two in zip(
        (weighted.p_values(new, weights=1).p0, weighted.p_values(new, weights=1).p1),
        (repeated.p_values(new).p0, repeated.p_values(new).p1),
        strict=True,
    ):
        np.testing.assert_array_equal(one, two)
    test = weighted.control("fpr", 0.1, method="conformal")
    threshold = repeated.control("fpr", 0.1, method="conformal").threshold
    assert test.thresholds_at(1) == {None: threshold}


def test_a_larger_weight_is_safe(test):
    """P-values grow with the weight of the object, so a bound on it can stand for it."""
    new, _, own = shifted(200, 0.5, seed=1)
    exact, bounded = (test.p_values(new, weights=w).p1 for w in (own, own.max()))
    assert (bounded >= exact).all()
    (threshold,) = test.thresholds_at(float(own.max())).values()
    expected = new >= threshold
    np.testing.assert_array_equal(test.decide(new, weights=own.max()).positive, expected)


def test_objects_of_weight_zero_never_count():
    """An object of weight 0 might as well not be there, nor a group of such."""
    scores, labels, weights = shifted(300)
    weights[::3] = 0
    kept = weights > 0
    groups = np.where(kept, "a", "b")
    one = rk.calibrate(scores, labels, groups=groups, weights=weights)
    two = rk.calibrate(scores[kept], labels[kept], groups=groups[kept], weights=weights[kept])
    assert one == two
    assert one.groups.tolist() == ["a"]
    with pytest.raises(rk.InputError, match="Every positive object has the weight 0"):
        rk.calibrate(scores, labels, weights=~labels)


def test_the_certificate_says_what_the_weights_leave(test):
    """It names the population, the effective sample size, and that no interval is known."""
    text = str(test.certificate)
    for said in ("population that the weights describe", "effective sample size", "no interval"):
        assert said in text.replace("\n  ", " ")
    facts = test.certificate.to_dict()
    positive = np.concatenate(test.calibration.weights[1])
    assert facts["weights"]["effective_positive"] == pytest.approx(effective_n(positive))
    assert facts["cells"][0]["threshold"] is None
    assert facts["cells"][0]["realised_rate"] is None
    assert facts["alerts"] is None
    assert "weight of the object" in repr(test)
    assert "weighted" in repr(test.calibration)
    assert test.certificate._repr_html_()
    assert test._repr_html_()


def test_the_price_is_weighed(test):
    """The other error is the share, by weight, of calibration objects of the other class."""
    scores, labels, weights = shifted()
    own = weights[~labels]
    called = test.decide(scores[~labels], weights=own).positive
    assert test.other_error.rate == pytest.approx(own[called].sum() / own.sum())
    assert test.other_error.interval == (0.0, 1.0)


def test_groups_are_weighed_apart():
    """Each group has its own effective number, in text and in JSON, and thin ones are refused."""
    scores, labels, weights = shifted(900)
    groups = np.arange(900) % 3
    grouped = rk.calibrate(scores, labels, groups=groups, weights=weights)
    test = grouped.control("fnr", 0.1, method="conformal")
    mine = (groups == 1) & labels
    assert test.certificate.to_dict()["cells"][1]["effective_n"] == pytest.approx(
        effective_n(weights[mine])
    )
    assert "Effective number of scores" in str(test.certificate)
    new, _, own = shifted(60, 0.5, seed=1)
    which = np.arange(60) % 3
    p = test.p_values(new, which, weights=own).p1
    expected = by_hand(scores[mine], weights[mine], new[which == 1], own[which == 1], low=True)
    np.testing.assert_allclose(p[which == 1], expected)
    few = np.where((groups == 2) & (np.arange(900) > 20), 0, 1)
    thin = rk.calibrate(scores, one_class="positive", groups=groups, weights=few)
    with pytest.raises(rk.TooFewScoresError, match="in group 2: 7"):
        thin.control("fnr", 0.1, method="conformal")
    pooled = thin.control("fnr", 0.1, method="conformal", thin_groups="pool")
    assert pooled.certificate.pooled_groups == (2,)


def test_unequal_weights_allow_less():
    """Few effective objects refuse an alpha that as many rows would allow."""
    scores, labels, _ = shifted(400)
    weights = np.where(np.arange(400) < 10, 100.0, 0.1)
    with pytest.raises(rk.TooFewScoresError, match="effective number") as error:
        rk.calibrate(scores, labels, weights=weights).control("fnr", 0.05, method="conformal")
    assert error.value.needed == 19


def test_both_rates(cal):
    """A test of both rates compares both weighted p-values, and may rule out both classes."""
    test = cal.control_both(0.1, 0.2, method="conformal")
    new, labels, own = shifted(300, 0.5, seed=1)
    p, found = test.p_values(new, weights=own), test.decide(new, weights=own)
    np.testing.assert_array_equal(found.positive, (p.p1 > 0.1) & (p.p0 <= 0.2))
    np.testing.assert_array_equal(found.abstained, (p.p1 > 0.1) & (p.p0 > 0.2))
    assert "rule out both classes" in str(test.certificate).replace("\n  ", " ")
    assert test.evaluate(new, labels, weights=own).fnr.target.n == labels.sum()


def test_evaluation_counts_new_objects_as_they_are(test):
    """Weights decide; the errors of new objects are counted without them."""
    new, labels, own = shifted(400, 0.5, seed=1)
    found = test.evaluate(new, labels, weights=own)
    missed = ~test.decide(new, weights=own).positive & labels
    assert (found.target.errors, found.target.n) == (missed.sum(), labels.sum())
    assert found.verdict == "in line"


def test_what_needs_equal_objects_is_refused(cal, test, tmp_path):
    """Nothing that counts objects or needs a threshold takes weights, and all name the way out."""
    scores, labels, _ = shifted(100, seed=2)
    refused = {
        "high probability": lambda: cal.control("fnr", 0.1),
        "smoothed": lambda: cal.control("fnr", 0.1, method="smoothed"),
        "p-values": lambda: cal.p_values(scores, weights=1, method="empirical"),
        "precision": lambda: cal.control_precision(0.8),
        "alerts": lambda: cal.control_alerts(0.1),
        "practice": test.alerts,
        "select": lambda: cal.select(scores, 0.1),
        "cheapest": lambda: cal.cheapest(cost_fn=1, cost_fp=1),
        "price": lambda: cal.labels_for_price("fnr", 0.1, price=0.3, method="conformal"),
        "sql": lambda: sql.decision_sql(test, table="rows", score="risk"),
        "report": lambda: report.build(test),
        "plot": lambda: plots.ScoreDensityDisplay.from_calibration(test, draw=False),
        "table": lambda: rk.diagnostics.rate_against_alpha(
            cal, scores, labels, [0.1], control="fnr"
        ),
    }
    for what, run in refused.items():
        with pytest.raises(rk.InputError, match="rejection"):
            pytest.fail(f"{what}: {run()}")
    with pytest.raises(rk.exceptions.NoThresholdError, match="weight of an object"):
        _ = test.threshold


def test_bad_weights_are_refused(test):
    """A weight is a positive number for each object, on both sides or on none."""
    scores, labels, weights = shifted(40)
    for wrong, message in (
        (-weights, "weights has -"),
        (np.where(weights > 1, np.inf, weights), "weights has inf"),
        (np.where(weights > 1, np.nan, weights), "NaN"),
        (weights[1:], "39"),
        (["a"] * 40, "weights"),
        (weights * 1e200, "1e\\+100|weights has"),
    ):
        with pytest.raises(rk.InputError, match=message):
            rk.calibrate(scores, labels, weights=wrong)
    with pytest.raises(rk.InputError, match="so must the new ones"):
        test.decide(scores)
    with pytest.raises(rk.InputError, match=r"weights has 0\.0 at position 0"):
        test.decide(scores, weights=0)
    plain = rk.calibrate(scores, labels).control("fnr", 0.2, method="conformal")
    with pytest.raises(rk.InputError, match="calibration has no weights"):
        plain.decide(scores, weights=weights)
    with pytest.raises(rk.InputError, match="has no weights"):
        plain.thresholds_at(1)
    with pytest.raises(rk.InputError, match="no promise is known for both"):
        rk.calibrate(scores, labels, weights=weights, clusters=np.arange(40))


def test_files_and_copies(test, cal, tmp_path):
    """Weighted calibrations and tests are saved, pickled, pooled and merged with their weights."""
    new, _, own = shifted(50, 0.5, seed=1)
    for made in (test, cal.control_both(0.1, 0.1, method="conformal")):
        rk.save(made, tmp_path / "test.rk")
        for copy in (rk.load(tmp_path / "test.rk"), pickle.loads(pickle.dumps(made))):  # noqa: S301
            np.testing.assert_array_equal(
                copy.p_values(new, weights=own).p1, made.p_values(new, weights=own).p1
            )
    scores, labels, weights = shifted(600)
    halves = [
        rk.calibrate(scores[part], labels[part], weights=weights[part])
        for part in (slice(200), slice(200, None))
    ]
    assert halves[0].merge(halves[1]) == cal
    groups = np.arange(600) % 4
    assert rk.calibrate(scores, labels, groups=groups, weights=weights).pooled() == cal
    assert cal != rk.calibrate(scores, labels)
    spoiled = replace(cal, weights=tuple((-own[0],) for own in cal.weights))
    with pytest.raises(rk.InputError, match="no positive number"):
        rk.save(spoiled, tmp_path / "spoiled.rk")


# Rejection


def test_rejection_keeps_each_object_with_its_chance():
    """Objects are kept with the chance weight / bound, whatever the order, and by the seed."""
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=20_000), np.arange(20_000) % 2
    weights = np.where(scores > 0, 4.0, 1.0)
    how = {"rejection": 4, "random_state": 0}
    one = rk.calibrate(scores, labels, weights=weights, **how)
    kept = np.concatenate([one.cells[0][0], one.cells[1][0]])
    assert (kept > 0).sum() == (scores > 0).sum()
    assert abs((kept <= 0).sum() / (scores <= 0).sum() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 1e4)
    order = rng.permutation(scores.size)
    again = rk.calibrate(scores[order], labels[order], weights=weights[order], **how)
    assert again == one
    other = rk.calibrate(scores, labels, weights=weights, rejection=4, random_state=1)
    assert other != one
    assert one.weights is None


def test_rejection_is_said(tmp_path):
    """The certificate names the bound and how many were kept, also after saving; no merging."""
    scores, labels, weights = shifted(900)
    kept = rk.calibrate(scores, labels, weights=np.minimum(weights, 4), rejection=4)
    test = kept.control("fnr", 0.1)
    n = sum(cell.size for cells in kept.cells for cell in cells)
    text = str(test.certificate).replace("\n  ", " ")
    assert f"{n:,} of 900 calibration objects were kept at random" in text
    assert "weight / 4" in text
    rk.save(test, tmp_path / "test.rk")
    assert str(rk.load(tmp_path / "test.rk").certificate) == str(test.certificate)
    with pytest.raises(rk.InputError, match="cannot be merged"):
        kept.merge(rk.calibrate(scores, labels))


def test_bad_bounds_are_refused():
    """A bound is a number that is stated, and that no weight exceeds; a class must be left."""
    scores, labels, weights = shifted(100)
    for options, message in (
        ({"weights": weights, "rejection": True}, "bound itself"),
        ({"weights": weights, "rejection": 0}, "rejection=0"),
        ({"weights": weights, "rejection": 1.0}, "above the stated bound 1"),
        ({"rejection": 3}, "there are none"),
        ({"weights": weights, "rejection": 1e9}, "None of .* was kept"),
    ):
        with pytest.raises(rk.InputError, match=message):
            rk.calibrate(scores, labels, **options)


# Estimated weights


def test_estimated_weights_are_near_the_true_ones():
    """A logistic regression finds the ratio of two normal densities, for rows it has not seen."""
    rng = np.random.default_rng(0)
    old, new = rng.normal(0, 1, (4000, 1)), rng.normal(0.5, 1, (3000, 1))
    ratio = rk.estimators.density_ratio(old, new, bound=8)
    true = np.exp(0.5 * old[:, 0] - 0.125)
    assert np.abs(ratio.weights - true).mean() < 0.1
    assert ratio.new_weights.size == 3000
    assert ratio.weights.max() <= ratio.bound == 8
    assert 0.6 < ratio.auc < 0.68
    assert ratio.effective_n == pytest.approx(4000 / np.exp(0.25), rel=0.1)
    np.testing.assert_allclose(ratio.predict(old[:50]), ratio.weights[:50], rtol=0.2)
    assert "approximate" in ratio.remark
    assert "approximate" in repr(ratio)
    assert ratio.to_dict()["folds"] == 5
    assert "card" in ratio._repr_html_() or ratio._repr_html_()
    assert len(repr(ratio).splitlines()) == 4


def test_density_ratio_takes_tables_and_refuses_nonsense():
    """Data frames and sparse matrices go to the classifier as they are; errors say what to do."""
    pd = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(100, 2)), rng.normal(0.3, 1, (80, 2))
    plain = rk.estimators.density_ratio(old, new, LogisticRegression())
    frames = (pd.DataFrame(part, columns=["a", "b"]) for part in (old, new))
    for one, two in (tuple(frames), (sparse.csr_matrix(old), sparse.csr_matrix(new))):
        found = rk.estimators.density_ratio(one, two, LogisticRegression())
        np.testing.assert_allclose(found.weights, plain.weights, rtol=1e-4)
    with pytest.raises(rk.InputError, match="fewer than the 5 folds"):
        rk.estimators.density_ratio(old, new[:3])
    with pytest.raises(rk.InputError, match="predict_proba"):
        rk.estimators.density_ratio(old, new, object())
    with pytest.raises(rk.InputError, match="bound=-1"):
        rk.estimators.density_ratio(old, new, bound=-1)


def two_tables(make):
    rng = np.random.default_rng(0)
    return make(rng.normal(size=(100, 2))), make(rng.normal(0.3, 1, (80, 2)))


def named(*names):
    pd = pytest.importorskip("pandas")
    return lambda values: pd.DataFrame(values, columns=list(names))


class Unsure(LogisticRegression):
    """Gives no probabilities."""

    def predict_proba(self, X):
        """Say that nothing is known."""
        return np.full((len(X), 2), np.nan)


def sparse_matrix(values):
    return pytest.importorskip("scipy.sparse").csr_matrix(values)


def test_rows_that_no_weights_can_be_made_of_are_refused():
    """Gaps, other columns and other shapes get an error of ours, with the table that is wrong."""
    old, new = two_tables(np.asarray)
    gap, far = old.copy(), new.copy()
    gap[3, 1], far[2, 0], far[5, 0] = np.nan, np.inf, np.nan
    frames = two_tables(named("a", "b"))
    missing = HistGradientBoostingClassifier(max_iter=5)
    refused = [
        ((gap, new), "X_old has nan in row 3, column 1. Fill"),
        ((old, far), "X_new has inf in row 2, column 0, and 1 more such value"),
        ((sparse_matrix(gap), new), "X_old has nan"),
        ((gap, new, LogisticRegression()), "The classifier does not take these rows: .*NaN"),
        ((old, new, Unsure()), "gives nan as a probability"),
        ((old, new[:, :1]), "X_old has 2 columns and X_new 1"),
        ((old, new[:, :1], missing), "X_old has 2 columns and X_new 1"),
        ((old[:, 0], new[:, 0]), r"X_old is one column of numbers. Pass X_old\[:, None\]"),
        ((old, new.tolist()[0]), "X_new is one column"),
        ((None, new), "X_old is a NoneType"),
        ((old.astype(str), new.astype(str) + "x"), "X_new has values that are not numbers"),
        ((frames[0], named("a", "c")(new)), "X_new has other columns .*no 'b' and also has 'c'"),
        ((frames[0], named("a", "c")(new), missing), "no 'b' and also has 'c'"),
        ((named("a", "a")(old), frames[1]), "X_old has more than one column named 'a'"),
        ((frames[0], named("b", "b")(new)), "X_new has more than one column named 'b'"),
    ]
    for arguments, words in refused:
        with pytest.raises(rk.InputError, match=words):
            rk.estimators.density_ratio(*arguments)
    ratio = rk.estimators.density_ratio(*frames)
    for X, words in (
        (frames[1][["a"]], "X has other columns than X_old: it has no 'b'"),
        (named("a", "b")(gap), "does not take these rows"),
    ):
        with pytest.raises(rk.InputError, match=words):
            ratio.predict(X)
    assert np.isfinite(rk.estimators.density_ratio(gap, new, missing).weights).all()


def test_columns_are_paired_by_name():
    """New rows whose columns come in another order get the weights of the same rows in order."""
    polars = pytest.importorskip("polars")
    tables = named("a", "b"), lambda values: polars.DataFrame(values, schema=["a", "b"])
    for old, new in map(two_tables, tables):
        ratio, turned = (
            rk.estimators.density_ratio(old, new),
            rk.estimators.density_ratio(old, new[["b", "a"]]),
        )
        np.testing.assert_array_equal(turned.weights, ratio.weights)
        np.testing.assert_array_equal(turned.new_weights, ratio.new_weights)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of names that the models do not have
            np.testing.assert_array_equal(ratio.predict(new[["b", "a"]]), ratio.predict(new))


def test_rows_that_are_told_apart_perfectly_get_a_warning():
    """All old weights are then equal, and would pass for those of a population without a shift."""
    old, new = two_tables(np.asarray)
    with pytest.warns(
        rk.exceptions.ShiftWarning, match=r"perfectly \(area .* 1.000\).*no weights help"
    ) as seen:
        ratio = rk.estimators.density_ratio(old, new + 100.0)
    assert seen[0].filename == __file__
    assert ratio.separates
    assert "no weights help" in ratio.remark
    apart = rk.estimators.density_ratio(old, new + 2.0)  # with overlap
    assert 0.97 < apart.auc < 0.9995
    assert not apart.separates
    assert "no weights help" not in apart.remark


# The controller


def frozen(X, y, **options):
    model = LogisticRegression().fit(X, y)
    return rk.ErrorRateController(FrozenEstimator(model), method=rk.Conformal(), **options)


def test_a_density_ratio_fits_a_terminal():
    """No line is wider than a terminal, with a million rows either."""
    rng = np.random.default_rng(0)
    ratio = rk.estimators.density_ratio(rng.normal(0, 1, (600, 1)), rng.normal(1, 1, (500, 1)))
    many = replace(ratio, weights=np.ones(10**6), new_weights=np.ones(10**6))
    assert max(map(len, repr(many).split("\n"))) < 80


def test_controller_weighs_the_calibration_when_asked():
    """With weight_calibration, whole-number weights are repeats; else they are for training."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    counts = rng.integers(0, 4, 300)
    plain = frozen(X, y).fit(X, y, sample_weight=counts)
    assert plain.test_.calibration.weights is None
    weighted = frozen(X, y, weight_calibration=True).fit(X, y, sample_weight=counts)
    repeated = frozen(X, y).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    for method in ("predict", "decision_function"):
        np.testing.assert_array_equal(
            getattr(weighted, method)(X), getattr(repeated, method)(X), err_msg=method
        )
    np.testing.assert_array_equal(weighted.p_values(X).p0, repeated.p_values(X).p0)
    assert "weights describe" in weighted.guarantee.promise
    heavier = weighted.p_values(X, weights=np.full(300, 3.0)).p1
    assert (heavier >= weighted.p_values(X).p1).all()
    margin = weighted.decision_function(X, weights=np.full(300, 3.0))
    np.testing.assert_array_equal(margin > 0, weighted.predict(X, weights=3.0) == 1)


def test_controller_refuses_class_weights():
    """They would let the new object count for less: 2 / 17 = 0.118 on average, for 0.1.

    Exactly so with 16 positives of weight 10, since (10 m + 1) / (10 n + 1) <= 0.1 for m = 0 and
    m = 1, each of which has the chance 1 / 17. As weights of the training they do no harm.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    null = rk.calibrate(
        np.r_[np.arange(16.0), 99.0], np.r_[np.ones(16), 0], weights=10.0 + 0 * np.arange(17)
    )
    p = null.p_values(np.arange(-0.5, 16), method=rk.Conformal(), weights=1.0).p1
    assert (p <= 0.1).mean() == 2 / 17
    for weights in (
        np.where(y, 10.0, 1.0),
        compute_sample_weight({0: 1, 1: 0.3}, y),
        np.where(y, 10.0, 1.0) * (np.arange(300) % 3 > 0),
        np.where(y, 10, 1).tolist(),
    ):
        with pytest.raises(rk.InputError, match="class weights") as caught:
            frozen(X, y, weight_calibration=True).fit(X, y, sample_weight=weights)
        assert "weight_calibration" in str(caught.value)
        counted = frozen(X, y).fit(X, y, sample_weight=weights)
        assert counted.test_.calibration.weights is None
    for weights in (np.full(300, 3.0), np.where(y, rng.integers(1, 4, 300), 1)):
        frozen(X, y, weight_calibration=True).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("options", [{"strategy": "cv+"}, {"method": None}])
def test_controller_refuses_weights_without_theory(options):
    """CV+ and methods that count objects have no weighted form."""
    X, y = np.linspace(-1, 1, 100)[:, np.newaxis], np.arange(100) % 2
    clf = rk.ErrorRateController(
        LogisticRegression(), weight_calibration=True, alpha=0.2, **options
    )
    with pytest.raises(rk.InputError, match="weights"):
        clf.fit(X, y, sample_weight=np.ones(100))


def test_a_window_comes_before_rejection():
    """Of objects that were kept at random the newest are not the newest that there were."""
    cal = rk.calibrate(
        np.linspace(0, 1, 80), np.arange(80) % 2, weights=1.0 + np.arange(80) / 80,
        times=np.arange(80), rejection=2.0,
    )  # fmt: skip
    with pytest.raises(rk.InputError, match="Take the window first"):
        cal.window(last=20)
