"""Lets ``python -m ratekeeper`` do what the command ``ratekeeper`` does."""

from ratekeeper._cli import main

if __name__ == "__main__":
    main(prog_name="ratekeeper")
