"""What a threshold can be certified for beside one class's error rate, one file each.

An aim takes the scores of both classes and returns where to decide, with a promise of its own; or
it says that the promise is out of reach. A new one is a small file and a line in `AIMS`.
"""

from ratekeeper.control._aims._aim import Aim, Chosen, Limits
from ratekeeper.control._aims._alert_share import AlertShare
from ratekeeper.control._aims._label_noise import LabelNoise
from ratekeeper.control._aims._noisy_labels import FNRDespiteNoise, FPRDespiteNoise, despite
from ratekeeper.control._aims._precision import NPV, Precision
from ratekeeper.control._aims._selective import Selective

AIMS: dict[str, type[Aim]] = {aim.name: aim for aim in (Precision, NPV, Selective, AlertShare)}
AIMS |= {aim.name: aim for aim in (FNRDespiteNoise, FPRDespiteNoise)}
"""Every aim by name; files name them so."""

__all__ = [
    "AIMS",
    "NPV",
    "Aim",
    "AlertShare",
    "Chosen",
    "FNRDespiteNoise",
    "FPRDespiteNoise",
    "LabelNoise",
    "Limits",
    "Precision",
    "Selective",
    "despite",
]
