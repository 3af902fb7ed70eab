"""Orders are read as strictly as the official document asks; what is wrong moves nothing."""

from __future__ import annotations

import pytest

from tests.unit.provider_adapters.testing.woovi.conftest import World
from tests.unit.provider_adapters.testing.woovi.orders import PAYMENT

HOLDER = {"name": "M", "taxID": {"type": "BR:CPF", "taxID": "52998224725"}}
PLACE = {"branch": "1", "account": "2", "accountType": "CACC"}
MANUAL = {
    "type": "MANUAL", "value": 1, "correlationID": "m", "autoApprove": True,
    "psp": "60701190", "holder": HOLDER, "account": PLACE,
}  # fmt: skip


@pytest.mark.parametrize(
    "order",
    [
        {**PAYMENT, "value": "1050"},
        {**PAYMENT, "value": 10.5},
        {**PAYMENT, "value": 0},
        {**PAYMENT, "destinationAliasType": "EVP"},
        {**PAYMENT, "type": None},
        {**PAYMENT, "correlationID": ""},
        {**PAYMENT, "autoApprove": False},
        {**PAYMENT, "sourceAccountId": "other"},
        {**MANUAL, "psp": "341"},
        {**MANUAL, "psp": {"id": "60701190"}},
        {**MANUAL, "holder": {"name": "M"}},
        {**MANUAL, "account": {**PLACE, "accountType": "corrente"}},
    ],
)
async def test_a_wrong_payout_is_refused(world: World, order: dict[str, object]):
    status, said = await world.ask("POST", "/payment", order)

    assert (status, list(said)) == (400, ["error"])
    assert (await world.control.get("executions"))["data"] == []


async def test_a_payout_by_account_is_taken(world: World):
    status, said = await world.ask("POST", "/payment", MANUAL)

    assert (status, said["payment"]["psp"]["id"]) == (200, "60701190")


@pytest.mark.parametrize(
    "charge",
    [
        {"correlationID": "c"},
        {"correlationID": "c", "value": 1, "expiresIn": 299},
        {"correlationID": "c", "value": 1, "type": "BOLETO"},
        {"correlationID": "c", "value": 1, "customer": {"taxID": "1"}},
    ],
)
async def test_a_wrong_charge_is_refused(world: World, charge: dict[str, object]):
    assert (await world.ask("POST", "/charge", charge))[0] == 400


@pytest.mark.parametrize("key", [{"type": "EVP"}, {"type": "EMAIL", "key": "a@b.c"}, {"key": "x"}])
async def test_a_wrong_key_is_refused(world: World, key: dict[str, object]):
    assert (await world.ask("POST", "/pix-keys", key))[0] == 400


@pytest.mark.parametrize("query", ["skip=-1", "skip=x", "start=2026-11-22", "limit="])
async def test_a_wrong_page_is_refused(world: World, query: str):
    assert (await world.ask("GET", f"/statement?{query}"))[0] == 400


async def test_a_page_has_a_hundred_items_at_most(world: World):
    _, said = await world.ask("GET", "/transaction?limit=500")

    assert said["pageInfo"]["limit"] == 100


async def test_a_long_comment_is_refused(world: World):
    order = {"transactionEndToEndId": "E", "correlationID": "r", "value": 1, "comment": "x" * 141}

    assert (await world.ask("POST", "/refund", order))[0] == 400
