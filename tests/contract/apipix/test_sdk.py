"""Efí's own paths: its SDK and our adapter ask the same, of a bank that asks for certificates."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    Destination,
    PayoutMethod,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import Accepted, Settled
from gateway.core.money import Money, Sum
from provider_adapters.testing.verify.trial import far, new_provider_key
from tests.contract.apipix.conftest import Exchange, Watched
from tests.contract.apipix.document import URL
from tests.world.standing import around_today

NAME, TAX_ID, ITAU = "Maria Silva", "52998224725", "60701190"
TO_KEY = PixDestination(
    name=NAME, tax_number=TAX_ID, key_type=PixKeyType.EMAIL, key="maria@example.com"
)
TO_ACCOUNT = BankDestination(
    name=NAME, tax_number=TAX_ID, bank_number="341", branch="0001", account="123456-7",
    account_type=AccountType.CHECKING,
)  # fmt: skip
PLACES: dict[str, tuple[Destination, dict[str, object]]] = {
    "key": (TO_KEY, {"chave": "maria@example.com", "cpf": TAX_ID}),
    "account": (
        TO_ACCOUNT,
        {
            "contaBanco": {
                "nome": NAME, "cpf": TAX_ID, "codigoBanco": ITAU, "agencia": "0001",
                "conta": "1234567", "tipoConta": "cacc",
            }
        },
    ),
}  # fmt: skip


def order(key: str, to: Destination = TO_KEY) -> PayoutOrder:
    by_key = isinstance(to, PixDestination)
    method = PayoutMethod.PIX if by_key else PayoutMethod.BANK_ACCOUNT
    return PayoutOrder(
        provider_key=key, method=method, value=Money(1050), destination=to, description="Nota 1"
    )


def alike(asked: Exchange) -> tuple[str, str, dict[str, str], Any]:
    return asked.method, asked.path, dict(asked.query), asked.document


async def send(efi: Watched, key: str, to: dict[str, object]) -> Any:
    payer = {"chave": efi.key, "infoPagador": "Nota 1"}
    body = {"valor": "10.50", "pagador": payer, "favorecido": to}
    return await efi.by_sdk("pix_send", params={"idEnvio": key}, body=body)


async def test_a_token_request_matches_the_sdk_s(efi: Watched):
    await efi.by_sdk("get_account_balance")
    await efi.adapter.get_balance(efi.account)

    theirs, ours = (each for each in efi.stage.exchanges if each.path == "/oauth/token")
    assert alike(ours) == alike(theirs)
    assert ours.headers["Authorization"] == theirs.headers["Authorization"]
    assert (theirs.status, ours.status) == (200, 200)


async def test_a_balance_request_matches_the_sdk_s(efi: Watched):
    found = await efi.by_sdk("get_account_balance", params={"bloqueios": "true"})
    wanted = efi.asked()
    balance = await efi.adapter.get_balance(efi.account)

    assert list(map(alike, efi.asked())) == list(map(alike, wanted))
    assert balance.balance == Sum(round(float(found["saldo"]) * 100))


@pytest.mark.parametrize("where", PLACES)
async def test_a_payout_request_matches_the_sdk_s(efi: Watched, where: str):
    to, written = PLACES[where]
    first, second = new_provider_key(), new_provider_key()
    made = await send(efi, first, written)
    (wanted,) = efi.asked()
    outcome = await efi.adapter.create_payout(efi.account, order(second, to), far())
    (asked,) = efi.asked()

    assert made["status"] == "EM_PROCESSAMENTO"
    assert isinstance(outcome, Accepted)
    assert asked.path.replace(second, first) == wanted.path
    assert (asked.method, asked.document) == (wanted.method, wanted.document)


async def test_each_client_finds_the_other_s_orders(efi: Watched):
    key = new_provider_key()
    await send(efi, key, PLACES["key"][1])
    await efi.stage.settle()
    efi.asked()

    theirs = await efi.by_sdk("pix_send_detail_id", params={"idEnvio": key})
    wanted = efi.asked()
    ours = await efi.adapter.find_payout(efi.account, key, "")

    assert list(map(alike, efi.asked())) == list(map(alike, wanted))
    assert isinstance(ours, Settled)
    assert (ours.e2e_id, theirs["idEnvio"]) == (theirs["endToEndId"], key)


async def test_a_repeated_key_is_refused_and_our_client_finds_its_payout(efi: Watched):
    key = new_provider_key()
    await efi.adapter.create_payout(efi.account, order(key), far())

    refused = await send(efi, key, PLACES["key"][1])
    again = await efi.adapter.create_payout(efi.account, order(key), far())

    assert refused["nome"] == "id_envio_duplicado"
    assert isinstance(again, Accepted | Settled)
    assert await efi.stage.executions(key) == [Money(1050)]


async def test_the_request_for_the_list_of_payouts_matches_the_sdk_s(efi: Watched):
    await efi.adapter.list_statement(efi.account, around_today(), None, 10)
    (ours,) = [each for each in efi.asked() if each.path.endswith("/enviados")]
    found = await efi.by_sdk("pix_send_list", params=dict(ours.query))
    (theirs,) = efi.asked()

    assert alike(ours) == alike(theirs)
    assert {"inicio", "fim", "status"} <= set(theirs.query)
    assert found["pix"] == []


async def test_requests_to_create_list_and_delete_random_keys_match_the_sdk_s(efi: Watched):
    made = await efi.by_sdk("pix_create_evp")
    listed = await efi.by_sdk("pix_list_evp")
    await efi.by_sdk("pix_delete_evp", params={"chave": made["chave"]})
    wanted = efi.asked()
    mine = await efi.adapter.create_key(efi.account, efi.stage.new_key())
    keys = await efi.adapter.list_keys(efi.account)
    await efi.adapter.cancel_key(efi.account, mine)
    ours = efi.asked()

    assert made["chave"] in listed["chaves"]
    assert mine.key in [each.key for each in keys]
    text = json.dumps(list(map(alike, ours))[:3]).replace(mine.key, made["chave"])
    assert json.loads(text) == json.loads(json.dumps(list(map(alike, wanted))))


async def test_requests_to_register_and_remove_a_webhook_match_the_sdk_s(efi: Watched):
    """The header makes Efí accept an address without client certificates."""
    skip = {"x-skip-mtls-checking": "true"}
    await efi.adapter.register_callback(efi.account, CallbackOrder(url=URL, secret=b"shared"))
    ours = efi.asked()[1:]  # the account's keys come first
    params, body = {"chave": efi.key}, ours[0].document
    await efi.by_sdk("pix_config_webhook", params=params, body=body, headers=skip)
    await efi.by_sdk("pix_detail_webhook", params=params)
    theirs = efi.asked()

    assert list(map(alike, ours)) == list(map(alike, theirs))
    assert ours[0].headers["x-skip-mtls-checking"] == theirs[0].headers["x-skip-mtls-checking"]
