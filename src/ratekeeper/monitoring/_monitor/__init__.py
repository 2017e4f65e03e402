"""Watching a test at work: decisions and outcomes come in, verdicts come out.

`_open_decisions` keeps open decisions in their order, `_times` reads when they were made,
`_outcomes` says what each means for a rate, and `_baseline` what of a test can be watched. `_panel`
holds the evidence and joins it to verdicts, `_readout` is what a monitor can be asked, `_text` says
it, `_trace` keeps the course for a picture and `_state` all of it as a file. Start with `_monitor`.
"""

from ratekeeper.monitoring._monitor._monitor import Monitor, MonitorState
from ratekeeper.monitoring._monitor._open_decisions import RecordResult
from ratekeeper.monitoring._monitor._panel import Alarm
from ratekeeper.monitoring._monitor._readout import RatePicture

__all__ = ["Alarm", "Monitor", "MonitorState", "RatePicture", "RecordResult"]
