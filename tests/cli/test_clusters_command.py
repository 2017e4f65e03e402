"""Clusters in files and commands: the same numbers as for arrays, and bad files refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.files import _clusters, calibrate_file, evaluate_file

COLUMNS = ["--score", "risk", "--label", "ill"]


def patients(path, seed, first, n=120, *, gap=False):
    """Write rows of patients of both classes and two sites; return them as arrays."""
    rng = np.random.default_rng(seed)
    ids = np.repeat([f"P{first + i}" for i in range(n)], rng.integers(1, 8, n))
    labels = rng.integers(0, 2, ids.size)
    shared = rng.normal(size=n)[np.unique(ids, return_inverse=True)[1]]
    scores = 2.0 * labels + shared + 0.5 * rng.normal(size=ids.size)
    sites = np.where(rng.random(ids.size) < 0.5, "north", "south")
    order = rng.permutation(ids.size)
    columns = [column[order] for column in (scores, labels, ids, sites)]
    lines = [",".join(map(str, row)) for row in zip(*(c.tolist() for c in columns), strict=True)]
    if gap:
        lines[5] = lines[5].replace(columns[2][5], "")
    path.write_text("\n".join(["risk,ill,patient,site", *lines]) + "\n")
    return dict(zip(("scores", "labels", "clusters", "groups"), columns, strict=True))


@pytest.fixture
def held_out(tmp_path):
    return patients(tmp_path / "held-out.csv", 0, 0)


def test_files_give_what_arrays_give(tmp_path, held_out, monkeypatch):
    """Calibration and evaluation are the same to the last bit, however the rows are cut."""
    new = patients(tmp_path / "new.csv", 1, 1000)
    monkeypatch.setattr(_clusters, "_WAITING", 50)
    for grouped in (False, True):
        group = "site" if grouped else None
        cal = calibrate_file(
            tmp_path / "held-out.csv",
            score="risk",
            label="ill",
            group=group,
            cluster="patient",
            random_state=0,
        )
        pick = {name: held_out[name] for name in ("scores", "labels", "clusters")}
        groups = held_out["groups"] if grouped else None
        expected = rk.calibrate(**pick, groups=groups, random_state=0)
        assert cal == expected
        assert cal.provenance.cluster == "patient"
        assert cal.independent == expected.independent
        for test in (
            cal.control("fnr", 0.1, method=rk.Conformal()),
            cal.control_both(0.2, 0.2, method=rk.Conformal()),
        ):
            found = evaluate_file(test, tmp_path / "new.csv")
            assert found.n_clusters == 120
            by_hand = test.evaluate(
                new["scores"],
                new["labels"],
                new["groups"] if grouped else None,
                clusters=new["clusters"],
            )
            assert found.overall.to_dict() == by_hand.to_dict()
    audit = evaluate_file(
        expected.pooled().control("fnr", 0.1),
        tmp_path / "new.csv",
        score="risk",
        label="ill",
        group="site",
        cluster="patient",
    )
    assert set(audit.groups) == {"north", "south"}


def test_the_walk_with_clusters(run, tmp_path, held_out):
    """calibrate, control, inspect, evaluate and report say how many clusters there are."""
    patients(tmp_path / "new.csv", 1, 1000)
    cal, test = tmp_path / "cal.rk", tmp_path / "test.rk"
    done = run(
        *("calibrate", tmp_path / "held-out.csv", *COLUMNS, "--cluster", "patient", "-o", cal)
    )
    assert done.exit_code == 0, done.stderr
    k = np.unique(held_out["clusters"][held_out["labels"] == 1]).size
    assert re.search(rf"everybody +{k} ", done.stdout)
    rows = np.bincount(held_out["labels"])
    assert f"have {rows[1]} positive and {rows[0]} negative rows." in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "cluster 'patient'" in done.stdout
    facts = json.loads(run("inspect", cal, "--json").stdout)
    assert facts["clusters"]["positive"] == k
    assert facts["least_alpha"]["fnr"]["conformal"] == 1 / (k + 1)
    assert f"of {k} clusters" in " ".join(
        run("control", cal, "--fnr", "5%", "-o", test).stdout.split()
    )
    found = run("evaluate", test, tmp_path / "new.csv")
    assert "The rows are of 120 clusters." in found.stdout
    assert (
        json.loads(run("evaluate", test, tmp_path / "new.csv", "--json").stdout)["clusters"] == 120
    )
    page = tmp_path / "report.html"
    assert run("report", test, "--evaluate", tmp_path / "new.csv", "-o", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert "calibration rows come in clusters" in text
    assert "The rows are of 120 clusters." in text


def test_bad_files_are_refused(run, tmp_path, held_out):
    """Clusters that calibrated, missing ids and columns, and samples of rows are refused."""
    file, test = tmp_path / "held-out.csv", tmp_path / "test.rk"
    base = ("calibrate", file, *COLUMNS, "--cluster", "patient", "--fnr", "5%", "-o", test)
    assert run(*base).exit_code == 0
    patients(tmp_path / "old.csv", 2, 110)
    patients(tmp_path / "gap.csv", 3, 2000, gap=True)
    cases = [
        (["evaluate", test, tmp_path / "old.csv"], "has rows of the cluster 'P11"),
        (["evaluate", test, tmp_path / "gap.csv"], "row 6, column 'patient': cluster is missing"),
        (["evaluate", test, tmp_path / "old.csv", "--cluster", "who"], "no column 'who'"),
        ([*base, "--sample", "50"], "--sample 50 draws rows"),
        (["report", test, "--cluster", "patient", "-o", "a.html"], "are about --evaluate"),
    ]
    for command, match in cases:
        done = run(*command)
        assert done.exit_code == 2, command
        assert match in done.stderr
    skipped = run("evaluate", test, tmp_path / "gap.csv", "--on-invalid", "skip")
    assert "cluster is missing: 1" in skipped.stdout
    arrays = rk.calibrate(held_out["scores"], held_out["labels"], clusters=held_out["clusters"])
    rk.save(arrays.control("fnr", 0.1), tmp_path / "arrays.rk")
    done = run("evaluate", tmp_path / "arrays.rk", tmp_path / "gap.csv", *COLUMNS)
    assert "Name the column of clusters with --cluster" in done.stderr
