"""Approvals, callbacks and the request log in the store, and the audit log as it is read."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.app.store import Store
from gateway.approvals.store import Waiting
from gateway.audit.model import AuditSearch
from gateway.audit.service import AuditEntry, find_acts
from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.callbacks.model import CallbackSearch, CallbackState
from gateway.callbacks.store import CallbackRecords
from gateway.companies.service import add_company
from gateway.core.approvals import Approval, ApprovalSearch, ApprovalState
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope, StopScope, scope_of
from gateway.core.storage import AlreadyExists
from gateway.core.windows import Listed, Paging
from gateway.payouts.schedule import Backlog
from tests.contract.stores.databases import both
from tests.world.acts import acts_of
from tests.world.stops import STOP, plant, sample
from tests.world.stores.office import APPROVAL, CALLBACK, END
from tests.world.stores.people import user
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    COMPANY,
    NOW,
    account,
    attempt,
    company,
    credential,
    event,
    payout,
)

FIRST = Paging(1, 25)


def shown(found: Listed) -> tuple[list, int]:
    """What a page holds, and how many there are in all."""
    return list(found.items), found.total


def decided(state: ApprovalState, by: str = "u2") -> Approval:
    return replace(APPROVAL, state=state, decided_by=by, decider=by, decided_at=NOW, reason="ok")


async def test_callbacks_planned_too_far_ahead_are_due(store: Store):
    """The clock was set back; they would otherwise wait until it has caught up."""
    await CallbackRecords(store.database).add(CALLBACK)
    back = NOW - timedelta(hours=2)

    claimed = await CallbackRecords(store.database).due(back, back + timedelta(seconds=60))

    assert [each.id for each in claimed] == ["c1"]
    assert await CallbackRecords(store.database).due(back, back + timedelta(seconds=60)) == []


@both
async def test_an_order_is_read_back_unchanged(store: Store):
    await store.approvals.add(APPROVAL, event())

    assert await store.approvals.find("a1", EVERY_COMPANY, "") == APPROVAL
    assert await store.approvals.find("a2", EVERY_COMPANY, "") is None


async def test_a_reference_may_have_only_one_waiting_order(store: Store):
    await store.approvals.add(APPROVAL, event())

    with pytest.raises(AlreadyExists):
        await store.approvals.add(replace(APPROVAL, id="a2"), event())

    await store.approvals.decide(decided(ApprovalState.REJECTED), event())
    await store.approvals.add(replace(APPROVAL, id="a3"), event())


@both
async def test_only_one_of_ten_concurrent_decisions_succeeds(store: Store, second: Store):
    await store.approvals.add(APPROVAL, event())
    nodes = [store.approvals, second.approvals] * 5

    held = await asyncio.gather(
        *(
            node.decide(decided(ApprovalState.APPROVED, f"u{number}"), event())
            for number, node in enumerate(nodes)
        )
    )

    found = await store.approvals.find("a1", EVERY_COMPANY, "")
    assert sum(held) == 1
    assert found == decided(ApprovalState.APPROVED, f"u{held.index(True)}")


@both
async def test_approvals_are_searched_by_state_and_company(store: Store):
    await store.approvals.add(APPROVAL, event())
    other = replace(APPROVAL, id="a2", reference="2", ordered_at=NOW + timedelta(seconds=1))
    await store.approvals.add(other, event())
    await store.approvals.decide(decided(ApprovalState.REJECTED), event())

    async def found(*companies: str, **wanted) -> list[str]:
        search = ApprovalSearch(paging=FIRST, **wanted)
        listed = await store.approvals.search(search, scope_of(frozenset(companies)), "")
        assert listed.total == len(listed.items)
        return [each.id for each in listed.items]

    assert await found() == ["a2", "a1"]
    assert await found(state=ApprovalState.WAITING) == ["a2"]
    assert await found(COMPANY) == ["a2", "a1"]
    assert await found("other") == []


@both
async def test_a_waiting_order_is_overdue_after_its_deadline(store: Store):
    await store.approvals.add(APPROVAL, event())

    assert await store.approvals.overdue(END - timedelta(seconds=1)) == []
    assert await store.approvals.overdue(END) == [APPROVAL]


@both
async def test_orders_still_open_for_decision_are_counted(store: Store):
    none = await store.approvals.waiting(NOW)
    await store.approvals.add(APPROVAL, event())
    newer = replace(APPROVAL, id="a2", reference="2", ordered_at=NOW + timedelta(seconds=1))
    await store.approvals.add(newer, event())
    over = replace(APPROVAL, id="a3", reference="3", ordered_at=NOW - timedelta(days=1))
    await store.approvals.add(replace(over, ends_at=NOW), event())

    two = await store.approvals.waiting(NOW)
    await store.approvals.decide(decided(ApprovalState.REJECTED), event())
    one = await store.approvals.waiting(NOW)

    assert (none, two) == (Waiting(0, None), Waiting(2, NOW))
    assert one == Waiting(1, newer.ordered_at)


@both
async def test_a_bank_s_event_is_stored_once(store: Store, second: Store):
    nodes = [CallbackRecords(store.database), CallbackRecords(second.database)] * 5

    new = await asyncio.gather(
        *(node.add(replace(CALLBACK, id=f"c{n}")) for n, node in enumerate(nodes))
    )
    other_bank = await CallbackRecords(store.database).add(
        replace(CALLBACK, id="o", provider="other")
    )

    assert (sum(new), other_bank) == (1, True)


@both
async def test_due_callbacks_are_claimed_once(store: Store, second: Store):
    await CallbackRecords(store.database).add(CALLBACK)
    later = NOW + timedelta(minutes=1)

    first = await CallbackRecords(store.database).due(NOW, later)
    again = await CallbackRecords(second.database).due(NOW, later)

    assert (first, again) == ([CALLBACK], [])
    assert [each.id for each in await CallbackRecords(second.database).due(later, END)] == ["c1"]


@both
async def test_callbacks_of_excluded_banks_are_not_claimed(store: Store):
    await CallbackRecords(store.database).add(CALLBACK)
    await CallbackRecords(store.database).add(replace(CALLBACK, id="o", provider="other"))

    claimed = await CallbackRecords(store.database).due(NOW, END, but_of=[CALLBACK.provider])

    assert [each.id for each in claimed] == ["o"]


@both
async def test_handled_callbacks_are_not_due(store: Store):
    await CallbackRecords(store.database).add(CALLBACK)

    await CallbackRecords(store.database).handled("c1", CallbackState.DONE, NOW, None)

    rows, total = shown(
        await CallbackRecords(store.database).search(CallbackSearch(paging=FIRST), EVERY_COMPANY)
    )
    assert await CallbackRecords(store.database).due(END, END) == []
    done = replace(CALLBACK, state=CallbackState.DONE, tries=1, handled_at=NOW, due_at=None)
    assert (rows, total) == ([done], 1)


@both
async def test_callbacks_are_searched_and_deleted(store: Store):
    await CallbackRecords(store.database).add(CALLBACK)
    search = CallbackSearch(
        paging=FIRST,
        provider="sandbox",
        kind=CallbackKind.PAYOUT,
        state=CallbackState.RECEIVED,
    )

    assert shown(await CallbackRecords(store.database).search(search, EVERY_COMPANY)) == (
        [CALLBACK],
        1,
    )
    other = replace(search, kind=CallbackKind.CHARGE)
    assert shown(await CallbackRecords(store.database).search(other, EVERY_COMPANY)) == ([], 0)
    assert await CallbackRecords(store.database).forget(END) == 1


@both
async def test_acts_are_found_newest_first(store: Store):
    await store.audit.append(event("a.first"))
    second = replace(event("a.second"), subject="credential:1%_", actor="maria", trace_id="t*")
    await store.audit.append(second)

    async def found(**wanted) -> list[str]:
        rows = await find_acts(store.database, AuditSearch(paging=FIRST, **wanted), EVERY_COMPANY)
        return [each.event.action for each in rows.items][:2]

    assert await found() == ["a.second", "a.first"]
    assert await found(actor="maria") == ["a.second"]
    assert await found(subject="credential:1%*") == ["a.second"]
    assert await found(subject="credential:2*") == []
    assert await found(action="a.first", since=NOW, until=END) == ["a.first"]
    assert await found(until=NOW) == []
    assert await found(trace_id="t*") == ["a.second"]
    assert await found(trace_id="trace-1") == ["a.first", "tested"]


@both
async def test_acts_of_a_person_are_found_by_name_and_address(store: Store):
    """A user whose name the reader may not see is found only by the address shown with the act."""
    person = replace(user(), name="José 100%", companies=frozenset({OTHER}))
    await store.identity.users.add(person, event())
    act = replace(event("a.done"), actor=f"user:{person.email}", companies=frozenset({COMPANY}))
    await store.audit.append(act)

    async def found(actor: str, *companies: str) -> int:
        wanted = AuditSearch(paging=FIRST, actor=actor, action="a.done")
        return (await find_acts(store.database, wanted, scope_of(companies))).total

    texts = ("JOSÉ", "100%", "Maria@Example.com", "maria", "user:maria*", "ana", "100_")
    assert [await found(each) for each in texts] == [1, 1, 1, 1, 1, 0, 0]
    assert [await found(each, COMPANY) for each in ("JOSÉ", "MARIA@")] == [0, 1]


OTHER = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a02"
LIMITED = replace(user("u-limited", "limited@example.com"), companies=frozenset({COMPANY}))


@both
async def test_an_act_is_visible_to_the_company_of_its_subject(store: Store):
    """It is looked up in the transaction of the change, so that new records count as well."""
    await store.credentials.add(credential(), replace(event(), subject=f"credential:{CLIENT}"))
    await store.payouts.add(payout(), attempt())
    await store.approvals.add(APPROVAL, replace(event(), subject="approval:a1"))
    await store.identity.users.add(LIMITED, replace(event(), subject=f"user:{LIMITED.id}"))
    await plant(store, sample(scope=StopScope.CREDENTIAL, subject=CLIENT))
    await plant(store, sample(id="bank", scope=StopScope.PROVIDER))
    theirs = (
        *(f"company:{COMPANY}", f"account:{ACCOUNT}", f"payout:{payout().provider_key}"),
        *(f"stop:{STOP.id}", f"credential:{CLIENT}"),
    )
    nobodys = ("stop:bank", "stop:none", "account:none", "provider:sandbox", "signing_key:1", "")
    for subject in (*theirs, *nobodys):
        await store.audit.append(replace(event("told"), subject=subject))

    shown = await shown_to(store, COMPANY)

    assert {each.event.subject for each in shown} == {
        *theirs,
        *("approval:a1", f"user:{LIMITED.id}"),
    }
    assert {each.event.companies for each in shown} == {frozenset({COMPANY})}
    assert await shown_to(store, OTHER) == []


async def shown_to(store: Store, *companies: str) -> list[AuditEntry]:
    """Return what a user limited to companies finds; and exports, in the other order."""
    scope = CompanyScope(frozenset(companies))
    listed = await find_acts(store.database, AuditSearch(paging=Paging(1, 100)), scope)
    found, total = shown(listed)
    exported = await acts_of(store, scope)
    assert (list(reversed(found)), total) == (list(exported), len(exported))
    return list(found)


async def test_an_act_on_a_payout_key_of_two_companies_is_visible_to_neither(store: Store):
    theirs = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c09"
    await add_company(store.database, company(OTHER), event())
    await store.accounts.add(
        replace(account(theirs, company_id=OTHER), provider_account="conta-9"), event()
    )
    await store.payouts.add(payout(), attempt())
    same = replace(payout(account_id=theirs), provider_key=payout().provider_key)
    await store.payouts.add(same, attempt())

    await store.audit.append(replace(event(), subject=f"payout:{payout().provider_key}"))

    assert await shown_to(store, COMPANY) == await shown_to(store, OTHER) == []


async def test_an_act_on_a_user_of_two_companies_is_visible_to_users_of_both(store: Store):
    both = replace(LIMITED, companies=frozenset({COMPANY, OTHER}))
    await store.identity.users.add(both, replace(event(), subject=f"user:{both.id}"))

    assert len(await shown_to(store, COMPANY, OTHER)) == 1
    assert await shown_to(store, COMPANY) == await shown_to(store, OTHER) == []


async def test_an_act_may_name_its_companies_itself(store: Store):
    await store.audit.append(replace(event("a"), companies=frozenset({OTHER})))
    await store.audit.append(
        replace(event("b"), subject=f"account:{ACCOUNT}", companies=frozenset())
    )

    assert [each.event.action for each in await shown_to(store, OTHER)] == ["a"]
    assert await shown_to(store, COMPANY) == []


@both
async def test_callbacks_are_searched_by_company(store: Store):
    await CallbackRecords(store.database).add(CALLBACK)
    search, ours = CallbackSearch(paging=FIRST), CompanyScope(frozenset({COMPANY}))
    before = await CallbackRecords(store.database).search(search, ours)

    await CallbackRecords(store.database).belongs("c1", COMPANY)

    assert shown(before) == ([], 0)
    now = await CallbackRecords(store.database).search(search, ours)
    assert shown(now) == ([replace(CALLBACK, company_id=COMPANY)], 1)


async def test_the_audit_log_is_exported_in_order(store: Store):
    await store.audit.append(event("last"))

    length = await store.audit.verify()
    first, *_, last = await acts_of(store)

    assert (first.number, last.number, last.event.action) == (1, length, "last")
    assert await acts_of(store, after=length) == []


@both
async def test_waiting_callbacks_are_counted_by_bank(store: Store):
    callbacks = CallbackRecords(store.database)
    await callbacks.add(CALLBACK)
    await callbacks.add(replace(CALLBACK, id="o", provider="other"))
    await callbacks.handled("c1", CallbackState.DONE, NOW, None)

    waits = Backlog(provider="other", waiting=1, oldest_at=CALLBACK.received_at)
    assert await callbacks.waiting() == [waits]
