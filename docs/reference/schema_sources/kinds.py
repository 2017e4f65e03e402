"""The kinds of single values."""

TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
COUNT = {"type": "integer", "minimum": 0}
REAL = {"type": "number"}
AMOUNT = {"type": "number", "minimum": 0}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
LEVEL = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
NUMBER = {"type": ["number", "string"], "pattern": "^-?inf$"}
COUNTED = {"type": ["number", "string"], "minimum": 0, "pattern": "^(nan|inf)$"}
COUNTED_SHARE = {**COUNTED, "maximum": 1}
NAME = {"type": ["string", "integer", "number", "boolean", "null"]}
HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
CONTROL = {"enum": ["fnr", "fpr"]}
RATE = {"enum": ["fnr", "fpr", "fdr", "for", "selective_error", "alert_share"]}
