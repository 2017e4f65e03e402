"""Evidence of several watches together: whether any alarm is due, and which."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def combine(log_es: ArrayLike) -> float:
    """Return the logarithm of the mean of e-values: evidence that some hypothesis is false.

    Parameters
    ----------
    log_es : array-like of float
        The logarithms of the evidence *now*, `log_e` of each watch.

    Notes
    -----
    **Guarantee.** If all hypotheses hold, the mean is a supermartingale with start 1 in the joint
    course of events, whatever the dependence, so it ever reaches 1/delta with probability at most
    delta. The rate of each outcome is then meant given the past of all watches.

    **Not covered.** Peaks: their mean is no such thing, since the expectation of a peak can be
    infinite. Take the mean of what is now, look as often as one likes, and keep the alarm.

    Examples
    --------
    >>> import math
    >>> round(math.exp(combine([math.log(3), math.log(1)])), 6)
    2.0
    """
    values = np.asarray(log_es, float)
    top = float(values.max())
    if math.isinf(top):
        return top
    return top + math.log(float(np.exp(values - top).mean()))


def select_by_e_values(log_es: ArrayLike, delta: float) -> NDArray[np.bool_]:
    """Return for which watches the hypothesis is rejected, by e-BH at the level delta.

    Parameters
    ----------
    log_es : array-like of float
        The logarithms of the evidence *now*, `log_e` of each watch.
    delta : float
        The greatest expected share of wrong ones among those named.

    Notes
    -----
    With K watches, the m with the greatest e-values are named, for the greatest m for which all of
    them are at least K/(m delta).

    **Guarantee.** The expected share of true hypotheses among those named (0 if none is named) is
    at most delta, whatever the dependence, at any one moment that may be chosen by what was seen.

    *Proof.* If m are named, each of them has e >= K/(m delta), so 1/m <= e delta/K. The share of
    wrong ones is the sum of 1/m over the true hypotheses that are named, hence at most the sum of
    e delta/K over all true ones. Each such e has expectation at most 1 at a stopping time, and
    there are at most K.

    **Not covered.** All names given at many moments together, and peaks in the place of e-values.

    Examples
    --------
    >>> import math
    >>> select_by_e_values([math.log(50), math.log(30), 0.0, 0.0], delta=0.1)
    array([ True,  True, False, False])
    """
    values = np.asarray(log_es, float)
    order = np.argsort(-values, kind="stable")
    m = np.arange(1, len(values) + 1)
    enough = np.flatnonzero(values[order] >= np.log(len(values) / (m * delta)))
    named = np.zeros(len(values), np.bool_)
    if len(enough):
        named[order[: enough[-1] + 1]] = True
    return named
