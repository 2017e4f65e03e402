"""Watching an error rate outcome by outcome: the mathematics behind a monitor.

An outcome is an object of the null class whose truth is known: an error if it was rejected, else
correct. Every watch may be looked at after each of them, for as long as one likes.

- `LimitEProcess`: is the error rate above alpha? False alarms with probability at most delta, ever.
- `AuditedEProcess`: the same where only flagged objects and a random audit have labels.
- `LikenessEProcess`: are there more errors than the calibration explains? At most delta, ever.
- `ChangeDetector`: did the rate rise lately? At least `run_length` outcomes on average to a false
  alarm, which is another promise than the others make, and must never be told as theirs.
"""

from ratekeeper._numerics._sequential._audited_e_process import (
    AuditedEProcess,
    rate_among_all,
    rate_among_labelled,
    share_labelled,
)
from ratekeeper._numerics._sequential._audited_likeness_e_process import AuditedLikenessEProcess
from ratekeeper._numerics._sequential._bets import interval, intervals
from ratekeeper._numerics._sequential._change_detector import ChangeDetector
from ratekeeper._numerics._sequential._combine import combine, select_by_e_values
from ratekeeper._numerics._sequential._delay import (
    alarm_chance,
    audited_delay,
    audited_mean_delay,
    delay,
    fastest,
    mean_delay,
)
from ratekeeper._numerics._sequential._likeness_e_process import LikenessEProcess, of_one_side
from ratekeeper._numerics._sequential._limit_e_process import LimitEProcess

__all__ = [
    "AuditedEProcess",
    "AuditedLikenessEProcess",
    "ChangeDetector",
    "LikenessEProcess",
    "LimitEProcess",
    "alarm_chance",
    "audited_delay",
    "audited_mean_delay",
    "combine",
    "delay",
    "fastest",
    "interval",
    "intervals",
    "mean_delay",
    "of_one_side",
    "rate_among_all",
    "rate_among_labelled",
    "select_by_e_values",
    "share_labelled",
]
