"""The systems that can be compared by name: ours first, then each family of rivals."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from ratekeeper import baselines
from ratekeeper._comparison.ours import BothRates
from ratekeeper._estimators import ErrorRateController
from ratekeeper._formatting import show
from ratekeeper._validation import LONGEST_NAME
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods import Conformal, Empirical, HighProbability

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.base import BaseEstimator

    from ratekeeper.methods import Method


@dataclass(frozen=True)
class Setting:
    """What every system is told."""

    control: str
    alpha: float
    delta: float
    estimator: BaseEstimator
    positive_label: object


@dataclass(frozen=True)
class Entry:
    """A system in the list: its name, its family, and how it is made."""

    name: str
    family: str
    build: Callable[[Setting], BaseEstimator]


def _ours(
    method: Method | type[HighProbability],
    **options: Any,  # noqa: ANN401 - of the controller
) -> Callable[[Setting], BaseEstimator]:
    def build(setting: Setting) -> BaseEstimator:
        chosen = HighProbability(setting.delta) if isinstance(method, type) else method
        return ErrorRateController(
            setting.estimator,
            control=setting.control,
            alpha=setting.alpha,
            method=chosen,
            positive_label=setting.positive_label,
            **options,
        )

    return build


def _both(setting: Setting) -> BaseEstimator:
    return BothRates(setting.estimator, alpha=setting.alpha, positive_label=setting.positive_label)


def _rival(name: str, **options: Any) -> Callable[[Setting], BaseEstimator]:  # noqa: ANN401
    """Return a builder that passes on what the system takes of the setting."""

    def build(setting: Setting) -> BaseEstimator:
        kind = getattr(baselines, name)
        takes = inspect.signature(kind).parameters
        told = {word: getattr(setting, word) for word in vars(setting) if word in takes}
        return kind(**{**told, **options})

    return build


def _inside(name: str, **options: Any) -> Callable[[Setting], BaseEstimator]:  # noqa: ANN401
    """Return a builder of our test on the score of a rival that promises nothing itself."""

    def build(setting: Setting) -> BaseEstimator:
        return ErrorRateController(
            _rival(name, **options)(setting),
            control=setting.control,
            alpha=setting.alpha,
            method=Conformal(),
            positive_label=setting.positive_label,
            calibration_size=0.5,
        )

    return build


_OURS, _COST, _NP = "ratekeeper", "cost-sensitive", "Neyman-Pearson"
_CROSS, _TYPICAL, _PROXY, _MODERN = "cross-validated", "typicality", "test as proxy", "modern"

_ENTRIES = (
    Entry("conformal", _OURS, _ours(Conformal(), calibration_size=0.5)),
    Entry("high-probability", _OURS, _ours(HighProbability, calibration_size=0.5)),
    Entry("conformal-cross-fit", _OURS, _ours(Conformal(), strategy="cross-fit")),
    Entry("both-rates", _OURS, _both),
    Entry("paper-plain", _OURS, _ours(Empirical(), calibration_size=0.5)),
    Entry("elkan", _COST, _rival("ElkanThreshold")),
    Entry("cost-weighting", _COST, _rival("CostWeighting")),
    Entry("costing", _COST, _rival("Costing")),
    Entry("metacost", _COST, _rival("MetaCost")),
    Entry("cost-thresholding", _COST, _rival("CostThresholding")),
    Entry("cost-tree", _COST, _rival("CostTree")),
    Entry("np-threshold", _NP, _rival("ConstrainedThreshold")),
    Entry("np-multiplier", _NP, _rival("MultiplierSearch")),
    Entry("np-aggregation", _NP, _rival("ConvexAggregation")),
    Entry("np-plug-in", _NP, _rival("PlugInNP")),
    Entry("nsn2", _NP, _rival("NSN2")),
    Entry("np-lda", _NP, _rival("NPLDA")),
    Entry("normal-tolerance", _NP, _rival("NormalTolerance")),
    Entry("umbrella", _NP, _rival("Umbrella")),
    Entry("umbrella-vote", _NP, _rival("Umbrella", splits=11)),
    Entry("cv-refit", _CROSS, _rival("CrossValidatedRefit")),
    Entry("cv-lda", _CROSS, _rival("CrossValidatedLDA")),
    Entry("cv-lda-replaced", _CROSS, _rival("CrossValidatedLDA", form="replaced")),
    Entry("cv-knn", _CROSS, _rival("CrossValidatedNeighbours", weights="uniform")),
    Entry("cv-weighted-nn", _CROSS, _rival("CrossValidatedNeighbours", weights="linear")),
    Entry("typicality-pooled", _TYPICAL, _rival("GaussianTypicality")),
    Entry("typicality-class", _TYPICAL, _rival("GaussianTypicality", covariance="class")),
    Entry("typicality-chi2", _TYPICAL, _rival("GaussianTypicality", reference="chi2")),
    Entry("typicality-density", _TYPICAL, _rival("DensityTypicality")),
    Entry("liao-akritas-t", _PROXY, _rival("LiaoAkritas")),
    Entry("liao-akritas-welch", _PROXY, _rival("LiaoAkritas", test="welch")),
    Entry("liao-akritas-rank", _PROXY, _rival("LiaoAkritas", test="rank")),
    Entry("distance-rank-sum", _PROXY, _rival("DistanceRankSum")),
    Entry("interpoint-minimum", _PROXY, _rival("InterpointMinimum")),
    Entry("interpoint-average", _PROXY, _rival("InterpointAverage")),
    Entry("rank-sum-conformal", _PROXY, _inside("DistanceRankSum")),
    Entry("learn-then-test", _MODERN, _rival("LearnThenTest")),
    Entry("conformal-risk", _MODERN, _rival("ConformalRiskControl")),
    Entry("tuned-threshold", _MODERN, _rival("TunedThreshold")),
    Entry("plain", _MODERN, lambda setting: setting.estimator),
)
SYSTEMS: dict[str, str] = {entry.name: entry.family for entry in _ENTRIES}
"""Names of all systems that can be compared, with their families."""


def choose(systems: Iterable[str] | Mapping[str, BaseEstimator] | None) -> list[Entry]:
    """Return the systems asked for, by name or as classifiers of the user's own.

    Examples
    --------
    >>> [entry.name for entry in choose(["umbrella", "conformal"])]
    ['umbrella', 'conformal']
    """
    if systems is None:
        return list(_ENTRIES)
    if isinstance(systems, Mapping):
        entries = [_own(name, system) for name, system in systems.items()]
    elif isinstance(systems, Iterable):
        names: list[Any] = [systems] if isinstance(systems, str) else list(systems)
        entries = list({entry.name: entry for entry in map(_known, names)}.values())
    else:
        raise InputError(parameter="systems", value=systems, need="a list of names, or a dict")
    if not entries:
        raise InputError(parameter="systems", value=systems, need="at least one name, or left out")
    return entries


def _known(name: object) -> Entry:
    """Return a system of ours by its name."""
    for entry in _ENTRIES:
        if entry.name == name:
            return entry
    raise InputError(
        (Parameter("systems"), f" has {show(name)}, which is not a known name."),
        parameter="systems",
        value=name,
        remedy=f"Known names are {', '.join(SYSTEMS)}.",
    )


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name.isprintable() and len(name) <= LONGEST_NAME


def _own(name: str, system: BaseEstimator) -> Entry:
    """Return a system of the user's own."""
    if not _is_name(name):
        one_line = f"texts of one line, of at most {LONGEST_NAME} characters"
        raise InputError(
            (Parameter("systems"), f" has the key {show(name)}, and names are {one_line}."),
            parameter="systems",
            value=name,
        )
    known = all(hasattr(system, word) for word in ("fit", "predict", "get_params"))
    if isinstance(system, type) or not known:
        raise InputError(
            f"systems[{name!r}]={show(system)} is no scikit-learn classifier.",
            parameter="systems",
            value=system,
            remedy="Pass an object with fit, predict and get_params.",
        )
    try:
        clone(system)
    except (RuntimeError, TypeError) as error:
        raise InputError(
            f"systems[{name!r}] cannot be cloned: {error}.",
            parameter="systems",
            value=system,
            remedy="A constructor may only assign its parameters.",
        ) from error
    return Entry(name, "given", lambda _setting: system)
