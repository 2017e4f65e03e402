"""Zadrozny and Elkan (2001): calibrated probabilities of a tree, and costs of each object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression

from ratekeeper._reading._parameters import check_count, check_not_negative
from ratekeeper.baselines._cost_sensitive.cost_system import CostSystem, Rule
from ratekeeper.baselines._cost_sensitive.trees import TreeModel, chooser, entropy, grow
from ratekeeper.baselines._system import no_promise, parameter, system
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ratekeeper.baselines._cost_sensitive.cost_system import FitAt, Model
    from ratekeeper.baselines._cost_sensitive.trees import Tree
    from ratekeeper.baselines._system import Features, Floats, Mask, Rows
    from ratekeeper.methods import Guarantee


@system
class CurtailedTree(CostSystem):
    """Decide by the smoothed and curtailed probabilities of a tree, and by what each object costs.

    A decision tree is grown by entropy and not pruned. The probability at a leaf with few rows is
    that of the nearest node above with enough, and is drawn towards the share of the class among
    all rows. If a mistake costs differently for each object, its cost is predicted by linear
    regression.

    Parameters
    ----------
    curtail_at : int, default=20
        Fewest rows on which a probability rests.
    smoothing : float, default=10.0
        How strongly probabilities are drawn to the class shares: as if this many further rows of
        the rarer class, and of the other in proportion, were in each node; 0 for not at all.

    Attributes
    ----------
    models_ : list
        The tree, or, if `fit` was given costs of objects, the tree with two regressions.

    Notes
    -----
    **Guarantee.** None. Costs set no error rate, and in the search the rate is only estimated,
    on the rows that chose the ratio. With costs of objects no rate is aimed at.

    With k of n rows in a node of a class whose share among all rows is b, the probability is
    (k + b m) / (n + m): m-estimation, where b m is `smoothing` for the rarer class. The answer that
    is expected to cost less is given, where the costs may be those of the object.

    Confirmed against the abstract, a summary in slides, and the abstract of a companion paper,
    which recommends smoothing by m-estimation and curtailment for trees. The slides have the answer
    of the least expected cost from probabilities and costs that both depend on the object, and
    multiple linear regression for the costs. The defaults of smoothing and curtailment are our
    choice. A cost is known only for rows of the class in which the mistake is possible. The paper
    corrects the regression for this by Heckman's procedure, of which we could not read the details;
    it is not here. What the decision needs is the expected cost *given* that class, and a
    regression on the rows of that class estimates it if it is linear in the columns. No cost is
    predicted to be below the least one seen, our choice.

    References
    ----------
    B. Zadrozny, C. Elkan, "Learning and making decisions when costs and probabilities are both
    unknown", KDD 2001, 204-213. The same, "Obtaining calibrated probability estimates from decision
    trees and naive Bayesian classifiers", ICML 2001.

    Examples
    --------
    >>> clf = CurtailedTree(alpha=0.05, positive_label=0, random_state=0).fit(X, y)
    >>> clf.held_out_error_.rate <= 0.05, clf.guarantee.kind
    (True, 'none')
    >>> dear = [1 if benign else radius for benign, radius in zip(y, X[:, 0])]
    >>> own = CurtailedTree(positive_label=0).fit(X, y, mistake_costs=dear)
    >>> own.models_[0].ratio(X[[0, 19]]).round(2)  # to miss a tumour costs as much as its radius
    array([17.99, 13.54])
    """

    curtail_at: int = parameter(20, check_count)
    smoothing: float = parameter(10.0, check_not_negative)

    @property
    def guarantee(self) -> Guarantee:
        """None: minimising cost promises no error rate."""
        if isinstance(getattr(self, "models_", [None])[0], OwnCosts):
            return no_promise(
                "No error rate is promised: the costs of the objects are weighed against each "
                "other, and alpha is ignored.",
                "either error rate; ErrorRateController keeps the one you choose.",
            )
        return super().guarantee

    def fit(self, X: Features, y: ArrayLike, mistake_costs: ArrayLike | None = None) -> Self:
        """Learn from labelled rows, and from what a mistake on each of them costs.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            Numbers only, none of them missing or beyond 1e38.
        y : array-like of shape (n_objects,)
            Labels of two kinds.
        mistake_costs : array-like of shape (n_objects,), optional
            How much more the wrong label costs on this row than the right one; positive numbers.
            Not together with `costs`. Neither a search nor alpha plays a part then.

        Raises
        ------
        InputError
            If a parameter or the data cannot be used.
        """
        self._own_costs = self._read_mistake_costs(mistake_costs)
        try:
            return super().fit(X, y)
        finally:
            del self._own_costs

    def _read_mistake_costs(self, mistake_costs: ArrayLike | None) -> Floats | None:
        if mistake_costs is None:
            return None
        if self.costs is not None:
            raise InputError(
                (Parameter("costs"), " and mistake_costs are both given."),
                parameter="mistake_costs",
                remedy="Costs of objects replace the matrix: leave out one of them.",
            )
        try:
            known = np.asarray(mistake_costs, dtype=np.float64)
        except (TypeError, ValueError):
            known = np.empty((0, 0))
        if known.ndim != 1 or not (np.isfinite(known) & (known > 0)).all():
            raise InputError(
                parameter="mistake_costs",
                value=mistake_costs,
                need="one positive finite number for each row",
            )
        return known

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        own = self._own_costs
        if own is None:
            super()._learn(X, is_null, rng)
            return
        if own.size != len(X):
            raise InputError(
                f"mistake_costs has {own.size:,} number(s), and there are {len(X):,} rows.",
                parameter="mistake_costs",
                remedy="Give one for each row.",
            )
        self.costs_, self.n_training_ = np.array([[0.0, 1.0], [1.0, 0.0]]), len(X)
        self.held_out_error_ = self.held_out_other_error_ = None
        regressions = [LinearRegression().fit(X[rows], own[rows]) for rows in (is_null, ~is_null)]
        # Lines go below zero; no mistake is predicted to be cheaper than the cheapest seen.
        least = [float(own[rows].min()) for rows in (is_null, ~is_null)]
        tree = self._grow(X, is_null)
        self.models_ = [OwnCosts(tree.classes_, tree, regressions, least)]
        self.threshold_ = 0.5

    def _prepare(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> FitAt:
        del rng  # nothing is random but the split
        models: list[Model] = [self._grow(X, is_null)]
        return lambda losses: Rule(models, losses.threshold)

    def _grow(self, X: Floats, is_null: Mask) -> TreeModel:
        tree = grow(X, is_null, chooser(X, is_null, entropy, least=1))
        p = smoothed(tree, curtailed(tree, self.curtail_at), self.smoothing)
        return TreeModel(tree, (self.null_label_, self.other_label_), p)


@dataclass
class OwnCosts(BaseEstimator):
    """Probabilities of a model weighed with costs that are predicted for each object.

    The fields are the labels of the null class and the other, the model, and for mistakes on either
    class the regression of their costs and the least that it may say.
    """

    classes_: tuple[object, object]
    model: TreeModel
    regressions: list[LinearRegression]
    least: list[float]

    def ratio(self, X: Floats) -> Floats:
        """Return the predicted cost of a wrong rejection in terms of that of a wrong keep."""
        reject, keep = (
            np.maximum(line.predict(X), least)
            for line, least in zip(self.regressions, self.least, strict=True)
        )
        return np.asarray(reject / keep)

    def predict_proba(self, X: Floats) -> Floats:
        """Return the shares of the expected cost that rejecting, and that keeping, would save."""
        p = self.model.predict_proba(X)
        saved = p[:, 1] / (p[:, 1] + p[:, 0] * self.ratio(X))
        return np.column_stack([1 - saved, saved])


def curtailed(tree: Tree, fewest: int) -> Rows:
    """Return for each node the nearest one, from itself up, that has enough rows, or the root.

    Examples
    --------
    >>> X, is_null = np.array([[0.0], [1.0], [2.0]]), np.array([True, True, False])
    >>> curtailed(grow(X, is_null, chooser(X, is_null, entropy, least=1)), fewest=2)
    array([0, 1, 0])
    """
    stands_for = np.arange(len(tree.column))
    for node in range(1, len(stands_for)):
        if tree.rows[node] < fewest:
            stands_for[node] = stands_for[tree.parent[node]]
    return stands_for


def smoothed(tree: Tree, nodes: Rows, smoothing: float) -> Floats:
    """Return the probability of the other class at the nodes, by m-estimation."""
    share = tree.other[0] / tree.rows[0]
    weight = smoothing / min(share, 1 - share)
    return np.asarray((tree.other[nodes] + share * weight) / (tree.rows[nodes] + weight))
