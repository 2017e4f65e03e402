"""Append the decision and the p-values of a test to the graph of an ONNX model."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._system._plain_files import NotPlainError, open_plain
from ratekeeper._version import __version__
from ratekeeper._wording._formatting import format_value, plain_value
from ratekeeper.calibration._cells import refuse_weights
from ratekeeper.control._both_rates import AbstainingTest
from ratekeeper.control._error_rate import ErrorRateTest
from ratekeeper.exceptions import InputError, Parameter
from ratekeeper.methods._rank import RankNull
from ratekeeper.methods._tolerant import covers_rounding
from ratekeeper.onnx._graph import ABSTAINED, NEGATIVE, NOT_A_NUMBER, POSITIVE, Graph, the_package

if TYPE_CHECKING:
    from ratekeeper.control._test import Test
    from ratekeeper.methods import NullDistribution

    RateTest = ErrorRateTest | AbstainingTest
    Proto = Any  # of onnx, which ships no types

__all__ = ["append"]

OUTPUTS = ("ratekeeper_decision", "ratekeeper_p0", "ratekeeper_p1")
_OLDEST_OPSET = 9
_OLDEST_IR = 4  # of that opset
_OPSET = 13  # of graphs that state none, since all their operators are of other sets


def append(
    model: Proto | str | os.PathLike[str],
    test: RateTest,
    *,
    output: str | None = None,
    column: int | None = None,
) -> Proto:
    """Append the decision of a test and its p-values to the graph of a model.

    Parameters
    ----------
    model : onnx.ModelProto or path-like
        The model, of opset 9 or newer. It is not changed.
    test : ErrorRateTest or AbstainingTest
        Without groups and weights, of a method that counts: `HighProbability`, `Conformal`,
        `Simultaneous` or `Empirical`.
    output : str, optional
        The output of the graph that holds the scores, required if several could. Converters of
        scikit-learn, LightGBM and XGBoost call it "probabilities"; it has to be a tensor, so
        convert with ``zipmap=False``.
    column : int, optional
        The column of the scores, required if the output has several: 1 for the second class.

    Returns
    -------
    onnx.ModelProto
        The same graph with three more outputs, each with one value for each object.
        ``ratekeeper_decision`` (int64) is 1 for positive, 0 for negative, -1 where the test
        abstains, -2 where the score is NaN. ``ratekeeper_p0`` and ``ratekeeper_p1`` (double) are
        the p-values of "it is negative" and "it is positive", NaN where the score is NaN.
        ``metadata_props`` have the certificate, as JSON and as text.

    Notes
    -----
    **Guarantee.** On the scores that the graph itself computes, decisions are those of
    ``test.decide``, to the last bit. P-values are those of the test or larger, by at most the ratio
    that the metadata state (1.1% with 1,000 steps), and `p <= alpha` is the decision. A promise
    about them needs scores like those of the calibration. If the runtime gives others, as float32
    does for a model that was calibrated in float64, the test needs a tolerance, and is refused
    without one. Even where number types agree, the scores of one runtime may depend on the size of
    the batch and on threads.

    A model that states another number of columns than its nodes give is refused. Where the nodes
    do not tell, the graph fails in the runtime if the number is another than stated.

    Examples
    --------
    >>> import ratekeeper as rk
    >>> from ratekeeper.onnx import append
    >>> decided = append("model.onnx", test, output="probabilities", column=1)  # doctest: +SKIP
    >>> onnx.save(decided, "decided.onnx")  # doctest: +SKIP
    """
    onnx = the_package()
    _check_test(test)
    made = onnx.ModelProto()
    made.CopyFrom(_read(model))
    _check_opset(made)
    scores = _score_output(made, output)
    dtype, place = _number_type(scores, test), _column(scores, column)
    _refuse_other_shape(made, scores)
    graph = Graph(made.graph, dtype)
    _refuse_taken(graph)
    graph.read(scores.name, place, (_dims(scores) or [])[1:])
    found = (graph.decision(test), *graph.p_values(test))
    size = [dim if isinstance(dim, str) else None for dim in (_dims(scores) or [])[:1]]
    kinds = (onnx.TensorProto.INT64, onnx.TensorProto.DOUBLE, onnx.TensorProto.DOUBLE)
    for name, kind, value in zip(OUTPUTS, kinds, found, strict=True):
        graph.node("Identity", value, output=name)
        made.graph.output.append(onnx.helper.make_tensor_value_info(name, kind, size))
    _describe(made, _metadata(test, scores.name, place, graph.excess))
    return made


def _read(model: Proto | str | os.PathLike[str]) -> Proto:
    """Return a model, from its file if it is in one."""
    onnx = the_package()
    read: Any = model
    found = f"A {type(model).__name__} is not an ONNX model."
    if isinstance(model, str | os.PathLike):
        from google.protobuf.message import DecodeError  # which onnx needs, too

        found = f"{os.fspath(model)} is not an ONNX model."
        with suppress(DecodeError, NotPlainError):
            open_plain(model).close()  # onnx would wait for a pipe
            read = onnx.load(model)
    # An empty file, and one of another program by chance, is read as a model without a graph.
    if isinstance(read, onnx.ModelProto) and read.HasField("graph"):
        return read
    if isinstance(model, onnx.ModelProto):
        found = "The model has no graph."
    raise InputError(
        found,
        parameter="model",
        need="an onnx.ModelProto, or the path of one",
        remedy="Convert the model first, with skl2onnx or onnxmltools, for example.",
    )


def _check_test(test: Test) -> None:
    """Refuse what a graph of comparisons cannot decide."""
    if not isinstance(test, ErrorRateTest | AbstainingTest):
        raise InputError(
            f"A {type(test).__name__} cannot be appended to a graph.",
            parameter="test",
            need="a test of one error rate or of both",
            remedy="Make one with cal.control or cal.control_both.",
        )
    if test.calibration.groups is not None:
        raise InputError(
            f"The test has {len(test.calibration.groups):,} groups, and the graph of a model does "
            "not know the group of an object.",
            parameter="test",
            remedy="Append a test without groups, or one for each group to a graph of its own.",
        )
    refuse_weights(test.calibration, "A graph")
    for part in test.parts:
        counts = all(isinstance(null, RankNull) for null in _nulls(part))
        if not counts or part.method.keys == "required":
            raise InputError(
                f"{part.method!r} does more than count calibration scores, and a graph that "
                "compares scores with a table of steps cannot do that.",
                parameter="test",
                remedy="Take HighProbability() or Conformal(); of clusters HighProbability().",
            )


def _nulls(part: ErrorRateTest) -> list[NullDistribution]:
    """Return what the two classes are judged by; nothing for a class without scores."""
    both = (*part._nulls, *part._other_nulls)  # noqa: SLF001 - ours
    return [null for null in both if null is not None]


def _check_opset(model: Proto) -> None:
    """Refuse graphs that are too old, or have a test already."""
    found = [one for one in model.opset_import if one.domain in ("", "ai.onnx")]
    if not found:
        model.opset_import.add(domain="", version=_OPSET)
    elif found[0].version < _OLDEST_OPSET:
        raise InputError(
            f"The model is of opset {found[0].version}.",
            parameter="model",
            need=f"opset {_OLDEST_OPSET} or newer",
            remedy="Convert it again with a newer target_opset, or use onnx.version_converter.",
        )
    model.ir_version = max(model.ir_version, _OLDEST_IR if found else 7)
    taken = [one.name for one in model.graph.output if one.name in OUTPUTS]
    if taken:
        raise InputError(
            f"The model has an output {taken[0]} already: a test was appended before.",
            parameter="model",
            remedy="Append to the model as it was converted.",
        )


def _score_output(model: Proto, name: str | None) -> Proto:
    """Return the output that holds the scores, by its name or as the only one that can."""
    inferred = the_package().shape_inference.infer_shapes(model)
    known = {one.name: one for one in inferred.graph.output}
    if not known:
        raise InputError(
            "The model has no outputs.",
            parameter="model",
            need="a graph with an output that holds the scores",
            remedy="Convert the model again, and check that its scores are an output.",
        )
    if name is None:
        tensors = [n for n, one in known.items() if _kind(one) in ("float32", "float64")]
        if len(tensors) == 1:
            return known[tensors[0]]
        if not tensors and (maps := [n for n, one in known.items() if _is_zipmap(one)]):
            raise _zipmap(maps[0])
        count = "Several outputs" if tensors else "None of the outputs"
        raise InputError(
            f"{count} of the model can hold the scores: {_described(known)}.",
            parameter="output",
            value=None,
            remedy=("Name one, such as ", Parameter("output", (tensors or [*known])[0]), "."),
        )
    if name not in known:
        raise InputError(
            f"The model has no output {format_value(name)}; it has {_described(known)}.",
            parameter="output",
            value=name,
            remedy="Name one of these.",
        )
    if _is_zipmap(known[name]):
        raise _zipmap(name)
    return known[name]


def _is_zipmap(one: Proto) -> bool:
    return not one.type.HasField("tensor_type")


def _zipmap(name: str) -> InputError:
    return InputError(
        f"The output {format_value(name)} is a list of dictionaries, which graphs cannot compute "
        "with.",
        parameter="output",
        value=name,
        need="a tensor",
        remedy='Convert the model with zipmap=False: in skl2onnx options={"zipmap": False}, in '
        "onnxmltools zipmap=False.",
    )


def _kind(one: Proto) -> str:
    if _is_zipmap(one):
        return "list of dictionaries"
    code = one.type.tensor_type.elem_type
    try:
        return str(np.dtype(the_package().helper.tensor_dtype_to_np_dtype(code)).name)
    except (KeyError, TypeError, ValueError):
        return "another type"


def _dims(one: Proto) -> list[int | str | None] | None:
    """Return the sizes of a tensor, names or None where they are open; None if none are stated."""
    if not one.type.tensor_type.HasField("shape"):
        return None
    return [
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
        for dim in one.type.tensor_type.shape.dim
    ]


def _described(known: dict[str, Proto]) -> str:
    texts = []
    for name, one in known.items():
        dims = None if _is_zipmap(one) else _dims(one)
        size = "" if dims is None else f" {_shape_text(dims)}"
        texts.append(f"{format_value(name)}: {_kind(one)}{size}")
    return ", ".join(texts) or "none at all"


def _shape_text(dims: list[int | str | None]) -> str:
    """Write the shape of a tensor.

    Examples
    --------
    >>> _shape_text([None, 2])
    '(?, 2)'
    """
    return f"({', '.join('?' if dim is None else str(dim) for dim in dims)})"


def _column(scores: Proto, column: int | None) -> int | None:
    """Return the column to take of an output; None if it has no columns."""
    dims, name = _dims(scores), format_value(scores.name)
    if dims is None or len(dims) not in (1, 2):
        found = "is not stated" if dims is None else f"is {_shape_text(dims)}"
        need = "one score, or a row of them, for each object"
        raise InputError(
            f"The shape of the output {name} {found}, and {need} is needed.",
            parameter="output",
            value=scores.name,
            need=need,
            remedy="Name an output that has these, or convert the model so that it has them.",
        )
    if len(dims) == 1:
        if column is not None:
            raise InputError(
                f"The output {name} has one score for each object, and no columns.",
                parameter="column",
                value=column,
                remedy="Leave it out.",
            )
        return None
    size = dims[1]
    if column is None and size == 1:
        return 0
    last = size - 1 if isinstance(size, int) else None
    whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if not whole or column < 0 or (last is not None and column > last):  # type: ignore[operator]
        need = "a number from 0 up" if last is None else f"a number from 0 to {last}"
        raise InputError(
            (
                f"The output {name} has {'several' if last is None else size} columns, and ",
                Parameter("column", column),
                f" is not {need}.",
            ),
            parameter="column",
            value=column,
            need=need,
            remedy=("Say which was calibrated: ", Parameter("column", 1), " for the second class."),
        )
    return int(column)  # type: ignore[arg-type]


def _refuse_other_shape(model: Proto, scores: Proto) -> None:
    """Refuse an output whose nodes are known to give another shape than it states.

    Runtimes warn of it at most. Where the nodes do not tell, the graph itself fails; see
    `Graph.read`.
    """
    onnx = the_package()
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for one in bare.graph.output:
        if one.name == scores.name:
            one.type.tensor_type.ClearField("shape")
    inferred = onnx.shape_inference.infer_shapes(bare).graph.output
    stated = _dims(scores) or []
    found = next(_dims(one) for one in inferred if one.name == scores.name)
    if found is None:
        return
    pairs = zip(stated[1:], found[1:], strict=False)
    sizes = [(a, b) for a, b in pairs if isinstance(a, int) and isinstance(b, int)]
    if len(stated) != len(found) or any(a != b for a, b in sizes):
        raise InputError(
            f"The model states the shape {_shape_text(stated)} for its output "
            f"{format_value(scores.name)}, "
            f"and its nodes give {_shape_text(found)}: it is not known which of them are the "
            "scores.",
            parameter="model",
            need="an output that has the shape that it states",
            remedy="Correct the shape of the output in the model, or convert the model again.",
        )


def _refuse_taken(graph: Graph) -> None:
    """Refuse a model that uses the name of one of our outputs for something else."""
    taken = [name for name in OUTPUTS if name in graph.taken]
    if taken:
        raise InputError(
            f"The model uses the name {taken[0]}, which is that of an output of the test.",
            parameter="model",
            need=f"a graph in which {', '.join(OUTPUTS)} are free",
            remedy="Rename it in the model, or append to the model as it was converted.",
        )


def _number_type(scores: Proto, test: RateTest) -> np.dtype[Any]:
    """Return the number type of the scores, which is that of the calibration or is tolerated."""
    kind, known = _kind(scores), test.calibration.dtype
    if kind not in ("float32", "float64"):
        raise InputError(
            f"The output {format_value(scores.name)} is {kind}.",
            parameter="output",
            value=scores.name,
            need="float32 or float64 scores",
            remedy="Name the output of the scores, or convert it to float32 in the graph.",
        )
    if kind == known.name or covers_rounding(test.tolerance, test.calibration.extent):
        return np.dtype(kind)
    has = f"has a tolerance of {test.tolerance!r} only" if test.tolerance else "has no tolerance"
    raise InputError(
        f"The output {format_value(scores.name)} is {kind}, and the test was calibrated on "
        f"{known.name} scores. Rounding moves scores, and those that were tied with the threshold "
        f"cross it; the test {has}.",
        parameter="test",
        remedy=(
            "Compare scores of both with rk.diagnostics.score_difference, and make the test with ",
            Parameter("tolerance"),
            "; or calibrate on scores that this graph gives.",
        ),
    )


def _describe(model: Proto, facts: dict[str, str]) -> None:
    """Write facts into the metadata of a model, in place of those of an earlier test."""
    names = {f"ratekeeper.{name}" for name in facts}
    others = [one for one in model.metadata_props if one.key not in names]
    del model.metadata_props[:]
    model.metadata_props.extend(others)
    for name, value in facts.items():
        model.metadata_props.add(key=f"ratekeeper.{name}", value=value)


def _metadata(test: RateTest, output: str, column: int | None, excess: float) -> dict[str, str]:
    """Return what the model says about itself."""
    negative, positive = (plain_value(value) for value in test.calibration.classes)
    codes = {str(POSITIVE): positive, str(NEGATIVE): negative}
    codes |= {str(ABSTAINED): "no decision", str(NOT_A_NUMBER): "the score is NaN"}
    return {
        "version": __version__,
        "certificate": test.certificate.to_json(),
        "certificate.text": str(test.certificate),
        "scores": json.dumps({"output": output, "column": column}),
        "decision": json.dumps(codes),
        "p_value_excess_ratio": repr(excess),
    }
