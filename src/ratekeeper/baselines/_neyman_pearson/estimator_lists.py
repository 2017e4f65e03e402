"""Several classifiers in one system: which lists are taken, and which is the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from ratekeeper.baselines._inner import fresh
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._system import Floats


def check_estimators(estimators: object, name: str) -> None:
    """Raise unless it is a list of at least one classifier."""
    if not isinstance(estimators, list | tuple) or not estimators:
        raise InputError(parameter=name, value=estimators, need="a list of at least one classifier")
    for estimator in estimators:
        fresh(estimator)


def default_estimators(X: Floats, rng: np.random.RandomState) -> list[BaseEstimator]:
    """Return logistic regression on scaled columns, Gaussian naive Bayes and a random forest."""
    # The first alone is true of equal values with rounding, the second of numbers too tiny.
    if not (np.var(X, axis=0).any() and np.ptp(X, axis=0).any()):
        raise InputError(
            f"None of the {X.shape[1]:,} column(s) of X varies over the {len(X):,} training rows, "
            "so nothing can be learned.",
            parameter="X",
            remedy="Add columns that vary.",
        )
    seed = int(rng.randint(2**31 - 1))
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=seed)
    return [fresh(None), GaussianNB(), forest]
