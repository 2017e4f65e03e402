"""Errors counted on labelled new objects, beside the promise.

Counts add up: a `Tally` of each batch, their sum, and then what it says about the promise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper import _markup as markup
from ratekeeper._formatting import exact_percent, percent
from ratekeeper._rates import Rate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._decisions import Decisions
    from ratekeeper._rates import Control, Verdict

Pair = tuple[int, int]

_NOTHING = (0, 0)


@dataclass(frozen=True)
class Tally:
    """What was decided on labelled objects, counted by true class: negatives, positives.

    Parameters
    ----------
    negative, positive, abstained, neither : tuple of two int
        How many true negatives and how many true positives were so decided.

    Examples
    --------
    >>> one = Tally(negative=(90, 4), positive=(10, 96))
    >>> two = one + one
    >>> two.n, two.misses.errors, two.alarms.rate
    ((200, 200), 8, 0.1)
    """

    negative: Pair = _NOTHING
    positive: Pair = _NOTHING
    abstained: Pair = _NOTHING
    neither: Pair = _NOTHING

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            _sum(self.negative, other.negative),
            _sum(self.positive, other.positive),
            _sum(self.abstained, other.abstained),
            _sum(self.neither, other.neither),
        )

    @property
    def n(self) -> Pair:
        """Number of true negatives and of true positives."""
        decided = _sum(self.negative, self.positive)
        return _sum(decided, _sum(self.abstained, self.neither))

    @property
    def misses(self) -> Rate:
        """The FNR: positives that were decided negative or neither."""
        return Rate(self.negative[1] + self.neither[1], self.n[1])

    @property
    def alarms(self) -> Rate:
        """The FPR: negatives that were decided positive or neither."""
        return Rate(self.positive[0] + self.neither[0], self.n[0])

    def against(self, control: Control, promised: float | None) -> Evaluation:
        """Compare with the promise about one rate; None if nothing is promised."""
        if control == "fnr":
            return Evaluation(control, promised, self.misses, self.alarms)
        return Evaluation(control, promised, self.alarms, self.misses)

    def against_both(
        self, promised_fnr: float | None, promised_fpr: float | None
    ) -> JointEvaluation:
        """Compare with the promises about both rates."""
        return JointEvaluation(
            self.against("fnr", promised_fnr),
            self.against("fpr", promised_fpr),
            abstained=_by_class(self.abstained, self.n),
            neither=_by_class(self.neither, self.n),
        )


def count(
    decisions: Decisions,
    is_positive: NDArray[np.bool_],
    index: NDArray[np.intp] | None = None,
    n_groups: int = 1,
) -> list[Tally]:
    """Count decisions by true class, and by group if the index of each object's group is given.

    Parameters
    ----------
    decisions : Decisions
        One for each object.
    is_positive : ndarray of bool
        The true class of each.
    index : ndarray of int, optional
        Each one's group, 0 to ``n_groups - 1``.
    n_groups : int, default=1
        Length of the result.

    Returns
    -------
    list of Tally
        One for each group; they add up to that of all objects.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40))
    >>> decisions = cal.control("fnr", 0.05).decide([0.1, 0.9, 0.2])
    >>> count(decisions, np.array([False, True, True]))
    [Tally(negative=(1, 1), positive=(0, 1), abstained=(0, 0), neither=(0, 0))]
    """
    # One small code for each object: group, then true class, then what was decided.
    code = is_positive.astype(np.intp) if index is None else 2 * index + is_positive
    code = 4 * code + decisions.positive
    if decisions.can_abstain:
        code = code + 2 * decisions.abstained + 3 * decisions.neither
    cells = np.bincount(code, minlength=8 * n_groups).reshape(n_groups, 2, 4).tolist()
    return [Tally(*zip(negatives, positives, strict=True)) for negatives, positives in cells]


@dataclass(frozen=True)
class Evaluation:
    """Errors counted on labelled new objects, beside the promise.

    Attributes
    ----------
    control : {"fnr", "fpr"}
        The controlled rate.
    promised : float or None
        Its promised level. None if nothing is promised: in a group that has only the threshold of
        all, and over all groups if there is such a one.
    target, other : Rate
        The controlled error and the other one, as counted, with exact intervals.
    """

    control: Control
    promised: float | None
    target: Rate
    other: Rate

    @property
    def parts(self) -> tuple[Evaluation, ...]:
        """The rates that are compared with a promise: this one; a `JointEvaluation` has two."""
        return (self,)

    @property
    def verdict(self) -> Verdict:
        """What the interval says about the promise: "kept", "in line" or "exceeded".

        "unknown" without objects, "no promise" where nothing is promised.
        """
        return "no promise" if self.promised is None else self.target.against(self.promised)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        return {
            "control": self.control,
            "promised": self.promised,
            "verdict": self.verdict,
            "target": {"name": self.control, **self.target.to_dict()},
            "other": {"name": self._other, **self.other.to_dict()},
        }

    @property
    def _other(self) -> str:
        return "fpr" if self.control == "fnr" else "fnr"

    def __repr__(self) -> str:
        return f"{_beside_promise(self)}; {self._other.upper()} {self.other}"

    def _repr_html_(self) -> str:
        rows = [_row(self), [self._other.upper(), *_counted(self.other), "", ""]]
        return _card(rows, [self])


@dataclass(frozen=True)
class JointEvaluation:
    """Errors and abstentions of a test of both rates on labelled new objects.

    Attributes
    ----------
    fnr, fpr : Evaluation
        Each rate beside its promise. A positive decided negative or neither is missed, a negative
        decided positive or neither is a false alarm; an abstention is no error.
    abstained, neither : dict of Rate
        How often the test abstained, and how often it ruled out both classes, on the "negative"
        and on the "positive" objects.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 2000)
    >>> scores = rng.normal(2 * labels)
    >>> test = rk.calibrate(scores[:1000], labels[:1000]).control_both(0.05, 0.05)
    >>> test.evaluate(scores[1000:], labels[1000:])
    FNR 4.74% (3.06% to 6.98%), promised 5%: in line
    FPR 4.45% (2.81% to 6.67%), promised 5%: in line
    abstained on 27.53% of the negatives, 37.55% of the positives; neither: 0.00%, 0.00%
    """

    fnr: Evaluation
    fpr: Evaluation
    abstained: dict[str, Rate]
    neither: dict[str, Rate]

    @property
    def parts(self) -> tuple[Evaluation, ...]:
        """The rates that are compared with a promise."""
        return self.fnr, self.fpr

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        return {
            "fnr": self.fnr.to_dict(),
            "fpr": self.fpr.to_dict(),
            "abstained": {name: rate.to_dict() for name, rate in self.abstained.items()},
            "neither": {name: rate.to_dict() for name, rate in self.neither.items()},
        }

    def __repr__(self) -> str:
        abstained, neither = (
            [_share(rates[name]) for name in ("negative", "positive")]
            for rates in (self.abstained, self.neither)
        )
        return (
            f"{_beside_promise(self.fnr)}\n{_beside_promise(self.fpr)}\n"
            f"abstained on {abstained[0]} of the negatives, {abstained[1]} of the positives; "
            f"neither: {neither[0]}, {neither[1]}"
        )

    def _repr_html_(self) -> str:
        rows = [_row(self.fnr), _row(self.fpr)]
        for what, rates in (("abstained", self.abstained), ("neither", self.neither)):
            for name, rate in rates.items():
                rows.append([f"{what}, {name}s", *_counted(rate), "", ""])
        return _card(rows, [self.fnr, self.fpr])


_HEAD = ("", "counted", "rate", "95% interval", "promised", "verdict")
_NUMBERS = (1, 2, 3, 4)


def _beside_promise(evaluation: Evaluation) -> str:
    text = f"{evaluation.control.upper()} {evaluation.target}, "
    if evaluation.promised is None:
        return text + evaluation.verdict
    text += f"promised {exact_percent(evaluation.promised)}"
    return f"{text}: {evaluation.verdict}" if evaluation.target.n else text


def _card(rows: list[list[str]], parts: list[Evaluation]) -> str:
    verdicts = [part.verdict for part in parts if part.target.n and part.promised is not None]
    found = markup.table(_HEAD, rows, numbers=_NUMBERS)
    return markup.card("Evaluation", [found, *markup.meaning(verdicts)])


def _row(evaluation: Evaluation) -> list[str]:
    if evaluation.promised is None:
        return [evaluation.control.upper(), *_counted(evaluation.target), "nothing", ""]
    promised = f"≤ {exact_percent(evaluation.promised)}"
    verdict = markup.verdict(evaluation.verdict) if evaluation.target.n else ""
    return [evaluation.control.upper(), *_counted(evaluation.target), promised, verdict]


def _counted(rate: Rate) -> list[str]:
    low, high = rate.interval
    return [
        f"{rate.errors:,} of {rate.n:,}",
        _share(rate),
        f"{percent(low)} to {percent(high)}",
    ]


def _share(rate: Rate) -> str:
    return percent(rate.rate) if rate.n else "unknown"


def _sum(one: Pair, two: Pair) -> Pair:
    return one[0] + two[0], one[1] + two[1]


def _by_class(counts: Pair, n: Pair) -> dict[str, Rate]:
    return {"negative": Rate(counts[0], n[0]), "positive": Rate(counts[1], n[1])}
