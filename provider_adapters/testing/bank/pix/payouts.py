"""Payouts: accepted at once, settled later, executed once per idempotency key."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from provider_adapters.testing.bank.kernel import accounts, ledger, refusals
from provider_adapters.testing.bank.kernel.accounts import Account, PayoutKind
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.database import Row, Value
from provider_adapters.testing.bank.kernel.paging import Page, Slice, count, cut
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.pix import destinations, holds, magic_values
from provider_adapters.testing.bank.pix.destinations import Destination

_SELECT = (
    "SELECT *, (SELECT until FROM holds WHERE payout_seq = payouts.seq) AS held_until,"
    " (SELECT json_group_array(json_array(id, centavos, at)) FROM returns"
    " WHERE payout_seq = payouts.seq) AS returns FROM payouts"
)
_FIND = f"{_SELECT} WHERE account_id = ?"
_PAGE = (
    f"{_SELECT} WHERE account_id = ? AND created_at >= ? AND created_at < ?"
    " AND (created_at, seq) < (?, ?) ORDER BY created_at DESC, seq DESC LIMIT ? OFFSET ?"
)
_INSERT = (
    "INSERT INTO payouts (id, account_id, idempotency_key, unique_key, fingerprint, centavos,"
    " e2e_id, description, destination, credit_to, state, step, due_at, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'processing', ?, ?, ?)"
)
# A payout that fails after acceptance is never executed, so it counts as not executed at once.
_EXECUTIONS = (
    "SELECT idempotency_key, coalesce(settled_centavos, centavos) AS centavos, e2e_id, created_at"
    " FROM payouts WHERE state <> 'failed' AND coalesce(step, '') <> 'fail'"
    " AND (? IS NULL OR idempotency_key = ?) ORDER BY seq"
)


class Step(StrEnum):
    """The next step of a payout."""

    SETTLE = "settle"
    FAIL = "fail"
    RETURN = "return"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order of a payout; centavos above zero."""

    centavos: int
    to: Destination
    description: str = ""
    idempotency_key: str | None = None

    def fingerprint(self) -> str:
        """Return a digest of the order's content."""
        content = f"{self.centavos}\0{self.description}\0{self.to.sent}"
        return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Payout:
    """
    A payout as stored.

    Attributes:
        state: ``processing``, ``settled``, ``failed`` or ``returned``.
        settled_centavos: What was really paid, once it is settled.
        credit_to: The recipient's account, if it is at this bank.
        failure: The bank's code, when it failed.
        due_at: When ``step`` is due; all instants in microseconds since 1970.
        held_until: Until when it is analysed before it settles; read, never written.
        returns: What came back, JSON of id, centavos and instant each; read, never written.
    """

    seq: int
    id: str
    account_id: str
    idempotency_key: str | None
    unique_key: str | None
    fingerprint: str
    centavos: int
    settled_centavos: int | None
    e2e_id: str
    description: str
    destination: str
    credit_to: str | None
    state: str
    failure: str | None
    step: str | None
    due_at: int | None
    created_at: int
    settled_at: int | None
    returned_at: int | None
    held_until: int | None = None
    returns: str = "[]"

    @property
    def to(self) -> Destination:
        """Where it goes."""
        return destinations.read(self.destination)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A payout that moved money or will; ``at`` in microseconds since 1970."""

    key: str | None
    centavos: int
    e2e_id: str
    at: int


def repeated(books: Books, account: Account, order: Order) -> Payout | None:
    """
    Find the payout that this order repeats, depending on the account's payout kind.

    Raises:
        Refusal: ``DUPLICATE`` (409, kind dup), ``KEY_REUSED`` (422, kind idem
            with other content).
    """
    if order.idempotency_key is None or account.payout_kind is PayoutKind.NONE:
        return None
    known = _by_key(books, account.id, order.idempotency_key)
    if known is None:
        return None
    if account.payout_kind is PayoutKind.DUP:
        raise Refusal(Code.DUPLICATE, "this idempotency key was used before")
    if known.fingerprint != order.fingerprint():
        raise Refusal(Code.KEY_REUSED, "the idempotency key belongs to another order")
    return known


def accept(books: Books, account: Account, order: Order) -> Payout:
    """
    Accept an order and hold its money, in one transaction.

    Raises:
        Refusal: For every reason in the README's table; nothing is stored.
    """
    magic_values.refuse_amount(order.centavos)
    credit_to = destinations.resolve(books, order.to)
    _check_funds(books, account, order)
    at = books.clock.micros()
    payout_id = books.identifier("trf")
    with books.database.transaction():
        _hold(books, account, order, at)
        seq = books.database.run(
            _INSERT,
            (
                *(payout_id, account.id, *_keys(account, order), order.fingerprint()),
                *(order.centavos, books.e2e_id(at), order.description),
                *(destinations.write(order.to), _credited(order, credit_to)),
                *(*_plan(books, order.centavos, at), at),
            ),
        )
        holds.hold_if_wanted(books, account.id, seq)
    return get(books, account.id, payout_id)


def get(books: Books, account_id: str, payout_id: str) -> Payout:
    """
    Find a payout by the bank's id.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    return _found(books.database.one(f"{_FIND} AND id = ?", (account_id, payout_id)))


def by_key(books: Books, account_id: str, key: str) -> Payout:
    """
    Find the first payout of an idempotency key.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    payout = _by_key(books, account_id, key)
    if payout is None:
        what = "payout"
        raise refusals.not_found(what)
    return payout


def by_e2e_id(books: Books, account_id: str, e2e_id: str) -> Payout:
    """
    Find a payout by its end-to-end id.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    return _found(books.database.one(f"{_FIND} AND e2e_id = ?", (account_id, e2e_id)))


def anywhere(books: Books, name: str) -> Payout:
    """
    Find the first payout of any account by its idempotency key or the bank's id.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    sql = f"{_SELECT} WHERE id = ? OR idempotency_key = ? ORDER BY seq LIMIT 1"
    return _found(books.database.one(sql, (name, name)))


def read(books: Books, account_id: str, wanted: Slice) -> Page[Payout]:
    """Read payouts, newest first."""
    rows = books.database.all(_PAGE, wanted.values(account_id))
    payouts = [Payout(**row) for row in rows]
    places = [(payout.created_at, payout.seq) for payout in payouts]
    return cut(payouts, places, wanted.limit)


def total(books: Books, account_id: str, wanted: Slice) -> int:
    """Count the payouts of a window."""
    return count(books.database, "payouts", account_id, wanted)


def executions(books: Books, key: str | None) -> list[Execution]:
    """Return the executed payouts, of one idempotency key or of all, oldest first."""
    rows = books.database.all(_EXECUTIONS, (key, key))
    return [
        Execution(
            key=row["idempotency_key"],
            centavos=row["centavos"],
            e2e_id=row["e2e_id"],
            at=row["created_at"],
        )
        for row in rows
    ]


def _check_funds(books: Books, account: Account, order: Order) -> None:
    """Refuse what is above the limit or the balance."""
    if account.payout_limit is not None and order.centavos > account.payout_limit:
        raise Refusal(Code.LIMIT_EXCEEDED, "the payout is above the account's limit")
    if order.centavos > accounts.balance(books, account.id).available:
        raise Refusal(Code.INSUFFICIENT_FUNDS, "the balance is too low")


def _hold(books: Books, account: Account, order: Order, at: int) -> None:
    movement = ledger.Movement(
        debit=ledger.customer(account.id),
        credit=ledger.held(account.id),
        centavos=order.centavos,
        memo="payout accepted",
        at=at,
    )
    ledger.move(books.database, movement)


def _keys(account: Account, order: Order) -> tuple[Value, Value]:
    """Return the key, and the key that must be unique: None if the account ignores keys."""
    ignored = account.payout_kind is PayoutKind.NONE
    return order.idempotency_key, None if ignored else order.idempotency_key


def _credited(order: Order, credit_to: str | None) -> str | None:
    """Return the recipient here; a payout that comes back goes out, so that it can."""
    return None if order.centavos == magic_values.COMES_BACK else credit_to


def _plan(books: Books, centavos: int, at: int) -> tuple[Step, int]:
    """Return the payout's next step and its time; the amount decides."""
    if centavos == magic_values.SETTLES_LATE:
        return Step.SETTLE, at + magic_values.LATE_BY
    step = Step.FAIL if centavos == magic_values.FAILS_LATER else Step.SETTLE
    return step, at + books.settle_after


def _by_key(books: Books, account_id: str, key: str) -> Payout | None:
    sql = f"{_FIND} AND idempotency_key = ? ORDER BY seq LIMIT 1"
    row = books.database.one(sql, (account_id, key))
    return Payout(**row) if row else None


def _found(row: Row | None) -> Payout:
    if row is None:
        what = "payout"
        raise refusals.not_found(what)
    return Payout(**row)
