"""When objects were seen: datetimes, dates, ISO texts or whole numbers, kept as whole numbers.

Datetimes are microseconds since 1970: in UTC if they have a time zone, else as they are written.
Whole numbers are the user's own. The three kinds are never mixed, since nobody knows which of two
such times is the later one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ratekeeper._reading._columns import read_values, same_length
from ratekeeper._wording._formatting import format_value, plain_value
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray


Kind = Literal["utc", "local", "number"]
WORDS: dict[str, str] = {
    "utc": "datetimes with a time zone",
    "local": "datetimes or dates without a time zone",
    "number": "whole numbers",
}
NEED = "datetimes, dates, ISO texts such as 2024-05-01 12:30, or whole numbers"
_START = datetime(1970, 1, 1)  # noqa: DTZ001 - of times without a zone
_MICROSECOND = timedelta(microseconds=1)
ENDS = tuple((end - _START) // _MICROSECOND for end in (datetime.min, datetime.max))  # noqa: DTZ901
_NUMBERS = np.iinfo(np.int64)
EXACT = 2**53  # from there on floats skip whole numbers


@dataclass(frozen=True)
class Timing:
    """What kind of times a calibration has, and which window was cut out of them.

    Attributes
    ----------
    kind : {"utc", "local", "number"}
        Datetimes with or without a time zone, or whole numbers.
    last : int or None
        How many of the newest objects the last window was to keep.
    since : int or None
        From which time on it was to keep them.
    start : int or None
        From which time on all objects were kept: whatever was older has been left out. None if
        nothing ever was.
    """

    kind: Kind
    last: int | None = None
    since: int | None = None
    start: int | None = None

    def text(self, time: int) -> str | int:
        """Return a time as people write it; `parsed` reads it back.

        Examples
        --------
        >>> Timing("local").text(0), Timing("utc").text(1_500_000), Timing("number").text(7)
        ('1970-01-01', '1970-01-01 00:00:01.500000Z', 7)
        """
        if self.kind == "number" or not ENDS[0] <= time <= ENDS[1]:
            return time
        moment = _START + time * _MICROSECOND
        if self.kind == "utc":
            return f"{moment.isoformat(' ')}Z"
        is_day = moment.time() == datetime.min.time()
        return moment.date().isoformat() if is_day else moment.isoformat(" ")

    def to_dict(self, first: int, last: int) -> dict[str, Any]:
        """Return plain values, with the first and the last time there is."""
        known = {"since": self.since, "start": self.start}
        texts = {name: self.text(time) for name, time in known.items() if time is not None}
        facts = {"kind": self.kind, "first": self.text(first), "last": self.text(last), **texts}
        return facts if self.last is None else {**facts, "newest": self.last}

    @staticmethod
    def from_dict(facts: Mapping[str, Any]) -> Timing:
        """Return what `to_dict` has written.

        Examples
        --------
        >>> Timing.from_dict(Timing("utc", last=5, start=10).to_dict(10, 30)).start
        10
        """
        kind: Kind = facts["kind"]
        times = {
            name: parsed(facts[name], kind, name) for name in ("since", "start") if name in facts
        }
        return Timing(kind, facts.get("newest"), **times)


def read_times(times: ArrayLike, n_objects: int) -> tuple[NDArray[np.int64], Timing]:
    """Return when each object was seen, as whole numbers, and of which kind they are.

    Examples
    --------
    >>> from datetime import date
    >>> read_times([date(1970, 1, 2), "1970-01-01 00:00:01"], 2)
    (array([86400000000,     1000000]), Timing(kind='local', last=None, since=None, start=None))
    """
    array, zone = read_values(times, "times")
    same_length("times", array.size, n_objects)
    values, kind = times_in(array, zone, "times")
    return values, Timing(kind)


def times_in(array: NDArray[Any], zone: str | None, name: str) -> tuple[NDArray[np.int64], Kind]:
    """Return the times of a column that `read_values` has read, and their kind."""
    if array.dtype.kind == "M":
        return _microseconds(array, name), "local" if zone is None else "utc"
    if array.dtype.kind in "iu":
        if array.size and not _NUMBERS.min <= int(array.min()) <= int(array.max()) <= _NUMBERS.max:
            raise no_time(array.max(), name)
        return array.astype(np.int64), "number"
    values, kinds = np.empty(array.size, np.int64), dict[Kind, int]()
    for i, value in enumerate(array.tolist()):
        try:
            values[i], kind = time_of(value)
        except ValueError:
            raise no_time(value, name, f" at position {i}") from None
        kinds.setdefault(kind, i)
        if len(kinds) > 1:
            raise _mixed(array[0], value, i, name)
    return values, next(iter(kinds), "number")


def time_of(value: object) -> tuple[int, Kind]:
    """Return a time as a whole number, and its kind; raise `ValueError` if it is none.

    A text of digits is a number, and any other an ISO date or datetime.

    Examples
    --------
    >>> time_of("1970-01-01T01:00+01:00"), time_of("1970-01-01"), time_of("2015"), time_of(2015.0)
    ((0, 'utc'), (0, 'local'), (2015, 'number'), (2015, 'number'))
    """
    value = plain_value(value)
    if isinstance(value, str):
        text = value.strip()
        if text.lstrip("+-").isdecimal() and len(text) < 20:  # noqa: PLR2004 - digits of int64
            value = int(text)
        else:
            value = datetime.fromisoformat(text)
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            return _since_1970(value.replace(tzinfo=None) if value.tzinfo else value), "local"
        try:
            moment = value.astimezone(UTC).replace(tzinfo=None)
        except OverflowError as error:  # in the first hours of year 1
            raise ValueError(value) from error
        return _since_1970(moment), "utc"
    if isinstance(value, date):
        return _since_1970(datetime(value.year, value.month, value.day)), "local"  # noqa: DTZ001
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(value)  # noqa: TRY004 - what callers look for
    if not _NUMBERS.min <= value <= _NUMBERS.max:
        raise ValueError(value)
    return value, "number"


def _since_1970(moment: datetime) -> int:
    gap = moment - _START
    return (gap.days * 86_400 + gap.seconds) * 1_000_000 + gap.microseconds


def parsed(value: object, kind: Kind, name: str) -> int:
    """Return one time that must be of a kind.

    Examples
    --------
    >>> parsed("1970-01-01", "local", "since")
    0
    """
    try:
        time, found = time_of(value)
    except ValueError:
        raise no_time(value, name) from None
    if found != kind:
        zone = "Write the time with its zone, as in 2024-05-01 00:00Z." if kind == "utc" else ""
        raise InputError(
            (
                Parameter(name, value),
                f" is no time of the kind of the others, which are {WORDS[kind]}.",
            ),
            parameter=name,
            value=value,
            need=WORDS[kind],
            remedy=zone or "Write it as the times are written.",
        )
    return time


def _mixed(one: object, other: object, place: int, name: str) -> InputError:
    kinds = " and ".join(WORDS[time_of(value)[1]] for value in (one, other))
    found = f" has {format_value(one)} at position 0 and {format_value(other)} at position {place}"
    return InputError(
        (Parameter(name), f"{found}: {kinds}, which have no order."),
        parameter=name,
        value=other,
        need="times of one kind",
        remedy="Write all in the same way.",
    )


def _microseconds(array: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Return datetimes of NumPy, of whatever unit, as microseconds."""
    years = array.astype("M8[Y]").astype(np.int64) + 1970
    beyond = (years < MINYEAR) | (years > MAXYEAR)
    if beyond.any():
        raise no_time(array[beyond][0], name, f" at position {int(np.argmax(beyond))}")
    return array.astype("M8[us]").astype(np.int64)


def no_time(value: object, name: str, where: str = "") -> InputError:
    """Say that a value is no time."""
    return InputError(
        (Parameter(name), f" has {format_value(value)}{where}, which is no time."),
        parameter=name,
        value=value,
        need=NEED,
        remedy=f"Pass {NEED}.",
    )
