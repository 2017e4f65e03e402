"""The guide to the command line says what is true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import COMMANDS

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = DOCS / "guides" / "command-line.md"
CODES = DOCS / "reference" / "errors.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)


def bash(text, folder):
    program = f'ratekeeper() {{ {sys.executable} -m ratekeeper "$@"; }}\nset -e\n'
    return subprocess.run(
        ["bash", "-c", program + text],  # noqa: S607
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@pytest.mark.thorough
def test_the_walk_works_as_it_stands(tmp_path):
    """The first block, copied, runs through and leaves the files it names."""
    done = bash(blocks("bash")[0], tmp_path)
    assert done.returncode == 0, done.stderr
    assert {"cal.rk", "test.rk", "decided.csv", "report.html"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert "exceeded" in done.stdout  # the drift that the demo is about
    assert "CERTIFICATE  FNR <= 5% (sensitivity >= 95%)" in done.stdout


@pytest.mark.thorough
def test_the_nightly_job(tmp_path, run, people):
    """The script stops exactly if a promise is broken, and says which."""
    (script,) = (block for block in blocks("bash") if "last-night" in block)
    script = script.partition("\n")[2].replace("last-night.csv", "people.csv")
    test = tmp_path / "test.rk"
    columns = ["--score", "risk", "--label", "ill"]
    run("calibrate", people, *columns, "--fnr", "5%", "-o", test)
    head, *rows = people.read_text().splitlines()
    cells = [row.split(",", 2) for row in rows]
    others = [f"{number},{float(risk) - 1e-6!r},{rest}" for number, risk, rest in cells]
    people.write_text("\n".join([head, *others]) + "\n")
    done = bash(script, tmp_path)
    assert done.returncode == 0, done.stderr
    people.write_text(people.read_text().replace(",no,", ",yes,", 500))  # labels that drifted
    done = bash(script, tmp_path)
    assert done.returncode == 4
    assert "FNR of everybody" in done.stderr


def test_the_settings_are_settings(run, tmp_path, calibration):
    """The TOML of the guide is accepted."""
    config = tmp_path / "rk.toml"
    config.write_text(blocks("toml")[0])
    result = run("control", calibration, "--fnr", "5%", "--config", config, "-o", tmp_path / "t.rk")
    assert result.exit_code == 0, result.output
    assert "HighProbability(delta=0.05)" in result.stdout


def test_every_command_and_code_is_there():
    """The table of the guide names every command, that of the reference every exit code."""
    text = GUIDE.read_text()
    for name in COMMANDS:
        assert re.search(rf"^\| `{name}[ `]", text, flags=re.MULTILINE), name
    table = CODES.read_text().partition("| code | meaning |")[2].partition("\n\n")[0]
    codes = {int(code) for row in table.splitlines()[2:] for code in re.findall(r"\d+", row[:12])}
    assert codes == {0, 2, 3, 4, 70, 130, 141, 143}


@pytest.mark.parametrize("line", [line for line in blocks("bash")[-1].splitlines() if line])
def test_completion_lines_name_real_scripts(shell, line):
    """Each line for a shell asks for a script that click prints."""
    kind = re.search(r"_RATEKEEPER_COMPLETE=(\w+)", line).group(1)
    done = shell(env={"_RATEKEEPER_COMPLETE": kind})
    assert done.returncode == 0
    assert "ratekeeper" in done.stdout


def test_options_of_evaluate_are_described():
    """Every option that decides how `evaluate` ends has a row."""
    text = GUIDE.read_text()
    named = ("--group COLUMN", "--by COLUMN", "--crossed", "--positive LABEL", "--min-n N")
    for option in (*named, "--check", "--require kept"):
        assert f"| `{option}` | " in text
