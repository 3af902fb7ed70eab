"""Refunds of payments received, in full or in part, once per idempotency key."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from provider_adapters.testing.bank.kernel import accounts, ledger, refusals
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.database import Row
from provider_adapters.testing.bank.kernel.paging import Page, Slice, count, cut
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.pix import magic_values, received_payments
from provider_adapters.testing.bank.pix.received_payments import Payment

LATEST: Final = 90 * 86400 * 1_000_000
"""Microseconds after which a payment can no longer be refunded (API Pix 2.9)."""

_SELECT = (
    "SELECT refunds.*, payments.e2e_id AS payment_e2e_id, payments.reference AS payment_reference"
    " FROM refunds JOIN payments ON payments.seq = payment_seq"
)
_PAGE = (
    f"{_SELECT} WHERE refunds.account_id = ? AND created_at >= ? AND created_at < ?"
    " AND (created_at, refunds.seq) < (?, ?)"
    " ORDER BY created_at DESC, refunds.seq DESC LIMIT ? OFFSET ?"
)
_INSERT = (
    "INSERT INTO refunds (id, account_id, payment_seq, idempotency_key, fingerprint, reference,"
    " centavos, return_id, description, state, step, due_at, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'processing', ?, ?, ?)"
)
# A refund that fails after acceptance moves nothing, so it counts as not executed at once.
_EXECUTED = (
    f"{_SELECT} WHERE state <> 'failed' AND coalesce(step, '') <> 'fail'"
    " AND (? IS NULL OR idempotency_key = ?) ORDER BY refunds.seq"
)


class RefundStep(StrEnum):
    """The next step of a refund."""

    SETTLE = "settle"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundOrder:
    """An order of a refund; centavos above zero, ``reference`` is the customer's."""

    payment_e2e_id: str
    centavos: int
    idempotency_key: str
    reference: str = ""
    description: str = ""

    def fingerprint(self) -> str:
        """Return a digest of the order's content."""
        content = (self.payment_e2e_id, str(self.centavos), self.reference, self.description)
        return hashlib.sha256("\0".join(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """
    A refund as stored.

    Attributes:
        payment_seq: The row of the refunded payment.
        return_id: An end-to-end id that begins with ``D``.
        state: ``processing``, ``settled`` or ``failed``.
        due_at: When ``step`` is due; all instants in microseconds since 1970.
    """

    seq: int
    id: str
    account_id: str
    payment_seq: int
    payment_e2e_id: str
    payment_reference: str | None
    idempotency_key: str
    fingerprint: str
    reference: str
    centavos: int
    return_id: str
    description: str
    state: str
    failure: str | None
    step: str | None
    due_at: int | None
    created_at: int
    settled_at: int | None


def repeated(books: Books, account_id: str, order: RefundOrder) -> Refund | None:
    """
    Find the refund that this order repeats, whatever the account's payout kind.

    Raises:
        Refusal: ``KEY_REUSED`` when the key belongs to another refund.
    """
    row = _by_key(books, account_id, order.idempotency_key)
    if row is None:
        return None
    known = Refund(**row)
    if known.fingerprint != order.fingerprint():
        raise Refusal(Code.KEY_REUSED, "the idempotency key belongs to another refund")
    return known


def accept(books: Books, account_id: str, order: RefundOrder) -> Refund:
    """
    Accept an order and hold its money, in one transaction.

    Raises:
        Refusal: For every reason in the README's table; nothing is stored.
    """
    magic_values.refuse_amount(order.centavos)
    payment = received_payments.by_e2e_id(books, account_id, order.payment_e2e_id)
    at = books.clock.micros()
    _check(books, payment, order, at)
    refund_id = books.identifier("dev")
    with books.database.transaction():
        movement = ledger.Movement(
            debit=ledger.customer(account_id),
            credit=ledger.held(account_id),
            centavos=order.centavos,
            memo="refund accepted",
            at=at,
        )
        ledger.move(books.database, movement)
        books.database.run(
            _INSERT,
            (
                *(refund_id, account_id, payment.seq, order.idempotency_key, order.fingerprint()),
                *(order.reference, order.centavos, f"D{books.e2e_id(at)[1:]}", order.description),
                *(*_plan(books, order.centavos, at), at),
            ),
        )
    return get(books, account_id, refund_id)


def get(books: Books, account_id: str, refund_id: str) -> Refund:
    """
    Find a refund by the bank's id.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    sql = f"{_SELECT} WHERE refunds.account_id = ? AND refunds.id = ?"
    return _found(books.database.one(sql, (account_id, refund_id)))


def by_key(books: Books, account_id: str, key: str) -> Refund:
    """
    Find the refund of an idempotency key.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    return _found(_by_key(books, account_id, key))


def read(books: Books, account_id: str, wanted: Slice) -> Page[Refund]:
    """Read refunds, newest first."""
    refunds = [Refund(**row) for row in books.database.all(_PAGE, wanted.values(account_id))]
    return cut(refunds, [(refund.created_at, refund.seq) for refund in refunds], wanted.limit)


def of_payment(books: Books, payment: Payment) -> list[Refund]:
    """Return every refund of a payment, oldest first."""
    sql = f"{_SELECT} WHERE payment_seq = ? ORDER BY refunds.seq"
    return [Refund(**row) for row in books.database.all(sql, (payment.seq,))]


def total(books: Books, account_id: str, wanted: Slice) -> int:
    """Count the refunds of a window."""
    return count(books.database, "refunds", account_id, wanted)


def executed(books: Books, key: str | None) -> list[Refund]:
    """Return the refunds that moved money or will, of one key or of all, oldest first."""
    return [Refund(**row) for row in books.database.all(_EXECUTED, (key, key))]


def _check(books: Books, payment: Payment, order: RefundOrder, at: int) -> None:
    """Refuse what cannot be refunded."""
    if at - payment.at > LATEST:
        raise Refusal(Code.PAYMENT_TOO_OLD, "the payment is more than 90 days old")
    if order.centavos > payment.centavos - payment.refunded:
        raise Refusal(Code.ABOVE_PAYMENT, "the refund is above what is left of the payment")
    if order.centavos > accounts.balance(books, payment.account_id).available:
        raise Refusal(Code.INSUFFICIENT_FUNDS, "the balance is too low")


def _plan(books: Books, centavos: int, at: int) -> tuple[RefundStep, int]:
    """Return the refund's next step and its time; the amount decides."""
    if centavos == magic_values.SETTLES_LATE:
        return RefundStep.SETTLE, at + magic_values.LATE_BY
    step = RefundStep.FAIL if centavos == magic_values.FAILS_LATER else RefundStep.SETTLE
    return step, at + books.settle_after


def _by_key(books: Books, account_id: str, key: str) -> Row | None:
    sql = f"{_SELECT} WHERE refunds.account_id = ? AND idempotency_key = ?"
    return books.database.one(sql, (account_id, key))


def _found(row: Row | None) -> Refund:
    if row is None:
        what = "refund"
        raise refusals.not_found(what)
    return Refund(**row)
