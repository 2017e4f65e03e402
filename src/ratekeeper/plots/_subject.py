"""Whose scores a display shows: of a calibration, or of new objects with known labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._abstaining import AbstainingTest
from ratekeeper._calibration import Calibration
from ratekeeper._control import ErrorRateTest
from ratekeeper._formatting import listed, plain_value, show
from ratekeeper._inputs import read_labels, read_new_labels, read_scores, refuse_nan, same_length
from ratekeeper._rates import Rate
from ratekeeper.exceptions import InputError
from ratekeeper.plots._display import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper._ranks import Floats
    from ratekeeper.methods import Method

    Source = Calibration | ErrorRateTest | AbstainingTest
    Test = ErrorRateTest | AbstainingTest
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
        Which end speaks for the positive class.
    test : ErrorRateTest, AbstainingTest or None
        What decides.
    group : object
        The group, None without groups.
    index : int or None
        Its place among the groups of the test.
    is_calibration : bool
        True if these are the objects that the test stands on.
    stands_for : tuple of two float
        How many objects of a file each negative and each positive stands for: 1, unless they are
        a random sample.
    """

    scores: Floats
    is_positive: NDArray[np.bool_]
    classes: NDArray[Any]
    higher_is_positive: bool
    test: Test | None
    group: object
    index: int | None
    is_calibration: bool
    stands_for: tuple[float, float] = (1.0, 1.0)

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
        if isinstance(self.test, AbstainingTest):
            return {"fpr": self.test.fpr, "fnr": self.test.fnr}
        return {"fpr": self.test, "fnr": self.test}

    @property
    def method(self) -> Method | None:
        """How the test makes its p-values; both tests of a pair have one method."""
        return self.rules["fnr"].method if self.rules else None

    @property
    def promised(self) -> dict[str, float]:
        """The rates that the test keeps."""
        return {rule.control: rule.alpha for rule in self.rules.values()}

    def threshold(self, control: str) -> float | None:
        """Return the threshold of the test that answers for an error; None if it is random."""
        return threshold_of(self.rules[control], self.group)

    def wrong(self) -> Masks | None:
        """Return, for negatives and positives, which of them the test decides wrongly."""
        if self.test is None:
            return None
        alarms, called = self._positive("fpr"), self._positive("fnr")
        return alarms[~self.is_positive], ~called[self.is_positive]

    @property
    def caveat(self) -> tuple[str, ...]:
        """What a reader of counted errors has to know, if anything."""
        if not (self.is_calibration and self.promised):
            return ()
        controlled = " and ".join(name.upper() for name in self.promised)
        return (f"{controlled}: counted on the very scores that the test is made of",)

    def is_pooled(self, label: int) -> bool:
        """Return whether the test judges this class by the scores of all groups together."""
        rule = self.rules.get("fnr" if label else "fpr")
        if rule is None or rule.thin_groups == "refuse" or rule.null_class != label:
            return False
        return rule.certificate.cells[self.index or 0].pooled

    def p_values(self, label: int) -> NDArray[np.float64]:
        """Return the p-values of the objects of a class under that class, as the test sees them."""
        values = self.cells[label]
        index = None if self.index is None else np.full(values.size, self.index, np.intp)
        found = self.rules["fnr" if label else "fpr"].decide_on(values, index).p_values
        return found.p1 if label else found.p0

    def _positive(self, control: str) -> NDArray[np.bool_]:
        # The classes of a calibration are judged apart, as `ErrorRateTest.other_error` judges them: the
        # draws of a random method depend on the company.
        parts = [~self.is_positive, self.is_positive] if self.is_calibration else [slice(None)]
        positive = np.empty(self.scores.size, dtype=bool)
        for part in parts:
            values = self.scores[part]
            index = None if self.index is None else np.full(values.size, self.index, np.intp)
            positive[part] = self.rules[control].decide_on(values, index).positive
        return positive


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


def of_calibration(source: Source, group: object) -> Subject:
    """Take the calibration objects themselves."""
    calibration, test = read_source(source)
    index = group_place(calibration, group)
    cells = [calibration.cells[c][index or 0] for c in (0, 1)]
    return Subject(
        scores=np.concatenate(cells),  # type: ignore[arg-type]  # both of one type
        is_positive=np.repeat([False, True], [cells[0].size, cells[1].size]),
        classes=calibration.classes,
        higher_is_positive=calibration.higher_is_positive,
        test=test,
        group=None if index is None else plain_value(group),
        index=index,
        is_calibration=True,
        stands_for=_stands_for(calibration),
    )


def _stands_for(calibration: Calibration) -> tuple[float, float]:
    rows = calibration.provenance
    if rows is None or rows.sampled_from is None:
        return 1.0, 1.0
    kept = [max(1, sum(scores.size for scores in cells)) for cells in calibration.cells]
    return rows.sampled_from[0] / kept[0], rows.sampled_from[1] / kept[1]


def of_new(
    source: Source, scores: ArrayLike, labels: ArrayLike, groups: ArrayLike | None, group: object
) -> Subject:
    """Take new objects, those of one group if the calibration has groups."""
    calibration, test = read_source(source)
    index = group_place(calibration, group)
    values, places = calibration.read_new(scores, groups)
    refuse_nan(values)
    is_positive = read_new_labels(labels, calibration.classes)
    same_length("labels", is_positive.size, values.size)
    if places is not None:
        values, is_positive = values[places == index], is_positive[places == index]
    if values.size == 0:
        where = "" if index is None else f" of group {plain_value(group)!r}"
        raise InputError(f"There is no object{where} to show: pass labelled objects.")
    return Subject(
        scores=values,
        is_positive=is_positive,
        classes=calibration.classes,
        higher_is_positive=calibration.higher_is_positive,
        test=test,
        group=None if index is None else plain_value(group),
        index=index,
        is_calibration=False,
    )


def of_arrays(
    scores: ArrayLike, labels: ArrayLike, positive_label: object, higher_is_positive: object
) -> Subject:
    """Take scores and labels alone, without any test."""
    values = read_scores(scores)
    is_positive, classes = read_labels(labels, positive_label)
    same_length("labels", is_positive.size, values.size)
    refuse_nan(values)
    if not isinstance(higher_is_positive, bool | np.bool_):
        raise InputError(f"higher_is_positive={higher_is_positive!r} must be True or False.")
    return Subject(
        scores=values,
        is_positive=is_positive,
        classes=classes,
        higher_is_positive=bool(higher_is_positive),
        test=None,
        group=None,
        index=None,
        is_calibration=False,
    )


def of_predictions(
    labels: ArrayLike,
    scores: ArrayLike,
    test: Source | None,
    groups: ArrayLike | None,
    group: object,
    positive_label: object,
    higher_is_positive: object,
) -> Subject:
    """Take arrays, judged by a test if there is one."""
    if test is None:
        if groups is not None or group is not None:
            raise InputError(
                "groups and group choose among the thresholds of a test: pass test=, or keep the "
                "rows of one group before the call."
            )
        return of_arrays(scores, labels, positive_label, higher_is_positive)
    if positive_label is not None or higher_is_positive is not True:
        raise InputError(
            "The test knows which label is positive and which end of the scores speaks for it: "
            "leave out positive_label and higher_is_positive."
        )
    return of_new(test, scores, labels, groups, group)


def read_source(source: Source) -> tuple[Calibration, Test | None]:
    """Return the calibration behind a source, and the test if it is one."""
    if isinstance(source, Calibration):
        return source, None
    if isinstance(source, ErrorRateTest | AbstainingTest):
        return source.calibration, source
    raise InputError(
        f"A Calibration or a test of Calibration.control is needed, not {show(source)}. "
        "For a fitted ErrorRateController use from_estimator."
    )


def read_test(source: object) -> ErrorRateTest:
    """Return the source if it is a test of one rate, else raise."""
    if isinstance(source, ErrorRateTest):
        return source
    if isinstance(source, AbstainingTest):
        raise InputError(
            "A test of both rates is two tests: pass test.fnr or test.fpr, each has its own law."
        )
    raise InputError(
        f"A test of Calibration.control is needed, not {show(source)}: the law depends on alpha."
    )


def read_estimator(clf: object) -> ErrorRateTest:
    """Return the test of a fitted controller."""
    from ratekeeper._estimators import ErrorRateController

    if not isinstance(clf, ErrorRateController):
        raise InputError(
            f"An ErrorRateController is needed, not a {type(clf).__name__}. For another model pass "
            "its labels and scores to from_predictions."
        )
    if not hasattr(clf, "test_"):
        raise InputError("The ErrorRateController is not fitted yet: call fit first.")
    if not isinstance(clf.test_, ErrorRateTest | AbstainingTest):
        raise InputError(
            "A test by CV+ has several scores for each object, of which no picture is drawn: fit "
            "the ErrorRateController with another strategy, or freeze a trained model."
        )
    return clf.test_  # type: ignore[return-value]  # those that need one rate refuse the other


def scores_of(clf: object, X: object) -> Floats:  # noqa: N803 - scikit-learn's name
    """Return the scores that a fitted controller gives new objects."""
    read_estimator(clf)
    scores: Floats = clf._scores(X)  # type: ignore[attr-defined]  # noqa: SLF001 - read just now
    return scores


def group_place(calibration: Calibration, group: object) -> int | None:
    """Return the place of a group, None without groups; refuse what does not fit."""
    if calibration.groups is None:
        if group is not None:
            raise InputError(
                f"group={show(group)} was given, but there are no groups: leave it out."
            )
        return None
    names = calibration.groups.tolist()
    shown = listed(names)
    if group is None:
        raise InputError(f"There are groups, each with its own scores: pass group=, of {shown}.")
    if not np.isscalar(group) or plain_value(group) not in names:
        raise InputError(f"group={show(group)} is not a group of the calibration: it has {shown}.")
    return int(names.index(plain_value(group)))


def threshold_of(test: ErrorRateTest, group: object) -> float | None:
    """Return the threshold of a group, or that of everybody."""
    threshold = test.threshold
    return threshold[group] if isinstance(threshold, dict) else threshold


def class_names(classes: NDArray[Any]) -> tuple[str, str]:
    """Name the negative and the positive class.

    Examples
    --------
    >>> class_names(np.array(["no", "yes"]))
    ("negative ('no')", "positive ('yes')")
    """
    return f"negative ({show(classes[0])})", f"positive ({show(classes[1])})"


def in_words(group: object) -> str:
    """Name the group in a title, if there is one.

    Examples
    --------
    >>> in_words("north"), in_words(None)
    (", group 'north'", '')
    """
    return "" if group is None else plain(f", group {show(group)}")
