"""Names and orders of arguments that people know from elsewhere: the error says what to type."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import ratekeeper as rk

LABELS = np.repeat([0, 1], 200)
SCORES = np.random.default_rng(0).normal(2.0 * LABELS)
CAL = rk.calibrate(SCORES, LABELS)
TEST = CAL.control("fnr", 0.1)
TESTS = [TEST, CAL.control_both(0.1, 0.1), CAL.control_precision(0.7), rk.AdaptiveTest(TEST)]


@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
def test_a_test_has_no_predict_and_says_what_it_has(test):
    """The attribute is missing, for `hasattr` too, and the error names decide."""
    assert not hasattr(test, "predict")
    assert getattr(test, "predict", None) is None
    with pytest.raises(AttributeError, match=r"no attribute 'predict'\. Call decide\(scores\)"):
        test.predict(SCORES)
    with pytest.raises(AttributeError, match="p-value is not the probability"):
        test.predict_proba(SCORES)
    with pytest.raises(AttributeError, match="ErrorRateController"):
        test.fit(SCORES, LABELS)
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
        _ = test.nonsense


def test_a_calibration_decides_nothing_and_says_what_does():
    """Somebody who forgets control is told of it."""
    assert not hasattr(CAL, "decide")
    assert not hasattr(CAL, "predict")
    with pytest.raises(AttributeError, match=r"Make a test first, such as cal.control\('fnr'"):
        CAL.decide(SCORES)
    with pytest.raises(AttributeError, match=r"rk.save\(cal, path\)"):
        CAL.save("cal.rk")
    with pytest.raises(AttributeError, match=r"rk.save\(test, path\)"):
        TEST.save("test.rk")


def test_properties_that_are_missing_on_purpose_keep_their_own_words():
    """A property that raises an AttributeError is not taken for a name that nobody knows."""
    groups = np.tile(["a", "b"], 200)
    grouped = rk.calibrate(SCORES, LABELS, groups=groups).control("fnr", 0.2)
    assert not hasattr(grouped, "threshold")
    with pytest.raises(rk.exceptions.NoThresholdError, match="thresholds"):
        _ = grouped.threshold


def test_tests_are_still_copied_and_pickled():
    """Whatever asks an object for methods that it does not have gets a plain no."""
    for made in (CAL, *TESTS[:3]):
        for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301
            assert type(other) is type(made)
            assert repr(other) == repr(made)


@pytest.mark.parametrize("one", [0.4, np.float64(0.4), np.array(0.4)], ids=["float", "64", "0-d"])
def test_one_score_is_a_list_of_one(one):
    """The remedy can be typed as it stands."""
    for call in (TEST.decide, TEST.p_values, CAL.p_values, TESTS[3].decide):
        with pytest.raises(rk.InputError, match=r"single value, 0\.4, .* Pass a list, \[0\.4\]"):
            call(one)
    assert TEST.decide([0.4]).labels.size == 1


def test_a_model_is_not_its_scores():
    """Somebody who passes a model and features is told how to get the scores."""
    features = SCORES[:, None]
    model = LogisticRegression().fit(features, LABELS)
    words = r"scores of a model, not a LogisticRegression.*model.predict_proba\(X\)\[:, 1\], y\)"
    with pytest.raises(TypeError, match=words):
        rk.calibrate(model, features, LABELS)
    with pytest.raises(TypeError, match=r"model.decision_function\(X\), y\)"):
        rk.calibrate(LinearSVC(), features, LABELS)
    with pytest.raises(TypeError, match="all else by name"):
        rk.calibrate(SCORES, LABELS, LABELS)
    for call in (lambda: rk.calibrate(model, LABELS), lambda: TEST.decide(model)):
        with pytest.raises(rk.InputError, match=r"Pass the scores of the model, such as model\.p"):
            call()


def test_what_is_only_there_to_be_refused_is_not_shown():
    """Help has the signatures that people are to use, and warnings point at their line."""
    assert "too_many" not in str(inspect.signature(rk.calibrate))
    costs = inspect.signature(rk.Calibration.cheapest).parameters
    assert [str(one) for one in costs.values()][:3] == [
        "self",
        "cost_fn: 'float'",
        "cost_fp: 'float'",
    ]
    assert costs["cost_fn"].kind is inspect.Parameter.KEYWORD_ONLY
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        rk.calibrate(-SCORES, LABELS)
    assert [one.filename for one in seen] == [__file__]


@pytest.mark.parametrize(
    ("costs", "named"),
    [((100, 1), {}), ((100,), {}), ((), {}), ((), {"cost_fn": 3}), ((100,), {"cost_fp": 1})],
)
def test_costs_have_names(costs, named):
    """Two numbers in a row could be either, so they are refused with the call to write."""
    words = r"missed positive .* false alarm by name.*cheapest\(cost_fn=100, cost_fp=1\)"
    with pytest.raises(TypeError, match=words):
        CAL.cheapest(*costs, **named)


def test_what_has_a_save_of_its_own_is_named(tmp_path):
    """rk.save is for calibrations and tests; a state saves itself."""
    refused = [
        (rk.Monitor(TEST), r"cannot save a Monitor\..*Monitor\.save\(path\)"),
        (TESTS[3], r"cannot save an AdaptiveTest\..*AdaptiveTest\.save\(path\)"),
        (TEST.decide(SCORES), r"cannot save a Decisions\. Pass a Calibration"),
    ]
    for made, words in refused:
        with pytest.raises(rk.InputError, match=words):
            rk.save(made, tmp_path / "x.rk")
    with pytest.raises(rk.InputError, match=r"first, then the path: rk\.save\(test, path\)"):
        rk.save(str(tmp_path / "x.rk"), TEST)
    model = LogisticRegression()
    fitted = rk.ErrorRateController(model, control="fnr", alpha=0.1).fit(SCORES[:, None], LABELS)
    with pytest.raises(rk.InputError, match=r"rk\.save\(controller\.test_, path\)"):
        rk.save(fitted, tmp_path / "x.rk")
    assert list(tmp_path.iterdir()) == []
