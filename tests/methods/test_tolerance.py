"""Scores that may differ from the calibrated ones: thresholds and p-values on the safe side."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from cases import each
from hypothesis import assume, given, strategies as st

import ratekeeper as rk
from ratekeeper.calibration._calibrate import calibration_of
from ratekeeper.calibration._counts import CountedScores
from ratekeeper.exceptions import InputError, NoThresholdError, StoredFileError
from ratekeeper.methods._tolerant import covers_rounding, moved
from ratekeeper.sql import decision_sql

LARGEST = np.finfo(np.float64).max
RANK_METHODS = (rk.Conformal(), rk.HighProbability(), rk.Simultaneous(), rk.methods.Empirical())
OTHER_METHODS = (
    rk.methods.Smoothed(0),
    rk.methods.Resampled(21, 0),
    rk.methods.Bootstrap(50),
    rk.methods.Kernel(),
    rk.methods.Parametric("norm"),
)
finite = st.floats(allow_nan=False, allow_infinity=False)
amounts = st.floats(min_value=5e-324, max_value=1e300, allow_nan=False)


def drawn(n=150, seed=0, **options):
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], n)
    scores = rng.normal(1.5 * labels)
    return rk.calibrate(scores.astype(options.pop("dtype", np.float64)), labels, **options)


def near(test, tolerance):
    """Return scores around every threshold, and around where it was before it moved."""
    found = [t for part in test.parts for t in part.thresholds.values() if t is not None]
    steps = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]) * tolerance
    middle = np.add.outer(found, steps).ravel()
    values = np.r_[middle, -np.inf, np.inf, np.linspace(-4, 5, 40)]
    return np.unique(np.r_[values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf)])


@given(finite, amounts, st.sampled_from([1.0, -1.0]))
def test_moved_scores_are_rounded_back_and_nowhere_else(score, amount, sign):
    """A moved score is the last floating-point number before the exact sum, or the sum itself."""
    by = sign * amount
    found, exact = float(moved(score, by)), Fraction(score) + Fraction(by)
    assert math.isfinite(found)
    beyond = Fraction(LARGEST) * int(sign)
    following = math.nextafter(found, sign * math.inf)
    if by > 0:
        assert Fraction(found) <= exact
        assert math.isinf(following) or exact < Fraction(following)
        assert found < LARGEST or exact >= beyond
    else:
        assert Fraction(found) >= exact
        assert math.isinf(following) or exact > Fraction(following)
        assert found > -LARGEST or exact <= beyond


def test_infinite_scores_stay_where_they_are():
    """An infinite score differs by nothing from itself, and by too much from any other."""
    assert moved(np.array([np.inf, -np.inf]), 1e-6).tolist() == [np.inf, -np.inf]
    assert moved(np.array([np.inf, -np.inf]), -1e300).tolist() == [np.inf, -np.inf]


@given(
    st.lists(finite, min_size=4, max_size=30),
    st.lists(st.tuples(finite, st.floats(-1, 1)), min_size=1, max_size=10),
    amounts,
    st.sampled_from(["low", "high"]),
)
def test_no_p_value_is_below_that_of_a_score_within_the_tolerance(known, new, tolerance, tail):
    """Whatever the true score within the tolerance is, its own p-value is no larger."""
    from ratekeeper.methods._tolerant import TolerantNull

    exact = rk.Conformal().against(np.sort(known), tail)
    scores = np.array([score for score, _ in new])
    with np.errstate(all="ignore"):
        true = scores + tolerance * np.array([share for _, share in new])
    within = [
        abs(Fraction(one) - Fraction(other)) <= Fraction(tolerance) if np.isfinite(other) else False
        for one, other in zip(scores.tolist(), true.tolist(), strict=True)
    ]
    assume(any(within))
    given_p = TolerantNull(exact, tail, tolerance).p_values(scores)
    assert (given_p >= exact.p_values(true))[within].all()


@each("dtype", [np.float32, np.float64])
@each("higher", [True, False])
@each("tolerance", [1e-12, 1e-6, 0.125, 1.0])
def test_p_values_and_thresholds_agree_to_the_last_bit(dtype, higher, tolerance):
    """For both rates and tails, `p <= alpha` is the comparison of the score with the threshold."""
    cal = drawn(dtype=dtype)
    if not higher:
        cal = rk.calibrate(
            -np.concatenate([*cal.cells[0], *cal.cells[1]]),
            np.repeat([0, 1], 150),
            higher_is_positive=False,
        )
    for control in ("fnr", "fpr"):
        for method in RANK_METHODS:
            test = cal.control(control, 0.1, method=method, tolerance=tolerance)
            scores = near(test, tolerance)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", rk.exceptions.ScoreTypeWarning)
                found = test.decide(scores)
            p = found.p_values.p1 if control == "fnr" else found.p_values.p0
            np.testing.assert_array_equal(found.positive, (p <= 0.1) == (control == "fpr"))


@pytest.mark.parametrize("control", ["fnr", "fpr"])
@pytest.mark.parametrize("tolerance", [1e-6, 0.1])
def test_a_rejected_score_comes_from_one_that_was_rejected(control, tolerance):
    """Scores beyond the moved threshold lie beyond the calibrated one by at least the tolerance."""
    cal = drawn()
    exact, test = (cal.control(control, 0.1, tolerance=e) for e in (0.0, tolerance))
    sign = -1 if control == "fnr" else 1
    assert sign * test.threshold > sign * exact.threshold
    edge = Fraction(exact.threshold) + sign * Fraction(tolerance)
    beyond = Fraction(float(np.nextafter(test.threshold, sign * np.inf)))
    assert sign * beyond > sign * edge
    assert abs(Fraction(test.threshold) - edge) <= Fraction(float(np.spacing(test.threshold)))


@pytest.mark.parametrize("method", [*RANK_METHODS, *OTHER_METHODS])
def test_every_method_takes_a_tolerance_and_is_more_careful_with_it(method):
    """P-values of a test with a tolerance are those of scores moved away from the extreme end."""
    cal = drawn()
    exact, test = (cal.control("fnr", 0.1, method=method, tolerance=e) for e in (0.0, 0.25))
    scores = np.linspace(-3, 3, 25)
    later = exact.p_values(scores + 0.25).p1
    np.testing.assert_array_equal(test.p_values(scores).p1, later)
    np.testing.assert_array_equal(test.p_values(scores).p0, exact.p_values(scores - 0.25).p0)
    np.testing.assert_array_equal(test.decide(scores).positive, later > 0.1)
    assert test.tolerance == 0.25
    assert "exactly alpha" not in test.certificate.guarantee.promise


def test_no_tolerance_is_no_change():
    """A tolerance of 0 gives the same test, and none of its words are in the certificate."""
    cal = drawn()
    one, two = cal.control("fnr", 0.1), cal.control("fnr", 0.1, tolerance=0)
    assert one.threshold == two.threshold
    assert str(one.certificate) == str(two.certificate)
    assert "tolerance" not in one.certificate.to_json()
    assert "olerance" not in str(one.certificate) + repr(one)


def test_groups_and_pooled_groups_are_moved_alike():
    """Each own threshold moves, and so does the one that thin groups share."""
    rng = np.random.default_rng(3)
    labels = np.tile([0, 1], 400)
    groups = np.where(np.arange(800) < 780, np.arange(800) % 4 // 2, 2)
    cal = rk.calibrate(rng.normal(labels), labels, groups=groups)
    how = {"thin_groups": "pool", "method": rk.HighProbability()}
    exact, test = (cal.control("fnr", 0.1, tolerance=e, **how) for e in (0.0, 0.5))
    assert test.certificate.pooled_groups == (2,)
    for name, threshold in test.thresholds.items():
        assert threshold == pytest.approx(exact.thresholds[name] - 0.5, abs=1e-15)
    scores = np.linspace(-4, 4, 99)
    for name in (0, 1, 2):
        found = test.decide(scores, [name] * 99)
        np.testing.assert_array_equal(found.positive, found.p_values.p1 > 0.1)


def test_where_moved_thresholds_still_cross_the_middle_decides():
    """A threshold between two that were moved keeps both promises; where they part, it abstains."""
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 500)
    cal = rk.calibrate(rng.normal(6 * labels), labels)
    exact = cal.control_both(0.05, 0.05)
    gap = exact.fnr.threshold - exact.fpr.threshold
    assert gap > 0
    near_by, far = (cal.control_both(0.05, 0.05, tolerance=gap * share) for share in (0.25, 0.75))
    (middle,) = near_by.crossed
    assert near_by.fpr.threshold < middle <= near_by.fnr.threshold
    assert not near_by.decide(np.linspace(-3, 9, 50)).abstained.any()
    assert far.crossed == (None,)
    between = (far.fnr.threshold + far.fpr.threshold) / 2
    assert far.decide([between]).abstained.all()
    for test in (near_by, far):
        e = Fraction(test.tolerance)
        for score in near(test, test.tolerance).tolist():
            if not math.isfinite(score):
                continue
            (label,) = test.decide(np.array([score])).labels
            if label == 1:  # then every score within the tolerance rejects "negative"
                assert Fraction(score) - e > Fraction(exact.fpr.threshold)
            elif label == 0:
                assert Fraction(score) + e < Fraction(exact.fnr.threshold)


def test_ties_that_keys_break_know_no_tolerance():
    """Where equal scores are told apart by keys, a tolerance is refused with the reason."""
    with pytest.raises(InputError, match="breaks ties between equal scores") as caught:
        drawn().control("fnr", 0.1, method=rk.HighProbability(randomised=True), tolerance=1e-6)
    assert caught.value.parameter == "tolerance"


@pytest.mark.parametrize("tolerance", [-1e-9, np.nan, np.inf, "1e-6", None, True])
def test_what_is_no_tolerance_is_refused(tolerance):
    """A tolerance is a finite number from 0 up."""
    with pytest.raises(InputError, match="a finite number from 0 up"):
        drawn().control("fnr", 0.1, tolerance=tolerance)


def test_weights_and_clusters_take_a_tolerance():
    """Their p-values fall with the score as well, so the same step keeps their promise."""
    rng = np.random.default_rng(4)
    labels = np.tile([0, 1], 200)
    scores, own = rng.normal(labels), rng.uniform(0.5, 2, 400)
    weighted = rk.calibrate(scores, labels, weights=own)
    exact, test = (weighted.control("fnr", 0.1, method=rk.Conformal(), tolerance=e) for e in (0, 1))
    new = np.linspace(-3, 3, 40)
    np.testing.assert_array_equal(
        test.p_values(new, weights=1.0).p1, exact.p_values(new + 1, weights=1.0).p1
    )
    assert test.thresholds_at(1.0)[None] == exact.thresholds_at(1.0)[None] - 1
    with pytest.raises(NoThresholdError):
        _ = test.threshold
    clustered = rk.calibrate(scores, labels, clusters=np.arange(400) // 4)
    for method in (rk.Conformal(), rk.HighProbability()):
        one, two = (clustered.control("fpr", 0.2, method=method, tolerance=e) for e in (0, 0.5))
        assert two.threshold == pytest.approx(one.threshold + 0.5, abs=1e-15)


def test_the_certificate_says_what_moved_and_counts_the_price_there():
    """Words, JSON and the price are those of the threshold that decides."""
    cal = drawn()
    test = cal.control("fnr", 0.1, tolerance=0.3)
    facts = json.loads(test.certificate.to_json())
    assert facts["tolerance"] == 0.3
    assert facts["cells"][0]["threshold"] == test.threshold
    wrong = int((cal.cells[0][0] >= test.threshold).sum())
    assert (test.other_error.errors, test.other_error.n) == (wrong, 150)
    assert wrong > cal.control("fnr", 0.1).other_error.errors
    text = " ".join(str(test.certificate).split())
    for words in (
        "scores that differ by at most 0.3 from the calibrated ones",
        "Tolerance: Thresholds are moved by 0.3 to the safe side",
        "lies between 0.00% and",
        "differs by at most 0.3 from the one that the code and number type",
    ):
        assert words in text
    assert "same model, code and number type" not in text
    both = cal.control_both(0.1, 0.1, tolerance=0.3).certificate
    assert str(both).count("Tolerance:") == 1
    assert "tolerance 0.3" in repr(test)
    assert "0.3" in test._repr_html_()


def test_bounds_of_alerts_are_no_longer_those_of_the_rank():
    """A threshold that moved rejects fewer, so only the upper end follows from the rank."""
    cal = drawn(400)
    exact, test = (cal.control("fpr", 0.1, tolerance=e).alerts("10%") for e in (0.0, 0.5))
    assert test.false_share < exact.false_share
    intervals = [(one.false_alerts.low, one.false_alerts.high) for one in (exact, test)]
    assert intervals[0][1] == intervals[1][1]
    assert intervals[1][0] < intervals[0][0]
    assert intervals[1][0] < test.false_alerts.value < intervals[1][1]


def test_a_test_with_a_tolerance_is_stored_and_comes_back(tmp_path):
    """Files hold the tolerance, for one rate and for both; pickles as well."""
    path = tmp_path / "test.rk"
    for test in (
        drawn().control("fnr", 0.1, tolerance=1e-7),
        drawn().control_both(0.2, 0.2, tolerance=0.1),
    ):
        rk.save(test, path)
        for loaded in (rk.load(path), pickle.loads(pickle.dumps(test))):  # noqa: S301 - our own
            assert loaded.tolerance == test.tolerance
            assert [p.thresholds for p in loaded.parts] == [p.thresholds for p in test.parts]
            assert str(loaded.certificate) == str(test.certificate)


def respelled(path, change):
    """Write a file anew with other facts and the right checksum."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    facts = json.loads(header["__metadata__"]["ratekeeper"])
    change(facts["tests"][0])

    def head(digest):
        header["__metadata__"] = {"ratekeeper": json.dumps(facts), "sha256": digest}
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        return len(text).to_bytes(8, "little") + text

    whole = head("0" * 64) + content[end:]
    path.write_bytes(head(hashlib.sha256(whole).hexdigest()) + content[end:])


@each("method", [rk.HighProbability(), rk.methods.Smoothed(0)])
@each(
    "change",
    [
        lambda test: test.pop("tolerance"),
        lambda test: test.update(tolerance=2e-6),
        lambda test: test.update(tolerance=-1e-6),
        lambda test: test["certificate"].pop("tolerance"),
        lambda test: test["certificate"].update(tolerance=1.0000001e-6),
        lambda test: test["certificate"].update(tolerance=0),
    ],
)
def test_a_file_whose_tolerance_was_altered_is_refused(tmp_path, method, change):
    """A tolerance that is not the one of its thresholds and certificate is noticed."""
    path = tmp_path / "test.rk"
    rk.save(drawn().control("fnr", 0.1, method=method, tolerance=1e-6), path)
    respelled(path, dict)
    assert rk.load(path).tolerance == 1e-6
    respelled(path, change)
    with pytest.raises(StoredFileError):
        rk.load(path)


def test_sql_has_the_moved_threshold():
    """The query compares with the threshold that decides, and says what scores may differ by."""
    test = drawn().control("fnr", 0.1, tolerance=1e-6)
    sql = decision_sql(test, table="rows", score="risk")
    assert f"t.risk >= {test.threshold:.16E}" in sql
    assert "differ by at most 1e-06" in " ".join(sql.replace("--", "").split())
    assert "not rounded" not in sql


def test_other_precision_is_expected_where_the_tolerance_covers_it():
    """float32 scores of a float64 calibration warn only if rounding exceeds the tolerance."""
    cal = rk.calibrate(np.random.default_rng(0).random(400), np.repeat([0, 1], 200))
    new = np.random.default_rng(1).random(50).astype(np.float32)
    for tolerance in (0.0, 1e-9):
        with pytest.warns(rk.exceptions.ScoreTypeWarning, match="make the test with a tolerance"):
            cal.control("fnr", 0.1, tolerance=tolerance).decide(new)
    test = cal.control("fnr", 0.1, tolerance=1e-6)
    positive = test.decide(new).positive  # no warning
    np.testing.assert_array_equal(positive, new.astype(np.float64) >= test.threshold)
    test.evaluate(new, np.repeat([0, 1], 25))
    assert covers_rounding(3e-8, (0.0, 1.0))
    assert not covers_rounding(2.9e-8, (0.0, 1.0))
    assert not covers_rounding(0.0, (0.0, 0.0))
    assert not covers_rounding(1e30, (0.0, 1e300))


@pytest.mark.filterwarnings("error::ratekeeper.exceptions.ScoreRangeWarning")
def test_scores_beside_the_range_by_the_tolerance_are_inside():
    """A score of 1.0000001 where calibration saw at most 1 is no other scale."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 300)
    scores = np.clip(np.round(rng.normal(0.3 + 0.4 * labels, 0.3), 1), 0, 1)
    cal = rk.calibrate(scores, labels)
    moved_out = np.where(scores == 1, 1 + 1e-7, np.where(scores == 0, -1e-7, scores))
    moved_out[0] += 1e-9  # else they are the calibration objects
    with pytest.raises(rk.exceptions.ScoreRangeWarning):
        cal.control("fnr", 0.2).decide(moved_out)
    test = cal.control("fnr", 0.2, tolerance=1e-6)
    test.decide(moved_out)
    found = test.evaluate(moved_out, labels)
    assert found.promised == 0.2
    with pytest.raises(rk.exceptions.ScoreRangeWarning):
        test.decide(moved_out + 1)


def test_a_monitor_looks_for_more_errors_only_and_not_at_scores():
    """With a tolerance fewer errors are no surprise, and other scores are no shift."""
    cal = drawn(600)
    test = cal.control("fnr", 0.1, tolerance=0.5)
    monitor = rk.Monitor(test)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 4000)
    scores = rng.normal(1.5 * labels)
    monitor.record(np.arange(4000), np.arange(4000), test.decide(scores), scores=scores)
    monitor.update(np.arange(4000), labels)
    assert not monitor.alarm
    assert monitor.shifted is None
    assert "tolerance" in monitor.shifted_reason
    watched = rk.Monitor(cal.control("fnr", 0.1))
    with pytest.raises(InputError, match="belongs to another test"):
        rk.Monitor.restore(monitor.state(), watched.test)


def test_an_adaptive_test_takes_a_score_that_came_out_differently():
    """The same id keeps its decision although its score differs, within a tolerance only."""
    cal = drawn()
    adaptive = rk.AdaptiveTest(cal.control("fnr", 0.1, tolerance=1e-3))
    first = adaptive.decide(np.array([0.2]), ids=["a"])
    again = adaptive.decide(np.array([0.2005]), ids=["a"])
    assert first.labels.tolist() == again.labels.tolist()
    strict = rk.AdaptiveTest(cal.control("fnr", 0.1))
    strict.decide(np.array([0.2]), ids=["a"])
    with pytest.raises(InputError, match="has a decision already"):
        strict.decide(np.array([0.9]), ids=["a"])


def test_the_controller_has_a_tolerance_but_not_for_cv_plus():
    """It is passed on to the test; CV+ refuses it with the reason."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 200)
    X = rng.normal(labels)[:, np.newaxis]
    how = {"random_state": 0, "tolerance": 1e-6}
    clf = rk.ErrorRateController(LogisticRegression(), **how).fit(X, labels)
    assert clf.test_.tolerance == 1e-6
    assert (
        clf.threshold_
        < rk.ErrorRateController(LogisticRegression(), random_state=0).fit(X, labels).threshold_
    )
    with pytest.raises(InputError, match="knows no tolerance"):
        rk.ErrorRateController(LogisticRegression(), strategy="cv+", **how).fit(X, labels)


def test_counted_calibrations_take_a_tolerance():
    """Thresholds of counted scores move by the same step, and agree with their p-values."""
    cal = drawn(500)
    counts = [CountedScores.of_buckets(cell, cell, np.ones(500)) for (cell,) in cal.cells]
    counted = calibration_of(tuple(counts), cal.classes)
    test = counted.control("fnr", 0.1, tolerance=0.25)
    assert test.threshold == cal.control("fnr", 0.1, tolerance=0.25).threshold
    assert test.certificate.cells[0].unused == 0.0
    found = test.decide(near(test, 0.25))
    np.testing.assert_array_equal(found.positive, found.p_values.p1 > 0.1)


def test_score_difference_measures_and_advises():
    """It finds the largest difference and where it is, rounded up, and how many differ."""
    scores = np.array([0.25, 0.5, np.inf, -np.inf, 1.0])
    found = rk.diagnostics.score_difference(
        scores, scores + np.array([0, 2.0**-20, 0, 0, -(2.0**-30)])
    )
    assert (found.largest, found.position) == (2.0**-20, 1)
    assert (found.n, found.n_different, found.share) == (5, 2, 0.4)
    assert found.tolerance == 1e-5
    assert found.beyond == pytest.approx(1 - 0.05**0.2)
    assert found.to_dict()["tolerance"] == 1e-5
    text = " ".join(repr(found).split())
    assert "no bound for new objects" in text
    assert "9.54e-07, at position 1" in text
    assert "no bound" in found._repr_html_()
    same = rk.diagnostics.score_difference([0.1, np.inf], [0.1, np.inf])
    assert (same.largest, same.n_different, same.tolerance) == (0.0, 0, 0.0)
    assert rk.diagnostics.score_difference([0.1], [np.inf]).tolerance == np.inf
    assert "none covers" in repr(rk.diagnostics.score_difference([0.1], [np.inf]))


@given(finite, finite)
def test_a_measured_difference_is_never_below_the_exact_one(one, other):
    """The difference is the exact one, rounded up."""
    found = Fraction(LARGEST) * 2
    measured = rk.diagnostics.score_difference([one], [other]).largest
    exact = abs(Fraction(one) - Fraction(other))
    if math.isfinite(measured):
        found = Fraction(measured)
        assert measured == 0 or Fraction(math.nextafter(measured, 0)) < exact
    assert found >= exact


@pytest.mark.parametrize(
    ("scores", "others", "words"),
    [
        ([0.1, np.nan], [0.1, 0.2], "scores has 1 NaN"),
        ([0.1, 0.2], [0.1, np.nan], "others has 1 NaN"),
        ([0.1, 0.2], [0.1], "1 values for 2 scores"),
        ([], [], "no scores"),
        (["a"], [0.1], "scores"),
    ],
)
def test_scores_that_cannot_be_compared_are_refused(scores, others, words):
    """NaN, another number of objects, and none at all."""
    with pytest.raises(InputError, match=words):
        rk.diagnostics.score_difference(scores, others)
