"""Tensors of torch are read like arrays, without torch being a dependency."""

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper.diagnostics import reversed_score
from ratekeeper.exceptions import ScoreTypeWarning

torch = pytest.importorskip("torch")

# Sixty-fourths are exact in every floating-point type from half precision up.
VALUES = np.arange(80) / 64
IS_POSITIVE = np.arange(80) >= 40


def tensor(dtype=torch.float64, **options):
    return torch.tensor(VALUES, dtype=dtype, **options)


SCORES = {
    "float64": (tensor, np.float64),
    "float32": (lambda: tensor(torch.float32), np.float32),
    "float16": (lambda: tensor(torch.float16), np.float32),
    "bfloat16": (lambda: tensor(torch.bfloat16), np.float32),
    "requires grad": (lambda: tensor(torch.float32, requires_grad=True), np.float32),
    "bfloat16 that requires grad": (
        lambda: tensor(torch.bfloat16, requires_grad=True),
        np.float32,
    ),
    "result of a computation": (lambda: tensor(requires_grad=True) * 1.0, np.float64),
    "parameter": (lambda: torch.nn.Parameter(tensor(torch.float32)), np.float32),
    "strided": (lambda: torch.stack([tensor(), -tensor()], dim=1)[:, 0], np.float64),
    "transposed": (lambda: tensor().reshape(8, 10).T.T.reshape(-1), np.float64),
    "expanded": (lambda: tensor()[:, None].expand(-1, 3)[:, 1], np.float64),
    "negated view": (lambda: torch.complex(tensor(), -tensor()).conj().imag, np.float64),
}


@pytest.mark.parametrize(("make", "dtype"), SCORES.values(), ids=SCORES)
def test_tensors_of_scores_are_read_like_arrays(make, dtype):
    """Type, gradients and memory layout change nothing."""
    expected = rk.calibrate(VALUES.astype(dtype), IS_POSITIVE)
    calibration = rk.calibrate(make(), IS_POSITIVE)
    assert calibration == expected
    assert calibration.dtype == dtype
    assert np.array_equal(calibration.p_values(make()).p1, expected.p_values(VALUES.tolist()).p1)
    test = calibration.control("fnr", alpha=0.1, method=rk.Conformal())
    decided = (
        expected.control("fnr", alpha=0.1, method=rk.Conformal())
        .decide(VALUES.astype(dtype))
        .labels
    )
    assert np.array_equal(test.decide(make()).labels, decided)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_whole_numbers_and_booleans_are_scores(dtype):
    """They are read as float64."""
    scores = torch.arange(80).to(dtype)
    calibration = rk.calibrate(scores, IS_POSITIVE)
    values = scores.numpy().astype(np.float64)
    assert calibration.dtype == np.float64
    for (cell,), mine in zip(calibration.cells, (~IS_POSITIVE, IS_POSITIVE), strict=True):
        assert np.array_equal(cell, np.sort(values[mine]))


@pytest.mark.parametrize(
    ("dtype", "classes"),
    [
        (torch.int64, [0, 1]),
        (torch.int8, [0, 1]),
        (torch.bool, [False, True]),
        (torch.float32, [0.0, 1.0]),
        (torch.bfloat16, [0.0, 1.0]),
    ],
)
def test_tensors_of_labels_are_read_like_arrays(dtype, classes):
    """Decisions come back in the values of the labels."""
    labels = torch.tensor(IS_POSITIVE).to(dtype)
    calibration = rk.calibrate(tensor(), labels)
    assert calibration.classes.tolist() == classes
    assert (
        calibration.control("fnr", alpha=0.1, method=rk.Conformal())
        .decide(tensor()[[0, 79]])
        .labels.tolist()
        == classes
    )
    test = calibration.control("fnr", alpha=0.1, method=rk.Conformal())
    others = VALUES + 1 / 128  # which did not calibrate
    assert test.evaluate(others, labels).tally == test.evaluate(others, IS_POSITIVE).tally


def test_tensors_of_groups_are_read_like_arrays():
    """Group numbers may come from the model's data loader."""
    codes = torch.arange(80) % 3
    calibration = rk.calibrate(VALUES, IS_POSITIVE, groups=codes)
    assert calibration.groups.tolist() == [0, 1, 2]
    for label, cells in enumerate(calibration.cells):
        for code, cell in enumerate(cells):
            mine = (np.arange(80) % 3 == code) & (label == IS_POSITIVE)
            assert cell.tolist() == VALUES[mine].tolist()


def test_a_list_of_tensors_is_a_list_of_numbers():
    """Scores collected one by one in a loop are read."""
    scores = list(tensor())
    assert rk.calibrate(scores, IS_POSITIVE) == rk.calibrate(VALUES, IS_POSITIVE)


@pytest.mark.parametrize(
    ("of_calibration", "of_scores", "named"),
    [
        (torch.float32, torch.float64, "The scores are float64, the calibration is float32"),
        (torch.float64, torch.float32, "The scores are float32, the calibration is float64"),
        (torch.float64, torch.bfloat16, "the calibration is float64"),
    ],
)
def test_tensors_of_another_precision_get_a_warning(of_calibration, of_scores, named):
    """A model calibrated in one precision and run in another is a common slip."""
    calibration = rk.calibrate(tensor(of_calibration), IS_POSITIVE)
    with pytest.warns(ScoreTypeWarning, match=named):
        calibration.p_values(tensor(of_scores))


def test_changing_the_tensor_afterwards_changes_nothing():
    """Neither the calibration nor decisions hold on to the tensor's memory."""
    scores = tensor()
    calibration = rk.calibrate(scores, IS_POSITIVE)
    decisions = calibration.control("fnr", alpha=0.1, method=rk.Conformal()).decide(scores)
    expected = calibration.p_values(VALUES)
    scores.zero_()
    assert np.array_equal(decisions.p_values.p1, expected.p1)
    assert calibration == rk.calibrate(VALUES, IS_POSITIVE)


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        pytest.param(lambda: torch.ones(4, 1), ["(4, 1)", ".ravel()"], id="a column vector"),
        pytest.param(lambda: torch.ones(4, 2), ["(4, 2)", "scores[:, 1]"], id="two columns"),
        pytest.param(lambda: torch.tensor(0.5), ["single value", "0.5"], id="a scalar"),
        pytest.param(lambda: torch.ones(4, dtype=torch.complex64), ["complex64"], id="complex"),
        pytest.param(torch.ones(4).to_sparse, ["cannot be read", "Pass a list"], id="sparse"),
        pytest.param(lambda: torch.ones(4, device="meta"), ["cannot be read"], id="meta"),
        pytest.param(
            lambda: list(torch.ones(4, requires_grad=True)),
            ["cannot be read", "detach"],
            id="list of tensors with gradients",
        ),
    ],
)
def test_other_tensors_are_refused(make, fragments):
    """What is not one real score per object is refused in ratekeeper's own words."""
    with pytest.raises(rk.InputError) as refusal:
        rk.calibrate(make(), [0, 1, 0, 1])
    for fragment in fragments:
        assert fragment in str(refusal.value)


def test_nan_in_a_tensor_is_refused():
    """A model that diverged is caught, with the position."""
    scores = tensor(torch.bfloat16)
    scores[3] = torch.nan
    with pytest.raises(rk.InputError, match="1 NaN value, at position 3"):
        rk.calibrate(scores, IS_POSITIVE)


def test_a_tensor_of_one_class_is_refused():
    """The refusal prints the plain value of the label."""
    with pytest.raises(rk.InputError, match="all 80 are 1"):
        reversed_score(VALUES, torch.ones(80, dtype=torch.int64))
