"""How many more labels until the price falls: an estimate from a calibration's own scores.

With n scores of the null class a method takes the k-th most extreme as the threshold, so that on
average a share k / (n + 1) of the class lies beyond it. More scores bring that share closer to
alpha. What it costs there is read off the scores at hand: at their own threshold with as large a
share beyond it. No number of labels goes further than the share alpha itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._numerics._rates import Rate, clopper_pearson
from ratekeeper._reading._parameters import check_control, check_probability
from ratekeeper._wording._formatting import exact_percent, listed_with_count, percent, plain_value
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._cells import (
    known_groups,
    no_such_class,
    refuse_clusters,
    refuse_unlabelled,
    tail_of,
)
from ratekeeper.exceptions import InputError, Parameter, TooFewScoresError
from ratekeeper.methods import Conformal, HighProbability, check_method
from ratekeeper.methods._method import first_true
from ratekeeper.methods._rank import critical_rank
from ratekeeper.planning._text import Numbers, PlanText

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats, Tail
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.methods import Method

_MISSED = 0.05  # by an interval: half for the threshold, half for the price there
_MOST = 10**9  # labels that are worth a thought


class Price(NamedTuple):
    """An estimated price with its 95% interval.

    Attributes
    ----------
    rate : float
        Share of wrong decisions on the class that is not controlled.
    low, high : float
        Ends of the interval.
    """

    rate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{percent(self.rate)} ({percent(self.low)} to {percent(self.high)})"


@dataclass(frozen=True)
class Prices:
    """The price at each rank of the scores at hand.

    Parameters
    ----------
    null, other : ndarray
        Ascending scores of the controlled class and of the other one.
    tail : {"low", "high"}
        Which end is evidence against the controlled class.
    """

    null: Floats
    other: Floats
    tail: Tail

    def wrong(self, ranks: NDArray[np.intp]) -> NDArray[np.intp]:
        """Count the others on the wrong side of the k-th most extreme score.

        Nobody leaves the null class for k = 0, so all others are wrong; none is for k = n + 1.
        """
        n = self.null.size
        inside = np.clip(ranks, 1, n)
        if self.tail == "low":
            wrong = self.other.size - self.other.searchsorted(self.null[inside - 1])
        else:
            wrong = self.other.searchsorted(self.null[n - inside], side="right")
        return np.where(ranks < 1, self.other.size, np.where(ranks > n, 0, wrong))

    def counted(self, rank: int) -> Price:
        """Return the price at the score of this rank itself."""
        rate = Rate(int(self.wrong(np.array(rank))), self.other.size)
        return Price(rate.rate, *rate.interval)

    def at(self, rank: int, share: float) -> Price:
        """Return the price where this share of the null class lies beyond, near this rank.

        The threshold there lies between two of the scores, but for half of the chance, and the
        price at each of those is within its exact limit, but for the other half: they are given,
        and the other class is independent of them.
        """
        from scipy.special import bdtr, bdtrc

        n, tail = self.null.size, _MISSED / 4
        # The share beyond the j-th score is above `share` if fewer than j scores are beyond it.
        strict = first_true(lambda j: j > n or bool(bdtr(j - 1, n, share) > tail)) - 1
        loose = first_true(lambda j: j > n or bool(bdtrc(j - 1, n, share) <= tail))
        most, counted, least = self.wrong(np.array([strict, rank, loose])).tolist()
        low = clopper_pearson(least, self.other.size, 1 - 2 * tail)[0]
        high = clopper_pearson(most, self.other.size, 1 - 2 * tail)[1]
        return Price(counted / self.other.size, float(low), float(high))


@dataclass(frozen=True, repr=False)
class PricePlan(PlanText):
    """How many labels of the controlled class bring the price down.

    Made by `Calibration.labels_for_price`.

    Attributes
    ----------
    control, alpha, method
        The promise.
    price : float
        The wanted price: a share of wrong decisions on the class that is not controlled.
    n : int
        Calibration scores of the controlled class at hand.
    now : Price or None
        The price of the test with these, with the interval of its certificate; None if they are
        too few for the promise.
    n_needed : int or None
        About how many are needed, at least n; None if no number is enough.
    then : Price or None
        The price with that many.
    limit : Price
        The price with any number of labels, at best.
    share : float or None
        Share of the controlled class in the calibration; None if it was chosen.
    n_least : int
        Smallest number with which the promise can be made.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> cal = rk.calibrate(rng.normal(np.repeat([0, 2], 500)), np.repeat([0, 1], 500))
    >>> cal.labels_for_price("fnr", 0.05, price=0.2).limit.rate
    0.372
    """

    control: str
    alpha: float
    method: Method
    price: float
    n: int
    now: Price | None
    n_needed: int | None
    then: Price | None
    limit: Price
    share: float | None
    n_least: int

    @property
    def n_more(self) -> int | None:
        """About how many more of the class are needed; None if no number is enough."""
        return None if self.n_needed is None else self.n_needed - self.n

    @property
    def n_more_objects(self) -> int | None:
        """About how many more objects to label, if the class stays as common; None if unknown."""
        if self.n_more is None or self.share is None:
            return None
        return math.ceil(self.n_more / self.share)

    @property
    def _other(self) -> str:
        return "FPR" if self.control == "fnr" else "FNR"

    @property
    def _title(self) -> str:
        return say(
            "plan.price.title",
            other=self._other,
            price=exact_percent(self.price),
            rate=self.control.upper(),
            alpha=exact_percent(self.alpha),
            method=self.method,
        )

    @property
    def _parts(self) -> list[tuple[str, Numbers]]:
        objects = say(f"plan.{self.control}")
        at_hand = say("plan.price.now", n=f"{self.n:,}", objects=objects)
        too_few = say("plan.price.now.none", n=f"{self.n_least:,}")
        numbers = [(at_hand, too_few if self.now is None else f"{self._other} {self.now}")]
        needed = say("plan.price.needed", objects=objects)
        if self.n_needed is None:
            beyond = self.limit.rate <= self.price
            numbers.append((needed, say("plan.price.beyond" if beyond else "plan.price.never")))
        elif not self.n_more:
            numbers.append((needed, say("plan.price.reached", n=f"{self.n:,}")))
        else:
            more = say("plan.price.more", n=f"{self.n_needed:,}", more=f"{self.n_more:,}")
            numbers.append((needed, more))
            if self.share is not None and self.n_more_objects is not None:
                facts = {"n": f"{self.n_more_objects:,}", "part": percent(self.share)}
                to_label = say("plan.price.share.n", objects=objects, **facts)
                numbers.append((say("plan.price.share"), to_label))
            then = say("plan.price.then", n=f"{self.n_needed:,}")
            numbers.append((then, f"{self._other} {self.then}"))
        return [("", [*numbers, (say("plan.price.limit"), f"{self._other} {self.limit}")])]

    @property
    def _notes(self) -> list[str]:
        sides = [say(f"plan.{control}") for control in ("fnr", "fpr")]
        objects, rest = sides if self.control == "fnr" else sides[::-1]
        notes = [say("plan.price.assumption", objects=objects, rest=rest)]
        if self.n_more != 0 and self.limit.low <= self.price < self.limit.high:
            notes.append(say("plan.price.doubt", price=exact_percent(self.price)))
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        prices = {"now": self.now, "then": self.then, "limit": self.limit}
        return {
            "control": self.control,
            "alpha": self.alpha,
            "method": repr(self.method),
            "price": self.price,
            "n": self.n,
            "n_needed": self.n_needed,
            "n_more": self.n_more,
            "n_more_objects": self.n_more_objects,
            "n_least": self.n_least,
            **{name: None if one is None else one._asdict() for name, one in prices.items()},
        }


def labels_for_price(
    calibration: Calibration,
    control: str,
    alpha: float,
    *,
    price: float,
    method: Method | str,
    group: object,
) -> PricePlan:
    """Estimate the labels for a price; see `Calibration.labels_for_price`."""
    control = check_control(control)
    alpha, price = check_probability(alpha, "alpha"), check_probability(price, "price")
    method = check_method(method)
    if not isinstance(method, Conformal | HighProbability) or not method.decides_by_threshold:
        need = "Conformal() or HighProbability(delta), with ties left as they are"
        raise InputError(parameter="method", value=method, need=need)
    prices = _prices(calibration, control, group)
    n = prices.null.size
    limit = critical_rank(Conformal(), n, alpha)
    if not limit:
        needed = Conformal().smallest_n(alpha)
        raise TooFewScoresError(
            f"{n:,} {say(f'plan.{control}')} show nothing about the price at "
            f"{control.upper()} <= {exact_percent(alpha)}.",
            available=n,
            needed=needed,
            remedy=f"At least {needed:,} are needed.",
        )
    own = critical_rank(method, n, alpha)
    wrong = prices.wrong(np.arange(1, limit + 1))
    low_enough = np.flatnonzero(wrong / prices.other.size <= price)
    rank = int(low_enough[0]) + 1 if low_enough.size else None
    n_needed = None
    if rank is not None:
        n_needed = n if own >= rank else _n_for_share(method, alpha, rank / (n + 1), n)
    # The sizes of the classes say how common they are only if nobody chose them.
    common = n / (n + prices.other.size) if calibration.sampling == "population" else None
    return PricePlan(
        control,
        alpha,
        method,
        price,
        n,
        prices.counted(own) if own else None,
        n_needed,
        None if rank is None or n_needed is None else prices.at(rank, rank / (n + 1)),
        prices.at(limit, alpha),
        common,
        method.smallest_n(alpha),
    )


def _n_for_share(
    method: Conformal | HighProbability, alpha: float, share: float, n: int
) -> int | None:
    """Return from how many scores on the threshold has this share beyond it, on average.

    The share k / (n + 1) falls with n until the rank k grows, so it is looked at just before. None
    if that takes more labels than anybody has.
    """

    def first_n(k: int) -> int:
        return first_true(lambda n: critical_rank(method, n, alpha) >= k, start=k)

    def stays(k: int) -> bool:
        return k / first_n(k + 1) >= share or first_n(k) > _MOST

    found = max(first_n(first_true(stays)), n + 1)
    return found if found <= _MOST else None


def _prices(calibration: Calibration, control: str, group: object) -> Prices:
    refuse_unlabelled(calibration)
    refuse_clusters(calibration, "An estimate of the price")
    place, null_class = 0, int(control == "fnr")
    if calibration.groups is not None:
        if group is None:
            known = listed_with_count(calibration.groups.tolist())
            raise InputError(
                f"The calibration has groups ({known}), and each has its own price.",
                parameter="group",
                remedy=("Pass ", Parameter("group"), ", one of them."),
            )
        place = known_groups(calibration, [plain_value(group)])[0]
    elif group is not None:
        raise InputError(
            (Parameter("group", group), " was given, but the calibration has no groups."),
            parameter="group",
            value=group,
            remedy="Leave it out.",
        )
    null, other = (calibration.cells[label][place] for label in (null_class, 1 - null_class))
    if not other.size:
        raise InputError(
            f"{no_such_class(calibration, 1 - null_class)} So nothing is known about the price."
            if calibration.groups is None
            else f"Group {plain_value(group)!r} has no objects of the other class."
        )
    return Prices(null, other, tail_of(calibration, null_class))
