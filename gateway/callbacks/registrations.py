"""Registration of our callback addresses at banks, and events that banks could not deliver."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from gateway.accounts.store import StoredAccounts
from gateway.audit.store import StoredAudit
from gateway.banks.connections import offered
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    CallbackOrder,
    Notice,
    RegisteredCallback,
)
from gateway.banks.port.providers import Bank, Banks, NotSupported, ProviderError
from gateway.callbacks.reception import Reception
from gateway.core.account import Account
from gateway.core.audit_context import AuditContext, RuleViolation, identifier

_log = logging.getLogger(__name__)

_ACCOUNTS: Final = 100
"""Read from the store at once."""

_EVENTS: Final = 100
"""Read from a bank at once: what Stark Bank shows on a page."""

_FAILURES: Final = 5
"""In a row: then it is the bank, and a thousand accounts need not find that out."""

_MOST_ROUNDS: Final = 10
"""For one account in one turn, so that a bank that forgets what was acknowledged ends too."""


@dataclass(frozen=True, slots=True)
class CallbackOrders:
    """The callback order for each provider's bank; banks without callbacks are absent."""

    orders: Mapping[str, CallbackOrder]

    def of(self, provider: str) -> CallbackOrder:
        """Return a bank's order; raises ``RuleViolation`` where the adapter takes none."""
        order = self.orders.get(provider)
        if order is None:
            message = f"the adapter of {provider} takes no callbacks"
            raise RuleViolation(message)
        return order


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackRegistrations:
    """Registers an account's callback addresses at banks; each change is audited."""

    accounts: StoredAccounts
    banks: Banks
    audit: StoredAudit
    acting: AuditContext

    async def register(self, account: Account, order: CallbackOrder) -> RegisteredCallback:
        """Register an address; raises ``RuleViolation`` as ``list`` does."""
        bank = self._bank(account)
        with _refusals():
            calls = offered(bank, PortCall.REGISTER_CALLBACK)
            made = await calls.register_callback(bank.account, order)
        await self._note("callback.registered", account, made.id)
        return made

    async def list(self, account: Account) -> Sequence[RegisteredCallback]:
        """
        Return every address that the bank has for an account.

        Raises:
            RuleViolation: no provider stands behind the account, or its bank refuses.
        """
        bank = self._bank(account)
        with _refusals():
            return await offered(bank, PortCall.LIST_CALLBACKS).list_callbacks(bank.account)

    async def remove(self, account: Account, callback_id: str) -> None:
        """Remove an address by the bank's id of it; raises ``RuleViolation`` as ``list`` does."""
        bank = self._bank(account)
        with _refusals():
            calls = offered(bank, PortCall.REMOVE_CALLBACK)
            await calls.remove_callback(bank.account, callback_id)
        await self._note("callback.removed", account, callback_id)

    async def account(self, account_id: str) -> Account:
        """Return an account by its id; raises ``RuleViolation`` when there is none."""
        found = await self.accounts.find(identifier(account_id, "account"))
        if found is None:
            message = f"no account {account_id}"
            raise RuleViolation(message)
        return found

    def _bank(self, account: Account) -> Bank:
        bank = self.banks.of(account)
        if bank is None or bank.lacks_credentials:
            message = f"account {account.id} has no provider, or no credentials there"
            raise RuleViolation(message)
        return bank

    async def _note(self, action: str, account: Account, callback_id: str) -> None:
        """Record the act; the address itself is half a secret and stays out."""
        details = {"provider": account.provider, "callback": callback_id}
        await self.audit.append(self.acting.event(action, f"account:{account.id}", details))


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedEvents:
    """
    Reads undelivered events from banks, and treats them like callbacks.

    Attributes:
        providers: The configured ones; banks without such a call are skipped.
    """

    providers: Collection[str]
    accounts: StoredAccounts
    banks: Banks
    reception: Reception

    async def turn(self) -> int:
        """
        Query once for every account; return the number of events.

        No bank waits for another.

        Raises:
            ExceptionGroup: of ``StoreUnavailable``: the store does not answer.
        """
        async with asyncio.TaskGroup() as asking:
            turns = [asking.create_task(self._provider(name)) for name in self.providers]
        return sum(turn.result() for turn in turns)

    async def _provider(self, name: str) -> int:
        """Query for the accounts of one provider, until its bank proves unavailable."""
        found = skip = failed = 0
        while some := await self.accounts.some_at(name, skip, _ACCOUNTS):
            for account in some:
                try:
                    found += await self._account(account)
                    failed = 0
                except NotSupported:
                    return found
                except ProviderError as problem:
                    failed += 1
                    if failed == _FAILURES:
                        _log.warning("missed events of %s: %s", name, problem.reason)
                        return found
            skip += len(some)
        return found

    async def _account(self, account: Account) -> int:
        """Store one account's missed events, oldest first, and acknowledge them."""
        bank = self.banks.of(account)
        if bank is None or bank.lacks_credentials:
            return 0
        calls = offered(bank, PortCall.LIST_MISSED_EVENTS)
        found = 0
        for _ in range(_MOST_ROUNDS):
            events = await calls.list_missed_events(bank.account, _EVENTS)
            for each in events:
                notice = _owned(each.notice, bank)
                await self.reception.keep(account.provider, notice, each.body)
            if events:
                await calls.acknowledge_events(bank.account, [each.id for each in events])
            found += len(events)
            if len(events) < _EVENTS:
                break
        return found


def _owned(notice: Notice, bank: Bank) -> Notice:
    """Add the queried account to an event that names none."""
    if notice.account or notice.kind is CallbackKind.PAYOUT:
        return notice
    return replace(notice, account=bank.account.provider_account)


@contextmanager
def _refusals() -> Iterator[None]:
    """Translate the bank's refusals to our words."""
    try:
        yield
    except NotSupported as problem:
        message = "the bank offers no such call"
        raise RuleViolation(message) from problem
    except ProviderError as problem:
        message = f"the bank did not do it: {problem.reason}"
        raise RuleViolation(message) from problem
