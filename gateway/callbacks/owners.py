"""Finds the account of a callback by any name that the bank uses."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.accounts.store import StoredAccounts
from gateway.banks.connections import offered
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.provider_callbacks import NamedBy
from gateway.banks.port.providers import Bank, Banks, NotFound, NotSupported, ProviderError, Refused
from gateway.callbacks.model import Callback
from gateway.core.account import Account

_AT_ONCE: Final = 20
"""Accounts asked for one callback in one look. A bank that names a callback by key or charge has
few accounts behind one provider; a look must not take the bank's whole allowance."""

_REMEMBERED: Final = 10_000
"""Keys and charges whose account is known: some 3 MB."""

_ABSENT = (NotFound, NotSupported, Refused)


@dataclass(frozen=True, slots=True)
class CallbackAccounts:
    """
    Finds accounts by the bank's name of them, by one of their keys, or by one of their charges.

    Keys and charges are not stored here, so the bank is queried for each account in turn, and this
    process caches the answer.
    """

    accounts: StoredAccounts
    banks: Banks
    _known: OrderedDict[tuple[str, str, str], str] = field(default_factory=OrderedDict)

    async def find(self, callback: Callback) -> Account | None:
        """
        Return the account, or None.

        Raises:
            ProviderError: the bank did not answer for a candidate account.
        """
        if not callback.account:
            return None
        if callback.named_by is NamedBy.ACCOUNT:
            return await self.accounts.find_at(callback.provider, callback.account)
        name = (callback.provider, callback.named_by.value, callback.account)
        if name in self._known:
            return await self.accounts.find(self._known[name])
        found = await self._asked(callback)
        if found is not None:
            self._known[name] = found.id
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return found

    async def _asked(self, callback: Callback) -> Account | None:
        """Query the bank for one account after the other."""
        failed: ProviderError | None = None
        for account in await self._candidates(callback):
            try:
                bank = self.banks.of(account)
                if bank is not None and await _is_its(bank, callback):
                    return account
            except _ABSENT:
                continue
            except ProviderError as problem:
                failed = problem
        if failed is not None:
            raise failed
        return None

    async def _candidates(self, callback: Callback) -> Sequence[Account]:
        """Return the accounts to query: all of a few; of many, other ones at each attempt."""
        theirs = await self.accounts.some_at(callback.provider, callback.tries * _AT_ONCE, _AT_ONCE)
        return theirs or await self.accounts.some_at(callback.provider, 0, _AT_ONCE)


async def _is_its(bank: Bank, callback: Callback) -> bool:
    if callback.named_by is NamedBy.KEY:
        keys = await offered(bank, PortCall.LIST_KEYS).list_keys(bank.account)
        return any(each.key == callback.account for each in keys)
    await offered(bank, PortCall.GET_CHARGE).get_charge(bank.account, callback.account)
    return True
