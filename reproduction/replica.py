"""The paper's network: sixteen inputs, two small layers, trained with scikit-learn.

Facts about inputs and training are those of the author's public repository,
milos-simic/neural-normality on GitHub, commit b79c0c5 (``descriptor_based_neural_networks.ipynb``).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from reproduction.protocol import labels, sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.pipeline import Pipeline

    from reproduction.protocol import Law, Samples

    Array = NDArray[np.float64]

QUANTILES = 10
INPUTS = QUANTILES + 6


def quantile_places(n: int) -> list[int]:
    """Return where the ten quantiles of a sorted sample of size n were read, counted from 0.

    The j-th of them should be the order statistic ceil(j n / 10). The published code adds
    1/n again and again until it reaches j times 0.1, in floating point. Rounding makes the sum
    fall short in places that depend on n, and the next order statistic is read instead: at
    n = 10 the quantiles of 60% to 90% are the 7th to 10th values, not the 6th to 9th.

    Examples
    --------
    >>> quantile_places(10)
    [0, 1, 2, 3, 4, 6, 7, 8, 9, 9]
    """
    # cumsum adds one term after the other, so it rounds as the published loop does.
    reached = np.cumsum(np.full(n, 1.0 / n))
    wanted = np.arange(1, QUANTILES + 1) * 0.1
    return np.minimum(np.searchsorted(reached, wanted, side="left"), n - 1).tolist()


def inputs(x: Array) -> Array:
    """Return the sixteen inputs of each sample.

    Ten quantiles of the standardised sample, then its size, mean, standard deviation (divisor
    n), minimum, maximum and median: the last five know where the sample lies and how wide it is.
    Constant samples have no quantiles; they are NaN here and filled with the mean later.

    Examples
    --------
    >>> inputs(np.array([[4.0, 1.0, 1.0, 2.0]]))[0, -6:].round(3).tolist()
    [4.0, 2.0, 1.225, 1.0, 4.0, 1.5]
    """
    ordered = np.sort(x, axis=1)
    n = ordered.shape[1]
    mean, sd = ordered.mean(axis=1), ordered.std(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        quantiles = (ordered[:, quantile_places(n)] - mean[:, None]) / sd[:, None]
    quantiles[~np.isfinite(quantiles)] = np.nan
    size = np.full(len(x), float(n))
    place = [size, mean, sd, ordered[:, 0], ordered[:, -1], np.median(ordered, axis=1)]
    return np.column_stack([quantiles, *place])


def inputs_of(samples: list[Samples], law: Law) -> Array:
    """Return the inputs of a whole set under a rule for the scale."""
    return np.vstack([inputs(part.values(law)) for part in samples])


def train(samples: list[Samples], law: Law, seed: int) -> Pipeline:
    """Train the network on 70% of a set, as published; the rest was kept for model selection.

    Standard scaling, mean imputation, layers of 100 and 10 with ReLU, Adam at a rate of 0.001,
    L2 penalty 0.1, at most 200 epochs, stopped early on a tenth of the training rows.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    is_normal = labels(samples)
    chosen, _ = train_test_split(
        np.arange(is_normal.size),
        train_size=0.7,
        stratify=2 * sizes(samples) + is_normal,
        random_state=seed,
    )
    network = MLPClassifier(
        (100, 10),
        activation="relu",
        solver="adam",
        learning_rate_init=0.001,
        alpha=0.1,
        max_iter=200,
        early_stopping=True,
        validation_fraction=0.1,
        random_state=seed,
    )
    pipeline = make_pipeline(StandardScaler(), SimpleImputer(strategy="mean"), network)
    with warnings.catch_warnings():
        # 200 epochs are the protocol's limit, not a fault.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return pipeline.fit(inputs_of(samples, law)[chosen], is_normal[chosen])


def scores(network: Pipeline, descriptors: Array) -> Array:
    """Return the network's output for each row of inputs; a high one indicates normal."""
    return network.predict_proba(descriptors)[:, 1]
