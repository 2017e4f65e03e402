"""Run many systems on the same repeated splits of one data set."""

from __future__ import annotations

import hashlib
from contextlib import closing, nullcontext
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from ratekeeper._reading._columns import read_groups, same_length
from ratekeeper._reading._parameters import (
    check_control,
    check_count,
    check_probability,
    check_seed,
    null_class_of,
)
from ratekeeper._system._progress import track
from ratekeeper._version import __version__
from ratekeeper._wording._formatting import format_value, plain_value
from ratekeeper.baselines._inner import fresh
from ratekeeper.calibration._positive_label import read_target
from ratekeeper.comparison._checkpoint import Journal
from ratekeeper.comparison._claim import Claim
from ratekeeper.comparison._fingerprint import fingerprint
from ratekeeper.comparison._own_systems import check_name, promised, seeded
from ratekeeper.comparison._processes import run_in_processes
from ratekeeper.comparison._result import Comparison
from ratekeeper.comparison._splits import RandomSplits, counter, digest, read_splits
from ratekeeper.comparison._summary import Summary, summarise
from ratekeeper.comparison._systems import Entry, Setting, choose
from ratekeeper.comparison._table_file import Table, encode, is_frame, shape_of
from ratekeeper.comparison._trial import Problem, Trial, run_trial
from ratekeeper.comparison._verdict import judged
from ratekeeper.control._promised_rate import warn_if_unusual
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator, Iterable, Mapping
    from contextlib import AbstractContextManager

    from numpy.typing import ArrayLike, NDArray
    from sklearn.base import BaseEstimator

    from ratekeeper.calibration._positive_label import Target
    from ratekeeper.comparison._splits import Splits
    from ratekeeper.comparison._systems import Asked

    Task = tuple[Entry, str, int]

_MOST_TRIALS = 1_000_000
_MOST_JOBS = 1_000


def compare(  # noqa: PLR0913 - every option has its name
    X: Any,  # noqa: ANN401 - an array or a data frame
    y: ArrayLike,
    *,
    control: str,
    alpha: float,
    systems: Asked = None,
    exclude: Iterable[str] | str = (),
    estimator: BaseEstimator | None = None,
    delta: float = 0.05,
    repeats: int | None = None,
    test_size: float | None = None,
    train_size: float | None = None,
    splits: Any = None,  # noqa: ANN401 - pairs, or a splitter
    groups: ArrayLike | None = None,
    metrics: Mapping[str, Callable[..., Any]] | None = None,
    positive_label: object = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Compare systems on the same splits of a data set: who keeps the rate, and at what price.

    Parameters
    ----------
    X : array-like or data frame of shape (n_objects, n_features)
        Objects. For systems of ours, columns of text become one column per level, and missing
        numbers the median of their column; the result says so. Systems of your own get the rows
        as they are.
    y : array-like of shape (n_objects,)
        Labels of two kinds.
    control : {"fnr", "fpr"}
        Which error rate is to be kept.
    alpha : float
        At which level.
    systems : str, list of str or dict, optional
        Names of systems or of families; "all"; or "usual", the default, which are those that most
        people weigh. A dict has systems of your own beside names: any object with ``fit(X, y)``
        and ``predict(X)``, or a class or function that makes one. See docs/guides/comparing.md.
    exclude : str or list of str, default=()
        Names of systems or families to leave out.
    estimator : classifier, optional
        What scores, in every system that takes one: by default logistic regression on scaled
        columns.
    delta : float, default=0.05
        Probability that a high-probability promise fails, for systems that make one.
    repeats : int, optional
        Number of random splits, the same for all systems; 20 by default.
    test_size, train_size : float, optional
        Share of each class, or of the groups, that only counts errors, 0.3 by default, and share
        that a system is given at most, by default all others; it splits that further as it needs.
    splits : iterable of (train, test) or splitter, optional
        Splits of your own in place of random ones: pairs of rows, or a splitter of scikit-learn.
    groups : array-like of shape (n_objects,), optional
        Rows that belong together, such as those of one patient: no group is on both sides of a
        split, and systems whose `fit` takes clusters or groups are told.
    metrics : dict of str to function, optional
        What else to count: ``f(y_true, y_pred)``, where `y_pred` has None for abstentions. One that
        takes `rows` is told the places of the test objects.
    positive_label : object, optional
        Which label is positive, by default the last in order; for two words a warning says which.
    random_state : int, default=0
        Seed. Everything but the times is the same for the same seed, whatever `n_jobs`.
    n_jobs : int, optional
        Number of processes, by default one for each core; so is -1.
    checkpoint : path-like, optional
        File that keeps every finished trial. Called again with the same data and options, the
        comparison goes on where it stopped; more repeats or more systems add to it, and a system
        whose parameters or code have changed is run again. One comparison at a time can use it.

    Returns
    -------
    Comparison
        One row per system; it prints, and writes CSV, Markdown and a picture.

    Notes
    -----
    What is counted on test objects scatters around the true rate. The column "above" takes it as
    it is, "clearly above" only where its exact one-sided 95% limit is above alpha: a true rate of
    alpha comes to 5% at most. A marginal promise is about the mean, so "above" does not break it.

    **Verdicts.** `Summary.above_allowed` is the largest share above alpha to be expected if a
    promise holds, and `Summary.p_value` exact or on the safe side. Which rows train and test is the
    chance that it is about: the null is that the promise holds on random splits of these data, of
    which there are as many as are asked for. It is no statement about other data. Over all systems
    together a promise that holds is called exceeded with probability 5% at most (Holm). With
    `groups` there is no p-value, and with `splits` one that holds for every dependence between
    them, so that few splits can never show much.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = rk.compare(
    ...     X, y, control="fnr", alpha=0.05, positive_label=0, repeats=5, n_jobs=1,
    ...     systems=["conformal", "high-probability", "tuned-threshold"],
    ... )
    >>> [row.system for row in result.rows if row.clearly_above > 0.2]
    []
    """
    control = ("fpr", "fnr")[null_class_of(control)]
    level, risk = check_probability(alpha, "alpha"), check_probability(delta, "delta")
    warn_if_unusual(check_control(control), level)
    model = fresh(estimator)
    seed = check_seed(random_state, "random_state")
    entries = choose(systems, exclude)
    table = _table(X, entries)
    target = read_target(y, positive_label)
    same_length("y", target.labels.size, len(table.X))
    _refuse_single(target)
    # The positive label is settled here, and told to every system, so that none settles it again.
    setting = Setting(control, level, risk, model, target.positive)
    index = None if groups is None else read_groups(groups, target.labels.size)[0]
    chosen = _splits(X, target, index, seed, splits, repeats, test_size, train_size)
    repeats = chosen.number
    problem = Problem(
        X=table.X,
        given=table.given,
        own=frozenset(entry.name for entry in entries if entry.own),
        labels=target.labels,
        is_positive=target.is_positive,
        control=control,
        splits=chosen,
        groups=index,
        metrics=_checked_metrics(metrics),
    )
    as_asked = replace(setting, positive_label=positive_label)
    _refuse_endless(repeats, len(entries))
    data = _data_of(table, entries)
    made = {
        entry.name: fingerprint(entry.build(as_asked), problem.metrics, data if entry.own else None)
        for entry in entries
    }
    wanted = {(name, text, i) for name, text in made.items() for i in range(repeats)}
    jobs = _jobs(n_jobs)
    with _claimed(checkpoint) as claim:
        tested = counter(chosen, problem.is_null)
        journal = Journal(claim, _about(problem, setting, seed), wanted, tested, [*problem.metrics])
        tasks = [
            (entry, made[entry.name], repeat)
            for repeat in range(repeats)
            for entry in entries
            if (entry.name, made[entry.name], repeat) not in journal.trials
        ]
        title = f"comparing {len(entries)} systems"
        done = len(journal.trials)
        with closing(_run(problem, setting, tasks, jobs)) as results:
            for trial in track(results, title, len(wanted), done=done):
                journal.add(trial)
    trials = list(journal.trials.values())
    return _result(table, problem, setting, entries, trials)


def _table(X: Any, entries: list[Entry]) -> Table:  # noqa: ANN401
    """Return the rows as numbers, and as they came where a system of the user's own gets them."""
    if all(entry.own for entry in entries) and is_frame(X):
        n, columns = shape_of(X)
        return Table(np.empty((n, 0)), tuple(columns), (), X)
    return encode(X)


def _data_of(table: Table, entries: list[Entry]) -> str | None:
    """Return a hash of rows that are not numbers, of which the journal's header has none."""
    if table.given is table.X or not any(entry.own for entry in entries):
        return None
    from joblib import hash as hashed

    return str(hashed(table.given))


def _splits(
    X: Any,  # noqa: ANN401
    target: Target,
    groups: NDArray[np.intp] | None,
    seed: int,
    splits: Any,  # noqa: ANN401
    repeats: int | None,
    test_size: float | None,
    train_size: float | None,
) -> Splits:
    """Return which rows train and test, drawn or as given."""
    options = {"repeats": repeats, "test_size": test_size, "train_size": train_size}
    if splits is None:
        test = check_probability(0.3 if test_size is None else test_size, "test_size")
        train = 1.0 if train_size is None else _share(train_size, "train_size")
        number = check_count(20 if repeats is None else repeats, "repeats")
        return RandomSplits(target.is_positive, test, train, seed, groups, number)
    for name, value in options.items():
        if value is not None:
            raise InputError(
                (
                    *(Parameter(name, value), " is about random splits, and "),
                    *(Parameter("splits"), " are given."),
                ),
                parameter=name,
                value=value,
                remedy="Leave one of them out.",
            )
    return read_splits(splits, X, target.is_positive, groups, seed)


def _checked_metrics(
    metrics: Mapping[str, Callable[..., Any]] | None,
) -> dict[str, Callable[..., Any]]:
    if metrics is None:
        return {}
    if not hasattr(metrics, "items"):
        raise InputError(parameter="metrics", value=metrics, need="a dict of names and functions")
    taken = {f.name for kind in (Summary, Trial) for f in fields(kind)}
    for name, metric in metrics.items():
        check_name(name, "metrics")
        if name in taken:
            raise InputError(
                (
                    Parameter("metrics"),
                    f" has {format_value(name)}, which is a column of the table.",
                ),
                parameter="metrics",
                value=name,
                remedy="Use another name.",
            )
        if not callable(metric):
            raise InputError(
                f"metrics[{name!r}]={format_value(metric)} is no function.",
                parameter="metrics",
                value=metric,
                remedy="Pass a function of the true and the predicted labels.",
            )
    return dict(metrics)


def _claimed(
    checkpoint: str | os.PathLike[str] | None,
) -> AbstractContextManager[Claim | None]:
    """Hold the journal for this run alone, unless the caller does or there is none."""
    if checkpoint is None or isinstance(checkpoint, Claim):
        return nullcontext(checkpoint)
    return Claim(checkpoint)


def _share(value: object, name: str) -> float:
    if not isinstance(value, float | int) or not 0.0 < value <= 1.0:
        raise InputError(parameter=name, value=value, need="a share above 0, and at most 1")
    return float(value)


def _refuse_single(target: Target) -> None:
    """Refuse a class that cannot both train and test."""
    for label, is_class in (
        (target.positive, target.is_positive),
        (target.negative, ~target.is_positive),
    ):
        n = int(np.count_nonzero(is_class))
        if n < 2:  # noqa: PLR2004 - one to train, one to test
            raise InputError(
                f"The label {format_value(label)} occurs {n:,} time(s) among {is_class.size:,} "
                "objects; at least 2 of each class are needed, one to train and one to test.",
                parameter="y",
                value=label,
                remedy="Add objects of this class.",
            )


def _refuse_endless(repeats: int, systems: int) -> None:
    """Refuse more trials than can be listed."""
    if repeats * systems > _MOST_TRIALS:
        raise InputError(
            f"{repeats:,} repeats of {systems:,} system(s) are {repeats * systems:,} trials; at "
            f"most {_MOST_TRIALS:,} can be run.",
            parameter="repeats",
            value=repeats,
            remedy=("Use fewer ", Parameter("repeats"), " or ", Parameter("systems"), "."),
        )


def _jobs(n_jobs: int | None) -> int:
    if n_jobs is None or n_jobs == -1:
        from joblib import cpu_count

        return int(cpu_count())  # those that this process may use
    return check_count(n_jobs, "n_jobs", most=_MOST_JOBS)


def _about(problem: Problem, setting: Setting, seed: int) -> dict[str, Any]:
    """Say what trials must have in common to be counted together."""
    data = hashlib.sha256(np.ascontiguousarray(problem.X).data)
    data.update(np.ascontiguousarray(problem.is_positive).data)
    grouped = {} if problem.groups is None else {"groups": digest(problem.groups)}
    return {
        "version": __version__,
        "data": data.hexdigest()[:16],
        "control": setting.control,
        "alpha": setting.alpha,
        **problem.splits.about,
        **grouped,
        "seed": seed,
    }


def _run(
    problem: Problem, setting: Setting, tasks: list[Task], jobs: int
) -> Generator[Trial, None, None]:
    """Yield the trials as they are finished, from so many processes."""
    calls = ((entry.name, made, _seeded(entry, setting, problem, i), i) for entry, made, i in tasks)
    number = min(jobs, len(tasks))
    if number > 1:
        yield from run_in_processes(problem, calls, number)
    else:  # a process is not worth its start for one trial
        for call in calls:
            yield run_trial(problem, *call)


def _seeded(entry: Entry, setting: Setting, problem: Problem, repeat: int) -> Any:  # noqa: ANN401
    """Return the system with every random part seeded by data seed, repeat and its own name.

    So neither the other systems nor the number of processes change a result.
    """
    rng = np.random.default_rng([problem.splits.seed, repeat, crc32(entry.name.encode())])
    return seeded(entry.build(setting), rng)


def _result(
    table: Table, problem: Problem, setting: Setting, entries: list[Entry], trials: list[Trial]
) -> Comparison:
    order = {entry.name: i for i, entry in enumerate(entries)}
    trials.sort(key=lambda trial: (order[trial.system], trial.repeat))
    built = {entry.name: entry.build(setting) for entry in entries}
    rows = judged(
        [
            summarise(
                [trial for trial in trials if trial.system == name],
                system=name,
                family=entry.family,
                guarantee=promised(name, built[name]),
                alpha=setting.alpha,
                delta=_delta(name, built[name], setting.delta),
                independent=problem.splits.independent,
                grouped=problem.groups is not None,
            )
            for name, entry in zip(built, entries, strict=True)
        ]
    )
    train, test = problem.splits.split(0)
    return Comparison(
        control=setting.control,
        alpha=setting.alpha,
        delta=setting.delta,
        n_objects=len(problem.X),
        n_features=len(table.columns),
        n_positive=int(problem.is_positive.sum()),
        positive=plain_value(problem.labels[problem.is_positive][0]),
        n_given=train.size,
        n_test=test.size,
        rows=rows,
        trials=tuple(trials),
        notes=table.notes,
    )


def _delta(name: str, system: Any, asked: float) -> float:  # noqa: ANN401
    """Return the probability that a promise fails, which a system of the user's own may have."""
    delta = getattr(system, "delta", None)
    return asked if delta is None else check_probability(delta, f"systems[{name!r}].delta")
