"""Keys and charges of an account, as a test wants them."""

from __future__ import annotations

import pytest


@pytest.fixture
def mine(caller):
    async def call(method, path, body=None):
        return await caller.control(method, f"/accounts/{caller.account['id']}{path}", json=body)

    return call


async def test_a_key_as_wanted(mine):
    body = {"type": "phone", "key": "+5511999999999", "id": "K-1"}

    assert await mine("POST", "/keys", body) == (201, {**body, "status": "active"})


STATES = {
    "pending": ("ATIVA", True, False),
    "paid": ("PAGA", True, True),
    "expired": ("EXPIRADA", True, False),
    "anonymous": ("ATIVA", False, False),
    "canceled": ("CANCELADA", True, False),
}


@pytest.mark.parametrize("state", STATES)
async def test_a_charge_in_any_state(caller, mine, state):
    await mine("POST", "/keys", {"type": "evp"})

    status, made = await mine("POST", "/charges", {"reference": "r", "state": state, "value": 5})

    _, charge = await caller.ask("GET", "/cobrancas/r")
    _, payment = await caller.ask("GET", "/cobrancas/r/pagamento")
    said = (charge["situacao"], bool(charge["pagador"]), bool(payment["pagamento"]))
    assert (status, made["state"], made["emv"]) == (201, state, charge["copia_e_cola"])
    assert said == STATES[state]


async def test_a_charge_needs_an_active_key(mine):
    status, said = await mine("POST", "/charges", {"reference": "r"})

    assert (status, said["error"]["message"]) == (400, "the account has no active key")


async def test_charges_are_listed_by_the_names_that_the_bank_knows(caller):
    path = f"/accounts/{caller.account['id']}"
    await caller.control("POST", f"{path}/keys", json={"type": "evp"})
    _, made = await caller.control("POST", f"{path}/charges", json={"reference": "r-1", "value": 1})

    _, listed = await caller.control("GET", f"{path}/charges")

    [charge] = listed["data"]
    assert (charge["reference"], charge["status"], charge["centavos"]) == ("r-1", "active", 100)
    assert charge["emv"] == made["emv"]
