"""How every plan reads: a title, numbers with what they are for, and what they assume."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ratekeeper._wording import _html as markup

WIDTH = 79

Numbers = list[tuple[str, str]]


class PlanText(ABC):
    """A plan as lines of text and as a card."""

    _fits: ClassVar[bool] = True  # lines are cut to fit a terminal

    @property
    @abstractmethod
    def _title(self) -> str: ...

    @property
    @abstractmethod
    def _parts(self) -> list[tuple[str, Numbers]]:
        """Numbers under headings; an empty heading has none of its own."""

    @property
    def _notes(self) -> list[str]:
        return []

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain Python values."""

    @property
    def _lines(self) -> list[str]:
        lines = [self._title]
        for heading, numbers in self._parts:
            lines += [f"  {heading}:"] if heading else []
            indent = "    " if heading else "  "
            lines += [f"{indent}{words}: {number}" for words, number in numbers]
        return [*lines, *(f"  {note}" for note in self._notes)]

    def wrapped(self) -> list[str]:
        """Return the text in lines that fit a terminal."""
        indents = [" " * (len(line) - len(line.lstrip())) for line in self._lines]
        n_notes = len(self._notes)
        found = []
        for i, (line, indent) in enumerate(zip(self._lines, indents, strict=True)):
            is_note = i >= len(indents) - n_notes
            hanging = indent if is_note else f"{indent}  "
            found += textwrap.wrap(line, WIDTH, subsequent_indent=hanging)
        return found

    def __str__(self) -> str:
        return "\n".join(self.wrapped() if self._fits else self._lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        pairs = [
            (f"{heading}, {words}" if heading else words, number)
            for heading, numbers in self._parts
            for words, number in numbers
        ]
        return markup.card(self._title, [markup.facts(pairs), *map(markup.note, self._notes)])
