from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk
from ratekeeper.exceptions import InputError, ScoreTypeWarning


def normal_scores(n=200, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], n)
    return rng.normal(2 * labels), labels


@pytest.fixture
def cal():
    return rk.calibrate(*normal_scores())


@pytest.mark.parametrize("higher", [True, False])
def test_thresholds_are_the_order_statistics_of_the_definition(higher):
    """FNR: the k-th lowest positive; FPR: the k-th highest negative; k = floor(alpha (n + 1))."""
    scores, labels = normal_scores()
    sign = 1 if higher else -1
    cal = rk.calibrate(sign * scores, labels, higher_is_positive=higher)
    positives, negatives = np.sort(scores[labels == 1]), np.sort(scores[labels == 0])
    fnr, fpr = (
        cal.control("fnr", 0.05, method=rk.Conformal()),
        cal.control("fpr", 0.05, method=rk.Conformal()),
    )
    assert fnr.threshold == sign * positives[9]
    assert fpr.threshold == sign * negatives[-10]
    ties = sign * np.array([positives[9], negatives[-10]])
    assert fnr.decide(ties).positive[0]
    assert not fpr.decide(ties).positive[1]
    for test, sign_text in ((fnr, ">=" if higher else "<="), (fpr, ">" if higher else "<")):
        assert f"positive (1) if score {sign_text} {test.threshold}" in repr(test)


def test_decisions_come_in_the_users_own_labels():
    """Labels keep their values and type, whatever they are."""
    scores, labels = normal_scores()
    for negative, positive in ((0, 1), (-1, 1), (False, True), ("ham", "spam"), (2, 1)):
        own = np.where(labels == 1, positive, negative)
        cal = rk.calibrate(scores, own, positive_label=positive)
        decisions = cal.control("fnr", 0.05, method=rk.Conformal()).decide([-5.0, 5.0])
        assert decisions.labels.tolist() == [negative, positive]
        assert decisions.labels.dtype == own.dtype
        assert not decisions.abstained.any()
        assert not decisions.neither.any()


def test_the_p_values_of_decisions_are_those_of_the_calibration(cal):
    """Asked later, p-values are the same as asked directly, and the count of objects is right."""
    new = np.linspace(-3, 5, 50)
    decisions = cal.control("fpr", 0.1, method=rk.Conformal()).decide(new)
    direct = cal.p_values(new)
    np.testing.assert_array_equal(decisions.p_values.p0, direct.p0)
    np.testing.assert_array_equal(decisions.p_values.p1, direct.p1)
    assert len(decisions) == len(direct) == 50


def test_decisions_alone_compute_no_p_value(cal, monkeypatch):
    """Deciding by threshold never counts ranks."""
    test = cal.control("fnr", 0.05, method=rk.Conformal())
    _ = test.threshold

    def count(*_):
        raise AssertionError("ranks are counted")

    monkeypatch.setattr(type(rk.Conformal().against(np.arange(9.0), "low")), "reader", count)
    decisions = test.decide([0.0, 3.0])
    assert decisions.labels.tolist() == [0, 1]
    with pytest.raises(AssertionError, match="ranks are counted"):
        _ = decisions.p_values.p1


@pytest.mark.parametrize("times", [1, 600_000])
def test_changing_an_array_later_changes_nothing(cal, times):
    """p-values asked for later belong to the scores that were decided on."""
    new = np.repeat([-3.0, 3.0], times)
    decisions = cal.control("fnr", 0.05, method=rk.Conformal()).decide(new)
    expected = cal.p_values(new).p1
    new[:] = 0.0
    np.testing.assert_array_equal(decisions.p_values.p1, expected)


@pytest.mark.parametrize("place", [0, 1_000_000, 1_199_999])
def test_nan_is_found_in_every_part(cal, place):
    """A single NaN among very many scores is refused with its position."""
    new = np.ones(1_200_000)
    new[place] = np.nan
    with pytest.raises(InputError, match=f"1 NaN value, at position {place}"):
        cal.control("fnr", 0.05).decide(new)


def test_no_objects_are_no_problem(cal):
    """An empty batch gives empty results."""
    for method in (rk.Conformal(), rk.methods.Smoothed(0)):
        decisions = cal.control("fnr", 0.05, method=method).decide([])
        assert len(decisions) == len(decisions.labels) == len(decisions.p_values) == 0


def test_the_other_error_is_counted_on_the_other_class(cal):
    """The other error is the share of negatives at or above the threshold, exactly counted."""
    scores, labels = normal_scores()
    test = cal.control("fnr", 0.05, method=rk.Conformal())
    errors = int(np.sum(scores[labels == 0] >= test.threshold))
    assert (test.other_error.errors, test.other_error.n) == (errors, 200)
    exact = stats.binomtest(errors, 200).proportion_ci(0.95, method="exact")
    np.testing.assert_allclose(test.other_error.interval, (exact.low, exact.high))
    fpr = cal.control("fpr", 0.05, method=rk.Conformal())
    assert fpr.other_error.errors == np.sum(scores[labels == 1] <= fpr.threshold)


def test_both_rates_give_three_outcomes():
    """Positive, negative, abstained where both remain possible; none where thresholds cross."""
    # Overlapping classes abstain in the middle; well separated ones leave nothing undecided.
    near = rk.calibrate(*normal_scores()).control_both(0.05, 0.05, method=rk.Conformal())
    decisions = near.decide([-3.0, 1.0, 5.0])
    assert decisions.labels.tolist() == [0, None, 1]
    assert decisions.abstained.tolist() == [False, True, False]
    scores, labels = normal_scores()
    far = rk.calibrate(scores + 20 * labels, labels).control_both(0.05, 0.05, method=rk.Conformal())
    decisions = far.decide([0.0, 10.0, 22.0])
    assert decisions.labels.tolist() == [0, 0, 1]
    assert not decisions.neither.any()
    assert not decisions.abstained.any()
    assert near.crossed == (None,)
    (middle,) = far.crossed
    assert middle == (far.fnr.threshold + far.fpr.threshold) / 2
    assert "thresholds cross" in str(far.certificate).replace("\n  ", " ")
    np.testing.assert_array_equal(near.p_values([1.0]).p0, near.fpr.p_values([1.0]).p0)
    text = str(near.certificate)
    assert "FNR <= 5%" in text
    assert "FPR <= 5%" in text
    assert text.count("Rule:") == text.count("Price:") == 1
    facts = json.loads(near.certificate.to_json())
    assert set(facts) == {"fnr", "fpr", "crossed", "undecided", "alerts", "remarks"}
    scores, labels = normal_scores()
    abstained = near.decide(scores[labels == 1]).abstained.sum()
    assert facts["undecided"]["positive"]["undecided"] == abstained


def test_both_rates_can_be_the_users_words():
    """Undecided objects of a test on words get None beside the words."""
    scores, labels = normal_scores()
    cal = rk.calibrate(scores, np.where(labels == 1, "yes", "no"))
    assert cal.control_both(0.05, 0.05, method=rk.Conformal()).decide(
        [-3.0, 1.0, 5.0]
    ).labels.tolist() == [
        "no",
        None,
        "yes",
    ]


def test_the_certificate_says_everything(cal):
    """All facts are in the dict, in JSON and, for people, in the text."""
    test = cal.control("fnr", 0.05, method=rk.HighProbability(0.1))
    facts = test.certificate.to_dict()
    assert json.loads(test.certificate.to_json()) == facts
    assert facts["control"] == "fnr"
    assert facts["alpha"] == 0.05
    assert facts["delta"] == 0.1
    assert facts["n"] == {"negative": 200, "positive": 200}
    assert facts["guarantee"]["kind"] == "high probability"
    assert facts["data_hash"] == cal.data_hash
    assert facts["score_type"] == "float64"
    assert facts["version"] == rk.__version__
    assert len(facts["assumptions"]) == 3
    assert "one person, device or household" in facts["guarantee"]["condition"]
    assert facts["promised"] is True
    (cell,) = facts["cells"]
    k = int(np.sum(stats.binom.cdf(np.arange(200), 200, 0.05) <= 0.1))
    assert cell["realised_rate"]["distribution"] == f"Beta({k}, {201 - k})"
    law = stats.beta(k, 201 - k)
    assert cell["realised_rate"]["mean"] == pytest.approx(law.mean())
    assert cell["realised_rate"]["beyond"] == k - 1
    assert cell["realised_rate"]["low"] == pytest.approx(stats.beta(k - 1, 202 - k).ppf(0.05))
    assert cell["realised_rate"]["high"] == pytest.approx(law.ppf(0.95))
    assert cell["realised_rate"]["probability_above_alpha"] == pytest.approx(law.sf(0.05))
    assert cell["realised_rate"]["probability_above_alpha"] <= 0.1
    assert cell["threshold"] == test.threshold
    assert facts["other_error"]["rate"] == test.other_error.rate
    text = " ".join(str(test.certificate).split())
    for words in (
        "FNR <= 5%",
        "It needs: held-out",
        "high probability",
        str(test.threshold),
        "Price: FPR",
        "Assumed",
    ):
        assert words in text
    assert max(map(len, str(test.certificate).splitlines())) <= 80


def test_infinite_thresholds_are_written_as_text():
    """JSON has no infinity; the certificate writes it as a string."""
    scores = np.r_[np.full(20, -np.inf), np.full(20, np.inf)]
    test = rk.calibrate(scores, np.repeat([0, 1], 20)).control("fnr", 0.05, method=rk.Conformal())
    assert test.threshold == np.inf
    assert json.loads(test.certificate.to_json())["cells"][0]["threshold"] == "inf"
    assert test.decide([1.0, np.inf]).labels.tolist() == [0, 1]


def grouped(sizes, seed=0):
    """Return scores, labels, groups with so many objects of each class in each group."""
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.repeat(name, 2 * n) for name, n in sizes.items()])
    labels = np.concatenate([np.repeat([0, 1], n) for n in sizes.values()])
    return rng.normal(2 * labels + (groups == "b")), labels, groups


def test_each_group_has_its_own_threshold():
    """Thresholds, decisions and certificate are those of each group alone."""
    scores, labels, groups = grouped({"a": 50, "b": 60})
    test = rk.calibrate(scores, labels, groups=groups).control("fnr", 0.05, method=rk.Conformal())
    for name in ("a", "b"):
        inside = groups == name
        alone = rk.calibrate(scores[inside], labels[inside]).control(
            "fnr", 0.05, method=rk.Conformal()
        )
        assert test.thresholds[name] == alone.threshold
        cell = next(cell for cell in test.certificate.cells if cell.group == name)
        assert cell.other_error == alone.other_error
        assert cell.realised == alone.certificate.cells[0].realised
    threshold = np.array([test.thresholds["a"], test.thresholds["b"]])
    decisions = test.decide(threshold, groups=["a", "b"])
    assert decisions.positive.all()
    below = test.decide(np.nextafter(threshold, -np.inf), groups=["a", "b"])
    assert not below.positive.any()
    assert test.other_error.n == 110


def test_thin_groups_are_refused_by_name_with_the_need():
    """A group with too few scores is named, with what it has and what it needs."""
    cal = rk.calibrate(
        *grouped({"a": 50, "b": 10, "c": 18})[:2], groups=grouped({"a": 50, "b": 10, "c": 18})[2]
    )
    with pytest.raises(rk.TooFewScoresError) as caught:
        cal.control("fnr", 0.05, method=rk.Conformal())
    for words in ("19", "'b': 10", "'c': 18", "thin_groups='pool'"):
        assert words in str(caught.value)
    assert "'a'" not in str(caught.value)


def test_pooled_groups_are_named_in_the_certificate():
    """Asked to pool, thin groups get the threshold of all, and the certificate says so."""
    scores, labels, groups = grouped({"a": 50, "b": 10})
    cal = rk.calibrate(scores, labels, groups=groups)
    test = cal.control("fnr", 0.05, thin_groups="pool", method=rk.Conformal())
    pooled = rk.calibrate(scores, labels).control("fnr", 0.05, method=rk.Conformal())
    assert test.thresholds["b"] == pooled.threshold
    assert test.thresholds["a"] != pooled.threshold
    assert test.certificate.pooled_groups == ("b",)
    assert "Only the threshold of all groups" in str(test.certificate)
    assert "Group 'b' (10 scores)" in str(test.certificate)
    assert [cell.realised is None for cell in test.certificate.cells] == [False, True]
    p = test.p_values([0.0], groups=["b"]).p1
    np.testing.assert_array_equal(p, rk.calibrate(scores, labels).p_values([0.0]).p1)
    np.testing.assert_array_equal(test.decide([0.0], groups=["b"]).p_values.p1, p)


@pytest.mark.parametrize(
    "method", [rk.methods.Kernel(), rk.methods.Parametric(), rk.methods.Resampled(30, 0)]
)
def test_thin_groups_can_be_pooled_with_any_method(method):
    """A group too thin to be fitted or drawn from is judged by all, too."""
    scores, labels, groups = grouped({"a": 50, "b": 5})
    cal = rk.calibrate(scores, labels, groups=groups)
    test = cal.control("fnr", 0.05, method=method, thin_groups="pool")
    assert test.certificate.pooled_groups == ("b",)
    assert test.decide([-5.0, 5.0], groups=["b", "b"]).labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("alpha", "delta", "words"),
    [
        (0.00125, 1e-5, ("FNR <= 0.125%", "at most 1e-05")),
        (0.123456, 0.0123, ("FNR <= 12.3456%", "at most 0.0123")),
    ],
)
def test_promised_numbers_are_not_rounded(alpha, delta, words):
    """The certificate prints alpha and delta as they are, however small or odd."""
    cal = rk.calibrate(np.linspace(0, 1, 40_000), np.repeat([0, 1], 20_000))
    text = " ".join(
        str(cal.control("fnr", alpha, method=rk.HighProbability(delta)).certificate).split()
    )
    for word in words:
        assert word in text


def test_the_law_is_an_upper_bound_with_ties_and_per_group():
    """Tied scores make the printed law a bound; with groups delta counts for each."""
    scores, labels, groups = grouped({"a": 80, "b": 80})
    method = rk.HighProbability(0.05)
    tied = rk.calibrate(scores.round(1), labels).control("fnr", 0.05, method=method).certificate
    assert tied.cells[0].tied
    assert "averages at most" in " ".join(str(tied).split())
    plain = rk.calibrate(scores, labels, groups=groups).control("fnr", 0.05, method=method)
    assert not plain.certificate.cells[0].tied
    assert "probability up to 0.1" in " ".join(str(plain.certificate).split())


def test_pooling_needs_enough_together():
    """If all groups together are too few, pooling is refused too."""
    scores, labels, groups = grouped({"a": 5, "b": 6})
    with pytest.raises(rk.TooFewScoresError, match="got 11"):
        rk.calibrate(scores, labels, groups=groups).control(
            "fnr", 0.05, thin_groups="pool", method=rk.Conformal()
        )


def test_a_group_without_one_class_still_works_for_the_other():
    """A group without negatives has an FNR test; its negatives' p-value is 1, its price unknown."""
    scores, labels, groups = grouped({"a": 40, "b": 40})
    keep = (groups == "a") | (labels == 1)
    cal = rk.calibrate(scores[keep], labels[keep], groups=groups[keep])
    test = cal.control("fnr", 0.05, method=rk.Conformal())
    assert cal.p_values([0.0], groups=["b"]).p0.tolist() == [1.0]
    cell = test.certificate.cells[1]
    assert cell.other_error.n == 0
    assert cell.other_error.interval == (0.0, 1.0)
    assert "unknown" in str(test.certificate)
    with pytest.raises(rk.TooFewScoresError, match="'b': 0"):
        cal.control("fpr", 0.05, method=rk.Conformal())


def test_evaluation_counts_both_errors(cal):
    """Errors are counted by hand, for both controls, with the verdict of the interval."""
    scores, labels = normal_scores(500, seed=1)
    for control in ("fnr", "fpr"):
        test = cal.control(control, 0.1, method=rk.Conformal())
        positive = test.decide(scores).positive
        misses, alarms = (
            int(np.sum(~positive & (labels == 1))),
            int(np.sum(positive & (labels == 0))),
        )
        result = test.evaluate(scores, labels)
        target, other = (misses, alarms) if control == "fnr" else (alarms, misses)
        assert (result.target.errors, result.target.n) == (target, 500)
        assert (result.other.errors, result.other.n) == (other, 500)
        (k,) = (cell.realised.k for cell in test.certificate.cells)
        p = max(
            stats.binom.sf(target - 1, 500, 0.1), stats.betabinom.sf(target - 1, 500, k, 201 - k)
        )
        assert result.p_value == pytest.approx(p)
        assert (result.verdict == "exceeded") == (p <= 0.05)


def test_evaluation_works_on_one_class_alone(cal):
    """New objects of one class are enough to judge the rate of that class."""
    result = cal.control("fnr", 0.1, method=rk.Conformal()).evaluate([-5.0, 5.0], [1, 1])
    assert (result.target.errors, result.target.n, result.other.n) == (1, 2, 0)


@pytest.mark.parametrize(
    "method",
    [
        rk.Conformal(),
        rk.methods.Smoothed(3),
        rk.methods.Resampled(30, 0),
        rk.methods.Parametric("norm"),
        rk.methods.Kernel(),
    ],
)
def test_tests_and_decisions_can_be_pickled(cal, method):
    """A test sent to another process decides the same; so do its decisions."""
    test = cal.control("fnr", 0.1, method=method)
    copy = pickle.loads(pickle.dumps(test))  # noqa: S301 - our own bytes
    new = np.linspace(-3, 3, 20)
    np.testing.assert_array_equal(copy.decide(new).labels, test.decide(new).labels)
    assert copy.certificate == test.certificate
    decisions = pickle.loads(pickle.dumps(test.decide(new)))  # noqa: S301
    np.testing.assert_array_equal(decisions.p_values.p1, test.p_values(new).p1)
    pickle.loads(pickle.dumps(cal.control_both(0.1, 0.1, method=rk.Conformal()).decide(new)))  # noqa: S301


def test_another_precision_is_compared_exactly_and_warned_about():
    """float32 scores against a float64 calibration get the rule of float64, and a warning."""
    scores, labels = normal_scores()
    test = rk.calibrate(scores, labels).control("fnr", 0.05, method=rk.Conformal())
    new = np.array([test.threshold], dtype=np.float32)
    with pytest.warns(ScoreTypeWarning, match="float32"):
        decisions = test.decide(new)
    assert decisions.positive[0] == (float(new[0]) >= test.threshold)
    narrow = rk.calibrate(scores.astype(np.float32), labels).control(
        "fnr", 0.05, method=rk.Conformal()
    )
    assert narrow.decide([narrow.threshold]).positive[0]
    with pytest.warns(ScoreTypeWarning):
        below = narrow.decide(np.array([np.nextafter(narrow.threshold, -1)]))
    assert not below.positive[0]


def test_reprs_are_readable(cal):
    """What a session shows names the promise, the rule and the outcome."""
    test = cal.control("fpr", 0.05, method=rk.Conformal())
    assert repr(test).startswith("ErrorRateTest: FPR <= 5%, Conformal(), 200 negative scores")
    assert "positive (1) if score >" in repr(test)
    assert "AbstainingTest" in repr(cal.control_both(0.1, 0.1, method=rk.Conformal()))
    assert "100 objects" in repr(test.decide(np.zeros(100)))
    assert repr(cal.p_values(np.zeros(1))).startswith("PValues of 1 object\n")
    assert "promised 5%" in repr(test.evaluate(*normal_scores(50, seed=1)))
