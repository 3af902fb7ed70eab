"""Credentials: two live secrets at most, ended once, each change with its event."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from gateway.companies.service import add_company
from gateway.domain.accounts.credentials import Rotation
from gateway.domain.kernel.storage import AlreadyExists
from gateway.store.engine import Store
from tests.contract.stores.databases import both
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    COMPANY,
    NOW,
    company,
    credential,
    event,
    secret,
)

LATER = NOW + timedelta(hours=24)


@pytest.fixture
async def issued(store: Store) -> Store:
    """The store with one credential."""
    await store.credentials.add(credential(), event())
    return store


@both
async def test_a_credential_comes_back_as_it_was(store: Store) -> None:
    scoped = replace(
        credential(permissions="withdraw:manage balance:read pix_key:write"),
        account_id=ACCOUNT,
        expires_at=LATER,
        secrets=(secret(b"n" * 32), replace(secret(b"o" * 32), expires_at=LATER)),
    )
    await store.credentials.add(scoped, event())

    found = await store.credentials.find(CLIENT)

    assert found == scoped


async def test_a_credential_may_hold_no_permission(store: Store) -> None:
    bare = credential(permissions="")
    await store.credentials.add(bare, event())

    found = await store.credentials.find(CLIENT)

    assert found == bare


@both
async def test_a_client_id_is_compared_exactly(issued: Store) -> None:
    found = await issued.credentials.find(CLIENT.upper())

    assert found is None


async def test_a_taken_id_is_refused(issued: Store) -> None:
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
    """At most two are live."""
    await issued.credentials.rotate(CLIENT, Rotation(secret(b"2" * 32), LATER), event())
    await issued.credentials.rotate(CLIENT, Rotation(secret(b"3" * 32), LATER), event())

    found = await issued.credentials.find(CLIENT)

    assert found is not None
    assert [each.digest for each in found.secrets] == [b"3" * 32, b"2" * 32]


@both
async def test_rotations_at_once_leave_two_secrets(issued: Store) -> None:
    turns = [
        issued.credentials.rotate(CLIENT, Rotation(secret(bytes([each]) * 32), LATER), event())
        for each in range(6)
    ]

    done = await asyncio.gather(*turns)

    found = await issued.credentials.find(CLIENT)
    assert all(done)
    assert found is not None
    assert [each.expires_at for each in found.secrets] == [None, LATER]


async def test_nothing_to_rotate_is_told_and_leaves_no_event(store: Store) -> None:
    before = await store.audit.verify()

    done = await store.credentials.rotate("cli_nobody", Rotation(secret(), LATER), event())

    assert not done
    assert await store.audit.verify() == before


async def test_a_revoked_credential_is_not_rotated(issued: Store) -> None:
    """A new secret of it would open nothing."""
    await issued.credentials.revoke(CLIENT, NOW, event())

    done = await issued.credentials.rotate(CLIENT, Rotation(secret(b"n" * 32), LATER), event())

    assert not done


async def test_a_credential_ends_once(issued: Store) -> None:
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
async def test_an_expired_credential_has_ended_already(
    store: Store, expires_at: datetime, ended: bool
) -> None:
    await store.credentials.add(replace(credential(), expires_at=expires_at), event())

    done = await store.credentials.revoke(CLIENT, NOW, event())

    assert done is ended


@both
async def test_credentials_are_listed_whole_or_by_company(issued: Store) -> None:
    await add_company(issued.database, company("other"), event())
    theirs = replace(credential("cli_b"), company_id="other", created_at=LATER, secrets=())
    await issued.credentials.add(theirs, event())
    await issued.credentials.rotate(CLIENT, Rotation(secret(b"n" * 32), LATER), event())

    everyone = await issued.credentials.list()
    ours = await issued.credentials.list(COMPANY)

    assert [(each.client_id, len(each.secrets)) for each in everyone] == [(CLIENT, 2), ("cli_b", 0)]
    assert [each.client_id for each in ours] == [CLIENT]


async def test_a_use_is_remembered_to_the_minute_and_never_set_back(
    issued: Store, second: Store
) -> None:
    digest, later = secret().digest, NOW + timedelta(hours=1)
    await issued.credentials.touch(CLIENT, digest, later)
    await second.credentials.touch(CLIENT, digest, NOW)

    found = await issued.credentials.find(CLIENT)

    assert found is not None
    assert found.secrets[0].last_used_at == later.replace(second=0, microsecond=0)


async def test_a_secret_was_not_used_before_it_was_made(issued: Store) -> None:
    """The minute of its first use may have begun before it was made."""
    made = secret(b"n" * 32)
    within = made.created_at.replace(second=0, microsecond=0) + timedelta(seconds=59)
    await issued.credentials.rotate(CLIENT, Rotation(made, LATER), event())

    await issued.credentials.touch(CLIENT, made.digest, within)

    found = await issued.credentials.find(CLIENT)
    assert found is not None
    assert found.secrets[0].last_used_at == made.created_at


@both
async def test_a_use_touches_its_own_secret_alone(issued: Store) -> None:
    await issued.credentials.rotate(CLIENT, Rotation(secret(b"n" * 32), LATER), event())

    await issued.credentials.touch(CLIENT, secret().digest, NOW)

    found = await issued.credentials.find(CLIENT)
    assert found is not None
    assert [each.last_used_at is None for each in found.secrets] == [True, False]


@both
async def test_several_are_found_at_once(issued: Store) -> None:
    """Those that there are, each with all its secrets, the current one first."""
    both = (secret(b"n" * 32), replace(secret(b"o" * 32), expires_at=LATER))
    other = replace(credential(), client_id="cli_another", secrets=both)
    bare = replace(credential(), client_id="cli_bare", secrets=())
    await issued.credentials.add(other, event())
    await issued.credentials.add(bare, event())
    ids = ["cli_bare", "absent", "cli_another", CLIENT, CLIENT.upper()]

    found = await issued.credentials.find_all(ids)

    assert found == {CLIENT: credential(), "cli_another": other, "cli_bare": bare}
