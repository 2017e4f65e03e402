"""CSV and TSV files: bytes that are spoiled, and rows written in all sorts of ways."""

from __future__ import annotations

import csv
import gzip
import io

from fuzzing import TOKENS, spoiled, target
from hypothesis import strategies as st
from table_readers import COLUMNS, read_everywhere

ROWS = [
    [f"{i / 7:.3f}", "yes" if i % 2 else "no", "ab"[i // 2 % 2], f"note {i}"] for i in range(40)
]


def written(rows, mark=",", end="\n", quoting=csv.QUOTE_MINIMAL, encoding="utf-8"):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=mark, lineterminator=end, quoting=quoting)
    writer.writerows(rows)
    return text.getvalue().encode(encoding, "replace")


GOOD = [
    written([COLUMNS, *ROWS]),
    written([COLUMNS, *ROWS], end="\r\n", encoding="utf-8-sig"),
    written([COLUMNS, *ROWS], mark="\t", end="\r"),
    written([COLUMNS, *[[row[0].replace(".", ","), *row[1:]] for row in ROWS]], mark=";"),
    written([COLUMNS, *[[*row[:3], 'a, "b"\nc ä\U0001f600'] for row in ROWS]]),
    written([COLUMNS, *ROWS], quoting=csv.QUOTE_ALL),
]
MARKS = (b";", b"\t", b'""', b'"a\n', b"\r\n\r\n", b",,,,", b"\xff\xfe", b"\x1f\x8b", b"PAR1")
TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "0",
            "1",
            "-0",
            "1.5",
            "0,5",
            "1e999",
            "nan",
            "inf",
            "NA",
            "no",
            "yes",
            "True",
            "01",
            "1.0",
            "1_000",
            "5%",
            "2024-01-01",
            " a ",
            "a",
            "b",
            "x" * 257,
            "9" * 400,
            "٣",
            "\ufeff",
        ]
    ),
    st.text(max_size=5),
)
HEADERS = st.one_of(
    st.just(list(COLUMNS)),
    st.lists(st.one_of(st.sampled_from([*COLUMNS, "", "p0", " risk"]), TEXTS), max_size=6),
)


@target(
    spoiled(GOOD, (*TOKENS, *MARKS)),
    st.sampled_from(("csv", "tsv", "csv.gz", "dat")),
    st.integers(0, 8),
    examples=110,
)
def test_spoiled_text(data, suffix, choice):
    """Text with bytes cut, repeated or replaced is read or refused."""
    data = gzip.compress(data, 1) if suffix.endswith("gz") else data
    read_everywhere(data, suffix, choice)


@target(spoiled([gzip.compress(data) for data in GOOD]), st.integers(0, 8), examples=50)
def test_spoiled_gzip(data, choice):
    """Gzip that is damaged is read or refused."""
    read_everywhere(data, "csv.gz", choice)


@target(
    HEADERS,
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS), max_size=12),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin1", "cp1252", "utf-8"]),
    st.sampled_from(["csv", "parquet", "arrow"]),
    st.integers(0, 8),
    examples=110,
)
def test_odd_rows(header, rows, mark, end, quoting, encoding, to, choice):
    """Rows of odd values, in any dialect and encoding, are read or refused."""
    rows = [[header, *[list(row[: len(header)]) for row in rows]], [header, *ROWS, *rows]]
    data = written(rows[choice % 2], mark, end, quoting, encoding)
    read_everywhere(data, "csv", choice, to)
