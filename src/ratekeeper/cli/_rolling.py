"""Recalibrating night after night: rows added to a stored calibration, and the newest kept."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from ratekeeper.cli import _contents
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._options import PATH
from ratekeeper.cli._printing import echo

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from ratekeeper.calibration._calibration import Calibration

    Command = Callable[..., Any]
    Given = dict[str, Any]

_OPTIONS = (
    click.option(
        "--time",
        metavar="COLUMN",
        help="Column that says when each row was seen: ISO dates and times, or whole numbers.",
    ),
    click.option(
        "--append",
        metavar="STORED.RK",
        type=PATH,
        help="Add the rows to those of this calibration, or of the test's; rows that are there "
        "already are not added again.",
    ),
    click.option(
        "--last",
        type=click.IntRange(min=1),
        metavar="N",
        help="Keep the newest N rows only, and all of the time of the oldest of them.",
    ),
    click.option("--since", metavar="TIME", help="Keep only rows seen from this time on."),
)


def window_options(function: Command) -> Command:
    """Take the column of times, what to add to, and which rows to keep."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def alone_if_replaced(given: Given) -> AbstractContextManager[None]:
    """Let no other run in that replaces the same file, or its rows would be lost."""
    from ratekeeper._system._locks import exclusive

    return exclusive(given["output"]) if _is_replaced(given) else nullcontext()


def _is_replaced(given: Given) -> bool:
    path = given["append"]
    return path is not None and os.path.realpath(path) == os.path.realpath(given["output"])


def stored(given: Given, *, is_test: bool) -> Calibration | None:
    """Load the calibration that is added to, if there is one.

    A test is not replaced by the calibration it stands on: nobody who uses it expects that.
    """
    path = given["append"]
    if path is None:
        return None
    found = _contents.load_stored(path, "--append takes a file that calibrate or control wrote.")
    test = _contents.test_in(found)
    if test is None:
        return found  # type: ignore[return-value]  # no test, so a calibration
    if _is_replaced(given) and not is_test:
        raise CommandError(
            f"{path} holds a test, and without --fnr or the like it would be replaced by a "
            "calibration. Pass the promise that the test is to make, or name another OUT."
        )
    return test.calibration


def appended(
    earlier: Calibration, read: Callable[[Given], Calibration], given: Given
) -> Calibration:
    """Read new rows in the way of a calibration, add them, and keep the window asked for."""
    from ratekeeper._wording._formatting import format_value, plain_value
    from ratekeeper._wording._sentences import say as sentence
    from ratekeeper.calibration._windows import append

    if given["seed"] is not None:
        raise CommandError(
            f"--seed {given['seed']} is for a new calibration; with --append the draw follows from "
            f"that of {given['append']}. Leave it out."
        )
    if given["time"] is None:
        raise CommandError(
            "--append needs --time COLUMN: without times it is not known which rows are new and "
            "which are there already."
        )
    if earlier.times is None:
        raise CommandError(
            f"The rows of {given['append']} have no times, so it is not known which rows are new. "
            "Calibrate them again with --time."
        )
    before = None if earlier.provenance is None else earlier.provenance.score
    if before not in (None, given["score"]):
        text = sentence(
            "windows.other_score",
            column=format_value(given["score"]),
            earlier_column=format_value(before),
        )
        echo(f"Warning: {text}", err=True)
    own: Given = {"last": None, "since": None}
    if given["label"] is not None and given["positive"] is None and earlier.labelled:
        own["positive"] = plain_value(earlier.classes[1])  # a night may have one class only
    if not earlier.higher_is_positive:
        own["lower_is_positive"] = True
    if earlier.sampling == "by class":
        own["by_class"] = True
    new = read({**given, **own})
    given["appended"] = result = append(earlier, new, given["duplicates"] or "refuse")
    if given["last"] is None and given["since"] is None:
        return result.calibration
    return result.calibration.window(last=given["last"], since=given["since"])


def facts(given: Given) -> dict[str, Any]:
    """Return how many rows were added, where rows were to be."""
    return {"appended": given["appended"].to_dict()} if "appended" in given else {}


def say(given: Given) -> None:
    """Say how many rows were added, on standard error."""
    from ratekeeper._wording._sentences import say as sentence

    if "appended" not in given:
        return
    result, path = given["appended"], given["append"]
    numbers = {name: f"{n:,}" for name, n in result.to_dict().items()}
    numbers["read"] = numbers.pop("rows")
    key = "windows.appended" if result.added or not result.already else "windows.already"
    texts = [sentence(key, path=path, **numbers)]
    if result.already and result.added:
        texts.append(sentence("windows.left_out", path=path, **numbers))
    if result.before:
        texts.append(sentence("windows.before", **numbers))
    echo(*texts, err=True)
