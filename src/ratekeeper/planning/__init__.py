"""How many labels a promise, an audit, a price or a monitor needs, before there are any.

One file per question; `_text` is how every plan reads. Imports `ratekeeper.control` and what is
below it. Start with `_promise`, which is `plan`.
"""

from typing import TYPE_CHECKING

from ratekeeper._system._first_use import on_first_use

if TYPE_CHECKING:
    from ratekeeper.planning._audit import AuditPlan, CertificationPlan, plan_audit
    from ratekeeper.planning._monitor import MonitorPlan, plan_monitor
    from ratekeeper.planning._price import PricePlan
    from ratekeeper.planning._promise import Plan, plan

__all__ = [
    "AuditPlan",
    "CertificationPlan",
    "MonitorPlan",
    "Plan",
    "PricePlan",
    "plan",
    "plan_audit",
    "plan_monitor",
]

_HOMES = {
    "planning._audit": ("AuditPlan", "CertificationPlan", "plan_audit"),
    "planning._monitor": ("MonitorPlan", "plan_monitor"),
    "planning._price": ("PricePlan",),
    "planning._promise": ("Plan", "plan"),
}
if not TYPE_CHECKING:  # type checkers would take any name
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
