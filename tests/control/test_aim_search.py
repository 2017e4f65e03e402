"""How the thresholds of an aim are searched: what guides the search, and what it finds."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.control._aims import AIMS, FNRDespiteNoise, FPRDespiteNoise
from ratekeeper.control._aims._sequence import GUIDES, guides_of, oriented

MAKERS = {
    "precision": lambda cal: cal.control_precision(0.8),
    "npv": lambda cal: cal.control_npv(0.97),
    "selective": lambda cal: cal.control_selective(0.05),
}


@pytest.mark.parametrize("name", MAKERS)
def test_objects_that_guide_the_search_do_not_certify(name):
    """The errors that certify a threshold are those of all objects but the guides."""
    rng = np.random.default_rng(0)
    labels = rng.random(3000) < 0.2
    cal = rk.calibrate(rng.normal(2 * labels), labels)
    test = MAKERS[name](cal)
    (chosen,) = test.chosen
    everybody = oriented(cal.cells[0][0], cal.cells[1][0], higher=True)
    guides = guides_of(everybody, cal.draw.numbers(everybody.n, GUIDES, 0))

    def counted(objects):
        errors = n = 0
        for label, scores in enumerate(objects):
            found = test.decide(scores)
            called = found.positive if name == "precision" else ~found.positive
            decided = ~found.abstained if name == "selective" else called
            n += int(decided.sum())
            errors += int((decided & (found.positive != bool(label))).sum())
        return np.array([errors, n])

    rest = counted(everybody) - counted(guides)
    assert guides.n == 300
    assert [chosen.certified.errors, chosen.certified.n] == rest.tolist()


def test_every_aim_has_a_name_and_says_its_promise():
    """Each aim states kind, promise, condition and what is not covered."""
    for name, kind in AIMS.items():
        aim = kind(0.1, 0.05)
        assert aim.name == name
        for text in (aim.guarantee.promise, aim.guarantee.condition, aim.guarantee.not_covered):
            assert text
            assert "{" not in text


def test_directions_and_classes_are_alike():
    """Reversed scores, and exchanged classes, give the mirrored threshold."""
    rng = np.random.default_rng(0)
    negative, positive = np.sort(rng.normal(size=300)), np.sort(rng.normal(2.5, size=400))
    given = (0.05, 0.05, 0.02, 0.03, 0.01)
    one = FNRDespiteNoise(*given).choose(negative, positive, higher=True).limits
    reverse = FNRDespiteNoise(*given).choose(-negative[::-1], -positive[::-1], higher=False).limits
    swapped = FPRDespiteNoise(*given).choose(-positive[::-1], -negative[::-1], higher=True).limits
    lower = FPRDespiteNoise(*given).choose(positive, negative, higher=False).limits
    assert one.positive == -reverse.positive == -swapped.positive == lower.positive
    assert (one.strict, reverse.strict, swapped.strict, lower.strict) == (False, False, True, True)


def test_the_search_in_runs_finds_the_first_failure():
    """Looking at runs of places first gives what looking at each would."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        n = int(rng.integers(40, 400))
        negative, positive = np.sort(rng.normal(size=n)), np.sort(rng.normal(1, 1, n).round(1))
        aim = FNRDespiteNoise(float(rng.uniform(0.05, 0.4)), 0.05, 0.05, 0.1, 0.01)
        places = np.unique(positive)
        counts = [np.searchsorted(one, places, side="right") for one in (positive, negative)]
        bound = aim.bounds(np.r_[0, counts[0]], n, np.r_[0, counts[1]], n)
        first = int((bound > aim.level).argmax())
        found = aim.choose(negative, positive, higher=True)
        assert (found is None) == (first == 0)
        assert first == 0 or found.limits.positive == places[first - 1]


def test_the_other_class_may_be_missing():
    """Without the other class nothing is taken back, and the level is only scaled."""
    positive = np.arange(1000.0)
    found = FNRDespiteNoise(0.05, 0.05, 0.2, 0.2).choose(np.empty(0), positive, higher=True)
    scaled = rk.HighProbability(0.05 * 0.95).against(positive, "low").threshold(0.05 * 0.8)
    assert found.limits.positive == scaled
    assert FNRDespiteNoise(0.05, 0.05, 0.0, 0.2).choose(positive, np.empty(0), higher=True) is None


def test_aims_are_plain_numbers():
    """Files name an aim and its numbers, and make an equal one from them."""
    aim = FNRDespiteNoise(0.05, 0.05, 0.02, 0.03, 0.01, 0.01)
    assert AIMS[aim.name](**asdict(aim)) == aim
    assert all(isinstance(value, float) for value in asdict(aim).values())
    with pytest.raises(rk.InputError, match="least before the most"):
        FNRDespiteNoise(0.05, 0.05, 0.3, 0.2)
