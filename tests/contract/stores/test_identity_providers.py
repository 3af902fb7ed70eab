"""Identity providers of companies, and whom they name."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from gateway.app.store import Store
from gateway.companies.service import add_company
from gateway.core.rights import Role
from gateway.core.storage import AlreadyExists
from gateway.core.user import User
from gateway.identity.context import LocalSignIn
from gateway.single_sign_on.model import IdentityProvider, RoleValue
from gateway.single_sign_on.store import IdentityProviderRecords
from tests.contract.stores.databases import both
from tests.world.kernel import KEYS
from tests.world.stores import samples
from tests.world.stores.people import MARIA, challenge, session, signed_in, token
from tests.world.stores.samples import COMPANY, NOW

OTHER = "6f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a02"
PROVIDER = IdentityProvider(
    company_id=COMPANY,
    short_name="loja",
    domains=("loja.example.com", "sul.loja.example.com"),
    issuer="https://sso.example.com",
    client_id="pixgate",
    scopes=("groups",),
    claim="groups",
    mapping=(RoleValue("a=b; c", Role.OPERATOR), RoleValue("ção", Role.VIEWER)),
    factor_acr=(),
    factor_amr=("otp", "hwk"),
    break_glass=("9f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a09",),
    changed_at=NOW,
    changed_by="cli:maria",
)


def records_of(store: Store) -> IdentityProviderRecords:
    return IdentityProviderRecords(store.database, KEYS.sealer)


async def put(store: Store, provider: IdentityProvider = PROVIDER) -> None:
    assert await records_of(store).put(provider, "geheim", None, samples.event())


def user(number: int, *companies: str, subject: str | None = None) -> User:
    return User(
        id=f"9f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a{number:02}",
        email=f"{number}@loja.example.com",
        name="Ana",
        roles=frozenset({Role.VIEWER}),
        companies=frozenset(companies),
        issuer=subject and PROVIDER.issuer,
        subject=subject,
        created_at=NOW,
        updated_at=NOW,
    )


@both
async def test_a_provider_is_read_as_it_was_stored_and_its_secret_is_sealed(store: Store):
    await put(store)

    assert await records_of(store).find(COMPANY) == PROVIDER
    assert await records_of(store).secret(COMPANY) == "geheim"
    assert await records_of(store).secret(OTHER) == ""


@both
async def test_a_provider_is_found_by_whole_names_alone(store: Store):
    await put(store)
    records = records_of(store)

    for short_name, domain in (("loja", ""), ("x", "sul.loja.example.com")):
        assert await records.named(short_name, domain) == PROVIDER
    for name in ("loj", "%", "example.com", "sul", "loja.example", "loja_example.com"):
        assert await records.named(name, name) is None
    assert await records.others_named(OTHER, "x", ["loja.example.com"]) == [PROVIDER]
    assert await records.others_named(OTHER, "x", ["example.com"]) == []
    assert await records.others_named(COMPANY, "loja", ["loja.example.com"]) == []


@both
async def test_a_provider_is_replaced_and_removed_as_it_was_seen(store: Store):
    await put(store)
    records = records_of(store)
    later = structs.replace(PROVIDER, changed_at=NOW.replace(year=2027), claim="roles")

    assert not await records.put(later, "geheim", None, samples.event())
    assert await records.put(later, "", NOW, samples.event())
    assert not await records.put(PROVIDER, "", NOW, samples.event())
    assert await records.secret(COMPANY) == "geheim"
    assert not await records.remove(PROVIDER, samples.event())
    assert await records.remove(later, samples.event())
    assert await records.find(COMPANY) is None


@both
@pytest.mark.parametrize(
    "same", [{"domains": ("b.example.com", "loja.example.com")}, {"short_name": "loja"}]
)
async def test_of_two_companies_taking_one_name_at_once_one_succeeds(
    store: Store, same: dict[str, Any]
):
    await add_company(store.database, samples.company(OTHER), samples.event())
    own = {"company_id": OTHER, "short_name": "outra", "domains": ("outra.example.com",), **same}
    both = [PROVIDER, structs.replace(PROVIDER, **own)]
    records = records_of(store)

    for _ in range(5):
        done = await asyncio.gather(
            *(records.put(each, "geheim", None, samples.event()) for each in both),
            return_exceptions=True,
        )
        assert {type(each) for each in done} == {bool, AlreadyExists}
        (stored,) = [each for each in both if await records.find(each.company_id)]
        await records.remove(stored, samples.event())


@both
async def test_a_subject_is_one_user_and_a_user_of_one_company_signs_in_there(store: Store):
    await add_company(store.database, samples.company(OTHER), samples.event())
    await put(store)
    users, records = store.identity.users, records_of(store)
    own, wide = user(1, COMPANY, subject="4711"), user(2, COMPANY, OTHER)
    named = user(9, COMPANY)
    for each in (own, wide, named, user(3)):
        await users.add(each, samples.event())

    assert await records.user_of(PROVIDER.issuer, "4711") == own.id
    assert await records.user_of("https://sso.other.example", "4711") is None
    assert [each.id for each in await records.people_of(COMPANY)] == [own.id, named.id]
    standing = [await records.local_sign_in(each) for each in (own, named, wide, user(3))]
    assert standing == [
        *(LocalSignIn.REFUSED, LocalSignIn.BREAK_GLASS),
        *(LocalSignIn.FREE, LocalSignIn.FREE),
    ]
    with pytest.raises(AlreadyExists):
        await users.add(
            replace(user(4, COMPANY), issuer=own.issuer, subject="4711"), samples.event()
        )


@both
async def test_sessions_and_challenges_of_a_provider_session_are_ended_by_its_id(store: Store):
    await signed_in(store)
    records, challenges = records_of(store), store.identity.challenges
    began = replace(session("s2"), issuer_company=COMPANY, issuer_sid="sid-1")
    await store.identity.sessions.begin(began, token(1, "s2"), samples.event())
    for digest, sid in ((b"a", "sid-1"), (b"b", "sid-2"), (b"c", "")):
        by = COMPANY if sid else ""
        await challenges.add(replace(challenge(digest), issuer_company=by, issuer_sid=sid))

    await records.void_challenges_of(COMPANY, "sid-1", NOW)
    of_session = [await challenges.find(each) for each in (b"a", b"b", b"c")]
    await records.void_challenges(MARIA, NOW)
    of_user = [await challenges.find(each) for each in (b"b", b"c")]

    assert list(await records.sessions_of(COMPANY, "sid-1")) == [("s2", MARIA)]
    assert list(await records.sessions_of(OTHER, "sid-1")) == []
    assert [each is not None and each.used_at for each in of_session] == [NOW, None, None]
    assert [each is not None and each.used_at for each in of_user] == [NOW, None]
