"""Table 1 and the figures under the paper's own protocol, leak included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reproduction import published
from reproduction.protocol import SIZES, labels, sizes
from reproduction.standard_tests import STANDARD, usual_rejections
from reproduction.tables import Table, rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    import ratekeeper as rk
    from reproduction.published import Column, Rates
    from reproduction.study import NeuralTest, Study

    Array = NDArray[np.float64]

ALPHAS = (0.01, 0.05)
HALF = 0.5  # the bare network's threshold


@dataclass(frozen=True)
class AsPublished:
    """What the published protocol gave.

    Attributes
    ----------
    columns : dict
        The rates of every column of Table 1, measured.
    table_1, densities, control, by_size : Table
    """

    columns: dict[Column, Rates]
    table_1: Table
    densities: Table
    control: Table
    by_size: Table


def as_published(study: Study) -> AsPublished:
    """Evaluate the replica and the standard tests on the published protocol."""
    law = "published"
    is_normal = labels(study.test)
    test = study.neural_test(law, law)
    p_values = study.test_p_values(test, law)
    columns = _standard_columns(study)
    columns |= neural_columns(study.test_scores(test, law), p_values, is_normal)
    return AsPublished(
        columns=columns,
        table_1=_table_1(columns),
        densities=_densities(test, study),
        control=_control(p_values, is_normal),
        by_size=_by_size(p_values, study),
    )


def neural_columns(
    scores: Array, p_values: rk.PValues, is_normal: NDArray[np.int64]
) -> dict[Column, Rates]:
    """Return the rates of NN_0, NN_1 and the bare network, which says normal from 0.5 on."""
    found: dict[Column, Rates] = {("NN", None): rates(scores < HALF, is_normal)}
    for alpha in ALPHAS:
        # NN_0 says normal when "non-normal" is rejected, NN_1 unless "normal" is rejected.
        found["NN_0", alpha] = rates(p_values.p0 > alpha, is_normal)
        found["NN_1", alpha] = rates(p_values.p1 <= alpha, is_normal)
    return found


def _standard_columns(study: Study) -> dict[Column, Rates]:
    parts = [usual_rejections(part.values("published"), ALPHAS) for part in study.test]
    is_normal = labels(study.test)
    return {
        (test, alpha): rates(np.concatenate([part[test, alpha] for part in parts]), is_normal)
        for test in STANDARD
        for alpha in ALPHAS
    }


def _table_1(columns: dict[Column, Rates]) -> Table:
    rows = []
    for column, printed in published.TABLE_1.items():
        test, alpha = column
        row: list[str | float | None] = [test, "" if alpha is None else f"{alpha:.0%}"]
        for measured, paper, other in zip(
            columns[column], printed, published.REPOSITORY[column], strict=True
        ):
            row += [measured, paper, measured - paper, other]
        rows.append(tuple(row))
    heads = [
        head
        for rate in ("A", "FNR", "FPR")
        for head in (rate, f"{rate} printed", f"{rate} difference", f"{rate} repository")
    ]
    return Table("table_1", ("test", "alpha", *heads), rows)


def _densities(test: NeuralTest, study: Study) -> Table:
    from scipy.stats import gaussian_kde

    scores = study.test_scores(test, "published")
    is_normal = labels(study.test)
    grid = np.linspace(0, 1, 201)
    curves = [gaussian_kde(scores[is_normal == label])(grid) for label in (0, 1)]
    columns = ("score", "density given non-normal", "density given normal")
    rows = np.column_stack([grid, *curves]).tolist()
    return Table("figure_1a_densities", columns, [tuple(row) for row in rows])


def _control(p_values: rk.PValues, is_normal: NDArray[np.int64]) -> Table:
    alphas = np.linspace(0, 1, 101)
    below = [
        np.searchsorted(np.sort(p), alphas, side="right") / p.size
        for p in (p_values.p0[is_normal == 0], p_values.p1[is_normal == 1])
    ]
    rows = np.column_stack([alphas, *below]).tolist()
    columns = ("alpha", "FPR of NN_0", "FNR of NN_1")
    return Table("figure_1bc_control", columns, [tuple(row) for row in rows])


def _by_size(p_values: rk.PValues, study: Study) -> Table:
    alpha = 0.05
    is_normal, size = labels(study.test), sizes(study.test)
    rows = []
    for i, n in enumerate(SIZES):
        tpr = float(np.mean(p_values.p0[(size == n) & (is_normal == 1)] <= alpha))
        tnr = float(np.mean(p_values.p1[(size == n) & (is_normal == 0)] <= alpha))
        rows.append((n, tpr, published.TPR_OF_NN_0[i], tnr, published.TNR_OF_NN_1[i]))
    columns = ("n", "TPR of NN_0", "repository", "TNR of NN_1", "repository")
    return Table("figure_1de_by_size", columns, rows)
