"""What the shift test says, refuses and stores."""

import json

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.datasets import load_employment
from ratekeeper.exceptions import InputError


@pytest.fixture(scope="module")
def people():
    return load_employment()


@pytest.fixture(scope="module")
def census(people):
    old = people.in_year(2015)
    return rk.calibrate(old.score, old.employed, random_state=0)


def two_normals(n=1000, groups=None, seed=0, **more):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], n)
    return rk.calibrate(rng.normal(2 * labels), labels, groups=groups, random_state=0, **more)


@pytest.mark.thorough
def test_the_census_years(people, census):
    """2016 is a mixture of the classes of 2015; by 2018 it is no more."""
    found = {year: rk.shift_test(census, people.in_year(year).score) for year in range(2016, 2019)}
    assert not found[2016].shifted
    assert found[2018].shifted
    assert found[2018].p < found[2017].p < found[2016].p


@pytest.mark.thorough
def test_people_of_the_same_year_at_other_prevalences(people):
    """Half of the people of 2015 look like the other half, however common the employed are."""
    rng = np.random.default_rng(0)
    old = people.in_year(2015)
    first = rng.random(len(old)) < 0.5
    cal, rest = rk.calibrate(old.score[first], old.employed[first]), old[~first]
    for share in (0.01, 0.2, 0.5, 0.9, 0.99):
        keep = np.where(rest.employed, share, 1 - share) > rng.random(len(rest))
        found = rk.shift_test(cal, rest.score[keep])
        truth = rest.employed[keep].mean()
        assert found.p > 0.05
        assert found.interval[0] <= truth <= found.interval[1]
        assert found.prevalence == pytest.approx(truth, abs=0.03)


def test_scores_in_percent(people, census):
    """Twenty scores in percent are enough to see that they are of another unit."""
    found = rk.shift_test(census, 100 * people.in_year(2016).score[:20])
    assert found.p < 1e-4
    assert "means nothing" in str(found)


def test_a_known_prevalence_sharpens_the_question():
    """At a known prevalence another one is a shift; within known limits it is none."""
    cal, new = two_normals(), np.random.default_rng(1).normal(np.repeat([0, 2], [900, 100]))
    assert rk.shift_test(cal, new).p == 1.0
    assert rk.shift_test(cal, new, prevalence="50%").shifted
    assert not rk.shift_test(cal, new, prevalence=(0.05, 0.2)).shifted
    assert not rk.shift_test(cal, new, prevalence=(None, 0.2)).shifted
    assert rk.shift_test(cal, new, prevalence=(0.4, None)).shifted
    assert "from 40% to 100%" in str(rk.shift_test(cal, new, prevalence=(0.4, None)))


def test_what_it_cannot_see():
    """Labels that changed their meaning leave all scores as they are, and the text says so."""
    cal = two_normals()
    rng = np.random.default_rng(2)
    labels = np.repeat([0, 1], 500)
    new = rng.normal(2 * labels)
    swapped = 1 - labels
    found = rk.shift_test(cal, new)
    assert not found.shifted
    assert cal.control("fnr", 0.05).evaluate(new, swapped).target.rate > 0.5
    assert "changed their class but kept their score" in " ".join(str(found).split())
    assert "Nor is it evidence that FNR or FPR are kept" in " ".join(str(found).split())


def test_a_large_p_value_does_not_read_as_an_all_clear():
    """Half a standard deviation goes unseen with p near 1: no line may sound like "fine"."""
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], 500)
    cal = rk.calibrate(rng.normal(2 * labels), labels, random_state=4)
    found = rk.shift_test(cal, rng.normal(2 * labels) + 0.5)
    assert found.p > 0.5  # a shift that the test cannot tell from another prevalence
    assert found.verdict == "not shown"
    for text in (repr(found), " ".join(str(found).split()), found._repr_html_()):
        assert "possible" not in text.split("Cannot see")[0]
        assert "does not mean that there is none" in text
    assert "However large p is, that is not evidence that nothing has changed" in " ".join(
        str(found).split()
    )


@pytest.mark.thorough
def test_groups_are_tested_one_by_one():
    """One group that moved is found, by name, with p-values for all of them."""
    names = np.tile(["a", "b", "c", "d"], 1000)
    cal = two_normals(2000, groups=names)
    rng = np.random.default_rng(3)
    new, where = rng.normal(2 * (np.arange(4000) % 8 < 3)), np.tile(["a", "b", "c", "d"], 1000)
    fine = rk.shift_test(cal, new, where)
    assert not fine.shifted
    moved = rk.shift_test(cal, new + 3.0 * (where == "c"), where)
    assert [name for name, one in moved.groups.items() if one.shifted] == ["c"]
    assert moved.p == min(one.p for one in moved.groups.values())
    assert moved.prevalence is None
    assert "group 'c'" in repr(moved)
    assert "in group 'c'" in moved.warning()


def test_a_group_without_one_class_is_no_evidence():
    """Where a class was never seen in a group, every score may be of it."""
    labels = np.repeat([0, 1], 50)
    groups = np.where(np.arange(100) < 20, "a", "b")
    cal = rk.calibrate(np.linspace(0, 1, 100), labels, groups=groups)
    found = rk.shift_test(cal, np.full(50, 9.0), np.repeat("a", 50))
    assert found.p == 1.0
    assert found.groups["b"].n == 0


@pytest.mark.parametrize(
    ("cal", "reason"),
    [
        (lambda: rk.calibrate(np.arange(50.0), one_class="negative"), "no positives"),
        (lambda: rk.calibrate(np.arange(50.0)), "no labels"),
        (lambda: two_normals(20, clusters=np.arange(40) // 2), "clusters"),
        (lambda: 5, "Calibration or a test"),
    ],
)
def test_calibrations_that_cannot_tell(cal, reason):
    """One class, no labels or clusters are refused with the reason."""
    with pytest.raises(InputError, match=reason):
        rk.shift_test(cal(), [0.5])


def test_bad_input():
    """NaN, a wrong level and limits in the wrong order are refused."""
    cal = two_normals(50)
    with pytest.raises(InputError, match="NaN"):
        rk.shift_test(cal, [0.1, float("nan")])
    with pytest.raises(InputError, match="alpha"):
        rk.shift_test(cal, [0.1], alpha=5)
    for wrong in ((0.5, 0.1), (0.1, 0.2, 0.3), (0.1,), 7):
        with pytest.raises(InputError, match="prevalence"):
            rk.shift_test(cal, [0.1], prevalence=wrong)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_scores_prove_nothing(n):
    """With next to no new scores, or calibration scores, the p-value is large and nothing fails."""
    assert rk.shift_test(two_normals(), [0.3] * n).p > 0.5
    tiny = rk.calibrate([0.1, 0.9], [0, 1])
    found = rk.shift_test(tiny, [0.3] * n)
    assert found.p == 1.0
    assert found.interval == (0.0, 1.0)


def test_infinite_and_single_precision_scores():
    """Infinities are ordinary scores, and float32 calibrations meet float32 scores."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 500)
    scores = rng.normal(2 * labels).astype(np.float32)
    scores[::50] = np.inf
    new = rng.normal(2 * labels).astype(np.float32)
    new[::50] = np.inf
    cal = rk.calibrate(scores, labels)
    assert not rk.shift_test(cal, new).shifted
    assert rk.shift_test(cal, np.full(100, -np.inf, np.float32)).shifted


@pytest.mark.thorough
def test_tests_have_their_calibration(census, people):
    """A test is as good as its calibration, and both give the same result every time."""
    scores = people.in_year(2017).score[:3000]
    assert rk.shift_test(census.control("fnr", 0.05), scores) == rk.shift_test(census, scores)


@pytest.mark.thorough
def test_counts_add_up_and_come_back():
    """Counts of parts in any order are those of the whole, through JSON too, for this data only."""
    names = np.tile(["a", "b"], 500)
    cal = two_normals(500, groups=names)
    rng = np.random.default_rng(4)
    new, where = rng.normal(1.5, 2, 1000), rng.choice(["a", "b"], 1000)
    counts = rk.monitoring.ShiftCounts(cal)
    for part in np.array_split(rng.permutation(1000), 7):
        counts.add(new[part], where[part])
        counts = rk.monitoring.ShiftCounts.restore(json.loads(json.dumps(counts.state())), cal)
    assert counts.n == 1000
    assert counts.result() == rk.shift_test(cal, new, where)
    with pytest.raises(InputError, match="another calibration"):
        rk.monitoring.ShiftCounts.restore(counts.state(), two_normals(500, groups=names, seed=9))


def test_facts_and_pictures():
    """The result is plain for JSON, a card for notebooks, and short in a terminal."""
    found = rk.shift_test(two_normals(), np.linspace(-9, 9, 500))
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["shifted"] is True
    assert facts["gap"]["observed"] != facts["gap"]["fitted"]
    assert "Labels are not looked at" in facts["cannot_see"]
    assert "<table" in found._repr_html_()
    assert max(map(len, repr(found).splitlines())) < 80
    assert max(map(len, str(found).splitlines())) < 80


@pytest.mark.thorough
def test_a_saving_of_time_changes_no_verdict():
    """Beyond `enough` a p-value may be too small, never below it; below, it is exact."""
    cal = two_normals()
    rng = np.random.default_rng(6)
    for scale in (1.0, 1.1, 1.3):
        counts = rk.monitoring.ShiftCounts(cal)
        counts.add(scale * rng.normal(np.repeat([0, 2], [700, 300])))
        exact, quick = counts.result().p, counts.result(enough=0.01).p
        assert quick == exact or (quick >= 0.01 and quick <= exact)
