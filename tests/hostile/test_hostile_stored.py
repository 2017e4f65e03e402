"""Stored files of strangers: bombs, and files with a right checksum that contradict themselves."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper import methods
from ratekeeper._reading._parameters import LONGEST_NAME
from ratekeeper.calibration import Provenance
from ratekeeper.storage import _serialize as stored_facts
from ratekeeper.storage._schema import MOST_REPLICATES, SCHEMA, published, schema_error

PER_HEADER_BYTE, PER_SCORE_BYTE = 20, 8  # bytes of memory
ROOT = Path(__file__).parents[2]
SCHEMA_FILE = ROOT / "docs" / "reference" / "schemas" / "rk-header.schema.json"
FORMATS = sorted((ROOT / "tests" / "storage" / "formats").glob("*.rk"))
GROWN = """
import re, sys
import numpy, scipy.special, scipy.stats
import ratekeeper as rk
from ratekeeper.storage import _serialize

def peak():
    with open("/proc/self/status") as status:
        return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status.read())[1])

for path in sys.argv[1:]:
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")
    before, answer = peak(), "loaded"
    try:
        del_me = rk.load(path)
    except rk.exceptions.StoredFileError:
        answer = "refused"
    print(answer, peak() - before)
    del_me = None
"""


def content_of(header, inner, data=b""):
    """Write a file with a right checksum; `inner` is the text `ratekeeper`."""

    def head(digest):
        metadata = {"ratekeeper": inner, "sha256": digest}
        text = header if isinstance(header, str) else json.dumps(header)
        text = text[:-1] + ", " * (len(text) > 2) + f'"__metadata__": {json.dumps(metadata)}}}'
        return len(text).to_bytes(8, "little") + text.encode()

    return head(hashlib.sha256(head("0" * 64) + data).hexdigest()) + data


def parts_of(path):
    content = Path(path).read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    metadata = header.pop("__metadata__")
    return header, json.loads(metadata["ratekeeper"]), content[end:]


def some_scores(n=80):
    i = np.arange(n)
    return (i * 37) % 101 / 101 + i % 2 / 2, np.where(i % 2, "yes", "no")


def some_calibration(**options):
    return rk.calibrate(*some_scores(), **options)


def every_kind():
    """Return an object of every kind and a test of every method."""
    cal = some_calibration()
    rows = Provenance(200, {"score is NaN": 20}, "risk", "ill", None, (90, 90))
    grouped = some_calibration(groups=np.arange(80) % 3)
    chosen = [
        rk.Conformal(),
        rk.HighProbability(0.2),
        rk.Simultaneous(0.2),
        rk.methods.Smoothed(1),
        rk.methods.Empirical(),
        rk.methods.Bootstrap(replicates=20),
        rk.methods.Kernel(),
        rk.methods.Kernel(0.3),
        rk.methods.Parametric(),
        rk.methods.Resampled(20),
    ]
    assert {method.name for method in chosen} == set(methods.METHODS)
    few = rk.calibrate(np.linspace(0, 1, 61), np.r_[[0] * 30, [1] * 31], groups=[*[1] * 60, 2])
    return [
        replace(cal, provenance=rows),
        grouped,
        rk.calibrate([0.1, 0.9], [-np.inf, 1.5], positive_label=1.5),
        *(cal.control("fnr", 0.3, method=method) for method in chosen),
        *(cal.control("fpr", 0.3, method=method) for method in chosen),
        grouped.control_both(0.2, 0.3, method=rk.Conformal()),
        few.control("fnr", 0.1, method=rk.Conformal(), thin_groups="pool"),
        replace(cal, origin="cross-fitted").control("fnr", 0.2, method=rk.Conformal()),
    ]


# Memory


def empty_arrays(n):
    entry = {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}
    return {f"{side}/{i}": entry for side in ("negative", "positive") for i in range(n // 2)}


def bombs():
    """Return headers and facts that are small as text and large in memory."""
    _, facts, _ = parts_of(FORMATS[0])

    def with_groups(dtype, values):
        return json.dumps({**facts, "groups": {"dtype": dtype, "values": values}})

    keys = ",".join(f'"{i:x}":0' for i in range(400_000))
    small = json.dumps(facts)
    skipped = json.dumps({**facts, "provenance": {"skipped": {}}})
    return {
        "wide names": ({}, with_groups("<U9999", [""] * 100_000)),
        "wide names of that many arrays": (
            empty_arrays(100_000),
            with_groups("<U9999", [f"{i:05d}" for i in range(50_000)]),
        ),
        "one long name": ({}, with_groups("<U9999", [*["a"] * 100_000, "x" * 9999])),
        "lists": ({}, "{" + f'"a":[{",".join(["[]"] * 1_000_000)}]' + "}"),
        "deep lists": ({}, "{" + f'"a":[{",".join(["[" * 40 + "]" * 40] * 30_000)}]' + "}"),
        "objects": (f'{{"a":[{",".join(["{}"] * 1_000_000)}]}}', small),
        "sparse objects": (
            f'{{"a":[{",".join([json.dumps({"a" * 9: 1})] * 200_000)}]}}',
            small,
        ),
        "names of members": ("{" + keys + "}", small),
        "reasons": ({}, skipped.replace('"skipped": {}', '"skipped": {' + keys + "}")),
        "short texts": ({}, with_groups("<U2", ["ab"] * 700_000)),
        "numbers": ({}, with_groups("<i8", [300] * 700_000)),
        "arrays": (empty_arrays(50_000), small),
        "wide text": ({}, with_groups("<U2", ["a" * 3_000_000 + "\U0001f600"])),
    }


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read where Linux shows it")
def test_memory_is_a_small_multiple_of_the_file(tmp_path):
    """Loading takes at most 20 times the header and 8 times the scores, whatever the file holds."""
    contents = {name: content_of(*parts) for name, parts in bombs().items()}
    answers = dict.fromkeys(contents, "refused")
    values = np.random.default_rng(0).random(1_000_000)
    many = rk.calibrate(values, np.arange(values.size) % 2)
    groups = np.array(["[" * 254 + "ab"])[np.zeros(200, dtype=int)]
    groups[:100] = "{" * 256
    brackets = rk.calibrate(np.linspace(0, 1, 200), np.arange(200) % 2, groups=groups)
    names = np.array([f"{i:04d}" for i in range(3_000)], dtype="<U256")
    wide = rk.calibrate(np.arange(6_000.0), np.repeat([0, 1], 3_000), groups=np.tile(names, 2))
    for name, obj in {
        "good scores": many.control_both(0.05, 0.05),
        "good scores in groups": rk.calibrate(
            values.astype(np.float32), np.arange(values.size) % 2, groups=np.arange(values.size) % 7
        ).control("fnr", 0.05),
        "good groups": wide.control("fnr", 0.5, method=rk.methods.Empirical()),
        "good resamples": rk.calibrate(values[:20_000], np.arange(20_000) % 2).control(
            "fnr", 0.05, method=rk.methods.Bootstrap(replicates=3_000)
        ),
        "good names of brackets": brackets.control("fnr", 0.2, method=rk.Conformal()),
    }.items():
        rk.save(obj, tmp_path / "good.rk")
        contents[name], answers[name] = (tmp_path / "good.rk").read_bytes(), "loaded"
    paths = []
    for name, content in contents.items():
        paths.append(tmp_path / f"{name}.rk")
        paths[-1].write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", GROWN, *paths], capture_output=True, text=True, check=True
    )
    wrong = []
    for (name, content), line in zip(contents.items(), done.stdout.splitlines(), strict=True):
        answer, grown = line.split()
        length = int.from_bytes(content[:8], "little")
        scores = PER_SCORE_BYTE * (len(content) - length)
        allowed = PER_HEADER_BYTE * length + scores + 20_000_000
        if answer != answers[name] or int(grown) > allowed:
            wrong.append(f"{name}: {answer}, {int(grown):,} bytes for {len(content):,}")
    assert not wrong, "\n".join(wrong)


def test_a_small_file_cannot_ask_for_millions_of_resamples(tmp_path):
    """A test of very many replicates, for which a few bytes suffice, is refused in a moment."""
    path = tmp_path / "test.rk"
    rk.save(
        some_calibration().control("fnr", 0.3, method=rk.methods.Bootstrap(replicates=20)), path
    )
    header, facts, data = parts_of(path)
    facts["tests"][0]["method"]["parameters"]["replicates"] = 10_000_000
    path.write_bytes(content_of(header, json.dumps(facts), data))
    with pytest.raises(rk.exceptions.StoredFileError, match="method is"):
        rk.load(path)
    test = replace(some_calibration().control("fnr", 0.3), method=rk.methods.Bootstrap(100_001))
    with pytest.raises(rk.InputError, match="cannot be saved: more than 100,000 resamples"):
        rk.save(test, path)


@pytest.mark.parametrize("name", ["levy_stable", "studentized_range"])
def test_fits_without_end_are_not_started(tmp_path, name):
    """A file cannot keep its reader busy for hours with a distribution that is slow to fit."""
    path = tmp_path / "test.rk"
    rk.save(some_calibration().control("fnr", 0.3, method=rk.methods.Parametric()), path)
    header, facts, data = parts_of(path)
    facts["tests"][0]["method"]["parameters"]["distribution"] = name
    path.write_bytes(content_of(header, json.dumps(facts), data))
    with pytest.raises(rk.exceptions.StoredFileError, match="method is"):
        rk.load(path)


# Files that contradict themselves


def put(*way):
    """Return a change that puts a value at a place."""
    *way, last, value = way

    def change(facts):
        inner = facts
        for step in way:
            inner = inner[step]
        inner[last] = value
        return facts

    return change


def removed(*way):
    *way, last = way

    def change(facts):
        inner = facts
        for step in way:
            inner = inner[step]
        del inner[last]
        return facts

    return change


YES, NO = True, False
CERTIFICATE = ("tests", 0, "certificate")
CELL = (*CERTIFICATE, "cells", 0)
CHANGES = {
    "higher_is_positive is a text": put("higher_is_positive", "false"),
    "higher_is_positive is a number": put("higher_is_positive", 1),
    "higher_is_positive is null": put("higher_is_positive", None),
    "an origin of its own": put("origin", "heaven"),
    "origin is a number": put("origin", 0),
    "another origin": put("origin", "cross-fitted"),
    "equal classes": put("classes", {"dtype": "<U3", "values": ["yes", "yes"]}),
    "classes are NaN": put("classes", {"dtype": "<f8", "values": ["nan", "nan"]}),
    "one class is NaN": put("classes", {"dtype": "<f8", "values": ["0.0", "nan"]}),
    "three classes": put("classes", {"dtype": "<U3", "values": ["a", "b", "c"]}),
    "one class": put("classes", {"dtype": "<U3", "values": ["a"]}),
    "booleans as whole numbers": put("classes", {"dtype": "<i8", "values": [False, True]}),
    "whole numbers as booleans": put("classes", {"dtype": "|b1", "values": [0, 1]}),
    "fractions as whole numbers": put("classes", {"dtype": "<i8", "values": [0.5, 1.5]}),
    "classes cut short": put("classes", {"dtype": "<U1", "values": ["no", "yes"]}),
    "classes are null": put("classes", None),
    "objects as classes": put("classes", {"dtype": "|O8", "values": ["no", "yes"]}),
    "texts of no length": put("classes", {"dtype": "<U0", "values": ["", ""]}),
    "a long class": put("classes", {"dtype": "<U999", "values": ["no", "y" * 999]}),
    "unsorted groups": put("groups", "values", ["c", "b", "a"]),
    "equal groups": put("groups", "values", ["a", "a", "b"]),
    "groups are NaN": put("groups", {"dtype": "<f8", "values": ["0.0", "1.0", "nan"]}),
    "a group more": put("groups", "values", ["a", "b", "c", "d"]),
    "no groups": put("groups", "values", []),
    "n is another": put("n", "negative", 39),
    "n is a boolean": put("n", "negative", YES),
    "n is a fraction": put("n", "negative", 40.0),
    "n has a third side": put("n", "neither", 0),
    "an unknown fact": put("comment", "hello"),
    "a fact is missing": removed("origin"),
    "format is true": put("format", YES),
    "format is a fraction": put("format", 2.0),
    "version is a number": put("version", 1),
    "version is very long": put("version", "1" * 1_000_000),
    "data_hash is a number": put("data_hash", 5),
    "data_hash is another": put("data_hash", "0" * 64),
    "data_hash in capitals": put("data_hash", "A" * 64),
    "provenance is a list": put("provenance", []),
    "provenance is false": put("provenance", NO),
    "provenance is of fewer rows": put("provenance", Provenance(79).to_dict()),
    "provenance is of more rows": put("provenance", Provenance(81).to_dict()),
    "provenance of a smaller sample": put(
        "provenance", Provenance(80, sampled_from=(20, 60)).to_dict()
    ),
    "a reason that clears the screen": put("provenance", Provenance(81, {"\x1b[2J": 1}).to_dict()),
    "provenance with more": put("provenance", {**Provenance(80).to_dict(), "more": 1}),
    "kind is another": put("kind", "calibration"),
    "kind is unknown": put("kind", "oracle"),
    "no tests": put("tests", []),
    "control in capitals": put("tests", 0, "control", "FNR"),
    "alpha is a text": put("tests", 0, "alpha", "0.3"),
    "alpha is a percentage": put("tests", 0, "alpha", "30%"),
    "alpha is true": put("tests", 0, "alpha", YES),
    "alpha is 1": put("tests", 0, "alpha", 1),
    "alpha is NaN": put("tests", 0, "alpha", float("nan")),
    "alpha is infinite": put("tests", 0, "alpha", float("inf")),
    "alpha is nearly the same": put("tests", 0, "alpha", 0.30001),
    "an unknown method": put("tests", 0, "method", "name", "oracle"),
    "another method": put("tests", 0, "method", {"name": "empirical", "parameters": {}}),
    "a parameter more": put("tests", 0, "method", "parameters", {"delta": 0.1}),
    "a test knows more": put("tests", 0, "comment", "hello"),
    "thin_groups is null": put("tests", 0, "thin_groups", None),
    "a threshold is NaN": put("tests", 0, "thresholds", 0, "nan"),
    "a threshold is null": put("tests", 0, "thresholds", 0, None),
    "a threshold is nearly the same": put("tests", 0, "thresholds", 0, (0.5 + 2**-40).hex()),
    "a threshold less": removed("tests", 0, "thresholds", 0),
    "no certificate": put(*CERTIFICATE, {}),
    "certificate is null": put(*CERTIFICATE, None),
    "certificate with more": put(*CERTIFICATE, "comment", "hello"),
    "certificate of another rate": put(*CERTIFICATE, "control", "fpr"),
    "certificate of another alpha": put(*CERTIFICATE, "alpha", 0.01),
    "certificate of another method": put(*CERTIFICATE, "method", "HighProbability(delta=0.01)"),
    "certificate with a delta": put(*CERTIFICATE, "delta", 0.01),
    "certificate of a stronger kind": put(*CERTIFICATE, "guarantee", "kind", "simultaneous"),
    "certificate without a promise": put(*CERTIFICATE, "promised", NO),
    "certificate of other labels": put(*CERTIFICATE, "positive_label", "no"),
    "certificate of the other end": put(*CERTIFICATE, "higher_is_positive", NO),
    "certificate of more scores": put(*CERTIFICATE, "n", "positive", 4000),
    "certificate of other data": put(*CERTIFICATE, "data_hash", "0" * 64),
    "certificate of another type": put(*CERTIFICATE, "score_type", "float32"),
    "certificate of another origin": put(*CERTIFICATE, "origin", "cross-fitted"),
    "certificate of a better price": put(*CERTIFICATE, "other_error", "errors", 0),
    "certificate of a better rate": put(*CERTIFICATE, "other_error", "rate", 0.0),
    "certificate of a better bound": put(*CERTIFICATE, "other_error", "high", 0.01),
    "certificate of rows": put(*CERTIFICATE, "provenance", Provenance(80).to_dict()),
    "certificate without cells": put(*CERTIFICATE, "cells", []),
    "certificate with a pooled group": put(*CERTIFICATE, "pooled_groups", ["c"]),
    "a cell of another threshold": put(*CELL, "threshold", 0.0),
    "a cell without a threshold": put(*CELL, "threshold", None),
    "a cell of another group": put(*CELL, "group", "b"),
    "a cell that is pooled": put(*CELL, "pooled", YES),
    "a cell of more scores": put(*CELL, "n", "null", 10_000),
    "a cell with ties": put(*CELL, "tied", YES),
    "a cell of a better rate": put(*CELL, "realised_rate", "high", 0.01),
    "a cell of another distribution": put(*CELL, "realised_rate", "distribution", "Beta(1, 2)"),
    "a cell without a distribution": put(*CELL, "realised_rate", None),
    "a cell of a better price": put(*CELL, "other_error", "low", 0.9),
    "a rate beyond 1": put(*CELL, "other_error", "high", 1e308),
    "a sentence is a number": put(*CELL, "rule", 5),
}


@pytest.fixture(scope="module", params=["test", "calibration"])
def grouped_parts(request, tmp_path_factory):
    """Return header, facts and scores of three groups: of a stored test, or of a calibration."""
    path = tmp_path_factory.mktemp("stored") / "test.rk"
    cal = some_calibration(groups=np.array(["a", "b", "c"])[np.arange(80) % 3])
    test = cal.control("fnr", 0.3, method=rk.Conformal())
    rk.save(test if request.param == "test" else cal, path)
    return parts_of(path)


def loaded(path, content):
    """Return whether a file is loaded, and what is said if not."""
    path.write_bytes(content)
    try:
        rk.load(path)
    except rk.exceptions.StoredFileError as error:
        return False, str(error)
    return True, ""


def test_files_that_contradict_themselves_are_refused(tmp_path, grouped_parts):
    """A right checksum does not help a file whose facts are not those of its scores."""
    header, facts, data = grouped_parts
    path = tmp_path / "test.rk"
    assert loaded(path, content_of(header, json.dumps(facts), data))[0]
    wrong = []
    for name, change in CHANGES.items():
        try:
            spoiled = change(copy.deepcopy(facts))
        except LookupError:
            spoiled = facts
        if json.dumps(spoiled) == json.dumps(facts):
            assert not facts["tests"], name  # a calibration has no tests to spoil
            continue
        is_loaded, said = loaded(path, content_of(header, json.dumps(spoiled), data))
        if is_loaded or len(said) > 1_000 or not said.endswith("."):
            wrong.append(f"{name}: {said}")
    assert not wrong, "\n".join(wrong)


def test_a_file_that_says_false_in_quotes_decides_nothing(tmp_path):
    """The text "false" is not taken for true, by which a promise of 5% had been one of 95%."""
    path = tmp_path / "test.rk"
    rk.save(some_calibration(higher_is_positive=True), path)
    header, facts, data = parts_of(path)
    facts["higher_is_positive"] = "false"
    cells, classes = rk.load(path).cells, np.array(["no", "yes"])
    twisted = rk.Calibration(cells, classes, None, higher_is_positive="false")
    facts["data_hash"] = twisted.data_hash
    is_loaded, said = loaded(path, content_of(header, json.dumps(facts), data))
    assert not is_loaded
    assert "higher_is_positive is 'false'" in said


def test_arrays_must_be_what_the_header_says(tmp_path, grouped_parts):
    """Arrays of two types, with gaps, overlapping, out of order or not filling the file fail."""
    header, facts, data = grouped_parts
    path, inner = tmp_path / "test.rk", json.dumps(facts)
    first, last = header["negative/0"], header["positive/2"]
    n, (start, stop) = last["shape"][0], last["data_offsets"]
    narrow = np.frombuffer(data[start:], "<f8").astype("<f4").tobytes()
    swapped = {**header, "negative/0": header["negative/1"], "negative/1": first}
    cases = {
        "trailing bytes": (header, data + b"\0" * 8),
        "a trailing byte": (header, data + b"\0"),
        "bytes missing": (header, data[:-8]),
        "two types": (
            {
                **header,
                "positive/2": {
                    "dtype": "F32",
                    "shape": [n],
                    "data_offsets": [start, start + 4 * n],
                },
            },
            data[:start] + narrow,
        ),
        "a gap": (
            {**header, "positive/2": {**last, "data_offsets": [start + 8, stop + 8]}},
            data[:start] + b"\0" * 8 + data[start:],
        ),
        "overlapping": ({**header, "positive/2": {**first}}, data),
        "swapped": (swapped, data),
        "an array more": ({**header, "positive/3": last}, data),
        "an array less": ({k: v for k, v in header.items() if k != "positive/2"}, data),
        "another name": (
            {**{k: v for k, v in header.items() if k != "positive/2"}, "positive/02": last},
            data,
        ),
        "a huge shape": ({**header, "positive/2": {**last, "shape": [10**30]}}, data),
        "a shape of two": ({**header, "positive/2": {**last, "shape": [n, 1]}}, data),
        "a negative shape": ({**header, "positive/2": {**last, "shape": [-n]}}, data),
        "a shape of fractions": ({**header, "positive/2": {**last, "shape": [float(n)]}}, data),
        "a true offset": (
            {**header, "negative/0": {**first, "data_offsets": [False, 8 * first["shape"][0]]}},
            data,
        ),
        "whole numbers": ({**header, "positive/2": {**last, "dtype": "I64"}}, data),
        "a member more": ({**header, "positive/2": {**last, "more": 1}}, data),
        "NaN": (header, np.full(len(data) // 8, np.nan).tobytes()),
        "descending": (header, np.arange(80.0)[::-1].tobytes()),
    }
    wrong = [
        name
        for name, (table, scores) in cases.items()
        if loaded(path, content_of(table, inner, scores))[0]
    ]
    assert not wrong


@pytest.mark.parametrize("grouped_parts", ["test"], indirect=True)
def test_text_that_readers_take_differently_is_refused(tmp_path, grouped_parts):
    """Members of one name, numbers beyond the range, NaN and bytes beyond ASCII are refused."""
    header, facts, data = grouped_parts
    path, inner, outer = tmp_path / "test.rk", json.dumps(facts), json.dumps(header)
    entry = json.dumps(header["negative/0"])
    cases = {
        "alpha twice": (outer, inner.replace('"alpha": 0.3', '"alpha": 0.01, "alpha": 0.3', 1)),
        "kind twice": (outer, inner[:-1] + ', "kind": "test"}'),
        "an array twice": (f'{outer[:-1]}, "negative/0": {entry}}}', inner),
        "dtype twice": (outer.replace('"dtype"', '"dtype": "F64", "dtype"', 1), inner),
        "a long number": (outer, inner.replace("0.3", "1e400", 1)),
        "NaN": (outer, inner.replace("0.3", "NaN", 1)),
        "5,000 digits": (outer, inner.replace('"format": 4', f'"format": {"9" * 5_000}', 1)),
        "no ASCII": (outer, inner.replace("held out", "hé", 1)),
        "deep": (outer, '{"a":' * 100_000 + "1" + "}" * 100_000),
        "metadata twice": (f'{outer[:-1]}, "__metadata__": {{}}}}', inner),
    }
    for name, (table, text) in cases.items():
        assert (table, text) != (outer, inner), name
    wrong = [
        name
        for name, (table, text) in cases.items()
        if loaded(path, content_of(table, text, data))[0]
    ]
    assert not wrong


def test_what_save_refuses_is_what_load_refuses(tmp_path):
    """Nothing is written that would not be loaded again."""
    scores = np.array([0.5])
    cells, labels = ((scores,), (scores,)), np.array([0, 1])
    both = ((scores, scores), (scores, scores))
    for obj in (
        rk.Calibration(cells, np.array([1, 1]), None, higher_is_positive=True),
        rk.Calibration(cells, np.array([np.nan, 1.0]), None, higher_is_positive=True),
        rk.Calibration(both, labels, np.array(["b", "a"]), higher_is_positive=True),
        rk.Calibration(both, labels, np.array(["a", "a"]), higher_is_positive=True),
        rk.Calibration(((scores[:0],), (scores[:0],)), labels, None, higher_is_positive=True),
        rk.Calibration(cells, labels, None, higher_is_positive=True, labelled=False),
        rk.Calibration(cells, labels, None, higher_is_positive="false"),
        rk.Calibration(cells, labels, None, higher_is_positive=True, origin="heaven"),
        rk.Calibration(cells, labels, None, higher_is_positive=True, provenance=Provenance(5)),
    ):
        with pytest.raises(rk.InputError, match="cannot be saved"):
            rk.save(obj, tmp_path / "x.rk")
    assert not list(tmp_path.iterdir())


def test_wide_arrays_of_short_names_are_stored_as_narrow_ones(tmp_path):
    """Names in an array for very long texts come back the same, and take no more than they need."""
    groups = np.array(["a", "b"], dtype="<U5000")[np.arange(80) % 2]
    cal = rk.Calibration(
        some_calibration(groups=groups.astype("<U1")).cells,
        np.array(["no", "yes"], dtype="<U9999"),
        groups[:2],
        higher_is_positive=True,
    )
    rk.save(cal, tmp_path / "cal.rk")
    again = rk.load(tmp_path / "cal.rk")
    assert again == cal
    assert (again.groups.dtype, again.classes.dtype) == ("<U1", "<U3")
    header, facts, data = parts_of(tmp_path / "cal.rk")
    facts["groups"]["dtype"] = "<U5000"  # as earlier versions wrote it
    (tmp_path / "cal.rk").write_bytes(content_of(header, json.dumps(facts), data))
    assert rk.load(tmp_path / "cal.rk").groups.dtype == "<U1"


# Certificates


@pytest.mark.parametrize("grouped_parts", ["test"], indirect=True)
def test_a_certificate_may_be_in_other_words(tmp_path, grouped_parts):
    """Files of versions that worded a certificate differently load, and show our own words."""
    header, facts, data = copy.deepcopy(grouped_parts)
    certificate = facts["tests"][0]["certificate"]
    certificate["guarantee"]["promise"] = "No error, ever."
    certificate["cells"][0]["rule"] = "always positive"
    certificate["version"] = "0.0.1"
    cell = certificate["cells"][0]
    cell["realised_rate"]["law"] = cell["realised_rate"].pop("distribution")
    cell["realised_rate"]["mean"] *= 1 + 1e-12  # another SciPy
    del certificate["promised"], cell["contradicted"], cell["condition"]
    (tmp_path / "test.rk").write_bytes(content_of(header, json.dumps(facts), data))
    assert "No error, ever." not in str(rk.load(tmp_path / "test.rk").certificate)


def test_very_many_cells_are_left_out(tmp_path, monkeypatch):
    """Of very many groups the rest of the certificate is stored, and the file loads the same."""
    cal = some_calibration(groups=np.arange(80) // 2 % 8)
    test = cal.control_both(0.4, 0.4, method=rk.Conformal())
    rk.save(test, tmp_path / "long.rk")
    monkeypatch.setattr(stored_facts, "MOST_CELLS", 7)
    rk.save(test, tmp_path / "short.rk")
    assert all(
        "cells" not in one["certificate"] for one in parts_of(tmp_path / "short.rk")[1]["tests"]
    )
    monkeypatch.undo()
    assert repr(rk.load(tmp_path / "short.rk")) == repr(rk.load(tmp_path / "long.rk"))


# The schema


def test_the_published_schema_is_the_one_that_is_checked():
    """The published schema is made from what load checks by; see `_schema.published`."""
    text = SCHEMA_FILE.read_text(encoding="utf-8")
    assert text == published(), "python -c 'from ratekeeper.storage._schema import published; ...'"


def test_every_file_follows_the_published_schema(tmp_path):
    """A reader of JSON Schema that knows nothing of ratekeeper accepts every file that we write."""
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    path, paths = tmp_path / "stored.rk", []
    for i, obj in enumerate(every_kind()):
        paths.append(tmp_path / f"{i}.rk")
        rk.save(obj, paths[-1])
    for path in (*paths, *FORMATS):
        content = path.read_bytes()
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        assert follows(header, schema, schema), path
        inner = schema["properties"]["__metadata__"]["properties"]["ratekeeper"]["contentSchema"]
        facts = json.loads(header["__metadata__"]["ratekeeper"])
        assert follows(facts, inner, schema), path
        assert schema_error(facts, "facts") is None
        assert not follows({**facts, "more": 1}, inner, schema)
        assert not follows({**header, "other": {}}, schema, schema)


def follows(value, schema, whole):
    """Check by the text of the specification: keywords apply to values of their type only."""
    if "$ref" in schema:
        return follows(value, whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "integer": int,
        "number": int | float,
        "null": type(None),
    }
    types = schema.get("type", [*kinds])
    types = [types] if isinstance(types, str) else types
    if isinstance(value, bool):
        fits = "boolean" in types
    else:
        fits = any(isinstance(value, kinds[one]) for one in types if one != "boolean")
    fits &= "enum" not in schema or value in schema["enum"]
    fits &= "const" not in schema or value == schema["const"]
    fits &= "not" not in schema or not follows(value, schema["not"], whole)
    fits &= "anyOf" not in schema or any(follows(value, one, whole) for one in schema["anyOf"])
    if isinstance(value, dict):
        fits &= all(name in value for name in schema.get("required", ()))
        for name, item in value.items():
            known = schema.get("properties", {})
            inner = [known[name]] if name in known else []
            patterns = schema.get("patternProperties", {}).items()
            inner += [one for pattern, one in patterns if re.search(pattern, name)]
            if not inner:
                inner = [schema.get("additionalProperties", True)]
            fits &= follows(name, schema.get("propertyNames", {}), whole)
            fits &= all(one is True or (one and follows(item, one, whole)) for one in inner)
    if isinstance(value, list):
        fits &= schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 10**9)
        fits &= all(follows(item, schema.get("items", {}), whole) for item in value)
    if isinstance(value, str):
        fits &= len(value) <= schema.get("maxLength", 10**9)
        fits &= re.search(schema.get("pattern", ""), value) is not None
    if isinstance(value, int | float) and not isinstance(value, bool):
        fits &= schema.get("minimum", value) <= value <= schema.get("maximum", value)
        fits &= schema.get("exclusiveMinimum", -np.inf) < value
        fits &= value < schema.get("exclusiveMaximum", np.inf)
    return bool(fits)


def test_no_keyword_of_the_schema_is_overlooked():
    """Every keyword of the schema is one that load checks, or one that only explains."""
    checked = {
        "$ref", "type", "enum", "const", "not", "anyOf", "required", "properties",
        "patternProperties", "additionalProperties", "propertyNames", "items", "minItems",
        "maxItems", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
        "exclusiveMaximum", "contentSchema",
    }  # fmt: skip
    told = {"$schema", "$defs", "title", "description", "contentMediaType"}
    used = set()

    def look(schema):
        used.update(schema)
        for name in ("properties", "patternProperties", "$defs"):
            for inner in schema.get(name, {}).values():
                look(inner)
        for name in ("items", "not", "additionalProperties", "propertyNames", "contentSchema"):
            if schema.get(name):
                look(schema[name])
        for inner in schema.get("anyOf", ()):
            look(inner)

    look(SCHEMA)
    assert used <= checked | told


def test_the_schema_knows_every_method():
    """The schema has each method with each of its parameters."""
    known = {
        one["properties"]["name"]["const"]: set(one["properties"]["parameters"]["properties"])
        for one in SCHEMA["$defs"]["method"]["anyOf"]
    }
    known["high-probability"].remove("random_state")  # which only earlier formats had
    assert known == {
        name: {field.name for field in fields(kind)} for name, kind in methods.METHODS.items()
    }


# The page


def test_the_page_states_the_limits_that_are_tested():
    """The numbers of docs/guides/strangers.md are those of the code."""
    page = " ".join((ROOT / "docs" / "guides" / "strangers.md").read_text(encoding="utf-8").split())
    assert f"at most {MOST_REPLICATES:,} are accepted" in page
    assert f"at most {LONGEST_NAME} characters" in page
    assert f"at most {PER_HEADER_BYTE} times the length of the header" in page
    assert f"and {PER_SCORE_BYTE} times that of the scores" in page
