"""The comparison as text, CSV, Markdown and picture."""

from __future__ import annotations

import csv
import io
import json
import pickle
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

import ratekeeper as rk

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


def test_outputs(data, tmp_path):
    """CSV reads back, Markdown has a row a system, the picture is XML, the text fits a screen."""
    result = run(data, alpha=0.02)
    result.save(tmp_path / "out")
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"comparison.csv", "trials.csv", "comparison.md", "comparison.svg"} | {
        "comparison.tex"
    }
    rows = list(csv.DictReader(io.StringIO(result.csv())))
    assert [row["system"] for row in rows] == FEW
    assert rows[1]["target"] == ""
    frame = pd.DataFrame(result.to_dict())
    assert frame.loc[0, "target"] == pytest.approx(float(rows[0]["target"]))
    assert result.markdown().count("\n| ") == len(FEW) + 2
    picture = ET.fromstring(result.picture())  # noqa: S314 - our own
    assert len(picture.findall(".//{*}g")) == sum(row.repeats > 0 for row in result.rows)
    assert "http" not in result.picture().replace("http://www.w3.org/2000/svg", "")
    assert max(map(len, repr(result).splitlines())) <= max(result.width, 100) < 115
    assert "\u2026" not in repr(result)  # nothing is cut off
    assert "refused: needs 149" in repr(result)
    run(data, checkpoint=tmp_path / "journal")
    first, *_ = (tmp_path / "journal").read_text().splitlines()
    assert json.loads(first)["control"] == "fnr"


def test_odd_names_and_narrow_screens(data):
    """Names with marks of Markdown, rich or HTML are shown as they are, and no line is too long."""
    names = {
        "a|b": DummyClassifier(strategy="constant", constant="yes"),
        "[red]<i>": DummyClassifier(strategy="constant", constant="maybe"),
        "n" * 60: DummyClassifier(strategy="constant", constant="yes"),
    }
    result = run(data, systems=names)
    assert result.markdown().count("\n| ") == len(names) + 2
    assert "a\\|b" in result.markdown()
    assert "<i>" not in result.markdown() + result.picture()
    assert "[red]<i>: refused" in repr(result)
    for width in (80, 120):
        console = Console(file=io.StringIO(), width=width, record=True)
        result.show(console)
        text = console.export_text()
        assert max(map(len, text.splitlines())) <= width
        assert text.count("0.0 (0.0-1.6)") == 2  # columns are not squeezed by a long name
        assert ("seconds to learn" in " ".join(text.split())) == (width == 120)


def test_result_is_pickled_and_names_its_positive_class(data):
    """A result survives pickling, and says which label is positive."""
    result = run(data, systems=["plain"], positive_label="no")
    again = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
    assert again == result
    assert again.picture() == result.picture()
    assert "300 positive: 'no'" in result.title


def test_picture_holds_everything(data):
    """Marks and intervals lie within the frame, for small and large levels, also with no result."""
    for alpha in (0.001, 0.5):
        result = run(data, alpha=alpha, control="fpr", systems=["conformal", "plain"])
        for mark in ET.fromstring(result.picture()).findall(".//{*}circle"):  # noqa: S314 - ours
            assert 64 <= float(mark.get("cx")) <= 1010
            assert 92 <= float(mark.get("cy")) <= 92 + 420
    assert "circle" not in run(data, alpha=0.001, systems=["conformal"]).picture()


def test_picture_tells_promises_and_abstentions_apart(data):
    """A square stands for a promise that assumes something, a hollow mark for one that abstains."""
    result = run(data, systems=["conformal", "both-rates", "typicality-pooled"])
    picture = ET.fromstring(result.picture())  # noqa: S314 - ours
    marks = {group[0].text.split(":")[0]: group[1] for group in picture.findall("{*}g")}
    filled, hollow, square = (marks[row.system] for row in result.rows)
    assert [mark.tag.split("}")[1] for mark in marks.values()] == ["circle", "circle", "rect"]
    assert filled.get("fill") == filled.get("stroke") == hollow.get("stroke")
    assert hollow.get("fill") == "#fff"
    assert square.get("fill") not in (filled.get("fill"), "#fff")
    words = [text.text for text in picture.findall("{*}text")]
    undecided = f"both-rates, {100 * result.rows[1].abstained:.0f}% undecided"
    assert undecided in words
    assert "hollow: abstains, which counts as no error" in words
    assert "square: promises under an assumption" in words
    assert "undecided %: share of all objects" in result.markdown()


def test_marks_stay_on_their_side_of_alpha(data):
    """A badge is below the line of alpha if the mean error is, however many crowd there."""
    systems = {f"same {i}": "conformal" for i in range(12)} | {"plain": "plain"}
    systems |= {f"just {i}": "paper-plain" for i in range(12)}
    result = run(data, systems=systems, repeats=1, estimator=GaussianNB())
    picture = ET.fromstring(result.picture())  # noqa: S314 - ours
    line = next(p for p in picture.findall("{*}path") if p.get("stroke") == "#c0392b")
    level = float(line.get("d").split(",")[1].split("H")[0])
    places = {group[0].text.split(":")[0]: group[1] for group in picture.findall("{*}g")}
    assert {row.target <= 0.1 for row in result.rows} == {True, False}
    for row in result.rows:
        y = float(places[row.system].get("cy"))
        assert (y - 8.5 >= level) if row.target <= 0.1 else (y + 8.5 <= level)


def test_refusals_are_listed(data):
    """The picture names who refused, and why; the Markdown and the text do, too."""
    result = run(data, alpha=0.02, systems=["conformal", "high-probability", "plain"])
    words = [t.text for t in ET.fromstring(result.picture()).findall("{*}text")]  # noqa: S314
    assert "Refused:" in words
    assert "high-probability: needs 149, has 91" in words
    assert not any("conformal:" in text for text in words)
    assert "Refused:" not in run(data, systems=["plain"]).picture()


def test_assumptions_are_starred(data):
    """A promise that needs more than rows of one population has a star; the CSV says why."""
    result = run(data, systems=["conformal", "conformal-cross-fit", "typicality-pooled", "plain"])
    sound, folds, normal, plain = result.rows
    assert (sound.assumption, plain.assumption, folds.assumption) == ("", "", "")
    assert normal.assumption == "normal classes"
    assert folds.promise == "none"
    lines = {line.split("|")[1].strip(): line for line in result.markdown().splitlines()[4:8]}
    assert "| marginal |" in lines["conformal"]
    assert "| marginal* |" in lines["typicality-pooled"]
    assert "| none |" in lines["plain"]
    assert "*: a promise only if an assumption" in repr(result)
