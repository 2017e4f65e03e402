"""Scores and labels as users have them, read into a calibration."""

from __future__ import annotations

import warnings
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._draws import Draw
from ratekeeper._numerics._ranks import sorted_parts
from ratekeeper._reading._columns import check_aligned, read_groups, read_scores, refuse_nan
from ratekeeper._reading._hints import by_name, from_model
from ratekeeper._reading._parameters import check_choice
from ratekeeper._wording._formatting import format_value
from ratekeeper.calibration._aligned_columns import split
from ratekeeper.calibration._calibration import Calibration
from ratekeeper.calibration._clusters import read_clusters
from ratekeeper.calibration._copies import CHOICES, without_copies
from ratekeeper.calibration._one_class import read_truth
from ratekeeper.calibration._times import read_times
from ratekeeper.calibration._weights import (
    by_rejection,
    check_bound,
    dropped,
    read_weights,
    refuse_together,
    without_zeros,
)
from ratekeeper.exceptions import InputError, Parameter, ReversedScoreWarning

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Never

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.calibration._merging import Sampling
    from ratekeeper.calibration._provenance import Provenance


@by_name
def calibrate(  # noqa: PLR0913 - each has a name and a default
    scores: ArrayLike,
    labels: ArrayLike | None = None,
    *too_many: Never,
    groups: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    times: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    rejection: float | None = None,
    random_state: int | None = None,
    positive_label: object = None,
    higher_is_positive: bool = True,
    sampling: Sampling = "population",
    one_class: str | None = None,
    duplicates: str = "warn",
) -> Calibration:
    """Take the scores and labels of held-out objects as the ground for p-values and tests.

    Parameters
    ----------
    scores : array-like of shape (n_objects,)
        One score per object: a list, NumPy array, torch tensor, or a column of a pandas, polars
        or pyarrow table. float32 and float64 keep their type. NaN is refused; infinities are
        ordinary scores.
    labels : array-like of shape (n_objects,), optional
        True labels of two kinds: 0/1, booleans, -1/1, or two words. One kind is enough for what is
        asked about that class alone. Left out without `one_class`, nothing is known but the scores:
        enough for a budget of alerts, and for nothing about classes.
    groups : array-like of shape (n_objects,), optional
        A group for each object (names or whole numbers). Then each class in each group is
        calibrated apart, and the promises hold in every group.
    clusters : array-like of shape (n_objects,), optional
        Whose row it is, where a patient, customer or device has several: ids that are names or
        whole numbers. Rows of one cluster may depend on each other in any way, and count as one
        object; see Notes.
    times : array-like of shape (n_objects,), optional
        When each object was seen, so that `Calibration.window` can keep the newest: datetimes,
        dates or ISO texts (all with a time zone, which become UTC, or all without), to the
        microsecond; or whole numbers of your own.
    weights : array-like of shape (n_objects,), optional
        How many times as common such an object is among new objects of its class as it was among
        calibration objects, up to a factor: for a known shift, a survey, or calibration objects
        that were drawn with known chances (then 1 / chance). See Notes. Objects of the weight 0 are
        left out. Not with `clusters`.
    rejection : float, optional
        A bound that no weight can exceed, known without looking at them. Each object is then kept
        with the chance weight / bound. What is kept is a plain calibration set of the new
        population: it has no weights any more, nor do new objects need them, and every method
        applies.
    random_state : int, optional
        Fixes the random numbers, for tests and replays. By default they are drawn from the
        operating system, once, and stored with the calibration; see Notes.
    positive_label : object, optional
        Which label is positive. Plain pairs need none: 0/1, False/True, -1/1, "no"/"yes",
        "negative"/"positive" and the like, where the second is positive. Any other two words or
        numbers are refused without it; nothing is guessed from their order.
    higher_is_positive : bool, default=True
        False if low scores indicate the positive class.
    sampling : {"population", "by class"}, default="population"
        "by class" if the number of positives was chosen, as in a case-control study. FNR and FPR
        do not mind; what is about the mix of classes, such as precision, is then refused.
    one_class : {"negative", "positive"}, optional
        The class of all objects, if all are of one: required where labels are left out, or are all
        the same and not plain. Without labels the classes are called 0 and 1. With labels the other
        class is called `positive_label` where that is given, or as the other of a plain pair, or
        "not ok" beside "ok".
    duplicates : {"warn", "refuse", "keep", "drop"}, default="warn"
        What to do if rows seem to be copies of others: give a `CopiedRowsWarning`, raise, say
        nothing, or keep one of each. See Notes.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        If scores, labels or columns cannot be used, or if it is not plain which label is positive.

    Notes
    -----
    The objects must not have been used to train, tune or select the classifier. No promise
    needs the score to be good, or even to point the right way: that only costs in the other
    error. Scores that point the wrong way get a `ReversedScoreWarning`.

    A promise about a class needs objects of that class only. From negatives alone the FPR can be
    controlled, from positives alone the FNR; the other error is then unknown, and is said to be.

    Copies of rows make promises look possible that are not: 42 positives tiled ten times pass for
    420. So it is tested whether independent objects could repeat their scores as these do. The test
    assumes nothing about the scores, and calls independent objects copies with probability at most
    1e-6. It finds rows tiled any number of times, in any order, and a copied part of them (300 of
    2,000, say), but needs some 30 distinct scores, and does not see rows drawn with replacement.
    Whatever is done about them, the certificate of every test says it. Dropping divides how often
    each score occurs, where all occur a multiple of some number of times; otherwise it keeps one of
    each score, where nearly all that repeat do so equally often; and is refused in all other cases.

    With `clusters`, a cluster of a class (in a group) is all its rows of that class and group.
    Promises are about one row, drawn at random, of a new cluster that has such rows: every cluster
    counts once, however many rows it has. They hold for any row if the rows of a cluster are
    exchangeable. `Conformal` uses all rows, each weighted by 1 / (rows of its cluster); all other
    methods use one row of each cluster, drawn at random, as if there were no others. Ids are
    compared as text and kept as 64-bit hashes, so that merged files and new rows of the same
    cluster are recognised.

    Some promises rest on random numbers: which objects propose thresholds and which certify them
    (`Calibration.control_precision` and its like, `reorder`, `evidence`, `shift_test`), which row
    of a cluster counts, which objects `rejection` keeps, how ties are broken at random. These
    numbers are independent of the data, drawn when the calibration is made, and stored with it
    (`Calibration.draw`), so that all results can be repeated from a file. The promises are over
    calibration sets and draws: for one fixed `random_state` they can fail more often, and drawing
    again until a test is certified voids them. Everything else is not random.

    With `weights`, promises are about the population that they describe, and only `Conformal`
    knows how to keep them: its p-value weighs each calibration object, and the new one by its own
    weight (``test.decide(scores, weights=...)``). So no single threshold decides. If the share of
    positives among objects with the same features does not change (covariate shift), the ratio of
    the densities of the features is right for both classes at once: within a class it is the same
    but for a factor, and factors cancel. A change of the shares of the classes alone needs no
    weights at all: every promise is within a class. `density_ratio` estimates weights, which makes
    promises approximate.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> rk.calibrate([0.1, 0.4, 0.35, 0.8], ["no", "no", "yes", "yes"])
    Calibration of 4 float64 scores: 2 negative ('no'), 2 positive ('yes')
    >>> rk.calibrate([0.1, 0.4, 0.35], one_class="negative")
    Calibration of 3 float64 scores: 3 negative (0), no positive (1)
    """
    if too_many:
        raise _too_many(scores, 2 + len(too_many))
    check_aligned(
        scores, labels=labels, groups=groups, clusters=clusters, times=times, weights=weights
    )
    refuse_together(clusters=clusters is not None, weights=weights is not None, rejection=rejection)
    bound = None if rejection is None else check_bound(rejection)
    values = read_scores(scores)
    is_positive, classes = read_truth(labels, values.size, positive_label, one_class)
    refuse_nan(values)
    if not isinstance(higher_is_positive, bool | np.bool_):
        raise InputError(
            parameter="higher_is_positive", value=higher_is_positive, need="True or False"
        )
    check_choice(sampling, "sampling", ("population", "by class"))
    check_choice(duplicates, "duplicates", CHOICES)
    index, names = (None, None) if groups is None else read_groups(groups, values.size)
    columns: dict[str, NDArray[Any]] = {}
    timing = None
    if clusters is not None:
        columns["clusters"] = read_clusters(clusters, values.size)
    if times is not None:
        columns["times"], timing = read_times(times, values.size)
    if weights is not None:
        columns["weights"] = read_weights(weights, values.size)
        kept, index, names = without_zeros(columns["weights"], index, names)
        values, is_positive = dropped(kept, is_positive, values)
        columns = {name: column[kept] for name, column in columns.items()}
    made = build_calibration(
        values,
        is_positive,
        classes,
        index=index,
        groups=names,
        higher_is_positive=bool(higher_is_positive),
        labelled=labels is not None or one_class is not None,
        columns=columns,
    )
    made = replace(made, sampling=sampling, timing=timing, draw=Draw.of(random_state))
    made = without_copies(made, duplicates)
    return made if bound is None else by_rejection(made, bound)


def _too_many(first: object, n: int) -> TypeError:
    """Say what is passed by position, as to somebody who passes a model with its features."""
    call = from_model(first)
    if call is not None:
        return TypeError(
            f"calibrate() takes the scores of a model, not a {type(first).__name__} and features. "
            f"Pass scores and labels of held-out objects: rk.calibrate({call}, y); or let "
            "rk.ErrorRateController do both."
        )
    return TypeError(
        f"calibrate() takes scores and labels, and all else by name, such as groups=...; {n} "
        "arguments came without a name."
    )


def build_calibration(
    values: Floats,
    is_positive: NDArray[np.bool_],
    classes: NDArray[Any],
    *,
    index: NDArray[np.intp] | None = None,
    groups: NDArray[Any] | None = None,
    higher_is_positive: bool = True,
    provenance: Provenance | None = None,
    labelled: bool = True,
    columns: Mapping[str, NDArray[Any]] = MappingProxyType({}),
) -> Calibration:
    """Build a calibration from checked scores, truths and positions among the groups."""
    beside: dict[str, tuple[NDArray[Any], ...]] = {}
    if columns:
        n_groups = 1 if groups is None else groups.size
        codes = n_groups * is_positive.astype(np.intp) + (0 if index is None else index)
        cells, beside = split(values, columns, codes, 2 * n_groups)
    elif index is None or groups is None:
        cells = sorted_parts(values, [~is_positive, is_positive])
    else:
        cells = _by_cell(values, is_positive, index, groups.size)
    return calibration_of(
        cells,
        classes,
        groups=groups,
        higher_is_positive=higher_is_positive,
        provenance=provenance,
        labelled=labelled,
        columns=beside,
    )


def calibration_of(
    cells: tuple[Floats, ...],
    classes: NDArray[Any],
    *,
    groups: NDArray[Any] | None = None,
    higher_is_positive: bool = True,
    provenance: Provenance | None = None,
    labelled: bool = True,
    columns: Mapping[str, tuple[NDArray[Any], ...]] = MappingProxyType({}),
) -> Calibration:
    """Build a calibration from ascending scores: negatives by group, then positives by group."""
    half = len(cells) // 2
    calibration = Calibration(
        cells=(cells[:half], cells[half:]),
        classes=classes,
        groups=groups,
        higher_is_positive=higher_is_positive,
        provenance=provenance,
        labelled=labelled,
        **{name: (column[:half], column[half:]) for name, column in columns.items()},  # type: ignore[arg-type]
    )
    _warn_if_reversed(calibration)
    return calibration


def _by_cell(
    values: Floats, is_positive: NDArray[np.bool_], index: NDArray[np.intp], n_groups: int
) -> tuple[Floats, ...]:
    """Split scores by class and group, negatives first, in one stable sort of small codes."""
    codes = index + n_groups * is_positive
    if 2 * n_groups < np.iinfo(np.uint16).max:
        codes = codes.astype(np.uint16)  # NumPy sorts these in linear time
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=2 * n_groups))[:-1]
    return sorted_parts(values, np.split(order, ends))


def _warn_if_reversed(calibration: Calibration) -> None:
    """Warn if high scores indicate the negative class beyond reasonable doubt."""
    found = calibration.separation
    if not found.is_reversed:
        return
    end = "high" if calibration.higher_is_positive else "low"
    text = (
        f"The scores look reversed: {end} scores should indicate the positive class "
        f"({format_value(calibration.classes[1])}), but the area under the ROC curve is "
        f"{found.auc:.3f}. The promise would hold, at a terrible price in the other error. Pass "
    )
    words = (
        text,
        Parameter("higher_is_positive", not calibration.higher_is_positive),
        ", or check which label is positive.",
    )
    warnings.warn(ReversedScoreWarning(words), stacklevel=5)
