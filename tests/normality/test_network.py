"""The forward pass of the networks, and the file that holds them."""

from __future__ import annotations

import math
from importlib.resources import files

import numpy as np
import pytest
from cases import each
from reproduction.training._order_statistics import SIZES
from reproduction.training._storage import save_tests

from ratekeeper.normality import ALTERNATIVES
from ratekeeper.normality._features import ODD, features
from ratekeeper.normality._model import WEIGHTS, NeuralTest, load_tests, neural_tests
from ratekeeper.normality._network import Network, Scaling, _prepared, compressed, size_inputs
from ratekeeper.normality._samples import standardise_sorted
from ratekeeper.normality._tables import NullTables

SHIPPED = files("ratekeeper.normality").joinpath("data", "neural.npz")
N_ODD = int(ODD.sum())
N_EVEN = ODD.size - N_ODD
TABLE_SIZES = np.array([5, 20, 100])
LEVELS = np.array([0.01, 0.1, 1.0])


def _random_network(seed, first=7, second=4):
    rng = np.random.default_rng(seed)

    def single(*shape):
        return rng.normal(size=shape).astype(np.float32)

    mean = single(3, ODD.size)
    mean[:, ODD] = 0.0
    return Network(
        even=single(N_EVEN + 2, first),
        odd=single(N_ODD, first),
        bias=single(first),
        second=single(first, second),
        second_bias=single(second),
        last=single(second),
        last_bias=np.float32(rng.normal()),
        scaling=Scaling(TABLE_SIZES, mean, np.exp(single(3, ODD.size))),
    )


def _random_tests():
    tests = {}
    scaling = _random_network(0).scaling
    for seed, name in enumerate(("heavy", "omnibus"), start=1):
        network = _random_network(seed)
        parts = {part: getattr(network, part) for part in WEIGHTS}
        scores = np.sort(np.random.default_rng(seed).normal(size=(2, 3, 3)), axis=2)
        scores = scores.astype(np.float32)
        scores[1, 2, 0] = -np.inf  # more than the draws can show
        tests[name] = NeuralTest(
            Network(**parts, scaling=scaling),
            NullTables(TABLE_SIZES, LEVELS, scores[0, :, ::-1], "high"),
            NullTables(TABLE_SIZES, LEVELS, scores[1], "low"),
        )
    return tests


def _slow_score(network, row, n):
    """Return the score of one row of features, in plain Python and double precision."""
    logs = np.log(network.scaling.sizes)

    def between(values):  # the polynomial through all sizes, which are few here
        return float(np.polyval(np.polyfit(logs, values, logs.size - 1), math.log(n)))

    inputs = []
    for j, value in enumerate(row.tolist()):
        centre = between(network.scaling.mean[:, j])
        scaled = (value - centre) / math.exp(between(np.log(network.scaling.sd[:, j])))
        inputs.append(math.asinh(scaled))
    even = [x for x, odd in zip(inputs, ODD, strict=True) if not odd]
    even += [(math.log(n) - 4) / 2, math.sqrt(10 / n) - 0.4]
    odd = [x for x, odd in zip(inputs, ODD, strict=True) if odd]
    hidden = []
    for k in range(network.bias.size):
        same = sum(x * float(w) for x, w in zip(even, network.even[:, k], strict=True))
        same += float(network.bias[k])
        flips = sum(x * float(w) for x, w in zip(odd, network.odd[:, k], strict=True))
        hidden.append(max(same + flips, 0) + max(same - flips, 0))
    score = float(network.last_bias)
    for k in range(network.second_bias.size):
        inner = sum(x * float(w) for x, w in zip(hidden, network.second[:, k], strict=True))
        score += float(network.last[k]) * max(inner + float(network.second_bias[k]), 0)
    return score


@pytest.mark.parametrize("n", [5, 12, 20, 55, 100])
def test_scores_are_those_of_the_slow_loop(n):
    """Two layers on the sample and its mirror image, at sizes of the scaling and between them."""
    network = _random_network(11)
    rows = 3 * np.random.default_rng(n).normal(size=(6, ODD.size))
    expected = [_slow_score(network, row, n) for row in rows]
    found = network.scores(rows, n)
    assert found.dtype == np.float64
    assert found.shape == (6,)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)
    assert network.scores(rows[:0], n).shape == (0,)


def test_the_mirror_image_has_the_same_score():
    """Weights are symmetric to the last bit, so signs of odd features change rounding only."""
    network = _random_network(12)
    centre, _, first, bias, second, *_ = _prepared(network, 33)
    assert not centre[0, ODD].any()
    straight, mirrored = np.hsplit(first, 2)
    np.testing.assert_array_equal(straight, np.where(ODD[:, None], -mirrored, mirrored))
    np.testing.assert_array_equal(*np.hsplit(bias, 2))
    np.testing.assert_array_equal(*np.split(second, 2))
    rows = np.random.default_rng(12).normal(size=(50, ODD.size))
    straight, mirrored = (network.scores(x, 33) for x in (rows, np.where(ODD, -rows, rows)))
    # The sums are of float32, in an order that the machine's BLAS picks: a few dozen roundings.
    np.testing.assert_allclose(straight, mirrored, rtol=2e-5)
    other = rows.copy()
    other[:, np.flatnonzero(ODD)[0]] *= -1
    assert (np.abs(network.scores(other, 33) - straight) > 1e-3).any()


@each("alternative", ALTERNATIVES)
@each("n", [5, 8, 30, 50])
def test_shipped_networks_do_not_care_about_the_sign(alternative, n):
    """Of x and of -x the shipped networks think the same, up to rounding."""
    network = neural_tests()[alternative].network
    z = standardise_sorted(np.random.default_rng(n).exponential(size=(50, n)))
    straight, reversed_ = (network.scores(features(x), n) for x in (z, -z[:, ::-1]))
    np.testing.assert_allclose(straight, reversed_, rtol=1e-5, atol=2e-5)


def test_features_are_drawn_in():
    """Features far from their mean count by their logarithm; those near it as they are."""
    centre, factor = np.array([1.0, 0.0, 0.0]), np.array([2.0, 1.0, 1.0])
    found = compressed(np.array([[1.0005, -1e6, 0.0]]), centre, factor)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [[0.001, -math.log(2e6), 0]], rtol=2e-3)
    assert np.isfinite(compressed(np.array([[1e30, -1e30, 5.0]]), centre, factor)).all()


def test_the_size_is_told_in_moderate_numbers():
    """What the network hears of the size stays within 3 for all sizes, and rises or falls."""
    told = np.array([size_inputs(n) for n in SIZES])
    assert np.abs(told).max() < 3
    assert (np.diff(told[:, 0]) > 0).all()
    assert (np.diff(told[:, 1]) < 0).all()


def test_scaling_is_interpolated():
    """Means are interpolated in log n and standard deviations likewise by their logarithms."""
    sizes, mean = np.array([10, 1000]), np.array([[1.0, 4.0], [3.0, 0.0]])
    scaling = Scaling(sizes, mean, np.array([[1.0, 0.5], [4.0, 0.5]]))
    for n, expected in (
        (10, ([1, 4], [1, 2])),
        (100, ([2, 2], [0.5, 2])),
        (1000, ([3, 0], [0.25, 2])),
    ):
        for found, value in zip(scaling.at(n), expected, strict=True):
            np.testing.assert_allclose(found, value, rtol=1e-12)


def _same(one, two):
    """Raise unless two sets of tests are equal bit for bit."""
    assert sorted(one) == sorted(two)
    for name, first in one.items():
        second = two[name]
        pairs = [(getattr(first.network, part), getattr(second.network, part)) for part in WEIGHTS]
        pairs += [
            (getattr(first.network.scaling, part), getattr(second.network.scaling, part))
            for part in ("sizes", "mean", "sd")
        ]
        for ours, theirs in ((first.normal, second.normal), (first.other, second.other)):
            assert ours.tail == theirs.tail
            pairs += [(getattr(ours, k), getattr(theirs, k)) for k in ("sizes", "levels", "scores")]
        for a, b in pairs:
            assert np.asarray(a).dtype == np.asarray(b).dtype
            assert np.asarray(a).shape == np.asarray(b).shape
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_files_keep_every_bit(tmp_path):
    """What is written is read again, as plain arrays, and gives the same scores and p-values."""
    path = tmp_path / "tests.npz"
    tests = _random_tests()
    save_tests(path, tests)
    again = load_tests(path)
    _same(tests, again)
    with np.load(path, allow_pickle=False) as arrays:
        assert all(arrays[key].dtype.kind in "fi" for key in arrays)
    assert [entry.name for entry in tmp_path.iterdir()] == ["tests.npz"]
    rows = np.random.default_rng(0).normal(size=(5, ODD.size))
    for name, test in tests.items():
        scores = test.network.scores(rows, 40)
        np.testing.assert_array_equal(again[name].network.scores(rows, 40), scores)
        p = test.normal.null(40).p_values(scores)
        np.testing.assert_array_equal(again[name].normal.null(40).p_values(scores), p)


def test_files_are_the_same_for_the_same_tests(tmp_path):
    """Writing twice, or what was read, gives the same bytes: files can be compared."""
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    save_tests(first, _random_tests())
    save_tests(second, dict(sorted(load_tests(first).items())))
    assert first.read_bytes() == second.read_bytes()


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    """A write that fails half-way changes nothing; the next one succeeds."""
    path = tmp_path / "tests.npz"
    tests = _random_tests()
    save_tests(path, tests)
    before = path.read_bytes()

    def full_disk(stream, **arrays):
        stream.write(b"half of a file")
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", full_disk)
        patch.setattr(np, "savez", full_disk)
        with pytest.raises(OSError, match="No space left"):
            save_tests(path, {"heavy": tests["heavy"]})
    assert path.read_bytes() == before
    save_tests(path, {"heavy": tests["heavy"]})
    assert list(load_tests(path)) == ["heavy"]


def test_the_shipped_file_is_whole():
    """It loads without pickle and holds a network and two tables for every alternative."""
    with SHIPPED.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        assert all(arrays[key].dtype.kind in "fi" for key in arrays)
    tests = neural_tests()
    assert sorted(tests) == sorted(ALTERNATIVES)
    for test in tests.values():
        assert (test.normal.tail, test.other.tail) == ("high", "low")
        assert all(np.isfinite(getattr(test.network, part)).all() for part in WEIGHTS)
        assert (test.network.scaling.sd > 0).all()
        assert (test.network.scaling.mean[:, ODD] == 0).all()
        shape = (len(test.normal.sizes), len(test.normal.levels))
        assert test.normal.scores.shape == test.other.scores.shape == shape
        assert np.isfinite(test.normal.scores).all()
        # Most extreme first; the two ends are opposite.
        assert (test.normal.scores[:, :-1] >= test.normal.scores[:, 1:]).all()
        assert (test.other.scores[:, :-1] <= test.other.scores[:, 1:]).all()


def test_the_shipped_tables_are_for_the_promised_sizes_and_levels():
    """Every promised size has a row, and every level that people use a column."""
    usual = {0.001, 0.0025, 0.005, 0.01, 0.02, 0.025, 0.05, 0.1, 0.2, 0.25, 0.5}
    for test in neural_tests().values():
        assert test.normal.sizes.tolist() == list(SIZES)
        assert usual <= set(test.normal.levels.tolist())
        assert test.normal.levels[0] == 1 / 250_000
