"""Tests whose level moves with the labels: what they decide, learn, refuse and remember."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import ratekeeper as rk

ALPHA = 0.05


def calibration(groups=None, n=400, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.tile(["no", "yes"], n)
    names = None if groups is None else np.resize(groups, 2 * n)
    return rk.calibrate(rng.normal(2.0 * (labels == "yes")), labels, groups=names)


@pytest.fixture
def test():
    """Return a test of the FNR."""
    return calibration().control("fnr", ALPHA)


def stream(n, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.5
    return rng.normal(1.5 * truth), np.where(truth, "yes", "no"), [f"p-{i}" for i in range(n)]


@pytest.mark.parametrize("control", ["fnr", "fpr"])
@pytest.mark.parametrize(
    "method", [rk.HighProbability(), rk.Conformal(), rk.methods.Kernel(), rk.methods.Empirical()]
)
def test_until_a_label_comes_it_decides_as_the_test(control, method):
    """At the level alpha decisions are those of the test itself, bit for bit."""
    test = calibration().control(control, ALPHA, method=method)
    scores, _, ids = stream(300)
    plain, adaptive = test.decide(scores), rk.AdaptiveTest(test).decide(scores, ids)
    assert adaptive.labels.tolist() == plain.labels.tolist()
    assert adaptive.levels.tolist() == [ALPHA] * 300
    assert adaptive.p_values.p1.tolist() == plain.p_values.p1.tolist()


@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_only_the_null_class_moves_the_level(test, control):
    """An error lowers the level by step (1 - alpha), another object raises it by step alpha."""
    test = calibration().control(control, ALPHA)
    adaptive = rk.AdaptiveTest(test)
    null, other = ("yes", "no") if control == "fnr" else ("no", "yes")
    far, near = (-9.0, 9.0) if control == "fnr" else (9.0, -9.0)
    with pytest.warns(rk.exceptions.ScoreRangeWarning):
        adaptive.decide([far, near, far, near], ["a", "b", "c", "d"])
    assert adaptive.learn(["c", "d"], [other, other]).null == 0
    assert (adaptive.level, adaptive.n, adaptive.errors) == (ALPHA, 0, 0)
    adaptive.learn(["a"], [null])
    assert adaptive.level == pytest.approx(ALPHA - 0.005 * 0.95)
    found = adaptive.learn(["b"], [null])
    assert found._asdict() | {"learned": 1, "null": 1, "errors": 0} == found._asdict()
    assert adaptive.level == pytest.approx(ALPHA - 0.005 * 0.9)
    assert (adaptive.n, adaptive.errors, adaptive.open) == (2, 1, 0)


def test_labels_and_decisions_can_be_repeated(test):
    """The same label again changes nothing, another is refused, a known id keeps its decision."""
    adaptive = rk.AdaptiveTest(test)
    scores, labels, ids = stream(200)
    first = adaptive.decide(scores, ids)
    adaptive.learn(ids[:100], labels[:100])
    level = adaptive.level
    assert level != ALPHA
    again = adaptive.learn(ids[:100], labels[:100])
    assert (again.learned, again.repeated, adaptive.level) == (0, 100, level)
    other = ["yes" if label == "no" else "no" for label in labels[:1]]
    with pytest.raises(rk.InputError, match="'p-0' comes with another label"):
        adaptive.learn([*ids[100:], ids[0]], [*labels[100:], *other])
    assert adaptive.open == 100  # nothing was learned
    second = adaptive.decide(scores, ids)
    assert second.positive.tolist() == first.positive.tolist()
    assert second.levels.tolist() == [ALPHA] * 200
    assert adaptive.decide(scores[:1], ["new"]).levels.tolist() == [level]
    assert adaptive.open == 101
    with pytest.raises(rk.InputError, match="has a decision already"):
        adaptive.decide([0.123], [ids[150]])


def test_unknown_ids_are_refused_or_counted(test):
    """Nothing is learned from labels that belong to no decision; without ids nothing ever is."""
    adaptive = rk.AdaptiveTest(test)
    adaptive.decide([0.5])
    with pytest.raises(rk.InputError, match="Pass ids to decide"):
        adaptive.learn(["a"], ["yes"])
    adaptive.decide([0.5], [7])
    with pytest.raises(rk.InputError, match=r"1 of 2 ids have no decision here: 'b'"):
        adaptive.learn(["7", "b"], ["yes", "yes"])
    assert adaptive.n == 0
    found = adaptive.learn(["7", "b"], ["yes", "yes"], unknown="ignore")
    assert (found.learned, found.unknown, adaptive.n) == (1, 1, 1)


def test_what_cannot_be_used_is_refused(test):
    """Every refusal says what is wrong and what to do."""
    cal = test.calibration
    cases = [
        (lambda: rk.AdaptiveTest(cal), "cal.control"),
        (lambda: rk.AdaptiveTest(cal.control_both(0.1, 0.1)), r"test\.parts\[0\]"),
        (lambda: rk.AdaptiveTest(cal.control_precision(0.6)), "cal.control"),
        (lambda: rk.AdaptiveTest(test, step=0), "strictly between 0 and 1, or 'decaying'"),
        (lambda: rk.AdaptiveTest(test, step="falling"), "or 'decaying'"),
        (lambda: rk.AdaptiveTest(test, start=-0.1), "from 0 up and below 1"),
        (lambda: rk.AdaptiveTest(test, start=True), "from 0 up and below 1"),
        (lambda: rk.AdaptiveTest(test, labels="alerts"), "rk.Audit"),
        (lambda: rk.AdaptiveTest(test).decide([0.1, 0.2], ["a", "a"]), "'a' occurs twice"),
        (lambda: rk.AdaptiveTest(test).decide([0.1, 0.2], ["a"]), "ids"),
        (lambda: rk.AdaptiveTest(test).decide([0.1], [None]), "ids"),
        (lambda: rk.AdaptiveTest(test).decide([np.nan], ["a"]), "NaN"),
        (lambda: rk.AdaptiveTest(test).learn(["a"], ["maybe"]), "maybe"),
        (lambda: rk.AdaptiveTest(test).cap(-1), "n=-1"),
        (lambda: rk.AdaptiveTest(test).cap(5, waiting=0), "waiting=0"),
    ]
    for call, words in cases:
        with pytest.raises(rk.InputError, match=words):
            call()


def test_groups_have_levels_of_their_own():
    """A label moves the level of its group only, and caps are by group."""
    adaptive = rk.AdaptiveTest(calibration(["n", "n", "s", "s"]).control("fnr", ALPHA))
    lowest = -3.0
    adaptive.decide([lowest, lowest], ["a", "b"], groups=["n", "s"])
    adaptive.learn(["a"], ["yes"])
    assert adaptive.level == {"n": pytest.approx(0.04525), "s": ALPHA}
    assert adaptive.errors == {"n": 1, "s": 0}
    assert adaptive.cap() == {"n": 11, "s": 10}
    assert adaptive.decide([0.0, 0.0], groups=["n", "s"]).levels.tolist() == [
        *adaptive.level.values()
    ]
    assert "group 'n': level 0.04525" in repr(adaptive)
    with pytest.raises(rk.InputError, match="groups"):
        adaptive.decide([0.0], ["c"])


SETTINGS = [
    {},
    {"step": "decaying"},
    {"step": 0.01, "start": 0.01},
    {"labels": rk.Audit(0.3, random_state=4)},
    {"groups": ["n", "s", "s"]},
    {"method": rk.methods.Smoothed(random_state=3)},
]


@pytest.mark.thorough_rows
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_a_restart_changes_nothing(setting, tmp_path):
    """Saved, loaded and continued gives what the uninterrupted one gives, bit for bit."""
    setting = dict(setting)
    names, method = setting.pop("groups", None), setting.pop("method", rk.Conformal())
    test = calibration(names).control("fnr", ALPHA, method=method)
    whole, parts = rk.AdaptiveTest(test, **setting), rk.AdaptiveTest(test, **setting)
    scores, labels, ids = stream(1500)
    groups = None if names is None else np.resize(names, 1500)
    path, waits = tmp_path / "state.rk", []
    for start in range(0, 1500, 30):
        now = slice(start, start + 30)
        mine = None if groups is None else groups[now]
        found = [one.decide(scores[now], ids[now], mine) for one in (whole, parts)]
        assert found[0].levels.tobytes() == found[1].levels.tobytes()
        assert found[0].positive.tolist() == found[1].positive.tolist()
        waits += zip(ids[now], labels[now], strict=True)
        due, waits = waits[::2], waits[1::2]
        for one in (whole, parts):
            one.learn(*zip(*due, strict=True))
        if start % 90 == 0:
            parts.save(path)
            parts = rk.AdaptiveTest.load(path, test)
        elif start % 60 == 0:
            parts = rk.AdaptiveTest.restore(copy.deepcopy(parts.state()), test)
    states = [one.state() for one in (whole, parts)]
    arrays = [state.pop("arrays") for state in states]
    assert states[0] == states[1]
    assert {k: v.tobytes() for k, v in arrays[0].items()} == {
        k: v.tobytes() for k, v in arrays[1].items()
    }
    assert whole.history == parts.history
    assert str(whole.certificate) == str(parts.certificate)


def test_labels_of_other_rows_are_refused(test):
    """Labels whose pandas index differs from that of the ids are never paired by position."""
    pd = pytest.importorskip("pandas")
    scores, labels, ids = stream(6)
    adaptive = rk.AdaptiveTest(test)
    adaptive.decide(scores, ids)
    turned = pd.Series(labels, index=[5, 4, 3, 2, 1, 0])
    with pytest.raises(rk.InputError, match="ids and labels are pandas columns whose indexes diff"):
        adaptive.learn(pd.Series(ids), turned)
    assert adaptive.open == 6


def test_groups_fit_a_terminal():
    """Each group has a line for its level and one for its errors, none of them wide."""
    adaptive = rk.AdaptiveTest(
        calibration(groups=["north"] * 2 + ["south"] * 2).control("fnr", ALPHA)
    )
    assert "  group 'north': level 0.05\n    errors: 0 of 0 positives" in repr(adaptive)
    assert max(map(len, repr(adaptive).split("\n"))) < 80


def test_a_state_belongs_to_its_test(test, tmp_path):
    """A state is taken up with its own test only, and holds no calibration scores."""
    path = tmp_path / "state.rk"
    rk.AdaptiveTest(test).save(path)
    assert path.stat().st_size < 4000
    others = {
        "alpha 0.05, and the test given has 0.1": test.calibration.control("fnr", 0.1),
        "control FNR, and the test given has FPR": test.calibration.control("fpr", ALPHA),
        "calibration data [0-9a-f]{16}, and": calibration(seed=1).control("fnr", ALPHA),
        "method ": test.calibration.control("fnr", ALPHA, method="conformal"),
    }
    for how, other in others.items():
        with pytest.raises(rk.InputError, match=f"belongs to another test: one with {how}"):
            rk.AdaptiveTest.load(path, other)
    with pytest.raises(
        rk.exceptions.StoredFileError, match="state of an adaptive test, not of a monitor"
    ):
        rk.Monitor.load(path, test)
    with pytest.raises(
        rk.exceptions.StoredFileError, match="what a monitor or an adaptive test has seen"
    ):
        rk.load(path)
    rk.save(test, path)
    with pytest.raises(rk.exceptions.StoredFileError, match="holds a calibration or a test"):
        rk.AdaptiveTest.load(path, test)


# Arrays in which any number of the right type may stand.
ANY = ("level", "p_value", "delay", "most_waiting", "waiting", "moved", "rejected", "error", "/id")


def test_an_altered_state_is_refused(test):
    """What no adaptive test could have got to is refused, whatever array it stands in."""
    adaptive = rk.AdaptiveTest(test)
    scores, labels, ids = stream(60)
    adaptive.decide(scores, ids)
    adaptive.learn(ids[:40], labels[:40])
    good = adaptive.state()
    rk.AdaptiveTest.restore(good, test)
    for name, array in good["arrays"].items():
        for wrong in (array[:-1], array[:0], np.append(array, array[-1:]), array - 100):
            state = {**good, "arrays": {**good["arrays"], name: wrong}}
            if wrong.size == array.size and name.endswith(ANY):
                continue
            with pytest.raises(rk.exceptions.StoredFileError):
                rk.AdaptiveTest.restore(state, test)
    with pytest.raises(rk.exceptions.StoredFileError):
        rk.AdaptiveTest.restore({**good, "start": "0x1.8p+1"}, test)


def test_an_audit_weighs_what_it_shows():
    """A miss that the audit shows counts 1 / rate times; one it did not choose is ignored."""
    test, audit = calibration().control("fnr", ALPHA), rk.Audit(0.25)
    adaptive = rk.AdaptiveTest(test, labels=audit)
    ids = [f"a-{i}" for i in range(40)]
    chosen = audit.chooses(ids)
    decisions = adaptive.decide(np.full(40, test.calibration.cells[1][0][0] - 1e-9), ids)
    assert not decisions.positive.any()
    assert adaptive.open == chosen.sum()
    found = adaptive.learn(ids, ["yes"] * 40)
    assert (found.errors, found.not_audited) == (chosen.sum(), (~chosen).sum())
    assert adaptive.level == pytest.approx(ALPHA - 0.005 * 0.95 * 4 * chosen.sum())
    assert adaptive.estimated_errors == 4 * chosen.sum()
    assert adaptive.estimated_errors <= adaptive.cap()
    assert "on average" in str(adaptive.certificate)
    flagged = adaptive.decide([9.0 if i else 1.0 for i in range(1)], ["f"])
    assert flagged.positive.all()
    before = adaptive.level
    adaptive.learn(["f"], ["yes"])
    assert adaptive.level == pytest.approx(before + 0.005 * ALPHA)


def test_late_labels_warn_once(test):
    """A step that is large for the delay is said so, once, also after a restart."""
    adaptive = rk.AdaptiveTest(test, step=0.02)
    scores, labels, ids = stream(400)
    adaptive.decide(scores[:200], ids[:200])
    with pytest.warns(rk.exceptions.LateLabelsWarning, match="the level swings") as caught:
        adaptive.learn(ids[:200], labels[:200])
    assert len(caught) == 1
    assert "0.003 or smaller" in str(caught[0].message)  # 0.3 / (2 * delay)
    adaptive = rk.AdaptiveTest.restore(adaptive.state(), test)
    adaptive.decide(scores[200:], ids[200:])
    adaptive.learn(ids[200:], labels[200:])
    many, truth, names = stream(4000)
    busy = rk.AdaptiveTest(test, step=0.02)
    busy.decide(many, names)
    with pytest.warns(rk.exceptions.LateLabelsWarning) as caught:
        busy.learn(names[:200], truth[:200])  # the first of many that wait
    assert "0.0002 or smaller" in str(caught[0].message)  # 0.3 / (3,800 * the share of positives)
    calm = rk.AdaptiveTest(test, step=0.001)
    calm.decide(scores[:200], ids[:200])
    calm.learn(ids[:200], labels[:200])
    assert calm.delay == pytest.approx((np.sum(labels[:200] == "yes") - 1) / 2)


def test_the_certificate_says_the_cap(test):
    """Text, JSON and card have the numbers of the promise, and what it does not cover."""
    adaptive = rk.AdaptiveTest(test, step=0.005)
    text = " ".join(str(adaptive.certificate).split())
    for words in (
        "never more than 11 errors above 5%, late labels apart",
        "5% of T + 10.95",
        "10 + 0.95 w",
        "nothing about scores, labels or their order",
        "never learned, or not yet",
        "the other error, FPR",
        "many may come together",
        "no cap of their own",
    ):
        assert words in text, words
    facts = json.loads(adaptive.certificate.to_json())
    assert (facts["fixed"], facts["each_waiting"]) == (10.0, 0.95)
    assert facts["cells"][0]["cap"] == 10
    assert "never more than 11" in adaptive.certificate._repr_html_()
    assert "AdaptiveTest: FNR 5%" in adaptive._repr_html_()
    falling = rk.AdaptiveTest(test, step="decaying")
    assert "2,515 above at T = 10,000" in " ".join(str(falling.certificate).split())
    assert adaptive.to_dict() == adaptive.certificate.to_dict()


@pytest.mark.thorough_rows
@pytest.mark.parametrize("labels", ["all", rk.Audit(0.5)])
def test_falling_steps_promise_no_fixed_number_of_errors(test, labels):
    """The cap grows with the levels used, also under an audit, and late labels are not in it."""
    falling = rk.AdaptiveTest(test, step="decaying", labels=labels)
    said = " ".join(str(falling.certificate).split())
    assert "the cap depends on the levels" in said
    assert "at T = 10,000, if each label is learned before the next decision" in said
    before = falling.certificate.extra
    for i in range(1500):  # seen for a long time, then missed: more errors than were possible then
        falling.decide([5.0 if i < 750 else -5.0], ids=[i])
        falling.learn([i], ["yes"])
    assert falling.estimated_errors - ALPHA * falling.estimated_n > before + 10
    assert falling.estimated_errors <= falling.cap()
