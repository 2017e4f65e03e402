"""Tables with values, columns and labels that cannot be used."""

from __future__ import annotations

import datetime as dt

from case import COMMANDS, JUDGING, ROW_COMMANDS, Case, bytes_case
from good_rows import EARLIER, HEADER, N, columns, text, typed

FILE = "spoiled.csv"
SCORES = {
    "": "score is missing",
    "NA": "score is missing",
    "NaN": "score is NaN",
    "high": "score is not a number ('high')",
    "0.5 kg": "score is not a number",
    "1e999": "beyond the largest float64 ('1e999')",
    "1_000": "score is not a number",
    "1" + "0" * 400: "beyond the largest float64",
    '"0,5"': "score is not a number ('0,5')",
}


def cases():
    yield from _scores()
    yield from _labels()
    yield from _positives()
    yield from _columns()
    yield from _types()
    yield from _groups()
    yield from _skipped()
    yield from _seen()


def _scores():
    for value, reason in SCORES.items():
        for row in (1, 60, N):
            data = text(risk={row - 1: value}).encode()
            words = [f"row {row}", "column 'risk'", reason, "--on-invalid skip"]
            for command in JUDGING:
                yield bytes_case(command, f"{value[:9]!r} at {row}", data, words=words)
    for value in ("", "high"):
        data = text(risk={59: value}).encode()
        yield bytes_case("normality", f"score {value!r}", data, words=["row 60", "risk"])
    for row in (1, N):
        values = [None if i == row - 1 else x for i, x in enumerate(columns()["risk"])]
        for form in ("parquet", "feather"):
            data = typed(form, risk=values)
            for command in JUDGING:
                words = [f"row {row}", "column 'risk'", "score is missing"]
                yield bytes_case(command, f"{form}, none at {row}", data, form, words=words)


def _labels():
    for row in (3, N):
        data = text(ill={row - 1: "maybe"}).encode()
        words = [f"row {row}", "column 'ill'", "'maybe' is a third label", "two are needed"]
        yield bytes_case("calibrate", f"third label at {row}", data, words=words)
        words = [f"row {row}", "label is unknown ('maybe')", "'no' and 'yes'"]
        for command in ("evaluate", "report"):
            yield bytes_case(command, f"unknown label at {row}", data, words=words)
        for value in ("", "NA", "nan"):
            data = text(ill={row - 1: value}).encode()
            for command in ("calibrate", "evaluate", "report"):
                words = [f"row {row}", "column 'ill'", "label is missing"]
                yield bytes_case(command, f"label {value!r} at {row}", data, words=words)
    same = text(ill=dict.fromkeys(range(N), "fine")).encode()
    words = ["one class only", "'fine'", "--one-class negative", "--positive"]
    yield bytes_case("calibrate", "one class", same, words=words)
    words = ["--one-class positive, but every label is 'no'"]
    same = text(ill=dict.fromkeys(range(N), "no")).encode()
    more = ["--one-class", "positive"]
    yield bytes_case("calibrate", "the other class", same, words=words, more=more)
    words = ["--one-class positive was given", "'no' and 'yes'"]
    yield bytes_case("calibrate", "both classes", text().encode(), words=words, more=more)
    compare = [FILE if part == "FILE" else part for part in COMMANDS["compare"]]
    yield Case("one class", compare, 2, ("'no'", "are needed"), _writer(FILE, same.decode()))
    odd = text().replace(",no,", ",b,").replace(",yes,", ",a,").encode()
    yield bytes_case("calibrate", "which is positive", odd, words=["--positive"])
    yield bytes_case(
        "calibrate", "no such label", text().encode(), words=["maybe"], more=["--positive", "maybe"]
    )


def _positives():
    """Yield positive labels that a file does not have, whether it has one label or two."""
    other = text().replace(",no,", ",healthy,").replace(",yes,", ",ill,")
    one = text().replace(",yes,", ",no,")
    every = text().replace(",no,", ",yes,")
    strange = text().replace(",no,", ",healthy,").replace(",yes,", ",healthy,")
    for command in ("evaluate", "report"):
        for name, data, given in (
            ("mistyped", other, "il"),
            ("mistyped, one label", one, "yse"),
            ("mistyped, all positive", every, "yse"),
            ("unknown, one label", strange, "ill"),
            ("turned round", every, "no"),
        ):
            more = ["--positive", given]
            words = [given, "labels of"]
            yield bytes_case(command, name, data.encode(), words=words, more=more)
        good = [("recoded", other, "ill"), ("all negative", one, "yes"), ("as ever", text(), "yes")]
        for name, data, given in good:
            more = ["--positive", given]
            yield bytes_case(command, f"{name}, fine", data.encode(), code=0, more=more)


def _columns():
    head = HEADER.encode() + b"\n"
    for command in ROW_COMMANDS:
        gone = text().replace("risk", "p", 1).replace("ill", "q", 1).encode()
        yield bytes_case(command, "missing column", gone, words=["no column", "p"])
        near = text().replace("risk", "rsik", 1).replace("ill", "ill_", 1).encode()
        hint = "Did you mean" if command != "compare" else "it has"
        yield bytes_case(command, "misspelt column", near, words=[hint])
        for name, data in (
            ("no header", text().split("\n", 1)[1].encode()),
            ("web page", b"<html><body>\nno</body>\n"),
        ):
            yield bytes_case(command, name, data, words=["no column"])
        yield bytes_case(command, "JSON", b'{"risk": [1, 2]}\n', words=["holds JSON", "Convert it"])
    for command in ("calibrate", "normality", "compare"):
        yield bytes_case(command, "no rows", head)
    swapped = ["calibrate", FILE, "--score", "ill", "--label", "risk", "-o", "out.rk"]
    words = (FILE, "row 3", "column 'risk'", "third label", "--score and --label were swapped")
    good = _writer(FILE, text())
    yield Case("swapped", swapped, 2, words, good)
    twice = ["calibrate", FILE, "--score", "risk", "--label", "risk", "-o", "out.rk"]
    words = ("'risk' was given for two roles",)
    yield Case("one column for two", twice, 2, words, good)
    numbers = ["calibrate", FILE, "--score", "risk", "--label", "id", "-o", "out.rk"]
    words = (FILE, "row 3", "third label", "swapped")
    yield Case("numbers as labels", numbers, 2, words, good)
    taken = text().replace("note", "p1", 1).encode()
    words = ["already has a column 'p1'", "--prefix"]
    yield bytes_case("classify", "taken name", taken, words=words)


def _types():
    day = dt.date(2024, 1, 1)
    odd = {
        "text": ["0.5"] * N,
        "lists": [[0.5]] * N,
        "structs": [{"a": 1}] * N,
        "days": [day] * N,
        "bytes": [b"x"] * N,
    }
    for what, values in odd.items():
        data = typed(risk=values)
        words = ["column 'risk' is of type", "numbers are needed"]
        for command in JUDGING:
            to = ["-o", "out.parquet"] if command == "classify" else []
            yield bytes_case(command, f"scores are {what}", data, "parquet", words=words, more=to)
        yield bytes_case("normality", f"scores are {what}", data, "parquet", words=["risk"])
        if what in ("lists", "structs", "bytes"):
            data = typed(ill=values)
            for command in ("calibrate", "evaluate"):
                words = ["column 'ill' is of type"]
                yield bytes_case(command, f"labels are {what}", data, "parquet", words=words)
    empty = typed(**{name: [] for name in columns()})
    yield bytes_case("calibrate", "typed, no rows", empty, "parquet", words=["no valid row"])
    yield bytes_case("normality", "typed, no rows", empty, "parquet")
    lists = ["classify", "test.rk", "spoiled.parquet", "-o", "out.csv"]
    words = ("cannot be written as csv", "list", "another format")
    yield Case("lists to text", lists, 2, words, _writer("spoiled.parquet", typed(note=[[1]] * N)))


def _groups():
    for value, reason in (("", "group is missing"), ("west", "group is unknown ('west')")):
        data = text(site={59: value})
        for command in ("classify", "evaluate", "report"):
            arguments = [
                "by_site.rk" if part == "test.rk" else FILE if part == "FILE" else part
                for part in COMMANDS[command]
            ]
            words = (FILE, "row 60", "column 'site'", reason)
            yield Case(f"group {value!r}", arguments, 2, words, _writer(FILE, data))
    arguments = [*COMMANDS["calibrate"], "--group", "site"]
    arguments[1] = FILE
    words = (FILE, "row 60", "column 'site'", "group is missing")
    yield Case("group missing", arguments, 2, words, _writer(FILE, text(site={59: ""})))
    arguments = [*COMMANDS["classify"], "--group", "site"]
    arguments[2] = FILE
    yield Case("groups for none", arguments, 2, ("no groups",), _writer(FILE, text()))


def _skipped():
    """Yield invalid rows that are skipped on demand: these work."""
    data = text(risk={0: "", 5: "x"}, ill={7: ""}).encode()
    for command in JUDGING:
        yield bytes_case(command, "skipped", data, code=0, more=["--on-invalid", "skip"])
    every = text(risk=dict.fromkeys(range(N), "")).encode()
    words = ["no valid row among 120"]
    yield bytes_case("calibrate", "all skipped", every, words=words, more=["--on-invalid", "skip"])


def _seen():
    """Yield the calibration objects themselves, in another order and with a row that is skipped."""
    head, *rows = EARLIER.splitlines()
    own = {
        "calibration objects": [head, *rows],
        "calibration objects, turned": [head, *rows[::-1]],
        "calibration objects and a gap": [head, "x,,yes,north,z", *rows],
    }
    words = ["calibration objects themselves", "not used for calibration"]
    for name, found in own.items():
        data = "\n".join(found).encode()
        for command in ("evaluate", "report"):
            more = ["--on-invalid", "skip"]
            yield bytes_case(command, name, data, words=words, more=more)


def _writer(file, data):
    data = data if isinstance(data, bytes) else data.encode()
    return lambda folder: (folder / file).write_bytes(data)
