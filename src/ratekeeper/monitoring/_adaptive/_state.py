"""A ledger as facts and arrays, and back: bit for bit, or refused.

The arrays of a state, all of one length per part and in the order of decisions:

- ``n``, ``errors``, ``most_waiting``, ``first_epoch``, ``epochs`` (integers), ``moved``, ``spread``
  (floats): of each group; ``waiting``: those of all groups one after the other;
- ``open/...`` and ``settled/...``: of decisions that wait and of those that do not any more, with
  ``settled/truth`` 0, 1 or 2 for negative, positive and not asked for; ``recent/...``: the history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.control._label_audit import Audit
from ratekeeper.exceptions import StoredFileError
from ratekeeper.monitoring._adaptive._ledger import (
    MOST_RECENT,
    MOST_SETTLED,
    Decided,
    Ledger,
    Outcome,
    Settled,
)
from ratekeeper.storage._serialize import stored_names
from ratekeeper.storage._states import packed, read_state, unpacked, write_state

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from ratekeeper.storage._serialize import Facts
    from ratekeeper.storage._states import Arrays

KIND = "adaptive test"
_NOT_ASKED = 2
_OF_LEVELS = {
    "n": np.int64,
    "errors": np.int64,
    "most_waiting": np.int64,
    "first_epoch": np.int64,
    "moved": np.float64,
    "spread": np.float64,
}
_DECIDED = {
    "group": np.int64,
    "rejected": np.uint8,
    "level": np.float64,
    "p_value": np.float64,
    "epoch": np.int64,
    "learned_before": np.int64,
}
_RECENT = {"group": np.int64, "level": np.float64, "error": np.uint8, "delay": np.int64}


def packed_ledger(ledger: Ledger, about: Facts) -> tuple[Facts, Arrays]:
    """Return facts and arrays; `about` has the test it belongs to, its classes and groups."""
    ledger.forget()  # so that equal ledgers have equal states
    audit = ledger.labels if isinstance(ledger.labels, Audit) else None
    facts = {
        **about,
        "step": None if ledger.step is None else ledger.step.hex(),
        "start": ledger.start.hex(),
        "labels": None if audit is None else {"rate": audit.rate, "seed": audit.random_state},
        "warned": ledger.warned,
    }
    arrays: Arrays = {
        name: np.array([getattr(level, name) for level in ledger.levels], dtype=kind)
        for name, kind in _OF_LEVELS.items()
    }
    sizes = [level.waiting.size for level in ledger.levels]
    arrays["epochs"] = np.array(sizes, dtype=np.int64)
    arrays["waiting"] = np.concatenate([level.waiting for level in ledger.levels])
    arrays |= _texts("open/id", ledger.open)
    arrays |= _columns("open", _DECIDED, ledger.open.values())
    arrays |= _texts("settled/id", ledger.settled)
    arrays |= _columns("settled", _DECIDED, (one.decided for one in ledger.settled.values()))
    truths = [
        _NOT_ASKED if one.is_positive is None else int(one.is_positive)
        for one in ledger.settled.values()
    ]
    arrays["settled/truth"] = np.array(truths, dtype=np.uint8)
    places = {name: i for i, name in enumerate(ledger.names)}
    recent = (one._replace(group=places[one.group]) for one in ledger.recent)
    arrays |= _texts("recent/id", [one.id for one in ledger.recent])
    arrays |= _columns("recent", _RECENT, recent)
    return facts, arrays


def unpacked_ledger(facts: Facts, arrays: Arrays) -> Ledger:
    """Return the ledger, if facts and arrays are such as `packed_ledger` makes."""
    try:
        ledger = _unpacked(facts, dict(arrays))
    except (KeyError, IndexError, ValueError, TypeError, OverflowError) as error:
        if isinstance(error, StoredFileError):
            raise
        raise _unfit("its arrays are not those of an adaptive test") from error
    return ledger


def _unpacked(facts: Facts, arrays: Arrays) -> Ledger:
    (test,), audit = facts["test"]["tests"], facts["labels"]
    ledger = Ledger(
        test["control"],
        test["alpha"],
        None if facts["step"] is None else float.fromhex(facts["step"]),
        float.fromhex(facts["start"]),
        "all" if audit is None else Audit(audit["rate"], audit["seed"]),
        stored_names(facts["classes"]),
        None if facts["groups"] is None else stored_names(facts["groups"]),
    )
    if not 0.0 <= ledger.start < 1.0 or not (ledger.step is None or 0.0 < ledger.step < 1.0):
        raise _unfit("its step or start is no such number")
    n_groups = len(ledger.levels)
    columns = {name: arrays.pop(name).tolist() for name in (*_OF_LEVELS, "epochs")}
    if any(len(column) != n_groups for column in columns.values()):
        raise _unfit(f"it does not have a level for each of {n_groups:,} groups")
    waiting, start = arrays.pop("waiting").astype(np.int64), 0
    for i, level in enumerate(ledger.levels):
        for name in _OF_LEVELS:
            setattr(level, name, columns[name][i])
        level.waiting = waiting[start : start + columns["epochs"][i]].copy()
        start += columns["epochs"][i]
        counts = 0 <= level.errors <= level.n and level.waiting.size > 0 and level.first_epoch >= 0
        if not counts or not np.isfinite([level.moved, level.spread]).all() or level.spread < 0.0:
            raise _unfit("the counts of a group are impossible")
    if start != waiting.size or min(columns["epochs"]) < 1:
        raise _unfit("its epochs are not those of its groups")
    ledger.warned = facts["warned"]
    _fill(ledger, arrays)
    ledger.forget()
    return ledger


def _fill(ledger: Ledger, arrays: Arrays) -> None:
    """Put the decisions and the history into a ledger."""
    for one, decided in _decisions("open", arrays, ledger):
        ledger.open[one] = decided
    truths = arrays.pop("settled/truth").tolist()
    for (one, decided), truth in zip(_decisions("settled", arrays, ledger), truths, strict=True):
        is_positive = {0: False, 1: True, _NOT_ASKED: None}[truth]
        ledger.settled[one] = Settled(decided, is_positive)
    n_ids = len(set(ledger.open) | set(ledger.settled))
    if n_ids < len(ledger.open) + len(truths) or len(truths) > MOST_SETTLED:
        raise _unfit("an id has two decisions")
    ids = unpacked(arrays.pop("recent/id"), arrays.pop("recent/id_ends"))
    names = ledger.names
    for one, row in zip(ids, _rows("recent", _RECENT, arrays), strict=True):
        group, level, error, delay = row
        name = names[_place(group, len(names))]
        ledger.recent.append(Outcome(one, name, level, bool(error), delay))
    if len(ids) > MOST_RECENT or arrays:
        raise _unfit(f"it has more than an adaptive test has: {list(arrays)}")
    ledger.total_delay = sum(one.delay for one in ledger.recent)


def _decisions(part: str, arrays: Arrays, ledger: Ledger) -> Iterable[tuple[str, Decided]]:
    ids = unpacked(arrays.pop(f"{part}/id"), arrays.pop(f"{part}/id_ends"))
    for one, row in zip(ids, _rows(part, _DECIDED, arrays), strict=True):
        group, rejected, level, p_value, epoch, before = row
        of = ledger.levels[_place(group, len(ledger.levels))]
        if not 0 <= epoch <= of.epoch or (part == "open" and epoch < of.first_epoch):
            raise _unfit("a decision is of another time")
        if not 0 <= before <= of.n:
            raise _unfit("a decision is of another time")
        yield one, Decided(group, bool(rejected), level, p_value, epoch, before)


def _place(group: int, n_groups: int) -> int:
    if not 0 <= group < n_groups:
        raise _unfit("a decision is of a group that there is not")
    return group


def _rows(part: str, kinds: dict[str, Any], arrays: Arrays) -> Iterable[tuple[Any, ...]]:
    return zip(*(arrays.pop(f"{part}/{name}").tolist() for name in kinds), strict=True)


def _columns(part: str, kinds: dict[str, Any], rows: Iterable[Any]) -> Arrays:
    found = list(rows)
    return {
        f"{part}/{name}": np.array([getattr(row, name) for row in found], dtype=kind)
        for name, kind in kinds.items()
    }


def _texts(name: str, texts: Iterable[str]) -> Arrays:
    data, ends = packed(list(texts))
    return {name: data, f"{name}_ends": ends}


def _unfit(found: str) -> StoredFileError:
    return StoredFileError(f"{found}, which no version of ratekeeper writes. Save it again.")


def save_ledger(ledger: Ledger, about: Facts, path: str | os.PathLike[str]) -> None:
    """Write a ledger as one file, which replaces one that is there in one step."""
    write_state(path, KIND, *packed_ledger(ledger, about))


def load_ledger(path: str | os.PathLike[str]) -> tuple[Ledger, Facts]:
    """Return the ledger of a file, and what it says about the test it belongs to."""
    from ratekeeper.storage._container import reading

    facts, arrays = read_state(path, KIND)
    with reading(path):
        ledger = unpacked_ledger(facts, arrays)
    return ledger, {name: facts[name] for name in ("test", "classes", "groups")}
