"""Pages of what a person is shown: cut, counted and limited by the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.app.store import Store
from gateway.companies.service import add_company
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope, scope_of
from gateway.core.windows import Paging
from gateway.payouts.model import PayoutState
from gateway.reviews.store import in_review as listed
from gateway.reviews.store import unresolved
from tests.contract.stores.databases import both
from tests.contract.stores.lists import OTHER, OURS, THEIRS
from tests.contract.stores.reviews import MARIA, in_review
from tests.world.stores.people import session, token, user
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    COMPANY,
    NOW,
    attempt,
    change,
    company,
    credential,
    event,
    payout,
)

THIRD = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7afe"
EVERY = Paging(1, 25)


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        ([], ["everywhere", "both", "ours", "other"]),
        ([COMPANY], ["ours"]),
        ([COMPANY, OTHER], ["both", "ours", "other"]),
        ([THIRD], []),
    ],
)
async def test_a_limited_user_sees_only_users_within_their_companies(
    store: Store, limit: Sequence[str], shown: Sequence[str]
) -> None:
    """A user with access to every company is not shown to a limited user."""
    for name in (THIRD, OTHER):
        await add_company(store.database, company(name), event())
    people = {"everywhere": (), "both": (COMPANY, OTHER), "ours": (COMPANY,), "other": (OTHER,)}
    for number, (name, companies) in enumerate(people.items()):
        one = replace(
            user(str(number), f"{number}@example.com"), name=name, companies=frozenset(companies)
        )
        await store.identity.users.add(one, event())

    found = await store.identity.users.page(EVERY, scope_of(frozenset(limit)))

    assert [each.name for each in found.items] == shown
    assert found.total == len(shown)


@both
async def test_reviews_are_visible_by_the_company_of_their_account(store: Store) -> None:
    await in_review(store)

    everybody = await listed(store.database, EVERY_COMPANY, EVERY)
    ours = await listed(store.database, OURS, EVERY)
    theirs = await listed(store.database, THEIRS, EVERY)

    assert ([each.reference for each in everybody.items], everybody.total) == (["order-1"], 1)
    assert ours == everybody
    assert (list(theirs.items), theirs.total) == ([], 0)


@both
async def test_unresolved_payouts_are_listed_with_attempts_and_opinions(store: Store) -> None:
    """One in review, one unknown and one paid; each company sees its own."""
    await in_review(store)
    await store.payouts.add_opinion(MARIA, event())
    for number, end in ((2, PayoutState.UNKNOWN), (3, PayoutState.PAID)):
        reference, sending = f"order-{number}", PayoutState.SENDING
        await store.payouts.add(
            payout(reference, created_at=NOW + timedelta(seconds=number)), attempt()
        )
        await store.payouts.record(change(sending, end, reference=reference))

    found = await unresolved(store.database, EVERY_COMPANY, EVERY)
    everybody, total = found.items, found.total
    ours = (await unresolved(store.database, OURS, EVERY)).items
    others = await unresolved(store.database, THEIRS, EVERY)
    theirs, none = others.items, others.total
    second = (await unresolved(store.database, EVERY_COMPANY, Paging(2, 1))).items

    assert ([each.payout.reference for each in everybody], total) == (["order-1", "order-2"], 2)
    assert [[one.number for one in each.attempts] for each in everybody] == [[1], [1]]
    assert [list(each.opinions) for each in everybody] == [[MARIA], []]
    assert list(ours) == list(everybody)
    assert (list(theirs), none) == ([], 0)
    assert [each.payout.reference for each in second] == ["order-2"]


@both
async def test_the_last_sign_in_of_each_user_is_found(store: Store) -> None:
    """Including ended sessions, as long as they are stored."""
    ids = ("1", "2", "3")
    for each in ids:
        await store.identity.users.add(user(each, f"{each}@example.com"), event())
    later = NOW + timedelta(hours=1)
    for number, (owner, at) in enumerate([("1", NOW), ("1", later), ("2", NOW)]):
        begun = replace(session(f"s{number}", owner), created_at=at)
        await store.identity.sessions.begin(begun, token(1, f"s{number}"), event())

    found = await store.identity.users.last_sign_ins(ids)

    assert found == {"1": later, "2": NOW}
    assert await store.identity.users.last_sign_ins([]) == {}


ELSEWHERE = CompanyScope(frozenset({THIRD}))
NOTHING = CompanyScope(frozenset())


@both
@pytest.mark.parametrize("scope", [EVERY_COMPANY, OURS, ELSEWHERE, NOTHING], ids=str)
async def test_scopes_limit_which_credentials_and_users_are_found(
    store: Store, scope: CompanyScope
) -> None:
    """The scope is part of the statement: rows outside it are not found."""
    await add_company(store.database, company(THIRD), event())
    await store.credentials.add(credential(), event())
    one = replace(user("1", "1@example.com"), companies=frozenset({COMPANY}))
    await store.identity.users.add(one, event())
    users, visible = store.identity.users, scope in {EVERY_COMPANY, OURS}

    found = [
        await store.accounts.visible(ACCOUNT, scope),
        await store.credentials.visible(CLIENT, scope),
        await users.visible("1", scope),
        await users.visible("1@example.com", scope),
    ]
    listed_users = await users.page(EVERY, scope)

    assert [each is not None for each in found] == [visible] * 4
    assert listed_users.total == visible
