"""Folders that were altered, tables that cannot be used, and disks that are full."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow_cases import MODEL, NEEDS, NEW, QUIET, TEST, X, mlflow, pd

import ratekeeper as rk

yaml = pytest.importorskip("yaml")
pytestmark = QUIET


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Save a model with its test, once."""
    place = tmp_path_factory.mktemp("mlflow") / "whole"
    rk.mlflow.save_model(TEST, place, model=MODEL, input_example=X[:3], pip_requirements=NEEDS)
    return place


def altered(whole, to, change):
    """Copy a folder with another MLmodel: its bytes, or what becomes of what it says."""
    shutil.copytree(whole, to)
    about = to / "MLmodel"
    if isinstance(change, bytes):
        about.write_bytes(change)
        return to
    says = yaml.safe_load(about.read_text())
    change(says)
    about.write_text(yaml.safe_dump(says))
    return to


def ours(**values):
    """Change facts of ratekeeper; those that are Ellipsis are taken away."""

    def change(says):
        facts = says["flavors"]["ratekeeper"]
        facts.update(values)
        for name in [name for name, value in values.items() if value is ...]:
            del facts[name]

    return change


NAMES = ("format", "model", "response_method", "output", "columns", "undecided")
ALTERED = {
    "no bytes": b"",
    "no text": b"\xff\xfe\x00",
    "no YAML": b"flavors: [",
    "a list": b"- flavors",
    "a word": b"flavors",
    "flavors of another type": lambda says: says.update(flavors=[1]),
    "facts of another type": lambda says: says["flavors"].update(ratekeeper=[1]),
    "facts that are a word": lambda says: says["flavors"].update(ratekeeper="test.rk"),
    **{f"no {name}": ours(**{name: ...}) for name in NAMES},
    "a format that is text": ours(format="1"),
    "another method of the model": ours(response_method="fit"),
    "another score": ours(response_method="decision_function"),
    "an attribute": ours(response_method="__class__"),
    "no method": ours(response_method=None),
    "a list of methods": ours(response_method=["predict_proba"]),
    "another column": ours(output=[0]),
    "an output of another type": ours(output=5),
    "an output with a fraction": ours(output=[1.5]),
    "columns of another type": ours(columns=["age"]),
    "columns of no role": ours(columns={"sample": "age"}),
    "a column that nothing needs": ours(columns={"group": "age"}),
    "no model": ours(model=None),
    "another model": ours(model="../other"),
    "a label for undecided": ours(undecided=1),
    "another certificate": ours(certificate="FNR <= 1%"),
    # As an early version wrote it, so that the other checks are needed.
    "no checksum, another method": ours(sha256=..., response_method="fit"),
    "no checksum, no method": ours(sha256=..., response_method=None),
    "no checksum, columns": ours(sha256=..., columns={"group": "age"}),
    "no checksum, a score": ours(sha256=..., columns={"score": "age"}),
    "no checksum, undecided": ours(sha256=..., undecided=1),
    "no checksum, no model": ours(sha256=..., model=None, response_method=None),
}


def test_an_altered_mlmodel_is_refused_in_our_words(whole, tmp_path):
    """Whatever was changed, it is a StoredFileError and no decision by another score or column."""
    wrong = []
    for i, (name, change) in enumerate(ALTERED.items()):
        place = altered(whole, tmp_path / str(i), change)
        try:
            wrong.append((name, rk.mlflow.load_model(place)))
        except rk.exceptions.StoredFileError as error:
            if "MLmodel" not in str(error):
                wrong.append((name, str(error)))
        except Exception as error:  # noqa: BLE001 - shown below
            wrong.append((name, repr(error)))
    assert not wrong


def test_folders_of_early_versions_are_still_loaded(whole, tmp_path):
    """Without a checksum of the facts, as they were written first, the decisions are the same."""
    early = altered(whole, tmp_path / "early", ours(sha256=...))
    found, wanted = (rk.mlflow.load_model(place).decide(X[NEW]) for place in (early, whole))
    assert found.labels.tolist() == wanted.labels.tolist()


def test_an_inner_model_that_is_damaged_is_named(whole, tmp_path):
    """MLflow's own folder within ours: missing, without its file, or with an unreadable one."""
    damaged = {
        "gone": shutil.rmtree,
        "unreadable": lambda inner: (inner / "MLmodel").write_text("x: ["),
        "empty": lambda inner: [
            path.write_bytes(b"") for path in inner.iterdir() if path.suffix in (".pkl", ".skops")
        ],
    }
    for name, damage in damaged.items():
        place = Path(shutil.copytree(whole, tmp_path / name))
        damage(place / "model")
        with pytest.raises(rk.exceptions.StoredFileError, match="MLflow cannot load the model"):
            rk.mlflow.load_model(place)
    with pytest.raises(rk.InputError, match="MLflow cannot load the model"):
        rk.mlflow.save_model(TEST, tmp_path / "new", model=tmp_path / "empty" / "model")
    assert not (tmp_path / "new").exists()


def test_two_columns_of_one_name_are_refused(whole, tmp_path):
    """Also a column that the model is not given, and in the examples with which it is saved."""
    twice = pd.concat([X[:3], X[:3][["dose"]]], axis=1)
    model = rk.mlflow.load_model(whole)
    words = "model_input has more than one column named 'dose'"
    with pytest.raises(rk.InputError, match=words):
        model.decide(twice)
    with pytest.raises(mlflow.exceptions.MlflowException, match=words):
        model.predict(twice)
    with pytest.raises(rk.InputError, match=words):
        rk.mlflow.save_model(
            TEST, tmp_path / "m", model=MODEL, input_example=twice, pip_requirements=NEEDS
        )
    assert list(tmp_path.iterdir()) == []


FULL = """
import resource, sys
from mlflow_cases import MODEL, NEEDS, TEST, X
import ratekeeper as rk

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    options = {"model": MODEL, "input_example": X[:3], "pip_requirements": NEEDS}
    rk.mlflow.save_model(TEST, sys.argv[1], **options)
except rk.InputError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of file sizes")
@pytest.mark.parametrize("room", [0, 9_000], ids=["of the test", "of the model"])
def test_a_full_disk_leaves_nothing_and_says_so(tmp_path, room):
    """Whichever file is the one that does not fit, of ours or of MLflow."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "m", str(room)],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "m cannot be written: File too large" in done.stdout
    assert "on a disk with room" in done.stdout
    assert list(tmp_path.iterdir()) == []
