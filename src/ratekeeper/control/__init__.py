"""Tests that keep a promise, and everything that is said about one.

`_test` is what all tests share: decide, p-values, evaluate. One error rate is `_error_rate`, both
`_both_rates`, precision and the like `_risk_control` with one file per aim in `_aims`, CV+
`_cv_plus`. `_certificate`, `_evaluation`, `_group_audit` and `_alerts` say what is promised, found,
paid by whom, and meant in practice. Imports `ratekeeper.calibration` and what is below it; the
methods of a test that take a data frame import `ratekeeper.frames` when they are called.
Start with `_error_rate`.
"""

from typing import TYPE_CHECKING

from ratekeeper._system._first_use import on_first_use

if TYPE_CHECKING:
    from ratekeeper._numerics._rates import Rate
    from ratekeeper._numerics._realised_rate import RealisedRate
    from ratekeeper.control._aims import LabelNoise
    from ratekeeper.control._alerts import Alerts
    from ratekeeper.control._both_rates import AbstainingTest
    from ratekeeper.control._certificate import Certificate, JointCertificate
    from ratekeeper.control._cost import Cheapest
    from ratekeeper.control._cv_plus import CVPlusCertificate, CVPlusTest
    from ratekeeper.control._decisions import Decisions
    from ratekeeper.control._error_rate import ErrorRateTest
    from ratekeeper.control._evaluation import Evaluation, JointEvaluation
    from ratekeeper.control._group_audit import GroupAudit
    from ratekeeper.control._label_audit import Audit
    from ratekeeper.control._reordering import ReorderedTest, Reordering, reorder
    from ratekeeper.control._risk_control import RiskControlCertificate, RiskControlTest
    from ratekeeper.control._selection import Selection
    from ratekeeper.control._test import Test

__all__ = [
    "AbstainingTest",
    "Alerts",
    "Audit",
    "CVPlusCertificate",
    "CVPlusTest",
    "Certificate",
    "Cheapest",
    "Decisions",
    "ErrorRateTest",
    "Evaluation",
    "GroupAudit",
    "JointCertificate",
    "JointEvaluation",
    "LabelNoise",
    "Rate",
    "RealisedRate",
    "ReorderedTest",
    "Reordering",
    "RiskControlCertificate",
    "RiskControlTest",
    "Selection",
    "Test",
    "reorder",
]

_HOMES = {
    "_numerics._rates": ("Rate",),
    "_numerics._realised_rate": ("RealisedRate",),
    "control._aims": ("LabelNoise",),
    "control._alerts": ("Alerts",),
    "control._both_rates": ("AbstainingTest",),
    "control._certificate": ("Certificate", "JointCertificate"),
    "control._cost": ("Cheapest",),
    "control._cv_plus": ("CVPlusCertificate", "CVPlusTest"),
    "control._decisions": ("Decisions",),
    "control._error_rate": ("ErrorRateTest",),
    "control._evaluation": ("Evaluation", "JointEvaluation"),
    "control._group_audit": ("GroupAudit",),
    "control._label_audit": ("Audit",),
    "control._reordering": ("ReorderedTest", "Reordering", "reorder"),
    "control._risk_control": ("RiskControlCertificate", "RiskControlTest"),
    "control._selection": ("Selection",),
    "control._test": ("Test",),
}
if not TYPE_CHECKING:  # type checkers would take any name
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
