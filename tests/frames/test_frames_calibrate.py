"""Calibrations of frames: scores are counted where they are, and nothing depends on the engine."""

import warnings

import numpy as np
import pytest
from cases import each
from frames_cases import assert_same, calibrated, columns_of, options_of

import ratekeeper as rk

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


def counted(frame, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rk.exceptions.ReversedScoreWarning)
        return rk.calibrate_frame(frame, score="risk", label="ill", counted=True, **options)


@pytest.mark.thorough
@each("engine", FRAMES)
@each("start", range(0, 60, 12))
def test_a_counted_frame_is_what_one_machine_has(engine, start):
    """In 300 random cases with ties no p-value is too small, and exact thresholds are the same."""
    n_exact = 0
    for seed in range(start, start + 12):
        case = 100 * list(FRAMES).index(engine) + seed  # others for each engine
        columns, options = columns_of(case), options_of(case)
        found = counted(FRAMES[engine](columns), **options)
        exact = calibrated(columns, options)
        new = np.r_[columns["risk"][:300], columns_of(case + 1000, 200)["risk"]]
        n_exact += assert_same(found, exact, new.astype(exact.dtype))
    assert n_exact > 30  # of at least 12 x 4


@pytest.mark.parametrize("engine", FRAMES)
def test_a_small_frame_keeps_its_scores(engine):
    """By default the scores of few rows are fetched: the calibration is that of the columns."""
    columns = columns_of(2)
    found = rk.calibrate_frame(FRAMES[engine](columns), score="risk", label="ill", group="area")
    assert not found.counted
    exact = rk.calibrate(columns["risk"], columns["ill"], groups=columns["area"])
    assert found.data_hash == exact.data_hash
    rows = found.provenance
    assert (rows.rows, rows.score, rows.label, rows.group) == (
        len(columns["risk"]),
        "risk",
        "ill",
        "area",
    )


def test_a_large_frame_is_counted_and_spends_nearly_all_of_alpha():
    """Of 3 million rows at most 0.1% of the usual alphas is unused, and extreme ranks are exact."""
    rng = np.random.default_rng(0)
    labels = rng.random(3_000_000) < 0.1
    scores = 1 / (1 + np.exp(-rng.normal(3 * labels - 2, 1.5)))
    cal = rk.calibrate_frame(
        pl.LazyFrame({"risk": scores, "ill": labels}), score="risk", label="ill"
    )
    assert cal.counted
    exact = rk.calibrate(scores, labels)
    for control in ("fnr", "fpr"):
        for alpha in (0.1, 0.05, 0.01, 0.001, 1e-4):
            test, own = (one.control(control, alpha) for one in (cal, exact))
            (cell,) = test.certificate.cells
            assert cell.unused <= 0.001
            if alpha <= 0.001:
                assert (cell.unused, test.threshold) == (0, own.threshold)


@pytest.mark.parametrize("engine", FRAMES)
def test_one_class_and_no_labels_are_counted_too(engine):
    """Scores of one class, or without labels, are read as `calibrate` reads them."""
    columns = columns_of(4)
    frame = FRAMES[engine](columns)
    cal = rk.calibrate_frame(frame, score="risk", one_class="negative", counted=True)
    exact = rk.calibrate(columns["risk"], one_class="negative")
    assert cal.known == "negative"
    tests = [c.control("fpr", 0.1) for c in (cal, exact)]
    assert tests[0].threshold == tests[1].threshold
    alone = rk.calibrate_frame(frame, score="risk", counted=True)
    assert (alone.known, alone.cells[0][0].size) == ("none", len(columns["risk"]))


@pytest.mark.parametrize("engine", FRAMES)
@pytest.mark.parametrize("counts", [True, False])
def test_what_is_missing_is_refused_with_its_number(engine, counts):
    """A missing label, group or score is an error that names the column, never a guess."""
    for name, value in (("risk", None), ("risk", float("nan")), ("ill", None), ("area", None)):
        columns = {key: column.tolist() for key, column in columns_of(4).items()}
        columns[name][7] = value
        if engine == "pandas":
            frame = pd.DataFrame(columns)
        else:
            frame = FRAMES[engine](pa.table(columns)) if engine == "duckdb" else None
            frame = pa.table(columns) if frame is None else frame
            frame = pl.from_arrow(frame) if engine.startswith("polars") else frame
            frame = frame.lazy() if engine == "polars lazy" else frame
        with pytest.raises(rk.InputError, match=f"{name}.*(missing|NaN)"):
            rk.calibrate_frame(frame, score="risk", label="ill", group="area", counted=counts)


@pytest.mark.parametrize("counts", [True, False])
def test_labels_are_read_as_calibrate_reads_them(counts):
    """Words need a positive one, three labels are refused by name, and so is a wrong column."""
    columns = columns_of(4)
    words = np.where(columns["ill"] == 1, "fraud", "fine")
    frame = pl.DataFrame({**columns, "ill": words})
    with pytest.raises(rk.InputError, match="which one is positive"):
        rk.calibrate_frame(frame, score="risk", label="ill", counted=counts)
    cal = rk.calibrate_frame(
        frame, score="risk", label="ill", positive_label="fraud", counted=counts
    )
    assert cal.classes.tolist() == ["fine", "fraud"]
    assert cal.n("fraud") == int(columns["ill"].sum())
    with pytest.raises(rk.InputError, match="3 distinct values"):
        rk.calibrate_frame(frame, score="risk", label="area", counted=counts)
    with pytest.raises(rk.InputError, match="real numbers"):
        rk.calibrate_frame(frame, score="area", label="ill", counted=counts)
    with pytest.raises(rk.InputError, match=r"no column 'Risk'.*Did you mean 'risk'"):
        rk.calibrate_frame(frame, score="Risk", label="ill", counted=counts)
    with pytest.raises(rk.InputError, match="no frame"):
        rk.calibrate_frame([1, 2], score="risk", label="ill")


def test_narrow_labels_and_whole_scores():
    """Labels are never computed with; whole numbers are scores, up to where doubles hold them."""
    frame = pl.DataFrame(
        {"risk": list(range(100)) * 3, "ill": [0] * 200 + [1] * 100},
        schema={"risk": pl.Int32, "ill": pl.Int8},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cal = rk.calibrate_frame(frame, score="risk", label="ill", counted=True)
    assert (cal.n(0), cal.n(1), str(cal.dtype)) == (200, 100, "float64")
    large = pl.DataFrame({"risk": [2**60, 2**60 + 1], "ill": [0, 1]})
    with pytest.raises(rk.InputError, match=r"2\*\*53"):
        rk.calibrate_frame(large, score="risk", label="ill", counted=True)


def test_a_table_that_changes_in_between_is_an_error():
    """Rows that go between two queries are noticed."""
    rng = np.random.default_rng(0)
    rows = pl.DataFrame({"risk": rng.random(50_000), "ill": rng.random(50_000) < 0.3})
    queries = []

    def after_a_change(frame):
        queries.append(len(frame))
        return frame if len(queries) == 1 else frame.filter(pl.col("risk") <= 1 - len(queries) / 99)

    changing = rows.lazy().map_batches(after_a_change, schema=rows.schema)
    with pytest.raises(rk.InputError, match="changed while they were counted"):
        counted(changing)


def test_too_many_groups_are_refused_before_they_are_counted():
    """A column of ids is no column of groups."""
    frame = pl.LazyFrame({"risk": np.linspace(0, 1, 20_000), "ill": [0, 1] * 10_000})
    frame = frame.with_row_index("id")
    with pytest.raises(rk.InputError, match="20,000 groups"):
        rk.calibrate_frame(frame, score="risk", label="ill", group="id", counted=True)


def test_an_old_narwhals_is_named(monkeypatch):
    """Without what buckets are made of, the error says what to install."""
    import narwhals as nw

    monkeypatch.delattr(nw.Expr, "floor")
    with pytest.raises(rk.InputError, match="pip install --upgrade narwhals"):
        rk.calibrate_frame(pd.DataFrame({"risk": [0.1]}), score="risk")
