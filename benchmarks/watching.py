"""Watching an error rate, against MAPIE's `RiskMonitoring`: delays, then speed.

Both ask whether the rate is above alpha and may be looked at after every outcome. MAPIE is given
alpha as its threshold, so that it need not spend anything on a reference sample, and four times our
delta as its level: it divides that by two for the reference sample, and again for two sides of
which it uses one. So both raise false alarms with probability at most delta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.timing import Row, race
from ratekeeper._numerics._sequential import ChangeDetector, LikenessEProcess, LimitEProcess
from ratekeeper._numerics._sequential._delay import fastest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ALPHA = DELTA = 0.05
DELAYS = {2.0: (41, 1_500), 1.5: (21, 6_000), 1.2: (15, 20_000)}  # streams, and their length


@dataclass(frozen=True)
class Delay(Row):
    """Outcomes to the alarm in the place of seconds."""

    def markdown(self) -> str:
        """Return the row of a table; the ratio says how many times sooner ours alarms."""
        return (
            f"| {self.what} | {self.ours:,.0f} | {self.peer:,.0f} ({self.peer_name}) | "
            f"{self.peer / self.ours:.2f} | {self.target} |"
        )


def run(*, quick: bool) -> Iterator[Row]:
    """Yield median delays on the same streams, then times."""
    for times, (streams, length) in list(DELAYS.items())[: 1 if quick else None]:
        rng = np.random.default_rng(0)
        drawn = [rng.random(length) < times * ALPHA for _ in range(3 if quick else streams)]
        limit = fastest(ALPHA, times * ALPHA, DELTA)
        yield Delay(
            f"median outcomes to the alarm at {times:g} alpha, least mean {limit:,.0f}",
            float(np.median([_ours(errors) for errors in drawn])),
            float(np.median([_mapie(errors) for errors in drawn])),
            "MAPIE",
            f"at most {1.6 * limit:,.0f}",
        )
    rng = np.random.default_rng(1)
    batches = (rng.random(2_000) < ALPHA).reshape(-1, 50)
    seconds = race(
        lambda: _all_watches(batches),
        lambda: _mapie_in_batches(batches),
        repeats=1 if quick else 3,
    )
    what = "three watches, 2,000 outcomes in batches of 50, read after each"
    yield Row(what, *seconds, "MAPIE, one", "at least 100")
    many = (rng.random(10_000 if quick else 1_000_000) < ALPHA).tolist()
    ours, _ = race(lambda: _one_by_one(many), lambda: None, repeats=1 if quick else 3)
    yield Row(
        f"{len(many):,} outcomes one by one, read after each", ours, 10.0, "aim", "under 10 s"
    )


def _ours(errors: NDArray[np.bool_]) -> float:
    watch = LimitEProcess(ALPHA, DELTA)
    watch.feed(errors)
    return watch.alarm or np.inf


def _mapie(errors: NDArray[np.bool_]) -> float:
    monitor = mapie_monitor()
    monitor.update(np.ones(len(errors), int), (~errors).astype(int))
    # Its bound never falls, so this is the first update that would have shown the shift.
    found = np.flatnonzero(monitor.online_risk_lower_bound_sequence_history > ALPHA)
    return float(found[0] + 1) if len(found) else np.inf


def mapie_monitor():  # noqa: ANN201 - theirs
    """Return MAPIE's monitor of misses among positives, at the level delta."""
    from mapie.exchangeability_testing import RiskMonitoring

    return RiskMonitoring(risk="recall", test_level=4 * DELTA, threshold=ALPHA, warn=False)


def _mapie_in_batches(batches: NDArray[np.bool_]) -> bool:
    monitor = mapie_monitor()
    for errors in batches:
        monitor.update(np.ones(len(errors), int), (~errors).astype(int))
    return bool(monitor.harmful_shift_detected)


def _all_watches(batches: NDArray[np.bool_]) -> list[int | None]:
    watches = (
        LimitEProcess(ALPHA, DELTA),
        LikenessEProcess(50, 1_000, DELTA),
        ChangeDetector(ALPHA, 10_000),
    )
    for errors in batches:
        for watch in watches:
            watch.feed(errors)
            _ = watch.alarm
    return [watch.alarm for watch in watches]


def _one_by_one(errors: list[bool]) -> int:
    watch, alarms = LimitEProcess(ALPHA, DELTA), 0
    for error in errors:
        watch.feed(error)
        alarms += watch.alarm is not None
    return alarms
