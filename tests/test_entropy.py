"""Random bits in tests are the same in every run, whichever tests run beside them."""

from __future__ import annotations

import random
import secrets

import numpy as np
import pytest

import ratekeeper as rk

WHEN_IMPORTED = secrets.randbits(128)


def first_bits(name):
    """Return the first bits of a name."""
    return random.Random(name).getrandbits(128)  # noqa: S311 - no secret


@pytest.fixture(scope="module")
def shared():
    """Return bits that are drawn once for all tests of this file."""
    return secrets.randbits(128)


def test_bits_are_those_of_the_name(request, shared):
    """Of the test, of the file that is imported, or of the fixture: any test may be its first."""
    file = request.node.parent.nodeid
    assert secrets.randbits(128) == first_bits(request.node.nodeid)
    assert first_bits(file) == WHEN_IMPORTED
    assert shared == first_bits(f"shared {file} 0")


def test_generators_without_a_seed_are_seeded_with_them(request):
    """NumPy found this source of bits when it was loaded, and not the system's."""
    assert np.random.SeedSequence().entropy == first_bits(request.node.nodeid)


def test_calibrations_draw_from_them(request):
    """Draws differ, and no user chose them, but they are the same in every run."""
    drawn = random.Random(request.node.nodeid)  # noqa: S311 - no secret
    expected = [drawn.getrandbits(128) for _ in range(10)]
    one, other = (rk.calibrate([1, 2, 3, 4], [0, 0, 1, 1]).draw for _ in range(2))
    assert one != other
    assert one.origin == "drawn"
    assert {one.entropy, other.entropy} <= set(expected)
