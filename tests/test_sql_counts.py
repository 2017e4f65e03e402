"""Scores that are counted in SQLite and DuckDB, and what becomes of the counts."""

from __future__ import annotations

import numpy as np
import pytest
from warehouses import DuckDB, SQLite, check_equality, check_odd_scores

WAREHOUSES = [SQLite, DuckDB]


@pytest.fixture(params=WAREHOUSES, ids=lambda kind: kind.dialect)
def warehouse(request):
    """Return an empty database."""
    if request.param is DuckDB:
        pytest.importorskip("duckdb")
        pytest.importorskip("pyarrow")
    return request.param()


@pytest.mark.parametrize("sign", [1, -1])
def test_a_database_counts_and_decides_as_one_machine(warehouse, sign):
    """In 100 random cases with ties, infinities and scores out of range, row for row."""
    check_equality(warehouse, seed=1, sign=sign)


def test_single_precision_is_compared_as_it_is(warehouse):
    """A column of float32 is counted and decided without rounding a threshold."""
    check_equality(warehouse, "float", seed=2)


def test_no_score_breaks_a_query(warehouse):
    """The smallest and the largest doubles, infinities, NaN and gaps, in every range."""
    check_odd_scores(warehouse, has_nan=warehouse.dialect != "sqlite")
