"""Holm's adjustment: several tests, and one chance that any of them rejects falsely."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values adjusted for their number by Holm's method (1979).

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)

    Returns
    -------
    ndarray of shape (n_tests,)
        Never below the p-values, at most 1, in their order.

    Notes
    -----
    **Guarantee.** Rejecting where the adjusted p-value is at most a level makes any false
    rejection at all happen with probability at most the level, however the tests depend on each
    other, if each p-value is valid.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    import numpy as np

    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)
    adjusted = np.empty(p.size)
    steps = np.arange(p.size, 0, -1) * p[order]
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
