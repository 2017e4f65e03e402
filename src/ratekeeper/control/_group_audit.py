"""Who pays for the average: both errors and the precision of a test, group by group.

Facts, verdicts, tables and words; `_group_audit_counts` counts.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ratekeeper._numerics._holm import holm
from ratekeeper._numerics._rates import Rate, clopper_pearson
from ratekeeper._wording import _html as markup
from ratekeeper._wording._formatting import escape_controls, exact_percent, format_value, percent
from ratekeeper._wording._sentences import say
from ratekeeper.control._evaluation import FALSE_ALARMS, binomial_tail
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._rates import Control

AuditVerdict = Literal["above", "open", "within", "unknown"]

CONFIDENCE = 0.95  # of all intervals of an audit together
_SHOWN = 24  # rows
_WIDTH, _NAME = 79, 21  # of a line, and of a name in it
_WORDS: tuple[AuditVerdict, ...] = ("unknown", "within", "open", "above")  # a code is the place
_MEANINGS = {
    "above": "audit.above",
    "open": "audit.open",
    "within": "audit.within",
    "unknown": "audit.unknown",
}
_ERRORS: tuple[Control, ...] = ("fnr", "fpr")


@dataclass(frozen=True)
class AuditedRate(Rate):
    """A counted rate whose interval holds together with all others of its audit."""

    low: float = 0.0
    high: float = 1.0

    @property
    def interval(self) -> tuple[float, float]:
        """The interval; (0, 1) if there are no objects."""
        return self.low, self.high


@dataclass(frozen=True)
class AuditRow:
    """What was counted in one group.

    Attributes
    ----------
    columns, groups : tuple
        Names of the columns and the value in each; None stands for a missing value.
    n_positive, n_negative : int
        Number of objects by true class.
    fnr, fpr : Rate
        Both errors, as in an evaluation.
    precision : Rate
        The share of true positives among those called positive.
    undecided : Rate or None
        The share of objects without a decision; None if the test always decides.
    p_values : dict
        By controlled rate: the exact p-value of "the true rate is at or below the level", adjusted
        for the whole audit (Holm); None without objects.
    verdicts : dict
        By controlled rate: "above", "open", "within" or "unknown".
    """

    columns: tuple[str, ...]
    groups: tuple[Any, ...]
    n_positive: int
    n_negative: int
    fnr: Rate
    fpr: Rate
    precision: Rate
    undecided: Rate | None
    p_values: Mapping[Control, float | None]
    verdicts: Mapping[Control, AuditVerdict]

    @property
    def name(self) -> str:
        """The group in words, such as ``site='north', year=2016``."""
        return _name(self.columns, self.groups)

    @property
    def rates(self) -> dict[str, Rate]:
        """The rates by name."""
        found = {"fnr": self.fnr, "fpr": self.fpr, "precision": self.precision}
        return found if self.undecided is None else {**found, "undecided": self.undecided}

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        return {
            "columns": list(self.columns),
            "groups": list(self.groups),
            "n_positive": self.n_positive,
            "n_negative": self.n_negative,
            **{name: _rate_dict(name, rate) for name, rate in self.rates.items()},
            "p_values": dict(self.p_values),
            "verdicts": dict(self.verdicts),
        }


class Table(NamedTuple):
    """A table for people: its title, the headings, the rows, and which columns are numbers."""

    title: str
    head: list[str]
    rows: list[list[str]]
    numbers: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class GroupAudit:
    """Both errors and the precision of a test in every group, with verdicts.

    Made by ``test.evaluate(scores, labels, by=columns).by_group``. It prints as a table, worst
    first.

    Attributes
    ----------
    columns : tuple of str
        By what was counted.
    crossed : bool
        Whether there is also a row for each combination of all columns.
    levels : dict
        The level of the test for each rate that it controls.
    mixed : bool
        Whether a row of either class was counted of some cluster. Then the intervals of precision
        and of the undecided share are only a guide: their objects are not independent.

    Notes
    -----
    **Guarantee.** For objects that are drawn independently within each group:

    - All intervals of the audit, of every rate in every row, hold together with probability at
      least 95%: each is an exact binomial (Clopper-Pearson) interval, with the 5% divided by
      their number (Bonferroni). Those of precision and of the undecided share are about a
      population with the same shares of the classes in each group; those of the errors are not.
    - "above" is a statement about the true rate of this very test in that group. The chance that
      an audit says so at all where the true rate is at or below the level is at most 5%, over all
      rows and controlled rates, whatever the calibration: exact binomial p-values, Holm's method.
    - "within" is said if the whole interval is at or below the level, so that these verdicts hold
      together with probability at least 95%.

    Nothing is promised to a group by an audit: the level of the test is a yardstick. It does not
    cover columns or bins that were chosen by looking at the errors, nor repeated looks.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> labels, site = rng.integers(0, 2, 4000), rng.choice(["north", "south"], 4000, p=[0.8, 0.2])
    >>> scores = rng.normal(2 * labels - (site == "south") * labels)
    >>> test = rk.calibrate(scores[:2000], labels[:2000]).control("fnr", alpha=0.1)
    >>> audit = test.evaluate(scores[2000:], labels[2000:], by={"site": site[2000:]}).by_group
    >>> [(row.name, row.verdicts["fnr"]) for row in audit.rows]
    [("site='north'", 'within'), ("site='south'", 'above')]
    """

    columns: tuple[str, ...]
    crossed: bool
    levels: Mapping[Control, float]
    _groups: list[tuple[tuple[str, ...], tuple[Any, ...]]]
    _counts: NDArray[np.intp]  # group, true class, decision: see `counted`
    _can_abstain: bool
    mixed: bool = False

    def __len__(self) -> int:
        return len(self._groups)

    @cached_property
    def _rates(self) -> dict[str, tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """How many of how many, for each rate."""
        by_class, c = self._counts.sum(axis=2), self._counts
        found = {
            "fnr": (c[:, 1, 0] + c[:, 1, 3], by_class[:, 1]),
            "fpr": (c[:, 0, 1] + c[:, 0, 3], by_class[:, 0]),
            "precision": (c[:, 1, 1], c[:, :, 1].sum(axis=1)),
        }
        if self._can_abstain:
            found["undecided"] = (c[:, :, 2:].sum(axis=(1, 2)), by_class.sum(axis=1))
        return found

    @property
    def n_intervals(self) -> int:
        """How many intervals hold together: one for each rate in each row.

        Also where there are no objects to count it on: their number must not depend on what was
        decided.
        """
        return len(self) * len(self._rates)

    @property
    def _confidence(self) -> float:
        return 1.0 - (1.0 - CONFIDENCE) / max(1, self.n_intervals)

    @cached_property
    def _intervals(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        found = {}
        for name, (errors, n) in self._rates.items():
            # Very many groups share few sizes.
            pairs, place = np.unique(np.stack([errors, n]), axis=1, return_inverse=True)
            low, high = clopper_pearson(pairs[0], pairs[1], self._confidence)
            found[name] = low[place.reshape(-1)], high[place.reshape(-1)]
        return found

    @cached_property
    def _p_values(self) -> dict[Control, NDArray[np.float64]]:
        """Exact p-values of "the true rate is at or below the level", NaN without objects."""
        found = {}
        for control, level in self.levels.items():
            errors, n = self._rates[control]
            found[control] = np.where(n > 0, binomial_tail(errors, n, level), np.nan)
        return found

    @cached_property
    def _adjusted(self) -> dict[Control, NDArray[np.float64]]:
        if not self.levels:
            return {}
        p = np.concatenate(list(self._p_values.values()))
        p[~np.isnan(p)] = holm(p[~np.isnan(p)])
        return dict(zip(self.levels, np.split(p, len(self.levels)), strict=True))

    @cached_property
    def _verdicts(self) -> dict[Control, NDArray[np.intp]]:
        found = {}
        for control, level in self.levels.items():
            p, high = self._adjusted[control], self._intervals[control][1]
            word = np.where(high <= level, _WORDS.index("within"), _WORDS.index("open"))
            word = np.where(p <= FALSE_ALARMS, _WORDS.index("above"), word)
            found[control] = np.where(np.isnan(p), _WORDS.index("unknown"), word)
        return found

    @cached_property
    def _worst_first(self) -> NDArray[np.intp]:
        """By the least p-value, and where that is equal by the highest controlled rate."""
        if not len(self):
            return np.zeros(0, dtype=np.intp)
        p = np.stack([*self._p_values.values(), np.full(len(self), np.nan)])
        rates = [_share(*self._rates[control]) for control in self.levels or ("fnr",)]
        order = np.lexsort((-np.fmax.reduce(rates), np.nan_to_num(np.fmin.reduce(p), nan=2.0)))
        return order.astype(np.intp)

    @cached_property
    def rows(self) -> list[AuditRow]:
        """One for each group of each column, in order, then one for each combination."""
        return self._made(np.arange(len(self)))

    def worst(self, most: int | None = None) -> list[AuditRow]:
        """Return the rows that are most at odds with the level, these first; all by default."""
        return self._made(self._worst_first[:most])

    @property
    def above(self) -> list[AuditRow]:
        """The rows with a rate that is shown to be above the level, worst first."""
        return self._made(self._worst_first[self._is_above[self._worst_first]])

    @cached_property
    def _is_above(self) -> NDArray[np.bool_]:
        found = np.zeros(len(self), dtype=bool)
        for words in self._verdicts.values():
            found |= words == _WORDS.index("above")
        return found

    def _made(self, places: NDArray[np.intp]) -> list[AuditRow]:
        rates: dict[str, list[AuditedRate]] = {}
        confidence = self._confidence
        for name, counts in self._rates.items():
            arrays = [array[places].tolist() for array in (*counts, *self._intervals[name])]
            rates[name] = [
                AuditedRate(errors, n, confidence, low, high)
                for errors, n, low, high in zip(*arrays, strict=True)
            ]
        p_values = {c: p[places].tolist() for c, p in self._adjusted.items()}
        words = {c: [_WORDS[i] for i in w[places].tolist()] for c, w in self._verdicts.items()}
        found = []
        for i, place in enumerate(places.tolist()):
            columns, groups = self._groups[place]
            row = AuditRow(
                columns,
                groups,
                n_positive=rates["fnr"][i].n,
                n_negative=rates["fpr"][i].n,
                fnr=rates["fnr"][i],
                fpr=rates["fpr"][i],
                precision=rates["precision"][i],
                undecided=rates["undecided"][i] if "undecided" in rates else None,
                p_values={c: p[i] if rates[c][i].n else None for c, p in p_values.items()},
                verdicts={c: word[i] for c, word in words.items()},
            )
            found.append(row)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""
        return {
            "columns": list(self.columns),
            "crossed": self.crossed,
            "levels": dict(self.levels),
            "confidence": CONFIDENCE,
            "n_intervals": self.n_intervals,
            **({"mixed": True} if self.mixed else {}),
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_pandas(self) -> Any:  # noqa: ANN401 - a DataFrame, of a library that need not be there
        """Return a pandas data frame with one row per group; needs pandas."""
        try:
            import pandas as pd  # type: ignore[import-untyped]
        except ImportError as error:
            raise MissingPandasError from error
        plain = [row.columns for row in self.rows]
        table: dict[str, Any] = {
            "column": [", ".join(columns) for columns in plain],
            "group": pd.Series(
                [row.groups[0] if len(row.groups) == 1 else row.groups for row in self.rows],
                dtype=object,
            ),
            "n_positive": self._rates["fnr"][1],
            "n_negative": self._rates["fpr"][1],
        }
        for name, (errors, n) in self._rates.items():
            low, high = self._intervals[name]
            table |= {name: _share(errors, n), f"{name}_low": low, f"{name}_high": high}
        for control in self.levels:
            table[f"{control}_p_value"] = self._adjusted[control]
            table[f"{control}_verdict"] = [_WORDS[i] for i in self._verdicts[control].tolist()]
        return pd.DataFrame(table)

    def tables(self, rows: Sequence[AuditRow]) -> list[Table]:
        """Return the controlled rates of some rows with verdicts, and their price, as tables."""
        found = [
            Table(
                say("audit.target", rate=control.upper(), alpha=exact_percent(level)),
                ["group", "positives", "negatives", control.upper(), "interval", "verdict"],
                [_target_cells(row, control) for row in rows],
                (1, 2, 3, 4),
            )
            for control, level in self.levels.items()
        ]
        others = [name for name in self._rates if name not in self.levels]
        for start in range(0, len(others), 2):  # as many as fit a line
            names = others[start : start + 2]
            head = [name.upper() if name in _ERRORS else name for name in names]
            cells = [[row.name, *(_brief(row.rates[name]) for name in names)] for row in rows]
            found.append(Table(say("audit.price"), ["group", *head], cells, (1, 2)))
        return found

    @property
    def title(self) -> str:
        """What was audited, in a line."""
        columns = ", ".join(map(escape_controls, self.columns))
        how = say("audit.title.crossed") if self.crossed else ""
        return say("audit.title", columns=columns, how=how, n=f"{len(self):,}")

    def notes(self, shown: int, about: str | None = None) -> list[str]:
        """Return what a reader of the tables has to know."""
        if not len(self):
            return [say("audit.nothing")]
        left = self._is_above[self._worst_first[shown:]]
        facts = {
            "shown": f"{min(shown, len(self)):,}",
            "n": f"{len(self):,}",
            "exceeded": say("audit.worst.above", n=f"{left.sum():,}") if left.any() else "",
            "about": say("audit.worst.all") if about is None else about,
        }
        known = {int(i) for words in self._verdicts.values() for i in np.unique(words)}
        said = [
            f"{word}: {say(_MEANINGS[word])}" for word in _MEANINGS if _WORDS.index(word) in known
        ]
        return [
            *([say("audit.worst", **facts)] if left.size else []),
            *([f"{'; '.join(said)}."] if said else []),
            say("clusters.audit" if self.mixed else "audit.intervals", n=f"{self.n_intervals:,}"),
            *([say("audit.verdicts"), say("audit.yardstick")] if self.levels else []),
        ]

    def __repr__(self) -> str:
        rows = self.worst(_SHOWN)
        lines = [line for table in self.tables(rows) if rows for line in _lines(table)]
        notes = [textwrap.fill(note, _WIDTH) for note in self.notes(len(rows))]
        return "\n".join([textwrap.fill(self.title, _WIDTH), *lines, "", *notes])

    def _repr_html_(self) -> str:
        rows, parts = self.worst(_SHOWN), []
        for table in self.tables(rows):
            cells = [[*map(markup.verdict, row)] for row in table.rows]
            parts += [markup.note(table.title), markup.table(table.head, cells, table.numbers)]
        return markup.card(self.title, [*parts, *map(markup.note, self.notes(len(rows)))])


class MissingPandasError(InputError, ImportError):
    """A data frame of pandas was asked for, and pandas is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "to_pandas makes a data frame of pandas, which is not installed.",
            remedy="Install it with: pip install pandas. Or use to_dict, which needs nothing.",
        )


def _share(errors: NDArray[np.intp], n: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.where(n > 0, errors / np.maximum(n, 1), np.nan)


def _name(columns: Sequence[str], groups: Sequence[Any]) -> str:
    return ", ".join(
        f"{escape_controls(column)}={'missing' if value is None else format_value(value)}"
        for column, value in zip(columns, groups, strict=True)
    )


def _target_cells(row: AuditRow, control: Control) -> list[str]:
    rate, (low, high) = row.rates[control], row.rates[control].interval
    known = [percent(rate.rate), f"{percent(low)} to {percent(high)}"]
    counts = [row.name, f"{row.n_positive:,}", f"{row.n_negative:,}"]
    return [*counts, *(known if rate.n else ["", ""]), row.verdicts[control]]


def _rate_dict(name: str, rate: Rate) -> dict[str, Any]:
    facts: dict[str, Any] = rate.to_dict()
    return facts if name in _ERRORS else {"count": facts.pop("errors"), **facts}  # no errors


def _brief(rate: Rate) -> str:
    return str(rate) if rate.n else say("audit.none")


def _lines(table: Table) -> list[str]:
    """Write a table in lines of text; a long name has a line of its own."""
    cells = [table.head, *table.rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.head))]
    widths[0] = min(widths[0], _NAME)
    lines = ["", table.title]
    for row in cells:
        name, *rest = row
        if len(name) > widths[0]:
            lines.append(name if len(name) <= _WIDTH else f"{name[: _WIDTH - 1]}…")
            name = ""
        shown = [
            cell.rjust(width) if i in table.numbers else cell.ljust(width)
            for i, (cell, width) in enumerate(zip([name, *rest], widths, strict=True))
        ]
        lines.append("  ".join(shown).rstrip())
    return lines
