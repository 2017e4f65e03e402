"""Random frames with ties, piles and infinities, and what a calibration of one must be."""

import warnings

import numpy as np

import ratekeeper as rk

ALPHAS = (0.02, 0.1, 0.3)
SHAPES = ("even", "tied", "logits", "piled", "infinite", "single")


def columns_of(seed: int, n: int | None = None) -> dict[str, np.ndarray]:
    """Return scores, labels and groups."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 1500)) if n is None else n
    labels = rng.random(n) < rng.uniform(0.2, 0.6)
    labels[:2] = False, True
    z = rng.normal(np.where(labels, 1, -1), 2.0)
    scores = 1 / (1 + np.exp(-z))
    match SHAPES[seed % len(SHAPES)]:
        case "tied":
            scores = scores.round(int(rng.integers(1, 4)))
        case "logits":
            scores = 50 * z - 700
        case "piled":
            scores = 1 / (1 + np.exp(-9 * z))
        case "infinite":
            scores = np.where(rng.random(n) < 0.05, np.where(z > 0, np.inf, -np.inf), z)
        case "single":
            scores = scores.astype(np.float32)
    groups = rng.choice(["north", "south", "west"], n)
    groups[:3] = "north", "south", "west"
    return {"risk": scores, "ill": labels.astype(np.int8), "area": groups}


def options_of(seed: int) -> dict[str, object]:
    """Return how a frame is calibrated."""
    return {"higher_is_positive": seed % 5 != 0, "group": "area" if seed % 3 == 0 else None}


def calibrated(columns: dict[str, np.ndarray], options: dict[str, object]) -> rk.Calibration:
    """Calibrate on a single machine, on the scores themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rk.exceptions.ReversedScoreWarning)
        return rk.calibrate(
            columns["risk"],
            columns["ill"],
            groups=None if options["group"] is None else columns["area"],
            higher_is_positive=options["higher_is_positive"],
        )


def assert_same(found: rk.Calibration, exact: rk.Calibration, new: np.ndarray) -> int:
    """Compare counts, p-values and thresholds; return how many thresholds are exact."""
    assert found.counted
    assert found.classes.tolist() == exact.classes.tolist()
    assert (found.groups is None) == (exact.groups is None)
    if exact.groups is not None:
        assert found.groups.tolist() == exact.groups.tolist()
    assert found.dtype == exact.dtype
    for mine, own in zip(found.cells, exact.cells, strict=True):
        for cell, scores in zip(mine, own, strict=True):
            assert cell.size == scores.size
            assert not cell.size or (cell[0], cell[-1]) == (scores[0], scores[-1])
    groups = None if exact.groups is None else np.resize(exact.groups, new.size)
    of_counts, of_scores = (c.p_values(new, groups=groups) for c in (found, exact))
    assert (of_counts.p0 >= of_scores.p0).all()
    assert (of_counts.p1 >= of_scores.p1).all()
    n_exact = 0
    for control in ("fnr", "fpr"):
        for alpha in ALPHAS:
            tests = []
            for one in (found, exact):
                try:
                    tests.append(one.control(control, alpha, method=rk.Conformal()))
                except rk.TooFewScoresError:
                    tests.append(None)
            assert (tests[0] is None) == (tests[1] is None)
            if tests[0] is not None:
                n_exact += _compare(*tests)
    return n_exact


def _compare(test: rk.control.ErrorRateTest, own: rk.control.ErrorRateTest) -> int:
    n_exact = 0
    low = (test.control == "fnr") == test.calibration.higher_is_positive
    for cell, mine, best in zip(
        test.certificate.cells, test.thresholds.values(), own.thresholds.values(), strict=True
    ):
        # Strictly beyond the threshold lies what is rejected: a more extreme one is the safe side.
        assert mine <= best if low else mine >= best
        if cell.unused == 0:
            assert mine == best
            n_exact += 1
    return n_exact
