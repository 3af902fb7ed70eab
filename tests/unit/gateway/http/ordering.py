"""Approvals that do with an order what a test wants."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.approvals.money import Moved, Order
from gateway.core.access import Staff
from gateway.core.account import Account
from gateway.core.approvals import Approval, ApprovalKind
from gateway.core.audit_context import AuditContext
from gateway.core.sessions import SignedInUser
from gateway.payouts.model import KeyPayout, PayoutRequest
from tests.world.people import ACCOUNT, COMPANY
from tests.world.standing import NOON

WAITING = Approval(
    id="5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a09",
    kind=ApprovalKind.PAYOUT,
    account_id=ACCOUNT,
    company_id=COMPANY,
    subject=ACCOUNT,
    reference="order-1",
    centavos=1050,
    sealed_order=b"sealed",
    ordered_by="u",
    orderer="user:maria@example.com",
    ordered_at=NOON,
    ends_at=NOON,
)


@dataclass
class Says:
    answer: Moved | Approval
    asked: list[tuple[SignedInUser, Account, Order]] = field(default_factory=list)

    async def order(self, who: Staff, account: Account, order: Order) -> Moved | Approval:
        assert who.person is not None
        self.asked.append((who.person, account, order))
        return self.answer


@dataclass
class Only:
    """Operations of which approvals are asked; owners of keys are as they were typed."""

    approvals: Says

    def __getattr__(self, _name: str) -> Only:
        return self

    async def named(
        self, _acting: AuditContext, _account: Account, order: KeyPayout
    ) -> PayoutRequest:
        return order.request
