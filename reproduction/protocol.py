"""The samples of the experiment: how they were drawn for the paper, and how they should have been.

A sample is drawn as a shape (a standard normal sample, or a standardised one of the Pearson
system), a mean from U(-100, 100) and a number from U(1, 20). Only then does a rule for the scale
say what the number is:

* ``"published"``: the standard deviation of a normal sample, but the *variance* of a non-normal
  one. The author's generator hands the drawn sd to an argument that is a variance, so no
  non-normal sample has a standard deviation above 4.47, and most normal ones do.
* ``"fair"``: the standard deviation of both.

One set serves both rules, so the two differ in nothing but the scale of the non-normal samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from reproduction.training import draw_group, pearson_grid, sample_pearson

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Law = Literal["published", "fair"]

SIZES = tuple(range(10, 101, 10))
GROUPS = ("G1", "G2", "G3", "G4")
MEANS = (-100.0, 100.0)
SCALES = (1.0, 20.0)
LARGEST_KURTOSIS = 40.0
# The repository's notebook makes training, calibration and test sets on one grid, with 13,050
# samples of each class to train. The network it then loads, which gave the published numbers, was
# made otherwise: its scaler says that it has seen 6,118 samples, 70% of twice 4,370, and the
# means that it holds are those of a grid that ends at a kurtosis of 20 (for 40, the quantiles'
# means would be off by up to nine standard errors). Of the 445 distributions on that grid 437
# must have come through the author's sampler; which ones is not known, so 437 are drawn at random
# for each size.
TRAINING_KURTOSIS = 20.0


@dataclass(frozen=True)
class Counts:
    """How many samples are drawn.

    Attributes
    ----------
    train, train_notebook, calibration, test : int
        Of each class, over all ten sizes.
    group : int
        Of each group G1 to G4 and size.
    null : int
        Normal samples of each size and standard deviation in the demonstration of the leak.
    trainings : int
        Networks trained on the same set, which differ in their random numbers only.
    size : int
        Normal samples of each size and standard deviation in the study of the valid test.
    near, held_out : int
        Of each distribution that is nearly normal, and of each held-out family, and size.
    family : int
        Of each training family, of each member of it that is looked at, of each mixture, and size.
    """

    train: int
    train_notebook: int
    calibration: int
    test: int
    group: int
    null: int
    trainings: int
    size: int
    near: int
    held_out: int
    family: int


FULL = Counts(
    train=4_370,
    train_notebook=13_050,
    calibration=32_625,
    test=13_100,
    group=10_000,
    null=10_000,
    trainings=10,
    size=40_000,
    near=2_000,
    held_out=4_000,
    family=2_500,
)
# A test at 1% needs at least 99 calibration scores of a class in every size.
QUICK = Counts(
    train=1_000,
    train_notebook=1_000,
    calibration=1_200,
    test=400,
    group=40,
    null=100,
    trainings=2,
    size=200,
    near=20,
    held_out=20,
    family=10,
)


@dataclass(frozen=True)
class Samples:
    """Samples of one size, as shapes that wait for their scale.

    Attributes
    ----------
    shapes : ndarray of shape (rows, n)
        Draws from distributions with mean 0 and standard deviation 1.
    is_normal : ndarray of shape (rows,)
        The class.
    means, drawn : ndarray of shape (rows,)
        The mean, and the number that becomes a standard deviation or a variance.
    """

    shapes: Array
    is_normal: NDArray[np.bool_]
    means: Array
    drawn: Array

    @property
    def n(self) -> int:
        """Values in a sample."""
        return self.shapes.shape[1]

    def sd(self, law: Law) -> Array:
        """Return the standard deviation of the distribution of each sample."""
        if law == "fair":
            return self.drawn
        return np.where(self.is_normal, self.drawn, np.sqrt(self.drawn))

    def values(self, law: Law) -> Array:
        """Return the samples themselves, of shape (rows, n)."""
        return self.means[:, None] + self.sd(law)[:, None] * self.shapes


def draw_set(
    rng: Generator, per_class: int, largest_kurtosis: float = LARGEST_KURTOSIS
) -> list[Samples]:
    """Draw a balanced set, one entry for each size of `SIZES`.

    The numbers of samples of the sizes differ by one at most. The Pearson distributions are
    those of the published grid up to a kurtosis.
    """
    grid = pearson_grid()
    grid = grid[grid[:, 1] <= largest_kurtosis]
    borders = np.linspace(0, per_class, len(SIZES) + 1).round().astype(int)
    return [_draw(rng, grid, rows, n) for rows, n in zip(np.diff(borders), SIZES, strict=True)]


def labels(samples: list[Samples]) -> NDArray[np.int64]:
    """Return the class of every sample of a set, 1 for normal."""
    return np.concatenate([part.is_normal for part in samples]).astype(np.int64)


def sizes(samples: list[Samples]) -> NDArray[np.int64]:
    """Return the size of every sample of a set."""
    return np.concatenate([np.full(part.is_normal.size, part.n) for part in samples])


def draw_group_fairly(rng: Generator, group: str, rows: int, n: int) -> tuple[Array, Array]:
    """Draw samples of one of the groups G1 to G4, as published and at a fair scale.

    As published they keep the scale of their textbook parameters, which is small: the standard
    deviation of a uniform sample is 0.29. At a fair scale each sample is moved and stretched so
    that its own mean and standard deviation are draws from the distributions that normal samples
    have.
    """
    raw = draw_group(rng, group, rows, n)
    means, scales = rng.uniform(*MEANS, rows), rng.uniform(*SCALES, rows)
    centred = raw - raw.mean(axis=1, keepdims=True)
    standard = centred / centred.std(axis=1, keepdims=True)
    return raw, means[:, None] + scales[:, None] * standard


def _draw(rng: Generator, grid: Array, rows: int, n: int) -> Samples:
    # Every point of the grid equally often; what is left over goes to points drawn at random.
    copies, left = divmod(rows, len(grid))
    points = np.r_[
        np.tile(np.arange(len(grid)), copies), rng.choice(len(grid), left, replace=False)
    ]
    skewness, kurtosis = grid[points].T
    return Samples(
        shapes=np.vstack(
            [rng.standard_normal((rows, n)), sample_pearson(rng, skewness, kurtosis, n)]
        ),
        is_normal=np.repeat([True, False], rows),
        means=rng.uniform(*MEANS, 2 * rows),
        drawn=rng.uniform(*SCALES, 2 * rows),
    )
