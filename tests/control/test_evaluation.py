from __future__ import annotations

import json

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.control._evaluation import Promise, Tally, count, evaluate
from ratekeeper.control._group_audit_counts import AuditCount
from ratekeeper.control._test import evaluate_counts

UNDECIDED = (
    "no decision on 5.00% of the negatives, 10.00% of the positives; neither class: 1.00%, 0.00%"
)


def labelled(n, seed, gap=2.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    return rng.normal(gap * labels), labels, rng.choice(["a", "b", "c"], n)


def joint(seed=0, gap=2.0, alpha=0.05, **options):
    return rk.calibrate(*labelled(800, seed, gap)[:2], **options).control_both(
        alpha, alpha, method=rk.Conformal()
    )


def by_hand(test, scores, labels, groups=None):
    """Count from the two tests themselves, not from the joint decisions."""
    rejected_positive = ~test.fnr.decide(scores, groups).positive
    rejected_negative = test.fpr.decide(scores, groups).positive
    if test.crossed[0] is not None:  # one threshold between the two decides
        rejected_positive = scores < test.crossed[0]
        rejected_negative = ~rejected_positive
    positives, negatives = labels == 1, labels == 0
    return {
        "misses": int((rejected_positive & positives).sum()),
        "alarms": int((rejected_negative & negatives).sum()),
        "abstained": [
            int((~rejected_positive & ~rejected_negative & c).sum()) for c in (negatives, positives)
        ],
        "neither": [
            int((rejected_positive & rejected_negative & c).sum()) for c in (negatives, positives)
        ],
    }


@pytest.mark.parametrize(("gap", "alpha"), [(1.0, 0.05), (6.0, 0.2)])
def test_errors_of_a_joint_test_are_those_of_its_two_tests(gap, alpha):
    """Where it abstains there is no error; where it finds neither class, each test has erred."""
    test = joint(gap=gap, alpha=alpha)
    scores, labels, _ = labelled(3000, 1, gap)
    found, expected = test.evaluate(scores, labels), by_hand(test, scores, labels)
    n = [int((labels == c).sum()) for c in (0, 1)]
    assert found.fnr.target == rk.control.Rate(expected["misses"], n[1]) == found.fpr.other
    assert found.fpr.target == rk.control.Rate(expected["alarms"], n[0]) == found.fnr.other
    for name in ("abstained", "neither"):
        rates = getattr(found, name)
        assert list(rates) == ["negative", "positive"]
        assert list(rates.values()) == [
            rk.control.Rate(*pair) for pair in zip(expected[name], n, strict=True)
        ]
    # Overlapping classes leave objects undecided; thresholds that cross leave none.
    assert (sum(expected["abstained"]) > 0) == (gap == 1.0)
    assert sum(expected["neither"]) == 0


def test_each_part_of_a_joint_evaluation_is_the_evaluation_of_its_own_test():
    """The controlled rate of either part is what its test alone would be found to have."""
    test = joint()
    scores, labels, _ = labelled(500, 2)
    found = test.evaluate(scores, labels)
    for part, own in ((found.fnr, test.fnr), (found.fpr, test.fpr)):
        alone = own.evaluate(scores, labels)
        assert (part.control, part.promised) == (own.control, own.alpha)
        assert part.target == alone.target
        assert part.verdict == alone.verdict


def test_evaluation_with_groups_reads_the_groups():
    """Each object is judged by the thresholds of its group, and groups are needed."""
    scores, labels, groups = labelled(1500, 3)
    shifted = scores + np.where(groups == "a", 3.0, 0.0)
    test = rk.calibrate(shifted[:900], labels[:900], groups=groups[:900]).control_both(
        0.1, 0.1, method=rk.Conformal()
    )
    found = test.evaluate(shifted[900:], labels[900:], groups[900:])
    expected = by_hand(test, shifted[900:], labels[900:], groups[900:])
    assert found.fnr.target.errors == expected["misses"]
    assert found.fpr.target.errors == expected["alarms"]
    with pytest.raises(rk.InputError, match="Pass groups"):
        test.evaluate(shifted[900:], labels[900:])


def test_labels_that_do_not_fit_are_refused():
    """Too few labels and unknown ones are named, as for a test of one rate."""
    test = joint()
    with pytest.raises(rk.InputError, match="1 values for 2 scores"):
        test.evaluate([0.1, 0.2], [1])
    with pytest.raises(rk.InputError, match="labels has 7 at position 1"):
        test.evaluate([0.1, 0.2], [1, 7])


def test_counts_of_batches_add_up():
    """The tallies of parts, in any cut and of any group, sum to that of all objects at once."""
    test = joint(gap=0.5)
    scores, labels, groups = labelled(1000, 4, 0.5)
    whole = count(test.decide(scores), labels == 1)[0]
    total = Tally()
    for part in np.split(np.arange(1000), [0, 1, 400, 401, 999]):
        total += count(test.decide(scores[part]), labels[part] == 1)[0]
    assert total == whole
    names, index = np.unique(groups, return_inverse=True)
    parts = count(test.decide(scores), labels == 1, index, 5)
    assert len(parts) == 5
    assert parts[3] == parts[4] == Tally()
    assert sum(parts, start=Tally()) == whole
    for i, name in enumerate(names):
        members = groups == name
        assert parts[i] == count(test.decide(scores[members]), labels[members] == 1)[0]
    assert evaluate_counts(test, [whole], None) == test.evaluate(scores, labels)
    assert all(type(value) is int for value in (*whole.negative, *whole.abstained))


def test_audits_of_batches_add_up():
    """Counting piece by piece, in any order of values, gives the audit of all objects."""
    scores, labels, site = labelled(3000, 7)
    year = np.random.default_rng(8).integers(2016, 2019, 3000)
    test = rk.calibrate(*labelled(800, 0)[:2]).control("fnr", 0.1)
    whole = test.evaluate(scores, labels, by={"site": site, "year": year}, crossed=True).by_group
    places = {"b": 0, "c": 1, "a": 2}
    count = AuditCount(["site", "year"], crossed=True)
    for part in (slice(0, 10), slice(10, 10), slice(10, 2000), slice(2000, 3000)):
        codes = np.array([places[name] for name in site[part]], dtype=np.intp)
        decisions = test.decide(scores[part])
        count.add(decisions, labels[part] == 1, [codes, 2018 - year[part]])
    found = count.audit([list(places), [2018, 2017, 2016]], {"fnr": 0.1})
    assert found.to_dict() == whole.to_dict()


def test_a_tally_gives_the_evaluation_of_a_test_of_one_rate():
    """Both controls read the same counts, each its own error as the controlled one."""
    scores, labels, _ = labelled(1000, 5)
    for control in ("fnr", "fpr"):
        test = rk.calibrate(scores[:500], labels[:500]).control(control, 0.1, method=rk.Conformal())
        tally = count(test.decide(scores[500:]), labels[500:] == 1)[0]
        found = test.evaluate(scores[500:], labels[500:])
        assert tally.against(control, 0.1, found.p_value) == found
        assert found.target == (tally.misses if control == "fnr" else tally.alarms)


def test_the_facts_of_an_evaluation_go_to_json():
    """`to_dict` has plain values only, and those that the text shows."""
    one = rk.Evaluation("fnr", 0.05, rk.control.Rate(3, 100), rk.control.Rate(20, 50))
    facts = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    assert facts["control"] == "fnr"
    assert facts["promised"] == 0.05
    assert facts["verdict"] == "in line"
    assert (facts["target"]["name"], facts["other"]["name"]) == ("fnr", "fpr")
    assert (facts["target"]["errors"], facts["target"]["n"], facts["other"]["rate"]) == (
        3,
        100,
        0.4,
    )
    found = joint().evaluate(*labelled(100, 6)[:2])
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert list(facts) == ["fnr", "fpr", "abstained", "neither", "groups"]
    assert facts["fpr"]["control"] == "fpr"
    assert facts["abstained"]["positive"]["n"] == found.fnr.target.n


def test_an_evaluation_reads_at_a_glance():
    """Each rate beside its promise with a verdict, then abstentions; unknown without objects."""
    tally = Tally(negative=(90, 20), positive=(4, 70), abstained=(5, 10), neither=(1, 0))
    promises = {"fnr": [Promise(0.1, 50, 500)], "fpr": [Promise(0.05, 25, 500)]}
    assert repr(evaluate(promises, [tally], None)).splitlines() == [
        "FNR 20.00% (12.67% to 29.18%), promised 10%: exceeded",
        "FPR 5.00% (1.64% to 11.28%), promised 5%: in line",
        UNDECIDED,
    ]
    nobody = repr(evaluate(promises, [Tally(negative=(9, 0))], None))
    assert nobody.startswith("FNR unknown (no objects), promised 10%: unknown\n")
    assert "unknown of the positives" in nobody
    assert "nan" not in nobody
