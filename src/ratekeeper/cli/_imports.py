"""Objects of the user's own by where they are: ``package.module:name``.

A module is looked for where Python finds its packages, and in a folder only if it is named: the
current one is never searched by itself, since whoever may write there could then run code.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from ratekeeper._wording._formatting import format_value
from ratekeeper.cli._errors import CommandError


def search(folders: tuple[str, ...], option: str = "--import-from") -> None:
    """Look for modules in these folders, too, after all others."""
    for folder in folders:
        if not Path(folder).is_dir():
            raise CommandError(f"{option} {folder} is no folder. Name the one that has the module.")
        place = str(Path(folder).resolve())
        if place not in sys.path:
            sys.path.append(place)


def imported(where: str, option: str) -> Any:  # noqa: ANN401 - whatever it is
    """Return the object that is meant, or refuse."""
    module, colon, name = where.partition(":")
    if not (colon and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))):
        raise CommandError(
            f"{option} {format_value(where)} is not of the form package.module:name."
        )
    try:
        found = import_module(module)
    except Exception as error:
        raise CommandError(
            f"{option}: the module {module!r} cannot be imported: {type(error).__name__}: {error}. "
            "Install it, or name its folder with --import-from."
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise CommandError(f"{option}: the module {module!r} has no {name!r}.")
        found = getattr(found, part)
    return found


def named(text: str, option: str) -> tuple[str, Any]:
    """Return name and object of ``name=package.module:object``."""
    name, sign, where = text.partition("=")
    if not sign or not name:
        raise CommandError(
            f"{option} {format_value(text)} is not of the form name=package.module:object."
        )
    return name, imported(where, option)


def classifier(where: str) -> Any:  # noqa: ANN401 - a classifier
    """Return a classifier, made by what is named if that is a class or a function."""
    found = imported(where, "--base")
    if isinstance(found, type) or (callable(found) and not hasattr(found, "fit")):
        try:
            return found()
        except Exception as error:
            raise CommandError(
                f"--base {where} cannot be called: {type(error).__name__}: {error}. It is called "
                "without arguments, and returns a classifier."
            ) from error
    return found
