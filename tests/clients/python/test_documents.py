"""Answers: digits as they came, times in UTC, and nothing guessed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pixgate_client import model
from pixgate_client.documents import Unreadable, parse, read
from tests.clients.python.replies import FAILED, PAYOUT

RECORDED = Path(__file__).parents[3] / "gateway/http/openapi/recorded.json"
KINDS = {
    "banking.balance": model.Balance,
    "banking.payout": model.Payout,
    "banking.payout_create": model.Payout,
    "banking.payouts": model.PayoutList,
    "banking.pix_key": model.PixKey,
    "banking.pix_transaction": model.Payment,
    "banking.qrcode": model.Charge,
    "banking.statement": model.Statement,
}


def parsed(document: object) -> Any:
    """Read a document as it comes: written as JSON."""
    return parse(json.dumps(document).encode())


def test_every_recorded_answer_of_the_gateway_is_read():
    """The answers that the documents show, which the sandbox gave."""
    recorded = json.loads(RECORDED.read_text("utf-8"))

    unread = [
        f"{operation} {name}"
        for operation, kind in KINDS.items()
        for name, document in recorded[operation]["200"].items()
        if type(read(kind, parsed(document))) is not kind
    ]

    assert unread == []
    assert set(recorded) - set(KINDS) == {"banking.pix_keys", "banking.payout_cancel"}


def test_no_digit_is_lost():
    document = parse(b'{"value": 9999999999999.99, "document_number": 5656565656565656}')

    assert document == {"value": Decimal("9999999999999.99"), "document_number": 5656565656565656}


def test_times_are_aware_and_absent_ones_are_none():
    payout = read(model.Payout, parsed(PAYOUT))

    assert payout.created_at == datetime(2026, 11, 20, 12, 0, 8, tzinfo=UTC)
    assert payout.settled_at is None
    assert payout.failure is None


def test_a_time_without_a_zone_is_utc():
    """Of a charge alone (contract 2.4)."""
    recorded = json.loads(RECORDED.read_text("utf-8"))["banking.qrcode"]["200"]["active"]

    charge = read(model.Charge, parsed({**recorded, "expires_at": "2026-11-21 13:40"}))

    assert charge.expires_at == datetime(2026, 11, 21, 13, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    "changed",
    [
        {"status": "settled"},
        {"value": "10.50"},
        {"value": True},
        {"date": "yesterday"},
        {"created_at": 0},
        {"created_at": "9999-12-31T23:59:59-12:00"},
        {"origin": []},
        {"destination": None},
        {"e2e_id": None},
        {"failure": "REJECTED"},
    ],
)
def test_a_malformed_payout_is_unreadable(changed: dict):
    with pytest.raises(Unreadable):
        read(model.Payout, parsed(PAYOUT) | changed)


def test_a_missing_field_is_not_read():
    for name in PAYOUT:
        rest = parsed(PAYOUT)
        del rest[name]
        with pytest.raises(Unreadable):
            read(model.Payout, rest)


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", b'{"a": NaN}', b"[" * 100_000])
def test_invalid_json_is_unreadable(body: bytes):
    with pytest.raises(Unreadable):
        parse(body)


def test_new_fields_are_ignored():
    assert read(model.Payout, parsed({**FAILED, "new": 1})).failure == model.Failure(
        "REJECTED", "No."
    )
