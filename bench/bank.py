"""
The bank at the far end, answered for next to nothing: balances, statements, payouts.

Balances and statements come at once, those of the slow account and what became of a payout after a
latency. Every payout is taken, and may be settled by that.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from typing import cast

import uvloop

from bench import movements

ACCOUNT = "bench"
"""Answered at once."""

SLOW_ACCOUNT = "bench-slow"
"""Answered after the latency."""

WOOVI_ACCOUNT = "bench-woovi"
"""Answered at once too, in the shape of another bank."""

TOKEN = "bench-token"  # noqa: S105 - opens nothing but this stub
SETTLED, UNDECIDED = "LIQUIDADA", "EM_PROCESSAMENTO"
"""What it says of a payout: as it takes it, and when it is asked about it."""

BALANCE = (
    b'{"saldo_centavos":1000000,"bloqueado_centavos":5000,"disponivel_centavos":995000,'
    b'"atualizado_em":"2026-11-20T13:40:11.123Z"}'
)
_WOOVI_BALANCE = (
    b'{"account":{"accountId":"bench-woovi","isDefault":true,'
    b'"balance":{"total":1000000,"blocked":5000,"available":995000}}}'
)
_PAYOUT = (
    b'{"id":"%s","chave_idempotencia":"%s","situacao":"%s","valor_centavos":%s,"e2e":null,'
    b'"liquidada_em":%s,"falha":null,"devolucoes":[]}'
)
_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_KEY = re.compile(rb"\r\nidempotency-key: *([^\r]+)", re.IGNORECASE)
_CENTAVOS = re.compile(rb'"valor_centavos": *([0-9]+)')
_ASKED = re.compile(rb"GET /v1/contas/[^/]+/transferencias/([0-9a-f]{32}) ")


def path(account: str) -> str:
    """Name an account's balance as the sandbox bank does."""
    return f"/v1/contas/{account}/saldo"


def _answer(status: bytes, body: bytes) -> bytes:
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
    return head % (status, len(body), body)


_FOUND = _answer(b"200 OK", BALANCE)
_UNKNOWN = _answer(b"404 Not Found", b'{"error":{"code":"NOT_FOUND","message":"no such thing"}}')
_NO_MOVEMENTS = _answer(b"200 OK", movements.as_bank(0))
_AT_ONCE = f"GET {path(ACCOUNT)} ".encode()
_LATER = f"GET {path(SLOW_ACCOUNT)} ".encode()
_AT_WOOVI = f"GET /api/v1/account/{WOOVI_ACCOUNT} ".encode()
_FOUND_AT_WOOVI = _answer(b"200 OK", _WOOVI_BALANCE)
_STATEMENT = f"GET /v1/contas/{ACCOUNT}/extrato?de=".encode()
_PAGES = {
    movements.day_of(number).encode(): _answer(b"200 OK", movements.as_bank(number))
    for number in range(movements.MOST + 1)
}
_DAY = slice(len(_STATEMENT), len(_STATEMENT) + 10)


class Stub(asyncio.Protocol):
    """One connection of somebody who asks."""

    def __init__(self, latency_s: float, taken: str, state: str) -> None:
        """Take every payout in one state; say after ``latency_s`` seconds that it is in another."""
        self._latency_s = latency_s
        self._as_taken, self._decided = _said(taken), _said(state)
        self._begun = b""
        self._transport: asyncio.WriteTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        self._begun += data
        while (head_end := self._begun.find(_END)) >= 0:
            head = self._begun[: head_end + 2]
            length = _LENGTH.search(head)
            end = head_end + len(_END) + (int(length[1]) if length else 0)
            if len(self._begun) < end:
                return
            body, self._begun = self._begun[head_end + len(_END) : end], self._begun[end:]
            self._respond(head, body)

    def _respond(self, head: bytes, body: bytes) -> None:
        write = self._transport.write
        if head.startswith(b"POST "):
            write(_taken(head, body, self._as_taken))
        elif head.startswith(_LATER):
            asyncio.get_running_loop().call_later(self._latency_s, write, _FOUND)
        elif asked := _ASKED.match(head):
            state, at = self._decided
            found = _answer(b"200 OK", _PAYOUT % (asked[1], asked[1], state, b"1050", at))
            asyncio.get_running_loop().call_later(self._latency_s, write, found)
        else:
            write(_at_once(head))


def _said(state: str) -> tuple[bytes, bytes]:
    """Write a state and its instant."""
    return state.encode(), b'"2026-11-20T13:40:11.123Z"' if state == SETTLED else b"null"


def _taken(head: bytes, body: bytes, said: tuple[bytes, bytes]) -> bytes:
    """Take a payout."""
    key, centavos = _KEY.search(head), _CENTAVOS.search(body)
    if not key or not centavos:
        return _UNKNOWN
    made = _PAYOUT % (b"pay_" + key[1], key[1], said[0], centavos[1], said[1])
    return _answer(b"201 Created", made)


def _at_once(head: bytes) -> bytes:
    """Find the answer; a statement has as many movements as its first day says."""
    if head.startswith(_AT_ONCE):
        return _FOUND
    if head.startswith(_AT_WOOVI):
        return _FOUND_AT_WOOVI
    if head.startswith(_STATEMENT):
        return _PAGES.get(head[_DAY], _NO_MOVEMENTS)
    return _UNKNOWN


async def serve(port: int, latency_s: float, taken: str, state: str) -> None:
    """Answer until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Stub(latency_s, taken, state), "127.0.0.1", port, backlog=1024
    )
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0].strip())
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--latency", type=float, default=0.02, help="seconds")
    for state in ("--taken", "--state"):
        parser.add_argument(state, choices=[SETTLED, UNDECIDED], default=UNDECIDED)
    given = parser.parse_args()
    uvloop.run(serve(given.port, given.latency, given.taken, given.state))
