"""The command `normality`: one row per column and group."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import option_of

import ratekeeper as rk


@pytest.fixture
def table(tmp_path):
    """Write columns that are normal, skewed, constant, of text, and full of gaps."""
    rng = np.random.default_rng(0)
    normal, skewed = rng.normal(size=300), rng.exponential(size=300)
    a, b = normal.tolist(), skewed.tolist()
    lines = ["normal,skewed,same,word,gaps,sex"]
    for i in range(300):
        gap = f"{float(rng.normal())}" if i < 4 else ""
        lines.append(f"{a[i]!r},{b[i]!r},1,w{i},{gap},{'fm'[i % 2]}")
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path, normal, skewed


def samples(result):
    assert result.exit_code == 0, result.output
    return {(s["column"], s["group"]): s for s in json.loads(result.stdout)["samples"]}


def test_p_values_are_the_library_s(run, table):
    """One row for each column asked for, with the test's own numbers."""
    path, normal, skewed = table
    found = samples(run("normality", path, "--column", "normal", "--column", "skewed", "--json"))
    for name, values in (("normal", normal), ("skewed", skewed)):
        result = rk.normality_test(values)
        assert found[name, None]["p_value"] == result.pvalue
        assert found[name, None]["statistic"] == result.statistic
    assert found["normal", None]["verdict"] == "no evidence"
    assert found["skewed", None]["verdict"] == "not normal"


def test_by_group(run, table):
    """Each group is a sample of its own."""
    path, normal, _ = table
    found = samples(run("normality", path, "--column", "normal", "--by", "sex", "--json"))
    assert list(found) == [("normal", "f"), ("normal", "m")]
    assert found["normal", "m"]["p_value"] == rk.normality_test(normal[1::2]).pvalue


def test_gaps_are_refused_or_counted(run, table):
    """A missing value is named by its row, or skipped and counted; thin samples are said so."""
    path, *_ = table
    refused = run("normality", path)
    assert refused.exit_code == 2
    assert (
        "row 5, column 'gaps': the value is missing or NaN, the first of 296 that" in refused.stderr
    )
    found = samples(run("normality", path, "--on-invalid", "skip", "--json"))
    assert {name for name, _ in found} == {"normal", "skewed", "same", "gaps"}
    thin = found["gaps", None]
    assert (thin["n"], thin["skipped"], thin["p_value"]) == (4, 296, None)
    assert "too small" in thin["remark"]
    assert "variance is 0" in found["same", None]["remark"]
    text = run("normality", path, "--on-invalid", "skip", env={"COLUMNS": "80"})
    assert text.exit_code == 0
    assert "not tested" in text.stdout
    assert "296" in text.stdout


@pytest.fixture
def long(tmp_path):
    """Write a column with more values than the tables cover, and one with many more gaps."""
    values = np.random.default_rng(0).exponential(size=10_001)
    path = tmp_path / "long.csv"
    rows = [f"{x!r},{x!r}" if i < 30 else f"{x!r}," for i, x in enumerate(values.tolist())]
    path.write_text("\n".join(["x,short", *rows]) + "\n")
    return path, values


def test_nothing_tested_is_no_success(run, long):
    """A sample beyond the tables is named with an option as the remedy; alone it ends with 2."""
    path, _ = long
    for options in ([], ["--json"]):
        result = run("normality", path, "--column", "x", *options)
        assert result.exit_code == 2
        assert "not tested" in result.stdout
        words = "Nothing was tested. A sample of n = 10,001 is larger than the tables reach (10,000"
        assert words in result.stderr
        assert "with --sample 10000." in result.stderr
        assert "rng" not in result.output
    found = samples(run("normality", path, "--on-invalid", "skip", "--json"))
    assert found["x", None]["verdict"] == "not tested"
    assert found["short", None]["verdict"] == "not normal"


def test_a_sample_of_many_values_is_tested(run, long):
    """--sample draws with its seed, says from how many, and leaves smaller samples whole."""
    path, values = long
    asked = ["normality", path, "--on-invalid", "skip", "--sample", "200", "--json"]
    seeds = [["--seed", "0"], ["--seed", "0"], ["--seed", "1"], []]
    found, again, other, fresh = (samples(run(*asked, *seed)) for seed in seeds)
    drawn = found["x", None]
    assert (drawn["n"], drawn["sampled_from"]) == (200, 10_001)
    assert "A random sample of 200 of the 10,001 values was tested." in drawn["remark"]
    assert found == again
    assert other["x", None]["statistic"] != drawn["statistic"] != fresh["x", None]["statistic"]
    assert (found["short", None]["n"], found["short", None]["sampled_from"]) == (30, None)
    assert found["short", None]["p_value"] == rk.normality_test(values[:30]).pvalue
    assert samples(run(*asked[:4], "--sample", "10000", "--json"))["x", None]["n"] == 10_000


def test_the_sizes_of_samples_are_those_of_the_tables(run, long):
    """--sample takes what the tables cover; --seed without it is refused."""
    sizes = option_of("normality", "sample").type
    for n in (sizes.min, sizes.max):
        assert 0 < rk.normality_test(np.arange(n) ** 2).pvalue <= 1
    for n in (sizes.min - 1, sizes.max + 1):
        with pytest.raises(rk.InputError, match=f"n = {n:,} "):
            rk.normality_test(np.arange(n) ** 2)
    for options in (["--sample", "4"], ["--sample", "10001"], ["--seed", "1"]):
        result = run("normality", long[0], "--column", "x", *options)
        assert result.exit_code == 2
        assert options[0] in result.stderr


def test_the_smallest_p_value_is_a_bound(run, table):
    """Where the tables cannot show how small p is, it is printed as a bound, in JSON as a field."""
    path, *_ = table
    asked = ["normality", path, "--column", "normal", "--column", "skewed"]
    text = run(*asked).stdout
    assert "< 4e-06" in text
    found = samples(run(*asked, "--json"))
    assert found["skewed", None]["p_value"] == pytest.approx(4e-6)
    assert found["skewed", None]["p_value_is_bound"] is True
    assert found["normal", None]["p_value_is_bound"] is False


def test_rows_without_a_group(run, tmp_path):
    """They are refused, or left out and counted; numbers as groups are whole numbers."""
    path = tmp_path / "groups.csv"
    path.write_text("x,g\n" + "".join(f"{i * i},{'' if i == 7 else 1}\n" for i in range(30)))
    assert "row 8, column 'g': the group is missing" in run("normality", path, "--by", "g").stderr
    result = run("normality", path, "--by", "g", "--on-invalid", "skip", "--json")
    assert json.loads(result.stdout)["rows_without_group"] == 1
    assert list(samples(result)) == [("x", "1")]
    assert samples(result)["x", "1"]["n"] == 29
    text = run("normality", path, "--by", "g", "--on-invalid", "skip").stdout
    assert "Skipped 1 row without g." in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--column", "word"], "row 1, column 'word': 'w0' is not a number"),
        (["--column", "norml"], "Did you mean 'normal'?"),
        (["--by", "sx"], "Did you mean 'sex'?"),
        (["--alternative", "odd"], "'odd' is not one of"),
        (["--alpha", "2"], "'2' is not a rate"),
    ],
)
def test_refusals(run, table, options, words):
    """What cannot be tested is named, with code 2."""
    result = run("normality", table[0], *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_alpha_and_alternative(run, table):
    """The level decides the verdict, the alternative the test."""
    path, normal, _ = table
    asked = ["normality", path, "--column", "normal", "--alternative", "heavy", "--json"]
    expected = rk.normality_test(normal, alternative="heavy").pvalue
    found = samples(run(*asked, "--alpha", "99.9%"))["normal", None]
    assert found["p_value"] == expected
    assert found["verdict"] == "not normal"


def test_no_rows(run, tmp_path):
    """A header alone is refused."""
    path = tmp_path / "empty.csv"
    path.write_text("x,y\n")
    result = run("normality", path)
    assert result.exit_code == 2
    assert "no rows" in result.stderr


def test_the_row_that_is_no_number_is_named(run, tmp_path):
    """Not one before it that is a number as the file writes them."""
    path = tmp_path / "n.csv"
    path.write_text("a;b\n1,5;x\n2,5;y\nNA;z\nfoo;y\n")
    result = run("normality", path, "--column", "a")
    assert result.exit_code == 2
    assert "row 4, column 'a': 'foo' is not a number" in result.stderr
    path.write_text('a,b\n1.5,x\n"2,5",y\n')
    assert "row 2, column 'a': '2,5'" in run("normality", path, "--column", "a").stderr


def test_groups_of_numbers_are_written_as_they_are(run, tmp_path):
    """0.1 is not 0.10000000000000001, and 2 is not 2.0."""
    rows = [f"{x},{g}" for x, g in zip(range(60), ["0.1", "2", "0.7"] * 20, strict=True)]
    path = tmp_path / "n.csv"
    path.write_text("\n".join(["a,g", *rows]) + "\n")
    found = samples(run("normality", path, "--column", "a", "--by", "g", "--json"))
    assert {group for _, group in found} == {"0.1", "2", "0.7"}
