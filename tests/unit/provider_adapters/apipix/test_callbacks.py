"""Callbacks of API Pix: proven by a certificate or a secret step, several in one body."""

from __future__ import annotations

import json
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
from multidict import CIMultiDict

from gateway.domain.bank.provider_callbacks import (
    CallbackKind,
    CallbackOrder,
    Delivery,
    NamedBy,
    ProofRefused,
)
from gateway.domain.bank.providers import NotFound
from provider_adapters.apipix.callbacks import ApiPixProof, notices_of, step_of
from provider_adapters.kit.proofs import PeerCertificate
from tests.unit.provider_adapters.apipix.conftest import Standing
from tests.unit.provider_adapters.authority import Authority

KEY = "2c3c7441-b91e-4982-8c25-6105581e18ae"
PAID = {
    "endToEndId": "E1803615022211340s08793XPJ",
    "txid": "fc9a43k6ff384ryP5f41719",
    "chave": KEY,
    "valor": "0.01",
    "horario": "2020-12-21T13:40:34.000Z",
}
SENT = {
    "endToEndId": "E090893562021030PIf25a7868",
    "chave": KEY,
    "tipo": "SOLICITACAO",
    "status": "REALIZADO",
    "valor": "0.01",
    "horario": "2021-03-04T20:39:47.000Z",
    "gnExtras": {"idEnvio": "123ABC"},
}
GIVEN_BACK = {
    **PAID,
    "devolucoes": [
        {
            "id": "123ABC",
            "rtrId": "D12345678202009091221abcdf098765",
            "valor": "0.01",
            "horario": {"solicitacao": "2020-09-09T20:15:00.358Z"},
            "status": "DEVOLVIDO",
        }
    ],
}
"""As Efí's page "Webhooks" shows them."""


def body(*said: object) -> bytes:
    return json.dumps({"pix": said}).encode()


def came(rest: str = "", certificate: bytes = b"", content: bytes | None = None) -> Delivery:
    return Delivery(
        headers=CIMultiDict(), body=content or body(PAID), rest=rest, certificate=certificate
    )


@pytest.mark.parametrize(
    ("said", "kind", "subject"),
    [
        (PAID, CallbackKind.CHARGE, "fc9a43k6ff384ryP5f41719"),
        (SENT, CallbackKind.PAYOUT, "123ABC"),
        (GIVEN_BACK, CallbackKind.REFUND, "123ABC"),
        ({**PAID, "txid": None}, CallbackKind.OTHER, ""),
    ],
)
def test_each_kind_is_told_apart(said: object, kind: CallbackKind, subject: str):
    [notice] = notices_of(body(said))

    assert (notice.kind, notice.subject) == (kind, subject)


def test_the_account_is_named_by_a_random_key_else_by_its_charge():
    [by_key] = notices_of(body(PAID))
    [by_charge] = notices_of(body({**PAID, "chave": "52998224725"}))

    assert (by_key.named_by, by_key.account) == (NamedBy.KEY, KEY)
    assert (by_charge.named_by, by_charge.account) == (NamedBy.CHARGE, PAID["txid"])


def test_several_payments_are_several_notices_each_with_its_part():
    notices = notices_of(body(PAID, SENT, GIVEN_BACK))

    assert [each.kind for each in notices] == ["charge", "payout", "refund"]
    assert [json.loads(each.part) for each in notices] == [PAID, SENT, GIVEN_BACK]
    assert len({each.event for each in notices}) == 3


def test_what_is_sent_twice_is_one_event_and_a_new_state_another():
    [first] = notices_of(body(SENT))
    [again] = notices_of(body({**SENT, "horario": "2021-03-04T20:40:00.000Z"}))
    [failed] = notices_of(body({**SENT, "status": "NAO_REALIZADO"}))

    assert first.event == again.event != failed.event


@pytest.mark.parametrize(
    "content", [b"{}", b"", b"[]", b'{"evento":"teste_webhook"}', b'{"pix":1}']
)
def test_a_test_of_the_address_says_nothing(content: bytes):
    assert notices_of(content) == ()


async def test_a_step_made_from_a_secret_proves_a_callback():
    proof = ApiPixProof(None, [b"now", b"before"])

    assert proof.rests == {step_of(b"now"), step_of(b"before")}
    assert await proof.check(came(step_of(b"now")))
    assert await proof.check(came(step_of(b"before")))
    assert await proof.check(came(step_of(b"other"))) is None
    assert await proof.check(came()) is None


async def test_a_certificate_proves_a_callback(tmp_path: Path):
    bank, stranger = Authority(tmp_path, "bank"), Authority(tmp_path, "stranger")
    peer = PeerCertificate(bank.file.read_text(), lambda: datetime.now(UTC))
    proof = ApiPixProof(peer, [])

    assert proof.rests == {"", "pix"}
    assert await proof.check(came("pix", der(bank)))
    assert await proof.check(came("pix", der(stranger))) is None
    assert await proof.check(came("pix")) is None


def der(authority: Authority) -> bytes:
    return ssl.PEM_cert_to_DER_cert(authority.pair("webhook").certificate)


def test_without_certificate_and_secret_nobody_is_believed():
    with pytest.raises(ProofRefused):
        ApiPixProof(None, [])


async def test_an_address_is_registered_for_every_key_with_a_step_and_no_secret(efi: Standing):
    await efi.adapter.create_key(efi.account, efi.stage.new_key())
    order = CallbackOrder(url="http://127.0.0.1:1/callbacks/efi/token", secret=b"shared")

    made = await efi.adapter.register_callback(efi.account, order)
    listed = await efi.adapter.list_callbacks(efi.account)

    assert made.url == order.url
    assert [each.url for each in listed] == [order.url] * 2
    said = (await efi.stage.control.get("calls", query={"limit": "1000"}))["data"]
    bodies = [json.loads(each["body"]) for each in said if each["method"] == "PUT"]
    assert bodies == [{"webhookUrl": f"{order.url}/{step_of(b'shared')}?ignorar="}] * 2
    assert made.id == listed[0].id


async def test_a_removed_address_is_gone(efi: Standing):
    order = CallbackOrder(url="http://127.0.0.1:1/callbacks/efi/token", secret=b"shared")
    made = await efi.adapter.register_callback(efi.account, order)

    await efi.adapter.remove_callback(efi.account, made.id)

    assert await efi.adapter.list_callbacks(efi.account) == ()
    with pytest.raises(NotFound):
        await efi.adapter.remove_callback(efi.account, made.id)
    with pytest.raises(NotFound):
        await efi.adapter.remove_callback(efi.account, "00000000-0000-4000-8000-000000000000")
