"""What the page is told: tests, scores, tables and counted rates, as plain values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.abstaining import AbstainingTest
from ratekeeper.inputs import plain_value
from ratekeeper.methods import Conformal, Empirical, HighProbability, Simultaneous
from ratekeeper.report import grid, knots
from ratekeeper.report.levels import key_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ratekeeper.calibration import Calibration
    from ratekeeper.certificate import Certificate
    from ratekeeper.control import ErrorRateTest
    from ratekeeper.evaluation import Evaluation
    from ratekeeper.methods import Guarantee, Method
    from ratekeeper.ranks import Floats, Tail
    from ratekeeper.rates import Rate

    Test = ErrorRateTest | AbstainingTest
    Pair = tuple[Floats, Floats]
    Null = tuple[int, Tail, int | None]

_BINS = 48
_MOST_HISTOGRAMS = 60
_FOR_EVERYBODY = 0.4  # the share of the room that all groups together get on a thinned page


def parts_of(test: Test) -> list[ErrorRateTest]:
    """Return the tests of one rate that a test consists of."""
    return [test.fnr, test.fpr] if isinstance(test, AbstainingTest) else [test]


def certificates_of(test: Test) -> list[Certificate]:
    """Return the certificate of each part."""
    return [part.certificate for part in parts_of(test)]


def page_facts(test: Test, evaluation: Any = None) -> dict[str, Any]:  # noqa: ANN401 - duck-typed
    """Return everything that the page's script needs, ready for JSON."""
    calibration = test.calibration
    parts = parts_of(test)
    deltas = grid.offered_deltas(part.method for part in parts)
    methods = _by_importance(grid.offered_methods(deltas), parts)
    null_sizes = sorted({scores.size for part in parts for scores in _null_cells(part)})
    sizes = sorted({scores.size for scores in _all_cells(calibration)})
    alphas = grid.slider_alphas(null_sizes[-1], (part.alpha for part in parts))
    return {
        "classes": [str(plain_value(value)) for value in calibration.classes],
        "groups": None if calibration.groups is None else [str(g) for g in calibration.groups],
        "higherIsPositive": calibration.higher_is_positive,
        "crossFitted": calibration.origin == "cross-fitted",
        "width": calibration.dtype.itemsize,
        "tests": [_test_facts(part) for part in parts],
        "abstained": _abstained(test),
        "deltas": deltas,
        "guarantees": {_key(method): _guarantee(method.guarantee) for method in methods},
        "tables": grid.facts(methods, sizes, null_sizes, alphas),
        "scores": _scores(calibration, parts, methods, alphas),
        "histograms": _histograms(calibration),
        "evaluation": None if evaluation is None else list(evaluation_rows(test, evaluation)),
    }


def evaluation_rows(test: Test, evaluation: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Return the counted rates, everybody first and then group by group.

    Where a test has pooled groups, nothing is promised in them, nor about everybody.
    """
    pooled = {str(group) for c in certificates_of(test) for group in c.pooled_groups}
    for group, found in [(None, evaluation.overall), *evaluation.groups.items()]:
        name = None if group is None else str(group)
        covered = not pooled if name is None else name not in pooled
        if hasattr(found, "fnr"):  # the price of a test of both rates is abstention
            yield _rate_row(name, found.fnr.control, found.fnr.target, found.fnr, covered=covered)
            yield _rate_row(name, found.fpr.control, found.fpr.target, found.fpr, covered=covered)
        else:
            other = "fpr" if found.control == "fnr" else "fnr"
            yield _rate_row(name, found.control, found.target, found, covered=covered)
            yield _rate_row(name, other, found.other, None, covered=covered)


def _rate_row(
    group: str | None, control: str, rate: Rate, promise: Evaluation | None, *, covered: bool
) -> dict[str, Any]:
    low, high = rate.interval
    return {
        "group": group,
        "rate": control,
        "promised": promise and promise.promised,
        "covered": covered,
        "errors": rate.errors,
        "n": rate.n,
        "value": rate.value if rate.n else None,
        "low": low,
        "high": high,
        "verdict": promise.verdict if promise and rate.n else None,
    }


def number(value: float | None) -> float | str | None:
    """Return a number that JSON can hold; infinities as the words JavaScript reads.

    Examples
    --------
    >>> number(0.5), number(float("-inf"))
    (0.5, '-Infinity')
    """
    if value is None or math.isfinite(value):
        return value
    return "Infinity" if value > 0 else "-Infinity"


def _null_cells(test: ErrorRateTest) -> tuple[Floats, ...]:
    cells = test.calibration.cells[test.null_class]
    # With groups, the pooled scores are a cell too: thin groups are judged by them.
    return cells + test.calibration.pooled().cells[test.null_class]


def _all_cells(calibration: Calibration) -> list[Floats]:
    everybody = calibration.pooled()
    return [scores for cal in (calibration, everybody) for cells in cal.cells for scores in cells]


def _key(method: Method) -> str:
    delta = getattr(method, "delta", None)
    return method.name if delta is None else f"{method.name} {key_text(delta)}"


def _by_importance(methods: list[Method], parts: list[ErrorRateTest]) -> list[Method]:
    """Put the tests' own methods first: a thinned page keeps their thresholds before others."""
    own = [part.method for part in parts]
    return sorted(methods, key=lambda method: (method not in own, isinstance(method, Empirical)))


def _guarantee(guarantee: Guarantee) -> dict[str, str]:
    return {
        "kind": guarantee.kind,
        "promise": guarantee.promise,
        "condition": guarantee.condition,
        "notCovered": guarantee.not_covered,
    }


def _method(method: Method) -> dict[str, Any]:
    known = type(method) in (Conformal, Empirical, HighProbability, Simultaneous)
    return {
        "name": method.name if known else "other",
        "delta": getattr(method, "delta", None) if known else None,
        "text": repr(method),
    }


def _test_facts(test: ErrorRateTest) -> dict[str, Any]:
    certificate = test.certificate
    return {
        "control": test.control,
        "nullClass": test.null_class,
        "tail": test.calibration.tail(test.null_class),
        "alpha": test.alpha,
        "method": _method(test.method),
        "guarantee": _guarantee(certificate.guarantee),
        "thinGroups": test.thin_groups,
        "cells": [
            {
                "pooled": cell.pooled,
                "k": cell.realised.k if cell.realised else None,
                "threshold": number(cell.threshold),
                "targetErrors": _target_errors(test, i),
                "otherErrors": cell.other_error.errors,
                "remark": cell.remark,
            }
            for i, cell in enumerate(certificate.cells)
        ],
    }


def _target_errors(test: ErrorRateTest, cell: int) -> int | None:
    """Count the calibration objects of the null class that the test puts out of it."""
    scores = test.calibration.cells[test.null_class][cell]
    if test.certificate.cells[cell].threshold is None:
        return None  # by lot, so any count would be of one draw
    index = None if test.calibration.groups is None else np.full(scores.size, cell, dtype=np.intp)
    positive = int(np.count_nonzero(test.decide_on(scores, index).positive))
    return scores.size - positive if test.null_class else positive


def _abstained(test: Test) -> list[int] | None:
    if not isinstance(test, AbstainingTest):
        return None
    return [test.certificate.abstained[name].errors for name in ("negative", "positive")]


def _scores(
    calibration: Calibration, parts: list[ErrorRateTest], methods: list[Method], alphas: list[float]
) -> dict[str, Any]:
    """Return the cells, complete if there is room; a thinned page gets the pooled cell too."""
    cells: list[Pair] = list(zip(*calibration.cells, strict=True))
    whole = [knots.all_knots(cell) for cell in cells]
    room = knots.room(calibration.dtype)
    if sum(values.size for values in whole) <= room:
        packed = [
            knots.pack(cell, values, complete=True)
            for cell, values in zip(cells, whole, strict=True)
        ]
        return {"cells": packed, "pooled": None}
    shares = np.sqrt([sum(scores.size for scores in cell) for cell in cells])
    for_groups = room if calibration.groups is None else room * (1 - _FOR_EVERYBODY)
    shares *= for_groups / shares.sum()
    packed = []
    for i, cell in enumerate(cells):
        ranks = [part.certificate.cells[i].realised for part in parts]
        nulls: list[Null] = [
            (part.null_class, calibration.tail(part.null_class), law.k if law else None)
            for part, law in zip(parts, ranks, strict=True)
        ]
        packed.append(_thinned(cell, whole[i], nulls, methods, alphas, int(shares[i])))
    if calibration.groups is None:
        return {"cells": packed, "pooled": None}
    everybody = calibration.pooled()
    pair = (everybody.cells[0][0], everybody.cells[1][0])
    nulls = [(part.null_class, calibration.tail(part.null_class), None) for part in parts]
    most = int(room * _FOR_EVERYBODY)
    pooled = _thinned(pair, knots.all_knots(pair), nulls, methods, alphas, most)
    return {"cells": packed, "pooled": pooled}


def _thinned(
    cell: Pair,
    whole: Floats,
    nulls: list[Null],
    methods: list[Method],
    alphas: list[float],
    most: int,
) -> dict[str, Any]:
    if whole.size <= most:
        return knots.pack(cell, whole, complete=True)
    kept = knots.chosen_knots(cell, nulls, methods, alphas, most)
    return knots.pack(cell, kept, complete=kept.size == whole.size)


def _histograms(calibration: Calibration) -> dict[str, Any]:
    """Count the scores of each class and cell in bins of one width over the bulk of all scores."""
    cells: list[Pair] = list(zip(*calibration.cells, strict=True))
    everything = np.concatenate([*calibration.cells[0], *calibration.cells[1]])
    low, high = _range(everything.astype(np.float64))
    shares = np.linspace(0.0, 1.0, _BINS + 1)
    edges = low * (1.0 - shares) + high * shares
    shown = cells if len(cells) <= _MOST_HISTOGRAMS else []
    return {
        "low": low,
        "high": high,
        "cells": [[_bin_counts(scores, edges) for scores in cell] for cell in shown],
    }


def _range(scores: NDArray[np.float64]) -> tuple[float, float]:
    """Return finite ends that hold nearly all scores; the far tails would flatten the picture."""
    finite = np.sort(scores[np.isfinite(scores)])
    if finite.size == 0:
        return 0.0, 1.0
    whole = (float(finite[0]), float(finite[-1]))
    core = tuple(float(finite[int(q * (finite.size - 1))]) for q in (0.005, 0.995))
    spread = core[1] / 2 - core[0] / 2  # halves cannot overflow
    low = whole[0] if core[0] / 2 - whole[0] / 2 <= spread else core[0] - spread / 2
    high = whole[1] if whole[1] / 2 - core[1] / 2 <= spread else core[1] + spread / 2
    if not low < high:
        margin = max(abs(low) * 0.05, 0.5) if abs(low) < 1e300 else 0.0  # noqa: PLR2004
        return (low - margin, high + margin) if margin else (low * 0.9, low)
    return low, high


def _bin_counts(scores: Floats, edges: NDArray[np.float64]) -> list[int]:
    """Return the counts below the range, in each bin, and above it."""
    inner = np.searchsorted(scores, edges[:-1], "left")
    last = np.searchsorted(scores, edges[-1], "right")
    bounds = np.r_[0, inner, last, scores.size]
    counts: list[int] = np.diff(bounds).tolist()
    return counts
