"""What a neural test of normality says of one sample, or of many."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper import _markup as markup
from ratekeeper._validation import check_probability, null_class_of
from ratekeeper.exceptions import InputError
from ratekeeper.normality._model import POPULATIONS, calibration, null_law, tabulated
from ratekeeper.normality._tables import SMALLEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ratekeeper._control import ErrorRateTest
    from ratekeeper._decisions import Decisions
    from ratekeeper.normality._model import Alternative

# Rounding that leaves this share of equal neighbours begins to move p-values; see the guide.
_MANY_TIES = 0.1
_SHOWN = 6


@dataclass(frozen=True, eq=False, repr=False)
class NormalityResult:
    """Result of `normality_test` or `normality_tests`; unpacks as ``statistic, pvalue``.

    Attributes
    ----------
    statistic : float or ndarray
        The network's score. High speaks against normality.
    pvalue : float or ndarray
        p_1, the p-value for "the sample is normal": small speaks against normality.
    n : int or ndarray
        Number of values in the sample (or in each).
    alternative : str
        Which departures the test looks for.
    ties : float or ndarray
        Share of values that repeat another value of their sample.

    Notes
    -----
    **Guarantee.** For independent values from one normal distribution, of any mean and any
    standard deviation, ``P(pvalue <= alpha) = alpha``, up to the Monte Carlo error of the shipped
    tables (about 0.05 percentage points at 5%) and, between tabulated sizes, that of
    interpolation; see `normality_test`. It does not cover dependent values, nor values
    that were rounded so that many are equal: see `caution`. A large p-value does not show that a
    sample is normal; `p0` speaks about that, relative to a stated population of alternatives.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> x = np.random.default_rng(0).exponential(size=40)
    >>> result = rk.normality_test(x)
    >>> result.pvalue < 0.001
    True
    >>> result.decide(0.05).labels
    array(['non-normal'], dtype='<U10')
    """

    statistic: Any
    pvalue: Any
    n: Any
    alternative: Alternative
    ties: Any

    def __iter__(self) -> Iterator[Any]:
        return iter((self.statistic, self.pvalue))

    @cached_property
    def p0(self) -> Any:  # noqa: ANN401 - a float for one sample, else an array
        """The p-value for "the sample is not normal": small speaks for normality.

        It is relative to `population`: at most alpha of *those* alternatives are taken for normal
        when ``p0 <= alpha`` is read as "normal". Other alternatives may be closer to the normal.
        """
        return self._p_values(0)

    @property
    def population(self) -> str:
        """The alternatives that `p0` and the control of FPR are relative to."""
        return POPULATIONS[self.alternative]

    @property
    def caution(self) -> str | None:
        """What makes the p-value doubtful, or None."""
        tied = np.asarray(self.ties) > _MANY_TIES
        if not tied.any():
            return None
        count = np.count_nonzero(tied)
        which = (
            f"{count:,} sample{'s have' if count > 1 else ' has'}"
            if tied.ndim
            else "The sample has"
        )
        return (
            f"{which} many equal values (up to {np.nanmax(self.ties):.0%}), as rounding leaves "
            "them. The p-value is for continuous data; rounding itself can be what it finds. Test "
            "unrounded values, or see how p changes when uniform noise of the width of the "
            "rounding is added."
        )

    def _test(self, alpha: float, control: str) -> ErrorRateTest:
        # Its certificate would take kept order statistics for single scores: not for users.
        alpha = check_probability(alpha, "alpha")
        null_class = null_class_of(control)
        for n in self._sizes.tolist():
            smallest = null_law(self.alternative, null_class, n).smallest
            if alpha < smallest:
                raise InputError(
                    f"alpha={alpha!r} is below {smallest:.2g}, the smallest p-value that the "
                    f"tables show at n = {n:,} for {control.upper()}. Take alpha from there up."
                )
        known = calibration(self.alternative, tuple(self._sizes.tolist()) or (SMALLEST,))
        return known.control(control, alpha, method=tabulated(self.alternative))

    def decide(self, alpha: float, control: str = "fnr") -> Decisions:
        """Decide between "normal" and "non-normal", one error rate kept.

        Parameters
        ----------
        alpha : float
            The rate to keep.
        control : {"fnr", "fpr"}, default="fnr"
            "fnr" rejects at most alpha of normal samples (the usual test of normality); "fpr"
            takes at most alpha of the alternatives in `population` for normal.

        Returns
        -------
        Decisions
            ``.labels`` are "normal" and "non-normal".
        """
        return self._test(alpha, control).decide(np.ravel(self.statistic), groups=self._groups)

    @property
    def _groups(self) -> NDArray[np.int64]:
        return np.ravel(np.broadcast_to(self.n, np.shape(self.statistic))).astype(np.int64)

    @property
    def _sizes(self) -> NDArray[np.int64]:
        return np.unique(self._groups)

    def _p_values(self, null_class: int) -> Any:  # noqa: ANN401 - a float for one sample
        statistic, groups = np.ravel(self.statistic), self._groups
        p = np.empty(statistic.size)
        for n in self._sizes.tolist():
            here = groups == n
            p[here] = null_law(self.alternative, null_class, n).p_values(statistic[here])
        return float(p[0]) if np.ndim(self.statistic) == 0 else p.reshape(np.shape(self.statistic))

    def __repr__(self) -> str:
        if np.ndim(self.statistic) == 0:
            lines = [
                f"NormalityResult ({self.alternative}, n = {self.n:,})",
                f"  p-value    {self.pvalue:.4g}  (small speaks against normality)",
                f"  statistic  {self.statistic:.4g}",
            ]
        else:
            shown = ", ".join(f"{p:.3g}" for p in np.ravel(self.pvalue)[:_SHOWN])
            more = ", ..." if np.size(self.pvalue) > _SHOWN else ""
            lines = [
                f"NormalityResult ({self.alternative}, {np.size(self.pvalue):,} samples)",
                f"  p-values   {shown}{more}",
                "             (small speaks against normality)",
            ]
        if self.caution:
            indent = " " * 13
            lines.append(
                textwrap.fill(
                    self.caution, 79, initial_indent="  caution    ", subsequent_indent=indent
                )
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        caution = [markup.facts([("caution", self.caution)])] if self.caution else []
        if np.ndim(self.statistic) == 0:
            title = f"NormalityResult ({self.alternative}, n = {self.n:,})"
            pairs = [("p-value", f"{self.pvalue:.4g}"), ("statistic", f"{self.statistic:.4g}")]
            shown = [markup.facts(pairs)]
        else:
            p, statistic = np.ravel(self.pvalue), np.ravel(self.statistic)
            title = f"NormalityResult ({self.alternative}, {p.size:,} samples)"
            rows = [
                [str(i), f"{n:,}", f"{p[i]:.4g}", f"{statistic[i]:.4g}"]
                for i, n in enumerate(self._groups[:_SHOWN].tolist())
            ]
            head = ("sample", "n", "p-value", "statistic")
            shown = [markup.table(head, rows, range(4)), *markup.rest(len(rows), p.size, "samples")]
        small = markup.note("A small p-value speaks against normality.")
        return markup.card(title, [*shown, small, *caution])
