"""Stored files of strangers: spoiled bytes, and spoiled values under a checksum that holds."""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tempfile
import warnings
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from fuzzing import bounded, spoiled, target
from hypothesis import strategies as st

import ratekeeper as rk
from ratekeeper.calibration._times import Timing
from ratekeeper.exceptions import RatekeeperError, RatekeeperWarning
from ratekeeper.sql import decision_sql
from ratekeeper.storage import _container as container, _serialize as storing

FOLDER = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
VALUES = (
    None, True, False, 0, 1, -1, 2, 3, 40, 10**30, 0.0, -0.0, 0.05, 0.5, 1.0, 1e-300, 1e308, "",
    "a", "no", "yes", "false", "true", "0.05", "5%", "nan", "inf", "-inf", "0x1.8p-1", "0x1p99999",
    "F32", "F64", "F16", "U64", "<i8", "<U1", "<U9999", "<f8", "|b1", ">u2", "O", "fnr", "fpr",
    "held out", "cross-fitted", "pool", "refuse", "calibration", "test", "abstaining test",
    *rk.methods.METHODS, "scott", "norm", "beta", "levy_stable", "\x1b[2J", "\ud800", "\0",
    "x" * 300, [], [0], [[]], {}, {"a": 1}, float("nan"), float("inf"),
)  # fmt: skip


@contextmanager
def quiet():
    """Let ratekeeper warn, and nobody else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", RatekeeperWarning)
        yield


def kinds():
    """Return one file of each kind, as bytes."""
    i = np.arange(80)
    scores, labels = (i * 37) % 101 / 101 + i % 2 / 2, np.where(i % 2, "yes", "no")
    plain = rk.calibrate(scores, labels)
    rows = rk.calibration.Provenance(83, {"score is NaN": 3}, "risk", "ill")
    sampled = rk.calibration.Provenance(200, {}, "risk", "ill", sampled_from=(90, 110))
    grouped = rk.calibrate(scores.astype(np.float32), i % 2, groups=np.minimum(i // 26, 2))
    named = rk.calibrate(
        scores, labels == "yes", groups=np.array(["a", "b"])[i // 2 % 2], higher_is_positive=False
    )
    clustered = rk.calibrate(scores.round(1), labels, groups=i // 40, clusters=i // 3)
    days = np.datetime64("2024-05-01") + i // 2
    timed = rk.calibrate(scores.round(1), labels, groups=i // 40, times=days)
    methods = [
        rk.HighProbability(delta=0.2),
        rk.HighProbability(delta=0.2, randomised=True),
        rk.Simultaneous(delta=0.2),
        rk.methods.Smoothed(random_state=1),
        rk.methods.Empirical(),
        rk.methods.Bootstrap(replicates=20),
        rk.methods.Kernel(),
        rk.methods.Parametric(),
        rk.methods.Resampled(size=20),
    ]
    alone = rk.calibrate(scores, one_class="negative", groups=i % 2)
    fraud = rk.calibrate(scores, np.full(80, "fraud"), positive_label="fraud")
    objects = [
        timed,
        timed.window(last=60),
        timed.window(since="2024-05-05").control("fnr", 0.2, method=rk.Conformal()),
        rk.calibrate(scores, times=i).window(last=30),
        alone,
        alone.control("fpr", 0.2, method=rk.Conformal()),
        fraud.control("fnr", 0.2),
        rk.calibrate(scores),
        rk.calibrate(scores, groups=i % 3),
        replace(plain, provenance=rows),
        replace(plain, provenance=sampled),
        replace(plain, origin="cross-fitted").control("fnr", 0.2, method=rk.Conformal()),
        *(plain.control(("fnr", "fpr")[len(m.name) % 2], 0.3, method=m) for m in methods),
        grouped,
        grouped.control("fnr", 0.1, method=rk.Conformal(), thin_groups="pool"),
        named.control_both(0.2, 0.1, method=rk.Conformal()),
        clustered,
        clustered.control("fnr", 0.3, method=rk.HighProbability(delta=0.2)),
    ]
    files = []
    for obj in objects:
        rk.save(obj, FOLDER / "good.rk")
        files.append((FOLDER / "good.rk").read_bytes())
    return files


def parts_of(content):
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    metadata = header.pop("__metadata__")
    return header, json.loads(metadata["ratekeeper"]), content[end:]


def put_together(header, facts, data):
    """Write a file with a right checksum, whatever it holds."""

    def head(digest):
        metadata = {"ratekeeper": json.dumps(facts), "sha256": digest}
        text = json.dumps({**header, "__metadata__": metadata}).encode()
        return len(text).to_bytes(8, "little") + text

    return head(hashlib.sha256(head("0" * 64) + data).hexdigest()) + data


with quiet():
    GOOD = kinds()
PARTS = [parts_of(content) for content in GOOD]


def places(value, where=()):
    """Return the way to every value inside a JSON value."""
    found = [where]
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            found += places(inner, (*where, key))
    return found


PLACES = [[*places(h, (0,)), *places(f, (1,))] for h, f, _ in PARTS]


def changed(value, where, change):
    """Return a JSON value with another value at some place."""
    if not where:
        return change(value)
    key, *rest = where
    members = list(value.items() if isinstance(value, dict) else enumerate(value))
    changes = [(k, changed(v, rest, change) if k == key else v) for k, v in members]
    kept = [(k, v) for k, v in changes if v is not GONE]
    return dict(kept) if isinstance(value, dict) else [v for _, v in kept]


GONE = object()


def twist(how, old):
    """Return a value that is like another one."""
    new = old
    match how, old:
        case "gone", _:
            new = GONE
        case "twice", list() | str():
            new = old * 2
        case "reversed", list() | str():
            new = old[::-1]
        case "more", dict():
            new = {**old, "more": 1}
        case "more", list():
            new = [*old, 0]
        case "number", int() | float():
            new = old + 1
    return new


TWISTS = st.sampled_from(["gone", "twice", "reversed", "more", "number"])
NEW = st.one_of(st.sampled_from(VALUES), st.integers(-(2**70), 2**70), st.floats(), st.text())


@st.composite
def rewritten(draw):
    """Draw a file with a few other values, and a checksum that holds."""
    which = draw(st.integers(0, len(GOOD) - 1))
    parts, data = [*PARTS[which][:2]], PARTS[which][2]
    for _ in range(draw(st.integers(1, 2))):
        where = draw(st.sampled_from(PLACES[which]))
        new, how = draw(NEW), draw(st.none() | TWISTS)

        def change(old, new=new, how=how):
            return new if how is None else twist(how, old)

        with suppress(KeyError, TypeError, IndexError):  # the first change may remove the place
            found = changed(parts, where, change)
            parts = found if len(found) == 2 and isinstance(found[0], dict) else parts
    if draw(st.integers(0, 3)) == 0:
        data = draw(spoiled([data], most=2))
    return put_together(*parts, data)


SCORES = st.lists(
    st.floats(allow_nan=False, width=32) | st.sampled_from([-np.inf, -0.0, 0.0, 0.5, 1.0, 1e38]),
    max_size=40,
).map(sorted)
NAMES = st.one_of(
    st.lists(st.text(max_size=8), min_size=2, max_size=3, unique=True),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=3, unique=True),
    st.lists(st.floats(), min_size=2, max_size=3),
    st.just([False, True]),
)
METHODS = st.one_of(
    st.sampled_from(
        [
            rk.Conformal(),
            rk.methods.Empirical(),
            rk.methods.Kernel(),
            rk.methods.Kernel("silverman"),
        ]
    ),
    st.builds(rk.methods.Kernel, st.floats(1e-300, 1e300)),
    st.builds(rk.HighProbability, st.floats(1e-9, 0.999)),
    st.builds(
        rk.HighProbability,
        st.floats(1e-9, 0.999),
        randomised=st.just(True),  # noqa: FBT003
    ),
    st.builds(rk.Simultaneous, st.floats(1e-9, 0.999)),
    st.builds(rk.methods.Smoothed, st.integers(0, 2**70)),
    st.builds(rk.methods.Resampled, st.integers(1, 30), st.integers(0, 9), st.booleans()),
    st.builds(rk.methods.Bootstrap, st.integers(2, 50), st.integers(0, 9), st.floats(1e-9, 0.999)),
    st.builds(
        rk.methods.Parametric, st.sampled_from(["norm", "beta", "gamma", "uniform", "cauchy", "t"])
    ),
)


def draws_of(draw, most, size):
    """Draw the clusters of so many scores."""
    numbers = st.lists(st.integers(0, most), min_size=size, max_size=size)
    return np.array(draw(numbers), dtype=np.uint64)


@st.composite
def crafted(draw):
    """Draw a file that states what follows from its scores, however strange these are."""
    groups = draw(st.none() | NAMES)
    groups = groups if groups is None else np.array(draw(st.sampled_from([sorted, list]))(groups))
    n_cells = 1 if groups is None else groups.size
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    cells = [
        tuple(np.array(draw(SCORES), dtype=np.float64).astype(dtype) for _ in range(n_cells))
        for _ in range(2)
    ]
    n = sum(cell.size for cell in (*cells[0], *cells[1]))
    rows = rk.calibration.Provenance(
        n + 2, {draw(st.text(max_size=5)): 2}, draw(st.text(max_size=5))
    )
    labelled = draw(st.integers(0, 4)) > 0
    ids = None
    if draw(st.integers(0, 2)) == 0:
        most = draw(st.sampled_from([0, 3, 2**64 - 1]))
        ids = [
            tuple(np.sort(draws_of(draw, most, cell.size)) for cell in cells[label])
            for label in (0, 1)
        ]
    times = timing = None
    if draw(st.integers(0, 2)) == 0:
        whole = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5)
        times = [
            tuple(
                np.array(draw(st.lists(whole, min_size=c.size, max_size=c.size)), np.int64)
                for c in part
            )
            for part in cells
        ]
        timing = draw(
            st.builds(
                Timing,
                st.sampled_from(["utc", "local", "number"]),
                st.none() | st.integers(-1, 9),
                st.none() | whole,
                st.none() | whole,
            )
        )
    calibration = rk.Calibration(
        (cells[0], cells[1]),
        np.array(draw(NAMES)[:2] if labelled else [0, 1]),
        groups,
        draw(st.booleans()),
        draw(st.sampled_from(["held out", "held out", "cross-fitted"])),
        draw(st.none() | st.just(rows)),
        labelled=labelled,
        clusters=ids and (ids[0], ids[1]),
        times=times and (times[0], times[1]),
        timing=timing,
    )
    alpha, thin = draw(st.floats(1e-6, 0.999)), draw(st.sampled_from(["pool", "refuse"]))
    kind = draw(st.sampled_from(["calibration", "test", "abstaining test"]))
    controls = {"test": [draw(st.sampled_from(["fnr", "fpr"]))], "abstaining test": ["fnr", "fpr"]}
    tests = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for control in controls.get(kind, []):
            with suppress(RatekeeperError, ArithmeticError, ValueError, IndexError):
                method = draw(METHODS)
                test = calibration.control(control, alpha, method=method, thin_groups=thin)
                tests.append(storing.facts_of_test(test))
        facts = {"format": 2, "version": "0", "kind": kind} | {"tests": tests}
        facts |= storing.facts_of_calibration(calibration)
    arrays = storing.arrays_of(calibration)
    table = container.table_of(list(arrays), list(arrays.values()))
    return put_together(table, facts, b"".join(array.tobytes() for array in arrays.values()))


def use(content):
    """Load a file; what loads must work in every way, or be refused in our words."""
    path = FOLDER / "strange.rk"
    path.write_bytes(content)
    with quiet(), bounded(len(content)):
        try:
            stored = rk.load(path)
        except rk.exceptions.StoredFileError as error:
            said = str(error)
        else:
            for action in (shown, told, decided, saved, as_sql):
                with suppress(RatekeeperError):
                    action(stored)
            return True
    assert len(said) < 2_000
    return False


def shown(stored):
    assert repr(stored)
    assert stored._repr_html_()


def told(stored):
    if not isinstance(stored, rk.Calibration):
        assert str(stored.certificate)
        assert json.loads(stored.certificate.to_json())
        assert stored.certificate._repr_html_()


def decided(stored):
    calibration = stored if isinstance(stored, rk.Calibration) else stored.calibration
    scores = np.array([-1.0, 0.2, 0.7, 5.0], dtype=calibration.dtype)
    groups = calibration.groups
    names = None if groups is None else groups[np.arange(4) % groups.size]
    assert np.isfinite(calibration.auc) == (calibration.known == "both")
    assert len(calibration.p_values(scores, groups=names)) == 4
    if stored is not calibration:
        assert len(stored.p_values(scores, names)) == 4
        assert len(repr(stored.decide(scores, names))) > 0


def saved(stored):
    rk.save(stored, FOLDER / "again.rk")
    again = rk.load(FOLDER / "again.rk")
    assert repr(again) == repr(stored)


def as_sql(stored):
    if not isinstance(stored, rk.Calibration):
        group = None if stored.calibration.groups is None else "site"
        assert decision_sql(stored, table="people", score="risk", group=group)


@target(spoiled(GOOD), examples=300)
def test_spoiled_bytes_are_refused(content):
    """A file with other bytes is refused, or is the file itself."""
    assert not use(content) or content in GOOD


@target(rewritten(), examples=600)
def test_rewritten_files_are_refused_or_work(content):
    """A file with other values and a right checksum is refused, or all that it holds works."""
    use(content)


@target(crafted(), examples=300)
def test_crafted_files_are_refused_or_work(content):
    """A file of strange scores that contradicts nothing is refused, or all that it holds works."""
    use(content)


@target(st.sampled_from(range(len(GOOD))), examples=len(GOOD))
def test_good_files_load(which):
    """The files that are spoiled here are good ones."""
    assert use(GOOD[which])
    assert use(put_together(*PARTS[which]))
