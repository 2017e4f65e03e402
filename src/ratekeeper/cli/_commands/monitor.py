"""``ratekeeper monitor``: does a test at work keep its promise? For a job that runs nightly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ratekeeper._wording._sentences import say
from ratekeeper.cli import _contents, _options, _settings, _states
from ratekeeper.cli._errors import CheckFailedError, CommandError
from ratekeeper.cli._outputs import STANDARD, Written, check_output
from ratekeeper.cli._printing import echo, print_json, rows_text, skipped_text

if TYPE_CHECKING:
    from ratekeeper.control._test import Test
    from ratekeeper.files import FileRecordResult
    from ratekeeper.monitoring._monitor import Monitor, RecordResult

_EPILOG = """\b
Examples:
  ratekeeper monitor test.rk decided.csv --state watch.rk
  ratekeeper monitor test.rk decided.csv --outcomes labels.csv \\
      --state watch.rk --matures-after "30 days"
  ratekeeper monitor test.rk --outcomes labels.csv --state watch.rk
  ratekeeper monitor test.rk decided.csv --outcomes looked-at.csv \\
      --state watch.rk --matures-after "30 days" --audit 5%

Ends with code 4 on an alarm: over all nights together, a false one has a probability of at
most --delta. The same files again change nothing, so a job that failed is simply run again.
"""


@click.command("monitor", epilog=_EPILOG)
@_options.stored_argument("test", "TEST.RK")
@click.argument("file", metavar="[FILE]", type=_options.PATH, required=False)
@click.option(
    "--outcomes",
    metavar="FILE",
    type=_options.PATH,
    help="File with the true labels of earlier decisions, by id.",
)
@click.option(
    "--state",
    metavar="STATE.RK",
    type=_options.PATH,
    required=True,
    help="What the monitor knows; made in the first night, and replaced in one step.",
)
@click.option("--id", metavar="COLUMN", default="id", show_default=True, help="Column of the ids.")
@click.option(
    "--time",
    metavar="COLUMN",
    default="decided_at",
    show_default=True,
    help="Column that says when each decision was made: numbers, or dates and times (ISO 8601).",
)
@click.option(
    "--decision",
    metavar="COLUMN",
    default="decision",
    show_default=True,
    help="Column of the decisions, as classify writes it.",
)
@_options.column("label", "true labels")
@_options.column("group", "groups")
@click.option(
    "--score",
    metavar="COLUMN",
    help="Column of the scores, which may show a shift before any label is known.  [default: the "
    "same as at calibration, if FILE has it]",
)
@click.option(
    "--delta",
    type=_options.RATE,
    help="Probability of a false alarm, over all nights together.  [default: 0.05]",
)
@click.option(
    "--matures-after",
    metavar="SPAN",
    help="How long after a decision it is counted, labelled or not: '30 days', or a number if "
    "times are numbers. By default every decision waits for its label, and all later ones with it.",
)
@click.option(
    "--audit",
    metavar="RATE",
    help="Labels are those of alerts and of a random audit of this share of all other decisions. "
    "STATE keeps which these are: rk.Monitor.load(STATE, test).to_audit() lists them.",
)
@click.option(
    "--audit-seed",
    type=click.IntRange(min=0),
    help="Number by which the audit is chosen.  [default: drawn, and kept in STATE]",
)
@click.option(
    "--run-length",
    type=click.FloatRange(min=10),
    metavar="OUTCOMES",
    help="How many outcomes there are on average to a false warning of a late change.  "
    "[default: 10000]",
)
@click.option("--now", metavar="TIME", help="What time it is.  [default: the latest decision's]")
@click.option("--plot", metavar="PICTURE", type=_options.PATH, help="Draw its course to this file.")
@_options.on_invalid()
@_options.source_format()
@_options.decimal()
@_options.as_json()
@_settings.command_option
def command(test: str, file: str | None, **given: Any) -> None:  # noqa: ANN401
    """Watch a test at work, night by night.

    TEST.RK is what control wrote, FILE the decisions since the last time, as classify writes them,
    with columns for an id and the time of each. --outcomes has the truth of those decisions for
    which it became known. Either may be left out. Outcomes count in the order of the decisions,
    never in that of their labels. Prints what was counted and three verdicts: is the limit broken,
    are outcomes unlike the calibration, and has the rate changed lately? Where FILE
    has scores, it warns if they cannot be a mixture of the two calibrated classes.
    """
    from ratekeeper._system._locks import exclusive

    state = given["state"]
    inputs = [name for name in (test, file, given["outcomes"]) if name is not None]
    check_output(state, inputs)
    if inputs.count(STANDARD) > 1:
        raise CommandError("FILE and --outcomes cannot both be standard input. Name a file.")
    if given["plot"] is not None:
        check_output(given["plot"], [*inputs, state])
    loaded = _contents.load_test(test)
    with exclusive(state):
        monitor = _monitor(loaded, state, given)
        read = _read(monitor, file, given)
        _ = monitor.n_decisions  # counts all that can be
        monitor.save(state)
    if given["plot"] is not None and monitor.refused is None:
        _draw(monitor, given["plot"])
    _show(monitor, read, as_json=given["json"])


def _monitor(test: Test, state: str, given: dict[str, Any]) -> Monitor:
    """Go on from a state, or begin."""
    from ratekeeper.control._label_audit import Audit
    from ratekeeper.monitoring._monitor import Monitor

    chosen: dict[str, Any] = {}
    if given["delta"] is not None:
        chosen["delta"] = given["delta"]
    if given["matures_after"] is not None:
        chosen["matures_after"] = given["matures_after"]
    if given["audit"] is not None:
        chosen["labels"] = Audit(given["audit"].strip(), given["audit_seed"])
    elif given["audit_seed"] is not None:
        raise CommandError(
            "--audit-seed is the seed of an audit, of which there is none. Pass --audit."
        )
    if given["run_length"] is not None:
        chosen["run_length"] = given["run_length"]
    new = Monitor(test, **chosen)
    if not os.path.lexists(state):
        return new
    monitor = Monitor.load(state, test)
    own = monitor.labels
    if isinstance(own, Audit) and given["audit"] is not None and given["audit_seed"] is None:
        # The number was drawn when the monitor began; only the rate is said again.
        chosen["labels"] = Audit(chosen["labels"].rate, own.random_state)
        new = Monitor(test, **chosen)
    for name in ("delta", "matures_after", "labels", "run_length"):
        if name in chosen:
            option = "audit" if name == "labels" else name.replace("_", "-")
            _states.refuse_other_start(state, option, getattr(monitor, name), getattr(new, name))
    return monitor


def _read(monitor: Monitor, file: str | None, given: dict[str, Any]) -> dict[str, FileRecordResult]:
    from ratekeeper.files import record_file, update_file

    rest = {"id": given["id"], "on_invalid": given["on_invalid"]}
    read = {}
    if file is not None:
        names = {name: given[name] for name in ("time", "decision", "group", "score", "decimal")}
        form = {"source_format": given["format"]}
        read["decisions"] = record_file(monitor, file, **rest, **names, **form)
    if given["outcomes"] is not None:
        read["outcomes"] = update_file(monitor, given["outcomes"], label=given["label"], **rest)
    if given["now"] is not None:
        try:
            now: Any = float(given["now"])
        except ValueError:
            now = given["now"]
        monitor.advance(now)
    return read


def _draw(monitor: Monitor, path: str) -> None:
    from ratekeeper._system._atomic_files import atomic_file
    from ratekeeper.plots import MonitorDisplay

    written = Written(path)
    with written.writing():
        display = MonitorDisplay.from_monitor(monitor)
        form = Path(path).suffix.removeprefix(".") or "png"
        with atomic_file(path) as place:
            try:
                display.figure_.savefig(place, format=form)
            except ValueError as error:  # a format that matplotlib does not know
                raise CommandError(
                    f"--plot {path}: {error}. Name a .png, .svg or .pdf file."
                ) from error
    written.say()


def _show(monitor: Monitor, read: dict[str, FileRecordResult], *, as_json: bool) -> None:
    if as_json:
        files = {name: one.to_dict() for name, one in read.items()}
        print_json({**monitor.to_dict(), "files": files})
    else:
        echo(*repr(monitor).split("\n"))
        for name, one in read.items():
            echo(_noted_text(name, one), err=True)
    if monitor.refused is not None:
        remedy = "Find out the truth of a random part of the others, too, and pass --audit 5%."
        raise CommandError(f"{monitor.refused} {remedy}")
    for text in monitor.warnings:
        echo(f"{say('monitor.title.warning')}: {text}", err=True)
    if monitor.alarm:
        first = next(one for one in monitor.alarms if one.verdict == monitor.pages)
        raise CheckFailedError(f"{say('monitor.title.alarm')}. {monitor.said(first)}")


def _noted_text(name: str, one: FileRecordResult) -> str:
    """Say what became of the rows of a file."""
    noted: RecordResult = one.noted
    facts = {key: f"{n:,}" for key, n in vars(noted).items()}
    counts = f"{facts['new']} new, {facts['known']} known before"
    parts = [f"{name.capitalize()}: {rows_text(one.rows)}, {counts}."]
    left_out = ("too_late", "unknown", "unaudited")
    parts += [say(f"monitor.noted.{k}", **{k: facts[k]}) for k in left_out if getattr(noted, k)]
    if one.empty:
        what = "decision" if name == "decisions" else "label yet"
        parts.append(f"{rows_text(one.empty)} had no {what}.")
    return " ".join(filter(None, [*parts, skipped_text(one.skipped)]))
