"""Retention: what is old is deleted, whatever else cannot be."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.app.retention import (
    CALLBACKS_KEPT,
    MINUTES_KEPT,
    READINGS_KEPT,
    REQUESTS_KEPT,
    delete_old_records,
    delete_old_sign_ins,
)
from gateway.app.store import Store
from gateway.banks.model import ProviderMinute
from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.banks.store import ProviderMinutes
from gateway.callbacks.model import Callback, CallbackSearch
from gateway.callbacks.store import CallbackRecords
from gateway.closings.readings import DayReadings, Problem
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.windows import Paging
from gateway.outflow.store import PAYEES_KEPT, OutflowRecords
from gateway.request_log.model import LoggedRequest
from gateway.request_log.store import RequestRecords
from gateway.statements.model import local_day
from gateway.store.tables.figures import PLACES
from tests.unit.standing_payouts import company_and_accounts
from tests.world import registers
from tests.world.standing import NOON, Clock
from tests.world.stores.people import END, challenge, mail_token, panel, signed_in
from tests.world.stores.samples import ACCOUNT, COMPANY, attempt, payout


def logged(days: float) -> LoggedRequest:
    return LoggedRequest(
        at=NOON - timedelta(days=days),
        trace_id=str(days),
        surface="",
        route="",
        status=200,
        code="",
        client_id="",
        user_id="",
        company_id="",
        line="{}",
    )


def told(days: float) -> Callback:
    return Callback(
        id=str(days),
        provider="p",
        event=str(days),
        kind=CallbackKind.OTHER,
        subject="",
        received_at=NOON - timedelta(days=days),
        body=b"",
    )


def called(days: float) -> ProviderMinute:
    return ProviderMinute(
        provider="p",
        operation="get_balance",
        minute=NOON - timedelta(days=days),
        calls=1,
        ok=1,
        last_failure="",
        took=[1] * PLACES,
    )


async def test_old_rows_are_deleted(tmp_path: Path):
    async with registers.opened(tmp_path) as office:
        database = office.store.database
        await company_and_accounts(office.store)
        lines = [logged(REQUESTS_KEPT.days + 1), logged(REQUESTS_KEPT.days - 1)]
        await RequestRecords(database).add(lines)
        for days in (CALLBACKS_KEPT.days + 1, CALLBACKS_KEPT.days - 1):
            await CallbackRecords(database).add(told(days))

        for minute in (MINUTES_KEPT.days + 1, MINUTES_KEPT.days - 1):
            await ProviderMinutes(database).add(f"w{minute}", [called(minute)])

        old, young = NOON - timedelta(days=3_000), NOON
        for at in (old, young):
            order = payout(str(at.year), created_at=at)
            await office.store.payouts.add(order, attempt(started_at=at))

        outflow, paid_at = OutflowRecords(database), NOON - PAYEES_KEPT - timedelta(seconds=1)
        await outflow.add_hour(paid_at, {}, {(COMPANY, b"old"): paid_at}, None)

        forgotten = await delete_old_records(office.store, timedelta(days=2_000), NOON)

        search = CallbackSearch(paging=Paging(1, 25))
        left = (await CallbackRecords(database).search(search, EVERY_COMPANY)).items
        assert forgotten == 3
        kept = [await office.store.payouts.events(ACCOUNT, str(at.year)) for at in (old, young)]
        assert [len(each) for each in kept] == [0, 1]
        assert [each.id for each in left] == ["89"]
        beginning = NOON - timedelta(days=90)
        minutes = ProviderMinutes(database)
        (minute,) = await minutes.added_up(beginning, timedelta(days=90), None)
        assert minute.calls == 1
        assert await outflow.first_paid([(COMPANY, b"old")]) == {}


async def test_readings_of_days_are_kept_for_a_year_and_a_month(tmp_path: Path):
    async with registers.opened(tmp_path) as office:
        await company_and_accounts(office.store)
        readings = DayReadings(office.store.database, timedelta())
        past = local_day(NOON - READINGS_KEPT)
        for day in (past - timedelta(days=1), past):
            await readings.fail(ACCOUNT, day, Problem.BANK, NOON)

        await delete_old_records(office.store, timedelta(days=2_000), NOON)

        assert await readings.of(ACCOUNT, past - timedelta(days=1)) is None
        assert await readings.of(ACCOUNT, past)


async def dropped(store: Store, table: str) -> None:
    """Let every statement on a table fail."""
    async with store.database.writing() as connection:
        await connection.execute(text(f"DROP TABLE {table}"))


async def test_a_failing_table_does_not_stop_the_clean_up_of_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    async with registers.opened(tmp_path) as office:
        database = office.store.database
        await RequestRecords(database).add([logged(REQUESTS_KEPT.days + 1)])
        await dropped(office.store, "provider_minutes")
        await dropped(office.store, "callbacks")

        forgotten = await delete_old_records(office.store, timedelta(days=2_000), NOON)

    assert forgotten == 1
    assert [each.getMessage().split(" could")[0] for each in caplog.records] == [
        "old minutes",
        "old callbacks",
    ]


@pytest.mark.parametrize(("days", "forgotten"), [(6, 0), (8, 1)])
async def test_a_session_that_ended_is_kept_for_a_week(tmp_path: Path, days: int, forgotten: int):
    """So that the owner of an old token can be distinguished from a stranger."""
    async with registers.opened(tmp_path) as office:
        await signed_in(office.store)
        later = Clock(END + timedelta(days=days))

        found = await delete_old_sign_ins(office.store.identity, later.now())

    assert found == forgotten


@pytest.mark.parametrize("fails", ["panel_sessions", "mfa_challenges", "failure_counts", "mailbox"])
async def test_sign_ins_are_deleted_when_one_of_their_tables_fails(
    tmp_path: Path, fails: str, caplog: pytest.LogCaptureFixture
):
    async with registers.opened(tmp_path) as office:
        await signed_in(office.store)
        stores = office.store.identity
        await stores.panels.add(panel())
        await stores.challenges.add(challenge())
        await stores.challenges.add_mail_token(mail_token())
        await dropped(office.store, fails)
        clock = Clock()
        clock.passes(timedelta(days=3_000).total_seconds())

        forgotten = await delete_old_sign_ins(stores, clock.now())

        browser = None if fails == "panel_sessions" else await stores.panels.find("h1")

    assert (forgotten, browser) == (1, None)
    assert len([each for each in caplog.records if "could not be deleted" in each.message]) == 1
