"""Keep one error rate of a trained binary classifier below the level you choose.

    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 1000)
    >>> scores = rng.normal(2 * labels)
    >>> cal = rk.calibrate(scores, labels)
    >>> test = cal.control("fnr", alpha=0.01)
    >>> test.decide([-2.0, 1.5]).labels
    array([0, 1])

See `calibrate` first, then `Calibration.control` and ``print(test.certificate)``. What stands here
and in the modules without an underscore is public; docs/reference/index.md lists them.
"""

from ratekeeper._version import __version__

# No module of Python's own is imported here: under ``python -m ratekeeper`` it would still be taken
# from the current folder, if a file there has its name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ratekeeper._abstaining import AbstainingTest
    from ratekeeper._adaptive import AdaptiveCertificate, AdaptiveDecisions, AdaptiveTest
    from ratekeeper._aimed import ThresholdCertificate, ThresholdTest
    from ratekeeper._aims import LabelNoise
    from ratekeeper._alerts import Alerts
    from ratekeeper._audit import GroupAudit
    from ratekeeper._calibrating import calibrate
    from ratekeeper._calibration import Calibration
    from ratekeeper._certificate import Certificate, JointCertificate
    from ratekeeper._comparison import Comparison, Comparisons, compare, compare_all
    from ratekeeper._control import ErrorRateTest
    from ratekeeper._costs import Cheapest
    from ratekeeper._cross_fitting import CVPlusCertificate, CVPlusTest
    from ratekeeper._decisions import Decisions
    from ratekeeper._density_ratio import DensityRatio, density_ratio
    from ratekeeper._differences import ScoreDifference, score_difference
    from ratekeeper._estimators import ErrorRateController
    from ratekeeper._evaluation import Evaluation, JointEvaluation
    from ratekeeper._evidence import Evidence, RatioBand, evidence
    from ratekeeper._finished import FinishedTest
    from ratekeeper._frame_calibration import calibrate_frame
    from ratekeeper._labelling import Audit
    from ratekeeper._monitor_plans import MonitorPlan, plan_monitor
    from ratekeeper._monitoring import Monitor, MonitorState
    from ratekeeper._multiclass import (
        LabelSets,
        MulticlassCalibration,
        MulticlassCertificate,
        MulticlassEvaluation,
        MulticlassTest,
        OrderedTest,
        calibrate_multiclass,
    )
    from ratekeeper._multiclass._controller import MulticlassController
    from ratekeeper._p_values import PValues
    from ratekeeper._planning import Plan, plan
    from ratekeeper._power_plans import AuditPlan, CertificationPlan, plan_audit
    from ratekeeper._price_plans import PricePlan
    from ratekeeper._provenance import Provenance
    from ratekeeper._rates import Rate, RealisedRate
    from ratekeeper._reordering import ReorderedTest, Reordering, reorder
    from ratekeeper._selection import Selection
    from ratekeeper._shift import ShiftCounts, ShiftResult, shift_test
    from ratekeeper._storage import load, save
    from ratekeeper.batch import calibrate_counts
    from ratekeeper.exceptions import (
        ContradictedFitWarning,
        InputError,
        InterpolationWarning,
        LateLabelsWarning,
        LevelWarning,
        LongWorkWarning,
        MissingFileError,
        NoThresholdError,
        PositiveLabelWarning,
        RatekeeperError,
        RatekeeperWarning,
        RefitWarning,
        ReversedScoreWarning,
        ScoreRangeWarning,
        ScoreTypeWarning,
        ShiftWarning,
        StoredFileError,
        TooFewScoresError,
        UnattainableError,
        UselessTestWarning,
    )
    from ratekeeper.methods import (
        Bootstrap,
        Conformal,
        Empirical,
        Guarantee,
        HighProbability,
        Kernel,
        Method,
        Parametric,
        Resampled,
        Simultaneous,
        Smoothed,
    )
    from ratekeeper.normality import NormalityResult, normality_test, normality_tests

__all__ = [
    "AbstainingTest",
    "AdaptiveCertificate",
    "AdaptiveDecisions",
    "AdaptiveTest",
    "Alerts",
    "Audit",
    "AuditPlan",
    "Bootstrap",
    "CVPlusCertificate",
    "CVPlusTest",
    "Calibration",
    "Certificate",
    "CertificationPlan",
    "Cheapest",
    "Comparison",
    "Comparisons",
    "Conformal",
    "ContradictedFitWarning",
    "Decisions",
    "DensityRatio",
    "Empirical",
    "ErrorRateController",
    "ErrorRateTest",
    "Evaluation",
    "Evidence",
    "FinishedTest",
    "GroupAudit",
    "Guarantee",
    "HighProbability",
    "InputError",
    "InterpolationWarning",
    "JointCertificate",
    "JointEvaluation",
    "Kernel",
    "LabelNoise",
    "LabelSets",
    "LateLabelsWarning",
    "LevelWarning",
    "LongWorkWarning",
    "Method",
    "MissingFileError",
    "Monitor",
    "MonitorPlan",
    "MonitorState",
    "MulticlassCalibration",
    "MulticlassCertificate",
    "MulticlassController",
    "MulticlassEvaluation",
    "MulticlassTest",
    "NoThresholdError",
    "NormalityResult",
    "OrderedTest",
    "PValues",
    "Parametric",
    "Plan",
    "PositiveLabelWarning",
    "PricePlan",
    "Provenance",
    "Rate",
    "RatekeeperError",
    "RatekeeperWarning",
    "RatioBand",
    "RealisedRate",
    "RefitWarning",
    "ReorderedTest",
    "Reordering",
    "Resampled",
    "ReversedScoreWarning",
    "ScoreDifference",
    "ScoreRangeWarning",
    "ScoreTypeWarning",
    "Selection",
    "ShiftCounts",
    "ShiftResult",
    "ShiftWarning",
    "Simultaneous",
    "Smoothed",
    "StoredFileError",
    "ThresholdCertificate",
    "ThresholdTest",
    "TooFewScoresError",
    "UnattainableError",
    "UselessTestWarning",
    "__version__",
    "calibrate",
    "calibrate_counts",
    "calibrate_frame",
    "calibrate_multiclass",
    "compare",
    "compare_all",
    "density_ratio",
    "evidence",
    "load",
    "normality_test",
    "normality_tests",
    "plan",
    "plan_audit",
    "plan_monitor",
    "reorder",
    "save",
    "score_difference",
    "shift_test",
]

# Every name is loaded on first use: importing the package costs nothing, the p-values cost
# NumPy, and only the scikit-learn estimator costs scikit-learn.
_HOMES = {
    "_abstaining": ("AbstainingTest",),
    "_adaptive": ("AdaptiveCertificate", "AdaptiveDecisions", "AdaptiveTest"),
    "_aimed": ("ThresholdCertificate", "ThresholdTest"),
    "_audit": ("GroupAudit",),
    "_aims": ("LabelNoise",),
    "_alerts": ("Alerts",),
    "_calibrating": ("calibrate",),
    "_calibration": ("Calibration",),
    "_certificate": ("Certificate", "JointCertificate"),
    "_comparison": ("Comparison", "Comparisons", "compare", "compare_all"),
    "_control": ("ErrorRateTest",),
    "_costs": ("Cheapest",),
    "_cross_fitting": ("CVPlusCertificate", "CVPlusTest"),
    "_decisions": ("Decisions",),
    "_density_ratio": ("DensityRatio", "density_ratio"),
    "_differences": ("ScoreDifference", "score_difference"),
    "_estimators": ("ErrorRateController",),
    "_evaluation": ("Evaluation", "JointEvaluation"),
    "_evidence": ("Evidence", "RatioBand", "evidence"),
    "_finished": ("FinishedTest",),
    "_frame_calibration": ("calibrate_frame",),
    "_labelling": ("Audit",),
    "_monitor_plans": ("MonitorPlan", "plan_monitor"),
    "_monitoring": ("Monitor", "MonitorState"),
    "_multiclass": (
        "LabelSets",
        "MulticlassCalibration",
        "MulticlassCertificate",
        "MulticlassEvaluation",
        "MulticlassTest",
        "OrderedTest",
        "calibrate_multiclass",
    ),
    "_multiclass._controller": ("MulticlassController",),
    "_p_values": ("PValues",),
    "_planning": ("Plan", "plan"),
    "_power_plans": ("AuditPlan", "CertificationPlan", "plan_audit"),
    "_price_plans": ("PricePlan",),
    "_provenance": ("Provenance",),
    "_rates": ("Rate", "RealisedRate"),
    "_reordering": ("ReorderedTest", "Reordering", "reorder"),
    "_selection": ("Selection",),
    "_shift": ("ShiftCounts", "ShiftResult", "shift_test"),
    "_storage": ("load", "save"),
    "batch": ("calibrate_counts",),
    "exceptions": (
        "ContradictedFitWarning",
        "InputError",
        "InterpolationWarning",
        "LateLabelsWarning",
        "LevelWarning",
        "LongWorkWarning",
        "MissingFileError",
        "NoThresholdError",
        "PositiveLabelWarning",
        "RatekeeperError",
        "RatekeeperWarning",
        "RefitWarning",
        "ReversedScoreWarning",
        "ScoreRangeWarning",
        "ScoreTypeWarning",
        "ShiftWarning",
        "StoredFileError",
        "TooFewScoresError",
        "UnattainableError",
        "UselessTestWarning",
    ),
    "methods": (
        "Bootstrap",
        "Conformal",
        "Empirical",
        "Guarantee",
        "HighProbability",
        "Kernel",
        "Method",
        "Parametric",
        "Resampled",
        "Simultaneous",
        "Smoothed",
    ),
    "normality": ("NormalityResult", "normality_test", "normality_tests"),
}

# Reachable as attributes, so that `rk.diagnostics.uniformity` needs no import of its own.
_MODULES = (
    "baselines",
    "batch",
    "datasets",
    "diagnostics",
    "exceptions",
    "methods",
    "mlflow",
    "normality",
    "onnx",
    "plots",
    "report",
    "sql",
)


def __getattr__(name: str) -> "Any":  # noqa: ANN401 - a class or a function
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
