"""What the schools say of a score, each against a plain truth of its own."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import ratekeeper as rk
from ratekeeper._numerics._likelihood_ratio import fitted, merged, two_parts
from ratekeeper.diagnostics._evidence import _e_values
from ratekeeper.exceptions import InputError, TooFewScoresError


def calibrated(seed=0, n=400, distance=2.0):
    """Return a calibration of two normal classes."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], n)
    return rk.calibrate(rng.normal(distance * labels), labels)


def split(cal):
    """Return the learning and the counting half of either class."""
    return [
        two_parts(cells[0], 0.5, cal.draw.numbers(cells[0].size, "evidence", label))
        for label, cells in enumerate(cal.cells)
    ]


def test_p_values_and_decisions_are_those_of_the_calibration():
    """Fisher's and Neyman and Pearson's answers are the library's own, with the other error."""
    cal, scores = calibrated(), np.linspace(-2, 5, 20)
    found = rk.evidence(cal, scores, control="fnr", alpha=0.1)
    np.testing.assert_array_equal(found.p_values.p0, cal.p_values(scores).p0)
    np.testing.assert_array_equal(found.p_values.p1, cal.p_values(scores).p1)
    test = cal.control("fnr", 0.1)
    np.testing.assert_array_equal(found.decisions.positive, test.decide(scores).positive)
    assert found.test.other_error == test.other_error


def test_bands_are_exact_binomial_intervals_of_objects_that_did_not_draw_up_blocks():
    """Counts, ratios and bands by hand, with scipy's exact intervals."""
    cal = calibrated()
    found = rk.evidence(cal, [0.0], confidence=0.9)
    band = found.band
    (learnt0, others0), (learnt1, others1) = split(cal)
    blocks = merged(fitted(learnt0, learnt1, "rising"), 0.05)
    np.testing.assert_array_equal(band.edges, blocks.edges)
    ends = [-np.inf, *band.edges, np.inf]
    each = 1 - 0.1 / (2 * len(band))
    for j, (low, high) in enumerate(pairwise(ends)):
        n0, n1 = (int(((s >= low) & (s < high)).sum()) for s in (others0, others1))
        assert (band.negative[j], band.positive[j]) == (n0, n1)
        of0, of1 = (stats.binomtest(n, 200).proportion_ci(each, "exact") for n in (n0, n1))
        assert band.low[j] == pytest.approx(of1.low / of0.high)
        assert band.high[j] == pytest.approx(of1.high / of0.low if of0.low else np.inf)
        if n0:
            assert band.ratio[j] == pytest.approx(n1 / n0)


def test_a_score_has_the_values_of_its_block():
    """An edge belongs to the block above it, and infinite scores to the outer blocks."""
    cal = calibrated()
    edges = rk.evidence(cal, [0.0]).band.edges
    scores = np.r_[-np.inf, edges, np.nextafter(edges, -np.inf), np.inf]
    found = rk.evidence(cal, scores)
    place = np.r_[0, np.arange(1, edges.size + 1), np.arange(edges.size), edges.size]
    np.testing.assert_array_equal(found.ratio, found.band.ratio[place])
    np.testing.assert_array_equal(found.ratio_low, found.band.low[place])
    assert found.bayes_factor is found.ratio


@pytest.mark.parametrize("higher", [True, False])
def test_bands_of_a_monotone_ratio_are_those_of_the_blocks_around(higher):
    """The lower bound is the largest of the blocks before, the upper the least of those after."""
    cal = calibrated()
    if not higher:
        negative, positive = (cells[0] for cells in cal.cells)
        scores = np.r_[-negative, -positive]
        cal = rk.calibrate(scores, np.repeat([0, 1], 400), higher_is_positive=False)
    middle = rk.evidence(cal, [0.0]).band.edges
    points = np.r_[middle[0] - 1, middle]  # one in each block
    found = rk.evidence(cal, points)
    low, high = found.band.low, found.band.high
    for j in range(len(points)):
        before, after = (slice(j), slice(j + 1, None))
        if not higher:
            before, after = after, before
        assert found.monotone_low[j] == max(low[before], default=0.0)
        assert found.monotone_high[j] == min(high[after], default=np.inf)


def test_the_posterior_is_bayes_rule():
    """Of the ratio and of both ends of its band, for both ends of the prior."""
    cal, scores = calibrated(), np.linspace(-2, 4, 9)
    found = rk.evidence(cal, scores, prior=(0.1, 0.3))

    def bayes(prior, ratio):
        with np.errstate(invalid="ignore"):
            joint = prior * ratio / (prior * ratio + 1 - prior)
        return np.where(np.isinf(ratio), 1.0, joint)

    np.testing.assert_allclose(found.posterior, bayes(0.2, found.ratio))
    np.testing.assert_allclose(found.posterior_low, bayes(0.1, found.ratio_low))
    np.testing.assert_allclose(found.posterior_high, bayes(0.3, found.ratio_high))
    one = rk.evidence(cal, scores, prior="20%")
    np.testing.assert_allclose(one.posterior, found.posterior)
    assert one.prior == (0.2, 0.2)
    assert rk.evidence(cal, scores).posterior is None


def test_e_values_are_shares_of_all_weights():
    """By hand: the weight of the score by the mean weight of the class and the score itself."""
    cal, scores = calibrated(), np.linspace(-2, 4, 9)
    found = rk.evidence(cal, scores)
    (learnt0, others0), (learnt1, others1) = split(cal)
    blocks = merged(fitted(learnt0, learnt1, "rising"), 0.05)
    weight = ((blocks.positive + 0.5) / 201) / ((blocks.negative + 0.5) / 201)
    for e, own, w in ((found.e0, others0, weight), (found.e1, others1, 1 / weight)):
        mine = w[np.digitize(scores, blocks.edges)]
        rest = w[np.digitize(own, blocks.edges)]
        np.testing.assert_allclose(e, [x / np.mean([*rest, x]) for x in mine])


def test_e_values_average_exactly_one_over_who_is_new():
    """Of n + 1 objects of the class each is as likely to be the new one: the mean is 1."""
    rng = np.random.default_rng(0)
    weights, all_ = rng.random(5) + 0.1, rng.integers(0, 5, 31)
    each = [_e_values(weights, all_[[i]], np.delete(all_, i))[0] for i in range(all_.size)]
    assert np.mean(each) == pytest.approx(1.0, abs=1e-12)


def test_it_prints_and_goes_to_json():
    """The text explains every column; JSON has every value."""
    found = rk.evidence(calibrated(), np.linspace(-2, 4, 12), prior=(0.1, 0.2))
    text = repr(found)
    assert text.startswith("Evidence on 12 objects")
    assert "Not the probability" in " ".join(text.split())
    assert "posterior (band)" in text
    assert "and of the range of priors" in " ".join(text.split())
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["ratio"] == pytest.approx(found.ratio.tolist())
    assert facts["prior"] == [0.1, 0.2]
    assert len(found) == 12
    assert "<table" in found._repr_html_()
    assert "RatioBand of" in repr(found.band)
    assert "posterior" not in rk.evidence(calibrated(), [0.0]).to_dict()


def test_what_gives_no_evidence_is_refused():
    """Groups, clusters, one class, few objects, priors that are none, NaN."""
    cal = calibrated()
    for prior in (0, 1.2, (0.3, 0.1), (0.1, 0.2, 0.3)):
        with pytest.raises(InputError, match="prior"):
            rk.evidence(cal, [0.0], prior)
    with pytest.raises(InputError, match="confidence"):
        rk.evidence(cal, [0.0], confidence=1.0)
    with pytest.raises(InputError, match="NaN"):
        rk.evidence(cal, [np.nan])
    labels = np.arange(80) % 2
    with pytest.raises(InputError, match="a Calibration"):
        rk.evidence(np.arange(80.0), [0.0])
    with pytest.raises(InputError, match="groups"):
        rk.evidence(rk.calibrate(np.arange(80.0), labels, groups=np.arange(80) // 40), [0.0])
    with pytest.raises(InputError, match="clusters"):
        rk.evidence(rk.calibrate(np.arange(80.0), labels, clusters=np.arange(80) // 2), [0.0])
    with pytest.raises(TooFewScoresError, match="at least 20"):
        rk.evidence(rk.calibrate(np.arange(80.0), one_class="negative"), [0.0])
