"""When decisions were made: numbers, or moments in whole nanoseconds, exact and of one kind."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ratekeeper._formatting import show
from ratekeeper._inputs import same_length
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Numbers of the user's own; moments without a time zone; moments in UTC.
Clock = Literal["number", "local", "utc"]
Moment = int | float
CLOCKS: dict[Clock, str] = {
    "number": "numbers",
    "local": "moments without a time zone",
    "utc": "moments with a time zone",
}
_NEED = "numbers, or dates and times (datetime objects, or texts such as 2024-05-31T08:30:00)"
_SPAN = "a positive number, a timedelta, or a text such as '30 days'"
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_SPAN_TEXT = re.compile(r"\s*([0-9]+(?:[.][0-9]+)?)\s*(?:(second|minute|hour|day|week)s?)?\s*")
_FINE = re.compile(r"[.,]([0-9]{7,9})(?![0-9])")
_GIGA = 10**9
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of moments without a time zone
_LARGEST = 2**63 - 1
_EXACT_BELOW = 2**53


def read_moments(given: Any, n_objects: int, name: str) -> tuple[Clock, NDArray[Any]]:  # noqa: ANN401
    """Return what kind of moments they are, and the moments: float64, or int64 in nanoseconds.

    One for each object, or one for all.

    Examples
    --------
    >>> read_moments([3, 4.5], 2, "decided_at")
    ('number', array([3. , 4.5]))
    >>> read_moments("2024-05-31", 2, "decided_at")
    ('local', array([1717113600000000000, 1717113600000000000]))
    """
    if hasattr(given, "to_numpy"):
        given = given.to_numpy()
    array = given if isinstance(given, np.ndarray) else _as_array(given)
    if array.ndim > 1:
        found = (Parameter(name), f" has shape {array.shape}, not one value per object.")
        raise InputError(found, parameter=name, need="one moment for each object, or one for all")
    clock, moments = _read(array.reshape(-1), name)
    if array.ndim == 0:
        return clock, np.repeat(moments, n_objects)
    same_length(name, moments.size, n_objects)
    return clock, moments


def read_moment(given: Any, name: str) -> tuple[Clock, Moment]:  # noqa: ANN401
    """Return one moment and its kind.

    Examples
    --------
    >>> read_moment(7, "now")
    ('number', 7.0)
    """
    clock, moments = read_moments(given, 1, name)
    return clock, moments.tolist()[0]


def _as_array(given: Any) -> NDArray[Any]:  # noqa: ANN401
    if isinstance(given, list | tuple):
        array = np.array(given, dtype=object)
        kinds = set(map(type, given))
        if kinds <= {int, float}:
            return np.array(given, dtype=object if kinds == {int} else np.float64)
        return array
    return np.array(given, dtype=object) if not isinstance(given, np.generic) else np.array(given)


def _read(array: NDArray[Any], name: str) -> tuple[Clock, NDArray[Any]]:
    if array.dtype.kind == "M":
        return "local", _nanoseconds(array, name)
    if array.dtype.kind == "f":
        return "number", _finite(array.astype(np.float64), name)
    if array.dtype.kind in "iu":
        array = array.astype(object)
    values = array.tolist()
    if values and all(type(value) in (int, float) for value in values):
        large = [value for value in values if isinstance(value, int) and abs(value) > _EXACT_BELOW]
        if large:
            raise _unread(large[0], name, "which float64 cannot hold exactly")
        return "number", _finite(np.array(values, dtype=np.float64), name)
    read = [_read_one(value, name) for value in values]
    kinds = {clock for clock, _ in read}
    if len(kinds) > 1:
        one, two = sorted(CLOCKS[kind] for kind in kinds)
        found = (Parameter(name), f" has {one} and {two}, which have no common order.")
        raise InputError(found, parameter=name, remedy="Write all in the same way.")
    clock = kinds.pop() if kinds else "number"
    dtype = np.float64 if clock == "number" else np.int64
    return clock, np.array([moment for _, moment in read], dtype=dtype)


def _finite(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    if not np.isfinite(values).all():
        raise _unread(values[~np.isfinite(values)][0], name)
    return values + 0.0  # no negative zero


def _nanoseconds(array: NDArray[Any], name: str) -> NDArray[np.int64]:
    whole = array.astype("M8[ns]")
    lost = np.isnat(array) | (whole.astype(array.dtype) != array)
    if lost.any():
        raise _unread(array[lost][0], name, "which does not fit nanoseconds of 64 bits")
    return whole.astype(np.int64)


def _read_one(value: object, name: str) -> tuple[Clock, Moment]:
    if isinstance(value, np.generic):
        clock, moments = _read(np.array([value]), name)
        return clock, moments.tolist()[0]
    if isinstance(value, bool):
        raise _unread(value, name)
    if isinstance(value, int | float):
        return "number", _read(np.array([float(value)]), name)[1].tolist()[0]
    when, nano = value, 0
    if isinstance(value, str):
        text = value.strip()
        if fine := _FINE.search(text):  # which Python would drop
            text, nano = text.replace(fine[0], fine[0][:7]), int(fine[1][6:].ljust(3, "0"))
        try:
            when = datetime.fromisoformat(text)
        except ValueError:
            raise _unread(value, name) from None
    if isinstance(when, datetime):
        clock, moment = _of_datetime(when, name)
        return clock, moment + nano
    if isinstance(when, date):
        return _of_datetime(datetime(when.year, when.month, when.day), name)  # noqa: DTZ001
    raise _unread(value, name)


def _of_datetime(when: datetime, name: str) -> tuple[Clock, int]:
    if when != when:  # noqa: PLR0124 - pandas' NaT
        raise _unread(when, name)
    nano = int(getattr(when, "nanosecond", 0))  # of pandas
    clock: Clock = "local" if when.tzinfo is None else "utc"
    plain = when if when.tzinfo is None else when.astimezone(UTC).replace(tzinfo=None)
    since = datetime(*plain.timetuple()[:6]) - _EPOCH  # noqa: DTZ001
    seconds = since.days * 86400 + since.seconds
    moment = seconds * _GIGA + plain.microsecond * 1000 + nano
    if abs(moment) > _LARGEST:
        raise _unread(when, name, "which does not fit nanoseconds of 64 bits")
    return clock, moment


def _unread(value: object, name: str, why: str = "") -> InputError:
    what = f", {why}" if why else ""
    found = (Parameter(name), f" has {show(value)}{what}.")
    remedy = f"Give {_NEED}."
    return InputError(found, parameter=name, value=value, need=_NEED, remedy=remedy)


def read_span(given: Any, name: str) -> tuple[Clock | None, Moment]:  # noqa: ANN401
    """Return a length of time: of numbers, or in nanoseconds (kind None: of any moments).

    Examples
    --------
    >>> read_span("2 days", "matures_after")
    (None, 172800000000000)
    >>> read_span(30, "matures_after")
    ('number', 30.0)
    """
    clock: Clock | None = None
    span: Moment = -1
    if isinstance(given, timedelta):
        span = (given.days * 86400 + given.seconds) * _GIGA + given.microseconds * 1000
    elif isinstance(given, np.timedelta64):
        span = int(given.astype("m8[ns]").astype(np.int64))
    elif isinstance(given, str) and (match := _SPAN_TEXT.fullmatch(given)):
        number, unit = match.groups()
        if unit is None:
            clock, span = "number", float(number)
        else:
            span = round(float(number) * _UNITS[unit] * _GIGA)
    elif isinstance(given, int | float | np.number) and not isinstance(given, bool | np.bool_):
        clock, span = "number", float(given)
    if not 0 < span < _LARGEST:
        raise InputError(parameter=name, value=given, need=_SPAN)
    return clock, span


def moment_text(clock: Clock, moment: Moment) -> str:
    """Write a moment as people do.

    Examples
    --------
    >>> moment_text("local", 1717113600000000000), moment_text("number", 7.0)
    ('2024-05-31', '7')
    """
    if clock == "number":
        return f"{moment:.15g}"
    text = str(np.datetime64(int(moment), "ns"))
    text = re.sub(r"(\.\d*?)0+$", r"\1", text).removesuffix(".")
    text = text.removesuffix("T00:00:00")
    return f"{text}{'Z' if clock == 'utc' and 'T' in text else ''}"


def span_text(clock: Clock, span: Moment) -> str:
    """Write a length of time as people do.

    Examples
    --------
    >>> span_text("local", 30 * 86_400 * 10**9), span_text("number", 30.0)
    ('30 days', '30')
    """
    if clock == "number":
        return f"{span:.6g}"
    seconds = span / _GIGA
    for unit in ("day", "hour", "minute"):
        if seconds >= _UNITS[unit]:
            return f"{seconds / _UNITS[unit]:.3g} {unit}{'' if seconds == _UNITS[unit] else 's'}"
    return f"{seconds:.3g} seconds"
