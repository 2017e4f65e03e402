"""Work on all cores, in threads: NumPy releases the interpreter lock while it works."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Item = TypeVar("Item")
Made = TypeVar("Made")


def n_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def on_all_cores(work: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    """Return what the work makes of each item, side by side.

    The calling thread works, too; each takes one item after the other.

    Examples
    --------
    >>> on_all_cores(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    workers = min(n_cores(), len(items))
    if workers < 2:  # noqa: PLR2004 - one worker needs no pool
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    waiting = deque(enumerate(items))
    made: dict[int, Made] = {}

    def run() -> None:
        try:
            while waiting:
                try:
                    place, item = waiting.popleft()
                except IndexError:  # somebody else took the last
                    return
                made[place] = work(item)
        except BaseException:
            waiting.clear()  # nobody needs the rest
            raise

    with ThreadPoolExecutor(workers - 1) as pool:
        others = [pool.submit(run) for _ in range(workers - 1)]
        run()
        for other in others:
            other.result()
    return [made[place] for place in range(len(items))]


def prefetch(items: Iterator[Item]) -> Iterator[Item]:
    """Yield items of which the next one is made in another thread while one is used.

    Examples
    --------
    >>> list(prefetch(iter("abc")))
    ['a', 'b', 'c']
    """
    if n_cores() == 1:
        yield from items
        return
    from concurrent.futures import ThreadPoolExecutor

    end: Any = object()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(next, items, end)
        while (item := waiting.result()) is not end:
            waiting = pool.submit(next, items, end)
            yield item
