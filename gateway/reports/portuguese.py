"""Amounts, times and words as people in Brazil read them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Final
from zoneinfo import ZoneInfo

from gateway.domain.bank.statements import Direction, Entry, MovementKind
from gateway.domain.kernel.money import Money

ZONE: Final = ZoneInfo("America/Sao_Paulo")
"""The time of Brasilia, which banks print."""

_CPF_DIGITS, _CNPJ_DIGITS = 11, 14

DIRECTIONS: Final[Mapping[Direction, str]] = {
    Direction.CREDIT: "Crédito",
    Direction.DEBIT: "Débito",
}
OPERATIONS: Final[Mapping[MovementKind, tuple[str, str]]] = {
    MovementKind.PIX: ("Pix recebido", "Pix enviado"),
    MovementKind.PIX_RETURN: ("Devolução Pix recebida", "Devolução Pix enviada"),
    MovementKind.TED: ("TED recebida", "TED enviada"),
    MovementKind.BOLETO: ("Boleto recebido", "Boleto pago"),
    MovementKind.FEE: ("Estorno de tarifa", "Tarifa"),
    MovementKind.OTHER: ("Outro crédito", "Outro débito"),
}
"""What each kind is called, as a credit and as a debit."""


def amount(value: Money) -> str:
    """Write an amount as ``1.234,56``, a minus in front when negative."""
    whole, rest = divmod(abs(value.centavos), 100)
    grouped = f"{whole:,}".replace(",", ".")
    return f"{'-' if value.centavos < 0 else ''}{grouped},{rest:02d}"


def minute(at: datetime) -> str:
    """Write an instant as ``dd/mm/yyyy HH:MM`` in the time of Brasilia."""
    return at.astimezone(ZONE).strftime("%d/%m/%Y %H:%M")


def day(on: date) -> str:
    """Write a day as ``dd/mm/yyyy``."""
    return on.strftime("%d/%m/%Y")


def tax_number(number: str) -> str:
    """Write a CPF or CNPJ with its punctuation; anything else as it stands."""
    if len(number) == _CPF_DIGITS and number.isascii() and number.isdigit():
        return f"{number[:3]}.{number[3:6]}.{number[6:9]}-{number[9:]}"
    if len(number) == _CNPJ_DIGITS and number.isascii() and number.isalnum():
        return f"{number[:2]}.{number[2:5]}.{number[5:8]}/{number[8:12]}-{number[12:]}"
    return number


def operation(entry: Entry) -> str:
    """Name what a movement is; one that is Pix but of no known kind is called Pix."""
    is_bare_pix = entry.is_pix and entry.kind is MovementKind.OTHER
    credit, debit = OPERATIONS[MovementKind.PIX if is_bare_pix else entry.kind]
    return credit if entry.direction is Direction.CREDIT else debit
