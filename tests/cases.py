"""A table of cases as one test that runs every row and reports every failure.

``each`` is written where ``pytest.mark.parametrize`` would stand, with the same names and rows, and
can be stacked like it. Each row gets a ``tmp_path`` of its own, and what it patches is undone. A
page, a rival or a command is no row: what takes long, or is looked up by its name, stays a test.
"""

from __future__ import annotations

import inspect
import itertools
import types
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.mark import ParameterSet
from sklearn.utils.estimator_checks import check_estimator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def each(names: str | list[str] | tuple[str, ...], rows: Iterable[Any]) -> Callable:
    """Return a decorator by which a test runs for every row, and fails with all that fail."""
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = list(rows)
    table = [row if len(names) > 1 else (row,) for row in rows]
    assert table, "a table of cases has rows"
    assert not any(isinstance(row, ParameterSet) for row in rows), "rows are plain: no pytest.param"

    def decorate(test: Callable) -> Callable:
        body = getattr(test, "body_of_case", test)
        tables = [*getattr(test, "tables_of_cases", []), (names, table)]
        needed = [name for names, _ in tables for name in names]
        asked = [p for p in inspect.signature(body).parameters.values() if p.name not in needed]

        def run(**fixtures: Any) -> None:
            _run_all(body, tables, fixtures)

        run.__name__, run.__doc__, run.__module__ = body.__name__, body.__doc__, body.__module__
        run.__signature__ = inspect.Signature(asked)
        run.pytestmark = getattr(test, "pytestmark", [])
        run.body_of_case, run.tables_of_cases = body, tables
        return run

    return decorate


def check_with_scikit_learn(estimator: Any, expected_to_fail: dict[str, str] | None = None) -> None:
    """Run all of scikit-learn's checks; raise those that fail, and those that should but do not."""
    expected = expected_to_fail or {}
    found = check_estimator(estimator, expected_failed_checks=expected, on_skip=None, on_fail=None)
    failures = []
    for one in found:
        if one["status"] == "failed":
            one["exception"].add_note(one["check_name"])
            failures.append(one["exception"])
        elif one["status"] == "passed" and one["check_name"] in expected:
            failures.append(AssertionError(f"{one['check_name']} was expected to fail"))
    assert len(found) > 40, "scikit-learn has more checks than that"
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {len(found)} checks of {estimator}", failures)


def _run_all(body: Callable, tables: list, fixtures: dict[str, Any]) -> None:
    """Run the body for every combination of rows; raise all failures together."""
    # The lowest decorator varies slowest, as pytest has it.
    combinations = list(itertools.product(*(rows for _, rows in tables)))
    failures, skipped = [], []
    for number, rows in enumerate(combinations):
        values = {
            name: value
            for (names, _), row in zip(tables, rows, strict=True)
            for name, value in zip(names, row, strict=True)
        }
        try:
            with ExitStack() as undone:
                body(**values, **_fresh(fixtures, number, undone))
        except pytest.skip.Exception as why:
            skipped.append(why)
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - all are reported
            failure.add_note(f"case {number}: {_text(values)}")
            failures.append(failure)
    if failures:
        message = f"{len(failures)} of {len(combinations)} cases of {body.__name__}"
        raise BaseExceptionGroup(message, failures)
    if skipped:
        pytest.skip(f"{len(skipped)} of {len(combinations)} cases skipped: {skipped[0]}")


def _fresh(fixtures: dict[str, Any], number: int, undone: ExitStack) -> dict[str, Any]:
    """Return the fixtures, those with a memory as if no case had been before."""
    own = dict(fixtures)
    if "tmp_path" in own:
        own["tmp_path"] = own["tmp_path"] / str(number)
        own["tmp_path"].mkdir()
    if "monkeypatch" in own:
        own["monkeypatch"] = undone.enter_context(own["monkeypatch"].context())
    for name in {"capsys", "capfd"} & own.keys():
        own[name].readouterr()
    return own


def _text(values: dict[str, Any]) -> str:
    """Return a row as one would write it, in one line."""
    return ", ".join(f"{name}={_value_text(value)}" for name, value in values.items())


def _value_text(value: object) -> str:
    """Return a value, or its name; long ones are cut."""
    if isinstance(value, type | types.FunctionType):
        return value.__name__
    text = " ".join(repr(value).split())
    return text if len(text) <= 100 else text[:97] + "..."
