"""One system on one split: train, judge, count, and take the time."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ratekeeper._abstaining import AbstainingTest
from ratekeeper._control import ErrorRateTest
from ratekeeper._formatting import show, visible
from ratekeeper._progress import silence
from ratekeeper._rates import Rate
from ratekeeper._validation import null_class_of
from ratekeeper.exceptions import InputError, PositiveLabelWarning, TooFewScoresError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper._ranks import Floats

    Mask = NDArray[np.bool_]
    Rows = NDArray[np.intp]

MOST = 2**53  # of whatever is counted; beyond, numbers are not exact everywhere
_LONGEST_NOTE = 1000  # characters


@dataclass(frozen=True)
class Trial:
    """What one system did on one split.

    Attributes
    ----------
    system : str
        Its name.
    made : str
        How it was made; a trial is only taken up again for a system that is made alike.
    repeat : int
        Number of the split, from 0.
    refusal : str or None
        Why there is no result.
    warning : str or None
        The first warning it gave.
    target_errors, target_n, other_errors, other_n : int
        Errors and objects of the null class, and of the other one. An abstention is no error.
    abstained : int
        Objects of either class without a decision.
    training_rows : int
        Rows that trained what scores.
    null_scores : int or None
        Held-out scores of the null class behind the threshold, where one of our tests decides.
    fit_seconds, judge_seconds : float
        Time to learn, and to judge all test objects.
    """

    system: str
    made: str
    repeat: int
    refusal: str | None = None
    warning: str | None = None
    target_errors: int = 0
    target_n: int = 0
    other_errors: int = 0
    other_n: int = 0
    abstained: int = 0
    training_rows: int = 0
    null_scores: int | None = None
    fit_seconds: float = 0.0
    judge_seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str, int]:
        """Which system, how made, on which split."""
        return self.system, self.made, self.repeat

    @property
    def target(self) -> Rate:
        """The controlled error, as counted."""
        return Rate(self.target_errors, self.target_n)

    @property
    def other(self) -> Rate:
        """The other error, as counted."""
        return Rate(self.other_errors, self.other_n)


@dataclass(frozen=True, eq=False)
class Problem:
    """The data set, and what is asked of it."""

    X: Floats
    labels: NDArray[Any]
    is_positive: Mask
    control: str
    train_size: float
    test_size: float
    seed: int

    @property
    def tested(self) -> tuple[int, int]:
        """Objects of the null class, and of the other one, that test on every split."""
        is_null = self.is_positive == (self.control == "fnr")
        null, other = (
            _share(self.test_size, int(np.count_nonzero(mask))) for mask in (is_null, ~is_null)
        )
        return null, other

    def split(self, repeat: int) -> tuple[Rows, Rows]:
        """Return the rows that train and those that test, drawn at random within each class."""
        rng = np.random.default_rng([self.seed, repeat])
        train, test = [], []
        for places in (np.flatnonzero(self.is_positive), np.flatnonzero(~self.is_positive)):
            mixed = rng.permutation(places)
            n_test = _share(self.test_size, places.size)
            n_train = min(_share(self.train_size, places.size), places.size - n_test)
            test.append(mixed[:n_test])
            train.append(mixed[n_test : n_test + n_train])
        return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def _share(size: float, n: int) -> int:
    return min(max(round(size * n), 1), n - 1)


def run_trial(problem: Problem, name: str, made: str, system: BaseEstimator, repeat: int) -> Trial:
    """Train and judge on one split. What a system refuses, or trips over, becomes a note."""
    train, test = problem.split(repeat)
    with warnings.catch_warnings(record=True) as caught, silence():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", PositiveLabelWarning)  # `compare` has said it once
        try:
            counted = _train_and_count(problem, clone(system), train, test)
        except Exception as error:  # noqa: BLE001 - one system must not end the others' run
            return Trial(name, made, repeat, refusal=_reason(error))
    warning = one_sentence(str(caught[0].message)) if caught else None
    return Trial(name, made, repeat, warning=warning, **counted)


def _train_and_count(
    problem: Problem, system: BaseEstimator, train: Rows, test: Rows
) -> dict[str, Any]:
    start = time.perf_counter()
    system.fit(problem.X[train], problem.labels[train])
    fitted = time.perf_counter()
    wrong, abstained = _judge(system, problem, test)
    judged = time.perf_counter()
    if {np.shape(wrong), np.shape(abstained)} != {test.shape}:
        raise InputError(f"The decisions are not one for each of {test.size:,} objects.")
    is_null = problem.is_positive[test] == (problem.control == "fnr")
    return {
        "target_errors": int(np.count_nonzero(wrong & is_null)),
        "target_n": int(np.count_nonzero(is_null)),
        "other_errors": int(np.count_nonzero(wrong & ~is_null)),
        "other_n": int(np.count_nonzero(~is_null)),
        "abstained": int(np.count_nonzero(abstained)),
        "training_rows": _training_rows(system, train.size),
        "null_scores": _null_scores(system, problem.control),
        "fit_seconds": fitted - start,
        "judge_seconds": judged - fitted,
    }


def _training_rows(system: BaseEstimator, given: int) -> int:
    n = int(getattr(system, "n_training_", given))
    if not 0 <= n <= MOST:
        raise InputError(f"n_training_ is {show(n)}, which is no number of rows.")
    return n


def _null_scores(system: BaseEstimator, control: str) -> int | None:
    test = getattr(system, "test_", None)
    if not isinstance(test, ErrorRateTest | AbstainingTest):
        return None
    return sum(cell.size for cell in test.calibration.cells[null_class_of(control)])


def _judge(system: BaseEstimator, problem: Problem, rows: Rows) -> tuple[Mask, Mask]:
    """Return where the decision is wrong and where there is none."""
    X, truth = problem.X[rows], problem.is_positive[rows]
    if hasattr(system, "decide"):
        decisions = system.decide(X)
        # Neither class, where both rates are kept, breaks the promise about either.
        wrong = np.where(truth, ~decisions.positive, decisions.positive) | decisions.neither
        return wrong & ~decisions.abstained, decisions.abstained
    wrong = _predicted(system, problem, X) != problem.labels[rows]
    abstained = np.zeros(rows.size, dtype=np.bool_)
    if hasattr(system, "is_outlier"):
        abstained = system.is_outlier(X)
    return wrong & ~abstained, abstained


def _predicted(system: BaseEstimator, problem: Problem, X: Floats) -> NDArray[Any]:
    """Return the predictions, or refuse what could be compared with labels but means nothing."""
    predicted = np.asarray(system.predict(X))
    if predicted.shape != (len(X),):
        raise InputError(f"predict gave shape {predicted.shape} for {len(X):,} objects.")
    foreign = set(predicted.tolist()) - set(problem.labels.tolist())
    if foreign:
        raise InputError(f"predict gave {show(min(foreign, key=repr))}, which is not a label.")
    return predicted


def _reason(error: Exception) -> str:
    if isinstance(error, TooFewScoresError):
        return f"needs {error.needed:,}, has {error.available:,}"
    if isinstance(error, InputError):
        return one_sentence(str(error))
    return one_sentence(f"failed: {type(error).__name__}: {error}")


def one_sentence(text: str) -> str:
    r"""Return the first sentence of a text as a note: one line that every screen and file takes.

    Examples
    --------
    >>> print(one_sentence("No file\n 'a\x1b'. Look elsewhere."))
    No file 'a\x1b'.
    """
    line = " ".join(text.split())
    end = line.find(". ")
    line = visible(line if end < 0 else line[: end + 1])
    return line if len(line) <= _LONGEST_NOTE else f"{line[: _LONGEST_NOTE - 3]}..."
