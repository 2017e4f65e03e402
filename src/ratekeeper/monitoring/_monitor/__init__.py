"""Watching a test at work: decisions and outcomes come in, verdicts come out.

`_ledger` keeps open decisions in their order, `_times` reads when they were made, `_outcomes` says
what each means for a rate, `_grounds` what of a test can be watched, `_panel` holds the watches and
joins them to verdicts, `_trace` the course for a picture, `_keeping` all of it as a file, `_text`
says it, `_found` is what a monitor can be asked, and `_monitor` what users have.
"""

from ratekeeper.monitoring._monitor._ledger import Noted
from ratekeeper.monitoring._monitor._monitor import Monitor, MonitorState
from ratekeeper.monitoring._monitor._panel import Alarm
from ratekeeper.monitoring._monitor._readout import RatePicture

__all__ = ["Alarm", "Monitor", "MonitorState", "Noted", "RatePicture"]
