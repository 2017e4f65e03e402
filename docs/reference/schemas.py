"""Make schemas/*.schema.json: what every JSON output of ratekeeper holds.

python docs/reference/schemas.py

schema_sources describes each of them in a file of its name, and here they get their heads and all
the parts that they need. The schema of the header of ``.rk`` files is not made here: the library
itself checks by it.
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ratekeeper.cli._printing import SCHEMAS

if TYPE_CHECKING:
    from schema_sources.shapes import Schema

FOLDER = Path(__file__).with_name("schemas")
DRAFT = "https://json-schema.org/draft/2020-12/schema"
FILES = ("certificate", "evaluation", "trials")
"""JSON that no command prints."""
SOURCES = {
    name: import_module(f"schema_sources.{name}") for name in ("parts", *FILES, "learn", *SCHEMAS)
}
"""In this order a file has their parts: those about tests come first."""
PARTS = {
    name: part for source in SOURCES.values() for name, part in getattr(source, "PARTS", {}).items()
}


def named(schema: Schema, name: str) -> Schema:
    """Return a schema of an object that also says which schema it follows."""
    member = {"const": name, "description": "The name and version of the schema of this object."}
    return {
        **schema,
        "properties": {"schema": member, **schema["properties"]},
        "required": ["schema", *schema["required"]],
    }


def parts_of(schema: object) -> dict[str, Schema]:
    """Return the parts that a schema refers to, and those that these refer to, in their order."""
    found: set[str] = set()
    texts = [json.dumps(schema)]
    while texts:
        names = set(re.findall(r'"#/\$defs/(\w+)"', texts.pop())) - found
        found |= names
        texts += [json.dumps(PARTS[name]) for name in names]
    return {name: part for name, part in PARTS.items() if name in found}


def schema_of(name: str) -> Schema:
    """Return a schema with its head and all its parts."""
    source = SOURCES[name]
    known_as = f"ratekeeper:{name}:{SCHEMAS.get(name, 1)}"
    title = f"ratekeeper {name} --json" if name in SCHEMAS else source.TITLE
    forms = [named(form, known_as) for form in source.FORMS] if name in SCHEMAS else source.FORMS
    about = {"$schema": DRAFT, "$id": known_as, "title": title, "description": source.__doc__}
    body = forms[0] if len(forms) == 1 else {"anyOf": forms}
    parts = parts_of(forms)
    return {**about, **body, **({"$defs": parts} if parts else {})}


def schemas() -> dict[str, Schema]:
    """Return every schema by the name of its file, without its ending."""
    return {name: schema_of(name) for name in (*SCHEMAS, *FILES)}


def written(schema: Schema) -> str:
    """Return the text of a file."""
    return json.dumps(schema, indent=2) + "\n"


if __name__ == "__main__":
    for name, schema in schemas().items():
        (FOLDER / f"{name}.schema.json").write_text(written(schema), encoding="utf-8")
