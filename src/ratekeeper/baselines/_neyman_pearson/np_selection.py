"""Scott's (2007) measure of both errors in one number, and selection of a classifier by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_positive, check_probability
from ratekeeper.baselines._inner import score_against, train
from ratekeeper.baselines._neyman_pearson.estimator_lists import (
    check_estimators,
    default_estimators,
)
from ratekeeper.baselines._splitting import hold_out_both
from ratekeeper.baselines._system import (
    ThresholdSystem,
    WithSplit,
    no_promise,
    optional,
    system,
)
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._system import Floats, Mask
    from ratekeeper.methods import Guarantee


def _check_weight(weight: object, name: str = "weight") -> float:
    return check_positive(weight, name, or_else="or None for 1 / alpha")


def np_measure(
    controlled: ArrayLike, other: ArrayLike, *, alpha: float, weight: float | None = None
) -> Floats:
    """Return Scott's Neyman-Pearson measure of error rates; the smaller the better.

    It is ``weight * max(controlled - alpha, 0) + other``: the other error, and what the controlled
    one has above alpha at a price. A rate below alpha earns nothing.

    Parameters
    ----------
    controlled, other : float or array-like of float
        Rates of the controlled error and of the other.
    alpha : float
        The level that the controlled error should keep.
    weight : float, optional
        Price of the excess; by default 1 / alpha, as Scott recommends. Of all classifiers that
        reject at random, the best then does so with probability alpha.

    Returns
    -------
    ndarray of float
        One number for each pair of rates; a NumPy scalar for two numbers.

    Notes
    -----
    **Guarantee.** None: a number that compares classifiers. For rates that were counted it has the
    error of the counts.

    The formula with 1 / alpha is equation 3 of the paper, as public code that cites it has it. Of
    the paper we could read the abstract, which speaks of two families of measures and recommends
    one criterion. Here is the one family with any `weight`; the other, which compares with the
    least possible error, needs a number that is unknown in practice.

    References
    ----------
    C. Scott, "Performance measures for Neyman-Pearson classification", IEEE Transactions on
    Information Theory 53, 2852-2863 (2007).

    Examples
    --------
    >>> from ratekeeper.baselines import np_measure
    >>> np_measure([0, 0.06, 1], [1, 0.3, 0], alpha=0.05)
    array([ 1. ,  0.5, 19. ])
    """
    level = check_probability(alpha, "alpha")
    price = 1 / level if weight is None else _check_weight(weight)
    one, two = _rates(controlled, "controlled"), _rates(other, "other")
    return np.asarray(price * np.maximum(one - level, 0.0) + two)[()]


def _rates(values: ArrayLike, name: str) -> Floats:
    rates = np.asarray(values, dtype=np.float64)
    if not ((rates >= 0) & (rates <= 1)).all():
        raise InputError(parameter=name, value=values, need="rates from 0 to 1")
    return rates


@system
class NPSelection(ThresholdSystem, WithSplit):
    """The classifier and threshold with the smallest Neyman-Pearson measure on held-out rows.

    One part of the rows trains all classifiers of the list. On the held-out rows `np_measure` is
    taken for each of them at every threshold, and the smallest decides.

    Parameters
    ----------
    estimators : list of classifiers, optional
        What to select from; by default logistic regression on scaled columns, Gaussian naive
        Bayes and a random forest.
    weight : float, optional
        Price of the excess over alpha; by default 1 / alpha.
    calibration_size : float, default=0.5
        Share of either class that is held out to select by.

    Attributes
    ----------
    model_ : classifier
        The one selected.
    measures_ : ndarray of shape (n_estimators,)
        The smallest measure of each classifier.

    Notes
    -----
    **Guarantee.** None. The rate on the held-out rows is mostly at alpha or one row beside it, so
    the true rate is above alpha in about half of all trainings. What the paper bounds, with
    penalties, is the excess of the measure.

    The rule minimises the counted measure, without the penalties for rich families of classifiers
    that the paper's rules have. That the candidates are thresholds of a few trained classifiers,
    and are judged on rows held out, is our choice. Thresholds are held-out scores of the null
    class, or -inf. Of equal measures the higher threshold is taken.

    References
    ----------
    C. Scott, "Performance measures for Neyman-Pearson classification", IEEE Transactions on
    Information Theory 53, 2852-2863 (2007).

    Examples
    --------
    >>> clf = NPSelection(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.measures_.round(3), type(clf.model_).__name__
    (array([0.022, 0.028, 0.017]), 'RandomForestClassifier')
    """

    estimators: Sequence[BaseEstimator] | None = optional(check_estimators)
    weight: float | None = optional(_check_weight)

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return no_promise(
            "None; on the held-out rows that selected the classifier, rates above alpha are dear.",
            "new objects: the rate is above alpha about every other time.",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = hold_out_both(is_null, self.calibration_size, rng)
        self.n_training_ = rows.size
        found = []
        for estimator in self.estimators or default_estimators(X[rows], rng):
            model = train(estimator, X[rows], self._labels(is_null[rows]))
            scores = score_against(model, X[held_out], self.other_label_)
            null, other = scores[is_null[held_out]], scores[~is_null[held_out]]
            found.append((*best_threshold(null, other, self.alpha, self.weight), model))
        self.measures_ = np.array([measure for measure, *_ in found])
        _, self.threshold_, self.model_ = found[int(np.argmin(self.measures_))]

    def _score(self, X: Floats) -> Floats:
        return score_against(self.model_, X, self.other_label_)


def best_threshold(
    null: Floats, other: Floats, alpha: float, weight: float | None
) -> tuple[float, float]:
    """Return the smallest measure of any threshold, and the highest threshold that has it.

    Scores strictly above the threshold are rejected. Between two scores of the null class the
    lower threshold is at least as good, so only they and -inf are tried.

    Examples
    --------
    >>> measure, threshold = best_threshold(np.arange(20.0), np.arange(17.0, 22.0), 0.1, None)
    >>> round(measure, 2), threshold
    (0.2, 17.0)
    """
    cuts = np.append(np.unique(null)[::-1], -np.inf)
    rejected = 1 - np.searchsorted(np.sort(null), cuts, side="right") / null.size
    kept = np.searchsorted(np.sort(other), cuts, side="right") / other.size
    measures = np_measure(rejected, kept, alpha=alpha, weight=weight)
    best = int(np.argmin(measures))
    return float(measures[best]), float(cuts[best])
