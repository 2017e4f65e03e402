"""NP-ROC bands of Tong, Feng and Li (2018): for every threshold, what both errors may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._numerics._ranks import count_as_extreme
from ratekeeper._reading._columns import read_labels, read_scores, refuse_nan, same_length
from ratekeeper._reading._parameters import check_control, check_probability, null_class_of
from ratekeeper.exceptions import Parameter, TooFewScoresError
from ratekeeper.methods import HighProbability
from ratekeeper.methods._high_probability import beta_upper

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ratekeeper.baselines._system import Floats


@dataclass(frozen=True, eq=False)
class NPROC:
    """Bounds on both errors, one place for each held-out score of the null class.

    Places go from the boldest threshold (nearly all of the null class is rejected) to the most
    cautious. For a plot, draw ``1 - type_ii_upper`` and ``1 - type_ii_lower`` over
    ``type_i_upper``.

    Attributes
    ----------
    control : {"fnr", "fpr"}
        The error of type I: missed positives, or false alarms.
    delta : float
        Probability that one bound fails.
    threshold : ndarray of shape (n_null,)
        For "fpr" scores strictly above it are called positive, for "fnr" scores strictly below
        it negative.
    type_i_upper : ndarray of shape (n_null,)
        Upper bound of the type I error.
    type_ii_lower, type_ii_upper : ndarray of shape (n_null,)
        Lower and upper bound of the other error.
    """

    control: str
    delta: float
    threshold: Floats
    type_i_upper: Floats
    type_ii_lower: Floats
    type_ii_upper: Floats

    def place(self, alpha: float) -> int:
        """Return the first place whose type I error is bounded by alpha.

        Its threshold is that of the umbrella algorithm, with its promise: except with probability
        delta the type I error is at most alpha, for one alpha fixed in advance, ties or not.

        Parameters
        ----------
        alpha : float
            The rate to keep.

        Raises
        ------
        TooFewScoresError
            If no place has it; it says how many scores of the null class are needed.

        Examples
        --------
        >>> labels = np.repeat([0, 1], 100)
        >>> np_roc(np.arange(200), labels, control="fpr").place(0.05)
        98
        """
        level = check_probability(alpha, "alpha")
        below = np.flatnonzero(self.type_i_upper <= level)
        if below.size:
            return int(below[0])
        has, needed = self.threshold.size, HighProbability(self.delta).smallest_n(level)
        raise TooFewScoresError(
            (
                *(Parameter("alpha", level), " with ", Parameter("delta", self.delta)),
                f" needs at least {needed:,} scores of the null class, and there are {has:,}.",
            ),
            available=has,
            needed=needed,
            remedy=("Add some, or raise ", Parameter("alpha"), " or ", Parameter("delta"), "."),
        )

    def youden(self) -> int:
        """Return the place that maximises 1 - type_ii_upper - type_i_upper, to choose alpha by.

        The paper's second way to choose. A place chosen by the data no longer has the promise of
        one fixed alpha.

        Examples
        --------
        >>> np_roc(np.arange(200), np.repeat([0, 1], 100), control="fpr").youden()
        99
        """
        return int(np.argmin(self.type_ii_upper + self.type_i_upper))


def np_roc(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    control: str = "fnr",
    delta: float = 0.05,
    positive_label: object = None,
) -> NPROC:
    """Bound both errors at every threshold that is a held-out score of the null class.

    Parameters
    ----------
    scores : array-like of shape (n_objects,)
        Scores of held-out objects of both classes, high ones indicating the positive class.
    labels : array-like of shape (n_objects,)
        Their labels, of two kinds.
    control : {"fnr", "fpr"}, default="fnr"
        Which error is of type I.
    delta : float, default=0.05
        Probability that one bound fails.
    positive_label : object, optional
        Which label is positive, if the labels do not make that plain.

    Returns
    -------
    NPROC
        Arrays with one place for each score of the null class.

    Notes
    -----
    **Guarantee.** High probability, finite-sample, for each single bound: it fails with
    probability at most delta, at one rank fixed in advance without ties, or at one threshold
    value fixed in advance with or without ties; together the two bounds of the type II error fail
    with probability at most 2 delta. It does not hold at all places at once, nor at a place
    chosen by looking, but for `NPROC.place`. Needs held-out objects, drawn independently from
    the population of the new ones.

    All bounds are quantiles of Beta distributions. Equal scores share the bound of the most
    cautious rank among them, which is the exact (Clopper-Pearson) bound at this value. The type II
    errors are counted on the other class, which the thresholds do not depend on.

    References
    ----------
    X. Tong, Y. Feng, J. J. Li, "Neyman-Pearson classification algorithms and NP receiver operating
    characteristics", Science Advances 4, eaao1659 (2018), equation 3.

    Examples
    --------
    >>> band = np_roc(np.arange(200), np.repeat([0, 1], 100), control="fpr")
    >>> float(band.threshold[98]), round(float(band.type_i_upper[98]), 4)
    (98.0, 0.0466)
    """
    control = check_control(control)
    null_class = null_class_of(control)
    level = check_probability(delta, "delta")
    values = read_scores(scores).astype(np.float64)
    is_positive, _ = read_labels(labels, positive_label)
    same_length("labels", is_positive.size, values.size)
    refuse_nan(values)
    against = values if control == "fpr" else -values
    is_null = is_positive == (null_class == 1)
    null, other = np.sort(against[is_null]), np.sort(against[~is_null])
    # Rejected is what lies strictly above: of n scores all but those as low or lower.
    above = null.size - count_as_extreme(null, null, "low")
    kept = count_as_extreme(other, null, "low")
    return NPROC(
        control=control,
        delta=level,
        threshold=null if control == "fpr" else -null,
        type_i_upper=beta_upper(above, null.size, level),
        type_ii_lower=1 - beta_upper(other.size - kept, other.size, level),
        type_ii_upper=beta_upper(kept, other.size, level),
    )
