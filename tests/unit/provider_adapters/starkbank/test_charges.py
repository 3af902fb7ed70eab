"""Charges and what pays them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gateway.banks.port.charges import ChargeStatus, Payer
from gateway.banks.port.providers import BadReply
from gateway.core.money import Money
from provider_adapters.starkbank import charges, documents
from tests.unit.provider_adapters.starkbank.charges import BRCODE, DEPOSIT, E2E, EMV, INVOICE, TAGS
from tests.unit.provider_adapters.starkbank.making import answering
from tests.unit.provider_adapters.starkbank.translate import Drift
from tests.world.banks.witness import NOON
from tests.world.tables import cases


def invoice(**changes: object) -> documents.Invoice:
    (read,) = charges.invoices(answering({"invoices": [{**INVOICE, **changes}]}), "ref:1")
    return read


def deposit(**changes: object) -> documents.Deposit:
    (read,) = charges.deposits(answering({"deposits": [{**DEPOSIT, **changes}]}), None).items
    assert isinstance(read, documents.Deposit)
    return read


@cases(
    ("word", "status", "unknown"),
    [
        ("created", ChargeStatus.ACTIVE, 0),
        ("overdue", ChargeStatus.ACTIVE, 0),
        ("paid", ChargeStatus.PAID, 0),
        ("canceled", ChargeStatus.CANCELED, 0),
        ("melting", ChargeStatus.ACTIVE, 1),
    ],
)
def test_an_invoice_is_read_as_a_charge_with_its_payer(
    word: str, status: ChargeStatus, unknown: int
):
    drift = Drift()

    charge = charges.of_invoice(invoice(status=word), "A/1", NOON, drift)

    assert (charge.status, charge.value, drift.counted) == (status, Money(1000), unknown)
    assert charge.payer == Payer(name="Maria", tax_number="52998224725")
    assert charge.expires_at == datetime(2026, 11, 21, 12, 1, tzinfo=UTC)
    assert (charge.emv, charge.receiver.name, charge.key) == (EMV, "Stark Bank S.A.", "")


def test_an_expired_invoice_is_expired_by_our_clock_too():
    charge = charges.of_invoice(invoice(status="expired"), "A/1", NOON, Drift())

    assert charge.is_expired(NOON)


@cases("due", ["2026-11-21", None])
def test_a_due_day_ends_in_sao_paulo_time(due: str | None):
    charge = charges.of_invoice(invoice(due=due, expiration=0), "A/1", NOON, Drift())

    ends = None if due is None else datetime(2026, 11, 22, 2, 59, 59, 999999, tzinfo=UTC)
    assert charge.expires_at == ends


def test_a_malformed_due_date_is_refused():
    with pytest.raises(ValueError, match="isoformat"):
        charges.of_invoice(invoice(due="soon"), "A/1", NOON, Drift())


def test_a_br_code_has_no_payer_and_may_have_no_amount():
    (code,) = charges.brcodes(answering({"brcodes": [BRCODE]}), "ref:1")

    charge = charges.of_brcode(code, "A/1", paid=False)

    assert (charge.value, charge.payer, charge.status) == (None, None, ChargeStatus.ACTIVE)
    assert charge.expires_at == NOON + timedelta(hours=1)
    paid = charges.paid_brcode(charge, deposit())
    assert (paid.value, paid.e2e_id, paid.payer) == (Money(10005), E2E, None)
    assert paid.paid_at == NOON + timedelta(seconds=5)


def test_charges_without_the_searched_tag_are_left_out():
    assert charges.invoices(answering({"invoices": [INVOICE]}), "ref:2") == []
    assert charges.brcodes(answering({"brcodes": [BRCODE]}), "ref:2") == []


def test_an_unreadable_payload_is_returned_unchanged():
    charge = charges.of_invoice(invoice(brcode="0002"), "A/1", NOON, Drift())

    assert (charge.emv, charge.receiver.name) == ("0002", "")


def test_a_created_charge_must_be_exactly_one():
    assert charges.created_invoice(answering({"invoices": [INVOICE]})).id == INVOICE["id"]
    for made in ([], [INVOICE, INVOICE]):
        with pytest.raises(BadReply):
            charges.created_invoice(answering({"invoices": made}))


@cases(
    ("tags", "e2e"),
    [
        (TAGS, E2E),
        ([], ""),
        (["e123"], ""),
        ([E2E.lower(), "e20018183202408281923xg35f29fxua"], ""),
        ([E2E.lower().replace("e", "d", 1)], ""),
    ],
)
def test_an_end_to_end_id_is_restored_from_a_lower_case_tag(tags: list[str], e2e: str):
    assert charges.e2e_of(tags) == e2e


@cases(
    ("tags", "reference"),
    [
        (["ref:1", "reference:412f31"], "A/1"),
        (["reference:zz"], ""),
        (["reference:00"], ""),
        (["reference:ff"], ""),
        (["ref:1"], ""),
        (TAGS, "47544a724041488"),
        (["order-7"], ""),
        ([*TAGS, "another"], ""),
    ],
)
def test_a_reference_is_read_from_our_tag_or_the_only_other_one(tags: list[str], reference: str):
    """For charges created elsewhere, and for payments of a single charge."""
    assert charges.reference_of(tags) == reference


def test_a_foreign_invoice_has_its_only_tag_as_reference():
    assert charges.reference_of(["order-7"], of_invoice=True) == "order-7"
    assert charges.reference_of(["order-7", "shoes"], of_invoice=True) == ""


def test_a_received_payment_has_its_payer():
    paid = charges.received(deposit(), E2E)

    assert (paid.value, paid.refunded, paid.provider_id) == (
        Money(10005), Money(0), "5160583015956480",
    )  # fmt: skip
    assert paid.payer == Payer(name="Mock Ltd", tax_number="11222333000181")


@cases("change", [{"type": "ted"}, {"amount": 0}, {"tags": []}])
def test_a_deposit_without_proof_of_pix_is_left_out(change: dict[str, object]):
    assert charges.is_pix(deposit())
    assert not charges.is_pix(deposit(**change))


def test_an_invoice_is_paid_at_the_time_of_its_paid_log():
    logs = [
        {"id": "2", "type": "credited", "created": "2026-11-20T12:09:00+00:00", "invoice": INVOICE},
        {"id": "1", "type": "paid", "created": "2026-11-20T12:05:00+00:00", "invoice": INVOICE},
    ]

    assert charges.paid_at(answering({"logs": logs})) == NOON + timedelta(minutes=5)
    with pytest.raises(BadReply):
        charges.paid_at(answering({"logs": []}))


@cases(
    ("kind", "e2e", "shown"), [("paid", E2E, True), ("credited", E2E, False), ("paid", "", False)]
)
def test_a_paid_invoice_is_received_only_when_its_payment_is_pix(
    kind: str, e2e: str, *, shown: bool
):
    log = {"id": "1", "type": kind, "created": "2026-11-20T12:05:00+00:00", "invoice": INVOICE}
    (came,) = charges.paid_logs(answering({"logs": [log]}), None).items
    assert isinstance(came, documents.InvoiceLog)
    payment = charges.invoice_payment(
        answering({"payment": {"amount": 1000, "endToEndId": e2e, "name": "M"}})
    )

    received = charges.received_for_invoice(came, payment)

    assert (received is not None) is shown
    if received:
        assert (received.e2e_id, received.value) == (E2E, Money(1000))
