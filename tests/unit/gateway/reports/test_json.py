"""JSON: the words and forms of the banking statement (contract 2.7)."""

import json
import re
from datetime import datetime, timedelta, timezone

from gateway.banks.port.statements import Balance, Direction, MovementKind
from gateway.core.money import MAX_CENTAVOS, Money
from gateway.reports.json import write
from tests.unit.reporting import DOCUMENT, document, entry
from tests.world.people import ACCOUNT


def read(content: bytes) -> dict:
    return json.loads(content, parse_float=str)


def test_a_report_has_every_field():
    told = read(write(DOCUMENT))

    assert {name: told[name] for name in told if name != "data"} == {
        "account": {
            "id": ACCOUNT,
            "bank_number": "341",
            "ispb": "60701190",
            "branch": "0001",
            "account": "123456-7",
            "name": "Padaria São João Ltda",
            "tax_number": "11222333000181",
        },
        "environment": "production",
        "window": {"init": "2026-11-01", "ends": "2026-11-20"},
        "generated_at": "2026-11-20T13:00:00Z",
        "balance": {
            "opening": "1000.00",
            "closing": "2232.06",
            "balance": "2232.06",
            "blocked": "0.00",
            "updated_at": "2026-11-20T12:00:00Z",
        },
        "totals": {"credits": "1234.56", "debits": "2.50"},
        "meta": {"total": 2},
    }


def test_a_movement_has_every_field():
    told = read(write(DOCUMENT))["data"]

    assert told[0] == {
        "id": "mov-1",
        "e2e_id": "E12345678202611201200abcdefghij1",
        "kind": "pix",
        "operation": "Pix In",
        "type": "credit",
        "value": "1234.56",
        "description": "pão",
        "counterparty": {"name": "Maria da Conceição", "tax_number": "52998224725"},
        "created_at": "2026-11-20T12:00:00Z",
    }
    assert (told[1]["operation"], told[1]["type"], told[1]["value"]) == ("fee", "debit", "2.50")


def test_an_amount_is_a_number_with_two_decimals():
    for centavos in [0, 1, 10, 1050, MAX_CENTAVOS]:
        content = write(document(entry(value=Money(centavos)))).decode()

        written = re.search(r'"value":(\d+\.\d\d),', content)

        assert written[1] == str(Money(centavos))


def test_an_unknown_value_is_null_and_an_absent_time_is_empty():
    balance = Balance(balance=Money(-5), blocked=None, updated_at=None)

    told = read(write(document(opening=None, closing=None, balance=balance)))["balance"]

    assert (told["opening"], told["closing"], told["updated_at"]) == (None, None, "")
    assert told["blocked"] is None
    assert told["balance"] == "-0.05"


def test_times_are_utc_to_the_second():
    at = datetime(2026, 11, 20, 9, 0, 0, 999999, tzinfo=timezone(timedelta(hours=-3)))

    told = read(write(document(entry(created_at=at))))

    assert told["data"][0]["created_at"] == "2026-11-20T12:00:00Z"


def test_texts_are_unchanged():
    wrong = [
        text
        for text in ["=1+1", 'a"b\\', "one\ntwo", "\x00", "漢😀"]
        if read(write(document(entry(description=text))))["data"][0]["description"] != text
    ]

    assert wrong == []


def test_an_unencodable_character_in_json_is_replaced():
    assert read(write(document(entry(description="\ud800"))))["data"][0]["description"] == "\ufffd"


def test_every_movement_kind_is_in_the_json_report():
    for kind in MovementKind:
        told = document(entry(is_pix=False, kind=kind, direction=Direction.DEBIT))

        assert read(write(told))["data"][0]["kind"] == kind.value
