"""A table of cases is one test that hides no failure."""

from __future__ import annotations

import os

import pytest
from cases import each


def test_every_failing_case_is_named_and_counted():
    """All rows run; each that fails is in the report, with its values."""
    ran = []

    @each("n", [1, 2, 3])
    @each("a, b", [(0, "x"), (1, "y")])
    def table(n, a, b):
        ran.append((n, a, b))
        assert (n, a) not in {(2, 0), (3, 1)}, "odd one out"

    with pytest.raises(BaseExceptionGroup, match="2 of 6 cases of table") as found:
        table()
    assert sorted(ran) == sorted((n, a, b) for n in (1, 2, 3) for a, b in [(0, "x"), (1, "y")])
    notes = [failure.__notes__ for failure in found.value.exceptions]
    assert notes == [["case 1: a=0, b='x', n=2"], ["case 5: a=1, b='y', n=3"]]


def test_each_case_has_its_own_folder_and_patches(tmp_path, monkeypatch):
    """Nothing that a case wrote or patched is there for the next."""
    monkeypatch.setenv("CASE", "none")
    seen = []

    @each("n", range(3))
    def table(n, tmp_path, monkeypatch):
        seen.append((os.environ["CASE"], list(tmp_path.iterdir())))
        (tmp_path / "made").touch()
        monkeypatch.setenv("CASE", str(n))

    table(tmp_path=tmp_path, monkeypatch=monkeypatch)
    assert seen == [("none", [])] * 3


def test_skipped_cases_are_told():
    """A skipped row is told with its reason, once all others have run, and hides no failure."""
    ran = []

    @each("n", [0, 1])
    def some(n):
        if n == 0:
            pytest.skip("not here")
        ran.append(n)

    @each("n", [0, 1])
    def none(n):
        pytest.skip("not here")

    @each("n", [0, 1])
    def wrong(n):
        if n == 0:
            pytest.skip("not here")
        pytest.fail("wrong")

    for table, told in ((some, "1 of 2 cases skipped: not here"), (none, "2 of 2 cases skipped")):
        with pytest.raises(pytest.skip.Exception, match=told):
            table()
    assert ran == [1]
    with pytest.raises(BaseExceptionGroup, match="1 of 2"):
        wrong()
