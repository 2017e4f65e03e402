"""Very many groups, names that NumPy would change, and columns of every type."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import ratekeeper as rk

FEW, MANY = 60, 240  # groups: four times as many may cost little more than four times the work
# Methods of containers that go over all that they hold.
_WHOLE = {"astype", "argsort", "copy", "items", "keys", "nonzero", "sort", "tolist", "values"}


class Work:
    """Counts steps of ratekeeper's own code: lines run, and values that containers went over."""

    def __init__(self):
        self.done = 0

    def __enter__(self):
        self._before = sys.gettrace(), sys.getprofile()
        sys.settrace(self._line)
        sys.setprofile(self._call)
        return self

    def __exit__(self, *error):
        sys.settrace(self._before[0])
        sys.setprofile(self._before[1])

    def _line(self, frame, event, arg):
        if "ratekeeper" not in frame.f_code.co_filename:
            return None
        self.done += event == "line"
        return self._line

    def _call(self, frame, event, arg):
        if event == "c_call" and arg.__name__ in _WHOLE:
            self.done += getattr(arg.__self__, "size", 0) or len(arg.__self__)


def grouped(n_groups, seed=0):
    """Return scores, labels and groups of a few objects of each class in each group."""
    sizes = 25 + np.arange(2 * n_groups) % 11
    labels = np.repeat([0, 1] * n_groups, sizes)
    names = np.repeat([f"group {i // 2}" for i in range(2 * n_groups)], sizes)
    return np.random.default_rng(seed).normal(2.0 * labels), labels, names


METHODS = [rk.Conformal(), rk.HighProbability(), rk.Simultaneous(), rk.Smoothed(random_state=0)]


def steps(n_groups):
    """Yield the name of each thing done with so many groups, and the work that it took."""
    scores, labels, names = grouped(n_groups)
    later = grouped(n_groups, seed=1)
    made = {}

    def done(name, action):
        with Work() as work:
            made[name] = action()
        return name, work.done

    yield done("calibrate", lambda: rk.calibrate(scores, labels, groups=names))
    cal = made["calibrate"]
    yield done("merge", lambda: cal.merge(rk.calibrate(*later[:2], groups=later[2])))
    yield done("p-values", lambda: cal.p_values(later[0], groups=later[2]))
    for method in METHODS:
        single = f"control {method.name}"
        yield done(single, lambda m=method: cal.control("fnr", 0.1, method=m, thin_groups="pool"))
        both = f"control both {method.name}"
        yield done(both, lambda m=method: cal.control_both(0.1, 0.1, method=m, thin_groups="pool"))
        for kind in (single, both):
            test = made[kind]
            yield done(f"{kind}: certify", lambda t=test: t.certificate)
            yield done(f"{kind}: text", lambda t=test: str(t.certificate))
            yield done(f"{kind}: JSON", lambda t=test: t.certificate.to_json())
            yield done(f"{kind}: HTML", lambda t=test: t.certificate._repr_html_())
            yield done(f"{kind}: repr", lambda t=test: repr(t) + t._repr_html_())
            yield done(f"{kind}: decide", lambda t=test: t.decide(later[0], later[2]))
            yield done(f"{kind}: p-values", lambda t=test: t.p_values(later[0], later[2]))
            found = f"{kind}: evaluate"
            yield done(found, lambda t=test: t.evaluate(later[0], later[1], later[2]))
            yield done(f"{found}, repr", lambda e=made[found]: repr(e) + e._repr_html_())
            yield done(f"{found}, facts", lambda e=made[found]: e.to_dict())


def test_no_step_is_quadratic_in_the_number_of_groups():
    """Four times as many groups take at most five times the work, in everything done with them."""
    work = zip(steps(FEW), steps(MANY), strict=True)
    slow = {name: (few, many) for (name, few), (_, many) in work if many > 5 * few + 2000}
    assert not slow
