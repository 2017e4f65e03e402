"""Keep one error rate of a trained binary classifier below the level you choose.

    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 1000)
    >>> scores = rng.normal(2 * labels)
    >>> cal = rk.calibrate(scores, labels)
    >>> test = cal.control("fnr", alpha=0.01, method=rk.HighProbability(delta=0.05))
    >>> test.decide([-2.0, 1.5]).labels
    array([0, 1])

See `calibrate` first, then `Calibration.control` and ``print(test.certificate)``.
"""

from typing import TYPE_CHECKING, Any

from ratekeeper._version import __version__

if TYPE_CHECKING:
    from ratekeeper._abstaining import AbstainingTest
    from ratekeeper._calibration import Calibration, calibrate
    from ratekeeper._certificate import Certificate, JointCertificate
    from ratekeeper._comparison import Comparison, compare
    from ratekeeper._control import ErrorRateTest
    from ratekeeper._decisions import Decisions
    from ratekeeper._estimators import ErrorRateController
    from ratekeeper._evaluation import Evaluation, JointEvaluation
    from ratekeeper._finished import FinishedTest
    from ratekeeper._p_values import PValues
    from ratekeeper._planning import Plan, plan
    from ratekeeper._storage import load, save
    from ratekeeper.exceptions import (
        InputError,
        RatekeeperError,
        RatekeeperWarning,
        StoredFileError,
        TooFewScoresError,
    )
    from ratekeeper.methods import (
        Bootstrap,
        Conformal,
        Empirical,
        HighProbability,
        Kernel,
        Parametric,
        Resampled,
        Simultaneous,
        Smoothed,
    )
    from ratekeeper.normality import NormalityResult, normality_test, normality_tests

__all__ = [
    "AbstainingTest",
    "Bootstrap",
    "Calibration",
    "Certificate",
    "Comparison",
    "Conformal",
    "Decisions",
    "Empirical",
    "ErrorRateController",
    "ErrorRateTest",
    "Evaluation",
    "FinishedTest",
    "Guarantee",
    "HighProbability",
    "InputError",
    "JointCertificate",
    "JointEvaluation",
    "Kernel",
    "NormalityResult",
    "PValues",
    "Parametric",
    "Plan",
    "RatekeeperError",
    "RatekeeperWarning",
    "Resampled",
    "Simultaneous",
    "Smoothed",
    "StoredFileError",
    "TooFewScoresError",
    "__version__",
    "calibrate",
    "compare",
    "load",
    "normality_test",
    "normality_tests",
    "plan",
    "save",
]

# Every name is loaded on first use: importing the package costs nothing, the p-values cost
# NumPy, and only the scikit-learn estimator costs scikit-learn.
_HOMES = {
    "_calibration": ("Calibration", "calibrate"),
    "_certificate": ("Certificate", "JointCertificate"),
    "_comparison": ("Comparison", "compare"),
    "_abstaining": ("AbstainingTest",),
    "_control": ("ErrorRateTest",),
    "_finished": ("FinishedTest",),
    "_decisions": ("Decisions",),
    "_estimators": ("ErrorRateController",),
    "_evaluation": ("Evaluation", "JointEvaluation"),
    "exceptions": (
        "InputError",
        "RatekeeperError",
        "RatekeeperWarning",
        "StoredFileError",
        "TooFewScoresError",
    ),
    "methods": (
        "Bootstrap",
        "Conformal",
        "Empirical",
        "HighProbability",
        "Kernel",
        "Parametric",
        "Resampled",
        "Simultaneous",
        "Smoothed",
    ),
    "normality": ("NormalityResult", "normality_test", "normality_tests"),
    "_p_values": ("PValues",),
    "_planning": ("Plan", "plan"),
    "_storage": ("load", "save"),
}

# Reachable as attributes, so that `rk.diagnostics.uniformity` needs no import of its own.
_MODULES = (
    "baselines",
    "batch",
    "datasets",
    "diagnostics",
    "exceptions",
    "methods",
    "normality",
    "plots",
    "report",
    "sql",
)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class or a function
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            value = getattr(import_module(f"ratekeeper.{home}"), name)
            globals()[name] = value
            return value
    if name in _MODULES:
        from importlib import import_module

        return import_module(f"ratekeeper.{name}")
    raise AttributeError(f"module 'ratekeeper' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
