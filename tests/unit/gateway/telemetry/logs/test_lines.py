"""Lines between being said and being handed on."""

import asyncio
import json
from datetime import UTC, datetime

import pytest

from gateway.telemetry.logs.lines import LineBuffer, encode
from tests.world.leaping import leaping


class Paper:
    """Where lines are handed on to; each batch is one sheet."""

    def __init__(self) -> None:
        self.sheets: list[bytes] = []

    def write(self, data: bytes | bytearray) -> None:
        self.sheets.append(bytes(data))

    @property
    def text(self) -> bytes:
        return b"".join(self.sheets)


@pytest.fixture
def paper() -> Paper:
    return Paper()


def test_a_line_is_written_at_once_without_an_event_loop(paper: Paper):
    lines = LineBuffer(paper.write)

    lines.append(b"one\n")

    assert paper.sheets == [b"one\n"]


@leaping
async def test_lines_are_written_together_after_a_delay(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=0.02)
    lines.start()

    lines.append(b"one\n")
    lines.append(b"two\n")
    before = list(paper.sheets)
    await asyncio.sleep(0.06)

    assert (before, paper.sheets) == ([], [b"one\ntwo\n"])


@leaping
async def test_the_delay_restarts_for_later_lines(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=0.01)
    lines.start()

    for line in (b"one\n", b"two\n"):
        lines.append(line)
        await asyncio.sleep(0.04)

    assert paper.sheets == [b"one\n", b"two\n"]


async def test_a_full_buffer_is_written_at_once(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=60, most=6)
    lines.start()

    for _ in range(4):
        lines.append(b"x\n")

    assert paper.sheets == [b"x\nx\nx\n"]


async def test_stopping_writes_the_remaining_lines(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=60)
    lines.start()
    lines.append(b"one\n")

    lines.stop()
    lines.append(b"two\n")

    assert paper.sheets == [b"one\n", b"two\n"]


async def test_a_batch_handed_to_the_writer_is_not_changed():
    """It is written later, on another thread."""
    batches: list[bytes | bytearray] = []
    lines = LineBuffer(batches.append, delay_s=60)
    lines.start()

    for line in (b"one\n", b"two\n"):
        lines.append(line)
        lines.flush()

    assert batches == [b"one\n", b"two\n"]


async def test_an_empty_buffer_writes_nothing(paper: Paper):
    lines = LineBuffer(paper.write)
    lines.start()

    lines.flush()
    lines.stop()

    assert paper.sheets == []


async def test_a_line_from_another_thread_is_written_at_once(paper: Paper):
    """It does not touch the loop's lines, which may just be growing."""
    lines = LineBuffer(paper.write, delay_s=60)
    lines.start()
    lines.append(b"the loop's\n")

    def fail() -> None:
        lines.append(b"a thread's\n")
        lines.flush()

    await asyncio.to_thread(fail)
    by_the_thread = list(paper.sheets)
    lines.flush()

    assert by_the_thread == [b"a thread's\n"]
    assert paper.sheets == [b"a thread's\n", b"the loop's\n"]


def test_times_are_written_in_utc():
    line = encode({"ts": datetime(2026, 11, 20, 10, 0, 0, 5000, tzinfo=UTC)})

    assert line == b'{"ts":"2026-11-20T10:00:00.005000Z"}\n'


def test_a_log_record_stays_one_line():
    """CR LF in a value would forge a second line."""
    line = encode({"event": 'x\r\n{"event":"forged"}\x00\x1b[2J'})

    assert line.count(b"\n") == 1
    assert not set(line[:-1]) & set(range(0x20))


def test_an_unencodable_value_does_not_lose_its_line():
    wrong = [
        value
        for value in ["\udc80", 2**70, {1: "x"}, object()]
        if json.loads(encode({"event": "x", "value": value}))["event"] != "x"
    ]

    assert wrong == []
