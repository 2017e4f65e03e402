"""The watches of a monitor as plain facts and arrays, and back."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._sequential import of_one_side
from ratekeeper.exceptions import StoredFileError
from ratekeeper.monitoring._monitor._panel import Alarm
from ratekeeper.storage._states import packed, unpacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.monitoring._monitor._panel import Panel
    from ratekeeper.storage._serialize import Facts

    Arrays = dict[str, NDArray[Any]]

_COUNTERS = ("n", "errors", "alarm", "since")
_WRONG = "its watches are not those of the test. Save it again."


def write_panel(panel: Panel) -> tuple[Facts, Arrays]:
    """Return all that the watches of a test know."""
    texts = [json.dumps(one.state()) for rate in panel.rates for one in rate.watches()]
    facts = {
        "n": panel.n,
        "rates": [{"share": rate.share, "outcomes": rate.n} for rate in panel.rates],
        "alarms": [alarm._asdict() for alarm in panel.alarms],
    }
    last = [] if panel.last is None else [panel.last]
    arrays: Arrays = {
        "table": panel.table.ravel(),
        "last": np.array(last, dtype=np.int64 if isinstance(panel.last, int) else np.float64),
    }
    arrays["watches/texts"], arrays["watches/ends"] = packed(texts)
    for s, rate in enumerate(panel.rates):
        arrays[f"trace/{s}"] = rate.trace.rows.ravel()
    return facts, arrays


def read_panel(panel: Panel, facts: Facts, arrays: Arrays) -> None:
    """Let a new panel of the same test go on from what `write_panel` has returned."""
    states = [
        json.loads(text) for text in unpacked(arrays["watches/texts"], arrays["watches/ends"])
    ]
    is_earlier = any("up" in state for state in states)
    states = [of_one_side(state) for state in states]
    watches = [one for rate in panel.rates for one in rate.watches()]
    if len(states) != len(watches) or [r.share for r in panel.rates] != [
        one["share"] for one in facts["rates"]
    ]:
        raise StoredFileError(_WRONG)
    restored = []
    for watch, state in zip(watches, states, strict=True):
        if not _fits(watch.state(), state):
            raise StoredFileError(_WRONG)
        restored.append(type(watch).restore(state))
    table = arrays["table"]
    if table.dtype != np.int64 or table.size != panel.table.size or (table < 0).any():
        raise StoredFileError(_WRONG)
    panel.table = table.reshape(panel.table.shape)
    panel.n = facts["n"]
    if panel.n != int(panel.table.sum()):
        raise StoredFileError(_WRONG)
    panel.last = arrays["last"].tolist()[0] if arrays["last"].size else None
    panel.alarms = [Alarm(**one) for one in facts["alarms"]]
    for s, (rate, one) in enumerate(zip(panel.rates, facts["rates"], strict=True)):
        n = len(rate.watches())
        rate.replace(restored[:n])
        del restored[:n]
        rate.n = one["outcomes"]
        rate.trace.restore(arrays[f"trace/{s}"], rate.n)
    panel.lay_lines()
    if is_earlier:
        panel.forget_fewer()


def _fits(new: Any, given: Any, name: str = "") -> bool:  # noqa: ANN401 - any JSON
    """Return whether a state can be that of a watch whose state was `new` at the start."""
    if isinstance(new, dict):
        return (
            isinstance(given, dict)
            and given.keys() == new.keys()
            and all(_fits(new[key], given[key], key) for key in new)
        )
    if isinstance(new, list):
        return (
            isinstance(given, list)
            and (len(given) == len(new) or (not new and len(given) < 1 << 10))
            and all(isinstance(x, int | float) and math.isfinite(x) for x in given)
        )
    if name in _COUNTERS:
        is_count = type(given) is int and given >= 0
        return is_count or (given is None and name in ("alarm", "since"))
    if name.startswith("log_"):
        return isinstance(given, int | float) and math.isfinite(given)
    return bool(given == new)  # what the watch was made with
