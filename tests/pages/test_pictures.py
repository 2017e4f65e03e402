"""Pictures of the pages: all are shown, all are small, and scripts draw what is stored."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
GUIDES = ROOT / "docs" / "guides"
STORED = sorted(path for path in FOLDER.iterdir() if path.suffix in {".svg", ".png"})
SCRIPTS = ("limit_pictures", "data_pictures", "time_pictures")
SHOWN = re.compile(r"!\[[^\]]+\]\((?:[\w./-]+/)?pictures/([\w.-]+)\)")
# Guides that answer in tables and commands.
WITHOUT = {
    "command-line",
    "comparing",
    "credit",
    "estimator",
    "frames",
    "mlflow",
    "models",
    "pipelines",
    "scale",
    "strangers",
}


@pytest.fixture
def script(monkeypatch):
    """Let tests import the scripts that draw, which import what they share."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


def read(path):
    return path.read_text(encoding="utf-8")


def test_every_picture_is_shown_with_words():
    """On a page, in a notebook, in README or ARCHITECTURE; and every picture there is stored."""
    docs = ROOT / "docs"
    beside = [ROOT / "README.md", ROOT / "ARCHITECTURE.md"]
    pages = [*beside, *docs.rglob("*.md"), *docs.rglob("*.ipynb")]
    shown = {name for page in pages for name in SHOWN.findall(read(page))}
    assert shown == {path.name for path in STORED}


def test_every_guide_by_question_has_a_picture():
    """Whoever writes a guide without one, or draws one for these, has to change the list."""
    index = read(GUIDES / "index.md")
    assert index.startswith("# Guides by question\n")
    guides = set(re.findall(r"^- \[.+\]\(([\w-]+)\.md\)", index, re.MULTILINE))
    assert guides == {path.stem for path in GUIDES.glob("*.md")} - {"index"}
    assert {name for name in guides if not SHOWN.search(read(GUIDES / f"{name}.md"))} == WITHOUT


def test_a_row_of_the_table_of_score_orders_is_counted(script):
    """By the script that the guide names, here with so few sets that its shares say little."""
    row = script("score_order").row("reversed", runs=20)
    counted = "3.5%, above 5% in 10.0% | 100.0% | 2.9%, above 5% in 0.0% | 46.1%"
    assert row == f"| reversed | {counted} |"


def test_drawn_pictures_are_small_and_have_no_date():
    """A page opens fast, and drawing again changes nothing."""
    drawn = [path for path in STORED if path.suffix == ".svg"]
    assert len(drawn) > 30
    for path in drawn:
        assert path.stat().st_size < 100_000, path.name
        assert "<dc:date>" not in read(path), path.name


def test_every_picture_of_a_script_is_stored(script):
    """Under its name, which only one script has."""
    names = [name for one in SCRIPTS for name in script(one).PICTURES]
    assert len(names) == len(set(names))
    assert {f"{name}.svg" for name in names} <= {path.name for path in STORED}
    assert {*script("limit_pictures").SIZES} <= {*names}


@pytest.mark.parametrize(
    ("name", "picture"),
    [
        ("limit_pictures", "tumours"),
        ("data_pictures", "warehouses"),
        ("time_pictures", "late-labels"),
    ],
)
def test_a_script_draws_what_is_stored(name, picture, script, tmp_path):
    """Byte for byte, and nothing else; a quick one of each script."""
    stored = (FOLDER / f"{picture}.svg").read_bytes()
    version = importlib.import_module("matplotlib").__version__
    if f"Matplotlib v{version},".encode() not in stored:
        pytest.skip(f"stored by another Matplotlib than {version}")
    one = script(name)
    sizes = getattr(one, "SIZES", None)
    script("drawing").write(one.PICTURES, picture, sizes=sizes, folder=tmp_path)
    [drawn] = tmp_path.iterdir()
    assert drawn.name == f"{picture}.svg"
    assert drawn.read_bytes() == stored


def test_the_picture_of_the_packages_is_that_of_the_contract(script):
    """Whoever changes the layers, an exception or a phrase draws it again."""
    one = script("package_picture")
    assert read(FOLDER / "packages.svg") == one.picture(one.contract())


def test_every_package_is_drawn_with_its_phrase(script):
    """Each folder of the package has a box, and each box says what it is for."""
    one = script("package_picture")
    packages = {path.parent.name for path in (ROOT / "src" / "ratekeeper").glob("*/__init__.py")}
    assert packages
    assert packages | {"exceptions"} == one.PHRASES.keys()
    assert all(one.PHRASES.values())
    boxes, groups = one.placed(one.rows(one.contract()))
    assert boxes.keys() == one.PHRASES.keys()
    assert [label for label, _, _ in groups] == [*one.GROUPS.values()]
    stored = read(FOLDER / "packages.svg")
    for name, box in boxes.items():
        assert f">{name}</text>" in stored
        assert " ".join(box.lines) == one.PHRASES[name]


def test_dashed_arrows_are_the_imports_that_point_up(script):
    """Those that the contract excuses: one arrow for each pair of packages, and the legend's."""
    one = script("package_picture")
    settings = one.contract()
    pairs = [(importer, name) for importer, above in one.upward(settings).items() for name in above]
    assert pairs
    row = {name: i for i, names in enumerate(one.rows(settings)) for name in names}
    assert all(row[importer] > row[name] for importer, name in pairs)
    assert one.picture(settings).count(one.DASHED) == len(pairs) + 1


def test_an_unknown_picture_is_refused(script, tmp_path):
    """With the names that there are."""
    with pytest.raises(SystemExit, match=r"no picture 'tumour' here, but: one, two\."):
        script("drawing").write({"one": None, "two": None}, "tumour", folder=tmp_path)
    assert not [*tmp_path.iterdir()]
