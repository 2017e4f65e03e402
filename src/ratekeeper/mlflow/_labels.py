"""Labels that are taken for scores: how to tell, without refusing a model that is right.

MLflow calls ``predict`` of a model unless told otherwise when it is saved, and for classifiers that
is the label. A test would then see two values, and decide by chance what the certificate promises.
Three things tell, each by itself:

- what is known of the model: it is a classifier, and ``predict`` is what MLflow calls;
- the type: whole numbers, booleans or text, where calibration scores are fractions;
- the values: both labels and nothing else, where the calibration has few such scores or none.

The last is a matter of chance, and refuses a right model on at most one of a million batches: see
`chance`. One row is never enough for it, since a score may well be exactly 1. Scores of one value
only pass, since rows may come sorted by score.
"""

from __future__ import annotations

from math import exp, lgamma
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import format_value, listed
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper.calibration._calibration import Calibration

_RARE = 1e-6
_LOOKED_AT = 64  # rows; more would add nothing
_BITS = (0.0, 1.0)
REMEDY = (
    'Save the model with pyfunc_predict_fn="predict_proba", or pass '
    'response_method="predict_proba" (or "decision_function"), so that this method of it is called.'
)


def refuse_labels(values: NDArray[Any], calibration: Calibration) -> None:
    """Raise if what a model gives are labels, and the calibration has scores.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40))
    >>> refuse_labels(np.array([0.25, 1.0]), cal)
    >>> refuse_labels(np.array([0, 1]), cal)
    Traceback (most recent call last):
    ...
    ratekeeper.exceptions.InputError: The model gives int64 values (0, 1), but ... fractions: ...
    """
    if values.dtype.kind in "OSUT" and not all(_is_number(v) for v in values[:_LOOKED_AT].tolist()):
        found = f"The model gives text or objects ({listed(values)}), not scores."
        raise _labels(found, values)
    own = [np.concatenate(cells) for cells in calibration.cells]
    if values.dtype.kind in "biu" and not all(np.array_equal(part, part.round()) for part in own):
        found = (
            f"The model gives {values.dtype} values ({listed(np.unique(values))}), but calibration "
            "scores are fractions: these must be labels."
        )
        raise _labels(found, values)
    if calibration.clusters is not None or calibration.weights is not None:
        return  # rows are not drawn alike, and chances not known
    for pair in _pairs(calibration):
        seen = np.unique(values[:_LOOKED_AT])
        if seen.size == len(pair) and np.array_equal(seen, pair) and np.isin(values, pair).all():
            counts = [(int(np.isin(part, pair).sum()), part.size) for part in own]
            if chance(counts, min(values.size, _LOOKED_AT)) <= _RARE:
                n, total = sum(m for m, _ in counts), sum(n for _, n in counts)
                found = (
                    f"The model gives {format_value(pair[0])} and {format_value(pair[1])} and "
                    f"nothing else, as {n:,} of the {total:,} calibration scores do: these must be "
                    "labels."
                )
                raise _labels(found, values)


def gives_only_labels(calibration: Calibration) -> bool:
    """Return whether the calibration's own scores are labels, so that others must be, too."""
    own = np.concatenate([scores for cells in calibration.cells for scores in cells])
    return any(np.isin(own, pair).all() for pair in _pairs(calibration))


def chance(counts: Sequence[tuple[int, int]], k: int) -> float:
    """Return how often k new scores would all be labels, of a model that gives scores.

    Parameters
    ----------
    counts : sequence of (int, int)
        For each class, how many of its calibration scores are equal to a label, and how many
        there are.
    k : int
        The number of new objects, of either class.

    Returns
    -------
    float
        Given how many of the n + k scores of a class are labels, new objects are as likely to be
        these as any others: C(m + k, k) / C(n + k, k). Of all ways in which the classes can share
        the new objects, that of the largest product.

    Examples
    --------
    >>> round(chance([(0, 999)], 1), 6)
    0.001
    >>> chance([(0, 500), (0, 500)], 4) < 1e-9, chance([(250, 500), (0, 500)], 4) > 0.06
    (True, True)
    """
    best = [0.0] * (k + 1)  # logarithms, for 0 to k objects of the classes so far
    best[1:] = [float("-inf")] * k
    for m, n in counts:
        own = [_log_choose(m + j, j) - _log_choose(n + j, j) for j in range(k + 1)]
        best = [max(best[i - j] + own[j] for j in range(i + 1)) for i in range(k + 1)]
    return exp(best[k])


def _pairs(calibration: Calibration) -> list[tuple[float, float]]:
    """Return the two values that labels have as numbers: those of the calibration, and 0 and 1."""
    classes = calibration.classes.tolist()
    own = [tuple(sorted(map(float, classes)))] if all(map(_is_number, classes)) else []
    return [pair for pair in dict.fromkeys([*own, _BITS]) if len(pair) == len(_BITS)]  # type: ignore[misc]


def _is_number(value: object) -> bool:
    return isinstance(value, bool | int | float | np.number | np.bool_)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _labels(found: str, values: NDArray[Any]) -> InputError:
    return InputError(
        f"{found} MLflow calls predict of a model, which is the label for classifiers.",
        parameter="model",
        value=values[:1].tolist()[0] if values.size else None,
        need="scores, as at calibration",
        remedy=REMEDY,
    )
