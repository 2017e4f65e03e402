"""What tests of one and of both rates have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np

from ratekeeper._numerics._random_keys import numbers_of_keys
from ratekeeper._numerics._scan import scan
from ratekeeper._numerics._step_function import MOST_STEPS
from ratekeeper._reading._columns import (
    check_aligned,
    nan_error,
    read_groups,
    read_new_labels,
    refuse_nan,
    same_length,
)
from ratekeeper._reading._hints import TEST, missing_attribute
from ratekeeper._reading._parameters import check_count
from ratekeeper.calibration._cells import (
    count_outside,
    is_outside,
    of_class,
    own_numbers,
    read_new,
    refuse_clusters,
    warn_if_outside,
    weighed_class,
)
from ratekeeper.calibration._clusters import EVALUATED, new_clusters, one_of_each, read_new_clusters
from ratekeeper.calibration._overlaps import CalibrationObjects, refuse_known
from ratekeeper.calibration._weights import new_weights
from ratekeeper.control._alerts import alerts_of
from ratekeeper.control._decision_rates import rates_of_any_threshold
from ratekeeper.control._evaluation import (
    N_OUTCOMES,
    Promise,
    Tally,
    as_tallies,
    coded,
    evaluate,
    from_codes,
)
from ratekeeper.control._group_audit_columns import read_audit_columns
from ratekeeper.control._group_audit_counts import AuditCount
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import TypeVar

    from ratekeeper._numerics._random_keys import TieNumbers
    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Control, Share
    from ratekeeper._numerics._scan import Comparison
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.calibration._p_values import PValues
    from ratekeeper.control._alerts import Alerts
    from ratekeeper.control._certificate import Certificate, JointCertificate
    from ratekeeper.control._decision_rates import DecisionRates
    from ratekeeper.control._decisions import Decisions
    from ratekeeper.control._error_rate import ErrorRateTest
    from ratekeeper.control._evaluation import Evaluation, JointEvaluation
    from ratekeeper.control._risk_control import RiskControlCertificate
    from ratekeeper.control._rules import Rule
    from ratekeeper.control._useless import Useless

    Index = NDArray[np.intp] | None
    # What errors are counted to.
    Found = TypeVar("Found", bound=Evaluation | JointEvaluation, default=Any)
else:
    from typing import TypeVar

    Found = TypeVar("Found")


# Bytes of scores of which decisions keep a copy. Copying takes longer than deciding, so of more
# scores none is made. A checksum of the caller's array would not notice every change to it.
_KEPT = 1 << 27


class Test(ABC, Generic[Found]):
    """What tests of one and of both rates have in common: they decide, and say what they promise.

    Attributes
    ----------
    parts : tuple of ErrorRateTest
        The tests of one rate that it consists of.
    calibration : Calibration
        The scores it stands on.
    tolerance : float
        By how much the score that decides may differ from the calibrated one.
    """

    __test__ = False  # pytest would take it for tests where a test module imports it

    @property
    @abstractmethod
    def parts(self) -> tuple[ErrorRateTest, ...]:
        """The tests of one rate that it consists of."""

    @property
    @abstractmethod
    def certificate(self) -> Certificate | JointCertificate | RiskControlCertificate:
        """What is promised, on what data, at what cost."""

    calibration: Calibration
    tolerance: float = 0.0

    if not TYPE_CHECKING:  # type checkers would take any name

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            return missing_attribute(self, name, TEST)

    @property
    @abstractmethod
    def useless(self) -> Useless | None:
        """What is to be said of a test that calls all calibration objects alike, or None."""

    @abstractmethod
    def _decide(self, values: Floats, index: Index, numbers: TieNumbers | None = None) -> Decisions:
        """Decide on scores without NaN, which are kept as they are."""

    @property
    @abstractmethod
    def rules(self) -> tuple[Rule, ...]:
        """The decision on a score as comparisons, for each group; one without groups.

        Refused where more than the score decides.
        """

    @property
    def _by_class(self) -> bool:
        """Whether shares are those of a class, so that clusters are thinned in each by itself."""
        return True

    @property
    def _is_paired(self) -> bool:
        """Whether ties are broken by a number of each object."""
        return any(part.method.keys == "required" for part in self.parts)

    @property
    def _levels(self) -> dict[Control, float]:
        """The level of each class's error rate that the test controls."""
        return {part.control: part.alpha for part in self.parts}

    def _promises(self) -> dict[Share, list[Promise]]:
        """Return what counted shares are compared with, for everybody or for each group."""
        return {part.control: part.promises() for part in self.parts}

    @abstractmethod
    def _continuing(self) -> Test:
        """Return the same test for objects that come in parts."""

    def decide(
        self,
        scores: ArrayLike,
        groups: ArrayLike | None = None,
        keys: ArrayLike | None = None,
        *,
        clusters: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Decisions:
        """Decide on new objects.

        Parameters
        ----------
        scores : array-like of shape (n_objects,)
            Their scores, from the same model and runtime as at calibration, or within the test's
            tolerance of those.
        groups : array-like of shape (n_objects,), optional
            Their groups, required if and only if the calibration has groups.
        keys : array-like of shape (n_objects,), optional
            A text or whole number for each object, by which ties are broken at random: required
            by ``HighProbability(randomised=True)``, possible with `Smoothed`. The same key always
            gets the same number, so the same object always gets the same decision.
        clusters : array-like of shape (n_objects,), optional
            Their clusters, to make sure that these are new ones: those of the calibration are
            refused. They do not change a decision.
        weights : array-like of shape (n_objects,) or float, optional
            Their weights, by the same formula as at calibration; required if and only if the
            calibration has weights. One number is for all: one that no weight exceeds is safe.

        Returns
        -------
        Decisions
            For a rank method this is one comparison; p-values are computed only if asked for, from
            a copy of the scores. Of more than 128 MB no copy is made: use `p_values` for these.

        Warns
        -----
        ScoreRangeWarning
            If more scores lie outside the calibration's range than chance explains.
        """
        check_aligned(scores, clusters=clusters)
        values, index = read_new(self.calibration, scores, groups, self.tolerance)
        if clusters is not None:
            if self.calibration.clusters is None:
                raise InputError(
                    "clusters was given, but the calibration has no clusters.",
                    parameter="clusters",
                    remedy="Calibrate with clusters, or leave them out here.",
                )
            read_new_clusters(self.calibration, clusters, values.size)
        numbers = self._numbers(scores, keys, values.size, weights)
        # P-values are computed when asked for, from the scores as they are now.
        found = scan(values, self._comparison(index), keep=values.nbytes <= _KEPT)
        if np.isnan(found.low):
            raise nan_error(values)
        kept = values if found.kept is None else found.kept
        known = {} if found.passed is None else {"positive": found.passed}
        decisions = self._decide(kept, index, numbers, **known)
        if found.kept is None:
            decisions = replace(decisions, _p_values=partial(_not_kept, values.size))
        low, high = self.calibration.extent
        if found.low < low or found.high > high:
            outside = count_outside(self.calibration, values, tolerance=self.tolerance)
            warn_if_outside(self.calibration, outside, values.size)
        return decisions

    def _comparison(self, index: Index) -> Comparison | None:
        """Return the comparison that is true for positive decisions, where one is all there is."""
        del index
        return None

    def _numbers(
        self, scores: ArrayLike, keys: ArrayLike | None, n: int, weights: ArrayLike | None
    ) -> TieNumbers | None:
        """Return what breaks the ties of new objects, or their weights, where that is needed."""
        methods = [part.method for part in self.parts]
        numbers = numbers_of_keys(methods, self.calibration.draw, scores, keys, n)
        own = new_weights(self.calibration, scores, weights, n)
        return numbers if own is None else own

    def _own_numbers(self, calibration: Calibration, label: int) -> TieNumbers | None:
        """Return the same for the calibration objects of a class."""
        has_numbers = calibration.weights is not None or any(
            part.method.keys != "unused" for part in self.parts
        )
        return own_numbers(calibration, label) if has_numbers else None

    def p_values(
        self,
        scores: ArrayLike,
        groups: ArrayLike | None = None,
        keys: ArrayLike | None = None,
        *,
        weights: ArrayLike | None = None,
    ) -> PValues:
        """Return the p-values that the test compares with alpha; parameters as in `decide`."""
        values, index = read_new(self.calibration, scores, groups, self.tolerance)
        numbers = self._numbers(scores, keys, values.size, weights)
        decisions = decide_read(self, values, index, numbers)  # which refuses NaN
        outside = count_outside(self.calibration, values, tolerance=self.tolerance)
        warn_if_outside(self.calibration, outside, values.size)
        return decisions.p_values

    def evaluate(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        keys: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        by: object = None,
        crossed: bool = False,
        exclude_calibration: bool = False,
    ) -> Found:
        """Count both errors on labelled new objects, and compare with the promise.

        Parameters
        ----------
        scores, labels : array-like of shape (n_objects,)
            Objects that were neither used for training nor for calibration, with true labels.
            If more of them have the score and label of a calibration object than chance explains,
            they are refused; see Notes.
        groups : array-like of shape (n_objects,), optional
            Required if the calibration has groups. Otherwise an audit: errors are also counted
            by these groups, to which nothing is promised.
        keys : array-like of shape (n_objects,), optional
            As in `decide`. Counts are compared as those of objects with different keys.
        clusters : array-like of shape (n_objects,), optional
            Whose rows they are, required if the calibration has clusters. None may be one of the
            calibration's. Of each cluster one row of each class (in each group) is drawn at
            random and counted, since exact intervals are about independent objects; for a
            `RiskControlTest`, which is about both classes as they are mixed, one row in all.
        weights : array-like of shape (n_objects,) or float, optional
            As in `decide`. They only decide: objects are new ones, and are counted as they are.
        by : array-like, dict of array-like by name, or data frame, optional
            Columns of these objects: an audit by each of them, as ``.by_group``. A missing value
            is a group of its own; of more than 1,000 distinct numbers, make ranges first. With
            clusters it counts the rows that errors of everybody are counted on.
        crossed : bool, default=False
            Whether the audit has a row for each combination of all columns, too.
        exclude_calibration : bool, default=False
            Whether to leave out objects that calibrated: by their clusters, or else by score and
            label, which is refused unless the calibration's scores are practically unique (in each
            class 100 or more, at most one in a thousand of which has an equal one).

        Returns
        -------
        Evaluation or JointEvaluation
            The latter of a test of both rates, with the abstentions.

        Notes
        -----
        Scores that evaluated and calibration objects have in common are compared with those that
        each of the two repeats by itself, so that forests, neighbours and rounded, saturated,
        constant or binary scores are not suspected. Objects that are independent of the
        calibration are refused with probability at most 1e-6, unless some score is more than ten
        times as common as it was. Calibration objects are found if 25 or more of them have scores
        that nobody else has, and fewer if fewer objects are evaluated; not if nearly every score
        occurs more than six times. A calibration known by counts cannot be compared.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 2, 2000)
        >>> scores = rng.normal(2 * labels)
        >>> test = rk.calibrate(scores[:1000], labels[:1000]).control("fnr", alpha=0.05)
        >>> test.evaluate(scores[1000:], labels[1000:])
        FNR 3.36% (1.97% to 5.32%), promised 5%: in line; FPR 38.26% (33.95% to 42.71%)
        """
        check_aligned(scores, labels=labels, groups=groups, clusters=clusters)
        names, own = None, self.calibration.groups
        is_audit = own is None and groups is not None
        own_groups = None if is_audit else groups
        values, index = read_new(self.calibration, scores, own_groups, self.tolerance)
        given = self._numbers(scores, keys, values.size, weights)
        decisions = decide_read(self, values, index, given)
        if own is not None:
            names = own.tolist()
        elif groups is not None:
            index, found = read_groups(groups, values.size)
            names = found.tolist()
        columns = None if by is None else read_audit_columns(by, scores, values.size)
        audit = AuditCount([] if columns is None else columns.names, crossed=crossed)
        truth = read_new_labels(labels, self.calibration.classes)
        same_length("labels", truth.size, len(decisions))
        codes, n_groups = coded(decisions, truth, index), 1 if names is None else len(names)
        whole, mixed, by_class = None, False, self._by_class
        thinned = clusters is not None or self.calibration.clusters is not None
        fresh: slice | NDArray[np.bool_] = slice(None)
        if exclude_calibration:
            fresh = self._are_fresh(values, truth, clusters)
        values, truth, codes = values[fresh], truth[fresh], codes[fresh]
        refuse_known(self.calibration, values, truth)
        drawn: slice | NDArray[np.intp] = slice(None)  # the rows that are counted
        rows = drawn  # and those of each group
        if thinned:
            known_too = exclude_calibration
            ids = new_clusters(self.calibration, clusters, len(decisions), known_too=known_too)
            ids = ids[fresh]
            numbers = self.calibration.draw.numbers(ids.size, EVALUATED)
            one = one_of_each(ids, numbers, truth.astype(np.intp) if by_class else None)
            rows, drawn, mixed = one, one, np.unique(ids).size < one.size
            whole = sum(as_tallies(from_codes(codes[drawn], n_groups)), Tally())
            if own is not None and by_class:  # what is promised to a group is about its rows
                rows = one_of_each(ids, numbers, codes // 4)
        values, truth = values[rows], truth[rows]
        outside = count_outside(self.calibration, values, truth, self.tolerance), values.size
        warn_if_outside(self.calibration, *outside, one_per_cluster=thinned)
        is_covered = not is_outside(self.calibration, *outside, one_per_cluster=thinned)
        tallies = as_tallies(from_codes(codes[rows], n_groups))
        evaluated = cast(
            "Found",
            evaluate_counts(self, tallies, names, is_covered=is_covered, whole=whole),
        )
        if columns is None:
            return evaluated
        places = [place[fresh][drawn] for place in columns.codes]
        audit.add_outcomes(codes[drawn] % N_OUTCOMES, places, can_abstain=decisions.can_abstain)
        return evaluated.with_audit(audit.audit(columns.values, self._levels, mixed=mixed))  # type: ignore[return-value]  # of the same kind

    def decide_frame(
        self,
        frame: Any,  # noqa: ANN401 - of any library
        *,
        score: str,
        group: str | None = None,
        decision: str = "decision",
        p_values: bool | str = False,
        steps: int = MOST_STEPS,
    ) -> Any:  # noqa: ANN401
        """Add the decision to a frame of any library, where the data are.

        Parameters
        ----------
        frame : pandas, polars, pyarrow, DuckDB, ibis, Dask or Spark frame, eager or lazy
        score : str
            Name of the column of scores, from the same model and runtime as at calibration.
        group : str, optional
            Name of the column of groups, required if and only if the calibration has groups.
        decision : str, default="decision"
            Name of the column to add.
        p_values : bool or "exact", default=False
            Whether to add the columns p0 and p1. Of a frame in memory they are those of `decide`.
            Of a lazy one they come from a table of steps: nowhere smaller, larger by at most
            `p_value_excess`, and compared with alpha they decide alike. "exact" hands Spark's
            batches to the library.
        steps : int, default=1000
            In how many steps, at most, p-values of a lazy frame are written.

        Returns
        -------
        frame
            Of the same library; what was lazy stays lazy. Decisions are in the labels of the
            calibration, and null where the test abstains, where a score is missing or NaN, and
            where the calibration does not have the group.

        Notes
        -----
        **Guarantee.** Decisions are those of `decide`, to the last bit: one comparison of the score
        with the same threshold. That scores lie outside the range of the calibration is not looked
        at, since a lazy frame is not computed here; `evaluate_frame` and `shift_test` do.

        Examples
        --------
        >>> import numpy as np, pandas, ratekeeper as rk
        >>> test = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40)).control("fnr", 0.1)
        >>> test.decide_frame(pandas.DataFrame({"risk": [0.2, 0.9]}), score="risk")
           risk  decision
        0   0.2         0
        1   0.9         1
        """
        from ratekeeper.frames._decide import decide_frame

        return decide_frame(
            self,
            frame,
            score=score,
            group=group,
            decision=decision,
            p_values=p_values,
            steps=steps,
        )

    def p_value_excess(self, steps: int = MOST_STEPS) -> float:
        """Return by which ratio p-values of a table of so many steps are too large, at most.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> cal = rk.calibrate(np.linspace(0, 1, 80_000), np.arange(80_000) % 2)
        >>> round(cal.control("fnr", 0.1).p_value_excess(), 3)
        0.007
        """
        from ratekeeper.frames._step_tables import step_tables

        tables = step_tables(self, check_count(steps, "steps"))
        cells = [cell.excess_ratio for cells in tables for cell in cells if cell is not None]
        return max(cells, default=0.0)

    def _are_fresh(
        self, scores: Floats, is_positive: NDArray[np.bool_], clusters: ArrayLike | None
    ) -> NDArray[np.bool_]:
        """Return which labelled objects did not calibrate."""
        known, ids = CalibrationObjects(self.calibration), None
        if self.calibration.clusters is not None:
            ids = new_clusters(self.calibration, clusters, scores.size, known_too=True)
        return ~known.are_among(scores, is_positive, ids)

    def evaluate_frame(
        self,
        frame: Any,  # noqa: ANN401 - of any library
        *,
        score: str,
        label: str,
        group: str | None = None,
    ) -> Found:
        """Count the errors on labelled rows of a frame where they are, as `evaluate` does.

        Parameters
        ----------
        frame : pandas, polars, pyarrow, DuckDB, ibis, Dask or Spark frame, eager or lazy
            Of new objects, which were used neither for training nor for calibration. That they
            are new is not checked.
        score, label : str
            Names of the columns.
        group : str, optional
            Name of the column of groups, required if the calibration has groups. Of a test without
            groups errors are counted by it, too.

        Returns
        -------
        Evaluation or JointEvaluation
            As of `evaluate`. One aggregate query is run, and a few rows come back.

        Examples
        --------
        >>> import numpy as np, pandas, ratekeeper as rk
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 2, 2000)
        >>> scores = rng.normal(2 * labels)
        >>> test = rk.calibrate(scores[:1000], labels[:1000]).control("fnr", alpha=0.05)
        >>> new = pandas.DataFrame({"risk": scores[1000:], "ill": labels[1000:]})
        >>> test.evaluate_frame(new, score="risk", label="ill")
        FNR 3.36% (1.97% to 5.32%), promised 5%: in line; FPR 38.26% (33.95% to 42.71%)
        """
        from ratekeeper.frames._evaluate import count_frame

        counts, names, is_covered = count_frame(self, frame, score=score, label=label, group=group)
        tallies = as_tallies(counts)
        found = evaluate_counts(self, tallies, names, is_covered=is_covered)
        return cast("Found", found)

    def alerts(self, prevalence: float | str | None = None) -> Alerts:
        """Say what the test means in practice: alerts on 1,000 objects, and how many are false.

        Parameters
        ----------
        prevalence : float or str, optional
            Share of positives among the objects that the test will meet, strictly between 0 and 1,
            or a text such as "2%". By default that of the calibration objects, which is right only
            if they are a random sample, class shares included.

        Returns
        -------
        Alerts
            With 95% intervals where they are known, and by group for a test with groups.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 2, 4000)
        >>> test = rk.calibrate(rng.normal(2 * labels), labels).control("fpr", alpha=0.05)
        >>> round(test.alerts("2%").false_share, 2)  # of the alerts of an FPR <= 5% test
        0.78
        """
        refuse_clusters(self.calibration, "What a test means in practice", counts_do=True)
        return alerts_of(self.calibration, self._called, prevalence)

    def _practice(self) -> Alerts | None:
        """Return the same without groups, for a certificate; None if class shares say nothing."""
        is_mixed = all(any(scores.size for scores in cells) for cells in self.calibration.cells)
        if not is_mixed or self.calibration.sampling == "by class":
            return None
        if self.calibration.clusters is not None:  # whose bounds would take rows for objects
            return None
        if self.calibration.weights is not None:  # as objects that count alike
            return None
        return alerts_of(self.calibration, self._called, None, by_group=False)

    def _called(self, error: float | None) -> DecisionRates:
        """Bound what is called positive and negative, with a chance of error for all bounds.

        These are valid for thresholds that were chosen by looking at all calibration objects.
        """
        calls = self._n_called()
        n = calls.sum(axis=2)
        return rates_of_any_threshold(
            (calls[:, 0, 1], calls[:, 1, 1]),
            (calls[:, 0, 0], calls[:, 1, 0]),
            (n[:, 0], n[:, 1]),
            error=error,
            held_out=self.calibration.origin == "held out",
            can_abstain=self._decide(*of_class(self.calibration, 1)).can_abstain,
        )

    def _n_called(self) -> NDArray[np.intp]:
        """Count decisions on the calibration objects, as `counted` does."""
        counts: Any = 0
        for label in (0, 1):
            scores, index, each = weighed_class(self.calibration, label, "low")
            truth = np.full(scores.size, bool(label))
            numbers = self._own_numbers(self.calibration, label)
            decisions = self._decide(scores, index, numbers)
            n_groups = len(self.calibration.cells[0])
            counts = counts + from_codes(coded(decisions, truth, index), n_groups, each)
        return counts  # type: ignore[no-any-return]


def decide_read(
    test: Test, values: Floats, index: Index, numbers: TieNumbers | None = None
) -> Decisions:
    """Decide on scores and groups that `read_new` has read, with what breaks their ties.

    They are not copied: p-values are those of the scores as they are when these are asked for.
    """
    refuse_nan(values)
    return test._decide(values, index, numbers)  # noqa: SLF001 - of this class


def _not_kept(n: int) -> PValues:
    """Refuse p-values of scores of which no copy was made."""
    raise InputError(
        f"Decisions on {n:,} objects do not keep their scores, which would take as much memory "
        "again.",
        parameter="p_values",
        remedy="Use test.p_values(scores).",
    )


def continuing(test: Test) -> Test:
    """Return the same test for objects that come in parts, judged as one whole would be.

    With a seed, a randomised method makes the same draws in every call; here the draws of a call
    go on where those of the last one ended. Other methods do not need it.
    """
    return test._continuing()  # noqa: SLF001 - of this class


def evaluate_counts(
    test: Test,
    tallies: list[Tally],
    names: list[Any] | None,
    *,
    is_covered: bool = True,
    whole: Tally | None = None,
) -> Evaluation | JointEvaluation:
    """Compare counted decisions with the promises of a test; see `evaluate` in `_evaluation`.

    Scores of another scale than at calibration are not covered: nothing is promised then.
    """
    promises = test._promises()  # noqa: SLF001 - of this class
    if not is_covered:
        promises = {name: [Promise(None)] * len(given) for name, given in promises.items()}
    is_audit = test.calibration.groups is None
    return evaluate(promises, tallies, names, audit=is_audit, whole=whole)
