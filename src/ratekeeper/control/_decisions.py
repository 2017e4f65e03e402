"""What comes out of a test: decisions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import objects

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ratekeeper.calibration._p_values import PValues

_SHOWN = 8  # labels, or as many as fit the width
_WIDTH = 70


@dataclass(frozen=True, eq=False)
class Decisions:
    """One decision for each object.

    Attributes
    ----------
    positive : ndarray of bool, shape (n_objects,)
        Decided positive.
    abstained : ndarray of bool, shape (n_objects,)
        Both classes remain possible. Only a test of both rates abstains.
    neither : ndarray of bool, shape (n_objects,)
        Both classes are rejected: the score is unlike those of either class.
    classes : ndarray of shape (2,)
        The user's labels, negative first.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat(["no", "yes"], 40))
    >>> cal.control("fnr", alpha=0.1).decide([0.2, 0.9])
    Decisions on 2 objects: 1 positive ('yes'), 1 negative ('no')
      labels: 'no', 'yes'
    """

    positive: NDArray[np.bool_]
    abstained: NDArray[np.bool_]
    neither: NDArray[np.bool_]
    classes: NDArray[Any]
    can_abstain: bool
    _p_values: Callable[[], PValues] = field(repr=False)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """Decisions in the user's own labels.

        Of the labels' own type. For a test that can abstain: objects, with None where the test
        abstained or found neither class possible.
        """
        if not self.can_abstain:
            return np.asarray(np.where(self.positive, self.classes[1], self.classes[0]))
        labels: NDArray[Any] = self.classes.astype(object)[self.positive.astype(np.intp)]
        labels[self.abstained | self.neither] = None
        return labels

    def labels_or(self, undecided: object) -> NDArray[Any]:
        """Return the labels, with another one where nothing is decided.

        Of one type for all, as many programs want it.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> scores = np.r_[np.linspace(0, 1, 60), np.linspace(0.5, 1.5, 60)]
        >>> test = rk.calibrate(scores, np.repeat([0, 1], 60)).control_both(0.1, 0.1)
        >>> test.decide([0.0, 0.7, 1.5]).labels_or(-1)
        array([ 0, -1,  1])
        """
        if not self.can_abstain:
            return self.labels
        labels: NDArray[Any] = self.classes[self.positive.astype(np.intp)]
        labels = labels.astype(np.result_type(self.classes, np.asarray(undecided)))
        labels[self.abstained | self.neither] = undecided
        return labels

    @cached_property
    def p_values(self) -> PValues:
        """The p-values behind the decisions, computed when first asked for."""
        return self._p_values()

    def __len__(self) -> int:
        return self.positive.size

    @property
    def _counts(self) -> dict[str, int]:
        negative, positive = (repr(value) for value in self.classes.tolist())
        n_positive, undecided = int(self.positive.sum()), {}
        if self.can_abstain:
            undecided = {"abstained": int(self.abstained.sum()), "neither": int(self.neither.sum())}
        n_negative = len(self) - n_positive - sum(undecided.values())
        return {positive: n_positive, negative: n_negative, **undecided}

    @property
    def _start(self) -> str:
        words = [repr(value) for value in self.labels[:_SHOWN].tolist()]
        while len(words) > 1 and len(", ".join(words)) > _WIDTH:
            words.pop()
        return ", ".join(words) + (", ..." if len(self) > len(words) else "")

    def __repr__(self) -> str:
        # The labels alone would read as numbers where they are numbers.
        positive, negative, *undecided = self._counts.items()
        sides = {"positive": positive, "negative": negative}
        parts = [f"{n:,} {side} ({label})" for side, (label, n) in sides.items()]
        parts += [f"{n:,} {what}" for what, n in undecided]
        return f"Decisions on {objects(len(self))}: {', '.join(parts)}\n  labels: {self._start}"

    def _repr_html_(self) -> str:
        sides = ("positive", "negative", "both remain possible", "both are ruled out")
        rows = [
            [what, f"{n:,}", f"{n / len(self):.1%}" if len(self) else "", side]
            for (what, n), side in zip(self._counts.items(), sides, strict=False)
        ]
        counts = markup.table(("decision", "objects", "share", ""), rows, numbers=(1, 2))
        return markup.card(
            f"Decisions on {objects(len(self))}", [counts, markup.facts([("labels", self._start)])]
        )
