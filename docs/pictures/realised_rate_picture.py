"""Draw the picture of README: it writes realised-rate.svg.

Not a sketch: the curves are the exact distributions of the true rate with 100 held-out positives.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import stats

import ratekeeper as rk
from ratekeeper._numerics._realised_rate import RealisedRate
from ratekeeper.methods._rank import critical_rank

N, ALPHA = 100, 0.05
ROWS = (
    (rk.methods.Empirical(), "threshold tuned on the held-out data (m / n)", "#c0392b"),
    (rk.Conformal(), "Conformal: right on average", "#b9770e"),
    (rk.HighProbability(0.05), "HighProbability(delta=0.05): right for this test", "#1e8449"),
)
WIDTH, ROW, LEFT, RIGHT, TOP = 760, 118, 24, 736, 64
MOST = 0.15


def x_of(rate: float) -> float:
    """Return the horizontal position of a rate."""
    return LEFT + (RIGHT - LEFT) * rate / MOST


def shape(realised: RealisedRate, floor: float, low: float, high: float) -> str:
    """Return the outline of a density between two rates."""
    rates = np.linspace(low, high, 160)
    density = stats.beta.pdf(rates, realised.k, realised.n + 1 - realised.k)
    points = [(x_of(r), floor - 1.8 * d) for r, d in zip(rates, density, strict=True)]
    outline = [(x_of(low), floor), *points, (x_of(high), floor)]
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in outline) + "Z"


def main() -> None:
    """Write the picture."""
    height = TOP + ROW * len(ROWS) + 34
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="system-ui, sans-serif" font-size="14">'
        ),
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        (
            f'<text x="{LEFT}" y="26" font-size="17" font-weight="600" fill="#222">'
            "“We may miss at most 5% of the positives”, 100 held-out positives</text>"
        ),
        (
            f'<text x="{LEFT}" y="47" fill="#555">The true miss rate of the deployed '
            "test, over calibration sets. Dark: above the limit.</text>"
        ),
    ]
    for i, (method, name, colour) in enumerate(ROWS):
        realised = RealisedRate(critical_rank(method, N, ALPHA), N)
        floor = TOP + ROW * (i + 1) - 14
        above = realised.exceeds(ALPHA)
        beside = round(x_of(0.068))
        parts += [
            f'<path d="{shape(realised, floor, 0, MOST)}" fill="{colour}" opacity="0.25"/>',
            f'<path d="{shape(realised, floor, ALPHA, MOST)}" fill="{colour}" opacity="0.85"/>',
            f'<line x1="{LEFT}" x2="{RIGHT}" y1="{floor}" y2="{floor}" stroke="#999"/>',
            f'<text x="{beside}" y="{floor - 66}" fill="#222" font-weight="600">{name}</text>',
            (
                f'<text x="{beside}" y="{floor - 46}" fill="{colour}">breaks the limit in '
                f"{100 * above:.0f}% of deployments</text>"
            ),
        ]
    bottom = TOP + ROW * len(ROWS) - 14
    limit = x_of(ALPHA)
    parts.append(
        f'<line x1="{limit}" x2="{limit}" y1="{TOP}" y2="{bottom}" stroke="#222" '
        'stroke-dasharray="4 4"/>'
    )
    for rate in (0, 0.05, 0.1, 0.15):
        parts.append(
            f'<text x="{x_of(rate):.0f}" y="{bottom + 20}" text-anchor="middle" fill="#555">'
            f"{100 * rate:.0f}%</text>"
        )
    Path(__file__).with_name("realised-rate.svg").write_text("\n".join([*parts, "</svg>", ""]))


if __name__ == "__main__":
    main()
