"""How many held-out objects a promise needs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaincc

import ratekeeper as rk
from ratekeeper.methods._rank import critical_rank


@pytest.mark.parametrize(
    ("alpha", "n_marginal", "n_high_probability"),
    [(0.05, 19, 59), (0.01, 99, 299), (0.001, 999, 2995), (0.5, 1, 5), (0.9, 1, 2)],
)
@pytest.mark.parametrize("control", ["fnr", "fpr"])
def test_smallest_numbers(control, alpha, n_marginal, n_high_probability):
    """The smallest numbers of scores at delta = 5% are the known ones, for either error."""
    found = rk.plan(control, alpha, delta=0.05)
    assert (found.n_marginal, found.n_high_probability) == (n_marginal, n_high_probability)


@pytest.mark.parametrize("alpha", [0.001, 0.0137, 0.05, 0.07, 0.29, 0.3, 0.57, 0.99])
@pytest.mark.parametrize("delta", [0.001, 0.05, 0.5, 0.9])
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


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, 0.3, 0.37, 0.5, 0.7, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 1.0])
def test_number_for_an_excess_by_brute_force(alpha, share):
    """From n_excess on, and for no longer stretch, a larger excess is as rare as asked for."""
    excess = share * min(alpha, 1 - alpha) * 0.99
    deltas = (0.01, 0.05, 0.2, 0.4, 0.45, 0.5, 0.55, 0.6)
    found = [rk.plan("fnr", alpha, delta=delta, excess=excess).n_excess for delta in deltas]
    probability = _probability_of_excess(alpha, excess, up_to=max(3 * max(found), 2000))
    for delta, n_excess in zip(deltas, found, strict=True):
        assert (probability[n_excess - 1 :] <= delta).all()
        assert n_excess == 1 or probability[n_excess - 2] > delta


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
        assert cal.control("fpr", 0.1, method=method).certificate.cells[0].realised == true_rate
        assert critical_rank(method, 123, 0.1) == true_rate.k


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
    assert "with 2,000:" in text


def test_n_may_be_any_whole_number_type():
    """A number of scores from NumPy, or a whole float, is taken as the plain int."""
    for n in (100, np.int32(100), 100.0):
        assert type(rk.plan("fnr", 0.05, n=n).n) is int


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"control": "tpr"}, "control='tpr' must be \"fnr\""),
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
