"""Several classes: one p-value for each, label sets, and classes in order of severity.

Two classes are the binary test to the last bit. Imports `ratekeeper.control` and what is below it.
Start with `_calibration`; `_test` gives label sets, `_ordered` one label that is rarely less
severe than the truth.
"""

from ratekeeper.multiclass._calibration import MulticlassCalibration, calibrate
from ratekeeper.multiclass._certificate import MulticlassCertificate
from ratekeeper.multiclass._evaluation import MulticlassEvaluation
from ratekeeper.multiclass._label_sets import LabelSets
from ratekeeper.multiclass._ordered import OrderedTest
from ratekeeper.multiclass._test import MulticlassTest

__all__ = [
    "LabelSets",
    "MulticlassCalibration",
    "MulticlassCertificate",
    "MulticlassEvaluation",
    "MulticlassTest",
    "OrderedTest",
    "calibrate",
]
