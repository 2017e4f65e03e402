"""The test-based classification of Liao and Akritas (2007), on the scores of a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.baselines._proxy_tests.proxy_system import TwoSampleSystem, require_both
from ratekeeper.baselines._proxy_tests.two_sample import TwoSamples
from ratekeeper.baselines._splitting import hold_out_both
from ratekeeper.baselines._system import WithEstimator, WithSplit, one_of, system
from ratekeeper.exceptions import Parameter

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Floats, Mask


@system
class LiaoAkritas(TwoSampleSystem, WithEstimator, WithSplit):
    """Put an object where it makes the two classes' scores differ most.

    A part of each class trains the classifier. The scores of the rest are two samples. The score
    of a new object is added to the sample of one class, then to that of the other, and a
    two-sample test is done each time. The object goes to the class whose p-value is smaller.

    Parameters
    ----------
    test : {"t", "welch", "rank"}, default="t"
        The two-sided test: Student's t, Welch's t, or the rank-sum test of Wilcoxon, Mann and
        Whitney (normal approximation, corrected for ties and continuity).
    calibration_size : float, default=0.5
        Share of each class that is held out of training, to give the two samples.

    Attributes
    ----------
    model_ : classifier
        What scores.
    samples_ : TwoSamples
        The held-out scores of the null class, and of the other, ascending; high ones are
        evidence against the null class.

    Notes
    -----
    **Guarantee.** None. The two p-values ask whether the classes differ, not whether this object
    is of a class, so none of them is uniform under either class, and no error rate follows alpha.
    For scores that are normal, 2 deviations apart, with the rank test, the FNR is about 16% with
    100 negatives and 100 positives, and about 9% with 300 and 60. Student's t has its border
    halfway between the means, whatever the sizes, so about 16% either way.

    Why the smaller p-value: an object in its own class leaves the samples as far apart as they
    are, and in the wrong one it brings them together, which raises the p-value.

    `decision_function` is the difference of the logarithms of the p-values, which does not round
    to 0 where both p-values do. For Student's t and many scores it tends to the log likelihood
    ratio of two normal classes with one variance. Inside `ErrorRateController` it keeps a rate.

    The p-values are two-sided, so with classes of unequal size an object whose score is so extreme
    that it turns the order of the means around goes to the smaller class.

    References
    ----------
    S.-M. Liao, M. Akritas, "Test-based classification: a linkage between classification and
    statistical testing", Statistics and Probability Letters 77, 1269-1281 (2007). There the data
    themselves are tested; testing scores of rows that were held out is our reading.

    Examples
    --------
    >>> clf = LiaoAkritas(positive_label=0, random_state=0).fit(X, y)
    >>> clf.predict(X[:3])
    array([0, 0, 0])
    >>> clf.guarantee.kind
    'none'

    As a score inside our test it keeps a rate:

    >>> import ratekeeper as rk
    >>> from sklearn.base import clone
    >>> clf = rk.ErrorRateController(clone(clf), positive_label=0, random_state=0)
    >>> clf.fit(X, y).certificate_.guarantee.kind
    'high probability'
    """

    test: str = one_of("t", "welch", "rank")

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = hold_out_both(is_null, self.calibration_size, rng)
        remedy = ("Add rows, or raise ", Parameter("calibration_size"), ".")
        require_both(is_null[held_out], "held-out rows", remedy)
        self._train(X[rows], is_null[rows])
        scores = self._score(X[held_out])
        null, other = scores[is_null[held_out]], scores[~is_null[held_out]]
        self.samples_ = TwoSamples(np.sort(null), np.sort(other), self.test)

    def _log_p_values(self, X: Floats) -> tuple[Floats, Floats]:
        return self.samples_.log_p_values(self._score(X))
