"""Every system on the same repeated splits of one data set: who keeps the promise, at what price.

`compare` runs them and returns a `Comparison`; `SYSTEMS` lists what can be run by name. Each trial
is one system on one split (`_trial`); `_compare` runs them all in processes, `_checkpoint` keeps
what is finished, `_result` shows the table, and `_paired`, `_ranks` and `_several_data_sets` test
systems against each other. Imports `ratekeeper.baselines`, `ratekeeper.files` and what is below
them. Start with `_compare`.
"""

from ratekeeper._wording._system_names import USUAL
from ratekeeper.comparison._compare import compare
from ratekeeper.comparison._paired import Paired
from ratekeeper.comparison._ranks import Ranks
from ratekeeper.comparison._result import Comparison
from ratekeeper.comparison._several_data_sets import Comparisons, compare_all
from ratekeeper.comparison._summary import Summary
from ratekeeper.comparison._systems import SYSTEMS
from ratekeeper.comparison._trial import Trial

__all__ = [
    "SYSTEMS",
    "USUAL",
    "Comparison",
    "Comparisons",
    "Paired",
    "Ranks",
    "Summary",
    "Trial",
    "compare",
    "compare_all",
]
