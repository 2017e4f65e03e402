"""The list of systems, when one of them counts as changed, and the bar while they run."""

from __future__ import annotations

import importlib
import io
import sys
import textwrap
import time
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import ratekeeper as rk
from ratekeeper import baselines
from ratekeeper._system._progress import silence, track
from ratekeeper.comparison import SYSTEMS, USUAL, _compare, _fingerprint as module
from ratekeeper.comparison._fingerprint import _module, fingerprint
from ratekeeper.comparison._systems import Setting, choose

FEW = ["conformal", "high-probability", "both-rates", "paper-plain", "umbrella", "plain"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [300, 260])
    return rng.normal(size=(560, 2)) + 1.2 * y[:, None], np.array(["no", "yes"])[y]


def run(data, **options):
    X, y = data
    known = {"control": "fnr", "alpha": 0.1, "repeats": 3, "n_jobs": 1, "systems": FEW}
    return rk.compare(X, y, **known | options)


def counts(result):
    """Return everything but the times."""
    return [replace(trial, fit_seconds=0, judge_seconds=0) for trial in result.trials]


# Names


def test_every_name_builds():
    """Every listed system is made with the control, level and classifier that were asked for."""
    setting = Setting("fpr", 0.07, 0.2, LogisticRegression(), "no")
    for entry in choose("all"):
        system = entry.build(setting)
        params = system.get_params(deep=False)
        if entry.name != "plain":
            assert params["alpha"] == 0.07
            assert params["positive_label"] == "no"
            assert params.get("control", "fpr") == "fpr"
            assert params.get("delta", 0.2) == 0.2
            assert system.guarantee.kind
    assert set(SYSTEMS.values()) == {
        "ratekeeper",
        "cost-sensitive",
        "Neyman-Pearson",
        "cross-validated",
        "typicality",
        "test as proxy",
        "modern",
    }


def test_every_rival_is_listed():
    """Each system of `baselines` is in the list under some name."""
    setting = Setting("fnr", 0.05, 0.05, LogisticRegression(), None)
    built = set()
    for entry in choose("all"):
        system = entry.build(setting)
        built |= {type(system).__name__, type(getattr(system, "estimator", None)).__name__}
    rivals = {name for name in baselines.__all__ if isinstance(getattr(baselines, name), type)}
    systems = {name for name in rivals if issubclass(getattr(baselines, name), BaseEstimator)}
    assert systems <= built


def test_families_all_usual_and_exclude():
    """Words stand for several systems, and some may be left out again."""
    assert [entry.name for entry in choose(None)] == [n for n in SYSTEMS if n in USUAL]
    assert 9 <= len(USUAL) <= 12
    assert [entry.name for entry in choose("all")] == list(SYSTEMS)
    few = [entry.name for entry in choose(["modern", "conformal"], exclude=["plain"])]
    assert few == [n for n, f in SYSTEMS.items() if f == "modern" and n != "plain"] + ["conformal"]
    named = choose({"mine": GaussianNB(), "others": "typicality"}, exclude="typicality-chi2")
    assert [entry.name for entry in named][:2] == ["mine", "typicality-pooled"]
    with pytest.raises(rk.InputError, match="Did you mean 'conformal'"):
        choose(["conformall"])
    with pytest.raises(rk.InputError, match="exclude has 'x', which is not"):
        choose(None, exclude="x")
    with pytest.raises(rk.InputError, match="exclude leaves none"):
        choose("plain", exclude=["plain"])


def test_both_forms_of_refitting_are_compared(data):
    """P-values by refitting come in the quick form and in the one that replaces each row."""
    X, y = data
    few = np.r_[:12, -12:0]
    names = ["cv-refit", "cv-refit-replaced"]
    result = run((X[few], y[few]), systems=names, repeats=1, alpha=0.3)
    assert [row.system for row in result.rows] == names
    forms = [entry.build(Setting("fnr", 0.3, 0.05, None, "yes")).form for entry in choose(names)]
    assert forms == ["augmented", "replaced"]


# What is run again


def count_runs(monkeypatch):
    ran, real = [], _compare.run_trial
    monkeypatch.setattr(_compare, "run_trial", lambda *task: ran.append(task[1]) or real(*task))
    return ran


@pytest.mark.thorough
def test_resumes(data, tmp_path, monkeypatch):
    """Finished trials are not run again, a torn last line is, and more repeats add to it."""
    path = tmp_path / "trials.jsonl"
    whole = run(data, checkpoint=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:8]) + lines[8][:20])
    ran = count_runs(monkeypatch)
    assert counts(run(data, checkpoint=path)) == counts(whole)
    assert len(ran) == len(lines) - 8
    ran.clear()
    more = run(data, checkpoint=path, repeats=4)
    assert len(ran) == len(FEW)
    assert counts(more) == counts(run(data, repeats=4))
    ran.clear()
    run(data, checkpoint=path, delta=0.2, repeats=1)  # only what delta changes is run again
    assert sorted(ran) == ["high-probability", "umbrella"]


def one(y_true, y_pred):
    return 1


def test_a_changed_system_is_run_again(data, tmp_path, monkeypatch):
    """Parameters, code and metrics are part of what a trial is of; comments are not."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    place = tmp_path / "home_made.py"
    text = textwrap.dedent("""
        from home_kit import CUT
        class Own:
            def fit(self, X, y):
                self.cut = CUT
            def predict(self, X):
                return ["yes" if x > self.cut else "no" for x in X[:, 0]]
    """)
    (tmp_path / "home_kit.py").write_text("CUT = 0\n")
    ran = count_runs(monkeypatch)

    def again(source, kit="CUT = 0\n", **options):
        place.write_text(source)
        (tmp_path / "home_kit.py").write_text(kit)
        for name in ("home_kit", "home_made"):
            sys.modules.pop(name, None)
        home_made = importlib.import_module("home_made")
        _module.cache_clear()
        ran.clear()
        systems = {"own": home_made.Own(), "plain": "plain"}
        result = run(data, systems=systems, checkpoint=tmp_path / "trials.jsonl", **options)
        return sorted(set(ran)), result.rows[0].target

    place.write_text(text)
    first, rate = again(text)
    assert first == ["own", "plain"]
    assert again(text) == ([], rate)
    assert again("# a word\n" + text.replace("class Own:", 'class Own:\n    """Mine."""')) == (
        [],
        rate,
    )
    changed, other = again(text.replace(">", "<"))
    assert changed == ["own"]
    assert other != rate
    assert again(text, "CUT = 0.5\n")[0] == ["own"]
    assert again(text, metrics={"one": one})[0] == ["own", "plain"]
    assert again(text) == ([], rate)


def test_code_of_a_rival_counts(monkeypatch):
    """Of a system of ours, the modules of its classes and what they import are its code."""
    before = fingerprint(baselines.Umbrella())
    other = fingerprint(baselines.LearnThenTest())
    real = module._module  # noqa: SLF001
    for name, changes in (
        ("ratekeeper.baselines._neyman_pearson.umbrella", (True, False)),
        ("ratekeeper.baselines._splitting", (True, True)),
        ("ratekeeper._wording._formatting", (False, False)),
    ):

        def changed(asked, name=name):
            code, imports = real(asked)
            return (code + "!" * (asked == name), imports)

        with monkeypatch.context() as patch:
            patch.setattr(module, "_module", changed)
            found = fingerprint(baselines.Umbrella()), fingerprint(baselines.LearnThenTest())
        assert (found[0] != before, found[1] != other) == changes


# The bar


def test_bars_of_systems_are_silenced():
    """A bar appears while the first item is awaited, but none within another's work."""

    def wait(seconds):
        end = time.monotonic() + seconds
        while "waiting" not in console.file.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
        yield 1

    for inside, expected in ((silence, False), (nullcontext, True)):
        console = Console(file=io.StringIO(), force_terminal=True, width=80)
        with pytest.MonkeyPatch.context() as patch, inside():
            patch.setattr("ratekeeper._system._progress._PATIENCE", 0.01)
            assert list(track(wait(60 if expected else 0.2), "waiting", console=console)) == [1]
        assert ("waiting" in console.file.getvalue()) == expected
    piped = Console(file=io.StringIO())
    assert list(track([1, 2], "waiting", console=piped)) == [1, 2]
    assert not piped.file.getvalue()
