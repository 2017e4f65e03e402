"""Audits by group: what is counted, what is said, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cases import each
from scipy import stats

import ratekeeper as rk
from ratekeeper.datasets import load_employment


def some(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    return SimpleNamespace(
        score=rng.normal(2 * labels),
        label=labels,
        site=rng.choice(["east", "north", "west"], n, p=[0.5, 0.3, 0.2]),
        year=rng.integers(2016, 2019, n),
    )


@pytest.fixture(scope="module")
def cal():
    data = some(seed=1)
    return rk.calibrate(data.score, data.label)


@pytest.fixture(scope="module")
def test(cal):
    return cal.control("fnr", 0.1)


def audited(test, data, by, **options):
    return test.evaluate(data.score, data.label, by=by, **options).by_group


def rows_of(audit):
    return {row.name: row for row in audit.rows}


def test_the_census_audit_finds_who_is_missed():
    """A pooled FNR of 5% hides people with a disability: 38% of the employed ones are missed."""
    people = load_employment()
    held_out, new = people.in_year(2015), people[people.year >= 2016]
    pooled = rk.calibrate(held_out.score, held_out.employed).control("fnr", 0.05)
    columns = {"disability": new.disability, "year": new.year}
    audit = pooled.evaluate(new.score, new.employed, by=columns, crossed=True).by_group
    first = audit.worst(1)[0]
    assert (first.groups, first.verdicts["fnr"]) == ((True, 2016), "above")
    assert round(first.fnr.rate, 2) == 0.38
    assert {row.verdicts["fnr"] for row in audit.rows if row.groups[0] is True} == {"above"}
    assert {row.verdicts["fnr"] for row in audit.rows if row.groups[0] is False} == {"within"}
    assert len(audit.above) == sum(row.verdicts["fnr"] == "above" for row in audit.rows) >= 4
    assert first.precision.rate < 0.5 < rows_of(audit)["disability=False"].precision.rate


def test_counts_are_those_of_the_group_alone(cal):
    """Each row has the rates that an evaluation of its objects alone has, for any test."""
    data = some()
    for one in (cal.control("fnr", 0.1), cal.control("fpr", 0.1), cal.control_both(0.05, 0.05)):
        audit = audited(one, data, {"site": data.site, "year": data.year}, crossed=True)
        assert len(audit) == 3 + 3 + 9
        for row in audit.rows:
            keep = np.ones(data.label.size, dtype=bool)
            for column, value in zip(row.columns, row.groups, strict=True):
                keep &= getattr(data, column) == value
            found = one.evaluate(data.score[keep], data.label[keep])
            for part in found.parts:
                rate = row.rates[part.control]
                assert (rate.errors, rate.n) == (part.target.errors, part.target.n)
            decided = one.decide(data.score[keep])
            positive = data.label[keep] == 1
            assert row.n_positive == positive.sum()
            assert row.n_negative == (~positive).sum()
            called = decided.positive
            assert (row.precision.errors, row.precision.n) == (
                (called & positive).sum(),
                called.sum(),
            )
            if len(found.parts) == 2:
                undecided = decided.abstained | decided.neither
                assert (row.undecided.errors, row.undecided.n) == (undecided.sum(), keep.sum())
            else:
                assert row.undecided is None


def test_intervals_and_p_values_are_exact(test):
    """Clopper-Pearson at 5% divided by all intervals; binomial tails adjusted by Holm."""
    data = some()
    audit = audited(test, data, {"site": data.site})
    assert audit.n_intervals == 9
    raw = []
    for row in audit.rows:
        for rate in row.rates.values():
            exact = stats.binomtest(rate.errors, rate.n).proportion_ci(1 - 0.05 / 9, "exact")
            assert rate.interval == pytest.approx((exact.low, exact.high))
            assert str(rate).startswith(f"{100 * rate.rate:.2f}%")
        raw.append(stats.binom.sf(row.fnr.errors - 1, row.fnr.n, 0.1))
    order, adjusted, least = np.argsort(raw), np.empty(3), 0.0
    for step, i in enumerate(order):
        adjusted[i] = least = max(least, min(1.0, (3 - step) * raw[i]))
    assert [row.p_values["fnr"] for row in audit.rows] == pytest.approx(adjusted.tolist())
    assert [row.name for row in audit.worst()] == [audit.rows[i].name for i in order]


def four_groups():
    """Return an audit with a group of every verdict."""
    counts = np.zeros((4, 2, 4), dtype=np.intp)
    counts[0, 1, :2] = 30, 70  # 30 of 100 missed
    counts[1, 1, :2] = 6, 94
    counts[2, 1, :2] = 1, 999
    counts[3, 0, :2] = 5, 5  # no positives
    groups = [(("site",), (name,)) for name in "abcd"]
    return rk.control.GroupAudit(
        ("site",),
        crossed=False,
        levels={"fnr": 0.05},
        _groups=groups,
        _counts=counts,
        _can_abstain=False,
    )


def test_verdicts_follow_from_counts():
    """Above, open, within and unknown, each from counts that can be checked by hand."""
    audit = four_groups()
    assert [row.verdicts["fnr"] for row in audit.rows] == ["above", "open", "within", "unknown"]
    assert audit.rows[3].p_values["fnr"] is None
    assert audit.rows[3].fnr.interval == (0.0, 1.0)
    assert np.isnan(audit.rows[3].fnr.rate)
    assert [row.groups[0] for row in audit.worst()] == ["a", "b", "c", "d"]
    assert [row.groups[0] for row in audit.above] == ["a"]
    json.dumps(audit.to_dict())
    said = repr(audit)
    for word in ("above:", "open:", "within:", "unknown:"):
        assert word in said
    assert "promises nothing to a group" in " ".join(said.split())


@pytest.mark.parametrize("make", ["dict", "pandas", "polars", "arrow", "batch"])
def test_columns_come_in_any_table(test, make):
    """A dictionary and the data frames of three libraries give one and the same audit."""
    data = some()
    columns = {"site": data.site.tolist(), "year": data.year.tolist()}
    table = {
        "dict": lambda: columns,
        "pandas": lambda: pd.DataFrame(columns),
        "polars": lambda: pl.DataFrame(columns),
        "arrow": lambda: pa.table(columns),
        "batch": lambda: pa.RecordBatch.from_pydict(columns),
    }[make]()
    expected = audited(test, data, {"site": data.site, "year": data.year}, crossed=True)
    assert audited(test, data, table, crossed=True).to_dict() == expected.to_dict()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (np.asarray, "group"),
        (list, "group"),
        (lambda column: pd.Series(column, name="site"), "site"),
        (lambda column: pl.Series("site", column), "site"),
        (lambda column: pa.array(column.tolist()), "group"),
        (lambda column: pd.Series(pd.Categorical(column), name=3), "group"),
    ],
)
def test_one_column_is_enough(test, make, name):
    """One column has the name that it brings along, else it is called group."""
    data = some()
    audit = audited(test, data, make(data.site))
    assert audit.columns == (name,)
    assert [row.groups for row in audit.rows] == [("east",), ("north",), ("west",)]


@each(
    "make",
    [
        lambda values: values,
        lambda values: np.array(values, dtype=object),
        pd.Series,
        pl.Series,
        pa.array,
    ],
)
@each("kind", [str, int, float, bool])
def test_missing_values_are_a_group_of_their_own(test, make, kind):
    """None, NaN and the nulls of tables are one row, which comes last and says so."""
    data = some(600)
    values = [kind(i % 2) if i % 5 else None for i in range(600)]
    if kind is float:
        values = [i % 2 + 0.5 if i % 5 else None for i in range(600)]
    audit = audited(test, data, {"site": make(values)})
    assert [row.groups[0] is None for row in audit.rows] == [False, False, True]
    assert audit.rows[2].n_positive + audit.rows[2].n_negative == 120
    assert audit.rows[2].name == "site=missing"
    for nothing in ([None] * 600, pd.Series([pd.NaT] * 600)):
        assert [row.name for row in audited(test, data, nothing).rows] == ["group=missing"]
    masked = np.ma.array(np.arange(600) % 2, mask=np.arange(600) % 5 == 0)
    assert audited(test, data, masked).rows[2].n_positive == audit.rows[2].n_positive
    text = ["missing" if value is None else str(value) for value in values]
    assert "site='missing'" in [row.name for row in audited(test, data, {"site": text}).rows]


def test_a_test_with_groups_is_audited_too():
    """By other columns, and by its own, whatever they are called."""
    data, new = some(seed=3), some(seed=4)
    test = rk.calibrate(data.score, data.label, groups=data.site).control("fnr", 0.1)
    found = test.evaluate(new.score, new.label, new.site, by={"site": new.site, "year": new.year})
    assert {row.columns[0] for row in found.by_group.rows} == {"site", "year"}
    for name, one in found.groups.items():
        row = rows_of(found.by_group)[f"site={name!r}"]
        assert (row.fnr.errors, row.fnr.n) == (one.target.errors, one.target.n)
    assert found.with_audit(None) == test.evaluate(new.score, new.label, new.site)


def test_what_was_there_before_is_unchanged(test):
    """Without `by` there is no audit, and with it all else stays as it was."""
    data = some()
    plain = test.evaluate(data.score, data.label)
    assert plain.by_group is None
    assert "by_group" not in plain.to_dict()
    found = test.evaluate(data.score, data.label, by=data.site)
    assert found.with_audit(None) == plain
    facts = found.to_dict()
    assert facts.pop("by_group") == found.by_group.to_dict()
    assert facts == plain.to_dict()
    assert repr(found).startswith(repr(plain))
    assert "north" in found._repr_html_()


def test_an_audit_of_nothing(test):
    """Without objects there are no rows, and the audit prints."""
    audit = audited(
        test, SimpleNamespace(score=[], label=[]), {"site": [], "year": []}, crossed=True
    )
    assert (len(audit), audit.rows, audit.worst(), audit.above) == (0, [], [], [])
    assert "no objects" in repr(audit)
    assert audit.to_dict()["rows"] == []
    assert len(audit.to_pandas()) == 0
    assert "no objects" in audit._repr_html_()


def test_the_table_of_pandas(cal):
    """One row per group, with every rate, its interval, p-value and verdict."""
    data = some()
    audit = audited(
        cal.control_both(0.1, 0.1), data, {"site": data.site, "year": data.year}, crossed=True
    )
    table = audit.to_pandas()
    assert len(table) == len(audit)
    for i, row in enumerate(audit.rows):
        assert table["column"][i] == ", ".join(row.columns)
        group = table["group"][i]
        assert (group if len(row.groups) > 1 else (group,)) == row.groups
        for name, rate in row.rates.items():
            assert table[name][i] == rate.rate
            assert (table[f"{name}_low"][i], table[f"{name}_high"][i]) == rate.interval
        assert table["fpr_verdict"][i] == row.verdicts["fpr"]
    assert table["undecided"].notna().all()


def test_it_fits_a_terminal_whatever_the_names_are(test):
    """Lines of at most 80 characters, at most 24 groups, and nothing that a terminal acts on."""
    data = some()
    names = [
        f"a very long name of a site \x1b[31m {i % 40:03} and more and more" for i in range(3000)
    ]
    audit = audited(test, data, {"a long name of a column": names, "s": data.site}, crossed=True)
    text = repr(audit)
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert "24 of 163 groups are shown" in text
    assert text.count("s='north'") <= 48
    assert "\x1b" not in audit._repr_html_()
    assert max(map(len, repr(audited(test, data, data.site)).splitlines())) <= 80


@pytest.mark.thorough
def test_a_hundred_thousand_groups(test):
    """Very many groups are counted, judged, shown and written."""
    n = 300_000
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n)
    names = np.array([f"site {i}" for i in rng.permutation(n) // 3])
    audit = test.evaluate(rng.normal(2 * labels), labels, by={"site": names}).by_group
    assert len(audit) == 100_000
    assert sum(row.n_positive + row.n_negative for row in audit.rows) == n
    assert "24 of 100,000 groups are shown" in repr(audit)
    assert len(audit.to_pandas()) == 100_000


def test_what_cannot_be_an_audit_is_refused(test):
    """Each message names the column and says what to do."""
    data = some(2000)
    text = data.site.tolist()
    frame = pd.DataFrame([[1, 2]] * 2000)
    cases = {
        r"by\['site'\] has 1,999 values for 2,000 scores": {"site": text[1:]},
        "by has 1,999 values": text[1:],
        r"by has no columns. Pass one column, a dictionary": {},
        "more than one column named 'a'": frame.set_axis(["a", "a"], axis=1),
        "a column named 0, but names must be text": frame,
        "a column named '', but": {"": text},
        "'score' has more than 1,000 distinct numbers.*Cut them": {"score": data.score},
        "'n' has more than 1,000 distinct numbers": {"n": np.arange(2000)},
        "a lazy table. Call collect": pl.DataFrame({"a": text}).lazy(),
        r"has shape \(2000, 2\)": frame.to_numpy(),
        "is a single value": 7,
        "is a object, which is not a column": {"site": object()},
        "name of 300 characters": ["x" * 300] * 2000,
        r"by\['site'\] has 'b' at position 1": {"site": [1, "b"] * 1000},
        r"Convert with .astype\(str\)": np.zeros(2000, dtype="datetime64[D]"),
    }
    for match, by in cases.items():
        with pytest.raises(rk.InputError, match=match):
            audited(test, data, by)
    for by in (None, text, {"site": text}):
        with pytest.raises(rk.InputError, match="crossed=True needs two columns"):
            audited(test, data, by, crossed=True)
    with pytest.raises(rk.InputError, match="crossed='yes' must be True or False"):
        audited(test, data, {"a": text, "b": text}, crossed="yes")
    scores = pd.Series(data.score)
    turned = pd.Series(text)[::-1]
    with pytest.raises(rk.InputError, match="indexes differ"):
        test.evaluate(scores, data.label, by=turned)
    with pytest.raises(
        rk.InputError, match=r"by\['site'\] are pandas columns whose indexes differ"
    ):
        test.evaluate(scores, data.label, by=pd.DataFrame({"site": turned}))
    assert len(audited(test, data, np.arange(2000) % 1000)) == 1000
    assert len(audited(test, data, np.arange(2000).astype(str))) == 2000


def test_without_pandas_a_data_frame_says_what_to_install(monkeypatch, test):
    """A missing pandas is an ImportError with the remedy."""
    data = some()
    audit = audited(test, data, data.site)
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        audit.to_pandas()


def test_the_guide_explains_verdicts_in_the_words_that_are_printed():
    """The table of docs/guides/audits.md says what an audit prints of each verdict."""
    page = (Path(__file__).parents[2] / "docs" / "guides" / "audits.md").read_text(encoding="utf-8")
    printed = " ".join(repr(four_groups()).split())
    for word in ("above", "open", "within", "unknown"):
        (meaning,) = re.findall(rf"\| {word} \| (.+?) \|", page)
        assert f"{word}: {meaning}" in printed
