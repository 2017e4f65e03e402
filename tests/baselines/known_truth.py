"""Data and a classifier whose true rates are known, and the rows that a system holds out."""

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


def held_out_rows(mask, seed, size=0.5):
    """Return which rows of one class train and which are held out: a shuffle, cut in two."""
    return _cut_in_two(mask, size, np.random.RandomState(seed))


def held_out_of_both(is_null, seed, size=0.5):
    """Return which rows train and which are held out, the null class shuffled first."""
    rng = np.random.RandomState(seed)
    parts = [_cut_in_two(mask, size, rng) for mask in (is_null, ~is_null)]
    train, held_out = (np.sort(np.concatenate(rows)) for rows in zip(*parts, strict=True))
    return train, held_out


def _cut_in_two(mask, size, rng):
    mixed = rng.permutation(np.flatnonzero(mask))
    held = round(size * mixed.size)
    return np.sort(mixed[held:]), np.sort(mixed[:held])
