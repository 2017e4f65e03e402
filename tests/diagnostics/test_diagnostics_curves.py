"""The curve of the two errors and its concave hull, checked against other libraries."""

from __future__ import annotations

import numpy as np
import pytest
from cases import each
from scipy.spatial import ConvexHull
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import det_curve, roc_auc_score, roc_curve

from ratekeeper import diagnostics

SHAPES = ["good", "rounded", "two-sided", "blind", "reversed"]


def _sample(shape, seed=0, size=400):
    """Return scores of a given shape, with labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size)
    noise = rng.normal(size=size)
    return {
        "good": noise + 2 * labels,
        "rounded": (noise + labels).round(0),
        "two-sided": noise * (1 + 3 * labels),
        "blind": noise,
        "reversed": noise - 2 * labels,
    }[shape], labels


# The curve of the two errors


@pytest.mark.parametrize("shape", SHAPES)
def test_curve_is_the_roc_curve(shape):
    """The curve is scikit-learn's ROC curve with FNR = 1 - TPR, point by point."""
    scores, labels = _sample(shape)
    curve = diagnostics.fnr_fpr_curve(scores, labels)
    fpr, tpr, threshold = roc_curve(labels, scores, drop_intermediate=False)
    np.testing.assert_array_equal(curve.threshold, threshold)
    np.testing.assert_allclose(curve.fpr, fpr)
    np.testing.assert_allclose(curve.fnr, 1 - tpr, atol=1e-15)
    assert curve.threshold.size == np.unique(scores).size + 1


@pytest.mark.parametrize("shape", SHAPES)
def test_curve_holds_the_det_curve(shape):
    """Every point of scikit-learn's detection error trade-off curve is on the curve."""
    scores, labels = _sample(shape)
    curve = diagnostics.fnr_fpr_curve(scores, labels)
    mine = set(zip(curve.fpr.round(12), curve.fnr.round(12), strict=True))
    fpr, fnr, _ = det_curve(labels, scores)
    assert set(zip(fpr.round(12), fnr.round(12), strict=True)) <= mine


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thresholds_do_what_they_say(higher, dtype):
    """Calling positive what is at or beyond a threshold makes exactly the counted errors."""
    scores, labels = _sample("rounded", size=60)
    scores = np.r_[scores, -np.inf, np.inf, 0.0, -0.0].astype(dtype)
    labels = np.r_[labels, 1, 0, 0, 1]
    curve = diagnostics.fnr_fpr_curve(scores, labels, higher_is_positive=higher)
    assert curve.threshold.dtype == dtype
    for i, threshold in enumerate(curve.threshold):
        positive = scores >= threshold if higher else scores <= threshold
        assert curve.false_negatives[i] == (~positive & (labels == 1)).sum()
        assert curve.false_positives[i] == (positive & (labels == 0)).sum()
    assert (curve.fnr[0], curve.fpr[0], curve.fnr[-1], curve.fpr[-1]) == (1, 0, 0, 1)


def test_accuracy_along_the_curve():
    """Accuracy is the share of right decisions, and reweighs the classes if asked to."""
    scores, labels = _sample("good")
    curve = diagnostics.fnr_fpr_curve(scores, labels)
    for i in (0, 5, 200, 400):
        assert curve.accuracy()[i] == ((scores >= curve.threshold[i]) == labels).mean()
    share = labels.mean()
    np.testing.assert_allclose(curve.accuracy(share), curve.accuracy(), atol=1e-12)
    np.testing.assert_allclose(curve.accuracy(0.25), 1 - 0.25 * curve.fnr - 0.75 * curve.fpr)


@pytest.mark.parametrize("weight", [0.1, 0.5, 0.8])
def test_points_of_one_accuracy_lie_on_its_line(weight):
    """Each point of the curve lies on the line of its own accuracy."""
    curve = diagnostics.fnr_fpr_curve(*_sample("good"))
    for accuracy, fnr, fpr in zip(curve.accuracy(weight), curve.fnr, curve.fpr, strict=True):
        line = diagnostics.equal_accuracy_line(accuracy, weight)
        assert line(fpr) == pytest.approx(fnr, abs=1e-12)
        assert line.intercept + line.slope * fpr == pytest.approx(fnr, abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_reversed_score_is_exact(shape):
    """The area is scikit-learn's, reversed scores are found, and told to be so are not."""
    scores, labels = _sample(shape)
    found = diagnostics.reversed_score(scores, labels)
    assert found.auc == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    assert found.is_reversed == (shape == "reversed")
    flipped = diagnostics.reversed_score(scores, labels, higher_is_positive=False)
    assert flipped.auc == pytest.approx(1 - found.auc, abs=1e-12)
    swapped = diagnostics.reversed_score(scores, labels, positive_label=0)
    assert swapped.auc == pytest.approx(1 - found.auc, abs=1e-12)


# The concave hull


@pytest.mark.parametrize("shape", SHAPES)
def test_areas_are_those_of_other_libraries(shape):
    """The hull is the ROC curve of the isotonic regression, and the upper convex hull."""
    scores, labels = _sample(shape)
    found = diagnostics.concave_hull_gap(scores, labels)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit_transform(scores, labels)
    assert found.auc == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    assert found.hull_auc == pytest.approx(roc_auc_score(labels, isotonic.round(9)), abs=1e-12)
    points = np.c_[found.curve.fpr, 1 - found.curve.fnr]
    hull = ConvexHull(np.r_[points, [[1, 0]]])  # in the plane, its volume is the area
    assert found.hull_auc == pytest.approx(hull.volume, abs=1e-12)
    assert found.gap == found.hull_auc - found.auc >= 0


@pytest.mark.parametrize("shape", SHAPES)
def test_hull_is_concave_and_nowhere_below(shape):
    """Slopes fall strictly along the hull, which runs from end to end above the curve."""
    found = diagnostics.concave_hull_gap(*_sample(shape))
    fpr, tpr = found.curve.fpr, 1 - found.curve.fnr
    x, y = fpr[found.vertices], tpr[found.vertices]
    assert (found.vertices[0], found.vertices[-1]) == (0, fpr.size - 1)
    angles = np.arctan2(np.diff(y), np.diff(x))
    assert (np.diff(angles) < 0).all()
    grid = np.unique(np.r_[np.linspace(1e-9, 1, 1001), fpr[fpr > 0], fpr[fpr > 0] - 1e-9])
    distances = np.interp(grid, x, y) - np.interp(grid, fpr, tpr)
    assert distances.min() >= -1e-12
    assert found.largest == pytest.approx(distances.max(), abs=1e-6)
    assert found.largest_fpr == pytest.approx(grid[np.argmax(distances)], abs=1e-6)
    at = np.flatnonzero(found.curve.threshold == found.largest_threshold)[0]
    assert found.largest_fpr == fpr[at]


@each("shape", SHAPES)
@each("alpha", [0.001, 0.05, 0.1, 0.5, 0.97])
def test_other_error_is_the_best_there_is(shape, alpha):
    """The other error is the least of any threshold, and on the hull of any mix of two."""
    found = diagnostics.concave_hull_gap(*_sample(shape, size=80))
    rates = {"fnr": found.curve.fnr, "fpr": found.curve.fpr}
    for control, other in (("fnr", "fpr"), ("fpr", "fnr")):
        held, paid = rates[control], rates[other]
        result = found.other_error_at(control, alpha)
        assert result.on_curve == paid[held <= alpha].min()
        low, high = np.ix_(held <= alpha, held > alpha)
        share = (alpha - held[low]) / (held[high] - held[low])
        mixed = (1 - share) * paid[low] + share * paid[high]
        assert result.on_hull == pytest.approx(mixed.min(), abs=1e-12)
        assert result.on_hull <= result.on_curve + 1e-12


@pytest.mark.parametrize(
    ("scores", "auc", "hull_auc", "largest"),
    [([0, 0, 1, 1], 1.0, 1.0, 0.0), ([5, 5, 5, 5], 0.5, 0.5, 0.0), ([1, 1, 0, 0], 0.0, 0.5, 1.0)],
)
def test_hull_of_plain_scores(scores, auc, hull_auc, largest):
    """A perfect score and one that says nothing have no gap; a reversed one loses everything."""
    found = diagnostics.concave_hull_gap(scores, [0, 0, 1, 1])
    assert (found.auc, found.hull_auc, found.largest) == (auc, hull_auc, largest)
