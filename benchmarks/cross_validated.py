"""Cross-validated p-values in closed form against refitting the same classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.timing import Row, race
from ratekeeper.baselines import CrossValidatedLDA, CrossValidatedNeighbours, CrossValidatedRefit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[Any]

_NEIGHBOURS = 23


class _PlainLDA(ClassifierMixin, BaseEstimator):
    """The linear discriminant and nothing else, so that refitting is as quick as it can be."""

    def fit(self, X: Array, y: Array) -> Self:  # noqa: N803 - scikit-learn's name
        self.classes_ = np.array([0, 1])
        parts = X[y == 0], X[y == 1]
        means = [part.mean(axis=0) for part in parts]
        scatter = sum(np.cov(p, rowvar=False, ddof=0) * len(p) for p in parts) / (len(X) - 2)
        self.weights_ = np.linalg.solve(scatter, means[1] - means[0])
        self.offset_ = self.weights_ @ (means[0] + means[1]) / 2
        return self

    def decision_function(self, X: Array) -> Array:  # noqa: N803 - scikit-learn's name
        return np.asarray(X @ self.weights_ - self.offset_)


class _PlainNeighbours(ClassifierMixin, BaseEstimator):
    """Neighbours by a partial sort of all distances."""

    def fit(self, X: Array, y: Array) -> Self:  # noqa: N803 - scikit-learn's name
        self.classes_ = np.array([0, 1])
        self.rows_, self.labels_ = X, y
        return self

    def decision_function(self, X: Array) -> Array:  # noqa: N803 - scikit-learn's name
        nearest = np.argpartition(cdist(X, self.rows_, "sqeuclidean"), _NEIGHBOURS, axis=1)
        return np.asarray(self.labels_[nearest[:, :_NEIGHBOURS]].mean(axis=1))


def run(*, quick: bool) -> Iterator[Row]:
    """Yield both p-values of 200 objects from 500 training rows, for either system and form.

    Refitting for the form "replaced" takes minutes, so it is timed for two objects and multiplied.
    """
    n, m = (60, 4) if quick else (500, 200)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], n // 2)
    rows, objects = rng.normal(size=(n, 5)) + 0.7 * y[:, None], rng.normal(size=(m, 5))
    options = {"weights": "uniform", "neighbours": _NEIGHBOURS, "standardise": False}
    for name, ours, classifier in (
        ("linear discriminant", CrossValidatedLDA(), _PlainLDA()),
        ("nearest neighbours", CrossValidatedNeighbours(**options), _PlainNeighbours()),
    ):
        for form, timed in (("augmented", m), ("replaced", 2)):
            fast = ours.set_params(form=form).fit(rows, y)
            slow = CrossValidatedRefit(classifier, form=form).fit(rows, y)
            seconds, peer = race(
                lambda fast=fast: fast.p_values(objects),
                lambda slow=slow, timed=timed: slow.p_values(objects[:timed]),
                repeats=5,
            )
            scaled = "" if timed == m else f", {timed} timed and multiplied by {m // timed}"
            yield Row(
                f'cross-validated p-values, {name}, "{form}", {m} objects, {n} rows',
                seconds,
                peer * (m / timed),
                f"refitting{scaled}",
                "at least 50",
            )
