"""The course of a monitor: numbers first, a drawing if asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.plots import MonitorDisplay


def watched(n=5000, **options):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n)
    cal = rk.calibrate(rng.normal(2.0 * labels), labels)
    test = cal.control_both(alpha_fnr=0.1, alpha_fpr=0.1) if options.pop("both", False) else None
    test = cal.control("fnr", 0.05) if test is None else test
    monitor = rk.Monitor(test, **options)
    ids, new = np.arange(n), rng.integers(0, 2, n)
    monitor.record(ids, ids, test.decide(rng.normal(1.3 * new)))
    monitor.update(ids, new)
    return monitor


def test_the_last_point_is_what_the_monitor_says():
    """Rate, limits and evidence at the last kept outcome are those of a monitor up to it."""
    monitor = watched(2000)
    display = MonitorDisplay.from_monitor(monitor, draw=False)
    assert display.outcomes.size < 512
    last = int(display.outcomes[-1])
    assert monitor.n_outcomes - last < 8
    assert (np.diff(display.outcomes) == display.outcomes[0]).all()
    (one,) = monitor.rates
    if last == monitor.n_outcomes:
        assert display.rate[-1] == one.rate
        assert (display.low[-1], display.high[-1]) == one.interval
    e_values = monitor.e_values
    for verdict, course in display.evidence.items():
        assert math.log(course[-1]) == pytest.approx(math.log(e_values[verdict][None]), abs=1.5)
    crossed = display.outcomes[display.evidence["limit_broken"] >= 20]
    first = next(a for a in display.alarms if a.verdict == "limit_broken")
    assert crossed[0] >= first.outcome


def test_the_rate_is_chosen_where_there_are_two():
    """A test of both rates has two courses; without a choice the error names them."""
    monitor = watched(1000, both=True)
    for share in ("fnr", "fpr"):
        assert MonitorDisplay.from_monitor(monitor, share=share, draw=False).share == share
    for share in (None, "fdr"):
        with pytest.raises(rk.InputError, match='"fnr" or "fpr"'):
            MonitorDisplay.from_monitor(monitor, share=share, draw=False)
    with pytest.raises(rk.InputError, match="Monitor"):
        MonitorDisplay.from_monitor(monitor.test, draw=False)
    with pytest.raises(rk.InputError, match="from_monitor"):
        MonitorDisplay.from_calibration(monitor.test, draw=False)


def test_nothing_counted_is_drawn_as_nothing():
    """A monitor at its start has a picture, too."""
    pytest.importorskip("matplotlib").use("Agg")
    test = watched(1000).test
    display = MonitorDisplay.from_monitor(rk.Monitor(test))
    assert display.outcomes.size == 0
    assert "0 outcomes" in repr(display)
