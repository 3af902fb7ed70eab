"""
The end of a user's last second factor; for a user who may write it takes a second person.

Who has stolen a session, the password and a telephone for a minute would else leave the account
open to the password alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import msgspec

from gateway.core.approvals import (
    Approval,
    ApprovalKind,
    NewOrder,
    OrderDocument,
    Outcome,
    VoidReason,
    Wait,
)
from gateway.core.audit import AuditEvent
from gateway.core.rights import may_write
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.identity.context import IdentityContext, changed_meanwhile
from gateway.identity.mail import Mailer
from gateway.identity.model import FactorRemoval
from gateway.identity.store import EVERY

_ORDERS: Final = msgspec.json.Decoder(FactorRemoval)
_WORD: Final = "factor.removed_last"


@dataclass(slots=True)
class FactorRemovals:
    """
    Removes the last second factor of a user, and executes the orders to do so.

    Attributes:
        wait: Lets the order of a user who may write wait; None where every one is executed at
            once.
    """

    context: IdentityContext
    wait: Wait | None = None

    async def remove_last(self, caller: SignedInUser, user: User) -> Approval | None:
        """
        Remove app, passkeys and recovery codes of the caller, who has just proven to be the user.

        Returns:
            The order, where a second person has to agree; nothing has changed then.

        Raises:
            ServiceError: ``SVC.GTW.009`` when such an order waits already; NOT_POSSIBLE.
        """
        order = FactorRemoval(user_id=user.id, email=user.email, enrolled_at=user.enrolled_at)
        if self.wait is None or not may_write(user.roles):
            await self._remove(order)
            return None
        one = next(iter(user.companies)) if len(user.companies) == 1 else None
        approval = await self.wait(
            caller,
            NewOrder(
                kind=ApprovalKind.FACTOR_REMOVAL,
                text=msgspec.json.encode(order).decode(),
                company_id=one,
                subject=user.id,
            ),
        )
        await Mailer(self.context).notify(
            user,
            ("Pedido de remoção do segundo fator", "Removal of the second factor ordered"),
            (
                "O último segundo fator da sua conta será removido quando outra pessoa aprovar.",
                "The last second factor of your account is removed when another person agrees.",
            ),
        )
        return approval

    async def check_again(self, _approval: Approval, text: str) -> VoidReason:
        """Refuse an order whose user has enrolled another factor since; see ``Executor``."""
        order = _ORDERS.decode(text)
        user = await self.context.stores.users.find(order.user_id)
        if user is None or not order.fits(user):
            return VoidReason.PERSON_CHANGED
        return VoidReason.NONE

    async def carry_out(self, _approval: Approval, text: str) -> Outcome:
        """Remove the factors, unless another one was enrolled since."""
        await self._remove(_ORDERS.decode(text))
        return Outcome.DONE

    def order_document(self, text: str) -> OrderDocument:
        """Return the order as a document."""
        order = _ORDERS.decode(text)
        return {"user_id": order.user_id, "email": order.email}

    async def _remove(self, order: FactorRemoval) -> None:
        """Remove every factor and session, and notify the owner."""

        def update(user: User) -> User:
            if not order.fits(user):
                raise changed_meanwhile()
            return replace(user, totp=None)

        def event_of(user: User) -> AuditEvent:
            return self.context.own_audit_event(user, _WORD)

        user = await self.context.change_user(order.user_id, update, event_of, EVERY)
        if user is None:
            raise changed_meanwhile()
        await self.context.stores.users.replace_codes(user.id, ())
        now = self.context.now()
        event = self.context.own_audit_event(user, "sessions.ended", why=_WORD)
        await self.context.stores.sessions.end_all(user.id, now, "factor", "", event)
        await Mailer(self.context).notify(
            user,
            ("Segundo fator removido", "Second factor removed"),
            (
                "Sua conta não tem mais segundo fator: nem aplicativo, nem chave de acesso.",
                "Your account has no second factor any more: neither an app nor a passkey.",
            ),
        )
        self.context.events.on_security_event("authn_factor_change", user.id)
