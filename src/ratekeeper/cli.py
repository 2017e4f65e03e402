"""The command line: one function per command, which parses, calls and prints."""

from __future__ import annotations

import click

from ratekeeper.version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="ratekeeper")
def main() -> None:
    """Keep one error rate of a trained binary classifier below the level you choose."""


@main.command()
def demo() -> None:
    """Run the main job on real data: calibrate on 2015, decide in 2016 to 2018."""
    from rich.console import Console

    from ratekeeper.demo import run

    run(Console(highlight=False))
