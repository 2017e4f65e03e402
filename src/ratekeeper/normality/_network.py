"""The forward pass of a network that judges samples, in NumPy alone.

The network is small and symmetric by construction: its first layer is evaluated for the sample
and for the sample with its sign reversed, and the two are added, so that both get one score.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.normality._features import ODD, products
from ratekeeper.normality._tables import interpolation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Single = NDArray[np.float32]

SIZE_INPUTS = 2  # what the network is told of the sample size
# Python numbers would be looked at anew in every call, which takes longer than the call.
_ZERO = np.float32(0)


@dataclass(frozen=True, eq=False)
class Scaling:
    """Mean and standard deviation of every feature under normality, by sample size.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
    mean, sd : ndarray of shape (n_sizes, n_features)
    """

    sizes: NDArray[np.int64]
    mean: NDArray[np.floating]
    sd: NDArray[np.floating]

    def at(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return means and reciprocal standard deviations, interpolated in log n."""
        places, weights = interpolation(self.sizes, n)
        log_sd = weights @ np.log(self.sd[places].astype(np.float64))
        return weights @ self.mean[places].astype(np.float64), np.exp(-log_sd)


def compressed(
    features: NDArray[np.float64], centre: NDArray[np.float64], factor: NDArray[np.float64]
) -> Single:
    """Bring features to the scale they have under normality, and draw in far values.

    Examples
    --------
    >>> compressed(np.array([[3.0, 1.0]]), np.array([1.0, 1.0]), np.array([0.5, 9.0]))
    array([[0.8813736, 0.       ]], dtype=float32)
    """
    scaled: Single = np.empty(features.shape, dtype=np.float32)
    np.multiply(features - centre, factor, out=scaled, casting="same_kind")
    return np.arcsinh(scaled, out=scaled)


def size_inputs(n: int) -> Single:
    """Return what the network is told of the sample size.

    Examples
    --------
    >>> size_inputs(10).round(2)
    array([-0.85,  0.6 ], dtype=float32)
    """
    return np.array([(np.log(n) - 4) / 2, np.sqrt(10 / n) - 0.4], dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Network:
    """Weights of one network: two hidden layers, one score.

    Attributes
    ----------
    even : ndarray of shape (n_even + 2, width)
        First layer on the even features and the inputs for the sample size.
    odd : ndarray of shape (n_odd, width)
        First layer on the odd features.
    bias, second, second_bias, last, last_bias : ndarray
        The rest.
    scaling : Scaling
        Brings features to a common scale.
    """

    even: Single
    odd: Single
    bias: Single
    second: Single
    second_bias: Single
    last: Single
    last_bias: Single
    scaling: Scaling

    def scores(self, features: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """Return the score of each row of features; a high one is evidence against normality."""
        centre, factor, first, bias, second, second_bias, last = _prepared(self, n)
        hidden = products(compressed(features, centre, factor), first)
        hidden += bias
        np.maximum(hidden, _ZERO, out=hidden)
        inner = products(hidden, second)
        inner += second_bias
        np.maximum(inner, _ZERO, out=inner)
        score: NDArray[np.float64] = products(inner, last)[:, 0].astype(np.float64)
        score += self.last_bias
        return score


@lru_cache(maxsize=512)
def _prepared(
    network: Network, n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], Single, Single, Single, Single, Single]:
    """Return what the layers need at one sample size, as rows: other shapes take longer.

    The first layer looks at the sample and at its mirror image side by side; that the two are
    added is left to the second layer, which has its weights twice.
    """
    centre, factor = network.scaling.at(n)
    width = network.bias.size
    first = np.zeros((ODD.size, 2 * width), dtype=np.float32)
    first[~ODD] = np.tile(network.even[:-SIZE_INPUTS], 2)
    first[ODD] = np.hstack([network.odd, -network.odd])
    bias = np.tile(network.bias + size_inputs(n) @ network.even[-SIZE_INPUTS:], 2)
    second, second_bias = np.vstack([network.second, network.second]), network.second_bias[None]
    return centre[None], factor[None], first, bias[None], second, second_bias, network.last[:, None]
