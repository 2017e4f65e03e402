"""Parameters that users pass: checked, or refused with the value, the need and the remedy."""

from __future__ import annotations

import math
from numbers import Real
from typing import Literal

from ratekeeper._formatting import show
from ratekeeper.exceptions import InputError

Control = Literal["fnr", "fpr"]


def check_control(control: object) -> Control:
    """Return the canonical name of a rate."""
    null_class_of(control)
    return control  # type: ignore[return-value]


def null_class_of(control: object) -> int:
    """Return the class whose error is controlled: 1 for "fnr", 0 for "fpr".

    Examples
    --------
    >>> null_class_of("fnr")
    1
    """
    if not isinstance(control, str) or control not in ("fnr", "fpr"):
        raise InputError(
            f'control={show(control)} must be "fnr" (missed positives) or "fpr" (false alarms).'
        )
    return 1 if control == "fnr" else 0


def check_probability(value: object, name: str) -> float:
    """Return `value` as a float if it lies strictly between 0 and 1, else raise.

    Examples
    --------
    >>> check_probability(0.05, "alpha")
    0.05
    """
    number = _number(value)
    if not 0.0 < number < 1.0:
        raise InputError(
            f"{name}={show(value)} is not a rate strictly between 0 and 1. "
            f"Write 5% as {name}=0.05, 1 in 1,000 as {name}=0.001."
        )
    return number


def check_count(value: object, name: str, least: int = 1) -> int:
    """Return `value` as an int if it is a whole number from `least` up, else raise.

    Examples
    --------
    >>> check_count(100, "n")
    100
    """
    number = _number(value)
    if not number.is_integer() or number < least:
        raise InputError(f"{name}={show(value)} must be a whole number from {least} up.")
    return int(value)  # type: ignore[call-overload, no-any-return]  # a float rounds large ones


def check_positive(value: object, name: str, *, or_else: str) -> float:
    """Return `value` as a float if it is a positive finite number, else raise.

    The message also names what else would do.

    Examples
    --------
    >>> check_positive(0.3, "bandwidth", or_else='"scott"')
    0.3
    """
    number = _number(value)
    if not 0.0 < number < math.inf:
        raise InputError(f"{name}={show(value)} must be a positive number, {or_else}.")
    return number


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of the words, else raise.

    Examples
    --------
    >>> check_choice("gini", "criterion", ("gini", "entropy"))
    'gini'
    """
    if not isinstance(value, str) or value not in choices:
        *first, last = (f'"{choice}"' for choice in choices)
        raise InputError(f"{name}={show(value)} must be {', '.join(first)} or {last}.")
    return value


def _number(value: object) -> float:
    """Return a real number, and NaN for anything else: text, truth values, arrays."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
