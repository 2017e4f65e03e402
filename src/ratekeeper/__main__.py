"""Lets ``python -m ratekeeper`` do what the command ``ratekeeper`` does."""

import os
import sys

# Python has put the current folder first on its path, and there the user's data lie: nothing in it
# is to be imported. If ratekeeper itself comes from there, it stays.
if __name__ == "__main__" and not sys.flags.safe_path:
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    if sys.path[0] in ("", os.getcwd()) and home != os.getcwd():  # noqa: PTH109
        del sys.path[0]

from ratekeeper._cli import main

if __name__ == "__main__":
    main(prog_name="ratekeeper")
