from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import each

import ratekeeper as rk
from ratekeeper.methods import Simultaneous

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "costs.md"
COSTS = {"cost_fn": 10.0, "cost_fp": 1.0}


def made(n=600, seed=0, share=0.3, shape="continuous", *, higher=True, **options):
    """Calibrate made-up scores."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < share
    scores = rng.normal(2.0 * labels)
    scores = {
        "continuous": scores,
        "tied": scores.round(0),
        "float32": scores.astype(np.float32),
        "infinite": np.where(np.abs(scores) > 2, np.inf * np.sign(scores), scores),
    }[shape]
    scores = scores if higher else -scores
    return rk.calibrate(scores, labels, higher_is_positive=higher, **options)


@pytest.fixture
def cal():
    return made()


def counted_cost(cal, decide, prevalence=None, cost_fn=10.0, cost_fp=1.0):
    """Return the cost of decisions on the calibration objects, the long way."""
    (negative,), (positive,) = cal.cells
    missed = np.mean(~decide(positive))
    alarmed = np.mean(decide(negative))
    w = positive.size / (positive.size + negative.size) if prevalence is None else prevalence
    return w * cost_fn * missed + (1 - w) * cost_fp * alarmed


@each("n", [60, 600, 6000])
@each("shape", ["continuous", "tied", "float32", "infinite"])
@each("higher", [True, False])
@each("limits", [{}, {"fnr": 0.4}, {"fpr": 0.4}, {"fnr": 0.45, "fpr": 0.9}])
def test_the_test_has_the_cheapest_threshold_bit_for_bit(n, shape, higher, limits):
    """No threshold of a test costs less, and cost and limits are those of its own decisions."""
    cal = made(n, shape=shape, higher=higher)
    found = cal.cheapest(**COSTS, **limits)
    test = found.test
    assert test.control == ("fpr" if list(limits) == ["fpr"] else "fnr")
    assert test.alpha <= limits.get(test.control, 1)
    decide = lambda scores: test.decide(scores).labels  # noqa: E731
    assert found.cost == pytest.approx(counted_cost(cal, decide), abs=1e-12)
    assert found.at([test.threshold]).cost[0] == found.cost
    assert found.cost < found.bound
    if not limits:
        every = found.at(np.unique(np.concatenate([cal.cells[0][0], cal.cells[1][0]])))
        slack = 0.0 if n <= 1000 else 0.01  # of many scores not every level is tried
        assert every.cost.min() >= found.cost - slack
        assert (every.low <= every.cost).all()
        assert (every.cost <= every.high).all()


def test_the_level_has_few_digits_and_gives_the_threshold(cal):
    """The level is rounded up where that keeps the threshold, and never past a limit."""
    found = cal.cheapest(**COSTS)
    assert len(f"{found.alpha:.12g}") <= 6
    method = Simultaneous(0.025)
    counted = found._counted["fnr"]  # noqa: SLF001
    exact = method.p_of_count(np.array([counted.errors]), counted.n)[0]
    assert exact <= found.alpha
    assert cal.control("fnr", exact, method=method).threshold == found.threshold
    limited = cal.cheapest(**COSTS, fnr=0.1234567)
    assert limited.alpha <= 0.1234567


def test_levels_of_the_band_are_those_of_its_counts():
    """`limited_counts` names the last count of every limit, for any number of scores."""
    for n in (1, 2, 999, 1000, 1001, 1002, 5000, 20_001):
        every = Simultaneous().p_of_count(np.arange(n + 1), n)
        last = np.flatnonzero(np.r_[every[1:] != every[:-1], True])
        assert np.array_equal(Simultaneous.limited_counts(n), last), n


def test_the_bound_is_the_sum_of_two_limits(cal):
    """Stated: of FNR and FPR, each class by itself. Counted: of shares of all objects."""
    n0, n1 = (cells[0].size for cells in cal.cells)
    stated, plain = cal.cheapest(**COSTS, prevalence=0.02), cal.cheapest(**COSTS)
    for found, weights, sizes in (
        (stated, (0.02 * 10, 0.98 * 1), (n1, n0)),
        (plain, (10, 1), (n1 + n0, n1 + n0)),
    ):
        wrong = [found._counted[rate].errors for rate in ("fnr", "fpr")]  # noqa: SLF001
        limits = [
            Simultaneous(0.025).p_of_count(np.array([m]), n)[0]
            for m, n in zip(wrong, sizes, strict=True)
        ]
        assert found.bound == pytest.approx(np.dot(weights, limits), rel=1e-12)
        assert found.test.method == Simultaneous(0.025)
    both = cal.cheapest(**COSTS, fnr=0.3, fpr=0.9)
    assert both.test.method == Simultaneous(0.0125)
    assert cal.cheapest(**COSTS, fnr=0.3).test.method == Simultaneous(0.0166)
    assert cal.cheapest(**COSTS, fnr=0.3, prevalence=0.02).test.method == Simultaneous(0.025)


def test_a_limit_is_kept_by_its_own_bound(cal):
    """The rates that are limited are certified, not only counted."""
    found = cal.cheapest(**COSTS, fnr=0.08)
    assert found.test.control == "fnr"
    assert found.alpha <= 0.08
    assert found.cost >= cal.cheapest(**COSTS).cost
    curve = found.curve
    assert curve.kept[curve.threshold == found.threshold].all()
    assert not curve.kept.all()
    other = cal.cheapest(**COSTS, fpr=0.1)
    assert other.test.control == "fpr"
    assert other.alpha <= 0.1


def test_prevalence_moves_the_threshold(cal):
    """The rarer positives are, the fewer alarms are worth it; the unit of costs is free."""
    thresholds = [cal.cheapest(**COSTS, prevalence=p).threshold for p in (0.01, 0.1, 0.5)]
    assert thresholds == sorted(thresholds, reverse=True)
    cents = cal.cheapest(cost_fn=1000, cost_fp=100)
    assert cents.threshold == cal.cheapest(**COSTS).threshold
    assert cents.bound == pytest.approx(100 * cal.cheapest(**COSTS).bound)


def test_alternatives_and_savings(cal):
    """Calling everybody or nobody positive has its price, and a useless score saves nothing."""
    found = cal.cheapest(**COSTS, prevalence=0.25)
    assert found.alternatives == {"everybody": 0.75, "nobody": 2.5}
    assert found.saving == {k: v - found.cost for k, v in found.alternatives.items()}
    assert "not shown" not in str(found)
    rng = np.random.default_rng(1)
    useless = rk.calibrate(rng.normal(size=500), rng.random(500) < 0.3)
    words = " ".join(str(useless.cheapest(cost_fn=1, cost_fp=1)).split())
    assert "not shown that the test costs less than calling nobody positive" in words


def test_the_text_says_what_is_promised(cal):
    """The bound is rounded up, lines fit a terminal, and the card has the same facts."""
    found = cal.cheapest(**COSTS, prevalence="2%", fnr="30%")
    text = repr(found)
    assert text == str(found)
    assert max(map(len, text.splitlines())) < 80
    words = " ".join(text.split())
    shown = re.search(r"is at most ([\d.]+) per object, and its FNR at most 30%, although", words)
    assert shown is not None
    assert found.bound <= float(shown[1]) < 1.01 * found.bound
    assert "Except with probability at most 0.05" in words
    assert "of 2%, as stated" in words
    assert "searched on them" in words
    assert "cost per object, at most" in found._repr_html_()
    assert "independent draws from the population" in " ".join(str(cal.cheapest(**COSTS)).split())


def test_facts_are_plain_values(cal):
    """`to_dict` can be written as JSON and holds the curve with the chosen threshold."""
    found = cal.cheapest(**COSTS)
    facts = json.loads(found.to_json())
    assert facts["bound"] == found.bound
    assert facts["threshold"] in facts["curve"]["threshold"]
    assert len(facts["curve"]["cost"]) == len(facts["curve"]["kept"]) <= 401
    assert facts["prevalence_stated"] is False


def test_the_test_is_a_finished_one(cal, tmp_path):
    """It decides, is saved and loaded, and has a certificate that tells what the price rests on."""
    test = cal.cheapest(**COSTS).test
    rk.save(test, tmp_path / "test.rk")
    assert rk.load(tmp_path / "test.rk").threshold == test.threshold
    assert "had alpha been fixed before looking at it" in " ".join(str(test.certificate).split())
    assert "CASE" in rk.sql.decision_sql(test, table="t", score="s")
    assert test.evaluate([0.0, 3.0], [False, True]).target.n == 1


BAD = {
    "cost_fn=0 must be a positive number": {"cost_fn": 0},
    "cost_fn=-1 must": {"cost_fn": -1},
    "cost_fn=inf must": {"cost_fn": np.inf},
    "cost_fn=nan must": {"cost_fn": np.nan},
    "cost_fp='3' must": {"cost_fp": "3"},
    "cost_fp=True must": {"cost_fp": True},
    "prevalence=2 is not a rate": {"prevalence": 2},
    "prevalence=0 is not a rate": {"prevalence": 0},
    "fnr=1 is not a rate": {"fnr": 1},
    "fpr='5' is not a rate": {"fpr": "5"},
    "delta=0 is not a rate": {"delta": 0},
    "delta=1e-07 is too close to 0": {"delta": 1e-7},
}


@each("words", BAD)
def test_bad_parameters_are_refused(cal, words):
    """Each message says the value and what is needed."""
    with pytest.raises(rk.InputError, match=re.escape(words)):
        cal.cheapest(**{**COSTS, **BAD[words]})


def test_costs_have_names():
    """Costs cannot be swapped by their order, and neither has a default."""
    with pytest.raises(TypeError):
        made().cheapest(10, 1)
    with pytest.raises(TypeError):
        made().cheapest(cost_fn=10)


def test_what_cannot_be_promised_is_refused(cal):
    """Chosen class shares, groups and impossible limits are errors with a way out."""
    for by_class in (
        made(sampling="by class"),
        replace(cal, provenance=rk.calibration.Provenance(900, sampled_from=(700, 200))),
    ):
        with pytest.raises(rk.InputError, match=r"sampled by class.*Pass prevalence"):
            by_class.cheapest(**COSTS)
        assert by_class.cheapest(**COSTS, prevalence=0.1).bound
    grouped = made(groups=np.tile(["a", "b"], 300))
    with pytest.raises(rk.InputError, match=r"has groups.*without groups"):
        grouped.cheapest(**COSTS)
    assert grouped.pooled().cheapest(**COSTS).threshold == cal.cheapest(**COSTS).threshold
    with pytest.raises(rk.TooFewScoresError, match=r"FNR <= 0\.001.*raise fnr"):
        cal.cheapest(**COSTS, fnr=0.001)
    with pytest.raises(rk.TooFewScoresError, match=r"FPR <= 0\.001.*raise fpr"):
        cal.cheapest(**COSTS, fpr=0.001)
    with pytest.raises(rk.exceptions.UnattainableError, match=r"FNR <= 5% and FPR <= 5%.*abstains"):
        cal.cheapest(**COSTS, fnr=0.05, fpr=0.05)


def test_extreme_costs_and_few_scores(cal):
    """Costs far apart, tiny calibrations and one score of a class give an honest answer."""
    assert cal.cheapest(cost_fn=1e300, cost_fp=1e-300).threshold == cal.cells[1][0][0]
    assert "a miss 1e+300" in str(cal.cheapest(cost_fn=1e300, cost_fp=1))
    least = rk.calibrate([0.1, 0.9], [0, 1]).cheapest(cost_fn=1, cost_fp=1)
    assert least.cost == 0
    assert least.bound > 1
