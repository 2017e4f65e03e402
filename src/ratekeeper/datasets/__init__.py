"""Real data that ship with the package.

`load_employment` reads them; README.md beside this file has their source and licence. Imports
NumPy and nothing of the package. Start with `load_employment`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Employment:
    """Scores of a real model for "is employed", with the truth.

    Within a year people are in the order of the survey, which is not random: shuffle before you
    take the first ones as a sample.

    Attributes
    ----------
    year : ndarray of int
        Survey year, 2015 to 2018.
    score : ndarray of float64
        Predicted probability of being employed.
    employed : ndarray of bool
        The label; True is positive.
    disability : ndarray of bool
        Whether a disability was recorded.
    """

    year: NDArray[np.uint16]
    score: NDArray[np.float64]
    employed: NDArray[np.bool_]
    disability: NDArray[np.bool_]

    def in_year(self, year: int) -> Employment:
        """Return the people of one year."""
        return self[self.year == year]

    def __getitem__(self, rows: slice | NDArray[np.bool_]) -> Employment:
        return Employment(
            self.year[rows], self.score[rows], self.employed[rows], self.disability[rows]
        )

    def __len__(self) -> int:
        return self.year.size


def load_employment() -> Employment:
    """Load 277,677 people of Massachusetts, 2015 to 2018: real scores, real labels.

    Source and licence: ``ratekeeper/datasets/README.md``.

    Examples
    --------
    >>> from ratekeeper.datasets import load_employment
    >>> people = load_employment()
    >>> len(people), len(people.in_year(2015))
    (277677, 68785)
    """
    with (
        files("ratekeeper.datasets").joinpath("employment.npz").open("rb") as stream,
        np.load(stream, allow_pickle=False) as arrays,
    ):
        return Employment(
            year=arrays["year"],
            score=arrays["values"][arrays["index"]],
            employed=arrays["employed"],
            disability=arrays["disability"],
        )
