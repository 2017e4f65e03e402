"""The least other error: against the hull of another implementation, and Neyman and Pearson's."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from cases import each
from scipy import stats
from scipy.special import ndtr

import ratekeeper as rk
from ratekeeper import diagnostics
from ratekeeper._numerics._least_price import hull_at, least_price
from ratekeeper.diagnostics._hull import _concave_hull
from ratekeeper.exceptions import InputError

RARE = 1e-7
pytestmark = pytest.mark.filterwarnings("ignore::ratekeeper.exceptions.ReversedScoreWarning")


def sample(shape, seed=0, n=300):
    """Return scores and labels."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], n)
    noise = rng.normal(size=2 * n)
    return {
        "good": noise + 2 * labels,
        "rounded": (noise + labels).round(),
        "two-sided": noise * (1 + 3 * labels),
        "reversed": noise - 2 * labels,
        "constant": np.zeros(2 * n),
    }[shape], labels


@each("alpha", [0.01, 0.05, 0.3, 0.9])
@each("higher", [True, False])
@each("control", ["fnr", "fpr"])
@each("shape", ["good", "rounded", "two-sided", "reversed", "constant"])
def test_the_hull_is_that_of_the_roc_curve(shape, control, higher, alpha):
    """Curve and hull at a level are those of `concave_hull_gap`, which finds all its corners."""
    scores, labels = sample(shape)
    gap = diagnostics.concave_hull_gap(scores, labels, higher_is_positive=higher)
    expected = gap.other_error_at(control, alpha)
    null = int(control == "fnr")
    classes = [np.sort(scores[labels == c]) for c in (null, 1 - null)]
    found = least_price(*classes, "low" if (null == 1) == higher else "high", alpha)
    assert found.on_curve == pytest.approx(expected.on_curve)
    assert found.on_hull == pytest.approx(expected.on_hull)
    # The limits: the hull at levels that are off by the band of one class, moved by that of the
    # other.
    far = math.sqrt(math.log(2 / 0.025) / (2 * 300))
    if alpha + far < 1:
        low = gap.other_error_at(control, alpha + far).on_hull - far
        assert found.low == pytest.approx(max(low, 0.0))
    if alpha > far:
        high = gap.other_error_at(control, alpha - far).on_hull + far
        assert found.high == pytest.approx(min(high, 1.0))
    else:
        assert found.high == 1.0
    coarse = least_price(*classes, "low" if (null == 1) == higher else "high", alpha, most=40)
    assert coarse.high >= found.high - 1e-12


def test_the_hull_at_a_place_is_the_lowest_line_over_all_pairs():
    """By brute force over all pairs of points."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = np.r_[0.0, np.sort(rng.random(12)), 1.0]
        y = np.r_[1.0, -np.sort(-rng.random(12)), 0.0]
        at = rng.random()
        pairs = [
            y[i] + (at - x[i]) * (y[j] - y[i]) / (x[j] - x[i])
            for i in range(14)
            for j in range(14)
            if x[i] <= at < x[j]
        ]
        assert hull_at(x, y, at) == pytest.approx(min(pairs))


def test_hull_products_do_not_overflow():
    """Counts whose products exceed 64 bits still give the right corners."""
    big = 10**12
    assert _concave_hull([0, 1, big, 3 * big], [0, big, 2 * big, 2 * big + 1]).tolist() == [
        0,
        1,
        2,
        3,
    ]
    assert _concave_hull([0, big, 2 * big], [0, big - 1, 2 * big]).tolist() == [0, 2]
    assert _concave_hull([0, big, 2 * big], [0, big, 2 * big]).tolist() == [0, 2]


def brute_force(null, other, alpha):
    """Fill cells of a fine grid into the rejected region by their likelihood ratio."""
    grid = np.linspace(-60, 60, 600_001)
    mass = [np.diff(ndtr((grid - mean) / spread)) for mean, spread in (null, other)]
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(mass[0] > 0, mass[1] / mass[0], np.inf), kind="stable")
    spent = np.cumsum(mass[0][order])
    return 1 - mass[1][order][spent <= alpha].sum()


@each("alpha", [0.01, 0.05, 0.4])
@each(
    ("negative", "positive"),
    [((0, 1), (2, 1)), ((2, 1), (0, 1)), ((0, 1), (0, 3)), ((1, 4), (0, 0.5)), ((0, 1), (3, 1.2))],
)
def test_normal_classes_have_the_error_of_neyman_and_pearson(negative, positive, alpha):
    """The region of the lemma, filled cell by cell, has the same other error."""
    for control, null, other in (("fnr", positive, negative), ("fpr", negative, positive)):
        found = diagnostics.least_normal_error(control, alpha, negative=negative, positive=positive)
        assert found == pytest.approx(brute_force(null, other, alpha), abs=2e-4)


def test_limits_cover_the_least_of_the_population():
    """Of normal classes it is known; the limits miss it in at most 10% of sets."""
    rng, runs, n, alpha = np.random.default_rng(1), 300, 300, 0.3
    true = diagnostics.least_normal_error("fnr", alpha, negative=(0, 1), positive=(1, 1))
    missed = optimistic = 0
    for _ in range(runs):
        cal = rk.calibrate(np.r_[rng.normal(0, 1, n), rng.normal(1, 1, n)], np.repeat([0, 1], n))
        found = diagnostics.least_other_error(cal.control("fnr", alpha), confidence=0.9)
        missed += not found.low <= true <= found.high
        optimistic += found.on_hull < true
    assert missed <= stats.binom.isf(RARE, runs, 0.1)
    assert optimistic > runs / 2  # as the words say


def test_the_price_of_plain_control_comes_near_the_least():
    """The mean price is the integral of the ROC curve over the Beta distribution of the rate."""
    rng, runs, n, alpha = np.random.default_rng(2), 200, 1000, 0.05
    least = diagnostics.least_normal_error("fnr", alpha, negative=(0, 1), positive=(2, 1))
    prices = []
    for _ in range(runs):
        cal = rk.calibrate(np.r_[0.0, rng.normal(2, 1, n)], np.r_[0, np.ones(n)])
        test = cal.control("fnr", alpha)
        prices.append(1 - ndtr(test.threshold))
    k = test.certificate.cells[0].realised.k
    rate = stats.beta(k, n + 1 - k)
    expected = rate.expect(lambda u: ndtr(-stats.norm.ppf(u) - 2.0))
    spread = math.sqrt(rate.expect(lambda u: ndtr(-stats.norm.ppf(u) - 2.0) ** 2) - expected**2)
    assert abs(np.mean(prices) - expected) < 6 * spread / math.sqrt(runs)
    assert least < expected < least + 0.05


def wasteful(n=20_000):
    """Return a calibration of positives at both ends."""
    scores, labels = sample("two-sided", n=n)
    return rk.calibrate(scores, labels)


def test_the_certificate_says_what_is_wasted_where_that_is_shown(tmp_path):
    """It states an upper limit of the least price; files keep it; other certificates have none."""
    test = wasteful().control("fnr", 0.2)
    found = diagnostics.least_other_error(test)
    assert found.wasted
    certificate = test.certificate
    assert certificate.least == pytest.approx(found.high, abs=0.005)
    assert certificate.least >= found.high
    assert certificate.least < test.other_error.interval[0]
    text = " ".join(str(certificate).split())
    assert "With 95% confidence, a random choice between two thresholds" in text
    assert certificate.to_dict()["least_other_error"] == certificate.least
    rk.save(test, tmp_path / "test.rk")
    assert rk.load(tmp_path / "test.rk").certificate.least == certificate.least
    scores, labels = sample("good", n=20_000)
    plain = rk.calibrate(scores, labels).control("fnr", 0.2)
    assert plain.certificate.least is None
    assert "least_other_error" not in plain.certificate.to_dict()
    assert "random choice between" not in str(plain.certificate)
    assert not diagnostics.least_other_error(plain).wasted


def test_a_file_with_another_limit_is_refused(tmp_path):
    """A certificate states what its scores give."""
    path = tmp_path / "test.rk"
    test = wasteful(4_000).control("fnr", 0.4)
    assert test.certificate.least is not None
    rk.save(test, path)
    data = path.read_bytes()
    stated = json.dumps(test.certificate.least).encode()
    other = stated.replace(stated[2:4], b"11", 1)
    assert stated in data
    path.write_bytes(data.replace(stated, other, 1))
    with pytest.raises(rk.exceptions.StoredFileError):
        rk.load(path)


def test_the_result_prints_and_goes_to_json():
    """Facts and words."""
    found = diagnostics.least_other_error(wasteful(2_000).control("fpr", 0.3))
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["gap"] == pytest.approx(found.price.rate - found.on_hull)
    assert facts["price"]["rate"] == found.price.rate
    assert "(optimistic)" in repr(found)
    assert "(optimistic)" in found._repr_html_()


def test_what_has_no_least_is_refused():
    """Groups, one class, other objects, spreads that are none."""
    labels = np.arange(200) % 2
    grouped = rk.calibrate(np.arange(200.0), labels, groups=np.arange(200) // 100)
    with pytest.raises(InputError, match="groups"):
        diagnostics.least_other_error(grouped.control("fnr", 0.2))
    alone = rk.calibrate(np.arange(200.0), one_class="negative").control("fpr", 0.2)
    with pytest.raises(InputError, match="one class"):
        diagnostics.least_other_error(alone)
    assert alone.certificate.least is None
    with pytest.raises(InputError, match="ErrorRateTest"):
        diagnostics.least_other_error(grouped)
    for pair in (1.0, (0, 0), (0, 1, 2)):
        with pytest.raises(InputError, match="positive"):
            diagnostics.least_normal_error("fnr", 0.1, negative=(0, 1), positive=pair)
