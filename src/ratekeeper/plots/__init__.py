"""Pictures of calibrations and tests, as scikit-learn style Display objects.

Each display first computes its numbers, which are its attributes, and then draws them. Only the
drawing needs matplotlib (``pip install matplotlib``): with ``draw=False`` there are the
numbers alone. One file per display; `_subject` reads whose scores are shown, `_display` is what all
share. Imports `ratekeeper.baselines`, `ratekeeper.monitoring` and what is below
them. Start with `_score_density`.

The class methods that make a display share these parameters:

source : Calibration, ErrorRateTest or AbstainingTest
    What to show, or what judges the new objects.
scores, labels : array-like of shape (n_objects,)
    Labelled new objects, neither trained on nor calibrated on.
groups : array-like of shape (n_objects,)
    Groups of the new objects, required if and only if the calibration has groups.
group : object
    The group to show, required if and only if the calibration has groups.
positive_label, higher_is_positive
    As in `calibrate`.
ax : matplotlib Axes
    Where to draw; a new figure by default.
draw : bool
    False for the numbers alone, which need no matplotlib.
**options
    Those of the display, and the style of its main lines in matplotlib's words (``color``, ``lw``).
"""

from ratekeeper.plots._cost import CostDisplay
from ratekeeper.plots._error_curve import ErrorCurveDisplay
from ratekeeper.plots._groups import GroupDisplay
from ratekeeper.plots._monitor import MonitorDisplay
from ratekeeper.plots._np_roc import NPROCDisplay
from ratekeeper.plots._p_value_histogram import PValueHistogramDisplay
from ratekeeper.plots._rate_against_alpha import RateAgainstAlphaDisplay
from ratekeeper.plots._realised_rate import RealisedRateDisplay
from ratekeeper.plots._sample_size import SampleSizeDisplay
from ratekeeper.plots._score_density import ScoreDensityDisplay

__all__ = [
    "CostDisplay",
    "ErrorCurveDisplay",
    "GroupDisplay",
    "MonitorDisplay",
    "NPROCDisplay",
    "PValueHistogramDisplay",
    "RateAgainstAlphaDisplay",
    "RealisedRateDisplay",
    "SampleSizeDisplay",
    "ScoreDensityDisplay",
]
