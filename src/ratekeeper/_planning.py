"""How many held-out objects a promise needs, and what to expect with the ones at hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ratekeeper import _markup as markup
from ratekeeper._formatting import exact_percent, percent
from ratekeeper._rates import RealisedRate
from ratekeeper._validation import check_control, check_count, check_probability
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods import Conformal, HighProbability
from ratekeeper.methods._method import first_true
from ratekeeper.methods._rank import critical_rank

if TYPE_CHECKING:
    from ratekeeper.methods._rank import RankMethod

# An excess of about alpha divided by this is the finest: a search of a second or so.
_FINEST = 1000


@dataclass(frozen=True)
class Plan:
    """What a promise needs and what n scores of the null class give.

    Attributes
    ----------
    control : {"fnr", "fpr"}
        For "fnr", n counts held-out positives; for "fpr", held-out negatives.
    alpha, delta, excess
        As asked.
    n_marginal : int
        Smallest n for the promise on average (`Conformal`).
    n_high_probability : int or None
        Smallest n for the promise with probability 1 - delta (`HighProbability`).
    n_excess : int or None
        Smallest n such that with it, and with any larger one, the marginal test has a true rate
        above alpha + excess with probability at most delta.
    n : int or None
        The number of scores asked about.
    realised_marginal, realised_high_probability : RealisedRate or None
        Distribution of the true rate with n scores; None if n was not given or is too small.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.plan("fpr", alpha=0.01, delta=0.05).n_high_probability
    299
    """

    control: str
    alpha: float
    delta: float | None
    excess: float | None
    n_marginal: int
    n_high_probability: int | None
    n_excess: int | None
    n: int | None
    realised_marginal: RealisedRate | None
    realised_high_probability: RealisedRate | None

    @property
    def _title(self) -> str:
        side = "positives" if self.control == "fnr" else "negatives"
        return f"Plan for {self.control.upper()} <= {exact_percent(self.alpha)}, in held-out {side}"

    @property
    def _needs(self) -> list[tuple[str, str]]:
        needs = [("on average (Conformal)", f"at least {self.n_marginal:,}")]
        if self.n_high_probability is not None and self.delta is not None:
            words = f"except with probability {self.delta:g} (HighProbability)"
            needs.append((words, f"at least {self.n_high_probability:,}"))
        if self.n_excess is not None and self.excess is not None:
            words = (
                f"on average, and above {percent(self.alpha + self.excess)} with probability at "
                f"most {self.delta:g}"
            )
            needs.append((words, f"at least {self.n_excess:,}"))
        return needs

    @property
    def _rates(self) -> list[tuple[str, str]]:
        rates = [("Conformal", self._described(self.realised_marginal))]
        if self.delta is not None:
            rates.append(("HighProbability", self._described(self.realised_high_probability)))
        return rates

    def __str__(self) -> str:
        lines = [self._title, *(f"  {words}: {need}" for words, need in self._needs)]
        if self.n is not None:
            lines.append(f"  with {self.n:,}:")
            lines += [f"    {method}: {rate}" for method, rate in self._rates]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        pairs = self._needs
        if self.n is not None:
            pairs += [(f"with {self.n:,}, {method}", rate) for method, rate in self._rates]
        return markup.card(self._title, [markup.facts(pairs)])

    def _described(self, rate: RealisedRate | None) -> str:
        if rate is None:
            return "impossible"
        low, high = rate.interval
        return (
            f"true rate {percent(rate.mean)} on average, {percent(low)} to {percent(high)} in 90% "
            f"of calibration sets, above alpha in {percent(rate.exceeds(self.alpha))}"
        )


def plan(
    control: str,
    alpha: float,
    *,
    delta: float | None = 0.05,
    n: int | None = None,
    excess: float | None = None,
) -> Plan:
    """Say how many held-out objects of the null class a promise needs.

    Parameters
    ----------
    control : {"fnr", "fpr"}
        "fnr" needs positives, "fpr" negatives.
    alpha : float
        The rate to keep.
    delta : float or None, default=0.05
        Chance that a high-probability promise may fail; None to leave it out.
    n : int, optional
        A number of scores to look at: what true rates does it give?
    excess : float, optional
        With delta: how many scores keep the true rate of the marginal test below alpha + excess,
        but for probability delta? Not less than about alpha / 1,000.

    Returns
    -------
    Plan

    Notes
    -----
    **Guarantee.** The numbers are exact for independent, continuous scores, where rows of one
    person, device or household count as one; ties only make true rates smaller. They are about the
    controlled error alone: the other one depends on the score. With ``calibrate(clusters=...)``
    they count clusters that have rows of the class, since more rows of the same clusters are not
    more objects; the true rates of `Conformal` then have another distribution, which is not known.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.plan("fnr", alpha=0.05, delta=0.05, n=100)
    Plan for FNR <= 5%, in held-out positives
      on average (Conformal): at least 19
      except with probability 0.05 (HighProbability): at least 59
      with 100:
        Conformal: true rate 4.95% on average, 1.99% to 8.92% in 90% of calibration sets, ...
        HighProbability: true rate 1.98% on average, 0.36% to 4.66% in 90% of calibration ...
    """
    control = check_control(control)
    alpha = check_probability(alpha, "alpha")
    if delta is not None:
        delta = check_probability(delta, "delta")
    if n is not None:
        n = check_count(n, "n")
    if excess is not None:
        excess = _check_excess(excess, alpha, delta)
    strict = None if delta is None else HighProbability(delta)
    return Plan(
        control=control,
        alpha=alpha,
        delta=delta,
        excess=excess,
        n_marginal=Conformal().smallest_n(alpha),
        n_high_probability=None if strict is None else strict.smallest_n(alpha),
        n_excess=None if excess is None or delta is None else _n_for_excess(alpha, delta, excess),
        n=n,
        realised_marginal=None if n is None else _realised(Conformal(), alpha, n),
        realised_high_probability=None
        if n is None or strict is None
        else _realised(strict, alpha, n),
    )


def _check_excess(excess: float, alpha: float, delta: float | None) -> float:
    given = Parameter("excess", excess)
    if delta is None:
        raise InputError(
            (given, " needs ", Parameter("delta"), ": how often may the excess happen?"),
            parameter="excess",
            value=excess,
            remedy=("Pass ", Parameter("delta", 0.05), "."),
        )
    excess = check_probability(excess, "excess")
    finest = alpha * math.sqrt(1.0 - alpha) / _FINEST
    if excess >= 1.0 - alpha:
        raise InputError(
            (given, " with ", Parameter("alpha", alpha), " allows every rate."),
            parameter="excess",
            value=excess,
            remedy=f"It must be less than 1 - alpha = {1 - alpha:g}.",
        )
    if excess < finest:
        raise InputError(
            (given, " is too small a part of ", Parameter("alpha", alpha), "."),
            parameter="excess",
            value=excess,
            remedy=f"Plans go down to {finest:.2g}. Take at least that.",
        )
    return excess


def _realised(method: RankMethod, alpha: float, n: int) -> RealisedRate | None:
    k = critical_rank(method, n, alpha)
    return RealisedRate(k, n) if k else None


def _n_for_excess(alpha: float, delta: float, excess: float) -> int:
    """Find the n from which on P(true rate > alpha + excess) stays at or below delta.

    The probability P(Binomial(n, alpha + excess) < k) falls with n as long as the rank k stays,
    and jumps up where the rank grows. So the answer lies after the last rank that begins badly.
    """
    rate = alpha + excess

    def first_n(k: int) -> int:
        # The smallest n with k / (n + 1) <= alpha, in the very division that Conformal makes.
        size = round(k / alpha)
        return size - 1 if k / size <= alpha else size

    def is_bad(k: int, n: int) -> bool:
        return k > n or RealisedRate(k, n).exceeds(rate) > delta

    def last_bad(low: int, high: int) -> int:
        # No rank from low to high can be worse than the highest with the fewest scores.
        if not is_bad(high, first_n(low)):
            return 0
        if low == high:
            return low
        middle = (low + high) // 2
        return last_bad(middle + 1, high) or last_bad(low, middle)

    # Chernoff: at most exp(-n excess^2 / (2 rate (1 - alpha))), so from here on all is well.
    enough = -2.0 * rate * (1.0 - alpha) * math.log(delta) / excess**2
    k = last_bad(1, math.ceil(alpha * (enough + 1.0)) + 1)
    return first_true(lambda n: not is_bad(k, n), start=first_n(k)) if k else first_n(1)
