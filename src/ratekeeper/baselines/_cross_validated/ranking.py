"""What the cross-validated p-values share: two forms, one count, one promise.

An object is judged together with the training rows of a class, all of them treated alike. So each
system here counts rows against a threshold of its own for every object, and the counting kernel,
which looks many objects up in one sorted calibration, does not apply.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.baselines._system import PValueSystem, one_of, system
from ratekeeper.exceptions import InputError, Parameter, TooFewScoresError
from ratekeeper.methods import Conformal, Guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.baselines._system import Floats, Mask

# Statistics closer than this, relative to their size, count as tied: a copy of the object among
# the rows must tie with it, though its statistic is rounded in another place. Ties only make a
# p-value larger, so the promise holds whatever this is.
ROUNDING = 1e-9
_WHY = "rows of the null class, since with fewer no p-value gets so small, and there are "


@system
class CrossValidated(PValueSystem):
    """A system whose p-value ranks the object among the rows of a class, as one of them.

    Parameters
    ----------
    form : {"augmented", "replaced"}, default="augmented"
        "augmented": the object joins the rows of the class, and all are judged by the one fit to
        them. "replaced": each is judged by the fit to the others, so the object takes the place of
        each row in turn.

    Attributes
    ----------
    rows_ : ndarray of shape (n_objects, n_features)
        The training rows.
    is_null_ : ndarray of bool, shape (n_objects,)
        Which of them are of the null class.
    """

    form: str = one_of("augmented", "replaced")

    @property
    def guarantee(self) -> Guarantee:
        """Marginal, in both forms."""
        return Guarantee(
            kind="marginal",
            promise="On average over training sets and new objects, the rate is at most alpha.",
            condition="rows of the null class that are exchangeable with the new ones.",
            not_covered=(
                "this one training set, whose true rate may be above alpha; nor columns that were "
                "chosen or scaled beforehand with the same training rows."
            ),
        )

    @abstractmethod
    def _count(self, X: Floats, *, null: bool) -> NDArray[np.intp]:
        """Count, for each object, the rows of a class that are at least as atypical of it.

        It is the null class, or, if not `null`, the other.
        """

    def _prepare(self) -> None:
        """Do what can be done once, from ``rows_`` and ``is_null_``."""

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        del rng  # nothing here is random
        n_null = int(np.count_nonzero(is_null))
        needed = max(Conformal().smallest_n(self.alpha), 2)
        if n_null < needed:
            raise TooFewScoresError(
                (Parameter("alpha", self.alpha), f" needs at least {needed:,} {_WHY}{n_null:,}."),
                available=n_null,
                needed=needed,
                remedy=("Add rows, or raise ", Parameter("alpha"), "."),
            )
        if is_null.size - n_null < 2:  # noqa: PLR2004 - one row has no spread
            raise InputError(
                f"The label {self.other_label_!r} has {is_null.size - n_null} row, and at least 2 "
                "are needed.",
                parameter="y",
                remedy="Add rows of this class.",
            )
        # Without -0.0, so that equal rows are equal to the last bit.
        self.rows_, self.is_null_ = X + 0.0, is_null
        self.n_training_ = len(X)
        self._prepare()

    def _p_value(self, X: Floats, *, null: bool) -> Floats:
        n = int(np.count_nonzero(self.is_null_ == null))
        # The object is one of the n + 1, and as atypical as itself: (1 + count) / (n + 1).
        return Conformal().p_of_count(self._count(X + 0.0, null=null), n)
