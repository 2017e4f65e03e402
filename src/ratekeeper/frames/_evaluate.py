"""The errors of a test on labelled rows of a frame, counted where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._columns import read_groups, read_new_labels
from ratekeeper._wording._formatting import plain_value
from ratekeeper.calibration._cells import is_outside, known_groups, refuse_clusters, warn_if_outside
from ratekeeper.control._rules import OUTCOMES
from ratekeeper.frames._decide import check_groups, decision_of
from ratekeeper.frames._tables import fetch, is_missing, missing_error, open_frame, scores_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.control._test import Test

_NONE = -1  # the outcome of a row without one


def count_frame(
    test: Test, frame: object, *, score: str, label: str, group: str | None
) -> tuple[NDArray[np.intp], list[Any] | None, bool]:
    """Count decisions on labelled rows; see `Test.evaluate_frame`.

    Returns
    -------
    counts : ndarray of shape (n_groups, 2, 4)
        By group, true class and decision, as `from_codes` counts them.
    names : list or None
        The groups.
    is_covered : bool
        Whether scores are on the scale of the calibration, as far as one can see.
    """
    import narwhals as nw

    refuse_clusters(test.calibration, "Counting errors in a frame", counts_do=True)
    opened = open_frame(frame, score=score, label=label, group=group)
    is_audit = test.calibration.groups is None and group is not None
    own = None if is_audit else group
    check_groups(test, own)
    codes: dict[str, nw.Expr] = {name: nw.lit(code) for code, name in enumerate(OUTCOMES)}
    _, value = scores_of(opened, score)
    low, high = test.calibration.extent
    beyond = (value < low - test.tolerance) | (value > high + test.tolerance)
    keys = {"label": label} | ({} if group is None else {"group": group})
    asked = opened.select(
        *(nw.col(name).alias(role) for role, name in keys.items()),
        nw.when(value.is_null() | value.is_nan()).then(nw.lit(1)).otherwise(nw.lit(0)).alias("gap"),
        decision_of(test, opened, score, own, codes).fill_null(_NONE).alias("outcome"),
        nw.when(beyond).then(nw.lit(1)).otherwise(nw.lit(0)).alias("outside"),
    )
    names = [*keys, "gap", "outcome", "outside"]
    table = fetch(asked.group_by(*names).agg(nw.len().alias("n")), "Counting errors")
    n = np.asarray(table["n"].to_numpy(), dtype=np.int64)
    gap, outcome, outside = (
        np.asarray(table[name].to_numpy()).astype(np.int64)
        for name in ("gap", "outcome", "outside")
    )
    if gap.any():
        raise missing_error("score", score, int(n[gap == 1].sum()), int(n.sum()))
    values = {role: [plain_value(v) for v in table[role].to_list()] for role in keys}
    for role, column in keys.items():
        missing = np.fromiter(map(is_missing, values[role]), bool, n.size)
        if missing.any():
            raise missing_error(role, column, int(n[missing].sum()), int(n.sum()))
    truth = read_new_labels(np.array(values["label"]), test.calibration.classes)
    index, groups = _groups_of(test, values.get("group"), is_audit=is_audit)
    counts = np.zeros((1 if groups is None else len(groups), 2, len(OUTCOMES)), dtype=np.intp)
    np.add.at(counts, (index, truth.astype(np.intp), outcome), n)
    looked_at = np.ones(n.size, dtype=bool)
    if test.calibration.known in ("negative", "positive"):
        looked_at = truth == (test.calibration.known == "positive")
    beyond_ends = int(n[(outside == 1) & looked_at].sum()), int(n.sum())
    warn_if_outside(test.calibration, *beyond_ends, stacklevel=3)
    return counts, groups, not is_outside(test.calibration, *beyond_ends)


def _groups_of(
    test: Test, values: list[Any] | None, *, is_audit: bool
) -> tuple[NDArray[np.intp], list[Any] | None]:
    """Return the position of each row's group, and the groups."""
    if values is None:
        return np.zeros(1, dtype=np.intp), None
    if is_audit:
        index, found = read_groups(values, len(values))
        return index, found.tolist()
    assert test.calibration.groups is not None  # noqa: S101 - checked
    places = known_groups(test.calibration, values)
    return np.asarray(places, dtype=np.intp), test.calibration.groups.tolist()
