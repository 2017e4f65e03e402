"""What systems that use a statistical test as a proxy share: no promise, and saying so."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ratekeeper.baselines._system import System, no_promise, system
from ratekeeper.exceptions import TooFewScoresError

if TYPE_CHECKING:
    from ratekeeper.baselines._system import Features, Floats, Mask
    from ratekeeper.exceptions import Words
    from ratekeeper.methods import Guarantee

_LEAST = 2  # members of each sample, for a variance


@system
class ProxySystem(System):
    """A system that compares the two classes' tests with each other, not a p-value with alpha.

    Parameters
    ----------
    control : {"fnr", "fpr"}, default="fnr"
        Which class is the null class; here it only decides where an object goes for which the
        evidence is exactly balanced.
    alpha : float, default=0.05
        Ignored; present for API consistency.
    """

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return no_promise(
            "None: each object goes to the class that its test favours, and alpha is ignored.",
            "either error rate, which depends on the data and often on the class sizes; "
            "ErrorRateController with this system inside keeps one of them.",
        )


@system
class TwoSampleSystem(ProxySystem):
    """A system whose evidence is the difference of two log p-values."""

    @abstractmethod
    def _log_p_values(self, X: Floats) -> tuple[Floats, Floats]:
        """Return the logarithms of the p-values of the null class, and of the other."""

    def two_sample_p_values(self, X: Features) -> Floats:
        """Return the p-values of the two tests for each object.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_features)
            New objects.

        Returns
        -------
        ndarray of shape (n_objects, 2)
            For ``classes_[0]``, and for ``classes_[1]``. They are no p-values of "it is of this
            class": the *smaller* one indicates its class.
        """
        check_is_fitted(self)
        null, other = self._log_p_values(self._read(X, reset=False))
        pair = (null, other) if self.classes_[0] == self.null_label_ else (other, null)
        return np.exp(np.column_stack(pair))

    def _evidence(self, X: Floats) -> Floats:
        null, other = self._log_p_values(X)
        return null - other


def require_both(is_null: Mask, rows: str, remedy: Words) -> None:
    """Refuse fewer rows of either class than a two-sample test needs.

    Examples
    --------
    >>> require_both(np.array([True, True, False]), "rows", "Add rows.")
    Traceback (most recent call last):
    ...
    ratekeeper.exceptions.TooFewScoresError: A two-sample test needs at least 2 rows of each class,
    and one class has 1. Add rows.
    """
    available = int(min(is_null.sum(), (~is_null).sum()))
    if available < _LEAST:
        raise TooFewScoresError(
            f"A two-sample test needs at least {_LEAST} {rows} of each class, and one class has "
            f"{available:,}.",
            available=available,
            needed=_LEAST,
            remedy=remedy,
        )
