"""``ratekeeper report``: a page about a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ratekeeper.cli import _alerts, _contents, _options, _settings
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._outputs import Written, check_output

if TYPE_CHECKING:
    from ratekeeper.control._test import Test
    from ratekeeper.files import FileEvaluation

_EPILOG = """\b
Examples:
  ratekeeper report test.rk -o report.html
  ratekeeper report test.rk --prevalence 2% -o report.html
  ratekeeper report test.rk --evaluate later.csv -o report.html
  ratekeeper report test.rk --evaluate later.csv --by sex -o report.html
"""


@click.command("report", epilog=_EPILOG)
@_options.stored_argument("test", "TEST.RK")
@click.option(
    "--evaluate",
    metavar="FILE",
    type=_options.PATH,
    help="Labelled new rows; the page then also shows the rates counted on them.",
)
@_options.column("score", "scores in FILE")
@_options.column("label", "true labels in FILE")
@_options.column("group", "groups in FILE")
@_options.column("cluster", "clusters in FILE")
@_options.audit
@_options.key()
@click.option("--positive", help="The positive label of FILE, if its labels are other ones.")
@_options.on_invalid()
@_options.source_format()
@_options.decimal()
@click.option("--title", help="Title of the page.")
@_alerts.prevalence_option("where the page begins to say what an alert means")
@_options.output("File to write, such as report.html.")
@_settings.command_option
def command(test: str, output: str, **given: Any) -> None:  # noqa: ANN401
    """Write a page about a test that anybody can open.

    The page is one HTML file that needs no network: the certificate in plain words, and charts
    that show what another alpha or method would give.
    """
    from ratekeeper.report import write

    source = given["evaluate"]
    check_output(output, [test, *([] if source is None else [source])])
    loaded = _contents.load_test(test)
    evaluation = None if source is None else _evaluation(loaded, given)
    about_file = ("score", "label", "group", "cluster", "key", "positive")
    is_audit = given["by"] or given["crossed"]
    if source is None and (is_audit or any(given[name] is not None for name in about_file)):
        raise CommandError(
            "--score, --label, --group, --cluster, --key, --positive, --by and --crossed are about "
            "--evaluate FILE: pass that, too."
        )
    written = Written(output)
    with written.writing():
        about = {"title": given["title"], "prevalence": given["prevalence"]}
        write(loaded, output, evaluation=evaluation, **about)
    written.say()


def _evaluation(test: Test, given: dict[str, Any]) -> FileEvaluation:
    from ratekeeper.files import evaluate_file

    names = ("score", "label", "group", "cluster", "key", "on_invalid", "decimal", "by", "crossed")
    same = {name: given[name] for name in names}
    return evaluate_file(
        test,
        given["evaluate"],
        positive_label=given["positive"],
        source_format=given["format"],
        **same,
    )
