"""Cross-validated p-values of any classifier, by refitting it for each object."""

from __future__ import annotations

import itertools
import time
import warnings
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ratekeeper._system._progress import track
from ratekeeper.baselines._cross_validated.ranking import ROUNDING, CrossValidated
from ratekeeper.baselines._inner import score_against, train
from ratekeeper.baselines._system import WithEstimator, system
from ratekeeper.exceptions import LongWorkWarning, Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from ratekeeper.baselines._system import Features, Floats
    from ratekeeper.calibration._p_values import PValues

_PATIENCE = 60.0  # seconds of refitting from which a warning is given


@system
class CrossValidatedRefit(CrossValidated, WithEstimator):
    """Rank each object, by any classifier refitted with it, among the rows of a class.

    What says "atypical of class c" is the score that the classifier gives for the other class:
    its probability, or its decision function if it has none.

    Parameters
    ----------
    estimator : classifier, optional
        What is refitted; by default logistic regression on scaled columns.
    form : {"augmented", "replaced"}, default="augmented"
        "augmented": the object joins the rows of the class, the classifier is trained on all, and
        all are judged by it; one refit for an object and class. "replaced": each is judged by the
        classifier trained on the others, so the object takes the place of each row in turn; as
        many refits for an object and class as the class has rows.

    Attributes
    ----------
    refits_ : int
        How often the classifier was trained in `predict`, `decision_function` and `p_values`, all
        calls together. `predict` needs the p-value of the null class only, half of `p_values`.
    seconds_ : float
        How long it took to train the classifier in `fit`.
    model_ : classifier
        Trained on the training rows alone.

    Notes
    -----
    **Guarantee.** Marginal, finite-sample, in both forms and for any classifier: if the object is
    exchangeable with the rows of its class, ``P(p <= alpha) <= alpha``, because it and they are
    treated alike. Without ties the probability is k / (N + 1) with k = floor(alpha (N + 1)) for N
    rows. It is over training sets and objects, not for one training set.

    Many classifiers depend on the order of their rows, such as a forest with a fixed seed, and
    would then tell the new object, the last row, from the others. So the rows of a class are
    sorted, the object among them, and then mixed by a permutation that depends on their number
    only: what the classifier is given depends on the set of rows alone.

    Statistics that agree to nine digits count as tied, which can only enlarge a p-value.

    A warning is given before more than a minute of refitting, by the time of one training.
    `CrossValidatedLDA` and `CrossValidatedNeighbours` need no refits.

    References
    ----------
    L. Duembgen, B.-W. Igl, A. Munk, "P-values for classification", Electronic Journal of
    Statistics 2, 468-493 (2008).

    Examples
    --------
    >>> clf = CrossValidatedRefit(control="fnr", alpha=0.05, positive_label=0)
    >>> clf.fit(X[:400], y[:400]).p_values(X[412:416]).p1.round(3)
    array([0.006, 0.057, 0.167, 0.011])
    >>> clf.refits_
    8
    """

    @property
    def refits_(self) -> int:
        """How often the classifier was trained for new objects."""
        return self._tally.refits

    def _prepare(self) -> None:
        self._tally = _Tally()
        self._classes = {
            null: _SortedRows(self.rows_[self.is_null_ == null]) for null in (True, False)
        }
        self._arranged = np.empty_like(self.rows_)
        for null, members in self._classes.items():
            places = np.flatnonzero(self.is_null_ == null)
            self._arranged[_mixed(places)] = members.rows
        self.model_, self.seconds_ = self._timed()

    def _timed(self) -> tuple[BaseEstimator, float]:
        start = time.perf_counter()
        model = train(self.estimator, self._arranged, self._labels(self.is_null_))
        return model, time.perf_counter() - start

    def p_values(self, X: Features) -> PValues:
        """Return the two p-values of each object.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            New objects.

        Warns
        -----
        LongWorkWarning
            Before more than a minute of refitting.
        """
        check_is_fitted(self)
        self._warn_of_cost(len(self._read(X, reset=False)), (True, False))
        return super().p_values(X)

    def _evidence(self, X: Floats) -> Floats:
        self._warn_of_cost(len(X), (True,))
        return super()._evidence(X)

    def _warn_of_cost(self, n_objects: int, classes: tuple[bool, ...]) -> None:
        augmented = n_objects * len(classes)
        refits = augmented
        if self.form == "replaced":
            refits = n_objects * sum(len(self._classes[null].rows) for null in classes)
        if refits * self.seconds_ <= _PATIENCE:
            return
        # The first training in a process is often slow, so take the time once more.
        seconds = min(self.seconds_, self._timed()[1])
        if refits * seconds <= _PATIENCE:
            return
        cost = f"{refits:,} refits, about {refits * seconds:,.0f} s at {seconds:.2g} s each"
        fewer = (Parameter("form", "augmented"), f" needs {augmented:,}, ")
        words = (
            f"{n_objects:,} objects need {cost}. ",
            *(fewer if refits > augmented else ()),
            "CrossValidatedLDA and CrossValidatedNeighbours need none; or use fewer objects.",
        )
        warnings.warn(LongWorkWarning(words), stacklevel=3)

    def _count(self, X: Floats, *, null: bool) -> NDArray[np.intp]:
        if self.form == "augmented":
            return self._count_augmented(X, null=null)
        return self._count_replaced(X, null=null)

    def _count_augmented(self, X: Floats, *, null: bool) -> NDArray[np.intp]:
        members, other = self._classes[null], self._other_than(null=null)
        is_null = np.append(self.is_null_, null)
        y, places = self._labels(is_null), _mixed(np.flatnonzero(is_null == null))
        rows = np.vstack([self._arranged, X[:1]])
        counts = np.empty(len(X), dtype=np.intp)
        for i in track(range(len(X)), "Refitting"):
            together, at = members.with_row(X[i])
            rows[places] = together
            scores = score_against(self._refit(rows, y), together, other)
            # One of those that are at least as atypical is the object itself.
            counts[i] = _count_at_least(scores, scores[at]) - 1
        return counts

    def _count_replaced(self, X: Floats, *, null: bool) -> NDArray[np.intp]:
        members, other = self._classes[null], self._other_than(null=null)
        y, places = self._labels(self.is_null_), _mixed(np.flatnonzero(self.is_null_ == null))
        rows, n = self._arranged.copy(), len(members.rows)
        scores = np.empty((len(X), n))
        work = itertools.product(range(len(X)), range(n))
        for i, j in track(work, "Refitting", total=len(X) * n):
            together, at = members.with_row(X[i])
            left_out = j + (j >= at)  # the object itself is left out by `model_`
            rows[places] = np.delete(together, left_out, axis=0)
            model = self._refit(rows, y)
            scores[i, j] = score_against(model, together[[left_out]], other)[0]
        own = score_against(self.model_, X, other)
        pairs = zip(scores, own, strict=True)
        return np.array([_count_at_least(*pair) for pair in pairs], dtype=np.intp)

    def _other_than(self, *, null: bool) -> object:
        return self.other_label_ if null else self.null_label_

    def _refit(self, rows: Floats, y: NDArray[Any]) -> BaseEstimator:
        self._tally.refits += 1
        return train(self.estimator, rows, y)


@dataclass
class _Tally:
    """A count that can change while the fitted system stays the same object."""

    refits: int = 0


class _SortedRows:
    """The rows of a class in lexicographic order, and a way to sort one more in."""

    def __init__(self, rows: Floats) -> None:
        self.rows = rows[np.lexsort(rows.T[::-1])]
        self._keys = list(map(tuple, self.rows.tolist()))

    def with_row(self, row: Floats) -> tuple[Floats, int]:
        """Return the rows with one more among them, and where that is."""
        at = bisect_left(self._keys, tuple(row.tolist()))
        return np.insert(self.rows, at, row, axis=0), at


def _mixed(places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the places in an order that depends on their number only."""
    return np.asarray(np.random.RandomState(0).permutation(places))


def _count_at_least(scores: Floats, own: float) -> int:
    slack = ROUNDING * (abs(own) + np.mean(np.abs(scores)))
    return int(np.count_nonzero(scores >= own - slack))
