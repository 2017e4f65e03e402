"""The numbers of the page are those of the library."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import partial

import numpy as np
import pytest
from calibrations import (
    SMALL,
    grouped,
    hundred_thousand,
    hundred_thousand_grouped,
    low_is_positive,
    plain,
    single_precision,
    tied,
)
from cases import each

import ratekeeper as rk
from ratekeeper._wording._formatting import exact_percent, percent
from ratekeeper.control._both_rates import between
from ratekeeper.exceptions import TooFewScoresError
from ratekeeper.methods._rank import critical_rank
from ratekeeper.report import build
from ratekeeper.report._grid import smallest_sizes
from ratekeeper.report._levels import DELTAS, Levels
from ratekeeper.report._words import about

METHODS = (
    rk.Conformal(),
    rk.methods.Empirical(),
    rk.HighProbability(0.05),
    rk.HighProbability(0.001),
    rk.Simultaneous(0.05),
    rk.Simultaneous(0.1),
)
OFF_GRID = (0.0123456789, 1 / 3, 0.07777, 0.0499999999999, 0.2718281828, 0.000987)

OUTCOMES = """choices => choices.map(choice => {
    const {model, facts} = ratekeeper;
    const found = model.outcome(facts.tests[0], choice);
    return found.cells;
})"""
JUDGE = """([scores, choice]) => {
    const {model, facts} = ratekeeper;
    const outcomes = [model.outcome(facts.tests[0], choice)];
    return scores.map(s => facts.scores.cells.map((_, i) => model.judge(s, i, outcomes)));
}"""


def choice_of(method, alpha):
    return {
        "alpha": alpha,
        "method": {"name": method.name, "delta": getattr(method, "delta", None)},
    }


def grid_of(page, every):
    alphas = page.evaluate("ratekeeper.facts.tables.alphas")
    return [*alphas[::every], alphas[-1]]


def library(calibration, control, alpha, method, pool):
    """Return the test and no number, or no test and the number of scores that it needs."""
    if isinstance(method, rk.Simultaneous):  # its refusal takes seconds to find that number
        cells = [scores.size for scores in calibration.cells[control == "fnr"]]
        if not method.can_promise(sum(cells) if pool == "pool" else min(cells), alpha):
            return None, None
    try:
        return calibration.control(control, alpha, method=method, thin_groups=pool), None
    except TooFewScoresError as error:
        return None, error.needed


def same(found, expected):
    assert math.isclose(found, expected, rel_tol=1e-9), (found, expected)


def check_cell(found, test, i, *, exact_rank=True):
    cell = test.certificate.cells[i]
    cal = test.calibration
    null, other = (cal.cells[c][i] for c in (test.null_class, 1 - test.null_class))
    assert found["pooled"] == cell.pooled
    if cell.realised is not None:
        assert found["wantedK"] == cell.realised.k
        assert found["k"] <= cell.realised.k
    if exact_rank:
        assert found["threshold"] == cell.threshold
        assert found["k"] == (cell.realised and cell.realised.k)
    threshold = np.float64(found["threshold"])
    low = (test.control == "fnr") == cal.higher_is_positive
    beyond = null < threshold if low else null > threshold
    kept = other >= threshold if low else other <= threshold
    for name, count in (("target", beyond.sum()), ("other", kept.sum())):
        least, most = found[name]
        assert least <= count <= most
        if not (cell.pooled and cal.dtype == np.float32):  # the thinned page has limits there
            assert least == most
    if least == most:
        low_limit, high_limit = rk.control.Rate(int(kept.sum()), other.size).interval
        same(found["interval"][0], low_limit)
        same(found["interval"][1], high_limit)
    check_true_rate(found, null.size, test)
    if found["realised"]:
        assert found["realised"]["beyond"] == beyond.sum()


def check_true_rate(found, n, test):
    if found["k"] is None:
        assert found["realised"] is None
        return
    shown = found["realised"]
    rate = rk.control.RealisedRate(found["k"], n, shown["beyond"])
    same(shown["mean"], rate.mean)
    same(shown["low"], rate.interval[0])
    same(shown["high"], rate.interval[1])
    if test.method.fixed_alpha:
        same(shown["above"], rate.exceeds(test.alpha))
    else:  # it would be false of a level chosen after looking
        assert shown["above"] is None


@pytest.mark.thorough
@each("control", ["fnr", "fpr"])
@each("make", SMALL)
def test_ranks_thresholds_errors_and_true_rates_are_those_of_the_library(show, make, control):
    """At every level and method the page finds what `control` finds, or the same refusal."""
    calibration = make()
    pool = "pool" if make is grouped else "refuse"
    first = calibration.control(control, 0.3, method=rk.Conformal(), thin_groups=pool)
    page = show(build(first))
    cases = [(m, a) for m in METHODS for a in [*grid_of(page, 9), 0.05, *OFF_GRID]]
    answers = page.evaluate(OUTCOMES, [choice_of(method, alpha) for method, alpha in cases])
    for (method, alpha), cells in zip(cases, answers, strict=True):
        test, needed = library(calibration, control, alpha, method, pool)
        if test is None:
            refused = [cell["needed"] for cell in cells if cell.get("impossible")]
            assert refused
            if needed is not None:
                assert refused[0] == {"n": needed, "exact": True}
            continue
        for i, cell in enumerate(cells):
            check_cell(cell, test, i)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("make", SMALL, ids=lambda make: make.__name__)
def test_p_values_and_decisions_are_those_of_the_library(show, make):
    """A typed score gets the p-values and the decision that the test gives it."""
    calibration = make()
    pool = "pool" if make is grouped else "refuse"
    parts = [scores for cells in calibration.cells for scores in cells]
    known = np.concatenate([scores[:: max(1, scores.size // 6)] for scores in parts])
    scores = np.unique(np.r_[known, [-9.5, -0.33, 0.5, 12.0, np.inf, -np.inf]]).tolist()
    for control, alpha in (("fnr", 0.3), ("fpr", 0.4)):
        test = calibration.control(control, alpha, method=rk.Conformal(), thin_groups=pool)
        page = show(build(test))
        for method in (METHODS[0], METHODS[2], METHODS[4]):
            try:
                test = calibration.control(control, alpha, method=method, thin_groups=pool)
            except TooFewScoresError:
                continue
            answers = page.evaluate(JUDGE, [scores, choice_of(method, alpha)])
            for i in range(len(calibration.cells[0])):
                name = None if calibration.groups is None else [calibration.groups[i]] * len(scores)
                decided = test.decide(scores, name)
                for j, answer in enumerate(answers):
                    same(answer[i]["p"][0]["p"], decided.p_values.p0[j])
                    same(answer[i]["p"][1]["p"], decided.p_values.p1[j])
                    assert not answer[i]["p"][0]["atMost"]
                    assert answer[i]["decision"] == int(decided.positive[j])


@pytest.mark.thorough
@pytest.mark.parametrize("make", [hundred_thousand, hundred_thousand_grouped])
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_a_thinned_page_is_small_and_never_less_strict(show, make, control):
    """Of 100,000 scores a page below 300 KB gives exact numbers at ranks up to the true one."""
    calibration = make()
    first = calibration.control(control, 0.0111, method=rk.Conformal())
    html = build(first)
    assert len(html.encode()) < 300_000
    page = show(html)
    grid = grid_of(page, 8)
    cases = [(m, a) for m in METHODS for a in [*grid, 0.0111, *OFF_GRID] if a > 0.002]
    answers = page.evaluate(OUTCOMES, [choice_of(method, alpha) for method, alpha in cases])
    stricter = 0
    for (method, alpha), cells in zip(cases, answers, strict=True):
        test = calibration.control(control, alpha, method=method)
        for i, cell in enumerate(cells):
            has_room = make is hundred_thousand or method == first.method
            exact_rank = has_room and alpha not in OFF_GRID
            check_cell(cell, test, i, exact_rank=exact_rank)
            stricter += cell["k"] < cell["wantedK"]
            assert cell["k"] >= 0.9 * cell["wantedK"] - 1
    assert stricter


@pytest.mark.thorough
def test_p_values_of_a_thinned_page_are_bounds_from_above(show):
    """Between kept scores a p-value is marked "at most", and it is that; else it is exact."""
    calibration = hundred_thousand()
    page = show(build(calibration.control("fnr", 0.01, method=rk.Conformal())))
    scores = np.random.default_rng(2).normal(1, 2, 60).tolist()
    scores += calibration.cells[1][0][[0, 5, 40_000 - 1]].tolist()
    answers = page.evaluate(JUDGE, [scores, choice_of(rk.Conformal(), 0.01)])
    expected = calibration.p_values(scores)
    bounds = 0
    for j, [answer] in enumerate(answers):
        for found, p in zip(answer["p"], (expected.p0[j], expected.p1[j]), strict=True):
            assert found["p"] == p if not found["atMost"] else p <= found["p"] <= 1.15 * p + 1e-3
            bounds += found["atMost"]
    assert bounds
    page.fill("#score", "0.123456")
    assert "at most" in page.inner_text("#judged")


BOTH = """([alphas, scores]) => {
    const {model, facts} = ratekeeper;
    const outcomes = alphas.map((alpha, i) =>
        model.outcome(facts.tests[i], {alpha, method: {name: "conformal"}}));
    return facts.scores.cells.map((_, i) => ({
        crossed: model.crossed(outcomes, i),
        undecided: model.undecided(outcomes),
        errors: [0, 1].map(j => model.targetErrors(outcomes, j, i)),
        decisions: scores.map(s => model.judge(s, i, outcomes).decision),
    }));
}"""


def separated(n=200, gap=4.0):
    labels = np.repeat([0, 1], n)
    return rk.calibrate(np.random.default_rng(2).normal(gap * labels), labels)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("make", [tied, single_precision, low_is_positive, grouped, separated])
def test_a_test_of_both_rates_is_that_of_the_library(show, make):
    """Certified and changed: thresholds that cross, decisions, errors, and objects without one."""
    calibration = make()
    given = {"method": rk.Conformal(), "thin_groups": "pool" if make is grouped else "refuse"}
    pairs = [(0.05, 0.02), (0.1, 0.2), (0.3, 0.4), (0.4, 0.45)]
    page = show(build(calibration.control_both(*pairs[0], **given)))
    scores = np.r_[calibration.cells[0][0][::9], calibration.cells[1][0][::9], 0.5, 1.7, 9.0]
    for alphas in pairs:
        test = calibration.control_both(*alphas, **given)
        found = page.evaluate(BOTH, [alphas, scores.tolist()])
        undecided = test.certificate.undecided
        counts = [undecided[name].errors for name in ("negative", "positive")]
        assert [cell["crossed"] for cell in found] == list(test.crossed)
        for i, cell in enumerate(found):
            assert [part["count"] for part in cell["undecided"]] == [[n, n] for n in counts]
            group = None if calibration.groups is None else calibration.groups[[i]]
            decide = partial(decided, test, group)
            assert cell["decisions"] == decide(scores)
            missed = sum(d == 0 for d in decide(calibration.cells[1][i]))
            alarms = sum(d == 1 for d in decide(calibration.cells[0][i]))
            assert cell["errors"] == [[missed] * 2, [alarms] * 2]
    assert any(threshold is not None for threshold in test.crossed)


def decided(test, group, scores):
    found = test.decide(scores, None if group is None else group.repeat(scores.size))
    words = np.where(found.abstained, "undecided", np.where(found.positive, "1", "0"))
    assert not found.neither.any()
    return [word if word == "undecided" else int(word) for word in words.tolist()]


@pytest.mark.thorough
@each(
    ("fnr", "fpr"),
    [
        (2.0, 1.0),
        (1.0, 2.0),
        (np.inf, -np.inf),
        (np.inf, 1.0),
        (1.0, -np.inf),
        (np.nextafter(1.0, 2.0), 1.0),
        (1.7e308, 1.6e308),
        (1.7e308, -1.7e308),
    ],
)
@each("higher", [True, False])
def test_the_threshold_between_two_is_that_of_the_library(show, fnr, fpr, higher):
    """Whatever the two are, also infinite or next to each other."""
    page = show(
        build(
            (plain() if higher else low_is_positive()).control_both(0.1, 0.1, method=rk.Conformal())
        )
    )
    sign = 1 if higher else -1
    found = page.evaluate(
        """texts => ratekeeper.model.crossed(texts.map(t => ({cells: [{threshold: Number(t)}]})), 0)
        ?.toString() ?? null""",
        [str(sign * value).replace("inf", "Infinity") for value in (fnr, fpr)],
    )
    expected = between(sign * fnr, sign * fpr, higher=higher)
    assert (found and float(found)) == expected


@pytest.mark.thorough
def test_beta_functions_agree_with_scipy_up_to_ten_million(show):
    """Quantiles and tails of Beta(k, n + 1 - k) have ten digits for every k and n."""
    from scipy.special import betainc, betaincc, betainccinv, betaincinv

    rng = np.random.default_rng(1)
    a, b, p = [], [], []
    for n in (1, 2, 5, 21, 100, 1_000, 10_000, 10**6, 10**7):
        some = np.exp(rng.uniform(0, np.log(n + 1), 10)).astype(int)
        for k in {1, min(2, n), -(-n // 2), n, *some, *(n + 1 - some[:4])}:
            for level in (1e-6, 0.025, 0.05, 0.5, 0.95, 0.999):
                a.append(float(k)), b.append(float(n + 1 - k)), p.append(level)
    a, b, p = np.array(a), np.array(b), np.array(p)
    x = np.clip(a / (a + b) * np.exp(rng.normal(size=a.size) * 2.5 / np.sqrt(a)), 1e-12, 0.999999)
    page = show(build(plain().control("fnr", 0.1, method=rk.Conformal())))
    found = np.array(
        page.evaluate(
            """rows => rows.map(([a, b, p, x]) => { const s = ratekeeper.Special; return [
                s.betaQuantile(a, b, p), s.betaUpperQuantile(a, b, p), s.betaCdf(a, b, x),
                s.betaSurvival(a, b, x)]; })""",
            np.column_stack([a, b, p, x]).tolist(),
        )
    )
    expected = [betaincinv(a, b, p), betainccinv(a, b, p), betainc(a, b, x), betaincc(a, b, x)]
    # scipy itself is off by 1e-10 for a few k of ten million; see the closed forms below.
    allowed = np.where(a + b > 5e6, 5e-10, 1e-10)
    for column, values in enumerate(expected):
        large = values > 1e-280
        assert (np.abs(found[large, column] / values[large] - 1) < allowed[large]).all()


@pytest.mark.thorough
def test_beta_functions_agree_with_closed_forms(show):
    """For k = 1 and for sums of few terms, where truth is known, the page has twelve digits."""
    page = show(build(plain().control("fnr", 0.1, method=rk.Conformal())))
    for n in (3, 1_000, 10**7):
        for p in (0.001, 0.05, 0.975):
            found = page.evaluate(f"ratekeeper.Special.betaQuantile(1, {n}, {p})")
            assert math.isclose(found, -math.expm1(math.log1p(-p) / n), rel_tol=2e-13)
    for k, n, x in ((2, 10**7, 4.7e-7), (4, 10**7, 5.6e-7), (7, 10**6, 3e-6)):
        found = page.evaluate(f"ratekeeper.Special.betaSurvival({k}, {n + 1 - k}, {x})")
        with localcontext() as context:
            context.prec = 40
            q = Decimal(x)
            terms = [math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(k)]
            assert math.isclose(found, float(sum(terms)), rel_tol=1e-12)


@pytest.mark.thorough
def test_ranks_agree_for_millions_of_scores(show):
    """The script's critical rank is `critical_rank` for n up to ten million."""
    page = show(build(plain().control("fnr", 0.1, method=rk.Conformal())))
    methods = [m for m in METHODS if not isinstance(m, rk.Simultaneous)] + [rk.Simultaneous(0.05)]
    cases = [
        (method, n, alpha)
        for method in methods
        for n in (1_001, 5_000, 123_457, 10**7)
        for alpha in (0.0001, 0.00313, 0.01, 0.05, 0.3333, 0.5)
    ]
    found = page.evaluate(
        "rows => rows.map(([m, n, a]) => ratekeeper.model.ranks.criticalRank(m, n, a))",
        [[choice_of(method, 0.1)["method"], n, alpha] for method, n, alpha in cases],
    )
    assert found == [critical_rank(*case) for case in cases]


@pytest.mark.thorough
def test_every_count_of_a_band_has_its_limit(show):
    """Above the exact levels the script gives each count the p-value of `Simultaneous`."""
    page = show(build(plain().control("fnr", 0.1, method=rk.Conformal())))
    for n in (1_001, 2_345):
        found = page.evaluate(
            """n => Array.from({length: n + 1}, (_, m) => ratekeeper.model.ranks.pValue(
                {name: "simultaneous", delta: 0.05}, m, n))""",
            n,
        )
        expected = rk.Simultaneous(0.05).p_of_count(np.arange(n + 1), n)
        assert np.allclose(found, expected, rtol=1e-9, atol=0)


@pytest.mark.thorough
def test_where_limit_and_level_are_equal_the_page_knows_the_rank(show):
    """An exact tie at a level of the slider is settled as the library settles it."""
    scores, labels = np.arange(3.0), [0, 0, 1]
    calibration = rk.calibrate(scores, labels)  # one positive: the limit is 1 - delta
    method = rk.HighProbability(0.5)
    page = show(build(calibration.control("fnr", 0.5, method=method)))
    assert page.evaluate("Object.values(ratekeeper.facts.tables.ties)") == [1, 1]  # and the band's
    [[cell]] = page.evaluate(OUTCOMES, [choice_of(method, 0.5)])
    assert cell["k"] == 1


@pytest.mark.thorough
def test_stored_levels_are_those_that_the_library_finds():
    """The table of levels gives the band of `Simultaneous`, and its smallest n."""
    for delta in DELTAS:
        levels = Levels([delta])
        for n in (1, 2, 7, 60, 311):
            found = -math.expm1(math.log(levels.get(n, delta)) / n)
            limit = rk.Simultaneous(delta).p_of_count(np.zeros(1, dtype=np.intp), n)[0]
            assert math.isclose(found, limit, rel_tol=1e-9)
    needs = smallest_sizes([0.002, 0.05, 0.1], [1])["0.05"]
    assert needs == [rk.Simultaneous(0.05).smallest_n(alpha) for alpha in (0.002, 0.05, 0.1)]


@pytest.mark.thorough
def test_halves_are_rounded_alike_by_page_and_library(show):
    """One rate is not written in two ways on one page."""
    page = show(build(plain().control("fnr", 0.05, method=rk.Conformal())))
    rates = [(k, n) for n in (16, 80, 160, 800, 1600, 3200, 6400) for k in range(1, 60)]
    rates += [(k, 40_000) for k in range(1, 400)]
    rates = [k / n for k, n in rates if k <= n]
    percents = page.evaluate("rs => rs.map(ratekeeper.Numbers.percent)", rates)
    counts = page.evaluate("rs => rs.map(r => ratekeeper.Numbers.outOf(r))", rates)
    for rate, shown, counted in zip(rates, percents, counts, strict=True):
        assert shown == percent(rate)
        assert tuple(counted.split(" of ")) == about(rate)


@pytest.mark.thorough
def test_a_page_writes_no_exponents_in_percent(show):
    """Tiny rates are written out, in Python and on the page alike."""
    page = show(build(plain().control("fnr", 0.1)))
    rates = [6.6e-7, 1.5e-4, 9.94e-7, 1e-8, 9.9e-9, 1e-300, 0.0]
    assert page.evaluate("rs => rs.map(ratekeeper.Numbers.percent)", rates) == [
        *map(percent, rates)
    ]
    assert not any("e" in percent(rate) for rate in rates)
    levels = [0.05, 5e-8, 1.25e-9, 0.001]
    exact = page.evaluate("rs => rs.map(ratekeeper.Numbers.exactPercent)", levels)
    assert exact == [*map(exact_percent, levels)] == ["5%", "0.000005%", "0.000000125%", "0.1%"]
