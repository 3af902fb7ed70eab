"""The owner of a payout's key, looked up when a user orders the payout."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.domain.accounts.accounts import Account
from gateway.domain.bank.payout_orders import NamedOwner, PixDestination
from gateway.domain.bank.pix_keys import hidden_tax_number
from gateway.domain.bank.providers import NotSupported
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.payouts.payouts import KeyPayout, PayoutRequest
from gateway.domain.payouts.payouts import Payouts as PayoutStore
from gateway.operations.bank.orders import PixKeyOrders
from gateway.operations.kernel.audit_context import AuditContext


@dataclass(frozen=True, slots=True)
class KeyOwners:
    """Puts the bank's word for the owner beside what was typed; a page's copy proves nothing."""

    keys: PixKeyOrders
    payouts: PayoutStore

    async def named(
        self, acting: AuditContext, account: Account, order: KeyPayout
    ) -> PayoutRequest:
        """
        Return the order with the owner of its key, as the bank names them now.

        A reference that is known already, and a bank that names no owners, leave it as it is.

        Raises:
            ServiceError: ``SVC.VAL.001`` when the typed number is not the owner's and no reason is
                given; as the look-up does.
            ProviderError: the bank gave no usable answer; nothing was ordered.
            StoreUnavailable: nothing was asked.
        """
        request, to = order.request, order.request.destination
        is_known = await self.payouts.find(account.id, request.reference) is not None
        if is_known or not isinstance(to, PixDestination):
            return request
        try:
            found = await self.keys.look_up(acting, account, to.key)
        except NotSupported:
            return request
        owner = NamedOwner(name=found.name, tax_number=hidden_tax_number(found.tax_number))
        if not owner.differs(to):
            return replace(request, owner=owner)
        if not order.difference_reason:
            field = "difference_reason"
            raise ServiceError(errors.FIELD_MISSING, "owner_differs", field=field)
        return replace(request, owner=replace(owner, reason=order.difference_reason))
