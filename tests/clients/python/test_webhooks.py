"""Deliveries: signed by one of our secrets, lately, and not altered."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook

from gateway.security.secrets import new_signing_secret
from gateway.security.webhooks import secret_bytes, signed_headers
from pixgate_client import SignatureInvalid, verify

NOW = datetime(2026, 11, 20, 13, 40, 11, tzinfo=UTC)
SECRET, FORMER = (new_signing_secret(lambda size, each=each: each * size) for each in (b"a", b"b"))
BODY = json.dumps(
    {
        "type": "payout.paid",
        "timestamp": "2026-11-20T13:40:11Z",
        "data": {"account_id": "0b7d", "reference": "order-1042"},
    }
).encode()


def headers(*secrets: str, at: datetime = NOW, body: bytes = BODY) -> dict[str, str]:
    return dict(signed_headers([secret_bytes(each) for each in secrets], "evt_1", at, body))


@pytest.mark.parametrize(
    ("signing", "known"),
    [([SECRET], SECRET), ([SECRET], [FORMER, SECRET]), ([FORMER, SECRET], [SECRET])],
)
def test_a_delivery_of_the_gateway_is_taken(signing: list[str], known: list[str] | str):
    """Also while a secret is rotated: either side may have two."""
    event = verify(headers(*signing), BODY, known, now=NOW)

    assert (event.id, event.type, event.timestamp) == ("evt_1", "payout.paid", NOW)
    assert event.data["reference"] == "order-1042"


def test_a_delivery_that_another_library_signed_is_taken():
    signature = Webhook(SECRET).sign("evt_1", NOW, BODY.decode())
    given = {
        "Webhook-Id": "evt_1",
        "Webhook-Timestamp": str(int(NOW.timestamp())),
        "Webhook-Signature": f"v1a,AAAA {signature}",
    }

    assert verify(given, BODY, SECRET, now=NOW).id == "evt_1"


@pytest.mark.parametrize(
    ("given", "body"),
    [
        ({}, BODY),
        (headers(FORMER), BODY),
        (headers(SECRET), BODY + b" "),
        ({**headers(SECRET), "webhook-id": "evt_2"}, BODY),
        ({**headers(SECRET), "webhook-timestamp": str(int(NOW.timestamp()) + 1)}, BODY),
        ({**headers(SECRET), "webhook-signature": "v1,"}, BODY),
        ({**headers(SECRET), "webhook-signature": "v1,é"}, BODY),
        ({**headers(SECRET), "webhook-signature": headers(SECRET)["webhook-signature"][3:]}, BODY),
    ],
)
def test_an_altered_or_unsigned_delivery_is_refused(given: dict[str, str], body: bytes):
    with pytest.raises(SignatureInvalid):
        verify(given, body, [SECRET], now=NOW)


@pytest.mark.parametrize(
    ("away_s", "taken"), [(300, True), (-300, True), (301, False), (-301, False)]
)
def test_an_old_delivery_is_refused(away_s: int, taken: bool):
    given, now = headers(SECRET), NOW + timedelta(seconds=away_s)

    if taken:
        assert verify(given, BODY, SECRET, now=now).id == "evt_1"
    else:
        with pytest.raises(SignatureInvalid, match="300 seconds"):
            verify(given, BODY, SECRET, now=now)


@pytest.mark.parametrize("secret", ["", "not-a-secret", "whsec_not base64"])
def test_an_invalid_secret_is_refused_and_not_quoted(secret: str):
    with pytest.raises(ValueError, match="whsec_") as refused:
        verify(headers(SECRET), BODY, secret, now=NOW)

    assert "not" not in str(refused.value)
