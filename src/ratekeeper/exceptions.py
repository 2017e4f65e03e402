"""The errors and warnings of ratekeeper.

::

    RatekeeperError
    ├── InputError (ValueError)         a value that cannot be used as given
    │   └── TooFewScoresError           no finite answer keeps the promise with this many scores
    └── StoredFileError (ValueError)    a file that is damaged, foreign or too new
        └── MissingFileError            (FileNotFoundError) there is no file

    RatekeeperWarning (UserWarning)
    ├── ReversedScoreWarning            high scores seem to speak for the negative class
    ├── ScoreTypeWarning                scores come in another precision than at calibration
    └── LongWorkWarning                 what was asked for takes minutes or more

Every message says the value that was given, what is needed and what to do.
"""

from __future__ import annotations


class RatekeeperError(Exception):
    """Any error that ratekeeper raises on purpose."""


class InputError(RatekeeperError, ValueError):
    """A value cannot be used as given."""


class TooFewScoresError(InputError):
    """The promise is impossible with this many calibration scores.

    Attributes
    ----------
    available : int
        Number of calibration scores of the null class (in the group).
    needed : int
        Smallest number with which the promise can be kept.
    """

    def __init__(self, message: str, *, available: int, needed: int) -> None:
        super().__init__(message)
        self.available = available
        self.needed = needed

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions with keyword-only arguments do not survive pickling (and so worker processes).
        return (_rebuild_too_few, (str(self), self.available, self.needed))


def _rebuild_too_few(message: str, available: int, needed: int) -> TooFewScoresError:
    return TooFewScoresError(message, available=available, needed=needed)


class StoredFileError(RatekeeperError, ValueError):
    """A file is not a whole, unaltered ratekeeper file of a known format."""


class MissingFileError(StoredFileError, FileNotFoundError):
    """There is no file to load."""


class RatekeeperWarning(UserWarning):
    """Any warning that ratekeeper gives."""


class ReversedScoreWarning(RatekeeperWarning):
    """High scores seem to speak for the negative class."""


class ScoreTypeWarning(RatekeeperWarning):
    """Scores come in another floating-point precision than at calibration."""


class LongWorkWarning(RatekeeperWarning):
    """What was asked for takes minutes or more."""
