"""Two systems on the same splits: whether one is better, beyond the chance of the split."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._holm import holm
from ratekeeper._wording._formatting import escape_controls, format_value
from ratekeeper.comparison import _latex
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ratekeeper.comparison._result import Comparison
    from ratekeeper.comparison._trial import Trial

RATES = ("target", "other", "abstained")
CAVEAT = (
    "p: Wilcoxon's signed-rank test over splits, Holm over pairs; it is about random splits of "
    "these data, since splits share rows and so say little about other data. p (new data): "
    "Student's test with the variance corrected for shared rows (Nadeau and Bengio, 2003), which "
    "is approximate."
)

_EXACT_UP_TO = 500  # differences


@dataclass(frozen=True)
class Pair:
    """Two systems, compared split by split.

    Attributes
    ----------
    first, second : str
        Their names.
    splits : int
        Splits on which both have a result.
    mean, median : float
        Of the differences, first less second.
    p_value, p_adjusted : float
        Two-sided p-value of Wilcoxon's signed-rank test, and adjusted for all pairs (Holm).
    p_corrected, p_corrected_adjusted : float
        The same of the t test whose variance allows for rows that splits share.
    """

    first: str
    second: str
    splits: int
    mean: float
    median: float
    p_value: float
    p_adjusted: float
    p_corrected: float
    p_corrected_adjusted: float


@dataclass(frozen=True)
class Paired:
    """Differences between systems over the same splits.

    Attributes
    ----------
    value : str
        What is compared: "other", "target", "abstained" or a metric.
    pairs : tuple of Pair
        One for each two systems.

    Notes
    -----
    **Guarantee.** Given the data, random splits are independent draws, so Wilcoxon's p-values are
    valid for "on random splits of these very data the difference is symmetric about 0". They are
    not valid for a population: splits share rows, and with enough splits any difference becomes
    significant. The corrected t test allows for that; it is approximate, and known to be about
    right rather than proved. For a claim about several data sets use `Comparisons.ranks`.
    """

    value: str
    pairs: tuple[Pair, ...]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the table by columns, as `pandas.DataFrame` or `polars.DataFrame` take it."""
        return {f.name: [getattr(pair, f.name) for pair in self.pairs] for f in fields(Pair)}

    def latex(self) -> str:
        """Return the table as LaTeX, with booktabs."""
        heads, rows = self._cells()
        caption = f"Differences in {self.value} over the same splits. {CAVEAT}"
        return _latex.table(heads, rows, texts=2, caption=caption, label="tab:paired")

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        heads = ["first", "second", "splits", "mean", "median", "p", "p (new data)"]
        rows = [
            [
                *(escape_controls(pair.first), escape_controls(pair.second), str(pair.splits)),
                *(f"{pair.mean:+.4f}", f"{pair.median:+.4f}"),
                *(f"{pair.p_adjusted:.3g}", f"{pair.p_corrected_adjusted:.3g}"),
            ]
            for pair in self.pairs
        ]
        return heads, rows

    def __repr__(self) -> str:
        heads, rows = self._cells()
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if i < 2 else cell.rjust(width)  # noqa: PLR2004 - two names
                for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
            ).rstrip()
            for cells in (heads, *rows)
        ]
        return "\n".join([f"{self.value}, first less second:", *lines, CAVEAT])


def compared(comparison: Comparison, value: str, against: str | None) -> Paired:
    """Return all pairs of systems, or those of one system with each other."""
    names = [row.system for row in comparison.rows]
    values = {name: values_of(comparison, name, value) for name in names}
    if against is not None and against not in names:
        raise InputError(
            parameter="against", value=against, need=f"one of {', '.join(map(format_value, names))}"
        )
    chosen = [pair for pair in combinations(names, 2) if against is None or against in pair]
    if against is not None:  # the reference stands second, so that differences read as "more"
        chosen = [(one, other) if other == against else (other, one) for one, other in chosen]
    found = [_pair(values[one], values[other], comparison) for one, other in chosen]
    adjusted = [holm([facts[i] for facts in found]).tolist() if found else [] for i in (3, 4)]
    pairs = []
    for (one, other), facts, p, corrected in zip(chosen, found, *adjusted, strict=True):
        n, mean, median, raw, raw_corrected = facts
        pairs.append(Pair(one, other, int(n), mean, median, raw, p, raw_corrected, corrected))
    return Paired(value, tuple(pairs))


def values_of(comparison: Comparison, system: str, value: str) -> Mapping[int, float]:
    """Return a rate or metric of a system on each split that has it."""
    if value not in (*RATES, *comparison.metrics):
        known = ", ".join(map(format_value, (*RATES, *comparison.metrics)))
        raise InputError(parameter="value", value=value, need=f"one of {known}")
    done = [t for t in comparison.trials if t.system == system and t.refusal is None]
    found = {trial.repeat: _value(trial, value) for trial in done}
    return {repeat: number for repeat, number in found.items() if not math.isnan(number)}


def _value(trial: Trial, value: str) -> float:
    if value == "abstained":
        return trial.abstained / (trial.target_n + trial.other_n)
    if value in RATES:
        return float(getattr(trial, value).rate)
    number = dict(trial.metrics)[value]
    return math.nan if number is None else number


def _pair(
    first: Mapping[int, float], second: Mapping[int, float], comparison: Comparison
) -> tuple[float, float, float, float, float]:
    shared = sorted(first.keys() & second.keys())
    differences = np.array([first[i] - second[i] for i in shared])
    if not differences.size:
        return 0, math.nan, math.nan, 1.0, 1.0
    return (
        differences.size,
        float(differences.mean()),
        float(np.median(differences)),
        wilcoxon(differences),
        corrected_t(differences, comparison.n_test / comparison.n_given),
    )


def wilcoxon(differences: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; zeros are left out.

    Exact, ties or not, up to 500 differences: given their sizes every sign is as likely as the
    other. Beyond, the normal approximation.

    Examples
    --------
    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, 0.5]), wilcoxon([0.0, 0.0]), wilcoxon([1, 1, 1, -1])
    (0.0625, 1.0, 0.625)
    """
    from scipy import stats

    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]
    if not values.size:
        return 1.0
    if values.size > _EXACT_UP_TO:
        return float(stats.wilcoxon(values, method="approx").pvalue)
    doubled = np.rint(2.0 * stats.rankdata(np.abs(values))).astype(np.intp)  # ties have halves
    law = np.ones(1)
    for rank in doubled.tolist():
        law = (np.r_[law, np.zeros(rank)] + np.r_[np.zeros(rank), law]) / 2.0
    far = np.abs(2 * np.arange(law.size) - doubled.sum())
    seen = abs(int(doubled @ np.sign(values).astype(np.intp)))
    return float(min(law[far >= seen].sum(), 1.0))


def corrected_t(differences: Sequence[float] | NDArray[np.float64], ratio: float) -> float:
    """Return the two-sided p-value of the corrected resampled t test.

    The variance of the mean is taken to be s^2 (1/splits + test rows / training rows), not s^2 /
    splits (C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52,
    239-281, 2003).

    Examples
    --------
    >>> round(corrected_t([0.1, 0.2, 0.3, 0.2], ratio=0.5), 3)
    0.066
    """
    from scipy.special import stdtr

    values = np.asarray(differences, dtype=np.float64)
    n = values.size
    spread = float(values.std(ddof=1)) if n > 1 else 0.0
    if not spread:
        return 1.0 if n < 2 or not values.any() else 0.0  # noqa: PLR2004 - no variance is known
    t = float(values.mean()) / (spread * math.sqrt(1.0 / n + ratio))
    return float(2.0 * stdtr(n - 1, -abs(t)))
