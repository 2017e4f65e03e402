"""Draw the packages: ``python docs/pictures/package_picture.py`` writes packages.svg.

Rows and dashed arrows are read from the contract on layers in pyproject.toml, which import-linter
checks; what each package is for is written here.
"""

from __future__ import annotations

import textwrap
import tomllib
from dataclasses import dataclass
from html import escape
from typing import Any

from drawing import BLUE, FOLDER, ORANGE

CONTRACT = "Imports point down only"
PHRASES = {
    "cli": "the command line, one file per command",
    "mlflow": "a model and its test as one MLflow model",
    "report": "one page that opens offline and recomputes itself",
    "plots": "displays in the style of scikit-learn",
    "comparison": "all systems on the same splits of a data set",
    "baselines": "rival systems, as classifiers",
    "normality": "neural and classical tests",
    "files": "CSV, Parquet and Arrow, streamed",
    "sql": "decide and count in a database",
    "onnx": "decide inside an ONNX graph",
    "estimators": "scikit-learn classes",
    "monitoring": "is the promise still kept?",
    "frames": "data frames of any library",
    "storage": "tests kept as .rk files",
    "diagnostics": "facts behind the promises",
    "planning": "how many labels to get",
    "multiclass": "more than two classes",
    "datasets": "real data to try it on",
    "control": "tests that keep a promise, and their certificates",
    "calibration": "held-out scores of known classes",
    "methods": "counts to p-values, and what each way guarantees",
    "_numerics": "ranks, distributions, searches: arrays in, arrays out",
    "_reading": "what users pass, checked once",
    "_system": "files, locks, threads, processes",
    "exceptions": "errors and warnings",
    "_wording": "sentences, numbers, HTML",
}
# Groups of rows, each by the package that begins it.
GROUPS = {
    "cli": "edges",
    "comparison": "applications",
    "control": "objects",
    "methods": "mathematics",
    "_reading": "ground",
}
WIDTH, TOP = 760, 66
LEFT, RIGHT = 136, 696  # of the boxes
BAND_LEFT, BAND_RIGHT = 12, 722  # of the groups behind them
HEIGHT, LINE = 30, 15  # of a box in one line, and of each further line
GAP, INSET, APART = 8, 9, 12  # between boxes, around those of a group, between groups
LANE = 15  # from the boxes to a dashed arrow that passes them
CHARACTER = 6.8  # width of a wide font at most
MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
INK, SOFT, FAINT, BAND = "#222222", "#555555", "#8a8a8a", "#f4f5f7"
PUBLIC = f'fill="#e3edf8" stroke="{BLUE}" stroke-width="1.5"'
PRIVATE = 'fill="#ffffff" stroke="#b4b8bd"'
LINES, DASHED = 'fill="none" stroke-width="1.6"', 'stroke-dasharray="5 3"'
TITLE = ' font-size="17" font-weight="600"'


@dataclass(frozen=True)
class Box:
    """A package and its place."""

    name: str
    left: float
    top: float
    width: float
    height: float
    lines: tuple[str, ...]  # of its phrase
    alone: bool  # in its row

    @property
    def middle(self) -> float:
        """Half of its height."""
        return self.top + self.height / 2


def contract() -> dict[str, Any]:
    """Return the contract on layers."""
    text = (FOLDER.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    return next(one for one in contracts if one["name"] == CONTRACT)


def rows(settings: dict[str, Any]) -> list[list[str]]:
    """Return the packages of each layer, from the top."""
    return [layer.split(" | ") for layer in settings["layers"]]


def upward(settings: dict[str, Any]) -> dict[str, list[str]]:
    """Return which packages above it a package imports, for those that do."""
    found: dict[str, list[str]] = {}
    for line in settings["ignore_imports"]:
        importer, imported = (module.split(".")[1] for module in line.split(" -> "))
        above = found.setdefault(importer, [])
        if imported not in above:
            above.append(imported)
    return found


def row_of_boxes(names: list[str], top: float) -> list[Box]:
    """Return boxes side by side, as high as the longest phrase needs."""
    width = (RIGHT - LEFT + GAP) / len(names) - GAP
    if len(names) == 1:
        return [Box(names[0], LEFT, top, width, HEIGHT, (PHRASES[names[0]],), alone=True)]
    fits = int((width - 14) / CHARACTER)
    lines = [tuple(textwrap.wrap(PHRASES[name], fits)) for name in names]
    height = HEIGHT + 2 + LINE * max(map(len, lines))
    return [
        Box(name, LEFT + i * (width + GAP), top, width, height, lines[i], alone=False)
        for i, name in enumerate(names)
    ]


def placed(layers: list[list[str]]) -> tuple[dict[str, Box], list[tuple[str, float, float]]]:
    """Return the boxes by name, and for each group its label, top and end."""
    boxes: dict[str, Box] = {}
    groups: list[tuple[str, float, float]] = []
    y = TOP - APART - INSET + GAP
    for names in layers:
        if names[0] in GROUPS:
            y += INSET - GAP + APART + INSET
            groups.append((GROUPS[names[0]], y - INSET, y))
        row = row_of_boxes(names, y)
        boxes.update((box.name, box) for box in row)
        y = row[0].top + row[0].height
        groups[-1] = (*groups[-1][:2], y + INSET)
        y += GAP
    return boxes, groups


def written(x: float, y: float, words: str, *, colour: str = SOFT, more: str = "") -> str:
    """Return words that begin at a place."""
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}"{more}>{escape(words)}</text>'


def rectangle(left: float, top: float, width: float, height: float, look: str) -> str:
    """Return a rectangle with round corners."""
    size = f'width="{width:g}" height="{height:g}"'
    return f'<rect x="{left:g}" y="{top:g}" {size} rx="4" {look}/>'


def drawn_box(box: Box) -> str:
    """Return a package with its name and phrase."""
    private = box.name.startswith("_")
    colour, weight = (SOFT, 400) if private else (INK, 700)
    font = f' font-size="13" font-family="{MONO}" font-weight="{weight}"'
    x, y = (box.left + 124, box.top + 20) if box.alone else (box.left + 9, box.top + 38)
    parts = [
        rectangle(box.left, box.top, box.width, box.height, PRIVATE if private else PUBLIC),
        written(box.left + 9, box.top + 20, box.name, colour=colour, more=font),
        *(written(x, y + LINE * i, line) for i, line in enumerate(box.lines)),
    ]
    return "".join(parts)


def drawn_group(label: str, top: float, end: float) -> str:
    """Return what lies behind the boxes of a group, with its label."""
    behind = rectangle(BAND_LEFT, top, BAND_RIGHT - BAND_LEFT, end - top, f'fill="{BAND}"')
    return behind + written(BAND_LEFT + 10, top + INSET + 20, label, more=' font-size="13"')


def exception(path: str) -> str:
    """Return the dashed arrow of an import that points up."""
    return f'<path d="{path}" {LINES} stroke="{ORANGE}" {DASHED} marker-end="url(#up)"/>'


def beside(importer: Box, imported: Box, *, on_the_left: bool) -> str:
    """Return the way up from one box to another, beside the boxes between them."""
    edge, side = (LEFT, -1) if on_the_left else (RIGHT, 1)
    start = f"M{edge} {importer.middle:g}H{edge + side * LANE}"
    if imported.alone:
        return f"{start}V{imported.middle:g}H{edge + 2 * side}"
    below = imported.top + imported.height  # on to its lower edge, between two groups
    middle = imported.left + imported.width / 2
    return f"{start}V{below + INSET + APART / 2:g}H{middle:g}V{below + 2:g}"


def head(name: str, colour: str) -> str:
    """Return the head of an arrow."""
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8Z" fill="{colour}"/>'
        "</marker>"
    )


def downward(bottom: float) -> str:
    """Return the long arrow beside all groups, with its words."""
    x, y = (BAND_RIGHT + WIDTH) / 2, (TOP + bottom) / 2
    path = f"M{x:g} {TOP}V{y - 66:g}M{x:g} {y + 66:g}V{bottom:g}"
    turned = f'transform="translate({x - 4:g} {y:g}) rotate(90)" text-anchor="middle"'
    return (
        f'<path d="{path}" {LINES} stroke="{FAINT}" marker-end="url(#down)"/>'
        f'<text {turned} fill="{SOFT}">imports point down</text>'
    )


def legend(y: float) -> list[str]:
    """Return what arrows and colours mean."""
    x = BAND_LEFT
    called = (
        "imported when a method is called, so that cal.control(…) and test.decide_frame(frame) work"
    )
    return [
        exception(f"M{x} {y + 7:g}H{x + 32}"),
        written(x + 42, y + 11, called),
        rectangle(x, y + 23, 32, 14, PUBLIC),
        written(x + 42, y + 34, "public"),
        rectangle(x + 100, y + 23, 32, 14, PRIVATE),
        written(x + 142, y + 34, "private"),
    ]


def picture(settings: dict[str, Any]) -> str:
    """Return the picture of a contract on layers."""
    boxes, groups = placed(rows(settings))
    bottom = groups[-1][2]
    height = bottom + 62
    below = "A package imports only from the rows below its own, except along the dashed arrows."
    exceptions = [
        exception(beside(boxes[importer], boxes[name], on_the_left=i % 2 == 0))
        for i, (importer, above) in enumerate(upward(settings).items())
        for name in above
    ]
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
            'font-family="system-ui, sans-serif" font-size="12">'
        ),
        f"<defs>{head('up', ORANGE)}{head('down', FAINT)}</defs>",
        f'<rect width="{WIDTH}" height="{height:g}" fill="#ffffff"/>',
        written(BAND_LEFT, 26, "The packages of ratekeeper", colour=INK, more=TITLE),
        written(BAND_LEFT, 47, below, more=' font-size="13"'),
        *(drawn_group(*group) for group in groups),
        *map(drawn_box, boxes.values()),
        *exceptions,
        downward(bottom),
        *legend(bottom + 14),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Write the picture."""
    (FOLDER / "packages.svg").write_text(picture(contract()), encoding="utf-8")


if __name__ == "__main__":
    main()
