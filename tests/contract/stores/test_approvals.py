"""Approvals of every kind in the store: void with their orderer, and fetched once."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec import structs

from gateway.app.store import Store
from gateway.core.approvals import (
    COLLECTED_WITHIN,
    Approval,
    ApprovalKind,
    ApprovalSearch,
    ApprovalState,
    Outcome,
    SecretCollection,
    WaitingMoney,
)
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.money import Money, Sum
from gateway.core.rights import Role
from gateway.core.storage import AlreadyExists, NothingToCollect
from gateway.core.windows import Paging
from gateway.credentials.store import Rotation
from tests.contract.stores.databases import both
from tests.world.acts import acts_of
from tests.world.stores.office import APPROVAL
from tests.world.stores.people import MARIA, user
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    COMPANY,
    NOW,
    SISTER,
    credential,
    event,
    secret,
)

LATER = NOW + timedelta(seconds=1)
GRANT = Approval(
    id="g1",
    kind=ApprovalKind.ROLES,
    subject="somebody",
    sealed_order=b"sealed",
    ordered_by=MARIA,
    orderer="user:maria@example.com",
    ordered_at=NOW,
    ends_at=NOW + timedelta(days=3),
)
PAYS = replace(APPROVAL, id="p1", ordered_by=MARIA)
ISSUE = replace(
    GRANT, id="i1", kind=ApprovalKind.CREDENTIAL_ISSUE, subject="i1", company_id=COMPANY
)
APPROVED = replace(
    ISSUE, state=ApprovalState.APPROVED, decided_by="u2", decider="u2", decided_at=NOW
)


async def states(store: Store, *names: str) -> list[ApprovalState]:
    found = [await store.approvals.find(each, EVERY_COMPANY, "") for each in names]
    return [each.state for each in found if each is not None]


@both
async def test_money_awaiting_approval_on_an_account_is_listed_and_summed(store: Store) -> None:
    """Payouts and refunds by any user; none that has ended, was decided or is of another kind."""
    waits = replace(PAYS, ordered_at=NOW - timedelta(minutes=1), ends_at=LATER)
    most = 9_999_999_999_999_99
    orders = (
        replace(waits, id="r", kind=ApprovalKind.REFUND, reference="r", centavos=25),
        *(replace(waits, id=f"p{n}", reference=f"p{n}", centavos=most) for n in range(30)),
        replace(waits, id="itself", reference="itself"),
        replace(waits, id="over", reference="over", ends_at=NOW),
        replace(waits, id="decided", reference="decided", state=ApprovalState.REJECTED),
        replace(ISSUE, id="key", subject="key", account_id=ACCOUNT),
    )
    for each in orders:
        await store.approvals.add(each, event())

    found = await store.approvals.waiting_money(ACCOUNT, NOW, without="itself")
    nothing = await store.approvals.waiting_money(SISTER, NOW)

    assert (found.count, found.value) == (31, Sum(30 * most + 25))
    assert len(found.oldest) == 25
    assert {each.id for each in found.oldest} <= {"r", *(f"p{n}" for n in range(30))}
    assert nothing == WaitingMoney()


async def test_an_order_without_an_account_is_read_back_unchanged(store: Store) -> None:
    await store.approvals.add(GRANT, event())

    assert await store.approvals.find("g1", EVERY_COMPANY, "") == GRANT
    with pytest.raises(AlreadyExists):
        await store.approvals.add(replace(GRANT, id="g2"), event())
    await store.approvals.add(replace(GRANT, id="g3", subject="another"), event())


async def test_orders_without_a_company_are_visible_to_their_orderer_alone(store: Store) -> None:
    await store.approvals.add(GRANT, event())
    await store.approvals.add(APPROVAL, event())
    search = ApprovalSearch(paging=Paging(1, 25))
    limit = CompanyScope(frozenset({COMPANY}))

    limited = (await store.approvals.search(search, limit, "u9")).items
    own = (await store.approvals.search(search, limit, MARIA)).items

    assert limited == [APPROVAL]
    assert {each.id for each in own} == {"a1", "g1"}


@both
@pytest.mark.parametrize(
    ("changed", "void"),
    [
        ({"active": False}, {"p1", "g1", "i1"}),
        ({"roles": frozenset({Role.VIEWER})}, {"p1", "g1", "i1"}),
        ({"roles": frozenset({Role.OPERATOR})}, {"g1", "i1"}),
        ({"roles": frozenset({Role.OPERATOR, Role.ADMIN})}, set()),
        ({"companies": frozenset({"another"})}, {"p1", "i1"}),
        ({"companies": frozenset({COMPANY})}, set()),
        ({"name": "Maria"}, set()),
    ],
    ids=[
        *("disabled", "reads alone", "operates alone", "as before"),
        *("another company", "the company", "renamed"),
    ],
)
async def test_a_change_of_rights_voids_the_user_s_waiting_orders(
    store: Store, changed: dict[str, object], void: set[str]
) -> None:
    """In the transaction of the change, each with an audit event."""
    roles = frozenset({Role.OPERATOR, Role.ADMIN})
    before = replace(user(), roles=roles, companies=frozenset())
    await store.identity.users.add(before, event())
    for each in (PAYS, GRANT, ISSUE, replace(APPROVAL, ordered_by="u9", reference="2")):
        await store.approvals.add(each, event())

    await store.identity.users.replace(replace(before, **changed), event("user.changed"))

    found = dict(zip(("p1", "g1", "i1"), await states(store, "p1", "g1", "i1"), strict=True))
    assert {name for name, state in found.items() if state is ApprovalState.VOID} == void
    assert await states(store, "a1") == [ApprovalState.WAITING]
    acts = [each.event for each in await acts_of(store)]
    told = [each.subject for each in acts if each.action == "approval.void"]
    assert set(told) == {f"approval:{name}" for name in void}


@both
async def test_of_a_concurrent_approval_and_withdrawal_one_succeeds(
    store: Store, second: Store
) -> None:
    before = len(await acts_of(store))
    for number in range(10):
        order = replace(PAYS, id=f"p{number}", reference=str(number))
        await store.approvals.add(order, event())
        ends = [
            replace(order, state=state, decided_by=by, decided_at=NOW)
            for state, by in ((ApprovalState.APPROVED, "u2"), (ApprovalState.WITHDRAWN, MARIA))
        ]

        held = await asyncio.gather(
            second.approvals.decide(ends[number % 2], event()),
            store.approvals.decide(ends[1 - number % 2], event()),
        )

        assert sorted(held) == [False, True]
        winner = ends[number % 2] if held[0] else ends[1 - number % 2]
        assert await states(store, order.id) == [winner.state]
    assert len(await acts_of(store)) == before + 20, "one act for each order and each end"


@both
async def test_of_a_concurrent_approval_and_disabling_one_succeeds(
    store: Store, second: Store
) -> None:
    before = replace(user(), roles=frozenset({Role.OPERATOR}))
    await store.identity.users.add(before, event())
    approved = {"state": ApprovalState.APPROVED, "decided_by": "u2", "decided_at": NOW}
    for number in range(10):
        order = replace(PAYS, id=f"p{number}", reference=str(number))
        await store.approvals.add(order, event())

        held, _ = await asyncio.gather(
            second.approvals.decide(replace(order, **approved), event()),
            store.identity.users.replace(replace(before, active=False), event("user.disabled")),
        )

        ends = ApprovalState.APPROVED if held else ApprovalState.VOID
        assert await states(store, f"p{number}") == [ends]


@both
async def test_a_final_outcome_of_an_order_is_not_overwritten(store: Store) -> None:
    held = store.approvals
    await held.add(APPROVAL, event())
    approved = replace(APPROVAL, state=ApprovalState.APPROVED, decided_at=NOW)
    unknown = replace(approved, outcome=Outcome.UNKNOWN)
    refused = replace(approved, outcome=Outcome.REFUSED, outcome_code="SVC.GTW.008")

    early = await held.conclude(refused, event(), Outcome.NONE)
    await held.decide(approved, event())
    first = await held.conclude(unknown, event(), Outcome.NONE)
    [open_] = await held.unsettled(NOW, NOW)
    second = await held.conclude(refused, event(), Outcome.UNKNOWN)
    moved = replace(refused, outcome=Outcome.MOVED)
    third = await held.conclude(moved, event(), Outcome.REFUSED)

    assert (early, first, open_, second, third) == (False, True, unknown, True, False)
    assert await held.find("a1", EVERY_COMPANY, "") == refused
    assert await held.unsettled(NOW, NOW) == []


@both
@pytest.mark.parametrize(
    ("outcome", "noted"),
    [(Outcome.MOVED, True), (Outcome.REFUSED, False), (Outcome.NOT_SENT, False)],
)
async def test_only_moved_money_overwrites_a_concurrently_recorded_outcome(
    store: Store, outcome: Outcome, noted: bool
) -> None:
    """Two calls may be under way: the answer to the slower one does not disprove the other."""
    held = store.approvals
    await held.add(APPROVAL, event())
    approved = replace(APPROVAL, state=ApprovalState.APPROVED, decided_at=NOW)
    await held.decide(approved, event())
    await held.conclude(replace(approved, outcome=Outcome.UNKNOWN), event(), Outcome.NONE)

    late = await held.conclude(replace(approved, outcome=outcome), event(), Outcome.NONE)

    assert late is noted


async def test_an_approved_order_without_an_outcome_is_unsettled_after_its_deadline(
    store: Store,
) -> None:
    held = store.approvals
    await held.add(APPROVAL, event())
    await held.decide(replace(APPROVAL, state=ApprovalState.APPROVED, decided_at=LATER), event())

    early, due = await held.unsettled(NOW, NOW), await held.unsettled(NOW, LATER)

    assert (early, [each.id for each in due]) == ([], ["a1"])


@both
@pytest.mark.parametrize("order", ["issue", "rotation"])
async def test_of_eight_concurrent_collections_of_a_secret_one_succeeds(
    store: Store, second: Store, order: str
) -> None:
    """Credential and secret are created in the transaction that closes the order."""
    await store.approvals.add(ISSUE, event())
    await store.approvals.decide(APPROVED, event())
    if order == "rotation":
        await store.credentials.add(credential(), event())

    async def fetched(node: Store, number: int) -> str:
        taken, new = SecretCollection("i1", LATER), secret(bytes([number]) * 32)
        if order == "rotation":
            await node.credentials.rotate(CLIENT, Rotation(new, LATER, taken), event())
            return CLIENT
        made = replace(credential(f"cli_{number}"), secrets=(new,))
        await node.credentials.add(made, event(), taken)
        return made.client_id

    tries = [fetched([store, second][number % 2], number) for number in range(8)]
    found = await asyncio.gather(*tries, return_exceptions=True)

    [won] = [each for each in found if isinstance(each, str)]
    assert sum(isinstance(each, NothingToCollect) for each in found) == 7
    assert await store.credentials.find(won) is not None
    kept = await store.approvals.find("i1", EVERY_COMPANY, "")
    assert kept is not None
    assert (kept.outcome, kept.collected_at) == (Outcome.DONE, LATER)


@both
@pytest.mark.parametrize(
    ("state", "at"),
    [
        (ApprovalState.APPROVED, NOW + COLLECTED_WITHIN),
        (ApprovalState.REJECTED, LATER),
        (ApprovalState.VOID, LATER),
    ],
)
async def test_no_secret_is_collected_late_or_without_an_approval(
    store: Store, state: ApprovalState, at: object
) -> None:
    await store.approvals.add(ISSUE, event())
    await store.approvals.decide(replace(APPROVED, state=state), event())

    with pytest.raises(NothingToCollect):
        await store.credentials.add(credential(), event(), SecretCollection("i1", at))

    assert await store.credentials.find(CLIENT) is None


async def test_a_waiting_order_yields_no_secret(store: Store) -> None:
    await store.approvals.add(ISSUE, event())

    with pytest.raises(NothingToCollect):
        await store.credentials.add(credential(), event(), SecretCollection("i1", LATER))


async def test_limits_can_be_changed_until_a_credential_is_revoked(store: Store) -> None:
    limits = replace(credential()).limits
    assert not await store.credentials.set_limits(CLIENT, limits, limits, event())
    await store.credentials.add(credential(), event())

    assert await store.credentials.set_limits(CLIENT, limits, limits, event())
    other = structs.replace(limits, per_day=Money(1))
    assert not await store.credentials.set_limits(CLIENT, other, limits, event())

    await store.credentials.revoke(CLIENT, NOW, event())
    assert not await store.credentials.set_limits(CLIENT, limits, limits, event())
