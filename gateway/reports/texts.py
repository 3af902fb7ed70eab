"""Texts of a bank's customers, made fit to be written into a file."""

from __future__ import annotations

import re
import unicodedata

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# A lone surrogate is no character, U+FFFE and U+FFFF are none that XML may carry.
_IMPOSSIBLE = re.compile(r"[\ud800-\udfff\ufffe\uffff]")
_DASHES_AND_QUOTES = str.maketrans(
    "\u2010\u2011\u2012\u2013\u2014\u2018\u2019\u201c\u201d", "-----''\"\""
)
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
_LAYOUT = ("\t", "\r", "\n")


def encodable(text: str) -> str:
    """Replace by U+FFFD what neither UTF-8 nor XML can carry; all else stands."""
    return _IMPOSSIBLE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Make a text one line: no control characters, accents composed."""
    return unicodedata.normalize("NFC", encodable(_CONTROL.sub(" ", text)).strip())


def ascii_line(text: str) -> str:
    """Make a text one line of ASCII: letters without accents, a question mark for the rest."""
    plain = one_line(text).translate(_DASHES_AND_QUOTES)
    bare = (c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return "".join(bare).encode("ascii", "replace").decode("ascii").strip()


def cell(text: str) -> str:
    """
    Make a text safe to open in a spreadsheet.

    One that a spreadsheet would take for a formula gets an apostrophe in
    front, full-width signs and leading blanks included. Numbers and dates
    of ours do not come here.
    """
    safe = encodable(text)
    is_formula = safe.startswith(_LAYOUT) or safe.lstrip().startswith(_FORMULA)
    return f"'{safe}" if is_formula else safe
