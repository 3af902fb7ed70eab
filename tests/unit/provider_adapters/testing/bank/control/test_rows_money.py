"""Money of an account: in, out, blocked, given back."""

from __future__ import annotations

import pytest


@pytest.fixture
def mine(caller):
    async def call(method, path, body=None):
        return await caller.control(method, f"/accounts/{caller.account['id']}{path}", json=body)

    return call


async def test_money_goes_in_and_is_held(mine):
    """Money in reais, exact; what is blocked is still owned."""
    _, topped = await mine("POST", "/top-up", {"value": 10.50})
    _, blocked = await mine("POST", "/block", {"value": 1000})
    _, unblocked = await mine("POST", "/unblock", {"value": 999.99})

    assert [(one["balance_centavos"], one["blocked_centavos"]) for one in (topped, blocked)] == [
        (100_010_50, 0),
        (100_010_50, 1000_00),
    ]
    assert unblocked["blocked_centavos"] == 1


KIND = {"/movements": "ted_out"}
KINDS = {"fee": -99, "ted_in": 99, "ted_out": -99, "boleto_in": 99, "boleto_out": -99}


async def test_each_kind_of_movement_has_its_direction(caller, mine):
    for kind in KINDS:
        await mine("POST", "/movements", {"kind": kind, "value": 0.99})

    _, said = await caller.ask("GET", "/extrato")
    lines = {line["tipo"]: line for line in said["lancamentos"]}
    _, books = await caller.control("GET", "/ledger")
    signs = {"C": 1, "D": -1}
    assert [
        signs[lines[kind]["natureza"]] * lines[kind]["valor_centavos"]
        for kind in ("TARIFA", "TED_RECEBIDA", "TED_ENVIADA", "BOLETO_RECEBIDO", "BOLETO_PAGO")
    ] == list(KINDS.values())
    assert lines["TARIFA"]["descricao"] == "Tarifa"
    assert books == {"balanced": True, "accounts": {caller.account["id"]: 100_000_00 - 99}}


@pytest.mark.parametrize("path", ["/block", "/unblock", "/movements"])
async def test_there_has_to_be_that_much(mine, path):
    status, said = await mine("POST", path, {"value": 100000.01, "kind": KIND.get(path, "bank")})

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
