"""What a test of several classes gives: for each object the classes that cannot be ruled out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import format_value, objects, percent
from ratekeeper._wording._sentences import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats

_SHOWN = 8  # sets


@dataclass(frozen=True, eq=False, repr=False)
class LabelSets:
    """For each object the classes whose p-value is above their level.

    Attributes
    ----------
    included : ndarray of bool, shape (n_objects, n_classes)
        Whether a class is in the set of an object.
    classes : ndarray of shape (n_classes,)
        The user's labels.
    alphas : tuple of float
        The level of each class.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, 600)
    >>> cal = rk.multiclass.calibrate(rng.normal(2 * np.eye(3)[labels]), labels)
    >>> cal.control(0.1).decide([[2.0, 0.0, 0.0], [1.5, 1.5, 0.0], [-3.0, -3.0, -3.0]])
    LabelSets of 3 objects
      label sets: 1.00 labels on average, 33.33% with one, 33.33% with none
      {0}, {0, 1}, {}
    """

    included: NDArray[np.bool_]
    classes: NDArray[Any]
    alphas: tuple[float, ...]
    _scores: Floats = field(repr=False)
    _p_values: Callable[[], NDArray[np.float64]] = field(repr=False)

    def __len__(self) -> int:
        return int(self.included.shape[0])

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """How many classes are in the set of each object."""
        return np.asarray(self.included.sum(axis=1))

    @property
    def sets(self) -> list[tuple[Any, ...]]:
        """The classes in the set of each object, in the order of `classes`."""
        names = self.classes.tolist()
        return [
            tuple(name for name, inside in zip(names, row, strict=True) if inside)
            for row in self.included.tolist()
        ]

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The one class of each set that has one, and None for the others, as objects."""
        found: NDArray[Any] = self.classes.astype(object)[self.included.argmax(axis=1)]
        found[self.sizes != 1] = None
        return found

    @cached_property
    def p_values(self) -> NDArray[np.float64]:
        """The p-value of each class for each object, computed when first asked for."""
        return self._p_values()

    def forced(self) -> NDArray[Any]:
        """Return one label for each object, whatever its set.

        The class that would stay last in the set if all levels were raised in proportion: the one
        with the largest ratio of p-value and level. Of equal ones the class with the highest score,
        then the first. If the set has one class it is this class.

        Notes
        -----
        **Guarantee.** None: where a set has several classes, or none, something is guessed. What
        it costs is on the certificate, and `MulticlassTest.evaluate` counts it.
        """
        return np.asarray(self.classes[forced_places(self.p_values.T, self._scores, self.alphas)])

    def __repr__(self) -> str:
        names = [format_value(name) for name in self.classes.tolist()]
        first = [
            "{" + ", ".join(n for n, inside in zip(names, row, strict=True) if inside) + "}"
            for row in self.included[:_SHOWN].tolist()
        ]
        more = ", ..." if len(self) > _SHOWN else ""
        return f"LabelSets of {objects(len(self))}\n  {self.summary}\n  {', '.join(first)}{more}"

    @property
    def summary(self) -> str:
        """How large the sets are, in words."""
        n = max(len(self), 1)
        return say(
            "multiclass.sizes",
            mean=f"{self.sizes.sum() / n:.2f}",
            single=percent(int((self.sizes == 1).sum()) / n),
            empty=percent(int((self.sizes == 0).sum()) / n),
        )

    def _repr_html_(self) -> str:
        counts = np.bincount(self.sizes, minlength=2)
        rows = [
            [str(size), f"{n:,}", f"{n / len(self):.1%}"]
            for size, n in enumerate(counts.tolist())
            if n
        ]
        table = markup.table(("labels in the set", "objects", "share"), rows, numbers=(0, 1, 2))
        return markup.card(f"LabelSets of {objects(len(self))}", [table])


def forced_places(
    p_values: NDArray[np.float64], scores: Floats, alphas: tuple[float, ...]
) -> NDArray[np.intp]:
    """Return the place of the class that `LabelSets.forced` names; one row for each class.

    Examples
    --------
    >>> p = np.array([[0.02, 0.3, 0.5], [0.02, 0.4, 0.5]])
    >>> forced_places(p, np.array([[0.2, 0.9, 0.1], [0.3, 0.1, 0.1]]), (0.05, 0.1))
    array([0, 0, 0])
    """
    ratios = p_values / np.array(alphas)[:, None]
    best = ratios == ratios.max(axis=0)
    high = np.where(best, scores, -np.inf)
    return np.asarray((best & (high == high.max(axis=0))).argmax(axis=0))
