"""One class's error rate, counted against the truth, from calibration labels that may be wrong.

Of the objects labelled as the class whose errors are limited, a share e truly belongs to the other
class, and of those labelled as the other, a share f truly belongs to this one. If a wrong label
does not depend on the score given the true class, the distributions of the labelled scores are
mixtures of the true ones. Write F and F' for the shares of the two true classes that lie beyond a
threshold, on the side where the null class is rejected, and G and G' for those of the labelled::

    G = (1 - e) F + e F'        G' = f F + (1 - f) F'

**What follows.** F <= G / (1 - e), whatever F' is. And G' - G = (1 - e - f) (F' - F), so that
with M = e / (1 - e - f) ::

    F = G - M (G' - G)

M grows with e and with f. So wherever G' >= G, F <= G - M (G' - G) also with the least M that the
stated shares allow; with M = 0 that is F <= G: wrong labels then only make the test more careful.

**The bound at one threshold.** The counts beyond it are binomial with shares G and G', so exact
upper and lower limits U of G and L of G' hold together with probability 1 - delta, if each may fail
with its part of delta. Then F <= U - M (L - U) where L >= U, else F <= U / (1 - e), with the least
M and the most e.

**All thresholds.** Starting where nothing is rejected, the threshold moves on as long as the bound
is at most alpha, and stops before it first is not. F never falls on the way. Let t be the last
threshold with F <= alpha. If the search goes beyond t, it has passed thresholds as close after t as
one likes, at each of which the bound was at most alpha < F, so it failed at a threshold that does
not depend on the data. The event is the limit of such events, so its probability is at most delta.
No band over all thresholds is needed, since F is monotone (the argument of Bates, Angelopoulos,
Lei, Malik and Jordan, 2021). Between two scores of the null class the bound falls or stays, so that
only the places just after each of them are looked at.

Yao, Rava, Tong and James (2023) correct the umbrella algorithm by the same M, with an estimate of
G' - G from a part of the data in place of limits; here all data serve both, and delta is exact for
every number of objects.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ratekeeper._reading._parameters import check_control, check_probability
from ratekeeper._wording._formatting import exact_percent
from ratekeeper._wording._sentences import say
from ratekeeper.control._aims._aim import Aim, Chosen, Limits
from ratekeeper.control._aims._label_noise import LabelNoise
from ratekeeper.control._promised_rate import right_share
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods import Guarantee
from ratekeeper.methods._high_probability import beta_upper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper._numerics._rates import Share
    from ratekeeper.control._aims._aim import Numbers

# Part of delta for the limit of the other class, which is multiplied by the small M.
_FOR_OTHER = 0.05


@dataclass(frozen=True)
class _DespiteNoise(Aim):
    """At most a share of one true class is called the other."""

    level: float
    delta: float = 0.05
    wrong_from: float = 0.0
    wrong_to: float = 0.0
    other_wrong_from: float = 0.0
    unsure: float = 0.0
    about_population: ClassVar[bool] = False
    labels_are_wrong: ClassVar[bool] = True
    price: ClassVar[str] = "noise.price"
    null: ClassVar[str]
    other: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_probability(self.level, "alpha"))
        object.__setattr__(self, "delta", check_probability(self.delta, "delta"))
        shares = (self.wrong_from, self.wrong_to, self.other_wrong_from, self.unsure)
        if not (
            all(0.0 <= one < 1.0 for one in shares)
            and self.wrong_from <= self.wrong_to
            and self.wrong_from + self.other_wrong_from < 1.0
        ):
            need = "shares from 0 to below 1, the least before the most"
            raise InputError(parameter="wrong labels", value=shares, need=need)
        if self.unsure >= self.delta:
            raise InputError(
                f"What is known about the wrong labels may fail with probability {self.unsure:g}, "
                f"which leaves nothing of the {self.delta:g} for the scores.",
                parameter="delta",
                value=self.delta,
                remedy=(
                    *("Take a larger ", Parameter("delta"), ", or a smaller one for the audit."),
                ),
            )

    @property
    def alpha(self) -> float:
        """The largest share of the class that is called the other."""
        return self.level

    @property
    def headline(self) -> str:
        """What is promised, in a few words."""
        rate = say(f"rate.{self.share}")
        right = right_share(check_control(self.share), self.level)
        return f"{rate} <= {exact_percent(self.level)} ({right}) despite wrong labels"

    @property
    def guarantee(self) -> Guarantee:
        """What is promised, when, and what is not."""
        facts = {"alpha": exact_percent(self.level), "delta": f"{self.delta:g}"}
        sets = say("noise.sets.sampled" if self.unsure else "noise.sets")
        wrong = say("noise.wrong", label=self.null, other=self.other, share=self._stated)
        if self.other_wrong_from:
            least = exact_percent(self.other_wrong_from)
            more = say("noise.wrong.least", label=self.other, other=self.null, share=least)
            wrong = f"{wrong}, and {more}"
        if self.unsure:
            wrong = say("noise.sampled", wrong=wrong, delta=f"{self.unsure:g}")
        needs = ("noise.unrelated", "noise.better", "aim.level_fixed")
        return Guarantee(
            kind="high probability",
            promise=say(f"noise.{self.share}", sets=sets, **facts),
            condition="; ".join([say("noise.drawn"), wrong, *map(say, needs)]),
            not_covered=say("noise.not_covered"),
        )

    @property
    def _stated(self) -> str:
        """The share of wrong labels in words."""
        low, high = exact_percent(self.wrong_from), exact_percent(self.wrong_to)
        if not self.wrong_from:
            return f"at most {high}"
        return f"{low} to {high}" if self.wrong_from < self.wrong_to else f"exactly {low}"

    @property
    def _parts(self) -> tuple[float, float]:
        """Of delta, the parts for the limits of the two labelled classes."""
        chance = self.delta - self.unsure
        for_other = _FOR_OTHER * chance if self.wrong_to else 0.0
        return chance - for_other, for_other

    def bounds(
        self, null: NDArray[np.intp], n: int, other: NDArray[np.intp], n_other: int
    ) -> NDArray[np.float64]:
        """Return upper limits of the error rate at thresholds with these counts beyond them."""
        for_null, for_other = self._parts
        upper = beta_upper(null, n, for_null)
        lower = np.zeros(upper.size)
        if for_other and n_other:
            lower = 1.0 - beta_upper(n_other - other, n_other, for_other)
        ratio = self.wrong_from / (1.0 - self.wrong_from - self.other_wrong_from)
        return np.where(
            lower >= upper, upper - ratio * (lower - upper), upper / (1.0 - self.wrong_to)
        )

    def _first_failure(
        self, null: NDArray[np.intp], n: int, other: NDArray[np.intp], n_other: int
    ) -> int:
        """Return the first place where the bound is above the level; beyond all scores it is.

        The bound rises with the first count and falls with the second, so a run of places passes
        if the last of the one with the first of the other does, and few are looked at singly.
        """
        step = math.isqrt(null.size)
        starts = np.arange(0, null.size, step)
        ends = np.minimum(starts + step, null.size) - 1
        doubtful = self.bounds(null[ends], n, other[starts], n_other) > self.level
        for start in map(int, starts[doubtful]):
            run = slice(start, start + step)
            fails = self.bounds(null[run], n, other[run], n_other) > self.level
            if fails.any():
                return start + int(fails.argmax())
        return null.size  # cannot be: all of the class beyond means an error rate of 1

    def choose(
        self, negative: Floats, positive: Floats, *, higher: bool, numbers: Numbers = None
    ) -> Chosen | None:
        """Return the boldest threshold that keeps the level; see `Aim.choose`."""
        del numbers
        is_fnr = self.share == "fnr"
        null, other = (positive, negative) if is_fnr else (negative, positive)
        if not null.size:
            return None
        places = np.unique(null)
        if is_fnr == higher:  # low scores are rejected
            counts = [np.searchsorted(one, places, side="right") for one in (null, other)]
        else:
            places = places[::-1]
            counts = [one.size - np.searchsorted(one, places, side="left") for one in (null, other)]
        beyond = [np.r_[0, one] for one in counts]
        first = self._first_failure(beyond[0], null.size, beyond[1], other.size)
        if not first:
            return None
        return Chosen(Limits(float(places[first - 1]), strict=not is_fnr))

    def advice(
        self, negative: Floats, positive: Floats, *, higher: bool, numbers: Numbers = None
    ) -> str:
        """Say which level could be promised, and how many objects are needed for this one."""
        del higher, numbers
        n = positive.size if self.share == "fnr" else negative.size
        chance, most = self._parts[0], self.wrong_to
        needed = math.ceil(math.log(chance) / math.log1p(-self.level * (1.0 - most)))
        said = say("noise.needed", n=f"{needed:,}", label=self.null)
        best = -math.expm1(math.log(chance) / n) / (1.0 - most) if n else 1.0
        if best >= 1.0:
            return said
        rounded = exact_percent(math.ceil(best * 1e4) / 1e4)
        return say("noise.best", best=rounded, rate=say(f"rate.{self.share}"), needed=said)


class FNRDespiteNoise(_DespiteNoise):
    """At most this share of the true positives is called negative, except with chance delta.

    Parameters
    ----------
    level : float
        The largest share.
    delta : float, default=0.05
        Chance, over calibration sets, that the promise fails.
    wrong_from, wrong_to : float, default=0.0
        The least and the most of the objects labelled positive that truly are negative.
    other_wrong_from : float, default=0.0
        The least of the objects labelled negative that truly are positive.
    unsure : float, default=0.0
        The part of delta that is the chance that the shares above are wrong.

    Notes
    -----
    **Guarantee.** High probability, finite-sample: the proof stands at the top of this file. Needs
    wrong labels that do not depend on the score given the true class, within the stated shares.
    It does not cover labels that are wrong most often for doubtful objects.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> negative = np.sort(rng.normal(0, 1, 900))
    >>> positive = np.sort(np.r_[rng.normal(0, 1, 15), rng.normal(3, 1, 285)])  # 5% are wrong
    >>> plain = FNRDespiteNoise(0.05, 0.05, 0.0, 0.05).choose(negative, positive, higher=True)
    >>> known = FNRDespiteNoise(0.05, 0.05, 0.05, 0.05).choose(negative, positive, higher=True)
    >>> bool(plain.limits.positive < known.limits.positive)
    True
    """

    name: ClassVar[str] = "fnr-despite-noise"
    share: ClassVar[Share] = "fnr"
    null: ClassVar[str] = "positive"
    other: ClassVar[str] = "negative"


class FPRDespiteNoise(_DespiteNoise):
    """At most this share of the true negatives is called positive, except with chance delta.

    Parameters and guarantee are those of `FNRDespiteNoise`, with the classes exchanged.
    """

    name: ClassVar[str] = "fpr-despite-noise"
    share: ClassVar[Share] = "fpr"
    null: ClassVar[str] = "negative"
    other: ClassVar[str] = "positive"


def despite(control: object, alpha: float, noise: object, delta: float) -> Aim:
    """Return the aim that keeps this rate despite this noise, or refuse.

    Examples
    --------
    >>> despite("fnr", 0.05, LabelNoise(wrong_positives=0.02), 0.05).headline
    'FNR <= 5% (sensitivity >= 95%) despite wrong labels'
    """
    if not isinstance(noise, LabelNoise):
        raise InputError(
            parameter="noise",
            value=noise,
            need="a LabelNoise",
            remedy="Such as LabelNoise(wrong_positives=0.02), for at most 2%.",
        )
    is_fnr = check_control(control) == "fnr"
    shares = noise.wrong_positives, noise.wrong_negatives
    null, other = shares if is_fnr else shares[::-1]
    if null is None:
        name = "wrong_positives" if is_fnr else "wrong_negatives"
        raise InputError(
            (
                *("To keep the ", "FNR" if is_fnr else "FPR", ", "),
                *(Parameter(name), " must be known at least roughly."),
            ),
            parameter=name,
            value=None,
            remedy=("At most half is ", Parameter(name, 0.5), "; an audit says more."),
        )
    kind = FNRDespiteNoise if is_fnr else FPRDespiteNoise
    low, high = null
    return kind(alpha, delta, low, high, 0.0 if other is None else other[0], noise.delta)
