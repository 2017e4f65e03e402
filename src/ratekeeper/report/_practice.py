"""What an alert means: shares of each class that the page mixes as its reader says."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ratekeeper.control._alerts import ERROR, called_of_all, sizes_of
from ratekeeper.report._words import paragraphs

if TYPE_CHECKING:
    from ratekeeper.control._alerts import Alerts
    from ratekeeper.control._decision_rates import Bounds
    from ratekeeper.control._test import Test


def first_alerts(test: Test, prevalence: float | str | None) -> Alerts | None:
    """Return what the section says at first; None for a calibration that has no prevalence."""
    if prevalence is None:
        return test._practice()  # noqa: SLF001
    return test.alerts(prevalence)


def practice_facts(test: Test, alerts: Alerts | None) -> dict[str, Any] | None:
    """Return the shares of the certified test, and where the slider starts.

    The page takes every prevalence as known, also that of the calibration.
    """
    if alerts is None:
        return None
    called = called_of_all(test._called, sizes_of(test.calibration), ERROR)  # noqa: SLF001
    of_calibration = test._practice()  # noqa: SLF001
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
    return "" if alerts is None else paragraphs([alerts.statement().text])
