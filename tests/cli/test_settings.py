"""Settings: a flag wins over the environment, the environment over a file."""

from __future__ import annotations

import json

import pytest
from cases import each


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "settings.toml"
        path.write_text(text)
        return path

    return write


def alpha(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["fnr"]["alpha"]


def test_flag_environment_file_default(run, config):
    """Each source gives way to the one before it."""
    path = config("[plan]\nfnr = 0.04\njson = true\n")
    from_environment = {"RATEKEEPER_PLAN_FNR": "3%"}
    assert alpha(run("plan", "--config", path)) == 0.04
    assert alpha(run("--config", path, "plan")) == 0.04
    assert alpha(run("plan", env={"RATEKEEPER_CONFIG": str(path)})) == 0.04
    assert alpha(run("plan", "--config", path, env=from_environment)) == 0.03
    assert alpha(run("plan", "--config", path, "--fnr", "2%", env=from_environment)) == 0.02
    assert run("plan").exit_code == 2


def test_the_nearest_file_wins(run, config, tmp_path):
    """--config after the command wins over --config before it, and that over the variable."""
    paths = []
    for i in (1, 2, 3):
        path = tmp_path / f"{i}.toml"
        path.write_text(f"[plan]\nfnr = 0.0{i}\njson = true\n")
        paths.append(path)
    env = {"RATEKEEPER_CONFIG": str(paths[2])}
    assert alpha(run("--config", paths[1], "plan", "--config", paths[0], env=env)) == 0.01
    assert alpha(run("--config", paths[1], "plan", env=env)) == 0.02
    assert alpha(run("plan", env=env)) == 0.03


def test_no_file_is_read_unasked(shell, tmp_path):
    """A file in the current folder, whatever its name, changes nothing."""
    for name in ("ratekeeper.toml", ".ratekeeper.toml", "settings.toml", "pyproject.toml"):
        (tmp_path / name).write_text("[plan]\nfnr = 0.04\n")
    assert shell("plan").returncode == 2


def test_all_kinds_of_values(run, config, calibration, tmp_path):
    """Texts, lists, numbers and truth values reach their options."""
    path = config(
        '[control]\nfnr = "20%"\nmethod = "resampled"\nparameter = ["size=21", "plain=true"]\n'
        "seed = 7\njson = true\n\n[plan]\nn = 10\n"
    )
    out = tmp_path / "test.rk"
    result = run("control", calibration, "-o", out, "--config", path)
    assert result.exit_code == 0, result.output
    method = json.loads(result.stdout)["certificate"]["method"]
    assert method == "Resampled(size=21, random_state=7, plain=True)"


@each(
    ("text", "words"),
    [
        ("[plan]\nfnrr = 0.1\n", "[plan] fnrr = 0.1: there is no such setting. Did you mean 'fnr'"),
        ("[plam]\nfnr = 0.1\n", "'plam' is no command, so it can be no table. Did you mean 'plan'"),
        ("plan = 3\n", "plan = 3 is not a table. Write [plan]"),
        ("fnr = 0.1\n", "fnr = 0.1 stands outside a table. Write it under the command that"),
        ("fnr = 0.1\n", "it is for: [calibrate], [control], [cheapest], [plan]."),
        ("scor = 1\n", "No command has such a setting. Did you mean 'score'?"),
        ("[plan]\nfnr = true\n", "[plan] fnr = True: write a number, such as 0.05"),
        ("[plan]\nfnr = 5\n", "[plan] fnr = 5: '5' is not a rate strictly between 0 and 1"),
        ("[plan]\nn = 1.5\n", "[plan] n = 1.5: write a whole number"),
        ("[plan]\nn = 0\n", "[plan] n = 0: 0 is not in the range"),
        ('[plan]\njson = "yes"\n', "json = 'yes': write true or false"),
        ('[plan]\nconfig = "x"\n', "config = 'x': there is no such setting"),
        ("[plan\n", "is not TOML in UTF-8"),
        ("[calibrate]\nscore = 1\n", None),
    ],
)
def test_what_a_file_gets_wrong_is_named(run, config, text, words):
    """Unknown keys and wrong types are refused by name; tables of other commands are let be."""
    result = run("plan", "--fnr", "1%", "--config", config(text))
    assert result.exit_code == (0 if words is None else 2)
    assert (words or "") in result.stderr
    assert "settings.toml" in result.stderr or words is None


@pytest.mark.parametrize("line", ["{}a = 1", "[{}a]", "a = [{{{}a = 1}}]"])
def test_keys_of_very_many_parts_are_refused(run, config, line):
    """The standard library takes a time that is quadratic in the number of parts."""
    path = config(line.format("a." * 5_000))
    result = run("plan", "--fnr", "1%", "--config", path)
    assert result.exit_code == 2
    assert "settings.toml has a line with more than 100 dots." in result.stderr


def test_types_of_columns_and_lists(run, config, calibration, tmp_path):
    """A number where a name is needed is refused with how to write it."""
    path = config("[control]\nparameter = 3\n")
    out = tmp_path / "o.rk"
    result = run("control", calibration, "--fnr", "5%", "-o", out, "--config", path)
    assert "parameter = 3: write a list of texts" in result.stderr
    path = config("[control]\nmethod = 3\n")
    result = run("control", calibration, "--fnr", "5%", "-o", out, "--config", path)
    assert 'method = 3: write a text in quotes, such as "3"' in result.stderr
    path = config('[control]\nmethod = "magic"\n')
    result = run("control", calibration, "--fnr", "5%", "-o", out, "--config", path)
    assert "method = 'magic': 'magic' is not one of" in result.stderr
    assert run("plan", "--config", tmp_path / "none.toml").exit_code == 2


def test_a_misspelt_variable_is_said(run):
    """A variable that looks like a setting and is none gets a warning, and the work goes on."""
    result = run("plan", "--fnr", "1%", env={"RATEKEEPER_PLAN_DELTTA": "0.1"})
    assert result.exit_code == 0
    assert "RATEKEEPER_PLAN_DELTTA, which is no setting. Did you mean" in result.stderr
    assert not run("plan", "--fnr", "1%", env={"RATEKEEPER_PLAN_DELTA": "0.1"}).stderr
