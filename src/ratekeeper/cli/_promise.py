"""The options that say which promise a test makes, and the test made from them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from ratekeeper._wording._formatting import did_you_mean, exact_percent
from ratekeeper._wording._sentences import say
from ratekeeper.cli._errors import CommandError, ContradictedFitError
from ratekeeper.cli._options import RATE
from ratekeeper.cli._rates import rate_options
from ratekeeper.cli._wrong_labels import OPTIONS as WRONG_LABELS, Wrong, noisy_test

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._test import Test
    from ratekeeper.methods import Method

    Command = Callable[..., Any]

# The names of ratekeeper.methods.METHODS, here so that help needs no NumPy.
METHODS = (
    "high-probability",
    "conformal",
    "simultaneous",
    "smoothed",
    "empirical",
    "bootstrap",
    "kernel",
    "parametric",
    "resampled",
)
WHICH_RATE = (
    "What is to be kept? Pass --fnr 0.01 (or --sensitivity 99%), --fpr 0.05 (or --specificity "
    "95%) or both, or one of --precision, --npv, --wrong and --alerts."
)
# Promises beside one class's error rate: the method of a calibration that makes the test.
AIMS = {
    "precision": "control_precision",
    "npv": "control_npv",
    "wrong": "control_selective",
    "alerts": "control_alerts",
}
PROMISES = ("fnr", "fpr", *AIMS)
RANDOM = ("smoothed", "bootstrap", "resampled")
_OPTIONS = (
    rate_options(
        "Miss at most this share of positives.", "Call at most this share of negatives positive."
    ),
    click.option(
        "--precision",
        type=RATE,
        metavar="SHARE",
        help="At least this share of the objects called positive is positive.",
    ),
    click.option(
        "--npv",
        type=RATE,
        metavar="SHARE",
        help="At least this share of the objects called negative is negative.",
    ),
    click.option(
        "--wrong",
        type=RATE,
        metavar="SHARE",
        help="At most this share of the decisions is wrong; makes none where it must.",
    ),
    click.option(
        "--alerts",
        type=RATE,
        metavar="SHARE",
        help="Call at most this share of all objects positive: on average, or with --delta for "
        "this very test.",
    ),
    click.option(
        "--method",
        type=click.Choice(METHODS),
        default="high-probability",
        show_default=True,
        metavar="METHOD",
        help="The kind of promise. high-probability: for this very test, but for a chance delta; "
        "conformal: on average over calibration sets; simultaneous: for every alpha at once. Also "
        f"{', '.join(METHODS[3:])}.",
    ),
    click.option(
        "--delta",
        type=RATE,
        help="Chance that a promise about this very test fails.  [default: 0.05]",
    ),
    click.option(
        "--randomised",
        is_flag=True,
        help="Let high-probability break ties at random, for scores of few values; new rows then "
        "need --key.",
    ),
    click.option(
        "--parameter",
        multiple=True,
        metavar="NAME=VALUE",
        help="A further parameter of the method, such as distribution=logistic; may be repeated.",
    ),
    click.option(
        "--thin-groups",
        type=click.Choice(["refuse", "pool"]),
        default="refuse",
        show_default=True,
        help="What to do with groups that have too few scores: stop and name them, or give them "
        "the threshold of all together, for which nothing is promised.",
    ),
    click.option(
        "--tolerance",
        type=float,
        metavar="AMOUNT",
        help="By how much a score may come out differently where it decides, as after an export of "
        "the model, such as 1e-6: thresholds move to the safe side by as much.",
    ),
    *WRONG_LABELS,
)


def promise_options(function: Command) -> Command:
    """Give a command the options of a promise; `make_test` takes them."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def make_test(  # noqa: PLR0913 - every option by its name
    calibration: Calibration,
    *,
    fnr: float | None,
    fpr: float | None,
    method: str,
    delta: float | None,
    parameter: Sequence[str],
    thin_groups: str,
    seed: int | None,
    randomised: bool = False,
    tolerance: float | None = None,
    wrong_positives: Wrong | None = None,
    wrong_negatives: Wrong | None = None,
    **aims: float | None,
) -> Test:
    """Make the test of one rate, of both with abstention, or of another aim."""
    given = {name: level for name, level in aims.items() if level is not None}
    if given:
        rates = {"fnr": fnr, "fpr": fpr}
        _refuse_beside(given, {name: rate for name, rate in rates.items() if rate is not None})
        how_said = {"method": method, "parameter": parameter, "thin_groups": thin_groups}
        refuse_options(
            {
                **how_said,
                "seed": seed,
                "randomised": randomised,
                "tolerance": tolerance,
                "wrong_positives": wrong_positives,
                "wrong_negatives": wrong_negatives,
            },
            f"belongs to --fnr and --fpr, not to --{next(iter(given))}: leave it out.",
        )
        ((aim, level),) = given.items()
        chance = {} if delta is None else {"delta": delta}
        found: Test = getattr(calibration, AIMS[aim])(level, **chance)
        return found
    if wrong_positives is not None or wrong_negatives is not None:
        return noisy_test(
            calibration,
            fnr=fnr,
            fpr=fpr,
            wrong_positives=wrong_positives,
            wrong_negatives=wrong_negatives,
            delta=delta,
            method=method,
            parameter=parameter,
            thin_groups=thin_groups,
            seed=seed,
            randomised=randomised,
            tolerance=tolerance,
        )
    if randomised:
        if method != "high-probability":
            raise CommandError(
                f"--randomised belongs to --method high-probability, not to {method}. Leave one "
                "of them out."
            )
        parameter = ("randomised=true", *parameter)
    how: Any = {
        "method": method_of(method, delta, parameter, seed),
        "thin_groups": thin_groups,
        "tolerance": tolerance or 0.0,
    }
    if fnr is not None and fpr is not None:
        return calibration.control_both(fnr, fpr, **how)
    for control, alpha in (("fnr", fnr), ("fpr", fpr)):
        if alpha is not None:
            return calibration.control(control, alpha, **how)
    raise CommandError(WHICH_RATE)


def _refuse_beside(aims: dict[str, float], rates: dict[str, float]) -> None:
    """Refuse more than one promise, but for the pair of error rates."""
    if len(aims) + len(rates) > 1:
        first, second = [f"--{name}" for name in (*aims, *rates)][:2]
        raise CommandError(
            f"{first} and {second} are two promises: a test keeps one. Make two tests."
        )


def refuse_contradicted(test: Test, output: str) -> None:
    """End with a code of its own if the scores contradict what was fitted to them.

    After the test was written and shown, so that a script does not go on with it unseen.
    """
    found = [part.certificate for part in test.parts if part.certificate.contradicted]
    said = [
        say("certificate.contradicted", rate=one.rate, alpha=exact_percent(one.alpha))
        for one in found
    ]
    if said:
        raise ContradictedFitError(f"{' '.join(said)} {output} holds a test without a promise.")


def refuse_without_rate(given: dict[str, Any]) -> None:
    """Refuse options of a promise where no rate is to be kept, rather than forget them."""
    names = ["method", "delta", "randomised", "parameter", "thin_groups", "tolerance"]
    names += ["wrong_positives", "wrong_negatives"]
    refuse_options(
        {name: given[name] for name in names},
        "says how a rate is kept, but none is: add --fnr or --fpr, or leave it for ratekeeper "
        "control.",
    )


def refuse_options(given: dict[str, Any], why: str) -> None:
    """Refuse options that are not as they are by default."""
    defaults = {
        "method": "high-probability",
        "delta": None,
        "parameter": (),
        "thin_groups": "refuse",
        "seed": None,
        "randomised": False,
        "tolerance": None,
        "wrong_positives": None,
        "wrong_negatives": None,
    }
    for name, value in given.items():
        if value != defaults[name]:
            raise CommandError(f"--{name.replace('_', '-')} {why}")


def method_of(name: str, delta: float | None, given: Sequence[str], seed: int | None) -> Method:
    """Make the method of a name from its parameters; refuse those that it has not."""
    from ratekeeper import methods

    kind = methods.METHODS[name]
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    if delta is not None:
        if "delta" not in fields:
            raise CommandError(
                f"--delta {delta:g} belongs to --method high-probability or simultaneous, not to "
                f"{name}. Choose one of them, or leave --delta out."
            )
        values["delta"] = delta
    values.update(_parameters(given, fields, name))
    if seed is not None:
        if name not in RANDOM:
            raise CommandError(
                f"--seed {seed} belongs to a random method ({', '.join(RANDOM)}), not to {name}. "
                "Leave it out: random numbers of a calibration are fixed by calibrate --seed."
            )
        values.setdefault("random_state", seed)
    missing = [f.name for f in fields.values() if _is_needed(f) and f.name not in values]
    if missing:
        raise CommandError(f"--method {name} needs --parameter {missing[0]}=VALUE.")
    return kind(**values)


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _parameters(
    given: Sequence[str], fields: dict[str, dataclasses.Field[Any]], method: str
) -> dict[str, Any]:
    values = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or name not in fields:
            known = ", ".join(fields) or "none"
            raise CommandError(
                f"--parameter {text} is none of --method {method}, whose parameters are: {known}."
                f"{did_you_mean(name, fields)} Write NAME=VALUE."
            )
        values[name] = _typed(value)
    return values


def _typed(text: str) -> object:
    """Return a number or a boolean where it is one, else the text.

    Examples
    --------
    >>> [_typed(text) for text in ("21", "0.5", "true", "scott")]
    [21, 0.5, True, 'scott']
    """
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
