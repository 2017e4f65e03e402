from __future__ import annotations

import csv
import re

import numpy as np
import pytest
from reproduction import published
from reproduction.__main__ import RESULTS, SEED, main, run
from reproduction.output import write
from reproduction.page import as_html, parse
from reproduction.protocol import FULL, GROUPS, SIZES, draw_group_fairly, draw_set, labels, sizes
from reproduction.replica import inputs, quantile_places
from reproduction.rivals import STANDARD, lilliefors_p_value, usual_rejections
from reproduction.study import watch_nothing
from reproduction.tables import Table

FILES = {
    "README.md",
    "figure_1a_densities.csv",
    "figure_1a_densities.png",
    "figure_1bc_control.csv",
    "figure_1bc_control.png",
    "figure_1de_by_size.csv",
    "figure_1de_by_size.png",
    "figure_2_power.csv",
    "figure_2_power.png",
    "index.html",
    "leak_free.csv",
    "leak_free_power.csv",
    "leak_free_power.png",
    "scale.csv",
    "table_1.csv",
    "targets.csv",
    "trainings.csv",
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduction")
    main(["--quick", "--output", str(folder)])
    return folder


def read(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_quick_form_writes_every_file_and_nothing_else(quick):
    """Tables, figures and the page are there; no unfinished folder is left."""
    assert {path.name for path in quick.iterdir()} == FILES
    for path in quick.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")


def test_the_tables_cover_the_paper(quick):
    """Table 1 has its thirteen columns, the figures every size and group, the leak every scale."""
    columns = {(row["test"], row["alpha"]) for row in read(quick / "table_1.csv")}
    assert columns == {
        (test, "" if alpha is None else f"{alpha:.0%}") for test, alpha in published.TABLE_1
    }
    places = {(row["group"], int(row["n"])) for row in read(quick / "figure_2_power.csv")}
    assert places == {(group, n) for group in GROUPS for n in SIZES}
    assert len(read(quick / "scale.csv")) == 4 * 3
    for row in read(quick / "table_1.csv"):
        for rate in ("A", "FNR", "FPR"):
            assert 0 <= float(row[rate]) <= 1
            difference = float(row[rate]) - float(row[f"{rate} printed"])
            assert float(row[f"{rate} difference"]) == pytest.approx(difference, abs=2e-5)


def test_the_page_stands_alone_and_says_that_it_is_the_quick_form(quick):
    """No place is left unfilled, and the HTML needs neither another file nor an address."""
    text = (quick / "README.md").read_text(encoding="utf-8")
    html = (quick / "index.html").read_text(encoding="utf-8")
    for page in (text, html):
        assert "quick form" in page
        assert "[[" not in page
        assert not re.search(r"\{\w*\}", text)
    assert html.count('src="data:image/png;base64,') == 5
    assert not re.search(r'(src|href)="(?!data:)', html)
    assert set(re.findall(r"\]\((\S+\.png)\)", text)) == {f for f in FILES if f.endswith(".png")}


@pytest.mark.long
def test_one_seed_gives_the_same_files_twice():
    """Every byte follows from the seed."""
    assert run(SEED, watch_nothing, quick=True) == run(SEED, watch_nothing, quick=True)


def test_the_quick_form_does_not_replace_the_real_results(capsys):
    """Without a folder of its own it is refused."""
    with pytest.raises(SystemExit):
        main(["--quick"])
    assert "must not replace" in capsys.readouterr().err
    assert not any(RESULTS.glob(".unfinished-*"))


def test_a_failing_write_leaves_the_folder_as_it_was(tmp_path):
    """Files are moved only when all of them are written."""
    write(tmp_path, {"a.csv": b"old"})
    with pytest.raises(FileNotFoundError):
        write(tmp_path, {"a.csv": b"new", "no such folder/b.csv": b"new"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.csv": b"old"}


def test_the_sixteen_inputs_by_hand():
    """Ten order statistics of the standardised sample, n, mean, sd, extremes and median."""
    x = np.array([[9.0, 1.0, 3.0, 5.0, 7.0]])
    (found,) = inputs(x)
    # The mean is 5, the variance (divisor n) 8. Adding 1/5 reaches 10% and 20% with the first
    # value, 30% and 40% with the second, 50% with the third. After three additions the sum is
    # 0.6000000000000001, as is 6 times 0.1; after four 0.8; after five 1.
    standard = (np.array([1, 1, 3, 3, 5, 5, 7, 7, 9, 9]) - 5) / np.sqrt(8)
    assert found[:10] == pytest.approx(standard, abs=1e-12)
    assert found[10:].tolist() == [5, 5, pytest.approx(np.sqrt(8)), 1, 9, 5]


@pytest.mark.parametrize("n", SIZES)
def test_quantiles_are_read_where_the_published_loop_reads_them(n):
    """The running sum, one addition after the other, gives the same places."""
    places = []
    for j in range(1, 11):
        place, reached = 0, 1.0 / n
        while reached < j * 0.1 and place < n:
            reached += 1.0 / n
            place += 1
        places.append(min(place, n - 1))
    assert quantile_places(n) == places


def test_the_inputs_of_a_constant_sample_are_missing_not_infinite():
    """Quantiles are NaN, to be imputed; the rest is known."""
    (found,) = inputs(np.full((1, 10), 3.0))
    assert np.isnan(found[:10]).all()
    assert found[10:].tolist() == [10, 3, 0, 3, 3, 3]


def test_the_full_sets_have_the_stated_sizes():
    """32,625 to calibrate, 13,100 to test, of each class, over ten sizes; 6,118 rows to train."""
    assert (FULL.train_notebook, FULL.calibration, FULL.test) == (13_050, 32_625, 13_100)
    # What the scaler of the author's saved network has seen.
    assert 0.7 * 2 * FULL.train == pytest.approx(6_118)
    samples = draw_set(np.random.default_rng(0), FULL.test)
    assert [part.n for part in samples] == list(SIZES)
    assert labels(samples).sum() == FULL.test
    assert labels(samples).size == sizes(samples).size == 2 * FULL.test
    uneven = draw_set(np.random.default_rng(0), 1_205)
    assert {part.is_normal.sum() for part in uneven} == {120, 121}
    assert labels(uneven).sum() == 1_205


def test_the_scale_laws_are_the_stated_ones():
    """Published: sd U(1, 20) of normal samples, variance U(1, 20) of others. Fair: sd of both."""
    samples = draw_set(np.random.default_rng(1), 6_000)
    normal = np.concatenate([part.is_normal for part in samples])
    leaky = np.concatenate([part.sd("published") for part in samples])
    fair = np.concatenate([part.sd("fair") for part in samples])
    # The mean of 6,000 draws from U(1, 20) is within 0.35 of 10.5 but for chance 1e-6.
    for values in (leaky[normal], leaky[~normal] ** 2, fair[normal], fair[~normal]):
        assert 1 <= values.min() < values.max() <= 20
        assert values.mean() == pytest.approx(10.5, abs=0.35)
    assert leaky[~normal].max() <= np.sqrt(20)


def test_the_two_scale_laws_share_their_shapes():
    """Standardised, the samples of both laws are the same; normal samples are the same at once."""
    (part,) = draw_set(np.random.default_rng(2), 500)[4:5]
    leaky, fair = part.values("published"), part.values("fair")
    assert np.array_equal(leaky[part.is_normal], fair[part.is_normal])
    for x, sd in ((leaky, part.sd("published")), (fair, part.sd("fair"))):
        assert (x - part.means[:, None]) / sd[:, None] == pytest.approx(part.shapes, abs=1e-9)


def test_groups_at_a_fair_scale_follow_the_laws_of_normal_samples():
    """Each sample's own mean and sd are draws from U(-100, 100) and U(1, 20)."""
    raw, scaled = draw_group_fairly(np.random.default_rng(3), "G4", 2_000, 20)
    assert ((raw >= 0) & (raw <= 1)).all()
    sd, mean = scaled.std(axis=1), scaled.mean(axis=1)
    assert 1 <= sd.min() < sd.max() <= 20
    assert sd.mean() == pytest.approx(10.5, abs=0.6)
    assert np.abs(mean).max() <= 100
    assert mean.mean() == pytest.approx(0, abs=6.5)


@pytest.mark.parametrize("table", [published.TABLE_1, published.REPOSITORY])
def test_the_published_accuracies_agree_with_the_rates(table):
    """A = 1 - (FNR + FPR) / 2 within rounding, but for the known slip in the paper."""
    assert set(table) == set(published.TABLE_1)
    for column, rates in table.items():
        expected = 1 - (rates.fnr + rates.fpr) / 2
        if table is published.TABLE_1 and column == published.SLIP:
            assert expected == pytest.approx(0.9215)
            assert rates.accuracy == 0.912
        else:
            # FNR, FPR and A are each rounded to three decimals.
            assert rates.accuracy == pytest.approx(expected, abs=0.00101)


def test_the_published_power_is_complete():
    """Six tests, four groups, ten sizes, all shares; the standard tests gain power with n."""
    assert tuple(published.POWER) == GROUPS
    for tests in published.POWER.values():
        assert set(tests) == {"NN_1", "NN_0", *STANDARD}
        for name, shares in tests.items():
            assert len(shares) == len(SIZES)
            assert 0 <= min(shares) <= max(shares) <= 1
            assert name.startswith("NN") or list(shares) == sorted(shares)


@pytest.mark.parametrize(
    ("n", "critical"), [(10, 0.262), (20, 0.192), (30, 0.159), (50, 0.1248), (100, 0.0890)]
)
def test_lilliefors_p_values_agree_with_tabulated_critical_values(n, critical):
    """The 5% points of the corrected tables have p-values of 5%."""
    assert lilliefors_p_value(np.array([critical]), n)[0] == pytest.approx(0.05, abs=0.003)


def test_the_usual_tests_judge_constant_samples_as_published():
    """Shapiro-Wilk passes a constant sample, the others reject it."""
    x = np.vstack([np.full(20, 7.0), np.random.default_rng(4).normal(size=20)])
    found = usual_rejections(x, (0.05,))
    assert {test: bool(found[test, 0.05][0]) for test in STANDARD} == {
        "SW": False,
        "AD": True,
        "LF": True,
        "JB": True,
    }
    assert not any(found[test, 0.05][1] for test in STANDARD)


def test_the_usual_tests_keep_about_their_level():
    """At 5% they reject 2.5% to 6.5% of 4,000 normal samples: their tables are approximate."""
    x = np.random.default_rng(5).normal(3, 2, (4_000, 50))
    for rejected in usual_rejections(x, (0.05,)).values():
        assert 0.025 < rejected.mean() < 0.065


def test_a_table_is_written_alike_in_three_forms():
    """Rates with five decimals in CSV and three on the page; text is escaped in HTML."""
    table = Table("t", ("test", "n", "rate"), [("a < b", 10, 0.123456), ("c", 20, None)])
    assert table.csv() == "test,n,rate\na < b,10,0.12346\nc,20,\n"
    assert table.markdown().splitlines()[1:3] == ["| --- | ---: | ---: |", "| a < b | 10 | 0.123 |"]
    page = as_html(parse("# Title\n\n- one\n- two\n\n[[table t]]", {"t": table}), {})
    assert "<td>a &lt; b</td>" in page
    assert page.count("<li>") == 2
    assert "<title>Title</title>" in page
