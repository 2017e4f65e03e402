"""--sensitivity and --specificity wherever --fnr and --fpr are taken, and in settings."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ratekeeper as rk


def test_control_by_either_name_writes_the_same_file(run, calibration, tmp_path):
    """To the last byte, of one rate and of both."""
    for one, two in [
        (["--sensitivity", "95%"], ["--fnr", "0.05"]),
        (["--specificity", "0.95"], ["--fpr", "5%"]),
        (["--sensitivity", "0.9", "--specificity", "90%"], ["--fnr", "10%", "--fpr", "0.1"]),
    ]:
        files = [tmp_path / "one.rk", tmp_path / "two.rk"]
        for words, path in zip((one, two), files, strict=True):
            done = run("control", calibration, *words, "-o", path)
            assert (done.exit_code, done.stderr.count("Warning")) == (0, 0)
        assert files[0].read_bytes() == files[1].read_bytes()
        assert "sensitivity >=" in done.stdout or "specificity >=" in done.stdout


def test_calibrate_plan_and_cheapest_take_them(run, calibration, people, tmp_path):
    """Each gives what the error rate gives."""
    shown = {}
    for name, words in (("one", ["--sensitivity", "95%"]), ("two", ["--fnr", "5%"])):
        out = tmp_path / f"{name}.rk"
        made = run(
            "calibrate", people, "--score", "risk", "--label", "ill", *words, "-o", out, "--json"
        )
        plan = run("plan", *words)
        costs = ["--cost-fn", "10", "--cost-fp", "1", "-o", tmp_path / "cheap.rk", "--json"]
        cheap = run("cheapest", calibration, *words, *costs)
        assert [one.exit_code for one in (made, plan, cheap)] == [0, 0, 0]
        facts = json.loads(made.stdout)
        del facts["output"]
        shown[name] = facts, plan.stdout, cheap.stdout
    assert shown["one"] == shown["two"]


def test_compare_takes_them(run, tmp_path):
    """In place of --control and --alpha."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    table = tmp_path / "table.csv"
    rows = zip(rng.normal(y).tolist(), y, strict=True)
    table.write_text("x,y\n" + "".join(f"{x!r},{c}\n" for x, c in rows))
    options = ["--label", "y", "--systems", "plain", "--repeats", "2", "--jobs", "1", "--json"]
    one = run("compare", table, *options, "--sensitivity", "80%")
    two = run("compare", table, *options, "--control", "fnr", "--alpha", "0.2")
    assert one.exit_code == two.exit_code == 0, one.output
    for done in (one, two):
        facts = json.loads(done.stdout)
        assert (facts["control"], facts["alpha"]) == ("fnr", 0.2)
    for words in ([], ["--control", "fnr"], ["--alpha", "5%", "--specificity", "95%"]):
        assert run("compare", table, *options, *words).exit_code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fnr", "5%", "--sensitivity", "95%"], "two levels of one rate"),
        (["--sensitivity", "95"], "not a rate strictly between 0 and 1"),
        (["--sensitivity", "90%", "--precision", "90%"], "are two promises"),
    ],
)
def test_control_refuses(run, calibration, tmp_path, words, said):
    """Code 2, with the options as they were written, and no file."""
    done = run("control", calibration, *words, "-o", tmp_path / "test.rk")
    assert done.exit_code == 2
    assert said in done.stderr
    assert not (tmp_path / "test.rk").exists()


def test_plans_of_worse_rates_take_error_rates(run):
    """Since --worse 90% beside a sensitivity could be a sensitivity of 90%, or of 10%."""
    for more in (["--worse", "10%", "--groups", "2"], ["--becomes", "10%"]):
        done = run("plan", "--sensitivity", "95%", *more)
        assert done.exit_code == 2
        assert "Pass --fnr 0.05 in place of --sensitivity 0.95" in done.stderr
        assert run("plan", "--fnr", "5%", *more).exit_code == 0


def test_settings_and_environment(run, calibration, tmp_path):
    """A file of settings has them; a flag wins over it, whichever name it has."""
    config = tmp_path / "settings.toml"
    config.write_text('[control]\nsensitivity = "90%"\n[plan]\nspecificity = 0.99\n')
    out = tmp_path / "test.rk"

    def alpha(*words, env=None):
        done = run("control", calibration, "--config", config, *words, "-o", out, env=env)
        assert done.exit_code == 0, done.stderr
        return rk.load(out).alpha

    assert alpha() == 0.1
    assert alpha("--sensitivity", "80%") == 0.2
    assert alpha("--fnr", "25%") == 0.25
    assert alpha(env={"RATEKEEPER_CONTROL_FNR": "0.15"}) == 0.15
    assert alpha("--sensitivity", "80%", env={"RATEKEEPER_CONTROL_FNR": "0.15"}) == 0.2
    assert "FPR <= 1%" in run("plan", "--config", config).stdout


def test_a_level_the_other_way_round_is_a_warning(run, calibration, tmp_path):
    """On standard error, with the option that was meant."""
    for words in (["--fnr", "95%"], ["--sensitivity", "5%"]):
        done = run("control", calibration, *words, "-o", tmp_path / "test.rk")
        assert done.exit_code == 0
        assert "Warning: FNR <= 95% lets the test miss up to 95%" in done.stderr
        assert "write --sensitivity 0.95." in done.stderr
    assert "write --specificity 0.95." in run("plan", "--fpr", "95%").stderr


@pytest.fixture
def coarse(tmp_path):
    """Write 0/1 predictions with their labels, to calibrate and to evaluate."""
    for name, seed in (("held-out", 0), ("new", 1)):
        rng = np.random.default_rng(seed)
        y = np.arange(1000) % 2
        s = (rng.random(1000) < np.where(y, 0.8, 0.2)).astype(int)
        lines = [f"{one},{two}" for one, two in zip(s, y, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["s,y", *lines]) + "\n")
    return tmp_path


def test_a_test_that_calls_everything_positive(run, coarse):
    """A warning when it is made, by both commands, and never a bare "kept"."""
    columns, out = ["--score", "s", "--label", "y"], coarse / "test.rk"
    direct = run("calibrate", coarse / "held-out.csv", *columns, "--fnr", "5%", "-o", out)
    run("calibrate", coarse / "held-out.csv", *columns, "-o", coarse / "cal.rk")
    made = run("control", coarse / "cal.rk", "--fnr", "5%", "-o", out)
    for done in (direct, made):
        assert done.exit_code == 0
        assert "Warning: This test calls every calibration object positive" in done.stderr
        assert "This test calls every calibration object positive" in " ".join(done.stdout.split())
    shown = run("evaluate", out, coarse / "new.csv", *columns)
    assert shown.exit_code == 0
    assert "kept, all called positive" in shown.stdout
    assert "the test told nothing apart" in " ".join(shown.stdout.split())
    facts = json.loads(run("evaluate", out, coarse / "new.csv", *columns, "--json").stdout)
    assert (facts["overall"]["verdict"], facts["overall"]["all_called"]) == ("kept", "positive")
    page = coarse / "report.html"
    told = ["--evaluate", coarse / "new.csv", "-o", page]
    assert run("report", out, *told).exit_code == 0
    assert "kept, all called positive" in page.read_text()


def test_scores_of_another_scale_are_no_success(run, tmp_path):
    """Logits, or percents, in the place of probabilities: code 4, whatever was asked for."""
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2
    logits = rng.normal(3.0 * y - 1.5)
    p = 1 / (1 + np.exp(-logits))
    cal = rk.calibrate(p[:1000], y[:1000])
    test = tmp_path / "test.rk"
    rk.save(cal.control("fnr", 0.05), test)
    columns = ["--score", "s", "--label", "y"]

    def evaluated(scores, *more):
        path = tmp_path / "new.csv"
        rows = zip(scores.tolist(), y[1000:], strict=True)
        path.write_text("s,y\n" + "".join(f"{s!r},{c}\n" for s, c in rows))
        return run("evaluate", test, path, *columns, *more)

    assert evaluated(p[1000:]).exit_code == 0
    for other in (logits[1000:], 100 * p[1000:], -logits[1000:] - 10, p[1000:] / 100):
        for more in ([], ["--json"], ["--check"], ["--require", "kept"]):
            done = evaluated(other, *more)
            assert done.exit_code == 4
            assert "scores lie outside the range of the calibration scores" in done.stderr
            assert "nothing was checked" in done.stderr
    lost = evaluated(-np.abs(logits[1000:]) - 10, "--json")
    assert json.loads(lost.stdout)["overall"]["target"]["rate"] == 1.0
    assert lost.exit_code == 4
