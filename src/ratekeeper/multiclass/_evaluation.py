"""Errors of several classes, counted on new objects beside the promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._holm import holm
from ratekeeper._numerics._rates import Rate
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, format_value, json_ready
from ratekeeper._wording._sentences import say, verdicts_text
from ratekeeper.control._evaluation import FALSE_ALARMS, Promise, chances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._rates import Verdict


@dataclass(frozen=True)
class ClassCount:
    """What was counted on the objects of one class.

    Attributes
    ----------
    label : object
        The class.
    promised : float or None
        Its level; None if nothing is promised.
    errors : Rate
        Objects whose set does not have the class or, with ordered classes, that are called less
        severe.
    wrong : Rate
        Objects with another label than theirs, forced or called.
    p_value : float or None
        At most how often there are so many errors or more if nothing has changed since
        calibration, adjusted for all classes (Holm).
    """

    label: Any
    promised: float | None
    errors: Rate
    wrong: Rate
    p_value: float | None

    @property
    def verdict(self) -> Verdict:
        """What was found about the promise, as in `Evaluation.verdict`."""
        if self.promised is None:
            return "no promise"
        if not self.errors.n:
            return "unknown"
        if self.p_value is not None and self.p_value <= FALSE_ALARMS:
            return "exceeded"
        return "kept" if self.errors.interval[1] <= self.promised else "in line"


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassEvaluation:
    """Errors of each class, counted on labelled new objects, beside the promises.

    Attributes
    ----------
    classes : dict by label
        A `ClassCount` for each: its errors with an exact interval, and a verdict.
    confusion : ndarray of shape (n_classes, n_classes)
        For each true class (rows) how often each label was forced or, with ordered classes, called.
    summary : str
        How large the label sets are; empty with ordered classes.

    Notes
    -----
    **Guarantee.** If nothing has changed since calibration, any promise is called exceeded with
    probability at most 5%, over all classes together. It does not cover repeated looks.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, 600)
    >>> cal = rk.multiclass.calibrate(rng.normal(2 * np.eye(3)[labels]), labels)
    >>> cal.control(0.1).evaluate(rng.normal(2 * np.eye(3)[labels]), labels).classes[2].verdict
    'kept'
    """

    classes: dict[Any, ClassCount]
    confusion: NDArray[np.intp]
    summary: str

    def __repr__(self) -> str:
        lines = [self._line(one) for one in self.classes.values()]
        return "\n".join([*lines, self.summary] if self.summary else lines)

    def _line(self, one: ClassCount) -> str:
        label = format_value(one.label)
        if one.promised is None:
            return say("multiclass.evaluated.last", label=label)
        key = "multiclass.evaluated" if self.summary else "multiclass.evaluated.ordered"
        return say(
            key,
            label=label,
            rate=one.errors,
            alpha=exact_percent(one.promised),
            verdict=one.verdict,
            forced=one.wrong,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        found: dict[str, Any] = json_ready(
            {
                "classes": [
                    {
                        "label": one.label,
                        "promised": one.promised,
                        "verdict": one.verdict,
                        "p_value": one.p_value,
                        "errors": one.errors.to_dict(),
                        "wrong": one.wrong.to_dict(),
                    }
                    for one in self.classes.values()
                ],
                "confusion": self.confusion.tolist(),
            }
        )
        return found

    def _repr_html_(self) -> str:
        rows = [
            [
                markup.short(one.label),
                f"{one.errors.n:,}",
                "" if one.promised is None else exact_percent(one.promised),
                str(one.errors),
                one.verdict,
                str(one.wrong),
            ]
            for one in self.classes.values()
        ]
        head = ("class", "objects", "at most", "errors", "verdict", "wrong label")
        notes = [verdicts_text(one.verdict for one in self.classes.values())]
        notes += [self.summary] if self.summary else []
        table = markup.table(head, rows, numbers=(1, 2))
        return markup.card("Evaluation", [table, *map(markup.note, notes)])


def confusion(truth: NDArray[np.intp], places: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """Count labels (columns) by true class (rows).

    Examples
    --------
    >>> confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    array([[1, 1],
           [0, 1]])
    """
    return np.bincount(truth * n + places, minlength=n * n).reshape(n, n)


def evaluate(
    classes: NDArray[Any],
    promises: Sequence[Promise],
    truth: NDArray[np.intp],
    failed: NDArray[np.bool_],
    places: NDArray[np.intp],
    summary: str,
) -> MulticlassEvaluation:
    """Compare what was counted with what is promised, class by class."""
    n = classes.size
    sizes = np.bincount(truth, minlength=n).tolist()
    errors = np.bincount(truth[failed], minlength=n).tolist()
    table = confusion(truth, places, n)
    rates = list(map(Rate, errors, sizes))
    counted = {i: p for i, p in enumerate(chances(promises, rates)) if p is not None}
    adjusted = dict(zip(counted, holm(list(counted.values())).tolist(), strict=True))
    return MulticlassEvaluation(
        {
            label: ClassCount(
                label,
                promises[c].alpha,
                rates[c],
                Rate(int(sizes[c] - table[c, c]), sizes[c]),
                adjusted.get(c),
            )
            for c, label in enumerate(classes.tolist())
        },
        table,
        summary,
    )
