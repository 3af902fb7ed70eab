"""
How many Python calls a balance and a payout take: their cost, which no busy machine changes.

A whole request comes over a connection, and a bank in this file answers over another. Counted is
each call of a Python function by the gateway and its libraries on the loop's thread, and each time
a coroutine goes on. Timers do not run, so what is done every few milliseconds is not counted. The
loop is uvloop, as in service: asyncio's own is Python too, and would be counted.

    python -m tests.surfaces.banking.python_calls            the two numbers, as the last line
    python -m tests.surfaces.banking.python_calls balance    and each function with its calls
"""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import math
import re
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager
from contextvars import Context
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, cast

import msgspec
import uvloop

from gateway.app.assembly import assemble
from gateway.app.lifecycle import running
from gateway.config.upstream import SandboxBank
from tests.world.gateway.world import FROM_NOON, basic, now, opened, order, sandbox

Calls = Counter[CodeType]

_WARM: Final = 10
"""Requests before those that count: the first ones open connections and read records."""
_COUNTED: Final = 15
"""Of which the median is taken: now and then one does something for those that follow."""
_TURNS: Final = 10
"""Of the loop after an answer: by then the request is logged and measured."""
_NEVER_S: Final = 1e6

_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_KEY: Final = re.compile(rb"\r\nidempotency-key: *([^\r]+)", re.IGNORECASE)
_CENTAVOS: Final = re.compile(rb'"valor_centavos": *([0-9]+)')
_BALANCE: Final = (
    b'{"saldo_centavos":1000000,"bloqueado_centavos":5000,"disponivel_centavos":995000,'
    b'"atualizado_em":"2026-11-20T13:40:11.123Z"}'
)
_PAYOUT: Final = (
    b'{"id":"pay_%s","chave_idempotencia":"%s","situacao":"EM_PROCESSAMENTO",'
    b'"valor_centavos":%s,"e2e":null,"liquidada_em":null,"falha":null,"devolucoes":[]}'
)


class _Loop(uvloop.Loop):
    """A loop on which, while ``holds`` is true, no timer is set."""

    holds = False

    def call_later(
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        when = _NEVER_S if self.holds else delay
        return super().call_later(when, callback, *args, context=context)


class _Turn:
    """One turn of the loop; ``asyncio.sleep`` would be counted."""

    def __await__(self) -> Generator[None, None, None]:
        yield


class _Messages(asyncio.Protocol):
    """One end of a connection: gathers a message with head and body, and hands it to ``take``."""

    def __init__(self) -> None:
        self._begun = b""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._begun += data
        head, end, body = self._begun.partition(_END)
        length = _LENGTH.search(head)
        if end and len(body) >= (int(length[1]) if length else 0):
            self._begun = b""
            self.take(head, body)

    def take(self, head: bytes, body: bytes) -> None:
        raise NotImplementedError


class _Bank(_Messages):
    """Returns a balance, and accepts every payout."""

    def take(self, head: bytes, body: bytes) -> None:
        status, said = b"200 OK", _BALANCE
        if (key := _KEY.search(head)) and (centavos := _CENTAVOS.search(body)):
            status, said = b"201 Created", _PAYOUT % (key[1], key[1], centavos[1])
        self.transport.write(
            b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            % (status, len(said), said)
        )


class _Caller(_Messages):
    """Asks one request after another on its connection."""

    _answer: asyncio.Future[bytes]

    def take(self, head: bytes, body: bytes) -> None:
        self._answer.set_result(head + body)

    async def ask(self, request: bytes) -> bytes:
        """Return the answer once nothing is left to do for it."""
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        answer = await self._answer
        for _ in range(_TURNS):
            await _Turn()
        return answer


@asynccontextmanager
async def _standing(folder: Path) -> AsyncIterator[tuple[str, str, _Caller]]:
    """Serve a store with the demo in it; give its account, its credential, and a caller."""
    settings = sandbox(folder)
    async with opened(settings) as world:
        account, credential = world.demo["accounts"]["main"]["id"], basic(world.pair("full"))
    loop, port = cast("_Loop", asyncio.get_running_loop()), settings.sandbox_bank.port
    settings = msgspec.structs.replace(settings, sandbox_bank=SandboxBank(start=False))
    gateway = dataclasses.replace(assemble(settings, FROM_NOON), tasks=())
    gateway.services.kept.validity.until = math.inf  # no task moves it on
    async with await loop.create_server(_Bank, "127.0.0.1", port), running(gateway):
        transport, caller = await loop.create_connection(_Caller, "127.0.0.1", gateway.public.port)
        loop.holds = True
        try:
            yield account, credential, caller
        finally:
            loop.holds = False
            transport.abort()


def _requests(line: str, credential: str, bodies: Iterator[bytes]) -> Iterator[bytes]:
    """Write requests as callers' programs do: each with a trace id of its own."""
    for number, body in enumerate(bodies):
        lines = [
            *(line, "Host: pixgate", f"Authorization: {credential}"),
            f"X-Trace-ID: 018f6b0e-0000-4000-8000-{number:012}",
            *(["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []),
        ]
        yield "\r\n".join([*lines, "", ""]).encode() + body


def _orders() -> Iterator[bytes]:
    """Write orders that are not alike: a second one like it is logged as a likely mistake."""
    for number in range(_WARM + _COUNTED):
        wanted = order(f"calls-{number}", now().date().isoformat(), value=10.5 + number)
        yield msgspec.json.encode(wanted)


async def _counted(caller: _Caller, requests: Iterator[bytes]) -> Calls:
    each: list[Calls] = []
    for request in requests:
        calls = Calls()
        sys.setprofile(_counter(calls))
        try:
            answer = await caller.ask(request)
        finally:
            sys.setprofile(None)
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        each.append(calls)
    ranked = sorted(each[_WARM:], key=Counter.total)
    return ranked[len(ranked) // 2]


def _counter(calls: Calls) -> Callable[[FrameType, str, object], None]:
    """Build the interpreter's callback for each call; calls of this file are not counted."""

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename != __file__:
            calls[frame.f_code] += 1

    return count


async def count(folder: Path) -> Mapping[str, Calls]:
    gc.disable()  # what it takes away may have a callback of Python
    async with _standing(folder) as (account, credential, caller):
        at = f"/baas/v1/account/{account}"
        nothing = iter([b""] * (_WARM + _COUNTED))
        balances = _requests(f"GET {at}/balance HTTP/1.1", credential, nothing)
        payouts = _requests(f"POST {at}/withdraw HTTP/1.1", credential, _orders())
        return {
            "balance": await _counted(caller, balances),
            "payout": await _counted(caller, payouts),
        }


def main() -> None:
    """Print the numbers behind the gateway's own lines."""
    with (
        tempfile.TemporaryDirectory(prefix="pixgate-calls-") as folder,
        asyncio.Runner(loop_factory=_Loop) as runner,
    ):
        found = runner.run(count(Path(folder)))
    lines = [
        f"{calls:4} {code.co_filename}: {code.co_qualname}"
        for name in sys.argv[1:]
        for code, calls in sorted(found[name].items(), key=lambda each: each[0].co_filename)
    ]
    numbers = json.dumps({name: calls.total() for name, calls in found.items()})
    sys.stdout.write("\n".join([*lines, numbers, ""]))


if __name__ == "__main__":
    main()
