"""Work cut into blocks, so that memory stays bounded however many objects there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBERS = 1 << 18  # in one block: 2 MB, which stays in a processor's cache


def blocks(size: int, width: int) -> Iterator[slice]:
    """Cut a range into slices that hold a bounded number of numbers, `width` to each member.

    Examples
    --------
    >>> list(blocks(3, 1 << 17))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    step = max(_NUMBERS // max(width, 1), 1)
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))
