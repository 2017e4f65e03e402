"""Minimal expected cost, as in Witten and Frank's Weka: probabilities, and a cost matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ratekeeper._reading._parameters import null_class_of
from ratekeeper.baselines._cost_sensitive.cost_system import CostLearner, Rule, mean_leaning
from ratekeeper.baselines._inner import probability_of, train
from ratekeeper.baselines._system import system

if TYPE_CHECKING:
    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt
    from ratekeeper.baselines._system import Features, Floats, Mask


@system
class MinimalExpectedCost(CostLearner):
    """Give each object the answer whose expected cost, by the classifier's probabilities, is least.

    The classifier itself knows nothing of costs. One that is trained already is used as it is in
    scikit-learn's `FrozenEstimator`.

    Parameters
    ----------
    estimator : classifier, optional
        What gives the probabilities; by default logistic regression on scaled columns.

    Notes
    -----
    **Guarantee.** None. With true probabilities and given costs no rule has a smaller expected
    cost, but costs set no error rate. In the search the rate is only estimated, on the rows that
    chose the ratio.

    With two classes the decisions are those of `ElkanThreshold` on the same classifier: its
    threshold is where the two expected costs are equal. There the null class is kept. What this
    form adds are the expected costs themselves.

    Confirmed against the documentation of Weka, the software of the book: its
    CostSensitiveClassifier has a mode that predicts the class with minimum expected
    misclassification cost, and its cost matrix may have costs of right answers.

    References
    ----------
    I. H. Witten, E. Frank, "Data mining: practical machine learning tools and techniques with Java
    implementations", Morgan Kaufmann (2000).

    Examples
    --------
    >>> clf = MinimalExpectedCost(costs=[[0, 9], [1, 0]], positive_label=0).fit(X, y)
    >>> clf.expected_costs(X[[40]]).round(2)  # of calling it benign, and malignant
    array([[1.02, 0.89]])
    >>> clf.predict(X[[40]])
    array([0])
    """

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        del rng  # nothing is random but the split
        models = [train(self.estimator, X, self._labels(is_null))]
        probability_of(models[0], X[:1], self.other_label_)  # refuses a model without any
        return lambda losses: Rule(models, losses.threshold)

    def expected_costs(self, X: Features) -> Floats:
        """Return what predicting negative, and what predicting positive, is expected to cost.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            New objects.

        Returns
        -------
        ndarray of shape (n_objects, 2)
            Expected costs under ``costs_``, in its order (negative, positive).
        """
        check_is_fitted(self)
        p_other = mean_leaning(self.models_, self._read(X, reset=False), self.other_label_)
        p_positive = 1 - p_other if null_class_of(self.control) else p_other
        return np.column_stack([1 - p_positive, p_positive]) @ self.costs_.T
