"""Monitors: what is counted, in which order, and what is said about it."""

from __future__ import annotations

import datetime as dt
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from cases import each

import ratekeeper as rk
from ratekeeper._numerics._sequential import combine
from ratekeeper.monitoring._monitor._panel import Alarm
from ratekeeper.storage._states import packed, unpacked


def calibration(n=2000, *, groups=False, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    names = rng.choice(["north", "south", "west"], n) if groups else None
    return rk.calibrate(rng.normal(2.0 * labels), labels, groups=names)


def stream(n, shift=2.0, seed=1):
    """Return labels, scores and groups of new objects, for which positives have this mean."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    return labels, rng.normal(shift * labels), rng.choice(["north", "south", "west"], n)


def fed(test, n=1000, shift=2.0, seed=1, **options):
    monitor = rk.Monitor(test, **options)
    labels, scores, _ = stream(n, shift, seed)
    ids = np.arange(n)
    monitor.record(ids, ids, test.decide(scores))
    monitor.update(ids, labels)
    return monitor


def same(one, other):
    """Return whether two monitors know the same, to the last bit."""
    for monitor in (one, other):
        _ = monitor.n_decisions
    a, b = one.state(), other.state()
    return a.facts == b.facts and all(
        a.arrays[name].tobytes() == b.arrays[name].tobytes() for name in a.arrays | b.arrays
    )


TESTS = {
    "plain": lambda: calibration().control("fnr", 0.05),
    "conformal": lambda: calibration().control("fpr", 0.05, method=rk.Conformal()),
    "groups": lambda: calibration(groups=True).control("fnr", 0.05),
    "both": lambda: calibration(300).control_both(alpha_fnr=0.1, alpha_fpr=0.1),
    "precision": lambda: calibration().control_precision(0.8),
    "alerts": lambda: calibration().control_alerts(0.3),
}
PLANS = {
    "waits": {},
    "matures": {"matures_after": 100},
    "audit": {"labels": rk.Audit(0.3), "matures_after": 100},
}


def decided(test, scores, groups):
    own = groups if test.calibration.groups is not None else None
    return test.decide(scores, own), own


@each("plan", PLANS)
@each("kind", TESTS)
def test_cuts_order_and_restarts_change_nothing(kind, plan, tmp_path):
    """Whatever the pieces, the order of arrival and the restarts, the state is the same."""
    test = TESTS[kind]()
    if kind == "both" and plan == "audit":
        with pytest.raises(rk.InputError, match="abstains"):
            rk.Monitor(test, **PLANS[plan])
        return
    labels, scores, groups = stream(1500, 1.7)
    ids = np.array([f"p{i}" for i in range(1500)])
    times = np.arange(1500) // 3
    decisions, own = decided(test, scores, groups)
    whole = rk.Monitor(test, **PLANS[plan])
    whole.record(ids, times, decisions, own)
    known = np.random.default_rng(3).random(1500) < (1.0 if plan == "waits" else 0.9)
    whole.update(ids[known], labels[known])
    rng = np.random.default_rng(2)
    parts = rk.Monitor(test, **PLANS[plan])
    codes = decisions.labels
    cuts = np.unique(rng.integers(0, 1500, 12))
    late = []
    for i, part in enumerate(np.split(np.arange(1500), cuts)):
        shuffled = rng.permutation(part)
        parts.record(
            ids[shuffled], times[shuffled], codes[shuffled], None if own is None else own[shuffled]
        )
        if i % 3 == 0:
            parts = rk.Monitor.restore(parts.state(), test)
        # What is decided in this part is labelled at once or with the next one, well in time.
        now, later = np.split(rng.permutation(part), [part.size // 2])
        for some in (late, now):
            chosen = np.array([j for j in some if known[j]], dtype=int)
            parts.update(ids[chosen], labels[chosen])
        late = later.tolist()
        if plan == "waits":
            _ = parts.n_decisions
    chosen = np.array([j for j in late if known[j]], dtype=int)
    parts.update(ids[chosen], labels[chosen])
    path = tmp_path / "watch.rk"
    parts.save(path)
    # Decisions of one time were recorded in another order: counts are the same, courses not.
    mixed = rk.Monitor.load(path, test)
    assert mixed.n_outcomes == whole.n_outcomes
    assert mixed.rates == whole.rates
    again = rk.Monitor(test, **PLANS[plan])
    for half in np.array_split(np.arange(1500), 7):
        again.record(ids[half], times[half], codes[half], None if own is None else own[half])
        again = rk.Monitor.restore(again.state(), test)
    for j in np.flatnonzero(known):
        again.update(ids[j], labels[j])
    assert same(again, whole)


def test_labels_count_in_the_order_of_decisions():
    """Labels that arrive in any order give the very same state."""
    test = TESTS["plain"]()
    labels, scores, _ = stream(800, 1.6)
    ids = np.arange(800)
    monitors = []
    for order in (ids, ids[::-1], np.argsort(labels)):
        monitor = rk.Monitor(test)
        monitor.record(ids, ids, test.decide(scores))
        for half in np.array_split(order, 5):
            monitor.update(half, labels[half])
        monitors.append(monitor)
    assert same(monitors[0], monitors[1])
    assert same(monitors[0], monitors[2])


def test_the_same_again_changes_nothing_and_a_contradiction_is_named():
    """Ids make records and labels count once; another decision, time or label is refused."""
    test = TESTS["plain"]()
    monitor = rk.Monitor(test)
    assert monitor.record(["a", "b"], [1, 2], [1, 0]).new == 2
    assert monitor.record(["b", "a", "c"], [2, 1, 3], [0, 1, 1]).known == 2
    before = monitor.state()
    with pytest.raises(rk.InputError, match=r"'b'.*another decision"):
        monitor.record(["d", "b"], [4, 2], [1, 1])
    with pytest.raises(rk.InputError, match=r"'a'.*another time"):
        monitor.record("a", 7, 1)
    monitor.update("c", 1)
    with pytest.raises(rk.InputError, match=r"'c'.*positive already"):
        monitor.update(["a", "c"], [1, 0])
    with pytest.raises(rk.InputError, match=r"'c'.*positive already"):
        monitor.update("c", 0)
    with pytest.raises(rk.InputError, match="'x' twice"):
        monitor.record(["x", "x"], 9, [1, 1])
    with pytest.raises(rk.InputError, match="'a'"):
        monitor.update(["a", "a"], [0, 1])
    assert monitor.update("c", 1).known == 1
    after = monitor.state()
    assert before.arrays["open/ids"].tobytes() == after.arrays["open/ids"].tobytes()
    assert after.arrays["open/labels"].tolist() == [2, 2, 1]


def test_an_unlabelled_decision_holds_up_all_later_ones():
    """Without a maturity the labelled beginning is counted, and the text says what it waits for."""
    monitor = rk.Monitor(TESTS["plain"]())
    monitor.record(["a", "b", "c"], ["2024-05-01", "2024-05-02", "2024-05-03"], [1, 1, 1])
    monitor.update(["a", "c"], [1, 1])
    assert monitor.n_decisions == 1
    assert monitor.waiting == 2
    assert monitor.waiting_for == ("b", "2024-05-02")
    assert "wait for the label of 'b', decided at 2024-05-02" in repr(monitor).replace("\n ", "")
    monitor.update("b", 1)
    assert monitor.waiting == 0
    assert monitor.update("c", 1).too_late == 1
    assert monitor.update("a", 1).unknown == 1  # forgotten
    assert monitor.record("a", "2024-05-01", 1).too_late == 1
    assert monitor.record(["c", "d"], "2024-05-03", [1, 1]).new == 1
    assert (monitor.too_late, monitor.unknown) == (2, 1)


def test_missing_labels_count_as_is_kindest():
    """At maturity, an unlabelled miss is left out, and an unlabelled alert counts as correct."""
    test = TESTS["plain"]()
    monitor = rk.Monitor(test, matures_after=10)
    # Missed without a label, flagged without one, missed positive, flagged positive.
    monitor.record(["a", "b", "c", "d"], [0, 1, 2, 3], [0, 1, 0, 1])
    monitor.update(["c", "d"], [1, 1])
    assert monitor.n_decisions == 0
    monitor.advance(13)
    assert monitor.n_decisions == 4
    (one,) = monitor.rates
    assert (one.errors, one.n) == (1, 2)
    assert one.rate == 0.5
    assert (one.best, one.worst) == (1 / 3, 2 / 3)
    assert monitor.n_unlabelled == 2
    assert one.interval[0] <= 1 / 3 <= 2 / 3 <= one.interval[1]
    assert monitor.record(["e", "f"], [3, 4], [1, 1]).too_late == 1
    assert monitor.update("a", 1).unknown == 1


def test_labels_of_flagged_objects_alone_are_refused():
    """An FNR cannot be seen by whoever looks at alerts only; the error names the way out."""
    test = TESTS["plain"]()
    labels, scores, _ = stream(600)
    decisions = test.decide(scores)
    flagged = decisions.positive
    monitor = rk.Monitor(test, matures_after=10)
    ids = np.arange(600)
    monitor.record(ids, ids, decisions)
    monitor.update(ids[flagged], labels[flagged])
    for name in ("alarm", "limit_broken", "unlike_calibration", "changed", "interval", "e_values"):
        with pytest.raises(rk.InputError, match=r"(?s)FNR.*rk\.Audit"):
            getattr(monitor, name)
    assert "no verdict" in repr(monitor)
    assert monitor.to_dict()["refused"]
    assert "nothing can be said" in monitor._repr_html_()
    precise = TESTS["precision"]()
    monitor = rk.Monitor(precise, matures_after=10)
    decisions = precise.decide(scores)
    monitor.record(ids, ids, decisions)
    monitor.update(ids[decisions.positive], labels[decisions.positive])
    assert monitor.limit_broken is False  # of alerts, labels of alerts say all


def test_an_audit_counts_what_chance_has_chosen():
    """Misses that were audited stand for 1/rate of them; other labels of the rest are left out."""
    test = TESTS["plain"]()
    plan = rk.Audit(0.2, random_state=0)
    labels, scores, _ = stream(20_000, 1.5)
    ids = np.arange(20_000)
    decisions = test.decide(scores)
    monitor = rk.Monitor(test, labels=plan)
    monitor.record(ids, ids, decisions)
    asked = monitor.to_audit()
    chosen = ~decisions.positive & plan.chooses(ids)
    assert asked == [str(i) for i in ids[chosen]]
    assert monitor.to_audit(ids[:100]) == [str(i) for i in ids[:100][chosen[:100]]]
    assert monitor.update(ids, labels).unaudited == np.count_nonzero(~decisions.positive & ~chosen)
    true = np.mean(~decisions.positive[labels == 1])
    (one,) = monitor.rates
    assert one.rate == pytest.approx(true, rel=0.1)
    assert one.interval[0] < true < one.interval[1]
    assert monitor.limit_broken
    assert monitor.unlike_calibration is True
    assert monitor.reason is None
    assert "5 of 100 others" not in repr(monitor)
    text = " ".join(str(monitor).split())
    assert "They hold at all times together if the rate is constant; if it changes" in text
    assert "mean rate so far, at all times together" not in text
    with pytest.raises(rk.InputError, match="no audit"):
        fed(test).to_audit()


@pytest.mark.parametrize(
    ("control", "rate", "changed"), [("fpr", 0.025, False), ("fnr", 0.2, True)]
)
def test_a_late_change_is_judged_by_the_rate_of_all_under_an_audit(control, rate, changed):
    """Half of the limit is no change although labels are mostly errors; four times it is one."""
    test = calibration().control(control, 0.05)
    rng = np.random.default_rng(5)
    ids, errs = np.arange(20_000), rng.random(20_000) < rate
    monitor = rk.Monitor(test, labels=rk.Audit(0.1))
    monitor.record(ids, ids, (errs == (control == "fpr")).astype(int))
    monitor.update(ids, np.full(ids.size, int(control == "fnr")))
    assert monitor.changed is changed


def test_which_verdict_wakes_somebody_follows_the_promise():
    """The limit for promises about this very test, the likeness for those on average."""
    cal = calibration()
    methods = {
        rk.HighProbability(): ("limit_broken", False),
        rk.Simultaneous(): ("limit_broken", False),
        rk.Conformal(): ("unlike_calibration", False),
        rk.methods.Smoothed(0): ("unlike_calibration", False),
        rk.methods.Kernel(): ("limit_broken", None),
    }
    for method, (pages, unlike) in methods.items():
        test = cal.control("fnr", 0.05, method=method)
        monitor = rk.Monitor(test)
        assert (monitor.pages, monitor.unlike_calibration) == (pages, unlike), method
        assert (monitor.reason is None) == (unlike is not None)
    precise = rk.Monitor(cal.control_precision(0.8))
    assert (precise.pages, precise.unlike_calibration) == ("limit_broken", None)
    assert "search" in precise.reason
    assert rk.Monitor(cal.control_alerts(0.2, delta=None)).pages == "unlike_calibration"


def test_fewer_errors_are_no_news():
    """Ties make errors fewer than a rank says, and a calibration need not show them."""
    rng = np.random.default_rng(0)
    labels = np.ones(4000, int)
    labels[:2000] = 0
    coarse = rk.calibrate(np.round(rng.normal(2.0 * labels) * 2) / 2, labels)
    test = coarse.control("fnr", 0.05, method=rk.Conformal())
    monitor = rk.Monitor(test)
    ids = np.arange(3000)
    monitor.record(ids, ids, np.ones(3000, int))
    monitor.update(ids, np.ones(3000, int))
    assert monitor.unlike_calibration is False
    fine = fed(calibration(seed=4).control("fnr", 0.05, method=rk.Conformal()), 6000, 5.0)
    assert fine.unlike_calibration is False
    for one in (monitor, fine):
        assert "Only more errors count" in repr(one).replace("\n ", "")


@pytest.mark.parametrize("errors", [0, 80])
def test_a_state_of_an_earlier_version_keeps_no_alarm_for_fewer_errors(errors):
    """Earlier versions looked for fewer errors, too; what they saw of more errors stays."""
    test = calibration().control("fnr", 0.05, method=rk.Conformal())
    ids = np.arange(2000)
    monitor = rk.Monitor(test)
    monitor.record(ids, ids, ids >= errors)
    monitor.update(ids, np.ones(2000, int))
    assert monitor.unlike_calibration is bool(errors)
    state = monitor.state()
    name = next(name for name in state.arrays if name.endswith("watches/texts"))
    ends = name.replace("texts", "ends")
    watches = [json.loads(text) for text in unpacked(state.arrays[name], state.arrays[ends])]
    for i, watch in enumerate(watches):
        if "rank" in watch:
            up = {key: watch.pop(key) for key in ("n", "errors", "log_peak", "alarm")}
            up["log_peak"] -= math.log(2)
            down = {"n": 2000, "errors": 2000 - errors, "log_peak": 5.0, "alarm": 114}
            watches[i] = {
                **watch,
                "up": up,
                "down": down if not errors else {**down, "alarm": None},
            }
    texts, marks = packed([json.dumps(watch) for watch in watches])
    alarms = monitor._panel.alarms  # noqa: SLF001 - what an earlier version would have written
    if not errors:
        alarms.append(Alarm("unlike_calibration", 114, 114, "113", 113.0, "fnr"))
    state = monitor.state()
    earlier = replace(state, arrays={**state.arrays, name: texts, ends: marks})
    read = rk.Monitor.restore(earlier, test)
    assert read.unlike_calibration is bool(errors)
    assert read.e_values["unlike_calibration"] == monitor.e_values["unlike_calibration"]
    assert read.alarms == [one for one in monitor.alarms if errors or one.decision != 114]


def test_groups_are_joined_by_the_mean_of_their_evidence():
    """The alarm comes at the first decision at which the mean, looked at after each, is enough."""
    test = TESTS["groups"]()
    labels, scores, groups = stream(1500, 1.4)
    decisions = test.decide(scores, groups)
    monitor = rk.Monitor(test, delta=0.001)
    ids = np.arange(1500)
    monitor.record(ids, ids, decisions, groups)
    monitor.update(ids, labels)
    from ratekeeper._numerics._sequential import LimitEProcess

    watches = {name: LimitEProcess(0.05, 0.001) for name in ("north", "south", "west")}
    whole, found = LimitEProcess(0.05, 0.001), None
    for i in np.flatnonzero(labels).tolist():
        for one in (watches[groups[i]], whole):
            one.feed(not decisions.positive[i])
        mean = combine([whole.log_e, combine([one.log_e for one in watches.values()])])
        if found is None and mean >= math.log(1000):
            found = i
    first = next(one for one in monitor.alarms if one.verdict == "limit_broken")
    assert (first.id, first.group) == (str(found), None)
    e_values = monitor.e_values["limit_broken"]
    assert e_values["north"] == pytest.approx(math.exp(watches["north"].log_e))
    assert e_values[None] == pytest.approx(math.exp(mean))
    assert set(monitor.groups_broken) <= {"north", "south", "west"}
    assert len(monitor.by_group()) == 3


def test_the_group_that_went_wrong_is_named():
    """One bad group of three is found by e-BH, and the others are not named."""
    test = TESTS["groups"]()
    labels, scores, groups = stream(9000)
    scores[(groups == "west") & (labels == 1)] -= 1.0
    monitor = rk.Monitor(test)
    ids = np.arange(9000)
    monitor.record(ids, ids, test.decide(scores, groups), groups)
    monitor.update(ids, labels)
    assert monitor.groups_broken == ["west"]
    assert any(one.verdict == "changed" and one.group == "west" for one in monitor.alarms)
    assert "'west'" in repr(monitor)
    with pytest.raises(rk.InputError, match="groups"):
        monitor.record("new", 1e6, 1)
    with pytest.raises(rk.InputError, match="'east'"):
        monitor.record("new", 1e6, 1, "east")
    assert monitor.record("new", 1e6, 1, "west").new == 1


def test_an_alarm_stays():
    """Verdicts are latched: good outcomes later do not take them back."""
    test = TESTS["plain"]()
    monitor = fed(test, 1000, 1.2)
    first = monitor.alarms
    assert monitor.alarm
    ids = np.arange(10_000, 40_000)
    monitor.record(ids, ids, np.ones(ids.size, int))
    monitor.update(ids, np.ones(ids.size, int))
    assert monitor.e_values["limit_broken"][None] < 1
    assert monitor.alarm
    assert monitor.limit_broken
    assert monitor.changed
    assert monitor.alarms[: len(first)] == first


def test_both_rates_share_delta_and_tell_abstentions():
    """A test of both rates has two of everything, and an abstention is no error."""
    test = TESTS["both"]()
    labels, scores, _ = stream(2000)
    monitor = rk.Monitor(test)
    ids = np.arange(2000)
    decisions = test.decide(scores)
    monitor.record(ids, ids, decisions.labels)
    monitor.update(ids, labels)
    assert set(monitor.interval) == set(monitor.e_values) == {"fnr", "fpr"}
    for one, rate in zip(monitor.rates, test.evaluate(scores, labels).parts, strict=True):
        assert (one.errors, one.n) == (rate.target.errors, rate.target.n)
    with pytest.raises(rk.InputError, match="never abstains"):
        rk.Monitor(TESTS["plain"]()).record("a", 1, None)
    drawn = calibration().control_both(alpha_fnr=0.1, alpha_fpr=0.1, method=rk.methods.Smoothed(0))
    with pytest.raises(rk.InputError, match="neither"):
        rk.Monitor(drawn).record(["a", "b"], 1, [1, None])


def test_times_are_of_one_kind_and_exact():
    """Numbers, dates, datetimes and texts are read exactly; kinds cannot be mixed."""
    test = TESTS["plain"]()
    zone = dt.timezone(dt.timedelta(hours=2))
    same_time = [
        "2024-05-31T08:30:00",
        dt.datetime(2024, 5, 31, 8, 30),  # noqa: DTZ001
        np.datetime64("2024-05-31T08:30"),
    ]
    for value in same_time:
        monitor = rk.Monitor(test, matures_after="2 days")
        monitor.record("a", value, 1)
        assert monitor.waiting_for == ("a", "2024-05-31 08:30:00")
    monitor.record("b", "2024-05-31T08:30:00.000001", 1)
    assert monitor.state().arrays["open/times"].tolist() == [
        1717144200000000,
        1717144200000001,
    ]
    monitor = rk.Monitor(test)
    monitor.record("a", dt.datetime(2024, 5, 31, 8, 30, tzinfo=zone), 1)
    assert monitor.waiting_for == ("a", "2024-05-31 06:30:00Z")
    with pytest.raises(rk.InputError, match="without a time zone"):
        monitor.record("b", "2024-05-31", 1)
    with pytest.raises(rk.InputError, match="no order"):
        rk.Monitor(test).record(["a", "b"], ["2024-05-31", 3], [1, 1])
    with pytest.raises(rk.InputError, match="matures_after"):
        rk.Monitor(test, matures_after="2 days").record("a", 3, 1)
    with pytest.raises(rk.InputError, match="matures_after"):
        rk.Monitor(test, matures_after=3).record("a", dt.date(2024, 5, 31), 1)
    for wrong in ("soon", float("nan"), None, True, 2**60 + 1, np.datetime64("NaT")):
        with pytest.raises(rk.InputError, match="decided_at"):
            rk.Monitor(test).record("a", wrong, 1)
    for wrong in (0, -1, "soon", True, dt.timedelta(0)):
        with pytest.raises(rk.InputError, match="matures_after"):
            rk.Monitor(test, matures_after=wrong)


def test_bad_input_is_refused_by_name():
    """What a monitor cannot use is said with the value and the remedy."""
    test = TESTS["plain"]()
    for options in ({"delta": 0}, {"labels": "flagged"}, {"run_length": 3}):
        with pytest.raises(rk.InputError, match=next(iter(options))):
            rk.Monitor(test, **options)
    with pytest.raises(rk.InputError, match="test"):
        rk.Monitor(calibration())
    monitor = rk.Monitor(test)
    with pytest.raises(rk.InputError, match=r"decisions.*'maybe'"):
        monitor.record("a", 1, "maybe")
    with pytest.raises(rk.InputError, match="3 values for 2 ids"):
        monitor.record(["a", "b"], 1, [1, 0, 1])
    with pytest.raises(rk.InputError, match=r"labels.*2"):
        monitor.update("a", 2)
    with pytest.raises(rk.InputError, match="no value at position 1"):
        monitor.update(["a", "b"], [1, None])
    with pytest.raises(rk.InputError, match="ids"):
        monitor.record([0.5], 1, [1])
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    clustered = rk.calibrate(rng.normal(labels), labels, clusters=np.arange(400) // 2)
    with pytest.raises(rk.InputError, match="cluster"):
        rk.Monitor(clustered.control("fnr", 0.2))


def test_a_state_belongs_to_its_test(tmp_path):
    """A file of another test, a damaged one and one of another kind are refused."""
    test = TESTS["plain"]()
    monitor = fed(test, 300)
    path = tmp_path / "watch.rk"
    monitor.save(path)
    assert same(rk.Monitor.load(path, test), monitor)
    with pytest.raises(rk.InputError, match="another test"):
        rk.Monitor.load(path, calibration().control("fnr", 0.04))
    with pytest.raises(rk.exceptions.StoredFileError, match="monitor"):
        rk.load(path)
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    with pytest.raises(rk.exceptions.StoredFileError, match="checksum"):
        rk.Monitor.load(path, test)
    state = monitor.state()
    state.arrays["table"] = state.arrays["table"] * 2
    with pytest.raises(rk.exceptions.StoredFileError):
        rk.Monitor.restore(state, test)


def test_a_state_does_not_grow(tmp_path):
    """Counted decisions leave only counts behind."""
    test = TESTS["plain"]()
    sizes = []
    for n in (5_000, 20_000):
        monitor = fed(test, n)
        _ = monitor.alarm
        monitor.save(tmp_path / "watch.rk")
        sizes.append((tmp_path / "watch.rk").stat().st_size)
    assert sizes[1] < 1.2 * sizes[0]


def test_what_it_says_is_the_same_for_people_and_programs():
    """Text, card and dict have the verdicts by name, and the two kinds of promise apart."""
    monitor = fed(TESTS["plain"](), 1000, 1.4)
    text = " ".join(repr(monitor).split())
    assert text.startswith("MONITOR FNR <= 5%: ALARM, limit broken")
    over_all_time, on_average = text.split("Changed lately (a warning):")
    assert "the probability of ever saying this would be at most 0.05" in over_all_time
    assert "outcomes on average" not in over_all_time
    assert "10,000 outcomes on average" in on_average
    assert "probability" not in on_average
    facts = json.loads(json.dumps(monitor.to_dict()))
    assert facts["alarm"] is True
    assert facts["verdicts"]["limit_broken"]["page_worthy"] is True
    assert facts["alarms"][0]["id"] == monitor.alarms[0].id
    assert facts["rates"][0]["interval"] == list(monitor.interval)
    assert len(monitor.warnings) == 2
    assert "Limit broken" in monitor._repr_html_()
    quiet = rk.Monitor(TESTS["plain"]())
    assert "Nothing is counted yet" in repr(quiet)
    assert quiet.to_dict()["rates"][0]["rate"] is None


def scored(test, cuts, shift=2.0, n=1000, **options):
    """Return a monitor that was given scores in these pieces, and restored after each."""
    monitor = rk.Monitor(test, **options)
    _, scores, groups = stream(n, shift)
    for rows in np.split(np.arange(n), cuts):
        decisions, own = decided(test, scores[rows], groups[rows])
        monitor.record(rows, rows, decisions, own, scores=scores[rows])
        monitor = rk.Monitor.restore(monitor.state(), test)
    return monitor


@pytest.mark.thorough_rows
@pytest.mark.parametrize("kind", ["plain", "groups"])
def test_scores_are_judged_at_fixed_numbers_whatever_the_pieces(kind):
    """200, 400, 800 scores are judged, wherever calls end; what was found and counted is kept."""
    test = TESTS[kind]()
    for shift, expected in ((2.0, False), (8.0, True)):
        whole = scored(test, [], shift)
        assert whole.shifted is expected
        assert whole.n_scores == 1000
        assert same(whole, scored(test, [1, 150, 333, 801], shift))
    _, scores, groups = stream(1000, 8.0)
    first = rk.shift_test(test, scores[:200], groups[:200] if kind == "groups" else None)
    assert whole.state().facts["scores"]["shown"]["p"] == pytest.approx(first.p)
    assert whole.state().facts["scores"]["shown"]["n"] == 200
    assert whole.pages == "limit_broken"
    assert whole.alarm is False
    assert "the first 200 show it" in whole.warnings[-1]
    assert "Scores: they are no mixture" in repr(whole)
    assert whole.to_dict()["shifted"] is True
    assert "Scores" in whole._repr_html_()


def test_the_levels_of_all_judgements_add_up_to_delta(monkeypatch):
    """The j-th judgement has level delta / (j (j + 1)), and there is none in between."""
    from ratekeeper.monitoring import ShiftCounts

    asked, judged = [], ShiftCounts.result

    def noted(counts, **given):
        asked.append((counts.n, given["alpha"]))
        return judged(counts, **given)

    monkeypatch.setattr(ShiftCounts, "result", noted)
    monitor = scored(TESTS["plain"](), range(0, 1700, 100), n=1700, delta=0.06)
    assert asked == [(200, 0.03), (400, 0.01), (800, 0.005), (1600, 0.003)]
    assert monitor.to_dict()["scores"] == 1700
    assert "judged again at 3,200" in " ".join(repr(monitor).split())


def test_scores_of_known_decisions_do_not_count_again():
    """The same call again changes nothing, and neither does one that is refused."""
    test = TESTS["plain"]()
    monitor = scored(test, [])
    _, scores, _ = stream(1000)
    monitor.record(np.arange(1000), np.arange(1000), test.decide(scores), scores=scores)
    assert monitor.n_scores == 1000
    for wrong, match in (([np.nan], "NaN"), ([0.1, 0.2], "2 values for 1 ids")):
        with pytest.raises(rk.InputError, match=match):
            monitor.record(["new"], [2000], [1], scores=wrong)
    assert monitor.n_scores == 1000
    assert monitor.waiting == 1000


def test_where_scores_cannot_be_judged_the_reason_is_said():
    """Without scores, and of one class alone, there is no verdict about scores."""
    monitor = fed(TESTS["plain"](), 10)
    assert monitor.shifted is None
    assert monitor.shifted_reason == "No scores were recorded."
    assert "Scores" not in repr(monitor)
    scores = np.linspace(0, 1, 300)
    test = rk.calibrate(scores, one_class="positive").control("fnr", 0.1)
    monitor = rk.Monitor(test)
    monitor.record(np.arange(300), np.arange(300), test.decide(scores), scores=scores)
    restored = rk.Monitor.restore(monitor.state(), test)
    assert restored.shifted is None
    assert "may then be of the other class" in restored.shifted_reason
    assert "Scores: not judged." in repr(restored)


def test_columns_of_other_rows_are_refused():
    """Columns of pandas whose indexes differ are never paired by position."""
    pd = pytest.importorskip("pandas")
    test = calibration().control("fnr", 0.1)
    monitor, ids = rk.Monitor(test), pd.Series(["a", "b", "c"])
    turned = pd.Series([1, 0, 1], index=[2, 1, 0])
    with pytest.raises(rk.InputError, match="ids and decisions are pandas columns"):
        monitor.record(ids, 1, turned)
    monitor.record(ids, 1, [1, 0, 1])
    with pytest.raises(rk.InputError, match="ids and labels are pandas columns"):
        monitor.update(ids, turned)


def test_decisions_of_an_adaptive_test_are_refused():
    """A monitor is about a threshold that stays."""
    test = calibration().control("fnr", 0.1)
    decisions = rk.AdaptiveTest(test).decide([0.1, 0.9], ["a", "b"])
    with pytest.raises(rk.InputError, match="of an adaptive test, whose level moves"):
        rk.Monitor(test).record(["a", "b"], 1, decisions)


def test_an_object_that_is_neither_is_an_error_of_its_class():
    """Both classes ruled out is no call of the object's own, so it counts against both limits."""
    rng = np.random.default_rng(3)
    labels = np.arange(600) % 2
    test = rk.calibrate(rng.normal(3.0 * labels), labels, random_state=0).control_both(
        0.4, 0.4, method=rk.methods.Smoothed()
    )
    scores = rng.normal(3.0 * labels)
    decisions = test.decide(scores)
    monitor = rk.Monitor(test)
    monitor.record(np.arange(600), np.arange(600), decisions)
    monitor.update(np.arange(600), labels)
    kept = decisions.positive | decisions.abstained
    wrong = {"fnr": ~kept, "fpr": decisions.positive | decisions.neither}
    for one, (control, null) in zip(monitor.rates, (("fnr", 1), ("fpr", 0)), strict=True):
        assert (decisions.neither & (labels == null)).any()
        assert one.rate == wrong[control][labels == null].mean()
