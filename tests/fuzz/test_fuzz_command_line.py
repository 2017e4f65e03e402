"""Any command with any options ends with a documented code, one message and no traceback."""

from __future__ import annotations

import pytest
from command_runs import GOOD, HOSTILE, OPTIONS, check, folder_of_files
from fuzzing import target
from hypothesis import strategies as st

EVERY = [option for options in OPTIONS.values() for option in options]
VALUE = st.one_of(
    st.sampled_from(HOSTILE),
    st.integers(-(10**40), 10**40).map(str),
    st.floats().map(repr),
    st.text(max_size=12).filter(lambda text: not text.startswith(("/", "."))),
)


@pytest.fixture(autouse=True, scope="module")
def files():
    """Stand in a folder of good files."""
    with folder_of_files():
        yield


def _choices(option):
    values = getattr(option.type, "choices", None)
    return st.sampled_from(list(values)) if values else st.nothing()


@st.composite
def lines(draw):
    """Draw a good command line with up to four things changed."""
    # Those that take a second come rarely.
    name = draw(st.sampled_from([*GOOD, *4 * [n for n in GOOD if n not in ("compare", "demo")]]))
    words = list(GOOD[name])
    for _ in range(draw(st.integers(1, 4))):
        how = draw(st.sampled_from(("change", "option", "option", "foreign", "drop", "insert")))
        place = draw(st.integers(0, max(0, len(words) - 1)))
        if how == "change" and words:
            words[place] = draw(VALUE)
        elif how in ("option", "foreign"):
            option = draw(st.sampled_from(OPTIONS[name] if how == "option" else EVERY))
            words.append(draw(st.sampled_from(option.opts)))
            if not option.is_flag:
                words.append(draw(st.one_of(VALUE, _choices(option))))
        elif how == "drop":
            del words[place : place + 1]
        else:
            words.insert(place, draw(VALUE))
    return [name, *words]


@target(lines(), examples=400)
def test_no_command_line_is_a_bug(arguments):
    """Exit codes are the documented ones, good files stay, and an error leaves no output."""
    check(arguments)
