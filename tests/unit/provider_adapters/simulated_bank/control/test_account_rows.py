"""The control interface about accounts: what a demonstration needs."""

from __future__ import annotations

import pytest


@pytest.fixture
def mine(caller):
    async def call(method, path, body=None):
        return await caller.control(method, f"/accounts/{caller.account['id']}{path}", json=body)

    return call


async def test_an_account_as_wanted(caller):
    wanted = {
        "id": "cc_demo",
        "token": "sbx_demo",
        "name": "Demo",
        "tax_number": "52998224725",
        "branch": "0042",
        "account": "77-7",
        "account_type": "savings",
        "city": "Recife",
        "zip_code": "50000-000",
        "payout_kind": "dup",
    }

    status, made = await caller.control("POST", "/accounts", json={**wanted, "payout_limit": 5.5})

    assert status == 201
    assert {name: made[name] for name in wanted} == wanted
    assert (made["payout_limit_centavos"], made["ispb"]) == (550, "99999999")
    again, said = await caller.control("POST", "/accounts", json=wanted)
    assert (again, said["error"]["code"]) == (409, "ALREADY_EXISTS")


async def test_what_is_absent_is_chosen(caller):
    body = {"name": "A", "tax_number": "52998224725", "balance": 0.01}

    _, made = await caller.control("POST", "/accounts", json=body)

    assert made["token"].startswith("sbx_")
    assert len({made["account"], caller.account["account"]}) == 2
    _, said = await caller.control("GET", f"/accounts/{made['id']}")
    secret = {"token", "credentials"}
    assert said == {name: value for name, value in made.items() if name not in secret}


async def test_replaced_credentials_are_refused_from_then_on(caller):
    path = f"/accounts/{caller.account['id']}/credentials"

    status, made = await caller.control("POST", path, json={})

    assert (status, made["credentials"]) == (201, made["token"])
    assert (await caller.ask("GET", "/saldo"))[0] == 401
    caller.account["token"] = made["token"]
    assert (await caller.ask("GET", "/saldo"))[0] == 200


async def test_accounts_are_listed_without_their_tokens(caller):
    _, said = await caller.control("GET", "/accounts")

    assert said["meta"]["total"] == 1
    assert caller.account["token"] not in str(said)


async def test_money_goes_in_and_is_held(mine):
    """Money in reais, exact; what is blocked is still owned."""
    _, topped = await mine("POST", "/top-up", {"value": 10.50})
    _, blocked = await mine("POST", "/block", {"value": 1000})
    _, unblocked = await mine("POST", "/unblock", {"value": 999.99})
    _, charged = await mine("POST", "/fee", {"value": 0.5})

    assert [(one["balance_centavos"], one["blocked_centavos"]) for one in (topped, blocked)] == [
        (100_010_50, 0),
        (100_010_50, 1000_00),
    ]
    assert (unblocked["blocked_centavos"], charged["balance_centavos"]) == (1, 100_010_00)


@pytest.mark.parametrize("path", ["/block", "/unblock", "/fee"])
async def test_there_has_to_be_that_much(mine, path):
    status, said = await mine("POST", path, {"value": 100000.01})

    assert (status, said["error"]["code"]) == (400, "INSUFFICIENT_FUNDS")


@pytest.mark.parametrize("value", [0, -1, 1.001, "5", None, True])
async def test_a_wrong_amount_is_refused(mine, value):
    status, _ = await mine("POST", "/top-up", {"value": value})

    assert status == 400


async def test_an_incoming_payment_may_be_dated_back(caller, mine):
    body = {
        "value": 7.00,
        "payer": {"name": "João", "tax_number": "11144477735"},
        "description": "aluguel",
        "at": "2026-10-01T12:00:00Z",
    }

    status, made = await mine("POST", "/incoming", body)

    _, said = await caller.ask("GET", "/extrato?ate=2026-11-01T00:00:00Z")
    line = said["lancamentos"][0]
    assert (status, made["id"], made["centavos"]) == (201, line["id"], 700)
    assert (line["descricao"], line["contraparte"]["nome"]) == ("aluguel", "João")
    assert line["e2e"][9:21] == "202610011200"


async def test_a_fee_is_in_the_statement(caller, mine):
    await mine("POST", "/fee", {"value": 1, "description": "Mensalidade"})

    _, said = await caller.ask("GET", "/extrato")

    line = said["lancamentos"][0]
    assert (line["tipo"], line["natureza"], line["descricao"]) == ("TARIFA", "D", "Mensalidade")


async def test_a_key_as_wanted(mine):
    body = {"type": "phone", "key": "+5511999999999", "status": "pending", "id": "K-1"}

    assert await mine("POST", "/keys", body) == (201, body)


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
    await mine("POST", "/keys", {"type": "evp", "status": "pending"})

    status, said = await mine("POST", "/charges", {"reference": "r"})

    assert (status, said["error"]["message"]) == (400, "the account has no active key")


async def test_kind_and_limit_change_and_the_limit_goes_again(caller, mine):
    _, limited = await mine("PATCH", "", {"payout_limit": 10})
    refused, said = await caller.pay_out(10_01)
    _, free = await mine("PATCH", "", {"payout_limit": None})
    _, same = await mine("PATCH", "", {})

    assert (limited["payout_limit_centavos"], free["payout_limit_centavos"]) == (10_00, None)
    assert (refused, said["error"]["code"]) == (403, "LIMIT_EXCEEDED")
    assert same == free


async def test_an_unknown_account_is_not_found(caller):
    status, said = await caller.control("POST", "/accounts/none/top-up", json={"value": 1})

    assert (status, said["error"]["code"]) == (404, "NOT_FOUND")


async def test_a_movement_that_is_not_pix(caller, mine):
    body = {
        "kind": "ted_out",
        "value": 10.50,
        "description": "Fornecedor",
        "counterparty": {"name": "Maria", "tax_number": "52998224725"},
        "at": "2026-11-01T10:00:00Z",
    }

    status, made = await mine("POST", "/movements", body)
    refused, said = await mine("POST", "/movements", {"kind": "pix_out", "value": 1})

    _, listed = await caller.ask("GET", "/extrato?ate=2026-11-02T00:00:00Z")
    line = listed["lancamentos"][0]
    assert (status, line["id"]) == (201, made["id"])
    assert (line["tipo"], line["natureza"], line["valor_centavos"]) == ("TED_ENVIADA", "D", 10_50)
    assert (line["contraparte"]["nome"], line["descricao"]) == ("Maria", "Fornecedor")
    assert (refused, said["error"]["code"]) == (400, "INVALID_REQUEST")


async def test_a_refund_is_ordered_once_per_key(caller, mine):
    _, came_in = await mine("POST", "/incoming", {"value": 10.50})
    body = {"e2e_id": came_in["e2e_id"], "value": 4.00, "key": "rk-1", "reference": "r-1"}

    first = await mine("POST", "/refunds", body)
    again = await mine("POST", "/refunds", body)

    _, found = await caller.ask("GET", "/devolucoes/por-chave/rk-1")
    assert first == again
    assert (first[0], first[1]["centavos"]) == (201, 4_00)
    assert (found["id"], found["referencia"]) == (first[1]["id"], "r-1")


async def test_charges_are_listed_by_the_names_that_the_bank_knows(caller):
    path = f"/accounts/{caller.account['id']}"
    await caller.control("POST", f"{path}/keys", json={"type": "evp"})
    _, made = await caller.control("POST", f"{path}/charges", json={"reference": "r-1", "value": 1})

    _, listed = await caller.control("GET", f"{path}/charges")

    [charge] = listed["data"]
    assert (charge["reference"], charge["status"], charge["centavos"]) == ("r-1", "active", 100)
    assert charge["emv"] == made["emv"]
