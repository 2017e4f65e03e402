"""What a neural test of normality says of one sample, or of many."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._parameters import check_probability, null_class_of
from ratekeeper._wording import _html as markup
from ratekeeper.control._error_rate import build_test
from ratekeeper.exceptions import InputError
from ratekeeper.normality._model import POPULATIONS, calibration, null_distribution, tabulated
from ratekeeper.normality._tables import SMALLEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ratekeeper.control._decisions import Decisions
    from ratekeeper.normality._model import Alternative

# Rounding that leaves this share of equal neighbours begins to move p-values; see the guide.
_MANY_TIES = 0.1
_SHOWN = 6
_SMALL = "a small p-value is evidence against normality"


@dataclass(frozen=True, eq=False, repr=False)
class NormalityResult:
    """Result of `normality_test` or `normality_tests`; unpacks as ``statistic, pvalue``.

    Attributes
    ----------
    statistic : float or ndarray
        The network's score. A high one is evidence against normality.
    pvalue : float or ndarray
        p_1, the p-value for "the sample is normal": a small one is evidence against normality. It
        is never below `smallest_pvalue`.
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
    sample is normal; `p0` is about that, relative to a stated population of alternatives.

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
        """The p-value for "the sample is not normal": a small one indicates normality.

        It is relative to `population`: at most alpha of *those* alternatives are taken for normal
        when ``p0 <= alpha`` is read as "normal". Other alternatives may be closer to the normal.
        """
        return self._p_values(0)

    @property
    def smallest_pvalue(self) -> float:
        """The smallest value that `pvalue` can have, 1 in 250,000; one that equals it is a bound.

        So many normal samples were simulated for the tables, and none had a more extreme score.
        """
        return null_distribution(self.alternative, 1, SMALLEST).smallest

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

    def decide(self, alpha: float, control: str = "fnr") -> Decisions:
        """Decide between "normal" and "non-normal", with one error rate kept.

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
        alpha = check_probability(alpha, "alpha")
        null_class, sizes = null_class_of(control), self._sizes.tolist()
        for n in sizes:
            smallest = null_distribution(self.alternative, null_class, n).smallest
            if alpha < smallest:
                raise InputError(
                    parameter="alpha",
                    value=alpha,
                    need=f"at least {smallest:.2g}, the smallest p-value that the tables show at "
                    f"n = {n:,} for {control.upper()}",
                )
        # Its certificate would take kept order statistics for single scores: not for users.
        known = calibration(self.alternative, tuple(sizes) or (SMALLEST,))
        test = build_test(known, control, alpha, tabulated(self.alternative), "refuse")
        return test.decide(np.ravel(self.statistic), groups=self._groups)

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
            p[here] = null_distribution(self.alternative, null_class, n).p_values(statistic[here])
        return float(p[0]) if np.ndim(self.statistic) == 0 else p.reshape(np.shape(self.statistic))

    def __repr__(self) -> str:
        title, facts = self._facts()
        if self.caution:
            facts.append(("caution", self.caution))
        lines = [
            textwrap.fill(text, 79, initial_indent=f"  {name:<11}", subsequent_indent=" " * 13)
            for name, text in facts
        ]
        return "\n".join([title, *lines])

    def _facts(self) -> tuple[str, list[tuple[str, str]]]:
        """Return a title and what to say below it, but for a caution."""
        p, least = np.ravel(self.pvalue), self.smallest_pvalue
        name = f"NormalityResult ({self.alternative}"
        if np.ndim(self.statistic):
            shown = ", ".join(p_text(one, one <= least, 3) for one in p[:_SHOWN])
            more = ", ..." if p.size > _SHOWN else ""
            return f"{name}, {p.size:,} samples)", [("p-values", f"{shown}{more} ({_SMALL})")]
        return f"{name}, n = {self.n:,})", [
            ("p-value", f"{p_text(self.pvalue, self.pvalue <= least)} ({_SMALL})"),
            ("statistic", f"{self.statistic:.4g}"),
        ]

    def _repr_html_(self) -> str:
        title, facts = self._facts()
        shown = [markup.facts(facts)]
        if np.ndim(self.statistic):
            p, statistic = np.ravel(self.pvalue), np.ravel(self.statistic)
            rows = [
                [
                    str(i),
                    f"{n:,}",
                    p_text(p[i], p[i] <= self.smallest_pvalue),
                    f"{statistic[i]:.4g}",
                ]
                for i, n in enumerate(self._groups[:_SHOWN].tolist())
            ]
            head = ("sample", "n", "p-value", "statistic")
            small = markup.note(f"{_SMALL.capitalize()}.")
            rest = markup.rest(len(rows), p.size, "samples")
            shown = [markup.table(head, rows, range(4)), *rest, small]
        caution = [markup.facts([("caution", self.caution)])] if self.caution else []
        return markup.card(title, [*shown, *caution])


def p_text(p: float, is_bound: bool, digits: int = 4) -> str:  # noqa: FBT001 - a fact about p
    """Write a p-value, or that it is below one where tables cannot show how small it is.

    Examples
    --------
    >>> p_text(0.03, False), p_text(4e-6, True)
    ('0.03', '< 4e-06')
    """
    return f"{'< ' if is_bound else ''}{p:.{digits}g}"
