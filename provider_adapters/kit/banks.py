"""
Brazilian banks by their two numbers: COMPE, three digits, and ISPB, eight.

Partners name a bank by its COMPE number (contract 3), banks take one or the other, and some
read three digits as an order for another, slower network: convert before sending. The data is
the Banco Central's list of participants as guibranco/BancosBrasileiros (public domain)
published it on 22 August 2026. A bank that is missing is not necessarily wrong: what cannot be
converted can never be sent, and is refused before a byte leaves.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from gateway.banks.port.payout_orders import FailureCode
from provider_adapters.kit.outcomes import NeverSendable

AS_OF: Final = "2026-08-22"
"""The day of the data."""
_COMPE_DIGITS: Final = 3
_ISPB_DIGITS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """
    A bank, or another institution with a number.

    Attributes:
        compe: Three digits, as customers know it.
        ispb: Eight digits, the number in Pix.
        name: In upper case, as the Banco Central lists it.
        pix: ``direct`` or ``indirect`` for who takes part in Pix; else empty.
    """

    compe: str
    ispb: str
    name: str
    pix: str


def by_compe(number: str) -> Bank | None:
    """Find a bank by its COMPE number, the contract's ``bank_number``; zeros may be missing."""
    return _listed()[0].get(number.zfill(_COMPE_DIGITS))


def by_ispb(number: str) -> Bank | None:
    """Find a bank by its ISPB number, eight digits."""
    return _listed()[1].get(number)


def by_number(number: str) -> Bank | None:
    """Find a bank by either number: one of eight digits is an ISPB."""
    return by_ispb(number) if len(number) == _ISPB_DIGITS else by_compe(number)


def ispb_of(number: str) -> str:
    """
    Return the ISPB of a bank that an order names by either number.

    Raises:
        NeverSendable: No bank has it.
    """
    bank = by_number(number)
    if bank is None:
        raise NeverSendable(FailureCode.ACCOUNT_INVALID)
    return bank.ispb


def every() -> Sequence[Bank]:
    """Return every bank that has a COMPE number, by that number."""
    return list(_listed()[0].values())


def search(text: str) -> Sequence[Bank]:
    """Find banks by either number, or by a part of the name, accents or not; by COMPE."""
    wanted = _bare(text.strip())
    found = by_compe(wanted) or by_ispb(wanted)
    if found:
        return [found]
    return [bank for bank in _listed()[0].values() if wanted and wanted in _bare(bank.name)]


def _bare(text: str) -> str:
    """Write a name in upper case without accents."""
    letters = unicodedata.normalize("NFKD", text.upper())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


@lru_cache(maxsize=1)
def _listed() -> tuple[Mapping[str, Bank], Mapping[str, Bank]]:
    """Read the list on first use: 511 lines, by COMPE and by ISPB."""
    text = files(__package__).joinpath("banks.csv").read_text(encoding="utf-8")
    banks = [Bank(**row) for row in csv.DictReader(text.splitlines())]
    by = {bank.compe: bank for bank in banks}, {bank.ispb: bank for bank in banks}
    return MappingProxyType(by[0]), MappingProxyType(by[1])
