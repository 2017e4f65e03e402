"""Weights in files and commands: the same numbers as for arrays, and bad files refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.files import calibrate_file, classify_file, evaluate_file

COLUMNS = ["--score", "risk", "--label", "ill"]


def written(path, seed, shift, n=600):
    """Write rows of shifted objects with their weights; return them as arrays."""
    rng = np.random.default_rng(seed)
    x = rng.normal(shift, 1, n)
    labels = (rng.random(n) < 1 / (1 + np.exp(-x))).astype(int)
    scores, weights = x + labels + rng.normal(size=n), np.minimum(np.exp(0.5 * x), 5.0)
    sites = np.where(rng.random(n) < 0.5, "north", "south")
    columns = {"scores": scores, "labels": labels, "weights": weights, "groups": sites}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    path.write_text("risk,ill,w,site\n" + "".join(f"{','.join(map(str, r))}\n" for r in rows))
    return columns


@pytest.fixture
def held_out(tmp_path):
    return written(tmp_path / "held-out.csv", 0, 0.0)


@pytest.fixture
def new(tmp_path):
    return written(tmp_path / "new.csv", 1, 0.5)


def test_files_give_what_arrays_give(tmp_path, held_out, new):
    """Calibrating, deciding and evaluating by files is the same to the last bit as by arrays."""
    for group in (None, "site"):
        source = tmp_path / "held-out.csv"
        options = {"score": "risk", "label": "ill", "group": group, "weight": "w"}
        cal = calibrate_file(source, **options)
        pick = {name: held_out[name] for name in ("scores", "labels", "weights")}
        groups = None if group is None else held_out["groups"]
        assert cal == rk.calibrate(**pick, groups=groups)
        assert cal.provenance.weight == "w"
        kept = calibrate_file(source, **options, rejection=5, random_state=3)
        assert kept == rk.calibrate(**pick, groups=groups, rejection=5, random_state=3)
        test = cal.control("fnr", 0.1, method="conformal")
        classify_file(test, tmp_path / "new.csv", tmp_path / "out.csv")
        lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
        own = None if group is None else new["groups"]
        p = test.p_values(new["scores"], own, weights=new["weights"])
        assert [float(line.split(",")[-2]) for line in lines] == p.p1.tolist()
        found = evaluate_file(test, tmp_path / "new.csv").overall
        expected = test.evaluate(new["scores"], new["labels"], own, weights=new["weights"])
        assert found.target == expected.target


def test_commands(run, tmp_path, held_out, new):
    """A weighted test is made, kept, applied and checked; weights not needed are refused."""
    cal, test, out = (tmp_path / name for name in ("cal.rk", "test.rk", "out.csv"))
    made = run("calibrate", tmp_path / "held-out.csv", *COLUMNS, "--weight", "w", "-o", cal)
    assert made.exit_code == 0, made.stderr
    assert "effective sample size" in made.stdout.replace("\n", " ")
    refused = run("control", cal, "--fnr", "10%", "-o", test)
    assert refused.exit_code == 2
    assert "--method conformal" in refused.stderr
    assert run("control", cal, "--fnr", "10%", "--method", "conformal", "-o", test).exit_code == 0
    assert run("classify", test, tmp_path / "new.csv", "-o", out).exit_code == 0
    checked = run("evaluate", test, tmp_path / "new.csv", "--weight", "w", "--check", "--json")
    assert checked.exit_code == 0, checked.stderr
    assert json.loads(checked.stdout)["overall"]["verdict"] == "in line"
    facts = json.loads(run("inspect", cal, "--json").stdout)
    assert facts["weights"]["effective_positive"] > 100
    refused = run("sql", test, "--table", "rows")
    assert refused.exit_code == 2
    assert "weights" in refused.stderr


def test_rejection(run, tmp_path, held_out, new):
    """With a bound, what is kept is an ordinary calibration; the bound must hold."""
    test, rows = tmp_path / "test.rk", tmp_path / "held-out.csv"
    options = [*COLUMNS, "--weight", "w", "--fnr", "10%", "-o", test]
    made = run("calibrate", rows, *options, "--rejection", "5", "--seed", "1")
    assert made.exit_code == 0, made.stderr
    assert "weight / 5" in made.stdout
    assert run("classify", test, tmp_path / "new.csv", "-o", tmp_path / "out.csv").exit_code == 0
    refused = run("classify", test, tmp_path / "new.csv", "--weight", "w", "-o", tmp_path / "b.csv")
    assert "--weight w was given, but the calibration has no weights" in refused.stderr
    for bad, said in (
        (["--rejection", "2"], "above the stated bound 2"),
        (["--rejection", "-1"], "--rejection -1"),
        (["--rejection", "nan"], "--rejection nan"),
        (["--rejection", "5", "--sample", "10"], "--sample 10"),
        (["--rejection", "5", "--cluster", "site"], "clusters"),
        (["--weight", "no"], "'no'"),
    ):
        refused = run("calibrate", rows, *options, *bad)
        assert refused.exit_code == 2, bad
        assert said in refused.stderr, bad


def test_rows_without_a_weight(run, tmp_path, held_out):
    """A weight that is none is refused by row, or skipped and counted; zeros are left out."""
    rows = tmp_path / "held-out.csv"
    lines = rows.read_text().splitlines()
    for i, text in ((3, "-1"), (4, "inf"), (5, "x"), (6, ""), (7, "0"), (8, "0")):
        parts = lines[i].split(",")
        parts[2] = text
        lines[i] = ",".join(parts)
    rows.write_text("\n".join(lines))
    command = ["calibrate", rows, *COLUMNS, "--weight", "w", "-o", tmp_path / "cal.rk"]
    refused = run(*command)
    assert refused.exit_code == 2
    assert "row 3, column 'w': weight is no positive number ('-1')" in refused.stderr
    assert run(*command, "--on-invalid", "skip").exit_code == 0
    skipped = rk.load(tmp_path / "cal.rk").provenance.skipped
    assert skipped["weight is 0"] == 2
    assert sum(skipped.values()) == 6
