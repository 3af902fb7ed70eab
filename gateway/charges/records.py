"""
Records of charges ordered through us: written before the order, updated by answers.

A record is written before the bank is called, so that no charge can be missing, and completed by
the bank's answer. Once the bank has acted, no failure of the store fails the caller: unwritten
answers wait in memory, and are retried every second.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from gateway.banks.port.charges import Charge, ChargeOrder, ChargePayment
from gateway.banks.port.refunds import IncomingPayment
from gateway.charges.model import ChargeRecord, ChargeState, SeenCharge
from gateway.charges.store import StoredCharges
from gateway.core.account import Account
from gateway.core.clocks import Now
from gateway.core.storage import LEASE, StoreUnavailable

_log = logging.getLogger(__name__)

_MOST: Final = 5_000
"""Charges in memory while the store is slow, some 2 MB; the next read tells the rest again."""
_BATCH: Final = 100
"""In one transaction, so that nobody else waits long for SQLite's only writer."""
_KNOWN_FOR: Final = timedelta(minutes=10)
"""What was noted is not written again: partners poll, and the answer is mostly the same."""

_Key = tuple[str, str, str]
"""Account, reference, and the end-to-end id of a listed payment; empty for the charge itself."""
_Told = tuple[ChargeState | None, str]


class ChargeNotes:
    """Banks' answers about charges, queued until stored; readers of a charge never wait for it."""

    def __init__(self, records: StoredCharges, now: Now, most: int = _MOST) -> None:
        """Queue at most ``most`` charges, and cache as many known ones."""
        self._records = records
        self._now = now
        self._most = most
        self._waiting: dict[_Key, SeenCharge] = {}
        self._known: dict[_Key, _Told] = {}
        self._forget_at = now() + _KNOWN_FOR

    def take(self, seen: SeenCharge) -> None:
        """Queue an answer, unless it is known; raises nothing."""
        key = _key(seen)
        before = self._waiting.get(key)
        if before is not None and before.at > seen.at:
            return
        if before is None and self._known.get(key) == (seen.state, seen.e2e_id):
            return
        if before is None and len(self._waiting) >= self._most:
            return
        self._waiting[key] = seen

    def forget(self, account_id: str, reference: str) -> None:
        """Drop the cached state of a charge that is created again."""
        for notes in (self._waiting, self._known):
            for key in [each for each in notes if each[:2] == (account_id, reference)]:
                del notes[key]

    async def run_once(self) -> int:
        """Store the queue; return the number; ``StoreUnavailable`` loses nothing."""
        now = self._now()
        if now >= self._forget_at or len(self._known) >= self._most:
            self._known.clear()
            self._forget_at = now + _KNOWN_FOR
        stored = 0
        while batch := dict(list(self._waiting.items())[:_BATCH]):
            await self.store(list(batch.values()))
            for key, seen in batch.items():
                if self._waiting.get(key) is seen:
                    del self._waiting[key]
            stored += len(batch)
        return stored

    async def store(self, seen: Sequence[SeenCharge]) -> None:
        """Store answers now; with ``StoreUnavailable`` some may not be."""
        await self._records.note(seen)
        for each in seen:
            key = _key(each)
            if each.is_listed:  # the charge's own answer may have to correct it
                self._known.pop((*key[:2], ""), None)
            self._known[key] = (each.state, each.e2e_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCharges:
    """Keeps the record of charges up to date."""

    records: StoredCharges
    notes: ChargeNotes
    now: Now
    new_id: Callable[[], str]

    async def order(
        self, provider: str, account: Account, order: ChargeOrder
    ) -> ChargeRecord | None:
        """
        Record an order before the bank is called, and hold its reference for ``LEASE``.

        None while another order, in any process, holds it; raises ``StoreUnavailable``.
        """
        now = self.now()
        record = ChargeRecord(
            id=self.new_id(),
            account_id=account.id,
            reference=order.reference,
            provider=provider,
            type=order.type,
            reusable=order.reusable,
            centavos=None if order.value is None else order.value.centavos,
            state=ChargeState.UNKNOWN,
            created_at=now,
            expires_at=_later(now, order.expires_in),
            updated_at=now,
            payer_name=order.payer.name if order.payer else "",
            description=order.description,
            made_until=now + LEASE,
        )
        return record if await self.records.begin(record) else None

    async def made(self, record: ChargeRecord, charge: Charge) -> None:
        """Record the created charge; raises nothing, since the bank has created it."""
        self.notes.forget(record.account_id, record.reference)
        known = replace(
            record,
            type=charge.type,
            reusable=charge.reusable,
            centavos=charge.value.centavos if charge.value else None,
            state=ChargeState(charge.status.value),
            expires_at=charge.expires_at or record.expires_at,
            updated_at=self.now(),
            made_until=None,
        )
        await self._now_or_later(
            self.records.renew(known), _seen(record.account_id, charge, known.updated_at)
        )

    async def not_made(self, record: ChargeRecord) -> None:
        """Drop the record of an order that the bank refused; one that stays is ``UNKNOWN``."""
        try:
            await self.records.discard(record)
        except StoreUnavailable:
            _log.warning("charge_record_stays account=%s", record.account_id)

    async def changed(self, account: Account, charge: Charge) -> None:
        """Record a change that was ordered; raises nothing, since the bank has made it."""
        seen = _seen(account.id, charge, self.now())
        await self._now_or_later(self.records.note([seen]), seen)

    def read(self, account: Account, charge: Charge | ChargePayment, asked_at: datetime) -> None:
        """Queue the bank's answer about a charge, with the time of the query."""
        self.notes.take(_seen(account.id, charge, asked_at))

    async def store(self, account: Account, charge: ChargePayment, asked_at: datetime) -> None:
        """
        Store the bank's answer about a charge now, with the time of the query; safe to repeat.

        Raises:
            StoreUnavailable: it may not be stored.
        """
        await self.notes.store([_seen(account.id, charge, asked_at)])

    def received(
        self, account: Account, payments: Iterable[IncomingPayment], asked_at: datetime
    ) -> None:
        """Queue payments from the account's list that name a charge."""
        for each in payments:
            if each.reference:
                self.notes.take(_listed(account.id, each, asked_at))

    async def receive(
        self, account: Account, payments: Iterable[IncomingPayment], asked_at: datetime
    ) -> None:
        """
        Store payments of the account now, those without a charge too; safe to repeat.

        A payment pays the charge that it names only if its amount suffices, as any listed one.

        Raises:
            StoreUnavailable: some may not be stored.
        """
        await self.notes.store([_listed(account.id, each, asked_at) for each in payments])

    async def _now_or_later(self, storing: Awaitable[None], seen: SeenCharge) -> None:
        """Store now, or queue the answer while the store is unavailable."""
        try:
            await storing
        except StoreUnavailable:
            _log.warning("charge_record_waits account=%s", seen.account_id)
            self.notes.take(seen)


def _key(seen: SeenCharge) -> _Key:
    return seen.account_id, seen.reference, seen.e2e_id if seen.is_listed else ""


def _seen(account_id: str, charge: Charge | ChargePayment, at: datetime) -> SeenCharge:
    if isinstance(charge, ChargePayment) and charge.paid_at is not None:
        return _paid(account_id, charge, at)
    state = ChargeState(charge.status.value) if isinstance(charge, Charge) else None
    return SeenCharge(
        account_id=account_id,
        reference=charge.reference,
        state=state,
        at=at,
        payer_name=charge.payer.name if charge.payer else "",
    )


def _paid(account_id: str, payment: ChargePayment | IncomingPayment, at: datetime) -> SeenCharge:
    return SeenCharge(
        account_id=account_id,
        reference=payment.reference,
        state=ChargeState.PAID,
        at=at,
        paid_at=payment.paid_at,
        e2e_id=payment.e2e_id,
        paid=payment.value,
        payer_name=payment.payer.name if payment.payer else "",
    )


def _listed(account_id: str, payment: IncomingPayment, at: datetime) -> SeenCharge:
    return dataclasses.replace(_paid(account_id, payment, at), is_listed=True)


def _later(now: datetime, seconds: int | None) -> datetime | None:
    """Return the end of a duration; None for never, and beyond the calendar."""
    try:
        return None if seconds is None else now + timedelta(seconds=seconds)
    except OverflowError:
        return None
