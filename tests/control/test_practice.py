"""Alerts per 1,000 objects: their arithmetic, their words, and what they are not known for."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

import ratekeeper as rk
from ratekeeper.control._alerts import Estimate, alerts_of, count_text, counted, share_text
from ratekeeper.control._decision_rates import rates_of_any_threshold


def drawn(n_negative=700, n_positive=300, gap=2.0, seed=0, **options):
    labels = np.repeat([0, 1], [n_negative, n_positive])
    scores = np.random.default_rng(seed).normal(gap * labels)
    return rk.calibrate(scores, labels, **options)


def within(estimate):
    return estimate.low <= estimate.value <= estimate.high


def test_an_fpr_of_five_percent_can_mean_that_three_of_four_alarms_are_false():
    """At 2% of positives a good score with FPR <= 5% has 75% false alarms, and says so."""
    cal = drawn(20_000, 20_000, gap=2.6)
    alerts = cal.control("fpr", 0.05, method="conformal").alerts(prevalence="2%")
    assert alerts.prevalence == 0.02
    assert alerts.source == "stated"
    assert alerts.false_share == pytest.approx(0.75, abs=0.01)
    text = " ".join(str(alerts).split())
    assert "Of 1,000 objects, 20 of them positive (2%): 66 alerts (" in text
    assert "of the alerts are false alarms: precision 25% (" in text
    assert "depends on how common positives are" in text


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_numbers_follow_from_the_rates(control):
    """Alerts, false alarms, misses, precision and NPV are the two rates and the prevalence."""
    test = drawn().control(control, 0.1, method="conformal")
    cell = test.certificate.cells[0]
    null, other = cell.realised.mean, cell.other_error.rate
    fnr, fpr = (null, other) if control == "fnr" else (other, null)
    pi = 0.07
    found = test.alerts(pi)
    alerts = pi * (1 - fnr) + (1 - pi) * fpr
    assert found.alerts.value == pytest.approx(1000 * alerts)
    assert found.false_alerts.value == pytest.approx(1000 * (1 - pi) * fpr)
    assert found.missed.value == pytest.approx(1000 * pi * fnr)
    assert found.precision.value == pytest.approx(pi * (1 - fnr) / alerts)
    assert found.npv.value == pytest.approx((1 - pi) * (1 - fpr) / (1 - alerts))
    assert found.undecided is None
    assert all(map(within, (found.alerts, found.false_alerts, found.precision, found.npv)))


def test_the_prevalence_of_the_calibration_widens_the_intervals():
    """As an estimate it has an interval of its own; stated, it is taken as it is."""
    test = drawn().control("fnr", 0.1)
    own, stated = test.alerts(), test.alerts(0.3)
    assert (own.prevalence, own.source) == (0.3, "calibration")
    assert own.precision.value == pytest.approx(stated.precision.value)
    assert own.precision.low < stated.precision.low
    assert own.precision.high > stated.precision.high
    assert "random sample, class shares included" in str(own).replace("\n", " ")
    assert "stated, not measured" in str(stated).replace("\n", " ")


def test_a_sample_of_a_file_has_the_prevalence_of_the_file():
    """A sample is drawn from each class by itself, so its own class shares say nothing."""
    cal = replace(
        drawn(), provenance=rk.calibration.Provenance(rows=100_000, sampled_from=(99_000, 1_000))
    )
    assert cal.control("fnr", 0.1).alerts().prevalence == 0.01
    grouped = drawn(groups=np.tile(["a", "b"], 500))
    whole = replace(grouped, provenance=cal.provenance).control("fnr", 0.1).alerts()
    assert whole.groups["a"].prevalence == pytest.approx(0.01, abs=0.002)
    assert whole.groups["a"].precision.low is None
    assert "of a sample" in whole.groups["a"].ground


def test_a_test_of_both_rates_has_undecided_objects():
    """What is called positive, called negative and left open adds up to 1,000."""
    test = drawn(gap=1.0).control_both(0.05, 0.05)
    found = test.alerts("10%")
    called_negative = found.missed.value / (1 - found.npv.value)
    total = found.alerts.value + found.undecided.value + called_negative
    assert total == pytest.approx(1000)
    assert within(found.undecided)
    assert "No decision: " in str(found)
    certificate = json.loads(test.certificate.to_json())
    assert certificate["alerts"]["undecided"]["value"] > 0
    assert "alerts" not in certificate["fnr"]


def test_crossed_thresholds_leave_nothing_undecided():
    """Then the shares lie between those of the two tests."""
    test = drawn(gap=4.0).control_both(0.1, 0.1)
    assert test.crossed[0] is not None
    found = test.alerts("10%")
    assert found.undecided is None
    assert within(found.precision)
    assert found.false_alerts.high <= test.fpr.alerts("10%").false_alerts.high * 1.1


def test_groups_have_their_own_and_all_together_an_estimate():
    """Each group at its own prevalence or the stated one; over all there is no interval."""
    groups = np.tile(["a", "b", "b", "b", "b"], 200)
    found = drawn(groups=groups).control("fpr", 0.1).alerts()
    assert found.precision.low is None
    assert "no interval is known for groups together" in found.ground
    assert set(found.groups) == {"a", "b"}
    assert all(within(one.precision) for one in found.groups.values())
    assert "group 'a': of 1,000 objects" in str(found)
    stated = drawn(groups=groups).control("fpr", 0.1).alerts(0.02)
    assert {one.prevalence for one in stated.groups.values()} == {0.02}
    facts = json.loads(json.dumps(stated.to_dict()))
    assert [one["group"] for one in facts["groups"]] == ["a", "b"]


def test_a_thin_group_has_estimates():
    """A group with the threshold of all gets no interval, and says why."""
    groups = np.repeat(["a", "b", "b", "a"], [690, 10, 10, 290])
    test = drawn(groups=groups).control("fnr", 0.1, thin_groups="pool")
    found = test.alerts(0.02).groups
    assert found["a"].precision.low is not None
    assert found["b"].precision.low is None
    assert "threshold of all" in found["b"].ground


def test_where_nothing_is_proven_there_is_no_interval():
    """Cross-fitted scores and methods without ranks have estimates, which say so."""
    cal = drawn()
    crossed = replace(cal, origin="cross-fitted").control("fnr", 0.1).alerts(0.02)
    smooth = cal.control("fnr", 0.1, method="smoothed").alerts(0.02)
    fitted = cal.control("fpr", 0.1, method=rk.methods.Parametric("norm")).alerts(0.02)
    both = cal.control_both(0.1, 0.1, method="smoothed").alerts(0.02)
    plain = cal.control("fnr", 0.1, method="conformal").alerts(0.02)
    for found, words in (
        (crossed, "cross-fitted"),
        (smooth, "no rank"),
        (fitted, "no rank"),
        (both, "no rank"),
    ):
        assert {found.alerts.low, found.precision.low, found.npv.high} == {None}
        assert words in found.ground
    assert smooth.precision.value == pytest.approx(plain.precision.value, abs=0.02)


def test_simultaneous_has_bands_and_no_condition_on_alpha():
    """Its alpha may be chosen after looking, so its intervals are wider and say so."""
    cal = drawn()
    band = cal.control("fpr", 0.1, method="simultaneous").alerts(0.1)
    rank = cal.control("fpr", 0.1, method="conformal").alerts(0.1)
    assert "however the threshold was chosen" in band.ground
    assert "chosen before looking" in rank.ground.replace("\n", " ")
    wide, narrow = (one.false_alerts.high - one.false_alerts.low for one in (band, rank))
    assert wide > narrow


def test_ties_keep_a_lower_end():
    """Of tied scores the true rate is only bounded from above; a band bounds it from below."""
    labels = np.repeat([0, 1], 4000)
    scores = np.floor(2 * np.random.default_rng(0).normal(2 * labels))
    found = rk.calibrate(scores, labels).control("fpr", 0.2).alerts(0.02)
    assert within(found.false_alerts)
    assert found.false_alerts.low > 0.5 * found.false_alerts.value


def test_a_threshold_of_any_origin_has_alerts():
    """Counts of what is called positive and negative are enough, one cell or many."""
    cal = drawn()
    above = [np.array([np.sum(cells[0] > 1.5)]) for cells in cal.cells]
    below = [np.array([np.sum(cells[0] < 0.5)]) for cells in cal.cells]
    n = [np.array([cells[0].size]) for cells in cal.cells]

    def called(error):
        return rates_of_any_threshold(above, below, n, error=error, can_abstain=True)

    found = alerts_of(cal, called, "5%")
    assert all(map(within, (found.alerts, found.missed, found.undecided, found.npv)))
    share = 0.05 * above[1][0] / 300 + 0.95 * above[0][0] / 700
    assert found.alerts.value == pytest.approx(1000 * share)


def test_certificates_say_what_happens_in_practice():
    """As a paragraph and in JSON; it names the share of false alarms and what it depends on."""
    test = drawn().control("fnr", 0.05)
    text = " ".join(str(test.certificate).split())
    assert "In practice: Of 1,000 objects, 300 of them positive (30%)" in text
    assert f"{share_text(test.alerts().false_share)} of the alerts are false alarms" in text
    assert "depends on how common positives are" in text
    assert json.loads(test.certificate.to_json())["alerts"] == test.alerts().overall()
    assert "In practice" in test.certificate._repr_html_()


def test_a_stored_test_has_its_alerts_again(tmp_path):
    """They are not stored: a file has the scores, from which they follow."""
    test = drawn().control("fnr", 0.05)
    rk.save(test, tmp_path / "test.rk")
    assert b'"alerts"' not in (tmp_path / "test.rk").read_bytes()
    assert rk.load(tmp_path / "test.rk").alerts("2%") == test.alerts("2%")


@pytest.mark.parametrize("prevalence", [0, 1, -0.1, 1.5, math.nan, "2", "0%", "many", True, [0.1]])
def test_an_impossible_prevalence_is_refused(prevalence):
    """With the value, what is needed and how to write it."""
    with pytest.raises(rk.InputError, match="strictly between 0 and 1") as caught:
        drawn().control("fnr", 0.1).alerts(prevalence)
    assert caught.value.parameter == "prevalence"
    assert "prevalence=" in str(caught.value)


def test_a_test_without_alerts_has_no_precision():
    """Nothing is called positive: the words say so and no number is made up."""
    scores, labels = np.r_[np.zeros(200), np.ones(3)], np.repeat([0, 1, 0], [100, 100, 3])
    found = rk.calibrate(scores, labels).control("fpr", 0.05).alerts("2%")
    assert found.precision.value is not None  # the true FPR is not known to be 0
    smooth = replace(found, precision=Estimate(None), npv=Estimate(0.98))
    assert smooth.false_share is None
    assert "no precision is known" in str(smooth).replace("\n", " ")


def test_alerts_fit_a_terminal_and_a_notebook():
    """Lines are short, the card is escaped, and of many groups some are shown."""
    groups = np.tile([f"<b>{i}" for i in range(20)], 50)
    found = drawn(groups=groups).control("fpr", 0.1, thin_groups="pool").alerts("2%")
    assert "The first 8 of 20 groups are shown" in repr(found)
    assert "<b>1" not in found._repr_html_()
    plain = drawn().control("fpr", 0.1).alerts("2%")
    assert max(map(len, repr(plain).splitlines())) < 80
    assert "precision" in plain._repr_html_()


def test_alerts_are_counted_on_labelled_objects():
    """Counted alerts, precision and NPV of one and of both rates, undecided objects left out."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 900)
    scores = rng.normal(1.2 * labels)
    for test in (drawn().control("fnr", 0.1), drawn().control_both(0.05, 0.05)):
        found = counted(test.evaluate(scores, labels))
        decided = test.decide(scores)
        called_negative = ~decided.positive & ~decided.abstained & ~decided.neither
        hits = int((decided.positive & (labels == 1)).sum())
        passed = int((called_negative & (labels == 0)).sum())
        assert (found["alerts"].errors, found["alerts"].n) == (decided.positive.sum(), 900)
        assert (found["precision"].errors, found["precision"].n) == (hits, decided.positive.sum())
        assert (found["npv"].errors, found["npv"].n) == (passed, called_negative.sum())


def test_ends_of_intervals_are_rounded_outwards():
    """What is printed never claims more than was computed."""
    assert Estimate(66.4, 54.9, 78.2).written(count_text) == "66 (54 to 79)"
    assert Estimate(0.2613, 0.2149, 0.3101).written(share_text) == "26% (21% to 32%)"
    assert Estimate(0.99712, 0.99501, 0.9991).written(share_text) == "99.71% (99.50% to 99.910%)"
    assert count_text(1_000) == "1,000"


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.6])
def test_ties_broken_by_keys_leave_alerts_countable_for_both_rates(alpha):
    """With boundaries among ties, apart and crossed: intervals that hold the truth."""
    rng = np.random.default_rng(0)
    labels, new = np.repeat([0, 1], 500), np.repeat([0, 1], 50_000)
    scores, coming = (rng.binomial(5, 0.35 + 0.3 * one) for one in (labels, new))
    method = rk.HighProbability(randomised=True)
    errors = defaultdict(list)
    for seed in range(10):
        cal = rk.calibrate(scores, labels, random_state=seed)
        test = cal.control_both(alpha, alpha, method=method)
        found = test.alerts("50%")
        decided = test.decide(coming, keys=np.arange(new.size))
        shares = {
            "alerts": decided.positive.mean() * 1000,
            "undecided": decided.abstained.mean() * 1000,
            "precision": new[decided.positive].mean(),
        }
        for name, share in shares.items():
            known = getattr(found, name)
            if known is None:
                assert share == 0, name
                continue
            assert known.low <= share <= known.high, (name, known, share)
            errors[name].append(known.value - share)
            assert abs(errors[name][-1]) <= 0.15 * share + 1e-9, (name, known, share)
        assert "In practice" in str(test.certificate)
    # Which of the ties a draw takes makes a difference; on average over draws little is left.
    for name in errors:
        assert abs(np.mean(errors[name])) <= 0.08 * shares[name] + 1e-9, name


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_ties_broken_by_keys_are_counted_as_broken(control):
    """The share of the null class is that of its rank, not alpha, and its interval is exact."""
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 500)
    cal = rk.calibrate(rng.binomial(5, 0.35 + 0.3 * labels), labels)
    test = cal.control(control, 0.2, method=rk.HighProbability(randomised=True))
    found = test.alerts("50%")
    errors = found.false_alerts if control == "fpr" else found.missed
    ranks = np.arange(1, 501)
    rank = ranks[scipy.stats.beta(ranks, 501 - ranks).cdf(0.2) >= 0.95].max()
    ends = scipy.stats.beta(rank, 501 - rank).ppf([0.0125, 0.9875])
    assert errors.value == pytest.approx(500 * rank / 501)
    assert (errors.low, errors.high) == pytest.approx(tuple(500 * ends))
