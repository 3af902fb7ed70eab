"""Steering one payout of the bank."""

from __future__ import annotations

import pytest


async def state(caller, key: str = "pk-1") -> str:
    _, shown = await caller.ask("GET", f"/transferencias/por-chave/{key}")
    return shown["situacao"]


@pytest.mark.parametrize("by", ["chave_idempotencia", "id"])
async def test_a_payout_is_held_by_either_name_and_released(caller, by):
    _, made = await caller.pay_out(10_50)

    status, held = await caller.control("POST", f"/payouts/{made[by]}/hold", json={"seconds": 60})
    assert (status, held["situacao"]) == (200, "EM_ANALISE")

    await caller.control("POST", f"/payouts/{made[by]}/release", json={"refuse": True})
    assert await state(caller) == "FALHOU"


async def test_the_next_payout_is_held_for_an_hour_when_nothing_is_said(caller):
    account_id = caller.account["id"]
    status, told = await caller.control("POST", f"/accounts/{account_id}/hold", json={})

    _, made = await caller.pay_out(10_50)

    assert (status, told) == (200, {"id": account_id, "seconds": 3600})
    assert made["situacao"] == "EM_ANALISE"


@pytest.mark.parametrize(
    "path", ["/payouts/pk-9/hold", "/payouts/pk-9/release", "/accounts/x/hold"]
)
async def test_what_is_not_there_cannot_be_steered(caller, path):
    status, _ = await caller.control("POST", path, json={})

    assert status == 404
