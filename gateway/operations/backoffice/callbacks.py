"""
Callbacks: taken when they are proven, stored once, and then looked into.

What a bank says unasked is a reason to read it, never a truth: whatever a
callback claims, only what the bank answers us moves a payout.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from gateway.domain.accounts.accounts import Account, Accounts
from gateway.domain.backoffice.callbacks import Callback, CallbackState
from gateway.domain.backoffice.callbacks import Callbacks as CallbackStore
from gateway.domain.bank import provider_callbacks
from gateway.domain.bank.answers import LONGEST_ID, WrongAnswer
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.charges import ChargePayment
from gateway.domain.bank.provider_callbacks import (
    CallbackKind,
    CallbackProof,
    Delivery,
    Notice,
)
from gateway.domain.bank.providers import Banks, NotFound, ProviderError
from gateway.domain.kernel import errors
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.payouts.events import PayoutEvent, noticed
from gateway.domain.payouts.followups import FollowUps
from gateway.domain.payouts.payouts import FINAL_STATES, Payout
from gateway.operations.backoffice.callback_accounts import CallbackAccounts
from gateway.operations.bank.connections import offered
from gateway.operations.payouts.looks import Hear
from gateway.telemetry.ports import Count, Event

_log = logging.getLogger(__name__)

_FORGED: Final = "forged"
_UNPROVEN: Final = "unproven"
"""The bank's own keys could not be read, or its adapter failed: nobody need be lying."""

# A process that dies leaves its callbacks to the others after this time.
_CLAIM: Final = timedelta(seconds=60)
# The bank may send the callback before its own books show the change; the pause doubles.
_FIRST: Final = timedelta(seconds=2)
# After that the reconciler still looks; a callback is only a reason to look sooner.
_MOST_TRIES: Final = 6
# Characters of a bank's id of an event; none of the banks known comes near it.
_LONGEST_EVENT: Final = 128
# The contract's longest reference.
_LONGEST_TEXT: Final = 1024
_OF_PAYOUTS: Final = frozenset({CallbackKind.PAYOUT, CallbackKind.RETURN})


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressedDelivery:
    """What came, and to which of our addresses; unproven."""

    provider: str
    token: str
    delivery: Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackAddress:
    """
    Where one provider's bank sends its callbacks.

    Attributes:
        tokens: The last step of our address, and the former ones, which go on answering.
    """

    proof: CallbackProof
    tokens: Sequence[str] = field(repr=False)

    def knows(self, token: str) -> bool:
        """Say whether a token is ours, in a time that does not depend on which."""
        given = token.encode("utf-8", "surrogateescape")
        return sum(hmac.compare_digest(given, each.encode()) for each in self.tokens) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reception:
    """
    Takes callbacks.

    Attributes:
        addresses: By provider; one without takes none.
        wake: Says that there is something to look into.
    """

    store: CallbackStore
    addresses: Mapping[str, CallbackAddress]
    now: Now
    new_id: Callable[[], str]
    count: Count
    wake: Callable[[], None]

    async def take(self, came: AddressedDelivery) -> None:
        """
        Store what a proven callback says; what was told before is taken and forgotten.

        Raises:
            ServiceError: ``SVC.AUT.010`` (401) for one that is not proven, of a
                provider unknown or without callbacks too; ``SVC.GTW.001`` (404) where
                its bank adds no such step to our address. Nothing is stored then.
        """
        address = self.addresses.get(came.provider)
        if address is None or not address.knows(came.token):
            raise self._refused(_FORGED)
        if came.delivery.rest not in address.proof.rests:
            raise ServiceError(errors.ROUTE_UNKNOWN, "no_route")
        notices = await self._proven(came, address.proof)
        for place, notice in enumerate(notices):
            await self.keep(came.provider, notice, _part(came.delivery, notices, place), place)

    async def keep(self, provider: str, notice: Notice, body: bytes, place: int = 0) -> None:
        """Store one thing that a bank has said, unless it said that before."""
        new = await self.store.add(self._callback(provider, notice, body, place))
        self.count(Event.CALLBACK, "taken" if new else "repeated")
        if new:
            self.wake()

    async def _proven(self, came: AddressedDelivery, proof: CallbackProof) -> Sequence[Notice]:
        """Return what it says, or refuse it."""
        try:
            notices = await proof.check(came.delivery)
        except ProviderError as problem:
            raise self._refused(_UNPROVEN) from problem
        except Exception as problem:  # another package's proof: it must not become a 500
            _log.error("the proof of callbacks failed: %s", came.provider)
            raise self._refused(_UNPROVEN) from problem
        if notices is None:
            raise self._refused(_FORGED)
        try:
            return [provider_callbacks.notice(each) for each in notices]
        except WrongAnswer as problem:
            raise self._refused(_UNPROVEN) from problem

    def _refused(self, reason: str) -> ServiceError:
        self.count(Event.CALLBACK, reason)
        return ServiceError(errors.CREDENTIALS_INVALID, reason)

    def _callback(self, provider: str, notice: Notice, body: bytes, place: int) -> Callback:
        now = self.now()
        return Callback(
            id=self.new_id(),
            provider=provider,
            event=_storable(notice.event, _LONGEST_EVENT) or _digest(body, place),
            kind=notice.kind,
            subject=_storable(notice.subject, _LONGEST_TEXT),
            account=_storable(notice.account, _LONGEST_TEXT),
            named_by=notice.named_by,
            provider_id=_storable(notice.provider_id, LONGEST_ID),
            received_at=now,
            body=body,
            due_at=now,
        )


def _part(came: Delivery, notices: Sequence[Notice], place: int) -> bytes:
    """
    Return what is kept of a body for one of the things that it says.

    The rest of it may be of another company, whose users alone may see it.
    """
    part = notices[place].part
    return part or (came.body if len(notices) == 1 else b"")


def _storable(text: str, longest: int) -> str:
    """Return a bank's text if it can be stored and shown, else an empty one."""
    return text if len(text) <= longest and text.isprintable() else ""


def _digest(body: bytes, place: int) -> str:
    """Name an event that its bank does not name."""
    return hashlib.sha256(body + (b"\n%d" % place if place else b"")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackLooks:
    """
    Looks into what was taken: reads the bank.

    Attributes:
        look: Reads a payout at its bank and moves it on, given the bank's id of it where the
            callback names it, and tells what the bank said; safe to repeat.
        look_back: Keeps what came back of a paid payout; says whether the bank shows any.
        paid: Notes what the bank told of a charge.
    """

    store: CallbackStore
    accounts: Accounts
    owners: CallbackAccounts
    follow_ups: FollowUps
    banks: Banks
    look: Callable[[Payout, str, Hear], Awaitable[Payout]]
    look_back: Callable[[Payout, Account], Awaitable[bool]]
    paid: Callable[[Account, ChargePayment], None]
    now: Now

    async def turn(self) -> int:
        """Look once into all that is due; return how many there were."""
        now = self.now()
        due = await self.store.due(now, now + _CLAIM)
        for each in due:
            heard: list[PayoutEvent] = []
            state = await self._looked(each, heard)
            again, last = self._again(each, state), heard[-1] if heard else None
            await self.store.handled(each.id, state, self.now(), again, last)
        return len(due)

    async def _looked(self, callback: Callback, heard: list[PayoutEvent]) -> CallbackState:
        """Look into one; RECEIVED asks for another look, ``heard`` gets what a bank said."""
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
        """Read what one speaks of."""
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
        """Return the account one speaks of, and note whose it is if that is not known yet."""
        payout = await self._named(callback) if callback.kind in _OF_PAYOUTS else None
        account = await self._account(callback, payout)
        if account is not None and not callback.company_id:
            told = noticed(payout, callback.id, callback.received_at) if payout else None
            await self.store.belongs(callback.id, account.company_id, told)
        return account

    async def _account(self, callback: Callback, payout: Payout | None) -> Account | None:
        """Return the account one speaks of: that of our payout, else as the bank names it."""
        if callback.kind in _OF_PAYOUTS:
            return await self.accounts.find(payout.account_id) if payout else None
        return await self.owners.find(callback)

    async def _named(self, callback: Callback) -> Payout | None:
        """Return the payout of ours that one names; of another bank's it says nothing."""
        payout = await self.follow_ups.find_by_key(callback.subject)
        return payout if payout and payout.provider == callback.provider else None

    async def _payout(
        self, callback: Callback, heard: list[PayoutEvent], *, last: bool
    ) -> CallbackState:
        """Read the payout at its bank; one that we do not know yet may be on its way."""
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
        Read what came back of a payout, once it is paid.

        The only look at a payout that has settled: its bank asked for it.
        """
        state = await self._payout(callback, heard, last=last)
        payout = await self.follow_ups.find_by_key(callback.subject)
        if state is not CallbackState.DONE or payout is None:
            return state
        account = await self.accounts.find(payout.account_id)
        shown = account is not None and await self.look_back(payout, account)
        return CallbackState.DONE if shown or last else CallbackState.RECEIVED

    async def _read(
        self, callback: Callback, account: Account | None, *, last: bool
    ) -> CallbackState:
        """
        Read a charge, whose record is brought up to date, or a refund, of which nothing is kept.

        An account that we do not know yet may be on its way.
        """
        bank = self.banks.of(account) if account else None
        if account is None or bank is None:
            return CallbackState.IGNORED if last else CallbackState.RECEIVED
        if callback.kind is CallbackKind.CHARGE:
            calls = offered(bank, PortCall.GET_CHARGE_PAYMENT)
            self.paid(account, await calls.get_charge_payment(bank.account, callback.subject))
        else:
            calls = offered(bank, PortCall.FIND_REFUND)
            await calls.find_refund(bank.account, callback.subject)
        return CallbackState.DONE

    def _again(self, callback: Callback, state: CallbackState) -> datetime | None:
        """Say when to look again: later each time."""
        if state is not CallbackState.RECEIVED:
            return None
        return self.now() + _FIRST * (1 << callback.tries)
