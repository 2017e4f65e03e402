from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import ratekeeper as rk

ROOT = Path(__file__).parents[2]
HEAVY = (
    "scipy",
    "sklearn",
    "pandas",
    "polars",
    "pyarrow",
    "narwhals",
    "click",
    "rich",
    "matplotlib",
)


def loaded_after(code):
    """Return the modules that an interpreter has loaded after running some code."""
    script = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}, set(done.stdout.split())


def test_the_public_names_are_exactly_those_listed():
    """Every name in __all__ exists, and the lazy table has no other."""
    for name in rk.__all__:
        assert getattr(rk, name) is not None
    lazy = {name for names in rk._HOMES.values() for name in names}  # noqa: SLF001
    assert lazy | {"__version__"} == set(rk.__all__)
    assert dir(rk) == sorted({*rk.__all__, *rk._PACKAGES})  # noqa: SLF001


def public_modules():
    """Return the modules of the package that have no underscore in their path."""
    found = pkgutil.walk_packages(rk.__path__, "ratekeeper.")
    return [m.name for m in found if not any(part.startswith("_") for part in m.name.split("."))]


def test_everything_without_an_underscore_is_documented():
    """Each public module has its row on the page of the reference, and says what it offers.

    Names are on pages as well: the build of the site fails where one is not.
    """
    page = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    modules = public_modules()
    assert set(modules) == set(re.findall(r"^\| \[`(ratekeeper[\w.]*)`", page, re.MULTILINE))
    for name in modules:
        module = import_module(name)
        assert module.__doc__, name
        for public in getattr(module, "__all__", ()):
            value = getattr(module, public)
            assert not callable(value) or value.__doc__, f"{name}.{public}"
        if "__all__" not in vars(module):
            own = [n for n, v in vars(module).items() if getattr(v, "__module__", None) == name]
            assert all(n.startswith("_") or vars(module)[n].__doc__ for n in own), name


def test_each_package_says_what_it_is_for():
    """Its docstring has a few lines: the purpose, what it imports, and where to start reading."""
    folder = Path(rk.__file__).parent
    packages = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    assert len(packages) > 20
    for package in packages:
        text = import_module(f"ratekeeper.{package}").__doc__
        assert text.count("\n") >= 3, package
        assert re.search(r"[Ii]mports", text), package
        assert "Start with" in text, package


def test_docstrings_of_packages_name_modules_that_exist():
    """What a package's docstring, or ARCHITECTURE, says where to look is there."""
    source = Path(rk.__file__).parent
    for path in sorted(source.rglob("__init__.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        for name in re.findall(r"`((?:_?[a-z]+/)*_[a-z_]+)`", text):
            places = [path.parent / name, source / name]
            assert any(one.is_dir() or one.with_suffix(".py").exists() for one in places), name
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_]+/[\w./]*)`", text)
    assert len(named) > 20
    for name in named:
        places = [folder / name for folder in (source, ROOT)]
        assert any(one.exists() or one.with_suffix(".py").exists() for one in places), name


def test_modules_are_reachable():
    """Diagnostics, data and errors are there without an import of their own."""
    top, _ = loaded_after(
        "import ratekeeper as rk\nrk.diagnostics.uniformity; rk.exceptions.InputError"
    )
    assert "ratekeeper" in top


def test_a_name_that_moved_says_where_it_is():
    """Each name that was at the top level is in a public package, and the error says which."""
    for home, names in rk._MOVED.items():  # noqa: SLF001
        package = import_module(f"ratekeeper.{home}")
        for name in names:
            assert name in getattr(package, "__all__", vars(package))
            assert name in dir(package)
            assert name not in rk.__all__
            with pytest.raises(AttributeError, match=rf"it is ratekeeper\.{home}\.{name} now"):
                getattr(rk, name)
    for name, place in rk._RENAMED.items():  # noqa: SLF001
        home, _, leaf = place.rpartition(".")
        package = import_module(f"ratekeeper.{home}") if home else rk
        assert leaf in (*package.__all__, *rk._PACKAGES)  # noqa: SLF001
        with pytest.raises(AttributeError, match=rf"it is ratekeeper\.{place} now"):
            getattr(rk, name)


def test_the_changelog_says_what_moved():
    """Each name in its table of moved names is in the package it says, and the hint says so."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    rows = re.findall(r"^  \| (`.*`) \| `rk\.(\w+)` \|$", changelog, re.MULTILINE)
    moved = {(name, home) for names, home in rows for name in re.findall(r"`(\w+)`", names)}
    assert len(moved) > 70
    assert moved == {(name, home) for home, names in rk._MOVED.items() for name in names}  # noqa: SLF001


def test_few_names_and_few_entries():
    """What opens the package is a page, not a list: its names, its folder, its layers."""
    assert len(rk.__all__) <= 34
    folder = Path(rk.__file__).parent
    assert sum(path.name != "__pycache__" for path in folder.iterdir()) <= 30
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (down, *_) = settings["tool"]["importlinter"]["contracts"]
    assert down["exhaustive"]
    assert len(down["layers"]) <= 18


def test_an_unknown_name_is_an_attribute_error():
    """A misspelt name fails as in any module."""
    with pytest.raises(AttributeError, match="calibrat"):
        _ = rk.calibrat


def test_importing_loads_no_dependency():
    """`import ratekeeper` loads nothing heavier than NumPy."""
    top, _ = loaded_after("import ratekeeper")
    assert not top & set(HEAVY)


def test_p_values_need_numpy_only():
    """Calibrating arrays, p-values and decisions load neither scikit-learn nor scipy.stats."""
    top, every = loaded_after(
        "import numpy as np, ratekeeper as rk\n"
        "cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40))\n"
        "cal.p_values(np.array([0.3]))\n"
        "cal.control('fnr', 0.05, method=rk.Conformal()).decide(np.array([0.3])).labels\n"
    )
    assert not top & (set(HEAVY) - {"scipy"})
    assert not any(name.startswith("scipy") for name in every)


def test_every_public_object_says_what_it_does():
    """Public classes and functions have a docstring with an example."""
    names = {name: getattr(rk, name) for name in rk.__all__}
    for home, moved in rk._MOVED.items():  # noqa: SLF001
        package = import_module(f"ratekeeper.{home}")
        names |= {name: getattr(package, name) for name in moved}
    for name, value in names.items():
        without = {"CVPlusCertificate", "CVPlusTest", "Evaluation", "Test", "Guarantee"}
        without |= {"JointCertificate", "Method", "Plan"}
        if inspect.isclass(value) and issubclass(value, Exception | Warning):
            assert value.__doc__
        elif inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name
            assert ">>>" in value.__doc__ or name in without, name


def test_test_is_not_taken_for_tests(tmp_path):
    """A test module of a user that imports it is collected without a warning."""
    module = tmp_path / "test_mine.py"
    module.write_text("from ratekeeper import Test\n\ndef test_it():\n    assert Test\n", "utf-8")
    command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", str(module)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout
    assert "warning" not in done.stdout


def test_the_version_stands_once():
    """The newest entry of the changelog and the citation name the version of the package."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(\d[^\]]*)\]", changelog, re.MULTILINE)
    assert newest is not None
    assert newest[1] == rk.__version__
    assert f"version: {rk.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_types_are_announced():
    """The package carries the marker that makes type checkers read it."""
    assert (Path(rk.__file__).parent / "py.typed").exists()
