"""What a ``.rk`` file states about its scores: told of an object, and the object made anew from it.

`facts_of` and `rebuilt` are each other's inverse. Nothing that a file states is taken on trust:
whatever can be computed from the scores and the settings is computed, and compared. So a file can
never make decisions that its certificate does not describe.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from functools import partial
from itertools import chain, pairwise
from operator import gt
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper import methods
from ratekeeper._numerics._draws import Draw
from ratekeeper._reading._parameters import LONGEST_NAME
from ratekeeper._version import __version__
from ratekeeper._wording._formatting import format_value, json_ready, listed
from ratekeeper.calibration._aligned_columns import COLUMNS, columns_of
from ratekeeper.calibration._calibration import Calibration
from ratekeeper.calibration._clusters import NOT_DRAWN
from ratekeeper.calibration._counts import CountedScores, is_counted, is_well_formed
from ratekeeper.calibration._provenance import Provenance
from ratekeeper.calibration._times import Timing
from ratekeeper.calibration._weights import are_weights
from ratekeeper.calibration._windows import time_facts, wrong_times
from ratekeeper.control._aims import AIMS, Limits
from ratekeeper.control._both_rates import AbstainingTest
from ratekeeper.control._error_rate import ErrorRateTest, build_test
from ratekeeper.control._risk_control import RiskControlTest, risk_control_test
from ratekeeper.exceptions import InputError, Parameter, StoredFileError
from ratekeeper.methods._approximate._kernel import SUMMED_UP_TO
from ratekeeper.storage._schema import ENDLESS_FITS, FORMAT, MOST_REPLICATES, schema_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ratekeeper.control._certificate import Certificate
    from ratekeeper.control._risk_control import RiskControlCertificate
    from ratekeeper.control._test import Test

    Storable = Calibration | Test
    Facts = dict[str, Any]  # what JSON calls an object

_SIDES = ("negative", "positive")
# Of scores that are known by counts: those of the knots, which stand where scores would.
_COUNTS = {"most": np.dtype(np.int64), "least": np.dtype(np.int64)}
_BOTH = ["fnr", "fpr"]
_FIRST_WITH_DRAW = 4  # of the formats
# With how many tests of a rate.
_KINDS = {("calibration", 0), ("test", 1), ("abstaining test", 2), ("threshold test", 0)}
_WIDEST = np.dtype(f"U{LONGEST_NAME}")
_SCORE_TYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F64": np.dtype("<f8")}
_TABLE_TOLERANCE = 1e-6  # of large kernel sums, which older versions computed term by term
_FIT_TOLERANCE = 1e-9  # of the largest score: versions of SciPy differ in the last digits
_RATE_TOLERANCE = 1e-6  # of the rates in a certificate
# Sentences of a certificate. Each version has its own, and shows those and never the stored ones.
_WORDS = frozenset(
    (
        *("promise", "condition", "not_covered", "assumptions", "remarks", "remark", "rule"),
        *("method", "version"),
    )
)
_COUNTED = frozenset(("other_error", "contradicted", "promised", "least_other_error"))
# Beyond, the cells of a certificate are not stored: thresholds are, and the rest is made anew.
MOST_CELLS = 1_000
_RENAMED = {"law": "distribution"}


def facts_of(obj: Storable) -> tuple[Calibration, Facts]:
    """Return the scores, and as plain values all that is stored beside them."""
    if isinstance(obj, Calibration):
        kind, calibration, tests = "calibration", obj, []
    elif isinstance(obj, ErrorRateTest):
        kind, calibration, tests = "test", obj.calibration, [obj]
    elif isinstance(obj, AbstainingTest):
        kind, calibration, tests = "abstaining test", obj.calibration, [obj.fnr, obj.fpr]
        controls = (obj.fnr.control, obj.fpr.control)
        if controls != ("fnr", "fpr") or calibration != obj.fpr.calibration:
            found = f"The two tests control {controls}, or stand on different calibrations."
            remedy = "Make them with control_both, or save each by itself."
            raise InputError(found, parameter="obj", remedy=remedy)
    elif isinstance(obj, RiskControlTest):
        kind, calibration, tests = "threshold test", obj.calibration, []
    else:
        raise _unsaved(obj)
    about = {"format": FORMAT, "version": __version__, "kind": kind}
    facts = about | facts_of_calibration(calibration) | {"tests": [facts_of_test(t) for t in tests]}
    if isinstance(obj, RiskControlTest):
        facts["aimed"] = facts_of_aimed(obj)
    if wrong := _contradiction(calibration) or schema_error(facts, "facts"):
        remedy = "Save what calibrate, control and control_both return."
        raise InputError(f"This cannot be saved: {wrong}.", parameter="obj", remedy=remedy)
    return calibration, facts


def _unsaved(obj: object) -> InputError:
    """Say what can be saved, and how what was given is saved if it can be at all."""
    name = type(obj).__name__
    remedy = "Pass a Calibration, an ErrorRateTest, an AbstainingTest or a RiskControlTest, as "
    remedy += "calibrate, control, control_both and the like return them."
    is_ours = type(obj).__module__.startswith("ratekeeper.")
    if is_ours and callable(getattr(obj, "save", None)):
        remedy = f"Call its own method instead, {name}.save(path)."
    elif is_ours and hasattr(obj, "test_"):
        remedy = "Save its test: rk.save(controller.test_, path)."
    elif isinstance(obj, str | os.PathLike):
        remedy = "The object comes first, then the path: rk.save(test, path)."
    found = f"rk.save cannot save {'an' if name[:1] in 'AEIOU' else 'a'} {name}."
    return InputError(found, parameter="obj", remedy=remedy)


def facts_of_calibration(calibration: Calibration) -> Facts:
    """Return what is stored about the scores."""
    groups = calibration.groups
    return {
        "classes": _name_facts(calibration.classes),
        "groups": None if groups is None else _name_facts(groups),
        "higher_is_positive": calibration.higher_is_positive,
        "origin": calibration.origin,
        "n": _counts(calibration),
        "data_hash": calibration.data_hash,
        "provenance": calibration.provenance and calibration.provenance.to_dict(),
        "draw": calibration.draw.to_dict(),
        **({} if calibration.sampling == "population" else {"sampling": calibration.sampling}),
        **({} if calibration.clusters is None else {"clusters": _cluster_counts(calibration)}),
        **({} if calibration.weights is None else {"weights": _counts(calibration)}),
        **({"counted": _knot_counts(calibration)} if calibration.counted else {}),
        **time_facts(calibration),
    }


def _counts(calibration: Calibration) -> dict[str, int]:
    return _by_side(calibration, _sizes(calibration))


def _cluster_counts(calibration: Calibration) -> dict[str, int]:
    """Return how many clusters have rows of each class."""
    parts = (np.unique(np.concatenate(cells)) for cells in calibration.clusters or ())
    return _by_side(calibration, [part.size for part in parts])


def _knot_counts(calibration: Calibration) -> dict[str, int]:
    """Return at how many knots the scores of each class are counted."""
    cells = ([cell for cell in cells if is_counted(cell)] for cells in calibration.cells)
    return _by_side(calibration, [sum(cell.knots.size for cell in own) for own in cells])


def _by_side(calibration: Calibration, sizes: list[int]) -> dict[str, int]:
    if calibration.labelled:
        return dict(zip(_SIDES, sizes, strict=True))
    return {**dict.fromkeys(_SIDES, 0), "unlabelled": sum(sizes)}


def _sizes(calibration: Calibration) -> list[int]:
    return [sum(scores.size for scores in cells) for cells in calibration.cells]


def _name_facts(names: NDArray[Any]) -> Facts:
    values = names.tolist()
    if names.dtype.kind == "U":
        names = names.astype(_text_type(names.dtype, values), copy=False)
    is_long = names.dtype.kind == "U" and names.dtype.itemsize > _WIDEST.itemsize
    if is_long or schema_error(names.dtype.str, "name_type"):
        remedy = f"Use booleans, whole numbers, float64 or texts up to {LONGEST_NAME} characters."
        raise InputError(f"Labels or groups of type {names.dtype} cannot be stored.", remedy=remedy)
    if names.dtype.kind == "f":
        values = list(map(str, values))  # JSON knows no infinity
    return {"dtype": names.dtype.str, "values": values}


def _text_type(dtype: np.dtype[Any], values: list[str]) -> np.dtype[Any]:
    """Return the type of some texts, no wider than they need where it is wider than names are."""
    if dtype.itemsize <= _WIDEST.itemsize:
        return dtype
    return np.dtype(f"{dtype.str[0]}U{max(map(len, values))}")


def _contradiction(calibration: Calibration) -> str | None:
    """Return what `calibrate` would never make, beside the order of the scores."""
    classes, groups, rows = calibration.classes, calibration.groups, calibration.provenance
    if classes.shape != (2,) or classes[0] == classes[1] or _has_nan(classes):
        return f"its labels are {listed(classes.tolist())}, not two different ones"
    if groups is not None and (not (groups[1:] > groups[:-1]).all() or _has_nan(groups)):
        return "its groups are not different ones in ascending order"
    sizes = _sizes(calibration)
    if not sum(sizes):
        return "it has no score"
    if not calibration.labelled and (sizes[1] or classes.tolist() != [0, 1]):
        return "it has scores of a class, but no labels"
    wrong = wrong_times(calibration) or _wrong_weights(calibration)
    return wrong or (None if rows is None else _wrong_rows(calibration, rows))


def _wrong_weights(calibration: Calibration) -> str | None:
    if calibration.weights is None:
        return None
    if calibration.clusters is not None:
        return "it has weights and clusters, which do not go together"
    return None if are_weights(calibration.weights) else "a weight of it is no positive number"


def _wrong_rows(calibration: Calibration, rows: Provenance) -> str | None:
    """Return what is wrong with the rows that the scores are said to come from."""
    sizes = _sizes(calibration)
    if calibration.clusters is not None and rows.sampled_from is not None:
        return "it is a sample of rows, but has clusters"
    valid = rows.sampled_from or sizes
    if rows.rejection is not None:
        valid = rows.rejection.negative, rows.rejection.positive
    if sum(valid) != rows.rows - rows.n_skipped or any(map(gt, sizes, valid)):
        return f"its {sum(sizes):,} scores are not those of its rows ({rows})"
    return None


def _has_nan(names: NDArray[Any]) -> bool:
    return names.dtype.kind == "f" and bool(np.isnan(names).any())


def facts_of_test(test: ErrorRateTest) -> Facts:
    """Return what is stored about a test of one rate."""
    return {
        "control": test.control,
        "alpha": test.alpha,
        # Before the certificate, for which a random method would have to draw.
        "method": _method_facts(test.method),
        "thin_groups": test.thin_groups,
        "thresholds": [None if t is None else t.hex() for t in test.thresholds.values()],
        "certificate": _stated(test.certificate, cells=len(test.thresholds) <= MOST_CELLS),
        **_boundary_facts(test),
        **({"tolerance": test.tolerance} if test.tolerance else {}),
    }


def _boundary_facts(test: ErrorRateTest) -> Facts:
    """Return the pairs of threshold and number, where ties are broken by keys."""
    pairs = [pair for pair in test.boundaries.values() if pair is not None]
    return {"boundaries": [[one.hex() for one in pair] for pair in pairs]} if pairs else {}


def _stated(certificate: Certificate | RiskControlCertificate, *, cells: bool) -> Facts:
    """Return a certificate as it is stored, with its cells or without."""
    facts: Facts = json_ready(certificate.to_dict() if cells else certificate.overall())
    facts.pop("alerts", None)  # a conclusion from what is stored
    return facts


def facts_of_aimed(test: RiskControlTest) -> Facts:
    """Return what is stored about a test of an aim."""
    return {
        "aim": {"name": test.aim.name, "parameters": dataclasses.asdict(test.aim)},  # type: ignore[call-overload]
        "limits": [_limit_facts(one.limits) for one in test.chosen],
        "certificate": _stated(test.certificate, cells=len(test.chosen) <= MOST_CELLS),
    }


def _limit_facts(limits: Limits) -> Facts:
    return {
        "positive": limits.positive.hex(),
        "strict": limits.strict,
        "negative": None if limits.negative is None else limits.negative.hex(),
    }


def _method_facts(method: methods.Method) -> Facts:
    if type(method) not in methods.METHODS.values():
        found = " is not one of ratekeeper's own, so a file cannot name it."
        remedy = "Save the calibration, and make the test after loading."
        raise InputError((Parameter("method", method), found), parameter="method", remedy=remedy)
    parameters = {}
    for name, value in method.parameters().items():
        if isinstance(value, np.bool_ | np.integer | np.float64 | np.str_):
            value = value.item()  # noqa: PLW2901
        if type(value) not in (bool, int, float, str, type(None)):
            raise InputError(
                (Parameter(name, value), f" of {type(method).__name__} cannot be saved."),
                parameter=name,
                value=value,
                remedy="Leave random_state out, or use a plain number as a seed.",
            )
        parameters[name] = value
    facts = {"name": method.name, "parameters": parameters}
    if schema_error(facts, "method"):
        slow = f"more than {MOST_REPLICATES:,} resamples, or a fit of {' or '.join(ENDLESS_FITS)}"
        found = f" cannot be saved: {slow} would keep whoever loads it busy for too long."
        remedy = "Take fewer resamples or another distribution, or save the calibration."
        raise InputError((Parameter("method", method), found), parameter="method", remedy=remedy)
    return facts


def arrays_of(calibration: Calibration) -> dict[str, NDArray[Any]]:
    """Return the arrays that are stored, in their order: scores, and then the columns beside them.

    Without labels there is one for each group.
    """
    names = array_names(calibration.groups, labelled=calibration.labelled)
    sides = slice(2 if calibration.labelled else 1)
    cells = list(chain(*calibration.cells[sides]))
    if calibration.counted:
        knots, most, least = zip(*(cell.arrays for cell in cells if is_counted(cell)), strict=True)
        parts = {"": knots, "most/": most, "least/": least}
        return {
            part + name: array
            for part in parts
            for name, array in zip(names, parts[part], strict=True)
        }
    arrays: dict[str, NDArray[Any]] = dict(zip(names, cells, strict=True))
    for column, beside in columns_of(calibration).items():
        arrays |= zip([f"{column}/{name}" for name in names], chain(*beside[sides]), strict=True)
    return arrays


def array_names(groups: NDArray[Any] | None, *, labelled: bool = True) -> list[str]:
    """Return what the arrays of scores are called, in their order."""
    sides = _SIDES if labelled else ("unlabelled",)
    if groups is None:
        return list(sides)
    return [f"{side}/{i}" for side in sides for i in range(groups.size)]


def rebuilt(facts: Facts, table: Facts, data: bytes) -> Storable:
    """Make the object anew, and see that it is the one that was saved."""
    kind, controls = facts["kind"], [one["control"] for one in facts["tests"]]
    if (kind, len(controls)) not in _KINDS or (kind == "abstaining test" and controls != _BOTH):
        raise StoredFileError(f"it holds a {kind} with tests of {controls}. Save it again.")
    if (kind == "threshold test") != ("aimed" in facts):
        raise StoredFileError(f"it holds a {kind}, but not what belongs to one. Save it again.")
    if "draw" not in facts:
        _refuse_old_draws(facts)
    elif any(
        one["method"]["name"] == "high-probability"
        and "random_state" in one["method"]["parameters"]
        for one in facts["tests"]
    ):
        raise StoredFileError("its method has a seed beside its draw. Make the test anew.")
    calibration = _rebuild_calibration(facts, table, data)
    if kind == "threshold test":
        return _rebuild_aimed(calibration, facts["aimed"])
    tests = [_rebuild_test(calibration, one) for one in facts["tests"]]
    if kind == "abstaining test":
        return AbstainingTest(tests[0], tests[1])
    return tests[0] if tests else calibration


def _refuse_old_draws(facts: Facts) -> None:
    """Raise if a file without a draw holds a test that rests on one.

    Its numbers were a function of the scores, and where these have few values its promise fails
    more often than it says; so may one on objects that were kept at random. Any other calibration
    or test gets a draw of its own.
    """
    if facts["format"] >= _FIRST_WITH_DRAW:
        raise StoredFileError("it has no draw. Save it again.")
    aimed, rows = facts.get("aimed"), facts.get("provenance") or {}
    tests = [one["method"] for one in facts["tests"]]
    kept = rows.get("rejection") or rows.get("sampled_from") or NOT_DRAWN in rows.get("skipped", {})
    if kept:
        raise StoredFileError(
            "its objects were kept at random by an earlier version, with numbers that depended on "
            "the scores or on their rows, so that promises can fail. Calibrate anew."
        )
    if (
        (aimed is not None and AIMS[aimed["aim"]["name"]].splits)
        or any(one["parameters"].get("randomised") for one in tests)
        or ("clusters" in facts and any(one["name"] != "conformal" for one in tests))
    ):
        raise StoredFileError(
            "its test was made by an earlier version, with random numbers that depended on the "
            "scores, so that its promise can fail where scores have few values. Calibrate and make "
            "the test anew."
        )


def _rebuild_calibration(facts: Facts, table: Facts, data: bytes) -> Calibration:
    n_groups = 1 if facts["groups"] is None else len(facts["groups"]["values"])
    labelled, columns = "unlabelled" not in facts["n"], _columns_in(facts)
    if len(table) != (2 if labelled else 1) * (1 + len(columns)) * n_groups:
        raise StoredFileError(
            f"it has {len(table):,} arrays for {n_groups:,} groups. Save it again."
        )
    groups = None if facts["groups"] is None else stored_names(facts["groups"])
    names = array_names(groups, labelled=labelled)
    cells, stop = _cells(table, names, data)
    beside: dict[str, tuple[NDArray[Any], ...]] = {}
    for column in columns:
        beside[column], stop = _column(table, column, names, data, stop)
    if stop != len(data):
        raise _wrong_length(data)
    _refuse_disorder(cells, beside)
    if not labelled:
        cells += (cells[0][:0],) * n_groups
        beside = {name: column + (column[0][:0],) * n_groups for name, column in beside.items()}
    if "counted" in facts:
        cells, beside = _counted(cells, *beside.values()), {}
    rows = facts.setdefault("provenance", None)  # which format 1 did not have
    draw = dataclasses.replace(
        Draw.from_dict(facts["draw"]) if "draw" in facts else Draw.of(), loaded="draw" not in facts
    )
    facts.setdefault("draw", draw.to_dict())
    calibration = Calibration(
        (cells[:n_groups], cells[n_groups:]),
        stored_names(facts["classes"]),
        groups,
        facts["higher_is_positive"],
        facts["origin"],
        None if rows is None else Provenance.from_dict(rows),
        facts.get("sampling", "population"),
        labelled=labelled,
        timing=_timing(facts),
        draw=draw,
        **{name: (column[:n_groups], column[n_groups:]) for name, column in beside.items()},
    )
    if wrong := _contradiction(calibration):
        raise StoredFileError(f"{wrong}. Save it again.")
    for name, value in facts_of_calibration(calibration).items():
        if name not in ("classes", "groups") and value != facts[name]:
            found = (
                f"its {name} is {format_value(facts[name])}, but that of its scores is "
                f"{format_value(value)}"
            )
            raise StoredFileError(f"{found}. Save it again.")
    return calibration


def _columns_in(facts: Facts) -> list[str]:
    """Return which columns stand beside the scores, or the knots."""
    columns = [name for name in COLUMNS if name in facts]
    if "counted" not in facts:
        return columns
    if columns:
        raise StoredFileError(f"it has counts and {listed(columns)}. Save it again.")
    return list(_COUNTS)


def _counted(*arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
    """Return cells that are known by counts, if these are such as counting gives."""
    cells = tuple(map(CountedScores, *arrays))
    if not all(map(is_well_formed, cells)):
        raise StoredFileError("its counts are not those of scores. Save it again.")
    return cells


def _timing(facts: Facts) -> Timing | None:
    try:
        return Timing.from_dict(facts["times"]) if "times" in facts else None
    except InputError as error:
        raise StoredFileError(f"its times cannot be read: {error}") from error


def stored_names(facts: Facts) -> NDArray[Any]:
    """Return labels or groups; they take no more memory than the longest name allows for each."""
    dtype, values = np.dtype(facts["dtype"]), facts["values"]
    if dtype.kind == "U":
        dtype = _text_type(dtype, values)
    names = np.array(list(map(float, values)) if dtype.kind == "f" else values, dtype)
    # As text, since True == 1 but they are not the same label.
    if json.dumps(_name_facts(names)["values"]) != json.dumps(values):
        raise StoredFileError(f"it has {listed(values)} as {dtype}. Save it again.")
    return names


def _cells(table: Facts, names: list[str], data: bytes) -> tuple[tuple[NDArray[Any], ...], int]:
    """Return the arrays of scores and where they end, if they are of one type and ascend."""
    dtype, ends = _described(table, names, _SCORE_TYPES, 0)
    stop = dtype.itemsize * ends[-1]
    if stop > len(data):
        raise _wrong_length(data)
    scores = np.frombuffer(data[:stop], dtype).astype(dtype.newbyteorder("="), copy=False)
    ascends = np.empty(scores.size, dtype=bool)
    np.greater_equal(scores[1:], scores[:-1], out=ascends[1:])
    ascends[[end for end in ends if end < scores.size]] = True  # where an array starts
    if not ascends.all() or np.isnan(scores.min(initial=0.0)):
        raise StoredFileError("its scores do not ascend. Save it again.")
    return tuple(scores[start:end] for start, end in pairwise(ends)), stop


def _column(
    table: Facts, column: str, names: list[str], data: bytes, start: int
) -> tuple[tuple[NDArray[Any], ...], int]:
    """Return a column beside the scores, and where its bytes end."""
    kind = {**COLUMNS, **_COUNTS}[column]
    code = f"{ {'u': 'U', 'f': 'F', 'i': 'I'}[kind.kind] }64"
    own = [f"{column}/{name}" for name in names]
    dtype, ends = _described(table, own, {code: kind.newbyteorder("<")}, start)
    stop = start + dtype.itemsize * ends[-1]
    if stop > len(data):
        raise _wrong_length(data)
    values = np.frombuffer(data[start:stop], dtype).astype(kind)
    return tuple(values[begin:end] for begin, end in pairwise(ends)), stop


def _refuse_disorder(
    cells: tuple[NDArray[Any], ...], beside: dict[str, tuple[NDArray[Any], ...]]
) -> None:
    """Raise unless each score has its values, in order where scores are equal."""
    for i, scores in enumerate(cells):
        if any(column[i].size != scores.size for column in beside.values()):
            raise StoredFileError(
                f"its {next(iter(beside))} are not those of its scores. Save it again."
            )
        tied = scores[1:] == scores[:-1]
        for name, column in beside.items():
            own = column[i]
            if (tied & (own[1:] < own[:-1])).any():
                raise StoredFileError(f"its {name} are not those of its scores. Save it again.")
            tied &= own[1:] == own[:-1]


def _described(
    table: Facts, names: list[str], types: dict[str, np.dtype[Any]], offset: int
) -> tuple[np.dtype[Any], list[int]]:
    """Return the type of these arrays and where each ends, if they follow each other in order."""
    codes, ends, dtype = set(), [0], next(reversed(types.values()))
    for name in names:
        # Of very many, so that to look at each once is worth it.
        match table.get(name):
            case {"dtype": str(code), "shape": [size], "data_offsets": [start, stop], **rest} if (
                not rest and type(size) is type(start) is type(stop) is int and size >= 0
            ):
                codes.add(code)
                dtype = types.get(code, dtype)
                ends.append(ends[-1] + size)
                if [start, stop] == [offset + dtype.itemsize * end for end in ends[-2:]]:
                    continue
        raise StoredFileError(f"its array {name!r} is not what it should be. Save it again.")
    if len(codes) > 1 or not codes <= types.keys():
        raise StoredFileError(f"its arrays are of type {listed(sorted(codes))}. Save it again.")
    return dtype, ends


def _wrong_length(data: bytes) -> StoredFileError:
    found = f"its arrays are not the {len(data):,} bytes that follow the header"
    return StoredFileError(f"{found}. Save it again.")


def _rebuild_test(calibration: Calibration, facts: Facts) -> ErrorRateTest:
    method = methods.METHODS[facts["method"]["name"]](**facts["method"]["parameters"])
    how = facts["thin_groups"], facts.get("tolerance", 0.0)
    test = build_test(calibration, facts["control"], facts["alpha"], method, *how)
    stored = [None if t is None else float.fromhex(t) for t in facts["thresholds"]]
    found = list(test.thresholds.values())
    tolerance = 0.0 if stored == found else _tolerance(test)
    if len(stored) != len(found) or not all(map(partial(_close, atol=tolerance), stored, found)):
        raise StoredFileError(
            f"its thresholds are {listed(stored)}, but with the versions of NumPy and SciPy here "
            f"{method!r} gives {listed(found)}. Load it where it was saved, or make the test anew."
        )
    boundaries = _boundary_facts(test)
    if facts.get("boundaries") != boundaries.get("boundaries"):
        raise StoredFileError(
            f"its boundaries are not those that {method!r} gives. Make the test anew."
        )
    # What is drawn, or counted beyond a threshold that is not the same to the last bit, may differ.
    is_random = None in found and not boundaries
    is_random = is_random or calibration.draw.loaded  # as the rows of clusters that are counted
    ignored = _WORDS | (_COUNTED if is_random or stored != found else frozenset())
    made = _stated(test.certificate, cells="cells" in facts["certificate"])
    wrong = _disagreement(facts["certificate"], made, ignored, tolerance)
    if not facts["certificate"]["method"].startswith(f"{type(method).__name__}("):
        wrong = (
            f"method {format_value(facts['certificate']['method'])}, but its test has {method!r}"
        )
    stated = facts["certificate"].get("tolerance", 0.0)
    if stated != test.tolerance:  # to the last bit
        wrong = f"tolerance {stated!r}, but its test has {test.tolerance!r}"
    if wrong:
        raise StoredFileError(f"its certificate says {wrong}. Make the test anew.")
    return test


def _rebuild_aimed(calibration: Calibration, facts: Facts) -> RiskControlTest:
    try:
        aim = AIMS[facts["aim"]["name"]](**facts["aim"]["parameters"])
        test = risk_control_test(calibration, aim)
    except InputError as error:
        raise StoredFileError(f"its test cannot be made: {error}") from error
    found = [_limit_facts(one.limits) for one in test.chosen]
    if facts["limits"] != found:
        raise StoredFileError(
            f"its thresholds are {listed(facts['limits'])}, but with the versions of NumPy and "
            f"SciPy here {aim!r} gives {listed(found)}. Load it where it was saved, or make the "
            "test anew."
        )
    made = _stated(test.certificate, cells="cells" in facts["certificate"])
    if wrong := _disagreement(facts["certificate"], made, _WORDS, 0.0):
        raise StoredFileError(f"its certificate says {wrong}. Make the test anew.")
    return test


def _tolerance(test: ErrorRateTest) -> float:
    """Return how far thresholds may be from those that were stored: only those of fits may."""
    if not isinstance(test.method, methods.Kernel | methods.Parametric):
        return 0.0
    cells = [scores for scores in test.calibration.cells[test.null_class] if scores.size]
    largest = max(max(-float(scores[0]), float(scores[-1])) for scores in cells)
    n = max(scores.size for scores in cells)
    is_tabled = isinstance(test.method, methods.Kernel) and n > SUMMED_UP_TO
    return (_TABLE_TOLERANCE if is_tabled else _FIT_TOLERANCE) * largest


def _disagreement(
    stored: Any,  # noqa: ANN401 - any JSON
    found: Any,  # noqa: ANN401
    ignored: frozenset[str],
    atol: float,
    where: str = "",
) -> str | None:
    """Return where a stored certificate states other facts than the one made here, None if nowhere.

    Older versions had fewer facts, and other sentences. Numbers may differ as far as versions of
    SciPy do. Before `beyond` was stated, the lower end of the true rate took scores for untied.
    """
    if stored == found:
        return None
    if isinstance(found, dict) and isinstance(stored, dict):
        stored = {_RENAMED.get(name, name): value for name, value in stored.items()}
        if "beyond" in found and "beyond" not in stored:
            stored.pop("low", None)
        inner = [
            (stored[name], value, name)
            for name, value in found.items()
            if name in stored and name not in ignored
        ]
    elif isinstance(found, list) and isinstance(stored, list) and len(found) == len(stored):
        inner = [(one, two, where) for one, two in zip(stored, found, strict=True)]
    else:
        same = _close(stored, found, atol=max(atol, _RATE_TOLERANCE), rtol=_RATE_TOLERANCE)
        return (
            None
            if same
            else f"{where} {format_value(stored)}, but its scores give {format_value(found)}"
        )
    wrong = (_disagreement(one, two, ignored, atol, name) for one, two, name in inner)
    return next(filter(None, wrong), None)


def _close(one: object, two: object, *, atol: float, rtol: float = 0.0) -> bool:
    """Return whether two values are the same, or numbers that are nearly."""
    if isinstance(one, float) and isinstance(two, float):
        return math.isclose(one, two, rel_tol=rtol, abs_tol=atol)
    return type(one) is type(two) and one == two
