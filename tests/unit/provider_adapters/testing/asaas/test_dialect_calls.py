"""The simulated bank's calls: strict about what is sent, and in the order that is asked for."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from gateway.domain.kernel.money import Money
from provider_adapters.asaas.secrets import AsaasSecrets
from provider_adapters.kit.secrets import secrets_of
from provider_adapters.testing.asaas.dialect import ASAAS
from provider_adapters.testing.asaas.stage import AsaasStage
from provider_adapters.testing.verify.stage import Received

TRANSFER = {
    "value": 10.5,
    "pixAddressKey": "maria@example.com",
    "pixAddressKeyType": "EMAIL",
    "operationType": "PIX",
    "externalReference": "0" * 32,
}


class Strict(AsaasStage):
    """The bank as it is."""

    dialect = ASAAS


@pytest.fixture
async def stage() -> AsyncIterator[AsaasStage]:
    standing = Strict()
    await standing.start()
    yield standing
    await standing.close()


async def ask(
    stage: AsaasStage, method: str, path: str, document: object = None
) -> tuple[int, Any]:
    headers = {"access_token": secrets_of(stage.accounts[0], AsaasSecrets).api_key}
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, stage.address + path, headers=headers, json=document) as said,
    ):
        body = await said.read()
        return said.status, json.loads(body) if body else None


async def test_the_same_again_is_refused_whatever_its_reference(stage: AsaasStage):
    assert (await ask(stage, "POST", "/v3/transfers", TRANSFER))[0] == 200
    other = TRANSFER | {"externalReference": "1" * 32}

    assert (await ask(stage, "POST", "/v3/transfers", other))[0] == 409
    assert (await ask(stage, "POST", "/v3/transfers", other | {"value": 10.51}))[0] == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"value": "10.50"},
        {"value": 10.505},
        {"value": 0},
        {"value": None},
        {"pixAddressKeyType": "RANDOM"},
        {"operationType": "BOLETO"},
        {"pixAddressKey": None},
        {"externalReference": 1},
    ],
)
async def test_an_order_that_is_none_is_refused(stage: AsaasStage, changes: dict[str, object]):
    status, said = await ask(stage, "POST", "/v3/transfers", TRANSFER | changes)

    assert status == 400
    assert said["errors"][0]["code"] in {"invalid_action", "invalid_value"}


async def test_only_a_missing_value_has_the_code_that_is_documented(stage: AsaasStage):
    _, said = await ask(stage, "POST", "/v3/transfers", TRANSFER | {"value": None})

    assert said["errors"][0]["code"] == "invalid_value"


async def test_a_statement_that_names_no_order_is_refused(stage: AsaasStage):
    """The bank would list the oldest first, which the adapter must not take for the newest."""
    for centavos in (101, 102):
        await stage.put(stage.accounts[0], Received(value=Money(centavos)))

    up, _ = await ask(stage, "GET", "/v3/financialTransactions?limit=10")
    down = await ask(stage, "GET", "/v3/financialTransactions?limit=10&order=desc")

    assert up == 400
    assert [row["value"] for row in down[1]["data"]][:2] == [1.02, 1.01]


async def test_a_charge_needs_a_customer_of_the_account(stage: AsaasStage):
    charge = {
        "customer": "cus_none",
        "billingType": "PIX",
        "value": 1,
        "dueDate": "2026-11-22",
        "externalReference": "r",
    }

    assert (await ask(stage, "POST", "/v3/payments", charge))[0] == 400


@pytest.mark.parametrize("token", ["short", "with space" * 4, "x" * 256])
async def test_a_token_of_callbacks_that_is_none_is_refused(stage: AsaasStage, token: str):
    webhook = {"url": "http://127.0.0.1:1/x", "authToken": token}

    assert (await ask(stage, "POST", "/v3/webhooks", webhook))[0] == 400


async def test_keys_are_made_at_random_alone(stage: AsaasStage):
    assert (await ask(stage, "POST", "/v3/pix/addressKeys", {"type": "CPF"}))[0] == 400
    status, key = await ask(stage, "POST", "/v3/pix/addressKeys", {"type": "EVP"})

    assert (status, key["status"], key["type"]) == (200, "ACTIVE", "EVP")
    assert key in (await ask(stage, "GET", "/v3/pix/addressKeys"))[1]["data"]
