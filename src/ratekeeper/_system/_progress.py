"""A progress bar for work that takes longer than two seconds."""

from __future__ import annotations

import sys
from collections.abc import Sized
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, Timer
from typing import TYPE_CHECKING, Self, TypeVar

from ratekeeper._wording._formatting import escape_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import Console
    from rich.progress import Progress, TaskID

Item = TypeVar("Item")

_PATIENCE = 2.0  # seconds
_silent: ContextVar[bool] = ContextVar("silent", default=False)


def track(
    items: Iterable[Item],
    title: str,
    total: int | None = None,
    *,
    done: int = 0,
    size: Callable[[Item], int] | None = None,
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
    size : callable, optional
        How much of the total an item is, by default 1.
    console : Console, optional
        Where to draw, by default standard error.

    Examples
    --------
    >>> sum(track([1, 2, 3], "adding"))
    6
    """
    if _silent.get() or not _is_terminal(console):
        yield from items
        return
    if total is None:
        total = len(items) if isinstance(items, Sized) else None
    with _LateBar(title, total, done, console) as bar:
        for item in items:
            bar.move(done)
            yield item
            done += 1 if size is None else size(item)


@contextmanager
def silence() -> Iterator[None]:
    """Show no bars within: for a part of work that has a bar of its own.

    Examples
    --------
    >>> with silence():
    ...     sum(track([1, 2, 3], "adding"))
    6
    """
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


class _LateBar:
    """A bar that appears when its time has come, also while the work waits for its next item."""

    def __init__(self, title: str, total: int | None, done: int, console: Console | None) -> None:
        self._title, self._total, self._done, self._console = title, total, done, console
        self._lock = Lock()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._over = False

    def __enter__(self) -> Self:
        self._timer = Timer(_PATIENCE, self._appear)
        self._timer.daemon = True
        self._timer.start()
        return self

    def move(self, done: int) -> None:
        with self._lock:
            self._done = done
            if self._bar is not None and self._task is not None:
                self._bar.update(self._task, completed=done)

    def _appear(self) -> None:
        from rich.markup import escape

        bar, title = _bar(self._console), escape(escape_controls(self._title))
        with self._lock:
            if self._over:
                return
            self._task = bar.add_task(title, total=self._total, completed=self._done)
            self._bar = bar
            bar.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._bar is not None:
                self._bar.stop()


def _is_terminal(console: Console | None) -> bool:
    if console is not None:
        return console.is_terminal
    return sys.stderr is not None and sys.stderr.isatty()


def _bar(console: Console | None) -> Progress:
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    console = Console(stderr=True) if console is None else console
    columns = (*Progress.get_default_columns(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)
