from __future__ import annotations

import re
import runpy
from pathlib import Path

from ratekeeper import plots

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "guides" / "plots.md").read_text(encoding="utf-8")


def test_every_example_of_the_page_runs():
    """The Python blocks of docs/guides/plots.md work in order, pasted into one session."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 12
    session: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "plots.md", "exec"), session)  # noqa: S102 - our own text


def test_the_page_shows_every_display():
    """Each display has its row, its example and its picture."""
    for name in plots.__all__:
        assert f"`{name}`" in PAGE
        assert f"{name}.from_" in PAGE
    shown = re.findall(r"\((\.\./pictures/(plots-[a-z-]+\.svg)\)", PAGE)
    assert sorted(shown) == sorted(path.name for path in DOCS.glob("plots-*.svg"))
    assert len(shown) == len(plots.__all__)


def test_the_pictures_are_small_and_drawn_alike_each_time(tmp_path):
    """Drawing twice gives the same bytes, without a date, and no picture is large."""
    main = runpy.run_path(str(DOCS / "plot_pictures.py"))["main"]
    for name, only in (("one", None), ("two", "error-curve")):
        (tmp_path / name).mkdir()
        main(tmp_path / name, only)
    again = tmp_path / "two" / "plots-error-curve.svg"
    assert again.read_bytes() == (tmp_path / "one" / again.name).read_bytes()
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == sorted(path.name for path in DOCS.glob("plots-*.svg"))
    for name in names:
        drawn = (tmp_path / "one" / name).read_bytes()
        assert b"<dc:date>" not in drawn
        assert len(drawn) < 100_000
        assert (DOCS / name).stat().st_size < 100_000
