"""
Processing of callbacks.

A callback only triggers a query: only the bank's answer to that query changes a payout.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.accounts.store import StoredAccounts
from gateway.banks.connections import offered
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import ChargePayment
from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.banks.port.providers import Banks, NotFound, ProviderError
from gateway.banks.port.refunds import Refund
from gateway.callbacks.model import Callback, CallbackState
from gateway.callbacks.owners import CallbackAccounts
from gateway.callbacks.store import CallbackRecords
from gateway.core import trace
from gateway.core.account import Account
from gateway.core.clocks import Now
from gateway.core.storage import StoreUnavailable
from gateway.payouts.due import StoredFollowUps
from gateway.payouts.events import PayoutEvent, noticed
from gateway.payouts.followup import Hear
from gateway.payouts.model import FINAL_STATES, Payout

_log = logging.getLogger(__name__)

# A process that dies leaves its callbacks to the others after this time.
_CLAIM: Final = timedelta(seconds=60)
# The bank may send the callback before its own books show the change; the pause doubles.
_FIRST: Final = timedelta(seconds=2)
# After that the reconciler still looks; a callback is only a reason to look sooner.
_MOST_TRIES: Final = 6
_OF_PAYOUTS: Final = frozenset({CallbackKind.PAYOUT, CallbackKind.RETURN})


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackProcessor:
    """
    Processes stored callbacks by querying the bank.

    Attributes:
        look: Reads a payout at its bank and moves it on, given the bank's id of it where the
            callback names it, and returns the bank's answer; safe to repeat.
        look_back: Stores the returns of a paid payout; returns whether the bank shows any.
        paid: Stores the bank's answer about a charge, and the time of the query; safe to repeat.
        refunded: Stores a refund once it has moved money.
        now: The clock by which callbacks are due.
        processed: Called after each callback; its event may be due for delivery.
        may_claim: Whether this process may claim callbacks now.
        pause_s: Seconds until new callbacks of a bank are seen while another bank hangs.
    """

    store: CallbackRecords
    accounts: StoredAccounts
    owners: CallbackAccounts
    follow_ups: StoredFollowUps
    banks: Banks
    look: Callable[[Payout, str, Hear], Awaitable[Payout]]
    look_back: Callable[[Payout, Account], Awaitable[bool]]
    paid: Callable[[Account, ChargePayment, datetime], Awaitable[None]]
    refunded: Callable[[Account, Refund], Awaitable[None]]
    now: Now
    processed: Callable[[], None] = lambda: None
    may_claim: Callable[[], bool] = lambda: True
    pause_s: float = 1.0

    async def turn(self) -> int:
        """
        Process all due callbacks, until none is left; return the number of attempts.

        Callbacks of one bank are processed in turn and never wait for another bank: while one bank
        hangs, the turn continues with new callbacks of other providers.

        Raises:
            ExceptionGroup: of ``StoreUnavailable``: the store does not answer.
        """
        looks, busy = 0, dict[str, asyncio.Task[None]]()
        async with asyncio.TaskGroup() as looking:
            while True:
                now = self.now()
                may = self.may_claim()
                due = await self.store.due(now, now + _CLAIM, busy) if may else ()
                for provider, theirs in _by_provider(due).items():
                    busy[provider] = looking.create_task(self._look_into(theirs, now + _CLAIM))
                looks += len(due)
                if not busy:
                    return looks
                await asyncio.wait(
                    busy.values(), timeout=self.pause_s, return_when=asyncio.FIRST_COMPLETED
                )
                busy = {name: task for name, task in busy.items() if not task.done()}

    async def _look_into(self, due: Sequence[Callback], until: datetime) -> None:
        """Process one bank's callbacks in turn, for as long as they are claimed."""
        for each in due:
            if self.now() >= until:
                return
            heard: list[PayoutEvent] = []
            state = await self._process(each, heard)
            again, last = self._again(each, state), heard[-1] if heard else None
            await self.store.handled(each.id, state, self.now(), again, last)
            self.processed()

    async def _process(self, callback: Callback, heard: list[PayoutEvent]) -> CallbackState:
        """Process one callback; RECEIVED means a retry, ``heard`` gets the bank's answer."""
        last = callback.tries + 1 >= _MOST_TRIES
        try:
            return await self._read_by_kind(callback, heard, last=last)
        except NotFound:
            return CallbackState.IGNORED if last else CallbackState.RECEIVED
        except StoreUnavailable:
            raise
        except Exception as problem:  # noqa: BLE001 - it stays with its callback: fifty others wait
            if not isinstance(problem, ProviderError):
                _log.exception("callback_look_failed id=%s", callback.id)
            return CallbackState.FAILED if last else CallbackState.RECEIVED

    async def _read_by_kind(
        self, callback: Callback, heard: list[PayoutEvent], *, last: bool
    ) -> CallbackState:
        account = await self._assigned(callback)
        match callback.kind:
            case CallbackKind.PAYOUT:
                return await self._payout(callback, heard, last=last)
            case CallbackKind.RETURN:
                return await self._return(callback, heard, last=last)
            case CallbackKind.CHARGE | CallbackKind.REFUND:
                return await self._read(callback, account, last=last)
            case CallbackKind.OTHER:
                return CallbackState.IGNORED

    async def _assigned(self, callback: Callback) -> Account | None:
        """Return the account of a callback, and store its company if still unknown."""
        payout = await self._named(callback) if callback.kind in _OF_PAYOUTS else None
        trace.begin_background(*((payout.trace_id, payout.provider_key) if payout else ()))
        account = await self._account(callback, payout)
        if account is not None and not callback.company_id:
            event = noticed(payout, callback.id, callback.received_at) if payout else None
            await self.store.belongs(callback.id, account.company_id, event)
        return account

    async def _account(self, callback: Callback, payout: Payout | None) -> Account | None:
        """Return the account of a callback: that of our payout, else as the bank names it."""
        if callback.kind in _OF_PAYOUTS:
            return await self.accounts.find(payout.account_id) if payout else None
        return await self.owners.find(callback)

    async def _named(self, callback: Callback) -> Payout | None:
        """Return our payout that a callback names; a payout of another bank is ignored."""
        payout = await self.follow_ups.find_by_key(callback.subject)
        return payout if payout and payout.provider == callback.provider else None

    async def _payout(
        self, callback: Callback, heard: list[PayoutEvent], *, last: bool
    ) -> CallbackState:
        """Query the payout at its bank; an unknown payout may still be about to be stored."""
        payout = await self._named(callback)
        if payout is None:
            return CallbackState.IGNORED if last else CallbackState.RECEIVED
        is_final = payout.state in FINAL_STATES
        named = callback.provider_id
        seen = payout if is_final else await self.look(payout, named, heard.append)
        # One that its bank holds has a schedule of its own.
        if seen.state in FINAL_STATES or seen.is_held(self.now()) or last:
            return CallbackState.DONE
        return CallbackState.RECEIVED

    async def _return(
        self, callback: Callback, heard: list[PayoutEvent], *, last: bool
    ) -> CallbackState:
        """
        Query the returns of a payout, once it is paid.

        Settled payouts are queried only here, since the bank sent a callback.
        """
        state = await self._payout(callback, heard, last=last)
        payout = await self._named(callback)
        if state is not CallbackState.DONE or payout is None:
            return state
        account = await self.accounts.find(payout.account_id)
        shown = account is not None and await self.look_back(payout, account)
        return CallbackState.DONE if shown or last else CallbackState.RECEIVED

    async def _read(
        self, callback: Callback, account: Account | None, *, last: bool
    ) -> CallbackState:
        """
        Query a charge, whose record is updated, or a refund, which is told once it is paid.

        An unknown account may still be about to be stored.
        """
        bank = self.banks.of(account) if account else None
        if account is None or bank is None:
            return CallbackState.IGNORED if last else CallbackState.RECEIVED
        if callback.kind is CallbackKind.CHARGE:
            calls, asked_at = offered(bank, PortCall.GET_CHARGE_PAYMENT), self.now()
            found = await calls.get_charge_payment(bank.account, callback.subject)
            await self.paid(account, found, asked_at)
        else:
            calls = offered(bank, PortCall.FIND_REFUND)
            await self.refunded(account, await calls.find_refund(bank.account, callback.subject))
        return CallbackState.DONE

    def _again(self, callback: Callback, state: CallbackState) -> datetime | None:
        """Return the time of the next attempt: later each time."""
        if state is not CallbackState.RECEIVED:
            return None
        return self.now() + _FIRST * (1 << callback.tries)


def _by_provider(due: Sequence[Callback]) -> Mapping[str, Sequence[Callback]]:
    """Group callbacks by bank, in order."""
    found: dict[str, list[Callback]] = {}
    for each in due:
        found.setdefault(each.provider, []).append(each)
    return found
