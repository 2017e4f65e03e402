from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from cases import each

import ratekeeper as rk


def noisy(n=3000, wrong=0.05, *, dtype=float, seed=0):
    """Return a calibration in which this share of either label is wrong, and the true labels."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.5
    truth = labels ^ (rng.random(n) < wrong)
    scores = rng.normal(2.5 * truth).astype(dtype)
    return rk.calibrate(scores, labels), scores, truth


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_without_wrong_labels_it_is_the_plain_test(control):
    """If no label is wrong, the threshold is that of HighProbability, to the last bit."""
    cal, scores, _ = noisy()
    noise = rk.LabelNoise(wrong_positives=0.0, wrong_negatives=0.0)
    plain, test = cal.control(control, 0.05), cal.control_noisy(control, 0.05, noise)
    assert test.threshold == plain.threshold
    assert (test.decide(scores).positive == plain.decide(scores).positive).all()


def test_known_wrong_labels_move_the_threshold_and_unknown_ones_do_not():
    """At most 5% costs nearly nothing; exactly 5% makes the test bolder, and it still keeps 5%."""
    cal, _, _ = noisy()
    _, scores, truth = noisy(seed=1)
    plain = cal.control("fnr", 0.05).threshold
    most, known = (
        cal.control_noisy("fnr", 0.05, rk.LabelNoise(wrong_positives=share))
        for share in (0.05, (0.05, 0.05))
    )
    assert most.threshold == pytest.approx(plain, abs=0.05)
    assert known.threshold > plain + 0.3
    assert known.evaluate(scores, truth).target.rate < 0.05
    assert known.evaluate(scores, truth).promised == 0.05


def test_audits_and_flips_become_ranges():
    """Counts give exact intervals that hold together; flips give what Bayes' rule does."""
    one = rk.LabelNoise.from_audit(positives=(9, 200))
    both = rk.LabelNoise.from_audit(positives=(9, 200), negatives=(0, 50))
    assert one.wrong_negatives is None
    assert both.wrong_positives[0] < one.wrong_positives[0] < 9 / 200 < one.wrong_positives[1]
    assert both.wrong_negatives[0] == 0
    assert both.delta == one.delta == 0.01
    a, b, p = 0.04, 0.02, 0.3
    q = (1 - a) * p + b * (1 - p)
    large = rk.LabelNoise.from_flips(
        positives=(a, a), negatives=(b, b), labelled_positive=(round(q * 1e9), 10**9)
    )
    assert large.wrong_positives == pytest.approx((b * (1 - p) / q,) * 2, rel=1e-2)
    assert large.wrong_negatives == pytest.approx((a * p / (1 - q),) * 2, rel=1e-2)
    wide = rk.LabelNoise.from_flips(positives=a, negatives=b, labelled_positive=(6000, 20000))
    assert wide.wrong_positives[0] == wide.wrong_negatives[0] == 0


REFUSED = {
    "a rate": (lambda _: rk.LabelNoise(wrong_positives=5), "strictly between 0 and 1"),
    "a truth value": (lambda _: rk.LabelNoise(wrong_positives=False), "strictly between 0 and 1"),
    "order": (lambda _: rk.LabelNoise(wrong_negatives=(0.2, 0.1)), "least and the most"),
    "three": (lambda _: rk.LabelNoise(wrong_negatives=(0.1, 0.2, 0.3)), "least and the most"),
    "no information": (
        lambda _: rk.LabelNoise(wrong_positives=0.6, wrong_negatives="40%"),
        "add up to 1 or more",
    ),
    "no audit": (lambda _: rk.LabelNoise.from_audit(), "positives"),
    "more wrong than checked": (
        lambda _: rk.LabelNoise.from_audit(positives=(9, 2)),
        "first the part",
    ),
    "a share for counts": (lambda _: rk.LabelNoise.from_audit(positives=(0.1, 2)), "whole number"),
    "only errors": (
        lambda _: rk.LabelNoise.from_flips(
            positives=0.01, negatives=0.2, labelled_positive=(150, 1000)
        ),
        "may all be wrong",
    ),
    "flips unknown": (
        lambda _: rk.LabelNoise.from_flips(
            positives=0.01, negatives=None, labelled_positive=(150, 1000)
        ),
        "negatives",
    ),
    "no noise": (lambda cal: cal.control_noisy("fnr", 0.05, 0.02), "a LabelNoise"),
    "the other class": (
        lambda cal: cal.control_noisy("fnr", 0.05, rk.LabelNoise(wrong_negatives=0.1)),
        "wrong_positives must be known",
    ),
    "nothing left of delta": (
        lambda cal: cal.control_noisy(
            "fnr", 0.05, rk.LabelNoise.from_audit(positives=(9, 200)), delta=0.01
        ),
        "leaves nothing",
    ),
    "control": (
        lambda cal: cal.control_noisy("fdr", 0.05, rk.LabelNoise(wrong_positives=0.1)),
        "missed positives",
    ),
}


@each("case", REFUSED)
def test_what_cannot_be_is_refused(case):
    """Bad statements about labels are refused by name, with what is needed."""
    cal, _, _ = noisy(400)
    call, words = REFUSED[case]
    with pytest.raises(rk.InputError, match=words):
        call(cal)


def test_too_few_objects_are_told_what_could_be():
    """The refusal says the best level and how many objects are needed, and both are true."""
    cal, _, _ = noisy(100)
    noise = rk.LabelNoise(wrong_positives=0.1)
    with pytest.raises(
        rk.exceptions.UnattainableError, match=r"lowest FNR that could be promised is 7\.\d+%"
    ) as found:
        cal.control_noisy("fnr", 0.05, noise)
    best = float(str(found.value).split("could be promised is ")[1].split("%")[0]) / 100
    assert cal.control_noisy("fnr", best, noise).certificate.promised
    with pytest.raises(rk.exceptions.UnattainableError):
        cal.control_noisy("fnr", best - 2e-4, noise)
    needed = int(str(found.value).split("At least ")[1].split()[0])
    enough, fewer = (rk.calibrate(np.arange(n), one_class="positive") for n in (needed, needed - 1))
    assert enough.control_noisy("fnr", 0.05, noise).certificate.promised
    with pytest.raises(rk.exceptions.UnattainableError):
        fewer.control_noisy("fnr", 0.05, noise)


def test_the_certificate_says_what_is_assumed_about_labels():
    """It names the stated shares, the independence of the score, and that counts are by label."""
    cal, _, _ = noisy()
    noise = rk.LabelNoise(wrong_positives=("2%", "8%"), wrong_negatives=(0.01, 0.05))
    text = " ".join(str(cal.control_noisy("fnr", "5%", noise).certificate).split())
    for words in (
        "CERTIFICATE FNR <= 5% (sensitivity >= 95%) despite wrong labels",
        "of the objects labelled positive, 2% to 8% truly are negative",
        "of the objects labelled negative, at least 1% truly are positive",
        "does not depend on the score, given the true class",
        "as they are labelled",
        "these must be true",
    ):
        assert words in text
    audited = rk.LabelNoise.from_audit(positives=(9, 200))
    said = cal.control_noisy("fnr", 0.05, audited).certificate.to_dict()
    assert "1.585% to 9.727%" in said["guarantee"]["condition"]
    assert "known but for probability 0.01" in said["guarantee"]["condition"]
    assert json.loads(json.dumps(said))["share"] == "fnr"


def test_groups_number_types_and_copies():
    """Each group has its threshold, float32 scores decide as they are, and copies are equal."""
    cal, scores, _ = noisy(dtype=np.float32)
    test = cal.control_noisy("fpr", 0.05, rk.LabelNoise(wrong_negatives=(0.04, 0.06)))
    again = pickle.loads(pickle.dumps(test))  # noqa: S301 - our own
    assert again.threshold == test.threshold
    assert np.float32(test.threshold) == test.threshold
    at = scores[scores == np.float32(test.threshold)]
    assert not test.decide(at).positive.any()
    groups = np.arange(3000) % 2
    rng = np.random.default_rng(1)
    labels = rng.random(3000) < 0.5
    grouped = rk.calibrate(rng.normal(2.5 * labels + 5 * groups), labels, groups=groups)
    limits = grouped.control_noisy("fnr", 0.05, rk.LabelNoise(wrong_positives=0.05)).limits
    assert limits[1].positive > limits[0].positive + 4


def test_with_groups_the_shares_of_wrong_labels_are_those_of_each_group():
    """A group with fewer wrong labels than stated would get a threshold that is too bold."""
    cal, scores, truth = noisy()
    noise = rk.LabelNoise(wrong_positives=(0.05, 0.05))
    groups = rk.calibrate(scores, truth, groups=np.arange(truth.size) % 2)
    said = "these shares of wrong labels in each group, not only over all of them"
    test = groups.control_noisy("fnr", 0.1, noise)
    assert said in test.guarantee.condition
    assert said in " ".join(str(test.certificate).split())
    assert said not in str(cal.control_noisy("fnr", 0.1, noise).guarantee)
