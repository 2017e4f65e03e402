"""The program as a whole: help, start, completion."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from cases import each
from command_line import COMMANDS, choices, command, option_of, program

import ratekeeper as rk
from ratekeeper.files import FORMATS
from ratekeeper.methods import METHODS

HEAVY = ("numpy", "scipy", "sklearn", "rich", "pyarrow", "narwhals", "importlib.metadata")
# Runs the program as `python -m ratekeeper` does, and then looks at what it has loaded.
RUNNING = """if True:
    import runpy, sys
    try:
        runpy.run_module("ratekeeper", run_name="__main__", alter_sys=True)
    except SystemExit:
        LOOK
"""


def shown_after(look, *arguments):
    """Run the program in a process of its own, and return the line that a look at it prints."""
    code = RUNNING.replace("LOOK", look)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[-1]


def listed(run):
    """Return what the program's help says about each command."""
    text = run("--help").stdout.partition("Commands:\n")[2].partition("\n\n")[0]
    return dict(line.split(maxsplit=1) for line in text.splitlines())


@each("name", COMMANDS)
def test_every_command_says_what_it_does(run, name):
    """Help fits 80 columns, begins as the list of commands says, and has examples."""
    result = run(name, "--help")
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert command(name).help.split("\n")[0] == listed(run)[name]
    assert "Examples:" in result.stdout
    assert f"  ratekeeper {name}" in result.stdout
    assert run(name, "-h").stdout == result.stdout


@each("name", COMMANDS)
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
    assert tuple(listed(run)) == COMMANDS
    assert run("--version").stdout.strip() == f"ratekeeper, version {rk.__version__}"
    assert "Did you mean 'classify'?" in run("clasify").stderr
    assert run("clasify").exit_code == 2


def test_help_loads_nothing_heavy():
    """The list of commands needs click alone, and no command is loaded for it."""
    package = f"{program.callback.__module__}."
    heavy = f"[name for name in {HEAVY} if name in sys.modules]"
    own = f"sorted(name for name in sys.modules if name.startswith({package!r}))"
    light = ("_errors", "_options", "_printing", "_settings", "_streams")
    parts = [f"{package}{name}" for name in light]
    assert shown_after(f"print({heavy}, {own})", "--help") == f"[] {parts}"


@each("name", COMMANDS)
def test_help_of_a_command_loads_nothing_heavy(name):
    """A command's help needs no number library, either."""
    heavy = f"print([name for name in {HEAVY} if name in sys.modules])"
    assert shown_after(heavy, name, "--help") == "[]"


def test_help_loads_little_beyond_click():
    """`ratekeeper --help` loads no third-party package that click does not load itself."""
    show = "print(*{name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names)"
    code = f"import runpy, sys, click; {show}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(shown_after(show, "--help").split()) == {*done.stdout.split(), "ratekeeper"}


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


def test_names_on_the_command_line_are_those_of_the_library(run, calibration):
    """Lists that help prints without loading the library hold what the library knows."""
    methods = choices("control", "method")
    assert sorted(METHODS) == sorted(methods)
    default = option_of("control", "method").default
    in_python = rk.calibrate(list(range(400)), [0, 1] * 200).control("fnr", 0.05).method
    assert default == methods[0] == in_python.name
    assert choices("calibrate", "format") == choices("classify", "to") == FORMATS
    drawing = {
        name
        for name, kind in METHODS.items()
        if "random_state" in kind(**{"size": 9} if name == "resampled" else {}).parameters()
    }
    refused = run("control", calibration, "--fnr", "5%", "--seed", 1, "-o", "no.rk").stderr
    assert set(re.search(r"a random method \((.*?)\)", refused)[1].split(", ")) == drawing
