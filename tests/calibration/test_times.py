"""Times beside the scores, and windows of the newest objects."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import astuple, replace
from itertools import chain

import numpy as np
import pytest
from cases import each

import ratekeeper as rk

UTC = dt.UTC
BERLIN = dt.timezone(dt.timedelta(hours=2))


def some(n=200, seed=0, first=0, **options):
    """Return a calibration of objects seen one after the other, and its columns."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    columns = {"scores": rng.normal(2 * labels), "labels": labels, "times": first + np.arange(n)}
    return rk.calibrate(**columns, **options), columns


def test_times_of_every_kind():
    """Datetimes with a zone become UTC, others stay as written, and numbers are the user's."""
    hour = 3_600_000_000
    for values, kind, expected in (
        ([dt.datetime(1970, 1, 1, 3, tzinfo=BERLIN)], "utc", hour),
        (["1970-01-01T03:00+02:00"], "utc", hour),
        (["1970-01-01 01:00Z"], "utc", hour),
        ([dt.datetime(1970, 1, 1, 1)], "local", hour),  # noqa: DTZ001 - as some are
        (["1970-01-01 01:00"], "local", hour),
        ([dt.date(1970, 1, 2)], "local", 24 * hour),
        (np.array(["1970-01-02"], "M8[D]"), "local", 24 * hour),
        (np.array(["1970-01-01T01:00:00.0000019"], "M8[ns]"), "local", hour + 1),
        ([2015], "number", 2015),
        (["2015"], "number", 2015),
        (np.array([2015.0]), "number", 2015),
        (np.array([2**62], np.uint64), "number", 2**62),
    ):
        cal = rk.calibrate([0.5], one_class="positive", times=values)
        assert (cal.times[1][0].tolist(), cal.timing.kind) == ([expected], kind), values
        text = cal.timing.text(expected)
        again = rk.calibrate([0.5], one_class="positive", times=[text])
        assert (again.times[1][0].tolist(), again.timing.kind) == ([expected], kind), text


def test_times_of_tables():
    """Columns of pandas, polars and pyarrow keep their zone."""
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    noon = [dt.datetime(2024, 5, 1, 12, tzinfo=UTC), dt.datetime(2024, 5, 2, 12, tzinfo=UTC)]
    plain = [one.replace(tzinfo=None) for one in noon]
    expected = [round(one.timestamp() * 1e6) for one in noon]
    for column, kind in (
        (pd.Series(noon).dt.tz_convert("Europe/Berlin"), "utc"),
        (pd.DataFrame({"t": noon}), "utc"),
        (pd.DatetimeIndex(noon), "utc"),
        (pl.Series(noon), "utc"),
        (pa.array(noon, pa.timestamp("us", "Europe/Berlin")), "utc"),
        (pd.Series(plain), "local"),
        (pl.Series(plain), "local"),
        (pa.array(plain, pa.timestamp("ns")), "local"),
    ):
        cal = rk.calibrate([0.1, 0.9], [0, 1], times=column)
        found = [int(time) for (cell,) in cal.times for time in cell]
        assert (found, cal.timing.kind) == (expected, kind), column


@each(
    ("times", "words"),
    [
        ([1, None], "missing"),
        ([1.0, np.nan], "missing"),
        (np.array(["2024-05-01", "NaT"], "M8[D]"), "missing"),
        ([dt.date(2024, 5, 1), None], "missing"),
        ([1.0, 0.5], "no time"),
        (["2024-05-01", "yesterday"], "'yesterday' at position 1"),
        (["2024-05-01", ""], "no time"),
        ([True, False], "no time"),
        ([1, 2**63], "no time"),
        (np.array([1, 2**63], np.uint64), "no time"),
        (np.array([0, 10**12], "M8[Y]"), "no time"),
        (["2024-05-01", 5], "no order"),
        (["2024-05-01", "2024-05-01 12:00Z"], "no order"),
        ([dt.datetime.now(UTC), dt.datetime(2024, 5, 1)], "no order"),  # noqa: DTZ001
        ([1, 2, 3], "3 values for 2 scores"),
        (5, "single value"),
    ],
)
def test_bad_times_are_refused(times, words):
    """What is no time, is missing or has no order with the others is named."""
    with pytest.raises(rk.InputError, match=words):
        rk.calibrate([0.1, 0.9], [0, 1], times=times)


def test_a_window_is_the_calibration_of_its_objects():
    """It does not depend on the order of the rows, and keeps all of the time of its oldest."""
    rng = np.random.default_rng(1)
    n = 300
    columns = {
        "scores": rng.normal(size=n).round(1),
        "labels": rng.integers(0, 2, n),
        "groups": rng.integers(0, 3, n),
        "times": rng.integers(0, 40, n),
    }
    cal = rk.calibrate(**columns)
    shuffled = rng.permutation(n)
    again = rk.calibrate(**{name: column[shuffled] for name, column in columns.items()})
    for asked in (
        {"last": 100},
        {"since": 25},
        {"last": 100, "since": 10},
        {"last": 3, "since": 5},
    ):
        found = cal.window(**asked)
        times = columns["times"]
        late = times >= asked.get("since", 0)
        if "last" in asked:
            late &= times >= np.sort(times[late])[-asked["last"]]
        assert late.sum() >= asked.get("last", 0)
        assert found == rk.calibrate(**{name: column[late] for name, column in columns.items()})
        assert found == again.window(**asked)
        assert found.window(**asked) == found
    assert cal.window(last=10**6) == cal
    assert cal.window(last=10**6).timing.start is None
    assert astuple(cal.timing) == ("number", None, None, None)


def test_groups_without_objects_are_gone():
    """A site that was closed does not stop tests of the others."""
    times, sites = np.repeat([1, 2], 200), np.repeat(["old", "new"], 200)
    scores = np.random.default_rng(0).normal(size=400)
    cal = rk.calibrate(scores, np.tile([0, 1], 200), groups=sites, times=times)
    assert cal.window(since=2).groups.tolist() == ["new"]
    assert list(cal.window(since=2).control("fnr", 0.1).thresholds) == ["new"]


def test_windows_that_cannot_be():
    """Without times, without a wish, without objects, of a sample, or through clusters: refused."""
    cal, columns = some()
    plain = rk.calibrate(columns["scores"], columns["labels"])
    sample = replace(cal, provenance=rk.calibration.Provenance(1000, sampled_from=(500, 500)))
    clustered = rk.calibrate(**columns, clusters=np.arange(200) // 3)
    for one, asked, words in (
        (plain, {"last": 5}, "has no times.*Pass times"),
        (cal, {}, "last.*since"),
        (cal, {"last": 0}, "last=0"),
        (cal, {"last": 2.5}, "last=2.5"),
        (cal, {"since": 1000}, "since=1000 leaves no object"),
        (cal, {"since": "2024-05-01"}, "whole numbers"),
        (cal, {"since": "late"}, "no time"),
        (sample, {"last": 5}, "sample"),
        (clustered, {"since": 100}, "cut 1 cluster"),
    ):
        with pytest.raises(rk.InputError, match=words):
            one.window(**asked)
    whole = rk.calibrate(**{**columns, "times": np.arange(200) // 3}, clusters=np.arange(200) // 3)
    assert sum(map(sum, [[c.size for c in cells] for cells in whole.window(last=30).cells])) == 32
    aware = rk.calibrate([0.1, 0.9], [0, 1], times=["2024-05-01 00:00Z", "2024-05-02 00:00Z"])
    with pytest.raises(rk.InputError, match="with its zone"):
        aware.window(since="2024-05-02")


def test_certificates_say_the_window():
    """Which objects count, until when, and that the window has to be chosen in advance."""
    cal, _ = some(400)
    text = " ".join(str(cal.control("fnr", 0.1).certificate).split())
    assert "seen from 0 to 399 and count alike" in text
    for made, words in (
        (cal.window(last=300), "the newest 300 objects count, seen from 100 to 399"),
        (cal.window(since=100), "since 100 count: 300, from 100 to 399"),
        (cal.window(since=50, last=300), "since 50 count, and of these the newest 300"),
    ):
        text = " ".join(str(made.control("fnr", 0.1).certificate).split())
        assert words in text
        assert "chosen in advance" in text
    assert "seen from 100 to 399" in repr(cal.window(last=300))


@pytest.mark.parametrize("groups", [None, "site"])
def test_files_keep_times_and_window(tmp_path, groups):
    """What is saved is loaded the same, also tests, and the header follows the published schema."""
    n = 400
    days = [f"2024-05-{1 + i // 20:02d} {i % 20:02d}:30:00.5Z" for i in range(n)]
    labels = np.arange(n) % 2
    scores = np.random.default_rng(3).normal(2 * labels).round(2)
    options = {} if groups is None else {"groups": np.arange(n) // 2 % 2}
    cal = rk.calibrate(scores, labels, times=days, **options)
    for made in (cal, cal.window(last=250), cal.window(since="2024-05-03 00:00Z", last=300)):
        rk.save(made, tmp_path / "cal.rk")
        found = rk.load(tmp_path / "cal.rk")
        assert found == made
        assert found.timing == made.timing
        for one, two in zip(chain(*found.times), chain(*made.times), strict=True):
            assert one.tolist() == two.tolist()
    rk.save(made.control("fnr", 0.2), tmp_path / "test.rk")
    assert rk.load(tmp_path / "test.rk").calibration.timing == made.timing


def test_hashes_of_calibrations_without_times_are_as_ever():
    """The hash of ordinary data is the one that earlier versions gave."""
    cal = rk.calibrate([0.1, 0.4, 0.35, 0.8], ["no", "no", "yes", "yes"])
    assert cal.data_hash.startswith("95ab226457795acb")
    timed = rk.calibrate([0.1, 0.4, 0.35, 0.8], ["no", "no", "yes", "yes"], times=[1, 2, 3, 4])
    later = rk.calibrate([0.1, 0.4, 0.35, 0.8], ["no", "no", "yes", "yes"], times=[1, 2, 3, 5])
    assert len({cal.data_hash, timed.data_hash, later.data_hash}) == 3


def test_merging_is_calibrating_together():
    """Times go with their objects, and times of different kinds are not merged."""
    one, first = some(100, seed=1)
    two, second = some(80, seed=2, first=50)
    both = {name: np.concatenate([first[name], second[name]]) for name in first}
    assert one.merge(two) == rk.calibrate(**both)
    assert astuple(one.merge(two).timing) == ("number", None, None, None)
    dated = rk.calibrate([0.1, 0.9], [0, 1], times=["2024-05-01", "2024-05-02"])
    plain = rk.calibrate([0.1, 0.9], [0, 1])
    for other, words in ((dated, "kind of their times"), (plain, "kind of their times")):
        with pytest.raises(rk.InputError, match=words):
            one.merge(other)


def test_hostile_times_of_files_are_refused(tmp_path):
    """Times that no calendar has, a start after the objects, or other words: a clear refusal."""
    cal = rk.calibrate([0.1, 0.9], [0, 1], times=["2024-05-01", "2024-05-02"]).window(last=1)
    path = tmp_path / "cal.rk"
    rk.save(cal, path)
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    facts = json.loads(json.loads(content[8:end])["__metadata__"]["ratekeeper"])
    assert facts["times"] == {
        "kind": "local",
        "first": "2024-05-02",
        "last": "2024-05-02",
        "start": "2024-05-02",
        "newest": 1,
    }
    huge = replace(cal, times=tuple(tuple(t + 2**62 for t in cells) for cells in cal.times))
    with pytest.raises(rk.InputError, match="calendar"):
        rk.save(huge, path)
    with pytest.raises(rk.InputError, match="before its window"):
        rk.save(replace(cal, timing=replace(cal.timing, start=2**60)), path)
