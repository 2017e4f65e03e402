"""Parameters that users pass: checked, or refused with the value, the need and the remedy."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal, InvalidOperation
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from ratekeeper._wording._formatting import format_value, has_instead, listed
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Control = Literal["fnr", "fpr"]
# Shares of right decisions, and the error rate that is the rest.
RIGHT_SHARES: dict[str, Control] = {
    "sensitivity": "fnr",
    "recall": "fnr",
    "tpr": "fnr",
    "specificity": "fpr",
    "tnr": "fpr",
}
# What keeps other rates, by the words for them.
_MAKERS = {
    "both": "To keep both, use control_both.",
    "precision": "To keep the precision, use control_precision.",
    "ppv": "To keep the precision, use control_precision.",
    "npv": "To keep the NPV, use control_npv.",
}
# Characters of a label or of a group's name. Arrays of texts are as wide as their longest, so that
# one long cell would otherwise cost memory for every row.
LONGEST_NAME = 256
# Up to here distributions of counts are known to six digits, and whole numbers are exact floats.
LARGEST_COUNT = 10**12
LARGEST_SEED = 2**128  # as many bits as NumPy advises


def check_control(control: object) -> Control:
    """Return "fnr" or "fpr", however it is capitalised, else raise.

    Examples
    --------
    >>> check_control("FPR")
    'fpr'
    """
    match control.lower() if isinstance(control, str) else None:
        case "fnr":
            return "fnr"
        case "fpr":
            return "fpr"
    raise control_error(control, '"fnr" (missed positives) or "fpr" (false alarms)')


def control_error(control: object, need: str) -> InputError:
    """Refuse a rate that cannot be kept here, and name what can keep it."""
    word = control.lower() if isinstance(control, str) else ""
    remedy = _MAKERS.get(word, "")
    if word in RIGHT_SHARES:
        rate = RIGHT_SHARES[word]
        remedy = f'For a {word} of at least 95% write "{rate}" and a level of 0.05.'
    return InputError(parameter="control", value=control, need=need, remedy=remedy)


def null_class_of(control: object) -> int:
    """Return the class whose error is controlled: 1 for "fnr", 0 for "fpr".

    Examples
    --------
    >>> null_class_of("fnr")
    1
    """
    return 1 if check_control(control) == "fnr" else 0


def check_probability(value: object, name: str, *, as_text: bool = True) -> float:
    """Return `value` as a float if it lies strictly between 0 and 1, else raise.

    Text with a percent sign is read, too, but not without one: "5" could mean either. Callers
    that go on with `value` itself pass ``as_text=False``. A number of fewer bits than a float is
    the one that it is written as, so that the level that is printed is the one that is kept.

    Examples
    --------
    >>> import numpy as np
    >>> check_probability(np.float32(0.05), "alpha"), check_probability("5%", "alpha")
    (0.05, 0.05)
    """
    is_percentage = as_text and isinstance(value, str) and value.rstrip().endswith("%")
    number = rate_of(str(value)) if is_percentage else _number(value)
    if not 0.0 < number < 1.0:
        need = "a rate strictly between 0 and 1"
        one, two = Parameter(name, 0.05), Parameter(name, 0.001)
        raise InputError(
            (Parameter(name, value), f" is not {need}."),
            parameter=name,
            value=value,
            need=need,
            remedy=("Write 5% as ", one, ", 1 in 1,000 as ", two, "."),
        )
    return number


def rate_of(text: str) -> float:
    """Return the rate that a text stands for, such as 0.05 or 5%; NaN if it stands for none.

    Examples
    --------
    >>> rate_of("0.7 %"), rate_of("0.05"), rate_of("five")
    (0.007, 0.05, nan)
    """
    try:
        number = Decimal(text.strip().removesuffix("%"))
    except InvalidOperation:
        return math.nan
    if number.is_nan():
        return math.nan
    # In decimals, so that 0.7% is the float 0.007.
    return float(number.scaleb(-2) if text.rstrip().endswith("%") else number)


def check_count(value: object, name: str, least: int = 1, most: int = LARGEST_COUNT) -> int:
    """Return `value` as an int if it is a whole number from `least` to `most`, else raise.

    Examples
    --------
    >>> check_count(100, "n")
    100
    """
    number = _number(value)
    need = f"a whole number from {least} up"
    if number > most:
        remedy = "Take a smaller one."
        raise InputError(parameter=name, value=value, need=f"{need} to {most:,}", remedy=remedy)
    if not number.is_integer() or number < least:
        raise InputError(parameter=name, value=value, need=need)
    return int(value)  # type: ignore[call-overload, no-any-return]  # a float rounds large ones


def check_seed(value: object, name: str) -> int:
    """Return `value` as an int if random numbers can be drawn from it, else raise.

    Examples
    --------
    >>> check_seed(0, "random_state")
    0
    """
    return check_count(value, name, least=0, most=LARGEST_SEED)


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
        raise InputError(parameter=name, value=value, need=f"a positive number, {or_else}")
    return number


def check_not_negative(value: object, name: str) -> float:
    """Return `value` as a float if it is a finite number from 0 up, else raise.

    Examples
    --------
    >>> check_not_negative(1e-6, "tolerance")
    1e-06
    """
    number = _number(value)
    if not 0.0 <= number < math.inf:
        raise InputError(parameter=name, value=value, need="a finite number from 0 up")
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
        raise InputError(parameter=name, value=value, need=f"{', '.join(first)} or {last}")
    return value


def _number(value: object) -> float:
    """Return a real number, and NaN for anything else: text, booleans, arrays."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        # NumPy's other floats by their shortest text: float32(0.05) means 0.05, not 0.0500000007.
        return float(str(value) if hasattr(value, "dtype") else value)
    except OverflowError:
        return math.inf


def check_columns(name: str, columns: Sequence[str], wanted: Mapping[str, str | None]) -> None:
    """Raise unless a file or frame has the columns; `wanted` is by parameter.

    Examples
    --------
    >>> check_columns("a.csv", ["risk", "ill"], {"score": "risk", "group": None})
    """
    for role, column in wanted.items():
        if column is not None and column not in columns:
            found = f"{name} has no column {format_value(column)} for "
            raise InputError(
                (found, Parameter(role), f"; {has_instead(column, columns)}"),
                parameter=role,
                value=column,
                need="the name of a column",
            )
    used = [column for column in wanted.values() if column is not None]
    if len(set(used)) < len(used):
        twice = next(column for column in used if used.count(column) > 1)
        raise InputError(
            f"The column {format_value(twice)} was given for two roles.",
            value=twice,
            remedy="Score, label, group, cluster, time, weight and key must be different columns.",
        )


def column_names(table: object) -> list[Any] | None:
    """Return the names of the columns of a table of any library; None if they cannot be seen.

    Examples
    --------
    >>> import pandas
    >>> column_names(pandas.DataFrame({"a": [1]})), column_names([1, 2])
    (['a'], None)
    """
    if hasattr(table, "collect"):  # a lazy table would have to look for them
        return None
    names: Any = getattr(table, "column_names", None)  # of pyarrow, whose `columns` are the values
    if names is None:
        names = getattr(table, "columns", None)
    return list(names) if isinstance(names, list) or hasattr(type(names), "tolist") else None


def refuse_repeated_columns(names: Sequence[object] | None, parameter: str) -> None:
    """Raise if a table has two columns of one name: nobody knows which one is meant.

    Libraries differ in what they do with them: some fail, some take both or the first.

    Examples
    --------
    >>> refuse_repeated_columns(["a", "b"], "X")
    """
    twice = [name for name, n in Counter(names or ()).items() if n > 1]
    if twice:
        raise InputError(
            (Parameter(parameter), f" has more than one column named {listed(twice)}."),
            parameter=parameter,
            value=twice[0],
            remedy="Give every column a name of its own.",
        )
