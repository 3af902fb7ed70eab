"""Spans of a gateway as a collector gets them (ADR 0045)."""

from __future__ import annotations

import signal
import uuid
from pathlib import Path
from typing import Final

from tests.world.collector import Collector, collecting
from tests.world.gateway.processes import GatewaySite, place, served, today
from tests.world.gateway.world import order
from tests.world.waiting import until

CALLER: Final = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
BALANCE: Final = "GET /baas/v1/account/{account_id}/balance"
PAYOUT: Final = "POST /baas/v1/account/{account_id}/withdraw"
BANK_PAID: Final = "POST /v1/contas/{conta}/transferencias"
ADDED: Final = "add payouts"
LOOK: Final = "look follow-up"
PAID: Final = {
    PAYOUT: "",
    "gate": PAYOUT,
    ADDED: PAYOUT,
    BANK_PAID: PAYOUT,
    LOOK: "",
    "GET /v1/contas/{conta}/transferencias/{id}": LOOK,
}
"""Spans of a payout and of its follow-up, each with its parent."""
COLLECTOR_SECRET: Final = "collector-canary"
CANARY: Final = "canary"
CANARIES: Final = (CANARY, "529.982.247-25", "52998222725", "maria@example.com", "Maria Silva")
"""Of header, query, reference, description and collector; tax number, PIX key and name."""


def watched(folder: Path, collector: Collector) -> GatewaySite:
    where = place(folder, endpoint=collector.url, ratio="1.0", drain_accept_s="0")
    text = where.config.read_text()
    headers = "    headers: {}\n"
    assert text.count(headers) == 1
    where.config.write_text(text.replace(headers, "    headers: {Authorization: '${COLLECTOR}'}\n"))
    where.environ |= {"COLLECTOR": COLLECTOR_SECRET, "OTEL_BSP_SCHEDULE_DELAY": "50"}
    return where


async def test_a_balance_a_payout_and_its_follow_up_are_recorded(tmp_path: Path):
    """With the right parents, attributes by the conventions, and nothing that a caller sent."""
    ours, sent = str(uuid.uuid4()), f"00-{'-'.join(CALLER)}-01"
    async with collecting() as collector:
        where = watched(tmp_path, collector)
        async with served(where) as running:
            headers = {"traceparent": sent, "X-Canary": CANARY, "tracestate": f"a={CANARY}"}
            balance = await running.ask("GET", where.at("/balance"), headers=headers)
            await running.ask("GET", where.at(f"/statement?init={CANARY}&ends={CANARY}"))
            document = order(CANARY, today(), description=CANARY)
            headers = {"X-Trace-ID": ours}
            await running.ask("POST", where.at("/withdraw"), document=document, headers=headers)
            await until(lambda: '"operation":"find_payout"' in where.said.read_text())
            running.process.send_signal(signal.SIGTERM)
            await running.ended()

    assert collector.tree(CALLER[0]) == {
        BALANCE: CALLER[1],
        "gate": BALANCE,
        "find_all credentials": "gate",
        "find_all accounts": "gate",
        "GET /v1/contas/{conta}/saldo": BALANCE,
    }
    paid = collector.tree(ours.replace("-", ""))
    assert {name: paid.get(name) for name in PAID} == PAID
    told = {name: collector.named(name).attributes for name in (BALANCE, BANK_PAID, ADDED)}
    assert told == {
        BALANCE: {
            "http.request.method": "GET",
            "http.route": BALANCE.partition(" ")[2],
            "http.response.status_code": 200,
            "pixgate.trace_id": balance.trace_id,
        },
        BANK_PAID: {
            "http.request.method": "POST",
            "server.address": "127.0.0.1",
            "server.port": where.ports["PIXGATE_BANK_PORT"],
            "http.response.status_code": 201,
            "pixgate.operation": "create_payout",
        },
        ADDED: {"db.system.name": "sqlite"},
    }
    check_what_is_sent(collector)


def check_what_is_sent(collector: Collector) -> None:
    """Whose spans they are, the collector's credential, and no canary."""
    assert {each["Authorization"] for each in collector.headers} == {COLLECTOR_SECRET}
    named = {"service.name": "pixgate", "deployment.environment.name": "sandbox"}
    for resource in collector.resources:
        assert named.items() <= resource.items()
        assert resource["service.version"]
    # The caller's tracestate belongs to each span by the rules of the W3C.
    told = b"".join(collector.raw).replace(f"a={CANARY}".encode(), b"")
    assert [each for each in CANARIES if each.encode() in told] == []


async def test_a_collector_that_hangs_blocks_no_caller(tmp_path: Path):
    """Neither requests nor the stop of the process, which drops the spans."""
    async with collecting(hangs=True) as collector:
        where = watched(tmp_path, collector)
        async with served(where) as running:
            await running.ask("GET", where.at("/balance"))
            await until(lambda: collector.spans)
            answer = await running.ask("GET", where.at("/balance"))
            running.process.send_signal(signal.SIGTERM)
            ended = await running.ended()

    assert (answer.status, ended) == (200, 0)
