"""What a certificate says about the clusters that its calibration rows come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ratekeeper._wording._formatting import percent
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._clusters import are_spanning
from ratekeeper.methods import Conformal

if TYPE_CHECKING:
    from ratekeeper._numerics._rates import Rate
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.methods import Method


@dataclass(frozen=True)
class ClusterFacts:
    """How many clusters there are, and how they are used.

    Attributes
    ----------
    negative, positive : int
        Number of clusters with rows of the class.
    spanning : bool
        Whether any cluster has rows of both classes or in several groups. The other error then is
        not independent of the threshold, or its rows of each other, and no interval is known.
    use : str
        Which rows the method takes, as a sentence.
    """

    negative: int
    positive: int
    spanning: bool
    use: str

    @classmethod
    def of(cls, calibration: Calibration, method: Method) -> ClusterFacts | None:
        """Return the facts of a test, None without clusters."""
        if calibration.clusters is None:
            return None
        negative, positive = (cells[0].size for cells in calibration.pooled().independent.cells)
        name = type(method).__name__
        key = "clusters.all_rows" if isinstance(method, Conformal) else "clusters.one_row"
        use = say(key, method=name)
        return cls(negative, positive, are_spanning(calibration), use)

    def price(self, other: str, rate: Rate, *, fixed_alpha: bool) -> str:
        """Say what the other error is."""
        if self.spanning and rate.n:
            return say("clusters.price.spanning", other=other, estimate=percent(rate.rate))
        key = "clusters.price" if fixed_alpha else "clusters.price.any_alpha"
        return say(key, other=other, counted=rate)

    def counts(self) -> dict[str, str]:
        """Return the numbers of clusters as the sentences have them."""
        return {
            "clusters_negative": f"{self.negative:,}",
            "clusters_positive": f"{self.positive:,}",
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {
            "negative": self.negative,
            "positive": self.positive,
            "spanning": self.spanning,
        }
