"""Files of one class, or without labels, through all commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ratekeeper as rk

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "one-class.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    """Write normal.csv, fraud.csv and new.csv: score, kind, site."""
    rng = np.random.default_rng(3)
    rows = {
        "normal.csv": [(s, "ok") for s in rng.normal(size=400)],
        "fraud.csv": [(s, "fraud") for s in rng.normal(2, size=300)],
        "new.csv": [(rng.normal(9 * (i % 2)), ("ok", "fraud")[i % 2]) for i in range(600)],
    }
    for name, values in rows.items():
        lines = [f"{float(s)!r},{kind},{'ab'[i % 2]}" for i, (s, kind) in enumerate(values)]
        (tmp_path / name).write_text("score,kind,site\n" + "\n".join(lines) + "\n")
    return tmp_path


def done(result, code=0):
    assert result.exit_code == code, result.output
    return result


def test_normal_rows_alone_make_a_test(run, folder):
    """Calibrated without labels, a test classifies, evaluates, reports, and is written as SQL."""
    test, out = folder / "test.rk", folder / "decided.csv"
    asked = ["--score", "score", "--one-class", "negative", "--fpr", "5%"]
    result = done(run("calibrate", folder / "normal.csv", *asked, "-o", test))
    assert "Price: FNR unknown: no calibration object is positive." in result.stdout
    scores = pl.read_csv(folder / "normal.csv")["score"]
    loaded = rk.load(test)
    assert loaded.calibration == rk.calibrate(scores, one_class="negative")
    assert (loaded.calibration.provenance.score, loaded.calibration.provenance.label) == (
        "score",
        None,
    )
    done(run("classify", test, folder / "new.csv", "-o", out))
    table = pl.read_csv(out)
    new = table["score"].to_numpy()
    np.testing.assert_array_equal(table["p0"], loaded.p_values(new).p0)
    assert table["p1"].is_null().all()
    assert table["decision"].to_list() == loaded.decide(new).labels.tolist()
    done(run("classify", test, folder / "new.csv", "-o", folder / "decided.parquet"))
    assert pl.read_parquet(folder / "decided.parquet")["p1"].null_count() == 600
    result = done(run("evaluate", test, folder / "new.csv"), 2)
    assert "Which column has the labels?" in result.stderr
    labels = ["--label", "kind", "--positive", "fraud"]
    result = done(run("evaluate", test, folder / "new.csv", *labels, "--json"))
    overall = json.loads(result.stdout)["overall"]
    assert overall["promised"] == 0.05
    assert (overall["target"]["n"], overall["other"]["n"]) == (300, 300)
    page = folder / "page.html"
    done(run("report", test, "--evaluate", folder / "new.csv", *labels, "-o", page))
    assert "there is no such calibration object" in page.read_text()
    assert "no positive" in done(run("sql", test, "--table", "payments")).stdout


def test_one_label_is_enough_and_shards_merge(run, folder):
    """Shards with one label each merge to the calibration of all rows."""
    for name in ("normal", "fraud"):
        asked = ["--score", "score", "--label", "kind", "--positive", "fraud", "--group", "site"]
        done(run("calibrate", folder / f"{name}.csv", *asked, "-o", folder / f"{name}.rk"))
    parts, both = [folder / "normal.rk", folder / "fraud.rk"], folder / "both.rk"
    done(run("control", *parts, "--fnr", "5%", "--fpr", "5%", "-o", both))
    frames = [pl.read_csv(folder / name) for name in ("normal.csv", "fraud.csv")]
    frame = pl.concat(frames)
    whole = rk.calibrate(
        frame["score"],
        frame["kind"],
        groups=frame["site"],
        positive_label="fraud",
        sampling="by class",  # as somebody chose how many rows each shard has
    )
    assert rk.load(both).calibration == whole
    shown = done(run("inspect", folder / "normal.rk")).stdout
    assert "Of positives ('fraud') nothing is known" in shown
    facts = json.loads(done(run("inspect", folder / "fraud.rk", "--json")).stdout)
    assert (facts["known"], facts["auc"], facts["n"]) == (
        "positive",
        None,
        {"negative": 0, "positive": 300},
    )
    result = done(run("control", folder / "normal.rk", "--fnr", "5%", "-o", folder / "x.rk"), 3)
    assert "no positives ('fraud') at all" in result.stderr


def test_scores_without_labels_are_kept(run, folder):
    """Unlabelled scores are stored, sampled and shown, and no rate can be kept with them."""
    out = folder / "scores.rk"
    asked = ["--score", "score", "--unlabelled", "--group", "site"]
    shown = done(run("calibrate", folder / "new.csv", *asked, "-o", out)).stdout
    assert "The scores have no labels" in shown
    facts = json.loads(done(run("inspect", out, "--json")).stdout)
    assert (facts["known"], facts["n"], facts["positive_label"]) == (
        "none",
        {"unlabelled": 600},
        None,
    )
    frame = pl.read_csv(folder / "new.csv")
    assert rk.load(out) == rk.calibrate(frame["score"], groups=frame["site"])
    done(run("calibrate", folder / "new.csv", *asked[:3], "--sample", "100", "-o", out))
    kept = rk.load(out)
    assert kept.cells[0][0].size == 100
    assert kept.provenance.sampled_from == (600, 0)
    result = done(run("control", out, "--fpr", "5%", "-o", folder / "x.rk"), 2)
    assert "no labels" in result.stderr
    result = done(run("calibrate", folder / "new.csv", "--score", "score", "-o", out), 2)
    assert "--label COLUMN" in result.stderr
    result = done(run("calibrate", folder / "new.csv", *asked, "--fpr", "5%", "-o", out), 2)
    assert "no labels" in result.stderr
    (folder / "header.csv").write_text("score,site\n")
    result = done(run("calibrate", folder / "header.csv", *asked, "-o", out), 2)
    assert result.stderr.endswith("Held-out objects are needed.\n")


def test_a_sample_without_labels_is_one_of_all_rows(run, people, tmp_path):
    """So a budget may stand on it, and nothing is said of negatives. Costs need labels."""
    out = tmp_path / "out.rk"
    columns = ["--score", "risk", "--unlabelled", "--sample", "300", "-o", out]
    result = run("calibrate", people, *columns, "--alerts", "10%")
    assert result.exit_code == 0, result.stderr
    assert "a random sample kept of 2,000." in " ".join(result.stdout.split())
    costs = ["--cost-fn", "9", "--cost-fp", "1", "-o", tmp_path / "cheap.rk"]
    result = run("cheapest", out, *costs)
    assert result.exit_code == 2
    assert "The calibration has no labels" in result.stderr
