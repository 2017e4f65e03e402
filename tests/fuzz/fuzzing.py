"""What all fuzz targets share: how files are spoiled, and how much memory is allowed.

A target is a test with the decorator `target`. In the tests it tries the same examples each time.
By hand it goes on for as long as you like, with new examples:

    RATEKEEPER_FUZZ_SECONDS=3600 python -m pytest -n0 tests/fuzz/test_fuzz_csv.py

With ``pip install atheris`` the same targets are guided by the lines that they reach:

    python tests/fuzz/guided.py test_fuzz_csv -max_total_time=3600
"""

from __future__ import annotations

import functools
import os
import random
import re
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings, strategies as st

ALLOWED = 200_000_000  # bytes of memory, and so many for each byte of input:
ALLOWED_PER_BYTE = 20
PATIENCE = 60  # seconds after which an example counts as hanging
_SECONDS = float(os.environ.get("RATEKEEPER_FUZZ_SECONDS", "0"))

# What breaks readers: ends of the ranges of numbers, and texts that mean something to somebody.
_NUMBERS = (
    0,
    1,
    2,
    4,
    8,
    127,
    128,
    255,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**53 + 1,
    2**63,
    2**64 - 1,
)
_NUMBER = st.sampled_from(_NUMBERS).flatmap(
    lambda n: st.sampled_from([n.to_bytes(k, "little") for k in (1, 2, 4, 8) if n < 256**k])
)
TOKENS = (
    b"", b"\0", b"\n", b"\r", b",", b'"', b"'", b"\\", b"nan", b"inf", b"-inf", b"1e999", b"-0",
    b"null", b"true", b"[]", b"{}", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1b[2J", b"\xe2\x80\xae",
    b"\x80", b"9" * 400, b"x" * 5000, b"0x1p-1074", b"\xed\xa0\x80",
)  # fmt: skip


def target(*strategies: st.SearchStrategy, examples: int):
    """Make a test of a function of one drawn value for each strategy.

    The quick profile of Hypothesis takes a tenth of the examples.
    """
    share = 10 if settings.default.max_examples < 1_000 else 1

    def decorate(check):
        test = settings(
            max_examples=max(1, examples // share),
            deadline=None,
            derandomize=not _SECONDS,
            database=None,
            suppress_health_check=list(HealthCheck),
        )(given(*strategies)(check))

        @functools.wraps(check)
        def run():
            test()
            end = time.monotonic() + _SECONDS
            while time.monotonic() < end:
                # From the system: what tests get from `secrets` is the same in every run.
                seed(random.SystemRandom().getrandbits(64))(test)()

        del run.__wrapped__  # or pytest looks for fixtures named like the drawn values
        run.one_input = test.hypothesis.fuzz_one_input
        return pytest.mark.hypothesis(run)  # as Hypothesis marks its own tests

    return decorate


@st.composite
def spoiled(draw, contents, tokens=TOKENS, most=4):
    """Draw one of some byte strings, with up to so many pieces cut, repeated or replaced."""
    data = draw(st.sampled_from(contents))
    piece = st.one_of(st.sampled_from(tokens), _NUMBER, st.binary(max_size=8))
    for _ in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, len(data)))
        stop = min(start + draw(st.sampled_from((0, 1, 1, 2, 4, 8, 64, 10**9))), len(data))
        how = draw(st.sampled_from(("replace", "insert", "overwrite", "repeat")))
        new = data[start:stop] * 2 if how == "repeat" else draw(piece)
        if how == "insert":
            stop = start
        elif how == "overwrite":
            stop = min(start + len(new), len(data))
        data = data[:start] + new + data[stop:]
    return data


@contextmanager
def bounded(n_bytes: int):
    """Fail if what is done within takes too much memory for so long an input, or too long."""

    def hang(*_):
        raise AssertionError(f"no end after {PATIENCE} seconds")

    before = _peak(anew=True)
    earlier = signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)
    grown, allowed = _peak() - before, ALLOWED + ALLOWED_PER_BYTE * n_bytes
    assert grown <= allowed, f"{grown:,} bytes of memory for an input of {n_bytes:,}"


def _peak(*, anew=False) -> int:
    """Return the most memory of this process since it was last counted anew, in bytes."""
    if sys.platform != "linux":
        return 0
    if anew:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])
