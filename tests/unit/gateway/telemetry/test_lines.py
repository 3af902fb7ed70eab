"""Lines between being said and being written."""

import asyncio
import json
import os
import threading
from datetime import UTC, datetime

import pytest

from gateway.telemetry.lines import LineBuffer, encode, to_descriptor


class Paper:
    """Where lines are written to; each write is one sheet."""

    def __init__(self) -> None:
        self.sheets: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.sheets.append(data)

    @property
    def text(self) -> bytes:
        return b"".join(self.sheets)


@pytest.fixture
def paper() -> Paper:
    return Paper()


def test_without_a_loop_a_line_is_written_at_once(paper: Paper):
    lines = LineBuffer(paper.write)

    lines.append(b"one\n")

    assert paper.sheets == [b"one\n"]


async def test_lines_are_written_together_after_a_moment(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=0.02)
    lines.start()

    lines.append(b"one\n")
    lines.append(b"two\n")
    before = list(paper.sheets)
    await asyncio.sleep(0.06)

    assert (before, paper.sheets) == ([], [b"one\ntwo\n"])


async def test_the_timer_is_set_again_for_later_lines(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=0.01)
    lines.start()

    for line in (b"one\n", b"two\n"):
        lines.append(line)
        await asyncio.sleep(0.04)

    assert paper.sheets == [b"one\n", b"two\n"]


async def test_many_lines_do_not_wait(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=60, most=3)
    lines.start()

    for _ in range(4):
        lines.append(b"x\n")

    assert paper.sheets == [b"x\nx\nx\n"]


async def test_stopping_writes_what_is_left(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=60)
    lines.start()
    lines.append(b"one\n")

    lines.stop()
    lines.append(b"two\n")

    assert paper.sheets == [b"one\n", b"two\n"]


async def test_threads_may_append(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=0.01, most=50)
    lines.start()

    def chatter(name: int) -> None:
        for number in range(200):
            lines.append(b"%d.%d\n" % (name, number))

    threads = [threading.Thread(target=chatter, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    await asyncio.to_thread(lambda: [thread.join() for thread in threads])
    await asyncio.sleep(0.05)

    expected = {b"%d.%d" % (name, number) for name in range(4) for number in range(200)}
    assert sorted(paper.text.splitlines()) == sorted(expected)


def test_two_flushes_at_once_write_each_line_once(paper: Paper):
    """One thread may empty what another has just counted."""
    lines = LineBuffer(paper.write)
    lines._pending.extend([b"one\n", b"two\n"])
    first = lines._take()
    taken = next(first)

    lines.flush()

    assert [taken, *first] == [b"one\n"]
    assert paper.sheets == [b"two\n"]


def test_a_closed_loop_loses_no_line(paper: Paper):
    """A thread may outlive the loop."""
    lines = LineBuffer(paper.write, delay_s=60)

    async def begin() -> None:
        lines.start()

    thread = threading.Thread(target=lambda: asyncio.run(begin()))
    thread.start()
    thread.join()
    lines.append(b"late\n")

    assert paper.sheets == [b"late\n"]


def test_a_piece_fits_a_pipe_and_cuts_no_line(paper: Paper):
    """Several processes write to one pipe: 4096 bytes arrive in one piece."""
    lines = LineBuffer(paper.write, most=1000)
    lines._loop = asyncio.new_event_loop()
    lines._armed = True
    for number in range(100):
        lines.append(b"%03d" % number + b"x" * 300 + b"\n")

    lines._loop.close()
    lines.stop()

    assert max(map(len, paper.sheets)) <= 4096
    assert all(sheet.endswith(b"\n") for sheet in paper.sheets)
    assert len(paper.text.splitlines()) == 100


@pytest.mark.parametrize("problem", [OSError("disk full"), ValueError("closed file")])
def test_what_cannot_be_written_is_counted_and_stops_nobody(problem: Exception):
    def fail(_data: bytes) -> None:
        raise problem

    lines = LineBuffer(fail)

    lines.append(b"one\n")

    assert lines.lost == 1


def test_a_descriptor_gets_everything():
    reader, writer = os.pipe()

    to_descriptor(writer)(b"one\ntwo\n")

    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == b"one\ntwo\n"


def test_times_are_written_in_utc():
    line = encode({"ts": datetime(2026, 11, 20, 10, 0, 0, 5000, tzinfo=UTC)})

    assert line == b'{"ts":"2026-11-20T10:00:00.005000Z"}\n'


def test_a_line_stays_one_line():
    """CR LF in a value would forge a second line."""
    line = encode({"event": 'x\r\n{"event":"forged"}\x00\x1b[2J'})

    assert line.count(b"\n") == 1
    assert not set(line[:-1]) & set(range(0x20))


@pytest.mark.parametrize("value", ["\udc80", 2**70, {1: "x"}, object()], ids=repr)
def test_no_value_stops_a_line(value: object):
    assert json.loads(encode({"event": "x", "value": value}))["event"] == "x"
