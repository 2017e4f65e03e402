"""What a .rk file holds, for people and for machines."""

from __future__ import annotations

import json
import textwrap
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ratekeeper._wording._sentences import say
from ratekeeper.cli._errors import CommandError
from ratekeeper.cli._printing import echo, print_paragraph, print_table

if TYPE_CHECKING:
    from ratekeeper.calibration._calibration import Calibration
    from ratekeeper.control._test import Test


_DELTA = 0.05
_SIDES = ("negative", "positive")
_MOST_GROUPS = 40  # in a table
_WIDTH = 79


class HoldsStateError(CommandError):
    """A file holds what a monitor or an adaptive test has seen."""


def load_test(path: str) -> Test:
    """Load a test, or say what else the file holds."""
    from ratekeeper.calibration._calibration import Calibration

    stored = load_stored(path, "TEST.RK, which control wrote, comes first, then FILE.")
    if isinstance(stored, Calibration):
        raise CommandError(
            f"{path} holds a calibration, which decides nothing yet. Make a test of it: ratekeeper "
            f"control {path} --fnr 0.01 -o test.rk"
        )
    return stored


def test_in(stored: Calibration | Test) -> Test | None:
    """Return what was loaded if it is a test."""
    from ratekeeper.calibration._calibration import Calibration

    return None if isinstance(stored, Calibration) else stored


def load_calibration(path: str) -> Calibration:
    """Load a calibration; a test has the one that it stands on."""
    from ratekeeper.calibration._calibration import Calibration

    stored = load_stored(
        path,
        f"Make a calibration of it first: ratekeeper calibrate {path} --score COLUMN --label "
        "COLUMN -o cal.rk",
    )
    return stored if isinstance(stored, Calibration) else stored.calibration


def load_stored(path: str, remedy: str) -> Calibration | Test:
    """Load what a .rk file holds, or say what to do with a file of rows."""
    from ratekeeper.exceptions import StoredFileError
    from ratekeeper.storage._container import StateFileError
    from ratekeeper.storage._files import load

    try:
        return load(path)
    except StateFileError:
        raise HoldsStateError(
            f"{path} is the state of a monitor or an adaptive test. See it by: ratekeeper inspect "
            f"{path}"
        ) from None
    except StoredFileError as error:
        if _looks_like_rows(path):
            raise CommandError(f"{path} looks like rows, not like a .rk file. {remedy}") from error
        raise


def _looks_like_rows(path: str) -> bool:
    """Return whether a file has the name of a table, or begins like one; a .rk file has zeros."""
    from pathlib import Path

    from ratekeeper._system._plain_files import open_plain
    from ratekeeper.files._sources import format_of

    try:
        with open_plain(path) as file:
            start = file.read(4096)
    except OSError:
        return False
    plain = bool(start.strip()) and b"\0" not in start
    return format_of(Path(path)) is not None or plain or start.startswith((b"PAR1", b"ARROW1"))


def facts(stored: Calibration | Test) -> dict[str, Any]:
    """Return what is stored as plain values."""
    from ratekeeper.calibration._calibration import Calibration

    if isinstance(stored, Calibration):
        return {"kind": "calibration", **_calibration_facts(stored)}
    kind = {0: "threshold test", 1: "test", 2: "abstaining test"}[len(stored.parts)]
    return {"kind": kind, "certificate": json.loads(stored.certificate.to_json())}


def show(stored: Calibration | Test) -> None:
    """Print the certificate of a test, or the numbers of a calibration."""
    from ratekeeper.calibration._calibration import Calibration

    if isinstance(stored, Calibration):
        _show_calibration(stored)
    else:
        echo(*str(stored.certificate).split("\n"))


def _calibration_facts(calibration: Calibration) -> dict[str, Any]:
    from ratekeeper.calibration._windows import time_facts

    negative, positive = calibration.classes.tolist()
    source, auc = calibration.provenance, calibration.auc
    return {
        "known": calibration.known,
        "negative_label": negative if calibration.labelled else None,
        "positive_label": positive if calibration.labelled else None,
        "n": _sizes(calibration, *(sum(map(len, cells)) for cells in calibration.cells)),
        "groups": None if calibration.groups is None else _cells(calibration),
        "least_alpha": _cells(calibration.pooled())[0]["least_alpha"],
        "auc": None if auc != auc else auc,  # noqa: PLR0124 - NaN, where a class is unknown
        "higher_is_positive": calibration.higher_is_positive,
        "score_type": str(calibration.dtype),
        "sampling": calibration.sampling,
        "origin": calibration.origin,
        "data_hash": calibration.data_hash,
        "draw": calibration.draw.origin,
        "source": None if source is None else source.to_dict(),
        **_cluster_facts(calibration),
        **time_facts(calibration),
        **({"counted": True} if calibration.counted else {}),
        **_weight_facts(calibration),
    }


def _sizes(calibration: Calibration, negative: int, positive: int) -> dict[str, int]:
    if calibration.labelled:
        return {"negative": negative, "positive": positive}
    return {"unlabelled": negative}


def _cluster_facts(calibration: Calibration) -> dict[str, Any]:
    """Return how many clusters have rows of each class, where there are clusters."""
    if calibration.clusters is None:
        return {}
    sizes = (cells[0].size for cells in calibration.pooled().independent.cells)
    return {"clusters": _sizes(calibration, *sizes)}


def _weight_facts(calibration: Calibration) -> dict[str, Any]:
    """Return how many objects the weights leave, where there are weights."""
    from ratekeeper.calibration._weight_statements import WeightFacts

    found = WeightFacts.of(calibration, 1)
    return {} if found is None else {"weights": found.to_dict()}


def _cells(calibration: Calibration, shown: list[int] | None = None) -> list[dict[str, Any]]:
    """Describe groups, by default all; the only one is everybody where there are no groups."""
    from ratekeeper.calibration._weights import counted_sizes

    names = [None] if calibration.groups is None else calibration.groups.tolist()
    cells, counted = [], [counted_sizes(calibration, label) for label in (0, 1)]
    weighted = calibration.weights is not None
    for i in range(len(names)) if shown is None else shown:
        n = {side: calibration.cells[c][i].size for c, side in enumerate(_SIDES)}
        # Of clusters or what weights leave, which promises are made of, where there are any.
        units = {side: counted[c][i] for c, side in enumerate(_SIDES)}
        clusters = {"clusters": _sizes(calibration, **units)}
        cells.append(
            {
                "group": names[i],
                "n": _sizes(calibration, **n),
                "least_alpha": {
                    "fnr": _least(units["positive"], weighted=weighted),
                    "fpr": _least(
                        units["negative"] if calibration.labelled else 0, weighted=weighted
                    ),
                },
                **({} if calibration.clusters is None else clusters),
                **({"effective": _sizes(calibration, **units)} if weighted else {}),
            }
        )
    return cells


@lru_cache(maxsize=4096)  # thousands of groups share a few sizes
def _least(n: int, *, weighted: bool) -> dict[str, float | None]:
    """Return the smallest rate that can be promised with n scores, by method.

    With weights only one method promises anything.
    """
    import numpy as np

    from ratekeeper.methods import Conformal, HighProbability

    none = np.zeros(1, dtype=np.intp)
    return {
        method.name: float(method.p_of_count(none, n)[0])
        if n and (not weighted or isinstance(method, Conformal))
        else None
        for method in (HighProbability(delta=_DELTA), Conformal())
    }


def _show_calibration(calibration: Calibration) -> None:
    from ratekeeper._wording._formatting import extremes, percent_up
    from ratekeeper._wording._shown_groups import shown_text
    from ratekeeper.calibration._weight_statements import WeightFacts

    if not calibration.labelled:
        _show_unlabelled(calibration)
        return
    negative, positive = calibration.classes.tolist()
    end = "high" if calibration.higher_is_positive else "low"
    n_groups = len(calibration.cells[0])
    sizes = [[scores.size for scores in cells] for cells in calibration.cells]
    shown = extremes(*sizes, most=_MOST_GROUPS, each=_MOST_GROUPS // 4)
    rows, clustered = [], calibration.clusters is not None
    for cell in _cells(calibration, shown):
        row = ["everybody" if cell["group"] is None else str(cell["group"])]
        for side, rate in (("positive", "fnr"), ("negative", "fpr")):
            least = cell["least_alpha"][rate].values()
            row += [
                f"{cell['clusters' if clustered else 'n'][side]:,}",
                *("none" if a is None else percent_up(a, digits=2) for a in least),
            ]
        rows.append(row)
    counts = ("positive\nclusters", "negative\nclusters")
    positives, negatives = counts if clustered else ("positives", "negatives")
    print_table(
        f"Calibration: held-out {calibration.dtype} scores and the least rates they can promise",
        [
            "group",
            positives,
            "least FNR\nthis test*",
            "\naverage*",
            negatives,
            "least FPR\nthis test*",
            "\naverage*",
        ],
        rows,
    )
    print_paragraph("".join(shown_text(len(shown), n_groups, "; --json has all")))
    if clustered:
        n = [sum(map(len, cells)) for cells in calibration.cells]
        echo(f"The clusters have {n[1]:,} positive and {n[0]:,} negative rows.")
    if calibration.counted:
        print_paragraph(say("counted.kept"))
    if calibration.weights is not None:
        print_paragraph(str(WeightFacts.of(calibration, 1).statement()))  # type: ignore[union-attr]
    echo(
        "* For this very test, except in 5% of calibration sets (high-probability, the",
        "default method), or on average over calibration sets (conformal).",
        f"Positive is {positive!r}, negative {negative!r}; {end} scores indicate positive.",
        *_separation_lines(calibration),
        *_origin_lines(calibration),
    )


def _separation_lines(calibration: Calibration) -> list[str]:
    """Say how well the score separates the classes, or that it cannot be known."""
    from ratekeeper._wording._formatting import format_value as written

    if calibration.known == "both":
        about = "about " if calibration.counted else ""
        return textwrap.wrap(
            f"Area under the ROC curve: {about}{calibration.auc:.4f}, the chance that a positive "
            "is rated above a negative, ties counted half.",
            _WIDTH,
        )
    missing = int(calibration.known == "negative")
    facts = {"side": ("negative", "positive")[missing], "other": ("FPR", "FNR")[missing]}
    label = written(calibration.classes.tolist()[missing])
    return textwrap.wrap(say("one_class.inspect", label=label, **facts), _WIDTH)


def _show_unlabelled(calibration: Calibration) -> None:
    from ratekeeper._wording._formatting import extremes
    from ratekeeper._wording._shown_groups import shown_text

    sizes = [scores.size for scores in calibration.cells[0]]
    shown = extremes(sizes, most=_MOST_GROUPS, each=_MOST_GROUPS // 2)
    cells, clustered = _cells(calibration, shown), calibration.clusters is not None
    rows = [
        [
            "everybody" if cell["group"] is None else str(cell["group"]),
            f"{cell['n']['unlabelled']:,}"
            + (f" of {cell['clusters']['unlabelled']:,}" if clustered else ""),
        ]
        for cell in cells
    ]
    scores_of = "scores\nof clusters" if clustered else "scores"
    print_table(f"Calibration: {calibration.dtype} scores", ["group", scores_of], rows)
    print_paragraph("".join(shown_text(len(shown), len(sizes), "; --json has all")))
    echo(*textwrap.wrap(say("one_class.unlabelled"), _WIDTH), *_origin_lines(calibration))


def _origin_lines(calibration: Calibration) -> list[str]:
    source = calibration.provenance
    lines = []
    if source is not None:
        roles = ("score", "label", "group", "cluster", "time", "weight")
        named = ((role, getattr(source, role)) for role in roles)
        columns = ", ".join(f"{what} {name!r}" for what, name in named if name is not None)
        lines.append(f"File: {source}.")
        lines += [f"Columns: {columns}."] if columns else []
    if calibration.origin == "cross-fitted":
        lines += textwrap.wrap(say("certificate.cross_fitted"), _WIDTH)
    if calibration.sampling == "by class":
        lines += textwrap.wrap(say("aim.by_class"), _WIDTH)
    lines += (line for remark in calibration.remarks for line in textwrap.wrap(remark, _WIDTH))
    lines.append(f"Hash of the data: {calibration.data_hash[:16]}.")
    lines.append(f"Random numbers: {calibration.draw.origin}.")
    return lines
