"""A small good table, as text and typed, and ways to spoil it."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

N = 120
HEADER = "id,risk,ill,site,note"


def columns():
    rng = np.random.default_rng(1)
    ill = np.arange(N) % 2
    return {
        "id": [f"{i:03}" for i in range(N)],
        "risk": np.round(rng.normal(2.0 * ill), 3).tolist(),
        "ill": ["yes" if i else "no" for i in ill],
        "site": ["south" if i % 3 else "north" for i in range(N)],
        "note": ["some words"] * N,
    }


def lines(**changes):
    """Return the lines of the table; ``risk={5: "x"}`` writes x into the sixth row."""
    data = columns()
    for name, new in changes.items():
        for row, value in new.items():
            data[name][row] = value
    rows = [",".join(map(str, row)) for row in zip(*data.values(), strict=True)]
    return [HEADER, *rows]


def text(*, end="\n", **changes):
    return end.join(lines(**changes)) + end


# Of the calibration: the objects of the good table are others.
EARLIER = text(risk={i: round(risk - 4e-4, 4) for i, risk in enumerate(columns()["risk"])})


def with_line(place, line):
    """Return the text with a line in the place of row `place`, counted from 1."""
    found = lines()
    found[place] = line
    return "\n".join(found) + "\n"


def typed(form="parquet", **changes):
    """Return the table as bytes of a typed format; ``risk=values`` replaces a column."""
    table = pa.table({**columns(), **changes})
    buffer = io.BytesIO()
    if form == "parquet":
        pa.parquet.write_table(table, buffer)
    else:
        pa.feather.write_feather(table, buffer)
    return buffer.getvalue()
