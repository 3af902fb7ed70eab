"""Payments received, and refunds of them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from gateway.banks.port.providers import Rejected, Unknown
from gateway.banks.port.refunds import RefundOrder
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from gateway.core.windows import Window
from provider_adapters.apipix import documents, received
from provider_adapters.apipix.lists import limits_of
from provider_adapters.testing.verify.stage import Received
from provider_adapters.testing.verify.trial import new_provider_key
from tests.unit.provider_adapters.apipix.conftest import Standing


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


async def test_a_payment_is_found_with_its_refunded_amount(efi: Standing):
    e2e_id = await paid(efi)
    await efi.adapter.create_refund(efi.account, order(e2e_id, 400), far())

    found = await efi.adapter.find_received(efi.account, e2e_id)

    assert (found.value, found.refunded) == (Money(1050), Money(400))


async def test_a_refused_refund_that_cannot_be_read_is_unknown(efi: Standing):
    """The bank also refuses a known key, whose refund may have been given."""
    asked = order(await paid(efi), 2000)
    fault = {"operation": "refund_read", "fault": "status", "status": 503, "count": None}
    await efi.stage.control.post("faults", body=fault)

    refused = await efi.adapter.create_refund(efi.account, asked, far())

    assert isinstance(refused, Unknown)


async def test_an_overlong_description_is_not_sent(efi: Standing):
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


def test_a_payment_refunded_beyond_its_value_is_refused():
    with pytest.raises(ValueError, match=r".*"):
        received._payment(written(devolucoes=[given_back("10.51")]))


def test_a_failed_refund_does_not_count_as_refunded():
    found = received._payment(written(devolucoes=[given_back("10.50", "NAO_REALIZADO")]))

    assert found.refunded == Money(0)


def test_a_malformed_end_to_end_id_is_left_out_of_a_movement():
    assert received._entry(written(e2e="Efa8df7c628cf43d2af")).e2e_id == ""


def refunded(*refunds: dict[str, object]) -> documents.Pix:
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


def test_a_refund_without_a_time_still_counts():
    """In lists and in statements."""
    pix = refunded({}, {"id": "2"} | SETTLED)

    assert received._payment(pix).refunded == Money(100)
    assert received._entry(pix).value == Money(1050)


def test_a_refund_uses_any_of_its_times_and_without_one_is_counted():
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
