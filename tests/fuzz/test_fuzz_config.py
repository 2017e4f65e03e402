"""Any file of settings and any environment is used as it says, or refused with one message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_runs import GOOD, HOSTILE, OPTIONS, check, folder_of_files
from fuzzing import spoiled, target
from hypothesis import strategies as st

CHEAP = [name for name in GOOD if name not in ("compare", "demo", "report")]
KEYS = sorted(
    {max(one.opts, key=len).lstrip("-") for options in OPTIONS.values() for one in options}
)
WHOLE = b"""# mine
[plan]
fnr = "5%"
delta = 0.05
n = 100
[calibrate]
score = 'risk'
on-invalid = "skip"
parameter = ["a=1", "b=2"]
lower-is-positive = false
"""
VALUES = st.recursive(
    st.one_of(
        st.sampled_from([text for text in HOSTILE if text.isprintable()]).map(json.dumps),
        st.sampled_from(("true", "false", "nan", "-inf", "1e400", "0x_1", "1979-05-27", "9" * 400)),
        st.sampled_from(
            ("'''a\nb'''", '"\\u0000"', '"\\ud800"', "07:32:00", "''", "2024-01-01T00:00:00Z")
        ),
        st.integers(-(10**30), 10**30).map(str),
        st.floats().map(repr),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda values: f"[{', '.join(values)}]"),
        inner.map(lambda value: f"{{a = {value}}}"),
    ),
    max_leaves=4,
)
NAME = st.one_of(st.sampled_from([*GOOD, "plam", "", "a b", "config"]), st.text(max_size=5))
KEY = st.one_of(st.sampled_from([*KEYS, "scor", "config", "help"]), st.text(max_size=5))


@pytest.fixture(autouse=True, scope="module")
def files():
    """Stand in a folder of good files."""
    with folder_of_files():
        yield


@st.composite
def tables(draw):
    """Draw tables with right and wrong names, keys and values."""
    text = ""
    for _ in range(draw(st.integers(1, 3))):
        name = draw(NAME)
        text += f"[{name if name in GOOD else json.dumps(name)}]\n"
        # Mostly of this command, so that values are reached.
        own = [max(one.opts, key=len).lstrip("-") for one in OPTIONS.get(name, [])] or KEYS
        for key in draw(st.lists(st.one_of(st.sampled_from(own), KEY), max_size=3)):
            text += f"{key if key in KEYS else json.dumps(key)} = {draw(VALUES)}\n"
    return text.encode("utf-8", "surrogatepass")


@target(st.sampled_from(CHEAP), st.one_of(tables(), spoiled([WHOLE])), examples=250)
def test_no_file_of_settings_is_a_bug(command, content):
    """Whatever stands in the file, the command runs or refuses it in one message."""
    Path("mine.toml").write_bytes(content)
    check([command, *GOOD[command], "--config", "mine.toml"])


@target(
    st.sampled_from(CHEAP),
    st.lists(st.tuples(KEY, st.one_of(st.sampled_from(HOSTILE), st.text(max_size=9))), max_size=3),
    examples=150,
)
def test_no_environment_is_a_bug(command, given):
    """Whatever variables are set, the command runs, warns of strange names, or refuses values."""
    env = {
        f"RATEKEEPER_{command}_{key}".upper().replace("-", "_"): value
        for key, value in given
        if _can_be_set(key) and _can_be_set(value) and "=" not in key
    }
    check([command, *GOOD[command]], env)


def _can_be_set(text):
    """Return whether a system takes it, of which Python says in advance."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return "\0" not in text
