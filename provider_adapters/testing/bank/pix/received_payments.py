"""Payments received: for charges, without one, and top-ups."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from provider_adapters.testing.bank.kernel import ledger, refusals, statement
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.database import Row
from provider_adapters.testing.bank.kernel.paging import Page, Slice, count, cut

_SELECT = (
    "SELECT *, (SELECT coalesce(sum(refunds.centavos), 0) FROM refunds"
    " WHERE payment_seq = payments.seq AND state <> 'failed') AS refunded FROM payments"
)
_PAGE = (
    f"{_SELECT} WHERE account_id = ? AND at >= ? AND at < ?"
    " AND (at, seq) < (?, ?) ORDER BY at DESC, seq DESC LIMIT ? OFFSET ?"
)
_LATEST = f"{_SELECT} WHERE account_id = ? AND reference = ? ORDER BY seq DESC LIMIT 1"


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
        at: Microseconds since 1970.
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


def receive(books: Books, payment: Payment, debit: str = ledger.SETTLEMENT) -> Payment:
    """
    Credit a payment in ledger, statement and list; call only inside a transaction.

    ``debit`` is the ledger account that pays.
    """
    credit = ledger.customer(payment.account_id)
    memo = f"pix in {payment.e2e_id}"
    ledger.move(
        books.database,
        ledger.Movement(
            debit=debit, credit=credit, centavos=payment.centavos, memo=memo, at=payment.at
        ),
    )
    seq = statement.write(books, _line(payment))
    books.database.run(
        "INSERT INTO payments (seq, account_id, reference, e2e_id, centavos, payer, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            seq,
            payment.account_id,
            payment.reference,
            payment.e2e_id,
            payment.centavos,
            write_payer(payment.payer),
            payment.at,
        ),
    )
    return _payment({**asdict(payment), "seq": seq, "payer": write_payer(payment.payer)})


def latest(books: Books, account_id: str, reference: str) -> Payment | None:
    """Find the newest payment of a charge."""
    row = books.database.one(_LATEST, (account_id, reference))
    return _payment(row) if row else None


def of_charge(books: Books, account_id: str, reference: str) -> list[Payment]:
    """Return every payment of a charge, oldest first."""
    sql = f"{_SELECT} WHERE account_id = ? AND reference = ? ORDER BY seq"
    return [_payment(row) for row in books.database.all(sql, (account_id, reference))]


def by_e2e_id(books: Books, account_id: str, e2e_id: str) -> Payment:
    """
    Find a customer's payment by its end-to-end id.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    sql = f"{_SELECT} WHERE account_id = ? AND e2e_id = ?"
    row = books.database.one(sql, (account_id, e2e_id))
    if row is None:
        what = "payment"
        raise refusals.not_found(what)
    return _payment(row)


def read(books: Books, account_id: str, wanted: Slice) -> Page[Payment]:
    """Read the payments received, newest first."""
    payments = [_payment(row) for row in books.database.all(_PAGE, wanted.values(account_id))]
    return cut(payments, [(payment.at, payment.seq) for payment in payments], wanted.limit)


def total(books: Books, account_id: str, wanted: Slice) -> int:
    """Count the payments of a window."""
    return count(books.database, "payments", account_id, wanted)


def write_payer(payer: Payer | None) -> str | None:
    """Return a payer as it is stored."""
    return json.dumps(asdict(payer)) if payer else None


def read_payer(text: str | None) -> Payer | None:
    """Read a stored payer."""
    return Payer(**json.loads(text)) if text else None


def _line(payment: Payment) -> statement.Entry:
    payer = payment.payer or Payer(name="", tax_number="")
    return statement.Entry(
        account_id=payment.account_id,
        kind="pix_in",
        centavos=payment.centavos,
        at=payment.at,
        e2e_id=payment.e2e_id,
        name=payer.name,
        tax_number=payer.tax_number,
        description=payer.message,
    )


def _payment(row: Row) -> Payment:
    return Payment(**{**row, "payer": read_payer(row["payer"])})
