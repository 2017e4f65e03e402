"""The command select: rows of a batch that are worth a look."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from cases import each

import ratekeeper as rk
from ratekeeper.files import select_file
from ratekeeper.methods import METHODS


@pytest.fixture
def stored(run, people, tmp_path):
    """Calibrate on all people."""
    path = tmp_path / "cal.rk"
    run("calibrate", people, "--score", "risk", "--label", "ill", "-o", path)
    return path


@pytest.fixture
def new(people):
    """Write like people, in another order of digits: 300 rows, of which a third stands out."""
    rng = np.random.default_rng(8)
    risk = rng.normal(np.tile([0.0, 0.0, 4.0], 100)).clip(-3, 5).tolist()
    path = people.with_name("new.csv")
    rows = [f'00{i},{x!r},{"north" if i % 2 else "south"},"a, {i}"' for i, x in enumerate(risk)]
    path.write_text("\n".join(["id,risk,site,note", *rows]) + "\n")
    return path


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def scores_of(path):
    return np.array([float(row["risk"]) for row in rows_of(path)])


def test_the_selected_rows_are_those_of_the_library(run, stored, new, tmp_path):
    """Rows keep order and columns, with p0, q and selected of `Calibration.select`."""
    out = tmp_path / "selected.csv"
    result = run("select", stored, new, "--fdr", "10%", "-o", out)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    found = rk.load(stored).select(scores_of(new), 0.1)
    head, *lines = out.read_text().splitlines()
    given = new.read_text().splitlines()
    assert head == f"{given[0]},p0,q,selected"
    expected = [
        f"{row},{p!r},{q!r},True"
        for row, p, q, chosen in zip(
            given[1:], found.p_values.tolist(), found.q_values.tolist(), found.selected, strict=True
        )
        if chosen
    ]
    assert lines == expected
    assert len(lines) > 50
    text = " ".join(result.stderr.split())
    assert f"SELECTION {len(lines)} of 300 objects, FDR <= 10%" in text
    assert "On average over calibration sets and batches, at most 10%" in text
    assert "positives that are not selected" in text
    assert result.stderr.endswith(f"Read 300 rows.\nWrote {out}.\n")


def test_all_rows_can_be_kept(run, stored, new, tmp_path):
    """With --all every row is there, and a boolean says which are selected."""
    found = rk.load(stored).select(scores_of(new), 0.1)
    for name in ("all.csv", "all.parquet", "all.arrow"):
        out = tmp_path / name
        given = ["--fdr", "10%", "--all", "--prefix", "rk_"]
        result = run("select", stored, new, *given, "-o", out)
        assert result.exit_code == 0, result.output
        read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}
        table = read[name[4:]](out)
        assert table.columns == ["id", "risk", "site", "note", "rk_p0", "rk_q", "rk_selected"]
        chosen = table["rk_selected"].cast(pl.String).str.to_lowercase() == "true"
        assert (chosen.to_numpy() == found.selected).all()
        assert (table["rk_q"].to_numpy() == found.q_values).all()


@pytest.mark.parametrize("kind", ["parquet", "arrow", "feather"])
def test_typed_files_stay_typed(run, stored, new, tmp_path, kind):
    """Parquet, Arrow and Feather go in and out, with only the selected rows."""
    table = pl.read_csv(new, schema_overrides={"id": pl.String}).with_columns(
        pl.col("site").cast(pl.Categorical), more=pl.struct("id", "risk")
    )
    source, out = tmp_path / f"new.{kind}", tmp_path / f"out.{kind}"
    (table.write_parquet if kind == "parquet" else table.write_ipc)(source)
    result = run("select", stored, source, "--budget", 70, "-o", out)
    assert result.exit_code == 0, result.output
    written = (pl.read_parquet if kind == "parquet" else pl.read_ipc)(out)
    mask = rk.load(stored).select(table["risk"], budget=70).selected
    kept = table.filter(pl.Series(mask))
    assert written["id"].to_list() == kept["id"].to_list()
    assert written["more"].to_list() == kept["more"].to_list()
    assert written["selected"].dtype == pl.Boolean


@pytest.mark.thorough
def test_standard_input_and_output(stored, new, tmp_path):
    """Rows may come through a pipe, in text or Arrow, and go into one."""
    out = tmp_path / "file.csv"
    command = [sys.executable, "-m", "ratekeeper", "select", str(stored)]
    options = ["--fdr", "10%"]
    subprocess.run([*command, str(new), *options, "-o", str(out)], check=True, capture_output=True)
    done = subprocess.run(
        [*command, "-", *options], input=new.read_bytes(), capture_output=True, check=True
    )
    assert done.stdout == out.read_bytes()
    stream = io.BytesIO()
    pl.read_csv(new).write_ipc_stream(stream, compat_level=pl.CompatLevel.oldest())
    done = subprocess.run(
        [*command, "-", *options, "--to", "csv"],
        input=stream.getvalue(),
        capture_output=True,
        check=True,
    )
    assert len(done.stdout.splitlines()) == len(out.read_text().splitlines())
    bad = subprocess.run(
        [*command, "-", *options], input=b"risk\n1\nx\n", capture_output=True, check=False
    )
    assert b"standard input, row 2, column 'risk'" in bad.stderr


def test_a_test_stands_for_its_calibration(run, stored, new, tmp_path):
    """What control wrote selects as the calibration does."""
    test, one, two = tmp_path / "test.rk", tmp_path / "one.csv", tmp_path / "two.csv"
    run("control", stored, "--fnr", "5%", "-o", test)
    for path, out in ((stored, one), (test, two)):
        assert run("select", path, new, "--budget", 20, "-o", out).exit_code == 0
    assert one.read_text() == two.read_text()


def test_json_has_all_facts(run, stored, new, tmp_path):
    """One object with counts, levels and the promise; rows must go elsewhere."""
    out = tmp_path / "out.csv"
    result = run("select", stored, new, "--budget", 50, "-o", out, "--json")
    facts = json.loads(result.stdout)
    assert facts["n_selected"] == facts["budget"] == 50
    assert facts["rows"] == facts["n"] == 300
    assert facts["n_at_least_fdr"] >= 50
    assert facts["guarantee"]["kind"] == "none"
    assert facts["output"] == str(out)
    assert run("select", stored, new, "--budget", 50, "--json").exit_code == 2


def test_groups_come_from_their_column(run, by_site, new, tmp_path):
    """A calibration with groups reads each row's group, and --group names the column."""
    out = tmp_path / "out.csv"
    columns = ["--score", "risk", "--group", "site"]
    result = run("select", by_site, new, "--fdr", "20%", *columns, "-o", out)
    assert result.exit_code == 0, result.output
    sites = [row["site"] for row in rows_of(new)]
    found = rk.load(by_site).select(scores_of(new), 0.2, groups=sites)
    assert len(out.read_text().splitlines()) == found.n_selected + 1 > 1
    assert "group 'north'" in " ".join(result.stderr.split())


def test_skipped_rows_are_no_part_of_the_batch(run, stored, new, tmp_path):
    """Rows without a score are counted, and with --all stay in their place without values."""
    text = new.read_text().splitlines()
    broken = [text[0], "x1,,north,b", *text[1:150], "x2,NA,south,b", *text[150:]]
    new.write_text("\n".join(broken) + "\n")
    refused = run("select", stored, new, "--fdr", "10%", "-o", tmp_path / "no.csv")
    assert refused.exit_code == 2
    assert "row 1, column 'risk': score is missing" in refused.stderr
    assert not (tmp_path / "no.csv").exists()
    skip = ["--fdr", "10%", "--on-invalid", "skip"]
    result = run("select", stored, new, *skip, "--all", "-o", tmp_path / "all.csv")
    assert "Skipped 2 rows" in result.stderr
    rows = rows_of(tmp_path / "all.csv")
    assert (rows[0]["p0"], rows[0]["q"], rows[0]["selected"]) == ("", "", "")
    assert rows[150]["id"] == "x2"
    assert rows[150]["selected"] == ""
    scores = np.array([float(row["risk"]) for row in rows if row["selected"]])
    found = rk.load(stored).select(scores, 0.1)
    assert [row["selected"] for row in rows if row["selected"]] == list(map(str, found.selected))
    run("select", stored, new, *skip, "-o", tmp_path / "some.csv")
    assert len((tmp_path / "some.csv").read_text().splitlines()) == found.n_selected + 1


def test_a_folder_of_files_is_one_batch(run, stored, new, tmp_path):
    """Files of a folder are selected from together, into one file or each into its own."""
    text = new.read_text().splitlines()
    folder = tmp_path / "days"
    folder.mkdir()
    for name, part in (("a.csv", text[1:100]), ("b.csv", text[100:])):
        (folder / name).write_text("\n".join([text[0], *part]) + "\n")
    given = ["--fdr", "10%", "-o"]
    for source, out in ((new, "one.csv"), (folder, "two.csv"), (folder, "three")):
        result = run("select", stored, source, *given, tmp_path / out)
        assert result.exit_code == 0, result.output
    whole = (tmp_path / "one.csv").read_text()
    assert (tmp_path / "two.csv").read_text() == whole
    apart = [(tmp_path / "three" / name).read_text() for name in ("a.csv", "b.csv")]
    head = whole.split("\n", 1)[0] + "\n"
    assert apart[0] + apart[1].removeprefix(head) == whole


def test_bad_questions_end_with_a_message(run, stored, new, tmp_path):
    """Each refusal is in the words of the command line, and nothing is written."""
    out = tmp_path / "out.csv"
    cases = {
        (): "Neither --fdr nor --budget was given",
        ("--fdr", "10%", "--budget", 3): "--fdr and --budget were both given",
        ("--fdr", "110%"): "not a rate strictly between 0 and 1",
        ("--budget", 0): "0 is not in the range",
        ("--budget", 301): "--budget 301 must be at most the number of objects in the batch, 300",
        ("--fdr", "10%", "--method", "high-probability"): "one alpha fixed in advance",
        ("--fdr", "10%", "--method", "parametric"): "--method parametric cannot keep an FDR",
        ("--fdr", "10%", "--delta", "1%"): "--delta 0.01 belongs to --method",
        ("--fdr", "10%", "--group", "site"): "--group site was given, but the calibration has no",
        ("--fdr", "10%", "--score", "Risk"): "Did you mean 'risk'?",
    }
    for given, words in cases.items():
        result = run("select", stored, new, *given, "-o", out)
        assert result.exit_code == 2, given
        assert words in result.stderr, given
    few = run("select", stored, new, "--fdr", "0.0001%", "-o", out)
    assert few.exit_code == 3
    assert "needs at least 999,999 negative calibration scores" in few.stderr
    empty = tmp_path / "empty.csv"
    empty.write_text("id,risk\n")
    assert "no scores to choose from" in run("select", stored, empty, "--budget", 1).stderr
    assert not out.exists()


def test_a_file_that_changes_is_noticed(stored, new, tmp_path, monkeypatch):
    """Rows that are not those whose scores were read are refused, and nothing is written."""
    from ratekeeper.files import _select

    true = _select.select_read

    def change(*arguments, **options):
        new.write_text(new.read_text().replace(",0.", ",1.", 1))
        return true(*arguments, **options)

    monkeypatch.setattr(_select, "select_read", change)
    out = tmp_path / "out.csv"
    with pytest.raises(rk.InputError, match="changed while it was read"):
        select_file(rk.load(stored), new, out, fdr=0.1)
    assert not out.exists()


@each("name", METHODS)
def test_the_methods_are_those_that_are_proven(run, stored, new, tmp_path, name):
    """The command takes the methods that the library accepts, with delta if they have one."""
    asked = ["select", stored, new, "--budget", 20, "--method", name, "-o", tmp_path / "out.csv"]
    try:
        rk.load(stored).select(scores_of(new), budget=20, method=name)
    except rk.InputError as error:
        assert "cannot keep an FDR" in str(error)  # noqa: PT017 - some are accepted
        done = run(*asked)
        assert done.exit_code == 2
        assert f"--method {name} cannot keep an FDR" in done.stderr
        return
    assert run(*asked).exit_code == 0
    done = run(*asked, "--delta", "1%", "--json")
    if name == "simultaneous":
        assert json.loads(done.stdout)["method"] == "Simultaneous(delta=0.01)"
    else:
        assert (
            f"--delta 0.01 belongs to --method high-probability or simultaneous, not to {name}"
            in done.stderr
        )
