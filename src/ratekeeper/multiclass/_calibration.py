"""Held-out scores of several classes: one p-value for each class."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._ranks import sort_in_place
from ratekeeper._wording._formatting import format_value, listed_with_count, plain_value
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods import Conformal, HighProbability
from ratekeeper.multiclass._columns import read_classes, read_columns
from ratekeeper.multiclass._ordered import OrderedTest, build_ordered
from ratekeeper.multiclass._test import MulticlassTest, build_test, judge_columns, rank_method

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.methods import Method
    from ratekeeper.methods._rank import RankMethod, RankNull

    Levels = float | str | Mapping[Any, float | str]


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassCalibration:
    """Held-out scores of several classes, by true class. Made by `calibrate`.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The user's labels, in the order of the columns of the scores.
    rows : tuple of ndarray
        For each class an array of shape (n_classes, n_objects): the scores of its objects.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, 600)
    >>> scores = rng.normal(3 * np.eye(3)[labels])
    >>> cal = rk.multiclass.calibrate(scores, labels)
    >>> cal.p_values([[3.0, 0.0, 0.0]]).round(3)
    array([[0.513, 0.011, 0.004]])
    """

    classes: NDArray[Any]
    rows: tuple[Floats, ...]

    def __post_init__(self) -> None:
        for array in (self.classes, *self.rows):
            array.flags.writeable = False

    @property
    def dtype(self) -> np.dtype[Any]:
        """Number type of the scores."""
        return self.rows[0].dtype

    @cached_property
    def own(self) -> tuple[Floats, ...]:
        """For each class the ascending scores for it of its own objects."""
        return sort_in_place([part[c].copy() for c, part in enumerate(self.rows)])

    @property
    def sizes(self) -> dict[Any, int]:
        """Number of objects of each class."""
        return {
            label: part.shape[1]
            for label, part in zip(self.classes.tolist(), self.rows, strict=True)
        }

    def n(self, label: object) -> int:
        """Return the number of objects of a class."""
        sizes, name = self.sizes, plain_value(label)
        if not np.isscalar(label) or name not in sizes:
            need = f"one of {listed_with_count(list(sizes))}"
            raise InputError(parameter="label", value=label, need=need)
        return sizes[name]

    @cached_property
    def data_hash(self) -> str:
        """Hash of classes and scores; that of the same objects in another order is another."""
        digest = hashlib.sha256(repr(self.classes.tolist()).encode())
        for part in self.rows:
            digest.update(np.ascontiguousarray(part + 0.0).astype("<f8").tobytes())
        return digest.hexdigest()

    def nulls(self, method: RankMethod) -> tuple[RankNull, ...]:
        """Look at the own scores of each class through a method."""
        return tuple(method.against(scores, "low") for scores in self.own)

    def p_values(
        self, scores: ArrayLike, *, method: Method | str = Conformal()
    ) -> NDArray[np.float64]:
        """Return one p-value for each object and class, in the order of `classes`.

        Parameters
        ----------
        scores : array-like of shape (n_objects, n_classes)
            Scores of new objects, from the same model and runtime as at calibration.
        method : Method, default=Conformal()
            A rank method: how counts become p-values, and so what they promise.

        Returns
        -------
        ndarray of shape (n_objects, n_classes)

        Notes
        -----
        **Guarantee.** That of the method, for each class by itself; by default, for an object of
        class c exchangeable with the calibration objects of class c, ``P(p_c <= alpha) <= alpha``
        for every alpha. It says nothing about several classes at once.
        """
        columns = read_columns(scores, self.classes, self.dtype)
        return judge_columns(self.nulls(rank_method(method)), columns)

    def control(
        self, alpha: Levels = 0.05, *, method: Method | str = HighProbability()
    ) -> MulticlassTest:
        """Make the test whose label sets have the true class, but for a share alpha of each class.

        Parameters
        ----------
        alpha : float or dict by class, default=0.05
            The largest share of the objects of a class whose set does not have the class.
        method : Method or str, default=HighProbability(delta=0.05)
            A rank method, the kind of promise.

        Returns
        -------
        MulticlassTest

        Raises
        ------
        TooFewScoresError
            If a class has too few objects for its level; says how many are needed.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.choice(["benign", "other", "tumour"], 900)
        >>> places = np.unique(labels, return_inverse=True)[1]
        >>> cal = rk.multiclass.calibrate(rng.normal(2 * np.eye(3)[places]), labels)
        >>> test = cal.control({"benign": 0.2, "other": 0.1, "tumour": 0.02})
        >>> test.decide([[0.1, -0.3, 2.2], [1.2, 0.1, 0.9]]).sets
        [('tumour',), ('benign', 'tumour')]
        """
        return build_test(self, alpha, method)

    def control_ordered(
        self,
        alpha: Levels = 0.05,
        *,
        order: Sequence[Any],
        method: Method | str = HighProbability(),
    ) -> OrderedTest:
        """Make the test that rarely calls an object less severe than it is.

        Parameters
        ----------
        alpha : float or dict by class, default=0.05
            For each class but the last, the largest share of its objects that are called something
            less severe.
        order : sequence of labels
            All classes, the most severe first.
        method : Method or str, default=HighProbability(delta=0.05)
            A rank method, the kind of promise.

        Returns
        -------
        OrderedTest
        """
        return build_ordered(self, alpha, order, method)

    def __repr__(self) -> str:
        sizes = ", ".join(
            f"{format_value(label)}: {n:,}" for label, n in list(self.sizes.items())[:12]
        )
        more = ", ..." if self.classes.size > 12 else ""  # noqa: PLR2004
        return f"MulticlassCalibration: {self.classes.size:,} classes, {sizes}{more}"


def calibrate(
    scores: ArrayLike, labels: ArrayLike, *, classes: ArrayLike | None = None
) -> MulticlassCalibration:
    """Keep the held-out scores of several classes, to make p-values and label sets of new objects.

    Parameters
    ----------
    scores : array-like of shape (n_objects, n_classes)
        One column for each class; high scores indicate the class. What ``predict_proba`` gives, for
        example. The columns of a data frame that are named as the classes are found by name. For
        two classes one column will do: high scores indicate the second class.
    labels : array-like of shape (n_objects,)
        The true classes.
    classes : array-like of shape (n_classes,), optional
        The classes in the order of the columns. By default the distinct labels in ascending order,
        as in scikit-learn.

    Returns
    -------
    MulticlassCalibration

    Notes
    -----
    **Guarantee.** Each class is calibrated by its own objects: the p-value of class c is that of
    `Calibration.p_values` with the scores of column c, low ones being evidence against the class.
    For two classes and one column all p-values and decisions are those of `calibrate`, to the last
    bit. Promises hold class by class, however common the classes are; not for objects of a class
    that is not among them.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> cal = rk.multiclass.calibrate([0.1, 0.2, 0.7, 0.9], ["no", "no", "yes", "yes"])
    >>> cal.p_values([0.15, 0.8])
    array([[0.66666667, 0.33333333],
           [0.33333333, 0.66666667]])
    """
    n_objects = len(scores)  # type: ignore[arg-type]
    index, order = read_classes(labels, n_objects, classes)
    columns = read_columns(scores, order)
    sizes = np.bincount(index, minlength=order.size)
    if not sizes.all():
        empty = [
            format_value(label) for label, n in zip(order.tolist(), sizes, strict=True) if not n
        ]
        raise InputError(
            (Parameter("labels"), f" has no object of class {', '.join(empty)}."),
            parameter="labels",
            need="held-out objects of every class",
            remedy="Add some, or leave the class and its column out: nothing can be promised of "
            "a class without objects.",
        )
    rows: Any = tuple(np.ascontiguousarray(columns[:, index == c]) for c in range(order.size))
    return MulticlassCalibration(order, rows)
