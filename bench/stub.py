"""The bank at the far end: balances and statements, answered for next to nothing."""

from __future__ import annotations

import argparse
import asyncio
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
BALANCE = (
    b'{"saldo_centavos":1000000,"bloqueado_centavos":5000,"disponivel_centavos":995000,'
    b'"atualizado_em":"2026-11-20T13:40:11.123Z"}'
)
WOOVI_BALANCE = (
    b'{"account":{"accountId":"bench-woovi","isDefault":true,'
    b'"balance":{"total":1000000,"blocked":5000,"available":995000}}}'
)
_END = b"\r\n\r\n"


def path(account: str) -> str:
    """Name an account's balance as the sandbox bank does."""
    return f"/v1/contas/{account}/saldo"


def _answer(status: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + _END + body


_FOUND = _answer("200 OK", BALANCE)
_UNKNOWN = _answer("404 Not Found", b'{"error":{"code":"NOT_FOUND","message":"no such thing"}}')
_AT_ONCE = f"GET {path(ACCOUNT)} HTTP/1.1\r\n".encode()
_LATER = f"GET {path(SLOW_ACCOUNT)} HTTP/1.1\r\n".encode()
_AT_WOOVI = f"GET /api/v1/account/{WOOVI_ACCOUNT} HTTP/1.1\r\n".encode()
_FOUND_AT_WOOVI = _answer("200 OK", WOOVI_BALANCE)
_STATEMENT = f"GET /v1/contas/{ACCOUNT}/extrato?de=".encode()
_PAGES = {
    movements.day_of(number).encode(): _answer("200 OK", movements.as_bank(number))
    for number in range(movements.MOST + 1)
}
_DAY = slice(len(_STATEMENT), len(_STATEMENT) + 10)


class Stub(asyncio.Protocol):
    """One connection of somebody who asks; requests have no body."""

    def __init__(self, latency_s: float) -> None:
        """Answer for the slow account after ``latency_s`` seconds."""
        self._latency_s = latency_s
        self._begun = b""
        self._transport: asyncio.WriteTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        *asked, self._begun = (self._begun + data).split(_END)
        for request in asked:
            if request.startswith(_LATER):
                loop = asyncio.get_running_loop()
                loop.call_later(self._latency_s, self._transport.write, _FOUND)
            else:
                self._transport.write(_at_once(request))


def _at_once(request: bytes) -> bytes:
    """Find the answer; a statement has as many movements as its first day says."""
    if request.startswith(_AT_ONCE):
        return _FOUND
    if request.startswith(_AT_WOOVI):
        return _FOUND_AT_WOOVI
    if request.startswith(_STATEMENT):
        return _PAGES.get(request[_DAY], _UNKNOWN)
    return _UNKNOWN


async def serve(port: int, latency_s: float) -> None:
    """Answer until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Stub(latency_s), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--latency", type=float, default=0.02, help="seconds, slow account only")
    given = parser.parse_args()
    uvloop.run(serve(given.port, given.latency))
