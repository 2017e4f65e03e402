"""The four groups of alternatives on which the published normality tests were compared.

As they were really drawn: the table in the paper reads the gamma and Weibull laws the other way
round, and its exponential started at 1. Scales are kept, since the published networks saw them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Draw = Callable[[Generator, int, int], Array]


@dataclass(frozen=True)
class Member:
    """One distribution of a group.

    Attributes
    ----------
    name : str
        Such as "gamma(2)".
    draw : callable
        ``draw(rng, rows, n)`` returns independent values of shape (rows, n).

    Examples
    --------
    >>> [member.name for member in GROUPS["G2"]]
    ['gumbel(0, 1)', 'gumbel(0, 2)', 'gumbel(0, 1/2)']
    """

    name: str
    draw: Draw


def draw_group(rng: Generator, name: str, rows: int, n: int) -> Array:
    """Draw samples from the distributions of a group, in equal shares.

    Parameters
    ----------
    rng : numpy.random.Generator
    name : {"G1", "G2", "G3", "G4"}
    rows, n : int
        Number of samples and values in each.

    Returns
    -------
    ndarray of shape (rows, n)
        Member after member; when `rows` does not divide, the first ones get one row more. On
        the members' own scales.

    Examples
    --------
    >>> import numpy as np
    >>> draw_group(np.random.default_rng(0), "G4", 7, 10).shape
    (7, 10)
    """
    if name not in GROUPS:
        raise InputError(f"There is no group {name!r}; choose one of {', '.join(GROUPS)}.")
    members = GROUPS[name]
    share, more = divmod(rows, len(members))
    return np.concatenate(
        [member.draw(rng, share + (i < more), n) for i, member in enumerate(members)]
    )


def _beta(a: float, b: float) -> Draw:
    return lambda rng, rows, n: rng.beta(a, b, (rows, n))


def _gamma(shape: float) -> Draw:
    return lambda rng, rows, n: rng.standard_gamma(shape, (rows, n))


def _gumbel(scale: float) -> Draw:
    return lambda rng, rows, n: rng.gumbel(0, scale, (rows, n))


def _lognormal(sigma: float) -> Draw:
    return lambda rng, rows, n: rng.lognormal(0, sigma, (rows, n))


def _t(df: float) -> Draw:
    return lambda rng, rows, n: rng.standard_t(df, (rows, n))


def _weibull(shape: float) -> Draw:
    return lambda rng, rows, n: rng.weibull(shape, (rows, n))


GROUPS: dict[str, tuple[Member, ...]] = {
    "G1": (
        Member("t(1)", _t(1)),
        Member("t(3)", _t(3)),
        Member("logistic", lambda rng, rows, n: rng.logistic(size=(rows, n))),
        Member("laplace", lambda rng, rows, n: rng.laplace(size=(rows, n))),
    ),
    "G2": (
        Member("gumbel(0, 1)", _gumbel(1)),
        Member("gumbel(0, 2)", _gumbel(2)),
        Member("gumbel(0, 1/2)", _gumbel(0.5)),
    ),
    "G3": (
        Member("1 + exponential", lambda rng, rows, n: 1 + rng.standard_exponential((rows, n))),
        Member("gamma(2)", _gamma(2)),
        Member("gamma(1/2)", _gamma(0.5)),
        Member("lognormal(0, 1)", _lognormal(1)),
        Member("lognormal(0, 2)", _lognormal(2)),
        Member("lognormal(0, 1/2)", _lognormal(0.5)),
        Member("weibull(1/2)", _weibull(0.5)),
        Member("weibull(2)", _weibull(2)),
    ),
    "G4": (
        Member("uniform", lambda rng, rows, n: rng.random((rows, n))),
        Member("beta(2, 2)", _beta(2, 2)),
        Member("beta(1/2, 1/2)", _beta(0.5, 0.5)),
        Member("beta(3, 3/2)", _beta(3, 1.5)),
        Member("beta(2, 1)", _beta(2, 1)),
    ),
}
