"""``ratekeeper learn``: the labels of what an adaptive test decided earlier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper._wording._formatting import percent
from ratekeeper._wording._sentences import say
from ratekeeper.cli import _options, _settings
from ratekeeper.cli._outputs import STANDARD, refuse_inputs
from ratekeeper.cli._printing import (
    print_json,
    print_paragraph,
    print_table,
    rows_text,
    skipped_text,
)

if TYPE_CHECKING:
    from ratekeeper.files import LearnedFile
    from ratekeeper.monitoring._adaptive import AdaptiveCertificate

_MOST_GROUPS = 50  # in a table
_EPILOG = """\b
Examples:
  ratekeeper classify test.rk today.csv --adaptive state.rk --id person \\
      -o decided.csv
  ratekeeper learn state.rk outcomes.csv --id person --label ill

To learn the same labels again changes nothing, so a run that failed can be repeated.
"""


@click.command("learn", epilog=_EPILOG)
@_options.stored_argument("state", "STATE.RK")
@_options.rows_argument()
@click.option("--id", metavar="COLUMN", required=True, help="Column of the ids of the decisions.")
@click.option("--label", metavar="COLUMN", required=True, help="Column of the true labels.")
@click.option(
    "--unknown",
    type=click.Choice(["refuse", "ignore"]),
    default="refuse",
    show_default=True,
    help="What to do with ids that have no decision in STATE.RK.",
)
@_options.on_invalid()
@_options.source_format()
@_options.as_json()
@_settings.command_option
def command(state: str, file: str, **given: Any) -> None:  # noqa: ANN401
    """Learn the labels of earlier decisions of an adaptive test.

    STATE.RK is what classify --adaptive keeps, FILE a file with the labels of rows it decided on.
    Labels of the class whose error is controlled move the level of the next decisions. Prints the
    errors so far, and how many were possible at most. STATE.RK is replaced in one step; no test
    file is needed.
    """
    from ratekeeper._system._locks import exclusive
    from ratekeeper.files import learn_file
    from ratekeeper.monitoring._adaptive import certificate_of, load_ledger, save_ledger

    refuse_inputs(state, [file] if file != STANDARD else [])
    with exclusive(state):
        ledger, about = load_ledger(state)
        found = learn_file(
            ledger,
            file,
            id=given["id"],
            label=given["label"],
            unknown=given["unknown"],
            on_invalid=given["on_invalid"],
            source_format=given["format"],
        )
        save_ledger(ledger, about, state)
    certificate = certificate_of(ledger, about["test"]["data_hash"])
    if given["json"]:
        counts = {**found.counts._asdict(), "rows": found.rows, "skipped": dict(found.skipped)}
        print_json({"state": state, **counts, "certificate": certificate.to_dict()})
        return
    _show(found, certificate)


def _show(found: LearnedFile, certificate: AdaptiveCertificate) -> None:
    is_fnr = certificate.control == "fnr"
    rows = [
        [
            "everybody" if cell.group is None else str(cell.group),
            f"{cell.n:,.6g}",
            f"{cell.errors:,.6g}",
            percent(cell.errors / cell.n) if cell.n else "",
            f"{cell.cap:,.6g}",
            f"{cell.level:.4g}",
        ]
        for cell in certificate.cells[:_MOST_GROUPS]
    ]
    head = ["group", "positives" if is_fnr else "negatives", "errors", "rate", "possible", "level"]
    if certificate.audit_rate is not None:
        head[1:3] = [f"{head[1]}*", "errors*"]
    print_table(certificate.headline.removeprefix("CERTIFICATE  "), head, rows)
    if certificate.audit_rate is not None:
        print_paragraph(say("adaptive.estimated"))
    if len(certificate.cells) > _MOST_GROUPS:
        shown, n = _MOST_GROUPS, f"{len(certificate.cells):,}"
        print_paragraph(say("alerts.groups.shown.json", shown=shown, n=n))
    if certificate.open:
        print_paragraph(say("adaptive.open", open=f"{certificate.open:,}"))
    counts = [
        say(f"adaptive.learned.{name}", n=f"{n:,}")
        for name, n in found.counts._asdict().items()
        if n and name in ("learned", "repeated", "not_audited", "unknown")
    ]
    text = f"Read {rows_text(found.rows)}. {' '.join(counts)} {skipped_text(found.skipped)}"
    print_paragraph(" ".join(text.split()))
