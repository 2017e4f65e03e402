"""The systems that can be compared by name: ours first, then each family of rivals."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ratekeeper import baselines
from ratekeeper._wording._formatting import did_you_mean, format_value
from ratekeeper._wording._system_names import FAMILIES, USUAL
from ratekeeper.comparison._our_systems import BothRates
from ratekeeper.comparison._own_systems import check_name, made
from ratekeeper.estimators._controller import ErrorRateController
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
    """A system in the list: its name, its family, and how it is made.

    One of the user's own is given the rows as they came, not as numbers.
    """

    name: str
    family: str
    build: Callable[[Setting], BaseEstimator]
    own: bool = False


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


_BUILDERS: dict[str, Callable[[Setting], BaseEstimator]] = {
    "conformal": _ours(Conformal(), calibration_size=0.5),
    "high-probability": _ours(HighProbability, calibration_size=0.5),
    "conformal-cross-fit": _ours(Conformal(), strategy="cross-fit"),
    "both-rates": _both,
    "paper-plain": _ours(Empirical(), calibration_size=0.5),
    "elkan": _rival("ElkanThreshold"),
    "cost-weighting": _rival("CostWeighting"),
    "costing": _rival("Costing"),
    "metacost": _rival("MetaCost"),
    "cost-thresholding": _rival("CostThresholding"),
    "cost-tree": _rival("CostTree"),
    "cost-pruned-tree": _rival("CostPrunedTree"),
    "minimal-cost-tree": _rival("MinimalCostTree"),
    "icet": _rival("ICET"),
    "curtailed-tree": _rival("CurtailedTree"),
    "cost-naive-bayes": _rival("CostNaiveBayes"),
    "minimal-expected-cost": _rival("MinimalExpectedCost"),
    "loss-allocation": _rival("LossAllocation"),
    "np-threshold": _rival("ConstrainedThreshold"),
    "np-multiplier": _rival("MultiplierSearch"),
    "np-aggregation": _rival("ConvexAggregation"),
    "np-plug-in": _rival("PlugInNP"),
    "nsn2": _rival("NSN2"),
    "np-lda": _rival("NPLDA"),
    "normal-tolerance": _rival("NormalTolerance"),
    "umbrella": _rival("Umbrella"),
    "np-svm": _rival("TwoCostSVM"),
    "np-svm-2c": _rival("TwoCostSVM", formulation="2C"),
    "np-convex": _rival("ConvexNP"),
    "np-splitting": _rival("ConvexSplitting"),
    "np-selection": _rival("NPSelection"),
    "np-roc": _rival("NPROCThreshold"),
    "umbrella-vote": _rival("Umbrella", splits=11),
    "cv-refit": _rival("CrossValidatedRefit"),
    "cv-refit-replaced": _rival("CrossValidatedRefit", form="replaced"),
    "cv-lda": _rival("CrossValidatedLDA"),
    "cv-lda-replaced": _rival("CrossValidatedLDA", form="replaced"),
    "cv-knn": _rival("CrossValidatedNeighbours", weights="uniform"),
    "cv-weighted-nn": _rival("CrossValidatedNeighbours", weights="linear"),
    "typicality-pooled": _rival("GaussianTypicality"),
    "typicality-class": _rival("GaussianTypicality", covariance="class"),
    "typicality-chi2": _rival("GaussianTypicality", reference="chi2"),
    "typicality-density": _rival("DensityTypicality"),
    "liao-akritas-t": _rival("LiaoAkritas"),
    "liao-akritas-welch": _rival("LiaoAkritas", test="welch"),
    "liao-akritas-rank": _rival("LiaoAkritas", test="rank"),
    "distance-rank-sum": _rival("DistanceRankSum"),
    "interpoint-minimum": _rival("InterpointMinimum"),
    "interpoint-average": _rival("InterpointAverage"),
    "rank-sum-conformal": _inside("DistanceRankSum"),
    "learn-then-test": _rival("LearnThenTest"),
    "conformal-risk": _rival("ConformalRiskControl"),
    "tuned-threshold": _rival("TunedThreshold"),
    "plain": lambda setting: setting.estimator,
}
_ENTRIES = tuple(
    Entry(name, family, _BUILDERS[name]) for family, names in FAMILIES.items() for name in names
)
SYSTEMS: dict[str, str] = {entry.name: entry.family for entry in _ENTRIES}
"""Names of all systems that can be compared, with their families."""
OWN_FAMILY = "given"
_ALL, _USUAL = "all", "usual"

Asked: TypeAlias = "Iterable[str] | Mapping[str, Any] | str | None"


def choose(systems: Asked, exclude: Iterable[str] | str = ()) -> list[Entry]:
    """Return the systems asked for.

    Parameters
    ----------
    systems : str, list of str, dict or None
        Names of systems or families, "all" or "usual", which is the default; or a dict of systems
        of the user's own, in which a name stands for a system of ours.
    exclude : str or list of str, default=()
        Names of systems or families to leave out.

    Examples
    --------
    >>> [entry.name for entry in choose(["umbrella", "conformal"])]
    ['umbrella', 'conformal']
    >>> len(choose("all")) == len(SYSTEMS), len(choose(None)) == len(USUAL)
    (True, True)
    >>> [entry.name for entry in choose("typicality", exclude="typicality-density")]
    ['typicality-pooled', 'typicality-class', 'typicality-chi2']
    """
    if systems is None:
        systems = _USUAL
    if isinstance(systems, Mapping):
        entries = [entry for name, value in systems.items() for entry in _named(name, value)]
    elif isinstance(systems, Iterable):
        entries = [entry for name in _listed(systems) for entry in _known(name, "systems")]
    else:
        raise InputError(parameter="systems", value=systems, need="a list of names, or a dict")
    if not entries:
        raise InputError(parameter="systems", value=systems, need="at least one name, or left out")
    left_out = {entry.name for name in _listed(exclude) for entry in _known(name, "exclude")}
    found = {entry.name: entry for entry in entries if entry.name not in left_out}
    if not found:
        raise InputError(
            (Parameter("exclude"), " leaves none of the systems asked for."),
            parameter="exclude",
            value=exclude,
            remedy=("Exclude fewer, or ask for more ", Parameter("systems"), "."),
        )
    return list(found.values())


def _listed(names: Iterable[str] | str) -> list[Any]:
    return [names] if isinstance(names, str) else list(names)


def _known(name: object, parameter: str) -> list[Entry]:
    """Return the systems that a word stands for: one, a family, the usual ones or all."""
    if name == _ALL:
        return list(_ENTRIES)
    found = [entry for entry in _ENTRIES if name in (entry.name, entry.family)]
    if name == _USUAL:
        found = [entry for entry in _ENTRIES if entry.name in USUAL]
    if not found:
        words = [*SYSTEMS, *FAMILIES, _ALL, _USUAL]
        raise InputError(
            (Parameter(parameter), f" has {format_value(name)}, which is not a known name."),
            parameter=parameter,
            value=name,
            remedy=f"{_ALL} and {_USUAL} stand for several, and so do the families "
            f"{', '.join(FAMILIES)}; ratekeeper compare --help lists all names."
            f"{did_you_mean(str(name), words)}",
        )
    return found


def _named(name: str, value: Any) -> list[Entry]:  # noqa: ANN401 - a name or an object
    """Return a system under the name that the user gives it."""
    check_name(name)
    if isinstance(value, str):
        entries = _known(value, "systems")
        return [replace(entries[0], name=name)] if len(entries) == 1 else entries
    return [Entry(name, OWN_FAMILY, lambda setting: made(name, value, setting), own=True)]
