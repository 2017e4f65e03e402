"""One row of each cluster, drawn where the rows are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.frames._tables import fetch, missing_error, n_rows

if TYPE_CHECKING:
    from ratekeeper.frames._count import Columns
    from ratekeeper.frames._tables import Frame


def one_row_of_each(frame: Frame, columns: Columns, cluster: str | None, draw: str | None) -> Frame:
    """Return the row of each cluster, in each class and group, that has the least draw.

    Notes
    -----
    **Guarantee.** If draws have nothing to do with scores and tell the rows of a cluster apart,
    which is checked, each row of a cluster is the one with the same chance: rows of the result are
    those of different clusters, and promises are about one random row of a new cluster.

    Examples
    --------
    >>> import pandas
    >>> from ratekeeper.frames._count import Columns
    >>> from ratekeeper.frames._tables import open_frame
    >>> columns = {"s": [0.1, 0.2, 0.3], "who": ["a", "a", "b"], "id": [7, 3, 5]}
    >>> frame = open_frame(pandas.DataFrame(columns))
    >>> one_row_of_each(frame, Columns("s"), "who", "id")["s"].to_list()
    [0.2, 0.3]
    """
    import narwhals as nw

    if cluster is None or draw is None:
        given, lacking = ("draw", "cluster") if cluster is None else ("cluster", "draw")
        raise InputError(
            (Parameter(given), " needs ", Parameter(lacking), " where scores are counted."),
            parameter=lacking,
            remedy="Name a column that tells rows apart and has nothing to do with the score, such "
            "as a random number, by which one row of each cluster is drawn.",
        )
    rows = n_rows(frame)
    for role, name in (("cluster", cluster), ("draw", draw)):
        missing = fetch(frame.filter(nw.col(name).is_null()).select(nw.len().alias("n")), "Looking")
        if missing["n"][0]:
            raise missing_error(role, name, int(missing["n"][0]), rows)
    keys = [cluster, *columns.keys.values()]
    drawn = frame.filter(nw.col(draw) == nw.col(draw).min().over(*keys))
    if n_rows(drawn) != n_rows(frame.select(*keys).unique()):
        raise InputError(
            (Parameter("draw", draw), " has the same value in several rows of a cluster."),
            parameter="draw",
            value=draw,
            need="a value that tells the rows of a cluster apart",
            remedy="Add a column of random numbers or of row ids.",
        )
    return drawn
