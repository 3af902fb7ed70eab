"""Second factors that are asked for, and links in mails, in the store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.app.store import Store
from gateway.identity.model import Purpose
from tests.contract.stores.databases import both
from tests.world.stores.people import challenge, mail_token, signed_in
from tests.world.stores.samples import NOW

LATER = NOW + timedelta(hours=1)
SECOND = timedelta(seconds=1)
ENDS = mail_token().ends_at


@both
async def test_a_challenge_is_read_back_unchanged(store: Store):
    await signed_in(store)

    await store.identity.challenges.add(challenge())

    assert await store.identity.challenges.find(b"c") == challenge()
    assert await store.identity.challenges.find(b"d") is None


async def test_a_challenge_has_a_maximum_of_tries_across_processes(store: Store, second: Store):
    await signed_in(store)
    await store.identity.challenges.add(challenge())
    nodes = [store.identity.challenges, second.identity.challenges] * 5

    tried = await asyncio.gather(*(node.try_once(b"c", 5, NOW) for node in nodes))

    assert sum(tried) == 5


@both
async def test_a_used_or_expired_challenge_is_not_tried(store: Store):
    await signed_in(store)
    await store.identity.challenges.add(challenge())

    assert not await store.identity.challenges.try_once(b"c", 5, LATER)
    await store.identity.challenges.use(b"c", NOW)
    assert not await store.identity.challenges.try_once(b"c", 5, NOW)


@both
async def test_of_ten_concurrent_uses_of_a_challenge_one_succeeds(store: Store, second: Store):
    await signed_in(store)
    await store.identity.challenges.add(challenge())
    nodes = [store.identity.challenges, second.identity.challenges] * 5

    used = await asyncio.gather(*(node.use(b"c", NOW) for node in nodes))

    assert sum(used) == 1


@both
async def test_a_link_works_once(store: Store):
    await signed_in(store)
    await store.identity.challenges.add_mail_token(mail_token())

    first = await store.identity.challenges.use_mail_token(b"m", Purpose.RESET, NOW)
    again = await store.identity.challenges.use_mail_token(b"m", Purpose.RESET, NOW)

    assert first == replace(mail_token(), used_at=NOW)
    assert again is None


@pytest.mark.parametrize(
    ("purpose", "at"), [(Purpose.INVITATION, NOW), (Purpose.RESET, LATER)], ids=["other", "late"]
)
async def test_a_link_is_refused_for_another_purpose_or_after_its_end(store: Store, purpose, at):
    await signed_in(store)
    await store.identity.challenges.add_mail_token(mail_token())

    assert await store.identity.challenges.use_mail_token(b"m", purpose, at) is None


async def test_a_new_link_voids_earlier_links_of_its_purpose(store: Store):
    await signed_in(store)
    await store.identity.challenges.add_mail_token(mail_token())
    await store.identity.challenges.add_mail_token(mail_token(b"i", Purpose.INVITATION))

    await store.identity.challenges.add_mail_token(mail_token(b"n"))

    use = store.identity.challenges.use_mail_token
    assert await use(b"m", Purpose.RESET, NOW) is None
    assert await use(b"n", Purpose.RESET, NOW) is not None
    assert await use(b"i", Purpose.INVITATION, NOW) is not None


async def test_links_are_valid_side_by_side_up_to_a_maximum(store: Store):
    """Used and expired links, and links for another purpose, do not count."""
    await signed_in(store)
    add = store.identity.challenges.add_mail_token_beside
    await store.identity.challenges.add_mail_token(mail_token(b"i", Purpose.INVITATION))

    assert [await add(mail_token(each), 2) for each in (b"a", b"b", b"c")] == [True, True, False]
    assert not await add(replace(mail_token(b"d"), created_at=ENDS - SECOND), 2)
    assert await add(replace(mail_token(b"d"), created_at=ENDS), 2)


@both
async def test_using_a_link_voids_all_links_of_its_user_and_purpose(store: Store):
    await signed_in(store)
    add, use = (
        store.identity.challenges.add_mail_token_beside,
        store.identity.challenges.use_mail_token,
    )
    await store.identity.challenges.add_mail_token(mail_token(b"i", Purpose.INVITATION))
    for each in (b"a", b"b"):
        await add(mail_token(each), 2)

    assert await use(b"a", Purpose.RESET, NOW) == replace(mail_token(b"a"), used_at=NOW)
    assert await use(b"b", Purpose.RESET, NOW) is None
    assert await add(mail_token(b"c"), 1)
    assert await use(b"i", Purpose.INVITATION, NOW) is not None


@both
async def test_expired_rows_are_deleted(store: Store):
    await signed_in(store)
    await store.identity.challenges.add(challenge())
    await store.identity.challenges.add_mail_token(mail_token())

    assert await store.identity.challenges.forget(NOW) == 0
    assert await store.identity.challenges.forget(LATER) == 2
    assert await store.identity.challenges.find(b"c") is None
