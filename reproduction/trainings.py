"""What is chance in training: the same network, trained many times with the leak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reproduction import published
from reproduction.as_published import neural_columns
from reproduction.protocol import labels
from reproduction.study import SETS
from reproduction.tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reproduction.published import Column, Rates
    from reproduction.study import Study, TrainingSet, Watch

    Array = NDArray[np.float64]

SHOWN_SIZES = (10, 50, 100)
LEVEL = 0.05
WANTED = (
    ("NN_1", 0.05, "fpr"),
    ("NN_1", 0.01, "fpr"),
    ("NN_0", 0.05, "fnr"),
    ("NN_0", 0.01, "fnr"),
    ("NN", None, "fnr"),
    ("NN", None, "fpr"),
)


@dataclass(frozen=True)
class Training:
    """One trained network: when it stopped, its rates, and how often it rejects N(0, 1) at 5%."""

    training_set: TrainingSet
    epochs: int
    columns: dict[Column, Rates]
    rejected: tuple[float, ...]

    def numbers(self) -> tuple[float, ...]:
        """Return the numbers of the table's row."""
        return (*_pick(self.columns), *self.rejected)


def trainings(study: Study, watch: Watch) -> list[Training]:
    """Evaluate every training, those on the published network's kind of set first."""
    law = "published"
    normal = unit_normal_samples(study)
    jobs = [(name, i) for name in SETS for i in range(study.counts.trainings)]
    found = []
    for name, i in watch(jobs, "judging the trainings"):
        test = study.neural_test(law, law, name, i)
        p_values = study.test_p_values(test, law)
        columns = neural_columns(study.test_scores(test, law), p_values, labels(study.test))
        rejected = tuple(float(np.mean(test.p_values(x).p1 <= LEVEL)) for x in normal)
        found.append(Training(name, test.network[-1].n_iter_, columns, rejected))
    return found


def unit_normal_samples(study: Study) -> list[Array]:
    """Draw samples of N(0, 1), one array for each of `SHOWN_SIZES`; every call draws the same."""
    rng = study.generator("unit normal")
    return [rng.standard_normal((study.counts.null, n)) for n in SHOWN_SIZES]


def trainings_table(found: list[Training]) -> Table:
    """Return one row for each training, the mean of each set, and the published numbers."""
    rows = []
    for name in SETS:
        members = [training for training in found if training.training_set == name]
        rows += [(name, str(i + 1), one.epochs, *one.numbers()) for i, one in enumerate(members)]
        mean = np.mean([one.numbers() for one in members], axis=0).tolist()
        rows.append((name, "mean", None, *mean))
    nothing = (None,) * len(SHOWN_SIZES)
    rows.append(("printed", "", None, *_pick(published.TABLE_1), *nothing))
    rows.append(("repository", "", published.EPOCHS, *_pick(published.REPOSITORY), *nothing))
    heads = [
        f"{test}{'' if alpha is None else f' {alpha:.0%}'}: {rate.upper()}"
        for test, alpha, rate in WANTED
    ]
    heads += [f"N(0, 1), n = {n}: rejected" for n in SHOWN_SIZES]
    return Table("trainings", ("training set", "training", "epochs", *heads), rows)


def _pick(columns: dict[Column, Rates]) -> tuple[float, ...]:
    return tuple(getattr(columns[test, alpha], rate) for test, alpha, rate in WANTED)
