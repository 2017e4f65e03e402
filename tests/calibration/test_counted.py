"""Calibrations of scores that are known by counts."""

from __future__ import annotations

import numpy as np
import pytest
from cases import each
from hypothesis import given, settings, strategies as st

import ratekeeper as rk
from ratekeeper._numerics._step_function import steps_of
from ratekeeper.calibration._buckets import Grid, count_out, rows_of
from ratekeeper.calibration._calibrate import calibration_of
from ratekeeper.calibration._counts import CountedScores, is_well_formed, joined
from ratekeeper.exceptions import InputError, StoredFileError
from ratekeeper.report import build

SOME = settings(max_examples=settings.default.max_examples // 4)  # each takes a while
METHODS = [
    rk.Conformal(),
    rk.HighProbability(delta=0.1),
    rk.Simultaneous(delta=0.1),
    rk.methods.Empirical(),
]
INFINITE = st.sampled_from([-np.inf, np.inf])
# Few values, so that there are ties, and neighbours within a bucket.
SCORES = st.one_of(
    st.integers(-6, 6).map(lambda i: i / 4), st.floats(-2, 2, width=32).map(float), INFINITE
)
SAMPLE = st.lists(SCORES, min_size=1, max_size=30)


def assert_bounds(cell: CountedScores, scores: np.ndarray, at: np.ndarray) -> None:
    """See that the number of scores at or below lies between what is known."""
    place = cell.knots.searchsorted(at, "right")
    found = np.sort(scores).searchsorted(at, "right")
    assert (np.r_[0, cell.least][place] <= found).all()
    assert (found <= np.r_[0, cell.most][place]).all()


def grid_of(scores: np.ndarray, n_buckets: int) -> Grid:
    finite = scores[np.isfinite(scores)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    return Grid.over(float(low), float(high), n_buckets)


def counted_by(scores: np.ndarray, n_buckets: int) -> CountedScores:
    rows = rows_of(grid_of(scores, n_buckets), scores, np.zeros(scores.size, dtype=np.int64))
    return CountedScores.of_buckets(rows.lowest, rows.highest, rows.count)


def counted_calibration(cal: rk.Calibration, n_buckets: int, passes: int = 1) -> rk.Calibration:
    """Return the same scores by counts."""
    cells = [*cal.cells[0], *cal.cells[1]]
    scores = np.concatenate(cells)
    codes = np.repeat(np.arange(len(cells)), [cell.size for cell in cells])
    half = len(cells) // 2
    ends = ("high", "low") if cal.higher_is_positive else ("low", "high")
    tails = [ends[0]] * half + [ends[1]] * half
    rows = count_out(
        lambda grid: rows_of(grid, scores, codes), grid_of(scores, n_buckets), tails, passes=passes
    )
    parts = [rows.take(rows.cell == i) for i in range(len(cells))]
    return calibration_of(
        tuple(CountedScores.of_buckets(p.lowest, p.highest, p.count) for p in parts),
        cal.classes,
        groups=cal.groups,
        higher_is_positive=cal.higher_is_positive,
    )


def drawn(seed: int = 0, n: int = 4000, *, digits: int | None = None) -> rk.Calibration:
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.4
    scores = 1 / (1 + np.exp(-rng.normal(np.where(labels, 1, -1), 1.5)))
    scores = scores if digits is None else scores.round(digits)
    return rk.calibrate(scores, labels)


@SOME
@given(SAMPLE, st.integers(1, 20), SAMPLE)
def test_counts_by_buckets_are_never_too_small_and_exact_at_the_ends(sample, n_buckets, queries):
    """For any scores, ties and infinities included, bounds hold at every score from both ends."""
    scores, new = np.array(sample), np.array(queries)
    cell = counted_by(scores, n_buckets)
    assert is_well_formed(cell)
    assert (cell.size, cell[0], cell[-1]) == (scores.size, scores.min(), scores.max())
    assert_bounds(cell, scores, np.r_[new, scores])


@SOME
@given(SAMPLE, SAMPLE, st.integers(1, 20), st.sampled_from(METHODS))
def test_p_values_of_counts_only_grow_and_decide_as_thresholds_do(zeros, ones, n_buckets, method):
    """At every score p is at least that of the scores themselves, for each method and tail."""
    cal = rk.calibrate([*zeros, *ones], [0] * len(zeros) + [1] * len(ones))
    counted = counted_calibration(cal, n_buckets)
    new = np.array([*zeros, *ones, -np.inf, np.inf, 0.1, -0.3, 0.6])
    exact, found = (c.p_values(new, method=method) for c in (cal, counted))
    alpha = 0.4
    for control, p, least in (("fnr", found.p1, exact.p1), ("fpr", found.p0, exact.p0)):
        assert (p >= least).all()
        if not method.can_promise(cal.n(int(control == "fnr")), alpha):
            continue
        test, own = (c.control(control, alpha, method=method) for c in (counted, cal))
        rejected = test.decide(new).positive == (control == "fpr")
        assert (rejected == (p <= alpha)).all()
        assert (own.decide(new).positive == (control == "fpr"))[rejected].all()
        assert test.threshold == own.threshold or test.certificate.cells[0].unused > 0


@SOME
@given(SAMPLE, SAMPLE, st.integers(1, 9), st.integers(1, 9), SAMPLE)
def test_joined_counts_bound_all_scores_together(one, two, few, many, queries):
    """Merging adds bounds up, whichever buckets each part was counted in, and one may be exact."""
    first, second = np.array(one), np.array(two)
    both = np.concatenate([first, second])
    for other in (counted_by(second, many), np.sort(second)):
        cell = joined([counted_by(first, few), other])
        assert is_well_formed(cell)
        assert_bounds(cell, both, np.r_[queries, both])


@SOME
@given(SAMPLE, st.integers(2, 9))
def test_thinning_knots_keeps_the_bounds(sample, knots):
    """With fewer knots counts are coarser, and still bounds."""
    scores = np.array(sample)
    cell = CountedScores.of_scores(np.sort(scores)).thinned(knots)
    assert is_well_formed(cell)
    assert_bounds(cell, scores, scores)


@pytest.mark.thorough_rows
@pytest.mark.parametrize("tail", ["low", "high"])
@pytest.mark.parametrize("digits", [None, 2])
def test_three_passes_spend_nearly_all_of_alpha(tail, digits):
    """At 1%, 0.1% and 0.001% at least 99.9% of alpha is spent, with scores piled up or tied."""
    rng = np.random.default_rng(5)
    n = 300_000
    for scores in (rng.normal(size=n), rng.beta(0.3, 3, n), 1 - rng.beta(0.3, 3, n)):
        values = scores if digits is None else scores.round(digits)
        rows = count_out(
            lambda grid, values=values: rows_of(grid, values, np.zeros(n, dtype=np.int64)),
            grid_of(values, 4096),
            [tail],
        )
        cell = CountedScores.of_buckets(rows.lowest, rows.highest, rows.count)
        ascending = np.sort(values)
        for k in (3, 300, 3000):
            (knot,) = cell.kth(np.array([k]), tail)
            exact = ascending[k - 1 if tail == "low" else -k]
            assert knot <= exact if tail == "low" else knot >= exact
            assert cell.unused(k, tail) <= 0.001


def test_tables_that_change_between_passes_are_refused():
    """If a second look finds other numbers of scores, nothing is made of them."""
    scores = np.random.default_rng(0).random(10_000)
    seen = iter([scores, scores[:-1]])

    def ask(grid: Grid):
        values = next(seen)
        return rows_of(grid, values, np.zeros(values.size, dtype=np.int64))

    with pytest.raises(InputError, match="changed while they were counted"):
        count_out(ask, Grid.over(0, 1, 16), ["low"])


@pytest.mark.parametrize("higher", [True, False])
def test_fully_counted_scores_give_the_very_same_test(higher):
    """With a bucket for each score thresholds, prices and p-values are those of the scores."""
    rng = np.random.default_rng(2)
    labels = rng.random(900) < 0.5
    scores = rng.normal(labels if higher else ~labels)
    cal = rk.calibrate(scores, labels, higher_is_positive=higher)
    counted = counted_calibration(cal, 1 << 16, passes=3)
    for control in ("fnr", "fpr"):
        one, two = (c.control(control, 0.1) for c in (cal, counted))
        assert one.threshold == two.threshold
        assert one.other_error == two.other_error
        assert two.certificate.cells[0].unused == 0
        assert "Exact: the threshold is the one" in str(two.certificate)
        exact, found = (test.alerts("10%").precision for test in (one, two))
        assert exact.value == found.value
        assert found.low <= exact.low < exact.high <= found.high  # a band of all thresholds
        assert one.certificate.cells[0].realised == two.certificate.cells[0].realised
        new = rng.normal(size=50)
        assert (one.decide(new).p_values.p0 == two.decide(new).p_values.p0).all()
    assert counted.auc == cal.auc


def test_a_coarse_certificate_says_what_is_unused_and_in_doubt():
    """The bound on what is lost is true, and objects in doubt count as errors."""
    cal = drawn()
    counted = counted_calibration(cal, 32)
    exact, test = (c.control("fnr", 0.05) for c in (cal, counted))
    cell = test.certificate.cells[0]
    positives = cal.cells[1][0]
    k = exact.certificate.cells[0].realised.k
    beyond = np.count_nonzero(positives < test.threshold)
    assert 0 < 1 - (beyond + 1) / k <= cell.unused + 1e-12
    rate = test.other_error
    errors = np.count_nonzero(cal.cells[0][0] >= test.threshold)
    assert rate.errors - rate.doubt <= errors <= rate.errors
    text = str(test.certificate)
    assert "of\n  alpha is unused" in text or "alpha is unused" in text.replace("\n  ", " ")
    assert "Those in doubt count as errors" in text.replace("\n  ", " ")
    assert test.certificate.to_dict()["cells"][0]["unused"] == cell.unused
    both = counted.control_both(0.05, 0.05)
    found, known = both.certificate.undecided, cal.control_both(0.05, 0.05)
    assert found["negative"].rate >= known.certificate.undecided["negative"].rate


def test_counts_survive_saving_and_merging(tmp_path):
    """A file holds knots and counts, rebuilds the same test, and merged counts add up."""
    counted = counted_calibration(drawn(), 64)
    for obj in (
        counted,
        counted.control("fnr", 0.05),
        counted.control_both(0.05, 0.1, method=rk.Conformal()),
    ):
        rk.save(obj, tmp_path / "counted.rk")
        loaded = rk.load(tmp_path / "counted.rk")
        assert repr(loaded) == repr(obj)
        again = loaded if isinstance(loaded, rk.Calibration) else loaded.calibration
        assert again == counted
        assert again.counted
    other = drawn(seed=1)
    merged = counted.merge(other)
    assert merged.counted
    yes = True
    assert merged.n(yes) == counted.n(yes) + other.n(yes)
    assert merged.merge(drawn(seed=2)) == counted.merge(other.merge(drawn(seed=2)))
    with pytest.raises(InputError, match="same objects"):
        counted.merge(rk.load(tmp_path / "counted.rk").calibration)


def test_wrong_counts_in_a_file_are_refused(tmp_path):
    """Counts that no scores have are refused, whatever the checksum says."""
    counted = counted_calibration(drawn(), 64)
    cell = counted.cells[0][0]
    wrong = CountedScores(cell.knots.copy(), cell.least.copy(), cell.most.copy())
    broken = calibration_of((wrong, counted.cells[1][0]), counted.classes)
    rk.save(broken, tmp_path / "broken.rk")
    with pytest.raises(StoredFileError, match="counts are not those of scores"):
        rk.load(tmp_path / "broken.rk")


def test_groups_are_counted_apart_and_pooled_together():
    """Each group has counts of its own, and thin ones take the threshold of all."""
    rng = np.random.default_rng(3)
    labels = rng.random(3000) < 0.5
    groups = np.where(np.arange(3000) < 2960, np.arange(3000) % 2, 2)
    cal = rk.calibrate(rng.normal(labels), labels, groups=groups)
    counted = counted_calibration(cal, 1 << 14, passes=3)
    one, two = (c.control("fnr", 0.05, thin_groups="pool") for c in (cal, counted))
    assert one.thresholds == two.thresholds
    assert [c.unused for c in two.certificate.cells] == [0, 0, 0]
    assert one.certificate.other_error == two.certificate.other_error
    assert counted.pooled().n(1) == cal.n(1)


@each(
    "work",
    [
        lambda cal: cal.control_precision(0.9),
        lambda cal: cal.control_alerts(0.1),
        lambda cal: cal.select([0.5], 0.1),
        lambda cal: cal.cheapest(cost_fn=1, cost_fp=1),
        lambda cal: cal.labels_for_price("fnr", 0.05, price=0.1),
        lambda cal: cal.control("fnr", 0.05, method=rk.methods.Smoothed(0)),
        lambda cal: cal.control("fnr", 0.05, method=rk.HighProbability(randomised=True)),
        lambda cal: cal.control("fnr", 0.05, method=rk.methods.Kernel()),
        lambda cal: rk.shift_test(cal, [0.5]),
        lambda cal: build(cal.control("fnr", 0.05)),
        lambda cal: cal.cells[0][0] + np.ones(1),
        lambda cal: np.sort(cal.cells[0][0]),
        lambda cal: np.asarray(cal.cells[0][0]),
        lambda cal: cal.cells[0][0][5],
    ],
)
def test_what_needs_the_scores_themselves_is_refused(work):
    """Nothing takes counts for scores; the error says what to do."""
    with pytest.raises(InputError, match=r"holds counts of them.*Calibrate on the scores"):
        work(counted_calibration(drawn(), 64))


def test_a_monitor_watches_a_counted_test():
    """Its limit is that of the promise, and outcomes like the calibration raise no alarm."""
    cal = drawn()
    test = counted_calibration(cal, 64).control("fnr", 0.05)
    monitor = rk.Monitor(test)
    new = drawn(seed=9)
    scores = np.concatenate([new.cells[0][0], new.cells[1][0]])
    order = np.random.default_rng(0).permutation(scores.size)
    scores, truth = scores[order], order >= new.cells[0][0].size
    monitor.record(np.arange(scores.size), 1, test.decide(scores), scores=scores)
    monitor.update(np.arange(scores.size), truth)
    assert (monitor.limit_broken, monitor.unlike_calibration) == (False, False)
    assert "holds counts of them" in str(monitor)


@SOME
@given(SAMPLE, st.integers(1, 12), st.sampled_from(["low", "high"]), st.sampled_from(METHODS))
def test_steps_are_nowhere_below_p_values_and_decide_alike(sample, most, tail, method):
    """Whatever the number of steps, the table bounds p by its stated excess, and alpha is exact."""
    null = method.against(np.sort(np.array(sample)), tail)
    alpha = 0.3
    steps = steps_of(null, most=most, keep=[null.threshold(alpha)])
    new = np.array([*sample, -np.inf, np.inf, 0.1, -0.3])
    exact, found = null.p_values(new), steps.p_values(new)
    assert (found >= exact).all()
    assert (found - exact).max() <= steps.excess
    assert ((found <= alpha) == (exact <= alpha)).all()
