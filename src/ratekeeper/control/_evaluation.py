"""Errors counted on labelled new objects, beside the promise.

Counts add up: a `Tally` of each batch, their sum, and then what it says about the promise. One
look at all rates and groups of a test calls a promise exceeded with probability at most 5% if
nothing has changed since calibration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._numerics._holm import holm
from ratekeeper._numerics._rates import Rate, beta_binomial_tail
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, format_value, percent
from ratekeeper._wording._sentences import say, verdicts_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._rates import Share, Verdict
    from ratekeeper.control._decisions import Decisions
    from ratekeeper.control._group_audit import GroupAudit

Pair = tuple[int, int]

_NOTHING = (0, 0)
_PRICES: dict[Share, Share] = {
    "fnr": "fpr",
    "fpr": "fnr",
    "fdr": "fnr",
    "for": "fpr",
    "selective_error": "undecided",
    "alert_share": "fnr",
}
N_OUTCOMES = 8  # true class and decision
FALSE_ALARMS = 0.05  # the most, over all rates and groups of one evaluation
_SHOWN = 8  # groups
_ENOUGH = 10  # objects, of which all alike are a sign of a test that tells nothing apart


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

    @property
    def all_called(self) -> str | None:
        """How objects of both classes were all decided, if all alike; of too few nobody can tell.

        "positive", "negative" or "undecided".
        """
        if min(self.n) == 0 or sum(self.n) < _ENOUGH:
            return None
        undecided = _sum(self.abstained, self.neither)
        calls = {"positive": self.positive, "negative": self.negative, "undecided": undecided}
        found = [name for name, counts in calls.items() if any(counts)]
        return found[0] if len(found) == 1 else None

    def rate(self, share: Share) -> Rate:
        """Return the share of this name."""
        miss, false_alarm = self.negative[1], self.positive[0]
        alerts, cleared, n = sum(self.positive), sum(self.negative), sum(self.n)
        counts: dict[Share, Pair] = {
            "fnr": (self.misses.errors, self.n[1]),
            "fpr": (self.alarms.errors, self.n[0]),
            "fdr": (false_alarm, alerts),
            "for": (miss, cleared),
            "selective_error": (miss + false_alarm, alerts + cleared),
            "alert_share": (alerts, n),
            "undecided": (n - alerts - cleared, n),
        }
        return Rate(*counts[share])

    def against(
        self,
        control: Share,
        promised: float | None,
        p_value: float | None = None,
        *,
        fixed: bool = False,
    ) -> Evaluation:
        """Put one rate beside its promise; None if nothing is promised."""
        counted = self.rate(control), self.rate(_PRICES[control])
        return Evaluation(control, promised, *counted, p_value, fixed, tally=self)

    def joined(self, parts: Sequence[Evaluation]) -> Evaluation | JointEvaluation:
        """Return the one evaluation, or both with what was left undecided."""
        if len(parts) == 1:
            return parts[0]
        fnr, fpr = parts
        return JointEvaluation(
            fnr,
            fpr,
            abstained=_by_class(self.abstained, self.n),
            neither=_by_class(self.neither, self.n),
            tally=self,
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
    >>> decisions = cal.control("fnr", 0.1).decide([0.1, 0.9, 0.2])
    >>> count(decisions, np.array([False, True, True]))
    [Tally(negative=(1, 1), positive=(0, 1), abstained=(0, 0), neither=(0, 0))]
    """
    return as_tallies(counted(decisions, is_positive, index, n_groups))


def counted(
    decisions: Decisions,
    is_positive: NDArray[np.bool_],
    index: NDArray[np.intp] | None,
    n_groups: int,
) -> NDArray[np.intp]:
    """Return what `count` does as an array, which adds up at once: group, true class, decision."""
    return from_codes(coded(decisions, is_positive, index), n_groups)


def coded(
    decisions: Decisions, is_positive: NDArray[np.bool_], index: NDArray[np.intp] | None
) -> NDArray[np.intp]:
    """Return a number for each object, which says its group, true class and decision."""
    # One small code for each object.
    code = is_positive.astype(np.intp) if index is None else 2 * index + is_positive
    code = 4 * code + decisions.positive
    if decisions.can_abstain:
        code = code + 2 * decisions.abstained + 3 * decisions.neither
    return code


def from_codes(
    code: NDArray[np.intp], n_groups: int, each: NDArray[np.int64] | None = None
) -> NDArray[np.intp]:
    """Count objects by what `coded` says about them; `each` says for how many one stands."""
    counts = np.bincount(code, each, minlength=N_OUTCOMES * n_groups)
    return counts.astype(np.intp, copy=False).reshape(n_groups, 2, 4)


def as_tallies(counts: NDArray[np.intp]) -> list[Tally]:
    """Return the tally of each group from what `counted` returns, or a sum of such."""
    return [Tally(*zip(*classes, strict=True)) for classes in counts.tolist()]


@dataclass(frozen=True)
class Promise:
    """What a counted rate is compared with.

    Parameters
    ----------
    alpha : float or None
        The promised rate; None if nothing is promised.
    k, n : int or None
        If the threshold is, or is at most as bold as, the k-th most extreme of n calibration
        scores. Without them only the average of the true rate is known to be at most alpha.
    fixed : bool, default=False
        Whether the promise itself is what is tested, since how the true rate is spread over
        calibration sets is not known.
    """

    alpha: float | None
    k: int | None = None
    n: int | None = None
    fixed: bool = False


def binomial_tail(errors: ArrayLike, n: ArrayLike, rate: ArrayLike) -> NDArray[np.float64]:
    """Return P(X >= errors) for X of n objects that each err with probability `rate`.

    Examples
    --------
    >>> binomial_tail([0, 9], 100, 0.05).round(3)
    array([1.   , 0.063])
    """
    from scipy.special import betainc

    x = np.asarray(errors, dtype=np.float64)
    tail = betainc(np.maximum(x, 1.0), np.maximum(np.asarray(n) - x, 0.0) + 1.0, rate)
    return np.where(x > 0, tail, 1.0)


def chances(promises: Sequence[Promise], rates: Sequence[Rate]) -> list[float | None]:
    """Return p-values of "nothing has changed": small if there are too many errors.

    Notes
    -----
    **Guarantee.** Each is the larger of two p-values. The first is exact for a true rate equal to
    alpha (binomial), so that what is called exceeded lies above alpha beyond chance. The second is
    exact for new objects like the calibration objects, whatever the draw of the calibration:
    beta-binomial, from the rank of the threshold; at most that with tied scores. Where there is no
    rank, Markov's inequality bounds it from the average; where the promise itself is what is
    tested, there is no second one. So for an unchanged population, and for a promise that holds,
    ``P(chance <= level) <= level``. None if nothing is promised or counted.

    Examples
    --------
    >>> [round(p, 3) for p in chances([Promise(0.05, k=5, n=100)], [Rate(9, 100)])]
    [0.125]
    """
    found: list[float | None] = [
        None if promise.alpha is None or not rate.n else 1.0
        for promise, rate in zip(promises, rates, strict=True)
    ]
    judged = [i for i, rate in enumerate(rates) if found[i] is not None and rate.errors]
    if not judged:
        return found
    errors = np.array([rates[i].errors for i in judged], dtype=np.float64)
    n = np.array([rates[i].n for i in judged], dtype=np.float64)
    alphas = np.array([promises[i].alpha for i in judged], dtype=np.float64)
    at_alpha = binomial_tail(errors, n, alphas)
    fixed = np.array([promises[i].fixed for i in judged])
    unchanged = np.where(fixed, 0.0, np.minimum(1.0, alphas * n / errors))
    ranked = np.array([promises[i].k is not None for i in judged])
    if ranked.any():
        k, size = (
            np.array([getattr(promises[i], name) for i in judged if promises[i].k is not None])
            for name in ("k", "n")
        )
        unchanged[ranked] = beta_binomial_tail(errors[ranked], n[ranked], k, size)
    for i, p in zip(judged, np.maximum(at_alpha, unchanged).tolist(), strict=True):
        found[i] = p
    return found


def evaluate(
    promises: Mapping[Share, Sequence[Promise]],
    tallies: Sequence[Tally],
    groups: Sequence[object] | None,
    *,
    audit: bool = False,
    whole: Tally | None = None,
) -> Evaluation | JointEvaluation:
    """Compare counted decisions with what is promised, of everybody and by group.

    Parameters
    ----------
    promises : dict
        For each controlled rate one promise for everybody, or one for each group.
    tallies : sequence of Tally
        One for each group, or one for everybody.
    groups : sequence or None
        Their names.
    audit : bool, default=False
        Whether there is one promise for everybody, and nothing is promised to a group.
    whole : Tally, optional
        That of everybody, if the groups do not add up to it.
    """
    whole = sum(tallies, Tally()) if whole is None else whole
    if groups is not None and audit:
        promises = {
            control: [*given, *[Promise(None)] * len(tallies)]
            for control, given in promises.items()
        }
        cells = [whole, *tallies]
    else:
        cells = list(tallies)
    # Holm over everything that is promised: any false alarm at all in at most 5% of evaluations.
    counted = {
        (control, i): p
        for control, given in promises.items()
        for i, p in enumerate(chances(given, [cell.rate(control) for cell in cells]))
        if p is not None
    }
    adjusted = dict(zip(counted, holm(list(counted.values())).tolist(), strict=True))

    def one(i: int) -> Evaluation | JointEvaluation:
        parts = [
            cells[i].against(
                control, given[i].alpha, adjusted.get((control, i)), fixed=given[i].fixed
            )
            for control, given in promises.items()
        ]
        return cells[i].joined(parts)

    if groups is None:
        return one(0)
    if audit:
        return one(0).with_groups(dict(zip(groups, map(one, range(1, len(cells))), strict=True)))
    parts = []
    for control, given in promises.items():
        # A promise to every group is one to everybody. It is called exceeded only if that of some
        # group is, so that no false alarm is added.
        alphas = [promise.alpha for promise in given]
        level = None if None in alphas else max(alpha for alpha in alphas if alpha is not None)
        least = min((p for (c, _), p in adjusted.items() if c == control), default=1.0)
        rate, p_value = whole.rate(control), None
        if level is not None and rate.n:
            p_value = max(float(binomial_tail(rate.errors, rate.n, level)), least)
        fixed = any(promise.fixed for promise in given)
        parts.append(whole.against(control, level, p_value, fixed=fixed))
    return whole.joined(parts).with_groups(
        dict(zip(groups, map(one, range(len(cells))), strict=True))
    )


def gravest(groups: Mapping[Any, Any], most: int = _SHOWN) -> dict[Any, Any]:
    """Return all groups, or of many those most at odds with what is promised, these first."""
    if len(groups) <= most:
        return dict(groups)

    def doubt(name: object) -> tuple[float, float]:
        parts = groups[name].parts
        p = min((part.p_value for part in parts if part.p_value is not None), default=2.0)
        return p, -max((part.target.rate for part in parts if part.target.n), default=-1.0)

    return {name: groups[name] for name in sorted(groups, key=doubt)[:most]}


def gravest_text(
    shown: Mapping[Any, Any], groups: Mapping[Any, Any], about: str | None = None
) -> list[str]:
    """Say which groups are shown, if not all, and how many of the others are exceeded."""
    if len(shown) == len(groups):
        return []
    n_exceeded = sum(
        any(part.verdict == "exceeded" for part in one.parts)
        for name, one in groups.items()
        if name not in shown
    )
    facts = {
        "shown": len(shown),
        "n": f"{len(groups):,}",
        "exceeded": say("evaluation.gravest.exceeded", n=f"{n_exceeded:,}") if n_exceeded else "",
        "about": say("evaluation.gravest.all") if about is None else about,
    }
    return [say("evaluation.gravest", **facts)]


def one_look_text(found: _Evaluated) -> str:
    """Say how often an evaluation calls a promise exceeded that is kept."""
    fixed = any(part.fixed for part in found.parts)
    return say("evaluation.one_look.promise" if fixed else "evaluation.one_look")


def alike_text(found: _Evaluated) -> list[str]:
    """Say that a test told nothing apart, where it called all objects alike."""
    alike = found.tally.all_called
    if alike is None or all(part.promised is None for part in found.parts):
        return []
    return [say("evaluation.alike.undecided" if alike == "undecided" else "evaluation.alike")]


class _Evaluated(ABC):
    """What evaluations of one and of both rates share: groups, text and notebook card."""

    groups: Mapping[Any, Any]
    by_group: GroupAudit | None
    tally: Tally

    @property
    @abstractmethod
    def parts(self) -> tuple[Evaluation, ...]:
        """The rates that are compared with a promise."""

    def with_groups(self, groups: Mapping[Any, Any]) -> Self:
        """Return the same with what was counted in each group."""
        return replace(self, groups=groups)  # type: ignore[type-var]

    def with_audit(self, audit: GroupAudit | None) -> Self:
        """Return the same with an audit by columns."""
        return replace(self, by_group=audit)  # type: ignore[type-var]

    def _audited(self) -> dict[str, Any]:
        return {} if self.by_group is None else {"by_group": self.by_group.to_dict()}

    @abstractmethod
    def _lines(self) -> list[str]:
        """Return the counted rates as lines of text."""

    @abstractmethod
    def _rows(self) -> list[list[str]]:
        """Return the counted rates as rows of a table."""

    def __repr__(self) -> str:
        lines, shown = self._lines(), gravest(self.groups)
        for name, one in shown.items():
            text = "; ".join(one._lines())  # noqa: SLF001 - of the same kind
            lines.append(say("evaluation.group", group=format_value(name), text=text))
        audit = [] if self.by_group is None else ["", repr(self.by_group)]
        notes = [*alike_text(self), *gravest_text(shown, self.groups)]
        return "\n".join([*lines, *notes, *audit])

    def _repr_html_(self) -> str:
        rows, shown = self._rows(), gravest(self.groups)
        for name, one in shown.items():
            rows += [[f"{row[0]}, {format_value(name)}", *row[1:]] for row in one._rows()]  # noqa: SLF001
        evaluated = [self, *self.groups.values()]
        verdicts = [part.verdict for one in evaluated for part in one.parts]
        return markup.card(
            "Evaluation",
            [
                markup.table(_HEAD, rows, numbers=_NUMBERS),
                *map(markup.note, gravest_text(shown, self.groups)),
                markup.note(verdicts_text(verdicts)),
                *map(markup.note, alike_text(self)),
                markup.note(one_look_text(self)),
                *([] if self.by_group is None else [self.by_group._repr_html_()]),
            ],
        )


@dataclass(frozen=True, repr=False)
class Evaluation(_Evaluated):
    """Errors counted on labelled new objects, beside the promise.

    Attributes
    ----------
    control : {"fnr", "fpr", "fdr", "for", "selective_error", "alert_share"}
        The controlled share: one class's error rate, or that of a `RiskControlTest`.
    promised : float or None
        Its promised level. None if nothing is promised: by an asymptotic method, in a group that
        has only the threshold of all, and over all groups if there is such a one.
    target, other : Rate
        The controlled error and the other one, as counted, with exact intervals.
    p_value : float or None
        At most how often there are so many errors or more if nothing has changed since
        calibration, adjusted for all rates and groups of the evaluation (Holm). See `chances`.
    fixed : bool
        Whether it supposes that the promise holds for this very test, rather than that nothing has
        changed: of a `RiskControlTest` more is not known.
    tally : Tally
        What was decided on the objects, by true class.
    groups : dict
        The same by group, where groups were given.
    by_group : GroupAudit or None
        What was counted by further columns (``by=``).
    """

    control: Share
    promised: float | None
    target: Rate
    other: Rate
    p_value: float | None = None
    fixed: bool = False
    groups: Mapping[Any, Evaluation] = field(default_factory=dict)
    tally: Tally = Tally()
    by_group: GroupAudit | None = None

    @property
    def parts(self) -> tuple[Evaluation, ...]:
        """The rates that are compared with a promise: this one; a `JointEvaluation` has two."""
        return (self,)

    @property
    def verdict(self) -> Verdict:
        """What was found about the promise: "kept", "in line" or "exceeded".

        "unknown" without objects, "no promise" where nothing is promised.

        Notes
        -----
        **Guarantee.** If nothing has changed since calibration, an evaluation calls any promise
        exceeded with probability at most 5%, over all its rates and groups together. It does not
        cover repeated looks, whose false alarms add up. "kept" means that the exact 95% interval
        lies at or below the promise; it is about this rate alone, whatever else was counted. For
        many groups at once, "within" of an audit is adjusted.
        """
        if self.promised is None:
            return "no promise"
        if not self.target.n:
            return "unknown"
        if self.p_value is not None and self.p_value <= FALSE_ALARMS:
            return "exceeded"
        return "kept" if self.target.interval[1] <= self.promised else "in line"

    @property
    def verdict_text(self) -> str:
        """The verdict, and that all objects were called alike, if they were."""
        alike = self.tally.all_called
        if alike is None or self.promised is None:
            return self.verdict
        key = "evaluation.verdict.alike"
        if alike == "undecided":
            key = "evaluation.verdict.undecided"
        return say(key, verdict=self.verdict, called=alike)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        return {
            "control": self.control,
            "promised": self.promised,
            "verdict": self.verdict,
            "all_called": self.tally.all_called,
            "p_value": self.p_value,
            "target": {"name": self.control, **self.target.to_dict()},
            "other": {"name": self.price, **self.other.to_dict()},
            "groups": _group_dicts(self.groups),
            **self._audited(),
        }

    @property
    def price(self) -> Share:
        """Which rate the other one is, that pays for the promise."""
        return _PRICES[self.control]

    @property
    def other_name(self) -> str:
        """Name of the other rate."""
        return say(f"rate.{self.price}")

    @property
    def name(self) -> str:
        """Name of the controlled rate."""
        return say(f"rate.{self.control}")

    def beside_promise(self) -> str:
        """Return the counted rate, what was promised, and the verdict."""
        facts = {"rate": self.name, "counted": self.target}
        if self.promised is None:
            return say("evaluation.beside.none", **facts)
        promised = exact_percent(self.promised)
        return say("evaluation.beside", promised=promised, verdict=self.verdict_text, **facts)

    def _lines(self) -> list[str]:
        other = say("evaluation.other", rate=self.other_name, counted=self.other)
        return [f"{self.beside_promise()}; {other}"]

    def row(self) -> list[str]:
        """Return the cells of a table: rate, counts, interval, promise, verdict."""
        promised = "nothing" if self.promised is None else f"≤ {exact_percent(self.promised)}"
        verdict = markup.verdict(self.verdict)
        more = self.verdict_text.removeprefix(self.verdict)
        verdict = markup.Html(f"{verdict}{markup.text(more)}")
        return [self.name, *_counted(self.target), promised, verdict]

    def _rows(self) -> list[list[str]]:
        return [self.row(), [self.other_name, *_counted(self.other), "", ""]]


@dataclass(frozen=True, repr=False)
class JointEvaluation(_Evaluated):
    """Errors and abstentions of a test of both rates on labelled new objects.

    Attributes
    ----------
    fnr, fpr : Evaluation
        Each rate beside its promise. A positive decided negative or neither is missed, a negative
        decided positive or neither is a false alarm; an abstention is no error.
    abstained, neither : dict of Rate
        How often the test abstained, and how often it ruled out both classes, on the "negative"
        and on the "positive" objects.
    groups : dict
        The same by group, where groups were given.
    by_group : GroupAudit or None
        What was counted by further columns (``by=``).

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 2000)
    >>> scores = rng.normal(2 * labels)
    >>> cal = rk.calibrate(scores[:1000], labels[:1000])
    >>> test = cal.control_both(0.05, 0.05, method=rk.Conformal())
    >>> test.evaluate(scores[1000:], labels[1000:])
    FNR 4.74% (3.06% to 6.98%), promised 5%: in line
    FPR 4.45% (2.81% to 6.67%), promised 5%: in line
    no decision on 27.53% of the negatives, 37.55% of the positives; neither class: 0.00%, 0.00%
    """

    fnr: Evaluation
    fpr: Evaluation
    abstained: dict[str, Rate]
    neither: dict[str, Rate]
    groups: Mapping[Any, JointEvaluation] = field(default_factory=dict)
    tally: Tally = Tally()
    by_group: GroupAudit | None = None

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
            "groups": _group_dicts(self.groups),
            **self._audited(),
        }

    def _lines(self) -> list[str]:
        shares = {
            f"{what}_{label}": _share(rates[name])
            for what, rates in (("abstained", self.abstained), ("neither", self.neither))
            for label, name in enumerate(("negative", "positive"))
        }
        undecided = say("evaluation.undecided", **shares)
        return [self.fnr.beside_promise(), self.fpr.beside_promise(), undecided]

    def _rows(self) -> list[list[str]]:
        rows = [self.fnr.row(), self.fpr.row()]
        for what, rates in (("abstained", self.abstained), ("neither", self.neither)):
            for name, rate in rates.items():
                rows.append([f"{what}, {name}s", *_counted(rate), "", ""])
        return rows


_HEAD = ("", "counted", "rate", "95% interval", "promised", "verdict")
_NUMBERS = (1, 2, 3, 4)


def _group_dicts(groups: Mapping[Any, Any]) -> list[dict[str, Any]]:
    return [{"group": name, **one.to_dict()} for name, one in groups.items()]


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
