"""When decisions were made, as `calibration/_times.py` reads it, or in numbers with decimals."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._columns import read_values, same_length
from ratekeeper.calibration._times import EXACT, Kind, Timing, no_time, times_in
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Moment = int | float
_SPAN = "a positive number, a timedelta, or a text such as '30 days'"
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_SPAN_TEXT = re.compile(r"\s*([0-9]+(?:[.][0-9]+)?)\s*(?:(second|minute|hour|day|week)s?)?\s*")
_MILLION = 10**6
_LARGEST = 2**63 - 1


def read_moments(given: Any, n_objects: int, name: str) -> tuple[Kind, NDArray[Any]]:  # noqa: ANN401
    """Return what kind of moments they are, and the moments: float64, or int64 in microseconds.

    One for each object, or one for all.

    Examples
    --------
    >>> read_moments([3, 4.5], 2, "decided_at")
    ('number', array([3. , 4.5]))
    >>> read_moments("2024-05-31", 2, "decided_at")
    ('local', array([1717113600000000, 1717113600000000]))
    """
    is_one = np.ndim(given) == 0
    array, zone = read_values([given] if is_one else given, name)
    same_length(name, n_objects if is_one else array.size, n_objects)
    kind: Kind = "number"
    if array.dtype.kind == "O" and set(map(type, array.tolist())) == {int, float}:
        array = array.astype(np.float64)
    if array.dtype.kind != "f":
        array, kind = times_in(array, zone, name)
    if kind == "number":
        array = array.astype(np.float64) + 0.0  # no negative zero
        if not (np.abs(array) <= EXACT).all():  # from there on floats skip whole numbers
            raise no_time(array[~(np.abs(array) <= EXACT)][0], name)
    return kind, np.repeat(array, n_objects) if is_one else array


def read_moment(given: Any, name: str) -> tuple[Kind, Moment]:  # noqa: ANN401
    """Return one moment and its kind.

    Examples
    --------
    >>> read_moment(7, "now")
    ('number', 7.0)
    """
    kind, moments = read_moments(given, 1, name)
    return kind, moments.tolist()[0]


def read_span(given: Any, name: str) -> tuple[Kind | None, Moment]:  # noqa: ANN401
    """Return a length of time: of numbers, or in microseconds (kind None: of any moments).

    Examples
    --------
    >>> read_span("2 days", "matures_after")
    (None, 172800000000)
    >>> read_span(30, "matures_after")
    ('number', 30.0)
    """
    kind: Kind | None = None
    span: Moment = -1
    if isinstance(given, timedelta):
        span = given // timedelta(microseconds=1)
    elif isinstance(given, np.timedelta64):
        span = int(given.astype("m8[us]").astype(np.int64))
    elif isinstance(given, str) and (match := _SPAN_TEXT.fullmatch(given)):
        number, unit = match.groups()
        if unit is None:
            kind, span = "number", float(number)
        else:
            span = round(float(number) * _UNITS[unit] * _MILLION)
    elif isinstance(given, int | float | np.number) and not isinstance(given, bool | np.bool_):
        kind, span = "number", float(given)
    if not 0 < span < _LARGEST:
        raise InputError(parameter=name, value=given, need=_SPAN)
    return kind, span


def moment_text(kind: Kind, moment: Moment) -> str:
    """Write a moment as people do.

    Examples
    --------
    >>> moment_text("local", 1717113600000000), moment_text("number", 7.0)
    ('2024-05-31', '7')
    """
    return f"{moment:.15g}" if kind == "number" else str(Timing(kind).text(int(moment)))


def span_text(kind: Kind, span: Moment) -> str:
    """Write a length of time as people do.

    Examples
    --------
    >>> span_text("local", 30 * 86_400 * 10**6), span_text("number", 30.0)
    ('30 days', '30')
    """
    if kind == "number":
        return f"{span:.6g}"
    seconds = span / _MILLION
    for unit in ("day", "hour", "minute"):
        if seconds >= _UNITS[unit]:
            return f"{seconds / _UNITS[unit]:.3g} {unit}{'' if seconds == _UNITS[unit] else 's'}"
    return f"{seconds:.3g} seconds"
