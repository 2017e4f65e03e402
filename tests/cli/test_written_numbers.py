"""Numbers as people read them: levels, shares, counts of decisions."""

import json
import re

import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper._wording._formatting import exact_percent, percent


def calibration(n=1000):
    labels = np.repeat([0, 1], n)
    return rk.calibrate(np.random.default_rng(0).normal(3.0 * labels), labels)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_a_level_of_any_number_type_is_the_one_that_is_printed(kind):
    """float32(0.05) is a little above 5%: the test promises what its certificate says."""
    alpha = kind("0.05")
    test = calibration().control("fnr", alpha, method=rk.HighProbability(alpha))
    exact = calibration().control("fnr", 0.05, method=rk.HighProbability(0.05))
    assert test.alpha == test.method.delta == 0.05
    assert type(test.alpha) is float
    assert test.certificate.headline == "CERTIFICATE  FNR <= 5% (sensitivity >= 95%)"
    assert str(test.certificate) == str(exact.certificate)
    assert test.threshold == exact.threshold
    assert json.loads(json.dumps(test.certificate.to_dict()))["alpha"] == 0.05
    assert rk.plan("fnr", alpha, delta=alpha).alpha == 0.05
    assert rk.Monitor(test, delta=alpha).delta == 0.05
    assert rk.methods.Kernel(bandwidth=kind("0.1")).bandwidth == 0.1
    assert calibration().control("fnr", 0.05, tolerance=kind("0.1")).tolerance == 0.1


@pytest.mark.parametrize("wrong", [np.float32("nan"), np.float32("inf"), np.float32(0), "0.05"])
def test_other_number_types_do_not_pass_the_checks(wrong):
    """What is no rate is refused as before."""
    with pytest.raises(rk.InputError, match="strictly between 0 and 1"):
        calibration().control("fnr", wrong)


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], ["no", "yes"], [False, True]])
def test_decisions_do_not_read_as_two_numbers_in_a_row(labels):
    """Not "0 1, 2,000 0": the classes are named, with the labels in brackets."""
    scores = np.random.default_rng(0).normal(3.0 * np.repeat([0, 1], 500))
    test = rk.calibrate(scores, np.repeat(labels, 500)).control("fnr", 0.05)
    first = repr(test.decide(np.full(2000, -3.0))).splitlines()[0]
    negative, positive = (repr(one) for one in labels)
    assert (
        first == f"Decisions on 2,000 objects: 0 positive ({positive}), 2,000 negative ({negative})"
    )
    both = rk.calibrate(scores, np.repeat(labels, 500)).control_both(0.01, 0.01)
    first = repr(both.decide([-3.0, 1.5, 6.0])).splitlines()[0]
    assert first.endswith(f"1 negative ({negative}), 1 abstained, 0 neither")


def test_shares_in_percent_have_no_exponent():
    """Nor noughts without end; both ends of the scale stay readable."""
    for exponent in range(-320, 1):
        rate = float(f"3.456e{exponent}") if exponent < 0 else 1.0
        for text in (percent(rate), exact_percent(rate) if exponent > -30 else "0%"):
            assert re.fullmatch(r"<?\d+(\.\d+)?%", text), (rate, text)
    assert percent(6.6e-7) == "0.000066%"
    assert percent(1e-8) == "0.000001%"
    assert percent(9.9e-9) == "<0.000001%"
    assert exact_percent(1e-7) == "0.00001%"


@pytest.mark.parametrize(
    ("errors", "n", "interval"),
    [(3, 200_000, "0.0015% (0.00031% to 0.0044%)"), (1, 100_000, "0.001% (0.000025% to 0.0056%)")],
)
def test_an_evaluation_of_many_objects_has_no_exponent(run, tmp_path, errors, n, interval):
    """In Python, and in the table of the command."""
    test = calibration().control("fpr", 0.05)
    scores = np.repeat([-1.0, 4.0, 4.0], [n - errors, errors, 1])
    labels = np.repeat([0, 0, 1], [n - errors, errors, 1])
    assert f"FPR {interval}" in str(test.evaluate(scores, labels))
    rk.save(test, tmp_path / "test.rk")
    path = tmp_path / "new.csv"
    np.savetxt(path, np.c_[scores, labels], "%g", ",", header="score,label", comments="")
    done = run("evaluate", tmp_path / "test.rk", path, "--score", "score", "--label", "label")
    assert done.exit_code == 0, done.stderr
    between = interval.partition(" ")[2]
    assert between.strip("()") in done.stdout
    assert not re.search(r"\de-\d+%", done.stdout)
