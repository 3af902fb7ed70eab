"""Payments received, and refunds of them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import Accepted, NotFound, Rejected, Unknown
from gateway.banks.port.refunds import RefundOrder, RefundStatus
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from gateway.core.windows import Window
from provider_adapters.apipix import documents, received
from provider_adapters.apipix.lists import limits_of
from provider_adapters.testing.verify.stage import Received
from provider_adapters.testing.verify.trial import new_provider_key
from tests.unit.provider_adapters.apipix.conftest import Standing
from tests.unit.provider_adapters.apipix.lists import today


def far() -> Deadline:
    """A deadline that does not pass."""
    return Deadline(60.0, lambda: 0.0)


async def paid(efi: Standing, centavos: int = 1050) -> str:
    return await efi.stage.put(efi.account, Received(value=Money(centavos)))


def order(e2e_id: str, centavos: int = 1050, key: str = "", description: str = "") -> RefundOrder:
    return RefundOrder(
        provider_key=key or new_provider_key(),
        reference="devolucao/1",
        payment_e2e_id=e2e_id,
        value=Money(centavos),
        description=description,
    )


async def test_a_payment_is_found_with_what_was_given_back(efi: Standing):
    e2e_id = await paid(efi)
    await efi.adapter.create_refund(efi.account, order(e2e_id, 400), far())

    found = await efi.adapter.find_received(efi.account, e2e_id)

    assert (found.value, found.refunded) == (Money(1050), Money(400))


async def test_an_absent_payment_is_not_found(efi: Standing):
    with pytest.raises(NotFound):
        await efi.adapter.find_received(efi.account, "E09089356202611220000000000ABCDE")


async def test_a_refund_is_ordered_by_put_to_our_key_and_found_by_it(efi: Standing):
    asked = order(await paid(efi))

    ordered = await efi.adapter.create_refund(efi.account, asked, far())
    await efi.stage.settle()
    found = await efi.adapter.find_refund(efi.account, asked.provider_key)

    path = f"/v2/pix/{asked.payment_e2e_id}/devolucao/{asked.provider_key}"
    assert ("PUT", path) in await efi.calls()
    assert isinstance(ordered, Accepted)
    assert (found.status, found.return_id) == (RefundStatus.PAID, ordered.e2e_id)
    listed = await efi.adapter.list_refunds(efi.account, today(), None, 10)
    assert [each.provider_key for each in listed.items] == [asked.provider_key]


async def test_a_refund_ordered_twice_is_given_once(efi: Standing):
    """The bank refuses an id that it knows; the refund is read back in the same call."""
    asked = order(await paid(efi))
    first = await efi.adapter.create_refund(efi.account, asked, far())

    again = await efi.adapter.create_refund(efi.account, asked, far())

    assert isinstance(first, Accepted)
    assert isinstance(again, Accepted)
    assert again.e2e_id == first.e2e_id
    assert await efi.stage.executions(asked.provider_key) == [Money(1050)]


async def test_a_key_of_another_amount_is_believed_by_nobody(efi: Standing):
    e2e_id = await paid(efi)
    first = order(e2e_id, 400)
    await efi.adapter.create_refund(efi.account, first, far())

    other = await efi.adapter.create_refund(
        efi.account, order(e2e_id, 300, first.provider_key), far()
    )

    assert isinstance(other, Unknown)
    assert other.evidence.reason == "amount_mismatch"


async def test_more_than_the_payment_is_refused_and_nothing_is_there(efi: Standing):
    asked = order(await paid(efi), 2000)

    refused = await efi.adapter.create_refund(efi.account, asked, far())

    assert isinstance(refused, Rejected)
    assert refused.failure is FailureCode.OTHER
    assert await efi.stage.executions(asked.provider_key) == []


async def test_a_refused_refund_that_cannot_be_read_is_unknown(efi: Standing):
    """The bank refuses a key that it knows, too: then the refund may have been given."""
    asked = order(await paid(efi), 2000)
    fault = {"operation": "refund_read", "fault": "status", "status": 503, "count": None}
    await efi.stage.control.post("faults", body=fault)

    refused = await efi.adapter.create_refund(efi.account, asked, far())

    assert isinstance(refused, Unknown)


async def test_a_refund_that_nobody_ordered_is_not_found(efi: Standing):
    await paid(efi)

    with pytest.raises(NotFound):
        await efi.adapter.find_refund(efi.account, new_provider_key())


async def test_a_description_that_is_too_long_is_not_sent(efi: Standing):
    asked = order(await paid(efi), description="x" * 141)

    refused = await efi.adapter.create_refund(efi.account, asked, far())

    assert isinstance(refused, Rejected)
    assert not refused.evidence.bytes_left


def written(**more: object) -> documents.Pix:
    return documents.Pix(
        **{  # type: ignore[arg-type]
            "e2e": "E12345678202009091221abcdef12345",
            "valor": "10.50",
            "horario": datetime(2026, 11, 22, tzinfo=UTC),
            **more,
        }
    )


def given_back(value: str, status: str = "DEVOLVIDO") -> documents.Devolucao:
    return documents.Devolucao(id="1", valor=value, status=status)


def test_more_given_back_than_was_paid_is_no_payment():
    with pytest.raises(ValueError, match=r".*"):
        received._payment(written(devolucoes=[given_back("10.51")]))


def test_a_refund_that_failed_gives_nothing_back():
    found = received._payment(written(devolucoes=[given_back("10.50", "NAO_REALIZADO")]))

    assert found.refunded == Money(0)


def test_an_end_to_end_id_that_is_none_is_left_out_of_a_movement():
    assert received._entry(written(e2e="Efa8df7c628cf43d2af")).e2e_id == ""


def refunded(*refunds: dict[str, object]) -> documents.Pix:
    """Read a payment with refunds as they come."""
    said = {
        "endToEndId": "E12345678202009091221abcdef12345",
        "valor": "10.50",
        "horario": "2026-11-22T00:00:00Z",
        "devolucoes": [
            {"id": "1", "valor": "0.50", "status": "DEVOLVIDO"} | each for each in refunds
        ],
    }
    return documents.PIX.decode(json.dumps(said))


NO_MINUTE = {"rtrId": "D12345678202613991299abcdef12345"}
RETURN = {"rtrId": "D12345678202611221215abcdef12345"}
SETTLED = {"horario": {"liquidacao": "2026-11-22T12:20:00Z"}}


def test_a_refund_without_a_time_is_given_back_all_the_same():
    """It takes its payment neither out of a list nor out of a statement."""
    pix = refunded({}, {"id": "2"} | SETTLED)

    assert received._payment(pix).refunded == Money(100)
    assert received._entry(pix).value == Money(1050)


def test_a_refund_stands_where_any_of_its_times_says_and_without_one_is_counted():
    day, odd = limits_of(Window(date(2026, 11, 22), date(2026, 11, 22))), list[bool]()
    pix = refunded({}, NO_MINUTE, {"id": "2"} | SETTLED, {"id": "3"} | RETURN)

    def left_out() -> None:
        odd.append(True)

    debits = list(received._debits(day, left_out, pix))
    listed = list(received._refunds(pix, lambda: None, left_out))

    minutes = [("2", 20), ("3", 15)]
    assert [(each.provider_key, each.created_at.minute) for each in debits] == minutes
    assert [(each.provider_key, each.created_at.minute) for each in listed] == minutes
    assert odd == [True] * 4
