"""Print the tables of docs/guides/estimator.md.

``python docs/pictures/estimator_tables.py [sizes | strategies]``

Other error and error of the finished test on new objects, averaged over training sets; some
minutes for each table.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ratekeeper as rk
from ratekeeper.exceptions import RatekeeperWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.base import BaseEstimator

    Sample = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # X, y, X_new, y_new

ALPHA = 0.1
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
STRATEGIES: dict[str, dict[str, Any]] = {
    "split": {},
    "split, Conformal": {"method": rk.Conformal()},
    "CV+": {"strategy": "cv+"},
    "cross-fit, Conformal": {"strategy": "cross-fit", "method": rk.Conformal()},
}


def tumours(n: int, seed: int) -> Sample:
    """Draw n tumours of the breast cancer data; malignant ones are positive."""
    X, y = load_breast_cancer(return_X_y=True)
    X, new, y, y_new = train_test_split(X, 1 - y, train_size=n, stratify=y, random_state=seed)
    return X, y, new, y_new


def _linear(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 20))
    X[:, :10] += 0.45 * y[:, None]
    return X, y


def _curved(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 10))
    odds = 3 * X[:, 0] * X[:, 1] + 2 * X[:, 2] ** 2 - 2
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


def linear(n: int, seed: int) -> Sample:
    """Draw two normal classes, apart in ten of twenty columns."""
    rng = np.random.default_rng(seed)
    return *_linear(rng, n), *_linear(rng, 4000)


def curved(n: int, seed: int) -> Sample:
    """Draw rows whose log odds are a curved function of three of ten columns."""
    rng = np.random.default_rng(seed)
    return *_curved(rng, n), *_curved(rng, 4000)


@dataclass(frozen=True)
class Problem:
    """A kind of data, the model for it, and how often it is repeated at each size."""

    name: str
    draw: Callable[[int, int], Sample]
    model: BaseEstimator
    repeats: dict[int, int]


LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
PROBLEMS = (
    Problem("breast cancer, logistic", tumours, LOGISTIC, {100: 60, 200: 60, 400: 60}),
    Problem("simulated linear, logistic", linear, LOGISTIC, {200: 60, 1000: 60, 5000: 30}),
    Problem(
        "simulated curved, boosted trees",
        curved,
        HistGradientBoostingClassifier(max_iter=60),
        {200: 30, 1000: 30, 5000: 10},
    ),
)


def rates(problem: Problem, n: int, **options: Any) -> tuple[float, float] | None:  # noqa: ANN401
    """Return the average FNR and FPR on new objects; None if there are too few rows."""
    found = []
    for seed in range(problem.repeats[n]):
        X, y, new, y_new = problem.draw(n, seed)
        clf = rk.ErrorRateController(problem.model, alpha=ALPHA, random_state=seed, **options)
        try:
            positive = clf.fit(X, y).predict(new) == 1
        except rk.TooFewScoresError:
            return None
        found.append((np.mean(~positive[y_new == 1]), np.mean(positive[y_new == 0])))
    fnr, fpr = np.mean(found, axis=0)
    return float(fnr), float(fpr)


def sizes() -> None:
    """Print the other error of a split by the share of rows that calibrate."""
    print(f"| problem | n | {' | '.join(map(str, SHARES))} |")
    print("| --- " * (2 + len(SHARES)) + "|")
    for problem in PROBLEMS:
        for n in problem.repeats:
            cells = [rates(problem, n, calibration_size=share) for share in SHARES]
            shown = ("too few" if cell is None else f"{cell[1]:.1%}" for cell in cells)
            print(f"| {problem.name} | {n:,} | {' | '.join(shown)} |", flush=True)


def strategies() -> None:
    """Print both errors of each strategy."""
    print(f"| problem | n | {' | '.join(STRATEGIES)} |")
    print("| --- " * (2 + len(STRATEGIES)) + "|")
    for problem in PROBLEMS:
        for n in problem.repeats:
            cells = [rates(problem, n, **options) for options in STRATEGIES.values()]
            shown = (
                "too few" if cell is None else f"{cell[0]:.1%}, {cell[1]:.1%}" for cell in cells
            )
            print(f"| {problem.name} | {n:,} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", RatekeeperWarning)
    for name in sys.argv[1:] or ["sizes", "strategies"]:
        {"sizes": sizes, "strategies": strategies}[name]()
