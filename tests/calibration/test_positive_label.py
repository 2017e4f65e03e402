"""Labels of scikit-learn classifiers: which one is positive."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from cases import each
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk
from ratekeeper import InputError
from ratekeeper.baselines import TunedThreshold
from ratekeeper.exceptions import PositiveLabelWarning


def fitted(y, positive_label=None):
    """Return a controller whose calibration objects have these labels."""
    X = np.linspace(0, 1, len(y))[:, np.newaxis]
    model = FrozenEstimator(LogisticRegression().fit(X, y))
    clf = rk.ErrorRateController(
        model, alpha=0.5, method=rk.Conformal(), positive_label=positive_label
    )
    return clf.fit(X, y)


@each(
    ("labels", "positive"),
    [
        ([0, 1], 1),
        ([-1, 1], 1),
        ([False, True], True),
        ([1, 2], 2),
        ([3.0, 5.0], 5.0),
        (["no", "yes"], "yes"),
        (["Yes", "no"], "Yes"),  # the last in order would be "no"
        (["TRUE", "FALSE"], "TRUE"),
        (["negative", "Positive"], "Positive"),
    ],
)
def test_plain_labels_and_numbers_need_no_remark(labels, positive):
    """1, yes and the like are positive, whatever their order; else the larger number is."""
    clf = fitted(labels * 5)
    negative, found = clf.test_.calibration.classes.tolist()
    assert (found, clf.test_.calibration.n(found)) == (positive, 5)
    assert clf.classes_.tolist() == sorted(labels)
    assert {found, negative} == set(labels)


@pytest.mark.parametrize("to_array", [list, np.array, lambda v: np.array(v, dtype=object)])
def test_words_without_a_positive_label_are_warned_of(to_array):
    """Of two words the last in order is taken, and the warning says so, once, and how to choose."""
    with pytest.warns(PositiveLabelWarning) as caught:
        clf = fitted(to_array(["sick", "well"] * 5))
    assert clf.test_.calibration.classes.tolist() == ["sick", "well"]
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "'well' is taken as positive" in text
    assert "positive_label='sick'" in text
    assert "positive_label='well'" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = fitted(["sick", "well"] * 5, "sick")
    assert clf.test_.calibration.classes.tolist() == ["well", "sick"]


@pytest.mark.parametrize("kind", [rk.ErrorRateController, TunedThreshold])
def test_the_warning_points_to_the_caller(kind):
    """The line that is blamed is the one that called `fit`, of a controller or a rival."""
    X, y = np.linspace(0, 1, 400)[:, np.newaxis], ["a", "b"] * 200
    with pytest.warns(PositiveLabelWarning) as caught:
        kind(LogisticRegression()).fit(X, y)
    assert caught[0].filename == __file__


def test_an_unknown_positive_label_is_refused():
    """A positive label that does not occur is refused, never replaced."""
    with pytest.raises(InputError, match="positive_label='c' is not among the labels") as caught:
        fitted(["a", "b"], "c")
    assert "'a' and 'b'" in str(caught.value)
