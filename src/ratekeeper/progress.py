"""A progress bar for work that takes longer than two seconds."""

from __future__ import annotations

import time
from collections.abc import Sized
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console
    from rich.progress import Progress

Item = TypeVar("Item")

_PATIENCE = 2.0  # seconds


def track(
    items: Iterable[Item],
    title: str,
    total: int | None = None,
    *,
    done: int = 0,
    console: Console | None = None,
) -> Iterator[Item]:
    """Yield the items and, once two seconds have passed, show how far the work is.

    The bar goes to standard error, and only if that is a terminal, so that output can be piped.

    Parameters
    ----------
    items : iterable
        What the caller works on, one after the other.
    title : str
        What is being done.
    total : int, optional
        Number of items, if it cannot be seen from them.
    done : int, default=0
        How many of the total were done before.
    console : Console, optional
        Where to draw, by default standard error.

    Examples
    --------
    >>> sum(track([1, 2, 3], "adding"))
    6
    """
    if total is None:
        total = len(items) if isinstance(items, Sized) else None
    start, bar, task = time.monotonic(), None, None
    try:
        for count, item in enumerate(items, start=done):
            if bar is None and time.monotonic() - start > _PATIENCE:
                bar = _bar(console)
                task = bar.add_task(title, total=total)
                bar.start()
            if bar is not None and task is not None:
                bar.update(task, completed=count)
            yield item
        if bar is not None and task is not None:
            bar.update(task, completed=total)
    finally:
        if bar is not None:
            bar.stop()


def _bar(console: Console | None) -> Progress:
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    console = Console(stderr=True) if console is None else console
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
