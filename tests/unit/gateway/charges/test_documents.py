"""Charges into documents."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from gateway.banks.port.charges import ChargePayment, Party, Payer
from gateway.charges import documents
from gateway.core.money import Money
from gateway.http.rendering import dumps
from tests.unit.partner_documents import CALLER, shown
from tests.world.charges import charge
from tests.world.standing import NOON

CHARGE = charge(
    key="loja@example.com",
    payer=Payer(name="Maria", tax_number="52998224725", message="thanks"),
    receiver=Party(name="Loja", tax_number="11222333000181"),
    city="Sao Paulo",
    created_at=NOON,
)


PAYMENT = ChargePayment(
    reference="order-1",
    value=Money(1050),
    created_at=NOON,
    paid_at=NOON + timedelta(minutes=1),
    e2e_id="E1",
    payer=Payer(name="Maria"),
)


def test_a_charge_document_has_the_contract_s_fields():
    """Contract 2.4."""
    assert shown(documents.charge(CHARGE, CALLER)) == {
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


def test_an_anonymous_charge_without_an_amount_shows_zero_and_no_payer():
    anonymous = dataclasses.replace(CHARGE, payer=None, value=None, expires_at=NOON)

    document = documents.charge(anonymous, CALLER)

    assert "payer" not in shown(document)
    assert b'"value":0.00' in dumps(document)
    assert document.expires_at == "2026-11-20 12:00"


def test_a_paid_transaction_document_has_the_contract_s_fields():
    """Contract 2.5."""
    assert shown(documents.transaction(PAYMENT, CALLER)) == {
        "reference": "order-1",
        "status": "paid",
        "value": 10.5,
        "created_at": "2026-11-20T12:00:00Z",
        "paid_at": "2026-11-20T12:01:00Z",
        "e2e_id": "E1",
        "payer": {"name": "Maria", "tax_number": "", "message": ""},
    }


def test_a_pending_transaction_document_has_no_payment():
    pending = dataclasses.replace(PAYMENT, paid_at=None, e2e_id="", payer=None)

    document = documents.transaction(pending, CALLER)

    assert (document["status"], document["paid_at"], "payer" in document) == ("pending", "", False)
