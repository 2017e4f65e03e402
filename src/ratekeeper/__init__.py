"""Keep one error rate of a trained binary classifier below the level you choose.

    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 1000)
    >>> scores = rng.normal(2 * labels)
    >>> cal = rk.calibrate(scores, labels)
    >>> test = cal.control("fnr", alpha=0.01)
    >>> test.decide([-2.0, 1.5]).labels
    array([0, 1])

See `calibrate` first, then `Calibration.control` and ``print(test.certificate)``. The names here
are what most people need; everything else is in the package that is named for it, such as
``rk.methods.Kernel``. docs/reference/index.md lists all of them.
"""

from ratekeeper._system._first_use import on_first_use
from ratekeeper._version import __version__

# No module of Python's own is imported here: under ``python -m ratekeeper`` it would still be taken
# from the current folder, if a file there has its name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ratekeeper import (  # what ``rk.control`` is to a type checker
        baselines as baselines,
        calibration as calibration,
        comparison as comparison,
        control as control,
        datasets as datasets,
        diagnostics as diagnostics,
        estimators as estimators,
        exceptions as exceptions,
        files as files,
        frames as frames,
        methods as methods,
        mlflow as mlflow,
        monitoring as monitoring,
        multiclass as multiclass,
        normality as normality,
        onnx as onnx,
        planning as planning,
        plots as plots,
        report as report,
        sql as sql,
        storage as storage,
    )
    from ratekeeper.calibration import Calibration, PValues, calibrate
    from ratekeeper.comparison import compare
    from ratekeeper.control import (
        Audit,
        Certificate,
        Decisions,
        Evaluation,
        LabelNoise,
        Test,
        reorder,
    )
    from ratekeeper.diagnostics import evidence
    from ratekeeper.estimators import ErrorRateController
    from ratekeeper.exceptions import InputError, RatekeeperError, TooFewScoresError
    from ratekeeper.frames import calibrate_frame
    from ratekeeper.methods import Conformal, HighProbability, Simultaneous
    from ratekeeper.monitoring import AdaptiveTest, Monitor, shift_test
    from ratekeeper.normality import normality_test
    from ratekeeper.planning import plan
    from ratekeeper.storage import load, save

__all__ = [
    "AdaptiveTest",
    "Audit",
    "Calibration",
    "Certificate",
    "Conformal",
    "Decisions",
    "ErrorRateController",
    "Evaluation",
    "HighProbability",
    "InputError",
    "LabelNoise",
    "Monitor",
    "PValues",
    "RatekeeperError",
    "Simultaneous",
    "Test",
    "TooFewScoresError",
    "__version__",
    "calibrate",
    "calibrate_frame",
    "compare",
    "evidence",
    "load",
    "normality_test",
    "plan",
    "reorder",
    "save",
    "shift_test",
]

# Every name is loaded on first use: importing the package costs nothing, the p-values cost
# NumPy, and only the scikit-learn estimator costs scikit-learn.
_HOMES = {
    "calibration": ("Calibration", "PValues", "calibrate"),
    "comparison": ("compare",),
    "control": ("Audit", "Certificate", "Decisions", "Evaluation", "LabelNoise", "Test", "reorder"),
    "diagnostics": ("evidence",),
    "estimators": ("ErrorRateController",),
    "exceptions": ("InputError", "RatekeeperError", "TooFewScoresError"),
    "frames": ("calibrate_frame",),
    "methods": ("Conformal", "HighProbability", "Simultaneous"),
    "monitoring": ("AdaptiveTest", "Monitor", "shift_test"),
    "normality": ("normality_test",),
    "planning": ("plan",),
    "storage": ("load", "save"),
}

# Reachable as attributes, so that `rk.diagnostics.uniformity` needs no import of its own.
_PACKAGES = (
    "baselines",
    "calibration",
    "comparison",
    "control",
    "datasets",
    "diagnostics",
    "estimators",
    "exceptions",
    "files",
    "frames",
    "methods",
    "mlflow",
    "monitoring",
    "multiclass",
    "normality",
    "onnx",
    "planning",
    "plots",
    "report",
    "sql",
    "storage",
)

# Names that were here first, by the package they are in now; then those that were also renamed.
_MOVED = {
    "calibration": ("Provenance",),
    "comparison": ("Comparison", "Comparisons", "compare_all"),
    "control": (
        "AbstainingTest",
        "Alerts",
        "CVPlusCertificate",
        "CVPlusTest",
        "Cheapest",
        "ErrorRateTest",
        "GroupAudit",
        "JointCertificate",
        "JointEvaluation",
        "Rate",
        "RealisedRate",
        "ReorderedTest",
        "Reordering",
        "Selection",
    ),
    "diagnostics": ("Evidence", "RatioBand", "ScoreDifference", "score_difference"),
    "estimators": ("DensityRatio", "MulticlassController", "density_ratio"),
    "exceptions": (
        "ContradictedFitWarning",
        "InterpolationWarning",
        "LateLabelsWarning",
        "LevelWarning",
        "LongWorkWarning",
        "MissingFileError",
        "NoThresholdError",
        "PositiveLabelWarning",
        "RatekeeperWarning",
        "RefitWarning",
        "ReversedScoreWarning",
        "ScoreRangeWarning",
        "ScoreTypeWarning",
        "ShiftWarning",
        "StoredFileError",
        "UnattainableError",
        "UselessTestWarning",
    ),
    "files": ("calibrate_counts",),
    "methods": (
        "Bootstrap",
        "Empirical",
        "Guarantee",
        "Kernel",
        "Method",
        "Parametric",
        "Resampled",
        "Smoothed",
    ),
    "monitoring": (
        "AdaptiveCertificate",
        "AdaptiveDecisions",
        "MonitorState",
        "ShiftCounts",
        "ShiftResult",
    ),
    "multiclass": (
        "LabelSets",
        "MulticlassCalibration",
        "MulticlassCertificate",
        "MulticlassEvaluation",
        "MulticlassTest",
        "OrderedTest",
    ),
    "normality": ("NormalityResult", "normality_tests"),
    "planning": (
        "AuditPlan",
        "CertificationPlan",
        "MonitorPlan",
        "Plan",
        "PricePlan",
        "plan_audit",
        "plan_monitor",
    ),
}
_RENAMED = {
    "FinishedTest": "Test",
    "ThresholdCertificate": "control.RiskControlCertificate",
    "ThresholdTest": "control.RiskControlTest",
    "batch": "files",
    "calibrate_multiclass": "multiclass.calibrate",
}


_load, _names = on_first_use(__name__, _HOMES)

if not TYPE_CHECKING:  # type checkers would take any name

    def __getattr__(name: str) -> object:
        if name in _PACKAGES:
            from importlib import import_module

            return import_module(f"ratekeeper.{name}")
        place = _RENAMED.get(name)
        for home, names in _MOVED.items():
            if name in names:
                place = f"{home}.{name}"
        if place is not None:
            raise AttributeError(f"ratekeeper has no {name!r}; it is ratekeeper.{place} now")
        return _load(name)


def __dir__() -> list[str]:
    return sorted({*_names(), *_PACKAGES, "__version__"})
