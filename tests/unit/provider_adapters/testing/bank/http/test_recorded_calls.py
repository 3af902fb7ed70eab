"""The calls seen are kept as they came, without the token."""

from __future__ import annotations


async def test_a_call_is_kept_raw(caller):
    await caller.ask("GET", "/cobrancas/a%2Fb%20c?x=1", headers={"X-Trace-ID": "t-1"})

    _, said = await caller.control("GET", "/calls")

    call = said["data"][-1]
    assert call["path"] == f"/v1/contas/{caller.account['id']}/cobrancas/a%2Fb%20c?x=1"
    assert (call["method"], call["headers"]["X-Trace-ID"]) == ("GET", "t-1")
    assert call["headers"]["Authorization"] == "Bearer ***"
    assert caller.account["token"] not in str(said)
    assert call["at"] == "2026-11-20T13:40:11.123Z"


async def test_unknown_routes_and_bodies_are_kept_too(caller):
    await caller.ask("POST", "/nada", data=b"body as sent")

    _, said = await caller.control("GET", "/calls")

    assert said["data"][-1]["body"] == "body as sent"


async def test_the_newest_are_given_oldest_first(caller):
    for number in range(1, 1004):
        await caller.ask("GET", f"/{number}")

    _, last = await caller.control("GET", "/calls?limit=2")
    _, every = await caller.control("GET", "/calls")

    assert [call["path"].rpartition("/")[2] for call in last["data"]] == ["1002", "1003"]
    assert every["meta"]["total"] == 1000


async def test_calls_can_be_forgotten(caller):
    await caller.ask("GET", "/saldo")

    _, cleared = await caller.control("DELETE", "/calls")

    assert cleared == {"cleared": 1}
    assert (await caller.control("GET", "/calls"))[1] == {"data": [], "meta": {"total": 0}}


async def test_control_calls_are_not_among_them(caller):
    await caller.control("GET", "/clock")

    assert (await caller.control("GET", "/calls"))[1]["data"] == []
