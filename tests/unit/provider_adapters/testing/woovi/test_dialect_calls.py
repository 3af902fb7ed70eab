"""The simulated Woovi's calls, as a customer makes them."""

from __future__ import annotations

import pytest

from tests.unit.provider_adapters.testing.woovi.conftest import World
from tests.unit.provider_adapters.testing.woovi.orders import PAYMENT


@pytest.mark.parametrize("app_id", ["", "Bearer x", "dW5rbm93bg=="])
async def test_a_wrong_app_id_is_refused_everywhere(world: World, app_id: str):
    assert await world.ask("GET", "/statement", app_id=app_id) == (
        401,
        {"data": None, "errors": [{"message": "appID inválido"}]},
    )


async def test_the_app_id_is_sent_raw(world: World):
    status, _ = await world.ask("GET", "/statement", app_id=f"Bearer {world.app_id}")

    assert status == 401


async def test_the_public_keys_are_open(world: World):
    status, said = await world.ask("GET", "/webhook/public-keys", app_id="")

    assert (status, said["public_keys"][0]["is_current"]) == (200, True)


async def test_a_balance_is_of_the_own_account_alone(world: World):
    status, said = await world.ask("GET", f"/account/{world.account}")

    assert (status, said["account"]["balance"]["total"]) == (200, 1_000_000)
    assert await world.ask("GET", "/account/other") == (400, {"error": "Account not found"})


async def test_a_payout_settles_and_shows_its_id_only_then(world: World):
    ordered, said = await world.ask("POST", "/payment", PAYMENT)
    assert (ordered, said["payment"]["status"], "transaction" in said) == (200, "APPROVED", False)

    await world.passes(60)
    _, said = await world.ask("GET", "/payment/p1")

    assert said["payment"]["status"] == "CONFIRMED"
    assert said["transaction"]["endToEndId"].startswith("E54811417")


async def test_a_known_key_is_refused_whatever_is_ordered(world: World):
    await world.ask("POST", "/payment", PAYMENT)

    for again in (PAYMENT, {**PAYMENT, "value": 1}):
        assert await world.ask("POST", "/payment", again) == (
            400,
            {"error": "Já existe um pagamento com o correlationID fornecido"},
        )


async def test_an_account_of_the_test_environment_fails_later(world: World):
    place = {"branch": "1", "account": "1010103", "accountType": "CACC"}
    holder = {"name": "M", "taxID": {"type": "BR:CPF", "taxID": "52998224725"}}
    manual = {"type": "MANUAL", "psp": "60701190", "holder": holder, "account": place}
    order = {"value": 1, "correlationID": "p2", "autoApprove": True, **manual}
    status, _ = await world.ask("POST", "/payment", order)
    await world.passes(60)

    _, said = await world.ask("GET", "/payment/p2")

    assert (status, said["payment"]["status"]) == (200, "FAILED")
    assert said["transaction"]["providerRejectedReason"].startswith("AC03 - ")
    assert (await world.ask("GET", f"/account/{world.account}"))[1]["account"]["balance"][
        "blocked"
    ] == 0


async def test_a_key_is_made_and_given_up_but_for_the_default_one(world: World):
    status, made = await world.ask("POST", "/pix-keys", {"key": "", "type": "EVP"})
    assert (status, made["isDefault"]) == (201, False)

    _, both = await world.ask("GET", "/pix-keys")
    _, second = await world.ask("GET", "/pix-keys?skip=1&limit=1")
    assert second["pixKeys"] == both["pixKeys"][1:]
    assert (await world.ask("DELETE", f"/pix-keys/{made['key']}"))[0] == 204
    assert (await world.ask("DELETE", f"/pix-keys/{made['key']}"))[0] == 404
    assert (await world.ask("DELETE", "/pix-keys/loja@example.com"))[0] == 400


async def test_a_charge_that_was_deleted_is_gone(world: World):
    charge = {"correlationID": "a/b", "value": 100}
    status, said = await world.ask("POST", "/charge", charge)
    assert (status, said["charge"]["status"]) == (200, "ACTIVE")

    assert (await world.ask("DELETE", "/charge/a%2Fb"))[0] == 200
    assert await world.ask("GET", "/charge/a%2Fb") == (400, {"error": "Charge not found"})


async def test_a_refund_is_seen_from_its_payment_its_charge_and_by_itself(world: World):
    await world.ask("POST", "/charge", {"correlationID": "c1", "value": 100})
    paid = await world.control.post("charges", "c1", "pay", body={})
    order = {"transactionEndToEndId": paid["e2e_id"], "correlationID": "r1", "value": 40}

    first = await world.ask("POST", "/refund", order)
    assert first == await world.ask("POST", "/refund", order)

    _, shown = await world.ask("GET", "/refund/r1")
    _, listed = await world.ask("GET", "/refund")
    _, of_charge = await world.ask("GET", "/charge/c1/refund")
    _, transaction = await world.ask("GET", f"/transaction/{paid['e2e_id']}")
    assert shown["pixTransactionRefund"] == listed["refunds"][0] == first[1]["refund"]
    assert of_charge["refunds"][0]["value"] == 40
    assert transaction["transaction"]["status"] == "PARTIAL_REFUND"


async def test_transactions_are_found_by_charge_and_by_position(world: World):
    await world.ask("POST", "/charge", {"correlationID": "c1", "value": 100})
    await world.control.post("charges", "c1", "pay", body={})

    for query, times in (("", 2), ("?charge=c1", 1), ("?skip=1", 1)):
        _, said = await world.ask("GET", f"/transaction{query}")
        assert len(said["transactions"]) == times, query


async def test_an_address_is_registered_for_each_event_and_forgotten(world: World):
    url = "http://127.0.0.1:1/x"
    made = [
        (await world.ask("POST", "/webhook", {"webhook": {"url": url, "event": event}}))[1]
        for event in ("OPENPIX:MOVEMENT_FAILED", "OPENPIX:MOVEMENT_CONFIRMED")
    ]
    _, said = await world.ask("GET", f"/webhook?url={url}")
    assert len(said["webhooks"]) == 2

    for each in made:
        assert (await world.ask("DELETE", f"/webhook/{each['webhook']['id']}"))[0] == 200
    assert (await world.ask("GET", "/webhook"))[1]["webhooks"] == []
    assert (await world.ask("DELETE", "/webhook/x"))[0] == 400


async def test_no_limit_of_addresses_is_known(world: World):
    for number in range(11):
        webhook = {"url": f"http://127.0.0.1:1/{number}", "event": "OPENPIX:MOVEMENT_FAILED"}
        await world.ask("POST", "/webhook", {"webhook": webhook})

    _, said = await world.ask("GET", "/webhook")

    assert len(said["webhooks"]) == 11
