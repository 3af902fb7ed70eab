"""A bank that answers twice, the second time as late as hurts most."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading

import pytest

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.client.transport import HttpTransport
from gateway.core.account import Environment
from provider_adapters.kit.limits import ClientLimits
from tests.proofs.transport.conftest import Run
from tests.proofs.transport.plays import echo
from tests.world.banks.roads import order, question, road, tried
from tests.world.banks.scripted import Line, ScriptedBank, answer, standing
from tests.world.waiting import settle

ROUNDS = 100
_MARK = re.compile(rb'"mark": (\d+)')


class Twice:
    """
    Answers each request, and once more when the next one is written.

    That is the aim: the second answer meets a call that waits for one, on the
    connection that it came by. Nobody can tell it from the right one there.
    """

    def __init__(self) -> None:
        self._former: Line | None = None

    async def __call__(self, line: Line) -> None:
        former, self._former = self._former, line
        if former is not None and not former.writer.is_closing():
            await former.say(echo(former.request))
            await settle()  # a caller on this loop reads it before the right one
        await line.say(echo(line.request))


@pytest.mark.parametrize("ahead", [0, 2])
@pytest.mark.parametrize("before", ["an order", "a read"])
def test_no_order_takes_the_late_answer_of_another_call(run: Run, before: str, ahead: int):
    """A late refusal taken for an order's own would be "proven not moved"."""

    async def late() -> None:
        bank = ScriptedBank(Twice(), keeps=True)
        limits = ClientLimits(payout_connections=ahead)
        async with standing(bank):
            to = HttpTransport(bank.url, limits, Environment.SANDBOX)
            await to.start()
            for mark in range(1, ROUNDS + 1):
                if before == "a read":
                    await tried(to, question(1000 + mark))
                found = await tried(to, order(mark))

                assert isinstance(found, ProviderAnswer)
                assert json.loads(found.body) == {"mark": mark}
            await to.close()

    run(late())


class Threaded:
    """A bank outside the loop, which can answer while the loop is blocked."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.connections = 0
        self._last: socket.socket | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    def say(self, data: bytes) -> None:
        """Say something on the connection used last; it is in our kernel when this returns."""
        assert self._last is not None
        self._last.sendall(data)

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                made, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(made,), daemon=True).start()

    def _serve(self, made: socket.socket) -> None:
        with made, contextlib.suppress(ConnectionError):
            while data := made.recv(65536):
                while not _MARK.search(data):
                    data += made.recv(65536)
                self._last = made
                made.sendall(echo(data))


@pytest.mark.parametrize(
    "late", [answer(b'{"mark": 0}'), b"\r\n", b"x", answer(b'{"mark": 0}')[:20]]
)
def test_bytes_between_two_calls_end_the_connection(run: Run, late: bytes):
    """The loop has not noticed them when the next read begins; the kernel has."""

    async def between() -> None:
        bank = Threaded()
        async with road(f"http://127.0.0.1:{bank.port}") as to:
            for mark in range(1, ROUNDS + 1):
                found = await tried(to, question(mark))

                assert isinstance(found, ProviderAnswer)
                assert json.loads(found.body) == {"mark": mark}
                bank.say(late)
        bank.close()
        assert bank.connections == ROUNDS

    run(between())
