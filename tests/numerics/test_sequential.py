"""Watching an error rate: the numbers behind a monitor, each beside another way to get it."""

import json
import math
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext

import numpy as np
import pytest
from cases import each
from scipy import stats

import ratekeeper as rk
from ratekeeper._numerics._sequential import (
    AuditedEProcess,
    AuditedLikenessEProcess,
    ChangeDetector,
    LikenessEProcess,
    LimitEProcess,
    combine,
    interval,
    intervals,
    rate_among_all,
    rate_among_labelled,
    select_by_e_values,
)
from ratekeeper._numerics._sequential._bets import LOG_SHARES, THETAS

WATCHES = {
    "limit": lambda: LimitEProcess(0.05, 0.05),
    "audited": lambda: AuditedEProcess("fnr", 0.05, 0.2, 0.05),
    "likeness": lambda: LikenessEProcess(50, 1000, 0.05),
    "change": lambda: ChangeDetector(0.05, 1_000),
}


@pytest.fixture(params=WATCHES)
def make(request):
    return WATCHES[request.param]


def drawn(n, rate, seed=0):
    return np.random.default_rng(seed).random(n) < rate


def test_the_limit_s_evidence_is_exact_for_a_million_outcomes():
    """Its logarithm is that of fifty digits, from one outcome to a million, to 1e-9."""
    worst = {}
    for alpha in (1e-4, 0.05, 0.5):
        for n in (1, 10, 1_000, 1_000_000):
            for errors in {0, round(alpha * n), round(min(1, 1.1 * alpha) * n), n // 2, n}:
                watch = LimitEProcess(alpha, 0.05)
                watch.feed_counts(errors, n)
                with localcontext(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN):
                    total = Decimal(0)
                    for theta, share in zip(THETAS.tolist(), LOG_SHARES.tolist(), strict=True):
                        odds = Decimal(theta).exp()
                        price = (1 + Decimal(alpha) * (odds - 1)).ln()
                        bet = errors * Decimal(theta) - n * price
                        total += (Decimal(share) + bet).exp()
                    worst[alpha, n, errors] = abs(float(Decimal(watch.log_e) - total.ln()))
    assert {case: error for case, error in worst.items() if error > 1e-9} == {}


@each("rank", [1, 5, 50, 90])
@each("rate", [0.0, 0.05, 0.6, 1.0])
def test_the_urn_s_evidence_is_a_product_of_its_chances(rank, rate):
    """The likeness is the ratio of the chances that two urns give the outcomes, step by step."""
    n, outcomes = 100, drawn(20_000, rate, seed=1)
    watch = LikenessEProcess(rank, n, 0.05)
    watch.feed(outcomes)
    before, steps = np.cumsum(outcomes) - outcomes, np.arange(len(outcomes))

    def chances(b):
        weight = np.where(outcomes, rank + before, b + steps - before)
        return math.fsum(np.log(weight / (rank + b + steps)))

    urn = chances(n + 1 - rank)
    bets = [chances((n + 1 - rank) * math.exp(-theta)) - urn for theta in THETAS]
    expected = float(np.logaddexp.reduce(LOG_SHARES + bets))
    assert watch.log_e == pytest.approx(expected, abs=1e-9, rel=1e-12)


def test_a_large_urn_is_exact_where_gamma_functions_would_not_be():
    """With millions of scores and outcomes, few outcomes more multiply by the urns' own chances."""
    watch, n = LikenessEProcess(50_000, 1_000_000, 0.05), 1_000_000
    watch.feed_counts(60_000, n)
    before = watch.log_e
    watch.feed_counts(1, 1)
    with localcontext(prec=40):
        a, b = Decimal(50_000), Decimal(950_001)
        # All wealth is on one bet by now: its factor is the ratio of two urns' chances.
        theta = max(THETAS, key=lambda t: _urn_bet(a, b, t, 60_000, n))
        other = b * Decimal(-float(theta)).exp()
        factor = ((a + b + n) / (a + other + n)).ln()
    assert watch.log_e - before == pytest.approx(float(factor), abs=1e-9)


def _urn_bet(a, b, theta, errors, n):
    a, b = float(a), float(b)
    other = b * math.exp(-theta)
    correct = n - errors
    return (
        (math.lgamma(other + correct) - math.lgamma(a + other + n))
        - (math.lgamma(other) - math.lgamma(a + other))
        - (math.lgamma(b + correct) - math.lgamma(a + b + n))
        + (math.lgamma(b) - math.lgamma(a + b))
    )


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.15, 1.0])
def test_the_change_s_evidence_follows_its_recursion(rate):
    """M becomes (M + 1) times the factor of each outcome, and the alarm is where the sum says."""
    outcomes, wealth, sums = drawn(700, rate, seed=2), np.zeros(len(THETAS)), []
    psi = np.log1p(0.05 * np.expm1(THETAS))
    for error in outcomes:
        wealth = (wealth + 1) * np.exp(error * THETAS - psi)
        sums.append(math.log(np.exp(LOG_SHARES) @ wealth))
        if sums[-1] > 600:
            break
    sums = np.array(sums)
    watch = ChangeDetector(0.05, 1_000)
    for i, expected in enumerate(sums):
        watch.feed(bool(outcomes[i]))
        assert watch.log_e == pytest.approx(expected, abs=1e-9)
    reached = np.flatnonzero(sums >= math.log(1_000))
    assert watch.alarm == (reached[0] + 1 if len(reached) else None)
    assert watch.log_peak == pytest.approx(sums.max(), abs=1e-9)


@pytest.mark.thorough_rows
def test_a_state_depends_on_the_outcomes_alone(make):
    """One by one, in cuts of any size, read or saved in between: the same state, bit by bit."""
    rng = np.random.default_rng(3)
    outcomes = np.concatenate([drawn(4_000, 0.04, seed=4), drawn(3_000, 0.09, seed=5)])
    whole = make()
    whole.feed(outcomes)
    for sizes in ([1], [1, 1, 1, 2, 63, 64, 65, 700], [3_000, 20_000]):
        watch, at = make(), 0
        while at < len(outcomes):
            size = int(rng.choice(sizes))
            watch.feed(bool(outcomes[at]) if size == 1 else outcomes[at : at + size])
            at += size
            if rng.random() < 0.2:
                _ = watch.log_e, watch.alarm, watch.n
            if rng.random() < 0.1:
                watch = type(watch).restore(json.loads(json.dumps(watch.state(), allow_nan=False)))
        assert watch.state() == whole.state()
        assert (watch.log_e, watch.log_peak) == (whole.log_e, whole.log_peak)
    assert whole.n == 7_000
    assert whole.errors == outcomes.sum()


def test_a_state_does_not_grow(make):
    """It is as long after ten thousand outcomes as after one hundred, but for digits."""
    sizes = []
    for n in (100, 10_000):
        watch = make()
        watch.feed(drawn(n, 0.05))
        sizes.append(len(json.dumps(watch.state())))
    assert sizes[1] < 1.5 * sizes[0] + 400


def test_an_alarm_stays(make):
    """Its number is that of the first outcome at which the evidence sufficed, for ever."""
    watch = make()
    watch.feed([False, True] * 60)
    alarm, peak = watch.alarm, watch.log_peak
    assert 1 <= alarm <= 120
    watch.feed([False] * 5_000)
    assert (watch.alarm, watch.log_peak) == (alarm, peak)
    again = make()
    again.feed(([False, True] * 60)[: alarm - 1])
    assert again.alarm is None
    assert again.log_peak < peak


def test_batches_are_judged_at_their_ends():
    """Of a batch only the counts matter, so an alarm within it is not seen if it has gone."""
    one, batch = LimitEProcess(0.05, 0.05), LimitEProcess(0.05, 0.05)
    one.feed([True] * 5 + [False] * 500)
    batch.feed_counts(5, 505)
    assert one.log_e == batch.log_e
    assert (one.alarm, batch.alarm) == (2, None)
    batch.feed_counts(60, 60)
    assert batch.alarm == 565
    unlike = LikenessEProcess(50, 1000, 0.05)
    unlike.feed_counts(60, 60)
    assert unlike.alarm == 60


def test_missing_labels_never_add_evidence():
    """Errors left out or taken for correct, and correct outcomes added, never raise the evidence.

    At no time: so an alarm is raised no sooner than by the full truth.
    """
    rng = np.random.default_rng(6)
    for rate in (0.05, 0.05, 0.3):
        truth = rng.random(400) < rate
        missing = rng.random(400) < 0.4
        kind = [False if gone else bool(m) for m, gone in zip(truth, missing, strict=True)]
        for make in (lambda: LimitEProcess(0.05, 0.05), lambda: LikenessEProcess(20, 400, 0.05)):
            full, fewer, dropped, added = make(), make(), make(), make()
            for error, gone, kinder in zip(truth.tolist(), missing, kind, strict=True):
                full.feed(error)
                fewer.feed(kinder)
                if not (gone and error):
                    dropped.feed(error)
                added.feed(error)
                if gone:
                    added.feed(False)  # noqa: FBT003 - an outcome
                assert max(fewer.log_e, dropped.log_e, added.log_e) <= full.log_e + 1e-9


def test_fewer_errors_are_never_evidence():
    """Without any error the evidence stays at its start or falls, for every rank."""
    for rank in (1, 20, 200, 999, 1_000):
        watch = LikenessEProcess(rank, 1_000, 0.05)
        watch.feed([False] * 200_000)
        assert watch.log_e < 0.0
        assert (watch.log_peak, watch.alarm) == (0.0, None)


def test_a_rank_outside_the_scores_is_refused():
    """A threshold is one of the calibration scores."""
    for rank in (0, 1_001):
        with pytest.raises(rk.InputError, match="rank"):
            LikenessEProcess(rank, 1_000, 0.05)


@pytest.mark.parametrize("control", ["fnr", "fpr"])
@pytest.mark.parametrize("rate", [0.01, 0.3, 1.0])
def test_audited_bets_are_the_best_weighted_ones(control, rate):
    """Their factors are 1 + lambda (m - alpha) w, at the lambda that grows fastest."""
    alpha, factors = 0.05, {}
    labelled = rate_among_labelled(control, alpha, rate)
    psi = np.log1p(labelled * np.expm1(THETAS))
    factors = {True: np.exp(THETAS - psi), False: np.exp(-psi)}
    weights = {True: 1 / rate, False: 1.0} if control == "fnr" else {True: 1.0, False: 1 / rate}
    r = 1 / (1 + (1 - alpha) / alpha * np.exp(-THETAS))  # what each bet holds for the rate
    best = (r - alpha) / (alpha * (1 - alpha) * (r * weights[False] + (1 - r) * weights[True]))
    for m, factor in factors.items():
        assert factor == pytest.approx(1 + best * (m - alpha) * weights[m], rel=1e-12)


def test_an_audit_of_all_is_no_audit():
    """At an audit rate of 1 the watch is that of the limit, and labels are counted as they are."""
    outcomes = drawn(2_000, 0.07)
    plain, audited = LimitEProcess(0.05, 0.05), AuditedEProcess("fnr", 0.05, 1.0, 0.05)
    plain.feed(outcomes)
    audited.feed(outcomes, np.ones(2_000))
    assert audited.log_e == plain.log_e
    assert audited.alarm == plain.alarm
    assert audited.interval(0.1) == pytest.approx(plain.interval(0.1))
    for control in ("fnr", "fpr"):
        back = rate_among_all(control, rate_among_labelled(control, 0.07, 0.2), 0.2)
        assert back == pytest.approx(0.07)


@each("cells", [1, 4, 100])
def test_audited_cells_share_delta(cells):
    """The bound that likeness is judged by takes half of delta, for all cells together."""
    bound = stats.beta.isf(0.05 / 2 / cells, 50, 951)
    watch = AuditedLikenessEProcess("fnr", 50, 1_000, rate=0.1, delta=0.05, cells=cells)
    assert watch.alpha == pytest.approx(rate_among_labelled("fnr", bound, 0.1), rel=1e-9)


def test_weights_that_belong_to_no_audit_are_refused():
    """A miss that counts once would hide nine others."""
    watch = AuditedEProcess("fnr", 0.05, 0.1, 0.05)
    with pytest.raises(rk.InputError, match=r"1/rate = 10"):
        watch.feed([True, False], [1.0, 1.0])
    assert watch.n == 0
    watch.feed([True, False], [10.0, 1.0])
    with pytest.raises(rk.InputError, match="fnr"):
        AuditedEProcess("both", 0.05, 0.1, 0.05)


def test_the_interval_s_ends_are_where_the_evidence_suffices():
    """At either end a bet at half of delta has just been won, and there is none within."""
    for errors, n in ((0, 10), (3, 10), (10, 10), (0, 1_000), (50, 1_000), (30_000, 10**6)):
        low, high = interval(errors, n, 0.05)
        assert 0 <= low < (errors or 0.5) / n <= 1
        assert low <= errors / n <= high <= 1
        for end, k in ((low, errors), (1 - high, n - errors)):
            if end > 0:
                watch = LimitEProcess(end, 0.05)
                watch.feed_counts(k, n)
                assert watch.log_e == pytest.approx(math.log(2 / 0.05), rel=1e-6)
    assert interval(0, 0, 0.05) == (0.0, 1.0)
    errors, n = np.array([5, 7]), np.array([100, 900])
    ends = np.transpose(intervals(errors, n, 0.05))
    assert ends.tolist() == [list(interval(5, 100, 0.05)), list(interval(7, 900, 0.05))]
    moved = [interval(*counts, 0.05) for counts in ((5, 101), (5, 100), (6, 100))]
    assert moved == sorted(moved)
    assert [high for _, high in moved] == sorted(high for _, high in moved)


def test_together():
    """The mean is that of e-values, and e-BH names those that suffice for their number."""
    assert combine([0.0, 0.0]) == 0.0
    assert combine([1_000.0, 0.0]) == pytest.approx(1_000 - math.log(2))
    assert combine([-math.inf, -math.inf]) == -math.inf
    for es, named in (
        ([19.9], [False]),
        ([20.0], [True]),
        ([39, 39, 1], [True, True, False]),
        ([30, 30, 30], [True] * 3),
        ([59, 29, 1], [False] * 3),
        ([1, 61, 0], [False, True, False]),
    ):
        assert select_by_e_values(np.log(np.maximum(es, 1e-9)), 0.05).tolist() == named, es
    assert select_by_e_values([], 0.05).tolist() == []


@each("bad", [[0.5], [1, 0], np.nan, "yes", [[True]], [True, None]])
def test_outcomes_are_booleans(make, bad):
    """Anything else is refused, and nothing has been taken in."""
    watch = make()
    with pytest.raises(rk.InputError, match="booleans"):
        watch.feed(bad)
    watch.feed([])
    assert watch.n == 0
    assert watch.alarm is None


def test_a_change_after_a_long_good_time_is_found_soon_and_where_it_began():
    """The limit remembers all; the change starts anew, and says since when."""
    outcomes = np.concatenate([drawn(50_000, 0.03, seed=7), drawn(3_000, 0.15, seed=8)])
    limit, change = LimitEProcess(0.05, 0.05), ChangeDetector(0.05, 10_000)
    limit.feed(outcomes)
    change.feed(outcomes)
    assert limit.alarm is None
    assert 50_000 < change.alarm < 50_400
    assert abs(change.since - 50_000) < 100
