"""Payouts: accepted at once, settled later, executed once per idempotency key."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from provider_adapters.testing.bank.kernel import accounts
from provider_adapters.testing.bank.kernel.accounts import Account, PayoutKind
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.paging import Table
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal, found, require
from provider_adapters.testing.bank.pix import destinations, magic_values
from provider_adapters.testing.bank.pix.destinations import Destination

_SELECT = (
    "SELECT *, (SELECT until FROM holds WHERE payout_seq = payouts.seq) AS held_until,"
    " (SELECT json_group_array(json_array(id, centavos, at)) FROM returns"
    " WHERE payout_seq = payouts.seq) AS returns FROM payouts"
)
# A payout that fails after acceptance is never executed, so it counts as not executed at once.
_EXECUTIONS = (
    "SELECT idempotency_key AS key, coalesce(settled_centavos, centavos) AS centavos, e2e_id,"
    " created_at AS at FROM payouts WHERE state <> 'failed' AND coalesce(step, '') <> 'fail'"
    " AND (? IS NULL OR idempotency_key = ?) ORDER BY seq"
)


LONGEST_HOLD_S: Final = 3600
"""Seconds; the central bank gives a bank no longer to decide on a Pix that looks like fraud."""

_SECOND: Final = 1_000_000


class Step(StrEnum):
    """The next step of a payout or a refund."""

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
    step: Step | None
    due_at: int | None
    created_at: int
    settled_at: int | None
    returned_at: int | None
    held_until: int | None = None
    returns: str = "[]"

    @property
    def paid(self) -> int:
        """What was really paid; before, what was ordered."""
        return self.centavos if self.settled_centavos is None else self.settled_centavos

    @property
    def analysed_until(self) -> int | None:
        """Until when it is held; None for one that is not, or no longer under way."""
        return self.held_until if self.state == "processing" else None

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


_TABLE = Table(Payout, _SELECT, "payouts", "created_at", "payout")
read = _TABLE.read
"""Read payouts, newest first."""
get = _TABLE.by("id")
"""Find a payout by the bank's id; raises ``NOT_FOUND``."""
by_key = _TABLE.by("idempotency_key")
"""Find the first payout of an idempotency key."""
by_e2e_id = _TABLE.by("e2e_id")
"""Find a payout by its end-to-end id."""


def repeated(books: Books, account: Account, order: Order) -> Payout | None:
    """
    Find the payout that this order repeats, depending on the account's payout kind.

    Raises:
        Refusal: ``DUPLICATE`` (409, kind dup), ``KEY_REUSED`` (422, kind idem
            with other content).
    """
    if order.idempotency_key is None or account.payout_kind is PayoutKind.NONE:
        return None
    known = _TABLE.find(books, account.id, "idempotency_key", order.idempotency_key)
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
    if account.payout_limit is not None and order.centavos > account.payout_limit:
        raise Refusal(Code.LIMIT_EXCEEDED, "the payout is above the account's limit")
    at, key = books.clock.micros(), order.idempotency_key
    payout_id = books.identifier("trf")
    step, due_at = magic_values.plan(books, order.centavos, at)
    with books.database.transaction():
        accounts.hold(books, account.id, order.centavos, "payout accepted")
        seq = books.database.insert(
            "payouts",
            id=payout_id,
            account_id=account.id,
            idempotency_key=key,
            unique_key=None if account.payout_kind is PayoutKind.NONE else key,
            fingerprint=order.fingerprint(),
            centavos=order.centavos,
            e2e_id=books.e2e_id(at),
            description=order.description,
            destination=order.to,
            # A payout that comes back goes out, so that it can.
            credit_to=None if order.centavos == magic_values.COMES_BACK else credit_to,
            state="processing",
            step=step,
            due_at=due_at,
            created_at=at,
        )
        wanted = books.database.one(
            "DELETE FROM holds_wanted WHERE account_id = ? RETURNING seconds", (account.id,)
        )
        if wanted:
            _hold(books, seq, wanted["seconds"])
    return get(books, account.id, payout_id)


def anywhere(books: Books, name: str) -> Payout:
    """Find any account's first payout by key or the bank's id; raises ``NOT_FOUND``."""
    sql = f"{_SELECT} WHERE id = ? OR idempotency_key = ? ORDER BY seq LIMIT 1"
    return found(books.database.record(Payout, sql, (name, name)), "payout")


def executions(books: Books, key: str | None) -> list[Execution]:
    """Return the executed payouts, of one idempotency key or of all, oldest first."""
    return books.database.records(Execution, _EXECUTIONS, (key, key))


def hold(books: Books, payout_seq: int, seconds: int) -> None:
    """
    Hold a payout under way for analysis; what was to happen to it happens at the deadline.

    Raises:
        Refusal: ``INVALID_REQUEST`` for a payout that is not under way, or a wrong length.
    """
    _check_hold(seconds)
    require(_is_under_way(books, payout_seq), "the payout is not under way")
    with books.database.transaction():
        _hold(books, payout_seq, seconds)


def hold_next(books: Books, account_id: str, seconds: int) -> None:
    """Hold the next payout that the account orders; raises as ``hold`` does."""
    _check_hold(seconds)
    books.database.run(
        "INSERT INTO holds_wanted (account_id, seconds) VALUES (?, ?)"
        " ON CONFLICT (account_id) DO UPDATE SET seconds = excluded.seconds",
        (account_id, seconds),
    )


def release(books: Books, payout_seq: int, *, refuse: bool) -> None:
    """End a hold: the payout goes on, or fails; raises ``INVALID_REQUEST`` without a hold."""
    held = books.database.one("SELECT 1 FROM holds WHERE payout_seq = ?", (payout_seq,))
    require(held and _is_under_way(books, payout_seq), "the payout is not held")
    with books.database.transaction():
        books.database.run("DELETE FROM holds WHERE payout_seq = ?", (payout_seq,))
        _due(books, payout_seq, books.clock.micros())
        if refuse:
            books.database.run("UPDATE payouts SET step = 'fail' WHERE seq = ?", (payout_seq,))


def _check_hold(seconds: int) -> None:
    require(1 <= seconds <= LONGEST_HOLD_S, f"seconds is 1 to {LONGEST_HOLD_S}")


def _is_under_way(books: Books, payout_seq: int) -> bool:
    sql = "SELECT 1 FROM payouts WHERE seq = ? AND state = 'processing'"
    return books.database.one(sql, (payout_seq,)) is not None


def _hold(books: Books, payout_seq: int, seconds: int) -> None:
    until = books.clock.micros() + seconds * _SECOND
    books.database.run(
        "INSERT INTO holds (payout_seq, until) VALUES (?, ?)"
        " ON CONFLICT (payout_seq) DO UPDATE SET until = excluded.until",
        (payout_seq, until),
    )
    _due(books, payout_seq, until)


def _due(books: Books, payout_seq: int, at: int) -> None:
    books.database.run("UPDATE payouts SET due_at = ? WHERE seq = ?", (at, payout_seq))
