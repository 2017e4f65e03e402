"""Tests of precision, NPV, wrong decisions and alerts: thresholds chosen for an aim."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.report import write
from ratekeeper.sql import decision_sql

MAKERS = {
    "precision": lambda cal: cal.control_precision(0.8),
    "npv": lambda cal: cal.control_npv(0.97),
    "selective": lambda cal: cal.control_selective(0.05),
    "alerts": lambda cal: cal.control_alerts(0.05),
    "alerts of this test": lambda cal: cal.control_alerts(0.05, delta=0.05),
}


def draw(n=3000, seed=0, **kind):
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.2
    return rng.normal(2 * labels).astype(kind.get("dtype", np.float64)), labels


@pytest.fixture(scope="module")
def cal():
    return rk.calibrate(*draw())


@pytest.mark.parametrize("name", MAKERS)
def test_decisions_are_those_of_the_limits(cal, name):
    """An object is called positive beyond one threshold, and negative beyond the other."""
    test = MAKERS[name](cal)
    (limits,) = test.limits.values()
    near = [limits.positive, np.nextafter(limits.positive, 9), np.nextafter(limits.positive, -9)]
    scores = np.r_[near, np.linspace(-4, 6, 101), -np.inf, np.inf]
    found = test.decide(scores)
    expected = scores > limits.positive if limits.strict else scores >= limits.positive
    assert found.positive.tolist() == expected.tolist()
    below = limits.positive if limits.negative is None else limits.negative
    if limits.negative is not None:
        assert found.abstained.tolist() == (~expected & (scores >= below)).tolist()
    assert found.can_abstain == (name == "selective")
    assert len(found.p_values) == scores.size


@pytest.mark.parametrize("name", MAKERS)
def test_scores_that_point_down_are_mirrored(name):
    """Calibrating on -score, with low scores as positive, gives the mirrored test."""
    scores, labels = draw()
    up = MAKERS[name](rk.calibrate(scores, labels, random_state=0))
    mirrored = rk.calibrate(-scores, labels, higher_is_positive=False, random_state=0)
    down = MAKERS[name](mirrored)
    if name in ("alerts", "alerts of this test"):
        one, two = up.chosen[0].limits, down.chosen[0].limits
        assert (two.positive, two.strict) == (-one.positive, one.strict)
    new = np.linspace(-4, 6, 1001)
    one, two = up.decide(new), down.decide(-new)
    # With the same draw, the same objects guide the search.
    assert one.positive.tolist() == two.positive.tolist()
    assert one.abstained.tolist() == two.abstained.tolist()


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_test_comes_back_from_a_file_and_a_pickle(tmp_path, name, dtype):
    """Saved and loaded, a test has the same thresholds and the same certificate."""
    scores, labels = draw(dtype=dtype)
    groups = np.random.default_rng(1).choice(["north", "south"], labels.size)
    for columns in ({}, {"groups": groups}):
        test = MAKERS[name](rk.calibrate(scores, labels, **columns))
        rk.save(test, tmp_path / "test.rk")
        pickled = pickle.loads(pickle.dumps(test))  # noqa: S301 - our own
        for other in (rk.load(tmp_path / "test.rk"), pickled):
            assert other.limits == test.limits
            assert str(other.certificate) == str(test.certificate)
        json.loads(test.certificate.to_json())
        assert "<table" in test._repr_html_()


def test_a_file_with_other_thresholds_is_refused(tmp_path):
    """Thresholds are found anew when a file is loaded, and must be the stored ones."""
    test = rk.calibrate(*draw()).control_precision(0.8)
    changed = test.chosen[0].limits.positive + 0.1
    object.__setattr__(test.chosen[0].limits, "positive", changed)
    rk.save(test, tmp_path / "test.rk")
    with pytest.raises(rk.exceptions.StoredFileError, match="thresholds"):
        rk.load(tmp_path / "test.rk")


def test_an_evaluation_counts_what_is_promised(cal):
    """The share of an aim is counted on new objects and compared with its level."""
    scores, labels = draw(20_000, seed=1)
    for name, share in (("precision", "fdr"), ("npv", "for"), ("selective", "selective_error")):
        test = MAKERS[name](cal)
        found, decided = test.evaluate(scores, labels), test.decide(scores)
        called_wrong = np.sum(decided.positive & ~labels)
        called_negative = ~decided.positive & ~decided.abstained
        missed = np.sum(called_negative & labels)
        errors = {"fdr": called_wrong, "for": missed, "selective_error": called_wrong + missed}
        assert found.control == share
        assert found.target.errors == errors[share]
        assert found.verdict in ("kept", "in line")
        assert found.to_dict()["target"]["name"] == share
        assert found.fixed
        assert "one look" in found._repr_html_()
    alerts = MAKERS["alerts"](cal).evaluate(scores, labels)
    assert alerts.target.n == labels.size
    assert not alerts.fixed


def test_precision_falls_with_the_share_of_positives(cal):
    """An evaluation on objects of which fewer are positive finds the promise exceeded."""
    test = cal.control_precision(0.8)
    rng = np.random.default_rng(2)
    labels = rng.random(50_000) < 0.05
    assert test.evaluate(rng.normal(2 * labels), labels).verdict == "exceeded"


def test_groups_have_thresholds_of_their_own():
    """With groups the promise is made in each, and a group in which it cannot be is named."""
    scores, labels = draw(6000)
    groups = np.where(np.arange(6000) % 3 == 0, "north", "south")
    test = rk.calibrate(scores, labels, groups=groups).control_precision(0.8)
    assert set(test.limits) == {"north", "south"}
    text = str(test.certificate)
    assert "in at least one of the 2 groups has probability up to 0.1" in " ".join(text.split())
    decided = test.decide([1.9, 1.9], groups=["north", "south"])
    assert len(decided) == 2
    scores[groups == "north"] = 0.0
    with pytest.raises(rk.exceptions.UnattainableError, match="in group 'north'"):
        rk.calibrate(scores, labels, groups=groups).control_precision(0.8)
    with pytest.raises(rk.exceptions.NoThresholdError):
        test.threshold  # noqa: B018 - raises


def test_what_is_out_of_reach_is_said_with_what_is_not(cal):
    """A precision that no threshold has is refused, with the highest that could be promised."""
    with pytest.raises(
        rk.exceptions.UnattainableError, match="highest precision that could be promised is"
    ) as error:
        cal.control_precision(0.9999)
    best = float(str(error.value).rpartition(" ")[2].rstrip("%.")) / 100
    assert 0.85 < best < 0.95
    cal.control_precision(best)
    with pytest.raises(rk.exceptions.UnattainableError, match="lowest share of wrong decisions"):
        cal.control_selective(0.0001)
    with pytest.raises(rk.exceptions.UnattainableError, match="At least 999 calibration objects"):
        rk.calibrate([0.1, 0.2, 0.9], [0, 0, 1]).control_alerts(0.001)
    useless = rk.calibrate(np.zeros(400), np.arange(400) % 2)
    with pytest.raises(rk.exceptions.UnattainableError, match="precision"):
        useless.control_precision(0.9)


def test_objects_sampled_by_class_promise_nothing_about_the_mix(tmp_path):
    """Class shares that were chosen refuse every promise about the mix, also after a file."""
    scores, labels = draw()
    cal = rk.calibrate(scores, labels, sampling="by class")
    rk.save(cal, tmp_path / "cal.rk")
    cal = rk.load(tmp_path / "cal.rk")
    for make in MAKERS.values():
        with pytest.raises(rk.InputError, match="sampled by class"):
            make(cal)
    cal.control("fnr", 0.05)  # which does not mind
    with pytest.raises(rk.InputError, match="sampling"):
        cal.merge(rk.calibrate(*draw(seed=1)))
    with pytest.raises(rk.InputError, match="sampling='random' must be"):
        rk.calibrate(scores, labels, sampling="random")


def test_a_random_sample_of_a_file_is_one_by_class(tmp_path):
    """--sample keeps as many rows of either class, which says nothing about the mix."""
    from ratekeeper.files import calibrate_file

    scores, labels = draw(500)
    rows = "\n".join(f"{s},{int(y)}" for s, y in zip(scores, labels, strict=True))
    (tmp_path / "rows.csv").write_text(f"score,label\n{rows}\n")
    cal = calibrate_file(tmp_path / "rows.csv", score="score", label="label", sample=50)
    with pytest.raises(rk.InputError, match="as many rows of either class"):
        cal.control_alerts(0.1)


def test_a_budget_needs_no_labels(tmp_path):
    """Scores without labels are enough for a budget of alerts, and for nothing else."""
    scores, labels = draw()
    plain = rk.calibrate(scores)
    test = plain.control_alerts(0.05, delta=0.05)
    assert test.limits == rk.calibrate(scores, labels).control_alerts(0.05, delta=0.05).limits
    rk.save(test, tmp_path / "test.rk")
    again = rk.load(tmp_path / "test.rk")
    assert again.limits == test.limits
    assert "3,000 scores without labels" in str(again.certificate)
    assert "Price: unknown" in str(again.certificate)
    assert np.isnan(again.decide([1.0]).p_values.p0).all()
    assert "without labels" in decision_sql(test, table="t", score="s")
    with pytest.raises(rk.InputError, match="no labels"):
        plain.control_precision(0.8)
    with pytest.raises(rk.InputError, match="all objects of this calibration are negative"):
        rk.calibrate(scores, one_class="negative").control_alerts(0.05)


def test_alerts_of_a_test_of_an_aim(cal):
    """A test of an aim says what it means in practice, but not where class shares were chosen."""
    test = cal.control_precision(0.8)
    found = test.alerts("2%")
    assert found.precision.value < test.alerts().precision.value
    assert "In practice" in str(test.certificate)
    by_class = rk.calibrate(*draw(), sampling="by class").control("fpr", 0.05)
    assert "In practice" not in str(by_class.certificate)
    with pytest.raises(rk.InputError, match="sampled by class"):
        by_class.alerts()
    assert 0 < by_class.alerts(0.02).false_share < 1
    noisy = cal.control_noisy("fnr", 0.1, rk.LabelNoise(wrong_positives=0.02))
    with pytest.raises(rk.InputError, match="labels of this calibration are wrong"):
        noisy.alerts(0.02)


def test_bad_levels_are_refused(cal):
    """Levels and chances lie strictly between 0 and 1, or are texts such as 90%."""
    assert cal.control_precision("80%").limits == cal.control_precision(0.8).limits
    for make, name in (
        (cal.control_precision, "precision"),
        (cal.control_npv, "npv"),
        (cal.control_selective, "error"),
        (cal.control_alerts, "share"),
        (lambda v: cal.control_precision(0.5, delta=v), "delta"),
        (lambda v: cal.control_alerts(0.5, delta=v), "delta"),
    ):
        for value in (0, 1, -0.1, 90, "90", float("nan"), True, [0.5]):
            with pytest.raises(rk.InputError, match=f"^{name}="):
                make(value)


def test_few_and_odd_objects_are_no_crash():
    """Any calibration gives a test or says why not: few objects, ties, infinities."""
    rng = np.random.default_rng(0)
    odd = [-np.inf, np.inf, 0.0, 1.0]
    for n in (2, 3, 5, 40, 200):
        for scores in (rng.normal(size=n), rng.choice(odd, n), np.zeros(n), rng.integers(0, 3, n)):
            labels = np.arange(n) % 2
            cal = rk.calibrate(np.asarray(scores, dtype=float), labels)
            for make in MAKERS.values():
                try:
                    test = make(cal)
                except rk.exceptions.UnattainableError:
                    continue
                test.decide(odd)
                str(test.certificate)


def test_sql_decides_as_the_test_does(cal):
    """The CASE expression of a test of an aim gives its decisions to the last bit."""
    import sqlite3

    scores, _ = draw(500, seed=3)
    for make in MAKERS.values():
        test = make(cal)
        scores[:1] = next(iter(test.limits.values())).positive
        with sqlite3.connect(":memory:") as base:
            base.execute("CREATE TABLE t (s REAL)")
            base.executemany("INSERT INTO t VALUES (?)", [(float(s),) for s in scores])
            found = [row[1] for row in base.execute(decision_sql(test, table="t", score="s"))]
        expected = [None if v is None else int(v) for v in test.decide(scores).labels.tolist()]
        assert found == expected


@pytest.mark.parametrize("name", MAKERS)
def test_of_cross_fitted_scores_nothing_is_promised_in_any_words(cal, name, tmp_path):
    """Guarantee, JSON, text and page agree that there is no promise, and claim no held-out set."""
    test = MAKERS[name](replace(cal, origin="cross-fitted"))
    assert test.guarantee.kind == "none"
    facts = test.certificate.to_dict()
    assert (facts["promised"], facts["guarantee"]["kind"]) == (False, "none")
    assert "not promised" in repr(test)
    write(test, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "not promised</h1>" in page
    for text in (repr(test), " ".join(str(test.certificate).split()), page, json.dumps(facts)):
        assert "xcept with probability" not in text
        assert "true share of alerts averages" not in text
        assert "not used to train" not in text


def test_tied_scores_make_the_share_of_alerts_smaller_than_its_rank_says():
    """The distribution of the rank is only a limit from above, whether or not ties are seen."""
    scores, labels = draw()
    for values in (scores, np.round(scores)):
        certificate = rk.calibrate(values, labels).control_alerts(0.1).certificate
        assert "true share of alerts averages at most" in " ".join(str(certificate).split())
        (cell,) = certificate.cells
        beyond = np.count_nonzero(values > cell.limits.positive)
        assert cell.realised.beyond == beyond < cell.realised.k


def test_a_sample_of_rows_without_labels_is_a_random_sample(cal):
    """Of a file with labels either class is sampled by itself; without labels all rows are."""
    rows = rk.calibration.Provenance(rows=100_000, sampled_from=(100_000, 0))
    unlabelled = replace(rk.calibrate(draw()[0]), provenance=rows)
    assert unlabelled.control_alerts(0.05).threshold == cal.control_alerts(0.05).threshold
    sample = replace(
        cal, provenance=rk.calibration.Provenance(rows=100_000, sampled_from=(90_000, 10_000))
    )
    with pytest.raises(rk.exceptions.InputError, match="as many rows of either class"):
        sample.control_alerts(0.05)
