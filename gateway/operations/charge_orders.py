"""Making charges and cancelling them."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.accounts import Account
from gateway.domain.charges import Charge, ChargeOrder
from gateway.domain.provider_options import Option
from gateway.domain.providers import Banks
from gateway.domain.stores import Audit
from gateway.operations.administration import Acting
from gateway.operations.bank_acts import BankAct, recorded
from gateway.operations.connections import paying_bank_of
from gateway.operations.options import charge_calls


@dataclass(frozen=True, slots=True)
class ChargeOrders:
    """
    Changes the charges of an account (contract 4.3).

    Every call raises ``NotSupported`` for a bank that does not offer it, and
    ``ServiceError`` ``SVC.ACC.005`` when no provider is configured (422) or
    it is read-only (403).
    """

    banks: Banks
    audit: Audit

    async def create(self, acting: Acting, account: Account, order: ChargeOrder) -> Charge:
        """
        Make a charge.

        Not repeated by itself: after a failure read the charge by its reference.

        Raises:
            ServiceError: ``SVC.GTW.009`` when the reference is in use,
                ``SVC.GTW.008`` when the bank refuses, such as for a key that
                is not the account's.
            ProviderError: it is not known whether it was made, but for
                ``Unreachable``.
            StoreUnavailable: nothing was asked of the bank.
        """
        bank = paying_bank_of(self.banks, account)
        calls = charge_calls(bank, Option.CREATE_CHARGE)
        asked = "open" if order.value is None else str(order.value)
        details = {"type": order.type.value, "value": asked}
        async with recorded(self.audit, _act(acting, account, "create", details)):
            return await calls.create_charge(bank.account, order)

    async def cancel(self, acting: Acting, account: Account, reference: str) -> Charge:
        """
        Cancel a charge and return it as ``Canceled``; safe to repeat.

        Raises:
            NotFound: the bank has none of that reference.
            ServiceError: ``SVC.GTW.008`` when it is paid.
            ProviderError: not known to be done.
            StoreUnavailable: nothing was asked of the bank.
        """
        bank = paying_bank_of(self.banks, account)
        calls = charge_calls(bank, Option.CANCEL_CHARGE)
        async with recorded(self.audit, _act(acting, account, "cancel", {})):
            return await calls.cancel_charge(bank.account, reference)


def _act(acting: Acting, account: Account, what: str, details: dict[str, str]) -> BankAct:
    """Describe an act on a charge; its reference is the caller's and may name somebody."""
    return BankAct(
        acting=acting,
        account=account,
        action=f"charge.{what}",
        subject=f"account:{account.id}",
        details=details,
    )
