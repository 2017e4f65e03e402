"""Cost-sensitive support vector machines tuned for a false alarm rate (Davenport et al., 2010)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC

from ratekeeper._reading._parameters import check_count
from ratekeeper._system._progress import track
from ratekeeper.baselines._splitting import deal_folds
from ratekeeper.baselines._system import System, check_bool, no_promise, one_of, parameter, system

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.pipeline import Pipeline

    from ratekeeper.baselines._system import Floats, Mask, RandomState, Rows
    from ratekeeper.methods import Guarantee

    Place = tuple[int, ...]
    Count = Callable[[Place], tuple[float, float]]  # controlled and other error at a place

_NUS = 0.02, 0.9  # at 1 the two reduced hulls are single points, and nothing is left to choose
_COSTS = 0.1, 1000.0
_LOG_ODDS = 4.0  # of the shares, from 2% to 98%
_WIDTHS = 0.1, 10.0  # of 1 / columns, which is right for columns without relation
_CYCLES = 6


@system
class TwoCostSVM(System):
    """A support vector machine whose two costs keep alpha in cross-validation.

    Both classes have a cost of their own. Over a grid of the costs, and of the kernel's width,
    both errors are cross-validated. Of the settings whose controlled error is at most alpha, the
    one with the smallest other error trains on all rows; if none has it, the one with the
    smallest controlled error.

    Parameters
    ----------
    formulation : {"2nu", "2C"}, default="2nu"
        What the grid is made of. "2nu": for each class an upper bound of its share of training
        rows within the margin, and so of its training error. "2C": the cost of all errors, and
        the share in it that errors of the null class have. Both reach the same machines.
    kernel : {"rbf", "linear"}, default="rbf"
        Gaussian, of which the width is searched for too, or none.
    search : {"coordinate", "grid"}, default="coordinate"
        Line searches along one axis of the grid after the other, until none finds better, or the
        whole grid.
    smooth : bool, default=True
        Average the errors over neighbours in the grid, with weights 1, 2, 1 along each axis that
        was searched, before they are compared.
    levels : int, default=6
        Number of values of each cost.
    widths : int, default=3
        Number of widths of the Gaussian kernel.
    folds : int, default=5
        Folds of the cross-validation, dealt out within each class.
    random_state : int or RandomState, optional
        Seed for the folds.

    Attributes
    ----------
    model_ : Pipeline
        Scales the columns and holds the machine, trained on all rows; its label 1 rejects.
    setting_ : dict of float
        What was chosen: ``nu_null`` and ``nu_other``, or ``C`` and ``null_share``, and ``gamma``.
    errors_ : ndarray of shape (levels, levels, widths, 2)
        Cross-validated controlled and other error, not smoothed; NaN where nothing was tried.

    Notes
    -----
    **Guarantee.** None. The controlled error is estimated on the rows that chose the setting, and
    the smallest of many estimates is too small.

    Of the paper and of the report on the 2nu-SVM we could read the abstracts: the two
    formulations and that they are equivalent, smoothing of cross-validated errors over the
    parameters of the 2nu-SVM, and coordinate descent. The grid, its ends, the window, the start
    in the middle of the grid and the stopping rule are our choice, as are five folds.

    The 2nu-SVM with bounds nu_null and nu_other is scikit-learn's `NuSVC` with their harmonic mean
    as `nu`, and weights of the rows that are inverse to nu times the size of their class. Where
    the reduced convex hulls of the classes meet it has no border, and keeps everything.

    References
    ----------
    M. A. Davenport, R. G. Baraniuk, C. D. Scott, "Tuning support vector machines for minimax and
    Neyman-Pearson classification", IEEE Transactions on Pattern Analysis and Machine
    Intelligence 32, 1888-1898 (2010).

    M. A. Davenport, "The 2nu-SVM: a cost-sensitive extension of the nu-SVM", Rice University,
    report TREE 0504 (2005).

    Examples
    --------
    >>> clf = TwoCostSVM(kernel="linear", levels=4, positive_label=0, random_state=0).fit(X, y)
    >>> bool((clf.predict(X[y == 0]) != 0).mean() <= clf.setting_["nu_null"])
    True
    >>> clf.guarantee.kind
    'none'
    """

    formulation: str = one_of("2nu", "2C")
    kernel: str = one_of("rbf", "linear")
    search: str = one_of("coordinate", "grid")
    smooth: bool = parameter(True, check_bool)  # noqa: FBT003 - it is the default
    levels: int = parameter(6, check_count)
    widths: int = parameter(3, check_count)
    folds: int = parameter(5, partial(check_count, least=2))
    random_state: RandomState = None

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return no_promise(
            "None; the cross-validated rate of the setting chosen is at most alpha, if any is.",
            "new objects: the setting was chosen among many by the rows that estimate its rate.",
        )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        self.n_training_ = len(X)
        axes = grid_axes(self.formulation, self.kernel, self.levels, self.widths, X.shape[1])
        fold = deal_folds(is_null, self.folds, rng)
        sizes = tuple(len(values) for values in axes.values())
        self.errors_ = np.full((*sizes, 2), np.nan)

        def count(place: Place) -> tuple[float, float]:
            if np.isnan(self.errors_[place]).any():
                self.errors_[place] = self._cross_validate(X, is_null, fold, _at(axes, place))
            null, other = self.errors_[place].tolist()
            return null, other

        find = search_grid if self.search == "grid" else descend
        self.setting_ = _at(axes, find(count, sizes, self.alpha, smooth=self.smooth))
        self.model_ = train_machine(X, is_null, self.setting_, self.kernel)

    def _cross_validate(
        self,
        X: Floats,
        is_null: Mask,
        fold: Rows,
        setting: dict[str, float],
    ) -> tuple[float, float]:
        """Return both errors of the machines of the folds, on the rows that they did not see."""
        rejected = np.zeros(len(X), dtype=bool)
        for part in track(range(self.folds), "cross-validating"):
            out = fold == part
            if not out.any():
                continue
            within = is_null[~out]
            if within.all() or not within.any():  # one class, to which all go
                rejected[out] = not within.any()
            else:
                model = train_machine(X[~out], within, setting, self.kernel)
                rejected[out] = _margins(model, X[out]) > 0
        return float(rejected[is_null].mean()), float(1 - rejected[~is_null].mean())

    def _evidence(self, X: Floats) -> Floats:
        return _margins(self.model_, X)


def grid_axes(
    formulation: str, kernel: str, levels: int, widths: int, columns: int
) -> dict[str, Floats]:
    """Return the values of each parameter that are searched.

    Examples
    --------
    >>> list(grid_axes("2C", "linear", 3, 3, 5))
    ['C', 'null_share', 'gamma']
    """
    if formulation == "2nu":
        axes = dict.fromkeys(("nu_null", "nu_other"), np.geomspace(*_NUS, levels))
    else:
        odds = np.linspace(-_LOG_ODDS, _LOG_ODDS, levels)
        axes = {"C": np.geomspace(*_COSTS, levels), "null_share": 1 / (1 + np.exp(-odds))}
    scales = np.geomspace(*_WIDTHS, widths) if widths > 1 else np.ones(1)
    axes["gamma"] = scales / columns if kernel == "rbf" else np.ones(1)
    return axes


def train_machine(
    X: Floats, is_null: Mask, setting: dict[str, float], kernel: str
) -> Pipeline | None:
    """Return a machine with this setting, whose label 1 rejects, or None if it has no border.

    Examples
    --------
    >>> X, is_null = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([True, True, False, False])
    >>> setting = {"C": 1.0, "null_share": 0.5, "gamma": 1.0}
    >>> train_machine(X, is_null, setting, "linear").predict(X)
    array([0, 0, 1, 1])
    """
    common = {"kernel": kernel, "gamma": setting["gamma"], "cache_size": 500}
    if "C" in setting:
        machine = SVC(C=setting["C"], **common)
        weights = np.where(is_null, setting["null_share"], 1 - setting["null_share"])
    else:
        nu_null, nu_other = setting["nu_null"], setting["nu_other"]
        machine = NuSVC(nu=2 / (1 / nu_null + 1 / nu_other), **common)
        weights = np.where(
            is_null, 1 / (nu_null * is_null.sum()), 1 / (nu_other * (~is_null).sum())
        )
        weights /= weights.mean()  # the solver's tolerance is for coefficients around 1
    model = make_pipeline(StandardScaler(), machine)
    try:
        return model.fit(
            X, (~is_null).astype(int), **{f"{model.steps[-1][0]}__sample_weight": weights}
        )
    except ValueError as error:
        if "not finite" not in str(error):
            raise
        return None


def _margins(model: Pipeline | None, X: Floats) -> Floats:
    """Return values above 0 for rows to reject; none is without a border."""
    if model is None:
        return np.full(len(X), -1.0)
    return np.asarray(np.nan_to_num(model.decision_function(X)))


def _at(axes: dict[str, Floats], place: Place) -> dict[str, float]:
    pairs = zip(axes.items(), place, strict=True)
    return {name: float(values[index]) for (name, values), index in pairs}


def search_grid(count: Count, sizes: Place, alpha: float, *, smooth: bool) -> Place:
    """Return the best place of the whole grid.

    Examples
    --------
    >>> search_grid(lambda place: (place[0] / 10, place[1] / 10), (5, 3), 0.2, smooth=False)
    (0, 0)
    """
    errors = np.array([count(place) for place in np.ndindex(sizes)]).reshape(*sizes, 2)
    for axis in range(len(sizes)) if smooth else ():
        errors = smoothed(errors, axis)
    return tuple(int(index) for index in np.unravel_index(best(errors, alpha), sizes))


def descend(count: Count, sizes: Place, alpha: float, *, smooth: bool) -> Place:
    """Return the place at which no line search along an axis finds better.

    Examples
    --------
    >>> descend(lambda place: (place[0] / 10, place[1] / 10), (5, 3), 0.2, smooth=False)
    (0, 0)
    """
    place = tuple(size // 2 for size in sizes)
    for _ in range(_CYCLES):
        before = place
        for axis, size in enumerate(sizes):
            line = [(*place[:axis], index, *place[axis + 1 :]) for index in range(size)]
            errors = np.array([count(at) for at in line])
            place = line[best(smoothed(errors, 0) if smooth else errors, alpha)]
        if place == before:
            break
    return place


def smoothed(errors: Floats, axis: int) -> Floats:
    """Return errors averaged along an axis, neighbours half as heavy as a place itself.

    Examples
    --------
    >>> smoothed(np.array([0.0, 0.0, 0.4, 0.0]), 0).round(3)
    array([0.   , 0.1  , 0.2  , 0.133])
    """
    n = errors.shape[axis]
    window = 2 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)
    window /= window.sum(axis=1, keepdims=True)
    return np.moveaxis(np.tensordot(window, errors, axes=(1, axis)), 0, axis)


def best(errors: Floats, alpha: float) -> int:
    """Return which pair keeps alpha with the least other error, or comes nearest to keeping it.

    Examples
    --------
    >>> best(np.array([[0.01, 0.5], [0.04, 0.2], [0.06, 0.1]]), 0.05)
    1
    """
    null, other = errors.reshape(-1, 2).T
    # Rounding of averages must not decide whether alpha is kept.
    excess = np.where(null <= alpha + 1e-12, 0.0, null)
    return int(np.lexsort((null, other, excess))[0])
