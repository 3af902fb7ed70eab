"""Transactions as payments received."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.banks.port.charges import Charge, ChargeStatus, ChargeType, Party, Payer
from gateway.banks.port.providers import BadReply, NotFound
from gateway.core.money import Money
from provider_adapters.kit import paging
from provider_adapters.woovi import received
from tests.world.banks.woovi import PAID_IN, answer
from tests.world.tables import cases

PAYMENT = {
    "value": 1050,
    "time": "2026-11-22T10:30:00.000Z",
    "endToEndId": PAID_IN,
    "type": "PAYMENT",
    "status": "CONFIRMED",
    "infoPagador": "obrigado",
    "globalID": "UGl4VHJhbnNhY3Rpb246MQ==",
    "payer": {"name": "Ana", "taxID": {"taxID": "31324227036", "type": "BR:CPF"}},
    "charge": {"correlationID": "pedido/1"},
}
CHARGE = Charge(
    reference="pedido/1",
    type=ChargeType.DYNAMIC,
    key="",
    value=Money(1000),
    status=ChargeStatus.PAID,
    emv="",
    reusable=False,
    payer=Payer(name="Ana"),
    receiver=Party(),
    city="",
    zip_code="",
    created_at=datetime(2026, 11, 22, tzinfo=UTC),
    expires_at=None,
)


def page(*items: object, **info: object):
    return answer(
        {"transactions": list(items), "pageInfo": {"skip": 0, "hasNextPage": False, **info}}
    )


def one(document: object):
    said = answer({"transaction": document})
    return received.received_payment(said)


def test_a_received_payment_has_its_charge_and_payer():
    found = received.incoming(one(PAYMENT), Money(50))

    assert (found.reference, found.e2e_id, found.value) == ("pedido/1", PAID_IN, Money(1050))
    assert found.payer == Payer(name="Ana", tax_number="31324227036", message="obrigado")
    assert found.refunded == Money(50)


def test_swapped_type_and_status_are_recognized():
    """Type and status have changed places in the official document, as its example shows."""
    swapped = {**PAYMENT, "type": "CONFIRMED", "status": "PAYMENT"}

    assert received.kind_of(one(swapped)) == "PAYMENT"


@cases("kind", ["WITHDRAW", "REFUND", "FEE"])
def test_a_transaction_that_is_not_incoming_is_not_found(kind):
    with pytest.raises(NotFound):
        one({**PAYMENT, "type": kind})


def test_an_unknown_transaction_type_is_counted():
    said = answer({"transaction": {**PAYMENT, "type": "CASHBACK"}})

    with pytest.raises(NotFound):
        received.received_payment(said)

    assert said.unknown_words == 1


@cases("wrong", [{"endToEndId": "Efa8df7c"}, {"value": 0}, {"value": 49}])
def test_an_inconsistent_payment_is_a_bad_reply(wrong):
    with pytest.raises(BadReply):
        received.incoming(one({**PAYMENT, **wrong}), Money(50))


def test_a_page_longer_than_requested_is_cut_and_continued():
    found = received.received_payments(page(PAYMENT, PAYMENT, PAYMENT), None, 2)

    assert (len(found.items), paging.number_of(found.next_cursor)) == (2, 2)


def test_a_list_ends_by_the_bank_s_has_next_page():
    assert received.received_payments(page(PAYMENT), None, 2).next_cursor is None
    goes_on = received.received_payments(page(PAYMENT, hasNextPage=True), None, 2)
    assert paging.number_of(goes_on.next_cursor) == 1


def test_a_received_list_that_ignores_skip_is_a_bad_reply():
    with pytest.raises(BadReply):
        received.received_payments(page(PAYMENT, hasNextPage=True), "1", 2)


def test_the_first_sufficient_payment_of_a_charge_is_used():
    later = {**PAYMENT, "time": "2026-11-22T11:00:00.000Z", "value": 1100}
    refund = {**PAYMENT, "time": "2026-11-22T09:00:00.000Z", "type": "REFUND"}

    found = received.charge_payment(page(later, PAYMENT, refund), CHARGE)

    assert (found.value, found.e2e_id) == (Money(1050), PAID_IN)
    assert found.paid_at == datetime(2026, 11, 22, 10, 30, tzinfo=UTC)


def test_an_end_to_end_id_of_the_test_environment_is_left_out():
    strange = {**PAYMENT, "endToEndId": "Eac490bf76a684b21a2e458d56f888091"}

    assert received.charge_payment(page(strange), CHARGE).e2e_id == ""


def test_a_later_smaller_payment_does_not_replace_the_sufficient_one():
    later = {**PAYMENT, "time": "2026-11-22T11:00:00.000Z", "value": 1}

    found = received.charge_payment(page(PAYMENT, later), CHARGE)
    alone = received.charge_payment(page(later), CHARGE)

    assert (found.value, alone.value) == (Money(1050), Money(1))


def test_a_paid_charge_without_its_payment_is_a_bad_reply():
    with pytest.raises(BadReply):
        received.charge_payment(page({**PAYMENT, "type": "REFUND"}), CHARGE)


FEE = {"value": 85, "time": "2026-11-22T10:30:00.000Z", "type": "FEE"}
SENT = {**FEE, "type": "CONFIRMED", "status": "WITHDRAW", "value": -5000}


def test_other_transactions_are_not_counted_as_unreadable_rows():
    mixed, others = page(FEE, PAYMENT, SENT), page(FEE, SENT, hasNextPage=True)

    found = received.received_payments(mixed, None, 3)
    empty = received.received_payments(others, None, 2)

    assert ([each.value for each in found.items], mixed.rows_unreadable) == ([1050], 0)
    assert (list(empty.items), paging.number_of(empty.next_cursor)) == ([], 2)


def test_a_payment_of_an_unknown_type_is_listed_as_received():
    found = received.received_payments(page({**PAYMENT, "type": "PIX"}), None, 2)

    assert len(found.items) == 1


@cases(
    ("told", "number"),
    [
        ("52998224725", "52998224725"),
        ("529.982.247-25", "52998224725"),
        (7_498_224_725, "07498224725"),
        (11_222_333_000_181, "11222333000181"),
        ({"taxID": "52998224725", "type": "BR:CPF"}, "52998224725"),
        ({"taxID": {"taxID": "52998224725"}}, "52998224725"),
        ([{"taxID": "12ABC34501DE35", "type": "BR:CNPJ"}], "12ABC34501DE35"),
        ({"taxID": 7_498_224_725}, "07498224725"),
        ("***982247**", "***982247**"),
        *((odd, "") for odd in (None, "", {}, [], ["Object"], {"number": "1"}, True, 1.5)),
    ],
)
def test_a_tax_number_is_read_in_every_format(told: object, number: str):
    payer = received.incoming(
        one({**PAYMENT, "payer": {"name": "Ana", "taxID": told}}), Money(0)
    ).payer

    assert payer == Payer(name="Ana", tax_number=number, message="obrigado")


@cases("odd", [None, "Ana", 5, [], {}])
def test_a_payment_with_an_invalid_payer_is_still_read(odd: object):
    found = received.received_payments(page({**PAYMENT, "payer": odd}), None, 2)

    assert received.incoming(found.items[0], Money(0)).value == Money(1050)


def test_failed_refunds_are_not_added_up():
    said = {
        "refunds": [
            {"value": 10, "status": "IN_PROCESSING"},
            {"value": 40, "status": "CONFIRMED"},
            {"value": 100, "status": "REJECTED"},
        ]
    }

    assert received.charge_refunds(answer(said)) == Money(50)
