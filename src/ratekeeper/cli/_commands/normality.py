"""``ratekeeper normality``: which columns of a file look normal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from ratekeeper._wording._formatting import escape_controls, format_value, has_instead, listed
from ratekeeper.cli import _options, _settings
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._printing import echo, print_json, print_table, rows_text
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SMALLEST, LARGEST = 5, 10_000  # sizes of samples that the tables of the test cover
_EPILOG = """\b
Examples:
  ratekeeper normality measurements.csv
  ratekeeper normality measurements.csv --column weight --by sex
  ratekeeper normality model.parquet --column residual --alternative heavy
  ratekeeper normality large.parquet --sample 10000

Among many tests some p-values are small by chance: nothing is adjusted for that.
"""


@click.command("normality", epilog=_EPILOG)
@_options.rows_argument()
@click.option(
    "--column",
    multiple=True,
    metavar="COLUMN",
    help="Column to test; may be repeated. All columns of numbers if left out.",
)
@click.option("--by", metavar="COLUMN", help="Test the groups of this column separately.")
@click.option(
    "--alternative",
    type=click.Choice(["omnibus", "heavy", "skewed", "light"]),
    default="omnibus",
    show_default=True,
    help="What to look for: any departure, heavy tails, skewness or light tails.",
)
@click.option(
    "--alpha",
    type=_options.RATE,
    default=0.05,
    show_default=True,
    help="Share of normal samples that may be called not normal.",
)
@click.option(
    "--sample",
    metavar="N",
    type=click.IntRange(SMALLEST, LARGEST),
    help="Test a random sample of N values where a column or group has more. Required for more "
    f"than {LARGEST:,} values, which the tables of the test do not cover.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Fix the draw of --sample, for tests and replays.  [default: drawn]",
)
@_options.on_invalid()
@_options.source_format()
@_options.as_json()
@_settings.command_option
def command(file: str, column: tuple[str, ...], by: str | None, **given: Any) -> None:  # noqa: ANN401
    """Test columns of a file for normality.

    Prints a row for each column, and each group: number of values, statistic, p-value and a
    verdict. A small p-value is evidence against normality; a large one does not prove it. The
    columns are read into memory. Writes nothing. If not one sample can be tested, the exit code is
    2.
    """
    if given["sample"] is None and given["seed"] is not None:
        raise CommandError(f"--seed {given['seed']} is for --sample; without it nothing is random.")
    samples, without_group = _samples(file, column, by, given)
    found = [_judge(sample, given) for sample in samples]
    if given["json"]:
        facts = [dict(vars(one)) for one in found]
        asked = {name: given[name] for name in ("alternative", "alpha", "sample")}
        print_json({**asked, "rows_without_group": without_group, "samples": facts})
    else:
        _show(found, by, given["alpha"])
        if without_group:
            echo(f"Skipped {rows_text(without_group)} without {by}.")
    if all(one.p_value is None for one in found):
        reasons = dict.fromkeys(str(one.remark) for one in found)
        raise CommandError(f"Nothing was tested. {' '.join(reasons)}")


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
    sampled_from: int | None = None
    statistic: float | None = None
    p_value: float | None = None
    p_value_is_bound: bool = False  # the tables cannot show how small it is
    verdict: str = "not tested"
    remark: str | None = None


def _samples(
    file: str, names: tuple[str, ...], by: str | None, given: dict[str, Any]
) -> tuple[list[_Sample], int]:
    """Return what to test, and the number of rows that were left out for lack of a group."""
    import numpy as np

    columns = _columns(file, names, by, given["format"])
    numbers = {name: values for name, values in columns.items() if values.dtype.kind in "iuf"}
    tested = [name for name in dict.fromkeys(names or numbers) if name != by]
    if not tested:
        raise CommandError(
            f"{file} has no column of numbers; it has {listed([*columns], most=20)}."
        )
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
        for group, rows in groups.items():
            here = rows[usable[rows]]
            samples.append(_Sample(name, group, values[here], rows.size - here.size))
    n_grouped = 0 if groups is None else sum(rows.size for rows in groups.values())
    return samples, 0 if groups is None else columns[str(by)].size - n_grouped


def _columns(
    file: str, names: tuple[str, ...], by: str | None, form: str | None
) -> dict[str, NDArray[Any]]:
    from ratekeeper.files import read_columns

    wanted = [*dict.fromkeys([*names, *([] if by is None else [by])])] if names else None
    columns = read_columns(file, wanted, source_format=form)
    if by is not None and by not in columns:
        raise CommandError(f"{file} has no column {by!r}; {has_instead(by, [*columns])}")
    if not any(values.size for values in columns.values()):
        raise CommandError(f"{file} has a header and no rows: rows are needed.")
    return columns


def _groups(
    file: str, by: str, values: NDArray[Any], on_invalid: str
) -> dict[str, NDArray[np.intp]]:
    """Return the rows of each group, in the order of their names."""
    import numpy as np

    from ratekeeper.files._row_blocks import PROBLEMS, unfit

    texts = values.tolist()
    if values.dtype.kind == "f":
        texts = ["" if np.isnan(n) else repr(n).removesuffix(".0") for n in texts]
    names = sorted(set(texts) - {""})
    place = {"": len(names), **{name: i for i, name in enumerate(names)}}
    codes = np.fromiter(map(place.__getitem__, texts), np.intp, len(texts))
    problems = [*map(unfit, names), 0]
    bad = {i for i, problem in enumerate(problems) if problem}
    bad |= {len(names)} if on_invalid == "refuse" else set()
    row = next((row for row, code in enumerate(codes.tolist()) if code in bad), None)
    if row is not None:
        problem = problems[codes[row]]
        remedy = "Fill it in, or leave such rows out with --on-invalid skip, which counts them."
        raise CommandError(
            f"{file}, row {row + 1:,}, column {by!r}: the group is "
            f"{PROBLEMS[problem] if problem else 'missing'}. "
            f"{'Give it a short name.' if problem else remedy}"
        )
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
    return {name: order[ends[i] : ends[i + 1]] for i, name in enumerate(names)}


def _refuse_text(file: str, name: str, values: NDArray[Any]) -> None:
    import numpy as np

    from ratekeeper.files._csv_values import parse_numbers
    from ratekeeper.files._row_blocks import MISSING, NAN

    # First as a file of semicolons has them: what is no number so is none in any file.
    for marks in (".,", "."):
        problems = parse_numbers(values.tolist(), marks).problems
        if problems is None:
            continue
        bad = np.flatnonzero(~np.isin(problems, (0, MISSING, NAN)))
        if bad.size:
            raise CommandError(
                f"{file}, row {bad[0] + 1:,}, column {name!r}: {format_value(values[bad[0]])} is "
                "not a number. Fix it, or leave out this column."
            )
    raise CommandError(f"{file}, column {name!r} does not hold numbers. Leave it out.")


def _usable(
    file: str, name: str, values: NDArray[np.float64], on_invalid: str
) -> NDArray[np.bool_]:
    import numpy as np

    usable = np.isfinite(values)
    if on_invalid == "refuse" and not usable.all():
        row = int(np.argmin(usable))
        what = "missing or NaN" if np.isnan(values[row]) else f"{values[row]}"
        count = int((~usable).sum())
        raise CommandError(
            f"{file}, row {row + 1:,}, column {name!r}: the value is {what}, the "
            f"{'only one' if count == 1 else f'first of {count:,}'} that cannot be used. Fill in "
            "what is missing, or leave it out with --on-invalid skip, which counts it."
        )
    return usable


def _judge(sample: _Sample, given: dict[str, Any]) -> _Judged:
    import numpy as np

    from ratekeeper._numerics._draws import Draw
    from ratekeeper.normality import normality_test

    values, whole, most = sample.values, sample.values.size, given["sample"]
    if most is not None and whole > most:
        numbers = Draw.of(given["seed"]).numbers(values.size, "sample")
        values = values[np.sort(numbers.argpartition(most)[:most])]
    judged = _Judged(sample.column, sample.group, values.size, sample.skipped)
    try:
        result = normality_test(values, alternative=given["alternative"])
    except InputError as error:  # too few or too many values, or all the same
        remedy = f"Test a random sample of it with --sample {LARGEST}."
        reason = f"{error.found} {remedy if values.size > LARGEST else error.remedy}"
        return replace(judged, remark=reason)
    drawn = whole > values.size
    text = f"A random sample of {values.size:,} of the {whole:,} values was tested."
    return replace(
        judged,
        sampled_from=whole if drawn else None,
        statistic=result.statistic,
        p_value=result.pvalue,
        p_value_is_bound=result.pvalue <= result.smallest_pvalue,
        verdict="not normal" if result.pvalue <= given["alpha"] else "no evidence",
        remark=" ".join(filter(None, (text * drawn, result.caution))) or None,
    )


def _show(found: list[_Judged], by: str | None, alpha: float) -> None:
    from ratekeeper._wording._formatting import exact_percent
    from ratekeeper.normality._result import p_text

    has_skipped = any(one.skipped for one in found)
    headings = ["column", *([escape_controls(by)] if by else []), "n"]
    headings += [*(["skipped"] if has_skipped else []), "statistic", "p-value", "verdict"]
    rows = []
    for one in found:
        row = [one.column, *([str(one.group)] if by else []), f"{one.n:,}"]
        row += [f"{one.skipped:,}"] if has_skipped else []
        if one.statistic is None or one.p_value is None:
            rows.append([*row, "", "", one.verdict])
            continue
        p_value = p_text(one.p_value, one.p_value_is_bound)
        rows.append([*row, f"{one.statistic:.4g}", p_value, one.verdict])
    print_table(
        f"Normal? At most {exact_percent(alpha)} of normal samples are called not normal",
        headings,
        rows,
        texts=2 if by else 1,
    )
    for one in found:
        if one.remark:
            where = one.column + (f", {one.group}" if by else "")
            echo(f"{where}: {one.remark}")
