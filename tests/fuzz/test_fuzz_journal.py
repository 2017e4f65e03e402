"""Journals of comparisons, spoiled: they are refused by line or taken up, and nothing else."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path

import numpy as np
from fuzzing import bounded, spoiled, target
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier

import ratekeeper as rk

Y = np.tile([0, 1], 10)
X = np.arange(20.0)[:, None]


def compare(path):
    systems = {"low": DummyClassifier(strategy="prior"), "up": DummyClassifier(strategy="uniform")}
    return rk.compare(
        X, Y, control="fnr", alpha=0.1, systems=systems, repeats=2, n_jobs=1, checkpoint=path
    )


def whole_journal():
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "trials.jsonl")
        compare(path)
        return path.read_bytes()


JOURNAL = whole_journal()
HEADER, *LINES = JOURNAL.splitlines(keepends=True)
REFUSED = LINES[0].replace(b'"refusal": null', b'"refusal": "needs 9, has 8"')
VALUES = st.one_of(
    st.sampled_from(
        [None, True, False, "", "low", "x" * 5000, "\ud800", "\x1b[2J", "a|b\n<c>", [], {}, [[]]]
    ),
    st.sampled_from([0, 1, 3, 6, 2**53, 2**53 + 1, 2**64, 10**400, -1, -(10**4000)]),
    st.sampled_from([0.0, -0.0, 0.5, 1e-320, 1e9, 1e10, 1e308, math.nan, math.inf, -math.inf]),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
)
LIKELY = {
    int: st.integers(0, 7),
    float: st.floats(0, 1e9),
    str: st.text(max_size=2000),
    type(None): st.one_of(st.text(max_size=20), st.integers(0, 9)),
}


@st.composite
def changed(draw):
    """Draw a journal of lines that are JSON, with some fields changed, added, doubled or gone."""
    lines = []
    unique = draw(st.integers(0, 3)) > 0
    for line in draw(st.lists(st.sampled_from([*LINES, REFUSED]), max_size=8, unique=unique)):
        pairs = list(json.loads(line).items())
        for _ in range(draw(st.sampled_from((0, 0, 0, 1, 1, 3)))):
            place = draw(st.integers(0, len(pairs) - 1)) if pairs else 0
            how = draw(
                st.sampled_from(("value", "value", "value", "value", "gone", "twice", "new"))
            )
            if how == "value" and pairs:
                field, value = pairs[place]
                likely = LIKELY.get(type(value), VALUES)
                pairs[place] = field, draw(st.one_of(VALUES, likely, likely))
            elif how == "gone" and pairs:
                del pairs[place]
            else:
                name = pairs[place][0] if how == "twice" and pairs else draw(st.text(max_size=9))
                pairs.insert(place, (name, draw(VALUES)))
        fields = ", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in pairs)
        lines.append(f"{{{fields}}}")
    header = HEADER
    if not draw(st.integers(0, 9)):
        about = json.loads(HEADER)
        about[draw(st.sampled_from([*about, "more"]))] = draw(VALUES)
        header = json.dumps(about).encode() + b"\n"
    tail = draw(st.sampled_from((b"", b"", b"", b"{", b"\0" * 9, LINES[0][:-1], b"\n")))
    return header + b"".join(line.encode() + b"\n" for line in lines) + tail


@target(st.one_of(changed(), changed(), spoiled([JOURNAL, HEADER + REFUSED], most=2)), examples=350)
def test_journals(content):
    """A journal is refused and left as it is, or taken up; then it repeats itself and prints."""
    with tempfile.TemporaryDirectory() as name, bounded(len(content)):
        path = Path(name, "trials.jsonl")
        path.write_bytes(content)
        try:
            result = compare(path)
        except rk.InputError:
            assert path.read_bytes() == content
            return
        assert len(result.trials) == 4
        assert compare(path).trials == result.trials
        assert "\x1b" not in repr(result)
        result.save(Path(name, "out"))
