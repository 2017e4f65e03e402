"""Files of networks and tables, as `ratekeeper.normality._model` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._system._atomic_files import atomic_file
from ratekeeper.normality._model import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ratekeeper.normality._model import NeuralTest


def save_tests(path: Path, tests: Mapping[str, NeuralTest]) -> None:
    """Write networks and tables, whole or not at all."""
    some = next(iter(tests.values()))
    scaling = some.network.scaling
    arrays: dict[str, Any] = {
        "sizes": scaling.sizes,
        "levels": some.normal.levels,
        "feature_mean": scaling.mean.astype(np.float32),
        "feature_sd": scaling.sd.astype(np.float32),
    }
    for name, test in tests.items():
        for part in WEIGHTS:
            arrays[f"{name}.{part}"] = getattr(test.network, part)
        arrays[f"{name}.normal"] = test.normal.scores.astype(np.float32)
        arrays[f"{name}.other"] = test.other.scores.astype(np.float32)
    save_arrays(path, arrays)


def save_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name, whole or not at all."""
    with atomic_file(path) as unfinished, unfinished.open("wb") as stream:
        np.savez_compressed(stream, **arrays)
