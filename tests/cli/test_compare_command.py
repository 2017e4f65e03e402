"""The command `compare`: its table, its files, its refusals."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SYSTEMS = Path(__file__).parents[2] / "docs" / "understand" / "systems.md"


def table(tmp_path):
    rng = np.random.default_rng(3)
    rows = [f"{rng.normal(1.5 * (i % 2)):.4f},{'ok' if i % 2 else 'bad'},7" for i in range(300)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["x,state,one", *rows]) + "\n")
    return path


def test_command(run, tmp_path):
    """The command prints the table, writes the files, and goes on where it stopped."""
    out = tmp_path / "out"
    arguments = ["compare", str(table(tmp_path)), "--label", "state", "--positive", "bad"]
    arguments += ["--control", "fnr", "--alpha", "0.1", "--repeats", "2", "--jobs", "1"]
    arguments += ["--systems", "conformal,high-probability,plain", "-o", str(out)]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "FNR <= 10%" in result.output
    assert {path.name for path in out.iterdir()} == {
        "comparison.csv",
        "comparison.md",
        "comparison.svg",
        "comparison.tex",
        "trials.csv",
        "trials.jsonl",
    }
    before = (out / "trials.csv").read_text()
    again = run(*arguments)
    assert again.exit_code == 0
    assert (out / "trials.csv").read_text() == before  # times and all: nothing was run again
    other = run(*arguments, "--alpha", "0.2")
    assert other.exit_code == 2
    assert f"Error: {out / 'trials.jsonl'} is about other data or options" in other.stderr
    assert "Use another --output" in other.stderr


def test_json(run, tmp_path):
    """For machines: one object, with a row for each system, and nothing else on stdout."""
    arguments = ["compare", table(tmp_path), "--label", "state", "--control", "fpr"]
    arguments += ["--alpha", "10%", "--repeats", "1", "--systems", "plain,conformal", "--jobs", "1"]
    result = run(*arguments, "--json", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert [row["system"] for row in facts["systems"]] == ["plain", "conformal"]
    assert facts["alpha"] == 0.1
    assert "comparison.svg" in result.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--label", "none"], "no column 'none'"),
        (["--alpha", "7"], "'7' is not a rate"),
        (["--systems", "magic"], "--systems has 'magic'"),
        (["--label", "one"], "column 'one' has only the label 7, in 300 rows; two kinds"),
        (["--label", "x"], "column 'x' has 299 different labels, such as"),
        (["--positive", "odd"], "odd"),
        (["--drop", "x", "--drop", "one"], "There is no column that tells"),
        (["--control", "both"], "Invalid value"),
        (["--jobs", "0"], "--jobs 0"),
        (["--output", "/dev/null/out"], "--output /dev/null/out cannot be written to"),
    ],
)
def test_command_refuses(run, tmp_path, change, message):
    """Bad usage and bad input end with code 2 and one message, without a traceback."""
    arguments = ["compare", str(table(tmp_path)), "--label", "state", "--control", "fnr"]
    result = run(*arguments, "--alpha", "0.1", *change)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert not re.search(r"checkpoint|dict\b|class\(es\)|\bX\b", result.stderr)


@pytest.mark.thorough
@pytest.mark.parametrize("estimator", ["boosting", "forest"])
def test_other_estimators(run, tmp_path, estimator):
    """The scoring classifier can be chosen by name."""
    arguments = ["compare", str(table(tmp_path)), "--label", "state", "--control", "fpr"]
    arguments += ["--alpha", "0.1", "--repeats", "1", "--systems", "plain", "--jobs", "1"]
    result = run(*arguments, "--estimator", estimator)
    assert result.exit_code == 0, result.output


@pytest.mark.thorough
def test_files_are_there_though_nobody_reads_on(tmp_path):
    """A reader that closes the pipe at once loses no file."""
    out = tmp_path / "out"
    arguments = [sys.executable, "-m", "ratekeeper", "compare", str(table(tmp_path))]
    arguments += ["--label", "state", "--control", "fnr", "--alpha", "0.1", "--repeats", "1"]
    arguments += ["--systems", "plain", "--jobs", "1", "-o", str(out)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.close()
    assert (out / "comparison.svg").exists()


@pytest.mark.parametrize("name", ["comparison.csv", "trials.csv", "trials.jsonl"])
def test_the_table_is_never_an_output(run, tmp_path, name):
    """A table that has the name of a result, in the folder for these, stays as it is."""
    path = table(tmp_path).rename(tmp_path / name)
    before = path.read_bytes()
    arguments = ["--label", "state", "--control", "fnr", "--alpha", "0.1", "--systems", "plain"]
    result = run("compare", path, *arguments, "--repeats", "1", "--format", "csv", "-o", tmp_path)
    assert result.exit_code == 2
    assert "is the input" in result.stderr
    assert path.read_bytes() == before
    inside = run("compare", tmp_path, *arguments, "-o", tmp_path / "out")
    assert inside.exit_code == 2
    assert "lies in the input folder" in inside.stderr
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_labels_are_read_as_calibrate_reads_them(run, tmp_path):
    """Booleans may be named by --positive, and a gap is no class."""
    rng = np.random.default_rng(3)
    ill = np.arange(300) % 2 == 1
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"x": rng.normal(1.5 * ill), "ill": ill}), path)
    arguments = ["--control", "fnr", "--alpha", "0.1", "--systems", "plain", "--repeats", "1"]
    result = run(
        *("compare", path, "--label", "ill", "--positive", "true", "--jobs", "1", "--json"),
        *arguments,
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["positive"] == 1
    path = table(tmp_path)
    path.write_text(path.read_text().replace("bad", "#N/A"))
    result = run("compare", path, "--label", "state", *arguments)
    assert result.exit_code == 2
    assert "row 1: the label 'state' is missing" in result.stderr


OWN = """
import numpy as np
from sklearn.tree import DecisionTreeClassifier

def tree():
    return DecisionTreeClassifier(max_depth=2)

class Mine:
    guarantee = "marginal"
    def __init__(self, alpha, positive_label):
        self.alpha, self.positive_label = alpha, positive_label
    def fit(self, X, y):
        self.cut = np.quantile(X[y == self.positive_label, 0], 1 - self.alpha)
        self.other = y[y != self.positive_label][0]
    def predict(self, X):
        return np.where(X[:, 0] <= self.cut, self.positive_label, self.other)

class Stops(Mine):
    def fit(self, X, y):
        raise KeyboardInterrupt

def wrong(y_true, y_pred):
    return sum(y_true != y_pred)
"""


def own_modules(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "own_of_compare.py").write_text(OWN)
    return ["--import-from", tmp_path / "code"]


@pytest.mark.thorough
def test_own_base_system_and_metric(run, tmp_path):
    """Objects of a module of the user's own, in other processes, too."""
    arguments = ["compare", table(tmp_path), "--label", "state", "--positive", "bad", "--json"]
    arguments += ["--control", "fnr", "--alpha", "0.1", "--repeats", "2", "--jobs", "2"]
    arguments += ["--base", "own_of_compare:tree", "--system", "mine=own_of_compare:Mine"]
    arguments += ["--metric", "wrong=own_of_compare:wrong", *own_modules(tmp_path)]
    result = run(*arguments, "--systems", "plain,modern", "--exclude", "learn-then-test")
    assert result.exit_code == 0, result.output
    rows = {row["system"]: row for row in json.loads(result.stdout)["systems"]}
    assert list(rows)[:2] == ["mine", "plain"]
    assert "learn-then-test" not in rows
    assert rows["mine"]["promise"] == "marginal"
    assert rows["mine"]["target"] == pytest.approx(0.1, abs=0.1)
    # 90 test objects, half of either class.
    errors = 45 * (rows["plain"]["target"] + rows["plain"]["other"])
    assert rows["plain"]["wrong"] == pytest.approx(errors)
    assert rows["plain"]["note"] == ""


def test_interrupted_command_says_how_to_go_on(run, tmp_path):
    """Ctrl-C ends without a traceback, and what is finished is kept."""
    out = tmp_path / "out"
    arguments = ["compare", table(tmp_path), "--label", "state", "--positive", "bad"]
    arguments += ["--control", "fnr", "--alpha", "0.1", "--repeats", "1", "--jobs", "1"]
    arguments += ["--system", "mine=own_of_compare:Mine", "--system", "stops=own_of_compare:Stops"]
    result = run(*arguments, *own_modules(tmp_path), "--output", out)
    assert result.exit_code == 130
    assert f"again with --output {out} to resume" in result.stderr
    assert "Traceback" not in result.output
    head, *trials = map(json.loads, (out / "trials.jsonl").read_text().splitlines())
    assert "system" not in head
    assert [trial["system"] for trial in trials] == ["mine"]


def test_groups_and_training_rows(run, tmp_path):
    """A column of groups is no feature, and keeps rows together; --train-size limits rows."""
    path = table(tmp_path)
    header, *lines = path.read_text().splitlines()
    rows = [f"{line},p{i // 4}" for i, line in enumerate(lines)]
    path.write_text("\n".join([f"{header},patient", *rows]) + "\n")
    arguments = ["compare", path, "--label", "state", "--control", "fnr", "--alpha", "0.2"]
    arguments += ["--positive", "bad", "--repeats", "1", "--systems", "plain", "--jobs", "1"]
    result = run(*arguments, "--group", "patient", "--train-size", "0.4", "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["n_features"] == 2
    assert facts["n_test"] == 88  # of 75 patients with 4 rows each
    assert facts["n_given"] == 120
    result = run(*arguments, "--group", "nobody")
    assert "no column 'nobody'" in result.stderr
    assert "--group state is the column of labels" in run(*arguments, "--group", "state").stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--base", "tree"], "--base 'tree' is not of the form package.module:name"),
        (["--base", "nowhere_at_all:tree"], "'nowhere_at_all' cannot be imported: ModuleNotFound"),
        (["--base", "own_of_compare:shrub"], "'own_of_compare' has no 'shrub'"),
        (["--base", "own_of_compare:wrong"], "--base own_of_compare:wrong cannot be called"),
        (["--base", "own_of_compare:OWN"], "has no 'OWN'"),
        (["--base", "own_of_compare:tree", "--estimator", "forest"], "are two classifiers"),
        (["--system", "own_of_compare:Mine"], "is not of the form name=package.module:object"),
        (["--system", "mine=own_of_compare:np"], "has no fit"),
        (["--import-from", "/nowhere/at/all"], "--import-from /nowhere/at/all is no folder"),
        (["--exclude", "magic"], "--exclude has 'magic', which is not a known name"),
        (["--train-size", "2"], "--train-size 2"),
    ],
)
def test_own_objects_that_are_not_there(run, tmp_path, change, message):
    """What cannot be found or used is named, without a traceback."""
    arguments = ["compare", table(tmp_path), "--label", "state", "--control", "fnr"]
    arguments += [*own_modules(tmp_path), "--positive", "bad", "--alpha", "0.1", "--jobs", "1"]
    result = run(*arguments, *change)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_help_lists_the_systems(run, tmp_path):
    """Every system is in the help, by the families that --systems takes."""
    text = re.sub(r"-\n\s*", "-", run("compare", "--help").stdout).partition("Systems, by family")[
        2
    ]
    families = {
        family: re.findall(r"[\w-]+", names)
        for family, names in re.findall(
            r"^  (\w[\w -]*): ((?:.+\n)(?:    .+\n)*)", text, re.MULTILINE
        )
    }
    usual = families.pop("usual")
    listed = [name for names in families.values() for name in names]
    page = SYSTEMS.read_text("utf-8").partition("## All of them")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*) \|", page.replace("`-", "`liao-akritas-"), re.MULTILINE)
    assert sorted(listed) == sorted(name for row in rows for name in re.findall("`([^`]+)`", row))
    assert set(usual) < set(listed)
    asked = ["--label", "state", "--control", "fnr", "--alpha", "0.1", "--systems", "magic"]
    refused = run("compare", table(tmp_path), *asked).stderr
    assert ", ".join(families) in refused


def test_append(run, tmp_path):
    """Further systems are added to a comparison, and what is finished is not run again."""
    out = tmp_path / "out"
    arguments = ["compare", table(tmp_path), "--label", "state", "--positive", "bad", "-o", out]
    arguments += ["--control", "fnr", "--alpha", "0.1", "--repeats", "2", "--jobs", "1"]
    arguments += own_modules(tmp_path)
    missing = run(*arguments, "--append", "--systems", "plain")
    assert "is not the table of a comparison" in missing.stderr
    assert run(*arguments, "--systems", "plain").exit_code == 0
    before = (out / "trials.csv").read_text().splitlines()
    assert "needs what to add" in run(*arguments, "--append").stderr
    mine = ["--system", "mine=own_of_compare:Mine"]
    result = run(*arguments, *mine, "--append", "--systems", "conformal,plain")
    assert result.exit_code == 0, result.output
    lines = (out / "trials.csv").read_text().splitlines()
    assert lines[: len(before)] == before  # times and all
    added = [line.split(",")[0] for line in lines[len(before) :]]
    assert added == ["mine"] * 2 + ["conformal"] * 2
    again = run(*arguments, "--append", "--systems", "umbrella")
    assert "'mine' in" in again.stderr
    no_folder = [a for a in map(str, arguments) if a not in ("-o", str(out))]
    assert "needs the folder" in run(*no_folder, "--append", "--systems", "plain").stderr
