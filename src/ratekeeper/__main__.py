"""The program ``ratekeeper``, also run by ``python -m ratekeeper``.

Loads nothing before Ctrl-C is taken care of. From then on an interruption ends the program with
its code and one word, also while libraries load and after the work is done.
"""

import os
import signal


def main() -> None:
    """Run the program."""
    # Not where it is ignored, as in the background of some shells.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    from ratekeeper._cli import main as program

    program(prog_name="ratekeeper")


def _stop(number: int, frame: object) -> None:
    """End at once: there is nothing to clean up before a command runs, nor after it."""
    del number, frame
    os.write(2, b"\nStopped.\n")
    os._exit(130)


if __name__ == "__main__":
    main()
