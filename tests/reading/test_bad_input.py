"""What is refused: one table of defects, each with what the refusal must say."""

import datetime as dt
import decimal
import enum
import fractions
import io
import itertools
import pickle

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cases import each
from scipy import sparse

import ratekeeper as rk

NAN = float("nan")
SCORES = np.arange(80) / 80
LABELS = np.arange(80) >= 40
GROUPS = np.array(["a", "b"])[np.arange(80) % 2]
PLAIN = rk.calibrate(SCORES, LABELS)
GROUPED = rk.calibrate(SCORES, LABELS, groups=GROUPS)
TEST = PLAIN.control("fnr", alpha=0.1, method=rk.Conformal())
NUMBERS, WORDS = (
    rk.calibrate(SCORES, names[LABELS.astype(int)]).control("fnr", alpha=0.1, method=rk.Conformal())
    for names in (np.array([0, 1]), np.array(["no", "yes"]))
)


class Broken:
    """An object whose own code fails."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("broken inside")


class Unprintable:
    """An object that cannot even be shown."""

    def __repr__(self):
        raise RuntimeError("broken inside")


def itself():
    nested = []
    nested.append(nested)
    return nested


# Columns of four values that can be neither scores nor labels nor groups.
NOT_COLUMNS = {
    "a number": (lambda: 0.5, ["single value", "0.5", "Pass a list"]),
    "a numpy number": (lambda: np.float64(0.5), ["single value", "0.5", "Pass a list"]),
    "an array without dimensions": (lambda: np.array(0.5), ["single value", "0.5"]),
    "a word": (lambda: "abcd", ["single value", "'abcd'", "Pass a list"]),
    "bytes": (lambda: b"abcd", ["bytes", "Pass a list"]),
    "two columns": (lambda: np.ones((4, 2)), ["shape (4, 2)", "one value per object", "[:, 1]"]),
    "a column vector": (lambda: np.ones((4, 1)), ["shape (4, 1)", ".ravel()"]),
    "a row vector": (lambda: np.ones((1, 4)), ["shape (1, 4)", ".ravel()"]),
    "a nested list": (lambda: [[0.1], [0.2], [0.3], [0.4]], ["shape (4, 1)", "one value per"]),
    "a ragged list": (lambda: [[0.1], [0.2, 0.3]], ["cannot be read as a column", "Pass a list"]),
    "a list within itself": (itself, ["cannot be read as a column", "Pass a list"]),
    "a dictionary": (lambda: dict(enumerate("abcd")), ["dict", "not a column", "Pass a list"]),
    "a set": (lambda: {0, 1}, ["set", "not a column", "Pass a list"]),
    "a generator": (lambda: (x for x in (0, 1, 0, 1)), ["generator", "Pass a list"]),
    "an endless iterator": (lambda: itertools.cycle([0, 1]), ["cycle", "Pass a list"]),
    "a map": (lambda: map(float, "0101"), ["map", "Pass a list"]),
    "a range": (lambda: range(4), ["range", "Pass a list"]),
    "a function": (lambda: len, ["builtin_function", "Pass a list"]),
    "a class": (lambda: np.ndarray, ["numpy.ndarray", "Pass a list"]),
    "an open file": (lambda: io.BytesIO(b"0101"), ["BytesIO", "Pass a list"]),
    "a sparse matrix": (lambda: sparse.csr_matrix(np.eye(4)), ["csr_matrix", "Pass a list"]),
    "a sparse array": (lambda: sparse.coo_array(np.eye(4)), ["coo_array", "Pass a list"]),
    "a broken object": (Broken, ["cannot be read", "broken inside", "Pass a list"]),
    "a list of broken objects": (lambda: [Broken()] * 4, ["broken inside", "Pass a list"]),
    "a pandas table": (
        lambda: pd.DataFrame({"a": [0, 1], "b": [1, 0]}),
        ["table of 2 columns ('a', 'b')", "Pass one"],
    ),
    "a pandas table with one name twice": (
        lambda: pd.DataFrame([[0, 1]], columns=["a", "a"]),
        ["more than one column named 'a'", "name of its own"],
    ),
    "a polars table": (
        lambda: pl.DataFrame({name: [0, 1] for name in "abcdefg"}),
        ["table of 7 columns ('a', 'b', 'c', 'd', 'e', ...)", "Pass one"],
    ),
    "an empty table": (pl.DataFrame, ["table of 0 columns"]),
    "a pyarrow table": (lambda: pa.table({"a": [0], "b": [1]}), ["table of 2 columns", "Pass one"]),
    "a pyarrow batch": (
        lambda: pa.record_batch({"a": [0], "b": [1]}),
        ["table of 2 columns", "Pass one"],
    ),
    "a lazy table": (lambda: pl.LazyFrame({"a": [0, 1]}), ["lazy", "collect", "pass one column"]),
    "a lazy narwhals table": (
        lambda: nw.from_native(pl.LazyFrame({"a": [0, 1]})),
        ["lazy", "collect"],
    ),
    "a narwhals table": (
        lambda: nw.from_native(pd.DataFrame({"a": [0], "b": [1]})),
        ["table of 2 columns", "Pass one"],
    ),
    "an unevaluated expression": (lambda: pl.col("a"), ["Expr", "Pass a list"]),
    "masked values": (
        lambda: np.ma.array([0, 1, 0, 1], mask=[0, 1, 0, 1]),
        ["2 masked values", "at positions 1, 3", "Drop these rows"],
    ),
    "None among numbers": (
        lambda: [0, None, 1, 1],
        ["1 missing value, at position 1", "Drop these rows"],
    ),
    "None among objects": (
        lambda: np.array([0, 1, 1, None], object),
        ["1 missing value, at position 3", "Drop these rows"],
    ),
    "pandas' NA in a list": (lambda: [0, pd.NA, 1, pd.NaT], ["2 missing values", "positions 1, 3"]),
    "missing in pandas": (
        lambda: pd.Series([0, None, 1, 1], dtype="Int64"),
        ["1 missing value, at position 1", "Drop these rows"],
    ),
    "NaN in pandas": (lambda: pd.Series([0, NAN, 1, 1]), ["1 missing value, at position 1"]),
    "NaN in an object column": (
        lambda: pd.Series([0, NAN, 1, 1], dtype=object),
        ["1 missing value, at position 1"],
    ),
    "missing in polars": (lambda: pl.Series([0, None, 1, 1]), ["1 missing value, at position 1"]),
    "missing in pyarrow": (lambda: pa.array([0, None, 1]), ["1 missing value, at position 1"]),
    "missing in pyarrow chunks": (
        lambda: pa.chunked_array([[0, 1], [None, 1]]),
        ["1 missing value, at position 2"],
    ),
    "nothing but missing values": (
        lambda: pl.Series([None] * 7),
        ["7 missing values", "at positions 0, 1, 2, 3, 4, ..."],
    ),
    "complex numbers": (lambda: np.array([1j, 2, 3, 4]), ["complex128", "1j", "needed", "Convert"]),
    "dates": (
        lambda: np.array(["2020-01-01"] * 4, "datetime64[D]"),
        ["datetime64", "2020", "needed", "Convert"],
    ),
    "dates in pandas": (
        lambda: pd.Series(pd.to_datetime(["2020-01-01"] * 4)),
        ["datetime64", "needed", "Convert"],
    ),
    "dates in a list": (
        lambda: [dt.datetime(2020, 1, 1)] * 4,  # noqa: DTZ001
        ["datetime.datetime(2020, 1, 1", "at position 0", "needed"],
    ),
    "durations": (lambda: np.array([1, 2], "timedelta64[s]"), ["timedelta64", "needed", "Convert"]),
    "records": (lambda: np.zeros(4, [("a", int), ("b", float)]), ["('a', '<i8')", "needed"]),
    "raw bytes": (lambda: np.zeros(4, "V8"), ["V8", "needed", "Convert"]),
    "decimals": (lambda: [decimal.Decimal("0.1")] * 4, ["Decimal('0.1')", "position 0", "needed"]),
    "decimals in polars": (lambda: pl.Series([decimal.Decimal("0.1")]), ["Decimal('0.1')"]),
    "decimals in pyarrow": (lambda: pa.array([decimal.Decimal("0.1")]), ["Decimal('0.1')"]),
    "exact fractions": (lambda: [fractions.Fraction(1, 3)] * 4, ["Fraction(1, 3)", "needed"]),
    "lists in polars": (
        lambda: pl.Series([[0.1], [0.2]]),
        ["array([0.1])", "at position 0", "needed"],
    ),
    "text among numbers": (lambda: [0, "one", 1, 1], ["'one'", "at position 1", "needed"]),
    "other objects": (lambda: [0, object(), 1, 1], ["<object object", "at position 1", "needed"]),
    "an object that cannot be printed": (
        lambda: [0, Unprintable(), 1],
        ["<Unprintable>", "at position 1", "needed"],
    ),
}
NOT_SCORES = {
    "None": (lambda: None, ["is None", "Pass a list"]),
    "NaN": (
        lambda: [0.1, NAN, 0.3, NAN],
        ["2 NaN values, at positions 1, 3", "drop these objects"],
    ),
    "one NaN": (lambda: np.array([0.1, 0.2, NAN]), ["1 NaN value, at position 2"]),
    "NaN in polars": (lambda: pl.Series([0.1, NAN]), ["1 NaN value, at position 1"]),
    "NaN in pyarrow": (lambda: pa.array([0.1, NAN]), ["1 NaN value, at position 1"]),
    "NaN among objects": (lambda: np.array([0.1, NAN], object), ["1 NaN value, at position 1"]),
    "text": (lambda: np.array(["a", "b"]), ["text", "'a'", "numbers are needed", "swapped"]),
    "numbers written as text": (lambda: ["0.1", "0.2"], ["text", "'0.1'", "Convert to float"]),
    "text in pandas": (lambda: pd.Series(["a", "b"]), ["'a'", "numbers are needed", "swapped"]),
    "text in pyarrow": (lambda: pa.array(["a", "b"]), ["'a'", "numbers are needed", "swapped"]),
    "a categorical": (
        lambda: pl.Series(["a"], dtype=pl.Categorical),
        ["'a'", "numbers are needed"],
    ),
    "byte strings": (lambda: np.array([b"a", b"b"]), ["b'a'", "numbers are needed"]),
    "huge whole numbers": (
        lambda: [1, 10**400, 2],
        ["100000", "...", "at position 1", "1.8e308", "Rescale"],
    ),
    "whole numbers too long to print": (
        lambda: [-(10**5000), 1],
        ["<int>", "at position 0", "1.8e308", "Rescale"],
    ),
}
if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
    NOT_SCORES["huge long doubles"] = (
        lambda: np.array([1, np.longdouble("1e600")]),
        ["e+600", "at position 1", "1.8e308", "Rescale"],
    )

NOT_LABELS = {
    "empty": (list, ["labels is empty", "needed"]),
    "an empty table column": (lambda: pl.Series([], dtype=pl.Int64), ["labels is empty"]),
    "one class": (lambda: [7] * 80, ["one class only", "every label is 7", "Say one_class="]),
    "one class of words": (lambda: ["ok"] * 80, ["one class only", "'ok'", "positive_label"]),
    "plain labels of one class, but too few": (lambda: [1] * 8, ["8 values for 80 scores"]),
    "three values": (lambda: [0, 1, 2], ["3 distinct values (0, 1, 2)", "two are needed", "Keep"]),
    "three words": (lambda: ["a", "b", "c"], ["3 distinct values ('a', 'b', 'c')", "needed"]),
    "three words in pandas": (lambda: pd.Series(["a", "b", "c"]), ["3 distinct values ('a'"]),
    "scores instead": (lambda: SCORES, ["80 distinct values (0.0, 0.0125,", "...", "swapped?"]),
    "many classes": (
        lambda: np.arange(100),
        ["100 distinct values (0, 1, 2, 3, 4, ...)", "swapped"],
    ),
    "NaN": (lambda: [0.0, 1.0, NAN], ["1 missing value, at position 2", "Drop these rows"]),
    "NaN first": (lambda: [NAN, 1.0, 0.0], ["1 missing value, at position 0", "Drop these rows"]),
    "nothing but NaN": (lambda: [NAN, NAN], ["2 missing values, at positions 0, 1"]),
    "NaN beside words": (lambda: ["no", NAN, "yes"], ["1 missing value, at position 1"]),
    "NaN beside words as objects": (
        lambda: np.array(["no", "yes", np.float32(NAN)], object),
        ["1 missing value, at position 2"],
    ),
    "missing in a category": (
        lambda: pd.Series(["no", None, "yes"], dtype="category"),
        ["1 missing value, at position 1"],
    ),
    "missing in a dictionary": (
        lambda: pa.DictionaryArray.from_arrays([0, 1, 2], ["no", None, "yes"]),
        ["1 missing value, at position 1"],
    ),
    "words beside numbers": (
        lambda: ["1", 0, 1],
        ["has 0 at position 1", "throughout", "same way"],
    ),
    "numbers beside words": (lambda: [1, "0", 1], ["has '0' at position 1", "throughout"]),
    "byte strings": (lambda: np.array([b"no", b"yes"]), ["b'no'", "needed", ".astype(str)"]),
    "bytes in a list": (lambda: [b"no", b"yes"], ["b'no'", "at position 0", "needed"]),
    "members of an enumeration": (lambda: list(enum.Enum("Answer", "no yes")), ["Answer.no"]),
    "numbers beyond 64 bits": (
        lambda: [0, 10**400],
        ["labels has numbers that no type holds", "0 and 1000", "Convert"],
    ),
    "two words": (
        lambda: ["cat", "dog"],
        ["'cat' and 'dog'", "which one is positive?", "positive_label='dog'"],
    ),
    "one and two": (lambda: [1, 2, 1], ["1 and 2", "which one is positive?", "positive_label=2"]),
    "zero and minus one": (lambda: [0, -1], ["-1 and 0", "which one is positive?"]),
    "zero and infinity": (lambda: [0, np.inf], ["0.0 and inf", "which one is positive?"]),
    "zero and almost one": (
        lambda: [0, 0.9999999],
        ["0.0 and 0.9999999", "which one is positive?"],
    ),
    "two fractions": (lambda: [0.5, 1.5], ["0.5 and 1.5", "which one is positive?"]),
    "one word in two cases": (
        lambda: ["yes", "Yes"],
        ["'Yes' and 'yes'", "which one is positive?"],
    ),
    "words too long to print": (lambda: ["x" * 99, "y" * 99], ["xxx...", "which one is positive?"]),
}
if hasattr(np.dtypes, "StringDType"):  # from NumPy 2 on
    NOT_LABELS["missing NumPy strings"] = (
        lambda: np.array(["no", None, "yes"], np.dtypes.StringDType(na_object=None)),
        ["1 missing value, at position 1"],
    )
NOT_GROUPS = {
    "fractions": (lambda: [1.0, 1.5, 2.0, 2.0], ["1.5", "whole numbers are needed", "ranges"]),
    "infinity": (lambda: [1.0, 2.0, np.inf, 1.0], ["inf", "whole numbers are needed"]),
    "floats too large to be whole": (lambda: [1.0, 2.0, 1e300, 1.0], ["1e+300", "whole numbers"]),
    "NaN": (lambda: [1.0, 2.0, NAN, 1.0], ["1 missing value, at position 2", "Drop these rows"]),
    "NaN beside words": (lambda: ["a", NAN, "b", "b"], ["1 missing value, at position 1"]),
    "None beside words": (lambda: ["a", "b", None, "b"], ["1 missing value, at position 2"]),
    "words beside numbers": (lambda: ["a", 1, "b", "b"], ["has 1 at position 1", "throughout"]),
    "byte strings": (lambda: np.array([b"a"] * 4), ["b'a'", "needed", ".astype(str)"]),
    "too few": (lambda: ["a", "b"], ["groups has 2 values for 4 scores", "one each", "Check"]),
    "too many": (lambda: list("ababa"), ["groups has 5 values for 4 scores", "one each"]),
    "none at all": (list, ["groups has 0 values for 4 scores", "one each"]),
}
POSITIVE_LABELS = {
    "a value that is not there": 2,
    "text for a number": "1",
    "NaN": NAN,
    "a list": [1],
    "an array": np.array([0, 1]),
    "pandas' NA": pd.NA,
    "bytes": b"1",
    "a type": int,
}
NOT_RATES = {
    "zero": 0,
    "one": 1,
    "above one": 1.5,
    "negative": -3,
    "percent": 5,
    "NaN": NAN,
    "infinity": np.inf,
    "True": True,
    "None": None,
    "a list": [0.05],
    "an array": np.array([0.05, 0.1]),
    "a word": "low",
    "text": "0.05",
    "huge": 10**400,
}
NOT_COUNTS = {
    "negative": -1,
    "fractional": 1.5,
    "True": True,
    "None": None,
    "text": "10",
    "NaN": NAN,
    "a list": [1, 2],
    "an array": np.array([1, 2]),
}
NOT_SEEDS = {name: value for name, value in NOT_COUNTS.items() if value is not None}


NOT_BANDWIDTHS = {
    "zero": 0,
    "negative": -0.1,
    "NaN": NAN,
    "infinity": np.inf,
    "another rule": "normal",
    "True": True,
    "None": None,
    "a list": [0.1],
    "an array": np.array([0.1, 0.2]),
    "huge": 10**400,
}
NOT_METHODS = {
    "another name": "confromal",
    "the class": rk.Conformal,
    "None": None,
    "a function": len,
    "a calibration": PLAIN,
}
NOT_CONTROLS = {
    "another rate": "fdr",
    "a longer word": "FNRs",
    "a class": 1,
    "None": None,
    "a list": ["fnr"],
    "an array": np.array(["fnr", "fpr"]),
}
FOUR = {"scores": [0.1, 0.2, 0.3, 0.4], "labels": [0, 1, 0, 1]}


def alternating(column):
    """Return as many labels as the column seems to have values, so that only it is wrong."""
    try:
        return np.arange(len(column)) % 2
    except TypeError:
        return np.arange(2)


def case(what, call, words, error=rk.InputError):
    """Return one call that must be refused, and what the refusal must say."""
    return what, call, error, words


def defects(what, uses, *tables):
    """Make one group of cases for each use of a column: all its defects."""
    return {
        f"{what} {where}": [
            case(name, lambda use=use, make=make: use(make()), words)
            for table in tables
            for name, (make, words) in table.items()
        ]
        for where, use in uses.items()
    }


def options(what, call, values, *need):
    """Make one group of an option's wrong values, which the message must show."""
    return {
        what: [
            case(name, lambda value=value: call(value), [repr(value)[:40], *need])
            for name, value in values.items()
        ]
    }


RATE = ("between 0 and 1", "0.05")
COLUMNS = {
    **defects(
        "scores",
        {
            "at calibration": lambda bad: rk.calibrate(bad, alternating(bad)),
            "in p_values": PLAIN.p_values,
            "in decide": TEST.decide,
            "in decide at random": PLAIN.control("fnr", 0.1, method=rk.methods.Smoothed()).decide,
        },
        NOT_COLUMNS,
        NOT_SCORES,
    ),
    **defects(
        "labels", {"at calibration": lambda bad: rk.calibrate(SCORES, bad)}, NOT_COLUMNS, NOT_LABELS
    ),
    **defects(
        "groups",
        {
            "at calibration": lambda bad: rk.calibrate(**FOUR, groups=bad),
            "in p_values": lambda bad: GROUPED.p_values(FOUR["scores"], groups=bad),
            "in decide": lambda bad: GROUPED.control("fnr", 0.1, method=rk.Conformal()).decide(
                FOUR["scores"], bad
            ),
        },
        NOT_COLUMNS,
        NOT_GROUPS,
    ),
    **options(
        "positive_label",
        lambda value: rk.calibrate([0.1, 0.7, 0.3], [0, 1, 0], positive_label=value),
        POSITIVE_LABELS,
        "positive_label=",
        "not among the labels, which are 0 and 1",
        "pass one of the two",
    ),
}
TOGETHER = [
    case(
        "fewer labels than scores",
        lambda: rk.calibrate([1, 2, 3], [0, 1]),
        ["2 values for 3", "Check"],
    ),
    case(
        "more labels than scores",
        lambda: rk.calibrate([1, 2], [0, 1, 0]),
        ["3 values for 2", "Check"],
    ),
    case("no scores for labels", lambda: rk.calibrate([], [0, 1]), ["2 values for 0 scores"]),
    case("nothing at all", lambda: rk.calibrate([], []), ["labels is empty", "needed"]),
    case(
        "scores and labels swapped",
        lambda: rk.calibrate(LABELS, SCORES),
        ["80 distinct", "swapped?"],
    ),
    case("words as scores", lambda: rk.calibrate(["no", "yes"], [0.2, 0.4]), ["text", "swapped"]),
    case(
        "NaN in single precision",
        lambda: rk.calibrate(np.array([0.1, NAN], np.float32), [0, 1]),
        ["1 NaN value, at position 1", "drop these objects"],
    ),
    case(
        "NaN at the end of a long column",
        lambda: PLAIN.p_values(np.r_[np.zeros(100_000), NAN]),
        ["1 NaN value, at position 100000"],
    ),
    *options(
        "positive_label",
        lambda value: rk.calibrate([0.1, 0.7, 0.3], [0, 1, 0], positive_label=value),
        POSITIVE_LABELS,
        "positive_label=",
        "not among the labels, which are 0 and 1",
        "Pass one of the two",
    )["positive_label"],
    case(
        "groups that were not calibrated", lambda: TEST.decide([0.5], ["a"]), ["no groups", "leave"]
    ),
    case("no groups where needed", lambda: GROUPED.p_values([0.5]), ["'a', 'b'", "pass groups"]),
    case(
        "an unknown group",
        lambda: GROUPED.p_values([0.5, 0.5, 0.5], groups=["a", "c", "d"]),
        ["'c', 'd'", "does not know", "'a', 'b'", "Add calibration objects"],
    ),
    case(
        "a group number for a group name",
        lambda: rk.calibrate(**FOUR, groups=list("1212")).p_values([0.5], groups=[1]),
        ["groups has 1,", "does not know", "'1', '2'"],
    ),
    case(
        "no objects for groups",
        lambda: GROUPED.p_values([], groups=["a"]),
        ["groups has 1 values for 0 scores"],
    ),
    case(
        "fewer labels than scores in evaluate",
        lambda: TEST.evaluate(FOUR["scores"], [False, True]),
        ["labels has 2 values for 4 scores", "one each", "Check"],
    ),
    case(
        "an unknown label in evaluate",
        lambda: TEST.evaluate(FOUR["scores"], [1, 2, 1, 2]),
        ["labels has 2 at position 1", "knows False and True"],
    ),
    case(
        "an unknown label in n",
        lambda: PLAIN.n("yes"),
        ["label='yes'", "must be one of False and True"],
    ),
    case("an unknown group in n", lambda: GROUPED.n(1, "c"), ["'c'", "does not know", "'a', 'b'"]),
    case(
        "new labels of another kind",
        lambda: WORDS.evaluate([0.1, 0.7], [1, 0]),
        ["has 1 at position 0", "knows 'no' and 'yes'", "Write labels as at calibration"],
    ),
    case(
        "an unknown new label",
        lambda: NUMBERS.evaluate([0.1, 0.7, 0.3], [0, 1, 2]),
        ["has 2 at position 2", "knows 0 and 1"],
    ),
    case(
        "a missing new label",
        lambda: NUMBERS.evaluate([0.1, 0.7, 0.3], [0, 1, NAN]),
        ["1 missing value, at position 2", "Drop these rows"],
    ),
]
OPTIONS = {
    **options(
        "alpha of fnr",
        lambda value: PLAIN.control("fnr", value, method=rk.Conformal()),
        NOT_RATES,
        "alpha=",
        *RATE,
    ),
    **options(
        "alpha of fpr",
        lambda value: PLAIN.control("fpr", alpha=value, method=rk.Conformal()),
        NOT_RATES,
        *RATE,
    ),
    **options(
        "alpha_fnr",
        lambda value: PLAIN.control_both(value, 0.1, method=rk.Conformal()),
        NOT_RATES,
        *RATE,
    ),
    **options(
        "alpha_fpr",
        lambda value: PLAIN.control_both(0.1, value, method=rk.Conformal()),
        NOT_RATES,
        *RATE,
    ),
    **options("delta", rk.HighProbability, NOT_RATES, "delta=", *RATE),
    **options("delta of Simultaneous", rk.Simultaneous, NOT_RATES, "delta=", *RATE),
    **options(
        "confidence", lambda value: rk.methods.Bootstrap(confidence=value), NOT_RATES, "confidence="
    ),
    **options(
        "control",
        lambda value: PLAIN.control(value, 0.1, method=rk.Conformal()),
        NOT_CONTROLS,
        '"fnr"',
        '"fpr"',
    ),
    **options(
        "method of control",
        lambda value: PLAIN.control("fnr", 0.1, method=value),
        {what: value for what, value in NOT_METHODS.items() if value is not None},  # the default
        "must be a method object",
        "rk.Conformal()",
    ),
    **options(
        "method of p_values",
        lambda value: PLAIN.p_values([0.5], method=value),
        NOT_METHODS,
        "must be a method object",
        "rk.Conformal()",
    ),
    **options(
        "thin_groups",
        lambda value: GROUPED.control("fnr", 0.1, thin_groups=value, method=rk.Conformal()),
        {"a word": "drop", "None": None, "True": True, "an array": np.array(["pool", "refuse"])},
        "thin_groups=",
        '"refuse" or "pool"',
    ),
    **options(
        "higher_is_positive",
        lambda value: rk.calibrate(SCORES, LABELS, higher_is_positive=value),
        {"a number": 1, "a word": "yes", "None": None},
        "higher_is_positive=",
        "True or False",
    ),
    **options(
        "random_state of Smoothed", rk.methods.Smoothed, NOT_SEEDS, "random_state=", "whole number"
    ),
    **options(
        "random_state of Bootstrap",
        lambda value: rk.methods.Bootstrap(random_state=value),
        {**NOT_COUNTS, "a generator": np.random.default_rng(0)},
        "whole number",
    ),
    **options(
        "random_state of Resampled",
        lambda value: rk.methods.Resampled(5, random_state=value),
        {**NOT_SEEDS, "an old generator": np.random.RandomState(0)},
        "whole number",
    ),
    **options(
        "size", rk.methods.Resampled, {**NOT_COUNTS, "zero": 0}, "size=", "whole number from 1 up"
    ),
    **options(
        "replicates",
        lambda value: rk.methods.Bootstrap(replicates=value),
        {**NOT_COUNTS, "one": 1},
        "replicates=",
        "whole number from 2 up",
    ),
    **options(
        "plain",
        lambda value: rk.methods.Resampled(5, plain=value),
        {"a word": "yes", "None": None},
        "plain=",
        "True or False",
    ),
    **options(
        "bandwidth", rk.methods.Kernel, NOT_BANDWIDTHS, "bandwidth=", "positive number", '"scott"'
    ),
    **options(
        "distribution",
        rk.methods.Parametric,
        {"unknown": "bell", "discrete": "binom", "None": None, "a list": ["norm"], "empty": ""},
        "distribution=",
        "continuous distribution",
        '"norm"',
    ),
}


def few(n, **options):
    """Calibrate with n scores of each class."""
    return rk.calibrate(np.arange(2 * n) / 7, np.arange(2 * n) >= n, **options)


def too_few(method, n, alpha=0.05, *, needed):
    return case(
        f"too few scores for {method!r}",
        lambda: few(n).control("fnr", alpha, method=method),
        [repr(method), f"at least {needed:,}", f"got {n:,}", "Add data", "raise alpha", "(True)"],
        rk.TooFewScoresError,
    )


WITH_INFINITY = rk.calibrate(np.r_[np.arange(20.0), np.inf], np.arange(21) >= 10)
CONSTANT = rk.calibrate(np.full(40, 0.5), np.arange(40) % 2)
TOO_FEW = [
    too_few(rk.Conformal(), 18, needed=19),
    too_few(rk.Conformal(), 998, 0.001, needed=999),
    too_few(rk.HighProbability(delta=0.05), 58, needed=59),
    too_few(rk.Simultaneous(delta=0.05), 118, needed=119),
    too_few(rk.methods.Resampled(size=21), 20, needed=21),
    case(
        "a subsample too small for alpha",
        lambda: PLAIN.control("fnr", 0.05, method=rk.methods.Resampled(size=5)),
        ["size=5", "alpha=0.05", "size=19"],
        rk.TooFewScoresError,
    ),
    too_few(rk.methods.Kernel(), 7, needed=8),
    too_few(rk.methods.Parametric("norm"), 7, needed=8),
    case(
        "too few scores in a group",
        lambda: few(30, groups=["a"] * 25 + ["b"] * 35).control("fpr", 0.05, method=rk.Conformal()),
        ["group 'b': 5", "at least 19", "thin_groups='pool'", "(False)"],
        rk.TooFewScoresError,
    ),
    case(
        "too few scores in all groups together",
        lambda: few(10, groups=["a", "b"] * 10).control(
            "fnr", 0.05, thin_groups="pool", method=rk.Conformal()
        ),
        ["at least 19", "got 10", "Add data"],
        rk.TooFewScoresError,
    ),
    case(
        "a subsample larger than the pool",
        lambda: few(10).p_values([0.5], method=rk.methods.Resampled(size=11)),
        ["size=11", "the class has 10", "Lower size or add"],
        rk.TooFewScoresError,
    ),
    *(
        case(
            f"too few scores to fit {method!r}",
            lambda method=method: few(7).p_values([0.5], method=method),
            ["at least 8 scores", "got 7", "Use Conformal, or add"],
            rk.TooFewScoresError,
        )
        for method in (rk.methods.Kernel(), rk.methods.Parametric())
    ),
    *(
        case(
            f"infinite scores for {method!r}",
            lambda method=method: WITH_INFINITY.control("fnr", 0.1, method=method),
            ["to inf", "within 1e+100", "Use Conformal"],
        )
        for method in (rk.methods.Kernel(), rk.methods.Parametric())
    ),
]


GROUPS_OF_CASES = {**COLUMNS, "columns together": TOGETHER, **OPTIONS, "too few": TOO_FEW}


def complaint(call, error, words):
    """Return what is wrong with the refusal of a call, or None."""
    try:
        result = call()
    except rk.RatekeeperError as refusal:
        if type(refusal) is not error or not isinstance(refusal, ValueError):
            return f"is a {type(refusal).__name__}"
        message = str(refusal)
    except Exception as foreign:  # noqa: BLE001 - whatever it is, it is none of ours
        return f"fails with {foreign!r}"
    else:
        return f"is not refused: {result!r}"
    missing = [word for word in words if word.lower() not in message.lower()]
    if missing:
        return f"does not say {missing}: {message}"
    whole = message[0] != " " and message[-1] in ".?" and len(message) < 700
    return None if whole else f"is no message of one or a few sentences: {message}"


@each("group", GROUPS_OF_CASES)
def test_bad_input_is_refused_with_value_need_and_remedy(group):
    """No wrong number, no guess, no foreign error: each defect is named, with what to do."""
    found = [(what, complaint(*rest)) for what, *rest in GROUPS_OF_CASES[group]]
    wrong = [f"{what} {why}" for what, why in found if why is not None]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "method", [rk.methods.Kernel(), rk.methods.Kernel(bandwidth=0.1), rk.methods.Parametric()]
)
def test_a_constant_score_cannot_be_fitted(method):
    """One value has no distribution; the refusal names the rank methods as the way out."""
    with pytest.raises(rk.InputError, match="Use Conformal"):
        CONSTANT.control("fnr", 0.1, method=method)


def test_too_few_scores_says_how_many_in_numbers_too():
    """Programs can read what is there and what is needed, also in another process."""
    with pytest.raises(rk.TooFewScoresError) as refusal:
        few(58).control("fnr", 0.05, method=rk.HighProbability(delta=0.05))
    for error in (refusal.value, pickle.loads(pickle.dumps(refusal.value))):  # noqa: S301
        assert (error.available, error.needed) == (58, 59)
    few(59).control("fnr", 0.05, method=rk.HighProbability(delta=0.05))


@pytest.mark.parametrize(
    "column",
    [pytest.param(iter([0.1, 0.2]), id="iterator"), pytest.param(io.BytesIO(b"12"), id="file")],
)
def test_what_is_refused_is_not_used_up(column):
    """An iterator or file that was passed by mistake is left as it was."""
    with pytest.raises(rk.InputError):
        PLAIN.p_values(column)
    assert len(list(column)) > 0
