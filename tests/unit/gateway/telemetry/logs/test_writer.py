"""Batches of lines for a reader that may stall."""

import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway.telemetry.logs.writer import LineWriter, to_descriptor, without_waiting


@dataclass
class Paper:
    """Where lines are written, unless blocked; each write is one sheet."""

    sheets: list[bytes] = field(default_factory=list)
    pen: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)

    def write(self, data: bytes) -> None:
        self.asked.set()
        self.pen.wait()
        self.sheets.append(data)

    @property
    def text(self) -> bytes:
        return b"".join(self.sheets)


@pytest.fixture
def paper() -> Iterator[Paper]:
    """Takes lines at once, unless its pen is taken away."""
    paper = Paper()
    paper.pen.set()
    yield paper
    paper.pen.set()


@pytest.fixture
def still(paper: Paper) -> Paper:
    """Takes nothing until it gets its pen."""
    paper.pen.clear()
    return paper


def written(writer: LineWriter) -> None:
    """Wait until the thread has written all, and has ended."""
    writer.stop(60)
    assert writer._thread is None


def test_batches_are_written_in_order(paper: Paper):
    writer = LineWriter(paper.write)

    for number in range(100):
        writer.put(b"%d\n" % number)
    written(writer)

    assert paper.text.split() == [b"%d" % number for number in range(100)]
    assert writer.lost == {"failed": 0, "full": 0}


def test_a_hanging_reader_delays_no_caller(still: Paper):
    """It gets everything once it reads again."""
    writer = LineWriter(still.write)

    for _ in range(1000):
        writer.put(b"one\n")
    before = list(still.sheets)
    still.pen.set()
    written(writer)

    assert (before, still.text) == ([], b"one\n" * 1000)


def test_lines_beyond_the_buffer_are_dropped_and_counted(still: Paper):
    """Whole batches, and the newest: earlier lines explain the rest."""
    writer = LineWriter(still.write, most=8)
    writer.put(b"0\n")
    still.asked.wait()  # it waits in the write, and not for its turn

    writer.put(b"1\n2\n")
    writer.put(b"3\n4\n5\n")
    writer.put(b"6\n7\n")
    still.pen.set()
    written(writer)

    assert still.text.split() == [b"0", b"1", b"2", b"6", b"7"]
    assert writer.lost == {"failed": 0, "full": 3}


def test_a_batch_larger_than_the_buffer_is_written(paper: Paper):
    writer = LineWriter(paper.write, most=1)

    writer.put(b"larger\n")
    written(writer)

    assert paper.text == b"larger\n"


def test_stopping_waits_no_longer_than_its_limit(still: Paper):
    """The process ends, and its thread with it."""
    writer = LineWriter(still.write)
    writer.put(b"one\n")

    writer.stop(0.05)
    thread = writer._thread
    assert thread is not None
    is_daemon = thread.daemon
    still.pen.set()
    thread.join()

    assert is_daemon


def test_lines_put_after_a_batch_was_written_are_written(paper: Paper):
    writer = LineWriter(paper.write)
    writer.put(b"one\n")
    written(writer)

    writer.put(b"two\n")
    written(writer)

    assert paper.text == b"one\ntwo\n"


def test_an_idle_writer_thread_ends_without_writing(paper: Paper):
    writer = LineWriter(paper.write)

    writer.start()
    begun = writer._thread is not None
    writer.put(b"")
    written(writer)

    assert (begun, paper.sheets) == (True, [])


def test_lines_are_kept_while_no_thread_can_be_started(
    paper: Paper, monkeypatch: pytest.MonkeyPatch
):
    def fail(_thread: threading.Thread) -> None:
        problem = "can't start new thread"
        raise RuntimeError(problem)

    writer = LineWriter(paper.write)
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", fail)
        writer.start()
        writer.put(b"one\n")
        writer.stop(60)

    writer.put(b"two\n")
    written(writer)

    assert paper.text == b"one\ntwo\n"


@pytest.mark.parametrize("problem", [OSError("disk full"), ValueError("closed file")])
def test_unwritable_lines_are_counted_and_block_no_caller(problem: Exception):
    """The next line is tried again."""
    taken: list[bytes] = []

    def fail_once(data: bytes) -> None:
        if not taken:
            taken.append(b"")
            raise problem
        taken.append(data)

    writer = LineWriter(fail_once)

    writer.put(b"one\ntwo\n")
    writer.put(b"three\n")
    written(writer)

    assert writer.lost == {"failed": 2, "full": 0}
    assert taken == [b"", b"three\n"]


def test_a_full_disk_blocks_no_caller():
    with Path("/dev/full").open("wb") as full:
        writer = LineWriter(to_descriptor(full.fileno()))

        writer.put(b"one\n")
        written(writer)

    assert writer.lost == {"failed": 1, "full": 0}


def test_a_chunk_fits_into_a_pipe_and_splits_no_line(paper: Paper):
    """Several processes write to one pipe, where up to 4096 bytes stay together."""
    writer = LineWriter(paper.write)

    writer.put(b"".join(b"%03d" % number + b"x" * 300 + b"\n" for number in range(100)))
    written(writer)

    assert max(map(len, paper.sheets)) <= 4096
    assert min(map(len, paper.sheets[:-1])) > 4096 - 304
    assert all(sheet.endswith(b"\n") for sheet in paper.sheets)
    assert len(paper.text.splitlines()) == 100


@pytest.mark.parametrize("length", [4095, 4096, 4097, 10_000])
def test_a_line_longer_than_a_chunk_is_a_chunk(paper: Paper, length: int):
    writer = LineWriter(paper.write)
    sent = b"".join([b"a\n", b"x" * length + b"\n", b"b\n"])

    writer.put(bytearray(sent))
    written(writer)

    assert paper.text == sent
    assert all(sheet.endswith(b"\n") for sheet in paper.sheets)


def test_all_bytes_are_written_to_a_descriptor():
    reader, writer = os.pipe()

    to_descriptor(writer)(b"one\ntwo\n")

    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == b"one\ntwo\n"


def test_partial_writes_are_completed(monkeypatch: pytest.MonkeyPatch):
    """A signal may end a write in the middle."""
    taken: list[bytes] = []

    def take_three(_number: int, data: bytes) -> int:
        taken.append(bytes(data[:3]))
        return len(taken[-1])

    monkeypatch.setattr(os, "write", take_three)

    to_descriptor(1)(b"one line\n")

    assert b"".join(taken) == b"one line\n"


@pytest.fixture(params=["pipe", "socket"])
def reader(request: pytest.FixtureRequest) -> Iterator[tuple[int, int]]:
    """What a log collector reads from, and what a process writes to; both are closed in the end."""
    if request.param == "pipe":
        ends = os.pipe()
    else:
        ends = tuple(each.detach() for each in socket.socketpair())
    yield ends
    for end in ends:
        os.close(end)


def read(end: int, size: int) -> bytes:
    """Read so many bytes, however they come."""
    got = b""
    while len(got) < size:
        got += os.read(end, size - len(got))
    return got


def test_lines_that_do_not_block_are_written_without_a_thread(reader: tuple[int, int]):
    """The caller's own descriptor stays blocking."""
    end, number = reader
    writer = LineWriter(to_descriptor(number), without_waiting(number))

    writer.put(b"one\n")

    assert read(end, 4) == b"one\n"
    assert writer._thread is None
    assert os.get_blocking(number)


def test_lines_a_full_pipe_delayed_are_written_in_order(
    reader: tuple[int, int],
):
    end, number = reader
    writer = LineWriter(to_descriptor(number), without_waiting(number))
    lines = [b"%06d\n" % each * 500 for each in range(400)]

    for each in lines:
        writer.put(each)
    got = read(end, sum(map(len, lines)))
    written(writer)
    writer.put(b"last\n")

    assert got == b"".join(lines)
    assert read(end, 5) == b"last\n"
    assert writer.lost == {"failed": 0, "full": 0}


def test_lines_to_a_file_are_written_at_once(tmp_path: Path):
    with (tmp_path / "log").open("wb") as log:
        writer = LineWriter(to_descriptor(log.fileno()), without_waiting(log.fileno()))

        writer.put(b"one\n" * 5000)

    assert (tmp_path / "log").read_bytes() == b"one\n" * 5000
    assert writer._thread is None


def test_lines_for_a_closed_pipe_are_counted():
    end, number = os.pipe()
    writer = LineWriter(to_descriptor(number), without_waiting(number))
    os.close(end)

    writer.put(b"one\ntwo\n")
    os.close(number)

    assert writer.lost == {"failed": 2, "full": 0}
