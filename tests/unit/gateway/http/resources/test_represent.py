"""Domain values into documents."""

from __future__ import annotations

import dataclasses
from datetime import timedelta, timezone
from typing import Any

import msgspec
import pytest

from gateway.banks.port.charges import (
    Charge,
    ChargePayment,
    ChargeStatus,
    ChargeType,
    Party,
    Payer,
)
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.statements import Balance, Direction, Entry, Statement
from gateway.core.account import BankCoordinates
from gateway.core.calls import Caller
from gateway.core.money import Money
from gateway.core.windows import Paging
from gateway.http.rendering import dumps
from gateway.http.resources import represent
from gateway.payouts.create import PayoutPage
from gateway.payouts.model import Failure, Payout, PayoutState
from gateway.pix_keys.model import OwnedKey
from tests.world.people import ACCOUNT, account, principal
from tests.world.standing import NOON
from tests.world.stores import samples

AT = BankCoordinates(bank_number="999", ispb="99999999", branch="0001", account="1234567-8")
CALLER = Caller(principal(), dataclasses.replace(account(), coordinates=AT))
ORIGIN = {
    "bank_number": "999",
    "ispb": "99999999",
    "branch": "0001",
    "account": "1234567-8",
    "name": "Padaria São João Ltda",
    "tax_number": "11222333000181",
}
CHARGE = Charge(
    reference="order-1",
    type=ChargeType.DYNAMIC,
    key="loja@example.com",
    value=Money(1050),
    status=ChargeStatus.ACTIVE,
    emv="000201",
    reusable=False,
    payer=Payer(name="Maria", tax_number="52998224725", message="thanks"),
    receiver=Party(name="Loja", tax_number="11222333000181"),
    city="Sao Paulo",
    zip_code="",
    created_at=NOON,
    expires_at=None,
)
PAYMENT = ChargePayment(
    reference="order-1",
    value=Money(1050),
    created_at=NOON,
    paid_at=NOON + timedelta(minutes=1),
    e2e_id="E1",
    payer=Payer(name="Maria"),
)
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


def shown(document: Any) -> Any:
    """Write a document and read it as a partner does."""
    return msgspec.json.decode(dumps(document))


@pytest.mark.parametrize("blocked", [Money(0), None])
def test_a_balance(blocked: Money | None):
    """Contract 2.3, which has no word for an amount that the bank does not tell."""
    found = Balance(balance=Money(100), blocked=blocked, updated_at=NOON)

    document = dumps(represent.balance(found, CALLER))

    assert document == b'{"balance":1.00,"blocked":0.00,"updated_at":"2026-11-20T12:00:00Z"}'


def test_keys():
    """Contract 2.8: under the id they can be asked for."""
    key = PixKey(
        provider_id="CH1",
        key="loja@example.com",
        type=PixKeyType.EMAIL,
        status=PixKeyStatus.PENDING,
        created_at=None,
    )

    document = shown(represent.pix_keys([OwnedKey("an-id", key)], CALLER))

    assert document == {
        "data": [
            {
                "id": "an-id",
                "key": "loja@example.com",
                "type": "email",
                "status": "pending",
                "created_at": "",
            }
        ],
        "meta": {"total": 1},
    }


def test_a_charge():
    """Contract 2.4."""
    assert shown(represent.charge(CHARGE, CALLER)) == {
        "id": "",
        "name": "",
        "description": "",
        "reference": "order-1",
        "type": "Dynamic",
        "key": "loja@example.com",
        "payer": {"name": "Maria", "tax_number": "52998224725", "message": "thanks"},
        "receiver": {"name": "Loja", "tax_number": "11222333000181"},
        "location": {"city": "Sao Paulo", "zip_code": ""},
        "qrcode": {"hash": "000201"},
        "reusable": False,
        "expires_at": "",
        "value": 10.5,
        "status": "Active",
        "created_at": "2026-11-20 12:00",
    }


def test_an_anonymous_charge_of_an_open_amount():
    charge = dataclasses.replace(CHARGE, payer=None, value=None, expires_at=NOON)

    document = represent.charge(charge, CALLER)

    assert "payer" not in document
    assert b'"value":0.00' in dumps(document)
    assert document["expires_at"] == "2026-11-20 12:00"


@pytest.mark.parametrize("status", list(ChargeStatus))
def test_a_charge_shows_its_status(status: ChargeStatus):
    charge = dataclasses.replace(CHARGE, status=status)

    assert represent.charge(charge, CALLER)["status"] in {"Active", "Paid", "Canceled"}


def test_a_paid_transaction():
    """Contract 2.5."""
    assert shown(represent.transaction(PAYMENT, CALLER)) == {
        "reference": "order-1",
        "status": "paid",
        "value": 10.5,
        "created_at": "2026-11-20T12:00:00Z",
        "paid_at": "2026-11-20T12:01:00Z",
        "e2e_id": "E1",
        "payer": {"name": "Maria", "tax_number": "", "message": ""},
    }


def test_a_pending_one():
    pending = dataclasses.replace(PAYMENT, paid_at=None, e2e_id="", payer=None)

    document = represent.transaction(pending, CALLER)

    assert (document["status"], document["paid_at"], "payer" in document) == ("pending", "", False)


def test_a_statement():
    """Contract 2.7."""
    found = Statement(
        entries=(ENTRY,),
        paging=Paging(2, 10),
        total=11,
        balance=Balance(balance=Money(1), blocked=Money(2), updated_at=NOON),
    )

    document = shown(represent.statement(found, CALLER))

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
    """No reader of JSON may round it; a tag that is not known is not there."""
    found = Statement(
        entries=(msgspec.structs.replace(ENTRY, provider_id=provider_id),),
        paging=Paging(1, 1),
        total=1,
        balance=Balance(balance=Money(1), blocked=Money(2), updated_at=NOON),
    )

    (entry,) = represent.statement(found, CALLER)["data"]

    assert (entry["document_number"], entry["tags"]) == (number, tags)


def test_a_movement_s_time_is_shown_in_utc_to_the_second():
    """Contract 2.1; whatever zone it was told in."""
    at = NOON.astimezone(timezone(timedelta(hours=-3))).replace(microsecond=999_999)
    found = Statement(
        entries=(msgspec.structs.replace(ENTRY, created_at=at),),
        paging=Paging(1, 1),
        total=1,
        balance=Balance(balance=Money(1), blocked=Money(2), updated_at=NOON),
    )

    (entry,) = shown(represent.statement(found, CALLER))["data"]

    assert entry["created_at"] == "2026-11-20T12:00:00Z"


def test_money_going_out_is_a_debit():
    found = Statement(
        entries=(msgspec.structs.replace(ENTRY, direction=Direction.DEBIT),),
        paging=Paging(1, 1),
        total=1,
        balance=Balance(balance=Money(1), blocked=Money(2), updated_at=NOON),
    )

    (entry,) = represent.statement(found, CALLER)["data"]

    assert (entry["operation"], entry["type"]) == ("Pix Out", "debit")


def payout(**changed: object) -> Payout:
    """A payout as it is stored."""
    return dataclasses.replace(samples.payout("order-1"), **changed)  # type: ignore[arg-type]


VISIBLE = {
    PayoutState.SENDING: "processing",
    PayoutState.UNKNOWN: "processing",
    PayoutState.NOT_SENT: "processing",
    PayoutState.ACCEPTED: "processing",
    PayoutState.PAID: "paid",
    PayoutState.REJECTED: "failed",
    PayoutState.FAILED: "failed",
}


@pytest.mark.parametrize("state", list(PayoutState))
def test_a_state_is_shown_as_one_of_three(state: PayoutState):
    """What is not final is processing; only a failed one has a failure."""
    document = represent.payout(payout(state=state), CALLER)

    assert document["status"] == VISIBLE[state]
    assert ("failure" in document) is (VISIBLE[state] == "failed")


@pytest.mark.parametrize("code", list(FailureCode))
def test_a_failure_is_told_in_our_words(code: FailureCode):
    document = represent.payout(payout(state=PayoutState.FAILED, failure=Failure(code)), CALLER)

    assert document["failure"]["code"] == code.value
    assert document["failure"]["message"]


def test_a_failure_nobody_named_is_another_one():
    document = represent.payout(payout(state=PayoutState.FAILED, failure=None), CALLER)

    assert document["failure"]["code"] == "OTHER"


@pytest.mark.parametrize("state", list(PayoutState))
def test_a_creation_is_always_processing(state: PayoutState):
    """Contract part 3: acceptance, not settlement; on a replay too."""
    settled = payout(state=state, settled_at=NOON, failure=Failure(FailureCode.OTHER))

    document = represent.payout_created(settled, CALLER)

    assert (document["status"], document["settled_at"]) == ("processing", "")
    assert "failure" not in document


def test_a_payout_shows_both_ends():
    """The origin from our record, the destination as it was spelt and without what was not sent."""
    sent = {"name": "", "tax_number": "529.982.247-25", "key_type": "email", "key": "A@b.c"}

    document = shown(represent.payout(payout(destination_sent=sent, e2e_id="E1"), CALLER))

    assert document["origin"] == ORIGIN
    assert document["destination"] == {
        "tax_number": "529.982.247-25", "key_type": "email", "key": "A@b.c",
    }  # fmt: skip
    assert list(document) == [
        "reference", "method", "status", "value", "date", "description", "e2e_id", "created_at",
        "updated_at", "settled_at", "origin", "destination",
    ]  # fmt: skip


def test_a_page_of_payouts():
    page = PayoutPage(payouts=[payout(), payout()], paging=Paging(1, 2), total=9)

    document = represent.payouts(page, CALLER)

    assert len(document["data"]) == 2
    assert document["meta"] == {"page": 1, "limit": 2, "total": 9}
    assert CALLER.account.id == ACCOUNT


def test_nothing_is_shown_of_what_never_comes():
    with pytest.raises(NotImplementedError):
        represent.nothing(None, CALLER)  # type: ignore[arg-type]
