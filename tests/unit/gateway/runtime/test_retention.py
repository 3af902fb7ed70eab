"""Retention of the request log and of callbacks."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from gateway.domain.backoffice.callbacks import (
    Callback,
    CallbackSearch,
)
from gateway.domain.backoffice.lists import LoggedRequest
from gateway.domain.bank.provider_callbacks import CallbackKind
from gateway.domain.kernel.company_scope import EVERY_COMPANY
from gateway.domain.kernel.windows import Paging
from gateway.runtime.retention import CALLBACKS_KEPT, REQUESTS_KEPT, BackofficeRetention
from tests.unit.standing import NOON, Clock
from tests.world import registers


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


async def test_what_is_old_is_forgotten(tmp_path: Path):
    async with registers.opened(tmp_path) as office:
        store = office.store.office
        await store.requests.add([logged(REQUESTS_KEPT.days + 1), logged(REQUESTS_KEPT.days - 1)])
        for days in (CALLBACKS_KEPT.days + 1, CALLBACKS_KEPT.days - 1):
            await store.callbacks.add(told(days))

        forgotten = await BackofficeRetention(
            store.requests, store.callbacks, Clock().now
        ).cleanup()

        left, _ = await store.callbacks.search(CallbackSearch(paging=Paging(1, 25)), EVERY_COMPANY)
        assert forgotten == 2
        assert [each.id for each in left] == ["89"]
