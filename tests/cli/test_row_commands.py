"""Commands about files of rows: calibrate, classify, evaluate, report."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from cases import each

import ratekeeper as rk


@pytest.fixture
def test_file(run, people, tmp_path):
    """Calibrate by site on all people and keep the FNR at 5%."""
    path = tmp_path / "test.rk"
    asked = ["--score", "risk", "--label", "ill", "--group", "site", "--fnr", "5%"]
    result = run("calibrate", people, *asked, "-o", path)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def later(people):
    """Write like people, whose scores are a little lower: the calibration's own are refused."""
    path = people.with_name("later.csv")
    path.write_text(other_scores(people.read_text()))
    return path


def other_scores(text):
    head, *rows = text.splitlines()
    cells = [row.split(",", 2) for row in rows]
    rows = [f"{number},{float(risk) - 1e-6!r},{rest}" for number, risk, rest in cells]
    return "\n".join([head, *rows]) + "\n"


def frame_of(people):
    return pl.read_csv(people)


def test_calibrate_is_the_library_on_columns(run, people, tmp_path):
    """The file holds what `calibrate` makes of the same columns, and knows their names."""
    out = tmp_path / "cal.rk"
    result = run("calibrate", people, "--score", "risk", "--label", "ill", "-o", out)
    assert result.exit_code == 0, result.output
    frame = frame_of(people)
    cal = rk.load(out)
    assert cal == rk.calibrate(frame["risk"], frame["ill"])
    assert cal.provenance.score == "risk"
    assert "2,000 rows read" in result.stdout
    assert result.stderr == f"Wrote {out}.\n"


def test_one_step_is_two_steps(run, people, tmp_path):
    """`calibrate --fnr` writes the test that `control` makes of the calibration."""
    cal, one, two = (tmp_path / name for name in ("cal.rk", "one.rk", "two.rk"))
    asked = ["--score", "risk", "--label", "ill", "--seed", "0"]
    promise = ["--fnr", "2%", "--method", "high-probability", "--delta", "10%"]
    run("calibrate", people, *asked, "-o", cal)
    direct = run("calibrate", people, *asked, *promise, "-o", one)
    run("control", cal, *promise, "-o", two)
    assert one.read_bytes() == two.read_bytes()
    assert direct.stdout.startswith("CERTIFICATE  FNR <= 2% (sensitivity >= 98%)")
    impossible = run("calibrate", people, *asked, "--fnr", "0.01%", "-o", tmp_path / "no.rk")
    assert impossible.exit_code == 3
    assert not (tmp_path / "no.rk").exists()


def test_options_of_calibrate(run, people, tmp_path):
    """Positive label, direction, sample, seed and JSON."""
    out = tmp_path / "cal.rk"
    asked = ["calibrate", people, "--score", "risk", "--label", "ill", "-o", out, "--json"]
    turned = json.loads(run(*asked, "--positive", "no", "--lower-is-positive").stdout)
    assert (turned["positive_label"], turned["higher_is_positive"]) == ("no", False)
    assert turned["auc"] > 0.9
    few = json.loads(run(*asked, "--sample", "100", "--seed", "4").stdout)
    assert few["n"] == {"negative": 100, "positive": 100}
    assert sum(few["source"]["sampled_from"]) == 2000
    again = json.loads(run(*asked, "--sample", "100", "--seed", "5").stdout)
    assert again["data_hash"] != few["data_hash"]


def test_reversed_scores_get_a_line(run, people, tmp_path):
    """The warning names the option that helps."""
    out = tmp_path / "cal.rk"
    result = run(
        "calibrate", people, "--score", "risk", "--label", "ill", "--positive", "no", "-o", out
    )
    assert result.exit_code == 0
    warning = result.stderr.splitlines()[0]
    assert warning.startswith("Warning: The scores look reversed")
    assert "Pass --lower-is-positive" in warning


@each(
    ("change", "words"),
    [
        (["--score", "rsk"], "has no column 'rsk' for --score; it has 'risk', 'id'"),
        (["--score", "rsk"], "Did you mean 'risk'?"),
        (["--score", "note"], "row 1, column 'note': score is not a number ('a, 0')"),
        (["--label", "id"], "is a third label beside"),
        (["--label", "risk"], "was given for two roles"),
        (["--positive", "maybe"], "--positive maybe"),
        (["--format", "parquet"], "people.csv"),
        (["--sample", "0"], "--sample"),
        (["--method", "kernel"], "--method says how a rate is kept, but none is"),
        (["--delta", "0.1"], "--delta says how a rate is kept"),
        (["--thin-groups", "pool"], "--thin-groups says how"),
        (["--parameter", "size=3"], "--parameter says how"),
    ],
)
def test_calibrate_refuses(run, people, tmp_path, change, words):
    """File, row, column, value and remedy stand in the message; nothing is written."""
    asked = ["calibrate", people, "--score", "risk", "--label", "ill", "-o", tmp_path / "cal.rk"]
    result = run(*asked, *change)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert not (tmp_path / "cal.rk").exists()


def test_skipping_is_explicit_and_counted(run, tmp_path):
    """An invalid row is refused by number; skipped, it is counted in output and certificate."""
    rows = [f"{i / 100},{i % 2}" for i in range(200)]
    rows[120] = "nan,1"
    rows[130] = ",0"
    path = tmp_path / "odd.csv"
    path.write_text("\n".join(["risk,ill", *rows]) + "\n")
    out = tmp_path / "test.rk"
    asked = ["calibrate", path, "--score", "risk", "--label", "ill", "--fnr", "5%", "-o", out]
    refused = run(*asked)
    assert refused.exit_code == 2
    assert "row 121, column 'risk': score is NaN" in refused.stderr
    assert "--on-invalid skip" in refused.stderr
    assert "on_invalid" not in refused.stderr
    skipped = run(*asked, "--on-invalid", "skip")
    assert skipped.exit_code == 0
    assert "skipped" in skipped.stdout
    assert "score is NaN: 1" in " ".join(skipped.stdout.split())
    decided = tmp_path / "decided.csv"
    result = run("classify", out, path, "-o", decided, "--on-invalid", "skip")
    assert "Skipped 2 rows (score is missing: 1; score is NaN: 1)." in result.stderr
    assert decided.read_text().splitlines()[121] == "nan,1,,,"
    later = [f"{i / 100 + 0.003},{i % 2}" for i in range(199)]
    path.write_text("\n".join(["risk,ill", *later, rows[120], rows[130]]) + "\n")
    found = run("evaluate", out, path, "--on-invalid", "skip")
    assert "Read 201 rows. Skipped 2 rows" in found.stdout


def test_classify_adds_three_columns(run, test_file, people, tmp_path):
    """All rows and columns stay as they are, with p0, p1 and the library's decision."""
    out = tmp_path / "decided.csv"
    result = run("classify", test_file, people, "-o", out, "--prefix", "rk_")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert f"Wrote {out}." in result.stderr
    before, after = people.read_text().splitlines(), out.read_text().splitlines()
    assert len(before) == len(after)
    rows = list(csv.DictReader(after))
    assert list(rows[0]) == [*before[0].split(","), "rk_p0", "rk_p1", "rk_decision"]
    frame = frame_of(people)
    decisions = rk.load(test_file).decide(frame["risk"], groups=frame["site"])
    assert [row["rk_decision"] for row in rows] == decisions.labels.tolist()
    np.testing.assert_array_equal([float(row["rk_p1"]) for row in rows], decisions.p_values.p1)
    positive = int(decisions.positive.sum())
    assert f"{positive:,} positive ('yes'), {2000 - positive:,} negative ('no')" in result.stderr
    facts = json.loads(run("classify", test_file, people, "-o", out, "--json").stdout)
    assert (facts["rows"], facts["positive"]) == (2000, positive)


@pytest.mark.thorough
def test_pipes(test_file, people, tmp_path):
    """Standard input to standard output, with the summary on stderr."""
    command = [sys.executable, "-m", "ratekeeper", "classify", str(test_file), "-"]
    done = subprocess.run(command, input=people.read_bytes(), capture_output=True, check=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert len(rows) == 2000
    assert {row["decision"] for row in rows} == {"no", "yes"}
    assert done.stderr.decode().startswith("Decided on 2,000 rows: ")
    out = tmp_path / "decided.parquet"
    done = subprocess.run(
        [*command, "-o", out], input=people.read_bytes(), capture_output=True, check=True
    )
    assert done.stdout == b""
    assert pl.read_parquet(out)["decision"].to_list() == [row["decision"] for row in rows]


def test_a_reader_that_has_enough(test_file, people):
    """`classify | head` ends without a word."""
    with subprocess.Popen(
        [sys.executable, "-m", "ratekeeper", "classify", str(test_file), str(people)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_rows_and_json_do_not_mix(run, test_file, people):
    """Without -o the rows have standard output for themselves."""
    result = run("classify", test_file, people, "--json")
    assert result.exit_code == 2
    assert "Pass -o OUT" in result.stderr


def test_the_input_stays(run, test_file, people, tmp_path):
    """Neither the rows nor the test nor a folder of rows is written into."""
    before = people.read_bytes(), test_file.read_bytes()
    for out in (people, test_file):
        assert run("classify", test_file, people, "-o", out).exit_code == 2
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.csv").write_bytes(people.read_bytes())
    inside = run("classify", test_file, folder, "-o", folder / "out.csv")
    assert inside.exit_code == 2
    assert "lies in the input folder" in inside.stderr
    assert run("classify", test_file, folder, "-o", tmp_path / "out.csv").exit_code == 0
    assert (people.read_bytes(), test_file.read_bytes()) == before


def test_evaluate_counts_what_the_library_counts(run, test_file, later):
    """Rates, intervals and verdicts, by group and over all; as JSON the same."""
    frame = frame_of(later)
    test = rk.load(test_file)
    whole = test.evaluate(frame["risk"], frame["ill"], groups=frame["site"])
    facts = json.loads(run("evaluate", test_file, later, "--json").stdout)
    assert facts["overall"]["target"]["errors"] == whole.target.errors
    assert facts["overall"]["verdict"] == whole.verdict
    assert facts["overall"]["p_value"] == whole.p_value
    assert [one["group"] for one in facts["groups"]] == ["north", "south"]
    assert [one["p_value"] for one in facts["groups"]] == [
        whole.groups[name].p_value for name in ("north", "south")
    ]
    assert facts["pooled_groups"] == {"fnr": []}
    text = run("evaluate", test_file, later, env={"COLUMNS": "80"}).stdout
    assert max(map(len, text.splitlines())) <= 80
    lines = [line.split() for line in text.splitlines()]
    north = next(one["target"] for one in facts["groups"] if one["group"] == "north")
    assert ["north", f"{north['n']:,}", f"{north['errors']:,}"] in [line[:3] for line in lines]
    assert "FNR, promised: at most 5%" in text
    price = text.partition("FPR, the price: nothing is promised")[2]
    alarms = facts["overall"]["other"]
    whole = next(line.split() for line in price.splitlines() if "everybody" in line)
    assert whole[1:3] == [f"{alarms['n']:,}", f"{alarms['errors']:,}"]
    assert alarms["name"] == "fpr"


def test_the_calibration_itself_is_not_evaluated(run, test_file, people):
    """The rows that the threshold was taken from show nothing, in any order."""
    head, *rows = people.read_text().splitlines()
    people.write_text("\n".join([head, *reversed(rows)]) + "\n")
    result = run("evaluate", test_file, people)
    assert result.exit_code == 2
    assert "people.csv: These are the calibration objects themselves" in result.stderr
    assert result.stdout == ""


def test_evaluate_both_rates(run, people, later, tmp_path):
    """A test of both rates shows each beside its promise, and abstentions by class."""
    out = tmp_path / "both.rk"
    asked = ["--score", "risk", "--label", "ill", "--fnr", "5%", "--fpr", "1%", "-o", out]
    run("calibrate", people, *asked)
    result = run("evaluate", out, later, env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= 80
    for words in ("FNR, promised: at most 5%", "FPR, promised: at most 1%", "Undecided"):
        assert words in result.stdout


def test_no_verdict_where_nothing_is_promised(run, by_site, people, tmp_path):
    """A pooled group has no promise to keep or to break, nor have all groups together."""
    test = tmp_path / "pooled.rk"
    run("control", by_site, "--fnr", "5%", "--thin-groups", "pool", "-o", test)
    rows = people.read_text().replace(",yes,", ",1,").replace(",no,", ",0,")
    people.write_text(rows)
    columns = ["--score", "risk", "--label", "ill", "--group", "site"]
    text = run("evaluate", test, people, *columns).stdout
    verdicts = {line.split()[0]: line for line in text.splitlines() if "% to" in line}
    first = text.split("FPR, the price")[0]
    assert "no promise" in next(line for line in first.splitlines() if "south" in line)
    assert "no promise" in next(line for line in first.splitlines() if "everybody" in line)
    assert "no promise" not in next(line for line in first.splitlines() if "north" in line)
    assert set(verdicts) == {"north", "south", "everybody"}
    facts = json.loads(run("evaluate", test, people, *columns, "--json").stdout)
    assert facts["pooled_groups"] == {"fnr": ["south"]}


def test_a_group_called_everybody(run, people, tmp_path):
    """A group of that name does not hide the row of all."""
    people.write_text(people.read_text().replace(",north,", ",everybody,"))
    out = tmp_path / "test.rk"
    run("calibrate", people, "--score", "risk", "--label", "ill", "--group", "site", "--fnr", "5%",
        "-o", out)  # fmt: skip
    people.write_text(other_scores(people.read_text()))
    text = run("evaluate", out, people).stdout
    assert "(everybody)" in text
    assert text.count("everybody") == 6


def test_files_of_every_kind(run, people, tmp_path):
    """CSV, TSV, gzip, Parquet, Arrow, Feather and folders give one and the same calibration."""
    import gzip

    frame = frame_of(people)
    folder = tmp_path / "parts"
    folder.mkdir()
    frame[:700].write_parquet(folder / "0.parquet")
    frame[700:].write_parquet(folder / "1.parquet")
    frame.write_csv(tmp_path / "people.tsv", separator="\t")
    frame.write_parquet(tmp_path / "people.parquet")
    frame.write_ipc(tmp_path / "people.arrow")
    frame.write_ipc(tmp_path / "people.feather")
    (tmp_path / "people.csv.gz").write_bytes(gzip.compress(people.read_bytes()))
    names = ["people.csv", "people.tsv", "people.csv.gz", "people.parquet", "people.arrow"]
    hashes = set()
    for name in [*names, "people.feather", "parts"]:
        asked = ["--score", "risk", "--label", "ill", "--group", "site"]
        result = run("calibrate", tmp_path / name, *asked, "-o", tmp_path / "c.rk", "--json")
        assert result.exit_code == 0, result.output
        hashes.add(json.loads(result.stdout)["data_hash"])
    assert len(hashes) == 1


def test_report(run, test_file, later, tmp_path):
    """A page is written, with and without counted rates; columns alone make no sense."""
    out = tmp_path / "report.html"
    assert run("report", test_file, "-o", out).exit_code == 0
    assert "<html" in out.read_text()
    result = run("report", test_file, "--evaluate", later, "--title", "Ours", "-o", out)
    assert result.exit_code == 0, result.output
    assert result.stderr == f"Replaced {out}.\n"
    assert "Ours" in out.read_text()
    assert "pass that, too" in run("report", test_file, "--score", "x", "-o", out).stderr


def test_settings_reach_the_work(run, people, tmp_path):
    """Columns from a TOML file and the environment calibrate as flags do."""
    config = tmp_path / "rk.toml"
    config.write_text('[calibrate]\nscore = "risk"\nlabel = "nothing"\nsample = 50\n')
    out = tmp_path / "cal.rk"
    env = {"RATEKEEPER_CALIBRATE_LABEL": "ill", "RATEKEEPER_CALIBRATE_OUTPUT": str(out)}
    result = run("calibrate", people, "--config", config, "--json", env=env)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["n"] == {"negative": 50, "positive": 50}


def test_arguments_in_the_wrong_order(run, test_file, people):
    """Rows in the place of the test are named, and so is the order."""
    for command in ("classify", "evaluate"):
        result = run(command, people, test_file)
        assert result.exit_code == 2
        assert f"{people} looks like rows" in result.stderr
        assert "TEST.RK, which control wrote, comes first" in result.stderr


def test_a_device_is_not_replaced(run, test_file, people):
    """What goes to /dev/null takes the place of nothing."""
    result = run("classify", test_file, people, "-o", "/dev/null", "--to", "csv")
    assert result.stderr.startswith("Wrote /dev/null.\n")


def test_a_seed_fixes_the_draw(run, people, tmp_path):
    """With a seed two runs write the same bytes, without one they have draws of their own."""
    asked = ["calibrate", people, "--score", "risk", "--label", "ill"]

    def written(*more):
        assert run(*asked, *more, "-o", tmp_path / "x.rk").exit_code == 0
        return (tmp_path / "x.rk").read_bytes()

    assert written("--seed", "3") == written("--seed", "3") != written("--seed", "4")
    assert written() != written()
    assert rk.load(tmp_path / "x.rk").draw.origin == "drawn"
    assert written("--fnr", "5%", "--method", "smoothed", "--seed", "3")


def test_a_device_needs_no_folder_to_write_in(run, calibration, monkeypatch):
    """Only root may make files in /dev, but everybody may write to /dev/null."""
    monkeypatch.setattr("os.access", lambda _, how: how != os.W_OK)
    asked = ["control", calibration, "--fnr", "5%", "-o"]
    assert run(*asked, "/dev/null").exit_code == 0
    refused = run(*asked, "somewhere.rk")
    assert refused.exit_code == 2
    assert "You may not write in" in refused.stderr


def test_a_merged_calibration_that_knows_no_column_says_why(run, people, tmp_path):
    """Files with different names for the scores leave none to take."""
    other = tmp_path / "other.csv"
    header, *rows = (line.split(",") for line in people.read_text().splitlines())
    header[header.index("risk")], place = "danger", header.index("risk")
    for row in rows:
        row[place] = repr(float(row[place]) + 0.001)  # the same data would be refused
    other.write_text("".join(f"{','.join(row)}\n" for row in [header, *rows]))
    for path, score in ((people, "risk"), (other, "danger")):
        target = tmp_path / f"{score}.rk"
        made = run("calibrate", path, "--score", score, "--label", "ill", "-o", target)
        assert made.exit_code == 0, made.output
    halves = [tmp_path / "risk.rk", tmp_path / "danger.rk"]
    test = tmp_path / "test.rk"
    assert run("control", *halves, "--fnr", "5%", "-o", test).exit_code == 0
    for command in (["classify", test, people, "-o", tmp_path / "o.csv"], ["sql", test]):
        more = ["--table", "t"] if command[0] == "sql" else []
        result = run(*command, *more)
        assert result.exit_code == 2
        assert "merged from files in which it has different names" in result.stderr
