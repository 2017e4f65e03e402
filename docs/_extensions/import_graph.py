"""The directive ``import-graph``: who imports whom, read from the code when the site is built.

Rows are the layers of the contract in pyproject.toml, boxes the modules of the package, lines their
imports. Without JavaScript it is a picture and a list; with it, a module that is pointed at or
reached with the keyboard shows its own imports alone.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import grimp
from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CONTRACT = ROOT / "pyproject.toml"
SOURCE = ROOT / "src" / "ratekeeper"
WIDTH = 720
LEFT = 34  # where the first box of a row begins, behind the number of the layer
CHARACTER, PADDING, HEIGHT = 7.3, 12, 20
GAP, WRAPPED, APART = 6, 24, 32  # between boxes, lines of one layer, layers
GOLDEN = 0.618  # steps of this, modulo 1, spread well


@dataclass(frozen=True)
class Graph:
    """The layers from the top, the imports between their modules, and three numbers."""

    layers: tuple[tuple[str, ...], ...]
    imports: frozenset[tuple[str, str]]
    n_modules: int
    n_imports: int
    n_lines: int

    @property
    def names(self) -> list[str]:
        """All modules that stand in a layer, from the top."""
        return [name for layer in self.layers for name in layer]

    def below(self, name: str) -> list[str]:
        """Return what a module imports, from the top."""
        return [other for other in self.names if (name, other) in self.imports]

    def above(self, name: str) -> list[str]:
        """Return what imports a module, from the top."""
        return [other for other in self.names if (other, name) in self.imports]


def sources() -> list[Path]:
    """Return the files of the package."""
    return sorted(SOURCE.rglob("*.py"))


def layers_of(contract: Path) -> tuple[tuple[tuple[str, ...], ...], set[str]]:
    """Return the layers of the package, from the top, and what the contract leaves out."""
    settings = tomllib.loads(contract.read_text(encoding="utf-8"))["tool"]["importlinter"]
    found = [one for one in settings["contracts"] if one.get("containers") == ["ratekeeper"]]
    if len(found) != 1:
        raise ExtensionError(f"{contract.name} has {len(found)} contracts on layers of the package")
    layers = (tuple(map(str.strip, re.split(r"[|:]", line))) for line in found[0]["layers"])
    return tuple(layers), set(found[0].get("exhaustive_ignores", ()))


def read_graph(contract: Path = CONTRACT) -> Graph:
    """Read layers and imports; fail if a module has no layer, or an import does not point down."""
    layers, ignored = layers_of(contract)
    graph = grimp.build_graph("ratekeeper", exclude_type_checking_imports=True, cache_dir=None)
    place = {name: row for row, layer in enumerate(layers) for name in layer}
    there = {module.split(".")[1] for module in graph.modules if "." in module} - ignored
    for wrong, what in (
        (there - place.keys(), "stand in no layer of the contract"),
        (place.keys() - there, "have a layer and do not exist"),
    ):
        if wrong:
            raise ExtensionError(f"Modules of ratekeeper that {what}: {', '.join(sorted(wrong))}")
    imports = set()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            pair = *importer.split(".")[1:2], *imported.split(".")[1:2]
            if len(pair) == 2 and pair[0] != pair[1] and place.keys() >= set(pair):
                imports.add(pair)
    upward = [pair for pair in imports if place[pair[0]] >= place[pair[1]]]
    if upward:
        raise ExtensionError(f"Imports that do not point down: {sorted(upward)}")
    n_lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in sources())
    return Graph(layers, frozenset(imports), len(graph.modules), graph.count_imports(), n_lines)


def shown(name: str) -> str:
    """Return a module as the text writes it: a package ends with a slash."""
    return f"{name}/" if (SOURCE / name).is_dir() else name


def placed(graph: Graph) -> tuple[dict[str, tuple[float, float, float]], list[float], float]:
    """Return left, top and width of each box, the top of each layer, and the height of all.

    Lines of boxes begin at different places, so that imports of lone modules do not run together.
    """
    boxes, tops, y, n_lines = {}, [], 4.0, 0
    for layer in graph.layers:
        tops.append(y)
        lines: list[list[str]] = [[]]
        for name in layer:
            if lines[-1] and _width([*lines[-1], name]) > WIDTH - LEFT:
                lines.append([])
            lines[-1].append(name)
        for line in lines:
            x = LEFT + (WIDTH - LEFT - _width(line)) * (n_lines * GOLDEN % 1.0)
            for name in line:
                boxes[name] = round(x), y, _width([name])
                x += _width([name]) + GAP
            y += WRAPPED
            n_lines += 1
        y += APART - WRAPPED
    return boxes, tops, y - APART + HEIGHT + 4


def _width(line: list[str]) -> float:
    """Return how wide boxes side by side are."""
    return sum(CHARACTER * len(shown(name)) + PADDING + GAP for name in line) - GAP


def drawing(graph: Graph) -> str:
    """Return the picture: layers as rows, modules as boxes, imports as lines behind them."""
    boxes, tops, height = placed(graph)
    number = {name: i for i, name in enumerate(graph.names)}
    rows = [
        f'<text class="row" x="{LEFT - 8}" y="{y + 14:g}">{i}</text>' for i, y in enumerate(tops, 1)
    ]
    lines = []
    for one, other in sorted(graph.imports, key=lambda pair: (number[pair[0]], number[pair[1]])):
        (left, top, width), (left_2, top_2, width_2) = boxes[one], boxes[other]
        x, y, x_2 = round(left + width / 2), top + HEIGHT, round(left_2 + width_2 / 2)
        middle = round((y + top_2) / 2)
        lines.append(
            f'<path data-a="{number[one]}" data-b="{number[other]}" '
            f'd="M{x} {y:g}C{x} {middle} {x_2} {middle} {x_2} {top_2:g}"/>'
        )
    marks = [
        f'<g class="module{"" if name[0] == "_" else " public"}" data-name="{escape(shown(name))}">'
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{HEIGHT}" rx="4"/>'
        f'<text x="{x + width / 2:g}" y="{y + 14:g}">{escape(shown(name))}</text></g>'
        for name, (x, y, width) in boxes.items()
    ]
    words = (
        f"{len(graph.layers)} rows of modules. Every import points from a row to one further down. "
        "The list below has the same as text."
    )
    named = 'aria-labelledby="import-graph-title" aria-describedby="import-graph-words"'
    return "\n".join(
        [
            f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" {named}>',
            '<title id="import-graph-title">Layers and imports of the package</title>',
            f'<desc id="import-graph-words">{words}</desc>',
            *rows,
            f'<g class="lines">{"".join(lines)}</g>',
            *marks,
            "</svg>",
        ]
    )


def listed(graph: Graph) -> str:
    """Return the same as a list, for those who do not see the picture."""

    def names(found: list[str]) -> str:
        return ", ".join(f"<code>{escape(shown(name))}</code>" for name in found) or "nothing"

    items = [
        f"<li><code>{escape(shown(name))}</code> imports {names(graph.below(name))}</li>"
        for name in graph.names
    ]
    return f"<details><summary>The same as a list</summary><ul>{''.join(items)}</ul></details>"


def figure(graph: Graph) -> str:
    """Return all of it as HTML."""
    style, script = (
        (HERE / f"import_graph.{kind}").read_text(encoding="utf-8") for kind in ("css", "js")
    )
    facts = (
        f"{graph.n_modules:,} modules and packages in {len(graph.layers)} layers, "
        f"{graph.n_imports:,} imports between them, {graph.n_lines:,} lines of Python. "
        f"The picture joins what lies inside a package: {len(graph.names)} boxes, "
        f"{len(graph.imports):,} lines."
    )
    return "\n".join(
        [
            f"<style>{style}</style>",
            '<figure class="import-graph">',
            '<p class="chosen" aria-live="polite" hidden></p>',
            '<div class="picture" tabindex="0" role="group" aria-label="Import graph">',
            drawing(graph),
            "</div>",
            f"<figcaption>{facts}</figcaption>",
            listed(graph),
            "</figure>",
            f"<script>{script}</script>",
        ]
    )


class ImportGraph(SphinxDirective):
    """Shows the graph; the page is made again when the contract or the code changes."""

    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        """Return the figure."""
        parts = (HERE / f"import_graph.{kind}" for kind in ("css", "js"))
        for path in (CONTRACT, *parts, *sources()):
            self.env.note_dependency(str(path))
        return [nodes.raw("", figure(read_graph()), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("import-graph", ImportGraph)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
