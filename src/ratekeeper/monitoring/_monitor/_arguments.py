"""From what users hold to ids, decisions and labels of a monitor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._reading._columns import read_sparse_names
from ratekeeper._wording._formatting import format_value, listed, plain_value
from ratekeeper.control._decisions import Decisions
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.monitoring._monitor._open_decisions import ABSTAINED, NEITHER, UNKNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.control._test import Test


def refuse_twice(names: list[str]) -> None:
    """Raise if an id is there twice."""
    if len(set(names)) < len(names):
        seen: set[str] = set()
        for name in names:
            if name in seen:
                found = (Parameter("ids"), f" has {format_value(name)} twice.")
                remedy = "Give each decision an id of its own."
                raise InputError(found, parameter="ids", value=name, remedy=remedy)
            seen.add(name)


class Classes:
    """The two classes of a test, and what it can decide."""

    def __init__(self, test: Test) -> None:
        self._test = test
        self._places = {plain_value(one): i for i, one in enumerate(test.calibration.classes)}

    def truth(self, label: object) -> int:
        """Return 0 for the negative class and 1 for the positive."""
        try:
            return self._places[plain_value(label)]
        except (KeyError, TypeError):
            raise self._no_class(label, "labels") from None

    def truths(self, labels: Any, n: int) -> NDArray[np.uint8]:  # noqa: ANN401 - a column
        """Return the same for each label, none of which may be missing."""
        found = self._classes(labels, n, "labels")
        if (found == UNKNOWN).any():
            where = int(np.argmax(found == UNKNOWN))
            text = (Parameter("labels"), f" has no value at position {where}.")
            remedy = "Leave out decisions whose truth is not known yet."
            raise InputError(text, parameter="labels", remedy=remedy)
        return found

    def codes(self, decisions: Any, n: int) -> NDArray[np.uint8]:  # noqa: ANN401
        """Return the code of each decision."""
        if isinstance(decisions, Decisions):
            same_number("decisions", len(decisions), n)
            if decisions.classes.tolist() != self._test.calibration.classes.tolist():
                raise InputError(
                    f"These decisions are between {listed(decisions.classes.tolist())}, those of "
                    f"the test between {listed(self._test.calibration.classes.tolist())}.",
                    parameter="decisions",
                    remedy="Record what this very test has decided.",
                )
            codes = decisions.positive.astype(np.uint8)
            codes[decisions.abstained] = ABSTAINED
            codes[decisions.neither] = NEITHER
            return codes
        codes = self._classes(decisions, n, "decisions")
        if (codes == ABSTAINED).any() and not abstains(self._test):
            first = int(np.argmax(codes == ABSTAINED))
            found = (Parameter("decisions"), f" has no value at position {first}, but the test ")
            remedy = "Record what it has decided."
            raise InputError((*found, "never abstains."), parameter="decisions", remedy=remedy)
        if (codes == ABSTAINED).any() and _may_be_neither(self._test):
            raise InputError(
                "Where this test decides nothing, it abstains or finds neither class possible, "
                "which is an error of the one or the other kind: labels do not tell them apart.",
                parameter="decisions",
                remedy="Record the Decisions that test.decide returns.",
            )
        return codes

    def _classes(self, values: Any, n: int, name: str) -> NDArray[np.uint8]:  # noqa: ANN401
        """Return 0 for the negative class, 1 for the positive, 2 where there is no value."""
        if values is None or isinstance(values, str | bool | int | float | np.generic):
            values = [values]
        index, distinct = read_sparse_names(values, name)
        same_number(name, index.size, n)
        place = np.full(distinct.size + 1, UNKNOWN, dtype=np.uint8)
        for i, value in enumerate(distinct.tolist()):
            if value not in self._places:
                raise self._no_class(value, name)
            place[i] = self._places[value]
        return place[index]

    def _no_class(self, value: object, name: str) -> InputError:
        need = " or ".join(map(format_value, self._places))
        found = (
            Parameter(name),
            f" has {format_value(value)}, but the test decides between {need}.",
        )
        return InputError(
            found, parameter=name, value=value, need=need, remedy="Write it as at calibration."
        )


def abstains(test: Test) -> bool:
    """Return whether a test can leave an object undecided."""
    limits = getattr(test, "limits", {})
    return len(test.parts) > 1 or any(one.negative is not None for one in limits.values())


def _may_be_neither(test: Test) -> bool:
    """Return whether both classes can be rejected: two thresholds that cross are made one."""
    return any(
        threshold is None for part in test.parts for threshold in part.thresholds.values()
    ) and not getattr(test, "_is_ordered", False)


def same_number(name: str, size: int, n: int) -> None:
    """Raise unless there is one value for each id."""
    if size != n:
        raise InputError(
            (Parameter(name), f" has {size:,} values for {n:,} ids."),
            parameter=name,
            need="one value for each id",
            remedy="Check that no row was dropped from one of them.",
        )
