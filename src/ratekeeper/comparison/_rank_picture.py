"""Mean ranks on a line, with bars that join systems which are not told apart, as SVG."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ratekeeper.comparison._picture import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH, _SIDE, _TOP, _ROW, _BAR = 460, 190, 96, 20, 9
_LONGEST = 26  # letters of a name


def draw(
    systems: Sequence[str],
    ranks: Sequence[float],
    difference: float,
    bars: Sequence[tuple[int, int]],
    title: str,
) -> str:
    """Return the diagram: best to the left; the better half hangs left, the others right."""
    k = len(systems)
    half = math.ceil(k / 2)
    start = _TOP + _BAR * (len(bars) + 1)
    width, height = _WIDTH + 2 * _SIDE, start + _ROW * half + 16

    def x(rank: float) -> float:
        return _SIDE + _WIDTH * (rank - 1) / (k - 1)

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            'font-family="system-ui, sans-serif" font-size="13">'
        ),
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        _text(_SIDE, 22, title, "start"),
        _line(x(1), _TOP - 12, x(k), _TOP - 12),
        *(_line(x(i), _TOP - 17, x(i), _TOP - 12) for i in range(1, k + 1)),
        *(_text(x(i), _TOP - 22, str(i), "middle") for i in range(1, k + 1)),
    ]
    reach = min(1 + difference, k)
    parts += [
        (
            f'<path d="M{x(1):.1f},44v8M{x(1):.1f},48H{x(reach):.1f}m0,-4v8" stroke="#c0392b" '
            'fill="none"/>'
        ),
        _text(x(reach) + 8, 52, f"critical difference {difference:.2f}", "start"),
    ]
    for i, (name, rank) in enumerate(zip(systems, ranks, strict=True)):
        left = i < half
        y = start + _ROW * (i if left else k - 1 - i) + 12
        end = _SIDE - 12 if left else _SIDE + _WIDTH + 12
        parts.append(
            f'<path d="M{x(rank):.1f},{_TOP - 12}V{y - 4}H{end}" stroke="#555" fill="none"/>'
        )
        short = f"{name[: _LONGEST - 3]}..." if len(name) > _LONGEST else name
        words = f"{short} {rank:.2f}" if left else f"{rank:.2f} {short}"
        parts.append(_text(end - 4 if left else end + 4, y, words, "end" if left else "start"))
    for number, (first, last) in enumerate(bars):
        y = _TOP + _BAR * number
        parts.append(
            f'<path class="bar" d="M{x(ranks[first]) - 3:.1f},{y}H{x(ranks[last]) + 3:.1f}" '
            'stroke="#222" stroke-width="4"/>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}" stroke="#333"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#333">{escape(text)}</text>'
