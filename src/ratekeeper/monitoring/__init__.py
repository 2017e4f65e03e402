"""After calibration: whether a promise is still kept, and levels that follow the labels.

`Monitor` watches a test at work, decision by decision (`_monitor`); `AdaptiveTest` moves its level
as labels come in (`_adaptive`); `shift_test` looks at new scores without labels (`_shift`). The
mathematics is in `_numerics/_sequential`. Imports `ratekeeper.storage`, `ratekeeper.control` and
what is below them. Start with `_monitor/_monitor.py`.
"""

from typing import TYPE_CHECKING

from ratekeeper._system._first_use import on_first_use

if TYPE_CHECKING:
    from ratekeeper.monitoring._adaptive import AdaptiveCertificate, AdaptiveDecisions, AdaptiveTest
    from ratekeeper.monitoring._monitor import Monitor, MonitorState
    from ratekeeper.monitoring._shift import ShiftCounts, ShiftResult, shift_test

__all__ = [
    "AdaptiveCertificate",
    "AdaptiveDecisions",
    "AdaptiveTest",
    "Monitor",
    "MonitorState",
    "ShiftCounts",
    "ShiftResult",
    "shift_test",
]

_HOMES = {
    "monitoring._adaptive": ("AdaptiveCertificate", "AdaptiveDecisions", "AdaptiveTest"),
    "monitoring._monitor": ("Monitor", "MonitorState"),
    "monitoring._shift": ("ShiftCounts", "ShiftResult", "shift_test"),
}
if not TYPE_CHECKING:  # type checkers would take any name
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
