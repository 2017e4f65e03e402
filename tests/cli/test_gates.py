"""Copies of rows and rows that calibrated, as somebody meets them on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ratekeeper as rk

COLUMNS = ["--score", "risk", "--label", "ill"]


def draw(n, seed, gap=4.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    return [*zip(rng.normal(gap * labels).tolist(), labels.tolist(), strict=True)]


def written(path, rows, names=("risk", "ill")):
    lines = [",".join(names), *(",".join(map(repr, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("times", [2, 10])
def test_copied_rows_are_refused_kept_or_dropped(run, tmp_path, times):
    """Code 2 unless it is said what to do; the certificate says it if they are kept."""
    rows = draw(140, 0)
    order = np.random.default_rng(1).permutation(times * 140)
    path = written(tmp_path / "rows.csv", [(rows * times)[i] for i in order])
    out = tmp_path / "out.rk"
    calibrate = ["calibrate", path, *COLUMNS, "--fnr", "10%", "-o", out]
    refused = run(*calibrate)
    assert refused.exit_code == 2
    assert f"{(times - 1) * 140:,} of {times * 140:,} scores are exact repeats" in refused.stderr
    assert "--duplicates keep" in refused.stderr
    assert "--duplicates drop" in refused.stderr
    assert not out.exists()
    kept = run(*calibrate, "--duplicates", "keep")
    assert kept.exit_code == 0, kept.stderr
    assert "exact repeats of others" in " ".join(kept.stdout.split())
    dropped = run(*calibrate, "--duplicates", "drop")
    assert dropped.exit_code == 0, dropped.stderr
    assert f"(a copy of another row: {(times - 1) * 140:,})" in " ".join(dropped.stdout.split())
    once = rk.calibrate(*map(np.array, zip(*rows, strict=True)))
    assert rk.load(out).calibration == once


def test_the_choice_can_be_a_setting(run, tmp_path):
    """As every option of a command."""
    path = written(tmp_path / "rows.csv", draw(140, 0) * 2)
    settings = tmp_path / "settings.toml"
    settings.write_text('[calibrate]\nscore = "risk"\nlabel = "ill"\nduplicates = "drop"\n')
    done = run("calibrate", path, "--config", settings, "-o", tmp_path / "cal.rk", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["source"]["skipped"] == {"a copy of another row": 140}
    knots = ["--knots", "1000", "-o", tmp_path / "cal.rk"]
    refused = run("calibrate", path, *COLUMNS, "--duplicates", "drop", *knots)
    assert refused.exit_code == 2
    assert "--knots 1000 keeps counts only" in refused.stderr


def test_rows_that_calibrated_are_refused_by_an_evaluation(run, tmp_path):
    """2,000 new rows with 2,000 calibration rows were "kept", with code 0."""
    old, new = draw(2000, 0), draw(2000, 1)
    test = tmp_path / "test.rk"
    held_out = written(tmp_path / "held-out.csv", old)
    made = run("calibrate", held_out, *COLUMNS, "--fnr", "5%", "-o", test)
    assert made.exit_code == 0, made.stderr
    both = written(tmp_path / "both.csv", [*old, *new])
    refused = run("evaluate", test, both, "--require", "kept")
    assert refused.exit_code == 2
    assert "2,000 of 4,000 scores are those of calibration objects" in refused.stderr
    assert "--exclude-calibration" in refused.stderr
    left = run("evaluate", test, both, "--exclude-calibration", "--json")
    assert left.exit_code == 0, left.stderr
    alone = run("evaluate", test, written(tmp_path / "new.csv", new), "--json")
    assert json.loads(left.stdout)["overall"] == json.loads(alone.stdout)["overall"]
    assert json.loads(left.stdout)["skipped"] == {"a calibration object": 2000}
    counts = run("evaluate", test, both, "--exclude-calibration", "--counts")
    assert counts.exit_code == 2
    assert "--exclude-calibration needs the rows themselves" in counts.stderr


def test_rows_of_coarse_scores_are_not_left_out(run, tmp_path):
    """Fresh rows would go with them, and not at random."""
    coarse = [[(round(score, 1), label) for score, label in draw(2000, seed)] for seed in (0, 1)]
    test = tmp_path / "test.rk"
    old, new = (written(tmp_path / f"{i}.csv", rows) for i, rows in enumerate(coarse))
    assert run("calibrate", old, *COLUMNS, "--fnr", "5%", "-o", test).exit_code == 0
    assert run("evaluate", test, new).exit_code == 0
    refused = run("evaluate", test, new, "--exclude-calibration")
    assert refused.exit_code == 2
    assert "not practically unique" in refused.stderr
    assert "by their ids" in refused.stderr


def test_a_row_that_is_stored_is_not_added_again(run, tmp_path):
    """Of two rows, one of them stored, both were added."""
    rows = [(*row, day) for day, row in enumerate(draw(300, 0))]
    names = ("risk", "ill", "day")
    cal = tmp_path / "cal.rk"
    timed = [*COLUMNS, "--time", "day"]
    stored = written(tmp_path / "stored.csv", rows, names)
    assert run("calibrate", stored, *timed, "-o", cal).exit_code == 0
    two = written(tmp_path / "two.csv", [rows[5], (0.123, 1, 300)], names)
    append = ["calibrate", two, *timed, "--append", cal]
    done = run(*append, "-o", tmp_path / "out.rk", "--json")
    assert done.exit_code == 0, done.stderr
    facts = {"rows": 2, "added": 1, "already": 1, "before": 0}
    assert json.loads(done.stdout)["appended"] == facts
    said = run(*append, "-o", tmp_path / "out.rk").stderr
    assert "Added 1 of the 2 valid rows" in said
    assert "1 of the 2 valid rows are in" in said
    assert "--duplicates keep" in said
    kept = run(*append, "--duplicates", "keep", "-o", tmp_path / "out.rk", "--json")
    assert json.loads(kept.stdout)["appended"]["added"] == 2


def test_a_single_precision_copy_is_not_merged(run, tmp_path):
    """The same rows as another runtime has stored them."""
    rows = draw(300, 0)
    single = [(float(np.float32(score)), label) for score, label in rows]
    paths = [tmp_path / "a.rk", tmp_path / "b.rk"]
    for path, some in zip(paths, (rows, single), strict=True):
        source = written(tmp_path / "rows.csv", some)
        assert run("calibrate", source, *COLUMNS, "-o", path).exit_code == 0
    refused = run("control", *paths, "--fnr", "5%", "-o", tmp_path / "test.rk")
    assert refused.exit_code == 2
    assert "more than chance explains" in refused.stderr
