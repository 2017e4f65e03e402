"""Pairs of systems, ranks over data sets, tables for a paper: against SciPy, tables and hands."""

from __future__ import annotations

import csv
import io
import itertools
import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from scipy import stats
from sklearn.naive_bayes import GaussianNB

import ratekeeper as rk
from ratekeeper.comparison._latex import escaped
from ratekeeper.comparison._paired import corrected_t, wilcoxon
from ratekeeper.comparison._ranks import cliques, friedman, nemenyi, rank_rows, ranked

# J. Demsar (2006), table 6: AUC of four variants of C4.5 on fourteen data sets. Two that are equal
# in print have ranks 2 and 3 there, so one of them is a little larger here.
AUC = """
.763 .768 .771 .798
.599 .591 .590 .569
.954 .971 .968 .967
.628 .661 .654 .657
.882 .888 .886 .898
.936 .931 .916 .931
.661 .668 .609 .685
.583 .583 .563 .625
.775 .838 .866 .875
1.000 1.000 1.000 1.000
.940 .962 .965 .962
.619 .666 .614 .669
.972 .981 .97501 .975
.957 .978 .946 .970
"""
PUBLISHED = np.array([[float(x) for x in line.split()] for line in AUC.split("\n") if line])
VARIANTS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]


def test_a_published_example():
    """Ranks, Friedman's statistic, F and the critical differences are those of the paper."""
    found = ranked(
        PUBLISHED, VARIANTS, [str(i) for i in range(14)], value="auc", higher_is_better=True
    )
    by_name = dict(zip(found.systems, found.mean_ranks, strict=True))
    assert [round(by_name[name], 3) for name in VARIANTS] == [3.143, 2.0, 2.893, 1.964]
    ranks = rank_rows(-PUBLISHED)
    plain = 12 * 14 / 20 * (np.square(ranks.mean(axis=0)).sum() - 4 * 25 / 4)
    assert round(plain, 2) == 9.28  # as published, without the correction for ties
    assert round(13 * plain / (14 * 3 - plain), 2) == 3.69
    assert found.chi2 == pytest.approx(stats.friedmanchisquare(*PUBLISHED.T).statistic)
    assert found.p_value == pytest.approx(stats.friedmanchisquare(*PUBLISHED.T).pvalue)
    assert round(found.critical_difference, 2) == 1.25
    assert round(nemenyi(4, 14, 0.10), 2) == 1.12


def test_critical_values_are_those_of_the_tables():
    """Quantiles of the studentized range over the root of 2, as Demsar's table 5 has them."""
    five = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    ten = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]
    for k, (one, other) in enumerate(zip(five, ten, strict=True), start=2):
        scale = math.sqrt(k * (k + 1) / 60)
        assert nemenyi(k, 10, 0.05) / scale == pytest.approx(one, abs=0.0015)
        assert nemenyi(k, 10, 0.10) / scale == pytest.approx(other, abs=0.0015)


def test_friedman_with_and_without_ties():
    """The statistic is SciPy's, also where many values are equal; F is the two-way analysis's."""
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=(9, 5)), rng.integers(0, 3, (12, 4)).astype(float)):
        chi2, p, f, f_p = friedman(rank_rows(values))
        truth = stats.friedmanchisquare(*values.T)
        assert (chi2, p) == (pytest.approx(truth.statistic), pytest.approx(truth.pvalue))
        ranks = np.apply_along_axis(stats.rankdata, 1, values)
        np.testing.assert_allclose(ranks, rank_rows(values))
        n, k = ranks.shape
        between = n * np.square(ranks.mean(axis=0) - (k + 1) / 2).sum() / (k - 1)
        rest = ranks - ranks.mean(axis=0) - ranks.mean(axis=1)[:, None] + ranks.mean()
        within = np.square(rest).sum() / ((k - 1) * (n - 1))
        assert f == pytest.approx(between / within)
        assert f_p == pytest.approx(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))
    assert friedman(np.full((4, 3), 2.0)) == (0.0, 1.0, 0.0, 1.0)


def test_groups_that_are_not_told_apart():
    """Bars join what lies within the difference, and none lies within another."""
    assert cliques([1.0, 2.0, 3.0, 4.0], 1.5) == [(0, 1), (1, 2), (2, 3)]
    assert cliques([1.0, 2.0, 3.0], 5.0) == [(0, 2)]
    assert cliques([1.0, 3.0], 0.5) == []
    found = ranked(PUBLISHED, VARIANTS, "abcdefghijklmn", value="auc", higher_is_better=True)
    assert found.groups[0][0] == "C4.5+m+cf"
    picture = ET.fromstring(found.picture())  # noqa: S314 - ours
    bars = [p for p in picture.findall("{*}path") if p.get("class") == "bar"]
    assert len(bars) == len(found.groups)
    words = [text.text for text in picture.findall("{*}text")]
    assert "critical difference 1.25" in words
    assert any("C4.5+m 2.00" in word for word in words)
    assert "Friedman" in repr(found)
    assert r"\toprule" in found.latex()


def test_wilcoxon_by_brute_force():
    """The p-value is the share of all signs that give a sum of ranks as extreme."""
    rng = np.random.default_rng(3)
    for shift in (0.0, 0.5, 1.5):
        values = rng.normal(shift, size=9)
        ranks = stats.rankdata(np.abs(values))
        seen = abs(np.sign(values) @ ranks)
        signs = itertools.product([-1, 1], repeat=9)
        share = np.mean([abs(np.dot(s, ranks)) >= seen - 1e-9 for s in signs])
        assert wilcoxon(values) == pytest.approx(share)
        tied = values.round()
        ranks = stats.rankdata(np.abs(tied[tied != 0]))
        seen = abs(np.sign(tied[tied != 0]) @ ranks)
        signs = itertools.product([-1, 1], repeat=ranks.size)
        assert wilcoxon(tied) == pytest.approx(
            np.mean([abs(np.dot(s, ranks)) >= seen - 1e-9 for s in signs])
        )
        zeros = np.concatenate([values, np.zeros(4)])
        assert wilcoxon(zeros) == pytest.approx(share)


def test_wilcoxon_of_many_is_near_the_normal_one():
    """Beyond the exact range nothing jumps, and scipy agrees where it is exact, too."""
    values = np.random.default_rng(5).normal(0.1, 1, 501)
    assert wilcoxon(values) == pytest.approx(wilcoxon(values[:500]), rel=0.2)
    assert wilcoxon(values[:30]) == pytest.approx(
        stats.wilcoxon(values[:30], method="exact").pvalue
    )


def test_the_corrected_t_test_by_hand():
    """Without shared rows it is Student's; with them the variance is larger as stated."""
    values = np.array([0.1, 0.3, -0.1, 0.4, 0.2])
    assert corrected_t(values, 0.0) == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    t = values.mean() / math.sqrt(values.var(ddof=1) * (1 / 5 + 0.4))
    assert corrected_t(values, 0.4) == pytest.approx(2 * stats.t.sf(t, 4))
    assert corrected_t([0.0, 0.0], 0.4) == 1
    assert corrected_t([0.3], 0.4) == 1


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [140, 120])
    return {f"set {i}": (rng.normal(size=(260, 2)) + (1 + i / 3) * y[:, None], y) for i in range(4)}


NAMES = ["conformal", "high-probability", "paper-plain", "plain"]
ASKED = {"control": "fnr", "systems": NAMES, "n_jobs": 1, "estimator": GaussianNB(), "repeats": 3}


def half(y_true, y_pred):
    return np.mean(y_true == y_pred) / 2


def test_pairs_of_a_comparison(data):
    """Differences are those of the same splits; Holm is over the pairs; refusals have none."""
    result = rk.compare(*data["set 0"], alpha=0.1, metrics={"half": half}, **ASKED)
    found = result.paired("half", against="plain")
    assert [pair.first for pair in found.pairs] == [n for n in NAMES if n != "plain"]
    assert {pair.second for pair in found.pairs} == {"plain"}
    rates = {
        name: np.array(
            [dict(t.metrics).get("half", np.nan) for t in result.trials if t.system == name]
        )
        for name in NAMES
    }
    pair = found.pairs[0]
    difference = rates["conformal"] - rates["plain"]
    assert (pair.mean, pair.median) == (
        pytest.approx(difference.mean()),
        pytest.approx(np.median(difference)),
    )
    assert pair.p_value == pytest.approx(wilcoxon(difference))
    assert pair.p_corrected == pytest.approx(corrected_t(difference, 78 / 182))
    raw = sorted(p.p_value for p in found.pairs)
    by_hand = [3 * raw[0], max(3 * raw[0], 2 * raw[1])]
    by_hand.append(max(by_hand[1], raw[2]))
    assert sorted(p.p_adjusted for p in found.pairs) == pytest.approx(np.minimum(by_hand, 1))
    assert len(result.paired().pairs) == 6
    refused = rk.compare(*data["set 0"], alpha=0.01, **ASKED).paired("target")
    assert {p.splits for p in refused.pairs if "conformal" in (p.first, p.second)} == {0}
    assert "share rows" in repr(found)
    assert len(found.to_dict()["first"]) == 3
    with pytest.raises(rk.InputError, match="value='mood' must be one of 'target'"):
        result.paired("mood")
    with pytest.raises(rk.InputError, match="against='me' must be one of 'conformal'"):
        result.paired(against="me")


@pytest.mark.thorough
def test_stacked_tables_and_ranks(data, tmp_path):
    """One table has data, rate, level and delta as columns; ranks are of the means in it."""
    found = rk.comparison.compare_all(
        data, alpha=[0.1, 0.2], delta=0.1, metrics={"half": half}, checkpoint=tmp_path, **ASKED
    )
    rows = list(csv.DictReader(io.StringIO(found.csv())))
    assert list(rows[0])[:5] == ["data", "control", "alpha", "delta", "system"]
    assert len(rows) == 4 * 2 * 4
    assert {row["delta"] for row in rows} == {"0.1"}
    means = {(r["data"], r["system"]): r["other"] for r in rows if r["alpha"] == "0.2"}
    table = [[float(means[name, system]) for system in NAMES] for name in data]
    ranks = found.ranks("other", alpha=0.2)
    expected = np.apply_along_axis(stats.rankdata, 1, np.array(table)).mean(axis=0)
    by_name = dict(zip(ranks.systems, ranks.mean_ranks, strict=True))
    assert [by_name[name] for name in NAMES] == pytest.approx(expected)
    best = found.ranks("half", alpha=0.2, higher_is_better=True, systems=NAMES[:3])
    worst = found.ranks("half", alpha=0.2, systems=NAMES[:3])
    assert best.systems[0] == worst.systems[-1]
    trials = list(csv.DictReader(io.StringIO(found.trials_csv())))
    assert len(trials) == 4 * 2 * 4 * 3
    assert len(list(tmp_path.glob("*.jsonl"))) == 8
    again = rk.comparison.compare_all(
        data, alpha=[0.1, 0.2], delta=0.1, metrics={"half": half}, checkpoint=tmp_path, **ASKED
    )
    assert again.trials_csv() == found.trials_csv()  # times and all
    found.save(tmp_path / "out")
    assert (tmp_path / "out" / "comparisons.tex").read_text().count(r" \\") == 1 + len(NAMES)
    for value, options, message in (
        ("other", {}, "The comparisons are of FNR at 10%, FNR at 20%"),
        ("other", {"alpha": 0.3}, "The comparisons are of FNR at 10%"),
        ("mood", {"alpha": 0.2}, "value='mood' must be one of"),
        ("other", {"alpha": 0.2, "systems": ["me"]}, "systems='me' must be names"),
        ("other", {"alpha": 0.2, "systems": ["plain"]}, r"There are 1 system\(s\)"),
    ):
        with pytest.raises(rk.InputError, match=message):
            found.ranks(value, **options)


def test_systems_without_a_result_are_left_out(data):
    """A system that refuses somewhere cannot be ranked, and is named."""
    few = {name: data[name] for name in ("set 0", "set 1")}
    found = rk.comparison.compare_all(few, alpha=0.02, **ASKED)
    ranks = found.ranks()
    assert "high-probability" in ranks.left_out
    assert f"Without a result somewhere: {', '.join(ranks.left_out)}." in repr(ranks)


@pytest.mark.parametrize("bad", [{}, [1], {"a": 3}, {"a": (1, 2, 3)}, {3: (1, 2)}])
def test_data_that_are_none(bad):
    """Whatever is no pair of rows and labels is refused."""
    with pytest.raises(rk.InputError, match="data"):
        rk.comparison.compare_all(bad, control="fnr", alpha=0.1)


def test_latex(data):
    """The table has a row for each system, and no sign that LaTeX would act on."""
    X, y = data["set 3"]
    systems = {"a_b & 50%": "plain", "conformal": "conformal", "high": "high-probability"}
    result = rk.compare(X, y, control="fnr", alpha=0.02, systems=systems, repeats=2, n_jobs=1)
    text = result.latex()
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
    assert r"a\_b \& 50\% & none" in body
    columns = text.split(r"\begin{tabular}{")[1].index("}")
    lines = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(lines) == 3
    for line in lines:
        assert line.replace(r"\&", "").count("&") == columns - 1
    assert escaped("{}~^\\") == r"\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}"
