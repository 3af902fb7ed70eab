"""Letters in ASCII, for files and codes that carry nothing else."""

from __future__ import annotations

import unicodedata
from typing import Final

# Letters that Unicode does not take apart, as their languages write them without accents.
_WRITTEN: Final = str.maketrans("ĐđÐðØøŁłĦħŊŋŦŧ\u0131ĸ", "DdDdOoLlHhNnTtik") | str.maketrans(
    {"ß": "ss", "ẞ": "SS", "Æ": "AE", "æ": "ae", "Œ": "OE", "œ": "oe", "Þ": "Th", "þ": "th"}
)


def ascii_letters(text: str) -> str:
    """Write Latin letters without accents, ``Straße`` as ``Strasse``; all else stands."""
    apart = unicodedata.normalize("NFKD", text.translate(_WRITTEN))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))
