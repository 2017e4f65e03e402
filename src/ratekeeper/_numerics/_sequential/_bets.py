"""Bets that an error rate is above a limit, at several odds at once.

One bet says: the odds of an error are e^theta times those of the rate p. Its stake is multiplied by
the likelihood ratio of every outcome, which is e^(theta - psi) for an error and e^(-psi) for a
correct one, with psi = ln(1 - p + p e^theta). A share of one unit is put on each of a few thetas,
so the wealth after k errors of T outcomes is a sum with a term per bet:

    E = sum over j of w_j e^(k theta_j - T psi_j).

**Proof that it is fair or worse.** Let the rate of the next outcome, given all that happened
before, be r. The factor of a bet has the expectation e^(-psi) (1 - r + r e^theta), which is 1 at
r = p and rises with r for theta > 0. So wherever r <= p, whatever it depends on and however it
drifts, every bet is a supermartingale with start 1, and so is their weighted mean. By Ville's
inequality the probability that it ever reaches 1/delta is at most delta.

**Two facts that all else here uses.** For theta > 0 an error raises every term and a correct
outcome lowers it, since psi lies between 0 and theta. So E can only reach a new height at an error;
and it never rises if an error is left out, or taken for a correct outcome, or if a correct outcome
is added.

**The choice of bets.** thetas of 0.5 times powers of 2, with shares proportional to
1/(x + 1/x), x = theta / 0.5, so that most is put on odds of some 1.3 to 2.7 times the limit's. At
alpha = delta = 0.05, exact numbers of outcomes to E >= 1/delta:

======================================  =========  =========  ========
true rate                               1.2 alpha  1.5 alpha  2 alpha
======================================  =========  =========  ========
mean: ln(1/delta) / KL, the least            3020        522       145
mean: these 14 bets                          4088        679       198
median: these 14 bets                        3331        556       165
median: 23 bets, in steps of 1.5             3373        562       166
median: equal shares of 13 bets              4165        739       213
median: Beta(1/2, 1/2) cut to (alpha, 1)     6137        897       220
======================================  =========  =========  ========

The first row bounds means, not medians: ours are 1.3 to 1.4 times as large. The ratios of medians
to it are the same at alpha = 0.01, where the Beta's are 2.4, 2.1 and 1.8. A
rate above the limit by less than some 0.05 % of it (half of the smallest theta) is never found; it
would take some 10^8 outcomes. Sums of a few exponentials have no tail that could underflow, and
their logarithms are exact to some 1e-10 for a million outcomes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_STEPS: Floats = np.ldexp(1.0, np.arange(-9, 5))
THETAS: Floats = 0.5 * _STEPS
"""Logarithms of the odds ratios that are bet on: 0.001 to 8."""
_SHARES: Floats = 1.0 / (_STEPS + 1.0 / _STEPS)
LOG_SHARES: Floats = np.log(_SHARES / _SHARES.sum())
"""Logarithms of what is put on each; the shares sum to 1."""

_FAR = 40.0  # log-odds, on which small rates are as exact as large ones
_HALVINGS = 55


def prices(rate: float | Floats) -> Floats:
    """Return psi for each bet: what every outcome costs, so that the bets are fair at this rate."""
    return np.asarray(np.log1p(np.asarray(rate)[..., None] * np.expm1(THETAS)))


def log_wealth(errors: Floats, n: Floats, psi: Floats) -> Floats:
    """Return ln E for counts of errors among counts of outcomes."""
    return log_mean(errors[:, None] * THETAS - n[:, None] * psi)


def log_mean(terms: Floats) -> Floats:
    """Return the logarithm of the mean by shares of e^terms, along the last axis."""
    terms = terms + LOG_SHARES
    top = terms.max(axis=-1)
    return np.asarray(top + np.log(np.exp(terms - top[..., None]).sum(axis=-1)))


def interval(errors: int, n: int, delta: float) -> tuple[float, float]:
    """Return limits for the error rate that hold at all times together.

    Parameters
    ----------
    errors, n : int
        How many of how many outcomes were errors.
    delta : float
        With probability at least 1 - delta the limits hold at every n at once.

    Returns
    -------
    low, high : float
        The limits, within [0, 1].

    Notes
    -----
    **Guarantee.** Let r_t be the rate of outcome t given all before it, and R the mean of r_1 to
    r_n. With probability at least 1 - delta, low <= R <= high for all n at once. No rate has to be
    constant.

    *Proof.* For each theta, of either sign, the product over t of e^(theta m_t) / (1 - r_t +
    r_t e^theta) is a martingale with start 1, hence so is the mean over thetas > 0, and that over
    thetas < 0. Since ln(1 - r + r e^theta) is concave in r, the sum of these logarithms is at most
    n times the value at R, so that the wealth of bets that are fair at R is at most that
    martingale. By Ville's inequality either of the two reaches 2/delta with probability at most
    delta/2. Hence but for the chance of delta, R is at all times among the p at which neither
    wealth reaches 2/delta. The bets on more errors lose wealth as p rises, and those on fewer gain:
    so these p are an interval, and each of its ends is one root.

    Both ends rise if a correct outcome turns into an error, and fall if a correct outcome is added.
    Where labels are missing, take `low` from the counts that are kindest to the test, and `high`
    from the unkindest ones.

    It does not cover the rate at this moment if the rate moves; that of another population; or
    outcomes that were chosen by what they turned out to be.

    Examples
    --------
    >>> low, high = interval(10, 100, 0.05)
    >>> round(low, 3), round(high, 3)
    (0.029, 0.219)
    """
    low, high = intervals(np.array([errors]), np.array([n]), delta)
    return float(low[0]), float(high[0])


def intervals(
    errors: NDArray[np.integer[Any]], n: NDArray[np.integer[Any]], delta: float
) -> tuple[Floats, Floats]:
    """Return the same for many counts at once, say, those at many times."""
    return _low(errors, n, delta), 1.0 - _low(n - errors, n, delta)


def _low(errors: NDArray[Any], n: NDArray[Any], delta: float) -> Floats:
    """Return the rates at which the bets on more errors have earned 2/delta, by halving."""
    k, t, goal = errors.astype(float), n.astype(float), math.log(2.0 / delta)
    low, high = np.full(k.shape, -_FAR), np.full(k.shape, _FAR)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        earned = log_wealth(k, t, prices(_rate(middle))) >= goal
        low, high = np.where(earned, middle, low), np.where(earned, high, middle)
    return np.where(low > -_FAR, _rate(low), 0.0)


def _rate(log_odds: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))
