"""Passkeys in the store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.app.store import Store
from gateway.core.storage import AlreadyExists
from gateway.core.user import RecoveryCode
from gateway.identity.model import Challenge, Passkey
from gateway.identity.store import EVERY
from tests.contract.stores.databases import both
from tests.world.stores.people import MARIA, user
from tests.world.stores.samples import NOW, event

LARGEST = 2**32 - 1
"""Of an authenticator's counter."""
ONE = Passkey(
    id="one",
    user_id=MARIA,
    name="Telefone",
    credential_id="AAAA",
    credential=b"\x00\xff",
    sign_count=LARGEST - 2,
    created_at=NOW,
)
TWO = replace(
    ONE, id="two", credential_id="BBBB", sign_count=0, created_at=NOW + timedelta(seconds=1)
)


async def registered(store: Store) -> None:
    await store.identity.users.add(user(), event())
    for each in (ONE, TWO):
        assert await store.identity.passkeys.add(each, user().updated_at, event())


@both
async def test_passkeys_are_read_back_unchanged(store: Store):
    await registered(store)

    assert await store.identity.passkeys.of(MARIA) == [ONE, TWO]
    assert await store.identity.passkeys.find("BBBB") == TWO
    assert await store.identity.passkeys.find("CCCC") is None
    assert await store.identity.passkeys.of("other") == []


@both
async def test_a_user_is_read_with_the_time_of_the_newest_passkey(store: Store):
    await registered(store)
    maria = replace(user(), passkey_at=TWO.created_at)

    assert await store.identity.users.find(MARIA) == maria
    assert await store.identity.users.find_by_email(maria.email) == maria
    assert await store.identity.users.list() == [maria]


@both
async def test_a_credential_is_registered_once(store: Store):
    await registered(store)

    with pytest.raises(AlreadyExists):
        await store.identity.passkeys.add(replace(ONE, id="new"), user().updated_at, event())

    assert len(await store.identity.passkeys.of(MARIA)) == 2


@both
async def test_of_two_first_passkeys_at_once_one_is_stored_with_its_codes(
    store: Store, second: Store
):
    """The other one's codes would void those that were shown."""
    await store.identity.users.add(user(), event())
    codes = [
        [RecoveryCode(user_id=MARIA, index=index, digest=f"{name}{index}") for index in range(10)]
        for name in ("one", "two")
    ]

    stored = await asyncio.gather(
        store.identity.passkeys.add(ONE, user().updated_at, event(), codes[0]),
        second.identity.passkeys.add(TWO, user().updated_at, event(), codes[1]),
    )

    [first] = await store.identity.passkeys.of(MARIA)
    assert sorted(stored) == [False, True]
    assert await store.identity.users.codes(MARIA) == codes[stored.index(True)]
    assert first == (ONE, TWO)[stored.index(True)]


@both
async def test_of_two_registrations_of_one_passkey_at_once_one_is_refused(
    store: Store, second: Store
):
    await store.identity.users.add(user(), event())
    codes = [RecoveryCode(user_id=MARIA, index=0, digest="one")]

    stored = await asyncio.gather(
        store.identity.passkeys.add(ONE, user().updated_at, event(), codes),
        second.identity.passkeys.add(replace(ONE, id="two"), user().updated_at, event(), codes),
        return_exceptions=True,
    )

    assert {type(each) for each in stored} == {AlreadyExists, bool}
    assert len(await store.identity.passkeys.of(MARIA)) == 1


@both
async def test_recovery_codes_are_replaced_twice_at_once(store: Store, second: Store):
    await store.identity.users.add(user(), event())
    sets = [
        [RecoveryCode(user_id=MARIA, index=index, digest=f"{name}{index}") for index in range(10)]
        for name in range(6)
    ]

    await asyncio.gather(
        *(
            each.identity.users.replace_codes(MARIA, codes)
            for each, codes in zip([store, second] * 3, sets, strict=True)
        )
    )

    assert await store.identity.users.codes(MARIA) in sets


@both
async def test_no_passkey_is_added_to_a_user_who_was_changed(store: Store):
    """A reset by an administrator, or the end of the account, came between."""
    await store.identity.users.add(user(), event())

    assert not await store.identity.passkeys.add(ONE, NOW - timedelta(hours=1), event())

    assert await store.identity.passkeys.of(MARIA) == []


@both
@pytest.mark.parametrize(
    ("passkey", "count", "counts"),
    [
        (ONE, LARGEST - 3, False),
        (ONE, LARGEST - 2, False),
        (ONE, LARGEST, True),
        (ONE, 0, False),
        (TWO, 0, True),
        (TWO, 1, True),
    ],
)
async def test_a_counter_only_rises_or_stays_zero(
    store: Store, passkey: Passkey, count: int, counts: bool
):
    await registered(store)
    later = NOW + timedelta(hours=1)

    assert await store.identity.passkeys.count_use(passkey.id, count, later) is counts

    found = await store.identity.passkeys.find(passkey.credential_id)
    assert found == (replace(passkey, sign_count=count, used_at=later) if counts else passkey)


@both
async def test_a_challenge_is_stored_as_used_once(store: Store, second: Store):
    await store.identity.users.add(user(), event())
    used = Challenge(
        digest=b"d" * 32, user_id=MARIA, created_at=NOW, ends_at=NOW, tries=1, used_at=NOW
    )

    ended = await asyncio.gather(
        *(each.identity.challenges.add_used(used) for each in (store, second) for _ in range(3))
    )

    assert sorted(ended) == [False] * 5 + [True]


@both
@pytest.mark.parametrize(("removes", "left"), [("one", [TWO]), (EVERY, []), ("", [ONE, TWO])])
async def test_passkeys_end_with_a_change_of_their_user(
    store: Store, removes: str, left: list[Passkey]
):
    await registered(store)
    changed = replace(user(), updated_at=NOW + timedelta(hours=1))

    assert not await store.identity.users.replace(changed, event(), NOW - timedelta(1), removes)
    assert len(await store.identity.passkeys.of(MARIA)) == 2
    assert await store.identity.users.replace(changed, event(), user().updated_at, removes)

    assert await store.identity.passkeys.of(MARIA) == left
