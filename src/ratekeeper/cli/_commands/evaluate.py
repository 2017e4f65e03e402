"""``ratekeeper evaluate``: the errors of a test, counted on labelled new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper._wording._formatting import exact_percent, percent
from ratekeeper._wording._sentences import say, verdicts_text
from ratekeeper._wording._sentences.evaluation import VERDICTS
from ratekeeper.cli import _alerts, _contents, _options, _settings
from ratekeeper.cli._errors import CheckFailedError, CommandError
from ratekeeper.cli._printing import (
    echo,
    print_json,
    print_paragraph,
    print_table,
    rows_text,
    skipped_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ratekeeper._numerics._rates import Rate
    from ratekeeper.control._certificate import Certificate
    from ratekeeper.control._evaluation import Evaluation, JointEvaluation
    from ratekeeper.control._group_audit import GroupAudit
    from ratekeeper.control._test import Test
    from ratekeeper.files import FileEvaluation

_EPILOG = """\b
Examples:
  ratekeeper evaluate test.rk later.csv
  ratekeeper evaluate test.rk later.parquet --score risk --label ill \\
      --group hospital --json
  ratekeeper evaluate test.rk later.csv --by sex --by age_band --crossed
  ratekeeper evaluate test.rk last-night.csv --check
  ratekeeper evaluate test.rk release.csv --require kept --min-n 1000
  ratekeeper evaluate test.rk errors.csv --counts

--by audits any test by any columns: who pays for the average? Nothing is promised to a
group then, and --check, --require and --min-n are about promises only.

If far more scores than chance explains lie outside the range of the calibration, as those of
another scale do, no promise is about them, and the command ends with code 4 in any case.

If nothing has changed since calibration, one evaluation ends with code 4 by --check with
probability at most 5%, whatever the method and the number of groups. Repeated looks are
not covered: their false alarms add up.
"""
_NOTHING = "nothing is promised"
_MOST_GROUPS = 50  # in a table
_SIDES = {
    "fnr": ("positives", "missed", "positives that the test calls negative"),
    "fpr": ("negatives", "alarms", "negatives that the test calls positive"),
    "fdr": ("alerts", "false", "objects called positive that are negative"),
    "for": ("cleared", "missed", "objects called negative that are positive"),
    "selective_error": ("decided", "wrong", "decisions that are wrong"),
    "alert_share": ("objects", "alerts", "objects that the test calls positive"),
    "undecided": ("objects", "undecided", "objects without a decision"),
}


@click.command("evaluate", epilog=_EPILOG)
@_options.stored_argument("test", "TEST.RK")
@_options.rows_argument()
@_options.column("score", "scores")
@_options.column("label", "true labels")
@_options.column("group", "groups")
@_options.column("cluster", "clusters: one row of each is counted")
@_options.audit
@_options.key()
@_options.column("weight", "weights")
@click.option("--positive", help="The positive label of FILE, if its labels are other ones.")
@click.option(
    "--counts",
    is_flag=True,
    help="FILE is the result of a query of `ratekeeper sql evaluate`.",
)
@click.option(
    "--exclude-calibration",
    is_flag=True,
    help="Leave out rows that calibrated: by cluster, or by score and label where the "
    "calibration's scores are practically unique.",
)
@_options.on_invalid()
@_options.source_format()
@_options.decimal()
@_options.as_json()
@click.option(
    "--check",
    is_flag=True,
    help="End with code 4 if a promised rate is exceeded, of all or in a group, or if there are "
    "no objects to count it on.",
)
@click.option(
    "--require",
    type=click.Choice(["kept"]),
    help="End with code 4 unless every promise is shown to be kept: its whole 95% interval lies at "
    "or below the promised rate.",
)
@click.option(
    "--min-n",
    type=click.IntRange(min=1),
    help="End with code 4 if a promised rate is counted on fewer objects than this.",
)
@_settings.command_option
def command(test: str, file: str, **given: Any) -> None:  # noqa: ANN401
    """Count the errors of a test on labelled new rows.

    FILE holds rows that were neither used to train the classifier nor to calibrate. Prints the
    realised rates with exact intervals and a verdict, by group where there are groups. Writes
    nothing.
    """
    loaded = _contents.load_test(test)
    found = _counted(loaded, file, given) if given["counts"] else _evaluated(loaded, file, given)
    if given["json"]:
        counted = None if found.mixed else _alerts.counted_facts(found.overall)
        print_json({**found.to_dict(), "pooled_groups": _pooled_groups(loaded), "alerts": counted})
    else:
        _show(found, loaded)
    _check(found, given["require"], given["min_n"], check=given["check"])


def _evaluated(test: Test, file: str, given: dict[str, Any]) -> FileEvaluation:
    from ratekeeper.files import evaluate_file

    return evaluate_file(
        test,
        file,
        score=given["score"],
        label=given["label"],
        group=given["group"],
        cluster=given["cluster"],
        key=given["key"],
        weight=given["weight"],
        positive_label=given["positive"],
        on_invalid=given["on_invalid"],
        source_format=given["format"],
        decimal=given["decimal"],
        by=given["by"],
        crossed=given["crossed"],
        exclude_calibration=given["exclude_calibration"],
    )


def _counted(test: Test, file: str, given: dict[str, Any]) -> FileEvaluation:
    from ratekeeper.files import evaluate_counts

    names = ("score", "label", "group", "cluster", "key", "weight", "by", "exclude_calibration")
    useless = [name.replace("_", "-") for name in names if given[name]]
    if useless:
        raise CommandError(
            f"--{useless[0]} needs the rows themselves, and --counts has none. Leave one of them "
            "out."
        )
    return evaluate_counts(
        test,
        file,
        positive_label=given["positive"],
        on_invalid=given["on_invalid"],
        source_format=given["format"],
        decimal=given["decimal"],
    )


def _certificates(test: Test) -> list[Certificate]:
    return [one.certificate for one in test.parts]


def _pooled_groups(test: Test) -> dict[str, list[object]]:
    """Return, by rate, the groups to which nothing is promised."""
    return {one.control: list(one.pooled_groups) for one in _certificates(test)}


def _named_parts(found: FileEvaluation) -> dict[str, Any]:
    """Return what was counted by the name of the group, and of everybody, who come last."""
    parts: dict[str, Any] = {str(group): part for group, part in found.groups.items()}
    whole = "everybody"
    while whole in parts:  # a group may have that name
        whole = f"({whole})"
    return {**parts, whole: found.overall}


def _by_rate(parts: Mapping[str, Any]) -> list[dict[str, Evaluation]]:
    """Return the evaluations of each controlled rate, by name."""
    n_rates = len(next(iter(parts.values())).parts)
    return [{name: part.parts[i] for name, part in parts.items()} for i in range(n_rates)]


def _check(found: FileEvaluation, require: str | None, least: int | None, *, check: bool) -> None:
    """End with a code of its own if what was asked for is not so, or could not be counted."""
    broken, open_, few, uncounted = [], [], [], []
    for parts in _by_rate(_named_parts(found)):
        rate = next(iter(parts.values())).control
        promised = [part for part in parts.values() if part.promised is not None]
        for name, part in parts.items():
            if part.promised is None:
                continue
            facts = {
                "rate": part.name,
                "whom": name,
                "counted": part.target,
                "promised": exact_percent(part.promised),
            }
            text = say("evaluation.rate_of", **facts)
            broken += [text] if part.verdict == "exceeded" else []
            open_ += [text] if require and part.verdict != "kept" else []
            if least and part.target.n < least:
                few.append(f"{text}, counted on {part.target.n:,}")
        if not any(part.target.n for part in promised):
            why = f"there are no {_SIDES[rate][0]}" if promised else _NOTHING
            uncounted.append(f"{say(f'rate.{rate}')} ({why})")
    found_wrong = [
        ("evaluation.exceeded", broken if check or require else []),
        ("evaluation.not_kept", open_),
        ("evaluation.too_few", few),
        ("evaluation.uncounted", uncounted if check or require or least else []),
    ]
    said = [
        say(key, rates="; ".join(rates), least=f"{least or 0:,}")
        for key, rates in found_wrong
        if rates
    ]
    if found.outside is not None:  # whatever was asked for: no promise is about these scores
        said.insert(0, say("evaluation.not_covered"))
    if said:
        raise CheckFailedError(" ".join(said))


def _show(found: FileEvaluation, test: Test) -> None:
    from ratekeeper.control._evaluation import alike_text, gravest, gravest_text, one_look_text

    parts = _named_parts(found)
    by_rate = _by_rate(parts)
    joint = len(by_rate) > 1
    *names, everybody = parts
    all_groups = {name: parts[name] for name in names}
    groups = gravest(all_groups, _MOST_GROUPS)
    shown = {**groups, everybody: parts[everybody]}
    for evaluations in _by_rate(shown):
        _show_target(evaluations, joint=joint)
    if joint:
        _show_undecided(shown)
    else:
        _show_price(shown)
    if not found.mixed:
        _alerts.show_counted(shown)
    print_paragraph("".join(gravest_text(groups, all_groups, "; --json has all")))
    verdicts = [part.verdict for evaluations in by_rate for part in evaluations.values()]
    for word in VERDICTS:
        print_paragraph(verdicts_text({word}.intersection(verdicts)))
    print_paragraph("".join(alike_text(found.overall)))
    if found.groups and test.calibration.groups is None:
        print_paragraph(say("evaluation.audit"))
    for certificate in _certificates(test):
        if certificate.guarantee.kind == "marginal":
            print_paragraph(_average_text(certificate))
    if found.n_clusters is not None:
        key = "clusters.evaluated" if test.parts else "clusters.evaluated.whole"
        print_paragraph(say(key, n=f"{found.n_clusters:,}"))
    print_paragraph(one_look_text(found.overall))
    if found.by_group is not None:
        _show_audit(found.by_group)
    echo(f"Read {rows_text(found.rows)}. {skipped_text(found.skipped)}".rstrip())


def _show_audit(audit: GroupAudit) -> None:
    rows = audit.worst(_MOST_GROUPS)
    echo("")
    print_paragraph(audit.title)
    for title, head, cells, _ in audit.tables(rows) if rows else []:
        echo("")
        print_table(title, head, cells)
    for note in audit.notes(len(rows), "; --json has all"):
        print_paragraph(note)


def _average_text(certificate: Certificate) -> str:
    """Say what an average promise leaves open about one test."""
    (cell, *others) = certificate.cells
    if others or cell.realised is None:
        return say("evaluation.average.plain")
    return say(
        "evaluation.average",
        rate=certificate.rate,
        alpha=exact_percent(certificate.alpha),
        above=percent(cell.realised.exceeds(certificate.alpha)),
        high=percent(cell.realised.interval[1]),
    )


def _show_target(parts: Mapping[str, Evaluation], *, joint: bool) -> None:
    rate = next(iter(parts.values())).control
    level = next((part.promised for part in parts.values() if part.promised is not None), None)
    _show_rates(
        f"{say(f'rate.{rate}')}, promised: "
        f"{'nothing' if level is None else f'at most {exact_percent(level)}'}",
        rate,
        {name: (part.target, part.verdict_text) for name, part in parts.items()},
        joint=joint,
    )


def _show_price(parts: Mapping[str, Evaluation]) -> None:
    first = next(iter(parts.values()))
    _show_rates(
        f"{first.other_name}, the price: {_NOTHING}",
        first.price,
        {name: (part.other, "") for name, part in parts.items()},
    )


def _show_rates(
    title: str, rate: str, cells: Mapping[str, tuple[Rate, str]], *, joint: bool = False
) -> None:
    side, errors, meaning = _SIDES[rate]
    meaning += " or neither" if joint else ""
    share = rate.upper() if rate in ("fnr", "fpr") else "share"
    headings = ["group", side, errors, share, "95% interval", "verdict"]
    rows = [[name, *_rate_cells(found), verdict] for name, (found, verdict) in cells.items()]
    if not any(verdict for _, verdict in cells.values()):
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    print_table(f"{title}\n{meaning}", headings, rows)


def _show_undecided(parts: Mapping[str, JointEvaluation]) -> None:
    rows = [
        [name, f"{side}s", *_rate_cells(part.abstained[side]), f"{part.neither[side].errors:,}"]
        for name, part in parts.items()
        for side in ("positive", "negative")
    ]
    headings = ["group", "of the", "objects", "abstained", "share", "95% interval", "neither"]
    print_table("Undecided, the price of keeping both", headings, rows, texts=2)


def _rate_cells(rate: Rate) -> list[str]:
    if not rate.n:
        return ["0", "0", "unknown", ""]
    low, high = rate.interval
    return [
        f"{rate.n:,}",
        f"{rate.errors:,}",
        percent(rate.rate),
        f"{percent(low)} to {percent(high)}",
    ]
