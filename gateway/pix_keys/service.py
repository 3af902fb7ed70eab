"""PIX keys of an account, and key owners; changes and look-ups are audited."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from gateway.audit.store import StoredAudit
from gateway.banks.acts import BankAct, recorded
from gateway.banks.connections import bank_of, changing_bank_of, offered, refuse_letters
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.pix_keys import KeyOrder, KeyOwner, PixKeyStatus
from gateway.banks.port.providers import Banks
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.allowances import Allowance, refuse_for
from gateway.core.audit_context import AuditContext
from gateway.core.limits import keep
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.pix_keys.model import OwnedKey

TOO_MANY_LOOK_UPS: Final = "owner_lookups"
"""The reason of a refusal: the person has looked up many owners of keys, or CPFs, lately."""
_ORDERED_WITHIN: Final = timedelta(minutes=5)
"""Of a look-up: as long as the code holds that an order needs."""


async def list_keys(banks: Banks, account: Account) -> Sequence[OwnedKey]:
    """Return every key (contract 2.8); raises ``ProviderError`` without a usable answer."""
    bank = bank_of(banks, account)
    keys = await offered(bank, PortCall.LIST_KEYS).list_keys(bank.account)
    return [OwnedKey(key.public_id(account.id), key) for key in keys]


async def get_key(banks: Banks, account: Account, key_id: str) -> OwnedKey:
    """Return a key; raises ``NotFound`` when the bank has no key of that id."""
    bank = bank_of(banks, account)
    key = await offered(bank, PortCall.GET_KEY).get_key(bank.account, key_id)
    return OwnedKey(key_id, key)


@dataclass(frozen=True, slots=True)
class KeyOwners:
    """
    The owners of keys of any bank, also for payouts that users order.

    Attributes:
        looked_up: What each person may look up; above: 429.
    """

    banks: Banks
    audit: StoredAudit
    looked_up: Allowance
    _shown: OrderedDict[tuple[str, str], datetime] = field(default_factory=OrderedDict)

    async def look_up(self, who: Staff, account: Account, key: str) -> KeyOwner:
        """
        Look up the owner of a key of any bank, given in its normal form.

        The result is personal data, and the central bank counts look-ups, so each is audited,
        without the key itself.

        Raises:
            NotFound: the key is not registered.
            ServiceError: ``SVC.GTW.008`` when the bank refuses; ``SVC.GTW.005`` (429) with
                ``Retry-After`` where the person has looked up too many lately, keys without an
                owner included.
            ProviderError: the bank gave no usable answer; safe to repeat.
            StoreUnavailable: the bank was not called.
        """
        return await self._look_up(who, account, key, by_order=False)

    async def look_up_for_order(self, who: Staff, account: Account, key: str) -> KeyOwner:
        """
        Look up the owner of a key for the order of a payout to it; raises as ``look_up``.

        An order that is never sent tells as much as a look-up, so it is counted, too: but for one
        order after a look-up of the same key, as the panel has it, in the same process.
        """
        return await self._look_up(who, account, key, by_order=True)

    async def count(self, user_id: str) -> None:
        """
        Take one look-up of a user.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After``: there is none left.
        """
        refuse_for(await self.looked_up.take(user_id), TOO_MANY_LOOK_UPS)

    async def _look_up(self, who: Staff, account: Account, key: str, *, by_order: bool) -> KeyOwner:
        bank = bank_of(self.banks, account)
        calls = offered(bank, PortCall.LOOK_UP_KEY)
        refuse_letters(self.banks, account, {"key": key})
        if who.person is not None:
            now, asked = who.acting.now(), (who.person.user_id, key)
            shown_at = self._shown.pop(asked, None) if by_order else None
            if shown_at is None or now - shown_at > _ORDERED_WITHIN:
                await self.count(who.person.user_id)
            if not by_order:
                keep(self._shown, asked, now)
        async with recorded(self.audit, _act(who.acting, account, "look_up", {})):
            return await calls.look_up_key(bank.account, key)


@dataclass(frozen=True, slots=True)
class PixKeys:
    """
    The keys of accounts, for users (contract 4.3).

    Every call raises ``NotSupported`` for a bank that does not offer it, and
    ``ServiceError`` ``SVC.ACC.005`` when no provider is configured (422) or
    it is read-only (403, changes alone).
    """

    owners: KeyOwners

    @requires(Area.PIX_KEY, Action.READ)
    async def list(self, who: Staff, account: Account) -> Sequence[OwnedKey]:
        """List the account's PIX keys."""
        return await list_keys(self.owners.banks, account)

    @requires(Area.PIX_KEY, Action.READ)
    async def get(self, who: Staff, account: Account, key_id: str) -> OwnedKey:
        """Read one PIX key."""
        return await get_key(self.owners.banks, account, key_id)

    @requires(Area.PIX_KEY, Action.WRITE, active=True)
    async def create(self, who: Staff, account: Account, order: KeyOrder) -> OwnedKey:
        """
        Register a PIX key; the bank generates random (evp) keys.

        Not repeated by itself: after a failure look at the list of keys first.

        Raises:
            ServiceError: ``SVC.GTW.009`` when the key is in use, by this
                account too; ``SVC.GTW.008`` when the bank refuses.
            ProviderError: it is not known whether it was registered, but for
                ``Unreachable``.
            StoreUnavailable: nothing was asked of the bank.
        """
        bank = changing_bank_of(self.owners.banks, account)
        calls = offered(bank, PortCall.CREATE_KEY)
        refuse_letters(self.owners.banks, account, {"key": order.key})
        act = _act(who.acting, account, "create", {"type": order.type.value})
        async with recorded(self.owners.audit, act):
            key = await calls.create_key(bank.account, order)
        return OwnedKey(key.public_id(account.id), key)

    @requires(Area.PIX_KEY, Action.WRITE, active=True)
    async def cancel(self, who: Staff, account: Account, key_id: str) -> OwnedKey:
        """
        Cancel a PIX key; answers the key with status canceled.

        One that is given up already is returned as it is.

        Raises:
            NotFound: the bank has none of that id.
            ServiceError: ``SVC.GTW.008`` when the bank refuses.
            ProviderError: not known to be done; safe to repeat.
            StoreUnavailable: nothing was changed.
        """
        bank = changing_bank_of(self.owners.banks, account)
        calls = offered(bank, PortCall.CANCEL_KEY)
        key = await offered(bank, PortCall.GET_KEY).get_key(bank.account, key_id)
        if key.status is not PixKeyStatus.CANCELED:
            act = _act(who.acting, account, "cancel", {"type": key.type.value}, key_id)
            async with recorded(self.owners.audit, act):
                key = await calls.cancel_key(bank.account, key)
        return OwnedKey(key_id, key)

    @requires(Area.KEY_OWNER, Action.READ, active=True)
    async def look_up(self, who: Staff, account: Account, key: str) -> KeyOwner:
        """
        Ask who is behind a PIX key of any bank, before paying; recorded.

        Raises as ``KeyOwners.look_up``.
        """
        return await self.owners.look_up(who, account, key)


def _act(
    acting: AuditContext, account: Account, what: str, details: dict[str, str], key_id: str = ""
) -> BankAct:
    """Build the audit event of an act on a key, without the key, which may be a tax number."""
    return BankAct(
        acting=acting,
        account=account,
        action=f"pix_key.{what}",
        subject=f"pix_key:{key_id}" if key_id else f"account:{account.id}",
        details=details,
    )
