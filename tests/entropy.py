"""Random bits that are the same in every run, in place of those of the operating system.

Draws, and generators without a seed, differ from run to run by design, so that a test which leans
on what is drawn could pass in one run and fail in the next. Here all bits are a function of the
name of the file, fixture or test that asks, whichever tests run beside it.
"""

from __future__ import annotations

import random
import secrets
import sys
import zlib


class Entropy:
    """What `secrets.randbits` is while tests run, in Python and in NumPy."""

    def __init__(self):
        self.begin("")

    @classmethod
    def in_place_of_the_system(cls):
        """Take its place; NumPy must not be loaded yet, since it keeps the function it finds."""
        assert "numpy" not in sys.modules, "a plugin of pytest loads NumPy before conftest.py"
        entropy = cls()
        secrets.randbits = entropy.bits
        return entropy

    def begin(self, name):
        """Begin the bits of this name."""
        self._drawn = random.Random(name)  # noqa: S311 - no secret
        if "numpy" in sys.modules:  # its shared generator, which some estimators use
            sys.modules["numpy"].random.seed(zlib.crc32(name.encode()))

    def bits(self, count):
        """Return so many random bits, as a whole number."""
        return self._drawn.getrandbits(count)
