"""The body of a delivery: the document of the feed without its id."""

from __future__ import annotations

import msgspec

from gateway.core.strict import MAX_TEXT
from gateway.deliveries.bodies import body_of
from gateway.deliveries.model import PING, Delivery
from tests.world.deliveries import ENDPOINT
from tests.world.stores.samples import ACCOUNT, COMPANY, NOW

E2E_ID, RETURN_ID = f"E{7:031}", f"D{7:031}"


def of(is_ping: bool = False, event: str = "payout.paid", **ids: str) -> Delivery:
    return Delivery(
        id="dlv_1",
        endpoint_id=ENDPOINT,
        company_id=COMPANY,
        is_ping=is_ping,
        event_id="evt_1",
        type=event,
        at=NOW,
        **ids,
    )


def test_an_event_is_written_with_its_ids_alone():
    body = body_of(of(event="pix.refunded", account_id=ACCOUNT, e2e_id="", return_id=RETURN_ID))

    assert body == (
        b'{"type":"pix.refunded","timestamp":"2026-11-20T12:30:15Z","data":'
        b'{"account_id":"%b","e2e_id":"","return_id":"%b"}}'
        % (ACCOUNT.encode(), RETURN_ID.encode())
    )


def test_each_id_that_an_event_has_is_written():
    ids = {"reference": "ação", "e2e_id": E2E_ID, "return_id": RETURN_ID, "client_id": "cli_1"}

    document = msgspec.json.decode(body_of(of(account_id=ACCOUNT, **ids)))

    assert document["data"] == {"account_id": ACCOUNT, **ids}


def test_a_ping_names_its_endpoint():
    assert body_of(of(is_ping=True, event=PING)) == (
        b'{"type":"endpoint.ping","timestamp":"2026-11-20T12:30:15Z",'
        b'"data":{"endpoint_id":"%b"}}' % ENDPOINT.encode()
    )


def test_a_usual_body_is_small():
    assert len(body_of(of(account_id=ACCOUNT, reference="x" * MAX_TEXT))) < 4096
