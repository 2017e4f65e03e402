"""Whose scores a display shows: of a calibration, or of new objects with known labels.

It also knows what the test decides on each of them, so that a shaded area shows counted errors and
nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._rates import Rate
from ratekeeper._reading._columns import (
    read_labels,
    read_new_labels,
    read_scores,
    refuse_nan,
    same_length,
)
from ratekeeper._wording._formatting import format_value, listed, plain_value
from ratekeeper.calibration._calibration import Calibration
from ratekeeper.calibration._cells import own_numbers, read_new, refuse_clusters, refuse_unlabelled
from ratekeeper.control._both_rates import AbstainingTest
from ratekeeper.control._error_rate import ErrorRateTest
from ratekeeper.control._test import Test, decide_read
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods import Conformal, check_method

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._numerics._random_keys import TieNumbers
    from ratekeeper._numerics._ranks import Floats
    from ratekeeper.control._certificate import Cell
    from ratekeeper.methods import Method

    Source = Calibration | Test
    Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Subject:
    """Scores of one group with their labels, and the test that judges them.

    Attributes
    ----------
    scores, is_positive : ndarray of shape (n_objects,)
        All of one group, if there are groups.
    classes : ndarray of shape (2,)
        The user's labels, negative first.
    higher_is_positive : bool
        Whether high scores indicate the positive class.
    calibration : Calibration or None
        What the test stands on.
    test : ErrorRateTest, AbstainingTest or None
        What decides.
    index : int or None
        Place of the group among those of the calibration; None without groups.
    is_new : bool
        False if these are the calibration objects themselves.
    """

    scores: Floats
    is_positive: NDArray[np.bool_]
    classes: NDArray[Any]
    higher_is_positive: bool
    calibration: Calibration | None = None
    test: Test | None = None
    index: int | None = None
    is_new: bool = True

    @property
    def group(self) -> object:
        """The group, None without groups."""
        if self.calibration is None or self.calibration.groups is None:
            return None
        return plain_value(self.calibration.groups[self.index])

    @property
    def stands_for(self) -> tuple[float, float]:
        """How many objects each negative and each positive stands for; 1 unless it is a sample."""
        rows = self.calibration and self.calibration.provenance
        if self.is_new or not self.calibration or not rows or rows.sampled_from is None:
            return 1.0, 1.0
        kept = [max(1, sum(scores.size for scores in cells)) for cells in self.calibration.cells]
        return rows.sampled_from[0] / kept[0], rows.sampled_from[1] / kept[1]

    @property
    def share_positive(self) -> float:
        """Share of positives among the objects, or among those that they are a sample of."""
        n0, n1 = (
            weight * cell.size for weight, cell in zip(self.stands_for, self.cells, strict=True)
        )
        return n1 / (n0 + n1)

    @property
    def cells(self) -> tuple[Floats, Floats]:
        """Scores of the negatives and of the positives."""
        return self.scores[~self.is_positive], self.scores[self.is_positive]

    @property
    def names(self) -> tuple[str, str]:
        """What the two classes are called."""
        return class_names(self.classes)

    @property
    def rules(self) -> Mapping[str, ErrorRateTest]:
        """The test that answers for each error: one test for both, or one each."""
        if self.test is None:
            return {}
        if not self.test.parts:
            raise InputError(
                f"A {type(self.test).__name__} keeps no class's error rate, so it has no place in "
                "this picture.",
                parameter="test",
                remedy="Leave the test out, or write a report of it.",
            )
        fnr, *fpr = self.test.parts
        return {"fpr": fpr[0] if fpr else fnr, "fnr": fnr}

    @property
    def promised(self) -> dict[str, float]:
        """The rates that the test keeps."""
        return {rule.control: rule.alpha for rule in self.rules.values()}

    def cell(self, control: str) -> Cell:
        """Return what the certificate of the test of an error says about the group."""
        return self.rules[control].certificate.cells[self.index or 0]

    @property
    def thresholds(self) -> dict[str, float | None]:
        """The thresholds by the error they limit; as "both" the one that decides for both."""
        if isinstance(self.test, AbstainingTest):
            crossed = self.test.crossed[self.index or 0]
            if crossed is not None:
                return {"both": crossed}
        return {name: self.cell(name).threshold for name in self.promised}

    def wrong(self) -> Masks | None:
        """Return, for negatives and positives, which of them the test decides wrongly."""
        if self.test is None:
            return None
        # The classes of a calibration are judged apart, as `ErrorRateTest.other_error` judges them:
        # the draws of a random method depend on which objects are judged together.
        parts = [slice(None)] if self.is_new else [~self.is_positive, self.is_positive]
        wrong = np.empty(self.scores.size, dtype=bool)
        for part in parts:
            values, is_positive = self.scores[part], self.is_positive[part]
            found = decide_read(self.test, values, self._places(values), self._own(is_positive))
            missed, alarm = ~found.positive & ~found.abstained, found.positive | found.neither
            wrong[part] = np.where(is_positive, missed, alarm)
        return wrong[~self.is_positive], wrong[self.is_positive]

    @property
    def caveat(self) -> tuple[str, ...]:
        """What a reader of counted errors has to know, if anything."""
        if self.is_new or not self.promised:
            return ()
        controlled = " and ".join(name.upper() for name in self.promised)
        return (f"{controlled}: counted on the very scores that the test is made of",)

    def is_pooled(self, label: int) -> bool:
        """Return whether the test judges this class by the scores of all groups together."""
        control = "fnr" if label else "fpr"
        rule = self.rules.get(control)
        if rule is None or rule.thin_groups == "refuse" or rule.null_class != label:
            return False
        return self.cell(control).pooled

    def p_values(self, label: int) -> NDArray[np.float64]:
        """Return the p-values of the objects of a class under that class, as the test sees them."""
        values = self.cells[label]
        rule = self.rules["fnr" if label else "fpr"]
        own = self._own(np.broadcast_to(bool(label), values.shape))
        found = decide_read(rule, values, self._places(values), own)
        return found.p_values.p1 if label else found.p_values.p0

    def judged_by(self, method: Method | None) -> tuple[Calibration, Method]:
        """Return what judges the new objects: the method asked for, or that of the test."""
        if self.calibration is None or not self.is_new:
            raise InputError(
                "The calibration objects cannot check their own test.",
                parameter="scores",
                remedy=(
                    "Pass ",
                    Parameter("scores"),
                    " and ",
                    Parameter("labels"),
                    " of new ones.",
                ),
            )
        # Both tests of a pair have one method.
        default = self.rules["fnr"].method if self.rules else Conformal()
        return self.calibration, check_method(method or default)

    def _own(self, is_positive: NDArray[np.bool_]) -> TieNumbers | None:
        """Return what breaks the ties of calibration objects of one class, where that is done."""
        if self.is_new or self.calibration is None or not is_positive.size:
            return None
        if all(rule.method.keys == "unused" for rule in self.rules.values()):
            return None
        return own_numbers(self.calibration, int(is_positive[0]), self.index)

    def _places(self, values: Floats) -> NDArray[np.intp] | None:
        return None if self.index is None else np.full(values.size, self.index, np.intp)


def counted(wrong: Masks | None) -> dict[str, Rate]:
    """Return both errors as `Subject.wrong` found them; none without a test.

    Examples
    --------
    >>> counted((np.array([True, False]), np.array([False])))["fpr"].rate
    0.5
    """
    if wrong is None:
        return {}
    return {
        name: Rate(int(np.count_nonzero(mask)), mask.size)
        for name, mask in zip(("fpr", "fnr"), wrong, strict=True)
    }


def subject_of(
    source: Source,
    scores: ArrayLike | None,
    labels: ArrayLike | None,
    groups: ArrayLike | None,
    group: object,
) -> Subject:
    """Take new objects of one group, or without any the calibration objects of the group."""
    calibration, test = _read_source(source)
    refuse_unlabelled(calibration)
    index = _group_place(calibration, group)
    is_new = scores is not None or labels is not None or groups is not None
    if not is_new:
        cells = [calibration.cells[c][index or 0] for c in (0, 1)]
        values: Floats = np.concatenate(cells)  # type: ignore[assignment]  # both of one type
        is_positive = np.repeat([False, True], [cells[0].size, cells[1].size])
    elif scores is None or labels is None:
        found = "Scores and labels of new objects go together."
        missing = "scores" if scores is None else "labels"
        raise InputError(found, parameter=missing, value=None, remedy="Pass both, or neither.")
    else:
        _refuse_without_keys(test)
        tolerance = 0.0 if test is None else test.tolerance
        values, places = read_new(calibration, scores, groups, tolerance)
        refuse_nan(values)
        is_positive = read_new_labels(labels, calibration.classes)
        same_length("labels", is_positive.size, values.size)
        if places is not None:
            values, is_positive = values[places == index], is_positive[places == index]
        if values.size == 0:
            where = "" if index is None else f" of group {format_value(group)}"
            found = f"There is no object{where} to show."
            raise InputError(found, parameter="scores", remedy="Pass labelled objects.")
    higher = calibration.higher_is_positive
    return Subject(
        values, is_positive, calibration.classes, higher, calibration, test, index, is_new
    )


def _refuse_without_keys(test: Test | None) -> None:
    """Raise if new objects would need keys, which pictures do not take."""
    for part in () if test is None else test.parts:
        if part.method.keys == "required":
            raise InputError(
                f"{part.method!r} breaks ties by the keys of the objects, and a picture has none.",
                parameter="scores",
                remedy="Leave scores and labels out to see the calibration, or pass the p-values "
                "of test.p_values(scores, keys=...) to from_predictions.",
            )


def subject_of_arrays(
    labels: ArrayLike, scores: ArrayLike, positive_label: object, higher_is_positive: object
) -> Subject:
    """Take labels and scores alone, without any test."""
    values = read_scores(scores)
    is_positive, classes = read_labels(labels, positive_label)
    same_length("labels", is_positive.size, values.size)
    refuse_nan(values)
    if not isinstance(higher_is_positive, bool | np.bool_):
        raise InputError(
            parameter="higher_is_positive", value=higher_is_positive, need="True or False"
        )
    return Subject(values, is_positive, classes, bool(higher_is_positive))


def rule_of_one_rate(subject: Subject) -> ErrorRateTest:
    """Return the test if it is one of one rate, else raise."""
    if isinstance(subject.test, ErrorRateTest):
        return subject.test
    source = subject.test or subject.calibration
    raise InputError(
        f"A test of one rate is needed, not {_kind(source)}.",
        parameter="source",
        value=source,
        remedy="Pass one made by Calibration.control; of a test of both, test.fnr or test.fpr.",
    )


def _read_source(source: Source) -> tuple[Calibration, Test | None]:
    """Return the calibration behind a source, and the test if it is one."""
    if isinstance(source, Calibration | Test):
        calibration = source if isinstance(source, Calibration) else source.calibration
        refuse_clusters(calibration, "A picture")
        return calibration, None if isinstance(source, Calibration) else source
    raise InputError(
        f"A Calibration or a test made by Calibration.control is needed, not {_kind(source)}.",
        parameter="source",
        value=source,
        remedy="For a fitted ErrorRateController use from_estimator.",
    )


def _kind(value: object) -> str:
    # Of what often prints as several lines.
    name = type(value).__name__
    return f"an {name}" if name[0] in "AEIO" else f"a {name}"


def read_estimator(clf: object) -> ErrorRateTest:
    """Return the test of a fitted controller."""
    from ratekeeper.estimators._controller import ErrorRateController

    if not isinstance(clf, ErrorRateController) or not hasattr(clf, "test_"):
        fitted = "one that is not" if isinstance(clf, ErrorRateController) else _kind(clf)
        raise InputError(
            f"A fitted ErrorRateController is needed, not {fitted}.",
            parameter="clf",
            value=clf,
            remedy="Call fit first. Of another model pass labels and scores to from_predictions.",
        )
    if not isinstance(clf.test_, Test):
        raise InputError(
            "A test by CV+ has several scores for each object, of which no picture is drawn.",
            parameter="clf",
            remedy="Fit the ErrorRateController with another strategy, or freeze a trained model.",
        )
    return clf.test_  # type: ignore[return-value]  # those that need one rate refuse the other


def _group_place(calibration: Calibration, group: object) -> int | None:
    """Return the place of a group, None without groups; refuse what does not fit."""
    names = [] if calibration.groups is None else calibration.groups.tolist()
    if group is None and not names:
        return None
    if not np.isscalar(group) or plain_value(group) not in names:
        need = f"one of the groups {listed(names)}" if names else "left out: there are no groups"
        raise InputError(parameter="group", value=group, need=need)
    return int(names.index(plain_value(group)))


def class_names(classes: NDArray[Any]) -> tuple[str, str]:
    """Name the negative and the positive class.

    Examples
    --------
    >>> class_names(np.array(["no", "yes"]))
    ("negative ('no')", "positive ('yes')")
    """
    return f"negative ({format_value(classes[0])})", f"positive ({format_value(classes[1])})"
