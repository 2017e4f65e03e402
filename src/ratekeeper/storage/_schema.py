"""What the header of a ``.rk`` file may hold: a JSON Schema, and a check against it.

`SCHEMA` is what `save` and `load` check by, and what the site publishes as
docs/reference/schemas/rk-header.schema.json. It is of draft 2020-12; `schema_error` knows the
keywords that it uses and no others. The table of arrays, which may be long, is checked where it is
read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from ratekeeper._reading._parameters import LONGEST_NAME
from ratekeeper._wording._formatting import format_value

Schema = dict[str, Any]
FORMAT = 4
LONGEST_REASON = 200  # characters of a reason why rows were left out
MOST_REPLICATES = 100_000
_SHOWN = 60  # characters of a text that may be of any length
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


def _method(name: str, *, optional: tuple[str, ...] = (), **parameters: Schema) -> Schema:
    own = _object(parameters, optional=optional)
    return _object({"name": {"const": name}, "parameters": own})


def _array(items: Schema, least: int | None = None, most: int | None = None) -> Schema:
    limits = {"minItems": least, "maxItems": most}
    return {"type": "array", "items": items} | {k: v for k, v in limits.items() if v is not None}


_TEXT = {"type": "string"}
_MAYBE_TEXT = {"type": ["string", "null"]}
_FLAG = {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0}
_MAYBE_COUNT = {"type": ["integer", "null"], "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_MAYBE_SHARE = _SHARE | {"type": ["number", "null"]}
_RATE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
_POSITIVE = {"type": "number", "exclusiveMinimum": 0}
_RATE_TO_1 = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
_SIDES = _object({"negative": _COUNT, "positive": _COUNT})
_KNOWN = _object({**_SIDES["properties"], "unlabelled": _COUNT}, optional=("unlabelled",))
_HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_CONTROL = {"enum": ["fnr", "fpr"]}
_ORIGIN = {"enum": ["held out", "cross-fitted"]}
_NAME = {"type": ["string", "integer", "number", "boolean", "null"], "maxLength": LONGEST_NAME}
_THRESHOLD = "^-?(inf|0x[01][.][0-9a-f]{1,13}p[+-][0-9]{1,4})$"
_NUMBER_OR_INFINITY = {"type": ["number", "string"], "pattern": "^-?inf$"}
_GUARANTEE = _object(
    {
        "kind": {"enum": ["marginal", "high probability", "simultaneous", "asymptotic", "none"]},
        "promise": _TEXT,
        "condition": _TEXT,
        "not_covered": _TEXT,
    }
)
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
        "doubt": _COUNT,
    },
    optional=("doubt",),
)

_SHARES: Schema = {"enum": ["fnr", "fpr", "fdr", "for", "selective_error", "alert_share"]}
_NOISY: Any = {
    "level": _RATE,
    "wrong_from": _SHARE,
    "wrong_to": _SHARE,
    "other_wrong_from": _SHARE,
    "delta": _RATE,
    "unsure": _SHARE,
}

_ABOUT = {
    "format": {"enum": [*range(1, FORMAT + 1)]},
    "version": {"type": "string", "maxLength": 100},
}
_DEFS: Schema = {
    "array": _object(
        {
            "dtype": {"enum": ["F32", "F64"]},
            "shape": _array(_COUNT, 1, 1),
            "data_offsets": _array(_COUNT, 2, 2),
        }
    ),
    "cluster_array": _object(
        {
            "dtype": {"const": "U64"},
            "shape": _array(_COUNT, 1, 1),
            "data_offsets": _array(_COUNT, 2, 2),
        }
    ),
    "weight_array": _object(
        {
            "dtype": {"const": "F64"},
            "shape": _array(_COUNT, 1, 1),
            "data_offsets": _array(_COUNT, 2, 2),
        }
    ),
    "time_array": _object(
        {
            "dtype": {"const": "I64"},
            "shape": _array(_COUNT, 1, 1),
            "data_offsets": _array(_COUNT, 2, 2),
        }
    ),
    "count_array": _object(
        {
            "dtype": {"const": "I64"},
            "shape": _array(_COUNT, 1, 1),
            "data_offsets": _array(_COUNT, 2, 2),
        }
    ),
    "time": {"type": ["integer", "string"], "maxLength": 40},
    "times": _object(
        {
            "kind": {"enum": ["utc", "local", "number"]},
            "first": _ref("time"),
            "last": _ref("time"),
            "since": _ref("time"),
            "start": _ref("time"),
            "newest": {"type": "integer", "minimum": 1},
        },
        optional=("since", "start", "newest"),
    ),
    # Of labels and groups: what every machine has, and text.
    "name_type": {"type": "string", "pattern": "^[<>|](b1|[iu][1248]|f[248]|U[1-9][0-9]{0,3})$"},
    "names": _object(
        {
            "dtype": _ref("name_type"),
            "values": _array(
                {"type": ["string", "integer", "boolean"], "maxLength": LONGEST_NAME}, 1
            ),
        },
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
            "cluster": _MAYBE_TEXT,
            "time": _MAYBE_TEXT,
            "weight": _MAYBE_TEXT,
            "rejection": _object(
                {
                    "bound": {"type": "number", "exclusiveMinimum": 0},
                    "negative": _COUNT,
                    "positive": _COUNT,
                }
            ),
        },
        optional=("cluster", "time", "weight", "rejection"),
        type=["object", "null"],
    ),
    "draw": _object(
        {"entropy": {"type": "string", "pattern": "^[0-9a-f]{32,33}$"}, "fixed": _FLAG}
    ),
    "method": {
        "anyOf": [
            _method("conformal"),
            _method(
                "high-probability",
                delta=_RATE,
                randomised=_FLAG,
                random_state=_COUNT,  # of formats before 4, whose draws are refused
                optional=("randomised", "random_state"),
            ),
            _method("simultaneous", delta=_RATE),
            _method("smoothed", random_state=_MAYBE_COUNT),
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
                random_state=_MAYBE_COUNT,
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
            "effective_n": {"type": "number", "minimum": 0},
            "unused": _SHARE,
            "realised_rate": _object(
                {
                    "distribution": _TEXT,
                    "law": _TEXT,
                    "beyond": {**_COUNT, "type": ["integer", "null"]},
                    "mean": _SHARE,
                    "low": _SHARE,
                    "high": _SHARE,
                    "probability_above_alpha": _MAYBE_SHARE,
                },
                optional=("distribution", "law", "beyond"),
                type=["object", "null"],
            ),
        },
        optional=("condition", "contradicted", "effective_n", "unused"),
    ),
    "certificate": _object(
        {
            "control": _CONTROL,
            "alpha": _RATE,
            "method": _TEXT,
            "delta": {**_RATE, "type": ["number", "null"]},
            "promised": _FLAG,
            "guarantee": _GUARANTEE,
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
            "clusters": _object(
                {"negative": _COUNT, "positive": _COUNT, "spanning": _FLAG},
            ),
            "weights": _object(
                {
                    "effective_negative": {"type": "number", "minimum": 0},
                    "effective_positive": {"type": "number", "minimum": 0},
                }
            ),
            "tolerance": _POSITIVE,
            "least_other_error": _SHARE,
        },
        # Earlier versions did not write these; more than 1,000 cells are left out.
        optional=(
            *("promised", "cells", "remarks", "provenance", "clusters", "weights"),
            *("tolerance", "least_other_error"),
        ),
    ),
    "test": _object(
        {
            "control": _CONTROL,
            "alpha": _RATE,
            "method": _ref("method"),
            "thin_groups": {"enum": ["refuse", "pool"]},
            "thresholds": _array({"type": ["string", "null"], "pattern": _THRESHOLD}, 1),
            "certificate": _ref("certificate"),
            # A score and a number for each threshold, where ties are broken by keys.
            "boundaries": _array(_array({"type": "string", "pattern": _THRESHOLD}, 2, 2), 1),
            "tolerance": _POSITIVE,
        },
        optional=("boundaries", "tolerance"),
    ),
    "aim": {
        "anyOf": [
            _method("precision", level=_RATE, delta=_RATE),
            _method("npv", level=_RATE, delta=_RATE),
            _method("selective", error=_RATE, delta=_RATE),
            _method("alerts", budget=_RATE, delta=_RATE | {"type": ["number", "null"]}),
            *(_method(f"{rate}-despite-noise", **_NOISY) for rate in ("fnr", "fpr")),
        ]
    },
    "aimed_cell": _object(
        {
            "group": _NAME,
            "positive_beyond": _NUMBER_OR_INFINITY,
            "strictly": _FLAG,
            "negative_beyond": _NUMBER_OR_INFINITY | {"type": ["number", "string", "null"]},
            "rule": _TEXT,
            "certified": _object({"errors": _COUNT, "n": _COUNT}, type=["object", "null"]),
            "rank": _object({"k": _COUNT, "n": _COUNT}, type=["object", "null"]),
            "counted": _object(
                {name: _array(_COUNT, 2, 2) for name in ("negative", "positive", "abstained")}
            ),
        }
    ),
    "aimed_certificate": _object(
        {
            "aim": _TEXT,
            "share": _SHARES,
            "alpha": _RATE,
            "delta": {**_RATE, "type": ["number", "null"]},
            "promised": _FLAG,
            "guarantee": _GUARANTEE,
            "positive_label": _NAME,
            "negative_label": _NAME,
            "higher_is_positive": _FLAG,
            "n": _KNOWN,
            "cells": _array(_ref("aimed_cell"), 1),
            "score_type": {"enum": ["float32", "float64"]},
            "data_hash": _HASH,
            "origin": _ORIGIN,
            "assumptions": _array(_TEXT),
            "remarks": _array(_TEXT),
            "provenance": _ref("provenance"),
            "version": _TEXT,
        },
        optional=("cells",),
    ),
    "limits": _array(
        _object(
            {
                "positive": {"type": "string", "pattern": _THRESHOLD},
                "strict": _FLAG,
                "negative": {"type": ["string", "null"], "pattern": _THRESHOLD},
            }
        ),
        1,
    ),
    "aimed": _object(
        {
            "aim": _ref("aim"),
            "limits": _ref("limits"),
            "certificate": _ref("aimed_certificate"),
        }
    ),
    "facts": _object(
        {
            **_ABOUT,
            "kind": {"enum": ["calibration", "test", "abstaining test", "threshold test"]},
            "classes": _ref("names"),
            "groups": {"anyOf": [_ref("names"), {"type": "null"}]},
            "higher_is_positive": _FLAG,
            "origin": _ORIGIN,
            "n": _KNOWN,
            "data_hash": _HASH,
            "provenance": _ref("provenance"),
            "tests": _array(_ref("test"), 0, 2),
            "aimed": _ref("aimed"),
            "sampling": {"enum": ["population", "by class"]},
            "clusters": _KNOWN,
            "counted": _KNOWN,
            "times": _ref("times"),
            "weights": _KNOWN,
            "draw": _ref("draw"),
        },
        # Format 1 did not have provenance, and those before 4 no draw; the others are written only
        # where they say something.
        optional=(
            *("provenance", "aimed", "sampling", "clusters", "counted", "times", "weights"),
            "draw",
        ),
    ),
    # What goes on after calibration. The test it belongs to is compared, never made anew from it.
    "identity": _object(
        {
            "kind": {"enum": ["test", "abstaining test", "threshold test"]},
            "data_hash": _HASH,
            "draw": _ref("draw"),  # where ties are broken at random
            "tests": _array(
                _object(
                    {
                        "control": {"enum": ["fnr", "fpr"]},
                        "alpha": _RATE,
                        "method": _ref("method"),
                        "thin_groups": {"enum": ["refuse", "pool"]},
                        "thresholds": _array(
                            {"type": ["string", "null"], "pattern": _THRESHOLD}, 1
                        ),
                        "tolerance": _POSITIVE,
                    },
                    optional=("tolerance",),
                ),
                0,
                2,
            ),
            "aim": _object({"aim": _ref("aim"), "limits": _ref("limits")}, type=["object", "null"]),
        },
        optional=("draw",),
    ),
    "state": {"anyOf": [_ref("monitor"), _ref("adaptive")]},
    "monitor": _object(
        {
            **_ABOUT,
            "kind": {"enum": ["monitor"]},
            "test": _ref("identity"),
            "delta": _RATE,
            "run_length": {"type": "number", "minimum": 10},
            # Of numbers, or in microseconds.
            "matures_after": _object(
                {
                    "clock": {"enum": ["number", None]},
                    "length": {"type": "number", "exclusiveMinimum": 0},
                },
                type=["object", "null"],
            ),
            "labels": _object(
                {
                    "audit_rate": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
                    "audit_seed": _COUNT,
                },
                type=["object", "null"],
            ),
            "clock": {"enum": ["number", "local", "utc", None]},
            "has_now": _FLAG,
            "has_frontier": _FLAG,
            "n": _COUNT,
            "rates": _array(_object({"share": _SHARES, "outcomes": _COUNT}), 1, 2),
            "alarms": _array(_ref("alarm")),
            # Null: no score was recorded.
            "scores": _object(
                {
                    "n": _COUNT,
                    "shown": _object(
                        {"n": _COUNT, "p": _RATE_TO_1, "group": _NAME}, type=["object", "null"]
                    ),
                    "draw": _ref("draw"),
                },
                optional=("draw",),  # which formats before 4 did not have
                type=["object", "null"],
            ),
        },
        optional=("scores",),
    ),
    "alarm": _object(
        {
            "verdict": {"enum": ["limit_broken", "unlike_calibration", "changed"]},
            "decision": _COUNT,
            "outcome": _COUNT,
            "id": _TEXT,
            "decided_at": {"type": "number"},
            "share": _SHARES | {"enum": [*_SHARES["enum"], None]},
            "group": _NAME,
            "risen_for": _COUNT | {"type": ["integer", "null"]},
        }
    ),
    "adaptive": _object(
        {
            **_ABOUT,
            "kind": {"enum": ["adaptive test"]},
            "test": _ref("identity"),
            "classes": _ref("names"),
            "groups": {"anyOf": [_ref("names"), {"type": "null"}]},
            "step": {"type": ["string", "null"], "pattern": _THRESHOLD},  # null: falling
            "start": {"type": "string", "pattern": _THRESHOLD},
            "labels": _object({"rate": _RATE_TO_1, "seed": _COUNT}, type=["object", "null"]),
            "warned": _FLAG,
        }
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
    "patternProperties": {
        "^(negative|positive|unlabelled)(/(0|[1-9][0-9]*))?$": _ref("array"),
        "^clusters/(negative|positive|unlabelled)(/(0|[1-9][0-9]*))?$": _ref("cluster_array"),
        "^times/(negative|positive|unlabelled)(/(0|[1-9][0-9]*))?$": _ref("time_array"),
        "^(most|least)/(negative|positive|unlabelled)(/(0|[1-9][0-9]*))?$": _ref("count_array"),
        "^weights/(negative|positive|unlabelled)(/(0|[1-9][0-9]*))?$": _ref("weight_array"),
    },
    "additionalProperties": False,
    "$defs": _DEFS,
}

# Python's types of what JSON Schema calls a type. Unlike there, 1.0 is no integer here.
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
Check = Callable[[Any], str | None]  # returns what is wrong, as the rest of a sentence


def published() -> str:
    r"""Return the text of docs/reference/schemas/rk-header.schema.json.

    Examples
    --------
    >>> published()[:40]
    '{\n  "$schema": "https://json-schema.org/'
    """
    return json.dumps(SCHEMA, indent=2) + "\n"


def schema_error(value: Any, part: str) -> str | None:  # noqa: ANN401 - any JSON
    """Return what is wrong with a value that should follow a part of the schema, else None.

    The parts are "metadata" and those of ``$defs``.

    Examples
    --------
    >>> schema_error({"name": "conformal", "parameters": {}}, "method")
    >>> schema_error({"rows": "10"}, "provenance")
    'it has no group'
    >>> schema_error({"ratekeeper": "{}", "sha256": 5}, "metadata")
    'sha256 is 5'
    """
    found = _check_of(part)(value)
    return found and f"it{found}".removeprefix("it.")


@cache
def _check_of(part: str) -> Check:
    return _compiled(SCHEMA["properties"]["__metadata__"] if part == "metadata" else _DEFS[part])


def _compiled(schema: Schema) -> Check:
    """Make a schema a function, since files with very many groups have millions of values."""
    if "$ref" in schema:
        return _check_of(schema["$ref"].rpartition("/")[2])
    names = schema.get("type", list(_TYPES))
    names = [names] if isinstance(names, str) else names
    types = frozenset(kind for name in names for kind in _TYPES[name])
    checks: dict[type, Check] = {
        str: _text_check(schema),
        int: _number_check(schema),
        float: _number_check(schema),
    }
    if "additionalProperties" in schema:
        checks[dict] = _object_check(schema)
    if "items" in schema:
        checks[list] = _array_check(schema)
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    options = [_compiled(option) for option in schema.get("anyOf", ())]
    unwanted = _compiled(schema["not"]) if "not" in schema else None

    def check(value: Any) -> str | None:  # noqa: ANN401
        kind = type(value)
        if (
            kind not in types
            # True is not 1.
            or (choices and not any(kind is type(one) and value == one for one in choices))
            or (options and all(option(value) for option in options))
            or (unwanted and unwanted(value) is None)
        ):
            return _is(value)
        return checks[kind](value) if kind in checks else None

    return check


def _object_check(schema: Schema) -> Check:
    required = frozenset(schema.get("required", ()))
    known = {name: _compiled(inner) for name, inner in schema.get("properties", {}).items()}
    names, others = None, None
    if schema.get("additionalProperties"):  # with names of some pattern
        names = re.compile(schema["propertyNames"]["pattern"])
        others = _compiled(schema["additionalProperties"])

    def check(value: Schema) -> str | None:
        if not required <= value.keys():
            return f" has no {min(required - value.keys())}"
        for name, item in value.items():
            inner = known.get(name)
            if inner is None and names is not None and names.fullmatch(name):
                inner = others
            if inner is None:
                return f" has a member {format_value(name)}"
            if found := inner(item):
                return f".{name}{found}"
        return None

    return check


def _array_check(schema: Schema) -> Check:
    least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    inner = _compiled(schema["items"])

    def check(value: list[Any]) -> str | None:
        if not least <= len(value) <= most:
            return f" has {len(value):,} members"
        return next(filter(None, map(inner, value)), None)

    return check


def _text_check(schema: Schema) -> Check:
    longest, pattern = schema.get("maxLength", math.inf), re.compile(schema.get("pattern", ""))
    matches = pattern.fullmatch if "pattern" in schema else pattern.match

    def check(value: str) -> str | None:
        return None if len(value) <= longest and matches(value) else _is(value)

    return check


def _number_check(schema: Schema) -> Check:
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    above = schema.get("exclusiveMinimum", -math.inf)
    below = schema.get("exclusiveMaximum", math.inf)

    def check(value: float) -> str | None:  # no number is infinite
        return None if low <= value <= high and above < value < below else _is(value)

    return check


def _is(value: object) -> str:
    if isinstance(value, dict | list):
        return f" is {'an object' if isinstance(value, dict) else 'a list'} of another kind"
    return f" is {format_value(value[:_SHOWN] if isinstance(value, str) else value)}"
