"""The two errors of each system in one picture, drawn by hand as SVG.

By hand, since ``ratekeeper compare`` writes its picture with the bare package, and matplotlib is an
extra; what is here draws marks that keep clear of each other, which matplotlib would not do either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape as escape_marks

from ratekeeper._wording._formatting import escape_controls, exact_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ratekeeper.comparison._result import Comparison
    from ratekeeper.comparison._summary import Summary

    Point = tuple[float, float]

_COLOURS = {
    "high probability": "#1e8449",
    "simultaneous": "#1e8449",
    "marginal": "#2471a3",
    "asymptotic": "#b9770e",
    "none": "#7b7d7d",
}
_ASSUMED = "#8e44ad"  # of promises that rest on an assumption about the data
_UNDECIDED = "hollow: abstains, which counts as no error"
_LEFT, _TOP, _WIDTH, _LEGEND, _ROW, _FOOT = 64, 92, 620, 330, 19, 54
_RADIUS = 8.5
_ROOM = 1.08  # so that the largest error does not stand on the edge
_LONGEST = 26  # letters of a name in the legend
_LONGEST_LINE = 130  # letters of a line below the picture
_TICKS = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)


def draw(comparison: Comparison) -> str:
    """Return the picture: other error across, controlled error upward, on square-root scales."""
    rows = [row for row in comparison.rows if row.repeats]
    refused = [row for row in comparison.rows if row.refused]
    kinds = {_colour(row): row for row in rows}
    # Intervals show whole, unless few repeats make them so long that all marks would be a heap.
    most = max([comparison.alpha, *(row.target for row in rows)])
    longest = max([most, *(row.target_high for row in rows)])
    frame = Frame(
        most_other=min(max([0.05, *(_ROOM * row.other for row in rows)]), 1.0),
        most_target=min(max(2 * comparison.alpha, _ROOM * most, min(longest, 2 * most)), 1.0),
        height=max(420, _ROW * (len(rows) + len(kinds) + 2)),
    )
    width = _LEFT + _WIDTH + 24 + _LEGEND
    height = _TOP + frame.height + _FOOT + (_ROW * (len(refused) + 1) if refused else 0)
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
            "average on or below the line; better to the left. Thin lines: 95% intervals. "
            "Square-root scales.</text>"
        ),
        *_axes(frame, target, other),
        *_limit(frame, comparison.alpha),
        *_marks(frame, rows, comparison.alpha),
        *_legend(rows, kinds, f"{target} / {other}, %", comparison.alpha),
        *_refusals(refused, frame.floor + _FOOT),
    ]
    return "\n".join([*parts, "</svg>", ""])


def escape(text: str) -> str:
    r"""Write a text as XML, and what XML cannot hold as Python writes it.

    Examples
    --------
    >>> print(escape("a<b \x1b"))
    a&lt;b \x1b
    """
    return escape_marks(escape_controls(text))


def percent(rate: float, alpha: float) -> str:
    """Write a controlled error in percent, so finely that it can be told from alpha.

    Examples
    --------
    >>> percent(0.0312, alpha=0.05), percent(0.00123, alpha=0.001)
    ('3.1', '0.12')
    """
    digits = max(1 - math.floor(math.log10(100 * alpha) + 1e-9), 1)
    return f"{100 * rate:.{digits}f}"


@dataclass(frozen=True)
class Frame:
    """Where rates lie on the page."""

    most_other: float
    most_target: float
    height: int

    @property
    def floor(self) -> int:
        """The vertical place of the rate 0."""
        return _TOP + self.height

    def x(self, rate: float) -> float:
        """Return the horizontal place of an other error."""
        return _LEFT + _WIDTH * math.sqrt(min(rate / self.most_other, 1.0))

    def y(self, rate: float) -> float:
        """Return the vertical place of a controlled error."""
        return self.floor - self.height * math.sqrt(min(rate / self.most_target, 1.0))


def _axes(frame: Frame, target: str, other: str) -> list[str]:
    floor, right = frame.floor, _LEFT + _WIDTH
    parts = [
        f'<path d="M{_LEFT},{_TOP}V{floor}H{right}" fill="none" stroke="#888"/>',
        _text(right, floor + 40, f"{other}, %", "end"),
        _text(_LEFT - 30, _TOP - 14, f"{target}, %", "start"),
    ]
    for tick in _TICKS:
        x, y, name = frame.x(tick), frame.y(tick), f"{100 * tick:g}"
        # Small ticks whose names would run into the zero are left out.
        if tick <= frame.most_other and (tick == 0 or x - _LEFT > 24):  # noqa: PLR2004
            parts.append(f'<path d="M{x:.1f},{floor}v5" stroke="#888"/>')
            parts.append(_text(x, floor + 20, name, "middle"))
        if tick <= frame.most_target and (tick == 0 or floor - y > 14):  # noqa: PLR2004
            parts.append(f'<path d="M{_LEFT},{y:.1f}h-5" stroke="#888"/>')
            parts.append(_text(_LEFT - 8, y + 4, name, "end"))
    return parts


def _limit(frame: Frame, alpha: float) -> list[str]:
    y, right = frame.y(alpha), _LEFT + _WIDTH
    return [
        f'<path d="M{_LEFT},{y:.1f}H{right}" stroke="#c0392b" stroke-dasharray="6 4"/>',
        (
            f'<text x="{right}" y="{y - 6:.1f}" text-anchor="end" fill="#c0392b">'
            f"alpha = {exact_percent(alpha)}</text>"
        ),
    ]


def _marks(frame: Frame, rows: Sequence[Summary], alpha: float) -> list[str]:
    lines: list[str] = []  # under all badges
    badges: list[str] = []
    # The words on the line of alpha are as taken as a badge is.
    right, level = _LEFT + _WIDTH, frame.y(alpha) - 10
    placed: list[Point] = [(right - 2 * _RADIUS * i, level) for i in range(6)]
    for number, row in enumerate(rows, start=1):
        true = frame.x(row.other), frame.y(row.target)
        kept = row.target <= alpha
        sides = (frame.y(alpha), frame.floor) if kept else (_TOP, frame.y(alpha))
        at = _free_place(true, placed, frame.floor, sides)
        placed.append(at)
        colour = _colour(row)
        tip = escape(
            f"{row.system}: controlled {100 * row.target:.2f}%, other {100 * row.other:.2f}%, "
            f"above alpha in {row.above:.0%} of splits{_undecided(row)}"
        )
        low, high = frame.y(row.target_low), frame.y(row.target_high)
        lines.append(
            f'<path d="M{true[0]:.1f},{low:.1f}V{high:.1f}" stroke="{colour}" opacity=".45"/>'
            f'<path d="M{true[0]:.1f},{true[1]:.1f}L{at[0]:.1f},{at[1]:.1f}" stroke="{colour}"/>'
            f'<circle cx="{true[0]:.1f}" cy="{true[1]:.1f}" r="2" fill="{colour}"/>'
        )
        badges.append(f"<g><title>{tip}</title>{_badge(at, number, row)}</g>")
    return [*lines, *badges]


def _free_place(
    wish: Point, placed: Sequence[Point], floor: float, sides: tuple[float, float]
) -> Point:
    """Return the nearest place on a spiral where a badge covers no other one, nor an axis.

    It stays on its own side of the line of alpha, which `sides` are, if there is room for it.
    """
    top, bottom = sides
    if bottom - top > 4 * _RADIUS:
        top, bottom = top + _RADIUS + 1 if top > _TOP else top, min(bottom, floor) - _RADIUS - 1
    else:
        top, bottom = _TOP, floor - _RADIUS
    for step in range(2400):
        angle, far = 2.4 * step, 1.1 * math.sqrt(step) * _RADIUS
        at = wish[0] + far * math.cos(angle), wish[1] + far * math.sin(angle)
        inside = _LEFT + _RADIUS < at[0] < _LEFT + _WIDTH and top <= at[1] <= bottom
        if inside and all(math.dist(at, other) > 2 * _RADIUS for other in placed):
            return at
    return wish


def _badge(at: Point, number: int, row: Summary) -> str:
    """Draw a number in a disc: a square for a promise with an assumption, hollow if undecided."""
    colour, (x, y), r = _colour(row), at, _RADIUS
    fill, ink = ("#fff", colour) if row.abstained > 0 else (colour, "#fff")
    style = f'fill="{fill}" stroke="{colour}" stroke-width="1.5"'
    shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" {style}/>'
    if row.assumption:
        corner = f'x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r}" height="{2 * r}"'
        shape = f"<rect {corner} {style}/>"
    return (
        f'{shape}<text x="{x:.1f}" y="{y + 3.6:.1f}" text-anchor="middle" font-size="10" '
        f'fill="{ink}">{number}</text>'
    )


def _legend(
    rows: Sequence[Summary], kinds: Mapping[str, Summary], heading: str, alpha: float
) -> list[str]:
    left, right, y = _LEFT + _WIDTH + 40, _LEFT + _WIDTH + _LEGEND, _TOP
    parts = [_text(right, y - 14, heading, "end")]
    for number, row in enumerate(rows, start=1):
        longest = _LONGEST - (len(_undecided(row)) // 2)  # half, as its letters are narrow
        name = escape_controls(row.system)
        name = f"{name[: longest - 3]}..." if len(name) > longest else name
        parts.append(_badge((left, y), number, row))
        parts.append(_text(left + 16, y + 4, name + _undecided(row), "start"))
        numbers = f"{percent(row.target, alpha)} / {100 * row.other:.1f}"
        parts.append(_text(right, y + 4, numbers, "end"))
        y += _ROW
    y += _ROW // 2
    notes = [(colour, _words(row)) for colour, row in kinds.items()]
    if any(row.abstained > 0 for row in rows):
        notes.append(("none", _UNDECIDED))
    for colour, words in notes:
        edge = ' stroke="#333"' if colour == "none" else ""
        shape = f'<circle cx="{left}" cy="{y}" r="5" fill="{colour}"{edge}/>'
        if colour == _ASSUMED:
            shape = f'<rect x="{left - 5}" y="{y - 5}" width="10" height="10" fill="{colour}"/>'
        parts += [shape, _text(left + 16, y + 4, words, "start")]
        y += _ROW
    return parts


def _refusals(rows: Sequence[Summary], top: float) -> list[str]:
    """List the systems that refused some split or all, with the reason."""
    if not rows:
        return []
    parts = [_text(_LEFT - 30, top + _ROW, "Refused:", "start")]
    for number, row in enumerate(rows, start=2):
        some = "" if not row.repeats else f" ({row.refused} of {row.repeats + row.refused} splits)"
        reason = row.note.partition(": ")[2].partition("; warned")[0]
        line = f"{escape_controls(row.system)}{some}: {reason}"
        line = f"{line[: _LONGEST_LINE - 3]}..." if len(line) > _LONGEST_LINE else line
        parts.append(_text(_LEFT - 14, top + _ROW * number, line, "start"))
    return parts


def _undecided(row: Summary) -> str:
    return f", {100 * row.abstained:.0f}% undecided" if row.abstained > 0 else ""


def _words(row: Summary) -> str:
    """Say what a colour stands for."""
    if row.assumption:
        return "square: promises under an assumption"
    return "promises nothing" if row.promise == "none" else f"promise: {row.promise}"


def _colour(row: Summary) -> str:
    return _ASSUMED if row.assumption else _COLOURS.get(row.promise, _COLOURS["none"])


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#333">{escape(text)}</text>'
