"""Letters and signs in ASCII, for files, codes and fonts that carry little else."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

UNSEEN: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u20e3\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff"
)
"""
What is drawn as nothing, or changes only how its neighbours are drawn: for a class of ``re``.

Unicode's Default_Ignorable_Code_Point, tints of skin, and the frame of a key.
"""

_UNSEEN: Final = re.compile(f"[{UNSEEN}]")
_BEFORE_FRACTION: Final = re.compile("(?<=[0-9])(?=[\u00bc-\u00be\u2150-\u215e\u2189])")
"""Where 2½ becomes 2 1/2, not 21/2."""

_SIGNS: Final = {
    " ": "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u1680\u2028\u2029\u2800",
    "-": "\u00ac\u02c9\u02d7\u2010\u2012\u2013\u2014\u2015\u203e\u2043\u207b\u208b\u2212\u2500",
    "'": "\u00b4\u02b9\u02bb\u02bc\u02c8\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a",
    '"': "\u00a8\u00ab\u00bb\u02ba\u02dd\u02ee\u201c\u201d\u201e\u201f\u301d\u301e\u301f",
    "/": "\u00f7\u2044\u2215",
    ".": "\u00b7\u2022\u2023\u2024\u2027\u2219\u22c5\u25aa\u25cf\u25e6\u3002",
    ",": "\u00b8\u02cf\u3001",
    ":": "\u02d0\u2236",
    "|": "\u00a6\u2016\u2223\u2502",
    "*": "\u2042\u204e\u2055\u2217\u2605\u2606",
    "~": "\u02dc\u2053\u223c\u2248",
    "^": "\u02c4\u02c6\u2038\u2191",
    "_": "\u02cd\u2017\u203f\u2423",
    "+": "\u02d6\u2020",
    "!": "\u00a1",
    "o": "\u00b0\u02da",
    "x": "\u00d7\u2715\u2716\u2717\u2718\u274c",
    "u": "\u00b5",
    "c": "\u00a2",
    "v": "\u02c5\u02c7\u2193",
    "<": "\u02c2\u2329\u3008",
    ">": "\u02c3\u232a\u3009\u25b6\u25ba",
    "++": "\u2021",
    "+/-": "\u00b1",
    "<-": "\u2190\u21d0\u2b05",
    "->": "\u2192\u21d2\u2794\u279c\u27a1\u27a4",
    "<->": "\u2194\u21d4",
    "<=": "\u2264",
    ">=": "\u2265",
    "!=": "\u2260",
    "(c)": "\u00a9",
    "(r)": "\u00ae",
    "ok": "\u2611\u2705\u2713\u2714",
    "par.": "\u00a7\u00b6",
    "o/oo": "\u2030",
    "GBP": "\u00a3\u20a4",
    "JPY": "\u00a5",
    "CRC": "\u20a1",
    "KRW": "\u20a9",
    "ILS": "\u20aa",
    "EUR": "\u20ac",
    "PHP": "\u20b1",
    "PYG": "\u20b2",
    "UAH": "\u20b4",
    "INR": "\u20b9",
    "TRY": "\u20ba",
    "RUB": "\u20bd",
    "BTC": "\u20bf",
}
"""Signs that Unicode does not take apart, behind what is typed where there are none."""

# Letters that it does not take apart, as their languages write them without accents.
_WRITTEN: Final = str.maketrans("ĐđÐðØøŁłĦħŊŋŦŧ\u0131ĸ", "DdDdOoLlHhNnTtik") | str.maketrans(
    {"ß": "ss", "ẞ": "SS", "Æ": "AE", "æ": "ae", "Œ": "OE", "œ": "oe", "Þ": "Th", "þ": "th"}
    | {sign: plain for plain, signs in _SIGNS.items() for sign in signs}
)


def ascii_letters(text: str) -> str:
    """
    Write Latin letters without accents, and signs as typed; other characters stay.

    ``Straße n° 5`` is ``Strasse no 5``, any blank becomes a space, any hyphen ``-``, and invisible
    characters are dropped.
    """
    if text.isascii() and text.isprintable():
        return text
    seen = _BEFORE_FRACTION.sub(" ", _UNSEEN.sub("", text))
    apart = unicodedata.normalize("NFKD", seen.translate(_WRITTEN)).translate(_WRITTEN)
    return "".join(letter for letter in apart if not unicodedata.combining(letter))
