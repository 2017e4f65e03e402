"""Held-out scores of known classes: read, sorted, kept, merged, windowed.

`calibrate` reads scores and labels into a `Calibration`, whose methods make everything else: its
factory methods (`Calibration.control` and others) import `ratekeeper.control` when they are called.
Otherwise this package imports `ratekeeper.methods` and what is below it. Start with `_calibration`;
`_cells` is what tests ask of a calibration. Clusters, weights, counts, windows and times have a
file each.
"""

from ratekeeper.calibration._calibrate import calibrate
from ratekeeper.calibration._calibration import Calibration
from ratekeeper.calibration._p_values import PValues
from ratekeeper.calibration._provenance import Provenance

__all__ = ["Calibration", "PValues", "Provenance", "calibrate"]
