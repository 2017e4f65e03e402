"""What a decision says about a promised rate, with its label and without."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.monitoring._monitor._open_decisions import (
    N_CODES,
    N_LABELS,
    NEGATIVE,
    NEITHER,
    POSITIVE,
    UNAUDITED,
    UNKNOWN,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._rates import Share

N_KEYS = N_CODES * N_LABELS  # decision and label as one number: 3 * code + label
NOTHING, CORRECT, ERROR = range(3)
# From the kindest to the test to the unkindest.
_ORDER = (CORRECT, NOTHING, ERROR)


def _outcome(share: Share, code: int, truth: int) -> int:
    """Return what a decision on an object of known class is."""
    counts, is_error = {
        "fnr": (truth == 1, code in (NEGATIVE, NEITHER)),
        "fpr": (truth == 0, code in (POSITIVE, NEITHER)),
        "fdr": (code == POSITIVE, truth == 0),
        "for": (code == NEGATIVE, truth == 1),
        "selective_error": (code in (NEGATIVE, POSITIVE), code != truth),
        "alert_share": (True, code == POSITIVE),
    }[share]
    return (ERROR if is_error else CORRECT) if counts else NOTHING


@cache
def outcomes(share: Share, *, kindest: bool) -> NDArray[np.uint8]:
    """Return for each decision and label whether it is an error, correct, or says nothing.

    Without a label, what is kindest to the test of all that it can be, or unkindest: an object
    that was rejected may be an error or of no account, one that was not may be correct or of no
    account. A decision that an audit did not choose says nothing, whatever is known about it.

    Examples
    --------
    >>> table = outcomes("fnr", kindest=True).reshape(N_CODES, N_LABELS)
    >>> table[NEGATIVE].tolist(), table[POSITIVE].tolist()  # label negative, positive, unknown
    ([0, 2, 0], [0, 1, 1])
    """
    table = np.zeros((N_CODES, N_LABELS), dtype=np.uint8)
    for code in range(UNAUDITED):
        possible = [_outcome(share, code, truth) for truth in (0, 1)]
        table[code, :UNKNOWN] = possible
        ends = sorted(possible, key=_ORDER.index)
        table[code, UNKNOWN] = ends[0 if kindest else -1]
    if share == "alert_share":  # which no label changes
        table[UNAUDITED:] = table[:UNAUDITED]
    table.setflags(write=False)
    return table.ravel()


def needs_label(share: Share, code: int) -> bool:
    """Return whether the outcome of such a decision depends on its label.

    Examples
    --------
    >>> needs_label("fdr", NEGATIVE), needs_label("fdr", POSITIVE)
    (False, True)
    """
    if code >= UNAUDITED:
        return False
    return _outcome(share, code, 0) != _outcome(share, code, 1)
