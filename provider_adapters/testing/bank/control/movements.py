"""Movements that are not Pix: fees, TED, boletos."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from provider_adapters.testing.bank.kernel import ledger, statement
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal

DESCRIPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fee": "Tarifa",
        "ted_in": "TED recebida",
        "ted_out": "TED enviada",
        "boleto_in": "Boleto liquidado",
        "boleto_out": "Pagamento de boleto",
    }
)
"""Every kind, with its default description."""
_INTO: Final = frozenset({"ted_in", "boleto_in"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMovement:
    """
    A movement that is not Pix.

    Attributes:
        kind: One of ``DESCRIPTIONS``; it implies the direction.
        centavos: Above zero.
        at: Microseconds since 1970.
        name, tax_number: Of the counterparty.
    """

    account_id: str
    kind: str
    centavos: int
    at: int
    description: str = ""
    name: str = ""
    tax_number: str = ""


def book(books: Books, movement: OtherMovement) -> int:
    """
    Book a movement in ledger and statement, in one transaction; return its row number.

    Raises:
        Refusal: ``INSUFFICIENT_FUNDS`` above the available balance.
    """
    own = ledger.customer(movement.account_id)
    other = ledger.FEES if movement.kind == "fee" else ledger.SETTLEMENT
    comes_in = movement.kind in _INTO
    if not comes_in and ledger.balance(books.database, own) < movement.centavos:
        raise Refusal(Code.INSUFFICIENT_FUNDS, "there is not that much")
    debit, credit = (other, own) if comes_in else (own, other)
    with books.database.transaction():
        ledger.move(
            books.database,
            ledger.Movement(
                debit=debit,
                credit=credit,
                centavos=movement.centavos,
                memo=movement.kind,
                at=movement.at,
            ),
        )
        return statement.write(books, _line(movement, comes_in=comes_in))


def _line(movement: OtherMovement, *, comes_in: bool) -> statement.Entry:
    return statement.Entry(
        account_id=movement.account_id,
        kind=movement.kind,
        centavos=movement.centavos if comes_in else -movement.centavos,
        at=movement.at,
        name=movement.name,
        tax_number=movement.tax_number,
        description=movement.description or DESCRIPTIONS[movement.kind],
    )
