from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
import tempfile
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from cases import each
from hypothesis import given, settings, strategies as st

import ratekeeper as rk
from ratekeeper import methods
from ratekeeper.calibration import Provenance
from ratekeeper.exceptions import MissingFileError, ReversedScoreWarning

FORMAT = 4  # the newest
GOLDEN = Path(__file__).parent / "formats" / "grouped_test_1.rk"
METHODS = [
    rk.methods.Bootstrap(replicates=50, random_state=3),
    rk.Conformal(),
    rk.methods.Empirical(),
    rk.HighProbability(delta=0.1),
    rk.methods.Kernel(bandwidth=0.3),
    rk.methods.Kernel(),
    rk.methods.Parametric("logistic"),
    rk.methods.Resampled(size=21, random_state=5, plain=True),
    rk.Simultaneous(delta=0.2),
    rk.methods.Smoothed(random_state=7),
]


def some_calibration(n=60, seed=1, **options):
    labels = np.arange(2 * n) % 2
    scores = np.random.default_rng(seed).normal(2 * labels)
    return rk.calibrate(scores, labels, **options)


def grouped_calibration():
    """Three groups, of which the last has few scores; float32, named labels."""
    i = np.arange(100)
    groups = np.array(["north", "south", "west"])[np.where(i < 92, i // 2 % 2, 2)]
    labels = np.where(i % 2, "yes", "no")
    scores = ((i * 37) % 101 / 101 + i % 2).astype(np.float32)
    return rk.calibrate(scores, labels, groups=groups)


def small_test():
    return rk.calibrate([0.1, 0.4, 0.3, 0.8], [0, 0, 1, 1]).control(
        "fnr", alpha=0.4, method=rk.Conformal()
    )


def there_and_back(obj, folder):
    path = Path(folder) / "stored.rk"
    rk.save(obj, path)
    return rk.load(path)


def parts_of(path):
    """Read a file as docs/reference/files.md says; return header, facts and data."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    return header, json.loads(header["__metadata__"]["ratekeeper"]), content[end:]


def put_together(header, facts, data):
    """Write a file as docs/reference/files.md says, with a right checksum whatever it holds."""

    def head(digest):
        metadata = {"ratekeeper": json.dumps(facts), "sha256": digest}
        text = json.dumps({**header, "__metadata__": metadata}).encode()
        text += b" " * (-len(text) % 8)
        return len(text).to_bytes(8, "little") + text

    return head(hashlib.sha256(head("0" * 64) + data).hexdigest()) + data


def assert_same_arrays(one, other):
    assert one.dtype == other.dtype
    assert one.tolist() == other.tolist()


def assert_same_calibration(one, other):
    assert one == other
    assert one.data_hash == other.data_hash
    assert one.dtype == other.dtype
    assert one.higher_is_positive is other.higher_is_positive
    assert_same_arrays(one.classes, other.classes)
    assert (one.groups is None) == (other.groups is None)
    if one.groups is not None:
        assert_same_arrays(one.groups, other.groups)
    for mine, theirs in zip(one.cells, other.cells, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes()


def assert_same_test(one, other):
    assert_same_calibration(one.calibration, other.calibration)
    assert (one.control, one.alpha, one.method) == (other.control, other.alpha, other.method)
    assert one.thin_groups == other.thin_groups
    assert repr(one) == repr(other)
    assert one.thresholds == other.thresholds
    assert one.certificate == other.certificate


# What comes back


@each(
    ("labels", "positive"),
    [
        ([False, True], True),
        (np.array([0, 1], dtype=np.int8), 1),
        (np.array([0, 1], dtype=np.uint64), 1),
        (np.array([2**63, 2**64 - 1], dtype=np.uint64), 2**63),
        (np.array([0, 1], dtype=">i4"), 1),
        ([-1, 1], 1),
        ([0.0, 1.0], 1.0),
        (np.array([0.1, 0.7], dtype=np.float16), 0.0999755859375),
        ([-np.inf, 0.1], -np.inf),
        (["no", "yes"], "yes"),
        (np.array(["no", "yes"], dtype="<U40"), "no"),
        (["нет", 'да "\\\n\ud800'], "нет"),
        (["", "0" * 64], ""),
    ],
)
def test_labels_come_back_with_value_and_type(tmp_path, labels, positive):
    """Labels of every kind come back as the same values of the same NumPy type."""
    labels = np.repeat(labels, 3)
    cal = rk.calibrate(np.arange(6.0), labels, positive_label=positive, higher_is_positive=True)
    assert_same_calibration(there_and_back(cal, tmp_path), cal)


@pytest.mark.parametrize(
    "groups",
    [
        ["a", "b", "long name"],
        [3, 1, -5],
        [False, True, True],
        np.array([0, 1, 2**64 - 1], dtype=np.uint64),
        np.array([1.0, 2.0, 3.0]),
    ],
)
def test_groups_come_back_with_value_and_type(tmp_path, groups):
    """Groups of every kind come back as the same values of the same NumPy type."""
    cal = rk.calibrate(np.arange(12.0), np.arange(12) // 6, groups=np.tile(groups, 4))
    assert_same_calibration(there_and_back(cal, tmp_path), cal)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("higher_is_positive", [False, True])
def test_scores_come_back_bit_by_bit(tmp_path, dtype, higher_is_positive):
    """Scores keep their number type and every bit, infinities and the smallest ones included."""
    tiny = np.finfo(dtype).smallest_subnormal
    scores = np.array([-np.inf, -tiny, 0.1, tiny, 1 / 3, np.inf, np.inf, 0.0], dtype=dtype)
    labels = np.arange(8) % 2
    cal = rk.calibrate(scores, labels, higher_is_positive=higher_is_positive)
    assert_same_calibration(there_and_back(cal, tmp_path), cal)


@each("method", METHODS)
@each("control", ["fnr", "fpr"])
def test_a_test_of_every_method_comes_back(tmp_path, method, control):
    """A test of every method comes back with its parameters, thresholds and decisions."""
    test = some_calibration().control(control, 0.2, method=method)
    loaded = there_and_back(test, tmp_path)
    assert_same_test(loaded, test)
    new = np.linspace(-3.0, 5.0, 201)
    assert np.array_equal(loaded.decide(new).positive, test.decide(new).positive)


def test_every_public_method_can_be_saved():
    """No method of the package is left out of storage, and names are not used twice."""
    offered = [getattr(methods, name) for name in methods.__all__]
    concrete = {one for one in offered if isinstance(one, type) and hasattr(one, "name")}
    assert concrete == {type(method) for method in METHODS}
    assert len({one.name for one in concrete}) == len(concrete)


def test_a_test_with_groups_comes_back(tmp_path):
    """A test with groups comes back with its empty cells, pooled groups and thresholds by group."""
    labels, groups = np.r_[np.zeros(40), np.ones(41)], np.r_[np.tile([1, 2], 40), 9]
    cal = rk.calibrate(np.linspace(0, 1, 81), labels, groups=groups)
    assert cal.cells[0][2].size == 0
    test = cal.control("fnr", 0.1, thin_groups="pool", method=rk.Conformal())
    loaded = there_and_back(test, tmp_path)
    assert_same_test(loaded, test)
    assert loaded.certificate.pooled_groups == (9,)


def test_an_abstaining_test_comes_back_on_one_calibration(tmp_path):
    """An abstaining test comes back whole, and its calibration is stored and loaded once."""
    test = some_calibration().control_both(0.1, 0.05, method=rk.HighProbability(delta=0.1))
    loaded = there_and_back(test, tmp_path)
    assert isinstance(loaded, rk.control.AbstainingTest)
    assert_same_test(loaded.fnr, test.fnr)
    assert_same_test(loaded.fpr, test.fpr)
    assert loaded.fnr.calibration is loaded.fpr.calibration
    assert set(parts_of(tmp_path / "stored.rk")[0]) == {"__metadata__", "negative", "positive"}


def test_an_abstaining_test_may_mix_methods(tmp_path):
    """The two tests of an abstaining test each keep their own method."""
    cal = some_calibration()
    mixed = rk.control.AbstainingTest(
        cal.control("fnr", 0.1, method=rk.Conformal()),
        cal.control("fpr", 0.2, method=rk.methods.Kernel()),
    )
    loaded = there_and_back(mixed, tmp_path)
    assert (loaded.fnr.method, loaded.fpr.method) == (rk.Conformal(), rk.methods.Kernel())


def test_parameters_in_numpy_numbers_come_back_plain(tmp_path):
    """NumPy numbers of full precision as parameters are stored as plain numbers."""
    method = rk.methods.Resampled(np.int32(20), random_state=np.uint8(4), plain=np.True_)
    loaded = there_and_back(some_calibration().control("fnr", 0.2, method=method), tmp_path)
    assert loaded.method == method
    method = rk.methods.Parametric(np.str_("norm"))
    loaded = there_and_back(some_calibration().control("fnr", 0.2, method=method), tmp_path)
    assert repr(loaded.method) == "Parametric(distribution='norm')"
    method = rk.HighProbability(np.float64(0.1))
    loaded = there_and_back(some_calibration().control("fnr", 0.2, method=method), tmp_path)
    assert repr(loaded.method) == "HighProbability(delta=0.1)"


def test_reversed_scores_warn_at_calibration_only(tmp_path):
    """Loading says nothing that was said at calibration already."""
    with pytest.warns(ReversedScoreWarning):
        cal = rk.calibrate(-np.arange(200.0), np.repeat([0, 1], 100))
    assert there_and_back(cal, tmp_path) == cal


def test_loaded_arrays_are_read_only(tmp_path):
    """Nobody can change the scores, labels or groups of a loaded calibration."""
    cal = there_and_back(grouped_calibration(), tmp_path)
    for array in (*cal.cells[0], *cal.cells[1], cal.classes, cal.groups):
        assert not array.flags.writeable
        assert array.flags.aligned


def test_what_was_loaded_can_be_used_saved_and_pickled(tmp_path):
    """A loaded calibration is as good as a fresh one: it merges, pickles and saves the same."""
    cal = some_calibration()
    loaded = there_and_back(cal, tmp_path)
    other = some_calibration(n=50, seed=2)
    assert loaded.merge(other) == cal.merge(other)
    assert pickle.loads(pickle.dumps(loaded)) == cal  # noqa: S301 - our own
    rk.save(loaded, tmp_path / "again.rk")
    assert (tmp_path / "again.rk").read_bytes() == (tmp_path / "stored.rk").read_bytes()


text = st.text(st.characters(exclude_characters="\0"), max_size=5)  # NumPy drops a last NUL
names = st.one_of(
    st.lists(text, min_size=2, max_size=4, unique=True),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=4, unique=True),
    st.just([False, True]),
)


@st.composite
def calibrations(draw):
    width = draw(st.sampled_from([32, 64]))
    score = st.floats(width=width, allow_nan=False) | st.sampled_from([-0.0, 0.0, 1.0])
    n = draw(st.integers(2, 40))
    scores = np.array(draw(st.lists(score, min_size=n, max_size=n)), dtype=f"f{width // 8}")
    classes = np.array(draw(names)[:2])
    which = np.array([0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    groups = draw(st.none() | names)
    if groups is not None:
        index = draw(st.lists(st.integers(0, len(groups) - 1), min_size=n, max_size=n))
        groups = np.array(groups)[index]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReversedScoreWarning)
        return rk.calibrate(
            scores,
            classes[which],
            groups=groups,
            positive_label=classes[draw(st.integers(0, 1))].item(),
            higher_is_positive=draw(st.booleans()),
        )


@settings(max_examples=200, deadline=None)
@given(
    calibration=calibrations(),
    control=st.sampled_from(["fnr", "fpr"]),
    alpha=st.floats(0.001, 0.999),
    method=st.sampled_from(
        [rk.Conformal(), rk.methods.Empirical(), rk.methods.Smoothed(3), rk.methods.Bootstrap(20)]
    ),
)
def test_everything_comes_back_exactly(calibration, control, alpha, method):
    """Whatever can be calibrated and controlled comes back bit by bit."""
    # Nobody waits for the disk, on which nothing here depends.
    with tempfile.TemporaryDirectory() as folder, mock.patch("os.fsync"):
        assert_same_calibration(there_and_back(calibration, folder), calibration)
        try:
            test = calibration.control(control, alpha, method=method, thin_groups="pool")
        except rk.TooFewScoresError:
            return
        assert_same_test(there_and_back(test, folder), test)


# The file


def test_safetensors_reads_the_file(tmp_path):
    """The safetensors package opens the file and finds the same scores and facts."""
    path = tmp_path / "test.rk"
    test = grouped_calibration().control("fnr", 0.1, thin_groups="pool", method=rk.Conformal())
    rk.save(test, path)
    arrays = safetensors.numpy.load_file(path)
    for label, side in enumerate(["negative", "positive"]):
        for i, scores in enumerate(test.calibration.cells[label]):
            assert arrays.pop(f"{side}/{i}").tobytes() == scores.tobytes()
    assert not arrays
    with safetensors.safe_open(path, framework="numpy") as file:
        facts = json.loads(file.metadata()["ratekeeper"])
    assert facts == parts_of(path)[1]


def test_safetensors_reads_empty_cells(tmp_path):
    """A group without any score of a class does not keep safetensors from reading."""
    cal = rk.calibrate([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], groups=["a", "b", "c", "a"])
    rk.save(cal, tmp_path / "cal.rk")
    arrays = safetensors.numpy.load_file(tmp_path / "cal.rk")
    sizes = {name: array.size for name, array in arrays.items()}
    assert sizes == dict(zip(sorted(sizes), [1, 0, 1, 1, 1, 0], strict=True))


def test_the_file_is_as_described(tmp_path):
    """Somebody who knows docs/reference/files.md alone can read, check and write a file."""
    path = tmp_path / "test.rk"
    test = some_calibration().control("fnr", 0.1, method=rk.Conformal())
    rk.save(test, path)
    content = path.read_bytes()
    header, facts, data = parts_of(path)
    start, stop = header["positive"]["data_offsets"]
    assert (len(content) - len(data)) % 8 == 0
    assert header["positive"]["dtype"] == "F64"
    assert np.frombuffer(data[start:stop], "<f8").tolist() == test.calibration.cells[1][0].tolist()
    assert facts["format"] == FORMAT
    assert facts["kind"] == "test"
    assert facts["version"] == rk.__version__
    assert facts["classes"] == {"dtype": "<i8", "values": [0, 1]}
    assert facts["groups"] is None
    assert facts["n"] == {"negative": 60, "positive": 60}
    (recipe,) = facts["tests"]
    assert float.fromhex(recipe["thresholds"][0]) == test.threshold
    assert recipe["method"] == {"name": "conformal", "parameters": {}}
    stated = json.loads(test.certificate.to_json())
    del stated["alerts"]  # which follow from the rest
    assert recipe["certificate"] == stated
    digest = header["__metadata__"]["sha256"].encode()
    assert hashlib.sha256(content.replace(digest, b"0" * 64)).hexdigest().encode() == digest
    path.write_bytes(put_together(header, facts, data))
    assert_same_test(rk.load(path), test)


def test_the_file_of_format_1_still_loads():
    """A file of format 1 loads for ever. It was made by::

    i = np.arange(100)
    groups = np.array(["north", "south", "west"])[np.where(i < 92, i // 2 % 2, 2)]
    labels = np.where(i % 2, "yes", "no")
    scores = ((i * 37) % 101 / 101 + i % 2).astype(np.float32)
    cal = rk.calibrate(scores, labels, groups=groups)
    test = cal.control("fnr", alpha=0.1, thin_groups="pool", method=rk.Conformal())
    rk.save(test, "tests/storage/formats/grouped_test_1.rk")
    """  # noqa: D400 - the lines are the rest of the sentence
    test = rk.load(GOLDEN)
    assert_same_calibration(test.calibration, grouped_calibration())
    assert (test.control, test.alpha, test.method) == ("fnr", 0.1, rk.Conformal())
    assert test.thin_groups == "pool"
    thresholds = {name: round(t, 6) for name, t in test.thresholds.items()}
    assert thresholds == {"north": 1.089109, "south": 1.029703, "west": 1.079208}
    assert test.certificate.pooled_groups == ("west",)
    assert test.decide([1.0, 1.2], groups=["north", "west"]).labels.tolist() == ["no", "yes"]


def test_the_file_of_format_2_still_loads():
    """A file of format 2 knows its columns and what was skipped. It was made by::

    i = np.arange(100)
    cal = rk.calibrate((i * 37) % 101 / 101 + i % 2, np.where(i % 2, "yes", "no"))
    rows = Provenance(103, {"score is NaN": 2, "label is missing": 1}, "risk", "ill")
    cal = dataclasses.replace(cal, provenance=rows)
    test = cal.control("fpr", 0.1, method=rk.Conformal())
    rk.save(test, "tests/storage/formats/skipped_test_2.rk")
    """  # noqa: D400 - the lines are the rest of the sentence
    test = rk.load(GOLDEN.with_name("skipped_test_2.rk"))
    rows = Provenance(103, {"score is NaN": 2, "label is missing": 1}, "risk", "ill")
    assert test.calibration.provenance == test.certificate.provenance == rows
    text = " ".join(str(test.certificate).split())
    assert "103 rows read, 3 of them skipped (score is NaN: 2; label is missing: 1)" in text
    assert test.certificate.to_dict()["provenance"]["skipped"]["score is NaN"] == 2
    merged = test.calibration.merge(some_calibration_of_words())
    assert merged.provenance == Provenance(107, rows.skipped)


def test_files_of_format_3_load_unless_they_rest_on_a_draw_that_was_none(tmp_path):
    """Format 3 had no draw. What rests on none loads as it was; other tests are refused."""
    old = {path.name: path for path in GOLDEN.parent.glob("*_3.rk")}
    for name in ("plain_test_3.rk", "clustered_conformal_test_3.rk", "smoothed_test_3.rk"):
        test = rk.load(old.pop(name))
        assert test.calibration.draw.origin == "drawn"
        rk.save(test, tmp_path / name)
        again = rk.load(tmp_path / name)
        assert again.calibration.draw == test.calibration.draw
        assert again.thresholds == test.thresholds
    one, other = (rk.load(old["calibration_3.rk"]) for _ in range(2))
    assert one == other
    assert one.draw != other.draw
    text = " ".join(str(one.control_precision(0.6).certificate).split())
    assert "loaded from a file of an earlier version" in text
    rk.save(one, tmp_path / "again.rk")
    assert rk.load(tmp_path / "again.rk").draw == one.draw
    del old["calibration_3.rk"]
    with pytest.raises(rk.exceptions.StoredFileError, match="kept at random by an earlier version"):
        rk.load(old.pop("rejected_calibration_3.rk"))
    assert len(old) == 3
    for path in old.values():
        with pytest.raises(
            rk.exceptions.StoredFileError, match=r"depended on the scores.*Calibrate and make"
        ):
            rk.load(path)


def some_calibration_of_words():
    return rk.calibrate([0.1, 0.2, 0.8, 0.9], ["no", "no", "yes", "yes"])


# What is refused when loading


def assert_refused(path, match=None):
    with pytest.raises(rk.exceptions.StoredFileError, match=match) as caught:
        rk.load(path)
    assert str(path) in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.thorough_rows
@pytest.mark.parametrize("mask", [0x01, 0x20, 0x80, 0xFF])
def test_every_flipped_byte_is_noticed(tmp_path, mask):
    """No byte of a file can be altered without being noticed."""
    path = tmp_path / "test.rk"
    rk.save(small_test(), path)
    # In place: a file that is emptied and written anew goes to the disk at once.
    with path.open("r+b", buffering=0) as file:
        for i, byte in enumerate(path.read_bytes()):
            file.seek(i)
            file.write(bytes([byte ^ mask]))
            assert_refused(path)
            file.seek(i)
            file.write(bytes([byte]))
    assert_same_test(rk.load(path), small_test())


def test_other_space_in_the_header_is_noticed(tmp_path):
    """Not even a change that means the same in JSON goes through."""
    path = tmp_path / "cal.rk"
    rk.save(small_test().calibration, path)
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    assert content[end - 1 : end] in b" }"
    for changed in (
        content.replace(b'"shape":[2]', b'"shape": [2]', 1),
        content.replace(b'"sha256"', b'"sha25\\u0036"', 1),
        content[: end - 1] + b"\n" + content[end:],
    ):
        path.write_bytes(changed)
        assert_refused(path)


def test_every_truncation_is_noticed(tmp_path):
    """A file cut short anywhere is refused, and so is a longer one."""
    path = tmp_path / "test.rk"
    rk.save(small_test(), path)
    content = path.read_bytes()
    for length in reversed(range(len(content))):
        os.truncate(path, length)
        assert_refused(path)
    path.write_bytes(content + b"\0")
    assert_refused(path, "checksum")


def with_header(text):
    return len(text).to_bytes(8, "little") + text


FOREIGN = {
    "empty": b"",
    "one byte": b"1",
    "text": b"score,label\n0.1,0\n0.7,1\n",
    "zeros": b"\0" * 100,
    "ones": b"\xff" * 100,
    "empty object": with_header(b"{}"),
    "list": with_header(b"[]"),
    "not text": with_header(b"\xff\xfe"),
    "deep": with_header(b"[" * 200_000),
    "long number": with_header(b"9" * 6000),
    "odd metadata": with_header(b'{"__metadata__":1}'),
    "odd facts": with_header(b'{"__metadata__":{"ratekeeper":"[1,2]"}}'),
    "half a character": with_header(b'{"__metadata__":{"ratekeeper":"\\ud800"}}'),
    "half a checksum": with_header(
        b'{"__metadata__":{"ratekeeper":"{\\"format\\":1}","sha256":"\\ud800"}}'
    ),
    "endless": (2**62).to_bytes(8, "little") + b"{}",
}


@each("content", FOREIGN.values())
def test_foreign_files_are_refused(tmp_path, content):
    """A file of something else is refused, whatever it holds."""
    path = tmp_path / "foreign"
    path.write_bytes(content)
    assert_refused(path)


def test_a_safetensors_file_of_another_program_is_refused(tmp_path):
    """A file that safetensors can read is not yet ours, and the message names its arrays."""
    path = tmp_path / "model.safetensors"
    safetensors.numpy.save_file({"layer.weight": np.ones(3)}, path)
    assert_refused(path, r"another program, with 'layer.weight'")
    safetensors.numpy.save_file({"negative": np.ones(3)}, path, metadata={"sha256": "0" * 64})
    assert_refused(path, "another program")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a system with named pipes")
def test_what_is_no_file_is_refused(tmp_path):
    """A folder or a pipe in place of a file is refused at once."""
    assert_refused(tmp_path, "folder")
    os.mkfifo(tmp_path / "pipe")
    assert_refused(tmp_path / "pipe", "it is a pipe, not a file")
    assert_refused(os.devnull, "device")
    (tmp_path / "file").write_text("x")
    assert_refused(tmp_path / "file" / "inside", "NotADirectory")
    assert_refused(tmp_path / ("x" * 300), "too long")


def test_a_missing_file_is_both_errors(tmp_path):
    """A missing file can be caught as what Python users expect, and as ours."""
    path = tmp_path / "nothing.rk"
    with pytest.raises(MissingFileError, match="Check the path") as caught:
        rk.load(path)
    assert isinstance(caught.value, FileNotFoundError)
    assert isinstance(caught.value, rk.exceptions.StoredFileError)
    assert str(path) in str(caught.value)


def test_no_memory_is_a_plain_refusal(tmp_path, monkeypatch):
    """Running out of memory while loading is said as such."""
    path = tmp_path / "cal.rk"
    rk.save(some_calibration(), path)

    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr(json, "loads", no_memory)
    assert_refused(path, "memory")


@pytest.mark.parametrize("number", [FORMAT + 1, 10**30, 0, -1, 1.0, True, "1", None])
def test_an_unknown_format_is_refused(tmp_path, number):
    """A file of a later format says so, and what to do, before anything else is read."""
    path = tmp_path / "cal.rk"
    rk.save(some_calibration(), path)
    header, _, data = parts_of(path)
    path.write_bytes(put_together(header, {"format": number, "version": "9.0"}, data))
    assert_refused(path, r"format .* '9.0' .* Upgrade")


def changed(facts, path, value):
    facts = copy.deepcopy(facts)
    *way, last = path
    inner = facts
    for step in way:
        inner = inner[step]
    inner[last] = value
    return facts


@each(
    ("where", "value"),
    [
        (["kind"], "calibration"),
        (["kind"], "abstaining test"),
        (["kind"], ["test"]),
        (["classes", "dtype"], "<f8"),
        (["classes", "dtype"], "<U999999999"),
        (["classes", "dtype"], "O"),
        (["classes", "dtype"], 3),
        (["classes", "values"], "ny"),
        (["classes", "values"], ["no", "yes", "yes"]),
        (["classes", "values"], [["no", "yes"]]),
        (["classes", "values"], [None, "yes"]),
        (["groups"], None),
        (["groups", "values"], ["north", "south"]),
        (["groups", "values"], ["north", "south", "other"]),
        (["groups", "values"], 5),
        (["higher_is_positive"], False),
        (["higher_is_positive"], None),
        (["n", "positive"], 49),
        (["data_hash"], "0" * 64),
        (["tests"], []),
        (["tests"], None),
        (["tests", 0], 7),
        (["tests", 0, "control"], "fpr"),
        (["tests", 0, "control"], "fdr"),
        (["tests", 0, "alpha"], 0.2),
        (["tests", 0, "alpha"], 1e-9),
        (["tests", 0, "alpha"], 1e-30),
        (["tests", 0, "alpha"], "small"),
        (["tests", 0, "method", "name"], "magic"),
        (["tests", 0, "method", "name"], ["conformal"]),
        (["tests", 0, "method", "name"], "resampled"),
        (["tests", 0, "method", "parameters"], {"delta": 0.1}),
        (["tests", 0, "method", "parameters"], None),
        (["tests", 0, "thin_groups"], "refuse"),
        (["tests", 0, "thresholds"], ["inf"]),
        (["tests", 0, "thresholds", 0], "0x1.8p-1"),
        (["tests", 0, "thresholds", 0], "inf"),
        (["tests", 0, "thresholds", 0], "0x1p99999"),
        (["tests", 0, "thresholds", 0], None),
        (["tests", 0, "thresholds", 0], 0.5),
    ],
)
def test_facts_that_do_not_fit_are_refused(tmp_path, where, value):
    """A file whose checksum holds but whose facts contradict each other is refused."""
    path = tmp_path / "test.rk"
    header, facts, data = parts_of(GOLDEN)
    path.write_bytes(put_together(header, changed(facts, where, value), data))
    assert_refused(path)


@pytest.mark.parametrize("where", [["tests", 0, key] for key in ("control", "alpha", "method")])
def test_missing_facts_are_refused(tmp_path, where):
    """A file whose checksum holds but that lacks a fact is refused."""
    header, facts, data = parts_of(GOLDEN)
    del facts["tests"][0][where[-1]]
    (tmp_path / "test.rk").write_bytes(put_together(header, facts, data))
    assert_refused(tmp_path / "test.rk")


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("negative/0", {"dtype": "F64", "shape": [23], "data_offsets": [0, 92]}),
        ("negative/0", {"dtype": "F16", "shape": [46], "data_offsets": [0, 92]}),
        ("negative/0", {"dtype": "F32", "shape": [22], "data_offsets": [0, 92]}),
        ("negative/0", {"dtype": "F32", "shape": [23], "data_offsets": [0, 10**30]}),
        ("negative/0", {"dtype": "F32", "shape": [23], "data_offsets": [0, 91]}),
        ("negative/0", {"dtype": "F32", "shape": [23], "data_offsets": ["a", "b"]}),
        ("negative/0", None),
        ("negative/0", {}),
        ("extra", {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}),
    ],
)
def test_arrays_that_do_not_fit_are_refused(tmp_path, name, entry):
    """A file whose checksum holds but whose arrays are not as described is refused."""
    header, facts, data = parts_of(GOLDEN)
    assert header["negative/0"] == {"dtype": "F32", "shape": [23], "data_offsets": [0, 92]}
    (tmp_path / "test.rk").write_bytes(put_together({**header, name: entry}, facts, data))
    assert_refused(tmp_path / "test.rk")


@pytest.mark.parametrize("scores", [[2.0, 1.0], [np.nan, 1.0], [1.0, np.nan], [np.nan]])
def test_scores_out_of_order_are_refused(tmp_path, scores):
    """Scores that are not ascending numbers are refused, even with every checksum right."""
    path = tmp_path / "cal.rk"
    scores = np.array(scores)
    cal = rk.Calibration(
        ((scores,), (np.array([1.0]),)), np.array([0, 1]), groups=None, higher_is_positive=True
    )
    rk.save(cal, path)
    assert_refused(path, "do not ascend")


def leaves(value, path=()):
    if isinstance(value, dict | list) and value:
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, item in steps for leaf in [(*path, key), *leaves(item, (*path, key))]]
    return []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(max_examples=200, deadline=None)
@given(where=st.sampled_from(leaves(parts_of(GOLDEN)[1])), value=json_values)
def test_any_other_fact_gives_the_same_object_or_a_refusal(where, value):
    """Whatever stands in a file, the object loaded is the one saved, or a refusal says no."""
    header, facts, data = parts_of(GOLDEN)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.rk"
        path.write_bytes(put_together(header, changed(facts, where, value), data))
        try:
            loaded = rk.load(path)
        except rk.exceptions.StoredFileError:
            return
    assert loaded.calibration == grouped_calibration()
    assert loaded.thresholds == rk.load(GOLDEN).thresholds


@pytest.mark.parametrize("method", [rk.methods.Kernel(), rk.methods.Parametric("norm")], ids=repr)
def test_fitted_thresholds_may_differ_in_the_last_digits(tmp_path, method):
    """Another version of SciPy may move a fitted threshold by its last digits, not by more."""
    path = tmp_path / "test.rk"
    rk.save(some_calibration().control("fnr", 0.1, method=method), path)
    header, facts, data = parts_of(path)
    threshold = float.fromhex(facts["tests"][0]["thresholds"][0])
    for error, accepted in ((1e-12, True), (1e-6, False)):
        moved = changed(facts, ["tests", 0, "thresholds", 0], (threshold + error).hex())
        path.write_bytes(put_together(header, moved, data))
        if accepted:
            assert rk.load(path).threshold == threshold
        else:
            assert_refused(path, "versions of NumPy and SciPy")


# What is refused when saving


def assert_not_saved(obj, path, match):
    with pytest.raises(rk.InputError, match=match):
        rk.save(obj, path)


@pytest.mark.parametrize(
    "obj", [None, [0.1], rk.Conformal(), small_test().certificate, rk.planning.Plan]
)
def test_other_objects_are_refused(tmp_path, obj):
    """What cannot be saved is refused by its type, with what can."""
    assert_not_saved(obj, tmp_path / "x.rk", f"cannot save an? {type(obj).__name__}. ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "kind", [rk.methods.Smoothed, lambda random_state: rk.methods.Resampled(20, random_state)]
)
def test_a_generator_cannot_be_saved(tmp_path, kind):
    """A method with a Generator is refused without a draw, and the message asks for an int."""
    rng = np.random.default_rng(0)
    test = some_calibration().control("fnr", 0.2, method=kind(random_state=rng))
    assert_not_saved(test, tmp_path / "x.rk", "random_state=Generator.*plain number as a seed")
    assert rng.random() == np.random.default_rng(0).random()


def test_parameters_of_less_precision_come_back_exactly(tmp_path):
    """A float32 parameter is the number that its text says, and is loaded as that number."""
    test = some_calibration().control("fnr", 0.2, method=rk.HighProbability(np.float32(0.1)))
    rk.save(test, tmp_path / "x.rk")
    assert rk.load(tmp_path / "x.rk").method.delta == 0.1


def test_a_method_of_your_own_is_refused(tmp_path):
    """A method that the package does not have is refused, even if it bears a known name."""

    class Mine(rk.Conformal):
        pass

    test = some_calibration().control("fnr", 0.2, method=Mine())
    assert_not_saved(test, tmp_path / "x.rk", "not one of ratekeeper's own.*Save the calibration")


def test_two_calibrations_do_not_fit_one_file(tmp_path):
    """An abstaining test put together from strange parts is refused."""
    one, other = some_calibration(), some_calibration(n=70)
    strange = rk.control.AbstainingTest(
        one.control("fnr", 0.1, method=rk.Conformal()),
        other.control("fpr", 0.1, method=rk.Conformal()),
    )
    assert_not_saved(strange, tmp_path / "x.rk", "different calibrations.*control_both")
    swapped = rk.control.AbstainingTest(
        one.control("fpr", 0.1, method=rk.Conformal()),
        one.control("fnr", 0.1, method=rk.Conformal()),
    )
    assert_not_saved(swapped, tmp_path / "x.rk", "control_both")


@pytest.mark.parametrize(
    "classes",
    [np.array([0, 1], dtype=np.longdouble), np.array(["no", "x" * 10_000])],
    ids=["0", "x"],
)
def test_labels_of_strange_types_are_refused(tmp_path, classes):
    """Labels of a type that not every machine has, or of absurd length, are refused."""
    if classes.dtype == np.float64:
        pytest.skip("long double is double on this machine")
    scores = np.array([0.5])
    cal = rk.Calibration(((scores,), (scores,)), classes, groups=None, higher_is_positive=True)
    assert_not_saved(cal, tmp_path / "x.rk", "cannot be stored. Use booleans")


@pytest.mark.thorough
def test_too_many_groups_are_refused(tmp_path):
    """A header that safetensors could not read, of more than 100 million bytes, is not written."""
    n, scores = 28_000, (np.array([0.5]),)
    names = np.array([chr(0x10000 + i) * 256 for i in range(n)])  # 14 bytes a character
    cal = rk.Calibration((scores * n, scores * n), np.array([0, 1]), names, higher_is_positive=True)
    assert_not_saved(cal, tmp_path / "x.rk", "100,000,000 are allowed. Use fewer groups")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", [None, 3, b"x.rk", "a\0b"])
def test_paths_must_be_paths(path):
    """Anything but a text or a path object as path is refused on both ways."""
    assert_not_saved(some_calibration(), path, "must be the path of a file")
    with pytest.raises(rk.InputError, match="must be the path of a file"):
        rk.load(path)


def test_the_folder_must_exist(tmp_path):
    """Saving into a folder that is not there, or onto a folder, is refused by name."""
    assert_not_saved(some_calibration(), tmp_path / "no" / "x.rk", "no folder .*no'.*Make it")
    assert_not_saved(some_calibration(), tmp_path, "is a folder")
    assert_not_saved(some_calibration(), "", "is a folder")


# How it is written


def test_text_and_relative_paths_work(tmp_path, monkeypatch):
    """A plain text is a path, relative to the working folder."""
    monkeypatch.chdir(tmp_path)
    rk.save(some_calibration(), "cal.rk")
    assert rk.load("cal.rk") == rk.load(tmp_path / "cal.rk") == some_calibration()


def test_a_file_is_replaced_whole(tmp_path):
    """Saving onto an older file replaces it, and leaves nothing else behind."""
    path = tmp_path / "cal.rk"
    rk.save(some_calibration(), path)
    rk.save(small_test().calibration, path)
    assert rk.load(path) == small_test().calibration
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=repr)
def test_a_failure_leaves_everything_as_it_was(tmp_path, monkeypatch, step, error):
    """If writing fails at any step, the older file stays and no other is left behind."""
    path = tmp_path / "cal.rk"
    rk.save(some_calibration(), path)

    def fail(*_):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        rk.save(small_test(), path)
    assert rk.load(path) == some_calibration()
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_written_through(tmp_path):
    """Saving onto a symbolic link replaces the file that it names, not the link."""
    real, link = tmp_path / "real.rk", tmp_path / "link.rk"
    link.symlink_to(real)
    rk.save(some_calibration(), link)
    assert link.is_symlink()
    assert rk.load(real) == some_calibration()


@pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")
def test_the_file_has_ordinary_rights(tmp_path):
    """A saved file has the rights that any new file gets."""
    rk.save(some_calibration(), tmp_path / "cal.rk")
    (tmp_path / "other").touch()
    assert (tmp_path / "cal.rk").stat().st_mode == (tmp_path / "other").stat().st_mode
