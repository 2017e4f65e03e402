"""Neural tests of normality, and the classical tests beside them.

`normality_test` is what most people want. `classical_test` is Shapiro-Wilk or one of eight others
under one interface. `reproduction.training` draws alternatives, and
``python -m reproduction.training`` retrains the networks and simulates their tables anew.
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
