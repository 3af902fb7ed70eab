"""Refunds of payments received, in full or in part, once per idempotency key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from provider_adapters.testing.bank import accounts, magic_values, received_payments
from provider_adapters.testing.bank.books import Books, Table
from provider_adapters.testing.bank.messages import Code, Refusal
from provider_adapters.testing.bank.payouts import Step
from provider_adapters.testing.bank.received_payments import Payment

LATEST: Final = 90 * 86400 * 1_000_000
"""Microseconds after which a payment can no longer be refunded (API Pix 2.9)."""

SELECT: Final = (
    "SELECT refunds.*, payments.e2e_id AS payment_e2e_id, payments.reference AS payment_reference"
    " FROM refunds JOIN payments ON payments.seq = payment_seq"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundOrder:
    """An order of a refund; centavos above zero, ``reference`` is the customer's."""

    payment_e2e_id: str
    centavos: int
    idempotency_key: str
    reference: str = ""
    description: str = ""

    def content(self) -> tuple[object, ...]:
        """Return the fields that a repetition must repeat."""
        return self.payment_e2e_id, self.centavos, self.reference, self.description


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund(RefundOrder):
    """
    A refund as stored.

    Attributes:
        return_id: An end-to-end id that begins with ``D``.
        state: ``processing``, ``settled`` or ``failed``.
        due_at: When ``step`` is due.
    """

    seq: int
    id: str
    account_id: str
    payment_reference: str | None
    return_id: str
    state: str
    failure: str | None
    step: Step | None
    due_at: int | None
    created_at: int
    settled_at: int | None


_TABLE = Table(Refund, SELECT, "refunds", "created_at", "refund")
read = _TABLE.read
"""Read refunds, newest first."""
get = _TABLE.by("id")
"""Find a refund by the bank's id; raises ``NOT_FOUND``."""
by_key = _TABLE.by("idempotency_key")
"""Find the refund of an idempotency key."""


def repeated(books: Books, account_id: str, order: RefundOrder) -> Refund | None:
    """
    Find the refund that this order repeats, for any payout kind of the account.

    Raises:
        Refusal: ``KEY_REUSED`` when the key belongs to another refund.
    """
    known = _TABLE.find(books, account_id, idempotency_key=order.idempotency_key)
    if known is not None and known.content() != order.content():
        raise Refusal(Code.KEY_REUSED, "the idempotency key belongs to another refund")
    return known


def accept(books: Books, account_id: str, order: RefundOrder) -> Refund:
    """
    Accept an order; its money is blocked until it settles.

    Raises:
        Refusal: For every reason in the README's table; nothing is stored.
    """
    magic_values.refuse_amount(order.centavos)
    payment = received_payments.by_e2e_id(books, account_id, order.payment_e2e_id)
    at = books.clock.micros()
    if at - payment.at > LATEST:
        raise Refusal(Code.PAYMENT_TOO_OLD, "the payment is more than 90 days old")
    if order.centavos > payment.centavos - payment.refunded:
        raise Refusal(Code.ABOVE_PAYMENT, "the refund is above what is left of the payment")
    accounts.require_available(books, account_id, order.centavos)
    refund_id = books.identifier("dev")
    step, due_at = magic_values.plan(books, order.centavos, at)
    books.database.insert(
        "refunds",
        order,
        id=refund_id,
        account_id=account_id,
        payment_seq=payment.seq,
        return_id=f"D{books.e2e_id(at)[1:]}",
        state="processing",
        step=step,
        due_at=due_at,
        created_at=at,
    )
    return get(books, account_id, refund_id)


def of_payment(books: Books, payment: Payment) -> list[Refund]:
    """Return every refund of a payment, oldest first."""
    sql = f"{SELECT} WHERE payment_seq = ? ORDER BY refunds.seq"
    return books.database.records(Refund, sql, (payment.seq,))


def executed(books: Books, key: str | None) -> list[Refund]:
    """Return the refunds that moved money or will, of one key or of all, oldest first."""
    found = _TABLE.of_key(books, key)
    return [each for each in found if each.state != "failed" and each.step is not Step.FAIL]
