"""The samples that networks learn from, as inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.normality._features import ODD
from ratekeeper.normality._network import SIZE_INPUTS, compressed, size_inputs
from reproduction.training._prior import log_ratio
from reproduction.training._simulation import NORMAL, Part, Source, in_processes, rows_at, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ratekeeper.normality._network import Scaling
    from reproduction.training._learning import Learner
    from reproduction.training._pipeline import Plan

    Single = NDArray[np.float32]

_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Examples:
    """Inputs, sizes and classes of simulated samples.

    Attributes
    ----------
    even, odd : ndarray of shape (rows, n_inputs)
    classes : ndarray of shape (rows,)
        0 for normal samples, else 1 + the number of the family.
    sizes : ndarray of shape (rows,)
    shapiro_wilk : ndarray of shape (rows,)
        What Shapiro-Wilk says of each, as a log ratio; see `_prior.log_ratio`.
    scaling : Scaling
    """

    even: Single
    odd: Single
    classes: NDArray[np.int16]
    sizes: NDArray[np.int32]
    shapiro_wilk: Single
    scaling: Scaling

    def rows(self, n: int, family: int) -> NDArray[np.intp]:
        """Return where the samples of one size and class are."""
        return np.flatnonzero((self.sizes == n) & (self.classes == family))

    def log_ratios(self, teacher: Learner, rows: NDArray[np.intp]) -> Single:
        """Return the log likelihood ratio of each family to the normal, and Shapiro-Wilk's last."""
        return _ratios(teacher, self.even[rows], self.odd[rows], self.shapiro_wilk[rows])

    def log_ratios_of(
        self, teacher: Learner, features: Single, shapiro_wilk: Single, n: int
    ) -> Single:
        """Return the same for samples that are not among the examples."""
        return _ratios(teacher, *inputs(features, n, self.scaling), shapiro_wilk)


def inputs(features: Single, n: int, scaling: Scaling) -> tuple[Single, Single]:
    """Return the even and the odd inputs of a network."""
    x = compressed(features.astype(np.float64), *scaling.at(n))
    even = np.empty((len(x), ODD.size - int(ODD.sum()) + SIZE_INPUTS), dtype=np.float32)
    even[:, :-SIZE_INPUTS] = x[:, ~ODD]
    even[:, -SIZE_INPUTS:] = size_inputs(n)
    return even, x[:, ODD]


def gather(
    plan: Plan,
    families: Sequence[str],
    scaling: Scaling,
    *,
    seed: int,
    workers: int,
    report: Callable[[str, float], None],
) -> Examples:
    """Simulate everything that networks learn from."""
    parts = []
    for n in sorted(plan.training_sizes, reverse=True):
        parts.append(Part(NORMAL, n, rows_at(plan.normal_rows, n), (seed, 1, n)))
        for i, name in enumerate(families):
            rows = rows_at(plan.family_rows, n)
            parts.append(Part(Source("family", name), n, rows, (seed, 2, n, i)))
    total = sum(part.rows for part in parts)
    n_odd = int(ODD.sum())
    found = Examples(
        even=np.empty((total, ODD.size - n_odd + SIZE_INPUTS), dtype=np.float32),
        odd=np.empty((total, n_odd), dtype=np.float32),
        classes=np.empty(total, dtype=np.int16),
        sizes=np.empty(total, dtype=np.int32),
        shapiro_wilk=np.empty(total, dtype=np.float32),
        scaling=scaling,
    )
    start = 0
    for part, (features, w) in in_processes(simulate, parts, workers):
        here = slice(start, start + part.rows)
        found.even[here], found.odd[here] = inputs(features, part.n, scaling)
        normal = part.source == NORMAL
        found.classes[here] = 0 if normal else 1 + families.index(part.source.name)
        found.sizes[here] = part.n
        found.shapiro_wilk[here] = log_ratio(w, part.n)
        start += part.rows
        report("Simulating examples", start / total)
    return found


def _ratios(teacher: Learner, even: Single, odd: Single, shapiro_wilk: Single) -> Single:
    parts = []
    for start in range(0, len(even), _BLOCK):
        out = teacher.outputs(even[start : start + _BLOCK], odd[start : start + _BLOCK])
        out[:, 1:] -= out[:, :1]
        parts.append(np.roll(out, -1, axis=1))
        parts[-1][:, -1] = shapiro_wilk[start : start + _BLOCK]
    return np.concatenate(parts)
