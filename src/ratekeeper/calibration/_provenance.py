"""Where the scores of a calibration come from: which columns, how many rows, what was left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ratekeeper._wording._formatting import escape_controls

if TYPE_CHECKING:
    from collections.abc import Mapping


COPIED = "a copy of another row"
"""Why a row was left out of which another one like it was kept."""


@dataclass(frozen=True)
class Rejection:
    """How many valid rows there were before some were kept, each with the chance weight / bound."""

    bound: float
    negative: int
    positive: int

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values."""
        return dict(vars(self))


@dataclass(frozen=True)
class Provenance:
    """The rows of a file that became a calibration.

    Attributes
    ----------
    rows : int
        How many were read.
    skipped : dict of str to int
        How many were left out on the user's demand, by reason, such as ``{"score is NaN": 2}``.
        Nothing is promised about such objects.
    score, label, group : str or None
        Names of the columns.
    sampled_from : tuple of two int, or None
        If only a random sample was kept: the number of valid negatives and positives.
    cluster : str or None
        Name of the column of clusters.
    time : str or None
        Name of the column of times.
    weight : str or None
        Name of the column of weights.
    rejection : Rejection or None
        If objects were kept at random, by their weights.

    Examples
    --------
    >>> rows = Provenance(rows=1_000, skipped={"score is NaN": 2}, score="risk", label="ill")
    >>> print(rows)
    1,000 rows read, 2 of them skipped (score is NaN: 2)
    """

    rows: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    score: str | None = None
    label: str | None = None
    group: str | None = None
    sampled_from: tuple[int, int] | None = None
    cluster: str | None = None
    time: str | None = None
    weight: str | None = None
    rejection: Rejection | None = None

    @property
    def n_skipped(self) -> int:
        """Number of rows that were left out."""
        return sum(self.skipped.values())

    def without_copies(self, n: int) -> Provenance:
        """Return the same with n more rows left out as copies of others.

        Examples
        --------
        >>> print(Provenance(10).without_copies(2))
        10 rows read, 2 of them skipped (a copy of another row: 2)
        """
        return replace(self, skipped={**self.skipped, COPIED: self.skipped.get(COPIED, 0) + n})

    def merge(self, other: Provenance) -> Provenance:
        """Return what is known of both sets of rows together; neither is a sample.

        Examples
        --------
        >>> print(Provenance(10, {"score is NaN": 1}).merge(Provenance(5)))
        15 rows read, 1 of them skipped (score is NaN: 1)
        """

        def same(one: str | None, two: str | None) -> str | None:
            return one if one == two else None

        return Provenance(
            rows=self.rows + other.rows,
            skipped=dict(Counter(self.skipped) + Counter(other.skipped)),
            score=same(self.score, other.score),
            label=same(self.label, other.label),
            group=same(self.group, other.group),
            cluster=same(self.cluster, other.cluster),
            time=same(self.time, other.time),
            weight=same(self.weight, other.weight),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values that JSON can write.

        Examples
        --------
        >>> Provenance(10).to_dict()["skipped"]
        {}
        """
        return {
            "rows": self.rows,
            "skipped": dict(self.skipped),
            "score": self.score,
            "label": self.label,
            "group": self.group,
            "sampled_from": None if self.sampled_from is None else list(self.sampled_from),
            **({} if self.cluster is None else {"cluster": self.cluster}),
            **({} if self.time is None else {"time": self.time}),
            **({} if self.weight is None else {"weight": self.weight}),
            **({} if self.rejection is None else {"rejection": self.rejection.to_dict()}),
        }

    @staticmethod
    def from_dict(facts: Mapping[str, Any]) -> Provenance:
        """Return what `to_dict` has written; raise `ValueError` if it is not that.

        Examples
        --------
        >>> Provenance.from_dict(Provenance(10).to_dict()) == Provenance(10)
        True
        """
        skipped, sampled = facts["skipped"], facts["sampled_from"]
        score, label, group = (facts[key] for key in ("score", "label", "group"))
        cluster, time, weight = (facts.get(key) for key in ("cluster", "time", "weight"))
        kept = facts.get("rejection")
        rejection = None if kept is None else Rejection(**kept)
        before = () if rejection is None else (rejection.negative, rejection.positive)
        counts = [facts["rows"], *skipped.values(), *(sampled or ()), *before]
        if (
            any(type(count) is not int or count < 0 for count in counts)
            or any(
                not isinstance(name, str | None)
                for name in [score, label, group, cluster, time, weight, *skipped]
            )
            or (sampled is not None and len(sampled) != 2)  # noqa: PLR2004 - two classes
        ):
            raise ValueError(f"not the provenance of a calibration: {facts}")
        pair = None if sampled is None else (sampled[0], sampled[1])
        names = score, label, group, pair, cluster, time, weight, rejection
        return Provenance(facts["rows"], dict(skipped), *names)

    def __str__(self) -> str:
        text = f"{self.rows:,} rows read"
        if self.n_skipped:
            text += f", {self.n_skipped:,} of them skipped ({reasons(self.skipped)})"
        if self.sampled_from is not None:
            negative, positive = self.sampled_from
            whole = f"{negative:,} negatives and {positive:,} positives"
            if self.label is None:  # all of one class, or of classes that nobody knows
                whole = f"{negative + positive:,}"
            text += f", a random sample kept of {whole}"
        if self.rejection is not None:
            text += f", some kept at random with the chance weight / {self.rejection.bound:g}"
        return text


def reasons(skipped: Mapping[str, int]) -> str:
    """Say why rows were left out, and how many for each reason.

    Examples
    --------
    >>> reasons({"score is NaN": 3, "label is missing": 1})
    'score is NaN: 3; label is missing: 1'
    """
    return "; ".join(f"{escape_controls(reason)}: {count:,}" for reason, count in skipped.items())
