"""Every fault on the wire looks as the sandbox README says, and executes or not."""

from __future__ import annotations

import asyncio
import contextlib
import json

import aiohttp
import pytest
import uvloop

from provider_adapters.testing.bank import ports
from provider_adapters.testing.sandbox import SandboxBank
from tests.world.waiting import until

READS = {
    "balance": "/saldo",
    "statement": "/extrato",
    "keys": "/chaves",
    "payment": "/recebimentos",
    "refund_read": "/devolucoes",
}


async def inject(caller, fault, **more):
    status, said = await caller.control("POST", "/faults", json={"fault": fault, **more})
    assert status == 201
    return said


async def send_payout(caller):
    """Send a payout over a bare socket; return its two ends."""
    body = json.dumps(
        {
            "valor_centavos": 1050,
            "destino": {"forma": "chave", "chave": "a@b.c", "documento": "52998224725"},
        }
    ).encode()
    head = (
        f"POST /v1/contas/{caller.account['id']}/transferencias HTTP/1.1\r\n"
        "Host: bank\r\nConnection: close\r\n"
        f"Authorization: Bearer {caller.account['token']}\r\nIdempotency-Key: pk-1\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", caller.bank.port)
    writer.write(head.encode() + body)
    return reader, writer


async def raw_payout(caller):
    """Send a payout over a bare socket and give what comes until the end, and how it ended."""
    reader, writer = await send_payout(caller)
    received = b""
    try:
        while piece := await reader.read(65536):
            received += piece
        ended = "closed"
    except ConnectionResetError:
        ended = "reset"
    writer.close()
    return received, ended


async def is_silent(caller, reader) -> bool:
    """Say whether nothing more comes, though the bank has answered others meanwhile."""
    more = asyncio.create_task(reader.read(1))
    for _ in range(3):
        await caller.ask("GET", "/saldo")
    is_silent = not more.done()
    more.cancel()
    return is_silent


@pytest.mark.parametrize(
    ("fault", "executed"), [("reset_before", 0), ("reset_after", 1)], ids=["before", "after"]
)
async def test_a_reset_is_a_tcp_reset_without_a_byte(caller, fault, executed):
    await inject(caller, fault, operation="payout")

    received, ended = await raw_payout(caller)

    assert (received, ended) == (b"", "reset")
    assert len(await caller.executions()) == executed
    assert len((await caller.control("GET", "/calls"))[1]["data"]) == 1


@pytest.mark.parametrize(("fault", "executed"), [("hang", 0), ("hang_after", 1)])
async def test_a_hang_sends_nothing_and_keeps_the_connection(caller, fault, executed):
    await inject(caller, fault, operation="payout")

    reader, writer = await send_payout(caller)
    await until(caller.calls)

    assert await is_silent(caller, reader)
    assert len(await caller.executions()) == executed
    writer.close()


async def test_a_hang_ends_with_a_reset(caller, monkeypatch):
    monkeypatch.setattr(ports, "HANG_S", 0.05)
    await inject(caller, "hang")

    received, ended = await raw_payout(caller)

    assert (received, ended) == (b"", "reset")


async def test_a_drip_is_the_true_answer_byte_by_byte(caller, monkeypatch):
    monkeypatch.setattr(ports, "_DRIP_S", 0.001)
    await inject(caller, "drip", operation="payout")

    received, _ = await raw_payout(caller)

    assert json.loads(received.partition(b"\r\n\r\n")[2])["valor_centavos"] == 1050
    assert len(await caller.executions()) == 1


async def test_a_drip_is_slow(caller, monkeypatch):
    monkeypatch.setattr(ports, "_DRIP_S", 3600)
    await inject(caller, "drip", operation="payout")

    reader, writer = await send_payout(caller)
    await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(1)

    assert await is_silent(caller, reader)
    writer.close()


@pytest.mark.parametrize("status", [302, 400, 429, 500, 502, 503, 504], ids=str)
async def test_a_status_is_answered_without_executing(caller, status):
    await inject(caller, "status", operation="payout", status=status)

    received, _ = await raw_payout(caller)

    head = received.partition(b"\r\n\r\n")[0]
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert (b"Retry-After: 1" in head) == (status in (429, 503))
    assert (b"Location: http://elsewhere" in head) == (status == 302)
    assert await caller.executions() == []


async def test_a_status_after_executing(caller):
    await inject(caller, "status", operation="payout", status=502, executed=True)

    status, _ = await caller.pay_out(10_50)

    assert (status, len(await caller.executions())) == (502, 1)


async def test_a_rejection_executes_nothing(caller):
    await inject(caller, "reject", operation="payout")

    status, said = await caller.pay_out(10_50)

    assert (status, said["error"]["code"]) == (400, "REJECTED")
    assert await caller.executions() == []


async def test_malformed_is_half_a_document(caller):
    await inject(caller, "malformed", operation="payout")

    received, _ = await raw_payout(caller)

    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(body)
    assert len(await caller.executions()) == 1


async def test_wrong_types_are_all_wrong(caller):
    await inject(caller, "wrong_types", operation="payout")

    status, said = await caller.pay_out(10_50)

    assert status == 200
    assert (said["valor_centavos"], said["situacao"], said["falha"]) == ("1050", 16, {})
    assert len(await caller.executions()) == 1


async def test_huge_is_above_a_mebibyte(caller, monkeypatch):
    monkeypatch.setattr(ports, "_HUGE_BYTES", 2 * 1024 * 1024)
    await inject(caller, "huge", operation="balance")

    async with caller.session.get(caller.url + "/saldo", headers=caller.headers) as answer:
        body = await answer.read()

    assert len(json.loads(body)["padding"]) == 2 * 1024 * 1024


async def test_a_caller_who_hangs_up_in_huge_leaves_the_bank_well(caller):
    await inject(caller, "huge", operation="balance")

    async with caller.session.get(caller.url + "/saldo", headers=caller.headers) as answer:
        await answer.content.readexactly(1000)
        answer.close()

    assert (await caller.ask("GET", "/saldo"))[0] == 200


async def test_refuse_is_refused_by_the_operating_system(caller):
    await caller.ask("GET", "/saldo")
    await inject(caller, "refuse", operation="balance", count=None)

    for path in ("/saldo", "/chaves"):
        with pytest.raises(aiohttp.ClientConnectorError):
            await caller.ask("GET", path)
    await caller.control("DELETE", "/faults")

    assert (await caller.ask("GET", "/saldo"))[0] == 200


async def test_refuse_ends_after_its_seconds(caller):
    await inject(caller, "refuse", count=1)
    with pytest.raises(aiohttp.ClientConnectorError):
        await caller.ask("GET", "/saldo")

    async def is_served() -> bool:
        with contextlib.suppress(aiohttp.ClientConnectorError):
            return (await caller.ask("GET", "/saldo"))[0] == 200
        return False

    await until(is_served)
    assert (await caller.control("GET", "/faults"))[1]["data"] == []


@pytest.mark.parametrize("operation", READS, ids=str)
async def test_a_fault_hits_its_operation_only(caller, operation):
    await inject(caller, "status", operation=operation, status=503, count=None)

    answered = {name: (await caller.ask("GET", path))[0] for name, path in READS.items()}

    assert answered == {name: 503 if name == operation else 200 for name in READS}


async def test_a_fault_never_touches_the_control_interface(caller):
    await inject(caller, "hang", operation="*", count=None)

    status, _ = await caller.control("GET", "/ledger")

    assert status == 200


def test_a_reset_is_one_on_uvloop_too(tmp_path):
    """The gateway runs on uvloop, and the bank inside it; its sockets are other objects."""

    async def ask() -> None:
        bank = SandboxBank(db_path=str(tmp_path / "uv.db"), port=0, control_port=0)
        await bank.start()
        try:
            async with aiohttp.ClientSession() as session:
                url = f"http://127.0.0.1:{bank.control_port}/control/faults"
                await session.post(url, json={"fault": "reset_before"})
            reader, writer = await asyncio.open_connection("127.0.0.1", bank.port)
            writer.write(b"GET /v1/contas/x/saldo HTTP/1.1\r\nHost: bank\r\n\r\n")
            try:
                await reader.read()
            finally:
                writer.close()
        finally:
            await bank.close()

    with pytest.raises(ConnectionResetError):
        uvloop.run(ask())
