"""
``make bench``: CPU, latency and memory of a request, beside a bare proxy and other gateways.

Everything is started, then loaded in turns, so that what else the machine does falls on all alike.
Each request has a trace id of its own. Fails on a wrong answer, on a slow one only with --check.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import uvloop

from bench import bank, movements, open_loop, peer_gateways, rounds, stage, system
from bench.load import Order, traced
from bench.partner import Partner, make_partner, write_request
from bench.proxy import CANNED
from bench.rounds import Goal, Measured, Subject
from bench.stage import Stage
from bench.trees import OURS

PROXY = "bare aiohttp proxy"
CANNED_ANSWER = "aiohttp, canned answer"
BALANCE = "gateway, balance"
WOOVI_BALANCE = "gateway, balance at woovi"
REFUSED = "gateway, 401 for a wrong secret"
STATEMENT = "gateway, statement of 100 rows"
SLOW_PROXY = "bare aiohttp proxy, bank at 20 ms"
SLOW = "gateway, bank at 20 ms"
WITH_SPANS = "gateway, balance, spans of one in twenty"
SPANS = "spans"
IDLE = "memory of an idle process, MB"

DAILY = ("cpu", "slow", "peers", open_loop.HELD)
FIGURES = (*DAILY, SPANS, open_loop.EVERY)
CONVERSATIONS = 512

_ALSO_FOR = {PROXY: {open_loop.HELD}, BALANCE: {open_loop.HELD, "peers", SPANS}}
"""The figures that stand on a row, beside that which it is of."""

_HEADERS = {
    PROXY: ["Content-Type: application/json", "Date: *"],
    BALANCE: [
        "Cache-Control: no-store",
        "Content-Type: application/json; charset=utf-8",
        "Date: *",
        'RateLimit-Policy: "read";q=1000000000;w=1000',
        'RateLimit: "read";r=*;t=1',
        "X-Trace-ID: *",
    ],
    REFUSED: [
        "Cache-Control: no-store",
        "Content-Type: application/json; charset=utf-8",
        "Date: *",
        'WWW-Authenticate: Basic realm="baas", charset="UTF-8"',
        "X-Trace-ID: *",
    ],
}
_REFUSAL = b'{"code":"SVC.AUT.010","message":"The credentials are invalid.","trace_id":"*"}'
_TRACE_ID = 36
_CANNED_AT_WOOVI = b'{"balance":10000.00,"blocked":50.00,"updated_at":""}'
"""That bank does not tell of when a balance is."""


def _pss(one: rounds.Round) -> float:
    return one.pss_mb


GOALS = (
    Goal("R1", BALANCE, PROXY),
    Goal("R2", BALANCE, CANNED_ANSWER),
    Goal("R3", peer_gateways.FASTAPI, BALANCE),
    Goal("R4", peer_gateways.LITESTAR, BALANCE),
    Goal("R7", SLOW, SLOW_PROXY, open_loop.p99),
    Goal("R9", REFUSED, CANNED_ANSWER),
    Goal("R10", WITH_SPANS, BALANCE),
    Goal("R14", SLOW, SLOW_PROXY, _pss),
    Goal("R15", WOOVI_BALANCE, BALANCE),
    open_loop.goal("R16", BALANCE, PROXY),
)


def measure(options: argparse.Namespace) -> int:
    """
    Take the figures that were asked for.

    Raises:
        WrongAnswer: a system did not answer as it must.
        NotStarted: one did not come up.
    """
    figures, measured = set(options.only or DAILY), Measured()
    if open_loop.EVERY in figures:
        figures.add(open_loop.HELD)
    with stage.staged() as scene:
        subjects = list(_standing(scene, figures, options, measured))
        taken = rounds.take(subjects, options.rounds, options.seconds)
        measured.rounds = uvloop.run(taken)
    return rounds.close(measured, GOALS, check=options.check)


def _standing(
    scene: Stage, figures: set[str], options: argparse.Namespace, measured: Measured
) -> Iterator[Subject]:
    """Start what these figures need and keep it running, idle until it is asked."""
    connections = options.connections
    wanted = partial(_wanted, figures)
    yield from wanted(_references(scene, connections))
    for suffix, tree in stage.trees(scene.folder, options.before):
        site = scene.site(f"gateway{suffix}", tree)
        partner = make_partner(site)
        pid = scene.gateway(site)
        measured.values[IDLE + suffix] = [system.pss_mb(system.tree(pid))]
        asked = [*_gateway(pid, site.port, partner, connections)]
        for each in wanted(asked):
            yield replace(each, name=each.name + suffix)
        if not suffix:
            yield from wanted(open_loop.paced(asked[0][1]))
            if "peers" in figures:
                yield from peer_gateways.standing(scene, partner, connections)
    if SPANS in figures:
        yield _with_spans(scene, connections)
    if open_loop.EVERY in figures:
        yield from _on_asyncio(scene, connections)


def _wanted(figures: set[str], found: Iterable[tuple[str, Subject]]) -> Iterator[Subject]:
    """Leave out what these figures do not need."""
    for figure, each in found:
        if figures & {figure, *_ALSO_FOR.get(each.name, ())}:
            yield each


def _with_spans(scene: Stage, connections: int) -> Subject:
    """Start a gateway once more, with a collector that takes whatever comes."""
    _, collector = scene.script("proxy.py")
    site = scene.site("gateway-with-spans", OURS)
    site = replace(site, collector=f"http://127.0.0.1:{collector}/v1/traces")
    partner = make_partner(site)
    _, balance = next(_gateway(scene.gateway(site), site.port, partner, connections))
    return replace(balance, name=WITH_SPANS)


def _on_asyncio(scene: Stage, connections: int) -> Iterator[Subject]:
    """Start proxy and gateway once more, on the loop of the standard library."""
    pid, port = _proxy(scene, "--asyncio")
    site = scene.site("gateway-on-asyncio", OURS)
    partner = make_partner(site)
    gateway = scene.gateway(site, on_asyncio=True)
    _, balance = next(_gateway(gateway, site.port, partner, connections))
    for each in (_passing(pid, port, connections), balance):
        system = replace(each, name=open_loop.on_asyncio(each.name))
        yield system
        yield from (one for _, one in open_loop.paced(system))


def _proxy(scene: Stage, *options: str) -> tuple[int, int]:
    return scene.script("proxy.py", "--upstream", f"http://127.0.0.1:{scene.bank}", *options)


def _passing(pid: int, port: int, connections: int) -> Subject:
    return Subject(
        name=PROXY,
        pid=pid,
        order=Order(port=port, requests=traced(_to_bank(bank.ACCOUNT))),
        right=_right("200 OK", _HEADERS[PROXY], bank.BALANCE),
        connections=connections,
    )


def _references(scene: Stage, connections: int) -> Iterator[tuple[str, Subject]]:
    """Start what the gateway is compared with."""
    passing = _passing(*_proxy(scene), connections)
    yield "cpu", passing
    yield from open_loop.paced(passing)
    slow = replace(passing.order, requests=traced(_to_bank(bank.SLOW_ACCOUNT)))
    yield "slow", replace(passing, name=SLOW_PROXY, order=slow, connections=CONVERSATIONS)
    pid, port = scene.script("proxy.py")
    right = _right("200 OK", _HEADERS[PROXY], CANNED)
    order = replace(passing.order, port=port)
    yield "cpu", replace(passing, name=CANNED_ANSWER, pid=pid, order=order, right=right)


def _gateway(
    pid: int, port: int, partner: Partner, connections: int
) -> Iterator[tuple[str, Subject]]:
    """Ask one running gateway in every way."""

    def asked(name: str, request: bytes, right: str, status: int = 200) -> Subject:
        order = Order(port=port, requests=traced(request), status=status)
        return Subject(name=name, pid=pid, order=order, right=right, connections=connections)

    right = partial(_right, "200 OK", _HEADERS[BALANCE])
    yield "cpu", asked(BALANCE, partner.request(partner.account), right(CANNED))
    woovi = partner.request(partner.woovi_account)
    yield "cpu", asked(WOOVI_BALANCE, woovi, right(_CANNED_AT_WOOVI))
    refusal = _right("401 Unauthorized", _HEADERS[REFUSED], _REFUSAL, _TRACE_ID - 1)
    yield "cpu", asked(REFUSED, partner.mistyped_request(), refusal, 401)
    rows = right(movements.as_gateway(movements.MOST, CANNED))
    yield "cpu", asked(STATEMENT, partner.statement_request(movements.MOST), rows)
    slow = asked(SLOW, partner.request(partner.slow_account), right(CANNED))
    yield "slow", replace(slow, connections=CONVERSATIONS)


def _to_bank(account: str) -> bytes:
    return write_request(bank.path(account), f"Bearer {bank.TOKEN}")


def _right(status: str, headers: Sequence[str], body: bytes, masked: int = 0) -> str:
    """Write an answer as ``load.ask`` returns it; ``masked`` bytes of the body are not shown."""
    length = f"Content-Length: {len(body) + masked}"
    return "\n".join([f"HTTP/1.1 {status}", *sorted([*headers, length]), "", body.decode()])


if __name__ == "__main__":
    sys.exit(stage.command(__doc__, FIGURES, measure))
