"""Neural tests of normality, the classical tests beside them, and what both are judged on.

`normality_test` is what most people want. `classical` holds Shapiro-Wilk and eight others under
one interface; `families` and `pearson` draw alternatives; ``python -m
ratekeeper.normality.training`` retrains the networks and simulates their tables anew.
"""

from ratekeeper.normality._classical import (
    CLASSICAL,
    ClassicalResult,
    ClassicalTest,
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
    "classical_test",
    "normality_test",
    "normality_tests",
]
