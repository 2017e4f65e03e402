"""By how much two runs of one model differ, object by object."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._columns import check_aligned, read_scores, refuse_nan, same_length
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import percent, percent_up
from ratekeeper._wording._sentences import say
from ratekeeper.exceptions import InputError
from ratekeeper.methods._tolerant import lacking

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_WIDTH = 79
_ROOM = 10  # times what was seen
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class ScoreDifference:
    """How far apart two sets of scores of the same objects are.

    Attributes
    ----------
    largest : float
        The largest difference, rounded up; infinite where an infinite score meets another.
    position : int
        The object that has it, counted from 0; the first of several.
    n : int
        How many objects there are.
    n_different : int
        How many have two different scores.

    Notes
    -----
    **Guarantee.** The largest difference of a sample bounds no other object's. If the objects are a
    random sample of those that the test will meet, then with probability 95% at most the share
    `beyond` of these has a larger one: of n + 1 such objects, each is as likely as any other to be
    the one with the largest difference. That share may come on top of the promised rate.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.diagnostics.score_difference([0.25, 0.5, 1.0], [0.25, 0.5, 0.875]).largest
    0.125
    """

    largest: float
    position: int
    n: int
    n_different: int

    @property
    def share(self) -> float:
        """The share of objects that have two different scores."""
        return self.n_different / self.n

    @property
    def tolerance(self) -> float:
        """A tolerance to make a test with: ten times what was seen, rounded up to one digit.

        That is room for what was not seen, and no guarantee.
        """
        wanted = _ROOM * self.largest
        if not 0.0 < wanted < math.inf:
            return wanted
        exponent = math.floor(math.log10(wanted))
        digits = range(1, 11)
        return next(t for d in digits if (t := float(f"{d}e{exponent}")) >= wanted)

    @property
    def beyond(self) -> float:
        """A share that new objects with a larger difference exceed with probability 5% at most."""
        return -math.expm1(math.log1p(-_CONFIDENCE) / self.n)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain values that JSON can write."""
        names = ("largest", "position", "n", "n_different", "share", "tolerance", "beyond")
        return {name: getattr(self, name) for name in names}

    def _facts(self) -> list[tuple[str, str]]:
        n = f"{self.n:,}"
        further = percent_up(self.beyond)
        if not self.n_different:
            return [("different", say("tolerance.none", n=n, further=further))]
        counted = {"n": n, "different": f"{self.n_different:,}", "part": percent(self.share)}
        where = {"largest": f"{self.largest:.3g}", "position": f"{self.position:,}"}
        advice = {"tolerance": repr(self.tolerance), "n": n, "further": further}
        is_finite = self.tolerance < math.inf
        said = say("tolerance.advice", **advice) if is_finite else say("tolerance.infinite")
        return [
            ("different", say("tolerance.different", **counted)),
            ("largest", say("tolerance.largest", **where)),
            ("tolerance", said),
        ]

    def __repr__(self) -> str:
        lines = [f"ScoreDifference of {self.n:,} objects: at most {self.largest:.3g}"]
        for title, text in self._facts():
            lines += textwrap.wrap(
                f"{title}: {text}", _WIDTH, initial_indent="  ", subsequent_indent="    "
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return markup.card(f"ScoreDifference of {self.n:,} objects", [markup.facts(self._facts())])


def score_difference(scores: ArrayLike, others: ArrayLike) -> ScoreDifference:
    """Measure by how much two runs of one model differ, such as before and after an export.

    Parameters
    ----------
    scores, others : array-like of shape (n_objects,)
        The scores of the same objects in the same order, from either run. Infinities that agree
        differ by 0.

    Returns
    -------
    ScoreDifference
        With the largest difference, and a `tolerance` to try: a maximum over a sample is no
        guarantee for new objects.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> scores = np.random.default_rng(0).random(1000)
    >>> found = rk.diagnostics.score_difference(scores, scores.astype(np.float32))
    >>> found
    ScoreDifference of 1,000 objects: at most 2.97e-08
      different: 1,000 of 1,000 scores differ (100.00%).
      largest: 2.97e-08, at position 590.
      tolerance: try 3e-07, ...
    >>> test = rk.calibrate(scores, scores > 0.5).control("fnr", 0.1, tolerance=found.tolerance)
    """
    check_aligned(scores, others=others)
    one, two = (
        read_scores(values, name).astype(np.float64)
        for values, name in ((scores, "scores"), (others, "others"))
    )
    same_length("others", two.size, one.size)
    if not one.size:
        raise InputError(
            "There are no scores to compare.",
            parameter="scores",
            remedy="Score some objects with both runs.",
        )
    refuse_nan(one)
    refuse_nan(two, "others")
    different = one != two  # infinities that agree are the same
    high, low = np.maximum(one, two), np.minimum(one, two)
    with np.errstate(all="ignore"):
        gaps = np.where(different, high - low, 0.0)
        gaps = np.where(lacking(high, -low, gaps) > 0.0, np.nextafter(gaps, np.inf), gaps)
    position = int(gaps.argmax())
    return ScoreDifference(float(gaps[position]), position, one.size, int(different.sum()))
