"""Tables made to do harm: long cells, endless lines, packed repetitions, odd types and names."""

from __future__ import annotations

import gzip
import struct
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from arrow_columns import BITS, N, arrow_columns
from command_line import run

import ratekeeper as rk
from ratekeeper.comparison._table_file import encode, read_table
from ratekeeper.control._evaluation import Tally
from ratekeeper.exceptions import InputError
from ratekeeper.files import calibrate_file, classify_file, evaluate_file, read_columns

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
from fuzzing import bounded

LONG = "L" * 100_000
COLUMNS = ("risk", "ill", "site", "note")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with two tests: test.rk, and by_site.rk with groups."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    labels = np.repeat(["no", "yes"], 200)
    scores, groups = rng.normal(2.0 * (labels == "yes")), np.tile(["north", "south"], 200)
    names = {"score": "risk", "label": "ill"}
    path = tmp_path / "earlier.csv"
    rows = zip(scores.tolist(), labels, groups, strict=True)
    path.write_text("risk,ill,site\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    for file, group in (("test.rk", None), ("by_site.rk", "site")):
        rk.save(calibrate_file(path, **names, group=group).control("fnr", 0.2), tmp_path / file)
    return tmp_path


def commands(file, out="out.csv"):
    """Return all commands that read a table."""
    columns = ["--score", "risk", "--label", "ill"]
    compare = ["compare", file, "--label", "ill", "--control", "fnr", "--alpha", "0.2"]
    compare += ["--systems", "plain", "--repeats", "1", "--jobs", "1"]
    return [
        ["calibrate", file, *columns, "-o", "out.rk"],
        ["calibrate", file, *columns, "--group", "site", "--on-invalid", "skip", "-o", "out.rk"],
        ["classify", "test.rk", file, "-o", out],
        ["classify", "by_site.rk", file, "--on-invalid", "skip", "-o", out],
        ["evaluate", "test.rk", file],
        ["evaluate", "test.rk", file, "--group", "site"],
        ["evaluate", "by_site.rk", file, "--on-invalid", "skip"],
        ["report", "test.rk", "--evaluate", file, "-o", "out.html"],
        ["normality", file],
        ["normality", file, "--column", "risk", "--by", "site"],
        compare,
        [*compare, "--drop", "note"],
    ]


def failures_of(arguments, size=None):
    """Run a command, and return what is wrong with how it ends."""
    try:
        with bounded(10**9 if size is None else size):
            result = run(*arguments)
    except AssertionError as error:
        return [f"{' '.join(arguments)}: {error}"]
    good = result.exit_code in (0, 2, 3, 4) and "bug in ratekeeper" not in result.output
    short = result.exit_code == 0 or len(result.output) < 5_000
    return [] if good and short else [f"{' '.join(arguments)}: {result.output[-300:]}"]


def rows_of(n=2_000, **changes):
    """Return rows as text; ``note={5: "x"}`` writes x into the sixth row."""
    rng = np.random.default_rng(3)
    ill = np.arange(n) % 2
    columns = {
        "risk": [f"{score:.3f}" for score in rng.normal(2.0 * ill)],
        "ill": ["yes" if i else "no" for i in ill],
        "site": ["south" if i % 3 else "north" for i in range(n)],
        "note": ["some words"] * n,
    }
    for name, new in changes.items():
        for row, value in new.items():
            columns[name][row] = value
    rows = map(",".join, zip(*columns.values(), strict=True))
    return "\n".join([",".join(COLUMNS), *rows, ""]).encode()


HEAD = ",".join(COLUMNS).encode() + b"\n"
WIDE = "\U0001f600".encode() + b"x" * 2_000_000  # four bytes for each character in memory
HARD_TEXTS = {
    "a long note": lambda: rows_of(note={1_500: LONG}),
    "a long note of wide characters": lambda: rows_of(note={1_500: LONG + "\U0001f600"}),
    "a long label": lambda: rows_of(ill={1_500: LONG}),
    "a long group": lambda: rows_of(site={1_500: LONG}),
    "an endless line": lambda: gzip.compress(HEAD + b"1,yes,north," + b"x" * 15_000_000),
    "an endless header": lambda: gzip.compress(b"x," * 15_000_000),
    "an endless quoted value": lambda: gzip.compress(HEAD + b'1,yes,north,"' + b"x\n" * 15_000_000),
    "an endless row": lambda: gzip.compress(HEAD + b"1,yes,north" + b',"x\n"' * 4_000_000),
    "rows of many values": lambda: gzip.compress(
        HEAD + (b"1,yes,north" + ",Ж".encode() * 1_000_000 + b"\n") * 8
    ),
    "many long rows": lambda: gzip.compress(
        HEAD + b"".join(b"%d,no,north,%s\n" % (i, WIDE) for i in range(30))
    ),
    "many columns": lambda: b",".join(b"%d" % i for i in range(200_000)) + b"\n",
}


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", HARD_TEXTS)
def test_memory_of_text(folder, name):
    """No file of text takes more than 200 MB and twenty times its size, whatever reads it."""
    data = HARD_TEXTS[name]()
    Path("rows.csv").write_bytes(data)
    failures = [found for one in commands("rows.csv") for found in failures_of(one, len(data))]
    assert not failures, "\n".join(failures)


def typed_rows(n, **changes):
    """Return a table of n rows with some columns replaced."""
    ill = np.arange(n) % 2
    words = {"ill": pa.array(["no", "yes"]), "site": pa.array(["north", "south"])}
    columns = {
        "risk": pa.array(np.random.default_rng(4).normal(2.0 * ill)),
        **{name: values.take(pa.array(ill)) for name, values in words.items()},
        "note": pa.array(["some words"] * n),
    }
    return pa.table({**columns, **changes})


def dictionary(n):
    codes = pa.array(np.arange(n) % 2, pa.int8())
    return pa.DictionaryArray.from_arrays(codes, pa.array([LONG, "south"]))


def runs(n):
    return pa.RunEndEncodedArray.from_arrays(pa.array([n // 2, n], pa.int32()), [LONG, "south"])


def views(n):
    view = struct.pack("<i4sii", len(LONG), LONG[:4].encode(), 0, 0)
    buffers = [None, pa.py_buffer(view * n), pa.py_buffer(LONG.encode())]
    try:
        return pa.Array.from_buffers(pa.string_view(), n, buffers)
    except ValueError:
        pytest.skip("this version of pyarrow cannot make such an array")


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("repeated", [dictionary, runs, views])
def test_memory_of_a_text_in_many_rows(folder, form, repeated):
    """A long text that a typed file holds once, for 6,000 rows, is not written out for each."""
    failures = []
    for column in COLUMNS:
        table = typed_rows(6_000, **{column: repeated(6_000)})
        path = Path(f"rows.{form}")
        try:
            write(path, table)
        except pa.ArrowNotImplementedError:  # Parquet has no such type
            continue
        for one in commands(path.name, f"out.{form}"):
            failures += failures_of(one, path.stat().st_size)
    assert not failures, "\n".join(failures)


@pytest.mark.thorough
def test_memory_of_packed_texts_and_lists(folder):
    """Rows that are long when unpacked, to 500 MB and more, make short pieces."""
    failures = []
    for note in (pa.array([LONG] * 5_000), pa.array([[7.0] * 12_500] * 5_000)):
        table = typed_rows(5_000, note=note)
        # A page is unpacked whole, and its size is only looked at after each batch.
        for options in ({"use_dictionary": False, "write_batch_size": 8}, {}):
            pa.parquet.write_table(table, "rows.parquet", compression="zstd", **options)
            size = Path("rows.parquet").stat().st_size
            for one in commands("rows.parquet", "out.arrow")[2:4]:
                failures += failures_of(one, size)
    assert not failures, "\n".join(failures)


def write(path, table):
    """Write a table as Parquet or Arrow, by its name."""
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path)
        return
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def parquet_has(table):
    """Return whether a table can be written as Parquet."""
    try:
        write(Path("rows.parquet"), table)
    except (pa.ArrowException, OSError):
        return False
    return True


@pytest.mark.thorough
@pytest.mark.parametrize("role", COLUMNS)
def test_every_type_of_arrow(folder, role):
    """Whatever type a column has, it is read, or refused in words, as Parquet and as Arrow."""
    failures = []
    for name, column in arrow_columns().items():
        table = typed_rows(N, **{role: column})
        # What Parquet does not have is looked at as Arrow.
        for form in ("parquet", "arrow") if parquet_has(table) else ("arrow",):
            path = Path(f"rows.{form}")
            write(path, table)
            asked = commands(path.name, f"out.{form}")[:10]
            asked += [["normality", path.name, "--column", role]]
            asked += [["classify", "test.rk", path.name, "-o", "out.csv"]] * (form == "arrow")
            found = [line for one in asked for line in failures_of(one)]
            try:
                encode(read_table(path, label="ill")[0])
            except InputError:
                pass
            except Exception as error:  # noqa: BLE001 - it is what is looked for
                found.append(f"read_table: {error!r}")
            failures += [f"{name}, {form}: {line}" for line in found]
    assert not failures, "\n".join(failures)


def test_types_that_hold_names(folder):
    """The same two labels calibrate alike, however a file stores them."""
    columns = arrow_columns()
    pairs = ("string", "large string", "string view", "dictionary")
    whole = ("int8", "uint64", "bool8", "bool", "double", "half float")
    for family in (pairs, whole):
        for name in family:
            if name in columns:
                write(folder / "rows.arrow", typed_rows(N, ill=columns[name]))
                found = calibrate_file(folder / "rows.arrow", score="risk", label="ill")
                assert found.cells[1][0].size == sum(BITS), name


def test_large_whole_numbers_as_labels(folder):
    """Labels beyond int64 stay apart."""
    large = pa.array([2**64 - 2 + i for i in BITS], pa.uint64())
    write(folder / "rows.parquet", typed_rows(N, ill=large))
    found = calibrate_file(
        folder / "rows.parquet", score="risk", label="ill", positive_label=2**64 - 1
    )
    assert found.classes.tolist() == [str(2**64 - 2), str(2**64 - 1)]
    test = found.control("fnr", 0.2)
    classify_file(test, folder / "rows.parquet", folder / "out.parquet")
    decided = pa.parquet.read_table(folder / "out.parquet")["decision"].to_pylist()
    assert set(decided) == set(found.classes.tolist())


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.int64(), 2**53 + 1),
        (pa.int64(), -(2**53) - 1),
        (pa.int64(), 2**63 - 1),
        (pa.uint64(), 2**64 - 1),
    ],
)
def test_whole_numbers_that_a_float_would_round(folder, form, kind, value):
    """A score of int64 that float64 cannot hold is named with its row, never rounded."""
    path = folder / f"rows.{form}"
    write(path, typed_rows(N, risk=pa.array([*range(N - 2), value, None], kind)))
    names = {"score": "risk", "label": "ill"}
    for read in (
        lambda: calibrate_file(path, **names),
        lambda: evaluate_file(rk.load("test.rk"), path),
        lambda: classify_file(rk.load("test.rk"), path, "out.parquet"),
        lambda: read_columns(path, ["risk"]),
    ):
        with pytest.raises(InputError, match=rf"row {N - 1}.*{value}") as caught:
            read()
        assert "float64 cannot hold exactly" in str(caught.value)
    assert calibrate_file(path, **names, on_invalid="skip").provenance.skipped == {
        "score is a whole number that float64 cannot hold exactly": 1,
        "score is missing": 1,
    }
    write(path, typed_rows(N, risk=pa.array([*range(N - 2), 2**60, None], kind)))
    assert read_columns(path, ["risk"])["risk"][N - 2] == 2.0**60


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_zero_characters_in_names(folder, form):
    """The groups "a" and "a" with a zero character do not become one: the second is refused."""
    path = folder / f"rows.{form}"
    for column, names in (("site", ["a", "a\0"] * (N // 2)), ("ill", ["no", "no\0"] * (N // 2))):
        write(path, typed_rows(N, **{column: pa.array(names)}))
        with pytest.raises(InputError, match=r"row 2,.*zero character"):
            calibrate_file(path, score="risk", label="ill", group="site")
    with pytest.raises(InputError, match=r"row 2.*zero character"):
        read_table(path, label="ill")
    result = run("normality", path, "--column", "risk", "--by", "ill")
    assert result.exit_code == 2
    assert "zero character" in result.output


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("column", ["ill", "site"])
def test_names_have_a_bound(folder, form, column):
    """A label or group of 256 characters is a name; one of 257 is refused with its row."""
    other = {"ill": "no", "site": "south"}[column]
    path = folder / f"rows.{form}"
    for length in (256, 257):
        long = "n" * length
        names = [long if bit else other for bit in BITS]
        if form == "csv":
            path.write_bytes(rows_of(N, **{column: dict(enumerate(names))}))
        else:
            write(path, typed_rows(N, **{column: pa.array(names)}))
        options = {"score": "risk", "label": "ill", "group": "site"}
        positive = {"positive_label": long} if column == "ill" else {}
        by = ["normality", str(path), "--column", "risk", "--by", column]
        result = run(*by)
        if length == 256:
            assert calibrate_file(path, **options, **positive).classes.size == 2
            assert result.exit_code == 0, result.output
            assert set(read_table(path, label=column)[1].tolist()) == {other, "n" * 256}
            continue
        with pytest.raises(InputError, match=rf"row 2,.*'{column}'.*longer than 256") as caught:
            calibrate_file(path, **options, **positive)
        assert len(str(caught.value)) < 500
        assert result.exit_code == 2
        assert "row 2" in result.output
        with pytest.raises(InputError, match=r"row 2.*longer than 256"):
            read_table(path, label=column)


def test_old_mac_lines_have_no_bound(folder):
    """A file of many lines that end as on old Macs is read, though it has no line feed."""
    data = rows_of(200_000).replace(b"\n", b"\r")
    assert len(data) > 1 << 22
    Path("rows.csv").write_bytes(data)
    assert read_columns("rows.csv", ["risk"])["risk"].size == 200_000


def test_columns_that_are_dropped_are_not_read(folder):
    """A column of any type and any content can be left out of a comparison."""
    table = typed_rows(
        N, note=pa.array([[1]] * N), risk=pa.array([2**63 - 1 - i for i in range(N)])
    )
    write(folder / "rows.arrow", table)
    columns, _ = read_table(folder / "rows.arrow", label="ill", drop=["note", "risk"])
    assert list(columns) == ["site"]


def test_many_row_groups_are_described_once(tmp_path, monkeypatch):
    """A file of very many row groups is opened a few times, not once for each of them."""
    test = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40)).control("fnr", 0.1)
    columns = {"risk": np.linspace(0, 1, 300), "note": ["a text"] * 300}
    pa.parquet.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=1)
    opened, parquet_file = [], pa.parquet.ParquetFile

    def counted(*args, **options):
        opened.append(options)
        return parquet_file(*args, **options)

    monkeypatch.setattr(pa.parquet, "ParquetFile", counted)
    classify_file(test, tmp_path / "rows.parquet", tmp_path / "out.parquet", score="risk")
    assert pa.parquet.read_table(tmp_path / "out.parquet").num_rows == 300
    assert 0 < len(opened) < 10


def test_a_file_of_many_groups_is_evaluated_in_time_linear_in_rows_and_groups(
    tmp_path, monkeypatch
):
    """Neither the groups nor the calibration are gone over again for every piece of rows."""
    monkeypatch.setattr("ratekeeper.files._csv_files.PIECE", 100)
    n_groups = 60
    labels = np.tile([0, 1], 30 * n_groups)
    groups = np.repeat([f"group {i}" for i in range(n_groups)], 60)
    earlier, later = (np.random.default_rng(seed).normal(2.0 * labels) for seed in (0, 1))
    test = rk.calibrate(earlier, labels, groups=groups).control("fnr", 0.15)
    path = tmp_path / "new.csv"
    rows = zip(later.tolist(), labels, groups, strict=True)
    path.write_text("s,l,g\n" + "".join(f"{s},{label},{g}\n" for s, label, g in rows))
    sorts, sums = [], []
    pooled, added = rk.Calibration.pooled, Tally.__add__

    def counted(self):
        sorts.append(self.groups is not None)  # else there is nothing to sort
        return pooled(self)

    monkeypatch.setattr(rk.Calibration, "pooled", counted)
    monkeypatch.setattr(Tally, "__add__", lambda one, two: sums.append(1) or added(one, two))
    found = evaluate_file(test, path, score="s", label="l", group="g")
    assert found.overall.to_dict() == test.evaluate(later, labels, groups).to_dict()
    assert sum(sorts) < 10  # of 36 pieces
    assert len(sums) <= 2 * n_groups + 2
