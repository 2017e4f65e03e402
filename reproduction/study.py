"""What every table and figure starts from: the sets, the trained networks, their calibrations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import ratekeeper as rk
from reproduction.protocol import TRAINING_KURTOSIS, draw_set, labels, sizes
from reproduction.replica import inputs, inputs_of, scores, train

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray
    from sklearn.pipeline import Pipeline

    from reproduction.protocol import Counts, Law

    Array = NDArray[np.float64]
    # Shows how far a loop has come: given what is looped over and a title, returns the same.
    Watch = Callable[[Iterable[Any], str], Iterable[Any]]

LAWS: tuple[Law, ...] = ("published", "fair")
# The set that the published network was trained on, and the one that the notebook describes.
TrainingSet = Literal["saved", "notebook"]
SETS: tuple[TrainingSet, ...] = ("saved", "notebook")


@dataclass(frozen=True)
class NeuralTest:
    """A network made into a test: its calibration gives p_0 and p_1, size by size."""

    network: Pipeline
    calibration: rk.Calibration

    def p_values(self, x: Array) -> rk.PValues:
        """Return both p-values of samples of one size, of shape (rows, n)."""
        groups = np.full(len(x), x.shape[1])
        return self.calibration.p_values(scores(self.network, inputs(x)), groups=groups)


class Study:
    """The sets of one run and the networks trained on two of them.

    Parameters
    ----------
    counts : Counts
        How many samples.
    seed : int
        Every random number of the run follows from it.
    watch : callable
        Shows progress.
    """

    def __init__(self, counts: Counts, seed: int, watch: Watch) -> None:
        self.counts = counts
        self.seed = seed
        self.training_sets = {
            "saved": draw_set(self.generator("saved"), counts.train, TRAINING_KURTOSIS),
            "notebook": draw_set(self.generator("notebook"), counts.train_notebook),
        }
        self.calibration = draw_set(self.generator("calibration"), counts.calibration)
        self.test = draw_set(self.generator("test"), counts.test)
        self._inputs = {
            (name, law): inputs_of(samples, law)
            for name, samples in (("calibration", self.calibration), ("test", self.test))
            for law in LAWS
        }
        # Many trainings with the leak, to see what is chance; one without.
        jobs = [("published", name, i) for name in SETS for i in range(counts.trainings)]
        jobs += [("fair", name, 0) for name in SETS]
        self.networks: dict[tuple[Law, TrainingSet, int], Pipeline] = {}
        for law, name, i in watch(jobs, "training the networks"):
            network = train(self.training_sets[name], law, 1_000 * seed + i)
            self.networks[law, name, i] = network

    def generator(self, purpose: str) -> np.random.Generator:
        """Return random numbers of their own for every purpose, so that parts can be left out."""
        return np.random.default_rng([self.seed, *purpose.encode()])

    def neural_test(
        self,
        trained_on: Law,
        calibrated_on: Law,
        training_set: TrainingSet = "saved",
        training: int = 0,
    ) -> NeuralTest:
        """Return a network as a test, calibrated under a rule for the scale."""
        network = self.networks[trained_on, training_set, training]
        calibration = rk.calibrate(
            scores(network, self._inputs["calibration", calibrated_on]),
            labels(self.calibration),
            groups=sizes(self.calibration),
        )
        return NeuralTest(network, calibration)

    def test_scores(self, test: NeuralTest, law: Law) -> Array:
        """Return the network's output on the test set under a rule for the scale."""
        return scores(test.network, self._inputs["test", law])

    def test_p_values(self, test: NeuralTest, law: Law) -> rk.PValues:
        """Return both p-values of every sample of the test set under a rule for the scale."""
        return test.calibration.p_values(self.test_scores(test, law), groups=sizes(self.test))


def watch_nothing(items: Iterable[Any], _title: str) -> Iterable[Any]:
    """Show no progress."""
    return items
