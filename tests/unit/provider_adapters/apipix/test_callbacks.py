"""Callbacks of API Pix: proven by a certificate or a secret step, several in one body."""

from __future__ import annotations

import json
import ssl
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import ANY

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from multidict import CIMultiDict

from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    CallbackOrder,
    CallbackSecrets,
    Delivery,
    NamedBy,
    ProofRefused,
)
from gateway.banks.port.providers import BadReply, NotFound, ProviderAccount
from gateway.core.account import Environment
from provider_adapters.apipix.adapter import ApiPixAdapter
from provider_adapters.apipix.callbacks import ApiPixProof, notices_of, step_of
from provider_adapters.apipix.factory import ApiPixFactory
from provider_adapters.apipix.profiles import PROFILES, Name, SecretAddress
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.proofs import PeerCertificate
from tests.unit.provider_adapters.apipix.conftest import Standing
from tests.world.banks.authority import Authority
from tests.world.banks.witness import Witness
from tests.world.tables import cases

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


@cases(
    ("said", "kind", "subject"),
    [
        (PAID, CallbackKind.CHARGE, "fc9a43k6ff384ryP5f41719"),
        (SENT, CallbackKind.PAYOUT, "123ABC"),
        (GIVEN_BACK, CallbackKind.REFUND, "123ABC"),
        ({**PAID, "txid": None}, CallbackKind.OTHER, ""),
    ],
)
def test_each_kind_of_callback_is_recognized(said: object, kind: CallbackKind, subject: str):
    [notice] = notices_of(body(said), lists_keys=True)

    assert (notice.kind, notice.subject) == (kind, subject)


def test_the_account_is_identified_by_a_random_key_or_by_its_charge():
    [by_key] = notices_of(body(PAID), lists_keys=True)
    [by_charge] = notices_of(body({**PAID, "chave": "52998224725"}), lists_keys=True)

    assert (by_key.named_by, by_key.account) == (NamedBy.KEY, KEY)
    assert (by_charge.named_by, by_charge.account) == (NamedBy.CHARGE, PAID["txid"])


@cases("said", [PAID, GIVEN_BACK, {**PAID, "chave": "52998224725"}])
def test_without_key_lists_the_account_is_identified_by_its_charge(said: object):
    """A key that its bank does not list cannot identify an account."""
    [notice] = notices_of(body(said), lists_keys=False)

    assert (notice.named_by, notice.account) == (NamedBy.CHARGE, PAID["txid"])


def test_several_payments_are_several_notices():
    notices = notices_of(body(PAID, SENT, GIVEN_BACK), lists_keys=True)

    assert [each.kind for each in notices] == ["charge", "payout", "refund"]
    assert [json.loads(each.part) for each in notices] == [PAID, SENT, GIVEN_BACK]
    assert len({each.event for each in notices}) == 3


def test_a_part_that_cannot_be_read_does_not_drop_the_others():
    odd_refund = {"id": "9", "status": "DEVOLVIDO", "valor": None}
    parts = [PAID, 5, {**PAID, "endToEndId": None}, {**PAID, "devolucoes": None}]

    notices = notices_of(body(*parts, {**GIVEN_BACK, "devolucoes": [odd_refund]}), lists_keys=True)

    assert [each.kind for each in notices] == ["charge", "charge", "charge", "refund"]
    assert [each.event for each in notices[:3]] == [f"{PAID['endToEndId']}:received", "", ANY]
    assert notices[-1].subject == "9"


@cases("damage", [b"\\ud83d", b"(5\n%)", b"Jos\xe9", b"Jos\xc3", b"\x00"])
def test_a_damaged_payer_text_hides_no_notice(damage: bytes):
    typed = {**PAID, "txid": "odd", "infoPagador": "@", "pagador": {"nome": "@"}}
    content = body(typed, SENT, {**PAID, "devolucoes": [5, *GIVEN_BACK["devolucoes"]]})

    notices = notices_of(content.replace(b"@", damage), lists_keys=True)

    assert [each.subject for each in notices] == ["odd", "123ABC", "123ABC"]


def test_the_readable_part_of_a_truncated_body_is_looked_up():
    """A body without a subject is stored as a callback about nothing."""
    [first, second] = notices_of(body(PAID, SENT)[:-4], lists_keys=True)
    [kept] = notices_of(b"<html>", lists_keys=True)

    assert (first.subject, second.subject) == (PAID["txid"], "123ABC")
    assert (kept.kind, kept.subject, kept.event) == (CallbackKind.OTHER, "", "")


def test_a_payment_outside_a_list_is_not_taken_for_a_test_call():
    """A test call is acknowledged, and would never be sent again."""
    [alone] = notices_of(json.dumps({"pix": PAID}).encode(), lists_keys=True)

    assert alone.kind is CallbackKind.CHARGE
    with pytest.raises(BadReply):
        notices_of(b'{"pix": {}}', lists_keys=True)


def test_a_callback_without_a_readable_part_is_to_be_sent_again():
    with pytest.raises(BadReply):
        notices_of(body(5, {}), lists_keys=True)


def test_a_repeated_callback_is_one_event_and_a_new_state_another():
    [first] = notices_of(body(SENT), lists_keys=True)
    [again] = notices_of(body({**SENT, "horario": "2021-03-04T20:40:00.000Z"}), lists_keys=True)
    [failed] = notices_of(body({**SENT, "status": "NAO_REALIZADO"}), lists_keys=True)

    assert first.event == again.event != failed.event


@cases("content", [b"{}", b"", b"[]", b'{"evento":"teste_webhook"}', b'{"pix":1}', b'{"pix":null}'])
def test_a_test_call_of_the_address_gives_no_notices(content: bytes):
    assert notices_of(content, lists_keys=True) == ()


@cases("name", Name)
async def test_a_path_segment_derived_from_the_secret_proves_a_callback(name: Name):
    """Banks of the standard append ``/pix``; Efí is asked not to."""
    address = PROFILES[name].secret_address
    below = "" if name is Name.EFI else "/pix"
    proof = ApiPixProof(None, [b"now", b"before"], address, lists_keys=True)

    assert proof.rests == {step_of(b"now") + below, step_of(b"before") + below}
    assert await proof.check(came(step_of(b"now") + below))
    assert await proof.check(came(step_of(b"before") + below))
    for wrong in (step_of(b"other") + below, "pix", step_of(b"now") + below + "/pix", below, ""):
        assert await proof.check(came(wrong)) is None
        assert wrong not in proof.rests


async def test_a_client_certificate_proves_a_callback(tmp_path: Path):
    bank, stranger = Authority(tmp_path, "bank"), Authority(tmp_path, "stranger")
    peer = PeerCertificate(bank.file.read_text(), lambda: datetime.now(UTC))
    proof = ApiPixProof(peer, [], SecretAddress(), lists_keys=True)

    assert proof.rests == {"", "pix"}
    assert await proof.check(came("pix", der(bank)))
    assert await proof.check(came("pix", der(stranger))) is None
    assert await proof.check(came("pix")) is None


def der(authority: Authority) -> bytes:
    return ssl.PEM_cert_to_DER_cert(authority.pair("webhook").certificate)


def test_without_a_certificate_or_secret_callbacks_cannot_be_proven():
    with pytest.raises(ProofRefused):
        ApiPixProof(None, [], SecretAddress(), lists_keys=True)


async def test_an_address_is_registered_for_every_key_without_the_secret(efi: Standing):
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


async def test_a_removed_address_is_no_longer_listed(efi: Standing):
    order = CallbackOrder(url="http://127.0.0.1:1/callbacks/efi/token", secret=b"shared")
    made = await efi.adapter.register_callback(efi.account, order)

    await efi.adapter.remove_callback(efi.account, made.id)

    assert await efi.adapter.list_callbacks(efi.account) == ()
    with pytest.raises(NotFound):
        await efi.adapter.remove_callback(efi.account, made.id)
    with pytest.raises(NotFound):
        await efi.adapter.remove_callback(efi.account, "00000000-0000-4000-8000-000000000000")


@pytest.mark.parametrize("name", [name for name in Name if name is not Name.EFI])
async def test_a_bank_of_the_standard_calls_the_registered_address_and_is_accepted(
    name: Name, tmp_path: Path
):
    """Registered, read back, and called."""
    bank = StandardBank()
    async with TestServer(bank.application()) as served:
        adapter = adapter_at(name, f"http://127.0.0.1:{served.port}")
        await adapter.start()
        account = account_at(name, tmp_path)
        order = CallbackOrder(url="http://127.0.0.1:1/callbacks/bank/token", secret=b"shared")
        made = await adapter.register_callback(account, order)
        listed = await adapter.list_callbacks(account)
        await adapter.close()

    assert bank.url == f"{order.url}/{step_of(b'shared')}"
    assert "x-skip-mtls-checking" not in bank.headers
    assert [made] == list(listed)
    assert made.url == order.url
    sent = came(f"{bank.url}/pix".removeprefix(f"{order.url}/"))
    proof = adapter.callback_proof(CallbackSecrets(current=b"shared"))
    assert sent.rest in proof.rests
    assert await proof.check(sent)


class StandardBank:
    def __init__(self) -> None:
        self.url = ""
        self.headers: dict[str, str] = {}

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self.answer)
        return application

    async def answer(self, request: web.Request) -> web.Response:
        if request.method == "POST":
            return web.json_response({"access_token": "t", "expires_in": 300})
        assert request.path.endswith(f"/webhook/{KEY}")
        if request.method == "PUT":
            self.url = (await request.json())["webhookUrl"]
            self.headers = {name.lower(): text for name, text in request.headers.items()}
            return web.json_response({})
        return web.json_response({"webhookUrl": self.url, "chave": KEY, "criacao": "2026-01-01"})


def adapter_at(name: Name, url: str) -> ApiPixAdapter:
    context = AdapterContext(name="bank", environment=Environment.SANDBOX, observer=Witness())
    return ApiPixFactory()({"profile": name.value, "base_url": url, "token_url": url}, context)


def account_at(name: Name, tmp_path: Path) -> ProviderAccount:
    pair = Authority(tmp_path).pair("account")
    texts = {"client_id": "c", "client_secret": "s", "app_key": "a", "account": "1"}
    known = {**texts, "certificate": pair.certificate, "key": pair.key, "pix_key": KEY}
    kind = PROFILES[name].secrets
    told = {field: known[field] for field in kind.__struct_fields__}
    secrets = msgspec.convert(told, kind)
    return ProviderAccount(
        account_id="00000000-0000-4000-8000-000000000001", provider_account="1", secrets=secrets
    )
