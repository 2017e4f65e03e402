"""Scores as they come, before any label: whether they can be a mixture of both classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ratekeeper._numerics._draws import Draw
from ratekeeper._reading._columns import read_new_scores, refuse_nan
from ratekeeper._wording._sentences import say
from ratekeeper.exceptions import StoredFileError
from ratekeeper.monitoring._monitor._arguments import same_number
from ratekeeper.monitoring._shift import ShiftCounts, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.control._test import Test

FIRST = 200  # scores


class ShiftAlarm(NamedTuple):
    """What showed that scores are no mixture.

    Attributes
    ----------
    n : int
        By how many scores, counted in the order of recording.
    p : float
        The p-value that they had.
    group : object
        In which group it was smallest, None without groups.
    """

    n: int
    p: float
    group: object = None


class Scores:
    """Counts scores in cells, and judges them when there are 200, 400, 800 and so on.

    Parameters
    ----------
    test : Test
        With the calibration that they are compared with.
    delta : float
        The probability that all judgements together say "shifted" of scores that are none.

    Notes
    -----
    **Guarantee.** Let the calibration objects of each class, and the new ones, be independent
    draws, the new ones of a mixture of the two classes at any prevalence. Then "shifted" is ever
    said with probability at most delta, however often one looks. The proof: the j-th judgement is
    about the first 200 * 2**(j - 1) scores, a number that is fixed beforehand, wherever the calls
    end in which they came. Its p-value is that of `shift_test`, valid at every level for itself.
    So it is at most delta / (j * (j + 1)) with at most this probability, and the sum of these over
    all j is delta. Between judgements nothing is decided, and what was said once stays.

    It does not cover scores that were left out because of what they are, and it is no evidence that
    error rates are kept: see `shift_test`.
    """

    def __init__(self, test: Test, delta: float) -> None:
        self._test, self._delta = test, delta
        self.n = 0
        # Of the first test that was watched: one made anew from the same data has another.
        self._draw = test.calibration.draw
        self.shown: ShiftAlarm | None = None
        self._counts: ShiftCounts | None = None

    @property
    def reason(self) -> str | None:
        """Why nothing can be asked about scores; None if it can."""
        calibration = self._test.calibration
        if calibration.origin != "held out":
            return say("monitor.scores.cross_fitted")
        if self._test.tolerance:
            return say("monitor.scores.tolerance")
        error = refusal(calibration)
        return None if error is None else str(error.found)

    @property
    def next(self) -> int:
        """At how many scores they are judged next."""
        return FIRST << max(0, (self.n // FIRST).bit_length())

    def read(self, scores: Any, n: int) -> Floats:  # noqa: ANN401 - one, or a column of them
        """Return scores as numbers, none of which may be missing."""
        if np.ndim(scores) == 0:
            scores = [scores]
        values = read_new_scores(scores, self._test.calibration.dtype)
        same_number("scores", values.size, n)
        refuse_nan(values)
        return values

    def add(self, values: Floats, index: NDArray[np.intp]) -> None:
        """Count scores with the positions of their groups, and judge them on the way."""
        if not values.size or self.reason is not None:
            self.n += values.size
            return
        if self._counts is None:
            self._counts = ShiftCounts(self._test, draw=self._draw)
        start = 0
        while start < values.size:
            stop = start + min(values.size - start, self.next - self.n)
            self._counts.add_read(values[start:stop], index[start:stop])
            is_due = self.n + stop - start == self.next
            self.n, start = self.n + stop - start, stop
            if is_due and self.shown is None:
                self._judge(self._counts)

    def _judge(self, counts: ShiftCounts) -> None:
        j = (self.n // FIRST).bit_length()
        level = self._delta / (j * (j + 1))
        found = counts.result(alpha=level, enough=min(1.0, 2.0 * level))
        if found.shifted:
            worst = min(found.groups, key=lambda name: found.groups[name].p, default=None)
            self.shown = ShiftAlarm(self.n, found.p, worst)

    def state(self) -> tuple[dict[str, Any] | None, dict[str, NDArray[Any]]]:
        """Return facts and counts; None where there was no score yet."""
        if not self.n:
            return None, {}
        facts = {
            "n": self.n,
            "shown": None if self.shown is None else self.shown._asdict(),
            "draw": self._draw.to_dict(),
        }
        counts = [] if self._counts is None else self._counts.state()["counts"]
        flat = [n for group in counts for cells in group for n in cells]
        return facts, {"scores/counts": np.array(flat, dtype=np.int64)}

    def restore(self, facts: Mapping[str, Any] | None, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what `state` has returned."""
        if facts is None:
            return
        self.n = facts["n"]
        self.shown = None if facts["shown"] is None else ShiftAlarm(**facts["shown"])
        if self.reason is not None:
            return
        if "draw" not in facts:
            raise StoredFileError(
                "its scores were counted by an earlier version, in cells that depended on the "
                "scores of the calibration. Start a new one."
            )
        self._draw = Draw.from_dict(facts["draw"])
        made = ShiftCounts(self._test, draw=self._draw).state()
        flat = arrays["scores/counts"]
        sizes = [len(cells) for group in made["counts"] for cells in group]
        if flat.dtype != np.int64 or flat.size != sum(sizes) or (flat < 0).any():
            raise StoredFileError("its scores were counted in other cells. Start a new one.")
        parts = iter(np.split(flat, np.cumsum(sizes)[:-1]))
        counts = [[next(parts).tolist() for _ in group] for group in made["counts"]]
        self._counts = ShiftCounts.restore({**made, "counts": counts}, self._test)
        if self._counts.n != self.n:
            raise StoredFileError("its scores do not add up. Start a new one.")
