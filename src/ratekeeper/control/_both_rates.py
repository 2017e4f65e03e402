"""A test that keeps both error rates, by abstaining where it must.

Built from a calibration by `Calibration.control_both`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._rates import Rate, counted_rate
from ratekeeper._wording import _html as markup
from ratekeeper.calibration._cells import of_class, weighed_class
from ratekeeper.calibration._p_values import PValues
from ratekeeper.control._certificate import JointCertificate
from ratekeeper.control._decision_rates import Bounds, DecisionRates, share_of
from ratekeeper.control._decisions import Decisions
from ratekeeper.control._error_rate import aim, condition_text
from ratekeeper.control._evaluation import JointEvaluation
from ratekeeper.control._rules import Cut, either, of_both
from ratekeeper.control._test import Test, continuing
from ratekeeper.control._useless import Useless, remarks_of, useless_aim

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._random_keys import TieNumbers
    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._error_rate import ErrorRateTest
    from ratekeeper.control._rules import Rule, Sign
    from ratekeeper.control._test import Index


@dataclass(frozen=True, eq=False, repr=False)
class AbstainingTest(Test[JointEvaluation]):
    """A test that keeps both error rates and abstains where both classes remain possible.

    Attributes
    ----------
    fnr, fpr : ErrorRateTest
        The two tests it consists of.

    Notes
    -----
    **Guarantee.** That of the method, for each rate: at most alpha_fnr of the positives are
    decided negative or neither, at most alpha_fpr of the negatives positive or neither. An
    abstention is no error. Where the two thresholds cross, every threshold between them keeps both
    promises: the one in the middle decides, and nothing is left undecided. It bounds neither how
    often the test abstains nor the share of wrong decisions among those made.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> scores = np.r_[rng.normal(-1, 1, 300), rng.normal(1, 1, 300)]
    >>> cal = rk.calibrate(scores, np.repeat([0, 1], 300))
    >>> cal.control_both(alpha_fnr=0.05, alpha_fpr=0.05).decide([-2.0, 0.0, 2.0]).labels
    array([0, None, 1], dtype=object)
    """

    fnr: ErrorRateTest
    fpr: ErrorRateTest

    @property
    def calibration(self) -> Calibration:  # type: ignore[override]
        """The scores it stands on."""
        return self.fnr.calibration

    @property
    def tolerance(self) -> float:  # type: ignore[override]
        """By how much the score that decides may differ from the calibrated one."""
        return min(self.fnr.tolerance, self.fpr.tolerance)

    @property
    def parts(self) -> tuple[ErrorRateTest, ...]:
        """The tests of one rate that it consists of."""
        return self.fnr, self.fpr

    @cached_property
    def crossed(self) -> tuple[float | None, ...]:
        """For each cell, the one threshold that keeps both promises; None if they do not cross.

        An object is called positive if its score is not strictly beyond, on the negative side.
        """
        pairs = zip(_scores(self.fnr), _scores(self.fpr), strict=True)
        higher = self.calibration.higher_is_positive
        return tuple(between(fnr, fpr, higher=higher) for fnr, fpr in pairs)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The decision on a score as comparisons, for each group; one without groups."""
        sign: Sign = ">=" if self.calibration.higher_is_positive else "<="
        return tuple(
            of_both(fnr, fpr) if crossed is None else either(Cut(sign, crossed))
            for fnr, fpr, crossed in zip(self.fnr.cuts, self.fpr.cuts, self.crossed, strict=True)
        )

    @cached_property
    def _crossed_in_ties(self) -> NDArray[np.bool_]:
        """For each cell, whether the two boundaries cross among the ties of one score."""
        pairs = list(zip(self.fnr.boundaries.values(), self.fpr.boundaries.values(), strict=True))
        if not self._is_ordered:
            return np.zeros(len(pairs), dtype=bool)
        higher = self.calibration.higher_is_positive
        found = [
            fnr is not None
            and fpr is not None
            and fnr[0] == fpr[0]
            and (fnr[1] > fpr[1] if higher else fnr[1] < fpr[1])
            for fnr, fpr in pairs
        ]
        return np.array(found, dtype=bool)

    @property
    def _is_ordered(self) -> bool:
        """Whether both tests break ties by the same numbers, so that their boundaries compare."""
        return self.fnr.method.keys == "required" and self.fnr.method == self.fpr.method

    @cached_property
    def _limits(self) -> NDArray[np.float64]:
        return np.array(self.crossed, dtype=np.float64)  # NaN where they do not cross

    @cached_property
    def certificate(self) -> JointCertificate:
        """What is promised for each rate, and how often nothing is decided."""
        undecided = {}
        for label, name in enumerate(("negative", "positive")):
            if self.calibration.counted:
                undecided[name] = self._counted_undecided(label)
                continue
            known = self.calibration.independent
            numbers = self._own_numbers(known, label)
            found = self._decide(*of_class(known, label), numbers)
            undecided[name] = Rate(int((found.abstained | found.neither).sum()), len(found))
        higher = self.calibration.higher_is_positive
        crossed = [
            None
            if threshold is None
            else condition_text(
                self.calibration, "greater_equal" if higher else "less_equal", threshold
            )
            for threshold in self.crossed
        ]
        for i in np.flatnonzero(self._crossed_in_ties).tolist():
            crossed[i] = self.fnr.certificate.cells[i].condition
        return JointCertificate(
            self.fnr.certificate,
            self.fpr.certificate,
            tuple(crossed),
            undecided,
            ordered=self._is_ordered,
            alerts=self._practice(),
            remarks=remarks_of(self),
        )

    @cached_property
    def useless(self) -> Useless | None:
        """What is to be said of a test that decides on no object, or None."""
        by_score = all(part.method.decides_by_threshold for part in self.parts)
        return useless_aim(self) if by_score and self.calibration.weights is None else None

    def _counted_undecided(self, label: int) -> Rate:
        """Return how often nothing is decided on the counted objects of a class.

        What is called positive and what is called negative are each on one side of a threshold, so
        both are least where all in doubt stand at the end that is farther away.
        """
        called = []
        for end in ("low", "high"):
            scores, index, each = weighed_class(self.calibration, label, end)
            found = self._decide(scores, index)
            negative = ~found.positive & ~found.abstained & ~found.neither
            assert each is not None  # noqa: S101 - they are counted
            called.append([int(each[part].sum()) for part in (found.positive, negative)])
        n = sum(cell.size for cell in self.calibration.cells[label])
        least, most = (sum(map(chosen, *called)) for chosen in (min, max))
        return counted_rate(max(0, n - most), n - least, n)

    def _decide(self, values: Floats, index: Index, numbers: TieNumbers | None = None) -> Decisions:
        fnr, fpr = (part._decide(values, index, numbers) for part in self.parts)  # noqa: SLF001
        may_be_positive, may_be_negative = fnr.positive, ~fpr.positive
        if any(threshold is not None for threshold in self.crossed):
            limit = self._limits if index is None else self._limits[index]
            one = values >= limit if self.calibration.higher_is_positive else values <= limit
            crossed = ~np.isnan(limit)
            may_be_positive = np.where(crossed, one, may_be_positive)
            may_be_negative = np.where(crossed, ~one, may_be_negative)
        if self._crossed_in_ties.any():
            crossed = self._crossed_in_ties[0 if index is None else index]
            may_be_negative = np.where(crossed, ~may_be_positive, may_be_negative)
        return Decisions(
            positive=may_be_positive & ~may_be_negative,
            abstained=may_be_positive & may_be_negative,
            neither=~(may_be_positive | may_be_negative),
            classes=self.calibration.classes,
            can_abstain=True,
            _p_values=partial(_joint_p_values, fnr, fpr),
        )

    def _called(self, error: float | None) -> DecisionRates:
        """Bound what is called positive by the test of the FPR, and negative by that of the FNR.

        Each share is the null rate or the other error of one of them, and the threshold of an
        other error was set without looking at that class. A threshold between two that cross calls
        positive at least what that of the FNR does, and at most what that of the FPR does.
        """
        fnr, fpr = (part._called(None if error is None else error / 2) for part in self.parts)  # noqa: SLF001
        pairs = zip(self.fnr.thresholds.values(), self.fpr.thresholds.values(), strict=True)
        crossed = ~np.isnan(self._limits) | self._crossed_in_ties
        # Boundaries among ties bound as thresholds do, if both are of the same numbers.
        drawn = np.array([None in pair and not self._is_ordered for pair in pairs])
        positive, negative = fpr.positive, fnr.negative
        if (crossed | drawn).any():
            calls = self._n_called()

            def instead(part: Bounds, true: int, call: int, low: Bounds, high: Bounds) -> Bounds:
                share = share_of(calls[:, true, call], calls[:, true].sum(axis=1))
                return Bounds(
                    np.where(crossed | drawn, share, part.estimate),
                    np.where(crossed, low.low, np.where(drawn, np.nan, part.low)),
                    np.where(crossed, high.high, np.where(drawn, np.nan, part.high)),
                )

            positive, negative = (
                (
                    instead(part[0], 0, call, one[0], two[0]),
                    instead(part[1], 1, call, one[1], two[1]),
                )
                for part, call, one, two in (
                    (positive, 1, fnr.positive, fpr.positive),
                    (negative, 0, fpr.negative, fnr.negative),
                )
            )
        basis = [min(pair, key=_is_known) for pair in zip(fnr.basis, fpr.basis, strict=True)]
        basis = ["alerts.none.method" if i else how for i, how in zip(drawn, basis, strict=True)]
        return DecisionRates(positive, negative, basis, ~crossed)

    def _continuing(self) -> AbstainingTest:
        return AbstainingTest(*(continuing(part) for part in self.parts))  # type: ignore[arg-type]

    def __getstate__(self) -> dict[str, Any]:
        return {"fnr": self.fnr, "fpr": self.fpr}  # and nothing that follows from them

    def __repr__(self) -> str:
        return f"AbstainingTest of\n{self.fnr!r}\n{self.fpr!r}"

    def _repr_html_(self) -> str:
        return markup.card(
            f"AbstainingTest: {aim(self.fnr)} and {aim(self.fpr)}".replace("<=", "≤"),
            [part._repr_html_() for part in self.parts],
        )


def _scores(test: ErrorRateTest) -> list[float | None]:
    """Return the score of each threshold, or of the boundary where ties are broken by keys."""
    pairs = zip(test.thresholds.values(), test.boundaries.values(), strict=True)
    return [threshold if pair is None else pair[0] for threshold, pair in pairs]


def _is_known(basis: str) -> bool:
    return "none" not in basis


def between(fnr: float | None, fpr: float | None, *, higher: bool) -> float | None:
    """Return the threshold in the middle if that of the FNR lies beyond that of the FPR."""
    if fnr is None or fpr is None or not (fnr > fpr if higher else fnr < fpr):
        return None
    middle = fpr / 2 + fnr / 2
    strictly = fpr < middle <= fnr if higher else fnr <= middle < fpr
    return middle if strictly and np.isfinite(middle) else fnr


def _joint_p_values(fnr: Decisions, fpr: Decisions) -> PValues:
    return PValues(p0=fpr.p_values.p0, p1=fnr.p_values.p1)
