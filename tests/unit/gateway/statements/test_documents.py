"""Balances and statements into documents."""

from __future__ import annotations

from datetime import timedelta, timezone

import msgspec
import pytest

from gateway.banks.port.charges import (
    Party,
)
from gateway.banks.port.statements import Balance, Direction, Entry
from gateway.core.money import Money
from gateway.core.windows import Paging
from gateway.http.rendering import dumps
from gateway.statements import documents
from gateway.statements.model import Statement
from tests.unit.partner_documents import CALLER, ORIGIN, shown
from tests.world.standing import NOON

ENTRY = Entry(
    provider_id="42",
    e2e_id="E42",
    direction=Direction.CREDIT,
    value=Money(7),
    description="",
    counterparty=Party(name="Maria"),
    created_at=NOON,
    is_pix=True,
)


@pytest.mark.parametrize("blocked", [Money(0), None])
def test_a_balance_has_the_contract_s_format(blocked: Money | None):
    """Contract 2.3, which has no value for an unknown amount."""
    found = Balance(balance=Money(100), blocked=blocked, updated_at=NOON)

    document = dumps(documents.balance(found, CALLER))

    assert document == b'{"balance":1.00,"blocked":0.00,"updated_at":"2026-11-20T12:00:00Z"}'


def test_a_statement_has_the_contract_s_format():
    """Contract 2.7."""
    found = Statement(
        entries=(ENTRY,),
        paging=Paging(2, 10),
        total=11,
        balance=Balance(balance=Money(1), blocked=Money(2), updated_at=NOON),
    )

    document = shown(documents.statement(found, CALLER))

    assert document["meta"] == {"page": 2, "limit": 10, "total": 11}
    assert document["account"] == ORIGIN
    assert document["balance"]["blocked"] == 0.02
    assert document["data"] == [
        {
            "id": "42",
            "operation": "Pix In",
            "type": "credit",
            "value": 0.07,
            "description": "",
            "tags": ["42", "E42"],
            "document_number": 42,
            "counterparty": {"name": "Maria", "tax_number": ""},
            "created_at": "2026-11-20T12:00:00Z",
        }
    ]


@pytest.mark.parametrize(
    ("provider_id", "number", "tags"),
    [
        ("0", 0, ["0", "E42"]),
        ("007", 7, ["007", "E42"]),
        ("9007199254740991", 2**53 - 1, ["9007199254740991", "E42"]),
        ("9007199254740992", 0, ["9007199254740992", "E42"]),
        ("12345678901234567", 0, ["12345678901234567", "E42"]),
        ("", 0, ["E42"]),
        ("4a", 0, ["4a", "E42"]),
        ("-4", 0, ["-4", "E42"]),
        ("٤٢", 0, ["٤٢", "E42"]),
        ("²", 0, ["²", "E42"]),
    ],
)
def test_a_document_number_is_exact_or_zero(provider_id: str, number: int, tags: list[str]):
    """No JSON reader may round it; an unknown tag is left out."""
    found = Statement(
        entries=(msgspec.structs.replace(ENTRY, provider_id=provider_id),),
        paging=Paging(1, 1),
        total=1,
        balance=Balance(balance=Money(1), blocked=Money(2), updated_at=NOON),
    )

    (entry,) = documents.statement(found, CALLER)["data"]

    assert (entry["document_number"], entry["tags"]) == (number, tags)


def test_a_movement_s_time_is_shown_in_utc_to_the_second():
    """Contract 2.1; whatever zone the bank used."""
    at = NOON.astimezone(timezone(timedelta(hours=-3))).replace(microsecond=999_999)
    found = Statement(
        entries=(msgspec.structs.replace(ENTRY, created_at=at),),
        paging=Paging(1, 1),
        total=1,
        balance=Balance(balance=Money(1), blocked=Money(2), updated_at=NOON),
    )

    (entry,) = shown(documents.statement(found, CALLER))["data"]

    assert entry["created_at"] == "2026-11-20T12:00:00Z"


def test_money_going_out_is_a_debit():
    found = Statement(
        entries=(msgspec.structs.replace(ENTRY, direction=Direction.DEBIT),),
        paging=Paging(1, 1),
        total=1,
        balance=Balance(balance=Money(1), blocked=Money(2), updated_at=NOON),
    )

    (entry,) = documents.statement(found, CALLER)["data"]

    assert (entry["operation"], entry["type"]) == ("Pix Out", "debit")
