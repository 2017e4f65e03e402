"""Values as people write them: rates, lists of names, numbers of objects.

Names of groups, labels, columns and files come from strangers. `format_value` writes one in quotes,
as Python does; `escape_controls` leaves nothing in a text that a terminal would act on. Whatever
people read goes through one of them where it leaves the library: errors and warnings
(`exceptions`), what commands print (`cli/_printing`), HTML (`_html.text`), progress bars,
Markdown and pictures. What programs read has the exact names: JSON, rows, SQL, .rk files.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

_SHOWN = 5  # values in a message
_LISTED = 20  # names to choose from
_TINY = 1e-8  # a rate that nobody tells from 0: below it, digits would be noughts
_LONGEST_REASON = 300  # characters
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # Unicode's control, format, surrogate, line, paragraph
_JOINERS, _SELECTORS = "\u200c\u200d", "\ufe0e\ufe0f"
# What else Unicode says may be ignored: fillers, selectors and tags. XML has no name for the last.
_IGNORED = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff\ufffe\uffff]"
)


def percent(rate: float) -> str:
    """Write a rate as people read it.

    Examples
    --------
    >>> percent(0.05), percent(0.00012), percent(6.6e-7), percent(1e-30)
    ('5.00%', '0.012%', '0.000066%', '<0.000001%')
    """
    if rate == 0.0 or rate >= 0.001:  # noqa: PLR2004 - from here two decimals show two digits
        return f"{100 * rate:.2f}%"
    if 0.0 < rate < _TINY:
        return f"<{100 * _TINY:.6f}%"
    return f"{_plain(f'{100 * rate:.2g}')}%"


def exact_percent(rate: float) -> str:
    """Write a promised rate, which must not be rounded.

    Examples
    --------
    >>> exact_percent(0.05), exact_percent(0.00125), exact_percent(5e-8)
    ('5%', '0.125%', '0.000005%')
    """
    return f"{_plain(f'{100 * rate:.12g}')}%"


def _plain(number: str) -> str:
    """Write out a number that Python writes with an exponent."""
    if "e" not in number:
        return number
    from decimal import Decimal

    return f"{Decimal(number):f}"


def percent_up(rate: float, digits: int = 3) -> str:
    """Write a rate with few digits, rounded up, so that "at most" stays true.

    Examples
    --------
    >>> percent_up(0.05), percent_up(1 / 3000), percent_up(8.638e-05, digits=2)
    ('5%', '0.0334%', '0.0087%')
    """
    from decimal import ROUND_CEILING, Context, Decimal

    exact = Decimal(repr(rate)).scaleb(2)
    return f"{Context(prec=digits, rounding=ROUND_CEILING).plus(exact).normalize():f}%"


def listed(values: Sequence[Any] | NDArray[Any], most: int = _SHOWN) -> str:
    """Write the first few values as people write them.

    Examples
    --------
    >>> listed(["a", "b"]), listed(range(9), most=3)
    ("'a', 'b'", '0, 1, 2, ...')
    """
    return ", ".join(map(format_value, values[:most])) + ", ..." * (len(values) > most)


def listed_with_count(values: Sequence[Any], most: int = _SHOWN) -> str:
    """Write the first few values, and how many there are if not all are shown.

    Examples
    --------
    >>> listed_with_count(["a", "b"]), listed_with_count(range(9), most=3)
    ("'a', 'b'", '0, 1, 2, ... (9 in all)')
    """
    return listed(values, most) + (f" ({len(values):,} in all)" if len(values) > most else "")


def extremes(*columns: Sequence[float], most: int, each: int) -> list[int]:
    """Return which of many to show: the few lowest and the few highest of each column, in order.

    All of them if there are at most `most`. NaN is neither low nor high.

    Examples
    --------
    >>> extremes([5, 1, 2, 3, 4], most=4, each=1), extremes([5, 1, 2], most=4, each=1)
    ([0, 1], [0, 1, 2])
    """
    if len(columns[0]) <= most:
        return list(range(len(columns[0])))
    found: set[int] = set()
    for column in columns:
        order = sorted((i for i, x in enumerate(column) if x == x), key=column.__getitem__)  # noqa: PLR0124
        found.update(order[:each], order[-each:])
    return sorted(found)


def format_value(value: object) -> str:
    """Write a value as people write it, and not longer than half a line.

    Examples
    --------
    >>> import numpy as np
    >>> format_value(np.float64(0.5))
    '0.5'
    """
    try:
        # What a stranger's class prints of itself may hold anything.
        text = escape_controls(repr(plain_value(value)))
    except Exception:  # noqa: BLE001 - such as a whole number of more than 4,300 digits
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 50 else f"{text[:40]}..."  # noqa: PLR2004


def brief(words: object) -> str:
    """Return what another library says on one line, which may quote what stands in a file.

    Examples
    --------
    >>> brief("no  such type.")
    'no such type'
    """
    text = " ".join(str(words).split()).rstrip(".")
    return escape_controls(text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}...")


def escape_controls(text: str, keep: str = "") -> str:
    r"""Write what a terminal acts on or does not show as Python writes it.

    These are control characters (a newline and a tab, too, unless they are to be kept), marks that
    turn the direction of writing, other invisible marks and fillers, separators of lines, and bytes
    of file names that are no text. One zero-width joiner, and one selector of a shape, stay after a
    letter outside ASCII, where Persian, Indian languages and emoji need them. Other letters, spaces
    of any width, and characters of private use or of a newer Unicode stay. Backslashes stay as
    well, so that paths do, and a text may hold what looks like an escape; `format_value`, which
    quotes, tells the two apart.

    Examples
    --------
    >>> print(escape_controls("Z\u00fcrich \x1b[31m\u202e"))
    Zürich \x1b[31m\u202e
    >>> print(escape_controls("two\nlines\t", keep="\n"))
    two
    lines\t
    """
    if text.isprintable() and not _IGNORED.search(text):
        return text
    from unicodedata import category

    shown, before = [], " "
    for sign in text:
        if sign in _JOINERS + _SELECTORS:
            joins = before > "\x7f" and before not in _JOINERS
            is_hidden = not joins or (sign in _SELECTORS and before in _SELECTORS)
        else:
            is_hidden = category(sign) in _HIDDEN or _IGNORED.match(sign) is not None
        is_hidden = is_hidden and sign not in keep
        before = " " if is_hidden else sign
        shown.append(ascii(sign)[1:-1] if is_hidden else sign)
    return "".join(shown)


def plain_value(value: Any) -> Any:  # noqa: ANN401 - a NumPy scalar or already a Python value
    """Return the Python value of a NumPy scalar, which prints as people write it.

    Examples
    --------
    >>> import numpy as np
    >>> plain_value(np.str_("yes"))
    'yes'
    """
    numpy = sys.modules.get("numpy")  # whoever holds one of its values has loaded it
    return value.item() if numpy is not None and isinstance(value, numpy.generic) else value


def objects(n: int) -> str:
    """Write a number of objects.

    Examples
    --------
    >>> objects(1_000)
    '1,000 objects'
    """
    return f"{n:,} object{'' if n == 1 else 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Say which of the known names may be meant, in a sentence that follows others.

    Examples
    --------
    >>> did_you_mean("clasify", ["classify", "control"]), did_you_mean("score", ["Score", "label"])
    (" Did you mean 'classify'?", " Did you mean 'Score'?")
    >>> did_you_mean("x", ["classify"])
    ''
    """
    found = _closest(name, known)
    return f" Did you mean {found[0]!r}?" if found else ""


def has_instead(name: str, known: Sequence[str]) -> str:
    """Say which names there are instead of an unknown one, those that are like it first.

    Examples
    --------
    >>> has_instead("score", ["id", "Score"])
    "it has 'Score', 'id'. Did you mean 'Score'?"
    """
    first = _closest(name, known)
    names = [*first, *(other for other in known if other not in first)]
    more = len(names) - _LISTED
    tail = f", ... and {more:,} more" if more > 0 else ""
    return (
        f"it has {', '.join(map(format_value, names[:_LISTED]))}{tail}.{did_you_mean(name, known)}"
    )


def _closest(name: str, known: Iterable[str]) -> list[str]:
    """Return the names that are like one, whatever their case; the most similar first."""
    from difflib import get_close_matches

    by_text: dict[str, list[str]] = {}
    for text in known:
        by_text.setdefault(text.casefold(), []).append(text)
    return [text for key in get_close_matches(name.casefold(), by_text) for text in by_text[key]]


def json_ready(value: Any) -> Any:  # noqa: ANN401 - any value of an answer
    """Return what JSON can write; numbers that it does not know become texts.

    Examples
    --------
    >>> json_ready({"threshold": float("-inf"), 1: (2, None)})
    {'threshold': '-inf', '1': [2, None]}
    """
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else str(json_ready(key)): json_ready(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def json_text(value: Any) -> str:  # noqa: ANN401 - any value of an answer
    """Write JSON in indented lines, as ``json.dumps(json_ready(value), indent=2)`` does.

    Several times as fast, which for very many groups matters.

    Examples
    --------
    >>> print(json_text({"threshold": float("-inf"), "n": [1, None]}))
    {
      "threshold": "-inf",
      "n": [
        1,
        null
      ]
    }
    """
    from json import dumps
    from json.encoder import encode_basestring_ascii as quoted

    def written(value: Any, line: str) -> str:  # noqa: ANN401
        if type(value) is str:
            return quoted(value)
        if type(value) is int or (type(value) is float and abs(value) < float("inf")):
            return repr(value)
        inner = f"{line}  "
        if isinstance(value, dict) and value:
            names = (key if isinstance(key, str) else str(json_ready(key)) for key in value)
            items = (
                f"{inner}{quoted(name)}: {written(item, inner)}"
                for name, item in zip(names, value.values(), strict=True)
            )
            return f"{{{','.join(items)}{line}}}"
        if isinstance(value, list | tuple) and value:
            return f"[{','.join(inner + written(item, inner) for item in value)}{line}]"
        ready = json_ready(value)
        return written(ready, line) if isinstance(ready, list) and ready else dumps(ready)

    return written(value, "\n")
