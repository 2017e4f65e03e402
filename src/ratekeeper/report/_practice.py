"""What an alert means: shares of each class that the page mixes as its reader says."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ratekeeper._alerts import ERROR, called_of_all, sizes_of
from ratekeeper._validation import check_probability
from ratekeeper.report._words import paragraphs

if TYPE_CHECKING:
    from ratekeeper._alerts import Alerts, Bounds
    from ratekeeper._finished import FinishedTest


def stated_alerts(test: FinishedTest, prevalence: float | str | None) -> Alerts | None:
    """Return what the section shows at first; None for a calibration that has no prevalence.

    The page mixes at a prevalence that is taken as known, so that of the calibration is, too.
    """
    if prevalence is not None:
        return test.alerts(check_probability(prevalence, "prevalence"))
    found = test.certificate.alerts
    return found and test.alerts(found.prevalence)


def practice_facts(test: FinishedTest, alerts: Alerts | None) -> dict[str, Any] | None:
    """Return the shares of the certified test, and where the slider starts."""
    if alerts is None:
        return None
    called = called_of_all(test._called, sizes_of(test.calibration), ERROR)  # noqa: SLF001
    of_calibration = test.certificate.alerts
    return {
        "prevalence": alerts.prevalence,
        "ofCalibration": of_calibration and of_calibration.prevalence,
        "positive": [_numbers(part) for part in called.positive],
        "negative": [_numbers(part) for part in called.negative],
        "basis": called.basis[0],
        "abstains": called.abstains is not None and bool(called.abstains[0]),
    }


def _numbers(bounds: Bounds) -> list[float | None]:
    ends = [float(part[0]) for part in bounds]
    return [None if math.isnan(end) else end for end in ends]


def practice_html(alerts: Alerts | None) -> str:
    """Return the section in words, for a page without scripts."""
    return "" if alerts is None else paragraphs([alerts.summary, alerts.ground])
