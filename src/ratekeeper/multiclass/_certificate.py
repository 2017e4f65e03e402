"""What a test of several classes promises to each, on what data, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, format_value, percent, plain_value
from ratekeeper._wording._sentences import say, state
from ratekeeper.control._certificate import NO_PROMISE, Stated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ratekeeper._numerics._rates import Rate
    from ratekeeper._numerics._realised_rate import RealisedRate
    from ratekeeper._wording._sentences import Statement
    from ratekeeper.methods import Guarantee

_SHOWN = 20  # classes


@dataclass(frozen=True)
class ClassCell:
    """One class of a test.

    Attributes
    ----------
    label : object
        The class.
    alpha : float or None
        Its level; None for the last of ordered classes.
    n : int
        Number of its calibration objects.
    threshold : float or None
        The lowest score with which the class is in the set, or is called.
    realised : RealisedRate or None
        How the true rate is spread over calibration sets.
    others : float or None
        How many other classes stay in the set of an object of the class, on average.
    wrong : Rate or None
        Objects of the class that get a wrong label by force or, with ordered classes, one that is
        more severe.
    """

    label: Any
    alpha: float | None
    n: int
    threshold: float | None
    realised: RealisedRate | None
    others: float | None
    wrong: Rate | None


@dataclass(frozen=True, repr=False)
class MulticlassCertificate(Stated):
    """What is promised to each class, on what data, and what it costs.

    Attributes
    ----------
    cells : tuple of ClassCell
        Class by class; ordered classes with the most severe first.
    ordered : bool
        Whether the classes stand in order of severity.
    method, delta, guarantee, score_type, data_hash, version
        As in `Certificate`.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, 600)
    >>> cal = rk.multiclass.calibrate(rng.normal(2 * np.eye(3)[labels]), labels)
    >>> print(cal.control(0.1).certificate.headline)
    CERTIFICATE  each of 3 classes stays in its label set, but for at most 10% of its objects
    """

    cells: tuple[ClassCell, ...]
    ordered: bool
    method: str
    delta: float | None
    guarantee: Guarantee
    score_type: str
    data_hash: str
    version: str

    @property
    def headline(self) -> str:
        """What is promised, in a line."""
        n = f"{len(self.cells):,}"
        if self.ordered:
            return say("multiclass.headline.ordered", n=n)
        levels = {cell.alpha for cell in self.cells}
        key = "multiclass.headline.one" if len(levels) == 1 else "multiclass.headline.several"
        alpha = exact_percent(next(iter(levels)) or 0.0)
        share = say(key, alpha=alpha)
        return say("multiclass.headline", n=n, levels=share)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything that it says, paragraph by paragraph."""
        return tuple(self._statements())

    def _statements(self) -> Iterator[Statement]:
        kind = self.guarantee.kind
        key = "multiclass.controlled.ordered" if self.ordered else "multiclass.controlled"
        yield state("controlled", say(key, method=self.method))
        title = "promise.aim" if kind in NO_PROMISE else "promise"
        yield state("promise", self.guarantee.promise, title=title, kind=kind)
        yield state("needs", self.guarantee.condition)
        yield state("not_covered", self.guarantee.not_covered)
        for cell in self.cells[:_SHOWN]:
            yield state("rule", self._rule(cell))
        if len(self.cells) > _SHOWN:
            yield state("rule", say("multiclass.shown", shown=_SHOWN, n=f"{len(self.cells):,}"))
        promised = [cell for cell in self.cells if cell.alpha is not None]
        if self.delta is not None and len(promised) > 1:
            most = f"{min(1.0, len(promised) * self.delta):g}"
            facts = {"n": f"{len(promised):,}", "delta": f"{self.delta:g}", "most": most}
            yield state("levels", say("multiclass.together", **facts))
        if not self.ordered:
            yield state("price", say("multiclass.price"))
        yield state("assumed", say("multiclass.assumed"))
        sizes = ", ".join(f"{format_value(cell.label)}: {cell.n:,}" for cell in self.cells[:_SHOWN])
        sizes += ", ..." if len(self.cells) > _SHOWN else ""
        data = {"type": self.score_type, "hash": self.data_hash[:16], "version": self.version}
        n = f"{sum(cell.n for cell in self.cells):,}"
        yield state("data", say("multiclass.data", n=n, sizes=sizes, **data))

    def _rule(self, cell: ClassCell) -> str:
        label = format_value(cell.label)
        if cell.alpha is None:
            return say("multiclass.class.last", label=label, over=cell.wrong)
        facts = {"alpha": exact_percent(cell.alpha), "threshold": repr(cell.threshold)}
        if self.ordered:
            return say("multiclass.class.ordered", label=label, over=cell.wrong, **facts)
        # Without an interval: the objects are compared with each other.
        forced = "unknown" if cell.wrong is None else percent(cell.wrong.rate)
        others = f"{cell.others:.2f}"
        return say("multiclass.class", label=label, others=others, forced=forced, **facts)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values that JSON can write."""
        return {
            "headline": self.headline,
            "ordered": self.ordered,
            "method": self.method,
            "delta": self.delta,
            "guarantee": self.guarantee.to_dict(),
            "classes": [
                {
                    "label": plain_value(cell.label),
                    "alpha": cell.alpha,
                    "n": cell.n,
                    "threshold": cell.threshold,
                    "true_rate": None if cell.realised is None else cell.realised.interval,
                    "others": cell.others,
                    "wrong": None if cell.wrong is None else cell.wrong.to_dict(),
                }
                for cell in self.cells
            ],
            "score_type": self.score_type,
            "data_hash": self.data_hash,
            "version": self.version,
            "statements": [statement._asdict() for statement in self.statements],
        }

    def _cell_html(self) -> list[markup.Html]:
        price = "called more severe" if self.ordered else "others in the set"
        head = ["class", "objects", "at most", "score from", price]
        rows = [
            [
                markup.short(cell.label),
                f"{cell.n:,}",
                "no promise" if cell.alpha is None else exact_percent(cell.alpha),
                "" if cell.threshold is None else f"{cell.threshold:.6g}",
                str(cell.wrong) if self.ordered else f"{cell.others:.2f}",
            ]
            for cell in self.cells[:_SHOWN]
        ]
        table = markup.table(head, rows, numbers=(1, 2, 3))
        return [table, *markup.rest(len(rows), len(self.cells), "classes")]
