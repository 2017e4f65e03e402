"""The options that say how many calibration labels are wrong, and the test made despite them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ratekeeper.cli._errors import CommandError

if TYPE_CHECKING:
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._aims import LabelNoise
    from ratekeeper.control._risk_control import RiskControlTest

_DELTA = 0.05
_OF_AUDIT = 0.2  # of delta, for counts of an audit
_DEFAULTS: dict[str, Any] = {
    "method": "high-probability",
    "parameter": (),
    "thin_groups": "refuse",
    "seed": None,
    "randomised": False,
    "tolerance": None,
}


class Wrong(NamedTuple):
    """How many labels are wrong: the least and the most, or counted in an audit."""

    least: float
    most: float
    is_audit: bool = False


class WrongType(click.ParamType):  # type: ignore[type-arg]  # generic in new versions only
    """A share that is the most, a range of shares, or counts of an audit.

    Examples
    --------
    >>> convert = WrongType().convert
    >>> convert("2%", None, None)
    Wrong(least=0.0, most=0.02, is_audit=False)
    >>> convert("0.1%-1e-2", None, None)
    Wrong(least=0.001, most=0.01, is_audit=False)
    >>> convert("9/200", None, None)
    Wrong(least=9, most=200, is_audit=True)
    """

    name = "wrong"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Wrong:
        """Return what is said, or refuse."""
        from ratekeeper._reading._parameters import rate_of

        text = str(value).strip()
        if counts := re.fullmatch(r"(\d{1,12}) ?/ ?(\d{1,12})", text, re.ASCII):
            wrong, checked = int(counts[1]), int(counts[2])
            if wrong <= checked > 0:
                return Wrong(wrong, checked, is_audit=True)
        shares = [rate_of(part) for part in re.split(r"(?<![eE])-", text)]
        least, most = (0.0, *shares) if len(shares) == 1 else (*shares, -1.0)[:2]
        if len(shares) > 2 or not 0.0 <= least <= most < 1.0:  # noqa: PLR2004 - a range
            self.fail(
                f"{text!r} does not say how many labels are wrong. Write 2% for at most 2%, 1%-2% "
                "for a range, or 9/200 if 200 were checked and 9 of them were wrong.",
                param,
                ctx,
            )
        return Wrong(least, most)


OPTIONS = tuple(
    click.option(
        f"--wrong-{one}s",
        type=WrongType(),
        metavar="SHARE",
        help=f"How many of the objects labelled {one} truly are {other}: 2% for at most 2%, 1%-2% "
        f"for a range, or 9/200 if 9 of 200 checked ones were wrong.",
    )
    for one, other in (("positive", "negative"), ("negative", "positive"))
)


def noisy_test(
    calibration: Calibration,
    *,
    fnr: float | None,
    fpr: float | None,
    wrong_positives: Wrong | None,
    wrong_negatives: Wrong | None,
    delta: float | None,
    **others: object,
) -> RiskControlTest:
    """Make the test of one rate despite wrong labels."""
    rates = {"fnr": fnr, "fpr": fpr}
    given = [(name, alpha) for name, alpha in rates.items() if alpha is not None]
    if len(given) != 1:
        raise CommandError(
            "--wrong-positives and --wrong-negatives are for a test of one rate. Pass --fnr or "
            "--fpr, and make two tests to keep both."
        )
    for name, default in _DEFAULTS.items():
        if others[name] != default:
            raise CommandError(
                f"--{name.replace('_', '-')} belongs to tests that take all labels as true. Leave "
                "it out, or --wrong-positives and --wrong-negatives."
            )
    ((control, alpha),) = given
    chance = _DELTA if delta is None else delta
    noise = _noise(chance, positives=wrong_positives, negatives=wrong_negatives)
    return calibration.control_noisy(control, alpha, noise, delta=chance)


def _noise(delta: float, **said: Wrong | None) -> LabelNoise:
    from ratekeeper.control._aims import LabelNoise

    ranges = {name: (one.least, one.most) for name, one in said.items() if one is not None}
    if len({one.is_audit for one in said.values() if one is not None}) > 1:
        raise CommandError(
            "Of --wrong-positives and --wrong-negatives one is a share and the other counts of an "
            "audit. Write both in the same way."
        )
    if any(one is not None and one.is_audit for one in said.values()):
        return LabelNoise.from_audit(delta=_OF_AUDIT * delta, **ranges)  # type: ignore[arg-type]
    positives, negatives = ranges.get("positives"), ranges.get("negatives")
    return LabelNoise(wrong_positives=positives, wrong_negatives=negatives)
