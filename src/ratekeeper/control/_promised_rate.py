"""The rate that a user names, read as the error rate that is kept.

Sensitivity >= 95% is FNR <= 5%. Words are read once, where users pass them; everything below knows
"fnr" or "fpr" and alpha.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ratekeeper._reading._parameters import (
    RIGHT_SHARES,
    check_control,
    check_probability,
    control_error,
)
from ratekeeper._wording._formatting import exact_percent
from ratekeeper._wording._sentences import say
from ratekeeper.exceptions import InputError, LevelWarning, Parameter
from ratekeeper.methods import HighProbability, check_method

if TYPE_CHECKING:
    from ratekeeper._reading._parameters import Control
    from ratekeeper.methods import Method

    Level = float | str | None

_UNUSUAL = 0.5  # an error rate above it is most likely meant the other way round
_SHARES: dict[Control, str] = {"fnr": "sensitivity", "fpr": "specificity"}
_NEED = '"fnr" or "sensitivity" (missed positives), "fpr" or "specificity" (false alarms)'


class PromisedRate(NamedTuple):
    """The error rate that is kept, "fnr" or "fpr", and its level."""

    control: Control
    alpha: float


class _Named(Parameter):
    """A share by its name: an option of the command line, two arguments in Python."""

    def __str__(self) -> str:
        return f"{Parameter('control', self.name)}, {Parameter('level', self.value)}"


def complement(level: float) -> float:
    """Return 1 - level, in decimals: what a user would type.

    Examples
    --------
    >>> complement(0.95), 1 - 0.95
    (0.05, 0.050000000000000044)
    """
    return float(1 - Fraction(repr(float(level))))


def right_share(control: Control, alpha: float) -> str:
    """Write an error rate as the share of right decisions that it leaves.

    Examples
    --------
    >>> right_share("fnr", 0.05), right_share("fpr", 0.001)
    ('sensitivity >= 95%', 'specificity >= 99.9%')
    """
    return f"{_SHARES[control]} >= {exact_percent(complement(alpha))}"


def promised_rate(
    control: object, level: Level = None, alpha: Level = None, *, stacklevel: int = 2
) -> PromisedRate:
    """Return the error rate that is kept, from the name and the level of a rate.

    Parameters
    ----------
    control : str
        "fnr" or "fpr", or a share of right decisions: "sensitivity", "recall" or "tpr";
        "specificity" or "tnr".
    level : float or str
        The level of the rate that is named.
    alpha : float or str
        The same for an error rate. Of a share of right decisions it is refused, since nobody can
        tell which of the two was meant.

    Warns
    -----
    LevelWarning
        If the error rate is above 0.5, as where a sensitivity was given as an FNR.

    Examples
    --------
    >>> promised_rate("sensitivity", 0.95)
    PromisedRate(control='fnr', alpha=0.05)
    >>> promised_rate("Specificity", "99.9%")
    PromisedRate(control='fpr', alpha=0.001)
    """
    word = control.lower() if isinstance(control, str) else ""
    if word in RIGHT_SHARES:
        return _of_share(word, level, alpha, stacklevel=stacklevel + 1)
    if word not in _SHARES:
        raise control_error(control, _NEED)
    name = check_control(control)
    found = check_probability(one_level(level, alpha), "alpha")
    warn_if_unusual(name, found, stacklevel=stacklevel + 1)
    return PromisedRate(name, found)


def one_level(level: Level, alpha: Level) -> Level:
    """Return the level of a rate that may be called alpha, too; refuse both."""
    if level is not None and alpha is not None:
        raise InputError(
            (Parameter("level", level), " beside ", Parameter("alpha", alpha), ": one is enough."),
            parameter="alpha",
            value=alpha,
            need="left out",
            remedy=("Pass one of them, such as ", Parameter("alpha", 0.05), "."),
        )
    return alpha if level is None else level


def _of_share(word: str, level: Level, alpha: Level, *, stacklevel: int) -> PromisedRate:
    name = RIGHT_SHARES[word]
    if alpha is not None:
        error = check_probability(alpha, "alpha")
        error = min(error, complement(error))
        raise InputError(
            (
                f"alpha is an error rate, and the {word} a share of right decisions: ",
                Parameter("alpha", alpha),
                f" could mean either for {Parameter('control', word)}.",
            ),
            parameter="alpha",
            value=alpha,
            need="left out",
            remedy=f"For {name.upper()} <= {exact_percent(error)} write "
            f"{Parameter('control', word)}, {Parameter('level', complement(error))}, or "
            f"{Parameter('control', name)}, {Parameter('alpha', error)}.",
        )
    if level is None:
        raise InputError(
            f"Which {word} is to be kept?",
            parameter="level",
            value=None,
            need="a share strictly between 0 and 1",
            remedy=f"Write {Parameter('control', word)}, {Parameter('level', 0.95)}.",
        )
    return PromisedRate(name, error_rate(name, level, "level", stacklevel=stacklevel + 1))


def error_rate(control: Control, level: Level, name: str, *, stacklevel: int = 2) -> float:
    """Return the error rate that a share of right decisions leaves; `name` is its parameter."""
    share = check_probability(level, name)
    found = complement(share)
    if not 0.0 < found < 1.0:  # so near to 0 that no float tells
        raise InputError(parameter=name, value=level, need="a share strictly between 0 and 1")
    warn_if_unusual(control, found, stacklevel=stacklevel + 1)
    return found


def one_rate(control: Control, alpha: Level, share: Level, *, stacklevel: int = 2) -> float:
    """Return the level of an error rate that is given as itself or as its share, not as both."""
    names = f"alpha_{control}", _SHARES[control]
    if alpha is not None and share is not None:
        both = Parameter(names[0], alpha), Parameter(names[1], share)
        raise InputError(
            (both[0], " beside ", both[1], ": they are two levels of one rate."),
            parameter=names[1],
            value=share,
            need="left out",
            remedy="Pass one of them.",
        )
    if share is not None:
        return error_rate(control, share, names[1], stacklevel=stacklevel + 1)
    found = check_probability(alpha, names[0])
    warn_if_unusual(control, found, stacklevel=stacklevel + 1)
    return found


def warn_if_unusual(control: Control, alpha: float, *, stacklevel: int = 2) -> None:
    """Warn of an error rate above 0.5, which is most likely a share of right decisions."""
    if alpha <= _UNUSUAL:
        return
    facts = {
        "rate": control.upper(),
        "alpha": exact_percent(alpha),
        "share": right_share(control, alpha),
        "meant": exact_percent(complement(alpha)),
    }
    key = "rate.unusual.fnr" if control == "fnr" else "rate.unusual.fpr"
    words = (
        say(key, **facts),
        *(" ", _Named(_SHARES[control], alpha), "."),
    )
    warnings.warn(LevelWarning(words), stacklevel=stacklevel + 1)


def promised_method(method: Method | str | None, delta: Level) -> Method:
    """Return the method that was given, or `HighProbability` with this delta; not both."""
    if delta is None:
        return HighProbability() if method is None else check_method(method)
    chance = check_probability(delta, "delta")
    if method is None:
        return HighProbability(chance)
    raise InputError(
        (Parameter("delta", delta), " beside ", Parameter("method", method), ": only one counts."),
        parameter="delta",
        value=delta,
        need="left out",
        remedy=f"Write delta alone, or give it to the method: method=HighProbability({chance!r}).",
    )
