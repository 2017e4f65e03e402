"""Without labels: whether new scores can be a mixture of the calibrated classes, at any share."""

from __future__ import annotations

import textwrap
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._numerics._draws import Draw
from ratekeeper._numerics._holm import holm
from ratekeeper._numerics._mixtures import MISSED, p_of_mixture, share_interval
from ratekeeper._reading._columns import refuse_nan
from ratekeeper._reading._parameters import check_probability
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, format_value, percent
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._cells import (
    no_such_class,
    read_new,
    refuse_clusters,
    refuse_unlabelled,
)
from ratekeeper.exceptions import InputError, ShiftWarning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._test import Test

    Counts = NDArray[np.int64]
    Array = NDArray[np.float64]

ALPHA = 0.01
WARNS_AT = 1e-4  # p-value at which classifying a file warns
CONFIDENCE = 0.95
_CELLS = 66  # 64 of about equal shares, and both ends
_TENTH = 10  # one of so many calibration objects chooses the cells
_CHOOSERS = 1000  # of a class, at most
_COMPARED = 100_000  # of a class, at most: more tell hardly more, and take memory
_DRAWS, _MIDDLE = 3, 2  # random divisions of the calibration, and which p-value of them counts
_CLOSEST = 401  # shares of positives looked at for the closest mixture
_SHOWN = 8  # groups
_WIDTH = 79


class Gap(NamedTuple):
    """Where new scores differ most from the closest mixture.

    Attributes
    ----------
    at : float
        A score.
    observed, fitted : float
        Share of scores at or below it: of the new ones, and in the mixture.
    """

    at: float
    observed: float
    fitted: float


@dataclass(frozen=True, repr=False)
class ShiftResult:
    """What new scores show about a shift, and what they cannot show. Made by `shift_test`.

    Attributes
    ----------
    p : float
        P-value of "the new scores are a mixture of the two calibrated classes, at some
        prevalence". In a group, adjusted for their number by Holm's method; of all groups
        together, the smallest of these.
    alpha : float
        Level of the verdict.
    n : int
        Number of new scores.
    prevalence : float or None
        Estimated share of positives. It means something only if the scores are such a mixture.
        None if the scores do not tell the classes apart, and for all groups together.
    interval : tuple of float or None
        Its 95% interval, from 0 to 1 if nothing is known; None if no prevalence fits, and for all
        groups together.
    gap : Gap or None
        Where the new scores differ most from the closest mixture.
    looked_at : tuple of float
        The lowest and the highest prevalence that was looked at.
    groups : dict
        The same for each group, for a calibration with groups.
    cross_fitted : bool
        Whether the calibration scores are those of other models than the deployed one.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> cal = rk.calibrate(rng.normal(np.repeat([0, 2], 1000)), np.repeat([0, 1], 1000))
    >>> rare = rng.normal(np.repeat([0, 2], [900, 100]))
    >>> rk.shift_test(cal, rare).p, rk.shift_test(cal, 2 * rare).shifted
    (1.0, True)
    """

    p: float
    alpha: float
    n: int
    prevalence: float | None
    interval: tuple[float, float] | None
    gap: Gap | None
    looked_at: tuple[float, float] = (0.0, 1.0)
    groups: Mapping[Any, ShiftResult] = field(default_factory=dict)
    cross_fitted: bool = False

    @property
    def shifted(self) -> bool:
        """Whether the p-value is at most alpha."""
        return self.p <= self.alpha

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values that JSON can write."""
        groups = [{"group": name, **one.overall()} for name, one in self.groups.items()]
        return {**self.overall(), "groups": groups, "cannot_see": say("shift.blind", cells=_CELLS)}

    def overall(self) -> dict[str, Any]:
        """Return the facts of `to_dict` but for those of the groups and what is always said."""
        return {
            "p": self.p,
            "alpha": self.alpha,
            "shifted": self.shifted,
            "n": self.n,
            "prevalence": self.prevalence,
            "interval": None if self.interval is None else list(self.interval),
            "confidence": CONFIDENCE,
            "gap": None if self.gap is None else self.gap._asdict(),
            "looked_at": list(self.looked_at),
            "cross_fitted": self.cross_fitted,
        }

    @property
    def headline(self) -> str:
        """The verdict in a line."""
        key = "shift.headline.shifted" if self.shifted else "shift.headline.possible"
        return say(key, strength=p_text(self.p))

    @property
    def statements(self) -> tuple[tuple[str, str], ...]:
        """Everything that it says: titles and texts."""
        found = [say("shift.shifted" if self.shifted else "shift.possible", **self._facts)]
        if self.shifted and self.gap is not None:
            found.append(self._gap("shift.gap"))
        said = [("Found", " ".join(found))]
        said += [("Do", say("shift.remedy"))] if self.shifted else []
        said += [
            ("Prevalence", self._prevalence),
            ("Promise", say("shift.promise", **self._facts)),
            ("Needs", say("shift.needs")),
            ("Cannot see", say("shift.blind", cells=_CELLS)),
            ("Allowed", say("shift.allowed")),
        ]
        said += [("Remark", say("shift.cross_fitted"))] if self.cross_fitted else []
        return tuple(said)

    def row(self) -> list[str]:
        """Return the cells of a table; see `HEAD`."""
        interval = "" if self.interval is None else _between(self.interval)
        share = "unknown" if self.prevalence is None else percent(self.prevalence)
        return [p_text(self.p)[4:], f"{self.n:,}", share, interval, self.verdict]

    @property
    def verdict(self) -> str:
        """The verdict in a word."""
        return "shifted" if self.shifted else "not shown"

    def gravest(self, most: int) -> dict[Any, ShiftResult]:
        """Return the groups with the smallest p-values, in the order of all."""
        first = sorted(self.groups, key=lambda name: self.groups[name].p)[:most]
        return {name: one for name, one in self.groups.items() if name in set(first)}

    @property
    def _facts(self) -> dict[str, object]:
        low, high = (exact_percent(share) for share in self.looked_at)
        among = say("shift.among", low=low, high=high) if self.looked_at != (0.0, 1.0) else ""
        return {
            "strength": p_text(self.p),
            "alpha": exact_percent(self.alpha),
            "n": f"{self.n:,}",
            "among": among,
        }

    @property
    def _prevalence(self) -> str:
        if self.groups:
            return say("shift.prevalence.by_group")
        if self.prevalence is None:
            return say("shift.prevalence.unknown")
        share = percent(self.prevalence)
        if self.shifted or self.interval is None:
            return say("shift.prevalence.means_nothing", estimate=share)
        low, high = map(percent, self.interval)
        return say("shift.prevalence", estimate=share, low=low, high=high)

    def _gap(self, key: str) -> str:
        if self.gap is None:
            return ""
        shares = {"new_share": percent(self.gap.observed), "fitted": percent(self.gap.fitted)}
        return say(key, at=f"{self.gap.at:.6g}", **shares)

    def warning(self) -> str:
        """Say in one line that scores are no mixture, for whoever classifies them."""
        worst, where = self, ""
        if self.groups:
            name = min(self.groups, key=lambda name: self.groups[name].p)
            worst, where = self.groups[name], say("shift.warning.group", group=format_value(name))
        gap = worst._gap("shift.gap.short")  # noqa: SLF001 - its own kind
        return say("shift.warning", in_group=where, strength=p_text(self.p), difference=gap)

    def __str__(self) -> str:
        lines = [self.headline]
        for title, text in self.statements:
            lines += textwrap.wrap(f"{title}: {text}", _WIDTH, subsequent_indent="  ")
        return "\n".join([*lines, *self._group_lines()])

    def _group_lines(self) -> list[str]:
        shown = self.gravest(_SHOWN)
        lines = []
        for name, one in shown.items():
            share = "unknown" if one.prevalence is None else percent(one.prevalence)
            between = "" if one.interval is None else f" ({_between(one.interval)})"
            facts = {"group": format_value(name), "strength": p_text(one.p), "n": f"{one.n:,}"}
            lines.append(say("shift.group", estimate=f"{share}{between}", **facts))
        if len(shown) < len(self.groups):
            lines.append(say("shift.groups.shown", n=f"{len(self.groups):,}", shown=len(shown)))
        return [*lines, *([say("shift.groups.holm")] if lines else [])]

    def __repr__(self) -> str:
        return "\n".join([self.headline, *(f"  {line}" for line in self._group_lines())])

    def _repr_html_(self) -> str:
        shown = self.gravest(_SHOWN)
        rows = [["everybody" if shown else "", *self.row()]]
        rows += [[format_value(name), *one.row()] for name, one in shown.items()]
        parts = [markup.table(["", *HEAD], rows, numbers=range(1, 5))]
        parts += [markup.note(f"{title}: {text}") for title, text in self.statements]
        return markup.card(self.headline, parts)


HEAD = ("p", "scores", "prevalence", "95% interval", "verdict")


def p_text(p: float) -> str:
    """Write a p-value; at the smallest that can be, as a bound.

    Examples
    --------
    >>> p_text(0.0312), p_text(1e-6), p_text(1.0)
    ('p = 0.031', 'p <= 1e-06', 'p = 1')
    """
    return f"p <= {p:.2g}" if p <= 2 * MISSED else f"p = {p:.2g}"


def _between(interval: tuple[float, float]) -> str:
    return f"{percent(interval[0])} to {percent(interval[1])}"


def shift_test(
    calibration: Calibration | Test,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    alpha: float = ALPHA,
    prevalence: float | tuple[float | None, float | None] | None = None,
) -> ShiftResult:
    """Test whether new scores can be a mixture of the two calibrated classes. Needs no labels.

    Parameters
    ----------
    calibration : Calibration or test
        With objects of both classes; a test has the one that it stands on.
    scores : array-like of shape (n_objects,)
        Scores of new objects, from the same model and runtime as at calibration.
    groups : array-like of shape (n_objects,), optional
        Their groups, required if and only if the calibration has groups. Each group is tested, and
        p-values are adjusted for their number.
    alpha : float or str, default=0.01
        Level of the verdict.
    prevalence : float or tuple of two, optional
        The share of positives among new objects, or the lowest and the highest, if it is known;
        None for an end that is not. By default any will do, and a change of the prevalence alone
        is no shift.

    Returns
    -------
    ShiftResult
        P-value, estimated prevalence with its interval, and what the test cannot see.

    Raises
    ------
    InputError
        If a class has no calibration objects: what is not one class may then be the other, so that
        no score is impossible. If the calibration has clusters, since its rows are not independent.

    Notes
    -----
    **Guarantee.** Finite-sample. Let the calibration objects of each class be independent draws
    from F0 and F1, and the new ones independent draws from pi F1 + (1 - pi) F0, whatever pi, F0
    and F1 are. Then P(p <= a) <= a for every a, over calibration sets and new scores together. The
    proof: for the true pi, a random sample of calibration objects with Binomial(N, pi) positives
    is exchangeable with the new objects, so that a two-sample test of both is exact; the p-value
    here is the largest over all numbers of positives (but for a chance of 1e-6, which is added),
    and so at least that one. The two-sample test sums squared normal scores of exact
    hypergeometric tests over a tree of cells. The cells come from a random tenth of the
    calibration objects, which is then left out. So that one draw does not decide, there are
    three, and 3/2 times the second smallest p-value counts, which is a p-value however they depend
    on each other (Rueger, 1978). With samples so large that more than 2,000 numbers of positives
    come into question, the search for the largest p-value steps over some of them. The
    draws are those stored with the calibration, independent of its scores: the same file gives the
    same p-value, and the guarantee is over the draw, too.

    **Prevalence.** The interval covers the share of positives with probability at least 95%, if
    the new scores are a mixture: exact intervals of three rates at the score that separates the
    classes best in that tenth, joined by Bonferroni's inequality.

    **Not covered.** Labels are not looked at, so a change that leaves a mixture of the same scores
    possible is not seen, though FNR and FPR may have risen with it. A large p-value shows nothing
    about them. Repeated looks add up, and looks with one calibration share its luck.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> from ratekeeper.datasets import load_employment
    >>> people = load_employment()
    >>> old, new = people.in_year(2015), people.in_year(2016)
    >>> cal = rk.calibrate(old.score, old.employed)
    >>> rk.shift_test(cal, new.score).shifted, rk.shift_test(cal, 100 * new.score[:20]).shifted
    (False, True)
    """
    counted = ShiftCounts(calibration)
    counted.add(scores, groups)
    return counted.result(alpha=alpha, prevalence=prevalence)


class ShiftCounts:
    """Counts of new scores for `shift_test`, which add up. They need no more room as scores come.

    Parameters
    ----------
    calibration : Calibration or test
        As in `shift_test`.
    draw : Draw, optional
        Another draw than that of the calibration: the one that earlier counts were made with.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> cal = rk.calibrate(rng.normal(np.repeat([0, 2], 1000)), np.repeat([0, 1], 1000))
    >>> week, days = rng.normal(np.repeat([0, 2], [900, 100])), rk.monitoring.ShiftCounts(cal)
    >>> for day in np.split(week, 5):
    ...     days.add(day)
    >>> days.result() == rk.shift_test(cal, week)
    True
    >>> rk.monitoring.ShiftCounts.restore(days.state(), cal).result() == days.result()
    True
    """

    def __init__(self, calibration: Calibration | Test, *, draw: Draw | None = None) -> None:
        self.calibration = calibration_of(calibration)
        self._draw = draw or self.calibration.draw
        places = range(len(self.calibration.cells[0]))
        self._groups = [_Draws(self.calibration, i, self._draw) for i in places]

    @property
    def n(self) -> int:
        """How many scores were counted."""
        return sum(one.n for one in self._groups)

    def add(self, scores: ArrayLike, groups: ArrayLike | None = None) -> None:
        """Count more scores, with their groups if the calibration has groups."""
        values, index = read_new(self.calibration, scores, groups)
        refuse_nan(values)
        self.add_read(values, index)

    def add_read(self, values: Floats, index: NDArray[np.intp] | None) -> None:
        """Count scores that were read and checked, with the positions of their groups."""
        if index is None:
            self._groups[0].add(values)
            return
        for i in np.unique(index):
            self._groups[i].add(values[index == i])

    def state(self) -> dict[str, Any]:
        """Return the counts as plain values: a few numbers for each group, and no scores."""
        counts = [[cells.counts.tolist() for cells in one.cells] for one in self._groups]
        about = {"data_hash": self.calibration.data_hash, "draw": self._draw.to_dict()}
        return {**about, "counts": counts}

    @classmethod
    def restore(cls, state: Mapping[str, Any], calibration: Calibration | Test) -> ShiftCounts:
        """Return the counts of a state, with the calibration that they were made with."""
        if "draw" not in state:
            raise InputError(
                "These counts were made by an earlier version, in cells that depended on the "
                "scores of the calibration.",
                parameter="state",
                remedy="Start anew.",
            )
        made = cls(calibration, draw=Draw.from_dict(state["draw"]))
        counts = state.get("counts", [])
        every = [[cells.counts for cells in one.cells] for one in made._groups]
        fits = [[*map(len, one)] for one in every] == [[*map(len, one)] for one in counts]
        if state.get("data_hash") != made.calibration.data_hash or not fits:
            raise InputError(
                "These counts belong to another calibration.",
                parameter="state",
                remedy="Give the calibration that they were made with, or start anew.",
            )
        for mine, stored in zip(every, counts, strict=True):
            for one, known in zip(mine, stored, strict=True):
                one[:] = known
        return made

    def result(
        self,
        *,
        alpha: float = ALPHA,
        prevalence: float | tuple[float | None, float | None] | None = None,
        enough: float = 1.0,
    ) -> ShiftResult:
        """Judge all that was counted, as `shift_test` does.

        Parameters
        ----------
        alpha, prevalence
            As in `shift_test`.
        enough : float, default=1
            P-values of groups above this need not be exact; a smaller value saves time.
        """
        level = check_probability(alpha, "alpha")
        shares = _shares(prevalence)
        crossed = self.calibration.origin == "cross-fitted"
        raw = [one.p(shares, enough) for one in self._groups]
        made = [
            ShiftResult(p, level, one.n, *one.cells[0].share(shares), shares, {}, crossed)
            for one, p in zip(self._groups, holm(raw).tolist(), strict=True)
        ]
        names = self.calibration.groups
        if names is None:
            return made[0]
        return ShiftResult(
            p=min(one.p for one in made),
            alpha=level,
            n=self.n,
            prevalence=None,
            interval=None,
            gap=None,
            looked_at=shares,
            groups=dict(zip(names.tolist(), made, strict=True)),
            cross_fitted=crossed,
        )

    def warn(self, *, stacklevel: int = 2) -> None:
        """Warn if the scores are no mixture, but for a chance of 1 in 10,000."""
        found = self.result(alpha=WARNS_AT, enough=100 * WARNS_AT)
        if found.shifted:
            warnings.warn(ShiftWarning(found.warning()), stacklevel=stacklevel + 1)


def calibration_of(given: Calibration | Test) -> Calibration:
    """Return a calibration that can be tested, or raise."""
    calibration: Any = getattr(given, "calibration", given)
    if not hasattr(calibration, "cells"):
        raise InputError(parameter="calibration", value=given, need="a Calibration or a test")
    reason = refusal(calibration)
    if reason is not None:
        raise reason
    return calibration  # type: ignore[no-any-return]


def refusal(calibration: Calibration) -> InputError | None:
    """Return why a calibration cannot tell what new scores may be; None if it can."""
    try:
        refuse_unlabelled(calibration)
        refuse_clusters(calibration, "The shift test")
    except InputError as error:
        return error
    if calibration.known == "both":
        return None
    missing = int(calibration.known == "negative")
    return InputError(
        f"{no_such_class(calibration, missing)} Any new score may then be of the other class, and "
        "none is a sign of a shift.",
        parameter="calibration",
        remedy="Calibrate with objects of both classes.",
    )


def _shares(prevalence: object) -> tuple[float, float]:
    """Return the lowest and the highest prevalence to look at."""
    if prevalence is None:
        return 0.0, 1.0
    if isinstance(prevalence, tuple | list):
        ends = [
            open_ if one is None else check_probability(one, "prevalence")
            for one, open_ in zip(prevalence, (0.0, 1.0), strict=False)
        ]
        if len(prevalence) != 2 or ends[0] > ends[1]:  # noqa: PLR2004 - an interval
            need = "a share, or the lowest and the highest as two numbers in this order"
            raise InputError(parameter="prevalence", value=prevalence, need=need)
        return ends[0], ends[1]
    share = check_probability(prevalence, "prevalence")
    return share, share


class _Draws:
    """What was counted of a group, in the cells of each division of its calibration objects."""

    def __init__(self, calibration: Calibration, group: int, draw: Draw) -> None:
        scores = [cells[group] for cells in calibration.cells]
        self.cells = [_Cells(scores, draw.child(f"shift/{group}/{i}")) for i in range(_DRAWS)]

    @property
    def n(self) -> int:
        return int(self.cells[0].counts.sum())

    def add(self, values: Floats) -> None:
        for one in self.cells:
            one.add(values)

    def p(self, shares: tuple[float, float], enough: float) -> float:
        """Return the p-value of all divisions, or some value between `enough` and it."""
        factor = _DRAWS / _MIDDLE
        found: list[float] = []
        for one in self.cells:
            found.append(one.p(shares, enough / factor))
            large = sorted(found, reverse=True)[: _DRAWS - _MIDDLE + 1]
            if len(large) == _DRAWS - _MIDDLE + 1 and factor * large[-1] >= enough:
                return min(1.0, factor * large[-1])
        return min(1.0, factor * sorted(found)[_MIDDLE - 1])


class _Cells:
    """The cells that some calibration objects choose, and what was counted in them."""

    def __init__(self, scores: Sequence[Floats], draw: Draw) -> None:
        orders = [_random_order(draw.numbers(one.size, "order", i)) for i, one in enumerate(scores)]
        sizes = [min(_CHOOSERS, -(-one.size // _TENTH)) for one in scores]
        choosers = [one[o[:k]] for one, o, k in zip(scores, orders, sizes, strict=True)]
        # Held as positions, so that many groups need little room until they are asked.
        self._compared = [
            (one, o[k : k + _COMPARED]) for one, o, k in zip(scores, orders, sizes, strict=True)
        ]
        self.boundaries, self._cut = _boundaries(choosers)
        self.counts: Counts = np.zeros(self.boundaries.size + 1, np.int64)

    def add(self, values: Floats) -> None:
        places = self.boundaries.searchsorted(values)
        self.counts += np.bincount(places, minlength=self.counts.size)

    @cached_property
    def sequences(self) -> list[NDArray[np.intp]]:
        """The cells of the calibration objects that are compared, in random order."""
        return [self.boundaries.searchsorted(one[order]) for one, order in self._compared]

    def p(self, shares: tuple[float, float], enough: float) -> float:
        return p_of_mixture(self.sequences, self.counts, shares, enough=enough)

    def share(
        self, shares: tuple[float, float]
    ) -> tuple[float | None, tuple[float, float] | None, Gap | None]:
        """Return the share of positives, its interval, and the gap to the closest mixture."""
        n_cells = self.counts.size
        classes = [np.bincount(one, minlength=n_cells) for one in self.sequences]
        three = [np.cumsum(one) for one in (*classes, self.counts)]
        totals = [int(one[-1]) for one in three]
        if not all(totals):
            return None, (0.0, 1.0), None
        below = [int(one[self._cut]) for one in three]
        share, interval = share_interval(below, totals, CONFIDENCE)
        negative, positive, new = (one[:-1] / n for one, n in zip(three, totals, strict=True))
        tried = np.linspace(*shares, _CLOSEST)[:, np.newaxis]
        mixed = tried * positive + (1.0 - tried) * negative
        away = np.abs(mixed - new)
        closest = int(away.max(axis=1).argmin())
        at = int(away[closest].argmax())
        gap = Gap(float(self.boundaries[at]), float(new[at]), float(mixed[closest, at]))
        return share, interval, gap


def _random_order(numbers: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return places in the order of random numbers; of very many places some at random."""
    n = numbers.size
    most = _CHOOSERS + _COMPARED
    some = np.sort(numbers.argpartition(most)[:most]) if n > most else np.arange(n)
    return some[numbers[some].argsort(kind="stable")]


def _boundaries(choosers: list[Floats]) -> tuple[NDArray[Any], int]:
    """Return the boundaries of cells, and which one separates the classes best.

    Both classes count alike, however many objects they have. A cell holds the scores above the
    boundary before it, up to and with its own.
    """
    values = np.sort(np.concatenate(choosers))
    if not values.size:
        return values, 0
    shares = [
        np.sort(one).searchsorted(values, side="right") / max(one.size, 1) for one in choosers
    ]
    middle = (shares[0] + shares[1]) / np.count_nonzero([one.size for one in choosers])
    wanted = np.arange(1, _CELLS - 2) / (_CELLS - 2)
    places = np.minimum(middle.searchsorted(wanted), values.size - 1)
    found = np.unique(values[np.r_[0, places, values.size - 1]])
    apart = np.abs(shares[0] - shares[1])
    best = values[int(apart.argmax())]
    return found, int(min(found.searchsorted(best), found.size - 1))
