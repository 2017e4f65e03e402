"""Test-cost sensitive naive Bayes (Chai and others 2004): columns are paid for while they pay."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator

from ratekeeper._reading._parameters import check_count
from ratekeeper.baselines._blocks import blocks
from ratekeeper.baselines._cost_sensitive.cost_system import Rule, WithTests
from ratekeeper.baselines._cost_sensitive.costs import read_test_costs
from ratekeeper.baselines._system import parameter, system

if TYPE_CHECKING:
    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt, Model
    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._system import Floats, Mask, Rows


@system
class CostNaiveBayes(WithTests):
    """Decide by naive Bayes at the least expected cost, and pay only for columns that are worth it.

    Of an object nothing is known at first but what is free. One column after the other is paid for:
    always the one that is expected to save most, in the cost of mistakes less its own, and only
    while one saves anything.

    Parameters
    ----------
    bins : int, default=10
        Number of values that each column is reduced to, about equally frequent in training.

    Attributes
    ----------
    models_ : list
        The naive Bayes classifier with its strategy.

    Notes
    -----
    **Guarantee.** None. Costs set no error rate, and in the search the rate is only estimated,
    on the rows that chose the ratio.

    Without test costs this is plain naive Bayes with Elkan's threshold. Strategies that order
    several tests at once are not here. A column that changes no decision by itself, only together
    with another, is expected to save nothing, and is not looked at.

    Confirmed against the abstract, and that of a longer paper of the same authors: naive Bayes with
    a strategy that chooses which unknown attributes to test, so that mistakes and tests cost least
    in sum. The formulas could not be read: what a test saves is here the expected cost of the
    cheaper answer before, less that after, less the test. That columns are cut into bins, with one
    row added to each bin of either class, is our choice.

    References
    ----------
    X. Chai, L. Deng, Q. Yang, C. X. Ling, "Test-cost sensitive naive Bayes classification", ICDM
    2004, 51-58. Q. Yang, C. Ling, X. Chai, R. Pan, "Test-cost sensitive classification on data with
    missing values", IEEE Transactions on Knowledge and Data Engineering 18, 626-638 (2006).

    Examples
    --------
    >>> prices = [0.02] * 30
    >>> clf = CostNaiveBayes(costs=[[0, 9], [1, 0]], test_costs=prices, positive_label=0).fit(X, y)
    >>> columns = clf.models_[0].looked_at(X).sum(axis=1)
    >>> int(columns.min()), int(columns.max())  # of 30
    (1, 18)
    """

    bins: int = parameter(10, partial(check_count, least=2))

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        del rng  # nothing is random but the split
        test_costs = read_test_costs(self.test_costs, X.shape[1])
        labels = self.null_label_, self.other_label_
        shares = fit_shares(X, is_null, self.bins)
        if not test_costs.any():  # all columns are known at any cost ratio
            models: list[Model] = [SequentialBayes(shares, labels, test_costs, 1.0, 1.0)]
            return lambda losses: Rule(models, losses.threshold)

        def fit_at(losses: Losses) -> Rule:
            costs = losses.wrong_rejection, losses.wrong_keep
            return Rule([SequentialBayes(shares, labels, test_costs, *costs)], losses.threshold)

        return fit_at


@dataclass(frozen=True)
class Shares:
    """Of each column the inner edges of its bins, and the shares of rows in them by class.

    `null` and `other` have one row for each column and one column for each bin; 0 stands for a bin
    that a column does not have. `odds` is the log ratio of the class sizes,
    other to null.
    """

    edges: list[Floats]
    null: Floats
    other: Floats
    odds: float

    def bins_of(self, X: Floats) -> Rows:
        """Return the bin of each entry."""
        found = [np.searchsorted(cuts, X[:, j]) for j, cuts in enumerate(self.edges)]
        return np.column_stack(found)


def fit_shares(X: Floats, is_null: Mask, bins: int) -> Shares:
    """Cut each column into bins, and count the rows of either class in each, plus one.

    Examples
    --------
    >>> X, is_null = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([True, True, True, False])
    >>> shares = fit_shares(X, is_null, bins=2)
    >>> shares.null, shares.other.round(3)
    (array([[0.6, 0.4]]), array([[0.333, 0.667]]))
    """
    inner = np.linspace(0, 1, bins + 1)[1:-1]
    quantiles = np.quantile(X, inner, axis=0, method="lower")
    # An edge at the largest value would leave an empty bin above.
    edges = [np.unique(cuts[cuts < X[:, j].max()]) for j, cuts in enumerate(quantiles.T)]
    shares = np.zeros((2, X.shape[1], bins))
    for j, cuts in enumerate(edges):
        place = np.searchsorted(cuts, X[:, j])
        for which, rows in enumerate((is_null, ~is_null)):
            counts = np.bincount(place[rows], minlength=cuts.size + 1) + 1
            shares[which, j, : cuts.size + 1] = counts / counts.sum()
    return Shares(edges, shares[0], shares[1], float(np.log((~is_null).sum() / is_null.sum())))


@dataclass
class SequentialBayes(BaseEstimator):
    """Naive Bayes that pays for one column after the other.

    The fields are the shares, the labels of the null class and the other, what the columns cost,
    and what the two mistakes do.
    """

    shares: Shares
    classes_: tuple[object, object]
    test_costs: Floats
    wrong_rejection: float
    wrong_keep: float

    def predict_proba(self, X: Floats) -> Floats:
        """Return the probabilities of the two labels, given the columns that were paid for."""
        p = expit(self._follow(X)[0])
        return np.column_stack([1 - p, p])

    def looked_at(self, X: Floats) -> Mask:
        """Return which columns decide on each object."""
        return self._follow(X)[1]

    def _follow(self, X: Floats) -> tuple[Floats, Mask]:
        """Return the log odds of the other class at the end, and which columns were looked at."""
        places, columns = self.shares.bins_of(X), np.arange(X.shape[1])
        null, other = self.shares.null[columns, places], self.shares.other[columns, places]
        weights = np.log(other / null)  # of evidence
        known = np.broadcast_to(self.test_costs == 0, X.shape).copy()
        odds = self.shares.odds + np.where(known, weights, 0.0).sum(axis=1)
        going = np.flatnonzero(~known.all(axis=1))
        while going.size:
            saved = np.where(known[going], -np.inf, self.savings(odds[going]))
            best = saved.argmax(axis=1)
            pays = saved[np.arange(going.size), best] > 0
            going, best = going[pays], best[pays]
            known[going, best] = True
            odds[going] += weights[going, best]
        return odds, known

    def savings(self, odds: Floats) -> Floats:
        """Return what each column is expected to save at these log odds, less its own cost."""
        p = expit(odds)
        reject, keep = (1 - p) * self.wrong_rejection, p * self.wrong_keep
        null, other = self.shares.null, self.shares.other
        after = np.empty((len(odds), len(self.test_costs)))
        for block in blocks(len(odds), null.size):
            # For each bin what the cheaper answer costs there, times how probable the bin is.
            cheaper = np.minimum(reject[block, None, None] * null, keep[block, None, None] * other)
            after[block] = cheaper.sum(axis=2)
        return np.asarray(np.minimum(reject, keep)[:, None] - after - self.test_costs)
