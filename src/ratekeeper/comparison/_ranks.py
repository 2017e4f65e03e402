"""Systems ranked over several data sets: Friedman's test, and which of them differ (Nemenyi)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._wording._formatting import escape_controls
from ratekeeper.comparison import _latex
from ratekeeper.comparison._rank_picture import draw
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of systems over data sets; rank 1 is the best.

    Attributes
    ----------
    value : str
        What is ranked.
    systems : tuple of str
        Names, the best first.
    mean_ranks : tuple of float
        Mean rank of each, where equal values share their ranks.
    data : tuple of str
        Names of the data sets.
    chi2, p_value : float
        Friedman's statistic, corrected for ties, and its p-value by the chi-square distribution.
    f, f_p_value : float
        Iman and Davenport's form of it, which is less conservative, and its p-value.
    level : float
        Level of the critical difference.
    critical_difference : float
        Systems whose mean ranks differ by more are told apart at that level, over all pairs
        (Nemenyi).
    left_out : tuple of str
        Systems without a result on some data set, which cannot be ranked.

    Notes
    -----
    **Guarantee.** Approximate, for data sets that are independent of each other: "the systems are
    equal" is rejected with probability about `level`, the better the more data sets there are; ten
    and five systems are what is usually asked for. Splits of one data set count once, by their
    mean. It says nothing about who keeps a rate: rank the other error only of systems that do.

    References
    ----------
    J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
    Learning Research 7, 1-30 (2006).
    """

    value: str
    systems: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    data: tuple[str, ...]
    chi2: float
    p_value: float
    f: float
    f_p_value: float
    level: float
    critical_difference: float
    left_out: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Systems that are not told apart, as the bars of the picture join them."""
        return tuple(
            self.systems[start : end + 1]
            for start, end in cliques(self.mean_ranks, self.critical_difference)
        )

    def to_dict(self) -> dict[str, list[Any]]:
        """Return systems and mean ranks by columns."""
        return {"system": list(self.systems), "mean_rank": list(self.mean_ranks)}

    def latex(self) -> str:
        """Return the table as LaTeX, with booktabs."""
        rows = [[escape_controls(name), f"{r:.2f}"] for name, r in zip(*self._both, strict=True)]
        heads = ["system", "mean rank"]
        return _latex.table(heads, rows, texts=1, caption=self._words(), label="tab:ranks")

    def picture(self) -> str:
        """Return the critical-difference diagram, as SVG."""
        bars = cliques(self.mean_ranks, self.critical_difference)
        return draw(self.systems, self.mean_ranks, self.critical_difference, bars, self._title)

    @property
    def _both(self) -> tuple[tuple[str, ...], tuple[float, ...]]:
        return self.systems, self.mean_ranks

    @property
    def _title(self) -> str:
        return f"Mean ranks of {escape_controls(self.value)} over {len(self.data)} data sets"

    def _words(self) -> str:
        left = ", ".join(map(escape_controls, self.left_out))
        return (
            f"{self._title}; 1 is the best. Friedman: chi2 = {self.chi2:.2f}, p = "
            f"{self.p_value:.3g}; F = {self.f:.2f}, p = {self.f_p_value:.3g} (Iman and Davenport). "
            f"Mean ranks that differ by more than {self.critical_difference:.2f} are told apart at "
            f"{self.level:g} (Nemenyi)." + (f" Without a result somewhere: {left}." if left else "")
        )

    def __repr__(self) -> str:
        width = max(map(len, map(escape_controls, self.systems)))
        lines = [
            f"{escape_controls(name):<{width}}  {r:.2f}"
            for name, r in zip(*self._both, strict=True)
        ]
        return "\n".join([*lines, self._words()])


def ranked(
    table: ArrayLike,
    systems: Sequence[str],
    data: Sequence[str],
    *,
    value: str,
    level: float = 0.05,
    higher_is_better: bool = False,
    left_out: Sequence[str] = (),
) -> Ranks:
    """Rank systems by a table with one row per data set and one column per system.

    Examples
    --------
    >>> table = [[0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [0.1, 0.3, 0.2], [0.0, 0.1, 0.2]]
    >>> found = ranked(table, ["a", "b", "c"], ["w", "x", "y", "z"], value="other")
    >>> found.mean_ranks, round(found.chi2, 2), round(found.critical_difference, 2)
    ((1.0, 2.25, 2.75), 6.5, 1.66)
    """
    values = np.asarray(table, dtype=np.float64)
    if values.shape[0] < 2 or values.shape[1] < 2:  # noqa: PLR2004 - else nothing is ranked
        raise InputError(
            f"There are {values.shape[1]:,} system(s) with a result on each of "
            f"{values.shape[0]:,} data set(s), and at least two of either are needed."
            + (f" Without a result somewhere: {', '.join(left_out)}." if left_out else ""),
            parameter="systems",
            remedy="Leave out data sets on which many refuse, or add some.",
        )
    ranks = rank_rows(-values if higher_is_better else values)
    chi2, p_value, f, f_p_value = friedman(ranks)
    means = ranks.mean(axis=0)
    order = np.argsort(means, kind="stable")
    return Ranks(
        value=value,
        systems=tuple(systems[i] for i in order),
        mean_ranks=tuple(means[order].tolist()),
        data=tuple(data),
        chi2=chi2,
        p_value=p_value,
        f=f,
        f_p_value=f_p_value,
        level=level,
        critical_difference=nemenyi(len(systems), len(data), level),
        left_out=tuple(left_out),
    )


def rank_rows(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each value in its row, from 1; equal values share their mean rank.

    Examples
    --------
    >>> rank_rows(np.array([[0.3, 0.1, 0.3]]))
    array([[2.5, 1. , 2.5]])
    """
    below = (values[:, None, :] < values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    return np.asarray(below + (equal + 1) / 2.0)


def friedman(ranks: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Return Friedman's chi-square and its p-value, then Iman and Davenport's F and its own.

    Examples
    --------
    >>> [round(x, 4) for x in friedman(np.array([[1.0, 2.0, 3.0]] * 4))]
    [8.0, 0.0183, inf, 0.0]
    """
    from scipy.special import chdtrc, fdtrc

    n, k = ranks.shape
    between = float(np.square(ranks.mean(axis=0) - (k + 1) / 2).sum())
    within = float(np.square(ranks - (k + 1) / 2).sum())  # less where values are equal
    if not within:  # all values are equal
        return 0.0, 1.0, 0.0, 1.0
    chi2 = n * n * (k - 1) * between / within
    rest = n * (k - 1) - chi2
    f = (n - 1) * chi2 / rest if rest > 1e-9 else math.inf  # noqa: PLR2004 - rounding
    f_p = float(fdtrc(k - 1, (k - 1) * (n - 1), f)) if math.isfinite(f) else 0.0
    return chi2, float(chdtrc(k - 1, chi2)), f, f_p


def nemenyi(systems: int, data: int, level: float) -> float:
    """Return the critical difference of mean ranks, for all pairs together.

    Examples
    --------
    >>> round(nemenyi(4, 14, 0.05), 2)
    1.25
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.isf(level, systems, np.inf)) / math.sqrt(2)
    return q * math.sqrt(systems * (systems + 1) / (6.0 * data))


def cliques(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """Return the longest runs of ascending ranks within the difference, as first and last place.

    Examples
    --------
    >>> cliques([1.0, 1.5, 2.0, 4.0], 1.0)
    [(0, 2)]
    """
    found: list[tuple[int, int]] = []
    for start, rank in enumerate(ranks):
        end = max(i for i, other in enumerate(ranks) if other - rank <= difference)
        if end > start and (not found or end > found[-1][1]):
            found.append((start, end))
    return found
