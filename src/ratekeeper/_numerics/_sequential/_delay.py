"""How long a watch takes to find a rate above alpha.

The wealth of the bet on the true rate grows by KL(rate, alpha) per outcome, on average, and none
grows faster. So no watch of level delta that is sure to raise the alarm needs fewer than
ln(1/delta) / KL outcomes on average, and that is `fastest`: compare it with `mean_delay`, not with
the median, which is mostly smaller. What `LimitEProcess` needs is worked out exactly: an error
raises its evidence and a correct outcome lowers it, so after T outcomes it raises the alarm at a
count of errors that never falls with T, and the chance to have reached it by T follows outcome by
outcome.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._sequential._audited_e_process import rate_among_labelled, share_labelled
from ratekeeper._numerics._sequential._bets import log_wealth, prices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_FAR = 20_000  # outcomes
_NEVER = 20  # times as many
_LARGE = 0.1  # of an alpha: small ones differ by a scale only
_AT_ONCE = 4_096
_LEFT = 1e-3  # a chance to wait longer, from which on it falls evenly


def fastest(alpha: float, rate: float, delta: float) -> float:
    """Return ln(1/delta) / KL(rate, alpha): no watch needs fewer outcomes on average.

    Examples
    --------
    >>> round(fastest(0.05, 0.1, 0.05))
    145
    """
    from scipy.special import rel_entr

    return -math.log(delta) / float(rel_entr(rate, alpha) + rel_entr(1.0 - rate, 1.0 - alpha))


def delay(alpha: float, rate: float, delta: float, power: float = 0.5) -> float:
    """Return the number of outcomes by which `LimitEProcess` has raised an alarm.

    Parameters
    ----------
    alpha, delta : float
        Those of the watch.
    rate : float
        The true rate of independent outcomes, above alpha.
    power : float, default=0.5
        The probability with which the alarm is raised by then; the median by default.

    Returns
    -------
    float
        A whole number, exact, where `fastest` is at most 20,000. For smaller alphas that of a
        larger one with the same odds ratio, scaled by `fastest`, within some percents. Infinity if
        the rate is at most alpha, or above it by so little that it takes tens of thousands.

    Examples
    --------
    >>> delay(0.05, 0.1, 0.05), delay(0.05, 0.075, 0.05), delay(0.05, 0.06, 0.05)
    (165.0, 556.0, 3331.0)
    """

    def by(alpha: float, rate: float) -> float:
        for first, reached in _chances(alpha, rate, delta):
            if reached[-1] >= power:
                return float(first + np.argmax(reached >= power))
            if first > _NEVER * _FAR:
                break
        return math.inf

    return _scaled(alpha, rate, delta, by)


def mean_delay(alpha: float, rate: float, delta: float) -> float:
    """Return the number of outcomes to the alarm of `LimitEProcess` on average.

    This, and not the median, is what `fastest` bounds. Exact to some 0.1 per mille where `fastest`
    is at most 20,000: chances to wait longer are added up until one of 1,000 is left, and those
    beyond go on falling as they did. Else as `delay`.

    Examples
    --------
    >>> [round(mean_delay(0.05, rate, 0.05)) for rate in (0.1, 0.075, 0.06)]
    [198, 679, 4088]
    """

    def mean(alpha: float, rate: float) -> float:
        waiting = np.ones(1)  # chances to wait longer than 0, 1, 2, ... outcomes
        for first, reached in _chances(alpha, rate, delta):
            waiting = np.append(waiting, np.maximum(1.0 - reached, 0.0))
            if waiting[-1] <= _LEFT:
                end = int(np.argmax(waiting <= _LEFT))
                half, last = end // 2, float(waiting[end])
                falls = math.log(waiting[half] / last) / (end - half) if last else math.inf
                return float(waiting[:end].sum()) + last / falls
            if first > _NEVER * _FAR:
                break
        return math.inf

    return _scaled(alpha, rate, delta, mean)


def _scaled(
    alpha: float, rate: float, delta: float, count: Callable[[float, float], float]
) -> float:
    """Return a number of outcomes, counted at an alpha at which that does not take too long."""
    if rate <= alpha:
        return math.inf
    far = fastest(alpha, rate, delta)
    if far <= _FAR:
        return count(alpha, rate)
    larger = alpha * far / _FAR
    if larger > _LARGE:
        return math.inf
    odds = rate / (1.0 - rate) * (1.0 - alpha) / alpha * larger / (1.0 - larger)
    moved = odds / (1.0 + odds)
    return far * _scaled(larger, moved, delta, count) / fastest(larger, moved, delta)


def audited_mean_delay(
    control: str, alpha: float, rate: float, delta: float, audit: float
) -> float:
    """Return the number of objects to the alarm of `AuditedEProcess` on average.

    That of `mean_delay` divided by the share with labels, which by Wald's equation is exact.
    """
    limit, true = (rate_among_labelled(control, one, audit) for one in (alpha, rate))
    return mean_delay(limit, true, delta) / share_labelled(control, rate, audit)


def audited_delay(
    control: str, alpha: float, rate: float, delta: float, audit: float, power: float = 0.5
) -> float:
    """Return by how many objects of the null class `AuditedEProcess` has raised an alarm.

    Labelled and unlabelled ones are counted. Of all of them a certain share is labelled, and those
    are the outcomes of `delay`, at the rates that labelled ones have.

    Parameters
    ----------
    control : {"fnr", "fpr"}
        The error rate that is watched.
    alpha, delta : float
        Those of the watch.
    rate : float
        The true error rate, above alpha.
    audit : float
        The share of the objects not flagged that is audited.
    power : float, default=0.5
        The probability with which the alarm is raised by then.

    Examples
    --------
    >>> [round(audited_delay("fnr", 0.05, 0.1, 0.05, audit)) for audit in (1, 0.5, 0.1, 0.01)]
    [165, 316, 1557, 15509]
    """
    limit, true = (rate_among_labelled(control, one, audit) for one in (alpha, rate))
    return delay(limit, true, delta, power) / share_labelled(control, rate, audit)


def alarm_chance(alpha: float, rate: float, delta: float, n: int) -> float:
    """Return the probability that `LimitEProcess` has raised an alarm by outcome n, exactly.

    Examples
    --------
    >>> round(alarm_chance(0.05, 0.05, 0.05, 5_000), 4)
    0.0315
    """
    for first, reached in _chances(alpha, rate, delta):
        if n < first + len(reached):
            return float(reached[n - first])
    raise AssertionError


def _chances(alpha: float, rate: float, delta: float) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the number of an outcome, and the chances of an alarm by it and by the next ones."""
    psi, goal = prices(alpha), -math.log(delta)
    at = np.array([1.0])  # chances of 0, 1, 2, ... errors without an alarm
    needed, total = 0, 0.0
    for first in itertools.count(1, _AT_ONCE):
        reached = np.empty(_AT_ONCE)
        bound = _errors_needed(psi, goal, first, needed)
        for i, needed in enumerate(bound.tolist()):
            moved = np.empty(len(at) + 1)
            moved[:-1], moved[-1] = at * (1.0 - rate), 0.0
            moved[1:] += at * rate
            total += float(moved[needed:].sum())
            at = moved[:needed]
            reached[i] = total
        yield first, reached


def _errors_needed(
    psi: NDArray[np.float64], goal: float, first: int, least: int
) -> NDArray[np.intp]:
    """Return how many errors raise an alarm after outcome `first` and each of the next ones."""
    n = np.arange(first, first + _AT_ONCE)
    low, high = np.full(_AT_ONCE, least), n + 1
    while (low < high).any():
        middle = (low + high) // 2
        found = log_wealth(middle.astype(float), n.astype(float), psi) >= goal
        low, high = (
            np.where(found, low, np.minimum(middle + 1, high)),
            np.where(found, middle, high),
        )
    return high
