"""How databases differ: a line of data for each, and no code.

Queries are plain SELECT, CASE, CAST and GROUP BY. What is left are quotes, the names of types, how
a double is written so that it is read back to the last bit, and how it is printed likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ratekeeper._reading._parameters import check_choice


@dataclass(frozen=True)
class Dialect:
    """What a database calls things. A pair of braces is the place of an expression.

    Attributes
    ----------
    title : str
        Its name, as people write it.
    quote : str
        What stands around names.
    names_escape, texts_escape : {"double", "backslash", "both", "none"}
        How a quote within a name or a text is written: twice, or after a backslash. "both": quotes
        are doubled, and a backslash has to be, too. "none": a backslash means different things to
        different databases, so a text with one is refused.
    variables : bool
        Whether ``${...}`` is replaced before a query is read, also within quotes.
    bare : bool
        Whether plain names stay without quotes, so that the database folds their case as usual.
    double, integer : str
        Types of scores and of counts.
    literal : str
        How a double is written, from its 17 digits.
    tiny : bool
        Whether literals below 1e-250 are written as a product, since they are misread.
    number : str
        A column as a double, or NULL where it holds something else.
    compared : str
        The column in a comparison with a double.
    floor : str
        A double that is not negative, rounded down to an integer.
    exact : str
        A double such that no digit is lost in a file of text.
    label : str
        A label, such that true and false are written so.
    infinite : bool
        Whether infinite scores are decided on.
    steps : {"tree", "array"}
        How a table of steps is looked up: by nested CASE, or with PostgreSQL's width_bucket.
    note, finer_note : str
        What is to be said about it in a comment, and in that of a query that counts again.
    """

    title: str
    quote: str = '"'
    names_escape: Literal["double", "backslash"] = "double"
    texts_escape: Literal["double", "backslash", "both", "none"] = "double"
    variables: bool = False
    bare: bool = True
    double: str = "DOUBLE PRECISION"
    integer: str = "BIGINT"
    literal: str = "CAST('{}' AS DOUBLE PRECISION)"
    tiny: bool = False
    number: str = "CAST({} AS DOUBLE PRECISION)"
    compared: str = "{}"
    floor: str = "CAST(FLOOR({}) AS BIGINT)"
    exact: str = "{}"
    label: str = "{}"
    infinite: bool = True
    steps: Literal["tree", "array"] = "tree"
    note: str = ""
    finer_note: str = ""


_SPARK = Dialect(
    title="Spark",
    quote="`",
    texts_escape="backslash",
    variables=True,
    bare=False,
    double="DOUBLE",
    literal="{}D",
    number="CAST({} AS DOUBLE)",
)

DIALECTS: dict[str, Dialect] = {
    "standard": Dialect(
        title="SQL as the standard has it",
        texts_escape="none",
        literal="{}",
        tiny=True,
        number="CASE WHEN +{0} BETWEEN -1.7976931348623157E+308 AND 1.7976931348623157E+308 "
        "THEN CAST({0} AS DOUBLE PRECISION) END",
        infinite=False,
        note="NaN, infinite scores and text count as missing, unless the database is named.",
    ),
    "postgres": Dialect(
        title="PostgreSQL 12 or newer",
        label="CAST({} AS TEXT)",
        steps="array",
        finer_note="SET jit = off; before it saves the seconds that compiling would take.",
    ),
    "duckdb": Dialect(title="DuckDB", double="DOUBLE", literal="{}", number="CAST({} AS DOUBLE)"),
    "sqlite": Dialect(
        title="SQLite 3.25 or newer",
        double="REAL",
        integer="INTEGER",
        literal="{}",
        tiny=True,
        number="CASE WHEN typeof({0}) IN ('integer', 'real') THEN CAST({0} AS REAL) END",
        compared="CAST({} AS REAL)",
        floor="CAST({} AS INTEGER)",  # which cuts off, and FLOOR is not in every build
        exact="CASE WHEN {0} IS NOT NULL THEN printf('%!.20e', {0}) END",
        note="Scores that are text count as missing.",
    ),
    "bigquery": Dialect(
        title="BigQuery",
        quote="`",
        names_escape="backslash",
        texts_escape="backslash",
        bare=False,
        double="FLOAT64",
        integer="INT64",
        literal="{}",
        number="CAST({} AS FLOAT64)",
        floor="CAST(FLOOR({}) AS INT64)",
        exact="FORMAT('%.17g', {})",
    ),
    "snowflake": Dialect(
        title="Snowflake",
        texts_escape="both",
        double="DOUBLE",
        literal="CAST('{}' AS DOUBLE)",
        number="CAST({} AS DOUBLE)",
        note="Take the result as Parquet, or by a driver: Snowflake writes fewer digits into text.",
    ),
    "redshift": Dialect(
        title="Redshift",
        texts_escape="none",
        note="Before: SET extra_float_digits TO 2; or numbers are written with 15 digits.",
    ),
    "spark": _SPARK,
    "databricks": Dialect(**{**vars(_SPARK), "title": "Databricks"}),
}
"""Every database that queries are written for, by the name of its option."""


def dialect_of(name: str) -> Dialect:
    """Return the dialect of this name.

    Examples
    --------
    >>> dialect_of("bigquery").quote
    '`'
    """
    return DIALECTS[check_choice(name, "dialect", tuple(DIALECTS))]
