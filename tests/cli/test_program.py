"""The program as a whole: help, start, completion."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import ratekeeper as rk
from ratekeeper._cli import COMMANDS, main

HEAVY = ("numpy", "scipy", "sklearn", "rich", "pyarrow", "narwhals", "importlib.metadata")


def command(name):
    return main.get_command(None, name)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(run, name):
    """Help fits 80 columns, begins as the list of commands says, and has examples."""
    result = run(name, "--help")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert command(name).help.split("\n")[0] == COMMANDS[name]
    assert "Examples:" in result.stdout
    assert f"  ratekeeper {name}" in result.stdout
    assert run(name, "-h").stdout == result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name):
    """No option is without help, and its name in the environment is its name on the line."""
    for option in command(name).params:
        if option.param_type_name == "option":
            assert option.help, option.name
            long = max(option.opts, key=len).lstrip("-").replace("-", "_")
            assert option.name == long


def test_the_list_of_commands(run):
    """The program's help lists every command within 80 columns; so does no argument at all."""
    result = run("--help")
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for name, text in COMMANDS.items():
        assert any(line.split() == [name, *text.split()] for line in lines), name
    assert run("--version").stdout.strip() == f"ratekeeper, version {rk.__version__}"
    assert "Did you mean 'classify'?" in run("clasify").stderr
    assert run("clasify").exit_code == 2


def test_help_loads_nothing_heavy():
    """The list of commands needs click alone, and no command is loaded for it."""
    code = (
        "import sys\nfrom ratekeeper._cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        f"heavy = [name for name in {HEAVY} if name in sys.modules]\n"
        "loaded = [name for name in sys.modules if name.startswith('ratekeeper._cli.')]\n"
        "print(heavy, sorted(loaded), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    light = ("options", "printing", "refusals", "settings", "streams")
    parts = [f"ratekeeper._cli.{name}" for name in light]
    assert done.stderr.strip() == f"[] {parts}"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_loads_nothing_heavy(name):
    """A command's help needs no number library, either."""
    code = (
        "import sys\nfrom ratekeeper._cli import main\n"
        f"try: main([{name!r}, '--help'])\nexcept SystemExit: pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_help_loads_little_beyond_click():
    """`ratekeeper --help` loads no third-party package that click does not load itself."""
    show = "print(*{name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names)"

    def packages(code):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        return set(done.stdout.splitlines()[-1].split())

    help_page = "import sys\nfrom ratekeeper._cli import main\ntry: main(['--help'])\n"
    help_page += f"except SystemExit: {show}"
    assert packages(help_page) == {*packages(f"import sys, click; {show}"), "ratekeeper"}


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_completion_scripts(shell, kind):
    """The scripts that README and guide name are printed."""
    if kind == "bash" and not os.access("/bin/bash", os.X_OK):
        pytest.skip("click asks bash for its version")
    done = shell(env={"_RATEKEEPER_COMPLETE": f"{kind}_source"})
    assert done.returncode == 0
    assert "ratekeeper" in done.stdout
    assert not done.stderr


def completions(shell, words):
    env = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    done = shell(env={**env, "_RATEKEEPER_COMPLETE": "bash_complete"})
    assert done.returncode == 0
    return done.stdout.split()


def test_completion(shell):
    """Commands, options and choices complete, and files are left to the shell."""
    assert set(completions(shell, "ratekeeper ")) == {f"plain,{name}" for name in COMMANDS}
    assert completions(shell, "ratekeeper cl") == ["plain,classify"]
    assert "plain,--on-invalid" in completions(shell, "ratekeeper calibrate --on")
    assert "plain,high-probability" in completions(shell, "ratekeeper control --method h")
    assert completions(shell, "ratekeeper inspect te") == ["file,te"]
    assert completions(shell, "ratekeeper calibrate da") == ["file,da"]
    assert completions(shell, "ratekeeper classify t.rk d.csv -o o") == ["file,o"]


@pytest.mark.parametrize("env", [{}, {"COMP_WORDS": "ratekeeper", "COMP_CWORD": "first"}])
def test_a_shell_that_asks_wrongly_is_told(shell, env):
    """Variables of the completion that do not fit together end in one message."""
    done = shell(env={**env, "_RATEKEEPER_COMPLETE": "bash_complete"})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1


def test_names_on_the_command_line_are_those_of_the_library():
    """Lists that help prints without loading the library hold what the library knows."""
    from ratekeeper._cli import options, promise
    from ratekeeper.batch import FORMATS
    from ratekeeper.methods import METHODS

    assert sorted(METHODS) == sorted(promise.METHODS)
    default = next(one for one in command("control").params if one.name == "method").default
    in_python = rk.calibrate(list(range(400)), [0, 1] * 200).control("fnr", 0.05).method
    assert default == promise.METHODS[0] == in_python.name
    assert options.FORMATS == FORMATS
    drawing = {
        name
        for name, kind in METHODS.items()
        if "random_state" in kind(**{"size": 9} if name == "resampled" else {}).parameters()
    }
    assert set(promise.RANDOM) == drawing
