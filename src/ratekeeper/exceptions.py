"""The errors and warnings of ratekeeper.

::

    RatekeeperError
    ├── InputError (ValueError)         a value that cannot be used as given
    │   ├── NoThresholdError            (AttributeError) no single threshold decides
    │   ├── TooFewScoresError           no finite answer keeps the promise with this many scores
    │   └── UnattainableError           the promise is out of reach of this score
    └── StoredFileError (ValueError)    a file that is damaged, foreign or too new
        └── MissingFileError            (FileNotFoundError) there is no file

    RatekeeperWarning (UserWarning)
    ├── ReversedScoreWarning            high scores seem to indicate the negative class
    ├── LevelWarning                    an error rate above 0.5, as where a sensitivity was meant
    ├── UselessTestWarning              a test that calls all calibration objects the same
    ├── ContradictedFitWarning          the scores contradict the distribution fitted to them
    ├── CopiedRowsWarning               rows of a calibration seem to be copies of others
    ├── ScoreTypeWarning                scores come in another precision than at calibration
    ├── ScoreRangeWarning               new scores lie outside the range of the calibration
    ├── ShiftWarning                    new scores are no mixture of the calibrated classes
    ├── LongWorkWarning                 what was asked for takes minutes or more
    ├── PositiveLabelWarning            of two words, the last in order is taken as positive
    ├── RefitWarning                    a model that is already trained is trained again
    ├── LateLabelsWarning               the level of an adaptive test swings
    └── InterpolationWarning            cross-fitted scores are unlike those of the deployed model

Every message says the value that was given, what is needed and what to do, in one line of plain
text, whatever the names in it are. Errors keep these as fields (`InputError.parameter`, `.value`,
`.need`, `.remedy`), and parameters mentioned in the text stay `Parameter` objects until it is
printed, so that Python and the command line each use their own names: ``thin_groups="pool"`` here,
``--thin-groups pool`` there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ratekeeper._wording._formatting import escape_controls, format_value

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Words: TypeAlias = "str | Parameter | tuple[Words, ...]"


class _Nothing:
    """Marks a value that was not given; None is a value."""

    def __repr__(self) -> str:
        return "NOTHING"

    def __reduce__(self) -> str:
        return "NOTHING"  # stays the one object when pickled


NOTHING: Any = _Nothing()


@dataclass(frozen=True)
class Parameter:
    """A parameter mentioned in a message, perhaps with a value.

    Examples
    --------
    >>> print(Parameter("alpha"), Parameter("thin_groups", "pool"))
    alpha thin_groups='pool'
    """

    name: str
    value: object = NOTHING

    def __str__(self) -> str:
        return self.name if self.value is NOTHING else f"{self.name}={format_value(self.value)}"


def worded(words: Words, spell: Callable[[Parameter], str] = str) -> str:
    """Return a text with every parameter in it spelled out.

    Examples
    --------
    >>> worded(("Pass ", Parameter("thin_groups", "pool"), "."))
    "Pass thin_groups='pool'."
    """
    if isinstance(words, tuple):
        return "".join(worded(part, spell) for part in words)
    return spell(words) if isinstance(words, Parameter) else words


class RatekeeperError(Exception):
    """Any error that ratekeeper raises on purpose."""

    def worded(self, spell: Callable[[Parameter], str] = str) -> str:
        """Return the message with every parameter spelled out; as Python writes it by default."""
        del spell  # a plain text mentions none
        return escape_controls(super().__str__())

    def __str__(self) -> str:
        return self.worded()


class InputError(RatekeeperError, ValueError):
    """A value cannot be used as given.

    Parameters
    ----------
    found : text, default=""
        What was found, as a sentence; by default that `parameter` with `value` must be `need`.
    parameter : str, optional
        Name of the parameter at fault.
    value : object, optional
        What was passed, or the part of it at fault.
    need : text, default=""
        What is needed instead, as a phrase: "a rate strictly between 0 and 1".
    remedy : text, default=""
        What to do, as a sentence.

    A text is a str, a `Parameter`, or a tuple of these.

    Examples
    --------
    >>> print(InputError(parameter="alpha", value=5, need="a rate between 0 and 1"))
    alpha=5 must be a rate between 0 and 1.
    """

    def __init__(
        self,
        found: Words = "",
        *,
        parameter: str | None = None,
        value: object = NOTHING,
        need: Words = "",
        remedy: Words = "",
    ) -> None:
        super().__init__()
        self.found, self.parameter, self.value = found, parameter, value
        self.need, self.remedy = need, remedy

    def worded(self, spell: Callable[[Parameter], str] = str) -> str:
        """Return the message with every parameter spelled out; as Python writes it by default."""
        texts = worded(self._what, spell), worded(self.remedy, spell)
        return escape_controls(" ".join(filter(None, texts)))

    def within(self, place: str) -> InputError:
        """Return the same error, with the place where it was found before its message.

        Examples
        --------
        >>> print(InputError(parameter="n", value=0, need="positive").within("a.csv"))
        a.csv: n=0 must be positive.
        """
        fields = {**self.__dict__, "found": (f"{place}: ", self._what)}
        return _rebuild(type(self), fields)

    @property
    def _what(self) -> Words:
        """What is wrong, as a sentence."""
        if self.found or self.parameter is None:
            return self.found
        return (Parameter(self.parameter, self.value), " must be ", self.need, ".")

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions with keyword-only arguments do not survive pickling (and so worker processes).
        return _rebuild, (type(self), self.__dict__.copy())


def _rebuild(kind: type[InputError], fields: dict[str, Any]) -> InputError:
    error = kind.__new__(kind)
    error.__dict__.update(fields)
    return error


class TooFewScoresError(InputError):
    """The promise is impossible with this many calibration scores.

    Attributes
    ----------
    available : int
        Number of calibration scores of the null class (in the group).
    needed : int
        Smallest number with which the promise can be kept.
    """

    def __init__(self, found: Words, *, available: int, needed: int, remedy: Words = "") -> None:
        super().__init__(found, value=available, need=f"{needed:,} scores", remedy=remedy)
        self.available = available
        self.needed = needed


class UnattainableError(InputError):
    """The promise is out of reach of this score, or of so few objects; says what could be."""


class NoThresholdError(InputError, AttributeError):
    """No single threshold decides: there are groups, two rates, chance, or several models.

    An `AttributeError`, too, so that `hasattr` and scikit-learn's displays see a missing attribute.
    """


class StoredFileError(RatekeeperError, ValueError):
    """A file is not a whole, unaltered ratekeeper file of a known format."""


class MissingFileError(StoredFileError, FileNotFoundError):
    """There is no file to load."""


class RatekeeperWarning(UserWarning):
    """Any warning that ratekeeper gives; its text may hold parameters, as that of an error."""

    def __init__(self, words: Words = "") -> None:
        super().__init__(words)
        self.words = words

    def worded(self, spell: Callable[[Parameter], str] = str) -> str:
        """Return the message with every parameter spelled out; as Python writes it by default."""
        return escape_controls(worded(self.words, spell))

    def __str__(self) -> str:
        return self.worded()


class ReversedScoreWarning(RatekeeperWarning):
    """High scores seem to indicate the negative class."""


class LevelWarning(RatekeeperWarning):
    """An error rate above 0.5 is to be kept, as where a sensitivity was given as an FNR."""


class UselessTestWarning(RatekeeperWarning):
    """A test calls all calibration objects the same, or decides on none of them.

    Its promise holds, and is worth nothing: as with 0/1 predictions in the place of scores.
    """


class CopiedRowsWarning(RatekeeperWarning):
    """Rows of a calibration seem to be copies of others, and none may count twice."""


class ScoreTypeWarning(RatekeeperWarning):
    """Scores come in another floating-point precision than at calibration."""


class ScoreRangeWarning(RatekeeperWarning):
    """More new scores lie outside the calibration's range than chance explains."""


class ShiftWarning(RatekeeperWarning):
    """New scores are not a mixture of the two calibrated classes at any prevalence.

    Or `density_ratio` tells new rows from old ones perfectly, so that no weights help.
    """


class ContradictedFitWarning(RatekeeperWarning):
    """The scores contradict the distribution that was fitted to them."""


class LongWorkWarning(RatekeeperWarning):
    """What was asked for takes minutes or more."""


class PositiveLabelWarning(RatekeeperWarning):
    """An estimator or `compare` was given two words as labels, and took the last as positive.

    The last in ascending order, that is. `calibrate` refuses such labels instead.
    """


class RefitWarning(RatekeeperWarning):
    """A model that is already trained, but not frozen, is trained again."""


class LateLabelsWarning(RatekeeperWarning):
    """Labels come so late that the level of an adaptive test swings."""


class InterpolationWarning(RatekeeperWarning):
    """The model nearly interpolates, and the deployed one scores unlike those of the folds."""
