"""A bank that takes every payout at once, and partners that ask for one after another."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import cast
from zlib import crc32

import uvloop

_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_KEY = re.compile(rb"\r\nidempotency-key: *([^\r]+)", re.IGNORECASE)
_CENTAVOS = re.compile(rb'"valor_centavos": *([0-9]+)')
_TAKEN = (
    b'{"id":"pay_01J9ZK3V5Q8R7T6Y4W2X1N0M9B","chave_idempotencia":"%s",'
    b'"situacao":"EM_PROCESSAMENTO","valor_centavos":%s,"e2e":null,"liquidada_em":null,"falha":null}'
)


class Messages(asyncio.Protocol):
    """Requests or answers on a kept connection, each given on when it is complete."""

    def __init__(self, given: Callable[[Messages, bytes, bytes], None]) -> None:
        """Give each head and body to ``given``."""
        self._given = given
        self._begun = b""
        self.transport: asyncio.WriteTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Cut messages out of what came."""
        self._begun += data
        while (head_end := self._begun.find(_END)) >= 0:
            head = self._begun[: head_end + 2]
            length = _LENGTH.search(head)
            end = head_end + len(_END) + (int(length[1]) if length else 0)
            if len(self._begun) < end:
                return
            body, self._begun = self._begun[head_end + len(_END) : end], self._begun[end:]
            self._given(self, head, body)


def take(connection: Messages, head: bytes, body: bytes) -> None:
    """Answer as the sandbox bank does to a payout it has just taken."""
    key, centavos = _KEY.search(head), _CENTAVOS.search(body)
    status, said = b"404 Not Found", b"{}"
    if key and centavos:
        status, said = b"201 Created", _TAKEN % (key[1], centavos[1])
    lines = [
        b"HTTP/1.1 " + status,
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(said),
        b"",
        said,
    ]
    connection.transport.write(b"\r\n".join(lines))


@dataclass(slots=True)
class Tally:
    """
    What came back.

    Attributes:
        wrong: Answers that are no 200.
        open: Requests that wait for their answer.
    """

    answers: int = 0
    open: int = 0
    wrong: int = 0
    latencies_s: list[float] = field(default_factory=list)
    stopped: bool = False

    def clear(self) -> None:
        """Count anew; what was wrong stays so."""
        self.answers = 0
        self.latencies_s.clear()


class Till:
    """A partner on one connection, asking for the next payout as soon as one is answered."""

    def __init__(self, head: bytes, names: Iterator[str], tally: Tally) -> None:
        """Send ``head`` before each order; it ends where its length begins."""
        self._head, self._names, self._tally = head, names, tally
        self._since = 0.0

    def ask(self, connection: Messages) -> None:
        """Ask for a payout under a new reference."""
        body = order(next(self._names))
        self._tally.open += 1
        self._since = time.perf_counter()
        connection.transport.write(b"%s%d\r\n\r\n%s" % (self._head, len(body), body))

    def answered(self, connection: Messages, head: bytes, _body: bytes) -> None:
        """Count, and go on."""
        tally = self._tally
        tally.open -= 1
        tally.answers += 1
        tally.wrong += not head.startswith(b"HTTP/1.1 200 ")
        tally.latencies_s.append(time.perf_counter() - self._since)
        if not tally.stopped:
            self.ask(connection)


def order(reference: str) -> bytes:
    """Write an order of today."""
    document = {
        "method": "pix",
        "reference": reference,
        # hardly two alike: each would be logged as a likely mistake
        "value": (100 + crc32(reference.encode()) % 1_000_000) / 100,
        "date": datetime.now(UTC).date().isoformat(),
        "destination": {
            "name": "Maria Silva",
            "tax_number": "52998224725",
            "key_type": "email",
            "key": "maria@example.com",
        },
        "description": "pagamento",
    }
    return json.dumps(document).encode()


async def serve(port: int) -> None:
    """Be the bank until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Messages(take), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    uvloop.run(serve(parser.parse_args().port))
