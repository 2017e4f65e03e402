"""Simulate the null tables of the classical tests: ``python -m`` this module, some ten minutes.

Every sample size has its own random stream, so that its table does not depend on the others.
All tests judge the same samples.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ratekeeper.normality._classical import CLASSICAL
from ratekeeper.normality._statistics import evaluate
from ratekeeper.normality._tables import SIZES, extreme_order_statistics, tail_levels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

_SEED = 20_240_229
# One less than a round number, so that the levels people use are exact ranks.
_DRAWS = {100: 199_999, 1_000: 99_999, 10_000: 39_999}  # up to this size, so many
_RATIO = 1.15
_BLOCK = 1 << 18
_FILE = Path(__file__).with_name("data") / "classical.npz"


def draws_at(n: int) -> int:
    """Return how many samples of size n are simulated.

    Examples
    --------
    >>> draws_at(100), draws_at(101)
    (199999, 99999)
    """
    return next(draws for largest, draws in _DRAWS.items() if n <= largest)


def null_scores(n: int, draws: int) -> dict[str, NDArray[np.float64]]:
    """Return the tabulated score of every test for so many normal samples of size n.

    Examples
    --------
    >>> sorted(null_scores(5, 3))
    ['ad', 'bhep', 'jb', 'lf', 'sf', 'sw', 'za', 'zc']
    """
    rng = np.random.default_rng([_SEED, n])
    tests = [test for test in CLASSICAL.values() if test.smallest <= n]
    found = np.empty((len(tests), draws))
    rows = max(1, _BLOCK // n)
    for start in range(0, draws, rows):
        here = slice(start, min(start + rows, draws))
        samples = rng.standard_normal((here.stop - start, n))
        found[:, here] = evaluate(samples, [test.function for test in tests])
    return {
        test.name: test.log_distance(values, n) for test, values in zip(tests, found, strict=True)
    }


def simulate_tables(
    sizes: Iterable[int],
    draws: Callable[[int], int] = draws_at,
    report: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Return the arrays of a table file.

    Parameters
    ----------
    sizes : iterable of int
        Sample sizes, ascending.
    draws : callable, optional
        Gives the number of samples for a size.
    report : callable, optional
        Called with each size when it is done.

    Returns
    -------
    dict of str to ndarray
        ``sizes``, ``levels`` and, for each test, kept order statistics, one row a size.

    Examples
    --------
    >>> arrays = simulate_tables([7, 8], draws=lambda n: 99)
    >>> arrays["sw"].shape[0], arrays["k2"].shape[0]  # K2 starts at n = 8
    (2, 1)
    """
    sizes = list(sizes)
    levels = tail_levels(max(map(draws, sizes)), _RATIO)
    kept = defaultdict(list)
    for n in sizes:
        for name, scores in null_scores(n, draws(n)).items():
            kept[name].append(extreme_order_statistics(scores, levels, "high"))
        if report:
            report(n)
    arrays = {name: np.array(rows) for name, rows in kept.items()}
    return {"sizes": np.array(sizes), "levels": levels, **arrays}


def main() -> None:
    """Simulate all tables, with a bar, and write the file that ships."""
    from rich.progress import Progress

    with Progress() as progress:
        # The work for a size is proportional to the values drawn.
        bar = progress.add_task("null tables", total=sum(n * draws_at(n) for n in SIZES))
        arrays = simulate_tables(SIZES, report=lambda n: progress.advance(bar, n * draws_at(n)))
    _FILE.parent.mkdir(exist_ok=True)
    with _FILE.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


if __name__ == "__main__":
    main()
