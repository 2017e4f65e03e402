"""The shipped networks and null tables, and the calibrations made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ratekeeper.calibration._calibration import Calibration
from ratekeeper.calibration._cells import tail_of
from ratekeeper.normality._network import Network, Scaling
from ratekeeper.normality._tables import NullTables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from ratekeeper.normality._tables import Tabulated, TabulatedNull

Alternative = Literal["omnibus", "heavy", "skewed", "light", "pearson"]
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
CLASSES = ("non-normal", "normal")
WEIGHTS = ("even", "odd", "bias", "second", "second_bias", "last", "last_bias")

_RANDOM = (
    "drawn in equal shares from the families that the network was trained on, each sample with "
    "its own shape."
)
POPULATIONS: Mapping[str, str] = {
    "omnibus": f"All kinds of alternatives, {_RANDOM}",
    "heavy": f"Symmetric distributions with heavier tails than the normal, {_RANDOM}",
    "skewed": f"Distributions that are skewed to either side, {_RANDOM}",
    "light": f"Distributions with lighter tails than the normal, {_RANDOM}",
    "pearson": "Distributions of the Pearson system, drawn evenly from the paper's grid of 1,305 "
    "moments.",
}


@dataclass(frozen=True, eq=False)
class NeuralTest:
    """One network and what is known of its scores.

    Attributes
    ----------
    network : Network
    normal : NullTables
        Scores of normal samples, by size; the tail is "high".
    other : NullTables
        Scores of the stated population of alternatives, by size; the tail is "low".
    """

    network: Network
    normal: NullTables
    other: NullTables


@lru_cache(maxsize=1024)
def calibration(alternative: Alternative, sizes: tuple[int, ...]) -> Calibration:
    """Return the calibration of one network's scores, with sample sizes as groups.

    Its scores are kept order statistics: read them with the method `tabulated`.
    """
    model = neural_tests()[alternative]
    return Calibration(
        cells=(
            tuple(model.other.at(n) for n in sizes),
            tuple(model.normal.at(n) for n in sizes),
        ),
        classes=np.array(CLASSES),
        groups=np.array(sizes),
        higher_is_positive=False,  # a high score is evidence against "normal", the positive class
    )


def tabulated(alternative: Alternative) -> Tabulated:
    """Return the method that reads the calibration."""
    return neural_tests()[alternative].normal.method


@lru_cache(maxsize=4096)
def null_distribution(alternative: Alternative, null_class: int, n: int) -> TabulatedNull:
    """Return the distribution of a class's scores at one sample size, which gives p-values."""
    known = calibration(alternative, (n,))
    method = tabulated(alternative)
    return method.against(known.cells[null_class][0], tail_of(known, null_class))


@lru_cache(maxsize=1)
def neural_tests() -> dict[str, NeuralTest]:
    """Return the shipped tests by alternative."""
    return load_tests(files("ratekeeper.normality").joinpath("data", "neural.npz"))  # type: ignore[arg-type]


def load_tests(path: Path) -> dict[str, NeuralTest]:
    """Read networks and tables from a file that `save_tests` wrote."""
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        arrays = dict(stored)
    scaling = Scaling(arrays["sizes"], arrays["feature_mean"], arrays["feature_sd"])
    names = sorted({key.split(".")[0] for key in arrays if "." in key})
    return {
        name: NeuralTest(
            network=Network(
                **{part: arrays[f"{name}.{part}"] for part in WEIGHTS}, scaling=scaling
            ),
            normal=_tables(arrays, f"{name}.normal", "high"),
            other=_tables(arrays, f"{name}.other", "low"),
        )
        for name in names
    }


def _tables(arrays: Mapping[str, NDArray[np.floating]], key: str, tail: str) -> NullTables:
    return NullTables(arrays["sizes"], arrays["levels"], arrays[key], tail)  # type: ignore[arg-type]
