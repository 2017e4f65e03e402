"""The certificate of a test of one rate."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ratekeeper import _markup as markup
from ratekeeper._formatting import exact_percent, percent

if TYPE_CHECKING:
    from ratekeeper._provenance import Provenance
    from ratekeeper._rates import Rate, RealisedRate
    from ratekeeper.methods import Guarantee

Origin = Literal["held out", "cross-fitted"]

_ORIGINS: dict[Origin, str] = {
    "held out": "The calibration objects were not used to train, tune or select the classifier.",
    "cross-fitted": (
        "Each calibration object was scored by a model that had not seen it, and the deployed "
        "model, trained on all of them, scores new objects alike: this is only approximate."
    ),
}
_SAME_POPULATION = (
    "New objects come from the same population as the calibration objects (exchangeable)."
)
_SAME_SCORER: dict[Origin, str] = {
    "held out": (
        "New objects are scored by the same model, code and number type as the calibration objects."
    ),
    "cross-fitted": "New objects are scored by the same code and number type.",
}
_WIDTH = 79
POOLED = " (threshold of all groups: nothing is promised here)"


@dataclass(frozen=True)
class Cell:
    """One threshold of a test: for everybody, or for one group.

    Attributes
    ----------
    group : object
        The group, None for everybody.
    pooled : bool
        True if the group has too few scores of its own and is judged by the threshold of all, so
        that nothing is promised about the rate inside the group.
    n : dict
        Number of calibration scores in this cell: ``{"null": ..., "other": ...}``; the null class
        is the one whose error is controlled.
    threshold : float or None
        None for a randomised method.
    condition : str
        When a new object is called positive.
    rule : str
        The decision in words.
    tied : bool
        Whether calibration scores of the null class are tied; the law of the true rate is then
        an upper bound.
    realised : RealisedRate or None
        Law of the true rate, for rank methods; None for a pooled group.
    other_error : Rate
        The other error, estimated on the calibration objects of the other class.
    remark : str or None
        What the method says about its fit.
    """

    group: object
    pooled: bool
    n: dict[str, int]
    threshold: float | None
    condition: str
    rule: str
    tied: bool
    realised: RealisedRate | None
    other_error: Rate
    remark: str | None


@dataclass(frozen=True)
class Certificate:
    """What a test promises, on what data, and at what cost in the other error.

    Prints as a readable text; `to_dict` and `to_json` give the same facts to machines.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100))
    >>> certificate = cal.control("fnr", alpha=0.05).certificate
    >>> certificate.to_dict()["guarantee"]["kind"]
    'marginal'
    """

    control: str
    alpha: float
    method: str
    delta: float | None
    guarantee: Guarantee
    positive_label: object
    negative_label: object
    higher_is_positive: bool
    n: dict[str, int]
    origin: Origin
    cells: tuple[Cell, ...]
    other_error: Rate
    score_type: str
    data_hash: str
    version: str
    provenance: Provenance | None = None

    @property
    def pooled_groups(self) -> tuple[object, ...]:
        """Groups that are judged by the threshold of all, and are promised nothing."""
        return tuple(cell.group for cell in self.cells if cell.pooled)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promise needs and nobody can check from the scores alone."""
        return (_ORIGINS[self.origin], _SAME_POPULATION, _SAME_SCORER[self.origin])

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values that JSON can write."""
        return {
            "control": self.control,
            "alpha": self.alpha,
            "method": self.method,
            "delta": self.delta,
            "guarantee": {
                "kind": self.guarantee.kind,
                "promise": self.guarantee.promise,
                "condition": self.guarantee.condition,
                "not_covered": self.guarantee.not_covered,
            },
            "positive_label": self.positive_label,
            "negative_label": self.negative_label,
            "higher_is_positive": self.higher_is_positive,
            "n": self.n,
            "cells": [self._cell_dict(cell) for cell in self.cells],
            "pooled_groups": list(self.pooled_groups),
            "other_error": {"name": self._other, **self.other_error.to_dict()},
            "score_type": self.score_type,
            "data_hash": self.data_hash,
            "origin": self.origin,
            "assumptions": list(self.assumptions),
            "provenance": self.provenance and self.provenance.to_dict(),
            "version": self.version,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON text. Infinite thresholds are written as strings."""
        return json.dumps(finite(self.to_dict()), indent=2, allow_nan=False)

    @property
    def _other(self) -> str:
        return "fpr" if self.control == "fnr" else "fnr"

    def _cell_dict(self, cell: Cell) -> dict[str, Any]:
        law = cell.realised
        return {
            "group": cell.group,
            "pooled": cell.pooled,
            "n": cell.n,
            "threshold": cell.threshold,
            "rule": cell.rule,
            "tied": cell.tied,
            "realised_rate": law
            and {
                "law": f"Beta({law.k}, {law.n + 1 - law.k})",
                "mean": law.mean,
                "low": law.interval[0],
                "high": law.interval[1],
                "probability_above_alpha": law.exceeds(self.alpha),
            },
            "other_error": {"name": self._other, **cell.other_error.to_dict()},
            "remark": cell.remark,
        }

    def __str__(self) -> str:
        paragraphs = [
            *self._promise(),
            *(self._cell_text(cell) for cell in self.cells),
            *self._about_groups(),
            *self._ground(),
        ]
        return filled(paragraphs)

    def __repr__(self) -> str:
        return (
            f"Certificate of {self.control.upper()} <= {exact_percent(self.alpha)}, "
            f"{self.guarantee.kind}, by {self.method}; print() shows it whole"
        )

    def _repr_html_(self) -> str:
        facts = [*self._promise()[1:], *self._ground()]
        cells = self.cells
        head = ["scores", f"positive ({self.positive_label!r}) if", f"price: {self._other.upper()}"]
        rows = [[f"{cell.n['null']:,}", cell.condition, str(cell.other_error)] for cell in cells]
        notes = [*self._about_groups(), *self._remarks]
        if any(cell.realised for cell in cells):
            name, alpha = self.control.upper(), exact_percent(self.alpha)
            head += [f"true {name}, average", "5% to 95%", f"above {alpha}"]
            rows = [row + self._law_cells(cell) for row, cell in zip(rows, cells, strict=True)]
            notes += self._about_laws()
        groups = None if cells[0].group is None else [cell.group for cell in cells]
        return markup.card(
            f"Certificate: {self.control.upper()} ≤ {exact_percent(self.alpha)}",
            [
                markup.facts(map(named, facts)),
                markup.by_group(groups, head, rows, numbers=(0, 3, 4, 5)),
                *map(markup.note, notes),
            ],
        )

    @property
    def _remarks(self) -> list[str]:
        said = [cell for cell in self.cells if cell.remark]
        return [
            f"{self._where(c)}: {c.remark}" if c.group is not None else f"{c.remark}" for c in said
        ]

    def _law_cells(self, cell: Cell) -> list[str]:
        if cell.realised is None:
            return ["", "", ""]
        low, high = cell.realised.interval
        above = percent(cell.realised.exceeds(self.alpha))
        return [percent(cell.realised.mean), f"{percent(low)} to {percent(high)}", above]

    def _about_laws(self) -> list[str]:
        folds = " if the deployed model scored like those of the folds"
        bound = " These are upper bounds, since scores are tied."
        return [
            f"True {self.control.upper()}: over calibration sets of as many scores"
            + (folds if self.origin == "cross-fitted" else "")
            + "."
            + (bound if any(cell.tied for cell in self.cells) else "")
        ]

    def _promise(self) -> list[str]:
        meaning = {
            "fnr": f"positives ({self.positive_label!r}) that are called negative",
            "fpr": f"negatives ({self.negative_label!r}) that are called positive",
        }[self.control]
        about = "approximate, cross-fitted, " if self.origin == "cross-fitted" else ""
        return [
            f"CERTIFICATE  {self.control.upper()} <= {exact_percent(self.alpha)}",
            f"Controlled: the share of {meaning}. Method: {self.method}.",
            f"Promise ({about}{self.guarantee.kind}): {self.guarantee.promise}",
            f"It needs: {self.guarantee.condition}",
            f"Not covered: {self.guarantee.not_covered}",
        ]

    def _cell_text(self, cell: Cell) -> str:
        text = f"{self._where(cell)}: {cell.rule}.{self._law_text(cell)}"
        text += f" Price: {self._other.upper()} {cell.other_error}."
        return text + (f" {cell.remark}" if cell.remark else "")

    def _where(self, cell: Cell) -> str:
        if len(self.cells) == 1 and cell.group is None:
            return "Rule"
        return f"Group {cell.group!r} ({cell.n['null']:,} scores)"

    def _law_text(self, cell: Cell) -> str:
        law = cell.realised
        if law is None:
            return ""
        low, high = law.interval
        if self.origin == "cross-fitted":
            proviso = " If the deployed model scored like those of the folds, then over"
        else:
            proviso = " Over"
        bound = " These are upper bounds, since scores are tied." if cell.tied else ""
        return (
            f"{proviso} calibration sets of {law.n:,} such scores the true {self.control.upper()} "
            f"averages {percent(law.mean)}, lies between {percent(low)} and {percent(high)} in 90% "
            f"of them, and is above {exact_percent(self.alpha)} in "
            f"{percent(law.exceeds(self.alpha))}: Beta({law.k}, {law.n + 1 - law.k}).{bound}"
        )

    def _about_groups(self, *, with_price: bool = True) -> list[str]:
        texts = []
        if len(self.cells) > 1:
            if with_price:
                texts.append(f"Over all groups, {self._other.upper()}: {self.other_error}.")
            if self.delta is not None:
                own = len(self.cells) - len(self.pooled_groups)
                most = min(1.0, own * self.delta)
                texts.append(
                    "The promise is made for each group separately; that some group breaks it has "
                    f"probability up to {most:g}."
                )
        if self.pooled_groups:
            names = ", ".join(repr(group) for group in self.pooled_groups)
            texts.append(
                f"Only the pooled threshold, for lack of scores of their own: {names}. Nothing is "
                "promised about the rate in such a group, which can be far above alpha, nor about "
                "all groups together; the promise holds in the other groups."
            )
        return texts

    def _ground(self) -> list[str]:
        rows = self.provenance
        skips = " Nothing is promised about objects like the skipped ones."
        return [
            f"Assumed: {' '.join(self.assumptions)}",
            (
                f"Calibration: {self.n['negative']:,} negative and {self.n['positive']:,} positive "
                f"scores ({self.score_type}), data {self.data_hash[:16]}, ratekeeper "
                f"{self.version}."
            ),
            *([f"File: {rows}.{skips if rows.n_skipped else ''}"] if rows else []),
        ]


def named(paragraph: str) -> tuple[str, str]:
    """Split "Promise (marginal): On average ..." into its name and the rest."""
    name, _, words = paragraph.partition(": ")
    return name, words


def filled(paragraphs: list[str]) -> str:
    """Break paragraphs into lines that fit a terminal."""
    return "\n".join(textwrap.fill(text, _WIDTH, subsequent_indent="  ") for text in paragraphs)


def finite(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Write numbers that JSON does not know as text."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    return value
