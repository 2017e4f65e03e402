"""Held-out scores with known labels: what every p-value and every test stands on."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._auc import separation
from ratekeeper._numerics._draws import Draw
from ratekeeper._numerics._random_keys import numbers_of_keys
from ratekeeper._numerics._ranks import sort_in_place
from ratekeeper._numerics._repeats import Multiplicities, multiplicities
from ratekeeper._reading._columns import refuse_nan
from ratekeeper._reading._hints import CALIBRATION, by_name, missing_attribute
from ratekeeper._reading._parameters import check_choice, check_control, check_probability
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import extremes, format_value, listed_with_count, plain_value
from ratekeeper._wording._sentences import say
from ratekeeper._wording._shown_groups import shown_text
from ratekeeper.calibration._aligned_columns import columns_of, in_order
from ratekeeper.calibration._cells import (
    count_outside,
    known_groups,
    nulls_of,
    read_new,
    refuse_unlabelled,
    warn_if_outside,
)
from ratekeeper.calibration._clusters import NOT_DRAWN, known_clusters, one_row
from ratekeeper.calibration._copies import Copies, copies_in
from ratekeeper.calibration._counts import is_counted, joined
from ratekeeper.calibration._merging import (
    check_mergeable,
    merged_cells,
    merged_classes,
    merged_provenance,
    merged_sampling,
)
from ratekeeper.calibration._one_class import SIDES
from ratekeeper.calibration._p_values import PValues, intervals_by_group, p_values_by_class
from ratekeeper.calibration._weights import effective_n, new_weights
from ratekeeper.calibration._windows import (
    extent_of,
    merged_timing,
    refuse_shared,
    time_remarks,
    timing_of,
    window,
)
from ratekeeper.exceptions import NOTHING, InputError
from ratekeeper.methods import Conformal, HighProbability, check_method

if TYPE_CHECKING:
    from typing import Never

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._auc import Separation
    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._clusters import Hashes
    from ratekeeper.calibration._merging import Sampling
    from ratekeeper.calibration._one_class import Known
    from ratekeeper.calibration._provenance import Provenance
    from ratekeeper.calibration._times import Timing
    from ratekeeper.control._aims import Aim, LabelNoise
    from ratekeeper.control._both_rates import AbstainingTest
    from ratekeeper.control._certificate import Origin
    from ratekeeper.control._cost import Cheapest
    from ratekeeper.control._error_rate import ErrorRateTest
    from ratekeeper.control._risk_control import RiskControlTest
    from ratekeeper.control._selection import Selection
    from ratekeeper.methods import Method
    from ratekeeper.planning._price import PricePlan

    Weights = NDArray[np.float64]
    Times = NDArray[np.int64]

_USELESS_AUC = 0.6
_SHOWN = 8  # groups
_MANY_RUNS = 1000
_SPREAD = 100_000  # scores in the place of counted ones, where nothing is promised by them


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """Sorted held-out scores per class and group. Immutable; made by `calibrate`.

    Attributes
    ----------
    cells : tuple of two tuples of ndarray, or of `CountedScores`
        ``cells[label][group]`` are ascending scores; label 0 is negative, 1 positive. Without
        groups each has one member. Without labels all scores stand in ``cells[0]``. Scores that
        were counted where they are stand there by counts.
    classes : ndarray of shape (2,)
        The user's labels, negative first.
    groups : ndarray or None
        The groups in order.
    higher_is_positive : bool
        Whether high scores indicate the positive class.
    origin : {"held out", "cross-fitted"}
        Whether the deployed model itself scored objects it had not seen, or models trained on
        other folds did, for which no bound is known. Certificates say it, also after merging (with
        cross-fitted scores on either side), saving and loading.
    provenance : Provenance or None
        For scores from a file: its columns, and how many rows were read and skipped.
    sampling : {"population", "by class"}
        Whether the share of positives is that of the population, or was chosen.
    labelled : bool
        False if the classes of the objects are not known.
    clusters : tuple of two tuples of ndarray, or None
        In the shape of `cells`, a 64-bit hash of the id of each score's cluster; None if each row
        is an object of its own.
    weights : tuple of two tuples of ndarray, or None
        In the shape of `cells`, the weight of each object; None if all count alike.
    times : tuple of two tuples of ndarray, or None
        In the shape of `cells`, when each object was seen, in whole microseconds of Unix time or as
        whole numbers of the user's own; None if that is not known.
    timing : Timing or None
        Of which kind the times are, and which window of them this is; None without times.
    draw : Draw
        The entropy of all random numbers that promises rest on: drawn when the calibration was
        made, independently of the data, and stored with it. Two calibrations of the same objects
        are equal whatever their draws.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> cal = rk.calibrate(np.linspace(0, 1, 80), np.repeat([0, 1], 40))
    >>> cal.n(1)
    40
    >>> cal.p_values([0.3]).p1
    array([0.02439024])
    """

    cells: tuple[tuple[Floats, ...], tuple[Floats, ...]]
    classes: NDArray[Any]
    groups: NDArray[Any] | None
    higher_is_positive: bool
    origin: Origin = "held out"
    provenance: Provenance | None = None
    sampling: Sampling = "population"
    labelled: bool = True
    clusters: tuple[tuple[Hashes, ...], tuple[Hashes, ...]] | None = None
    weights: tuple[tuple[Weights, ...], tuple[Weights, ...]] | None = None
    times: tuple[tuple[Times, ...], tuple[Times, ...]] | None = None
    timing: Timing | None = None
    draw: Draw = field(default_factory=Draw.of)

    def __post_init__(self) -> None:
        cells = chain(*self.cells, *chain(*columns_of(self).values()))
        for array in (*cells, self.classes, self.groups):
            if array is not None and not is_counted(array):
                array.flags.writeable = False

    @property
    def dtype(self) -> np.dtype[Any]:
        """Number type of the scores."""
        return self.cells[0][0].dtype

    @property
    def counted(self) -> bool:
        """Whether scores are known by counts only, in doubt on the safe side."""
        return is_counted(self.cells[0][0])

    @cached_property
    def known(self) -> Known:
        """The classes that have scores: "both", "negative" or "positive"; "none" without labels."""
        if not self.labelled:
            return "none"
        found = [side for side, n in zip(SIDES, self._sizes, strict=True) if n]
        return found[0] if len(found) == 1 else "both"  # type: ignore[return-value]

    @property
    def _sizes(self) -> list[int]:
        return [sum(scores.size for scores in cells) for cells in self.cells]

    @cached_property
    def places(self) -> dict[Any, int]:
        """Where each group stands in `groups`; empty without groups."""
        names = [] if self.groups is None else self.groups.tolist()
        return {name: i for i, name in enumerate(names)}

    @cached_property
    def extent(self) -> tuple[float, float]:
        """The lowest and the highest of all scores."""
        cells = [scores for cells in self.cells for scores in cells if scores.size]
        return min(float(scores[0]) for scores in cells), max(float(scores[-1]) for scores in cells)

    def n(self, label: object, group: object = None) -> int:
        """Return the number of scores of a class (in a group), by the user's own label."""
        refuse_unlabelled(self)
        names = self.classes.tolist()
        if not np.isscalar(label) or plain_value(label) not in names:
            need = f"one of {format_value(names[0])} and {format_value(names[1])}"
            raise InputError(parameter="label", value=label, need=need)
        cells = self.cells[names.index(plain_value(label))]
        if group is None:
            return sum(scores.size for scores in cells)
        if self.groups is None or not np.isscalar(group):
            known = "none" if self.groups is None else listed_with_count(self.groups.tolist())
            raise InputError(
                parameter="group", value=group, need=f"a group of this calibration, of {known}"
            )
        return cells[known_groups(self, [plain_value(group)])[0]].size

    def p_values(
        self,
        scores: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        method: Method | str = Conformal(),
        keys: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> PValues:
        """Return the two p-values of each new object.

        Parameters
        ----------
        scores : array-like of shape (n_objects,)
            Scores of new objects, from the same model and runtime as at calibration.
        groups : array-like of shape (n_objects,), optional
            Their groups, required if and only if the calibration has groups.
        method : Method, default=Conformal()
            How counts become p-values, and so what they promise.
        keys : array-like of shape (n_objects,), optional
            By which ties are broken, as in `ErrorRateTest.decide`.
        weights : array-like of shape (n_objects,) or float, optional
            Their weights, as in `ErrorRateTest.decide`.

        Returns
        -------
        PValues
            Those of a class without any calibration object are NaN: nothing is known about it.

        Notes
        -----
        **Guarantee.** That of the method; by default, for an object of class c exchangeable with
        the calibration objects of class c, ``P(p_c <= alpha) <= alpha`` for every alpha.

        Examples
        --------
        >>> import ratekeeper as rk
        >>> cal = rk.calibrate([0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1])
        >>> cal.p_values([0.15]).p0
        array([0.66666667])
        """
        method = check_method(method)
        values, index = read_new(self, scores, groups)
        refuse_nan(values)
        warn_if_outside(self, count_outside(self, values), values.size)
        numbers = numbers_of_keys([method], self.draw, scores, keys, values.size)
        own = new_weights(self, scores, weights, values.size) or numbers
        broken = None if own is None else own.values
        nulls = [nulls_of(self, null_class, method) for null_class in (0, 1)]
        intervals = (intervals_by_group(one, values, index) for one in nulls)
        return PValues(*p_values_by_class(nulls, values, index, broken), *intervals)

    def control(
        self,
        control: str,
        level: float | str | None = None,
        *,
        alpha: float | str | None = None,
        method: Method | str | None = None,
        delta: float | str | None = None,
        thin_groups: str = "refuse",
        tolerance: float = 0.0,
    ) -> ErrorRateTest:
        """Make the test that keeps one error rate at or below alpha.

        Parameters
        ----------
        control : {"fnr", "fpr", "sensitivity", "specificity"}, in any case
            Keep the share of missed positives ("fnr"), or of false alarms among negatives ("fpr").
            Or name the share of right decisions: a "sensitivity" ("recall", "tpr") of at least
            0.95 is an FNR of at most 0.05, and a "specificity" ("tnr") of at least 0.95 an FPR of
            at most 0.05.
        level : float or str
            The level of the rate that `control` names, strictly between 0 and 1, or a text such as
            "5%". Choose it before looking at results.
        alpha : float or str
            Another name for the level of an error rate. Refused beside a sensitivity or a
            specificity, where it could mean either.
        method : Method or str, optional
            The kind of promise, or its name, such as "conformal". By default
            ``HighProbability(delta=0.05)``: this very test keeps the rate, but for a chance of 5%
            over calibration sets; `Conformal` needs fewer scores and keeps it on average over
            calibration sets.
        delta : float or str, optional
            ``delta=0.01`` is short for ``method=HighProbability(0.01)``.
        thin_groups : {"refuse", "pool"}, default="refuse"
            What to do with groups that have too few scores for alpha: refuse by name, or give
            them the threshold of all groups together. The certificate then names them.
        tolerance : float, default=0
            By how much the score that decides may differ from the one that the code of the
            calibration would give, as after an export of the model: thresholds and p-values move
            to the safe side, so that the promise holds all the same. `score_difference` measures
            it on a sample.

        Returns
        -------
        ErrorRateTest

        Raises
        ------
        TooFewScoresError
            If the promise is impossible with this many scores; says how many are needed.

        Warns
        -----
        UselessTestWarning
            If the test calls all calibration objects of the other class the same as this one.
        LevelWarning
            If the error rate is above 0.5, as where a sensitivity was given as an FNR.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100))
        >>> cal.control("fnr", alpha=0.05).threshold
        0.507...
        >>> cal.control("sensitivity", 0.95).threshold
        0.507...
        """
        from ratekeeper.control._error_rate import build_test
        from ratekeeper.control._promised_rate import promised_method, promised_rate
        from ratekeeper.control._useless import warn_if_useless

        promised = promised_rate(control, level, alpha)
        method = promised_method(method, delta)
        test = build_test(self, *promised, method, thin_groups, tolerance)
        warn_if_useless(test)
        return test

    def control_both(
        self,
        alpha_fnr: float | str | None = None,
        alpha_fpr: float | str | None = None,
        *,
        sensitivity: float | str | None = None,
        specificity: float | str | None = None,
        method: Method | str | None = None,
        delta: float | str | None = None,
        thin_groups: str = "refuse",
        tolerance: float = 0.0,
    ) -> AbstainingTest:
        """Make the test that keeps both error rates and abstains where it must.

        Parameters
        ----------
        alpha_fnr, alpha_fpr : float or str
            The two rates to keep.
        sensitivity, specificity : float or str
            The same by the rest: ``sensitivity=0.95`` in the place of ``alpha_fnr=0.05``,
            ``specificity=0.95`` in that of ``alpha_fpr=0.05``. An abstention counts as right.
        method, delta, thin_groups, tolerance
            As in `control`.

        Returns
        -------
        AbstainingTest

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> cal = rk.calibrate(np.linspace(0, 1, 200), np.tile([0, 1], 100))
        >>> cal.control_both(sensitivity=0.95, specificity="90%").fpr.alpha
        0.1
        """
        from ratekeeper.control._both_rates import AbstainingTest
        from ratekeeper.control._error_rate import build_test
        from ratekeeper.control._promised_rate import one_rate, promised_method
        from ratekeeper.control._useless import warn_if_useless

        levels = (
            one_rate("fnr", alpha_fnr, sensitivity),
            one_rate("fpr", alpha_fpr, specificity),
        )
        method = promised_method(method, delta)
        fnr, fpr = (
            build_test(self, control, alpha, method, thin_groups, tolerance)
            for control, alpha in zip(("fnr", "fpr"), levels, strict=True)
        )
        test = AbstainingTest(fnr, fpr)
        warn_if_useless(test)
        return test

    def control_precision(self, precision: float, *, delta: float = 0.05) -> RiskControlTest:
        """Make the test with the most alerts of which at least this share is right.

        Parameters
        ----------
        precision : float or str
            The least share of positives among the objects called positive.
        delta : float, default=0.05
            Chance, over calibration sets, that the promise fails.

        Returns
        -------
        RiskControlTest

        Raises
        ------
        UnattainableError
            If no threshold can be certified; says which precision could be.

        Notes
        -----
        **Guarantee.** High probability, finite-sample, if the calibration is a random sample of
        the population with its share of positives. A tenth of the objects, drawn at random,
        proposes thresholds; the others certify them one after the other. It does not cover a
        change of the share of positives. With groups the promise is made in each.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.random(2000) < 0.2
        >>> cal = rk.calibrate(rng.normal(2 * labels), labels)
        >>> print(cal.control_precision(0.8).certificate.headline)
        CERTIFICATE  precision >= 80%
        """
        from ratekeeper.control._aims import Precision

        return self._risk_controlled(Precision(precision, delta))

    def control_npv(self, npv: float, *, delta: float = 0.05) -> RiskControlTest:
        """Make the test that clears the most objects, at least this share of them rightly.

        Parameters
        ----------
        npv : float or str
            The least share of negatives among the objects called negative.
        delta : float, default=0.05
            Chance, over calibration sets, that the promise fails.

        Returns
        -------
        RiskControlTest
            With the guarantee of `control_precision`, for those called negative.
        """
        from ratekeeper.control._aims import NPV

        return self._risk_controlled(NPV(npv, delta))

    def control_selective(self, error: float, *, delta: float = 0.05) -> RiskControlTest:
        """Make the test that abstains as little as possible, with few of its decisions wrong.

        Parameters
        ----------
        error : float or str
            The largest share of wrong decisions among those made.
        delta : float, default=0.05
            Chance, over calibration sets, that the promise fails.

        Returns
        -------
        RiskControlTest
            With the guarantee of `control_precision`, for all that are decided. Of the rarer
            class most decisions can be wrong: to keep both rates, use `control_both`.
        """
        from ratekeeper.control._aims import Selective

        return self._risk_controlled(Selective(error, delta))

    def control_alerts(self, share: float, *, delta: float | None = None) -> RiskControlTest:
        """Make the test that calls at most this share of all objects positive.

        Parameters
        ----------
        share : float or str
            The largest share of alerts.
        delta : float, optional
            Chance that the promise fails for this very test. By default it is kept on average.

        Returns
        -------
        RiskControlTest

        Notes
        -----
        **Guarantee.** That of `Conformal`, or with a delta that of `HighProbability`, with all
        scores as the null class. Labels are not used.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> cal = rk.calibrate(np.arange(100.0), np.arange(100) > 70)
        >>> cal.control_alerts(0.05).decide([90.0, 97.0]).labels
        array([False,  True])
        """
        from ratekeeper.control._aims import AlertShare

        return self._risk_controlled(AlertShare(share, delta))

    def control_noisy(
        self,
        control: str,
        level: float | str | None = None,
        noise: LabelNoise | None = None,
        *,
        alpha: float | str | None = None,
        delta: float = 0.05,
    ) -> RiskControlTest:
        """Make the test that keeps one error rate although calibration labels may be wrong.

        Parameters
        ----------
        control, level, alpha
            The rate to keep, counted against the truth; as in `control`.
        noise : LabelNoise
            How many labels are wrong, as far as that is known.
        delta : float, default=0.05
            Chance, over calibration sets, that the promise fails.

        Returns
        -------
        RiskControlTest

        Raises
        ------
        UnattainableError
            If no threshold can be certified; says which rate could be.

        Notes
        -----
        **Guarantee.** High probability, finite-sample, if the stated shares are right and a wrong
        label does not depend on the score given the true class. Stated as at most, they cost
        little and gain nothing: wrong labels make the test more careful than it need be. A least
        share takes that back. It does not cover labels that are wrong most often for doubtful
        objects, and new objects to evaluate it on need true labels.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.random(4000) < 0.5
        >>> scores = rng.normal(3 * (labels ^ (rng.random(4000) < 0.05)))  # 5% wrong in each class
        >>> cal = rk.calibrate(scores, labels)
        >>> noise = rk.LabelNoise(wrong_positives=(0.04, 0.06))
        >>> cal.control("fnr", 0.05).threshold, cal.control_noisy("fnr", 0.05, noise).threshold
        (0.56..., 1.22...)
        """
        from ratekeeper.control._aims import despite
        from ratekeeper.control._promised_rate import promised_rate

        return self._risk_controlled(despite(*promised_rate(control, level, alpha), noise, delta))

    def _risk_controlled(self, aim: Aim) -> RiskControlTest:
        from ratekeeper.control._risk_control import risk_control_test
        from ratekeeper.control._useless import warn_if_useless

        test = risk_control_test(self, aim)
        warn_if_useless(test, stacklevel=3)
        return test

    def select(
        self,
        scores: ArrayLike,
        fdr: float | None = None,
        *,
        groups: ArrayLike | None = None,
        method: Method | str = Conformal(),
        budget: int | None = None,
        keys: ArrayLike | None = None,
    ) -> Selection:
        """Choose objects from a batch: few of them negative, or as many as can be looked at.

        Parameters
        ----------
        scores : array-like of shape (n_objects,)
            Scores of the whole batch, from the same model and runtime as at calibration.
        fdr : float or str, optional
            Select as many as possible such that on average at most this share of the selected is
            negative (false-discovery rate, by Benjamini-Hochberg on p0). Choose it before looking.
        groups : array-like of shape (n_objects,), optional
            Their groups, required if and only if the calibration has groups. The share is that of
            the whole batch, not of each group.
        method : {Conformal(), Simultaneous(delta), Smoothed()}, default=Conformal()
            On average over calibration sets, or for this very one but for chance delta. Others are
            refused, since nothing is proven for them.
        budget : int, optional
            Instead of `fdr`: select the so many objects with the strongest evidence, that is the
            smallest p0; of equal ones those with the highest score (the lowest, if low scores
            indicate positive), and then the first ones. Which FDR and which alpha belong to them
            is said.
        keys : array-like of shape (n_objects,), optional
            For `Smoothed`, whose draws are then those of the keys; as in `ErrorRateTest.decide`.

        Returns
        -------
        Selection

        Notes
        -----
        **Guarantee.** With `fdr`, if negatives in the batch are like the negative calibration
        objects, the expected share of negatives among the selected is at most `fdr` times their
        share in the batch; see `Selection` for the proof and for what is not covered. With
        `budget` nothing is promised, but for the alpha of `Simultaneous`.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> rng = np.random.default_rng(0)
        >>> cal = rk.calibrate(rng.normal(np.repeat([0, 3], 500)), np.repeat([0, 1], 500))
        >>> batch = rng.normal(np.repeat([0, 3], [900, 100]))
        >>> found = cal.select(batch, fdr=0.1)
        >>> int(found.selected.sum()), bool((found.selected == (batch > found.threshold)).all())
        (67, True)
        """
        from ratekeeper.control._selection import select

        return select(self, scores, groups, fdr=fdr, budget=budget, method=method, keys=keys)

    @by_name
    def cheapest(
        self,
        *too_many: Never,
        cost_fn: float = NOTHING,
        cost_fp: float = NOTHING,
        prevalence: float | None = None,
        delta: float = 0.05,
        fnr: float | None = None,
        fpr: float | None = None,
    ) -> Cheapest:
        """Find the threshold with the least expected cost, and bound what it costs in truth.

        Parameters
        ----------
        cost_fn, cost_fp : float
            Cost of a missed positive and of a false alarm, in any one unit. A decision that is
            right costs nothing; if it does, subtract its cost from that of the wrong one.
        prevalence : float or str, optional
            Share of positives among new objects, for which you vouch. By default positives are as
            common as in the calibration, which must then be a random sample of the population.
        delta : float, default=0.05
            Chance, over calibration sets, that the promise fails.
        fnr, fpr : float or str, optional
            Rates that are to be kept, too, within the same delta.

        Returns
        -------
        Cheapest
            Its `test` decides.

        Raises
        ------
        TooFewScoresError
            If a rate cannot be kept with this many scores.
        UnattainableError
            If no threshold is shown to keep both rates.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.random(4000) < 0.2
        >>> cal = rk.calibrate(rng.normal(2 * labels), labels)
        >>> cal.cheapest(cost_fn=10, cost_fp=1, prevalence="2%", fnr=0.3).test.decide([2.5]).labels
        array([ True])
        """
        if too_many or cost_fn is NOTHING or cost_fp is NOTHING:
            raise TypeError(
                "cheapest() takes the costs of a missed positive and of a false alarm by name, so "
                "that nobody takes one for the other: cheapest(cost_fn=100, cost_fp=1)."
            )
        from ratekeeper.control._cost import cheapest
        from ratekeeper.control._promised_rate import warn_if_unusual

        for control, level in (("fnr", fnr), ("fpr", fpr)):
            if level is not None:
                warn_if_unusual(check_control(control), check_probability(level, control))
        return cheapest(
            self,
            cost_fn=cost_fn,
            cost_fp=cost_fp,
            prevalence=prevalence,
            delta=delta,
            fnr=fnr,
            fpr=fpr,
        )

    def labels_for_price(
        self,
        control: str,
        level: float | str | None = None,
        *,
        price: float,
        alpha: float | str | None = None,
        method: Method | str = HighProbability(),
        group: object = None,
    ) -> PricePlan:
        """Estimate how many more labels it takes until the price of a test falls to a level.

        Parameters
        ----------
        control, level, alpha
            The rate to keep, as in `control`.
        price : float or str
            The wanted rate of the other error.
        method : {HighProbability(delta), Conformal()}, default=HighProbability()
            The kind of promise.
        group : object, optional
            The group to ask about, required if and only if the calibration has groups.

        Returns
        -------
        PricePlan

        Notes
        -----
        **Guarantee.** None for the number of labels: it is an estimate from these scores, and a
        threshold from new labels varies around the one that is looked at. Each price comes with
        an interval that covers, with probability at least 95% over calibration sets of
        independent objects with continuous scores, the true price at the threshold that so many
        labels allow on average, for a number of labels fixed in advance; `now` is about the test
        at hand.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> rng = np.random.default_rng(0)
        >>> cal = rk.calibrate(rng.normal(np.repeat([0, 2], 500)), np.repeat([0, 1], 500))
        >>> cal.labels_for_price("fnr", 0.05, price=0.38).n_more
        7278
        >>> cal.labels_for_price("fnr", 0.05, price=0.2).n_more is None
        True
        """
        from ratekeeper.control._promised_rate import promised_rate
        from ratekeeper.planning._price import labels_for_price

        promised = promised_rate(control, level, alpha)
        return labels_for_price(self, *promised, price=price, method=method, group=group)

    def merge(self, other: Calibration, *, duplicates: str = "refuse") -> Calibration:
        """Return exactly what calibrating both sets of objects together would give.

        One of them may hold negatives only and the other positives only. The name of a class
        without objects gives way to that of the other calibration if it was made up.

        Parameters
        ----------
        other : Calibration
            Of other objects.
        duplicates : {"refuse", "keep"}, default="refuse"
            What to do if more objects are in both than chance explains: of the same class and
            score, also in single precision, and where both have times of the same group and time.
            Independent objects are refused with probability at most 1e-6, as in
            ``test.evaluate``. If times are known, fewer get a `CopiedRowsWarning`. Keep them only
            if they are other objects. The same calibration twice is refused anyway.

        Returns
        -------
        Calibration

        Raises
        ------
        InputError
            If the calibrations hold the same objects, or differ in what they describe.

        Examples
        --------
        >>> import ratekeeper as rk
        >>> one = rk.calibrate([0.1, 0.9], [0, 1])
        >>> one.merge(rk.calibrate([0.2, 0.8, 0.7], [0, 1, 1]))
        Calibration of 5 float64 scores: 2 negative (0), 3 positive (1)
        """
        if not isinstance(other, Calibration):
            raise InputError(parameter="other", value=other, need="a Calibration")
        check_mergeable(self, other)
        if check_choice(duplicates, "duplicates", ("refuse", "keep")) == "refuse":
            refuse_shared(self, other)
        cells, names, columns = merged_cells(self, other)
        crossed = "cross-fitted" in (self.origin, other.origin)
        return Calibration(
            cells=cells,
            classes=merged_classes(self, other),
            groups=names,
            higher_is_positive=self.higher_is_positive,
            labelled=self.labelled,
            origin="cross-fitted" if crossed else "held out",
            provenance=merged_provenance(self, other),
            sampling=merged_sampling(self, other),
            timing=merged_timing(self, other),
            draw=self.draw.child("merged", other.draw),
            **columns,
        )

    def window(self, *, last: int | None = None, since: object = None) -> Calibration:
        """Return the calibration of the newest objects, by the times that were given.

        Parameters
        ----------
        last : int, optional
            How many to keep, of both classes together. All objects of the time of the oldest of
            them are kept, so there may be more; if there are fewer objects, all are.
        since : datetime, date, str or int, optional
            The time from which on to keep objects, of the kind of their times. With `last`, the
            newest of those.

        Returns
        -------
        Calibration
            Its certificates say which window it is.

        Notes
        -----
        Choose the window in advance. One that was chosen by its results keeps no promise. Groups
        without any object left are gone. A window that cuts clusters is refused: give all rows of
        a cluster one time, such as that of the first.

        **Guarantee.** For objects that are exchangeable with new ones, that of each method, as
        without a window: which objects are kept depends on times alone, not on scores or labels.
        If the population moves, and objects are independent: a `Conformal` test keeps its rate
        for a new object of the class but for twice the average total variation distance between
        the distribution of its score and those of the class in the window. A `HighProbability`
        test with delta <= 1/4 keeps it, but for delta, on average over the populations of the
        window; for a new population the rate can be higher by the largest difference between its
        distribution function and that average. So a shorter window follows faster, and costs more
        in the other error. The module ``_windows`` has the proofs.

        Each recalibration makes a promise of its own. Of many, a share of up to delta can be
        expected to fail, and m of them all hold with probability at least 1 - m delta.

        None of this covers labels that depend on the decision, the score or the truth: if only
        flagged objects are looked at, missed ones never calibrate, and the promise breaks.
        Calibrate with the objects that `Audit.chooses`, flagged or not.

        Examples
        --------
        >>> import ratekeeper as rk
        >>> cal = rk.calibrate([0.1, 0.9, 0.2, 0.8], [0, 1, 0, 1], times=[2015, 2016, 2017, 2018])
        >>> cal.window(last=3)
        Calibration of 3 float64 scores: 1 negative (0), 2 positive (1), seen from 2016 to 2018
        >>> cal.window(since=2017) == cal.window(last=2)
        True
        """
        return window(self, last, since)

    @property
    def independent(self) -> Calibration:
        """One random row of each cluster in each class and group; itself without clusters.

        Scores of one class and group are then independent, so that methods count them as they do
        without clusters. Which rows is up to the draw of the calibration.
        """
        return self if self.clusters is None else self._one_row_per_cell

    @cached_property
    def _one_row_per_cell(self) -> Calibration:
        return one_row(self, by_cell=True)

    def one_row_per_cluster(self) -> Calibration:
        """Return an ordinary calibration of one random row of each cluster, whatever its class.

        Returns
        -------
        Calibration
            Its rows are independent, so it can be used for everything that an ordinary one can.

        Notes
        -----
        **Guarantee.** Every promise made with it is about one row, drawn at random, of a new
        cluster. Tests of FNR and FPR do not need it: they take one row of each cluster in each
        class, which are more where clusters have rows of both.

        Examples
        --------
        >>> import ratekeeper as rk
        >>> cal = rk.calibrate([0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1], clusters=["a", "a", "b", "c"])
        >>> cal.one_row_per_cluster()
        Calibration of 3 float64 scores: 1 negative (0), 2 positive (1)
        """
        thinned = one_row(self, by_cell=False)
        if thinned.known != self.known:
            label = self.classes[int(thinned.known == "negative")]
            raise InputError(
                f"None of the rows that were drawn, one of each cluster, is {format_value(label)}.",
                parameter="clusters",
                remedy="Add clusters of that class.",
            )
        return thinned

    def effective_n(self) -> float:
        """Return how many objects with equal weights would say as much: (sum w)^2 / sum w^2.

        Without weights it is the number of objects. The certificate of a test has it by class.
        """
        if self.weights is None:
            return float(sum(self._sizes))
        return effective_n(np.concatenate([own for pair in self.weights for own in pair]))

    def pooled(self) -> Calibration:
        """Return the same scores without groups."""
        if self.groups is None:
            return self
        # Another draw, or cells of groups and of all together would share numbers.
        whole: Any = {"groups": None, "draw": self.draw.child("pooled")}
        if self.counted:
            negative, positive = (joined(cells) for cells in self.cells)
            return replace(self, cells=((negative,), (positive,)), **whole)  # type: ignore[arg-type]
        parts: list[Floats] = [np.concatenate(cells) for cells in self.cells]  # type: ignore[misc]
        if columns := columns_of(self):
            beside = [{n: np.concatenate(pair[c]) for n, pair in columns.items()} for c in (0, 1)]
            (low, of_low), (high, of_high) = map(in_order, parts, beside)
            pairs: Any = {name: ((of_low[name],), (of_high[name],)) for name in columns}
            return replace(self, cells=((low,), (high,)), **whole, **pairs)
        if self.groups.size < _MANY_RUNS:  # a stable sort merges ascending runs
            for part in parts:
                part.sort(kind="stable")
        else:
            sort_in_place(parts)
        return replace(self, cells=((parts[0],), (parts[1],)), **whole)

    @cached_property
    def copies(self) -> Copies | None:
        """What shows that rows were copied; None if chance explains how scores repeat.

        The test is that of `calibrate`, with its error: at most 1e-6 for independent objects.
        """
        return copies_in(self)

    @cached_property
    def multiplicities(self) -> tuple[Multiplicities, Multiplicities]:
        """How often scores occur, in each class over all groups; not of scores known by counts."""
        negative, positive = (multiplicities(cells[0]) for cells in self.pooled().cells)
        return negative, positive

    @cached_property
    def data_hash(self) -> str:
        """SHA-256 of all scores, labels and groups, independent of their order."""
        digest = hashlib.sha256()
        groups = None if self.groups is None else self.groups.tolist()
        facts: tuple[object, ...] = (
            self.classes.tolist(),
            groups,
            self.higher_is_positive,
            str(self.dtype),
            self.origin,
            *(() if self.labelled else ("unlabelled",)),
            *(("counted",) if self.counted else ()),
        )
        if self.sampling != "population":
            facts += (self.sampling,)
        if self.timing is not None:
            facts += (self.timing.kind,)
        digest.update(repr(facts).encode())
        for scores in (*self.cells[0], *self.cells[1]):
            digest.update(scores.size.to_bytes(8, "little"))
            for array in scores.arrays if is_counted(scores) else (scores,):
                digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).data)
        for name, pair in columns_of(self).items():
            digest.update(b"" if name == "clusters" else name.encode())  # the first there were
            for cell in chain(*pair):
                digest.update(cell.astype(cell.dtype.newbyteorder("<"), copy=False).data)
        return digest.hexdigest()

    @cached_property
    def auc(self) -> float:
        """Area under the ROC curve: how often positives rate above negatives; NaN if unknown."""
        low, high = (_spread(cells[0]) for cells in self.pooled().cells)
        if not self.higher_is_positive:
            low, high = high, low
        return separation(low, high, thin_to=None).auc

    @cached_property
    def separation(self) -> Separation:
        """How well the scores separate the classes: the area under the ROC curve, with a test."""
        low, high = (_spread(cells[0]) for cells in self.pooled().independent.cells)
        return separation(low, high) if self.higher_is_positive else separation(high, low)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What looks odd about the scores and may be an accident; certificates print it."""
        whole = self.pooled().independent
        sizes = [cells[0].size for cells in whole.cells]
        remarks = time_remarks(self)
        if self.provenance is not None and NOT_DRAWN in self.provenance.skipped:
            remarks.append(say("clusters.thinned"))
        if self.provenance is not None and (kept := self.provenance.rejection) is not None:
            n, bound = f"{kept.negative + kept.positive:,}", f"{kept.bound:g}"
            remarks.append(say("weights.rejection", kept=f"{sum(sizes):,}", n=n, bound=bound))
        if self.copies is not None:
            remarks.append(str(self.copies))
        if all(sizes):
            sd = math.sqrt((sum(sizes) + 1) / (12 * sizes[0] * sizes[1]))
            auc = self.separation.auc
            if abs(auc - 0.5) < 2 * sd and auc + 2 * sd < _USELESS_AUC:
                remarks.append(say("certificate.no_information", auc=f"{auc:.3f}"))
        return tuple(remarks)

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}  # and nothing cached

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # pickled arrays come back writeable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Calibration) and self.data_hash == other.data_hash

    def __hash__(self) -> int:
        return hash(self.data_hash)

    if not TYPE_CHECKING:  # type checkers would take any name

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            return missing_attribute(self, name, CALIBRATION)

    def __repr__(self) -> str:
        sizes = [f"{n:,}" if n else "no" for n in self._sizes]
        negative, positive = (repr(plain_value(value)) for value in self.classes)
        text = f"Calibration of {sum(self._sizes):,} {self.dtype} scores"
        if self.labelled:
            text += f": {sizes[0]} negative ({negative}), {sizes[1]} positive ({positive})"
        else:
            text += " without labels"
        if self.groups is not None:
            text += f", in groups {listed_with_count(self.groups.tolist())}"
        if self.clusters is not None:
            text += f", of {known_clusters(self).size:,} clusters"
        if self.times is not None:
            text += ", seen from {} to {}".format(*map(timing_of(self).text, extent_of(self)))
        if self.counted:
            knots = sum(cell.knots.size for cell in chain(*self.cells))  # type: ignore[union-attr]
            text += f", counted at {knots:,} knots"
        if self.weights is not None:
            text += f", weighted (effective number {self.effective_n():,.1f})"
        return text if self.higher_is_positive else text + "; low scores are positive"

    def _repr_html_(self) -> str:
        rows = [
            [side, repr(plain_value(label)), *map(str, _extent(cells))]
            for side, label, cells in zip(SIDES, self.classes, self.cells, strict=True)
        ]
        if not self.labelled:
            rows = [["unknown", "", *map(str, _extent(self.cells[0]))]]
        head = ("class", "label", "scores", "lowest", "highest")
        parts = [markup.table(head, rows, numbers=(2, 3, 4))]
        if self.groups is not None:
            sizes = [[scores.size for scores in cells] for cells in self.cells]
            shown = extremes(*sizes, most=_SHOWN, each=_SHOWN // 4)
            rows = [[f"{sizes[label][i]:,}" for label in (0, 1)] for i in shown]
            names = [self.groups[i] for i in shown]
            sides = list(SIDES) if self.labelled else ["scores"]
            rows = [row[: len(sides)] for row in rows]
            parts.append(markup.by_group(names, sides, rows, numbers=(0, 1)))
            parts += map(markup.note, shown_text(len(shown), self.groups.size))
        end = "high" if self.higher_is_positive else "low"
        parts.append(markup.note(f"Scores are {self.origin}; {end} ones indicate positive."))
        if self.clusters is not None:
            parts.append(markup.note(f"They are of {known_clusters(self).size:,} clusters."))
        parts += map(markup.note, self.remarks)
        if self.provenance is not None:
            parts.append(markup.note(f"{self.provenance}."))
        n = sum(scores.size for cells in self.cells for scores in cells)
        return markup.card(f"Calibration of {n:,} {self.dtype} scores", parts)


def _extent(cells: tuple[Floats, ...]) -> list[Any]:
    """Return how many scores there are, the lowest and the highest, of ascending cells."""
    n = sum(scores.size for scores in cells)
    if n == 0:
        return ["0", "", ""]
    low = min(scores[0] for scores in cells if scores.size)
    return [f"{n:,}", low, max(scores[-1] for scores in cells if scores.size)]


def _spread(cell: Floats) -> Floats:
    """Return the scores of a cell, or some that are spread as those are which are counted."""
    return cell.spread(_SPREAD) if is_counted(cell) else cell
