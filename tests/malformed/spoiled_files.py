"""Files that are no whole table, or not in the way they seem."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import random
import sqlite3
import zipfile

from case import JUDGING, ROW_COMMANDS, bytes_case, on_file
from good_rows import HEADER, N, columns, lines, text, typed, with_line


def _zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xl/workbook.xml", text())
    return buffer.getvalue()


def _database():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table rows (risk real, ill text)")
    return connection.serialize()


def _repeated(tail):
    """Return more than a megabyte of good rows, and then something else."""
    rows = "\n".join(lines()[1:])
    return "\n".join([HEADER, *[rows] * 300, ""]).encode() + tail


def _text_files():
    """Yield name, bytes, words, suffix of text files that every command must refuse."""
    good = text()
    latin = with_line(60, "é,1,no,x,ä").encode("latin1")
    yield "latin1", latin, ["line 61", "0xe9", "UTF-8"], "csv"
    latin = good.replace("id", "größe").encode("latin1")
    yield "latin1 header", latin, ["line 1", "UTF-8"], "csv"
    yield "cp1252 quotes", with_line(1, "“a”,1,no,x,y").encode("cp1252"), ["line 2", "0x93"], "csv"
    yield "cp1252 last", with_line(N, "1,1,no,x,€").encode("cp1252"), ["line 121", "0x80"], "csv"
    for code in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        yield code, good.encode(code), ["not UTF-8", "iconv"], "csv"
    yield "bytes after a megabyte", _repeated(b"1,1,no,x,\xff\n"), ["line 36,002", "0xff"], "csv"
    half = good.encode() + "1,1,no,x,é".encode()[:-1]
    yield "half a character", half, ["line 122", "0xc3"], "csv"
    yield "bytes before the header", b"\x80\x81" + good.encode(), ["line 1", "0x80"], "csv"
    for where, row in (("first", 1), ("middle", 60), ("last", N)):
        words = [f"row {row}", "6 values", "header has 5"]
        yield f"long row, {where}", with_line(row, "1,1,no,x,y,z").encode(), words, "csv"
        words = [f"row {row}", "3 values", "header has 5"]
        yield f"short row, {where}", with_line(row, "1,1,no").encode(), words, "csv"
    yield "ragged after a megabyte", _repeated(b"1,1,no\n"), ["row 36,001: 3 values"], "csv"
    yield "empty", b"", ["is empty"], "csv"
    yield "only lines", b"\n\n\n", ["is empty"], "csv"
    yield "only a mark", b"\xef\xbb\xbf", ["is empty"], "csv"
    yield "only spaces", b"   \n", ["is empty"], "csv"
    for row in (1, 60, N):
        yield f"empty line {row}", with_line(row, "\n1,1,no,x,y").encode(), [f"row {row}"], "csv"
    doubled = text().replace("note", "risk", 1).encode()
    yield "twice the score", doubled, ["'risk' twice", "Rename"], "csv"
    yield "twice another", text().replace("note", "id", 1).encode(), ["'id' twice"], "csv"
    nameless = good.replace("note", "", 1).replace("id", "", 1).encode()
    yield "nameless twice", nameless, ["''"], "csv"
    yield "open quote", with_line(60, '"1,1,no,x,y').encode(), ["row 60", "quote"], "csv"
    yield "open quote in header", b'"' + good.encode(), ["header", "quote"], "csv"
    yield "open quote at the end", with_line(N, '1,1,no,x,"y').encode(), ["row 120"], "csv"
    yield "stray quote", with_line(5, '"1"1,1,no,x,y').encode(), ["row 5", "quote"], "csv"
    yield "zero byte", with_line(60, "1,1,no,x,\0").encode(), ["zero bytes"], "csv"
    yield "zero byte in header", text().replace("note", "no\0te").encode(), ["zero bytes"], "csv"
    yield "zero bytes", b"\0" * 5_000, ["zero bytes"], "csv"


def _other_files():
    """Yield files of other kinds."""
    good = text().encode()
    packed = gzip.compress(good)
    yield "short gzip", packed[: len(packed) // 2], ["cannot be read"], "csv.gz"
    yield "short gzip by name", packed[:-3], ["cannot be read"], "csv"
    yield "wrong sum in gzip", packed[:-8] + b"12345678", ["cannot be read"], "csv.gz"
    yield "damaged gzip", packed[:200] + b"\0\0\0\0" + packed[204:], ["spoiled"], "csv.gz"
    yield "gzip and junk", packed + b"junk", ["cannot be read"], "csv.gz"
    yield "gzip of nothing", gzip.compress(b""), ["is empty"], "csv.gz"
    yield "gzip of zeros", gzip.compress(b"\0" * 9_000), ["zero bytes"], "csv.gz"
    yield "zip", _zipped(), ["zip or Excel", "CSV"], "csv"
    yield "Excel", _zipped(), ["zip or Excel", "CSV"], "xlsx"
    yield "xz", lzma.compress(good), ["an xz file"], "csv.xz"
    yield "bzip2", bz2.compress(good), ["a bzip2 file"], "csv"
    yield "zstd", b"\x28\xb5\x2f\xfd" + good, ["a zstd file"], "csv.zst"
    yield "SQLite", _database(), ["an SQLite file"], "csv"
    yield "pickle", pickle.dumps(columns()), ["not UTF-8"], "csv"
    yield "png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ["not UTF-8"], "csv"
    yield "text as Parquet", good, ["cannot be read", "whole"], "parquet"
    yield "text as Feather", good, ["cannot be read", "whole"], "feather"
    yield "text that begins as Arrow", b"\xff\xff\xff\xff" + good, ["cannot be read"], "csv"
    yield "text that begins as Parquet", b"PAR1" + good, ["cannot be read"], "csv"
    yield "text that begins as gzip", b"\x1f\x8b\x08" + good, ["spoiled"], "csv"
    yield "empty Parquet file", b"", ["cannot be read"], "parquet"
    yield "empty Arrow file", b"", ["cannot be read"], "arrow"
    yield "packed Parquet", gzip.compress(typed()), ["cannot be read"], "parquet.gz"
    whole = typed()
    for share in (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        cut = whole[: int(share * len(whole))]
        yield f"{share:.0%} of Parquet", cut, ["cannot be read"], "parquet"
    yield "Parquet without its last byte", whole[:-1], ["cannot be read"], "parquet"
    whole = typed("feather")
    for share in (0.02, 0.5, 0.95):
        cut = whole[: int(share * len(whole))]
        yield f"{share:.0%} of Feather", cut, ["cannot be read"], "feather"


def _flipped():
    """Yield damaged typed files; some damage cannot be seen, but none may crash."""
    for form in ("parquet", "feather"):
        data, dice = typed(form), random.Random(3)  # noqa: S311 - no secrets
        for _ in range(12):
            spoiled, place = bytearray(data), dice.randrange(8, len(data))
            spoiled[place] ^= 1 << dice.randrange(8)
            yield f"{form} damaged at {place}", bytes(spoiled), form


def cases():
    for name, data, words, suffix in (*_text_files(), *_other_files()):
        for command in ROW_COMMANDS:
            yield bytes_case(command, name, data, suffix, words=words)
    for name, data, form in _flipped():
        for command in JUDGING[:2]:
            yield bytes_case(command, name, data, form, code=(0, 2))
    yield from _places()
    yield from _fine()


def _places():
    """Yield paths where no file of rows is."""

    def unlike(folder):
        (folder / "parts").mkdir()
        (folder / "parts" / "a.csv").write_text(text())
        (folder / "parts" / "b.csv").write_text("risk,ill\n1,no\n")

    for command in ROW_COMMANDS:
        yield on_file(command, "nowhere.csv", "no such file", words=["There is no file"])
        yield on_file(command, "no/where.parquet", "no such folder", words=["There is no file"])
        yield on_file(
            command,
            "empty",
            "empty folder",
            words=["holds no CSV", "Name a file"],
            spoil=lambda folder: (folder / "empty").mkdir(),
        )
        yield on_file(command, "parts", "unlike parts", words=["b.csv has the col"], spoil=unlike)


def _fine():
    """Yield files that only look odd: they must work."""
    good, data = text(), text().encode()
    for name, content, suffix in (
        ("byte order mark", b"\xef\xbb\xbf" + data, "csv"),
        ("Windows lines", text(end="\r\n").encode(), "csv"),
        ("old Mac lines", text(end="\r").encode(), "csv"),
        ("no last line end", good.rstrip("\n").encode(), "csv"),
        ("empty lines at the end", data + b"\n\r\n\n", "csv"),
        ("gzip", gzip.compress(data), "csv.gz"),
        ("gzip by another name", gzip.compress(data), "csv"),
        ("two gzips in a row", b"".join(map(gzip.compress, [data[:700], data[700:]])), "csv"),
        ("semicolons", good.replace(",", ";").encode(), "csv"),
        ("tabs", good.replace(",", "\t").encode(), "csv"),
        ("no suffix", data, "dat"),
        ("Parquet as CSV", typed(), "csv"),
        ("Feather as CSV", typed("feather"), "csv"),
        ("very long value", with_line(7, f"1,1,no,north,{'x' * 300_000}").encode(), "csv"),
        ("large numbers", with_line(7, f"1,{2**70},yes,north,x").encode(), "csv"),
        ("a number of 300 digits", with_line(7, f"1,1{'0' * 300},yes,north,x").encode(), "csv"),
        ("infinity", with_line(8, "1,-inf,no,north,x").encode(), "csv"),
        ("quoted line ends", with_line(7, '1,1,no,north,"a\n\nb"').encode(), "csv"),
    ):
        for command in JUDGING[:3]:
            yield bytes_case(command, name, content, suffix, code=0)
