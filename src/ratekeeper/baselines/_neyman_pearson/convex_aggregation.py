"""Convex aggregation of classifiers under a constraint (Rigollet and Tong, 2011)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_count
from ratekeeper.baselines._inner import score_against, train
from ratekeeper.baselines._neyman_pearson.estimator_lists import (
    check_estimators,
    default_estimators,
)
from ratekeeper.baselines._splitting import hold_out_both, require
from ratekeeper.baselines._system import (
    WithDelta,
    WithSplit,
    check_bool,
    no_promise,
    optional,
    parameter,
    system,
)
from ratekeeper.exceptions import Parameter
from ratekeeper.methods import Guarantee

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._system import Floats, Mask

_ROUNDING = 1e-12  # of a weighted sum of numbers from -1 to 1


@system
class ConvexAggregation(WithSplit, WithDelta):
    """A weighted vote of classifiers, with weights that keep the hinge risk of the null class.

    One part of the rows trains the classifiers, each of which votes -1 (keep) or 1 (reject) at
    several thresholds; one more vote is always -1. Over the weights that add up to 1 the mean
    hinge loss of the other class is minimised on the held-out rows, subject to that of the null
    class being at most alpha there, or less in the strengthened form. An object is rejected if
    the weighted vote is above 0.

    Parameters
    ----------
    estimators : list of classifiers, optional
        What votes; by default logistic regression on scaled columns, Gaussian naive Bayes and a
        random forest.
    strengthen : bool, default=False
        Ask the held-out hinge risk to be at most alpha - kappa / sqrt(n), which makes the rate a
        promise but needs thousands of held-out rows of the null class.
    delta : float, default=0.05
        Probability, over training sets, that the promise of the strengthened form fails.
    cuts : int, default=4
        Number of thresholds at which each classifier votes: those that reject the shares
        alpha / cuts, 2 alpha / cuts, ..., alpha of the training rows of the null class.
    calibration_size : float, default=0.5
        Share of either class that is held out to choose the weights.

    Attributes
    ----------
    models_ : list of classifiers
        One for each estimator.
    cuts_ : ndarray of shape (n_estimators, cuts)
        Scores strictly above are votes to reject.
    weights_ : ndarray of shape (n_estimators * cuts + 1,)
        Weight of each vote, the last one being that which always keeps.
    allowed_ : float
        The constraint on the hinge risk.

    Notes
    -----
    **Guarantee.** Strengthened: high probability, finite-sample; except with probability delta
    the rate is at most alpha. It needs more than (kappa / alpha)^2 held-out rows of the null
    class, 4,449 at the defaults, and is refused with fewer. Otherwise none. As the hinge loss
    counts a wrong vote of full weight twice, the rate is then below alpha on average all the
    same: on one Gaussian problem it was 3% instead of 5%, and above 5% in 23% of 300 trainings
    with 100 rows of either class, in 4% with 500.

    The hinge loss is 1 + h for the null class and 1 - h for the other, with h the weighted vote.
    It is an upper bound of the error, it is linear for votes in [-1, 1], and it can be small: the
    logistic loss log2(1 + exp(h)) is never below 0.45 there, so it would allow no alpha in use.

    The constant is ours: kappa = sqrt(2 ln(M / delta)) for M votes, and may differ from that of
    the paper, which holds for any loss with a Lipschitz constant. Since the hinge loss is linear
    in the weights, its largest deviation over all weights is that of one of the M votes. By
    Hoeffding's inequality, for losses in [0, 2], each of them deviates by
    sqrt(2 ln(M / delta) / n) with probability at most delta / M.

    References
    ----------
    P. Rigollet, X. Tong, "Neyman-Pearson classification, convexity and stochastic constraints",
    Journal of Machine Learning Research 12, 2831-2855 (2011).

    Examples
    --------
    >>> clf = ConvexAggregation(alpha=0.1, positive_label=0, random_state=0).fit(X, y)
    >>> clf.n_training_
    285
    >>> clf.guarantee.kind
    'none'
    """

    estimators: Sequence[BaseEstimator] | None = optional(check_estimators)
    strengthen: bool = parameter(False, check_bool)  # noqa: FBT003 - it is the default
    cuts: int = parameter(4, check_count)

    @property
    def guarantee(self) -> Guarantee:
        """High probability if strengthened, else none."""
        condition = "rows drawn independently from the population of the new ones."
        if self.strengthen:
            return Guarantee(
                kind="high probability",
                promise=(
                    f"Except with probability at most {self.delta:g} over held-out rows, the true "
                    "rate of this classifier is at most alpha."
                ),
                condition=condition,
                not_covered="choosing alpha or the estimators after looking at results.",
            )
        return no_promise(
            "None for new objects; on the held-out rows the rate is at most alpha.",
            "new objects; strengthen=True has a promise for them.",
            condition,
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = hold_out_both(is_null, self.calibration_size, rng)
        estimators = self.estimators or default_estimators(X[rows], rng)
        n = int(is_null[held_out].sum())
        self.allowed_ = self._allow(n, len(estimators) * self.cuts + 1)
        self.n_training_ = rows.size
        null_rows = rows[is_null[rows]]
        shares = self.alpha * np.arange(1, self.cuts + 1) / self.cuts
        self.models_, cuts = [], []
        for estimator in estimators:
            model = train(estimator, X[rows], self._labels(is_null[rows]))
            scores = score_against(model, X[null_rows], self.other_label_)
            cuts.append(np.quantile(scores, 1 - shares, method="higher"))
            self.models_.append(model)
        self.cuts_ = np.array(cuts)
        votes, is_null = self._votes(X[held_out]), is_null[held_out]
        null_risks, other_risks = 1 + votes[is_null].mean(axis=0), 1 - votes[~is_null].mean(axis=0)
        self.weights_ = simplex_weights(null_risks, other_risks, self.allowed_)

    def _allow(self, n: int, votes: int) -> float:
        """Return the largest hinge risk allowed, or refuse if it is not above 0."""
        if not self.strengthen:
            return self.alpha
        constant = kappa(votes, self.delta)
        require(
            n,
            math.floor((constant / self.alpha) ** 2) + 1,
            (
                *(Parameter("alpha", self.alpha), " with ", Parameter("delta", self.delta)),
                f", strengthened for {votes:,} votes,",
            ),
            (
                *("Add rows, raise ", Parameter("alpha"), ", or use "),
                *(Parameter("strengthen", False), ", which promises nothing."),  # noqa: FBT003
            ),
        )
        return self.alpha - constant / math.sqrt(n)

    def _votes(self, X: Floats) -> Floats:
        """Return -1 (keep) or 1 (reject) for each row and vote."""
        scores = [score_against(model, X, self.other_label_) for model in self.models_]
        rejected = np.array(scores)[:, None, :] > self.cuts_[:, :, None]
        votes = np.where(rejected, 1.0, -1.0).reshape(-1, len(X)).T
        return np.column_stack([votes, np.full(len(X), -1.0)])

    def _evidence(self, X: Floats) -> Floats:
        # Votes that cancel must not reject by rounding.
        return np.asarray(self._votes(X) @ self.weights_ - _ROUNDING)


def kappa(votes: int, delta: float) -> float:
    """Return sqrt(2 ln(votes / delta)), by which, over sqrt(n), hinge risks may deviate.

    Examples
    --------
    >>> round(kappa(13, 0.05), 4)
    3.3349
    """
    return math.sqrt(2 * math.log(votes / delta))


def simplex_weights(null_risks: Floats, other_risks: Floats, allowed: float) -> Floats:
    """Return weights, adding up to 1, with the least other risk whose null risk is allowed.

    Both risks are linear in the weights, so some optimum is a corner of what is allowed: one
    vote, or two votes whose mixture has exactly the null risk allowed. All of these are compared,
    which is exact, while a solver keeps constraints up to a tolerance only. At least one vote must
    keep the null risk allowed.

    Examples
    --------
    >>> simplex_weights(np.array([0.0, 0.4]), np.array([2.0, 0.1]), 0.1).round(6)
    array([0.75, 0.25])
    """
    low, high = np.flatnonzero(null_risks <= allowed), np.flatnonzero(null_risks > allowed)
    weights = np.zeros(null_risks.size)
    best = low[np.argmin(other_risks[low])]
    weights[best] = 1.0
    if high.size == 0:
        return weights
    # The part of the second vote that brings the mixture to the null risk allowed.
    parts = (allowed - null_risks[low, None]) / (null_risks[high] - null_risks[low, None])
    mixed = (1 - parts) * other_risks[low, None] + parts * other_risks[high]
    if mixed.min() < other_risks[best]:
        one, two = np.unravel_index(np.argmin(mixed), mixed.shape)
        weights[best] = 0.0
        weights[low[one]], weights[high[two]] = 1 - parts[one, two], parts[one, two]
    return weights
