"""Draw the pictures of docs/guides/plots.md: ``python docs/pictures/plot_pictures.py``.

The same program draws the same bytes: no date is written, and the names of parts are seeded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import ratekeeper as rk
from ratekeeper.datasets import load_employment
from ratekeeper.plots import (
    CostDisplay,
    ErrorCurveDisplay,
    GroupDisplay,
    MonitorDisplay,
    NPROCDisplay,
    PValueHistogramDisplay,
    RateAgainstAlphaDisplay,
    RealisedRateDisplay,
    SampleSizeDisplay,
    ScoreDensityDisplay,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

SIZE = (7.2, 4.5)


def pictures() -> dict[str, Callable[[Axes], object]]:
    """Return what draws each picture, by name."""
    people = load_employment()
    held_out, new = people.in_year(2015)[:2000], people.in_year(2016)
    cal = rk.calibrate(held_out.score, held_out.employed)
    test = cal.control("fnr", alpha=0.05, method=rk.Conformal())
    cheapest = cal.cheapest(cost_fn=100, cost_fp=30, fnr=0.1)
    later = people[people.year >= 2016]
    labelled = {"scores": new.score, "labels": new.employed}
    plan = rk.plan("fnr", alpha=0.05, delta=0.05, n=200)
    monitor = rk.Monitor(test)
    ids = np.arange(len(later))
    monitor.record(ids, later.year.astype(int), test.decide(later.score))
    monitor.update(ids, later.employed)
    return {
        "score-density": lambda ax: ScoreDensityDisplay.from_predictions(
            new.employed, new.score, test=test, ax=ax
        ),
        "p-values": lambda ax: PValueHistogramDisplay.from_calibration(test, ax=ax, **labelled),
        "rate-against-alpha": lambda ax: RateAgainstAlphaDisplay.from_calibration(
            test, ax=ax, **labelled
        ),
        "error-curve": lambda ax: ErrorCurveDisplay.from_predictions(
            new.employed, new.score, test=test, ax=ax
        ),
        "np-roc": lambda ax: NPROCDisplay.from_calibration(test, ax=ax),
        "realised-rate": lambda ax: RealisedRateDisplay.from_calibration(test, ax=ax, **labelled),
        "cost": lambda ax: CostDisplay.from_cheapest(cheapest, ax=ax),
        "sample-size": lambda ax: SampleSizeDisplay.from_plan(plan, ax=ax),
        "groups": lambda ax: GroupDisplay.from_predictions(
            later.employed,
            later.score,
            test=test,
            by={"disability": later.disability, "year": later.year},
            crossed=True,
            ax=ax,
        ),
        "monitor": lambda ax: MonitorDisplay.from_monitor(monitor, ax=ax),
    }


def main(folder: Path = Path(__file__).parent, only: str | None = None) -> None:
    """Write the pictures into a folder, or only the one of this name."""
    with mpl.rc_context({"svg.hashsalt": "ratekeeper", "path.simplify": True}):
        for name, draw in pictures().items():
            if only not in (None, name):
                continue
            figure = Figure(figsize=SIZE, layout="constrained")
            draw(figure.subplots())
            figure.savefig(folder / f"plots-{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
