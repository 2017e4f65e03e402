"""A comparison in a hostile place: planted modules, a second run, a kill, a spoiled journal."""

from __future__ import annotations

import json
import mmap
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from contextlib import contextmanager, suppress
from dataclasses import fields
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest

import ratekeeper as rk

TIMEOUT = 120  # seconds after which a test gives up
ASKED = {"control": "fnr", "alpha": 0.1, "systems": ["plain", "conformal"], "repeats": 2}
COMMAND = ["--label", "y", "--control", "fnr", "--alpha", "0.1", "--jobs", "2"]
FEW = ["--systems", "plain,conformal", "--repeats", "2"]
MARKS = "open({folder!r} + '/' + __name__, 'w').close()\n"
# What pip makes of an entry point.
(PROGRAM,) = entry_points(group="console_scripts", name="ratekeeper")
SCRIPT = f"""import sys
from {PROGRAM.module} import {PROGRAM.attr} as main
if __name__ == "__main__":
    sys.exit(main())
"""
MEMORY = Path("/dev/shm")  # noqa: S108 - what joblib uses
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def data():
    y = np.tile([0, 1], 150)
    return np.random.default_rng(3).normal(1.5 * y)[:, None], y


def environment(**extra):
    """Return an environment that leaves Python's own safe path to us."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"} | extra


def table(path, rows=300, columns=1):
    y = np.arange(rows) % 2
    X = np.random.default_rng(3).normal(1.5 * y[:, None], size=(rows, columns))
    header = ",".join([*(f"x{i}" for i in range(columns)), "y"])
    np.savetxt(path, np.column_stack([X, y]), "%.5g", ",", header=header, comments="")
    return path


def plant(folder, marks, spared=()):
    """Fill a folder with modules that leave a mark when they are imported."""
    marks.mkdir()
    others = ["joblib", "sklearn", "numpy", "scipy", "click", "rich", "narwhals", "threadpoolctl"]
    others += ["pandas", "pyarrow", "cloudpickle", "sitecustomize", "usercustomize"]
    for name in {*sys.stdlib_module_names, *others} - {*spared}:
        (folder / f"{name}.py").write_text(MARKS.format(folder=str(marks)))


def loaded_by_python_itself(folder):
    """Return what ``python -m`` imports before any code of the package that it runs."""
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("import sys; print(*sys.modules)")
    (folder / "package" / "__main__.py").touch()
    command = [sys.executable, "-m", "package"]
    return subprocess.check_output(command, cwd=folder, env=environment(), text=True).split()


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["script", "module"])
def test_modules_beside_the_table_are_never_run(tmp_path, how):
    """No file in the current folder is imported, neither by the command nor by its processes."""
    folder, marks, place = tmp_path / "data", tmp_path / "marks", tmp_path / "place"
    folder.mkdir()
    place.mkdir()
    table(folder / "data.csv")
    (place / "ratekeeper").write_text(SCRIPT)
    start = [str(place / "ratekeeper")] if how == "script" else ["-m", "ratekeeper"]
    plant(folder, marks, loaded_by_python_itself(place) if how == "module" else ())
    result = subprocess.run(
        [sys.executable, *start, "compare", "data.csv", *COMMAND, *FEW, "-o", "out"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    assert result.returncode == 0, result.stderr
    assert [mark.name for mark in marks.iterdir()] == []
    assert len((folder / "out" / "trials.jsonl").read_text().splitlines()) == 5


@pytest.mark.thorough
def test_own_classes_are_found_and_the_current_folder_is_not(tmp_path):
    """Processes find what the user's program finds, and look nowhere else."""
    folder, marks, home = tmp_path / "data", tmp_path / "marks", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    plant(folder, marks)
    own = """
        import numpy as np
        from sklearn.base import BaseEstimator, ClassifierMixin
        class {name}(ClassifierMixin, BaseEstimator):
            def fit(self, X, y):
                print("a word on standard output")
                self.classes_ = np.unique(y)
                return self
            def predict(self, X):
                return np.full(len(X), self.classes_[1])
    """.replace("\n        ", "\n")
    (home / "beside.py").write_text(own.format(name="Beside"))
    (home / "program.py").write_text(
        own.format(name="Within")
        + """
from beside import Beside
import ratekeeper as rk
y = np.tile([0, 1], 50)
systems = {"beside": Beside(), "within": Within()}
result = rk.compare(y[:, None] * 1.0, y, control="fnr", alpha=0.1, systems=systems, n_jobs=2)
assert [row.target for row in result.rows] == [0, 0], result
assert [row.note for row in result.rows] == ["", ""], result
"""
    )
    result = subprocess.run(
        [sys.executable, home / "program.py"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    assert result.returncode == 0, result.stderr
    assert [mark.name for mark in marks.iterdir()] == []


@pytest.mark.thorough
def test_a_journal_has_one_run_at_a_time(tmp_path, data):
    """A second run is refused before any work, until the first one ends, however it does."""
    X, y = data
    path = tmp_path / "trials.jsonl"
    program = tmp_path / "slow.py"
    program.write_text(
        f"""
import time, numpy as np, ratekeeper as rk
from sklearn.dummy import DummyClassifier
class Slow(DummyClassifier):
    def fit(self, X, y):
        time.sleep({TIMEOUT})
y = np.tile([0, 1], 150)
X = np.random.default_rng(3).normal(1.5 * y)[:, None]
rk.compare(X, y, control="fnr", alpha=0.1, systems={{"slow": Slow()}}, n_jobs=1,
           checkpoint={str(path)!r})
"""
    )
    with subprocess.Popen([sys.executable, program]) as first, killed(first):
        wait_until(lambda: path.exists() and path.stat().st_size)
        before = path.read_bytes()
        with pytest.raises(rk.InputError, match=rf"{path} is in use by another") as refused:
            rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=path)
        found = re.search(r"process (\d+)", str(refused.value))
        assert found is None or int(found[1]) == first.pid
        assert path.read_bytes() == before
    result = rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=path)
    assert len(result.trials) == 4


@pytest.mark.thorough
def test_a_locked_output_is_refused_before_the_table_is_read(tmp_path):
    """The command holds its folder from the first to the last byte that it writes."""
    fcntl = pytest.importorskip("fcntl")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "ratekeeper", "compare"]
    done = subprocess.run(
        [*command, table(tmp_path / "data.csv"), *COMMAND, *FEW, "-o", out],
        env=environment(),
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    with (out / "trials.jsonl").open("rb+") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        result = subprocess.run(
            [*command, tmp_path / "missing.csv", *COMMAND, *FEW, "-o", out],
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
    assert result.returncode == 2
    assert "trials.jsonl is in use by another" in result.stderr
    assert "--output" in result.stderr


def test_without_locks_the_work_goes_on(tmp_path, data, monkeypatch):
    """A file system that has no locks is no reason to refuse."""
    fcntl = pytest.importorskip("fcntl")

    def no_lock(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", no_lock)
    X, y = data
    path = tmp_path / "trials.jsonl"
    assert rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=path).rows[0].repeats == 2


@pytest.mark.thorough
@needs_linux
def test_a_killed_run_leaves_nothing_behind(tmp_path, others):
    """After kill -9 no process of the run is left, and no file of it in the temporary folders.

    Other programs use shared memory meanwhile, under names like those that joblib gives.
    """
    places = {name: tmp_path / name for name in ("TMPDIR", "JOBLIB_TEMP_FOLDER")}
    for place in places.values():
        place.mkdir()
    path = table(tmp_path / "data.csv", 4000, 60)  # 2 MB, more than is worth copying
    command = [sys.executable, "-m", "ratekeeper", "compare", path, *COMMAND, "--repeats", "200"]
    with (
        subprocess.Popen(
            [*command, "--systems", "plain,conformal", "-o", tmp_path / "out"],
            env=environment(**{name: str(place) for name, place in places.items()}),
            start_new_session=True,
        ) as run,
        killed(run),
    ):
        journal = tmp_path / "out" / "trials.jsonl"
        wait_until(lambda: journal.exists() and len(journal.read_bytes().splitlines()) > 3)
        others()
        processes = processes_of(run.pid)
        assert len(processes) > 2
        shared = in_memory(processes)
    wait_until(lambda: not processes_of(run.pid))
    wait_until(lambda: not [*places["TMPDIR"].iterdir(), *places["JOBLIB_TEMP_FOLDER"].iterdir()])
    shared |= in_memory(processes)
    assert not [path for path in shared if path.exists()]


@pytest.fixture
def others():
    """Make files in shared memory as another program would, and remove them at the end."""
    made = []

    def make(pid=1):
        path = MEMORY / f"joblib_memmapping_folder_{pid}_{uuid.uuid4().hex}"
        path.write_bytes(b"not ours")
        made.append(path)
        return path

    yield make
    for path in made:
        path.unlink()


def in_memory(processes):
    """Return the files in shared memory that processes have open, or that have their numbers."""
    found = set()
    for number in processes:
        named = re.compile(rf"[._-]{number}([._-]|$)")  # as joblib and loky write it
        found |= {path for path in MEMORY.iterdir() if named.search(path.name)}
        with suppress(OSError):  # it ended meanwhile
            maps = Path(f"/proc/{number}/maps").read_text()
            found |= set(map(Path, re.findall(rf"{MEMORY}/\S+", maps)))
    return found


@needs_linux
def test_files_in_shared_memory_are_known_by_their_process(others):
    """The test above sees files of its own processes, by name or in use, and no others."""
    own, foreign = others(os.getpid()), others(f"{os.getpid()}0")
    assert {own, foreign} & in_memory([os.getpid()]) == {own}
    with foreign.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        assert {own, foreign} <= in_memory([os.getpid()])


@contextmanager
def killed(process):
    """Kill a process at the end, also if the test fails."""
    try:
        yield
    finally:
        process.kill()


def processes_of(session):
    """Return the processes of a session that are alive."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(place.name))
    return found


def wait_until(true):
    end = time.monotonic() + TIMEOUT
    while not true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)


class Deadly:
    """Mixed into a classifier, it ends the process that trains it."""

    def fit(self, X, y):  # noqa: ARG002 - it does not get that far
        """End at once."""
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.thorough
@needs_linux
def test_a_process_that_is_killed_is_told(data):
    """A worker that the system ends becomes an error that names system and signal, not a hang."""
    from sklearn.dummy import DummyClassifier

    class Murdered(Deadly, DummyClassifier):
        pass

    X, y = data
    systems = {"fatal": Murdered(), "plain": DummyClassifier()}
    with pytest.raises(rk.InputError, match=r"'fatal' on split \d .*SIGKILL.*n_jobs=1"):
        rk.compare(X, y, **{**ASKED, "systems": systems}, n_jobs=2)


@pytest.mark.thorough
def test_what_cannot_be_sent_is_told(data):
    """A classifier that cannot go to another process is refused, with the way out."""
    from sklearn.dummy import DummyClassifier

    class Rooted(DummyClassifier):
        def __reduce__(self):
            raise TypeError("a tree is not moved")

    class Lost(DummyClassifier):
        def __reduce__(self):
            return int, ("no number",)

    X, y = data
    for system, words in ((Rooted(), "a tree is not moved"), (Lost(), "invalid literal")):
        systems = {"odd": system, "plain": DummyClassifier()}
        with pytest.raises(rk.InputError, match=rf"'odd'.*{words}.*n_jobs=1"):
            rk.compare(X, y, **{**ASKED, "systems": systems}, n_jobs=2)


def journal_of(data, path):
    X, y = data
    rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=path)
    return path.read_bytes().splitlines(keepends=True)


def edited(line, **fields):
    return json.dumps(json.loads(line) | fields).encode() + b"\n"


WRONG = {
    "a whole number as text": {"target_errors": "3"},
    "a boolean as number": {"target_errors": True},
    "a fraction": {"target_errors": 0.5},
    "nothing": {"target_errors": None},
    "a list": {"system": ["plain"]},
    "a dict": {"made": {}},
    "a note that is a number": {"refusal": 3},
    "a warning that is a list": {"warning": ["a"]},
    "below zero": {"other_errors": -1},
    "more errors than objects": {"target_errors": 46},
    "no objects": {"target_n": 0},
    "another number of objects": {"other_n": 46},
    "more abstentions than objects": {"abstained": 91},
    "huge": {"training_rows": 10**400},
    "huge repeat": {"repeat": 2**70},
    "a repeat as a fraction": {"repeat": 1.0},
    "scores as text": {"null_scores": "many"},
    "seconds as text": {"fit_seconds": "1"},
    "seconds below zero": {"fit_seconds": -1.0},
    "seconds without end": {"judge_seconds": 1e308},
    "not a number": {"fit_seconds": float("nan")},
    "infinite": {"judge_seconds": float("inf")},
    "a rank beyond all scores": {"null_scores": 9, "threshold_rank": 10},
    "a rank of nothing": {"null_scores": None, "threshold_rank": 1},
    "the rank 0": {"null_scores": 9, "threshold_rank": 0},
    "metrics as text": {"metrics": "many"},
    "a metric as text": {"metrics": [["cost", "3"]]},
    "a metric without end": {"metrics": [["cost", float("inf")]]},
    "another metric": {"metrics": [["cost", 3.0]]},
    "unknown field": {"mood": "good"},
}
ODD_LINES = {
    "empty": b"\n",
    "a number": b"7\n",
    "a list": b"[]\n",
    "null": b"null\n",
    "no fields": b"{}\n",
    "two values": b"{} {}\n",
    "bytes that are no text": b'{"system": "\xff"}\n',
    "deep": b"[" * 100_000 + b"\n",
    "deep dict": b'{"a":' * 100_000 + b"\n",
    "long": b" " * 3_000_000 + b"\n",
    "many digits": b'{"repeat": ' + b"9" * 10_000 + b"}\n",
    "nul": b"\0\n",
}


def test_wrong_lines_are_refused_by_number(tmp_path, data):
    """Whatever is wrong with a line, it is named, what to do is said, and nothing is changed."""
    X, y = data
    path = tmp_path / "trials.jsonl"
    header, *lines = journal_of(data, path)
    cases = {name: edited(lines[1], **fields) for name, fields in WRONG.items()} | ODD_LINES
    cases["a field missing"] = lines[1].replace(b'"repeat": 0, ', b"")
    cases["a field twice"] = lines[1].replace(b'"repeat"', b'"repeat": 0, "repeat"')
    cases["the same trial twice"] = lines[0]
    failures = []
    for name, line in cases.items():
        content = b"".join([header, lines[0], line, *lines[2:]])
        path.write_bytes(content)
        try:
            rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=path)
        except rk.InputError as error:
            text = str(error)
            if f"{path}, line 3:" not in text or "checkpoint" not in text or len(text) > 600:
                failures.append(f"{name}: {text[:900]}")
        except Exception as error:  # noqa: BLE001 - every failure is reported
            failures.append(f"{name}: {type(error).__name__}: {error}")
        else:
            failures.append(f"{name}: taken")
        if path.read_bytes() != content:
            failures.append(f"{name}: the file was changed")
    assert failures == []


def test_a_file_that_only_lacks_its_last_newline_is_not_overwritten(tmp_path, data):
    """Only what is the beginning of a journal counts as a journal cut short."""
    X, y = data
    path = tmp_path / "notes.txt"
    path.write_text("my only copy")
    with pytest.raises(rk.InputError, match="another program"):
        rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=path)
    assert path.read_text() == "my only copy"
    journal = tmp_path / "trials.jsonl"
    header = journal_of(data, journal)[0]
    journal.write_bytes(header[:30])
    assert len(rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=journal).trials) == 4
    assert len(journal.read_bytes().splitlines()) == 5


def test_a_checkpoint_that_is_no_file_is_refused(tmp_path, data):
    """Folders, pipes, devices and names that no file can have are refused at once."""
    X, y = data
    places = [tmp_path, Path(os.devnull), tmp_path / "a\0b", tmp_path / ("a" * 5000)]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        places.append(tmp_path / "pipe")
    for place in places:
        with pytest.raises(rk.InputError, match="cannot be used"):
            rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=place)


@pytest.mark.thorough
def test_links_of_others_lead_to_no_journal(tmp_path, data):
    """A stranger's link in a folder where everybody may write makes and fills no file elsewhere."""
    X, y = data
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (shared / "trials.jsonl").symlink_to(tmp_path / "elsewhere")
    (shared / "out").symlink_to(tmp_path)
    try:
        for name in ("trials.jsonl", "out"):
            os.chown(shared / name, 12345, 12345, follow_symlinks=False)
    except PermissionError:
        pytest.skip("only root can play two users")
    with pytest.raises(rk.InputError, match="another user"):
        rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=shared / "trials.jsonl")
    command = [sys.executable, "-P", "-c", SCRIPT, "compare", table(tmp_path / "t.csv"), *COMMAND]
    done = subprocess.run(
        [*command, *FEW, "-o", shared / "out"],
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert (done.returncode, "another user" in done.stderr) == (2, True), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shared", "t.csv"]


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_processes_that_a_system_leaves_behind_are_not_waited_for(tmp_path):
    """A system that forks and forgets does not keep the comparison from its end."""
    script = f"""
        import os, time
        from pathlib import Path
        import numpy as np, ratekeeper as rk
        from sklearn.linear_model import LogisticRegression
        class Forking(LogisticRegression):
            def fit(self, X, y):
                if os.fork() == 0:
                    while not Path({str(tmp_path / "over")!r}).exists():
                        time.sleep(0.1)
                    os._exit(0)
                return super().fit(X, y)
        y = np.tile([0, 1], 50)
        asked = {{"control": "fnr", "alpha": 0.2, "repeats": 2, "n_jobs": 2}}
        rk.compare(y[:, None], y, systems={{"forking": Forking()}}, **asked)
        print("end")
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    try:
        # Standard error stays open where it is: what was left behind has it, too.
        with (tmp_path / "errors").open("w") as errors:
            done = subprocess.run(
                [sys.executable, "script.py"],
                cwd=tmp_path,
                check=False,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                timeout=TIMEOUT,
            )
    finally:
        (tmp_path / "over").touch()
    assert (done.returncode, done.stdout) == (0, "end\n"), (tmp_path / "errors").read_text()


@pytest.mark.thorough
def test_what_is_printed_while_a_process_starts_is_no_reply(tmp_path):
    """A site that greets everybody on standard output, unbuffered as in containers, harms none."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("print('good day')\nprint('to', end='')\n")
    path = os.pathsep.join([str(tmp_path / "site"), *sys.path])
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT, "compare", table(tmp_path / "t.csv"), *COMMAND, *FEW],
        env=environment(PYTHONPATH=path, PYTHONUNBUFFERED="1"),
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    assert "conformal" in done.stdout


@pytest.mark.thorough
@needs_linux
def test_a_huge_journal_is_read_in_little_memory(tmp_path, data):
    """An endless line is refused and a gigabyte of others' trials is skipped, both line by line."""
    path = tmp_path / "trials.jsonl"
    header, first, *_ = journal_of(data, path)
    other = first.replace(b'"plain"', b'"elsewhere"')
    program = """
import sys, numpy as np, ratekeeper as rk
y = np.tile([0, 1], 150)
X = np.random.default_rng(3).normal(1.5 * y)[:, None]
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1024
asked = dict(control="fnr", alpha=0.1, systems=["plain", "conformal"], repeats=2, n_jobs=1)
rk.compare(X, y, **asked)
before = peak()
try:
    rk.compare(X, y, **asked, checkpoint=sys.argv[1])
    print("read", peak() - before)
except rk.InputError as error:
    print(error, peak() - before)
"""
    for said, tail in (("line 3: it is longer", None), ("read", other * 100_000)):
        with path.open("wb") as file:
            file.write(header + first)
            if tail is None:
                file.truncate(1_000_000_000)  # a hole of zeros, without a line end
            else:
                file.write(tail)
        answer = subprocess.check_output([sys.executable, "-c", program, path], text=True)
        assert said in answer
        assert int(answer.split()[-1]) < 20_000_000


def test_notes_of_a_journal_are_shown_without_control_characters(tmp_path, data):
    """Escape sequences, odd characters and endless texts of a journal reach no screen or file."""
    X, y = data
    path = tmp_path / "trials.jsonl"
    header, *lines = journal_of(data, path)
    note = "\x1b[2J\ud800\u202e" + "x" * 5000
    path.write_bytes(header + b"".join(edited(line, warning=note) for line in lines))
    result = rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=path)
    result.save(tmp_path / "out")
    assert result.rows[0].note.startswith(r"warned: \x1b[2J\ud800\u202e")
    assert len(result.rows[0].note) < 1100


@pytest.mark.thorough
def test_what_a_system_says_is_kept_and_read_back(tmp_path, data):
    """Errors that no file could hold become notes that every file can, also after resuming."""
    from sklearn.dummy import DummyClassifier

    class Odd(DummyClassifier):
        def fit(self, X, y):  # noqa: ARG002 - it does not get that far
            raise OSError("no \ud800 \x1b file " + "y" * 2_000_000)

    class Rows(DummyClassifier):
        n_training_ = -3

    X, y = data
    asked = {**ASKED, "systems": {"odd": Odd(), "rows": Rows()}}
    path = tmp_path / "trials.jsonl"
    result = rk.compare(X, y, **asked, n_jobs=1, checkpoint=path)
    again = rk.compare(X, y, **asked, n_jobs=1, checkpoint=path)
    assert again.trials == result.trials
    assert r"failed: OSError: no \ud800 \x1b file" in result.rows[0].note
    assert "n_training_" in result.rows[1].note
    result.save(tmp_path / "out")


def test_names_are_one_line_of_bounded_length(data):
    """A name that would break tables, files or screens is refused."""
    from sklearn.dummy import DummyClassifier

    X, y = data
    for name in ("a" * 257, "two\nlines", "\ud800", "\x1b[2J"):
        with pytest.raises(rk.InputError, match="names are texts"):
            rk.compare(X, y, **{**ASKED, "systems": {name: DummyClassifier()}}, n_jobs=1)


def test_a_number_of_trials_beyond_all_memory_is_refused(data):
    """Repeats whose mere list would fill the memory are refused."""
    X, y = data
    with pytest.raises(rk.InputError, match="2,000,000,000,000 trials"):
        rk.compare(X, y, **{**ASKED, "repeats": 10**12}, n_jobs=1)


def test_every_field_of_a_trial_is_checked(tmp_path, data):
    """A journal in which any field of a trial is missing or of a wrong kind is refused."""
    X, y = data
    path = tmp_path / "trials.jsonl"
    header, first, *_ = journal_of(data, path)
    trial = rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=path).trials[0]
    names = [field.name for field in fields(trial)]
    assert names == list(json.loads(first))
    for name in names:
        rest = {key: value for key, value in json.loads(first).items() if key != name}
        for line, said in (
            (json.dumps(rest).encode() + b"\n", f"the field {name} is missing"),
            (edited(first, **{name: {}}), f"line 2: {name} is "),
        ):
            path.write_bytes(header + line)
            with pytest.raises(rk.InputError, match=re.escape(said)):
                rk.compare(X, y, **ASKED, n_jobs=1, checkpoint=path)
