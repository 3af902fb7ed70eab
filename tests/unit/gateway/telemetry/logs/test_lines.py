"""Lines between being said and being handed on."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from gateway.telemetry.logs.lines import (
    LineBuffer,
    encode,
    encode_struct,
    inside,
    ready,
)
from tests.world.leaping import leaping


class Line(msgspec.Struct):
    """A line of which a part was made ready."""

    own: Any
    words: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


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


def test_without_a_loop_a_line_is_written_at_once(paper: Paper):
    lines = LineBuffer(paper.write)

    lines.append(b"one\n")

    assert paper.sheets == [b"one\n"]


@leaping
async def test_lines_are_written_together_after_a_moment(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=0.02)
    lines.start()

    lines.append(b"one\n")
    lines.append(b"two\n")
    before = list(paper.sheets)
    await asyncio.sleep(0.06)

    assert (before, paper.sheets) == ([], [b"one\ntwo\n"])


@leaping
async def test_the_timer_is_set_again_for_later_lines(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=0.01)
    lines.start()

    for line in (b"one\n", b"two\n"):
        lines.append(line)
        await asyncio.sleep(0.04)

    assert paper.sheets == [b"one\n", b"two\n"]


async def test_many_lines_do_not_wait(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=60, most=6)
    lines.start()

    for _ in range(4):
        lines.append(b"x\n")

    assert paper.sheets == [b"x\nx\nx\n"]


@pytest.mark.parametrize("most", [1, 40, 65_536])
async def test_lines_of_the_loop_stay_in_order(paper: Paper, most: int):
    """However they come, and however many are written together."""
    lines = LineBuffer(paper.write, delay_s=60, most=most)
    lines.start()

    for number in range(10):
        lines.put(Line(own=number))
        lines.append(b"%d\n" % number)
    lines.stop()

    read = [json.loads(line) for line in paper.text.splitlines()]
    assert read == [each for number in range(10) for each in ({"own": number}, number)]


@leaping
async def test_a_line_that_is_put_does_not_wait_for_ever(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=0.01)
    lines.start()

    lines.put(Line(own="one"))
    before = list(paper.sheets)
    await asyncio.sleep(0.04)

    assert (before, paper.text) == ([], b'{"own":"one"}\n')


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("value", ["\udc80", 2**70], ids=ascii)
async def test_no_value_stops_or_breaks_a_line_that_is_put(
    paper: Paper, value: object, *, begun: bool
):
    """Nor the lines around it."""
    lines = LineBuffer(paper.write)
    if begun:
        lines.start()

    for each in ("before", value, "after"):
        lines.put(Line(own=each, words=ready({"words": "a", "more": [1]})))
    lines.stop()

    read = [json.loads(line) for line in paper.text.splitlines()]
    assert [line["own"] for line in read] == ["before", value, "after"]
    assert {(line["words"], line["more"][0]) for line in read} == {("a", 1)}


async def test_stopping_writes_what_is_left(paper: Paper):
    lines = LineBuffer(paper.write, delay_s=60)
    lines.start()
    lines.append(b"one\n")

    lines.stop()
    lines.append(b"two\n")

    assert paper.sheets == [b"one\n", b"two\n"]


async def test_what_was_handed_on_is_not_touched_again():
    """It is written later, on another thread."""
    batches: list[bytes | bytearray] = []
    lines = LineBuffer(batches.append, delay_s=60)
    lines.start()

    for line in (b"one\n", b"two\n"):
        lines.append(line)
        lines.flush()

    assert batches == [b"one\n", b"two\n"]


async def test_nothing_is_handed_on_where_nothing_was_said(paper: Paper):
    lines = LineBuffer(paper.write)
    lines.start()

    lines.flush()
    lines.stop()

    assert paper.sheets == []


async def test_a_line_of_another_thread_does_not_wait(paper: Paper):
    """Nor does it, or a flush there, touch the loop's lines: they may just be growing."""
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


def test_what_was_made_ready_stands_in_a_line_as_fields():
    for text in ["plain", 'a"b\\c', "}\n", "ação", "\ud800", "%s"]:
        words = ready({"words": text, "more": text}, inside({"last": text}))

        line = encode_struct(Line(own=text, words=words))

        assert json.loads(line) == {"own": text, "words": text, "more": text, "last": text}
        assert line.count(b"\n") == 1


def test_times_are_written_in_utc():
    line = encode({"ts": datetime(2026, 11, 20, 10, 0, 0, 5000, tzinfo=UTC)})

    assert line == b'{"ts":"2026-11-20T10:00:00.005000Z"}\n'


def test_a_line_stays_one_line():
    """CR LF in a value would forge a second line."""
    line = encode({"event": 'x\r\n{"event":"forged"}\x00\x1b[2J'})

    assert line.count(b"\n") == 1
    assert not set(line[:-1]) & set(range(0x20))


def test_no_value_stops_a_line():
    wrong = [
        value
        for value in ["\udc80", 2**70, {1: "x"}, object()]
        if json.loads(encode({"event": "x", "value": value}))["event"] != "x"
    ]

    assert wrong == []
