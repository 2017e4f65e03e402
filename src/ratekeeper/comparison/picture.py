"""The two errors of each system in one picture, drawn by hand as SVG."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from ratekeeper.rates import exact_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ratekeeper.comparison.result import Comparison
    from ratekeeper.comparison.summary import Summary

_COLOURS = {
    "high probability": "#1e8449",
    "simultaneous": "#1e8449",
    "marginal": "#2471a3",
    "asymptotic": "#b9770e",
    "none": "#7b7d7d",
}
_LEFT, _TOP, _SIDE, _LEGEND, _ROW = 64, 66, 560, 330, 19
_RADIUS = 8.5
_TICKS = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)

Point = tuple[float, float]


def draw(comparison: Comparison) -> str:
    """Return the picture: other error across, controlled error upward, on square-root scales."""
    rows = [row for row in comparison.rows if row.repeats]
    most_target = max([2 * comparison.alpha, *(row.target for row in rows)])
    most_other = max([0.05, *(row.other for row in rows)])
    height = max(_TOP + _SIDE + 54, _TOP + _ROW * (len(rows) + 8))
    width = _LEFT + _SIDE + 24 + _LEGEND
    target, other = ("FNR", "FPR") if comparison.control == "fnr" else ("FPR", "FNR")
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            'font-family="system-ui, sans-serif" font-size="13">'
        ),
        f"<title>{escape(comparison.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        (
            f'<text x="{_LEFT}" y="26" font-size="17" font-weight="600" fill="#222">'
            f"Who keeps {target} &lt;= {exact_percent(comparison.alpha)}, and who pays how much "
            f"in the {other}</text>"
        ),
        (
            f'<text x="{_LEFT}" y="47" fill="#555">Means over splits of one data set. Kept on '
            "average on or below the line; better to the left. Square-root scales.</text>"
        ),
    ]
    parts += _axes(most_target, most_other, target, other)
    parts += _limit(comparison.alpha, most_target)
    parts += _marks(rows, most_target, most_other)
    parts += _legend(rows)
    return "\n".join([*parts, "</svg>", ""])


def _x(value: float, most: float) -> float:
    return _LEFT + _SIDE * math.sqrt(value / most)


def _y(value: float, most: float) -> float:
    return _TOP + _SIDE * (1 - math.sqrt(value / most))


def _axes(most_target: float, most_other: float, target: str, other: str) -> list[str]:
    floor, right = _TOP + _SIDE, _LEFT + _SIDE
    parts = [
        f'<path d="M{_LEFT},{_TOP}V{floor}H{right}" fill="none" stroke="#888"/>',
        _text(right, floor + 40, f"{other}, %", "end"),
        _text(_LEFT - 8, _TOP - 10, f"{target}, %", "start"),
    ]
    for tick in _TICKS:
        name = f"{100 * tick:g}"
        if tick <= most_other and _apart(tick, most_other):
            x = _x(tick, most_other)
            parts.append(f'<path d="M{x:.1f},{floor}v5" stroke="#888"/>')
            parts.append(_text(x, floor + 20, name, "middle"))
        if tick <= most_target and _apart(tick, most_target):
            y = _y(tick, most_target)
            parts.append(f'<path d="M{_LEFT},{y:.1f}h-5" stroke="#888"/>')
            parts.append(_text(_LEFT - 8, y + 4, name, "end"))
    return parts


def _apart(tick: float, most: float) -> bool:
    """Leave out small ticks whose names would run into the zero."""
    return tick == 0 or _SIDE * math.sqrt(tick / most) > 24  # noqa: PLR2004 - width of a name


def _limit(alpha: float, most: float) -> list[str]:
    y = _y(alpha, most)
    return [
        f'<path d="M{_LEFT},{y:.1f}h{_SIDE}" stroke="#c0392b" stroke-dasharray="6 4"/>',
        (
            f'<text x="{_LEFT + _SIDE}" y="{y - 6:.1f}" text-anchor="end" fill="#c0392b">'
            f"alpha = {exact_percent(alpha)}</text>"
        ),
    ]


def _marks(rows: Sequence[Summary], most_target: float, most_other: float) -> list[str]:
    parts: list[str] = []
    placed: list[Point] = []
    for number, row in enumerate(rows, start=1):
        true = _x(row.other, most_other), _y(row.target, most_target)
        at = _free_place(true, placed)
        placed.append(at)
        low, high = (
            _y(min(v, most_target), most_target) for v in (row.target_low, row.target_high)
        )
        colour = _COLOURS.get(row.promise, "#7b7d7d")
        tip = escape(
            f"{row.system}: controlled {100 * row.target:.2f}%, other {100 * row.other:.2f}%, "
            f"above alpha in {row.above:.0%} of splits"
        )
        parts.append(
            f'<g><title>{tip}</title><path d="M{true[0]:.1f},{low:.1f}V{high:.1f}" '
            f'stroke="{colour}" opacity=".45"/>'
            f'<path d="M{true[0]:.1f},{true[1]:.1f}L{at[0]:.1f},{at[1]:.1f}" stroke="{colour}"/>'
            f'<circle cx="{true[0]:.1f}" cy="{true[1]:.1f}" r="2" fill="{colour}"/>'
            + _badge(at, number, colour)
            + "</g>"
        )
    return parts


def _free_place(wish: Point, placed: Sequence[Point]) -> Point:
    """Return the nearest place on a spiral where a badge covers no other one."""
    for step in range(400):
        angle, far = 2.4 * step, 2.2 * math.sqrt(step) * _RADIUS / 2
        at = wish[0] + far * math.cos(angle), wish[1] + far * math.sin(angle)
        inside = at[0] > _LEFT + _RADIUS and _TOP < at[1] < _TOP + _SIDE - _RADIUS
        if (inside or step == 0) and all(math.dist(at, p) > 2 * _RADIUS for p in placed):
            return at
    return wish


def _badge(at: Point, number: int, colour: str) -> str:
    return (
        f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{_RADIUS}" fill="{colour}"/>'
        f'<text x="{at[0]:.1f}" y="{at[1] + 3.6:.1f}" text-anchor="middle" font-size="10" '
        f'fill="#fff">{number}</text>'
    )


def _legend(rows: Sequence[Summary]) -> list[str]:
    left, parts, y = _LEFT + _SIDE + 40, [], _TOP
    for number, row in enumerate(rows, start=1):
        parts.append(_badge((left, y), number, _COLOURS.get(row.promise, "#7b7d7d")))
        parts.append(_text(left + 16, y + 4, row.system, "start"))
        numbers = f"{100 * row.target:.1f} / {100 * row.other:.1f}"
        parts.append(_text(left + _LEGEND - 50, y + 4, numbers, "end"))
        y += _ROW
    y += _ROW // 2
    kinds = dict.fromkeys(row.promise for row in rows)
    for kind in kinds:
        parts.append(f'<circle cx="{left}" cy="{y}" r="5" fill="{_COLOURS.get(kind)}"/>')
        words = "promises nothing" if kind == "none" else f"promise: {kind}"
        parts.append(_text(left + 16, y + 4, words, "start"))
        y += _ROW
    return parts


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#333">{escape(text)}</text>'
