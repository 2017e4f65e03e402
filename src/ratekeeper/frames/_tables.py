"""A frame of whatever library, its columns and what a query returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ratekeeper._reading._parameters import check_columns, column_names, refuse_repeated_columns
from ratekeeper._system._progress import track
from ratekeeper._wording._formatting import format_value
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from typing import TypeAlias

    import narwhals as nw

    Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]

_FRAMES = "a pandas, polars, pyarrow, DuckDB, ibis, Dask or Spark frame"


def open_frame(frame: object, **roles: str | None) -> Frame:
    """Return a frame as narwhals sees it; raise unless it is one and has the columns.

    Parameters
    ----------
    frame : object
        Of any library that narwhals knows.
    **roles : str or None
        Names of columns by parameter. None is a column that is not needed.

    Examples
    --------
    >>> import pandas
    >>> open_frame(pandas.DataFrame({"risk": [0.1, 0.7]}), score="risk").columns
    ['risk']
    """
    import narwhals as nw

    if not hasattr(nw.Expr, "floor"):  # of which buckets are made
        raise InputError(
            f"narwhals {nw.__version__} is too old for frames.",
            parameter="frame",
            remedy="Install a newer one: pip install --upgrade narwhals.",
        )
    refuse_repeated_columns(column_names(frame), "frame")
    opened = nw.from_native(frame, pass_through=True)
    if not isinstance(opened, nw.DataFrame | nw.LazyFrame):
        raise InputError(
            f"A {type(frame).__name__} is no frame that can be asked.",
            parameter="frame",
            need=_FRAMES,
            remedy="Pass a frame and the names of its columns; arrays go to calibrate, decide and "
            "evaluate.",
        )
    columns = opened.collect_schema().names()
    for role, name in roles.items():
        if name is not None and not isinstance(name, str):
            raise InputError(parameter=role, value=name, need="the name of a column")
    check_columns("The frame", columns, roles)
    return opened


def scores_of(frame: Frame, column: str) -> tuple[nw.Expr, nw.Expr]:
    """Return the scores as they are kept, and as doubles, by which they are compared.

    float32 and float64 keep their type; other numbers become float64.
    """
    import narwhals as nw

    dtype = frame.collect_schema()[column]
    if not dtype.is_numeric():
        raise InputError(
            (Parameter("score", column), f" is {dtype}, but real numbers are needed."),
            parameter="score",
            value=column,
            need="a column of numbers",
            remedy="Cast it to a floating-point type, or check whether columns were swapped.",
        )
    # Also in comparisons: some libraries would round a threshold to the type of the column.
    doubles = nw.col(column).cast(nw.Float64())
    return (nw.col(column) if dtype in (nw.Float32, nw.Float64) else doubles), doubles


def is_whole(frame: Frame, column: str) -> bool:
    """Say whether a column holds whole numbers, the largest of which doubles do not."""
    return frame.collect_schema()[column].is_integer()


def fetch(query: Frame, title: str) -> nw.DataFrame[Any]:
    """Return what a query finds, with a bar for what takes long."""
    import narwhals as nw

    if isinstance(query, nw.DataFrame):
        return query
    (found,) = (_collected(one) for one in track([query], title))
    return found


def _collected(query: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    # polars holds whole columns unless it is told not to.
    options: Any = {"engine": "streaming"} if query.implementation.is_polars() else {}
    try:
        return query.collect(**options)
    except ModuleNotFoundError as error:
        raise InputError(
            f"Results of this frame come as Arrow tables, and {error.name} is not installed.",
            parameter="frame",
            remedy="Run pip install pyarrow.",
        ) from error


def n_rows(frame: Frame) -> int:
    """Return the number of rows."""
    import narwhals as nw

    if isinstance(frame, nw.DataFrame):
        return len(frame)
    return int(fetch(frame.select(nw.len().alias("n")), "Counting rows")["n"][0])


def first_rows(frame: Frame, n: int) -> nw.DataFrame[Any]:
    """Return about so many of the first rows, in whatever order they come."""
    import narwhals as nw

    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_dask():
        # Its head would read every partition.
        frame = nw.from_native(frame.to_native().get_partition(0))
    return fetch(frame.head(n), "Looking at scores")


def missing_error(role: str, column: str, missing: int, rows: int) -> InputError:
    """Return the error about rows in which a column has no value."""
    what = "missing or NaN" if role == "score" else "missing"
    need = "a number in every row" if role == "score" else "a value in every row"
    remedy = "Drop these rows or fill them in."
    if role == "score":
        remedy = (
            "A score that does not exist cannot be ranked: drop these rows, or give them a score."
        )
    return InputError(
        (Parameter(role, column), f" is {what} in {missing:,} of {rows:,} rows."),
        parameter=role,
        value=column,
        need=need,
        remedy=remedy,
    )


def is_missing(value: object) -> bool:
    """Say whether a value of a column is none: None, NaN, or what pandas has for both.

    Examples
    --------
    >>> is_missing(float("nan")), is_missing("nan")
    (True, False)
    """
    is_nan = isinstance(value, float) and value != value  # noqa: PLR0124 - NaN is not itself
    return is_nan or value is None or type(value).__name__ in ("NAType", "NaTType")


def place_of(column: str) -> str:
    """Return where an error was found.

    Examples
    --------
    >>> place_of("risk")
    "column 'risk'"
    """
    return f"column {format_value(column)}"
