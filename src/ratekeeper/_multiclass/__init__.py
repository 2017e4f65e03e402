"""Several classes: one p-value for each, label sets, and classes in order of severity."""

from ratekeeper._multiclass._calibration import MulticlassCalibration, calibrate_multiclass
from ratekeeper._multiclass._certificate import MulticlassCertificate
from ratekeeper._multiclass._evaluation import MulticlassEvaluation
from ratekeeper._multiclass._label_sets import LabelSets
from ratekeeper._multiclass._ordered import OrderedTest
from ratekeeper._multiclass._test import MulticlassTest

__all__ = [
    "LabelSets",
    "MulticlassCalibration",
    "MulticlassCertificate",
    "MulticlassEvaluation",
    "MulticlassTest",
    "OrderedTest",
    "calibrate_multiclass",
]
