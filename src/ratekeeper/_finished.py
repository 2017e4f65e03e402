"""What tests of one and of both rates have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._cells import (
    count_outside,
    count_repeated,
    fingerprint,
    is_outside,
    read_new,
    refuse_calibration_objects,
    refuse_repeated,
    warn_if_outside,
)
from ratekeeper._clusters import draws, new_clusters, one_of_each, read_new_clusters
from ratekeeper._evaluation import Promise, Tally, as_tallies, coded, evaluate, from_codes
from ratekeeper._inputs import check_aligned, read_groups, read_new_labels, refuse_nan, same_length
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._calibration import Calibration
    from ratekeeper._certificate import Certificate, JointCertificate
    from ratekeeper._control import ErrorRateTest
    from ratekeeper._decisions import Decisions
    from ratekeeper._evaluation import Evaluation, JointEvaluation
    from ratekeeper._p_values import PValues
    from ratekeeper._ranks import Floats

    Index = NDArray[np.intp] | None


class FinishedTest(ABC):
    """What tests of one and of both rates have in common: they decide, and say what they promise.

    Attributes
    ----------
    parts : tuple of ErrorRateTest
        The tests of one rate that it consists of.
    calibration : Calibration
        The scores it stands on.
    """

    @property
    @abstractmethod
    def parts(self) -> tuple[ErrorRateTest, ...]:
        """The tests of one rate that it consists of."""

    @property
    @abstractmethod
    def certificate(self) -> Certificate | JointCertificate:
        """What is promised, on what data, at what cost."""

    calibration: Calibration

    @abstractmethod
    def _decide(self, values: Floats, index: Index) -> Decisions:
        """Decide on scores without NaN, which are kept as they are."""

    @abstractmethod
    def _continuing(self) -> FinishedTest:
        """Return the same test for objects that come in parts."""

    def decide(
        self,
        scores: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        clusters: ArrayLike | None = None,
    ) -> Decisions:
        """Decide on new objects.

        Parameters
        ----------
        scores : array-like of shape (n_objects,)
            Their scores, from the same model and runtime as at calibration.
        groups : array-like of shape (n_objects,), optional
            Their groups, required if and only if the calibration has groups.
        clusters : array-like of shape (n_objects,), optional
            Their clusters, to make sure that these are new ones: those of the calibration are
            refused. They do not change a decision.

        Returns
        -------
        Decisions
            For a rank method this is one comparison; p-values are computed only if asked for.

        Warns
        -----
        ScoreRangeWarning
            If more scores lie outside the calibration's range than chance explains.
        """
        check_aligned(scores, clusters=clusters)
        values, index = read_new(self.calibration, scores, groups)
        if clusters is not None:
            if self.calibration.clusters is None:
                raise InputError(
                    "clusters was given, but the calibration has no clusters.",
                    parameter="clusters",
                    remedy="Calibrate with clusters, or leave them out here.",
                )
            read_new_clusters(self.calibration, clusters, values.size)
        decisions = decide_read(self, values, index)  # which refuses NaN
        outside = count_outside(self.calibration, values)
        warn_if_outside(self.calibration, outside, values.size)
        return decisions

    def p_values(self, scores: ArrayLike, groups: ArrayLike | None = None) -> PValues:
        """Return the p-values that the test compares with alpha; parameters as in `decide`."""
        values, index = read_new(self.calibration, scores, groups)
        decisions = decide_read(self, values, index)
        outside = count_outside(self.calibration, values)
        warn_if_outside(self.calibration, outside, values.size)
        return decisions.p_values

    def evaluate(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        clusters: ArrayLike | None = None,
    ) -> Any:  # noqa: ANN401 - Evaluation or JointEvaluation, as the subclasses say
        """Count both errors on labelled new objects, and compare with the promise.

        Parameters
        ----------
        scores, labels : array-like of shape (n_objects,)
            Objects that were neither used for training nor for calibration, with true labels.
        groups : array-like of shape (n_objects,), optional
            Required if the calibration has groups. Otherwise an audit: errors are also counted
            by these groups, to which nothing is promised.
        clusters : array-like of shape (n_objects,), optional
            Whose rows they are, required if the calibration has clusters. None may be one of the
            calibration's. Of each cluster one row of each class (in each group) is drawn at
            random and counted, since exact intervals are about independent objects.

        Returns
        -------
        Evaluation or JointEvaluation
        """
        check_aligned(scores, labels=labels, groups=groups, clusters=clusters)
        names, own = None, self.calibration.groups
        is_audit = own is None and groups is not None
        values, index = read_new(self.calibration, scores, None if is_audit else groups)
        decisions = decide_read(self, values, index)
        if own is not None:
            names = own.tolist()
        elif groups is not None:
            index, found = read_groups(groups, values.size)
            names = found.tolist()
        truth = read_new_labels(labels, self.calibration.classes)
        same_length("labels", truth.size, len(decisions))
        refuse_calibration_objects(self.calibration, fingerprint(values, truth))
        repeated = count_repeated(self.calibration, values, truth)
        refuse_repeated(self.calibration, repeated, truth.size)
        codes, n_groups = coded(decisions, truth, index), 1 if names is None else len(names)
        whole, thinned = None, clusters is not None or self.calibration.clusters is not None
        if thinned:
            ids = new_clusters(self.calibration, clusters, values.size)
            numbers = draws(ids, np.arange(ids.size))
            rows = one_of_each(ids, numbers, truth.astype(np.intp))
            whole = sum(as_tallies(from_codes(codes[rows], n_groups)), Tally())
            if own is not None:  # what is promised to a group is about its rows
                rows = one_of_each(ids, numbers, codes // 4)
            codes, values = codes[rows], values[rows]
        outside = count_outside(self.calibration, values), values.size
        # Called by way of the method of a subclass.
        warn_if_outside(self.calibration, *outside, stacklevel=3, one_per_cluster=thinned)
        is_covered = not is_outside(self.calibration, *outside, one_per_cluster=thinned)
        tallies = as_tallies(from_codes(codes, n_groups))
        return evaluate_counts(self, tallies, names, is_covered=is_covered, whole=whole)


def decide_read(test: FinishedTest, values: Floats, index: Index) -> Decisions:
    """Decide on scores and groups that `read_new` has read."""
    refuse_nan(values)
    # P-values are computed when asked for, from the scores as they are now.
    return test._decide(values.copy(), index)  # noqa: SLF001 - of this very class


def continuing(test: FinishedTest) -> FinishedTest:
    """Return the same test for objects that come in parts, judged as one whole would be.

    With a seed, a randomised method makes the same draws in every call; here the draws of a call
    go on where those of the last one ended. Other methods do not need it.
    """
    return test._continuing()  # noqa: SLF001 - of this very class


def evaluate_counts(
    test: FinishedTest,
    tallies: list[Tally],
    names: list[Any] | None,
    *,
    is_covered: bool = True,
    whole: Tally | None = None,
) -> Evaluation | JointEvaluation:
    """Compare counted decisions with the promises of a test; see `evaluate` in `_evaluation`.

    Scores of another scale than at calibration are not covered: nothing is promised then.
    """
    promises = {part.control: part.promises() for part in test.parts}
    if not is_covered:
        promises = {name: [Promise(None)] * len(given) for name, given in promises.items()}
    is_audit = test.calibration.groups is None
    return evaluate(promises, tallies, names, audit=is_audit, whole=whole)
