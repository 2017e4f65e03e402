"""scikit-learn's own threshold tuning, with the constraint inside the score."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from ratekeeper._reading._parameters import check_count
from ratekeeper.baselines._inner import fresh, score_against
from ratekeeper.baselines._system import WithEstimator, no_promise, parameter, system
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.baselines._system import Floats, Mask
    from ratekeeper.methods import Guarantee

_FEWEST = 2  # folds, thresholds, rows of a class


@system
class TunedThreshold(WithEstimator):
    """`TunedThresholdClassifierCV` with a score that puts the constraint before the other error.

    In each fold a threshold that keeps the controlled error at most alpha scores 1 minus the
    other error; one that does not scores minus the controlled error, and so below all that do.
    The threshold with the best mean over the folds is used with a classifier trained on all rows.

    Parameters
    ----------
    folds : int, default=5
        Number of cross-validation folds, scikit-learn's default. With fewer rows than that in a
        class, as many folds as rows.
    grid : int, default=100
        Number of thresholds, scikit-learn's default.

    Attributes
    ----------
    tuned_ : TunedThresholdClassifierCV
        Fitted to the labels 0 (null class) and 1 (the other).
    threshold_ : float
        Objects with scores of the class 1 from here up are rejected.

    Notes
    -----
    **Guarantee.** None: the best of many thresholds is picked by the rows that it was tried on,
    and it was tried with other classifiers than the one it is used with. On one Gaussian problem
    the rate was above alpha = 0.05 in 41% of 1,000 trainings with 100 rows of either class, in 21%
    with 200 and in 10% with 500.

    scikit-learn lays its thresholds equally spaced between the lowest and the highest score of a
    fold. Where scores crowd, as probabilities do near 0 and 1, neighbouring thresholds may stand
    for very different rates. The most cautious one still rejects the highest-scored row of the
    fold, so with fewer than 1 / alpha null rows in a fold the constraint may be out of reach
    there. Means are taken of scores that jump where the constraint fails, so a threshold that
    fails it in few of the folds can win.

    References
    ----------
    F. Pedregosa et al., "Scikit-learn: machine learning in Python", Journal of Machine Learning
    Research 12, 2825-2830 (2011).

    Examples
    --------
    >>> clf = TunedThreshold(control="fnr", alpha=0.05, positive_label=0).fit(X, y)
    >>> clf.n_training_
    569
    >>> clf.guarantee.kind
    'none'
    """

    folds: int = parameter(5, partial(check_count, least=_FEWEST))
    grid: int = parameter(100, partial(check_count, least=_FEWEST))

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return no_promise(
            "None; in the mean over folds a score is best that asks for the rate.",
            "the rate on new objects, which is often above alpha, and whether any of the "
            "thresholds tried keeps it at all.",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        del rng  # scikit-learn does not mix the rows before it cuts them into folds
        rows = int(min(is_null.sum(), (~is_null).sum()))
        if rows < _FEWEST:
            raise InputError(
                f"A class has {rows:,} row(s), and at least {_FEWEST} are needed for two folds.",
                parameter="y",
                remedy="Add rows of this class.",
            )
        self.tuned_ = TunedThresholdClassifierCV(
            fresh(self.estimator),
            scoring=make_scorer(partial(constrained_score, alpha=self.alpha)),
            thresholds=self.grid,
            cv=min(self.folds, rows),
        )
        try:
            self.tuned_.fit(X, np.where(is_null, 0, 1))
        except ValueError as error:
            if "constant predictions" not in str(error):
                raise
            raise InputError(
                "The estimator gives all rows of a fold the same score, so no threshold can be "
                "chosen.",
                parameter="estimator",
                value=self.estimator,
                remedy="Use other columns, or an estimator that learns from these.",
            ) from error
        self.threshold_ = float(self.tuned_.best_threshold_)
        self.n_training_ = len(X)

    def _evidence(self, X: Floats) -> Floats:
        scores = score_against(self.tuned_.estimator_, X, 1)
        # scikit-learn takes a score equal to the threshold as above it.
        return np.nextafter(scores, np.inf) - self.threshold_


def constrained_score(
    is_other: NDArray[np.int_], rejected: NDArray[np.int_], alpha: float
) -> float:
    """Return 1 - other error if the controlled error is at most alpha, else minus the latter.

    Truth and decision are 1 for the other class, and where the null class is rejected.

    Examples
    --------
    >>> truth = np.array([0, 0, 1, 1])
    >>> constrained_score(truth, np.array([0, 0, 0, 1]), 0.1)
    0.5
    >>> constrained_score(truth, np.array([0, 1, 1, 1]), 0.1)
    -0.5
    """
    null_error = float(np.mean(rejected[is_other == 0]))
    return float(np.mean(rejected[is_other == 1])) if null_error <= alpha else -null_error
