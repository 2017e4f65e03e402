"""Comparisons over several data sets, rates and levels: one table, and ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratekeeper._reading._parameters import check_probability
from ratekeeper._system._atomic_files import write
from ratekeeper._wording._formatting import exact_percent, format_value
from ratekeeper.comparison import _latex
from ratekeeper.comparison._compare import compare
from ratekeeper.comparison._own_systems import check_name
from ratekeeper.comparison._paired import RATES
from ratekeeper.comparison._ranks import ranked
from ratekeeper.comparison._result import names_of, record, table_csv
from ratekeeper.comparison._summary import Summary
from ratekeeper.comparison._trial import Trial
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from ratekeeper.comparison._ranks import Ranks
    from ratekeeper.comparison._result import Comparison

_ASKED = ("data", "control", "alpha", "delta")


@dataclass(frozen=True)
class Comparisons:
    """Comparisons of the same systems on several data sets, at one or more rates and levels.

    Attributes
    ----------
    results : tuple of (str, Comparison)
        The name of the data set, and what was found on it.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 150)
    >>> data = {f"set {i}": (rng.normal(y + i / 4)[:, None], y) for i in range(3)}
    >>> names = ["conformal", "plain"]
    >>> found = rk.comparison.compare_all(
    ...     data, control="fnr", alpha=0.1, systems=names, repeats=2, n_jobs=1
    ... )
    >>> found.to_dict()["data"][:3], len(found.results)
    (['set 0', 'set 0', 'set 1'], 3)
    >>> found.ranks("other").systems
    ('plain', 'conformal')
    """

    results: tuple[tuple[str, Comparison], ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the user's own metrics."""
        return next((result.metrics for _, result in self.results if result.metrics), ())

    def to_dict(self) -> dict[str, list[Any]]:
        """Return one stacked table by columns: data, control, alpha and delta, then the rows."""
        rows = list(self._rows("rows"))
        names = [*_ASKED, *names_of(Summary, self.metrics)]
        return {name: [row[name] for row in rows] for name in names}

    def csv(self) -> str:
        """Return one stacked table as CSV, a row for each data set, rate, level and system."""
        return table_csv([*_ASKED, *names_of(Summary, self.metrics)], self._rows("rows"))

    def trials_csv(self) -> str:
        """Return all trials as one CSV."""
        return table_csv([*_ASKED, *names_of(Trial, self.metrics)], self._rows("trials"))

    def _rows(self, what: str) -> Iterator[dict[str, Any]]:
        for data, result in self.results:
            asked = dict(
                zip(_ASKED, (data, result.control, result.alpha, result.delta), strict=True)
            )
            for item in getattr(result, what):
                yield {**asked, **record(item, self.metrics)}

    def ranks(
        self,
        value: str = "other",
        *,
        systems: Sequence[str] | None = None,
        control: str | None = None,
        alpha: float | None = None,
        level: float = 0.05,
        higher_is_better: bool = False,
    ) -> Ranks:
        """Rank systems over the data sets, by their means.

        Parameters
        ----------
        value : str, default="other"
            What to rank: "other", "target", "abstained" or a metric.
        systems : list of str, optional
            Which systems, by default all that have a result on every data set.
        control, alpha : optional
            Of which rate and level, where there are several: data sets must not count twice.
        level : float, default=0.05
            Level of the critical difference.
        higher_is_better : bool, default=False
            Whether large values are good, as of some metrics.
        """
        chosen = [
            (data, result)
            for data, result in self.results
            if control in (None, result.control) and alpha in (None, result.alpha)
        ]
        asked = sorted({(result.control, result.alpha) for _, result in chosen or self.results})
        if not chosen or len(asked) != 1:
            listed = ", ".join(f"{rate.upper()} at {exact_percent(at)}" for rate, at in asked)
            raise InputError(
                f"The comparisons are of {listed}.",
                parameter="alpha",
                value=alpha,
                remedy="Choose one of them by control and alpha: data sets must not count twice.",
            )
        if value not in (*RATES, *self.metrics):
            known = ", ".join(map(format_value, (*RATES, *self.metrics)))
            raise InputError(parameter="value", value=value, need=f"one of {known}")
        means = [_means(result, value) for _, result in chosen]
        names = list(dict.fromkeys(row.system for _, result in chosen for row in result.rows))
        if systems is not None:
            unknown = [name for name in systems if name not in names]
            if unknown:
                raise InputError(
                    parameter="systems",
                    value=unknown[0],
                    need=f"names of systems that were compared: {', '.join(names)}",
                )
            names = list(systems)
        whole = [name for name in names if all(name in found for found in means)]
        return ranked(
            [[found[name] for name in whole] for found in means],
            whole,
            [data for data, _ in chosen],
            value=value,
            level=check_probability(level, "level"),
            higher_is_better=higher_is_better,
            left_out=[name for name in names if name not in whole],
        )

    def latex(self) -> str:
        """Return verdicts over all data sets as LaTeX: how often each system kept its promise."""
        heads = ["system", "promise", "results", "refused", "exceeded", "mean error / alpha"]
        heads += ["mean other %"]
        rows = []
        for name in dict.fromkeys(row.system for _, result in self.results for row in result.rows):
            found = [
                (r.alpha, row) for _, r in self.results for row in r.rows if row.system == name
            ]
            done = [(alpha, row) for alpha, row in found if row.repeats]
            last = found[-1][1]
            n = len(done)
            rows.append(
                [
                    *(name, last.promise + "*" * bool(last.assumption)),
                    *(str(n), str(len(found) - n)),
                    str(sum(row.verdict == "exceeded" for _, row in done)),
                    f"{sum(row.target / alpha for alpha, row in done) / n:.2f}" if n else "",
                    f"{100 * sum(row.other for _, row in done) / n:.1f}" if n else "",
                ]
            )
        sets = len({data for data, _ in self.results})
        caption = (
            f"{len(self.results)} comparisons on {sets} data sets. exceeded: the promise is "
            "contradicted (p at most 5%, Holm over the systems of one comparison). *: a promise "
            "only if an assumption about the data is true."
        )
        return _latex.table(heads, rows, texts=2, caption=caption, label="tab:comparisons")

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``comparisons.csv``, ``trials.csv`` and ``comparisons.tex``, and every picture.

        Parameters
        ----------
        folder : path-like
            Where to; it is made if needed. Files of these names are replaced.
        """
        texts = {
            "comparisons.csv": self.csv(),
            "trials.csv": self.trials_csv(),
            "comparisons.tex": self.latex(),
        }
        for number, (_, result) in enumerate(self.results, start=1):
            texts[f"comparison-{number}.svg"] = result.picture()
        write(folder, {name: text.encode() for name, text in texts.items()})

    def __repr__(self) -> str:
        lines = [f"{len(self.results)} comparisons:"]
        for data, result in self.results:
            exceeded = [row.system for row in result.rows if row.verdict == "exceeded"]
            said = f"exceeded by {', '.join(exceeded)}" if exceeded else "no promise is exceeded"
            rate = f"{result.control.upper()} <= {exact_percent(result.alpha)}"
            lines.append(f"  {data}, {rate}: {len(result.rows)} systems; {said}")
        return "\n".join(lines)


def _means(result: Comparison, value: str) -> dict[str, float]:
    """Return the means of the systems that have one."""
    found = {row.system: record(row, result.metrics)[value] for row in result.rows}
    return {name: float(mean) for name, mean in found.items() if not math.isnan(mean)}


def compare_all(
    data: Mapping[str, tuple[Any, Any] | Mapping[str, Any]],
    *,
    control: str | Sequence[str],
    alpha: float | Sequence[float],
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Any,  # noqa: ANN401 - of `compare`
) -> Comparisons:
    """Compare systems on several data sets, at one or more rates and levels.

    Parameters
    ----------
    data : dict
        A pair ``(X, y)`` for each name; or a dict with `X`, `y` and options of its own, such as
        `positive_label`, `groups` or `splits`.
    control : {"fnr", "fpr"} or list of them
        Which error rate is to be kept.
    alpha : float or list of float
        At which level.
    checkpoint : path-like, optional
        Folder that keeps every finished trial, a journal for each comparison.
    **options
        As of `compare`, for all data sets. Systems of your own that depend on `control` or `alpha`
        are given as a class or function, which is called for each.

    Returns
    -------
    Comparisons
        It prints, writes CSV and LaTeX, and ranks.

    Examples
    --------
    >>> import numpy as np, ratekeeper as rk
    >>> y = np.repeat([0, 1], 100)
    >>> X = np.random.default_rng(0).normal(2 * y)[:, None]
    >>> rk.comparison.compare_all(
    ...     {"a": (X, y), "b": {"X": -X, "y": y, "positive_label": 0}},
    ...     control="fnr", alpha=[0.1, 0.2], systems="conformal", repeats=2, n_jobs=1,
    ... )
    4 comparisons:
      a, FNR <= 10%: 1 systems; no promise is exceeded
      a, FNR <= 20%: 1 systems; no promise is exceeded
      b, FNR <= 10%: 1 systems; no promise is exceeded
      b, FNR <= 20%: 1 systems; no promise is exceeded
    """
    if not (hasattr(data, "items") and len(data)):
        need = "a dict with a pair (X, y) for each name"
        raise InputError(parameter="data", value=data, need=need)
    controls = [control] if isinstance(control, str) else list(control)
    alphas = list(alpha) if isinstance(alpha, list | tuple) else [alpha]
    folder = None if checkpoint is None else Path(checkpoint)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    results = []
    for number, (name, given) in enumerate(data.items()):
        check_name(name, "data")
        own = _options(name, given)
        for rate in controls:
            for level in alphas:
                journal = f"{number}-{str(rate).lower()}-{level}.jsonl"
                kept = None if folder is None else folder / journal
                asked = {**options, **own, "control": rate, "alpha": level, "checkpoint": kept}
                results.append((name, compare(asked.pop("X"), asked.pop("y"), **asked)))
    return Comparisons(tuple(results))


def _options(name: str, given: object) -> dict[str, Any]:
    if isinstance(given, Mapping) and {"X", "y"} <= given.keys():
        return dict(given)
    if isinstance(given, tuple | list) and len(given) == 2:  # noqa: PLR2004 - X and y
        return {"X": given[0], "y": given[1]}
    raise InputError(
        f"data[{name!r}] is {format_value(given)}, and a pair (X, y), or a dict with X, y and "
        "options, is needed.",
        parameter="data",
        value=name,
    )
