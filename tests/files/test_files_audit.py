"""Audits of files: the same numbers as of arrays, whatever the format and the pieces."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from row_files import some_rows, write_rows

import ratekeeper as rk
from ratekeeper.files import evaluate_file

NAMES = {"score": "risk", "label": "ill"}


def some_test(**options):
    scores, labels, _ = some_rows(seed=4)
    return rk.calibrate(scores, labels, **options).control("fnr", 0.1, method=rk.Conformal())


def columns():
    scores, labels, places = some_rows(seed=8)
    years = np.arange(scores.size) // 2 % 3 + 2016
    return {"risk": scores, "ill": labels, "site": places, "year": years}


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "feather"])
def test_files_give_the_audit_of_arrays(tmp_path, form):
    """Streamed in pieces, a file has the audit that its columns have."""
    given = columns()
    path = write_rows(tmp_path, form, given)
    scores, labels, groups = some_rows(seed=4)
    cal = rk.calibrate(scores, labels)
    by = {name: given[name] for name in ("site", "year")}
    for test in (some_test(), cal.control_both(0.1, 0.1, method=rk.Conformal())):
        found = evaluate_file(test, path, **NAMES, by=["site", "year"], crossed=True)
        expected = test.evaluate(given["risk"], given["ill"], by=by, crossed=True)
        assert found.by_group.to_dict() == expected.by_group.to_dict()
        facts = found.to_dict()
        assert facts["by_group"] == expected.by_group.to_dict()
        assert "by_group" not in facts["overall"]
        assert found.overall.with_audit(None) == evaluate_file(test, path, **NAMES).overall
    own = rk.calibrate(scores, labels, groups=groups).control("fnr", 0.2, method=rk.Conformal())
    found = evaluate_file(own, path, **NAMES, group="site", by="site")  # its own groups
    assert [row.groups[0] for row in found.by_group.rows] == sorted(found.groups)
    assert evaluate_file(own, path, **NAMES, group="site").by_group is None


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_missing_values_and_skipped_rows(tmp_path, form):
    """A missing value is a group of its own; a row that is skipped is in no group."""
    given = columns()
    given["site"] = [None if i % 7 == 0 else site for i, site in enumerate(given["site"])]
    given["risk"] = [None if i == 7 else score for i, score in enumerate(given["risk"].tolist())]
    given["rare"] = ["only here" if i == 7 else "all" for i in range(240)]
    path = write_rows(tmp_path, form, given)
    found = evaluate_file(some_test(), path, **NAMES, by=["site", "rare"], on_invalid="skip")
    assert found.skipped == {"score is missing": 1}
    rows = {row.name: row for row in found.by_group.rows}
    missing = rows["site=missing"]
    assert missing.n_positive + missing.n_negative == 34
    assert "rare='only here'" not in rows
    assert rows["rare='all'"].n_positive + rows["rare='all'"].n_negative == 239


def test_what_cannot_be_audited_in_a_file(tmp_path):
    """Messages name the columns there are, the row, and the remedy."""
    given = columns()
    given |= {"other": np.arange(240) / 7, "long": ["x" * 300] * 240}
    path = write_rows(tmp_path, "csv", given)
    cases = {
        r"has no column 'place' for by; it has 'risk', 'ill', 'site', 'year'": "place",
        r"column 'risk' was given for two roles": "risk",
        r"column 'ill' was given for two roles": "ill",
        r"by names the column 'site' more than once": ["site", "site"],
        r"row 1, column 'long': group is longer than 256 characters": "long",
    }
    for match, by in cases.items():
        with pytest.raises(rk.InputError, match=match):
            evaluate_file(some_test(), path, **NAMES, by=by)
    with pytest.raises(rk.InputError, match="crossed=True needs two columns"):
        evaluate_file(some_test(), path, **NAMES, by="site", crossed=True)


@pytest.mark.parametrize("form", ["csv", "semicolons", "parquet"])
def test_measurements_are_to_be_cut_into_ranges(tmp_path, form):
    """More than 1,000 distinct numbers are refused as soon as they are seen; texts are not."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 1500)
    rows = {"risk": rng.normal(2.0 * labels), "ill": labels, "n": np.arange(1500)}
    rows["id"] = [f"p{i}" for i in range(1500)]
    if form != "parquet":
        rows["n"] = rows["n"] / 4
    path = write_rows(tmp_path, form, rows)
    with pytest.raises(rk.InputError, match="'n' has more than 1,000 distinct numbers"):
        evaluate_file(some_test(), path, **NAMES, by="n")
    assert len(evaluate_file(some_test(), path, **NAMES, by="id").by_group) == 1500


def test_an_empty_file_has_an_empty_audit(tmp_path):
    """No rows, no groups."""
    path = tmp_path / "none.csv"
    path.write_text("risk,ill,site\n")
    found = evaluate_file(some_test(), path, **NAMES, by="site")
    assert len(found.by_group) == 0
    assert found.to_dict()["by_group"]["rows"] == []


def test_booleans_and_dictionaries_of_arrow(tmp_path):
    """Typed columns keep their type, whatever it is."""
    given = columns()
    table = pa.table({name: given[name] for name in ("risk", "ill")})
    table = table.append_column("old", pa.array((given["year"] > 2016).tolist()))
    table = table.append_column("site", pa.array(given["site"].tolist()).dictionary_encode())
    path = write_rows(tmp_path, "parquet", table)
    found = evaluate_file(some_test(), path, **NAMES, by=["old", "site"], crossed=True).by_group
    assert [row.groups for row in found.rows[:3]] == [(False,), (True,), ("north",)]
    assert len(found) == 2 + 3 + 6
