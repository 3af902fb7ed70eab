"""
Repairing damaged text in a bank's JSON, after the document could not be decoded.

Payers type texts and banks cut them: half of a surrogate pair, a raw line break, bytes of Latin-1
or half of a UTF-8 character then stand between two quotation marks. Each becomes U+FFFD, or the
escape of the same control character, so that a name and an amount never become another name or
amount. Quotation marks, brackets, commas and colons are left as they are: a document that is cut
or has something behind its end stays undecodable.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Final

import msgspec

UNREADABLE: Final = "\ufffd"
"""In the place of what could not be read; no id, amount, date or word of a bank holds it."""

_NEITHER: Final = "[[]]"
"""Stands for a word that JSON lacks, such as ``NaN``. No field of ours has a list of lists, so
that a field that is read refuses it."""
# Possessive, and a string may lack its end: no text is gone through twice.
_STRING: Final = r'"(?:[^"\\]+|\\.|\\\Z)*+(?:"|\Z)'
_WORD: Final = r'[^ \t\n\r"{}\[\],:]+'
_TOKEN: Final = re.compile(f"{_STRING}|{_WORD}", re.DOTALL)
_PIECE: Final = re.compile(rf"{_STRING}|{_WORD}|[{{}}\[\],]", re.DOTALL)
_LITERAL: Final = re.compile(
    r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
)
_HIGH, _LOW, _FOUR = "[dD][89abAB]", "[dD][c-fC-F]", "[0-9a-fA-F]{2}"
_ESCAPE: Final = re.compile(
    rf"\\u{_HIGH}{_FOUR}\\u{_LOW}{_FOUR}"  # a whole pair
    rf"|(?P<half>\\u[dD][89a-fA-F]{_FOUR})"
    rf'|\\u{_FOUR}{_FOUR}|\\["\\/bfnrt]'
    r"|(?P<no_escape>\\)"
    r"|(?P<control>[\x00-\x1f])"
)
# Numbers with a fraction stay as they are written: a float would not.
EXACT: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(
    float_hook=lambda number: msgspec.Raw(number.encode())
)


def repaired(body: bytes) -> bytes:
    """
    Return an object or a list with its texts repaired; anything else as it is.

    The result may be no JSON either: only texts and words are repaired.
    """
    if body.lstrip(b" \t\n\r")[:1] not in {b"{", b"["}:
        return body
    return _TOKEN.sub(_token, body.decode(errors="replace")).encode()


def decoded(body: bytes) -> object:
    """
    Decode a document of any form, its texts repaired; fractions stay as they are written.

    Raises:
        MsgspecError, ValueError, RecursionError: It is no JSON.
    """
    return EXACT.decode(repaired(body))


def salvaged(body: bytes) -> object:
    """
    Return what can be read of a callback that is cut, or is no JSON for another reason.

    For callbacks alone: they only say what to look up. A name that comes twice keeps its first
    value; a text without an end is no value.
    """
    top: list[object] = []
    within: list[dict[str, object] | list[object]] = [top]
    name: str | None = None
    for piece in _PIECE.findall(body.decode(errors="replace")):
        holder = within[-1]
        if piece in "}]":
            del within[max(1, len(within) - 1) :]
            name = None
        elif piece == ",":
            name = None
        elif isinstance(holder, dict) and name is None and piece not in "{[":
            told = _value(piece)
            name = told if isinstance(told, str) else None
        else:
            value = {"{": dict, "[": list}.get(piece, partial(_value, piece))()
            if isinstance(holder, list):
                holder.append(value)
            elif name is not None:
                holder.setdefault(name, value)
            name = None
            if isinstance(value, dict | list):
                within.append(value)
    return top[0] if top else None


def _value(piece: str) -> object:
    """Decode a text or a literal; None for what is neither."""
    try:
        value = EXACT.decode(_TOKEN.sub(_token, piece))
    except (msgspec.DecodeError, ValueError):
        return None
    return None if isinstance(value, list) else value


def _token(found: re.Match[str]) -> str:
    """Repair a text; a word that JSON lacks becomes a value that no field takes."""
    token = found[0]
    if token[0] == '"':
        return _ESCAPE.sub(_sound, token)
    return token if _LITERAL.fullmatch(token) else _NEITHER


def _sound(found: re.Match[str]) -> str:
    """Return an escape that decodes, or the escape of a raw control character."""
    match found.lastgroup:
        case "half" | "no_escape":
            return UNREADABLE
        case "control":
            return f"\\u{ord(found[0]):04x}"
    return found[0]
