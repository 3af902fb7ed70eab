"""Pages of what a person is shown: cut, counted and limited by the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.companies.service import add_company
from gateway.domain.accounts.credentials import Action, Permission, Resource, Rotation
from gateway.domain.backoffice.lists import (
    EXPIRES_SOON,
    LONG_UNUSED,
    Care,
    CredentialCounts,
    CredentialSearch,
    CredentialState,
    care_of,
)
from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope, scope_of
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.payouts import PayoutState
from gateway.store.engine import Store
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
    secret,
)

THIRD = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7afe"
EVERY = Paging(1, 25)


@both
async def test_a_credential_of_two_secrets_is_one(store: Store) -> None:
    await add_company(store.database, company(OTHER), event())
    later = NOW + timedelta(hours=1)
    await store.credentials.add(credential(), event())
    await store.credentials.rotate(CLIENT, Rotation(secret(b"n" * 32), later), event())
    second = replace(credential("cli_b"), secrets=(secret(b"o" * 32),), created_at=later)
    foreign = replace(
        credential("cli_c"), secrets=(secret(b"p" * 32),), company_id=OTHER, created_at=later
    )
    for each in (second, foreign):
        await store.credentials.add(each, event())
    lists = store.office.scoped

    first, total = await lists.credentials(wanted(paging=Paging(1, 2)), EVERY_COMPANY)
    ours, of_ours = await lists.credentials(wanted(), OURS)
    named, of_named = await lists.credentials(wanted(company_id=OTHER), EVERY_COMPANY)
    neither, none = await lists.credentials(wanted(company_id=OTHER), OURS)

    assert [(each.client_id, len(each.secrets)) for each in first] == [(CLIENT, 2), ("cli_b", 1)]
    assert (total, of_ours, of_named, none) == (3, 2, 1, 0)
    assert [each.client_id for each in ours] == [CLIENT, "cli_b"]
    assert ([each.client_id for each in named], list(neither)) == (["cli_c"], [])


DAY = timedelta(days=1)
PAYS = frozenset({Permission(Resource.WITHDRAW, Action.MANAGE)})
SHOWN = [
    # name, what is different of it, its state at NOW, why it asks for a look
    ("plain", {}, CredentialState.LIVE, None),
    ("revoked", {"revoked_at": NOW}, CredentialState.ENDED, None),
    ("expired", {"expires_at": NOW}, CredentialState.ENDED, None),
    ("soon", {"expires_at": NOW + EXPIRES_SOON}, CredentialState.LIVE, Care.EXPIRES_SOON),
    ("later", {"expires_at": NOW + EXPIRES_SOON + DAY}, CredentialState.LIVE, None),
    ("wide", {"account_id": None}, CredentialState.LIVE, Care.WIDE_FOR_EVER),
    (
        "old",
        {"created_at": NOW - LONG_UNUSED, "permissions": PAYS},
        CredentialState.LIVE,
        Care.PAYS_UNUSED,
    ),
    ("old reader", {"created_at": NOW - LONG_UNUSED}, CredentialState.LIVE, None),
    ("young", {"created_at": NOW - DAY, "permissions": PAYS}, CredentialState.LIVE, None),
]


@both
async def test_credentials_are_found_by_state_and_by_what_asks_for_a_look(store: Store) -> None:
    """The store's condition and the domain's reason are the same rule, said twice."""
    for number, (name, more, _, _) in enumerate(SHOWN):
        one = replace(
            credential(f"cli_{number}"),
            name=name,
            secrets=(secret(bytes([number]) * 32),),
            **{"account_id": ACCOUNT, **more},
        )
        await store.credentials.add(one, event())
    lists = store.office.scoped

    for state in CredentialState:
        found, total = await lists.credentials(wanted(state=state), EVERY_COMPANY)
        expected = {
            name for name, _, its, care in SHOWN if state in {its, care and CredentialState.CARE}
        }
        assert {each.name for each in found} == expected
        assert total == len(expected)
    every, _ = await lists.credentials(wanted(), EVERY_COMPANY)
    assert {each.name: care_of(each, NOW) for each in every} == {
        name: care for name, _, _, care in SHOWN
    }
    assert await lists.count_credentials(wanted(), EVERY_COMPANY) == CredentialCounts(
        live=7, care=3, ended=2
    )
    assert await lists.count_credentials(wanted(), NOTHING) == CredentialCounts(
        live=0, care=0, ended=0
    )


@both
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ERP", ["cli_a1"]),
        ("erp", ["cli_a1"]),
        ("cli_a", ["cli_a1"]),
        ("li_a", []),
        ("100%", ["cli_b2"]),
        ("%", ["cli_b2"]),
        ("_", ["cli_b2"]),
    ],
)
async def test_credentials_are_found_by_a_part_of_the_name_or_the_start_of_the_id(
    store: Store, text: str, shown: Sequence[str]
) -> None:
    """A text is text: no sign of it is a pattern."""
    for client_id, name in (("cli_a1", "ERP Recife"), ("cli_b2", "100% _teste")):
        digest = secret(client_id.encode().ljust(32))
        await store.credentials.add(
            replace(credential(client_id), name=name, secrets=(digest,)), event()
        )

    found, _ = await store.office.scoped.credentials(wanted(text=text), EVERY_COMPANY)

    assert [each.client_id for each in found] == shown


def wanted(**more: object) -> CredentialSearch:
    """Search for credentials at noon."""
    return CredentialSearch(**{"paging": EVERY, "now": NOW, **more})


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        ([], ["everywhere", "both", "ours", "other"]),
        ([COMPANY], ["ours"]),
        ([COMPANY, OTHER], ["both", "ours", "other"]),
        ([THIRD], []),
    ],
)
async def test_people_who_see_nothing_beyond_are_shown(
    store: Store, limit: Sequence[str], shown: Sequence[str]
) -> None:
    """Who sees every company is shown to nobody who is limited."""
    for name in (THIRD, OTHER):
        await add_company(store.database, company(name), event())
    people = {"everywhere": (), "both": (COMPANY, OTHER), "ours": (COMPANY,), "other": (OTHER,)}
    for number, (name, companies) in enumerate(people.items()):
        one = replace(
            user(str(number), f"{number}@example.com"), name=name, companies=frozenset(companies)
        )
        await store.identity.users.add(one, event())

    found, total = await store.office.scoped.users(EVERY, scope_of(frozenset(limit)))

    assert [each.name for each in found] == shown
    assert total == len(shown)


@both
async def test_reviews_are_shown_by_the_company_of_their_account(store: Store) -> None:
    await in_review(store)

    everybody, total = await store.office.scoped.reviews(EVERY, EVERY_COMPANY)
    ours, _ = await store.office.scoped.reviews(EVERY, OURS)
    theirs, none = await store.office.scoped.reviews(EVERY, THEIRS)

    assert ([each.reference for each in everybody], total) == (["order-1"], 1)
    assert list(ours) == list(everybody)
    assert (list(theirs), none) == ([], 0)


@both
async def test_unresolved_payouts_come_with_their_tries_and_opinions(store: Store) -> None:
    """One in review, one that is unknown, one that is paid; each company sees its own."""
    await in_review(store)
    await store.reviews.add(MARIA, event())
    for number, end in ((2, PayoutState.UNKNOWN), (3, PayoutState.PAID)):
        reference, sending = f"order-{number}", PayoutState.SENDING
        await store.payouts.add(
            payout(reference, created_at=NOW + timedelta(seconds=number)), attempt()
        )
        await store.payouts.record(change(sending, end, reference=reference))
    lists = store.office.scoped

    everybody, total = await lists.unresolved(EVERY, EVERY_COMPANY)
    ours, _ = await lists.unresolved(EVERY, OURS)
    theirs, none = await lists.unresolved(EVERY, THEIRS)
    second, _ = await lists.unresolved(Paging(2, 1), EVERY_COMPANY)

    assert ([each.payout.reference for each in everybody], total) == (["order-1", "order-2"], 2)
    assert [[one.number for one in each.attempts] for each in everybody] == [[1], [1]]
    assert [list(each.opinions) for each in everybody] == [[MARIA], []]
    assert list(ours) == list(everybody)
    assert (list(theirs), none) == ([], 0)
    assert [each.payout.reference for each in second] == ["order-2"]


@both
async def test_the_last_sign_in_of_each_is_found(store: Store) -> None:
    """Ended ones too, as long as they are on record."""
    ids = ("1", "2", "3")
    for each in ids:
        await store.identity.users.add(user(each, f"{each}@example.com"), event())
    later = NOW + timedelta(hours=1)
    for number, (owner, at) in enumerate([("1", NOW), ("1", later), ("2", NOW)]):
        begun = replace(session(f"s{number}", owner), created_at=at)
        await store.identity.sessions.begin(begun, token(1, f"s{number}"), event())

    found = await store.office.scoped.last_sign_ins(ids)

    assert found == {"1": later, "2": NOW}
    assert await store.office.scoped.last_sign_ins([]) == {}


ELSEWHERE = CompanyScope(frozenset({THIRD}))
NOTHING = CompanyScope(frozenset())


@both
@pytest.mark.parametrize("scope", [EVERY_COMPANY, OURS, ELSEWHERE, NOTHING], ids=str)
async def test_a_record_is_found_within_its_scope_alone(store: Store, scope: CompanyScope) -> None:
    """The scope stands in the statement: what is outside of it is not there."""
    await add_company(store.database, company(THIRD), event())
    await store.credentials.add(credential(), event())
    one = replace(user("1", "1@example.com"), companies=frozenset({COMPANY}))
    await store.identity.users.add(one, event())
    scoped, visible = store.office.scoped, scope in {EVERY_COMPANY, OURS}

    found = [
        await scoped.account(ACCOUNT, scope),
        await scoped.credential(CLIENT, scope),
        await scoped.user("1", scope),
        await scoped.user("1@example.com", scope),
    ]
    totals = [
        (await scoped.credentials(wanted(), scope))[1],
        (await scoped.users(EVERY, scope))[1],
    ]

    assert [each is not None for each in found] == [visible] * 4
    assert totals == [visible, visible]
