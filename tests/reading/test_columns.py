"""What is read: every container and type that users hold, as one and the same data."""

import pickle
import subprocess
import sys
import textwrap
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cases import each
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk
from ratekeeper.exceptions import ScoreTypeWarning

# Sixty-fourths are exact in every floating-point type from half precision up.
VALUES = np.arange(80) / 64
IS_POSITIVE = np.arange(80) >= 40
PLAIN = rk.calibrate(VALUES, IS_POSITIVE)


class OffersItself:
    """What other array libraries look like: an object with the array protocol."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def strided(values):
    return np.column_stack([values, -values])[:, 0]


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


def chunked(values, **options):
    return pa.chunked_array([pa.array(values[:7], **options), pa.array(values[7:], **options)])


FLOAT64 = {
    "list": list,
    "tuple": tuple,
    "list of numpy numbers": lambda v: [np.float64(x) for x in v],
    "float64": lambda v: v,
    "long double": lambda v: v.astype(np.longdouble),
    "big-endian": lambda v: v.astype(">f8"),
    "strided": strided,
    "reversed view": lambda v: v[::-1].copy()[::-1],
    "read-only": read_only,
    "object array": lambda v: v.astype(object),
    "object array with integers": lambda v: np.array([int(x) if x == 1 else x for x in v], object),
    "masked array without mask": np.ma.array,
    "masked array with nothing masked": lambda v: np.ma.array(v, mask=np.zeros(v.size, bool)),
    "ndarray subclass": lambda v: v.view(type("Sub", (np.ndarray,), {})),
    "array protocol": OffersItself,
    "pandas": pd.Series,
    "pandas with another index": lambda v: pd.Series(v, index=np.arange(v.size)[::-1]),
    "pandas nullable": lambda v: pd.Series(v, dtype="Float64"),
    "pandas pyarrow": lambda v: pd.Series(v, dtype="double[pyarrow]"),
    "pandas category": lambda v: pd.Series(v, dtype="category"),
    "pandas object": lambda v: pd.Series(v, dtype=object),
    "pandas sparse": lambda v: pd.Series(pd.arrays.SparseArray(v)),
    "pandas index": pd.Index,
    "pandas extension array": lambda v: pd.array(v, dtype="Float64"),
    "pandas frame of one column": lambda v: pd.DataFrame({"score": v}),
    "polars": pl.Series,
    "polars frame of one column": lambda v: pl.DataFrame({"score": v}),
    "pyarrow": pa.array,
    "pyarrow chunked": chunked,
    "pyarrow dictionary": lambda v: pa.array(v).dictionary_encode(),
    "pyarrow table of one column": lambda v: pa.table({"score": v}),
    "pyarrow batch of one column": lambda v: pa.record_batch({"score": v}),
    "narwhals": lambda v: nw.from_native(pl.Series(v), series_only=True),
    "narwhals frame of one column": lambda v: nw.from_native(pd.DataFrame({"score": v})),
}
FLOAT32 = {
    "float16": lambda v: v.astype(np.float16),
    "float32": lambda v: v.astype(np.float32),
    "big-endian": lambda v: v.astype(">f4"),
    "strided": lambda v: strided(v.astype(np.float32)),
    "list of numpy numbers": lambda v: list(v.astype(np.float32)),
    "pandas": lambda v: pd.Series(v, dtype="float32"),
    "pandas nullable": lambda v: pd.Series(v, dtype="Float32"),
    "pandas pyarrow": lambda v: pd.Series(v, dtype="float[pyarrow]"),
    "pandas frame of one column": lambda v: pd.DataFrame({"score": v.astype(np.float32)}),
    "polars": lambda v: pl.Series(v, dtype=pl.Float32),
    "pyarrow": lambda v: pa.array(v, pa.float32()),
    "pyarrow half": lambda v: pa.array(v.astype(np.float16)),
    "pyarrow chunked": lambda v: chunked(v, type=pa.float32()),
}
WHOLE = {
    "list": lambda v: v.tolist(),
    "int8": lambda v: v.astype(np.int8),
    "uint64": lambda v: v.astype(np.uint64),
    "big-endian": lambda v: v.astype(">i4"),
    "objects": lambda v: v.astype(object),
    "pandas nullable": lambda v: pd.Series(v, dtype="Int64"),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow chunked": chunked,
}


@each("make", FLOAT64.values())
def test_every_container_of_float64_is_read_alike(make):
    """A container changes neither the calibration nor p-values nor decisions."""
    column = make(VALUES)
    calibration = rk.calibrate(column, IS_POSITIVE)
    assert calibration == PLAIN
    assert calibration.dtype == np.float64
    assert np.array_equal(PLAIN.p_values(column).p1, PLAIN.p_values(VALUES).p1)
    test = PLAIN.control("fnr", alpha=0.1, method=rk.Conformal())
    assert np.array_equal(test.decide(column).labels, test.decide(VALUES).labels)


@each("make", FLOAT32.values())
def test_every_container_of_float32_is_read_alike(make):
    """Single precision stays; half precision becomes single, in which it is exact."""
    reference = rk.calibrate(VALUES.astype(np.float32), IS_POSITIVE)
    column = make(VALUES)
    calibration = rk.calibrate(column, IS_POSITIVE)
    assert calibration == reference
    assert calibration.dtype == np.float32
    assert np.array_equal(calibration.p_values(column).p0, PLAIN.p_values(VALUES).p0)
    test = calibration.control("fpr", alpha=0.1, method=rk.Conformal())
    expected = PLAIN.control("fpr", alpha=0.1, method=rk.Conformal()).decide(VALUES).labels
    assert np.array_equal(test.decide(column).labels, expected)


@each("make", WHOLE.values())
def test_whole_numbers_are_scores(make):
    """Counts and ranks are read as float64, also against a calibration in float32."""
    ranks = np.arange(80)
    column = make(ranks)
    assert rk.calibrate(column, IS_POSITIVE) == rk.calibrate(ranks / 1.0, IS_POSITIVE)
    for dtype in (np.float32, np.float64):
        calibration = rk.calibrate(ranks.astype(dtype), IS_POSITIVE)
        assert np.array_equal(calibration.p_values(column).p1, PLAIN.p_values(VALUES).p1)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(list, id="list"),
        pytest.param(np.asarray, id="numpy"),
        pytest.param(lambda v: pd.Series(v, dtype="boolean"), id="pandas nullable"),
        pytest.param(pl.Series, id="polars"),
        pytest.param(pa.array, id="pyarrow"),
    ],
)
def test_booleans_are_scores(make):
    """A hard classifier's yes and no are scores with many ties."""
    assert rk.calibrate(make(IS_POSITIVE), IS_POSITIVE) == rk.calibrate(
        IS_POSITIVE.astype(float), IS_POSITIVE
    )


def test_the_decision_function_of_a_classifier_is_read():
    """One-dimensional scores of any range are fine; they need not be probabilities."""
    scores = 1e6 * VALUES - 5e5
    moved = rk.calibrate(scores, IS_POSITIVE)
    assert np.array_equal(moved.p_values(scores).p0, PLAIN.p_values(VALUES).p0)


def test_infinities_are_ordinary_scores():
    """They rank first and last, tie with each other and can be thresholds."""
    scores = np.r_[-np.inf, -np.inf, VALUES, np.inf]
    labels = np.r_[0, 1, IS_POSITIVE, 1]
    calibration = rk.calibrate(scores, labels)
    n = calibration.n(1)
    p1 = calibration.p_values([-np.inf, -1e308, np.inf]).p1
    assert np.array_equal(p1 * (n + 1), [2, 2, n + 1])
    assert calibration.control("fnr", alpha=0.03, method=rk.Conformal()).threshold == -np.inf
    assert calibration.control("fnr", alpha=0.03, method=rk.Conformal()).decide(
        [-np.inf, 0.0]
    ).labels.tolist() == [1, 1]


def test_no_new_objects_are_no_problem():
    """An empty batch gets an empty answer, with groups too."""
    for empty in ([], (), np.array([]), pd.Series([], dtype=object), pl.Series([]), pa.array([])):
        assert len(PLAIN.p_values(empty)) == 0
        assert (
            PLAIN.control("fnr", alpha=0.1, method=rk.Conformal()).decide(empty).labels.tolist()
            == []
        )
    grouped = rk.calibrate(VALUES, IS_POSITIVE, groups=np.arange(80) % 2)
    assert len(grouped.p_values([], groups=[])) == 0


# Labels


def words(is_positive):
    return np.where(is_positive, "yes", "no")


LABELS = {
    "integers": (lambda y: y.astype(int), [0, 1], np.int64),
    "list of integers": (lambda y: y.astype(int).tolist(), [0, 1], np.int64),
    "int8": (lambda y: y.astype(np.int8), [0, 1], np.int8),
    "uint8": (lambda y: y.astype(np.uint8), [0, 1], np.uint8),
    "big-endian": (lambda y: y.astype(">i4"), [0, 1], np.int32),
    "floats": (lambda y: y.astype(float), [0.0, 1.0], np.float64),
    "float32": (lambda y: y.astype(np.float32), [0.0, 1.0], np.float32),
    "booleans": (lambda y: y, [False, True], np.bool_),
    "list of booleans": (lambda y: y.tolist(), [False, True], np.bool_),
    "minus one and one": (lambda y: 2 * y.astype(int) - 1, [-1, 1], np.int64),
    "strided": (lambda y: strided(y.astype(int)), [0, 1], np.int64),
    "read-only": (lambda y: read_only(y.astype(int)), [0, 1], np.int64),
    "masked array": (lambda y: np.ma.array(y.astype(int)), [0, 1], np.int64),
    "object integers": (lambda y: y.astype(int).astype(object), [0, 1], np.int64),
    "object booleans": (lambda y: y.astype(object), [False, True], np.bool_),
    "words": (words, ["no", "yes"], "U3"),
    "list of words": (lambda y: words(y).tolist(), ["no", "yes"], "U3"),
    "object words": (lambda y: words(y).astype(object), ["no", "yes"], "U3"),
    "pandas": (lambda y: pd.Series(y.astype(int)), [0, 1], np.int64),
    "pandas Int64": (lambda y: pd.Series(y.astype(int), dtype="Int64"), [0, 1], np.int64),
    "pandas boolean": (lambda y: pd.Series(y, dtype="boolean"), [False, True], np.bool_),
    "pandas words": (lambda y: pd.Series(words(y)), ["no", "yes"], "U3"),
    "pandas string": (lambda y: pd.Series(words(y), dtype="string[pyarrow]"), ["no", "yes"], "U3"),
    "pandas object": (lambda y: pd.Series(words(y), dtype=object), ["no", "yes"], "U3"),
    "pandas category": (lambda y: pd.Series(words(y), dtype="category"), ["no", "yes"], "U3"),
    "pandas integer category": (
        lambda y: pd.Series(y.astype(int), dtype="category"),
        [0, 1],
        np.int64,
    ),
    "pandas frame": (lambda y: pd.DataFrame({"label": y.astype(int)}), [0, 1], np.int64),
    "polars": (lambda y: pl.Series(y.astype(int)), [0, 1], np.int64),
    "polars booleans": (pl.Series, [False, True], np.bool_),
    "polars words": (lambda y: pl.Series(words(y)), ["no", "yes"], "U3"),
    "polars categorical": (
        lambda y: pl.Series(words(y), dtype=pl.Categorical),
        ["no", "yes"],
        "U3",
    ),
    "polars enum": (
        lambda y: pl.Series(words(y), dtype=pl.Enum(["yes", "no"])),
        ["no", "yes"],
        "U3",
    ),
    "pyarrow": (lambda y: pa.array(y.astype(int)), [0, 1], np.int64),
    "pyarrow booleans": (pa.array, [False, True], np.bool_),
    "pyarrow words": (lambda y: pa.array(words(y).tolist()), ["no", "yes"], "U3"),
    "pyarrow dictionary": (
        lambda y: pa.array(words(y).tolist()).dictionary_encode(),
        ["no", "yes"],
        "U3",
    ),
    "pyarrow chunked dictionary": (
        lambda y: pa.chunked_array([pa.array(words(y).tolist()).dictionary_encode()]),
        ["no", "yes"],
        "U3",
    ),
}
if hasattr(np.dtypes, "StringDType"):  # from NumPy 2 on
    LABELS["numpy strings"] = (
        lambda y: words(y).astype(np.dtypes.StringDType()),
        ["no", "yes"],
        "U3",
    )


@each(("make", "classes", "dtype"), LABELS.values())
def test_labels_come_back_in_the_users_own_values_and_type(make, classes, dtype):
    """Decisions speak the language of the labels."""
    calibration = rk.calibrate(VALUES, make(IS_POSITIVE))
    decided = calibration.control("fnr", alpha=0.1, method=rk.Conformal()).decide([0.0, 2.0]).labels
    assert decided.tolist() == classes
    assert decided.dtype == np.dtype(dtype)
    assert [type(value) for value in decided.tolist()] == [type(value) for value in classes]
    assert np.array_equal(calibration.p_values(VALUES).p0, PLAIN.p_values(VALUES).p0)


@each(
    ("negative", "positive"),
    [
        (0, 1),
        (-1, 1),
        (0.0, 1.0),
        (-1.0, 1.0),
        (False, True),
        ("0", "1"),
        ("-1", "1"),
        ("no", "yes"),
        ("NO", "yes"),
        ("No", "Yes"),
        ("n", "y"),
        ("N", "Y"),
        ("false", "true"),
        ("false", "True"),
        ("FALSE", "true"),
        ("F", "T"),
        ("Negative", "Positive"),
        ("neg", "pos"),
    ],
)
def test_plain_labels_need_no_explanation(negative, positive):
    """Which of two plain labels is positive follows from their meaning, in any order and case."""
    for labels in ([negative, positive, negative], [positive, negative, negative]):
        cal = rk.calibrate(np.arange(3.0), labels)
        assert cal.classes.tolist() == [negative, positive]
        assert cal.cells[1][0].tolist() == [i for i in range(3) if labels[i] == positive]


@pytest.mark.parametrize(
    ("labels", "positive_label"),
    [
        ([1, 2, 2, 1], 1),
        ([1, 2, 2, 1], 2),
        ([1, 2, 2, 1], np.int64(2)),
        ([0, 1, 1, 0], 0),
        ([True, False, False, True], False),
        (["cat", "dog", "dog", "cat"], "cat"),
        (["cat", "dog", "dog", "cat"], np.str_("dog")),
        (["yes", "no", "no", "yes"], "no"),
        ([0.5, 1.5, 1.5, 0.5], 0.5),
        (["", "ill", "ill", ""], "ill"),
    ],
)
def test_the_user_says_which_label_is_positive(labels, positive_label):
    """The positive_label decides, also against the plain meaning of the labels."""
    cal = rk.calibrate(np.arange(4.0), labels, positive_label=positive_label)
    assert cal.classes[1] == positive_label
    assert cal.cells[1][0].tolist() == [i for i in range(4) if labels[i] == positive_label]


def test_labels_of_new_objects_are_those_of_the_calibration():
    """One class alone is fine here; types may differ as long as the values are equal."""
    numbers, names = (
        rk.calibrate(VALUES, labels).control("fnr", 0.1, method=rk.Conformal())
        for labels in (IS_POSITIVE.astype(int), words(IS_POSITIVE))
    )
    for test, labels, positives in (
        (numbers, [1.0, 0.0, 1.0], 2),
        (numbers, pd.Series([False, False]), 0),
        (numbers, [], 0),
        (names, pa.array(["no"]), 0),
    ):
        found = test.evaluate(np.linspace(0.011, 1.011, len(labels)), labels)
        assert (found.target.n, found.other.n) == (positives, len(labels) - positives)
    found = numbers.evaluate([0.011, 1.011, 0.021], [1.0, 0.0, 1.0])
    assert (found.target.errors, found.other.errors) == (2, 1)


# Groups

GROUPS = {
    "words": (lambda g: np.array(["a", "b", "c"])[g], ["a", "b", "c"]),
    "list of words": (lambda g: np.array(["a", "b", "c"])[g].tolist(), ["a", "b", "c"]),
    "integers": (lambda g: g, [0, 1, 2]),
    "int8": (lambda g: g.astype(np.int8), [0, 1, 2]),
    "whole floats": (lambda g: g.astype(float), [0, 1, 2]),
    "whole floats in half precision": (lambda g: g.astype(np.float16), [0, 1, 2]),
    "object integers": (lambda g: g.astype(object), [0, 1, 2]),
    "booleans": (lambda g: g > 0, [False, True]),
    "words of many lengths": (lambda g: ["x" * 10**i for i in g], ["x", "x" * 10, "x" * 100]),
    "pandas": (lambda g: pd.Series(np.array(["a", "b", "c"])[g]), ["a", "b", "c"]),
    "pandas category": (
        lambda g: pd.Series(np.array(["a", "b", "c"])[g], dtype="category"),
        ["a", "b", "c"],
    ),
    "pandas Int64": (lambda g: pd.Series(g, dtype="Int64"), [0, 1, 2]),
    "polars categorical": (
        lambda g: pl.Series(np.array(["a", "b", "c"])[g], dtype=pl.Categorical),
        ["a", "b", "c"],
    ),
    "polars enum": (
        lambda g: pl.Series(np.array(["a", "b", "c"])[g], dtype=pl.Enum(["c", "b", "a"])),
        ["a", "b", "c"],
    ),
    "pyarrow": (lambda g: pa.array(np.array(["a", "b", "c"])[g].tolist()), ["a", "b", "c"]),
    "pyarrow dictionary": (
        lambda g: pa.array(np.array(["a", "b", "c"])[g].tolist()).dictionary_encode(),
        ["a", "b", "c"],
    ),
}


@each(("make", "names"), GROUPS.values())
def test_every_container_of_groups_is_read_alike(make, names):
    """Groups are kept in order, and new objects find their own."""
    codes = np.arange(80) * 7 % 3
    column = make(codes)
    calibration = rk.calibrate(VALUES, IS_POSITIVE, groups=column)
    assert calibration.groups.tolist() == names
    values = np.asarray(column).tolist()
    for place, name in enumerate(names):
        inside = np.array([value == name for value in values])
        for label in (0, 1):
            own = VALUES[inside & (label == IS_POSITIVE)]
            assert calibration.cells[label][place].tolist() == own.tolist()
    index = np.array([names.index(value) for value in values])
    expected = rk.calibrate(VALUES, IS_POSITIVE, groups=index).p_values(VALUES, groups=index)
    assert np.array_equal(calibration.p_values(VALUES, groups=column).p1, expected.p1)
    test = calibration.control("fnr", alpha=0.2, method=rk.Conformal())
    assert len(test.decide(VALUES, groups=column)) == 80


def test_groups_of_equal_value_are_the_same_group():
    """Whole floats, as tables make of integers with gaps, find the groups of the integers."""
    calibration = rk.calibrate(VALUES, IS_POSITIVE, groups=np.arange(80) % 2)
    by_float = calibration.p_values([0.5, 0.5], groups=[0.0, 1.0])
    assert np.array_equal(by_float.p0, calibration.p_values([0.5, 0.5], groups=[0, 1]).p0)


# Precision


def test_a_list_takes_the_precision_of_the_calibration():
    """A score written as 0.1 ties with the float32 nearest to 0.1, as it did at calibration."""
    scores = np.linspace(0.1, 0.9, 80, dtype=np.float32)
    calibration = rk.calibrate(scores, IS_POSITIVE)
    expected = calibration.p_values(scores)
    for plain in (scores.tolist(), tuple(scores.tolist()), scores.astype(object)):
        assert np.array_equal(calibration.p_values(plain).p0, expected.p0)
        assert np.array_equal(calibration.p_values(plain).p1, expected.p1)


def test_a_list_beyond_the_range_of_float32_is_not_made_infinite():
    """A huge but finite score is less extreme than an infinite one."""
    calibration = rk.calibrate(np.array([0.0, np.inf, 1.0], np.float32), [0, 0, 1])
    assert calibration.p_values([1e300]).p0 == pytest.approx([2 / 3])
    assert calibration.p_values([np.inf]).p0 == pytest.approx([2 / 3])
    assert rk.calibrate([0.0, 0.0, np.inf], [0, 1, 1]).p_values([1e300]).p1 == pytest.approx(
        [2 / 3]
    )


# Python's numbers carry no precision of their own.
UNTYPED = [
    "list",
    "tuple",
    "list of numpy numbers",
    "object array",
    "object array with integers",
    "pandas object",
]
MISMATCHES = [
    *((name, make, np.float32) for name, make in FLOAT64.items()),
    *((name, make, np.float64) for name, make in FLOAT32.items()),
]


@each(
    ("make", "dtype"),
    [(make, dtype) for name, make, dtype in MISMATCHES if name not in UNTYPED],
)
def test_floats_of_another_precision_get_a_warning(make, dtype):
    """Whatever the container, and at the line that asked."""
    calibration = rk.calibrate(VALUES.astype(dtype), IS_POSITIVE)
    test = calibration.control("fnr", alpha=0.1, method=rk.Conformal())
    for ask in (calibration.p_values, test.decide, test.p_values):
        with pytest.warns(ScoreTypeWarning, match=f"the calibration is {dtype.__name__}") as found:
            ask(make(VALUES))
        assert found[0].filename == __file__
        assert "same runtime" in str(found[0].message)


@pytest.mark.parametrize(
    ("make", "dtype"),
    [
        pytest.param(make, dtype, id=f"{name} against {dtype.__name__}")
        for name, make, dtype in MISMATCHES
        if name in UNTYPED
    ],
)
def test_numbers_without_a_precision_get_no_warning(make, dtype):
    """Lists and columns of Python numbers cannot mismatch."""
    calibration = rk.calibrate(VALUES.astype(dtype), IS_POSITIVE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = calibration.p_values(make(VALUES))
    assert np.array_equal(p.p1, PLAIN.p_values(VALUES).p1)


def test_the_warning_names_the_precision_the_user_gave():
    """Half precision is called float16, though it is worked with as float32."""
    with pytest.warns(ScoreTypeWarning, match="The scores are float16"):
        PLAIN.p_values(VALUES.astype(np.float16))


# The caller's arrays


def test_arrays_of_the_caller_are_never_changed():
    """Reading, calibrating and deciding leave the input as it was."""
    scores, labels, groups = VALUES[::-1].copy(), ~IS_POSITIVE, np.arange(80) % 2
    scores[0] = -0.0
    before = pickle.dumps((scores, labels, groups))
    calibration = rk.calibrate(scores, labels, groups=groups)
    calibration.control("fnr", alpha=0.1, method=rk.Conformal()).decide(scores, groups).p_values  # noqa: B018
    calibration.p_values(scores, groups=groups)
    assert pickle.dumps((scores, labels, groups)) == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_changing_the_callers_arrays_afterwards_changes_nothing(dtype):
    """Neither the calibration nor decisions hold on to the input."""
    scores, labels, groups = VALUES.astype(dtype), IS_POSITIVE.astype(int), np.arange(80) % 2
    calibration = rk.calibrate(scores, labels, groups=groups)
    test = calibration.control("fnr", alpha=0.1, method=rk.Conformal())
    expected = calibration.p_values(scores, groups=groups)
    decisions = test.decide(scores, groups)
    scores[:], labels[:], groups[:] = 7, 1, 0
    assert np.array_equal(decisions.p_values.p0, expected.p0)
    assert np.array_equal(decisions.p_values.p1, expected.p1)
    assert calibration == rk.calibrate(
        VALUES.astype(dtype), IS_POSITIVE.astype(int), groups=np.arange(80) % 2
    )


def test_numpy_and_lists_load_no_data_frame_library():
    """Plain input stays plain: nothing but NumPy is imported to read it."""
    code = """
        import sys, numpy as np, ratekeeper as rk
        test = rk.calibrate(np.arange(80.0), np.arange(80) >= 40).control("fnr", alpha=0.1)
        test.decide([1.0, 2.0]).labels
        assert not {"narwhals", "pandas", "polars", "pyarrow", "torch"} & set(sys.modules)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


# Columns of pandas are paired by position, never against their own row names.
INDEXED = pd.Series([0.1, 0.4, 0.35, 0.8], index=[7, 3, 9, 5])
RELABELLED = pd.Series([0, 0, 1, 1], index=[3, 7, 9, 5])


def test_other_order_is_refused_with_place_and_remedy():
    with pytest.raises(rk.InputError) as caught:
        rk.calibrate(INDEXED, RELABELLED)
    text = str(caught.value)
    assert "scores and labels are pandas columns whose indexes differ" in text
    assert "first at position 0: 7 and 3" in text
    assert "labels.loc[scores.index]" in text
    assert ".to_numpy()" in text


def test_the_remedies_work():
    one = rk.calibrate(INDEXED, RELABELLED.loc[INDEXED.index])
    two = rk.calibrate(INDEXED, RELABELLED.to_numpy())
    assert one.n(1) == two.n(1) == 2


@pytest.mark.parametrize("call", ["groups", "decide", "evaluate", "both"])
def test_it_is_seen_wherever_two_columns_meet(call):
    groups = pd.Series(["a", "b", "a", "b"], index=RELABELLED.index)
    cal = rk.calibrate(np.arange(80) / 80, np.arange(80) >= 40)
    grouped = rk.calibrate(np.arange(80) / 80, np.arange(80) >= 40, groups=["a", "b"] * 40)
    calls = {
        "groups": lambda: rk.calibrate(INDEXED, [0, 1, 0, 1], groups=groups),
        "decide": lambda: grouped.control("fnr", 0.1, method=rk.Conformal()).decide(
            INDEXED, groups
        ),
        "evaluate": lambda: cal.control("fnr", 0.1, method=rk.Conformal()).evaluate(
            INDEXED, RELABELLED
        ),
        "both": lambda: cal.control_both(0.1, 0.1, method=rk.Conformal()).evaluate(
            INDEXED, RELABELLED
        ),
    }
    with pytest.raises(rk.InputError, match="indexes differ"):
        calls[call]()


def test_a_default_index_names_no_rows():
    """New scores of a model beside labels of a split, the usual case, are paired by place."""
    plain = INDEXED.reset_index(drop=True)
    assert rk.calibrate(plain, RELABELLED).n(1) == 2
    assert rk.calibrate(INDEXED, RELABELLED.reset_index(drop=True)).n(1) == 2


def test_a_shuffled_default_index_is_refused():
    plain = INDEXED.reset_index(drop=True)
    with pytest.raises(rk.InputError, match="indexes differ"):
        rk.calibrate(plain, plain[::-1] > 0.3)


def test_another_length_is_refused_as_such():
    with pytest.raises(rk.InputError, match="3 values for 4 scores"):
        rk.calibrate(INDEXED, RELABELLED[:3])


@each("control", ["FNR", "fnr", "Fnr"])
@each("alpha", ["5%", "5.0 %", 0.05])
@each("method", ["high-probability", rk.HighProbability(delta="5%")])
def test_names_and_rates_as_people_write_them(control, alpha, method):
    cal = rk.calibrate(np.arange(400) / 400, np.arange(400) >= 200)
    test = cal.control(control, alpha, method=method)
    same = cal.control("fnr", 0.05, method=rk.HighProbability(delta=0.05))
    assert (test.control, test.alpha, test.method) == (same.control, same.alpha, same.method)
    assert repr(test) == repr(same)
    assert rk.plan(control, alpha).control == "fnr"


@pytest.mark.parametrize("alpha", ["5", 5, "0.05", "five %", "%", "500%"])
def test_rates_that_could_mean_two_things_are_refused(alpha):
    with pytest.raises(rk.InputError, match=r"Write 5% as alpha=0.05"):
        rk.plan("fnr", alpha)


def test_a_wrong_method_gets_a_suggestion():
    cal = rk.calibrate([0.1, 0.9], [0, 1])
    for method, words in (
        ("high_probability", "Did you mean 'high-probability'"),
        ("resampled", r"rk.methods.Resampled\(...\)"),
        (rk.Conformal, r"Add brackets.*rk.Conformal\(\)"),
    ):
        with pytest.raises(rk.InputError, match=words):
            cal.p_values([0.5], method=method)


def test_two_columns_of_one_name_are_refused_wherever_a_table_is_taken():
    """Nobody knows which one is meant: pandas has both, and other libraries fail in their words."""
    rng = np.random.default_rng(0)
    labels = np.tile([0, 1], 100)
    scores = rng.normal(2.0 * labels)
    table = pd.DataFrame(np.column_stack([scores, labels, labels]), columns=["s", "y", "y"])
    cal = rk.calibrate(scores, labels)
    test = cal.control("fnr", 0.1)
    model = LogisticRegression()
    calls = {
        "scores": lambda: rk.calibrate(table["y"], labels),
        "labels": lambda: rk.calibrate(scores, table["y"]),
        "groups": lambda: rk.calibrate(scores, labels, groups=table["y"]),
        "frame": lambda: rk.calibrate_frame(table, score="s", label="y"),
        "frame ": lambda: test.decide_frame(table, score="s"),
        "frame  ": lambda: test.evaluate_frame(table, score="s", label="y"),
        "by['a']": lambda: test.evaluate(scores, labels, by={"a": table["y"]}),
        "X": lambda: rk.ErrorRateController(model, control="fnr", alpha=0.1).fit(table, labels),
        "y": lambda: rk.ErrorRateController(model, control="fnr", alpha=0.1).fit(
            scores[:, None], table["y"]
        ),
        "X_old": lambda: rk.estimators.density_ratio(table, table),
        "X ": lambda: rk.baselines.Umbrella(model).fit(table, labels),
    }
    wrong = []
    for name, call in calls.items():
        try:
            call()
            wrong.append((name, "taken"))
        except rk.InputError as error:
            if not str(error).startswith(f"{name.strip()} has more than one column named 'y'."):
                wrong.append((name, str(error)))
        except Exception as error:  # noqa: BLE001 - shown below
            wrong.append((name, repr(error)))
    assert not wrong
