"""Random bits in tests are the same in every run, whichever tests run beside them."""

from __future__ import annotations

import secrets
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from entropy import stream

import ratekeeper as rk

WHEN_IMPORTED = secrets.randbits(128)
HERE = Path(__file__).parents[1]  # where conftest.py is


def first_bits(name):
    """Return the first bits that this file gets under a name."""
    return stream(name, "test_entropy").getrandbits(128)


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
    drawn = stream(request.node.nodeid, "ratekeeper")
    expected = [drawn.getrandbits(128) for _ in range(10)]
    secrets.randbits(128)  # what others draw changes nothing
    one, other = (rk.calibrate([1, 2, 3, 4], [0, 0, 1, 1]).draw for _ in range(2))
    assert one != other
    assert one.origin == "drawn"
    assert {one.entropy, other.entropy} <= set(expected)


def test_examples_of_docstrings_and_libraries_that_draw_change_nothing(tmp_path):
    """An example gets its own bits, and a file those it has alone, whatever is imported first."""
    conftest = (HERE / "conftest.py").read_text(encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text(conftest, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests shown\n", encoding="utf-8")
    (tmp_path / "library.py").write_text("import secrets\nsecrets.randbits(64)\n", encoding="utf-8")
    draws = "import secrets\nimport library\nBITS = secrets.randbits(64)\n"
    for name in ("test_one", "test_two"):
        says = f"def test_bits():\n    print('{name}', BITS, secrets.randbits(64))\n"
        (tmp_path / "tests" / f"{name}.py").write_text(draws + says, encoding="utf-8")
    (tmp_path / "shown").mkdir()
    example = '"""\n>>> import secrets\n>>> print("example", secrets.randbits(64))\nno\n"""\n'
    (tmp_path / "shown" / "example.py").write_text(example, encoding="utf-8")

    def printed(*paths):
        command = [sys.executable, "-m", "pytest", "-qrP", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, "--doctest-modules", "-o", f"pythonpath={HERE}", *paths],
            cwd=tmp_path,
            text=True,
            capture_output=True,
            check=False,
        )
        lines = [line.strip() for line in done.stdout.splitlines()]
        return [line for line in lines if line.startswith(("test_one ", "test_two ", "example "))]

    whole = printed()
    assert [line.split()[0] for line in whole] == ["example", "test_one", "test_two"]
    assert printed("tests/test_two.py") == whole[2:]
    assert printed("tests/test_one.py", "shown") == whole[:2]
