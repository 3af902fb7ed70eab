"""A bank that is asked what became of payouts: settled, or not decided yet, after a latency."""

from __future__ import annotations

import argparse
import asyncio
import re
from typing import Final, cast

import uvloop

SETTLED, UNDECIDED = "LIQUIDADA", "EM_PROCESSAMENTO"
_END: Final = b"\r\n\r\n"
_ASKED: Final = re.compile(rb"GET /v1/contas/[^/]+/transferencias/([0-9a-f]{32}) HTTP/1.1\r\n")
_EMPTY: Final = b'{"lancamentos":[],"proximo_cursor":null}'
_PAYOUT: Final = (
    b'{"id":"%s","chave_idempotencia":"%s","situacao":"%s","valor_centavos":1050,"e2e":null,'
    b'"liquidada_em":%s,"falha":null,"devolucoes":[]}'
)


class Deciding(asyncio.Protocol):
    """One connection of somebody who asks; a payout's id at this bank is our key of it."""

    def __init__(self, state: str, latency_s: float) -> None:
        """Answer that every payout is in a state; an account's statement is empty."""
        at = b'"2026-11-20T13:40:11.123Z"' if state == SETTLED else b"null"
        self._decided = state.encode(), at
        self._latency_s = latency_s
        self._begun = b""
        self._transport: asyncio.WriteTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete; those of one connection come one by one."""
        *asked, self._begun = (self._begun + data).split(_END)
        for request in asked:
            found = _ASKED.match(request + b"\r\n")
            state, at = self._decided
            body = _PAYOUT % (found[1], found[1], state, at) if found else _EMPTY
            answer = (
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            )
            written = answer % (len(body), body)
            loop = asyncio.get_running_loop()
            loop.call_later(self._latency_s, self._transport.write, written)


async def serve(port: int, state: str, latency_s: float) -> None:
    """Answer until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Deciding(state, latency_s), "127.0.0.1", port, backlog=1024
    )
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--state", choices=[SETTLED, UNDECIDED], required=True)
    parser.add_argument("--latency", type=float, default=0.02, help="seconds")
    given = parser.parse_args()
    uvloop.run(serve(given.port, given.state, given.latency))
