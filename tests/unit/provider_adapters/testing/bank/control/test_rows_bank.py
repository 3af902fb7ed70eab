"""The control interface: what was executed, charges paid, ledger, clock."""

from __future__ import annotations

from urllib.parse import quote

import pytest


@pytest.fixture
async def charge(caller):
    async def made(reference, account=None, **more):
        account_id = (account or caller.account)["id"]
        await caller.control("POST", f"/accounts/{account_id}/keys", json={"type": "evp"})
        body = {"reference": reference, "value": 10.50, **more}
        return await caller.control("POST", f"/accounts/{account_id}/charges", json=body)

    return made


@pytest.fixture
async def other(caller):
    body = {"name": "Outra", "tax_number": "52998224725"}
    _, account = await caller.control("POST", "/accounts", json=body)
    return account


async def test_executions_are_rows_of_four(caller):
    _, made = await caller.pay_out(10_50, key="a")
    await caller.pay_out(5, key="b")

    _, one = await caller.control("GET", "/executions?key=a")
    _, every = await caller.control("GET", "/executions")

    row = {"key": "a", "centavos": 10_50, "e2e_id": made["e2e"], "at": "2026-11-20T13:40:11.123Z"}
    assert one == {"data": [row], "meta": {"total": 1}}
    assert [execution["key"] for execution in every["data"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("kind", "executed", "status"), [("idem", 1, 200), ("dup", 1, 409), ("none", 2, 201)]
)
async def test_a_repeat_by_the_kind_of_the_bank(caller, kind, executed, status):
    """The three kinds of providers: IDEM repeats, DUP refuses, NONE executes again."""
    body = {"name": "A", "tax_number": "11222333000181", "balance": 100, "payout_kind": kind}
    _, caller.account = await caller.control("POST", "/accounts", json=body)
    await caller.pay_out(10_50)

    again, _ = await caller.pay_out(10_50)

    assert again == status
    assert len(await caller.executions()) == executed


@pytest.mark.parametrize("reference", ["r-1", "a/b", "ç ã"])
async def test_a_charge_is_paid(caller, charge, reference):
    await charge(reference)

    status, paid = await caller.control("POST", f"/charges/{quote(reference, safe='')}/pay")

    assert (status, paid["reference"], paid["centavos"]) == (200, reference, 10_50)
    _, balance = await caller.ask("GET", "/saldo")
    assert balance["saldo_centavos"] == 100_010_50


async def test_who_pays_and_how_much_may_be_said(caller, charge):
    await charge("open", value=None)
    body = {"value": 7.77, "payer": {"name": "João", "tax_number": "11144477735", "message": "oi"}}

    status, _ = await caller.control("POST", "/charges/open/pay", json=body)

    _, said = await caller.ask("GET", "/cobrancas/open/pagamento")
    assert (status, said["pagamento"]["valor_centavos"]) == (200, 777)
    assert said["pagamento"]["pagador"] == {
        "nome": "João",
        "documento": "11144477735",
        "mensagem": "oi",
    }


async def test_a_reference_of_two_accounts_needs_the_account(caller, charge, other):
    await charge("r-1")
    await charge("r-1", other)

    ambiguous, said = await caller.control("POST", "/charges/r-1/pay")
    paid, _ = await caller.control("POST", f"/charges/r-1/pay?account={other['id']}")
    absent, _ = await caller.control("POST", "/charges/r-2/pay")

    assert (ambiguous, said["error"]["code"]) == (409, "AMBIGUOUS")
    assert (paid, absent) == (200, 404)
    _, ours = await caller.ask("GET", "/cobrancas/r-1/pagamento")
    assert ours["pagamento"] is None


async def test_the_ledger_is_shown_balanced(caller, wall):
    await caller.pay_out(10_50)
    wall.move(1)

    _, said = await caller.control("GET", "/ledger")

    assert said == {"balanced": True, "accounts": {caller.account["id"]: 100_000_00 - 10_50}}


async def test_moving_the_clock_settles_what_is_due(caller):
    await caller.pay_out(777_01)

    _, moved = await caller.control("POST", "/clock", json={"offset_s": 31})

    _, payout = await caller.ask("GET", "/transferencias/por-chave/pk-1")
    assert moved == {"offset_s": 31.0, "now": "2026-11-20T13:40:42.123Z"}
    assert (await caller.control("GET", "/clock"))[1] == moved
    assert payout["situacao"] == "LIQUIDADA"


async def test_executed_refunds_are_listed(caller):
    _, said = await caller.ask("GET", "/recebimentos")
    e2e_id = said["recebimentos"][0]["e2e"]
    await caller.ask(
        "POST",
        f"/recebimentos/{e2e_id}/devolucoes",
        json={"valor_centavos": 10_50},
        headers={"Idempotency-Key": "rk-1"},
    )

    _, found = await caller.control("GET", "/refunds?key=rk-1")
    _, other = await caller.control("GET", "/refunds?key=rk-2")

    row = found["data"][0]
    assert (row["key"], row["centavos"], row["payment"]) == ("rk-1", 10_50, e2e_id)
    assert row["return_id"].startswith("D")
    assert (found["meta"]["total"], other["data"]) == (1, [])
