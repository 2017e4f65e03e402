"""A network of the shape of `Network` that learns by gradient descent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.normality._network import Network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.random import Generator
    from numpy.typing import NDArray

    from ratekeeper.normality._network import Scaling

    Single = NDArray[np.float32]
    # From outputs and the rows of the batch to the gradient of the mean loss.
    Gradient = Callable[[Single, NDArray[np.intp]], Single]

_BATCH = 2048
_WARM_UP = 300  # steps over which the learning rate rises, if there are many
_SMALLEST_RATE = 1e-6
_AVERAGE = 0.002  # share of each step in the running average of weights
_DECAY = np.float32(1e-5)


class Learner:
    """Weights that learn with Adam, and their running average, which is what is kept.

    Parameters
    ----------
    n_even, n_odd : int
        Numbers of inputs that do not and that do change sign with the sample.
    widths : tuple of int
        Of the two hidden layers and of the output.
    rng : numpy.random.Generator
        Draws the first weights and the order of the rows.
    """

    def __init__(
        self, n_even: int, n_odd: int, widths: tuple[int, int, int], rng: Generator
    ) -> None:
        first, second, last = widths

        def weights(rows: int, columns: int, inputs: int) -> Single:
            drawn = rng.normal(size=(rows, columns)) / np.sqrt(inputs)
            return np.asarray(drawn, dtype=np.float32)

        def zeros(size: int) -> Single:
            return np.zeros(size, dtype=np.float32)

        self._rng = rng
        self.parts = {
            "even": weights(n_even, first, n_even + n_odd),
            "odd": weights(n_odd, first, n_even + n_odd),
            "bias": zeros(first),
            "second": weights(first, second, first),
            "second_bias": zeros(second),
            "last": weights(second, last, second),
            "last_bias": zeros(last),
        }
        self.average = {name: part.copy() for name, part in self.parts.items()}
        self._mean = {name: np.zeros_like(part) for name, part in self.parts.items()}
        self._square = {name: np.zeros_like(part) for name, part in self.parts.items()}
        self._steps = 0

    def fit(
        self, even: Single, odd: Single, gradient: Gradient, *, epochs: int, rate: float
    ) -> Iterator[float]:
        """Learn, and yield the share of the work that is done, from time to time."""
        steps = max(1, len(even) // _BATCH) * epochs
        warm_up = min(_WARM_UP, steps // 10)
        done = 0
        for _ in range(epochs):
            order = self._rng.permutation(len(even))
            for start in range(0, max(1, len(even) - _BATCH + 1), _BATCH):
                batch = order[start : start + _BATCH]
                slope = 0.5 * (1 + np.cos(np.pi * min(1.0, done / steps)))
                now = rate * min(1.0, (done + 1) / (warm_up + 1)) * slope + _SMALLEST_RATE
                self._step(even[batch], odd[batch], gradient, batch, np.float32(now))
                done += 1
                if done % 50 == 0:
                    yield done / steps
        yield 1.0

    def _step(
        self,
        even: Single,
        odd: Single,
        gradient: Gradient,
        batch: NDArray[np.intp],
        rate: np.float32,
    ) -> None:
        parts = self.parts
        straight, turned, hidden, inner, out = _forward(parts, even, odd)
        d_out = gradient(out, batch)
        d_inner = (d_out @ parts["last"].T) * (inner > 0)
        d_hidden = d_inner @ parts["second"].T
        d_straight, d_turned = d_hidden * (straight > 0), d_hidden * (turned > 0)
        d_both = d_straight + d_turned
        slopes = {
            "even": even.T @ d_both,
            "odd": odd.T @ (d_straight - d_turned),
            "bias": d_both.sum(axis=0),
            "second": hidden.T @ d_inner,
            "second_bias": d_inner.sum(axis=0),
            "last": inner.T @ d_out,
            "last_bias": d_out.sum(axis=0),
        }
        self._steps += 1
        for name, part in parts.items():
            self._update(name, part, slopes[name], rate)

    def _update(self, name: str, part: Single, slope: Single, rate: np.float32) -> None:
        """Take a step of Adam, with the usual constants."""
        mean, square = self._mean[name], self._square[name]
        mean += np.float32(0.1) * (slope - mean)
        square += np.float32(0.001) * (slope * slope - square)
        size = np.sqrt(square / np.float32(1 - 0.999**self._steps)) + np.float32(1e-8)
        part -= rate * (mean / np.float32(1 - 0.9**self._steps) / size + _DECAY * part)
        # Early weights are not worth remembering.
        share = np.float32(_AVERAGE if self._steps > 1 / _AVERAGE else 1.0)
        self.average[name] += share * (part - self.average[name])

    def outputs(self, even: Single, odd: Single) -> Single:
        """Return the outputs of the averaged weights."""
        return _forward(self.average, even, odd)[-1]

    def network(self, scaling: Scaling) -> Network:
        """Return the averaged weights as a network."""
        parts = {name: part.copy() for name, part in self.average.items()}
        parts["last"], parts["last_bias"] = parts["last"][:, 0], parts["last_bias"][0]
        return Network(**parts, scaling=scaling)


def _forward(
    parts: dict[str, Single], even: Single, odd: Single
) -> tuple[Single, Single, Single, Single, Single]:
    same, flips = even @ parts["even"] + parts["bias"], odd @ parts["odd"]
    straight, turned = np.maximum(same + flips, 0), np.maximum(same - flips, 0)
    hidden = straight + turned
    inner = np.maximum(hidden @ parts["second"] + parts["second_bias"], 0)
    return straight, turned, hidden, inner, inner @ parts["last"] + parts["last_bias"]


def tell_apart(classes: NDArray[np.integer]) -> Gradient:
    """Return the gradient of the cross-entropy of a softmax over classes."""

    def gradient(out: Single, batch: NDArray[np.intp]) -> Single:
        share = np.exp(out - out.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        share[np.arange(batch.size), classes[batch]] -= 1
        share /= np.float32(batch.size)
        return np.asarray(share)

    return gradient


def imitate(targets: Single, softness: float) -> Gradient:
    """Return the gradient of the cross-entropy to the targets' own probabilities.

    It cares most where targets are near 0, which is where decisions at the usual levels fall.
    """

    def probability(score: Single) -> Single:
        return np.asarray(1 / (1 + np.exp(np.clip(score / np.float32(-softness), -60, 60))))

    def gradient(out: Single, batch: NDArray[np.intp]) -> Single:
        miss = probability(out) - probability(targets[batch][:, None])
        return np.asarray(miss / np.float32(batch.size), dtype=np.float32)

    return gradient
