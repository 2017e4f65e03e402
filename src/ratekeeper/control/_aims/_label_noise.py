"""What is known about wrong labels among the calibration objects."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ratekeeper._numerics._rates import clopper_pearson
from ratekeeper._reading._parameters import check_count, check_probability, rate_of
from ratekeeper.exceptions import InputError, Parameter

Range = tuple[float, float]

_STEPS = 100_000  # a thousandth of a percent


@dataclass(frozen=True, kw_only=True)
class LabelNoise:
    """How many of the calibration labels are wrong, as far as that is known.

    Parameters
    ----------
    wrong_positives : float, str, pair of these, or None, default=None
        Which share of the objects labelled positive truly is negative. A number is the most that
        it can be: 0.05 or "5%". A pair is the least and the most; ``(0.03, 0.03)`` is exactly
        3%. None: unknown.
    wrong_negatives : float, str, pair of these, or None, default=None
        Which share of the objects labelled negative truly is positive, in the same way.
    delta : float, default=0.0
        Chance that these ranges are wrong, if they come from a sample. It is part of the chance
        with which a promise may fail. `from_audit` and `from_flips` set it.

    Notes
    -----
    Only the least share gives back what wrong labels cost, so state it if you know one. A least
    share that is too high breaks promises; a most that is too high costs nearly nothing.

    Examples
    --------
    >>> LabelNoise(wrong_positives="5%")
    LabelNoise(wrong_positives=(0.0, 0.05), wrong_negatives=None, delta=0.0)
    """

    wrong_positives: Any = None
    wrong_negatives: Any = None
    delta: float = 0.0

    def __post_init__(self) -> None:
        for name in ("wrong_positives", "wrong_negatives"):
            object.__setattr__(self, name, _range(getattr(self, name), name))
        if self.delta != 0:
            object.__setattr__(self, "delta", check_probability(self.delta, "delta"))
        ranges = [one for one in (self.wrong_positives, self.wrong_negatives) if one is not None]
        if len(ranges) > 1 and sum(most for _, most in ranges) >= 1.0:
            raise InputError(
                (
                    *(Parameter("wrong_positives", self.wrong_positives), " and "),
                    Parameter("wrong_negatives", self.wrong_negatives),
                    " add up to 1 or more, so these labels may say less than chance.",
                ),
                parameter="wrong_positives",
                value=self.wrong_positives,
                remedy="Have a part of the objects labelled again; from_audit takes the counts.",
            )

    @classmethod
    def from_audit(
        cls,
        *,
        positives: tuple[int, int] | None = None,
        negatives: tuple[int, int] | None = None,
        delta: float = 0.01,
    ) -> LabelNoise:
        """Return what an audit shows: some labels, drawn at random, were checked.

        Parameters
        ----------
        positives : tuple of two int, optional
            Of the objects labelled positive: how many were found wrong, and how many checked.
        negatives : tuple of two int, optional
            The same of those labelled negative.
        delta : float, default=0.01
            Chance that the audit misleads, that is, that a share lies outside its range.

        Returns
        -------
        LabelNoise

        Notes
        -----
        **Guarantee.** Exact (Clopper-Pearson) for objects drawn at random from those labelled so,
        by people who then know the true class; all ranges hold together but for probability
        `delta`. If the checked objects calibrate, too, they do so with their old labels.

        Examples
        --------
        >>> LabelNoise.from_audit(positives=(9, 200)).wrong_positives
        (0.01585, 0.09727)
        """
        chance = check_probability(delta, "delta")
        given = {"positives": positives, "negatives": negatives}
        audited = {name: _counts(one, name) for name, one in given.items() if one is not None}
        if not audited:
            raise InputError(parameter="positives", value=positives, need="(wrong, checked)")
        ranges = {
            f"wrong_{name}": _outwards(*_interval(counts, 1.0 - chance / len(audited)))
            for name, counts in audited.items()
        }
        return cls(delta=chance, **ranges)

    @classmethod
    def from_flips(
        cls,
        *,
        positives: Any,  # noqa: ANN401 - as wrong_positives
        negatives: Any,  # noqa: ANN401
        labelled_positive: tuple[int, int],
        delta: float = 0.01,
    ) -> LabelNoise:
        """Return what follows from how often each class gets the wrong label.

        For labels from a test or from people whose sensitivity and specificity are known.

        Parameters
        ----------
        positives : float, str or pair of these
            Which share of the true positives is labelled negative: 1 - sensitivity. A number is
            the most, a pair the least and the most.
        negatives : float, str or pair of these
            Which share of the true negatives is labelled positive: 1 - specificity.
        labelled_positive : tuple of two int
            How many objects of a random sample of the population are labelled positive, and how
            many there are. The shares of wrong labels depend on it: where positives are rare, most
            of those labelled so can be wrong.
        delta : float, default=0.01
            Chance that the sample misleads about this share.

        Returns
        -------
        LabelNoise

        Notes
        -----
        With a and b the shares of positives and negatives that are labelled wrongly, and q the
        share that is labelled positive, p = (q - b) / (1 - a - b) is the share of true positives.
        So b (1 - p) / q of those labelled positive are wrong, and a p / (1 - q) of those labelled
        negative. The first falls as a and q rise and rises with b, the second likewise with the
        classes exchanged, so the ends of their ranges are at the ends of the others.

        Examples
        --------
        >>> LabelNoise.from_flips(
        ...     positives=(0.03, 0.03), negatives=(0.01, 0.01), labelled_positive=(2000, 10000)
        ... ).wrong_positives
        (0.03758, 0.04283)
        """
        chance = check_probability(delta, "delta")
        a, b = _range(positives, "positives"), _range(negatives, "negatives")
        counts = _counts(labelled_positive, "labelled_positive")
        if a is None or b is None:
            raise InputError(
                parameter="negatives" if b is None else "positives",
                value=None,
                need="the share of the class that is labelled wrongly",
            )
        q = _interval(counts, 1.0 - chance)
        if not b[1] < q[0] <= q[1] < 1.0 - a[1]:
            raise InputError(
                f"{counts[0]:,} of {counts[1]:,} labelled positive may all be wrong labels of one "
                "class: nothing follows about the other.",
                parameter="labelled_positive",
                value=labelled_positive,
                remedy="Count a larger sample, or state shares of wrong labels that are closer.",
            )
        return cls(
            wrong_positives=_outwards(_wrong(a[1], b[0], q[1]), _wrong(a[0], b[1], q[0])),
            wrong_negatives=_outwards(
                _wrong(b[1], a[0], 1.0 - q[0]), _wrong(b[0], a[1], 1.0 - q[1])
            ),
            delta=chance,
        )


def _wrong(missed: float, added: float, share: float) -> float:
    """Return the share of wrong labels among those of one kind.

    Parameters
    ----------
    missed : float
        The share of the class that is labelled as the other one.
    added : float
        The share of the other class that is labelled as this one.
    share : float
        The share of all objects that is labelled as this class.
    """
    return added * (1.0 - missed - share) / (share * (1.0 - missed - added))


def _range(given: object, name: str) -> Range | None:
    """Return the least and the most that was stated, None for nothing, or refuse."""
    if given is None:
        return None
    pair = given if isinstance(given, (tuple, list)) else (0.0, given)
    shares = [0.0 if _is_zero(one) else check_probability(one, name) for one in pair]
    if len(shares) != 2 or shares[0] > shares[1]:  # noqa: PLR2004 - a pair
        raise InputError(
            parameter=name,
            value=given,
            need="the most that this share can be, or a pair of the least and the most",
            remedy=("Write at most 5% as ", Parameter(name, 0.05), "."),
        )
    return shares[0], shares[1]


def _is_zero(value: object) -> bool:
    text = isinstance(value, str) and value.rstrip().endswith("%")
    return rate_of(str(value)) == 0 if text else not isinstance(value, bool) and value == 0


def _counts(given: object, name: str) -> tuple[int, int]:
    """Return a part and the whole that it is of, or refuse."""
    pair = given if isinstance(given, (tuple, list)) else ()
    part, whole = (check_count(one, name, least=0) for one in pair) if len(pair) == 2 else (1, 0)  # noqa: PLR2004
    if part > whole or not whole:
        need = "two counts, first the part: (9, 200) is 9 of 200"
        raise InputError(parameter=name, value=given, need=need)
    return part, whole


def _interval(counts: tuple[int, int], confidence: float) -> Range:
    low, high = clopper_pearson(*counts, confidence=confidence)
    return float(low), float(high)


def _outwards(low: float, high: float) -> Range:
    """Return the range rounded to the safe side, so that what is printed is what is meant."""
    return math.floor(low * _STEPS) / _STEPS, min(math.ceil(high * _STEPS), _STEPS - 1) / _STEPS
