from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from ratekeeper import plots

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "guides" / "plots.md").read_text(encoding="utf-8")
PICTURES = sorted(path.name for path in (DOCS / "pictures").glob("plots-*.svg"))


def test_the_page_shows_every_display():
    """Each display has its row, its example, its picture with words, and its card."""
    for name in plots.__all__:
        assert f"`{name}`" in PAGE
        assert f"{name}.from_" in PAGE
    shown = re.findall(r"!\[[^\]]+\]\(\.\./pictures/(plots-[a-z-]+\.svg)\)", PAGE)
    cards = re.findall(r"^:img-bottom: \.\./pictures/(.+)\n:img-alt: .+$", PAGE, re.MULTILINE)
    assert sorted(shown) == sorted(cards) == PICTURES
    assert len(shown) == len(plots.__all__)


def test_every_card_leads_to_the_section_of_its_picture():
    """The link of a card is a heading of the page, and the card's picture stands below it."""
    cards = re.findall(r'^:img-bottom: (.+)\n.+\n:link: "#(.+)"$', PAGE, re.MULTILINE)
    parts = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)
    sections = {
        title.lower().replace(" ", "-"): text
        for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    assert len(cards) == len(plots.__all__)
    for picture, anchor in cards:
        assert f"]({picture})" in sections[anchor]


@pytest.mark.thorough
def test_the_pictures_are_small_and_drawn_alike_each_time(tmp_path):
    """Drawing twice gives the same bytes, without a date, and no picture is large."""
    main = runpy.run_path(str(DOCS / "pictures" / "plot_pictures.py"))["main"]
    for name, only in (("one", None), ("two", "error-curve")):
        (tmp_path / name).mkdir()
        main(tmp_path / name, only)
    again = tmp_path / "two" / "plots-error-curve.svg"
    assert again.read_bytes() == (tmp_path / "one" / again.name).read_bytes()
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == PICTURES
    for name in PICTURES:
        drawn = (tmp_path / "one" / name).read_bytes()
        assert b"<dc:date>" not in drawn
        assert len(drawn) < 100_000
        assert (DOCS / "pictures" / name).stat().st_size < 100_000
