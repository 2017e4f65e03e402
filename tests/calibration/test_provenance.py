from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from cases import each

import ratekeeper as rk

SOME = rk.calibration.Provenance(
    rows=1_000,
    skipped={"score is NaN": 2, "label is missing": 3},
    score="risk",
    label="ill",
    group="site",
    sampled_from=(600, 395),
)


def test_there_and_back():
    """What is written as JSON is read back the same."""
    for one in (SOME, rk.calibration.Provenance(0), rk.calibration.Provenance(5, score="a")):
        assert rk.calibration.Provenance.from_dict(json.loads(json.dumps(one.to_dict()))) == one


def test_what_people_read():
    """Rows, skipped rows by reason, and the sample are said in one sentence."""
    assert str(SOME) == (
        "1,000 rows read, 5 of them skipped (score is NaN: 2; label is missing: 3), a random "
        "sample kept of 600 negatives and 395 positives"
    )
    assert str(rk.calibration.Provenance(7)) == "7 rows read"
    assert SOME.n_skipped == 5


@each(
    ("key", "value"),
    [
        ("rows", -1),
        ("rows", 1.0),
        ("rows", True),
        ("rows", "1"),
        ("skipped", {"score is NaN": -1}),
        ("skipped", {"score is NaN": 0.5}),
        ("score", 1),
        ("label", ["ill"]),
        ("group", 0),
        ("sampled_from", [1]),
        ("sampled_from", [1, 2, 3]),
        ("sampled_from", [1, -2]),
        ("sampled_from", []),
    ],
)
def test_other_facts_are_refused(key, value):
    """Facts of another kind are no provenance."""
    with pytest.raises(ValueError, match="not the provenance"):
        rk.calibration.Provenance.from_dict({**SOME.to_dict(), key: value})


def test_merging():
    """Counts add up, and names stay where both agree."""
    some, other = (
        replace(SOME, sampled_from=None),
        rk.calibration.Provenance(10, {"score is NaN": 1}, "risk", "sick"),
    )
    both = some.merge(other)
    assert both.to_dict() == {
        "rows": 1_010,
        "skipped": {"score is NaN": 3, "label is missing": 3},
        "score": "risk",
        "label": None,
        "group": None,
        "sampled_from": None,
    }
    assert other.merge(some).to_dict()["skipped"] == both.to_dict()["skipped"]
    assert some.merge(rk.calibration.Provenance(1)).score is None


def test_a_merged_calibration_knows_its_rows(tmp_path):
    """Scores from arrays count as rows of which none was skipped."""
    from ratekeeper.files import calibrate_file

    (tmp_path / "a.csv").write_text("risk,ill\n0.1,0\n0.9,1\n,1\n")
    one = calibrate_file(tmp_path / "a.csv", score="risk", label="ill", on_invalid="skip")
    two = rk.calibrate(np.linspace(0, 1, 10), np.repeat([0, 1], 5))
    for merged in (one.merge(two), two.merge(one)):
        assert merged.provenance.rows == 13
        assert merged.provenance.skipped == {"score is missing": 1}
    three = rk.calibrate([0.3, 0.7], [0, 1])
    assert two.merge(three).provenance is None
    assert one.pooled().provenance == one.provenance


def test_a_sample_without_a_column_of_labels_has_no_classes():
    """Rows without labels are counted among the negatives, which is not to be said of them."""
    unlabelled = rk.calibration.Provenance(20_000, score="risk", sampled_from=(20_000, 0))
    assert str(unlabelled) == "20,000 rows read, a random sample kept of 20,000"
    labelled = rk.calibration.Provenance(
        20_000, score="risk", label="ill", sampled_from=(19_000, 1_000)
    )
    assert str(labelled).endswith("of 19,000 negatives and 1,000 positives")
