"""Break the source on purpose, in one place at a time, and say which breaks the tests catch.

``python release/mutations.py`` first runs the default tests once, on a copy of the source that
notes which test reaches which place. Then it makes each of the `MUTATIONS` in a copy of its own and
runs the tests that reach it, quick ones first. It ends with code 0 if `LEAST_CAUGHT` are caught,
or all of those that ``--only`` chooses.
The first run takes a little longer than the tests do, the rest an hour or so; ``--map FILE`` keeps
what the first run found. The repository stays as it is.

A mutation is found by its text, which must occur once in the whole source, so that modules may be
moved and renamed. If a line is rewritten, the mutation is to be rewritten, too.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LEAST_CAUGHT = 57
TIME_LIMIT, SLOWER = 1200, 10  # a run hangs after these seconds, and so many times what it took
QUICK, QUICK_FILES, QUICK_PER_FILE = 40, 8, 10
AREA, WHAT, BY = 10, 41, 40  # widths of columns
running: set[subprocess.Popen[bytes]] = set()


class Mutation(NamedTuple):
    """One break: the only place with the text `old` gets the text `new`."""

    what: str
    area: str
    old: str
    new: str


MUTATIONS = [
    Mutation(
        "Scores tied at the low end do not count as extreme",
        "core",
        'return _search(null_scores, scores, "right", None, ordered=ordered)',
        'return _search(null_scores, scores, "left", None, ordered=ordered)',
    ),
    Mutation(
        "Tables are read as if ties at the high end were not extreme",
        "core",
        '"left", table[::-1]',
        '"right", table[::-1]',
    ),
    Mutation(
        "Conformal p-values leave out the new object",
        "core",
        "np.divide(m + 1, n + 1)",
        "np.divide(m, n)",
    ),
    Mutation(
        "HighProbability takes twice its delta",
        "core",
        "return beta_upper(m, n, self.delta)",
        "return beta_upper(m, n, min(2 * self.delta, 0.999))",
    ),
    Mutation(
        "Simultaneous promises one alpha only",
        "core",
        "beta_upper(m, n, _exact_level(n, self.delta))",
        "beta_upper(m, n, self.delta)",
    ),
    Mutation(
        "Thresholds at the high end are one rank too bold",
        "core",
        'self._scores[ranks - 1 if self._tail == "low" else -ranks]',
        'self._scores[ranks - 1 if self._tail == "low" else -ranks - (ranks < self.n)]',
    ),
    Mutation(
        "A score at the threshold of an FNR test is called negative",
        "core",
        "np.greater_equal if self.calibration.higher_is_positive else np.less_equal",
        "np.greater if self.calibration.higher_is_positive else np.less",
    ),
    Mutation(
        "The end that is extreme ignores higher_is_positive",
        "core",
        'return "low" if (null_class == 1) == calibration.higher_is_positive else "high"',
        'return "low" if null_class == 1 else "high"',
    ),
    Mutation(
        "The other error counts the right decisions",
        "core",
        'is_wrong = self._positive(scores, index, numbers)[0] == (self.control == "fnr")',
        'is_wrong = self._positive(scores, index, numbers)[0] == (self.control == "fpr")',
    ),
    Mutation(
        "Clopper-Pearson's upper limit is that of one side",
        "core",
        "betainccinv(wrong + 1, np.maximum(right, 1), tail)",
        "betainccinv(wrong + 1, np.maximum(right, 1), 2 * tail)",
    ),
    Mutation(
        "The certificate's limits of the true rate are of one score fewer",
        "core",
        "betaincinv(k, n + 1 - k, probability)",
        "betaincinv(k, max(n - k, 1), probability)",
    ),
    Mutation(
        "Holm's adjusted p-values may fall",
        "core",
        "np.minimum(np.maximum.accumulate(steps), 1.0)",
        "np.minimum(steps, 1.0)",
    ),
    Mutation(
        "Smoothed p-values leave out the new object",
        "core",
        "uniform * (1 + inclusive - beyond)",
        "uniform * (inclusive - beyond)",
    ),
    Mutation(
        "Groups that share a threshold are evaluated as if promised",
        "core",
        "Promise(None) if cell.pooled else self._promise_of(null)",
        "self._promise_of(null)",
    ),
    Mutation(
        "Objects of a group get the keys of others",
        "core",
        "mine = None if numbers is None else numbers[members]",
        "mine = None if numbers is None else numbers[: members.size]",
    ),
    Mutation(
        "Each start of a search for a precision gets all of delta",
        "core",
        "at_hand += delta / len(starts)",
        "at_hand += delta",
    ),
    Mutation(
        "The objects that guide a search certify, too",
        "core",
        "n, errors = candidates.counted(objects) - guided",
        "n, errors = candidates.counted(objects)",
    ),
    Mutation(
        "A tolerance moves thresholds at the high end to the bold side",
        "core",
        'self.inward = tolerance if tail == "low" else -tolerance',
        "self.inward = tolerance",
    ),
    Mutation(
        "P-values of clusters leave out the new cluster",
        "core",
        "(np.minimum(counts, n * unit) + unit) / (unit * (n + 1))",
        "np.minimum(counts, n * unit) / (unit * (n + 1))",
    ),
    Mutation(
        "P-values by weights leave out the new object's own",
        "core",
        "(beyond + weights) / (self._sums[-1] + weights)",
        "beyond / self._sums[-1] + 0.0 * weights",
    ),
    Mutation(
        "Counted buckets are taken at the bold end",
        "core",
        "below = np.concatenate([[0], self.least[:-1]])",
        "below = np.concatenate([[0], self.most[:-1]])",
    ),
    Mutation(
        "Benjamini-Hochberg is one rank too bold",
        "core",
        "q /= np.arange(1, p.size + 1)",
        "q /= np.arange(2, p.size + 2)",
    ),
    Mutation(
        "A plan for groups forgets to share delta",
        "core",
        "None if delta is None or groups is None else HighProbability(delta / groups)",
        "None if delta is None or groups is None else HighProbability(delta)",
    ),
    Mutation(
        "A test of both rates calls positive what it should abstain on",
        "core",
        "may_be_positive, may_be_negative = fnr.positive, ~fpr.positive",
        "may_be_positive, may_be_negative = fnr.positive, ~fnr.positive",
    ),
    Mutation(
        "An evaluation takes the smaller of two p-values",
        "core",
        "np.maximum(at_alpha, unchanged)",
        "np.minimum(at_alpha, unchanged)",
    ),
    Mutation(
        "Files whose checksum does not match are loaded",
        "core",
        "if place < 0 or _digest(start, *parts, data).encode() != digest:",
        "if place < 0:",
    ),
    Mutation(
        "Row numbers in messages start anew with each piece of a file",
        "files",
        "yield TextBlock(self, part, first + start, 0 if start else size)",
        "yield TextBlock(self, part, start, 0 if start else size)",
    ),
    Mutation(
        "Skipped rows shift the decisions of the rows after them",
        "files",
        "rows = order if rows is None else rows[order]",
        "rows = order",
    ),
    Mutation(
        "A missing label is an unknown one",
        "files",
        "gap = labels and isinstance(value, str) and is_gap(value)",
        "gap = False",
    ),
    Mutation(
        "Groups of a file get each other's names",
        "files",
        "place[used[order]] = np.arange(order.size)",
        "place[used] = np.arange(order.size)",
    ),
    Mutation(
        "TRUE and true are two labels",
        "files",
        "return text.capitalize()",
        "return text",
    ),
    Mutation(
        "Tabs are not seen as separators",
        "files",
        'max(",;\\t", key=parts)',
        'max(",;", key=parts)',
    ),
    Mutation(
        "Quoted values are written without their quotes",
        "files",
        "is_plain = not (rows.quoted or self._odd) and rows.mark == self._mark",
        "is_plain = rows.mark == self._mark",
    ),
    Mutation(
        "An output that failed is left behind",
        "files",
        "        _remove(place)\n        raise\n    finally:",
        "        raise\n    finally:",
    ),
    Mutation(
        "Merging drops the groups that only the second calibration has",
        "files",
        "(mine.get(name), theirs.get(name))",
        "(mine.get(name), theirs.get(name) if name in mine else None)",
    ),
    Mutation(
        "A missing group of an Arrow file is its first group",
        "files",
        "codes.fill_null(-1) if codes.null_count else codes",
        "codes.fill_null(0) if codes.null_count else codes",
    ),
    Mutation(
        "Rows without a decision get p-values of 0 in Parquet",
        "files",
        "else pa.array(values, mask=blank)",
        "else pa.array(values)",
    ),
    Mutation(
        "--positive of evaluate swaps the classes",
        "files",
        "codes == self._labels.texts.get(positive)",
        "codes != self._labels.texts.get(positive)",
    ),
    Mutation(
        "select writes the rows that it skipped, too",
        "files",
        "np.flatnonzero(codes == 1)",
        "np.flatnonzero(codes != 0)",
    ),
    Mutation(
        "shift ignores --lowest and --highest",
        "files",
        "prevalence=None if ends == (None, None) else ends",
        "prevalence=None",
    ),
    Mutation(
        "evaluate --require kept is content with open verdicts",
        "files",
        'open_ += [text] if require and part.verdict != "kept"',
        'open_ += [text] if require and part.verdict == "exceeded"',
    ),
    Mutation(
        "--sensitivity 95% is read as --fnr 95%",
        "files",
        "given[control] = _rest(level)",
        "given[control] = level",
    ),
    Mutation(
        "An impossible promise ends with the code of bad usage",
        "files",
        "raise CommandError(error.worded(spelled), IMPOSSIBLE) from error",
        "raise CommandError(error.worded(spelled)) from error",
    ),
    Mutation(
        "A monitor alarms at twice its delta",
        "monitoring",
        "goal = 1.0 / self.delta",
        "goal = 0.5 / self.delta",
    ),
    Mutation(
        "Intervals at any time are good for one side only",
        "monitoring",
        "n.astype(float), math.log(2.0 / delta)",
        "n.astype(float), math.log(1.0 / delta)",
    ),
    Mutation(
        "Bets on errors cost less than they are worth",
        "monitoring",
        "np.log1p(np.asarray(rate)[..., None] * np.expm1(THETAS))",
        "np.log1p(np.asarray(rate)[..., None] * THETAS)",
    ),
    Mutation(
        "Likeness to the calibration is judged by one score fewer",
        "monitoring",
        "float(rank), float(n_calibration + 1 - rank)",
        "float(rank), float(max(n_calibration - rank, 1))",
    ),
    Mutation(
        "Audited watches of many groups do not share delta",
        "monitoring",
        "delta / 2.0 / cells",
        "delta / 2.0",
    ),
    Mutation(
        "An audit's share is given to alerts in place of the others",
        "monitoring",
        'errors, correct = (rate, 1.0) if control == "fnr" else (1.0, rate)',
        'errors, correct = (1.0, rate) if control == "fnr" else (rate, 1.0)',
    ),
    Mutation(
        "The watches of groups and of everybody each get the whole delta",
        "monitoring",
        "share /= 2",
        "share /= 1",
    ),
    Mutation(
        "A monitor takes positives that are neither for no misses",
        "monitoring",
        '"fnr": (truth == 1, code in (NEGATIVE, NEITHER))',
        '"fnr": (truth == 1, code == NEGATIVE)',
    ),
    Mutation(
        "The worst case of missing labels is the best case",
        "monitoring",
        "ends[0 if kindest else -1]",
        "ends[0]",
    ),
    Mutation(
        "A decision at the very time of those counted is not late",
        "monitoring",
        "times < self.frontier if self._span is None else times <= self.frontier",
        "times < self.frontier",
    ),
    Mutation(
        "Decisions are counted at once, without their late labels",
        "monitoring",
        "return self.now - self._span",
        "return self.now",
    ),
    Mutation(
        "A loaded monitor draws its audit anew",
        "monitoring",
        'Audit(plan["audit_rate"], plan["audit_seed"])',
        'Audit(plan["audit_rate"])',
    ),
    Mutation(
        "Groups over the limit are named without regard to their number",
        "monitoring",
        "np.log(len(values) / (m * delta))",
        "np.log(1.0 / (m * delta))",
    ),
    Mutation(
        "The cap of an adaptive test forgets labels that came late",
        "monitoring",
        "self._late(max(1, self.most_waiting))",
        "self._late(1)",
    ),
    Mutation(
        "An adaptive test weighs alerts as if they were the audited ones",
        "monitoring",
        'weights = (weight, 1.0) if control == "fnr" else (1.0, weight)',
        'weights = (1.0, weight) if control == "fnr" else (weight, 1.0)',
    ),
    Mutation(
        "The same id gets another decision once the level has moved",
        "monitoring",
        "rejected[place], levels[place] = known.rejected, known.level",
        "levels[place] = known.level",
    ),
    Mutation(
        "An adaptive test does not reject at its very level",
        "monitoring",
        "rejected = p_values <= levels",
        "rejected = p_values < levels",
    ),
]

RECORDER = '''\
"""Note which test reaches which mutation, in a file of each process."""

import os

_known = set()


def reached(number):
    """Note that the test that runs, or the file that is read, comes to this place."""
    found = (number, os.environ.get("MUTATION_CALLER", ""))
    if found not in _known:
        _known.add(found)
        name = os.path.join(os.path.dirname(__file__), f"reached-{os.getpid()}")
        with open(name, "a", encoding="utf-8") as file:
            file.write(f"{found[0]}\\t{found[1]}\\n")
'''

PLUGIN = '''\
"""Say who runs, choose tests, and write how they went, with their times."""

import functools
import json
import os
import sys
from contextlib import contextmanager

import pytest

RUN = os.environ["MUTATION_RUN"]
seconds, failed = {}, []


def key(nodeid):
    """Return the id of a test wherever the copy of the source is, whose examples are `src::`."""
    path, sign, rest = nodeid.partition("::")
    return nodeid if not path or path.startswith("tests") else "src" + sign + rest


@contextmanager
def calling(name):
    before = os.environ.get("MUTATION_CALLER", "")
    os.environ["MUTATION_CALLER"] = name
    try:
        yield
    finally:
        os.environ["MUTATION_CALLER"] = before


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    with calling(key(collector.nodeid)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    """What tests share is of all of the file or folder."""
    if fixturedef.scope == "function":
        return (yield)
    with calling(key(fixturedef.baseid)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Forget results of earlier tests, lest a test not reach what it depends on."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "ratekeeper":
            for one in list(vars(module).values()):
                if isinstance(one, functools._lru_cache_wrapper):
                    one.cache_clear()
    with calling(key(item.nodeid)):
        return (yield)


def pytest_collection_modifyitems(config, items):
    if not os.path.exists(f"{RUN}/chosen.json"):
        return
    with open(f"{RUN}/chosen.json", encoding="utf-8") as file:
        chosen = set(json.load(file))
    config.hook.pytest_deselected(items=[one for one in items if key(one.nodeid) not in chosen])
    items[:] = [one for one in items if key(one.nodeid) in chosen]


def pytest_runtest_logreport(report):
    name = key(report.nodeid)
    if not report.skipped:
        seconds[name] = seconds.get(name, 0.0) + report.duration
    if report.failed and name not in failed:
        failed.append(name)


def pytest_sessionfinish():
    if "PYTEST_XDIST_WORKER" not in os.environ:
        with open(f"{RUN}/result.json", "w", encoding="utf-8") as file:
            json.dump({"seconds": seconds, "failed": failed}, file)
'''


class Place(NamedTuple):
    """Where a mutation is to be made: a file of the source, and a place in its text."""

    path: Path
    start: int


def places(source: Path) -> list[Place]:
    """Find all mutations, or end: each text must occur once, and what it becomes must compile."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(source.rglob("*.py"))}
    found, wrong = [], []
    for one in MUTATIONS:
        paths = [path for path, text in texts.items() for _ in range(text.count(one.old))]
        if len(paths) != 1:
            where = ", ".join(path.name for path in paths)
            wrong.append(f"{f'ambiguous ({where})' if paths else 'missing'}: {one.what}\n{one.old}")
            continue
        text = texts[paths[0]]
        compile(text.replace(one.old, one.new), str(paths[0]), "exec")
        indent = len(one.old) - len(one.old.lstrip())
        found.append(Place(paths[0].relative_to(source), text.index(one.old) + indent))
    if wrong:
        sys.exit("These mutations have to be written anew.\n" + "\n".join(wrong))
    return found


def instrument(source: Path, found: list[Place]) -> None:
    """Let each function in which there is a mutation note that it is reached."""
    calls: dict[Path, list[tuple[int, str]]] = defaultdict(list)
    for number, (path, start) in enumerate(found):
        text = (source / path).read_text(encoding="utf-8")
        line = text.count("\n", 0, start) + 1
        functions = [
            node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.lineno <= line <= (node.end_lineno or 0)
        ]
        call = f'__import__("mutation_recorder").reached({number})'
        if not functions:  # whoever imports the module
            calls[path].append((text.count("\n") + 1, call + "\n"))
            continue
        inner = max(functions, key=lambda node: node.lineno)
        first: Any = inner.body[1 if ast.get_docstring(inner) is not None else 0]
        top = min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", ()))])
        calls[path].append((top, f"{' ' * first.col_offset}{call}\n"))
    for path, lines in calls.items():
        text = (source / path).read_text(encoding="utf-8").splitlines(keepends=True)
        for line, call in sorted(lines, reverse=True):
            text.insert(line - 1, call)
        (source / path).write_text("".join(text), encoding="utf-8")


def copied(base: Path, target: Path) -> Path:
    """Copy a tree with `src` in it, and return where the package is."""
    shutil.copytree(base, target)
    return target / "src" / "ratekeeper"


def environment(tree: Path, run: Path) -> dict[str, str]:
    """Return the environment in which programs import the package of a tree."""
    parts = [str(tree / "src"), str(run), *filter(None, [os.environ.get("PYTHONPATH")])]
    more = {"PYTHONPATH": os.pathsep.join(parts), "MUTATION_RUN": str(run), "MUTATION_CALLER": ""}
    return {**os.environ, **more, "HYPOTHESIS_STORAGE_DIRECTORY": str(run / "hypothesis")}


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a run of tests with all that it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_tests(
    tree: Path, run: Path, paths: list[str], *options: str, limit: float | None = None
) -> tuple[int | None, dict[str, Any]]:
    """Run tests on a tree, and return pytest's code, None for a timeout, and what was noted."""
    run.mkdir(exist_ok=True)
    (run / "mutation_plugin.py").write_text(PLUGIN, encoding="utf-8")
    (run / "result.json").unlink(missing_ok=True)
    here = [str(tree / path) if path.split("/")[0] == "src" else path for path in paths]
    own = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "-p", "mutation_plugin"]
    command = [sys.executable, "-m", "pytest", *own, "-q", "-p", "no:cacheprovider"]
    env = environment(tree, run)
    imported = [sys.executable, "-c", "import ratekeeper; print(ratekeeper.__file__)"]
    with (run / "output.txt").open("w", encoding="utf-8") as output:
        shown = subprocess.run(imported, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=False)
        if shown.returncode == 0 and not shown.stdout.decode().startswith(str(tree)):
            sys.exit(f"The copy is not what is imported, but {shown.stdout.decode().strip()}.")
        process = subprocess.Popen(
            [*command, *options, *here],
            cwd=ROOT,
            env=env,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        running.add(process)
        try:
            code: int | None = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            running.discard(process)
            stop(process)
    result = run / "result.json"
    return code, json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}


class Map(NamedTuple):
    """What the first run found: by mutation the tests, and how long each test takes."""

    reached: dict[str, list[str]]  # by themselves
    shared: dict[str, list[str]]  # by what they share with other tests
    seconds: dict[str, float]
    failed: list[str]


def mapped(base: Path, work: Path, found: list[Place], tests: list[str]) -> Map:
    """Run the tests once on a copy that notes who reaches what."""
    tree, run = work / "noting", work / "noting-run"
    instrument(copied(base, tree), found)
    run.mkdir()
    (run / "mutation_recorder.py").write_text(RECORDER, encoding="utf-8")
    code, result = run_tests(tree, run, tests or ["tests", "src/ratekeeper"])
    if code not in (0, 1):
        sys.exit(f"pytest ended with code {code}: see {run / 'output.txt'}")
    seconds, failed = result["seconds"], result["failed"]
    callers: dict[int, set[str]] = defaultdict(set)
    for path in run.glob("reached-*"):
        for line in path.read_text(encoding="utf-8").splitlines():
            number, _, caller = line.partition("\t")
            callers[int(number)].add(caller)
    good = [test for test in seconds if test not in failed]
    exact: dict[str, list[str]] = {}
    shared: dict[str, list[str]] = {}
    for number, one in enumerate(MUTATIONS):
        own = callers[number]
        wide = tuple(f"{name}{sign}" for name in own if name for sign in ("::", "/"))
        exact[one.what] = [test for test in good if test in own]
        rest = [test for test in good if test not in own]
        shared[one.what] = [test for test in rest if "" in own or test.startswith(wide)]
    return Map(exact, shared, seconds, failed)


def quickest(tests: list[str], seconds: dict[str, float]) -> list[str]:
    """Return some quick tests, from few files."""
    chosen: list[str] = []
    files: Counter[str] = Counter()
    for test in sorted(tests, key=lambda test: seconds[test]):
        path = test.partition("::")[0]
        has_room = len(files) < QUICK_FILES or path in files
        if len(chosen) < QUICK and has_room and files[path] < QUICK_PER_FILE:
            files[path] += 1
            chosen.append(test)
    return chosen


class Verdict(NamedTuple):
    """What became of a mutation, and how long that took."""

    kind: str  # caught, hangs, survived, not reached or error
    by: str
    seconds: float


def file_of(test: str) -> str:
    """Return the file of a test; that of a docstring's example follows from the dotted name."""
    path, _, name = test.partition("::")
    if path != "src":
        return path
    place = Path("src")
    for part in name.split("."):
        if (ROOT / place / f"{part}.py").exists():
            return str(place / f"{part}.py")
        if not (ROOT / place / part).is_dir():
            break
        place /= part
    return str(place / "__init__.py")


def some_tests(tree: Path, run: Path, tests: list[str], known: Map) -> tuple[int | None, str]:
    """Run these tests up to the first that fails; return pytest's code and the failing test."""
    run.mkdir(exist_ok=True)
    (run / "chosen.json").write_text(json.dumps(tests), encoding="utf-8")
    spent: Counter[str] = Counter()
    for test in tests:
        spent[file_of(test)] += known.seconds[test]  # type: ignore[assignment]
    files = sorted(spent, key=lambda path: spent[path])
    limit = max(TIME_LIMIT, SLOWER * sum(known.seconds[test] for test in tests))
    code, result = run_tests(tree, run, files, "-x", "-n0", limit=limit)
    return code, next(iter(result.get("failed", [])), "")


def judged(base: Path, work: Path, number: int, place: Place, known: Map) -> Verdict:
    """Make one mutation and run the tests that reach it, quick ones first."""
    one, start = MUTATIONS[number], time.monotonic()
    exact, shared = known.reached[one.what], known.shared[one.what]
    if not exact and not shared:
        return Verdict("not reached", "", 0.0)
    tree, run = work / f"broken-{number + 1}", work / f"broken-{number + 1}-run"
    path = copied(base, tree) / place.path
    path.write_text(path.read_text(encoding="utf-8").replace(one.old, one.new), encoding="utf-8")
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
        compiled.unlink()
    first = quickest(exact or shared, known.seconds)
    chosen = set(first)
    verdict = ("survived", "")
    for tests in (first, [test for test in [*exact, *shared] if test not in chosen]):
        code, failing = some_tests(tree, run, tests, known) if tests else (0, "")
        if code == 0:
            continue
        verdict = ("error", f"pytest ended with code {code}: see {run / 'output.txt'}")
        if code is None:
            verdict = ("hangs", "")
        elif code == 1 and failing:
            verdict = ("caught", failing)
            if some_tests(base, work / f"whole-{number + 1}-run", [failing], known)[0] != 0:
                verdict = ("error", f"{failing} fails without the mutation, too")
        break
    shutil.rmtree(tree)
    return Verdict(*verdict, time.monotonic() - start)


def shown(verdict: Verdict) -> str:
    """Return the last column of the table."""
    if verdict.kind == "caught":
        path, _, name = verdict.by.partition("::")
        return f"{Path(path).name}::{name.partition('[')[0]}"
    names = {"hangs": "caught: the tests hang", "error": f"ERROR: {verdict.by}"}
    return names.get(verdict.kind, verdict.kind.upper())


def table(verdicts: dict[int, Verdict]) -> str:
    """Return what became of all, in lines of at most 100 characters."""
    rows = [["", "area", "what is broken", "caught by"]]
    for number, verdict in sorted(verdicts.items()):
        rows.append([str(number + 1), MUTATIONS[number].area, MUTATIONS[number].what])
        rows[-1].append(shown(verdict))
    lines = []
    for row in rows:
        cells = [textwrap.wrap(row[2], WHAT), textwrap.wrap(row[3], BY)]
        for i in range(max(map(len, cells))):
            what, by = (cell[i] if i < len(cell) else "" for cell in cells)
            start = row[:2] if i == 0 else ["", ""]
            line = f"{start[0]:>2}  {start[1]:<{AREA}}  {what:<{WHAT}}  {by}"
            lines.append(line.rstrip())
    return "\n".join(lines)


def is_caught(verdict: Verdict) -> bool:
    """Return whether the tests notice a mutation."""
    return verdict.kind in ("caught", "hangs")


def counts(verdicts: dict[int, Verdict]) -> str:
    """Return how many are caught, by area."""
    lines = []
    for area in dict.fromkeys(one.area for one in MUTATIONS):
        own = [is_caught(one) for i, one in verdicts.items() if MUTATIONS[i].area == area]
        if own:
            lines.append(f"{area:<{AREA}}  {sum(own)} of {len(own)} caught")
    total = sum(map(is_caught, verdicts.values()))
    return "\n".join([*lines, f"{'all':<{AREA}}  {total} of {len(verdicts)} caught"])


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="mutations with this text in words or area")
    parser.add_argument("--jobs", type=int, default=2, help="mutations at a time")
    parser.add_argument("--work", type=Path, help="folder that is to be made, and is kept")
    parser.add_argument("--map", type=Path, help="file of the first run, made if it is missing")
    parser.add_argument("--tests", nargs="+", default=[], help="tests, in place of the default")
    parser.add_argument("--output", type=Path, help="write the results as JSON, too")
    return parser.parse_args()


def known_of(given: argparse.Namespace, base: Path, work: Path, found: list[Place]) -> Map:
    """Return what the first run found, or run it."""
    if given.map is not None and given.map.exists():
        known = Map(**json.loads(given.map.read_text(encoding="utf-8")))
        if missing := {one.what for one in MUTATIONS} - known.reached.keys():
            sys.exit(f"{given.map} does not know: {'; '.join(sorted(missing))}. Remove it.")
        return known
    print("Running the tests once, to see what they reach ...", file=sys.stderr, flush=True)
    known = mapped(base, work, found, given.tests)
    if given.map is not None:
        given.map.write_text(json.dumps(known._asdict(), indent=1), encoding="utf-8")
    return known


def check(given: argparse.Namespace, work: Path) -> bool:
    """Judge the mutations, print the results, and return whether enough are caught."""
    base = work / "base"
    shutil.copytree(ROOT / "src", base / "src", ignore=shutil.ignore_patterns("__pycache__"))
    found = places(base / "src" / "ratekeeper")
    known = known_of(given, base, work, found)
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(base / "src")], check=True)
    text = given.only.lower()
    chosen = [i for i, one in enumerate(MUTATIONS) if text in f"{one.area} {one.what}".lower()]
    if not chosen:
        sys.exit(f"No mutation has {given.only!r} in its words or area.")
    verdicts: dict[int, Verdict] = {}
    pool = ThreadPoolExecutor(given.jobs)
    try:
        tasks = {pool.submit(judged, base, work, i, found[i], known): i for i in chosen}
        for task in as_completed(tasks):
            i = tasks[task]
            verdicts[i] = task.result()
            said = f"{MUTATIONS[i].what}: {shown(verdicts[i])} ({verdicts[i].seconds:.0f} s)"
            print(f"{len(verdicts)}/{len(chosen)}  {said}", file=sys.stderr, flush=True)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in list(running):
            stop(process)
    print(table(verdicts), counts(verdicts), sep="\n\n")
    if known.failed:
        print("\nLeft out, since they fail without a mutation:", *known.failed, sep="\n  ")
    if given.output is not None:
        facts = [
            {"number": i + 1, **MUTATIONS[i]._asdict(), **one._asdict()}
            for i, one in sorted(verdicts.items())
        ]
        given.output.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    missed = sum(not is_caught(one) for one in verdicts.values())
    has_error = any(one.kind == "error" for one in verdicts.values())
    may_miss = len(MUTATIONS) - LEAST_CAUGHT if len(chosen) == len(MUTATIONS) else 0
    return missed <= may_miss and not has_error


def main() -> int:
    """Run the check in a folder of its own."""
    given = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that what runs is ended, too
    if given.work is not None:
        given.work.mkdir(parents=True)
        return 0 if check(given, given.work.resolve()) else 1
    with tempfile.TemporaryDirectory(prefix="mutations-") as work:
        return 0 if check(given, Path(work).resolve()) else 1


if __name__ == "__main__":
    sys.exit(main())
