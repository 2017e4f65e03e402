"""Random numbers that promises rest on: drawn once, independently of the data, and stored.

A proof that draws objects at random needs a draw that is independent of their scores and labels.
A hash of the scores is not: where scores have few values it is a function of the data. Nor is a
seed that is the same in every program, applied to row positions: files are often sorted. So a
calibration holds a `Draw`, 128 bits from the operating system, and all its random numbers are
computed from them. Whoever has the file can repeat every result.

Each purpose has a named stream of its own: the guides of an aim, ties, rows of clusters, rejection,
samples, `reorder`, `evidence` and `shift_test`. A calibration that is merged, pooled, reordered or
cut to a window has another draw, a `child`. `random_state` fixes the draw for tests and replays,
and certificates of tests that rest on it then say so. Monte Carlo numbers on which no promise
rests, as in `Bootstrap`, in the bands of pictures and in `FitCheck`, do not come from the draw:
their seeds are fixed, or computed from the scores.

Numbers lie in (0, 1), and there are 2**52 of them, so that two objects with equal scores share one
with probability 2e-16. They can be computed without NumPy: a stream is SplitMix64, begun at a hash
(BLAKE2b) of its name, keyed by the entropy; the number of a key is such a hash itself.
docs/reference/files.md has both in a few lines.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ratekeeper._reading._parameters import check_seed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Origin = Literal["drawn", "fixed by the user"]

BITS = 128
_KEY_BYTES = 32  # more than entropy has
_STEP = 2.0**-53
_AT_ONCE = 1 << 20  # numbers, so that what is computed on the way stays in the cache
# SplitMix64 (Steele, Lea and Flood, 2014): the same numbers on every machine, in every version.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_LAST = np.uint64(31)


@dataclass(frozen=True)
class Draw:
    """The entropy behind all random numbers of a calibration, and whether a user chose it.

    Parameters
    ----------
    entropy : int
        128 bits.
    fixed : bool, default=False
        Whether they are a user's `random_state`, not drawn.
    loaded : bool, default=False
        Whether they were drawn when a file of an earlier version was loaded, which had none.

    Notes
    -----
    **Guarantee.** A promise that rests on a draw is about the draw, too: except with probability
    delta over calibration sets *and* draws. For one fixed seed it can fail more often, and drawing
    again until a test is certified voids it.

    Examples
    --------
    >>> draw = Draw.of(0)
    >>> draw.numbers(3, "guides", 1).round(3), draw.origin
    (array([0.737, 0.18 , 0.086]), 'fixed by the user')
    """

    entropy: int
    fixed: bool = False
    loaded: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, random_state: object = None) -> Draw:
        """Return the draw of a seed, or without one a fresh draw of the operating system.

        Examples
        --------
        >>> Draw.of(7)
        Draw(entropy=7, fixed=True, loaded=False)
        >>> Draw.of() == Draw.of()
        False
        """
        if random_state is None:
            return cls(secrets.randbits(BITS))
        return cls(check_seed(random_state, "random_state"), fixed=True)

    @property
    def origin(self) -> Origin:
        """Where the entropy comes from."""
        return "fixed by the user" if self.fixed else "drawn"

    def numbers(self, n: int, purpose: str, *place: int, start: int = 0) -> NDArray[np.float64]:
        """Return n numbers in (0, 1) of the stream of a purpose (in a cell), from a place on.

        Streams of different names are independent.

        Examples
        --------
        >>> draw = Draw.of(5)
        >>> bool((draw.numbers(4, "sample")[1:] == draw.numbers(3, "sample", start=1)).all())
        True
        """
        name = "/".join([purpose, *map(str, place)]).encode()
        begin = blake2b(name, digest_size=8, key=self._key).digest()
        state = np.uint64(int.from_bytes(begin, "little"))
        found = np.empty(n)
        for first in range(0, n, _AT_ONCE):
            part = found[first : first + _AT_ONCE]
            counter = np.arange(1, part.size + 1, dtype=np.uint64) + np.uint64(start + first)
            part[:] = _fractions(_mixed(state + _GOLDEN * counter))
        return found

    def of_keys(self, keys: Iterable[str | int], purpose: str = "key/") -> NDArray[np.float64]:
        """Return a number in (0, 1) for each key of an object, or for another purpose.

        A whole number is hashed as its text, and spaces around a text do not count, so that the
        same table gives the same numbers as CSV, as Parquet and in Python. "007" and 7 are
        different keys.

        Examples
        --------
        >>> Draw.of(0).of_keys(["7", 7, " 7 "]).round(6)
        array([0.622469, 0.622469, 0.622469])
        """
        return _fractions(_hashes(keys, self._key, purpose))

    def child(self, purpose: str, *others: Draw) -> Draw:
        """Return another draw, made of this one (and others, in any order).

        For part of the objects, or for more: it is as independent of the data as this one.
        """
        keys = sorted(one._key for one in (self, *others))  # noqa: SLF001 - of this class
        bits = blake2b(b"".join([*keys, purpose.encode()]), digest_size=BITS // 8).digest()
        every = (self, *others)
        return Draw(
            int.from_bytes(bits, "little"),
            fixed=any(one.fixed for one in every),
            loaded=any(one.loaded for one in every),
        )

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values, as files have it."""
        return {"entropy": f"{self.entropy:032x}", "fixed": self.fixed}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Draw:
        """Return the draw that `to_dict` has written.

        Examples
        --------
        >>> Draw.from_dict(Draw.of(7).to_dict())
        Draw(entropy=7, fixed=True, loaded=False)
        """
        return cls(int(facts["entropy"], 16), facts["fixed"])

    @property
    def _key(self) -> bytes:
        return self.entropy.to_bytes(_KEY_BYTES, "little")


def hashes_of(names: Iterable[object]) -> Words:
    """Return 64 bits of each id; ids are compared as text, without the spaces around it.

    Examples
    --------
    >>> hashes_of([7, "7", "seven"]).tolist()[:2] == [hashes_of([7])[0]] * 2
    True
    """
    return _hashes(names, b"").astype(np.uint64)


def _hashes(names: Iterable[object], key: bytes, purpose: str = "") -> Words:
    keyed = blake2b(purpose.encode(), digest_size=8, key=key)

    def digest(text: str) -> bytes:
        one = keyed.copy()
        one.update(text.strip().encode("utf-8", "surrogatepass"))
        return one.digest()

    return np.frombuffer(b"".join(map(digest, map(str, names))), "<u8")


def _mixed(bits: Words) -> Words:
    """Return the words of SplitMix64 at some states; arithmetic is that of 64 bits."""
    for shift, factor in _MIX:
        bits = (bits ^ (bits >> shift)) * factor
    return bits ^ (bits >> _LAST)


def _fractions(words: Words) -> NDArray[np.float64]:
    """Return the middles of 2**52 equal parts of (0, 1), so that 1 - u is such a number, too."""
    odd = (words >> np.uint64(12)) * np.uint64(2) + np.uint64(1)
    return odd.astype(np.float64) * _STEP
