"""Sensitivity, recall, specificity: the words of users, read as the error rates they leave."""

from __future__ import annotations

import hashlib
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk


@pytest.fixture(scope="module")
def cal():
    rng = np.random.default_rng(0)
    labels = np.arange(2000) % 2
    return rk.calibrate(rng.normal(2.0 * labels), labels)


@pytest.mark.parametrize(
    ("word", "level", "rate", "alpha"),
    [
        ("sensitivity", 0.95, "fnr", 0.05),
        ("Recall", "95%", "fnr", 0.05),
        ("tpr", 0.99, "fnr", 0.01),
        ("specificity", 0.9, "fpr", 0.1),
        ("TNR", "99.5%", "fpr", 0.005),
    ],
)
def test_a_share_is_the_error_rate_that_it_leaves(cal, tmp_path, word, level, rate, alpha):
    """To the last bit: the same threshold, the same certificate and the same file."""
    one, two = cal.control(word, level), cal.control(rate, alpha)
    assert (one.control, one.alpha, one.threshold) == (rate, alpha, two.threshold)
    assert str(one.certificate) == str(two.certificate)
    digests = []
    for name, test in (("one.rk", one), ("two.rk", two)):
        rk.save(test, tmp_path / name)
        digests.append(hashlib.sha256((tmp_path / name).read_bytes()).hexdigest())
    assert digests[0] == digests[1]
    assert rk.plan(word, level) == rk.plan(rate, alpha)


@pytest.mark.filterwarnings(
    "ignore::ratekeeper.exceptions.LevelWarning"
)  # of sensitivities below 50%
def test_the_rest_is_what_a_user_would_type():
    """Of every share with up to four decimals: not 0.050000000000000044."""
    for i in range(1, 10_000):
        rest = rk.plan("sensitivity", float(f"0.{i:04}"), delta=None).alpha
        assert rest == float(f"0.{10_000 - i:04}")


def test_both_rates_by_either_name(cal):
    """An abstaining test takes each rate by one of its names."""
    one = cal.control_both(sensitivity=0.95, specificity="90%")
    two = cal.control_both(0.05, 0.1)
    mixed = cal.control_both(0.05, specificity=0.9)
    for test in (one, mixed):
        assert [part.alpha for part in test.parts] == [0.05, 0.1]
        assert str(test.certificate) == str(two.certificate)
    assert "sensitivity >= 95% and specificity >= 90%" in " ".join(str(two.certificate).split())
    with pytest.raises(rk.InputError, match=r"alpha_fnr=0\.05 beside sensitivity=0\.95"):
        cal.control_both(0.05, 0.05, sensitivity=0.95)
    with pytest.raises(rk.InputError, match="alpha_fpr=None is not a rate"):
        cal.control_both(sensitivity=0.95)


def test_certificates_say_both_words(cal):
    """Whoever asked for either finds it in the headline."""
    for control, level in (("fnr", 0.05), ("recall", 0.95)):
        headline = cal.control(control, level).certificate.headline
        assert headline == "CERTIFICATE  FNR <= 5% (sensitivity >= 95%)"
    assert "(specificity >= 99.5%)" in cal.control("fpr", 0.005).certificate.headline


def test_a_controller_takes_the_words():
    """With the level of the share by its own name, since alpha has a default."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    X = rng.normal(2.0 * y)[:, None]

    def fitted(**options):
        return rk.ErrorRateController(LogisticRegression(), random_state=0, **options).fit(X, y)

    one, two = fitted(control="sensitivity", level=0.9), fitted(control="fnr", alpha=0.1)
    assert one.threshold_ == two.threshold_
    assert str(one.certificate_) == str(two.certificate_)
    for options, words in [
        ({"control": "sensitivity"}, "Which sensitivity is to be kept"),
        ({"control": "recall", "alpha": 0.9}, "alpha=0.9 could mean either"),
        ({"control": "recall", "alpha": 0.1, "level": 0.9}, "alpha=0.1 could mean either"),
        ({"control": "fnr", "level": 0.1}, "Write alpha=0.1"),
        ({"control": "both", "level": 0.1}, "Write alpha=0.1"),
        ({"control": "precision"}, "control_precision"),
    ]:
        with pytest.raises(rk.InputError, match=words):
            fitted(**options)


def test_what_could_mean_either_is_refused(cal):
    """Errors name both readings, or what keeps another rate."""
    for alpha in (0.05, 0.95):
        with pytest.raises(rk.InputError, match="could mean either") as caught:
            cal.control("sensitivity", alpha=alpha)
        for words in ("level=0.95", "control='fnr', alpha=0.05"):
            assert words in str(caught.value)
    with pytest.raises(rk.InputError, match="could mean either"):
        rk.plan("specificity", alpha=0.95)
    with pytest.raises(rk.InputError, match="beside alpha"):
        cal.control("fnr", 0.05, alpha=0.05)
    with pytest.raises(rk.InputError, match="Which tpr"):
        cal.control("tpr")
    for word in ("precision", "PPV"):
        with pytest.raises(rk.InputError, match="control_precision"):
            cal.control(word, 0.9)
    with pytest.raises(rk.InputError, match="control_npv"):
        cal.control("npv", 0.9)
    for level in (0.0, 1.0, 1e-20, "95", None, True, float("nan")):
        with pytest.raises(rk.InputError):
            cal.control("sensitivity", level)
    with pytest.raises(rk.InputError, match=r'"fnr" and a level of 0\.05'):
        rk.planning.plan_audit("sensitivity", 0.95, worse=0.1, groups=2)


def test_delta_is_short_for_the_method(cal):
    """It is refused beside a method, of which only one could count."""
    assert cal.control("fnr", 0.05, delta=0.01).method == rk.HighProbability(0.01)
    assert cal.control("fnr", 0.05, delta="1%").method == rk.HighProbability(0.01)
    assert cal.control("fnr", 0.05).method == rk.HighProbability(0.05)
    both = cal.control_both(0.05, 0.05, delta=0.01)
    assert {part.method for part in both.parts} == {rk.HighProbability(0.01)}
    for method in (rk.HighProbability(0.01), "conformal"):
        with pytest.raises(rk.InputError, match=r"delta=0.01 beside method"):
            cal.control("fnr", 0.05, delta=0.01, method=method)
        with pytest.raises(rk.InputError, match=r"delta=0.01 beside method"):
            cal.control_both(0.05, 0.05, delta=0.01, method=method)
    with pytest.raises(rk.InputError, match="delta=2"):
        cal.control("fnr", 0.05, delta=2)


@pytest.mark.parametrize(
    "ask",
    [
        lambda cal: cal.control("fnr", 0.95),
        lambda cal: cal.control("fnr", alpha="95%"),
        lambda cal: cal.control("sensitivity", 0.05),
        lambda cal: cal.control_both(0.95, 0.05),
        lambda cal: cal.control_both(sensitivity=0.05, specificity=0.95),
        lambda cal: cal.cheapest(cost_fn=1, cost_fp=1, fnr=0.95),
        lambda _: rk.plan("fnr", 0.95),
        lambda _: rk.plan("recall", 0.05),
    ],
)
def test_a_level_that_is_most_likely_meant_the_other_way_round(cal, ask):
    """The warning says what the test may do, and how to write what was meant."""
    with pytest.warns(rk.exceptions.LevelWarning) as caught:
        ask(cal)
    (one,) = [found for found in caught if found.category is rk.exceptions.LevelWarning]
    text = str(one.message)
    assert "miss up to 95% of the positives (sensitivity >= 5%)" in text
    assert "control='sensitivity', level=0.95" in text
    assert one.filename == __file__


def test_no_warning_up_to_one_half(cal):
    """Half is not above half."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", rk.exceptions.LevelWarning)
        cal.control("fnr", 0.5)
        cal.control("specificity", 0.5)
        rk.plan("fpr", 0.5)
    with pytest.warns(rk.exceptions.LevelWarning, match="call up to 60% of the negatives positive"):
        cal.control("fpr", 0.6)


def test_a_controller_warns_once():
    """And points at the line that fits."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(2.0 * y)[:, None]
    clf = rk.ErrorRateController(LogisticRegression(), alpha=0.95, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X, y)
    found = [one for one in caught if one.category is rk.exceptions.LevelWarning]
    assert [one.filename for one in found] == [__file__]
