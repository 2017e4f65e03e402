"""Rows of one patient or customer are one object."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import ratekeeper as rk
from ratekeeper import files, report
from ratekeeper.diagnostics import rate_against_alpha

METHODS = [
    rk.HighProbability(0.2),
    rk.Simultaneous(0.2),
    rk.Conformal(),
    rk.methods.Smoothed(random_state=1),
    rk.methods.Empirical(),
    rk.methods.Bootstrap(replicates=50),
    rk.methods.Kernel(),
    rk.methods.Parametric(),
    rk.methods.Resampled(size=20, random_state=1),
]


def patients(seed, n=60, first=0, **more):
    """Return scores, labels and ids of patients with one to six rows, of both classes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, n)
    ids = np.repeat([f"P{first + i}" for i in range(n)], sizes)
    labels = rng.integers(0, 2, ids.size)
    scores = 2.0 * labels + 0.8 * np.repeat(rng.normal(size=n), sizes) + rng.normal(size=ids.size)
    order = rng.permutation(ids.size)
    columns = {"scores": scores[order].round(1), "labels": labels[order], "clusters": ids[order]}
    return columns | {name: value[order] for name, value in more.items()}


def calibrated(**more):
    return rk.calibrate(**patients(0, **more))


def p_by_definition(columns, score, label):
    """Return (1 + sum over clusters of the share of rows as extreme) / (K + 1), as a fraction."""
    shares = []
    for name in sorted(set(columns["clusters"])):
        here = (columns["clusters"] == name) & (columns["labels"] == label)
        own = columns["scores"][here]
        if own.size:
            extreme = own <= score if label else own >= score
            shares.append(Fraction(int(extreme.sum()), own.size))
    return (1 + sum(shares, Fraction(0))) / (len(shares) + 1)


def test_conformal_p_values_are_those_of_the_definition():
    """Both p-values are the correctly rounded fraction: each cluster counts once."""
    columns = patients(0)
    new = np.r_[columns["scores"][:20], -9.0, 9.0, 0.55]
    found = rk.calibrate(**columns).p_values(new)
    for i, score in enumerate(new.tolist()):
        assert found.p0[i] == float(p_by_definition(columns, score, 0))
        assert found.p1[i] == float(p_by_definition(columns, score, 1))


def test_clusters_of_one_row_are_no_clusters():
    """If every row has an id of its own, p-values, thresholds and prices are the ordinary ones."""
    columns = patients(0) | {"clusters": np.arange(patients(0)["labels"].size)}
    plain = rk.calibrate(columns["scores"], columns["labels"], random_state=0)
    cal = rk.calibrate(**columns, random_state=0)
    new = np.linspace(-3, 5, 101)
    np.testing.assert_array_equal(cal.p_values(new).p1, plain.p_values(new).p1)
    assert cal.independent == plain
    for method in METHODS:
        for control in ("fnr", "fpr"):
            one, two = (c.control(control, 0.3, method=method) for c in (cal, plain))
            assert one.thresholds == two.thresholds
            assert one.other_error == two.other_error


@pytest.mark.thorough_rows
@pytest.mark.parametrize("tail", ["low", "high"])
@pytest.mark.parametrize("sizes", [range(1, 12), [*range(1, 60), 61 * 67, 71 * 73, 79 * 83]])
def test_the_threshold_decides_as_the_p_value_does(sizes, tail):
    """To the last bit at every alpha that is a p-value, also where fractions are too fine."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(len(sizes)), sizes).astype(np.uint64)
    scores = np.sort(rng.normal(size=clusters.size).round(2))
    side, control = ("positive", "fnr") if tail == "low" else ("negative", "fpr")
    cal = rk.calibrate(scores, one_class=side, clusters=rng.permutation(clusters))
    p = getattr(cal.p_values(scores), "p1" if tail == "low" else "p0")
    assert cal.independent.n(int(tail == "low")) == len(sizes)
    assert p.max() == 1.0
    ascending = p if tail == "low" else p[::-1]
    assert (np.diff(ascending) >= 0).all()
    for alpha in np.unique(p)[:-1][:200].tolist():
        for level in (np.nextafter(alpha, 0), alpha):
            limit = cal.control(control, level, method=rk.Conformal()).threshold
            beyond = scores < limit if tail == "low" else scores > limit
            np.testing.assert_array_equal(beyond, p <= level)


def test_decisions_agree_with_p_values_by_every_method():
    """A test on clusters decides as its p-values say, in every group."""
    groups = np.where(np.arange(patients(0)["labels"].size) % 2, "a", "b")
    columns = patients(0, groups=groups)
    new, where = np.linspace(-2, 4, 200), np.tile(["a", "b"], 100)
    for method in METHODS:
        test = rk.calibrate(**columns).control("fpr", 0.3, method=method)
        found = test.decide(new, where)
        np.testing.assert_array_equal(found.positive, found.p_values.p0 <= 0.3)


def test_other_methods_take_one_row_of_each_cluster():
    """Their n is the number of clusters that have rows of the class, in each group."""
    columns = patients(0)
    cal = rk.calibrate(**columns)
    for label in (0, 1):
        own = columns["clusters"][columns["labels"] == label]
        assert cal.independent.n(label) == np.unique(own).size
    test = cal.control("fnr", 0.1)
    assert test.threshold == cal.independent.control("fnr", 0.1).threshold
    (cell,) = test.certificate.cells
    assert cell.realised.n == cal.independent.n(1)
    assert cal.control("fnr", 0.1, method=rk.Conformal()).certificate.cells[0].realised is None


def test_the_draw_does_not_depend_on_the_order_of_rows():
    """Neither the order of rows nor the type of whole-number ids matters, and nothing is biased."""
    columns = patients(0)
    order = np.random.default_rng(1).permutation(columns["labels"].size)
    numbers = np.char.lstrip(columns["clusters"], "P")
    one = rk.calibrate(columns["scores"], columns["labels"], clusters=numbers, random_state=0)
    two = rk.calibrate(
        columns["scores"][order],
        columns["labels"][order],
        clusters=numbers.astype(float)[order],
        random_state=0,
    )
    assert one == two
    assert one.independent == two.independent
    assert one != calibrated()  # other ids
    first = 0
    for seed in range(300):
        scores, ids = [0.1, 0.2, 0.3, -9.0], ["a", "a", "a", "b"]
        cal = rk.calibrate(scores, [1, 1, 1, 0], clusters=ids, random_state=seed)
        first += cal.one_row_per_cluster().cells[1][0].tolist() == [0.1]
    assert 60 < first < 140


def test_one_row_per_cluster_is_an_ordinary_calibration():
    """One row of each cluster whatever its class, by the draw, and refused where idle."""
    columns = patients(0)
    cal, other = (rk.calibrate(**columns, random_state=seed) for seed in (0, 1))
    thinned = cal.one_row_per_cluster()
    assert thinned.clusters is None
    assert thinned.n(0) + thinned.n(1) == 60 < cal.independent.n(0) + cal.independent.n(1)
    assert thinned == cal.one_row_per_cluster() != other.one_row_per_cluster()
    assert thinned.control_alerts(0.3).calibration is thinned
    with pytest.raises(rk.InputError, match=r" needs .*\.one_row_per_cluster\(\)"):
        cal.control_alerts(0.3)
    with pytest.raises(rk.InputError, match="no clusters"):
        thinned.one_row_per_cluster()
    lonely = rk.calibrate([0.1, 0.2], [0, 1], clusters=["a", "a"])
    with pytest.raises(rk.InputError, match="None of the rows that were drawn"):
        lonely.one_row_per_cluster()


def test_the_same_id_is_the_same_cluster_everywhere():
    """Pooling and merging give what calibrating all rows together would."""
    groups = np.where(np.arange(patients(0)["labels"].size) % 3, 1, 2)
    columns = patients(0, groups=groups)
    whole = rk.calibrate(**columns)
    halves = [
        rk.calibrate(**{name: value[part] for name, value in columns.items()})
        for part in (slice(None, 90), slice(90, None))
    ]
    assert halves[0].merge(halves[1]) == whole == halves[1].merge(halves[0])
    columns.pop("groups")
    assert whole.pooled() == rk.calibrate(**columns)
    alone = rk.calibrate(**columns, random_state=0)
    assert replace(whole.pooled(), draw=alone.draw).independent == alone.independent
    with pytest.raises(rk.InputError, match="columns beside the scores"):
        rk.calibrate(**columns).merge(rk.calibrate(columns["scores"] + 1, columns["labels"]))


def test_ordinary_calibrations_stay_as_they_are():
    """The hash of data without clusters has not changed; that of clustered ones covers the ids."""
    plain = rk.calibrate([0.1, 0.4, 0.35, 0.8], ["no", "no", "yes", "yes"])
    assert plain.data_hash.startswith("95ab226457795acb")
    assert "clusters" not in plain.control("fnr", 0.6, method="conformal").certificate.to_dict()
    columns = patients(0)
    hashes = {
        rk.calibrate(**columns | {"clusters": ids}).data_hash
        for ids in (columns["clusters"], columns["clusters"][::-1], None)
    }
    assert len(hashes) == 3


def test_clusters_survive_pickling_and_files(tmp_path):
    """Calibrations and tests come back equal, with read-only arrays and the same thresholds."""
    groups = np.where(np.arange(patients(0)["labels"].size) % 2, "a", "b")
    for columns in (patients(0), patients(0, groups=groups)):
        columns["scores"] = columns["scores"].astype(np.float32)
        cal = rk.calibrate(**columns, random_state=0)  # by some draws a fit is contradicted
        made = [cal, cal.control_both(0.3, 0.3, method=rk.Conformal())]
        made += [cal.control("fnr", 0.3, method=method) for method in METHODS]
        for obj in made:
            rk.save(obj, tmp_path / "a.rk")
            for back in (rk.load(tmp_path / "a.rk"), pickle.loads(pickle.dumps(obj))):  # noqa: S301
                same = getattr(back, "calibration", back)
                assert same == cal
                assert not same.clusters[1][0].flags.writeable
                for one, two in zip(
                    getattr(back, "parts", ()), getattr(obj, "parts", ()), strict=True
                ):
                    assert one.thresholds == two.thresholds


def test_certificates_count_clusters():
    """The certificate says how many clusters, what the rate is of, and no interval if unknown."""
    cal = calibrated()
    test = cal.control("fnr", 0.1)
    text = " ".join(str(test.certificate).split())
    k = [cal.independent.n(label) for label in (0, 1)]
    assert f"of {k[0]} clusters" in text
    assert f"Over calibration sets of {k[1]} such clusters" in text
    assert "every cluster counts once" in text
    assert "count as one object" not in text  # that is for those who have no clusters
    assert "no interval is known" in text  # clusters have rows of both classes
    facts = test.certificate.to_dict()["clusters"]
    assert facts == {"negative": k[0], "positive": k[1], "spanning": True}
    assert f"of {k[1]} clusters" in repr(test)
    assert "60 clusters" in repr(cal)
    assert "60 clusters" in cal._repr_html_()
    apart = rk.calibrate(
        np.r_[np.zeros(40), np.ones(40)] + np.arange(80) / 100,
        np.repeat([0, 1], 40),
        clusters=np.arange(80) // 2,
    )
    certificate = apart.control("fnr", 0.2, method=rk.Conformal()).certificate
    assert certificate.other_error.n == 20
    assert "on one row per cluster." in str(certificate)
    assert "no interval" not in str(certificate)


def test_too_few_clusters_are_refused_in_clusters():
    """However many rows there are, it is clusters that a promise needs."""
    scores = np.r_[np.linspace(0, 1, 400), np.linspace(0.5, 2, 400)]
    cal = rk.calibrate(scores, np.repeat([0, 1], 400), clusters=np.arange(800) // 40)
    with pytest.raises(rk.TooFewScoresError, match=r"59 calibration clusters .*; got 10") as caught:
        cal.control("fnr", 0.05)
    assert (caught.value.available, caught.value.needed) == (10, 59)
    groups = np.tile(["a", "b"], 400)
    by_group = rk.calibrate(
        scores, np.repeat([0, 1], 400), groups=groups, clusters=np.arange(800) // 40
    )
    with pytest.raises(rk.TooFewScoresError, match="group 'a': 10"):
        by_group.control("fnr", 0.05, method=rk.Conformal(), thin_groups="refuse")
    with pytest.raises(rk.TooFewScoresError, match="got 10"):  # those of both groups are the same
        by_group.control("fnr", 0.05, method=rk.Conformal(), thin_groups="pool")


def test_repeated_rows_of_a_cluster_are_no_copies():
    """A remark on copies does not misfire on clusters, where rows may repeat to the last digit."""
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=100).repeat(5), np.tile([0, 1], 50).repeat(5)
    copied = rk.calibrate(scores, labels, duplicates="keep")
    assert any("exact repeats" in remark for remark in copied.remarks)
    cal = rk.calibrate(scores + 2 * labels, labels, clusters=np.arange(500) // 5)
    assert cal.remarks == ()


def test_evaluations_count_one_row_of_each_cluster():
    """One row of each cluster and class is counted; in a group, of each that has rows there."""
    test = calibrated().control("fnr", 0.1)
    new = patients(1, n=50, first=1000)
    found = test.evaluate(**new)
    for rate, label in ((found.target, 1), (found.other, 0)):
        assert rate.n == np.unique(new["clusters"][new["labels"] == label]).size
    site = np.where(np.arange(new["labels"].size) % 2, "a", "b")
    audit = test.evaluate(**new, groups=site)
    assert audit.target == found.target
    assert sum(one.target.n for one in audit.groups.values()) == found.target.n
    where = np.where(np.arange(patients(0)["labels"].size) % 2, "a", "b")
    by_site = rk.calibrate(**patients(0), groups=where).control("fnr", 0.1, method=rk.Conformal())
    own = by_site.evaluate(**new, groups=site)
    assert own.target.n == found.target.n
    for name, one in own.groups.items():
        here = (site == name) & (new["labels"] == 1)
        assert one.target.n == np.unique(new["clusters"][here]).size
    plain = rk.calibrate(patients(0)["scores"], patients(0)["labels"]).control("fnr", 0.1)
    assert plain.evaluate(**new).target.n == found.target.n  # clusters of new rows alone


def test_clusters_of_the_calibration_are_not_new():
    """Evaluations and decisions refuse them by name, and evaluations ask for clusters."""
    test = calibrated().control("fnr", 0.1)
    new = patients(1, n=50, first=1000)
    mixed = new | {"clusters": np.r_[new["clusters"][:-2], ["P3", "P4"]]}
    with pytest.raises(rk.InputError, match=r"cluster 'P[34]' and 1 more"):
        test.evaluate(**mixed)
    with pytest.raises(rk.InputError, match=r"cluster 'P[34]' and 1 more"):
        test.decide(mixed["scores"], clusters=mixed["clusters"])
    test.decide(new["scores"], clusters=new["clusters"])
    with pytest.raises(rk.InputError, match="Pass clusters"):
        test.evaluate(new["scores"], new["labels"])
    plain = rk.calibrate(new["scores"], new["labels"]).control("fnr", 0.1)
    with pytest.raises(rk.InputError, match="has no clusters"):
        plain.decide(new["scores"], clusters=new["clusters"])


@pytest.mark.parametrize(
    ("clusters", "match"),
    [
        (["a"], "clusters"),
        (["a", None, "b", "c"], "clusters"),
        ([1.5, 2, 3, 4], "whole numbers"),
        (["a", float("nan"), "b", "c"], "clusters"),
        (["a", "b", "c", "d" * 300], "256"),
    ],
)
def test_bad_ids_are_refused(clusters, match):
    """One id for each row, names or whole numbers, none missing."""
    with pytest.raises(rk.InputError, match=match):
        rk.calibrate([0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1], clusters=clusters)


def test_pictures_and_diagnostics(tmp_path):
    """Pictures refuse clusters; tables use them; the report shows one row of each and says so."""
    from ratekeeper.plots import ScoreDensityDisplay

    cal = calibrated()
    with pytest.raises(rk.InputError, match=r"A picture needs independent"):
        ScoreDensityDisplay.from_calibration(cal.control("fnr", 0.1))
    new = patients(1, first=1000)
    table = rate_against_alpha(cal, new["scores"], new["labels"], [0.001, 0.1], control="fnr")
    assert table.possible.tolist() == [False, True]
    for test in (
        cal.control("fnr", 0.1),
        cal.control("fpr", 0.1, method=rk.Conformal()),
        cal.control_both(0.1, 0.1),
    ):
        page = report.build(test, evaluation=test.evaluate(**new))
        assert f"{patients(0)['labels'].size} calibration rows come in clusters" in page


def test_the_controller_splits_by_cluster():
    """No cluster trains and calibrates; folds refuse; pure clusters keep the shares of classes."""
    rng = np.random.default_rng(0)
    ids, seen = np.repeat(np.arange(120), 4), {}

    class Model(LogisticRegression):
        def fit(self, X, y):
            seen["train"] = set(X[:, 1].tolist())
            return super().fit(X, y)

    for pure in (True, False):
        y = np.repeat(np.arange(120) % 2, 4) if pure else rng.integers(0, 2, 480)
        X = np.c_[y + rng.normal(size=480), ids]
        clf = rk.ErrorRateController(Model(), alpha=0.2, random_state=0).fit(X, y, clusters=ids)
        cal = clf.test_.calibration
        assert len(seen["train"]) == 60
        new = sorted(set(range(120)) - seen["train"])
        expected = rk.calibrate(
            np.r_[0.0, 1.0, np.zeros(len(new) - 2)], [0, 1] + [0] * (len(new) - 2), clusters=new
        )
        known = {i for cells in cal.clusters for part in cells for i in part.tolist()}
        assert known == {i for cells in expected.clusters for part in cells for i in part.tolist()}
        if pure:
            assert cal.independent.n(0) == cal.independent.n(1) == 30
        for strategy in ("cv+", "cross-fit"):
            folded = rk.ErrorRateController(LogisticRegression(), strategy=strategy)
            with pytest.raises(rk.InputError, match="no bound is known"):
                folded.fit(X, y, clusters=ids)


@pytest.mark.parametrize(
    "promise",
    [
        lambda cal: cal.control_precision(0.5),
        lambda cal: cal.control_npv(0.5),
        lambda cal: cal.control_selective(0.4),
        lambda cal: cal.control_alerts(0.3),
        lambda cal: cal.control_noisy("fnr", 0.2, rk.LabelNoise(wrong_positives=0.05)),
        lambda cal: cal.select([0.5, 2.5], fdr=0.2),
        lambda cal: cal.select([0.5, 2.5], budget=1),
        lambda cal: cal.cheapest(cost_fn=1, cost_fp=1),
        lambda cal: cal.control("fnr", 0.2).alerts("2%"),
    ],
)
def test_what_is_proven_for_rows_refuses_clusters(promise):
    """Promises whose proof counts rows as objects are refused, and the remedy is named."""
    with pytest.raises(rk.InputError, match=r"come in clusters.*one_row_per_cluster\(\)"):
        promise(rk.calibrate(**patients(0)))


def test_the_remedy_works_for_files_too(tmp_path):
    """One row of each cluster of a file can keep a share of alerts, and is saved with its test."""
    data = patients(0)
    columns = (data[name].tolist() for name in ("scores", "labels", "clusters"))
    lines = ["score,ill,who", *(",".join(map(str, row)) for row in zip(*columns, strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    cal = files.calibrate_file(tmp_path / "rows.csv", score="score", label="ill", cluster="who")
    thinned = cal.one_row_per_cluster()
    n = np.unique(data["clusters"]).size
    assert sum(thinned.provenance.skipped.values()) == data["scores"].size - n
    assert thinned.control_precision(0.2).calibration == thinned  # the mix was not chosen
    test = thinned.control_alerts(0.3)
    rk.save(test, tmp_path / "test.rk")
    assert rk.load(tmp_path / "test.rk").certificate.to_dict() == test.certificate.to_dict()


def test_a_share_of_all_objects_is_evaluated_on_one_row_in_all():
    """Alerts are counted on one row of each cluster, errors on one row of each class in it."""
    new = patients(1, first=1000)
    n = np.unique(new["clusters"]).size
    thinned = rk.calibrate(**patients(0)).one_row_per_cluster()
    found = thinned.control_alerts(0.3).evaluate(**new, by={"all": np.zeros(new["labels"].size)})
    assert found.target.n == n
    (row,) = found.by_group.rows
    assert row.n_positive + row.n_negative == n
    assert not found.by_group.mixed


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("both", [False, True])
def test_an_audit_counts_the_rows_of_the_evaluation(tmp_path, grouped, both):
    """Groups of an audit add up to everybody, in files as in arrays; mixed clusters are said."""
    old, new = patients(0), patients(1, first=1000)
    site = {
        len(data["labels"]): np.where(np.arange(len(data["labels"])) % 2, "a", "b")
        for data in (old, new)
    }
    groups = site[len(old["labels"])] if grouped else None
    cal = rk.calibrate(**old, groups=groups)
    own = {"method": rk.Conformal()}
    test = cal.control_both(0.3, 0.3, **own) if both else cal.control("fnr", 0.2, **own)
    by = site[len(new["labels"])]
    found = test.evaluate(**new, groups=by if grouped else None, by={"site": by})
    rate = found.fnr.target if both else found.target
    assert sum(row.n_positive for row in found.by_group.rows) == rate.n
    assert found.by_group.mixed
    assert "only a guide" in repr(found.by_group)
    columns = (new[name].tolist() for name in ("scores", "labels", "clusters"))
    rows = zip(*columns, by.tolist(), strict=True)
    text = "\n".join(["score,ill,who,site", *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "new.csv").write_text(text + "\n")
    names = {"score": "score", "label": "ill", "cluster": "who", "by": "site"}
    if grouped:
        names["group"] = "site"
    read = files.evaluate_file(test, tmp_path / "new.csv", **names)
    assert read.overall.to_dict() == found.to_dict()
    assert read.mixed


@pytest.mark.parametrize("known", ["negative", "positive", None])
@pytest.mark.parametrize("grouped", [False, True])
def test_clusters_of_one_class_or_without_labels_are_kept(tmp_path, known, grouped):
    """They are saved, merged and thinned, and one class can be controlled."""
    data, more = patients(0), patients(1, first=1000)
    made = []
    for part in (data, more):
        groups = np.arange(part["scores"].size) % 2 if grouped else None
        given = {"clusters": part["clusters"], "groups": groups, "one_class": known}
        made.append(rk.calibrate(part["scores"], **given))
    one, other = made
    rk.save(one, tmp_path / "one.rk")
    loaded = rk.load(tmp_path / "one.rk")
    assert loaded == one
    assert repr(loaded) == repr(one)
    merged = one.merge(other)
    n = np.unique(np.r_[data["clusters"], more["clusters"]]).size
    assert f"of {n:,} clusters" in repr(merged)
    thinned = merged.one_row_per_cluster()
    assert sum(scores.size for cells in thinned.cells for scores in cells) == n
    if known is None:
        assert thinned.control_alerts(0.2).calibration is thinned
        return
    control = "fpr" if known == "negative" else "fnr"
    certificate = merged.control(control, 0.2).certificate
    assert "unknown" in str(certificate)
    assert f"clusters and no {'positive' if known == 'negative' else 'negative'}" in " ".join(
        str(certificate).split()
    )


def test_ties_are_broken_on_one_row_of_each_cluster(tmp_path):
    """HighProbability(randomised=True) stands on one row of each cluster, also when loaded."""
    data = patients(0)
    cal = rk.calibrate(data["scores"].round(), data["labels"], clusters=data["clusters"])
    test = cal.control("fnr", 0.2, method=rk.HighProbability(randomised=True))
    (cell,) = test.certificate.cells
    assert cell.realised.n == np.unique(data["clusters"][data["labels"] == 1]).size
    same = cal.independent.control("fnr", 0.2, method=test.method)
    scores, keys = data["scores"].round(), np.arange(data["scores"].size)
    rk.save(test, tmp_path / "test.rk")
    for one in (same, rk.load(tmp_path / "test.rk")):
        assert (one.decide(scores, keys=keys).labels == test.decide(scores, keys=keys).labels).all()
    assert test.other_error == same.other_error
