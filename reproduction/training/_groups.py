"""Fixed alternatives: the four published groups, and distributions that are nearly normal.

The groups are as they were really drawn: the table in the paper reads the gamma and Weibull
distributions the other way round, and its exponential started at 1. Scales are kept, since the
published networks saw them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_choice
from reproduction.training._shapes import fixed

if TYPE_CHECKING:
    from numpy.random import Generator

    from reproduction.training._shapes import Array, Draw


def draw_group(rng: Generator, name: str, rows: int, n: int) -> Array:
    """Draw samples from the distributions of one of the paper's groups, in equal shares.

    Parameters
    ----------
    rng : numpy.random.Generator
    name : {"G1", "G2", "G3", "G4"}
        Heavy-tailed and symmetric, Gumbel, skewed and positive, or bounded distributions;
        `GROUPS` lists them.
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
    members = GROUPS[check_choice(name, "name", tuple(GROUPS))]
    share, more = divmod(rows, len(members))
    return np.concatenate(
        [draw(rng, share + (i < more), n) for i, draw in enumerate(members.values())]
    )


def _contaminated(rng: Generator, rows: int, n: int) -> Array:
    values = rng.standard_normal((rows, n))
    values[rng.random((rows, n)) < 0.02] *= 3  # noqa: PLR2004 - the share that is named below
    return values


GROUPS: dict[str, dict[str, Draw]] = {
    "G1": {
        "t(1)": fixed("standard_t", 1),
        "t(3)": fixed("standard_t", 3),
        "logistic": fixed("logistic"),
        "laplace": fixed("laplace"),
    },
    "G2": {
        "gumbel(0, 1)": fixed("gumbel", 0, 1),
        "gumbel(0, 2)": fixed("gumbel", 0, 2),
        "gumbel(0, 1/2)": fixed("gumbel", 0, 0.5),
    },
    "G3": {
        "1 + exponential": lambda rng, rows, n: 1 + rng.standard_exponential((rows, n)),
        "gamma(2)": fixed("standard_gamma", 2),
        "gamma(1/2)": fixed("standard_gamma", 0.5),
        "lognormal(0, 1)": fixed("lognormal", 0, 1),
        "lognormal(0, 2)": fixed("lognormal", 0, 2),
        "lognormal(0, 1/2)": fixed("lognormal", 0, 0.5),
        "weibull(1/2)": fixed("weibull", 0.5),
        "weibull(2)": fixed("weibull", 2),
    },
    "G4": {
        "uniform": fixed("random"),
        "beta(2, 2)": fixed("beta", 2, 2),
        "beta(1/2, 1/2)": fixed("beta", 0.5, 0.5),
        "beta(3, 3/2)": fixed("beta", 3, 1.5),
        "beta(2, 1)": fixed("beta", 2, 1),
    },
}
# So close to the normal that large samples tell tests apart.
NEARLY_NORMAL: dict[str, Draw] = {
    "t(30)": fixed("standard_t", 30),
    "beta(10, 10)": fixed("beta", 10, 10),
    "gamma(50)": fixed("standard_gamma", 50),
    "2% contaminated": _contaminated,
}
