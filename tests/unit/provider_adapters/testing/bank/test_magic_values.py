"""Every magic value does what the table of the sandbox README says."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from provider_adapters.testing.bank import magic_values, ports
from provider_adapters.testing.bank.messages import Refusal
from tests.world.tables import cases
from tests.world.waiting import until


async def state(caller, key="pk-1"):
    _, payout = await caller.ask("GET", f"/transferencias/por-chave/{key}")
    return payout


async def balance(caller):
    _, said = await caller.ask("GET", "/saldo")
    return said["saldo_centavos"], said["bloqueado_centavos"]


@pytest.mark.parametrize("centavos", [10_50, 777_00, 777_10, 777_13], ids=str)
async def test_an_amount_without_magic_settles(caller, wall, centavos):
    """Every other amount settles; .10 too, since there are no callbacks yet."""
    status, made = await caller.pay_out(centavos)
    held = await balance(caller)
    wall.move(0.3)

    settled = await state(caller)

    assert (status, made["situacao"], settled["situacao"]) == (201, "EM_PROCESSAMENTO", "LIQUIDADA")
    assert held == (100_000_00, centavos)
    assert await balance(caller) == (100_000_00 - centavos, 0)
    assert settled["valor_centavos"] == centavos
    assert len(await caller.executions()) == 1


async def test_01_settles_after_thirty_seconds_of_bank_clock(caller, wall):
    await caller.pay_out(777_01)
    wall.move(29.9)
    before = await state(caller)

    wall.move(0.1)
    after = await state(caller)

    assert (before["situacao"], after["situacao"]) == ("EM_PROCESSAMENTO", "LIQUIDADA")


async def test_02_fails_after_acceptance_and_the_money_is_back(caller, wall):
    status, made = await caller.pay_out(777_02)
    wall.move(0.3)

    failed = await state(caller)

    assert (status, made["situacao"]) == (201, "EM_PROCESSAMENTO")
    assert (failed["situacao"], failed["falha"]["code"]) == ("FALHOU", "REJECTED")
    assert await balance(caller) == (100_000_00, 0)
    assert await caller.executions() == []


async def test_02_counts_as_not_executed_from_the_start(caller):
    """Payout that will fail: nothing is, or ever was, executed."""
    await caller.pay_out(777_02)

    assert await caller.executions() == []


@pytest.mark.parametrize(
    ("centavos", "status", "code"),
    [
        (777_03, 400, "REJECTED"),
        (777_04, 403, "NOT_ALLOWED"),
        (777_05, 500, "INTERNAL"),
        (777_11, 429, "TOO_MANY_REQUESTS"),
    ],
    ids=str,
)
async def test_an_answer_by_amount_executes_nothing(caller, centavos, status, code):
    answered, said = await caller.pay_out(centavos)

    assert (answered, said["error"]["code"]) == (status, code)
    assert (await caller.ask("GET", "/transferencias/por-chave/pk-1"))[0] == 404
    assert await caller.executions() == []
    assert await balance(caller) == (100_000_00, 0)


async def test_06_executes_and_never_answers(caller, wall):
    asking = asyncio.create_task(caller.pay_out(777_06))
    await until(caller.executions)
    wall.move(1)

    assert (await state(caller))["situacao"] == "LIQUIDADA"
    assert len(await caller.executions()) == 1
    assert not asking.done()
    asking.cancel()


async def test_06_gives_up_in_the_end(caller, monkeypatch):
    """Nobody hangs for ever: the connection is reset."""
    monkeypatch.setattr(ports, "HANG_S", 0.05)

    with pytest.raises(aiohttp.ClientError):
        await caller.pay_out(777_06)

    assert len(await caller.executions()) == 1


async def test_07_resets_before_executing(caller):
    with pytest.raises(aiohttp.ClientError):
        await caller.pay_out(777_07)

    assert await caller.executions() == []


async def test_08_is_malformed_after_executing(caller):
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        await caller.pay_out(777_08)

    assert len(await caller.executions()) == 1


async def test_09_comes_back_after_settling(caller, wall):
    await caller.pay_out(777_09)
    wall.move(0.3)
    settled, gone = await state(caller), await balance(caller)

    wall.move(0.3)
    returned, back = await state(caller), await balance(caller)

    assert (settled["situacao"], returned["situacao"]) == ("LIQUIDADA", "DEVOLVIDA")
    assert (gone, back) == ((100_000_00 - 777_09, 0), (100_000_00, 0))
    assert returned["devolvida_em"] > returned["liquidada_em"]
    _, said = await caller.ask("GET", "/extrato")
    kinds = [line["tipo"] for line in said["lancamentos"]]
    assert kinds == ["DEVOLUCAO_RECEBIDA", "PIX_ENVIADO", "PIX_RECEBIDO"]
    back, out = said["lancamentos"][:2]
    assert back["chave_idempotencia"] == out["chave_idempotencia"]
    assert (back["e2e"][0], out["e2e"][0]) == ("D", "E")
    assert [each["id"] for each in returned["devolucoes"]] == [back["e2e"]]


async def test_12_settles_with_another_amount(caller, wall):
    await caller.pay_out(777_12)
    before = await state(caller)
    wall.move(0.3)

    after = await state(caller)

    assert (before["valor_centavos"], after["valor_centavos"]) == (777_12, 777_11)
    assert await balance(caller) == (100_000_00 - 777_11, 0)
    assert [row["centavos"] for row in await caller.executions()] == [777_11]


async def test_a_known_key_is_a_repeat_whatever_its_amount(caller):
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        await caller.pay_out(777_08)

    status, said = await caller.pay_out(777_08)

    assert (status, said["situacao"]) == (200, "EM_PROCESSAMENTO")
    assert len(await caller.executions()) == 1


@cases(
    ("key", "account", "code"),
    [
        ("notfound@example.com", None, "KEY_NOT_FOUND"),
        ("owner@example.com", None, "OWNER_MISMATCH"),
        ("limit@example.com", None, "LIMIT_EXCEEDED"),
        (None, "000000-0", "ACCOUNT_INVALID"),
    ],
)
def test_a_magic_destination_is_refused(key, account, code):
    with pytest.raises(Refusal) as refused:
        magic_values.refuse_destination(key, account)

    assert refused.value.code == code


async def test_a_refusal_by_amount_comes_before_the_balance(caller):
    body = {"name": "Poor", "tax_number": "11222333000181"}
    _, caller.account = await caller.control("POST", "/accounts", json=body)

    _, said = await caller.pay_out(777_03)

    assert said["error"]["code"] == "REJECTED"
