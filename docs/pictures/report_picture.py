"""Take the picture of the report in README: ``python docs/pictures/report_picture.py``.

The walk of README on the demo's data, its page opened in Chromium.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from ratekeeper import HighProbability, report
from ratekeeper.cli import _demo as demo
from ratekeeper.files import calibrate_file, evaluate_file

WIDTH, HEIGHT = 1200, 2100
COLOURS = 240  # are enough, and make a small file


def main() -> None:
    """Write docs/pictures/report.png."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        demo.export(folder)
        calibration = calibrate_file(folder / "held-out.csv", score="score", label="employed")
        test = calibration.control("fnr", 0.01, method=HighProbability(0.05))
        report.write(
            test, folder / "report.html", evaluation=evaluate_file(test, folder / "new.csv")
        )
        _shoot(folder / "report.html", Path(__file__).with_name("report.png"))


def _shoot(page: Path, place: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        tab.goto(page.as_uri())
        tab.screenshot(path=place)
        browser.close()
    Image.open(place).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(
        place, optimize=True
    )


if __name__ == "__main__":
    main()
