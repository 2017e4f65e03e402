"""Both errors of a test in every group of an audit, beside the level of the test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from ratekeeper._wording._formatting import escape_controls, exact_percent, format_value
from ratekeeper.control._group_audit import GroupAudit
from ratekeeper.control._test import Test
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.plots import _look as look
from ratekeeper.plots._display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from ratekeeper.control._group_audit import AuditRow
    from ratekeeper.plots._subject import Source, Subject

_MOST = 30  # groups that can be told apart
_ROOMY = 14  # with which names have their usual size
_LONGEST = 34  # characters of a name
_HOW = "a finished test, such as calibration.control('fnr', alpha=0.05)"
_CONTROLS = ("fnr", "fpr")


@dataclass(eq=False, repr=False)
class GroupDisplay(Display):
    """Who pays for the average: both errors by group, with intervals that hold together.

    Make it with `from_evaluation`, `from_predictions`, `from_calibration` or `from_estimator`. The
    worst groups come first, at the top; of more than 30, only these are drawn.

    Options
    -------
    by, crossed
        As in ``test.evaluate``.
    **kwargs
        Style of the dots and whiskers, in matplotlib's words.

    Attributes
    ----------
    audit : GroupAudit
        What was counted, with verdicts.
    rows : list of AuditRow
        The groups that are drawn, worst first.
    errorbars_ : dict
        By error: its dots and whiskers.
    level_lines_ : list of artists
        The levels of the test.

    Notes
    -----
    **Guarantee.** That of `GroupAudit`: all intervals hold together with probability at least 95%.
    The line is the level of the test, a yardstick: nothing is promised to a group by an audit.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> from ratekeeper.plots import GroupDisplay
    >>> rng = np.random.default_rng(0)
    >>> labels, site = rng.integers(0, 2, 4000), rng.choice(["north", "south"], 4000, p=[0.8, 0.2])
    >>> scores = rng.normal(2 * labels - (site == "south") * labels)
    >>> test = rk.calibrate(scores[:2000], labels[:2000]).control("fnr", alpha=0.1)
    >>> found = test.evaluate(scores[2000:], labels[2000:], by={"site": site[2000:]})
    >>> GroupDisplay.from_evaluation(found, draw=False)
    GroupDisplay of both errors by site, 2 groups, 1 above; .plot() draws it
    """

    audit: GroupAudit
    rows: list[AuditRow]

    @property
    def _content(self) -> str:
        columns, n = escape_controls(", ".join(self.audit.columns)), len(self.audit)
        above = f", {len(self.audit.above):,} above"
        return f"both errors by {columns[:30]}, {n:,} group{'s' * (n != 1)}{above}"

    @classmethod
    def from_evaluation(
        cls,
        evaluation: object,
        *,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Show the audit of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation, JointEvaluation, FileEvaluation or GroupAudit
            With an audit: of ``test.evaluate(..., by=columns)`` or ``evaluate_file``.
        ax, draw, **kwargs
            As described in `ratekeeper.plots` and by the class.
        """
        audit = (
            evaluation
            if isinstance(evaluation, GroupAudit)
            else getattr(evaluation, "by_group", None)
        )
        if not isinstance(audit, GroupAudit):
            raise InputError(
                (Parameter("evaluation"), f" is {format_value(evaluation)}, which has no audit."),
                parameter="evaluation",
                value=evaluation,
                remedy="Pass what test.evaluate(scores, labels, by=columns) returns.",
            )
        if not len(audit):
            found = "There is no object to show."
            raise InputError(found, parameter="evaluation", remedy="Evaluate labelled objects.")
        return cls(audit, audit.worst(_MOST)).drawn(ax=ax, draw=draw, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        labels: ArrayLike,
        scores: ArrayLike,
        *,
        test: Test,
        by: object,
        groups: ArrayLike | None = None,
        crossed: bool = False,
        ax: Axes | None = None,
        draw: bool = True,
        **kwargs: object,
    ) -> Self:
        """Count what a test does on labelled new objects, truth first, and show it by group."""
        if not isinstance(test, Test):
            raise InputError(parameter="test", value=test, need=_HOW)
        if by is None:
            raise InputError(
                parameter="by", value=by, need="a column, a dictionary of columns or a data frame"
            )
        found = test.evaluate(scores, labels, groups, by=by, crossed=crossed)
        return cls.from_evaluation(found, ax=ax, draw=draw, **kwargs)

    @classmethod
    def from_calibration(
        cls,
        source: Source,
        *,
        scores: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        by: object = None,
        **options: Any,  # noqa: ANN401 - those of `from_predictions`
    ) -> Self:
        """Show a test on labelled new objects, by group; as `from_predictions`."""
        if scores is None or labels is None:
            missing = "scores" if scores is None else "labels"
            raise InputError(
                "An audit counts errors on labelled new objects.",
                parameter=missing,
                value=None,
                remedy=("Pass ", Parameter("scores"), " and ", Parameter("labels"), " of such."),
            )
        return cls.from_predictions(labels, scores, test=source, by=by, **options)  # type: ignore[arg-type]  # it says so

    @classmethod
    def _of(cls, subject: Subject, **options: Any) -> Self:  # noqa: ANN401
        raise NotImplementedError  # its makers do not come by here

    def _draw(self, ax: Axes, **kwargs: object) -> None:
        places = range(len(self.rows))
        self.errorbars_: dict[str, ErrorbarContainer] = {}
        self.level_lines_: list[Line2D] = []
        for label, control in enumerate(("fpr", "fnr")):
            rates = [row.rates[control] for row in self.rows]
            ends = [
                [rate.rate - rate.interval[0] for rate in rates],
                [rate.interval[1] - rate.rate for rate in rates],
            ]
            style = {"color": look.COLOURS[label], "marker": "so"[label], "markersize": 5}
            style |= {"label": _legend(self.audit, control), "capsize": 2.5}
            shift = 0.14 if label == 0 else -0.14
            self.errorbars_[control] = ax.errorbar(
                [rate.rate for rate in rates],
                [place + shift for place in places],
                xerr=ends,
                linestyle="none",
                **look.styled(kwargs, "line", **style),
            )
        for control, level in self.audit.levels.items():
            text = f"level of {control.upper()} {exact_percent(level)}"
            line = look.ruled(ax, "x", level, text, "--")
            line.set_color(look.COLOURS[_CONTROLS[::-1].index(control)])
            self.level_lines_.append(line)
        names = [look.plain(_short(row)) for row in self.rows]
        size = "medium" if len(names) <= _ROOMY else 6.5
        ax.set_yticks(list(places), names, fontsize=size)
        ax.set_ylim(len(self.rows) - 0.5, -0.5)  # the worst at the top
        ax.set_xlim(left=0)
        look.as_percent(ax.xaxis)
        left_out = len(self.audit) - len(self.rows)
        notes = ["▲ shown to be above the level"] if self.audit.above else []
        notes += [f"the {left_out:,} other groups are not drawn"] if left_out else []
        about = "counted rate; all intervals hold together with 95%"
        self.finish("Who pays for the average", about, "", notes)


def _legend(audit: GroupAudit, control: str) -> str:
    side = {"fnr": "missed positives", "fpr": "false alarms"}[control]
    return f"{control.upper()}, {side}{'' if control in audit.levels else ' (the price)'}"


def _short(row: AuditRow) -> str:
    above = any(word == "above" for word in row.verdicts.values())
    name, half = row.name, _LONGEST // 2
    name = name if len(name) <= _LONGEST else f"{name[:half]}…{name[-half:]}"  # both ends tell
    return f"{name} ▲" if above else name
