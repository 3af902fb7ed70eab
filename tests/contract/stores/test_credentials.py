"""Credentials: two live secrets at most, ended once, each change with its event."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from gateway.app.store import Store
from gateway.companies.service import add_company
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.caller_rules import ANYWHERE, UNDECIDED, CallerRule
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.money import Money
from gateway.core.permissions import Action, CredentialLimits, Permission, Resource
from gateway.core.storage import AlreadyExists
from gateway.core.windows import Paging
from gateway.credentials.model import (
    EXPIRES_SOON,
    LONG_UNUSED,
    CredentialSearch,
    CredentialState,
    SeenAddress,
)
from gateway.credentials.service import CredentialPage, Credentials
from gateway.credentials.store import MadeFor, Rotation
from tests.contract.stores.databases import both
from tests.contract.stores.lists import OTHER, OURS
from tests.world.signing import Signer
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    NOW,
    company,
    credential,
    event,
    secret,
)

LATER = NOW + timedelta(hours=24)


@pytest.fixture
async def issued(store: Store) -> Store:
    await store.credentials.add(credential(), event())
    return store


@both
async def test_a_stored_credential_is_read_back_unchanged(store: Store) -> None:
    scoped = replace(
        credential(permissions="withdraw:manage balance:read pix_key:write"),
        account_id=ACCOUNT,
        expires_at=LATER,
        secrets=(secret(b"n" * 32), replace(secret(b"o" * 32), expires_at=LATER)),
    )
    await store.credentials.add(scoped, event())

    found = await store.credentials.find(CLIENT)

    assert found == scoped


async def test_a_credential_may_have_no_permission(store: Store) -> None:
    bare = credential(permissions="")
    await store.credentials.add(bare, event())

    found = await store.credentials.find(CLIENT)

    assert found == bare


@both
async def test_a_client_id_is_compared_exactly(issued: Store) -> None:
    found = await issued.credentials.find(CLIENT.upper())

    assert found is None


async def test_an_existing_client_id_is_refused(issued: Store) -> None:
    with pytest.raises(AlreadyExists):
        await issued.credentials.add(replace(credential(), name="other"), event())

    assert await issued.credentials.find(CLIENT) == credential()


async def test_a_rotation_leaves_the_old_secret_until_its_end(issued: Store) -> None:
    done = await issued.credentials.rotate(CLIENT, Rotation(secret(b"n" * 32), LATER), event())

    assert done
    found = await issued.credentials.find(CLIENT)
    assert found is not None
    assert found.secrets == (secret(b"n" * 32), replace(secret(), expires_at=LATER))


async def test_a_second_rotation_drops_the_oldest_secret(issued: Store) -> None:
    """At most two are valid."""
    await issued.credentials.rotate(CLIENT, Rotation(secret(b"2" * 32), LATER), event())
    await issued.credentials.rotate(CLIENT, Rotation(secret(b"3" * 32), LATER), event())

    found = await issued.credentials.find(CLIENT)

    assert found is not None
    assert [each.digest for each in found.secrets] == [b"3" * 32, b"2" * 32]


@both
async def test_a_rotation_of_another_secret_than_the_current_one_is_refused(issued: Store) -> None:
    """It was ordered for the secret of that time; the newer one is kept."""
    newer = secret(b"n" * 32, created_at=LATER)
    before = Rotation(newer, LATER, old_made_at=NOW)
    assert await issued.credentials.rotate(CLIENT, before, event())
    stale = replace(before, new=secret(b"s" * 32))

    assert not await issued.credentials.rotate(CLIENT, stale, event())

    found = await issued.credentials.find(CLIENT)
    assert found is not None
    assert [each.digest for each in found.secrets] == [newer.digest, b"d" * 32]


@both
async def test_concurrent_rotations_leave_two_secrets(issued: Store) -> None:
    turns = [
        issued.credentials.rotate(CLIENT, Rotation(secret(bytes([each]) * 32), LATER), event())
        for each in range(6)
    ]

    done = await asyncio.gather(*turns)

    found = await issued.credentials.find(CLIENT)
    assert all(done)
    assert found is not None
    assert [each.expires_at for each in found.secrets] == [None, LATER]


@both
async def test_a_secret_was_shown_to_its_orderer_until_it_ended(store: Store) -> None:
    """Neither to who approved it, nor of another credential, nor once it had ended."""
    await store.credentials.add(credential(), event(), made_for=MadeFor("ana", "bruno"))
    await store.credentials.add(credential("cli_other"), event(), made_for=MadeFor("carla"))
    new = Rotation(secret(b"n" * 32), LATER, made_for=MadeFor("dora"))
    await store.credentials.rotate(CLIENT, new, event())

    async def shown(since: datetime) -> list[str]:
        people = ("", "ana", "bruno", "carla", "dora")
        return [each for each in people if await store.credentials.was_shown(each, CLIENT, since)]

    assert await shown(NOW) == ["ana", "dora"]
    assert await shown(LATER) == ["dora"]


async def test_rotating_a_missing_credential_is_reported_without_an_event(store: Store) -> None:
    before = await store.audit.verify()

    done = await store.credentials.rotate("cli_nobody", Rotation(secret(), LATER), event())

    assert not done
    assert await store.audit.verify() == before


async def test_a_revoked_credential_is_not_rotated(issued: Store) -> None:
    """Its new secret would be of no use."""
    await issued.credentials.revoke(CLIENT, NOW, event())

    done = await issued.credentials.rotate(CLIENT, Rotation(secret(b"n" * 32), LATER), event())

    assert not done


async def test_a_second_revocation_is_refused(issued: Store) -> None:
    first = await issued.credentials.revoke(CLIENT, NOW, event())
    second = await issued.credentials.revoke(CLIENT, LATER, event())

    found = await issued.credentials.find(CLIENT)
    assert (first, second) == (True, False)
    assert found is not None
    assert found.revoked_at == NOW


@pytest.mark.parametrize(
    ("expires_at", "ended"),
    [(NOW - timedelta(microseconds=1), False), (NOW, False), (LATER, True)],
    ids=["before", "now", "later"],
)
async def test_an_expired_credential_is_not_revoked(
    store: Store, expires_at: datetime, ended: bool
) -> None:
    await store.credentials.add(replace(credential(), expires_at=expires_at), event())

    done = await store.credentials.revoke(CLIENT, NOW, event())

    assert done is ended


async def test_the_last_use_is_stored_by_the_minute_and_never_moves_back(
    issued: Store, second: Store
) -> None:
    digest, later = secret().digest, NOW + timedelta(hours=1)
    await issued.credentials.touch(CLIENT, digest, later)
    await second.credentials.touch(CLIENT, digest, NOW)

    found = await issued.credentials.find(CLIENT)

    assert found is not None
    assert found.secrets[0].last_used_at == later.replace(second=0, microsecond=0)


async def test_the_last_use_is_never_before_the_secret_was_made(issued: Store) -> None:
    """The minute of its first use may have begun before its creation."""
    made = secret(b"n" * 32)
    within = made.created_at.replace(second=0, microsecond=0) + timedelta(seconds=59)
    await issued.credentials.rotate(CLIENT, Rotation(made, LATER), event())

    await issued.credentials.touch(CLIENT, made.digest, within)

    found = await issued.credentials.find(CLIENT)
    assert found is not None
    assert found.secrets[0].last_used_at == made.created_at


@both
async def test_a_use_is_recorded_for_its_own_secret_alone(issued: Store) -> None:
    await issued.credentials.rotate(CLIENT, Rotation(secret(b"n" * 32), LATER), event())

    await issued.credentials.touch(CLIENT, secret().digest, NOW)

    found = await issued.credentials.find(CLIENT)
    assert found is not None
    assert [each.last_used_at is None for each in found.secrets] == [True, False]


@both
async def test_several_credentials_are_found_by_id_in_one_read(issued: Store) -> None:
    """Existing ones, each with all its secrets, the current one first."""
    both = (secret(b"n" * 32), replace(secret(b"o" * 32), expires_at=LATER))
    other = replace(credential(), client_id="cli_another", secrets=both)
    bare = replace(credential(), client_id="cli_bare", secrets=())
    await issued.credentials.add(other, event())
    await issued.credentials.add(bare, event())
    ids = ["cli_bare", "absent", "cli_another", CLIENT, CLIENT.upper()]

    found = await issued.credentials.find_all(ids)

    assert found == {CLIENT: credential(), "cli_another": other, "cli_bare": bare}


@both
async def test_caller_rules_are_stored_and_compared_on_change(store: Store) -> None:
    rule = CallerRule(networks=("192.0.2.0/24", "2001:db8::/32"), certificates=("ab" * 32,))
    await store.credentials.add(replace(credential(), callers=UNDECIDED), event())

    before = await store.credentials.find(CLIENT)
    assert await store.credentials.set_callers(CLIENT, UNDECIDED, rule, event(), LATER)
    after = await store.credentials.find(CLIENT)

    assert before is not None
    assert before.callers == UNDECIDED
    assert after == replace(credential(), callers=rule, rules_changed_at=LATER)
    assert not await store.credentials.set_callers("absent", rule, rule, event(), LATER)
    assert not await store.credentials.set_callers(CLIENT, UNDECIDED, ANYWHERE, event(), LATER)


@both
async def test_public_keys_are_stored_and_changed_only_if_unchanged(store: Store) -> None:
    first, second = Signer(1).public, Signer(2).public
    client_id = "cli_signs"
    signs = replace(credential(client_id), public_keys=(first,))
    await store.credentials.add(credential(), event())
    await store.credentials.add(signs, event())
    change = store.credentials.set_public_keys

    assert await store.credentials.find(client_id) == signs
    assert await change(CLIENT, (), (first, second), event(), LATER)
    assert not await change(CLIENT, (), (), event(), LATER)
    assert await change(client_id, (first,), (), event(), LATER)
    assert not await change(client_id, (first,), (second,), event(), LATER)
    assert not await change("absent", (), (first,), event(), LATER)

    both_keys, none = [await store.credentials.find(each) for each in (CLIENT, client_id)]
    assert both_keys == replace(credential(), public_keys=(first, second), rules_changed_at=LATER)
    assert none == replace(credential(client_id), rules_changed_at=LATER)


@both
async def test_addresses_of_a_credential_are_stored_by_the_minute(store: Store) -> None:
    await store.credentials.add(credential(), event())
    later = NOW + timedelta(minutes=5, seconds=7)

    for address, at, is_refused in (
        ("192.0.2.1", NOW, False),
        ("198.51.100.1", NOW, True),
        ("192.0.2.1", later, False),
    ):
        await store.credentials.touch_address(CLIENT, address, at, is_refused=is_refused)

    minute = NOW.replace(second=0, microsecond=0)
    assert await store.credentials.addresses(CLIENT) == [
        SeenAddress(
            address="192.0.2.1",
            first_used_at=minute,
            last_used_at=later.replace(second=0, microsecond=0),
            refused_at=None,
        ),
        SeenAddress(
            address="198.51.100.1", first_used_at=minute, last_used_at=minute, refused_at=minute
        ),
    ]
    assert await store.credentials.addresses("absent") == []


@both
async def test_the_last_fifty_addresses_of_a_credential_are_kept(
    store: Store,
) -> None:
    await store.credentials.add(credential(), event())

    for number in range(53):
        at = NOW + timedelta(minutes=number)
        await store.credentials.touch_address(CLIENT, f"10.0.0.{number}", at, is_refused=False)

    kept = [each.address for each in await store.credentials.addresses(CLIENT)]
    assert kept == [f"10.0.0.{number}" for number in range(52, 2, -1)]


async def page(store: Store, scope: CompanyScope, **wanted: Any) -> CredentialPage:
    nothing: Any = None
    service = Credentials(
        database=store.database,
        stored=store.credentials,
        accounts=nothing,
        source=nothing,
        now=lambda: NOW,
    )
    search = CredentialSearch(**{"paging": Paging(1, 25), **wanted})
    return await service.page(Staff(AuditContext("cli", lambda: NOW), scope), search)


@both
async def test_a_credential_with_two_secrets_is_listed_once(store: Store) -> None:
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

    first = await page(store, EVERY_COMPANY, paging=Paging(1, 2))
    ours = await page(store, OURS)
    named = await page(store, EVERY_COMPANY, company_id=OTHER)
    neither = await page(store, OURS, company_id=OTHER)

    shown = [(each.client_id, len(each.secrets)) for each in first.items]
    assert shown == [("cli_b", 1), ("cli_c", 1)]
    assert [each.total for each in (first, ours, named, neither)] == [3, 2, 1, 0]
    assert [(each.client_id, len(each.secrets)) for each in ours.items] == [
        ("cli_b", 1),
        (CLIENT, 2),
    ]
    assert ([each.client_id for each in named.items], list(neither.items)) == (["cli_c"], [])


DAY = timedelta(days=1)
PAYS = frozenset({Permission(Resource.WITHDRAW, Action.MANAGE)})
LIMITS = CredentialLimits(per_payout=Money(1000), per_day=Money(5000))
HALF = CredentialLimits(per_payout=Money(1000), per_night=Money(5000))
SHOWN = [
    # name, what is different of it, its state at NOW, why it asks for a look
    ("plain", {}, CredentialState.LIVE, ""),
    ("revoked", {"revoked_at": NOW}, CredentialState.ENDED, ""),
    ("expired", {"expires_at": NOW}, CredentialState.ENDED, ""),
    ("soon", {"expires_at": NOW + EXPIRES_SOON}, CredentialState.LIVE, "expires_soon"),
    ("later", {"expires_at": NOW + EXPIRES_SOON + DAY}, CredentialState.LIVE, ""),
    ("wide", {"account_id": None}, CredentialState.LIVE, "wide_for_ever"),
    (
        "old",
        {"created_at": NOW - LONG_UNUSED, "permissions": PAYS, "limits": LIMITS},
        CredentialState.LIVE,
        "pays_unused",
    ),
    ("old reader", {"created_at": NOW - LONG_UNUSED}, CredentialState.LIVE, ""),
    (
        "young",
        {"created_at": NOW - DAY, "permissions": PAYS, "limits": LIMITS},
        CredentialState.LIVE,
        "",
    ),
    (
        "without a limit of a day",
        {"created_at": NOW - DAY, "permissions": PAYS, "limits": HALF},
        CredentialState.LIVE,
        "no_limits",
    ),
    ("reader without limits", {"created_at": NOW - DAY}, CredentialState.LIVE, ""),
    (
        "undecided",
        {"created_at": NOW - DAY, "permissions": PAYS, "callers": UNDECIDED},
        CredentialState.LIVE,
        "no_caller_rule",
    ),
    ("undecided reader", {"callers": UNDECIDED}, CredentialState.LIVE, ""),
]


@both
async def test_credentials_are_found_by_state_and_by_warning(store: Store) -> None:
    """The SQL condition and the credential's own rule agree."""
    for number, (name, more, _, _) in enumerate(SHOWN):
        one = replace(
            credential(f"cli_{number}"),
            name=name,
            secrets=(secret(bytes([number]) * 32),),
            **{"account_id": ACCOUNT, **more},
        )
        await store.credentials.add(one, event())

    for state in CredentialState:
        found = await page(store, EVERY_COMPANY, state=state)
        expected = {
            name for name, _, its, care in SHOWN if state in {its, care and CredentialState.CARE}
        }
        assert {each.name for each in found.items} == expected
        assert found.total == len(expected)
    every, none = [await page(store, scope) for scope in (EVERY_COMPANY, CompanyScope(frozenset()))]
    assert {each.name: each.care(NOW) for each in every.items} == {
        name: care for name, _, _, care in SHOWN
    }
    assert every.counts == {"live": 11, "care": 5, "ended": 2}
    assert none.counts == {"live": 0, "care": 0, "ended": 0}


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
async def test_credentials_are_found_by_part_of_the_name_or_start_of_the_id(
    store: Store, text: str, shown: Sequence[str]
) -> None:
    """Characters of a pattern have no special meaning."""
    for client_id, name in (("cli_a1", "ERP Recife"), ("cli_b2", "100% _teste")):
        digest = secret(client_id.encode().ljust(32))
        await store.credentials.add(
            replace(credential(client_id), name=name, secrets=(digest,)), event()
        )

    found = await page(store, EVERY_COMPANY, text=text)

    assert [each.client_id for each in found.items] == shown
