"""Small networks that learn their own mixture of the teacher's likelihood ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reproduction.training._learning import Learner, imitate
from reproduction.training._prior import LEVEL, at_size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ratekeeper.normality._network import Network, Scaling
    from reproduction.training._examples import Examples
    from reproduction.training._pipeline import Plan

    Single = NDArray[np.float32]

_SOFTNESS = 1.0
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
        ratios = examples.log_ratios(teacher, rows)
        for name, members in populations.items():
            if name == "omnibus":
                weights = at_size(anchors, omnibus, n)
            else:
                # The last member of the mixture is Shapiro-Wilk, which looks for anything.
                weights = np.where([*np.isin(families, members), False], 0.0, -np.inf)
            score = _mixture(ratios, weights)
            targets[name][rows] = score - np.quantile(score[normal], 1 - LEVEL)
    return targets


def _mixture(ratios: Single, log_weights: NDArray[np.float64]) -> Single:
    chosen = np.flatnonzero(np.isfinite(log_weights))
    parts = ratios[:, chosen]
    parts += log_weights[chosen].astype(np.float32)
    top = parts.max(axis=1, keepdims=True)
    parts -= top
    return np.asarray(np.log(np.exp(parts).sum(axis=1)) + top[:, 0], dtype=np.float32)


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
