"""How many held-out objects a promise needs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cases import each
from scipy import stats
from scipy.special import betaincc

import ratekeeper as rk


@pytest.mark.parametrize(
    ("alpha", "n_marginal", "n_high_probability"),
    [(0.05, 19, 59), (0.01, 99, 299), (0.001, 999, 2995), (0.5, 1, 5), (0.9, 1, 2)],
)
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_smallest_numbers(control, alpha, n_marginal, n_high_probability):
    """The smallest numbers of scores at delta = 5% are the known ones, for either error."""
    found = rk.plan(control, alpha, delta=0.05)
    assert (found.n_marginal, found.n_high_probability) == (n_marginal, n_high_probability)


@each("alpha", [0.001, 0.0137, 0.05, 0.07, 0.29, 0.3, 0.57, 0.99])
@each("delta", [0.001, 0.05, 0.5, 0.9])
def test_smallest_numbers_are_smallest(alpha, delta):
    """With the planned number of scores the promise can be made, with one less it cannot."""
    found = rk.plan("fnr", alpha, delta=delta)
    assert 1 / (found.n_marginal + 1) <= alpha
    assert found.n_marginal == 1 or 1 / found.n_marginal > alpha
    # The most extreme score as threshold: a true rate above alpha means that all n missed it.
    assert (1 - alpha) ** found.n_high_probability <= delta * (1 + 1e-9)
    least = found.n_high_probability == 1
    assert least or (1 - alpha) ** (found.n_high_probability - 1) > delta * (1 - 1e-9)


@pytest.mark.parametrize("n", [19, 50, 59, 100, 1000, 12345])
def test_true_rate_with_n_scores(n):
    """With n scores the true rate follows Beta(k, n + 1 - k), with each method's rank k."""
    found = rk.plan("fpr", 0.05, delta=0.1, n=n)
    k = int(0.05 * (n + 1) + 1e-9)
    true_rate, beta = found.realised_marginal, stats.beta(k, n + 1 - k)
    assert (true_rate.k, true_rate.n) == (k, n)
    assert true_rate.mean == pytest.approx(beta.mean())
    assert true_rate.mean <= 0.05
    assert true_rate.interval == pytest.approx((beta.ppf(0.05), beta.ppf(0.95)))
    assert true_rate.exceeds(0.05) == pytest.approx(beta.sf(0.05))
    strict = found.realised_high_probability
    if n < found.n_high_probability:
        assert strict is None
    else:  # the largest rank that keeps the promise
        assert stats.beta.sf(0.05, strict.k, n + 1 - strict.k) <= 0.1
        assert stats.beta.sf(0.05, strict.k + 1, n - strict.k) > 0.1


def test_too_few_scores_have_no_distribution():
    """With too few scores there is no test, and the text says impossible."""
    found = rk.plan("fnr", 0.05, delta=0.05, n=18)
    assert found.realised_marginal is None
    assert found.realised_high_probability is None
    assert str(found).count("impossible") == 2


def _probability_of_excess(alpha, excess, up_to):
    """Return P(true rate > alpha + excess) for n = 1 ... up_to; 2 where no test exists."""
    n = np.arange(1, up_to + 1)
    k = np.floor(alpha * (n + 1) + 1e-9)
    assert (k / (n + 1) <= alpha).all()
    assert ((k + 1) / (n + 1) > alpha).all()
    return np.where(k > 0, betaincc(np.maximum(k, 1), n + 1 - k, alpha + excess), 2.0)


@pytest.mark.thorough
@each("alpha", [0.01, 0.05, 0.1, 0.3, 0.37, 0.5, 0.7, 0.9, 0.95, 0.99])
@each("share", [0.05, 0.2, 0.5, 1.0])
def test_number_for_an_excess_by_brute_force(alpha, share):
    """From n_excess on, and for no longer stretch, a larger excess is as rare as asked for."""
    excess = share * min(alpha, 1 - alpha) * 0.99
    deltas = (0.01, 0.05, 0.2, 0.4, 0.45, 0.5, 0.55, 0.6)
    found = [rk.plan("fnr", alpha, delta=delta, excess=excess).n_excess for delta in deltas]
    probability = _probability_of_excess(alpha, excess, up_to=max(3 * max(found), 2000))
    for delta, n_excess in zip(deltas, found, strict=True):
        assert (probability[n_excess - 1 :] <= delta).all()
        assert n_excess == 1 or probability[n_excess - 2] > delta


@pytest.mark.thorough_rows
@pytest.mark.parametrize(("alpha", "delta", "excess"), [(0.05, 0.05, 5e-5), (0.9, 0.4, 3e-4)])
def test_the_finest_excess_is_found(alpha, delta, excess):
    """For the finest excess, n is near the normal approximation and its neighbours agree."""
    found = rk.plan("fpr", alpha, delta=delta, excess=excess)
    rough = stats.norm.isf(delta) ** 2 * alpha * (1 - alpha) / excess**2
    assert found.n_excess == pytest.approx(rough, rel=0.1)
    for n, is_rare in ((found.n_excess, True), (found.n_excess - 1, False)):
        true_rate = rk.plan("fpr", alpha, n=n).realised_marginal
        assert (true_rate.exceeds(alpha + excess) <= delta) is is_rare


def test_more_care_needs_more_scores():
    """A smaller excess, or a smaller chance of it, never needs fewer scores."""
    numbers = np.array(
        [
            [rk.plan("fnr", 0.05, delta=d, excess=e).n_excess for e in (0.05, 0.03, 0.01, 0.005)]
            for d in (0.5, 0.2, 0.1, 0.05, 0.01)
        ]
    )
    assert (np.diff(numbers, axis=0) >= 0).all()
    assert (np.diff(numbers, axis=1) >= 0).all()
    assert (numbers >= 19).all()


def test_planned_rank_is_the_rank_of_the_test():
    """The planned distribution is the one in the certificate of a test on as many scores."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 123)
    cal = rk.calibrate(rng.normal(labels), labels)
    found = rk.plan("fpr", 0.1, delta=0.05, n=123)
    for method, true_rate in (
        (rk.Conformal(), found.realised_marginal),
        (rk.HighProbability(0.05), found.realised_high_probability),
    ):
        found = cal.control("fpr", 0.1, method=method).certificate.cells[0].realised
        assert (found.k, found.n) == (true_rate.k, true_rate.n)
        assert method.against(np.arange(123.0), "high").rank(0.1) == true_rate.k


def test_what_was_not_asked_is_none():
    """Without delta, n and excess a plan has the marginal number only."""
    found = rk.plan("fnr", 0.05, delta=None)
    assert found.n_marginal == 19
    assert found.n_high_probability is None
    assert found.n_excess is None
    assert found.realised_marginal is None
    assert "HighProbability" not in str(found)


def test_plan_reads_as_text():
    """The text names the objects to hold out, every number, and the chance of an excess."""
    found = rk.plan("fpr", 0.01, delta=0.05, excess=0.005, n=2000)
    text = str(found)
    assert text == repr(found)
    assert text.startswith("Plan for FPR <= 1%, in held-out negatives")
    assert "(Conformal): at least 99" in text
    assert "(HighProbability): at least 299" in text
    assert f"above 1.50% with probability at most 0.05: at least {found.n_excess:,}" in text
    assert "with 2,000, if no scores are tied:" in text


def test_n_may_be_any_whole_number_type():
    """A number of scores from NumPy, or a whole float, is taken as the plain int."""
    for n in (100, np.int32(100), 100.0):
        assert type(rk.plan("fnr", 0.05, n=n).n) is int


@each(
    ("arguments", "message"),
    [
        ({"control": "auc"}, "control='auc' must be \"fnr\""),
        ({"alpha": 5}, "alpha=5 is not a rate strictly between 0 and 1. Write 5%"),
        ({"alpha": 0.0}, "alpha=0.0 is not a rate"),
        ({"delta": 1.0}, "delta=1.0 is not a rate"),
        ({"delta": True}, "delta=True is not a rate"),
        ({"n": 0}, "n=0 must be a whole number from 1 up"),
        ({"n": 2.5}, "n=2.5 must be a whole number"),
        ({"n": "many"}, "n='many' must be a whole number"),
        ({"n": float("nan")}, "n=nan must be a whole number"),
        ({"excess": 0.01, "delta": None}, "excess=0.01 needs delta"),
        ({"excess": "x", "delta": 0.1}, "excess='x' is not a rate"),
        ({"excess": 0.95, "delta": 0.1}, "less than 1 - alpha = 0.95"),
        ({"excess": 1e-6, "delta": 0.1}, "Plans go down to 4.9e-05. Take at least that."),
    ],
)
def test_bad_input_is_refused(arguments, message):
    """What cannot be planned is refused with the value, the need and the remedy."""
    arguments = {"control": "fnr", "alpha": 0.05, **arguments}
    with pytest.raises(rk.InputError) as caught:
        rk.plan(arguments.pop("control"), arguments.pop("alpha"), **arguments)
    assert message in str(caught.value)


def test_groups_and_clusters_multiply():
    """Every group needs the number, and delta is divided where all must hold together."""
    found = rk.plan("fnr", 0.05, groups=5)
    assert (found.n_high_probability, found.n_joint) == (
        59,
        rk.plan("fnr", 0.05, delta=0.01).n_high_probability,
    )
    exceeds = 0.95**found.n_joint  # the chance of one group
    assert 1 - (1 - exceeds) ** 5 <= 0.05
    text = str(found)
    assert "0.05: 59 per group, 295 in all" in text
    assert "(0.01 for each): 90 per group, 450 in all" in text
    assert found.to_dict()["least_n_joint"] == 90
    clusters = rk.plan("fpr", 0.05, rows_per_cluster=2.5, n=100)
    assert clusters.n_high_probability == 59
    assert "clusters with negatives" in str(clusters)
    assert "at least 59 (some 148 rows)" in str(clusters)
    assert "Conformal: true rate" not in str(clusters)  # unknown with clusters
    assert clusters.realised_marginal is None
    assert (
        clusters.realised_high_probability == rk.plan("fpr", 0.05, n=100).realised_high_probability
    )


def test_alerts_need_any_objects():
    """A share of alerts is planned like a rate, and no labels are asked for."""
    found = rk.plan("alerts", 0.02)
    assert (found.n_marginal, found.n_high_probability) == (49, 149)
    assert "labelled or not" in str(found)
    cal = rk.calibrate(np.arange(149.0), np.arange(149) % 2)
    cal.control_alerts(0.02, delta=0.05)
    with pytest.raises(rk.exceptions.UnattainableError):
        rk.calibrate(np.arange(148.0), np.arange(148) % 2).control_alerts(0.02, delta=0.05)


def _power(null, true, level, n):
    """Return the exact power with n objects, by summing over every count."""
    counts = np.arange(n + 1)
    few = true < null
    p_values = stats.binom.cdf(counts, n, null) if few else stats.binom.sf(counts - 1, n, null)
    return stats.binom.pmf(counts, n, true)[p_values <= level].sum()


def _from_there_on(null, true, level, power, most):
    reached = [_power(null, true, level, n) >= power for n in range(1, most)]
    return most - int(np.argmin(reached[::-1]))  # after the last that is not


@pytest.mark.thorough
@each("power", [0.5, 0.9, 0.99])
@each(
    ("control", "level", "expected"),
    [("precision", 0.9, 0.98), ("npv", 0.8, 0.95), ("wrong", 0.3, 0.15), ("precision", 0.05, 0.2)],
)
def test_labels_to_certify_by_brute_force(control, level, expected, power):
    """From the planned number on, and for no longer stretch, a third of delta has the power."""
    found = rk.plan(control, level, expected=expected, power=power, delta=0.06)
    wrong = (level, expected) if control == "wrong" else (1 - level, 1 - expected)
    brute = _from_there_on(*wrong, 0.02, power, 700)
    assert found.needed.n_tested == brute
    assert found.needed.n_called == int(np.ceil(brute / 0.9))
    assert found.needed.n_objects is None


@pytest.mark.parametrize("share", [0.05, 0.5, 0.99])
def test_labelled_objects_to_certify_by_brute_force(share):
    """Over the random number of alerts the power is kept, and hardly with fewer objects."""
    found = rk.plan("precision", 0.8, expected=0.95, share=share, groups=2).needed
    lasting = [_power(0.2, 0.05, 0.05 / 3, n) for n in range(400)]
    lasting = np.minimum.accumulate(lasting[::-1])[::-1]

    def power(n):
        tested = n - min(max(30, round(0.1 * n)), 2000, n // 2)
        return stats.binom.expect(
            lambda a: lasting[np.minimum(a, 399).astype(int)], (tested, share), lb=0, ub=tested
        )

    assert power(found.n_objects) >= 0.9 - 1e-9
    assert power(found.n_objects - 2) < 0.9
    assert found.n_objects * share >= found.n_tested


@pytest.mark.thorough_rows
@pytest.mark.parametrize(
    ("alpha", "worse", "groups"), [(0.05, 0.1, 10), (0.05, 0.12, 1), (0.3, 0.5, 40), (0.5, 0.9, 3)]
)
def test_labels_of_an_audit_by_brute_force(alpha, worse, groups):
    """From the planned number on, and for no longer stretch, a worse group is found."""
    found = rk.planning.plan_audit("fnr", alpha, worse=worse, groups=groups)
    assert found.n_per_group == _from_there_on(alpha, worse, 0.05 / groups, 0.9, 700)
    assert found.n == groups * found.n_per_group
    assert found.to_dict()["n_per_group"] == found.n_per_group


@pytest.mark.parametrize(
    "plan",
    [
        rk.plan("precision", 0.9, expected=0.95, share=0.2, groups=3),
        rk.plan("wrong", 0.05, expected=0.03),
        rk.planning.plan_audit("fpr", 0.01, worse=0.02, groups=4),
        rk.calibrate(np.arange(200.0), np.arange(200) % 3 == 0).labels_for_price(
            "fpr", 0.1, price=0.5
        ),
    ],
)
def test_plans_are_told_in_every_way(plan):
    """Text fits a terminal, the card has the same numbers, and JSON takes the facts."""
    assert max(map(len, str(plan).splitlines())) <= 79
    assert repr(plan) == str(plan)
    first = str(plan).splitlines()[0].replace(">", "&gt;").replace("<", "&lt;")
    assert first[:20] in plan._repr_html_()
    json.dumps(plan.to_dict())


def _two_normals(n, seed=0, n_other=None):
    rng = np.random.default_rng(seed)
    negative = rng.normal(0, 1, n if n_other is None else n_other)
    scores = np.r_[negative, rng.normal(2, 1, n)]
    return rk.calibrate(scores, np.repeat([0, 1], [negative.size, n]))


@pytest.mark.parametrize("control", ["fnr", "fpr"])
@pytest.mark.parametrize("method", [rk.HighProbability(), rk.Conformal()])
def test_labels_for_a_price(control, method):
    """The price at hand is that of the certificate, and the needed number has the wanted one."""
    cal = _two_normals(800, n_other=800)
    test = cal.control(control, 0.05, method=method)
    price = test.certificate.cells[0].other_error
    found = cal.labels_for_price(control, 0.05, price=0.9, method=method)
    assert found.now == (price.rate, *price.interval)
    assert (found.n_needed, found.n_more, found.n_more_objects) == (800, 0, 0)
    assert "enough" in str(found)
    wanted = found.limit.rate + 0.002
    found = cal.labels_for_price(control, 0.05, price=wanted, method=method)
    # The threshold that so many scores allow on average, among the scores at hand.
    rank = method.against(np.arange(float(found.n_needed)), "low").rank(0.05)
    share = rank / (found.n_needed + 1)
    loose = cal.control(control, share * 1.0000001, method=rk.Conformal())
    assert loose.certificate.cells[0].other_error.rate <= wanted
    assert found.then.low <= found.then.rate <= min(found.then.high, wanted)
    nothing = cal.labels_for_price(control, 0.05, price=0.01, method=method)
    assert nothing.n_needed is nothing.n_more is nothing.then is None
    assert "no number of labels reaches it" in str(nothing)


def test_fewer_labels_for_a_higher_price():
    """The number of labels falls with the price that is allowed, and rises with care."""
    cal = _two_normals(3000)
    prices = [0.37, 0.38, 0.39, 0.4, 0.5]
    for method in (rk.HighProbability(0.01), rk.HighProbability()):
        numbers = [
            cal.labels_for_price("fnr", 0.05, price=p, method=method).n_needed for p in prices
        ]
        numbers = [np.inf if n is None else n for n in numbers]
        assert numbers == sorted(numbers, reverse=True)
        assert numbers[-1] == 3000


def test_price_of_a_group_and_of_scores_too_few_for_the_promise():
    """Each group has its own plan; below the least number the price at hand is unknown."""
    rng = np.random.default_rng(0)
    labels, groups = np.tile([0, 1], 60), np.repeat(["a", "b"], [40, 80])
    cal = rk.calibrate(rng.normal(2 * labels), labels, groups=groups)
    found = cal.labels_for_price("fnr", 0.05, price=0.9, group="b")
    assert found.now is None
    assert found.n == 40
    assert found.n_needed is None or found.n_needed >= 59
    assert "impossible: at least 59 are needed" in str(found)
    with pytest.raises(rk.InputError, match="has groups"):
        cal.labels_for_price("fnr", 0.05, price=0.5)
    with pytest.raises(rk.InputError, match="'c'"):
        cal.labels_for_price("fnr", 0.05, price=0.5, group="c")
    with pytest.raises(rk.TooFewScoresError, match="At least 99 are needed"):
        cal.labels_for_price("fnr", 0.01, price=0.5, group="b")


def test_price_that_cannot_be_asked_for():
    """A price outside (0, 1), another method, one class and no labels are refused."""
    cal = _two_normals(100)
    for wrong, words in [
        ({"price": 1.5}, "price=1.5 is not a rate"),
        ({"price": 0.0}, "price=0.0 is not a rate"),
        ({"method": "smoothed"}, "Conformal"),
        ({"method": rk.HighProbability(randomised=True)}, "ties left as they are"),
        ({"group": "a"}, "has no groups"),
    ]:
        with pytest.raises(rk.InputError) as caught:
            cal.labels_for_price("fnr", 0.05, **{"price": 0.4, **wrong})
        assert words in str(caught.value)
    one = rk.calibrate(np.arange(100.0), one_class="positive")
    with pytest.raises(rk.InputError, match="nothing is known about the price"):
        one.labels_for_price("fnr", 0.05, price=0.4)


@each(
    ("call", "message"),
    [
        (lambda: rk.plan("precision", 0.9), "expected is missing"),
        (lambda: rk.plan("precision", 0.9, expected=0.9), "expected=0.9 is not better"),
        (lambda: rk.plan("npv", 0.9, expected=0.5), "must be above it"),
        (lambda: rk.plan("wrong", 0.05, expected=0.06), "must be below it"),
        (lambda: rk.plan("wrong", 0.05, expected=0.04999), "too close to 0.05"),
        (lambda: rk.plan("precision", 0.9, expected=0.95, power=1.0), "power=1.0 is not a rate"),
        (lambda: rk.plan("precision", 0.9, expected=0.95, power=0), "power=0 is not a rate"),
        (lambda: rk.plan("precision", 0.9, expected=0.95, share=2), "share=2 is not a rate"),
        (lambda: rk.plan("precision", 0.9, expected=0.95, delta=None), "delta=None must be"),
        (lambda: rk.plan("precision", 0.9, expected=0.95, n=5), "n=5 means nothing"),
        (lambda: rk.plan("fnr", 0.05, power=0.9), "power=0.9 means nothing in a plan for fnr"),
        (lambda: rk.plan("fnr", 0.05, groups=0), "groups=0 must be a whole number from 1 up"),
        (lambda: rk.plan("fnr", 0.05, rows_per_cluster=0.5), "at least 1"),
        (lambda: rk.plan("alerts", 0.05, rows_per_cluster=5), "means nothing"),
        (lambda: rk.plan("fnr", 0.05, rows_per_cluster=5, excess=0.01), "no known distribution"),
        (
            lambda: rk.planning.plan_audit("fnr", 0.05, worse=0.05, groups=2),
            "is not above alpha=0.05",
        ),
        (lambda: rk.planning.plan_audit("fnr", 0.05, worse=0.1, groups=0), "groups=0 must be"),
        (
            lambda: rk.planning.plan_audit("fnr", 0.05, worse=0.1, groups=2, power=2),
            "power=2 is not",
        ),
        (
            lambda: rk.planning.plan_audit("precision", 0.9, worse=0.95, groups=2),
            "control='precision'",
        ),
        (lambda: rk.planning.plan_audit("fnr", 1e-7, worse=2e-7, groups=2), "too close"),
    ],
)
def test_plans_that_cannot_be(call, message):
    """What means nothing or cannot happen is refused with the value and the need."""
    with pytest.raises(rk.InputError) as caught:
        call()
    assert message in str(caught.value)
