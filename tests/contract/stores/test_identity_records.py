"""Signing keys, failure counts and mail in the store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event
from sqlalchemy.util import await_only

from gateway.app.store import Store
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.errors import ServiceError
from gateway.core.sessions import SigningKey
from gateway.core.user_errors import TOO_MANY_ATTEMPTS
from gateway.identity.model import Failures, NextCounts
from tests.contract.stores.databases import both, server_alone
from tests.world.stores.identity_records import MAIL
from tests.world.stores.samples import NOW
from tests.world.stores.samples import event as act

KEY = SigningKey(
    id="k1", public=b"\x00" * 32, sealed_private=b"sealed", created_at=NOW, signs_from=NOW
)


def one_more(before: Mapping[str, Failures | None]) -> Mapping[str, Failures]:
    return {
        key: Failures(key=key, count=(each.count if each else 0) + 1, since=NOW)
        for key, each in before.items()
    }


def blocked_as(count: Failures) -> NextCounts:
    return lambda _before: {count.key: count}


async def test_signing_keys_are_listed_by_activation_time(store: Store):
    later = replace(KEY, id="k0", signs_from=NOW + timedelta(days=1))
    for each in (later, KEY):
        await store.identity.signing_keys.add(each, act())

    assert await store.identity.signing_keys.list() == [KEY, later]


async def test_a_key_is_retired_once(store: Store):
    await store.identity.signing_keys.add(KEY, act())

    retired = [await store.identity.signing_keys.retire("k1", NOW, act()) for _ in range(2)]

    assert retired == [True, False]
    assert await store.identity.signing_keys.list() == [replace(KEY, retired_at=NOW)]


@both
async def test_concurrent_failures_are_all_counted(store: Store, second: Store):
    """Each counts under several keys, in any order."""
    nodes = [store.identity.failures, second.identity.failures] * 5
    keys = [["ip:1", "a:1", "b:1"], ["b:1", "ip:1", "a:1"], ["a:1", "b:1", "ip:1"]]

    counted = await asyncio.gather(
        *(node.change(keys[i % 3], one_more) for i, node in enumerate(nodes))
    )

    for key in keys[0]:
        assert sorted(each[key].count for each in counted) == list(range(1, 11)), key


@both
async def test_one_refused_key_leaves_the_others_uncounted(store: Store):
    await store.identity.failures.change(["ip:1"], one_more)

    def refuse(before: Mapping[str, Failures | None]) -> Mapping[str, Failures]:
        raise ServiceError(TOO_MANY_ATTEMPTS, "ip")

    with pytest.raises(ServiceError):
        await store.identity.failures.change(["ip:1", "ip:2"], refuse)

    found = await store.identity.failures.find(["ip:1", "ip:2"])
    assert [(each.key, each.count) for each in found] == [("ip:1", 1)]


@server_alone
async def test_a_counter_cleared_during_a_count_starts_again(store: Store, second: Store):
    """A sign-in succeeds on another node between reading the counter and locking it."""
    await store.identity.failures.change(["ip:1"], one_more)
    cleared: list[str] = []

    def clear(_connection: object, _cursor: object, statement: str, *_others: object) -> None:
        if "FOR UPDATE" in statement and "DELETE" not in statement and not cleared:
            cleared.append(statement)
            await_only(second.identity.failures.clear(["ip:1"]))

    event.listen(store.database.writer.sync_engine, "before_cursor_execute", clear)
    counted = await store.identity.failures.change(["ip:1"], one_more)

    assert len(cleared) == 1
    assert counted["ip:1"].count == 1
    assert await store.identity.failures.find(["ip:1"]) == [counted["ip:1"]]


@both
async def test_counts_are_found_and_cleared_by_key(store: Store):
    await store.identity.failures.change(["ip:1", "ip:3"], one_more)
    blocked = Failures(key="ip:2", count=5, since=NOW, blocked_until=NOW, blocks=2)
    await store.identity.failures.change(["ip:2"], blocked_as(blocked))

    await store.identity.failures.clear(["ip:1", "ip:9"])
    await store.identity.failures.change(["ip:3", "ip:4"], dict.fromkeys)

    assert await store.identity.failures.find(["ip:1", "ip:2", "ip:3", "ip:4"]) == [blocked]


@both
async def test_mail_is_queued_until_it_is_sent(store: Store):
    newer = replace(MAIL, id="m2", created_at=NOW + timedelta(seconds=1))
    for each in (newer, MAIL):
        await store.identity.mailbox.put(each)

    assert await store.identity.mailbox.waiting(5) == [MAIL, newer]
    assert await store.identity.mailbox.waiting(5, [MAIL.id]) == [newer]
    assert await store.identity.mailbox.latest(1, EVERY_COMPANY) == [newer]


@both
async def test_sent_mail_stores_no_link(store: Store):
    await store.identity.mailbox.put(MAIL)

    await store.identity.mailbox.sent("m1", NOW)

    assert await store.identity.mailbox.waiting(5) == []
    assert await store.identity.mailbox.latest(5, EVERY_COMPANY) == [
        replace(MAIL, text="", sent_at=NOW)
    ]


@both
async def test_long_expired_rows_are_deleted(store: Store):
    """Otherwise rows for names that do not exist would stay for ever."""
    later = NOW + timedelta(days=7)
    blocked = Failures(key="ip:2", count=5, since=NOW, blocked_until=later, blocks=2)
    await store.identity.failures.change(["ip:1"], one_more)
    await store.identity.failures.change(["ip:2"], blocked_as(blocked))
    await store.identity.mailbox.put(MAIL)

    forgotten = [
        await each.forget(NOW + timedelta(seconds=1))
        for each in (store.identity.failures, store.identity.mailbox)
    ]

    assert forgotten == [1, 1]
    assert await store.identity.failures.find(["ip:1", "ip:2"]) == [blocked]
