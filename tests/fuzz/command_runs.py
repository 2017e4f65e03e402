"""Commands on small good files, run in this process, and what must come of any of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import click
import command_line
import numpy as np
from command_line import COMMANDS
from fuzzing import bounded

import ratekeeper as rk

FEW = ["--repeats", "1", "--systems", "conformal", "--jobs", "1"]
GOOD = {
    "calibrate": ["good.csv", "--score", "risk", "--label", "ill", "-o", "out.rk"],
    "control": ["cal.rk", "--fnr", "0.2", "-o", "out.rk"],
    "cheapest": ["cal.rk", "--cost-fn", "9", "--cost-fp", "1", "-o", "out.rk"],
    "classify": ["test.rk", "good.csv", "-o", "out.csv"],
    "learn": ["state.rk", "outcomes.csv", "--id", "row", "--label", "ill"],
    "select": ["cal.rk", "good.csv", "--fdr", "20%", "-o", "out.csv"],
    "evaluate": ["test.rk", "good.csv"],
    "monitor": ["test.rk", "--outcomes", "good.csv", "--id", "row", "--state", "out.rk"],
    "shift": ["cal.rk", "good.csv"],
    "inspect": ["test.rk"],
    "report": ["test.rk", "-o", "out.html"],
    "sql": ["test.rk", "--table", "t"],
    "plan": ["--fnr", "5%"],
    "normality": ["good.csv", "--column", "risk"],
    "compare": ["good.csv", "--label", "ill", "--control", "fnr", "--alpha", "0.2", *FEW],
    "demo": ["--export", "out"],
}


def _command(name):
    """Return a command; of `sql` the query that a line without its name asks for."""
    command = command_line.command(name)
    return command.commands["decide"] if isinstance(command, click.Group) else command


OPTIONS = {
    name: [option for option in _command(name).params if isinstance(option, click.Option)]
    for name in COMMANDS
}
# What texts, numbers and paths strangers give: all within the folder, so that nothing is harmed.
HOSTILE = (
    "", " ", "-", "--", "-1", "0", "1", "1e30", "1" + 30 * "0", "9" * 400, "1e-300", "nan", "inf",
    "-inf", "0x10", "1_000", "\uff15", "5%", "%", "\x00", "a\x00b", "\n", "\x1b[2J", "\u202e",
    "\udcff", "\ud800", "é中", "a" * 300, "'", '"', "\\", "{x}", "%s", "$HOME", "a=b", "size=1",
    "=", "true", "good.csv", "cal.rk", "test.rk", "by_site.rk", "aim.rk", "by_key.rk",
    "negatives.rk", "unlabelled.rk", "clusters.rk", "times.rk", "weighted.rk", "row", "day",
    "2024-05-02", "2%", "9/200", "1%-2%", "folder", "empty", "noise",
    "state.rk", "outcomes.csv", "decaying",
    "missing", "missing/deep", "./good.csv", "/dev/null", "risk", "ill", "site", "yes", "no",
    "conformal", "resampled", "kernel", "parametric", "bootstrap", "smoothed", "skip", "parquet",
    "csv", ",",
    "bandwidth=5e-324", "distribution=norm", "distribution=t", "replicates=1e9", "random_state=-1",
)  # fmt: skip


@contextmanager
def folder_of_files():
    """Stand in a folder with tables, a calibration and tests, which goes afterwards."""
    before, name = Path.cwd(), tempfile.mkdtemp()
    os.chdir(name)
    try:
        _write_files()
        yield
    finally:
        os.chdir(before)
        shutil.rmtree(name)


def _write_files():
    rng = np.random.default_rng(3)
    for name, n in (("good.csv", 120), ("earlier.csv", 160)):
        ill = rng.integers(0, 2, n)
        risk = rng.normal(2.0 * ill).tolist()
        rows = (
            f"{risk[i]!r},{['no', 'yes'][ill[i]]},{'ns'[i % 2]},{name}{i // 2},"
            f"2024-05-0{1 + i // 20}"
            for i in range(n)
        )
        Path(name).write_text("\n".join(["risk,ill,site,row,day", *rows]) + "\n")
    calibration = rk.files.calibrate_file("earlier.csv", score="risk", label="ill")
    rk.save(calibration, "cal.rk")
    rk.save(calibration.control("fnr", 0.2, method=rk.Conformal()), "test.rk")
    rk.save(calibration.control_precision(0.6), "aim.rk")
    randomised = rk.HighProbability(randomised=True)
    rk.save(calibration.control_both(0.2, 0.2, method=randomised), "by_key.rk")
    for name, kind in (
        ("negatives.rk", {"one_class": "negative"}),
        ("unlabelled.rk", {}),
        ("clusters.rk", {"label": "ill", "cluster": "row"}),
        ("times.rk", {"label": "ill", "time": "day", "last": 100}),
    ):
        rk.save(rk.files.calibrate_file("earlier.csv", score="risk", **kind), name)
    weighted = rk.calibrate(rng.random(60), np.arange(60) % 2, weights=rng.random(60) + 0.1)
    rk.save(weighted.control("fnr", 0.2, method=rk.Conformal()), "weighted.rk")
    grouped = rk.files.calibrate_file("earlier.csv", score="risk", label="ill", group="site")
    rk.save(grouped.control("fnr", 0.2, method=rk.Conformal()), "by_site.rk")
    adaptive = rk.AdaptiveTest(rk.load("test.rk"))
    adaptive.decide([0.5, 1.5], ["a", "b"])
    adaptive.save("state.rk")
    Path("outcomes.csv").write_text("row,ill\na,yes\nb,no\n")
    Path("folder").mkdir()
    Path("empty").touch()
    Path("noise").write_bytes(bytes(range(256)))


def check(arguments, env=None):
    """Run the program, and assert that it ends as documented and harms nothing."""
    before = _contents()
    with bounded(0):
        result = command_line.run(*arguments, env=env, stdin="")
    after = _contents()
    crash = None if isinstance(result.exception, SystemExit) else result.exception
    shown = f"{arguments} {env}\n{result.stdout[-2000:]}{result.stderr[-2000:]}"
    assert crash is None, f"{crash!r} of {shown}"
    assert result.exit_code in (0, 2, 3, 4), f"code {result.exit_code} of {shown}"
    assert "Traceback" not in shown, shown
    if result.exit_code in (2, 3):
        assert result.stderr.count("Error: ") == 1, shown
        if "compare" not in arguments:  # whose folder is there to go on
            assert after == before, f"files have changed: {shown}"
        if "classify" not in arguments:  # whose rows stream
            assert result.stdout == "", shown
    _restore(before, after)


def _restore(before, after):
    """Bring the folder back to what it was: to write over another file is no fault."""
    for name in {name.split("/")[0] for name in after if name not in before}:
        shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink()
    for name, content in before.items():
        if content is None:
            Path(name).mkdir(exist_ok=True)
        elif after.get(name) != content:
            Path(name).write_bytes(content)


def _contents():
    return {str(path): path.read_bytes() if path.is_file() else None for path in Path().rglob("*")}
