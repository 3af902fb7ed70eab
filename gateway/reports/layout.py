"""Text into lines and rows into pages, before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Measure = Callable[[str], float]
"""How wide a text is, in points."""

MOST_CHARACTERS = 400
"""A longer text is cut: a report must not be filled by one description."""

_CUT = "..."


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a row; small ones are for identifiers."""

    text: str
    small: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    A movement as it stands in the table.

    Attributes:
        lines: At least one.
        owed: Whether the amount is negative.
    """

    when: str
    lines: tuple[Line, ...]
    amount: str
    owed: bool


def wrap(text: str, width: float, measure: Measure) -> Sequence[str]:
    """
    Break a text into lines of at most ``width`` points, at blanks where it has some.

    Returns:
        No line for an empty text; one that is too long is cut visibly.
    """
    short = text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS].rstrip() + _CUT
    if measure(short) <= width:
        return [short] if short else []
    lines = [""]
    for word in short.split():
        for piece in _pieces(word, width, measure):
            longer = f"{lines[-1]} {piece}".lstrip()
            if measure(longer) <= width:
                lines[-1] = longer
            else:
                lines.append(piece)
    return [line for line in lines if line]


def pages(
    rows: Sequence[Row], height_of: Callable[[Row], float], room: tuple[float, float]
) -> Sequence[Sequence[Row]]:
    """
    Deal rows out to pages; a row is never split.

    Args:
        rows: In order.
        height_of: How high a row is, in points.
        room: How high the table is on the first page, and on all others.

    Returns:
        At least one page, the first perhaps empty.
    """
    first, other = room
    dealt: list[list[Row]] = [[]]
    left = first
    for row in rows:
        height = height_of(row)
        if height > left and (dealt[-1] or len(dealt) == 1):
            dealt.append([])
            left = other
        dealt[-1].append(row)
        left -= height
    return dealt


def _pieces(word: str, width: float, measure: Measure) -> Iterator[str]:
    """Cut a word that is wider than a line; each piece has at least one character."""
    while measure(word) > width and len(word) > 1:
        fits = next((end for end in range(len(word) - 1, 1, -1) if measure(word[:end]) <= width), 1)
        yield word[:fits]
        word = word[fits:]
    yield word
