"""Messages of the library in the words of the command line."""

from __future__ import annotations

import re

_OPTIONS = {
    "control": "--control",
    "delta": "--delta",
    "drop": "--drop",
    "excess": "--excess",
    "group": "--group",
    "groups": "--group",
    "label": "--label",
    "method": "--method",
    "n": "--n",
    "n_jobs": "--jobs",
    "on_invalid": "--on-invalid",
    "positive_label": "--positive",
    "prefix": "--prefix",
    "random_state": "--seed",
    "repeats": "--repeats",
    "sample": "--sample",
    "score": "--score",
    "seed": "--seed",
    "source_format": "--format",
    "systems": "--systems",
    "table": "--table",
    "target_format": "--to",
    "test_size": "--test-size",
    "thin_groups": "--thin-groups",
}
_WHOLE = {
    "Pass higher_is_positive=False": "Pass --lower-is-positive",
    "Pass higher_is_positive=True": "Leave out --lower-is-positive",
    "higher_is_positive=False": "--lower-is-positive",
}
# A parameter and its value, but not within brackets: HighProbability(delta=0.05) is a name.
_PARAMETER = re.compile(
    rf"(?<![(\w.])({'|'.join(sorted(_OPTIONS, key=len, reverse=True))})="
    r"('[^']*'|\"[^\"]*\"|[-+\w]+(?:\.\d+)?(?:e[-+]?\d+)?)"
)

# Where a message gives both an option and, in brackets, the parameter.
_BOTH = re.compile(r"(--[a-z-]+(?: \S+)?) \([a-z_]+=(?:'[^']*'|\.\.\.)\)")


def as_options(message: str) -> str:
    """Return the message with parameters written as options.

    Examples
    --------
    >>> as_options('Pass thin_groups="pool", or say positive_label=1.')
    'Pass --thin-groups pool, or say --positive 1.'
    >>> as_options("FNR <= 0.01 with HighProbability(delta=0.05) needs 299 scores.")
    'FNR <= 0.01 with HighProbability(delta=0.05) needs 299 scores.'
    """
    for words, option in _WHOLE.items():
        message = message.replace(words, option)
    return _PARAMETER.sub(_as_option, _BOTH.sub(r"\1", message))


def _as_option(found: re.Match[str]) -> str:
    name, value = found.groups()
    if value[0] in "'\"" and re.fullmatch(r"[\w.%+-]+", value[1:-1]):
        value = value[1:-1]  # the shell needs no quotes
    return f"{_OPTIONS[name]} {value}"
