"""Credentials and people as orders: what waits, what does not, and where a rule is off."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.domain.accounts.credentials import UNLIMITED, CredentialLimits, Permission
from gateway.domain.backoffice.approvals import Approval, ApprovalState, Outcome
from gateway.domain.identity.rights import Role
from gateway.domain.identity.sessions import SignedInUser
from gateway.domain.identity.users import User
from gateway.domain.kernel.company_scope import scope_of
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.money import Money
from gateway.operations.accounts.credentials import CredentialOrder, Issued
from gateway.operations.backoffice.access_orders import (
    BackOfficeCarriers,
    CredentialOrders,
    FourEyes,
    PeopleOrders,
)
from gateway.operations.backoffice.approvals import Approvals, ApprovalTerms
from gateway.operations.identity.users import NewUser
from gateway.operations.kernel.audit_context import RuleViolation
from tests.unit.people import somebody
from tests.unit.standing import Clock
from tests.world import registers
from tests.world.identity import IdentityWorld, identity_world_on
from tests.world.registers import Registers

TEN = Money(1000)
PAYS = frozenset(map(Permission.parse, ("withdraw:write", "balance:read")))
READS = frozenset(map(Permission.parse, ("withdraw:read", "balance:manage")))


@dataclass
class ApprovalWorld:
    """Two people who order and decide, over a store of their own."""

    office: Registers
    identity_world: IdentityWorld
    approvals: Approvals
    maria: SignedInUser
    joao: SignedInUser
    company: str

    def credentials(self, rules: FourEyes | None = None) -> CredentialOrders:
        return CredentialOrders(
            records=self.office.credentials, approvals=self.approvals, rules=rules or FourEyes()
        )

    def people(self, rules: FourEyes | None = None) -> PeopleOrders:
        return PeopleOrders(
            services=self.identity_world.services,
            approvals=self.approvals,
            rules=rules or FourEyes(),
        )

    def wanted(self, permissions: frozenset[Permission] = PAYS, **more: Any) -> CredentialOrder:
        return CredentialOrder(name="ERP", company_id=self.company, permissions=permissions, **more)

    async def issued(self, **more: Any) -> Issued:
        """Issue a credential that pays, by two."""
        waiting = await self.credentials().issue(self.maria, self.wanted(**more))
        assert isinstance(waiting, Approval)
        await self.approvals.approve(self.joao, scope_of(self.joao.companies), waiting.id)
        return await self.credentials().secret(
            self.maria, scope_of(self.maria.companies), waiting.id
        )


async def refusal(deed: Any) -> str:
    """Return what a deed is refused with."""
    with pytest.raises(ServiceError) as refused:
        await deed
    return f"{refused.value.error.status} {refused.value.reason}"


@pytest.fixture
async def approval_world(tmp_path: Path) -> AsyncIterator[ApprovalWorld]:
    async with registers.opened(tmp_path) as office:
        clock = Clock()
        identity_world = identity_world_on(office.store, clock)
        await identity_world.services.signing_keys.ensure()
        people = [
            await identity_world.services.users.create(
                "cli", NewUser(email=f"{name}@example.com", name=name, roles=roles)
            )
            for name, roles in (
                ("maria", frozenset({Role.ADMIN})),
                ("joao", frozenset({Role.APPROVER})),
            )
        ]
        nothing: Any = None
        terms = ApprovalTerms(
            above=Money(0),
            now=clock.now,
            new_id=office.new_id,
            seal=lambda text, row: f"{row}|{text}".encode(),
            open=lambda sealed, row: sealed.decode().removeprefix(f"{row}|"),
        )
        approvals = Approvals(
            store=office.store.office.approvals,
            audit=office.store.audit,
            users=office.store.identity.users,
            money=nothing,
            office=BackOfficeCarriers(
                records=office.credentials,
                services=identity_world.services,
                users=office.store.identity.users,
            ),
            terms=terms,
        )
        company = await office.companies.create("Padaria")
        office.clock = clock.now  # type: ignore[assignment]
        yield ApprovalWorld(office, identity_world, approvals, *map(as_person, people), company.id)
        identity_world.hasher.close()


def as_person(user: User) -> SignedInUser:
    return somebody(*user.roles, user_id=user.id, email=user.email, companies=user.companies)


@pytest.mark.parametrize(
    ("permissions", "rules", "waits"),
    [
        (PAYS, FourEyes(), True),
        (READS, FourEyes(), False),
        (frozenset(), FourEyes(), False),
        (PAYS, FourEyes(credentials=False), False),
        (PAYS, FourEyes(people=False), True),
    ],
)
async def test_a_credential_that_can_pay_waits(
    approval_world: ApprovalWorld, permissions: frozenset[Permission], rules: FourEyes, waits: bool
):
    done = await approval_world.credentials(rules).issue(
        approval_world.maria, approval_world.wanted(permissions)
    )

    assert isinstance(done, Approval) is waits
    assert len(await approval_world.office.credentials.list()) == (0 if waits else 1)


async def test_what_could_not_be_issued_is_refused_when_it_is_ordered(
    approval_world: ApprovalWorld,
):
    with pytest.raises(RuleViolation):
        await approval_world.credentials().issue(
            approval_world.maria, replace(approval_world.wanted(), company_id="x")
        )


async def test_the_overlap_of_a_rotation_begins_with_its_secret(approval_world: ApprovalWorld):
    made = await approval_world.issued()
    orders = approval_world.credentials()
    waiting = await orders.rotate(approval_world.maria, made.credential, timedelta(hours=1))
    assert isinstance(waiting, Approval)
    await approval_world.approvals.approve(
        approval_world.joao, scope_of(approval_world.joao.companies), waiting.id
    )
    approval_world.identity_world.clock.passes(600)

    new = await orders.secret(
        approval_world.maria, scope_of(approval_world.maria.companies), waiting.id
    )

    assert new.old_ends == approval_world.identity_world.clock.now() + timedelta(hours=1)
    assert new.client_secret != made.client_secret


async def test_a_secret_is_not_made_after_a_quarter_of_an_hour(approval_world: ApprovalWorld):
    waiting = await approval_world.credentials().issue(
        approval_world.maria, approval_world.wanted()
    )
    assert isinstance(waiting, Approval)
    await approval_world.approvals.approve(
        approval_world.joao, scope_of(approval_world.joao.companies), waiting.id
    )
    approval_world.identity_world.clock.passes(15 * 60)

    assert (
        await refusal(
            approval_world.credentials().secret(
                approval_world.maria, scope_of(approval_world.maria.companies), waiting.id
            )
        )
        == "404 no_secret"
    )
    assert await approval_world.office.credentials.list() == []


@pytest.mark.parametrize(
    ("old", "new", "waits"),
    [
        (CredentialLimits(per_payout=TEN), CredentialLimits(per_payout=Money(999)), False),
        (CredentialLimits(per_payout=TEN), CredentialLimits(per_payout=TEN, per_day=TEN), False),
        (CredentialLimits(per_payout=TEN), CredentialLimits(per_payout=Money(1001)), True),
        (CredentialLimits(per_day=TEN), UNLIMITED, True),
        (UNLIMITED, CredentialLimits(per_day=TEN), False),
        (CredentialLimits(per_payout=TEN, per_day=TEN), CredentialLimits(per_day=TEN), True),
    ],
)
async def test_only_raising_a_limit_waits(
    approval_world: ApprovalWorld, old: CredentialLimits, new: CredentialLimits, waits: bool
):
    made = await approval_world.issued(limits=old)

    done = await approval_world.credentials().set_limits(approval_world.maria, made.credential, new)

    assert isinstance(done, Approval) is waits
    [stored] = await approval_world.office.credentials.list()
    assert stored.limits == (old if waits else new)
    if isinstance(done, Approval):
        await approval_world.approvals.approve(
            approval_world.joao, scope_of(approval_world.joao.companies), done.id
        )
        [stored] = await approval_world.office.credentials.list()
        assert stored.limits == new


async def test_a_credential_that_ended_meanwhile_keeps_its_order_waiting(
    approval_world: ApprovalWorld,
):
    made = await approval_world.issued(limits=CredentialLimits(per_day=TEN))
    done = await approval_world.credentials().set_limits(
        approval_world.maria, made.credential, UNLIMITED
    )
    assert isinstance(done, Approval)
    await approval_world.office.credentials.revoke(made.credential.client_id)

    with pytest.raises(RuleViolation):
        await approval_world.approvals.approve(
            approval_world.joao, scope_of(approval_world.joao.companies), done.id
        )


def stranger(*roles: Role) -> NewUser:
    return NewUser(email="new@example.com", name="New", roles=frozenset(roles))


@pytest.mark.parametrize(
    ("roles", "rules", "waits"),
    [
        ({Role.VIEWER}, FourEyes(), False),
        ({Role.VIEWER, Role.OPERATOR}, FourEyes(), True),
        ({Role.OPERATOR}, FourEyes(people=False), False),
        ({Role.OPERATOR}, FourEyes(credentials=False), True),
    ],
)
async def test_who_may_write_is_invited_by_two(
    approval_world: ApprovalWorld, roles: set[Role], rules: FourEyes, waits: bool
):
    done = await approval_world.people(rules).invite(approval_world.maria, stranger(*roles))

    assert isinstance(done, Approval) is waits
    found = await approval_world.office.store.identity.users.find_by_email("new@example.com")
    assert (found is None) is waits
    if isinstance(done, Approval):
        decided = await approval_world.approvals.approve(
            approval_world.joao, scope_of(approval_world.joao.companies), done.id
        )
        found = await approval_world.office.store.identity.users.find_by_email("new@example.com")
        assert found is not None
        assert (found.roles, decided.approval.outcome) == (roles, Outcome.DONE)


async def test_an_orderer_who_lacks_the_right_by_now_has_ordered_nothing(
    approval_world: ApprovalWorld,
):
    """An admin orders an admin, and is a security officer when somebody agrees."""
    waiting = await approval_world.people().invite(approval_world.maria, stranger(Role.ADMIN))
    assert isinstance(waiting, Approval)
    await approval_world.identity_world.services.users.set_roles(
        "cli", approval_world.maria.user_id, {Role.SECURITY}
    )

    refused = await refusal(
        approval_world.approvals.approve(
            approval_world.joao, scope_of(approval_world.joao.companies), waiting.id
        )
    )

    found = await approval_world.approvals.find(
        approval_world.joao, scope_of(approval_world.joao.companies), waiting.id
    )
    assert (refused, found.state) == ("400 void", ApprovalState.VOID)
    assert await approval_world.office.store.identity.users.find_by_email("new@example.com") is None


async def test_an_address_taken_meanwhile_keeps_the_order_waiting(approval_world: ApprovalWorld):
    waiting = await approval_world.people().invite(approval_world.maria, stranger(Role.OPERATOR))
    assert isinstance(waiting, Approval)
    await approval_world.identity_world.services.users.create("cli", stranger(Role.VIEWER))

    with pytest.raises(RuleViolation):
        await approval_world.approvals.approve(
            approval_world.joao, scope_of(approval_world.joao.companies), waiting.id
        )

    found = await approval_world.approvals.find(
        approval_world.joao, scope_of(approval_world.joao.companies), waiting.id
    )
    assert found.state is ApprovalState.WAITING


async def test_a_grant_undoes_no_change_of_meanwhile(approval_world: ApprovalWorld):
    made = await approval_world.identity_world.services.users.create("cli", stranger(Role.VIEWER))
    given = frozenset({Role.VIEWER, Role.OPERATOR})
    waiting = await approval_world.people().set_roles(approval_world.maria, made, given)
    assert isinstance(waiting, Approval)
    await approval_world.identity_world.services.users.set_roles("cli", made.id, {Role.SECURITY})

    await approval_world.approvals.approve(
        approval_world.joao, scope_of(approval_world.joao.companies), waiting.id
    )

    found = await approval_world.identity_world.services.users.find(made.id)
    assert found.roles == {Role.SECURITY, Role.OPERATOR}


async def test_nobody_orders_a_role_for_themselves(approval_world: ApprovalWorld):
    found = await approval_world.identity_world.services.users.find(approval_world.maria.user_id)

    with pytest.raises(RuleViolation):
        await approval_world.people().set_roles(
            approval_world.maria, found, frozenset({Role.ADMIN, Role.OPERATOR})
        )
    with pytest.raises(RuleViolation):
        await approval_world.people().reset_mfa(approval_world.maria, found)
