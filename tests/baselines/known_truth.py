"""Data and a classifier for which the true rate of a threshold is known in closed form."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class FirstColumn(ClassifierMixin, BaseEstimator):
    """A classifier that learns nothing: its score is the first column."""

    def fit(self, X, y, sample_weight=None):  # noqa: ARG002 - it learns nothing
        """Keep the labels."""
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        """Return the first column."""
        return X[:, 0]

    def predict(self, X):
        """Return the last label where the first column is above 0."""
        return self.classes_[(X[:, 0] > 0).astype(int)]


def gaussian(rng, n, decimals=None):
    """Return one column, N(0, 1) for the label 0 and N(2, 1) for the label 1."""
    y = np.repeat([0, 1], n)
    X = rng.normal(size=(2 * n, 1)) + 2 * y[:, None]
    return (X if decimals is None else X.round(decimals)), y
