"""Lines of the request log between a server process and a worker: none is lost on the way."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import pytest

from gateway.domain.backoffice.request_log import LoggedRequest
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.runtime.request_log_writer import RequestLogWriter, logged
from gateway.runtime.worker.lines import Received, Sent
from gateway.telemetry.records import AccessRecord
from tests.world.standing import NOON


class Line(msgspec.Struct):
    """An access line."""

    text: str = "ção"


RECORD = AccessRecord(
    trace_id="t-1",
    method="POST",
    surface="banking",
    route="banking.payout_create",
    status=201,
    code="SVC.GTW.003",
    client_id="cli_a",
    company_id="c",
    account_id="a",
    reason="limit",
    duration_s=0.25,
)


@dataclass(slots=True)
class Shelf:
    """A store that may be away."""

    lines: list[LoggedRequest] = field(default_factory=list)
    is_away: bool = False

    async def add(self, lines: Sequence[LoggedRequest]) -> None:
        if self.is_away:
            raise StoreUnavailable
        self.lines += lines


@dataclass(slots=True)
class Way:
    """Both ends, each with a store of its own behind it."""

    ends: tuple[socket.socket, socket.socket]
    here: Shelf = field(default_factory=Shelf)
    there: Shelf = field(default_factory=Shelf)
    counted: Counter[tuple[str, str]] = field(default_factory=Counter)

    def writer(self) -> RequestLogWriter[bytes]:
        def count(event: str, label: str) -> None:
            self.counted[event, label] += 1

        return RequestLogWriter(Sent(self.ends[0], self.here.add), count)

    async def hand_over(self, lines: int = 1) -> None:
        writer = self.writer()
        for _ in range(lines):
            writer.keep(NOON, RECORD, Line())
        await writer.run_once()

    async def receive(self) -> int:
        return await Received(self.ends[1], self.there.add).run_once()


@pytest.fixture
def way() -> Iterator[Way]:
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    yield Way(ends)
    for each in ends:
        each.close()


async def test_what_is_handed_over_is_stored_as_it_would_be_here(way: Way):
    await way.hand_over(201)

    assert await way.receive() == 201
    assert way.there.lines == [logged(NOON, RECORD, Line())] * 201
    assert way.here.lines == []
    assert way.counted == {("request_log", "kept"): 201}
    assert await way.receive() == 0


async def test_a_worker_that_dies_before_it_has_stored_leaves_everything_to_the_next(way: Way):
    await way.hand_over(150)
    way.there.is_away = True
    with pytest.raises(StoreUnavailable):
        await way.receive()
    way.there.is_away = False

    assert await way.receive() == 150


async def test_what_finds_no_room_is_stored_here(way: Way):
    """The worker stands still: nothing is lost, and requests still wait for nobody."""
    for _ in range(100):
        await way.hand_over(100)

    received = await way.receive()

    assert received
    assert len(way.here.lines) == 10_000 - received
    assert set(way.here.lines) == {logged(NOON, RECORD, Line())}


@pytest.mark.parametrize("closed", [0, 1], ids=["here", "there"])
async def test_where_nobody_listens_any_more_lines_are_stored_here(way: Way, closed: int):
    way.ends[closed].close()

    await way.hand_over()

    assert len(way.here.lines) == 1


async def test_a_message_that_cannot_be_read_stops_none_behind_it(
    way: Way, caplog: pytest.LogCaptureFixture
):
    way.ends[0].send(b"\xdc\x00\x01nonsense")
    await way.hand_over()

    assert await way.receive() == 1
    assert "request_log_message_unreadable" in caplog.text


async def test_a_worker_without_server_processes_finds_nothing(way: Way):
    way.ends[0].close()

    assert await way.receive() == 0
