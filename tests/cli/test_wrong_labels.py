"""The options --wrong-positives and --wrong-negatives of control and calibrate."""

from __future__ import annotations

import json

import pytest

import ratekeeper as rk


@pytest.mark.parametrize(
    ("options", "noise"),
    [
        (["--wrong-positives", "2%"], rk.LabelNoise(wrong_positives=0.02)),
        (
            ["--wrong-positives", "1%-0.04", "--wrong-negatives", "1%-1%"],
            rk.LabelNoise(wrong_positives=(0.01, 0.04), wrong_negatives=(0.01, 0.01)),
        ),
        (["--wrong-positives", "9/200"], rk.LabelNoise.from_audit(positives=(9, 200))),
    ],
)
def test_control_takes_wrong_labels_into_account(run, calibration, tmp_path, options, noise):
    """The file holds the test that the library makes, and says what is assumed about labels."""
    out = tmp_path / "test.rk"
    result = run("control", calibration, "--fnr", "5%", *options, "-o", out)
    assert result.exit_code == 0, result.stderr
    expected = rk.load(calibration).control_noisy("fnr", 0.05, noise)
    assert result.stdout == f"{expected.certificate}\n"
    assert rk.load(out).threshold == expected.threshold
    facts = json.loads(run("inspect", out, "--json").stdout)
    assert "truly are negative" in facts["certificate"]["guarantee"]["condition"]


REFUSED = {
    "no rate": (["--wrong-positives", "2%"], "for a test of one rate"),
    "both rates": (["--fnr", "5%", "--fpr", "5%", "--wrong-positives", "2%"], "make two tests"),
    "another method": (
        ["--fnr", "5%", "--wrong-positives", "2%", "--method", "conformal"],
        "--method belongs to",
    ),
    "no share": (["--fnr", "5%", "--wrong-positives", "some"], "does not say how many"),
    "too much": (["--fnr", "5%", "--wrong-positives", "1%-2%-3%"], "does not say how many"),
    "reversed": (["--fnr", "5%", "--wrong-positives", "3%-2%"], "does not say how many"),
    "both ways": (
        ["--fnr", "5%", "--wrong-positives", "2%", "--wrong-negatives", "1/50"],
        "in the same way",
    ),
    "the other class": (["--fnr", "5%", "--wrong-negatives", "2%"], "--wrong-positives must be"),
    "more wrong than checked": (
        ["--fnr", "5%", "--wrong-positives", "9/2"],
        "--wrong-positives': '9/2' does not say",
    ),
    "none checked": (["--fpr", "5%", "--wrong-negatives", "0/0"], "--wrong-negatives': '0/0' does"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused(run, calibration, tmp_path, case):
    """Nothing is written, and the message names the option."""
    options, words = REFUSED[case]
    out = tmp_path / "test.rk"
    result = run("control", calibration, *options, "-o", out)
    assert result.exit_code == 2, result.stdout
    assert words in " ".join(result.stderr.split())
    assert not out.exists()


def test_calibrate_takes_them_too_and_not_without_a_rate(run, people, tmp_path):
    """With a rate calibrate makes the test at once; without one the options are refused."""
    columns = ["--score", "risk", "--label", "ill"]
    out = tmp_path / "test.rk"
    given = ["calibrate", people, *columns, "--wrong-positives", "1%-2%", "-o", out]
    assert "--wrong-positives says how a rate is kept" in run(*given).stderr
    assert run(*given, "--fnr", "5%").exit_code == 0
    assert rk.load(out).aim.wrong_to == 0.02


def test_out_of_reach_has_a_code_of_its_own(run, people, tmp_path):
    """With too few labels it says what could be, and ends with the code for the impossible."""
    few = tmp_path / "few.csv"
    few.write_text("\n".join(people.read_text().splitlines()[:60]) + "\n")
    columns = ["--score", "risk", "--label", "ill"]
    result = run(
        "calibrate",
        few,
        *columns,
        "--fnr",
        "1%",
        "--wrong-positives",
        "2%",
        "-o",
        tmp_path / "a.rk",
    )
    assert result.exit_code == 3
    assert "lowest FNR that could be" in result.stderr
