"""Neural tests of normality, and the classical tests beside them.

`normality_test` is what most people want. `classical_test` is Shapiro-Wilk or one of eight others
under one interface. A sample becomes numbers that do not depend on its location and scale
(`_features`), those a score (`_network`), and the score a p-value by way of a calibration whose
groups are the sample sizes (`_tables`). Only what runs is here; ``reproduction/training`` trains
the networks and simulates their tables. Imports `ratekeeper.control` and what is below it.
Start with `_neural`.
"""

from ratekeeper.normality._classical import (
    CLASSICAL,
    ClassicalResult,
    ClassicalTest,
    classical_p_values,
    classical_test,
)
from ratekeeper.normality._model import ALTERNATIVES
from ratekeeper.normality._neural import normality_test, normality_tests
from ratekeeper.normality._result import NormalityResult

__all__ = [
    "ALTERNATIVES",
    "CLASSICAL",
    "ClassicalResult",
    "ClassicalTest",
    "NormalityResult",
    "classical_p_values",
    "classical_test",
    "normality_test",
    "normality_tests",
]
