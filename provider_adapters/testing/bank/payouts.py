"""Payouts: accepted at once, settled later, executed once per idempotency key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from provider_adapters.testing.bank import accounts, keys, magic_values
from provider_adapters.testing.bank.accounts import Account, PayoutKind
from provider_adapters.testing.bank.books import Books, Table
from provider_adapters.testing.bank.keys import Destination
from provider_adapters.testing.bank.messages import Code, Refusal, found, require

LONGEST_HOLD_S: Final = 3600
"""Seconds; the central bank gives a bank no longer to decide on a Pix that looks like fraud."""

_SECOND: Final = 1_000_000
_HOLD_NEXT: Final = "hold"
_FATE: Final = "fate"
_MOST_FATES: Final = 20
"""Of one account, which may never order the payouts."""
_FATE_KEPT: Final = 86_400 * _SECOND
"""A day: whoever orders a payout's fate is about to order the payout."""


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

    def content(self) -> tuple[object, ...]:
        """Return the fields that a repetition must repeat."""
        return self.centavos, self.description, self.to.sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Payout(Order):
    """
    A payout as stored.

    Attributes:
        state: ``processing``, ``settled``, ``failed`` or ``returned``.
        settled_centavos: The amount really paid, once it is settled.
        credit_to: The recipient's account, if it is at this bank.
        failure: The bank's code, when it failed.
        due_at: When ``step`` is due.
        held_until: The deadline of its analysis.
        returns: Its returns, JSON of id, centavos and instant each.
    """

    seq: int
    id: str
    account_id: str
    settled_centavos: int | None
    e2e_id: str
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
        """The amount really paid; before settlement, the amount ordered."""
        return self.centavos if self.settled_centavos is None else self.settled_centavos

    @property
    def came_back(self) -> int:
        """Its returns."""
        return sum(centavos for _, centavos, _ in json.loads(self.returns))

    @property
    def is_executed(self) -> bool:
        """Whether it moved money or will; one that is to fail never does."""
        return self.state != "failed" and self.step is not Step.FAIL

    @property
    def analysed_until(self) -> int | None:
        """Until when it is held; None for one that is not, or no longer under way."""
        return self.held_until if self.state == "processing" else None


_TABLE = Table(Payout, "SELECT * FROM payouts", "payouts", "created_at", "payout")
read = _TABLE.read
"""Read payouts, newest first."""
get = _TABLE.by("id")
"""Find a payout by the bank's id; raises ``NOT_FOUND``."""
by_key = _TABLE.by("idempotency_key")
"""Find the first payout of an idempotency key."""
of_key = _TABLE.of_key
"""Return all accounts' payouts, of one idempotency key or of all, oldest first."""


def repeated(books: Books, account: Account, order: Order) -> Payout | None:
    """
    Find the payout that this order repeats, depending on the account's payout kind.

    Raises:
        Refusal: ``DUPLICATE`` (409, kind dup), ``KEY_REUSED`` (422, kind idem
            with other content).
    """
    if order.idempotency_key is None or account.payout_kind is PayoutKind.NONE:
        return None
    known = _TABLE.find(books, account.id, idempotency_key=order.idempotency_key)
    if known is None:
        return None
    if account.payout_kind is PayoutKind.DUP:
        raise Refusal(Code.DUPLICATE, "this idempotency key was used before")
    if known.content() != order.content():
        raise Refusal(Code.KEY_REUSED, "the idempotency key belongs to another order")
    return known


def accept(books: Books, account: Account, order: Order) -> Payout:
    """
    Accept an order; its money is blocked until it settles.

    Raises:
        Refusal: For every reason in the README's table; nothing is stored.
    """
    magic_values.refuse_amount(order.centavos)
    credit_to = keys.resolve(books, order.to)
    accounts.require_available(books, account.id, order.centavos)
    at = books.clock.micros()
    payout_id = books.identifier("trf")
    with books.database.transaction():
        step, due_at = magic_values.plan(books, _planned(books, account, order), at)
        books.database.insert(
            "payouts",
            order,
            id=payout_id,
            account_id=account.id,
            unique_key=None if account.payout_kind is PayoutKind.NONE else order.idempotency_key,
            e2e_id=books.e2e_id(at),
            # A payout that comes back goes out, so that it can.
            credit_to=None if order.centavos == magic_values.COMES_BACK else credit_to,
            state="processing",
            step=step,
            due_at=due_at,
            created_at=at,
        )
        wanted = books.kept(_HOLD_NEXT, account.id)
        if wanted:
            books.forget(_HOLD_NEXT, account.id)
            hold(books, get(books, account.id, payout_id), int(wanted.value))
    return get(books, account.id, payout_id)


def anywhere(books: Books, name: str) -> Payout:
    """Find any account's first payout by key or the bank's id; raises ``NOT_FOUND``."""
    sql = "SELECT * FROM payouts WHERE id = ? OR idempotency_key = ? ORDER BY seq LIMIT 1"
    return found(books.database.record(Payout, sql, (name, name)), "payout")


def executions(books: Books, key: str | None) -> list[Payout]:
    """Return the payouts that moved money or will, of one key or of all, oldest first."""
    return [each for each in of_key(books, key) if each.is_executed]


def hold(books: Books, payout: Payout, seconds: int) -> None:
    """
    Hold a payout under way for analysis; its planned outcome follows at the deadline.

    Raises:
        Refusal: ``INVALID_REQUEST`` for a payout that is not under way, or a wrong length.
    """
    _check_hold(seconds)
    require(payout.state == "processing", "the payout is not under way")
    until = books.clock.micros() + seconds * _SECOND
    books.database.update("payouts", payout.seq, held_until=until, due_at=until)


def choose_fate(books: Books, account_id: str, key: str, fate: str) -> None:
    """
    Choose what becomes of the payout that the account will order under a key, within a day.

    The oldest of twenty gives way.
    """
    waiting, until = books.kept_of(_FATE, account_id), books.clock.micros() + _FATE_KEPT
    if len(waiting) >= _MOST_FATES:
        books.forget(_FATE, waiting[0].name)
    books.keep(_FATE, f"{account_id} {key}", fate, account_id, until)


def forget_fates(books: Books) -> None:
    """Let every payout that is still to be ordered go its usual way."""
    books.database.run("DELETE FROM dialect_state WHERE kind = ?", (_FATE,))


def _planned(books: Books, account: Account, order: Order) -> int:
    """Return the amount that decides on an order: its own, or that of the fate of its key."""
    name = f"{account.id} {order.idempotency_key}"
    fate = books.kept(_FATE, name)
    if fate is None:
        return order.centavos
    books.forget(_FATE, name)
    return magic_values.FATES[fate.value]


def hold_next(books: Books, account_id: str, seconds: int) -> None:
    """Hold the next payout that the account orders; raises as ``hold`` does."""
    _check_hold(seconds)
    books.keep(_HOLD_NEXT, account_id, str(seconds))


def release(books: Books, payout: Payout, *, refuse: bool) -> None:
    """End a hold: the payout continues, or fails; raises ``INVALID_REQUEST`` without a hold."""
    require(payout.analysed_until, "the payout is not held")
    step, now = Step.FAIL if refuse else payout.step, books.clock.micros()
    books.database.update("payouts", payout.seq, held_until=None, due_at=now, step=step)


def _check_hold(seconds: int) -> None:
    require(1 <= seconds <= LONGEST_HOLD_S, f"seconds is 1 to {LONGEST_HOLD_S}")
