"""Trees of decisions walked through in plain Python, and the data they are grown on."""

from __future__ import annotations

import itertools

import numpy as np

LEAF = -1  # in place of a column, where a node has no split


def two_normals(seed, n=100, columns=2, shift=1.5):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    return rng.normal(size=(2 * n, columns)) + shift * y[:, None], y


def cuts_of(column):
    values = np.unique(column)
    return (values[:-1] + values[1:]) / 2


def subtrees(tree, node=0):
    """Yield the leaves of every subtree with this root."""
    yield [node]
    if tree.column[node] != LEAF:
        below = [list(subtrees(tree, child)) for child in (tree.left[node], tree.right[node])]
        for left, right in itertools.product(*below):
            yield left + right


def leaves(tree, node=0):
    if tree.column[node] == LEAF:
        return [node]
    return leaves(tree, tree.left[node]) + leaves(tree, tree.right[node])
