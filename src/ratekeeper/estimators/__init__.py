"""scikit-learn classes around your model, and weights from features.

`ErrorRateController` is a classifier that keeps one error rate (`_controller`),
`MulticlassController` the same for several classes (`_multiclass`), and `density_ratio` weighs
calibration objects for a shifted population. The only package below the rivals that imports
scikit-learn's classes. Imports `ratekeeper.multiclass`, `ratekeeper.control` and what is below.
Start with `_controller`.
"""

from ratekeeper.estimators._controller import ErrorRateController
from ratekeeper.estimators._density_ratio import DensityRatio, density_ratio
from ratekeeper.estimators._multiclass import MulticlassController

__all__ = ["DensityRatio", "ErrorRateController", "MulticlassController", "density_ratio"]
