"""
BR Code: the EMV text of a PIX QR code, encoded and decoded.

Source: manual of the BR Code (Banco Central); API Pix 2.9.
"""

from __future__ import annotations

import binascii
from contextlib import suppress
from dataclasses import dataclass, replace

from gateway.core.ascii_letters import ascii_letters

_DOMAIN = "br.gov.bcb.pix"
_CRC_START = 0xFFFF
_CRC_LENGTH = 8
_NAME_LENGTH = 25
_CITY_LENGTH = 15
_HEADER_LENGTH = 4
_LONGEST = 99
_UNKNOWN = "-"
"""Stands for a name or a city that is not known: a payload has both."""
_ACCOUNTS = range(26, 52)
"""Where an arrangement of payments may stand; which of them is Pix, its first field says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrCode:
    """
    The content of a payload.

    Attributes:
        key: The PIX key of a static code; None in a dynamic one.
        url: The location of a dynamic code's charge, without scheme.
        amount: Reais with two decimals; None for an open amount.
        txid: ``***`` where the payload names none.
    """

    name: str
    city: str
    key: str | None = None
    url: str | None = None
    info: str | None = None
    amount: str | None = None
    postal_code: str | None = None
    txid: str = "***"
    point_of_initiation: str | None = None


def encode(code: BrCode) -> str:
    """
    Encode a payload: ASCII only, checksum last.

    Names lose their accents, and are cut to 25 characters, cities to 15. ``info`` is cut to
    the rest of its template beside the key.

    Raises:
        ValueError: A field is longer than 99 characters.
    """
    account = _field("00", _DOMAIN) + _field("01", code.key)
    room = max(0, _LONGEST - len(account) - _HEADER_LENGTH)
    account += _field("02", (code.info or "")[:room])
    fields = (
        _field("00", "01"),
        _field("01", code.point_of_initiation),
        _field("26", account + _field("25", code.url)),
        _field("52", "0000"),
        _field("53", "986"),
        _field("54", code.amount),
        _field("58", "BR"),
        _field("59", plain(code.name)[:_NAME_LENGTH] or _UNKNOWN),
        _field("60", plain(code.city)[:_CITY_LENGTH] or _UNKNOWN),
        _field("61", code.postal_code),
        _field("62", _field("05", code.txid)),
    )
    body = "".join(fields) + "6304"
    return body + checksum(body)


def decode(payload: str) -> BrCode:
    """
    Decode a payload.

    Blanks and line breaks around it are left out. Lengths count characters. Some banks count
    bytes of UTF-8: those are tried next.

    Raises:
        ValueError: The checksum or a length is wrong, or it is not a PIX
            payload.
    """
    payload = payload.strip()
    if checksum(payload[:-4]) != payload[-4:].upper() or payload[-_CRC_LENGTH:-4] != "6304":
        message = "the checksum does not fit"
        raise ValueError(message)
    try:
        return _decoded(payload)
    except ValueError:
        if payload.isascii():
            raise
    # Of Latin-1 every character is one byte.
    found = _decoded(payload.encode().decode("latin-1"))
    texts = {name: value for name in found.__slots__ if (value := getattr(found, name))}
    return BrCode(**{name: text.encode("latin-1").decode() for name, text in texts.items()})


def receiver(payload: str) -> BrCode:
    """Return the receiver; empty for an invalid payload, which is passed on all the same."""
    try:
        found = decode(payload)
    except ValueError:
        return BrCode(name="", city="")
    name, city = ("" if text == _UNKNOWN else text for text in (found.name, found.city))
    return replace(found, name=name, city=city)


def _decoded(payload: str) -> BrCode:
    fields = _fields(payload)
    account = _account(fields)
    return BrCode(
        name=fields.get("59", ""),
        city=fields.get("60", ""),
        key=account.get("01"),
        url=account.get("25"),
        info=account.get("02"),
        amount=fields.get("54"),
        postal_code=fields.get("61"),
        txid=_fields(fields.get("62", "")).get("05", "***"),
        point_of_initiation=fields.get("01"),
    )


def _account(fields: dict[str, str]) -> dict[str, str]:
    """Return the template of Pix; others beside it need not be written as it is."""
    for number in _ACCOUNTS:
        template = fields.get(str(number), "")
        with suppress(ValueError):
            if (found := _fields(template)).get("00", "").lower() == _DOMAIN:
                return found
    message = "not a PIX payload"
    raise ValueError(message)


def checksum(text: str) -> str:
    """Return the CRC-16/CCITT-FALSE of a text: four upper-case hexadecimal digits."""
    return f"{binascii.crc_hqx(text.encode(), _CRC_START):04X}"


def plain(text: str) -> str:
    """Write Latin letters and signs in ASCII, as they are typed; drop all else."""
    bare = ascii_letters(text)
    return "".join(letter for letter in bare if letter.isascii() and letter.isprintable())


def _field(number: str, value: str | None) -> str:
    if value and len(value) > _LONGEST:
        message = f"field {number} is longer than {_LONGEST} characters"
        raise ValueError(message)
    return f"{number}{len(value):02d}{value}" if value else ""


def _fields(text: str) -> dict[str, str]:
    """Split a template into its fields; every length must fit exactly."""
    found: dict[str, str] = {}
    while text:
        number, length = text[:2], text[2:_HEADER_LENGTH]
        if not (number.isdigit() and length.isdigit() and len(length) == len(number) == 2):  # noqa: PLR2004 - two digits each
            message = "a field does not begin with its number and length"
            raise ValueError(message)
        end = _HEADER_LENGTH + int(length)
        if end > len(text):
            message = "a field is longer than the payload"
            raise ValueError(message)
        found[number] = text[_HEADER_LENGTH:end]
        text = text[end:]
    return found
