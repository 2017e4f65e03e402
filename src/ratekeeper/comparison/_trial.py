"""One system on one split: train, judge, count, and take the time."""

from __future__ import annotations

import inspect
import math
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._rates import Rate
from ratekeeper._reading._parameters import null_class_of
from ratekeeper._system._progress import silence
from ratekeeper._wording._formatting import escape_controls, format_value
from ratekeeper.calibration._row_splits import take
from ratekeeper.comparison._own_systems import fresh_copy, read_decisions, read_predictions
from ratekeeper.control._both_rates import AbstainingTest
from ratekeeper.control._error_rate import ErrorRateTest
from ratekeeper.exceptions import InputError, PositiveLabelWarning, TooFewScoresError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.comparison._splits import Splits

    Mask = NDArray[np.bool_]
    Rows = NDArray[np.intp]

LARGEST = 1e300  # of metrics; means of larger ones could be infinite
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
    threshold_rank : int or None
        The threshold is the k-th most extreme of `null_scores`, where that is known: then
        the distribution of the errors is known, too.
    metrics : tuple of (str, float or None)
        What the user's own metrics are; None where one failed.
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
    threshold_rank: int | None = None
    metrics: tuple[tuple[str, float | None], ...] = ()

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
    """The data set, and what is asked of it.

    Attributes
    ----------
    X : ndarray
        The rows as numbers, for systems of ours.
    given : array or data frame
        The rows as they came, for systems of the user's own.
    own : frozenset of str
        Names of the latter.
    labels, is_positive : ndarray
        The classes.
    control : {"fnr", "fpr"}
        Which rate is controlled.
    splits : RandomSplits or GivenSplits
        Which rows train and which test.
    groups : ndarray of int or None
        Rows that belong together.
    metrics : dict of functions
        What else is to be counted.
    """

    X: Floats
    given: Any
    own: frozenset[str]
    labels: NDArray[Any]
    is_positive: Mask
    control: str
    splits: Splits
    groups: Rows | None = None
    metrics: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    @property
    def is_null(self) -> Mask:
        """Where the error is controlled."""
        return np.asarray(self.is_positive == (self.control == "fnr"))

    def rows_for(self, name: str, rows: Rows) -> Any:  # noqa: ANN401 - as it came
        """Return some rows in the form that a system takes."""
        return take(self.given, rows) if name in self.own else self.X[rows]


def run_trial(problem: Problem, name: str, made: str, system: Any, repeat: int) -> Trial:  # noqa: ANN401
    """Train and judge on one split. What a system refuses, or trips over, becomes a note."""
    train, test = problem.splits.split(repeat)
    with warnings.catch_warnings(record=True) as caught, silence():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", PositiveLabelWarning)  # `compare` has said it once
        try:
            counted = _train_and_count(problem, name, fresh_copy(system), train, test)
        except Exception as error:  # noqa: BLE001 - one system must not end the others' run
            return Trial(name, made, repeat, refusal=_reason(error))
    warning = one_sentence(str(caught[0].message)) if caught else None
    return Trial(name, made, repeat, warning=warning, **counted)


def _train_and_count(
    problem: Problem,
    name: str,
    system: Any,  # noqa: ANN401 - of any class
    train: Rows,
    test: Rows,
) -> dict[str, Any]:
    X_train, X_test = (problem.rows_for(name, rows) for rows in (train, test))
    start = time.perf_counter()
    fitted = system.fit(X_train, problem.labels[train], **_clusters(system, problem, train))
    system = system if fitted is None else fitted
    learned = time.perf_counter()
    predicted, wrong, abstained = _judge(system, problem, X_test, test)
    judged = time.perf_counter()
    is_null = problem.is_null[test]
    n, rank = _law(system, problem.control)
    return {
        "target_errors": int(np.count_nonzero(wrong & is_null)),
        "target_n": int(np.count_nonzero(is_null)),
        "other_errors": int(np.count_nonzero(wrong & ~is_null)),
        "other_n": int(np.count_nonzero(~is_null)),
        "abstained": int(np.count_nonzero(abstained)),
        "training_rows": _training_rows(system, train.size),
        "null_scores": n,
        "threshold_rank": rank,
        "fit_seconds": learned - start,
        "judge_seconds": judged - learned,
        "metrics": _measured(problem, predicted, test),
    }


def _clusters(system: Any, problem: Problem, rows: Rows) -> dict[str, Any]:  # noqa: ANN401
    """Return the groups of the rows, for a system whose fit takes them under some name."""
    if problem.groups is None:
        return {}
    if getattr(system, "strategy", "split") != "split":  # our own, which refuses clusters then
        return {}
    takes = inspect.signature(system.fit).parameters
    # Our own tests call them clusters; their groups have a threshold each.
    words = [word for word in ("clusters", "groups") if word in takes]
    return {words[0]: problem.groups[rows]} if words else {}


def _training_rows(system: Any, given: int) -> int:  # noqa: ANN401
    n = int(getattr(system, "n_training_", given))
    if not 0 <= n <= MOST:
        raise InputError(f"n_training_ is {format_value(n)}, which is no number of rows.")
    return n


def _law(system: Any, control: str) -> tuple[int | None, int | None]:  # noqa: ANN401
    """Return how many scores of the null class were held out, and which of them is the threshold.

    A system may say so by ``threshold_rank_ = (k, n)``.
    """
    stated = getattr(system, "threshold_rank_", None)
    if stated is not None:
        k, n = (int(number) for number in stated)
        if not 1 <= k <= n <= MOST:
            raise InputError(f"threshold_rank_ is {format_value(stated)}, and needs 1 <= k <= n.")
        return n, k
    test = getattr(system, "test_", None)
    if not isinstance(test, ErrorRateTest | AbstainingTest):
        return None, None
    n = sum(cell.size for cell in test.calibration.cells[null_class_of(control)])
    law = test.certificate.cells[0].realised if isinstance(test, ErrorRateTest) else None
    return n, None if law is None or law.n != n else law.k


def _judge(
    system: Any,  # noqa: ANN401
    problem: Problem,
    X: Any,  # noqa: ANN401
    rows: Rows,
) -> tuple[NDArray[Any], Mask, Mask]:
    """Return the predicted labels, where they are wrong and where there are none."""
    labels, truth = problem.labels[rows], problem.is_positive[rows]
    if hasattr(system, "decide"):
        positive, abstained, neither = read_decisions(system.decide(X), rows.size)
        # Neither class, where both rates are kept, breaks the promise about either.
        wrong = (truth != positive) | neither
        negative, called = (problem.labels[np.argmax(problem.is_positive == c)] for c in (0, 1))
        predicted = np.where(positive, called, negative)
        abstained_or_neither = abstained | neither
    else:
        predicted, abstained = read_predictions(
            system.predict(X), rows.size, problem.labels, getattr(system, "undecided", None)
        )
        if hasattr(system, "is_outlier"):
            abstained = abstained | system.is_outlier(X)
        wrong = np.asarray(predicted != labels)
        abstained_or_neither = abstained
    if abstained_or_neither.any():
        predicted = predicted.astype(object)
        predicted[abstained_or_neither] = None
    return predicted, wrong & ~abstained, abstained


def _measured(
    problem: Problem, predicted: NDArray[Any], rows: Rows
) -> tuple[tuple[str, float | None], ...]:
    """Return the user's own metrics; one that fails is missing, and warns."""
    found: list[tuple[str, float | None]] = []
    for name, metric in problem.metrics.items():
        beside = {"rows": rows} if "rows" in _words_of(metric) else {}
        try:
            value = float(metric(problem.labels[rows], predicted, **beside))
        except Exception as error:  # noqa: BLE001 - one metric must not end the others' run
            warnings.warn(f"{name} failed: {type(error).__name__}: {error}", stacklevel=2)
            value = math.nan
        found.append((name, value if abs(value) < LARGEST else None))
    return tuple(found)


def _words_of(function: Callable[..., Any]) -> Mapping[str, object]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # such as some built-in functions
        return {}


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
    line = escape_controls(line if end < 0 else line[: end + 1])
    return line if len(line) <= _LONGEST_NOTE else f"{line[: _LONGEST_NOTE - 3]}..."
