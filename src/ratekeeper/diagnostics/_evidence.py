"""What the schools of hypothesis testing say of one score, side by side.

Fisher's p-values, the decision of Neyman and Pearson with its other error, the likelihood ratio,
which is the Bayes factor of two classes, the posterior for a stated prior, and e-values. They
answer different questions, and docs/understand/evidence.md says which is which.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._likelihood_ratio import fitted, merged, two_parts
from ratekeeper._numerics._rates import clopper_pearson
from ratekeeper._reading._parameters import check_probability
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, format_value, objects
from ratekeeper._wording._sentences import say
from ratekeeper.calibration._cells import read_new
from ratekeeper.calibration._two_classes import two_classes
from ratekeeper.control._error_rate import aim
from ratekeeper.exceptions import InputError
from ratekeeper.methods import HighProbability

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._likelihood_ratio import Blocks, Shape
    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.calibration._p_values import PValues
    from ratekeeper.control._decisions import Decisions
    from ratekeeper.control._error_rate import ErrorRateTest
    from ratekeeper.methods import Method

    Values = NDArray[np.float64]

_LEARN = 0.5
_IN_BLOCK = 30.0  # objects of the smaller class, about, but between these shares
_THINNEST, _WIDEST = 0.01, 0.05
_SHOWN = 8
_WIDTH = 79


@dataclass(frozen=True, eq=False, repr=False)
class RatioBand:
    """The likelihood ratio of each block of scores, with its band.

    Attributes
    ----------
    edges : ndarray of shape (n_blocks - 1,)
        Block j has the scores from ``edges[j - 1]`` up to, but without, ``edges[j]``.
    negative, positive : ndarray of int, shape (n_blocks,)
        Objects of either class that were counted in each: none of those that drew up the blocks.
    ratio, low, high : ndarray of shape (n_blocks,)
        The share of positives in the block by that of negatives, and its band. NaN where neither
        class was counted.
    confidence : float
        How often, over calibration sets, the bands of all blocks cover at once.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> scores = np.r_[np.arange(400) % 40, 20 + np.arange(400) % 40]
    >>> labels = np.repeat([0, 1], 400)
    >>> cal = rk.calibrate(scores, labels, random_state=0, duplicates="keep")
    >>> rk.evidence(cal, [10]).band
    RatioBand of 4 blocks
            from      below  negative  positive     ratio  band
            -inf         20       105         0         0  0 to 0.0667
    ...
    """

    edges: Floats
    negative: NDArray[np.intp]
    positive: NDArray[np.intp]
    ratio: Values
    low: Values
    high: Values
    confidence: float

    def __len__(self) -> int:
        return self.negative.size

    def __repr__(self) -> str:
        rows = [
            f"  {start:>10.4g} {end:>10.4g} {n0:>9,} {n1:>9,} {r:>9.3g}  {low:.3g} to {high:.3g}"
            for start, end, n0, n1, r, low, high in self._rows()
        ]
        head = f"  {'from':>10} {'below':>10} {'negative':>9} {'positive':>9} {'ratio':>9}  band"
        return f"RatioBand of {len(self)} blocks\n" + "\n".join([head, *rows])

    def _rows(self) -> list[tuple[float, ...]]:
        ends = [-np.inf, *self.edges.tolist(), np.inf]
        columns = (self.negative, self.positive, self.ratio, self.low, self.high)
        lists = [column.tolist() for column in columns]
        return list(zip(ends[:-1], ends[1:], *lists, strict=True))


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """What the schools say of each score; made by `evidence`.

    Attributes
    ----------
    scores : ndarray of shape (n_objects,)
        The scores.
    p_values : PValues
        Conformal ones, of all calibration objects.
    test : ErrorRateTest
        The test that decides; ``test.other_error`` is the price of the decisions.
    decisions : Decisions
        What it decides.
    ratio, ratio_low, ratio_high : ndarray of shape (n_objects,)
        The likelihood ratio of positive against negative of the score's block, and its band.
    monotone_low, monotone_high : ndarray of shape (n_objects,)
        The band of the ratio at the very score, if it never falls as the evidence grows.
    e0, e1 : ndarray of shape (n_objects,)
        E-values: evidence against "it is negative", and against "it is positive".
    band : RatioBand
        The blocks, with the objects that were counted in each.
    prior : tuple of float or None
        The least and the largest share of positives that was stated.
    posterior, posterior_low, posterior_high : ndarray of shape (n_objects,) or None
        The probability of "positive" for that prior, and its band; of a range of priors, for the
        middle of the range.

    Notes
    -----
    **Guarantee.** Each value has its own, all for independent calibration objects and new ones
    drawn like those of their class. P-values: of a new object of class c, ``P(p_c <= alpha) <=
    alpha`` for every alpha, on average over calibration sets. Decisions: that of the test's method.
    Band of the ratio: with probability at least `confidence` over calibration sets the true ratio
    of every block lies in its band, all at once, so also in that of a block chosen after looking;
    nothing is assumed of the score. `monotone_low` and `monotone_high` add the assumption that the
    ratio is monotone, and are about the score itself. E-values: of a new object of class c, the
    mean of e_c is exactly 1 over calibration sets and new objects, so ``P(e_c >= 1 / alpha) <=
    alpha``. The posterior has the band of the ratio, and is right if the prior is.

    None of these is about several objects at once: p-values and e-values of objects that share a
    calibration set depend on each other, so that e-values may be averaged, but not multiplied.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 4000)
    >>> cal = rk.calibrate(rng.normal(3 * labels), labels, random_state=0)
    >>> found = rk.evidence(cal, [0.0, 1.7, 4.0], prior=0.1)
    >>> found.ratio_low.round(2), found.ratio_high.round(2)
    (array([ 0.  ,  0.78, 62.45]), array([0.02, 4.92,  inf]))
    """

    scores: Floats
    p_values: PValues
    test: ErrorRateTest
    decisions: Decisions
    ratio: Values
    ratio_low: Values
    ratio_high: Values
    monotone_low: Values
    monotone_high: Values
    e0: Values
    e1: Values
    band: RatioBand
    prior: tuple[float, float] | None = None
    posterior: Values | None = None
    posterior_low: Values | None = None
    posterior_high: Values | None = None

    def __len__(self) -> int:
        return self.scores.size

    @property
    def bayes_factor(self) -> Values:
        """The Bayes factor of positive against negative: the likelihood ratio.

        Each class is one distribution of scores, so there is nothing to average over, and no prior
        in it.
        """
        return self.ratio

    def to_dict(self) -> dict[str, Any]:
        """Return all values as plain lists that JSON can write."""
        columns = {name: list(values) for name, values in self._columns().items()}
        return {
            **columns,
            "control": self.test.control,
            "alpha": self.test.alpha,
            "confidence": self.band.confidence,
            "prior": self.prior and list(self.prior),
        }

    def _columns(self) -> dict[str, list[Any]]:
        named: dict[str, Any] = {
            "score": self.scores,
            "p0": self.p_values.p0,
            "p1": self.p_values.p1,
            "label": self.decisions.labels,
            "ratio": self.ratio,
            "ratio_low": self.ratio_low,
            "ratio_high": self.ratio_high,
            "e0": self.e0,
            "e1": self.e1,
            "posterior": self.posterior,
            "posterior_low": self.posterior_low,
            "posterior_high": self.posterior_high,
        }
        return {name: column.tolist() for name, column in named.items() if column is not None}

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head = ["score", "p0", "p1", "decision", "ratio (band)", "e0", "e1"]
        if self.posterior is not None:
            head.append("posterior (band)")
        rows = []
        for row in list(zip(*self._columns().values(), strict=True))[:_SHOWN]:
            score, p0, p1, label, ratio, low, high, e0, e1, *after = row
            cells = [f"{score:.4g}", f"{p0:.3g}", f"{p1:.3g}", format_value(label)]
            cells += [f"{ratio:.3g} ({low:.3g} to {high:.3g})", f"{e0:.3g}", f"{e1:.3g}"]
            if after:
                cells.append("{:.3g} ({:.3g} to {:.3g})".format(*after))
            rows.append(cells)
        return head, rows

    @property
    def _said(self) -> list[str]:
        test, other = self.test, "FPR" if self.test.control == "fnr" else "FNR"
        said = [
            say("evidence.p_value"),
            say("evidence.decision", keeps=aim(test), other=other, counted=test.other_error),
            say(
                "evidence.ratio",
                blocks=len(self.band),
                covered=exact_percent(self.band.confidence),
            ),
            say("evidence.e_value"),
        ]
        if self.prior is not None:
            low, high = self.prior
            is_range = low < high
            prior = f"{low:g} to {high:g}" if is_range else f"{low:g}"
            more = say("evidence.posterior.range") if is_range else ""
            said.append(say("evidence.posterior", prior=prior, and_range=more))
        return said

    def __repr__(self) -> str:
        head, rows = self._table()
        columns = list(zip(head, *rows, strict=True))
        widths = [max(map(len, column)) for column in columns]
        lines = [
            "  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in (head, *rows)
        ]
        if len(self) > _SHOWN:
            lines.append("  ...")
        for text in self._said:
            lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
        return "\n".join([f"Evidence on {objects(len(self))}", *lines])

    def _repr_html_(self) -> str:
        head, rows = self._table()
        return markup.card(
            f"Evidence on {objects(len(self))}",
            [
                markup.table(head, rows, numbers=range(len(head))),
                *markup.rest(len(rows), len(self), "objects"),
                *map(markup.note, self._said),
            ],
        )


def evidence(
    calibration: Calibration,
    scores: ArrayLike,
    prior: float | tuple[float, float] | None = None,
    *,
    control: str = "fpr",
    alpha: float = 0.05,
    method: Method | str = HighProbability(),
    confidence: float = 0.95,
) -> Evidence:
    """Say what each school of hypothesis testing makes of each score.

    Parameters
    ----------
    calibration : Calibration
        Held-out scores of both classes, without groups, clusters, weights or counts.
    scores : array-like of shape (n_objects,)
        Scores of new objects.
    prior : float or pair of float, optional
        Share of positives among objects like these, for which you vouch, or the least and the
        largest that it can be. Without one there is no posterior.
    control, alpha, method
        Of the test that decides, as in `Calibration.control`.
    confidence : float, default=0.95
        Of the bands of the likelihood ratio, of all blocks together.

    Returns
    -------
    Evidence

    Notes
    -----
    The likelihood ratio needs blocks of scores. A random half of the calibration objects (by the
    draw of the calibration) makes them, by pooling adjacent violators, with at least 5% of the
    objects in each, down to 1% where there are many; the other half counts. So the counts in a
    block are binomial, and their exact intervals are valid. With B blocks, each of the 2 B
    intervals may fail with probability (1 - confidence) / (2 B). Within a block the ratio may
    differ from score to score; the band is about the block.

    The e-value of a score s against a class is ``(n + 1) w(s) / (w(s) + sum of w(s_i))``, over the
    n calibration objects of that class in the half that counts, with w the ratio that the other
    half found. Given that half, w is fixed, and the new object is as likely as any of the n to have
    any of the n + 1 values: the mean is 1.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 4000)
    >>> cal = rk.calibrate(rng.normal(6 * labels), labels, random_state=0)
    >>> found = rk.evidence(cal, [2.5])  # rare among negatives, but even rarer among positives
    >>> bool(found.p_values.p0[0] < 0.01), bool(found.decisions.positive[0])
    (True, True)
    >>> bool(found.ratio_high[0] < 1)
    True
    """
    stated = _read_prior(prior)
    confidence = check_probability(confidence, "confidence")
    classes = two_classes(calibration, "A likelihood ratio")
    test = calibration.control(control, alpha=alpha, method=method)
    values, _ = read_new(calibration, scores, None)
    p_values = calibration.p_values(values)  # which refuses NaN
    shape: Shape = "rising" if calibration.higher_is_positive else "falling"
    parts = [
        two_parts(one, _LEARN, calibration.draw.numbers(one.size, "evidence", label))
        for label, one in enumerate(classes)
    ]
    (learnt0, others0), (learnt1, others1) = parts
    least = _IN_BLOCK / min(learnt0.size, learnt1.size)
    blocks = merged(fitted(learnt0, learnt1, shape), min(max(least, _THINNEST), _WIDEST))
    band = _band(blocks, others0, others1, confidence)
    place = blocks.place(values)
    low, high = _monotone(band, rising=calibration.higher_is_positive)
    posterior = _posterior(stated, band.ratio, band.low, band.high)
    return Evidence(
        scores=values,
        p_values=p_values,
        test=test,
        decisions=test.decide(values),
        ratio=band.ratio[place],
        ratio_low=band.low[place],
        ratio_high=band.high[place],
        monotone_low=low[place],
        monotone_high=high[place],
        e0=_e_values(blocks.ratio, place, blocks.place(others0)),
        e1=_e_values(1.0 / blocks.ratio, place, blocks.place(others1)),
        band=band,
        prior=stated,
        **{name: one[place] for name, one in posterior.items()},
    )


def _read_prior(prior: object) -> tuple[float, float] | None:
    """Return the least and the largest prior, or None."""
    if prior is None:
        return None
    both = prior if isinstance(prior, tuple | list) else (prior, prior)
    if len(both) != 2:  # noqa: PLR2004 - a pair
        raise InputError(parameter="prior", value=prior, need="a share, or a pair of shares")
    low, high = (check_probability(one, "prior") for one in both)
    if low > high:
        raise InputError(
            parameter="prior", value=prior, need="the least share first, then the largest"
        )
    return low, high


def _band(blocks: Blocks, negative: Floats, positive: Floats, confidence: float) -> RatioBand:
    """Count the objects in each block, and bound the ratio of the two shares."""
    n0, n1 = blocks.counted(negative), blocks.counted(positive)
    each = 1.0 - (1.0 - confidence) / (2.0 * len(blocks))
    low0, high0 = clopper_pearson(n0, negative.size, each)
    low1, high1 = clopper_pearson(n1, positive.size, each)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (n1 / positive.size) / (n0 / negative.size)
        low, high = low1 / high0, high1 / low0
    return RatioBand(blocks.edges, n0, n1, ratio, low, high, confidence)


def _monotone(band: RatioBand, *, rising: bool) -> tuple[Values, Values]:
    """Return bounds of the ratio at any score of each block, if the ratio is monotone.

    The ratio of a block is a mean of the ratio at its scores, under the negatives. So the ratio at
    a score is at least that of every block before its own, and at most that of every one after.
    """
    low, high = (band.low, band.high) if rising else (band.low[::-1], band.high[::-1])
    least = np.maximum.accumulate(np.r_[0.0, low[:-1]])
    most = np.minimum.accumulate(np.r_[np.inf, high[:0:-1]])[::-1]
    return (least, most) if rising else (least[::-1], most[::-1])


def _posterior(
    prior: tuple[float, float] | None, ratio: Values, low: Values, high: Values
) -> dict[str, Values]:
    """Return the posterior of each block, and its band, by Bayes' rule."""
    if prior is None:
        return {}
    least, most = prior
    middle = (least + most) / 2.0
    found = (("posterior", middle, ratio), ("posterior_low", least, low))
    return {
        name: _bayes(share, values)
        for name, share, values in (*found, ("posterior_high", most, high))
    }


def _bayes(prior: float, ratio: Values) -> Values:
    """Return the share of positives among objects with this ratio.

    Examples
    --------
    >>> _bayes(0.25, np.array([0.0, 3.0, np.inf]))
    array([0. , 0.5, 1. ])
    """
    with np.errstate(divide="ignore"):
        odds = prior / (1.0 - prior) * ratio
        return 1.0 / (1.0 + 1.0 / odds)


def _e_values(weights: Values, place: NDArray[np.intp], own: NDArray[np.intp]) -> Values:
    """Return each object's weight by the mean weight of the calibration objects and its own.

    Parameters
    ----------
    weights : ndarray
        Of each block: any positive numbers that do not depend on the objects in `own`.
    place, own : ndarray of int
        The blocks of new objects, and of the calibration objects of the class.

    Examples
    --------
    >>> _e_values(np.array([1.0, 4.0]), np.array([0, 1]), np.array([0, 0, 0]))
    array([1.        , 2.28571429])
    """
    mine = weights[place]
    e: Values = (own.size + 1.0) * mine / (mine + weights[own].sum())
    return e
