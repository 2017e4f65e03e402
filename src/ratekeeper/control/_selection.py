"""Choosing objects from a batch: so that few of them are negative, or as many as can be looked at.

Made by `Calibration.select`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._numerics._random_keys import numbers_of_keys
from ratekeeper._reading._columns import refuse_nan
from ratekeeper._reading._parameters import check_count, check_probability, rate_of
from ratekeeper._version import __version__
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import (
    exact_percent,
    extremes,
    format_value,
    percent_up,
    plain_value,
)
from ratekeeper._wording._sentences import say, state
from ratekeeper._wording._shown_groups import shown_text
from ratekeeper.calibration._cells import (
    count_outside,
    nulls_of,
    read_new,
    refuse_clusters,
    tail_of,
    warn_if_outside,
)
from ratekeeper.calibration._p_values import p_values_by_group
from ratekeeper.control._certificate import Stated
from ratekeeper.control._error_rate import condition_text
from ratekeeper.exceptions import InputError, Parameter, TooFewScoresError
from ratekeeper.methods import (
    METHODS,
    Conformal,
    Guarantee,
    Method,
    Simultaneous,
    Smoothed,
    check_method,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._random_keys import TieNumbers
    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper._wording._sentences import Statement
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._test import Index
    from ratekeeper.methods import NullDistribution
    from ratekeeper.methods._method import Kind

    Mask = NDArray[np.bool_]
    Numbers = NDArray[np.float64]

PROVEN = (Conformal, Simultaneous, Smoothed)
"""The methods whose p-values are proven to keep the FDR; see `Selection`."""
# Three roundings stand between a q-value and the fraction that it is, so that one which is the
# level itself may come out a hair above. The FDR is then at most fdr (1 + 1e-15).
_ROUNDING = 1.0 + 1e-15
_SHOWN = 8  # groups
# By whether there is an FDR to keep, and whether the p-values hold for this calibration set.
_PROMISES: dict[tuple[bool, bool], tuple[Kind, str, str]] = {
    (True, False): ("marginal", "selection.promise", "selection.not_covered"),
    (True, True): (
        "high probability",
        "selection.promise.this_set",
        "selection.not_covered.this_set",
    ),
    (False, False): ("none", "selection.promise.budget", "selection.not_covered.budget"),
    (False, True): (
        "simultaneous",
        "selection.promise.budget.this_set",
        "selection.not_covered.budget",
    ),
}


class SelectedGroup(NamedTuple):
    """What was selected in one group; in the whole batch where there are no groups.

    Attributes
    ----------
    group : object
        Its name, None without groups.
    n, n_selected : int
        How many of its objects are in the batch, and how many of them are selected.
    threshold : float or None
        The score strictly beyond which objects are selected; None if no score decides.
    """

    group: Any
    n: int
    n_selected: int
    threshold: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Stated):
    """Objects chosen from a batch, and what is promised about them. Made by `Calibration.select`.

    Prints as a readable text; `to_dict` and `to_json` give the facts, without the arrays.

    Attributes
    ----------
    selected : ndarray of bool, shape (n_objects,)
        Which objects are selected.
    p_values : ndarray of shape (n_objects,)
        p0 of each object: how rare so high a score is among negatives.
    q_values : ndarray of shape (n_objects,)
        The smallest FDR level at which each would be selected (Benjamini-Hochberg).
    fdr : float or None
        The largest share of negatives among the selected, on average; None with a budget.
    budget : int or None
        How many were to be selected; None with an FDR.
    level : float
        What p0 was compared with: ``fdr * n_selected / n``. With a budget, the largest p0 of the
        selected objects. 0 if nothing is selected.
    tied : int
        With a budget, how many objects that are not selected have the p-value and the score of one
        that is, so that only their order in the batch decided.
    groups : tuple of SelectedGroup
        Numbers and threshold by group; one member without groups.
    method : Method
        How p-values were made.
    guarantee : Guarantee
        What is promised, what it needs, and what it does not cover.

    Notes
    -----
    **Guarantee.** With an FDR q, of the selected objects at most the share q is negative: the
    expectation of (negatives selected) / (objects selected), taken as 0 if nothing is selected, is
    at most q times the share of negatives in the batch. The negatives of the batch must be like
    the negative calibration objects (of their group). The share of positives, and what positives
    look like, may be anything.

    Why: the m objects of the batch are compared with ``q R / m``, where R of them are selected.
    Take one negative of the batch, and fix everything else. (1) If R does not grow with its
    p-value p, then the values of p with which it is selected, ``p <= q R(p) / m``, reach from 0 up
    to some t, and R is least at t, where ``t <= q R(t) / m``. (2) If also P(p <= t) <= t for all
    t, then its share of the expectation, that of 1 / R where it is selected, is at most
    ``P(p <= t) / R(t) <= t / R(t) <= q / m``. The sum over the negatives is q times their share.

    - `Conformal`: fix all other scores of the batch, and the set made of the n calibration scores
      and this one, but not which of them is this one. By exchangeability each is as likely, so
      P(p <= t) <= t, ties or not: p is the share of the set that is at least as extreme. If this
      one is a less extreme member, p grows, and a more extreme score is left to the calibration,
      so the p-values of all other objects stay or grow: R does not grow. So (1) and (2) hold, on
      average over calibration sets and batches. This is, in short, the positive dependence
      (PRDS) of Bates, Candès, Lei, Romano and Sesia (2023). `Smoothed` has the same proof, with
      the draws of the others fixed; its own draw must be independent of the scores, so a seed that
      repeats draws by position is refused.
    - Groups: the scores of other groups do not meet this one's calibration scores, so their
      p-values stay as they are, and the proof holds for the whole batch. It says nothing about
      one group apart.
    - `Simultaneous`: except with probability delta, this calibration set gives P(p <= t) <= t for
      all t at once. Then fix the calibration and all other scores: the other p-values do not
      depend on this object, R does not grow with p, and so the FDR is at most q with this very
      calibration set, on average over batches. The negatives must be independent draws. With g
      groups each band gets delta / g, so that all of them hold together.
    - Others are refused: the limit of `HighProbability` holds at one alpha, not at all levels that
      a batch may lead to, and the rest promise nothing for a finite number of scores.

    It does not cover this one batch, positives that are not selected, or an FDR level chosen after
    looking. The threshold belongs to the batch: another batch has another. With a budget the
    objects are chosen first, so the levels are descriptions; only the alpha of `Simultaneous`,
    which is valid for all alphas at once, is a promise.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> cal = rk.calibrate(rng.normal(np.repeat([0, 3], 500)), np.repeat([0, 1], 500))
    >>> batch = rng.normal(np.repeat([0, 3], [900, 100]))
    >>> cal.select(batch, fdr=0.1)
    Selection of 67 of 1,000 objects, FDR <= 10%, Conformal()
      selected if score > 2.552... (p0 <= 0.0067)
    >>> cal.select(batch, budget=50)
    Selection of the best 50 of 1,000 objects, Conformal()
      no FDR level selects exactly these: 7.4% selects 54
    """

    selected: Mask
    p_values: Numbers
    q_values: Numbers
    fdr: float | None
    budget: int | None
    level: float
    tied: int
    groups: tuple[SelectedGroup, ...]
    method: Method
    guarantee: Guarantee
    _calibration: Calibration

    def __len__(self) -> int:
        return self.selected.size

    @property
    def n(self) -> int:
        """How many objects the batch has."""
        return self.selected.size

    @property
    def n_selected(self) -> int:
        """How many objects are selected."""
        return sum(group.n_selected for group in self.groups)

    @property
    def thresholds(self) -> dict[Any, float | None]:
        """The threshold of each group; ``{None: threshold}`` without groups.

        An object is selected if and only if its score lies strictly beyond. None where nothing is
        selected or no score decides: with random p-values, or if a budget ends among equal ones.
        """
        return {one.group: one.threshold for one in self.groups}

    @property
    def threshold(self) -> float | None:
        """The threshold on the score; None also with groups, which have `thresholds`."""
        return self.groups[0].threshold if self._calibration.groups is None else None

    @property
    def alpha(self) -> float | None:
        """The smallest alpha at which a test of the FPR calls all selected objects positive.

        It is their largest p0; None if nothing is selected.
        """
        return _largest(self.p_values, self.selected)

    @property
    def least_fdr(self) -> float | None:
        """The smallest FDR level at which all of these are selected; None if nothing is."""
        return _largest(self.q_values, self.selected)

    @property
    def n_at_least_fdr(self) -> int:
        """How many objects that level selects; more than these if no level selects just them."""
        least = self.least_fdr
        return 0 if least is None else int(np.count_nonzero(self.q_values <= least * _ROUNDING))

    @property
    def headline(self) -> str:
        """What is selected, in a line."""
        counts = {"selected": f"{self.n_selected:,}", "n": f"{self.n:,}"}
        if self.fdr is None:
            return say("selection.headline.budget", **counts)
        return say("selection.headline", **counts, fdr=exact_percent(self.fdr))

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything that it says, paragraph by paragraph."""
        said, kind = self.guarantee, self.guarantee.kind
        title = "promise.none" if kind == "none" else None
        found = [
            state("promise", said.promise, title=title, kind=kind),
            state("needs", said.condition),
            state("not_covered", said.not_covered),
            *(state("rule", text) for text in self._rules),
            *([state("levels", self._levels)] if self.budget else []),
            *([state("remark", self._order)] if self.tied else []),
            state("data", self._ground),
        ]
        return tuple(found)

    @property
    def _rules(self) -> list[str]:
        """How the selected objects are told from the others."""
        if not self.n_selected:
            return [self._nothing]
        rules = []
        if self.budget is not None:
            best = "highest" if self._calibration.higher_is_positive else "lowest"
            rules.append(say("selection.rule.budget", count=f"{self.budget:,}", end=best))
        elif self._calibration.groups is None:
            (one,) = self.groups
            return [say("selection.rule", condition=self._condition(one))]
        if self._calibration.groups is None:
            return rules
        shown = self._shown
        for one in (self.groups[i] for i in shown):
            condition = self._condition(one)
            facts = {
                "selected": f"{one.n_selected:,}",
                "n": f"{one.n:,}",
                "group": format_value(one.group),
            }
            where = say("selection.rule.if", condition=condition) if condition else ""
            rules.append(say("selection.rule.group", **facts, where=where))
        return rules + shown_text(len(shown), len(self.groups), say("selection.thresholds"))

    @property
    def _nothing(self) -> str:
        """Say that nothing is selected, and how many at least would have to be."""
        sizes = {scores.size for scores in self._calibration.cells[0] if scores.size}
        method = _shared(self._calibration, self.method)
        if self.fdr is None or isinstance(method, Smoothed):
            return say("selection.nothing")
        least = min(_smallest(method, n) for n in sizes)
        needed = int(np.ceil(least * self.n / self.fdr / _ROUNDING))
        facts = {"alpha": f"{least:.3g}", "fdr": exact_percent(self.fdr), "n": f"{self.n:,}"}
        return f"{say('selection.nothing')} {say('selection.needed', **facts, least=f'{needed:,}')}"

    @property
    def _levels(self) -> str:
        """The levels that belong to a choice by number."""
        alpha = self.alpha or 0.0
        more = int(np.count_nonzero(self.p_values <= alpha)) - self.n_selected
        facts = {"alpha": _short(alpha, self.p_values), "count": f"{more:,}"}
        return f"{say('selection.levels.alpha', **facts)} {self._fdr_text}"

    @property
    def _fdr_text(self) -> str:
        least, count = self.least_fdr or 0.0, self.n_at_least_fdr
        if least >= 1.0:
            return say("selection.levels.none")
        key = "selection.levels.exact" if count == self.n_selected else "selection.levels.more"
        return say(key, fdr=_short(least, self.q_values), count=f"{count:,}")

    @property
    def _order(self) -> str:
        return say("selection.tied", count=f"{self.tied:,}")

    @property
    def _ground(self) -> str:
        cal = self._calibration
        negatives = sum(scores.size for scores in cal.cells[0])
        facts = {"n_negative": f"{negatives:,}", "type": cal.dtype, "method": repr(self.method)}
        return say("selection.data", **facts, hash=cal.data_hash[:16], version=__version__)

    @property
    def _shown(self) -> list[int]:
        sizes = [group.n for group in self.groups]
        found = [group.n_selected for group in self.groups]
        return extremes(sizes, found, most=_SHOWN, each=_SHOWN // 4)

    def _condition(self, one: SelectedGroup) -> str:
        """Write which scores, or else p-values, are selected; nothing if neither decides."""
        level = f"p0 <= {self.level:.6g}"
        if one.threshold is None:
            return "" if self.budget is not None else level
        sign = "greater" if self._calibration.higher_is_positive else "less"
        return f"{condition_text(self._calibration, sign, one.threshold)} ({level})"

    def to_dict(self) -> dict[str, Any]:
        """Return all facts but the arrays, as plain Python values that JSON can write."""
        cal, said = self._calibration, self.guarantee
        grouped = cal.groups is not None
        return {
            "n": self.n,
            "n_selected": self.n_selected,
            "fdr": self.fdr,
            "budget": self.budget,
            "method": repr(self.method),
            "level": self.level,
            "threshold": self.threshold,
            "groups": [one._asdict() for one in self.groups] if grouped else None,
            "alpha": self.alpha,
            "least_fdr": self.least_fdr,
            "n_at_least_fdr": self.n_at_least_fdr,
            "tied": self.tied,
            "guarantee": said.to_dict(),
            "negative_label": plain_value(cal.classes[0]),
            "n_negative": sum(scores.size for scores in cal.cells[0]),
            "data_hash": cal.data_hash,
            "version": __version__,
        }

    def __repr__(self) -> str:
        if self.fdr is None:
            head = f"Selection of the best {self.n_selected:,} of {self.n:,} objects"
            lines = [self._fdr_text[0].lower() + self._fdr_text[1:].rstrip(".")]
        else:
            head = f"Selection of {self.n_selected:,} of {self.n:,} objects, FDR <= "
            head += exact_percent(self.fdr)
            lines = [] if not self.n_selected else [text.rstrip(".") for text in self._rules]
        return "\n  ".join([f"{head}, {self.method!r}", *lines])

    def _cell_html(self) -> list[markup.Html]:
        """Return numbers and thresholds as a table, with notes."""
        shown = self._shown
        members = [self.groups[i] for i in shown]
        rows = [[f"{one.n:,}", f"{one.n_selected:,}", self._condition(one)] for one in members]
        grouped = self._calibration.groups is not None
        names = [one.group for one in members] if grouped else None
        head = ("objects", "selected", "if")
        if self.n_selected:
            notes = shown_text(len(shown), len(self.groups), say("selection.thresholds"))
        else:
            rows, notes = [[*row[:2], ""] for row in rows], [self._nothing]
        return [markup.by_group(names, head, rows, numbers=(0, 1)), *map(markup.note, notes)]


def select(
    calibration: Calibration,
    scores: ArrayLike,
    groups: ArrayLike | None,
    *,
    fdr: object,
    budget: object,
    method: Method | str,
    keys: ArrayLike | None = None,
) -> Selection:
    """Choose from scores as users give them; see `Calibration.select`."""
    level, most, method = check_asked(calibration, fdr, budget, method)
    refuse_repeated_draws(method, keys=keys is not None)
    values, index = read_new(calibration, scores, groups)
    refuse_nan(values)
    numbers = numbers_of_keys([method], calibration.draw, scores, keys, values.size)
    warn_if_outside(calibration, count_outside(calibration, values), values.size, stacklevel=3)
    return select_read(
        calibration, values, index, fdr=level, budget=most, method=method, numbers=numbers
    )


def check_asked(
    calibration: Calibration, fdr: object, budget: object, method: Method | str
) -> tuple[float | None, int | None, Method]:
    """Return what is asked for, checked; refuse it where nothing is proven or possible."""
    if (fdr is None) == (budget is None):
        both = (Parameter("fdr"), " and ", Parameter("budget"), " were both given.")
        neither = ("Neither ", Parameter("fdr"), " nor ", Parameter("budget"), " was given.")
        raise InputError(
            neither if fdr is None else both,
            parameter="fdr",
            remedy=(
                "Pass one of them: ",
                Parameter("fdr", 0.1),
                " selects so that on average at most 10% of the selected are negative, ",
                Parameter("budget", 100),
                " selects the best 100.",
            ),
        )
    level = None if fdr is None else check_probability(fdr, "fdr")
    most = None if budget is None else check_count(budget, "budget")
    method = _proven(calibration, method)
    sizes = [scores.size for scores in calibration.cells[0]]
    if not any(sizes):
        raise InputError(
            "The calibration has no negative scores, so there is no p-value for being negative.",
            parameter="scores",
            remedy="Calibrate with held-out negatives.",
        )
    if level is not None:
        _refuse_impossible(_shared(calibration, method), max(sizes), level)
    return level, most, method


def _proven(calibration: Calibration, method: object) -> Method:
    """Return the method if its p-values are proven to keep the FDR, else say why not."""
    kind = METHODS.get(method) if isinstance(method, str) else type(method)
    if kind is not None and issubclass(kind, Method) and not issubclass(kind, PROVEN):
        why = "no bound on its p-values in a batch is proven"
        if kind.name == "high-probability":
            why = (
                "its promise is about one alpha fixed in advance, and Benjamini-Hochberg compares "
                "p-values with a level that the batch decides"
            )
        raise InputError(
            (Parameter("method", method), f" cannot keep an FDR: {why}."),
            parameter="method",
            value=method,
            remedy=(
                "Use ",
                Parameter("method", Conformal()),
                " for a promise on average over calibration sets, or ",
                Parameter("method", Simultaneous()),
                " for this very calibration set.",
            ),
        )
    checked = check_method(method)
    refuse_clusters(calibration, "Choosing from a batch")
    if calibration.origin != "held out":
        raise InputError(
            "The scores of the calibration are cross-fitted, for which no bound is known.",
            parameter="method",
            remedy="Calibrate on held-out objects that the deployed model scored.",
        )
    return checked


def refuse_repeated_draws(method: Method, *, keys: bool) -> None:
    """Raise if a method would make the same draws in every batch.

    The proof needs draws that are independent of the scores. A fixed seed gives the i-th object of
    every batch the same number: where scores are tied, the same places are then selected again and
    again, and of 30 negatives of two scores 61% of the selected were false at an FDR of 20%.
    """
    seed = getattr(method, "random_state", None)
    if keys or seed is None or isinstance(seed, np.random.Generator):
        return
    raise InputError(
        (
            Parameter("random_state", seed),
            " makes the same draws in every batch, by position, and no FDR is kept over batches.",
        ),
        parameter="random_state",
        value=seed,
        remedy=(
            "Leave it out, so that every batch is drawn for afresh, or pass ",
            Parameter("keys"),
            ", one for each object, so that the same object always gets the same p-value.",
        ),
    )


def _refuse_impossible(method: Method, n: int, fdr: float) -> None:
    """Raise if no p-value can be as small as the level, even if all objects are selected."""
    if method.can_promise(n, fdr):
        return
    needed = method.smallest_n(fdr)
    raise TooFewScoresError(
        f"FDR <= {fdr:g} with {method!r} needs at least {needed:,} negative calibration scores, "
        f"whatever the batch; got {n:,}.",
        available=n,
        needed=needed,
        remedy=("Add data, or raise ", Parameter("fdr"), "."),
    )


def select_read(
    calibration: Calibration,
    values: Floats,
    index: Index,
    *,
    fdr: float | None,
    budget: int | None,
    method: Method,
    numbers: TieNumbers | None = None,
) -> Selection:
    """Choose from scores that were read and checked, with the numbers of their keys if any."""
    if not values.size:
        found = "There are no scores to choose from."
        raise InputError(found, parameter="scores", remedy="Pass a batch of at least one object.")
    if budget is not None and budget > values.size:
        raise InputError(
            parameter="budget",
            value=budget,
            need=f"at most the number of objects in the batch, {values.size:,}",
            remedy="With so few there is no need to choose.",
        )
    nulls = nulls_of(calibration, 0, _shared(calibration, method))
    p = p_values_by_group(nulls, values, index, None if numbers is None else numbers.values)
    q = adjusted(p)
    level, tied = 0.0, 0
    if fdr is not None:
        selected = q <= fdr * _ROUNDING
        count = int(np.count_nonzero(selected))
        level = max(fdr * count / p.size, _largest(p, selected) or 0.0)
    else:
        selected, tied = best(p, values, tail_of(calibration, 0), budget or 0)
        level = _largest(p, selected) or 0.0
    return Selection(
        selected=selected,
        p_values=p,
        q_values=q,
        fdr=fdr,
        budget=budget,
        level=level,
        tied=tied,
        groups=_by_group(calibration, nulls, index, selected, p, level),
        method=method,
        guarantee=_guarantee(calibration, method, fdr, level),
        _calibration=calibration,
    )


def adjusted(p: Numbers) -> Numbers:
    """Return the smallest FDR level at which Benjamini-Hochberg selects each object.

    Examples
    --------
    >>> adjusted(np.array([0.01, 0.5, 0.02])).round(6)
    array([0.03, 0.5 , 0.03])
    """
    order = p.argsort()
    q = p[order]
    q *= p.size
    q /= np.arange(1, p.size + 1)
    q = np.minimum.accumulate(q[::-1])[::-1]
    result = np.empty(p.size)
    result[order] = q
    return result


def best(p: Numbers, scores: Floats, tail: Tail, budget: int) -> tuple[Mask, int]:
    """Choose the objects with the smallest p-values, of equal ones those with the best scores.

    Objects that are equal in both are taken in their order.

    Returns
    -------
    mask : ndarray of bool
        Which are chosen.
    tied : int
        How many are not, although equal in both to one that is chosen.

    Examples
    --------
    >>> best(np.array([0.2, 0.1, 0.1, 0.1]), np.array([0.5, 0.7, 0.8, 0.7]), "high", 2)
    (array([False,  True,  True, False]), 1)
    """
    chosen = np.zeros(p.size, dtype=bool)
    rest, left = np.arange(p.size), budget
    keys: tuple[tuple[Floats, Tail], ...] = ((p, "low"), (scores, tail))
    for key, end in keys:
        values = key[rest]
        place = left - 1 if end == "low" else values.size - left
        border = np.partition(values, place)[place]
        inside = values < border if end == "low" else values > border
        chosen[rest[inside]] = True
        left -= int(np.count_nonzero(inside))
        rest = rest[values == border]
    chosen[rest[:left]] = True
    return chosen, rest.size - left


def _by_group(
    calibration: Calibration,
    nulls: tuple[NullDistribution | None, ...],
    index: Index,
    selected: Mask,
    p: Numbers,
    level: float,
) -> tuple[SelectedGroup, ...]:
    """Count by group, and find the thresholds where a score alone decides."""
    names = [None] if calibration.groups is None else calibration.groups.tolist()
    place = np.zeros(p.size, dtype=np.intp) if index is None else index
    sizes = np.bincount(place, minlength=len(names)).tolist()
    counts = np.bincount(place[selected], minlength=len(names)).tolist()
    # A budget may end among equal p-values, and then no level of them selects the same.
    # At level 1 everything is selected, and no score lies beyond all.
    by_level = any(counts) and level < 1.0 and np.count_nonzero(p <= level) == sum(counts)
    never = np.inf if tail_of(calibration, 0) == "high" else -np.inf
    thresholds = [
        (never if null is None else null.threshold(level)) if by_level else None for null in nulls
    ]
    return tuple(map(SelectedGroup, names, sizes, counts, thresholds))


def _shared(calibration: Calibration, method: Method) -> Method:
    """Return the method for one group: the bands of all groups together may fail by delta."""
    own = sum(scores.size > 0 for scores in calibration.cells[0])
    if isinstance(method, Simultaneous) and own > 1:
        return replace(method, delta=method.delta / own)
    return method


def _smallest(method: Method, n: int) -> float:
    """Return the smallest p-value that n scores can give."""
    if isinstance(method, Conformal | Simultaneous):
        return float(method.p_of_count(np.zeros(1, dtype=np.intp), n)[0])
    return 0.0


def _short(level: float, values: Numbers) -> str:
    """Write a level with few digits that has the same values at or below it.

    Examples
    --------
    >>> _short(0.0123456, np.array([0.01, 0.0123456, 0.01236]))
    '1.235%'
    """
    above = values[values > level * _ROUNDING]
    end = float(above.min()) if above.size else np.inf
    for digits in range(2, 17):
        text = percent_up(level, digits)
        if level <= rate_of(text) < end:
            return text
    return f"{level!r}"


def _largest(values: Numbers, selected: Mask) -> float | None:
    return float(values[selected].max()) if selected.any() else None


def _guarantee(
    calibration: Calibration, method: Method, fdr: float | None, alpha: float
) -> Guarantee:
    """Say what is promised about a selection."""
    grouped = calibration.groups is not None
    facts = {
        "label": format_value(calibration.classes[0]),
        "where": say("selection.of_their_group") if grouped else "",
        "groups": say("selection.not_covered.groups") if grouped else "",
        "alpha": percent_up(alpha),
        "fdr": "" if fdr is None else exact_percent(fdr),
    }
    if sure := isinstance(method, Simultaneous):
        needs = [say("selection.needs.independent", **facts)]
        facts["delta"] = f"{method.delta:g}"
    else:
        needs = [say("selection.needs.exchangeable", **facts)]
    if isinstance(method, Smoothed):
        needs.append(say("selection.needs.draws"))
    if fdr is not None:
        needs.append(say("selection.needs.fdr"))
    kind, promise, not_covered = _PROMISES[fdr is not None, sure]
    return Guarantee(
        kind=kind,
        promise=say(promise, **facts),
        condition=" ".join(needs),
        not_covered=say(not_covered, **facts),
    )
