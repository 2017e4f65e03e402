"""The nodes that decide inside an ONNX graph: comparisons, and tables of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper._numerics._step_function import Steps, steps_of
from ratekeeper.control._both_rates import AbstainingTest
from ratekeeper.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ratekeeper._numerics._ranks import Tail
    from ratekeeper.control._error_rate import ErrorRateTest

    RateTest = ErrorRateTest | AbstainingTest

POSITIVE, NEGATIVE, ABSTAINED, NOT_A_NUMBER = 1, 0, -1, -2
_UNKNOWN = Steps(np.empty(0), np.array([np.nan]), "right", 0.0, 0.0)


def the_package() -> Any:  # noqa: ANN401 - a module without types
    """Return the package onnx, or say how to install it."""
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
        import onnx.shape_inference
    except ImportError as error:
        raise InputError(
            "To write ONNX graphs the package onnx is needed, which is not installed.",
            remedy="Run pip install onnx.",
        ) from error
    return onnx


class Graph:
    """A graph to which nodes are added that decide on its scores.

    Parameters
    ----------
    graph : onnx.GraphProto
        What they are added to, under names of our own.
    dtype : dtype
        Number type of the scores.

    Attributes
    ----------
    taken : set of str
        Names that are in use, of values and of nodes.
    excess : float
        By which ratio p-values are larger than those of the test, at most.

    Notes
    -----
    Only operators that opset 9 has and that have been the same since are used, and no comparison
    relies on what a runtime does with NaN: such scores are looked for, and get an answer of their
    own.
    """

    def __init__(self, graph: Any, dtype: np.dtype[Any]) -> None:  # noqa: ANN401 - of onnx
        self._graph, self._dtype = graph, dtype
        self.taken = set(_names(graph))
        self._wholes: dict[int, str] = {}
        self._score = self._nan = ""
        self.excess = 0.0

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes: object) -> str:
        """Add a node and return its output, under a name of our own unless one is given."""
        name = self._fresh(kind.lower())
        output = output or name
        made = the_package().helper.make_node(kind, list(inputs), [output], name, **attributes)
        self._graph.node.append(made)
        return output

    def numbers(self, values: NDArray[Any] | np.generic, what: str) -> str:
        """Add numbers and return their name."""
        name = self._fresh(what)
        self._graph.initializer.append(the_package().numpy_helper.from_array(values, name))
        return name

    def whole(self, value: int) -> str:
        """Return the name of a whole number, which is added once."""
        if value not in self._wholes:
            self._wholes[value] = self.numbers(np.array(value, dtype=np.int64), "number")
        return self._wholes[value]

    def _fresh(self, what: str) -> str:
        at = 0
        while (name := f"ratekeeper_{what}_{at}") in self.taken:
            at += 1
        self.taken.add(name)
        return name

    def read(self, output: str, column: int | None, sizes: Sequence[int | str | None]) -> None:
        """Take the scores from an output, or from a column of it.

        `sizes` are the stated numbers of columns, none of an output without columns. An output that
        has others when the graph runs makes it fail, rather than decide by the wrong column.
        """
        self._score = output
        known = [size for size in sizes if isinstance(size, int)]
        if len(known) == len(sizes):  # 0 leaves the number of rows as it is
            shape = np.array([0, *known], dtype=np.int64)
            self._score = self.node("Reshape", output, self.numbers(shape, "shape"))
        if column is not None:
            self._score = self.node("Gather", self._score, self.whole(column), axis=1)
        self._nan = self.node("IsNaN", self._score)

    def decision(self, test: RateTest) -> str:
        """Return the decision of a test on each object, as a whole number."""
        positive, negative, nan = map(self.whole, (POSITIVE, NEGATIVE, NOT_A_NUMBER))
        higher = test.calibration.higher_is_positive
        if isinstance(test, AbstainingTest) and (between := test.crossed[0]) is not None:
            out = self._beyond(between, "low" if higher else "high")
            decided = self.node("Where", out, negative, positive)
            return self.node("Where", self._nan, nan, decided)
        if isinstance(test, AbstainingTest):
            decided = self.whole(ABSTAINED)
        else:  # for the null class, unless that is ruled out
            decided = positive if test.control == "fnr" else negative
        for part in test.parts:
            (threshold,) = part.thresholds.values()
            assert threshold is not None  # noqa: S101 - of methods that count
            is_low = (part.control == "fnr") == higher
            out = self._beyond(threshold, "low" if is_low else "high")
            called = negative if part.control == "fnr" else positive
            decided = self.node("Where", out, called, decided)
        return self.node("Where", self._nan, nan, decided)

    def _beyond(self, threshold: float, tail: Tail) -> str:
        """Say which scores lie strictly beyond a threshold."""
        low = tail == "low"
        limit = self.numbers(rounded(threshold, self._dtype, up=low), "threshold")
        return self.node("Less" if low else "Greater", self._score, limit)

    def p_values(self, test: RateTest) -> tuple[str, str]:
        """Return the p-values of both classes."""
        return self._p_values(test, 0), self._p_values(test, 1)

    def _p_values(self, test: RateTest, label: int) -> str:
        own = [part for part in test.parts if part.null_class == label]
        null: Any = (own[0]._nulls if own else test.parts[0]._other_nulls)[0]  # noqa: SLF001 - ours
        if null is None:  # nothing is known about the class
            return self._looked_up(_UNKNOWN)
        return self._looked_up(steps_of(null, keep=[null.threshold(one.alpha) for one in own]))

    def _looked_up(self, steps: Steps) -> str:
        """Return the value of each score in a table, by a bisection that is written out."""
        depth = int(steps.edges.size).bit_length()
        # Steps that only fill the table have the value of the last one.
        edges = np.full((1 << depth) - 1, np.inf, dtype=self._dtype)
        values = np.full(1 << depth, steps.values[-1])
        edges[: steps.edges.size] = rounded(steps.edges, self._dtype, up=steps.side == "right")
        values[: steps.values.size] = steps.values
        known, table = self.numbers(edges, "edges"), self.numbers(values, "p_values")
        zeros = self.node("Cast", self._nan, to=the_package().TensorProto.INT64)
        place = self.node("Mul", zeros, self.whole(0))
        for step in (1 << i for i in reversed(range(depth))):
            edge = self.node("Gather", known, self.node("Add", place, self.whole(step - 1)))
            further = self.node("Add", place, self.whole(step))
            if steps.side == "right":  # edges at or below the score count
                place = self.node("Where", self.node("Less", self._score, edge), place, further)
            else:
                place = self.node("Where", self.node("Greater", self._score, edge), further, place)
        self.excess = max(self.excess, steps.excess_ratio)
        unknown = self.numbers(np.array(np.nan), "unknown")
        return self.node("Where", self._nan, unknown, self.node("Gather", table, place))


def _names(graph: Any) -> Iterator[str]:  # noqa: ANN401 - of onnx
    """Return all names in a graph, and in those that loops and branches have within."""
    yield from (one.name for one in (*graph.input, *graph.output, *graph.value_info))
    yield from (one.name for one in graph.initializer)
    yield from (one.values.name for one in graph.sparse_initializer)
    for node in graph.node:
        yield from (node.name, *node.input, *node.output)
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _names(inner)


def rounded(values: NDArray[Any] | float, dtype: np.dtype[Any], *, up: bool) -> NDArray[Any]:
    """Return numbers in another type, the next above or below where they are not of it.

    A score of that type is below a number exactly if it is below the next above, and above it
    exactly if it is above the next below: so nothing is decided otherwise.

    Examples
    --------
    >>> rounded(np.array([0.1, 0.5, 1e300]), np.dtype("float32"), up=False).tolist()
    [0.09999999403953552, 0.5, 3.4028234663852886e+38]
    """
    exact = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore"):
        near = exact.astype(dtype)
    beside = np.nextafter(near, dtype.type(np.inf if up else -np.inf))
    wrong = near.astype(np.float64) < exact if up else near.astype(np.float64) > exact
    return np.where(wrong, beside, near)
