"""The facts behind the promises, as numbers and tables: nothing here draws or decides.

What is known of a p-value and of its distribution (`_p_values`), realised rates against alpha
(`_rate_against_alpha`), the curve of the two errors (`_curve`), what it leaves on the table
(`_hull`), the least that the other error can be (`_least`), what each school of testing says of a
score (`_evidence`), and by how much two runs of a model differ (`_score_difference`). Imports
`ratekeeper.control` and what is below it. Start with `_curve`.
"""

from ratekeeper.diagnostics._curve import (
    AccuracyLine,
    ErrorCurve,
    equal_accuracy_line,
    fnr_fpr_curve,
    reversed_score,
)
from ratekeeper.diagnostics._evidence import Evidence, RatioBand, evidence
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
from ratekeeper.diagnostics._rate_against_alpha import RateTable, rate_against_alpha
from ratekeeper.diagnostics._score_difference import ScoreDifference, score_difference

__all__ = [
    "AccuracyLine",
    "ErrorCurve",
    "EstimatorVariance",
    "Evidence",
    "HullGap",
    "LeastOtherError",
    "OtherError",
    "RateTable",
    "RatioBand",
    "ScoreDifference",
    "Uniformity",
    "concave_hull_gap",
    "dkw_band",
    "dkw_sample_size",
    "equal_accuracy_line",
    "estimator_variance",
    "evidence",
    "fnr_fpr_curve",
    "least_normal_error",
    "least_other_error",
    "p_value_interval",
    "rate_against_alpha",
    "reversed_score",
    "score_difference",
    "uniformity",
]
