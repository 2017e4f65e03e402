"""Everything in ratekeeper that reads a table, called on one file."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
from command_line import run
from fuzzing import bounded

import ratekeeper as rk
from ratekeeper.comparison._table_file import encode, read_table
from ratekeeper.files import calibrate_file, classify_file, evaluate_file, read_columns

COLUMNS = ("risk", "ill", "site", "note")
CODES = (0, 2, 3, 4)


@cache
def stored_tests():
    """Return two tests, with and without groups, and the files that they are stored in."""
    folder = Path(tempfile.mkdtemp(prefix="ratekeeper-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    rng = np.random.default_rng(1)
    ill = np.arange(200) % 2
    rows = zip(rng.normal(2.0 * ill), ill, np.arange(200) // 2 % 2, strict=True)
    lines = [f"{risk},{'yes' if i else 'no'},{'ab'[site]}" for risk, i, site in rows]
    (folder / "rows.csv").write_text("\n".join(["risk,ill,site", *lines]))
    found = []
    for name, group in (("plain.rk", None), ("groups.rk", "site")):
        calibration = calibrate_file(folder / "rows.csv", score="risk", label="ill", group=group)
        found.append((calibration.control("fnr", 0.2), folder / name))
        rk.save(*found[-1])
    return tuple(found)


def commands(path, out):
    """Return the commands that read a table, of which an example runs one."""
    (_, plain), (_, groups) = stored_tests()
    columns = ["--score", "risk", "--label", "ill"]
    compare = ["--control", "fnr", "--alpha", "0.2", "--systems", "plain"]
    return [
        ["calibrate", path, *columns, "-o", f"{out}.rk"],
        ["calibrate", path, *columns, "--group", "site", "-o", f"{out}.rk"],
        ["classify", plain, path, "-o", out],
        ["classify", groups, path, "--on-invalid", "skip", "-o", out],
        ["evaluate", plain, path],
        ["evaluate", plain, path, "--group", "site", "--json"],
        ["normality", path],
        ["normality", path, "--column", "risk", "--by", "site", "--on-invalid", "skip"],
        ["compare", path, "--label", "ill", *compare, "--repeats", "1", "--jobs", "1"],
    ]


def read_everywhere(data, suffix, choice, to="csv"):
    """Give the bytes to every function, and to one command; nothing but refusals may come."""
    (plain, _), (groups, _) = stored_tests()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path, out = Path(folder, f"rows.{suffix}"), Path(folder, f"out.{to}")
        path.write_bytes(data)
        names = {"score": "risk", "label": "ill"}
        skip = {"on_invalid": "skip"}
        with bounded(len(data)):
            for read in (
                lambda: calibrate_file(path, **names),
                lambda: calibrate_file(path, **names, group="site", **skip),
                lambda: classify_file(plain, path, out),
                lambda: classify_file(groups, path, out, **skip),
                lambda: evaluate_file(plain, path, group="site", **skip),
                lambda: evaluate_file(groups, path),
                lambda: read_columns(path, ["site"]),
                lambda: encode(read_table(path, label="ill", drop=["note"])[0]),
            ):
                with suppress(rk.exceptions.RatekeeperError):
                    read()
            asked = commands(path, out)
            command = [str(part) for part in asked[choice % len(asked)]]
            result = run(*command)
    printed = result.stdout + result.stderr
    shown = f"{' '.join(command)}: {printed[-2000:]}"
    assert result.exit_code in CODES, shown
    assert "Traceback" not in printed, shown
