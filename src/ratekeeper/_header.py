"""What the header of a ``.rk`` file may hold: a JSON Schema, and a check against it.

`SCHEMA` is what `save` and `load` check by, and what docs/rk-header.schema.json publishes. It is
of draft 2020-12; `misfit` knows the keywords that it uses and no others.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from ratekeeper._formatting import show
from ratekeeper._validation import LONGEST_NAME

Schema = dict[str, Any]
FORMAT = 2
LONGEST_REASON = 200  # characters of a reason why rows were left out
MOST_REPLICATES = 1_000_000
ENDLESS_FITS = ["levy_stable", "studentized_range"]  # minutes to hours for a few dozen scores


def _object(properties: Schema, *, optional: tuple[str, ...] = (), **more: object) -> Schema:
    """Describe an object that has these members and no others."""
    return {
        "type": more.pop("type", "object"),
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
        **more,
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _method(name: str, **parameters: Schema) -> Schema:
    return _object({"name": {"const": name}, "parameters": _object(parameters)})


def _array(items: Schema, least: int | None = None, most: int | None = None) -> Schema:
    limits = {"minItems": least, "maxItems": most}
    return {"type": "array", "items": items} | {k: v for k, v in limits.items() if v is not None}


_TEXT = {"type": "string"}
_MAYBE_TEXT = {"type": ["string", "null"]}
_FLAG = {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_MAYBE_SHARE = _SHARE | {"type": ["number", "null"]}
_RATE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
_SIDES = _object({"negative": _COUNT, "positive": _COUNT})
_HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_CONTROL = {"enum": ["fnr", "fpr"]}
_ORIGIN = {"enum": ["held out", "cross-fitted"]}
_NAME = {"type": ["string", "integer", "number", "boolean", "null"], "maxLength": LONGEST_NAME}
# Of classes and groups: what every machine has, and text.
NAME_TYPE = {"type": "string", "pattern": "^[<>|](b1|[iu][1248]|f[248]|U[1-9][0-9]{0,3})$"}
_THRESHOLD = "^-?(inf|0x[01][.][0-9a-f]{1,13}p[+-][0-9]{1,4})$"
_OTHER_ERROR = _object(
    {
        "name": _CONTROL,
        "errors": _COUNT,
        "n": _COUNT,
        # Of no objects at all, there is no share.
        "rate": _SHARE | {"type": ["number", "string"], "pattern": "^nan$"},
        "low": _SHARE,
        "high": _SHARE,
        "confidence": _RATE,
    }
)

_DEFS: Schema = {
    "array": _object(
        {
            "dtype": {"enum": ["F32", "F64"]},
            "shape": _array(_COUNT, 1, 1),
            "data_offsets": _array(_COUNT, 2, 2),
        }
    ),
    "names": _object(
        {
            "dtype": NAME_TYPE,
            "values": _array(
                {"type": ["string", "integer", "boolean"], "maxLength": LONGEST_NAME}, 1
            ),
        },
        type=["object", "null"],
    ),
    "provenance": _object(
        {
            "rows": _COUNT,
            "skipped": {
                "type": "object",
                "propertyNames": {"pattern": f"^[ -~]{{1,{LONGEST_REASON}}}$"},
                "additionalProperties": _COUNT,
            },
            "score": _MAYBE_TEXT,
            "label": _MAYBE_TEXT,
            "group": _MAYBE_TEXT,
            "sampled_from": _array(_COUNT, 2, 2) | {"type": ["array", "null"]},
        },
        type=["object", "null"],
    ),
    "method": {
        "anyOf": [
            _method("conformal"),
            _method("high-probability", delta=_RATE),
            _method("simultaneous", delta=_RATE),
            _method("smoothed", random_state=_COUNT),
            _method("empirical"),
            _method(
                "bootstrap",
                replicates={"type": "integer", "minimum": 2, "maximum": MOST_REPLICATES},
                random_state=_COUNT,
                confidence=_RATE,
            ),
            _method(
                "kernel",
                bandwidth={
                    "anyOf": [
                        {"enum": ["scott", "silverman"]},
                        {"type": "number", "exclusiveMinimum": 0},
                    ]
                },
            ),
            _method(
                "parametric",
                distribution={
                    "type": "string",
                    "pattern": "^[a-z][a-z0-9_]{0,49}$",
                    "not": {"enum": ENDLESS_FITS},
                },
            ),
            _method(
                "resampled",
                size={"type": "integer", "minimum": 1},
                random_state=_COUNT,
                plain=_FLAG,
            ),
        ]
    },
    "cell": _object(
        {
            "group": _NAME,
            "pooled": _FLAG,
            "n": _object({"null": _COUNT, "other": _COUNT}),
            "threshold": {"type": ["number", "string", "null"], "pattern": "^-?inf$"},
            "condition": _TEXT,
            "tied": _FLAG,
            "other_error": _OTHER_ERROR,
            "remark": _MAYBE_TEXT,
            "contradicted": _FLAG,
            "rule": _TEXT,
            "realised_rate": _object(
                {
                    "distribution": _TEXT,
                    "law": _TEXT,
                    "mean": _SHARE,
                    "low": _SHARE,
                    "high": _SHARE,
                    "probability_above_alpha": _MAYBE_SHARE,
                },
                optional=("distribution", "law"),
                type=["object", "null"],
            ),
        },
        optional=("condition", "contradicted"),
    ),
    "certificate": _object(
        {
            "control": _CONTROL,
            "alpha": _RATE,
            "method": _TEXT,
            "delta": {**_RATE, "type": ["number", "null"]},
            "promised": _FLAG,
            "guarantee": _object(
                {
                    "kind": {
                        "enum": [
                            "marginal",
                            "high probability",
                            "simultaneous",
                            "asymptotic",
                            "none",
                        ]
                    },
                    "promise": _TEXT,
                    "condition": _TEXT,
                    "not_covered": _TEXT,
                }
            ),
            "positive_label": _NAME,
            "negative_label": _NAME,
            "higher_is_positive": _FLAG,
            "n": _SIDES,
            "cells": _array(_ref("cell"), 1),
            "pooled_groups": _array(_NAME),
            "other_error": _OTHER_ERROR,
            "score_type": {"enum": ["float32", "float64"]},
            "data_hash": _HASH,
            "origin": _ORIGIN,
            "assumptions": _array(_TEXT),
            "remarks": _array(_TEXT),
            "provenance": _ref("provenance"),
            "version": _TEXT,
        },
        # Earlier versions did not write these; the cells of very many groups are left out.
        optional=("promised", "cells", "remarks", "provenance"),
    ),
    "test": _object(
        {
            "control": _CONTROL,
            "alpha": _RATE,
            "method": _ref("method"),
            "thin_groups": {"enum": ["refuse", "pool"]},
            "thresholds": _array({"type": ["string", "null"], "pattern": _THRESHOLD}, 1),
            "certificate": _ref("certificate"),
        }
    ),
    "facts": _object(
        {
            "format": {"enum": [*range(1, FORMAT + 1)]},
            "version": {"type": "string", "maxLength": 100},
            "kind": {"enum": ["calibration", "test", "abstaining test"]},
            "classes": {**_ref("names"), "type": "object"},
            "groups": _ref("names"),
            "higher_is_positive": _FLAG,
            "origin": _ORIGIN,
            "n": _SIDES,
            "data_hash": _HASH,
            "provenance": _ref("provenance"),
            "tests": _array(_ref("test"), 0, 2),
        },
        optional=("provenance",),  # which format 1 did not have
    ),
}

SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Header of a .rk file",
    "description": (
        "The JSON object at the start of a file that ratekeeper.save wrote. The text `ratekeeper` "
        "is JSON itself and follows $defs/facts."
    ),
    "type": "object",
    "required": ["__metadata__"],
    "properties": {
        "__metadata__": _object(
            {
                "ratekeeper": {
                    "type": "string",
                    "contentMediaType": "application/json",
                    "contentSchema": _ref("facts"),
                },
                "sha256": _HASH,
            }
        )
    },
    "patternProperties": {"^(negative|positive)(/(0|[1-9][0-9]*))?$": _ref("array")},
    "additionalProperties": False,
    "$defs": _DEFS,
}
METADATA: Schema = SCHEMA["properties"]["__metadata__"]
TABLE: Schema = {**SCHEMA, "required": []}  # without the metadata
FACTS: Schema = _ref("facts")  # which the text `ratekeeper` follows

_TYPES = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def published() -> str:
    r"""Return the text of docs/rk-header.schema.json.

    Examples
    --------
    >>> published()[:40]
    '{\n  "$schema": "https://json-schema.org/'
    """
    return json.dumps(SCHEMA, indent=2) + "\n"


def misfit(value: Any, schema: Schema, where: str = "") -> str | None:  # noqa: ANN401 - any JSON
    """Return what is wrong with a value that JSON gave, None if it follows the schema.

    Unlike for JSON Schema, 1.0 is no integer here, and no number is infinite.

    Examples
    --------
    >>> misfit({"name": "conformal", "parameters": {}}, _ref("method"))
    >>> misfit({"negative": 3}, _SIDES, "n")
    'n has no positive'
    >>> misfit("0.05", _RATE, "alpha")
    "alpha is '0.05'"
    """
    if "$ref" in schema:
        found = misfit(value, _DEFS[schema["$ref"].rpartition("/")[2]], where)
        if found or len(schema) == 1:
            return found
    kind = _TYPES.get(type(value), "")
    wanted = schema.get("type", kind)
    if (
        (kind != wanted and kind not in wanted and (kind != "integer" or "number" not in wanted))
        or ("enum" in schema and not _is_among(value, schema["enum"]))
        or ("const" in schema and not _is_among(value, [schema["const"]]))
        or ("not" in schema and misfit(value, schema["not"]) is None)
        or ("anyOf" in schema and all(misfit(value, option) for option in schema["anyOf"]))
    ):
        return _is(where, value)
    check = _CHECKS.get(kind)
    return None if check is None else check(value, schema, where)


def _is_among(value: object, choices: list[Any]) -> bool:
    """Return whether a value is one of some, of its type: true is not 1."""
    return any(type(value) is type(one) and value == one for one in choices)


def _of_object(value: Schema, schema: Schema, where: str) -> str | None:
    known = schema.get("properties", {})
    if not value.keys() >= set(schema.get("required", ())):
        missing = next(name for name in schema["required"] if name not in value)
        return f"{where or 'it'} has no {missing}"
    names, others = schema.get("propertyNames"), schema.get("additionalProperties", True)
    for name, item in value.items():
        inner = known.get(name)
        if inner is None:
            patterns = schema.get("patternProperties", {}).items()
            inner = next((one for pattern, one in patterns if re.fullmatch(pattern, name)), others)
        if inner is False or (names and misfit(name, names)):
            return f"{where or 'it'} has a member {show(name)}"
        if inner is not True and (found := misfit(item, inner, f"{where}.{name}")):
            return found.removeprefix(".")
    return None


def _of_array(value: list[Any], schema: Schema, where: str) -> str | None:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
        return f"{where} has {len(value):,} members"
    inner = schema.get("items", {})
    return next(filter(None, (misfit(item, inner, where) for item in value)), None)


def _of_text(value: str, schema: Schema, where: str) -> str | None:
    too_long = len(value) > schema.get("maxLength", math.inf)
    if too_long or ("pattern" in schema and not re.fullmatch(schema["pattern"], value)):
        return _is(where, value)
    return None


def _of_number(value: float, schema: Schema, where: str) -> str | None:
    fits = (
        (isinstance(value, int) or math.isfinite(value))
        and schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf)
        and schema.get("exclusiveMinimum", -math.inf) < value
        and value < schema.get("exclusiveMaximum", math.inf)
    )
    return None if fits else _is(where, value)


_CHECKS: dict[str, Any] = {
    "object": _of_object,
    "array": _of_array,
    "string": _of_text,
    "integer": _of_number,
    "number": _of_number,
}


def _is(where: str, value: object) -> str:
    return f"{where or 'it'} is {show(value)}"
