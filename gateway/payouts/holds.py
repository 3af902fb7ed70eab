"""
The end of a hold: its time is over and the payout is sent, or a person lets it go or refuses it.

Every end is a compare-and-set, so a held payout is sent once at most (ADR 0058).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Final, Protocol

from msgspec import Struct

from gateway.accounts.store import StoredAccounts
from gateway.banks.port.providers import Evidence, Phase
from gateway.core import errors, user_errors
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.audit import PAYOUT_RELEASED
from gateway.core.audit_context import reason
from gateway.core.calls import Caller
from gateway.core.clocks import Now
from gateway.core.company_scope import scope_of
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.permissions import USER_CLIENT, Action, Principal, client_of, payer
from gateway.core.rights import Area, Right, rights_of
from gateway.core.schemas import Why
from gateway.core.user_errors import NOT_POSSIBLE
from gateway.credentials.model import pays
from gateway.credentials.store import StoredCredentials
from gateway.identity.store import StoredUsers
from gateway.payouts.create import Payouts
from gateway.payouts.documents import AccountPayout
from gateway.payouts.model import REFUSED_BY_OPERATOR, EventKind, Payout, PayoutState
from gateway.stops.model import Stop
from gateway.telemetry.ports import Event, HoldOutcome

_log = logging.getLogger(__name__)

_HEARD_WITHIN: Final = timedelta(seconds=5)
"""
Within it every process knows a stop or a change of a credential.

A payout may have been ordered by the rules of before for so long. All of these instants are of the
shared clock, but for what the command line writes: its clock differs by less.
"""
_ORDERS: Final = Right(Area.PAYOUT, Action.WRITE)
_OWN_PAYOUT: Final = "Another person decides on a payout of your own."
_MAY_NOT: Final = {
    "own_secret": "You ordered a secret of its credential: another person has to release it.",
    "own_file": "You approved its file or let that go on: another person has to release it.",
}
PeopleOfFile = Callable[[str, str], Awaitable[Collection[str]]]
_NOT_HELD: Final = "The payout is not held any more: look at it again."


class RefusalBody(Struct, forbid_unknown_fields=True):
    """Why a held payout is refused; it stays on record."""

    reason: Annotated[Why, meaning("Why; for people who read it later.", "asked for by telephone")]


class Ordered(Protocol):
    """A payout, or several that were ordered at once: who ordered them, when, from where."""

    @property
    def account_id(self) -> str:
        """The account that they are paid from."""

    @property
    def client_id(self) -> str:
        """The credential or the user."""

    @property
    def created_at(self) -> datetime:
        """When they were ordered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payers:
    """
    Credentials and users that order payouts, as they are in the store now.

    Attributes:
        stops_since: Gives the stops that were in force at some time since an instant.
    """

    accounts: StoredAccounts
    credentials: StoredCredentials
    users: StoredUsers
    stops_since: Callable[[datetime], Awaitable[Sequence[Stop]]]
    now: Now

    async def has_secret(self, user_id: str, payout: Payout) -> bool:
        """Return whether a user ordered, and so was shown, a secret that may have made a payout."""
        return await self.credentials.was_shown(user_id, payout.client_id, payout.created_at)

    async def find(self, ordered: Ordered) -> Caller:
        """
        Return who ordered payouts, with the account they are paid from.

        Raises:
            ServiceError: they could not order it now, or were stopped since they ordered it; the
                reason says why.
            StoreUnavailable: the store did not answer.
        """
        account = await self.accounts.find(ordered.account_id)
        if account is None or not account.active:
            raise ServiceError(errors.ACCOUNT_INACTIVE, "inactive")
        if not account.verified:
            raise ServiceError(errors.ACCOUNT_UNVERIFIED, "unverified")
        is_user = ordered.client_id.startswith(USER_CLIENT)
        find = self._user if is_user else self._credential
        caller = Caller(await find(ordered, account), account)
        await self._check_stops(caller, ordered)
        return caller

    async def _check_stops(self, caller: Caller, ordered: Ordered) -> None:
        """Refuse payouts that a stop concerned since their order, even if the stop was lifted."""
        account, client_id = caller.account, caller.principal.client_id
        for stop in await self.stops_since(ordered.created_at - _HEARD_WITHIN):
            if stop.concerns(account.company_id, account.id, account.provider, client_id):
                raise ServiceError(errors.PAYOUTS_STOPPED, "stopped_meanwhile")

    async def _credential(self, ordered: Ordered, account: Account) -> Principal:
        found, now = await self.credentials.find(ordered.client_id), self.now()
        state = "revoked" if found is None else found.state(now)
        if found is None or state != "live":
            raise ServiceError(errors.PERMISSION_DENIED, state)
        if not found.has_secret_since(ordered.created_at, now):
            # The secret was taken away since, as a stolen one is.
            raise ServiceError(errors.PERMISSION_DENIED, "revoked")
        changed_at = found.rules_changed_at
        if changed_at is not None and ordered.created_at <= changed_at + _HEARD_WITHIN:
            # It might not be taken from there, or without a signature, any more.
            raise ServiceError(errors.PERMISSION_DENIED, "rules_changed")
        if not pays(found.permissions):
            raise ServiceError(errors.PERMISSION_DENIED, "permission")
        if found.company_id != account.company_id or found.account_id not in {None, account.id}:
            raise ServiceError(errors.PERMISSION_DENIED, "scope")
        return found.principal

    async def _user(self, ordered: Ordered, account: Account) -> Principal:
        user_id = ordered.client_id.removeprefix(USER_CLIENT)
        user = await self.users.find(user_id)
        if user is None or not user.active:
            raise ServiceError(errors.PERMISSION_DENIED, "revoked")
        may = any(right.covers(_ORDERS) for right in rights_of(user.roles))
        if not may or not scope_of(user.companies).includes(account.company_id):
            raise ServiceError(errors.PERMISSION_DENIED, "permission")
        return payer(user_id, account.company_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldEnds:
    """Ends holds whose time is over; any number of processes may try at once."""

    payouts: Payouts
    payers: Payers

    async def end(self, payout: Payout) -> Payout:
        """
        Send a held payout if its time is over, and return it as stored afterwards.

        Everything that may have changed since it was ordered is checked again. A payout that may
        not be sent now fails for good, as ``NOT_SENT``; so does a payout whose day is over.

        Raises:
            StoreUnavailable: nothing was sent, or its outcome could not be read.
        """
        payouts, follow_up = self.payouts, self.payouts.follow_up
        payout = await follow_up.end_day(payout)
        if not follow_up.hold_is_over(payout):
            return payout
        try:
            if await payouts.send_held(await self.payers.find(payout), payout):
                payouts.guards.count(Event.PAYOUT_HOLD, HoldOutcome.SENT)
        except ServiceError as refusal:
            await self._refuse(payout, refusal.reason)
        return await payouts.store.find(payout.account_id, payout.reference) or payout

    async def _refuse(self, payout: Payout, why: str) -> None:
        """Fail a held payout that may not be sent."""
        evidence = Evidence(phase=Phase.REFUSED_HERE, bytes_left=False, reason=why)
        follow_up = self.payouts.follow_up
        change = follow_up.unsent_end(payout, EventKind.REFUSED, evidence)
        if await self.payouts.store.record(change):
            _log.warning("payout_hold_refused provider_key=%s reason=%s", payout.provider_key, why)
            follow_up.moved(payout, change)


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldDecisions:
    """
    Lets a second person decide on a held payout before its time is over.

    Attributes:
        people_of_file: Returns the ids of the users who ordered, approved or let go on the file
            that a payout is of, by its account and reference.
    """

    payouts: Payouts
    payers: Payers
    people_of_file: PeopleOfFile

    @requires(Area.APPROVAL, Action.WRITE)
    async def release(self, who: Staff, account: Account, reference: str) -> AccountPayout:
        """
        Let a held payout go now: it is sent within seconds, if it still may be.

        Raises:
            ServiceError: ``SVC.PIX.011`` (404) without such a payout, ``FORBIDDEN`` for the
                caller's own, for one of a secret that the caller ordered and for one of a file
                that the caller approved or let go on, ``NOT_POSSIBLE`` for
                one that is not held or was let go, ``SVC.PIX.010`` (403) where payouts are
                stopped, or were since it was ordered.
        """
        payout = await self._held(who, account, reference)
        if why := await self.why_not(who, payout):
            raise ServiceError(user_errors.FORBIDDEN, why, detail=_MAY_NOT[why])
        await self.payouts.guards.go_on(await self.payers.find(payout))
        acting, details = who.acting, {"value": str(payout.value)}
        event = acting.event(PAYOUT_RELEASED, _subject(payout), details)
        if not await self.payouts.store.release(payout, event, acting.actor):
            raise _no_longer_held()
        self.payouts.guards.count(Event.PAYOUT_HOLD, HoldOutcome.RELEASED)
        return AccountPayout(account, await self._found(account, reference))

    @requires(Area.PAYOUT, Action.READ)
    async def why_not(self, who: Staff, payout: Payout) -> str:
        """
        Return why the caller may not release a payout of somebody else; empty if they may.

        They ordered a secret that may have made it, or approved its file or let that go on.
        """
        person = who.person
        if person is None:
            return ""
        if await self.payers.has_secret(person.user_id, payout):
            return "own_secret"
        people = await self.people_of_file(payout.account_id, payout.reference)
        return "own_file" if person.user_id in people else ""

    @requires(Area.APPROVAL, Action.WRITE)
    async def refuse(
        self, who: Staff, account: Account, reference: str, why: RefusalBody
    ) -> AccountPayout:
        """
        Refuse a held payout: it fails, and nothing of it is ever sent.

        Raises:
            ServiceError: ``SVC.PIX.011`` (404) without such a payout, ``FORBIDDEN`` for the
                caller's own, ``NOT_POSSIBLE`` for one that is not held.
            RuleViolation: there is no reason.
        """
        payout = await self._held(who, account, reference)
        follow_up, acting = self.payouts.follow_up, who.acting
        change = follow_up.unsent_end(payout, EventKind.REFUSED)
        if change.failure is not None:
            change = replace(change, failure=REFUSED_BY_OPERATOR)
        change = replace(change, by=acting.actor)
        details: Mapping[str, str] = {"value": str(payout.value), "reason": reason(why.reason)}
        event = acting.event("payout.refused", _subject(payout), details)
        if not await self.payouts.store.refuse(change, event):
            raise _no_longer_held()
        follow_up.moved(payout, change)
        return AccountPayout(account, await self._found(account, reference))

    async def _held(self, who: Staff, account: Account, reference: str) -> Payout:
        """Return a held payout that the caller may decide on."""
        person = who.person
        if person is None:
            raise ServiceError(user_errors.FORBIDDEN, "permission")
        payout = await self._found(account, reference)
        if payout.client_id == client_of(person.user_id):
            raise ServiceError(user_errors.FORBIDDEN, "own_order", detail=_OWN_PAYOUT)
        if payout.state is not PayoutState.HELD:
            raise _no_longer_held()
        return payout

    async def _found(self, account: Account, reference: str) -> Payout:
        payout = await self.payouts.store.find(account.id, reference)
        if payout is None:
            raise ServiceError(errors.PAYOUT_NOT_FOUND, "no_row")
        return payout


def _no_longer_held() -> ServiceError:
    return ServiceError(NOT_POSSIBLE, "not_held", field="reference", detail=_NOT_HELD)


def _subject(payout: Payout) -> str:
    """Return a payout's name in the audit log: its key at the bank, which is no personal data."""
    return f"payout:{payout.provider_key}"
