"""Files that people take away: how many, how many rows, how many at once, and the alarm."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest

from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.errors import ServiceError
from gateway.core.exports import MOST, ExportKind, Turns
from tests.unit.refusals import refused
from tests.world.exports import exports, signed_in
from tests.world.people import CLI
from tests.world.standing import NOON


def test_downloads_of_all_users_together_are_limited():
    turns = Turns()
    held = [turns.take(f"person-{number // 2}") for number in range(MOST)]

    with pytest.raises(ServiceError) as refusal:
        turns.take("another")

    assert (refusal.value.error, refusal.value.reason) == (errors.TOO_MANY_REQUESTS, "downloads")
    held.pop()
    assert turns.take("another")


async def test_a_user_may_start_a_limited_number_of_files():
    """Over all sessions and kinds of files; other users are not affected."""
    few = exports(files=2)
    for kind in (ExportKind.PAYOUTS, ExportKind.STATEMENT):
        await few.begin(signed_in(), kind)

    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        await few.begin(signed_in(), ExportKind.AUDIT)

    assert (refusal.value.reason, refusal.value.headers) == ("exports", {"Retry-After": "1"})
    assert await few.begin(signed_in("joao"), ExportKind.AUDIT)


async def test_rows_of_all_files_of_a_user_are_counted_together():
    few = exports(rows=10)
    await (await few.begin(signed_in(), ExportKind.PAYOUTS)).take(6)

    second = await few.begin(signed_in(), ExportKind.STATEMENT)
    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        await second.take(6)

    assert (refusal.value.reason, refusal.value.headers) == ("exported_rows", {"Retry-After": "2"})
    await second.take(4)


async def test_a_file_larger_than_the_bucket_takes_the_full_bucket():
    """Otherwise a statement longer than the bucket could never be read."""
    few = exports(rows=10)

    await (await few.begin(signed_in(), ExportKind.STATEMENT)).take(25)

    with refused(errors.TOO_MANY_REQUESTS):
        await (await few.begin(signed_in(), ExportKind.STATEMENT)).take(1)


async def test_a_file_above_the_alarm_threshold_raises_one_alarm():
    """Small files add up, and ten thousand payees in one file count the same."""
    told: list[tuple[str, ExportKind]] = []

    async def on_alarm(who: Staff, kind: ExportKind) -> None:
        told.append((who.acting.actor, kind))

    watched = exports(alarming=500, on_alarm=on_alarm)
    for _ in range(2):
        await (await watched.begin(signed_in(), ExportKind.RECEIVED)).take(200)
    assert told == []

    for _ in range(2):
        export = await watched.begin(signed_in(), ExportKind.PAYOUTS)
        for _ in range(50):
            await export.take(200)
    await (await watched.begin(signed_in("joao"), ExportKind.STATEMENT)).take(10_000)

    maria, joao = "user:maria@example.com", "user:joao@example.com"
    assert told == [(maria, ExportKind.PAYOUTS)] * 2 + [(joao, ExportKind.STATEMENT)]


async def test_rows_of_lists_and_files_are_counted_together():
    """A page of a list counts like rows of a file; a page above the bucket takes all of it."""
    few = exports(rows=10)
    await few.show(signed_in(), 6)

    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        await few.show(signed_in(), 6)

    assert (refusal.value.reason, refusal.value.headers) == ("exported_rows", {"Retry-After": "2"})
    with refused(errors.TOO_MANY_REQUESTS):
        await (await few.begin(signed_in(), ExportKind.PAYOUTS)).take(6)
    await few.show(signed_in(), 0)
    await few.show(signed_in("joao"), 100)


def _same(now: datetime) -> datetime:
    return now


async def test_lists_raise_an_alarm_above_their_threshold_once_in_ten_minutes():
    """Refreshing pages show many rows, so files have a lower threshold."""
    told: list[ExportKind] = []

    async def on_alarm(_who: Staff, kind: ExportKind) -> None:
        told.append(kind)

    watched = exports(alarming=1, listed=100, on_alarm=on_alarm)
    await watched.show(signed_in(), 100)
    assert told == []

    for minutes in (0, 9, 10, 19):
        now = NOON + timedelta(minutes=minutes)
        acting = AuditContext("user:maria@example.com", partial(_same, now))
        await watched.show(replace(signed_in(), acting=acting), 25)

    assert told == [ExportKind.LISTS] * 2


async def test_commands_have_no_export_limit():
    none = exports(files=1, rows=1)

    for _ in range(3):
        await none.show(CLI, 100)
        await (await none.begin(CLI, ExportKind.AUDIT)).take(100)
