"""Learn then Test (Angelopoulos et al.): thresholds certified one after the other."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._ranks import count_as_extreme
from ratekeeper._reading._columns import read_scores
from ratekeeper._reading._parameters import check_count
from ratekeeper.baselines._splitting import require_for
from ratekeeper.baselines._system import ModelThreshold, WithDelta, WithSplit, parameter, system
from ratekeeper.exceptions import InputError
from ratekeeper.methods import Guarantee, HighProbability

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.baselines._system import Floats, Mask


def _read_grid(grid: object, name: str = "grid") -> int | NDArray[np.float64]:
    """Return the number of thresholds, or the thresholds."""
    if isinstance(grid, Real):
        return check_count(grid, name)
    values = read_scores(grid, name).astype(np.float64)  # type: ignore[arg-type]
    if values.size == 0 or np.isnan(values).any():
        raise InputError(
            parameter=name,
            value=grid,
            need=(
                "a number of thresholds, or a list of at least one threshold without NaN, in the "
                "order in which they are to be tested"
            ),
        )
    return values


@system
class LearnThenTest(ModelThreshold, WithSplit, WithDelta):
    """Test thresholds in an order fixed in advance, and stop at the first that is not certified.

    The null class is split; a part of it and all of the other class train the classifier and set
    a grid of thresholds. The held-out rows test, for each threshold in turn, the hypothesis that
    its rate is above alpha. The boldest threshold certified before the first failure is taken.

    Parameters
    ----------
    grid : int or array-like, default=1000
        Number of thresholds, from the most cautious to the boldest: half of them equally spaced
        between the lowest and the highest training score, half of them quantiles of the training
        scores of the null class. Or the thresholds themselves, in the order in which they are to
        be tested; high scores are evidence against the null class. They must be chosen without
        looking at these rows.

    Attributes
    ----------
    grid_ : ndarray
        The thresholds in the order tested.
    p_values_ : ndarray
        Of the hypotheses "the rate at this threshold is above alpha".
    threshold_ : float
        Objects with scores strictly above are rejected; infinity, so that none is, if the first
        threshold already fails.

    Notes
    -----
    **Guarantee.** High probability, finite-sample: except with probability delta over held-out
    rows the rate of the fitted classifier is at most alpha. It needs at least
    ln(delta) / ln(1 - alpha) held-out rows of the null class, and is refused with fewer. No
    correction for the number of thresholds is due, since the tests stop at the first failure.

    With m errors among n held-out rows the p-value is P(Bin(n, alpha) <= m). The paper takes the
    smaller of it (for general losses e times it) and Hoeffding's exp(-n kl(m / n, alpha)). The
    smaller of two valid p-values is not valid by itself. For errors that are 0 or 1 it is,
    because Hoeffding's is Chernoff's bound of the first and so never below it: the smaller one
    is always the binomial tail, which is exact.

    A threshold is certified exactly where the umbrella algorithm's is not higher. So on a grid in
    descending order that reaches above that one, the two differ by at most one step; on a grid
    that does not, nothing is certified.

    References
    ----------
    A. N. Angelopoulos, S. Bates, E. J. Candes, M. I. Jordan, L. Lei, "Learn then test: calibrating
    predictive algorithms to achieve risk control", arXiv 2110.01052 (2021).

    Examples
    --------
    >>> clf = LearnThenTest(control="fnr", alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.n_training_
    463
    >>> clf.guarantee.kind
    'high probability'
    """

    grid: int | ArrayLike = parameter(1000, _read_grid)

    @property
    def guarantee(self) -> Guarantee:
        """High probability."""
        return Guarantee(
            kind="high probability",
            promise=(
                f"Except with probability at most {self.delta:g} over held-out rows, the true "
                "rate of this classifier is at most alpha."
            ),
            condition=(
                "rows drawn independently from the population of the new ones, with alpha and, if "
                "it is given, the grid chosen before looking at them."
            ),
            not_covered="choosing alpha or the grid after looking at results.",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = self._hold_out(is_null, rng)
        require_for(HighProbability(self.delta), self.alpha, held_out.size)
        self._train(X[rows], is_null[rows])
        grid = _read_grid(self.grid)
        if isinstance(grid, int):
            scores = self._score(X[rows])
            grid = cautious_first(scores, scores[is_null[rows]], grid)
        self.grid_ = grid
        self.p_values_ = p_values(np.sort(self._score(X[held_out])), self.grid_, self.alpha)
        # Fixed-sequence testing: what comes after the first failure is ignored.
        certified = np.logical_and.accumulate(self.p_values_ <= self.delta)
        self.threshold_ = float(np.min(self.grid_[certified], initial=np.inf))


def cautious_first(scores: Floats, null_scores: Floats, size: int) -> Floats:
    """Return thresholds, descending, from training scores alone.

    `size` is their number before equal ones are dropped.

    Examples
    --------
    >>> cautious_first(np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.2]), 4)
    array([1. , 0.2, 0. ])
    """
    half = size // 2
    spaced = np.linspace(scores.max(), scores.min(), size - half)
    quantiles = np.quantile(null_scores, np.linspace(0, 1, half)) if half else np.zeros(0)
    return np.unique(np.concatenate([spaced, quantiles]))[::-1]


def p_values(null_scores: Floats, grid: Floats, alpha: float) -> Floats:
    """Return P(Bin(n, alpha) <= m) for each threshold, with m of n scores strictly above it.

    Scores are those of held-out rows of the null class, ascending.

    Examples
    --------
    >>> p_values(np.arange(59.0), np.array([58.0, 57.0]), 0.05).round(4)
    array([0.0485, 0.1991])
    """
    from scipy.special import bdtr

    n = null_scores.size
    errors = n - count_as_extreme(null_scores, grid, "low")
    return np.asarray(bdtr(errors, n, alpha))
