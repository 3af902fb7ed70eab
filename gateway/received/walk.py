"""
One account's stretch of movements, read for payments that nobody told us of.

A statement whose movements carry their end-to-end ids shows payments, returns and refunds with one
call a page. Where the bank has no such statement, its list of payments received is read instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Final, TypeVar

from gateway.banks.connections import offered
from gateway.banks.lists import MOST_ITEMS, walked
from gateway.banks.port.capabilities import Capabilities, EntryField, PortCall
from gateway.banks.port.providers import BadReply, Bank, NotSupported, Page, PixReturn
from gateway.banks.port.refunds import IncomingPayment, Refund
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.charges.records import KeptCharges
from gateway.core.account import Account
from gateway.core.money import ZERO
from gateway.core.strict import is_e2e_id
from gateway.core.windows import Window
from gateway.payouts.matching import CallPlace, is_return, is_return_id, returns_in
from gateway.payouts.model import Payout
from gateway.payouts.store import StoredPayouts
from gateway.received.model import Stretch, latest
from gateway.received.store import WalkRecords
from gateway.refunds.store import RefundRecords

Item = TypeVar("Item")
_TELLS: Final = frozenset({EntryField.KIND, EntryField.E2E_ID})
"""What a statement has to say of its movements: else what is a payment would be a guess."""
_NAMED_WITHIN: Final = timedelta(minutes=10)
"""A bank's list may show a payment later than its statement, and it alone names the charge."""
_NEVER: Final = datetime.max.replace(tzinfo=UTC)
_ORDERED_BEFORE: Final = timedelta(days=1)
"""A refund is listed by its order, and moves later."""
_A_MINUTE: Final = timedelta(minutes=1)
"""How far the instants of a payment in two lists may be apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentWalk:
    """
    Reads stretches of accounts, and writes events of new payments.

    Attributes:
        note_returns: Stores and tells returns of a payout; each once.
    """

    charges: KeptCharges
    payouts: StoredPayouts
    note_returns: Callable[[Payout, Sequence[PixReturn]], Awaitable[None]]
    refunds: RefundRecords
    records: WalkRecords

    async def read(
        self, account: Account, bank: Bank, stretch: Stretch, place: CallPlace, now: datetime
    ) -> None:
        """
        Read a stretch; ``place`` is entered for each call of the bank. Safe to repeat.

        Raises:
            NotSupported: the bank shows no payments with their ids.
            ProviderError: the bank gave no usable answer.
            StoreUnavailable: what was found may not be stored.
        """
        calls = _Calls(bank, place)
        if _has_ids(bank.adapter.capabilities):
            found = await calls.movements(stretch.days, stretch.since)
            await self._payments(account, calls, [each for each in found if _came_in(each)], now)
            await self._returns(account, bank, found)
            await self._refunds(account, calls, [each for each in found if _went_back(each)], now)
        else:
            listed = await calls.received(stretch.days, stretch.since)
            new = await self.records.new_payments(account.id, [each.e2e_id for each in listed])
            await self._receive(account, (each for each in listed if each.e2e_id in new), now)

    async def _payments(
        self, account: Account, calls: _Calls, credits_: Sequence[Entry], now: datetime
    ) -> None:
        """Receive new payments, as the bank's list of payments names them where it has one."""
        unknown = await self.records.new_payments(account.id, [each.e2e_id for each in credits_])
        new = {each.e2e_id: each for each in credits_ if each.e2e_id in unknown}
        if not new:
            return
        try:
            listed = await calls.received(*_around(new.values(), _A_MINUTE, now))
            waits_since = now - _NAMED_WITHIN
        except NotSupported:
            listed, waits_since = (), _NEVER
        found = {
            each.e2e_id: _unnamed(each)
            for each in new.values()
            if latest(each.created_at) <= waits_since
        }
        found |= {each.e2e_id: each for each in listed if each.e2e_id in new}
        await self._receive(account, found.values(), now)

    async def _receive(
        self, account: Account, payments: Iterable[IncomingPayment], now: datetime
    ) -> None:
        """Store payments and write their events, oldest first."""
        await self.charges.receive(account, sorted(payments, key=attrgetter("paid_at")), now)

    async def _returns(self, account: Account, bank: Bank, found: Sequence[Entry]) -> None:
        """Note returns of paid payouts of this bank account, with their events."""
        keys = {each.provider_key for each in found if is_return(each)}
        for payout in await self.payouts.behind(account.id, (), keys):
            if payout.was_sent_from(bank):
                await self.note_returns(payout, returns_in(found, payout.provider_key))

    async def _refunds(
        self, account: Account, calls: _Calls, debits: Sequence[Entry], now: datetime
    ) -> None:
        """Note refunds that moved money, with the payment that the bank's list of refunds names."""
        new = await self.records.new_refunds(account.id, [each.e2e_id for each in debits])
        if not new:
            return
        found = [each for each in debits if each.e2e_id in new]
        days, since = _around(found, _ORDERED_BEFORE, now)
        for refund in await calls.refunds(days, since):
            if refund.return_id in new:
                await self.refunds.note(account, refund)


@dataclass(frozen=True, slots=True)
class _Calls:
    """The lists of a bank, newest first, as far back as they are wanted."""

    bank: Bank
    place: CallPlace

    async def movements(self, days: Window, since: datetime) -> Sequence[Entry]:
        calls = offered(self.bank, PortCall.LIST_STATEMENT)
        return await self._newest(calls.list_statement, days, since, attrgetter("created_at"))

    async def received(self, days: Window, since: datetime) -> Sequence[IncomingPayment]:
        calls = offered(self.bank, PortCall.LIST_RECEIVED)
        return await self._newest(calls.list_received, days, since, attrgetter("paid_at"))

    async def refunds(self, days: Window, since: datetime) -> Sequence[Refund]:
        """Return refunds; none where the bank does not list them."""
        if PortCall.LIST_REFUNDS not in self.bank.adapter.capabilities.calls:
            return ()
        calls = offered(self.bank, PortCall.LIST_REFUNDS)
        return await self._newest(calls.list_refunds, days, since, attrgetter("created_at"))

    async def _newest(
        self,
        read: Callable[..., Awaitable[Page[Item]]],
        days: Window,
        since: datetime,
        at: Callable[[Item], datetime],
    ) -> Sequence[Item]:
        """Read pages up to the first one that is older throughout."""
        size = self.bank.adapter.capabilities.largest_page
        found: list[Item] = []

        async def page(cursor: str | None) -> Page[Item]:
            async with self.place():
                return await read(self.bank.account, days, cursor, size)

        async for each in walked(page):
            new = [item for item in each.items if latest(at(item)) >= since]
            found += new
            if len(found) > MOST_ITEMS:
                problem = "too_many_items"
                raise BadReply(problem)
            if each.items and not new:
                break
        return found


def _has_ids(capabilities: Capabilities) -> bool:
    return PortCall.LIST_STATEMENT in capabilities.calls and capabilities.entry_fields >= _TELLS


def _came_in(entry: Entry) -> bool:
    """Return whether a movement is a payment: money of ours that comes back is none."""
    is_credit = entry.is_pix and entry.direction is Direction.CREDIT
    is_payment = entry.kind is not MovementKind.PIX_RETURN and not is_return_id(entry.e2e_id)
    return is_credit and is_payment and is_e2e_id(entry.e2e_id)


def _went_back(entry: Entry) -> bool:
    """Return whether a movement is a refund."""
    return entry.direction is Direction.DEBIT and is_return_id(entry.e2e_id)


def _around(found: Collection[Entry], before: timedelta, now: datetime) -> tuple[Window, datetime]:
    """Return the days in which another list has movements, and their beginning."""
    since = min(each.created_at for each in found) - before
    last = max(latest(each.created_at) for each in found) + _A_MINUTE
    return Window(since.date(), max(since.date(), min(last.date(), now.date()))), since


def _unnamed(entry: Entry) -> IncomingPayment:
    """Return a payment that only the statement shows."""
    return IncomingPayment(
        reference="",
        e2e_id=entry.e2e_id,
        provider_id=entry.provider_id,
        value=entry.value,
        refunded=ZERO,
        paid_at=entry.created_at,
        payer=None,
    )
