"""A named distribution fitted to the scores of a class."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods._approximate._fitted import FittedMethod
from ratekeeper.methods._method import INDEPENDENT, Guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Tail
    from ratekeeper.methods._approximate._fitted import TailFunction


@dataclass(frozen=True)
class Parametric(FittedMethod):
    """Tail probability of a distribution fitted by maximum likelihood.

    Parameters
    ----------
    distribution : str, default="norm"
        Name of a continuous distribution of `scipy.stats`, such as "norm", "logistic",
        "beta" or "gumbel_l".

    Notes
    -----
    **Guarantee.** Asymptotic, and only if the scores of the class really follow the distribution.
    It reaches tails below 1/n, which ranks cannot, and is only as good as the fit. The certificate
    checks that: it fits one half of the scores and tests all. A true model is contradicted in
    about 1% of calibrations; where the scores contradict the fit, nothing is promised.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> scores = np.r_[rng.normal(-1, 1, 500), rng.normal(1, 1, 500)]
    >>> cal = rk.calibrate(scores, np.repeat([0, 1], 500))
    >>> cal.p_values([-2.0], method=rk.methods.Parametric("norm")).p1.round(4)
    array([0.0009])
    """

    distribution: str = "norm"
    name: ClassVar[str] = "parametric"

    def __post_init__(self) -> None:
        from scipy import stats

        given: object = self.distribution
        name = str(given) if isinstance(given, str) else ""
        family = getattr(stats, name, None)
        if not isinstance(family, stats.rv_continuous):
            raise InputError(
                parameter="distribution",
                value=given,
                need="the name of a continuous distribution of scipy.stats",
                remedy='Write for example "norm", "logistic" or "beta".',
            )
        object.__setattr__(self, "distribution", name)

    @property
    def guarantee(self) -> Guarantee:
        """Asymptotic, if the model is true."""
        return Guarantee(
            kind="asymptotic",
            promise=(
                f"The rate tends to alpha as the number of calibration scores grows, if the scores "
                f"follow the fitted distribution ({self.distribution})."
            ),
            condition=f"{INDEPENDENT}, many of them, and a true model of their scores.",
            not_covered="scores that do not follow the distribution; any finite number of them.",
        )

    def fit(self, scores: NDArray[np.float64]) -> TailFunction:
        """Return the tail probabilities of the fitted distribution."""
        from scipy import stats

        family = getattr(stats, self.distribution)
        try:
            # Searching for the best fit tries impossible ones too; only the result matters.
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                frozen = family(*family.fit(scores))
        except Exception as error:
            raise InputError(
                (
                    Parameter("distribution", self.distribution),
                    f" cannot be fitted to these scores: {str(error).rstrip('.')}.",
                ),
                parameter="distribution",
                value=self.distribution,
                remedy="Choose another distribution, or use Conformal.",
            ) from error

        def tail_probability(x: NDArray[np.float64], tail: Tail) -> NDArray[np.float64]:
            p: NDArray[np.float64] = frozen.cdf(x) if tail == "low" else frozen.sf(x)
            return p

        return tail_probability
