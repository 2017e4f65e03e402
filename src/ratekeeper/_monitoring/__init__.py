"""Watching a test at work: decisions and outcomes come in, verdicts come out.

`_ledger` keeps open decisions in their order, `_times` reads when they were made, `_outcomes` says
what each means for a rate, `_grounds` what of a test can be watched, `_panel` holds the watches and
joins them to verdicts, `_trace` the course for a picture, `_keeping` all of it as a file, `_text`
says it, `_found` is what a monitor can be asked, and `_monitor` what users have.
"""

from ratekeeper._monitoring._found import RatePicture
from ratekeeper._monitoring._ledger import Noted
from ratekeeper._monitoring._monitor import Monitor, MonitorState
from ratekeeper._monitoring._panel import Alarm

__all__ = ["Alarm", "Monitor", "MonitorState", "Noted", "RatePicture"]
