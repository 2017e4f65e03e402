"""The certificate of a test: what is promised, on what data, and at what cost."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ratekeeper.rates import percent

if TYPE_CHECKING:
    from ratekeeper.methods import Guarantee
    from ratekeeper.rates import Rate, RealisedRate

Origin = Literal["held out", "cross-fitted"]

_ORIGINS: dict[Origin, str] = {
    "held out": "The calibration objects were not used to train, tune or select the classifier.",
    "cross-fitted": (
        "Each calibration object was scored by a model that had not seen it, and the deployed "
        "model, trained on all of them, scores new objects alike: this is only approximate."
    ),
}
_ALWAYS = (
    "New objects come from the same population as the calibration objects (exchangeable).",
    "New objects are scored by the same model, code and number type as the calibration objects.",
)
_WIDTH = 79


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
    rule : str
        The decision in words.
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
    rule: str
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

    @property
    def pooled_groups(self) -> tuple[object, ...]:
        """Groups that have only the promise made for an object drawn from everybody."""
        return tuple(cell.group for cell in self.cells if cell.pooled)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promise needs and nobody can check from the scores alone."""
        return (_ORIGINS[self.origin], *_ALWAYS)

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
            "version": self.version,
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON text. Infinite thresholds are written as strings."""
        return json.dumps(_finite(self.to_dict()), indent=2, allow_nan=False)

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
        meaning = {
            "fnr": f"positives ({self.positive_label!r}) that are called negative",
            "fpr": f"negatives ({self.negative_label!r}) that are called positive",
        }[self.control]
        about = "approximate, cross-fitted, " if self.origin == "cross-fitted" else ""
        paragraphs = [
            f"CERTIFICATE  {self.control.upper()} <= {percent(self.alpha)}",
            f"Controlled: the share of {meaning}. Method: {self.method}.",
            f"Promise ({about}{self.guarantee.kind}): {self.guarantee.promise}",
            f"Not covered: {self.guarantee.not_covered}",
            *(self._cell_text(cell) for cell in self.cells),
        ]
        if len(self.cells) > 1:
            paragraphs.append(f"Over all groups, {self._other.upper()}: {self.other_error}.")
        if self.pooled_groups:
            names = ", ".join(repr(group) for group in self.pooled_groups)
            paragraphs.append(
                f"Only the pooled promise, for lack of scores of their own: {names}. They are "
                "judged by the threshold of all groups together, whose promise is about an object "
                "drawn from everybody. The rate inside such a group is not promised and can be "
                "far above alpha."
            )
        paragraphs.append("Assumed: " + " ".join(self.assumptions))
        paragraphs.append(
            f"Calibration: {self.n['negative']:,} negative and {self.n['positive']:,} positive "
            f"scores ({self.score_type}), data {self.data_hash[:16]}, ratekeeper {self.version}."
        )
        return "\n".join(textwrap.fill(text, _WIDTH, subsequent_indent="  ") for text in paragraphs)

    def _cell_text(self, cell: Cell) -> str:
        everybody = len(self.cells) == 1 and cell.group is None
        where = "Rule" if everybody else f"Group {cell.group!r}"
        text = f"{where}: {cell.rule}."
        law = cell.realised
        if law is not None:
            low, high = law.interval
            text += (
                f" Over calibration sets of {law.n:,} such scores the true {self.control.upper()} "
                f"averages {percent(law.mean)}, lies between {percent(low)} and {percent(high)} in "
                f"90% of them, and is above {percent(self.alpha)} in "
                f"{percent(law.exceeds(self.alpha))}."
            )
        text += f" Price: {self._other.upper()} {cell.other_error}."
        return text + (f" {cell.remark}" if cell.remark else "")


@dataclass(frozen=True)
class JointCertificate:
    """The two certificates of a test that controls both rates."""

    fnr: Certificate
    fpr: Certificate

    def to_dict(self) -> dict[str, Any]:
        """Return all facts of both as plain Python values."""
        return {"fnr": self.fnr.to_dict(), "fpr": self.fpr.to_dict()}

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(_finite(self.to_dict()), indent=2, allow_nan=False)

    def __str__(self) -> str:
        joint = (
            "Both promises hold at once because the test abstains where both classes remain "
            "possible; an abstention is not counted as an error. Each promise has its own chance "
            "to fail."
        )
        return "\n\n".join([str(self.fnr), str(self.fpr), textwrap.fill(joint, _WIDTH)])


def _finite(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Write numbers that JSON does not know as text."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    return value
