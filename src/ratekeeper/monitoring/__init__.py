"""After calibration: whether a promise is still kept, and levels that follow the labels.

`Monitor` watches a test at work, decision by decision (`_monitor`); `AdaptiveTest` moves its level
as labels come in (`_adaptive`); `shift_test` looks at new scores without labels (`_shift`). The
mathematics is in `_numerics/_sequential`. Imports `ratekeeper.storage`, `ratekeeper.control` and
what is below them. Start with `_monitor/_monitor.py`.
"""

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
