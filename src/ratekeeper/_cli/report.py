"""``ratekeeper report``: a page about a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper._cli import alerts, contents, options, settings
from ratekeeper._cli.outputs import Written, check_output
from ratekeeper._cli.refusals import Refusal

if TYPE_CHECKING:
    from ratekeeper.batch import FileEvaluation

_EPILOG = """\b
Examples:
  ratekeeper report test.rk -o report.html
  ratekeeper report test.rk --prevalence 2% -o report.html
  ratekeeper report test.rk --evaluate later.csv -o report.html
  ratekeeper report test.rk --evaluate later.csv --by sex -o report.html
"""


@click.command("report", epilog=_EPILOG)
@options.stored_argument("test", "TEST.RK")
@click.option(
    "--evaluate",
    metavar="FILE",
    type=options.PATH,
    help="Labelled new rows; the page then also shows the rates counted on them.",
)
@options.column("score", "scores in FILE")
@options.column("label", "true labels in FILE")
@options.column("group", "groups in FILE")
@options.column("cluster", "clusters in FILE")
@options.audit
@options.key()
@click.option("--positive", help="The positive label of FILE, if its labels are other ones.")
@options.on_invalid()
@options.source_format()
@options.decimal()
@click.option("--title", help="Title of the page.")
@alerts.prevalence_option("where the page begins to say what an alert means")
@options.output("File to write, such as report.html.")
@settings.command_option
def command(test: str, output: str, **given: Any) -> None:  # noqa: ANN401
    """Write a page about a test that anybody can open.

    The page is one HTML file that needs no network: the certificate in plain words, and charts
    that show what another alpha or method would give.
    """
    from ratekeeper.report import write

    source = given["evaluate"]
    check_output(output, [test, *([] if source is None else [source])])
    loaded = contents.load_test(test)
    evaluation = None if source is None else _evaluation(loaded, given)
    about_file = ("score", "label", "group", "cluster", "key", "positive")
    is_audit = given["by"] or given["crossed"]
    if source is None and (is_audit or any(given[name] is not None for name in about_file)):
        raise Refusal(
            "--score, --label, --group, --cluster, --key, --positive, --by and --crossed are about "
            "--evaluate FILE: pass that, too."
        )
    written = Written(output)
    with written.writing():
        about = {"title": given["title"], "prevalence": given["prevalence"]}
        write(loaded, output, evaluation=evaluation, **about)
    written.say()


def _evaluation(test: contents.Test, given: dict[str, Any]) -> FileEvaluation:
    from ratekeeper.batch import evaluate_file

    names = ("score", "label", "group", "cluster", "key", "on_invalid", "decimal", "by", "crossed")
    same = {name: given[name] for name in names}
    return evaluate_file(
        test,
        given["evaluate"],
        positive_label=given["positive"],
        source_format=given["format"],
        **same,
    )
