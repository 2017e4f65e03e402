"""Ways to turn calibration scores into p-values, one small file each, with its guarantee.

A method meets data through `Method.against`, which returns a null distribution: p-values, threshold
and rank (`_method`). A rank method writes a function of one count, `p_of_count` (`_rank`); the
paper's other estimators are in `_approximate`. `_clustered`, `_weighted`, `_paired`, `_from_counts`
and `_tolerant` stand before a null distribution, so that no method knows of them. Imports
`_numerics`, `_reading` and what is below them. Start with `_conformal`.
"""

from ratekeeper.methods._approximate._bootstrap import Bootstrap
from ratekeeper.methods._approximate._empirical import Empirical
from ratekeeper.methods._approximate._kernel import Kernel
from ratekeeper.methods._approximate._parametric import Parametric
from ratekeeper.methods._conformal import Conformal
from ratekeeper.methods._high_probability import HighProbability
from ratekeeper.methods._method import (
    FitCheck,
    Guarantee,
    Method,
    NullDistribution,
    check_method,
)
from ratekeeper.methods._resampled import Resampled
from ratekeeper.methods._simultaneous import Simultaneous
from ratekeeper.methods._smoothed import Smoothed

METHODS: dict[str, type[Method]] = {
    kind.name: kind
    for kind in (
        Conformal,
        HighProbability,
        Simultaneous,
        Smoothed,
        Empirical,
        Bootstrap,
        Kernel,
        Parametric,
        Resampled,
    )
}
"""All methods by the name that files and the command line know them by."""

__all__ = [
    "METHODS",
    "Bootstrap",
    "Conformal",
    "Empirical",
    "FitCheck",
    "Guarantee",
    "HighProbability",
    "Kernel",
    "Method",
    "NullDistribution",
    "Parametric",
    "Resampled",
    "Simultaneous",
    "Smoothed",
    "check_method",
]
