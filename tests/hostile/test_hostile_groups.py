"""Very many groups, names that NumPy would change, and columns of every type."""

from __future__ import annotations

import datetime as dt
import decimal
import re
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cases import each

import ratekeeper as rk

FEW, MANY = 60, 240  # groups: four times as many may cost little more than four times the work
# Methods of containers that go over all that they hold.
_WHOLE = {"astype", "argsort", "copy", "items", "keys", "nonzero", "sort", "tolist", "values"}


class Work:
    """Counts steps of ratekeeper's own code: lines run, and values that containers went over."""

    def __init__(self):
        self.done = 0

    def __enter__(self):
        self._before = sys.gettrace(), sys.getprofile()
        sys.settrace(self._line)
        sys.setprofile(self._call)
        return self

    def __exit__(self, *error):
        sys.settrace(self._before[0])
        sys.setprofile(self._before[1])

    def _line(self, frame, event, _):
        if "ratekeeper" not in frame.f_code.co_filename:
            return None
        self.done += event == "line"
        return self._line

    def _call(self, _, event, arg):
        if event == "c_call" and arg.__name__ in _WHOLE:
            self.done += getattr(arg.__self__, "size", 0) or len(arg.__self__)


def grouped(n_groups, seed=0):
    """Return scores, labels and groups of a few objects of each class in each group."""
    sizes = 25 + np.arange(2 * n_groups) % 11
    labels = np.repeat([0, 1] * n_groups, sizes)
    names = np.repeat([f"group {i // 2}" for i in range(2 * n_groups)], sizes)
    return np.random.default_rng(seed).normal(2.0 * labels), labels, names


METHODS = [
    rk.Conformal(),
    rk.HighProbability(),
    rk.Simultaneous(),
    rk.methods.Smoothed(random_state=0),
]


def steps(n_groups):
    """Yield the name of each thing done with so many groups, and the work that it took."""
    scores, labels, names = grouped(n_groups)
    later = grouped(n_groups, seed=1)
    made = {}

    def done(name, action):
        with Work() as work:
            made[name] = action()
        return name, work.done

    yield done("calibrate", lambda: rk.calibrate(scores, labels, groups=names))
    cal = made["calibrate"]
    yield done("merge", lambda: cal.merge(rk.calibrate(*later[:2], groups=later[2])))
    yield done("p-values", lambda: cal.p_values(later[0], groups=later[2]))
    for method in METHODS:
        single = f"control {method.name}"
        yield done(single, lambda m=method: cal.control("fnr", 0.1, method=m, thin_groups="pool"))
        both = f"control both {method.name}"
        yield done(both, lambda m=method: cal.control_both(0.1, 0.1, method=m, thin_groups="pool"))
        for kind in (single, both):
            test = made[kind]
            yield done(f"{kind}: certify", lambda t=test: t.certificate)
            yield done(f"{kind}: text", lambda t=test: str(t.certificate))
            yield done(f"{kind}: JSON", lambda t=test: t.certificate.to_json())
            yield done(f"{kind}: HTML", lambda t=test: t.certificate._repr_html_())
            yield done(f"{kind}: repr", lambda t=test: repr(t) + t._repr_html_())
            yield done(f"{kind}: decide", lambda t=test: t.decide(later[0], later[2]))
            yield done(f"{kind}: p-values", lambda t=test: t.p_values(later[0], later[2]))
            found = f"{kind}: evaluate"
            yield done(found, lambda t=test: t.evaluate(later[0], later[1], later[2]))
            yield done(f"{found}, repr", lambda e=made[found]: repr(e) + e._repr_html_())
            yield done(f"{found}, facts", lambda e=made[found]: e.to_dict())


@pytest.mark.thorough
def test_no_step_is_quadratic_in_the_number_of_groups():
    """Four times as many groups take at most five times the work, in everything done with them."""
    work = zip(steps(FEW), steps(MANY), strict=True)
    slow = {name: (few, many) for (name, few), (_, many) in work if many > 5 * few + 2000}
    assert not slow


def test_a_certificate_of_very_many_groups_shows_the_extremes():
    """Text and card show a few groups and say how many there are; JSON has every one."""
    cal = rk.calibrate(*grouped(300)[:2], groups=grouped(300)[2])
    for test in (cal.control("fnr", 0.15), cal.control_both(0.15, 0.15)):
        certificate = test.certificate
        text = " ".join(str(certificate).split())
        n = str(certificate).count("\nGroup ")
        assert 6 <= n <= 24
        assert f"{n} of 300 groups are shown" in text
        assert f"The other {300 - n} are level" in text
        assert "of 300 groups are shown" in certificate._repr_html_()
        assert len(certificate._repr_html_()) < 20_000
        facts = certificate.to_dict()
        for part in (facts["fnr"], facts["fpr"]) if "fnr" in facts else (facts,):
            assert len(part["cells"]) == 300
        assert certificate.to_json().count("'group 299'") == 0
        assert certificate.to_json().count('"group 299"') == len(test.parts)


def test_the_shown_groups_are_the_extremes():
    """The smallest and largest groups, those of the lowest and highest price, and pooled ones."""
    rng = np.random.default_rng(0)
    sizes = np.r_[10, 12, rng.integers(60, 400, 60), 900, 1000]  # the first two are too small
    labels = np.repeat([1, 0], sizes.sum())
    groups = np.tile(np.repeat(np.arange(sizes.size), sizes), 2)
    scores = rng.normal(2.0 * labels)
    scores[(groups == 30) & (labels == 0)] += 9  # a price of 100%
    scores[(groups == 31) & (labels == 0)] -= 9  # and one of 0%
    cal = rk.calibrate(scores, labels, groups=groups)
    test = cal.control("fnr", 0.05, thin_groups="pool")
    text = str(test.certificate)
    for group in (0, 1, 30, 31, 62, 63):
        assert f"\nGroup {group} (" in text
    own = sorted(range(2, 64), key=lambda i: sizes[i])
    for group in own[:3]:  # the smallest with a threshold of their own
        assert f"\nGroup {group} (" in text
    assert "group 0: " in repr(test)
    assert "group 63: " in repr(test)


def test_an_evaluation_of_very_many_groups_shows_the_worst():
    """The group that breaks its promise is shown, wherever it stands."""
    scores, labels, names = grouped(300)
    test = rk.calibrate(scores, labels, groups=names).control("fnr", 0.15)
    later = grouped(300, seed=1)
    bad = later[2] == "group 170"
    found = test.evaluate(np.where(bad, -1.5, later[0]), later[1], later[2])
    for shown in (repr(found), found._repr_html_()):
        assert "group 170" in shown
        assert "exceeded" in shown
        assert "of 300 groups are shown" in shown
    assert len(found.to_dict()["groups"]) == 300


def test_p_values_belong_to_the_scores_that_were_decided_on():
    """Changing or reordering the caller's arrays afterwards changes neither, however many."""
    cal = rk.calibrate(np.arange(200.0), np.repeat([0, 1], 100))
    test = cal.control("fnr", 0.1)
    scores = np.random.default_rng(0).uniform(0, 199, 1_200_000)
    expected = test.p_values(scores)
    decisions = test.decide(scores)
    scores[:] = scores[::-1].copy()
    assert (decisions.p_values.p1 == expected.p1).all()
    assert (decisions.p_values.p0 == expected.p0).all()


def named(bad):
    """Return texts in every container that keeps them as they are."""
    names = [bad, "a"] * 40
    return {
        "list": names,
        "tuple": tuple(names),
        "objects": np.array(names, dtype=object),
        "pandas": pd.Series(names),
        "pandas objects": pd.Series(names, dtype=object),
        "pandas category": pd.Series(names, dtype="category"),
        "polars": pl.Series(names),
        "polars category": pl.Series(names, dtype=pl.Categorical),
        "pyarrow": pa.array(names),
        "pyarrow dictionary": pa.array(names).dictionary_encode(),
        "pyarrow large": pa.array(names, pa.large_string()),
    }


BAD_NAMES = {
    "a\0": "NUL",
    "a\0b": "NUL",
    "\0": "NUL",
    "x" * 257: "a name of 257 characters, 'xxxx",
    "y" * 200_000: "a name of 200,000 characters, 'yyyy",
}


@pytest.mark.thorough_rows
@pytest.mark.parametrize("kind", list(named("b")))
def test_names_that_numpy_would_change_are_refused(kind):
    """A NUL at the end of a name would make two groups one, and a long name fill the memory."""
    scores = np.linspace(0, 1, 80)
    labels = np.repeat([0, 1], 40)
    rk.calibrate(scores, labels, groups=named("x" * 256)[kind])
    for bad, said in BAD_NAMES.items():
        column = named(bad)[kind]
        with pytest.raises(rk.exceptions.InputError, match=said) as caught:
            rk.calibrate(scores, labels, groups=column)
        assert caught.value.parameter == "groups"
        assert len(str(caught.value)) < 400
        with pytest.raises(rk.exceptions.InputError, match=said):
            rk.calibrate(scores, column, positive_label="a")
        test = rk.calibrate(scores, labels, groups=["b", "a"] * 40).control("fnr", 0.2)
        for call in (test.decide, test.p_values):
            with pytest.raises(rk.exceptions.InputError, match=said):
                call(scores, column)
        with pytest.raises(rk.exceptions.InputError):
            test.evaluate(scores, labels, column)


def test_a_long_name_costs_no_memory_for_other_rows():
    """A list of short names and one that is long, or longest, takes little more than itself."""
    code = """
        import sys
        import numpy as np, ratekeeper as rk

        def peak():
            with open("/proc/self/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

        n = 400_000
        names = ["a"] * (n - 1) + ["b" * int(sys.argv[1])]
        scores, labels = np.linspace(0, 1, n), np.repeat([0, 1], n // 2)
        rk.calibrate(scores[:100], labels[::n // 100][:100], groups=names[:100])
        before = peak()
        try:
            rk.calibrate(scores, labels, groups=names)
            rk.calibrate(scores, names, positive_label=names[-1])
        except rk.exceptions.InputError as error:
            assert sys.argv[1] in str(error).replace(",", ""), error
        print(peak() - before)
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("needs /proc")
    for length in ("256", "200000"):
        run = [sys.executable, "-c", textwrap.dedent(code), length]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        assert int(done.stdout) < 100_000  # kB; a row of 256 characters alone would take 400,000


WHOLE = 2**53


@each("make", [np.array, list, tuple, pd.Series, pl.Series, pa.array])
@each("dtype", ["int64", "uint64", "object"])
def test_whole_numbers_that_float64_cannot_hold_are_refused(make, dtype):
    """Scores are never rounded in silence; those that float64 holds pass, however large."""

    def column(values):
        if dtype == "object" and make in (list, tuple):
            return make(values)
        array = np.array(values, dtype=dtype)
        return make(array.tolist() if make is list or dtype == "object" else array)

    last = {"int64": 2**63 - 1, "uint64": 2**64 - 1, "object": WHOLE + 1}[dtype]
    labels = [0, 1, 0, 1]
    fine = [0, WHOLE, WHOLE + 2, 2**62]
    assert rk.calibrate(column(fine), labels).dtype == np.float64
    test = rk.calibrate(np.arange(80.0), np.repeat([0, 1], 40)).control("fnr", 0.2)
    for bad in (WHOLE + 1, WHOLE + 3, last):
        values = [0, WHOLE, bad, 7]
        with pytest.raises(rk.exceptions.InputError, match=f"has {bad} at position 2") as caught:
            rk.calibrate(column(values), labels)
        assert "float64 cannot hold" in str(caught.value)
        with pytest.raises(rk.exceptions.InputError, match="float64 cannot hold"):
            test.decide(column(values))


def test_whole_numbers_beside_floats_are_not_rounded():
    """A list in which NumPy would make floats of large whole numbers is refused, too."""
    for bad in ([0.5, WHOLE + 1, 1.0, 2.0], [2**70 + 1, 0, 1, 2], [-(2**63), 2**63 + 1, 1, 2]):
        with pytest.raises(rk.exceptions.InputError, match="float64 cannot hold"):
            rk.calibrate(bad, [0, 1, 0, 1])
    assert rk.calibrate([0.5, 2**70, -(2**63), 3], [0, 1, 0, 1]).n(1) == 2


def test_large_whole_numbers_are_names_as_they_are():
    """Groups and labels beyond the 63 bits of int64 keep their last digit, or are refused."""
    scores, labels = np.linspace(0, 1, 80), np.repeat([0, 1], 40)
    for one, two in ((2**63, 2**63 + 1), (2**64 - 1, 0), (WHOLE, WHOLE + 1)):
        cal = rk.calibrate(scores, labels, groups=[one, two] * 40)
        assert cal.groups.tolist() == sorted((one, two))
        assert rk.calibrate(scores, [one, two] * 40, positive_label=one).n(one) == 40
    for one, two in ((-1, 2**63), (2**64, 0)):
        with pytest.raises(rk.exceptions.InputError, match="no type holds"):
            rk.calibrate(scores, labels, groups=[one, two] * 40)
        with pytest.raises(rk.exceptions.InputError, match="no type holds"):
            rk.calibrate(scores, [one, two] * 40)
    one, two = (rk.calibrate(scores + name, labels, groups=[name, 5] * 40) for name in (-1, 2**63))
    with pytest.raises(rk.exceptions.InputError, match="64-bit"):
        one.merge(two)


def whole_kinds():
    """Return 0 and 1 in every type there is, by name."""
    numpy_types = [*np.typecodes["AllInteger"], *np.typecodes["AllFloat"], "?", ">i4", ">f8"]
    kinds = {f"numpy {np.dtype(c).str} {c}": (lambda v, c=c: v.astype(c)) for c in numpy_types}
    day = dt.date(2024, 1, 1)
    odd = {
        "text": lambda v: v.astype(str),
        "bytes": lambda v: v.astype(bytes),
        "void": lambda v: v.astype("i4").view("V4"),
        "record": lambda v: v.astype([("a", "i4"), ("b", "f4")]),
        "datetime": lambda v: v.astype("datetime64[D]"),
        "timedelta": lambda v: v.astype("timedelta64[s]"),
        "months": lambda v: v.astype("timedelta64[M]"),
        "objects": lambda v: v.astype(object),
        "decimals": lambda v: [decimal.Decimal(int(x)) for x in v],
        "dates": lambda v: [day + dt.timedelta(int(x)) for x in v],
        "ranges": lambda v: [range(x) for x in v],
        "sets": lambda v: [{x} for x in v.tolist()],
        "dicts": lambda v: [{"a": x} for x in v.tolist()],
        "lists": lambda v: [[x] * (1 + x) for x in v.tolist()],
        "classes": lambda v: [(int, str)[x] for x in v],
        "list of bytes": lambda v: [b"ab"[x : x + 1] for x in v],
        "list of complex": lambda v: [complex(x) for x in v],
        "numpy scalars": lambda v: [np.int8(x) if x else np.uint64(x) for x in v],
        "a generator": lambda v: (x for x in v),
        "a set": lambda v: set(v.tolist()),
        "a dict": lambda v: dict(enumerate(v.tolist())),
        "bytes object": lambda v: v.astype(np.uint8).tobytes(),
        "memoryview": memoryview,
        "memoryview of floats": lambda v: memoryview(v.astype(float)),
    }
    pandas_types = (
        "Int8 UInt64 Float32 boolean string category Sparse[int] int64[pyarrow] bool[pyarrow] "
        "string[pyarrow] timedelta64[ns] datetime64[ns] object str complex128"
    )
    tables = {f"pandas {t}": (lambda v, t=t: pd.Series(v).astype(t)) for t in pandas_types.split()}
    tables |= {
        "pandas zoned": lambda v: pd.Series(pd.to_datetime(v, unit="s", utc=True)),
        "pandas period": lambda v: pd.Series(pd.PeriodIndex.from_ordinals(v, freq="M")),
        "pandas interval": lambda v: pd.Series(pd.arrays.IntervalArray.from_arrays(v, v + 1)),
        "pandas category of texts": lambda v: pd.Series(v.astype(str), dtype="category"),
        "pandas decimals": lambda v: pd.Series([decimal.Decimal(int(x)) for x in v]),
        "pandas arrow decimals": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.int64())).astype(
            pd.ArrowDtype(pa.decimal128(20))
        ),
    }
    polars_types = (
        *(pl.Int8, pl.UInt64, pl.Float32, pl.Boolean, pl.String, pl.Datetime, pl.Date, pl.Time),
        *(pl.Duration, pl.Decimal(9, 2), pl.Int128, pl.Binary),
    )
    for kind in polars_types:
        tables[f"polars {kind}"] = lambda v, t=kind: (
            pl.Series(v.astype(str)).cast(t) if t == pl.Binary else pl.Series(v).cast(t)
        )
    tables |= {
        "polars categorical": lambda v: pl.Series(v.astype(str), dtype=pl.Categorical),
        "polars enum": lambda v: pl.Series(v.astype(str), dtype=pl.Enum(["0", "1"])),
        "polars list": lambda v: pl.Series([[x] for x in v.tolist()]),
        "polars array": lambda v: pl.Series([[x] for x in v.tolist()], dtype=pl.Array(pl.Int8, 1)),
        "polars struct": lambda v: pl.Series([{"a": x} for x in v.tolist()]),
        "polars object": lambda v: pl.Series(v.tolist(), dtype=pl.Object),
        "polars null": lambda v: pl.Series([None] * len(v)),
    }
    arrow_types = [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.bool_(), pa.string()]
    arrow_types += [pa.large_string(), pa.decimal128(21, 2), pa.date32(), pa.time32("s")]
    arrow_types += [pa.timestamp("us"), pa.timestamp("s", "UTC"), pa.duration("s"), pa.date64()]
    for kind in arrow_types:
        plain = "int32" if kind in (pa.date32(), pa.time32("s")) else "int64"
        tables[f"arrow {kind}"] = lambda v, t=kind, p=plain: (
            pa.array(v.astype(p)).cast(pa.float32() if t == pa.float16() else t).cast(t)
        )
    tables |= {
        "arrow binary": lambda v: pa.array([b"%d" % x for x in v.tolist()]),
        "arrow fixed binary": lambda v: pa.array([b"%d" % x for x in v.tolist()], pa.binary(1)),
        "arrow months": lambda v: pa.array(
            [(x, 0, 0) for x in v.tolist()], pa.month_day_nano_interval()
        ),
        "arrow list": lambda v: pa.array([[x] for x in v.tolist()]),
        "arrow struct": lambda v: pa.array([{"a": x} for x in v.tolist()]),
        "arrow map": lambda v: pa.array(
            [[("a", x)] for x in v.tolist()], pa.map_(pa.string(), pa.int64())
        ),
        "arrow null": lambda v: pa.nulls(len(v)),
        "arrow dictionary": lambda v: pa.array(v).dictionary_encode(),
        "arrow dictionary of texts": lambda v: pa.array(v.astype(str)).dictionary_encode(),
        "arrow run-ended": lambda v: pa.compute.run_end_encode(pa.array(v)),
        "arrow view": lambda v: pa.array(v.astype(str), pa.string_view()),
    }
    return kinds | {f"python {name}": make for name, make in odd.items()} | tables


KINDS = whole_kinds()
HALF = np.tile([0, 1], 40)


def used(scores, labels, groups):
    """Do everything with these columns that reads them."""
    cal = rk.calibrate(scores, labels, groups=groups, positive_label=None)
    test = cal.control("fnr", 0.3, method=rk.Conformal())
    other = rk.calibrate(np.arange(80) + 0.5, labels, groups=groups)
    assert cal.merge(other).n(cal.classes[1]) == 80
    assert len(test.decide(scores, groups)) == len(test.p_values(scores, groups)) == 80
    assert len(cal.p_values(scores, groups=groups)) == 80
    later = cal.merge(other).control("fnr", 0.3, method=rk.Conformal())
    assert later.evaluate(np.arange(80) + 0.25, labels, groups).target.n == 40
    repr(cal), repr(test), str(test.certificate), test.certificate.to_json()
    return cal


def pieces(kind, role):
    """Return columns of which one is of this kind: those of the 0 and 1 of two groups."""
    columns = {"scores": np.arange(80.0), "labels": np.repeat([0, 1], 40), "groups": HALF}
    values = HALF if role == "groups" else np.repeat([0, 1], 40)
    return columns | {role: KINDS[kind](values)}


@pytest.mark.thorough_rows
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("role", ["scores", "labels", "groups"])
def test_a_column_of_any_type_is_read_or_refused_in_our_words(role):
    """Every type of NumPy, pandas, polars and pyarrow is used as it is, or refused with advice."""
    wrong = []
    for kind in KINDS:
        columns = pieces(kind, role)
        try:
            cal = used(**columns)
        except rk.exceptions.InputError as error:
            if role not in str(error) or not error.remedy:
                wrong.append(f"{kind}: {type(error).__name__} {error}")
        except Exception as error:  # noqa: BLE001 - whatever else it is, it is a defect
            wrong.append(f"{kind}: {type(error).__name__} {error}")
        else:
            if cal.n(cal.classes[1]) != 40 or (role == "groups" and cal.groups.size != 2):
                wrong.append(f"{kind}: {cal}")
    assert not wrong, "\n".join(wrong)


def test_hidden_groups_that_exceed_are_counted():
    """More groups break their promise than are shown, and all texts say how many more."""
    scores, labels, names = grouped(300)
    test = rk.calibrate(scores, labels, groups=names).control("fnr", 0.15)
    later = grouped(300, seed=1)
    bad = np.array([int(name.split()[1]) % 6 == 0 for name in later[2]])
    found = test.evaluate(np.where(bad, np.minimum(later[0], -1.5), later[0]), *later[1:])
    n = sum(one.verdict == "exceeded" for one in found.groups.values())
    assert n == 50
    for shown in (repr(found), found._repr_html_()):
        assert f"; exceeded but not shown: {n - 8};" in shown
    assert "exceeded but" not in repr(test.evaluate(*later))


@pytest.mark.thorough
def test_a_group_that_contradicts_the_fit_is_shown_for_both_rates():
    """Text and card of a test of both rates show why nothing is promised."""
    rng = np.random.default_rng(0)
    labels, groups = np.tile(np.repeat([0, 1], 100), 60), np.repeat(np.arange(60), 200)
    scores = rng.normal(2.0 * labels)
    odd = (groups == 30) & (labels == 1)
    scores[odd] = np.where(np.arange(100) % 2, 0.0, 4.0) + rng.normal(0, 0.01, 100)
    cal = rk.calibrate(scores, labels, groups=groups)
    with pytest.warns(rk.exceptions.ContradictedFitWarning):
        both = cal.control_both(0.1, 0.1, method=rk.methods.Parametric())
    assert "\nGroup 30 (" in str(both.certificate)
    assert "FNR, 30: " in both.certificate._repr_html_()


def test_groups_of_unknown_price_are_not_said_to_lie_between_others():
    """Of groups without an object of the other class some are shown."""
    scores, labels, names = grouped(60)
    number = np.array([int(name.split()[1]) for name in names])
    kept = (labels == 1) | (number < 20) | (number >= 30)
    cal = rk.calibrate(scores[kept], labels[kept], groups=names[kept])
    certificate = cal.control("fnr", 0.15).certificate
    assert "unknown" in str(certificate)
    assert "unknown" in certificate._repr_html_()


def test_where_every_group_is_pooled_nothing_is_certified():
    """A headline promises nothing if no group has a threshold of its own."""
    labels, groups = np.tile(np.repeat([0, 1], 5), 60), np.repeat(np.arange(60), 10)
    scores = np.random.default_rng(0).normal(2.0 * labels)
    cal = rk.calibrate(scores, labels, groups=groups)
    for test in (
        cal.control("fnr", 0.05, thin_groups="pool"),
        cal.control_both(0.05, 0.05, thin_groups="pool"),
    ):
        text = " ".join(str(test.certificate).split())
        assert text.startswith("NO PROMISE")
        assert "No promise: No group has enough scores of its own" in text
        assert "the 0 groups" not in text
        assert "other groups" not in text
        for part in test.parts:
            assert not part.certificate.promised
            assert part.certificate.to_dict()["promised"] is False


def test_scores_of_very_many_groups_pool_to_those_without_groups():
    """From a thousand groups on they are sorted in another way, to the same bytes."""
    scores, labels, names = grouped(1001)
    cal = rk.calibrate(scores, labels, groups=names)
    assert cal.pooled() == rk.calibrate(scores, labels)
    assert cal.auc == rk.calibrate(scores, labels).auc


def test_of_groups_without_a_p_value_the_highest_rates_are_shown():
    """Nothing is promised to groups of an audit, so the rates alone say which are worst."""
    scores, labels, _ = grouped(300)
    test = rk.calibrate(scores, labels).control("fnr", 0.05)
    found = test.evaluate(*grouped(300, seed=1))
    rates = sorted((one.target.rate for one in found.groups.values()), reverse=True)
    shown = re.findall(r"^group '(.+?)': ", repr(found), re.MULTILINE)
    assert 0 < len(shown) < 300
    assert [found.groups[name].target.rate for name in shown] == rates[: len(shown)]


def test_hidden_pooled_groups_are_counted():
    """The text of a test says how many of the groups that it leaves out are promised nothing."""
    sizes = np.r_[np.full(20, 10), np.full(40, 100)]
    labels = np.repeat([1, 0], sizes.sum())
    groups = np.tile(np.repeat(np.arange(60), sizes), 2)
    scores = np.random.default_rng(0).normal(2.0 * labels)
    test = rk.calibrate(scores, labels, groups=groups).control("fnr", 0.05, thin_groups="pool")
    n = repr(test).count("nothing is promised here")
    assert f", {20 - n} of them without a promise" in repr(test)
