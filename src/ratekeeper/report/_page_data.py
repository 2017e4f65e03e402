"""What the page is told: tests, scores, tables and counted rates, as plain values."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import escape_controls, format_value
from ratekeeper.calibration._cells import tail_of
from ratekeeper.control._both_rates import AbstainingTest
from ratekeeper.control._test import decide_read
from ratekeeper.methods import Conformal, Empirical, HighProbability, Simultaneous
from ratekeeper.methods._clustered import clustered_guarantee
from ratekeeper.methods._tolerant import tolerant_guarantee
from ratekeeper.report import _grid as grid, _knots as knots
from ratekeeper.report._levels import key_text
from ratekeeper.report._words import class_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._error_rate import ErrorRateTest
    from ratekeeper.control._test import Test
    from ratekeeper.methods import Guarantee, Method

    Pair = tuple[Floats, Floats]
    Null = tuple[int, Tail, int | None]

_BINS = 48
MOST_GROUPS = 200  # in one page: more can neither be read nor moved at a slider's pace
_MOST_HISTOGRAMS = 60
_FOR_EVERYBODY = 0.4  # the share of the room that all groups together get on a thinned page


def shown_cells(test: Test) -> list[int]:
    """Return the cells that the page shows, in their order: those with most null objects.

    Certified totals, counts of verdicts and refusals still cover all cells.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100))
    >>> shown_cells(cal.control("fnr", alpha=0.05))
    [0]
    """
    parts = list(test.parts)
    sizes = [
        sum(part.calibration.cells[part.null_class][i].size for part in parts)
        for i in range(len(parts[0].calibration.cells[0]))
    ]
    return sorted(sorted(range(len(sizes)), key=lambda i: -sizes[i])[:MOST_GROUPS])


def page_facts(test: Test) -> dict[str, Any]:
    """Return everything that the page's script needs, ready for JSON.

    Of rows in clusters, the page knows one of each: its ranks are those of independent objects.
    """
    guarantee_of = _guarantee if test.calibration.clusters is None else clustered_guarantee
    test = _of_independent(test)
    calibration = test.calibration
    parts = list(test.parts)
    shown = shown_cells(test)
    deltas = grid.offered_deltas(part.method for part in parts)
    methods = _by_importance(grid.offered_methods(deltas), parts)
    null_sizes = sorted({scores.size for part in parts for scores in _null_cells(part)})
    sizes = {scores.size for scores in _cells_in_page(calibration, shown)} | set(null_sizes)
    alphas = grid.slider_alphas(null_sizes[-1], (part.alpha for part in parts))
    groups = None if calibration.groups is None else [str(calibration.groups[i]) for i in shown]
    first = parts[0].certificate
    return {
        "labels": [format_value(first.negative_label), format_value(first.positive_label)],
        "names": [class_text(first, positive=side) for side in (False, True)],
        "groups": groups and [escape_controls(group) for group in groups],
        "exactGroups": groups,  # for the download
        "hiddenGroups": len(calibration.cells[0]) - len(shown),
        "totals": [sum(scores.size for scores in cells) for cells in calibration.cells],
        "higherIsPositive": calibration.higher_is_positive,
        "tolerance": test.tolerance,
        "toleranceText": repr(test.tolerance),
        "crossFitted": calibration.origin == "cross-fitted",
        "width": calibration.dtype.itemsize,
        "tests": [_test_facts(part, shown) for part in parts],
        "undecided": _undecided(test),
        "deltas": deltas,
        "guarantees": {
            _key(method): str(tolerant_guarantee(guarantee_of(method), test.tolerance))
            for method in methods
        },
        "tables": grid.facts(methods, sorted(sizes), null_sizes, alphas),
        "scores": _scores(calibration, parts, methods, alphas, shown),
        "histograms": _histograms(calibration, shown),
    }


class _OnAllRows(Conformal):
    """`Conformal` on clusters, whose thresholds are not those of ranks among one row of each."""

    def __repr__(self) -> str:
        return "Conformal() on all rows"


def _of_independent(test: Test) -> Test:
    """Return the same test, thresholds and all, as one on one row of each cluster."""
    if test.calibration.clusters is None:
        return test
    parts = [
        replace(
            part,
            calibration=test.calibration.independent,
            method=_OnAllRows() if isinstance(part.method, Conformal) else part.method,
        )
        for part in test.parts
    ]
    return AbstainingTest(*parts) if len(parts) > 1 else parts[0]


def _guarantee(method: Method) -> Guarantee:
    return method.guarantee


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


def _cells_in_page(calibration: Calibration, shown: list[int]) -> list[Floats]:
    own = [cells[i] for cells in calibration.cells for i in shown]
    return own + [cells[0] for cells in calibration.pooled().cells]


def _key(method: Method) -> str:
    delta = getattr(method, "delta", None)
    return method.name if delta is None else f"{method.name} {key_text(delta)}"


def _by_importance(methods: list[Method], parts: list[ErrorRateTest]) -> list[Method]:
    """Put the tests' own methods first: a thinned page keeps their thresholds before others."""
    own = [part.method for part in parts]
    return sorted(methods, key=lambda method: (method not in own, isinstance(method, Empirical)))


def _method(method: Method) -> dict[str, Any]:
    known = type(method) in (Conformal, Empirical, HighProbability, Simultaneous)
    known = known and method.decides_by_threshold  # the page breaks no ties
    return {
        "name": method.name if known else "other",
        "delta": getattr(method, "delta", None) if known else None,
        "text": repr(method),
    }


def _test_facts(test: ErrorRateTest, shown: list[int]) -> dict[str, Any]:
    certificate = test.certificate
    nulls = test.calibration.cells[test.null_class]
    hidden = Counter(nulls[i].size for i in set(range(len(nulls))) - set(shown))
    return {
        "control": test.control,
        "nullClass": test.null_class,
        "tail": tail_of(test.calibration, test.null_class),
        "alpha": test.alpha,
        "method": _method(test.method),
        "promised": certificate.promised,
        "fixedAlpha": certificate.fixed_alpha,
        "thinGroups": test.thin_groups,
        "otherErrors": certificate.other_error.errors,
        # How many groups outside the page have how many objects: a promise may fail for them.
        "hiddenSizes": sorted(hidden.items()),
        "cells": [
            {
                "pooled": cell.pooled,
                "k": cell.realised.k if cell.realised else None,
                "beyond": cell.realised.beyond if cell.realised else None,
                "threshold": number(cell.threshold),
                "targetErrors": _target_errors(test, i),
                "otherErrors": cell.other_error.errors,
                "remark": cell.remark,
            }
            for i, cell in ((i, certificate.cells[i]) for i in shown)
        ],
    }


def _target_errors(test: ErrorRateTest, cell: int) -> int | None:
    """Count the calibration objects of the null class that the test rejects."""
    scores = test.calibration.cells[test.null_class][cell]
    if test.certificate.cells[cell].threshold is None:
        return None  # random, so any count would be of one draw
    index = None if test.calibration.groups is None else np.full(scores.size, cell, dtype=np.intp)
    positive = int(np.count_nonzero(decide_read(test, scores, index).positive))
    return scores.size - positive if test.null_class else positive


def _undecided(test: Test) -> list[int] | None:
    if not isinstance(test, AbstainingTest):
        return None
    return [test.certificate.undecided[name].errors for name in ("negative", "positive")]


def _scores(
    calibration: Calibration,
    parts: list[ErrorRateTest],
    methods: list[Method],
    alphas: list[float],
    shown: list[int],
) -> dict[str, Any]:
    """Return the cells, complete if there is room.

    A page that does not hold all scores gets the pooled cell too.
    """
    cells: list[Pair] = [(calibration.cells[0][i], calibration.cells[1][i]) for i in shown]
    whole = [knots.all_knots(cell) for cell in cells]
    room = knots.room(calibration.dtype)
    all_shown = len(shown) == len(calibration.cells[0])
    if all_shown and sum(values.size for values in whole) <= room:
        packed = [
            knots.pack(cell, values, complete=True)
            for cell, values in zip(cells, whole, strict=True)
        ]
        return {"cells": packed, "pooled": None}
    shares = np.sqrt([sum(scores.size for scores in cell) for cell in cells])
    for_groups = room if calibration.groups is None else room * (1 - _FOR_EVERYBODY)
    shares *= for_groups / shares.sum()
    packed = []
    for i, place in enumerate(shown):
        ranks = [part.certificate.cells[place].realised for part in parts]
        nulls: list[Null] = [
            (part.null_class, tail_of(calibration, part.null_class), rate.k if rate else None)
            for part, rate in zip(parts, ranks, strict=True)
        ]
        packed.append(_thinned(cells[i], whole[i], nulls, methods, alphas, int(shares[i])))
    if calibration.groups is None:
        return {"cells": packed, "pooled": None}
    everybody = calibration.pooled()
    pair = (everybody.cells[0][0], everybody.cells[1][0])
    nulls = [(part.null_class, tail_of(calibration, part.null_class), None) for part in parts]
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


def _histograms(calibration: Calibration, places: list[int]) -> dict[str, Any]:
    """Count the scores of each class and cell in bins of one width over the bulk of all scores."""
    cells: list[Pair] = [(calibration.cells[0][i], calibration.cells[1][i]) for i in places]
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
