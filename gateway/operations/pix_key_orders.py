"""Registering PIX keys, giving them up, and asking who is behind one."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.accounts import Account
from gateway.domain.pix_keys import KeyOrder, KeyOwner, PixKeyStatus, PixKeyType
from gateway.domain.provider_options import Option
from gateway.domain.providers import Banks
from gateway.domain.stores import Audit
from gateway.operations.administration import Acting
from gateway.operations.bank_acts import BankAct, recorded
from gateway.operations.connections import bank_of, paying_bank_of
from gateway.operations.options import key_calls
from gateway.operations.pix_keys import OwnedKey


@dataclass(frozen=True, slots=True)
class PixKeyOrders:
    """
    Changes the keys of an account (contract 4.3).

    Every call raises ``NotSupported`` for a bank that does not offer it, and
    ``ServiceError`` ``SVC.ACC.005`` when no provider is configured (422) or
    it is read-only (403, changes alone).
    """

    banks: Banks
    audit: Audit

    async def create(self, acting: Acting, account: Account, order: KeyOrder) -> OwnedKey:
        """
        Register a key.

        Not repeated by itself: after a failure look at the list of keys first.

        Raises:
            ServiceError: ``SVC.GTW.009`` when the key is in use, by this
                account too; ``SVC.GTW.008`` when the bank refuses.
            ProviderError: it is not known whether it was registered, but for
                ``Unreachable``.
            StoreUnavailable: nothing was asked of the bank.
        """
        bank = paying_bank_of(self.banks, account)
        calls = key_calls(bank, Option.CREATE_KEY)
        async with recorded(self.audit, _act(acting, account, "create", order.type)):
            key = await calls.create_key(bank.account, order)
        return OwnedKey(key.public_id(account.id), key)

    async def cancel(self, acting: Acting, account: Account, key_id: str) -> OwnedKey:
        """
        Give a key up, by its public id; one that is given up already is returned as it is.

        Raises:
            NotFound: the bank has none of that id.
            ServiceError: ``SVC.GTW.008`` when the bank refuses.
            ProviderError: not known to be done; safe to repeat.
            StoreUnavailable: nothing was changed.
        """
        bank = paying_bank_of(self.banks, account)
        calls = key_calls(bank, Option.CANCEL_KEY)
        key = await bank.adapter.get_key(bank.account, key_id)
        if key.status is not PixKeyStatus.CANCELED:
            async with recorded(self.audit, _act(acting, account, "cancel", key.type, key_id)):
                key = await calls.cancel_key(bank.account, key)
        return OwnedKey(key_id, key)

    async def look_up(self, acting: Acting, account: Account, key: str) -> KeyOwner:
        """
        Ask who is behind a key of any bank, given in its normal form.

        It shows a person's data and the central bank counts such questions, so
        it is recorded as an act; the key itself is not.

        Raises:
            NotFound: nobody has this key.
            ServiceError: ``SVC.GTW.008`` when the bank refuses to tell.
            ProviderError: the bank does not tell; safe to repeat.
            StoreUnavailable: nothing was asked.
        """
        bank = bank_of(self.banks, account)
        calls = key_calls(bank, Option.LOOK_UP_KEY)
        async with recorded(self.audit, _act(acting, account, "look_up")):
            return await calls.look_up_key(bank.account, key)


def _act(
    acting: Acting,
    account: Account,
    what: str,
    kind: PixKeyType | None = None,
    key_id: str = "",
) -> BankAct:
    """Describe an act on a key without the key: it may be somebody's tax number."""
    return BankAct(
        acting=acting,
        account=account,
        action=f"pix_key.{what}",
        subject=f"pix_key:{key_id}" if key_id else f"account:{account.id}",
        details={"type": kind.value} if kind else {},
    )
