"""
``make bench``: CPU, latency and memory of a request, beside a bare proxy and other gateways.

Everything is started, then loaded in turns, so that what else the machine does falls on all alike.
Each request has a trace id of its own. Fails on a wrong answer, on a slow one only with --check.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import uvloop

from bench import bank, movements, peer_gateways, rounds, stage, system
from bench.load import Order, traced
from bench.partner import Partner, make_partner, write_request
from bench.proxy import CANNED
from bench.rounds import Goal, Measured, Subject
from bench.stage import Stage

PROXY = "bare aiohttp proxy"
CANNED_ANSWER = "aiohttp, canned answer"
BALANCE = "gateway, balance"
WOOVI_BALANCE = "gateway, balance at woovi"
REFUSED = "gateway, 401 for a wrong secret"
STATEMENT = "gateway, statement of 100 rows"
SLOW_PROXY = "bare aiohttp proxy, bank at 20 ms"
SLOW = "gateway, bank at 20 ms"
IDLE = "memory of an idle process, MB"

FIGURES = ("cpu", "slow", "peers")
CONVERSATIONS = 512

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


def _p50(one: rounds.Round) -> float:
    return one.p50_ms


def _pss(one: rounds.Round) -> float:
    return one.pss_mb


GOALS = (
    Goal("R1", BALANCE, PROXY),
    Goal("R2", BALANCE, CANNED_ANSWER),
    Goal("R3", peer_gateways.FASTAPI, BALANCE),
    Goal("R4", peer_gateways.LITESTAR, BALANCE),
    Goal("R7", SLOW, SLOW_PROXY, _p50),
    Goal("R9", REFUSED, CANNED_ANSWER),
    Goal("R14", SLOW, SLOW_PROXY, _pss),
    Goal("R15", WOOVI_BALANCE, BALANCE),
)


def measure(options: argparse.Namespace) -> int:
    """
    Take the figures that were asked for.

    Raises:
        WrongAnswer: a system did not answer as it must.
        NotStarted: one did not come up.
    """
    figures, measured = set(options.only or FIGURES), Measured()
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
    yield from (each for figure, each in _references(scene, connections) if figure in figures)
    for suffix, tree in stage.trees(scene.folder, options.before):
        site = scene.site(f"gateway{suffix}", tree)
        partner = make_partner(site)
        pid = scene.gateway(site)
        measured.values[IDLE + suffix] = [system.pss_mb(system.tree(pid))]
        for figure, each in _gateway(pid, site.port, partner, connections):
            if figure in figures or (each.name == BALANCE and "peers" in figures):
                yield replace(each, name=each.name + suffix)
        if "peers" in figures and not suffix:
            yield from peer_gateways.standing(scene, partner, connections)


def _references(scene: Stage, connections: int) -> Iterator[tuple[str, Subject]]:
    """Start what the gateway is compared with."""
    pid, port = scene.script("proxy.py", "--upstream", f"http://127.0.0.1:{scene.bank}")
    passing = Subject(
        name=PROXY,
        pid=pid,
        order=Order(port=port, requests=traced(_to_bank(bank.ACCOUNT))),
        right=_right("200 OK", _HEADERS[PROXY], bank.BALANCE),
        connections=connections,
    )
    yield "cpu", passing
    slow = replace(passing.order, requests=traced(_to_bank(bank.SLOW_ACCOUNT)))
    yield "slow", replace(passing, name=SLOW_PROXY, order=slow, connections=CONVERSATIONS)
    pid, port = scene.script("proxy.py")
    yield (
        "cpu",
        Subject(
            name=CANNED_ANSWER,
            pid=pid,
            order=Order(port=port, requests=traced(_to_bank(bank.ACCOUNT))),
            right=_right("200 OK", _HEADERS[PROXY], CANNED),
            connections=connections,
        ),
    )


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
