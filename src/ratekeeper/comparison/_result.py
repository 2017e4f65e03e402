"""The table of a comparison: as text, CSV, Markdown and a picture."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from ratekeeper._system._atomic_files import write
from ratekeeper._wording._formatting import escape_controls, exact_percent, format_value
from ratekeeper.comparison import _latex
from ratekeeper.comparison._paired import compared
from ratekeeper.comparison._picture import draw, percent
from ratekeeper.comparison._summary import Summary
from ratekeeper.comparison._trial import Trial

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from ratekeeper.comparison._paired import Paired


@dataclass(frozen=True)
class Comparison:
    """What each system delivered over repeated splits of one data set.

    Attributes
    ----------
    control, alpha, delta
        What was asked.
    n_objects, n_features, n_positive : int
        The data set.
    positive : object
        The label of the positive class.
    n_given, n_test : int
        Objects given to each system, and objects that its errors were counted on.
    rows : tuple of Summary
        One for each system.
    trials : tuple of Trial
        One for each system and split.
    notes : tuple of str
        What was done to the columns before.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 600)
    >>> X = rng.normal(2 * y)[:, None]
    >>> names = ["conformal", "plain"]
    >>> result = rk.compare(X, y, control="fnr", alpha=0.05, systems=names, n_jobs=1, repeats=4)
    >>> for row in result.rows:
    ...     print(f"{row.system}: {row.promise}, {row.target:.3f}")
    conformal: marginal, 0.0...
    plain: none, 0.1...
    """

    control: str
    alpha: float
    delta: float
    n_objects: int
    n_features: int
    n_positive: int
    positive: object
    n_given: int
    n_test: int
    rows: tuple[Summary, ...]
    trials: tuple[Trial, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the table by columns, as `pandas.DataFrame` or `polars.DataFrame` take it."""
        records = [record(row, self.metrics) for row in self.rows]
        return {name: [one[name] for one in records] for name in names_of(Summary, self.metrics)}

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the user's own metrics."""
        found = next((row.metrics for row in self.rows if row.metrics), ())
        return tuple(name for name, _ in found)

    def csv(self) -> str:
        """Return the table as CSV, one row per system."""
        return table_csv(names_of(Summary, self.metrics), self._records(self.rows))

    def trials_csv(self) -> str:
        """Return all trials as CSV, one row per system and split."""
        return table_csv(names_of(Trial, self.metrics), self._records(self.trials))

    def _records(self, items: Iterable[Summary | Trial]) -> Iterator[dict[str, Any]]:
        return (record(item, self.metrics) for item in items)

    @property
    def title(self) -> str:
        """What was compared, in one line."""
        return (
            f"{self.control.upper()} <= {exact_percent(self.alpha)}: {self.n_objects:,} objects "
            f"({self.n_positive:,} positive: {format_value(self.positive)}), {self.n_features:,} "
            f"columns; each system is given {self.n_given:,}, its errors are counted on "
            f"{self.n_test:,} others"
        )

    def markdown(self) -> str:
        """Return the table as Markdown."""
        heads = [head.replace("-\n", "").replace("\n", " ") for head in self._heads()]
        lines = [f"**{_as_markdown(self.title)}.**", "", "| " + " | ".join(heads) + " |"]
        lines.append("| --- | --- |" + " ---: |" * (len(heads) - 3) + " --- |")
        for row in self.rows:
            cells = [*self._cells(row), row.note]
            lines.append("| " + " | ".join(map(_as_markdown, cells)) + " |")
        notes = [f"- {_as_markdown(note)}" for note in self.notes]
        lines += ["", *notes] if notes else []
        return "\n".join([*lines, "", f"{self._legend} {_LEGEND_WIDE}", ""])

    def latex(self) -> str:
        """Return the table as LaTeX, with booktabs."""
        heads = [head.replace("-\n", "").replace("\n", " ") for head in self._heads()[:-1]]
        rows = [self._cells(row) for row in self.rows]
        rows = [[*cells, *[""] * (len(heads) - len(cells))] for cells in rows]
        caption = f"{self.title}. {self._legend} {_LEGEND_WIDE}"
        return _latex.table(heads, rows, texts=2, caption=caption, label="tab:comparison")

    def paired(self, value: str = "other", *, against: str | None = None) -> Paired:
        """Compare systems two by two on the same splits.

        Parameters
        ----------
        value : str, default="other"
            What to compare: "other", "target", "abstained" or one of the metrics.
        against : str, optional
            A system to compare all others with; by default all pairs.

        Returns
        -------
        Paired
            Differences with Wilcoxon's signed-rank test over splits, Holm over pairs. Splits of one
            data set share rows: see its notes.
        """
        return compared(self, value, against)

    def picture(self) -> str:
        """Return a picture of the two errors of each system, as SVG."""
        return draw(self)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``comparison.csv``, ``.md``, ``.tex`` and ``.svg``, and ``trials.csv``.

        Parameters
        ----------
        folder : path-like
            Where to; it is made if needed. Files of these names are replaced, each in one step.
        """
        texts = {
            "comparison.csv": self.csv(),
            "trials.csv": self.trials_csv(),
            "comparison.md": self.markdown(),
            "comparison.tex": self.latex(),
            "comparison.svg": self.picture(),
        }
        write(folder, {name: text.encode() for name, text in texts.items()})

    def show(self, console: Console) -> None:
        """Print the table; without times and training rows where it would not fit."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        # Texts, not markup: a name may look like it.
        console.print(Text(self.title, style="bold"))
        heads = self._heads()[:-1]
        wide = console.width >= self.width
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, int(wide), 0, 0))
        shown = len(heads) if wide else len(heads) - 3
        for i, head in enumerate(heads[:shown]):
            table.add_column(
                head,
                justify="left" if i < 2 else "right",  # noqa: PLR2004 - names, then numbers
                no_wrap=i != 1,  # "high probability" may take two lines,
                min_width=len("probability*") if i == 1 else None,
                max_width=_LONGEST if i == 0 else None,
            )
        family = None
        for row in self.rows:
            if family not in (None, row.family):
                table.add_section()
            family = row.family
            cells = [Text(cell) for cell in self._cells(row)]
            if row.repeats:
                cells[2].stylize(_colour(row, self.alpha))
            table.add_row(*cells[:shown])
        console.print(table)
        narrow = f"Times and training rows are in the files, or shown on {self.width} columns."
        notes = [f"{row.system}: {row.note}" for row in self.rows if row.note]
        legend = f"{self._legend} {_LEGEND_WIDE if wide else narrow}"
        for note in (*notes, *self.notes, legend):
            console.print(Text(escape_controls(note), style="dim"))

    @property
    def width(self) -> int:
        """Columns of a screen that the whole table takes."""
        heads = [max(head.split("\n"), key=len) for head in self._heads()[:-1]]
        lines = [heads, *(self._cells(row) for row in self.rows)]
        first, *others = (max(map(len, column)) for column in zip(*lines, strict=True))
        return min(first, _LONGEST) + sum(others) + 2 * len(others) + 2  # gaps and edges

    @property
    def _abstains(self) -> bool:
        return any(row.abstained > 0 for row in self.rows)

    @property
    def _legend(self) -> str:
        return _LEGEND + _LEGEND_UNDECIDED * self._abstains

    def _heads(self) -> list[str]:
        target, other = ("FNR", "FPR") if self.control == "fnr" else ("FPR", "FNR")
        heads = ["system", "promise", f"{target} % (95%)", "above", "at\nmost", "p", f"{other} %"]
        heads += ["unde-\ncided %"] if self._abstains else []
        heads += [escape_controls(name) for name in self.metrics]
        return [*heads, "fit s", "s/1,000", "trained\non", "note"]

    def _cells(self, row: Summary) -> list[str]:
        start = [escape_controls(row.system), row.promise + "*" * bool(row.assumption)]
        if not row.repeats:
            return [*start, "refused", *[""] * (len(self._heads()) - 4)]
        low, high = (percent(rate, self.alpha) for rate in (row.target_low, row.target_high))
        rates = f"{percent(row.target, self.alpha)} ({low}-{high})"
        cells = [rates, f"{row.above:.0%}", _share(row.above_allowed), _p(row.p_adjusted)]
        cells += [f"{100 * row.other:.1f}"]
        cells += [f"{100 * row.abstained:.1f}"] if self._abstains else []
        cells += [f"{value:.4g}" for _, value in row.metrics]
        times = [_seconds(row.fit_seconds), _seconds(row.seconds_per_1000)]
        return [*start, *cells, *times, f"{row.training_rows:,.0f}"]

    def __repr__(self) -> str:
        from rich.console import Console

        width = max(self.width, 100)
        console = Console(file=io.StringIO(), width=width, highlight=False, record=True)
        self.show(console)
        return console.export_text().rstrip()


# Marks of Markdown where they mean something: not "<=", f_g nor a star at the end.
_MARKS = re.compile(r"[\\`\[\]|~$]|\*(?!$)|(?<![^\W_])_|_(?![^\W_])")
_TAGS = re.compile(r"<(?=[a-zA-Z/!?])|&(?=#?\w+;)")
_LONGEST = 24  # letters of a name in the table
_LEGEND = (
    "*: a promise only if an assumption about the data is true; the CSV names it. (95%): interval "
    "of the mean over splits of these data. above: share of splits in which the error counted on "
    "the test objects is above alpha. at most: the largest share to be expected if the promise "
    "holds, given the size of the test sets; a marginal promise, which is about the mean, allows "
    "many. p: of the promise on random splits of these data, adjusted for the number of systems "
    "(Holm); at most 0.05 contradicts it."
)
_LEGEND_UNDECIDED = (
    " undecided %: share of all objects that get no decision; they count in neither error."
)
_LEGEND_WIDE = (
    "fit s: seconds to learn. s/1,000: seconds to judge 1,000 objects. trained on: rows that "
    "trained what scores."
)


def _as_markdown(text: str) -> str:
    r"""Return a text that stays in its cell, and in which nothing is a tag, a link or code.

    Examples
    --------
    >>> print(_as_markdown("a|b <= <c> ![d](e) f_g _h_"))
    a\|b <= &lt;c> !\[d\](e) f_g \_h\_
    """
    marked = _MARKS.sub(r"\\\g<0>", escape_controls(text))
    return _TAGS.sub(lambda sign: html.escape(sign[0]), marked)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def _p(value: float | None) -> str:
    """Write a p-value, or nothing where there is none.

    Examples
    --------
    >>> _p(0.0004), _p(0.0312), _p(1.0), _p(None)
    ('<.001', '.031', '1', '')
    """
    if value is None:
        return ""
    if value < 0.001:  # noqa: PLR2004 - three digits
        return "<.001"
    return "1" if value >= 0.9995 else f"{value:.3f}".removeprefix("0")  # noqa: PLR2004


def _seconds(value: float) -> str:
    """Write a time with two digits.

    Examples
    --------
    >>> _seconds(0.00123), _seconds(0.998), _seconds(12.3)
    ('.0012', '1.0', '12')
    """
    if not value > 0:
        return "0"
    value = float(f"{value:.2g}")
    digits = max(1 - math.floor(math.log10(value)), 0)
    return f"{value:.{min(digits, 5)}f}".removeprefix("0" if value < 1 else "")


def _colour(row: Summary, alpha: float) -> str:
    if row.target_low > alpha:
        return "red"
    return "green" if row.target <= alpha else "yellow"


def names_of(kind: type[Summary | Trial], metrics: Sequence[str]) -> list[str]:
    """Return the columns of a table, the metrics last."""
    return [*(f.name for f in fields(kind) if f.name != "metrics"), *metrics]


def record(item: Summary | Trial, metrics: Sequence[str]) -> dict[str, Any]:
    """Return a row by columns; a metric that is not there is NaN."""
    found = asdict(item)
    values = dict(found.pop("metrics"))
    return {**found, **{name: _number(values.get(name)) for name in metrics}}


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def table_csv(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as CSV, with nothing where there is no number."""
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: "" if _is_nan(row[name]) else row[name] for name in names})
    return text.getvalue()


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
