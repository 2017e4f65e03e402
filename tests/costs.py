"""Where the processor's minutes go: ``pytest --costs`` ends with a table of seconds by folder."""

from __future__ import annotations

import os
from collections import Counter

import pytest

MOST_EXPENSIVE = 15  # tests that are named


def _processor_seconds():
    """Return what this process has used, and those that it has waited for."""
    return sum(os.times()[:4])


class Costs:
    """The seconds of every test, with its fixtures and the programs that it started.

    A program that several tests share, such as the browser, counts for the one that ends it.
    """

    def __init__(self):
        self.seconds = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self):
        """Begin to count before the set-up."""
        self.start = _processor_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        """Send the seconds of this phase with its report: workers are other processes."""
        report = yield
        now = _processor_seconds()
        report.user_properties.append(("processor_seconds", now - self.start))
        self.start = now
        return report

    def pytest_runtest_logreport(self, report):
        """Add up, in the process that reports."""
        spent = [value for name, value in report.user_properties if name == "processor_seconds"]
        self.seconds[report.nodeid] += spent[-1]

    def pytest_terminal_summary(self, terminalreporter):
        """Show folders, and the tests that cost most."""
        folders, tests = Counter(), Counter()
        for name, seconds in self.seconds.items():
            folder = name.partition("::")[0].rpartition("/")[0]
            if folder.startswith("src"):
                folder = "src"
            folders[folder] += seconds
            tests[folder] += 1
        terminalreporter.section("processor seconds")
        for folder, seconds in folders.most_common():
            terminalreporter.write_line(f"{seconds:8.1f} s {tests[folder]:6} tests  {folder}")
        terminalreporter.write_line(f"{folders.total():8.1f} s {tests.total():6} tests  in all")
        terminalreporter.section("the most expensive tests")
        for name, seconds in self.seconds.most_common(MOST_EXPENSIVE):
            terminalreporter.write_line(f"{seconds:8.1f} s  {name}")
