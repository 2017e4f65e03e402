"""Run many systems on the same repeated splits of one data set."""

from __future__ import annotations

import hashlib
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from sklearn.base import BaseEstimator, clone

from ratekeeper._comparison.checkpoint import Journal
from ratekeeper._comparison.claim import Claim
from ratekeeper._comparison.processes import run_in_processes
from ratekeeper._comparison.result import Comparison
from ratekeeper._comparison.summary import summarise
from ratekeeper._comparison.systems import Entry, Setting, choose
from ratekeeper._comparison.table_file import Table, encode
from ratekeeper._comparison.trial import Problem, run_trial
from ratekeeper._formatting import plain_value, show
from ratekeeper._inputs import same_length
from ratekeeper._progress import track
from ratekeeper._targets import read_target
from ratekeeper._validation import check_count, check_probability, check_seed, null_class_of
from ratekeeper._version import __version__
from ratekeeper.baselines._inner import fresh
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods import Guarantee

if TYPE_CHECKING:
    import os
    from collections.abc import Generator, Iterable, Mapping
    from contextlib import AbstractContextManager

    from numpy.typing import ArrayLike

    from ratekeeper._comparison.trial import Trial
    from ratekeeper._targets import Target

    Task = tuple[Entry, str, int]

_MOST_TRIALS = 1_000_000
_MOST_JOBS = 1_000


def compare(  # noqa: PLR0913 - every option has its name
    X: Any,  # noqa: ANN401 - an array or a data frame
    y: ArrayLike,
    *,
    control: str,
    alpha: float,
    systems: Iterable[str] | Mapping[str, BaseEstimator] | None = None,
    estimator: BaseEstimator | None = None,
    delta: float = 0.05,
    repeats: int = 20,
    test_size: float = 0.3,
    train_size: float = 1.0,
    positive_label: object = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Compare systems on repeated random splits: who keeps the rate, and who pays how much.

    Parameters
    ----------
    X : array-like or data frame of shape (n_objects, n_features)
        Objects. Columns of text become one column per level, and missing numbers the median
        of their column; the result says so.
    y : array-like of shape (n_objects,)
        Labels of two kinds.
    control : {"fnr", "fpr"}
        Which error rate is to be kept.
    alpha : float
        At which level.
    systems : list of str or dict, optional
        Names from `SYSTEMS`, or unfitted classifiers by name, which then have to know `control`
        and `alpha` themselves. All of `SYSTEMS` by default.
    estimator : classifier, optional
        What scores, in every system that takes one: by default logistic regression on scaled
        columns.
    delta : float, default=0.05
        Probability that a high-probability promise fails, for systems that make one.
    repeats : int, default=20
        Number of random splits, the same for all systems.
    test_size, train_size : float, default=0.3 and 1.0
        Share of each class that only counts errors, and share that a system is given at most; it
        splits that further as it needs.
    positive_label : object, optional
        Which label is positive, by default the last in order; for two words a warning says which.
    random_state : int, default=0
        Seed. Everything but the times is the same for the same seed, whatever `n_jobs`.
    n_jobs : int, optional
        Number of processes, by default one for each core; so is -1.
    checkpoint : path-like, optional
        File that keeps every finished trial. Called again with the same data and options, the
        comparison goes on where it stopped; more repeats or more systems add to it. One
        comparison at a time can use it.

    Returns
    -------
    Comparison
        One row per system; it prints, and writes CSV, Markdown and a picture.

    Notes
    -----
    What is counted on test objects scatters around the true rate. The column "above" takes it as
    it is, "clearly above" only where its exact one-sided 95% limit is above alpha: a true rate of
    alpha comes to 5% at most. A marginal promise is about the mean, so "above" does not break it.

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
    model = fresh(estimator)
    repeats = check_count(repeats, "repeats")
    seed = check_seed(random_state, "random_state")
    table = encode(X)
    target = read_target(y, positive_label)
    same_length("y", target.labels.size, len(table.X))
    _refuse_single(target)
    # The positive label is settled here, and told to every system, so that none settles it again.
    setting = Setting(control, level, risk, model, target.positive)
    problem = Problem(
        X=table.X,
        labels=target.labels,
        is_positive=target.is_positive,
        control=control,
        train_size=_share(train_size, "train_size"),
        test_size=check_probability(test_size, "test_size"),
        seed=seed,
    )
    entries = choose(systems)
    as_asked = replace(setting, positive_label=positive_label)
    made = {entry.name: _fingerprint(entry.build(as_asked)) for entry in entries}
    _refuse_endless(repeats, len(entries))
    wanted = {(name, text, i) for name, text in made.items() for i in range(repeats)}
    jobs = _jobs(n_jobs)
    with _claimed(checkpoint) as claim:
        journal = Journal(claim, _about(problem, setting), wanted, problem.tested)
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
                f"The label {show(label)} occurs {n:,} time(s) among {is_class.size:,} objects; at "
                "least 2 of each class are needed, one to train and one to test.",
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


def _about(problem: Problem, setting: Setting) -> dict[str, Any]:
    """Say what trials must have in common to be counted together."""
    data = hashlib.sha256(np.ascontiguousarray(problem.X).data)
    data.update(np.ascontiguousarray(problem.is_positive).data)
    return {
        "version": __version__,
        "data": data.hexdigest()[:16],
        "control": setting.control,
        "alpha": setting.alpha,
        "train_size": problem.train_size,
        "test_size": problem.test_size,
        "seed": problem.seed,
    }


def _fingerprint(system: BaseEstimator) -> str:
    """Return a short text that differs when a system is made differently."""
    params = system.get_params(deep=True) if hasattr(system, "get_params") else {}
    plain = {
        name: type(value).__name__ if isinstance(value, BaseEstimator) else repr(value)
        for name, value in params.items()
    }
    text = repr((type(system).__name__, sorted(plain.items())))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


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


def _seeded(entry: Entry, setting: Setting, problem: Problem, repeat: int) -> BaseEstimator:
    """Return the system with every random part seeded by data seed, repeat and its own name."""
    system = clone(entry.build(setting))
    rng = np.random.default_rng([problem.seed, repeat, crc32(entry.name.encode())])
    seeds = {
        name: int(rng.integers(2**31))
        for name, value in sorted(system.get_params(deep=True).items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return system.set_params(**seeds)


def _result(
    table: Table, problem: Problem, setting: Setting, entries: list[Entry], trials: list[Trial]
) -> Comparison:
    order = {entry.name: i for i, entry in enumerate(entries)}
    trials.sort(key=lambda trial: (order[trial.system], trial.repeat))
    rows = tuple(
        summarise(
            [trial for trial in trials if trial.system == entry.name],
            system=entry.name,
            family=entry.family,
            guarantee=_guarantee(entry.build(setting)),
            alpha=setting.alpha,
        )
        for entry in entries
    )
    train, test = problem.split(0)
    return Comparison(
        control=setting.control,
        alpha=setting.alpha,
        delta=setting.delta,
        n_objects=len(problem.X),
        n_features=problem.X.shape[1],
        n_positive=int(problem.is_positive.sum()),
        positive=plain_value(problem.labels[problem.is_positive][0]),
        n_given=train.size,
        n_test=test.size,
        rows=rows,
        trials=tuple(trials),
        notes=table.notes,
    )


def _guarantee(system: BaseEstimator) -> Guarantee | None:
    """Return what a system promises in words that we know; a foreign attribute is none."""
    guarantee = getattr(system, "guarantee", None)
    return guarantee if isinstance(guarantee, Guarantee) else None
