"""Stopping and killing a process: no request is cut off, and nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.world import raw_http
from tests.world.gateway.answers import Answer
from tests.world.gateway.processes import GatewaySite, Served, place, served, today
from tests.world.gateway.world import basic, order
from tests.world.waiting import until


async def is_ready(running: Served, status: int) -> bool:
    return await running.ready() == status


async def test_a_stopping_process_serves_then_refuses_and_exits_with_zero(tmp_path: Path):
    """
    Not ready at once; requests served for a while; then 503 on kept connections.

    What is in flight is finished, and the exit code is 0.
    """
    where = place(tmp_path, drain_accept_s="1", read_timeout_s="3")
    async with served(where) as running:
        before = await running.ready()
        kept = await connected(running)
        first = await kept.ask()
        await hang(running, "balance")

        running.process.send_signal(signal.SIGTERM)
        await until(partial(is_ready, running, 503))
        served_on = await running.ask("GET", where.at("/pix/keys"))
        held = asyncio.create_task(running.ask("GET", where.at("/balance")))
        await closed(where.ports["PIXGATE_PORT"])
        refused = await kept.ask()
        inside = await held
        code = await running.ended()

    assert (before, first.status, served_on.status) == (200, 200, 200)
    assert (refused.status, refused.code) == (503, "SVC.GTW.006")
    assert refused.headers["connection"] == "close"
    assert refused.headers["x-trace-id"]
    assert (inside.verdict, code) == ((502, "SVC.ACC.006"), 0)


async def test_a_hangup_applies_reloadable_settings_and_names_the_others(tmp_path: Path):
    """``kill -HUP`` is an operator's reflex; a closed terminal sends it too."""
    where = place(tmp_path, read="{rate: 0.01, burst: 2}")
    async with served(where) as running:
        before = await digest(running)
        asked = [(await running.ask("GET", where.at("/balance"))).status for _ in range(3)]
        await hang_up(running, "has not changed")
        change(where, {"{rate: 0.01, burst: 2}": "{rate: 50, burst: 100}"})
        change(where, {"level: info": "level: error", "pool: 10": "pool: 11"})
        await hang_up(running, "ratelimits.read.burst, ratelimits.read.rate, telemetry.level")
        again = [(await running.ask("GET", where.at("/balance"))).status for _ in range(3)]
        after = await digest(running)
        change(where, {"burst: 100}": "burst: -1}"})
        await hang_up(running, "nothing was reloaded: ")
        answer = await running.ask("GET", where.at("/balance"))
        kept = await digest(running)
        running.process.send_signal(signal.SIGINT)
        code = await running.ended()

    said = where.said.read_text()
    assert (asked, again, answer.status, code) == ([200, 200, 429], [200, 200, 200], 200, 0)
    assert before != after == kept
    assert "changed, and needs a restart: database.pool" in said
    assert "ratelimits.read.burst: " in said


async def test_a_stopped_process_leaves_no_request_out_of_the_request_log(tmp_path: Path):
    """Requests since the last write are written before the store is closed."""
    where = place(tmp_path, drain_accept_s="0")
    traces = {f"trace-{n}" for n in range(20)}
    async with served(where) as running:
        for each in traces:
            await running.ask("GET", where.at("/balance"), headers={"X-Trace-ID": each})
        running.process.send_signal(signal.SIGTERM)
        code = await running.ended()

    with contextlib.closing(sqlite3.connect(tmp_path / "pixgate.db")) as store:
        kept = {row[0] for row in store.execute("SELECT trace_id FROM request_log")}
    assert code == 0
    assert traces <= kept


async def test_an_interrupted_process_ends_at_once_and_its_log_holds_no_secret(tmp_path: Path):
    """
    SIGINT comes from a waiting person; an hour of draining would outlast this test.

    Authorization, secrets, tax numbers and keys are planted in requests, and searched for in the
    output.
    """
    where = place(tmp_path, drain_accept_s="3600", drain_s="3601")
    planted = {"canary-name": "Zacarias Canario", "key": "canario@example.com"}
    async with served(where) as running:
        demo = where.demo
        printed = where.said.read_text()
        document = order("canary-reference", today(), description="canary-description")
        document["destination"] = {
            "name": planted["canary-name"],
            "tax_number": "111.444.777-35",
            "key_type": "email",
            "key": planted["key"],
        }
        await running.ask("POST", where.at("/withdraw"), document=document)
        await running.ask("GET", where.at("/withdraw/canary-reference?canary=query"))
        await running.ask("GET", "/canary-path", headers={"Cookie": "session=canary-cookie"})
        await running.ask("POST", where.at("/withdraw"), data=b'{"canary-body": 1')
        await running.ask("GET", where.at("/balance"), headers={"Authorization": "Basic Y2FuYXJ5"})
        running.process.send_signal(signal.SIGINT)
        code = await running.ended()

    assert code == 0
    logged = where.said.read_text().removeprefix(printed)
    pair = demo["credentials"]["full"]
    secrets = [
        pair["client_secret"], basic(pair).split()[1], "Y2FuYXJ5", "canary", *planted.values(),
        "111.444.777-35", "11144477735", demo["accounts"]["main"]["id"],
    ]  # fmt: skip
    own = [line for line in logged.splitlines() if '"event":"access"' in line]
    assert len([line for line in own if '"surface":"callbacks"' not in line]) == 5
    assert [each for each in secrets if each in logged] == []


async def pay(running: Served, reference: str) -> Answer:
    document = order(reference, today(), value=1)
    return await running.ask("POST", running.where.at("/withdraw"), document=document)


async def hang(running: Served, operation: str) -> None:
    """Let the bank leave the next call of an operation without an answer."""
    fault: dict[str, Any] = {"operation": operation, "fault": "hang", "count": 1}
    async with running.session.post(f"{running.where.control_url}/faults", json=fault) as said:
        assert said.status == 201


def change(where: GatewaySite, lines: Mapping[str, str]) -> None:
    text = where.config.read_text()
    for old, new in lines.items():
        assert old in text
        text = text.replace(old, new, 1)
    where.config.write_text(text)


async def hang_up(running: Served, said: str) -> None:
    """Send SIGHUP, and wait until the log says so."""
    running.process.send_signal(signal.SIGHUP)
    await until(lambda: said in running.where.said.read_text())


async def digest(running: Served) -> str:
    """Return the digest of the configuration in force, wherever it is shown."""
    ops_url = running.where.ops_url
    async with running.session.get(f"{ops_url}/config/digest") as said:
        named = (await said.json())["digest"]
    async with running.session.get(f"{ops_url}/metrics") as said:
        text = await said.text()
    shown = re.findall(r'pixgate_config_info\{digest="(\w+)"\} 1', text)
    answer = await running.ask("GET", "/baas/v1/health")
    logged = f'"trace_id":"{answer.headers["X-Trace-ID"]}"'
    await until(lambda: logged in running.where.said.read_text())
    line = next(each for each in running.where.said.read_text().splitlines() if logged in each)
    assert shown == [named]
    assert f'"config_digest":"{named}"' in line
    return str(named)


async def closed(port: int) -> None:
    """Wait until no connection is accepted any more."""

    async def is_closed() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return True
        writer.close()
        return False

    await until(is_closed)


@dataclass(frozen=True, slots=True)
class Kept:
    """A connection that is kept, and the request that is made on it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    request: bytes

    async def ask(self) -> raw_http.Answer:
        """Ask once more and read one answer."""
        self.writer.write(self.request)
        raw = await self.reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.partition(b":")[2])
            for line in raw.lower().splitlines()
            if line.startswith(b"content-length")
        )
        (answer,) = raw_http.split(raw + await self.reader.readexactly(length))
        if answer.headers.get("connection") == "close":
            self.writer.close()
        return answer


async def connected(running: Served) -> Kept:
    """Connect, to ask for the balance as the demo's full credential."""
    where = running.where
    reader, writer = await asyncio.open_connection("127.0.0.1", where.ports["PIXGATE_PORT"])
    header = basic(where.demo["credentials"]["full"])
    head = f"GET {where.at('/balance')} HTTP/1.1\r\nHost: a\r\nAuthorization: {header}\r\n\r\n"
    return Kept(reader, writer, head.encode())
