"""Small networks that learn their own mixture of the teacher's likelihood ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.normality.training._learning import Learner, imitate
from ratekeeper.normality.training._prior import LEVEL, at_size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ratekeeper.normality._network import Network, Scaling
    from ratekeeper.normality.training._examples import Examples
    from ratekeeper.normality.training._pipeline import Plan

    Single = NDArray[np.float32]

_SOFTNESS = 1.0
_BLOCK = 1 << 17
_RATE = 6e-3


def mixture_targets(
    teacher: Learner,
    examples: Examples,
    families: Sequence[str],
    populations: Mapping[str, Sequence[str]],
    anchors: Sequence[int],
    omnibus: NDArray[np.float64],
) -> dict[str, Single]:
    """Return, by network, the log mixture ratio of each example, 0 at the 5% point of its size."""
    targets = {name: np.empty(len(examples.sizes), np.float32) for name in populations}
    for n in np.unique(examples.sizes).tolist():
        rows = np.flatnonzero(examples.sizes == n)
        normal = examples.classes[rows] == 0
        for name, members in populations.items():
            if name == "omnibus":
                weights = at_size(anchors, omnibus, n)
            else:
                weights = np.where(np.isin(families, members), 0.0, -np.inf)
            score = _mixture(teacher, examples, rows, weights)
            targets[name][rows] = score - np.quantile(score[normal], 1 - LEVEL)
    return targets


def _mixture(
    teacher: Learner, examples: Examples, rows: NDArray[np.intp], log_weights: NDArray[np.float64]
) -> Single:
    chosen = np.flatnonzero(np.isfinite(log_weights))
    scores = np.empty(rows.size, dtype=np.float32)
    for start in range(0, rows.size, _BLOCK):
        ratios = examples.log_ratios(teacher, rows[start : start + _BLOCK])[:, chosen]
        ratios += log_weights[chosen].astype(np.float32)
        top = ratios.max(axis=1, keepdims=True)
        scores[start : start + _BLOCK] = np.log(np.exp(ratios - top).sum(axis=1)) + top[:, 0]
    return scores


def train_students(
    plan: Plan,
    examples: Examples,
    targets: Mapping[str, Single],
    scaling: Scaling,
    *,
    seed: int,
    report: Callable[[str, float], None],
) -> dict[str, Network]:
    """Train a small network for each target."""
    networks = {}
    n_even, n_odd = examples.even.shape[1], examples.odd.shape[1]
    for i, (name, target) in enumerate(targets.items()):
        rng = np.random.default_rng((seed, 5, i))
        student = Learner(n_even, n_odd, (*plan.student, 1), rng)
        gradient = imitate(target, _SOFTNESS)
        work = student.fit(
            examples.even, examples.odd, gradient, epochs=plan.student_epochs[name], rate=_RATE
        )
        for share in work:
            report("Training small networks", (i + share) / len(targets))
        networks[name] = student.network(scaling)
    return networks
