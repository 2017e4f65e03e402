"""Numbers, labels and gaps as people write them in text, and numbers written back exactly."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.exceptions import Parameter
from ratekeeper.files._row_blocks import MISSING, NAN, NOT_A_NUMBER, TOO_LARGE, Numbers, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ratekeeper.exceptions import Words

_GAPS = frozenset({"", "na", "n/a", "#n/a", "null", "none", "?", "<na>"})  # a missing number
_NO_LABEL = (_GAPS | {"nan"}) - {"none"}  # which may well be a class
_INFINITE = frozenset({"inf", "infinity"})


def is_gap(text: str) -> bool:
    """Return whether a text stands for a missing label.

    Examples
    --------
    >>> is_gap("NaN"), is_gap("no")
    (True, False)
    """
    return text.lower() in _NO_LABEL


def is_missing(text: str) -> bool:
    """Return whether a text stands for a missing value of a column that holds no labels.

    Examples
    --------
    >>> is_missing("none"), is_gap("none")
    (True, False)
    """
    return text.lower() in _GAPS or text.lower() == "nan"


def parse_numbers(texts: list[str], marks: str = ".") -> Numbers:
    """Read numbers as people write them; what is none is marked.

    Parameters
    ----------
    texts : list of str
        The numbers.
    marks : {".", ",", ".,"}, default="."
        What may be the decimal mark.

    Examples
    --------
    >>> parse_numbers(["0.5", "", "x"]).problems
    array([0, 1, 3], dtype=uint8)
    """
    try:
        values = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return _parse_slowly(texts, marks)
    # Python also reads 1_000, which people do not write, and 1e999 as infinity.
    if not np.isfinite(values).all() or marks == "," or "_" in "".join(texts):
        return _parse_slowly(texts, marks)
    return Numbers(values, None)


def _parse_slowly(texts: list[str], marks: str) -> Numbers:
    parsed = [_parse(text.strip(), marks) for text in texts]
    problems = np.fromiter((problem for _, problem in parsed), np.uint8, len(parsed))
    values = np.fromiter((value for value, _ in parsed), np.float64, len(parsed))
    return Numbers(values, problems if problems.any() else None)


def _parse(text: str, marks: str = ".") -> tuple[float, int]:
    if text.lower() in _GAPS:
        return math.nan, MISSING
    try:
        value = float(text.replace(",", ".") if "," in marks else text)
    except ValueError:
        return math.nan, NOT_A_NUMBER
    if "_" in text or ("." in text and "." not in marks):
        return math.nan, NOT_A_NUMBER
    if math.isnan(value):
        return math.nan, NAN
    if math.isinf(value) and text.lower().lstrip("+-") not in _INFINITE:
        return math.nan, TOO_LARGE
    return value, 0


_COMMA = Parameter("decimal", ",")
_LOOKS: tuple[tuple[str, str, Words], ...] = (  # pattern, what it is, how to read it
    (r"[-+]?[\d., ]+%", "a percentage", "Remove the percent signs from the whole column."),
    (
        r"(\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{2,4}|\d\d?:\d\d)([T: ].*)?",
        "a time stamp",
        "",
    ),
    (
        r"[-+]?[1-9]\d{0,2},\d{3}",
        "a number with a comma",
        (
            "If it is the decimal mark, pass ",
            _COMMA,
            "; if not, remove all commas from the column.",
        ),
    ),
    (
        r"[-+]?\d*,\d+(e[-+]?\d+)?",
        "a number with a decimal comma",
        ("Pass ", _COMMA, " to read it."),
    ),
    (
        r"[-+]?\d*\.\d+(e[-+]?\d+)?",
        "a number with a decimal point",
        ("Pass ", Parameter("decimal", "."), " to read it."),
    ),
    (
        r"[-+]?\d{1,3}([,.' \u00a0\u202f]\d{3})+([.,]\d*)?",
        "a number with thousands separators",
        "Remove them from the whole column.",
    ),
)


def looks_like(text: str) -> tuple[str, Words]:
    """Say what a text that was not read as a number looks like, and how to read it.

    Examples
    --------
    >>> looks_like("0,765")[0], looks_like("765,033.6")[0], looks_like("2024-05-01")[0]
    ('a number with a decimal comma', 'a number with thousands separators', 'a time stamp')
    >>> looks_like("high")
    ('', '')
    """
    for pattern, what, remedy in _LOOKS:
        if re.fullmatch(pattern, text.strip(), re.IGNORECASE):
            return what, remedy
    return "", ""


def whole_texts(values: Sequence[str]) -> list[int] | None:
    """Return whole numbers if every text is one, however written (1, 01, 1.0), else None.

    Examples
    --------
    >>> whole_texts(["0", "1.0"]), whole_texts(["0", "yes"])
    ([0, 1], None)
    """
    parsed = [_parse(text) for text in values]
    if any(problem or not whole(value) for value, problem in parsed):
        return None
    return [int(value) for value, _ in parsed]
