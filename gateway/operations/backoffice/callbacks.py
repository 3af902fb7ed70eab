"""
Callbacks: taken when they are proven, stored once, and then looked into.

What a bank says unasked is a reason to read it, never a truth: whatever a
callback claims, only what the bank answers us moves a payout.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.domain.accounts.accounts import Account, Accounts
from gateway.domain.backoffice.callbacks import (
    Callback,
    CallbackKind,
    CallbackProof,
    CallbackState,
    Notice,
)
from gateway.domain.backoffice.callbacks import Callbacks as CallbackStore
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import Banks, NotFound, ProviderError
from gateway.domain.kernel import errors
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.headers import Headers
from gateway.domain.payouts.followups import FollowUps
from gateway.domain.payouts.payouts import FINAL_STATES, Payout
from gateway.operations.bank.connections import offered
from gateway.telemetry.ports import Count, Event

# A process that dies leaves its callbacks to the others after this time.
_CLAIM: Final = timedelta(seconds=60)
# The bank may send the callback before its own books show the change; the pause doubles.
_FIRST: Final = timedelta(seconds=2)
# After that the reconciler still looks; a callback is only a reason to look sooner.
_MOST_TRIES: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What came, unproven."""

    provider: str
    token: str
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reception:
    """
    Takes callbacks.

    Attributes:
        proofs: By provider; one without takes none.
        wake: Says that there is something to look into.
    """

    store: CallbackStore
    proofs: Mapping[str, CallbackProof]
    now: Now
    new_id: Callable[[], str]
    count: Count
    wake: Callable[[], None]

    async def take(self, came: Delivery) -> None:
        """
        Store a proven callback; one that was told before is taken and forgotten.

        Raises:
            ServiceError: ``SVC.AUT.010`` (401) for one that is not proven, of a
                provider unknown or without callbacks too; nothing is stored.
        """
        proof = self.proofs.get(came.provider)
        notice = proof.check(came.headers, came.body, came.token) if proof else None
        if notice is None:
            self.count(Event.CALLBACK, "forged")
            raise ServiceError(errors.CREDENTIALS_INVALID, "forged")
        new = await self.store.add(self._callback(came, notice))
        self.count(Event.CALLBACK, "taken" if new else "repeated")
        if new:
            self.wake()

    def _callback(self, came: Delivery, notice: Notice) -> Callback:
        now = self.now()
        return Callback(
            id=self.new_id(),
            provider=came.provider,
            event=notice.event or hashlib.sha256(came.body).hexdigest(),
            kind=notice.kind,
            subject=notice.subject,
            received_at=now,
            body=came.body,
            due_at=now,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackLooks:
    """
    Looks into what was taken: reads the bank.

    Attributes:
        look: Reads a payout at its bank and moves it on; safe to repeat.
    """

    store: CallbackStore
    proofs: Mapping[str, CallbackProof]
    accounts: Accounts
    follow_ups: FollowUps
    banks: Banks
    look: Callable[[Payout], Awaitable[Payout]]
    now: Now

    async def turn(self) -> int:
        """Look once into all that is due; return how many there were."""
        now = self.now()
        due = await self.store.due(now, now + _CLAIM)
        for each in due:
            await self._assign(each)
            state = await self._looked(each)
            await self.store.handled(each.id, state, self.now(), self._again(each, state))
        return len(due)

    async def _assign(self, callback: Callback) -> None:
        """Find out whose account one speaks of, if that is not known yet."""
        if callback.company_id:
            return
        account = await self._account(callback)
        if account is not None:
            await self.store.belongs(callback.id, account.company_id)

    async def _account(self, callback: Callback) -> Account | None:
        """Return the account one speaks of: that of our payout, else by the bank's name of it."""
        if callback.kind is CallbackKind.PAYOUT:
            payout = await self.follow_ups.find_by_key(callback.subject)
            is_theirs = payout is not None and payout.provider == callback.provider
            return await self.accounts.find(payout.account_id) if payout and is_theirs else None
        proof = self.proofs.get(callback.provider)
        name = proof.read(callback.body).account if proof else ""
        return await self.accounts.find_at(callback.provider, name) if name else None

    async def _looked(self, callback: Callback) -> CallbackState:
        """Look into one; RECEIVED asks for another look."""
        last = callback.tries + 1 >= _MOST_TRIES
        try:
            match callback.kind:
                case CallbackKind.PAYOUT:
                    return await self._payout(callback, last=last)
                case CallbackKind.CHARGE | CallbackKind.REFUND:
                    return await self._read(callback, last=last)
                case CallbackKind.OTHER:
                    return CallbackState.IGNORED
        except NotFound:
            return CallbackState.IGNORED if last else CallbackState.RECEIVED
        except ProviderError:
            return CallbackState.FAILED if last else CallbackState.RECEIVED

    async def _payout(self, callback: Callback, *, last: bool) -> CallbackState:
        """Read the payout at its bank; one that we do not know yet may be on its way."""
        payout = await self.follow_ups.find_by_key(callback.subject)
        if payout is None or payout.provider != callback.provider:
            return CallbackState.IGNORED if last else CallbackState.RECEIVED
        seen = payout if payout.state in FINAL_STATES else await self.look(payout)
        # One that its bank holds has a schedule of its own.
        if seen.state in FINAL_STATES or seen.is_held(self.now()) or last:
            return CallbackState.DONE
        return CallbackState.RECEIVED

    async def _read(self, callback: Callback, *, last: bool) -> CallbackState:
        """
        Read a charge or a refund; nothing of either is kept here, so reading is all.

        An account that we do not know yet may be on its way.
        """
        account = await self._account(callback)
        bank = self.banks.of(account) if account else None
        if bank is None:
            return CallbackState.IGNORED if last else CallbackState.RECEIVED
        if callback.kind is CallbackKind.CHARGE:
            calls = offered(bank, PortCall.GET_CHARGE_PAYMENT)
            await calls.get_charge_payment(bank.account, callback.subject)
        else:
            calls = offered(bank, PortCall.FIND_REFUND)
            await calls.find_refund(bank.account, callback.subject)
        return CallbackState.DONE

    def _again(self, callback: Callback, state: CallbackState) -> datetime | None:
        """Say when to look again: later each time."""
        if state is not CallbackState.RECEIVED:
            return None
        return self.now() + _FIRST * (1 << callback.tries)
