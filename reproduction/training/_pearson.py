"""The Pearson system: a distribution for every possible skewness and kurtosis.

Kurtosis is the raw one, 3 for the normal. Every type is treated standardised (mean 0, sd 1)
with skewness at least 0; negative skewness is its mirror image. The types differ in where
the point (skewness squared, kurtosis) lies:

======  ==========================================  ===================================
type    where                                       distribution
======  ==========================================  ===================================
normal  skewness 0, kurtosis 3
I, II   below the gamma line 2k = 3s^2 + 6          beta; II is the symmetric one
III     on the gamma line                           gamma
VI      above it, below the line of type V          beta prime
V       on the line of type V                       inverse gamma
IV      above that line                             no classical name
VII     skewness 0, kurtosis above 3                Student's t
======  ==========================================  ===================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper.exceptions import InputError
from reproduction.training._pearson_distributions import DISTRIBUTIONS, order

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import ArrayLike, NDArray

    from reproduction.training._shapes import Array

# Nearer to a boundary than this, the boundary's own distribution is the better approximation: the
# exact parameters of the neighbouring types grow without bound there and lose their digits.
_NEAR = 1e-8
_SYMMETRIC = 1e-6


def pearson_type(skewness: ArrayLike, kurtosis: ArrayLike) -> NDArray[np.str_]:
    """Name the type of every pair of skewness and raw kurtosis.

    Returns
    -------
    ndarray of str, one-dimensional

    Examples
    --------
    >>> pearson_type([0, 0, 0, 1], [1.8, 3, 4, 3]).tolist()
    ['II', 'normal', 'VII', 'I']
    """
    s, k = _checked(skewness, kurtosis)
    b1 = s * s
    gamma_side = 2 * k - 3 * b1 - 6
    with np.errstate(divide="ignore", invalid="ignore"):  # on the gamma line, not used there
        r = order(b1, k)
        v_side = 1 - b1 * (r - 2) ** 2 / (16 * (r - 1))
    symmetric = np.abs(s) < _SYMMETRIC
    on_gamma_line = np.abs(gamma_side) < _NEAR * k
    conditions = {
        "normal": on_gamma_line & symmetric,
        "III": on_gamma_line,
        "II": (gamma_side < 0) & symmetric,
        "I": gamma_side < 0,
        "VII": symmetric,
        "V": np.abs(v_side) < _NEAR,
        "IV": v_side > 0,
    }
    return np.select(list(conditions.values()), list(conditions), "VI").astype(np.str_)


def sample_pearson(rng: Generator, skewness: ArrayLike, kurtosis: ArrayLike, n: int) -> Array:
    """Draw many standardised samples, each row from its own Pearson distribution.

    Rows are grouped by type and every group is drawn at once: about a million values in
    a fraction of a second. All types are drawn exactly, without tables, so tails are right
    however far out.

    Parameters
    ----------
    rng : numpy.random.Generator
    skewness, kurtosis : array_like of shape (rows,)
        The third and fourth standardised moments of each row; mean and standard deviation are 0
        and 1. The kurtosis is raw, 3 for the normal, and must exceed ``skewness**2 + 1``: no
        distribution has less, and only two-point ones have exactly that.
    n : int
        Values in a row.

    Returns
    -------
    ndarray of shape (rows, n)
        With a kurtosis close to ``skewness**2 + 1`` nearly all the mass is in one point, and
        a short row may well be constant.

    Examples
    --------
    >>> import numpy as np
    >>> sample_pearson(np.random.default_rng(0), [0, 1, 2], [3, 3, 12], 5).shape
    (3, 5)
    """
    check_count(n, "n")
    s, k = _checked(skewness, kurtosis)
    types = pearson_type(s, k)
    out = np.empty((s.size, n))
    for name in np.unique(types):
        rows = np.flatnonzero(types == name)
        sign = np.where(s[rows] < 0, -1.0, 1.0)[:, None]
        size = (rows.size, n)
        out[rows] = sign * DISTRIBUTIONS[name](rng, np.abs(s[rows, None]), k[rows, None], size)
    return out


def pearson_grid() -> Array:
    """Return the skewnesses and kurtoses of the published normality experiment.

    Skewness from -30 to 30 and kurtosis from 0 to 40 in steps of 0.5, as far as a distribution
    with more than two points has them, without the normal one.

    Returns
    -------
    ndarray of shape (1305, 2)

    Examples
    --------
    >>> pearson_grid()[:2].tolist()
    [[-6.0, 37.5], [-6.0, 38.0]]
    """
    skewness, kurtosis = np.meshgrid(np.arange(-60, 61) / 2.0, np.arange(81) / 2.0, indexing="ij")
    kept = kurtosis > skewness**2 + 1
    kept &= (skewness != 0) | (kurtosis != 3)  # noqa: PLR2004 - the normal itself
    return np.column_stack([skewness[kept], kurtosis[kept]])


def _checked(skewness: ArrayLike, kurtosis: ArrayLike) -> tuple[Array, Array]:
    s, k = np.atleast_1d(np.asarray(skewness, np.float64), np.asarray(kurtosis, np.float64))
    if s.ndim != 1 or s.shape != k.shape:
        raise InputError(
            f"skewness has shape {s.shape} and kurtosis {k.shape}; both need one value for each "
            "row.",
            parameter="kurtosis",
            value=kurtosis,
            remedy="Give two lists of the same length.",
        )
    possible = np.isfinite(s) & np.isfinite(k)
    possible[possible] = k[possible] > s[possible] ** 2 + 1
    if not possible.all():
        first = int(np.argmin(possible))
        raise InputError(
            f"skewness {s[first]:g} with kurtosis {k[first]:g} is impossible in the Pearson "
            f"system; the kurtosis must be finite and above skewness**2 + 1 = "
            f"{s[first] ** 2 + 1:g}.",
            parameter="kurtosis",
            value=float(k[first]),
            remedy="Raise the kurtosis (it is raw, 3 for a normal: add 3 to an excess) or bring "
            "the skewness nearer to 0.",
        )
    return s, k
