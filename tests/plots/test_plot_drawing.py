from __future__ import annotations

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import ratekeeper as rk
from ratekeeper import plots
from ratekeeper.exceptions import InputError

BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

sys.meta_path.insert(0, Blocker())
"""


def make(name, halves):
    """Return a function that makes one display by name, from keywords for its drawing."""
    cal, scores, labels = halves
    test = cal.control("fnr", 0.1, method=rk.Conformal())
    new = {"scores": scores, "labels": labels}
    monitor = rk.Monitor(test)
    ids = np.arange(labels.size)
    monitor.record(ids, ids, test.decide(scores))
    monitor.update(ids, labels)
    return {
        "ScoreDensityDisplay": lambda **kw: plots.ScoreDensityDisplay.from_calibration(test, **kw),
        "PValueHistogramDisplay": lambda **kw: plots.PValueHistogramDisplay.from_calibration(
            test, **new, **kw
        ),
        "RateAgainstAlphaDisplay": lambda **kw: plots.RateAgainstAlphaDisplay.from_calibration(
            test, **new, **kw
        ),
        "ErrorCurveDisplay": lambda **kw: plots.ErrorCurveDisplay.from_calibration(test, **kw),
        "GroupDisplay": lambda **kw: plots.GroupDisplay.from_calibration(
            test, **new, by=np.arange(labels.size) % 5, **kw
        ),
        "RealisedRateDisplay": lambda **kw: plots.RealisedRateDisplay.from_calibration(test, **kw),
        "SampleSizeDisplay": lambda **kw: plots.SampleSizeDisplay.from_calibration(test, **kw),
        "MonitorDisplay": lambda **kw: plots.MonitorDisplay.from_monitor(monitor, **kw),
        "NPROCDisplay": lambda **kw: plots.NPROCDisplay.from_calibration(test, **kw),
        "CostDisplay": lambda **kw: plots.CostDisplay.from_calibration(
            cal, cost_fn=3, cost_fp=1, fnr=0.2, **kw
        ),
    }[name]


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", plots.__all__)
def test_without_axes_a_new_figure_is_made(halves, name):
    """A display draws into a figure of its own, and each artist it names is there."""
    before = plt.get_fignums()
    display = make(name, halves)()
    assert len(plt.get_fignums()) == len(before) + 1
    assert display.figure_ is plt.gcf()
    assert display.ax_ in display.figure_.axes
    display.figure_.canvas.draw()
    assert display.ax_.get_title("left")
    assert display.ax_.get_legend() is not None


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", plots.__all__)
def test_given_axes_are_used_and_nothing_else_is_touched(halves, name):
    """With axes given, no figure is made, none becomes current, and no setting changes."""
    _, (left, _right) = plt.subplots(1, 2)
    other = plt.figure()
    settings = dict(plt.rcParams)
    display = make(name, halves)(ax=left)
    assert display.ax_ is left
    assert display.figure_ is left.figure
    assert plt.gcf() is other
    assert len(plt.get_fignums()) == 2
    assert dict(plt.rcParams) == settings


@pytest.mark.thorough_rows
@pytest.mark.parametrize("name", plots.__all__)
def test_numbers_need_no_drawing(halves, name):
    """draw=False makes the numbers alone, which can be drawn later and more than once."""
    display = make(name, halves)(draw=False)
    assert plt.get_fignums() == []
    assert not hasattr(display, "ax_")
    assert display.plot() is display
    first = display.ax_
    assert display.plot().ax_ is not first
    with pytest.raises(InputError, match="color has no use"):
        make(name, halves)(draw=False, color="red")
    with pytest.raises(InputError, match="draw=1"):
        make(name, halves)(draw=1)


@pytest.mark.parametrize("name", plots.__all__)
def test_the_repr_is_one_short_line(people, halves, name):
    """A display at the end of a cell says what it is of, however long the name of its group is."""
    assert repr(make(name, halves)(draw=False)).startswith(f"{name} of ")
    if name == "CostDisplay":  # which has no groups
        return
    scores, labels, _ = people
    groups = np.full(3000, "a group with a name " + "that goes on and on " * 11)
    if name in ("GroupDisplay", "MonitorDisplay"):  # they show all groups
        return
    test = rk.calibrate(scores, labels, groups=groups).control("fnr", 0.1, method=rk.Conformal())
    new = {"scores": scores, "labels": labels, "groups": groups}
    new = new if name in ("PValueHistogramDisplay", "RateAgainstAlphaDisplay") else {}
    display = getattr(plots, name).from_calibration(test, group=groups[0], draw=False, **new)
    for text in (repr(make(name, halves)(draw=False)), repr(display)):
        assert len(text) < 100
        assert text.endswith("; .plot() draws it")
        assert "\n" not in text
    assert "group 'a g" in repr(display)


@pytest.mark.parametrize("name", plots.__all__)
def test_axes_must_be_axes(halves, name):
    """A figure in place of axes is an error that says what to pass."""
    with pytest.raises(InputError, match=r"plt\.subplots"):
        make(name, halves)(ax=plt.figure())


@pytest.mark.parametrize("name", plots.__all__)
def test_style_can_be_chosen(halves, name):
    """Keywords of matplotlib, also short ones, go to the main artists."""
    display = make(name, halves)(lw=5, color="black")
    mains = {
        "ScoreDensityDisplay": lambda: display.histograms_,
        "PValueHistogramDisplay": lambda: list(display.histograms_.values()),
        "NPROCDisplay": lambda: display.lines_,
        "SampleSizeDisplay": lambda: display.lines_,
        "GroupDisplay": lambda: [bar.lines[0] for bar in display.errorbars_.values()],
    }.get(name, lambda: [display.line_])()
    assert [artist.get_linewidth() for artist in mains] == [5] * len(mains)


def test_an_error_in_the_data_makes_no_figure(halves):
    """Numbers come first: what cannot be computed leaves no empty figure behind."""
    with pytest.raises(InputError):
        plots.ScoreDensityDisplay.from_calibration(halves[0], group="north")
    assert plt.get_fignums() == []


def test_importing_the_plots_loads_no_matplotlib():
    """Neither the import nor the numbers load matplotlib."""
    code = (
        "import sys, ratekeeper as rk, ratekeeper.plots as plots\n"
        "cal = rk.calibrate(list(range(80)), [0] * 40 + [1] * 40)\n"
        "test = cal.control('fnr', 0.05, method=rk.Conformal())\n"
        "plots.ScoreDensityDisplay.from_calibration(test, draw=False)\n"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_matplotlib_the_install_line_is_given():
    """A missing matplotlib is an ImportError and an InputError that says what to install."""
    code = BLOCKED + (
        "import ratekeeper as rk\n"
        "from ratekeeper.plots import RealisedRateDisplay\n"
        "cal = rk.calibrate(list(range(80)), [0] * 40 + [1] * 40)\n"
        "test = cal.control('fnr', 0.05, method=rk.Conformal())\n"
        "print(RealisedRateDisplay.from_calibration(test, draw=False).law)\n"
        "try:\n"
        "    RealisedRateDisplay.from_calibration(test)\n"
        "except ImportError as error:\n"
        "    assert isinstance(error, rk.InputError)\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "RealisedRate(k=2, n=40, beyond=1)" in done.stdout
    assert "pip install matplotlib" in done.stdout


def test_groups_of_every_kind_can_be_chosen():
    """Booleans, numbers and names, also of NumPy's types, choose a group."""
    scores, labels = np.arange(400.0), np.tile([0, 0, 1, 1], 100)
    scores = scores + 500 * labels
    for groups, group in (
        (np.tile([True, False], 200), np.True_),
        (np.tile([3, 4], 200), np.int64(4)),
        (np.tile(["a", "b"], 200), np.str_("b")),
    ):
        test = rk.calibrate(scores, labels, groups=groups).control(
            "fnr", 0.1, method=rk.Conformal()
        )
        for kind in ("ScoreDensity", "ErrorCurve", "RealisedRate", "SampleSize"):
            display = getattr(plots, f"{kind}Display").from_calibration(test, group=group)
            assert f"group {group.item()!r}" in display.ax_.get_title("left")


def test_dollars_in_names_are_no_mathematics(halves):
    """Labels and groups with dollars are drawn as they are written."""
    _, scores, labels = halves
    words, groups = np.where(labels, "$>$5", "$\\$4"), np.full(labels.size, "$x^$")
    test = rk.calibrate(scores, words, groups=groups, positive_label="$>$5").control(
        "fnr", 0.1, method=rk.Conformal()
    )
    display = plots.ScoreDensityDisplay.from_calibration(test, group="$x^$")
    display.figure_.canvas.draw()
    new = {"scores": scores, "labels": words, "groups": groups, "group": "$x^$"}
    plots.PValueHistogramDisplay.from_calibration(test, **new).figure_.canvas.draw()
    assert display.names[1] == "positive ('$>$5')"


def test_every_display_says_what_it_does():
    """Public classes have a docstring with an example."""
    for name in plots.__all__:
        assert ">>>" in getattr(plots, name).__doc__
