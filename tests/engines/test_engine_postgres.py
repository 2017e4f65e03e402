"""Counting, deciding and evaluating in a PostgreSQL server that really runs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("psycopg")

import ratekeeper as rk
from postgres_server import Postgres, server
from ratekeeper.batch import evaluate_counts, refine_counts
from ratekeeper.sql import calibration_sql, decision_sql, evaluation_sql, p_value_sql
from warehouses import check_equality, check_odd_scores, counted_calibration, same_cells


@pytest.fixture(scope="module")
def postgres():
    """Run a server for the tests of this file."""
    with server() as home:
        found = Postgres(home)
        yield found
        found.connection.close()


@pytest.mark.parametrize(("kind", "sign"), [("double", 1), ("double", -1), ("float", 1)])
def test_postgres_counts_and_decides_as_one_machine(postgres, kind, sign):
    """In 100 random cases with ties and infinities, row for row; REAL is not rounded either."""
    check_equality(postgres, kind, seed=3 if sign > 0 else 4, sign=sign)


def test_no_score_breaks_a_query(postgres):
    """PostgreSQL refuses products that vanish and NaN as a whole number; no query asks for them."""
    check_odd_scores(postgres)
