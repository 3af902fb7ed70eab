"""Charges and payments received: which reads, and in which order."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from gateway.banks.port.charges import ChargeOrder, ChargeStatus, ChargeType, Payer
from gateway.banks.port.providers import CHARGE_PAID, IN_USE, NotFound, NotSupported, Refused
from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.core.windows import Window
from provider_adapters.kit.references import charge_key
from tests.unit.provider_adapters.starkbank.charges import BRCODE, DEPOSIT, E2E, INVOICE, UUID
from tests.unit.provider_adapters.starkbank.making import ACCOUNT, answering, made, refusing
from tests.world.banks.witness import NOON
from tests.world.tables import cases

REFERENCE = "Order/7"
OURS = "ref:" + charge_key(Environment.SANDBOX, ACCOUNT.account_id, REFERENCE)
THEIRS = "order/7"
DAY = Window(date(2026, 11, 20), date(2026, 11, 20))
ORDER = ChargeOrder(
    reference=REFERENCE, type=ChargeType.DYNAMIC, key="k", value=Money(1000), expires_in=3600
)
NO_INVOICE, NO_BRCODE = answering({"invoices": []}), answering({"brcodes": []})
NO_DEPOSIT = answering({"deposits": []})
ABSENT = (NO_INVOICE, NO_BRCODE, NO_INVOICE, NO_BRCODE)
PAYER = Payer(name="Maria", tax_number="52998224725")
PAYMENT = answering({"payment": {"amount": 1000, "endToEndId": E2E, "name": "M", "taxId": "1"}})


def invoices(tag: str = OURS, **changes: object) -> object:
    return answering({"invoices": [{**INVOICE, "tags": [tag], **changes}]})


def brcodes(tag: str = OURS) -> object:
    return answering({"brcodes": [{**BRCODE, "tags": [tag]}]})


async def test_a_charge_is_looked_up_by_our_tag_and_then_by_its_reference():
    adapter, script = made(*ABSENT)

    with pytest.raises(NotFound):
        await adapter.get_charge(ACCOUNT, REFERENCE)

    asked = [request.path.partition("?tags=")[2].partition("&")[0] for request in script.heard]
    assert [text.replace("%3A", ":").replace("%2F", "/") for text in asked] == [
        OURS, OURS, THEIRS, THEIRS,
    ]  # fmt: skip


@cases("reference", ["a,b", "x" * 101])
async def test_a_reference_unfit_for_a_tag_is_not_searched_for(reference: str):
    adapter, script = made(*ABSENT)

    with pytest.raises(NotFound):
        await adapter.get_charge(ACCOUNT, reference)
    assert len(script.heard) == 2


async def test_a_paid_invoice_is_read_with_its_payment():
    log = {"id": "1", "type": "paid", "created": "2026-11-20T12:05:00+00:00", "invoice": INVOICE}
    adapter, script = made(invoices(status="paid"), PAYMENT, answering({"logs": [log]}))

    paid = await adapter.get_charge_payment(ACCOUNT, REFERENCE)

    assert (paid.reference, paid.e2e_id, paid.value) == (REFERENCE, E2E, Money(1000))
    assert paid.paid_at == NOON + timedelta(minutes=5)
    assert script.paths[1:] == [
        "GET /v2/invoice/5941925571985408/payment",
        "GET /v2/invoice/log?types=paid&invoiceIds=5941925571985408",
    ]


async def test_a_br_code_is_paid_when_a_deposit_has_its_tag():
    paid = answering({"deposits": [DEPOSIT]})
    adapter, script = made(
        NO_INVOICE, brcodes(), NO_DEPOSIT, NO_INVOICE, brcodes(), paid, NO_INVOICE, brcodes(), paid
    )

    assert (await adapter.get_charge(ACCOUNT, REFERENCE)).status is ChargeStatus.ACTIVE
    assert (await adapter.get_charge(ACCOUNT, REFERENCE)).status is ChargeStatus.PAID
    assert (await adapter.get_charge_payment(ACCOUNT, REFERENCE)).e2e_id == E2E
    assert script.paths[2] == f"GET /v2/deposit?tags=dynamic-brcode%2F{UUID}&limit=2"


async def test_a_reference_shared_by_several_invoices_is_not_found():
    several = answering({"invoices": [{**INVOICE, "tags": [THEIRS]}] * 2})
    adapter, _ = made(NO_INVOICE, NO_BRCODE, several, NO_INVOICE, NO_BRCODE, invoices(THEIRS))

    with pytest.raises(NotFound):
        await adapter.get_charge(ACCOUNT, REFERENCE)
    assert (await adapter.get_charge(ACCOUNT, REFERENCE)).reference == REFERENCE


async def test_a_charge_with_a_payer_is_an_invoice_and_without_one_a_br_code():
    absent = (NO_INVOICE, NO_BRCODE)
    adapter, script = made(*absent, brcodes(), *absent, invoices())

    anonymous = await adapter.create_charge(ACCOUNT, ORDER)
    named = await adapter.create_charge(ACCOUNT, replace(ORDER, payer=PAYER))

    assert (anonymous.payer, anonymous.reference) == (None, REFERENCE)
    assert named.payer == PAYER
    assert (script.paths[2], script.paths[5]) == ("POST /v2/dynamic-brcode", "POST /v2/invoice")


async def test_a_charge_with_a_used_reference_is_refused_before_creation():
    adapter, script = made(invoices())

    with pytest.raises(Refused) as refused:
        await adapter.create_charge(ACCOUNT, ORDER)

    assert refused.value.reason == IN_USE
    assert len(script.heard) == 1


@cases("change", [{"type": ChargeType.STATIC}, {"reusable": True}])
async def test_an_unsupported_charge_is_refused_without_a_bank_call(change: dict[str, object]):
    adapter, script = made()

    with pytest.raises(NotSupported):
        await adapter.create_charge(ACCOUNT, replace(ORDER, **change))
    assert script.heard == []


async def test_cancelling_an_invoice_twice_succeeds():
    """Whatever the bank answers to the second request."""
    gone = answering({"invoice": {**INVOICE, "status": "canceled", "tags": [OURS]}})
    known = invoices(status="canceled")
    adapter, script = made(invoices(), gone, known, gone, known, refusing("invalidAction"))

    for _ in range(3):
        cancelled = await adapter.cancel_charge(ACCOUNT, REFERENCE)
        assert cancelled.status is ChargeStatus.CANCELED
    assert script.paths[1] == "PATCH /v2/invoice/5941925571985408"
    assert script.heard[1].body == b'{"status":"canceled"}'


async def test_a_refused_cancellation_is_reported():
    adapter, _ = made(invoices(), refusing("invalidAction"))

    with pytest.raises(Refused):
        await adapter.cancel_charge(ACCOUNT, REFERENCE)


async def test_paid_charges_and_br_codes_cannot_be_cancelled():
    adapter, script = made(invoices(status="paid"), NO_INVOICE, brcodes())

    with pytest.raises(Refused) as refused:
        await adapter.cancel_charge(ACCOUNT, REFERENCE)
    with pytest.raises(NotSupported):
        await adapter.cancel_charge(ACCOUNT, REFERENCE)

    assert refused.value.reason == CHARGE_PAID
    assert all(request.method == "GET" for request in script.heard)


def log(minute: int, kind: str = "paid") -> dict[str, object]:
    at = f"2026-11-20T12:{minute:02}:00+00:00"
    return {"id": str(minute), "type": kind, "created": at, "invoice": INVOICE}


async def test_deposits_and_paid_invoices_form_one_list_newest_first():
    deposits = [
        {**DEPOSIT, "created": "2026-11-21T00:00:00+00:00"},
        DEPOSIT,
        {**DEPOSIT, "type": "ted"},
    ]
    adapter, _ = made(
        answering({"deposits": deposits}), answering({"logs": [log(9), log(1)]}), PAYMENT, PAYMENT
    )

    page = await adapter.list_received(ACCOUNT, DAY, None, 100)

    assert [each.paid_at.minute for each in page.items] == [9, 1, 0]
    assert [each.e2e_id for each in page.items] == [E2E] * 3
    assert page.next_cursor is None


@cases("limit", [1, 2, 3])
async def test_a_merged_page_is_no_longer_than_requested(limit: int):
    """Both lists are that long; the rest comes with the next page."""
    adapter, script = made(
        answering({"deposits": [DEPOSIT] * limit}), answering({"logs": [log(1)] * limit}),
        *[PAYMENT] * limit,
    )  # fmt: skip

    page = await adapter.list_received(ACCOUNT, DAY, None, limit)

    assert len(page.items) == limit
    assert page.next_cursor
    assert f"limit={limit}" in script.paths[0]


async def test_a_deposit_is_found_by_its_lower_case_tag():
    upper = E2E[:-1] + "Z"
    adapter, script = made(answering({"deposits": [DEPOSIT]}))

    found = await adapter.find_received(ACCOUNT, upper)

    assert found.e2e_id == upper
    assert script.paths == [f"GET /v2/deposit?tags={upper.lower()}&limit=2"]


async def test_an_invoice_payment_is_found_near_its_minute():
    """Only invoices paid around that minute are queried."""
    e2e = "E20018183202611201204xg35f29fxuz"
    logs = answering({"logs": [log(59), log(4), log(1)], "cursor": None})
    mine = answering({"payment": {"amount": 1000, "endToEndId": e2e}})
    adapter, script = made(NO_DEPOSIT, logs, PAYMENT, mine)

    assert (await adapter.find_received(ACCOUNT, e2e)).e2e_id == e2e
    assert len(script.heard) == 4


@cases("e2e", ["E20018183202613201204xg35f29fxuz", E2E])
async def test_an_unknown_payment_is_not_found(e2e: str):
    adapter, _ = made(NO_DEPOSIT, answering({"logs": []}))

    with pytest.raises(NotFound):
        await adapter.find_received(ACCOUNT, e2e)
