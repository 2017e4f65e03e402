"""Outer approximation splitting for a convex constraint (Barlaud et al., 2015)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ratekeeper._reading._parameters import check_count, check_positive
from ratekeeper.baselines._neyman_pearson.surrogates import LinearSurrogate
from ratekeeper.baselines._system import parameter, system

if TYPE_CHECKING:
    from collections.abc import Callable

    from ratekeeper.baselines._neyman_pearson.surrogates import Risks
    from ratekeeper.baselines._system import Floats, Mask

    Cut = Callable[[Floats], Floats]

_STEP = 1.9  # over the Lipschitz constant of the gradient; convergence needs less than 2
_MOST_CUTS = 100  # in one projection; the next gradient step goes on from there


@system
class ConvexSplitting(LinearSurrogate):
    """A linear rule by gradient steps and projections onto the constraint of the null class.

    The mean loss of the other class on all training rows is minimised, subject to the mean loss of
    the null class being at most alpha and to a limit on the sum of absolute coefficients. Each
    gradient step is followed by a projection onto what is allowed, which is reached from outside:
    by projections onto two half-spaces, one tangent to a broken constraint, the other through the
    last point.

    Parameters
    ----------
    radius : float or None, default=10.0
        Largest sum of absolute coefficients, for scaled columns. None for no limit.
    steps : int, default=300
        Number of gradient steps, at most.
    tolerance : float, default=1e-6
        It ends when a step moves the coefficients by less, relative to their norm.

    Attributes
    ----------
    n_steps_ : int
        Gradient steps taken.

    Notes
    -----
    **Guarantee.** None for new objects. On the training rows the rate is at most alpha, since the
    loss is at least 1 for each error; as it is not 0 for right decisions, the rate there is mostly
    well below alpha.

    Of the paper we could read the abstract, which describes the method as above, for convex
    losses: a gradient step, and a projection by outer approximation with the intersection of two
    half-spaces. The rule for that intersection is that of Haugazeau, as in Combettes' papers. The
    limit on the coefficients is not in the abstract, nor are losses, step length and stopping
    rule; these are our choice. Where both constraints are broken, the one that is farther away
    gives the half-space. A projection takes at most 100 of them, and is the more exact the more
    gradient steps were taken. In the end the coefficients are brought to the radius, and the
    intercept is lowered by what is left above alpha. With few steps the result may be far from
    optimal: `ConvexNP` solves to the end.

    References
    ----------
    M. Barlaud, W. Belhajali, P. L. Combettes, L. Fillatre, "Constrained convex Neyman-Pearson
    classification using an outer approximation splitting method", arXiv:1506.02196 (2015).

    Y. Haugazeau, "Sur les inequations variationnelles et la minimisation de fonctionnelles
    convexes", thesis, Universite de Paris (1968).

    Examples
    --------
    >>> clf = ConvexSplitting(alpha=0.05, positive_label=0).fit(X, y)
    >>> bool((clf.predict(X[y == 0]) != 0).mean() <= clf.null_risk_ <= 0.05)
    True
    >>> bool(abs(clf.coef_).sum() < 10 + 1e-9)
    True
    """

    radius: float | None = parameter(
        10.0,
        lambda value, name: value is None or check_positive(value, name, or_else="or None for any"),
    )
    steps: int = parameter(300, check_count)
    tolerance: float = parameter(
        1e-6, partial(check_positive, or_else="small against 1, such as 1e-6")
    )

    def _learn(self, X: Floats, is_null: Mask, rng: np.random.RandomState) -> None:
        del rng  # nothing here is random
        risks = self._risks(X, is_null)
        self.n_steps_, vector = split(risks, self.alpha, self.radius, self.steps, self.tolerance)
        self._keep(risks, vector)


def split(
    risks: Risks, allowed: float, radius: float | None, steps: int, tolerance: float
) -> tuple[int, Floats]:
    """Return the number of gradient steps taken, and the vector they led to.

    Examples
    --------
    >>> from ratekeeper.baselines._neyman_pearson.surrogates import LOSSES, Risks
    >>> rows = np.array([[0.0, 1.0]])  # no column that tells classes apart, and the intercept
    >>> risks = Risks(rows, rows, LOSSES["squared-hinge"])
    >>> split(risks, 0.25, None, 100, 1e-9)[1].round(3).tolist()
    [0.0, -0.5]
    """

    def to_allowed(vector: Floats) -> Floats:
        risk, slope = risks.of_null(vector)
        return vector - max(risk - allowed, 0.0) / (slope @ slope) * slope

    def to_radius(vector: Floats) -> Floats:
        return np.append(onto_l1_ball(vector[:-1], radius or 0.0), vector[-1])

    cuts: list[Cut] = [to_allowed] if radius is None else [to_radius, to_allowed]
    largest = np.linalg.norm(risks.other, 2) ** 2 / len(risks.other)
    step = _STEP / (risks.loss.bend * largest)
    vector = np.zeros(risks.null.shape[1])
    for done in range(1, steps + 1):
        before, move = vector, step * risks.of_other(vector)[1]
        # Convergence needs errors of projections that have a finite sum.
        vector = project(before - move, cuts, 0.01 * float(np.linalg.norm(move)) / done**2)
        if np.linalg.norm(vector - before) <= tolerance * (1 + np.linalg.norm(before)):
            break
    return done, vector if radius is None else to_radius(vector)


def project(point: Floats, cuts: list[Cut], tolerance: float) -> Floats:
    """Return the nearest point that no cut moves by more than the tolerance.

    A cut moves a point onto a half-space that holds all that its constraint allows. Of several the
    one that moves it farthest is taken.

    Examples
    --------
    >>> unit_ball = lambda x: x / max(1.0, np.linalg.norm(x))
    >>> low = lambda x: np.minimum(x, [np.inf, 0.5])
    >>> project(np.array([0.0, 4.0]), [unit_ball, low], 1e-9)
    array([0. , 0.5])
    """
    at = point
    for _ in range(_MOST_CUTS):
        cut = max((move(at) for move in cuts), key=lambda moved: np.linalg.norm(moved - at))
        if np.linalg.norm(cut - at) <= tolerance:
            break
        at = onto_both(point, at, cut)
    return at


def onto_l1_ball(vector: Floats, radius: float) -> Floats:
    """Return the nearest vector whose absolute values add up to at most the radius.

    Examples
    --------
    >>> onto_l1_ball(np.array([3.0, -2.0, 0.5]), 2.0)
    array([ 1.5, -0.5,  0. ])
    """
    sizes = np.sort(np.abs(vector))[::-1]
    if sizes.sum() <= radius:
        return vector
    # All sizes shrink by the same amount, those that would turn negative to 0.
    shrinkages = (np.cumsum(sizes) - radius) / np.arange(1, sizes.size + 1)
    shrinkage = shrinkages[np.flatnonzero(sizes > shrinkages)[-1]]
    return np.asarray(np.sign(vector) * np.maximum(np.abs(vector) - shrinkage, 0.0))


def onto_both(point: Floats, at: Floats, cut: Floats) -> Floats:
    """Return the projection onto two half-spaces, by Haugazeau's rule.

    They are those whose borders stand in `at` and in `cut`, at right angles to the ways from
    `point` to `at` and from `at` to `cut`.

    Examples
    --------
    >>> onto_both(np.zeros(2), np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    array([1., 1.])
    """
    to_point, to_cut = point - at, at - cut
    turn, far, near = to_point @ to_cut, to_point @ to_point, to_cut @ to_cut
    spread = far * near - turn**2
    if spread <= 1e-14 * far * near:
        return cut
    if turn * near >= spread:
        return np.asarray(point - (1 + turn / near) * to_cut)
    return np.asarray(at + near / spread * (turn * to_point - far * to_cut))
