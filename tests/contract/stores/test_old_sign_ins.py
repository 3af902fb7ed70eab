"""What is left of sign-ins is deleted a little at a time, however much has gathered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Table, Text, func, insert, select, text, type_coerce

from gateway.app.store import Store
from gateway.identity.model import Failures, Mail
from gateway.store.kernel.old_rows import AT_ONCE
from gateway.store.tables import identity
from gateway.store.tables.columns import row_of
from tests.contract.stores.databases import both
from tests.contract.stores.plans import Explained
from tests.world.stores.people import challenge, mail_token, panel, session, signed_in, token
from tests.world.stores.samples import NOW

OLD, MANY = NOW - timedelta(days=8), 2_500
BEFORE = NOW - timedelta(days=7)
MAIL = Mail(id="", to="maria@example.com", subject="", text="", created_at=OLD)

Rows = Callable[[int], Mapping[str, object]]
Deletes = Callable[[Store], Awaitable[int]]


def aged(number: int) -> datetime:
    """Return another instant for each: those of one instant are deleted at once."""
    return OLD - timedelta(seconds=number)


def columns(value: object, **changed: object) -> Mapping[str, object]:
    return row_of(value) | changed


WHAT: Mapping[str, tuple[Table, Rows, Deletes]] = {
    "browsers that were idle": (
        identity.panel_sessions,
        lambda number: columns(panel(f"{number}"), state="full", seen_at=aged(number)),
        lambda store: store.identity.panels.forget(BEFORE, BEFORE),
    ),
    "browsers whose time is over": (
        identity.panel_sessions,
        lambda number: columns(panel(f"{number}"), state="full", ends_at=aged(number)),
        lambda store: store.identity.panels.forget(BEFORE, BEFORE),
    ),
    "challenges": (
        identity.challenges,
        lambda number: columns(challenge(b"%d" % number), ends_at=aged(number)),
        lambda store: store.identity.challenges.forget(BEFORE),
    ),
    "links": (
        identity.mail_tokens,
        lambda number: columns(mail_token(b"%d" % number), purpose="reset", ends_at=aged(number)),
        lambda store: store.identity.challenges.forget(BEFORE),
    ),
    "failed attempts": (
        identity.failures,
        lambda number: columns(Failures(key=f"{number}", count=1, since=aged(number))),
        lambda store: store.identity.failures.forget(BEFORE),
    ),
    "mail": (
        identity.mailbox,
        lambda number: columns(replace(MAIL, id=f"{number}", created_at=aged(number))),
        lambda store: store.identity.mailbox.forget(BEFORE),
    ),
    "sign-ins whose time is over": (
        identity.sessions,
        lambda number: columns(session(f"{number}"), ends_at=aged(number)),
        lambda store: store.identity.sessions.forget(BEFORE),
    ),
    "sign-ins that were ended": (
        identity.sessions,
        lambda number: columns(session(f"{number}"), ended_at=aged(number), ended_by="logout"),
        lambda store: store.identity.sessions.forget(BEFORE),
    ),
}


async def add(store: Store, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
    async with store.database.writing() as connection:
        await connection.execute(insert(table), [dict(each) for each in rows])


async def count(store: Store, table: Table) -> int:
    async with store.database.reading() as connection:
        return (await connection.execute(select(func.count()).select_from(table))).scalar_one()


@both
@pytest.mark.parametrize("what", WHAT)
async def test_many_old_rows_are_deleted_in_several_transactions(store: Store, what: str):
    """Other rows are not deleted: one of each kind is recent."""
    table, row, forget = WHAT[what]
    await signed_in(store)
    young = await count(store, table)
    await add(store, table, [row(number) for number in range(MANY)])
    writes: list[str] = []
    store.database.usage.on_usage = lambda kind, _took_s: writes.append(kind)

    forgotten = await forget(store)

    assert forgotten == MANY
    assert writes.count("write") >= MANY // AT_ONCE + 1
    assert await count(store, table) == young


@both
async def test_tokens_are_deleted_with_their_sign_ins(store: Store):
    await signed_in(store)
    table, row, forget = WHAT["sign-ins that were ended"]
    await add(store, table, [row(number) for number in range(MANY)])
    tokens = [row_of(token(1, f"{number}")) for number in range(MANY)]
    await add(store, identity.refresh_tokens, tokens)

    forgotten = await forget(store)

    assert forgotten == MANY
    assert await count(store, identity.refresh_tokens) == 1
    assert await store.identity.sessions.find("s1") is not None


async def test_attempts_that_still_block_are_kept(store: Store):
    blocked = Failures(key="ip:1", count=5, since=OLD, blocked_until=NOW, blocks=2)
    await add(store, identity.failures, [row_of(blocked)])

    assert await store.identity.failures.forget(BEFORE) == 0


AGES = [
    *(identity.sessions.c.ends_at, identity.sessions.c.ended_at, identity.challenges.c.ends_at),
    *(identity.mail_tokens.c.ends_at, identity.panel_sessions.c.seen_at),
    *(identity.panel_sessions.c.ends_at, identity.failures.c.since, identity.mailbox.c.created_at),
]


@both
@pytest.mark.parametrize("age", AGES, ids=str)
async def test_the_oldest_rows_are_found_by_an_index(store: Store, age: Any):
    """Otherwise each step would read the whole table."""
    oldest = (
        select(type_coerce(age, Text))
        .where(age < BEFORE)
        .order_by(age)
        .offset(AT_ONCE - 1)
        .limit(1)
    )

    async with store.database.writing() as connection:
        if connection.dialect.name == "postgresql":
            # hardly any row is there: reading all of them would be cheaper
            await connection.execute(text("SET LOCAL enable_seqscan = off"))
        plan = str((await connection.execute(Explained(oldest))).all())

    assert f"ix_{age.table.name}_{age.name}" in plan
