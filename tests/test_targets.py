"""Labels of scikit-learn classifiers: which one is positive."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from ratekeeper import InputError
from ratekeeper._targets import read_target
from ratekeeper.exceptions import PositiveLabelWarning


@pytest.mark.parametrize(
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
    target = read_target(labels * 5)
    assert (target.positive, target.is_positive.sum()) == (positive, 5)
    assert target.classes.tolist() == sorted(labels)
    assert {target.positive, target.negative} == set(labels)


@pytest.mark.parametrize("to_array", [list, np.array, lambda v: np.array(v, dtype=object)])
def test_words_without_a_positive_label_are_warned_of(to_array):
    """Of two words the last in order is taken, and the warning says so, once, and how to choose."""
    with pytest.warns(PositiveLabelWarning) as caught:
        target = read_target(to_array(["sick", "well"] * 5))
    assert target.positive == "well"
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "'well' is taken as positive" in text
    assert "positive_label='sick'" in text
    assert "positive_label='well'" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_target(["sick", "well"] * 5, "sick").positive == "sick"


def test_the_warning_points_to_the_caller():
    """The line that is blamed is the one that called read_target's caller."""

    def caller():
        return read_target(["a", "b"])

    with pytest.warns(PositiveLabelWarning) as caught:
        caller()
    assert caught[0].filename == __file__


def test_an_unknown_positive_label_is_refused():
    """A positive label that does not occur is refused, never replaced."""
    with pytest.raises(InputError, match="positive_label='c' is not among the labels") as caught:
        read_target(["a", "b"], "c")
    assert "'a' and 'b'" in str(caught.value)
