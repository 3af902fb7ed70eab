"""StoreGauges that no request changes, from a real store."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update
from structlog.testing import capture_logs

from gateway.app.gauges import AuditGauge, StoreGauges
from gateway.app.store import Store
from gateway.audit.store import StoredAudit
from gateway.callbacks.store import CallbackRecords
from gateway.companies.service import add_company
from gateway.core.browsers import PanelState
from gateway.core.sessions import SigningKey
from gateway.events.readers import FeedReaders
from gateway.events.store import EventRecords
from gateway.payouts.model import PayoutState
from gateway.request_log.store import RequestRecords
from gateway.store.tables.core import audit, audit_head
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.families import Family
from gateway.telemetry.metrics.registry import MetricRegistry
from tests.world import registers
from tests.world.metrics import INSTANCE, WORDS, shown
from tests.world.store import open_store
from tests.world.stores.identity_records import MAIL
from tests.world.stores.office import APPROVAL, CALLBACK
from tests.world.stores.people import panel, signed_in
from tests.world.stores.samples import (
    ACCOUNT,
    COMPANY,
    NOW,
    account,
    attempt,
    change,
    company,
    event,
    payout,
)

DAY = timedelta(days=1)


@dataclass
class Board:
    store: Store
    values: MetricRegistry
    clock: registers.Clock

    def __post_init__(self) -> None:
        self.gauges = StoreGauges(
            store=self.store,
            idle_s=15 * 60,
            values=self.values,
            now=self.clock,
        )

    async def shows(self, family: Family[Any], *key: str) -> float:
        """Look, and return one figure."""
        await self.gauges.run_once()
        return shown(self.values, family, *key)

    async def publish(self, key_id: str, signs_from: timedelta) -> None:
        at = NOW + signs_from
        key = SigningKey(id=key_id, public=b"p", sealed_private=b"s", created_at=NOW, signs_from=at)
        await self.store.identity.signing_keys.add(key, event())


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    async with registers.opened(tmp_path) as office:
        await add_company(office.store.database, company(COMPANY), event())
        await office.store.accounts.add(account(ACCOUNT), event())
        yield Board(office.store, MetricRegistry(INSTANCE, WORDS), registers.Clock(NOW))


async def test_active_panel_sessions_are_exported_by_state(board: Board):
    await signed_in(board.store)
    await board.store.identity.panels.add(panel())
    pending = replace(panel("p"), state=PanelState.MFA_PENDING, session_id="")
    await board.store.identity.panels.add(pending)

    assert await board.shows(series.SESSIONS_ACTIVE, "full") == 1
    assert await board.shows(series.SESSIONS_ACTIVE, "mfa_pending") == 1

    board.clock.passes(minutes=15)
    assert await board.shows(series.SESSIONS_ACTIVE, "full") == 0


async def test_the_age_of_the_oldest_walk_for_payments_is_exported(board: Board):
    """None is old where payments are not looked for."""
    none = await board.shows(series.PAYMENT_WALK_OLDEST, "sandbox")
    readers = FeedReaders(board.store.database, board.clock)
    readers.note(ACCOUNT)
    await readers.write()
    board.clock.passes(minutes=10)

    assert none == 0
    assert await board.shows(series.PAYMENT_WALK_OLDEST, "sandbox") == 600
    board.gauges = replace(board.gauges, walks_payments=False)
    assert await board.shows(series.PAYMENT_WALK_OLDEST, "sandbox") == 0


async def test_days_that_were_not_reconciled_by_nine_are_exported(board: Board):
    """None is late where days are not compared."""
    none = await board.shows(series.DAYS_NOT_RECONCILED, "sandbox")
    board.clock.passes(days=2)

    assert none == 0
    assert await board.shows(series.DAYS_NOT_RECONCILED, "sandbox") > 0
    board.gauges = replace(board.gauges, reconciles_days=False)
    assert await board.shows(series.DAYS_NOT_RECONCILED, "sandbox") == 0


async def test_waiting_approvals_are_exported_with_the_oldest_age(board: Board):
    none = await board.shows(series.APPROVALS_WAITING), board.values
    await board.store.approvals.add(APPROVAL, event())
    board.clock.passes(minutes=90)

    assert none[0] == 0
    assert await board.shows(series.APPROVALS_WAITING) == 1
    assert await board.shows(series.APPROVALS_OLDEST) == 5400

    board.clock.passes(hours=8)
    assert await board.shows(series.APPROVALS_WAITING) == 0
    assert await board.shows(series.APPROVALS_OLDEST) == 0


async def test_signing_keys_are_exported_by_state_with_the_signing_key_s_age(board: Board):
    for key_id, signs_from in (("former", -100 * DAY), ("now", -90 * DAY), ("next", DAY)):
        await board.publish(key_id, signs_from)

    shown = [
        await board.shows(series.SIGNING_KEYS, state) for state in ("next", "signing", "former")
    ]
    assert shown == [1, 1, 1]
    assert await board.shows(series.SIGNING_KEY_AGE) == (90 * DAY).total_seconds()

    board.clock.passes(days=2)
    await board.store.identity.signing_keys.retire("former", NOW, event())
    assert await board.shows(series.SIGNING_KEYS, "next") == 0
    assert await board.shows(series.SIGNING_KEYS, "former") == 1
    assert await board.shows(series.SIGNING_KEY_AGE) == DAY.total_seconds()


async def test_an_altered_audit_log_is_shown_and_reported(
    board: Board, caplog: pytest.LogCaptureFixture
):
    figure = AuditGauge(
        audit=StoredAudit(board.store.database, batch=1, pause_s=0.001), values=board.values
    )

    await figure.run_once()
    whole = shown(board.values, series.AUDIT_BROKEN)
    async with board.store.database.writing() as connection:
        await connection.exec_driver_sql("DROP TRIGGER audit_no_update")
        await connection.exec_driver_sql("UPDATE audit SET actor = 'nobody' WHERE number = 2")
    await figure.run_once()

    assert (whole, shown(board.values, series.AUDIT_BROKEN)) == (0, 1)
    assert "broken at event 2" in caplog.text


async def test_the_age_of_the_oldest_unsent_mail_is_exported(board: Board):
    """No links arrive while mail is not sent."""
    mailbox = board.store.identity.mailbox
    before = await board.shows(series.MAILBOX_WAITING)
    await mailbox.put(replace(MAIL, id="a"))
    await mailbox.put(replace(MAIL, id="b", created_at=NOW + timedelta(minutes=4)))
    board.clock.passes(minutes=5)

    waiting = await board.shows(series.MAILBOX_WAITING)
    await mailbox.sent("a", board.clock())

    assert (before, waiting) == (0, 300)
    assert await board.shows(series.MAILBOX_WAITING) == 60


async def test_the_end_of_the_audit_log_is_shown_and_reported(board: Board):
    """To be saved elsewhere: the store itself does not show that an old copy was restored."""
    await board.store.audit.append(event("last"))
    head = await board.store.audit.head()

    with capture_logs() as told:
        await AuditGauge(board.store.audit, board.values).run_once()

    assert shown(board.values, series.AUDIT_HEAD) == head.number
    of_hash = shown(board.values, series.AUDIT_HEAD_HASH)
    assert f"{int(of_hash):012x}" == head.hash.hex()[:12]
    assert told == [
        {
            "event": "audit_head",
            "log_level": "info",
            "audit_number": head.number,
            "audit_hash": head.hash.hex(),
        }
    ]


async def test_a_store_restored_under_a_running_gateway_is_detected(
    board: Board, caplog: pytest.LogCaptureFixture
):
    figure = AuditGauge(board.store.audit, board.values)
    before = await board.store.audit.head()
    await board.store.audit.append(event("lost"))
    await figure.run_once()

    async with board.store.database.writing() as connection:
        await connection.exec_driver_sql("DROP TRIGGER audit_no_delete")
        await connection.execute(delete(audit).where(audit.c.number > before.number))
        old = {"number": before.number, "hash": before.hash, "seal": before.seal}
        await connection.execute(update(audit_head).values(old))
    await figure.run_once()

    assert shown(board.values, series.AUDIT_BROKEN) == 1
    assert f"and had reached event {before.number + 1}" in caplog.text


async def test_the_earliest_certificate_expiry_of_active_accounts_is_exported_by_provider(
    board: Board,
):
    """A replaced certificate is removed at once; without any there is no value."""
    accounts, ends = board.store.accounts, NOW + 30 * DAY
    certified = replace(
        account(str(uuid.uuid4())),
        provider="sandbox",
        provider_account="7x",
        certificate_ends_at=ends,
    )
    await accounts.add(certified, event())
    for number, changed in enumerate(
        ({"certificate_ends_at": ends + DAY}, {"certificate_ends_at": NOW, "active": False})
    ):
        other = replace(
            certified, id=str(uuid.UUID(int=number)), provider_account=f"1{number}", **changed
        )
        await accounts.add(other, event())

    assert await board.shows(series.ACCOUNT_CERTIFICATE_ENDS, "sandbox") == ends.timestamp()

    await accounts.replace(replace(certified, certificate_ends_at=None), event())
    later = await board.shows(series.ACCOUNT_CERTIFICATE_ENDS, "sandbox")
    assert later == (ends + DAY).timestamp()

    first = replace(other, id=str(uuid.UUID(int=0)), provider_account="10")
    await accounts.replace(first, event())
    assert await board.shows(series.ACCOUNT_CERTIFICATE_ENDS, "sandbox") == float("inf")
    assert await board.shows(series.ACCOUNT_CERTIFICATE_ENDS, "other") == 0


async def test_due_payouts_and_waiting_callbacks_are_exported_by_bank(board: Board):
    payouts = ("sandbox", series.PAYOUTS_DUE, series.PAYOUT_OLDEST_DUE)
    callbacks = ("sandbox", series.CALLBACKS_WAITING, series.CALLBACK_OLDEST_WAITING)
    none = [await board.shows(family, "sandbox") for family in (*payouts[1:], *callbacks[1:])]
    await board.store.payouts.add(payout(), attempt())
    await board.store.payouts.record(change(PayoutState.SENDING, PayoutState.UNKNOWN))
    await CallbackRecords(board.store.database).add(
        replace(CALLBACK, provider="sandbox", received_at=NOW)
    )
    board.clock.passes(minutes=10)

    waiting = [await board.shows(family, "sandbox") for family in (payouts[1], callbacks[1])]
    ages = [await board.shows(family, "sandbox") for family in (payouts[2], callbacks[2])]

    assert (none, waiting, ages) == ([0, 0, 0, 0], [1, 1], [597, 600])


async def test_the_end_of_the_last_partition_is_exported(board: Board, migrated_postgres_url: str):
    """SQLite has no partitions and no value."""
    server = open_store(migrated_postgres_url, now=lambda: NOW)
    before = await server.partitions_end()
    await RequestRecords(server.database).forget(NOW - 30 * DAY)
    await server.payouts.forget_events(NOW - 90 * DAY)
    await EventRecords(server.database).forget(NOW - 32 * DAY)
    await replace(board.gauges, store=server).run_once()
    ends = [
        shown(board.values, series.STORE_PARTITIONS_END, table)
        for table in ("request_log", "payout_events", "events")
    ]
    await server.close()

    today = NOW.replace(hour=0, minute=0, second=0, microsecond=0)
    assert await board.store.partitions_end() == {}
    assert [end <= NOW for end in before.values()] == [True] * 3
    assert [ends[0], ends[1] > ends[0]] == [(today + 4 * DAY).timestamp(), True]
    assert ends[2] == ends[1]


async def test_server_connections_are_exported_with_their_maximum(board: Board, postgres_url: str):
    """SQLite has no value."""

    async def load() -> list[float]:
        families = (series.STORE_SERVER_CONNECTIONS, series.STORE_SERVER_LIMIT)
        return [await board.shows(family) for family in families]

    of_a_file = await load()
    server = open_store(postgres_url)
    used, most = await server.server_load() or (0, 0)
    await server.close()

    assert of_a_file == [0, 0]
    assert 1 <= used < most
