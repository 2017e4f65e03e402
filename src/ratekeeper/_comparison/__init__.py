"""Every system on the same repeated splits of one data set: who keeps the promise, at what price.

`compare` runs them and returns a `Comparison`; `SYSTEMS` lists what can be run by name.
"""

from ratekeeper._comparison.claim import Claim
from ratekeeper._comparison.many import Comparisons, compare_all
from ratekeeper._comparison.paired import Paired
from ratekeeper._comparison.ranks import Ranks
from ratekeeper._comparison.repeats import compare
from ratekeeper._comparison.result import Comparison
from ratekeeper._comparison.summary import Summary
from ratekeeper._comparison.systems import SYSTEMS
from ratekeeper._comparison.table_file import read_table
from ratekeeper._comparison.trial import Trial
from ratekeeper._system_names import USUAL

__all__ = [
    "SYSTEMS",
    "USUAL",
    "Claim",
    "Comparison",
    "Comparisons",
    "Paired",
    "Ranks",
    "Summary",
    "Trial",
    "compare",
    "compare_all",
    "read_table",
]
