"""Charges, composed of several answers of the bank."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.banks.port.charges import ChargeStatus, Payer
from gateway.banks.port.providers import BadReply, NotFound
from gateway.core.money import Money
from provider_adapters.asaas import charges, documents
from tests.world.banks.asaas import E2E, Counted, answer
from tests.world.tables import cases

ROW = {
    "id": "pay_1",
    "customer": "cus_1",
    "value": 10.5,
    "status": "PENDING",
    "externalReference": "r/1",
    "dateCreated": "2026-11-22",
}
PAYLOAD = (
    "00020101021226730014br.gov.bcb.pix2551pix-h.asaas.com/pixqrcode/cobv/pay_76575613967995145204"
    "000053039865802BR5905ASAAS6009Joinville61088922827162070503***63045E7A"
)
"""As asaasdev/asaas-api-sdk-java publishes one."""
MARIA = Payer(name="Maria Silva", tax_number="52998224725")


def row(**changes: object) -> documents.Payment:
    return charges.made_charge(answer(ROW | changes))


def listed(*each: dict[str, object]) -> object:
    return answer({"data": list(each)})


def test_a_search_result_is_compared_with_our_reference():
    """Rows of other references were seen in answers to such searches."""
    found = charges.charge_row(
        listed(ROW | {"id": "other", "externalReference": "r/10"}, ROW),  # type: ignore[arg-type]
        "r/1",
    )

    assert found.id == "pay_1"


@cases("rows", [[], [ROW | {"externalReference": None}]])
def test_a_search_without_our_reference_is_not_found(rows: list[dict[str, object]]):
    with pytest.raises(NotFound):
        charges.charge_row(listed(*rows), "r/1")  # type: ignore[arg-type]


def test_the_newest_charge_not_removed_is_used():
    """The bank accepts a reference several times."""
    rows = [
        ROW | {"id": "older", "dateCreated": "2026-11-20"},
        ROW | {"id": "meant", "dateCreated": "2026-11-21"},
        ROW | {"id": "removed", "deleted": True},
    ]

    assert charges.charge_row(listed(*rows), "r/1").id == "meant"  # type: ignore[arg-type]
    assert charges.charge_row(listed(rows[2]), "r/1").id == "removed"  # type: ignore[arg-type]


def test_a_removed_charge_is_canceled_and_an_unknown_state_active():
    unknown = Counted()

    assert charges.charge_status(row(deleted=True), unknown) is ChargeStatus.CANCELED
    assert charges.charge_status(row(status="NOVO"), unknown) is ChargeStatus.ACTIVE
    assert unknown.times == 1


@cases(
    ("told", "paid"),
    [
        ({"status": "PENDING"}, False),
        ({"status": "PENDING", "pixTransaction": "pix_1"}, True),
        ({"status": "PENDING", "paymentDate": "2026-11-22"}, True),
        ({"status": "NOVO", "paymentDate": "2026-11-22", "deleted": True}, True),
        ({"status": "RECEIVED", "paymentDate": "2026-11-22", "deleted": True}, True),
        ({"status": "PENDING", "deleted": True}, False),
        ({"status": "CONFIRMED", "confirmedDate": "2026-11-22"}, True),
        ({"status": "RECEIVED_IN_CASH", "clientPaymentDate": "2026-11-22"}, True),
    ],
)
def test_the_status_and_the_payment_of_a_charge_agree(told: dict[str, object], paid: bool):
    document = row(**told)
    pix = transaction() if "pixTransaction" in told else None

    status = charges.charge_status(document, Counted())
    payment = charges.charge_payment(document, pix, MARIA)

    assert (status is ChargeStatus.PAID, payment.paid_at is not None) == (paid, paid)


def test_a_paid_charge_without_a_time_is_a_bad_reply():
    with pytest.raises(ValueError, match="wrong_shape"):
        charges.charge_payment(row(status="RECEIVED"), None, MARIA)


def test_a_charge_reads_its_receiver_from_the_qr_code():
    code = documents.QrCode(payload=PAYLOAD, expiration_date="2027-11-22 23:59:59")

    charge = charges.charge(row(), ChargeStatus.ACTIVE, code, MARIA)

    assert (charge.reference, charge.value, charge.emv) == ("r/1", Money(1050), PAYLOAD)
    assert (charge.receiver.name, charge.city, charge.zip_code) == (
        "ASAAS",
        "Joinville",
        "89228271",
    )
    assert charge.expires_at == datetime(2027, 11, 23, 2, 59, 59, tzinfo=UTC)
    assert charge.created_at == datetime(2026, 11, 22, 3, tzinfo=UTC)
    assert charge.payer == MARIA


def test_an_unreadable_payload_is_returned_unchanged():
    charge = charges.charge(row(), ChargeStatus.ACTIVE, documents.QrCode(payload="0002xx"), None)

    assert (charge.emv, charge.receiver.name, charge.expires_at) == ("0002xx", "", None)


def test_a_paid_charge_may_have_no_qr_code():
    charge = charges.charge(row(status="RECEIVED"), ChargeStatus.PAID, None, MARIA)

    assert (charge.emv, charge.city) == ("", "")


def transaction(**changes: object) -> documents.PixTransaction:
    document = {
        "id": "pix_1",
        "endToEndIdentifier": E2E,
        "value": 10.5,
        "effectiveDate": "2026-11-22 09:00:00",
        "status": "DONE",
        "type": "CREDIT",
        "externalAccount": {"name": "João", "cpfCnpj": "***.982.247-**"},
    }
    return charges.pix_transaction(answer(document | changes))


def test_a_paid_charge_has_time_id_and_payer_of_its_pix():
    paid = transaction()

    payment = charges.charge_payment(row(status="RECEIVED"), paid, charges.payer_of(paid))

    assert (payment.e2e_id, payment.value) == (E2E, Money(1050))
    assert payment.paid_at == datetime(2026, 11, 22, 12, tzinfo=UTC)
    assert payment.payer is not None
    assert payment.payer.name == "João"


def test_a_charge_paid_without_pix_has_the_day_and_no_id():
    payment = charges.charge_payment(
        row(status="RECEIVED_IN_CASH", paymentDate="2026-11-22"), None, MARIA
    )

    assert payment.paid_at == datetime(2026, 11, 22, 3, tzinfo=UTC)


def test_a_customer_is_found_by_the_exact_tax_number():
    rows = [
        {"id": "cus_0", "name": "A", "cpfCnpj": "11222333000181"},
        {"id": "cus_1", "name": "B", "cpfCnpj": MARIA.tax_number, "deleted": True},
        {"id": "cus_2", "name": "C", "cpfCnpj": MARIA.tax_number},
    ]

    assert charges.known_customer(listed(*rows), MARIA.tax_number) == "cus_2"  # type: ignore[arg-type]
    assert charges.known_customer(listed(), MARIA.tax_number) == ""  # type: ignore[arg-type]
    assert charges.customer_id(answer(rows[2])) == "cus_2"
    assert charges.customer(answer(rows[2])).name == "C"


@cases("document", [{}, {"payload": 1}, b"<html>"])
def test_a_missing_qr_code_is_a_bad_reply(document: object):
    with pytest.raises(BadReply):
        charges.qr_code(answer(document))
