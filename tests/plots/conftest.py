"""Pictures are drawn without a screen, and every test leaves none behind."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _no_figure_stays():
    yield
    plt.close("all")


@pytest.fixture
def people():
    """Return made-up scores, labels and groups of 3,000 people."""
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 2, 3000)
    scores = rng.normal(2 * labels)
    return scores, labels, np.where(rng.random(3000) < 0.3, "south", "north")


@pytest.fixture
def halves(people):
    """Calibrate the first 1,000; return scores and labels of the other 2,000 with it."""
    scores, labels, _ = people
    return rk.calibrate(scores[:1000], labels[:1000]), scores[1000:], labels[1000:]


@pytest.fixture
def fitted():
    """Fit a controller around a frozen model; return its rows and labels with it."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 800)
    X = rng.normal(size=(800, 3)) + y[:, None]
    model = LogisticRegression().fit(X[:200], y[:200])
    clf = rk.ErrorRateController(
        FrozenEstimator(model), control="fpr", alpha=0.1, method=rk.Conformal()
    )
    return clf.fit(X[200:], y[200:]), X[200:], y[200:]
