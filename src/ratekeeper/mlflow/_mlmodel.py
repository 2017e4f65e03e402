"""What the file MLmodel says for us: written once, and believed only as it was written."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from ratekeeper._version import __version__
from ratekeeper._wording._formatting import brief, format_value, plain_value
from ratekeeper.exceptions import InputError, StoredFileError
from ratekeeper.mlflow._checks import check_label_of_undecided, columns_of
from ratekeeper.mlflow._inner import FLAVOR, NAME, RESPONSES, read_output

if TYPE_CHECKING:
    from pathlib import Path

    from ratekeeper.control._test import Test
    from ratekeeper.mlflow._controlled import ControlledModel

TEST = "test.rk"
_FORMAT = 1
_CALLED = ("pyfunc", "predict", *RESPONSES)
_ROLES = ("score", "group", "weight", "key")
_AGAIN = "Save the model again, or get the folder again."


def facts_of(controlled: ControlledModel) -> dict[str, Any]:
    """Return what loading has to know, and the promise for people."""
    inner = controlled.inner
    facts = {
        "format": _FORMAT,
        "ratekeeper_version": __version__,
        "test": TEST,
        "model": None if inner is None else NAME,
        "response_method": None if inner is None else inner.response_method,
        "output": [] if inner is None else list(inner.output),
        "columns": dict(controlled.columns),
        "undecided": plain_value(controlled.undecided),
        "certificate": controlled.test.certificate.headline.removeprefix("CERTIFICATE").strip(),
    }
    return {**facts, "sha256": _digest(facts)}


def read_facts(place: Path) -> dict[str, Any]:
    """Return what the file MLmodel of a folder says, if it is one of ours and was not altered."""
    if not (place / "MLmodel").is_file():
        raise StoredFileError(
            f"{format_value(str(place))} is no MLflow model: it has no file MLmodel."
        )
    from mlflow.models import Model

    try:
        facts = Model.load(str(place)).flavors.get(FLAVOR)
    except Exception as error:  # whatever MLflow and YAML find wrong with it
        found = f"{type(error).__name__}: {brief(error)}"
        raise _altered(place, f"cannot be read ({found})") from error
    if facts is None:
        raise StoredFileError(
            f"{format_value(str(place))} is an MLflow model, but none that ratekeeper has saved."
        )
    if not isinstance(facts, dict):
        raise _altered(place, f"has {format_value(facts)} for ratekeeper, which no version writes")
    if type(facts.get("format")) is int and facts["format"] > _FORMAT:
        raise StoredFileError(
            f"{format_value(str(place))} is of format {facts['format']}, of ratekeeper "
            f"{format_value(facts.get('ratekeeper_version'))}; this version knows {_FORMAT}. "
            "Upgrade ratekeeper."
        )
    for name, is_right in _shape(facts).items():
        if not is_right:
            found = f"{name} = {format_value(facts[name])}" if name in facts else f"no {name}"
            raise _altered(place, f"has {found} for ratekeeper, which no version writes")
    stated = facts.get("sha256")  # folders of early versions have none
    if stated is not None and stated != _digest(facts):
        raise _altered(place, "was altered after it was saved")
    return facts


def _shape(facts: dict[str, Any]) -> dict[str, bool]:
    """Say of each member that is used whether it has the type of what is written."""
    output, columns = facts.get("output"), facts.get("columns")
    has_model = facts.get("model") == NAME
    return {
        "format": facts.get("format") == _FORMAT and type(facts["format"]) is int,
        "model": "model" in facts and (has_model or facts["model"] is None),
        "response_method": facts.get("response_method") in (_CALLED if has_model else (None,)),
        "output": isinstance(output, list) and all(type(one) in (str, int) for one in output),
        "columns": isinstance(columns, dict)
        and all(role in _ROLES and isinstance(name, str) for role, name in columns.items()),
        "undecided": "undecided" in facts,
    }


def check_facts(facts: dict[str, Any], test: Test, place: Path) -> None:
    """Raise unless the columns and the label of undecided objects are those that a test needs."""
    given = {role: facts["columns"].get(role) for role in _ROLES}
    try:
        read_output(facts["output"])
        needed = columns_of(test, given, has_model=facts["model"] is not None)
        check_label_of_undecided(test, facts["undecided"])
    except InputError as error:
        raise _altered(place, f"does not go with its test ({brief(error)})") from error
    if needed != facts["columns"]:
        found = (
            f"names the columns {format_value(facts['columns'])}, and its test needs "
            f"{format_value(needed)}"
        )
        raise _altered(place, found)


def _altered(place: Path, why: str) -> StoredFileError:
    return StoredFileError(f"The file MLmodel of {format_value(str(place))} {why}. {_AGAIN}")


def _digest(facts: dict[str, Any]) -> str:
    known = {name: value for name, value in facts.items() if name != "sha256"}
    text = json.dumps(known, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
