from __future__ import annotations

import numpy as np
import pytest

from ratekeeper.exceptions import InputError
from ratekeeper.plots import GroupDisplay


def test_dots_whiskers_and_levels_are_those_of_the_audit(halves):
    """Both errors of each group stand at their rates, with their intervals, beside the levels."""
    cal, scores, labels = halves
    site = np.array(["east", "north", "west"])[np.arange(labels.size) % 3]
    for test in (cal.control("fnr", 0.1), cal.control_both(0.05, 0.1)):
        found = test.evaluate(scores, labels, by={"site": site})
        display = GroupDisplay.from_evaluation(found)
        rows = found.by_group.worst()
        assert [row.name for row in display.rows] == [row.name for row in rows]
        for control, bar in display.errorbars_.items():
            line, _, (whiskers,) = bar.lines
            assert line.get_xdata().tolist() == [row.rates[control].rate for row in rows]
            ends = [segment[:, 0] for segment in whiskers.get_segments()]
            assert ends == pytest.approx(np.array([row.rates[control].interval for row in rows]))
        levels = [line.get_xdata()[0] for line in display.level_lines_]
        assert levels == list(found.by_group.levels.values())
        names = [text.get_text() for text in display.ax_.get_yticklabels()]
        assert [name.removesuffix(" ▲") for name in names] == [row.name for row in rows]
        other = GroupDisplay.from_predictions(labels, scores, test=test, by={"site": site})
        assert other.audit.to_dict() == found.by_group.to_dict()
        assert GroupDisplay.from_evaluation(found.by_group, draw=False).rows == display.rows


def test_of_many_groups_the_worst_are_drawn(halves):
    """At most 30 groups, with a note; groups without a class, dollars and long names draw too."""
    cal, scores, labels = halves
    names = np.array([f"$x^{i}$ " + "y" * (i % 60) for i in np.arange(labels.size) // 2])
    display = GroupDisplay.from_predictions(labels, scores, test=cal.control("fnr", 0.1), by=names)
    display.figure_.canvas.draw()
    assert len(display.rows) == 30
    assert "the 970 other groups are not drawn" in display.ax_.get_xlabel()


def test_an_estimator_is_shown_by_group(fitted):
    """The rows of a controller are counted by its own test."""
    clf, X, y = fitted
    X = X + 1e-3
    display = GroupDisplay.from_estimator(clf, X, y, by={"half": np.arange(len(y)) % 2}, draw=False)
    assert [row.columns for row in display.rows] == [("half",)] * 2


def test_what_has_no_audit_is_refused(halves):
    """Each message says what to pass."""
    cal, scores, labels = halves
    test = cal.control("fnr", 0.1)
    with pytest.raises(InputError, match="has no audit"):
        GroupDisplay.from_evaluation(test.evaluate(scores, labels))
    with pytest.raises(InputError, match=r"test=.* must be a finished test"):
        GroupDisplay.from_predictions(labels, scores, test=cal, by=labels)
    with pytest.raises(InputError, match="by=None must be a column"):
        GroupDisplay.from_calibration(test, scores=scores, labels=labels)
    with pytest.raises(InputError, match="labelled new objects"):
        GroupDisplay.from_calibration(test, by=labels)
    with pytest.raises(InputError, match="no object to show"):
        GroupDisplay.from_evaluation(test.evaluate([], [], by=[]))
