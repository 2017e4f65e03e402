"""What mistakes cost: reading a cost matrix, and the search of the cost ratio for an error rate.

Everything that minimises expected cost depends on a cost matrix only through two numbers: how
much more each mistake costs than the right answer. `Losses` holds them in the coding of the
systems: an object is rejected, or kept in the null class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from ratekeeper._numerics._rates import Rate
from ratekeeper._system._progress import track
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from ratekeeper.baselines._system import Floats, Mask

Fitted = TypeVar("Fitted")

LARGEST_RATIO = 1e9  # beyond it float probabilities can hardly be told from 0 and 1
STEPS = 20  # of the bisection: cost ratios are then told apart to 0.004%


@dataclass(frozen=True)
class Losses:
    """What the two mistakes cost above the right answer.

    `wrong_rejection` is that of rejecting an object of the null class, the controlled error, and
    `wrong_keep` that of keeping an object of the other class.

    Examples
    --------
    >>> Losses(wrong_rejection=9.0, wrong_keep=1.0).threshold
    0.9
    """

    wrong_rejection: float
    wrong_keep: float

    @classmethod
    def at_ratio(cls, ratio: float) -> Losses:
        """Return two losses in this ratio, the controlled error's first.

        They add up to 2, as without costs, so that a learner with a penalty on its coefficients
        is held back about as much as it is without costs.

        Examples
        --------
        >>> Losses.at_ratio(3.0)
        Losses(wrong_rejection=1.5, wrong_keep=0.5)
        """
        return cls(2 * ratio / (1 + ratio), 2 / (1 + ratio))

    @property
    def threshold(self) -> float:
        """The probability of the other class above which rejecting costs less than keeping."""
        # Equation 2 of Elkan (2001), with halves, since the sum of two large costs may overflow.
        rejection, keep = self.wrong_rejection / 2, self.wrong_keep / 2
        return rejection / (rejection + keep)

    def of_rows(self, is_null: Mask) -> Floats:
        """Return what a mistake on each row costs.

        Examples
        --------
        >>> Losses(9.0, 1.0).of_rows(np.array([True, False]))
        array([9., 1.])
        """
        return np.where(is_null, self.wrong_rejection, self.wrong_keep)

    def matrix(self, null_class: int) -> Floats:
        """Return them as a cost matrix in the order (negative, positive).

        Examples
        --------
        >>> Losses(9.0, 1.0).matrix(null_class=1)
        array([[0., 9.],
               [1., 0.]])
        """
        costs = np.zeros((2, 2))
        costs[1 - null_class, null_class] = self.wrong_rejection
        costs[null_class, 1 - null_class] = self.wrong_keep
        return costs


def read_costs(costs: ArrayLike, name: str = "costs") -> Floats:
    """Return a checked cost matrix.

    Rows are predictions and columns the truth, in the order (negative, positive). A right answer
    may cost something, too, or bring a gain (a negative cost), but each mistake must cost more than
    the right answer on the same object: the reasonableness conditions of Elkan (2001), without
    which one answer is best for every object.

    Raises
    ------
    InputError
        If it is no such matrix.

    Examples
    --------
    >>> read_costs([[0, 10], [1, 0]])
    array([[ 0., 10.],
           [ 1.,  0.]])
    """
    need = (
        "a cost matrix [[C00, C01], [C10, C11]] of finite numbers, Cij the cost of predicting "
        "class i when class j is the truth, 0 negative and 1 positive"
    )
    try:
        matrix = np.asarray(costs)
    except ValueError:  # rows of unequal length
        matrix = np.empty(0)
    if matrix.shape != (2, 2) or matrix.dtype.kind not in "iuf":
        raise InputError(parameter=name, value=costs, need=need)
    matrix = matrix.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        excess = (matrix[1, 0] - matrix[0, 0], matrix[0, 1] - matrix[1, 1])
    if not np.isfinite(matrix).all() or not np.isfinite(excess).all():
        raise InputError(parameter=name, value=matrix.tolist(), need=need)
    mistakes = (1, 0, "a false alarm", "negative"), (0, 1, "a missed positive", "positive")
    for (wrong, truth, mistake, kind), more in zip(mistakes, excess, strict=True):
        if more <= 0:
            raise InputError(
                f"costs[{wrong}][{truth}]={matrix[wrong, truth]:g}, the cost of {mistake}, must be "
                f"above costs[{truth}][{truth}]={matrix[truth, truth]:g}, that of the right answer "
                f"on a {kind}, or one answer is best for every object.",
                parameter=name,
                value=matrix.tolist(),
                remedy="Check that rows are predictions and columns the truth.",
            )
    return matrix


def losses_of(costs: Floats, null_class: int) -> Losses:
    """Return what a checked cost matrix says in the coding of the systems.

    Examples
    --------
    >>> losses_of(np.array([[0.0, 10.0], [1.0, -2.0]]), null_class=1)
    Losses(wrong_rejection=12.0, wrong_keep=1.0)
    """
    null, other = null_class, 1 - null_class
    return Losses(
        wrong_rejection=float(costs[other, null] - costs[null, null]),
        wrong_keep=float(costs[null, other] - costs[other, other]),
    )


def check_test_costs(test_costs: ArrayLike, name: str = "test_costs") -> None:
    """Raise unless they are numbers from 0 up, one for each column.

    Examples
    --------
    >>> check_test_costs([0, 2.5])
    """
    try:
        known = np.asarray(test_costs, dtype=np.float64)
    except (TypeError, ValueError):
        known = np.empty((0, 0))
    if known.ndim != 1 or not (np.isfinite(known) & (known >= 0)).all():
        need = "a list of finite numbers from 0 up, what it costs to learn each column of an object"
        raise InputError(parameter=name, value=test_costs, need=need)


def read_test_costs(test_costs: ArrayLike | None, columns: int) -> Floats:
    """Return checked costs of learning each column of an object, by default nothing.

    Examples
    --------
    >>> read_test_costs(None, columns=2)
    array([0., 0.])
    """
    if test_costs is None:
        return np.zeros(columns)
    known = np.asarray(test_costs, dtype=np.float64)
    if known.size != columns:
        raise InputError(
            f"test_costs has {known.size:,} number(s), and X has {columns:,} column(s).",
            parameter="test_costs",
            value=test_costs,
            remedy="Give one for each column.",
        )
    return known


@dataclass(frozen=True)
class Attempt(Generic[Fitted]):
    """What came out at one cost ratio.

    The errors are those on the held-out rows of the null class, and of the other.
    """

    losses: Losses
    fitted: Fitted
    error: Rate
    other_error: Rate


def search_ratio(
    try_at: Callable[[Losses], tuple[Fitted, Mask]],
    keeps_all: Fitted,
    is_null: Mask,
    alpha: float,
) -> Attempt[Fitted]:
    """Bisect the logarithm of the cost ratio for a held-out error of at most alpha.

    `try_at` returns what it fitted at some losses, and which held-out rows that rejects;
    `keeps_all` is of the same form and never rejects.

    Of the attempts with a held-out error of at most alpha the one with the smallest other error is
    returned. Nothing is refitted: what was measured is what is returned. If no attempt reaches
    alpha, it is `keeps_all` at an infinite cost, which reaches any alpha.

    Notes
    -----
    The ratio is sought between 1 to 1,000,000,000 and 1,000,000,000 to 1, in 20 steps, or fewer
    once the other error can no longer fall. The error need not fall steadily as the ratio rises,
    so that a better ratio may be missed; one above alpha is never returned.

    Examples
    --------
    >>> p_other = np.array([0.1, 0.3, 0.6, 0.7, 0.8, 0.9])
    >>> is_null = np.array([True, True, True, False, True, False])
    >>> def cut(losses):
    ...     return losses.threshold, p_other > losses.threshold
    >>> found = search_ratio(cut, 1.0, is_null, alpha=0.25)
    >>> print(found.error, found.other_error, sep=chr(10))
    25.00% (0.63% to 80.59%)
    0.00% (0.00% to 84.19%)
    """
    low, high = -math.log(LARGEST_RATIO), math.log(LARGEST_RATIO)
    below: Attempt[Fitted] | None = None  # the last attempt on either side of alpha
    above: Attempt[Fitted] | None = None
    best: Attempt[Fitted] | None = None
    for _ in track(range(STEPS), "searching the cost ratio"):
        middle = (low + high) / 2
        attempt = _attempt(try_at, Losses.at_ratio(math.exp(middle)), is_null)
        if attempt.error.rate <= alpha:
            high, below = middle, attempt
            best = attempt if best is None else min(best, attempt, key=_rank)
        else:
            low, above = middle, attempt
        if below and above and below.other_error.errors <= above.other_error.errors:
            break
    if best is None:
        n_null = int(is_null.sum())
        n_other = is_null.size - n_null
        return Attempt(Losses(math.inf, 1.0), keeps_all, Rate(0, n_null), Rate(n_other, n_other))
    return best


def _attempt(
    try_at: Callable[[Losses], tuple[Fitted, Mask]], losses: Losses, is_null: Mask
) -> Attempt[Fitted]:
    fitted, rejected = try_at(losses)
    n_null = int(is_null.sum())
    wrong_rejections = int(np.count_nonzero(rejected & is_null))
    wrong_keeps = int(np.count_nonzero(~rejected & ~is_null))
    return Attempt(
        losses, fitted, Rate(wrong_rejections, n_null), Rate(wrong_keeps, is_null.size - n_null)
    )


def _rank(attempt: Attempt[Fitted]) -> tuple[int, int]:
    """Order attempts: first by the other error, then by the controlled one."""
    return attempt.other_error.errors, attempt.error.errors
