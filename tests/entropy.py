"""Random bits that are the same in every run, in place of those of the operating system.

Draws, and generators without a seed, differ from run to run by design, so that a test which leans
on what is drawn could pass in one run and fail in the next. Here all bits are a function of the
name of the file, fixture or test that asks, whichever tests run beside it.
"""

from __future__ import annotations

import inspect
import random
import secrets
import sys
import zlib

import pytest


class Entropy:
    """What `secrets.randbits` is while tests run, in Python and in NumPy; a plugin of pytest."""

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
        self._name, self._streams = name, {}
        if "numpy" in sys.modules:  # its shared generator, which some estimators use
            sys.modules["numpy"].random.seed(zlib.crc32(name.encode()))

    def bits(self, count):
        """Return so many random bits, as a whole number.

        Every package that asks has a stream of its own: whichever file is the first to import a
        library would otherwise lose the bits that the library draws while it is loaded.
        """
        package = inspect.currentframe().f_back.f_globals["__name__"].partition(".")[0]
        if package not in self._streams:
            self._streams[package] = stream(self._name, package)
        return self._streams[package].getrandbits(count)

    def pytest_collectstart(self, collector):
        """Begin anew where a file is imported: some calibrate while they are."""
        self.begin(collector.nodeid)

    @pytest.hookimpl(tryfirst=True)  # before the fixture is made
    def pytest_fixture_setup(self, fixturedef, request):
        """Begin anew for every fixture: what many tests share is made by whichever is first."""
        self.begin(f"{fixturedef.argname} {request.node.nodeid} {request.param_index}")

    @pytest.hookimpl(tryfirst=True)  # before the test is called
    def pytest_runtest_call(self, item):
        """Begin anew for the test itself, or the example of a docstring."""
        self.begin(item.nodeid)


def stream(name, package):
    """Return the generator of the bits that a package gets under a name."""
    return random.Random(f"{name} {package}")  # noqa: S311 - no secret
