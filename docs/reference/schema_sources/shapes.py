"""How descriptions of objects and arrays are made."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
Members = dict[str, tuple[str, Schema]]
"""A sentence and a schema by the name of the member; a name with a question mark is optional."""


def ref(name: str) -> Schema:
    """Return a reference to one of the parts."""
    return {"$ref": f"#/$defs/{name}"}


def listed(items: Schema, **limits: int) -> Schema:
    """Describe an array."""
    return {"type": "array", "items": items, **limits}


def two(items: Schema) -> Schema:
    """Describe a pair."""
    return listed(items, minItems=2, maxItems=2)


def maybe(schema: Schema) -> Schema:
    """Describe what may be null."""
    kind = schema.get("type", "object")
    if kind in ("object", "array"):
        return {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "type": [*([kind] if isinstance(kind, str) else kind), "null"]}


def record(members: Members, description: str = "", *, more: Schema | None = None) -> Schema:
    """Describe an object that has these members and no others, or others of one kind."""
    return {
        **({"description": description} if description else {}),
        "type": "object",
        "properties": {
            name.rstrip("?"): {**schema, "description": text}
            for name, (text, schema) in members.items()
        },
        "required": [name for name in members if not name.endswith("?")],
        "additionalProperties": False if more is None else more,
    }


def numbered(values: Schema) -> Schema:
    """Describe an object with any names, all of whose members are of one kind."""
    return {"type": "object", "additionalProperties": values}


def by_class(text: str, values: Schema) -> Members:
    """Describe a member for each class, which the braces in the text stand for."""
    return {name: (text.format(name), values) for name in ("negative", "positive")}


def by_rate(text: str, values: Schema, *, optional: bool = False) -> Members:
    """Describe a member for each error rate, which the braces in the text stand for."""
    rates = {"fnr": "false negative rate", "fpr": "false positive rate"}
    mark = "?" if optional else ""
    return {f"{name}{mark}": (text.format(words), values) for name, words in rates.items()}
