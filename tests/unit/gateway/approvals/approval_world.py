"""Approvals of payouts and refunds over a real store, a scripted bank, and people who decide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.app.store import Store
from gateway.approvals.execution import Decided
from gateway.approvals.money import MoneyOrders, Moved, Order
from gateway.approvals.service import ApprovalConfig, Approvals
from gateway.banks.port.capabilities import PortCall
from gateway.core.access import Staff
from gateway.core.account import Environment
from gateway.core.approvals import Approval, ApprovalSearch, RejectionBody
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import StopScope, scope_of
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.core.windows import Paging
from gateway.refunds.orders import RefundRequest
from gateway.refunds.refunding import RefundExecution
from gateway.refunds.store import RefundRecords
from gateway.stops.model import Stop
from tests.world.approvals import approval_config, approvals_on
from tests.world.payouts import CAREFUL, PayoutWorld, asking
from tests.world.people import ACCOUNT, account
from tests.world.standing import NOON, Clock
from tests.world.store import open_store
from tests.world.stores.samples import event

DAY_S = 86_400
ORDERS: list[Order] = [
    asking(),
    RefundRequest(reference="refund-1", payment="order-1", value=Money(1050), description=""),
]


def somebody(name: str, *companies: str) -> SignedInUser:
    return SignedInUser(
        user_id=name,
        email=f"{name}@example.com",
        name=name,
        roles=frozenset({Role.OPERATOR, Role.APPROVER}),
        companies=frozenset(companies),
        session_id="s",
        factor_at=None,
        has_factor=True,
    )


MARIA, JOAO, ANA = somebody("maria"), somebody("joao"), somebody("ana")


def stored(person: SignedInUser, **changed: object) -> User:
    """The person as the store keeps them."""
    fields = {
        "id": person.user_id,
        "email": person.email,
        "name": person.name,
        "password": "",
        "roles": person.roles,
        "companies": person.companies,
        "created_at": NOON,
        "updated_at": NOON,
    }
    return User(**fields | changed)  # type: ignore[arg-type]


@dataclass
class Changed:
    """The one person that the store knows, as they are by now."""

    user: User

    async def find(self, user_id: str) -> User | None:
        return self.user if user_id == self.user.id else None


@dataclass
class ApprovalWorld:
    """Approvals over a till."""

    payout_world: PayoutWorld
    store: Store
    approvals: Approvals
    stops: list[Stop] = field(default_factory=list)

    async def ordered(self, order: Order | None = None) -> Approval:
        """Order a payout, or something else, that waits."""
        waiting = await self.order(order or asking())
        assert isinstance(waiting, Approval)
        return waiting

    async def order(self, order: Order) -> Moved | Approval:
        """Order something in Maria's name."""
        return await self.approvals.order(self.staff(MARIA), account(), order)

    def staff(self, person: SignedInUser) -> Staff:
        """Let a person act with a fresh second factor."""
        now = self.payout_world.clock.now
        person = replace(person, factor_at=now())
        return Staff(AuditContext(person.actor, now), scope_of(person.companies), person)

    async def approve(self, person: SignedInUser, waiting: Approval) -> Decided:
        """Agree to an order."""
        return await self.approvals.approve(self.staff(person), waiting.id)

    async def reject(self, person: SignedInUser, waiting: Approval, why: str) -> Approval:
        """Refuse an order."""
        return await self.approvals.reject(self.staff(person), waiting.id, RejectionBody(why))

    async def withdraw(self, person: SignedInUser, waiting: Approval, why: str) -> Approval:
        """Withdraw an order."""
        return await self.approvals.withdraw(self.staff(person), waiting.id, RejectionBody(why))

    async def listed(self, person: SignedInUser) -> Sequence[Approval]:
        """Return the orders that a person is shown."""
        search = ApprovalSearch(paging=Paging(1, 25))
        return (await self.approvals.page(self.staff(person), search)).items

    async def now(self, waiting: Approval) -> Approval:
        """Return the order as it is now."""
        return await self.approvals.find(self.staff(JOAO), waiting.id)

    async def refusal(self, deed) -> str:
        """Return the code that a deed is refused with."""
        with pytest.raises(ServiceError) as refused:
            await deed
        return f"{refused.value.error.status} {refused.value.error.code} {refused.value.reason}"

    def above(self, limit: Money | None) -> Approvals:
        """The same desk with another limit."""
        return replace(self.approvals, config=replace(self.approvals.config, above=limit))


@asynccontextmanager
async def opened(
    payout_world: PayoutWorld, tmp_path: Path, clock: Clock
) -> AsyncIterator[ApprovalWorld]:
    """Open a world of its own, with one person in the store."""
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    ids = iter(f"approval-{number}" for number in range(100))
    config = approval_config(clock.now, lambda: next(ids))
    stops: list[Stop] = []
    payout_world.bank.capabilities = replace(
        CAREFUL, calls=CAREFUL.calls | {PortCall.CREATE_REFUND}
    )
    await store.identity.users.add(stored(MARIA), event())
    yield ApprovalWorld(payout_world, store, made(payout_world, store, config, stops), stops)
    await store.close()


def made(
    payout_world: PayoutWorld, store: Store, config: ApprovalConfig, stops: list[Stop]
) -> Approvals:
    """Make the operation under test, over a till and the stops in force."""

    async def in_force() -> list[Stop]:
        return stops

    giving = RefundExecution(
        banks=payout_world.banks,
        audit=store.audit,
        environment=Environment.SANDBOX,
        now=config.now,
        monotonic=payout_world.clock.monotonic,
        stops=in_force,
        tell=RefundRecords(store.database).take,
    )
    guards = replace(payout_world.payouts.guards, stops=in_force)
    money = MoneyOrders(
        accounts=store.accounts,
        payouts=replace(payout_world.payouts, guards=guards),
        refunds=giving,
        now=config.now,
    )
    return approvals_on(store, config, money)


def stopped(clock: Clock) -> Stop:
    now = clock.now()
    return Stop(
        id="stop-1",
        scope=StopScope.ACCOUNT,
        subject=ACCOUNT,
        reason="checking",
        created_by="ana",
        created_at=now,
        ends_at=now + timedelta(hours=1),
    )
