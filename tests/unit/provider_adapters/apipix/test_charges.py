"""Charges by txid, by derived txid, and with a due date."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.charges import ChargeOrder, ChargeStatus, ChargeType, Payer
from gateway.domain.bank.provider_options import CHARGE_PAID, IN_USE
from gateway.domain.bank.providers import NotFound, Refused
from gateway.domain.kernel.money import Money
from provider_adapters.apipix import charges, documents
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.kit.references import charge_key
from provider_adapters.testing.verify.stage import Charge, ChargePaid
from tests.unit.provider_adapters.apipix.conftest import Standing, standing
from tests.world.tables import cases

TXID = "7978c0c97ea847e78e8849634473c1f1"
MARIA = Payer(name="Maria Silva", tax_number="52998224725")


def order(efi: Standing, reference: str = "pedido/1", **more: object) -> ChargeOrder:
    key = efi.stage.own_key(efi.account)
    asked = {"reference": reference, "type": ChargeType.DYNAMIC, "key": key, "value": Money(1050)}
    return ChargeOrder(**{**asked, **more})  # type: ignore[arg-type]


def written(**more: object) -> documents.Cobranca:
    document = {
        "txid": TXID,
        "status": "ATIVA",
        "calendario": {"criacao": "2026-11-22T12:00:00Z", "expiracao": 3600},
        "valor": {"original": "10.50"},
        "chave": "key",
    }
    return documents.COBRANCA.decode(json.dumps({**document, **more}).encode())


def shown(**more: object) -> charges.Charge:
    return charges._charge(written(**more), "pedido/1", "", lambda: None)


def test_the_payload_is_read_under_every_name_that_banks_give_it():
    """The standard's, Sicoob's, and an older one of Banco do Brasil."""
    names = ("pixCopiaECola", "brcode", "textoImagemQRcode")

    assert [written(**{name: "000201"}).emv for name in names] == ["000201"] * 3
    assert written(pixCopiaECola=None, brcode="").emv == ""


def test_a_live_charge_without_a_payload_is_no_charge():
    """Nobody could pay it; one that is over needs none."""
    with pytest.raises(ValueError, match="wrong_shape"):
        charges._payable(shown())

    assert charges._payable(shown(status="CONCLUIDA")).emv == ""


def test_what_paid_a_charge_does_not_spoil_the_charge():
    """A payment is read where it is asked for alone."""
    assert written(pix=[{"endToEndId": 5}]).txid == TXID
    with pytest.raises(msgspec.ValidationError):
        documents.COBRANCA_PAGA.decode(b'{"pix": [{"endToEndId": 5}]}')


def test_a_debtor_of_nulls_is_nobody():
    debtors: list[object] = [None, {}, {"cpf": None, "cnpj": None, "nome": None}]

    assert [shown(devedor=each).payer for each in debtors] == [None, None, None]


async def test_a_reference_that_fits_no_txid_gets_a_derived_one(efi: Standing):
    made = await efi.adapter.create_charge(efi.account, order(efi))
    found = await efi.adapter.get_charge(efi.account, "pedido/1")

    derived = charge_key(Environment.SANDBOX, efi.account.account_id, "pedido/1")
    assert ("PUT", f"/v2/cob/{derived}") in await efi.calls()
    assert made.reference == found.reference == "pedido/1"
    assert found.receiver.name == "Loja 1"
    assert found.city == "Sao Paulo"


async def test_a_reference_that_is_a_txid_is_taken_as_it_is(efi: Standing):
    await efi.adapter.create_charge(efi.account, order(efi, TXID))

    found = await efi.adapter.get_charge(efi.account, TXID)

    assert ("PUT", f"/v2/cob/{TXID}") in await efi.calls()
    assert found.value == Money(1050)


async def test_both_txids_are_tried_and_charges_with_a_due_date_too(efi: Standing):
    with pytest.raises(NotFound):
        await efi.adapter.get_charge(efi.account, TXID)

    derived = charge_key(Environment.SANDBOX, efi.account.account_id, TXID)
    asked = [path for _, path in await efi.calls()]
    both = [TXID, derived]
    assert asked == [f"/v2/{kind}/{txid}" for kind in ("cob", "cobv") for txid in both]


async def test_charges_with_a_due_date_are_left_out_where_there_are_none():
    async with standing(due_charges=False) as efi:
        with pytest.raises(NotFound):
            await efi.adapter.get_charge(efi.account, "pedido/1")

        assert [path for _, path in await efi.calls() if "cobv" in path] == []


async def test_a_charge_is_made_once_and_never_changed(efi: Standing):
    """The bank would change the charge that a second PUT names."""
    await efi.adapter.create_charge(efi.account, order(efi))

    with pytest.raises(Refused) as refused:
        await efi.adapter.create_charge(efi.account, order(efi, value=Money(1)))

    assert refused.value.reason == IN_USE
    assert [method for method, _ in await efi.calls()].count("PUT") == 1


async def test_a_charge_names_who_is_to_pay(efi: Standing):
    made = await efi.adapter.create_charge(efi.account, order(efi, payer=MARIA))

    assert made.payer == MARIA


@pytest.mark.parametrize(
    "wrong",
    [
        {"value": None},
        {"type": ChargeType.STATIC},
        {"reusable": True},
        {"payer": Payer(name="Maria")},
        {"payer": Payer(name="M" * 201, tax_number="52998224725")},
        {"description": "x" * 141},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
async def test_what_an_immediate_charge_cannot_be_is_not_sent(
    efi: Standing, wrong: dict[str, object]
):
    with pytest.raises(NeverSendable):
        await efi.adapter.create_charge(efi.account, order(efi, **wrong))

    assert await efi.calls() == []


async def test_a_charge_is_cancelled_and_stays_so(efi: Standing):
    await efi.adapter.create_charge(efi.account, order(efi))

    first = await efi.adapter.cancel_charge(efi.account, "pedido/1")
    again = await efi.adapter.cancel_charge(efi.account, "pedido/1")

    assert first.status is again.status is ChargeStatus.CANCELED


async def test_a_paid_charge_is_not_cancelled(efi: Standing):
    reference = await efi.stage.put(efi.account, Charge(value=Money(1050)))
    await efi.stage.put(efi.account, ChargePaid(reference=reference))

    with pytest.raises(Refused) as refused:
        await efi.adapter.cancel_charge(efi.account, reference)

    assert refused.value.reason == CHARGE_PAID


async def test_an_absent_charge_is_not_cancelled(efi: Standing):
    with pytest.raises(NotFound):
        await efi.adapter.cancel_charge(efi.account, "pedido/1")


async def test_a_payment_is_the_latest_of_its_charge(efi: Standing):
    reference = await efi.stage.put(efi.account, Charge(value=Money(1050)))
    e2e_id = await efi.stage.put(efi.account, ChargePaid(reference=reference))

    paid = await efi.adapter.get_charge_payment(efi.account, reference)

    assert (paid.e2e_id, paid.value) == (e2e_id, Money(1050))
    assert paid.paid_at is not None


def test_a_charge_with_a_due_date_ends_with_its_last_day_in_sao_paulo():
    calendar = {"criacao": "2026-11-01T12:00:00Z", "dataDeVencimento": "2026-11-10"}

    ends = shown(calendario={**calendar, "validadeAposVencimento": 5}).expires_at

    assert ends == datetime(2026, 11, 16, 3, tzinfo=UTC)


def test_a_charge_with_a_due_date_can_be_paid_for_thirty_days_more():
    calendar = {"criacao": "2026-11-01T12:00:00Z", "dataDeVencimento": "2026-11-10"}

    assert shown(calendario=calendar).expires_at == datetime(2026, 12, 11, 3, tzinfo=UTC)


@cases("seconds", [3600, "3600"])
def test_an_immediate_charge_ends_seconds_after_it_was_made(seconds: object):
    calendar = {"criacao": "2026-11-22T12:00:00Z", "expiracao": seconds}

    made = shown(calendario=calendar)

    assert made.created_at is not None
    assert made.expires_at == made.created_at + timedelta(hours=1)


def test_the_receiver_of_a_charge_with_a_due_date_is_told_by_the_bank():
    receiver = {"nome": "Loja", "cnpj": "11222333000181", "cidade": "Recife", "cep": "50000000"}

    made = shown(recebedor=receiver)

    assert (made.receiver.tax_number, made.city, made.zip_code) == (
        "11222333000181",
        "Recife",
        "50000000",
    )


def test_an_unknown_state_is_counted_and_not_paid():
    counted: list[bool] = []

    made = charges._charge(written(status="NOVA"), "1", "", lambda: counted.append(True))

    assert (made.status, counted) == (ChargeStatus.ACTIVE, [True])
