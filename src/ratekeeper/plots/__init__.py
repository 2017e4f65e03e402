"""Pictures of calibrations and tests, as scikit-learn style Display objects.

Each display first computes its numbers, which are its attributes, and then draws them. Only the
drawing needs matplotlib (``pip install 'ratekeeper[plot]'``): with ``draw=False`` there are the
numbers alone.
"""

from ratekeeper.plots._error_curve import ErrorCurveDisplay
from ratekeeper.plots._p_value_histogram import PValueHistogramDisplay
from ratekeeper.plots._rate_against_alpha import RateAgainstAlphaDisplay
from ratekeeper.plots._realised_rate import RealisedRateDisplay
from ratekeeper.plots._sample_size import SampleSizeDisplay
from ratekeeper.plots._score_density import ScoreDensityDisplay

__all__ = [
    "ErrorCurveDisplay",
    "PValueHistogramDisplay",
    "RateAgainstAlphaDisplay",
    "RealisedRateDisplay",
    "SampleSizeDisplay",
    "ScoreDensityDisplay",
]
