"""From what users hold to samples that a test of normality can judge: checked, sorted, standard."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._wording._formatting import format_value
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.normality._tables import check_size

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

# Sums of squares within these bounds have lost nothing to overflow or underflow.
_SMALL, _LARGE = 1e-140, 1e140
_NEED = "A test of normality needs a sample of numbers, or an array of samples along one axis."


def read_samples(samples: ArrayLike, axis: int = -1) -> Array:
    """Return samples as float64 with the values of each along the last axis.

    Parameters
    ----------
    samples : array_like
        One sample, or many of one size.
    axis : int, default=-1
        The axis along which the values of a sample lie.

    Raises
    ------
    InputError
        If a sample is too small or too large, holds NaN or infinities, or is constant.

    Examples
    --------
    >>> read_samples([[1, 2], [3, 1], [2, 4], [5, 5], [4, 0]], axis=0)
    array([[1., 3., 2., 5., 4.],
           [2., 1., 4., 5., 0.]])
    """
    array = read_numbers(samples, axis)
    check_size(array.shape[-1])
    _refuse_not_finite(array)
    _refuse_constant(array)
    return array


def read_numbers(samples: ArrayLike, axis: int = -1) -> Array:
    """Return numbers as float64, samples along the last axis; nothing else is checked.

    Examples
    --------
    >>> read_numbers([1, 2, None])
    array([ 1.,  2., nan])
    """
    array = _numbers(samples)
    try:
        axis = operator.index(axis)
    except TypeError:
        raise InputError(
            parameter="axis", value=axis, need="a whole number, such as 0 or -1"
        ) from None
    if not -array.ndim <= axis < array.ndim:
        raise InputError(
            (Parameter("axis", axis), f" does not exist in samples of shape {array.shape}."),
            parameter="axis",
            value=axis,
            remedy=f"Use an axis from {-array.ndim} to {array.ndim - 1}.",
        )
    return array if array.ndim == 1 else np.moveaxis(array, axis, -1)


def standardise_sorted(samples: Array) -> Array:
    """Sort each row and bring it to mean 0 and variance 1 (divisor n - 1).

    Parameters
    ----------
    samples : ndarray of shape (rows, n)
        Finite, no row constant, not too large to sum: any that `read_samples` lets through.

    Returns
    -------
    ndarray of shape (rows, n)
        A new array. Shifting or scaling a sample changes it by rounding only.

    Examples
    --------
    >>> standardise_sorted(np.array([[3.0, 1.0, 2.0]]))
    array([[-1.,  0.,  1.]])
    """
    z = standardise_plain(samples)
    if z is None:
        size = np.maximum(np.abs(samples).max(axis=1), np.finfo(np.float64).tiny)
        # Powers of two, so that scaling rounds nothing.
        z = standardise_plain(np.ldexp(samples, -np.frexp(size)[1][:, None]))
    assert z is not None  # noqa: S101 - finite rows that vary, of size 1, can be standardised
    return z


def standardise_plain(samples: Array) -> Array | None:
    """Do the same, or return None if a row is not finite, constant, or of extreme scale.

    The fast way to deal with ordinary samples: what is wrong with others is found out later.

    Examples
    --------
    >>> standardise_plain(np.array([[1.0, 1.0, 1.0]])) is None
    True
    """
    if len(samples) == 1:
        one = _standardise_one(samples[0])
        return None if one is None else one[None]
    z = np.sort(samples, axis=1)
    n = z.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        # The middle value first: far from 0, the mean itself would carry the rounding of a sum.
        z -= z[:, n // 2, None].copy()
        z -= np.add.reduce(z, axis=1, keepdims=True) / n
        squares = np.matmul(z[:, None], z[:, :, None])[:, 0, 0]  # row by row: see `products`
    if not np.logical_and.reduce((squares > _SMALL) & (squares < _LARGE)):
        return None
    z *= np.sqrt((n - 1) / squares)[:, None]
    return z


def _standardise_one(sample: Array) -> Array | None:
    """Do `standardise_plain` for one sample, where calls cost more than the work."""
    z = sample.copy()
    z.sort()
    n = z.size
    if not -_LARGE < z.item(0) <= z.item(-1) < _LARGE:  # false for NaN, which is sorted to the end
        return None
    z -= z.item(n // 2)
    z -= np.add.reduce(z) / n
    squares = float(z.dot(z))  # the bits that a batch would give
    if not _SMALL < squares < _LARGE:
        return None
    z *= math.sqrt((n - 1) / squares)
    return z


def _numbers(samples: ArrayLike) -> Array:
    try:
        if isinstance(samples, np.ma.MaskedArray):  # what is masked is missing
            samples = np.ma.filled(samples.astype(np.float64), np.nan)
        array = np.asarray(samples)
        if array.dtype.kind == "O":
            if any(isinstance(value, str | bytes) for value in array.flat):
                raise _refused("samples holds text.", samples, f"{_NEED} Convert to float.")
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise _refused(f"samples cannot be read as numbers ({error}).", samples, _NEED) from error
    if array.dtype.kind not in "fiu":
        found = f"samples holds {array.dtype.name} values."
        raise _refused(found, samples, f"{_NEED} Convert to float.")
    if array.ndim == 0:
        raise _refused(f"samples is a single value, {format_value(array[()])}.", samples, _NEED)
    if array.dtype == np.float64:
        return array
    # Extended precision may hold what float64 cannot; infinities are refused later.
    with np.errstate(over="ignore"):
        return array.astype(np.float64)


def _refuse_not_finite(array: Array) -> None:
    finite = np.isfinite(array)
    if finite.all():
        return
    places = np.argwhere(~finite)
    *sample, value = places[0].tolist()
    bad = array[(*sample, value)]
    count = "1 value that is" if len(places) == 1 else f"{len(places):,} values that are"
    raise _refused(
        f"samples has {count} NaN or infinite: {format_value(bad)} at position {value} of "
        f"{_which(sample)}.",
        float(bad),
        "A test of normality needs finite values: drop the others, and ask why they are there.",
    )


def _refuse_constant(array: Array) -> None:
    constant = array.min(axis=-1) == array.max(axis=-1)
    if not constant.any():
        return
    sample = np.argwhere(constant)[0].tolist()
    same = array[(*sample, 0)]
    raise _refused(
        f"All {array.shape[-1]:,} values of {_which(sample)} are {format_value(same)}, so its "
        "variance is 0.",
        float(same),
        "A test of normality needs values that vary: check how they were recorded, or leave this "
        "sample out.",
    )


def _refused(found: str, value: object, remedy: str) -> InputError:
    return InputError(found, parameter="samples", value=value, remedy=remedy)


def _which(sample: list[int]) -> str:
    if not sample:
        return "the sample"
    return f"sample {sample[0] if len(sample) == 1 else tuple(sample)}"
