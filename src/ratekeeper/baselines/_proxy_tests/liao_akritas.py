"""The test-based classification of Liao and Akritas (2007), on the scores of a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ratekeeper._validation import check_choice
from ratekeeper.baselines._inner import score_against, train
from ratekeeper.baselines._proxy_tests.proxy_system import ProxySystem
from ratekeeper.baselines._proxy_tests.two_sample import TESTS, TwoSamples
from ratekeeper.baselines._splitting import hold_out_both
from ratekeeper.exceptions import TooFewScoresError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._system import Features, Floats, Mask, RandomState

_LEAST = 2  # held-out scores of each class, for a variance


class LiaoAkritas(ProxySystem):
    """Put an object where it makes the two classes' scores differ most.

    A part of each class trains the classifier. The scores of the rest are two samples. The score
    of a new object is added to the sample of one class, then to that of the other, and a
    two-sample test is done each time. The object goes to the class whose p-value is smaller.

    Parameters
    ----------
    estimator : classifier, optional
        What scores; by default logistic regression on scaled columns.
    test : {"t", "welch", "rank"}, default="t"
        The two-sided test: Student's t, Welch's t, or the rank-sum test of Wilcoxon, Mann and
        Whitney (normal approximation, corrected for ties and continuity).
    control : {"fnr", "fpr"}, default="fnr"
        Which class is the null class; here it only says where an object goes whose two p-values
        are equal.
    alpha : float, default=0.05
        Not looked at; it is there for the same words.
    calibration_size : float, default=0.5
        Share of each class that is held out of training, to give the two samples.
    positive_label : object, optional
        Which label is positive, by default the last of ``classes_``.
    random_state : int or RandomState, optional
        Seed of the split.

    Attributes
    ----------
    model_ : classifier
        What scores.
    samples_ : TwoSamples
        The held-out scores of the null class, and of the other, ascending; high ones speak
        against the null class.

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
    >>> from ratekeeper.baselines import LiaoAkritas
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
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

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        test: str = "t",
        control: str = "fnr",
        alpha: float = 0.05,
        calibration_size: float = 0.5,
        positive_label: object = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.test = test
        self.control = control
        self.alpha = alpha
        self.calibration_size = calibration_size
        self.positive_label = positive_label
        self.random_state = random_state

    def two_sample_p_values(self, X: Features) -> Floats:
        """Return the p-values of the test with each object added to either class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            New objects.

        Returns
        -------
        ndarray of shape (n_objects, 2)
            With the object in ``classes_[0]``, and in ``classes_[1]``. They are no p-values of
            "it is of this class": the *smaller* one speaks for its class.
        """
        check_is_fitted(self)
        null, other = self._log_p_values(self._read(X, reset=False))
        pair = (null, other) if self.classes_[0] == self.null_label_ else (other, null)
        return np.exp(np.column_stack(pair))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.test, "test", TESTS)

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        rows, held_out = hold_out_both(is_null, self.calibration_size, rng)
        self._require(is_null[held_out])
        self.model_ = train(self.estimator, X[rows], self._labels(is_null[rows]))
        scores = score_against(self.model_, X[held_out], self.other_label_)
        null, other = scores[is_null[held_out]], scores[~is_null[held_out]]
        self.samples_ = TwoSamples(np.sort(null), np.sort(other), self.test)
        self.n_training_ = rows.size

    def _require(self, is_null: Mask) -> None:
        available = int(min(is_null.sum(), (~is_null).sum()))
        if available < _LEAST:
            raise TooFewScoresError(
                f"A two-sample test needs at least {_LEAST} held-out rows of each class, and one "
                f"class has {available:,}. Add rows, or raise calibration_size.",
                available=available,
                needed=_LEAST,
            )

    def _log_p_values(self, X: Floats) -> tuple[Floats, Floats]:
        return self.samples_.log_p_values(score_against(self.model_, X, self.other_label_))

    def _evidence(self, X: Floats) -> Floats:
        null, other = self._log_p_values(X)
        return null - other
