"""Names, texts, numbers and comparisons in the dialect of a database."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ratekeeper._wording._formatting import escape_controls, format_value
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.sql._dialects import dialect_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ratekeeper.sql._dialects import Dialect

LARGEST = 1.7976931348623157e308  # the largest finite double
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r'"(?:[^"]|"")+"')
_BACKQUOTED = re.compile(r"`[^`]+`")
_PARTS = {  # of a dotted name, by the quote
    '"': re.compile(r'"(?:[^"]|"")+"|[^.]+'),
    "`": re.compile(r'"(?:[^"]|"")+"|`[^`]+`|[^.]+'),
}
_WIDTH = 79
_INFINITY = float("inf")

# SQLite misreads literals below 1e-290 in their last bit, so tiny thresholds are written as a
# double of ordinary size times this power of two. Its 25 digits keep engines exact that multiply
# decimals.
_TINY = 1e-250
_SCALE = 2.0**-600
_SCALE_TEXT = "2.409919865102884117740750E-181"
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

# Words that some database does not take as a bare name.
_RESERVED = frozenset(
    """
    abort account action add after all alter always analyse analyze and any array as asc asymmetric
    attach authorization autoincrement before begin between binary both by cascade case cast check
    collate collation column commit concurrently conflict connection constraint create cross cube
    current current_date current_role current_time current_timestamp current_user database date day
    default deferrable deferred delete desc describe detach distinct div do drop each else end
    escape except exclude exclusive exists explain fail false fetch filter first following for
    foreign freeze from full function generated glob grant group grouping groups gscluster having
    if ignore ilike immediate in increment index indexed initially inner insert instead integer
    intersect interval into is isnull issue join key lambda last lateral leading left level like
    limit localtime localtimestamp match materialized minus mod mode natural new no not nothing
    notnull null nulls number of off offset old on only open option or order organization others
    outer over overlaps parallel partition percent permissions pivot pivot_longer pivot_wider
    placing plan position pragma preceding primary procedure public qualify query raise range rank
    raw recursive references regexp reindex release rename replace resort respect restore restrict
    returning right rlike rollback row rownum rows sample savepoint schema select semi session_user
    set show similar size snapshot some start summarize symmetric sysdate system table tablesample
    tag temp temporary then ties time timestamp to top trailing transaction trigger true
    truncatecolumns try_cast type unbounded union unique unpivot update user using vacuum value
    values variadic verbose view virtual wallet when whenever where window with without year
    """.split()  # noqa: SIM905 - a list of words reads best as words
)


@dataclass(frozen=True)
class Writer:
    """Writes in a dialect.

    Examples
    --------
    >>> Writer.of("spark").table("sales.2024")
    '`sales`.`2024`'
    >>> Writer.of("postgres").compare("t.s", ">=", 0.1)
    "t.s >= CAST('1.0000000000000001E-01' AS DOUBLE PRECISION)"
    """

    dialect: Dialect

    @staticmethod
    def of(name: str) -> Writer:
        """Write in the dialect of this name."""
        return Writer(dialect_of(name))

    def table(self, table: object) -> str:
        """Write the name of a table, perhaps a dotted one."""
        parts = _parts(table, self.dialect.quote)
        return ".".join(self.name(part, "table") for part in parts)

    def column(self, name: object, what: str) -> str:
        """Write a column of the table that queries call t."""
        return f"t.{self.name(name, what)}"

    def name(self, name: object, what: str) -> str:
        """Write the name of a table or column, in quotes where that is needed."""
        if not isinstance(name, str) or not name:
            raise InputError(parameter=what, value=name, need="a name")
        text = _checked(name, what)
        if _QUOTED.fullmatch(text):
            return self._quoted(text[1:-1].replace('""', '"'))
        if self.dialect.quote == "`" and _BACKQUOTED.fullmatch(text):
            return text
        if self.dialect.bare and _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
            return text
        return self._quoted(text)

    def _quoted(self, text: str) -> str:
        quote = self.dialect.quote
        if self.dialect.variables and "${" in text:
            raise InputError(
                f"The name {format_value(text)} holds what {self.dialect.title} takes for a "
                "variable.",
                value=text,
                remedy="Make a view in which the column or table has another name.",
            )
        if self.dialect.names_escape == "backslash":
            return quote + _escaped(text, quote) + quote
        return quote + text.replace(quote, 2 * quote) + quote

    def double(self, value: float) -> str:
        """Write a finite double so that it is read back as the same.

        Examples
        --------
        >>> Writer.of("sqlite").double(0.1), Writer.of("standard").double(5e-324)
        ('1.0000000000000001E-01', '2.0501...E-143 * 2.409919865102884117740750E-181')
        """
        if self.dialect.tiny and 0.0 < abs(value) < _TINY:
            return f"{_digits(value / _SCALE)} * {_SCALE_TEXT}"
        return self.dialect.literal.format(_digits(value))

    def literal(self, value: object, what: str) -> str:
        """Write a label or a group by its type."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            if abs(value) < _INFINITY:
                return self.double(value)
            raise _unwritable(what, value, "cannot be written in SQL", "Use other labels.")
        text, how = _checked(str(value), what), self.dialect.texts_escape
        if how == "backslash":
            return f"'{_escaped(text, chr(39))}'"
        if how == "none" and "\\" in text:
            raise InputError(
                f"The {what} {format_value(text)} has a backslash, which some databases take as it "
                "stands and some as an escape: no text is right in both.",
                value=text,
                remedy=(
                    "Name the database by ",
                    Parameter("dialect"),
                    ", or rename it and calibrate anew.",
                ),
            )
        if how == "both":
            text = text.replace("\\", "\\\\")
        return "'" + text.replace("'", "''") + "'"

    def number(self, column: str) -> str:
        """Write a column as a double."""
        return self.dialect.number.format(column)

    def compared(self, column: str) -> str:
        """Write a column for comparisons with doubles."""
        return self.dialect.compared.format(column)

    def is_valid(self, column: str) -> str:
        """Write that a score is one: not missing, not NaN, and finite where it must be.

        Some databases put NaN above all numbers, others compare it with nothing. Neither says that
        NaN is at most the largest double, nor that its negative is below the lowest.
        """
        if not self.dialect.infinite:  # the plus, since SQLite compares text as text
            return f"+{column} BETWEEN {self.double(-LARGEST)} AND {self.double(LARGEST)}"
        number = self.number(column)
        return f"{number} <= {self.double(LARGEST)} OR {self.is_top(number)}"

    def is_top(self, number: str) -> str:
        """Write that a double is infinite and positive; NaN is not."""
        return f"-{number} < {self.double(-LARGEST)}"

    def compare(self, score: str, sign: str, value: float) -> str:
        """Write a comparison of a valid score with any double.

        Parameters
        ----------
        score : str
            What `compared` has written, or another expression.
        sign : {"<", "<=", ">", ">="}
        value : float
        """
        if abs(value) < _INFINITY:
            return f"{score} {sign} {self.double(value)}"
        strict, above = "=" not in sign, sign[0] == ">"
        if not self.dialect.infinite:  # then every score is on the same side
            return "1 = 1" if (value < 0) == above else "1 = 0"
        if strict != ((value < 0) == above):  # nothing lies beyond, and all lies on this side
            return "1 = 0" if strict else "1 = 1"
        if value < 0:
            sign = ">=" if above else "<"
            return f"{score} {sign} {self.double(-LARGEST)}"
        return f"-{score} {'<' if above else '>='} {self.double(-LARGEST)}"

    def tree(self, score: str, sign: str, edges: Sequence[float], leaves: Sequence[str]) -> str:
        """Write a choice among leaves by bisection: the first if a score is before all edges.

        Parameters
        ----------
        score : str
        sign : {"<", "<="}
            When a score is before an edge.
        edges : sequence of float
            Ascending.
        leaves : sequence of str
            Expressions, one more than there are edges.
        """
        if not edges:
            return leaves[0]
        middle = len(edges) // 2
        before = self.tree(score, sign, edges[:middle], leaves[: middle + 1])
        after = self.tree(score, sign, edges[middle + 1 :], leaves[middle + 1 :])
        condition = self.compare(score, sign, edges[middle])
        return f"CASE WHEN {condition} THEN {before}\nELSE {after} END"


def _digits(value: float) -> str:
    """Write a double with an exponent, and as many digits as it takes up to 17.

    Examples
    --------
    >>> _digits(0.1), _digits(8192.0)
    ('1.0000000000000001E-01', '8.192E+03')
    """
    mantissa, exponent = f"{value:.16E}".split("E")
    mantissa = mantissa.rstrip("0")
    return f"{mantissa}{'0' if mantissa[-1] == '.' else ''}E{exponent}"


def comment(sentence: str) -> list[str]:
    """Wrap a sentence into comment lines, which no character in a name can end."""
    return textwrap.wrap(
        escape_controls(sentence), _WIDTH, initial_indent="-- ", subsequent_indent="--   "
    )


def _escaped(text: str, quote: str) -> str:
    """Write a text with backslashes before what would end it or mean something else.

    A dollar is written by its number: Spark takes one and a brace for a variable.
    """
    text = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text.replace("$", "\\u0024")


def _parts(table: object, quote: str = '"') -> list[str]:
    """Split a dotted name, but not within quotes.

    Examples
    --------
    >>> _parts('sales."2024.q1"')
    ['sales', '"2024.q1"']
    """
    if not isinstance(table, str) or not table:
        need = "a name, such as people or sales.people"
        raise InputError(parameter="table", value=table, need=need)
    parts: list[str] = _PARTS[quote].findall(table)
    if ".".join(parts) != table:
        raise InputError(
            (Parameter("table", table), " has an empty part."),
            parameter="table",
            value=table,
            remedy="Write table, schema.table, or the whole name in double quotes if a dot belongs "
            'to it: "my.table".',
        )
    return parts


def _checked(text: str, what: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        pass
    else:
        if "\0" not in text:
            return text
    raise _unwritable(what, ascii(text)[1:-1], "has a character that SQL cannot hold", "Rename it.")


def _unwritable(what: str, value: Any, why: str, remedy: str) -> InputError:  # noqa: ANN401
    return InputError(f"The {what} {format_value(value)} {why}.", value=value, remedy=remedy)
