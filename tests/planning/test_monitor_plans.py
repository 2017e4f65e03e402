"""How long a monitor takes, told beforehand."""

import json

import pytest
from cases import each

import ratekeeper as rk


def test_a_plan_has_the_delays_of_the_watch():
    """All labelled, the numbers are those of the exact distribution of the alarm."""
    plan = rk.planning.plan_monitor("fnr", 0.05, becomes="10%")
    assert (plan.n_half, plan.n_most, plan.n_mean, plan.n_fastest) == (165, 399, 198, 145)
    assert plan.weeks is plan.audits_per_week is plan.audit is None
    assert "90% of all cases within: 399" in str(plan)
    assert "on average: 198" in str(plan)
    assert "on average no monitor needs fewer than: 145" in str(plan)
    assert "165" in plan._repr_html_()
    assert json.loads(json.dumps(plan.to_dict()))["n_most"] == 399
    same = rk.planning.plan_monitor("fpr", 0.05, becomes=0.1)
    assert (same.n_half, same.n_most) == (plan.n_half, plan.n_most)


def test_an_audit_takes_longer_and_its_weeks_are_told():
    """A tenth of the labels of misses takes some ten times as long; nine tenths of weeks agree."""
    plan = rk.planning.plan_monitor(
        "fnr", 0.05, becomes=0.1, audit=rk.Audit(0.1), per_week=1_000, prevalence=0.5
    )
    assert 9 * 165 < plan.n_half < 10 * 165
    assert plan.per_week == 500
    assert plan.weeks == plan.n_most / 500
    # Of 1,000, at least 450 are flagged positives.
    assert plan.audits_per_week == 55
    by_share = rk.planning.plan_monitor(
        "fnr", 0.05, becomes=0.1, audit="10%", per_week=1e3, prevalence=0.5
    )
    assert by_share == plan


def test_the_least_audit_that_is_in_time():
    """A percent less takes longer than was allowed."""
    about = {"becomes": 0.15, "per_week": 500, "prevalence": 0.2}
    plan = rk.planning.plan_monitor("fnr", 0.05, within=10, **about)
    assert plan.weeks <= 10.01
    less = rk.planning.plan_monitor("fnr", 0.05, audit=0.98 * plan.audit, **about)
    assert less.weeks > 10


@each(
    ("wrong", "words"),
    [
        ({"becomes": 0.05}, "not above"),
        ({"becomes": 0.0501}, "too near"),
        ({"per_week": 5}, "go together"),
        ({"prevalence": 0.5}, "go together"),
        ({"per_week": 0, "prevalence": 0.5}, "per_week"),
        ({"per_week": 5, "prevalence": 2}, "prevalence"),
        ({"audit": 0}, "rate"),
        ({"within": 5}, "per_week and prevalence"),
        ({"within": 5, "audit": 0.1, "per_week": 5, "prevalence": 0.5}, "no audit"),
        ({"within": 0, "per_week": 5, "prevalence": 0.5}, "within"),
        ({"within": 1, "per_week": 5, "prevalence": 0.5}, "every object it takes"),
        ({"control": "both"}, "control"),
    ],
)
def test_what_cannot_be_planned_is_refused(wrong, words):
    """With the reason, and what to do."""
    with pytest.raises(rk.InputError, match=words):
        rk.planning.plan_monitor(**({"control": "fnr", "alpha": 0.05, "becomes": 0.1} | wrong))
