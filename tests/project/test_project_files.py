"""What the project says about itself: scripts, workflows, versions, places."""

from __future__ import annotations

import email
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import ratekeeper as rk

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github").glob("workflows/*.yml"))
YAML = [*WORKFLOWS, ROOT / ".github" / "dependabot.yml", ROOT / ".pre-commit-config.yaml"]
SCRIPTS = tuple(ROOT / ".ci" / name for name in ("fast", "run", "fuzz"))
PINS_OF_DEV = ROOT / ".ci" / "pins" / "requirements.txt"
PINS = sorted((ROOT / ".ci" / "pins").glob("*.txt"))
SOURCES = ("src", "tests", "docs", "benchmarks", "reproduction", "release", ".ci", ".github")
BINARY = {".npz", ".npy", ".png", ".rk", ".pyc"}
# Folders of one person or one machine, private addresses, and where one machine gets its packages.
MACHINES = re.compile(
    r"/(home|Users|root|work|mnt|workspace)/\w|[A-Z]:\\Users"
    r"|--(extra-)?index-url|INDEX_URL|trusted-host|[\w-]+\.(internal|corp|lan)\b"
    r"|\b(artifactory|nexus|devpi)\b|(?<!==)(?<!\.)\b(10|192\.168)(\.\d{1,3}){2,3}\b"
)


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


def files():
    """Yield every text file of the project, whether there is a git folder or not."""
    for path in [*ROOT.iterdir(), *(p for name in SOURCES for p in (ROOT / name).rglob("*"))]:
        ours = path.is_file() and not {"__pycache__", ".hypothesis", ".git"} & {*path.parts}
        if ours and path.suffix not in BINARY and path != Path(__file__):
            yield path


@pytest.fixture(autouse=True)
def _release_scripts(monkeypatch):
    """Let tests import the scripts of a release, which import each other."""
    monkeypatch.syspath_prepend(ROOT / "release")


def script(name):
    return importlib.import_module(name)


def pinned(name):
    """Return the versions that a file of pins has for each package: mostly one."""
    found = {}
    for pin in script("pin").pins(read(ROOT / ".ci" / "pins" / f"{name}.txt")):
        package, version = pin.partition(" ;")[0].split("==")
        found.setdefault(package, []).append(version)
    return found


def requirements(name):
    """Return the lines of a file of requirements."""
    return [line for line in read(ROOT / name).splitlines() if line and line[0] != "#"]


def name_of(requirement):
    return re.match(r"[\w.-]+", requirement)[0].lower()


def test_scripts_can_be_run():
    """The scripts are executable, and bash understands them."""
    for path in SCRIPTS:
        assert os.access(path, os.X_OK), path
        subprocess.run(["/bin/bash", "-n", str(path)], check=True)
    subprocess.run(["/bin/bash", "-n", str(ROOT / ".ci" / "environment")], check=True)


def test_workflows_run_the_scripts_and_nothing_else():
    """What runs elsewhere is what one runs by hand."""
    called = set()
    for workflow in WORKFLOWS:
        for command in re.findall(r"^\s*(?:- )?run: *(.*)$", read(workflow), re.MULTILINE):
            called.add(command.removeprefix("bash "))
    assert called == {path.relative_to(ROOT).as_posix() for path in SCRIPTS}


def test_workflows_may_read_only_and_pin_their_actions():
    """No workflow may write or keeps a token, and each action is a commit of GitHub's own."""
    for workflow in WORKFLOWS:
        text = read(workflow)
        assert re.findall(r"^ *permissions:.*\n((?: +.*\n)+?)(?=\S)", text, re.MULTILINE) == [
            "  contents: read\n"
        ], workflow.name
        assert text.count("actions/checkout@") == text.count("persist-credentials: false")
        assert "pull_request_target" not in text
        assert "secrets." not in text
        for action in re.findall(r"uses: *(.*)", text):
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_pins_have_hashes_and_no_addresses():
    """Every package that the gate installs has a version and the hashes of its files."""
    for path in PINS:
        text = read(path)
        assert "://" not in text
        found = script("pin").pins(text)
        assert found
        for name, hashes in found.items():
            assert re.match(r"[a-z0-9-]+==[\w.+]+( ; |$)", name), name
            assert hashes, name
            assert all(re.fullmatch("[0-9a-f]{64}", one) for one in hashes), name


def test_constraints_are_the_pins():
    """People and the gate get the same versions, and users those that were tested."""
    assert requirements("constraints.txt") == [*script("pin").pins(read(PINS_OF_DEV))]
    for name in ("runtime", "build"):
        for package, version in pinned(name).items():
            assert pinned("requirements").get(package, version) == version, package


def test_all_that_is_required_is_pinned():
    """Whoever changes a requirement makes the pins anew."""
    project = tomllib.loads(read(ROOT / "pyproject.toml"))
    direct = project["project"]["dependencies"]
    extras = project["project"]["optional-dependencies"]
    dev = [*direct, *extras["docs"], *extras["dev"]]
    dev.remove("ratekeeper[docs]")
    wanted = {"runtime": direct, "requirements": dev, "build": project["build-system"]["requires"]}
    for name, lines in wanted.items():
        assert {name_of(line) for line in lines} <= set(pinned(name)), name
    for path in (ROOT / ".ci" / "pins").glob("*.in"):
        for line in requirements(path.relative_to(ROOT)):
            version = line.partition(";")[0].partition("==")[2]
            assert pinned(path.stem)[name_of(line)][0] == version or not version, line


def test_the_oldest_libraries_are_those_that_are_allowed():
    """The gate tests the lower bound of each requirement, and no other version."""
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    for line in [*project["dependencies"], *project["optional-dependencies"]["parquet"]]:
        name, bound = line.split(">=")
        [version] = pinned("floor")[name]
        assert re.fullmatch(rf"{re.escape(bound)}(\.0)*", version), line


def test_the_gate_installs_nothing_without_hashes():
    """Every call of pip checks hashes, has no index, or installs this very package."""
    ours = r"--no-deps (--no-build-isolation -e \.|\"\$work\"/dist)"
    for path in (*SCRIPTS, ROOT / ".ci" / "environment"):
        for line in read(path).splitlines():
            if re.search(r"pip\"? (install|download|\"\$1\")|-m build", line):
                safe = rf"--require-hashes|^ *pinned |{ours}"
                assert re.search(safe, line), f"{path.name}: {line}"


def test_workflows_cover_every_python_that_is_named():
    """The fast workflow has the Pythons of the classifiers; the first of them is required."""
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    matrix = re.search(r"python-version: \[(.*)\]", read(ROOT / ".github/workflows/fast.yml"))
    assert matrix is not None
    assert re.findall(r'"(.*?)"', matrix[1]) == named
    assert project["requires-python"] == f">={named[0]}"


def test_yaml_is_well_formed():
    """YAML files can be parsed; without a parser, they have no tabs and no odd indentation."""
    for path in YAML:
        if importlib.util.find_spec("yaml") is not None:
            import yaml

            assert isinstance(yaml.safe_load(read(path)), dict)
        for line in read(path).splitlines():
            assert "\t" not in line
            assert (len(line) - len(line.lstrip(" "))) % 2 == 0, f"{path.name}: {line}"


def test_hooks_are_local():
    """No hook fetches code from elsewhere."""
    assert set(re.findall(r"repo: *(\S+)", read(ROOT / ".pre-commit-config.yaml"))) == {"local"}


def test_contributing_names_the_fast_loop_first():
    """The first command to run is the fast loop, the second the gate."""
    text = read(ROOT / "CONTRIBUTING.md")
    commands = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert [command.strip() for command in commands[:2]] == ["bash .ci/fast", "bash .ci/run"]


def test_the_changelog_begins_with_this_version_or_the_next():
    """On top is the version of the package, or what comes after it."""
    name = re.search(r"^## \[([^\]]+)\]", read(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert name is not None
    assert name[1] in ("Unreleased", rk.__version__)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "no entry"),
        ("## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n", "Unreleased"),
        ("## [0.1.0] - 2026-11-15\n", "the version is 0.2.0"),
        ("## [0.2.0]\n", "no date"),
    ],
)
def test_an_unready_changelog_stops_a_release(text, word):
    """A missing, unnamed, other or undated entry is told as a problem; a proper one is none."""
    problems = script("prepare").changelog_problems
    [problem] = problems(text, "0.2.0")
    assert word in problem
    assert problems("# Changelog\n\n## [0.2.0] - 2026-12-01\n", "0.2.0") == []


def test_incomplete_metadata_stop_a_release():
    """Each field that is missing is named, and so is a wrong version."""

    def problems(text, version):
        return script("prepare").metadata_problems(email.message_from_string(text), version)

    whole = (
        "Name: ratekeeper\nVersion: 0.2.0\nSummary: s\nLicense-Expression: BSD-3-Clause\n"
        "Requires-Python: >=3.11\nDescription-Content-Type: text/markdown\n\n# ratekeeper\n"
    )
    assert problems(whole, "0.2.0") == []
    assert problems(whole, "0.3.0") == ["The metadata say version 0.2.0, not 0.3.0."]
    assert problems(whole.replace("Summary: s\n", ""), "0.2.0") == ["The metadata have no Summary."]
    assert "README.md" in problems(whole.partition("\n\n")[0], "0.2.0")[0]


def test_the_release_script_reads_the_version():
    """It reads the version without importing the package."""
    assert script("prepare").version() == rk.__version__


@pytest.fixture
def built(tmp_path):
    """Make a wheel and an sdist with the metadata of the project, and nothing in them."""
    metadata = f"Metadata-Version: 2.4\nName: ratekeeper\nVersion: {rk.__version__}\nSummary: s\n"
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    metadata += f"License-Expression: {project['license']}\n"
    metadata += "".join(f"Requires-Dist: {one}\n" for one in project["dependencies"])
    metadata += "Requires-Dist: pyarrow>=17; extra == 'parquet'\n"
    wheel = tmp_path / f"ratekeeper-{rk.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(f"ratekeeper-{rk.__version__}.dist-info/METADATA", metadata)
    sdist = tmp_path / f"ratekeeper-{rk.__version__}.tar.gz"
    tarfile.open(sdist, "w:gz").close()
    return [sdist, wheel]


def installed(names):
    """Return the metadata of packages, as they are installed here."""
    texts = [importlib.metadata.distribution(name).read_text("METADATA") for name in names]
    return [email.message_from_string(text) for text in texts]


def all_needed():
    """Return the names of all packages that ratekeeper needs here, directly or not."""
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    waiting, found = [name_of(one) for one in project["dependencies"]], set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            [package] = installed([name])
            waiting += script("sbom").needs(package)
    return found


def test_the_bill_of_materials_lists_all_that_users_get(built):
    """It has each dependency with version, licence and purl, and the hashes of both files."""
    bill = json.loads(script("sbom").bill(built, installed(all_needed()), "2026-12-01T00:00:00Z"))
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.5", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    assert bill["metadata"]["timestamp"] == "2026-12-01T00:00:00Z"
    ours = bill["metadata"]["component"]
    assert (ours["name"], ours["version"]) == ("ratekeeper", rk.__version__)
    assert ours["licenses"] == [{"expression": "BSD-3-Clause"}]
    assert {one["name"]: one["hashes"] for one in ours["components"]} == {
        path.name: [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}]
        for path in built
    }
    assert {one["name"] for one in bill["components"]} == all_needed() == set(pinned("runtime"))
    for one in bill["components"]:
        assert one["purl"] == one["bom-ref"] == f"pkg:pypi/{one['name']}@{one['version']}"
        assert one["type"] == "library"
        assert one["licenses"], one["name"]
    graph = {one["ref"]: one["dependsOn"] for one in bill["dependencies"]}
    assert set(graph) == {ours["bom-ref"], *(one["bom-ref"] for one in bill["components"])}
    assert set().union(*graph.values()) == set(graph) - {ours["bom-ref"]}


def test_the_bill_of_materials_is_the_same_each_time(built):
    """It depends on the files and the packages, not on their order or on the day."""
    names = sorted(all_needed())
    bill = script("sbom").bill
    assert bill(built, installed(names)) == bill(built[::-1], installed(names[::-1]))
    assert "timestamp" not in bill(built, installed(names))


def test_a_bill_of_materials_with_gaps_is_not_written(built):
    """A dependency of a dependency that is not pinned stops the release."""
    names = sorted(all_needed() - {"mdurl"})
    with pytest.raises(SystemExit, match="lacks mdurl"):
        script("sbom").bill(built, installed(names))


def test_no_file_names_a_machine():
    """No path of somebody's machine, no private address and no package index stands in a file."""
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files()
        for match in MACHINES.finditer(read(path))
    ]
    assert found == []


def test_nobody_is_told_to_install_what_is_not_published():
    """There is no such package on PyPI yet: pages install a clone, errors name what is missing."""
    told = re.compile(r"pip install (?:-\S+ )*[\"']?ratekeeper\b")
    for path in files():
        shown = path.relative_to(ROOT).parts[0] in {"src", "docs"} or path.parent == ROOT
        if shown and path.name != "CHANGELOG.md":
            assert not told.findall(read(path)), path


def test_remedies_name_the_packages_of_the_extras():
    """Whoever follows an error's advice gets what the extra would bring."""
    facts = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["optional-dependencies"]
    texts = "".join(read(path) for path in (ROOT / "src").rglob("*.py"))
    for extra in ("plot", "parquet", "onnx", "mlflow"):
        names = " ".join(re.split(r"[<>=]", one)[0] for one in facts[extra])
        assert f"Run pip install {names}." in texts
