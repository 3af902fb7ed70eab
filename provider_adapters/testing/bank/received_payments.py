"""Payments received: for charges, without one, and top-ups."""

from __future__ import annotations

from dataclasses import dataclass, replace

from provider_adapters.testing.bank import accounts
from provider_adapters.testing.bank.books import Books, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """The payer, with the message of the payment."""

    name: str
    tax_number: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """
    A payment received.

    Attributes:
        reference: The charge's, if it pays one.
        payer: None when it names none.
        seq: The row number of its line in the statement.
        refunded: Centavos refunded or being refunded; read, never written.
    """

    account_id: str
    centavos: int
    at: int
    e2e_id: str
    reference: str | None = None
    payer: Payer | None = None
    seq: int = 0
    refunded: int = 0


def receive(books: Books, payment: Payment) -> Payment:
    """Credit a payment."""
    payer = payment.payer or Payer(name="", tax_number="")
    line = accounts.Entry(
        account_id=payment.account_id,
        kind="pix_in",
        centavos=payment.centavos,
        at=payment.at,
        e2e_id=payment.e2e_id,
        reference=payment.reference,
        name=payer.name,
        tax_number=payer.tax_number,
        description=payer.message,
    )
    return replace(payment, seq=accounts.write_line(books, line))


_TABLE = Table(Payment, "SELECT * FROM payments", "payments", "at", "payment")
read = _TABLE.read
"""Read the payments received, newest first."""
by_e2e_id = _TABLE.by("e2e_id")
"""Find a customer's payment by its end-to-end id; raises ``NOT_FOUND``."""


def of_charge(books: Books, account_id: str, reference: str) -> list[Payment]:
    """Return every payment of a charge, oldest first."""
    return _TABLE.all(books, account_id, reference=reference)


def latest(books: Books, account_id: str, reference: str) -> Payment | None:
    """Find the newest payment of a charge."""
    return next(reversed(of_charge(books, account_id, reference)), None)
