"""What must be right before a model is saved: its columns, its labels and its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._random_keys import wants_keys
from ratekeeper.estimators._controller import check_undecided, example_label
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.mlflow._signature import on_nothing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ratekeeper.control._test import Test
    from ratekeeper.mlflow._controlled import ControlledModel

_ROLES = ("score", "group", "weight", "key")


def columns_of(test: Test, given: Mapping[str, str | None], *, has_model: bool) -> dict[str, str]:
    """Return the columns of the input that are for the test, by what they are."""
    known = test.calibration.provenance
    wanted = {
        "score": not has_model,
        "group": test.calibration.groups is not None,
        "weight": test.calibration.weights is not None,
        "key": wants_keys(
            [part.method for part in test.parts], given=given["key"] is not None, parameter="key"
        ),
    }
    why = {"score": "the model gives the scores", "key": "the test breaks no ties by keys"}
    found = {}
    for role in _ROLES:
        name = given[role]
        if name is not None and not wanted[role]:
            raise InputError(
                (
                    Parameter(role, name),
                    f" was given, but {why.get(role, f'the calibration has no {role}s')}.",
                ),
                parameter=role,
                value=name,
                remedy="Leave it out.",
            )
        if not wanted[role]:
            continue
        name = name or getattr(known, role, None) or ("score" if role == "score" else None)
        if not isinstance(name, str):
            raise InputError(
                f"The test needs the {role} of each object.",
                parameter=role,
                value=name,
                need="the name of a column of the input",
                remedy=("Say which, with ", Parameter(role), "."),
            )
        found[role] = name
    if len(set(found.values())) < len(found):
        raise InputError(parameter="group", value=found, need="a column of its own for each")
    return found


def check_label_of_undecided(test: Test, undecided: object) -> None:
    """Raise unless there is a label for undecided objects exactly if there can be such."""
    classes, can_abstain = test.calibration.classes, on_nothing(test).can_abstain
    if can_abstain and undecided is None:
        raise InputError(
            "The test leaves some objects undecided, and not every server can send a missing "
            "value.",
            parameter="undecided",
            value=None,
            need="a label",
            remedy=("Name one, such as ", Parameter("undecided", example_label(classes)), "."),
        )
    if undecided is not None and not can_abstain:
        raise InputError(
            (
                Parameter("undecided", undecided),
                " was given, but the test decides on every object.",
            ),
            parameter="undecided",
            value=undecided,
            remedy="Leave it out.",
        )
    if undecided is not None:
        check_undecided(undecided, classes.tolist())


def check_held_out(controlled: ControlledModel, held_out: Any) -> None:  # noqa: ANN401
    """Raise unless the model gives the calibration's scores to the objects that calibrated.

    In ascending order, in which two sets of numbers are as near to each other as they can be.
    """
    test, values = controlled.test, controlled.scores(held_out)
    own = np.concatenate([scores for cells in test.calibration.cells for scores in cells])
    if values.size != own.size:
        raise InputError(
            f"held_out has {values.size:,} objects, and the calibration {own.size:,}.",
            parameter="held_out",
            need="the objects that calibrated, and no others",
        )
    # As float64, in which numbers of another precision stay what they are.
    found, wanted = (np.sort(part.astype(np.float64)) for part in (values, own))
    with np.errstate(invalid="ignore"):  # both infinite
        off = np.where(found == wanted, 0.0, np.abs(found - wanted))
    tolerance = max((part.tolerance for part in test.parts), default=0.0)
    if (wrong := ~(off <= tolerance)).any():
        raise InputError(
            f"The model does not give the scores of the calibration: {int(wrong.sum()):,} of "
            f"{own.size:,} differ, by up to {float(off.max()):.3g}.",
            parameter="held_out",
            need="scored as at calibration, to the last bit",
            remedy=(
                "Check model, output and response_method. Of the right model in another runtime, ",
                "calibrate on the scores that it gives there, or make the test with a ",
                Parameter("tolerance"),
                " that is larger than any such difference.",
            ),
        )
