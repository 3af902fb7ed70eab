"""
Strict readers: text from outside into a value, or ``Malformed``, a ``ValueError``.

Python's own readers take braces, signs, underscores, other scripts' digits and
a trailing newline where the contract has one form. Every reader here is one
ASCII pattern, matched whole.
"""

from __future__ import annotations

import binascii
import re
from datetime import date

from gateway.core.money import Money

_UUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE
)
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
_AMOUNT = re.compile(r"-?(0|[1-9]\d{0,12})(?:\.(\d{1,2}))?", re.ASCII)
_SCHEME = re.compile(r"([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?: +(.*))?", re.ASCII | re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_TURNING = re.compile(r"[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# Shown as nothing, though not of a category that says so (Default_Ignorable_Code_Point)
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_PUNCTUATION = str.maketrans("", "", "./- ")
_CPF = re.compile(r"\d{11}", re.ASCII)
_CNPJ = re.compile(r"[0-9A-Za-z]{12}\d{2}", re.ASCII)
E2E_ID = re.compile(r"[ED][0-9A-Z]{8}[0-9]{12}[0-9A-Za-z]{11}", re.ASCII)
_TRACE_ID = re.compile(r"[A-Za-z0-9._:\-]{1,128}", re.ASCII)
# what providers of mail accept: no quotes, no comments, no IP addresses, ASCII only
_EMAIL = re.compile(
    r"[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}",
    re.ASCII,
)
_LONGEST_EMAIL = 254
"""The longest address that mail can carry (RFC 5321, errata 1690)."""

_WEIGHTS_FROM, _WEIGHTS_TO = 9, 2
"""A CNPJ's weights fall to two and begin again at nine."""

MAX_TEXT = 1024
"""The longest text field, in code points (contract part 8)."""


class Malformed(ValueError):
    """The text is malformed; the message never repeats it."""


def uuid_text(text: str) -> str:
    """Read a hyphenated UUID of any letter case; return it in lower case."""
    if _UUID.fullmatch(text) is None:
        raise Malformed
    return text.lower()


def day(text: str) -> date:
    """Read ``YYYY-MM-DD``; the day must exist."""
    found = _DATE.fullmatch(text)
    if found is None:
        raise Malformed
    return date(int(found[1]), int(found[2]), int(found[3]))


def whole_number(text: str) -> int:
    """Read one to eighteen ASCII digits."""
    if _WHOLE.fullmatch(text) is None:
        raise Malformed
    return int(text)


def amount(text: str) -> Money:
    """Read reais with at most two decimals, no exponent, at most thirteen whole digits."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise Malformed
    centavos = int(found[1]) * 100 + int((found[2] or "0").ljust(2, "0"))
    return Money(-centavos if text.startswith("-") else centavos)


def plain_text(text: str, longest: int = MAX_TEXT) -> str:
    """Check a text: no control character, no lone surrogate, not too long."""
    # Nearly every text is printable, and holds neither then.
    plain = text.isprintable() or not (_CONTROL.search(text) or _SURROGATE.search(text))
    if len(text) > longest or not plain:
        raise Malformed
    return text


def visible_text(text: str) -> str:
    """Check a plain text of visible characters: no outer blank, no blank but a space."""
    if text != text.strip() or not text.isprintable() or _UNSEEN.search(text):
        raise Malformed
    return plain_text(text)


def cleaned_text(text: str | None, longest: int = MAX_TEXT) -> str:
    """
    Clean a foreign text, such as a payer's message at a bank.

    Control characters become spaces, long texts are cut; None becomes empty.
    """
    if text is None:
        return ""
    if text.isprintable() and len(text) <= longest:
        return text
    return _SURROGATE.sub(" ", _CONTROL.sub(" ", text))[:longest]


def name(text: str, longest: int = MAX_TEXT) -> str:
    """
    Check a name: a plain text without characters that change how it is read.

    Invisible characters that reverse the following text, or begin a line,
    would let one name look like another (UAX 9, UAX 14).
    """
    if _TURNING.search(text):
        raise Malformed
    return plain_text(text, longest)


def email(text: str) -> str:
    """Read an e-mail address, in lower case."""
    lowered = text.strip().lower()
    if len(lowered) > _LONGEST_EMAIL or _EMAIL.fullmatch(lowered) is None:
        raise Malformed
    return lowered


def reference(text: str) -> str:
    """Let a reference through unchanged: 1 to 1024 code points, never a dot segment."""
    if text in {"", ".", ".."}:
        raise Malformed
    return plain_text(text)


def is_e2e_id(text: str) -> bool:
    """
    Return whether a text has the form of an end-to-end id, of a payment (E) or a return (D).

    Letter, the bank's ISPB, minute in UTC, eleven of the bank's own: 32 characters. The ISPB
    may hold capital letters (API Pix 2.9.0).
    """
    return E2E_ID.fullmatch(text) is not None


def scheme(header: str) -> tuple[str, str]:
    """
    Split an Authorization header into the lower-case scheme word and the rest.

    The rest is empty when there is none.
    """
    if header.startswith("Basic "):  # nearly every one: spared the pattern
        return "basic", header[6:].lstrip(" ")
    found = _SCHEME.fullmatch(header)
    if found is None:
        raise Malformed
    return found[1].lower(), found[2] or ""


def basic_pair(token: str) -> tuple[str, str]:
    """Read the token of a Basic header: client id and secret, split at the first colon."""
    try:
        content = binascii.a2b_base64(token, strict_mode=True)
        pair = content.decode("utf-8")
    except ValueError as problem:  # binascii's, a character beyond ASCII, no UTF-8
        raise Malformed from problem
    # Python takes what has another form too: bits that stand for nothing.
    if binascii.b2a_base64(content, newline=False) != token.encode("ascii"):
        raise Malformed
    client_id, colon, secret = pair.partition(":")
    plain = pair.isascii() and pair.isprintable()
    if not colon or not (plain or _CONTROL.search(pair) is None):
        raise Malformed
    return client_id, secret


def tax_number(text: str) -> str:
    """
    Read a CPF or CNPJ; return it without punctuation, letters as capitals.

    ``.``, ``/``, ``-`` and spaces may stand anywhere. The first twelve characters of a
    CNPJ may be letters (Instrução Normativa RFB 2.229/2024).
    """
    bare = text.translate(_PUNCTUATION)
    if _CPF.fullmatch(bare):
        return _checked(bare, (10, 11))
    if _CNPJ.fullmatch(bare):
        return _checked(bare.upper(), (5, 6))
    raise Malformed


def tax_number_if_any(text: str) -> str:
    """Return the result of ``tax_number``; empty for an invalid text."""
    try:
        return tax_number(text)
    except Malformed:
        return ""


def has_letters(number: str) -> bool:
    """Return whether a normal tax number, or a PIX key, is a CNPJ with letters (July 2026)."""
    return _CNPJ.fullmatch(number) is not None and not number.isdigit()


def trace_id(text: str) -> str:
    """Let a caller's trace id through: 1 to 128 unreserved ASCII characters."""
    if _TRACE_ID.fullmatch(text) is None:
        raise Malformed
    return text


def _checked(number: str, first_weights: tuple[int, int]) -> str:
    """Return ``number`` if its two check digits hold and it is no single repeated digit."""
    if len(set(number)) == 1:
        raise Malformed
    for end, weight in zip((-2, -1), first_weights, strict=True):
        if number[end] != str(_check_digit(number[:end], weight)):
            raise Malformed
    return number


def _check_digit(body: str, weight: int) -> int:
    """Sum the values (code minus 48) by falling weights, modulo 11."""
    total = 0
    for character in body:
        total += (ord(character) - 48) * weight
        weight = weight - 1 if weight > _WEIGHTS_TO else _WEIGHTS_FROM
    rest = total % 11
    return 0 if rest < _WEIGHTS_TO else 11 - rest


_HIDDEN = "*"
_PERSON = re.compile(r"\d{3}(\d{3})(\d{3})\d{2}", re.ASCII)
_SIGNS = re.compile(r"[^0-9A-Za-z*]")


def hidden_tax_number(text: str) -> str:
    """
    Mask both ends of a CPF, as the central bank's directory does: ``***.982.247-**``.

    Signs around and between the digits do not matter. A hidden number stays unchanged; a
    CNPJ is public and stays whole.
    """
    person = _PERSON.fullmatch(_SIGNS.sub("", text))
    if person is None:
        return text
    return f"{_HIDDEN * 3}.{person[1]}.{person[2]}-{_HIDDEN * 2}"


def is_other_number(tax_number: str, shown: str) -> bool:
    """
    Return whether a bank's masked tax number of an owner rules out another number.

    ``tax_number`` is in its normal form. Of a hidden one the visible digits are compared; nothing
    shown rules nothing out.
    """
    bare = _SIGNS.sub("", shown)
    if not bare:
        return False
    if len(bare) != len(tax_number):
        return True
    pairs = zip(bare, tax_number, strict=True)
    return any(known not in (_HIDDEN, own) for known, own in pairs)
