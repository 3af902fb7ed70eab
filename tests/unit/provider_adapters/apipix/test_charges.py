"""Charges by txid, by derived txid, and with a due date."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from gateway.banks.port.charges import ChargeOrder, ChargeStatus, ChargeType, Payer
from gateway.banks.port.providers import IN_USE, BadReply, NotFound, Refused
from gateway.core.account import Environment
from gateway.core.money import Money
from provider_adapters.apipix import charges, documents
from provider_adapters.kit import brcode
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.kit.references import charge_key
from provider_adapters.testing.apipix import standard
from provider_adapters.testing.stages import BbStage
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


def paid(**more: object) -> dict[str, object]:
    at = "2026-11-22T13:00:00Z"
    told = {"endToEndId": "E12345678202611221300abcdef12345", "valor": "10.50", "horario": at}
    return {**told, **more}


PAID_AT: Final = datetime(2026, 11, 22, 13, tzinfo=UTC)


def both(**more: object) -> tuple[ChargeStatus, datetime | None]:
    """Read one document as the QR code's state, and as when the transaction was paid."""
    document = written(**more)
    _, payment = charges._state(document, lambda: None)
    transaction = charges._payment(document, "pedido/1", payment)
    return shown(**more).status, transaction.paid_at


def shown(**more: object) -> charges.Charge:
    return charges._charge(written(**more), "pedido/1", "", lambda: None)


def test_the_payload_is_read_from_every_field_banks_use():
    """The standard's, Sicoob's, and an older one of Banco do Brasil."""
    names = ("pixCopiaECola", "brcode", "textoImagemQRcode")

    assert [written(**{name: "000201"}).emv for name in names] == ["000201"] * 3
    assert written(pixCopiaECola=None, brcode="").emv == ""


def test_an_active_charge_without_a_payload_is_refused():
    """It could not be paid; an ended one needs none."""
    with pytest.raises(ValueError, match="wrong_shape"):
        charges._payable(shown())

    assert charges._payable(shown(status="CONCLUIDA")).emv == ""


@cases("odd", [None, 5, "x", [], {"id": [7]}, {"id": {}, "location": 5}])
def test_an_odd_location_does_not_invalidate_a_charge_with_a_payload(odd: object):
    charge = written(loc=odd, location="qr.example.com/pix/v2/1", pixCopiaECola="000201")

    assert (charge.emv, charge.place.location) == ("000201", "qr.example.com/pix/v2/1")


ODD: Final = [
    None,
    5,
    "x",
    {},
    [],
    [None],
    [{"endToEndId": 5}],
    [paid(valor="x")],
    [paid(valor="0.00")],
]


@cases("odd", ODD)
def test_an_odd_payment_does_not_invalidate_the_charge(odd: object):
    assert both(pix=odd) == (ChargeStatus.ACTIVE, None)


@cases("told", ["ATIVA", "NOVA", "REMOVIDA_PELO_PSP", "REMOVIDA_PELO_USUARIO_RECEBEDOR"])
def test_a_sufficient_payment_makes_a_charge_paid_in_any_state(told: str):
    """Some banks update the state late; the QR code and the transaction agree."""
    sufficing = [paid(), paid(valor="10.51"), paid(txid=TXID, chave="key")]
    for each in sufficing:
        assert both(status=told, pix=[None, each]) == (ChargeStatus.PAID, PAID_AT)


@cases("told", ["ATIVA", "REMOVIDA_PELO_PSP"])
def test_an_insufficient_payment_does_not_make_a_charge_paid(told: str):
    """A smaller one, one to another key, or one with another txid, which the payer can choose."""
    unpaid = {"ATIVA": ChargeStatus.ACTIVE}.get(told, ChargeStatus.CANCELED)
    for each in (paid(valor="10.49"), paid(chave="other"), paid(txid="other")):
        assert both(status=told, pix=[each]) == (unpaid, None)


def test_a_charge_the_bank_reports_as_paid_is_paid_by_any_shown_payment():
    """With a discount it is less than the charge."""
    told = [paid(valor="0.01", horario="2026-11-22T14:00:00Z"), paid()]

    assert both(status="CONCLUIDA", pix=[paid(valor="9.00", chave="+5511")]) == (
        ChargeStatus.PAID,
        PAID_AT,
    )
    assert both(status="CONCLUIDA", pix=told) == (ChargeStatus.PAID, PAID_AT)


def test_a_charge_paid_twice_keeps_its_first_payment():
    """Since a paid charge takes no other payment (API Pix 2.9.0)."""
    first, second = paid(), paid(horario="2026-11-22T13:00:01Z")

    assert both(pix=[second, first]) == (ChargeStatus.PAID, PAID_AT)


@pytest.mark.parametrize("is_listed", [True, False])
async def test_a_paid_charge_without_a_shown_payment_is_not_reported_as_pending(
    monkeypatch: pytest.MonkeyPatch, *, is_listed: bool
):
    """Its payment is searched for in the list; without one only the state is known."""

    def without_payments(told: Mapping[str, object], _: int) -> Mapping[str, object]:
        return {**told, "status": "CONCLUIDA", "pix": []}

    async with answering(monkeypatch, without_payments) as bank:
        reference = await bank.stage.put(bank.account, Charge(value=Money(1050)))
        other = await bank.stage.put(bank.account, Charge(value=Money(1050)))
        paying = reference if is_listed else other
        e2e_id = await bank.stage.put(bank.account, ChargePaid(reference=paying))

        assert (await bank.adapter.get_charge(bank.account, reference)).status is ChargeStatus.PAID
        if is_listed:
            found = await bank.adapter.get_charge_payment(bank.account, reference)
            assert (found.e2e_id, found.value) == (e2e_id, Money(1050))
        else:
            with pytest.raises(BadReply):
                await bank.adapter.get_charge_payment(bank.account, reference)


SAQUE: Final = {"original": "0.00", "retirada": {"saque": {"valor": "5.00"}}}
TROCO: Final = {"original": "10.00", "retirada": {"troco": {"valor": "5.00"}}}


@cases(
    ("value", "asks", "least"),
    [
        (SAQUE, 500, "5.00"),
        (TROCO, 1500, "15.00"),
        ({"original": "0.00"}, 0, "0.01"),
        ({"original": "10.00", "modalidadeAlteracao": 1}, 1000, "0.01"),
        (
            {**SAQUE, "retirada": {"saque": {"valor": "5.00", "modalidadeAlteracao": 1}}},
            500,
            "0.01",
        ),
        (
            {**TROCO, "retirada": {"troco": {"valor": "0.00", "modalidadeAlteracao": 1}}},
            1000,
            "10.00",
        ),
    ],
)
def test_a_charge_amount_includes_purchase_and_cash(value: object, asks: int, least: str):
    """Pix Saque and Pix Troco; an amount the payer may change is no minimum."""
    assert shown(valor=value).value == Money(asks)
    assert both(valor=value, pix=[paid(valor=least)]) == (ChargeStatus.PAID, PAID_AT)
    if least != "0.01":
        less = str(Money(int(least.replace(".", "")) - 1))
        assert both(valor=value, pix=[paid(valor=less)]) == (ChargeStatus.ACTIVE, None)


PLACE: Final = "qr.example.com/pix/v2/9d36b84fc70b478fb95c12729b90ca25"


@cases(
    "told",
    [
        {"location": PLACE},
        {"location": f"https://{PLACE}"},
        {"location": f" {PLACE}\n"},
        {"loc": {"id": 7, "location": PLACE}},
        {"loc": {"location": PLACE}},
    ],
)
def test_a_payload_is_built_from_the_location(told: dict[str, object]):
    made = brcode.decode(charges._made_of_location(written(**told), "Loja São João"))

    assert (made.url, made.name, made.point_of_initiation) == (PLACE, "Loja Sao Joao", "12")


def test_a_built_payload_has_the_receiver_the_bank_names():
    receiver = {"nome": "Loja", "cidade": "Recife", "cep": "50000-000"}

    made = brcode.decode(
        charges._made_of_location(written(location=PLACE, recebedor=receiver), "Holder")
    )

    assert (made.name, made.city, made.postal_code) == ("Loja", "Recife", "50000000")


@cases("place", ["", " ", "a b", "x" * 78, "qr.exämple.com"])
def test_no_payload_is_built_from_an_invalid_location(place: str):
    assert charges._made_of_location(written(location=place), "Loja") == ""


def test_a_debtor_without_values_is_no_payer():
    debtors: list[object] = [None, {}, {"cpf": None, "cnpj": None, "nome": None}]

    assert [shown(devedor=each).payer for each in debtors] == [None, None, None]


async def test_a_reference_that_is_no_txid_gets_a_derived_txid(efi: Standing):
    made = await efi.adapter.create_charge(efi.account, order(efi))
    found = await efi.adapter.get_charge(efi.account, "pedido/1")

    derived = charge_key(Environment.SANDBOX, efi.account.account_id, "pedido/1")
    assert ("PUT", f"/v2/cob/{derived}") in await efi.calls()
    assert made.reference == found.reference == "pedido/1"
    assert found.receiver.name == "Loja 1"
    assert found.city == "Sao Paulo"


async def test_a_reference_that_is_a_txid_is_used_unchanged(efi: Standing):
    await efi.adapter.create_charge(efi.account, order(efi, TXID))

    found = await efi.adapter.get_charge(efi.account, TXID)

    assert ("PUT", f"/v2/cob/{TXID}") in await efi.calls()
    assert found.value == Money(1050)


async def test_a_charge_is_looked_up_with_both_txids_and_both_kinds(efi: Standing):
    with pytest.raises(NotFound):
        await efi.adapter.get_charge(efi.account, TXID)

    derived = charge_key(Environment.SANDBOX, efi.account.account_id, TXID)
    asked = [path for _, path in await efi.calls()]
    both = [TXID, derived]
    assert asked == [f"/v2/{kind}/{txid}" for kind in ("cob", "cobv") for txid in both]


async def test_charges_with_a_due_date_are_not_looked_up_when_not_offered():
    async with standing(due_charges=False) as efi:
        with pytest.raises(NotFound):
            await efi.adapter.get_charge(efi.account, "pedido/1")

        assert [path for _, path in await efi.calls() if "cobv" in path] == []


async def test_a_charge_is_created_once_and_never_changed(efi: Standing):
    """A second PUT would change the charge at the bank."""
    await efi.adapter.create_charge(efi.account, order(efi))

    with pytest.raises(Refused) as refused:
        await efi.adapter.create_charge(efi.account, order(efi, value=Money(1)))

    assert refused.value.reason == IN_USE
    assert [method for method, _ in await efi.calls()].count("PUT") == 1


Answers = Callable[[Mapping[str, object], int], Mapping[str, object]]
"""Changes what the bank says of a charge; the number counts its answers from 0."""


@contextlib.asynccontextmanager
async def answering(monkeypatch: pytest.MonkeyPatch, answers: Answers) -> AsyncIterator[Standing]:
    """Open a bank whose charges are written in another way."""
    write, counted = standard._charge, itertools.count()
    with monkeypatch.context() as patched:
        patched.setattr(standard, "_charge", lambda *of: answers(write(*of), next(counted)))
        async with standing(BbStage) as bank:
            yield bank


def without_payload(document: Mapping[str, object], **more: object) -> Mapping[str, object]:
    return {name: told for name, told in document.items() if name != "pixCopiaECola"} | more


ABSENT: Final[Mapping[str, Answers]] = {
    "a location alone": lambda told, _: without_payload(told, location=PLACE),
    "no payload at first": lambda told, number: told if number else without_payload(told),
    "nothing to read at first": lambda told, number: told if number else {"txid": told["txid"]},
    "another charge at first": lambda told, number: told if number else {**told, "txid": "x" * 26},
}


@pytest.mark.parametrize("answers", ABSENT.values(), ids=ABSENT.keys())
async def test_a_created_charge_has_a_payload_in_any_answer_format(
    monkeypatch: pytest.MonkeyPatch, answers: Answers
):
    async with answering(monkeypatch, answers) as bank:
        account = dataclasses.replace(bank.account, holder="Loja 1")

        made = await bank.adapter.create_charge(account, order(bank))
        found = await bank.adapter.get_charge(account, "pedido/1")

        assert brcode.receiver(made.emv).name == "Loja 1"
        assert made == found
        assert [method for method, _ in await bank.calls()].count("PUT") == 1


async def test_a_created_charge_without_a_payload_is_not_reported_as_failed(
    monkeypatch: pytest.MonkeyPatch,
):
    """Without any payload it is returned as it is; when read later, it is an error."""
    async with answering(monkeypatch, lambda told, _: without_payload(told)) as bank:
        made = await bank.adapter.create_charge(bank.account, order(bank))

        assert (made.status, made.value, made.emv) == (ChargeStatus.ACTIVE, Money(1050), "")
        with pytest.raises(BadReply):
            await bank.adapter.get_charge(bank.account, "pedido/1")


async def test_an_unreadable_created_charge_is_a_bad_reply(monkeypatch: pytest.MonkeyPatch):
    async with answering(monkeypatch, lambda told, _: {"txid": told["txid"]}) as bank:
        with pytest.raises(BadReply):
            await bank.adapter.create_charge(bank.account, order(bank))


async def test_a_charge_has_the_ordered_payer(efi: Standing):
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
async def test_an_order_unfit_for_an_immediate_charge_is_not_sent(
    efi: Standing, wrong: dict[str, object]
):
    with pytest.raises(NeverSendable):
        await efi.adapter.create_charge(efi.account, order(efi, **wrong))

    assert await efi.calls() == []


@cases(
    ("due", "days", "refused"),
    [
        # API Pix 2.9.0, "validadeAposVencimento", examples A to G
        ("2020-10-20", 4, "2020-10-27"),
        ("2020-12-25", 0, "2020-12-29"),
        ("2020-12-25", 1, "2020-12-30"),
        ("2020-12-25", 3, "2021-01-01"),
        ("2020-12-25", 4, "2021-01-05"),
        ("2021-08-27", 5, "2021-09-02"),
        ("2021-08-28", 5, "2021-09-07"),
        ("2026-11-28", 0, "2026-12-01"),
        ("2026-11-28T00:00:00-03:00", 0, "2026-12-01"),
        ("2026-02-14", 0, "2026-02-19"),  # Carnival; banks work on Ash Wednesday
        ("2026-11-20", 0, "2026-11-24"),
        ("2023-11-20", 0, "2023-11-21"),  # no national holiday yet
    ],
)
def test_a_charge_with_a_due_date_expires_after_its_last_day_in_sao_paulo(
    due: str, days: int, refused: str
):
    """Both days move to working days."""
    calendar = {"criacao": "2020-08-01T12:00:00Z", "dataDeVencimento": due}

    ends = shown(calendario={**calendar, "validadeAposVencimento": days}).expires_at

    assert ends == datetime.fromisoformat(f"{refused}T03:00:00+00:00")


@cases(
    "calendar",
    [
        {"dataDeVencimento": "9999-12-31", "validadeAposVencimento": 0},
        {"dataDeVencimento": "2026-11-10", "validadeAposVencimento": 10**9},
        {"expiracao": 10**15},
        {"expiracao": str(10**30)},
    ],
)
def test_a_charge_that_expires_beyond_the_calendar_has_no_expiry(calendar: dict[str, object]):
    assert shown(calendario={"criacao": "2026-11-22T12:00:00Z", **calendar}).expires_at is None


def test_a_charge_with_a_due_date_is_payable_for_thirty_more_days():
    calendar = {"criacao": "2026-11-01T12:00:00Z", "dataDeVencimento": "2026-11-10"}

    assert shown(calendario=calendar).expires_at == datetime(2026, 12, 11, 3, tzinfo=UTC)


@cases("seconds", [3600, "3600"])
def test_an_immediate_charge_expires_seconds_after_its_creation(seconds: object):
    calendar = {"criacao": "2026-11-22T12:00:00Z", "expiracao": seconds}

    made = shown(calendario=calendar)

    assert made.created_at is not None
    assert made.expires_at == made.created_at + timedelta(hours=1)


def test_the_receiver_of_a_charge_with_a_due_date_is_read():
    receiver = {"nome": "Loja", "cnpj": "11222333000181", "cidade": "Recife", "cep": "50000000"}

    made = shown(recebedor=receiver)

    assert (made.receiver.tax_number, made.city, made.zip_code) == (
        "11222333000181",
        "Recife",
        "50000000",
    )


def test_an_unknown_state_is_active_and_counted():
    counted: list[bool] = []

    made = charges._charge(written(status="NOVA"), "1", "", lambda: counted.append(True))

    assert (made.status, counted) == (ChargeStatus.ACTIVE, [True])
