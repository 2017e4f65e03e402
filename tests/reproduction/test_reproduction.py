from __future__ import annotations

import csv
import re

import numpy as np
import pytest
from reproduction import published
from reproduction.__main__ import RESULTS, SEED, main, run
from reproduction.page import as_html, parse
from reproduction.protocol import FULL, GROUPS, SIZES, draw_group_fairly, draw_set, labels, sizes
from reproduction.replica import inputs, quantile_places
from reproduction.standard_tests import (
    NETWORKS,
    OURS,
    STANDARD,
    lilliefors_p_value,
    usual_rejections,
)
from reproduction.study import watch_nothing
from reproduction.tables import Table
from reproduction.training import HELD_OUT_FAMILIES, TRAINING_FAMILIES, populations
from reproduction.valid.cells import (
    FAMILY_SIZES,
    LARGE_SIZES,
    MEMBERS,
    SHARES,
    SHIFTS,
    SMALL_SIZES,
    Cell,
    best_on_average,
    mean_lead,
)
from reproduction.valid.size import (
    LEVELS,
    OUTSIDE,
    SDS,
    SIZES as SIZES_OF_THE_SIZE,
    SizeCheck,
    size_band,
)
from reproduction.valid.targets import smallest_step
from scipy import stats

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
    "valid_families.csv",
    "valid_held_out.csv",
    "valid_held_out.png",
    "valid_mixtures.csv",
    "valid_near_normal.csv",
    "valid_power.csv",
    "valid_power.png",
    "valid_size.csv",
    "valid_targets.csv",
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduction")
    main(["--quick", "--output", str(folder)])
    return folder


def read(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.thorough
def test_the_quick_form_writes_every_file_and_nothing_else(quick):
    """Tables, figures and the page are there; no unfinished folder is left."""
    assert {path.name for path in quick.iterdir()} == FILES
    for path in quick.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_the_tables_of_the_valid_test_are_complete(quick):
    """Every network at every size and level, every group and held-out family at every n."""
    found = {(r["test"], int(r["n"]), r["sd"], r["level"]) for r in read(quick / "valid_size.csv")}
    levels = [f"{level:.0%}" for level in LEVELS]
    assert found == {
        (test, n, f"{sd:g}", level)
        for test in NETWORKS.values()
        for n in SIZES_OF_THE_SIZE
        for sd in SDS
        for level in levels
        if test == OURS or sd == 1
    }
    places = {(row["group"], int(row["n"])) for row in read(quick / "valid_power.csv")}
    assert places == {(group, n) for group in GROUPS for n in SMALL_SIZES}
    places = {(row["family"], int(row["n"])) for row in read(quick / "valid_held_out.csv")}
    assert places == {(one.name, n) for one in HELD_OUT_FAMILIES.values() for n in SMALL_SIZES}
    assert {int(row["n"]) for row in read(quick / "valid_near_normal.csv")} == set(LARGE_SIZES)
    places = {(r["family or member"], int(r["n"])) for r in read(quick / "valid_families.csv")}
    members = [
        f"{name}, member {i}"
        for name in TRAINING_FAMILIES
        if not name.startswith("near")
        for i in range(1, MEMBERS + 1)
    ]
    assert places == {(law, n) for law in (*TRAINING_FAMILIES, *members) for n in FAMILY_SIZES}
    assert len(read(quick / "valid_mixtures.csv")) == len(SHARES) * len(SHIFTS) * len(FAMILY_SIZES)
    assert set(NETWORKS.values()) <= {row["test"] for row in read(quick / "leak_free.csv")}


@pytest.mark.thorough
def test_differences_of_power_are_those_of_the_columns(quick):
    """The lead is our power less Shapiro-Wilk's, and less that of the best classical test."""
    names = ("power", "near_normal", "held_out", "families", "mixtures")
    for name in (f"valid_{one}" for one in names):
        for row in read(quick / f"{name}.csv"):
            ours, best = float(row[OURS]), row["best classical"]
            lead = float(row["rk omnibus - SW"])
            assert lead == pytest.approx(ours - float(row["SW"]), abs=2e-5)
            lead = float(row["rk omnibus - best"])
            assert lead == pytest.approx(ours - float(row[best]), abs=2e-5)
            assert float(row[best]) >= float(row["SW"])


@pytest.mark.thorough
def test_a_target_is_met_when_its_number_says_so(quick):
    """Every target of the valid test is a bound, and the answer follows from it."""
    rows = read(quick / "valid_targets.csv")
    assert len(rows) == 14
    for row in rows:
        *relation, bound = row["target"].split()
        measured, bound = float(row["measured"]), float(bound)
        met = {
            ("at", "least"): measured >= bound,
            ("at", "most"): measured <= bound,
            ("more", "than"): measured > bound,
            (): measured == bound,
        }[tuple(relation)]
        assert row["met"] == ("yes" if met else "no")


@pytest.mark.thorough
def test_the_page_says_what_every_network_was_trained_on(quick):
    """All networks are in the table, and held-out families only where they are called that."""
    text = (quick / "README.md").read_text(encoding="utf-8")
    start = text.index("| network | trained on")
    table = text[start : text.index("\n\n", start)]
    for name in NETWORKS.values():
        assert f"| {name} |" in table
    for one in HELD_OUT_FAMILIES.values():
        assert one.name.replace("_", " ") not in table
        assert one.name.replace("_", " ") in text
        assert not any(one.name in members for members in populations().values())


@pytest.mark.thorough
def test_the_page_stands_alone_and_says_that_it_is_the_quick_form(quick):
    """No place is left unfilled, and the HTML needs neither another file nor an address."""
    text = (quick / "README.md").read_text(encoding="utf-8")
    html = (quick / "index.html").read_text(encoding="utf-8")
    for page in (text, html):
        assert "quick form" in page
        assert "[[" not in page
        assert not re.search(r"\{\w*\}", text)
    assert html.count('src="data:image/png;base64,') == 7
    assert not re.search(r'(src|href)="(?!data:)', html)
    assert set(re.findall(r"\]\((\S+\.png)\)", text)) == {f for f in FILES if f.endswith(".png")}


@pytest.mark.thorough
def test_one_seed_gives_the_same_files_twice():
    """Every byte follows from the seed."""
    assert run(SEED, watch_nothing, quick=True) == run(SEED, watch_nothing, quick=True)


def test_the_quick_form_does_not_replace_the_real_results(capsys):
    """Without a folder of its own it is refused."""
    with pytest.raises(SystemExit):
        main(["--quick"])
    assert "must not replace" in capsys.readouterr().err
    assert not any(RESULTS.glob(".unfinished-*"))


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


def test_the_rules_for_the_scale_are_the_stated_ones():
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


def test_the_two_rules_for_the_scale_share_their_shapes():
    """Standardised, the samples of both rules are the same; normal samples are the same at once."""
    (part,) = draw_set(np.random.default_rng(2), 500)[4:5]
    leaky, fair = part.values("published"), part.values("fair")
    assert np.array_equal(leaky[part.is_normal], fair[part.is_normal])
    for x, sd in ((leaky, part.sd("published")), (fair, part.sd("fair"))):
        assert (x - part.means[:, None]) / sd[:, None] == pytest.approx(part.shapes, abs=1e-9)


def test_groups_at_a_fair_scale_are_scaled_as_normal_samples():
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


@pytest.mark.parametrize("level", LEVELS)
def test_the_band_holds_all_but_one_in_ten_thousand(level):
    """Its tails are at most half of that each, and one step narrower they would be more."""
    rows, draws = 40_000, 249_999
    low, high = (round(rows * end) for end in size_band(rows, level, draws))
    k = round(level * (draws + 1))
    law = stats.betabinom(rows, k, draws + 1 - k)
    for tail, narrower in ((law.cdf(low - 1), law.cdf(low)), (law.sf(high), law.sf(high - 1))):
        assert tail <= OUTSIDE / 2 < narrower
    # Wider than without the Monte Carlo error of the table.
    plain = stats.binom(rows, level)
    assert low < plain.ppf(OUTSIDE / 2)
    assert high > plain.isf(OUTSIDE / 2)


@pytest.mark.parametrize(
    ("share", "verdict"), [(0.04, "inside"), (0.06, "inside"), (0.0399, "outside"), (1, "outside")]
)
def test_a_share_at_the_end_of_its_band_is_inside(share, verdict):
    """The band holds its ends."""
    assert SizeCheck(OURS, 10, 1.0, 0.05, share, (0.04, 0.06)).verdict == verdict


def _cell(law, n, ours, sw, other="0000"):
    """Make a cell in which the tests rejected where the digits are 1."""
    rejected = {test: np.zeros(len(ours), dtype=bool) for test in ("SF", "AD", "LF", "JB", "K2")}
    rejected |= {test: np.zeros(len(ours), dtype=bool) for test in ("ZA", "BHEP")}
    given = {OURS: ours, "SW": sw, "ZC": other}
    rejected |= {test: np.array([digit == "1" for digit in d]) for test, d in given.items()}
    return Cell(law, n, rejected)


def test_leads_and_their_errors_by_hand():
    """Differences are paired: what both tests reject does not add to the error."""
    one = _cell("G1", 10, "1100", "1000", "1110")
    assert (one.power(OURS), one.lead(), one.lead(rival="ZC")) == (0.5, 0.25, -0.25)
    assert one.best_classical == "ZC"
    # The differences are 0, 1, 0, 0, of variance 3/16.
    assert one.lead_error() == pytest.approx(np.sqrt(3 / 16 / 4))
    same = _cell("G1", 20, "1110", "1110")
    assert (same.lead(), same.lead_error(), same.best_classical) == (0, 0, "SW")
    assert mean_lead([one, same]) == pytest.approx((0.125, one.lead_error() / 2))
    assert best_on_average([one, same]) == "SW"


def test_power_rises_only_if_it_does_in_every_group():
    """The smallest gain is taken within groups, never from one group to the next."""
    cells = [
        _cell(group, n, ours, "0000")
        for group in GROUPS
        for n, ours in ((10, "1000"), (20, "1100"), (50, "1111"))
    ]
    assert smallest_step(cells) == 0.25
    cells[-1] = _cell("G4", 50, "1000", "0000")
    assert smallest_step(cells) == -0.25
