"""Binary trees that the cost-sensitive systems grow by their own criteria, prune and read.

A split sends an object left if one column is at most a cut. What a criterion needs is an
*impurity*, a function of how many rows of either class a node has: a split is judged by its sum
over both sides. A tree is a set of arrays with one entry for each node, parents before children.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

if TYPE_CHECKING:
    from collections.abc import Callable

    from ratekeeper.baselines._system import Floats, Mask, Rows

    Impurity: TypeAlias = Callable[[Floats, Floats], Floats]  # of rows of the null class, and other
    Choose: TypeAlias = Callable[[Rows, Mask], tuple[int, float] | None]

LEAF = -1


@dataclass(frozen=True)
class Tree:
    """Nodes of a binary tree; see the module.

    Attributes
    ----------
    column, cut : ndarray
        What each node splits by, and where; the column is -1 at a leaf.
    parent, left, right : ndarray
        Places of other nodes, -1 where there is none.
    null, other : ndarray
        Training rows of either class at each node.
    """

    column: Rows
    cut: Floats
    parent: Rows
    left: Rows
    right: Rows
    null: Floats
    other: Floats

    @property
    def rows(self) -> Floats:
        """Training rows at each node."""
        return self.null + self.other

    @property
    def is_leaf(self) -> Mask:
        """Which nodes are leaves; of a pruned tree also nodes that are cut off."""
        return np.asarray(self.column == LEAF)

    def reached_by(self, X: Floats) -> Rows:
        """Return the leaf of each object."""
        at = np.zeros(len(X), dtype=np.intp)
        moving = np.flatnonzero(~self.is_leaf[at])
        while moving.size:
            node = at[moving]
            goes_left = X[moving, self.column[node]] <= self.cut[node]
            at[moving] = np.where(goes_left, self.left[node], self.right[node])
            moving = moving[~self.is_leaf[at[moving]]]
        return at

    def tested(self, columns: int) -> Mask:
        """Return which columns have been looked at on the way to each node."""
        seen = np.zeros((len(self.column), columns), dtype=np.bool_)
        for node in range(1, len(self.column)):
            above = self.parent[node]
            seen[node] = seen[above]
            seen[node, self.column[above]] = True
        return seen

    def pruned(self, cost_as_leaf: Floats) -> Tree:
        """Return the subtree with the same root whose leaves cost least in sum.

        Of two that cost the same the smaller one is taken.

        Examples
        --------
        >>> X, is_null = np.array([[0.0], [1.0]]), np.array([True, False])
        >>> tree = grow(X, is_null, lambda rows, used: (0, 0.5) if rows.size > 1 else None)
        >>> [int(tree.pruned(np.array(costs)).is_leaf[0]) for costs in ([3, 1, 1], [2, 1, 1])]
        [0, 1]
        """
        column, least = self.column.copy(), np.asarray(cost_as_leaf, dtype=np.float64).copy()
        for node in range(len(column) - 1, -1, -1):
            if column[node] != LEAF:
                below = least[self.left[node]] + least[self.right[node]]
                if least[node] <= below:
                    column[node] = LEAF
                else:
                    least[node] = below
        return replace(self, column=column)


@dataclass
class TreeModel(BaseEstimator):
    """A tree as a classifier: each node gives a probability of the other class.

    The fields are a tree, the labels of the null class and the other, and the probabilities.
    """

    tree: Tree
    classes_: tuple[object, object]
    probability: Floats

    def predict_proba(self, X: Floats) -> Floats:
        """Return the probabilities of the two labels."""
        p = self.probability[self.tree.reached_by(X)]
        return np.column_stack([1 - p, p])

    def looked_at(self, X: Floats) -> Mask:
        """Return which columns decide on each object."""
        return self.tree.tested(X.shape[1])[self.tree.reached_by(X)]


def grow(X: Floats, is_null: Mask, choose: Choose, max_depth: int | None = None) -> Tree:
    """Split nodes until `choose` finds nothing better, and return the tree.

    It is given the rows of a node and which columns were looked at on the way there, and returns a
    column and a cut, or None.

    Examples
    --------
    >>> X, is_null = np.array([[0.0], [1.0], [2.0]]), np.array([True, True, False])
    >>> tree = grow(X, is_null, lambda rows, used: None if used.any() else (0, 1.5))
    >>> tree.null.tolist(), tree.other.tolist()
    ([2.0, 2.0, 0.0], [1.0, 0.0, 1.0])
    """
    nodes: list[list[Any]] = []  # with the fields of a Tree
    waiting: list[tuple[Rows, Mask, int, int]] = []

    def add(rows: Rows, used: Mask, above: int, depth: int) -> int:
        nulls, node = int(np.count_nonzero(is_null[rows])), len(nodes)
        nodes.append([LEAF, np.nan, above, LEAF, LEAF, nulls, rows.size - nulls])
        if 0 < nulls < rows.size and (max_depth is None or depth < max_depth):
            waiting.append((rows, used, node, depth))
        return node

    add(np.arange(len(X)), np.zeros(X.shape[1], dtype=np.bool_), LEAF, 0)
    while waiting:
        rows, used, node, depth = waiting.pop()
        chosen = choose(rows, used)
        if chosen is None:
            continue
        column, cut = chosen
        goes_left = X[rows, column] <= cut
        looked_at = used.copy()
        looked_at[column] = True
        left = add(rows[goes_left], looked_at, node, depth + 1)
        right = add(rows[~goes_left], looked_at, node, depth + 1)
        nodes[node][:5] = column, cut, nodes[node][2], left, right
    kinds = [np.intp, np.float64, np.intp, np.intp, np.intp, np.float64, np.float64]
    fields = zip(zip(*nodes, strict=True), kinds, strict=True)
    arrays: list[Any] = [np.asarray(values, dtype=kind) for values, kind in fields]
    return Tree(*arrays)


def best_cuts(X: Floats, is_null: Mask, impurity: Impurity, least: int) -> tuple[Floats, Floats]:
    """Return of each column the smallest impurity that a cut leaves, and that cut.

    Either side keeps at least so many rows; where no cut does that, the impurity is infinite.

    Examples
    --------
    >>> X, is_null = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]), np.array([True, True, False])
    >>> best_cuts(X, is_null, misplaced, least=1)
    (array([ 0., inf]), array([1.5, nan]))
    """
    n, columns = X.shape
    found, cuts = np.full(columns, np.inf), np.full(columns, np.nan)
    if n < 2 * least:
        return found, cuts
    values = np.ascontiguousarray(X.T)  # one column after the other, which is sorted faster
    order = np.argsort(values, axis=1)
    values = np.take_along_axis(values, order, axis=1)
    nulls = np.cumsum(is_null[order], axis=1, dtype=np.float64)
    places = slice(least - 1, n - least)  # the last row on the left
    left_null = nulls[:, places]
    left_other = np.arange(least, n - least + 1, dtype=np.float64) - left_null
    all_null = nulls[0, -1]
    totals = impurity(left_null, left_other)
    totals = totals + impurity(all_null - left_null, n - all_null - left_other)
    lower, upper = values[:, places], values[:, least : n - least + 1]
    totals[lower == upper] = np.inf  # no cut parts equal values
    best, every = np.argmin(totals, axis=1), np.arange(columns)
    lower, upper = lower[every, best], upper[every, best]
    # Halves, since a sum may overflow; of two numbers with none between, the lower.
    halfway = lower / 2 + upper / 2
    found = totals[every, best]
    cuts = np.where(halfway < upper, np.maximum(halfway, lower), lower)
    return found, np.where(np.isfinite(found), cuts, np.nan)


def misplaced(null: Floats, other: Floats) -> Floats:
    """Return how many rows are not of the larger class: the impurity of accuracy."""
    return np.minimum(null, other)


def gini(null: Floats, other: Floats) -> Floats:
    """Return rows times Gini's index, 2 p (1 - p)."""
    return np.asarray(2 * null * other / np.maximum(null + other, 1))


def entropy(null: Floats, other: Floats) -> Floats:
    """Return rows times the entropy of their classes, in bits.

    Examples
    --------
    >>> entropy(np.array([2.0, 4.0]), np.array([2.0, 0.0]))
    array([4., 0.])
    """
    total = np.maximum(null + other, 1)
    logs = [part * np.log2(np.maximum(part, 1) / total) for part in (null, other)]
    return np.abs(logs[0] + logs[1])


def root_product(null: Floats, other: Floats) -> Floats:
    """Return rows times 2 sqrt(p (1 - p)), the criterion of Dietterich, Kearns and Mansour."""
    return np.asarray(2 * np.sqrt(null * other))


def laplace(other: Floats, rows: Floats) -> Floats:
    """Return Laplace's estimate of a probability from counts.

    Examples
    --------
    >>> laplace(np.array([0.0, 2.0]), np.array([0.0, 2.0]))
    array([0.5 , 0.75])
    """
    return np.asarray((other + 1) / (rows + 2))


def chooser(X: Floats, is_null: Mask, impurity: Impurity, least: int) -> Choose:
    """Return what chooses the split that lowers an impurity most, if one lowers it.

    Examples
    --------
    >>> X, is_null = np.array([[0.0], [1.0], [2.0]]), np.array([True, True, False])
    >>> chooser(X, is_null, gini, least=1)(np.arange(3), np.array([False]))
    (0, 1.5)
    """

    def choose(rows: Rows, used: Mask) -> tuple[int, float] | None:
        del used  # columns may come again
        found, cuts = best_cuts(X[rows], is_null[rows], impurity, least)
        nulls = np.count_nonzero(is_null[rows])
        before = impurity(np.asarray(float(nulls)), np.asarray(float(rows.size - nulls)))
        column = int(np.argmin(found))
        # Rounding is no gain.
        return (column, float(cuts[column])) if found[column] < before * (1 - 1e-12) else None

    return choose
