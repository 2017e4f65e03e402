"""Ways to turn calibration scores into p-values, one small file each."""

from ratekeeper.methods.bootstrap import Bootstrap
from ratekeeper.methods.conformal import Conformal
from ratekeeper.methods.empirical import Empirical
from ratekeeper.methods.high_probability import HighProbability
from ratekeeper.methods.kernel import Kernel
from ratekeeper.methods.method import Guarantee, Method, NullDistribution, check_method
from ratekeeper.methods.parametric import Parametric
from ratekeeper.methods.resampled import Resampled
from ratekeeper.methods.simultaneous import Simultaneous
from ratekeeper.methods.smoothed import Smoothed

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
