"""Which of the known names may be meant by one that is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def near(name: str, known: Iterable[str]) -> str:
    """Say which of the known names may be meant, in a sentence that follows others.

    Examples
    --------
    >>> near("clasify", ["classify", "control"])
    " Did you mean 'classify'?"
    >>> near("x", ["classify"])
    ''
    """
    from difflib import get_close_matches

    found = get_close_matches(name, list(known), n=1)
    return f" Did you mean {found[0]!r}?" if found else ""
