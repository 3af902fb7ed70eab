"""People in the store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.app.store import Store
from gateway.core.storage import AlreadyExists
from gateway.core.user import NOTHING_CHOSEN, Preferences, RecoveryCode, Totp
from tests.contract.stores.databases import both
from tests.world.stores.people import MARIA, user
from tests.world.stores.samples import NOW, event

TOTP = Totp(sealed_secret=b"\x00\xff", confirmed_at=NOW, last_step=7)


@both
@pytest.mark.parametrize("totp", [None, TOTP, Totp(sealed_secret=b"x")])
async def test_a_person_is_read_back_unchanged(store: Store, totp: Totp | None):
    maria = replace(user(), totp=totp)

    await store.identity.users.add(maria, event())

    assert await store.identity.users.find(MARIA) == maria
    assert await store.identity.users.find_by_email("maria@example.com") == maria
    assert await store.identity.users.list() == [maria]


@both
@pytest.mark.parametrize("other", [user(email="other@example.com"), user(user_id="other")])
async def test_an_id_or_address_already_in_use_is_refused(store: Store, other):
    await store.identity.users.add(user(), event())

    with pytest.raises(AlreadyExists):
        await store.identity.users.add(other, event())

    assert len(await store.identity.users.list()) == 1


async def test_an_absent_user_is_not_found(store: Store):
    assert await store.identity.users.find(MARIA) is None
    assert await store.identity.users.find_by_email("maria@example.com") is None
    assert not await store.identity.users.replace(user(), event())


@both
async def test_replacing_a_user_keeps_the_last_totp_step(store: Store):
    """Otherwise a code accepted meanwhile would be accepted once more."""
    await store.identity.users.add(replace(user(), totp=TOTP), event())
    await store.identity.users.accept_step(MARIA, 9)

    changed = replace(user(), name="Maria", totp=TOTP, updated_at=NOW + timedelta(hours=1))
    await store.identity.users.replace(changed, event())

    found = await store.identity.users.find(MARIA)
    assert found == replace(changed, totp=replace(TOTP, last_step=9))


@both
@pytest.mark.parametrize(("step", "accepted"), [(6, False), (7, False), (8, True)])
async def test_a_totp_step_is_accepted_once_and_no_earlier_step(
    store: Store, step: int, accepted: bool
):
    await store.identity.users.add(replace(user(), totp=TOTP), event())

    assert await store.identity.users.accept_step(MARIA, step) is accepted


@both
async def test_of_ten_concurrent_uses_of_a_totp_step_or_code_one_succeeds(
    store: Store, second: Store
):
    await store.identity.users.add(replace(user(), totp=TOTP), event())
    await store.identity.users.replace_codes(
        MARIA, [RecoveryCode(user_id=MARIA, index=0, digest="phc")]
    )
    both = [store.identity.users, second.identity.users] * 5

    steps = await asyncio.gather(*(each.accept_step(MARIA, 9) for each in both))
    codes = await asyncio.gather(*(each.use_code(MARIA, 0, NOW) for each in both))

    assert (sum(steps), sum(codes)) == (1, 1)


@both
async def test_new_codes_void_the_old_ones(store: Store):
    await store.identity.users.add(user(), event())
    old = [RecoveryCode(user_id=MARIA, index=each, digest="old") for each in range(10)]
    new = [RecoveryCode(user_id=MARIA, index=each, digest="new") for each in range(10)]
    await store.identity.users.replace_codes(MARIA, old)
    await store.identity.users.use_code(MARIA, 3, NOW)

    await store.identity.users.replace_codes(MARIA, new)

    assert await store.identity.users.codes(MARIA) == new


async def test_a_person_without_codes_has_none(store: Store):
    await store.identity.users.add(user(), event())

    await store.identity.users.replace_codes(MARIA, [])

    assert await store.identity.users.codes(MARIA) == []


@both
async def test_a_stale_replacement_undoes_no_other_change(store: Store):
    await store.identity.users.add(user(), event())
    later = NOW + timedelta(minutes=1)
    disabled = replace(user(), active=False, updated_at=later)

    first = await store.identity.users.replace(disabled, event(), NOW)
    second = await store.identity.users.replace(replace(user(), name="M"), event(), NOW)

    assert (first, second) == (True, False)
    assert await store.identity.users.find(MARIA) == disabled


@both
async def test_preferences_are_stored_one_by_one(store: Store):
    """Other preferences are kept, and other changes of the user do not affect them."""
    await store.identity.users.add(user(), event())
    assert user().preferences == NOTHING_CHOSEN

    for chosen in (
        Preferences(language="en"),
        Preferences(theme="dark"),
        Preferences(single_keys=False),
        NOTHING_CHOSEN,
    ):
        await store.identity.users.prefer(MARIA, chosen)
    await store.identity.users.replace(user(), event())
    await store.identity.users.prefer("nobody", Preferences(theme="light"))

    found = await store.identity.users.find(MARIA)
    assert found is not None
    assert found.preferences == Preferences(language="en", theme="dark", single_keys=False)
