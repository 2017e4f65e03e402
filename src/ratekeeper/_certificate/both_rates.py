"""The certificate of a test of both rates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ratekeeper import _markup as markup
from ratekeeper._certificate.one_rate import POOLED, filled, finite, named
from ratekeeper._formatting import exact_percent

if TYPE_CHECKING:
    from ratekeeper._certificate.one_rate import Certificate
    from ratekeeper._rates import Rate

_BOTH = (
    "The test abstains where both classes remain possible, so that each rate can keep its own "
    "level; an abstention is no error, and neither class where both are ruled out counts as one. "
    "Each promise stands by itself, with its own chance to fail"
)


@dataclass(frozen=True)
class JointCertificate:
    """What a test of both rates promises for each, and its price: abstention.

    Attributes
    ----------
    fnr, fpr : Certificate
        Those of the two tests it consists of. Their prices are those of either test alone.
    abstained : dict of Rate
        How often the joint test abstains on the calibration objects of each class.
    """

    fnr: Certificate
    fpr: Certificate
    abstained: dict[str, Rate]

    def to_dict(self) -> dict[str, Any]:
        """Return all facts of both as plain Python values."""
        abstained = {name: rate.to_dict() for name, rate in self.abstained.items()}
        return {"fnr": self.fnr.to_dict(), "fpr": self.fpr.to_dict(), "abstained": abstained}

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(finite(self.to_dict()), indent=2, allow_nan=False)

    @property
    def _about_both(self) -> str:
        delta = self.fnr.delta
        if delta is None:
            return f"{_BOTH}."
        return f"{_BOTH}: that either fails has probability up to {min(1.0, 2 * delta):g}."

    @property
    def _about_groups(self) -> list[str]:
        """What is said about groups, by rate; their prices are those of either test alone."""
        return [
            f"{part.control.upper()}: {text}"
            for part in (self.fnr, self.fpr)
            for text in part._about_groups(with_price=False)  # noqa: SLF001
        ]

    @property
    def _remarks(self) -> list[str]:
        return [
            f"{part.control.upper()}: {remark}"
            for part in (self.fnr, self.fpr)
            for remark in part._remarks  # noqa: SLF001
        ]

    @property
    def _laws(self) -> list[str]:
        return [
            f"{part.control.upper()}:{part._law_text(cell)}"  # noqa: SLF001
            for part in (self.fnr, self.fpr)
            for cell in part.cells
            if cell.realised is not None
        ]

    def __repr__(self) -> str:
        return f"JointCertificate of\n{self.fnr!r}\n{self.fpr!r}"

    def _repr_html_(self) -> str:
        rules = [
            [cell.condition + POOLED if cell.pooled else cell.condition for cell in pair]
            for pair in zip(self.fnr.cells, self.fpr.cells, strict=True)
        ]
        groups = [cell.group for cell in self.fnr.cells]
        laws = self._laws if groups[0] is None else []
        notes = [self._about_both, *laws, *self._about_groups, *self._remarks]
        abstained = [(f"Abstains on {name}s", str(rate)) for name, rate in self.abstained.items()]
        promises = [f"{p.control.upper()} ≤ {exact_percent(p.alpha)}" for p in (self.fnr, self.fpr)]
        facts = []
        for promise, part in zip(promises, (self.fnr, self.fpr), strict=True):
            (_, meaning), *others = map(named, part._promise()[1:])  # noqa: SLF001
            facts.append(markup.facts([(promise, meaning), *others]))
        return markup.card(
            f"Certificate: {' and '.join(promises)}",
            [
                *facts,
                markup.by_group(
                    None if groups[0] is None else groups,
                    ("positive remains possible if", "negative is ruled out if"),
                    rules,
                ),
                *markup.unpromised("fnr", self.fnr.pooled_groups),
                *markup.unpromised("fpr", self.fpr.pooled_groups),
                *map(markup.note, notes),
                markup.facts([*abstained, *map(named, self.fnr._ground())]),  # noqa: SLF001
            ],
        )

    def __str__(self) -> str:
        rules = [
            f"{self.fnr._where(one)}: positive remains possible if {one.condition}"  # noqa: SLF001
            f"{POOLED if one.pooled else ''}; negative is ruled out if {two.condition}"
            f"{POOLED if two.pooled else ''}."
            for one, two in zip(self.fnr.cells, self.fpr.cells, strict=True)
        ]
        paragraphs = [
            *self.fnr._promise(),  # noqa: SLF001
            *self.fpr._promise(),  # noqa: SLF001
            self._about_both,
            *rules,
            *self._laws,
            *self._about_groups,
            *self._remarks,
            (
                f"Price: it abstains on {self.abstained['negative']} of the negative and "
                f"{self.abstained['positive']} of the positive calibration objects."
            ),
            *self.fnr._ground(),  # noqa: SLF001
        ]
        return filled(paragraphs)
