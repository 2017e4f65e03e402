"""The facts behind the promises, as numbers and tables: nothing here draws or decides.

What is known of a p-value and of its distribution, realised rates against alpha, the curve of the
two errors, what it leaves on the table, and the least that the other error can be.
"""

from ratekeeper.diagnostics._curve import (
    AccuracyLine,
    ErrorCurve,
    equal_accuracy_line,
    fnr_fpr_curve,
    reversed_score,
)
from ratekeeper.diagnostics._hull import HullGap, OtherError, concave_hull_gap
from ratekeeper.diagnostics._least import (
    LeastOtherError,
    least_normal_error,
    least_other_error,
)
from ratekeeper.diagnostics._p_values import (
    EstimatorVariance,
    Uniformity,
    dkw_band,
    dkw_sample_size,
    estimator_variance,
    p_value_interval,
    uniformity,
)
from ratekeeper.diagnostics._realised import RateTable, rate_against_alpha

__all__ = [
    "AccuracyLine",
    "ErrorCurve",
    "EstimatorVariance",
    "HullGap",
    "LeastOtherError",
    "OtherError",
    "RateTable",
    "Uniformity",
    "concave_hull_gap",
    "dkw_band",
    "dkw_sample_size",
    "equal_accuracy_line",
    "estimator_variance",
    "fnr_fpr_curve",
    "least_normal_error",
    "least_other_error",
    "p_value_interval",
    "rate_against_alpha",
    "reversed_score",
    "uniformity",
]
