"""Write what a release is made of, as CycloneDX JSON, beside its wheel and sdist.

``python release/sbom.py DIST`` lists every package that ``pip install ratekeeper`` brings, in the
version that was tested (``.ci/pins/runtime.txt``), with its licence and what it needs itself. These
are read from the packages' own files, which are downloaded with a check of their hashes. The same
release gives the same bytes.
"""

from __future__ import annotations

import email
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import uuid
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from email.message import Message

ROOT = Path(__file__).resolve().parents[1]
HASHED = ("--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:")
LONGEST_LICENCE = 60  # some packages have the whole text in the field


def download(name: str, folder: Path) -> list[Path]:
    """Download what ``.ci/pins`` names, for all systems, and return the wheels."""
    text = (ROOT / ".ci" / "pins" / f"{name}.txt").read_text(encoding="utf-8")
    pins = folder / "pins.txt"
    pins.write_text(re.sub(r" ; [^\\]*", " ", text), encoding="utf-8")
    pip = (sys.executable, "-m", "pip", "download", *HASHED)
    subprocess.run([*pip, "--dest", str(folder), "-r", str(pins)], check=True)
    return sorted(folder.glob("*.whl"))


def metadata_of(path: Path) -> Message:
    """Return the metadata inside a wheel or an sdist."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            [name] = [n for n in wheel.namelist() if n.endswith(".dist-info/METADATA")]
            return email.message_from_string(wheel.read(name).decode())
    with tarfile.open(path) as sdist:
        [name] = [n for n in sdist.getnames() if re.fullmatch(r"[^/]+/PKG-INFO", n)]
        file = sdist.extractfile(name)
        return email.message_from_string(file.read().decode() if file is not None else "")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def needs(package: Message) -> set[str]:
    """Return the names of what a package needs, on any system, without its extras."""
    wanted = [Requirement(one) for one in package.get_all("Requires-Dist", [])]
    return {
        canonicalize_name(one.name)
        for one in wanted
        if one.marker is None or "extra" not in str(one.marker)
    }


def licences(package: Message) -> list[dict[str, Any]]:
    """Return what a package says of its licence: an SPDX expression, or else a name."""
    if package["License-Expression"]:
        return [{"expression": package["License-Expression"]}]
    classifiers = package.get_all("Classifier", [])
    names = [one.split(" :: ")[-1] for one in classifiers if one.startswith("License :: ")]
    short = package["License"] or ""
    if 0 < len(short) <= LONGEST_LICENCE:
        names = [short]
    return [{"license": {"name": name}} for name in names]


def component(package: Message) -> dict[str, Any]:
    """Return the entry of a package."""
    name, version = canonicalize_name(package["Name"]), package["Version"]
    purl = f"pkg:pypi/{name}@{version}"
    found = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    described = {"description": package["Summary"]} if package["Summary"] else {}
    return found | described | {"licenses": licences(package)}


def bill(files: list[Path], packages: list[Message], date: str | None = None) -> str:
    """Return the list of what a release is made of, as JSON.

    Parameters
    ----------
    files : list of Path
        Wheel and sdist.
    packages : list of Message
        The metadata of all packages that it needs, directly or not. None may be missing.
    date : str, optional
        When the release was made.
    """
    [wheel] = [path for path in files if path.suffix == ".whl"]
    release = metadata_of(wheel)
    known = {component(one)["name"]: component(one) for one in packages}
    missing = sorted(set().union(*map(needs, [release, *packages])) - set(known))
    if missing:
        sys.exit(f".ci/pins/runtime.txt lacks {', '.join(missing)}. Run release/pin.py.")
    made_of = [
        {
            "type": "file",
            "name": path.name,
            "hashes": [{"alg": "SHA-256", "content": digest(path)}],
        }
        for path in sorted(files)
    ]
    graph = [
        {
            "ref": component(one)["bom-ref"],
            "dependsOn": [known[name]["bom-ref"] for name in sorted(needs(one))],
        }
        for one in [release, *packages]
    ]
    found = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest(wheel))}",
        "version": 1,
        "metadata": ({"timestamp": date} if date else {})
        | {"component": component(release) | {"components": made_of}},
        "components": [known[name] for name in sorted(known)],
        "dependencies": sorted(graph, key=lambda one: str(one["ref"])),
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def write(dist: Path, date: str | None = None) -> Path:
    """Write the list beside wheel and sdist, and return its path."""
    files = [*dist.glob("*.whl"), *dist.glob("*.tar.gz")]
    with tempfile.TemporaryDirectory() as folder:
        text = bill(files, [metadata_of(one) for one in download("runtime", Path(folder))], date)
    path = next(dist.glob("*.tar.gz"))
    path = path.with_name(path.name.replace(".tar.gz", ".cdx.json"))
    path.write_text(text, encoding="utf-8")
    return path


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
