"""An event as partners read it: ids alone, each where its type has it."""

from __future__ import annotations

from datetime import UTC, datetime

from gateway.events.documents import events
from gateway.events.model import Cursor, Event, EventType, FeedPart

NOW = datetime(2026, 11, 20, 12, 30, 15, 987654, tzinfo=UTC)
ACCOUNT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
CURSOR = Cursor(ACCOUNT, 2, NOW)


def test_an_event_has_its_type_its_time_and_the_ids_of_its_type():
    paid = Event(
        id="evt_1", account_id=ACCOUNT, type=EventType.PAYOUT_PAID, at=NOW, reference="order-1"
    )
    back = Event(
        id="evt_2",
        account_id=ACCOUNT,
        type=EventType.PAYOUT_RETURNED,
        at=NOW,
        reference="order-1",
        return_id="D1",
    )

    came = Event(
        id="evt_3",
        account_id=ACCOUNT,
        type=EventType.PIX_RECEIVED,
        at=NOW,
        reference="",
        e2e_id="E1",
    )
    ends = Event(
        id="evt_4",
        account_id=ACCOUNT,
        type=EventType.CREDENTIAL_EXPIRING,
        at=NOW,
        client_id="cli_1",
    )

    assert events(FeedPart([paid, back, came, ends], CURSOR), None) == {
        "data": [
            {
                "id": "evt_1",
                "type": "payout.paid",
                "timestamp": "2026-11-20T12:30:15Z",
                "data": {"account_id": ACCOUNT, "reference": "order-1"},
            },
            {
                "id": "evt_2",
                "type": "payout.returned",
                "timestamp": "2026-11-20T12:30:15Z",
                "data": {"account_id": ACCOUNT, "reference": "order-1", "return_id": "D1"},
            },
            {
                "id": "evt_3",
                "type": "pix.received",
                "timestamp": "2026-11-20T12:30:15Z",
                "data": {"account_id": ACCOUNT, "reference": "", "e2e_id": "E1"},
            },
            {
                "id": "evt_4",
                "type": "credential.expiring",
                "timestamp": "2026-11-20T12:30:15Z",
                "data": {"account_id": ACCOUNT, "client_id": "cli_1"},
            },
        ],
        "next": str(CURSOR),
    }


def test_an_empty_part_has_the_next_cursor():
    assert events(FeedPart([], CURSOR), None) == {"data": [], "next": str(CURSOR)}
