"""``ratekeeper normality``: which columns of a file look normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ratekeeper._cli import options, settings
from ratekeeper._cli.printing import print_json, print_table, rows_text
from ratekeeper._cli.refusals import Refusal
from ratekeeper._formatting import near
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EPILOG = """\b
Examples:
  ratekeeper normality measurements.csv
  ratekeeper normality measurements.csv --column weight --by sex
  ratekeeper normality model.parquet --column residual --alternative heavy

Among many tests some p-values are small by chance: nothing is adjusted for that.
"""


@click.command("normality", epilog=_EPILOG)
@options.rows_argument()
@click.option(
    "--column",
    multiple=True,
    metavar="COLUMN",
    help="Column to test, may be repeated; all columns of numbers if left out.",
)
@click.option("--by", metavar="COLUMN", help="Test each group of this column apart.")
@click.option(
    "--alternative",
    type=click.Choice(["omnibus", "heavy", "skewed", "light"]),
    default="omnibus",
    show_default=True,
    help="What to look for: anything, heavy tails, skewness, light tails.",
)
@click.option(
    "--alpha",
    type=options.RATE,
    default=0.05,
    show_default=True,
    help="Share of normal samples that may be called not normal.",
)
@options.on_invalid()
@options.source_format()
@options.as_json()
@settings.command_option
def command(file: str, column: tuple[str, ...], by: str | None, **given: Any) -> None:  # noqa: ANN401
    """Test columns of a file for normality.

    Prints a row for each column, and each group: number of values, statistic, p-value and a
    verdict. A small p-value speaks against normality; a large one does not prove it. The columns
    are read into memory. Writes nothing.
    """
    samples, without_group = _samples(file, column, by, given)
    found = [_judge(sample, given["alternative"], given["alpha"]) for sample in samples]
    if given["json"]:
        facts = [dict(vars(one)) for one in found]
        asked = {"alternative": given["alternative"], "alpha": given["alpha"]}
        print_json({**asked, "rows_without_group": without_group, "samples": facts})
        return
    _show(found, by, given["alpha"])
    if without_group:
        click.echo(f"Skipped {rows_text(without_group)} without {by}.")


@dataclass(frozen=True)
class _Sample:
    column: str
    group: object
    values: NDArray[np.float64]
    skipped: int


@dataclass(frozen=True)
class _Judged:
    column: str
    group: object
    n: int
    skipped: int
    statistic: float | None
    p_value: float | None
    verdict: str
    remark: str | None


def _samples(
    file: str, names: tuple[str, ...], by: str | None, given: dict[str, Any]
) -> tuple[list[_Sample], int]:
    """Return what to test, and the number of rows that were left out for lack of a group."""
    import numpy as np

    columns = _columns(file, names, by, given["format"])
    numbers = {name: values for name, values in columns.items() if values.dtype.kind in "iuf"}
    tested = [name for name in dict.fromkeys(names or numbers) if name != by]
    if not tested:
        raise Refusal(f"{file} has no column of numbers; it has {', '.join(columns)}.")
    groups = None if by is None else _groups(file, by, columns[by], given["on_invalid"])
    samples = []
    for name in tested:
        if name not in numbers:
            _refuse_text(file, name, columns[name])
        values = np.asarray(numbers[name], dtype=np.float64)
        usable = _usable(file, name, values, given["on_invalid"])
        if groups is None:
            samples.append(_Sample(name, None, values[usable], int((~usable).sum())))
            continue
        for group in filter(None, np.unique(groups).tolist()):
            here = groups == group
            skipped = int((here & ~usable).sum())
            samples.append(_Sample(name, group, values[here & usable], skipped))
    return samples, 0 if groups is None else int((groups == "").sum())


def _columns(
    file: str, names: tuple[str, ...], by: str | None, form: str | None
) -> dict[str, NDArray[Any]]:
    from ratekeeper.batch import read_columns

    wanted = [*dict.fromkeys([*names, *([] if by is None else [by])])] if names else None
    columns = read_columns(file, wanted, source_format=form)
    if by is not None and by not in columns:
        raise Refusal(
            f"{file} has no column {by!r}; it has {', '.join(columns)}.{near(by, columns)}"
        )
    if not any(values.size for values in columns.values()):
        raise Refusal(f"{file} has a header and no rows: rows are needed.")
    return columns


def _groups(file: str, by: str, values: NDArray[Any], on_invalid: str) -> NDArray[np.str_]:
    """Return the group of each row as text, empty where it is missing."""
    import numpy as np

    if values.dtype.kind == "f":
        texts = [repr(number).removesuffix(".0") for number in values.tolist()]
        values = np.where(np.isnan(values), "", texts)
    missing = values == ""
    if on_invalid == "refuse" and missing.any():
        raise Refusal(
            f"{file}, row {int(np.argmax(missing)) + 1:,}, column {by!r}: the group is missing. "
            "Fill it in, or leave such rows out with --on-invalid skip, which counts them."
        )
    return values


def _refuse_text(file: str, name: str, values: NDArray[Any]) -> None:
    import numpy as np

    from ratekeeper.batch._pieces import MISSING, NAN
    from ratekeeper.batch._text_values import parse_numbers

    # First as a file of semicolons has them: what is no number so is none in any file.
    for marks in (".,", "."):
        problems = parse_numbers(values.tolist(), marks).problems
        if problems is None:
            continue
        bad = np.flatnonzero(~np.isin(problems, (0, MISSING, NAN)))
        if bad.size:
            raise Refusal(
                f"{file}, row {bad[0] + 1:,}, column {name!r}: {values[bad[0]].item()!r} is not a "
                "number. Mend it, or leave out this column."
            )
    raise Refusal(f"{file}, column {name!r} is not of numbers. Leave it out.")


def _usable(
    file: str, name: str, values: NDArray[np.float64], on_invalid: str
) -> NDArray[np.bool_]:
    import numpy as np

    usable = np.isfinite(values)
    if on_invalid == "refuse" and not usable.all():
        row = int(np.argmin(usable))
        what = "missing or NaN" if np.isnan(values[row]) else f"{values[row]}"
        count = int((~usable).sum())
        raise Refusal(
            f"{file}, row {row + 1:,}, column {name!r}: the value is {what}, the "
            f"{'only one' if count == 1 else f'first of {count:,}'} that cannot be used. Fill in "
            "what is missing, or leave it out with --on-invalid skip, which counts it."
        )
    return usable


def _judge(sample: _Sample, alternative: Any, alpha: float) -> _Judged:  # noqa: ANN401
    from ratekeeper.normality import normality_test

    size = sample.values.size
    start = (sample.column, sample.group, size, sample.skipped)
    try:
        result = normality_test(sample.values, alternative=alternative)
    except InputError as error:  # too few or too many values, or all the same
        reason = str(error).partition(", such as rng.choice")[0].rstrip(".")
        return _Judged(*start, None, None, "not tested", f"{reason}.")
    verdict = "not normal" if result.pvalue <= alpha else "no evidence"
    return _Judged(*start, result.statistic, result.pvalue, verdict, result.caution)


def _show(found: list[_Judged], by: str | None, alpha: float) -> None:
    from ratekeeper._formatting import exact_percent

    has_skipped = any(one.skipped for one in found)
    headings = ["column", *([by] if by else []), "n", *(["skipped"] if has_skipped else [])]
    headings += ["statistic", "p-value", "verdict"]
    rows = []
    for one in found:
        row = [one.column, *([str(one.group)] if by else []), f"{one.n:,}"]
        row += [f"{one.skipped:,}"] if has_skipped else []
        row += ["" if x is None else f"{x:.4g}" for x in (one.statistic, one.p_value)]
        rows.append([*row, one.verdict])
    print_table(
        f"Normal? At most {exact_percent(alpha)} of normal samples are called not normal",
        headings,
        rows,
        texts=2 if by else 1,
    )
    for one in found:
        if one.remark:
            where = one.column + (f", {one.group}" if by else "")
            click.echo(f"{where}: {one.remark}")
