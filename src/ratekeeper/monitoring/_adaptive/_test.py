"""A test whose level moves with the labels that come in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ratekeeper._reading._columns import check_aligned, read_ids, read_new_labels
from ratekeeper._reading._hints import TEST, missing_attribute
from ratekeeper._reading._parameters import check_count, check_probability
from ratekeeper._version import __version__
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import exact_percent, format_value, percent, plain_value
from ratekeeper.calibration._cells import group_index, refuse_weights
from ratekeeper.control._decisions import Decisions
from ratekeeper.control._error_rate import ErrorRateTest
from ratekeeper.control._label_audit import Audit
from ratekeeper.control._test import Test
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.monitoring._adaptive._certificate import AdaptiveCell, AdaptiveCertificate
from ratekeeper.monitoring._adaptive._ledger import Ledger, Outcome, UpdateResult
from ratekeeper.monitoring._adaptive._level import DECAYING
from ratekeeper.monitoring._adaptive._state import (
    load_ledger,
    packed_ledger,
    save_ledger,
    unpacked_ledger,
)
from ratekeeper.storage._serialize import facts_of_calibration
from ratekeeper.storage._states import identity_of, refuse_other_test

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike, NDArray

    from ratekeeper.calibration._p_values import PValues
    from ratekeeper.storage._serialize import Facts

_PART_OF_ALPHA = 10  # the default step is alpha divided by this: see docs/guides/adapting.md
_SHOWN = 8  # groups


@dataclass(frozen=True, eq=False, repr=False)
class AdaptiveDecisions(Decisions):
    """One decision for each object, with the level that it was made at.

    Attributes
    ----------
    levels : ndarray of shape (n_objects,)
        The level of each decision: the object is rejected if its p-value is at most that.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> test = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100)).control("fnr", 0.05)
    >>> rk.AdaptiveTest(test).decide([0.4, 0.9], ids=["a", "b"]).levels
    array([0.05, 0.05])
    """

    levels: NDArray[np.float64]


class AdaptiveTest:
    """A test that keeps its rate while the population moves, under a cap that nothing can break.

    A calibrated test keeps its promise for objects like those of the calibration. This one learns
    from labels as they come in: each error lowers the level at which objects are rejected, and each
    other object of the class raises it a little, so that the rate stays near alpha whatever the
    scores do.

    Parameters
    ----------
    test : ErrorRateTest
        A test of one rate. Its p-values are used, and its alpha is the rate that is kept; see
        `Calibration.control`. For a test of both rates, make one for each of its ``parts``.
    step : float or "decaying", optional
        How far a label moves the level: by ``step * (alpha - m)``, where m is 1 for an error. By
        default alpha / 10. "decaying" takes steps ``2 alpha t ** -0.6`` for the t-th label, for
        populations that settle down.
    start : float, optional
        The first level, from 0 up and below 1; alpha by default.
    labels : "all" or Audit, default="all"
        Of which decisions the label is learned. With `Audit`, of all alerts and of a random part
        of the rest.

    Notes
    -----
    **Guarantee.** For every sequence of scores, labels, batches and delays, with no assumption at
    all: of T objects of the class whose labels were learned, at most
    ``alpha T + start / step + (1 - alpha) w`` are errors, for every T. Here w is the most errors
    that ever waited for their labels at the same moment, and 1 if every label is learned before the
    next decision. A batch is decided at one level, so all its errors wait together. With alpha =
    0.05, the default step and w = 1, there are never more than 11 errors above 5%. In short: an
    error is only made at a level of at least 0. If labels were learned at once, errors minus
    ``alpha T`` would always be ``(start - level) / step``, so at most ``start / step`` before an
    error, and 1 - alpha more after it. Errors that wait together add 1 - alpha each. With
    "decaying", ``start / step`` is replaced by a sum over the levels that were used, which `cap`
    computes; before they are known its bound grows like T ** 0.6. With groups each has a level and
    a cap of its own. The module `_adaptive._level` has the whole proof.

    With an `Audit`, an object that only the audit shows counts 1 / rate times. The cap then holds
    for every sequence about the estimated counts, and on average about the true ones.

    Not covered: errors whose labels are never learned, or not yet; the other error, which pays for
    it; and when errors come, since after a change many may come together.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 2000)
    >>> test = rk.calibrate(rng.normal(2 * labels), labels).control("fnr", alpha=0.05)
    >>> adaptive = rk.AdaptiveTest(test)
    >>> for day in range(100):  # positives have come closer to the negatives
    ...     truth = rng.integers(0, 2, 20)
    ...     ids = [f"{day}-{i}" for i in range(20)]
    ...     decisions = adaptive.decide(rng.normal(1.4 * truth), ids)
    ...     _ = adaptive.learn(ids, truth)
    >>> adaptive
    AdaptiveTest: FNR 5%, step 0.005, level 0.014
      errors: 59 of 1,036 positives (5.69%), at most 64 possible
    """

    def __init__(
        self,
        test: ErrorRateTest,
        *,
        step: float | str | None = None,
        start: float | None = None,
        labels: str | Audit = "all",
    ) -> None:
        _refuse_unless_of_one_rate(test)
        refuse_weights(test.calibration, "An adaptive test")
        self.test = test
        calibration = test.calibration
        self._ledger = Ledger(
            test.control,
            test.alpha,
            _read_step(step, test.alpha),
            test.alpha if start is None else _read_start(start),
            _read_labels(labels),
            calibration.classes,
            calibration.groups,
        )

    @property
    def step(self) -> float | str:
        """The step, or "decaying"."""
        return DECAYING if self._ledger.step is None else self._ledger.step

    @property
    def start(self) -> float:
        """The first level."""
        return self._ledger.start

    @property
    def labels(self) -> str | Audit:
        """Of which decisions the label is learned."""
        return self._ledger.labels

    @property
    def level(self) -> Any:  # noqa: ANN401 - float, or a dict of float by group
        """The level of the next decision; a dict by group for a test with groups."""
        return self._by_group("value")

    @property
    def n(self) -> Any:  # noqa: ANN401 - int, or a dict of int by group
        """How many labels of the null class were learned; a dict by group with groups."""
        return self._by_group("n")

    @property
    def errors(self) -> Any:  # noqa: ANN401 - int, or a dict of int by group
        """How many of these objects had been rejected; a dict by group with groups.

        Decisions whose labels are not learned yet are not counted: nobody knows which are errors.
        """
        return self._by_group("errors")

    @property
    def estimated_n(self) -> Any:  # noqa: ANN401 - float, or a dict of float by group
        """As `n`, with the weights of an audit: an estimate of all objects of the null class."""
        return self._by_group("total")

    @property
    def estimated_errors(self) -> Any:  # noqa: ANN401 - float, or a dict of float by group
        """As `errors`, with the weights of an audit: an estimate of all errors."""
        return self._by_group("weighted_errors")

    @property
    def most_waiting(self) -> Any:  # noqa: ANN401 - int, or a dict of int by group
        """The most errors that waited for their labels at one moment, of those learned."""
        return self._by_group("most_waiting")

    @property
    def open(self) -> int:
        """How many decisions with an id wait for their label."""
        return len(self._ledger.open)

    @property
    def delay(self) -> float:
        """How many labels of the null class come between a decision and its own.

        On average over the history.
        """
        return self._ledger.delay

    @property
    def history(self) -> list[Outcome]:
        """The last 1,000 labels of the null class, in the order in which they were learned."""
        return list(self._ledger.recent)

    def cap(self, n: int | None = None, *, waiting: int = 1) -> Any:  # noqa: ANN401 - or a dict
        """Return the most errors that are possible, by the promise.

        Parameters
        ----------
        n : int, optional
            How many objects of the null class, before anything is known of them. By default those
            whose labels were learned so far, with the levels and the delays that there were.
        waiting : int, default=1
            How many of the n wait for their labels at the same moment, at most: 1 if each label is
            learned before the next decision, and the size of a batch if one is decided at a time.

        Returns
        -------
        int, or dict of int by group
            With an `Audit`, floats: of the estimated number of errors, and for a given n, of n
            objects in the estimate.

        Examples
        --------
        >>> import numpy as np, ratekeeper as rk
        >>> cal = rk.calibrate(np.linspace(0, 1, 400), np.repeat([0, 1], 200))
        >>> adaptive = rk.AdaptiveTest(cal.control("fnr", alpha=0.05))
        >>> adaptive.cap(10_000), adaptive.cap(10_000, waiting=50)
        (510, 557)
        """
        if n is None:
            caps = [level.cap() for level in self._ledger.levels]
        else:
            check_count(n, "n", least=0)
            check_count(waiting, "waiting")
            caps = [level.cap_of(n, waiting) for level in self._ledger.levels]
        if not isinstance(self.labels, Audit):
            caps = [int(cap) for cap in caps]
        return self._ledger.by_group(caps)

    def decide(
        self,
        scores: ArrayLike,
        ids: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        keys: ArrayLike | None = None,
    ) -> AdaptiveDecisions:
        """Decide on new objects at the level of the moment.

        Parameters
        ----------
        scores : array-like of shape (n_objects,)
            Their scores, from the same model as at calibration, or from a new one: the cap does
            not mind.
        ids : array-like of shape (n_objects,), optional
            A text or whole number for each decision, by which its label is learned later. Without
            ids nothing can be learned. An id that has a decision already gets the same decision
            again, with the level that made it; another score under the same id is refused, unless
            the test has a tolerance, with which the score of an object may come out differently.
        groups : array-like of shape (n_objects,), optional
            Their groups, required if and only if the calibration has groups.
        keys : array-like of shape (n_objects,), optional
            What breaks ties, as in `ErrorRateTest.decide`; by default the ids.

        Returns
        -------
        AdaptiveDecisions
            With the level of each decision.
        """
        check_aligned(scores, ids=ids, groups=groups, keys=keys)
        if keys is None and self.test.method.keys != "unused":
            keys = ids
        plain = self.test.decide(scores, groups, keys)  # which refuses what cannot be used
        names = None if ids is None else read_ids(ids, len(plain))
        index = group_index(self.test.calibration, groups, len(plain))
        return self.decide_again(plain, names, index)

    def decide_again(
        self, plain: Decisions, ids: list[str] | None, index: NDArray[np.intp] | None
    ) -> AdaptiveDecisions:
        """Decide at the level of the moment on objects that the test itself has decided on.

        Ids are texts, as `decide` reads them, and `index` has the positions of the groups.
        """
        pair, method = plain.p_values, self.test.method
        p_values = pair.p1 if self.test.null_class else pair.p0
        redrawn = method.keys == "unused" and None in self.test.thresholds.values()
        redrawn = redrawn or self.test.tolerance > 0.0  # the score may come out differently, too
        rejected, levels = self._ledger.decide(ids, p_values, index, redrawn=redrawn)
        return AdaptiveDecisions(
            positive=rejected == (self.test.control == "fpr"),
            abstained=plain.abstained,
            neither=plain.neither,
            classes=plain.classes,
            can_abstain=False,
            _p_values=partial(_same, pair),  # which pickles
            levels=levels,
        )

    def learn(self, ids: ArrayLike, labels: ArrayLike, *, unknown: str = "refuse") -> UpdateResult:
        """Learn the labels of decisions, and move the level by those of the null class.

        Parameters
        ----------
        ids : array-like of shape (n_labels,)
            Those of the decisions. A label that was learned before is ignored, and another label
            for the same id is refused.
        labels : array-like of shape (n_labels,)
            True labels, written as at calibration, of both classes.
        unknown : {"refuse", "ignore"}, default="refuse"
            What to do with ids that have no decision here. A decision is remembered until its
            label is learned, and then for the next 100,000.

        Returns
        -------
        UpdateResult
            How many labels were learned, repeated and so on.

        Warns
        -----
        LateLabelsWarning
            Once, if labels come so late that the level swings; see docs/guides/adapting.md.

        Notes
        -----
        All labels of one call are learned at one moment. If anything is refused, nothing is
        learned.
        """
        check_aligned(ids, "ids", labels=labels)
        is_positive = read_new_labels(labels, self._ledger.classes)
        names = read_ids(ids, is_positive.size)
        learned = self._ledger.learn(names, is_positive, unknown)
        self._ledger.warn_if_late()
        return learned

    @property
    def certificate(self) -> AdaptiveCertificate:
        """What is promised for every sequence, and how it stands."""
        return certificate_of(self._ledger, self.test.calibration.data_hash)

    @cached_property
    def _about(self) -> Facts:
        calibration = facts_of_calibration(self.test.calibration)
        names = {name: calibration[name] for name in ("classes", "groups")}
        return {"test": identity_of(self.test), **names}

    def state(self) -> dict[str, Any]:
        """Return all that it knows: plain values, and arrays in ``state["arrays"]``.

        A test that is restored from it goes on exactly as this one would.
        """
        facts, arrays = packed_ledger(self._ledger, self._about)
        return {**facts, "arrays": arrays}

    @classmethod
    def restore(cls, state: dict[str, Any], test: ErrorRateTest) -> Self:
        """Return an adaptive test that goes on where another was when `state` was taken.

        Parameters
        ----------
        state : dict
            What `state` returned.
        test : ErrorRateTest
            The very test that the other was made with; another is refused.
        """
        facts = {name: value for name, value in state.items() if name != "arrays"}
        return cls._restored(unpacked_ledger(facts, state["arrays"]), facts["test"], test)

    @classmethod
    def _restored(cls, ledger: Ledger, identity: Facts, test: ErrorRateTest) -> Self:
        _refuse_unless_of_one_rate(test)
        refuse_other_test(identity, test, "adaptive test")
        adaptive = cls.__new__(cls)
        adaptive.test, adaptive._ledger = test, ledger  # noqa: SLF001 - of this class
        return adaptive

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, which replaces one that is there in one step."""
        save_ledger(self._ledger, self._about, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], test: ErrorRateTest) -> Self:
        """Return an adaptive test that goes on where the one that was saved ended.

        Parameters
        ----------
        path : str or path-like
            What `save` wrote. It holds no scores of the calibration.
        test : ErrorRateTest
            The very test that it was made with; another is refused.

        Examples
        --------
        >>> import pathlib, tempfile, numpy as np, ratekeeper as rk
        >>> test = rk.calibrate(np.linspace(0, 1, 200), np.repeat([0, 1], 100)).control("fnr", 0.05)
        >>> adaptive = rk.AdaptiveTest(test)
        >>> decisions = adaptive.decide([0.4, 0.9], ids=["a", "b"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "state.rk")
        ...     adaptive.save(path)
        ...     again = rk.AdaptiveTest.load(path, test)
        >>> again.learn(["a"], [1]), again.level == 0.05 - 0.005 * 0.95
        (UpdateResult(learned=1, null=1, errors=1), True)
        """
        ledger, about = load_ledger(path)
        return cls._restored(ledger, about["test"], test)

    def _by_group(self, name: str) -> Any:  # noqa: ANN401 - a value, or a dict by group
        return self._ledger.by_group([getattr(level, name) for level in self._ledger.levels])

    def to_dict(self) -> dict[str, Any]:
        """Return the facts of the certificate as plain values that JSON can write."""
        return self.certificate.to_dict()

    if not TYPE_CHECKING:  # type checkers would take any name

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            return missing_attribute(self, name, TEST)

    def __repr__(self) -> str:
        rate = f"{self.test.control.upper()} {exact_percent(self.test.alpha)}"
        step = self.step if isinstance(self.step, str) else f"{self.step:g}"
        lines = [self._line(cell) for cell in self.certificate.cells[:_SHOWN]]
        level = ""
        if self.test.calibration.groups is None:
            level = f", level {self._ledger.levels[0].value:.4g}"
        more = len(self._ledger.levels) - _SHOWN
        lines += [f"and {more:,} more groups"] if more > 0 else []
        lines += [f"open: {self.open:,} decisions"] if self.open else []
        return f"AdaptiveTest: {rate}, step {step}{level}\n  " + "\n  ".join(lines)

    def _line(self, cell: AdaptiveCell) -> str:
        side = "positives" if self.test.null_class else "negatives"
        share = f" ({percent(cell.errors / cell.n)})" if cell.n else ""
        text = f"errors: {cell.errors:,.6g} of {cell.n:,.6g} {side}{share}, "
        text += f"at most {cell.cap:,.6g} possible"
        if self.test.calibration.groups is None:
            return text
        return f"group {format_value(cell.group)}: level {cell.level:.4g}\n    {text}"

    def _repr_html_(self) -> str:
        head, *lines = repr(self).split("\n")
        return markup.card(head, [markup.note(line.strip()) for line in lines])


def _same(pair: PValues) -> PValues:
    return pair


def certificate_of(ledger: Ledger, data_hash: str) -> AdaptiveCertificate:
    """Return what is promised, and how it stands, as far as a ledger knows."""
    negative, positive = (plain_value(value) for value in ledger.classes)
    counted = float if isinstance(ledger.labels, Audit) else int
    cells = tuple(
        AdaptiveCell(
            group,
            level.value,
            counted(level.total),
            counted(level.weighted_errors),
            counted(level.cap()),
            level.most_waiting,
        )
        for group, level in zip(ledger.names, ledger.levels, strict=True)
    )
    return AdaptiveCertificate(
        control=ledger.control,
        alpha=ledger.alpha,
        step=ledger.step,
        start=ledger.start,
        next_step=ledger.current_step,
        audit_rate=ledger.labels.rate if isinstance(ledger.labels, Audit) else None,
        positive_label=positive,
        negative_label=negative,
        cells=cells,
        worst=ledger.levels[0].cap_of(10_000, 1),
        open=len(ledger.open),
        data_hash=data_hash,
        version=__version__,
    )


def _refuse_unless_of_one_rate(test: object) -> None:
    if isinstance(test, ErrorRateTest):
        return
    remedy = "Make one with cal.control('fnr', alpha=0.05), for example."
    if isinstance(test, Test) and test.parts:
        remedy = "Make an adaptive test for each rate, of test.parts[0] and of test.parts[1]."
    raise InputError(
        f"A {type(test).__name__} has no one rate whose level could move.",
        parameter="test",
        need="a test of one rate",
        remedy=remedy,
    )


def _read_step(step: float | str | None, alpha: float) -> float | None:
    """Return the step; None for falling ones."""
    if step is None:
        return alpha / _PART_OF_ALPHA
    if step == DECAYING:
        return None
    try:
        return check_probability(step, "step", as_text=False)
    except InputError:
        raise InputError(
            parameter="step",
            value=step,
            need=f"a number strictly between 0 and 1, or {DECAYING!r}",
            remedy="Leave it out for alpha / 10.",
        ) from None


def _read_start(start: float) -> float:
    is_number = isinstance(start, int | float | np.integer | np.floating)
    if isinstance(start, bool) or not is_number or not 0.0 <= start < 1.0:
        raise InputError(
            parameter="start",
            value=start,
            need="a number from 0 up and below 1",
            remedy=("Leave it out for ", Parameter("alpha"), "."),
        )
    return float(start)


def _read_labels(labels: str | Audit) -> str | Audit:
    if isinstance(labels, Audit) or labels == "all":
        return labels
    raise InputError(
        parameter="labels",
        value=labels,
        need='"all" or an Audit',
        remedy="If only alerts are looked at, nobody learns of the other errors: have a random "
        "part of the rest looked at, too, and pass rk.Audit(rate).",
    )
