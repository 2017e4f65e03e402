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

__all__ = [
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
