"""A caller without manners: sends any bytes, in any portions, and reads what really comes back."""

import asyncio
import contextlib
import json
import re
from dataclasses import dataclass, field

HOST = b"Host: pixgate\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer of the wire; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The code of an error body; empty for anything else."""
        with contextlib.suppress(ValueError):
            return str(json.loads(self.body).get("code", ""))
        return ""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """
    The answers on a connection.

    ``closed`` is False when the server left it open; ``reset`` is True when it
    closed over bytes it had not read, which can cost a caller the answer.
    """

    raw: bytes = b""
    closed: bool = False
    reset: bool = False
    seconds: float = 0.0
    answers: list[Answer] = field(default_factory=list)

    @property
    def statuses(self) -> list[int]:
        """The status of each answer, in order."""
        return [answer.status for answer in self.answers]


async def exchange(
    port: int,
    *portions: bytes,
    gap_s: float = 0.03,
    patience_s: float | None = 3.0,
    answers: int | None = None,
) -> Exchange:
    """
    Send the portions one by one, then read until the server closes or patience ends.

    With ``answers``, read until so many have come, however long that takes, or the server closes.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    told = Exchange()
    started = asyncio.get_running_loop().time()
    try:
        for portion in portions:
            await _write(writer, portion, told)
            if portion is not portions[-1]:
                await asyncio.sleep(gap_s)
        await _read(reader, told, patience_s if answers is None else None, answers)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    told.seconds = asyncio.get_running_loop().time() - started
    told.answers = split(told.raw)
    return told


async def until_closed(port: int, *portions: bytes, gap_s: float = 0.03) -> Exchange:
    """Exchange, and read until the server closes, however long that takes."""
    return await exchange(port, *portions, gap_s=gap_s, patience_s=None)


async def ask(port: int, path: str = "/", *, more: bytes = b"") -> Answer:
    head = f"GET {path} HTTP/1.1\r\n".encode() + HOST + more + b"Connection: close\r\n\r\n"
    return (await exchange(port, head, answers=1)).answers[0]


def split(raw: bytes) -> list[Answer]:
    """Split what came into answers; bytes that are none fail here."""
    answers = []
    while raw:
        head, separator, raw = raw.partition(b"\r\n\r\n")
        assert separator, f"not an answer: {head[:80]!r}"
        status_line, *lines = head.decode("latin-1").split("\r\n")
        version, status, _ = status_line.split(" ", 2)
        assert version in ("HTTP/1.0", "HTTP/1.1"), status_line
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        length = int(headers.get("content-length", 0))
        answers.append(Answer(status=int(status), headers=headers, body=raw[:length]))
        raw = raw[length:]
    return answers


async def _read(
    reader: asyncio.StreamReader, told: Exchange, patience_s: float | None, answers: int | None
) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(patience_s):
            while piece := await _read_some(reader, told):
                told.raw += piece
                if answers is not None and _count(told.raw) >= answers:
                    return
            told.closed = True


def _count(raw: bytes) -> int:
    count = 0
    while b"\r\n\r\n" in raw:
        head, _, raw = raw.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        size = int(length[1]) if length else 0
        if len(raw) < size:
            break
        count, raw = count + 1, raw[size:]
    return count


async def _read_some(reader: asyncio.StreamReader, told: Exchange) -> bytes:
    try:
        return await reader.read(65536)
    except ConnectionError:
        told.reset = True
        return b""


async def _write(writer: asyncio.StreamWriter, portion: bytes, told: Exchange) -> None:
    try:
        writer.write(portion)
        await writer.drain()
    except ConnectionError:
        told.reset = True
