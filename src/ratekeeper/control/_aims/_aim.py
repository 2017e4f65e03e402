"""What every aim is: a promise, and the search for the thresholds that keep it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Rate, Share
    from ratekeeper._numerics._realised_rate import RealisedRate
    from ratekeeper.methods import Guarantee

    Numbers = NDArray[np.float64] | None

POPULATION = (
    "calibration objects that are independent draws from the population of the new objects, with "
    "the share of positives that it has (rows of one person, device or household count as one "
    "object)"
)


@dataclass(frozen=True)
class Limits:
    """When an object is called positive, and when negative.

    Parameters
    ----------
    positive : float
        Objects beyond this score, on the positive side, are called positive.
    strict : bool, default=True
        Whether a score must lie strictly beyond; else an equal one is called positive, too.
    negative : float or None, default=None
        Objects strictly beyond this score, on the negative side, are called negative, and those in
        between get no decision. None: all that are not called positive are.
    """

    positive: float
    strict: bool = True
    negative: float | None = None


@dataclass(frozen=True)
class Chosen:
    """Thresholds that keep a promise, and the evidence for them.

    Parameters
    ----------
    limits : Limits
        When an object is called what.
    certified : Rate or None, default=None
        The errors counted on the objects that the promise was tested on.
    realised : RealisedRate or None, default=None
        Distribution of the true share, for thresholds that are a rank.
    """

    limits: Limits
    certified: Rate | None = None
    realised: RealisedRate | None = None


class Aim(ABC):
    """A share that is to be kept at or below a level, whatever the way to a threshold.

    Aims are frozen: two with equal parameters are equal, and they hold no data.
    """

    name: ClassVar[str]
    share: ClassVar[Share]
    # Whether the promise is about the classes as they are mixed, so that their shares matter.
    about_population: ClassVar[bool] = True
    needs_labels: ClassVar[bool] = True
    labels_are_wrong: ClassVar[bool] = False  # so that counts on calibration objects are, too
    splits: ClassVar[bool] = False  # the objects at random, so that the promise rests on a draw
    price: ClassVar[str] = "aim.price"  # the sentence that says what it costs
    delta: float | None

    @property
    @abstractmethod
    def alpha(self) -> float:
        """The level at or below which the share is kept."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """What is promised, in a few words: "precision >= 90%"."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised, when, and what is not."""

    @abstractmethod
    def choose(
        self, negative: Floats, positive: Floats, *, higher: bool, numbers: Numbers = None
    ) -> Chosen | None:
        """Return the best thresholds that keep the promise; None if none can be certified.

        Parameters
        ----------
        negative, positive : ndarray
            Calibration scores of the two classes, ascending.
        higher : bool
            Whether high scores indicate the positive class.
        numbers : ndarray, optional
            A random number for each object, negatives first, independent of scores and labels;
            required where the objects are split.
        """

    @abstractmethod
    def advice(
        self, negative: Floats, positive: Floats, *, higher: bool, numbers: Numbers = None
    ) -> str:
        """Say what could be promised instead, for scores with which this cannot be."""
