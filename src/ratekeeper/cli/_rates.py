"""The two error rates as options, each by two names: --fnr 5% is --sensitivity 95%."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._options import RATE

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Any]

SHARES = {"fnr": "sensitivity", "fpr": "specificity"}
_HELP = {
    "sensitivity": "The same by the rest: --sensitivity 95% is --fnr 5%.",
    "specificity": "The same by the rest: --specificity 95% is --fpr 5%.",
}
# Of two sources of a setting the first one counts.
_SOURCES = (
    ParameterSource.COMMANDLINE,
    ParameterSource.PROMPT,
    ParameterSource.ENVIRONMENT,
    ParameterSource.DEFAULT_MAP,
    ParameterSource.DEFAULT,
)
_ERROR_RATES = ("worse", "becomes")  # which are compared with the error rate


def rate_options(fnr: str, fpr: str) -> Callable[[Command], Command]:
    """Give a command --fnr and --fpr with these helps, and the shares of right decisions.

    The command gets error rates only.
    """

    def decorate(function: Command) -> Command:
        @wraps(function)
        def command(*args: Any, **given: Any) -> Any:  # noqa: ANN401
            return function(*args, **_as_error_rates(given))

        for control, text in (("fpr", fpr), ("fnr", fnr)):
            share = SHARES[control]
            for name, metavar, said in ((share, "SHARE", _HELP[share]), (control, "ALPHA", text)):
                option = click.option(f"--{name}", type=RATE, metavar=metavar, help=said)
                option(command)
        return command

    return decorate


def _as_error_rates(given: dict[str, Any]) -> dict[str, Any]:
    """Return options with every share as the error rate that it leaves."""
    for control, share in SHARES.items():
        level = given.pop(share)
        if level is None or (given[control] is not None and _counts(control, share)):
            continue
        for name in _ERROR_RATES:
            if given.get(name) is not None:
                raise CommandError(
                    f"--{name} is an error rate, and --{share} a share of right decisions. Pass "
                    f"--{control} {_rest(level):g} in place of --{share} {level:g}."
                )
        given[control] = _rest(level)
    return given


def _counts(control: str, share: str) -> bool:
    """Say whether the error rate was set more strongly than the share; refuse both alike."""
    context = click.get_current_context()
    one, two = (_SOURCES.index(_source(context, name)) for name in (control, share))
    if one == two:
        raise CommandError(
            f"--{control} and --{share} are two levels of one rate: a test keeps one. Leave one of "
            "them out."
        )
    return one < two


def _source(context: click.Context, name: str) -> ParameterSource:
    return context.get_parameter_source(name) or ParameterSource.DEFAULT


def _rest(level: float) -> float:
    from ratekeeper.control._promised_rate import complement

    return complement(level)


def one_rate(given: dict[str, Any]) -> tuple[str, float]:
    """Return the rate to keep and its level, from --control and --alpha or from a share."""
    control, alpha = given.pop("control"), given.pop("alpha")
    found = {
        rate: _rest(level)
        for rate, share in SHARES.items()
        if (level := given.pop(share)) is not None
    }
    if len(found) > 1 or (found and (control is not None or alpha is not None)):
        raise CommandError(
            "Two rates were given, and systems are compared at one. Pass --control and --alpha, "
            "or --sensitivity, or --specificity."
        )
    if found:
        return found.popitem()
    if control is None or alpha is None:
        raise CommandError(
            "Which rate is to be kept? Pass --control fnr --alpha 0.05, or --sensitivity 95%."
        )
    return control, alpha
