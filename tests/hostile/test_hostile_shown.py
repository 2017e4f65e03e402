"""Names from strangers - of groups, labels, columns and files - that try to act on a terminal."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import re
import subprocess
import sys
import time
import unicodedata
import warnings
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pytest
from command_line import COMMANDS, run
from hypothesis import given, strategies as st
from rich.console import Console
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk
from ratekeeper import plots, report
from ratekeeper._system._progress import track
from ratekeeper._wording._formatting import escape_controls, format_value, json_ready, json_text
from ratekeeper.calibration import Provenance
from ratekeeper.cli._errors import CommandError, reported
from ratekeeper.files import classify_file, evaluate_file
from ratekeeper.sql import decision_sql

# Window titles, colours in seven and in eight bits, letters that run backwards, letters that are
# not seen, an end of line of each kind, and the marks of rich, HTML, Markdown, a spreadsheet and a
# format string. No name may be longer than 256 characters.
ACTS = "\x1b]0;owned\x07\x1b[31m\x9b5m\x08\x7f\u202e\u2066\u200f\u061c\u200b\u00ad\ufeff\U000e0041"
LINES = "\t\r\nError: forged\v\u2028\u2029\x85"
MARKS = "[red]x[/red][link=http://e.x]:warning:<b>&amp;|`*_![i](http://e.x/i.png){0}$x^"
EVIL = f"{ACTS}{LINES}{MARKS}"
GROUPS = [f"={EVIL}north", f"@{EVIL}south"]
LABELS = [f"a{EVIL}no", f"b{EVIL}yes"]
SCORE, LABEL, GROUP = f"s{EVIL}\\", f"y{EVIL}\\", f"g{EVIL}"
# Linux alone has files of any name; this one is no UTF-8 either.
ANY_NAME = sys.platform == "linux"
FILE = os.fsdecode(b"\xff\x9b") + ACTS + "\r\nError: forged[red]" if ANY_NAME else "[red]"
_PRINTS = ("click.echo", "click.secho", "print", "sys.stdout.write", "sys.stderr.write")


def hidden(text, keep="\n"):
    """Return what is in a text that a terminal would act on or not show."""
    kinds = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return {c for c in text if unicodedata.category(c) in kinds and c not in keep}


def rows(path, n=600, columns=(SCORE, LABEL, GROUP), seed=3, **changes):
    """Write scores, labels and groups with hostile names as CSV."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    values = {
        "score": [repr(x) for x in rng.normal(3.0 * truth).tolist()],
        "label": [LABELS[i] for i in truth],
        "group": [GROUPS[i % 3 == 0] for i in range(n)],
    }
    values |= changes
    with open(path, "w", newline="", encoding="utf-8") as file:  # noqa: PTH123 - odd names
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*values.values(), strict=True))
    return path


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a hostile name, so that every path in it has one."""
    path = tmp_path / FILE
    path.mkdir()
    return path


class Said:
    """Runs commands and keeps all that they printed."""

    def __init__(self) -> None:
        self.failures, self.seen = [], {}

    def __call__(self, *arguments, code=0, env=None, data=False):
        """Run one; standard output may be data, which is not for people."""
        result = run(*arguments, env=env)
        printed = result.stderr if data else result.stdout + result.stderr
        where = f"{arguments[0]} (case {len(self.seen)})"
        self.seen[where] = (arguments[0], printed)
        if result.exit_code != code or "Traceback" in printed:
            self.failures.append(f"{where}: code {result.exit_code}: {printed[-600:]!a}")
        if found := hidden(printed):
            self.failures.append(f"{where}: {sorted(found)!a} in {printed!a:.3000}")
        if "\nError: forged" in printed:
            self.failures.append(f"{where}: a name made a line of its own: {printed!a}")
        return result


@pytest.mark.thorough
def test_no_command_prints_what_a_name_hides(folder, tmp_path):  # noqa: PLR0915 - one walk
    """Whatever groups, labels, columns and files are called, every command prints plain text."""
    said = Said()
    table, cal, test = rows(folder / "rows.csv"), folder / "cal.rk", folder / "test.rk"
    new = rows(folder / "new.csv", seed=4)
    columns = ["--score", SCORE, "--label", LABEL]
    grouped = [*columns, "--group", GROUP, "--positive", LABELS[1]]
    said("calibrate", table, *grouped, "-o", cal)
    said("calibrate", table, *grouped, "--json", "-o", cal)
    both = [f"--{rate}=10%" for rate in ("fnr", "fpr")]
    said("calibrate", table, *grouped, "--fpr=5%", "-o", test)
    said("control", cal, *both, "-o", folder / "both.rk")
    said("control", cal, "--fnr=5%", "-o", test)
    thin = [GROUPS[0]] * 590 + [f"thin{EVIL}"] * 10
    rows(folder / "thin.csv", group=thin)
    said("calibrate", folder / "thin.csv", *grouped, "-o", folder / "thin.rk")
    said("control", folder / "thin.rk", "--fnr=5%", "-o", folder / "thin-test.rk", code=3)
    pool = ["--fnr=5%", "--thin-groups=pool", "-o", folder / "pooled.rk"]
    said("control", folder / "thin.rk", *pool)
    pair = [cal, test, folder / "both.rk", folder / "pooled.rk"]
    for stored in pair:
        said("inspect", stored)
        said("inspect", stored, "--json")
    usual = [GROUPS[i % 3 == 0] for i in range(600)]
    groups = {stored: thin if stored is pair[3] else usual for stored in pair}
    for stored in pair[1:]:
        said("evaluate", stored, rows(folder / "later.csv", seed=5, group=groups[stored]))
        said("report", stored, "--title", EVIL, "-o", folder / "page.html")
        said("classify", stored, folder / "later.csv", "-o", folder / "out.csv")
        said("sql", stored, "--table", "t", data=True)
    said("classify", test, table, data=True)
    said("classify", test, table, "--json", "-o", folder / "out.parquet")
    said("evaluate", test, new, "--json")
    said("evaluate", test, new, "--check", "--min-n=1000", code=4)
    said("report", test, "--evaluate", new, "-o", folder / "page.html")
    said("evaluate", test, new, "--by", GROUP)
    said("select", cal, new, "--fdr=50%", "-o", folder / "selected.csv")
    ids = [f"{i}{EVIL}" for i in range(600)]
    with_ids = {"columns": (SCORE, LABEL, GROUP, EVIL), "seed": 5, "id": ids}
    later, state = rows(folder / "ids.csv", **with_ids), folder / "state.rk"
    adaptive = ["--adaptive", state, "--id", EVIL, "-o", folder / "adapted.csv"]
    said("classify", test, later, *adaptive)
    said("classify", test, later, *adaptive, "--step=decaying", code=2)
    said("learn", state, later, "--id", EVIL, "--label", LABEL)
    said("learn", state, later, "--id", EVIL, "--label", LABEL, "--json")
    rows(later, **{**with_ids, "id": [*ids[1:], f"new{EVIL}"]})
    said("learn", state, later, "--id", EVIL, "--label", LABEL, code=2)
    ids = [f"{EVIL}{i}" for i in range(600)]
    made = rows(folder / "made.csv", columns=("decided_at", "decision", GROUP, EVIL), id=ids)
    known = {"label": [LABELS[1]] * 600, "id": ids}
    told = rows(folder / "told.csv", columns=("x", LABEL, GROUP, EVIL), **known)
    nightly = ["--id", EVIL, "--state", folder / "watch.rk"]
    said("monitor", test, made, "--outcomes", told, *nightly, code=4)
    said("monitor", test, made, "--outcomes", told, *nightly, "--json", code=4)
    said("monitor", test, told, *nightly, code=2)
    said("shift", cal, new)
    plain = folder / "plain.rk"
    said("calibrate", table, *columns, "--positive", LABELS[1], "-o", plain)
    timed = folder / "timed.rk"
    seen = [*columns, "--positive", LABELS[1], "--time", GROUP]
    said("calibrate", rows(folder / "a.csv", group=[2015] * 600), *seen, "-o", timed)
    appended = [*seen, "--append", timed, "--last=700", "-o", timed]
    said("calibrate", rows(folder / "b.csv", seed=6, group=[2016] * 600), *appended)
    said("inspect", timed)
    said("cheapest", plain, "--cost-fn=2", "--cost-fp=1", "-o", folder / "cheap.rk")
    said("control", plain, "--alerts=20%", "-o", folder / "few.rk")
    said("evaluate", folder / "few.rk", new, "--by", GROUP)
    said("normality", table, "--column", SCORE, "--by", GROUP)
    said("normality", table, "--column", SCORE, "--by", GROUP, "--json")
    few = rows(folder / "few.csv", n=8)
    said("normality", few, "--column", SCORE, "--by", GROUP)
    said("plan", "--fnr=1%")
    some = "conformal,plain"
    asked = [
        "--label",
        LABEL,
        "--positive",
        LABELS[1],
        "--control=fnr",
        "--alpha=10%",
        "--repeats=2",
        "--jobs=1",
        "--systems",
        some,
    ]
    said("compare", table, *asked, "-o", folder / "compared")
    said("compare", table, *asked, "--json")
    assert not said.failures, "\n\n".join(said.failures)
    assert {line for line, _ in said.seen.values()} == {*COMMANDS} - {"demo"}
    texts = [p for p in folder.rglob("*") if p.suffix in (".md", ".html", ".svg", ".jsonl", ".csv")]
    ours = [p for p in texts if p.parent.name == "compared" or p.suffix == ".html"]
    assert {p.name for p in ours} >= {"comparison.md", "comparison.svg", "page.html", "trials.csv"}
    for path in ours:
        text = path.read_bytes().decode("utf-8")
        assert not hidden(text), (path.name, sorted(map(ascii, hidden(text))))


def test_no_refusal_prints_what_a_name_hides(folder, tmp_path):
    """Errors and warnings about hostile names, values, options and settings are plain text."""
    said = Said()
    table, test = rows(folder / "rows.csv"), folder / "test.rk"
    columns = ["--score", SCORE, "--label", LABEL]
    made = [*columns, "--positive", LABELS[1], "--fnr=5%", "-o"]
    said("calibrate", table, *made, test)
    missing, out = folder / f"none{EVIL.replace('/', '')}"[:200], folder / "out.rk"
    unreadable = folder / "binary.csv"
    unreadable.write_bytes(b"\xff\x1b\x00")
    damaged = folder / "damaged.rk"
    damaged.write_bytes(test.read_bytes()[:-1] + b"\x1b")
    bad = [EVIL, *["1"] * 599]
    evil_score = rows(folder / "score.csv", score=bad)
    three = rows(folder / "labels.csv", label=[EVIL, *[LABELS[i % 2] for i in range(599)]])
    one = rows(folder / "one.csv", label=[EVIL] * 600)
    twice = rows(folder / "twice.csv", columns=(SCORE, SCORE, GROUP))
    (folder / "parts").mkdir()
    rows(folder / "parts" / f"a{FILE}.csv")
    rows(folder / "parts" / f"b{FILE}.csv", columns=(SCORE, LABEL, "other"))
    promised = [*columns, "--positive", LABELS[1], "-o", out]
    for arguments in (
        ["calibrate", missing, *promised],
        ["calibrate", table, "--score", EVIL, "--label", LABEL, "-o", out],
        ["calibrate", table, *columns, "--positive", EVIL, "-o", out],
        ["calibrate", table, *columns, "-o", out],
        ["calibrate", unreadable, *promised],
        ["calibrate", evil_score, *promised],
        ["calibrate", three, *promised],
        ["calibrate", one, *columns, "-o", out],
        ["calibrate", twice, *promised],
        ["calibrate", table, *promised, "--time", GROUP],
        ["calibrate", table, *promised, "--time", EVIL],
        ["calibrate", table, *promised, "--time", GROUP, "--append", missing],
        ["calibrate", table, *promised, "--time", GROUP, "--append", damaged],
        ["calibrate", folder / "parts", *promised],
        ["calibrate", folder, *promised],
        ["calibrate", table, *promised[:-1], missing / "out"],
        ["calibrate", table, *promised[:-1], table],
        ["calibrate", table, *promised, "--method", EVIL],
        ["calibrate", table, *promised, "--format", EVIL],
        ["calibrate", table, *promised, "--fnr", EVIL],
        ["calibrate", table, *promised, "--seed", EVIL],
        ["calibrate", table, *promised, f"--{EVIL}"],
        ["calibrate", table, EVIL, *promised],
        ["calibrate", table, *promised, "--config", missing],
        ["control", test, "--fnr=1%", "--parameter", EVIL, "-o", out],
        ["control", test, "--fnr=1%", "--parameter", f"{EVIL}=1", "-o", out],
        ["control", test, "--fnr=1%", "--method=parametric", "--parameter",
         f"distribution={EVIL}", "-o", out],
        ["control", test, test, "--fnr=1%", "-o", out],
        ["control", damaged, "--fnr=1%", "-o", out],
        ["control", table, "--fnr=1%", "-o", out],
        ["control", folder, "--fnr=1%", "-o", out],
        ["inspect", missing],
        ["inspect", table],
        ["inspect", unreadable],
        ["inspect", damaged],
        ["evaluate", test, missing],
        ["evaluate", test, table, "--group", EVIL],
        ["evaluate", test, three, "--positive", EVIL],
        ["evaluate", test, evil_score],
        ["classify", test, missing, "-o", folder / "o.csv"],
        ["classify", test, table, "-o", folder / f"o.{EVIL.replace('/', '')}"[:100]],
        ["classify", test, table, "--group", EVIL, "-o", folder / "o.csv"],
        ["classify", test, evil_score, "-o", folder / "o.csv"],
        ["classify", test, table, "--to", EVIL, "-o", folder / "o"],
        ["sql", test, "--table", f"a..{EVIL}"],
        ["sql", test, "--table", "t", "--group", EVIL],
        ["report", test, "--evaluate", missing, "-o", folder / "p.html"],
        ["report", test, "-o", folder],
        ["normality", table, "--column", EVIL],
        ["normality", table, "--column", LABEL],
        ["normality", table, "--by", EVIL],
        ["normality", evil_score, "--column", SCORE],
        ["compare", table, "--label", EVIL, "--control=fnr", "--alpha=5%"],
        ["compare", three, "--label", LABEL, "--control=fnr", "--alpha=5%"],
        ["compare", table, "--label", LABEL, "--control=fnr", "--alpha=5%", "--systems", EVIL],
        ["compare", table, "--label", LABEL, "--control=fnr", "--alpha=5%", "--positive", EVIL],
        ["plan", "--fnr", EVIL],
        ["demo", "--export", table],
        [EVIL],
        ["--config", missing, "plan", "--fnr=1%"],
    ):  # fmt: skip
        said(*arguments, code=2)
    quoted = json.dumps(EVIL.replace("\x7f", "")).replace("\\udb40\\udc41", "")
    for settings in (
        f"{quoted} = 1",
        f"[{quoted}]",
        f"[plan]\n{quoted} = 1",
        f"[plan]\nfnr={quoted}",
        f"[plan]\nn={quoted}",
        "[plan]\n\x1b",
    ):
        config = folder / "settings.toml"
        config.write_text(settings, encoding="utf-8")
        said("--config", config, "plan", "--fnr=1%", code=2)
    decision = folder / "decision.toml"
    decision.write_text(f"[sql]\ndecision = {quoted}\n", encoding="utf-8")
    said("sql", "--config", decision, "--help")
    said("plan", "--fnr=1%", env={"RATEKEEPER_PLAN_X\x1b[31m\u202e": "1"})
    said("plan", env={"RATEKEEPER_PLAN_FNR": EVIL}, code=2)
    assert not said.failures, "\n\n".join(said.failures)


@pytest.mark.thorough
@pytest.mark.skipif(not ANY_NAME, reason="no such file names, or no terminal to open")
@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_terminals_get_colours_and_nothing_else(folder, tmp_path, locale):
    """On a real terminal only the colours of ratekeeper act; bytes of file names do not."""
    import pty

    table, test = rows(folder / "rows.csv"), folder / "test.rk"
    names = ["--score", SCORE, "--label", LABEL, "--group", GROUP, "--positive", LABELS[1]]
    assert Said()("calibrate", table, *names, "--fnr=5%", "-o", test).exit_code == 0
    lines = [
        ["evaluate", test, rows(folder / "new.csv", seed=4)],
        ["inspect", test],
        ["inspect", folder / "none"],
        ["normality", table],
        ["sql", test, "--table", "t"],  # refused: the query needs the names as they are
    ]
    ends = [0, 0, 2, 0, 2]
    env = {**os.environ, "LC_ALL": locale, "TERM": "xterm", "COLUMNS": "120"}
    env |= {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"} if locale == "C" else {}
    for line, code in zip(lines, ends, strict=True):
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "ratekeeper", *map(str, line)]
        process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=env)
        os.close(theirs)
        printed = b""
        try:
            while block := os.read(ours, 65536):
                printed += block
        except OSError:  # its end, on Linux
            pass
        os.close(ours)
        assert process.wait() == code, printed
        text = printed.decode("utf-8")
        drawn = re.sub(r"\x1b\[[0-9;]*m", "", text)
        assert not hidden(drawn, keep="\r\n"), ascii(text)


def test_every_word_of_a_command_goes_through_one_door():
    """No file of the command line prints by itself, so that no text is printed as it came."""
    folder = Path(rk.__file__).parent / "cli"
    paths = [*folder.glob("*.py"), *folder.glob("_commands/*.py")]
    assert len(paths) > 30
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            allowed = path.name == "_printing.py"
            assert allowed or called not in _PRINTS, path.name


@pytest.fixture(scope="module")
def calibration():
    """Return a calibration of which every name is hostile."""
    rng = np.random.default_rng(4)
    truth = np.arange(800) % 2
    groups = np.array(GROUPS)[(np.arange(800) % 3 == 0).astype(int)]
    made = rk.calibrate(
        rng.normal(3.0 * truth),
        np.array(LABELS)[truth],
        groups=groups,
        positive_label=LABELS[1],
    )
    source = Provenance(900, {EVIL: 100}, score=SCORE, label=LABEL, group=GROUP)
    return replace(made, provenance=source)


def results(calibration, folder):
    """Yield one of each result that shows names."""
    tests = [
        calibration.control("fnr", alpha=0.05),
        calibration.control_both(0.05, 0.05, method=rk.Conformal()),
        calibration.control("fpr", alpha=0.05, method=rk.methods.Smoothed(random_state=0)),
    ]
    rng = np.random.default_rng(6)
    truth = np.arange(200) % 2
    new = rng.normal(3.0 * truth)
    groups = np.array(GROUPS)[truth]
    yield calibration
    yield calibration.provenance
    yield calibration.merge(rk.calibrate(new, np.array(LABELS)[truth], groups=groups,
                                         positive_label=LABELS[1]))  # fmt: skip
    for test in tests:
        yield from (test, test.certificate, test.decide(new, groups), test.p_values(new, groups))
        yield test.evaluate(new, np.array(LABELS)[truth], groups)
    table = rows(folder / "new.csv")
    names = {"score": SCORE, "group": GROUP}
    yield evaluate_file(tests[0], table, **names, label=LABEL)
    yield classify_file(tests[0], table, folder / "out.csv", **names)
    X = rng.normal(size=(400, 2)) + 2.0 * (np.arange(400) % 2)[:, None]
    y = np.array(LABELS)[np.arange(400) % 2]
    kind = rk.ErrorRateController
    how = {"control": "fnr", "alpha": 0.1, "positive_label": LABELS[1], "random_state": 0}
    for more in ({}, {"strategy": "cv+", "cv": 3}):
        fitted = kind(LogisticRegression(), **how, **more).fit(X, y)
        yield from (fitted, fitted.test_, fitted.test_.certificate)


def test_results_hide_nothing(calibration, tmp_path):
    """Text, repr and notebook card of every result are plain, and its JSON has the exact names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rk.exceptions.RatekeeperWarning)
        found = list(results(calibration, tmp_path))
    kinds = set()
    for result in found:
        kinds.add(type(result).__name__)
        has_card = not isinstance(result, rk.ErrorRateController)  # it has scikit-learn's
        card = getattr(result, "_repr_html_", "".lower)() if has_card else ""
        for text in (str(result), repr(result), card):
            assert not hidden(text), (type(result), sorted(map(ascii, hidden(text))))
        assert "<b>" not in card
    assert len(kinds) >= 12
    facts = json.loads(found[4].to_json())
    assert [cell["group"] for cell in facts["cells"]] == GROUPS
    assert (facts["negative_label"], facts["positive_label"]) == tuple(LABELS)
    assert facts["provenance"]["label"] == LABEL


def test_written_tests_keep_the_exact_names(calibration, tmp_path):
    """Files, queries and classified rows hold names as they are; a query's comments do not."""
    rows_read = replace(calibration.provenance, skipped={"score is missing": 100})
    test = replace(calibration, provenance=rows_read).control("fnr", alpha=0.05)
    rk.save(test, tmp_path / "test.rk")
    loaded = rk.load(tmp_path / "test.rk")
    assert loaded.calibration.groups.tolist() == GROUPS
    assert loaded.certificate.provenance == test.certificate.provenance
    source, target = rows(tmp_path / "in.csv"), tmp_path / "out.csv"
    classify_file(test, source, target, score=SCORE, group=GROUP)
    before, after = (
        list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
        for path in (source, target)
    )
    assert [row[:3] for row in after] == before
    assert {row[-1] for row in after[1:]} == set(LABELS)


def test_errors_and_warnings_hide_nothing(tmp_path):
    """A message is one plain line, also as Python itself prints it, and its fields are exact."""
    odd = rk.exceptions.Parameter(EVIL)
    errors = [
        rk.exceptions.InputError(f"{EVIL} is bad.", remedy=("Pass ", odd)),
        rk.exceptions.InputError(parameter="group", value=EVIL, need=EVIL),
        rk.exceptions.InputError("x").within(EVIL),
        rk.exceptions.StoredFileError(EVIL),
        rk.exceptions.MissingFileError(EVIL),
        rk.exceptions.TooFewScoresError(EVIL, available=1, needed=2),
        rk.exceptions.RatekeeperWarning(EVIL),
        rk.exceptions.ReversedScoreWarning(("Pass ", rk.exceptions.Parameter("group", EVIL))),
    ]
    for error in errors:
        for text in (str(error), error.worded(), error.worded(lambda parameter: parameter.name)):
            assert not hidden(text, keep=""), ascii(text)
    assert errors[1].value == EVIL
    with pytest.raises(rk.exceptions.StoredFileError) as caught:
        rk.load(tmp_path / FILE)
    assert not hidden(str(caught.value), keep="")
    with pytest.raises(rk.exceptions.InputError) as caught:
        rk.calibrate([0.0, 1.0, 2.0], [LABELS[0], LABELS[1], EVIL], positive_label=LABELS[1])
    assert not hidden(str(caught.value), keep="")


def test_endings_of_commands_hide_nothing():
    """Whatever ends a command, of the system, of click or a bug, ends in one plain line."""
    for error in (
        OSError(2, "No such file", EVIL),
        RuntimeError(EVIL),
        rk.exceptions.StoredFileError(EVIL),
        CommandError(EVIL),
        click.BadParameter(EVIL),
    ):
        with pytest.raises(click.ClickException) as caught, reported():
            raise error
        assert not hidden(caught.value.format_message(), keep=""), type(error)


def test_comparison_with_hostile_systems(tmp_path):
    """No name is read as markup: text, Markdown and picture stay as they are; CSV is exact."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 200)
    texts = np.array(["a", EVIL])[rng.permutation(y)]
    columns = {f"x{EVIL}": rng.normal(2.0 * y), f"t{EVIL}": texts}
    names = [f"={MARKS}\\", f"{MARKS}refused"]  # of one line, or they are refused
    systems = {
        names[0]: DummyClassifier(strategy="constant", constant=LABELS[1]),
        names[1]: DummyClassifier(strategy="constant", constant=EVIL),
    }
    labels = np.array(LABELS)[y]
    result = rk.compare(columns, labels, control="fnr", alpha=0.1, systems=systems, repeats=2,
                        n_jobs=1, positive_label=LABELS[1])  # fmt: skip
    result.save(tmp_path)
    assert [row["system"] for row in csv.DictReader(io.StringIO(result.csv(), newline=""))] == names
    text, markdown, picture = repr(result), result.markdown(), result.picture()
    for shown in (text, markdown, picture):
        assert not hidden(shown), sorted(map(ascii, hidden(shown)))
        assert shown == shown.encode().decode()
    assert "[red]x[/red]" in text
    assert ":warning:" in text
    for tagged in ("<b>", "](http", "![i"):
        assert not re.search(rf"(?<!\\){re.escape(tagged)}", markdown), tagged
    assert markdown.count("\n| ") == len(names) + 2
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 12 for line in markdown.split("\n")[2:6])
    titles = [title.text for title in ET.fromstring(picture).findall(".//{*}title")]  # noqa: S314
    assert any("<b>&amp;|" in title for title in titles)
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    result.show(console)
    drawn = re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())
    assert not hidden(drawn), sorted(map(ascii, hidden(drawn)))
    assert "e.x" in drawn  # as words, not as a link


def test_tables_stay_aligned(folder, monkeypatch):
    """A name is escaped before it is measured, so that columns stay under their headings."""
    monkeypatch.delenv("COLUMNS", raising=False)  # whole lines, as in a pipe
    table = rows(folder / "rows.csv")
    said = Said()
    result = said("normality", table, "--column", SCORE, "--by", GROUP)
    heading, _, *cells = result.stdout.splitlines()[2:6]
    ends = {re.search(r"  (?:verdict|no.*)$", line.rstrip()).start() for line in (heading, *cells)}
    assert len(ends) == 1, result.stdout


def test_bars_with_hostile_titles():
    """The line of a progress bar shows its title as words."""
    console = Console(file=io.StringIO(), force_terminal=True, width=2000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ratekeeper._system._progress._PATIENCE", 0.01)

        def wait():
            end = time.monotonic() + 60
            while "red" not in console.file.getvalue() and time.monotonic() < end:
                time.sleep(0.01)
            yield 1

        assert list(track(wait(), EVIL, console=console)) == [1]
    drawn = re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", console.file.getvalue())
    assert not hidden(drawn, keep="\r\n"), sorted(map(ascii, hidden(drawn, keep="\r\n")))
    assert "[red]x[/red]" in drawn


@pytest.mark.thorough
def test_plots_draw_hostile_names(calibration, tmp_path):
    """Words drawn in a plot are plain, and no dollar in a name is read as mathematics."""
    pytest.importorskip("matplotlib").use("Agg")
    test = calibration.control("fnr", alpha=0.05)
    rng = np.random.default_rng(8)
    truth = np.arange(800) % 2
    new = {
        "scores": rng.normal(3.0 * truth),
        "labels": np.array(LABELS)[truth],
        "groups": np.full(800, GROUPS[0]),
    }
    for name in plots.__all__:
        kind = getattr(plots, name)
        # Of numbers alone, and of no names.
        if name in ("SampleSizeDisplay", "CostDisplay", "MonitorDisplay"):
            continue
        whose = {"by": {EVIL: new["groups"]}} if name == "GroupDisplay" else {"group": GROUPS[0]}
        display = kind.from_calibration(test, **whose, **new)
        display.figure_.savefig(tmp_path / "plot.svg")
        svg = (tmp_path / "plot.svg").read_text(encoding="utf-8")
        assert not hidden(svg, keep="\n\t")
        axes = display.ax_
        legend = axes.get_legend()
        words = [] if legend is None else [text.get_text() for text in legend.get_texts()]
        words += [text.get_text() for text in axes.texts]
        words += [axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel(), repr(display)]
        assert not hidden("".join(words)), ascii(words)
        assert "[31m" in "".join(words) or name == "GroupDisplay"  # whose groups are ticks


def test_pages_hold_hostile_names(calibration):
    """The report is plain text with names of any kind in it, which its script gets exactly."""
    test = calibration.control("fnr", alpha=0.05)
    found = test.evaluate([0.0, 3.0], LABELS, GROUPS)
    page = report.build(test, title=EVIL, evaluation=found)
    assert not hidden(page), sorted(map(ascii, hidden(page)))
    assert "[red]x" in page
    html, _, rest = page.partition('<script type="application/json" id="facts">')
    assert "<b>&" not in html
    facts = json.loads(rest.partition("</script>")[0])
    assert facts["exactGroups"] == GROUPS
    counted = [row["group"] or "" for row in facts["evaluation"]]
    words = [*facts["groups"], *facts["names"], *facts["labels"], *counted]
    assert not hidden("".join(words), keep="")


def test_queries_have_plain_comments(calibration):
    """Comments above a query are plain; the query itself has the exact names, being a program."""
    test = calibration.control("fnr", alpha=0.05)
    query = decision_sql(test, table="t", score="s", group="g")
    comments, _, code = query.partition("\nSELECT")
    assert not hidden(comments)
    assert all(f"'{group}'" in code for group in GROUPS)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 中 \U0001f600 a\u00a0b\u3000c", "plain é 中 \U0001f600 a\u00a0b\u3000c"),
        ("C:\\data\\x1b.csv", "C:\\data\\x1b.csv"),
        ("\x1b[31m\x9b\x7f\0", "\\x1b[31m\\x9b\\x7f\\x00"),
        ("a\u202eb\u2066\u061c", "a\\u202eb\\u2066\\u061c"),
        ("\ufeffa\u00ad\u200b", "\\ufeffa\\xad\\u200b"),
        ("a\tb\r\n\u2028", "a\\tb\\r\\n\\u2028"),
        ("\udcff\uffff", "\\udcff\\uffff"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),  # Persian
        ("\u0d28\u0d4d\u200d", "\u0d28\u0d4d\u200d"),  # Malayalam
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"),  # a woman at a computer
        ("user\u200dname\u200c", "user\\u200dname\\u200c"),
        ("é\u200d\u200d", "é\u200d\\u200d"),  # one joins, more hide
        ("\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525"),  # a heart on fire
        ("a\u3164\u034f\ufe0f\ufe0f", "a\\u3164\\u034f\\ufe0f\\ufe0f"),  # fillers
        ("é\U000e0100\u3164\u200d", "é\\U000e0100\\u3164\\u200d"),
        ("\ue000", "\ue000"),  # of private use: a box at worst
    ],
)
def test_what_is_shown(text, shown):
    """Letters of all languages stay; what acts or hides is written as Python writes it."""
    assert escape_controls(text) == shown
    assert escape_controls(shown) == shown
    assert escape_controls(f"{text}\n", keep="\n").endswith("\n")


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_is_made_visible_once(text):
    """Nothing hidden is left in any text, what is left prints anywhere, and stays as it is."""
    shown = escape_controls(text)
    assert not hidden(shown, keep="\u200c\u200d")
    assert escape_controls(shown) == shown
    assert shown.encode().decode() == shown
    assert not re.search("[\u3164\u034f\u200c\u200d]{2}", shown)
    assert text != shown or text.isprintable() or not hidden(text, keep="\u200c\u200d")


def test_values_of_any_kind_are_shown_plainly():
    """The repr of a stranger's object may hold anything, too."""

    class Odd:
        def __repr__(self):
            return f"<{EVIL}>"

    assert not hidden(format_value(Odd()), keep="")
    assert format_value("a\x1b\\x1b") == r"'a\x1b\\x1b'"


def test_json_is_written_as_the_standard_library_does():
    """The faster writer of certificates changes no character."""
    odd = {"a": [1, -0.0, 1e300, True, None, 'é\n"', {}, [], {"b": (0.5, float("nan"))}]}
    odd |= {1: np.array([1.5, np.inf]), 2.5: np.int64(3), None: np.str_("q"), "z": np.array([])}
    labels, names = np.tile([0, 1], 900), np.repeat([f"group {i}" for i in range(30)], 60)
    scores = np.random.default_rng(0).normal(2.0 * labels)
    both = rk.calibrate(scores, labels, groups=names).control_both(0.15, 0.15)
    for facts in (odd, both.certificate.to_dict()):
        assert json_text(facts) == json.dumps(json_ready(facts), indent=2, allow_nan=False)
