"""What the cost-sensitive systems share: costs that are given, or searched on held-out rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from ratekeeper._reading._parameters import null_class_of
from ratekeeper.baselines._cost_sensitive.costs import (
    check_test_costs,
    losses_of,
    read_costs,
    read_test_costs,
    search_ratio,
)
from ratekeeper.baselines._inner import margin_for, probability_of, train
from ratekeeper.baselines._splitting import hold_out_both
from ratekeeper.baselines._system import WithEstimator, WithSplit, no_promise, optional, system

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray
    from sklearn.base import BaseEstimator

    from ratekeeper._numerics._rates import Rate
    from ratekeeper.baselines._cost_sensitive.costs import Losses
    from ratekeeper.baselines._system import Features, Floats, Mask
    from ratekeeper.methods import Guarantee

    FitAt = Callable[[Losses], "Rule"]


@dataclass(frozen=True)
class OneAnswer:
    """What is learnt from rows of one class only: its label for every object."""

    label: object


Model: TypeAlias = "BaseEstimator | OneAnswer"


@dataclass(frozen=True)
class Rule:
    """Models, and the threshold above which their mean leaning rejects."""

    models: list[Model]
    threshold: float = 0.5


@system
class CostSystem(WithSplit):
    """A system that minimises expected cost.

    Parameters
    ----------
    costs : array-like of shape (2, 2), optional
        ``costs[i][j]`` is the cost of predicting class i when class j is the truth, rows and
        columns in the order (negative, positive). By default the cost ratio is searched on
        held-out rows until their error is at most alpha.
    alpha : float, default=0.05
        The rate aimed at in the search; ignored if costs are given.
    calibration_size : float, default=0.5
        Share of both classes that is held out for the search.

    Attributes
    ----------
    models_ : list of classifiers
        What scores. Where a model had to learn from rows of one class only, a `OneAnswer`.
    threshold_ : float
        Objects are rejected where the models' mean probability of the other class is strictly
        above; 1/2 unless a system says otherwise.
    costs_ : ndarray of shape (2, 2)
        The cost matrix used. If no ratio reached alpha in the search, one of its costs is
        infinite, and every object is kept in the null class.
    held_out_error_, held_out_other_error_ : Rate or None
        The controlled and the other error on the held-out rows, if the costs were searched.
    """

    costs: ArrayLike | None = optional(read_costs)

    @property
    def guarantee(self) -> Guarantee:
        """None: minimising cost promises no error rate."""
        if self.costs is not None:
            return no_promise(
                "No error rate is promised: the given costs are weighed against each other, and "
                "alpha is ignored.",
                "either error rate; ErrorRateController keeps the one you choose.",
            )
        return no_promise(
            "No error rate is promised: the cost ratio was chosen so that the held-out error is "
            f"at most {self.alpha:g}, on the very rows that measured it.",
            "the true rate: it tends to lie above the held-out one, since that chose the ratio, "
            "and nothing keeps it at alpha; ErrorRateController certifies it.",
            "for that error to mean anything, held-out rows from the population of the new ones.",
        )

    @abstractmethod
    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        """Do what does not depend on the costs, and return what fits a rule at given ones."""

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        null_class = null_class_of(self.control)
        if self.costs is None:
            rule = self._search(X, is_null, rng)
        else:
            self.costs_ = read_costs(self.costs)
            self.n_training_ = len(X)
            self.held_out_error_: Rate | None = None
            self.held_out_other_error_: Rate | None = None
            rule = self._prepare(X, is_null, rng)(losses_of(self.costs_, null_class))
        self.models_, self.threshold_ = rule.models, rule.threshold

    def _search(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> Rule:
        rows, held_out = hold_out_both(is_null, self.calibration_size, rng)
        fit_at = self._prepare(X[rows], is_null[rows], rng)
        new_rows = X[held_out]
        # The same models at every ratio score the held-out rows only once.
        known: tuple[list[Model], Floats] | None = None

        def try_at(losses: Losses) -> tuple[Rule, Mask]:
            nonlocal known
            rule = fit_at(losses)
            if known is None or known[0] is not rule.models:
                known = rule.models, mean_leaning(rule.models, new_rows, self.other_label_)
            return rule, known[1] > rule.threshold

        keeps_all = Rule([OneAnswer(self.null_label_)])
        found = search_ratio(try_at, keeps_all, is_null[held_out], self.alpha)
        self.n_training_ = rows.size
        self.costs_ = found.losses.matrix(null_class_of(self.control))
        self.held_out_error_, self.held_out_other_error_ = found.error, found.other_error
        return found.fitted

    def _evidence(self, X: Floats) -> Floats:
        return mean_leaning(self.models_, X, self.other_label_) - self.threshold_


@system
class CostLearner(CostSystem, WithEstimator):
    """A system that minimises expected cost by way of a classifier."""


@system
class WithTests(CostSystem):
    """A cost-sensitive system for columns that have to be paid for.

    Parameters
    ----------
    test_costs : array-like of shape (n_features,), optional
        What it costs to learn each column of an object, in the unit of `costs`; the costs that are
        searched add up to 2. By default nothing.
    """

    test_costs: ArrayLike | None = optional(check_test_costs)

    def paid(self, X: Features) -> Floats:
        """Return what the columns that were looked at cost, for each object.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            New objects.
        """
        check_is_fitted(self)
        X, total = self._read(X, reset=False), np.zeros(len(X))
        for model in self.models_:
            if not isinstance(model, OneAnswer):
                total += model.looked_at(X) @ read_test_costs(self.test_costs, X.shape[1])
        return total


def train_on(
    estimator: BaseEstimator | None,
    X: Floats,
    labels: NDArray[np.generic],
    weights: Floats | None = None,
) -> Model:
    """Train a fresh copy; rows of one class only give `OneAnswer`.

    Examples
    --------
    >>> train_on(None, np.array([[0.0], [1.0]]), np.array(["no", "no"])).label
    'no'
    """
    if (labels == labels[0]).all():
        return OneAnswer(labels[0].item())
    return train(estimator, X, labels, weights)


def leaning(model: Model, X: Floats, other: object) -> Floats:
    """Return how far the model leans to the label `other`; above 1/2 it answers so itself.

    This is the probability if the model gives one, else the logistic function of its decision
    function, which is 1/2 where that is 0.

    Examples
    --------
    >>> leaning(OneAnswer("no"), np.zeros((2, 1)), "yes")
    array([0., 0.])
    """
    if isinstance(model, OneAnswer):
        return np.full(len(X), float(model.label == other))
    if hasattr(model, "predict_proba"):
        return probability_of(model, X, other)
    return np.asarray(expit(margin_for(model, X, other)))


def mean_leaning(models: list[Model], X: Floats, other: object) -> Floats:
    """Return the mean `leaning` of several models."""
    return np.asarray(np.mean([leaning(model, X, other) for model in models], axis=0))
