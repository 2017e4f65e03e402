"""The distribution function of a Gaussian kernel estimate as a table, in time linear in the scores.

All lengths are in bandwidths. The line is cut into cells, and the scores of a cell act on others
through their moments alone: a Taylor series of the normal distribution function separates the place
of a score in its cell from the place where it is looked at (the idea of the fast Gauss transform of
Greengard and Strain, 1991). So each cell near scores gets a polynomial, which is tabulated at as
many knots as linear interpolation needs. Linear, because that never falls, to the last bit.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDEST = 1e5  # bandwidths between the extreme scores; beyond, cells would be too many

_CELL = 0.5
_ORDER = 22  # two places of up to half a cell: the next term is below 1e-16
_REACH = 17  # cells; from 8.5 bandwidths on, Phi differs from 0 or 1 by less than 1e-16
# A tabulated probability is off by at most the first, or more, up to the second, where the table
# would else be longer than so many knots per score, or in all.
_ERRORS = 1e-11, 1e-9
_KNOTS_PER_SCORE, _KNOTS = 16, 1 << 22


class KernelTable:
    """The distribution function of a kernel estimate.

    Parameters
    ----------
    places : ndarray of shape (n,)
        Ascending scores in bandwidths, from 0 to at most `WIDEST`.

    Attributes
    ----------
    error : float
        Largest distance from the mean over all scores: 1e-11 if there are many, at most 1e-9.

    Examples
    --------
    >>> table = KernelTable(np.array([0.0, 1.0]))
    >>> table(np.array([0.5])).round(6)
    array([0.5])
    """

    def __init__(self, places: NDArray[np.float64]) -> None:
        cells, series = _series(places)
        # A chord misses an arc by at most its length squared times the curvature, over 8.
        order = np.arange(2, _ORDER)
        bends = order * (order - 1) * (0.5 * _CELL) ** (order - 2)
        curvature = np.abs(series[:, 2:]) @ bends
        least, most = _ERRORS
        wanted = _CELL * np.sqrt(curvature / (8 * 0.5 * least))  # the other half is for rounding
        room = min(_KNOTS, _KNOTS_PER_SCORE * places.size)
        coarser = np.clip(wanted.sum() / room, 1.0, np.sqrt(most / least))
        self.error = float(least * coarser**2)
        pieces = np.maximum(np.ceil(wanted / coarser), 1).astype(np.intp)
        cell = np.repeat(np.arange(cells.size), pieces)
        first = np.cumsum(pieces) - pieces
        share = (np.arange(cell.size) - first[cell]) / pieces[cell]
        values = np.zeros(cell.size)
        for coefficients in series.T[::-1]:
            values = values * ((share - 0.5) * _CELL) + coefficients[cell]
        self._knots = np.append((cells[cell] + share) * _CELL, (cells[-1] + 1) * _CELL)
        self._values = np.append(np.maximum.accumulate(np.clip(values, 0.0, 1.0)), 1.0)

    def __call__(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of at most each place; never falls as the place grows."""
        right = self._knots.searchsorted(places, "right").clip(1, self._knots.size - 1)
        left = right - 1
        length = self._knots[right] - self._knots[left]
        share = ((places - self._knots[left]) / length).clip(0.0, 1.0)
        start, end = self._values[left], self._values[right]
        below: NDArray[np.float64] = np.minimum(start + share * (end - start), end)
        return below


def _series(places: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the cells near scores and the Taylor series of the distribution function in each."""
    cell = np.floor(places / _CELL).astype(np.intp)
    occupied, first = np.unique(cell, return_index=True)
    moments = np.empty((occupied.size, _ORDER))
    power = np.full(places.size, 1.0 / places.size)
    for k in range(_ORDER):
        moments[:, k] = np.add.reduceat(power, first)
        power *= ((cell + 0.5) * _CELL - places) / (k + 1)
    offsets = range(-_REACH, _REACH + 1)
    is_near = np.zeros(occupied[-1] + 2 * _REACH + 1, dtype=bool)
    for offset in offsets:
        is_near[occupied + offset + _REACH] = True
    near = np.flatnonzero(is_near) - _REACH
    series = np.zeros((near.size, _ORDER))
    # Scores far below count in full, those far above not at all.
    below = np.append(first, places.size)[occupied.searchsorted(near - _REACH)]
    series[:, 0] = below / places.size
    factorials = np.array([factorial(j) for j in range(_ORDER)], dtype=np.float64)
    for offset in offsets:
        here = near.searchsorted(occupied + offset)  # all of them are near
        derivatives = _derivatives(offset * _CELL)
        shifted = np.lib.stride_tricks.sliding_window_view(derivatives, _ORDER)
        series[here] += moments @ (shifted / factorials)
    return near, series


def _derivatives(place: float) -> NDArray[np.float64]:
    """Return the normal distribution function and its next derivatives, 2 _ORDER - 1 in all."""
    from scipy.special import ndtr

    result = np.empty(2 * _ORDER - 1)
    result[0] = ndtr(place)
    result[1] = np.exp(-0.5 * place * place) / np.sqrt(2 * np.pi)
    result[2] = -place * result[1]
    for k in range(3, result.size):
        result[k] = -place * result[k - 1] - (k - 2) * result[k - 2]
    return result
