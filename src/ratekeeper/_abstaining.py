"""A test that keeps both error rates, by abstaining where it must.

Built from a calibration by `Calibration.control_both`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper import _markup as markup
from ratekeeper._certificate import JointCertificate
from ratekeeper._decisions import Decisions
from ratekeeper._evaluation import count
from ratekeeper._formatting import exact_percent
from ratekeeper._inputs import check_aligned, read_new_labels, same_length
from ratekeeper._p_values import PValues
from ratekeeper._rates import Rate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._calibration import Calibration
    from ratekeeper._control import ErrorRateTest
    from ratekeeper._evaluation import JointEvaluation, Tally
    from ratekeeper._ranks import Floats


@dataclass(frozen=True, eq=False)
class AbstainingTest:
    """A test that keeps both error rates and abstains where both classes remain possible.

    Attributes
    ----------
    fnr, fpr : ErrorRateTest
        The two tests it consists of.

    Notes
    -----
    **Guarantee.** That of the method, for each rate: at most alpha_fnr of the positives are
    decided negative or neither, at most alpha_fpr of the negatives positive or neither. An
    abstention is no error. It does not bound how often the test abstains.

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
    def calibration(self) -> Calibration:
        """The scores it stands on."""
        return self.fnr.calibration

    @property
    def parts(self) -> tuple[ErrorRateTest, ...]:
        """The tests of one rate that it consists of."""
        return self.fnr, self.fpr

    @property
    def threshold(self) -> dict[str, Any]:
        """The thresholds of the two tests."""
        return {"fnr": self.fnr.threshold, "fpr": self.fpr.threshold}

    @cached_property
    def certificate(self) -> JointCertificate:
        """What is promised for each rate, and how often the test abstains."""
        abstained = {}
        for label, name in enumerate(("negative", "positive")):
            counts = [
                (int(self._decide_on(scores, i).abstained.sum()), scores.size)
                for i, scores in enumerate(self.calibration.cells[label])
            ]
            abstained[name] = Rate(sum(c for c, _ in counts), sum(n for _, n in counts))
        return JointCertificate(self.fnr.certificate, self.fpr.certificate, abstained)

    def _decide_on(self, scores: Floats, group: int) -> Decisions:
        grouped = self.calibration.groups is not None
        index = np.full(scores.size, group, dtype=np.intp) if grouped else None
        return self.decide_on(scores, index)

    def decide(self, scores: ArrayLike, groups: ArrayLike | None = None) -> Decisions:
        """Decide on new objects; see `ErrorRateTest.decide`."""
        return self.decide_on(*self.calibration.read_new(scores, groups))

    def decide_on(self, values: Floats, index: NDArray[np.intp] | None) -> Decisions:
        """Decide on scores and groups that `Calibration.read_new` has read."""
        fnr, fpr = self.fnr.decide_on(values, index), self.fpr.decide_on(values, index)
        may_be_positive, may_be_negative = fnr.positive, ~fpr.positive

        return Decisions(
            positive=may_be_positive & ~may_be_negative,
            abstained=may_be_positive & may_be_negative,
            neither=~(may_be_positive | may_be_negative),
            classes=self.calibration.classes,
            can_abstain=True,
            _p_values=partial(_joint_p_values, fnr, fpr),
        )

    def continuing(self) -> AbstainingTest:
        """Return the same test for objects that come in parts; see `ErrorRateTest.continuing`."""
        return AbstainingTest(self.fnr.continuing(), self.fpr.continuing())

    def p_values(self, scores: ArrayLike, groups: ArrayLike | None = None) -> PValues:
        """Return the p-values that the two tests compare with their alphas."""
        return self.decide(scores, groups).p_values

    def evaluate(
        self, scores: ArrayLike, labels: ArrayLike, groups: ArrayLike | None = None
    ) -> JointEvaluation:
        """Count both errors and the abstentions on labelled new objects; see `JointEvaluation`.

        Parameters
        ----------
        scores, labels, groups
            As in `ErrorRateTest.evaluate`.
        """
        check_aligned(scores, labels=labels)
        decisions = self.decide_on(*self.calibration.read_new(scores, groups))
        truth = read_new_labels(labels, self.calibration.classes)
        same_length("labels", truth.size, len(decisions))
        return self.evaluation_of(count(decisions, truth)[0])

    def evaluation_of(self, tally: Tally, group: int | None = None) -> JointEvaluation:
        """Compare counted decisions with both promises; see `ErrorRateTest.evaluation_of`."""
        return tally.against_both(self.fnr.promised_to(group), self.fpr.promised_to(group))

    def __repr__(self) -> str:
        return f"AbstainingTest of\n{self.fnr!r}\n{self.fpr!r}"

    def _repr_html_(self) -> str:
        promises = [
            (f"{test.control.upper()} ≤ {exact_percent(test.alpha)}", test.promise)
            for test in (self.fnr, self.fpr)
        ]
        negative, positive = (repr(label) for label in self.calibration.classes.tolist())
        return markup.card(
            f"AbstainingTest: {promises[0][0]} and {promises[1][0]}",
            [
                markup.facts([*promises, ("method", repr(self.fnr.method))]),
                markup.by_group(
                    self.calibration.groups,
                    (
                        f"positive ({positive}) remains possible if",
                        f"negative ({negative}) is ruled out if",
                    ),
                    list(zip(self.fnr.conditions, self.fpr.conditions, strict=True)),
                ),
                *markup.unpromised("fnr", self.fnr.pooled_groups),
                *markup.unpromised("fpr", self.fpr.pooled_groups),
            ],
        )


def _joint_p_values(fnr: Decisions, fpr: Decisions) -> PValues:
    return PValues(p0=fpr.p_values.p0, p1=fnr.p_values.p1)
