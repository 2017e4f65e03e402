"""Commands about .rk files: control, inspect, plan, sql."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ratekeeper as rk


def test_control_makes_the_test_that_the_library_makes(run, calibration, tmp_path):
    """The file holds the same test, and the certificate is printed."""
    out = tmp_path / "test.rk"
    result = run(
        "control", calibration, "--fpr", "5%", "--method", "high-probability", "--delta", 0.1,
        "-o", out,
    )  # fmt: skip
    expected = rk.load(calibration).control("fpr", 0.05, method=rk.HighProbability(0.1))
    assert result.stdout == f"{expected.certificate}\n"
    assert rk.load(out).threshold == expected.threshold
    assert run("inspect", out).stdout == result.stdout
    facts = json.loads(run("inspect", out, "--json").stdout)
    assert facts == {
        "schema": "ratekeeper:inspect:1",
        "kind": "test",
        "certificate": json.loads(expected.certificate.to_json()),
    }


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ([], rk.HighProbability(delta=0.05)),
        (["--method", "conformal"], rk.Conformal()),
        (["--method", "simultaneous"], rk.Simultaneous()),
        (["--method", "smoothed", "--seed", "3"], rk.methods.Smoothed(random_state=3)),
        (["--method", "empirical"], rk.methods.Empirical()),
        (["--method", "bootstrap", "--parameter", "replicates=50"], rk.methods.Bootstrap(50)),
        (["--method", "kernel", "--parameter", "bandwidth=0.5"], rk.methods.Kernel(0.5)),
        (["--method", "parametric", "--parameter", "distribution=logistic"],
         rk.methods.Parametric("logistic")),
        (["--method", "resampled", "--parameter", "size=40"], rk.methods.Resampled(40)),
    ],
)  # fmt: skip
def test_every_method_by_name(run, calibration, tmp_path, options, method):
    """Each method of the library can be asked for, with its parameters."""
    out = tmp_path / "test.rk"
    result = run("control", calibration, "--fnr", "10%", *options, "-o", out, "--json")
    assert result.exit_code == 0, result.output
    assert rk.load(out).method == method


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "What is to be kept?"),
        (
            ["--fnr", "5%", "--method", "conformal", "--delta", "0.1"],
            "--delta 0.1 belongs to --method high-probability",
        ),
        (["--fnr", "5%", "--seed", "1"], "--seed 1 belongs to a random method"),
        (["--fnr", "5%", "--method", "kernel", "--parameter", "width=1"], "parameters are: band"),
        (["--fnr", "5%", "--method", "kernel", "--parameter", "bandwidth"], "NAME=VALUE"),
        (["--fnr", "5%", "--method", "resampled"], "needs --parameter size=VALUE"),
        (["--fnr", "nan"], "'nan' is not a rate"),
        (["--fnr", "100%"], "'100%' is not a rate"),
        (["--fnr", "five"], "'five' is not a rate"),
        (["--fnr", "5%", "--method", "magic"], "'magic' is not one of"),
    ],
)
def test_control_refuses(run, calibration, tmp_path, options, words):
    """What does not fit together is refused with the remedy, and nothing is written."""
    result = run("control", calibration, *options, "-o", tmp_path / "out.rk")
    assert result.exit_code == 2
    assert words in result.stderr
    assert not (tmp_path / "out.rk").exists()


@pytest.fixture
def skewed(tmp_path):
    """Write rows whose scores are far from normal."""
    rng = np.random.default_rng(3)
    labels = np.tile([0, 1], 600)
    scores = rng.exponential(1.0 + labels).tolist()
    rows = [f"{score!r},{label}" for score, label in zip(scores, labels, strict=True)]
    path = tmp_path / "skewed.csv"
    path.write_text("\n".join(["s,y", *rows]) + "\n")
    return path


NORMAL = ["--method", "parametric", "--parameter", "distribution=norm"]


@pytest.mark.parametrize("rates", [["--fnr", "5%"], ["--fnr", "5%", "--fpr", "10%"]])
@pytest.mark.parametrize("command", ["calibrate", "control"])
def test_a_contradicted_fit_is_written_and_is_no_success(run, skewed, tmp_path, command, rates):
    """The test is there, but promises nothing: a warning, the certificate, and code 4."""
    cal, out = tmp_path / "cal.rk", tmp_path / "test.rk"
    columns = [skewed, "--score", "s", "--label", "y"]
    run("calibrate", *columns, "-o", cal)
    asked = [command, *(columns if command == "calibrate" else [cal]), *rates, *NORMAL, "-o", out]
    result = run(*asked)
    assert result.exit_code == 4
    assert result.stdout.startswith("NO PROMISE  FNR <= 5%")
    said = result.stderr.splitlines()
    n = len(rates) // 2
    assert [line.split(":")[0] for line in said] == ["Warning"] * n + [f"Wrote {out}.", "Error"]
    assert all("Choose a rank method, such as --method conformal." in line for line in said[:n])
    for rate, alpha in zip(("FNR", "FPR")[:n], rates[1::2], strict=True):
        assert said[-1].count(f"the true {rate} can be far above {alpha}.") == 1
    assert said[-1].endswith(f"{out} holds a test without a promise.")
    assert run("inspect", out).exit_code == 0
    as_json = run(*asked, "--json")
    assert as_json.exit_code == 4
    certificate = json.loads(as_json.stdout)["certificate"]
    parts = [certificate] if n == 1 else [certificate["fnr"], certificate["fpr"]]
    assert [part["promised"] for part in parts] == [False] * n
    assert as_json.stderr.splitlines()[-1] == said[-1]
    checked = run("evaluate", out, skewed, "--score", "s", "--label", "y", "--check")
    assert checked.exit_code != 0


def test_a_fit_that_is_not_contradicted(run, calibration, tmp_path):
    """Normal scores under a normal model: an aim without a promise, and code 0."""
    result = run("control", calibration, "--fnr", "5%", *NORMAL, "-o", tmp_path / "test.rk")
    assert (result.exit_code, result.stderr) == (0, f"Wrote {tmp_path / 'test.rk'}.\n")
    assert result.stdout.startswith("NO PROMISE")


def test_both_rates_abstain(run, calibration, tmp_path):
    """--fnr and --fpr together make the test that abstains."""
    out = tmp_path / "both.rk"
    result = run("control", calibration, "--fnr", "5%", "--fpr", "5%", "-o", out, "--json")
    assert json.loads(result.stdout)["kind"] == "abstaining test"
    assert isinstance(rk.load(out), rk.control.AbstainingTest)


def test_calibrations_are_merged(run, tmp_path):
    """Several files count as one, in any order, as do tests of them."""
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=600), np.tile([0, 1], 300)
    for i, part in enumerate((slice(0, 100), slice(100, 250), slice(250, 600))):
        rk.save(rk.calibrate(scores[part], labels[part]), tmp_path / f"{i}.rk")
    out = tmp_path / "test.rk"
    parts = [tmp_path / f"{i}.rk" for i in (2, 0, 1)]
    assert run("control", *parts, "--fnr", "1%", "-o", out).exit_code == 0
    whole = rk.calibrate(scores, labels)
    assert rk.load(out).calibration == whole
    again = tmp_path / "again.rk"
    assert run("control", out, "--fpr", "5%", "-o", again).exit_code == 0
    assert rk.load(again).calibration == whole


def test_no_object_counts_twice(run, calibration, by_site, tmp_path):
    """The same calibration twice is refused, also as a test and with another one between."""
    out = tmp_path / "test.rk"
    assert run("control", calibration, "--fnr", "5%", "-o", out).exit_code == 0
    rng = np.random.default_rng(9)
    other = tmp_path / "other.rk"
    rk.save(rk.calibrate(rng.normal(size=40), np.repeat(["no", "yes"], 20)), other)
    for again in (calibration, out):
        result = run("control", calibration, other, again, "--fnr", "5%", "-o", tmp_path / "x.rk")
        assert result.exit_code == 2
        assert f"{again} holds the same calibration as {calibration}" in result.stderr


def test_rows_instead_of_a_calibration(run, people, tmp_path):
    """A file of rows where a .rk file is needed is called so, with what to do."""
    result = run("control", people, "--fnr", "5%", "-o", tmp_path / "test.rk")
    assert result.exit_code == 2
    assert "looks like rows, not like a .rk file. Make a calibration of it" in result.stderr
    assert "looks like rows" in run("inspect", people).stderr
    cut = tmp_path / "cut.rk"
    rk.save(rk.calibrate(np.arange(40.0), np.repeat([0, 1], 20)), cut)
    cut.write_bytes(cut.read_bytes()[:100])
    assert "cannot be loaded" in run("inspect", cut).stderr


def test_thin_groups(run, by_site, tmp_path):
    """A thin group is refused with code 3, or pooled and named."""
    out = tmp_path / "test.rk"
    assert run("control", by_site, "--fnr", "5%", "-o", out).exit_code == 3
    result = run("control", by_site, "--fnr", "5%", "--thin-groups", "pool", "-o", out, "--json")
    assert json.loads(result.stdout)["certificate"]["pooled_groups"] == ["south"]


def test_an_input_is_never_overwritten(run, calibration, tmp_path):
    """The input as output is refused, also by another name, and stays as it is."""
    before = calibration.read_bytes()
    link = tmp_path / "link.rk"
    link.symlink_to(calibration)
    for name in (calibration, link, tmp_path / "." / "cal.rk"):
        result = run("control", calibration, "--fnr", "5%", "-o", name)
        assert result.exit_code == 2
        assert "is the input" in result.stderr
    assert calibration.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "words"),
    [("none/test.rk", "There is no folder"), ("-", "standard output"), ("", "is no path")],
)
def test_outputs_that_cannot_be(run, calibration, tmp_path, name, words, monkeypatch):
    """An output that cannot be written is refused before the work."""
    monkeypatch.chdir(tmp_path)
    result = run("control", calibration, "--fnr", "5%", "-o", name)
    assert result.exit_code == 2
    assert words in result.stderr


def test_inspect_a_calibration(run, by_site):
    """What a calibration holds: numbers by group and class, least rates, the separation."""
    cal = rk.load(by_site)
    facts = json.loads(run("inspect", by_site, "--json").stdout)
    assert facts["kind"] == "calibration"
    assert facts["n"] == {"negative": 300, "positive": 150}
    assert [one["group"] for one in facts["groups"]] == ["north", "south"]
    south = facts["groups"][1]
    assert south["n"] == {"negative": 30, "positive": 15}
    assert south["least_alpha"]["fnr"]["conformal"] == 1 / 16
    assert south["least_alpha"]["fpr"]["conformal"] == 1 / 31
    assert facts["least_alpha"]["fpr"]["conformal"] == 1 / 301
    assert facts["data_hash"] == cal.data_hash
    negatives, positives = cal.pooled().cells[0][0], cal.pooled().cells[1][0]
    assert facts["auc"] == pytest.approx((positives[:, None] > negatives).mean())
    text = run("inspect", by_site, env={"COLUMNS": "80"}).stdout
    assert max(map(len, text.splitlines())) <= 80
    for words in ("north", "south", "6.3%", "3.3%", "0.74%", f"{facts['auc']:.4f}"):
        assert words in text
    row = next(line for line in text.splitlines() if "south" in line).split()
    assert row == ["south", "15", "19%", "6.3%", "30", "9.6%", "3.3%"]
    assert "average over calibration sets (conformal)" in text


@pytest.mark.parametrize("n", [19, 20, 59, 333, 1000, 12_345])
def test_the_least_rate_shown_can_be_promised(run, tmp_path, n):
    """A least rate is rounded so that asking for it succeeds, and for a tenth less fails."""
    cal = tmp_path / "cal.rk"
    rk.save(rk.calibrate(np.arange(2.0 * n), np.tile([0, 1], n)), cal)
    out = tmp_path / "test.rk"
    row = next(line for line in run("inspect", cal).stdout.splitlines() if "everybody" in line)
    _, _, high, average, *_ = row.split()
    for method, shown in (("conformal", average), ("high-probability", high)):
        assert run("control", cal, "--fnr", shown, "--method", method, "-o", out).exit_code == 0
        less = f"{0.9 * float(shown[:-1])}%"
        assert run("control", cal, "--fnr", less, "--method", method, "-o", out).exit_code == 3


@pytest.mark.parametrize("content", [b"", b"score,label\n1,2\n", b"\0" * 100])
def test_files_of_another_kind(run, tmp_path, content):
    """A file that is no .rk file is refused by every command that reads one."""
    path = tmp_path / "odd.rk"
    path.write_bytes(content)
    out = tmp_path / "out"
    for arguments in (
        ["inspect", path],
        ["control", path, "--fnr", "5%", "-o", out],
        ["sql", path, "--table", "t"],
        ["classify", path, "rows.csv", "-o", out],
        ["evaluate", path, "rows.csv"],
        ["report", path, "-o", out],
    ):
        result = run(*arguments)
        assert result.exit_code == 2, arguments
        assert "odd.rk" in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_a_calibration_where_a_test_is_needed(run, calibration, people, tmp_path):
    """The remedy is the command that makes a test."""
    for arguments in (
        ["sql", calibration, "--table", "t"],
        ["classify", calibration, people, "-o", tmp_path / "out.csv"],
        ["evaluate", calibration, people],
        ["report", calibration, "-o", tmp_path / "out.html"],
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert f"ratekeeper control {calibration} --fnr" in result.stderr


def test_plan(run):
    """The numbers are those of the library, for one rate or both."""
    plan = rk.plan("fnr", 0.01, delta=0.05, n=500, excess=0.005)
    asked = ["plan", "--fnr", "1%", "--delta", "5%", "--n", "500", "--excess", "0.5%"]
    facts = json.loads(run(*asked, "--json").stdout)["fnr"]
    assert facts["least_n"] == {
        "conformal": plan.n_marginal,
        "high-probability": plan.n_high_probability,
        "excess": plan.n_excess,
    }
    assert facts["realised_rate"]["conformal"]["mean"] == plan.realised_marginal.mean
    text = run(*asked).stdout
    assert " ".join(text.split()) == " ".join(str(plan).split())
    assert max(map(len, text.splitlines())) <= 80
    both = json.loads(run("plan", "--fnr", "1%", "--fpr", "5%", "--json").stdout)
    assert list(both) == ["schema", "fnr", "fpr"]
    assert "at least 299" in run("plan", "--fnr", "1%").stdout  # what control needs by default


def test_sql(run, calibration, tmp_path):
    """The query is the library's, and asks for a name where the calibration has none."""
    from ratekeeper.sql import decision_sql

    out = tmp_path / "test.rk"
    run("control", calibration, "--fnr", "5%", "-o", out)
    result = run("sql", out, "--table", "people", "--score", "risk", "--decision", "call")
    expected = decision_sql(rk.load(out), table="people", score="risk", decision="call")
    assert result.stdout == f"{expected};\n"
    assert "Pass --score COLUMN" in run("sql", out, "--table", "people").stderr
    assert run("sql", out).exit_code == 2
