"""The program ``ratekeeper``, also run by ``python -m ratekeeper``.

Loads nothing before Ctrl-C is taken care of. From then on an interruption ends the program with
its code and one word, also while libraries load and after the work is done.
"""

import os
import sys

# Under -m, Python has put the current folder first on its path, and there the user's data lie:
# nothing in it is to be imported. If ratekeeper itself comes from there, it stays.
if __name__ == "__main__" and not sys.flags.safe_path:
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    if sys.path[0] in ("", os.getcwd()) and home != os.getcwd():  # noqa: PTH109
        del sys.path[0]

import signal  # only now, and so not from that folder


def main() -> None:
    """Run the program."""
    # Not where it is ignored, as in the background of some shells.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    from ratekeeper.cli import main as program

    program(prog_name="ratekeeper")


def _stop(number: int, frame: object) -> None:
    """End at once: there is nothing to clean up before a command runs, nor after it."""
    del number, frame
    os.write(2, b"\nStopped.\n")
    os._exit(130)


if __name__ == "__main__":
    main()
